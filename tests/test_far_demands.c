// Demands that can only be met by quite another pose, or not at all: motion stays continuous, feet stay on
// the ground, and what gives way is reported with its distance.
#include "take.h"

static tr_constraint *demand( take *x, tr_constraint_kind kind, const char *joint, vec3 target )
{
    tr_constraint c = tr_default_constraint( "demand", kind );
    c.a = tr_point_joint( x->scene.cast[0].id, joint );
    if ( kind == TR_CONSTRAINT_CENTRE_OF_MASS )
        c.a.term_count = 0;
    c.given = true;
    c.target = target;
    tr_constraint *added = tr_scene_add_constraint( &x->scene, &c );
    assert_non_null( added );
    return added;
}

static const tr_rule_report *report( const take *x )
{
    for ( int r = 0; r < x->stage.rule_count; ++r )
        if ( strcmp( x->stage.rules[r].id, "demand" ) == 0 )
            return &x->result.reports[r];
    return NULL;
}

typedef struct known_miss {
    const char *reason; // NULL: there is none
    bound_name worst;   // it does not grow
} known_miss;

typedef struct calm {
    double seconds; // in which the demand is to be met, from nothing; 0: it lasts all the time
    known_miss shakes, pops;
} calm;

static const calm still = { 0 };

static double peak_acceleration( const tr_world *world, int joint, double fps )
{
    double most = 0;
    for ( int f = 1; f + 1 < world->frame_count; ++f ) {
        vec3 before = tr_world_pose( world, f - 1 ).positions[joint],
             now = tr_world_pose( world, f ).positions[joint],
             after = tr_world_pose( world, f + 1 ).positions[joint];
        most = fmax( most, v3_length( v3_add( v3_sub( before, now ), v3_sub( after, now ) ) ) );
    }
    return most * fps * fps;
}

// A limb that is pinned for a while leaves its way and comes back to it, each within `seconds`. The smoothest
// way over a distance d takes 10 / √3 · d / seconds², on top of what the limb does anyhow. Returns what it
// does as a ratio to that.
static double hurry( const take *x, double seconds )
{
    const tr_actor *actor = &x->stage.actors[0];
    const tr_constraint *pin = &x->scene.constraints[x->scene.constraint_count - 1];
    int joint = tr_skeleton_find( &actor->target, pin->a.terms[0].joint );
    int from = actor->map[joint], ease = (int)( seconds * x->stage.fps + 0.5 );
    double far = 0;
    for ( int f = pin->first - ease; f <= pin->last + ease; ++f )
        far = fmax( far, v3_distance( tr_world_pose( &actor->world, f - x->scene.first ).positions[from],
                                      pin->target ) );
    double needed =
        peak_acceleration( &actor->world, from, x->stage.fps ) + 10 / sqrt( 3 ) * far / ( seconds * seconds );
    return peak_acceleration( &x->result.worlds[0], joint, x->stage.fps ) / needed;
}

// Nothing turns over, shakes or pops, feet stay and stay above the ground. Returns what the demand gave way
// by, in millimetres, and ends the take.
static double check_calm( take *x, const char *what, const calm *c )
{
    solve( x, NULL );
    double spike = figure( x, "rotation_spike_deg", "value" ), rough = figure( x, "jerk_ratio", "value" ),
           pop = figure( x, "acceleration_spike", "value" );
    const tr_rule_report *demanded = report( x );
    double off = demanded != NULL ? demanded->max_mm : figure( x, "relative_error_mm", "max" );
    print_message( "%s: %.1f degrees, jerk %.2f, acceleration %.2f, %.0f mm given way\n", what, spike, rough,
                   pop, off );
    check_bound( spike, ROTATION_DEG );
    if ( c->shakes.reason != NULL )
        expect_miss( c->shakes.reason, rough <= bound( CALM_JERK ) );
    check_bound_of( rough, c->shakes.reason != NULL ? c->shakes.worst : BOUND_CALM_JERK );
    double quick = c->seconds > 0 ? hurry( x, c->seconds ) : pop;
    bound_name quickest = c->seconds > 0 ? BOUND_PIN_ACCELERATION : BOUND_ACCELERATION;
    if ( c->pops.reason != NULL ) {
        expect_miss( c->pops.reason, quick <= bound_row_of( quickest )->limit );
        check_bound_of( pop, c->pops.worst );
    } else
        check_bound_of( quick, quickest );
    check_bound( figure( x, "contact_error_mm", "max" ), CONTACT_MM );
    check_bound( figure( x, "ground_penetration_mm", "max" ), CALM_GROUND_MM );
    if ( demanded != NULL )
        assert_int_equal( demanded->gave_way, off > 1.0 );
    close_scene( x );
    return off;
}

