#include "scenes/kit/elephant.h"

#include <stdio.h>

static const double step = 1.15;   // metres of an elephant's foot for each of a person's
static const double lift = 0.8;    // share of its height, likewise
static const double crouch = 0.05; // metres: legs are never quite straight

static int add( tr_rig *rig, const char *side, const char *part, int parent, vec3 place )
{
    char name[48];
    snprintf( name, sizeof name, "%s%s", side, part );
    return tr_rig_joint( rig, name, parent, place );
}

static void add_leg( tr_elephant *body, tr_rig *rig, int index )
{
    static const char *const names[] = { "LeftFront", "RightFront", "LeftHind", "RightHind" };
    static const vec3 front[] = { { 0.36, 1.52, 0.46 },
                                  { 0.38, 0.96, 0.40 },
                                  { 0.38, 0.42, 0.46 },
                                  { 0.38, 0.14, 0.47 },
                                  { 0.38, 0.0, 0.64 } };
    static const vec3 hind[] = { { 0.34, 1.50, -0.78 },
                                 { 0.36, 0.98, -0.68 },
                                 { 0.36, 0.42, -0.80 },
                                 { 0.36, 0.14, -0.78 },
                                 { 0.36, 0.0, -0.61 } };
    static const char *const parts[] = { "Upper", "Lower", "Ankle", "Foot" };
    const vec3 *places = index < 2 ? front : hind;
    int parent = index < 2 ? body->spine[2] : body->hips;
    double s = index % 2 == 0 ? 1 : -1;
    for ( int i = 0; i < 4; ++i )
        parent = body->legs[index][i] =
            add( rig, names[index], parts[i], parent, v3( s * places[i].x, places[i].y, places[i].z ) );
    tr_rig_tip( rig, parent, v3( s * places[4].x, places[4].y, places[4].z ) );
}

void tr_elephant_add( tr_elephant *body, tr_rig *rig )
{
    body->hips = tr_rig_joint( rig, "Hips", -1, v3( 0, 1.78, -0.75 ) );
    static const vec3 spine[] = { { 0, 1.92, -0.38 }, { 0, 1.98, 0.02 }, { 0, 1.92, 0.42 } };
    for ( int i = 0; i < 3; ++i ) {
        char name[16];
        snprintf( name, sizeof name, "Spine%d", i + 1 );
        body->spine[i] = tr_rig_joint( rig, name, i > 0 ? body->spine[i - 1] : body->hips, spine[i] );
    }
    body->neck = tr_rig_joint( rig, "Neck", body->spine[2], v3( 0, 2.12, 0.72 ) );
    body->head = tr_rig_joint( rig, "Head", body->neck, v3( 0, 2.34, 0.98 ) );
    tr_rig_tip( rig, body->head, v3( 0, 2.42, 1.08 ) );
    for ( int i = 0, parent = body->head; i <= TR_ELEPHANT_TRUNK; ++i ) {
        char name[16];
        snprintf( name, sizeof name, "Trunk%d", i + 1 );
        vec3 place = v3( 0, 2.16 - 0.2 * i, 1.22 + 0.10 * sin( 0.35 * i ) );
        if ( i < TR_ELEPHANT_TRUNK )
            parent = body->trunk[i] = tr_rig_joint( rig, name, parent, place );
        else
            tr_rig_tip( rig, parent, place );
    }
    for ( int i = 0; i < 2; ++i ) {
        double s = i == 0 ? 1 : -1;
        const char *side = s > 0 ? "Left" : "Right";
        body->ears[i][0] = add( rig, side, "Ear1", body->head, v3( 0.30 * s, 2.46, 0.98 ) );
        body->ears[i][1] = add( rig, side, "Ear2", body->ears[i][0], v3( 0.60 * s, 2.36, 0.84 ) );
        tr_rig_tip( rig, body->ears[i][1], v3( 0.80 * s, 2.02, 0.76 ) );
    }
    body->tail[0] = tr_rig_joint( rig, "Tail1", body->hips, v3( 0, 1.72, -1.10 ) );
    body->tail[1] = tr_rig_joint( rig, "Tail2", body->tail[0], v3( 0, 1.34, -1.20 ) );
    tr_rig_tip( rig, body->tail[1], v3( 0, 0.96, -1.22 ) );
    for ( int i = 0; i < 4; ++i )
        add_leg( body, rig, i );
}

// ------------------------------------------------------------------------------------------------ posing

static quat about( vec3 axis, double angle )
{
    return q_axis_angle( axis, angle );
}

