#include "imesh_task.h"

#include <suitesparse/umfpack.h>

#include <stdlib.h>
#include <string.h>

#define HOLD         1e-3 // weight of points without neighbours
#define ACCELERATION 0.2
#define COLLISION    4.0
#define NEARNESS     1e-4 // metres: how well `fast` meets its rows
#define ROW_TERMS    4

typedef struct paper_row { // Σ over terms of coefficient · x = right, compliance 0 when hard
    int count, vertex[ROW_TERMS];
    vec3 coefficient[ROW_TERMS];
    double right, compliance;
} paper_row;

// -------------------------------------------------------------------------------------------------- the rows

static vec3 *frame_of( const imesh_paper *p, vec3 *all, int frame )
{
    return all + (size_t)frame * (size_t)p->mesh->vertex_count;
}

static paper_row *new_row( imesh_paper *p, int frame )
{
    if ( p->row_count[frame] == p->row_most )
        return NULL;
    paper_row *row = &p->rows[(size_t)frame * (size_t)p->row_most + (size_t)p->row_count[frame]++];
    *row = ( paper_row ){ 0 };
    return row;
}

static void add_term( paper_row *row, int vertex, vec3 coefficient )
{
    row->vertex[row->count] = vertex;
    row->coefficient[row->count++] = coefficient;
}

// d · (x_a − x_b) = ℓ with d the bone's direction now.
static void add_lengths( imesh_paper *p, int frame, double morph )
{
    const tr_imesh *mesh = p->mesh;
    const vec3 *x = frame_of( p, p->x, frame ), *source = frame_of( p, mesh->source, frame );
    for ( int l = 0; l < mesh->link_count; ++l ) {
        const tr_imesh_link *link = &mesh->links[l];
        if ( !link->bone )
            continue;
        double from = v3_distance( source[link->a], source[link->b] );
        double to = link->length > 0 ? link->length : link->ratio * from;
        vec3 d = v3_unit( v3_sub( x[link->a], x[link->b] ) );
        paper_row *row = new_row( p, frame );
        add_term( row, link->a, d );
        add_term( row, link->b, v3_negate( d ) );
        row->right = lerpd( from, to, morph );
    }
}

static void add_places( imesh_paper *p, int frame, double morph )
{
    const tr_imesh *mesh = p->mesh;
    for ( int r = 0; r < mesh->cast.row_count; ++r ) {
        const tr_imesh_row *asked = &mesh->cast.rows[r];
        if ( asked->frame != frame )
            continue;
        int v = mesh->joint_vertex[asked->a.body][asked->a.joint];
        vec3 target = v3_lerp( frame_of( p, mesh->source, frame )[v], asked->target, morph );
        double axes[3] = { target.x, target.y, target.z };
        for ( int k = 0; k < 3; ++k ) {
            paper_row *row = new_row( p, frame );
            add_term( row, v, v3( k == 0, k == 1, k == 2 ) );
            row->right = axes[k];
        }
    }
}

// Rows that separate overlapping capsules of the two bodies until they touch, along the line between their
// axes.
static void add_collision( imesh_paper *p, int frame, double morph, const tr_capsule *a, const tr_capsule *b )
{
    const tr_imesh *mesh = p->mesh;
    const vec3 *x = frame_of( p, p->x, frame );
    int va[2] = { mesh->joint_vertex[0][a->parent], mesh->joint_vertex[0][a->joint] };
    int vb[2] = { mesh->joint_vertex[1][b->parent], mesh->joint_vertex[1][b->joint] };
    double s, t, distance = tr_segment_distance( x[va[0]], x[va[1]], x[vb[0]], x[vb[1]], &s, &t );
    double radii =
        lerpd(
            mesh->cast.bodies[0].source_body->capsules[a - mesh->cast.bodies[0].target_body->capsules].radius,
            a->radius, morph ) +
        lerpd(
            mesh->cast.bodies[1].source_body->capsules[b - mesh->cast.bodies[1].target_body->capsules].radius,
            b->radius, morph );
    if ( distance >= radii || distance < 1e-6 )
        return;
    vec3 n = v3_unit( v3_sub( v3_lerp( x[va[0]], x[va[1]], s ), v3_lerp( x[vb[0]], x[vb[1]], t ) ) );
    paper_row *row = new_row( p, frame );
    if ( row == NULL )
        return;
    add_term( row, va[0], v3_scale( 1 - s, n ) );
    add_term( row, va[1], v3_scale( s, n ) );
    add_term( row, vb[0], v3_scale( t - 1, n ) );
    add_term( row, vb[1], v3_scale( -t, n ) );
    row->right = radii;
    row->compliance = 1 / COLLISION;
}

