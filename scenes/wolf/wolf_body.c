#include "scenes/wolf/wolf_body.h"

#include <stdio.h>

// `count` joints named <name>1 … on the quadratic curve a–b–c, the first at a, the last short of c by one
// part; then the tip at c if asked for. Returns the last joint.
static int add_chain( tr_rig *rig, const char *name, int parent, int count, const vec3 curve[3], bool tip,
                      int *joints )
{
    for ( int i = 0; i <= count; ++i ) {
        double t = (double)i / count;
        vec3 place = v3_lerp( v3_lerp( curve[0], curve[1], t ), v3_lerp( curve[1], curve[2], t ), t );
        char full[32];
        snprintf( full, sizeof full, "%s%d", name, i + 1 );
        if ( i < count )
            parent = joints[i] = tr_rig_joint( rig, full, parent, place );
        else if ( tip )
            tr_rig_tip( rig, parent, place );
    }
    return parent;
}

static int add_named( tr_rig *rig, const char *side, const char *part, int parent, vec3 place )
{
    char name[48];
    snprintf( name, sizeof name, "%s%s", side, part );
    return tr_rig_joint( rig, name, parent, place );
}

const vec3 wolf_knuckles = { 0, 0.030, 0.018 };

static void add_toes( wolf_leg *leg, tr_rig *rig, const char *prefix )
{
    vec3 ball = rig->rest[leg->paw];
    for ( int i = 0; i < WOLF_TOES; ++i ) {
        bool inner = i == 1 || i == 2; // the middle toes are longer
        double across = leg->side * ( i - 1.5 ), reach = inner ? 1.0 : 0.82;
        char part[16];
        snprintf( part, sizeof part, "Toe%dA", i + 1 );
        vec3 base = v3_add( ball, v3( 0.013 * across, wolf_knuckles.y - ball.y, wolf_knuckles.z ) );
        leg->toes[i][0] = add_named( rig, prefix, part, leg->paw, base );
        snprintf( part, sizeof part, "Toe%dB", i + 1 );
        vec3 middle = v3( ball.x + 0.018 * across, 0.024, ball.z + 0.048 * reach );
        leg->toes[i][1] = add_named( rig, prefix, part, leg->toes[i][0], middle );
        tr_rig_tip( rig, leg->toes[i][1], v3( ball.x + 0.020 * across, 0.004, ball.z + 0.078 * reach ) );
    }
}

static void add_front_leg( wolf_body *body, tr_rig *rig, wolf_leg *leg )
{
    double s = leg->side;
    const char *prefix = s > 0 ? "LeftFront" : "RightFront";
    leg->scapula = add_named( rig, prefix, "Scapula", body->chest, v3( 0.068 * s, 0.695, 0.215 ) );
    leg->upper = add_named( rig, prefix, "Upper", leg->scapula, v3( 0.090 * s, 0.560, 0.330 ) );
    leg->lower = add_named( rig, prefix, "Lower", leg->upper, v3( 0.098 * s, 0.436, 0.170 ) );
    leg->ankle = add_named( rig, prefix, "Carpus", leg->lower, v3( 0.092 * s, 0.155, 0.232 ) );
    leg->paw = add_named( rig, prefix, "Paw", leg->ankle, v3( 0.092 * s, 0.042, 0.260 ) );
    add_toes( leg, rig, prefix );
}

static void add_hind_leg( wolf_body *body, tr_rig *rig, wolf_leg *leg )
{
    double s = leg->side;
    const char *prefix = s > 0 ? "LeftHind" : "RightHind";
    leg->upper = add_named( rig, prefix, "Upper", body->hips, v3( 0.072 * s, 0.665, -0.400 ) );
    leg->lower = add_named( rig, prefix, "Lower", leg->upper, v3( 0.098 * s, 0.430, -0.290 ) );
    leg->ankle = add_named( rig, prefix, "Hock", leg->lower, v3( 0.088 * s, 0.240, -0.495 ) );
    leg->paw = add_named( rig, prefix, "Paw", leg->ankle, v3( 0.088 * s, 0.042, -0.430 ) );
    add_toes( leg, rig, prefix );
}

// Where the neck ends and the skull begins; the head's joints are placed from here.
static const vec3 wolf_skull = { 0, 0.850, 0.505 };

static vec3 on_skull( double x, double y, double z )
{
    return v3_add( wolf_skull, v3( x, y, z ) );
}

static void add_head( wolf_body *body, tr_rig *rig, int neck )
{
    body->head = tr_rig_joint( rig, "Head", neck, wolf_skull );
    body->snout = tr_rig_joint( rig, "Snout", body->head, on_skull( 0, -0.012, 0.105 ) );
    tr_rig_tip( rig, body->snout, on_skull( 0, -0.034, 0.205 ) );
    body->jaw = tr_rig_joint( rig, "Jaw", body->head, on_skull( 0, -0.036, 0.050 ) );
    tr_rig_tip( rig, body->jaw, on_skull( 0, -0.052, 0.170 ) );
    for ( int i = 0; i < 2; ++i ) {
        double s = i == 0 ? 1 : -1;
        const vec3 ear[3] = { on_skull( 0.042 * s, 0.050, -0.020 ), on_skull( 0.062 * s, 0.095, -0.020 ),
                              on_skull( 0.068 * s, 0.142, -0.010 ) };
        add_chain( rig, i == 0 ? "LeftEar" : "RightEar", body->head, WOLF_EAR, ear, true, body->ears[i] );
    }
}

// 1 hips, 8 spine, 1 chest, 5 neck, 5 head, 8 ears, 14 tail, 2 × 17 front legs, 2 × 16 hind legs.
void wolf_body_add( wolf_body *body, tr_rig *rig )
{
    const vec3 spine[3] = { { 0, 0.700, -0.300 }, { 0, 0.697, -0.080 }, { 0, 0.635, 0.230 } };
    const vec3 neck[3] = { { 0, 0.680, 0.325 }, { 0, 0.755, 0.420 }, wolf_skull };
    const vec3 tail[3] = { { 0, 0.690, -0.450 }, { 0, 0.625, -0.640 }, { 0, 0.300, -0.700 } };
    body->hips = tr_rig_joint( rig, "Hips", -1, v3( 0, 0.690, -0.370 ) );
    int last = add_chain( rig, "Spine", body->hips, WOLF_SPINE, spine, false, body->spine );
    body->chest = tr_rig_joint( rig, "Chest", last, spine[2] );
    last = add_chain( rig, "Neck", body->chest, WOLF_NECK, neck, false, body->neck );
    add_head( body, rig, last );
    for ( int i = 0; i < WOLF_LEGS; ++i ) {
        wolf_leg *leg = &body->legs[i];
        leg->front = i < 2;
        leg->side = i % 2 == 0 ? 1 : -1;
        if ( leg->front )
            add_front_leg( body, rig, leg );
        else
            add_hind_leg( body, rig, leg );
        leg->home = v3( rig->rest[leg->paw].x, 0, rig->rest[leg->paw].z );
        leg->lean = wolf_leg_lean( rig->rest[leg->upper], rig->rest[leg->paw], 0 );
    }
    add_chain( rig, "Tail", body->hips, WOLF_TAIL, tail, true, body->tail );
}

double wolf_leg_lean( vec3 upper, vec3 paw, double heading )
{
    double ahead = ( paw.x - upper.x ) * sin( heading ) + ( paw.z - upper.z ) * cos( heading );
    return atan2( ahead, upper.y - paw.y );
}
