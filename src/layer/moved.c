// The motion of the bodies in a cage, frame by frame, computed when asked for. Points are moved; whole bodies
// are set upright where the cage leans and, where the layer turns, turned about the vertical by the change in
// the direction of their path.
#include "layer/private.h"

#include <string.h>

typedef struct tr_lead_frame {
    int stamp;
    vec3 before, after; // mean of what leads the body
} tr_lead_frame;

double tr_yaw( quat rotation )
{
    quat swing, twist;
    q_swing_twist( rotation, v3_y, &swing, &twist );
    return wrap_angle( 2 * atan2( twist.y, twist.w ) );
}

vec3 tr_mean_point( const vec3 *points, int count )
{
    vec3 sum = v3_zero;
    for ( int i = 0; i < count; ++i )
        sum = v3_add( sum, points[i] );
    return v3_scale( 1.0 / count, sum );
}

int tr_moved_root( const tr_cage_layer *l, const tr_moved_body *body )
{
    const bool *grabbed = body->node < l->stage->actor_count ? l->grab->joints[body->node] : NULL;
    int pelvis = grabbed != NULL ? tr_actor_pelvis( &l->stage->actors[body->node] ) : 0;
    return grabbed != NULL && grabbed[0] && grabbed[pelvis] ? pelvis : 0;
}

// The points that lead a body: its pelvis when all joints above it are grabbed; the corners of a prop.
static void find_lead( const tr_cage_layer *l, tr_moved_body *body )
{
    bool prop = body->node >= l->stage->actor_count;
    body->lead = prop ? body->first : tr_cage_layer_joint( l, body->node, tr_moved_root( l, body ) );
    body->lead_count = prop ? body->count : 1;
}

// In a cage around several members a whole character moves as one, unless a section is turned over.
static bool moves_as_one( const tr_cage_layer *l, const tr_moved_body *body )
{
    return body->node < l->stage->actor_count && body->lead >= 0 && tr_cage_layer_holds_several( l ) &&
           body->count == l->stage->actors[body->node].target.joint_count;
}

static float *moments_at( const tr_cage_layer *l, tr_moved_body *body, int frame )
{
    return body->moments + (size_t)( frame - l->begin ) * TR_CAGE_MOMENTS * (size_t)l->cage.vertex_count;
}

static void weigh_moments( const tr_cage_layer *l, tr_moved_body *body, int frame )
{
    tr_cage_moments( &l->cage, frame, body->first, body->count,
                     l->before + tr_layer_cell( l, frame, body->first ), body->lead,
                     &body->spreads[frame - l->begin], moments_at( l, body, frame ) );
}

bool tr_moved_build( tr_cage_layer *l, tr_moved_body *body )
{
    size_t frames = (size_t)l->frame_count;
    find_lead( l, body );
    bool turns = l->layer->turn && body->lead >= 0, one = moves_as_one( l, body );
    body->frames = tr_alloc( frames, sizeof( tr_moved_frame ) );
    body->ways = turns ? tr_alloc( frames, sizeof( tr_lead_frame ) ) : NULL;
    body->bound = l->late ? tr_alloc( frames, sizeof( bool ) ) : NULL;
    body->spreads = one ? tr_alloc( frames, sizeof( mat3 ) ) : NULL;
    body->moments =
        one ? tr_alloc( frames * TR_CAGE_MOMENTS * (size_t)l->cage.vertex_count, sizeof( float ) ) : NULL;
    if ( body->frames == NULL || ( turns && body->ways == NULL ) || ( l->late && body->bound == NULL ) ||
         ( one && ( body->spreads == NULL || body->moments == NULL ) ) )
        return false;
    for ( int f = 0; one && !l->late && f < l->frame_count; ++f )
        weigh_moments( l, body, l->begin + f );
    return true;
}

// Binds the points of a frame that were not bound when the layer was built.
static void bind_frame( const tr_cage_layer *l, tr_moved_body *body, int frame )
{
    if ( body->bound == NULL || body->bound[frame - l->begin] )
        return;
    body->bound[frame - l->begin] = true;
    tr_cage_bind( &l->cage, frame, body->first, body->count,
                  l->before + tr_layer_cell( l, frame, body->first ) );
    if ( body->spreads != NULL )
        weigh_moments( l, body, frame );
}

void tr_moved_free( tr_moved_body *body )
{
    tr_free( body->frames );
    tr_free( body->ways );
    tr_free( body->bound );
    tr_free( body->spreads );
    tr_free( body->moments );
}

// --------------------------------------------------------------------------------------------------- ground

double tr_not_below( double height, double floor, double soft )
{
    double over = height - floor;
    if ( fabs( over ) < soft )
        return floor + ( over + soft ) * ( over + soft ) / ( 4 * soft );
    return over > 0 ? height : floor;
}

