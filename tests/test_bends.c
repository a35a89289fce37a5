// Cages that are pulled far: rows of people that become arcs, and what must not decide the outcome.
#include "stage_fixture.h"

#include "cage/cage.h"
#include "scenes/scenes.h"

static double random_part( uint64_t *seed ) // -1 … 1
{
    return (double)( random_bits( seed ) >> 11 ) * 0x1p-52 - 1;
}

static vec3 random_way( uint64_t *seed,
                        double size ) // one by one: compilers differ in the order of arguments
{
    double z = size * random_part( seed ), y = size * random_part( seed ), x = size * random_part( seed );
    return v3( x, y, z );
}

// ---------------------------------------------------------------------------------------------------- a row

#define ROW    9  // figures, a metre apart
#define COLUMN 3  // points of each, one above the other
#define SHOTS  21 // frames

// Nine figures in a row along x that sway a little.
static void make_row( vec3 *points )
{
    for ( int f = 0; f < SHOTS; ++f )
        for ( int p = 0; p < ROW * COLUMN; ++p )
            points[f * ROW * COLUMN + p] =
                v3( p / COLUMN - ( ROW - 1 ) / 2, 0.8 * ( p % COLUMN ), 0.05 * sin( 0.3 * f + p ) );
}

static tr_cage build_row( const vec3 *points )
{
    tr_cage cage;
    tr_error error;
    tr_cage_points given = { points, ROW * COLUMN, 0, SHOTS, FPS };
    tr_cage_def def = tr_default_cage_def();
    def.detail = 4;
    def.section_count = 2;
    def.start = def.end = TR_CAGE_HELD;
    def.carried = def.upright = def.steady = true;
    check_ok( tr_cage_build( &cage, &given, 0, SHOTS - 1, &def, &error ), &error );
    return cage;
}

// The ends are pulled forward by `far`, the middle stays, at the first frame as at the last.
static tr_cage bend_row( const vec3 *points, double far )
{
    tr_cage cage = build_row( points );
    tr_error error;
    tr_cage_handle handles[12];
    for ( int h = 0; h < 12; ++h ) {
        int who = h % 3 * ( ROW - 1 ) / 2, height = h / 3 % 2;
        handles[h] = ( tr_cage_handle ){ .kind = TR_HANDLE_POINT,
                                         .frame = h < 6 ? 0 : SHOTS - 1,
                                         .point = who * COLUMN + height,
                                         .offset = v3( 0, 0, h % 3 == 1 ? 0 : far ) };
    }
    check_ok( tr_cage_grab( &cage, handles, 12, &error ), &error );
    tr_cage_solve_def def = tr_default_cage_solve_def();
    tr_cage_result result = tr_cage_solve( &cage, handles, &def, NULL );
    check_near( result.error, 0, 1e-5 );
    assert_true( result.iterations < 100 );
    return cage;
}

// Around every figure the ground is turned, but stretched or sheared by little, and no figure leaves it.
static void a_row_bends_into_an_arc( void **state )
{
    (void)state;
    vec3 points[SHOTS * ROW * COLUMN];
    make_row( points );
    for ( double far = -2; far <= 2; far += 1 ) {
        tr_cage cage = bend_row( points, far );
        for ( int i = 0; i < ROW; ++i )
            for ( int f = 0; f < SHOTS; f += 10 ) {
                vec3 at = points[( f * ROW + i ) * COLUMN + 1], in[4], out[4];
                for ( int k = 0; k < 4; ++k )
                    in[k] = v3_add( at, k < 2 ? v3( k == 0 ? 0.2 : -0.2, 0, 0 )
                                              : v3( 0, 0, k == 2 ? 0.2 : -0.2 ) );
                tr_cage_move_points( &cage, f, in, 4, out );
                vec3 x = v3_scale( 2.5, v3_sub( out[0], out[1] ) ),
                     z = v3_scale( 2.5, v3_sub( out[2], out[3] ) );
                check_near( v3_length( x ), 1.1, 0.2 ); // the arc is longer than the row
                check_near( v3_length( z ), 1, 0.3 );
                check_near( v3_dot( v3_unit( x ), v3_unit( z ) ), 0, 0.45 );
                for ( int k = 0; k < 4; ++k )
                    check_near( out[k].y, in[k].y, 1e-5 );
            }
        tr_cage_free( &cage );
    }
}

