// FBX, through ufbx, which evaluates curves, layers and pivots.
#include "import/reader.h"

#ifdef TROUPE_HAS_UFBX

#include "import/fbx.h"

#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------- memory

static void *allocate( void *user, size_t size )
{
    (void)user;
    return tr_alloc( 1, size );
}

static void *reallocate( void *user, void *pointer, size_t old_size, size_t new_size )
{
    (void)user;
    (void)old_size;
    return tr_realloc( pointer, 1, new_size );
}

static void release( void *user, void *pointer, size_t size )
{
    (void)user;
    (void)size;
    tr_free( pointer );
}

// Compressed arrays may be larger than their file, within reason.
ufbx_allocator_opts tr_fbx_memory( size_t bytes )
{
    return ( ufbx_allocator_opts ){
        .allocator = { .alloc_fn = allocate, .realloc_fn = reallocate, .free_fn = release },
        .memory_limit = ( (size_t)256 << 20 ) + 64 * bytes };
}

static void close_fbx( struct tr_import_file *file )
{
    fbx *f = (fbx *)file;
    tr_import_release( &f->base );
    tr_fbx_free_document( &f->document );
    tr_free( f->moves );
    tr_free( f->carriers );
    ufbx_free_scene( f->scene );
    tr_free( f );
}

// ------------------------------------------------------------------------------------------------ opening

static bool refuse( const ufbx_error *trouble, tr_error *error )
{
    switch ( trouble->type ) {
    case UFBX_ERROR_OUT_OF_MEMORY: return tr_error_memory( error );
    case UFBX_ERROR_MEMORY_LIMIT:
        return tr_error_set( error,
                             "it needs far more memory than a file of its size should; export it anew" );
    case UFBX_ERROR_EMPTY_FILE:
    case UFBX_ERROR_TRUNCATED_FILE:
        return tr_error_set( error, "the file ends too early; copy or export it anew" );
    case UFBX_ERROR_UNRECOGNIZED_FILE_FORMAT: return tr_error_set( error, "this is no FBX file" );
    case UFBX_ERROR_UNSUPPORTED_VERSION:
        return tr_error_set( error, "this version of FBX cannot be read; export it as FBX 2014 or newer" );
    default:
        return tr_error_set( error, "the FBX data in it is broken (%.200s); export it anew",
                             trouble->description.length > 0 ? trouble->description.data : "unknown" );
    }
}

static bool parse( fbx *f, const tr_import_source *source, tr_error *error )
{
    ufbx_error trouble;
    bool meshes = source->def->meshes;
    ufbx_load_opts opts = { .temp_allocator = tr_fbx_memory( source->size ),
                            .result_allocator = tr_fbx_memory( source->size ),
                            .file_format = UFBX_FILE_FORMAT_FBX,
                            .ignore_geometry = !meshes,
                            .ignore_embedded = !meshes,
                            .skip_skin_vertices = !meshes,
                            .generate_missing_normals = meshes,
                            .node_depth_limit = 4096,
                            .target_unit_meters = source->def->unit > 0 ? 0 : 1 };
    if ( source->def->up == 0 )
        opts.target_axes = ufbx_axes_right_handed_y_up;
    f->scene = ufbx_load_memory( source->data, source->size, &opts, &trouble );
    if ( f->scene != NULL && f->scene->metadata.version < 6000 && !meshes ) { // these keep skins in meshes
        ufbx_free_scene( f->scene );
        opts.ignore_geometry = false;
        f->scene = ufbx_load_memory( source->data, source->size, &opts, &trouble );
    }
    return f->scene != NULL || refuse( &trouble, error );
}

static bool read_nodes( fbx *f, bool *skinned, tr_error *error )
{
    const ufbx_scene *scene = f->scene;
    if ( scene->nodes.count > 1000000 )
        return tr_error_set( error, "it has %zu nodes; a million is the most", scene->nodes.count );
    if ( !tr_import_alloc( &f->base, (int)scene->nodes.count, error ) )
        return false;
    for ( size_t n = 0; n < scene->nodes.count; ++n ) {
        const ufbx_node *in = scene->nodes.data[n];
        f->base.nodes[n] =
            ( tr_import_node ){ .name = in->name.length > 0 ? in->name.data : NULL,
                                .parent = in->parent != NULL ? (int)in->parent->typed_id : -1,
                                .joint = in->bone != NULL,
                                .loaded = in->mesh != NULL || in->camera != NULL || in->light != NULL };
        *skinned |= in->bone != NULL;
    }
    for ( size_t s = 0; s < scene->skin_deformers.count; ++s ) {
        const ufbx_skin_deformer *skin = scene->skin_deformers.data[s];
        int first = -1;
        for ( size_t c = 0; c < skin->clusters.count; ++c ) {
            const ufbx_node *bone = skin->clusters.data[c]->bone_node;
            if ( bone == NULL )
                continue;
            int n = (int)bone->typed_id;
            f->base.nodes[n].joint = *skinned = true;
            first = first < 0 ? n : first;
            tr_set_join( f->base.set, first, n );
        }
    }
    return true;
}

