// glTF and GLB, through cgltf. cgltf parses JSON and resolves references; what its numbers lead to is checked
// here, since its own check adds without looking for overflow and asks more than files in use hold.
#include "import/reader.h"

#ifdef TROUPE_HAS_CGLTF

#include <cgltf.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct part { // one part of a node's transform
    vec3 translation, scale;
    quat rotation;
} part;

typedef struct track { // one channel of an animation
    int node;
    cgltf_animation_path_type path;
    cgltf_interpolation_type interpolation;
    const cgltf_accessor *times, *values;
} track;

typedef struct take {
    track *tracks; // [track_count] by node
    int track_count, track_capacity;
    double first, last; // seconds
} take;

typedef union block { // of memory of cgltf; what is asked for lies behind it
    struct {
        union block *next, *before;
    };
    max_align_t align;
} block;

typedef struct heap {
    block *blocks;
    jmp_buf *out; // where to go when there is no more; NULL: nowhere
} heap;

typedef struct gltf {
    struct tr_import_file base;
    heap heap;
    cgltf_data *data;
    char **names; // [node_count]
    part *rest;   // [node_count]
    part *now;    // [node_count] at the moment that is sampled
    bool *moved;  // [node_count] by the take that is sampled
    take *takes;  // [take_count]
    int take_count;
    int *carriers;       // [skins_count] node with the mesh of a skin, -1: none
    unsigned char *seen; // [accessors_count] what is known of it, see below: many channels may share one
} gltf;

enum { SOUND = 1, BROKEN = 2, ASCENDS = 4, JUMPS_BACK = 8, TURNS_SEEN = 16 };

// ------------------------------------------------------------------------------------------------- memory

// When memory runs out, cgltf frees lists that it has counted but not made. So it is left in the middle
// instead, and its memory is found by this list.
static void *allocate( void *user, cgltf_size size )
{
    heap *h = user;
    block *b = size <= SIZE_MAX - sizeof *b ? tr_alloc( 1, sizeof *b + size ) : NULL;
    if ( b == NULL && h->out != NULL )
        longjmp( *h->out, 1 );
    if ( b == NULL )
        return NULL;
    b->next = h->blocks;
    if ( b->next != NULL )
        b->next->before = b;
    h->blocks = b;
    return b + 1;
}

static void release( void *user, void *pointer )
{
    heap *h = user;
    if ( pointer == NULL )
        return;
    block *b = (block *)pointer - 1;
    if ( b->next != NULL )
        b->next->before = b->before;
    *( b->before != NULL ? &b->before->next : &h->blocks ) = b->next;
    tr_free( b );
}

typedef struct beside { // a file that this one names
    tr_error *error;
    bool failed; // and said why
} beside;

static cgltf_result read_beside( const cgltf_memory_options *memory, const cgltf_file_options *options,
                                 const char *path, cgltf_size *size, void **data )
{
    (void)memory;
    beside *b = options->user_data;
    char *bytes;
    size_t found;
    if ( !tr_file_read( path, &bytes, &found, b->error ) ) {
        b->failed = true;
        return cgltf_result_io_error;
    }
    if ( found < *size ) {
        tr_free( bytes );
        b->failed = true;
        tr_error_at( b->error, path, 0, 0, "%zu bytes are missing at its end; export it anew",
                     *size - found );
        return cgltf_result_io_error;
    }
    *data = bytes;
    return cgltf_result_success;
}

static void release_beside( const cgltf_memory_options *memory, const cgltf_file_options *options,
                            void *data )
{
    (void)memory;
    (void)options;
    tr_free( data );
}

static void close_gltf( struct tr_import_file *file )
{
    gltf *g = (gltf *)file;
    for ( int n = 0; g->names != NULL && n < g->base.node_count; ++n )
        tr_free( g->names[n] );
    for ( int t = 0; t < g->take_count; ++t )
        tr_free( g->takes[t].tracks );
    tr_free( g->names );
    tr_free( g->rest );
    tr_free( g->now );
    tr_free( g->moved );
    tr_free( g->takes );
    tr_free( g->seen );
    tr_free( g->carriers );
    tr_import_release( &g->base );
    cgltf_free( g->data );
    while ( g->heap.blocks != NULL )
        release( &g->heap, g->heap.blocks + 1 );
    tr_free( g );
}

// ------------------------------------------------------------------------------------------------ opening

