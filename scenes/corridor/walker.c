#include "scenes/corridor/walker.h"

#define ROW        1.4  // metres from one walker of a lane to the next
#define STRIDE     1.13 // metres per two steps
#define MIDDLE     ( 0.5 * ( CORRIDOR_FRAMES - 1 ) / CORRIDOR_FPS ) // seconds
#define STEP_WIDTH 0.075                                            // from the middle to either foot

// ------------------------------------------------------------------------------------------------- path
// Along the corridor all walkers in a lane have the lane's speed and a slow wander about it, so no one runs
// into the one ahead. Across, the lanes fan out beyond the corridor's ends, walkers drift a little, and those
// at the middle swerve when another walker comes towards them.

static uint64_t seed_of( int index )
{
    return 15485863u * ( 3u + (uint64_t)index );
}

static double own( const walker *w, int index, double low, double high )
{
    return tr_chance_between( seed_of( w->index ), (uint64_t)index, low, high );
}

static double lane_speed( int direction, int lane )
{
    static const double speed[2][CORRIDOR_LANES] = { { 1.12, 1.06, 1.02 }, { 1.08, 1.15, 1.04 } };
    return speed[direction > 0][lane];
}

static int rows_of( const walker *w, int direction )
{
    int stream = direction > 0 ? ( w->people + 1 ) / 2 : w->people / 2;
    return ( stream + CORRIDOR_LANES - 1 ) / CORRIDOR_LANES;
}

// Distance walked from the scene's middle in the own direction.
static double along( const walker *w, double time )
{
    double base = ( 0.5 * ( rows_of( w, w->direction ) - 1 ) - w->row ) * ROW + own( w, 1, -0.10, 0.10 );
    return base + 0.45 * w->lane + lane_speed( w->direction, w->lane ) * ( time - MIDDLE ) +
           0.07 * tr_noise( seed_of( w->index ) + 1, time, 0.09 );
}

// How near the walkers who come towards this one are, weighted with how shy it is: a sum of bells over the
// rows next to the one it is meeting.
static double oncoming( const walker *w, double time )
{
    if ( w->lane != 0 )
        return 0.0;
    int rows = rows_of( w, -w->direction );
    double here = along( w, time ), sum = 0.0;
    double met = 0.5 * ( rows - 1 ) + ( here + lane_speed( -w->direction, 0 ) * ( time - MIDDLE ) ) / ROW;
    int nearest = tr_int_clamped( floor( met ), -TR_MAX_FRAMES, TR_MAX_FRAMES );
    for ( int row = nearest - 3; row <= nearest + 4; ++row ) {
        int index = 2 * CORRIDOR_LANES * row + ( w->direction > 0 ? 1 : 0 );
        if ( row < 0 || row >= rows || index >= w->people )
            continue;
        walker other = walker_plan( w->people, index );
        double gap = here + along( &other, time ) - 0.35; // most of the swerve comes before they meet
        sum += tr_chance( seed_of( w->index ), 100 + (uint64_t)row ) * exp( -gap * gap / 0.7 );
    }
    return sum;
}

static vec3 position_at( const walker *w, double time )
{
    double x = w->direction * along( w, time );
    double beyond = smooth_step5( ( fabs( x ) - 0.5 * CORRIDOR_LENGTH + 1.0 ) / 9.0 );
    double offset = 0.48 + 0.80 * w->lane + 0.045 * tr_noise( seed_of( w->index ) + 2, time, 0.16 );
    offset *= 1.0 + 0.7 * beyond;
    offset += 0.10 * oncoming( w, time );
    return v3( x, 0, w->direction * offset );
}

tr_gait_place walker_place( const void *context, double time )
{
    const walker *w = context;
    vec3 before = position_at( w, time - 0.05 ), after = position_at( w, time + 0.05 );
    vec3 d = v3_sub( after, before );
    // Measured from the walker's own direction, so that it never wraps.
    double ahead = w->direction * d.x, left = -w->direction * d.z;
    return ( tr_gait_place ){ position_at( w, time ), w->direction * 0.5 * TR_PI + atan2( left, ahead ) };
}

walker walker_plan( int people, int index )
{
    walker w = { .people = people, .index = index };
    w.direction = index % 2 == 0 ? 1 : -1;
    w.lane = index / 2 % CORRIDOR_LANES;
    w.row = index / 2 / CORRIDOR_LANES;
    return w;
}

// ------------------------------------------------------------------------------------------------- steps

