// From moved points to moved bodies. Every bone of a grabbed character is aimed along its moved joints, so
// that lengths stay what they are; a prop takes the rigid motion nearest to that of its corners. What a
// handle holds gets a rule of its own over the whole window, so that a point that is dragged at one frame
// does not stand out among its neighbours.
#include "scene/layer.h"

#include <string.h>

// -------------------------------------------------------------------------------------------------- turning

#define SPAN  0.3 // seconds to either side over which the direction of a way is taken
#define SPEED 0.1 // m/s: below this a way has hardly a direction

static vec3 mean_point( const vec3 *points, int count )
{
    vec3 sum = v3_zero;
    for ( int i = 0; i < count; ++i )
        sum = v3_add( sum, points[i] );
    return v3_scale( 1.0 / count, sum );
}

static size_t cell( const tr_cage_layer *l, int f, int point )
{
    return (size_t)f * (size_t)l->point_count + (size_t)point;
}

// What leads a body: its root when it is grabbed; a prop's middle. -1 when there is nothing.
static int leader( const tr_cage_layer *l, int node, int *count )
{
    int first = tr_cage_layer_points( l, node, count );
    if ( node >= l->stage->actor_count || first < 0 )
        return first;
    *count = 1;
    return tr_cage_layer_joint( l, node, 0 );
}

static vec3 step_along( const tr_cage_layer *l, const vec3 *points, int first, int count, int f )
{
    int a = f > 0 ? f - 1 : f, b = f + 1 < l->frame_count ? f + 1 : f;
    return v3_horizontal( v3_sub( mean_point( points + cell( l, b, first ), count ),
                                  mean_point( points + cell( l, a, first ), count ) ) );
}

// Angle between the directions before and after. Steps t and t' as complex numbers: arg Σ w conj(t) t' over a
// span of time, with a little real added, so that who stands does not turn.
static double heading_change( const tr_cage_layer *l, int first, int count, int f )
{
    int span = (int)ceil( SPAN * l->stage->fps );
    double least = 2 * SPEED / l->stage->fps, along = 0, across = 0;
    for ( int k = -span; k <= span; ++k ) {
        if ( f + k < 0 || f + k >= l->frame_count )
            continue;
        double w = 1 + cos( TR_PI * k / ( span + 1.0 ) );
        vec3 t = step_along( l, l->before, first, count, f + k ),
             moved = step_along( l, l->after, first, count, f + k );
        along += w * ( t.x * moved.x + t.z * moved.z + least * least );
        across += w * ( t.z * moved.x - t.x * moved.z );
    }
    int before, after;
    tr_cage_layer_limits( l, &before, &after );
    double inside = fmin( l->begin + f - before, after - l->begin - f );
    return atan2( across, along ) * smooth_step5( clampd( inside / ( span + 1.0 ), 0, 1 ) );
}

static void turn_node( tr_cage_layer *l, int node, double *angles )
{
    int count, all, lead = leader( l, node, &count ), first = tr_cage_layer_points( l, node, &all );
    if ( lead < 0 )
        return;
    for ( int f = 0; f < l->frame_count; ++f )
        angles[f] = tr_cage_layer_moves( l, node, l->begin + f ) ? heading_change( l, lead, count, f ) : 0;
    for ( int f = 0; f < l->frame_count; ++f ) {
        vec3 *points = l->after + cell( l, f, first ),
             centre = mean_point( l->after + cell( l, f, lead ), count );
        quat turn = q_axis_angle( v3_y, angles[f] );
        for ( int p = 0; angles[f] != 0 && p < all; ++p )
            points[p] = v3_add( centre, q_rotate( turn, v3_sub( points[p], centre ) ) );
    }
}

bool tr_cage_layer_turn( tr_cage_layer *l, tr_error *error )
{
    if ( !l->layer->turn )
        return true;
    double *angles = tr_alloc( (size_t)l->frame_count, sizeof( double ) );
    if ( angles == NULL )
        return tr_error_memory( error );
    for ( int n = 0; n < l->stage->actor_count + l->stage->prop_count; ++n )
        turn_node( l, n, angles );
    tr_free( angles );
    return true;
}

