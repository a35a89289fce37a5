// Skeletons from points: bones of one length each, and rotations that put the joints where the points are.
//
// Lengths are medians over the clip. What hangs on one joint moves as a rigid shape, so the shape of its
// children is the mean over the clip of what is seen, turned onto itself (Procrustes). The shape gives the
// joint's rotation where it has two directions; where there is one bone, the twist about it is missing:
// - an upper arm or a thigh turns so that the elbow or knee bends about its own axis, the more the limb is
//   bent: the normal of the bend counts by the square of its sine;
// - other bones take the twist of the joint above, and their share of that of the next shape ahead.
// Rest poses: people on two legs stand with their arms held out and look along +Z, whatever they do in the
// clip; other bodies rest as in the frame in which they are tallest.
#include "motion/stature.h"

#include <string.h>

typedef struct work {
    const tr_points *points;
    tr_points_def def;
    tr_skeleton *skeleton;
    tr_lists children;
    vec3 *shape;    // [joint_count] from the joint above, at rest
    vec3 *hinge;    // [joint_count] axis that the joint bends about, at rest; zero: none is known
    double *values; // [frame_count]
    vec3 *fitted;   // [joint_count] of the frame at hand
    quat *turns;    // [joint_count] world
    int reference;  // frame in which the body is tallest
    bool upright;   // on two legs
} work;

tr_points_def tr_default_points_def( void )
{
    return ( tr_points_def ){
        .straight = 0.05, .free_twist = 1e-9, .shape_frames = 200, .shape_rounds = 12, .root_rounds = 2 };
}

static const vec3 *seen_in( const work *w, int frame )
{
    return w->points->places + (size_t)frame * (size_t)w->points->joint_count;
}

static int child_count( const work *w, int joint )
{
    return w->children.first[joint + 1] - w->children.first[joint];
}

static int child_of( const work *w, int joint, int index )
{
    return w->children.items[w->children.first[joint] + index];
}

// ------------------------------------------------------------------------------------------------ lengths

static double median_length( work *w, int joint )
{
    int parent = w->points->parents[joint], count = w->points->frame_count;
    for ( int f = 0; f < count; ++f )
        w->values[f] = v3_distance( seen_in( w, f )[joint], seen_in( w, f )[parent] );
    return tr_quantile_of( w->values, count, 0.5 );
}

static int tallest_frame( const work *w )
{
    int best = 0;
    double most = -1;
    for ( int f = 0; f < w->points->frame_count; ++f ) {
        double low = INFINITY, high = -INFINITY;
        for ( int j = 0; j < w->points->joint_count; ++j ) {
            low = fmin( low, seen_in( w, f )[j].y );
            high = fmax( high, seen_in( w, f )[j].y );
        }
        if ( high - low > most ) {
            most = high - low;
            best = f;
        }
    }
    return best;
}

// --------------------------------------------------------------------------------------------- rest pose

static double side_of( tr_side side ) // along X
{
    return side == TR_SIDE_LEFT ? 1 : side == TR_SIDE_RIGHT ? -1 : 0;
}

// Where the way from the joint above leads at rest; zero: as it is seen.
static vec3 rest_way( const work *w, int joint )
{
    const tr_joint *j = &w->skeleton->joints[joint];
    double out = side_of( j->side );
    bool thumb = strcasestr( j->name, "thumb" ) != NULL;
    if ( !w->upright )
        return v3_zero;
    switch ( j->role ) {
    case TR_ROLE_SPINE:
    case TR_ROLE_NECK:
    case TR_ROLE_HEAD: return v3_y;
    case TR_ROLE_CLAVICLE:
    case TR_ROLE_UPPER_ARM:
    case TR_ROLE_FOREARM:
    case TR_ROLE_HAND: return v3( out, 0, 0 );
    case TR_ROLE_FINGER: return v3( out, 0, thumb ? 1 : 0 );
    case TR_ROLE_THIGH: return v3( out, -1, 0 );
    case TR_ROLE_SHIN:
    case TR_ROLE_FOOT: return v3( 0, -1, 0 );
    case TR_ROLE_TOE: return w->skeleton->joints[j->parent].role == TR_ROLE_FOOT ? v3( 0, -0.5, 1 ) : v3_z;
    default: return v3_zero;
    }
}

