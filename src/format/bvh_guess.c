// Guesses about units and the up axis of a BVH file, from joint names, the rest pose and the first frame.
#include "format/bvh.h"

#include <string.h>
#include <strings.h>

tr_bvh_def tr_default_bvh_def( void )
{
    return ( tr_bvh_def ){ .metres = 4,
                           .millimetres = 700,
                           .inches = { 40, 85 },
                           .cmu = { 5, 50 },
                           .cmu_unit = 0.05644,
                           .upright = 1.5,
                           .standing_frames = 200,
                           .standing = 0.8,
                           .floor = 0.35,
                           .leg_joints = 8,
                           .body_joints = 8,
                           .whole_rate = 2e-4,
                           .same = 1e-12,
                           .decimals = 1e9,
                           .decimals_below = 1e6 };
}

static bool name_holds( const tr_joint *joint, const char *part )
{
    size_t length = strlen( part );
    for ( const char *c = joint->name; *c != 0; ++c )
        if ( strncasecmp( c, part, length ) == 0 )
            return true;
    return false;
}

static bool any_name_holds( const tr_skeleton *skeleton, const char *const *parts )
{
    for ( ; *parts != NULL; ++parts )
        for ( int j = 0; j < skeleton->joint_count; ++j )
            if ( name_holds( &skeleton->joints[j], *parts ) )
                return true;
    return false;
}

// Judged by names: head, hands and feet.
static bool is_person( const tr_skeleton *skeleton )
{
    const char *const heads[] = { "head", "neck", NULL };
    const char *const hands[] = { "hand", "wrist", "forearm", NULL };
    const char *const feet[] = { "foot", "ankle", NULL };
    return any_name_holds( skeleton, heads ) && any_name_holds( skeleton, hands ) &&
           any_name_holds( skeleton, feet );
}

// Joints of the usual conversion of the CMU library; no other skeleton has both.
static bool has_cmu_names( const tr_skeleton *skeleton )
{
    const char *const hips[] = { "LHipJoint", NULL }, *const backs[] = { "LowerBack", NULL };
    return any_name_holds( skeleton, hips ) && any_name_holds( skeleton, backs );
}

// Sum over the legs of the vector from foot to hip. Feet are found by name; the hip is the start of the chain
// that leads to the foot without branching. Legs cancel each other sideways, not upwards.
static vec3 legs_upwards( const tr_bvh *bvh, const int *child_counts, tr_pose pose, int leg_joints )
{
    const tr_skeleton *skeleton = &bvh->skeleton;
    vec3 sum = v3_zero;
    for ( int j = 1; j < skeleton->joint_count; ++j ) {
        const tr_joint *joint = &skeleton->joints[j];
        if ( joint->end_site || !( name_holds( joint, "foot" ) || name_holds( joint, "ankle" ) ||
                                   name_holds( joint, "paw" ) || name_holds( joint, "hoof" ) ) )
            continue;
        int hip = j;
        for ( int steps = 0; steps < leg_joints && skeleton->joints[hip].parent > 0; ++steps ) {
            int above = skeleton->joints[hip].parent;
            if ( child_counts[above] != 1 )
                break;
            hip = above;
        }
        sum = v3_add( sum, v3_sub( pose.positions[hip], pose.positions[j] ) );
    }
    return sum;
}

// Largest extent of the rest pose, without a root that only carries the pelvis.
static double rest_size( const tr_skeleton *skeleton, const int *child_counts, const vec3 *positions,
                         int body_joints )
{
    int first = skeleton->joint_count > body_joints && child_counts[0] == 1 ? 1 : 0;
    vec3 low = positions[first], high = low;
    for ( int j = first; j < skeleton->joint_count; ++j ) {
        vec3 p = positions[j];
        low = v3( fmin( low.x, p.x ), fmin( low.y, p.y ), fmin( low.z, p.z ) );
        high = v3( fmax( high.x, p.x ), fmax( high.y, p.y ), fmax( high.z, p.z ) );
    }
    vec3 size = v3_sub( high, low );
    return fmax( size.x, fmax( size.y, size.z ) );
}