static vec3 not_lower( const tr_cage_layer *l, vec3 from, vec3 to, double room )
{
    if ( to.y >= from.y || room <= 0 )
        return to.y >= from.y ? to : v3( to.x, from.y, to.z );
    double soft = l->def.crouch_round * fmax( from.y - l->stage->ground, 0 );
    to.y = fmin( tr_not_below( to.y, from.y - room, soft ), from.y );
    return to;
}

// How far a body may go down on its legs: head, tail and all other parts of its trunk come down with it and
// stay above the ground. Arms and legs bend.
static double root_room( const tr_cage_layer *l, int actor, int frame )
{
    const tr_skeleton *skeleton = &l->stage->actors[actor].target;
    const vec3 *places = tr_world_pose( &l->below->worlds[actor], frame ).positions;
    int pelvis = tr_actor_pelvis( &l->stage->actors[actor] );
    double room = ( 1 - l->def.crouch ) * ( places[pelvis].y - l->stage->ground );
    for ( int j = pelvis; j < skeleton->joint_count; ++j ) {
        tr_limb_kind kind = skeleton->limbs[skeleton->joints[j].limb].kind;
        if ( kind != TR_LIMB_ARM && kind != TR_LIMB_LEG )
            room = fmin( room, places[j].y - l->stage->ground );
    }
    return room;
}

// How far a joint may go down. A joint of a limb: until the lowest joint below it is on the ground. A joint
// of the trunk: as far as the root, and further the more of the trunk can bend.
static double joint_room( const tr_cage_layer *l, int actor, int joint, int frame )
{
    const tr_skeleton *skeleton = &l->stage->actors[actor].target;
    const vec3 *places = tr_world_pose( &l->below->worlds[actor], frame ).positions;
    int pelvis = tr_actor_pelvis( &l->stage->actors[actor] );
    if ( tr_limb_base( skeleton, joint ) == 0 )
        return root_room( l, actor, frame ) + l->def.bow * tr_limb_way( skeleton, pelvis, joint );
    double lowest = places[joint].y;
    for ( int j = joint + 1; j < skeleton->joint_count; ++j )
        lowest = tr_joint_is_above( skeleton, joint, j ) ? fmin( lowest, places[j].y ) : lowest;
    return lowest - l->stage->ground;
}

vec3 tr_above_ground( const tr_cage_layer *l, const tr_anchor *anchor, int frame, vec3 from, vec3 to )
{
    double room = from.y - l->stage->ground;
    if ( to.y >= from.y )
        return to;
    for ( int i = 0; anchor->actor >= 0 && i < anchor->count; ++i )
        room = fmin( room, joint_room( l, anchor->actor, anchor->joints[i], frame ) );
    return not_lower( l, from, to, room );
}

// ------------------------------------------------------------------------------------------------- rotation

static void move_points( tr_cage_layer *l, int first, int count, int frame )
{
    size_t at = tr_layer_cell( l, frame, first );
    tr_cage_move_some( &l->cage, frame, first, count, l->before + at, l->after + at );
}

// All points of a character go as much less down as its root does.
static void stay_above_ground( tr_cage_layer *l, const tr_moved_body *body, int frame )
{
    if ( body->node >= l->stage->actor_count || body->lead < 0 )
        return;
    size_t lead = tr_layer_cell( l, frame, body->lead ), at = tr_layer_cell( l, frame, body->first );
    vec3 root = l->before[lead];
    if ( l->after[lead].y >= root.y )
        return;
    double room = root_room( l, body->node, frame ),
           up = not_lower( l, root, l->after[lead], room ).y - l->after[lead].y;
    for ( int p = 0; up > 0 && p < body->count; ++p )
        l->after[at + (size_t)p].y += up;
}

// Largest tr(Rᵀ M), M = Σ (p' − p̄') (p − p̄)ᵀ; a turn that the points leave open (a straight arm's twist)
// stays as it is. `size` is the trace of Σ (p − p̄) (p − p̄)ᵀ.
static quat turn_from( const tr_cage_layer *l, mat3 m, double size )
{
    double rest = l->def.turn_rest * size;
    m.cx.x += rest;
    m.cy.y += rest;
    m.cz.z += rest;
    return size > 0 ? q_fit( m ) : q_identity;
}

