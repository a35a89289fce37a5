// Legs that are straight cannot give. Where the cage takes a body further from a foot on the ground than its
// leg reaches, and the pelvis cannot make up for it, the body stays below: smoothly in time, not just in the
// frames in which a leg is too short.
//
// How far. With L the length of a leg and d that of the way from hip to ankle, b = √(1 − d²/L²) says how much
// the knee is bent. As b goes to zero the knee snaps: its angle is proportional to b, so a hip that rises
// evenly straightens a leg with a jerk. What the result below has of b therefore stays, up to a part:
//
//   d ≤ L √(1 − (β b₀)²)
//
// approached, not hit, from where the leg was or from a leg that is bent well. From the heights that all feet
// on the ground leave comes need(t); drop(t) is its envelope over a moment, smoothed over as much: it lies
// nowhere below need(t) and has no kinks. Where the body arrives at its handles and has to go lower only
// before or after, drop(t) is need(t), smoothed, less what that is at the handles, so that these stay met.
#include "layer/private.h"

#include <stdlib.h>

#define BENT   0.3  // β
#define EASY   0.93 // of a leg: up to here it gives freely
#define MOMENT 0.15 // seconds
#define MOST   0.04 // of the height: so far a body goes below where it was, for its legs to reach aside

typedef struct tr_room_frame {
    int stamp, drop_stamp; // of the solve they belong to
    double need, drop;     // metres
} tr_room_frame;

static bool has_legs( const tr_cage_layer *l, const tr_moved_body *body )
{
    return body->node < l->stage->actor_count && body->lead >= 0 && body->foot_count > 0;
}

bool tr_room_build( const tr_cage_layer *l, tr_moved_body *body )
{
    if ( !has_legs( l, body ) )
        return true;
    body->rooms = tr_alloc( (size_t)l->frame_count, sizeof( tr_room_frame ) );
    return body->rooms != NULL;
}

void tr_room_free( tr_moved_body *body )
{
    tr_free( body->rooms );
}

// Identity up to `kept`, never more than `most`, and smooth.
static double limited( double x, double kept, double most )
{
    double room = most - kept, over = x - kept;
    return over > 0 ? kept + room * over / ( room + over ) : x;
}

// How far hip and ankle may be from each other that were `own` and shall be `far`.
static double leg_reach( double leg, double own, double far )
{
    double bend = 1 - own * own / ( leg * leg );
    double most = bend > 0 ? leg * sqrt( 1 - BENT * BENT * bend ) : own;
    double kept = fmax( own, fmin( EASY * leg, most ) );
    return most > kept ? limited( far, kept, most ) : fmin( far, kept );
}

// How much too high the hip of a foot on the ground is.
static double foot_need( tr_cage_layer *l, tr_moved_body *body, const tr_moved_frame *moved, int foot,
                         int frame )
{
    const tr_skeleton *skeleton = &l->stage->actors[body->node].target;
    int ankle = body->feet[foot].joint, hip = tr_limb_base( skeleton, ankle );
    vec3 stands;
    if ( skeleton->limbs[skeleton->joints[ankle].limb].kind != TR_LIMB_LEG ||
         !tr_steps_stand( l, body, foot, frame, &stands ) )
        return 0;
    tr_pose below = tr_world_pose( &l->below->worlds[body->node], frame );
    vec3 root = l->after[tr_layer_cell( l, frame, body->lead )];
    vec3 arm = v3_sub( below.positions[hip], below.positions[tr_moved_root( l, body )] );
    vec3 to = v3_add( root, q_rotate( moved->turn, arm ) );
    vec3 way = v3_sub( to, stands );
    double far = v3_length( way ), aside = hypot( way.x, way.z );
    double reach = leg_reach( tr_limb_way( skeleton, hip, ankle ),
                              v3_distance( below.positions[hip], below.positions[ankle] ), far );
    return far > reach ? way.y - sqrt( fmax( reach * reach - aside * aside, 0 ) ) : 0;
}

