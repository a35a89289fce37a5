// Cages: their sections around any points, what reaches the points and when, and bad input.
#include "cage_fixture.h"

static void the_undeformed_cage_changes_nothing( void **state )
{
    (void)state;
    bundle b = make_bundle( 120, 14, straight );
    tr_cage_def def = tr_default_cage_def();
    tr_cage cage = make_cage( &b, 10, 100, &def );
    vec3 *out = move_all( &cage, &b );
    assert_memory_equal( out, b.points, 120 * 14 * sizeof( vec3 ) );
    tr_cage_handle pin = { .kind = TR_HANDLE_POINT, .frame = 50, .point = 3 };
    tr_cage_result result = drag( &cage, &pin, 1 );
    check_near( result.error, 0, 1e-12 );
    tr_cage_move( &cage, 0, 119, b.points, out );
    assert_memory_equal( out, b.points, 120 * 14 * sizeof( vec3 ) );
    tr_free( out );
    tr_cage_free( &cage );
    tr_free( b.points );
}

static void a_dragged_point_arrives( void **state )
{
    (void)state;
    bundle b = make_bundle( 120, 14, straight );
    tr_cage_def def = tr_default_cage_def();
    tr_cage cage = make_cage( &b, 10, 100, &def );
    for ( int frame = 40; frame < 70; frame += 7 ) {
        tr_cage_handle handle = {
            .kind = TR_HANDLE_POINT, .frame = frame, .point = 5, .offset = v3( 0.1, 0.4, -0.2 ) };
        tr_cage_result result = drag( &cage, &handle, 1 );
        vec3 *out = move_all( &cage, &b );
        vec3 wanted = v3_add( b.points[frame * 14 + 5], handle.offset );
        check_v3( out[frame * 14 + 5], wanted, 1e-4 );
        check_near( result.error, 0, 1e-4 );
        tr_free( out );
    }
    tr_cage_free( &cage );
    tr_free( b.points );
}

// Frames of a tall body that lie ten light-seconds from each other: the cage is still solved.
static vec3 leap( double t )
{
    return v3( 3e9 * floor( 30 * t + 0.5 ), 1, 0 );
}

static void what_leaps_far_can_be_dragged( void **state )
{
    (void)state;
    bundle b = make_bundle( 6, 14, leap );
    for ( int i = 0; i < 6 * 14; ++i )
        b.points[i].y *= 1e3;
    tr_cage_def def = tr_default_cage_def();
    tr_cage cage = make_cage( &b, 0, 5, &def );
    tr_cage_handle handle = { .kind = TR_HANDLE_POINT, .frame = 2, .point = 5, .offset = v3( 0.1, 0.4, 0 ) };
    tr_cage_result result = drag( &cage, &handle, 1 );
    check_near( result.error, 0, 1e-4 );
    tr_cage_free( &cage );
    tr_free( b.points );
}

static void a_rigid_motion_of_the_cage_moves_points_rigidly( void **state )
{
    (void)state;
    bundle b = make_bundle( 180, 9, figure_eight );
    tr_cage_def def = tr_default_cage_def();
    def.start = def.end = TR_CAGE_HELD;
    tr_cage cage = make_cage( &b, 20, 150, &def );
    rigid motion = { q_axis_angle( v3( 1, 2, -1 ), 1.9 ), { 0.5, -2, 7 } };
    tr_cage_handle handles[TR_CAGE_MAX_SECTIONS];
    for ( int k = 0; k < cage.section_count; ++k ) {
        vec3 centre = cage.places[cage.sections[k]].position;
        handles[k] = ( tr_cage_handle ){ .kind = TR_HANDLE_SECTION,
                                         .section = k,
                                         .rotation = motion.rotation,
                                         .offset = v3_sub( rigid_apply( motion, centre ), centre ) };
    }
    tr_cage_result result = drag( &cage, handles, cage.section_count );
    check_near( result.error, 0, 1e-12 );
    vec3 *out = move_all( &cage, &b );
    for ( int i = 0; i < 180 * 9; ++i )
        check_v3( out[i], rigid_apply( motion, b.points[i] ), 1e-9 );
    tr_free( out );
    tr_cage_free( &cage );
    tr_free( b.points );
}

