#include "scenes/builders.h"

#include "scenes/kit/kit.h"

#include <stdio.h>

#define FPS         30.0
#define SECONDS     8.0
#define LEGS        8 // L1 R1 L2 R2 … front to back
#define BODY_HEIGHT 0.17
#define SPACING     2.3 // between neighbours

// The step all spiders climb: a box across their way.
#define STEP_HEIGHT 0.13
#define STEP_BEGIN  1.00
#define STEP_END    1.46

// ------------------------------------------------------------------------------------------------- body

typedef struct leg {
    int coxa, femur, tibia, tip, end;
    vec3 home;    // place of the foot, body frame
    vec3 outward; // horizontal direction of the leg's plane in the rest pose
    double reach; // femur to foot in the rest pose
} leg;

typedef struct spider {
    tr_rig rig;
    int body, pedicel, abdomen, palps[2];
    leg legs[LEGS];
    double mirror; // 1, or -1 when it weaves the other way
    unsigned seed;
} spider;

// One row per pair of legs: where it leaves the body, where it stands (degrees from straight ahead, metres
// from the body's centre) and how long it is.
static const struct {
    double hip, angle, reach, size;
} pairs[4] = {
    { 26, 30, 0.50, 1.06 },
    { 66, 67, 0.43, 0.96 },
    { 102, 103, 0.41, 0.92 },
    { 138, 138, 0.49, 1.16 },
};

#define COXA   0.045
#define FEMUR  0.20
#define TIBIA  0.235
#define TARSUS 0.15
#define ARCH   ( 34.0 * TR_DEGREE ) // between tibia and tarsus

// The corner above the line from `from` to `to`, in their vertical plane, of a triangle with sides `a` at
// `from` and `b` at `to`.
static vec3 corner_above( vec3 from, vec3 to, double a, double b )
{
    vec3 way = v3_sub( to, from );
    double d = v3_length( way ), along = ( a * a + d * d - b * b ) / ( 2.0 * d );
    vec3 forward = v3_scale( 1.0 / d, way );
    vec3 up = v3_unit( v3_mad( v3_y, -forward.y, forward ) );
    return v3_mad( v3_mad( from, along, forward ), sqrt( fmax( a * a - along * along, 0.0 ) ), up );
}

static vec3 direction( double degrees, double side )
{
    return v3( side * sin( degrees * TR_DEGREE ), 0, cos( degrees * TR_DEGREE ) );
}

static void add_leg( spider *s, int index )
{
    tr_rig *rig = &s->rig;
    leg *l = &s->legs[index];
    int pair = index / 2;
    double side = index % 2 == 0 ? 1 : -1, size = pairs[pair].size;
    vec3 hip = v3_mul( direction( pairs[pair].hip, side ), v3( 0.062, 0, 0.082 ) );
    hip.y = BODY_HEIGHT - 0.012;
    l->home = v3_scale( pairs[pair].reach, direction( pairs[pair].angle, side ) );
    l->outward = v3_unit( v3( l->home.x - hip.x, 0, l->home.z - hip.z ) );
    vec3 femur = v3_mad( hip, COXA, l->outward );
    double lower = sqrt( TIBIA * TIBIA + TARSUS * TARSUS + 2 * TIBIA * TARSUS * cos( ARCH ) );
    vec3 knee = corner_above( femur, l->home, size * FEMUR, size * lower );
    vec3 ankle = corner_above( knee, l->home, size * TIBIA, size * TARSUS );
    l->reach = v3_distance( femur, l->home );

    char name[16];
    char letter = side > 0 ? 'L' : 'R';
    snprintf( name, sizeof name, "%c%dCoxa", letter, pair + 1 );
    l->coxa = tr_rig_joint( rig, name, s->body, hip );
    snprintf( name, sizeof name, "%c%dFemur", letter, pair + 1 );
    l->femur = tr_rig_joint( rig, name, l->coxa, femur );
    snprintf( name, sizeof name, "%c%dTibia", letter, pair + 1 );
    l->tibia = tr_rig_joint( rig, name, l->femur, knee );
    snprintf( name, sizeof name, "%c%dTip", letter, pair + 1 );
    l->tip = tr_rig_joint( rig, name, l->tibia, ankle );
    l->end = tr_rig_tip( rig, l->tip, l->home );
}

