// Inverse kinematics of single limbs. Solvers change local rotations only and then update the pose below.
// They take bone vectors from the pose instead of the skeleton, so that clips with joint translations keep
// them.
#include "fit/fit.h"

#include <assert.h>
#include <string.h>

tr_ik_def tr_default_ik_def( void )
{
    return ( tr_ik_def ){ .iterations = 30, .stretch = 0.9999, .nudge = 0.1 };
}

// ------------------------------------------------------------------------------------------ descendants

// One bit per joint. Parents precede children, so one pass through the indices finds all descendants.
typedef struct joint_set {
    uint64_t words[TR_MAX_JOINTS / 64 + 1];
} joint_set;

static bool contains( const joint_set *set, int joint )
{
    return ( set->words[joint >> 6] >> ( joint & 63 ) & 1 ) != 0;
}

static void insert( joint_set *set, int joint )
{
    set->words[joint >> 6] |= (uint64_t)1 << ( joint & 63 );
}

// The joint and everything below it. Returns the largest index in the set.
static int collect_below( const tr_skeleton *skeleton, int joint, joint_set *set )
{
    assert( joint >= 0 && joint < skeleton->joint_count && skeleton->joint_count <= TR_MAX_JOINTS );
    size_t first_word = (size_t)joint >> 6, end_word = ( (size_t)skeleton->joint_count + 63 ) >> 6;
    memset( set->words + first_word, 0, ( end_word - first_word ) * sizeof set->words[0] );
    insert( set, joint );
    int last = joint;
    for ( int j = joint + 1; j < skeleton->joint_count; ++j ) {
        int parent = skeleton->joints[j].parent;
        if ( parent >= joint && contains( set, parent ) ) {
            insert( set, j );
            last = j;
        }
    }
    return last;
}

// World transform of joint j, given that of its parent.
static void compose( const tr_skeleton *skeleton, const quat *local, tr_pose pose, int j, vec3 offset )
{
    int p = skeleton->joints[j].parent;
    if ( p < 0 ) { // the root's position does not depend on rotations
        pose.rotations[j] = local[j];
        return;
    }
    pose.positions[j] = v3_add( pose.positions[p], q_rotate( pose.rotations[p], offset ) );
    pose.rotations[j] = q_mul( pose.rotations[p], local[j] );
}

void tr_pose_refresh( const tr_skeleton *skeleton, const quat *local, tr_pose pose, int joint )
{
    joint_set below;
    int last = collect_below( skeleton, joint, &below );
    for ( int j = joint; j <= last; ++j )
        if ( contains( &below, j ) )
            compose( skeleton, local, pose, j, skeleton->joints[j].offset );
}

// As tr_pose_refresh, but with bone vectors from the pose. The first loop goes backwards and replaces
// positions by offsets, so that a parent still has its world position when its children need it. The second
// loop composes the new positions in place.
static void repose( const tr_skeleton *skeleton, const quat *local, tr_pose pose, const joint_set *set,
                    int joint, int last )
{
    for ( int j = last; j > joint; --j ) {
        if ( !contains( set, j ) )
            continue;
        int p = skeleton->joints[j].parent;
        vec3 bone = v3_sub( pose.positions[j], pose.positions[p] );
        pose.positions[j] = q_unrotate( pose.rotations[p], bone );
    }
    int parent = skeleton->joints[joint].parent;
    pose.rotations[joint] = parent < 0 ? local[joint] : q_mul( pose.rotations[parent], local[joint] );
    for ( int j = joint + 1; j <= last; ++j )
        if ( contains( set, j ) )
            compose( skeleton, local, pose, j, pose.positions[j] );
}

// --------------------------------------------------------------------------------------------- one joint

// Local rotation that gives a joint the world rotation `world`.
static quat local_for( const tr_skeleton *skeleton, tr_pose pose, int joint, quat world )
{
    int parent = skeleton->joints[joint].parent;
    return q_unit( parent < 0 ? world : q_mul( q_conj( pose.rotations[parent] ), world ) );
}