// The foot from its home, flat, and the leg above it. `foot`: where the person's is.
static void pose_leg( const tr_elephant *body, tr_rig *rig, int index, vec3 foot, double lowest )
{
    const int *leg = body->legs[index];
    bool front = index < 2;
    double up = lift * fmax( foot.y - lowest, 0 );
    vec3 home = rig->rest[leg[3]], ankle = v3_sub( rig->rest[leg[2]], home );
    vec3 place = v3_add( home, v3( 0.4 * foot.x, up, step * foot.z ) );
    double fold = ( front ? 1.6 : 1.1 ) * up; // fold of a foot in the air, backwards
    quat turn = about( v3_x, fold );
    tr_rig_reach( rig, leg[0], leg[1], leg[2], v3_add( place, q_rotate( turn, ankle ) ),
                  v3( 0, 0, front ? -1 : 1 ) );
    tr_rig_orient( rig, leg[2], turn );
    tr_rig_orient( rig, leg[3], about( v3_x, 0.6 * fold ) );
}

static void pose_trunk( const tr_elephant *body, tr_rig *rig, const tr_person_view *view )
{
    vec3 raise = q_to_vector( q_between( v3( 0, -1, 0.12 ), view->arms[1] ) );
    double curl = 0.22 * view->elbows[1];
    for ( int i = 0; i < TR_ELEPHANT_TRUNK; ++i ) {
        double share = i < 4 ? 0.21 : 0.04;
        tr_rig_turn( rig, body->trunk[i], q_from_vector( v3_scale( share, raise ) ) );
        tr_rig_turn( rig, body->trunk[i], about( v3_x, i < 3 ? 0.3 * curl : -curl ) );
    }
}

void tr_elephant_pose( const void *context, tr_rig *rig, const tr_person_view *view )
{
    const tr_elephant *body = context;
    double sway = 0.25 * ( view->feet[0].z - view->feet[1].z );
    tr_rig_move( rig, v3( 0, -crouch - 0.4 * fmax( view->sink - 0.02, 0 ), 0 ) );
    for ( int i = 0; i < 3; ++i )
        tr_rig_turn( rig, body->spine[i], about( v3_y, 0.22 * view->twist ) );
    double yaw = atan2( view->look.x, view->look.z ), raised = 0.5 + 0.5 * view->arms[1].y;
    tr_rig_turn( rig, body->neck, about( v3_x, 0.08 - 0.30 * raised ) );
    tr_rig_turn( rig, body->head,
                 q_mul( about( v3_y, 0.5 * yaw ), about( v3_x, -0.4 * view->look.y - 0.25 * raised ) ) );
    pose_trunk( body, rig, view );
    double flap = 0.5 * view->arms[0].z + 0.4 * raised;
    for ( int i = 0; i < 2; ++i ) {
        double s = i == 0 ? 1 : -1;
        tr_rig_turn( rig, body->ears[i][0], about( v3_y, s * ( 0.15 - flap ) ) );
        tr_rig_turn( rig, body->ears[i][1], about( v3_y, -s * 0.6 * flap ) );
    }
    tr_rig_turn( rig, body->tail[0], about( v3_z, 0.9 * sway ) );
    tr_rig_turn( rig, body->tail[1], about( v3_z, 0.7 * sway ) );
    double lowest = fmin( view->feet[0].y, view->feet[1].y );
    for ( int i = 0; i < 4; ++i ) // front left goes with the right foot
        pose_leg( body, rig, i, view->feet[i < 2 ? 1 - i : i - 2], lowest );
}

bool tr_elephant_cast( tr_scene *scene, tr_library *library, int cast, tr_animator_pose *pose, int pairs,
                       double aim, tr_error *error )
{
    static const char *const arm[2] = { "RightArm", "RightHand" }, *const trunk[2] = { "Trunk1", "Trunk8" };
    tr_elephant body;
    tr_rig *rig = tr_alloc( 1, sizeof *rig );
    if ( rig == NULL )
        return tr_error_memory( error );
    tr_cast *member = &scene->cast[cast];
    static const tr_limb_value girths[] = { { "torso", 2.1 }, { "legs", 2.6 }, { "head", 2.5 } };
    for ( int i = 0; i < 3; ++i )
        member->target.girths[member->target.girth_count++] = girths[i];
    snprintf( member->target.skeleton.file, sizeof member->target.skeleton.file, "%.20s_poses.bvh",
              member->id );
    tr_rig_start( rig );
    tr_elephant_add( &body, rig );
    tr_id id;
    snprintf( id, sizeof id, "%.20s_trunk", scene->cast[cast].id );
    bool ok = tr_animator_part( scene, id, scene->cast[cast].id, arm, trunk, aim, error ) &&
              tr_animator_add( scene, library, cast, rig, &body, pose, pairs, error );
    tr_rig_free( rig );
    tr_free( rig );
    return ok;
}