// Knees bend about +X, and elbows so that the forearm comes forward.
static vec3 rest_hinge( const work *w, int joint )
{
    const tr_joint *j = &w->skeleton->joints[joint];
    if ( !w->upright )
        return v3_zero;
    return j->role == TR_ROLE_SHIN      ? v3_x
           : j->role == TR_ROLE_FOREARM ? v3( 0, -side_of( j->side ), 0 )
                                        : v3_zero;
}

static mat3 weighted( quat turn, double weight )
{
    mat3 m = m3_from_quat( turn );
    return ( mat3 ){ v3_scale( weight, m.cx ), v3_scale( weight, m.cy ), v3_scale( weight, m.cz ) };
}

// Square of the size of the shape of a joint's children.
static double shape_size( const work *w, int joint )
{
    double sum = 0;
    for ( int i = 0; i < child_count( w, joint ); ++i ) {
        vec3 bone = w->shape[child_of( w, joint, i )];
        sum += v3_dot( bone, bone );
    }
    return sum;
}

// The rotation that turns the shape of a joint's children onto what is seen of it, from a place: the least
// sum of squares. Where that leaves it open, as near to `prior` as can be.
static quat turn_shape( const work *w, int joint, const vec3 *seen, vec3 at, quat prior )
{
    mat3 m = weighted( prior, w->def.free_twist * shape_size( w, joint ) );
    for ( int i = 0; i < child_count( w, joint ); ++i ) {
        int c = child_of( w, joint, i );
        m = m3_add_outer( m, v3_sub( seen[c], at ), w->shape[c] );
    }
    return q_unit( q_fit( m ) );
}

// Mean of a joint's children over the clip, as they are turned in the reference frame.
static void average_shape( work *w, int joint )
{
    int frames = w->points->frame_count, step = ( frames - 1 ) / w->def.shape_frames + 1;
    const vec3 *tallest = seen_in( w, w->reference );
    for ( int i = 0; i < child_count( w, joint ); ++i ) {
        int c = child_of( w, joint, i );
        w->shape[c] = v3_scale( median_length( w, c ), v3_unit( v3_sub( tallest[c], tallest[joint] ) ) );
    }
    for ( int round = 0; child_count( w, joint ) > 1 && round < w->def.shape_rounds; ++round ) {
        for ( int i = 0; i < child_count( w, joint ); ++i )
            w->fitted[child_of( w, joint, i )] = v3_zero;
        for ( int f = 0; f < frames; f += step ) {
            const vec3 *seen = seen_in( w, f );
            quat turn = turn_shape( w, joint, seen, seen[joint], q_identity );
            for ( int i = 0; i < child_count( w, joint ); ++i ) {
                int c = child_of( w, joint, i );
                vec3 way = v3_sub( seen[c], seen[joint] );
                w->fitted[c] = v3_add( w->fitted[c], q_unrotate( turn, way ) );
            }
        }
        for ( int i = 0; i < child_count( w, joint ); ++i ) {
            int c = child_of( w, joint, i );
            w->shape[c] = v3_scale( v3_length( w->shape[c] ), v3_unit( w->fitted[c] ) );
        }
    }
}

// Turns the shape from the reference frame to the rest pose. What has no place of its own there turns with
// the joint above, which w->turns has in the reference frame.
static void bring_to_rest( work *w, int joint )
{
    int parent = w->points->parents[joint];
    quat above = parent >= 0 ? w->turns[parent] : q_identity;
    mat3 m = weighted( q_conj( above ), w->def.free_twist * sqrt( shape_size( w, joint ) ) );
    for ( int i = 0; i < child_count( w, joint ); ++i ) {
        int c = child_of( w, joint, i );
        m = m3_add_outer( m, v3_unit( rest_way( w, c ) ), w->shape[c] );
    }
    quat turn = q_unit( q_fit( m ) );
    for ( int i = 0; i < child_count( w, joint ); ++i ) {
        int c = child_of( w, joint, i );
        vec3 way = v3_unit( rest_way( w, c ) );
        bool alone = child_count( w, joint ) == 1 && v3_dot( way, way ) > 0;
        w->shape[c] = alone ? v3_scale( v3_length( w->shape[c] ), way ) : q_rotate( turn, w->shape[c] );
    }
}

// ---------------------------------------------------------------------------------------------- rotations

