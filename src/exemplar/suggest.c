// Which frames to make pairs of next. With the kernel of kriging as the covariance of poses, each pair lowers
// the variance of all frames; the frame that lowers their sum most comes first. With C the covariance left
// between the frames, a pair at frame c leaves
//
//   C − C(·, c) C(c, ·) / C(c, c),   so the sum of variances falls by ‖C(·, c)‖² / C(c, c).
//
// The body and each part see poses by features of their own, so each has its own C. Their sums count by the
// joints that each moves.
//
// Where several are asked for, the best first one need not be part of the best set: in turn each is taken out
// and the best one beside the others put in, until none changes.
#include "exemplar/private.h"

#include <string.h>

typedef struct view {   // what one suggestion looks at: the body, or a part
    double share;       // share of the joints
    double *start;      // [count²] covariance of the frames, before anything is known
    double *covariance; // [count²] what is left of it
} view;

typedef struct field { // frames looked at, and poses that pairs have
    int count, frame_count;
    double *distance; // [count²] squares, leg lengths
    double same;      // square of the distance up to which poses are equal
    view views[1 + TR_EXEMPLAR_PARTS];
    int view_count;
} field;

static void field_free( field *f )
{
    tr_free( f->distance );
    for ( int v = 0; v < f->view_count; ++v ) {
        tr_free( f->views[v].start );
        tr_free( f->views[v].covariance );
    }
}

static double *row_of( const field *f, const view *v, int i )
{
    return v->covariance + (size_t)i * (size_t)f->count;
}

// A view by values [count * size]. Its kernel's length is their spread over the frames of the motion: the
// root of their mean square distance from their mean.
static bool add_view( field *f, const double *values, int size, double linear, double share )
{
    double mean[TR_FEATURES + 4], square = 0;
    size_t n = (size_t)f->count, d = (size_t)size;
    view *v = &f->views[f->view_count++];
    v->share = share;
    v->start = tr_alloc( n * n, sizeof( double ) );
    v->covariance = tr_alloc( n * n, sizeof( double ) );
    if ( v->start == NULL || v->covariance == NULL )
        return false;
    for ( size_t k = 0; k < d; ++k ) {
        mean[k] = 0;
        for ( int i = 0; i < f->frame_count; ++i )
            mean[k] += values[(size_t)i * d + k] / f->frame_count;
        for ( int i = 0; i < f->frame_count; ++i ) {
            double away = values[(size_t)i * d + k] - mean[k];
            square += away * away / f->frame_count;
        }
    }
    if ( !( square > 0 ) ) // it stands still: one frame is all there is
        square = 1;
    tr_kriging kernel = { .length = sqrt( square ), .linear = linear };
    for ( size_t i = 0; i < n; ++i )
        for ( size_t j = 0; j < n; ++j ) {
            const double *a = values + i * d, *b = values + j * d;
            double distance = 0, product = 0;
            for ( size_t k = 0; k < d; ++k ) {
                distance += ( a[k] - b[k] ) * ( a[k] - b[k] );
                product += ( a[k] - mean[k] ) * ( b[k] - mean[k] );
            }
            v->start[i * n + j] = tr_kernel( &kernel, distance, product );
        }
    return true;
}

static int chain_joints( const tr_skeleton *target, const int ends[2] ) // the joints form a chain
{
    int count = 1;
    for ( int j = ends[1]; j > 0 && j != ends[0]; j = target->joints[j].parent )
        ++count;
    return count;
}

static bool field_build( field *f, const tr_exemplar_def *def, const tr_exemplar_suggest_job *job,
                         const tr_pose *poses )
{
    tr_features features;
    tr_features_build( &features, job->source, def->look );
    size_t n = (size_t)f->count, body = (size_t)features.count, size = body + 4;
    double *values = tr_alloc( n * body, sizeof( double ) ), *own = tr_alloc( n * size, sizeof( double ) );
    f->distance = tr_alloc( n * n, sizeof( double ) );
    bool ok = values != NULL && own != NULL && f->distance != NULL;
    for ( size_t i = 0; ok && i < n; ++i )
        tr_features_of( &features, poses[i], values + i * body );
    for ( size_t i = 0; ok && i < n * n; ++i )
        for ( size_t k = 0; k < body; ++k ) {
            double away = values[i / n * body + k] - values[i % n * body + k];
            f->distance[i] += away * away;
        }
    int joints = job->part_count > 0 ? job->target->joint_count : 1, left = joints;
    for ( int p = 0; ok && p < job->part_count; ++p ) {
        tr_chain_part part = { .def = job->parts[p] };
        part.length = tr_limb_way( job->source, part.def.source[0], part.def.source[1] );
        int moved = chain_joints( job->target, part.def.target );
        left -= moved;
        for ( size_t i = 0; i < n; ++i ) {
            for ( size_t k = 0; k < body; ++k )
                own[i * size + k] = def->part_body * values[i * body + k];
            tr_part_values( &part, poses[i], tr_features_facing( &features, poses[i] ),
                            own + i * size + body );
        }
        ok = add_view( f, own, (int)size, def->linear, (double)moved / joints );
    }
    ok = ok && add_view( f, values, (int)body, def->linear, (double)left / joints );
    tr_free( values );
    tr_free( own );
    return ok;
}