// Largest tr(Rᵀ Σ p' pᵀ) from the middle; what its points leave open (a straight arm's twist) stays as it is.
quat tr_cage_layer_rotation( const tr_cage_layer *l, int node, int frame )
{
    int count, first = tr_cage_layer_points( l, node, &count );
    if ( first < 0 || !tr_cage_layer_moves( l, node, frame ) )
        return q_identity;
    const vec3 *from = l->before + cell( l, frame - l->begin, first ),
               *to = l->after + cell( l, frame - l->begin, first );
    vec3 a = mean_point( from, count ), b = mean_point( to, count );
    mat3 m = { 0 };
    double size = 0;
    for ( int p = 0; p < count; ++p ) {
        vec3 u = v3_sub( from[p], a ), v = v3_sub( to[p], b );
        m = m3_add_outer( m, v, u );
        size += v3_dot( u, u );
    }
    m.cx.x += 1e-5 * size;
    m.cy.y += 1e-5 * size;
    m.cz.z += 1e-5 * size;
    return size > 0 ? q_fit( m ) : q_identity;
}

// ---------------------------------------------------------------------------------------------------- poses

typedef struct aiming { // of the moved frames of one actor
    tr_fit fit;
    tr_fit_scratch scratch;
    tr_fit_frame *frames;
    tr_fit_result *results;
    vec3 *positions; // [frame_count * joint_count]
    quat *rotations, *locals;
    int *stage_frames, count;
} aiming;

static void aiming_free( aiming *a )
{
    tr_fit_free( &a->fit );
    tr_fit_scratch_free( &a->scratch );
    tr_free( a->frames );
    tr_free( a->results );
    tr_free( a->positions );
    tr_free( a->rotations );
    tr_free( a->locals );
    tr_free( a->stage_frames );
}

static bool aiming_build( aiming *a, const tr_cage_layer *l, int actor, tr_error *error )
{
    const tr_skeleton *skeleton = &l->stage->actors[actor].target;
    size_t frames = (size_t)l->frame_count, cells = frames * (size_t)skeleton->joint_count;
    tr_fit_def def = tr_default_fit_def();
    a->frames = tr_alloc( frames, sizeof( tr_fit_frame ) );
    a->results = tr_alloc( frames, sizeof( tr_fit_result ) );
    a->positions = tr_alloc( cells, sizeof( vec3 ) );
    a->rotations = tr_alloc( cells, sizeof( quat ) );
    a->locals = tr_alloc( cells, sizeof( quat ) );
    a->stage_frames = tr_alloc( frames, sizeof( int ) );
    if ( a->frames == NULL || a->results == NULL || a->positions == NULL || a->rotations == NULL ||
         a->locals == NULL || a->stage_frames == NULL )
        return tr_error_memory( error );
    return tr_fit_build( &a->fit, skeleton, &def, error ) &&
           tr_fit_scratch_build( &a->scratch, &a->fit, 1, tr_parallel_threads(), error );
}

static void aim_frame( aiming *a, const tr_cage_layer *l, int actor, int frame )
{
    int joints = l->stage->actors[actor].target.joint_count, n = a->count++;
    size_t at = (size_t)n * (size_t)joints;
    tr_pose below = tr_world_pose( &l->result->worlds[actor], frame );
    quat turn = tr_cage_layer_rotation( l, actor, frame );
    memcpy( a->positions + at, below.positions, (size_t)joints * sizeof( vec3 ) );
    memcpy( a->rotations + at, below.rotations, (size_t)joints * sizeof( quat ) );
    int count, first = tr_cage_layer_points( l, actor, &count );
    for ( int p = first; p < first + count; ++p ) {
        size_t j = at + (size_t)l->bound[p].part;
        a->positions[j] = l->after[cell( l, frame - l->begin, p )];
        a->rotations[j] = q_unit( q_mul( turn, a->rotations[j] ) );
    }
    a->stage_frames[n] = frame;
    a->frames[n] = ( tr_fit_frame ){ .start = tr_clip_frame( &l->result->motions[actor].clip, frame ),
                                     .root = a->positions[at],
                                     .positions = a->positions + at,
                                     .rotations = a->rotations + at };
    a->results[n] = ( tr_fit_result ){ .local = a->locals + at };
}

static bool is_below( const tr_skeleton *skeleton, int joint, int above )
{
    while ( joint > above )
        joint = skeleton->joints[joint].parent;
    return joint == above;
}

