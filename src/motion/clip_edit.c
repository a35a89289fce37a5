// Cutting, resampling and joining clips.
#include "motion/motion.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

bool tr_clip_slice( tr_clip *out, const tr_clip *in, int first, int last, tr_error *error )
{
    assert( first >= 0 && first <= last && last < in->frame_count );
    tr_clip view = *in; // borrowed frames, copied below
    size_t skip = (size_t)first * (size_t)in->joint_count;
    view.frame_count = last - first + 1;
    view.rotations += skip;
    view.root += first;
    if ( view.translations != NULL )
        view.translations += skip;
    return tr_clip_copy( out, &view, error );
}

// ----------------------------------------------------------------------------------------------- resample

#define SAME_FRAME 1e-7 // frames: rounding of times is less, so 30 fps of 120 are every fourth, bit for bit

enum { JOINTS_AT_ONCE = 4096 }; // joints of all frames in a block: fewer are not worth waking a thread

// Cubic through b at t = 0 and c at t = 1 with the slopes (c − a) / 2 and (d − b) / 2.
static vec3 catmull_rom( vec3 a, vec3 b, vec3 c, vec3 d, double t )
{
    double t2 = t * t, t3 = t2 * t;
    vec3 sum = v3_scale( 0.5 * ( -t3 + 2 * t2 - t ), a );
    sum = v3_mad( sum, 0.5 * ( 3 * t3 - 5 * t2 + 2 ), b );
    sum = v3_mad( sum, 0.5 * ( -3 * t3 + 4 * t2 + t ), c );
    return v3_mad( sum, 0.5 * ( t3 - t2 ), d );
}

// Value between frames of a track with `stride` entries per frame; beyond the ends it goes on straight.
static vec3 sample_track( const vec3 *track, int frame_count, int stride, int before, double t )
{
    if ( before + 1 >= frame_count )
        return track[(size_t)( frame_count - 1 ) * stride];
    vec3 b = track[(size_t)before * stride], c = track[(size_t)( before + 1 ) * stride];
    vec3 a = before > 0 ? track[(size_t)( before - 1 ) * stride] : v3_sub( v3_scale( 2, b ), c );
    vec3 d =
        before + 2 < frame_count ? track[(size_t)( before + 2 ) * stride] : v3_sub( v3_scale( 2, c ), b );
    return t > 0 ? catmull_rom( a, b, c, d, t ) : b;
}

typedef struct resampling {
    const tr_clip *in;
    tr_clip *out;
} resampling;

static void resample_frames( void *context, int begin, int end )
{
    const resampling *r = context;
    const tr_clip *in = r->in;
    for ( int f = begin; f < end; ++f ) {
        double time = f * in->fps / r->out->fps;
        double whole = round( time );
        if ( fabs( time - whole ) < SAME_FRAME )
            time = whole;
        int before = tr_int_clamped( time, 0, in->frame_count - 1 );
        int after = before + 1 < in->frame_count ? before + 1 : before;
        double t = time - before;
        const quat *a = tr_clip_frame( in, before ), *b = tr_clip_frame( in, after );
        quat *q = tr_clip_frame( r->out, f );
        for ( int j = 0; j < in->joint_count; ++j ) {
            q[j] = t > 0 ? q_slerp( a[j], b[j], t ) : a[j];
            if ( in->translations != NULL )
                r->out->translations[(size_t)f * in->joint_count + j] =
                    sample_track( in->translations + j, in->frame_count, in->joint_count, before, t );
        }
        r->out->root[f] = sample_track( in->root, in->frame_count, 1, before, t );
    }
}