static bool refuse( cgltf_result result, tr_error *error )
{
    switch ( result ) {
    case cgltf_result_out_of_memory: return tr_error_memory( error );
    case cgltf_result_data_too_short:
        return tr_error_set( error, "the file ends too early; copy or export it anew" );
    case cgltf_result_unknown_format:
        return tr_error_set( error,
                             "this is no glTF 2.0 file, or it keeps its data where it cannot be read" );
    case cgltf_result_invalid_json:
        return tr_error_set( error, "the JSON in it is broken, so this is no glTF file; export it anew" );
    case cgltf_result_legacy_gltf: return tr_error_set( error, "this is glTF 1.0; export it as glTF 2.0" );
    case cgltf_result_invalid_gltf:
        return tr_error_set(
            error, "parts of it refer to others that are not there (nodes, accessors, buffers), or a part "
                   "that glTF demands is missing; export it anew" );
    default: return tr_error_set( error, "its binary data cannot be read; export it anew, best as GLB" );
    }
}

// cgltf takes the memory for a buffer before it looks at the text that fills it.
static bool check_buffers( const cgltf_data *data, tr_error *error )
{
    for ( size_t i = 0; i < data->buffers_count; ++i ) {
        const cgltf_buffer *buffer = &data->buffers[i];
        if ( buffer->uri != NULL && strncmp( buffer->uri, "data:", 5 ) == 0 &&
             buffer->size > strlen( buffer->uri ) )
            return tr_error_set( error, "buffer %zu is shorter than the file says; export it anew", i );
        if ( buffer->uri != NULL && strstr( buffer->uri, "://" ) != NULL )
            return tr_error_set( error, "its data is on the network (%.100s); save it as one GLB file first",
                                 buffer->uri );
    }
    return true;
}

static bool parse_within( gltf *g, const tr_import_source *source, tr_error *error )
{
    beside b = { .error = error };
    cgltf_options options = {
        .memory = { .alloc_func = allocate, .free_func = release, .user_data = &g->heap },
        .file = { .read = read_beside, .release = release_beside, .user_data = &b } };
    cgltf_data *data;
    cgltf_result result = cgltf_parse( &options, source->data, source->size, &data );
    if ( result != cgltf_result_success )
        return refuse( result, error );
    g->data = data;
    if ( !check_buffers( g->data, error ) )
        return false;
    result = cgltf_load_buffers( &options, g->data, source->path );
    g->data->file.user_data = NULL;
    if ( result == cgltf_result_unknown_format && source->path == NULL )
        return tr_error_set( error, "it names other files, which cannot be read from here" );
    return result == cgltf_result_success || ( b.failed ? false : refuse( result, error ) );
}

static bool parse( gltf *g, const tr_import_source *source, tr_error *error )
{
    jmp_buf out;
    g->heap.out = &out;
    bool ok = setjmp( out ) == 0 ? parse_within( g, source, error ) : tr_error_memory( error );
    g->heap.out = NULL;
    return ok;
}

// -------------------------------------------------------------------------------------------------- nodes

static quat unit_or_identity( quat q )
{
    return q_finite( q ) ? q_unit( q ) : q_identity;
}

static vec3 three( const float *f )
{
    return v3( (double)f[0], (double)f[1], (double)f[2] );
}

static mat3 linear_of( const part *p )
{
    mat3 m = m3_from_quat( p->rotation );
    return ( mat3 ){ v3_scale( p->scale.x, m.cx ), v3_scale( p->scale.y, m.cy ),
                     v3_scale( p->scale.z, m.cz ) };
}

static tr_affine matrix_of( const cgltf_node *node )
{
    return ( tr_affine ){ { three( node->matrix ), three( node->matrix + 4 ), three( node->matrix + 8 ) },
                          three( node->matrix + 12 ) };
}

// The parts of a matrix, for a take that moves one of them.
static part take_apart( tr_affine m )
{
    part p = { .translation = m.position, .rotation = q_fit( m.linear ) };
    mat3 turned = m3_mul( m3_transpose( m3_from_quat( p.rotation ) ), m.linear );
    p.scale = v3( turned.cx.x, turned.cy.y, turned.cz.z );
    return p;
}

static bool read_node( gltf *g, int n, tr_error *error )
{
    const cgltf_node *in = &g->data->nodes[n];
    tr_import_node *out = &g->base.nodes[n];
    if ( in->name != NULL ) {
        g->names[n] = tr_string_copy( in->name );
        if ( g->names[n] == NULL )
            return tr_error_memory( error );
        cgltf_decode_string( g->names[n] );
        out->name = g->names[n];
    }
    out->parent = in->parent != NULL ? (int)( in->parent - g->data->nodes ) : -1;
    out->loaded = in->mesh != NULL || in->camera != NULL || in->light != NULL;
    part *rest = &g->rest[n];
    if ( in->has_matrix )
        *rest = take_apart( matrix_of( in ) );
    else
        *rest = ( part ){ three( in->translation ), three( in->scale ),
                          unit_or_identity( ( quat ){ (double)in->rotation[0], (double)in->rotation[1],
                                                      (double)in->rotation[2], (double)in->rotation[3] } ) };
    tr_affine m = matrix_of( in );
    bool finite = v3_finite( rest->translation ) && v3_finite( rest->scale ) && q_finite( rest->rotation ) &&
                  ( !in->has_matrix ||
                    ( v3_finite( m.linear.cx ) && v3_finite( m.linear.cy ) && v3_finite( m.linear.cz ) ) );
    return finite || tr_error_set( error, "node %d has numbers that are none; export the file anew", n );
}

