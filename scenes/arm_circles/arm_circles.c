// One person warms up: the forearms roll around each other before the chest, the hands stroke round the
// waist, one before and one behind, and pass over the head. Nothing here touches another body: what has to
// survive a change of proportions is where the arms are around the own body.
#include "scenes/builders.h"
#include "scenes/kit/kit.h"

#include <stdio.h>

#define FPS         30.0
#define FRAME_COUNT 451
#define ROLLS       4   // turns of the forearms
#define ROLL_BEGIN  1.0 // seconds
#define ROLL_END    4.2
#define STROKE      6.0  // when the first stroke round the waist begins
#define STROKE_TIME 1.30 // from behind to before
#define CROWN       12.2 // when the first hand is over the head

// A place of a hand and how it is turned, of the left, in the chest's frame; the right one's are mirrored in
// x.
typedef struct hold {
    vec3 palm_at, fingers, palm;
} hold;

static const hold hanging = { { 0.24, -0.42, 0.04 }, { 0.05, -1, 0.20 }, { -1, 0, -0.2 } };
static const hold before = { { -0.07, -0.13, 0.175 }, { -1, -0.10, 0.15 }, { 0.15, 0, -1 } };
static const hold beside = { { 0.235, -0.15, 0.09 }, { -0.25, -0.75, 0.6 }, { -1, 0.1, 0 } };
static const hold flank = { { 0.235, -0.20, -0.06 }, { 0, -1, -0.15 }, { -1, 0, 0 } };
static const hold behind = { { 0.02, -0.17, -0.170 }, { -1, -0.25, -0.05 }, { 0, 0, -1 } };
static const hold raised = { { 0.24, 0.30, 0.22 }, { -0.3, 0.9, 0.2 }, { -0.8, -0.2, -0.4 } };
static const hold crown = { { 0.00, 0.52, 0.04 }, { -0.95, -0.25, 0 }, { -0.2, -1, 0 } };

typedef struct arm_keys {
    tr_track3 place, fingers, palm;
} arm_keys;

static void add_key( arm_keys *keys, double time, const hold *h )
{
    tr_track3_add( &keys->place, time, h->palm_at );
    tr_track3_add( &keys->fingers, time, h->fingers );
    tr_track3_add( &keys->palm, time, h->palm );
}

// ------------------------------------------------------------------------------------------------ rolling

// The hands turn about an axis from left to right before the chest, on opposite sides of it, forearms across.
static hold rolling( int side, double time )
{
    double turns = ROLLS * smooth_step5( ( time - ROLL_BEGIN ) / ( ROLL_END - ROLL_BEGIN ) );
    double angle = 2.0 * TR_PI * ( turns + 0.5 * side );
    hold h = { .palm_at = v3( -0.02, 0.02 + 0.095 * sin( angle ), 0.29 + 0.095 * cos( angle ) ) };
    h.fingers = v3( -1, 0.08, 0.1 );
    h.palm = v3( 0.1, -0.25, -1 );
    return h;
}

// ------------------------------------------------------------------------------------------------- strokes

// Four strokes of each hand round the waist, the left one beginning behind, the right one before; then over
// the head and back.
static void plan_arm( arm_keys *keys, int side )
{
    *keys = ( arm_keys ){ 0 };
    bool left = side == TR_HUMAN_LEFT;
    const hold *way[4] = { left ? &behind : &before, left ? &flank : &beside, left ? &beside : &flank,
                           left ? &before : &behind };
    add_key( keys, 0.0, &hanging );
    add_key( keys, ROLL_END + 0.8, &hanging );
    add_key( keys, STROKE - 0.30, way[1] );
    for ( int i = 0; i < 2; ++i ) {
        double begin = STROKE + 0.25 + 2.0 * STROKE_TIME * i;
        add_key( keys, begin, way[0] );
        add_key( keys, begin + 0.42 * STROKE_TIME, way[1] );
        add_key( keys, begin + 0.58 * STROKE_TIME, way[2] );
        add_key( keys, begin + 1.00 * STROKE_TIME, way[3] );
        add_key( keys, begin + 1.42 * STROKE_TIME, way[2] );
        add_key( keys, begin + 1.58 * STROKE_TIME, way[1] );
    }
    double up = CROWN + ( side == TR_HUMAN_LEFT ? 1.15 : 0.25 );
    add_key( keys, up - 0.75, &hanging );
    add_key( keys, up - 0.25, &raised );
    add_key( keys, up + 0.15, &crown );
    add_key( keys, up + 0.45, &crown );
    add_key( keys, up + 0.85, &raised );
    add_key( keys, up + 1.45, &hanging );
}

