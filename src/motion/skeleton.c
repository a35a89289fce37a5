#include "motion/motion.h"

#include <assert.h>
#include <string.h>

void tr_skeleton_free( tr_skeleton *skeleton )
{
    for ( int j = 0; j < skeleton->joint_count; ++j )
        tr_free( skeleton->joints[j].name );
    tr_free( skeleton->joints );
    tr_free( skeleton->limbs );
    *skeleton = ( tr_skeleton ){ 0 };
}

int tr_skeleton_add( tr_skeleton *skeleton, const char *name, int parent, vec3 offset )
{
    int index = skeleton->joint_count;
    assert( parent < index && ( parent >= 0 || index == 0 ) );
    char *copy = tr_string_copy( name );
    if ( copy == NULL || !tr_array_reserve( (void **)&skeleton->joints, &skeleton->joint_capacity, index + 1,
                                            sizeof( tr_joint ) ) ) {
        tr_free( copy );
        return -1;
    }
    skeleton->joints[index] =
        ( tr_joint ){ .name = copy, .parent = parent, .offset = offset, .rest = q_identity };
    skeleton->joint_count++;
    return index;
}

// Names that are taken, and for each the last number that was put behind it. Every number is tried once, so
// that the work grows with the number of joints.
typedef struct taken_name {
    char *name; // NULL: free
    int last;
} taken_name;

typedef struct taken_names {
    taken_name *slots; // [slot_count] open hash table
    size_t slot_count; // a power of two, more than twice as many as names
} taken_names;

// The entry of a name; `*is_new`: no joint had it. NULL when out of memory.
static taken_name *take_name( taken_names *taken, const char *name, bool *is_new )
{
    size_t at = (size_t)tr_hash_bytes( TR_HASH_START, name, strlen( name ) ) & ( taken->slot_count - 1 );
    while ( taken->slots[at].name != NULL && strcmp( taken->slots[at].name, name ) != 0 )
        at = ( at + 1 ) & ( taken->slot_count - 1 );
    taken_name *entry = &taken->slots[at];
    *is_new = entry->name == NULL;
    if ( *is_new ) {
        entry->name = tr_string_copy( name );
        entry->last = 1;
    }
    return entry->name != NULL ? entry : NULL;
}

// A name that no joint has. End sites go by the joint they end, as in files, which do not name them.
static char *free_name( const tr_skeleton *skeleton, int joint, taken_names *taken )
{
    const tr_joint *own = &skeleton->joints[joint];
    const char *stem = own->end_site && own->parent >= 0 ? skeleton->joints[own->parent].name : own->name;
    const char *end = own->end_site && own->parent >= 0 ? "_End" : "";
    bool is_new = false;
    char *name = tr_string_format( "%.200s%s", stem, end );
    taken_name *base = name != NULL ? take_name( taken, name, &is_new ) : NULL;
    while ( base != NULL && !is_new ) {
        tr_free( name );
        name = tr_string_format( "%.200s%s_%d", stem, end, ++base->last );
        if ( name == NULL || take_name( taken, name, &is_new ) == NULL )
            base = NULL;
    }
    if ( base != NULL )
        return name;
    tr_free( name );
    return NULL;
}

static bool rename_doubled( tr_skeleton *skeleton, bool *renamed, taken_names *taken )
{
    bool ok = true;
    for ( int j = 0; ok && j < skeleton->joint_count; ++j ) {
        bool is_new = false;
        ok = take_name( taken, skeleton->joints[j].name, &is_new ) != NULL;
        renamed[j] = !is_new;
    }
    for ( int j = 0; ok && j < skeleton->joint_count; ++j ) {
        tr_joint *joint = &skeleton->joints[j];
        renamed[j] = renamed[j] || ( joint->end_site && joint->parent >= 0 && renamed[joint->parent] );
        if ( !renamed[j] )
            continue;
        char *name = free_name( skeleton, j, taken );
        ok = name != NULL;
        if ( ok ) {
            tr_free( joint->name );
            joint->name = name;
        }
    }
    return ok;
}

bool tr_depth_first_places( const int *parents, int count, int *places )
{
    int *size = tr_alloc( 2 * (size_t)count, sizeof( int ) );
    if ( size == NULL )
        return false;
    int *next = size + count;
    for ( int j = count - 1; j >= 0; --j ) {
        size[j] += 1;
        if ( j > 0 )
            size[parents[j]] += size[j];
    }
    for ( int j = 0; j < count; ++j ) {
        places[j] = parents[j] < 0 ? 0 : next[parents[j]];
        next[j] = places[j] + 1;
        if ( parents[j] >= 0 )
            next[parents[j]] += size[j];
    }
    tr_free( size );
    return true;
}

