#include "scenes/builders.h"

#include "scenes/wolf/wolf_body.h"

#include <stdio.h>

#define FPS        30.0
#define SECONDS    8.0
#define WARM_UP    3.0 // the walk is in full stride when the clip begins
#define WALK_SPEED 0.95
#define TROT_SPEED 1.95
#define TROT_BEGIN 2.7 // the change of gait, seconds
#define TROT_END   4.1

enum { LEFT_FRONT, RIGHT_FRONT, LEFT_HIND, RIGHT_HIND };

typedef struct wolf {
    tr_rig rig;
    wolf_body body;
    tr_course course;
    tr_gait gait;
    double late, pace; // its own timing
    unsigned seed;
    // What follows the body: yaw and pitch down the tail, ears, head.
    tr_follow tail_yaw[WOLF_TAIL + 1], tail_pitch[WOLF_TAIL + 1], ear, nod, look;
} wolf;

// ------------------------------------------------------------------------------------------------- gait

static double trot_share( const wolf *w, double time )
{
    return smooth_step5( ( time - w->late - TROT_BEGIN ) / ( TROT_END - TROT_BEGIN ) );
}

// Walk: left hind, left front, right hind, right front, a quarter of the cycle apart. The front legs fall
// back by another quarter until each lands with the hind leg across: the trot.
static void gait_style( const void *context, int index, double time, tr_gait_leg *leg )
{
    double trot = trot_share( context, time );
    if ( index < LEFT_HIND )
        leg->phase += 0.25 * trot;
    leg->duty = lerpd( leg->duty, index < LEFT_HIND ? 0.48 : 0.46, trot );
    leg->lift *= 1.0 + 0.3 * trot;
    leg->moving.x *= 0.6 + 0.4 * trot;
}

static bool plan_course( wolf *w, tr_error *error )
{
    tr_course_key keys[] = {
        { -1.0, WALK_SPEED, 0, -0.15 }, { 0.4, WALK_SPEED, 0, -0.10 }, { 1.6, WALK_SPEED, 0, 0.50 },
        { 2.6, WALK_SPEED, 0, 0.45 },   { 4.1, TROT_SPEED, 0, 0.80 },  { 5.4, TROT_SPEED, 0, 0.95 },
        { 7.0, TROT_SPEED, 0, 0.80 },   { 8.5, TROT_SPEED, 0, 0.50 },
    };
    int count = (int)( sizeof keys / sizeof keys[0] );
    for ( int i = 0; i < count; ++i ) {
        keys[i].time += w->late;
        keys[i].speed *= w->pace;
    }
    return tr_course_build( &w->course, ( tr_gait_place ){ 0 }, keys, count, 0, SECONDS, error );
}

static bool plan_steps( wolf *w, tr_error *error )
{
    static const double phases[WOLF_LEGS] = { 0.25, 0.75, 0.0, 0.5 };
    tr_gait_def def = tr_default_gait_def();
    def.path = tr_course_place;
    def.path_context = &w->course;
    def.style = gait_style;
    def.style_context = w;
    def.begin = -WARM_UP;
    def.end = SECONDS;
    def.leg_count = WOLF_LEGS;
    def.cycle = 1.2;
    def.cycle_fast = 0.45;
    def.stride = 0.648;
    def.stride_gain = 0.238;
    def.full_stride = 0.6;
    def.time_jitter = 0.008;
    def.place_jitter = 0.01;
    def.seed = 71 + w->seed;
    def.start_phase = tr_chance( w->seed, 5 );
    for ( int i = 0; i < WOLF_LEGS; ++i ) {
        const wolf_leg *leg = &w->body.legs[i];
        def.legs[i].home = leg->home;
        def.legs[i].moving = v3( -0.035 * leg->side, 0, leg->front ? 0.02 : 0.0 );
        def.legs[i].swerve = 0.03 * leg->side;
        def.legs[i].phase = phases[i];
        def.legs[i].duty = 0.64;
        def.legs[i].lift = leg->front ? 0.085 : 0.065;
        def.legs[i].roll_off = leg->front ? 0.75 : 0.65;
        def.legs[i].roll_out_share = 0.22;
    }
    return tr_gait_plan( &w->gait, &def, error );
}

// ------------------------------------------------------------------------------------------------- trunk