// 48 joints: body 1, waist and abdomen 3, feelers 4, legs 40.
static void add_joints( spider *s )
{
    tr_rig *rig = &s->rig;
    s->body = tr_rig_joint( rig, "Body", -1, v3( 0, BODY_HEIGHT, 0 ) );
    s->pedicel = tr_rig_joint( rig, "Pedicel", s->body, v3( 0, BODY_HEIGHT + 0.005, -0.085 ) );
    s->abdomen = tr_rig_joint( rig, "Abdomen", s->pedicel, v3( 0, BODY_HEIGHT + 0.03, -0.145 ) );
    tr_rig_tip( rig, s->abdomen, v3( 0, BODY_HEIGHT + 0.055, -0.300 ) );
    for ( int i = 0; i < 2; ++i ) {
        double side = i == 0 ? 1 : -1;
        s->palps[i] = tr_rig_joint( rig, i == 0 ? "LeftPalp" : "RightPalp", s->body,
                                    v3( side * 0.010, BODY_HEIGHT - 0.012, 0.085 ) );
        tr_rig_tip( rig, s->palps[i], v3( side * 0.045, BODY_HEIGHT - 0.080, 0.20 ) );
    }
    for ( int index = 0; index < LEGS; ++index )
        add_leg( s, index );
}

// ------------------------------------------------------------------------------------------------- walk

static double step_terrain( const void *context, double x, double z )
{
    (void)context, (void)x;
    return z > STEP_BEGIN && z < STEP_END ? STEP_HEIGHT : 0.0;
}

// Weaves to one side and back, takes the step slowly, turns away and comes to rest.
static bool plan_course( const spider *s, tr_course *course, tr_error *error )
{
    double m = s->mirror, late = tr_chance_between( s->seed, 1, 0.0, 0.35 );
    double pace = tr_chance_between( s->seed, 2, 0.96, 1.04 );
    if ( s->seed == 0 )
        late = 0, pace = 1;
    tr_course_key keys[] = {
        { 0.40, 0, 0, 0 },          { 0.95, 0.42, 0, 0 },       { 1.20, 0.42, 0, 0.2 * m },
        { 1.65, 0.42, 0, 1.1 * m }, { 2.10, 0.40, 0, 0 },       { 2.60, 0.29, 0, -0.9 * m },
        { 3.20, 0.26, 0, 0 },       { 5.40, 0.28, 0, 0 },       { 5.95, 0.44, 0, 0.1 * m },
        { 6.55, 0.42, 0, 0.9 * m }, { 7.00, 0.22, 0, 0.8 * m }, { 7.45, 0, 0, 0 },
    };
    int count = (int)( sizeof keys / sizeof keys[0] );
    for ( int i = 0; i < count; ++i ) {
        keys[i].time = keys[i].time / pace + late;
        keys[i].speed *= pace;
        keys[i].turn *= pace;
    }
    tr_gait_place start = { v3( -0.32 * m, 0, 0 ), 0 }; // the weave leads to the middle of the step
    return tr_course_build( course, start, keys, count, 0, SECONDS, error );
}

// Alternating tetrapods: L1 R2 L3 R4 against R1 L2 R3 L4, each group rippling a little from back to front.
static bool plan_steps( const spider *s, const tr_course *course, tr_gait *gait, tr_error *error )
{
    tr_gait_def def = tr_default_gait_def();
    def.path = tr_course_place;
    def.path_context = course;
    def.terrain = step_terrain;
    def.end = SECONDS;
    def.leg_count = LEGS;
    def.cycle = 1.05;
    def.cycle_fast = 0.62;
    def.stride = 0.27;
    def.full_speed = 0.15;
    def.full_stride = 0.14;
    def.clearance = 0.025;
    def.margin = 0.05;
    def.time_jitter = 0.03;
    def.place_jitter = 0.012;
    def.seed = 31 + s->seed;
    def.start_phase = 0.2;
    for ( int i = 0; i < LEGS; ++i ) {
        int pair = i / 2, side = i % 2;
        def.legs[i].home = s->legs[i].home;
        def.legs[i].phase = ( ( pair + side ) % 2 == 0 ? 0.0 : 0.5 ) - 0.05 * pair;
        def.legs[i].duty = 0.60;
        def.legs[i].lift = pair == 0 ? 0.075 : 0.055;
    }
    return tr_gait_plan( gait, &def, error );
}

// ----------------------------------------------------------------------------------------------- frames

typedef struct trailing { // what hangs on the body and follows it
    tr_follow heading, height, ahead;
} trailing;

// How far a body at z is on the step, 0 … 1.
static double on_step( double z )
{
    return smooth_step5( ( z - STEP_BEGIN + 0.30 ) / 0.4 ) * smooth_step5( ( STEP_END + 0.25 - z ) / 0.4 );
}

