// Moving the keys: rotations of the cells and displacements of the vertices are solved for in turn.
//
// A step is K Δu = pull, pull = −½ dE/du for the current rotations, with rows H (u + Δu) = h met by
// Δu = K⁻¹ pull − Z λ,  L λ = H (u + K⁻¹ pull) − h,  L Lᵀ = H K⁻¹ Hᵀ,  Z = K⁻¹ Hᵀ L⁻ᵀ. It is the same step as
// solving for the positions, but the next step corrects its rounding errors. Steps are combined by Anderson's
// method: the mixture of the last few whose step would have been the shortest. Mixtures meet the rows, which
// are linear.
#include "cage/private.h"

#include <assert.h>
#include <string.h>

tr_cage_solve_def tr_default_cage_solve_def( void )
{
    return ( tr_cage_solve_def ){ .max_iterations = 1000,
                                  .tolerance = 1e-6,
                                  .corrections = 12,
                                  .near = 1e-5,
                                  .near_share = 1e-6,
                                  .fit_steps = 2,
                                  .restart = 2,
                                  .mixture_max = 1e4 };
}

tr_cage_solve_def tr_cage_preview_def( void )
{
    tr_cage_solve_def def = tr_default_cage_solve_def();
    def.max_iterations = 4;
    def.tolerance = 0;
    def.warm = true;
    def.corrections = 1;
    return def;
}

// ----------------------------------------------------------------------------------------------- in and out

static void put( float to[4], vec3 v )
{
    to[0] = (float)v.x, to[1] = (float)v.y, to[2] = (float)v.z, to[3] = 0;
}

static vec3 get( const float from[4] )
{
    return v3( from[0], from[1], from[2] );
}

static void turn_to_rest( tr_cage_solver *s )
{
    memset( s->turns, 0, (size_t)s->round_count * sizeof s->turns[0] );
    for ( int i = 0; i < s->round_count; ++i )
        memcpy( s->quats[i], ( float[4] ){ 0, 0, 0, 1 }, sizeof s->quats[i] );
}

void tr_cage_solver_load( const tr_cage *cage, tr_cage_solver *s )
{
    for ( int v = 0; v < s->count; ++v )
        put( s->u[s->number[v]], v3_sub( cage->moved[v], cage->rest[v] ) );
    turn_to_rest( s );
}

static quat rotation_of( const tr_cage_handle *h )
{
    return q_unit( h->rotation ); // all zero is none
}

// Where a handle wants a vertex of its section.
static vec3 wanted( const tr_cage *cage, const tr_cage_handle *h, int vertex )
{
    vec3 rest = cage->rest[vertex];
    if ( h->kind == TR_HANDLE_SECTION && q_angle( rotation_of( h ), q_identity ) > 0 ) {
        vec3 centre = cage->places[cage->sections[h->section] - cage->begin].position;
        rest = v3_add( centre, q_rotate( rotation_of( h ), v3_sub( rest, centre ) ) );
    }
    return v3_add( rest, h->offset );
}

static void place_held( const tr_cage *cage, tr_cage_solver *s, const tr_cage_handle *handles )
{
    for ( int v = 0; v < s->count; ++v ) {
        int holder = s->holder[v];
        if ( holder == TR_CAGE_NOT_HELD )
            continue;
        vec3 to = holder == TR_CAGE_HELD_AT_REST ? cage->rest[v] : wanted( cage, &handles[holder], v );
        put( s->u[s->number[v]], v3_sub( to, cage->rest[v] ) );
    }
}

static void write_moved( tr_cage *cage, const tr_cage_solver *s, const tr_cage_handle *handles )
{
    for ( int v = 0; v < s->count; ++v ) {
        int holder = s->holder[v];
        if ( holder >= 0 )
            cage->moved[v] = wanted( cage, &handles[holder], v );
        else
            cage->moved[v] = v3_add( cage->rest[v], get( s->u[s->number[v]] ) );
    }
    tr_cage_read_keys( cage );
}

