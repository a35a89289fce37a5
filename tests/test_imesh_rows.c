// Interaction meshes: rows that hold joints, hands that partners follow, boxes that move and boxes in the
// way.
#include "duet_fixture.h"

// ----------------------------------------------------------------------------------------- rows and control

static tr_imesh_row hold( const duet *d, int body, const char *joint, int frame, vec3 target, bool hard )
{
    return ( tr_imesh_row ){ .a = { body, tr_skeleton_find( &d->players[body].target, joint ), -1 },
                             .b = { -1, -1, -1 },
                             .frame = frame,
                             .target = target,
                             .axis = { true, true, true },
                             .hard = hard,
                             .weight = 0.4 };
}

static void hard_rows_are_met( void **state )
{
    (void)state;
    duet d;
    duet_start( &d, 1.25, 0.85, 1 );
    tr_imesh_row rows[2 * FRAMES];
    for ( int f = 0; f < FRAMES; ++f )
        for ( int i = 0; i < 2; ++i ) {
            const char *foot = i == 0 ? "LeftFoot" : "RightFoot";
            int joint = tr_skeleton_find( &d.players[i].target, foot );
            rows[2 * f + i] =
                hold( &d, i, foot, f, tr_world_pose( &d.players[i].place, f ).positions[joint], true );
            rows[2 * f + i].axis[0] = i == 0; // one foot everywhere, the other in y and z
        }
    d.cast.rows = rows;
    d.cast.row_count = 2 * FRAMES;
    duet_solve( &d );
    check_bound( d.report.row_error, MESH_ROW_M );
    check_bound( d.report.bone_error, MESH_BONE );
    check_v3( place_of( &d, 0, "LeftFoot", 7 ), rows[14].target, 2e-3 );
    check_near( place_of( &d, 1, "RightFoot", 7 ).y, rows[15].target.y, 2e-3 );
    duet_end( &d );
}

// A hand lies on the partner's chest, in front of it: there it stays however the chest turns, and the chest
// stays a chest.
static void points_turn_with_their_bodies( void **state )
{
    (void)state;
    duet d;
    duet_start( &d, 1.3, 0.8, 1 );
    tr_imesh_row rows[FRAMES];
    vec3 in_front = v3( 0.05, 0.1, 0.12 );
    int spine = tr_skeleton_find( &d.players[1].target, "Spine" );
    for ( int f = 0; f < FRAMES; ++f ) {
        rows[f] = hold( &d, 0, "LeftHand", f, v3_zero, true );
        rows[f].b = ( tr_imesh_point ){ 1, spine, -1, in_front };
    }
    d.cast.rows = rows;
    d.cast.row_count = FRAMES;
    duet_solve( &d );
    check_bound( d.report.row_error, MESH_ROW_M );
    check_bound( d.report.bone_error, MESH_BONE );
    quat rotations[32] = { 0 };
    vec3 positions[32] = { 0 };
    double turned = 0,
           shoulders =
               d.players[1].target.joints[tr_skeleton_find( &d.players[1].target, "LeftArm" )].offset.x * 2;
    for ( int f = 0; f < FRAMES; ++f ) {
        tr_pose like = tr_world_pose( &d.players[1].place, f );
        tr_imesh_pose( &d.mesh, 1, f, like, ( tr_pose ){ rotations, positions } );
        vec3 on_chest = v3_add( positions[spine], q_rotate( rotations[spine], in_front ) );
        check_v3( place_of( &d, 0, "LeftHand", f ), on_chest, 0.02 );
        turned = fmax( turned, q_angle( rotations[spine], like.rotations[spine] ) );
        check_near( v3_distance( place_of( &d, 1, "LeftArm", f ), place_of( &d, 1, "RightArm", f ) ),
                    shoulders, 0.01 * shoulders );
    }
    assert_true( turned > 0.05 ); // or it would show nothing
    duet_end( &d );
}