bool tr_clip_resample( tr_clip *out, const tr_clip *in, double fps, tr_error *error )
{
    *out = ( tr_clip ){ 0 };
    if ( !isfinite( fps ) || fps <= 0 )
        return tr_error_set( error, "cannot resample to %g frames per second; the rate must be above zero",
                             fps );
    double count =
        in->frame_count == 0 ? 0 : floor( ( in->frame_count - 1 ) * fps / in->fps + SAME_FRAME ) + 1;
    if ( count > TR_MAX_FRAMES && count > in->frame_count ) // what is there already may stay as it is
        return tr_error_set(
            error, "at %g frames per second it would have %.0f frames, more than %d; choose a lower rate",
            fps, count, TR_MAX_FRAMES );
    if ( !tr_clip_alloc( out, tr_int_clamped( count, 0, INT_MAX ), in->joint_count, fps,
                         in->translations != NULL, error ) )
        return false;
    resampling r = { in, out };
    tr_parallel_for( out->frame_count, 1 + JOINTS_AT_ONCE / in->joint_count, resample_frames, &r );
    return true;
}

// ------------------------------------------------------------------------------------------------- concat

// Rate of the rotation vector c that makes exp(c) turn with angular velocity w: the inverse left Jacobian,
// w − ½ c × w + (1/θ² − 1 / (2 θ tan ½θ)) c × (c × w).
static vec3 rate_of_vector( vec3 c, vec3 w )
{
    double angle = v3_length( c );
    const double small = 1e-4; // radians: the series' first term is exact to rounding
    double factor = 1.0 / 12.0;
    if ( angle > small )
        factor = 1.0 / ( angle * angle ) - 1.0 / ( 2.0 * angle * tan( 0.5 * angle ) );
    vec3 cross = v3_cross( c, w );
    return v3_mad( v3_mad( w, -0.5, cross ), factor, v3_cross( c, cross ) );
}

typedef struct seam {
    tr_clip *clip;
    int at;               // frame that both clips share
    int before, after;    // frames over which the difference decays
    double share;         // part of the difference that the first clip takes
    const tr_clip *a, *b; // as they are joined
} seam;

static vec3 turn_between( quat from, quat to )
{
    return q_to_vector( q_mul( to, q_conj( from ) ) );
}

static int least( int a, int b )
{
    return a < b ? a : b;
}

// A joint's steps from frame to frame around the seam: the last of a, the first of b.
enum { STEPS = 3 }; // on either side: two changes of velocity, so that one odd frame does not decide
typedef struct steps {
    vec3 a[STEPS], b[STEPS]; // the nearest to the seam first
    int a_count, b_count;
} steps;

static double bend( const vec3 *step, int count )
{
    double most = 0;
    for ( int i = 1; i < count; ++i )
        most = fmax( most, v3_distance( step[i], step[i - 1] ) );
    return most;
}

// How much of a change of velocity at the seam is to be mended. Where the two clips meet without a
// difference, and the change is no greater than twice what they have themselves next to it, it is their own:
// a clip that was cut in two comes out as it was.
static double excess( const steps *s, double difference )
{
    double change = v3_distance( s->a[0], s->b[0] );
    double own = fmax( bend( s->a, s->a_count ), bend( s->b, s->b_count ) );
    double most = fmax( 2 * difference, change - 2 * own );
    return own > 0 ? smooth_step5( 0.5 * most / own ) : 1.0;
}

static steps turning_steps( const tr_clip *a, const tr_clip *b, int j )
{
    steps s = { .a_count = least( STEPS, a->frame_count - 1 ),
                .b_count = least( STEPS, b->frame_count - 1 ) };
    for ( int i = 0; i < s.a_count; ++i ) {
        int f = a->frame_count - 2 - i;
        s.a[i] = turn_between( tr_clip_frame( a, f )[j], tr_clip_frame( a, f + 1 )[j] );
    }
    for ( int i = 0; i < s.b_count; ++i )
        s.b[i] = turn_between( tr_clip_frame( b, i )[j], tr_clip_frame( b, i + 1 )[j] );
    return s;
}

