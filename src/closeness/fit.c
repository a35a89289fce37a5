// Skeletons are aimed along the solved meshes, blended with the poses of the pose graphs, and fitted.
#include "closeness/private.h"

#include <string.h>

static double share_at( const tr_mesh_work *w, int member, int frame )
{
    return fmin( 1, w->said[(size_t)member * (size_t)w->stage->frame_count + (size_t)frame] );
}

typedef struct batch {
    tr_fit fit;
    tr_fit_scratch scratch;
    tr_fit_frame *frames;   // [count]
    tr_fit_result *results; // [count]
    quat *local;            // [count * joint_count]
    int *numbers;           // [count] of the stage
    int count;
} batch;

static bool batch_build( batch *b, const tr_mesh_work *w, int actor, tr_error *error )
{
    const tr_skeleton *skeleton = &w->stage->actors[actor].target;
    size_t frames = (size_t)w->stage->frame_count, joints = (size_t)skeleton->joint_count;
    b->frames = tr_alloc( frames, sizeof *b->frames );
    b->results = tr_alloc( frames, sizeof *b->results );
    b->local = tr_alloc( frames * joints, sizeof( quat ) );
    b->numbers = tr_alloc( frames, sizeof( int ) );
    if ( b->frames == NULL || b->results == NULL || b->local == NULL || b->numbers == NULL )
        return tr_error_memory( error );
    for ( int f = w->first; f <= w->last; ++f ) {
        if ( !w->affected[(size_t)actor * frames + (size_t)f] )
            continue;
        tr_pose pose = tr_world_pose( &w->graphs.worlds[actor], f );
        b->frames[b->count] = ( tr_fit_frame ){ .start = tr_clip_frame( &w->result->motions[actor].clip, f ),
                                                .root = pose.positions[0],
                                                .positions = pose.positions,
                                                .rotations = pose.rotations };
        b->results[b->count] = ( tr_fit_result ){ .local = b->local + (size_t)b->count * joints };
        b->numbers[b->count++] = f;
    }
    return tr_fit_build( &b->fit, skeleton, &w->def.fit, error ) &&
           tr_fit_scratch_build( &b->scratch, &b->fit, 1, tr_parallel_threads(), error );
}

static void batch_free( batch *b )
{
    tr_fit_scratch_free( &b->scratch );
    tr_fit_free( &b->fit );
    tr_free( b->frames );
    tr_free( b->results );
    tr_free( b->local );
    tr_free( b->numbers );
}

// How firmly the foot or hand that a joint belongs to stands, 0 … 1.
static double firmness( const tr_actor *actor, int joint, int frame )
{
    int carrier = tr_extremity_carrier( &actor->target, joint );
    double most = 0;
    for ( int i = 0; i < actor->footing_count; ++i )
        if ( actor->footings[i].joint == carrier )
            most = fmax( most, actor->footings[i].strength[frame] );
    return most;
}

// A foot that stands keeps its rotation without the mesh, which the last fit holds it at: legs are blended
// joint by joint, so a foot with equal rotations in both poses has another one in the blend. `mixed` is the
// new pose.
static void keep_standing( tr_mesh_work *w, int actor, int frame, tr_pose mixed )
{
    const tr_actor *a = &w->stage->actors[actor];
    tr_clip *clip = &w->result->motions[actor].clip;
    tr_pose before = tr_world_pose( &w->result->worlds[actor], frame );
    for ( int i = 0; i < a->footing_count; ++i ) {
        int foot = a->footings[i].joint, parent = a->target.joints[foot].parent;
        quat wanted =
            q_slerp( mixed.rotations[foot], before.rotations[foot], a->footings[i].strength[frame] );
        tr_clip_frame( clip, frame )[foot] =
            parent >= 0 ? q_unit( q_mul( q_conj( mixed.rotations[parent] ), wanted ) ) : wanted;
    }
}

