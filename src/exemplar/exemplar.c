// Building from pairs, blending, motion over time, leaving pairs out.
#include "exemplar/private.h"
#include "solve/solve.h"

#include <stdlib.h>
#include <string.h>

tr_exemplar_def tr_default_exemplar_def( void )
{
    return ( tr_exemplar_def ){
        .linear = 5.0,
        .reach = 3.0,
        .reaches = 5,
        .look = 0.5,
        .part_body = 0.3,
        .most_turn = 1.5,
        .smooth = 0.03,
        .lead_back = 0.1,
        .same = 0.02,
        .same_turn = 0.5 * TR_DEGREE,
        .turn_joints = 4,
        .turn_passes = 3,
        .suggest_frames = 240,
        .suggest_passes = 10,
        .suggest_gain = 1.001,
    };
}

// ------------------------------------------------------------------------------------------------ checks

static bool check_poses( const tr_exemplar_job *job, tr_error *error )
{
    for ( int i = 0; i < job->pair_count; ++i ) {
        const tr_exemplar_pair *pair = &job->pairs[i];
        bool finite = true;
        for ( int j = 0; j < job->source->joint_count; ++j )
            finite =
                finite && q_finite( pair->source.rotations[j] ) && v3_finite( pair->source.positions[j] );
        for ( int j = 0; j < job->target->joint_count; ++j )
            finite = finite && q_is_unit( pair->target[j] );
        if ( !finite )
            return tr_error_set( error, "example \"%s\" has a pose with numbers that are not finite",
                                 pair->name );
    }
    return true;
}

static double square_distance( const double *a, const double *b, int count )
{
    double sum = 0;
    for ( int i = 0; i < count; ++i )
        sum += ( a[i] - b[i] ) * ( a[i] - b[i] );
    return sum;
}

// Product of a and b about m.
static double product( const double *a, const double *b, const double *m, int count )
{
    double sum = 0;
    for ( int i = 0; i < count; ++i )
        sum += ( a[i] - m[i] ) * ( b[i] - m[i] );
    return sum;
}

static bool targets_equal( const tr_exemplar_job *job, int a, int b, double same )
{
    for ( int j = 0; j < job->target->joint_count; ++j )
        if ( q_angle( job->pairs[a].target[j], job->pairs[b].target[j] ) > same )
            return false;
    return true;
}

// Sources of two pairs must differ: otherwise weights cannot separate them.
static bool check_apart( const tr_exemplar *e, const tr_exemplar_job *job, tr_error *error )
{
    int count = e->features.count;
    for ( int b = 1; b < job->pair_count; ++b )
        for ( int a = 0; a < b; ++a ) {
            double d = square_distance( e->values + (size_t)a * (size_t)count,
                                        e->values + (size_t)b * (size_t)count, count );
            if ( d >= e->def.same * e->def.same )
                continue;
            const char *first = job->pairs[a].name, *second = job->pairs[b].name;
            return targets_equal( job, a, b, e->def.same_turn )
                       ? tr_error_set( error, "examples \"%s\" and \"%s\" are the same pair; remove one",
                                       first, second )
                       : tr_error_set( error,
                                       "examples \"%s\" and \"%s\" have the same pose of the source and "
                                       "different poses of the target; remove one",
                                       first, second );
        }
    return true;
}

// ----------------------------------------------------------------------------------------------- building

// The rotation with the least sum of squared angles to those of the pairs.
static quat mean_rotation( const tr_exemplar *e, int joint )
{
    size_t joints = (size_t)e->target->joint_count;
    quat mean = e->targets[joint];
    const int most = 30;       // steps: two or three are enough where rotations are near each other
    const double done = 1e-12; // radians
    for ( int step = 0; step < most; ++step ) {
        vec3 sum = v3_zero;
        for ( int i = 0; i < e->pair_count; ++i )
            sum =
                v3_add( sum, q_to_vector( q_mul( q_conj( mean ), e->targets[(size_t)i * joints + joint] ) ) );
        vec3 turn = v3_scale( 1.0 / e->pair_count, sum );
        mean = q_unit( q_mul( mean, q_from_vector( turn ) ) );
        if ( v3_length( turn ) < done )
            break;
    }
    return mean;
}

