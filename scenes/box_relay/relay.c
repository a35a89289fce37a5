#include "scenes/box_relay/relay.h"

#include "scenes/kit/kit.h"

const vec3 relay_box_size = { 0.42, 0.30, 0.30 };
const vec3 relay_table_size = { 0.62, 0.48, 0.36 };

#define SPACING     1.12 // metres along the line
#define GIVE_HEIGHT 1.03 // height of a box's centre at the hand-over
#define SEED        20u

uint64_t relay_person_seed( int person )
{
    return 7919u * ( SEED + (uint64_t)person );
}

// ------------------------------------------------------------------------------------------------ layout

rigid relay_place( const relay *r, int person )
{
    return tr_crowd_line( r->people, person, SPACING, 2.0 );
}

rigid relay_stack( const relay *r, int gap )
{
    bool start = gap == 0;
    rigid place = relay_place( r, start ? 0 : r->people - 1 );
    vec3 spot = rigid_apply( place, v3( start ? -RELAY_REACH : RELAY_REACH, 0, 0 ) );
    return tr_crowd_place( spot, q_heading( place.rotation ) + 0.5 * TR_PI );
}

// The box leaves the stack from the top and comes to lie on top of those that are there.
static int stack_layer( const relay *r, int gap, int box )
{
    if ( gap == 0 )
        return box < 0 ? 0 : r->last_box - box;
    int below = 0;
    for ( int b = r->first_box; b < box; ++b )
        below += relay_time( gap, b ) > -0.5 ? 1 : 0;
    return below;
}

vec3 relay_gap( const relay *r, int gap, int box )
{
    if ( gap == 0 || gap == r->people ) {
        vec3 centre = relay_stack( r, gap ).position;
        centre.y = relay_table_size.y + relay_box_size.y * ( 0.5 + stack_layer( r, gap, box ) );
        return centre;
    }
    vec3 a = relay_place( r, gap - 1 ).position, b = relay_place( r, gap ).position;
    vec3 centre = v3_lerp( a, b, 0.5 );
    centre.y = GIVE_HEIGHT + tr_chance_between( SEED, (uint64_t)( 1000 + gap ), -0.05, 0.05 );
    return centre;
}

// ---------------------------------------------------------------------------------------------- timing

double relay_time( int gap, int box )
{
    double steady = tr_chance_between( SEED, (uint64_t)( 2000 + gap ), -0.07, 0.07 );
    double jitter = tr_chance_between( SEED, (uint64_t)( 500000 + 1000 * gap + box ), -0.05, 0.05 );
    return 0.9 + box * RELAY_PERIOD + gap * 0.5 * RELAY_PERIOD + steady + jitter;
}

relay relay_plan( int people )
{
    relay r = { .people = people, .fps = 30.0, .frame_count = 271 };
    r.duration = ( r.frame_count - 1 ) / r.fps;
    r.first_box = 0;
    while ( relay_time( people, r.first_box - 1 ) > -0.2 )
        r.first_box--;
    while ( relay_time( 0, r.last_box + 1 ) < r.duration + 1.2 )
        r.last_box++;
    return r;
}

// --------------------------------------------------------------------------------------------- carrying

// A box in someone's hands, in polar coordinates about that person: angle from straight ahead (left is
// positive), distance, height and tilt. At both ends it lies on the line to the neighbour, passing through
// the gap with SLIDE metres per second, so that giver and receiver agree on its place and its velocity.
#define SLIDE 0.10

typedef struct carry {
    double begin, end; // times of taking and giving
    double angle[2], distance[2], height[2];
    bool stacked[2];  // taken from, put onto a stack
    double near, low; // distance and height in mid-carry
} carry;

static carry carry_of( const relay *r, int person, int box )
{
    carry c = { .begin = relay_time( person, box ), .end = relay_time( person + 1, box ) };
    rigid inverse = rigid_inverse( relay_place( r, person ) );
    for ( int i = 0; i < 2; ++i ) {
        vec3 gap = rigid_apply( inverse, relay_gap( r, person + i, box ) );
        c.angle[i] = atan2( gap.x, gap.z );
        c.distance[i] = hypot( gap.x, gap.z );
        c.height[i] = gap.y;
        c.stacked[i] = person + i == 0 || person + i == r->people;
    }
    c.near = tr_chance_between( relay_person_seed( person ), 2, 0.36, 0.39 );
    c.low = tr_chance_between( relay_person_seed( person ), 1, 0.92, 1.02 );
    return c;
}