// -------------------------------------------------------------------------------------------------- one step

static void meet_rows( tr_cage_solver *s )
{
    int m = s->row_count;
    for ( int r = 0; r < m; ++r ) {
        const tr_cage_row *row = &s->rows[r];
        const double *l = s->schur + (size_t)r * (size_t)m;
        vec3 sum = v3_negate( row->target );
        for ( int e = row->begin; e < row->end; ++e ) {
            int i = s->entries[e];
            sum = v3_mad( sum, s->entry_weights[e], get( s->u[i] ) );
            if ( i < s->free_count )
                sum = v3_mad( sum, s->entry_weights[e], get( s->step[i] ) );
        }
        for ( int q = 0; q < r; ++q )
            sum = v3_mad( sum, -l[q], s->forces[q] );
        s->forces[r] = row->dropped ? v3_zero : v3_scale( 1 / l[r], sum );
    }
    for ( int r = 0; r < m; ++r ) {
        const float *z = s->response + (size_t)r * (size_t)s->free_count;
        float force[4];
        put( force, s->forces[r] );
        for ( int i = 0; i < s->free_count; ++i )
            for ( int c = 0; c < 3; ++c )
                s->step[i][c] -= z[i] * force[c];
    }
}

// Computes `step` from u, and fits the rotations before that if `fit_steps` > 0. Returns the length of the
// longest step of a vertex, metres.
static double take_step( tr_cage_solver *s, int fit_steps )
{
    bool avx2 = tr_lanes_best() != TR_LANES_FLOAT;
    if ( fit_steps > 0 )
        ( avx2 ? tr_kernel_fit_avx2 : tr_kernel_fit_float )( s, fit_steps );
    ( avx2 ? tr_kernel_pull_avx2 : tr_kernel_pull_float )( s );
    tr_ldl_solve_four( &s->ldl, s->step );
    if ( s->row_count > 0 )
        meet_rows( s );
    float longest = 0;
    for ( int i = 0; i < s->free_count; ++i ) {
        const float *d = s->step[i];
        float square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        longest = square > longest ? square : longest;
    }
    return sqrt( longest );
}

// ---------------------------------------------------------------------------------------------------- mixing

typedef struct mixing {
    int count;       // columns there are
    int next;        // column to be written
    bool has_last;   // the last step and its end are known
    double shortest; // step so far, squared norm
    double products[TR_CAGE_HISTORY][TR_CAGE_HISTORY];
} mixing;

typedef struct columns { // differences of steps f and of their ends g = u + f; then the last f and g
    float *df[TR_CAGE_HISTORY], *dg[TR_CAGE_HISTORY], *f, *g;
} columns;

static columns columns_of( const tr_cage_solver *s )
{
    columns c;
    size_t size = 4 * (size_t)s->free_count;
    for ( size_t h = 0; h < TR_CAGE_HISTORY; ++h ) {
        c.df[h] = s->history + 2 * h * size;
        c.dg[h] = c.df[h] + size;
    }
    c.f = s->history + 2 * TR_CAGE_HISTORY * size;
    c.g = c.f + size;
    return c;
}

static double product( const float *a, const float *b, size_t count )
{
    double sum = 0;
    for ( size_t i = 0; i < count; i += 4 ) // vertex by vertex: the same sum everywhere
        sum += (double)( a[i] * b[i] + a[i + 1] * b[i + 1] + a[i + 2] * b[i + 2] );
    return sum;
}