static void make_rows( imesh_paper *p, int frame, double morph )
{
    const tr_body *one = p->mesh->cast.bodies[0].target_body, *other = p->mesh->cast.bodies[1].target_body;
    p->row_count[frame] = 0;
    add_lengths( p, frame, morph );
    add_places( p, frame, morph );
    for ( int i = 0; i < one->capsule_count; ++i )
        for ( int k = 0; k < other->capsule_count; ++k )
            add_collision( p, frame, morph, &one->capsules[i], &other->capsules[k] );
}

// After each step a surface point is put back on its bone, with its new rotation about it.
static void restore_surfaces( imesh_paper *p, double morph )
{
    const tr_imesh *mesh = p->mesh;
    for ( int f = 0; f < mesh->frame_count; ++f )
        for ( int v = 0; v < mesh->vertex_count; ++v ) {
            const tr_imesh_vertex *vertex = &mesh->vertices[v];
            if ( vertex->kind != TR_IMESH_SURFACE )
                continue;
            vec3 *x = frame_of( p, p->x, f ), a = x[vertex->ends[0]], b = x[vertex->ends[1]];
            vec3 bone = v3_unit( v3_sub( b, a ) ), middle = v3_lerp( a, b, 0.5 ),
                 out = v3_sub( x[v], middle );
            const tr_imesh_body *body = &mesh->cast.bodies[vertex->owner];
            double radius = lerpd( body->source_body->capsules[vertex->part].radius,
                                   body->target_body->capsules[vertex->part].radius, morph );
            out = v3_mad( out, -v3_dot( out, bone ), bone );
            x[v] = v3_mad( middle, radius, v3_unit_or( out, v3_perpendicular( bone ) ) );
        }
}

// ------------------------------------------------------------------------------------------------ the energy

// Mᵀ M + HOLD of a frame, dense.
static void frame_matrix( const imesh_paper *p, int frame, double *block )
{
    const tr_imesh *mesh = p->mesh;
    const tr_imesh_web *web = &mesh->webs[frame];
    int n = mesh->vertex_count;
    memset( block, 0, (size_t)n * (size_t)n * sizeof( double ) );
    for ( int v = 0; v < n; ++v ) {
        int count = web->start[v + 1] - web->start[v];
        block[v * n + v] += HOLD;
        for ( int a = count == 0 ? 1 : 0; a <= count; ++a )
            for ( int b = 0; count > 0 && b <= count; ++b ) {
                int i = a == 0 ? v : web->neighbours[web->start[v] + a - 1];
                int k = b == 0 ? v : web->neighbours[web->start[v] + b - 1];
                block[i * n + k] += ( a == 0 ? 1 : -web->weights[web->start[v] + a - 1] ) *
                                    ( b == 0 ? 1 : -web->weights[web->start[v] + b - 1] );
            }
    }
}

static double acceleration( const imesh_paper *p, int frame, int ahead )
{
    static const double stencil[3] = { 1, -2, 1 };
    double sum = 0;
    for ( int c = 1; c + 1 < p->mesh->frame_count; ++c ) {
        int i = frame - c + 1, k = i + ahead;
        if ( i >= 0 && i < 3 && k < 3 )
            sum += ACCELERATION * stencil[i] * stencil[k];
    }
    return sum;
}

// The right-hand side in displacements from the source, of its accelerations: −0.2 Aᵀ A x̄.
static vec3 right_side( const imesh_paper *p, int frame, int vertex )
{
    vec3 sum = v3_zero;
    int last = p->mesh->frame_count - 1;
    for ( int other = frame - 2; other <= frame + 2; ++other )
        if ( other >= 0 && other <= last ) {
            double c = acceleration( p, other < frame ? other : frame, abs( other - frame ) );
            sum = v3_mad( sum, -c, frame_of( p, p->mesh->source, other )[vertex] );
        }
    return sum;
}

// The right-hand side of a row in displacements.
static double row_right( const imesh_paper *p, int frame, const paper_row *row )
{
    const vec3 *source = frame_of( p, p->mesh->source, frame );
    double right = row->right;
    for ( int t = 0; t < row->count; ++t )
        right -= v3_dot( row->coefficient[t], source[row->vertex[t]] );
    return right;
}