void tr_ik_orient( const tr_skeleton *skeleton, quat *local, tr_pose pose, int joint, quat rotation )
{
    joint_set below;
    int last = collect_below( skeleton, joint, &below );
    local[joint] = local_for( skeleton, pose, joint, rotation );
    repose( skeleton, local, pose, &below, joint, last );
}

// --------------------------------------------------------------------------------------------- two bones

#define PARALLEL 1e-9 // sine of an angle: directions are parallel, up to rounding

// Unit normal of the plane a limb bends in. For a straight limb the pole decides; without a pole it is the x
// axis of the middle joint, which is the hinge of most rigs.
static vec3 bend_axis( vec3 upper, vec3 lower, vec3 pole, quat middle )
{
    vec3 normal = v3_cross( upper, lower );
    if ( v3_length( normal ) > PARALLEL * v3_length( upper ) * v3_length( lower ) )
        return v3_unit( normal );
    vec3 along = v3_unit_or( upper, v3_unit( lower ) );
    vec3 wanted = v3_cross( pole, along );
    if ( v3_length( wanted ) > PARALLEL * v3_length( pole ) )
        return v3_unit( wanted );
    const double along_bone = 1e-3; // sine: the x axis is along the bone and cannot be the hinge
    vec3 hinge = q_rotate( middle, v3_x );
    hinge = v3_mad( hinge, -v3_dot( hinge, along ), along );
    return v3_length( hinge ) > along_bone ? v3_unit( hinge ) : v3_perpendicular( along );
}

// Angle between two bones of lengths a and b whose ends are d apart: with cos β = (d² − a² − b²) / 2ab,
// tan²(β/2) = ((a + b)² − d²) / (d² − (a − b)²), which is accurate for straight limbs too.
static double bend_angle( double a, double b, double d )
{
    double longer = fmax( ( a + b - d ) * ( a + b + d ), 0.0 );
    double shorter = fmax( ( d - a + b ) * ( d + a - b ), 0.0 );
    return 2.0 * atan2( sqrt( longer ), sqrt( shorter ) );
}

// Rotation about `axis` that brings the direction `from` as near to `to` as possible. Identity if one of them
// is parallel to the axis.
static quat turn_about( vec3 axis, vec3 from, vec3 to )
{
    vec3 unit = v3_unit( axis );
    vec3 f = v3_mad( from, -v3_dot( from, unit ), unit );
    vec3 t = v3_mad( to, -v3_dot( to, unit ), unit );
    double scale = v3_length( f ) * v3_length( t );
    if ( v3_length( f ) <= PARALLEL * v3_length( from ) || v3_length( t ) <= PARALLEL * v3_length( to ) ||
         !( scale > 0 ) )
        return q_identity;
    return q_axis_angle( unit, atan2( v3_dot( v3_cross( f, t ), unit ), v3_dot( f, t ) ) );
}

double tr_ik_two_bone( const tr_skeleton *skeleton, quat *local, tr_pose pose, const tr_limb_chain *chain,
                       vec3 target, vec3 pole )
{
    int root = chain->root, middle = chain->middle, end = chain->end;
    assert( root < middle && middle < end );
    vec3 upper = v3_sub( pose.positions[middle], pose.positions[root] );
    vec3 lower = v3_sub( pose.positions[end], pose.positions[middle] );
    vec3 reach = v3_sub( target, pose.positions[root] );
    double a = v3_length( upper ), b = v3_length( lower );
    double distance = clampd( v3_length( reach ), fabs( a - b ), a + b );

    vec3 axis = bend_axis( upper, lower, pole, pose.rotations[middle] );
    double bend_now = atan2( v3_length( v3_cross( upper, lower ) ), v3_dot( upper, lower ) );
    quat bend = q_identity;
    if ( a > 0 && b > 0 )
        bend = q_axis_angle( axis, bend_angle( a, b, distance ) - bend_now );
    vec3 span = v3_add( upper, q_rotate( bend, lower ) );
    quat aim = q_between( span, reach );
    quat twist = turn_about( q_rotate( aim, span ), q_rotate( aim, upper ), pole );

    joint_set below;
    int last = collect_below( skeleton, root, &below );
    quat root_world = q_mul( q_mul( twist, aim ), pose.rotations[root] );
    local[middle] = local_for( skeleton, pose, middle, q_mul( bend, pose.rotations[middle] ) );
    local[root] = local_for( skeleton, pose, root, root_world );
    repose( skeleton, local, pose, &below, root, last );
    return v3_distance( pose.positions[end], target );
}

