// Skeletons among the nodes of a file, and their motion in a take.
#include "import/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NAME = 255 }; // bytes, as in BVH

// ------------------------------------------------------------------------------------------------- memory

bool tr_import_alloc( struct tr_import_file *file, int node_count, tr_error *error )
{
    size_t count = (size_t)node_count;
    file->node_count = node_count;
    file->nodes = tr_alloc( count, sizeof *file->nodes );
    file->order = tr_alloc( count, sizeof *file->order );
    file->set = tr_alloc( count, sizeof *file->set );
    if ( file->nodes == NULL || file->order == NULL || file->set == NULL )
        return tr_error_memory( error );
    for ( int n = 0; n < node_count; ++n ) {
        file->nodes[n].parent = -1;
        file->set[n] = n;
    }
    return true;
}

static void free_rig( tr_import_rig *rig )
{
    tr_free( rig->nodes );
    tr_free( rig->parents );
    tr_free( rig->ends );
}

void tr_import_release( struct tr_import_file *file )
{
    tr_free( file->nodes );
    tr_free( file->order );
    tr_free( file->set );
    tr_free( file->rest );
    for ( int k = 0; k < file->rig_count; ++k )
        free_rig( &file->rigs[k] );
    tr_free( file->rigs );
}

void tr_import_free( tr_import *import )
{
    for ( int k = 0; k < import->skeleton_count; ++k )
        tr_free( import->skeletons[k].name );
    for ( int t = 0; t < import->take_count; ++t )
        tr_free( import->takes[t].name );
    tr_free( import->skeletons );
    tr_free( import->takes );
    if ( import->file != NULL )
        import->file->close( import->file );
    tr_free( import->data );
    *import = ( tr_import ){ 0 };
}

// -------------------------------------------------------------------------------------------------- names

// At most LONGEST_NAME bytes of UTF-8 without control characters.
char *tr_import_name( const char *name, const char *fallback, int number )
{
    size_t length = name != NULL ? strnlen( name, LONGEST_NAME ) : 0;
    while ( length > 0 && ( name[length] & 0xc0 ) == 0x80 ) // not within a letter
        --length;
    if ( length == 0 )
        return tr_string_format( "%s_%d", fallback, number );
    char *out = tr_alloc( length + 1, 1 );
    if ( out == NULL )
        return NULL;
    bool valid = tr_utf8_valid( name, length );
    for ( size_t i = 0; i < length; ++i ) {
        unsigned char c = (unsigned char)name[i];
        out[i] = c < ' ' || c == 0x7f || ( c >= 0x80 && !valid ) ? '_' : name[i];
    }
    return out;
}

bool tr_import_add_take( tr_import *import, const char *name, double start, double seconds, double fps,
                         tr_error *error )
{
    tr_import_take take = { .start = start, .seconds = seconds, .fps = fps };
    take.name = tr_import_name( name, "take", import->take_count + 1 );
    if ( take.name == NULL || !tr_array_reserve( (void **)&import->takes, &import->take_capacity,
                                                 import->take_count + 1, sizeof take ) ) {
        tr_free( take.name );
        return tr_error_memory( error );
    }
    import->takes[import->take_count++] = take;
    return true;
}

static bool name_taken( const tr_import *import, const char *name )
{
    for ( int k = 0; k < import->skeleton_count; ++k )
        if ( strcmp( import->skeletons[k].name, name ) == 0 )
            return true;
    return false;
}

// After the armature, or else the root.
static char *skeleton_name( const tr_import *import, int root )
{
    const tr_import_node *nodes = import->file->nodes;
    int number = import->skeleton_count + 1, parent = root >= 0 ? nodes[root].parent : -1;
    const char *source = root >= 0 ? nodes[root].name : NULL;
    if ( root >= 0 && nodes[root].joint && parent >= 0 && nodes[parent].name != NULL &&
         nodes[parent].name[0] != 0 && !nodes[parent].loaded )
        source = nodes[parent].name;
    char *name = tr_import_name( source, "skeleton", number );
    while ( name != NULL && name_taken( import, name ) ) {
        char *other = tr_string_format( "%s_%d", name, number );
        tr_free( name );
        name = other;
    }
    return name;
}

// -------------------------------------------------------------------------------------------------- nodes

