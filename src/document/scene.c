#include "document/fields.h"

#include <assert.h>
#include <string.h>

const char *const tr_constraint_kind_names[] = {
    "absolute", "contact", "orientation", "length", "centre_of_mass", "relative", NULL,
};

const char *const tr_layer_kind_names[] = { "cage", "retime", NULL };

const char *const tr_pair_kind_names[] = { "link", "exclude", "limit", "pass", NULL };

_Static_assert( sizeof tr_layer_kind_names / sizeof *tr_layer_kind_names == TR_LAYER_KINDS + 1,
                "every kind has a name" );
_Static_assert( sizeof tr_pair_kind_names / sizeof *tr_pair_kind_names == TR_PAIR_KINDS + 1,
                "every kind has a name" );
_Static_assert( sizeof tr_constraint_kind_names / sizeof *tr_constraint_kind_names == TR_CONSTRAINT_KINDS + 1,
                "every kind has a name" );

// ------------------------------------------------------------------------------------------------ lists

_Static_assert( offsetof( tr_cast, id ) == 0 && offsetof( tr_prop, id ) == 0 &&
                    offsetof( tr_obstacle, id ) == 0 && offsetof( tr_constraint, id ) == 0 &&
                    offsetof( tr_layer, id ) == 0 && offsetof( tr_section, id ) == 0 &&
                    offsetof( tr_handle, id ) == 0 && offsetof( tr_cast_clip, id ) == 0 &&
                    offsetof( tr_pair, id ) == 0 && offsetof( tr_drive, id ) == 0 &&
                    offsetof( tr_example, id ) == 0 && offsetof( tr_part_drive, id ) == 0,
                "every element starts with its id" );
_Static_assert( offsetof( tr_prop, shape ) == sizeof( tr_id ) &&
                    offsetof( tr_obstacle, shape ) == sizeof( tr_id ) &&
                    offsetof( tr_constraint, kind ) == sizeof( tr_id ) &&
                    offsetof( tr_layer, kind ) == sizeof( tr_id ) &&
                    offsetof( tr_pair, kind ) == sizeof( tr_id ) &&
                    sizeof( tr_constraint_kind ) == sizeof( int ) &&
                    sizeof( tr_shape_kind ) == sizeof( int ) && sizeof( tr_layer_kind ) == sizeof( int ) &&
                    sizeof( tr_pair_kind ) == sizeof( int ),
                "the kind follows the id" );