// The rotation of the next shape down a chain of single bones, and how many bones lead there; 0: none does.
static int look_ahead( const work *w, int joint, const vec3 *seen, quat prior, quat *ahead )
{
    int bones = 0;
    for ( ; child_count( w, joint ) == 1; joint = child_of( w, joint, 0 ) )
        ++bones;
    if ( child_count( w, joint ) == 0 )
        return 0;
    *ahead = turn_shape( w, joint, seen, seen[joint], prior );
    return bones;
}

static quat turn_bone( const work *w, int joint, const vec3 *seen, vec3 at, quat above )
{
    int child = child_of( w, joint, 0 );
    vec3 way = v3_sub( seen[child], at ), bone = w->shape[child];
    if ( v3_length( bone ) < TR_SHORT_BONE || v3_length( way ) < TR_SHORT_BONE )
        return above;
    quat ahead, prior = above;
    int bones = look_ahead( w, joint, seen, above, &ahead );
    if ( bones > 0 )
        prior = q_slerp( above, ahead, 1.0 / ( bones + 1 ) );
    quat turn = q_mul( q_between( q_rotate( prior, bone ), way ), prior );
    vec3 axis = w->hinge[child];
    if ( v3_dot( axis, axis ) > 0 && child_count( w, child ) == 1 ) {
        vec3 next = v3_sub( seen[child_of( w, child, 0 )], seen[child] );
        vec3 normal = v3_cross( v3_unit( way ), v3_unit( next ) ); // its length is the sine of the bend
        mat3 m = m3_add_outer( weighted( turn, w->def.straight ), v3_unit( way ), v3_unit( bone ) );
        m = m3_add_outer( m, v3_scale( v3_length( normal ), normal ), axis );
        turn = q_fit( m );
    }
    return q_unit( q_mul( q_between( q_rotate( turn, bone ), way ), turn ) );
}

static void pose_joint( work *w, int joint, const vec3 *seen )
{
    int parent = w->points->parents[joint], children = child_count( w, joint );
    quat above = parent >= 0 ? w->turns[parent] : q_identity;
    w->turns[joint] = children == 0   ? above
                      : children == 1 ? turn_bone( w, joint, seen, w->fitted[joint], above )
                                      : turn_shape( w, joint, seen, w->fitted[joint], above );
    for ( int i = 0; i < children; ++i ) {
        int c = child_of( w, joint, i );
        w->fitted[c] = v3_add( w->fitted[joint], q_rotate( w->turns[joint], w->shape[c] ) );
    }
}

// Poses a frame. The root moves to where all joints miss their points least.
static void pose_frame( work *w, const vec3 *seen )
{
    vec3 root = seen[0];
    for ( int round = 0; round < w->def.root_rounds; ++round ) {
        vec3 missed = v3_zero;
        w->fitted[0] = root;
        for ( int j = 0; j < w->points->joint_count; ++j )
            pose_joint( w, j, seen );
        for ( int j = 0; j < w->points->joint_count; ++j )
            missed = v3_add( missed, v3_sub( seen[j], w->fitted[j] ) );
        if ( round + 1 < w->def.root_rounds )
            root = v3_mad( root, 1.0 / w->points->joint_count, missed );
    }
}

// ------------------------------------------------------------------------------------------------ the fit

static bool begin( work *w, tr_error *error )
{
    size_t joints = (size_t)w->points->joint_count;
    w->shape = tr_alloc( joints, sizeof( vec3 ) );
    w->hinge = tr_alloc( joints, sizeof( vec3 ) );
    w->values = tr_alloc( (size_t)w->points->frame_count, sizeof( double ) );
    w->fitted = tr_alloc( joints, sizeof( vec3 ) );
    w->turns = tr_alloc( joints, sizeof( quat ) );
    bool ok =
        w->shape != NULL && w->hinge != NULL && w->values != NULL && w->fitted != NULL && w->turns != NULL &&
        tr_lists_build( &w->children, w->points->parents, w->points->joint_count, w->points->joint_count );
    return ok || tr_error_memory( error );
}

static void finish( work *w )
{
    tr_lists_free( &w->children );
    tr_free( w->shape );
    tr_free( w->hinge );
    tr_free( w->values );
    tr_free( w->fitted );
    tr_free( w->turns );
}

