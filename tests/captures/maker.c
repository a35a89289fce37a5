#include "maker.h"

#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------- bodies
// Rows in the order of the file. A name that begins with '*' stands for Left… and Right…, with '+' for L… and
// R…; rows of that kind that follow each other are written once for each side. A name of NULL is an end site.

typedef struct body_row {
    int depth;
    const char *name;
    int joint;   // joint of the built-in human, on its left side: its place and turn
    bool half;   // it is half way from its parent to there
    bool copies; // it turns as its parent does, so that its channels are zero
} body_row;

#define ARM( joint ) ( TR_HUMAN_ARMS + TR_HUMAN_##joint )
#define LEG( joint ) ( TR_HUMAN_LEGS + TR_HUMAN_##joint )

static const body_row laboratory[] = {
    { 0, "Hips", TR_HUMAN_HIPS },
    { 1, "+HipJoint", TR_HUMAN_HIPS, .copies = true },
    { 2, "*UpLeg", LEG( UP_LEG ) },
    { 3, "*Leg", LEG( LEG ) },
    { 4, "*Foot", LEG( FOOT ) },
    { 5, "*ToeBase", LEG( TOE ) },
    { 6, NULL, LEG( TOE_END ) },
    { 1, "LowerBack", TR_HUMAN_HIPS, .copies = true },
    { 2, "Spine", TR_HUMAN_SPINE },
    { 3, "Spine1", TR_HUMAN_SPINE1 },
    { 4, "Spine2", TR_HUMAN_SPINE2 },
    { 5, "Chest", TR_HUMAN_CHEST },
    { 6, "*Shoulder", ARM( SHOULDER ) },
    { 7, "*Arm", ARM( ARM ) },
    { 8, "*ForeArm", ARM( FOREARM ) },
    { 9, "*Hand", ARM( HAND ) },
    { 10, "*FingerBase", ARM( HAND ), .copies = true },
    { 11, "*HandIndex1", ARM( HAND_END ), .half = true, .copies = true },
    { 12, NULL, ARM( HAND_END ) },
    { 10, "+Thumb", ARM( THUMB ) },
    { 11, NULL, ARM( THUMB_END ) },
    { 6, "Neck", TR_HUMAN_NECK },
    { 7, "Head", TR_HUMAN_HEAD },
    { 8, NULL, TR_HUMAN_HEAD_END },
    { -1 },
};

static const body_row studio[] = {
    { 0, "Hips", TR_HUMAN_HIPS },
    { 1, "*Hip", LEG( UP_LEG ) },
    { 2, "*Knee", LEG( LEG ) },
    { 3, "*Ankle", LEG( FOOT ) },
    { 4, "*Toe", LEG( TOE ) },
    { 5, NULL, LEG( TOE_END ) },
    { 1, "Waist", TR_HUMAN_HIPS, .copies = true },
    { 2, "Chest", TR_HUMAN_SPINE },
    { 3, "Chest2", TR_HUMAN_SPINE1 },
    { 4, "Chest3", TR_HUMAN_SPINE2 },
    { 5, "Chest4", TR_HUMAN_CHEST },
    { 6, "*Collar", ARM( SHOULDER ) },
    { 7, "*Shoulder", ARM( ARM ) },
    { 8, "*Elbow", ARM( FOREARM ) },
    { 9, "*Wrist", ARM( HAND ) },
    { 10, NULL, ARM( HAND_END ) },
    { 6, "Neck", TR_HUMAN_NECK },
    { 7, "Head", TR_HUMAN_HEAD },
    { 8, NULL, TR_HUMAN_HEAD_END },
    { -1 },
};

typedef struct body_kind {
    const body_row *rows;
    double legs, arms; // degrees by which they point down and out at rest, against the T-pose
} body_kind;

static const body_kind laboratory_body = { laboratory, .legs = 20 };
static const body_kind studio_body = { studio, .arms = -80 };

// Metres per unit: inches over 0.45, as files from the CMU laboratory have it, and centimetres.
static const struct {
    capture_info info;
    const body_kind *body;
} takes[CAPTURE_COUNT] = {
    [CAPTURE_WALK] = { { "walk.bvh", 0.05644, 1, 326 }, &laboratory_body },
    [CAPTURE_LIFT] = { { "lift.bvh", 0.01, 0.94, 260 }, &studio_body },
    [CAPTURE_SHAKE_A] = { { "shake_a.bvh", 0.05644, 1, 218 }, &laboratory_body },
    [CAPTURE_SHAKE_B] = { { "shake_b.bvh", 0.05644, 1, 218 }, &laboratory_body },
};