// Rotation vectors are taken from the mean, not from the rest pose, so nothing wraps.
static void build_turns( tr_exemplar *e )
{
    size_t joints = (size_t)e->target->joint_count;
    for ( int j = 0; j < e->target->joint_count; ++j ) {
        e->centre[j] = mean_rotation( e, j );
        for ( int i = 0; i < e->pair_count; ++i ) {
            size_t at = (size_t)i * joints + (size_t)j;
            e->turns[at] = q_to_vector( q_mul( q_conj( e->centre[j] ), e->targets[at] ) );
            e->ranges[j] = fmax( e->ranges[j], v3_length( e->turns[at] ) );
        }
    }
}

static void build_mean( double *mean, const double *values, int count, int pairs )
{
    for ( int k = 0; k < count; ++k ) {
        mean[k] = 0;
        for ( int i = 0; i < pairs; ++i )
            mean[k] += values[(size_t)i * (size_t)count + (size_t)k] / pairs;
    }
}

// The leave-one-out errors of the pairs: with y the turns of a joint and P as in
// tr_exemplar_left_out, ( P y )_i / P_ii. Sum of squares over the joints of a part (-1: the whole body).
static double missed( const tr_exemplar *e, int part, const tr_kriging *k )
{
    int n = e->pair_count;
    double sum = 0;
    for ( int i = 0; i < n; ++i ) {
        double row[TR_EXEMPLAR_PAIRS];
        for ( int q = 0; q < n; ++q )
            row[q] = k->inverse[i * n + q] - k->inverse_sum[i] * k->inverse_sum[q] / k->one;
        for ( int j = 0; j < e->target->joint_count; ++j ) {
            vec3 miss = v3_zero;
            if ( e->part_of[j] != part )
                continue;
            for ( int q = 0; q < n; ++q )
                miss =
                    v3_mad( miss, row[q], e->turns[(size_t)q * (size_t)e->target->joint_count + (size_t)j] );
            sum += v3_dot( miss, miss ) / ( row[i] * row[i] );
        }
    }
    return sum;
}

// Some targets follow the source in straight lines, others bend: the pairs show it. Of some kernels the one
// is taken with which the others foretell each pair best.
static bool choose_kriging( const tr_exemplar *e, int part, const double *distances, const double *products,
                            tr_kriging *out, tr_error *error )
{
    const tr_exemplar_def *def = &e->def;
    double best = INFINITY;
    bool enough = true;
    *out = ( tr_kriging ){ 0 };
    for ( int i = 0; enough && i < def->reaches; ++i ) {
        tr_kriging next;
        tr_error why;
        bool built = tr_kriging_build( &next, e->pair_count, distances, products, def->linear,
                                       ldexp( def->reach, i ), &why );
        double miss = built ? missed( e, part, &next ) : INFINITY; // poses are on a line, but for rounding
        enough = next.inverse != NULL && next.inverse_sum != NULL;
        if ( miss < best || ( built && out->count == 0 ) ) {
            tr_kriging swap = *out;
            *out = next;
            next = swap;
            best = miss;
        }
        tr_kriging_free( &next );
    }
    if ( !enough )
        return tr_error_memory( error );
    return out->count > 0 ||
           tr_error_set( error, "the poses of the source in the examples are too much alike" );
}

// The estimate for the whole body (part -1), or for a part with its own values [4]. doubt: may be NULL.
static bool build_kriging( const tr_exemplar *e, int index, tr_kriging *out, tr_kriging *doubt,
                           tr_error *error )
{
    const tr_chain_part *part = index >= 0 ? &e->parts[index] : NULL;
    int n = e->pair_count, count = e->features.count;
    double *distances = tr_alloc( (size_t)( n * n ), sizeof( double ) ),
           *products = tr_alloc( (size_t)( n * n ), sizeof( double ) );
    bool ok = ( distances != NULL && products != NULL ) || tr_error_memory( error );
    double share = part != NULL ? e->def.part_body * e->def.part_body : 1.0;
    for ( int i = 0; ok && i < n * n; ++i ) {
        const double *a = e->values + (size_t)( i / n ) * (size_t)count,
                     *b = e->values + (size_t)( i % n ) * (size_t)count;
        distances[i] = share * square_distance( a, b, count );
        products[i] = share * product( a, b, e->mean, count );
        if ( part != NULL ) {
            const double *p = part->values + 4 * (size_t)( i / n ), *q = part->values + 4 * (size_t)( i % n );
            distances[i] += square_distance( p, q, 4 );
            products[i] += product( p, q, part->mean, 4 );
        }
    }
    ok = ok && choose_kriging( e, index, distances, products, out, error );
    if ( doubt != NULL )
        ok = ok && tr_kriging_build( doubt, n, distances, products, e->def.linear, e->def.reach, error );
    tr_free( distances );
    tr_free( products );
    return ok;
}