static void a_crossing_is_edited_without_the_other( void **state )
{
    (void)state;
    bundle b = make_bundle( 151, 9, figure_eight );
    tr_cage_def def = tr_default_cage_def();
    tr_cage cage = make_cage( &b, 40, 80, &def ); // the crossing at 2 s; the other one is at 4 s
    tr_cage_handle handle = { .kind = TR_HANDLE_POINT, .frame = 60, .point = 0, .offset = v3( 0, 0.5, 0 ) };
    drag( &cage, &handle, 1 );
    vec3 *out = move_all( &cage, &b );
    check_v3( b.points[60 * 9], b.points[120 * 9], 1 ); // they do cross
    for ( int f = 0; f <= 150; ++f )
        for ( int p = 0; p < 9; ++p )
            if ( f <= 40 || f >= 80 )
                assert_memory_equal( &out[f * 9 + p], &b.points[f * 9 + p], sizeof( vec3 ) );
    check_near( out[60 * 9].y - b.points[60 * 9].y, 0.5, 1e-3 );
    tr_free( out );
    tr_cage_free( &cage );
    tr_free( b.points );
}

static void a_standing_bundle_can_be_edited( void **state )
{
    (void)state;
    bundle b = make_bundle( 91, 1, stand );
    tr_cage_def def = tr_default_cage_def();
    tr_cage cage = make_cage( &b, 0, 90, &def );
    assert_int_equal( cage.section_count, 3 );
    assert_int_equal( cage.sections[1], 45 );
    tr_cage_handle handle = { .kind = TR_HANDLE_POINT, .frame = 45, .offset = v3( 0, 0.3, 0 ) };
    tr_cage_result result = drag( &cage, &handle, 1 );
    check_near( result.error, 0, 1e-5 );
    vec3 *out = move_all( &cage, &b );
    check_v3( out[45], v3( 3, 1.3, -2 ), 1e-5 );
    check_v3( out[0], stand( 0 ), 0 );
    tr_free( out );
    tr_cage_free( &cage );
    tr_free( b.points );
}

// Keys that are turned and shifted each for itself, but not bent, leave every frame between them unbent.
static void turned_sections_do_not_shear_what_is_between( void **state )
{
    (void)state;
    bundle b = make_bundle( 121, 7, straight );
    tr_cage_def def = tr_default_cage_def();
    def.start = TR_CAGE_EASED;
    def.end = TR_CAGE_HELD;
    tr_cage cage = make_cage( &b, 20, 100, &def );
    tr_cage_handle handles[TR_CAGE_MAX_SECTIONS];
    for ( int k = 0; k < cage.section_count; ++k )
        handles[k] =
            ( tr_cage_handle ){ .kind = TR_HANDLE_SECTION,
                                .section = k,
                                .rotation = q_axis_angle( v3( sin( k ), 1, cos( 2.0 * k ) ), 0.3 + 0.7 * k ),
                                .offset = v3( 0.1 * k, sin( k ), 0 ) };
    drag( &cage, handles, cage.section_count );
    vec3 *out = move_all( &cage, &b );
    for ( int f = 0; f < 121; ++f )
        for ( int p = 1; p < 7; ++p ) {
            const vec3 *in = b.points + f * 7, *to = out + f * 7;
            check_near( v3_distance( to[p], to[0] ), v3_distance( in[p], in[0] ), 1e-9 );
            rigid motion = tr_cage_motion( &cage, f );
            check_v3( to[p], rigid_apply( motion, in[p] ), 1e-9 );
        }
    check_v3( out[0], b.points[0], 0 ); // the ease is 12 frames
    check_v3( out[7 * 7], b.points[7 * 7], 0 );
    assert_true( v3_distance( out[8 * 7], b.points[8 * 7] ) > 0 );
    tr_free( out );
    tr_cage_free( &cage );
    tr_free( b.points );
}