const capture_info *capture_info_of( capture_take take )
{
    return &takes[take].info;
}

// ---------------------------------------------------------------------------------------------- performances

typedef struct actor {
    capture_take take;
    tr_skeleton human;
    tr_track along; // metres ahead of where it begins
    tr_stepper steps;
    struct actor *partner; // partner of A: B
} actor;

#define SHAKE_APART 0.94 // metres between the pelvises
#define TABLE       v3( 0, 0.52, 0.50 )
#define BOX         0.30 // metres from palm to palm

static tr_gait_place place_at( const void *context, double time )
{
    const actor *a = context;
    double along = tr_track_at( &a->along, time );
    switch ( a->take ) {
    case CAPTURE_WALK: { // a little to the left
        double turn = 0.05 * ( time - 1.3 );
        return ( tr_gait_place ){ v3( 0.03 * ( time - 1.3 ) * ( time - 1.3 ), 0, along ), turn };
    }
    case CAPTURE_SHAKE_A: return ( tr_gait_place ){ v3( 0.10, 0, -along ), 0 };
    case CAPTURE_SHAKE_B: return ( tr_gait_place ){ v3( -0.10, 0, along ), TR_PI };
    default: return ( tr_gait_place ){ v3( 0, 0, along ), 0 };
    }
}

static void plan_way( actor *a )
{
    if ( a->take == CAPTURE_WALK ) {
        tr_track_add_moving( &a->along, -4, -3.8, 0.95 );
        tr_track_add_moving( &a->along, 5, 4.75, 0.95 );
    } else if ( a->take == CAPTURE_LIFT ) {
        tr_track_add( &a->along, -0.35, -0.5 );
        tr_track_add( &a->along, 0.75, 0 );
    } else { // half a step towards each other
        tr_track_add( &a->along, -0.2, 0.5 * SHAKE_APART + 0.13 );
        tr_track_add( &a->along, 0.6, 0.5 * SHAKE_APART );
    }
}

static bool actor_begin( actor *a, capture_take take, tr_error *error )
{
    *a = ( actor ){ .take = take };
    plan_way( a );
    tr_stepper_def def = tr_default_stepper_def();
    def.path = place_at;
    def.context = a;
    def.end = takes[take].info.frames / CAPTURE_FPS;
    def.start_phase = 0.2;
    if ( take == CAPTURE_WALK ) { // begins and ends in the middle of a stance
        def.cycle = 0.96;
        def.start_phase = 0.356;
    }
    def.seed = CAPTURE_SEED + (unsigned)take;
    return tr_human_skeleton( &a->human, error ) && tr_stepper_plan( &a->steps, &def, error );
}

static void actor_end( actor *a )
{
    tr_stepper_free( &a->steps );
    tr_skeleton_free( &a->human );
}

static void solve_actor( const actor *a, double time, tr_pose pose );

static void take_hold( tr_human_hand *hand, vec3 palm_at, quat rotation, double grip )
{
    hand->hold = ( rigid ){ rotation, palm_at };
    hand->grip = hand->firm = grip;
}

// Hands on both sides of a box, which stands on a low table and is lifted to the chest.
static void lift_box( double time, tr_human_targets *out )
{
    double grip = tr_pulse( time, 1.1, 9, 0.6, 1 ), up = smooth_step5( clampd( ( time - 1.2 ) / 0.8, 0, 1 ) );
    double low = tr_pulse( time, 1.1, 1.25, 0.75, 0.75 );
    vec3 box = v3_lerp( TABLE, v3( 0.02, 1.08, 0.34 ), up );
    out->pelvis = v3_add( out->pelvis, v3( 0, -0.22 * low, -0.10 * low ) );
    out->spine = v3_add( out->spine, v3( 34 * low * TR_DEGREE, 0, 0 ) );
    out->look = box;
    for ( int side = 0; side < 2; ++side ) {
        double x = side == TR_HUMAN_LEFT ? 1 : -1;
        quat rotation = tr_human_hand_rotation( side, v3( -0.1 * x, -0.25, 1 ), v3( -x, 0, 0 ) );
        take_hold( &out->hands[side], v3_add( box, v3( 0.5 * BOX * x, 0, 0 ) ), rotation, grip );
    }
}

