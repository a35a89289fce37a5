// The baselines. `copy` gives the target the source's joint rotations and a scaled root path. `copy-ik` then
// bends each arm and leg, frame by frame and alone, so that its hand or foot comes to where the rules want
// it.
#include "scene/scene_private.h"

#include <stdatomic.h>

// -------------------------------------------------------------------------------------------------- copy

// Horizontally with the group; the height above the ankles with the character's own legs, from what it stands
// on.
static vec3 body_place( const tr_stage *stage, const tr_actor *actor, vec3 source, int frame )
{
    vec3 place = tr_group_place( &stage->groups[actor->group], source );
    tr_sole ankles = tr_actor_ankles( actor );
    place.y = stage->ground + ankles.target + actor->leg_ratio * ( source.y - stage->ground - ankles.source );
    if ( actor->lift != NULL )
        place.y += actor->lift[frame];
    return place;
}

static bool is_identity( quat q )
{
    return q_dot( q, q_identity ) == 1.0;
}

// Is the source's rotation of this joint against the same parent the target's as well?
static bool copies_locally( const tr_actor *actor, int joint )
{
    int parent = actor->target.joints[joint].parent;
    return actor->source.skeleton.joints[joint].parent == parent && is_identity( actor->align[joint] ) &&
           !tr_joint_blends( actor, joint ) &&
           ( parent < 0 || ( actor->map[parent] == parent && is_identity( actor->align[parent] ) &&
                             !tr_joint_blends( actor, parent ) ) );
}

// World rotation of every mapped joint = the source's · align; joints that nothing drives keep their own
// animation or their rest rotation. Where source and target hierarchies agree this is the source's local
// rotation up to rounding; the exact one is taken then.
static void copy_frame( const tr_actor *actor, int frame, quat *local, quat *world )
{
    const tr_skeleton *target = &actor->target;
    tr_pose source = tr_world_pose( &actor->world, frame );
    const quat *source_local = tr_clip_frame( &actor->source.clip, frame );
    for ( int j = 0; j < target->joint_count; ++j ) {
        int from = actor->map[j], parent = target->joints[j].parent;
        quat above = parent < 0 ? q_identity : world[parent];
        if ( from == j && copies_locally( actor, j ) )
            local[j] = source_local[from];
        else if ( from >= 0 )
            local[j] = q_unit( q_mul( q_conj( above ), tr_actor_source_turn( actor, j, source.rotations ) ) );
        else
            local[j] =
                actor->own.frame_count > 0 ? tr_clip_frame( &actor->own, frame )[j] : target->joints[j].rest;
        world[j] = q_mul( above, local[j] );
    }
}

int tr_actor_pelvis( const tr_actor *actor )
{
    for ( int j = 0; j < actor->target.joint_count; ++j )
        if ( actor->target.joints[j].role == TR_ROLE_ROOT && actor->map[j] >= 0 )
            return j;
    return 0;
}

// From the root to a joint, in world axes.
static vec3 from_root( const tr_skeleton *skeleton, const quat *world, int joint )
{
    vec3 sum = v3_zero;
    for ( int j = joint; j > 0; j = skeleton->joints[j].parent )
        sum = v3_add( sum, q_rotate( world[skeleton->joints[j].parent], skeleton->joints[j].offset ) );
    return sum;
}

// The joints that carry the body: of one from another file, whose pelvis may lie elsewhere between its legs,
// the hips on which these hang; else, and where nothing drives the legs, the pelvis.
static int carriers( const tr_actor *actor, int joints[2] )
{
    int pelvis = tr_actor_pelvis( actor ), count = 0;
    for ( int j = 0; actor->foreign && j < actor->target.joint_count && count < 2; ++j )
        if ( actor->target.joints[j].role == TR_ROLE_THIGH && actor->target.joints[j].parent == pelvis &&
             actor->map[j] >= 0 )
            joints[count++] = j;
    if ( count < 2 )
        joints[0] = pelvis;
    return count < 2 ? 1 : 2;
}