// A point of a partner, far out on a lever: weights are large, and rounds come to rest all the same.
static void long_levers_do_not_blow_up( void **state )
{
    (void)state;
    duet d;
    duet_start( &d, 1.3, 0.8, 1 );
    tr_imesh_row rows[FRAMES];
    for ( int f = 0; f < FRAMES; ++f ) {
        rows[f] = hold( &d, 0, "LeftHand", f, v3_zero, true );
        rows[f].b = ( tr_imesh_point ){ 1, tr_skeleton_find( &d.players[1].target, "LeftForeArm" ), -1,
                                        v3( -3500, 7700, 8000 ) };
    }
    d.cast.rows = rows;
    d.cast.row_count = FRAMES;
    duet_solve( &d );
    assert_true( isfinite( d.report.row_error ) );
    for ( int i = 0; i < d.mesh.vertex_count * FRAMES; ++i )
        assert_true( v3_length( d.mesh.positions[i] ) < 1e5 );
    duet_end( &d );
}

// One frame is held, a hand is moved: it goes there, and the partner comes along.
static void partners_follow_a_hand( void **state )
{
    (void)state;
    duet d;
    duet_start( &d, 1, 1, 1 );
    d.cast.first = 5;
    d.cast.frame_count = 1;
    int hand = tr_skeleton_find( &d.players[0].target, "LeftHand" );
    vec3 was = tr_world_pose( &d.players[0].source_world, 5 ).positions[hand];
    tr_imesh_row row = hold( &d, 0, "LeftHand", 0, was, true );
    d.cast.rows = &row;
    d.cast.row_count = 1;
    duet_solve( &d );
    check_near( farthest( &d.mesh, d.mesh.source, 1 ), 0, 1e-6 );
    row.target = v3_add( was, v3( 0.3, 0, 0 ) ); // targets may change between solves
    check_ok( tr_imesh_solve( &d.mesh, &d.report, &d.error ), &d.error );
    check_v3( place_of( &d, 0, "LeftHand", 0 ), row.target, 2e-3 );
    check_bound( d.report.bone_error, MESH_BONE );
    double followed = 0;
    for ( int v = 0; v < d.mesh.vertex_count; ++v )
        if ( d.mesh.vertices[v].owner == 1 )
            followed = fmax( followed, d.mesh.positions[v].x - d.mesh.source[v].x );
    assert_true( followed > 0.03 );
    duet_end( &d );
}

// ------------------------------------------------------------------------------------- boxes and collisions

static void props_stay_rigid_and_near( void **state )
{
    (void)state;
    duet d;
    duet_start( &d, 1.2, 0.9, 1 );
    rigid at[FRAMES];
    for ( int f = 0; f < FRAMES; ++f )
        at[f] = ( rigid ){ q_axis_angle( v3_y, 0.02 * f ), v3( 0, 1.3, 0 ) };
    tr_imesh_box box = { at, at, FRAMES, v3( 0.2, 0.1, 0.15 ), v3( 0.3, 0.1, 0.15 ), true };
    d.cast.boxes = &box;
    d.cast.box_count = 1;
    duet_solve( &d );
    for ( int f = 0; f < FRAMES; ++f ) {
        rigid place = tr_imesh_box_place( &d.mesh, 0, f );
        check_near( v3_distance( place.position, at[f].position ), 0, 0.4 );
        for ( int k = 0; k < 8; ++k ) {
            vec3 corner = { k & 1 ? 0.15 : -0.15, k & 2 ? 0.05 : -0.05, k & 4 ? 0.075 : -0.075 };
            int v = d.mesh.vertex_count - 8 + k;
            check_v3( d.mesh.positions[f * d.mesh.vertex_count + v], rigid_apply( place, corner ), 3e-3 );
        }
    }
    duet_end( &d );
}