// Right hand in right hand, which go up and down once and a half; A's left hand on B's right upper arm.
static void shake_hands( const actor *a, double time, tr_human_targets *out )
{
    bool first = a->take == CAPTURE_SHAKE_A;
    double grip = tr_pulse( time, 0.55, 1.35, 0.55, 0.45 ), ahead = first ? 1 : -1;
    double pump = tr_pulse( time, 0.65, 1.25, 0.2, 0.2 ) * sin( 2.0 * TR_PI * 2.2 * ( time - 0.6 ) );
    vec3 palm = v3( first ? -1 : 1, 0, 0 ); // they face each other: each one's right palm faces the other's
    vec3 fingers = v3( 0, 0.12, ahead ), middle = v3( 0, 1.06 + 0.035 * pump, -0.02 * ahead );
    middle = v3_mad( middle, -0.012, palm );
    take_hold( &out->hands[TR_HUMAN_RIGHT], middle,
               tr_human_hand_rotation( TR_HUMAN_RIGHT, fingers, v3_scale( -1, palm ) ), grip );
    out->spine = v3_add( out->spine, v3( 5 * grip * TR_DEGREE, 10 * grip * TR_DEGREE, 0 ) );
    out->look = v3( first ? -0.10 : 0.10, 1.6, ahead * 0.5 * SHAKE_APART );
    if ( a->partner == NULL )
        return;
    quat rotations[TR_HUMAN_JOINTS];
    vec3 positions[TR_HUMAN_JOINTS];
    solve_actor( a->partner, time, ( tr_pose ){ rotations, positions } );
    vec3 shoulder = positions[tr_human_arm( TR_HUMAN_RIGHT, TR_HUMAN_ARM )];
    vec3 elbow = positions[tr_human_arm( TR_HUMAN_RIGHT, TR_HUMAN_FOREARM )];
    vec3 at = v3_add( v3_lerp( shoulder, elbow, 0.45 ), v3( 0.05, 0, -0.015 ) );
    take_hold( &out->hands[TR_HUMAN_LEFT], at,
               tr_human_hand_rotation( TR_HUMAN_LEFT, v3( -0.15, 0.25, 1 ), v3( -1, 0, -0.1 ) ),
               tr_pulse( time, 0.8, 1.2, 0.55, 0.4 ) );
}

static tr_human_targets targets_of( const actor *a, double time )
{
    tr_human_targets out = tr_stepper_at( &a->steps, time );
    if ( a->take == CAPTURE_LIFT )
        lift_box( time, &out );
    else if ( a->take == CAPTURE_WALK )
        out.pelvis.y -= 0.02; // knees that are never straight
    else
        shake_hands( a, time, &out );
    return out;
}

static void solve_actor( const actor *a, double time, tr_pose pose )
{
    quat local[TR_HUMAN_JOINTS];
    tr_human_targets targets = targets_of( a, time );
    tr_human_solve( &a->human, &targets, local, &pose.positions[0] );
    pose.rotations[0] = local[0];
    tr_pose_refresh( &a->human, local, pose, 0 );
}

// `both`: the actor of the take, and the partner it looks at.
static bool begin( actor both[2], capture_take take, tr_error *error )
{
    both[1] = ( actor ){ 0 };
    if ( !actor_begin( &both[0], take, error ) )
        return false;
    if ( take != CAPTURE_SHAKE_A )
        return true;
    both[0].partner = &both[1];
    return actor_begin( &both[1], CAPTURE_SHAKE_B, error );
}

static void end( actor both[2] )
{
    actor_end( &both[0] );
    actor_end( &both[1] );
}

bool capture_pose( capture_take take, double time, vec3 positions[TR_HUMAN_JOINTS], tr_error *error )
{
    actor both[2];
    quat rotations[TR_HUMAN_JOINTS];
    bool ok = begin( both, take, error );
    if ( ok )
        solve_actor( &both[0], time, ( tr_pose ){ rotations, positions } );
    for ( int j = 0; ok && j < TR_HUMAN_JOINTS; ++j )
        positions[j] = v3_scale( takes[take].info.size, positions[j] );
    end( both );
    return ok;
}

// ------------------------------------------------------------------------------------------------------ file

#define MAX_ROWS 64

typedef struct file_joint { // a row, once for each side
    char name[32];          // empty: end site
    int depth, parent;
    int joint; // joint of the built-in human
    bool copies;
    vec3 place; // in the T-pose, metres, the hips at the origin
    quat rest;  // its turn from the T-pose to the rest pose of the file, in the world
} file_joint;