static bool read_nodes( gltf *g, tr_error *error )
{
    size_t count = g->data->nodes_count;
    if ( count > 1000000 )
        return tr_error_set( error, "it has %zu nodes; a million is the most", count );
    g->names = tr_alloc( count, sizeof *g->names );
    g->rest = tr_alloc( count, sizeof *g->rest );
    g->now = tr_alloc( count, sizeof *g->now );
    g->moved = tr_alloc( count, sizeof *g->moved );
    if ( g->names == NULL || g->rest == NULL || g->now == NULL || g->moved == NULL )
        return tr_error_memory( error );
    if ( !tr_import_alloc( &g->base, (int)count, error ) )
        return false;
    for ( size_t n = 0; n < count; ++n )
        if ( !read_node( g, (int)n, error ) )
            return false;
    return true;
}

// Walks up at most `steps` nodes, which rings would make endless; true where that was not enough to know.
static bool may_be_above( const cgltf_node *top, const cgltf_node *node, int *steps )
{
    for ( ; node != NULL && node != top && *steps > 0; --*steps )
        node = node->parent;
    return node != NULL;
}

static bool read_skins( gltf *g, bool *any, tr_log *warnings, tr_error *error )
{
    const cgltf_data *data = g->data;
    g->base.skin_count = tr_int_clamped( (double)data->skins_count, 0, 1 << 30 );
    g->carriers = tr_alloc( data->skins_count, sizeof *g->carriers );
    if ( g->carriers == NULL )
        return tr_error_memory( error );
    for ( size_t s = 0; s < data->skins_count; ++s )
        g->carriers[s] = -1;
    for ( size_t n = data->nodes_count; n-- > 0; )
        if ( data->nodes[n].skin != NULL )
            g->carriers[data->nodes[n].skin - data->skins] = (int)n;
    int steps = 10000000;
    for ( size_t s = 0; s < data->skins_count; ++s ) {
        const cgltf_skin *skin = &data->skins[s];
        if ( skin->joints_count == 0 )
            tr_log_add( warnings, "skin %zu has no joints", s );
        if ( skin->inverse_bind_matrices != NULL && skin->inverse_bind_matrices->count != skin->joints_count )
            tr_log_add( warnings, "skin %zu has %zu joints, but %zu inverse bind matrices", s,
                        skin->joints_count, skin->inverse_bind_matrices->count );
        size_t below = 0;
        for ( size_t j = 0; j < skin->joints_count; ++j ) {
            below += skin->skeleton == NULL || may_be_above( skin->skeleton, skin->joints[j], &steps );
            int n = (int)( skin->joints[j] - data->nodes );
            g->base.nodes[n].joint = true;
            tr_set_join( g->base.set, (int)( skin->joints[0] - data->nodes ), n );
            *any = true;
        }
        if ( below < skin->joints_count )
            tr_log_add( warnings,
                        "skin %zu: the node that it calls its skeleton is not above its joints; it "
                        "is passed over",
                        s );
    }
    return true;
}

// -------------------------------------------------------------------------------------------------- keys

static size_t component_size( cgltf_component_type type )
{
    switch ( type ) {
    case cgltf_component_type_r_8:
    case cgltf_component_type_r_8u: return 1;
    case cgltf_component_type_r_16:
    case cgltf_component_type_r_16u: return 2;
    case cgltf_component_type_r_32f: return 4;
    default: return 0; // nothing keys are written in
    }
}

static size_t component_count( const cgltf_accessor *a )
{
    return a->type == cgltf_type_scalar ? 1
           : a->type == cgltf_type_vec3 ? 3
           : a->type == cgltf_type_vec4 ? 4
           : a->type == cgltf_type_mat4 ? 16
                                        : 0;
}

static const unsigned char *accessor_bytes( const cgltf_accessor *a )
{
    return (const unsigned char *)a->buffer_view->buffer->data + a->buffer_view->offset + a->offset;
}

