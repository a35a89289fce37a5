// A hip throw. Two people hold each other by sleeve and shoulder; one turns in, back to front, hip below hip,
// an arm around the other's waist, bends and straightens: the other goes over the hip in half a somersault
// and lands on the back. Everything is keyed by hand on tracks; the hands follow sleeves, shoulders and
// waists wherever these go.
#include "scenes/builders.h"
#include "scenes/kit/kit.h"

#define FPS         30.0
#define FRAME_COUNT 151
#define TURN        1.45 // seconds: the thrower begins to turn in
#define LOADED      2.15 // hip below hip
#define LIFT_OFF    2.32 // the other's feet leave the mat
#define LANDING     3.15

enum { THROWER, THROWN };

typedef struct body_tracks { // angles in degrees
    tr_track3 pelvis;
    tr_track yaw, pitch;
    tr_track3 spine, look;
    tr_track3 feet[2];
    tr_track heading[2];
} body_tracks;

typedef struct bout {
    tr_skeleton human;
    body_tracks bodies[2];
    tr_track roll;    // turn of the thrown one's feet in the air: a somersault
    tr_track3 sleeve; // where the thrower's left hand holds the other's right wrist
    tr_track3 slap;   // path of the thrown one's left palm on the mat
} bout;

typedef struct key {
    double time, value;
} key;

typedef struct key3 {
    double time;
    vec3 value;
} key3;

static void add_keys( tr_track *track, const key *keys, int count )
{
    for ( int i = 0; i < count; ++i )
        tr_track_add( track, keys[i].time, keys[i].value );
}

static void add_keys3( tr_track3 *track, const key3 *keys, int count )
{
    for ( int i = 0; i < count; ++i )
        tr_track3_add( track, keys[i].time, keys[i].value );
}

#define ADD( track, ... )                                                                                    \
    add_keys( track, ( const key[] ){ __VA_ARGS__ },                                                         \
              sizeof( ( const key[] ){ __VA_ARGS__ } ) / sizeof( key ) )
#define ADD3( track, ... )                                                                                   \
    add_keys3( track, ( const key3[] ){ __VA_ARGS__ },                                                       \
               sizeof( ( const key3[] ){ __VA_ARGS__ } ) / sizeof( key3 ) )

// ------------------------------------------------------------------------------------------------- thrower

// Starts at -Z looking along +Z, ends under the other looking along -Z.
static void plan_thrower( body_tracks *b )
{
    ADD3( &b->pelvis, { 0.3, { 0.00, 0.925, -0.38 } }, { 1.0, { 0.02, 0.92, -0.36 } },
          { TURN, { -0.02, 0.90, -0.33 } }, { 1.85, { 0.03, 0.82, -0.10 } },
          { LOADED, { 0.00, 0.775, -0.01 } }, { 2.60, { -0.05, 0.87, -0.02 } },
          { 3.10, { -0.04, 0.80, 0.06 } }, { 4.00, { 0.00, 0.76, 0.08 } } );
    ADD( &b->yaw, { TURN, 0 }, { LOADED + 0.05, 180 }, { 2.7, 172 }, { 3.6, 158 } );
    ADD( &b->pitch, { TURN, 4 }, { LOADED, 14 }, { 2.62, 44 }, { 3.10, 36 }, { 4.0, 34 } );
    ADD3( &b->spine, { 0.5, { 5, 0, 0 } }, { TURN, { 5, 8, 0 } }, { LOADED, { 8, 10, -6 } },
          { 2.62, { 22, 8, -20 } }, { 3.05, { 34, -8, -8 } }, { 4.0, { 32, -12, -4 } } );
    ADD3( &b->look, { 1.2, { 0, 1.5, 0.5 } }, { 1.9, { -0.4, 1.0, -0.8 } }, { 2.6, { -0.3, 0.3, -1.2 } },
          { 3.3, { 0, 0.1, -0.5 } } );
    // The right foot crosses to before the other's right foot, the left one swings round behind it.
    ADD3( &b->feet[TR_HUMAN_RIGHT], { TURN, { -0.13, 0, -0.42 } }, { 1.50, { -0.13, 0.02, -0.42 } },
          { 1.64, { 0.00, 0.07, -0.14 } }, { 1.79, { 0.15, 0.02, 0.04 } }, { 1.84, { 0.15, 0, 0.04 } } );
    ADD3( &b->feet[TR_HUMAN_LEFT], { 1.82, { 0.13, 0, -0.36 } }, { 1.87, { 0.13, 0.02, -0.36 } },
          { 2.00, { -0.10, 0.06, -0.26 } }, { 2.14, { -0.17, 0.02, 0.03 } }, { 2.19, { -0.17, 0, 0.03 } } );
    ADD( &b->heading[TR_HUMAN_RIGHT], { 1.50, -12 }, { 1.80, 150 } );
    ADD( &b->heading[TR_HUMAN_LEFT], { 1.87, 12 }, { 2.15, 192 } );
}

