// Heights of the feet above the floor, for bodies from another file.
//
// A skeleton does not show its soles. One file has its ankles 6 cm above the floor and its toes on it,
// another has them 12 and 4 cm above, with no joint below. A file's own contacts show it: the height at which
// each joint of a foot usually rests on the ground. From these heights come how high a foot
// is put (footing.c), how steep its bone is when its sole is flat (posture.c), and how high the hips are
// carried (copied.c). A file in which no foot ever stands is taken to stand in its rest pose, if that is
// upright; where the heights of one body are unknown, they go by the size of the foot. Files of one skeleton,
// in any size, share the heights of the source.
#include "actor/actor.h"

typedef struct foot_rests {
    double *heights; // [joint_count]
    bool *known;     // [joint_count]
} foot_rests;

static bool rests_alloc( foot_rests *rests, const tr_skeleton *skeleton )
{
    size_t n = (size_t)skeleton->joint_count;
    *rests = ( foot_rests ){ tr_alloc( n, sizeof( double ) ), tr_alloc( n, sizeof( bool ) ) };
    return rests->heights != NULL && rests->known != NULL;
}

static void rests_free( foot_rests *rests )
{
    tr_free( rests->heights );
    tr_free( rests->known );
}

static bool any_known( const foot_rests *rests, const tr_skeleton *skeleton )
{
    for ( int j = 0; j < skeleton->joint_count; ++j )
        if ( rests->known[j] )
            return true;
    return false;
}

// Whether every thigh is well above its own foot. A rest pose that lies or is folded does not stand.
static bool stands( const tr_skeleton *skeleton, const vec3 *positions )
{
    double leg = tr_skeleton_leg_length( skeleton );
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        int up = j;
        while ( up > 0 && skeleton->joints[up].role != TR_ROLE_THIGH )
            up = skeleton->joints[up].parent;
        if ( skeleton->joints[j].role == TR_ROLE_FOOT && positions[up].y - positions[j].y < 0.5 * leg )
            return false;
    }
    return true;
}

static bool rests_at_rest( foot_rests *rests, const tr_contact_def *def, const tr_skeleton *skeleton,
                           double fps, tr_error *error )
{
    size_t n = (size_t)skeleton->joint_count;
    tr_world world = { .joint_count = skeleton->joint_count, .frame_count = 1 };
    world.rotations = tr_alloc( n, sizeof( quat ) );
    world.positions = tr_alloc( n, sizeof( vec3 ) );
    bool ok = ( world.rotations != NULL && world.positions != NULL ) || tr_error_memory( error );
    if ( ok ) {
        tr_forward_rest( skeleton, tr_world_pose( &world, 0 ) );
        double low = INFINITY;
        for ( size_t j = 0; j < n; ++j )
            low = fmin( low, world.positions[j].y );
        if ( stands( skeleton, world.positions ) )
            ok = tr_contact_rests( skeleton, &world, fps, def, low, rests->heights, rests->known, error );
    }
    tr_world_free( &world );
    return ok;
}

static bool rests_of_file( foot_rests *rests, const tr_contact_def *def, const tr_motion *file, double ground,
                           tr_error *error )
{
    tr_world world = { 0 };
    bool ok = rests_alloc( rests, &file->skeleton ) || tr_error_memory( error );
    ok = ok && tr_world_build( &world, file, error ) &&
         tr_contact_rests( &file->skeleton, &world, file->clip.fps, def, ground, rests->heights, rests->known,
                           error );
    tr_world_free( &world );
    return ok;
}

// The target in its own size: files are scaled limb by limb.
static double size_of( const tr_actor *actor, const tr_skeleton *file, int joint )
{
    double before = tr_bone_length( file, joint ), now = tr_bone_length( &actor->target, joint );
    return before > TR_NO_SIZE ? now / before
                               : tr_stature( &actor->target ) / fmax( tr_stature( file ), TR_NO_SIZE );
}

// No sole is below the floor: then the floor of the file is at the joints.
static double floor_of( const foot_rests *rests, const tr_skeleton *skeleton )
{
    double low = 0;
    for ( int j = 0; j < skeleton->joint_count; ++j )
        if ( rests->known[j] )
            low = fmin( low, rests->heights[j] );
    return low;
}

