// Rest poses from skins. What the nodes of a file say of its joints may be any pose, such as a frame of its
// animation; a skin tells where its joints were when the mesh was bound to them. That is taken for the rest
// where it is the same skeleton, in bones of the same lengths, in another pose.
#include "import/reader.h"

#include <string.h>

typedef struct binder {
    tr_import_limits limits;
    struct tr_import_file *file;
    const tr_affine *nodes; // [node_count] rest of the nodes
    tr_affine *rest;        // [node_count] rest of the skins, where known
    bool *known;            // [node_count]
    int *joints;            // [joint_count] nodes of the skin at hand, parents first
    int *above;             // [joint_count] the next one above, -1: none
    tr_affine *bound;       // [joint_count] in the skin's own space
    int joint_count, joint_capacity, above_capacity, bound_capacity;
    int *rank; // [node_count] in the order of the file
    int *slot; // [node_count] joint of the skin at hand, -1: none
    long steps;
    double size; // of the skin's joints
} binder;

static tr_affine inverse_of( tr_affine m )
{
    mat3 linear = m3_inverse( m.linear );
    return ( tr_affine ){ linear, v3_scale( -1, m3_mulv( linear, m.position ) ) };
}

static double scale_of( mat3 m )
{
    return ( v3_length( m.cx ) + v3_length( m.cy ) + v3_length( m.cz ) ) / 3;
}

static bool is_sound( const binder *b, tr_affine m )
{
    double scale = scale_of( m.linear );
    return v3_finite( m.position ) && scale < 1e9 && scale > b->limits.no_scale && m3_det( m.linear ) > 0 &&
           v3_length( m.position ) < b->limits.farthest;
}

// ------------------------------------------------------------------------------------------------ one skin

static bool take_joints( binder *b, int skin, bool *sound, tr_error *error )
{
    int node;
    tr_affine place;
    b->joint_count = 0;
    *sound = true;
    for ( int i = 0; *sound && b->file->bound( b->file, skin, i, &node, &place ); ++i ) {
        if ( !tr_array_reserve( (void **)&b->joints, &b->joint_capacity, i + 1, sizeof *b->joints ) ||
             !tr_array_reserve( (void **)&b->above, &b->above_capacity, i + 1, sizeof *b->above ) ||
             !tr_array_reserve( (void **)&b->bound, &b->bound_capacity, i + 1, sizeof *b->bound ) )
            return tr_error_memory( error );
        *sound = node >= 0 && b->slot[node] < 0 && is_sound( b, place ) && is_sound( b, b->nodes[node] );
        if ( !*sound )
            break;
        b->joints[b->joint_count] = node;
        b->bound[b->joint_count] = place;
        b->slot[node] = b->joint_count++;
    }
    *sound = *sound && b->joint_count > 1;
    return true;
}

// Of each joint the next one above that the skin has. False: that takes too long to find.
static bool find_above( binder *b )
{
    for ( int i = 0; i < b->joint_count; ++i ) {
        int node = b->file->nodes[b->joints[i]].parent;
        for ( ; node >= 0 && b->slot[node] < 0; node = b->file->nodes[node].parent )
            if ( --b->steps < 0 )
                return false;
        b->above[i] = node >= 0 ? b->slot[node] : -1;
    }
    return true;
}

static bool has_same_bones( const binder *b, tr_affine to )
{
    int bones = 0, alike = 0;
    for ( int i = 0; i < b->joint_count; ++i ) {
        if ( b->above[i] < 0 )
            continue;
        vec3 a = tr_affine_mul( to, b->bound[i] ).position,
             c = tr_affine_mul( to, b->bound[b->above[i]] ).position;
        double length =
            v3_distance( b->nodes[b->joints[i]].position, b->nodes[b->joints[b->above[i]]].position );
        ++bones;
        alike += fabs( v3_distance( a, c ) - length ) <= b->limits.bind_length * b->size;
    }
    return bones > 0 && alike >= b->limits.bind_bones * bones;
}

// Sum over the axes of the squared distances between unit axes.
static double turn_between( mat3 a, mat3 b )
{
    double sum = 0;
    const vec3 p[3] = { a.cx, a.cy, a.cz }, q[3] = { b.cx, b.cy, b.cz };
    for ( int k = 0; k < 3; ++k ) {
        vec3 d = v3_sub( v3_unit_or( p[k], v3_zero ), v3_unit_or( q[k], v3_zero ) );
        sum += v3_dot( d, d );
    }
    return sum;
}

// How far all joints are from their nodes, and turned against them, when `to` takes the skin's space to the
// world: squares of shares of the size, and of chords of the unit circle.
static double distance_by( const binder *b, tr_affine to )
{
    double sum = 0;
    for ( int i = 0; i < b->joint_count; ++i ) {
        tr_affine at = tr_affine_mul( to, b->bound[i] ), node = b->nodes[b->joints[i]];
        double apart = v3_distance( at.position, node.position ) / b->size;
        sum += apart * apart + turn_between( at.linear, node.linear );
    }
    return sum;
}

// A skin's space is the world, that of its mesh or that of the armature, as exporters have it.
static bool find_world( const binder *b, int skin, tr_affine *out )
{
    int top = 0, carrier = b->file->carrier( b->file, skin );
    for ( int i = 1; i < b->joint_count; ++i )
        if ( b->rank[b->joints[i]] < b->rank[b->joints[top]] )
            top = i;
    int parent = b->file->nodes[b->joints[top]].parent;
    tr_affine spaces[3] = { b->file->placement };
    int count = 1;
    if ( carrier >= 0 )
        spaces[count++] = b->nodes[carrier];
    if ( parent >= 0 )
        spaces[count++] = b->nodes[parent];
    double best = INFINITY;
    for ( int i = 0; i < count; ++i ) {
        double distance = has_same_bones( b, spaces[i] ) ? distance_by( b, spaces[i] ) : INFINITY;
        if ( distance < best ) {
            best = distance;
            *out = spaces[i];
        }
    }
    return best < INFINITY;
}