// -------------------------------------------------------------------------------------------------- thrown

// Stands at +Z looking along -Z (yaw 180); pitch is how far the somersault has come.
static void plan_thrown( body_tracks *b )
{
    // Past the thrower's right side, over the hip: the trunks never meet.
    ADD3( &b->pelvis, { 0.3, { 0.00, 0.93, 0.40 } }, { 1.0, { -0.02, 0.925, 0.39 } },
          { TURN, { 0.00, 0.935, 0.38 } }, { LOADED, { 0.07, 0.95, 0.34 } }, { 2.40, { 0.15, 1.06, 0.24 } },
          { 2.60, { 0.22, 1.16, -0.02 } }, { 2.80, { 0.34, 1.00, -0.42 } }, { 3.00, { 0.32, 0.55, -0.84 } },
          { LANDING, { 0.29, 0.150, -1.04 } }, { 3.40, { 0.28, 0.135, -1.06 } } );
    ADD( &b->yaw, { 0, 180 } );
    ADD( &b->pitch, { TURN, 3 }, { LOADED, 18 }, { 2.40, 52 }, { 2.60, 108 }, { 2.80, 172 }, { 3.00, 228 },
         { LANDING, 266 }, { 3.45, 270 } );
    ADD3( &b->spine, { 0.5, { 5, 0, 0 } }, { TURN, { 4, -6, 0 } }, { LOADED, { 14, -4, 0 } },
          { 2.60, { 30, 6, 0 } }, { 2.95, { 34, 8, 0 } }, { LANDING, { 20, 4, 0 } }, { 3.8, { 6, 0, 0 } } );
    ADD3( &b->look, { 1.2, { 0, 1.5, -0.4 } }, { 2.2, { 0, 0.6, -0.7 } }, { 2.6, { 0, 0.2, -0.6 } },
          { 3.1, { 0, 0.9, -0.9 } }, { 3.8, { 0, 1.4, -0.4 } } );
    for ( int side = 0; side < 2; ++side ) {
        double x = side == TR_HUMAN_LEFT ? -0.14 : 0.14; // seen along -Z
        ADD3( &b->feet[side], { LIFT_OFF, { x, 0, 0.42 } }, { 3.20, { 0.28 + 1.3 * x, 0, -1.54 } } );
        ADD( &b->heading[side], { 0, 180 + ( side == TR_HUMAN_LEFT ? 8 : -8 ) } );
    }
}

static void plan( bout *b )
{
    plan_thrower( &b->bodies[THROWER] );
    plan_thrown( &b->bodies[THROWN] );
    ADD( &b->roll, { LIFT_OFF - 0.12, 0 }, { 2.60, 100 }, { 2.80, 168 }, { 3.00, 236 }, { 3.20, 316 },
         { 3.50, 360 } );
    ADD3( &b->sleeve, { 0.5, { 0.36, 1.20, 0.02 } }, { TURN, { 0.38, 1.22, -0.02 } },
          { 1.80, { 0.34, 1.26, -0.26 } }, { LOADED, { 0.12, 1.14, -0.46 } }, { 2.40, { 0.22, 0.98, -0.60 } },
          { 2.62, { 0.30, 0.74, -0.66 } }, { 2.85, { 0.38, 0.58, -0.56 } },
          { LANDING, { 0.32, 0.52, -0.44 } }, { 3.8, { 0.27, 0.44, -0.46 } } );
    ADD3( &b->slap, { 2.9, { -0.25, 0.40, -0.62 } }, { LANDING + 0.03, { -0.28, 0.032, -0.84 } },
          { 3.5, { -0.28, 0.032, -0.84 } } );
}

// --------------------------------------------------------------------------------------------------- trunks

static vec3 in_radians( vec3 degrees )
{
    return v3_scale( TR_DEGREE, degrees );
}

