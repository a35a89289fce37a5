// Cages: their sections around any points, mean value coordinates, deformation against a dense reference,
// what reaches the points and when, retiming.
#include "cage/cage.h"
#include "check.h"

#include <string.h>

// -----------------------------------------------------------------------------------------------
// trajectories

#define FPS 30

typedef struct bundle {
    vec3 *points; // [frames · count]
    int frames, count;
} bundle;

typedef vec3 path( double seconds );

static vec3 stand( double t )
{
    (void)t;
    return v3( 3, 1, -2 );
}

static vec3 straight( double t )
{
    return v3( 1.4 * t, 1 + 0.03 * sin( 11 * t ), 0.02 * cos( 5.5 * t ) );
}

// Back at its middle after 2 and 4 seconds.
static vec3 figure_eight( double t )
{
    return v3( 2 * sin( TR_PI * t / 2 ), 1, 1.5 * sin( TR_PI * t ) );
}

// A body of points that turns while it travels and swings its limbs.
static bundle make_bundle( int frames, int count, path *where )
{
    bundle b = { tr_alloc( (size_t)( frames * count ), sizeof( vec3 ) ), frames, count };
    assert_non_null( b.points );
    for ( int f = 0; f < frames; ++f )
        for ( int p = 0; p < count; ++p ) {
            double t = (double)f / FPS;
            vec3 own = v3( 0.3 * sin( 2.4 * p ), 0.8 * cos( 1.7 * p + 0.4 ), 0.2 * sin( 0.9 * p * p ) );
            own =
                v3_add( own, v3_scale( 0.1 * sin( p ), v3( sin( 4 * t + p ), cos( 3 * t ), sin( 2 * t ) ) ) );
            own = q_rotate( q_axis_angle( v3_y, 0.8 * t ), own );
            b.points[f * count + p] = v3_add( where( t ), count > 1 ? own : v3_zero );
        }
    return b;
}

static tr_cage_points points_of( const bundle *b )
{
    return ( tr_cage_points ){ b->points, b->count, 0, b->frames, FPS };
}

static tr_cage make_cage( const bundle *b, int first, int last, const tr_cage_def *def )
{
    tr_cage cage;
    tr_error error;
    tr_cage_points points = points_of( b );
    check_ok( tr_cage_build( &cage, &points, first, last, def, &error ), &error );
    const char *wrong = tr_cage_check( &cage );
    if ( wrong != NULL )
        fail_msg( "%s", wrong );
    return cage;
}

static tr_cage_result drag( tr_cage *cage, const tr_cage_handle *handles, int count )
{
    tr_error error;
    tr_cage_solve_def def = tr_default_cage_solve_def();
    check_ok( tr_cage_grab( cage, handles, count, &error ), &error );
    tr_cage_result result = tr_cage_solve( cage, handles, &def, NULL );
    const char *wrong = tr_cage_check( cage );
    if ( wrong != NULL )
        fail_msg( "%s", wrong );
    return result;
}

static vec3 *move_all( const tr_cage *cage, const bundle *b )
{
    vec3 *out = tr_alloc( (size_t)( b->frames * b->count ), sizeof( vec3 ) );
    assert_non_null( out );
    tr_cage_move( cage, 0, b->frames - 1, b->points, out );
    return out;
}

// ----------------------------------------------------------------------------------------------------
// sections

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

// ------------------------------------------------------------------------------------------ mean value
// coordinates

typedef struct mesh {
    vec3 vertices[TR_CAGE_MAX_VERTICES];
    int triangles[800][3];
    int vertex_count, triangle_count;
} mesh;

static mesh make_octahedron( void )
{
    mesh m = { .vertex_count = 6, .triangle_count = 8 };
    for ( int i = 0; i < 6; ++i )
        m.vertices[i] = v3( i == 0   ? 1
                            : i == 1 ? -1
                                     : 0,
                            i == 2   ? 1
                            : i == 3 ? -1
                                     : 0,
                            i == 4   ? 1
                            : i == 5 ? -1
                                     : 0 );
    for ( int t = 0; t < 8; ++t ) {
        int x = t & 1, y = 2 + ( t >> 1 & 1 ), z = 4 + ( t >> 2 ), flip = ( x + y + z ) & 1;
        m.triangles[t][0] = x, m.triangles[t][1] = flip ? z : y, m.triangles[t][2] = flip ? y : z;
    }
    return m;
}

static mesh mesh_of( const tr_cage *cage, vec3 size, vec3 place )
{
    mesh m = { .vertex_count = cage->vertex_count, .triangle_count = cage->triangle_count };
    memcpy( m.triangles, cage->triangles, (size_t)m.triangle_count * sizeof m.triangles[0] );
    for ( int i = 0; i < m.vertex_count; ++i )
        m.vertices[i] = v3_add( place, v3_mul( size, cage->shape[i] ) );
    return m;
}