// ------------------------------------------------------------------------------------------------- sections

#define WALK   121
#define JOINTS 6

static void make_walk( vec3 *points )
{
    for ( int f = 0; f < WALK; ++f )
        for ( int p = 0; p < JOINTS; ++p )
            points[f * JOINTS + p] =
                v3( 0.045 * f, 0.3 * p, 0.2 * sin( 2.0 * p ) + 0.05 * sin( 0.4 * f + p ) );
}

// A point is dragged at frame 45. Sections every `step` frames, and every `dense` ones from frame 60 to 90.
static void deform_walk( const vec3 *points, int step, int dense, vec3 *out )
{
    tr_cage cage;
    tr_error error;
    int frames[WALK], count = 0;
    for ( int f = 0; f < WALK; ++f )
        if ( f % ( f >= 60 && f <= 90 ? dense : step ) == 0 )
            frames[count++] = f;
    tr_cage_points given = { points, JOINTS, 0, WALK, FPS };
    tr_cage_def def = tr_default_cage_def();
    def.frames = frames;
    def.frame_count = count;
    def.carried = true;
    check_ok( tr_cage_build( &cage, &given, 0, WALK - 1, &def, &error ), &error );
    tr_cage_handle handle = { .kind = TR_HANDLE_POINT, .frame = 45, .point = 3, .offset = v3( 0, 0.2, 0.5 ) };
    check_ok( tr_cage_grab( &cage, &handle, 1, &error ), &error );
    tr_cage_solve_def solve_def = tr_default_cage_solve_def();
    tr_cage_solve( &cage, &handle, &solve_def, NULL );
    tr_cage_move( &cage, 0, WALK - 1, points, out );
    tr_cage_free( &cage );
}

static double farthest( const vec3 *a, const vec3 *b )
{
    double most = 0;
    for ( int i = 0; i < WALK * JOINTS; ++i )
        most = fmax( most, v3_distance( a[i], b[i] ) );
    return most;
}

// A pull of half a metre: sections elsewhere hardly matter, and those near the handle only for how pointed
// the bend is there.
static void more_sections_change_little( void **state )
{
    (void)state;
    vec3 points[WALK * JOINTS], few[WALK * JOINTS], many[WALK * JOINTS], more[WALK * JOINTS];
    make_walk( points );
    deform_walk( points, 15, 15, few );
    deform_walk( points, 15, 3, many );
    check_bound( farthest( few, many ), FAR_SECTIONS_M );
    deform_walk( points, 5, 5, many );
    check_bound( farthest( few, many ), NEAR_SECTIONS_M );
    deform_walk( points, 3, 3, more );
    check_bound( farthest( many, more ), MORE_SECTIONS_M );
}

// ---------------------------------------------------------------------------------------------- many points

#define MANY 14 // points of a body

static void make_body_of_points( vec3 *points )
{
    for ( int f = 0; f < WALK; ++f )
        for ( int p = 0; p < MANY; ++p )
            points[f * MANY + p] = v3( 0.02 * f + 0.3 * sin( 2.4 * p ), 0.9 + 0.8 * cos( 1.7 * p + 0.4 ),
                                       0.2 * sin( 0.9 * p * p ) + 0.03 * sin( 0.2 * f + p ) );
}