static void pair_rests( tr_actor *actor, const foot_rests *source, const foot_rests *target,
                        const tr_skeleton *file )
{
    double floor = floor_of( target, file );
    for ( int j = 0; j < actor->target.joint_count; ++j ) {
        int from = actor->map[j];
        if ( from >= 0 && !tr_joint_blends( actor, j ) && source->known[from] && target->known[j] )
            actor->soles[j] = ( tr_sole ){ true, source->heights[from],
                                           size_of( actor, file, j ) * ( target->heights[j] - floor ) };
    }
}

// Heights by which feet of the source are known are those of the same skeleton in another size. What the
// other file shows of them may be a rest pose in the air.
static void scale_rests( tr_actor *actor, const foot_rests *source, const tr_skeleton *file, double ratio )
{
    for ( int j = 0; j < actor->target.joint_count; ++j ) {
        int from = actor->map[j];
        if ( from >= 0 && !tr_joint_blends( actor, j ) && source->known[from] )
            actor->soles[j] = ( tr_sole ){ true, source->heights[from],
                                           size_of( actor, file, j ) * ratio * source->heights[from] };
    }
}

// Whether two skeletons have the same bones up to one size; *ratio is that of b against a.
static bool are_alike( const tr_skeleton *a, const tr_skeleton *b, double slack, double *ratio )
{
    double own = 0, other = 0;
    if ( a->joint_count != b->joint_count )
        return false;
    for ( int j = 1; j < a->joint_count; ++j ) {
        own += tr_bone_length( a, j );
        other += tr_bone_length( b, j );
    }
    if ( !( own > TR_NO_SIZE ) )
        return false;
    *ratio = other / own;
    for ( int j = 1; j < a->joint_count; ++j )
        if ( a->joints[j].parent != b->joints[j].parent ||
             v3_distance( v3_scale( *ratio, a->joints[j].offset ), b->joints[j].offset ) >
                 slack * tr_stature( b ) )
            return false;
    return true;
}

// Whether each joint is driven by the one of the same number.
static bool drives_itself( const tr_actor *actor, const tr_skeleton *source )
{
    for ( int j = 0; j < actor->target.joint_count; ++j )
        if ( j >= source->joint_count || ( actor->map[j] != j && !actor->target.joints[j].end_site ) )
            return false;
    return true;
}

bool tr_actor_ground( tr_actor *actor, const tr_contact_def *def, const tr_motion *source_file,
                      const tr_motion *target_file, double ground, double same_bone, tr_error *error )
{
    foot_rests source = { 0 }, target = { 0 };
    actor->soles = tr_alloc( (size_t)actor->target.joint_count, sizeof( tr_sole ) );
    bool ok = actor->soles != NULL || tr_error_memory( error );
    ok = ok && rests_of_file( &source, def, source_file, ground, error ) &&
         rests_of_file( &target, def, target_file, 0, error );
    double ratio = 1;
    bool alike = ok && drives_itself( actor, &source_file->skeleton ) &&
                 are_alike( &source_file->skeleton, &target_file->skeleton, same_bone, &ratio ) &&
                 any_known( &source, &source_file->skeleton );
    if ( ok && !alike && !any_known( &target, &target_file->skeleton ) )
        ok = rests_at_rest( &target, def, &target_file->skeleton, target_file->clip.fps, error );
    if ( alike ) {
        actor->foreign = false; // no limb is of another shape
        scale_rests( actor, &source, &target_file->skeleton, ratio );
    } else if ( ok )
        pair_rests( actor, &source, &target, &target_file->skeleton );
    rests_free( &source );
    rests_free( &target );
    return ok;
}

tr_sole tr_actor_sole( const tr_actor *actor, int joint )
{
    return actor->soles != NULL ? actor->soles[joint] : ( tr_sole ){ 0 };
}

tr_sole tr_actor_ankles( const tr_actor *actor )
{
    tr_sole sum = { 0 };
    int count = 0;
    for ( int j = 0; j < actor->target.joint_count; ++j ) {
        tr_sole sole = tr_actor_sole( actor, j );
        if ( actor->target.joints[j].role != TR_ROLE_FOOT || !sole.known )
            continue;
        sum = ( tr_sole ){ true, sum.source + sole.source, sum.target + sole.target };
        count++;
    }
    return sum.known ? ( tr_sole ){ true, sum.source / count, sum.target / count } : sum;
}