static const double known = 1e-9; // variance left at a pose that a pair has, but for rounding

static void learn( const field *f, int c )
{
    int n = f->count;
    for ( const view *v = f->views; v < f->views + f->view_count; ++v ) {
        double own = row_of( f, v, c )[c];
        for ( int i = 0; own > known && i < n; ++i ) {
            double share = row_of( f, v, i )[c] / own;
            for ( int j = 0; i != c && j < n; ++j )
                row_of( f, v, i )[j] -= share * row_of( f, v, c )[j];
        }
        // A second pair of an equal pose would be refused.
        for ( int k = 0; k < n; ++k )
            if ( k == c || f->distance[(size_t)c * (size_t)n + (size_t)k] < f->same )
                for ( int i = 0; i < n; ++i )
                    row_of( f, v, k )[i] = row_of( f, v, i )[k] = 0;
    }
}

// What is left once the poses that pairs have are known, and chosen frames [count] but for one.
static void know( const field *f, const int *chosen, int count, int without )
{
    for ( const view *v = f->views; v < f->views + f->view_count; ++v )
        memcpy( v->covariance, v->start, (size_t)f->count * (size_t)f->count * sizeof( double ) );
    for ( int i = f->frame_count; i < f->count; ++i )
        learn( f, i );
    for ( int i = 0; i < count; ++i )
        if ( i != without )
            learn( f, chosen[i] );
}

static double gain( const field *f, int c )
{
    double all = 0;
    for ( const view *v = f->views; v < f->views + f->view_count; ++v ) {
        double own = row_of( f, v, c )[c], sum = 0;
        for ( int i = 0; own > known && i < f->frame_count; ++i )
            sum += row_of( f, v, i )[c] * row_of( f, v, i )[c] / own;
        all += v->share * sum;
    }
    return all;
}

// The frame that lowers the sum most, -1: all are known.
static int most_useful( const field *f )
{
    int best = -1;
    double most = 0;
    for ( int c = 0; c < f->frame_count; ++c ) {
        double sum = gain( f, c );
        if ( sum > most ) {
            most = sum;
            best = c;
        }
    }
    return best;
}

static void exchange( const field *f, const tr_exemplar_def *def, int *chosen, int count )
{
    bool changed = count > 1;
    for ( int pass = 0; changed && pass < def->suggest_passes; ++pass ) {
        changed = false;
        for ( int i = 0; i < count; ++i ) {
            know( f, chosen, count, i );
            int best = most_useful( f );
            if ( best >= 0 && best != chosen[i] &&
                 gain( f, best ) > def->suggest_gain * gain( f, chosen[i] ) ) {
                chosen[i] = best;
                changed = true;
            }
        }
    }
}

// The most useful of them first.
static void sort_by_use( const field *f, int *chosen, int count )
{
    for ( int i = 0; i + 1 < count; ++i ) {
        int best = i;
        know( f, chosen, i, -1 );
        for ( int k = i + 1; k < count; ++k )
            if ( gain( f, chosen[k] ) > gain( f, chosen[best] ) )
                best = k;
        int swap = chosen[i];
        chosen[i] = chosen[best];
        chosen[best] = swap;
    }
}

int tr_exemplar_suggest( const tr_exemplar_def *def, const tr_exemplar_suggest_job *job, int *frames,
                         int count, tr_error *error )
{
    const tr_world *world = job->world;
    field f = { .frame_count =
                    world->frame_count < def->suggest_frames ? world->frame_count : def->suggest_frames,
                .same = def->same * def->same };
    long last = world->frame_count - 1, steps = f.frame_count > 1 ? f.frame_count - 1 : 1;
    f.count = f.frame_count + job->have_count;
    tr_pose *poses = tr_alloc( (size_t)f.count, sizeof( tr_pose ) );
    for ( int i = 0; poses != NULL && i < f.count; ++i )
        poses[i] = i < f.frame_count ? tr_world_pose( world, (int)( i * last / steps ) )
                                     : job->have[i - f.frame_count];
    bool ok = poses != NULL && field_build( &f, def, job, poses );
    int found = 0;
    if ( ok ) {
        know( &f, NULL, 0, -1 );
        for ( int best; found < count && ( best = most_useful( &f ) ) >= 0; ++found ) {
            learn( &f, best );
            frames[found] = best;
        }
        exchange( &f, def, frames, found );
        sort_by_use( &f, frames, found );
    }
    for ( int i = 0; i < found; ++i )
        frames[i] = (int)( frames[i] * last / steps );
    field_free( &f );
    tr_free( poses );
    if ( !ok )
        tr_error_memory( error );
    return ok ? found : -1;
}