// Parents first, a subtree in one piece. False: out of memory, or nodes that are above themselves.
static bool order_nodes( struct tr_import_file *file, tr_error *error )
{
    int count = file->node_count, filled = 0, top = 0;
    int *first = tr_alloc( (size_t)count, sizeof( int ) ), *next = tr_alloc( (size_t)count, sizeof( int ) ),
        *stack = tr_alloc( (size_t)count + 1, sizeof( int ) );
    bool ok = first != NULL && next != NULL && stack != NULL ? true : tr_error_memory( error );
    for ( int n = 0; ok && n < count; ++n )
        first[n] = next[n] = -1;
    for ( int n = count - 1; ok && n >= 0; --n ) {
        int parent = file->nodes[n].parent;
        if ( parent >= 0 ) {
            next[n] = first[parent];
            first[parent] = n;
        }
    }
    for ( int root = 0; ok && root < count; ++root ) {
        if ( file->nodes[root].parent >= 0 )
            continue;
        stack[top++] = root;
        while ( top > 0 ) {
            int n = stack[--top];
            file->order[filled++] = n;
            if ( n != root && next[n] >= 0 )
                stack[top++] = next[n];
            if ( first[n] >= 0 )
                stack[top++] = first[n];
        }
    }
    if ( ok && filled < count )
        ok = tr_error_set( error, "nodes of the file are below themselves; export it anew" );
    tr_free( first );
    tr_free( next );
    tr_free( stack );
    return ok;
}

typedef struct finder {
    tr_import *import;
    struct tr_import_file *file;
    int *depth;      // [node_count]
    bool *light;     // [node_count] nothing below is a joint or carries anything
    int *mark;       // [node_count] 1: of the skeleton at hand, 2: a tip of it that no skin uses
    int *index;      // [node_count] as joint of it
    int *root;       // [node_count] by set: the lowest node above all joints; -1: none
    int *first;      // [node_count] by set: its first joint, -1: the set has none
    tr_affine *rest; // [node_count]
} finder;

static bool alloc_finder( finder *f )
{
    size_t count = (size_t)f->file->node_count;
    f->depth = tr_alloc( count, sizeof( int ) );
    f->light = tr_alloc( count, sizeof( bool ) );
    f->mark = tr_alloc( count, sizeof( int ) );
    f->index = tr_alloc( count, sizeof( int ) );
    f->root = tr_alloc( count, sizeof( int ) );
    f->first = tr_alloc( count, sizeof( int ) );
    f->rest = tr_alloc( count, sizeof( tr_affine ) );
    return f->depth != NULL && f->light != NULL && f->mark != NULL && f->index != NULL && f->root != NULL &&
           f->first != NULL && f->rest != NULL;
}

static void free_finder( finder *f )
{
    tr_free( f->depth );
    tr_free( f->light );
    tr_free( f->mark );
    tr_free( f->index );
    tr_free( f->root );
    tr_free( f->first );
    tr_free( f->rest );
}

static int common_ancestor( const finder *f, int a, int b ) // -1: none
{
    const tr_import_node *nodes = f->file->nodes;
    while ( a != b && a >= 0 && b >= 0 ) {
        int deep = f->depth[a] - f->depth[b];
        if ( deep >= 0 )
            a = nodes[a].parent;
        if ( deep <= 0 )
            b = nodes[b].parent;
    }
    return a == b ? a : -1;
}

// Joints belong together where a skin uses both, and where one is the other's parent. Without skins, also
// where nodes that do not move are between them.
static void join_sets( finder *f, bool skinned )
{
    struct tr_import_file *file = f->file;
    tr_import_node *nodes = file->nodes;
    for ( int i = 0; i < file->node_count; ++i ) {
        int n = file->order[i], parent = nodes[n].parent;
        if ( !skinned )
            nodes[n].joint = nodes[n].animated;
        f->depth[n] = parent >= 0 ? f->depth[parent] + 1 : 0;
        int above = parent < 0 ? -1 : skinned ? ( nodes[parent].joint ? parent : -1 ) : f->index[parent];
        f->index[n] = nodes[n].joint ? n : above; // the nearest joint
        if ( nodes[n].joint && above >= 0 )
            tr_set_join( file->set, above, n );
        f->light[n] = !nodes[n].joint && !nodes[n].loaded;
        f->first[n] = f->root[n] = -1;
    }
    for ( int i = file->node_count - 1; i >= 0; --i ) {
        int n = file->order[i], parent = nodes[n].parent;
        if ( parent >= 0 && !f->light[n] )
            f->light[parent] = false;
    }
    for ( int i = 0; i < file->node_count; ++i ) {
        int n = file->order[i];
        if ( !nodes[n].joint )
            continue;
        int set = tr_set_find( file->set, n );
        if ( f->first[set] < 0 )
            f->first[set] = f->root[set] = n;
        else if ( f->root[set] >= 0 )
            f->root[set] = common_ancestor( f, f->root[set], n );
    }
}

