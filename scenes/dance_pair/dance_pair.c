// A couple in closed hold turns through a waltz. Everything follows from one moving frame, the couple's: both
// partners stand in it face to face, a little to the right of each other, so that each one's right foot goes
// between the other's feet.
#include "scenes/builders.h"
#include "scenes/kit/kit.h"

#define FPS         30.0
#define FRAME_COUNT 271
#define DURATION    ( ( FRAME_COUNT - 1 ) / FPS )
#define BAR         1.5  // seconds of three steps
#define APART       0.53 // metres between the partners' pelvises
#define ASIDE       0.10 // how far each stands to the left of the other's middle

enum { LEADER, FOLLOWER };

typedef struct dancer {
    int index;
    tr_stepper steps;
} dancer;

typedef struct dance {
    tr_skeleton human;
    dancer dancers[2];
} dance;

// ------------------------------------------------------------------------------------------------- path

// Along a shallow arc, a natural turn and a half to the right, a little quicker on the first step of each
// bar.
static tr_gait_place couple_at( double time )
{
    double beat = 2.0 * TR_PI * time / BAR;
    double turn = -0.62 * time - 0.07 * ( 1.0 - cos( beat ) );
    double along = 0.07 * time + 0.02 * sin( beat );
    vec3 centre = v3( 1.6 * sin( 0.5 * along ), 0, along - 0.7 );
    return ( tr_gait_place ){ centre, 0.4 + turn };
}

static tr_gait_place partner_at( const void *context, double time )
{
    const dancer *d = context;
    tr_gait_place couple = couple_at( time );
    double heading = couple.heading + ( d->index == FOLLOWER ? TR_PI : 0.0 );
    vec3 own = q_rotate( q_axis_angle( v3_y, heading ), v3( 0.5 * ASIDE, 0, -0.5 * APART ) );
    return ( tr_gait_place ){ v3_add( couple.position, own ), heading };
}

// Three steps a bar: a leg's cycle is two steps. The follower steps with the other foot.
static bool plan_steps( dancer *d, tr_error *error )
{
    tr_stepper_def def = tr_default_stepper_def();
    def.path = partner_at;
    def.context = d;
    def.end = DURATION;
    def.cycle = 2.0 * BAR / 3.0;
    def.start_phase = d->index == LEADER ? 0.1 : 0.6;
    def.width = 0.115;
    def.toes_out = 3 * TR_DEGREE;
    def.lift = 0.035;
    def.roll = 18 * TR_DEGREE;
    def.min_step = 0.01; // a waltz never stands still
    def.seed = 11u + (unsigned)d->index;
    return tr_stepper_plan( &d->steps, &def, error );
}

// -------------------------------------------------------------------------------------------------- body

// Rise and fall of the waltz: low on the first step of a bar, up on the ball of the foot towards the third.
static double rise_at( double time )
{
    return 0.5 - 0.5 * cos( 2.0 * TR_PI * ( time / BAR - 0.12 ) );
}

static void place_trunk( const dancer *d, double time, tr_human_targets *out )
{
    rigid body = tr_stepper_body( &d->steps, time );
    uint64_t seed = 9973u * ( 1u + (uint64_t)d->index );
    double rise = rise_at( time ), side = d->index == LEADER ? 1.0 : -1.0;
    double sway = side * sin( TR_PI * ( time / BAR - 0.2 ) ); // to alternate sides, once a bar
    tr_gait_support support = tr_gait_support_at( &d->steps.gait, time );
    vec3 over = rigid_apply( rigid_inverse( body ), support.centre );
    double height = TR_HUMAN_HIP_HEIGHT - 0.052 + 0.028 * rise;
    out->pelvis = rigid_apply( body, v3( 0.35 * over.x, height, 0.2 * over.z + 0.02 ) );
    double lean =
        d->index == FOLLOWER ? -2.5 : 0.5; // the follower's head and back open away from the partner
    quat tilt = q_mul( q_axis_angle( v3_z, 2.2 * TR_DEGREE * sway ), q_axis_angle( v3_x, 1.0 * TR_DEGREE ) );
    out->pelvis_rotation = q_mul( body.rotation, q_mul( q_axis_angle( v3_y, 0.05 * sway ), tilt ) );
    out->spine = v3( ( lean + 0.8 * tr_noise( seed, time, 0.3 ) ) * TR_DEGREE, -0.06 * sway + 0.05,
                     -3.5 * TR_DEGREE * sway );
    out->breath = sin( 2.0 * TR_PI * ( time / ( 2.0 * BAR ) + 0.3 * d->index ) );
    // Each looks past the other's right shoulder, to the own left.
    out->look = rigid_apply( body, v3( 1.5 + 0.4 * tr_noise( seed + 1, time, 0.15 ), 1.75, 1.6 ) );
    out->look_weight = 0.9;
}

static tr_human_targets stand_at( const dance *d, int person, double time )
{
    tr_human_targets out = { .look_weight = 0 };
    place_trunk( &d->dancers[person], time, &out );
    tr_stepper_feet( &d->dancers[person].steps, time, &out );
    return out;
}

// ------------------------------------------------------------------------------------------------- hands