// One number of one element. Integers are normalised, as animations have them. No alignment is asked for.
static double number_at( const cgltf_accessor *a, size_t element, size_t component )
{
    const unsigned char *at =
        accessor_bytes( a ) + element * a->stride + component * component_size( a->component_type );
    float f;
    int16_t s;
    uint16_t u;
    switch ( a->component_type ) {
    case cgltf_component_type_r_8: return fmax( (double)(signed char)*at / 127, -1 );
    case cgltf_component_type_r_8u: return *at / 255.0;
    case cgltf_component_type_r_16: memcpy( &s, at, sizeof s ); return fmax( s / 32767.0, -1 );
    case cgltf_component_type_r_16u: memcpy( &u, at, sizeof u ); return u / 65535.0;
    default: memcpy( &f, at, sizeof f ); return (double)f;
    }
}

// All of it is in memory that is there. Sums cannot overflow: every term is below the size of a buffer.
static const char *trouble_of_accessor( const cgltf_accessor *a )
{
    size_t element = component_size( a->component_type ) * component_count( a );
    if ( a->is_sparse )
        return "are stored sparsely, which is not supported";
    if ( a->buffer_view == NULL || a->buffer_view->buffer == NULL || a->buffer_view->buffer->data == NULL )
        return a->buffer_view != NULL && a->buffer_view->has_meshopt_compression
                   ? "are compressed (meshopt); export without compression"
                   : "have no data";
    if ( a->buffer_view->has_meshopt_compression )
        return "are compressed (meshopt); export without compression";
    const cgltf_buffer_view *view = a->buffer_view;
    size_t all = view->buffer->size;
    if ( element == 0 )
        return "are of a type that keys cannot have";
    if ( a->count == 0 )
        return "are none";
    if ( view->offset > all || view->size > all - view->offset || a->offset > view->size ||
         a->stride < element || a->stride > all || ( a->count > 1 && a->count - 1 > all / a->stride ) ||
         ( a->count - 1 ) * a->stride + element > view->size - a->offset )
        return "lie outside of the data";
    return NULL;
}

static unsigned char *seen_of( gltf *g, const cgltf_accessor *a )
{
    return &g->seen[a - g->data->accessors];
}

// *sound is false for what cannot be used, with a warning; the file is refused only for numbers that are
// none.
static bool check_accessor( gltf *g, const cgltf_accessor *a, const char *where, bool *sound,
                            tr_log *warnings, tr_error *error )
{
    unsigned char *seen = seen_of( g, a );
    if ( *seen == 0 ) {
        const char *trouble = trouble_of_accessor( a );
        *seen = trouble == NULL ? SOUND : BROKEN;
        if ( trouble != NULL )
            tr_log_add( warnings, "%s: its keys %s; it is left out", where, trouble );
        for ( size_t e = 0; trouble == NULL && e < a->count; ++e )
            for ( size_t c = 0; c < component_count( a ); ++c )
                if ( !( fabs( number_at( a, e, c ) ) < 1e9 ) )
                    return tr_error_set(
                        error, "%s: key %zu is no number, or a huge one; export the file anew", where, e );
    }
    *sound = *seen & SOUND;
    return true;
}

static bool times_ascend( gltf *g, const cgltf_accessor *times )
{
    unsigned char *seen = seen_of( g, times );
    if ( !( *seen & ( ASCENDS | JUMPS_BACK ) ) ) {
        bool ascends = true;
        for ( size_t e = 1; e < times->count; ++e )
            ascends = ascends && number_at( times, e, 0 ) >= number_at( times, e - 1, 0 );
        *seen |= ascends ? ASCENDS : JUMPS_BACK;
    }
    return *seen & ASCENDS;
}

static const char *const path_names[] = { [cgltf_animation_path_type_translation] = "translation",
                                          [cgltf_animation_path_type_rotation] = "rotation",
                                          [cgltf_animation_path_type_scale] = "scale" };

static bool is_transform( cgltf_animation_path_type path )
{
    return path == cgltf_animation_path_type_translation || path == cgltf_animation_path_type_rotation ||
           path == cgltf_animation_path_type_scale;
}

// Whether counts and types fit each other. Says so otherwise.
static bool check_shape( gltf *g, const track *t, const char *where, tr_log *warnings )
{
    size_t per_key = t->interpolation == cgltf_interpolation_type_cubic_spline ? 3 : 1;
    cgltf_type wanted = t->path == cgltf_animation_path_type_rotation ? cgltf_type_vec4 : cgltf_type_vec3;
    if ( t->times->type != cgltf_type_scalar || t->times->component_type != cgltf_component_type_r_32f ) {
        tr_log_add( warnings, "%s: its times are no floating point numbers; it is left out", where );
        return false;
    }
    if ( t->values->type != wanted ) {
        tr_log_add( warnings, "%s: its keys have %zu numbers each; it is left out", where,
                    component_count( t->values ) );
        return false;
    }
    if ( t->values->count % per_key != 0 || t->values->count / per_key != t->times->count ) {
        tr_log_add( warnings, "%s: %zu times, but %zu values; it is left out", where, t->times->count,
                    t->values->count );
        return false;
    }
    if ( !times_ascend( g, t->times ) ) {
        tr_log_add( warnings, "%s: its times go backwards; it is left out", where );
        return false;
    }
    return true;
}