// Angle of the clock, one turn per step of the legs `front` or hind, zero when one of them is in mid-stance.
static double step_angle( const wolf *w, bool front, double time )
{
    tr_gait_leg leg = tr_gait_leg_at( &w->gait, front ? LEFT_FRONT : LEFT_HIND, time );
    return 4.0 * TR_PI * ( tr_gait_clock( &w->gait, time ) - leg.phase - 0.5 * leg.duty );
}

// Rise of shoulders or hips. A walking leg is a strut, highest in mid-stance; a trotting leg is a spring,
// lowest in mid-stance.
static double rise( const wolf *w, bool front, double time )
{
    double trot = trot_share( w, time ), angle = step_angle( w, front, time );
    return lerpd( 0.011 * cos( angle ), -0.021 * cos( angle - 0.2 ), trot ) - lerpd( 0.018, 0.012, trot );
}

typedef struct trunk { // how the trunk is held at a moment
    tr_gait_place place;
    double trot, speed, turn;
    double front_rise, hind_rise;
} trunk;

static trunk trunk_at( const wolf *w, double time )
{
    tr_course_key v = tr_course_velocity( &w->course, time );
    trunk t = { .place = tr_course_place( &w->course, time ), .speed = v.speed, .turn = v.turn };
    t.trot = trot_share( w, time );
    t.front_rise = rise( w, true, time );
    t.hind_rise = rise( w, false, time );
    return t;
}

// Half of a cycle's angle: +1 while the left leg of a pair carries, -1 while the right one does.
static double side_swing( const wolf *w, bool front, double time, double lag )
{
    return cos( 0.5 * step_angle( w, front, time ) - lag );
}

// Hips first, then the spine bends along the path's curve and against the hips' swing.
static void bend_spine( wolf *w, const trunk *t, double time )
{
    tr_rig *rig = &w->rig;
    const wolf_body *b = &w->body;
    double amount = lerpd( 1.0, 0.6, t->trot );
    double bend = 0.66 * t->turn / fmax( t->speed, 0.3 ); // the curve of the path over the length of the back
    double pitch = ( t->hind_rise - t->front_rise ) / 0.66;
    double lean = -0.6 * atan( t->speed * t->turn / 9.81 );
    // The hip of the leg that swings ahead goes with it.
    double hip_yaw = -0.5 * bend + 0.075 * amount * side_swing( w, false, time, 1.9 );
    double chest_yaw = 0.5 * bend + 0.055 * amount * side_swing( w, true, time, 1.9 );
    double hip_roll = lean + 0.04 * amount * side_swing( w, false, time, 0.35 );
    double chest_roll = lean + 0.03 * amount * side_swing( w, true, time, 0.35 );
    double flex = 0.035 * ( 1 - 0.4 * t->trot ) * cos( step_angle( w, false, time ) - 1.2 );
    quat root = q_mul( q_axis_angle( v3_y, t->place.heading + hip_yaw ),
                       q_from_vector( v3( pitch + flex, 0, hip_roll ) ) );
    tr_rig_begin( rig, ( rigid ){ root, rig->rest[b->hips] } );
    double share = 1.0 / ( WOLF_SPINE + 1 );
    for ( int i = 0; i <= WOLF_SPINE; ++i ) {
        int joint = i < WOLF_SPINE ? b->spine[i] : b->chest;
        double loins = 2.0 * share * ( 1.0 - (double)i / WOLF_SPINE ); // flex more than the ribs
        vec3 turn =
            v3( -2.0 * flex * loins, share * ( chest_yaw - hip_yaw ), share * ( chest_roll - hip_roll ) );
        tr_rig_turn( rig, joint, q_from_vector( turn ) );
    }
}

// Moves the whole so that the middle of the back is over the path, in the walk a little towards the side that
// carries.
static void place_trunk( wolf *w, const trunk *t, double time )
{
    tr_rig *rig = &w->rig;
    const wolf_body *b = &w->body;
    tr_gait_support support = tr_gait_support_at( &w->gait, time );
    rigid path = { q_axis_angle( v3_y, t->place.heading ), v3_horizontal( t->place.position ) };
    vec3 left = q_rotate( path.rotation, v3_x );
    double sway = 0.12 * ( 1 - t->trot ) * v3_dot( v3_sub( support.centre, support.ground ), left );
    vec3 goal = rigid_apply( path, v3_lerp( rig->rest[b->hips], rig->rest[b->chest], 0.5 ) );
    goal.y += 0.5 * ( t->front_rise + t->hind_rise );
    vec3 middle = v3_lerp( rig->positions[b->hips], rig->positions[b->chest], 0.5 );
    tr_rig_move( rig, v3_sub( v3_mad( goal, sway, left ), middle ) );
}

