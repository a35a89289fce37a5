#include "scenes/kit/rabbit.h"

#include <stdio.h>

static int add( tr_rig *rig, const char *side, const char *part, int parent, vec3 place )
{
    char name[48];
    snprintf( name, sizeof name, "%s%s", side, part );
    return tr_rig_joint( rig, name, parent, place );
}

static void add_side( tr_rabbit *body, tr_rig *rig, int index, int hips, int chest, int head )
{
    double s = index == 0 ? 1 : -1;
    const char *side = s > 0 ? "Left" : "Right";
    int joint = head;
    for ( int i = 0; i <= TR_RABBIT_EAR; ++i ) {
        char part[16];
        snprintf( part, sizeof part, "Ear%d", i + 1 );
        vec3 place = v3( s * ( 0.035 + 0.008 * i ), 0.61 + 0.07 * i, 0.0 );
        if ( i < TR_RABBIT_EAR )
            joint = body->ears[index][i] = add( rig, side, part, joint, place );
        else
            tr_rig_tip( rig, joint, place );
    }
    joint = add( rig, side, "Arm", chest, v3( 0.075 * s, 0.475, 0 ) );
    joint = add( rig, side, "ForeArm", joint, v3( 0.175 * s, 0.475, 0 ) );
    joint = add( rig, side, "Hand", joint, v3( 0.275 * s, 0.475, 0 ) );
    tr_rig_tip( rig, joint, v3( 0.325 * s, 0.475, 0 ) );
    joint = add( rig, side, "UpLeg", hips, v3( 0.06 * s, 0.26, 0 ) );
    joint = add( rig, side, "Leg", joint, v3( 0.06 * s, 0.145, 0.012 ) );
    joint = add( rig, side, "Foot", joint, v3( 0.06 * s, 0.035, -0.01 ) );
    joint = add( rig, side, "ToeBase", joint, v3( 0.06 * s, 0.015, 0.09 ) );
    tr_rig_tip( rig, joint, v3( 0.06 * s, 0.01, 0.14 ) );
}

void tr_rabbit_add( tr_rabbit *body, tr_rig *rig )
{
    int hips = tr_rig_joint( rig, "Hips", -1, v3( 0, 0.29, 0 ) );
    int spine = tr_rig_joint( rig, "Spine", hips, v3( 0, 0.35, 0 ) );
    spine = tr_rig_joint( rig, "Spine1", spine, v3( 0, 0.41, 0 ) );
    int chest = tr_rig_joint( rig, "Spine2", spine, v3( 0, 0.46, 0 ) );
    int neck = tr_rig_joint( rig, "Neck", chest, v3( 0, 0.515, 0 ) );
    int head = tr_rig_joint( rig, "Head", neck, v3( 0, 0.56, 0.01 ) );
    int muzzle = tr_rig_joint( rig, "Muzzle", head, v3( 0, 0.60, 0.07 ) );
    tr_rig_tip( rig, muzzle, v3( 0, 0.59, 0.12 ) );
    int tail = tr_rig_joint( rig, "Tail1", hips, v3( 0, 0.27, -0.07 ) );
    tail = tr_rig_joint( rig, "Tail2", tail, v3( 0, 0.285, -0.11 ) );
    tr_rig_tip( rig, tail, v3( 0, 0.30, -0.14 ) );
    for ( int i = 0; i < 2; ++i )
        add_side( body, rig, i, hips, chest, head );
}

// An ear stands while its arm is raised, lies back while it hangs, and leans out and forward with it.
void tr_rabbit_pose( const void *context, tr_rig *rig, const tr_person_view *view )
{
    const tr_rabbit *body = context;
    for ( int e = 0; e < 2; ++e ) {
        vec3 arm = view->arms[e];
        double down = 0.5 - 0.5 * arm.y, back = 1.25 * down - 0.5 * arm.z, out = 0.7 * arm.x,
               flop = 0.25 * view->elbows[e];
        for ( int i = 0; i < TR_RABBIT_EAR; ++i ) {
            double share = i == 0 ? 0.55 : 0.15;
            tr_rig_turn( rig, body->ears[e][i],
                         q_from_vector( v3( -share * back - ( i > 1 ? flop : 0 ), 0, -share * out ) ) );
        }
    }
}

bool tr_rabbit_cast( tr_scene *scene, tr_library *library, int cast, int pairs, tr_error *error )
{
    static const char *const arms[2][2] = { { "LeftArm", "LeftHand" }, { "RightArm", "RightHand" } };
    static const char *const ears[2][2] = { { "LeftEar1", "LeftEar4" }, { "RightEar1", "RightEar4" } };
    static const tr_limb_value girths[] = { { "torso", 1.4 }, { "legs", 1.3 }, { "head", 1.8 } };
    tr_rabbit body;
    tr_rig *rig = tr_alloc( 1, sizeof *rig );
    if ( rig == NULL )
        return tr_error_memory( error );
    tr_cast *member = &scene->cast[cast];
    member->target.examples = false;
    for ( int i = 0; i < 3; ++i )
        member->target.girths[member->target.girth_count++] = girths[i];
    snprintf( member->target.skeleton.file, sizeof member->target.skeleton.file, "%.20s_poses.bvh",
              member->id );
    tr_rig_start( rig );
    tr_rabbit_add( &body, rig );
    bool ok = true;
    for ( int i = 0; ok && i < 2; ++i ) {
        tr_id id;
        snprintf( id, sizeof id, "%.20s_%s", scene->cast[cast].id, i == 0 ? "left" : "right" );
        ok = tr_animator_part( scene, id, scene->cast[cast].id, arms[i], ears[i], 0, error );
    }
    ok = ok && tr_animator_add( scene, library, cast, rig, &body, tr_rabbit_pose, pairs, error );
    tr_rig_free( rig );
    tr_free( rig );
    return ok;
}