// Rests of all sizes at the first and the last frames, by the third power of the distance to the end.
static void ends_are_smooth( void **state )
{
    (void)state;
    bundle b = make_bundle( 201, 5, straight );
    for ( int eased = 0; eased < 2; ++eased ) {
        tr_cage_def def = tr_default_cage_def();
        def.start = def.end = eased ? TR_CAGE_EASED : TR_CAGE_PINNED;
        def.ease_in = def.ease_out = 40;
        tr_cage cage = make_cage( &b, 50, 150, &def );
        tr_cage_handle handle = {
            .kind = TR_HANDLE_POINT, .frame = 100, .point = 1, .offset = v3( 0.2, 0.5, 0.3 ) };
        drag( &cage, &handle, 1 );
        vec3 *out = move_all( &cage, &b );
        double largest = 0, bend = 0, jump = 0;
        vec3 last[3] = { v3_zero, v3_zero, v3_zero }; // displacement, velocity, acceleration per frame
        for ( int f = 0; f < 201; ++f ) {
            vec3 d = v3_sub( out[f * 5 + 1], b.points[f * 5 + 1] ), v = v3_sub( d, last[0] ),
                 a = v3_sub( v, last[1] );
            largest = fmax( largest, v3_length( d ) );
            bend = fmax( bend, v3_length( a ) );
            jump = fmax( jump, v3_distance( a, last[2] ) );
            last[0] = d, last[1] = v, last[2] = a;
            bool outside = eased ? f <= 9 || f >= 191 : f <= 50 || f >= 150;
            if ( outside )
                check_near( v3_length( d ), 0, 0 );
        }
        assert_true( largest > 0.6 && largest < 0.7 );
        // A minimum-jerk step over n frames accelerates by 5.8/n² and its acceleration changes by 60/n³ a
        // frame at most; the shortest stretch here is the one between two keys.
        double n = cage.sections[1] - cage.sections[0];
        assert_true( bend < 0.7 * 12 / ( n * n ) );
        assert_true( jump < 0.7 * 120 / ( n * n * n ) );
        tr_free( out );
        tr_cage_free( &cage );
    }
    tr_free( b.points );
}

// An eased end is on the way from what is held to where the ease rests: it is not carried along as a whole,
// to fall back within the ease.
static void an_ease_is_part_of_the_way( void **state )
{
    (void)state;
    bundle b = make_bundle( 121, 5, straight );
    tr_cage_def def = tr_default_cage_def();
    def.start = def.end = TR_CAGE_EASED;
    def.ease_in = def.ease_out = 10;
    tr_cage cage = make_cage( &b, 20, 100, &def );
    tr_cage_handle handle = { .kind = TR_HANDLE_POINT, .frame = 60, .point = 1, .offset = v3( 0, 0, 1 ) };
    drag( &cage, &handle, 1 );
    vec3 *out = move_all( &cage, &b );
    double most = 0;
    for ( int f = 1; f < 120; ++f ) {
        double z[3];
        for ( int i = 0; i < 3; ++i )
            z[i] = out[( f - 1 + i ) * 5 + 1].z - b.points[( f - 1 + i ) * 5 + 1].z;
        most = fmax( most, fabs( z[0] - 2 * z[1] + z[2] ) );
    }
    check_near( out[20 * 5 + 1].z - b.points[20 * 5 + 1].z, 0.2, 0.1 ); // 11 of 51 frames from rest
    assert_true( most < 4 * 5.8 / ( 51.0 * 51.0 ) ); // four times a minimum-jerk step from rest to there
    tr_free( out );
    tr_cage_free( &cage );
    tr_free( b.points );
}

