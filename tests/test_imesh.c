// Interaction meshes: their energy against sparse QR, what must not move, what must follow, and everything
// that could go wrong with a point cloud of people.
#include "imesh/imesh.h"
#include "stage_fixture.h"

// ------------------------------------------------------------------------------------------------- fixture

typedef struct player {
    tr_motion source;
    tr_skeleton target;
    tr_body source_body, target_body;
    tr_world source_world;
    tr_motion placed; // target body with the source's rotations
    tr_world place;
} player;

// Two people of sticks face each other; arms and trunks sway, hands come near the partner.
static void sway( tr_motion *motion, double phase )
{
    for ( int f = 0; f < motion->clip.frame_count; ++f ) {
        double t = f / FPS;
        quat *q = tr_clip_frame( &motion->clip, f );
        for ( int j = 0; j < motion->skeleton.joint_count; ++j ) {
            const char *name = motion->skeleton.joints[j].name;
            double wave = sin( 3 * t + phase + j );
            if ( strstr( name, "ForeArm" ) != NULL )
                q[j] = q_axis_angle( v3_y, ( name[0] == 'L' ? -1 : 1 ) * ( 0.9 + 0.3 * wave ) );
            else if ( strstr( name, "Arm" ) != NULL )
                q[j] = q_axis_angle( v3_y, ( name[0] == 'L' ? -1 : 1 ) * ( 0.9 + 0.2 * wave ) );
            else if ( strstr( name, "Spine" ) != NULL )
                q[j] = q_axis_angle( v3_x, 0.1 * wave );
        }
    }
}

static void player_start( player *p, rigid placement, double phase, double scale, double path, int frames )
{
    tr_error error;
    *p = ( player ){ 0 };
    make_body( &p->source, frames );
    bend_a_little( &p->source );
    sway( &p->source, phase );
    tr_clip_place( &p->source.clip, placement );
    tr_body_scale sizes = tr_default_body_scale();
    sizes.scale = scale;
    check_ok( tr_skeleton_scaled( &p->target, &p->source.skeleton, &sizes, &error ), &error );
    check_ok( tr_body_build( &p->source_body, &p->source.skeleton, NULL, 0, &error ), &error );
    check_ok( tr_body_build( &p->target_body, &p->target, NULL, 0, &error ), &error );
    check_ok( tr_world_build( &p->source_world, &p->source, &error ), &error );
    check_ok( tr_skeleton_copy( &p->placed.skeleton, &p->target, &error ), &error );
    check_ok( tr_clip_copy( &p->placed.clip, &p->source.clip, &error ), &error );
    for ( int f = 0; f < frames; ++f ) {
        vec3 *root = &p->placed.clip.root[f];
        *root = v3( path * root->x, scale * root->y, path * root->z );
    }
    check_ok( tr_world_build( &p->place, &p->placed, &error ), &error );
}

static void player_end( player *p )
{
    tr_motion_free( &p->source );
    tr_motion_free( &p->placed );
    tr_skeleton_free( &p->target );
    tr_body_free( &p->source_body );
    tr_body_free( &p->target_body );
    tr_world_free( &p->source_world );
    tr_world_free( &p->place );
}

static tr_imesh_body body_of( const player *p )
{
    return ( tr_imesh_body ){ .source = &p->source.skeleton,
                              .target = &p->target,
                              .source_body = &p->source_body,
                              .target_body = &p->target_body,
                              .source_world = &p->source_world,
                              .place = &p->place };
}

typedef struct duet {
    player players[2];
    tr_imesh_body bodies[2];
    tr_imesh_cast cast;
    tr_imesh_def def;
    tr_imesh mesh;
    tr_imesh_report report;
    tr_error error;
} duet;

static void duet_start( duet *d, double a, double b, double path )
{
    *d = ( duet ){ .def = tr_default_imesh_def() };
    rigid left = { q_identity, v3( 0, 0, -0.3 ) }, right = { q_axis_angle( v3_y, TR_PI ), v3( 0, 0, 0.3 ) };
    player_start( &d->players[0], left, 0, a, path, FRAMES );
    player_start( &d->players[1], right, 1, b, path, FRAMES );
    for ( int i = 0; i < 2; ++i )
        d->bodies[i] = body_of( &d->players[i] );
    d->cast =
        ( tr_imesh_cast ){ .bodies = d->bodies, .body_count = 2, .frame_count = FRAMES, .ground = -INFINITY };
}