// The turns of a rotation need not be of length 1, but they must have one.
static void check_quaternions( gltf *g, const track *t, const char *where, tr_log *warnings )
{
    if ( t->path != cgltf_animation_path_type_rotation || ( *seen_of( g, t->values ) & TURNS_SEEN ) )
        return;
    *seen_of( g, t->values ) |= TURNS_SEEN;
    tr_import_limits limits = tr_default_import_limits();
    size_t step = t->interpolation == cgltf_interpolation_type_cubic_spline ? 3 : 1;
    for ( size_t e = step / 2; e < t->values->count; e += step ) {
        double sum = 0;
        for ( size_t c = 0; c < 4; ++c )
            sum += number_at( t->values, e, c ) * number_at( t->values, e, c );
        if ( fabs( sum - 1 ) > limits.unit_length ) {
            tr_log_add( warnings, "%s: rotations are not of length 1 (%.3g in key %zu); they are made so",
                        where, sqrt( sum ), e / step );
            return;
        }
    }
}

static bool add_track( gltf *g, take *t, const cgltf_animation *animation, size_t index, int number,
                       tr_log *warnings, tr_error *error )
{
    const cgltf_animation_channel *channel = &animation->channels[index];
    if ( channel->target_node == NULL || channel->sampler == NULL || !is_transform( channel->target_path ) )
        return true; // morph targets, and what extensions animate
    track new = { .node = (int)( channel->target_node - g->data->nodes ),
                  .path = channel->target_path,
                  .interpolation = channel->sampler->interpolation,
                  .times = channel->sampler->input,
                  .values = channel->sampler->output };
    char where[256];
    const char *node = g->base.nodes[new.node].name;
    snprintf( where, sizeof where, "take %d, %s of node %d (%.80s)", number, path_names[new.path], new.node,
              node != NULL ? node : "without a name" );
    bool times, values = false;
    if ( new.times == NULL || new.values == NULL )
        return true;
    if ( !check_accessor( g, new.times, where, &times, warnings, error ) ||
         ( times && !check_accessor( g, new.values, where, &values, warnings, error ) ) )
        return false;
    if ( !times || !values || !check_shape( g, &new, where, warnings ) )
        return true;
    check_quaternions( g, &new, where, warnings );
    if ( channel->target_node->has_matrix )
        tr_log_add( warnings, "%s: the node is placed by a matrix, which should not be animated", where );
    if ( !tr_array_reserve( (void **)&t->tracks, &t->track_capacity, t->track_count + 1, sizeof new ) )
        return tr_error_memory( error );
    t->tracks[t->track_count++] = new;
    return true;
}

static int by_node( const void *a, const void *b ) // stable by where the values are
{
    const track *p = a, *q = b;
    return p->node != q->node   ? ( p->node > q->node ) - ( p->node < q->node )
           : p->path != q->path ? (int)p->path - (int)q->path
                                : ( p->values > q->values ) - ( p->values < q->values );
}

// Keeps one of two channels for the same thing. Sets the range of the take.
static void settle_tracks( gltf *g, take *t, int number, tr_log *warnings )
{
    int kept = 0;
    if ( t->track_count > 0 )
        qsort( t->tracks, (size_t)t->track_count, sizeof *t->tracks, by_node );
    for ( int i = 0; i < t->track_count; ++i ) {
        const track *at = &t->tracks[i];
        if ( kept > 0 && t->tracks[kept - 1].node == at->node && t->tracks[kept - 1].path == at->path ) {
            tr_log_add( warnings, "take %d: two channels for the %s of node %d; one is left out", number,
                        path_names[at->path], at->node );
            continue;
        }
        double first = number_at( at->times, 0, 0 ), last = number_at( at->times, at->times->count - 1, 0 );
        t->first = kept > 0 ? fmin( t->first, first ) : first;
        t->last = kept > 0 ? fmax( t->last, last ) : last;
        g->base.nodes[at->node].animated = true;
        t->tracks[kept++] = *at;
    }
    t->track_count = kept;
}

// The slowest of the usual rates at which every key is on a frame; that of the limits where there is none.
static double rate_of( const take *t )
{
    tr_import_limits limits = tr_default_import_limits();
    static const double rates[] = { 24, 25, 30, 48, 50, 60, 90, 100, 120, 240 };
    for ( size_t r = 0; r < sizeof rates / sizeof *rates; ++r ) {
        bool fits = true;
        const cgltf_accessor *before = NULL;
        for ( int i = 0; fits && i < t->track_count; ++i ) {
            const cgltf_accessor *times = t->tracks[i].times;
            for ( size_t e = 0; fits && times != before && e < times->count; ++e ) {
                double frame = ( number_at( times, e, 0 ) - t->first ) * rates[r];
                fits = fabs( frame - nearbyint( frame ) ) < limits.on_frame;
            }
            before = times;
        }
        if ( fits )
            return rates[r];
    }
    return limits.fps;
}

