#include "bench/poster.h"

struct tr_poster {
    const tr_skeleton *source, *target;
    int pair_count, part_count;
    vec3 *turns;      // [pair_count * target joint_count] linearized
    vec3 *postures;   // [pair_count * source joint_count] linearized
    double *factor;   // [pair_count²] Cholesky factor of the damped Gram matrix
    vec3 *directions; // [part_count * pair_count] of the targets' chains
    mat3 moments[TR_EXEMPLAR_PARTS];
    tr_exemplar_part parts[TR_EXEMPLAR_PARTS];
    double part_damping;
};

void tr_poster_destroy( tr_poster *poster )
{
    if ( poster == NULL )
        return;
    tr_free( poster->turns );
    tr_free( poster->postures );
    tr_free( poster->factor );
    tr_free( poster->directions );
    tr_free( poster );
}

static void factor( double *a, int n )
{
    for ( int i = 0; i < n; ++i )
        for ( int j = 0; j <= i; ++j ) {
            double sum = a[i * n + j];
            for ( int k = 0; k < j; ++k )
                sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = i == j ? sqrt( sum ) : sum / a[j * n + j];
        }
}

static void solve( const double *a, int n, double *x )
{
    for ( int i = 0; i < n; ++i ) {
        for ( int k = 0; k < i; ++k )
            x[i] -= a[i * n + k] * x[k];
        x[i] /= a[i * n + i];
    }
    for ( int i = n - 1; i >= 0; --i ) {
        for ( int k = i + 1; k < n; ++k )
            x[i] -= a[k * n + i] * x[k];
        x[i] /= a[i * n + i];
    }
}

static bool counts( const tr_skeleton *source, int joint )
{
    return joint > 0 && !source->joints[joint].end_site;
}

static double product( const tr_poster *p, const vec3 *a, const vec3 *b )
{
    double sum = 0;
    for ( int j = 0; j < p->source->joint_count; ++j )
        if ( counts( p->source, j ) )
            sum += v3_dot( a[j], b[j] );
    return sum;
}

static void linearize( const tr_poster *p, const quat *local, vec3 *out )
{
    for ( int j = 0; j < p->source->joint_count; ++j )
        out[j] = q_to_vector( q_mul( q_conj( p->source->joints[j].rest ), local[j] ) );
}

static vec3 chain_direction( const tr_skeleton *skeleton, const quat *local, const int ends[2] )
{
    vec3 way = v3_zero;
    for ( int j = ends[1]; j != ends[0]; j = skeleton->joints[j].parent )
        way = q_rotate( local[skeleton->joints[j].parent], v3_add( skeleton->joints[j].offset, way ) );
    for ( int j = skeleton->joints[ends[0]].parent; j >= 0; j = skeleton->joints[j].parent )
        way = q_rotate( local[j], way );
    return v3_unit( way );
}

tr_poster *tr_poster_create( const tr_exemplar_job *job, const quat *locals, double damping,
                             double part_damping, tr_error *error )
{
    size_t n = (size_t)job->pair_count, targets = (size_t)job->target->joint_count,
           sources = (size_t)job->source->joint_count;
    tr_poster *p = tr_alloc( 1, sizeof *p );
    if ( p != NULL ) {
        p->turns = tr_alloc( n * targets, sizeof( vec3 ) );
        p->postures = tr_alloc( n * sources, sizeof( vec3 ) );
        p->factor = tr_alloc( n * n, sizeof( double ) );
        p->directions = tr_alloc( n * (size_t)job->part_count, sizeof( vec3 ) );
    }
    if ( p == NULL || p->turns == NULL || p->postures == NULL || p->factor == NULL ||
         p->directions == NULL ) {
        tr_poster_destroy( p );
        tr_error_memory( error );
        return NULL;
    }
    p->source = job->source;
    p->target = job->target;
    p->pair_count = job->pair_count;
    p->part_count = job->part_count;
    p->part_damping = part_damping;
    for ( size_t i = 0; i < n; ++i ) {
        for ( size_t j = 0; j < targets; ++j )
            p->turns[i * targets + j] =
                q_to_vector( q_mul( q_conj( job->target->joints[j].rest ), job->pairs[i].target[j] ) );
        linearize( p, locals + i * sources, p->postures + i * sources );
    }
    for ( size_t i = 0; i < n; ++i )
        for ( size_t j = 0; j < n; ++j )
            p->factor[i * n + j] = product( p, p->postures + i * sources, p->postures + j * sources ) +
                                   ( i == j ? damping * damping : 0 );
    factor( p->factor, job->pair_count );
    for ( int k = 0; k < job->part_count; ++k ) {
        p->parts[k] = job->parts[k];
        for ( size_t i = 0; i < n; ++i ) {
            vec3 d = chain_direction( job->target, job->pairs[i].target, job->parts[k].target );
            p->directions[(size_t)k * n + i] = d;
            p->moments[k] = m3_add_outer( p->moments[k], d, d );
        }
    }
    return p;
}

// (1): least squares over whole postures; (3): over directions of a part.
static void weigh( const tr_poster *p, const quat *source_local, double *weights )
{
    for ( int i = 0; i < p->pair_count; ++i )
        weights[i] = 0;
    for ( int j = 0; j < p->source->joint_count; ++j ) {
        if ( !counts( p->source, j ) )
            continue;
        vec3 v = q_to_vector( q_mul( q_conj( p->source->joints[j].rest ), source_local[j] ) );
        for ( int i = 0; i < p->pair_count; ++i )
            weights[i] += v3_dot( p->postures[(size_t)i * (size_t)p->source->joint_count + (size_t)j], v );
    }
    solve( p->factor, p->pair_count, weights );
}

static void weigh_part( const tr_poster *p, int part, tr_pose source, quat facing, double *weights )
{
    vec3 s = v3_sub( source.positions[p->parts[part].source[1]], source.positions[p->parts[part].source[0]] );
    s = q_unrotate( facing, v3_unit( s ) );
    vec3 x = m3_solve_damped( p->moments[part], p->part_damping * p->part_damping, s );
    for ( int i = 0; i < p->pair_count; ++i )
        weights[i] = v3_dot( p->directions[(size_t)part * (size_t)p->pair_count + (size_t)i], x );
}

static quat blended( const tr_poster *p, int joint, const double *weights ) // (4)
{
    vec3 sum = v3_zero;
    for ( int i = 0; i < p->pair_count; ++i )
        sum = v3_mad( sum, weights[i], p->turns[(size_t)i * (size_t)p->target->joint_count + (size_t)joint] );
    return q_mul( p->target->joints[joint].rest, q_from_vector( sum ) );
}

void tr_poster_pose( const tr_poster *p, const quat *source_local, tr_pose source, quat facing, quat *local )
{
    double weights[TR_EXEMPLAR_PAIRS];
    weigh( p, source_local, weights );
    for ( int j = 0; j < p->target->joint_count; ++j )
        local[j] = blended( p, j, weights );
    for ( int k = 0; k < p->part_count; ++k ) { // (5)
        weigh_part( p, k, source, facing, weights );
        for ( int j = p->parts[k].target[1];; j = p->target->joints[j].parent ) {
            local[j] = blended( p, j, weights );
            if ( j == p->parts[k].target[0] )
                break;
        }
    }
}