static tr_mean_value coordinates_of( const mesh *m )
{
    tr_mean_value out;
    tr_error error;
    check_ok( tr_mean_value_build( &out, m->vertices, m->vertex_count, (const int( * )[3])m->triangles,
                                   m->triangle_count, &error ),
              &error );
    return out;
}

static void check_weights( const mesh *m, const double *w, vec3 point, double tolerance )
{
    double largest = 1;
    double sum = 0;
    vec3 at = v3_zero;
    for ( int i = 0; i < m->vertex_count; ++i ) {
        sum += w[i];
        at = v3_mad( at, w[i], m->vertices[i] );
        largest = fmax( largest, fabs( w[i] ) );
    }
    check_near( sum, 1, 1e-5 * largest );
    check_v3( at, point, tolerance );
}

static void weights_by_hand( void **state )
{
    (void)state;
    mesh m = make_octahedron();
    tr_mean_value c = coordinates_of( &m );
    double w[6];
    tr_mean_value_exact( &c, v3_zero, w ); // symmetry
    for ( int i = 0; i < 6; ++i )
        check_near( w[i], 1.0 / 6, 1e-12 );
    tr_mean_value_exact( &c, v3( 0, 1, 0 ), w ); // a vertex
    for ( int i = 0; i < 6; ++i )
        check_near( w[i], i == 2, 1e-12 );
    tr_mean_value_exact( &c, v3( 0.25, 0.75, 0 ), w ); // on an edge: as on a line
    check_near( w[0], 0.25, 1e-9 );
    check_near( w[2], 0.75, 1e-9 );
    tr_mean_value_exact( &c, v3( 0.2, 0.5, 0.3 ), w ); // on a face: areas
    check_near( w[0], 0.2, 1e-9 );
    check_near( w[2], 0.5, 1e-9 );
    check_near( w[4], 0.3, 1e-9 );
    // On the x axis the four vertices around it weigh the same.
    tr_mean_value_exact( &c, v3( 0.3, 0, 0 ), w );
    for ( int i = 3; i < 6; ++i )
        check_near( w[i], w[2], 1e-12 );
    check_near( w[0] - w[1], 0.3, 1e-12 );
    tr_mean_value_free( &c );
}

static vec3 random_vector( uint64_t *seed, double size )
{
    double r[3];
    for ( int k = 0; k < 3; ++k )
        r[k] = size * ( 2.0 * (double)( random_bits( seed ) >> 11 ) / 9007199254740992.0 - 1 );
    return v3( r[0], r[1], r[2] );
}

// Inside, outside, and ever nearer to a vertex, an edge, a face.
static vec3 tricky_point( const mesh *m, int i, uint64_t *seed )
{
    const int *t = m->triangles[random_bits( seed ) % (uint64_t)m->triangle_count];
    vec3 a = m->vertices[t[0]], b = m->vertices[t[1]], c = m->vertices[t[2]];
    double near = pow( 10, -( i % 15 ) );
    switch ( i / 15 % 5 ) {
    case 0: return v3_mad( a, near, random_vector( seed, 1 ) );
    case 1: return v3_mad( v3_lerp( a, b, 0.3 ), near, random_vector( seed, 1 ) );
    case 2: return v3_mad( v3_lerp( v3_lerp( a, b, 0.4 ), c, 0.3 ), near, random_vector( seed, 1 ) );
    case 3: return v3_add( a, random_vector( seed, 5 ) );
    default: return v3_lerp( v3_lerp( a, b, 2.0 ), c, -1.5 ); // in the plane of a face, outside
    }
}

