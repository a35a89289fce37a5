// A stage fight ends with a stab: the blade is meant to go through the other's body, so nothing may push it
// out there. The one who is hit doubles over it; the blade is drawn back, and both part.
#include "scenes/builders.h"
#include "scenes/kit/kit.h"

#include <stdio.h>

#define FPS         30.0
#define FRAME_COUNT 166
#define DURATION    ( ( FRAME_COUNT - 1 ) / FPS )
#define THRUST      1.70 // seconds: the blade is through
#define DRAW        2.45 // and comes back from here

static const vec3 blade_size = { 0.036, 0.018, 0.98 };
static const double grip_to_centre = 0.38; // metres along the blade from the palm

enum { ATTACKER, VICTIM };

typedef struct fighter {
    int index;
    tr_track along; // distance from the middle
    tr_stepper steps;
} fighter;

typedef struct duel {
    tr_skeleton human;
    fighter fighters[2];
} duel;

// ------------------------------------------------------------------------------------------------- steps

static tr_gait_place place_at( const void *context, double time )
{
    const fighter *f = context;
    double side = f->index == ATTACKER ? -1.0 : 1.0;
    double turn = f->index == ATTACKER ? -0.35 : TR_PI + 0.15; // the sword shoulder leads
    return ( tr_gait_place ){ v3( 0, 0, side * tr_track_at( &f->along, time ) ), turn };
}

static bool plan( fighter *f, int index, tr_error *error )
{
    *f = ( fighter ){ .index = index };
    tr_track_add( &f->along, 0.0, 1.02 );
    if ( index == ATTACKER ) {
        tr_track_add( &f->along, THRUST - 0.75, 1.02 );
        tr_track_add( &f->along, THRUST - 0.05, 0.30 );
        tr_track_add( &f->along, DRAW + 0.05, 0.30 );
        tr_track_add( &f->along, DRAW + 1.30, 1.00 );
    } else {
        tr_track_add( &f->along, DRAW + 0.10, 1.02 );
        tr_track_add( &f->along, DRAW + 1.60, 1.42 );
    }
    tr_stepper_def def = tr_default_stepper_def();
    def.path = place_at;
    def.context = f;
    def.end = DURATION;
    def.cycle = 1.0;
    def.start_phase = index == ATTACKER ? 0.05 : 0.4;
    def.width = 0.12;
    def.toes_out = 12 * TR_DEGREE;
    def.roll = 15 * TR_DEGREE;
    def.seed = 33u + (unsigned)index;
    return tr_stepper_plan( &f->steps, &def, error );
}

static double hurt_at( double time )
{
    return tr_pulse( time, THRUST + 0.35, DURATION, 0.45, 1.0 );
}

static tr_human_targets stand_at( const duel *d, int person, double time )
{
    tr_human_targets out = tr_stepper_at( &d->fighters[person].steps, time );
    double lunge = tr_pulse( time, THRUST - 0.10, DRAW, 0.55, 0.60 ), hurt = hurt_at( time );
    if ( person == ATTACKER ) {
        out.pelvis.y -= 0.055 + 0.10 * lunge;
        out.spine =
            v3_add( out.spine, v3( ( 3 + 9 * lunge ) * TR_DEGREE, ( 6 + 14 * lunge ) * TR_DEGREE, 0 ) );
        out.look = v3( 0, 1.35, 0.95 );
    } else {
        out.pelvis.y -= 0.02 + 0.09 * hurt;
        out.pelvis.z += 0.05 * hurt;
        out.spine = v3_add( out.spine, v3( 34 * TR_DEGREE * hurt, 0.06 * hurt, 0 ) );
        out.look = v3_lerp( v3( 0, 1.4, -1.0 ), v3( 0, 0.5, 0.45 ), hurt );
    }
    return out;
}

// ------------------------------------------------------------------------------------------------- sword

// The hand's way, in the attacker's frame on the ground: guard, back, through, back again.
static vec3 sword_hand( double time )
{
    tr_track3 way = { 0 };
    const vec3 guard = v3( -0.16, 1.10, 0.40 ), back = v3( -0.30, 1.12, 0.18 ),
               through = v3( 0.10, 1.20, 0.70 );
    tr_track3_add( &way, 0.5, guard );
    tr_track3_add( &way, THRUST - 0.62, back );
    tr_track3_add( &way, THRUST - 0.05, through );
    tr_track3_add( &way, DRAW, through );
    tr_track3_add( &way, DRAW + 0.75, v3( -0.24, 1.05, 0.26 ) );
    tr_track3_add( &way, DRAW + 1.50, v3( -0.24, 0.86, 0.24 ) );
    return tr_track3_at( &way, time );
}

// The grip: palm in the world, blade along +Z of the frame. It points at the victim's belly, and down at the
// end.
static rigid grip_at( const duel *d, double time )
{
    vec3 palm = rigid_apply( tr_stepper_body( &d->fighters[ATTACKER].steps, time ), sword_hand( time ) );
    double lowered = tr_pulse( time, DRAW + 1.5, DURATION, 0.8, 1.0 );
    vec3 aim = v3_lerp( v3( 0.0, 1.14, 0.98 ), v3( -0.2, 0.1, 0.3 ), lowered );
    vec3 z = v3_unit( v3_sub( aim, palm ) );
    vec3 x = v3_unit( v3_cross( v3_y, z ) );
    return ( rigid ){ q_from_mat3( ( mat3 ){ x, v3_cross( z, x ), z } ), palm };
}