// γ that makes ‖f − Σ γ df‖ smallest, by Cholesky of the products. Steps that hardly differ make them
// singular: a little is added to the diagonal, and pivots have a least value.
static void best_mixture( const mixing *m, const double *right, double *gamma )
{
    const double ridge = 1e-8, least_pivot = 1e-12, underflow = 1e-60;
    double l[TR_CAGE_HISTORY][TR_CAGE_HISTORY];
    int n = m->count;
    for ( int i = 0; i < n; ++i )
        for ( int j = 0; j <= i; ++j ) {
            double sum = m->products[i][j] * ( i == j ? 1 + ridge : 1 );
            for ( int k = 0; k < j; ++k )
                sum -= l[i][k] * l[j][k];
            double least = least_pivot * m->products[i][i] + underflow;
            l[i][j] = i == j ? sqrt( fmax( sum, least ) ) : sum / l[j][j];
        }
    for ( int i = 0; i < n; ++i ) {
        gamma[i] = right[i];
        for ( int k = 0; k < i; ++k )
            gamma[i] -= l[i][k] * gamma[k];
        gamma[i] /= l[i][i];
    }
    for ( int i = n - 1; i >= 0; --i ) {
        for ( int k = i + 1; k < n; ++k )
            gamma[i] -= l[k][i] * gamma[k];
        gamma[i] /= l[i][i];
    }
}

static void record( mixing *m, const columns *c, const float *u, const float *f, size_t size )
{
    if ( m->has_last ) {
        float *df = c->df[m->next], *dg = c->dg[m->next];
        for ( size_t i = 0; i < size; ++i ) {
            df[i] = f[i] - c->f[i];
            dg[i] = u[i] + f[i] - c->g[i];
        }
        int at = m->next;
        m->count = m->count < TR_CAGE_HISTORY ? m->count + 1 : m->count;
        m->next = ( at + 1 ) % TR_CAGE_HISTORY;
        for ( int h = 0; h < m->count; ++h )
            m->products[at][h] = m->products[h][at] = product( df, c->df[h], size );
    }
    for ( size_t i = 0; i < size; ++i ) {
        c->f[i] = f[i];
        c->g[i] = u[i] + f[i];
    }
    m->has_last = true;
}

// u ← u + step, mixed with the steps before.
static void advance( tr_cage_solver *s, mixing *m, const tr_cage_solve_def *def )
{
    size_t size = 4 * (size_t)s->free_count;
    float *u = s->u[0];
    const float *f = s->step[0];
    columns c = columns_of( s );
    double square = product( f, f, size ), right[TR_CAGE_HISTORY], gamma[TR_CAGE_HISTORY];
    if ( square > def->restart * def->restart * m->shortest )
        *m = ( mixing ){ .shortest = HUGE_VAL };
    m->shortest = fmin( m->shortest, square );
    record( m, &c, u, f, size );
    for ( size_t i = 0; i < size; ++i )
        u[i] += f[i];
    for ( int h = 0; h < m->count; ++h )
        right[h] = product( c.df[h], f, size );
    best_mixture( m, right, gamma );
    double sum = 0;
    for ( int h = 0; h < m->count; ++h )
        sum += fabs( gamma[h] );
    if ( !( sum <= def->mixture_max ) )
        *m = ( mixing ){ .shortest = m->shortest };
    for ( int h = 0; h < m->count; ++h ) {
        float part = (float)gamma[h];
        for ( size_t i = 0; i < size; ++i )
            u[i] -= part * c.dg[h][i];
    }
}

// Whether a step is shorter than the tolerance: metres, or a share of the farthest vertex's displacement
// where that is longer than a metre. Floats resolve a tenth of this.
static bool is_short( const tr_cage_solver *s, double step, double tolerance )
{
    float most = 1;
    for ( int i = 0; step > tolerance && i < s->count; ++i )
        for ( int c = 0; c < 3; ++c )
            most = fmaxf( most, fabsf( s->u[i][c] ) );
    return step <= tolerance * (double)most;
}