static bool copy_actor( const tr_stage *stage, const tr_actor *actor, tr_motion *out, tr_error *error )
{
    quat *world = tr_alloc( (size_t)actor->target.joint_count, sizeof( quat ) );
    int hips[2], hip_count = carriers( actor, hips );
    bool ok = world != NULL || tr_error_memory( error );
    ok = ok && tr_skeleton_copy( &out->skeleton, &actor->target, error ) &&
         tr_clip_alloc( &out->clip, stage->frame_count, actor->target.joint_count, stage->fps, false, error );
    for ( int f = 0; ok && f < stage->frame_count; ++f ) {
        copy_frame( actor, f, tr_clip_frame( &out->clip, f ), world );
        if ( actor->map[0] < 0 && actor->own.frame_count > 0 ) { // it goes its own way
            out->clip.root[f] = actor->own.root[f];
            continue;
        }
        vec3 source = v3_zero, from = v3_zero;
        for ( int h = 0; h < hip_count; ++h ) {
            source = v3_mad(
                source, 1.0 / hip_count,
                tr_actor_source_place( actor, hips[h], tr_world_pose( &actor->world, f ).positions ) );
            from = v3_mad( from, 1.0 / hip_count, from_root( &actor->target, world, hips[h] ) );
        }
        out->clip.root[f] = v3_sub( body_place( stage, actor, source, f ), from );
    }
    tr_free( world );
    return ok;
}

bool tr_copied_world( tr_world *out, const tr_stage *stage, int actor, tr_error *error )
{
    tr_motion motion = { 0 };
    *out = ( tr_world ){ 0 };
    bool ok =
        copy_actor( stage, &stage->actors[actor], &motion, error ) && tr_world_build( out, &motion, error );
    tr_motion_free( &motion );
    return ok;
}

// Nothing stands in the way of a prop's rotation: it takes what it is asked for, a soft rule's share of it.
static void turn_prop( const tr_stage *stage, tr_result *result, const tr_rule *rule )
{
    double most = rule->hard ? 1.0 : rule->weight / ( 1.0 + rule->weight );
    for ( int f = 0; f < stage->frame_count; ++f ) {
        quat *now = &result->tracks[rule->a.prop][f].rotation;
        double share = most * tr_rule_strength( rule, f );
        if ( share > 0 )
            *now = q_slerp( *now, tr_rule_rotation( stage, result, rule, f ), share );
    }
}

typedef struct copy_job {
    const tr_stage *stage;
    tr_result *result;
    atomic_bool failed;
} copy_job;

static void copy_actors( void *context, int begin, int end )
{
    copy_job *job = context;
    tr_error error;
    for ( int i = begin; i < end; ++i )
        if ( !copy_actor( job->stage, &job->stage->actors[i], &job->result->motions[i], &error ) )
            job->failed = true;
}

bool tr_solve_copy( const tr_stage *stage, tr_result *result, tr_error *error )
{
    copy_job job = { .stage = stage, .result = result };
    tr_parallel_for( stage->actor_count, 1, copy_actors, &job );
    if ( job.failed )
        return tr_error_memory( error );
    for ( int p = 0; p < stage->prop_count; ++p )
        for ( int f = 0; f < stage->frame_count; ++f ) {
            rigid source = stage->props[p].track[f];
            const tr_group *group = &stage->groups[stage->props[p].group];
            result->tracks[p][f] = ( rigid ){ source.rotation, tr_group_place( group, source.position ) };
        }
    for ( int r = 0; r < stage->rule_count; ++r )
        if ( stage->rules[r].kind == TR_CONSTRAINT_ORIENTATION && stage->rules[r].a.prop >= 0 )
            turn_prop( stage, result, &stage->rules[r] );
    return true;
}

// ----------------------------------------------------------------------------------------------- copy-ik

