// The root of a body that moves by examples. Poses alone do not define where the body goes: its path is the
// performer's, scaled, and feet that stand lead it.
//
// With r(t) the scaled path and a_k(t) the way from the root to foot k, a standing foot slips by
// s_k = Δr + Δa_k from one frame to the next. The scale of the path is the one with the least slip. What is
// left is taken by a correction c(t) of the path,
//
//   min Σ c² / tether² + Σ_k w_k ( Δc + s_k )² + smoothness,   w_k(t) = 1 while foot k stands,
//
// which stays near the path over time: partners still meet. Heights have no such tether. There c brings the
// standing feet onto the floor, and between stances it is a smooth curve, so jumps stay jumps.
#include "actor/actor.h"
#include "solve/solve.h"

// Weight of a foot at a frame: 1 in its stance, with ramps at both ends.
static double weight_of( const tr_lead_foot *foot, int frame, double ramp )
{
    for ( int i = 0; i < foot->stands.count; ++i ) {
        const tr_contact *c = &foot->stands.items[i];
        int inside = frame - c->first < c->last - frame ? frame - c->first : c->last - frame;
        if ( inside >= 0 )
            return smooth_step5( ( inside + 1 ) / ( ramp + 1 ) );
    }
    return 0;
}

typedef struct lead_work {
    const tr_lead_job *job;
    int frame_count;
    vec3 *ways;                     // [frame_count * foot_count] from the root to the feet
    double *weights;                // [frame_count * foot_count]
    double *weight, *slope, *curve; // [frame_count], curve [2 * frame_count]
    tr_chain *factor;               // [frame_count]
} lead_work;

static void work_free( lead_work *w )
{
    tr_free( w->ways );
    tr_free( w->weights );
    tr_free( w->weight );
    tr_free( w->slope );
    tr_free( w->curve );
    tr_free( w->factor );
}

static vec3 way_to( const tr_skeleton *skeleton, const quat *local, int joint )
{
    vec3 way = v3_zero;
    for ( int j = joint; j > 0; j = skeleton->joints[j].parent )
        way = q_rotate( local[skeleton->joints[j].parent], v3_add( skeleton->joints[j].offset, way ) );
    return way;
}

static bool work_start( lead_work *w, const tr_lead_job *job, const tr_clip *clip )
{
    size_t frames = (size_t)clip->frame_count, feet = (size_t)job->foot_count;
    double ramp = job->def->ramp * clip->fps;
    *w = ( lead_work ){ .job = job, .frame_count = clip->frame_count };
    w->ways = tr_alloc( frames * feet, sizeof( vec3 ) );
    w->weights = tr_alloc( frames * feet, sizeof( double ) );
    w->weight = tr_alloc( frames, sizeof( double ) );
    w->slope = tr_alloc( frames, sizeof( double ) );
    w->curve = tr_alloc( 2 * frames, sizeof( double ) );
    w->factor = tr_alloc( frames, sizeof( tr_chain ) );
    if ( w->ways == NULL || w->weights == NULL || w->weight == NULL || w->slope == NULL || w->curve == NULL ||
         w->factor == NULL )
        return false;
    for ( size_t i = 0; i < frames * feet; ++i ) {
        const tr_lead_foot *foot = &job->feet[i % feet];
        int frame = (int)( i / feet );
        w->ways[i] = way_to( job->skeleton, tr_clip_frame( clip, frame ), foot->joint );
        w->weights[i] = weight_of( foot, frame, ramp );
    }
    return true;
}

// The step of a foot from a frame to the next.
static double step_weight( const lead_work *w, int frame, int foot )
{
    size_t at = (size_t)frame * (size_t)w->job->foot_count + (size_t)foot;
    return fmin( w->weights[at], w->weights[at + (size_t)w->job->foot_count] );
}

static vec3 step_of( const lead_work *w, int frame, int foot )
{
    size_t at = (size_t)frame * (size_t)w->job->foot_count + (size_t)foot;
    return v3_horizontal( v3_sub( w->ways[at + (size_t)w->job->foot_count], w->ways[at] ) );
}

