// Where feet stand and how they swing: shifts computed by hand.
#include "stage_fixture.h"

// A body that stands, hops one metre forward between frames 10 and 20, and stands again.
static void add_hopper( fixture *x, double scale )
{
    tr_motion motion;
    make_body( &motion, FRAMES );
    bend_a_little( &motion );
    for ( int f = 0; f < FRAMES; ++f ) {
        double t = clampd( ( f - 10 ) / 10.0, 0, 1 );
        motion.clip.root[f] = v3_add( motion.clip.root[f], v3( 0, 0.3 * sin( TR_PI * t ), t ) );
    }
    tr_cast *cast = add_character( x, "p", v3_zero, scale, &motion );
    cast->target.path_scale = 1;
}

// A body that glides forwards on its soles at 6 cm/s.
static void add_glider( fixture *x, double scale )
{
    tr_motion motion;
    make_body( &motion, FRAMES );
    bend_a_little( &motion );
    for ( int f = 0; f < FRAMES; ++f )
        motion.clip.root[f].z += 0.06 * f / FPS;
    add_character( x, "p", v3_zero, scale, &motion );
}

static const tr_footing *footing_of( const fixture *x, const char *name )
{
    const tr_actor *actor = &x->stage.actors[0];
    for ( int i = 0; i < actor->footing_count; ++i )
        if ( actor->footings[i].joint == joint( &x->stage, 0, name ) )
            return &actor->footings[i];
    fail_msg( "%s has no footing", name );
    return NULL;
}

// Last frame of the first stance and first of the second: where the shift begins and ends to change.
static void find_swing( const tr_footing *footing, int *leave, int *land )
{
    for ( *leave = 0; v3_distance( footing->shift[*leave + 1], footing->shift[0] ) < 1e-12; )
        ++*leave;
    for ( *land = FRAMES - 1; v3_distance( footing->shift[*land - 1], footing->shift[FRAMES - 1] ) < 1e-12; )
        --*land;
}

// Path scale 1, foot of half the size: shift = c − c/2, so that it differs by half a metre between stances a
// metre apart. In the swing it follows the minimum-jerk curve, at full strength.
static void swings_go_from_stance_to_stance( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_hopper( &x, 0.5 );
    build( &x );
    const tr_footing *footing = footing_of( &x, "LeftFoot" );
    int leave, land;
    find_swing( footing, &leave, &land );
    assert_in_range( leave, 8, 13 );
    assert_in_range( land, 17, 22 );
    check_near( footing->rise, 0.5, 1e-12 );
    check_v3( v3_sub( footing->shift[FRAMES - 1], footing->shift[0] ), v3( 0, 0, 0.5 ), 1e-3 );
    for ( int f = 0; f < FRAMES; ++f ) {
        double along = smooth_step5( ( f - leave ) / (double)( land - leave ) );
        check_v3( footing->shift[f], v3_lerp( footing->shift[0], footing->shift[FRAMES - 1], along ), 1e-12 );
        check_near( footing->strength[f], 1, 1e-12 );
    }
    end( &x );
}

static void equal_bodies_shift_nothing( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_hopper( &x, 1 );
    build( &x );
    const tr_footing *footing = footing_of( &x, "RightFoot" );
    for ( int f = 0; f < FRAMES; ++f )
        check_v3( footing->shift[f], v3_zero, 1e-12 );
    end( &x );
}

static vec3 target_of( const fixture *x, const tr_footing *footing, int frame )
{
    vec3 source = tr_world_pose( &x->stage.actors[0].world, frame ).positions[footing->joint];
    return v3_mad( footing->shift[frame], footing->rise, source );
}

