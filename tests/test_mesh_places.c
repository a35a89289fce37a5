// Places and trajectories that a user asks for where interaction meshes act: they are met, as exported.
#include "take.h"

typedef struct wish {
    const char *scene, *joint;
    int frame;
    vec3 by; // from where it is without the wish
    double scale;
} wish;

// Hands that hold a partner among them: the partner has to come along.
static const wish wishes[] = {
    { "dance_pair", "RightHand", 60, { 0, 0.08, 0.05 }, 1 },
    { "dance_pair", "Head", 90, { 0.05, -0.03, 0.03 }, 1.2 },
    { "judo_pair", "LeftHand", 30, { 0.06, 0.05, 0 }, 1.2 },
    { "high_five", "RightHand", 78, { 0, 0.06, 0.04 }, 1.1 },
    { "car_entry", "RightHand", 60, { -0.04, 0.05, 0.04 }, 1 },
};

static vec3 place_of( const take *x, const char *joint, int frame )
{
    int j = tr_skeleton_find( &x->stage.actors[0].target, joint );
    assert_true( j >= 0 );
    return tr_world_pose( &x->result.worlds[0], frame ).positions[j];
}

static void open_wish( take *x, const wish *w )
{
    open_scene( x, w->scene, 0 );
    x->scene.cast[0].target.scale *= w->scale;
}

static tr_constraint *ask( take *x, const wish *w, int first, int last )
{
    tr_constraint c = tr_default_constraint( "user", TR_CONSTRAINT_ABSOLUTE );
    c.a = tr_point_joint( x->scene.cast[0].id, w->joint );
    c.first = first;
    c.last = last;
    c.ease_in = c.ease_out = 12;
    tr_constraint *added = tr_scene_add_constraint( &x->scene, &c );
    assert_non_null( added );
    return added;
}

static void check_others( const take *x, const wish *w )
{
    if ( figure( x, "contact_error_mm", "max" ) > 1 || figure( x, "contact_error_mm", "gave_way" ) > 0 )
        fail_msg( "%s %s: others gave way, or are off by %g mm", w->scene, w->joint,
                  figure( x, "contact_error_mm", "max" ) );
}

static void places_are_met( void **state )
{
    (void)state;
    for ( size_t i = 0; i < sizeof wishes / sizeof *wishes; ++i )
        for ( int half = 0; half <= 5; half += 5 ) {
            const wish *w = &wishes[i];
            take x;
            open_wish( &x, w );
            solve( &x, "imesh" );
            vec3 place = v3_add( place_of( &x, w->joint, w->frame ), w->by );
            close_scene( &x );
            open_wish( &x, w );
            tr_constraint *c = ask( &x, w, w->frame - half, w->frame + half );
            c->given = true;
            c->target = place;
            export_and_measure( &x, "imesh" );
            double worst = 0;
            for ( int f = w->frame - half; f <= w->frame + half; ++f )
                worst = fmax( worst, v3_distance( place_of( &x, w->joint, f ), place ) );
            print_message( "%s %s over %d frames: %.2f mm\n", w->scene, w->joint, 2 * half + 1, 1e3 * worst );
            assert_true( worst < 1e-3 );
            check_others( &x, w );
            close_scene( &x );
        }
}

// ------------------------------------------------------------------------------------------- trajectories

// Up and to the side and back, from where the hand is.
static void set_keys( tr_constraint *c, const wish *w, const vec3 places[3] )
{
    const double share[3] = { 0, 1, 0.3 };
    c->key_count = 3;
    for ( int k = 0; k < 3; ++k )
        c->keys[k] = ( tr_key ){ w->frame + 9 * ( k - 1 ), v3_mad( places[k], share[k], w->by ) };
}

// Second differences of the hand's path in a frame.
static double largest_bend( const take *x, const wish *w )
{
    double most = 0;
    for ( int f = w->frame - 9; f + 2 <= w->frame + 9; ++f ) {
        vec3 a = place_of( x, w->joint, f ), b = place_of( x, w->joint, f + 1 ),
             c = place_of( x, w->joint, f + 2 );
        most = fmax( most, v3_length( v3_add( v3_sub( a, b ), v3_sub( c, b ) ) ) );
    }
    return most;
}