// ----------------------------------------------------------------------------------------- head and tail

// The neck lowers the head into a trot, nods against the shoulders and looks into the turn; the head itself
// stays level.
static void pose_head( wolf *w, const trunk *t, double time )
{
    tr_rig *rig = &w->rig;
    const wolf_body *b = &w->body;
    double nod = 4.0 * ( w->nod.value - t->front_rise );
    double look = clampd( w->look.value, -0.6, 0.6 ) + 0.10 * tr_noise( w->seed + 40, time, 0.35 );
    double lower = 0.22 + 0.10 * t->trot + 0.06 * tr_noise( w->seed + 41, time, 0.3 );
    for ( int i = 0; i < WOLF_NECK; ++i )
        tr_rig_turn( rig, b->neck[i],
                     q_from_vector( v3( ( nod + lower ) / WOLF_NECK, 0.75 * look / WOLF_NECK, 0 ) ) );
    double heading = t->place.heading + look;
    vec3 forward = q_rotate( rig->rotations[b->head], v3_z );
    double level = -0.75 * asin( clampd( -forward.y, -1, 1 ) ) + 0.05 + 0.3 * nod;
    tr_rig_turn( rig, b->head,
                 q_from_vector( v3( level, 0.3 * wrap_angle( heading - atan2( forward.x, forward.z ) ),
                                    0.08 * look ) ) );
    double pant = t->trot * ( 0.05 + 0.035 * sin( 2 * TR_PI * 2.6 * time ) );
    tr_rig_turn( rig, b->jaw, q_from_vector( v3( pant, 0, 0 ) ) );
}

// Ears lie back in the trot, flap with the head's nod, and flick now and then.
static void pose_ears( wolf *w, const trunk *t, double time )
{
    double back = 0.18 * t->trot + w->ear.value;
    for ( int e = 0; e < 2; ++e ) {
        double s = e == 0 ? 1 : -1;
        double flick = 0.35 * pow( fmax( tr_noise( w->seed + 50 + e, time, 1.3 ), 0.0 ), 2 );
        for ( int i = 0; i < WOLF_EAR; ++i ) {
            vec3 turn = v3( -( back + 0.3 * flick ) / ( i + 1 ), s * flick, -0.5 * s * back / ( i + 1 ) );
            tr_rig_turn( &w->rig, w->body.ears[e][i], q_from_vector( turn ) );
        }
    }
}

// Each tail bone follows the one before it; the tail is carried higher in the trot.
static void pose_tail( wolf *w, const trunk *t, double time )
{
    tr_rig *rig = &w->rig;
    double clock = 2.0 * TR_PI * tr_gait_clock( &w->gait, time );
    for ( int i = 0; i < WOLF_TAIL; ++i ) {
        double along = (double)i / ( WOLF_TAIL - 1 );
        double yaw = w->tail_yaw[i + 1].value - w->tail_yaw[i].value;
        double pitch = w->tail_pitch[i + 1].value - w->tail_pitch[i].value;
        yaw += 0.035 * ( 0.4 + along ) * sin( clock - 2.6 * along ) +
               0.03 * tr_noise( w->seed + 60, time - 0.25 * along, 0.5 );
        double raise = ( i < 3 ? 0.09 : 0.018 ) * t->trot + 0.012;
        tr_rig_turn( rig, w->body.tail[i], q_from_vector( v3( raise + pitch, yaw, 0 ) ) );
    }
}

static void follow( tr_follow *follower, double goal, double hertz, double damping, bool first )
{
    if ( first )
        *follower = ( tr_follow ){ goal, 0 };
    else
        tr_follow_step( follower, goal, hertz, damping, 1.0 / FPS );
}