// The whole foot slides at v = 6 cm/s. A foot of twice the size keeps a quarter of it: 2 v − (2 − ¼) v. The
// soft limit lets it have a little more at the ends of the way.
static void larger_feet_slide_less( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_glider( &x, 2 );
    build( &x );
    const tr_footing *footing = footing_of( &x, "LeftFoot" );
    vec3 before = target_of( &x, footing, 0 );
    for ( int f = 1; f < FRAMES; ++f ) {
        vec3 at = target_of( &x, footing, f );
        double speed = FPS * v3_distance( at, before );
        assert_true( speed > 0.25 * 0.06 - 1e-6 );
        check_bound( speed / 0.06, LARGE_FOOT_SLIDE );
        before = at;
    }
    end( &x );
}

static void smaller_feet_slide_in_proportion( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_glider( &x, 0.5 );
    build( &x );
    const tr_footing *footing = footing_of( &x, "LeftFoot" );
    for ( int f = 0; f < FRAMES; ++f )
        check_v3( footing->shift[f], footing->shift[0], 1e-12 );
    end( &x );
}

// Where the document puts a foot somewhere else, its swing lets go.
static void swings_give_way_to_the_document( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_hopper( &x, 0.5 );
    tr_constraint kick = tr_default_constraint( "kick", TR_CONSTRAINT_ABSOLUTE );
    check_ok( tr_point_parse( &kick.a, "p.LeftFoot", &x.error ), &x.error );
    kick.first = 14;
    kick.last = 16;
    kick.given = true;
    kick.target = v3( 0.1, 0.4, 0.5 );
    assert_non_null( tr_scene_add_constraint( &x.scene, &kick ) );
    build( &x );
    for ( int f = 14; f <= 16; ++f ) {
        check_near( footing_of( &x, "LeftFoot" )->strength[f], 0, 0 );
        check_near( footing_of( &x, "RightFoot" )->strength[f], 1, 1e-12 );
    }
    tr_result result = solve( &x, "posegraph" );
    vec3 foot = tr_world_pose( &result.worlds[0], 15 ).positions[joint( &x.stage, 0, "LeftFoot" )];
    check_v3( foot, kick.target, 1e-3 );
    tr_result_free( &result );
    end( &x );
}

// ------------------------------------------------------------------------------------- what no rule holds

// A hand is pulled far forwards: the chest turns with it, the head goes on looking where it looked.
static void heads_keep_looking( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "p", v3_zero, 1 );
    tr_constraint reach = tr_default_constraint( "reach", TR_CONSTRAINT_ABSOLUTE );
    check_ok( tr_point_parse( &reach.a, "p.LeftHand", &x.error ), &x.error );
    reach.first = 0;
    reach.last = FRAMES - 1;
    reach.given = true;
    reach.target = v3( -0.2, 1.3, 0.6 );
    assert_non_null( tr_scene_add_constraint( &x.scene, &reach ) );
    build( &x );
    tr_result result = solve( &x, "posegraph" );
    tr_pose pose = tr_world_pose( &result.worlds[0], 15 ),
            source = tr_world_pose( &x.stage.actors[0].world, 15 );
    int chest = joint( &x.stage, 0, "Spine" ), head = joint( &x.stage, 0, "Head" );
    double turned = q_angle( pose.rotations[chest], source.rotations[chest] );
    assert_true( turned > 0.01 );
    assert_true( q_angle( pose.rotations[head], source.rotations[head] ) < 0.2 * turned );
    tr_result_free( &result );
    end( &x );
}

static int labelled( const fixture *x, const char *name, int first, int last )
{
    const tr_contacts *contacts = &x->stage.actors[0].contacts;
    int count = 0;
    for ( int f = first; f <= last; ++f )
        for ( int i = 0; i < contacts->count; ++i )
            count += contacts->items[i].joint == joint( &x->stage, 0, name ) &&
                     f >= contacts->items[i].first && f <= contacts->items[i].last;
    return count;
}