static bool read_takes( gltf *g, tr_import *out, tr_log *warnings, tr_error *error )
{
    const cgltf_data *data = g->data;
    size_t most = 0;
    g->takes = tr_alloc( data->animations_count, sizeof *g->takes );
    g->seen = tr_alloc( data->accessors_count, 1 );
    if ( g->takes == NULL || g->seen == NULL )
        return tr_error_memory( error );
    for ( size_t a = 0; a < data->animations_count; ++a ) {
        const cgltf_animation *animation = &data->animations[a];
        take *t = &g->takes[g->take_count++];
        for ( size_t c = 0; c < animation->channels_count; ++c )
            if ( !add_track( g, t, animation, c, g->take_count, warnings, error ) || !tr_work_go_on( error ) )
                return false;
        settle_tracks( g, t, g->take_count, warnings );
        char *name = animation->name != NULL ? tr_string_copy( animation->name ) : NULL;
        if ( animation->name != NULL && name == NULL )
            return tr_error_memory( error );
        if ( name != NULL )
            cgltf_decode_string( name );
        bool ok = tr_import_add_take( out, name, t->first, t->last - t->first, rate_of( t ), error );
        tr_free( name );
        if ( !ok )
            return false;
        most = (size_t)t->track_count > most ? (size_t)t->track_count : most;
    }
    g->base.work = data->nodes_count + 4 * most;
    return true;
}

// ----------------------------------------------------------------------------------------------- sampling

static quat quat_at( const track *t, size_t element )
{
    return ( quat ){ number_at( t->values, element, 0 ), number_at( t->values, element, 1 ),
                     number_at( t->values, element, 2 ), number_at( t->values, element, 3 ) };
}

// The four or three numbers of a track at a moment; those of a rotation are not of length 1 yet.
static quat value_at( const track *t, double time )
{
    bool turn = t->path == cgltf_animation_path_type_rotation;
    size_t low = 0, high = t->times->count - 1;
    while ( high - low > 1 ) { // the key at or before, and the one after
        size_t middle = low + ( high - low ) / 2;
        if ( number_at( t->times, middle, 0 ) <= time )
            low = middle;
        else
            high = middle;
    }
    double from = number_at( t->times, low, 0 ), to = number_at( t->times, high, 0 ), span = to - from;
    double u = span > 0 ? clampd( ( time - from ) / span, 0, 1 ) : time >= to;
    bool cubic = t->interpolation == cgltf_interpolation_type_cubic_spline;
    size_t step = cubic ? 3 : 1, key = cubic;
    double p[4], q[4], m[4] = { 0 }, n[4] = { 0 };
    for ( size_t c = 0; c < ( turn ? 4 : 3 ); ++c ) {
        p[c] = number_at( t->values, step * low + key, c );
        q[c] = number_at( t->values, step * high + key, c );
        if ( cubic ) {
            m[c] = span * number_at( t->values, step * low + 2, c );
            n[c] = span * number_at( t->values, step * high, c );
        }
    }
    if ( !turn )
        p[3] = q[3] = 0;
    if ( u >= 1 || u <= 0 || t->interpolation == cgltf_interpolation_type_step ) {
        const double *k = u >= 1 ? q : p;
        return ( quat ){ k[0], k[1], k[2], k[3] };
    }
    if ( turn && !cubic )
        return q_slerp( q_unit( quat_at( t, low ) ), q_unit( quat_at( t, high ) ), u );
    double uu = u * u, uuu = uu * u, out[4];
    for ( size_t c = 0; c < 4; ++c )
        out[c] = cubic ? ( 2 * uuu - 3 * uu + 1 ) * p[c] + ( uuu - 2 * uu + u ) * m[c] +
                             ( 3 * uu - 2 * uuu ) * q[c] + ( uuu - uu ) * n[c]
                       : lerpd( p[c], q[c], u );
    return ( quat ){ out[0], out[1], out[2], out[3] };
}