static hold keyed( const arm_keys *keys, double time )
{
    return ( hold ){ tr_track3_at( &keys->place, time ), tr_track3_at( &keys->fingers, time ),
                     tr_track3_at( &keys->palm, time ) };
}

static hold blend( hold a, hold b, double t )
{
    return ( hold ){ v3_lerp( a.palm_at, b.palm_at, t ), v3_lerp( a.fingers, b.fingers, t ),
                     v3_lerp( a.palm, b.palm, t ) };
}

static vec3 on_side( int side, vec3 v )
{
    return v3( side == TR_HUMAN_LEFT ? v.x : -v.x, v.y, v.z );
}

static tr_human_hand hand_at( const arm_keys *keys, int side, double time )
{
    double roll = tr_pulse( time, ROLL_BEGIN, ROLL_END, 0.8, 0.8 );
    hold h = blend( keyed( keys, time ), rolling( side, time ), roll );
    tr_human_hand hand = { .hold = rigid_identity };
    hand.rest.position = on_side( side, h.palm_at );
    hand.rest.rotation = tr_human_hand_rotation( side, on_side( side, h.fingers ), on_side( side, h.palm ) );
    double back = smooth_step5( ( 0.12 - h.palm_at.z ) / 0.24 ),
           high = smooth_step5( ( h.palm_at.y - 0.1 ) / 0.3 );
    vec3 elbow = v3_lerp( v3( 0.9, -0.5, -0.1 ), v3( 0.7, -0.2, -0.9 ), back );
    hand.elbow = on_side( side, v3_lerp( elbow, v3( 1.0, 0.2, 0.1 ), high ) );
    return hand;
}

// -------------------------------------------------------------------------------------------------- body

typedef struct warm_up {
    arm_keys arms[2];
} warm_up;

static tr_human_targets targets_at( const void *context, int person, double time )
{
    const warm_up *w = context;
    (void)person;
    double sway = tr_noise( 41u, time, 0.25 ), rock = tr_noise( 42u, time, 0.2 );
    double stroke = tr_pulse( time, STROKE, STROKE + 4.0 * STROKE_TIME, 0.6, 0.6 ) *
                    sin( TR_PI * ( time - STROKE - 0.25 ) / STROKE_TIME + 0.5 * TR_PI );
    tr_human_targets out = { .look = v3( 0.4 * sway, 1.45, 3.0 ), .look_weight = 0.85 };
    out.pelvis = v3( 0.018 * sway, TR_HUMAN_HIP_HEIGHT - 0.025, 0.01 * rock );
    out.pelvis_rotation = q_mul( q_axis_angle( v3_y, 0.06 * stroke ), q_axis_angle( v3_x, 2 * TR_DEGREE ) );
    out.spine = v3( 1.5 * TR_DEGREE * rock, 0.20 * stroke, 0.015 * sway );
    out.breath = sin( 2.0 * TR_PI * 0.27 * time );
    for ( int side = 0; side < 2; ++side ) {
        double sign = side == TR_HUMAN_LEFT ? 1.0 : -1.0;
        out.feet[side] = ( tr_human_foot ){ .position = v3( sign * 0.135, 0, 0.01 * sign ),
                                            .heading = sign * 10 * TR_DEGREE,
                                            .knee = 3 * TR_DEGREE };
        out.hands[side] = hand_at( &w->arms[side], side, time );
    }
    return out;
}

// ------------------------------------------------------------------------------------------------- scene

// The body of a monkey: arms half as long again, legs a third shorter, a thicker trunk.
static tr_cast monkey( void )
{
    tr_cast cast = tr_crowd_member( 6, 0, 0.95, 0.95 );
    cast.target.limbs[0] = ( tr_limb_value ){ "arms", 1.45 };
    cast.target.limbs[1] = ( tr_limb_value ){ "legs", 0.66 };
    cast.target.limb_count = 2;
    cast.target.girths[0] = ( tr_limb_value ){ "torso", 1.2 };
    cast.target.girth_count = 1;
    return cast;
}

bool tr_arm_circles_build( int cast, tr_scene *scene, tr_library *library, tr_error *error )
{
    (void)cast; // always one
    warm_up w;
    tr_cast member = monkey();
    plan_arm( &w.arms[TR_HUMAN_LEFT], TR_HUMAN_LEFT );
    plan_arm( &w.arms[TR_HUMAN_RIGHT], TR_HUMAN_RIGHT );
    scene->fps = FPS;
    scene->first = 0;
    scene->last = FRAME_COUNT - 1;
    if ( tr_scene_add_cast( scene, &member ) == NULL )
        return tr_error_memory( error );
    return tr_crowd_perform( scene, library, FRAME_COUNT, targets_at, &w, NULL, error );
}