typedef struct writer {
    const capture_info *info;
    const body_kind *body;
    capture_take take;
    file_joint joints[MAX_ROWS];
    int count;
    tr_text *out;
} writer;

static int on_side( int joint, int side )
{
    if ( side == TR_HUMAN_LEFT || joint < TR_HUMAN_ARMS )
        return joint;
    return joint + ( joint < TR_HUMAN_LEGS ? TR_HUMAN_ARM_JOINTS : TR_HUMAN_LEG_JOINTS );
}

static bool is_sided( const body_row *row )
{
    return row->name == NULL ? row->joint >= TR_HUMAN_ARMS : row->name[0] == '*' || row->name[0] == '+';
}

static void add_joint( writer *w, const body_row *row, int side, const vec3 *places )
{
    file_joint *j = &w->joints[w->count];
    *j = ( file_joint ){ .depth = row->depth, .parent = w->count - 1, .copies = row->copies };
    while ( j->parent >= 0 && w->joints[j->parent].depth >= row->depth )
        --j->parent;
    const char *prefix = side == TR_HUMAN_LEFT ? "Left" : "Right";
    if ( row->name != NULL && is_sided( row ) )
        snprintf( j->name, sizeof j->name, "%.*s%s", row->name[0] == '+' ? 1 : 5, prefix, row->name + 1 );
    else if ( row->name != NULL )
        snprintf( j->name, sizeof j->name, "%s", row->name );
    j->joint = on_side( row->joint, side );
    j->place = v3_sub( places[j->joint], places[0] );
    if ( row->half )
        j->place = v3_lerp( w->joints[j->parent].place, j->place, 0.5 );
    double out = side == TR_HUMAN_LEFT ? 1 : -1, degrees = 0;
    if ( row->joint >= TR_HUMAN_LEGS )
        degrees = w->body->legs;
    else if ( row->joint > ARM( SHOULDER ) )
        degrees = w->body->arms;
    j->rest = q_axis_angle( v3_z, out * degrees * TR_DEGREE );
    ++w->count;
}

static void add_joints( writer *w, const tr_skeleton *human )
{
    quat rotations[TR_HUMAN_JOINTS];
    vec3 places[TR_HUMAN_JOINTS];
    tr_forward_rest( human, ( tr_pose ){ rotations, places } );
    const body_row *row = w->body->rows;
    while ( row->depth >= 0 ) {
        const body_row *last = row;
        while ( is_sided( row ) && is_sided( last + 1 ) && last[1].depth > row->depth )
            ++last;
        for ( int side = 0; side < ( is_sided( row ) ? 2 : 1 ); ++side )
            for ( const body_row *r = row; r <= last; ++r )
                add_joint( w, r, side, places );
        row = last + 1;
    }
}

// With `decimals` at most: no zeros at the end, no minus before nothing.
static void put( tr_text *out, const char *before, double value, int decimals )
{
    char number[40];
    snprintf( number, sizeof number, "%.*f", decimals, value );
    char *last = number + strlen( number ) - 1;
    while ( *last == '0' )
        *last-- = 0;
    if ( *last == '.' )
        *last = 0;
    tr_text_add( out, "%s%s", before, strcmp( number, "-0" ) == 0 ? "0" : number );
}

static void put_vector( tr_text *out, const char *before, vec3 v, int decimals )
{
    put( out, before, v.x, decimals );
    put( out, " ", v.y, decimals );
    put( out, " ", v.z, decimals );
}

static void put_braces( writer *w, int from, int to ) // closes what is open, down to depth `to`
{
    for ( int depth = from; depth >= to; --depth )
        tr_text_add( w->out, "%.*s}\n", depth, "\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t" );
}