static void measure( binder *b )
{
    b->size = 0;
    for ( int i = 1; i < b->joint_count; ++i )
        b->size =
            fmax( b->size, v3_distance( b->nodes[b->joints[i]].position, b->nodes[b->joints[0]].position ) );
}

static mat3 outer( vec3 a, vec3 b )
{
    return ( mat3 ){ v3_scale( b.x, a ), v3_scale( b.y, a ), v3_scale( b.z, a ) };
}

// The joints are as their nodes are, but for a motion of them all.
static bool is_same_pose( const binder *b, tr_affine to )
{
    vec3 middles[2] = { v3_zero, v3_zero };
    mat3 sum = { 0 };
    for ( int pass = 0; pass < 2; ++pass )
        for ( int i = 0; i < b->joint_count; ++i ) {
            vec3 at = tr_affine_mul( to, b->bound[i] ).position, node = b->nodes[b->joints[i]].position;
            if ( pass == 0 ) {
                middles[0] = v3_mad( middles[0], 1.0 / b->joint_count, at );
                middles[1] = v3_mad( middles[1], 1.0 / b->joint_count, node );
                continue;
            }
            mat3 m = outer( v3_sub( node, middles[1] ), v3_sub( at, middles[0] ) );
            sum = ( mat3 ){ v3_add( sum.cx, m.cx ), v3_add( sum.cy, m.cy ), v3_add( sum.cz, m.cz ) };
        }
    quat turn = q_fit( sum );
    double farthest = 0;
    for ( int i = 0; i < b->joint_count; ++i ) {
        vec3 at = tr_affine_mul( to, b->bound[i] ).position, node = b->nodes[b->joints[i]].position;
        vec3 there = v3_add( middles[1], q_rotate( turn, v3_sub( at, middles[0] ) ) );
        farthest = fmax( farthest, v3_distance( there, node ) );
    }
    return farthest <= b->limits.same_pose * b->size;
}

static void take_skin( binder *b, int skin )
{
    tr_affine world = tr_affine_identity;
    measure( b );
    if ( !( b->size > 0 ) || !find_above( b ) || !find_world( b, skin, &world ) )
        return;
    if ( is_same_pose( b, world ) )
        return;
    for ( int i = 0; i < b->joint_count; ++i ) {
        int n = b->joints[i];
        if ( b->known[n] )
            continue;
        tr_affine at = tr_affine_mul( world, b->bound[i] );
        double scale = scale_of( b->nodes[n].linear ) / scale_of( at.linear ); // of a mesh in other units
        at.linear = ( mat3 ){ v3_scale( scale, at.linear.cx ), v3_scale( scale, at.linear.cy ),
                              v3_scale( scale, at.linear.cz ) };
        b->rest[n] = at;
        b->known[n] = true;
    }
}

// ------------------------------------------------------------------------------------------------ all of
// them

// What no skin tells goes along with the node above.
static bool carry_along( binder *b )
{
    bool any = false;
    for ( int i = 0; i < b->file->node_count; ++i ) {
        int n = b->file->order[i], parent = b->file->nodes[n].parent;
        any = any || b->known[n];
        if ( b->known[n] )
            continue;
        b->rest[n] = b->nodes[n];
        if ( parent < 0 || !b->known[parent] || !is_sound( b, b->nodes[parent] ) )
            continue;
        b->rest[n] =
            tr_affine_mul( b->rest[parent], tr_affine_mul( inverse_of( b->nodes[parent] ), b->nodes[n] ) );
        b->known[n] = true;
    }
    return any;
}

static bool bind( binder *b, tr_error *error )
{
    for ( int n = 0; n < b->file->node_count; ++n ) {
        b->slot[n] = -1;
        b->rank[b->file->order[n]] = n;
    }
    for ( int s = 0; s < b->file->skin_count; ++s ) {
        bool sound;
        if ( !take_joints( b, s, &sound, error ) || !tr_work_go_on( error ) )
            return false;
        if ( sound )
            take_skin( b, s );
        for ( int i = 0; i < b->joint_count; ++i )
            b->slot[b->joints[i]] = -1;
    }
    return true;
}

bool tr_import_bind( struct tr_import_file *file, tr_affine *world, tr_error *error )
{
    size_t count = (size_t)file->node_count;
    if ( file->bound == NULL || file->skin_count == 0 || count == 0 )
        return true;
    binder b = { .limits = tr_default_import_limits(), .file = file, .nodes = world, .steps = 10000000 };
    b.rest = tr_alloc( count, sizeof *b.rest );
    b.known = tr_alloc( count, sizeof *b.known );
    b.rank = tr_alloc( count, sizeof *b.rank );
    b.slot = tr_alloc( count, sizeof *b.slot );
    bool ok = b.rest != NULL && b.known != NULL && b.rank != NULL && b.slot != NULL
                  ? bind( &b, error )
                  : tr_error_memory( error );
    if ( ok && carry_along( &b ) ) {
        memcpy( world, b.rest, count * sizeof *world );
        file->rest = b.rest;
        b.rest = NULL;
    }
    tr_free( b.rest );
    tr_free( b.known );
    tr_free( b.rank );
    tr_free( b.slot );
    tr_free( b.joints );
    tr_free( b.above );
    tr_free( b.bound );
    return ok;
}
