// A person gets into a car: right foot over the sill, down and in under the roof, left foot after it, hands
// on the wheel. The car is furniture of boxes and polylines; what has to survive another body, or another
// car, is the way through the door: over the sill, under the roof, between seat and wheel.
#include "scenes/builders.h"
#include "scenes/kit/kit.h"

#define FPS         30.0
#define FRAME_COUNT 196

// The car looks along +Z, its door is open towards +X. Metres.
#define FLOOR 0.22 // height the feet stand on inside

typedef struct block {
    const char *id;
    vec3 size, centre;
    const float *colour;
} block;

static const block blocks[] = {
    { "sill", { 0.12, 0.32, 1.75 }, { 0.04, 0.16, 0.10 }, tr_thing_red },
    { "floor", { 0.85, 0.06, 1.75 }, { -0.44, 0.19, 0.10 }, tr_thing_grey },
    { "seat", { 0.50, 0.20, 0.50 }, { -0.36, 0.35, -0.22 }, tr_thing_grey },
    { "seat_back", { 0.48, 0.60, 0.12 }, { -0.36, 0.74, -0.53 }, tr_thing_grey },
    { "roof", { 0.95, 0.06, 1.15 }, { -0.44, 1.46, -0.36 }, tr_thing_red },
    { "front_pillar", { 0.06, 0.50, 0.06 }, { 0.02, 0.57, 0.90 }, tr_thing_red },
    { "dashboard", { 0.90, 0.16, 0.22 }, { -0.44, 0.74, 0.86 }, tr_thing_grey },
    { "bonnet", { 0.95, 0.50, 0.55 }, { -0.44, 0.57, 1.25 }, tr_thing_red },
    { "wheel", { 0.38, 0.05, 0.04 }, { -0.36, 0.93, 0.26 }, tr_thing_steel },
    { "boot", { 0.95, 0.50, 0.55 }, { -0.44, 0.57, -1.25 }, tr_thing_red },
};

typedef struct bar {
    const char *id;
    vec3 points[4];
    int count;
    double thickness;
} bar;

// What no box can be: all that slants. The windscreen keeps clear of the head that comes in under the roof
// and of the hand on the front pillar, by more than the distance at which interaction meshes take things as
// close.
static const bar bars[] = {
    { "rear_pillar", { { 0, 0.32, -0.81 }, { 0, 0.85, -0.81 }, { 0, 1.46, -0.72 } }, 3, 0.08 },
    { "far_rear_pillar",
      { { -0.88, 0.22, -0.81 }, { -0.88, 0.85, -0.81 }, { -0.88, 1.46, -0.72 } },
      3,
      0.08 },
    { "tail_pillar", { { 0, 0.82, -1.28 }, { 0, 1.46, -0.90 } }, 2, 0.06 },
    { "far_tail_pillar", { { -0.88, 0.82, -1.28 }, { -0.88, 1.46, -0.90 } }, 2, 0.06 },
    { "windscreen",
      { { 0, 0.82, 1.24 }, { 0, 1.46, 0.60 }, { -0.88, 1.46, 0.60 }, { -0.88, 0.82, 1.24 } },
      4,
      0.06 },
    { "roof_bar", { { -0.44, 1.46, 0.20 }, { -0.44, 1.46, 0.60 } }, 2, 0.06 },
    { "far_roof_bar", { { -0.88, 1.46, 0.20 }, { -0.88, 1.46, 0.60 } }, 2, 0.06 },
};

typedef struct tyre {
    const char *id;
    double x, z;
} tyre;

static const tyre tyres[] = {
    { "front_tyre", 0, 1.25 },
    { "rear_tyre", 0, -1.25 },
    { "far_front_tyre", -0.88, 1.25 },
    { "far_rear_tyre", -0.88, -1.25 },
};

#define COUNT( list )  ( sizeof( list ) / sizeof( list )[0] )
#define TYRE_CORNERS   16
#define TYRE_RADIUS    0.21 // radius of the ring's core
#define TYRE_THICKNESS 0.16

static bool add_tyre( tr_scene *scene, const tyre *t, tr_error *error )
{
    vec3 points[TYRE_CORNERS + 1]; // ends where it began
    for ( int i = 0; i <= TYRE_CORNERS; ++i ) {
        double angle = 2.0 * TR_PI * i / TYRE_CORNERS;
        points[i] = v3( t->x, 0.5 * TYRE_THICKNESS + TYRE_RADIUS * ( 1 + cos( angle ) ),
                        t->z + TYRE_RADIUS * sin( angle ) );
    }
    return tr_bar_add( scene, t->id, points, TYRE_CORNERS + 1, TYRE_THICKNESS, tr_thing_black, error );
}