static void duet_solve( duet *d )
{
    check_ok( tr_imesh_build( &d->mesh, &d->cast, &d->def, &d->error ), &d->error );
    check_ok( tr_imesh_solve( &d->mesh, &d->report, &d->error ), &d->error );
    for ( int i = 0; i < d->mesh.frame_count * d->mesh.vertex_count; ++i )
        assert_true( v3_finite( d->mesh.positions[i] ) );
}

static void duet_end( duet *d )
{
    tr_imesh_free( &d->mesh );
    for ( int i = 0; i < 2; ++i )
        player_end( &d->players[i] );
}

static double farthest( const tr_imesh *mesh, const vec3 *from, double scale )
{
    double most = 0;
    for ( int i = 0; i < mesh->frame_count * mesh->vertex_count; ++i )
        most = fmax( most, v3_distance( mesh->positions[i], v3_scale( scale, from[i] ) ) );
    return most;
}

static int vertex_of( const duet *d, int body, const char *joint )
{
    return d->mesh.joint_vertex[body][tr_skeleton_find( &d->players[body].target, joint )];
}

static vec3 place_of( const duet *d, int body, const char *joint, int frame )
{
    return d->mesh.positions[frame * d->mesh.vertex_count + vertex_of( d, body, joint )];
}

// ---------------------------------------------------------------------------------------------------- webs

// A point in the middle of four at distances 1, 1, 2 and 4, the last one joined to it by a bone: weights 1 :
// 1 : ½ over 2.5.
static void weights_by_hand( void **state )
{
    (void)state;
    vec3 points[] = {
        { 0, 0, 0 }, { 1, 0, 0 }, { -0.6, 0.8, 0 }, { -0.4, -0.8, sqrt( 3.2 ) }, { 0, -0.4, -3.98 } };
    const int bones[1][2] = { { 4, 0 } };
    tr_imesh_web web;
    tr_delaunay scratch = { 0 };
    tr_error error;
    check_ok( tr_imesh_web_build( &web, &scratch, &( tr_imesh_points ){ points, 5, bones, 1, 0.02 }, &error ),
              &error );
    assert_int_equal( web.tet_count, 4 );
    assert_int_equal( web.start[1], 3 );
    static const double weights[] = { 0.4, 0.4, 0.2 };
    vec3 mean = v3_zero;
    for ( int i = 0; i < 3; ++i ) {
        assert_int_equal( web.neighbours[i], i + 1 );
        check_near( web.weights[i], weights[i], 1e-12 );
        mean = v3_mad( mean, weights[i], points[i + 1] );
    }
    check_v3( tr_imesh_laplacian( &web, points, 0 ), v3_negate( mean ), 1e-12 );
    tr_imesh_web_free( &web );
    tr_delaunay_free( &scratch );
}

// ------------------------------------------------------------------------------------------------ the energy

static void same_sizes_stay_where_they_are( void **state )
{
    (void)state;
    duet d;
    duet_start( &d, 1, 1, 1 );
    d.cast.ground = 0;
    duet_solve( &d );
    check_near( farthest( &d.mesh, d.mesh.source, 1 ), 0, 1e-6 );
    check_near( d.report.energy, 0, 1e-12 );
    assert_int_equal( d.report.flipped, 0 );
    assert_int_equal( d.report.no_room_count + d.report.lost_count, 0 );
    duet_end( &d );
}

// Everything half as large again, everything between them too: the same motion, half as large again.
static void growth_of_all_is_similarity( void **state )
{
    (void)state;
    duet d;
    duet_start( &d, 1.5, 1.5, 1.5 );
    d.def.relations = 1.5;
    d.def.touch_reach = -1; // what touches would stay as near as it was,
    d.def.collision = 1e-9; // and what overlaps, as deep
    d.def.tolerance = 0;    // where the rounds lead to, not where they are good enough
    d.def.settle = 200;
    duet_solve( &d );
    check_near( farthest( &d.mesh, d.mesh.source, 1.5 ), 0, 2e-3 );
    assert_true( d.report.bone_error < 2e-3 );
    duet_end( &d );
}