static quat turn_of( const tr_cage_layer *l, const tr_moved_body *body, int frame )
{
    const vec3 *from = l->before + tr_layer_cell( l, frame, body->first ),
               *to = l->after + tr_layer_cell( l, frame, body->first );
    vec3 a = tr_mean_point( from, body->count ), b = tr_mean_point( to, body->count );
    mat3 m = { 0 };
    double size = 0;
    for ( int p = 0; p < body->count; ++p ) {
        vec3 u = v3_sub( from[p], a ), v = v3_sub( to[p], b );
        m = m3_add_outer( m, v, u );
        size += v3_dot( u, u );
    }
    return turn_from( l, m, size );
}

// ------------------------------------------------------------------------------------------------- upright

// A cage leans where it is pulled at one height; the bodies in it stay upright, unless a section is turned
// over. Of Q, the rotation that fits the moved points best, only the part Y about the vertical is kept; what
// the points do beyond Q turns along with it: p' = c' + Y Q⁻¹ (p' − c'), about the point c' that leads the
// body. In a cage around several members points do nothing beyond Q: the cage bends between bodies, not
// within them. Returns Y.
static quat set_upright( tr_cage_layer *l, const tr_moved_body *body, int frame )
{
    quat q = turn_of( l, body, frame );
    quat yaw = q_axis_angle( v3_y, tr_yaw( q ) ), back = q_mul( yaw, q_conj( q ) );
    size_t first = tr_layer_cell( l, frame, body->first ), lead = tr_layer_cell( l, frame, body->lead );
    vec3 *points = l->after + first, centre = tr_mean_point( l->after + lead, body->lead_count );
    if ( tr_cage_layer_holds_several( l ) ) {
        vec3 before = tr_mean_point( l->before + lead, body->lead_count );
        for ( int p = 0; p < body->count; ++p )
            points[p] = v3_add( centre, q_rotate( yaw, v3_sub( l->before[first + (size_t)p], before ) ) );
        return yaw;
    }
    for ( int p = 0; p < body->count; ++p )
        points[p] = v3_add( centre, q_rotate( back, v3_sub( points[p], centre ) ) );
    return yaw;
}

// ------------------------------------------------------------------------------------------------- turning

static const tr_lead_frame *lead_at( const tr_cage_layer *l, tr_moved_body *body, int frame )
{
    tr_lead_frame *lead = &body->ways[frame - l->begin];
    if ( lead->stamp == l->stamp )
        return lead;
    vec3 after[8];
    const vec3 *before = l->before + tr_layer_cell( l, frame, body->lead );
    bind_frame( l, body, frame );
    tr_cage_move_some( &l->cage, frame, body->lead, body->lead_count, before, after );
    *lead = ( tr_lead_frame ){ l->stamp, tr_mean_point( before, body->lead_count ),
                               tr_mean_point( after, body->lead_count ) };
    return lead;
}

// Angle between the directions before and after. Steps t and t' as complex numbers: arg Σ w conj(t) t' over a
// span of time, with a small real part added, so that a body that stands does not turn.
static double heading_change( const tr_cage_layer *l, tr_moved_body *body, int frame )
{
    int span = tr_frames_in( l->def.heading_time, l->stage->fps ), end = l->begin + l->frame_count - 1;
    double least = 2 * l->def.least_speed / l->stage->fps, along = 0, across = 0;
    for ( int f = frame - span; f <= frame + span; ++f ) {
        if ( f < l->begin || f > end )
            continue;
        double w = 1 + cos( TR_PI * ( f - frame ) / ( span + 1.0 ) );
        const tr_lead_frame *a = lead_at( l, body, f > l->begin ? f - 1 : f ),
                            *b = lead_at( l, body, f < end ? f + 1 : f );
        vec3 t = v3_horizontal( v3_sub( b->before, a->before ) ),
             moved = v3_horizontal( v3_sub( b->after, a->after ) );
        along += w * ( t.x * moved.x + t.z * moved.z + least * least );
        across += w * ( t.z * moved.x - t.x * moved.z );
    }
    int before, after;
    tr_cage_layer_limits_at( l, frame, &before, &after );
    double inside = fmin( frame - before, after - frame );
    return atan2( across, along ) * smooth_step5( inside / ( span + 1.0 ) );
}

static quat turn_along( tr_cage_layer *l, tr_moved_body *body, int frame )
{
    vec3 *points = l->after + tr_layer_cell( l, frame, body->first ),
         centre = tr_mean_point( l->after + tr_layer_cell( l, frame, body->lead ), body->lead_count );
    double angle = heading_change( l, body, frame );
    quat turn = q_axis_angle( v3_y, angle );
    for ( int p = 0; angle != 0 && p < body->count; ++p )
        points[p] = v3_add( centre, q_rotate( turn, v3_sub( points[p], centre ) ) );
    return turn;
}

// ---------------------------------------------------------------------------------------------- asked for