static void both_ways_give_the_same_weights( void **state )
{
    (void)state;
    enum { COUNT = 300 };
    bundle b = make_bundle( 3, 1, stand );
    tr_cage_def def = tr_default_cage_def();
    uint64_t seed = 7;
    for ( int kind = 0; kind < 6; ++kind ) {
        def.detail = 1 + kind % 4;
        tr_cage cage = make_cage( &b, 0, 2, &def );
        vec3 size = kind == 4 ? v3( 3, 0.001, 1 ) : kind == 5 ? v3( 200, 100, 150 ) : v3( 1, 0.5, 2 );
        mesh m = kind == 3 ? make_octahedron() : mesh_of( &cage, size, v3( 5, 1, -3 ) );
        tr_mean_value c = coordinates_of( &m );
        vec3 points[COUNT];
        static float fast[COUNT * TR_CAGE_MAX_VERTICES], twin[COUNT * TR_CAGE_MAX_VERTICES];
        for ( int i = 0; i < COUNT; ++i )
            points[i] = tricky_point( &m, i, &seed );
        tr_mean_value_weights( &c, points, COUNT, TR_LANES_FLOAT, fast );
        if ( tr_lanes_supported( TR_LANES_AVX2 ) ) {
            tr_mean_value_weights( &c, points, COUNT, TR_LANES_AVX2, twin );
            assert_memory_equal( fast, twin, (size_t)COUNT * (size_t)m.vertex_count * sizeof( float ) );
        }
        for ( int i = 0; i < COUNT; ++i ) {
            double exact[TR_CAGE_MAX_VERTICES], rounded[TR_CAGE_MAX_VERTICES], largest = 1;
            tr_mean_value_exact( &c, points[i], exact );
            check_weights( &m, exact, points[i], 1e-9 * ( 1 + c.size ) );
            for ( int v = 0; v < m.vertex_count; ++v )
                largest = fmax( largest, fabs( exact[v] ) );
            for ( int v = 0; v < m.vertex_count; ++v ) {
                rounded[v] = fast[i * m.vertex_count + v];
                check_near( rounded[v], exact[v], 1e-4 * largest );
            }
            check_weights( &m, rounded, points[i], 1e-5 * ( 1 + c.size ) * largest );
        }
        tr_mean_value_free( &c );
        tr_cage_free( &cage );
    }
    tr_free( b.points );
}

static void triangles_without_area( void **state )
{
    (void)state;
    mesh m = make_octahedron();
    m.vertices[5] = m.vertices[4]; // flat below, two vertices in one place
    tr_mean_value c = coordinates_of( &m );
    uint64_t seed = 3;
    double w[6];
    for ( int i = 0; i < 200; ++i ) {
        vec3 p = i < 100 ? random_vector( &seed, 1.5 ) : tricky_point( &m, i, &seed );
        tr_mean_value_exact( &c, p, w );
        check_weights( &m, w, p, 1e-8 );
    }
    tr_mean_value_free( &c );
    for ( int i = 0; i < 6; ++i ) // a disc: weights still add up, and give back what lies in its plane
        m.vertices[i].z = 0;
    c = coordinates_of( &m );
    for ( int i = 0; i < 200; ++i ) {
        vec3 p = random_vector( &seed, 1.5 );
        p.z = i % 2 == 0 ? 0 : p.z;
        tr_mean_value_exact( &c, p, w );
        vec3 at = v3_zero;
        double sum = 0;
        for ( int v = 0; v < 6; ++v ) {
            sum += w[v];
            at = v3_mad( at, w[v], m.vertices[v] );
        }
        check_near( sum, 1, 1e-9 );
        check_v3( at, v3( p.x, p.y, 0 ), 1e-8 );
    }
    tr_mean_value_free( &c );
}

static void meshes_that_will_not_do( void **state )
{
    (void)state;
    mesh m = make_octahedron();
    tr_mean_value c;
    tr_error error;
    assert_false( tr_mean_value_build( &c, m.vertices, 6, (const int( * )[3])m.triangles, 7, &error ) );
    assert_string_equal( error.message, "mean value coordinates need a closed mesh" );
    m.triangles[2][1] = 6;
    assert_false( tr_mean_value_build( &c, m.vertices, 6, (const int( * )[3])m.triangles, 8, &error ) );
    assert_false( tr_mean_value_build( &c, m.vertices, 1000, (const int( * )[3])m.triangles, 8, &error ) );
}

// ----------------------------------------------------------------------------------------------------
// deformation The slow and exact way: the same energy as stacked least squares with hard rows, by sparse QR,
// rotations and positions taking turns some thousand times.

#define EDGE_HOLD   0.01
#define VERTEX_HOLD 1e-5

typedef struct reference {
    const tr_cage *cage;
    const tr_cage_handle *handles;
    int handle_count;
    tr_sparse rows, hard;
    double *b, *h, *x; // [rows · 3], [hard · 3], [vertices · 3], column-major
    quat *turns;       // [vertices]
} reference;

static int all_vertices( const tr_cage *cage )
{
    return cage->section_count * cage->vertex_count;
}

static int next_neighbour( const tr_cage *cage, int vertex, int n ) // -1 past the last
{
    int own = vertex % cage->vertex_count, base = vertex - own, last = all_vertices( cage );
    for ( int e = 0; e < cage->edge_count; ++e )
        for ( int side = 0; side < 2; ++side )
            if ( cage->edges[e][side] == own && n-- == 0 )
                return base + cage->edges[e][1 - side];
    if ( vertex >= cage->vertex_count && n-- == 0 )
        return vertex - cage->vertex_count;
    return vertex + cage->vertex_count < last && n == 0 ? vertex + cage->vertex_count : -1;
}