bool imesh_paper_build( imesh_paper *out, const tr_imesh *mesh, bool fast, tr_error *error )
{
    *out = ( imesh_paper ){ .mesh = mesh, .row_most = mesh->link_count + 32 };
    size_t frames = (size_t)mesh->frame_count, n = (size_t)mesh->vertex_count, rows = (size_t)out->row_most;
    out->rows = tr_alloc( frames * rows, sizeof( paper_row ) );
    out->row_count = tr_alloc( frames, sizeof( int ) );
    out->x = tr_alloc( frames * n, sizeof( vec3 ) );
    if ( out->rows == NULL || out->row_count == NULL || out->x == NULL )
        return tr_error_memory( error );
    if ( !fast )
        return true;
    double *block = tr_alloc( n * n, sizeof( double ) );
    bool ok = block != NULL && tr_band_start( &out->band, mesh->frame_count, mesh->vertex_count, error );
    for ( int f = 0; ok && f < mesh->frame_count; ++f ) {
        frame_matrix( out, f, block );
        for ( size_t i = 0; i < n; ++i )
            block[i * n + i] += acceleration( out, f, 0 );
        ok = tr_band_add( &out->band, block, acceleration( out, f, 1 ), acceleration( out, f, 2 ) );
    }
    tr_free( block );
    out->memory = ok ? tr_alloc( tr_band_floats( &out->band ), sizeof( float ) ) : NULL;
    out->plain = ok ? tr_alloc( tr_band_floats( &out->band ), sizeof( float ) ) : NULL;
    out->lists = tr_alloc( 6 * frames * rows, sizeof( double ) );
    out->factors = tr_alloc( frames * rows * rows, sizeof( double ) );
    return ( ok && out->memory != NULL && out->plain != NULL && out->lists != NULL &&
             out->factors != NULL ) ||
           tr_error_memory( error );
}

void imesh_paper_free( imesh_paper *paper )
{
    tr_free( paper->rows );
    tr_free( paper->row_count );
    tr_free( paper->x );
    tr_band_free( &paper->band );
    tr_free( paper->memory );
    tr_free( paper->plain );
    tr_free( paper->lists );
    tr_free( paper->factors );
    *paper = ( imesh_paper ){ 0 };
}

// -------------------------------------------------------------------------------------------------- literal

typedef struct triplets {
    long *rows, *columns, *start, *index;
    double *values, *packed, *right, *answer;
    long count, size;
} triplets;

static void add( triplets *t, long row, long column, double value )
{
    t->rows[t->count] = row;
    t->columns[t->count] = column;
    t->values[t->count++] = value;
}

static bool triplets_alloc( triplets *t, const imesh_paper *p )
{
    size_t frames = (size_t)p->mesh->frame_count, n = (size_t)p->mesh->vertex_count;
    size_t room = frames * ( 3 * n * n + 15 * n + 2 * 3 * ROW_TERMS * (size_t)p->row_most ),
           size = frames * ( 3 * n + (size_t)p->row_most );
    *t = ( triplets ){ .rows = tr_alloc( room, sizeof( long ) ),
                       .columns = tr_alloc( room, sizeof( long ) ),
                       .start = tr_alloc( size + 1, sizeof( long ) ),
                       .index = tr_alloc( room, sizeof( long ) ),
                       .values = tr_alloc( room, sizeof( double ) ),
                       .packed = tr_alloc( room, sizeof( double ) ),
                       .right = tr_alloc( size, sizeof( double ) ),
                       .answer = tr_alloc( size, sizeof( double ) ) };
    return t->rows != NULL && t->columns != NULL && t->start != NULL && t->index != NULL &&
           t->values != NULL && t->packed != NULL && t->right != NULL && t->answer != NULL;
}

static void triplets_free( triplets *t )
{
    void *all[] = { t->rows, t->columns, t->start, t->index, t->values, t->packed, t->right, t->answer };
    for ( size_t i = 0; i < sizeof all / sizeof all[0]; ++i )
        tr_free( all[i] );
}

static long unknown( const imesh_paper *p, int frame, int vertex, int axis )
{
    return 3 * ( (long)frame * p->mesh->vertex_count + vertex ) + axis;
}