static bool add_car( tr_scene *scene, tr_error *error )
{
    bool ok = true;
    for ( size_t i = 0; ok && i < COUNT( blocks ); ++i )
        ok = tr_furniture_add( scene, blocks[i].id, blocks[i].size, blocks[i].centre, 0, blocks[i].colour,
                               error );
    for ( size_t i = 0; ok && i < COUNT( bars ); ++i )
        ok = tr_bar_add( scene, bars[i].id, bars[i].points, bars[i].count, bars[i].thickness, tr_thing_red,
                         error );
    for ( size_t i = 0; ok && i < COUNT( tyres ); ++i )
        ok = add_tyre( scene, &tyres[i], error );
    return ok;
}

// ------------------------------------------------------------------------------------------------- tracks

typedef struct entry {
    tr_track3 pelvis, turn, spine,
        look; // turn: yaw, pitch, roll of the pelvis, degrees; spine likewise in degrees
    tr_track3 feet[2];
    tr_track heading[2];
    tr_track3 hands[2];
    tr_track grip[2];
} entry;

static void plan_trunk( entry *e )
{
    tr_track3_add( &e->pelvis, 0.6, v3( 0.46, 0.945, -0.06 ) );
    tr_track3_add( &e->pelvis, 1.4, v3( 0.47, 0.930, -0.09 ) );
    tr_track3_add( &e->pelvis, 2.3, v3( 0.29, 0.86, -0.20 ) );
    tr_track3_add( &e->pelvis, 3.0, v3( 0.00, 0.665, -0.26 ) );
    tr_track3_add( &e->pelvis, 3.7, v3( -0.24, 0.575, -0.27 ) );
    tr_track3_add( &e->pelvis, 4.6, v3( -0.36, 0.572, -0.30 ) );
    tr_track3_add( &e->turn, 0.6, v3( 0, 2, 0 ) );
    tr_track3_add( &e->turn, 1.6, v3( -4, 4, 3 ) );
    tr_track3_add( &e->turn, 2.6, v3( 4, 26, 10 ) );
    tr_track3_add( &e->turn, 3.2, v3( 22, 12, 9 ) );
    tr_track3_add( &e->turn, 4.2, v3( 26, -8, -3 ) );
    tr_track3_add( &e->turn, 5.2, v3( 0, -8, 0 ) );
    tr_track3_add( &e->spine, 0.6, v3( 0, 0, 0 ) );
    tr_track3_add( &e->spine, 1.6, v3( 6, -6, 4 ) );
    tr_track3_add( &e->spine, 2.55, v3( 38, -8, 16 ) );
    tr_track3_add( &e->spine, 3.15, v3( 36, -12, 10 ) );
    tr_track3_add( &e->spine, 4.2, v3( 16, -14, 2 ) );
    tr_track3_add( &e->spine, 5.3, v3( 6, 0, 0 ) );
    tr_track3_add( &e->look, 0.5, v3( -0.6, 1.2, 1.2 ) );
    tr_track3_add( &e->look, 1.4, v3( -0.2, 0.5, 0.5 ) );
    tr_track3_add( &e->look, 3.0, v3( -0.4, 0.9, 0.9 ) );
    tr_track3_add( &e->look, 4.0, v3( 0.1, 0.4, 0.5 ) );
    tr_track3_add( &e->look, 5.2, v3( -0.4, 1.15, 3.0 ) );
}

// Up, over the sill, down: no foot moves sideways that still touches the ground.
static void plan_foot( entry *e, int side, double begin, double end, vec3 from, vec3 to, double over )
{
    tr_track3 *way = &e->feet[side];
    tr_track3_add( way, begin, from );
    tr_track3_add( way, lerpd( begin, end, 0.12 ), v3_add( from, v3( 0, 0.03, 0 ) ) );
    tr_track3_add( way, lerpd( begin, end, 0.52 ),
                   v3( lerpd( from.x, to.x, 0.5 ), over, lerpd( from.z, to.z, 0.55 ) ) );
    tr_track3_add( way, lerpd( begin, end, 0.88 ), v3_add( to, v3( 0, 0.03, 0 ) ) );
    tr_track3_add( way, end, to );
    tr_track_add( &e->heading[side], begin, ( side == TR_HUMAN_LEFT ? 9 : -7 ) * TR_DEGREE );
    tr_track_add( &e->heading[side], end, ( side == TR_HUMAN_LEFT ? 6 : -6 ) * TR_DEGREE );
}

// The left hand finds the door frame while the body goes down, then both the wheel.
static void plan_hands( entry *e )
{
    const vec3 wheel[2] = { { -0.22, 0.93, 0.24 }, { -0.50, 0.93, 0.24 } }; // its near side
    tr_track3 *left = &e->hands[TR_HUMAN_LEFT], *right = &e->hands[TR_HUMAN_RIGHT];
    tr_track3_add( left, 2.6, v3( 0.075, 0.78, 0.88 ) );
    tr_track3_add( left, 4.1, v3( 0.075, 0.78, 0.88 ) );
    tr_track3_add( left, 4.5, v3( 0.02, 1.00, 0.36 ) );
    tr_track3_add( left, 5.0, wheel[TR_HUMAN_LEFT] );
    tr_track3_add( right, 2.2, v3( -0.46, 1.06, 0.16 ) );
    tr_track3_add( right, 2.75, wheel[TR_HUMAN_RIGHT] );
    tr_track_add( &e->grip[TR_HUMAN_LEFT], 1.5, 0 );
    tr_track_add( &e->grip[TR_HUMAN_LEFT], 2.5, 1 );
    tr_track_add( &e->grip[TR_HUMAN_RIGHT], 1.5, 0 );
    tr_track_add( &e->grip[TR_HUMAN_RIGHT], 2.6, 1 );
}