static double edge_weight( const tr_cage *cage, int a, int b )
{
    int key = a / cage->vertex_count, other = b / cage->vertex_count;
    for ( int e = 0; key == other && e < cage->edge_count; ++e )
        for ( int side = 0; side < 2; ++side )
            if ( cage->edges[e][side] == a % cage->vertex_count &&
                 cage->edges[e][1 - side] == b % cage->vertex_count )
                return cage->within[key * cage->edge_count + e];
    return cage->between[key < other ? key : other];
}

static bool turns_edge( const tr_cage *cage, int a, int b )
{
    return !cage->def.carried || a / cage->vertex_count == b / cage->vertex_count;
}

static void reference_hold( reference *r, int vertex, vec3 place )
{
    assert_true( tr_sparse_add( &r->hard, &vertex, &( double ){ 1 }, 1 ) );
    r->h[3 * ( r->hard.row_count - 1 )] = place.x;
    r->h[3 * ( r->hard.row_count - 1 ) + 1] = place.y;
    r->h[3 * ( r->hard.row_count - 1 ) + 2] = place.z;
}

static void reference_rows( reference *r )
{
    const tr_cage *cage = r->cage;
    int count = all_vertices( cage );
    r->rows.column_count = r->hard.column_count = count;
    for ( int i = 0; i < count; ++i ) {
        for ( int n = 0, j; ( j = next_neighbour( cage, i, n ) ) >= 0; ++n ) {
            double w = sqrt( edge_weight( cage, i, j ) );
            double hold = w * sqrt( EDGE_HOLD / 2 ); // every edge is met from both ends
            assert_true( tr_sparse_add( &r->rows, ( int[] ){ i, j }, ( double[] ){ w, -w }, 2 ) );
            assert_true( tr_sparse_add( &r->rows, ( int[] ){ i, j }, ( double[] ){ hold, -hold }, 2 ) );
        }
        assert_true( tr_sparse_add( &r->rows, &i, &( double ){ sqrt( VERTEX_HOLD ) }, 1 ) );
    }
    for ( int i = 0; i < cage->vertex_count; ++i ) {
        reference_hold( r, i, cage->rest[i] );
        reference_hold( r, count - 1 - i, cage->rest[count - 1 - i] );
    }
    for ( int h = 0; h < r->handle_count; ++h ) {
        const tr_cage_handle *handle = &r->handles[h];
        if ( handle->kind == TR_HANDLE_VERTEX ) {
            int v = handle->section * cage->vertex_count + handle->vertex;
            reference_hold( r, v, v3_add( cage->rest[v], handle->offset ) );
            continue;
        }
        int section = 0;
        while ( cage->sections[section] != handle->frame )
            ++section;
        const float *w =
            cage->weights + ( handle->frame * cage->point_count + handle->point ) * cage->vertex_count;
        vec3 at = handle->offset;
        assert_true( tr_sparse_add( &r->hard, NULL, NULL, 0 ) );
        for ( int i = 0; i < cage->vertex_count; ++i ) {
            int v = section * cage->vertex_count + i;
            assert_true( tr_sparse_extend( &r->hard, v, w[i] ) );
            at = v3_mad( at, w[i], cage->rest[v] );
        }
        memcpy( r->h + 3 * ( r->hard.row_count - 1 ), &at, sizeof at );
    }
}

static void set_right( reference *r, int row, vec3 value )
{
    int rows = r->rows.row_count;
    r->b[row] = value.x, r->b[rows + row] = value.y, r->b[2 * rows + row] = value.z;
}

static void reference_right( reference *r )
{
    const tr_cage *cage = r->cage;
    int row = 0;
    for ( int i = 0; i < all_vertices( cage ); ++i ) {
        for ( int n = 0, j; ( j = next_neighbour( cage, i, n ) ) >= 0; ++n ) {
            double w = sqrt( edge_weight( cage, i, j ) );
            vec3 e = v3_scale( w, v3_sub( cage->rest[i], cage->rest[j] ) );
            set_right( r, row++, turns_edge( cage, i, j ) ? q_rotate( r->turns[i], e ) : e );
            set_right( r, row++, v3_scale( sqrt( EDGE_HOLD / 2 ), e ) );
        }
        set_right( r, row++, v3_scale( sqrt( VERTEX_HOLD ), cage->rest[i] ) );
    }
}

static vec3 reference_vertex( const reference *r, int i )
{
    int n = all_vertices( r->cage );
    return v3( r->x[i], r->x[n + i], r->x[2 * n + i] );
}

static quat upright_turn( mat3 m ) // largest tr(Rᵀ m) about the vertical
{
    return q_axis_angle( v3_y, atan2( m.cz.x - m.cx.z, m.cx.x + m.cz.z ) );
}