static void add_energy( triplets *t, const imesh_paper *p, int frame, double *block )
{
    int n = p->mesh->vertex_count;
    frame_matrix( p, frame, block );
    for ( int a = 0; a < n; ++a ) {
        vec3 right = right_side( p, frame, a );
        double rights[3] = { right.x, right.y, right.z };
        for ( int k = 0; k < 3; ++k ) {
            t->right[unknown( p, frame, a, k )] = rights[k];
            for ( int b = 0; b < n; ++b )
                if ( block[a * n + b] != 0 )
                    add( t, unknown( p, frame, a, k ), unknown( p, frame, b, k ), block[a * n + b] );
            add( t, unknown( p, frame, a, k ), unknown( p, frame, a, k ), acceleration( p, frame, 0 ) );
            for ( int ahead = 1; ahead <= 2 && frame + ahead < p->mesh->frame_count; ++ahead ) {
                long i = unknown( p, frame, a, k ), j = unknown( p, frame + ahead, a, k );
                add( t, i, j, acceleration( p, frame, ahead ) );
                add( t, j, i, acceleration( p, frame, ahead ) );
            }
        }
    }
}

static void add_rows( triplets *t, const imesh_paper *p, int frame )
{
    for ( int r = 0; r < p->row_count[frame]; ++r ) {
        const paper_row *row = &p->rows[(size_t)frame * (size_t)p->row_most + (size_t)r];
        for ( int i = 0; i < row->count; ++i ) {
            double c[3] = { row->coefficient[i].x, row->coefficient[i].y, row->coefficient[i].z };
            for ( int k = 0; k < 3; ++k ) {
                add( t, t->size, unknown( p, frame, row->vertex[i], k ), c[k] );
                add( t, unknown( p, frame, row->vertex[i], k ), t->size, c[k] );
            }
        }
        if ( row->compliance > 0 ) // soft: the multiplier is the weight times the residual
            add( t, t->size, t->size, -row->compliance );
        t->right[t->size++] = row_right( p, frame, row );
    }
}

static bool umfpack_solve( triplets *t )
{
    void *symbolic = NULL, *numeric = NULL;
    double control[UMFPACK_CONTROL];
    umfpack_dl_defaults( control );
    control[UMFPACK_IRSTEP] = 0;
    bool ok = umfpack_dl_triplet_to_col( t->size, t->size, t->count, t->rows, t->columns, t->values, t->start,
                                         t->index, t->packed, NULL ) == UMFPACK_OK &&
              umfpack_dl_symbolic( t->size, t->size, t->start, t->index, t->packed, &symbolic, control,
                                   NULL ) == UMFPACK_OK &&
              umfpack_dl_numeric( t->start, t->index, t->packed, symbolic, &numeric, control, NULL ) ==
                  UMFPACK_OK &&
              umfpack_dl_solve( UMFPACK_A, t->start, t->index, t->packed, t->answer, t->right, numeric,
                                control, NULL ) == UMFPACK_OK;
    umfpack_dl_free_symbolic( &symbolic );
    umfpack_dl_free_numeric( &numeric );
    return ok;
}

static void start_over( imesh_paper *p )
{
    memcpy( p->x, p->mesh->source,
            (size_t)p->mesh->frame_count * (size_t)p->mesh->vertex_count * sizeof( vec3 ) );
}

bool imesh_paper_literal( imesh_paper *p, tr_error *error )
{
    triplets t;
    size_t n = (size_t)p->mesh->vertex_count;
    double *block = tr_alloc( n * n, sizeof( double ) );
    bool ok = triplets_alloc( &t, p ) && block != NULL;
    start_over( p );
    for ( int step = 1; ok && step <= IMESH_STEPS; ++step ) {
        t.count = 0;
        t.size = 3 * (long)p->mesh->frame_count * p->mesh->vertex_count;
        for ( int f = 0; f < p->mesh->frame_count; ++f )
            add_energy( &t, p, f, block );
        for ( int f = 0; f < p->mesh->frame_count; ++f ) {
            make_rows( p, f, (double)step / IMESH_STEPS );
            add_rows( &t, p, f );
        }
        ok = umfpack_solve( &t );
        for ( int i = 0; ok && i < p->mesh->frame_count * p->mesh->vertex_count; ++i )
            p->x[i] =
                v3_add( p->mesh->source[i], v3( t.answer[3 * i], t.answer[3 * i + 1], t.answer[3 * i + 2] ) );
        restore_surfaces( p, (double)step / IMESH_STEPS );
    }
    triplets_free( &t );
    tr_free( block );
    return ok || tr_error_memory( error );
}