static bool is_moved( const tr_cage_layer *l, const tr_moved_body *body, int frame )
{
    size_t at = tr_layer_cell( l, frame, body->first );
    return memcmp( l->before + at, l->after + at, (size_t)body->count * sizeof( vec3 ) ) != 0;
}

static void place_rigid( tr_cage_layer *l, int frame, int point, int lead, quat turn )
{
    size_t from = tr_layer_cell( l, frame, lead ), to = tr_layer_cell( l, frame, point );
    vec3 arm = v3_sub( l->before[to], l->before[from] );
    l->after[to] = v3_add( l->after[from], q_rotate( turn, arm ) );
}

// The same for a body that moves as one: only its root and the points of its feet are placed.
static void move_rigid( tr_cage_layer *l, tr_moved_body *body, int frame, tr_moved_frame *moved )
{
    moved->moves = moved->rigid = tr_cage_moves( &l->cage, frame );
    if ( !moved->moves )
        return;
    size_t lead = tr_layer_cell( l, frame, body->lead );
    mat3 spread = body->spreads[frame - l->begin];
    l->after[lead] = l->before[lead];
    mat3 m = tr_cage_spin( &l->cage, frame, spread, moments_at( l, body, frame ), &l->after[lead] );
    quat q = turn_from( l, m, spread.cx.x + spread.cy.y + spread.cz.z );
    moved->turn = q_axis_angle( v3_y, tr_yaw( q ) );
    if ( body->ways != NULL )
        moved->turn = q_mul( q_axis_angle( v3_y, heading_change( l, body, frame ) ), moved->turn );
    for ( int i = 0; i < body->foot_count; ++i )
        place_rigid( l, frame, body->feet[i].point, body->lead, moved->turn );
}

static void move_bent( tr_cage_layer *l, tr_moved_body *body, int frame, tr_moved_frame *moved )
{
    move_points( l, body->first, body->count, frame );
    stay_above_ground( l, body, frame );
    moved->moves = is_moved( l, body, frame );
    if ( !moved->moves )
        return;
    bool upright = body->lead >= 0 && !l->tilts;
    moved->turn = upright ? set_upright( l, body, frame ) : turn_of( l, body, frame );
    if ( body->ways != NULL )
        moved->turn = q_mul( turn_along( l, body, frame ), moved->turn );
}

const tr_moved_frame *tr_moved_whole( tr_cage_layer *l, int node, int frame )
{
    tr_moved_body *body = node >= 0 ? tr_cage_layer_body( l, node ) : NULL,
                  *follower = node >= 0 ? tr_follower( l, node ) : NULL;
    const tr_moved_frame *moved = NULL;
    if ( body != NULL && body->lead >= 0 )
        moved = tr_moved_at( l, body, frame );
    else if ( follower != NULL && frame >= l->begin && frame < l->begin + l->frame_count )
        moved = &follower->frames[frame - l->begin];
    return moved != NULL && moved->stamp == l->stamp && moved->moves ? moved : NULL;
}

vec3 tr_moved_place( tr_cage_layer *l, int node, int frame, vec3 place )
{
    const tr_moved_frame *moved = tr_moved_whole( l, node, frame );
    if ( moved == NULL )
        return place;
    tr_moved_body *body = tr_cage_layer_body( l, node );
    size_t lead = body != NULL ? tr_layer_cell( l, frame, body->lead ) : 0;
    vec3 from = body != NULL ? l->before[lead] : tr_world_pose( &l->below->worlds[node], frame ).positions[0];
    vec3 to = body != NULL ? v3_mad( l->after[lead], -tr_room_drop( l, body, frame ), v3_y )
                           : l->result->motions[node].clip.root[frame];
    return v3_add( to, q_rotate( moved->turn, v3_sub( place, from ) ) );
}

const tr_moved_frame *tr_moved_at( tr_cage_layer *l, tr_moved_body *body, int frame )
{
    static const tr_moved_frame still = { .turn = { 0, 0, 0, 1 } };
    if ( frame < l->begin || frame >= l->begin + l->frame_count )
        return &still;
    tr_moved_frame *moved = &body->frames[frame - l->begin];
    if ( moved->stamp == l->stamp )
        return moved;
    *moved = ( tr_moved_frame ){ .stamp = l->stamp, .turn = q_identity };
    if ( tr_cage_moves( &l->cage, frame ) )
        bind_frame( l, body, frame );
    if ( body->spreads != NULL && !l->tilts )
        move_rigid( l, body, frame, moved );
    else
        move_bent( l, body, frame, moved );
    if ( !moved->moves )
        return moved;
    moved->yaw = tr_yaw( moved->turn );
    moved->heading = q_axis_angle( v3_y, moved->yaw );
    return moved;
}