static bool sample_gltf( struct tr_import_file *file, int number, double time, tr_affine *world,
                         tr_error *error )
{
    (void)error;
    gltf *g = (gltf *)file;
    const take *t = number >= 0 ? &g->takes[number] : NULL;
    memcpy( g->now, g->rest, (size_t)file->node_count * sizeof *g->now );
    memset( g->moved, 0, (size_t)file->node_count * sizeof *g->moved );
    for ( int i = 0; t != NULL && i < t->track_count; ++i ) {
        const track *at = &t->tracks[i];
        part *p = &g->now[at->node];
        quat v = value_at( at, time );
        g->moved[at->node] = true;
        if ( at->path == cgltf_animation_path_type_rotation )
            p->rotation = unit_or_identity( v );
        else if ( at->path == cgltf_animation_path_type_translation )
            p->translation = v3( v.x, v.y, v.z );
        else
            p->scale = v3( v.x, v.y, v.z );
    }
    for ( int i = 0; i < file->node_count; ++i ) {
        int n = file->order[i], parent = file->nodes[n].parent;
        const cgltf_node *node = &g->data->nodes[n];
        tr_affine local = node->has_matrix && !g->moved[n]
                              ? matrix_of( node )
                              : ( tr_affine ){ linear_of( &g->now[n] ), g->now[n].translation };
        world[n] = parent >= 0 ? tr_affine_mul( world[parent], local ) : local;
    }
    return true;
}

