// Reflection at x = 0. With S = diag(−1, 1, 1), world positions become S p and rotations S R S, whose
// quaternion is (x, −y, −z, w). Both commute with the product along a chain, so it is enough to reflect every
// local rotation and offset, taken from the partner on the other side.
#include "motion/parts.h"

typedef struct slot { // a slot of an open hash table: the joint with this parent, side and name
    uint64_t key;
    int joint; // -1 when free
} slot;

typedef struct pairing {
    const tr_skeleton *skeleton;
    int *partner;    // [joint_count] -1 until known
    tr_side *sides;  // [joint_count]
    uint64_t *names; // [joint_count] without side
    slot *slots;     // [slot_count], a power of two above 2 joint_count
    size_t slot_count;
} pairing;

static vec3 reflect( vec3 v )
{
    return v3( -v.x, v.y, v.z );
}

static quat reflect_rotation( quat q )
{
    return ( quat ){ q.x, -q.y, -q.z, q.w };
}

static tr_side other_side( tr_side side )
{
    return side == TR_SIDE_LEFT ? TR_SIDE_RIGHT : side == TR_SIDE_RIGHT ? TR_SIDE_LEFT : TR_SIDE_NONE;
}

static uint64_t mix( uint64_t key, uint64_t value )
{
    key = ( key ^ value ) * 0x9e3779b97f4a7c15u;
    return key ^ key >> 29;
}

static uint64_t place_key( int parent, tr_side side, uint64_t name )
{
    return mix( mix( mix( 1, (uint64_t)( parent + 1 ) ), (uint64_t)side ), name );
}

// Slot with this key, or the free one where it belongs.
static slot *find_slot( const pairing *p, uint64_t key )
{
    size_t mask = p->slot_count - 1;
    for ( size_t i = (size_t)key & mask;; i = ( i + 1 ) & mask )
        if ( p->slots[i].joint < 0 || p->slots[i].key == key )
            return &p->slots[i];
}

// Joints of the same name under one parent and on one side are matched in their order.
static void enter_joint( pairing *p, int j )
{
    const tr_joint *joint = &p->skeleton->joints[j];
    uint64_t hash;
    p->sides[j] = tr_name_without_side( joint->name, &hash );
    if ( p->sides[j] == TR_SIDE_NONE ) {
        p->sides[j] = joint->side;
        if ( joint->side != TR_SIDE_NONE )
            hash = (uint64_t)joint->role;
    }
    enum { MOST_ALIKE = 64 }; // children of one name: further ones have no partner
    for ( uint64_t again = 0;; ++again ) {
        p->names[j] = mix( hash, again );
        slot *s = find_slot( p, place_key( joint->parent, p->sides[j], p->names[j] ) );
        if ( s->joint >= 0 && again < MOST_ALIKE )
            continue;
        if ( s->joint < 0 )
            *s = ( slot ){ place_key( joint->parent, p->sides[j], p->names[j] ), j };
        return;
    }
}

// Parents first: the partner hangs on the parent's partner, on the other side, under the same name.
static void find_partner( pairing *p, int j )
{
    if ( p->partner[j] >= 0 )
        return;
    p->partner[j] = j;
    if ( j == 0 || p->sides[j] == TR_SIDE_NONE )
        if ( j == 0 || p->partner[p->skeleton->joints[j].parent] == p->skeleton->joints[j].parent )
            return;
    int parent = p->partner[p->skeleton->joints[j].parent];
    slot *s = find_slot( p, place_key( parent, other_side( p->sides[j] ), p->names[j] ) );
    if ( s->joint > j && p->partner[s->joint] < 0 ) {
        p->partner[j] = s->joint;
        p->partner[s->joint] = j;
    }
}

static bool pair_joints( pairing *p, tr_error *error )
{
    size_t n = (size_t)p->skeleton->joint_count;
    for ( p->slot_count = 16; p->slot_count < 2 * n + 2; )
        p->slot_count *= 2;
    p->partner = tr_alloc( n, sizeof( int ) );
    p->sides = tr_alloc( n, sizeof( tr_side ) );
    p->names = tr_alloc( n, sizeof( uint64_t ) );
    p->slots = tr_alloc( p->slot_count, sizeof( slot ) );
    if ( p->partner == NULL || p->sides == NULL || p->names == NULL || p->slots == NULL )
        return tr_error_memory( error );
    for ( size_t i = 0; i < p->slot_count; ++i )
        p->slots[i].joint = -1;
    for ( int j = 0; j < p->skeleton->joint_count; ++j ) {
        p->partner[j] = -1;
        enter_joint( p, j );
    }
    for ( int j = 0; j < p->skeleton->joint_count; ++j )
        find_partner( p, j );
    return true;
}

static void reflect_motion( tr_motion *out, const tr_motion *in, const int *partner )
{
    int n = in->skeleton.joint_count;
    for ( int j = 0; j < n; ++j ) {
        out->skeleton.joints[j].offset = reflect( in->skeleton.joints[partner[j]].offset );
        out->skeleton.joints[j].rest = reflect_rotation( in->skeleton.joints[partner[j]].rest );
    }
    for ( int f = 0; f < in->clip.frame_count; ++f ) {
        size_t at = (size_t)f * (size_t)n;
        out->clip.root[f] = reflect( in->clip.root[f] );
        for ( int j = 0; j < n; ++j ) {
            out->clip.rotations[at + j] = reflect_rotation( in->clip.rotations[at + partner[j]] );
            if ( in->clip.translations != NULL )
                out->clip.translations[at + j] = reflect( in->clip.translations[at + partner[j]] );
        }
    }
}

static void pairing_free( pairing *p )
{
    tr_free( p->partner );
    tr_free( p->sides );
    tr_free( p->names );
    tr_free( p->slots );
}

bool tr_motion_mirror( tr_motion *out, const tr_motion *in, tr_error *error )
{
    *out = ( tr_motion ){ 0 };
    pairing p = { .skeleton = &in->skeleton };
    bool ok = pair_joints( &p, error ) && tr_motion_copy( out, in, error );
    if ( ok )
        reflect_motion( out, in, p.partner );
    pairing_free( &p );
    return ok;
}

// With W a joint's rotation in the world and R that of the rest pose, W R⁻¹ is how far it is turned from
// rest, whatever the axes of the joint are. The partner's is reflected.
bool tr_pose_mirror( const tr_skeleton *skeleton, quat *local, tr_error *error )
{
    size_t n = (size_t)skeleton->joint_count;
    pairing p = { .skeleton = skeleton };
    quat *world = tr_alloc( n, sizeof( quat ) ), *rest = tr_alloc( n, sizeof( quat ) );
    bool ok = ( world != NULL && rest != NULL ) || tr_error_memory( error );
    ok = ok && pair_joints( &p, error );
    for ( size_t j = 0; ok && j < n; ++j ) {
        int parent = skeleton->joints[j].parent;
        world[j] = parent < 0 ? local[j] : q_mul( world[parent], local[j] );
        rest[j] = parent < 0 ? skeleton->joints[j].rest : q_mul( rest[parent], skeleton->joints[j].rest );
    }
    for ( size_t j = 0; ok && j < n; ++j ) { // local: the reflected rotation in the world
        int partner = p.partner[j];
        local[j] = q_mul( reflect_rotation( q_mul( world[partner], q_conj( rest[partner] ) ) ), rest[j] );
    }
    for ( size_t j = n; ok && j-- > 1; )
        local[j] = q_unit( q_mul( q_conj( local[skeleton->joints[j].parent] ), local[j] ) );
    pairing_free( &p );
    tr_free( world );
    tr_free( rest );
    return ok;
}