// The one chain that moves all joints of an anchor as a whole.
static bool anchor_chain( const tr_skeleton *skeleton, const tr_anchor *anchor, tr_limb_chain *out )
{
    if ( anchor->count == 0 || !tr_limb_chain_find( skeleton, anchor->joints[0], out ) )
        return false;
    for ( int i = 1; i < anchor->count; ++i ) {
        tr_limb_chain other;
        if ( !tr_limb_chain_find( skeleton, anchor->joints[i], &other ) || other.end != out->end )
            return false;
    }
    return true;
}

typedef struct ik_job {
    const tr_stage *stage;
    tr_result *result; // motions are changed; worlds hold the copied pose for reference
    int actor;
    const int *rules; // [rule_count] those that pull on a limb of this actor
    int rule_count;
    quat *rotations; // [frame_count * joint_count] scratch
    vec3 *positions;
    atomic_bool failed;
} ik_job;

// Where a rule wants the given end of it, judged from the copied pose. Two bodies meet half way.
static vec3 wanted_place( const tr_stage *stage, const tr_result *copied, const tr_rule *rule, bool is_a,
                          int frame )
{
    vec3 target = tr_rule_target( stage, copied, rule, frame );
    if ( rule->kind != TR_CONSTRAINT_RELATIVE )
        return target;
    vec3 a = tr_anchor_position( stage, copied, &rule->a, frame );
    vec3 b = tr_anchor_position( stage, copied, &rule->b, frame );
    vec3 miss = v3_sub( v3_add( b, target ), a ); // what a has to move if b stays
    const tr_anchor *other = is_a ? &rule->b : &rule->a;
    double share = other->actor >= 0 ? 0.5 : 1.0;
    return is_a ? v3_mad( a, share, miss ) : v3_mad( b, -share, miss );
}

typedef struct demand {              // what several rules ask of one axis together
    double shift, weight, strongest; // Σ pull · miss, Σ pull, the largest share of a miss
} demand;

enum { HARD, SOFT, RANKS };

typedef struct pull { // what all rules on one chain ask for together
    tr_limb_chain chain;
    demand demands[RANKS][3];
} pull;

// A hard rule asks for all of its miss, a soft one for its weight's share, all of it from 1 on; soft ones
// share by weight among themselves. Axes a rule does not act on are left to the others.
static void add_demand( pull *p, const tr_rule *rule, double strength, vec3 miss )
{
    const double misses[3] = { miss.x, miss.y, miss.z };
    double pulling = rule->hard ? strength : strength * rule->weight;
    for ( int i = 0; i < 3; ++i ) {
        demand *d = &p->demands[rule->hard ? HARD : SOFT][i];
        if ( !rule->axis[i] )
            continue;
        d->shift += pulling * misses[i];
        d->weight += pulling;
        d->strongest = fmax( d->strongest, fmin( pulling, strength ) );
    }
}

// The mean of what is asked for, faded by the strongest who asks.
static double settled( const demand *d )
{
    return d->weight > 0 ? d->strongest / d->weight * d->shift : 0;
}

// Soft rules get what hard ones leave: nothing at their full strength, more as they fade.
static vec3 total_shift( const pull *p )
{
    double sum[3];
    for ( int i = 0; i < 3; ++i ) {
        const demand *hard = &p->demands[HARD][i];
        sum[i] = settled( hard ) + ( 1.0 - hard->strongest ) * settled( &p->demands[SOFT][i] );
    }
    return v3( sum[0], sum[1], sum[2] );
}

static void gather( const ik_job *job, int frame, pull *pulls, int *pull_count )
{
    const tr_skeleton *skeleton = &job->stage->actors[job->actor].target;
    for ( int i = 0; i < job->rule_count; ++i ) {
        const tr_rule *rule = &job->stage->rules[job->rules[i]];
        double strength = tr_rule_strength( rule, frame );
        for ( int e = 0; e < 2 && strength > 0; ++e ) {
            const tr_anchor *anchor = e == 0 ? &rule->a : &rule->b;
            tr_limb_chain found;
            if ( anchor->actor != job->actor || !anchor_chain( skeleton, anchor, &found ) )
                continue;
            int p = 0;
            while ( p < *pull_count && pulls[p].chain.end != found.end )
                p++;
            if ( p == *pull_count )
                pulls[( *pull_count )++] = ( pull ){ .chain = found };
            vec3 now = tr_anchor_position( job->stage, job->result, anchor, frame );
            vec3 miss = v3_sub( wanted_place( job->stage, job->result, rule, e == 0, frame ), now );
            add_demand( &pulls[p], rule, strength, miss );
        }
    }
}