static void reference_turn( reference *r )
{
    const tr_cage *cage = r->cage;
    for ( int i = 0; i < all_vertices( cage ); ++i ) {
        mat3 m = { v3_zero, v3_zero, v3_zero };
        for ( int n = 0, j; ( j = next_neighbour( cage, i, n ) ) >= 0; ++n ) {
            double w = turns_edge( cage, i, j ) ? edge_weight( cage, i, j ) : 0;
            vec3 a = v3_scale( w, v3_sub( cage->rest[i], cage->rest[j] ) );
            vec3 d = v3_sub( reference_vertex( r, i ), reference_vertex( r, j ) );
            m.cx = v3_mad( m.cx, a.x, d ), m.cy = v3_mad( m.cy, a.y, d ), m.cz = v3_mad( m.cz, a.z, d );
        }
        r->turns[i] = cage->def.upright ? upright_turn( m ) : q_fit( m );
    }
}

// Compares a solved cage with the reference after `rounds` rounds.
static void check_against_reference( const tr_cage *cage, const tr_cage_handle *handles, int count,
                                     int rounds, double tolerance )
{
    reference r = { .cage = cage, .handles = handles, .handle_count = count };
    size_t n = (size_t)all_vertices( cage );
    double *memory = tr_alloc( 3 * 76 * n + 3 * ( 2 * n + 8 ) + 6 * n, sizeof( double ) );
    assert_non_null( memory );
    r.b = memory, r.h = r.b + 3 * 72 * n, r.x = r.h + 3 * ( n + 8 );
    r.turns = tr_alloc( n, sizeof( quat ) );
    double *by_axis = r.x + 3 * n;
    reference_rows( &r );
    assert_true( (size_t)r.rows.row_count <= 72 * n && (size_t)r.hard.row_count <= n + 8 );
    for ( int k = 0; k < r.hard.row_count; ++k )
        for ( int c = 0; c < 3; ++c )
            by_axis[c * r.hard.row_count + k] = r.h[3 * k + c];
    for ( size_t i = 0; i < n; ++i )
        r.turns[i] = q_identity;
    tr_error error;
    for ( int k = 0; k < rounds; ++k ) {
        reference_right( &r );
        check_ok( tr_least_squares( &r.rows, r.b, &r.hard, by_axis, 3, r.x, &error ), &error );
        reference_turn( &r );
    }
    for ( size_t i = 0; i < n; ++i )
        check_v3( cage->moved[i], reference_vertex( &r, (int)i ), tolerance );
    tr_sparse_free( &r.rows );
    tr_sparse_free( &r.hard );
    tr_free( memory );
    tr_free( r.turns );
}

static void compare_with_sparse_qr( const bundle *b, bool carried, bool upright )
{
    tr_cage_def def = tr_default_cage_def();
    def.detail = 1;
    def.section_count = 4;
    def.temporal = 0.7;
    def.carried = carried;
    def.upright = upright;
    tr_cage cage = make_cage( b, 0, 60, &def );
    tr_cage_handle handles[] = {
        { .kind = TR_HANDLE_VERTEX, .section = 1, .vertex = 2, .offset = { 0.3, 0.4, -0.2 } },
        { .kind = TR_HANDLE_POINT, .frame = cage.sections[2], .point = 3, .offset = { -0.1, 0.3, 0.4 } },
        { .kind = TR_HANDLE_VERTEX, .section = 2, .vertex = 7 },
    };
    // Two rounds: positions, rotations, positions, with no room for convergence to hide a difference. Not
    // far, so that the two steps of Newton's method that a round takes find the cells' rotations.
    tr_error error;
    tr_cage_handle near[3];
    for ( int h = 0; h < 3; ++h ) {
        near[h] = handles[h];
        near[h].offset = v3_scale( 0.3, handles[h].offset );
    }
    check_ok( tr_cage_grab( &cage, near, 3, &error ), &error );
    tr_cage_solve_def few = { .max_iterations = 2 };
    tr_cage_solve( &cage, near, &few, NULL );
    check_against_reference( &cage, near, 3, 2, 1e-5 );
    tr_cage_result result = drag( &cage, handles, 3 );
    assert_true( result.iterations < 400 );
    check_near( result.error, 0, 1e-6 );
    check_against_reference( &cage, handles, 3, 400, 2e-5 );
    tr_cage_free( &cage );
}

static void deformation_against_sparse_qr( void **state )
{
    (void)state;
    bundle b = make_bundle( 61, 6, straight );
    compare_with_sparse_qr( &b, false, false );
    compare_with_sparse_qr( &b, true, false );
    compare_with_sparse_qr( &b, true, true );
    tr_free( b.points );
}