// ------------------------------------------------------------------------------------------------- chain

// Σ over the chain of J_i J_iᵀ. Turning joint i by the vector w moves the end by w × r_i with r_i from the
// joint to the end, so J_i J_iᵀ = |r_i|² I − r_i r_iᵀ.
static mat3 chain_normal_matrix( const tr_skeleton *skeleton, tr_pose pose, int root, int end )
{
    mat3 m = { { 0 } };
    int j = end;
    do {
        j = skeleton->joints[j].parent;
        vec3 r = v3_sub( pose.positions[end], pose.positions[j] );
        double rr = v3_dot( r, r );
        m.cx = v3_add( m.cx, v3( rr - r.x * r.x, -r.x * r.y, -r.x * r.z ) );
        m.cy = v3_add( m.cy, v3( -r.y * r.x, rr - r.y * r.y, -r.y * r.z ) );
        m.cz = v3_add( m.cz, v3( -r.z * r.x, -r.z * r.y, rr - r.z * r.z ) );
    } while ( j != root );
    return m;
}

// Turns a joint's local rotation by a world rotation vector, in the pose before the step.
static void turn_local( const tr_skeleton *skeleton, quat *local, tr_pose pose, int joint, vec3 turn )
{
    int parent = skeleton->joints[joint].parent;
    vec3 in_parent = parent < 0 ? turn : q_unrotate( pose.rotations[parent], turn );
    local[joint] = q_unit( q_mul( q_from_vector( in_parent ), local[joint] ) );
}

// One step w_i = J_iᵀ y = r_i × y for every joint of the chain. Returns the largest angle.
static double turn_chain( const tr_skeleton *skeleton, quat *local, tr_pose pose, int root, int end, vec3 y )
{
    double largest = 0;
    int j = end;
    do {
        j = skeleton->joints[j].parent;
        vec3 turn = v3_cross( v3_sub( pose.positions[end], pose.positions[j] ), y );
        largest = fmax( largest, v3_length( turn ) );
        turn_local( skeleton, local, pose, j, turn );
    } while ( j != root );
    return largest;
}

static double chain_length( const tr_skeleton *skeleton, tr_pose pose, int root, int end )
{
    double length = 0;
    for ( int j = end; j != root; j = skeleton->joints[j].parent ) {
        assert( j > root );
        length += v3_distance( pose.positions[j], pose.positions[skeleton->joints[j].parent] );
    }
    return length;
}

// A straight chain with its target on the same line has no gradient. Bending an inner joint gives it one.
static void break_symmetry( const tr_skeleton *skeleton, quat *local, tr_pose pose, int root, int end,
                            double nudge )
{
    vec3 along = v3_sub( pose.positions[end], pose.positions[root] );
    int joint = skeleton->joints[end].parent;
    double half = 0.5 * v3_length( along );
    for ( int j = joint; j != root; j = skeleton->joints[j].parent )
        if ( v3_distance( pose.positions[j], pose.positions[end] ) <= half )
            joint = j;
    vec3 axis = bend_axis( along, v3_zero, v3_zero, pose.rotations[joint] );
    turn_local( skeleton, local, pose, joint, v3_scale( nudge, axis ) );
}