// Feet that stand keep the way they roll and tilt in the result below (whose joints are still in worlds);
// about the vertical they turn with their step, not with the body above. `pose` is scratch.
static void orient_feet( const tr_cage_layer *l, int actor, int frame, tr_pose pose )
{
    tr_motion *motion = &l->result->motions[actor];
    const tr_skeleton *skeleton = &motion->skeleton;
    tr_pose below = tr_world_pose( &l->result->worlds[actor], frame );
    quat *local = tr_clip_frame( &motion->clip, frame );
    tr_forward( skeleton, &motion->clip, frame, pose );
    for ( int i = 0; i < l->foot_count; ++i ) {
        const tr_moved_foot *foot = &l->feet[i];
        if ( foot->actor != actor )
            continue;
        for ( int j = foot->joint + 1; j < skeleton->joint_count; ++j )
            if ( is_below( skeleton, j, foot->joint ) )
                local[j] = q_unit(
                    q_mul( q_conj( below.rotations[skeleton->joints[j].parent] ), below.rotations[j] ) );
        tr_ik_orient( skeleton, local, pose, foot->joint,
                      q_mul( q_axis_angle( v3_y, foot->turns[frame] ), below.rotations[foot->joint] ) );
    }
}

static bool turn_body( const tr_cage_layer *l, int actor, int frame, tr_error *error )
{
    if ( tr_cage_layer_joint( l, actor, 0 ) < 0 )
        return true;
    double *turns = tr_result_turns( l->result, actor );
    if ( turns == NULL )
        return tr_error_memory( error );
    turns[frame] += tr_yaw( tr_cage_layer_rotation( l, actor, frame ) );
    return true;
}

static bool pose_actor( tr_cage_layer *l, int actor, tr_error *error )
{
    aiming a = { 0 };
    bool ok = aiming_build( &a, l, actor, error );
    for ( int f = l->begin; ok && f < l->begin + l->frame_count; ++f )
        if ( tr_cage_layer_moves( l, actor, f ) ) {
            aim_frame( &a, l, actor, f );
            l->affected[(size_t)actor * (size_t)l->stage->frame_count + (size_t)f] = true;
            ok = turn_body( l, actor, f, error );
        }
    ok = ok && tr_fit_solve( &a.fit, &a.scratch, a.frames, a.results, a.count, error );
    tr_motion *motion = &l->result->motions[actor];
    for ( int n = 0; ok && n < a.count; ++n ) {
        memcpy( tr_clip_frame( &motion->clip, a.stage_frames[n] ), a.results[n].local,
                (size_t)motion->skeleton.joint_count * sizeof( quat ) );
        motion->clip.root[a.stage_frames[n]] = a.results[n].root;
        orient_feet( l, actor, a.stage_frames[n], ( tr_pose ){ a.rotations, a.positions } );
    }
    bool changed = a.count > 0;
    aiming_free( &a );
    if ( !ok || !changed )
        return ok;
    tr_world_free( &l->result->worlds[actor] );
    return tr_world_build( &l->result->worlds[actor], motion, error );
}

static void pose_prop( tr_cage_layer *l, int prop )
{
    int node = l->stage->actor_count + prop, count, first = tr_cage_layer_points( l, node, &count );
    for ( int f = l->begin; first >= 0 && f < l->begin + l->frame_count; ++f ) {
        if ( !tr_cage_layer_moves( l, node, f ) )
            continue;
        rigid *place = &l->result->tracks[prop][f];
        place->rotation = q_unit( q_mul( tr_cage_layer_rotation( l, node, f ), place->rotation ) );
        place->position = mean_point( l->after + cell( l, f - l->begin, first ), count );
        l->affected[(size_t)node * (size_t)l->stage->frame_count + (size_t)f] = true;
    }
}

// ---------------------------------------------------------------------------------------------------- rules

static bool same_anchor( const tr_anchor *a, const tr_anchor *b )
{
    bool same = a->actor == b->actor && a->prop == b->prop && a->count == b->count &&
                v3_distance( a->offset, b->offset ) == 0;
    for ( int i = 0; same && i < a->count; ++i )
        same = a->joints[i] == b->joints[i] && a->weights[i] == b->weights[i];
    return same;
}

// A hard rule that leads `anchor` along the next path.
static void add_rule( tr_cage_layer *l, const tr_anchor *anchor )
{
    tr_rule *rule = tr_rule_append( &l->edited );
    rule->kind = TR_CONSTRAINT_ABSOLUTE;
    rule->a = *anchor;
    rule->first = l->begin;
    rule->last = l->begin + l->frame_count - 1;
    rule->path = l->paths + (size_t)l->path_count++ * (size_t)l->stage->frame_count;
}

static bool has_rule( const tr_cage_layer *l, const tr_anchor *anchor )
{
    for ( int r = l->stage->rule_count; r < l->edited.rule_count; ++r )
        if ( same_anchor( &l->edited.rules[r].a, anchor ) )
            return true;
    return false;
}