static bool allocate( tr_exemplar *e )
{
    size_t pairs = (size_t)e->pair_count, joints = (size_t)e->target->joint_count,
           count = (size_t)e->features.count;
    e->values = tr_alloc( pairs * count, sizeof( double ) );
    e->mean = tr_alloc( count, sizeof( double ) );
    e->targets = tr_alloc( pairs * joints, sizeof( quat ) );
    e->centre = tr_alloc( joints, sizeof( quat ) );
    e->turns = tr_alloc( pairs * joints, sizeof( vec3 ) );
    e->ranges = tr_alloc( joints, sizeof( double ) );
    e->part_of = tr_alloc( joints, sizeof( int ) );
    return e->values != NULL && e->mean != NULL && e->targets != NULL && e->centre != NULL &&
           e->turns != NULL && e->ranges != NULL && e->part_of != NULL;
}

static bool build( tr_exemplar *e, const tr_exemplar_job *job, tr_error *error )
{
    size_t joints = (size_t)e->target->joint_count;
    if ( !allocate( e ) )
        return tr_error_memory( error );
    for ( int i = 0; i < e->pair_count; ++i ) {
        tr_features_of( &e->features, job->pairs[i].source,
                        e->values + (size_t)i * (size_t)e->features.count );
        memcpy( e->targets + (size_t)i * joints, job->pairs[i].target, joints * sizeof( quat ) );
    }
    for ( size_t j = 0; j < joints; ++j )
        e->part_of[j] = -1;
    if ( !check_apart( e, job, error ) )
        return false;
    build_mean( e->mean, e->values, e->features.count, e->pair_count );
    build_turns( e );
    for ( int p = 0; p < e->part_count; ++p )
        if ( !tr_part_start( e, p, job, error ) )
            return false;
    for ( int p = 0; p < e->part_count; ++p ) {
        tr_chain_part *part = &e->parts[p];
        if ( !tr_part_build( e, p, job, error ) )
            return false;
        build_mean( part->mean, part->values, 4, e->pair_count );
        if ( !build_kriging( e, p, &part->kriging, NULL, error ) )
            return false;
    }
    return build_kriging( e, -1, &e->kriging, &e->doubt, error );
}

tr_exemplar *tr_exemplar_create( const tr_exemplar_def *def, const tr_exemplar_job *job, tr_error *error )
{
    if ( job->pair_count < 2 ) {
        tr_error_set( error, "%s; at least two are needed",
                      job->pair_count == 1 ? "there is one example" : "there are no examples" );
        return NULL;
    }
    if ( job->pair_count > TR_EXEMPLAR_PAIRS || job->part_count > TR_EXEMPLAR_PARTS ) {
        bool pairs = job->pair_count > TR_EXEMPLAR_PAIRS;
        tr_error_set( error, "there are %d %s; at most %d are possible",
                      pairs ? job->pair_count : job->part_count, pairs ? "examples" : "parts",
                      pairs ? TR_EXEMPLAR_PAIRS : TR_EXEMPLAR_PARTS );
        return NULL;
    }
    if ( !check_poses( job, error ) )
        return NULL;
    tr_exemplar *e = tr_alloc( 1, sizeof *e );
    if ( e == NULL ) {
        tr_error_memory( error );
        return NULL;
    }
    e->def = *def;
    e->source = job->source;
    e->target = job->target;
    e->pair_count = job->pair_count;
    e->part_count = job->part_count;
    tr_features_build( &e->features, job->source, def->look );
    if ( build( e, job, error ) )
        return e;
    tr_exemplar_destroy( e );
    return NULL;
}