#define LIST( path, noun, type, data, name )                                                                 \
    {                                                                                                        \
        path, noun, sizeof( type ), offsetof( tr_scene, data ), offsetof( tr_scene, name##_count ),          \
            offsetof( tr_scene, name##_capacity )                                                            \
    }

static const tr_list_info list_infos[TR_LIST_COUNT] = {
    [TR_LIST_CAST] = LIST( "cast", "cast member", tr_cast, cast, cast ),
    [TR_LIST_PROP] = LIST( "props", "prop", tr_prop, props, prop ),
    [TR_LIST_OBSTACLE] = LIST( "environment.boxes", "obstacle", tr_obstacle, obstacles, obstacle ),
    [TR_LIST_CONSTRAINT] = LIST( "constraints", "constraint", tr_constraint, constraints, constraint ),
    [TR_LIST_LAYER] = LIST( "layers", "layer", tr_layer, layers, layer ),
    [TR_LIST_SECTION] = LIST( "sections", "section", tr_section, sections, section ),
    [TR_LIST_HANDLE] = LIST( "handles", "handle", tr_handle, handles, handle ),
    [TR_LIST_CLIP] = LIST( "clips", "clip", tr_cast_clip, clips, clip ),
    [TR_LIST_PAIR] = LIST( "pairs", "pair", tr_pair, pairs, pair ),
    [TR_LIST_DRIVE] = LIST( "drives", "drive", tr_drive, drives, drive ),
    [TR_LIST_EXAMPLE] = LIST( "examples", "example", tr_example, examples, example ),
    [TR_LIST_PART] = LIST( "parts", "part", tr_part_drive, parts, part ),
};

const tr_list_info *tr_list_get_info( tr_list list )
{
    return &list_infos[list];
}

bool tr_list_holds_bodies( tr_list list )
{
    return list <= TR_LIST_OBSTACLE;
}

const tr_kind_set *tr_list_kinds( tr_list list )
{
    static const tr_kind_set props = { "prop", tr_shape_kind_names, "shape", false };
    static const tr_kind_set obstacles = { "obstacle", tr_shape_kind_names, "shape", false };
    static const tr_kind_set constraints = { "constraint", tr_constraint_kind_names, "kind", true };
    static const tr_kind_set layers = { "layer", tr_layer_kind_names, "kind", true };
    static const tr_kind_set pairs = { "pair", tr_pair_kind_names, "kind", true };
    switch ( list ) {
    case TR_LIST_PROP: return &props;
    case TR_LIST_OBSTACLE: return &obstacles;
    case TR_LIST_CONSTRAINT: return &constraints;
    case TR_LIST_LAYER: return &layers;
    case TR_LIST_PAIR: return &pairs;
    default: return NULL;
    }
}

int tr_element_kind( tr_list list, const void *element )
{
    int kind = 0;
    if ( tr_list_kinds( list ) != NULL )
        memcpy( &kind, (const char *)element + sizeof( tr_id ), sizeof kind );
    return kind;
}

static void **list_data( const tr_scene *scene, tr_list list )
{
    return (void **)( (char *)scene + list_infos[list].data );
}

static int *list_count( const tr_scene *scene, tr_list list )
{
    return (int *)( (char *)scene + list_infos[list].count );
}

static int *list_capacity( const tr_scene *scene, tr_list list )
{
    return (int *)( (char *)scene + list_infos[list].capacity );
}

int tr_list_count( const tr_scene *scene, tr_list list )
{
    return *list_count( scene, list );
}

void *tr_list_at( const tr_scene *scene, tr_list list, int index )
{
    if ( list == TR_LIST_SCENE )
        return (void *)scene;
    return (char *)*list_data( scene, list ) + (size_t)index * list_infos[list].size;
}

int tr_list_find( const tr_scene *scene, tr_list list, const char *id )
{
    for ( int i = 0; i < tr_list_count( scene, list ); ++i )
        if ( strcmp( tr_list_at( scene, list, i ), id ) == 0 )
            return i;
    return -1;
}

bool tr_list_insert( tr_scene *scene, tr_list list, int index, const void *element )
{
    int *count = list_count( scene, list );
    size_t size = list_infos[list].size;
    assert( 0 <= index && index <= *count );
    if ( !tr_array_reserve( list_data( scene, list ), list_capacity( scene, list ), *count + 1, size ) )
        return false;
    char *at = tr_list_at( scene, list, index );
    memmove( at + size, at, (size_t)( *count - index ) * size );
    memcpy( at, element, size );
    ++*count;
    return true;
}

void tr_list_remove( tr_scene *scene, tr_list list, int index )
{
    int *count = list_count( scene, list );
    size_t size = list_infos[list].size;
    assert( 0 <= index && index < *count );
    char *at = tr_list_at( scene, list, index );
    memmove( at, at + size, (size_t)( *count - index - 1 ) * size );
    --*count;
}

// --------------------------------------------------------------------------------------------- defaults

bool tr_string_set( char *out, size_t size, const char *text )
{
    size_t length = strlen( text );
    bool fits = length < size;
    memset( out, 0, size );
    memcpy( out, text, fits ? length : size - 1 );
    return fits;
}

static void set_id( tr_id out, const char *id )
{
    bool fits = tr_string_set( out, TR_ID_MAX, id );
    assert( fits );
    (void)fits;
}

static void set_colour( float out[3], int red, int green, int blue )
{
    out[0] = (float)red / 255;
    out[1] = (float)green / 255;
    out[2] = (float)blue / 255;
}

tr_scene tr_default_scene( void )
{
    return ( tr_scene ){ .fps = 30 };
}

tr_cast tr_default_cast( const char *id )
{
    tr_cast cast;
    memset( &cast, 0, sizeof cast ); // padding too: undo and hashing work on bytes
    set_id( cast.id, id );
    cast.source.last = -1;
    cast.target.scale = 1;
    cast.target.skeleton.last = cast.target.look.last = -1;
    cast.target.reference = -1;
    cast.target.examples = true;
    set_colour( cast.colour, 111, 143, 191 );
    cast.contacts = cast.soles = true;
    return cast;
}

const tr_file_ref *tr_cast_meshes( const tr_cast *cast )
{
    const tr_target *target = &cast->target;
    return target->look.file[0] != 0       ? &target->look
           : target->skeleton.file[0] != 0 ? &target->skeleton
                                           : &cast->source;
}

static tr_form default_form( void )
{
    tr_form form;
    memset( &form, 0, sizeof form );
    form.thickness = 0.05;
    form.unit = 1;
    form.up = 'y';
    return form;
}

tr_prop tr_default_prop( const char *id )
{
    tr_prop prop;
    memset( &prop, 0, sizeof prop );
    set_id( prop.id, id );
    prop.size = v3( 0.3, 0.3, 0.3 );
    prop.form = default_form();
    prop.scale = 1;
    prop.track.last = -1;
    set_colour( prop.colour, 240, 196, 64 );
    return prop;
}

tr_obstacle tr_default_obstacle( const char *id )
{
    tr_obstacle obstacle;
    memset( &obstacle, 0, sizeof obstacle );
    set_id( obstacle.id, id );
    obstacle.size = v3( 1, 1, 1 );
    obstacle.form = default_form();
    obstacle.scale = 1;
    set_colour( obstacle.colour, 158, 158, 163 );
    return obstacle;
}

tr_constraint tr_default_constraint( const char *id, tr_constraint_kind kind )
{
    tr_constraint constraint;
    memset( &constraint, 0, sizeof constraint );
    set_id( constraint.id, id );
    constraint.kind = kind;
    constraint.first = -TR_MAX_FRAMES;
    constraint.last = TR_MAX_FRAMES;
    constraint.hard = true;
    constraint.weight = 1;
    constraint.axis[0] = constraint.axis[1] = constraint.axis[2] = true;
    constraint.rotation = q_identity;
    if ( kind == TR_CONSTRAINT_CONTACT )
        set_id( constraint.surface, "ground" );
    return constraint;
}

tr_layer tr_default_layer( const char *id, tr_layer_kind kind )
{
    tr_layer layer;
    memset( &layer, 0, sizeof layer );
    set_id( layer.id, id );
    layer.kind = kind;
    layer.first = -TR_MAX_FRAMES;
    layer.last = TR_MAX_FRAMES;
    layer.padding = 0.1;
    return layer;
}

tr_section tr_default_section( const char *id, const char *layer, int frame )
{
    tr_section section;
    memset( &section, 0, sizeof section );
    set_id( section.id, id );
    set_id( section.layer, layer );
    section.frame = frame;
    return section;
}

tr_handle tr_default_handle( const char *id, const char *layer, int frame )
{
    tr_handle handle;
    memset( &handle, 0, sizeof handle );
    set_id( handle.id, id );
    set_id( handle.layer, layer );
    handle.frame = frame;
    handle.vertex = -1;
    handle.pinned = true;
    return handle;
}

tr_cast_clip tr_default_cast_clip( const char *id, const char *cast )
{
    tr_cast_clip clip;
    memset( &clip, 0, sizeof clip );
    set_id( clip.id, id );
    set_id( clip.cast, cast );
    clip.source.last = -1;
    clip.blend = -1;
    return clip;
}

tr_drive tr_default_drive( const char *id, const char *cast )
{
    tr_drive drive;
    memset( &drive, 0, sizeof drive );
    set_id( drive.id, id );
    set_id( drive.cast, cast );
    return drive;
}

tr_example tr_default_example( const char *id, const char *cast )
{
    tr_example example;
    memset( &example, 0, sizeof example );
    set_id( example.id, id );
    set_id( example.cast, cast );
    return example;
}

tr_part_drive tr_default_part( const char *id, const char *cast )
{
    tr_part_drive part;
    memset( &part, 0, sizeof part );
    set_id( part.id, id );
    set_id( part.cast, cast );
    return part;
}

tr_pair tr_default_pair( const char *id, tr_pair_kind kind )
{
    tr_pair pair;
    memset( &pair, 0, sizeof pair );
    set_id( pair.id, id );
    pair.kind = kind;
    pair.first = -TR_MAX_FRAMES;
    pair.last = TR_MAX_FRAMES;
    return pair;
}

void tr_element_default( tr_element *out, tr_list list, const char *id, int kind )
{
    memset( out, 0, sizeof *out );
    switch ( list ) {
    case TR_LIST_CAST: out->cast = tr_default_cast( id ); break;
    case TR_LIST_PROP:
        out->prop = tr_default_prop( id );
        out->prop.shape = (tr_shape_kind)kind;
        break;
    case TR_LIST_OBSTACLE:
        out->obstacle = tr_default_obstacle( id );
        out->obstacle.shape = (tr_shape_kind)kind;
        break;
    case TR_LIST_CONSTRAINT: out->constraint = tr_default_constraint( id, (tr_constraint_kind)kind ); break;
    case TR_LIST_LAYER: out->layer = tr_default_layer( id, (tr_layer_kind)kind ); break;
    case TR_LIST_SECTION: out->section = tr_default_section( id, "", 0 ); break;
    case TR_LIST_HANDLE: out->handle = tr_default_handle( id, "", 0 ); break;
    case TR_LIST_CLIP: out->clip = tr_default_cast_clip( id, "" ); break;
    case TR_LIST_PAIR: out->pair = tr_default_pair( id, (tr_pair_kind)kind ); break;
    case TR_LIST_DRIVE: out->drive = tr_default_drive( id, "" ); break;
    case TR_LIST_EXAMPLE: out->example = tr_default_example( id, "" ); break;
    case TR_LIST_PART: out->part = tr_default_part( id, "" ); break;
    default: set_id( out->id, id ); break;
    }
}

tr_point tr_point_joint( const char *who, const char *joint )
{
    tr_point point;
    memset( &point, 0, sizeof point );
    set_id( point.who, who );
    bool fits = tr_string_set( point.terms[0].joint, TR_JOINT_MAX, joint );
    assert( fits );
    (void)fits;
    point.terms[0].weight = 1;
    point.term_count = 1;
    return point;
}

tr_point tr_point_prop( const char *who, vec3 offset )
{
    tr_point point;
    memset( &point, 0, sizeof point );
    set_id( point.who, who );
    point.offset = offset;
    return point;
}

// ------------------------------------------------------------------------------------------- the scene

void tr_scene_free( tr_scene *scene )
{
    for ( tr_list list = 0; list < TR_LIST_COUNT; ++list )
        tr_free( *list_data( scene, list ) );
    *scene = tr_default_scene();
}

bool tr_scene_copy( tr_scene *out, const tr_scene *in, tr_error *error )
{
    *out = tr_default_scene();
    out->fps = in->fps;
    out->first = in->first;
    out->last = in->last;
    out->ground = in->ground;
    out->imesh = in->imesh;
    for ( tr_list list = 0; list < TR_LIST_COUNT; ++list ) {
        int count = tr_list_count( in, list );
        size_t size = list_infos[list].size;
        if ( count == 0 )
            continue;
        if ( !tr_array_reserve( list_data( out, list ), list_capacity( out, list ), count, size ) ) {
            tr_scene_free( out );
            return tr_error_memory( error );
        }
        memcpy( *list_data( out, list ), *list_data( in, list ), (size_t)count * size );
        *list_count( out, list ) = count;
    }
    return true;
}

static void *append( tr_scene *scene, tr_list list, const void *element )
{
    int count = tr_list_count( scene, list );
    return tr_list_insert( scene, list, count, element ) ? tr_list_at( scene, list, count ) : NULL;
}

tr_cast *tr_scene_add_cast( tr_scene *scene, const tr_cast *cast )
{
    return append( scene, TR_LIST_CAST, cast );
}

tr_prop *tr_scene_add_prop( tr_scene *scene, const tr_prop *prop )
{
    return append( scene, TR_LIST_PROP, prop );
}

tr_obstacle *tr_scene_add_obstacle( tr_scene *scene, const tr_obstacle *obstacle )
{
    return append( scene, TR_LIST_OBSTACLE, obstacle );
}

tr_constraint *tr_scene_add_constraint( tr_scene *scene, const tr_constraint *constraint )
{
    return append( scene, TR_LIST_CONSTRAINT, constraint );
}

tr_layer *tr_scene_add_layer( tr_scene *scene, const tr_layer *layer )
{
    return append( scene, TR_LIST_LAYER, layer );
}

tr_section *tr_scene_add_section( tr_scene *scene, const tr_section *section )
{
    return append( scene, TR_LIST_SECTION, section );
}

tr_handle *tr_scene_add_handle( tr_scene *scene, const tr_handle *handle )
{
    return append( scene, TR_LIST_HANDLE, handle );
}

tr_cast_clip *tr_scene_add_clip( tr_scene *scene, const tr_cast_clip *clip )
{
    return append( scene, TR_LIST_CLIP, clip );
}

tr_pair *tr_scene_add_pair( tr_scene *scene, const tr_pair *pair )
{
    return append( scene, TR_LIST_PAIR, pair );
}

tr_drive *tr_scene_add_drive( tr_scene *scene, const tr_drive *drive )
{
    return append( scene, TR_LIST_DRIVE, drive );
}

tr_example *tr_scene_add_example( tr_scene *scene, const tr_example *example )
{
    return append( scene, TR_LIST_EXAMPLE, example );
}

tr_part_drive *tr_scene_add_part( tr_scene *scene, const tr_part_drive *part )
{
    return append( scene, TR_LIST_PART, part );
}

int tr_scene_find_cast( const tr_scene *scene, const char *id )
{
    return tr_list_find( scene, TR_LIST_CAST, id );
}

int tr_scene_find_prop( const tr_scene *scene, const char *id )
{
    return tr_list_find( scene, TR_LIST_PROP, id );
}

int tr_scene_find_obstacle( const tr_scene *scene, const char *id )
{
    return tr_list_find( scene, TR_LIST_OBSTACLE, id );
}

int tr_scene_find_constraint( const tr_scene *scene, const char *id )
{
    return tr_list_find( scene, TR_LIST_CONSTRAINT, id );
}

int tr_scene_find_layer( const tr_scene *scene, const char *id )
{
    return tr_list_find( scene, TR_LIST_LAYER, id );
}

int tr_scene_find_section( const tr_scene *scene, const char *id )
{
    return tr_list_find( scene, TR_LIST_SECTION, id );
}

int tr_scene_find_handle( const tr_scene *scene, const char *id )
{
    return tr_list_find( scene, TR_LIST_HANDLE, id );
}

int tr_scene_find_drive( const tr_scene *scene, const char *id )
{
    return tr_list_find( scene, TR_LIST_DRIVE, id );
}

int tr_scene_find_example( const tr_scene *scene, const char *id )
{
    return tr_list_find( scene, TR_LIST_EXAMPLE, id );
}

bool tr_scene_exemplifies( const tr_scene *scene, const tr_cast *cast )
{
    int count = 0;
    bool joints = cast->target.examples;
    for ( int i = 0; i < scene->example_count; ++i )
        count += !scene->examples[i].muted && strcmp( scene->examples[i].cast, cast->id ) == 0;
    for ( int i = 0; i < scene->part_count; ++i )
        joints = joints || strcmp( scene->parts[i].cast, cast->id ) == 0;
    return joints && count > 1;
}

int tr_scene_find_part( const tr_scene *scene, const char *id )
{
    return tr_list_find( scene, TR_LIST_PART, id );
}

bool tr_layer_is_active( const tr_scene *scene, int layer )
{
    bool solo = false;
    for ( int i = 0; i < scene->layer_count; ++i )
        solo = solo || ( scene->layers[i].solo && !scene->layers[i].muted );
    return !scene->layers[layer].muted && ( !solo || scene->layers[layer].solo );
}
