// Deformation of cages against a slow exact reference; handles, pins, previews.
#include "cage_fixture.h"

// ----------------------------------------------------------------------------------------------- reference
// The slow and exact way: the same energy as stacked least squares with hard rows, by sparse QR, rotations
// and positions taking turns some thousand times.

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
    tr_cage_solve_def few = tr_cage_preview_def();
    few.max_iterations = 2, few.warm = false;
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

// ------------------------------------------------------------------------------------------------- handles

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

// Floats resolve less than the tolerance there; the cage comes to rest all the same, where it was put.
static void sections_go_as_far_as_one_likes( void **state )
{
    (void)state;
    bundle b = make_bundle( 121, 12, figure_eight );
    tr_cage_def def = tr_default_cage_def();
    def.carried = true;
    tr_cage cage = make_cage( &b, 10, 110, &def );
    vec3 *out = NULL;
    for ( int n = 0; n < 40; ++n ) {
        double far = 10 * pow( 10000, n / 39.0 );
        tr_cage_handle handle = { .kind = TR_HANDLE_SECTION, .section = cage.section_count / 2 };
        handle.offset = n % 2 == 0 ? v3( 0, far, 0 ) : v3( 0, 0, far );
        tr_cage_result result = drag( &cage, &handle, 1 );
        out = move_all( &cage, &b );
        for ( int i = 0; i < 121 * 12; ++i )
            assert_true( v3_finite( out[i] ) && v3_distance( out[i], b.points[i] ) < 1.5 * far );
        assert_true( result.iterations < 200 );
        tr_free( out );
    }
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

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( deformation_against_sparse_qr ),      TEST( pins_are_exact_and_the_first_handle_wins ),
        TEST( a_released_cage_follows_as_a_whole ), TEST( falloff_keeps_far_sections ),
        TEST( sections_go_as_far_as_one_likes ),    TEST( a_hundred_random_drags ),
        TEST( previews_lead_to_what_is_kept ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