static void trajectories_are_followed( void **state )
{
    (void)state;
    const wish ways[] = { { "high_five", "LeftHand", 70, { 0.05, 0.08, 0.05 }, 0.9 },
                          { "high_five", "RightHand", 78, { 0, 0.05, 0.03 }, 1.1 },
                          { "dance_pair", "RightHand", 60, { 0, 0.06, 0.04 }, 1 } };
    for ( int i = 0; i < 3; ++i )
        for ( int m = 0; m < ( i == 0 ? 2 : 1 ); ++m ) {
            const wish *w = &ways[i];
            const char *method = m == 0 ? "imesh" : "posegraph";
            vec3 places[3];
            take x;
            open_wish( &x, w );
            solve( &x, method );
            for ( int k = 0; k < 3; ++k )
                places[k] = place_of( &x, w->joint, w->frame + 9 * ( k - 1 ) );
            close_scene( &x );
            open_wish( &x, w );
            tr_constraint *c = ask( &x, w, -TR_MAX_FRAMES, TR_MAX_FRAMES );
            set_keys( c, w, places );
            tr_key keys[3];
            memcpy( keys, c->keys, sizeof keys );
            export_and_measure( &x, method );
            const tr_rule *rule = &x.stage.rules[0];
            while ( strcmp( rule->id, "user" ) != 0 )
                ++rule;
            assert_int_equal( rule->first, w->frame - 9 ); // as long as its keys
            assert_int_equal( rule->last, w->frame + 9 );
            double worst = 0;
            for ( int k = 0; k < 3; ++k )
                worst =
                    fmax( worst, v3_distance( place_of( &x, w->joint, (int)keys[k].frame ), keys[k].place ) );
            for ( int f = rule->first; f <= rule->last; ++f )
                worst = fmax( worst, v3_distance( place_of( &x, w->joint, f ), rule->path[f] ) );
            double bend = largest_bend( &x, w );
            print_message( "%s %s by %s: off by %.2f mm, bends by %.1f mm a frame²\n", w->scene, w->joint,
                           method, 1e3 * worst, 1e3 * bend );
            assert_true( worst < 1e-3 );
            check_bound( bend, PLACE_KICK_M );
            check_others( &x, w );
            close_scene( &x );
        }
}

// The curve goes through its keys, its acceleration has no jumps, and outside it stays where it ends.
static void keys_are_joined_smoothly( void **state )
{
    (void)state;
    take x;
    tr_error error;
    open_scene( &x, "arm_circles", 0 );
    wish w = { "arm_circles", "LeftHand", 60, { 0 }, 1 };
    tr_constraint *c = ask( &x, &w, 10, 150 );
    const tr_key keys[4] = {
        { 20, { 0, 1, 0 } }, { 50, { 0.3, 1.2, 0 } }, { 70.5, { 0.1, 1.4, 0.2 } }, { 140, { 0, 1, 0 } } };
    memcpy( c->keys, keys, sizeof keys );
    c->key_count = 4;
    check_ok( tr_stage_build( &x.stage, &x.scene, NULL, &x.library, NULL, &error ), &error );
    const tr_rule *rule = &x.stage.rules[0];
    assert_string_equal( rule->id, "user" );
    assert_int_equal( rule->first, 10 );
    const vec3 *path = rule->path;
    check_v3( path[5], keys[0].place, 0 );
    check_v3( path[20], keys[0].place, 1e-15 );
    check_v3( path[50], keys[1].place, 1e-15 );
    check_v3( path[145], keys[3].place, 0 );
    double jump = 0;
    for ( int f = 21; f + 3 <= 140; ++f ) { // third differences
        vec3 d = v3_sub( v3_sub( path[f + 3], path[f] ), v3_scale( 3, v3_sub( path[f + 2], path[f + 1] ) ) );
        jump = fmax( jump, v3_length( d ) );
    }
    print_message( "third differences up to %.2e m\n", jump );
    assert_true( jump < 2e-4 );
    close_scene( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( places_are_met ),
        TEST( trajectories_are_followed ),
        TEST( keys_are_joined_smoothly ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