static void put_hierarchy( writer *w )
{
    static const char tabs[] = "\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t";
    tr_text_add( w->out, "HIERARCHY\n" );
    for ( int i = 0; i < w->count; ++i ) {
        const file_joint *j = &w->joints[i];
        if ( i > 0 )
            put_braces( w, w->joints[i - 1].depth, j->depth );
        vec3 bone = v3_zero;
        if ( j->parent >= 0 )
            bone = q_rotate( w->joints[j->parent].rest, v3_sub( j->place, w->joints[j->parent].place ) );
        bool end_site = j->name[0] == 0;
        tr_text_add( w->out, "%.*s%s%s\n", j->depth, tabs,
                     end_site       ? "End Site"
                     : j->depth > 0 ? "JOINT "
                                    : "ROOT ",
                     j->name );
        tr_text_add( w->out, "%.*s{\n%.*sOFFSET", j->depth, tabs, j->depth + 1, tabs );
        put_vector( w->out, " ", v3_scale( w->info->size / w->info->unit, bone ), 5 );
        if ( !end_site )
            tr_text_add( w->out, "\n%.*sCHANNELS %sZrotation Yrotation Xrotation", j->depth + 1, tabs,
                         j->depth > 0 ? "3 " : "6 Xposition Yposition Zposition " );
        tr_text_add( w->out, "\n" );
    }
    put_braces( w, w->joints[w->count - 1].depth, 0 );
}

// R = Rz(a) · Ry(b) · Rx(c)
static void put_angles( tr_text *out, quat q )
{
    vec3 x = q_rotate( q, v3_x ), y = q_rotate( q, v3_y ), z = q_rotate( q, v3_z ); // columns of R
    put( out, " ", atan2( x.y, x.x ) / TR_DEGREE, 2 );
    put( out, " ", asin( clampd( -x.z, -1, 1 ) ) / TR_DEGREE, 2 );
    put( out, " ", atan2( y.z, z.z ) / TR_DEGREE, 2 );
}

// Half a millimetre and a twentieth of a degree, as of markers on skin after a filter.
static vec3 jitter( const writer *w, int joint, double time, double size )
{
    double v[3];
    for ( int k = 0; k < 3; ++k ) {
        uint64_t seed = CAPTURE_SEED + 1000u * (unsigned)w->take + 3u * (unsigned)joint + (unsigned)k;
        v[k] = size * ( 0.7 * tr_noise( seed, time, 2.5 ) + 0.3 * tr_noise( seed + 500u, time, 9 ) );
    }
    return v3( v[0], v[1], v[2] );
}

// World rotations in the file are S · rest⁻¹ where S are those of the human. `noise`: 0 for the T-pose.
static void put_frame( writer *w, tr_pose pose, double time, double noise )
{
    vec3 root = v3_mad( pose.positions[0], noise, jitter( w, MAX_ROWS, time, 0.0005 ) );
    put_vector( w->out, "", v3_scale( w->info->size / w->info->unit, root ), 3 );
    for ( int i = 0; i < w->count; ++i ) {
        const file_joint *j = &w->joints[i];
        if ( j->name[0] == 0 )
            continue;
        quat turn = q_mul( pose.rotations[j->joint], q_conj( j->rest ) );
        if ( j->parent >= 0 ) {
            const file_joint *p = &w->joints[j->parent];
            turn = q_mul( q_conj( q_mul( pose.rotations[p->joint], q_conj( p->rest ) ) ), turn );
        }
        if ( j->copies )
            turn = q_identity;
        else
            turn = q_mul( turn, q_from_vector( jitter( w, i, time, 0.05 * noise * TR_DEGREE ) ) );
        put_angles( w->out, turn );
    }
    tr_text_add( w->out, "\n" );
}

static void put_motion( writer *w, const actor *a )
{
    quat rotations[TR_HUMAN_JOINTS];
    vec3 positions[TR_HUMAN_JOINTS];
    tr_pose pose = { rotations, positions };
    tr_text_add( w->out, "MOTION\nFrames: %d\nFrame Time: 0.0083333\n", w->info->frames );
    solve_actor( a, 0, pose );
    for ( int j = 0; j < TR_HUMAN_JOINTS; ++j )
        rotations[j] = q_identity; // arms out, where the first frame stands
    put_frame( w, pose, 0, 0 );
    for ( int f = 1; f < w->info->frames; ++f ) {
        double time = ( f - 1 ) / CAPTURE_FPS;
        solve_actor( a, time, pose );
        put_frame( w, pose, time, 1 );
    }
}

bool capture_print( capture_take take, tr_text *out, tr_error *error )
{
    actor both[2];
    writer w = { .info = &takes[take].info, .body = takes[take].body, .take = take, .out = out };
    bool ok = begin( both, take, error );
    if ( ok ) {
        add_joints( &w, &both[0].human );
        put_hierarchy( &w );
        put_motion( &w, &both[0] );
        ok = !out->failed || tr_error_memory( error );
    }
    end( both );
    return ok;
}