// A person hand in hand with another squats with the centre of mass 0.4 m above the ground: as low as legs
// fold, not on the knees in one frame and backwards in the next.
static void low_centres_of_mass_squat( void **state )
{
    (void)state;
    take x;
    open_scene( &x, "squat_chain", 2 );
    x.scene.last = x.scene.first + 119;
    tr_constraint *low = demand( &x, TR_CONSTRAINT_CENTRE_OF_MASS, "Hips", v3( 0, 0.4, 0 ) );
    low->axis[0] = low->axis[2] = false;
    assert_true( check_calm( &x, "low", &still ) <= 150 );
}

// No body stands with its weight half a metre beside its feet.
static void weight_stays_within_reach( void **state )
{
    (void)state;
    take x;
    open_scene( &x, "squat_chain", 2 );
    x.scene.last = x.scene.first + 119;
    demand( &x, TR_CONSTRAINT_CENTRE_OF_MASS, "Hips", v3( 0.4, 0, 0 ) )->axis[1] = false;
    static const char why[] = "a body that is pulled aside by more than its feet allow shakes";
    check_calm( &x, "beside",
                &( calm ){ 0, { why, BOUND_ASIDE_MISS_JERK }, { why, BOUND_ASIDE_MISS_ACCELERATION } } );
}

static void giants_hold_hands( void **state )
{
    (void)state;
    take x;
    open_scene( &x, "squat_chain", 3 );
    x.scene.last = x.scene.first + 159;
    x.scene.cast[0].target.scale *= 3;
    assert_true( check_calm( &x, "three times as large", &still ) <= 5 );
}

static void dwarfs_carry_boxes( void **state )
{
    (void)state;
    take x;
    open_scene( &x, "box_relay", 4 );
    x.scene.last = x.scene.first + 149;
    x.scene.cast[1].target.scale *= 0.4;
    check_calm( &x, "0.4 times as large", &still );
}

static void heads_are_not_torn_off( void **state )
{
    (void)state;
    take x;
    open_scene( &x, "wolf", 1 );
    x.scene.last = x.scene.first + 99;
    demand( &x, TR_CONSTRAINT_ABSOLUTE, "Head", v3( 0, 0.5, 0 ) );
    check_calm( &x, "wolf's head", &still );
    open_scene( &x, "box_relay", 3 );
    x.scene.last = x.scene.first + 99;
    demand( &x, TR_CONSTRAINT_ABSOLUTE, "Head", v3( 0, 0.3, 0 ) );
    check_calm( &x, "head in the relay", &still );
}

// Limbs pinned at places all around while their owners walk past, squat, or hold hands, for the whole clip or
// some of it.
static void limbs_are_pinned_anywhere( void **state )
{
    (void)state;
    static const struct {
        const char *scene, *joint;
        int cast;
        bool alone;
        vec3 centre;
        double size;
    } limbs[] = { { "wolf", "LeftFrontPaw", 1, true, { 0, 0.8, 0.5 }, 0.7 },
                  { "spider", "L2Tip_End", 1, true, { 0, 0.4, 0.3 }, 0.4 },
                  { "squat_chain", "LeftHand", 2, false, { -0.3, 1.1, 0 }, 0.8 },
                  { "squat_chain", "LeftFoot", 2, true, { -0.3, 0.8, 0 }, 0.7 } };
    uint64_t seed = 11;
    for ( int i = 0; i < 16; ++i ) {
        take x;
        char what[100];
        open_scene( &x, limbs[i / 4].scene, limbs[i / 4].cast );
        x.scene.last = x.scene.first + 79;
        if ( limbs[i / 4].alone )
            x.scene.constraint_count = 0;
        vec3 place = v3_add( limbs[i / 4].centre, random_vector( &seed, limbs[i / 4].size ) );
        tr_constraint *c = demand( &x, TR_CONSTRAINT_ABSOLUTE, limbs[i / 4].joint, place );
        if ( i % 2 == 1 ) {
            c->first = x.scene.first + 30;
            c->last = x.scene.first + 50;
            c->ease_in = c->ease_out = 15;
        }
        snprintf( what, sizeof what, "%s at %.2f, %.2f, %.2f", limbs[i / 4].joint, place.x, place.y,
                  place.z );
        calm way = { .seconds = i % 2 == 1 ? 15 / x.scene.fps : 0 };
        if ( i == 8 )
            way.shakes = ( known_miss ){ "an arm that is stretched to its end shakes while its owner squats",
                                         BOUND_PIN_MISS_JERK };
        if ( i / 4 == 1 && i % 2 == 1 )
            way.pops = ( known_miss ){ "the tip of a leg that is called away from its step pops",
                                       BOUND_PIN_MISS_ACCELERATION };
        if ( i / 4 == 3 && i % 2 == 1 ) {
            static const char why[] = "a foot that is called away from where it stands pops";
            way.shakes = ( known_miss ){ why, BOUND_PIN_MISS_JERK };
            way.pops = ( known_miss ){ why, BOUND_PIN_MISS_ACCELERATION };
        }
        check_calm( &x, what, &way );
    }
}

