// Poses become averages of those around them in time. What is averaged is how they deviate from the copied
// poses, so that the source's own movements keep their pace:
//
//   d_f = c_f⁻¹ q_f,   q_f ← c_f · unit( (1 − back) ( (1 − share) d_f + share Σ w_g d_g / Σ w_g ) + back ),
//
// A frame h that has to stay as it is may stand out among these averages. Those around it are taken without
// it, and go along with what it is off them: towards ( d_h − Σ w_g d_g / Σ w_g ), g ≠ h around h, is added.
//
// with the signs of the d, as quaternions, following each other through the clip. A joint that turns over
// from one frame to the next, by whatever angle, so turns from one side to the other over the whole span.
#include "cluster/calm.h"

#include <stdlib.h>

static const tr_calm_cell *cells_of( const tr_smoothing *s, int node )
{
    return s->cells + (size_t)node * (size_t)s->stage->frame_count;
}

static bool changes( const tr_calm_cell *cell )
{
    return cell->share > 0 || cell->back > 0 || cell->towards > 0;
}

// Σ w_g d_g / Σ w_g, without those of a frame (-1: with all).
static quat mean_around( const quat *chain, int frame, double span, int frame_count, int without )
{
    quat sum = { 0, 0, 0, 0 };
    double weights = 0;
    int reach = tr_whole_frames( span );
    for ( int g = frame < reach ? 0 : frame - reach; g <= frame + reach && g < frame_count; ++g ) {
        double w = g != without ? smooth_step5( 1.0 - abs( g - frame ) / ( span + 1.0 ) ) : 0;
        sum.x += w * chain[g].x;
        sum.y += w * chain[g].y;
        sum.z += w * chain[g].z;
        sum.w += w * chain[g].w;
        weights += w;
    }
    double s = 1.0 / weights;
    return ( quat ){ s * sum.x, s * sum.y, s * sum.z, s * sum.w };
}

static quat mixed( quat a, quat b, double t ) // as vectors
{
    return ( quat ){ lerpd( a.x, b.x, t ), lerpd( a.y, b.y, t ), lerpd( a.z, b.z, t ), lerpd( a.w, b.w, t ) };
}

// What becomes of d_f, before it comes nearer to the copied pose.
static quat averaged( const quat *chain, int frame, const tr_calm_cell *cell, int frame_count )
{
    bool joins = cell->towards > 0;
    int without = joins ? cell->held : -1;
    quat d =
        mixed( chain[frame], mean_around( chain, frame, cell->span, frame_count, without ), cell->share );
    if ( !joins )
        return d;
    quat own = chain[without], mean = mean_around( chain, without, cell->span, frame_count, without );
    double t = cell->towards;
    return ( quat ){ d.x + t * ( own.x - mean.x ), d.y + t * ( own.y - mean.y ), d.z + t * ( own.z - mean.z ),
                     d.w + t * ( own.w - mean.w ) };
}

static quat smoothed( const quat *chain, int frame, const tr_calm_cell *cell, int frame_count )
{
    quat d = averaged( chain, frame, cell, frame_count );
    return mixed( d, d.w < 0 ? q_negate( q_identity ) : q_identity, cell->back );
}

static void smooth_joint( const tr_smoothing *s, int actor, int joint, quat *chain )
{
    const tr_clip *copied = &s->copied->motions[actor].clip;
    tr_clip *clip = &s->result->motions[actor].clip;
    const tr_calm_cell *cells = cells_of( s, actor );
    int frames = s->stage->frame_count;
    for ( int f = 0; f < frames; ++f ) {
        quat d = q_mul( q_conj( tr_clip_frame( copied, f )[joint] ), tr_clip_frame( clip, f )[joint] );
        chain[f] = f > 0 && q_dot( d, chain[f - 1] ) < 0 ? q_negate( d ) : d;
    }
    for ( int f = 0; f < frames; ++f )
        if ( changes( &cells[f] ) )
            tr_clip_frame( clip, f )[joint] = q_unit( q_mul(
                tr_clip_frame( copied, f )[joint], q_unit( smoothed( chain, f, &cells[f], frames ) ) ) );
}

// A way through space, likewise; the chain's w stays 0.
static vec3 smoothed_way( const quat *chain, int frame, const tr_calm_cell *cell, int frame_count )
{
    quat d = averaged( chain, frame, cell, frame_count );
    return v3_scale( 1.0 - cell->back, v3( d.x, d.y, d.z ) );
}