// Over the mean of the feet, along the plane they stand on, a little towards those that carry the weight; on
// tiptoe over the step.
static rigid body_at( const spider *s, const tr_gait *gait, const tr_course *course, double time )
{
    tr_gait_place place = tr_course_place( course, time );
    tr_gait_support support = tr_gait_support_at( gait, time );
    double clock = 2.0 * TR_PI * tr_gait_clock( gait, time );
    double moving = smooth_step5( tr_gait_speed( gait, time ) / 0.3 );
    double slope = hypot( support.normal.x, support.normal.z );
    vec3 sway = v3_scale( 0.12, v3_sub( support.centre, support.ground ) );
    rigid out;
    out.position = v3( place.position.x + sway.x, 0, place.position.z + sway.z );
    out.position.y = support.ground.y + BODY_HEIGHT + 0.04 * slope + 0.04 * on_step( place.position.z ) +
                     0.005 * moving * sin( 2 * clock ) + 0.004 * tr_noise( s->seed + 11, time, 0.5 );
    vec3 normal = v3( 1.3 * support.normal.x, support.normal.y, 1.3 * support.normal.z );
    quat tilt = q_between( v3_y, normal );
    quat heading = q_axis_angle( v3_y, place.heading + 0.03 * moving * sin( clock + 0.6 ) );
    vec3 wobble = v3( 0.02 * moving * sin( 2 * clock + 1.0 ) + 0.02 * tr_noise( s->seed + 12, time, 0.4 ), 0,
                      0.025 * moving * sin( clock + 2.0 ) );
    out.rotation = q_mul( q_mul( tilt, heading ), q_from_vector( wobble ) );
    return out;
}

// The coxa turns the leg's plane to the foot, the tarsus curls as the leg folds, femur and tibia reach.
static void reach_foot( spider *s, const leg *l, vec3 target )
{
    tr_rig *rig = &s->rig;
    quat body = rig->rotations[s->body];
    vec3 way = q_unrotate( body, v3_sub( target, rig->positions[l->coxa] ) );
    double yaw = wrap_angle( atan2( way.x, way.z ) - atan2( l->outward.x, l->outward.z ) );
    tr_rig_turn( rig, l->coxa, q_axis_angle( v3_y, yaw ) );
    double fold = l->reach - v3_distance( rig->positions[l->femur], target );
    vec3 hinge = v3_cross( v3_y, l->outward );
    tr_rig_turn( rig, l->tip, q_axis_angle( hinge, 1.5 * fold / sqrt( 1.0 + 60.0 * fold * fold ) ) );
    tr_rig_reach( rig, l->femur, l->tibia, l->end, target, q_rotate( body, v3_y ) );
}

// Abdomen: trails turns and bobs after rises and falls. Feelers: tap in turn, lift where the ground rises.
static void move_hangers( spider *s, const tr_gait *gait, const trailing *trail, rigid body, double time )
{
    tr_rig *rig = &s->rig;
    double yaw = clampd( wrap_angle( trail->heading.value - q_heading( body.rotation ) ), -0.5, 0.5 );
    double bob = clampd( 3.0 * ( trail->height.value - body.position.y ), -0.35, 0.35 );
    double clock = 2.0 * TR_PI * tr_gait_clock( gait, time );
    double moving = smooth_step5( tr_gait_speed( gait, time ) / 0.3 );
    double breath = 0.02 * sin( 2.0 * TR_PI * 0.6 * time + s->seed );
    quat sway = q_from_vector( v3( 0.5 * bob + breath, 0.5 * yaw - 0.05 * moving * sin( clock ), 0 ) );
    tr_rig_turn( rig, s->pedicel, sway );
    tr_rig_turn( rig, s->abdomen,
                 q_from_vector( v3( 0.6 * bob + 0.03 * moving * sin( 2 * clock - 1.2 ), 0.6 * yaw, 0 ) ) );
    for ( int i = 0; i < 2; ++i ) {
        double tap = sin( 2.0 * TR_PI * ( 1.9 * time + 0.5 * i ) ) *
                     ( 0.6 + 0.4 * tr_noise( s->seed + 20 + i, time, 0.8 ) );
        double lift = 0.16 * tap + 0.15 * tr_noise( s->seed + 22 + i, time, 1.1 ) + trail->ahead.value;
        double spread = ( i == 0 ? 1 : -1 ) * ( 0.1 + 0.12 * tr_noise( s->seed + 24 + i, time, 0.9 ) );
        tr_rig_turn( rig, s->palps[i], q_from_vector( v3( -lift, spread, 0 ) ) );
    }
}

// How much the ground before the feelers rises over the ground under the body, as an angle to lift them by.
static double rise_ahead( rigid body, double ground )
{
    double rise = 0;
    for ( int i = 0; i < 12; ++i ) {
        vec3 p = rigid_apply( body, v3( 0, 0, 0.12 + 0.012 * i ) );
        rise = fmax( rise, step_terrain( NULL, p.x, p.z ) - ground );
    }
    return clampd( 6.0 * rise, 0.0, 0.75 );
}