void tr_exemplar_destroy( tr_exemplar *exemplar )
{
    if ( exemplar == NULL )
        return;
    for ( int p = 0; p < exemplar->part_count; ++p )
        tr_part_free( &exemplar->parts[p] );
    tr_kriging_free( &exemplar->kriging );
    tr_kriging_free( &exemplar->doubt );
    tr_free( exemplar->values );
    tr_free( exemplar->mean );
    tr_free( exemplar->targets );
    tr_free( exemplar->centre );
    tr_free( exemplar->turns );
    tr_free( exemplar->ranges );
    tr_free( exemplar->part_of );
    tr_free( exemplar );
}

// ----------------------------------------------------------------------------------------------- posing

quat tr_exemplar_facing( const tr_exemplar *exemplar, tr_pose source )
{
    return tr_features_facing( &exemplar->features, source );
}

void tr_sight_build( const tr_exemplar *e, tr_pose source, tr_sight *out )
{
    double values[TR_FEATURES];
    int count = e->features.count;
    tr_features_of( &e->features, source, values );
    out->facing = tr_features_facing( &e->features, source );
    out->square = product( values, values, e->mean, count );
    for ( int i = 0; i < e->pair_count; ++i ) {
        const double *pair = e->values + (size_t)i * (size_t)count;
        out->distances[i] = square_distance( values, pair, count );
        out->products[i] = product( values, pair, e->mean, count );
    }
}

void tr_sight_weigh( const tr_exemplar *e, const tr_sight *sight, tr_pose source, int part, double *weights )
{
    double kernels[TR_EXEMPLAR_PAIRS], values[4] = { 0 }, own = sight->square, share = 1;
    const tr_chain_part *chain = part >= 0 ? &e->parts[part] : NULL;
    const tr_kriging *kriging = chain != NULL ? &chain->kriging : &e->kriging;
    if ( chain != NULL ) {
        tr_part_values( chain, source, sight->facing, values );
        share = e->def.part_body * e->def.part_body;
        own = share * own + product( values, values, chain->mean, 4 );
    }
    for ( int i = 0; i < e->pair_count; ++i ) {
        double distance = share * sight->distances[i], with = share * sight->products[i];
        if ( chain != NULL ) {
            distance += square_distance( values, chain->values + 4 * (size_t)i, 4 );
            with += product( values, chain->values + 4 * (size_t)i, chain->mean, 4 );
        }
        kernels[i] = tr_kernel( kriging, distance, with );
    }
    tr_kriging_weigh( kriging, kernels, tr_kernel( kriging, 0, own ), weights );
}

// The variance that is left for the pose; that of poses like no example is 1, the kernel's own.
static double unlike_examples( const tr_exemplar *e, const tr_sight *sight )
{
    double kernels[TR_EXEMPLAR_PAIRS], weights[TR_EXEMPLAR_PAIRS];
    for ( int i = 0; i < e->pair_count; ++i )
        kernels[i] = tr_kernel( &e->doubt, sight->distances[i], sight->products[i] );
    return fmin( tr_kriging_weigh( &e->doubt, kernels, tr_kernel( &e->doubt, 0, sight->square ), weights ),
                 1.0 );
}

void tr_exemplar_weights( const tr_exemplar *exemplar, tr_pose source, int part, double *weights )
{
    tr_sight sight;
    tr_sight_build( exemplar, source, &sight );
    tr_sight_weigh( exemplar, &sight, source, part, weights );
}

// Beyond the examples a turn goes on, but not far. Weights themselves are no measure of that: those of two
// pairs that are nearly alike may be large and opposite, and do nothing.
static vec3 bounded( vec3 turn, double range, double most )
{
    double size = v3_length( turn ), knee = 0.5 * ( 1.0 + most );
    if ( !( size > knee * range ) || range == 0 )
        return turn;
    double over = ( size / range - knee ) / ( most - knee );
    return v3_scale( range * ( knee + ( most - knee ) * tanh( over ) ) / size, turn );
}

static quat blended( const tr_exemplar *e, int joint, const double *weights, int without )
{
    size_t joints = (size_t)e->target->joint_count;
    vec3 turn = v3_zero;
    for ( int i = 0, w = 0; i < e->pair_count; ++i )
        if ( i != without )
            turn = v3_mad( turn, weights[w++], e->turns[(size_t)i * joints + (size_t)joint] );
    turn = bounded( turn, e->ranges[joint], e->def.most_turn );
    return q_mul( e->centre[joint], q_from_vector( turn ) );
}