// Parts of the body, by names and by the frame in which it is tallest.
static bool build_skeleton( work *w, tr_error *error )
{
    const tr_points *points = w->points;
    const vec3 *tallest = seen_in( w, w->reference );
    for ( int j = 0; j < points->joint_count; ++j ) {
        int parent = points->parents[j];
        vec3 way = parent >= 0 ? v3_sub( tallest[j], tallest[parent] ) : tallest[j];
        if ( tr_skeleton_add( w->skeleton, points->names[j], parent, way ) < 0 )
            return tr_error_memory( error );
    }
    return tr_skeleton_name_apart( w->skeleton, error ) && tr_skeleton_classify( w->skeleton, error );
}

static bool stands_on_two_legs( const tr_skeleton *skeleton )
{
    int left = tr_skeleton_find_role( skeleton, TR_ROLE_SHIN, TR_SIDE_LEFT, NULL, 0 );
    int right = tr_skeleton_find_role( skeleton, TR_ROLE_SHIN, TR_SIDE_RIGHT, NULL, 0 );
    return left == 1 && right == 1 && tr_limb_kind_count( skeleton, TR_LIMB_LEG ) == 2;
}

// Shapes at rest, parents first; then the skeleton has them, on the ground.
static bool find_shapes( work *w, tr_error *error )
{
    tr_joint *joints = w->skeleton->joints;
    const vec3 *tallest = seen_in( w, w->reference );
    w->upright = stands_on_two_legs( w->skeleton );
    for ( int j = 0; j < w->points->joint_count; ++j )
        w->hinge[j] = rest_hinge( w, j );
    for ( int j = 0; j < w->points->joint_count; ++j ) {
        average_shape( w, j );
        bring_to_rest( w, j );
        w->fitted[j] = tallest[j];
        pose_joint( w, j, tallest );
    }
    double low = 0;
    w->fitted[0] = v3_zero;
    for ( int j = 1; j < w->points->joint_count; ++j ) {
        joints[j].offset = w->shape[j];
        w->fitted[j] = v3_add( w->fitted[joints[j].parent], w->shape[j] );
        low = fmin( low, w->fitted[j].y );
    }
    joints[0].offset = v3( 0, -low, 0 );
    return tr_skeleton_classify( w->skeleton, error );
}

static void note_miss( tr_points_fit *fit, const work *w, int frame, double *sum )
{
    const vec3 *seen = seen_in( w, frame );
    for ( int j = 0; j < w->points->joint_count; ++j ) {
        double miss = v3_distance( seen[j], w->fitted[j] );
        *sum += miss;
        if ( miss > fit->most ) {
            fit->most = miss;
            fit->joint = j;
            fit->frame = frame;
        }
    }
}

static bool fit_motion( work *w, tr_motion *out, tr_points_fit *fit, tr_error *error )
{
    const tr_points *points = w->points;
    double sum = 0;
    w->reference = tallest_frame( w );
    if ( !build_skeleton( w, error ) || !find_shapes( w, error ) ||
         !tr_clip_alloc( &out->clip, points->frame_count, points->joint_count, points->fps, false, error ) )
        return false;
    *fit = ( tr_points_fit ){ 0 };
    for ( int f = 0; f < points->frame_count; ++f ) {
        quat *rotations = tr_clip_frame( &out->clip, f );
        if ( !tr_work_go_on( error ) )
            return false;
        pose_frame( w, seen_in( w, f ) );
        out->clip.root[f] = w->fitted[0];
        for ( int j = 0; j < points->joint_count; ++j ) {
            int parent = points->parents[j];
            rotations[j] =
                parent >= 0 ? q_unit( q_mul( q_conj( w->turns[parent] ), w->turns[j] ) ) : w->turns[j];
        }
        note_miss( fit, w, f, &sum );
    }
    fit->mean = sum / ( (double)points->frame_count * points->joint_count );
    return true;
}

bool tr_motion_from_points( tr_motion *out, const tr_points *points, const tr_points_def *def,
                            tr_points_fit *fit, tr_error *error )
{
    tr_points_fit own;
    work w = {
        .points = points, .def = def != NULL ? *def : tr_default_points_def(), .skeleton = &out->skeleton };
    *out = ( tr_motion ){ 0 };
    bool ok = begin( &w, error ) && fit_motion( &w, out, fit != NULL ? fit : &own, error );
    finish( &w );
    if ( !ok )
        tr_motion_free( out );
    return ok;
}