// min over s of Σ w_k ‖ s Δp + Δa_k ‖², where feet have weight; else the scale of heights.
static double best_scale( const lead_work *w )
{
    double along = 0, square = 0;
    for ( int f = 0; f + 1 < w->frame_count; ++f ) {
        vec3 path = v3_horizontal( v3_sub( w->job->path[f + 1], w->job->path[f] ) );
        for ( int k = 0; k < w->job->foot_count; ++k ) {
            along -= step_weight( w, f, k ) * v3_dot( path, step_of( w, f, k ) );
            square += step_weight( w, f, k ) * v3_dot( path, path );
        }
    }
    return square > w->job->def->least_path && along > 0 ? along / square : w->job->rise;
}

static void lead_horizontally( lead_work *w, tr_clip *clip )
{
    int n = w->frame_count;
    double tether = w->job->def->tether * clip->fps, smooth = w->job->def->smooth * clip->fps;
    for ( int f = 0; f < n; ++f ) {
        w->weight[f] = 1.0 / ( tether * tether );
        w->slope[f] = w->curve[2 * f] = w->curve[2 * f + 1] = 0;
    }
    for ( int f = 0; f + 1 < n; ++f ) {
        vec3 path = v3_horizontal( v3_sub( clip->root[f + 1], clip->root[f] ) );
        for ( int k = 0; k < w->job->foot_count; ++k ) {
            double share = step_weight( w, f, k );
            vec3 slip = v3_add( path, step_of( w, f, k ) );
            w->slope[f] += share;
            w->curve[2 * f] += share * slip.x;
            w->curve[2 * f + 1] += share * slip.z;
            w->curve[2 * f + 2] -= share * slip.x;
            w->curve[2 * f + 3] -= share * slip.z;
        }
    }
    tr_chain_factor( &( tr_chain_def ){ .frame_count = n,
                                        .weight = w->weight,
                                        .slope = w->slope,
                                        .bend = smooth * smooth,
                                        .free_start = true,
                                        .free_end = true },
                     w->factor );
    tr_chain_solve( w->factor, n, w->curve, 2 );
    for ( int f = 0; f < n; ++f )
        clip->root[f] = v3_add( clip->root[f], v3( w->curve[2 * f], 0, w->curve[2 * f + 1] ) );
}

static void lead_vertically( lead_work *w, tr_clip *clip )
{
    int n = w->frame_count;
    double smooth = w->job->def->smooth * clip->fps;
    for ( int f = 0; f < n; ++f ) {
        w->weight[f] = w->job->def->swing_weight;
        w->curve[f] = 0;
        for ( int k = 0; k < w->job->foot_count; ++k ) {
            size_t at = (size_t)f * (size_t)w->job->foot_count + (size_t)k;
            double low = clip->root[f].y + w->ways[at].y - w->job->ground - w->job->feet[k].soles[f];
            w->weight[f] += w->weights[at];
            w->curve[f] -= w->weights[at] * low;
        }
    }
    tr_chain_factor( &( tr_chain_def ){ .frame_count = n,
                                        .weight = w->weight,
                                        .bend = smooth * smooth * smooth * smooth,
                                        .free_start = true,
                                        .free_end = true },
                     w->factor );
    tr_chain_solve( w->factor, n, w->curve, 1 );
    for ( int f = 0; f < n; ++f )
        clip->root[f].y += w->curve[f];
}

bool tr_lead_root( const tr_lead_job *job, tr_clip *clip, tr_error *error )
{
    lead_work w;
    bool ok = work_start( &w, job, clip );
    if ( ok ) {
        vec3 middle = v3_zero;
        for ( int f = 0; f < clip->frame_count; ++f )
            middle = v3_mad( middle, 1.0 / clip->frame_count, job->path[f] );
        double scale = job->path_scale > 0 ? job->path_scale : best_scale( &w );
        for ( int f = 0; f < clip->frame_count; ++f ) {
            vec3 from = v3_sub( job->path[f], middle );
            clip->root[f] =
                v3( middle.x + scale * from.x, job->ground + job->rise * ( job->path[f].y - job->ground ),
                    middle.z + scale * from.z );
        }
        lead_horizontally( &w, clip );
        lead_vertically( &w, clip );
    }
    work_free( &w );
    return ok || tr_error_memory( error );
}