// Marks the nodes of a set: its joints, what is between them and the root, and tips without a mesh.
// Returns how many.
static int mark_set( finder *f, int set )
{
    const struct tr_import_file *file = f->file;
    const tr_import_node *nodes = file->nodes;
    int count = 0, root = f->root[set];
    memset( f->mark, 0, (size_t)file->node_count * sizeof *f->mark );
    for ( int n = 0; n < file->node_count; ++n ) {
        if ( !nodes[n].joint || tr_set_find( file->set, n ) != set )
            continue;
        for ( int at = n; at >= 0 && f->mark[at] == 0; at = nodes[at].parent ) {
            f->mark[at] = 1;
            ++count;
            if ( at == root )
                break;
        }
    }
    for ( int i = 0; i < file->node_count; ++i ) {
        int n = file->order[i], parent = nodes[n].parent;
        if ( parent < 0 || f->mark[n] != 0 || !f->light[n] || f->mark[parent] == 0 )
            continue;
        bool of_joint =
            f->mark[parent] == 2 || ( nodes[parent].joint && tr_set_find( file->set, parent ) == set );
        if ( of_joint ) {
            f->mark[n] = 2;
            ++count;
        }
    }
    return count;
}

static bool fill_rig( finder *f, tr_import_rig *rig, int root, int count, tr_error *error )
{
    const struct tr_import_file *file = f->file;
    int joints = count + ( root < 0 ), at = 0;
    if ( joints > TR_MAX_JOINTS )
        return tr_error_set( error, "a skeleton of it has %d joints; %d are the most", joints,
                             TR_MAX_JOINTS );
    rig->nodes = tr_alloc( (size_t)joints, sizeof( int ) );
    rig->parents = tr_alloc( (size_t)joints, sizeof( int ) );
    rig->ends = tr_alloc( (size_t)joints, sizeof( bool ) );
    if ( rig->nodes == NULL || rig->parents == NULL || rig->ends == NULL )
        return tr_error_memory( error );
    rig->joint_count = joints;
    if ( root < 0 ) {
        rig->nodes[at] = rig->parents[at] = -1;
        ++at;
    }
    for ( int i = 0; i < file->node_count; ++i ) {
        int n = file->order[i], parent = file->nodes[n].parent;
        if ( f->mark[n] == 0 )
            continue;
        f->index[n] = at;
        rig->nodes[at] = n;
        rig->parents[at] = at == 0 ? -1 : parent >= 0 && f->mark[parent] ? f->index[parent] : 0;
        rig->ends[at] = f->mark[n] == 2 && !file->nodes[n].animated;
        if ( rig->parents[at] >= 0 )
            rig->ends[rig->parents[at]] = false;
        ++at;
    }
    return true;
}

static tr_affine rest_of( const tr_affine *world, int node )
{
    return node >= 0 ? world[node] : tr_affine_identity;
}

static void describe( finder *f, const tr_import_rig *rig, tr_import_skeleton *out )
{
    double low = INFINITY, high = -INFINITY;
    for ( int j = 0; j < rig->joint_count; ++j ) {
        if ( rig->nodes[j] < 0 )
            continue;
        double y = f->rest[rig->nodes[j]].position.y;
        low = fmin( low, y );
        high = fmax( high, y );
        out->end_count += rig->ends[j];
    }
    out->joint_count = rig->joint_count - out->end_count;
    out->height = high - low;
}

static bool add_skeleton( finder *f, int set, tr_error *error )
{
    tr_import *import = f->import;
    struct tr_import_file *file = f->file;
    if ( !tr_array_reserve( (void **)&import->skeletons, &import->skeleton_capacity,
                            import->skeleton_count + 1, sizeof *import->skeletons ) ||
         !tr_array_reserve( (void **)&file->rigs, &file->rig_capacity, file->rig_count + 1,
                            sizeof *file->rigs ) )
        return tr_error_memory( error );
    tr_import_rig *rig = &file->rigs[file->rig_count++];
    *rig = ( tr_import_rig ){ .set = set };
    if ( !fill_rig( f, rig, f->root[set], mark_set( f, set ), error ) )
        return false;
    tr_import_skeleton skeleton = { .name = skeleton_name( import, f->root[set] ) };
    if ( skeleton.name == NULL )
        return tr_error_memory( error );
    describe( f, rig, &skeleton );
    import->skeletons[import->skeleton_count++] = skeleton;
    return true;
}

static bool sample( struct tr_import_file *file, int take, double time, tr_affine *world, tr_error *error )
{
    if ( !file->sample( file, take, time, world, error ) )
        return false;
    for ( int n = 0; n < file->node_count; ++n )
        world[n] = tr_affine_mul( file->placement, world[n] );
    return true;
}

static bool sample_rest( struct tr_import_file *file, tr_affine *world, tr_error *error )
{
    if ( file->rest == NULL )
        return sample( file, -1, 0, world, error );
    memcpy( world, file->rest, (size_t)file->node_count * sizeof *world );
    return true;
}