static bool gltf_moves( const struct tr_import_file *file, int number, int node )
{
    const take *t = &( (const gltf *)file )->takes[number];
    int low = 0, high = t->track_count;
    while ( low < high ) {
        int middle = low + ( high - low ) / 2;
        if ( t->tracks[middle].node < node )
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->track_count && t->tracks[low].node == node;
}

// ---------------------------------------------------------------------------------------------- documents

static tr_import_document gltf_document( const struct tr_import_file *file )
{
    const cgltf_data *data = ( (const gltf *)file )->data;
    return ( tr_import_document ){ data->json, data->json_size, (int)data->buffers_count,
                                   (int)data->skins_count };
}

static const char *gltf_buffer( const struct tr_import_file *file, int buffer, size_t *size )
{
    const cgltf_buffer *b = &( (const gltf *)file )->data->buffers[buffer];
    *size = b->data != NULL ? b->size : 0;
    return b->data;
}

static int gltf_skin_joint( const struct tr_import_file *file, int skin, int index )
{
    const cgltf_data *data = ( (const gltf *)file )->data;
    const cgltf_skin *s = &data->skins[skin];
    return (size_t)index < s->joints_count ? (int)( s->joints[index] - data->nodes ) : -1;
}

static tr_affine gltf_inverse_bind( const struct tr_import_file *file, int skin, int index )
{
    const cgltf_accessor *a = ( (const gltf *)file )->data->skins[skin].inverse_bind_matrices;
    if ( a == NULL || a->type != cgltf_type_mat4 || trouble_of_accessor( a ) != NULL ||
         (size_t)index >= a->count )
        return tr_affine_identity;
    vec3 columns[4];
    for ( size_t c = 0; c < 4; ++c )
        columns[c] = v3( number_at( a, (size_t)index, 4 * c ), number_at( a, (size_t)index, 4 * c + 1 ),
                         number_at( a, (size_t)index, 4 * c + 2 ) );
    return ( tr_affine ){ { columns[0], columns[1], columns[2] }, columns[3] };
}

// ------------------------------------------------------------------------------------------------ weights

enum { WEIGHT_SETS = 8 }; // of four weights each

typedef struct weights { // of the points of a part of a mesh
    const cgltf_accessor *sets[WEIGHT_SETS];
    int count;
    size_t points;
} weights;

static weights find_weights( const cgltf_primitive *of )
{
    weights w = { 0 };
    for ( size_t a = 0; a < of->attributes_count; ++a ) {
        const cgltf_attribute *at = &of->attributes[a];
        bool sound = at->type == cgltf_attribute_type_weights && at->data != NULL &&
                     at->data->type == cgltf_type_vec4 &&
                     at->data->component_type == cgltf_component_type_r_32f &&
                     trouble_of_accessor( at->data ) == NULL;
        if ( !sound || w.count == WEIGHT_SETS || ( w.count > 0 && at->data->count != w.points ) )
            continue;
        w.sets[w.count++] = at->data;
        w.points = at->data->count;
    }
    return w;
}

// 1 where there are none, or none that could be scaled.
static double sum_of_weights( const weights *w, size_t point )
{
    double sum = 0;
    for ( int s = 0; s < w->count; ++s )
        for ( size_t c = 0; c < 4; ++c )
            sum += number_at( w->sets[s], point, c );
    return sum > 1e-6 && sum < 1e6 ? sum : 1;
}

static void warn_of_weights( const cgltf_data *data, tr_log *warnings )
{
    tr_import_limits limits = tr_default_import_limits();
    size_t wrong = 0;
    for ( size_t m = 0; m < data->meshes_count; ++m )
        for ( size_t p = 0; p < data->meshes[m].primitives_count; ++p ) {
            weights w = find_weights( &data->meshes[m].primitives[p] );
            for ( size_t i = 0; i < w.points; ++i )
                wrong += fabs( sum_of_weights( &w, i ) - 1 ) > limits.whole_weight;
        }
    if ( wrong > 0 )
        tr_log_add( warnings, "the weights of %zu points of its meshes do not add up to 1; they are scaled",
                    wrong );
}

static void gltf_mend( const struct tr_import_file *file, int buffer, char *copy )
{
    const cgltf_data *data = ( (const gltf *)file )->data;
    for ( size_t m = 0; m < data->meshes_count; ++m )
        for ( size_t p = 0; p < data->meshes[m].primitives_count; ++p ) {
            weights w = find_weights( &data->meshes[m].primitives[p] );
            for ( size_t i = 0; i < w.points; ++i )
                for ( int s = 0; s < w.count; ++s ) {
                    const cgltf_accessor *a = w.sets[s];
                    if ( a->buffer_view->buffer != &data->buffers[buffer] )
                        continue;
                    for ( size_t c = 0; c < 4; ++c ) {
                        float even = (float)( number_at( a, i, c ) / sum_of_weights( &w, i ) );
                        memcpy( copy + a->buffer_view->offset + a->offset + i * a->stride + c * sizeof even,
                                &even, sizeof even );
                    }
                }
        }
}

static bool gltf_bound( const struct tr_import_file *file, int skin, int index, int *node, tr_affine *place )
{
    const cgltf_data *data = ( (const gltf *)file )->data;
    const cgltf_accessor *a = data->skins[skin].inverse_bind_matrices;
    *node = gltf_skin_joint( file, skin, index );
    if ( *node < 0 || a == NULL || a->type != cgltf_type_mat4 || (size_t)index >= a->count ||
         trouble_of_accessor( a ) != NULL )
        return false;
    tr_affine to_joint = gltf_inverse_bind( file, skin, index );
    mat3 linear = m3_inverse( to_joint.linear );
    *place = ( tr_affine ){ linear, v3_scale( -1, m3_mulv( linear, to_joint.position ) ) };
    return true;
}

static int gltf_carrier( const struct tr_import_file *file, int skin )
{
    return ( (const gltf *)file )->carriers[skin];
}

static const tr_import_papers gltf_papers = { gltf_document, gltf_buffer, gltf_skin_joint, gltf_inverse_bind,
                                              gltf_mend };

// ------------------------------------------------------------------------------------------------ the file

static void warn_of_extensions( const cgltf_data *data, tr_log *warnings )
{
    static const char *const known[] = { "KHR_", "EXT_mesh", "EXT_texture", "VRM" };
    for ( size_t i = 0; i < data->extensions_required_count; ++i ) {
        const char *name = data->extensions_required[i];
        bool fine = false;
        for ( size_t k = 0; k < sizeof known / sizeof *known; ++k )
            fine = fine || ( name != NULL && strncmp( name, known[k], strlen( known[k] ) ) == 0 );
        if ( !fine )
            tr_log_add( warnings, "it needs the extension %.60s, which is not known here",
                        name ? name : "?" );
    }
}

bool tr_gltf_open( tr_import *out, const tr_import_source *source, tr_log *warnings, tr_error *error )
{
    gltf *g = tr_alloc( 1, sizeof *g );
    if ( g == NULL )
        return tr_error_memory( error );
    out->format = "glTF";
    out->file = &g->base;
    g->base.sample = sample_gltf;
    g->base.moves = gltf_moves;
    g->base.close = close_gltf;
    g->base.papers = &gltf_papers;
    g->base.bound = gltf_bound;
    g->base.carrier = gltf_carrier;
    g->base.bytes = source->size;
    tr_import_place( &g->base, source->def );
    bool skinned = false;
    if ( !parse( g, source, error ) || !read_nodes( g, error ) ||
         !read_skins( g, &skinned, warnings, error ) || !read_takes( g, out, warnings, error ) ||
         !tr_import_find_skeletons( out, skinned, error ) )
        return false;
    out->mesh_count = tr_int_clamped( (double)g->data->meshes_count, 0, 1 << 30 );
    out->skin_count = tr_int_clamped( (double)g->data->skins_count, 0, 1 << 30 );
    for ( size_t s = 0; s < g->data->skins_count; ++s )
        if ( g->data->skins[s].joints_count > 0 )
            tr_import_count_skin( out, (int)( g->data->skins[s].joints[0] - g->data->nodes ) );
    warn_of_weights( g->data, warnings );
    warn_of_extensions( g->data, warnings );
    return true;
}

#else

bool tr_gltf_open( tr_import *out, const tr_import_source *source, tr_log *warnings, tr_error *error )
{
    (void)out;
    (void)source;
    (void)warnings;
    return tr_error_set( error, "this build cannot read glTF" );
}

#endif
