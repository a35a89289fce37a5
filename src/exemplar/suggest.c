// Which frame to make a pair of next. With the kernel of kriging as the covariance of poses, each pair lowers
// the variance of all frames; the frame that lowers their sum most comes first. With C the covariance left
// between the frames, a pair at frame c leaves
//
//   C − C(·, c) C(c, ·) / C(c, c),   so the sum of variances falls by ‖C(·, c)‖² / C(c, c).
#include "exemplar/private.h"

typedef struct field { // frames looked at, and poses that pairs have
    int count, frame_count;
    double *values;     // [count * features.count]
    double *covariance; // [count²]
} field;

static void field_free( field *f )
{
    tr_free( f->values );
    tr_free( f->covariance );
}

static double *row_of( const field *f, int i )
{
    return f->covariance + (size_t)i * (size_t)f->count;
}

// The kernel's length is the spread of the motion's frames: the root of their mean square distance from their
// mean.
static bool field_build( field *f, const tr_features *features, double linear )
{
    int n = f->count, d = features->count;
    double mean[TR_FEATURES], square = 0;
    f->covariance = tr_alloc( (size_t)n * (size_t)n, sizeof( double ) );
    if ( f->covariance == NULL )
        return false;
    for ( int k = 0; k < d; ++k ) {
        mean[k] = 0;
        for ( int i = 0; i < f->frame_count; ++i )
            mean[k] += f->values[(size_t)i * (size_t)d + (size_t)k] / f->frame_count;
        for ( int i = 0; i < f->frame_count; ++i ) {
            double away = f->values[(size_t)i * (size_t)d + (size_t)k] - mean[k];
            square += away * away / f->frame_count;
        }
    }
    if ( !( square > 0 ) ) // it stands still: one frame is all there is
        square = 1;
    tr_kriging kernel = { .length = sqrt( square ), .linear = linear };
    for ( int i = 0; i < n; ++i )
        for ( int j = 0; j < n; ++j ) {
            const double *a = f->values + (size_t)i * (size_t)d, *b = f->values + (size_t)j * (size_t)d;
            double distance = 0, product = 0;
            for ( int k = 0; k < d; ++k ) {
                distance += ( a[k] - b[k] ) * ( a[k] - b[k] );
                product += ( a[k] - mean[k] ) * ( b[k] - mean[k] );
            }
            row_of( f, i )[j] = tr_kernel( &kernel, distance, product );
        }
    return true;
}

static const double known = 1e-9; // variance left at a pose that a pair has, but for rounding

static void learn( const field *f, int c )
{
    double own = row_of( f, c )[c];
    if ( !( own > known ) )
        return;
    for ( int i = 0; i < f->count; ++i ) {
        double share = row_of( f, i )[c] / own;
        if ( i != c )
            for ( int j = 0; j < f->count; ++j )
                row_of( f, i )[j] -= share * row_of( f, c )[j];
    }
    for ( int i = 0; i < f->count; ++i )
        row_of( f, c )[i] = row_of( f, i )[c] = 0;
}

// The frame that lowers the sum most, -1: all are known.
static int most_useful( const field *f )
{
    int best = -1;
    double most = 0;
    for ( int c = 0; c < f->frame_count; ++c ) {
        double own = row_of( f, c )[c], sum = 0;
        if ( !( own > known ) )
            continue;
        for ( int i = 0; i < f->frame_count; ++i )
            sum += row_of( f, i )[c] * row_of( f, i )[c] / own;
        if ( sum > most ) {
            most = sum;
            best = c;
        }
    }
    return best;
}

int tr_exemplar_suggest( const tr_exemplar_def *def, const tr_skeleton *source, const tr_world *world,
                         const tr_pose *have, int have_count, int *frames, int count, tr_error *error )
{
    tr_features features;
    tr_features_build( &features, source, def->look );
    field f = { .frame_count =
                    world->frame_count < def->suggest_frames ? world->frame_count : def->suggest_frames };
    f.count = f.frame_count + have_count;
    f.values = tr_alloc( (size_t)f.count * (size_t)features.count, sizeof( double ) );
    int found = -1;
    if ( f.values != NULL ) {
        for ( int i = 0; i < f.count; ++i ) {
            int frame =
                f.frame_count > 1 ? (int)( (long)i * ( world->frame_count - 1 ) / ( f.frame_count - 1 ) ) : 0;
            tr_pose pose = i < f.frame_count ? tr_world_pose( world, frame ) : have[i - f.frame_count];
            tr_features_of( &features, pose, f.values + (size_t)i * (size_t)features.count );
        }
        found = field_build( &f, &features, def->linear ) ? 0 : -1;
    }
    for ( int i = 0; found == 0 && i < have_count; ++i )
        learn( &f, f.frame_count + i );
    while ( found >= 0 && found < count ) {
        int best = most_useful( &f );
        if ( best < 0 )
            break;
        learn( &f, best );
        frames[found++] =
            f.frame_count > 1 ? (int)( (long)best * ( world->frame_count - 1 ) / ( f.frame_count - 1 ) ) : 0;
    }
    field_free( &f );
    if ( found < 0 )
        tr_error_memory( error );
    return found;
}
