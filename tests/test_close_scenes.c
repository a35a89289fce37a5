// Interaction meshes on the rest of the scenes and on captures of couples, those of tests/captures and those
// of the folder that TROUPE_DATA_DIR names: against pose graphs, in other bodies. docs/closeness.md has all
// figures.
#include "captures.h"
#include "io/io.h"
#include "limits.h"

typedef struct course {
    const char *name; // scene, or two captures
    const char *partner;
    int first, last;
    bound_name contacts; // F1 beyond that of pose graphs
    bound_name energy;   // energy relative to that of pose graphs
} course;

static void open_course( take *x, const course *c )
{
    *x = ( take ){ .scene = tr_default_scene() };
    if ( c->partner == NULL )
        open_scene( x, c->name, 0 );
    const char *files[2] = { c->name, c->partner };
    for ( int i = 0; c->partner != NULL && i < 2; ++i ) {
        tr_cast cast = tr_default_cast( i == 0 ? "a" : "b" );
        capture_path( cast.source.file, files[i] );
        cast.source.unit = 0.05644;
        cast.source.first = 1;
        assert_non_null( tr_scene_add_cast( &x->scene, &cast ) );
        x->scene.fps = 30;
    }
    x->scene.first = c->first;
    x->scene.last = c->last;
    for ( int i = 0; i < x->scene.cast_count; ++i ) {
        tr_target *target = &x->scene.cast[i].target;
        target->limb_count = target->girth_count = 0;
        target->scale = i % 2 == 0 ? 1.4 : 0.8;
    }
}

static void check_course( const course *c )
{
    take with, without;
    open_course( &without, c );
    solve( &without, "posegraph" );
    open_course( &with, c );
    solve( &with, "imesh" );
    const tr_metric_field *overlap = field_of( &with, "inter_penetration", "frames_pct" );
    double more = figure( &with, "contact_f1", "f1" ) - figure( &without, "contact_f1", "f1" ),
           energy =
               figure( &with, "laplacian_energy", "value" ) / figure( &without, "laplacian_energy", "value" );
    print_message( "%s: f1 +%.2f, energy %.2f, jerk %.2f, overlap %.0f %% (source %.0f)\n", c->name, more,
                   energy, figure( &with, "jerk_ratio", "value" ), overlap->out, overlap->source );
    check_bound_of( more, c->contacts );
    check_bound_of( energy, c->energy );
    assert_true( overlap->out <= fmax( 1, overlap->source ) );
    check_figure( &with, c->name, "jerk_ratio", "value", BOUND_JERK );
    check_figure( &with, c->name, "rotation_spike_deg", "value", BOUND_ROTATION_DEG );
    check_most( &with, c->name, "writhe_deviation", "sign_changed_pct", 0 );
    check_figure( &with, c->name, "bend_deviation_deg", "p95", BOUND_COUPLE_BEND_P95_DEG );
    check_figure( &with, c->name, "bend_deviation_deg", "mean", BOUND_COUPLE_BEND_DEG );
    check_most( &with, c->name, "contact_error_mm", "gave_way", 0 );
    check_figure( &with, c->name, "contact_error_mm", "max", BOUND_CONTACT_MM );
    check_figure( &with, c->name, "bone_length_error_pct", "value", BOUND_BONE_PCT );
    close_scene( &with );
    close_scene( &without );
}

static void scenes_keep_their_relations( void **state )
{
    (void)state;
    static const course courses[] = {
        { "sword_pair", NULL, 20, 120, BOUND_SWORDS_CONTACTS, BOUND_SWORDS_ENERGY },
        { "mixed_cast", NULL, 40, 140, BOUND_SAME_CONTACTS, BOUND_MIXED_ENERGY } };
    for ( size_t i = 0; i < sizeof courses / sizeof courses[0]; ++i )
        check_course( &courses[i] );
}

static void captured_couples_keep_their_relations( void **state )
{
    (void)state;
    static const course courses[] = {
        { "shake_a.bvh", "shake_b.bvh", 0, 53, BOUND_COUPLE_CONTACTS, BOUND_COUPLE_ENERGY },
        { "cmu-pairs/20_02.bvh", "cmu-pairs/21_02.bvh", 0, 56, BOUND_COUPLE_CONTACTS, BOUND_COUPLE_ENERGY },
        { "cmu-pairs/22_04.bvh", "cmu-pairs/23_04.bvh", 20, 119, BOUND_COUPLE_CONTACTS, BOUND_COUPLE_ENERGY },
        { "cmu-pairs/60_10.bvh", "cmu-pairs/61_10.bvh", 60, 150, BOUND_COUPLE_CONTACTS,
          BOUND_LOOSE_COUPLE_ENERGY },
        { "cmu-pairs/18_05.bvh", "cmu-pairs/19_05.bvh", 10, 100, BOUND_COUPLE_CONTACTS,
          BOUND_LOOSE_COUPLE_ENERGY },
        { "cmu-pairs/20_09.bvh", "cmu-pairs/21_09.bvh", 0, 110, BOUND_COUPLE_CONTACTS,
          BOUND_COUPLE_ENERGY } };
    for ( size_t i = 0; i < sizeof courses / sizeof courses[0]; ++i )
        if ( have_capture( courses[i].name ) )
            check_course( &courses[i] );
}

// One body of other proportions, arms around itself: as without the mesh, but nearer to what it was.
static void arms_go_around_their_own_body( void **state )
{
    (void)state;
    take with, without;
    open_scene( &without, "arm_circles", 1 );
    solve( &without, "posegraph" );
    open_scene( &with, "arm_circles", 1 );
    solve( &with, "imesh" );
    check_bound( figure( &with, "laplacian_energy", "value" ) /
                     figure( &without, "laplacian_energy", "value" ),
                 CIRCLES_ENERGY );
    check_bound( figure( &with, "jerk_ratio", "value" ) / figure( &without, "jerk_ratio", "value" ),
                 CIRCLES_MESH_JERK );
    check_most( &with, "arm_circles", "contact_error_mm", "gave_way", 0 );
    check_figure( &with, "arm_circles", "contact_error_mm", "max", BOUND_CONTACT_MM );
    close_scene( &with );
    close_scene( &without );
}

// A back of many short bones, and a tail that nothing is near to, stay what they are when legs change.
static void lone_wolves_keep_their_backs( void **state )
{
    (void)state;
    take x;
    open_scene( &x, "wolf", 1 );
    x.scene.last = x.scene.first + 60;
    solve( &x, "imesh" );
    check_figure( &x, "wolf", "bend_deviation_deg", "max", BOUND_WOLF_BEND_DEG );
    check_figure( &x, "wolf", "rotation_spike_deg", "value", BOUND_WOLF_ROTATION_DEG );
    close_scene( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( scenes_keep_their_relations ),
        TEST( captured_couples_keep_their_relations ),
        TEST( arms_go_around_their_own_body ),
        TEST( lone_wolves_keep_their_backs ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