// Pushes every vertex about a little; where that takes points at some frames is asked for in a second cage,
// on `count` of them. Returns how far the worst is off.
static double ask_for_many( uint64_t seed, int count, double push )
{
    static vec3 points[WALK * MANY];
    tr_cage cage;
    tr_error error;
    make_body_of_points( points );
    tr_cage_points given = { points, MANY, 0, WALK, FPS };
    tr_cage_def def = tr_default_cage_def();
    def.section_count = 6;
    check_ok( tr_cage_build( &cage, &given, 0, WALK - 1, &def, &error ), &error );
    tr_cage_handle handles[64];
    vec3 moves[6 * 26];
    for ( int v = 0; v < 6 * 26; ++v )
        moves[v] = random_way( &seed, push );
    for ( int h = 0; h < count; ++h ) {
        int key = 1 + h % 4, point = h / 4;
        size_t at = (size_t)( cage.sections[key] * MANY + point ) * 26;
        handles[h] =
            ( tr_cage_handle ){ .kind = TR_HANDLE_POINT, .frame = cage.sections[key], .point = point };
        for ( int v = 0; v < 26; ++v )
            handles[h].offset =
                v3_mad( handles[h].offset, cage.weights[at + (size_t)v], moves[key * 26 + v] );
    }
    check_ok( tr_cage_grab( &cage, handles, count, &error ), &error );
    tr_cage_solve_def solve_def = tr_default_cage_solve_def();
    tr_cage_result result = tr_cage_solve( &cage, handles, &solve_def, NULL );
    tr_cage_free( &cage );
    return result.error;
}

// All figures of the row at once, at two heights and at both ends of the window: 36 points of a cage whose
// ends are free.
static double ask_for_a_row( double far )
{
    vec3 points[SHOTS * ROW * COLUMN];
    make_row( points );
    tr_cage cage = build_row( points );
    tr_error error;
    tr_cage_handle handles[4 * ROW];
    for ( int h = 0; h < 4 * ROW; ++h ) {
        double x = h % ROW - ( ROW - 1 ) / 2;
        handles[h] = ( tr_cage_handle ){ .kind = TR_HANDLE_POINT,
                                         .frame = h < 2 * ROW ? 0 : SHOTS - 1,
                                         .point = h % ROW * COLUMN + h / ROW % 2,
                                         .offset = v3( 0, 0, far * x * x / 16 ) };
    }
    check_ok( tr_cage_grab( &cage, handles, 4 * ROW, &error ), &error );
    tr_cage_solve_def def = tr_default_cage_solve_def();
    tr_cage_result result = tr_cage_solve( &cage, handles, &def, NULL );
    assert_true( result.iterations < 100 );
    tr_cage_free( &cage );
    return result.error;
}

static void many_points_arrive_together( void **state )
{
    (void)state;
    for ( uint64_t seed = 1; seed <= 3; ++seed )
        for ( int count = 4; count <= 56; count += 13 )
            check_near( ask_for_many( seed, count, 0.3 ), 0, 1e-5 );
    check_near( ask_for_a_row( 1 ), 0, 1e-5 );
    check_near( ask_for_a_row( 2 ), 0, 1e-5 );
}

// Two demands for the same point at different places: the first is met, the second is reported with its miss;
// others are met.
static void contradictions_are_told( void **state )
{
    (void)state;
    vec3 points[SHOTS * ROW * COLUMN];
    make_row( points );
    tr_cage cage = build_row( points );
    tr_error error;
    tr_cage_handle handles[] = {
        { .kind = TR_HANDLE_POINT, .frame = 0, .point = 4, .offset = { 0, 0.3, 0 } },
        { .kind = TR_HANDLE_POINT, .frame = 0, .point = 4, .offset = { 0, 0.3, 0.25 } },
        { .kind = TR_HANDLE_POINT, .frame = 0, .point = 4, .offset = { 0, 0.3, 0 } },
        { .kind = TR_HANDLE_POINT, .frame = 0, .point = 20, .offset = { 0.1, 0, 0 } },
    };
    double errors[4];
    check_ok( tr_cage_grab( &cage, handles, 4, &error ), &error );
    tr_cage_solve_def def = tr_default_cage_solve_def();
    tr_cage_result result = tr_cage_solve( &cage, handles, &def, errors );
    for ( int h = 0; h < 4; ++h )
        check_near( errors[h], h == 1 ? 0.25 : 0, 1e-5 );
    assert_int_equal( result.worst, 1 );
    tr_cage_free( &cage );
}

// -------------------------------------------------------------------------------------------------- a relay