// One key up, the others down: nothing overshoots, and nothing moves beyond the neighbours.
static void nothing_swings_past_a_key( void **state )
{
    (void)state;
    bundle b = make_bundle( 121, 4, straight );
    int frames[] = { 20, 40, 60, 80, 100 };
    tr_cage_def def = tr_default_cage_def();
    def.frames = frames;
    def.frame_count = 5;
    tr_cage cage = make_cage( &b, 0, 120, &def );
    assert_int_equal( cage.section_count, 7 );
    tr_cage_handle handles[7] = { 0 };
    for ( int k = 0; k < 7; ++k )
        handles[k] = ( tr_cage_handle ){ .kind = TR_HANDLE_SECTION,
                                         .section = k,
                                         .offset = v3( 0, k == 3 ? 1 : 0, 0.1 * ( k >= 2 ? k - 2 : 0 ) ) };
    handles[6].offset = handles[5].offset;
    drag( &cage, handles, 7 );
    vec3 *out = move_all( &cage, &b );
    double last = 0;
    for ( int f = 0; f < 121; ++f ) {
        vec3 d = v3_sub( out[f * 4], b.points[f * 4] );
        assert_true( d.y >= -1e-12 && d.y <= 1 + 1e-12 );
        assert_true( d.z >= last - 1e-12 );
        last = d.z;
        if ( f <= 40 )
            check_v3( out[f * 4], b.points[f * 4], 0 );
        if ( f == 60 )
            check_v3( d, v3( 0, 1, 0.1 ), 1e-12 );
        if ( f == 80 )
            check_v3( d, v3( 0, 0, 0.2 ), 1e-12 );
    }
    // Where displacements grow evenly they do so between the keys, too.
    check_near( out[90 * 4].z - b.points[90 * 4].z, 0.25, 0.04 );
    tr_free( out );
    tr_cage_free( &cage );
    tr_free( b.points );
}

static void bundles_of_every_shape( void **state )
{
    (void)state;
    enum { FRAMES = 60, KINDS = 6, COUNT = 5 };
    for ( int kind = 0; kind < KINDS; ++kind )
        for ( int detail = 1; detail <= 4; detail *= 2 ) {
            int count = kind == 0 ? 1 : kind == 1 ? 2 : COUNT;
            bundle b = make_bundle( FRAMES, count, kind == 4 ? stand : figure_eight );
            for ( int i = 0; i < FRAMES * count; ++i ) {
                vec3 centre = b.points[i / count * count], d = v3_sub( b.points[i], centre );
                double t = i / count * 0.3;
                if ( kind == 2 ) // on a line that tumbles
                    b.points[i] =
                        v3_mad( centre, 0.2 * ( i % count ), v3( sin( t ), cos( t ), sin( 2 * t ) ) );
                if ( kind == 3 ) // in a plane
                    b.points[i] = v3( b.points[i].x, 1, b.points[i].z );
                if ( kind == 5 ) // all in one place, which jumps
                    b.points[i] =
                        v3_add( v3_sub( b.points[i], d ), v3( i / count % 20 == 7 ? 30 : 0, 0, 0 ) );
            }
            tr_cage_def def = tr_default_cage_def();
            def.detail = detail;
            tr_cage cage = make_cage( &b, 5, 55, &def );
            vec3 vertices[TR_CAGE_MAX_VERTICES];
            for ( int i = 0; i < FRAMES * count; ++i ) { // bound points are where their weights say
                tr_cage_section( &cage, i / count, vertices );
                vec3 centre = cage.places[i / count].position, at = centre;
                for ( int v = 0; v < cage.vertex_count; ++v )
                    at = v3_mad( at, cage.weights[i * cage.vertex_count + v], v3_sub( vertices[v], centre ) );
                check_v3( at, b.points[i], 1e-5 );
            }
            for ( int f = 1; f < FRAMES; ++f ) // no flips
                assert_true( q_angle( cage.places[f].rotation, cage.places[f - 1].rotation ) < 0.7 );
            tr_cage_handle handle = {
                .kind = TR_HANDLE_POINT, .frame = 31, .point = count - 1, .offset = v3( 0, 0.2, 0.1 ) };
            check_near( drag( &cage, &handle, 1 ).error, 0, 1e-4 );
            tr_cage_free( &cage );
            tr_free( b.points );
        }
}