// Where the cage takes a point of the result below, frame by frame.
static void trace( tr_cage_layer *l, const tr_anchor *anchor )
{
    vec3 *path = l->paths + (size_t)l->path_count * (size_t)l->stage->frame_count;
    for ( int f = l->begin; f < l->begin + l->frame_count; ++f ) {
        vec3 place = tr_anchor_position( l->stage, l->result, anchor, f );
        tr_cage_move_points( &l->cage, f, &place, 1, &path[f] );
    }
}

// Before anything is posed: the paths are those of the result below.
static void lead_handles( tr_cage_layer *l )
{
    for ( int h = 0; h < l->handle_count; ++h ) {
        const tr_anchor *anchor = &l->stage->handles[l->handle_index[h]];
        if ( l->handles[h].kind != TR_HANDLE_POINT || anchor->prop >= 0 || has_rule( l, anchor ) )
            continue;
        trace( l, anchor );
        add_rule( l, anchor );
    }
}

// After they are posed: props stay where they were put.
static void lead_props( tr_cage_layer *l )
{
    for ( int p = 0; p < l->stage->prop_count; ++p ) {
        if ( !l->grab->props[p] )
            continue;
        tr_anchor centre = { .actor = -1, .prop = p };
        vec3 *path = l->paths + (size_t)l->path_count * (size_t)l->stage->frame_count;
        for ( int f = l->begin; f < l->begin + l->frame_count; ++f )
            path[f] = l->result->tracks[p][f].position;
        add_rule( l, &centre );
    }
}

// How far the result below is from a rule, frame by frame, as far as it pulls in the window.
static bool note_miss( tr_cage_layer *l, int r )
{
    const tr_stage *stage = l->stage;
    const tr_rule *rule = &stage->rules[r];
    bool places = rule->kind == TR_CONSTRAINT_CONTACT || rule->kind == TR_CONSTRAINT_RELATIVE ||
                  ( rule->kind == TR_CONSTRAINT_ABSOLUTE && !rule->direction );
    int before, after, a = tr_anchor_node( stage, &rule->a ), b = tr_anchor_node( stage, &rule->b );
    if ( !places || !( ( a >= 0 && l->linked[a] ) || ( b >= 0 && l->linked[b] ) ) )
        return true;
    tr_cage_layer_limits( l, &before, &after );
    for ( int f = before < 0 ? 0 : before; f <= after && f < stage->frame_count; ++f ) {
        if ( tr_rule_pull( stage, rule, f ) <= 0 )
            continue;
        if ( l->misses[r] == NULL )
            l->misses[r] = tr_alloc( (size_t)stage->frame_count, sizeof( vec3 ) );
        if ( l->misses[r] == NULL )
            return false;
        vec3 at = tr_anchor_position( stage, l->result, &rule->a, f );
        if ( rule->kind == TR_CONSTRAINT_RELATIVE )
            at = v3_sub( at, tr_anchor_position( stage, l->result, &rule->b, f ) );
        l->misses[r][f] = v3_sub( at, tr_rule_target( stage, l->result, rule, f ) );
    }
    l->edited.rules[r].miss = l->misses[r];
    return true;
}

bool tr_cage_layer_rules( tr_cage_layer *l, tr_error *error )
{
    const tr_stage *stage = l->stage;
    int most = l->handle_count + stage->prop_count;
    l->edited.rule_capacity = stage->rule_count + most;
    l->edited.rules = tr_alloc( (size_t)l->edited.rule_capacity, sizeof( tr_rule ) );
    l->paths = tr_alloc( (size_t)most * (size_t)stage->frame_count, sizeof( vec3 ) );
    l->misses = tr_alloc( (size_t)stage->rule_count, sizeof( vec3 * ) );
    bool ok = l->edited.rules != NULL && l->paths != NULL && l->misses != NULL;
    if ( ok )
        memcpy( l->edited.rules, stage->rules, (size_t)stage->rule_count * sizeof( tr_rule ) );
    for ( int r = 0; ok && r < stage->rule_count; ++r )
        ok = note_miss( l, r );
    return ok || tr_error_memory( error );
}

bool tr_cage_layer_pose( tr_cage_layer *l, tr_error *error )
{
    lead_handles( l );
    for ( int i = 0; i < l->stage->actor_count; ++i )
        if ( l->grab->joints[i] != NULL && !pose_actor( l, i, error ) )
            return false;
    for ( int p = 0; p < l->stage->prop_count; ++p )
        if ( l->grab->props[p] )
            pose_prop( l, p );
    lead_props( l );
    return true;
}