// ----------------------------------------------------------------------------------------------------- fast
// With x = K⁻¹ (b − Cᵀ λ) the rows say (C K⁻¹ Cᵀ + compliance) λ = C K⁻¹ b − h. Conjugate gradients on λ,
// warm from the last step; preconditioned frame by frame with the band's own blocks in place of K⁻¹.

static float *solve_for_rows( imesh_paper *p, const double *lambda, double sign )
{
    int stride = p->band.stride;
    float *u = tr_band_align( p->memory );
    memset( u, 0, (size_t)p->mesh->frame_count * 3 * (size_t)stride * sizeof( float ) );
    for ( int f = 0; f < p->mesh->frame_count; ++f )
        for ( int r = 0; r < p->row_count[f]; ++r ) {
            size_t at = (size_t)f * (size_t)p->row_most + (size_t)r;
            const paper_row *row = &p->rows[at];
            float *right = u + (size_t)f * 3 * (size_t)stride;
            for ( int t = 0; t < row->count; ++t ) {
                vec3 c = v3_scale( sign * lambda[at], row->coefficient[t] );
                right[row->vertex[t]] += (float)c.x;
                right[stride + row->vertex[t]] += (float)c.y;
                right[2 * stride + row->vertex[t]] += (float)c.z;
            }
        }
    tr_band_solve( &p->band, tr_lanes_best(), u );
    p->solves++;
    return u;
}

static void row_values( const imesh_paper *p, const float *u, double *out )
{
    int stride = p->band.stride;
    for ( int f = 0; f < p->mesh->frame_count; ++f )
        for ( int r = 0; r < p->row_count[f]; ++r ) {
            size_t at = (size_t)f * (size_t)p->row_most + (size_t)r;
            const paper_row *row = &p->rows[at];
            const float *x = u + (size_t)f * 3 * (size_t)stride;
            double sum = 0;
            for ( int t = 0; t < row->count; ++t ) {
                int v = row->vertex[t];
                sum += v3_dot( row->coefficient[t], v3( x[v], x[stride + v], x[2 * stride + v] ) );
            }
            out[at] = sum;
        }
}

static void factor_frame( imesh_paper *p, int frame )
{
    size_t most = (size_t)p->row_most;
    double *l = p->factors + (size_t)frame * most * most;
    const paper_row *rows = p->rows + (size_t)frame * most;
    for ( int a = 0; a < p->row_count[frame]; ++a )
        for ( int b = 0; b <= a; ++b ) {
            double sum = a == b ? rows[a].compliance + 1e-12 : 0;
            for ( int i = 0; i < rows[a].count; ++i )
                for ( int k = 0; k < rows[b].count; ++k )
                    sum += v3_dot( rows[a].coefficient[i], rows[b].coefficient[k] ) *
                           tr_band_flexibility( &p->band, frame, rows[a].vertex[i], rows[b].vertex[k] );
            for ( int k = 0; k < b; ++k )
                sum -= l[(size_t)a * most + (size_t)k] * l[(size_t)b * most + (size_t)k];
            l[(size_t)a * most + (size_t)b] =
                a == b ? 1 / sqrt( fmax( sum, 1e-12 ) ) : sum * l[(size_t)b * most + (size_t)b];
        }
}

static void precondition( const imesh_paper *p, const double *r, double *z )
{
    size_t most = (size_t)p->row_most;
    for ( int f = 0; f < p->mesh->frame_count; ++f ) {
        const double *l = p->factors + (size_t)f * most * most, *from = r + (size_t)f * most;
        double *to = z + (size_t)f * most;
        for ( int a = 0; a < p->row_count[f]; ++a ) {
            double sum = from[a];
            for ( int k = 0; k < a; ++k )
                sum -= l[(size_t)a * most + (size_t)k] * to[k];
            to[a] = sum * l[(size_t)a * most + (size_t)a];
        }
        for ( int a = p->row_count[f] - 1; a >= 0; --a ) {
            to[a] *= l[(size_t)a * most + (size_t)a];
            for ( int k = 0; k < a; ++k )
                to[k] -= l[(size_t)a * most + (size_t)k] * to[a];
        }
    }
}

static double dot( const imesh_paper *p, const double *a, const double *b )
{
    double sum = 0;
    for ( int f = 0; f < p->mesh->frame_count; ++f )
        for ( int r = 0; r < p->row_count[f]; ++r )
            sum += a[(size_t)f * (size_t)p->row_most + (size_t)r] *
                   b[(size_t)f * (size_t)p->row_most + (size_t)r];
    return sum;
}