// -------------------------------------------------------------------------------------------------- takes

static bool is_transform( ufbx_string name )
{
    return strcmp( name.data, "Lcl Translation" ) == 0 || strcmp( name.data, "Lcl Rotation" ) == 0 ||
           strcmp( name.data, "Lcl Scaling" ) == 0;
}

// Marks the nodes that a layer moves and widens the range to its keys.
static void look_at_layer( fbx *f, const ufbx_anim_layer *layer, bool *moves, double *first, double *last )
{
    for ( size_t p = 0; p < layer->anim_props.count; ++p ) {
        const ufbx_anim_prop *prop = &layer->anim_props.data[p];
        if ( prop->element->type != UFBX_ELEMENT_NODE || !is_transform( prop->prop_name ) )
            continue;
        for ( int c = 0; c < 3; ++c ) {
            const ufbx_anim_curve *curve = prop->anim_value->curves[c];
            if ( curve == NULL || curve->keyframes.count == 0 )
                continue;
            moves[prop->element->typed_id] = f->base.nodes[prop->element->typed_id].animated = true;
            *first = fmin( *first, curve->keyframes.data[0].time );
            *last = fmax( *last, curve->keyframes.data[curve->keyframes.count - 1].time );
        }
    }
}

static bool read_takes( fbx *f, tr_import *out, tr_error *error )
{
    const ufbx_scene *scene = f->scene;
    tr_import_limits limits = tr_default_import_limits();
    double fps = scene->settings.frames_per_second;
    size_t nodes = scene->nodes.count;
    if ( !( fps >= 1 && fps <= 1000 ) )
        fps = limits.fps;
    if ( scene->anim_stacks.count > ( (size_t)1 << 27 ) / ( nodes + 1 ) )
        return tr_error_set( error, "it has %zu takes of %zu nodes, which is too many",
                             scene->anim_stacks.count, nodes );
    f->moves = tr_alloc( nodes * scene->anim_stacks.count, sizeof( bool ) );
    if ( f->moves == NULL )
        return tr_error_memory( error );
    for ( size_t s = 0; s < scene->anim_stacks.count; ++s ) {
        const ufbx_anim_stack *stack = scene->anim_stacks.data[s];
        double first = INFINITY, last = -INFINITY;
        for ( size_t l = 0; l < stack->layers.count; ++l )
            look_at_layer( f, stack->layers.data[l], f->moves + s * nodes, &first, &last );
        if ( stack->time_end > stack->time_begin ) {
            first = stack->time_begin;
            last = stack->time_end;
        } else if ( !( last >= first ) )
            first = last = 0;
        if ( !( fabs( first ) < limits.longest && fabs( last ) < limits.longest ) )
            return tr_error_set( error, "take %zu lasts longer than ten days; export it anew", s + 1 );
        if ( !tr_import_add_take( out, stack->name.data, first, last - first, fps, error ) )
            return false;
    }
    return true;
}

// ----------------------------------------------------------------------------------------------- sampling

static vec3 column( ufbx_vec3 v )
{
    return v3( v.x, v.y, v.z );
}

static tr_affine affine_of( const ufbx_matrix *m )
{
    return ( tr_affine ){ { column( m->cols[0] ), column( m->cols[1] ), column( m->cols[2] ) },
                          column( m->cols[3] ) };
}

static bool place_nodes( const ufbx_scene *scene, int node_count, tr_affine *world, tr_error *error )
{
    for ( int n = 0; n < node_count; ++n ) {
        world[n] = affine_of( &scene->nodes.data[n]->node_to_world );
        if ( !v3_finite( world[n].linear.cx ) || !v3_finite( world[n].linear.cy ) ||
             !v3_finite( world[n].linear.cz ) || !v3_finite( world[n].position ) )
            return tr_error_set( error, "node %d has numbers that are none; export the file anew", n );
    }
    return true;
}

static bool sample_fbx( struct tr_import_file *file, int take, double time, tr_affine *world,
                        tr_error *error )
{
    fbx *f = (fbx *)file;
    if ( take < 0 )
        return place_nodes( f->scene, file->node_count, world, error );
    ufbx_error trouble;
    ufbx_evaluate_opts opts = { .temp_allocator = tr_fbx_memory( file->bytes ),
                                .result_allocator = tr_fbx_memory( file->bytes ) };
    ufbx_scene *now =
        ufbx_evaluate_scene( f->scene, f->scene->anim_stacks.data[take]->anim, time, &opts, &trouble );
    bool ok = now != NULL ? place_nodes( now, file->node_count, world, error ) : refuse( &trouble, error );
    ufbx_free_scene( now );
    return ok;
}

