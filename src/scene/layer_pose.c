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

// What leads a body: its root when it is grabbed; a prop's middle. -1 when there is nothing.
static int leader( const tr_cage_layer *l, int node, int *count )
{
    int first = tr_cage_layer_points( l, node, count );
    if ( node >= l->stage->actor_count || first < 0 )
        return first;
    *count = 1;
    return tr_cage_layer_joint( l, node, 0 );
}

// ------------------------------------------------------------------------------------------------- upright

static bool is_whole( const tr_cage_layer *l, int node )
{
    return node >= l->stage->actor_count || tr_cage_layer_joint( l, node, 0 ) >= 0;
}

static bool handles_tilt( const tr_cage_layer *l )
{
    for ( int h = 0; h < l->handle_count; ++h ) {
        vec3 turn = l->stage->scene->handles[l->handle_index[h]].turn;
        if ( turn.x != 0 || turn.z != 0 )
            return true;
    }
    return false;
}

// A cage leans where it is pulled at one height; who is in it stays upright, as long as nobody turns a
// section over. Of the rotation Q nearest to what became of the points only the part Y about the vertical is
// kept, and what Q leaves over goes with it: p' = c' + Y Q⁻¹ (p' − c'), about what leads the body. In a cage
// around several nothing is left over: it bends between bodies, not within them.
static void set_upright( tr_cage_layer *l, int node )
{
    int count, all, lead = leader( l, node, &count ), first = tr_cage_layer_points( l, node, &all );
    bool several = tr_cage_layer_holds_several( l );
    for ( int f = 0; f < l->frame_count; ++f ) {
        if ( !tr_cage_layer_moves( l, node, l->begin + f ) )
            continue;
        quat q = tr_cage_layer_rotation( l, node, l->begin + f );
        quat yaw = q_axis_angle( v3_y, tr_yaw( q ) ), back = q_mul( yaw, q_conj( q ) );
        vec3 *points = l->after + cell( l, f, first ),
             centre = mean_point( l->after + cell( l, f, lead ), count );
        if ( several ) {
            vec3 before = mean_point( l->before + cell( l, f, lead ), count );
            const vec3 *from = l->before + cell( l, f, first );
            for ( int p = 0; p < all; ++p )
                points[p] = v3_add( centre, q_rotate( yaw, v3_sub( from[p], before ) ) );
            continue;
        }
        for ( int p = 0; p < all; ++p )
            points[p] = v3_add( centre, q_rotate( back, v3_sub( points[p], centre ) ) );
    }
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

// What a rule misses turns with those it joins: one that fades in is far off yet, and in the way its bodies
// stand.
static void turn_misses( tr_cage_layer *l )
{
    for ( int r = 0; r < l->stage->rule_count; ++r ) {
        const tr_rule *rule = &l->stage->rules[r];
        int nodes[2] = { tr_anchor_node( l->stage, &rule->b ), tr_anchor_node( l->stage, &rule->a ) };
        for ( int f = l->begin; l->misses[r] != NULL && f < l->begin + l->frame_count; ++f )
            for ( int end = 0; end < 2; ++end )
                if ( nodes[end] >= 0 && is_whole( l, nodes[end] ) &&
                     tr_cage_layer_moves( l, nodes[end], f ) ) {
                    double yaw = tr_yaw( tr_cage_layer_rotation( l, nodes[end], f ) );
                    l->misses[r][f] = q_rotate( q_axis_angle( v3_y, yaw ), l->misses[r][f] );
                    break;
                }
    }
}

bool tr_cage_layer_turn( tr_cage_layer *l, tr_error *error )
{
    int nodes = l->stage->actor_count + l->stage->prop_count;
    for ( int n = 0; !handles_tilt( l ) && n < nodes; ++n )
        if ( is_whole( l, n ) )
            set_upright( l, n );
    double *angles = tr_alloc( (size_t)l->frame_count, sizeof( double ) );
    if ( angles == NULL )
        return tr_error_memory( error );
    for ( int n = 0; l->layer->turn && n < nodes; ++n )
        turn_node( l, n, angles );
    tr_free( angles );
    turn_misses( l );
    return true;
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

static quat local_rotation( const tr_skeleton *skeleton, tr_pose pose, int joint )
{
    return q_unit( q_mul( q_conj( pose.rotations[skeleton->joints[joint].parent] ), pose.rotations[joint] ) );
}

// Hands and feet are too small to be bent by a cage around the whole limb: they keep the way they are held
// against it. One that is grabbed without the limb above it turns as the cage says.
static void keep_hands( const tr_cage_layer *l, int actor, tr_pose below, quat *local )
{
    const tr_skeleton *skeleton = &l->stage->actors[actor].target;
    const bool *grabbed = l->grab->joints[actor];
    for ( int j = 1; j < skeleton->joint_count; ++j ) {
        tr_role role = skeleton->joints[j].role;
        bool extremity =
            role == TR_ROLE_HAND || role == TR_ROLE_FINGER || role == TR_ROLE_FOOT || role == TR_ROLE_TOE;
        int above = skeleton->joints[tr_extremity_carrier( skeleton, j )].parent;
        if ( extremity && above >= 0 && grabbed[above] )
            local[j] = local_rotation( skeleton, below, j );
    }
}

// Feet that stand keep the way they roll and tilt in the result below (whose joints are still in worlds);
// about the vertical they turn with their step, not with the body above. `pose` is scratch.
static void orient_feet( const tr_cage_layer *l, int actor, int frame, tr_pose pose )
{
    tr_motion *motion = &l->result->motions[actor];
    const tr_skeleton *skeleton = &motion->skeleton;
    tr_pose below = tr_world_pose( &l->result->worlds[actor], frame );
    quat *local = tr_clip_frame( &motion->clip, frame );
    keep_hands( l, actor, below, local );
    tr_forward( skeleton, &motion->clip, frame, pose );
    for ( int i = 0; i < l->foot_count; ++i ) {
        const tr_moved_foot *foot = &l->feet[i];
        if ( foot->actor != actor )
            continue;
        for ( int j = foot->joint + 1; j < skeleton->joint_count; ++j )
            if ( is_below( skeleton, j, foot->joint ) )
                local[j] = local_rotation( skeleton, below, j );
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

static vec3 *new_path( tr_cage_layer *l )
{
    return l->paths + (size_t)l->path_count++ * (size_t)l->stage->frame_count;
}

// A hard rule that leads `anchor` along a path through the window.
static tr_rule *add_rule( tr_cage_layer *l, const tr_anchor *anchor, const vec3 *path )
{
    tr_rule *rule = tr_rule_append( &l->edited ); // there is room, see tr_cage_layer_rules
    rule->kind = TR_CONSTRAINT_ABSOLUTE;
    rule->a = *anchor;
    rule->path = path;
    rule->first = l->begin;
    rule->last = l->begin + l->frame_count - 1;
    return rule;
}

// A cage under much strain misses its marks by a little. What handles on this point miss at their frames is
// made up for, fading from one to the next and to the window's ends.
static vec3 made_up( const tr_cage_layer *l, const tr_anchor *anchor, int frame )
{
    int before, after;
    tr_cage_layer_limits( l, &before, &after );
    vec3 from = v3_zero, to = v3_zero;
    for ( int h = 0; h < l->handle_count; ++h ) {
        const tr_cage_handle *handle = &l->handles[h];
        if ( handle->kind != TR_HANDLE_POINT ||
             !same_anchor( &l->stage->handles[l->handle_index[h]], anchor ) )
            continue;
        vec3 moved;
        tr_cage_move_points( &l->cage, handle->frame, &handle->place, 1, &moved );
        vec3 miss = v3_sub( v3_add( handle->place, handle->offset ), moved );
        if ( handle->frame <= frame && handle->frame >= before ) {
            before = handle->frame;
            from = miss;
        }
        if ( handle->frame > frame && handle->frame <= after ) {
            after = handle->frame;
            to = miss;
        }
    }
    return v3_lerp( from, to, smooth_step5( (double)( frame - before ) / ( after - before ) ) );
}

// Where the cage takes a point of the result below, frame by frame.
static const vec3 *trace( tr_cage_layer *l, const tr_anchor *anchor )
{
    vec3 *path = new_path( l );
    for ( int f = l->begin; f < l->begin + l->frame_count; ++f ) {
        vec3 place = tr_anchor_position( l->stage, l->result, anchor, f );
        tr_cage_move_points( &l->cage, f, &place, 1, &path[f] );
        path[f] = v3_add( path[f], made_up( l, anchor, f ) );
    }
    return path;
}

// From a handle's frame to where the layer ends; nothing beyond the stage.
static void handle_ease( const tr_cage_layer *l, int frame, double *before, double *after )
{
    int low, high;
    tr_cage_layer_limits( l, &low, &high );
    *before = frame - ( low < -1 ? -1 : low ) - 1;
    *after = ( high > l->stage->frame_count ? l->stage->frame_count : high ) - frame - 1;
}

// The path of another handle on the same point, NULL when this is the first.
static const vec3 *known_path( const tr_cage_layer *l, const tr_anchor *anchor )
{
    for ( int r = l->stage->rule_count; r < l->edited.rule_count; ++r )
        if ( same_anchor( &l->edited.rules[r].a, anchor ) )
            return l->edited.rules[r].path;
    return NULL;
}

// Where handles on other points of the same body are next, before and after: there they have the say.
static void make_way( const tr_cage_layer *l, int handle, tr_rule *rule )
{
    int frame = l->handles[handle].frame;
    for ( int h = 0; h < l->handle_count; ++h ) {
        const tr_anchor *other = &l->stage->handles[l->handle_index[h]];
        int away = l->handles[h].frame - frame;
        if ( l->handles[h].kind != TR_HANDLE_POINT || other->actor != rule->a.actor ||
             same_anchor( other, &rule->a ) )
            continue;
        if ( away < 0 && ( rule->first < frame || -away - 1 < rule->ease_in ) ) {
            rule->first = frame;
            rule->ease_in = -away - 1;
        }
        if ( away > 0 && ( rule->last > frame || away - 1 < rule->ease_out ) ) {
            rule->last = frame;
            rule->ease_out = away - 1;
        }
    }
}

// Before anything is posed: the paths are those of the result below. What is held at one frame is led along
// its path through the whole window, so that it does not stand out among its neighbours.
static void lead_handles( tr_cage_layer *l )
{
    for ( int h = 0; h < l->handle_count; ++h ) {
        const tr_anchor *anchor = &l->stage->handles[l->handle_index[h]];
        if ( l->handles[h].kind != TR_HANDLE_POINT || anchor->prop >= 0 )
            continue;
        const vec3 *path = known_path( l, anchor );
        tr_rule *rule = add_rule( l, anchor, path != NULL ? path : trace( l, anchor ) );
        make_way( l, h, rule );
    }
}

// A box is rigid, the cage is not: what a handle holds of it may be beside its mark. The box goes there, less
// and less so towards the window's ends.
static void meet_prop_handle( tr_cage_layer *l, int h )
{
    const tr_anchor *anchor = &l->stage->handles[l->handle_index[h]];
    rigid *track = l->result->tracks[anchor->prop];
    int frame = l->handles[h].frame;
    vec3 wanted = v3_add( l->handles[h].place, l->handles[h].offset );
    vec3 miss = v3_sub( wanted, rigid_apply( track[frame], anchor->offset ) );
    tr_rule fade = { .first = frame, .last = frame };
    handle_ease( l, frame, &fade.ease_in, &fade.ease_out );
    for ( int f = l->begin; f < l->begin + l->frame_count; ++f )
        track[f].position = v3_mad( track[f].position, tr_rule_strength( &fade, f ), miss );
}

// After they are posed: props stay where they were put.
static void lead_props( tr_cage_layer *l )
{
    for ( int h = 0; h < l->handle_count; ++h )
        if ( l->handles[h].kind == TR_HANDLE_POINT && l->stage->handles[l->handle_index[h]].prop >= 0 )
            meet_prop_handle( l, h );
    for ( int p = 0; p < l->stage->prop_count; ++p ) {
        if ( !l->grab->props[p] )
            continue;
        tr_anchor centre = { .actor = -1, .prop = p };
        vec3 *path = new_path( l );
        for ( int f = l->begin; f < l->begin + l->frame_count; ++f )
            path[f] = l->result->tracks[p][f].position;
        add_rule( l, &centre, path );
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