// Labels of one foot are taken back over some frames: in the middle of a stance, at its end, all of it.
static void contacts_can_be_lifted( void **state )
{
    (void)state;
    static const struct {
        int first, last, gone;
    } lifts[] = { { 10, 14, 5 }, { -5, 3, 4 }, { FRAMES - 2, FRAMES + 9, 2 }, { -100, 1000, FRAMES } };
    for ( size_t i = 0; i < sizeof lifts / sizeof *lifts; ++i ) {
        fixture x;
        char op[160];
        begin( &x );
        add_bent( &x, "a", v3_zero, 1 );
        snprintf( op, sizeof op,
                  "constraint_add id=up kind=contact a=a.LeftFoot range=%d,%d hard=false weight=0",
                  lifts[i].first, lifts[i].last );
        edit( &x, op );
        build( &x );
        int first = lifts[i].first < 0 ? 0 : lifts[i].first,
            last = lifts[i].last >= FRAMES ? FRAMES - 1 : lifts[i].last;
        assert_int_equal( labelled( &x, "LeftFoot", first, last ), 0 );
        assert_int_equal( labelled( &x, "LeftFoot", 0, FRAMES - 1 ), FRAMES - lifts[i].gone );
        assert_int_equal( labelled( &x, "RightFoot", 0, FRAMES - 1 ), FRAMES );
        int left = joint( &x.stage, 0, "LeftFoot" );
        for ( int r = 0; r < x.stage.rule_count; ++r ) { // no rule asks for it, and the lift itself is none
            const tr_rule *rule = &x.stage.rules[r];
            assert_int_equal( rule->constraint, -1 );
            assert_false( rule->a.joints[0] == left && rule->kind == TR_CONSTRAINT_CONTACT &&
                          rule->first <= last && rule->last >= first );
        }
        tr_result result = solve( &x, NULL );
        tr_result_free( &result );
        end( &x );
    }
}

// A body that bows and rises again, its arms hanging down: hands come to 40 cm above the floor, and on arms
// nearly twice as long would go 14 cm into it.
static void add_bowing( fixture *x, double arms )
{
    tr_motion motion;
    make_body( &motion, FRAMES );
    bend_a_little( &motion );
    for ( int f = 0; f < FRAMES; ++f ) {
        double s = sin( TR_PI * f / ( FRAMES - 1 ) ), bow = 0.5 * TR_PI * s * s;
        quat *local = tr_clip_frame( &motion.clip, f );
        for ( int j = 0; j < motion.skeleton.joint_count; ++j ) {
            const char *name = motion.skeleton.joints[j].name;
            double side = name[0] == 'L' ? -1 : 1;
            if ( strcmp( name, "Hips" ) == 0 )
                local[j] = q_axis_angle( v3_x, bow );
            else if ( strstr( name, "UpLeg" ) != NULL )
                local[j] = q_mul( q_axis_angle( v3_x, -bow ), local[j] );
            else if ( strcmp( name, "LeftArm" ) == 0 || strcmp( name, "RightArm" ) == 0 )
                local[j] = q_mul( q_axis_angle( v3_x, -bow ), q_axis_angle( v3_z, side * 0.5 * TR_PI ) );
            else if ( strstr( name, "ForeArm" ) != NULL )
                local[j] = q_identity;
        }
    }
    tr_cast *cast = add_character( x, "p", v3_zero, 1, &motion );
    cast->target.limbs[cast->target.limb_count++] = ( tr_limb_value ){ "arms", arms };
}

static double hand_height( const fixture *x, const tr_result *result, int frame )
{
    return tr_world_pose( &result->worlds[0], frame ).positions[joint( &x->stage, 0, "LeftHand" )].y;
}

