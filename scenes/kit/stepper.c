#include "scenes/kit/stepper.h"

#include "scenes/kit/tracks.h"

tr_stepper_def tr_default_stepper_def( void )
{
    return ( tr_stepper_def ){ .cycle = 1.1,
                               .width = 0.09,
                               .toes_out = 7 * TR_DEGREE,
                               .lift = 0.05,
                               .roll = 30 * TR_DEGREE,
                               .min_step = 0.05 };
}

bool tr_stepper_plan( tr_stepper *out, const tr_stepper_def *def, tr_error *error )
{
    *out = ( tr_stepper ){ .def = *def };
    tr_gait_def gait = tr_default_gait_def();
    gait.path = def->path;
    gait.path_context = def->context;
    gait.begin = def->begin - 3.0;
    gait.end = def->end + 2.0;
    gait.leg_count = 2;
    gait.cycle = gait.cycle_fast = def->cycle;
    gait.start_phase = def->start_phase;
    gait.full_stride = 0.8;
    gait.min_step = def->min_step;
    gait.place_jitter = 0.006;
    gait.seed = def->seed;
    for ( int leg = 0; leg < 2; ++leg ) {
        tr_gait_leg *l = &gait.legs[leg];
        double out_side = leg == TR_HUMAN_LEFT ? 1.0 : -1.0;
        l->home = v3( out_side * def->width, 0, -0.01 );
        l->heading = out_side * def->toes_out;
        l->phase = 0.5 * leg;
        l->duty = 0.64;
        l->lift = def->lift;
        l->roll_off = def->roll;
        l->roll_on = 0.45 * def->roll;
        l->roll_out_share = 0.40;
        l->roll_in_share = 0.14;
    }
    return tr_gait_plan( &out->gait, &gait, error );
}

void tr_stepper_free( tr_stepper *stepper )
{
    tr_gait_free( &stepper->gait );
}

rigid tr_stepper_body( const tr_stepper *stepper, double time )
{
    tr_gait_place place = stepper->def.path( stepper->def.context, time );
    return ( rigid ){ q_axis_angle( v3_y, place.heading ), place.position };
}

void tr_stepper_feet( const tr_stepper *stepper, double time, tr_human_targets *targets )
{
    for ( int side = 0; side < 2; ++side ) {
        tr_gait_foot foot = tr_gait_foot_at( &stepper->gait, side, time );
        targets->feet[side] =
            ( tr_human_foot ){ .position = foot.position, .heading = foot.heading, .roll = foot.roll };
    }
}

static double wave( double clock, double peak ) // once per cycle, 1 at `peak`
{
    return cos( 2.0 * TR_PI * ( clock - peak ) );
}

// All of a walk's waves shrink with the speed; a standing body keeps its weight between its feet and sways.
static void place_trunk( const tr_stepper *s, double time, double pace, tr_human_targets *out )
{
    uint64_t seed = 7919u * ( 1u + s->def.seed );
    double clock = tr_gait_clock( &s->gait, time ), twice = cos( 4.0 * TR_PI * ( clock - 0.06 ) );
    rigid body = tr_stepper_body( s, time );
    vec3 over = rigid_apply( rigid_inverse( body ), tr_gait_support_at( &s->gait, time ).centre );
    double sway = 0.010 * tr_noise( seed, time, 0.22 ), rock = tr_noise( seed + 1, time, 0.17 );
    vec3 pelvis = v3( 0.3 * over.x + sway + 0.014 * pace * wave( clock, 0.31 ),
                      TR_HUMAN_HIP_HEIGHT - 0.018 - pace * ( 0.012 + 0.015 * twice ), 0.01 + 0.006 * rock );
    double turn = -5 * TR_DEGREE * pace * wave( clock, 0.02 );
    double list = 2.5 * TR_DEGREE * pace * wave( clock, 0.20 );
    out->pelvis = rigid_apply( body, pelvis );
    quat tilt = q_mul( q_axis_angle( v3_z, list ), q_axis_angle( v3_x, ( 1.5 + 1.5 * pace ) * TR_DEGREE ) );
    out->pelvis_rotation = q_mul( body.rotation, q_mul( q_axis_angle( v3_y, turn + 0.02 * rock ), tilt ) );
    out->spine = v3( ( 1.0 * pace * twice + 0.8 * tr_noise( seed + 2, time, 0.2 ) ) * TR_DEGREE, -1.8 * turn,
                     -0.9 * list );
    out->breath = sin( 2.0 * TR_PI * ( 0.28 * time + tr_chance( seed, 1 ) ) );
    out->look = rigid_apply( body, v3( 0.3 * tr_noise( seed + 3, time, 0.15 ), 1.5, 3.5 ) );
    out->look_weight = 0.9;
}

// An arm swings with the leg of the other side, and bends more in front.
static tr_human_hand swinging_hand( const tr_stepper *s, int side, double time, double pace )
{
    double out = side == TR_HUMAN_LEFT ? 1.0 : -1.0;
    double swing = pace * wave( tr_gait_clock( &s->gait, time ), side == TR_HUMAN_LEFT ? 0.54 : 0.04 );
    double idle = 2.0 * tr_noise( 31u * s->def.seed + 7u + (unsigned)side, time, 0.3 );
    tr_human_hand hand = { .hold = rigid_identity };
    hand.rest = tr_human_hang( side, ( 18.0 * swing - 2.0 + idle ) * TR_DEGREE, 7.5 * TR_DEGREE,
                               ( 20.0 + 8.0 * swing ) * TR_DEGREE );
    hand.elbow = v3( 0.25 * out, -0.3, -1.0 );
    return hand;
}

tr_human_targets tr_stepper_at( const tr_stepper *s, double time )
{
    tr_human_targets out = { .look_weight = 0 };
    double pace = clampd( tr_gait_speed( &s->gait, time ) / 1.1, 0.0, 1.3 );
    place_trunk( s, time, pace, &out );
    tr_stepper_feet( s, time, &out );
    for ( int side = 0; side < 2; ++side )
        out.hands[side] = swinging_hand( s, side, time, pace );
    return out;
}