static void check_most( const tr_measures *measures, const char *key, double far, bound_name row )
{
    const tr_metric_field *field = &tr_measures_find( measures, key )->fields[0];
    if ( field->out_null || field->out > bound_row_of( row )->limit )
        print_error( "bent by %g m: %s\\n", far, key );
    assert_false( field->out_null );
    check_bound_of( field->out, row );
}

// Seven people who hand boxes on; the ends of their line are dragged, and come closer as those of an arc do.
static void bend_relay( fixture *x, double far )
{
    char ops[1000];
    double near = 0.33 * far * far;
    snprintf( ops, sizeof ops,
              "layer_add id=bend kind=cage members=p*,box*\nsection_add id=s layer=bend frame=0\n"
              "handle_add id=start layer=bend frame=0 pinned=false\n"
              "handle_add id=stop layer=bend frame=270 pinned=false\n"
              "handle_add id=p01 layer=bend frame=0 point=p01.Hips move=%g,0,%g\n"
              "handle_add id=p04 layer=bend frame=0 point=p04.Hips\n"
              "handle_add id=p07 layer=bend frame=0 point=p07.Hips move=%g,0,%g\n"
              "handle_copy id=p01 to=q01 frame=270\nhandle_copy id=p04 to=q04 frame=270\n"
              "handle_copy id=p07 to=q07 frame=270",
              near, far, -near, far );
    *x = ( fixture ){ .scene = tr_default_scene() };
    check_ok( tr_scene_build( tr_scene_entry_find( "box_relay" ), 7, &x->scene, &x->library, &x->error ),
              &x->error );
    edit( x, ops );
    build( x );
}

static void a_relay_is_bent_far( void **state )
{
    (void)state;
    static const double bends[] = { -2, 2 };
    for ( int i = 0; i < 2; ++i ) {
        fixture x;
        tr_measures measures;
        bend_relay( &x, bends[i] );
        tr_result result = solve( &x, "posegraph" );
        check_ok( tr_measure( &measures, &x.stage, &result, &x.error ), &x.error );
        check_most( &measures, "edit_handle_mm", bends[i], BOUND_HANDLE_MM );
        check_most( &measures, "contact_error_mm", bends[i], BOUND_CONTACT_MM );
        check_most( &measures, "relative_error_mm", bends[i], BOUND_RELATIVE_MM );
        check_most( &measures, "ground_penetration_mm", bends[i], BOUND_GROUND_MM );
        check_most( &measures, "foot_skate_mm_s", bends[i], BOUND_SKATE_MM_S );
        check_most( &measures, "rotation_spike_deg", bends[i], BOUND_BENT_RELAY_ROTATION_DEG );
        check_most( &measures, "acceleration_spike", bends[i], BOUND_BENT_RELAY_ACCELERATION );
        check_most( &measures, "jerk_ratio", bends[i], BOUND_BENT_RELAY_JERK );
        for ( int r = 0; r < x.stage.rule_count; ++r )
            assert_false( result.reports[r].gave_way );
        tr_measures_free( &measures );
        tr_result_free( &result );
        end( &x );
    }
}

// ---------------------------------------------------------------------------------------------- every scene

typedef struct drag_scene {
    const char *scene;
    int cast;
    const char *who, *points[4]; // the last is pinned at another frame
} drag_scene;

static const drag_scene drag_scenes[] = {
    { "box_relay", 3, "p02", { "LeftHand", "Head", "RightHand", "Hips" } },
    { "corridor", 4, "p03", { "LeftHand", "Head", "RightFoot", "Hips" } },
    { "squat_chain", 3, "p02", { "LeftHand", "Head", "Spine", "Hips" } },
    { "spider", 1, "spider01", { "L2Tip_End", "R3Tip_End", "L1Tip_End", "Body" } },
    { "wolf", 1, "wolf01", { "Head", "LeftFrontPaw", "Jaw", "Hips" } },
};

#define FLIP ( 45 * TR_DEGREE ) // from frame to frame, beyond what the unedited motion does