void tr_exemplar_blend( const tr_exemplar *e, const tr_sight *sight, tr_pose source, const double *weights,
                        quat *local )
{
    for ( int j = 0; j < e->target->joint_count; ++j )
        local[j] = blended( e, j, weights + (size_t)( e->part_of[j] + 1 ) * (size_t)e->pair_count, -1 );
    for ( int p = 0; p < e->part_count; ++p ) {
        double values[4];
        tr_part_values( &e->parts[p], source, sight->facing, values );
        tr_part_turn( e, p, values, weights + (size_t)( p + 1 ) * (size_t)e->pair_count, local );
    }
}

// Weights of the whole body and then of each part.
static void weigh_all( const tr_exemplar *e, const tr_sight *sight, tr_pose source, double *weights )
{
    for ( int p = -1; p < e->part_count; ++p )
        tr_sight_weigh( e, sight, source, p, weights + (size_t)( p + 1 ) * (size_t)e->pair_count );
}

void tr_exemplar_pose( const tr_exemplar *exemplar, tr_pose source, quat *local, double *unlike )
{
    double weights[( 1 + TR_EXEMPLAR_PARTS ) * TR_EXEMPLAR_PAIRS];
    tr_sight sight;
    tr_sight_build( exemplar, source, &sight );
    weigh_all( exemplar, &sight, source, weights );
    tr_exemplar_blend( exemplar, &sight, source, weights, local );
    if ( unlike != NULL )
        *unlike = unlike_examples( exemplar, &sight );
}

// ------------------------------------------------------------------------------------------------ motion

typedef struct motion_job {
    const tr_exemplar *e;
    const tr_world *source;
    const int *frames;        // [pair_count]
    int count;                // weights in a frame
    tr_sight *sights;         // [frame_count]
    double *weights, *smooth; // [frame_count * count]
    quat *local;
    double *unlike;
} motion_job;

static void weigh_frames( void *context, int begin, int end )
{
    const motion_job *m = context;
    for ( int f = begin; f < end; ++f ) {
        tr_pose source = tr_world_pose( m->source, f );
        tr_sight_build( m->e, source, &m->sights[f] );
        weigh_all( m->e, &m->sights[f], source, m->weights + (size_t)f * (size_t)m->count );
        if ( m->unlike != NULL )
            m->unlike[f] = unlike_examples( m->e, &m->sights[f] );
    }
}

// Of curves w [frame_count * count], those that bend little:
//
//   x = argmin Σ ( x(f) − w(f) )² + τ⁴ Σ ( x(f−1) − 2 x(f) + x(f+1) )²,   x = w in frames that are held,
//
// with τ in frames. The unknown is d = x − w. Sums over the curves stay.
static bool bend_little( const motion_job *m, const double *w, const bool *held, double frames, double *x,
                         tr_error *error )
{
    int n = m->source->frame_count, count = m->count;
    double *weight = tr_alloc( (size_t)n, sizeof( double ) ), bend = frames * frames * frames * frames;
    tr_chain *factor = tr_alloc( (size_t)n, sizeof( tr_chain ) );
    bool ok = ( weight != NULL && factor != NULL ) || tr_error_memory( error );
    for ( int f = 0; ok && f < n; ++f )
        weight[f] = 1;
    if ( ok ) {
        memset( x, 0, (size_t)n * (size_t)count * sizeof( double ) );
        for ( int f = 1; f + 1 < n; ++f )
            for ( int i = 0; i < count; ++i ) {
                const double *v = w + (size_t)f * (size_t)count + i;
                double *d = x + (size_t)f * (size_t)count + i,
                       curve = bend * ( v[-count] - 2 * v[0] + v[count] );
                d[-count] -= curve;
                d[0] += 2 * curve;
                d[count] -= curve;
            }
        tr_chain_factor( &( tr_chain_def ){ .frame_count = n,
                                            .weight = weight,
                                            .bend = bend,
                                            .held = held,
                                            .free_start = true,
                                            .free_end = true },
                         factor );
        tr_chain_solve( factor, n, x, count );
        for ( size_t i = 0; i < (size_t)n * (size_t)count; ++i )
            x[i] += w[i];
    }
    tr_free( weight );
    tr_free( factor );
    return ok;
}