static void keys_are_spread_by_arc_length( void **state )
{
    (void)state;
    // Two metres in the first second, then standing for three.
    bundle b = make_bundle( 121, 1, stand );
    for ( int f = 0; f < 121; ++f )
        b.points[f].x += 2 * fmin( f / 30.0, 1 );
    tr_cage_points points = points_of( &b );
    tr_cage_def def = tr_default_cage_def();
    int frames[TR_CAGE_MAX_SECTIONS];
    int count = tr_cage_spread( &points, 0, 120, &def, frames );
    assert_int_equal( count, 5 ); // 2 m / 0.5 m + 1
    assert_int_equal( frames[0], 0 );
    assert_in_range( frames[1], 7, 8 ); // half a metre each
    assert_in_range( frames[2], 15, 16 );
    assert_in_range( frames[3], 22, 24 );
    assert_int_equal( frames[4], 120 );
    def.through = 70;
    assert_int_equal( tr_cage_spread( &points, 0, 120, &def, frames ), 5 );
    assert_int_equal( frames[3], 70 ); // nearly all of the way lies before
    assert_in_range( frames[1], 9, 12 );
    def.through = 12; // two fifths of the way
    assert_int_equal( tr_cage_spread( &points, 0, 120, &def, frames ), 5 );
    assert_int_equal( frames[2], 12 );
    assert_int_equal( frames[1], 6 );
    for ( def.through = 1; def.through < 120; ++def.through ) {
        int n = tr_cage_spread( &points, 0, 120, &def, frames ), met = 0;
        for ( int k = 0; k < n; ++k ) {
            met += frames[k] == def.through;
            assert_true( k == 0 || frames[k] > frames[k - 1] );
        }
        assert_int_equal( met, 1 );
    }
    def.through = 50;
    def.section_count = 200;
    assert_int_equal( tr_cage_spread( &points, 40, 60, &def, frames ), 21 ); // every frame, no more
    def.start = TR_CAGE_HELD;
    def.section_count = 1;
    def.through = -1;
    assert_int_equal( tr_cage_spread( &points, 40, 60, &def, frames ), 2 );
    tr_free( b.points );
}

// Bound when they are asked for, points have the weights they would have had from the beginning.
static void points_may_be_bound_late( void **state )
{
    (void)state;
    bundle b = make_bundle( 61, 12, figure_eight );
    tr_cage_def def = tr_default_cage_def();
    tr_cage whole = make_cage( &b, 5, 55, &def );
    def.late = true;
    tr_cage late = make_cage( &b, 5, 55, &def );
    size_t row = 12 * (size_t)whole.vertex_count;
    for ( int f = 0; f < 61; ++f ) {
        for ( int p = 0; p < 12; p += 4 )
            tr_cage_bind( &late, f, p, 4, b.points + f * 12 + p );
        for ( size_t i = 0; i < row; ++i )
            check_near( late.weights[(size_t)f * row + i], whole.weights[(size_t)f * row + i], 1e-6 );
    }
    tr_cage_free( &whole );
    tr_cage_free( &late );
    tr_free( b.points );
}