static double carry_angle( const carry *c, double t )
{
    double from = c->begin + ( c->stacked[0] ? 0.42 : 0.04 ), to = c->end - ( c->stacked[1] ? 0.42 : 0.04 );
    return lerpd( c->angle[0], c->angle[1], smooth_step5( ( t - from ) / ( to - from ) ) );
}

static double carry_distance( const carry *c, double t )
{
    double span = c->end - c->begin;
    tr_track track = { .count = 0 };
    if ( c->stacked[0] )
        tr_track_add( &track, c->begin + 0.15, c->distance[0] );
    else
        tr_track_add_moving( &track, c->begin, c->distance[0], -SLIDE );
    tr_track_add( &track, c->begin + 0.45 * span, c->near );
    tr_track_add( &track, c->begin + 0.58 * span, c->near );
    if ( c->stacked[1] )
        tr_track_add( &track, c->end - 0.15, c->distance[1] );
    else
        tr_track_add_moving( &track, c->end, c->distance[1], SLIDE );
    return tr_track_at( &track, t );
}

// The weight pulls the hands down a little when it is taken over. Off a stack and onto it the box moves
// straight up and down first.
static double carry_height( const carry *c, double t )
{
    double span = c->end - c->begin;
    tr_track track = { .count = 0 };
    tr_track_add( &track, c->begin + 0.02, c->height[0] );
    if ( c->stacked[0] )
        tr_track_add( &track, c->begin + 0.5,
                      fmax( c->height[0] + 0.07, lerpd( c->height[0], c->low, 0.4 ) ) );
    else
        tr_track_add( &track, c->begin + 0.24 * span, fmin( c->height[0], c->low ) - 0.045 );
    tr_track_add( &track, c->begin + 0.55 * span, c->low );
    if ( c->stacked[1] )
        tr_track_add( &track, c->end - 0.5, fmax( c->height[1] + 0.07, lerpd( c->height[1], c->low, 0.4 ) ) );
    tr_track_add( &track, c->end - 0.02, c->height[1] );
    return tr_track_at( &track, t );
}

// Far edge up by a few degrees while the box is at the belly.
static double carry_tilt( const carry *c, double t )
{
    double span = c->end - c->begin;
    return -5.0 * TR_DEGREE *
           tr_pulse( t, c->begin + 0.45 * span, c->begin + 0.58 * span, 0.28 * span, 0.28 * span );
}

// Before its first and after its last carry the box stands on a stack, where these begin and end.
rigid relay_box( const relay *r, int box, double time )
{
    int person = 0;
    while ( person + 1 < r->people && time >= relay_time( person + 1, box ) )
        ++person;
    carry c = carry_of( r, person, box );
    double angle = carry_angle( &c, time ), distance = carry_distance( &c, time );
    // Handed over, the box faces the receiver with what was its back: half a turn per person.
    quat half = q_axis_angle( v3_y, TR_PI * ( person & 1 ) );
    quat turn = q_mul( q_axis_angle( v3_y, angle ), q_axis_angle( v3_x, carry_tilt( &c, time ) ) );
    rigid local = { q_mul( turn, half ),
                    v3( distance * sin( angle ), carry_height( &c, time ), distance * cos( angle ) ) };
    return rigid_mul( relay_place( r, person ), local );
}

rigid relay_grip( int person, int side )
{
    double out = side == TR_HUMAN_LEFT ? 1.0 : -1.0;
    double half = person % 2 == 0 ? 1.0 : -1.0; // every other person sees the box turned by half a turn
    vec3 place = v3( half * out * 0.5 * relay_box_size.x, out * 0.068, half * -0.055 );
    vec3 fingers = v3( 0, -0.35, half ), palm = v3( half * -out, 0, 0 );
    return ( rigid ){ tr_human_hand_rotation( side, fingers, palm ), place };
}
