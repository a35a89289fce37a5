// Bodies that touch the environment are on its surface, not in it: feet on steps and platforms, hands on
// tables, named by a constraint or found.
#include "take.h"

static void add_box( take *x, const char *id, vec3 size, vec3 position )
{
    tr_obstacle box = tr_default_obstacle( id );
    box.size = size;
    box.position = position;
    assert_non_null( tr_scene_add_obstacle( &x->scene, &box ) );
}

static void add_contact( take *x, const char *id, const char *joint, const char *surface )
{
    tr_constraint contact = tr_default_constraint( id, TR_CONSTRAINT_CONTACT );
    contact.a = tr_point_joint( x->scene.cast[0].id, joint );
    if ( surface != NULL )
        snprintf( contact.surface, sizeof contact.surface, "%s", surface );
    assert_non_null( tr_scene_add_constraint( &x->scene, &contact ) );
}

// A body that stands still on both feet and moves the arms, in another size.
static void open_standing( take *x, double scale )
{
    open_scene( x, "arm_circles", 1 );
    x->scene.cast[0].target = tr_default_cast( "any" ).target;
    x->scene.cast[0].target.scale = scale;
}

static vec3 out_place( const take *x, const char *joint, int frame )
{
    int j = tr_skeleton_find( &x->stage.actors[0].target, joint );
    assert_true( j >= 0 );
    return tr_world_pose( &x->result.worlds[0], frame ).positions[j];
}

static vec3 source_place( const take *x, const char *joint, int frame )
{
    int j = tr_skeleton_find( &x->stage.actors[0].source.skeleton, joint );
    return tr_world_pose( &x->stage.actors[0].world, frame ).positions[j];
}

static void check_kept( const take *x )
{
    for ( int r = 0; r < x->stage.rule_count; ++r )
        if ( x->result.reports[r].gave_way || x->result.reports[r].max_mm > 1 )
            fail_msg( "%s is off by %g mm", x->stage.rules[r].id, x->result.reports[r].max_mm );
}

// Ankles and toes are as high above `floor` as the source's above `source_floor`, in the size of the body.
static void check_standing( const take *x, double scale, double floor, double source_floor )
{
    const char *joints[] = { "LeftFoot", "RightFoot", "LeftToe", "RightToe" };
    for ( int f = 0; f < x->stage.frame_count; f += 20 )
        for ( int j = 0; j < 4; ++j )
            check_near( out_place( x, joints[j], f ).y,
                        floor + scale * ( source_place( x, joints[j], f ).y - source_floor ), 1e-3 );
    check_kept( x );
}

static const double sizes[] = { 0.6, 1, 1.4 };

// The source stands on the floor, where the scene has a platform.
static void feet_come_onto_what_is_in_their_place( void **state )
{
    (void)state;
    for ( int s = 0; s < 3; ++s )
        for ( int named = 0; named < 2; ++named ) {
            take x;
            open_standing( &x, sizes[s] );
            add_box( &x, "platform", v3( 4, 0.2, 4 ), v3( 0, 0.1, 0 ) );
            if ( named == 1 ) {
                add_contact( &x, "left", "LeftFoot", "platform" );
                add_contact( &x, "right", "RightFoot", "platform" );
            }
            solve( &x, "posegraph" );
            check_standing( &x, sizes[s], 0.2, 0 );
            check_near( out_place( &x, "Hips", 0 ).y, 0.2 + sizes[s] * source_place( &x, "Hips", 0 ).y,
                        0.02 );
            assert_true( field_of( &x, "identity_error_m", "value" )->out_null );
            close_scene( &x );
        }
}

// The source stands on the platform itself, and the file does not say so.
static void platforms_are_found( void **state )
{
    (void)state;
    for ( int s = 0; s < 3; ++s )
        for ( int user = 0; user < 2; ++user ) {
            take x;
            open_standing( &x, sizes[s] );
            x.scene.cast[0].position.y = 0.3;
            add_box( &x, "platform", v3( 4, 0.3, 4 ), v3( 0, 0.15, 0 ) );
            if ( user == 1 ) {
                add_contact( &x, "left", "LeftFoot", NULL );
                add_contact( &x, "right", "RightFoot", NULL );
            }
            solve( &x, "posegraph" );
            check_standing( &x, sizes[s], 0.3, 0.3 );
            check_near( out_place( &x, "Hips", 0 ).y,
                        0.3 + sizes[s] * ( source_place( &x, "Hips", 0 ).y - 0.3 ), 0.02 );
            close_scene( &x );
        }
}

// No foot steps onto a wall; a foot in it stays as it is.
static void walls_are_not_climbed( void **state )
{
    (void)state;
    take x;
    open_standing( &x, 1 );
    add_box( &x, "wall", v3( 4, 1.5, 4 ), v3( 0, 0.75, 0 ) );
    solve( &x, "posegraph" );
    check_standing( &x, 1, 0, 0 );
    close_scene( &x );
}