static entry plan( void )
{
    entry e = { 0 };
    plan_trunk( &e );
    plan_foot( &e, TR_HUMAN_RIGHT, 1.0, 2.1, v3( 0.36, 0, -0.05 ), v3( -0.47, FLOOR, 0.36 ), 0.50 );
    plan_foot( &e, TR_HUMAN_LEFT, 3.6, 4.7, v3( 0.56, 0, -0.02 ), v3( -0.25, FLOOR, 0.38 ), 0.56 );
    plan_hands( &e );
    return e;
}

// -------------------------------------------------------------------------------------------------- body

static tr_human_hand hand_at( const entry *e, int side, double time )
{
    double left = side == TR_HUMAN_LEFT ? 1.0 : -1.0;
    bool is_left = side == TR_HUMAN_LEFT;
    double steering = smooth_step5( ( time - ( is_left ? 4.1 : 2.2 ) ) / 0.8 );
    vec3 fingers = v3_lerp( is_left ? v3( -0.4, 0.2, 1 ) : v3( 0.1, -0.7, 0.8 ), v3( -0.25 * left, 0.8, 0.5 ),
                            steering );
    vec3 palm =
        v3_lerp( is_left ? v3( -1, 0, -0.1 ) : v3( 1, -0.1, 0.2 ), v3( -0.35 * left, -0.35, 1 ), steering );
    tr_human_hand hand = { .grip = tr_track_at( &e->grip[side], time ) };
    hand.rest = tr_human_hang( side, 4 * TR_DEGREE, 8 * TR_DEGREE, 24 * TR_DEGREE );
    hand.hold =
        ( rigid ){ tr_human_hand_rotation( side, fingers, palm ), tr_track3_at( &e->hands[side], time ) };
    hand.elbow = v3( 1.0 * left, -0.35, -0.35 );
    return hand;
}

static quat turned( vec3 degrees ) // yaw, pitch, roll
{
    return q_mul(
        q_axis_angle( v3_y, degrees.x * TR_DEGREE ),
        q_mul( q_axis_angle( v3_z, degrees.z * TR_DEGREE ), q_axis_angle( v3_x, degrees.y * TR_DEGREE ) ) );
}

static tr_human_targets targets_at( const void *context, int person, double time )
{
    const entry *e = context;
    (void)person;
    double sway = tr_noise( 51u, time, 0.25 ), rock = tr_noise( 52u, time, 0.2 );
    tr_human_targets out = { .look = tr_track3_at( &e->look, time ), .look_weight = 0.85 };
    out.pelvis = v3_add( tr_track3_at( &e->pelvis, time ), v3( 0.005 * sway, 0, 0.004 * rock ) );
    out.pelvis_rotation = turned( tr_track3_at( &e->turn, time ) );
    out.spine = v3_scale( TR_DEGREE, tr_track3_at( &e->spine, time ) );
    out.breath = sin( 2.0 * TR_PI * 0.27 * time );
    for ( int side = 0; side < 2; ++side ) {
        double in =
            smooth_step5( ( time - ( side == TR_HUMAN_LEFT ? 3.2 : 0.8 ) ) / 0.7 ); // then knees point up
        out.feet[side] = ( tr_human_foot ){
            .position = tr_track3_at( &e->feet[side], time ),
            .knee_to = v3_lerp( v3( 0, 0, 1 ), v3( 0.15, 0.9, 0.35 ), in ),
            .heading = tr_track_at( &e->heading[side], time ),
        };
        out.hands[side] = hand_at( e, side, time );
    }
    return out;
}

// ------------------------------------------------------------------------------------------------- scene

bool tr_car_entry_build( int cast, tr_scene *scene, tr_library *library, tr_error *error )
{
    (void)cast; // always one
    entry e = plan();
    scene->fps = FPS;
    scene->first = 0;
    scene->last = FRAME_COUNT - 1;
    tr_cast driver = tr_crowd_member( 17, 0, 1.1, 1.1 ); // taller and heavier
    driver.target.limb_count = 0;
    driver.target.girths[0] = ( tr_limb_value ){ "all", 1.3 };
    driver.target.girth_count = 1;
    if ( tr_scene_add_cast( scene, &driver ) == NULL )
        return tr_error_memory( error );
    if ( !add_car( scene, error ) )
        return false;
    return tr_crowd_perform( scene, library, FRAME_COUNT, targets_at, &e, NULL, error );
}