tr_import_tree tr_import_get_tree( const tr_import *import )
{
    const struct tr_import_file *file = import->file;
    return ( tr_import_tree ){ file->nodes, file->node_count, file->order, file->placement };
}

const tr_import_rig *tr_import_get_rig( const tr_import *import, int skeleton )
{
    return &import->file->rigs[skeleton];
}

bool tr_import_rest( const tr_import *import, tr_affine *world, tr_error *error )
{
    return sample_rest( import->file, world, error );
}

bool tr_import_find_skeletons( tr_import *import, bool skinned, tr_error *error )
{
    finder f = { .import = import, .file = import->file };
    bool ok = order_nodes( f.file, error ) && ( alloc_finder( &f ) || tr_error_memory( error ) ) &&
              sample( f.file, -1, 0, f.rest, error ) && tr_import_bind( f.file, f.rest, error );
    if ( ok )
        join_sets( &f, skinned );
    for ( int i = 0; ok && i < f.file->node_count; ++i ) {
        int n = f.file->order[i], set = tr_set_find( f.file->set, n );
        if ( f.first[set] == n )
            ok = add_skeleton( &f, set, error );
        ok = ok && tr_work_go_on( error );
    }
    free_finder( &f );
    return ok;
}

void tr_import_count_skin( tr_import *import, int joint )
{
    int set = tr_set_find( import->file->set, joint );
    for ( int k = 0; k < import->skeleton_count; ++k )
        if ( import->file->rigs[k].set == set )
            import->skeletons[k].skin_count++;
}

// ------------------------------------------------------------------------------------------------ choices

tr_import_def tr_default_import_def( void )
{
    return ( tr_import_def ){ 0 };
}

// Keys in single precision repeat what is still with an error of a millionth.
tr_import_limits tr_default_import_limits( void )
{
    return ( tr_import_limits ){ .fps = 30,
                                 .on_frame = 0.02,
                                 .same_frame = 1e-3,
                                 .unit_length = 0.02,
                                 .same_pose = 1e-3,
                                 .bind_length = 0.02,
                                 .bind_bones = 0.9,
                                 .whole_weight = 1e-5,
                                 .growth = 0.01,
                                 .even = 1e-3,
                                 .no_scale = 1e-9,
                                 .still = 3e-6,
                                 .size = { 0.1, 10 },
                                 .body_joints = 3,
                                 .farthest = 1e7,
                                 .taller = 1.3,
                                 .bone_change = 0.005,
                                 .even_bone = 0.001,
                                 .longest = 1e6,
                                 .lowest = 0.01,
                                 .smpl = { 0.75, 1.25 } };
}

void tr_import_place( struct tr_import_file *file, const tr_import_def *def )
{
    double s = def->unit > 0 ? def->unit : 1;
    file->placement = tr_affine_identity;
    if ( def->up == 'z' )
        file->placement.linear = ( mat3 ){ v3( 1, 0, 0 ), v3( 0, 0, -1 ), v3( 0, 1, 0 ) };
    mat3 *m = &file->placement.linear;
    *m = ( mat3 ){ v3_scale( s, m->cx ), v3_scale( s, m->cy ), v3_scale( s, m->cz ) };
}

// A number from 1 to count, as an index; -1 when the text is none.
static int number_of( const char *text, int count )
{
    char *end;
    long number = strtol( text, &end, 10 );
    return end != text && *end == 0 && number >= 1 && number <= count ? (int)number - 1 : -1;
}

int tr_import_find_skeleton( const tr_import *import, const char *name )
{
    if ( name == NULL || name[0] == 0 )
        return import->skeleton_count > 0 ? 0 : -1;
    for ( int k = 0; k < import->skeleton_count; ++k )
        if ( strcmp( import->skeletons[k].name, name ) == 0 )
            return k;
    return number_of( name, import->skeleton_count );
}

bool tr_import_take_moves( const tr_import *import, int take, int skeleton )
{
    const struct tr_import_file *file = import->file;
    const tr_import_rig *rig = &file->rigs[skeleton];
    for ( int j = 0; j < rig->joint_count; ++j )
        if ( rig->nodes[j] >= 0 && file->moves( file, take, rig->nodes[j] ) )
            return true;
    int above = rig->nodes[0] >= 0 ? file->nodes[rig->nodes[0]].parent : -1;
    for ( ; above >= 0; above = file->nodes[above].parent )
        if ( file->moves( file, take, above ) )
            return true;
    return false;
}

// Takes of a single pose are chosen only where there is no other.
static int first_take_of( const tr_import *import, int skeleton )
{
    int still = -1;
    for ( int t = 0; t < import->take_count; ++t ) {
        if ( !tr_import_take_moves( import, t, skeleton ) )
            continue;
        if ( import->takes[t].seconds > 0 )
            return t;
        still = still < 0 ? t : still;
    }
    return still;
}