static double largest( const imesh_paper *p, const double *a )
{
    double most = 0;
    for ( int f = 0; f < p->mesh->frame_count; ++f )
        for ( int r = 0; r < p->row_count[f]; ++r )
            most = fmax( most, fabs( a[(size_t)f * (size_t)p->row_most + (size_t)r] ) );
    return most;
}

// y ← y + s x
static void add_list( const imesh_paper *p, double *y, double s, const double *x )
{
    for ( int i = 0; i < p->mesh->frame_count * p->row_most; ++i )
        y[i] += s * x[i];
}

// Residual with these multipliers: C K⁻¹ (b − Cᵀ λ) − h − compliance λ. Leaves K⁻¹ Cᵀ λ behind.
static float *residual( imesh_paper *p, const double *lambda, double *r )
{
    float *u = solve_for_rows( p, lambda, 1 );
    const float *plain = tr_band_align( p->plain );
    int width = 3 * p->band.stride * p->mesh->frame_count;
    for ( int i = 0; i < width; ++i )
        u[i] = plain[i] - u[i];
    row_values( p, u, r );
    for ( int f = 0; f < p->mesh->frame_count; ++f )
        for ( int k = 0; k < p->row_count[f]; ++k ) {
            size_t at = (size_t)f * (size_t)p->row_most + (size_t)k;
            r[at] -= row_right( p, f, &p->rows[at] ) + p->rows[at].compliance * lambda[at];
        }
    return u;
}

static void solve_rows( imesh_paper *p, double *lambda )
{
    size_t all = (size_t)p->mesh->frame_count * (size_t)p->row_most;
    double *r = p->lists + all, *z = r + all, *d = z + all, *q = d + all, before = 0;
    memset( r, 0, 4 * all * sizeof( double ) );
    residual( p, lambda, r );
    for ( int i = 0; i < 200 && largest( p, r ) > NEARNESS; ++i ) {
        precondition( p, r, z );
        double rz = dot( p, r, z ), beta = i > 0 ? rz / before : 0;
        before = rz;
        for ( size_t k = 0; k < all; ++k )
            d[k] = z[k] + beta * d[k];
        row_values( p, solve_for_rows( p, d, 1 ), q );
        for ( size_t k = 0; k < all; ++k )
            q[k] += p->rows[k].compliance * d[k];
        double step = rz / dot( p, d, q );
        add_list( p, lambda, step, d );
        add_list( p, r, -step, q );
    }
}

static void solve_plain( imesh_paper *p )
{
    int stride = p->band.stride;
    float *u = tr_band_align( p->plain );
    memset( u, 0, (size_t)p->mesh->frame_count * 3 * (size_t)stride * sizeof( float ) );
    for ( int f = 0; f < p->mesh->frame_count; ++f )
        for ( int v = 0; v < p->mesh->vertex_count; ++v ) {
            vec3 right = right_side( p, f, v );
            float *at = u + (size_t)f * 3 * (size_t)stride + v;
            at[0] = (float)right.x, at[stride] = (float)right.y, at[2 * stride] = (float)right.z;
        }
    tr_band_solve( &p->band, tr_lanes_best(), u );
}

void imesh_paper_fast( imesh_paper *p )
{
    const tr_imesh *mesh = p->mesh;
    int stride = p->band.stride;
    size_t all = (size_t)mesh->frame_count * (size_t)p->row_most;
    double *lambda = p->lists;
    start_over( p );
    solve_plain( p );
    memset( lambda, 0, all * sizeof( double ) );
    p->solves = 0;
    for ( int step = 1; step <= IMESH_STEPS; ++step ) {
        for ( int f = 0; f < mesh->frame_count; ++f ) {
            make_rows( p, f, (double)step / IMESH_STEPS );
            factor_frame( p, f );
            for ( int r = p->row_count[f]; r < p->row_most; ++r )
                lambda[(size_t)f * (size_t)p->row_most + (size_t)r] = 0;
        }
        solve_rows( p, lambda );
        const float *u = residual( p, lambda, p->lists + all );
        for ( int f = 0; f < mesh->frame_count; ++f )
            for ( int v = 0; v < mesh->vertex_count; ++v ) {
                const float *at = u + (size_t)f * 3 * (size_t)stride + v;
                frame_of( p, p->x, f )[v] =
                    v3_add( frame_of( p, mesh->source, f )[v], v3( at[0], at[stride], at[2 * stride] ) );
            }
        restore_surfaces( p, (double)step / IMESH_STEPS );
    }
}