// In the air feet go with the pelvis, knees a little bent; before and after they stand.
static void place_foot( const bout *b, int person, int side, double time, tr_human_targets *out )
{
    const body_tracks *tracks = &b->bodies[person];
    tr_human_foot *foot = &out->feet[side];
    foot->position = tr_track3_at( &tracks->feet[side], time );
    foot->heading = tr_track_at( &tracks->heading[side], time ) * TR_DEGREE;
    if ( person == THROWER )
        return;
    double left = side == TR_HUMAN_LEFT ? 1.0 : -1.0;
    double air = tr_pulse( time, LIFT_OFF + 0.16, LANDING - 0.12, 0.22, 0.30 );
    vec3 carried = q_rotate( out->pelvis_rotation, v3( 0.13 * left, -0.80, 0.13 + 0.10 * left ) );
    foot->position = v3_lerp( foot->position, v3_add( out->pelvis, carried ), air );
    foot->position.y = fmax( foot->position.y, 0.0 );
    foot->roll = tr_track_at( &b->roll, time ) * TR_DEGREE;
    vec3 ahead = q_rotate( out->pelvis_rotation, v3( 0.15 * left, 0, 1 ) );
    double loose = tr_pulse( time, LIFT_OFF, 99, 0.3, 1 );
    foot->knee_to = v3_lerp( v3( -0.1 * left, 0, -1 ), ahead, loose );
}

static tr_human_targets stand_at( const bout *b, int person, double time )
{
    const body_tracks *tracks = &b->bodies[person];
    uint64_t seed = 61u + (uint64_t)person;
    double calm = tr_pulse( time, -1, TURN - 0.3, 1, 0.4 );
    vec3 shift =
        v3( 0.02 * calm * tr_noise( seed, time, 0.35 ), 0.006 * calm * tr_noise( seed + 5, time, 0.5 ),
            0.012 * calm * tr_noise( seed + 9, time, 0.3 ) );
    tr_human_targets out = { .look = tr_track3_at( &tracks->look, time ), .look_weight = 0.7 };
    out.pelvis = v3_add( tr_track3_at( &tracks->pelvis, time ), shift );
    out.pelvis_rotation = q_mul( q_axis_angle( v3_y, tr_track_at( &tracks->yaw, time ) * TR_DEGREE ),
                                 q_axis_angle( v3_x, tr_track_at( &tracks->pitch, time ) * TR_DEGREE ) );
    out.spine = in_radians( tr_track3_at( &tracks->spine, time ) );
    out.breath = sin( 2.0 * TR_PI * ( 0.4 * time + 0.4 * person ) );
    for ( int side = 0; side < 2; ++side )
        place_foot( b, person, side, time, &out );
    return out;
}

// ---------------------------------------------------------------------------------------------------- hands

// A palm on a place of a chest.
static rigid on_chest( rigid chest, int side, vec3 place, vec3 fingers, vec3 palm )
{
    return ( rigid ){
        tr_human_hand_rotation( side, q_rotate( chest.rotation, fingers ), q_rotate( chest.rotation, palm ) ),
        rigid_apply( chest, place ) };
}

static rigid between( rigid a, rigid b, double t )
{
    return ( rigid ){ q_slerp( a.rotation, b.rotation, t ), v3_lerp( a.position, b.position, t ) };
}

// The wrist that is held, within reach of both arms: where the track wants it, drawn in towards the two
// shoulders.
static vec3 sleeve_at( const bout *b, const rigid chests[2], double time )
{
    const vec3 shoulders[2] = { rigid_apply( chests[THROWER], v3( 0.18, 0.14, 0 ) ),
                                rigid_apply( chests[THROWN], v3( -0.18, 0.14, 0 ) ) };
    const double reach[2] = { 0.53, 0.48 };
    vec3 wrist = tr_track3_at( &b->sleeve, time );
    for ( int round = 0; round < 12; ++round ) {
        vec3 arm = v3_sub( wrist, shoulders[round % 2] );
        double length = v3_length( arm ), soft = 0.06, over = length - reach[round % 2] + soft;
        if ( over > 0 )
            wrist =
                v3_mad( shoulders[round % 2], ( length - over + soft * tanh( over / soft ) ) / length, arm );
    }
    return wrist;
}

static const vec3 shoulder_front = { 0.11, 0.10, 0.125 }, waist = { -0.125, -0.17, -0.055 },
                  sleeve_arm = { -0.235, 0.02, 0.07 }, held_elbow = { -0.8, 0.1, -0.6 };

