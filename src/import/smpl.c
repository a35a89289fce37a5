// Poses of SMPL, SMPL-H and SMPL-X as AMASS and its kin keep them: rotation vectors of all joints and the way
// of the body's origin. They fit any skeleton with these joints; the one here is a mean adult, since the
// shapes of those models may not be passed on. Lengths: Winter, Biomechanics and Motor Control of Human
// Movement, figure 4.1 (after Drillis and Contini), as shares of the stature.
#include "import/bodies.h"

#include <string.h>

#define STATURE 1.70 // metres, a mean adult

typedef struct bone {
    const char *joint;
    vec3 offset; // shares of the stature, of the left side or the middle; Y up, Z forward, arms out
} bone;

static const bone bones[] = {
    { "pelvis", { 0, 0, 0 } },
    { "hip", { 0.052, -0.030, 0 } },
    { "knee", { 0, -0.245, 0 } },
    { "ankle", { 0, -0.246, 0 } },
    { "foot", { 0, -0.028, 0.078 } }, // the ball, 1.1 % above the floor
    { "spine1", { 0, 0.065, 0 } },
    { "spine2", { 0, 0.075, 0 } },
    { "spine3", { 0, 0.035, 0 } },
    { "neck", { 0, 0.125, 0 } },
    { "head", { 0, 0.050, 0.015 } },
    { "collar", { 0.045, 0.075, 0 } },
    { "shoulder", { 0.068, 0.012, 0 } },
    { "elbow", { 0.186, 0, 0 } },
    { "wrist", { 0.146, 0, 0 } },
    { "hand", { 0.050, 0, 0 } },
    { "jaw", { 0, 0.005, 0.030 } },
    { "eye", { 0.018, 0.035, 0.050 } },
    { "index1", { 0.055, 0, 0.013 } },
    { "index2", { 0.020, 0, 0 } },
    { "index3", { 0.014, 0, 0 } },
    { "middle1", { 0.056, 0, 0 } },
    { "middle2", { 0.021, 0, 0 } },
    { "middle3", { 0.015, 0, 0 } },
    { "ring1", { 0.053, 0, -0.012 } },
    { "ring2", { 0.019, 0, 0 } },
    { "ring3", { 0.014, 0, 0 } },
    { "pinky1", { 0.048, 0, -0.024 } },
    { "pinky2", { 0.013, 0, 0 } },
    { "pinky3", { 0.010, 0, 0 } },
    { "thumb1", { 0.014, -0.006, 0.014 } },
    { "thumb2", { 0.016, -0.004, 0.014 } },
    { "thumb3", { 0.014, -0.002, 0.010 } },
};

static const double sole = 0.011; // height of the ball of the foot above the floor, as a share of the stature

// Where the pelvis is in the models' own space, to a centimetre; their ways are those of its origin.
static const vec3 pelvis = { 0, -0.23, 0.03 };

static bool offset_of( const char *name, vec3 *out )
{
    tr_side side = strncmp( name, "left_", 5 ) == 0    ? TR_SIDE_LEFT
                   : strncmp( name, "right_", 6 ) == 0 ? TR_SIDE_RIGHT
                                                       : TR_SIDE_NONE;
    name += side == TR_SIDE_LEFT ? 5 : side == TR_SIDE_RIGHT ? 6 : 0;
    for ( size_t i = 0; i < sizeof bones / sizeof *bones; ++i )
        if ( strcmp( bones[i].joint, name ) == 0 ) {
            *out = v3_scale( STATURE, bones[i].offset );
            out->x *= side == TR_SIDE_RIGHT ? -1 : 1;
            return true;
        }
    return false;
}

static bool build_skeleton( tr_skeleton *skeleton, int joints, tr_error *error )
{
    for ( int j = 0; j < joints; ++j ) {
        char name[TR_LAYOUT_NAME];
        int parent;
        vec3 offset;
        if ( !tr_smpl_joint( joints, j, name, &parent ) || !offset_of( name, &offset ) )
            return tr_error_set( error, "there is no body of SMPL with %d joints", joints );
        if ( tr_skeleton_add( skeleton, name, parent, offset ) < 0 )
            return tr_error_memory( error );
    }
    return true;
}

// -------------------------------------------------------------------------------------------------- arrays

typedef struct part { // some joints' rotation vectors, one after the other in every frame
    const tr_array *array;
    int joints;
} part;

typedef struct poses {
    part parts[6];
    int part_count, joints, frames;
    const tr_array *way; // path of the origin, [frames][3]
    double fps;
} poses;