bool walker_step( walker *w, tr_error *error )
{
    tr_gait_place start = walker_place( w, 0.0 );
    w->start = tr_crowd_place( start.position, start.heading );
    w->inverse = rigid_inverse( w->start );
    tr_gait_def def = tr_default_gait_def();
    def.path = walker_place;
    def.path_context = w;
    def.begin = -3.0;
    def.end = ( CORRIDOR_FRAMES - 1 ) / CORRIDOR_FPS + 2.0;
    def.leg_count = 2;
    def.cycle = def.cycle_fast = own( w, 3, 0.96, 1.06 ) * STRIDE / lane_speed( w->direction, w->lane );
    def.start_phase = own( w, 4, 0.0, 1.0 );
    def.full_stride = 0.9;
    def.time_jitter = 0.006;
    def.place_jitter = 0.008;
    def.seed = (unsigned)w->index + 1u;
    for ( int leg = 0; leg < 2; ++leg ) {
        tr_gait_leg *l = &def.legs[leg];
        l->home = v3( leg == TR_HUMAN_LEFT ? STEP_WIDTH : -STEP_WIDTH, 0, 0.0 );
        l->heading = ( leg == TR_HUMAN_LEFT ? 1 : -1 ) * own( w, 5, 4, 11 ) * TR_DEGREE;
        l->phase = 0.5 * leg;
        l->duty = 0.62;
        l->lift = own( w, 6, 0.045, 0.065 );
        l->roll_off = own( w, 7, 34, 42 ) * TR_DEGREE;
        l->roll_on = own( w, 8, 16, 22 ) * TR_DEGREE;
        l->roll_out_share = 0.42;
        l->roll_in_share = 0.14;
    }
    return tr_gait_plan( &w->gait, &def, error );
}

// -------------------------------------------------------------------------------------------------- body

static double wave( double clock, double peak ) // once per cycle, 1 at `peak`
{
    return cos( 2.0 * TR_PI * ( clock - peak ) );
}

// The left foot lands when the clock passes a whole number, the right one half a cycle later. The pelvis is
// lowest in double support (0.06), over the standing foot in mid-stance (0.31), and turns with the leg that
// swings forward; the chest turns against it.
static void place_trunk( const walker *w, double time, double clock, tr_human_targets *out )
{
    uint64_t seed = seed_of( w->index ) + 10u;
    tr_gait_place place = walker_place( w, time );
    rigid body = rigid_mul( w->inverse, ( rigid ){ q_axis_angle( v3_y, place.heading ), place.position } );
    double shy = 0.10 * oncoming( w, time );
    double twice = cos( 4.0 * TR_PI * ( clock - 0.06 ) );
    double height = TR_HUMAN_HIP_HEIGHT - own( w, 10, 0.026, 0.034 ) - 0.017 * twice;
    double sway = own( w, 11, 0.016, 0.024 ) * wave( clock, 0.31 );
    out->pelvis = rigid_apply( body, v3( sway, height, 0.008 * sin( 4.0 * TR_PI * ( clock - 0.06 ) ) ) );
    double turn = -own( w, 12, 4, 7 ) * TR_DEGREE * wave( clock, 0.02 );
    double list = own( w, 13, 2.0, 3.5 ) * TR_DEGREE * wave( clock, 0.20 );
    double tilt = own( w, 14, 2, 5 ) * TR_DEGREE;
    out->pelvis_rotation =
        q_mul( body.rotation, q_mul( q_axis_angle( v3_y, turn ),
                                     q_mul( q_axis_angle( v3_z, list ), q_axis_angle( v3_x, tilt ) ) ) );
    // Shoulders turn away from a walker who comes close on the left.
    double against = -( 1.0 + own( w, 15, 0.7, 1.1 ) ) * turn - 1.4 * shy;
    double lean = ( own( w, 16, -2, 2 ) + 1.0 * twice + 1.2 * tr_noise( seed, time, 0.2 ) ) * TR_DEGREE;
    out->spine = v3( lean, against, -0.9 * list );
    out->breath = sin( 2.0 * TR_PI * ( own( w, 17, 0.25, 0.35 ) * time + own( w, 18, 0, 1 ) ) );
    vec3 ahead =
        v3( 0.9 * tr_noise( seed + 1, time, 0.15 ), 1.45 + 0.25 * tr_noise( seed + 2, time, 0.1 ), 4.0 );
    out->look = rigid_apply( body, ahead );
    out->look_weight = 0.9;
}

// An arm swings with the leg of the other side, and bends more in front.
static tr_human_hand hand_at( const walker *w, int side, double clock )
{
    double out = side == TR_HUMAN_LEFT ? 1.0 : -1.0;
    double swing = wave( clock, side == TR_HUMAN_LEFT ? 0.54 : 0.04 );
    double reach = own( w, 20, 13, 24 ), bend = own( w, 21, 16, 30 );
    double angle = reach * swing - own( w, 22, 2, 6 );
    tr_human_hand hand = { .hold = rigid_identity };
    hand.rest = tr_human_hang( side, angle * TR_DEGREE, own( w, 23, 6, 9 ) * TR_DEGREE,
                               ( bend + 0.45 * reach * swing ) * TR_DEGREE );
    hand.elbow = v3( 0.25 * out, -0.3, -1.0 );
    return hand;
}

tr_human_targets walker_at( const walker *w, double time )
{
    tr_human_targets out = { .look = v3_zero };
    double clock = tr_gait_clock( &w->gait, time );
    place_trunk( w, time, clock, &out );
    for ( int side = 0; side < 2; ++side ) {
        tr_gait_foot foot = tr_gait_foot_at( &w->gait, side, time );
        out.feet[side].position = rigid_apply( w->inverse, foot.position );
        out.feet[side].heading = foot.heading - q_heading( w->start.rotation );
        out.feet[side].roll = foot.roll;
        out.hands[side] = hand_at( w, side, clock );
    }
    return out;
}