// The joined hands, the leader's left and the follower's right, out to the leader's left at the height of the
// follower's eyes: half way between what suits either chest.
static rigid joined_hands( const rigid chests[2], int side )
{
    vec3 leader = rigid_apply( chests[LEADER], v3( 0.54, 0.16, 0.26 ) );
    vec3 follower = rigid_apply( chests[FOLLOWER], v3( -0.54, 0.16, 0.26 ) );
    vec3 ahead = v3_unit( v3_sub( chests[FOLLOWER].position, chests[LEADER].position ) );
    vec3 out = v3_unit( v3_cross( v3_y, ahead ) );
    vec3 palm = side == TR_HUMAN_LEFT ? ahead : v3_negate( ahead ); // the leader's left faces the follower
    vec3 fingers = side == TR_HUMAN_LEFT
                       ? v3_mad( v3( 0, 0.65, 0 ), 0.75, out ) // one hand lies across the other
                       : v3_mad( v3( 0, 0.95, 0 ), 0.10, out );
    return ( rigid ){ tr_human_hand_rotation( side, fingers, palm ), v3_lerp( leader, follower, 0.5 ) };
}

// The leader's right hand lies on the follower's left shoulder blade, fingers along the ribs.
static const vec3 back = { 0.110, 0.030, -0.077 }; // on the follower, in the chest's frame

static rigid hand_on_back( rigid follower )
{
    vec3 fingers = q_rotate( follower.rotation, v3( -0.57, 0.15, -0.82 ) );
    vec3 palm = q_rotate( follower.rotation, v3( -0.82, 0, 0.57 ) );
    return ( rigid ){ tr_human_hand_rotation( TR_HUMAN_RIGHT, fingers, palm ),
                      rigid_apply( follower, back ) };
}

// The follower's left hand rests on the leader's right shoulder, from above and outside.
static const vec3 shoulder = { -0.165, 0.212, 0.010 }; // on the leader, likewise

static rigid hand_on_shoulder( rigid leader )
{
    vec3 fingers = q_rotate( leader.rotation, v3( 0.35, 0.0, -1 ) );
    vec3 palm = q_rotate( leader.rotation, v3( 0.35, -1, 0.0 ) );
    return ( rigid ){ tr_human_hand_rotation( TR_HUMAN_LEFT, fingers, palm ),
                      rigid_apply( leader, shoulder ) };
}

static tr_human_targets targets_at( const void *context, int person, double time )
{
    const dance *d = context;
    tr_human_targets out = stand_at( d, person, time ), other = stand_at( d, 1 - person, time );
    rigid chests[2];
    chests[person] = tr_human_chest( &d->human, &out );
    chests[1 - person] = tr_human_chest( &d->human, &other );
    int joined = person == LEADER ? TR_HUMAN_LEFT : TR_HUMAN_RIGHT;
    double left = person == LEADER ? -1.0 : 1.0; // x of the hand that holds the partner
    for ( int side = 0; side < 2; ++side )
        out.hands[side] = ( tr_human_hand ){ .rest = rigid_identity, .grip = 1.0 };
    out.hands[joined].hold = joined_hands( chests, joined );
    out.hands[joined].elbow = v3( -0.4 * left, -1.0, -0.25 );
    out.hands[1 - joined].hold =
        person == LEADER ? hand_on_back( chests[FOLLOWER] ) : hand_on_shoulder( chests[LEADER] );
    out.hands[1 - joined].elbow = person == LEADER ? v3( -1.0, 0.05, 0.1 ) : v3( 1.0, -0.15, 0.1 );
    return out;
}

// ------------------------------------------------------------------------------------------------- scene

static tr_point on_chest( const char *who, vec3 place )
{
    tr_point point = tr_point_joint( who, "Chest" );
    point.offset = place;
    return point;
}

static bool add_hold( tr_scene *scene, const char *id, tr_point a, tr_point b, bool turns_with_b )
{
    tr_constraint hold = tr_default_constraint( id, TR_CONSTRAINT_RELATIVE );
    hold.a = a;
    hold.b = b;
    hold.first = scene->first;
    hold.last = scene->last;
    hold.partner_space = turns_with_b;
    return tr_scene_add_constraint( scene, &hold ) != NULL;
}

static bool add_people( tr_scene *scene, tr_error *error )
{
    static const double sizes[2] = { 1.12, 0.86 };
    if ( !tr_crowd_add( scene, 5, sizes, 2, error ) )
        return false;
    const char *leader = scene->cast[LEADER].id, *follower = scene->cast[FOLLOWER].id;
    bool ok = add_hold( scene, "hands", tr_crowd_palm( leader, TR_HUMAN_LEFT ),
                        tr_crowd_palm( follower, TR_HUMAN_RIGHT ), false ) &&
              add_hold( scene, "back", tr_crowd_palm( leader, TR_HUMAN_RIGHT ), on_chest( follower, back ),
                        true ) &&
              add_hold( scene, "shoulder", tr_crowd_palm( follower, TR_HUMAN_LEFT ),
                        on_chest( leader, shoulder ), true );
    return ok || tr_error_memory( error );
}

static bool perform( dance *d, tr_scene *scene, tr_library *library, tr_error *error )
{
    if ( !tr_human_skeleton( &d->human, error ) )
        return false;
    for ( int i = 0; i < 2; ++i ) {
        d->dancers[i] = ( dancer ){ .index = i };
        if ( !plan_steps( &d->dancers[i], error ) )
            return false;
    }
    return tr_crowd_perform( scene, library, FRAME_COUNT, targets_at, d, NULL, error );
}

bool tr_dance_pair_build( int cast, tr_scene *scene, tr_library *library, tr_error *error )
{
    (void)cast; // always two
    dance d = { 0 };
    scene->fps = FPS;
    scene->first = 0;
    scene->last = FRAME_COUNT - 1;
    bool ok = add_people( scene, error ) && perform( &d, scene, library, error );
    for ( int i = 0; i < 2; ++i )
        tr_stepper_free( &d.dancers[i].steps );
    tr_skeleton_free( &d.human );
    return ok;
}