// Hands stay above the floor, smoothly, and where they were high enough everything is as before.
static void hands_stay_above_the_ground( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bowing( &x, 1.9 );
    build( &x );
    tr_result copied = solve( &x, "copy" ), result = solve( &x, "posegraph" );
    double deepest = 0, lowest = 1, roughest = 0;
    for ( int f = 0; f < FRAMES; ++f ) {
        deepest = fmin( deepest, hand_height( &x, &copied, f ) );
        lowest = fmin( lowest, hand_height( &x, &result, f ) );
        double rough = f < 2 ? 0
                             : hand_height( &x, &result, f ) - 2 * hand_height( &x, &result, f - 1 ) +
                                   hand_height( &x, &result, f - 2 );
        roughest = fmax( roughest, fabs( rough ) );
        if ( hand_height( &x, &copied, f ) > 0.3 )
            check_near( hand_height( &x, &result, f ), hand_height( &x, &copied, f ), 1e-6 );
    }
    print_message( "%.0f mm deep before, %.1f mm high now, at most %.1f mm per frame²\n", -1000 * deepest,
                   1000 * lowest, 1000 * roughest );
    assert_true( deepest < -0.1 && lowest > -1e-3 );
    check_bound( roughest, BOW_KICK_M );
    tr_result_free( &copied );
    tr_result_free( &result );
    end( &x );
}

// The same body with a root on the floor below it and feet of another shape, as some files have them.
static void add_floor_body( fixture *x )
{
    tr_motion motion = { 0 };
    tr_skeleton *s = &motion.skeleton;
    int root = tr_skeleton_add( s, "Floor", -1, v3_zero );
    int hips = tr_skeleton_add( s, "Hips", root, v3( 0, 1, 0 ) );
    int chest = tr_skeleton_add( s, "Spine", hips, v3( 0, 0.45, 0 ) );
    tr_skeleton_add( s, "Head", chest, v3( 0, 0.3, 0 ) );
    add_side( s, hips, chest, "Left", 1 );
    add_side( s, hips, chest, "Right", -1 );
    s->joints[tr_skeleton_find( s, "LeftToeBase" )].offset = v3( 0.02, -0.08, 0.05 );
    s->joints[tr_skeleton_find( s, "RightToeBase" )].offset = v3( -0.02, -0.08, 0.05 );
    check_ok( tr_skeleton_classify( s, &x->error ), &x->error );
    check_ok( tr_clip_alloc( &motion.clip, 1, s->joint_count, FPS, false, &x->error ), &x->error );
    check_ok( tr_library_add( &x->library, "floor.bvh", &motion, &x->error ), &x->error );
    snprintf( x->scene.cast[0].target.skeleton.file, sizeof x->scene.cast[0].target.skeleton.file,
              "floor.bvh" );
}

// It moves about but does not turn, so that nothing swings on it, and one joint holds a foot all the time.
static void foreign_feet_and_roots_keep_still( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_hopper( &x, 1 );
    add_floor_body( &x );
    build( &x );
    tr_result result = solve( &x, "posegraph" );
    const tr_actor *actor = &x.stage.actors[0];
    assert_int_equal( tr_skeleton_find( &actor->target, "Hips" ), 1 );
    for ( int f = 0; f < FRAMES; ++f ) {
        tr_pose pose = tr_world_pose( &result.worlds[0], f );
        check_v3( v3_sub( pose.positions[1], pose.positions[0] ), v3( 0, 1, 0 ), 1e-9 );
        for ( int i = 0; i < actor->footing_count; ++i )
            assert_int_equal( x.stage.rules[actor->footings[i].rule[f]].a.joints[0],
                              x.stage.rules[actor->footings[i].rule[0]].a.joints[0] );
    }
    assert_true( actor->footing_count == 2 );
    tr_result_free( &result );
    end( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( swings_go_from_stance_to_stance ),
        TEST( equal_bodies_shift_nothing ),
        TEST( larger_feet_slide_less ),
        TEST( smaller_feet_slide_in_proportion ),
        TEST( swings_give_way_to_the_document ),
        TEST( heads_keep_looking ),
        TEST( contacts_can_be_lifted ),
        TEST( hands_stay_above_the_ground ),
        TEST( foreign_feet_and_roots_keep_still ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