int tr_import_find_take( const tr_import *import, const char *name, int skeleton )
{
    if ( name == NULL || name[0] == 0 )
        return first_take_of( import, skeleton );
    for ( int t = 0; t < import->take_count; ++t )
        if ( strcmp( import->takes[t].name, name ) == 0 )
            return t;
    return number_of( name, import->take_count );
}

int tr_import_frame_count( const tr_import_take *take, double fps )
{
    double frames = take->seconds * ( fps > 0 ? fps : take->fps );
    return tr_whole_frames( frames - tr_default_import_limits().same_frame ) + 1;
}

// "a", "b" and 3 more
static void list_names( char *out, size_t size, const tr_import *import, bool takes )
{
    int count = takes ? import->take_count : import->skeleton_count;
    size_t used = 0;
    out[0] = 0;
    for ( int i = 0; i < count && i < 8 && used < size; ++i )
        used += (size_t)snprintf( out + used, size - used, "%s\"%.60s\"", i > 0 ? ", " : "",
                                  takes ? import->takes[i].name : import->skeletons[i].name );
    if ( count > 8 && used < size )
        snprintf( out + used, size - used, " and %d more", count - 8 );
}

static bool is_given( const char *name )
{
    return name != NULL && name[0] != 0;
}

static bool is_first( const char *name )
{
    return !is_given( name ) || strcmp( name, "1" ) == 0;
}

static bool choose( const tr_import *import, const tr_import_def *def, int *skeleton, int *take,
                    tr_log *warnings, tr_error *error )
{
    char names[600];
    if ( import->skeleton_count == 0 )
        return tr_error_set(
            error,
            "there is no skeleton in it: no skin, no bones and no node that moves%s; export the "
            "armature together with its animation",
            import->mesh_count > 0 ? ", only meshes" : "" );
    *skeleton = tr_import_find_skeleton( import, def->skeleton );
    if ( *skeleton < 0 ) {
        list_names( names, sizeof names, import, false );
        return tr_error_set( error, "there is no skeleton \"%.60s\" in it; there %s %s", def->skeleton,
                             import->skeleton_count == 1 ? "is" : "are", names );
    }
    *take = tr_import_find_take( import, def->take, *skeleton );
    bool named = is_given( def->take );
    if ( *take < 0 && named && import->take_count == 0 )
        return tr_error_set( error, "there is no take \"%.60s\" in it; it holds no animation at all",
                             def->take );
    if ( *take < 0 && named ) {
        list_names( names, sizeof names, import, true );
        return tr_error_set( error, "there is no take \"%.60s\" in it; there %s %s", def->take,
                             import->take_count == 1 ? "is" : "are", names );
    }
    if ( !is_given( def->skeleton ) && import->skeleton_count > 1 )
        tr_log_add( warnings, "it holds %d skeletons; the first one, \"%s\", is taken",
                    import->skeleton_count, import->skeletons[0].name );
    if ( *take >= 0 && !named && import->take_count > 1 && !def->body )
        tr_log_add( warnings, "it holds %d takes; \"%s\" is taken", import->take_count,
                    import->takes[*take].name );
    if ( *take < 0 && !def->body )
        tr_log_add( warnings, "no animation moves \"%s\": it is one frame, at rest",
                    import->skeletons[*skeleton].name );
    return true;
}

// ---------------------------------------------------------------------------------------------- documents

tr_import_document tr_import_get_document( const tr_import *import )
{
    const struct tr_import_file *file = import->file;
    return file->papers != NULL ? file->papers->document( file ) : ( tr_import_document ){ 0 };
}

const char *tr_import_get_buffer( const tr_import *import, int buffer, size_t *size )
{
    return import->file->papers->buffer( import->file, buffer, size );
}

int tr_import_skin_joint( const tr_import *import, int skin, int index )
{
    return import->file->papers->skin_joint( import->file, skin, index );
}

void tr_import_mend_buffer( const tr_import *import, int buffer, char *copy )
{
    const tr_import_papers *papers = import->file->papers;
    if ( papers != NULL && papers->mend != NULL )
        papers->mend( import->file, buffer, copy );
}

tr_affine tr_import_inverse_bind( const tr_import *import, int skin, int index )
{
    return import->file->papers->inverse_bind( import->file, skin, index );
}

// ------------------------------------------------------------------------------------------------- motion

typedef struct sampler {
    tr_import_limits limits;
    const tr_import_rig *rig;
    tr_motion *out;
    tr_affine *world;         // [node_count]
    mat3 *from_rest;          // [joint_count] inverse of the rest's linear part; 0 where there is none
    quat *turns;              // [joint_count] of the frame at hand, world, against the rest pose
    vec3 *places;             // [joint_count]
    bool uneven, grows, flat; // scales that a skeleton cannot have were met
} sampler;