static bool fbx_moves( const struct tr_import_file *file, int take, int node )
{
    return ( (const fbx *)file )->moves[(size_t)take * (size_t)file->node_count + (size_t)node];
}

// -------------------------------------------------------------------------------------------- where skins
// are

static bool find_carriers( fbx *f, tr_error *error )
{
    const ufbx_scene *scene = f->scene;
    f->base.skin_count = tr_int_clamped( (double)scene->skin_deformers.count, 0, 1 << 30 );
    f->carriers = tr_alloc( scene->skin_deformers.count, sizeof *f->carriers );
    if ( f->carriers == NULL )
        return tr_error_memory( error );
    for ( int s = 0; s < f->base.skin_count; ++s )
        f->carriers[s] = -1;
    for ( size_t m = 0; m < scene->meshes.count; ++m ) {
        const ufbx_mesh *mesh = scene->meshes.data[m];
        for ( size_t s = 0; mesh->instances.count > 0 && s < mesh->skin_deformers.count; ++s )
            f->carriers[mesh->skin_deformers.data[s]->typed_id] = (int)mesh->instances.data[0]->typed_id;
    }
    return true;
}

// In the space of the mesh's node, whose points have a place of their own in it.
static bool fbx_bound( const struct tr_import_file *file, int skin, int index, int *node, tr_affine *place )
{
    const fbx *f = (const fbx *)file;
    const ufbx_skin_deformer *deformer = f->scene->skin_deformers.data[skin];
    int carrier = f->carriers[skin];
    if ( (size_t)index >= deformer->clusters.count || carrier < 0 )
        return false;
    const ufbx_skin_cluster *cluster = deformer->clusters.data[index];
    *node = cluster->bone_node != NULL ? (int)cluster->bone_node->typed_id : -1;
    ufbx_matrix bone_to_geometry = ufbx_matrix_invert( &cluster->geometry_to_bone );
    ufbx_matrix bone = ufbx_matrix_mul( &f->scene->nodes.data[carrier]->geometry_to_node, &bone_to_geometry );
    *place = affine_of( &bone );
    return true;
}

static int fbx_carrier( const struct tr_import_file *file, int skin )
{
    return ( (const fbx *)file )->carriers[skin];
}

// ------------------------------------------------------------------------------------------------ the file

bool tr_fbx_open( tr_import *out, const tr_import_source *source, tr_log *warnings, tr_error *error )
{
    fbx *f = tr_alloc( 1, sizeof *f );
    if ( f == NULL )
        return tr_error_memory( error );
    out->format = "FBX";
    out->file = &f->base;
    f->base.sample = sample_fbx;
    f->base.moves = fbx_moves;
    f->base.close = close_fbx;
    f->base.bytes = source->size;
    tr_import_place( &f->base, source->def );
    bool skinned = false;
    f->base.bound = fbx_bound;
    f->base.carrier = fbx_carrier;
    if ( !parse( f, source, error ) || !read_nodes( f, &skinned, error ) || !find_carriers( f, error ) ||
         !read_takes( f, out, error ) || !tr_import_find_skeletons( out, skinned, error ) )
        return false;
    const ufbx_scene *scene = f->scene;
    f->base.work = 16 * scene->elements.count;
    out->mesh_count = tr_int_clamped( (double)scene->meshes.count, 0, 1 << 30 );
    out->skin_count = tr_int_clamped( (double)scene->skin_deformers.count, 0, 1 << 30 );
    for ( size_t s = 0; s < scene->skin_deformers.count; ++s ) {
        const ufbx_skin_deformer *skin = scene->skin_deformers.data[s];
        for ( size_t c = 0; c < skin->clusters.count; ++c )
            if ( skin->clusters.data[c]->bone_node != NULL ) {
                tr_import_count_skin( out, (int)skin->clusters.data[c]->bone_node->typed_id );
                break;
            }
    }
    f->base.papers = &tr_fbx_papers;
    if ( source->def->meshes ) // a file that was read before: only what is new is said
        return tr_fbx_write_document( f, source->path, warnings, error );
    for ( size_t w = 0; w < scene->metadata.warnings.count; ++w ) {
        const ufbx_warning *warning = &scene->metadata.warnings.data[w];
        if ( w == 0 || strcmp( warning->description.data, warning[-1].description.data ) != 0 )
            tr_log_add( warnings, "ufbx says: %.200s", warning->description.data );
    }
    return true;
}

#else

bool tr_fbx_open( tr_import *out, const tr_import_source *source, tr_log *warnings, tr_error *error )
{
    (void)out;
    (void)source;
    (void)warnings;
    return tr_error_set( error, "this build cannot read FBX" );
}

#endif