static void pins_are_exact_and_the_first_handle_wins( void **state )
{
    (void)state;
    bundle b = make_bundle( 91, 6, straight );
    tr_cage_def def = tr_default_cage_def();
    def.section_count = 5;
    tr_cage cage = make_cage( &b, 0, 90, &def );
    tr_cage_handle handles[] = {
        { .kind = TR_HANDLE_VERTEX, .section = 2, .vertex = 4, .offset = { 0, 0.5, 0 } },
        { .kind = TR_HANDLE_SECTION, .section = 1 },
        { .kind = TR_HANDLE_VERTEX, .section = 2, .vertex = 4, .offset = { 0, -0.5, 0 } },
        { .kind = TR_HANDLE_POINT, .frame = 55, .point = 2, .offset = { 0.1, 0.1, 0.1 } },
        { .kind = TR_HANDLE_POINT, .frame = 55, .point = 2, .offset = { 0.1, 0.1, 0.2 } },
        { .kind = TR_HANDLE_POINT, .frame = 0, .point = 2, .offset = { 0.3, 0, 0 } },
    };
    tr_error error;
    double errors[6];
    tr_cage_solve_def solve = tr_default_cage_solve_def();
    check_ok( tr_cage_grab( &cage, handles, 6, &error ), &error );
    tr_cage_result result = tr_cage_solve( &cage, handles, &solve, errors );
    const vec3 *rest = cage.rest, *moved = cage.moved;
    int v = 2 * cage.vertex_count + 4;
    check_v3( moved[v], v3_add( rest[v], handles[0].offset ), 0 );
    for ( int i = 0; i < 2 * cage.vertex_count; ++i )
        assert_memory_equal( &moved[i], &rest[i], sizeof( vec3 ) );
    for ( int i = 4 * cage.vertex_count; i < 5 * cage.vertex_count; ++i )
        assert_memory_equal( &moved[i], &rest[i], sizeof( vec3 ) );
    check_near( errors[0], 0, 0 );
    check_near( errors[1], 0, 0 );
    check_near( errors[2], 1, 1e-12 );
    check_near( errors[3], 0, 1e-4 );
    check_near( errors[4], 0.1, 1e-4 );
    check_near( errors[5], 0.3, 1e-4 ); // at the window's pinned end
    check_near( result.error, 1, 1e-12 );
    assert_int_equal( result.worst, 2 );
    tr_cage_free( &cage );
    tr_free( b.points );
}

static void a_released_cage_follows_as_a_whole( void **state )
{
    (void)state;
    bundle b = make_bundle( 91, 6, straight );
    tr_cage_def def = tr_default_cage_def();
    def.start = def.end = TR_CAGE_HELD;
    tr_cage cage = make_cage( &b, 20, 70, &def );
    tr_cage_handle handle = { .kind = TR_HANDLE_POINT, .frame = 45, .point = 0, .offset = { 1, 0.5, 2 } };
    check_near( drag( &cage, &handle, 1 ).error, 0, 1e-4 );
    vec3 *out = move_all( &cage, &b );
    for ( int i = 0; i < 91 * 6; ++i )
        check_v3( out[i], v3_add( b.points[i], handle.offset ), 0.1 );
    tr_free( out );
    tr_cage_free( &cage );
    tr_free( b.points );
}

static void falloff_keeps_far_sections( void **state )
{
    (void)state;
    bundle b = make_bundle( 201, 6, straight );
    tr_cage_def def = tr_default_cage_def();
    def.falloff = 40;
    tr_cage cage = make_cage( &b, 0, 200, &def );
    tr_cage_handle handle = { .kind = TR_HANDLE_POINT, .frame = 100, .point = 2, .offset = { 0, 0.4, 0 } };
    check_near( drag( &cage, &handle, 1 ).error, 0, 1e-4 );
    vec3 *out = move_all( &cage, &b );
    for ( int f = 0; f < 201; ++f )
        if ( f < 50 || f > 150 )
            check_v3( out[f * 6], b.points[f * 6], 0 );
    assert_true( v3_distance( out[75 * 6], b.points[75 * 6] ) > 0.01 );
    tr_free( out );
    tr_cage_free( &cage );
    tr_free( b.points );
}

static tr_cage_handle random_handle( const tr_cage *cage, uint64_t *seed )
{
    tr_cage_handle h = { .kind = (tr_handle_kind)( random_bits( seed ) % TR_HANDLE_KINDS ) };
    h.section = 1 + (int)( random_bits( seed ) % (uint64_t)( cage->section_count - 2 ) );
    h.vertex = (int)( random_bits( seed ) % (uint64_t)cage->vertex_count );
    h.frame = cage->first + 8 + (int)( random_bits( seed ) % (uint64_t)( cage->last - cage->first - 15 ) );
    h.point = (int)( random_bits( seed ) % (uint64_t)cage->point_count );
    h.offset = random_vector( seed, 0.5 );
    h.rotation = q_from_vector( random_vector( seed, 1.2 ) );
    return h;
}