static void bones_have_their_length( void **state )
{
    (void)state;
    static const double sizes[][2] = { { 1.3, 0.85 }, { 0.8, 1.4 }, { 1, 0.6 } };
    for ( int i = 0; i < 3; ++i ) {
        duet d;
        duet_start( &d, sizes[i][0], sizes[i][1], 1 );
        duet_solve( &d );
        check_near( d.report.bone_error, 0, 0.01 );
        assert_true( d.report.after.deepest < 0.03 );
        duet_end( &d );
    }
}

// Points without bones: the rounds are one linear solve, and sparse QR gives the same answer.
static void loose_points_solve_like_sparse_qr( void **state )
{
    (void)state;
    enum { POINTS = 7, TIMES = 6 };
    tr_skeleton skeleton = { 0 };
    tr_error error;
    tr_body ball;
    uint64_t random = 9;
    tr_world worlds[POINTS], places[POINTS];
    tr_imesh_body bodies[POINTS];
    assert_int_equal( tr_skeleton_add( &skeleton, "ball", -1, v3_zero ), 0 );
    check_ok( tr_skeleton_classify( &skeleton, &error ), &error );
    check_ok( tr_body_build( &ball, &skeleton, NULL, 0, &error ), &error );
    ball.capsules[0].radius = 1e-3;
    vec3 from[POINTS][TIMES], to[POINTS][TIMES];
    quat still[TIMES];
    for ( int f = 0; f < TIMES; ++f )
        still[f] = q_identity;
    for ( int i = 0; i < POINTS; ++i ) {
        vec3 at = v3_scale( 1e-19, v3( (double)random_bits( &random ), (double)random_bits( &random ),
                                       (double)random_bits( &random ) ) );
        for ( int f = 0; f < TIMES; ++f ) {
            from[i][f] = v3_mad( at, 0.1 * f, v3( sin( i ), cos( i + f ), sin( 2 * i + f ) ) );
            to[i][f] = v3_mad( from[i][f], 0.3, v3( cos( i + f ), i % 2, sin( f ) ) );
        }
        worlds[i] = ( tr_world ){ 1, TIMES, still, from[i] };
        places[i] = ( tr_world ){ 1, TIMES, still, to[i] };
        bodies[i] = ( tr_imesh_body ){ &skeleton, &skeleton, &ball, &ball, &worlds[i], NULL, &places[i] };
    }
    tr_imesh_cast cast = {
        .bodies = bodies, .body_count = POINTS, .frame_count = TIMES, .ground = -INFINITY };
    tr_imesh_def def = tr_default_imesh_def();
    def.relations = 1.2;
    def.place = 0.3;
    tr_imesh mesh;
    check_ok( tr_imesh_build( &mesh, &cast, &def, &error ), &error );
    check_ok( tr_imesh_solve( &mesh, NULL, &error ), &error );
    assert_int_equal( mesh.vertex_count, POINTS );
    // Rows in the unknown positions x: M x = 1.2 δ, √w_p x = √w_p r, √w_a A x = √w_a A x̄.
    int rows = ( 2 * TIMES + TIMES - 2 ) * POINTS, row = 0;
    tr_sparse a = { .column_count = TIMES * POINTS };
    double *b = tr_alloc( 3 * (size_t)rows, sizeof( double ) ),
           *x = tr_alloc( 3 * TIMES * POINTS, sizeof( double ) );
    for ( int f = 0; f < TIMES; ++f )
        for ( int i = 0; i < POINTS; ++i, row += 2 ) {
            const tr_imesh_web *web = &mesh.webs[f];
            int columns[POINTS + 1] = { f * POINTS + i }, count = 1;
            double values[POINTS + 1] = { 1 };
            for ( int k = web->start[i]; k < web->start[i + 1]; ++k ) {
                columns[count] = f * POINTS + web->neighbours[k];
                values[count++] = -web->weights[k];
            }
            assert_true( tr_sparse_add( &a, columns, values, count ) );
            vec3 delta = v3_scale( 1.2, tr_imesh_laplacian( web, mesh.source + f * POINTS, i ) );
            vec3 place = v3_scale( sqrt( 0.3 ), to[i][f] );
            assert_true( tr_sparse_add( &a, columns, ( double[] ){ sqrt( 0.3 ) }, 1 ) );
            b[row] = delta.x, b[rows + row] = delta.y, b[2 * rows + row] = delta.z;
            b[row + 1] = place.x, b[rows + row + 1] = place.y, b[2 * rows + row + 1] = place.z;
        }
    for ( int f = 1; f + 1 < TIMES; ++f )
        for ( int i = 0; i < POINTS; ++i, ++row ) {
            double w = sqrt( def.acceleration );
            int columns[3] = { ( f - 1 ) * POINTS + i, f * POINTS + i, ( f + 1 ) * POINTS + i };
            assert_true( tr_sparse_add( &a, columns, ( double[] ){ w, -2 * w, w }, 3 ) );
            vec3 s = v3_add( v3_sub( from[i][f - 1], v3_scale( 2, from[i][f] ) ), from[i][f + 1] );
            b[row] = w * s.x, b[rows + row] = w * s.y, b[2 * rows + row] = w * s.z;
        }
    assert_int_equal( row, rows );
    check_ok( tr_least_squares( &a, b, NULL, NULL, 3, x, &error ), &error );
    for ( int i = 0; i < TIMES * POINTS; ++i )
        check_v3( mesh.positions[i], v3( x[i], x[TIMES * POINTS + i], x[2 * TIMES * POINTS + i] ), 1e-5 );
    tr_sparse_free( &a );
    tr_free( b );
    tr_free( x );
    tr_imesh_free( &mesh );
    tr_body_free( &ball );
    tr_skeleton_free( &skeleton );
}