static double need_at( tr_cage_layer *l, tr_moved_body *body, int frame )
{
    if ( frame < l->begin || frame >= l->begin + l->frame_count )
        return 0;
    tr_room_frame *room = &body->rooms[frame - l->begin];
    if ( room->stamp == l->stamp )
        return room->need;
    room->stamp = l->stamp;
    room->need = 0;
    const tr_moved_frame *moved = tr_moved_at( l, body, frame );
    if ( !moved->moves )
        return 0;
    for ( int i = 0; i < body->foot_count; ++i )
        room->need = fmax( room->need, foot_need( l, body, moved, i, frame ) );
    size_t lead = tr_layer_cell( l, frame, body->lead );
    double up = fmax( l->after[lead].y - l->before[lead].y, 0 );
    double most = MOST * tr_skeleton_height( &l->stage->actors[body->node].target );
    room->need = limited( room->need, up + 0.5 * most, up + most );
    return room->need;
}

static double envelope_at( tr_cage_layer *l, tr_moved_body *body, int frame, int span )
{
    double most = 0;
    for ( int f = frame - span; f <= frame + span; ++f )
        most = fmax( most, need_at( l, body, f ) );
    return most;
}

// How many frames there are to the next in which the body stays where it is: a pin, or the window's end.
static int frames_free( const tr_cage_layer *l, const tr_moved_body *body, int frame )
{
    int before, after;
    tr_cage_layer_limits_at( l, frame, &before, &after );
    int least = frame - before < after - frame ? frame - before : after - frame;
    for ( int h = 0; h < l->handle_count; ++h ) {
        const tr_anchor *anchor = &l->stage->handles[l->handle_index[h]];
        int away = abs( l->handles[h].frame - frame );
        bool pins = l->handles[h].kind != TR_HANDLE_POINT ||
                    ( anchor->actor == body->node && tr_room_holds( l, anchor ) );
        if ( pins && v3_length( l->handles[h].offset ) == 0 && away < least )
            least = away;
    }
    return least;
}

static int moment( const tr_cage_layer *l )
{
    return tr_frames_in( MOMENT, l->stage->fps );
}

// What legs need over so many frames, smoothed over a moment.
static double smoothed_need( tr_cage_layer *l, tr_moved_body *body, int frame, int over )
{
    int span = moment( l );
    double sum = 0, weights = 0;
    for ( int f = frame - span; f <= frame + span; ++f ) {
        double weight = 1 + cos( TR_PI * ( f - frame ) / ( span + 1.0 ) );
        sum += weight * envelope_at( l, body, f, over );
        weights += weight;
    }
    return sum / weights;
}

// Who arrives where he is held, and elsewhere cannot follow, goes lower there alone: what is held stays.
static double eased_need( tr_cage_layer *l, tr_moved_body *body, int frame )
{
    int span = moment( l );
    double need = smoothed_need( l, body, frame, 0 ), kept = 0;
    for ( int h = 0; h < l->handle_count; ++h ) {
        double near = smooth_step5( 1 - abs( l->handles[h].frame - frame ) / ( 2 * span + 1.0 ) );
        if ( near > 0 )
            kept = fmax( kept, near * smoothed_need( l, body, l->handles[h].frame, 0 ) );
    }
    return fmax( need - kept, 0 );
}

double tr_room_drop( tr_cage_layer *l, tr_moved_body *body, int frame )
{
    bool lower = body->lowered || body->eased;
    if ( !lower || body->rooms == NULL || frame < l->begin || frame >= l->begin + l->frame_count )
        return 0;
    tr_room_frame *room = &body->rooms[frame - l->begin];
    if ( room->drop_stamp == l->stamp )
        return room->drop;
    int span = moment( l );
    double need = body->lowered ? smoothed_need( l, body, frame, span ) : eased_need( l, body, frame );
    room->drop_stamp = l->stamp;
    room->drop = need * smooth_step5( clampd( frames_free( l, body, frame ) / ( 2 * span + 1.0 ), 0, 1 ) );
    return room->drop;
}

bool tr_room_holds( const tr_cage_layer *l, const tr_anchor *anchor )
{
    const tr_moved_body *body = anchor->actor >= 0 ? tr_cage_layer_body( l, anchor->actor ) : NULL;
    bool trunk = body != NULL && body->rooms != NULL;
    for ( int i = 0; trunk && i < anchor->count; ++i )
        trunk = tr_limb_base( &l->stage->actors[anchor->actor].target, anchor->joints[i] ) == 0;
    return trunk;
}

double tr_room_anchor( tr_cage_layer *l, const tr_anchor *anchor, int frame )
{
    return tr_room_holds( l, anchor ) ? tr_room_drop( l, tr_cage_layer_body( l, anchor->actor ), frame ) : 0;
}