// A pin, and handle after handle dragged far and near, each with previews and then for good.
static void a_hundred_random_drags( void **state )
{
    (void)state;
    bundle b = make_bundle( 121, 12, figure_eight );
    tr_cage_def def = tr_default_cage_def();
    def.spacing = 0.8;
    tr_cage cage = make_cage( &b, 10, 110, &def );
    uint64_t seed = 2021;
    tr_error error;
    vec3 *out = tr_alloc( 121 * 12, sizeof( vec3 ) );
    tr_cage_handle handles[3] = { { .kind = TR_HANDLE_VERTEX, .section = 1, .vertex = 3 } };
    for ( int n = 0; n < 100; ++n ) {
        handles[1] = random_handle( &cage, &seed );
        handles[2] = random_handle( &cage, &seed );
        handles[2].kind = TR_HANDLE_POINT;
        check_ok( tr_cage_grab( &cage, handles, 3, &error ), &error );
        tr_cage_solve_def preview = tr_cage_preview_def(), keep = tr_default_cage_solve_def();
        double errors[3];
        for ( int tick = 0; tick < 3; ++tick ) {
            tr_cage_solve( &cage, handles, &preview, NULL );
            assert_null( tr_cage_check( &cage ) );
        }
        tr_cage_result result = tr_cage_solve( &cage, handles, &keep, errors );
        assert_null( tr_cage_check( &cage ) );
        assert_true( isfinite( result.error ) && result.change < 1e-4 );
        int pin = cage.vertex_count + 3;
        assert_memory_equal( &cage.moved[pin], &cage.rest[pin], sizeof( vec3 ) );
        tr_cage_move( &cage, 0, 120, b.points, out );
        for ( int i = 0; i < 121 * 12; ++i )
            assert_true( v3_finite( out[i] ) && v3_distance( out[i], b.points[i] ) < 5 );
        int at = handles[2].frame * 12 + handles[2].point;
        vec3 wanted = v3_add( b.points[at], handles[2].offset );
        check_near( v3_distance( out[at], wanted ), errors[2], 1e-4 );
        bool free_to_go = handles[1].kind != TR_HANDLE_SECTION;
        if ( free_to_go && errors[2] > 1e-3 )
            print_error( "drag %d missed by %g m\n", n, errors[2] );
        assert_true( !free_to_go || errors[2] <= 1e-3 );
    }
    tr_free( out );
    tr_cage_free( &cage );
    tr_free( b.points );
}