static void same_bits_for_any_number_of_threads( void **state )
{
    (void)state;
    bundle b = make_bundle( 121, 12, figure_eight );
    tr_cage_def def = tr_default_cage_def();
    tr_cage_handle handle = {
        .kind = TR_HANDLE_POINT, .frame = 47, .point = 4, .offset = { 0.2, 0.6, -0.3 } };
    vec3 *out[2];
    float *weights[2];
    tr_cage cages[2];
    for ( int k = 0; k < 2; ++k ) {
        tr_parallel_set_threads( k == 0 ? 1 : 3 );
        cages[k] = make_cage( &b, 10, 110, &def );
        drag( &cages[k], &handle, 1 );
        out[k] = move_all( &cages[k], &b );
        weights[k] = cages[k].weights;
    }
    tr_parallel_set_threads( 0 );
    assert_memory_equal( out[0], out[1], 121 * 12 * sizeof( vec3 ) );
    assert_memory_equal( weights[0], weights[1], 121 * 12 * (size_t)cages[0].vertex_count * sizeof( float ) );
    // Points by themselves go where they go as part of the bundle.
    vec3 some[12];
    tr_cage_move_points( &cages[0], 47, b.points + 47 * 12, 12, some );
    for ( int p = 0; p < 12; ++p )
        check_v3( some[p], out[0][47 * 12 + p], 1e-9 );
    // How they turn as a whole needs no point moved but one that leads them.
    float moments[TR_CAGE_MOMENTS * TR_CAGE_MAX_VERTICES];
    mat3 spread, sum = { v3_zero, v3_zero, v3_zero };
    vec3 mean = v3_zero;
    for ( int p = 0; p < 12; ++p )
        mean = v3_mad( mean, 1.0 / 12, b.points[47 * 12 + p] );
    for ( int p = 0; p < 12; ++p )
        sum = m3_add_outer( sum, out[0][47 * 12 + p], v3_sub( b.points[47 * 12 + p], mean ) );
    tr_cage_moments( &cages[0], 47, 0, 12, b.points + 47 * 12, 5, &spread, moments );
    vec3 lead = b.points[47 * 12 + 5];
    mat3 spin = tr_cage_spin( &cages[0], 47, spread, moments, &lead );
    check_v3( lead, out[0][47 * 12 + 5], 1e-9 );
    check_v3( spin.cx, sum.cx, 1e-5 );
    check_v3( spin.cy, sum.cy, 1e-5 );
    check_v3( spin.cz, sum.cz, 1e-5 );
    // And a key's section goes where its vertices were dragged.
    vec3 section[TR_CAGE_MAX_VERTICES];
    for ( int k = 0; k < cages[0].section_count; ++k ) {
        tr_cage_section_moved( &cages[0], cages[0].sections[k], section );
        for ( int v = 0; v < cages[0].vertex_count; ++v )
            check_v3( section[v], cages[0].moved[k * cages[0].vertex_count + v], 1e-9 );
    }
    for ( int k = 0; k < 2; ++k ) {
        tr_cage_free( &cages[k] );
        tr_free( out[k] );
    }
    tr_free( b.points );
}

// -------------------------------------------------------------------------------------------------- errors

// The example of docs/algorithms/cage.md.
static void the_documented_example_works( void **state )
{
    (void)state;
    enum { LEFT_HAND = 4, JOINTS = 12, FRAMES = 121 };
    bundle b = make_bundle( FRAMES, JOINTS, straight );
    vec3 *positions = b.points, *moved = tr_alloc( FRAMES * JOINTS, sizeof( vec3 ) );
    tr_error error;

    tr_cage_def def = tr_default_cage_def();
    def.through = 60; // where the user grabbed
    tr_cage_points points = { positions, JOINTS, 0, FRAMES, FPS };
    tr_cage cage;
    check_ok( tr_cage_build( &cage, &points, 20, 100, &def, &error ), &error );
    tr_cage_handle handles[] = {
        { .kind = TR_HANDLE_POINT, .frame = 60, .point = LEFT_HAND, .offset = { 0, 0.3, 0 } },
        { .kind = TR_HANDLE_SECTION, .section = 1 }, // a pin: no offset
    };
    check_ok( tr_cage_grab( &cage, handles, 2, &error ), &error );
    tr_cage_solve_def preview = tr_cage_preview_def(), keep = tr_default_cage_solve_def();
    handles[0].offset.y = 0.35;
    size_t before = tr_memory_live();
    tr_cage_solve( &cage, handles, &preview, NULL );
    tr_cage_result result = tr_cage_solve( &cage, handles, &keep, NULL );
    assert_int_equal( tr_memory_live(), before );
    tr_cage_move( &cage, 0, FRAMES - 1, positions, moved );

    check_near( result.error, 0, 1e-6 );
    check_near( moved[60 * JOINTS + LEFT_HAND].y - positions[60 * JOINTS + LEFT_HAND].y, 0.35, 1e-6 );
    int pinned = cage.sections[1] * JOINTS;
    assert_memory_equal( moved + pinned, positions + pinned, JOINTS * sizeof( vec3 ) );
    tr_cage_free( &cage );
    tr_free( moved );
    tr_free( b.points );
}