// ------------------------------------------------------------------------------------------------- walking

// Is the middle of a foot over the box, at a frame of the result?
static bool over( const take *x, const char *foot, const char *toe, int frame )
{
    vec3 middle = v3_lerp( out_place( x, foot, frame ), out_place( x, toe, frame ), 0.5 );
    return middle.x > x->scene.obstacles[x->scene.obstacle_count - 1].position.x -
                          0.5 * x->scene.obstacles[x->scene.obstacle_count - 1].size.x;
}

// A walk on level ground, and a step across its way.
static void a_walk_goes_up_a_step( void **state )
{
    (void)state;
    take x;
    open_scene( &x, "corridor", 2 );
    add_box( &x, "step", v3( 40, 0.18, 6 ), v3( 20, 0.09, 0 ) );
    solve( &x, "posegraph" );
    check_kept( &x );
    int up = 0, down = 0;
    const tr_contacts *contacts = &x.stage.actors[0].contacts;
    double rise = x.stage.actors[0].footings[0].rise;
    for ( int c = 0; c < contacts->count; ++c ) {
        const char *joint = x.stage.actors[0].source.skeleton.joints[contacts->items[c].joint].name;
        bool left = strncmp( joint, "Left", 4 ) == 0;
        if ( strstr( joint, "Foot" ) == NULL )
            continue;
        for ( int f = contacts->items[c].first; f <= contacts->items[c].last; ++f ) {
            bool on = over( &x, left ? "LeftFoot" : "RightFoot", left ? "LeftToe" : "RightToe", f );
            check_near( out_place( &x, joint, f ).y,
                        ( on ? 0.18 : 0 ) + rise * source_place( &x, joint, f ).y, 1e-3 );
            *( on ? &up : &down ) += 1;
        }
    }
    assert_true( up > 10 && down > 10 );
    // Feet swing over the edge, but for a toe that stood right before it.
    int through = 0;
    for ( int f = 0; f < x.stage.frame_count; ++f )
        for ( int side = 0; side < 2; ++side ) {
            vec3 toe = out_place( &x, side == 0 ? "LeftToe" : "RightToe", f );
            through += toe.x > 0 && toe.y < 0.18 - 0.02;
        }
    assert_true( through <= 4 );
    print_message( "up the step: jerk %.3f, acceleration %.2f, rotation %.1f°\n",
                   figure( &x, "jerk_ratio", "value" ), figure( &x, "acceleration_spike", "value" ),
                   figure( &x, "rotation_spike_deg", "value" ) );
    check_bound( figure( &x, "rotation_spike_deg", "value" ), ROTATION_DEG );
    check_bound( figure( &x, "acceleration_spike", "value" ), ACCELERATION );
    check_bound( figure( &x, "jerk_ratio", "value" ), JERK );
    check_bound( figure( &x, "sole_tilt_deg", "max" ), SOLE_TILT_DEG );
    close_scene( &x );
}

// --------------------------------------------------------------------------------------------------- hands

// A hand that is in the table in the source is on it in the result, whatever its size; at the side of a
// pillar it comes out of that side.
static void hands_come_onto_tables( void **state )
{
    (void)state;
    const double near[] = { 0.9, 1, 1.1 };
    for ( int s = 0; s < 3; ++s )
        for ( int side = 0; side < 2; ++side ) {
            take x;
            open_standing( &x, 1 );
            solve( &x, "copy" );
            vec3 hand = source_place( &x, "LeftHand", 30 );
            close_scene( &x );
            open_standing( &x, near[s] );
            if ( side == 0 )
                add_box( &x, "table", v3( 0.6, 0.2, 0.6 ), v3( hand.x, hand.y - 0.06, hand.z ) );
            else
                add_box( &x, "table", v3( 0.6, 4, 0.6 ), v3( hand.x + 0.26, 2, hand.z ) );
            add_contact( &x, "palm", "LeftHand", "table" );
            x.scene.constraints[x.scene.constraint_count - 1].first = 30;
            x.scene.constraints[x.scene.constraint_count - 1].last = 30;
            solve( &x, "posegraph" );
            vec3 now = out_place( &x, "LeftHand", 30 );
            double away = side == 0 ? now.y - ( hand.y + 0.04 ) : hand.x - 0.04 - now.x;
            print_message( "the hand is %.3f m in front of the surface\n", away );
            assert_true( away > 0.005 && away < 0.05 );
            check_kept( &x );
            close_scene( &x );
        }
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( feet_come_onto_what_is_in_their_place ),
        TEST( platforms_are_found ),
        TEST( walls_are_not_climbed ),
        TEST( a_walk_goes_up_a_step ),
        TEST( hands_come_onto_tables ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