static void follow_trunk( wolf *w, const trunk *t, double time, bool first )
{
    quat hips = w->rig.rotations[w->body.hips];
    double yaw = t->place.heading + wrap_angle( q_heading( hips ) - t->place.heading );
    w->tail_yaw[0].value = yaw;
    w->tail_pitch[0].value = 2.0 * t->hind_rise;
    for ( int i = 1; i <= WOLF_TAIL; ++i ) {
        follow( &w->tail_yaw[i], w->tail_yaw[i - 1].value, 3.6, 0.62, first );
        follow( &w->tail_pitch[i], w->tail_pitch[i - 1].value, 4.0, 0.55, first );
    }
    follow( &w->nod, t->front_rise, 1.6, 0.7, first );
    follow( &w->ear, 6.0 * ( w->nod.value - t->front_rise ), 4.5, 0.3, first );
    follow( &w->look, 0.7 * ( tr_course_place( &w->course, time + 0.7 ).heading - t->place.heading ), 1.2,
            0.9, first );
}

// -------------------------------------------------------------------------------------------------- legs

// Rises to 1 at `peak` of the swing and back.
static double swing_hump( double swing, double peak )
{
    return swing < peak ? smooth_step5( swing / peak ) : smooth_step5( ( 1.0 - swing ) / ( 1.0 - peak ) );
}

// The paw from the ground up: sole from the planner, the middle foot leaning with the leg and folding in the
// swing, then shoulder and elbow or hip and knee reach for the ankle.
static void pose_leg( wolf *w, int index, double time )
{
    tr_rig *rig = &w->rig;
    const wolf_leg *leg = &w->body.legs[index];
    tr_gait_foot foot = tr_gait_foot_at( &w->gait, index, time );
    rigid sole = tr_gait_sole( &foot, wolf_knuckles, v3_zero );
    double fold = swing_hump( foot.swing, 0.42 ), trot = trot_share( w, time );
    vec3 ball = rigid_apply( sole, v3( 0, rig->rest[leg->paw].y, 0 ) );
    quat ahead = q_axis_angle( v3_y, foot.heading );

    double lean = wolf_leg_lean( rig->positions[leg->upper], ball, foot.heading ) - leg->lean;
    double gain = leg->front ? 0.75 : 0.85, crease = leg->front ? 0.88 + 0.2 * trot : 0.45 + 0.2 * trot;
    double pitch = -gain * lean + 0.35 * fmax( foot.roll, 0.0 ) + crease * fold;
    quat middle_foot = q_mul( ahead, q_axis_angle( v3_x, pitch ) );
    vec3 offset = v3_sub( rig->rest[leg->ankle], rig->rest[leg->paw] );
    vec3 ankle = v3_add( ball, q_rotate( middle_foot, offset ) );

    if ( leg->front ) // the shoulder blade swings with the leg
        tr_rig_turn( rig, leg->scapula, q_axis_angle( v3_x, -0.5 * lean ) );
    vec3 pole = q_rotate( ahead, v3( 0.12 * leg->side, 0, leg->front ? -1 : 1 ) );
    tr_rig_reach( rig, leg->upper, leg->lower, leg->ankle, ankle, pole );
    tr_rig_orient( rig, leg->ankle, middle_foot );
    tr_rig_orient( rig, leg->paw, q_mul( sole.rotation, q_axis_angle( v3_x, 0.6 * fold ) ) );
    // Toes stay flat while the paw rolls over them; off the ground they curl and close.
    quat flat = q_axis_angle( v3_x, -fmax( foot.roll, 0.0 ) );
    for ( int i = 0; i < WOLF_TOES; ++i ) {
        double across = leg->side * ( i - 1.5 );
        tr_rig_turn( rig, leg->toes[i][0],
                     q_mul( flat, q_from_vector( v3( 0.4 * fold, -0.06 * fold * across, 0 ) ) ) );
        tr_rig_turn( rig, leg->toes[i][1], q_from_vector( v3( 0.25 * fold, 0, 0 ) ) );
    }
}

static void make_frame( wolf *w, double time, bool first )
{
    trunk t = trunk_at( w, time );
    bend_spine( w, &t, time );
    place_trunk( w, &t, time );
    follow_trunk( w, &t, time, first );
    pose_head( w, &t, time );
    pose_ears( w, &t, time );
    pose_tail( w, &t, time );
    for ( int i = 0; i < WOLF_LEGS; ++i )
        pose_leg( w, i, time );
}