static void threads_make_no_difference( void **state )
{
    (void)state;
    duet d;
    duet_start( &d, 1.2, 0.8, 1 );
    tr_parallel_set_threads( 1 );
    duet_solve( &d );
    size_t bytes = (size_t)d.mesh.frame_count * (size_t)d.mesh.vertex_count * sizeof( vec3 );
    vec3 *alone = tr_alloc( bytes, 1 );
    memcpy( alone, d.mesh.positions, bytes );
    tr_imesh_free( &d.mesh );
    tr_parallel_set_threads( 4 );
    duet_solve( &d );
    assert_memory_equal( alone, d.mesh.positions, bytes );
    check_ok( tr_imesh_solve( &d.mesh, NULL, &d.error ), &d.error ); // and again from the start
    assert_memory_equal( alone, d.mesh.positions, bytes );
    if ( d.def.lanes != TR_LANES_FLOAT ) {
        d.mesh.def.lanes = TR_LANES_FLOAT;
        check_ok( tr_imesh_solve( &d.mesh, NULL, &d.error ), &d.error );
        assert_memory_equal( alone, d.mesh.positions, bytes );
    }
    tr_parallel_set_threads( 0 );
    tr_free( alone );
    duet_end( &d );
}

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
    assert_true( d.report.row_error < 2e-3 );
    assert_true( d.report.bone_error < 0.01 );
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
    assert_true( d.report.row_error < 0.015 );
    assert_true( d.report.bone_error < 0.01 );
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
    assert_true( d.report.bone_error < 0.01 );
    double followed = 0;
    for ( int v = 0; v < d.mesh.vertex_count; ++v )
        if ( d.mesh.vertices[v].owner == 1 )
            followed = fmax( followed, d.mesh.positions[v].x - d.mesh.source[v].x );
    assert_true( followed > 0.03 );
    duet_end( &d );
}

// ----------------------------------------------------------------------------------------- boxes and
// collisions

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
        assert_true( report.after.deepest < 0.01 );
        tr_imesh_free( &mesh );
    }
    tr_body_free( &thin );
    tr_body_free( &thick );
    tr_skeleton_free( &skeleton );
}

// -------------------------------------------------------------------------------------------------- oddities

static void extremes_are_survived( void **state )
{
    (void)state;
    static const double sizes[][2] = { { 0.2, 1 }, { 5, 1 }, { 5, 0.2 }, { 0.01, 1 } };
    for ( int i = 0; i < 4; ++i ) {
        duet d;
        duet_start( &d, sizes[i][0], sizes[i][1], 1 );
        d.cast.ground = 0;
        duet_solve( &d ); // finite
        assert_true( isfinite( d.report.energy ) && isfinite( d.report.bone_error ) );
        duet_end( &d );
    }
    duet d; // into each other from the start
    duet_start( &d, 1.2, 1, 1 );
    for ( int f = 0; f < FRAMES; ++f )
        for ( int j = 0; j < d.players[1].source_world.joint_count; ++j ) {
            int at = f * d.players[1].source_world.joint_count + j;
            d.players[1].source_world.positions[at] = d.players[0].source_world.positions[at];
            d.players[1].source_world.rotations[at] = d.players[0].source_world.rotations[at];
        }
    duet_solve( &d );
    duet_end( &d );
}