void tr_mesh_blend( tr_mesh_work *w, int actor, int frame, const tr_fit_result *aimed )
{
    const tr_actor *a = &w->stage->actors[actor];
    tr_clip *clip = &w->result->motions[actor].clip;
    tr_pose mixed = tr_world_pose( &w->graphs.worlds[actor], frame );
    double share = share_at( w, actor, frame );
    quat *local = tr_clip_frame( clip, frame );
    for ( int j = 0; j < clip->joint_count; ++j )
        local[j] = q_slerp( local[j], aimed->local[j], share * ( 1 - firmness( a, j, frame ) ) );
    clip->root[frame] = v3_lerp( clip->root[frame], aimed->root, share );
    tr_forward( &a->target, clip, frame, mixed );
    keep_standing( w, actor, frame, mixed );
    tr_forward( &a->target, clip, frame, mixed );
    tr_forward( &a->target, clip, frame, tr_world_pose( &w->result->worlds[actor], frame ) );
}

// Bones are aimed along the mesh, then blended with the pose graphs' pose.
static bool aim_actor( tr_mesh_work *w, int actor, tr_error *error )
{
    batch b = { 0 };
    bool ok = batch_build( &b, w, actor, error ) &&
              tr_fit_solve( &b.fit, &b.scratch, b.frames, b.results, b.count, error );
    for ( int i = 0; ok && i < b.count; ++i )
        tr_mesh_blend( w, actor, b.numbers[i], &b.results[i] );
    batch_free( &b );
    return ok;
}

static bool ever_affected( const tr_mesh_work *w, int node )
{
    for ( int f = w->first; f <= w->last; ++f )
        if ( w->affected[(size_t)node * (size_t)w->stage->frame_count + (size_t)f] )
            return true;
    return false;
}

static void blend_prop( tr_mesh_work *w, int prop )
{
    int node = w->stage->actor_count + prop;
    for ( int f = 0; f < w->stage->frame_count; ++f ) {
        rigid *place = &w->result->tracks[prop][f], *wanted = &w->places[prop][f];
        double share = share_at( w, node, f );
        if ( share > 0 )
            *place = ( rigid ){ q_slerp( place->rotation, wanted->rotation, share ),
                                v3_lerp( place->position, wanted->position, share ) };
    }
}

// How far a foot that stands in full is from its place in the pose it has.
static vec3 lag_at( const tr_mesh_work *w, const tr_footing *footing, int frame )
{
    const tr_rule *rule = &w->stage->rules[footing->rule[frame]];
    return v3_sub( tr_rule_target( w->stage, w->result, rule, frame ),
                   tr_anchor_position( w->stage, w->result, &rule->a, frame ) );
}

typedef struct lag_frames { // those in which lags are asked for, and `span` more on either side
    int first, last, span;
} lag_frames;

// From the last frame in full, in one direction of time, a lag fades.
static void fade_lags( const tr_mesh_work *w, const tr_footing *footing, const lag_frames *in, int step,
                       vec3 *lags )
{
    int since = in->span + 1;
    vec3 last = v3_zero;
    for ( int f = step > 0 ? in->first : in->last; f >= in->first && f <= in->last; f += step ) {
        if ( footing->strength[f] >= 1 ) {
            last = lag_at( w, footing, f );
            since = 0;
        } else if ( since <= in->span )
            lags[f] = v3_mad( lags[f], tr_fade( ++since, in->span ), last );
    }
}

// The mesh has feet and hands near the places they stand at, and the last fit takes them there; on their way
// to and from them they lag behind as much, or they would jump.
static void find_lags( tr_mesh_work *w, int actor )
{
    const tr_actor *a = &w->stage->actors[actor];
    int frames = w->stage->frame_count, span = tr_frames_in( w->def.lag, w->stage->fps );
    lag_frames in = { w->first > span ? w->first - span : 0,
                      w->last + span < frames ? w->last + span : frames - 1, span };
    for ( int i = 0; i < a->footing_count; ++i ) {
        vec3 *lags = w->lags[actor] + (size_t)i * (size_t)frames;
        memset( lags, 0, (size_t)frames * sizeof( vec3 ) );
        for ( int step = -1; step <= 1; step += 2 )
            fade_lags( w, &a->footings[i], &in, step, lags );
    }
}