bool tr_skeleton_name_apart( tr_skeleton *skeleton, tr_error *error )
{
    size_t count = (size_t)skeleton->joint_count;
    taken_names taken = { .slot_count = 4 };
    while ( taken.slot_count < 6 * count ) // old names, new ones, and what these are made from
        taken.slot_count *= 2;
    bool *renamed = tr_alloc( count, sizeof( bool ) );
    taken.slots = tr_alloc( taken.slot_count, sizeof( taken_name ) );
    bool ok = renamed != NULL && taken.slots != NULL && rename_doubled( skeleton, renamed, &taken );
    for ( size_t i = 0; taken.slots != NULL && i < taken.slot_count; ++i )
        tr_free( taken.slots[i].name );
    tr_free( taken.slots );
    tr_free( renamed );
    return ok || tr_error_memory( error );
}

bool tr_skeleton_copy( tr_skeleton *out, const tr_skeleton *in, tr_error *error )
{
    *out = ( tr_skeleton ){ 0 };
    for ( int j = 0; j < in->joint_count; ++j ) {
        const tr_joint *from = &in->joints[j];
        if ( tr_skeleton_add( out, from->name, from->parent, from->offset ) < 0 )
            goto failed;
        char *name = out->joints[j].name;
        out->joints[j] = *from;
        out->joints[j].name = name;
    }
    if ( in->limb_count > 0 ) {
        out->limbs = tr_alloc( (size_t)in->limb_count, sizeof( tr_limb ) );
        if ( out->limbs == NULL )
            goto failed;
        memcpy( out->limbs, in->limbs, (size_t)in->limb_count * sizeof( tr_limb ) );
        out->limb_count = in->limb_count;
    }
    return true;
failed:
    tr_skeleton_free( out );
    return tr_error_memory( error );
}

int tr_skeleton_find( const tr_skeleton *skeleton, const char *name )
{
    for ( int j = 0; j < skeleton->joint_count; ++j )
        if ( strcmp( skeleton->joints[j].name, name ) == 0 )
            return j;
    return -1;
}

int tr_skeleton_find_limb( const tr_skeleton *skeleton, const char *name )
{
    for ( int i = 0; i < skeleton->limb_count; ++i )
        if ( strcmp( skeleton->limbs[i].name, name ) == 0 )
            return i;
    return -1;
}

int tr_skeleton_find_role( const tr_skeleton *skeleton, tr_role role, tr_side side, int *joints,
                           int capacity )
{
    int count = 0;
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        if ( skeleton->joints[j].role != role || skeleton->joints[j].side != side )
            continue;
        if ( count < capacity )
            joints[count] = j;
        count++;
    }
    return count;
}

double tr_bone_length( const tr_skeleton *skeleton, int joint )
{
    return v3_length( skeleton->joints[joint].offset );
}

bool tr_joint_is_above( const tr_skeleton *skeleton, int above, int joint )
{
    while ( joint > above )
        joint = skeleton->joints[joint].parent;
    return joint == above;
}

bool tr_joint_carries_pelvis( const tr_skeleton *skeleton, int joint )
{
    for ( int j = joint + 1; j < skeleton->joint_count; ++j )
        if ( skeleton->joints[j].role == TR_ROLE_ROOT && tr_joint_is_above( skeleton, joint, j ) )
            return true;
    return false;
}

// ---------------------------------------------------------------------------------------------- measures

// Rest position of one joint without any memory: composes its ancestors from the joint upwards.
static vec3 rest_position( const tr_skeleton *skeleton, int joint )
{
    vec3 p = v3_zero;
    for ( int j = joint; j >= 0; j = skeleton->joints[j].parent ) {
        if ( j != joint )
            p = q_rotate( skeleton->joints[j].rest, p );
        p = v3_add( skeleton->joints[j].offset, p );
    }
    return p;
}

// Lowest and highest joint of the rest pose. Without memory for a pose it takes the slow way.
static void rest_extent( const tr_skeleton *skeleton, double *low, double *high )
{
    size_t n = (size_t)skeleton->joint_count;
    tr_pose pose = { tr_alloc( n, sizeof( quat ) ), tr_alloc( n, sizeof( vec3 ) ) };
    bool posed = pose.rotations != NULL && pose.positions != NULL;
    if ( posed )
        tr_forward_rest( skeleton, pose );
    *low = *high = skeleton->joints[0].offset.y;
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        double y = posed ? pose.positions[j].y : rest_position( skeleton, j ).y;
        *low = fmin( *low, y );
        *high = fmax( *high, y );
    }
    tr_free( pose.rotations );
    tr_free( pose.positions );
}