// Steps towards a target out of reach grow without bound as the chain straightens. So the chain aims at a
// point that it reaches slightly bent.
static vec3 within_reach( vec3 target, vec3 root, double most )
{
    vec3 way = v3_sub( target, root );
    double far = v3_length( way );
    return far > most ? v3_mad( root, most / far, way ) : target;
}

// Levenberg–Marquardt with damping that follows the error, λ = ½|e|² + ε: short steps far from the target,
// Newton steps near it, bounded steps if it is out of reach. There are three rows, so (J Jᵀ + λ I) is 3×3 for
// any number of joints, and Jᵀ y is the smallest turn that makes the step.
double tr_ik_chain( const tr_skeleton *skeleton, quat *local, tr_pose pose, int root, int end, vec3 target,
                    const tr_ik_def *def )
{
    // Shares of the length: at the target; clearly off it. Radians: no progress while off; no progress at
    // all.
    const double there = 1e-12, off = 1e-6, still = 1e-9, none = 1e-14;
    assert( root < end );
    joint_set below;
    int last = collect_below( skeleton, root, &below );
    double length = chain_length( skeleton, pose, root, end );
    double left = v3_distance( pose.positions[end], target );
    if ( left <= there * length ) // at the target already, even if stretched
        return left;
    vec3 goal = within_reach( target, pose.positions[root], def->stretch * length );
    left = v3_distance( pose.positions[end], goal );
    for ( int i = 0; i < def->iterations && left > there * length; ++i ) {
        vec3 e = v3_sub( goal, pose.positions[end] );
        if ( left > 0.5 * length ) // the range of the linear model
            e = v3_scale( 0.5 * length / left, e );
        double damping = 0.5 * v3_dot( e, e ) + there * length * length;
        vec3 y = m3_solve_damped( chain_normal_matrix( skeleton, pose, root, end ), damping, e );
        double turned = turn_chain( skeleton, local, pose, root, end, y );
        if ( turned < still && left > off * length )
            break_symmetry( skeleton, local, pose, root, end, def->nudge );
        else if ( turned < none )
            break;
        repose( skeleton, local, pose, &below, root, last );
        left = v3_distance( pose.positions[end], goal );
    }
    return v3_distance( pose.positions[end], target );
}

// ------------------------------------------------------------------------------------------------- limbs

bool tr_limb_chain_find( const tr_skeleton *skeleton, int joint, tr_limb_chain *out )
{
    int limb = skeleton->joints[joint].limb;
    tr_limb_kind kind = skeleton->limbs[limb].kind;
    if ( kind != TR_LIMB_ARM && kind != TR_LIMB_LEG )
        return false;
    *out = ( tr_limb_chain ){ -1, -1, joint, false };
    for ( int j = joint; j > 0 && skeleton->joints[j].limb == limb; j = skeleton->joints[j].parent ) {
        tr_role role = skeleton->joints[j].role;
        if ( role == TR_ROLE_HAND || role == TR_ROLE_FOOT )
            out->end = j;
        if ( role != TR_ROLE_CLAVICLE )
            out->root = j;
    }
    int between = 0;
    for ( int j = skeleton->joints[out->end].parent; j > out->root; j = skeleton->joints[j].parent )
        if ( tr_bone_length( skeleton, j ) > TR_SHORT_BONE ) {
            out->middle = j;
            between++;
        }
    out->two_bones = between == 1;
    return out->root >= 0 && between >= 1;
}

double tr_ik_limb( const tr_skeleton *skeleton, quat *local, tr_pose pose, const tr_limb_chain *chain,
                   vec3 target, quat rotation, const tr_ik_def *def )
{
    double left = chain->two_bones
                      ? tr_ik_two_bone( skeleton, local, pose, chain, target, v3_zero )
                      : tr_ik_chain( skeleton, local, pose, chain->root, chain->end, target, def );
    tr_ik_orient( skeleton, local, pose, chain->end, rotation );
    return left;
}