static void empty_casts_are_fine( void **state )
{
    (void)state;
    duet d;
    duet_start( &d, 1.3, 1, 1 );
    d.cast.frame_count = 0;
    duet_solve( &d );
    tr_imesh_free( &d.mesh );
    d.cast.frame_count = FRAMES;
    d.cast.body_count = 0;
    duet_solve( &d );
    tr_imesh_free( &d.mesh );
    rigid at = rigid_identity;
    tr_imesh_box wall = { &at, &at, 1, v3_one, v3_one, false };
    d.cast.boxes = &wall;
    d.cast.box_count = 1;
    duet_solve( &d ); // nothing that could move
    tr_imesh_free( &d.mesh );
    d.cast.body_count = 1;
    d.cast.box_count = 0;
    duet_solve( &d ); // one body alone: it keeps its own relations
    assert_true( d.report.bone_error < 0.01 );
    duet_end( &d );
}

// A body all of whose joints lie in one plane, one line, and one place.
static void flat_bodies_are_fine( void **state )
{
    (void)state;
    for ( int dimension = 0; dimension < 3; ++dimension ) {
        duet d;
        duet_start( &d, 1.1, 1.1, 1 );
        for ( int i = 0; i < 2; ++i )
            for ( int k = 0; k < FRAMES * d.players[i].source_world.joint_count; ++k ) {
                vec3 *p = &d.players[i].source_world.positions[k];
                *p = v3( dimension > 0 ? p->x : 0, dimension > 1 ? p->y : 0, 0 );
            }
        duet_solve( &d );
        duet_end( &d );
    }
}

static void memory_may_run_out( void **state )
{
    (void)state;
    duet d;
    duet_start( &d, 1.2, 0.9, 1 );
    d.cast.frame_count = 3;
    tr_parallel_set_threads( 1 );
    bool ok = false;
    for ( long n = 1; !ok && n < 400; ++n ) {
        tr_memory_fail_from( n );
        ok = tr_imesh_build( &d.mesh, &d.cast, &d.def, &d.error );
        ok = ok && tr_imesh_solve( &d.mesh, &d.report, &d.error );
        tr_memory_fail_from( 0 );
        tr_imesh_free( &d.mesh );
    }
    assert_true( ok );
    tr_parallel_set_threads( 0 );
    duet_end( &d );
}

// ----------------------------------------------------------------------------------------------------- poses

static void poses_come_back( void **state )
{
    (void)state;
    duet d;
    duet_start( &d, 1, 1, 1 );
    duet_solve( &d );
    int joints = d.players[0].target.joint_count;
    quat rotations[32];
    vec3 positions[32];
    tr_pose out = { rotations, positions };
    for ( int f = 0; f < FRAMES; f += 10 ) { // nothing moved: the pose it was
        tr_pose like = tr_world_pose( &d.players[1].place, f );
        tr_imesh_pose( &d.mesh, 1, f, like, out );
        for ( int j = 0; j < joints; ++j ) {
            check_v3( positions[j], like.positions[j], 1e-5 );
            check_rotation( rotations[j], like.rotations[j], 1e-4 );
        }
    }
    // The whole mesh turned: every joint turned, but for the feet, whose soles stay.
    quat turn = q_from_vector( v3( 0.4, -0.7, 0.2 ) );
    for ( int i = 0; i < d.mesh.frame_count * d.mesh.vertex_count; ++i )
        d.mesh.positions[i] = q_rotate( turn, d.mesh.positions[i] );
    tr_pose like = tr_world_pose( &d.players[0].place, 3 );
    tr_imesh_pose( &d.mesh, 0, 3, like, out );
    for ( int j = 0; j < joints; ++j ) {
        if ( strstr( d.players[0].target.joints[j].name, "Toe" ) != NULL )
            continue;
        bool foot = strstr( d.players[0].target.joints[j].name, "Foot" ) != NULL;
        check_v3( positions[j], q_rotate( turn, like.positions[j] ), 1e-4 );
        check_rotation( rotations[j], foot ? like.rotations[j] : q_mul( turn, like.rotations[j] ), 0.05 );
    }
    duet_end( &d );
}

// ----------------------------------------------------------------------------------------------- close pairs

#define NEAR_FRAMES 100

