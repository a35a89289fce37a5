#include "scenes/kit/parade.h"

#include "scenes/kit/kit.h"

#define WALKS      6    // different walks: steps begin at other times, arms and hips swing more or less
#define SPEED      1.1  // m/s, of all: rows keep their distance
#define STRIDE     1.13 // metres per two steps
#define STEP_WIDTH 0.075

typedef struct walk {
    tr_gait gait;
    double share; // 0 … 1, which of the walks it is
} walk;

static tr_gait_place place_at( const void *context, double time )
{
    (void)context;
    return ( tr_gait_place ){ v3( 0, 0, SPEED * time ), 0 };
}

static bool plan( walk *w, int frames, tr_error *error )
{
    tr_gait_def def = tr_default_gait_def();
    def.path = place_at;
    def.begin = -3.0;
    def.end = ( frames - 1 ) / TR_PARADE_FPS + 2.0;
    def.leg_count = 2;
    def.cycle = def.cycle_fast = STRIDE / SPEED;
    def.start_phase = w->share;
    def.full_stride = 0.9;
    for ( int leg = 0; leg < 2; ++leg ) {
        tr_gait_leg *l = &def.legs[leg];
        l->home = v3( leg == TR_HUMAN_LEFT ? STEP_WIDTH : -STEP_WIDTH, 0, 0.0 );
        l->phase = 0.5 * leg;
        l->duty = 0.62;
        l->lift = 0.055;
        l->roll_off = 38 * TR_DEGREE;
        l->roll_on = 18 * TR_DEGREE;
        l->roll_out_share = 0.42;
        l->roll_in_share = 0.14;
    }
    return tr_gait_plan( &w->gait, &def, error );
}

static double wave( double clock, double peak ) // once per cycle, 1 at `peak`
{
    return cos( 2.0 * TR_PI * ( clock - peak ) );
}

// The pelvis is lowest in double support and over the standing foot in between; an arm swings with the leg of
// the other side.
static tr_human_targets targets_at( const void *context, int person, double time )
{
    const walk *w = (const walk *)context + person;
    double clock = tr_gait_clock( &w->gait, time ), swing = ( 14 + 8 * w->share ) * TR_DEGREE;
    double bob = 0.017 * cos( 4.0 * TR_PI * ( clock - 0.06 ) ), turn = -5 * TR_DEGREE * wave( clock, 0.02 );
    tr_human_targets out = { .look = v3( 0, 1.45, SPEED * time + 4.0 ), .look_weight = 0.9 };
    out.pelvis = v3( 0.02 * wave( clock, 0.31 ), TR_HUMAN_HIP_HEIGHT - 0.03 - bob, SPEED * time );
    out.pelvis_rotation = q_axis_angle( v3_y, turn );
    out.spine = v3( 0, -1.9 * turn, 0 );
    for ( int side = 0; side < 2; ++side ) {
        tr_gait_foot foot = tr_gait_foot_at( &w->gait, side, time );
        double out_ward = side == TR_HUMAN_LEFT ? 1.0 : -1.0,
               ahead = wave( clock, side == TR_HUMAN_LEFT ? 0.54 : 0.04 );
        out.feet[side] =
            ( tr_human_foot ){ .position = foot.position, .heading = foot.heading, .roll = foot.roll };
        out.hands[side] = ( tr_human_hand ){ .rest = tr_human_hang( side, swing * ahead, 7 * TR_DEGREE,
                                                                    22 * TR_DEGREE + 0.45 * swing * ahead ),
                                             .hold = rigid_identity,
                                             .elbow = v3( 0.25 * out_ward, -0.3, -1.0 ) };
    }
    return out;
}

static bool perform( tr_library *walks, int frames, tr_error *error )
{
    walk w[WALKS] = { 0 };
    tr_scene few = tr_default_scene();
    few.fps = TR_PARADE_FPS;
    bool ok = true;
    for ( int i = 0; ok && i < WALKS; ++i ) {
        tr_cast cast = tr_crowd_member( 1, i, 1, 1 );
        w[i].share = (double)i / WALKS;
        ok = plan( &w[i], frames, error ) &&
             ( tr_scene_add_cast( &few, &cast ) != NULL || tr_error_memory( error ) );
    }
    ok = ok && tr_crowd_perform( &few, walks, frames, targets_at, w, NULL, error );
    for ( int i = 0; i < WALKS; ++i )
        tr_gait_free( &w[i].gait );
    tr_scene_free( &few );
    return ok;
}

bool tr_parade_build( const tr_parade_def *def, tr_scene *scene, tr_library *library, tr_error *error )
{
    tr_library walks = { 0 };
    int columns = tr_int_clamped( ceil( sqrt( def->people ) ), 1, def->people );
    bool ok = perform( &walks, def->frames, error );
    *scene = tr_default_scene();
    scene->fps = TR_PARADE_FPS;
    scene->last = def->frames - 1;
    for ( int i = 0; ok && i < def->people; ++i ) {
        tr_cast cast = tr_crowd_member( 11, i, 0.8, 1.2 );
        tr_motion motion;
        cast.position = v3( def->spacing * ( i % columns ), 0, def->spacing * ( i / columns ) );
        cast.target.path_scale = 1.0;
        ok = ( tr_scene_add_cast( scene, &cast ) != NULL || tr_error_memory( error ) ) &&
             tr_motion_copy( &motion, &walks.items[i % WALKS].motion, error ) &&
             tr_library_add( library, cast.source.file, &motion, error );
    }
    tr_library_free( &walks );
    return ok;
}