static steps moving_steps( const vec3 *a, int a_frames, const vec3 *b, int b_frames, int stride )
{
    steps s = { .a_count = least( STEPS, a_frames - 1 ), .b_count = least( STEPS, b_frames - 1 ) };
    for ( int i = 0; i < s.a_count; ++i ) {
        const vec3 *p = a + (size_t)( a_frames - 2 - i ) * (size_t)stride;
        s.a[i] = v3_sub( p[stride], p[0] );
    }
    for ( int i = 0; i < s.b_count; ++i )
        s.b[i] = v3_sub( b[(size_t)( i + 1 ) * (size_t)stride], b[(size_t)i * (size_t)stride] );
    return s;
}

// Rotations of one joint. With δ from a's last to b's first rotation, a gets exp(+share δ), b exp(−(1 −
// share) δ) in front, so they meet; their angular velocities, carried along, get the same treatment.
static void mend_rotations( const seam *s, int j )
{
    int last = s->a->frame_count - 1;
    quat a = tr_clip_frame( s->a, last )[j], b = s->b->rotations[j];
    vec3 delta = turn_between( a, b );
    vec3 ca = v3_scale( s->share, delta ), cb = v3_scale( s->share - 1.0, delta );
    vec3 slope_a = v3_zero, slope_b = v3_zero;
    if ( last > 0 && s->b->frame_count > 1 ) {
        steps near = turning_steps( s->a, s->b, j ); // seen from where both meet
        for ( int i = 0; i < STEPS; ++i ) {
            near.a[i] = q_rotate( q_from_vector( ca ), near.a[i] );
            near.b[i] = q_rotate( q_from_vector( cb ), near.b[i] );
        }
        vec3 change = v3_scale( excess( &near, v3_length( delta ) ), v3_sub( near.b[0], near.a[0] ) );
        slope_a = rate_of_vector( ca, v3_scale( -s->share, change ) ); // backwards in time
        slope_b = rate_of_vector( cb, v3_scale( s->share - 1.0, change ) );
    }
    for ( int k = 0; k < s->before; ++k ) {
        quat *q = &tr_clip_frame( s->clip, s->at - k )[j];
        *q = q_unit( q_mul( q_from_vector( v3_decay( ca, slope_a, k, s->before ) ), *q ) );
    }
    for ( int k = 1; k < s->after; ++k ) {
        quat *q = &tr_clip_frame( s->clip, s->at + k )[j];
        *q = q_unit( q_mul( q_from_vector( v3_decay( cb, slope_b, k, s->after ) ), *q ) );
    }
}

// The same for a track of vectors: `track` of the result, a's and b's own with `stride` entries per frame.
static void mend_vectors( const seam *s, vec3 *track, const vec3 *from_a, const vec3 *from_b, int stride )
{
    size_t last = (size_t)( s->a->frame_count - 1 ) * stride;
    vec3 delta = v3_sub( from_b[0], from_a[last] ), change = v3_zero;
    if ( s->a->frame_count > 1 && s->b->frame_count > 1 ) {
        steps near = moving_steps( from_a, s->a->frame_count, from_b, s->b->frame_count, stride );
        change = v3_scale( excess( &near, v3_length( delta ) ), v3_sub( near.b[0], near.a[0] ) );
    }
    for ( int k = 0; k < s->before; ++k ) {
        vec3 *p = &track[(size_t)( s->at - k ) * stride];
        *p = v3_add( *p,
                     v3_decay( v3_scale( s->share, delta ), v3_scale( -s->share, change ), k, s->before ) );
    }
    double rest = s->share - 1.0;
    for ( int k = 1; k < s->after; ++k ) {
        vec3 *p = &track[(size_t)( s->at + k ) * stride];
        *p = v3_add( *p, v3_decay( v3_scale( rest, delta ), v3_scale( rest, change ), k, s->after ) );
    }
}