// Moves the end of the chain by the shift the rules ask for; hand and foot keep their world rotation.
static void apply( const ik_job *job, quat *local, tr_pose pose, const pull *p )
{
    const tr_skeleton *skeleton = &job->stage->actors[job->actor].target;
    vec3 target = v3_add( pose.positions[p->chain.end], total_shift( p ) );
    tr_ik_limb( skeleton, local, pose, &p->chain, target, pose.rotations[p->chain.end] );
}

static void solve_frames( void *context, int begin, int end )
{
    ik_job *job = context;
    pull *pulls = tr_alloc( 2 * (size_t)job->rule_count, sizeof( pull ) );
    if ( pulls == NULL ) {
        job->failed = true; // every block that fails writes the same
        return;
    }
    tr_motion *motion = &job->result->motions[job->actor];
    size_t joints = (size_t)motion->skeleton.joint_count;
    for ( int f = begin; f < end; ++f ) {
        int count = 0;
        gather( job, f, pulls, &count );
        tr_pose pose = { job->rotations + (size_t)f * joints, job->positions + (size_t)f * joints };
        tr_forward( &motion->skeleton, &motion->clip, f, pose );
        for ( int p = 0; p < count; ++p )
            apply( job, tr_clip_frame( &motion->clip, f ), pose, &pulls[p] );
    }
    tr_free( pulls );
}

// Contacts, relations and places; centres of mass and rotations are not for inverse kinematics of one limb.
static bool pulls_limb( const tr_rule *rule )
{
    return rule->kind == TR_CONSTRAINT_CONTACT || rule->kind == TR_CONSTRAINT_RELATIVE ||
           ( rule->kind == TR_CONSTRAINT_ABSOLUTE && !rule->direction );
}

// rules [count] name the actor; those that pull on no limb are dropped.
static bool solve_actor( const tr_stage *stage, tr_result *result, int actor, int *rules, int count,
                         tr_error *error )
{
    size_t cells = (size_t)stage->frame_count * (size_t)stage->actors[actor].target.joint_count;
    ik_job job = { .stage = stage, .result = result, .actor = actor, .rules = rules };
    job.rotations = tr_alloc( cells, sizeof( quat ) );
    job.positions = tr_alloc( cells, sizeof( vec3 ) );
    bool ok = job.rotations != NULL && job.positions != NULL;
    for ( int i = 0; ok && i < count; ++i )
        if ( pulls_limb( &stage->rules[rules[i]] ) )
            rules[job.rule_count++] = rules[i];
    if ( ok )
        tr_parallel_for( stage->frame_count, 16, solve_frames, &job );
    tr_free( job.rotations );
    tr_free( job.positions );
    return ( ok && !job.failed ) || tr_error_memory( error );
}

bool tr_solve_copy_ik( const tr_stage *stage, tr_result *result, tr_error *error )
{
    if ( !tr_solve_copy( stage, result, error ) )
        return false;
    if ( !tr_worlds_build( result->worlds, result->motions, stage->actor_count, error ) )
        return false;
    int *begin, *rules; // of each actor
    bool ok = tr_rules_by_actor( stage, &begin, &rules ) || tr_error_memory( error );
    for ( int i = 0; ok && i < stage->actor_count; ++i )
        ok = tr_progress_report( stage->progress, i, stage->actor_count, error ) &&
             solve_actor( stage, result, i, rules + begin[i], begin[i + 1] - begin[i], error );
    tr_free( begin );
    tr_free( rules );
    for ( int i = 0; ok && i < stage->actor_count; ++i )
        tr_world_free( &result->worlds[i] ); // of the copied pose
    return ok;
}