// Balls of radius 0.1 on the x axis. Between 0 and 1 there are gaps of a course; 2 stands far off.
static void pairs_with( tr_imesh_pairs *pairs, const double gaps[NEAR_FRAMES], const tr_imesh_near_def *def )
{
    static vec3 at[3][NEAR_FRAMES];
    static quat still[NEAR_FRAMES];
    static tr_capsule ball = { .radius = 0.1 };
    static tr_body body = { .capsules = &ball, .capsule_count = 1 };
    tr_world worlds[3];
    tr_imesh_near members[3];
    tr_error error;
    for ( int i = 0; i < 3; ++i ) {
        worlds[i] = ( tr_world ){ 1, NEAR_FRAMES, still, at[i] };
        members[i] = ( tr_imesh_near ){ .world = &worlds[i], .body = &body };
        for ( int f = 0; f < NEAR_FRAMES; ++f ) {
            still[f] = q_identity;
            at[i][f] = v3( i == 0 ? 0 : i == 1 ? 0.2 + gaps[f] : 9, 1, 0 );
        }
    }
    check_ok( tr_imesh_pairs_find( pairs, members, 3, NEAR_FRAMES, def, &error ), &error );
}

static void closeness_has_hysteresis( void **state )
{
    (void)state;
    double gaps[NEAR_FRAMES];
    tr_imesh_near_def def = { .enter = 0.1, .leave = 0.2, .min_frames = 4, .pad = 5 };
    tr_imesh_pairs pairs;
    for ( int f = 0; f < NEAR_FRAMES; ++f )
        gaps[f] = f < 20 ? 0.5 : f < 25 ? 0.15 : f < 30 ? 0.05 : f < 40 ? 0.15 : 0.5;
    pairs_with( &pairs, gaps, &def ); // close at 25, leaves after 39; padded by five
    assert_int_equal( pairs.count, 1 );
    assert_int_equal( pairs.items[0].a, 0 );
    assert_int_equal( pairs.items[0].b, 1 );
    assert_int_equal( pairs.items[0].first, 20 );
    assert_int_equal( pairs.items[0].last, 44 );
    tr_imesh_pairs_free( &pairs );
    for ( int f = 0; f < NEAR_FRAMES; ++f )
        gaps[f] = f < 3 ? 0 : 0.5;
    pairs_with( &pairs, gaps, &def ); // three frames are too few
    assert_int_equal( pairs.count, 0 );
    tr_imesh_pairs_free( &pairs );
    for ( int f = 0; f < NEAR_FRAMES; ++f )
        gaps[f] = ( f >= 2 && f < 6 ) || ( f >= 9 && f < 12 ) || ( f >= 90 && f < 98 ) ? 0 : 0.5;
    pairs_with( &pairs, gaps, &def ); // a gap of three frames is closed; padding ends at the clip's ends
    assert_int_equal( pairs.count, 2 );
    assert_int_equal( pairs.items[0].first, 0 );
    assert_int_equal( pairs.items[0].last, 16 );
    assert_int_equal( pairs.items[1].first, 85 );
    assert_int_equal( pairs.items[1].last, 99 );
    tr_imesh_pairs_free( &pairs );
}

static void windows_join_what_overlaps( void **state )
{
    (void)state;
    tr_imesh_near members[6] = { [5] = { .still = true } };
    tr_imesh_pair items[] = { { 0, 1, 0, 10 }, { 2, 5, 2, 8 },   { 1, 2, 5, 20 },
                              { 3, 4, 8, 12 }, { 4, 5, 10, 30 }, { 0, 1, 25, 40 } };
    tr_imesh_pairs pairs = { .items = items, .count = 6 };
    tr_imesh_windows windows;
    tr_error error;
    check_ok( tr_imesh_windows_find( &windows, &pairs, members, 6, 0, &error ), &error );
    assert_int_equal( windows.count, 3 );
    static const int expected[][5] = { { 0, 1, 2, 5 }, { 3, 4, 5 }, { 0, 1 } };
    static const int counts[] = { 4, 3, 2 }, first[] = { 0, 8, 25 }, last[] = { 20, 30, 40 };
    for ( int i = 0; i < 3; ++i ) {
        assert_int_equal( windows.items[i].member_count, counts[i] );
        assert_memory_equal( windows.items[i].members, expected[i], (size_t)counts[i] * sizeof( int ) );
        assert_int_equal( windows.items[i].first, first[i] );
        assert_int_equal( windows.items[i].last, last[i] );
    }
    tr_imesh_windows_free( &windows );
    // With two at most, 1 and 2 have a window of their own beside that of 0 and 1.
    check_ok( tr_imesh_windows_find( &windows, &pairs, members, 6, 2, &error ), &error );
    assert_int_equal( windows.count, 4 );
    assert_int_equal( windows.items[0].member_count, 2 );
    assert_memory_equal( windows.items[1].members, ( ( int[] ){ 1, 2, 5 } ), 3 * sizeof( int ) );
    tr_imesh_windows_free( &windows );
}