// Members that a rule joins to a member of a window are fitted again, too.
static bool spread_affected( tr_mesh_work *w, tr_error *error )
{
    const tr_stage *stage = w->stage;
    int nodes = stage->actor_count + stage->prop_count;
    bool *now = tr_alloc( (size_t)nodes, sizeof( bool ) );
    for ( int f = w->first; now != NULL && f <= w->last; ++f ) {
        bool any = false;
        for ( int n = 0; n < nodes; ++n ) {
            now[n] = w->affected[(size_t)n * (size_t)stage->frame_count + (size_t)f];
            any = any || now[n];
        }
        if ( any )
            tr_stage_reach( stage, f, now );
        for ( int n = 0; n < nodes; ++n )
            w->affected[(size_t)n * (size_t)stage->frame_count + (size_t)f] = now[n];
    }
    bool ok = now != NULL || tr_error_memory( error );
    tr_free( now );
    return ok;
}

// `few`: of a held frame, or where bodies are pushed out of each other, few are at work.
static bool fit_affected( tr_mesh_work *w, bool few, tr_error *error )
{
    tr_cluster_fit_def def = tr_default_cluster_fit_def( w->stage, w->result, &w->graphs );
    int nodes = w->stage->actor_count + w->stage->prop_count;
    int *set_of = few ? tr_alloc( (size_t)nodes, sizeof( int ) ) : NULL;
    if ( set_of == NULL && few )
        return tr_error_memory( error );
    for ( int n = 0; set_of != NULL && n < nodes; ++n )
        set_of[n] = ever_affected( w, n ) ? 0 : -1;
    def.set_of = set_of;
    def.affected = w->affected;
    def.lags = w->lags;
    def.first = w->first;
    def.last = w->last;
    tr_cluster_fitter *fitter = tr_cluster_fitter_create( &def, error );
    bool ok = fitter != NULL && tr_cluster_fitter_run( fitter, w->first, w->last, error );
    tr_cluster_fitter_destroy( fitter );
    tr_free( set_of );
    return ok;
}

bool tr_mesh_fit( tr_mesh_work *w, tr_error *error )
{
    const tr_stage *stage = w->stage;
    for ( int i = 0; i < stage->actor_count; ++i )
        if ( ever_affected( w, i ) ) {
            if ( !aim_actor( w, i, error ) )
                return false;
            if ( w->windows.count > 0 ) // a held frame is shown without what comes after it
                find_lags( w, i );
        }
    for ( int p = 0; p < stage->prop_count; ++p )
        if ( ever_affected( w, stage->actor_count + p ) )
            blend_prop( w, p );
    return spread_affected( w, error ) && fit_affected( w, w->windows.count == 0, error );
}

// Both ends of a link meet where the bodies were fitted.
bool tr_mesh_meet( tr_mesh_work *w, tr_error *error )
{
    const tr_stage *stage = w->stage;
    if ( !spread_affected( w, error ) )
        return false;
    for ( int i = 0; i < stage->actor_count; ++i ) {
        size_t joints = (size_t)stage->actors[i].target.joint_count;
        for ( int f = 0; f < stage->frame_count; ++f ) {
            tr_pose from = tr_world_pose( &w->result->worlds[i], f ),
                    to = tr_world_pose( &w->graphs.worlds[i], f );
            if ( !w->affected[(size_t)i * (size_t)stage->frame_count + (size_t)f] )
                continue;
            memcpy( to.positions, from.positions, joints * sizeof( vec3 ) );
            memcpy( to.rotations, from.rotations, joints * sizeof( quat ) );
        }
        if ( ever_affected( w, i ) )
            find_lags( w, i );
    }
    return fit_affected( w, true, error );
}