static void check_flips( const tr_result *plain, const tr_result *edited, int actor, int frame,
                         const char *scene, int n )
{
    const tr_clip *was = &plain->motions[actor].clip, *is = &edited->motions[actor].clip;
    for ( int j = 0; frame > 0 && j < is->joint_count; ++j ) {
        double turn = q_angle( tr_clip_frame( is, frame - 1 )[j], tr_clip_frame( is, frame )[j] ) -
                      q_angle( tr_clip_frame( was, frame - 1 )[j], tr_clip_frame( was, frame )[j] );
        if ( turn > FLIP )
            fail_msg( "%s: drag %d flips joint %d of %d at frame %d by %g degrees", scene, n, j, actor, frame,
                      turn / TR_DEGREE );
    }
}

static void check_bodies( const tr_result *plain, const tr_result *edited, const char *scene, int n )
{
    for ( int i = 0; i < edited->actor_count; ++i )
        for ( int f = 0; f < edited->frame_count; ++f ) {
            tr_pose was = tr_world_pose( &plain->worlds[i], f ), is = tr_world_pose( &edited->worlds[i], f );
            for ( int j = 0; j < edited->worlds[i].joint_count; ++j )
                if ( !v3_finite( is.positions[j] ) || !q_finite( is.rotations[j] ) )
                    fail_msg( "%s: drag %d leaves no number at frame %d", scene, n, f );
            check_flips( plain, edited, i, f, scene, n );
            vec3 up = q_rotate( q_mul( is.rotations[0], q_conj( was.rotations[0] ) ), v3_y );
            if ( up.y < 0.7 )
                fail_msg( "%s: drag %d turns %d over at frame %d", scene, n, i, f );
        }
}

// Twenty drags of one document, each going on from the last: a hand, head or foot, the hips pinned
// before or after it. Feet that stand, hands that hold and straight legs may keep what is dragged from its
// place; they may not break anything.
static void drag_in_scene( const drag_scene *d )
{
    fixture x = { .scene = tr_default_scene() };
    uint64_t seed = 7;
    check_ok( tr_scene_build( tr_scene_entry_find( d->scene ), d->cast, &x.scene, &x.library, &x.error ),
              &x.error );
    x.scene.last = x.scene.first + 45;
    char ops[600];
    snprintf(
        ops, sizeof ops,
        "layer_add id=e kind=cage members=%s range=5,40\n"
        "handle_add id=drag layer=e frame=20 point=%s.%s\nhandle_add id=pin layer=e frame=30 point=%s.%s",
        d->who, d->who, d->points[3], d->who, d->points[3] );
    build( &x );
    tr_result plain = solve( &x, "posegraph" );
    edit( &x, ops );
    for ( int n = 0; n < 20; ++n ) {
        int frame = 14 + (int)( random_bits( &seed ) % 18 );
        vec3 way = random_way( &seed, 0.12 );
        snprintf( ops, sizeof ops,
                  "handle_set id=drag frame=%d point=%s.%s move=%.3f,%.3f,%.3f\nhandle_set id=pin frame=%d",
                  frame, d->who, d->points[random_bits( &seed ) % 3], way.x, way.y, way.z,
                  frame < 23 ? frame + 8 : frame - 8 );
        edit( &x, ops );
        rebuild( &x );
        tr_result edited = solve( &x, "posegraph" );
        check_bodies( &plain, &edited, d->scene, n );
        check_near( edited.leak_mm, 0, 0 );
        if ( edited.handles[1].error_mm > 1 )
            fail_msg( "%s: drag %d loses the pin by %g mm", d->scene, n, edited.handles[1].error_mm );
        tr_result_free( &edited );
    }
    tr_result_free( &plain );
    end( &x );
}

static void a_hundred_drags_on_five_scenes( void **state )
{
    (void)state;
    for ( size_t i = 0; i < sizeof drag_scenes / sizeof *drag_scenes; ++i )
        drag_in_scene( &drag_scenes[i] );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( a_row_bends_into_an_arc ),     TEST( more_sections_change_little ),
        TEST( many_points_arrive_together ), TEST( contradictions_are_told ),
        TEST( a_relay_is_bent_far ),         TEST( a_hundred_drags_on_five_scenes ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