// The quick search finds what looking at every capsule of every pair at every frame finds.
static void quick_search_misses_nobody( void **state )
{
    (void)state;
    player players[5];
    tr_imesh_near members[6];
    tr_error error;
    rigid box = { q_axis_angle( v3_y, 0.5 ), v3( 1.2, 0.5, 0 ) };
    for ( int i = 0; i < 5; ++i ) {
        rigid at = { q_axis_angle( v3_y, i ), v3( 0.55 * i, 0, 0.3 * ( i % 2 ) ) };
        player_start( &players[i], at, i, 1, 1, FRAMES );
        members[i] = ( tr_imesh_near ){ .world = &players[i].source_world, .body = &players[i].source_body };
    }
    members[5] =
        ( tr_imesh_near ){ .track = &box, .track_count = 1, .size = v3( 0.3, 1, 0.3 ), .still = true };
    tr_imesh_near_def def = { .enter = 0.02, .leave = 0.02, .min_frames = 1, .pad = 0 };
    tr_imesh_pairs pairs;
    check_ok( tr_imesh_pairs_find( &pairs, members, 6, FRAMES, &def, &error ), &error );
    int found = 0, expected = 0;
    for ( int i = 0; i < pairs.count; ++i )
        found += pairs.items[i].last - pairs.items[i].first + 1;
    for ( int f = 0; f < FRAMES; ++f )
        for ( int a = 0; a < 5; ++a )
            for ( int b = a + 1; b < 6; ++b ) {
                bool near = false;
                tr_pose p = tr_world_pose( &players[a].source_world, f );
                for ( int i = 0; i < players[a].source_body.capsule_count; ++i ) {
                    const tr_capsule *c = &players[a].source_body.capsules[i];
                    rigid bone = { p.rotations[c->parent], p.positions[c->parent] };
                    vec3 u = rigid_apply( bone, c->a ), v = rigid_apply( bone, c->b );
                    if ( b == 5 )
                        near =
                            near || tr_capsule_box_distance( u, v, c->radius, box, members[5].size ) <= 0.02;
                    for ( int k = 0; b < 5 && k < players[b].source_body.capsule_count; ++k ) {
                        const tr_capsule *o = &players[b].source_body.capsules[k];
                        tr_pose q = tr_world_pose( &players[b].source_world, f );
                        rigid other = { q.rotations[o->parent], q.positions[o->parent] };
                        near = near || tr_capsule_distance( u, v, c->radius, rigid_apply( other, o->a ),
                                                            rigid_apply( other, o->b ), o->radius ) <= 0.02;
                    }
                }
                expected += near;
            }
    assert_true( expected > 0 && expected < FRAMES * 15 );
    assert_int_equal( found, expected );
    tr_imesh_pairs_free( &pairs );
    for ( int i = 0; i < 5; ++i )
        player_end( &players[i] );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( weights_by_hand ),
        TEST( same_sizes_stay_where_they_are ),
        TEST( growth_of_all_is_similarity ),
        TEST( bones_have_their_length ),
        TEST( loose_points_solve_like_sparse_qr ),
        TEST( threads_make_no_difference ),
        TEST( hard_rows_are_met ),
        TEST( points_turn_with_their_bodies ),
        TEST( partners_follow_a_hand ),
        TEST( props_stay_rigid_and_near ),
        TEST( environment_moves_as_told ),
        TEST( volumes_are_pushed_apart_on_their_side ),
        TEST( extremes_are_survived ),
        TEST( empty_casts_are_fine ),
        TEST( flat_bodies_are_fine ),
        TEST( memory_may_run_out ),
        TEST( poses_come_back ),
        TEST( closeness_has_hysteresis ),
        TEST( windows_join_what_overlaps ),
        TEST( quick_search_misses_nobody ),
    };
    return cmocka_run_group_tests_name( "imesh", tests, NULL, NULL );
}