static void check_refused( const bundle *b, int first, int last, const tr_cage_def *def, const char *part )
{
    tr_cage cage;
    tr_error error = { 0 };
    tr_cage_points points = points_of( b );
    assert_false( tr_cage_build( &cage, &points, first, last, def, &error ) );
    if ( strstr( error.message, part ) == NULL )
        fail_msg( "'%s' says nothing of '%s'", error.message, part );
}

static void bad_input_is_refused( void **state )
{
    (void)state;
    bundle b = make_bundle( 31, 3, straight );
    tr_cage_def good = tr_default_cage_def(), def = good;
    check_refused( &b, 5, 5, &good, "two frames" );
    check_refused( &b, 5, 31, &good, "frames 0 to 30" );
    def.padding = 0, check_refused( &b, 0, 30, &def, "padding" ), def = good;
    def.detail = 9, check_refused( &b, 0, 30, &def, "detail" ), def = good;
    def.temporal = NAN, check_refused( &b, 0, 30, &def, "temporal" ), def = good;
    def.ease_in = -1, check_refused( &b, 0, 30, &def, "negative" ), def = good;
    def.frames = ( int[] ){ 10, 10 }, def.frame_count = 2;
    check_refused( &b, 0, 30, &def, "follow each other" );
    def.frames = ( int[] ){ 10, 35 };
    check_refused( &b, 0, 30, &def, "no section at frame 35" );
    tr_cage cage = make_cage( &b, 0, 30, &good );
    tr_error error;
    tr_cage_handle handle = { .kind = TR_HANDLE_VERTEX, .section = 0, .vertex = 26 };
    assert_false( tr_cage_grab( &cage, &handle, 1, &error ) );
    handle = ( tr_cage_handle ){ .kind = TR_HANDLE_SECTION, .section = -1 };
    assert_false( tr_cage_grab( &cage, &handle, 1, &error ) );
    handle = ( tr_cage_handle ){ .kind = TR_HANDLE_POINT, .frame = 31 };
    assert_false( tr_cage_grab( &cage, &handle, 1, &error ) );
    tr_cage_free( &cage );
    b.points[50].y = NAN;
    check_refused( &b, 0, 30, &good, "point 2 of a cage is no number at frame 16" );
    tr_free( b.points );
}

static void running_out_of_memory( void **state )
{
    (void)state;
    bundle b = make_bundle( 31, 3, straight );
    tr_cage_points points = points_of( &b );
    tr_cage_def def = tr_default_cage_def();
    tr_cage_handle handles[] = { { .kind = TR_HANDLE_POINT, .frame = 12 },
                                 { .kind = TR_HANDLE_VERTEX, .section = 1 } };
    bool done = false;
    for ( long n = 1; !done; ++n ) {
        tr_error error;
        tr_cage cage;
        size_t before = tr_memory_live();
        tr_memory_fail_from( n );
        if ( tr_cage_build( &cage, &points, 0, 30, &def, &error ) ) {
            done = tr_cage_grab( &cage, handles, 2, &error );
            tr_cage_free( &cage );
        }
        tr_memory_fail_from( 0 );
        assert_int_equal( tr_memory_live(), before );
        assert_true( n < 1000 );
    }
    tr_free( b.points );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( the_undeformed_cage_changes_nothing ),
        TEST( a_dragged_point_arrives ),
        TEST( what_leaps_far_can_be_dragged ),
        TEST( a_rigid_motion_of_the_cage_moves_points_rigidly ),
        TEST( a_crossing_is_edited_without_the_other ),
        TEST( a_standing_bundle_can_be_edited ),
        TEST( turned_sections_do_not_shear_what_is_between ),
        TEST( ends_are_smooth ),
        TEST( an_ease_is_part_of_the_way ),
        TEST( nothing_swings_past_a_key ),
        TEST( bundles_of_every_shape ),
        TEST( keys_are_spread_by_arc_length ),
        TEST( points_may_be_bound_late ),
        TEST( same_bits_for_any_number_of_threads ),
        TEST( the_documented_example_works ),
        TEST( bad_input_is_refused ),
        TEST( running_out_of_memory ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