static rigid sword_at( const void *context, double time )
{
    rigid grip = grip_at( context, time );
    grip.position = rigid_apply( grip, v3( 0, 0, grip_to_centre ) );
    return grip;
}

// -------------------------------------------------------------------------------------------------- hands

static void hold_sword( const duel *d, double time, tr_human_targets *out )
{
    rigid grip = grip_at( d, time );
    tr_human_hand *hand = &out->hands[TR_HUMAN_RIGHT];
    vec3 fingers = q_rotate( grip.rotation, v3( 0.25, -0.45, 1 ) ),
         palm = q_rotate( grip.rotation, v3( 1, 0.2, 0 ) );
    hand->hold = ( rigid ){ tr_human_hand_rotation( TR_HUMAN_RIGHT, fingers, palm ), grip.position };
    hand->grip = hand->firm = 1.0;
    hand->elbow = v3( -0.6, -0.8, -0.4 );
    // The free hand goes up and back as a counterweight.
    double lunge = tr_pulse( time, THRUST - 0.10, DRAW, 0.55, 0.70 );
    tr_human_hand *free = &out->hands[TR_HUMAN_LEFT];
    free->rest = tr_human_hang( TR_HUMAN_LEFT, ( -6 - 26 * lunge ) * TR_DEGREE,
                                ( 14 + 30 * lunge ) * TR_DEGREE, ( 45 - 15 * lunge ) * TR_DEGREE );
}

// Up in defence, then both to the wound, one above the other.
static void clutch( const duel *d, double time, tr_human_targets *out )
{
    rigid chest = tr_human_chest( &d->human, out );
    double hurt = tr_pulse( time, THRUST + 0.45, DURATION, 0.50, 1.0 );
    for ( int side = 0; side < 2; ++side ) {
        double left = side == TR_HUMAN_LEFT ? 1.0 : -1.0;
        vec3 guard = v3( 0.20 * left, 0.02, 0.30 );
        vec3 wound = v3( 0.06 * left, -0.08 - 0.04 * left, 0.165 );
        quat raised =
            tr_human_hand_rotation( side, v3( -0.3 * left, 0.9, 0.4 ), v3( -0.7 * left, -0.2, 0.7 ) );
        quat pressed = tr_human_hand_rotation( side, v3( -left, -0.15, 0.1 ), v3( 0, 0, -1 ) );
        tr_human_hand *hand = &out->hands[side];
        hand->hold.rotation = q_mul( chest.rotation, q_slerp( raised, pressed, hurt ) );
        hand->hold.position = rigid_apply( chest, v3_lerp( guard, wound, hurt ) );
        hand->grip = tr_pulse( time, 0.9, DURATION, 0.6, 1.0 );
        hand->elbow = v3( 0.8 * left, -0.7, -0.3 );
    }
}

static tr_human_targets targets_at( const void *context, int person, double time )
{
    const duel *d = context;
    tr_human_targets out = stand_at( d, person, time );
    if ( person == ATTACKER )
        hold_sword( d, time, &out );
    else
        clutch( d, time, &out );
    return out;
}

// ------------------------------------------------------------------------------------------------- scene

static bool add_people( tr_scene *scene, tr_error *error )
{
    static const double sizes[2] = { 1.15, 0.88 };
    if ( !tr_crowd_add( scene, 14, sizes, 2, error ) )
        return false;
    tr_constraint grip = tr_default_constraint( "grip", TR_CONSTRAINT_RELATIVE );
    grip.a = tr_crowd_palm( scene->cast[ATTACKER].id, TR_HUMAN_RIGHT );
    grip.b = tr_point_prop( "sword", v3( 0, 0, -grip_to_centre ) );
    grip.first = scene->first;
    grip.last = scene->last;
    return tr_scene_add_constraint( scene, &grip ) != NULL || tr_error_memory( error );
}

// From where the blade comes near to where it is out again, it does not push.
static bool let_through( tr_scene *scene, tr_error *error )
{
    tr_pair stab = tr_default_pair( "stab", TR_PAIR_PASS );
    snprintf( stab.a, sizeof stab.a, "%s", scene->cast[VICTIM].id );
    snprintf( stab.b, sizeof stab.b, "sword" );
    stab.first = tr_int_clamped( ( THRUST - 0.60 ) * FPS, 0, TR_MAX_FRAMES );
    stab.last = tr_int_clamped( ( DRAW + 1.00 ) * FPS, 0, TR_MAX_FRAMES );
    return tr_scene_add_pair( scene, &stab ) != NULL || tr_error_memory( error );
}

bool tr_sword_pair_build( int cast, tr_scene *scene, tr_library *library, tr_error *error )
{
    (void)cast; // always two
    duel d = { 0 };
    scene->fps = FPS;
    scene->first = 0;
    scene->last = FRAME_COUNT - 1;
    bool ok = add_people( scene, error ) && tr_human_skeleton( &d.human, error ) &&
              plan( &d.fighters[ATTACKER], ATTACKER, error ) && plan( &d.fighters[VICTIM], VICTIM, error ) &&
              tr_thing_add( scene, library, "sword", blade_size, tr_thing_steel, sword_at, &d, error ) &&
              let_through( scene, error ) &&
              tr_crowd_perform( scene, library, FRAME_COUNT, targets_at, &d, NULL, error );
    for ( int i = 0; i < 2; ++i )
        tr_stepper_free( &d.fighters[i].steps );
    tr_skeleton_free( &d.human );
    return ok;
}
