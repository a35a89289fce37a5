// A line of people, hand in hand, squatting in a slow wave. Everything follows from one number per person and
// moment: how deep the person is, 0 standing … 1 at the bottom.
#include "scenes/builders.h"
#include "scenes/kit/kit.h"

#include <stdio.h>

#define SPACING     1.00
#define PERIOD      2.6  // seconds per squat
#define DELAY       0.04 // seconds from one person to the next
#define FRAME_COUNT 331
#define SEED        77u

typedef struct chain {
    int people;
    double fps;
} chain;

static uint64_t person_seed( int person )
{
    return 104729u * ( SEED + (uint64_t)( person + 1 ) );
}

static double own( int person, int index, double low, double high )
{
    return tr_chance_between( person_seed( person ), (uint64_t)index, low, high );
}

static rigid place_of( const chain *c, int person )
{
    return tr_crowd_line( c->people, person, SPACING, 1.2 );
}

// ------------------------------------------------------------------------------------------------- depth

// Down in 1.05 s, a moment at the bottom, up a little quicker, a breath standing. The wave repeats every
// period however long the line is, so that people are squatting everywhere all the time.
static double depth_at( int person, double time )
{
    double late = DELAY * person + own( person, 1, -0.06, 0.06 );
    double at = time - late - 0.5; // the first squat begins half a second into the scene
    double in_period = at - PERIOD * floor( at / PERIOD );
    double depth = tr_pulse( in_period, 1.05, 1.20, 1.05, 0.95 );
    int count = tr_int_clamped( floor( at / PERIOD ), -TR_MAX_FRAMES, TR_MAX_FRAMES );
    double deep = own( person, 2, 0.90, 1.0 ) + own( person, 50 + ( ( count % 16 ) + 16 ) % 16, -0.04, 0.03 );
    return deep * depth;
}

// ------------------------------------------------------------------------------------------------- links

// Where a person would like to have a hand, in the own frame: low and near standing, forward as a
// counterweight when squatting.
static vec3 wish( int person, double time, double x )
{
    double d = depth_at( person, time );
    return v3( x, lerpd( 0.91, 0.94, d ), lerpd( 0.12, 0.54, d ) );
}

// Place of the hands of `person` and the next one to the left, in the world: half way between their wishes.
static vec3 link_at( const chain *c, int person, double time )
{
    vec3 left = rigid_apply( place_of( c, person ), wish( person, time, 0.5 * SPACING ) );
    vec3 right = rigid_apply( place_of( c, person + 1 ), wish( person + 1, time, -0.5 * SPACING ) );
    vec3 drift = v3( 0, 0.012 * tr_noise( person_seed( person ) + 3, time, 0.4 ), 0 );
    return v3_add( v3_lerp( left, right, 0.5 ), drift );
}

// Left palm down, right palm up: every left hand lies in a right one. With the fingers along (±a, -b, c) the
// normal (0, c, b) is at right angles to both hands, so the palms face each other exactly.
static rigid linked_hand( const chain *c, int person, int side, double time )
{
    double out = side == TR_HUMAN_LEFT ? 1.0 : -1.0;
    int link = side == TR_HUMAN_LEFT ? person : person - 1;
    double d = 0.5 * ( depth_at( link, time ) + depth_at( link + 1, time ) );
    vec3 fingers = v3( out * lerpd( 0.55, 0.60, d ), lerpd( -0.75, 0.0, d ), lerpd( 0.45, 0.65, d ) );
    vec3 palm = v3( 0, -out * fingers.z, out * fingers.y );
    vec3 place = rigid_apply( rigid_inverse( place_of( c, person ) ), link_at( c, link, time ) );
    return ( rigid ){ tr_human_hand_rotation( side, fingers, palm ), place };
}

// The outer hands of the line: down at the side, forward in the squat, palm inwards.
static rigid free_hand( int person, int side, double time )
{
    double out = side == TR_HUMAN_LEFT ? 1.0 : -1.0, d = depth_at( person, time );
    vec3 place = v3( out * 0.26, lerpd( 0.76, 0.86, d ), lerpd( 0.06, 0.70, d ) );
    vec3 fingers = v3( 0, lerpd( -1.0, -0.1, d ), lerpd( 0.25, 1.0, d ) );
    return ( rigid ){ tr_human_hand_rotation( side, fingers, v3( -out, 0, 0 ) ), place };
}