// The rotation in a linear map. `fallback` where it is flat.
static quat rotation_in( sampler *s, mat3 m, quat fallback )
{
    double x = v3_length( m.cx ), y = v3_length( m.cy ), z = v3_length( m.cz ), mean = ( x + y + z ) / 3;
    if ( !( fmin( x, fmin( y, z ) ) > s->limits.no_scale ) ) {
        s->flat = true;
        return fallback;
    }
    s->grows |= fabs( mean - 1 ) > s->limits.growth;
    mat3 unit = { v3_scale( 1 / x, m.cx ), v3_scale( 1 / y, m.cy ), v3_scale( 1 / z, m.cz ) };
    double skew = fmax( fabs( v3_dot( unit.cx, unit.cy ) ),
                        fmax( fabs( v3_dot( unit.cy, unit.cz ) ), fabs( v3_dot( unit.cz, unit.cx ) ) ) );
    double spread = fmax( x, fmax( y, z ) ) - fmin( x, fmin( y, z ) );
    if ( skew < s->limits.even && spread < s->limits.even * mean && m3_det( unit ) > 0 )
        return q_unit( q_from_mat3( unit ) );
    s->uneven = true;
    return q_unit( q_fit( m ) );
}

static bool build_skeleton( sampler *s, const struct tr_import_file *file, tr_error *error )
{
    tr_skeleton *skeleton = &s->out->skeleton;
    const tr_import_rig *rig = s->rig;
    for ( int j = 0; j < rig->joint_count; ++j ) {
        int node = rig->nodes[j], parent = rig->parents[j];
        tr_affine rest = rest_of( s->world, node );
        vec3 from = parent >= 0 ? rest_of( s->world, rig->nodes[parent] ).position : v3_zero;
        if ( !( v3_length( rest.position ) < s->limits.farthest ) )
            return tr_error_set( error, "a joint of it is more than ten thousand kilometres away" );
        char *name = tr_import_name( node >= 0 ? file->nodes[node].name : "root", "node", node );
        int added =
            name != NULL ? tr_skeleton_add( skeleton, name, parent, v3_sub( rest.position, from ) ) : -1;
        tr_free( name );
        if ( added < 0 )
            return tr_error_memory( error );
        skeleton->joints[added].end_site = rig->ends[j];
        s->from_rest[j] = m3_inverse( rest.linear );
    }
    return tr_skeleton_name_apart( skeleton, error ) && tr_skeleton_classify( skeleton, error );
}

static bool convert_frame( sampler *s, int frame, tr_error *error )
{
    const tr_import_rig *rig = s->rig;
    tr_clip *clip = &s->out->clip;
    quat *rotations = tr_clip_frame( clip, frame );
    for ( int j = 0; j < rig->joint_count; ++j ) {
        tr_affine at = rest_of( s->world, rig->nodes[j] );
        int parent = rig->parents[j];
        quat above = parent >= 0 ? s->turns[parent] : q_identity;
        s->places[j] = at.position;
        s->turns[j] = rig->ends[j] ? above : rotation_in( s, m3_mul( at.linear, s->from_rest[j] ), above );
        if ( !( v3_length( at.position ) < s->limits.farthest ) || !q_finite( s->turns[j] ) )
            return tr_error_set( error, "frame %d is broken: \"%.100s\" is nowhere", frame,
                                 s->out->skeleton.joints[j].name );
        rotations[j] = rig->ends[j] ? q_identity : q_unit( q_mul( q_conj( above ), s->turns[j] ) );
        vec3 way = parent >= 0 ? v3_sub( at.position, s->places[parent] ) : at.position;
        clip->translations[(size_t)frame * (size_t)clip->joint_count + (size_t)j] = q_unrotate( above, way );
        if ( j == 0 )
            clip->root[frame] = at.position;
    }
    return true;
}

// Rounding of keys is no movement of a joint.
static void drop_still_translations( tr_motion *motion, const tr_import_limits *limits )
{
    const tr_skeleton *skeleton = &motion->skeleton;
    tr_clip *clip = &motion->clip;
    double size = 0, most = 0;
    for ( int j = 1; j < skeleton->joint_count; ++j )
        size = fmax( size, v3_length( skeleton->joints[j].offset ) );
    size = fmax( size, tr_skeleton_height( skeleton ) );
    for ( int f = 0; f < clip->frame_count; ++f )
        for ( int j = 1; j < clip->joint_count; ++j )
            most = fmax( most,
                         v3_distance( clip->translations[(size_t)f * (size_t)clip->joint_count + (size_t)j],
                                      skeleton->joints[j].offset ) );
    if ( most > limits->still * size )
        return;
    tr_free( clip->translations );
    clip->translations = NULL;
}