// The direction of the thrown one's right forearm when the wrist is where it is held: the arm's two bones and
// where its elbow goes define the place.
static vec3 held_forearm( rigid chest, vec3 wrist )
{
    const double upper = 0.30, lower = 0.26;
    vec3 shoulder = rigid_apply( chest, v3( -0.18, 0.14, 0 ) ), arm = v3_sub( wrist, shoulder );
    double span = v3_length( arm ), along = ( upper * upper - lower * lower + span * span ) / ( 2.0 * span );
    vec3 reach = v3_scale( 1.0 / span, arm ), pole = q_rotate( chest.rotation, held_elbow );
    vec3 aside = v3_unit( v3_mad( pole, -v3_dot( pole, reach ), reach ) );
    vec3 elbow =
        v3_mad( v3_mad( shoulder, along, reach ), sqrt( fmax( upper * upper - along * along, 0.0 ) ), aside );
    return v3_unit( v3_sub( wrist, elbow ) );
}

// A hand around the held wrist: the palm lies on it from above, the fingers across it, always the same way
// round.
static rigid around_wrist( const rigid chests[2], vec3 wrist )
{
    vec3 forearm = held_forearm( chests[THROWN], wrist );
    vec3 above = v3_unit( v3_mad( v3_y, -forearm.y, forearm ) ), across = v3_cross( above, forearm );
    vec3 reach = v3_unit( v3_sub( wrist, rigid_apply( chests[THROWER], v3( 0.18, 0.14, 0 ) ) ) );
    vec3 fingers = v3_mad( reach, -v3_dot( reach, above ), above );
    double turn = v3_dot( fingers, across ); // its sign hardly changes; made so that it never does
    fingers = v3_mad( fingers, -turn - hypot( turn, 0.5 ), across );
    return ( rigid ){ tr_human_hand_rotation( TR_HUMAN_LEFT, fingers, v3_negate( above ) ),
                      v3_mad( wrist, 0.034, above ) };
}

// Left on the sleeve throughout. Right on the other's left shoulder, then around the waist until the landing.
static void thrower_hands( const bout *b, const rigid chests[2], double time, tr_human_targets *out )
{
    tr_human_hand *left = &out->hands[TR_HUMAN_LEFT], *right = &out->hands[TR_HUMAN_RIGHT];
    left->hold = around_wrist( chests, sleeve_at( b, chests, time ) );
    left->grip = 1.0;
    left->elbow = v3( 0.9, -0.4, 0.5 );
    rigid lapel =
        on_chest( chests[THROWN], TR_HUMAN_RIGHT, shoulder_front, v3( 0.3, 0.9, -0.3 ), v3( 0, 0, -1 ) );
    rigid hug = on_chest( chests[THROWN], TR_HUMAN_RIGHT, waist, v3( 0.35, -0.1, -0.9 ), v3( 0.9, 0, 0.45 ) );
    double in = smooth_step5( ( time - TURN - 0.10 ) / ( LOADED - TURN - 0.05 ) );
    right->hold = between( lapel, hug, in );
    vec3 outside = q_rotate( chests[THROWER].rotation, v3( -1.5 * in * ( 1.0 - in ), 0, 0 ) );
    right->hold.position = v3_add( right->hold.position, outside ); // round the own shoulder, not through it
    // Let go, it swings aside, out of the other's way.
    double over = smooth_step5( ( time - 3.0 ) / 0.8 );
    right->rest = tr_human_hang( TR_HUMAN_RIGHT, lerpd( 20, 18, over ) * TR_DEGREE,
                                 lerpd( 90, 6, over ) * TR_DEGREE, lerpd( 40, 30, over ) * TR_DEGREE );
    right->grip = tr_pulse( time, -1, 2.36, 1, 0.5 );
    double aside = 4.0 * in * ( 1.0 - in ); // the elbow hangs while the arm is stretched out to the side
    right->elbow = v3( -1.0 + 0.9 * aside, -0.3 - 0.9 * aside, -0.1 - 0.3 * aside );
}