// Weights are smoothed over time. In the frames of pairs that moves them off the pairs' own; a correction,
// which is smooth over a longer time, brings them back without a kink.
static bool smooth_weights( motion_job *m, double fps, tr_error *error )
{
    int n = m->source->frame_count, count = m->count;
    size_t size = (size_t)n * (size_t)count;
    bool *held = tr_alloc( (size_t)n, sizeof( bool ) );
    double *missed = tr_alloc( size, sizeof( double ) ), *back = tr_alloc( size, sizeof( double ) );
    bool ok = ( held != NULL && missed != NULL && back != NULL ) || tr_error_memory( error );
    ok = ok && bend_little( m, m->weights, NULL, m->e->def.smooth * fps, m->smooth, error );
    for ( int p = 0; ok && p < m->e->pair_count; ++p ) {
        int frame = m->frames[p];
        if ( frame < 0 || frame >= n )
            continue;
        held[frame] = true;
        for ( size_t i = (size_t)frame * (size_t)count; i < ( (size_t)frame + 1 ) * (size_t)count; ++i )
            missed[i] = m->weights[i] - m->smooth[i];
    }
    ok = ok && bend_little( m, missed, held, m->e->def.lead_back * fps, back, error );
    for ( size_t i = 0; ok && i < size; ++i )
        m->smooth[i] += back[i];
    tr_free( held );
    tr_free( missed );
    tr_free( back );
    return ok;
}

static void blend_frames( void *context, int begin, int end )
{
    const motion_job *m = context;
    for ( int f = begin; f < end; ++f )
        tr_exemplar_blend( m->e, &m->sights[f], tr_world_pose( m->source, f ),
                           m->smooth + (size_t)f * (size_t)m->count,
                           m->local + (size_t)f * (size_t)m->e->target->joint_count );
}

bool tr_exemplar_motion( const tr_exemplar *exemplar, const tr_world *source, double fps, const int *frames,
                         quat *local, double *unlike, tr_error *error )
{
    const int block = 32; // frames
    size_t count = (size_t)( 1 + exemplar->part_count ) * (size_t)exemplar->pair_count,
           frame_count = (size_t)source->frame_count;
    motion_job m = { .e = exemplar,
                     .source = source,
                     .frames = frames,
                     .count = (int)count,
                     .local = local,
                     .unlike = unlike };
    m.sights = tr_alloc( frame_count, sizeof( tr_sight ) );
    m.weights = tr_alloc( frame_count * count, sizeof( double ) );
    m.smooth = tr_alloc( frame_count * count, sizeof( double ) );
    bool ok = ( m.sights != NULL && m.weights != NULL && m.smooth != NULL ) || tr_error_memory( error );
    if ( ok ) {
        tr_parallel_for( source->frame_count, block, weigh_frames, &m );
        ok = smooth_weights( &m, fps, error );
    }
    if ( ok )
        tr_parallel_for( source->frame_count, block, blend_frames, &m );
    tr_free( m.sights );
    tr_free( m.weights );
    tr_free( m.smooth );
    return ok;
}

// ------------------------------------------------------------------------------------------ leaving out

// Weights of the others at a pair, from the inverse of the whole matrix: with P = K⁻¹ − K⁻¹11ᵀK⁻¹ / 1ᵀK⁻¹1
// those are −P_ij / P_ii, and they sum to 1.
double tr_exemplar_left_out( const tr_exemplar *exemplar, int pair )
{
    double sum = 0;
    int joints = exemplar->target->joint_count, n = exemplar->pair_count;
    for ( int p = -1; p < exemplar->part_count; ++p ) {
        const tr_kriging *k = p < 0 ? &exemplar->kriging : &exemplar->parts[p].kriging;
        double weights[TR_EXEMPLAR_PAIRS], own = 0;
        for ( int round = 0; round < 2; ++round ) // first P_ii, then the weights
            for ( int i = 0, w = 0; i < n; ++i ) {
                double entry = k->inverse[pair * n + i] - k->inverse_sum[pair] * k->inverse_sum[i] / k->one;
                if ( i == pair )
                    own = entry;
                else if ( round == 1 )
                    weights[w++] = -entry / own;
            }
        for ( int j = 0; j < joints; ++j )
            if ( exemplar->part_of[j] == p )
                sum += q_angle( blended( exemplar, j, weights, pair ),
                                exemplar->targets[(size_t)pair * (size_t)joints + (size_t)j] );
    }
    return sum / joints;
}