double tr_skeleton_height( const tr_skeleton *skeleton )
{
    double low, high;
    rest_extent( skeleton, &low, &high );
    return high - low;
}

// Length of the bones from `end` up to the first joint of its limb, or to its thigh when that comes earlier.
static double length_above( const tr_skeleton *skeleton, int end )
{
    double length = 0;
    for ( int j = end; skeleton->joints[j].role != TR_ROLE_THIGH; j = skeleton->joints[j].parent ) {
        int parent = skeleton->joints[j].parent;
        if ( parent < 0 || skeleton->joints[parent].limb != skeleton->joints[j].limb )
            break;
        length += tr_bone_length( skeleton, j );
    }
    return length;
}

// A leg ends at its foot; a spider's, which has none, at its last joint.
static double limb_leg_length( const tr_skeleton *skeleton, int limb )
{
    double longest = 0;
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        const tr_joint *joint = &skeleton->joints[j];
        if ( joint->limb != limb )
            continue;
        if ( joint->role == TR_ROLE_FOOT )
            return length_above( skeleton, j );
        if ( joint->role == TR_ROLE_TOE )
            longest = fmax( longest, length_above( skeleton, j ) );
    }
    return longest;
}

double tr_skeleton_leg_length( const tr_skeleton *skeleton )
{
    double sum = 0;
    int legs = 0;
    for ( int i = 0; i < skeleton->limb_count; ++i ) {
        double length = skeleton->limbs[i].kind == TR_LIMB_LEG ? limb_leg_length( skeleton, i ) : 0;
        sum += length;
        legs += length > 0;
    }
    if ( legs > 0 )
        return sum / legs;
    double low, high;
    rest_extent( skeleton, &low, &high );
    return skeleton->joints[0].offset.y - low;
}

// ------------------------------------------------------------------------------------------------ scaling

tr_body_scale tr_default_body_scale( void )
{
    return ( tr_body_scale ){ .scale = 1.0 };
}

// How closely an entry fits a limb: 0 not at all, more is closer.
static int entry_rank( const char *entry, const tr_limb *limb )
{
    if ( strcmp( entry, limb->name ) == 0 )
        return 4;
    if ( ( limb->kind == TR_LIMB_ARM && strcmp( entry, "arms" ) == 0 ) ||
         ( limb->kind == TR_LIMB_LEG && strcmp( entry, "legs" ) == 0 ) )
        return 3;
    if ( ( limb->side == TR_SIDE_LEFT && strcmp( entry, "left" ) == 0 ) ||
         ( limb->side == TR_SIDE_RIGHT && strcmp( entry, "right" ) == 0 ) )
        return 2;
    return strcmp( entry, "all" ) == 0 ? 1 : 0;
}

double tr_limb_lookup( const tr_limb_value *values, int count, const tr_limb *limb )
{
    int best = 0;
    double value = 1.0;
    for ( int i = 0; i < count; ++i ) {
        int rank = entry_rank( values[i].limb, limb );
        if ( rank > 0 && rank >= best ) { // the later one of two that fit alike
            best = rank;
            value = values[i].value;
        }
    }
    return value;
}

// The bone from parent to joint belongs to the parent's limb.
static double bone_factor( const tr_skeleton *skeleton, int joint, const tr_body_scale *scale )
{
    if ( joint == 0 || skeleton->limb_count == 0 )
        return scale->scale;
    int limb = skeleton->joints[skeleton->joints[joint].parent].limb;
    return scale->scale * tr_limb_lookup( scale->limbs, scale->limb_count, &skeleton->limbs[limb] );
}

bool tr_skeleton_scaled( tr_skeleton *out, const tr_skeleton *in, const tr_body_scale *scale,
                         tr_error *error )
{
    assert( scale->scale > 0 && isfinite( scale->scale ) );
    if ( !tr_skeleton_copy( out, in, error ) )
        return false;
    for ( int j = 0; j < in->joint_count; ++j )
        out->joints[j].offset = v3_scale( bone_factor( in, j, scale ), in->joints[j].offset );
    if ( scale->limb_count > 0 ) { // shorter legs: the rest pose stands where it stood
        double low_before, low_after, high;
        rest_extent( in, &low_before, &high );
        rest_extent( out, &low_after, &high );
        out->joints[0].offset.y += scale->scale * low_before - low_after;
    }
    return true;
}