// A hand that is not held is to go up three metres, or hips are to be upside down: these give way, and the
// hands of both stay in each other.
static void links_are_kept( void **state )
{
    (void)state;
    for ( int turned = 0; turned < 2; ++turned ) {
        take x;
        open_scene( &x, "squat_chain", 2 );
        x.scene.last = x.scene.first + 149;
        tr_constraint *c = turned ? demand( &x, TR_CONSTRAINT_ORIENTATION, "Hips", v3_zero )
                                  : demand( &x, TR_CONSTRAINT_ABSOLUTE, "RightHand", v3( 0, 3, 0 ) );
        c->rotation = turned ? ( quat ){ 1, 0, 0, 0 } : ( quat ){ 0, 0, 0, 1 };
        c->first = x.scene.first + 40;
        c->last = x.scene.first + 90;
        c->ease_in = c->ease_out = turned ? 15 : 8;
        solve( &x, NULL );
        check_bound( figure( &x, "relative_error_mm", "max" ), RELATIVE_MM );
        check_bound( figure( &x, "contact_error_mm", "max" ), CONTACT_MM );
        check_bound( figure( &x, "rotation_spike_deg", "value" ), ROTATION_DEG );
        assert_true( report( &x )->gave_way );
        close_scene( &x );
    }
}

// All joints of a wolf are to be in one place, and it walks past that on its feet.
static void nobody_is_folded_into_a_point( void **state )
{
    (void)state;
    take x;
    open_scene( &x, "wolf", 1 );
    x.scene.last = x.scene.first + 39;
    const tr_skeleton *wolf = &x.library.items[0].motion.skeleton;
    for ( int j = 0; j < wolf->joint_count; ++j )
        snprintf( demand( &x, TR_CONSTRAINT_ABSOLUTE, wolf->joints[j].name, v3( 0.2, 0.5, 0.3 ) )->id,
                  sizeof( tr_id ), "demand%d", j );
    check_calm( &x, "all of a wolf", &still );
}

// A body of one joint, which goes its way at a steady pace, is put in one place: nothing about that is wild.
static void a_point_goes_where_it_is_put( void **state )
{
    (void)state;
    take x = { 0 };
    tr_error error;
    tr_opened opened;
    char folder[FOLDER_SIZE], path[FOLDER_SIZE + 16];
    new_folder( folder );
    snprintf( path, sizeof path, "%s/dot.bvh", folder );
    FILE *file = fopen( path, "w" );
    assert_non_null( file );
    fputs( "HIERARCHY\nROOT Dot\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\nEnd Site\n{\n"
           "OFFSET 0 0 0\n}\n}\nMOTION\nFrames: 30\nFrame Time: 0.0333333\n",
           file );
    for ( int f = 0; f < 30; ++f )
        fprintf( file, "0 100 %d\n", 2 * f );
    assert_int_equal( fclose( file ), 0 );
    check_ok( tr_open( &opened, path, 0, &error ), &error );
    x = ( take ){ .scene = opened.scene, .library = opened.library, .warnings = opened.warnings };
    demand( &x, TR_CONSTRAINT_ABSOLUTE, "Dot", v3( 0, 1, 0.2 ) );
    solve( &x, NULL );
    assert_true( report( &x )->max_mm <= 1.0 );
    close_scene( &x );
    tr_free( opened.path );
    tr_free( opened.folder );
    remove_folder( folder );
}

static void solve_with_threads( take *x, int threads )
{
    open_scene( x, "box_relay", 3 );
    x->scene.last = x->scene.first + 59;
    demand( x, TR_CONSTRAINT_ABSOLUTE, "Head", v3( 0, 0.3, 0 ) );
    tr_parallel_set_threads( threads );
    solve( x, NULL );
    tr_parallel_set_threads( 0 );
}

// The same bits, however many threads.
static void threads_change_nothing( void **state )
{
    (void)state;
    take one, more;
    solve_with_threads( &one, 1 );
    solve_with_threads( &more, 3 );
    for ( int i = 0; i < one.stage.actor_count; ++i ) {
        const tr_clip *a = &one.result.motions[i].clip, *b = &more.result.motions[i].clip;
        size_t cells = (size_t)a->frame_count * (size_t)a->joint_count;
        assert_memory_equal( a->root, b->root, (size_t)a->frame_count * sizeof( vec3 ) );
        assert_memory_equal( tr_clip_frame( a, 0 ), tr_clip_frame( b, 0 ), cells * sizeof( quat ) );
    }
    close_scene( &one );
    close_scene( &more );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( low_centres_of_mass_squat ),
        TEST( weight_stays_within_reach ),
        TEST( giants_hold_hands ),
        TEST( dwarfs_carry_boxes ),
        TEST( heads_are_not_torn_off ),
        TEST( limbs_are_pinned_anywhere ),
        TEST( links_are_kept ),
        TEST( nobody_is_folded_into_a_point ),
        TEST( a_point_goes_where_it_is_put ),
        TEST( threads_change_nothing ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