static void smooth_root( const tr_smoothing *s, int actor, quat *chain )
{
    const vec3 *copied = s->copied->motions[actor].clip.root;
    vec3 *root = s->result->motions[actor].clip.root;
    const tr_calm_cell *cells = cells_of( s, actor );
    int frames = s->stage->frame_count;
    for ( int f = 0; f < frames; ++f )
        chain[f] = ( quat ){ root[f].x - copied[f].x, root[f].y - copied[f].y, root[f].z - copied[f].z, 0 };
    for ( int f = 0; f < frames; ++f )
        if ( changes( &cells[f] ) )
            root[f] = v3_add( copied[f], smoothed_way( chain, f, &cells[f], frames ) );
}

static void smooth_prop( const tr_smoothing *s, int prop, quat *chain )
{
    const rigid *copied = s->copied->tracks[prop];
    rigid *track = s->result->tracks[prop];
    const tr_calm_cell *cells = cells_of( s, s->stage->actor_count + prop );
    int frames = s->stage->frame_count;
    for ( int f = 0; f < frames; ++f ) {
        vec3 d = v3_sub( track[f].position, copied[f].position );
        chain[f] = ( quat ){ d.x, d.y, d.z, 0 };
    }
    for ( int f = 0; f < frames; ++f )
        if ( changes( &cells[f] ) )
            track[f].position = v3_add( copied[f].position, smoothed_way( chain, f, &cells[f], frames ) );
}

// Feet that stand keep the turn they were copied with: the fit takes it from the pose it starts with. Those
// that an edit moved keep the one they have, which `own` knows.
static void keep_soles( const tr_smoothing *s, int actor, int frame, const quat *own )
{
    const tr_actor *a = &s->stage->actors[actor];
    tr_motion *motion = &s->result->motions[actor];
    tr_pose pose = tr_world_pose( &s->result->worlds[actor], frame ),
            copied = tr_world_pose( &s->copied->worlds[actor], frame );
    for ( int i = 0; i < a->footing_count; ++i ) {
        int foot = a->footings[i].joint, parent = a->target.joints[foot].parent;
        double strength = a->footings[i].strength[frame];
        if ( !( strength > 0 ) || parent < 0 )
            continue;
        quat turn = q_slerp( pose.rotations[foot], s->stepped ? own[i] : copied.rotations[foot], strength );
        tr_clip_frame( &motion->clip, frame )[foot] =
            q_unit( q_mul( q_conj( pose.rotations[parent] ), turn ) );
    }
}

static void smooth_actor( const tr_smoothing *s, int actor, quat *chain )
{
    tr_motion *motion = &s->result->motions[actor];
    const tr_actor *a = &s->stage->actors[actor];
    const tr_calm_cell *cells = cells_of( s, actor );
    for ( int j = 0; j < motion->skeleton.joint_count; ++j )
        smooth_joint( s, actor, j, chain );
    smooth_root( s, actor, chain );
    for ( int f = 0; f < s->stage->frame_count; ++f ) {
        if ( !changes( &cells[f] ) )
            continue;
        tr_pose pose = tr_world_pose( &s->result->worlds[actor], f );
        for ( int i = 0; i < a->footing_count; ++i )
            chain[i] = pose.rotations[a->footings[i].joint];
        tr_forward( &motion->skeleton, &motion->clip, f, pose );
        keep_soles( s, actor, f, chain );
        tr_forward( &motion->skeleton, &motion->clip, f, pose );
    }
}

// Quaternions for the frames of a joint, or for the feet of a character.
static size_t room_of_one( const tr_stage *stage )
{
    int most = stage->frame_count;
    for ( int i = 0; i < stage->actor_count; ++i )
        most = stage->actors[i].footing_count > most ? stage->actors[i].footing_count : most;
    return (size_t)most;
}

size_t tr_smooth_room( const tr_stage *stage )
{
    return (size_t)tr_parallel_threads() * room_of_one( stage );
}

static void smooth_some( void *context, int begin, int end )
{
    const tr_smoothing *s = context;
    quat *chain = s->chains + (size_t)tr_parallel_thread() * room_of_one( s->stage );
    for ( int n = begin; n < end; ++n ) {
        const tr_calm_cell *cells = cells_of( s, n );
        int f = 0;
        while ( f < s->stage->frame_count && !changes( &cells[f] ) )
            f++;
        if ( f == s->stage->frame_count )
            continue;
        if ( n < s->stage->actor_count )
            smooth_actor( s, n, chain );
        else
            smooth_prop( s, n - s->stage->actor_count, chain );
    }
}

void tr_smooth( const tr_smoothing *smoothing )
{
    const tr_stage *stage = smoothing->stage;
    tr_parallel_for( stage->actor_count + stage->prop_count, 1, smooth_some, (void *)smoothing );
}