// A few keys may stand hours apart: what they cost stays in proportion to the file.
static bool check_size( const tr_import *import, int frames, int joints, tr_error *error )
{
    double bytes = (double)import->file->bytes, work = (double)frames * (double)import->file->work;
    double cells = (double)frames * (double)joints;
    if ( frames < TR_MAX_FRAMES && ( work < (double)( 1 << 25 ) || work < 64 * bytes ) &&
         ( cells < (double)( 1 << 23 ) || cells < 16 * bytes ) )
        return true;
    return tr_error_set(
        error,
        "%d frames of %d joints are too many for so small a file; ask for fewer frames a second or "
        "export a shorter take",
        frames, joints );
}

static bool sample_motion( sampler *s, const tr_import *import, int take, double fps, tr_error *error )
{
    struct tr_import_file *file = import->file;
    const tr_import_take *info = take >= 0 ? &import->takes[take] : NULL;
    double rate = fps > 0 ? fps : info != NULL ? info->fps : s->limits.fps;
    int frames = info != NULL ? tr_import_frame_count( info, rate ) : 1;
    if ( !check_size( import, frames, s->rig->joint_count, error ) || !sample_rest( file, s->world, error ) ||
         !build_skeleton( s, file, error ) ||
         !tr_clip_alloc( &s->out->clip, frames, s->rig->joint_count, rate, true, error ) )
        return false;
    for ( int f = 0; f < frames; ++f ) {
        double time = info != NULL ? info->start + fmin( f / rate, info->seconds ) : 0;
        if ( !tr_work_go_on( error ) || !sample( file, take, time, s->world, error ) ||
             !convert_frame( s, f, error ) )
            return false;
    }
    drop_still_translations( s->out, &s->limits );
    return true;
}

static void warn_of_scales( const sampler *s, const tr_import_skeleton *skeleton, const char *name,
                            tr_log *warnings )
{
    if ( s->uneven )
        tr_log_add(
            warnings,
            "%s: joints of \"%s\" are scaled differently along their axes; their places are kept, their "
            "rotations are the nearest there are",
            name, skeleton->name );
    if ( s->grows )
        tr_log_add( warnings, "%s: scales of \"%s\" change with time; the lengths of its bones do so, too",
                    name, skeleton->name );
    if ( s->flat )
        tr_log_add( warnings, "%s: joints of \"%s\" are scaled to nothing; they turn with the joint above",
                    name, skeleton->name );
    if ( skeleton->height > s->limits.size[1] ||
         ( skeleton->height < s->limits.size[0] && skeleton->joint_count > s->limits.body_joints ) )
        tr_log_add(
            warnings,
            "%s: \"%s\" is %.3g m tall at rest; if that is not meant, say how many metres its unit is "
            "(source.unit in a scene)",
            name, skeleton->name, skeleton->height );
}

bool tr_import_motion( tr_motion *out, const tr_import *import, const tr_import_def *wanted, tr_log *warnings,
                       tr_error *error )
{
    tr_import_def def = wanted != NULL ? *wanted : tr_default_import_def();
    int skeleton = -1, take = -1;
    *out = ( tr_motion ){ 0 };
    if ( !choose( import, &def, &skeleton, &take, warnings, error ) )
        return false;
    sampler s = { .limits = tr_default_import_limits(), .rig = &import->file->rigs[skeleton], .out = out };
    size_t joints = (size_t)s.rig->joint_count;
    s.world = tr_alloc( (size_t)import->file->node_count, sizeof( tr_affine ) );
    s.from_rest = tr_alloc( joints, sizeof( mat3 ) );
    s.turns = tr_alloc( joints, sizeof( quat ) );
    s.places = tr_alloc( joints, sizeof( vec3 ) );
    bool ok = s.world != NULL && s.from_rest != NULL && s.turns != NULL && s.places != NULL
                  ? sample_motion( &s, import, take, def.fps, error )
                  : tr_error_memory( error );
    if ( ok )
        warn_of_scales( &s, &import->skeletons[skeleton], take >= 0 ? import->takes[take].name : "rest pose",
                        warnings );
    tr_free( s.world );
    tr_free( s.from_rest );
    tr_free( s.turns );
    tr_free( s.places );
    if ( !ok )
        tr_motion_free( out );
    return ok;
}

// -------------------------------------------------------------------------------------------------- files

static bool is_gltf( const char *path )
{
    return tr_path_ends_with( path, ".glb" ) || tr_path_ends_with( path, ".gltf" ) ||
           tr_path_ends_with( path, ".vrm" );
}