static tr_human_hand hand_at( const chain *c, int person, int side, double time )
{
    double out = side == TR_HUMAN_LEFT ? 1.0 : -1.0;
    bool last = side == TR_HUMAN_LEFT ? person == c->people - 1 : person == 0;
    tr_human_hand hand = { .rest = rigid_identity, .grip = 1.0, .firm = last ? 0.0 : 1.0 };
    hand.hold = last ? free_hand( person, side, time ) : linked_hand( c, person, side, time );
    hand.elbow =
        v3_lerp( v3( 0.45 * out, -0.8, -0.45 ), v3( 0.1 * out, -1.0, 0.0 ), depth_at( person, time ) );
    return hand;
}

// -------------------------------------------------------------------------------------------------- body

// Hips go back and down, the trunk leans forward to keep the weight over the feet, the knees follow the toes.
static tr_human_targets targets_at( const void *context, int person, double time )
{
    const chain *c = context;
    uint64_t seed = person_seed( person );
    double d = depth_at( person, time );
    double sway = tr_noise( seed, time, 0.22 ), rock = tr_noise( seed + 1, time, 0.17 );
    double lean = own( person, 3, 22, 28 ), curl = own( person, 4, 14, 20 );
    tr_human_targets out = { .look_weight = 0.85 };
    out.pelvis =
        v3( 0.012 * sway, TR_HUMAN_HIP_HEIGHT - 0.012 - 0.455 * d, 0.015 - 0.225 * d + 0.006 * rock );
    double pitch = ( 2.0 + lean * d ) * TR_DEGREE;
    out.pelvis_rotation = q_mul( q_axis_angle( v3_y, 0.02 * rock ), q_axis_angle( v3_x, pitch ) );
    out.spine = v3( ( curl * d - 1.0 ) * TR_DEGREE, -0.02 * rock, 0.015 * sway );
    // Breathe in on the way down, out on the way up.
    out.breath = 0.7 * sin( 2.0 * TR_PI * ( time - DELAY * person - 0.5 ) / PERIOD );
    double glance = tr_noise( seed + 2, time, 0.11 );
    out.look = v3( 1.1 * glance * glance * glance * 3.0, lerpd( 1.5, 1.05, d ), 3.2 );
    double stance = own( person, 5, 0.17, 0.20 ), toes = own( person, 6, 18, 26 ) * TR_DEGREE;
    for ( int side = 0; side < 2; ++side ) {
        double sign = side == TR_HUMAN_LEFT ? 1.0 : -1.0;
        out.feet[side].position = v3( sign * stance, 0, own( person, 7 + side, -0.015, 0.015 ) );
        out.feet[side].heading = sign * toes;
        out.feet[side].knee = 10 * TR_DEGREE;
        out.hands[side] = hand_at( c, person, side, time );
    }
    return out;
}

// ------------------------------------------------------------------------------------------------- scene

static bool add_people( const chain *c, tr_scene *scene, tr_error *error )
{
    for ( int i = 0; i < c->people; ++i ) {
        tr_cast cast = tr_crowd_member( 2, i, 0.7, 1.3 );
        rigid place = place_of( c, i );
        cast.position = place.position;
        cast.heading = tr_crowd_heading( place );
        if ( tr_scene_add_cast( scene, &cast ) == NULL )
            return tr_error_memory( error );
    }
    return true;
}

static bool add_links( tr_scene *scene, tr_error *error )
{
    for ( int i = 0; i + 1 < scene->cast_count; ++i ) {
        const char *left = scene->cast[i].id, *right = scene->cast[i + 1].id;
        tr_id id;
        snprintf( id, sizeof id, "%.12s_%.12s", left, right );
        tr_constraint link = tr_default_constraint( id, TR_CONSTRAINT_RELATIVE );
        link.a = tr_crowd_palm( left, TR_HUMAN_LEFT );
        link.b = tr_crowd_palm( right, TR_HUMAN_RIGHT );
        link.first = scene->first;
        link.last = scene->last;
        if ( tr_scene_add_constraint( scene, &link ) == NULL )
            return tr_error_memory( error );
    }
    return true;
}

bool tr_squat_chain_build( int cast, tr_scene *scene, tr_library *library, tr_error *error )
{
    chain c = { .people = cast, .fps = 30.0 };
    scene->fps = c.fps;
    scene->first = 0;
    scene->last = FRAME_COUNT - 1;
    return add_people( &c, scene, error ) && add_links( scene, error ) &&
           tr_crowd_perform( scene, library, FRAME_COUNT, targets_at, &c, NULL, error );
}