typedef struct scan {          // input of a guess
    double size;               // file units
    vec3 legs;                 // sum over the rest pose and the first frame
    double stands_y, stands_z; // shares of frames in which the head is above the feet along Y, along Z
} scan;

// Poses a frame in file units and axes. Arrays [joint_count] are scratch.
static void place_frame( const tr_bvh *bvh, int frame, quat *rotations, vec3 *translations, tr_pose pose )
{
    const double *row = tr_bvh_row( bvh, frame );
    tr_clip clip = { .joint_count = bvh->skeleton.joint_count,
                     .frame_count = 1,
                     .fps = 1,
                     .rotations = rotations,
                     .root = translations,
                     .translations = translations };
    for ( int j = 0; j < clip.joint_count; ++j ) {
        rotations[j] = tr_bvh_local_rotation( &bvh->layouts[j], row );
        translations[j] = tr_bvh_local_translation( &bvh->layouts[j], row, bvh->skeleton.joints[j].offset );
    }
    tr_forward( &bvh->skeleton, &clip, 0, pose );
}

// From the feet, by their names, to the head, and the mean place of the feet. False: there is no head, or no
// foot.
static bool head_over_feet( const tr_skeleton *skeleton, const vec3 *places, vec3 *way, vec3 *feet )
{
    vec3 sum = v3_zero;
    int count = 0, head = -1;
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        const tr_joint *joint = &skeleton->joints[j];
        if ( !joint->end_site && ( name_holds( joint, "foot" ) || name_holds( joint, "ankle" ) ) ) {
            sum = v3_add( sum, places[j] );
            ++count;
        }
        if ( head < 0 && name_holds( joint, "head" ) )
            head = j;
    }
    if ( count == 0 || head < 0 )
        return false;
    *feet = v3_scale( 1.0 / count, sum );
    *way = v3_sub( places[head], *feet );
    return true;
}

// In how many frames the body stands along Y, and along Z: the head far above the feet, and those on the
// floor.
static void watch( const tr_bvh *bvh, const tr_bvh_def *def, quat *rotations, vec3 *translations,
                   tr_pose pose, scan *out )
{
    int step = bvh->frame_count / def->standing_frames + 1, seen = 0;
    for ( int f = tr_bvh_first_frame( bvh ); f < bvh->frame_count; f += step, ++seen ) {
        vec3 way, feet;
        place_frame( bvh, f, rotations, translations, pose );
        if ( !head_over_feet( &bvh->skeleton, pose.positions, &way, &feet ) )
            return;
        double near_floor = def->floor * v3_length( way );
        out->stands_y += way.y > def->upright * fabs( way.z ) && fabs( feet.y ) < near_floor;
        out->stands_z += way.z > def->upright * fabs( way.y ) && fabs( feet.z ) < near_floor;
    }
    out->stands_y /= seen > 0 ? seen : 1;
    out->stands_z /= seen > 0 ? seen : 1;
}

static bool scan_poses( const tr_bvh *bvh, const tr_bvh_def *def, scan *out )
{
    size_t count = (size_t)bvh->skeleton.joint_count;
    quat *rotations = tr_alloc( 2 * count, sizeof( quat ) );
    vec3 *positions = tr_alloc( 2 * count, sizeof( vec3 ) );
    int *child_counts = tr_alloc( count, sizeof( int ) );
    bool ok = rotations != NULL && positions != NULL && child_counts != NULL;
    if ( ok ) {
        tr_pose pose = { rotations, positions };
        for ( size_t j = 1; j < count; ++j )
            child_counts[bvh->skeleton.joints[j].parent]++;
        tr_forward_rest( &bvh->skeleton, pose );
        out->size = rest_size( &bvh->skeleton, child_counts, pose.positions, def->body_joints );
        out->legs = legs_upwards( bvh, child_counts, pose, def->leg_joints );
        place_frame( bvh, 0, rotations + count, positions + count, pose );
        out->legs = v3_add( out->legs, legs_upwards( bvh, child_counts, pose, def->leg_joints ) );
        watch( bvh, def, rotations + count, positions + count, pose, out );
    }
    tr_free( rotations );
    tr_free( positions );
    tr_free( child_counts );
    return ok;
}