// What the readers of arrays call their format; NULL: they do not read it.
static const char *array_format( const char *path )
{
    return tr_path_ends_with( path, ".npz" )   ? "NPZ"
           : tr_path_ends_with( path, ".npy" ) ? "NPY"
           : tr_path_ends_with( path, ".csv" ) ? "CSV"
                                               : NULL;
}

bool tr_import_is_named( const char *path )
{
    return is_gltf( path ) || tr_path_ends_with( path, ".fbx" ) || array_format( path ) != NULL;
}

bool tr_import_may_have_meshes( const char *path )
{
    return is_gltf( path ) || tr_path_ends_with( path, ".fbx" );
}

bool tr_import_can_read( const char *path )
{
#ifdef TROUPE_HAS_CGLTF
    if ( is_gltf( path ) )
        return true;
#endif
#ifdef TROUPE_HAS_UFBX
    if ( tr_path_ends_with( path, ".fbx" ) )
        return true;
#endif
    return array_format( path ) != NULL;
}

enum { MOST_WARNINGS = 20 };

// The first warnings, and how many more there are.
static void pass_on( tr_log *to, tr_log *from )
{
    for ( int i = 0; i < from->count && i < MOST_WARNINGS; ++i )
        tr_log_add( to, "%s", from->lines[i] );
    if ( from->count > MOST_WARNINGS )
        tr_log_add( to, "and %d more of the kind", from->count - MOST_WARNINGS );
    if ( to != NULL )
        to->failed |= from->failed;
    tr_log_free( from );
}

// `path`: where the file is, so that others beside it can be read; NULL: none can.
static bool open_data( tr_import *out, const char *data, size_t size, const char *name, const char *path,
                       const tr_import_def *wanted, tr_log *warnings, tr_error *error )
{
    tr_import_def def = wanted != NULL ? *wanted : tr_default_import_def();
    tr_import_source source = { data, size, path, &def };
    tr_log own = { 0 };
    *out = ( tr_import ){ 0 };
    bool ok;
    if ( !tr_import_can_read( name ) )
        ok = tr_error_set( error, is_gltf( name )
                                      ? "this build cannot read glTF: cgltf.h was missing when it was built; "
                                        "scripts/headers.sh cgltf fetches it"
                                      : "this build cannot read FBX: ufbx was missing when it was built; "
                                        "scripts/headers.sh ufbx fetches it, or convert the file to GLB" );
    else if ( array_format( name ) != NULL )
        ok = tr_bodies_open( out, &source, array_format( name ), &own, error );
    else
        ok = is_gltf( name ) ? tr_gltf_open( out, &source, &own, error )
                             : tr_fbx_open( out, &source, &own, error );
    pass_on( warnings, &own );
    if ( !ok )
        tr_import_free( out );
    if ( !ok && error != NULL && error->file[0] == 0 )
        snprintf( error->file, sizeof error->file, "%s", name );
    return ok;
}

bool tr_import_parse( tr_import *out, const char *data, size_t size, const char *name,
                      const tr_import_def *def, tr_log *warnings, tr_error *error )
{
    return open_data( out, data, size, name, NULL, def, warnings, error );
}

bool tr_import_load( tr_import *out, const char *path, const tr_import_def *def, tr_log *warnings,
                     tr_error *error )
{
    char *data;
    size_t size;
    *out = ( tr_import ){ 0 };
    if ( !tr_file_read( path, &data, &size, error ) )
        return false;
    bool ok = open_data( out, data, size, path, path, def, warnings, error );
    if ( ok )
        out->data = data;
    else
        tr_free( data );
    return ok;
}

bool tr_motion_read( tr_motion *out, const char *path, const tr_import_def *wanted, tr_log *warnings,
                     tr_error *error )
{
    tr_import_def def = wanted != NULL ? *wanted : tr_default_import_def();
    *out = ( tr_motion ){ 0 };
    if ( !tr_import_is_named( path ) && !( is_first( def.skeleton ) && is_first( def.take ) ) )
        return tr_error_at( error, path, 0, 0,
                            "a BVH file holds one skeleton and one take, so none can be chosen by name" );
    if ( !tr_import_is_named( path ) ) {
        tr_bvh_import import = tr_default_bvh_import();
        import.unit = def.unit;
        import.up = def.up;
        return tr_motion_load( out, path, &import, warnings, error );
    }
    tr_import import;
    tr_log own = { 0 };
    bool ok = tr_import_load( &import, path, &def, &own, error ) &&
              tr_import_motion( out, &import, &def, &own, error );
    if ( !ok && error != NULL && error->file[0] == 0 )
        snprintf( error->file, sizeof error->file, "%s", path );
    for ( int i = 0; i < own.count; ++i )
        tr_log_add( warnings, "%s: %s", path, own.lines[i] );
    tr_log_free( &own );
    tr_import_free( &import );
    return ok;
}