static void make_frame( spider *s, const tr_gait *gait, const tr_course *course, trailing *trail, int frame )
{
    double time = frame / FPS;
    rigid body = body_at( s, gait, course, time );
    double heading = tr_course_place( course, time ).heading;
    double ahead = rise_ahead( body, tr_gait_support_at( gait, time ).ground.y );
    if ( frame == 0 )
        *trail = ( trailing ){
            .heading = { heading, 0 }, .height = { body.position.y, 0 }, .ahead = { ahead, 0 } };
    tr_follow_step( &trail->heading, heading, 1.5, 0.55, 1.0 / FPS );
    tr_follow_step( &trail->height, body.position.y, 2.0, 0.4, 1.0 / FPS );
    tr_follow_step( &trail->ahead, ahead, 1.6, 1.0, 1.0 / FPS );
    tr_rig_begin( &s->rig, body );
    move_hangers( s, gait, trail, body, time );
    for ( int i = 0; i < LEGS; ++i )
        reach_foot( s, &s->legs[i], tr_gait_foot_at( gait, i, time ).position );
    tr_rig_store( &s->rig, frame );
}

static bool animate( spider *s, tr_error *error )
{
    tr_course course;
    tr_gait gait;
    if ( !plan_course( s, &course, error ) )
        return false;
    bool ok = plan_steps( s, &course, &gait, error );
    trailing trail = { 0 };
    for ( int frame = 0; ok && frame < s->rig.motion.clip.frame_count; ++frame )
        make_frame( s, &gait, &course, &trail, frame );
    if ( ok )
        tr_gait_free( &gait );
    tr_course_free( &course );
    return ok;
}

// ------------------------------------------------------------------------------------------------- scene

static bool make_spider( int index, tr_motion *out, tr_error *error )
{
    spider s = { .mirror = index % 2 == 0 ? 1 : -1, .seed = (unsigned)index };
    tr_rig_start( &s.rig );
    add_joints( &s );
    if ( !tr_rig_finish( &s.rig, tr_nearest_frame( SECONDS * FPS ) + 1, FPS, error ) ||
         !animate( &s, error ) ) {
        tr_rig_free( &s.rig );
        return false;
    }
    *out = s.rig.motion;
    return true;
}

static const struct {
    double scale, legs;
    float colour[3];
} sizes[] = {
    { 1.20, 0.90, { 0.66f, 0.33f, 0.17f } }, { 0.80, 1.15, { 0.33f, 0.30f, 0.38f } },
    { 1.00, 1.25, { 0.77f, 0.56f, 0.22f } }, { 1.30, 0.85, { 0.45f, 0.20f, 0.18f } },
    { 0.70, 1.00, { 0.38f, 0.44f, 0.32f } }, { 0.90, 1.20, { 0.55f, 0.42f, 0.34f } },
};

static bool add_to_cast( tr_scene *scene, int index, int count )
{
    int kind = index % (int)( sizeof sizes / sizeof sizes[0] );
    tr_id id;
    snprintf( id, sizeof id, "spider%02d", index + 1 );
    tr_cast cast = tr_default_cast( id );
    snprintf( cast.source.file, sizeof cast.source.file, "%s.bvh", id );
    cast.source.unit = 0.01;
    cast.source.up = 'y';
    cast.position = v3( SPACING * ( index - 0.5 * ( count - 1 ) ), 0, 0 );
    cast.target.scale = sizes[kind].scale;
    snprintf( cast.target.limbs[0].limb, sizeof cast.target.limbs[0].limb, "legs" );
    cast.target.limbs[0].value = sizes[kind].legs;
    cast.target.limb_count = 1;
    for ( int c = 0; c < 3; ++c )
        cast.colour[c] = sizes[kind].colour[c];
    return tr_scene_add_cast( scene, &cast ) != NULL;
}

static bool add_step( tr_scene *scene, int count )
{
    tr_obstacle step = tr_default_obstacle( "step" );
    step.size = v3( SPACING * count - 0.6, STEP_HEIGHT, STEP_END - STEP_BEGIN );
    step.position = v3( 0, 0.5 * STEP_HEIGHT, 0.5 * ( STEP_BEGIN + STEP_END ) );
    step.colour[0] = 0.62f;
    step.colour[1] = 0.66f;
    step.colour[2] = 0.64f;
    return tr_scene_add_obstacle( scene, &step ) != NULL;
}

bool tr_spider_build( int cast, tr_scene *scene, tr_library *library, tr_error *error )
{
    scene->fps = FPS;
    scene->first = 0;
    scene->last = tr_nearest_frame( SECONDS * FPS );
    if ( !add_step( scene, cast ) )
        return tr_error_memory( error );
    for ( int i = 0; i < cast; ++i ) {
        tr_motion motion;
        if ( !add_to_cast( scene, i, cast ) )
            return tr_error_memory( error );
        if ( !make_spider( i, &motion, error ) ||
             !tr_library_add( library, scene->cast[i].source.file, &motion, error ) )
            return false;
    }
    return true;
}