// Right arm given away to the thrower, left on the thrower's sleeve, then free and flat on the mat.
static void thrown_hands( const bout *b, const rigid chests[2], double time, tr_human_targets *out )
{
    vec3 wrist = sleeve_at( b, chests, time );
    vec3 reach = v3_unit( v3_sub( wrist, rigid_apply( chests[THROWN], v3( -0.18, 0.14, 0 ) ) ) );
    tr_human_hand *left = &out->hands[TR_HUMAN_LEFT], *right = &out->hands[TR_HUMAN_RIGHT];
    // The sleeve is the wrist: the palm lies a hand's half beyond it.
    right->hold.rotation = tr_human_hand_rotation( TR_HUMAN_RIGHT, reach, v3( 0, -1, 0 ) );
    right->hold.position = v3_mad( wrist, 0.09, reach );
    right->grip = 1.0;
    right->elbow = held_elbow;
    rigid sleeve =
        on_chest( chests[THROWER], TR_HUMAN_LEFT, sleeve_arm, v3( 0.2, 0.5, -0.8 ), v3( 1, 0, 0 ) );
    double fly = smooth_step5( ( time - TURN ) / 0.7 ),
           mat = smooth_step5( ( time - 2.75 ) / ( LANDING - 2.75 ) );
    rigid flat = { tr_human_hand_rotation( TR_HUMAN_LEFT, v3( -0.8, 0, -0.5 ), v3( 0, -1, 0 ) ),
                   tr_track3_at( &b->slap, time ) };
    left->rest = tr_human_hang( TR_HUMAN_LEFT, -75 * TR_DEGREE, 85 * TR_DEGREE, 20 * TR_DEGREE );
    left->hold = mat > 0 ? flat : sleeve;
    left->grip = mat > 0 ? mat : 1.0 - fly;
    left->elbow = v3( 0.8, -0.4, lerpd( -0.3, 0.5, mat ) );
}

static tr_human_targets targets_at( const void *context, int person, double time )
{
    const bout *b = context;
    tr_human_targets out = stand_at( b, person, time ), other = stand_at( b, 1 - person, time );
    rigid chests[2];
    chests[person] = tr_human_chest( &b->human, &out );
    chests[1 - person] = tr_human_chest( &b->human, &other );
    for ( int side = 0; side < 2; ++side )
        out.hands[side] = ( tr_human_hand ){ .rest = rigid_identity };
    if ( person == THROWER )
        thrower_hands( b, chests, time, &out );
    else
        thrown_hands( b, chests, time, &out );
    return out;
}

// ---------------------------------------------------------------------------------------------------- scene

static bool add_hold( tr_scene *scene, const char *id, tr_point a, tr_point b, double from, double to,
                      tr_error *error )
{
    tr_constraint hold = tr_default_constraint( id, TR_CONSTRAINT_RELATIVE );
    hold.a = a;
    hold.b = b;
    hold.partner_space = true;
    hold.first = tr_nearest_frame( from * FPS );
    hold.last = tr_nearest_frame( to * FPS );
    hold.ease_in = hold.ease_out = 12;
    return tr_scene_add_constraint( scene, &hold ) != NULL || tr_error_memory( error );
}

static tr_point chest_point( const char *who, vec3 place )
{
    tr_point point = tr_point_joint( who, "Chest" );
    point.offset = place;
    return point;
}

static bool add_people( tr_scene *scene, tr_error *error )
{
    static const double sizes[2] = { 0.85, 1.15 };
    if ( !tr_crowd_add( scene, 19, sizes, 2, error ) )
        return false;
    const char *thrower = scene->cast[THROWER].id, *thrown = scene->cast[THROWN].id;
    double end = ( FRAME_COUNT - 1 ) / FPS;
    return add_hold( scene, "sleeve", tr_crowd_palm( thrower, TR_HUMAN_LEFT ),
                     tr_point_joint( thrown, "RightHand" ), 0, end, error ) &&
           add_hold( scene, "shoulder", tr_crowd_palm( thrower, TR_HUMAN_RIGHT ),
                     chest_point( thrown, shoulder_front ), 0, TURN, error ) &&
           add_hold( scene, "waist", tr_crowd_palm( thrower, TR_HUMAN_RIGHT ), chest_point( thrown, waist ),
                     LOADED, 2.36, error );
}

bool tr_judo_pair_build( int cast, tr_scene *scene, tr_library *library, tr_error *error )
{
    (void)cast; // always two
    bout b = { 0 };
    plan( &b );
    scene->fps = FPS;
    scene->first = 0;
    scene->last = FRAME_COUNT - 1;
    bool ok = add_people( scene, error ) && tr_human_skeleton( &b.human, error ) &&
              tr_crowd_perform( scene, library, FRAME_COUNT, targets_at, &b, NULL, error );
    tr_skeleton_free( &b.human );
    return ok;
}