// frames × (3 joints), or frames × joints × 3; *joints 0: neither.
static int vectors_in( const tr_array *a )
{
    if ( a == NULL || a->kind != 'f' || a->count == 0 )
        return 0;
    if ( a->rank == 2 && a->shape[1] % 3 == 0 )
        return a->shape[1] / 3;
    return a->rank == 3 && a->shape[2] == 3 ? a->shape[1] : 0;
}

static bool add_part( poses *p, const tr_arrays *arrays, const char *name )
{
    const tr_array *a = tr_arrays_find( arrays, name );
    int joints = vectors_in( a );
    if ( joints == 0 || ( p->part_count > 0 && a->shape[0] != p->frames ) )
        return false;
    p->frames = a->shape[0];
    p->joints += joints;
    p->parts[p->part_count++] = ( part ){ a, joints };
    return true;
}

// One array of all joints, or several as SMPL-X names them.
static bool find_poses( poses *p, const tr_arrays *arrays )
{
    static const char *const ways[] = { "trans", "transl", "translation", "smpl_trans", NULL };
    static const char *const roots[] = { "root_orient", "global_orient", NULL };
    static const char *const bodies[] = { "pose_body", "body_pose", NULL };
    if ( !add_part( p, arrays, "poses" ) && !add_part( p, arrays, "pose" ) &&
         !add_part( p, arrays, "smpl_poses" ) ) {
        bool root = false, body = false;
        for ( int i = 0; roots[i] != NULL && !root; ++i )
            root = add_part( p, arrays, roots[i] );
        for ( int i = 0; root && bodies[i] != NULL && !body; ++i )
            body = add_part( p, arrays, bodies[i] );
        if ( !body )
            return false;
        if ( p->joints == 22 && tr_arrays_find( arrays, "pose_jaw" ) != NULL &&
             tr_arrays_find( arrays, "pose_eye" ) != NULL && add_part( p, arrays, "pose_jaw" ) )
            add_part( p, arrays, "pose_eye" );
        if ( ( p->joints == 22 || p->joints == 25 ) && !add_part( p, arrays, "pose_hand" ) &&
             add_part( p, arrays, "left_hand_pose" ) )
            add_part( p, arrays, "right_hand_pose" );
    }
    for ( int i = 0; ways[i] != NULL && p->way == NULL; ++i ) {
        const tr_array *a = tr_arrays_find( arrays, ways[i] );
        if ( a != NULL && a->kind == 'f' && a->rank == 2 && a->shape[0] == p->frames && a->shape[1] == 3 )
            p->way = a;
    }
    return p->way != NULL && p->frames > 0;
}

static vec3 vector_at( const tr_array *a, int frame, int index )
{
    size_t row = (size_t)frame * a->steps[0], step = a->steps[a->rank - 1];
    size_t at = row + ( a->rank == 3 ? (size_t)index * a->steps[1] : 3 * (size_t)index * step );
    return v3( tr_array_number( a, at ), tr_array_number( a, at + step ),
               tr_array_number( a, at + 2 * step ) );
}

// ---------------------------------------------------------------------------------------------------- motion

static bool fill_clip( const poses *p, tr_motion *motion, tr_error *error )
{
    for ( int f = 0; f < p->frames; ++f ) {
        quat *rotations = tr_clip_frame( &motion->clip, f );
        int j = 0;
        for ( int i = 0; i < p->part_count; ++i )
            for ( int k = 0; k < p->parts[i].joints && j < p->joints; ++k ) {
                vec3 turn = vector_at( p->parts[i].array, f, k );
                if ( !( v3_length( turn ) < 1e4 ) )
                    return tr_error_set( error, "frame %d is broken: the rotation of joint %d is none", f,
                                         j );
                rotations[j++] = q_from_vector( turn );
            }
        motion->clip.root[f] = v3_add( vector_at( p->way, f, 0 ), pelvis );
        if ( !( v3_length( motion->clip.root[f] ) < 1e7 ) )
            return tr_error_set( error, "frame %d is broken: the body is nowhere", f );
    }
    return true;
}

// AMASS has Z up, others Y: where the trunk points on average.
static bool is_z_up( const tr_motion *motion, char up )
{
    vec3 trunk = v3_zero;
    for ( int f = 0; f < motion->clip.frame_count; ++f )
        trunk = v3_add( trunk, q_rotate( tr_clip_frame( &motion->clip, f )[0], v3_y ) );
    return up == 'z' || ( up == 0 && trunk.z > fabs( trunk.y ) );
}