static void mend( tr_clip *clip, const tr_clip *a, const tr_clip *b, int blend )
{
    seam s = { .clip = clip, .at = a->frame_count - 1, .a = a, .b = b };
    s.before = least( blend, a->frame_count - 1 );
    s.after = least( blend, b->frame_count - 1 );
    s.share = s.before > 0 ? s.after > 0 ? 0.5 : 1.0 : 0.0;
    for ( int j = 0; j < clip->joint_count; ++j ) {
        mend_rotations( &s, j );
        if ( clip->translations != NULL && j > 0 )
            mend_vectors( &s, clip->translations + j, a->translations + j, b->translations + j,
                          clip->joint_count );
    }
    mend_vectors( &s, clip->root, a->root, b->root, 1 );
}

// The twist about +Y of the rotation between them is the best turn whatever way
// the root's own axes point.
rigid tr_clip_meeting( const tr_clip *a, const tr_clip *b )
{
    int last = a->frame_count - 1;
    quat between = q_mul( *tr_clip_frame( a, last ), q_conj( *tr_clip_frame( b, 0 ) ) ), swing, twist;
    q_swing_twist( between, v3_y, &swing, &twist );
    vec3 shift = v3_sub( a->root[last], q_rotate( twist, b->root[0] ) );
    return ( rigid ){ twist, v3_horizontal( shift ) };
}

static void copy_frames( tr_clip *out, int at, const tr_clip *in, int from )
{
    size_t frames = (size_t)( in->frame_count - from ), n = (size_t)in->joint_count;
    memcpy( tr_clip_frame( out, at ), tr_clip_frame( in, from ), frames * n * sizeof( quat ) );
    memcpy( out->root + at, in->root + from, frames * sizeof( vec3 ) );
    if ( out->translations != NULL )
        memcpy( out->translations + (size_t)at * n, in->translations + (size_t)from * n,
                frames * n * sizeof( vec3 ) );
}

static bool can_join( const tr_clip *a, const tr_clip *b, tr_error *error )
{
    if ( a->joint_count != b->joint_count )
        return tr_error_set( error, "cannot join a clip of %d joints and one of %d", a->joint_count,
                             b->joint_count );
    const double rounding = 1e-6; // relative error of a rate that a file gives as seconds per frame
    if ( fabs( a->fps - b->fps ) > rounding * a->fps )
        return tr_error_set( error, "cannot join clips of %g and %g frames per second; resample one first",
                             a->fps, b->fps );
    if ( ( a->translations != NULL ) != ( b->translations != NULL ) )
        return tr_error_set( error, "cannot join a clip with joint translations and one without" );
    return true;
}

bool tr_clip_join( tr_clip *out, const tr_clip *a, const tr_clip *b, int blend, tr_error *error )
{
    assert( blend >= 0 );
    *out = ( tr_clip ){ 0 };
    if ( !can_join( a, b, error ) )
        return false;
    if ( a->frame_count == 0 || b->frame_count == 0 )
        return tr_clip_copy( out, a->frame_count == 0 ? b : a, error );
    if ( !tr_clip_alloc( out, a->frame_count + b->frame_count - 1, a->joint_count, a->fps,
                         a->translations != NULL, error ) )
        return false;
    copy_frames( out, a->frame_count - 1, b, 0 );
    copy_frames( out, 0, a, 0 );
    mend( out, a, b, blend );
    return true;
}

bool tr_clip_concat( tr_clip *out, const tr_clip *a, const tr_clip *b, int blend, tr_error *error )
{
    tr_clip moved;
    *out = ( tr_clip ){ 0 };
    if ( !can_join( a, b, error ) || !tr_clip_copy( &moved, b, error ) )
        return false;
    if ( a->frame_count > 0 && b->frame_count > 0 )
        tr_clip_place( &moved, tr_clip_meeting( a, b ) );
    bool ok = tr_clip_join( out, a, &moved, blend, error );
    tr_clip_free( &moved );
    return ok;
}