// Whatever follows has settled by frame 0: a second of motion before it is made and thrown away.
static void animate( wolf *w )
{
    int before = tr_frames_in( 1, FPS );
    for ( int frame = -before; frame < w->rig.motion.clip.frame_count; ++frame ) {
        make_frame( w, frame / FPS, frame == -before );
        if ( frame >= 0 )
            tr_rig_store( &w->rig, frame );
    }
}

// ------------------------------------------------------------------------------------------------- scene

static void wolf_free( wolf *w )
{
    tr_gait_free( &w->gait );
    tr_course_free( &w->course );
    tr_rig_free( &w->rig );
}

static bool make_wolf( int index, tr_motion *out, tr_error *error )
{
    wolf *w = tr_alloc( 1, sizeof( wolf ) );
    if ( w == NULL )
        return tr_error_memory( error );
    w->seed = (unsigned)index;
    w->late = index == 0 ? 0.0 : tr_chance_between( w->seed, 1, -0.12, 0.12 );
    w->pace = index == 0 ? 1.0 : tr_chance_between( w->seed, 2, 0.985, 1.015 );
    tr_rig_start( &w->rig );
    wolf_body_add( &w->body, &w->rig );
    bool ok = tr_rig_finish( &w->rig, tr_nearest_frame( SECONDS * FPS ) + 1, FPS, error ) &&
              plan_course( w, error ) && plan_steps( w, error );
    if ( ok ) {
        animate( w );
        *out = w->rig.motion;
        w->rig.motion = ( tr_motion ){ 0 };
    }
    wolf_free( w );
    tr_free( w );
    return ok;
}

static const struct {
    double scale;
    const char *limb; // one limb or group that differs
    double length;
    float colour[3];
} sizes[] = {
    { 1.15, "legs", 0.88, { 0.50f, 0.52f, 0.56f } }, { 0.75, "legs", 1.15, { 0.72f, 0.63f, 0.50f } },
    { 0.90, "head", 1.25, { 0.32f, 0.33f, 0.37f } }, { 1.30, "tail", 0.80, { 0.60f, 0.55f, 0.50f } },
    { 0.70, "legs", 0.90, { 0.82f, 0.80f, 0.76f } }, { 1.00, "legs", 1.20, { 0.45f, 0.38f, 0.33f } },
};

// A loose wedge behind the first, rows of growing width. All run the same course side by side, so their
// places stay apart whichever way they face.
static vec3 pack_place( int index )
{
    int row = 0, first = 0;
    while ( index > first + row )
        first += ++row;
    double loose = index > 0 ? 0.15 : 0.0;
    return v3( 2.5 * ( index - first - 0.5 * row ) + loose * tr_chance_between( 7, index, -1, 1 ), 0,
               -2.3 * row + loose * tr_chance_between( 8, index, -1, 1 ) );
}

static bool add_to_cast( tr_scene *scene, int index )
{
    int kind = index % (int)( sizeof sizes / sizeof sizes[0] );
    tr_id id;
    snprintf( id, sizeof id, "wolf%02d", index + 1 );
    tr_cast cast = tr_default_cast( id );
    snprintf( cast.source.file, sizeof cast.source.file, "%s.bvh", id );
    cast.source.unit = 0.01;
    cast.source.up = 'y';
    cast.position = pack_place( index );
    cast.target.scale = sizes[kind].scale;
    snprintf( cast.target.limbs[0].limb, sizeof cast.target.limbs[0].limb, "%s", sizes[kind].limb );
    cast.target.limbs[0].value = sizes[kind].length;
    cast.target.limb_count = 1;
    for ( int c = 0; c < 3; ++c )
        cast.colour[c] = sizes[kind].colour[c];
    return tr_scene_add_cast( scene, &cast ) != NULL;
}

bool tr_wolf_build( int cast, tr_scene *scene, tr_library *library, tr_error *error )
{
    scene->fps = FPS;
    scene->first = 0;
    scene->last = tr_nearest_frame( SECONDS * FPS );
    for ( int i = 0; i < cast; ++i ) {
        tr_motion motion;
        if ( !add_to_cast( scene, i ) )
            return tr_error_memory( error );
        if ( !make_wolf( i, &motion, error ) ||
             !tr_library_add( library, scene->cast[i].source.file, &motion, error ) )
            return false;
    }
    return true;
}