// A wall comes nearer: bodies give way, and the wall is exactly where it should be.
static void environment_moves_as_told( void **state )
{
    (void)state;
    duet d;
    duet_start( &d, 1, 1, 1 );
    rigid from = { q_identity, v3( 1.1, 1, 0 ) }, to = { q_identity, v3( 0.5, 1, 0 ) };
    tr_imesh_box wall = { &from, &to, 1, v3( 0.4, 2, 2 ), v3( 0.4, 2, 2 ), false };
    d.cast.boxes = &wall;
    d.cast.box_count = 1;
    duet_solve( &d );
    assert_int_equal( d.mesh.unknown_count, d.mesh.vertex_count - 8 );
    check_v3( d.mesh.positions[d.mesh.vertex_count - 8], v3( 0.3, 0, -1 ), 1e-12 );
    assert_true( d.report.before.deepest > 0.02 );
    assert_true( d.report.after.deepest < 0.3 * d.report.before.deepest );
    duet_end( &d );
}

// Two balls pass each other 1 cm beside their surfaces; the target's are so thick that they overlap. They end
// up apart, each on its side, unless they are meant to pass through each other.
static void volumes_are_pushed_apart_on_their_side( void **state )
{
    (void)state;
    tr_skeleton skeleton = { 0 };
    tr_error error;
    tr_body thin, thick;
    assert_int_equal( tr_skeleton_add( &skeleton, "ball", -1, v3_zero ), 0 );
    check_ok( tr_skeleton_classify( &skeleton, &error ), &error );
    check_ok( tr_body_build( &thin, &skeleton, NULL, 0, &error ), &error );
    check_ok( tr_body_build( &thick, &skeleton, NULL, 0, &error ), &error );
    thin.capsules[0].radius = 0.1;
    thick.capsules[0].radius = 0.18;
    vec3 way[2][FRAMES];
    quat still[FRAMES];
    for ( int f = 0; f < FRAMES; ++f ) {
        still[f] = q_identity;
        way[0][f] = v3( 0.1 * ( f - 15 ), 0, 0.105 );
        way[1][f] = v3( -0.1 * ( f - 15 ), 0, -0.105 );
    }
    tr_world worlds[2] = { { 1, FRAMES, still, way[0] }, { 1, FRAMES, still, way[1] } };
    tr_imesh_body bodies[2] = { { &skeleton, &skeleton, &thin, &thick, &worlds[0], NULL, NULL },
                                { &skeleton, &skeleton, &thin, &thick, &worlds[1], NULL, NULL } };
    tr_imesh_pass pass = { 0, FRAMES - 1, -1, 1 };
    tr_imesh_cast cast = {
        .bodies = bodies, .body_count = 2, .frame_count = FRAMES, .passes = &pass, .ground = -INFINITY };
    tr_imesh_def def = tr_default_imesh_def();
    for ( int through = 0; through < 2; ++through ) {
        tr_imesh mesh;
        tr_imesh_report report;
        cast.pass_count = through;
        check_ok( tr_imesh_build( &mesh, &cast, &def, &error ), &error );
        check_ok( tr_imesh_solve( &mesh, &report, &error ), &error );
        double apart = v3_distance( mesh.positions[30], mesh.positions[31] ); // frame 15, where they meet
        assert_true( mesh.positions[30].z > 0 && mesh.positions[31].z < 0 );
        if ( through )
            check_near( apart, 0.21, 1e-3 );
        else
            check_near( apart, 0.37, 0.012 ); // touching within 1 cm in the source: it stays 1 cm
        check_near( report.before.deepest, through ? 0 : 0.15, 1e-9 );
        check_bound( report.after.deepest, MESH_BALLS_DEEP_M );
        tr_imesh_free( &mesh );
    }
    tr_body_free( &thin );
    tr_body_free( &thick );
    tr_skeleton_free( &skeleton );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( hard_rows_are_met ),
        TEST( points_turn_with_their_bodies ),
        TEST( long_levers_do_not_blow_up ),
        TEST( partners_follow_a_hand ),
        TEST( props_stay_rigid_and_near ),
        TEST( environment_moves_as_told ),
        TEST( volumes_are_pushed_apart_on_their_side ),
    };
    return cmocka_run_group_tests_name( "imesh rows", tests, NULL, NULL );
}