// Iterates until two steps in a row are shorter than the tolerance. The last step is not mixed.
static void iterate( tr_cage_solver *s, const tr_cage_solve_def *def, bool fit, tr_cage_result *result )
{
    mixing m = { .shortest = HUGE_VAL };
    bool was_short = false;
    for ( int k = 0; k < def->max_iterations; ++k ) {
        result->change = take_step( s, fit || k > 0 ? def->fit_steps : 0 );
        result->iterations++;
        bool short_now = is_short( s, result->change, def->tolerance ), rests = short_now && was_short;
        was_short = short_now;
        if ( rests || k == def->max_iterations - 1 ) {
            float *u = s->u[0], *step = s->step[0];
            for ( int i = 0; i < 4 * s->free_count; ++i )
                u[i] += step[i];
            return;
        }
        advance( s, &m, def );
    }
}

// ----------------------------------------------------------------------------------------------------- solve

static vec3 point_error( const tr_cage *cage, const tr_cage_row *row, const tr_cage_handle *handles )
{
    const tr_cage_handle *h = &handles[row->handle];
    vec3 at = tr_cage_move_weighted( cage, h->frame, row->place, row->weights );
    return v3_sub( v3_add( row->place, h->offset ), at );
}

// Shifts the targets of points between keys by their errors. False when these are small.
static bool correct_rows( const tr_cage *cage, tr_cage_solver *s, const tr_cage_handle *handles,
                          const tr_cage_solve_def *def )
{
    bool missed = false;
    for ( int r = 0; r < s->row_count; ++r ) {
        tr_cage_row *row = &s->rows[r];
        if ( row->linear || row->dropped )
            continue;
        vec3 miss = point_error( cage, row, handles );
        missed |= v3_length( miss ) > fmax( def->near, def->near_share * v3_length( row->target ) );
        row->target = v3_add( row->target, miss );
    }
    return missed;
}

static double handle_error( const tr_cage *cage, const tr_cage_handle *h, int vertices )
{
    double worst = 0;
    int begin = h->section * vertices + ( h->kind == TR_HANDLE_VERTEX ? h->vertex : 0 );
    for ( int v = begin; v < begin + ( h->kind == TR_HANDLE_VERTEX ? 1 : vertices ); ++v )
        worst = fmax( worst, v3_distance( cage->moved[v], wanted( cage, h, v ) ) );
    return worst;
}

static void measure( const tr_cage *cage, const tr_cage_handle *handles, tr_cage_result *result,
                     double *errors )
{
    const tr_cage_solver *s = cage->solver;
    result->worst = -1;
    int row = 0;
    for ( int h = 0; h < s->handle_count; ++h ) {
        double error = handles[h].kind == TR_HANDLE_POINT
                           ? v3_length( point_error( cage, &s->rows[row++], handles ) )
                           : handle_error( cage, &handles[h], cage->vertex_count );
        if ( result->worst < 0 || error > result->error ) {
            result->error = error;
            result->worst = h;
        }
        if ( errors != NULL )
            errors[h] = error;
    }
}

tr_cage_result tr_cage_solve( tr_cage *cage, const tr_cage_handle *handles, const tr_cage_solve_def *def,
                              double *errors )
{
    tr_cage_solver *s = cage->solver;
    assert( s != NULL && "tr_cage_grab comes first" );
    assert( def->fit_steps > 0 && "tr_default_cage_solve_def comes first" );
    tr_cage_result result = { 0 };
    s->upright = cage->def.upright; // the matrix does not depend on it
    if ( !def->warm ) {
        memset( s->u, 0, (size_t)s->round_count * sizeof s->u[0] );
        turn_to_rest( s );
    }
    place_held( cage, s, handles );
    for ( int r = 0; r < s->row_count; ++r )
        s->rows[r].target = handles[s->rows[r].handle].offset;
    bool fit = def->warm;
    for ( int c = 0; c <= def->corrections; ++c, fit = true ) {
        iterate( s, def, fit, &result );
        write_moved( cage, s, handles );
        if ( c == def->corrections || !correct_rows( cage, s, handles, def ) )
            break;
    }
    measure( cage, handles, &result, errors );
    return result;
}