// What is kept depends on the handles alone; previews come ever nearer to it.
static void previews_lead_to_what_is_kept( void **state )
{
    (void)state;
    bundle b = make_bundle( 121, 12, straight );
    tr_cage_def def = tr_default_cage_def();
    tr_cage cage = make_cage( &b, 10, 110, &def ), fresh = make_cage( &b, 10, 110, &def );
    tr_cage_handle handle = {
        .kind = TR_HANDLE_POINT, .frame = 60, .point = 4, .offset = { 0.2, 0.6, -0.3 } };
    size_t bytes = (size_t)all_vertices( &cage ) * sizeof( vec3 );
    tr_error error;
    check_ok( tr_cage_grab( &cage, &handle, 1, &error ), &error );
    tr_cage_solve_def preview = tr_cage_preview_def(), keep = tr_default_cage_solve_def();
    drag( &fresh, &handle, 1 );
    for ( int tick = 0; tick < 40; ++tick )
        tr_cage_solve( &cage, &handle, &preview, NULL );
    for ( int i = 0; i < all_vertices( &cage ); ++i )
        check_v3( cage.moved[i], fresh.moved[i], 0.01 );
    tr_cage_solve( &cage, &handle, &keep, NULL );
    assert_memory_equal( cage.moved, fresh.moved, bytes );
    tr_cage_reset( &cage );
    assert_memory_equal( cage.moved, cage.rest, bytes );
    assert_false( tr_cage_moves( &cage, 60 ) );
    tr_cage_free( &cage );
    tr_cage_free( &fresh );
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
    // How they turn as a whole needs no point moved.
    float moments[3 * TR_CAGE_MAX_VERTICES];
    mat3 spread, sum = { v3_zero, v3_zero, v3_zero };
    vec3 mean = v3_zero;
    for ( int p = 0; p < 12; ++p )
        mean = v3_mad( mean, 1.0 / 12, b.points[47 * 12 + p] );
    for ( int p = 0; p < 12; ++p )
        sum = m3_add_outer( sum, out[0][47 * 12 + p], v3_sub( b.points[47 * 12 + p], mean ) );
    tr_cage_moments( &cages[0], 47, 0, 12, b.points + 47 * 12, &spread, moments );
    mat3 spin = tr_cage_spin( &cages[0], 47, spread, moments );
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

// ---------------------------------------------------------------------------------------------------------
// errors

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

// ---------------------------------------------------------------------------------------------------------
// retiming

static void retiming_is_monotone_and_smooth( void **state )
{
    (void)state;
    uint64_t seed = 5;
    tr_error error;
    for ( int n = 0; n < 200; ++n ) {
        double from[6] = { 0 }, to[6] = { 0 };
        for ( int k = 0; k < 6; ++k ) {
            double a = random_vector( &seed, 1 ).x, b = random_vector( &seed, 1 ).y;
            from[k] = ( k > 0 ? from[k - 1] : 0 ) + 20 * pow( 10, a );
            to[k] = ( k > 0 ? to[k - 1] : 3 ) + 20 * pow( 10, b );
        }
        tr_retime map;
        check_ok( tr_retime_build( &map, from, to, 6, &error ), &error );
        double last = -HUGE_VAL, rate = 1;
        for ( double t = from[0] - 10; t < from[5] + 10; t += 0.05 ) {
            double at = tr_retime_map( &map, t );
            assert_true( at > last );
            check_near( tr_retime_inverse( &map, at ), t, 1e-7 );
            double slope = ( tr_retime_map( &map, t + 1e-5 ) - tr_retime_map( &map, t - 1e-5 ) ) / 2e-5;
            double next = tr_retime_rate( &map, t );
            check_near( slope, next, 1e-3 * ( 1 + next ) );
            assert_true( next > 0 && fabs( next - rate ) < 0.5 * ( 1 + rate + next ) );
            last = at, rate = next;
        }
        for ( int k = 0; k < 6; ++k )
            check_near( tr_retime_map( &map, from[k] ), to[k], 1e-9 );
        tr_retime_free( &map );
    }
}

static void retiming_keeps_what_is_not_retimed( void **state )
{
    (void)state;
    tr_error error;
    // The third key two seconds later, and with it all that follows; the stretch between the first two stays.
    double from[] = { 0, 30, 60, 90 }, to[] = { 0, 30, 120, 150 };
    tr_retime map;
    check_ok( tr_retime_build( &map, from, to, 4, &error ), &error );
    for ( double t = -20; t <= 30; t += 0.5 )
        check_near( tr_retime_map( &map, t ), t, 1e-12 );
    for ( double t = 60; t <= 200; t += 0.5 )
        check_near( tr_retime_map( &map, t ), t + 60, 1e-12 );
    check_near( tr_retime_map( &map, 45 ), 75, 1e-9 ); // symmetric
    check_near( tr_retime_rate( &map, 30 ), 1, 1e-12 );
    assert_true( tr_retime_rate( &map, 45 ) > 3 );
    tr_retime_free( &map );
    check_ok( tr_retime_build( &map, &from[1], &to[2], 1, &error ), &error ); // one key: a shift
    check_near( tr_retime_map( &map, 5 ), 95, 0 );
    check_near( tr_retime_inverse( &map, 95 ), 5, 0 );
    tr_retime_free( &map );
    to[2] = 30;
    assert_false( tr_retime_build( &map, from, to, 4, &error ) );
    to[2] = NAN;
    assert_false( tr_retime_build( &map, from, to, 4, &error ) );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( the_undeformed_cage_changes_nothing ),
        TEST( a_dragged_point_arrives ),
        TEST( a_rigid_motion_of_the_cage_moves_points_rigidly ),
        TEST( a_crossing_is_edited_without_the_other ),
        TEST( a_standing_bundle_can_be_edited ),
        TEST( turned_sections_do_not_shear_what_is_between ),
        TEST( ends_are_smooth ),
        TEST( nothing_swings_past_a_key ),
        TEST( bundles_of_every_shape ),
        TEST( keys_are_spread_by_arc_length ),
        TEST( weights_by_hand ),
        TEST( both_ways_give_the_same_weights ),
        TEST( triangles_without_area ),
        TEST( meshes_that_will_not_do ),
        TEST( deformation_against_sparse_qr ),
        TEST( pins_are_exact_and_the_first_handle_wins ),
        TEST( a_released_cage_follows_as_a_whole ),
        TEST( falloff_keeps_far_sections ),
        TEST( a_hundred_random_drags ),
        TEST( previews_lead_to_what_is_kept ),
        TEST( same_bits_for_any_number_of_threads ),
        TEST( the_documented_example_works ),
        TEST( bad_input_is_refused ),
        TEST( running_out_of_memory ),
        TEST( retiming_is_monotone_and_smooth ),
        TEST( retiming_keeps_what_is_not_retimed ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