typedef struct unit_guess {
    double metres;
    const char *y_up, *z_up;
} unit_guess;

double tr_unit_of_size( double size, bool person )
{
    tr_bvh_def def = tr_default_bvh_def();
    if ( size > 0 && size < def.metres )
        return 1;
    if ( person && size >= def.inches[0] && size < def.inches[1] )
        return 0.0254;
    return size > def.millimetres ? 0.001 : 0.01;
}

static unit_guess guess_unit( const tr_bvh_def *def, const tr_skeleton *skeleton, double size )
{
    if ( size > def->cmu[0] && size < def->cmu[1] && has_cmu_names( skeleton ) )
        return ( unit_guess ){ def->cmu_unit, "CMU joint names: one unit is 5.644 cm, Y up",
                               "CMU joint names: one unit is 5.644 cm, Z up" };
    if ( size <= 0 )
        return ( unit_guess ){ 0.01, "no size to go by: taken as centimetres, Y up",
                               "no size to go by: taken as centimetres, Z up" };
    static const unit_guess units[] = {
        { 1, "by its size in metres, Y up", "by its size in metres, Z up" },
        { 0.0254, "a person of 40 to 85 units: inches, Y up", "a person of 40 to 85 units: inches, Z up" },
        { 0.001, "by its size in millimetres, Y up", "by its size in millimetres, Z up" },
        { 0.01, "by its size in centimetres, Y up", "by its size in centimetres, Z up" } };
    double metres = tr_unit_of_size( size, is_person( skeleton ) );
    int i = 0;
    while ( units[i].metres != metres )
        ++i;
    return units[i];
}

bool tr_bvh_try_guess( const tr_bvh *bvh, tr_bvh_import *import, const char **how )
{
    bool unit_given = import->unit > 0, up_given = import->up != 0;
    *how = "units and up axis as given";
    tr_bvh_def def = tr_default_bvh_def();
    scan seen = { 0 };
    if ( unit_given && up_given )
        return true;
    if ( !scan_poses( bvh, &def, &seen ) )
        return false;
    unit_guess unit = guess_unit( &def, &bvh->skeleton, seen.size );
    if ( !unit_given )
        import->unit = unit.metres;
    if ( !up_given ) { // the clip decides where it is clear; rest poses may lie on their backs
        bool legs = seen.legs.z > def.upright * fabs( seen.legs.y );
        bool z = seen.stands_z > def.standing || ( legs && !( seen.stands_y > def.standing ) );
        import->up = z ? 'z' : 'y';
    }
    *how = import->up == 'z' ? unit.z_up : unit.y_up;
    if ( unit_given )
        *how = import->up == 'z' ? "units as given, Z up" : "units as given, Y up";
    return true;
}

const char *tr_bvh_guess( const tr_bvh *bvh, tr_bvh_import *import )
{
    const char *how;
    return tr_bvh_try_guess( bvh, import, &how ) ? how : NULL;
}

// The T-pose before the recording has whole degrees; no recorded pose has.
static bool is_in_whole_degrees( const tr_bvh *bvh, int frame )
{
    const double *values = bvh->values + (size_t)frame * (size_t)bvh->channel_count;
    for ( int j = 0; j < bvh->skeleton.joint_count; ++j )
        for ( int c = 0; c < bvh->layouts[j].count; ++c ) {
            double value = values[bvh->layouts[j].first + c];
            if ( bvh->layouts[j].channels[c] >= TR_BVH_X_ROTATION && value != floor( value ) )
                return false;
        }
    return true;
}

int tr_bvh_first_frame( const tr_bvh *bvh )
{
    return bvh->frame_count > 1 && has_cmu_names( &bvh->skeleton ) && is_in_whole_degrees( bvh, 0 ) &&
           !is_in_whole_degrees( bvh, 1 );
}