// Size of the body, in terms of the mean skeleton, that leaves its lowest foot on the floor at y = 0. The
// lowest frames of the clip (limits.lowest) are left out as noise.
static double size_of( const tr_motion *motion, double *ratios, tr_pose pose )
{
    const tr_import_limits limits = tr_default_import_limits();
    const tr_skeleton *skeleton = &motion->skeleton;
    int frames = motion->clip.frame_count;
    for ( int f = 0; f < frames; ++f ) {
        double low = INFINITY;
        tr_forward( skeleton, &motion->clip, f, pose );
        for ( int j = 0; j < skeleton->joint_count; ++j )
            if ( strstr( skeleton->joints[j].name, "foot" ) != NULL )
                low = fmin( low, pose.positions[j].y - pose.positions[0].y );
        ratios[f] = motion->clip.root[f].y / ( sole * STATURE - low );
    }
    double size = tr_quantile_of( ratios, frames, limits.lowest );
    return size > limits.smpl[0] && size < limits.smpl[1] ? size : 1;
}

static bool finish( tr_motion *motion, const tr_import_def *def, tr_log *warnings, tr_error *error )
{
    tr_skeleton *skeleton = &motion->skeleton;
    tr_clip *clip = &motion->clip;
    quat up = q_axis_angle( v3_x, -TR_PI / 2 );
    if ( is_z_up( motion, def->up ) )
        for ( int f = 0; f < clip->frame_count; ++f ) {
            clip->root[f] = q_rotate( up, clip->root[f] );
            tr_clip_frame( clip, f )[0] = q_unit( q_mul( up, tr_clip_frame( clip, f )[0] ) );
        }
    double *ratios = tr_alloc( (size_t)clip->frame_count, sizeof( double ) );
    tr_pose pose = { tr_alloc( (size_t)skeleton->joint_count, sizeof( quat ) ),
                     tr_alloc( (size_t)skeleton->joint_count, sizeof( vec3 ) ) };
    bool ok = ratios != NULL && pose.rotations != NULL && pose.positions != NULL;
    if ( ok ) {
        double size = size_of( motion, ratios, pose ), low = 0;
        for ( int j = 1; j < skeleton->joint_count; ++j )
            skeleton->joints[j].offset = v3_scale( size, skeleton->joints[j].offset );
        tr_forward_rest( skeleton, pose );
        for ( int j = 0; j < skeleton->joint_count; ++j )
            low = fmin( low, pose.positions[j].y );
        skeleton->joints[0].offset = v3( 0, size * sole * STATURE - low, 0 );
        tr_log_add(
            warnings,
            "poses of SMPL move a mean body of %.2f m, sized so that its feet are on the floor; the shape in "
            "the file is not used",
            size * STATURE );
    }
    tr_free( ratios );
    tr_free( pose.rotations );
    tr_free( pose.positions );
    return ok ? tr_skeleton_name_apart( skeleton, error ) && tr_skeleton_classify( skeleton, error )
              : tr_error_memory( error );
}

bool tr_read_smpl( tr_bodies_file *file, const tr_arrays *arrays, const tr_import_def *def, bool *found,
                   tr_log *warnings, tr_error *error )
{
    poses p = { 0 };
    char name[TR_LAYOUT_NAME];
    int parent;
    if ( !find_poses( &p, arrays ) )
        return true;
    if ( p.frames > TR_MAX_FRAMES )
        return tr_error_set( error, "%d frames are too many; cut the file into parts", p.frames );
    if ( !tr_smpl_joint( p.joints, 0, name, &parent ) )
        return tr_error_set( error, "poses of %d joints are none of SMPL (24), SMPL-H (52) or SMPL-X (55)",
                             p.joints );
    p.fps = def->rate > 0 ? def->rate : tr_rate_of_arrays( arrays );
    if ( p.fps <= 0 ) {
        p.fps = 30;
        tr_log_add( warnings,
                    "it does not say how many frames a second it has; 30 are assumed (source.rate in a "
                    "scene, --rate of convert)" );
    }
    tr_motion *motion = tr_bodies_add( file, "" );
    *found = true;
    return motion != NULL ? build_skeleton( &motion->skeleton, p.joints, error ) &&
                                tr_clip_alloc( &motion->clip, p.frames, p.joints, p.fps, false, error ) &&
                                fill_clip( &p, motion, error ) && finish( motion, def, warnings, error )
                          : tr_error_memory( error );
}
