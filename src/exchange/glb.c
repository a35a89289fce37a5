// GLB out: one file with all characters, things and one animation. Joints keep the axes of the skeleton, bind
// poses are rest poses. A skinned mesh hangs at the root of the scene, as the specification asks for.
#include "exchange/glb.h"

#include <float.h>
#include <stdint.h>
#include <string.h>

enum { BYTE = 5121, SHORT = 5123, INT = 5125, FLOAT = 5126 }; // types of components
enum { VERTICES = 34962, INDICES = 34963 };                   // targets of views

// ------------------------------------------------------------------------------------------------- pieces

int tr_glb_next( tr_glb_list *l )
{
    if ( l->count > 0 )
        tr_text_append( &l->text, ",", 1 );
    return l->count++;
}

static void print_number( tr_text *out, double value ) // as it is in single precision
{
    tr_text_exact( out, (double)(float)value + 0.0 );
}

static void print_numbers( tr_text *out, const char *key, const double *values, int count )
{
    tr_text_add( out, ",\"%s\":[", key );
    for ( int i = 0; i < count; ++i ) {
        if ( i > 0 )
            tr_text_append( out, ",", 1 );
        print_number( out, values[i] );
    }
    tr_text_append( out, "]", 1 );
}

static void print_vector( tr_text *out, const char *key, vec3 v )
{
    print_numbers( out, key, ( const double[] ){ v.x, v.y, v.z }, 3 );
}

static void print_rotation( tr_text *out, quat q )
{
    print_numbers( out, "rotation", ( const double[] ){ q.x, q.y, q.z, q.w }, 4 );
}

static void print_name( tr_text *out, const char *name, const char *ending )
{
    tr_text whole = { 0 };
    tr_text_add( &whole, "%s%s", name, ending );
    out->failed |= whole.failed;
    tr_text_add( out, "{\"name\":" );
    if ( !whole.failed )
        tr_text_quoted( out, whole.data, whole.size );
    tr_text_free( &whole );
}

void tr_glb_pad( tr_text *text, const char filler[3] ) // to a multiple of four
{
    tr_text_append( text, filler, ( 4 - text->size % 4 ) % 4 );
}

void tr_glb_append( tr_text *to, const tr_text *from )
{
    to->failed |= from->failed;
    if ( from->size > 0 )
        tr_text_append( to, from->data, from->size );
}

int tr_glb_add_view( tr_glb *w, const void *bytes, size_t size, int target )
{
    tr_glb_pad( &w->data, "\0\0\0" );
    int index = tr_glb_next( &w->views );
    tr_text_add( &w->views.text, "{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu", w->data.size, size );
    if ( target != 0 )
        tr_text_add( &w->views.text, ",\"target\":%d", target );
    tr_text_append( &w->views.text, "}", 1 );
    tr_text_append( &w->data, bytes, size );
    return index;
}

static int add_accessor( tr_glb *w, int view, int type, int count, const char *shape )
{
    int index = tr_glb_next( &w->accessors );
    tr_text_add( &w->accessors.text, "{\"bufferView\":%d,\"componentType\":%d,\"count\":%d,\"type\":\"%s\"",
                 view, type, count, shape );
    return index;
}

bool tr_glb_reserve( tr_glb *w, int count )
{
    bool ok = tr_array_reserve( (void **)&w->numbers, &w->capacity, count, sizeof( float ) );
    w->failed |= !ok;
    return ok;
}

// Stores the numbers at hand as elements of so many components, with their bounds where `bounds` is set.
int tr_glb_add_floats( tr_glb *w, int count, int components, int target, bool bounds )
{
    static const char *const shapes[] = { [1] = "SCALAR", [3] = "VEC3", [4] = "VEC4", [16] = "MAT4" };
    size_t size = (size_t)count * (size_t)components * sizeof( float );
    int index =
        add_accessor( w, tr_glb_add_view( w, w->numbers, size, target ), FLOAT, count, shapes[components] );
    double low[4], high[4];
    for ( int c = 0; bounds && c < components; ++c ) {
        low[c] = INFINITY;
        high[c] = -INFINITY;
        for ( int i = 0; i < count; ++i ) {
            low[c] = fmin( low[c], (double)w->numbers[i * components + c] );
            high[c] = fmax( high[c], (double)w->numbers[i * components + c] );
        }
    }
    if ( bounds ) {
        print_numbers( &w->accessors.text, "min", low, components );
        print_numbers( &w->accessors.text, "max", high, components );
    }
    tr_text_append( &w->accessors.text, "}", 1 );
    return index;
}

void tr_glb_put_vector( tr_glb *w, int index, vec3 v )
{
    float *to = w->numbers + 3 * index;
    to[0] = (float)v.x + 0.0f;
    to[1] = (float)v.y + 0.0f;
    to[2] = (float)v.z + 0.0f;
}

static int add_vectors( tr_glb *w, const vec3 *v, int count, bool bounds )
{
    if ( !tr_glb_reserve( w, 3 * count ) )
        return 0;
    for ( int i = 0; i < count; ++i )
        tr_glb_put_vector( w, i, v[i] );
    return tr_glb_add_floats( w, count, 3, VERTICES, bounds );
}

// ------------------------------------------------------------------------------------------------- meshes

static int add_triangles( tr_glb *w, const tr_facets *facets )
{
    int count = 3 * facets->triangle_count;
    const int *corners = &facets->triangles[0][0];
    bool small = facets->point_count < 65535; // the largest number is reserved
    size_t size = (size_t)count * ( small ? 2 : 4 );
    char *bytes = tr_alloc( (size_t)count, small ? 2 : 4 );
    w->failed |= bytes == NULL;
    if ( bytes == NULL )
        return 0;
    for ( int i = 0; i < count; ++i )
        if ( small )
            ( (uint16_t *)(void *)bytes )[i] = (uint16_t)corners[i];
        else
            ( (uint32_t *)(void *)bytes )[i] = (uint32_t)corners[i];
    int index =
        add_accessor( w, tr_glb_add_view( w, bytes, size, INDICES ), small ? SHORT : INT, count, "SCALAR" );
    tr_text_append( &w->accessors.text, "}", 1 );
    tr_free( bytes );
    return index;
}

static int add_material( tr_glb *w, const char *name, const float colour[3] )
{
    tr_text *out = &w->materials.text;
    int index = tr_glb_next( &w->materials );
    print_name( out, name, "" );
    tr_text_add( out, ",\"pbrMetallicRoughness\":{\"metallicFactor\":0,\"roughnessFactor\":0.8" );
    print_numbers( out, "baseColorFactor",
                   ( const double[] ){ tr_linear_colour( colour[0] ), tr_linear_colour( colour[1] ),
                                       tr_linear_colour( colour[2] ), 1 },
                   4 );
    tr_text_add( out, "},\"doubleSided\":true}" );
    return index;
}

// Every point hangs on one joint: the first of four has all the weight.
static void add_weights( tr_glb *w, const tr_facets *facets, const int *slots, int slot_count, int *joints,
                         int *weights )
{
    bool small = slot_count <= 256;
    size_t element = small ? 4 : 8, size = (size_t)facets->point_count * element;
    char *bytes = tr_alloc( (size_t)facets->point_count, element );
    w->failed |= bytes == NULL;
    if ( bytes == NULL || !tr_glb_reserve( w, 4 * facets->point_count ) ) {
        tr_free( bytes );
        return;
    }
    for ( int i = 0; i < facets->point_count; ++i ) {
        uint16_t slot = (uint16_t)slots[facets->tags[i]];
        if ( small )
            bytes[4 * (size_t)i] = (char)slot;
        else
            memcpy( bytes + 8 * (size_t)i, &slot, sizeof slot );
        const float all[4] = { 1, 0, 0, 0 };
        memcpy( w->numbers + 4 * (size_t)i, all, sizeof all );
    }
    *joints = add_accessor( w, tr_glb_add_view( w, bytes, size, VERTICES ), small ? BYTE : SHORT,
                            facets->point_count, "VEC4" );
    tr_text_append( &w->accessors.text, "}", 1 );
    *weights = tr_glb_add_floats( w, facets->point_count, 4, VERTICES, false );
    tr_free( bytes );
}

// Slots of joints in the skin [joint_count], NULL: a thing.
static int add_mesh( tr_glb *w, const char *name, const tr_facets *facets, const float colour[3],
                     const int *slots, int slot_count )
{
    int joints = 0, weights = 0, points = add_vectors( w, facets->points, facets->point_count, true );
    int normals = add_vectors( w, facets->normals, facets->point_count, false );
    if ( slots != NULL )
        add_weights( w, facets, slots, slot_count, &joints, &weights );
    int triangles = add_triangles( w, facets ), material = add_material( w, name, colour );
    int index = tr_glb_next( &w->meshes );
    tr_text *out = &w->meshes.text;
    print_name( out, name, "" );
    tr_text_add( out, ",\"primitives\":[{\"attributes\":{\"POSITION\":%d,\"NORMAL\":%d", points, normals );
    if ( slots != NULL )
        tr_text_add( out, ",\"JOINTS_0\":%d,\"WEIGHTS_0\":%d", joints, weights );
    tr_text_add( out, "},\"indices\":%d,\"material\":%d}]}", triangles, material );
    return index;
}

// ---------------------------------------------------------------------------------------------- animation

static void add_channel( tr_glb *w, int node, const char *path, int output )
{
    int sampler = tr_glb_next( &w->samplers );
    tr_text_add( &w->samplers.text, "{\"input\":%d,\"output\":%d}", w->time, output );
    tr_glb_next( &w->channels );
    tr_text_add( &w->channels.text, "{\"sampler\":%d,\"target\":{\"node\":%d,\"path\":\"%s\"}}", sampler,
                 node, path );
}

static void add_animation( tr_glb *w, const char *name )
{
    if ( w->channels.count > 0 ) {
        tr_glb_next( &w->animations );
        print_name( &w->animations.text, name, "" );
        tr_text_add( &w->animations.text, ",\"samplers\":[" );
        tr_glb_append( &w->animations.text, &w->samplers.text );
        tr_text_add( &w->animations.text, "],\"channels\":[" );
        tr_glb_append( &w->animations.text, &w->channels.text );
        tr_text_append( &w->animations.text, "]}", 2 );
    }
    tr_text_free( &w->samplers.text );
    tr_text_free( &w->channels.text );
    w->samplers.count = w->channels.count = 0;
}

// A row of keys that never leaves the rest needs no channel.
static bool stays( const tr_glb *w, int components, const double *rest )
{
    for ( int i = 0; i < w->x->frame_count; ++i )
        for ( int c = 0; c < components; ++c )
            if ( w->numbers[i * components + c] != (float)rest[c] )
                return false;
    return true;
}

void tr_glb_add_places( tr_glb *w, int node, vec3 rest )
{
    if ( !stays( w, 3, ( const double[] ){ rest.x, rest.y, rest.z } ) )
        add_channel( w, node, "translation", tr_glb_add_floats( w, w->x->frame_count, 3, 0, false ) );
}

void tr_glb_put_rotation( tr_glb *w, int frame, quat q, quat *before )
{
    float *to = w->numbers + 4 * frame;
    if ( frame > 0 && q_dot( q, *before ) < 0 )
        q = ( quat ){ -q.x, -q.y, -q.z, -q.w };
    to[0] = (float)q.x + 0.0f;
    to[1] = (float)q.y + 0.0f;
    to[2] = (float)q.z + 0.0f;
    to[3] = (float)q.w + 0.0f;
    *before = q;
}

void tr_glb_add_rotations( tr_glb *w, int node, quat rest )
{
    if ( !stays( w, 4, ( const double[] ){ rest.x, rest.y, rest.z, rest.w } ) )
        add_channel( w, node, "rotation", tr_glb_add_floats( w, w->x->frame_count, 4, 0, false ) );
}

static void animate_body( tr_glb *w, const tr_exchange_body *body, int base )
{
    const tr_skeleton *skeleton = body->skeleton;
    if ( !tr_glb_reserve( w, 4 * w->x->frame_count ) )
        return;
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        quat before = q_identity;
        for ( int f = 0; f < w->x->frame_count; ++f )
            tr_glb_put_vector( w, f, tr_exchange_offset( body, f, j ) );
        tr_glb_add_places( w, base + j, skeleton->joints[j].offset );
        for ( int f = 0; f < w->x->frame_count; ++f )
            tr_glb_put_rotation( w, f, tr_clip_frame( body->clip, f )[j], &before );
        tr_glb_add_rotations( w, base + j, skeleton->joints[j].rest );
    }
}

static void animate_thing( tr_glb *w, const tr_exchange_thing *thing, int node )
{
    quat before = q_identity;
    rigid rest = tr_thing_at( thing, 0 );
    if ( thing->track == NULL || !tr_glb_reserve( w, 4 * w->x->frame_count ) )
        return;
    for ( int f = 0; f < w->x->frame_count; ++f )
        tr_glb_put_vector( w, f, thing->track[f].position );
    tr_glb_add_places( w, node, rest.position );
    for ( int f = 0; f < w->x->frame_count; ++f )
        tr_glb_put_rotation( w, f, thing->track[f].rotation, &before );
    tr_glb_add_rotations( w, node, rest.rotation );
}

// ------------------------------------------------------------------------------------------------- bodies

static void add_children( tr_text *out, const tr_lists *children, int j, int base )
{
    for ( int i = children->first[j]; i < children->first[j + 1]; ++i )
        tr_text_add( out, "%s%d", i == children->first[j] ? ",\"children\":[" : ",",
                     base + children->items[i] );
    if ( children->first[j] < children->first[j + 1] )
        tr_text_append( out, "]", 1 );
}

// The node of the character, then its joints. Returns the node of joint 0.
static int add_joints( tr_glb *w, const tr_exchange_body *body )
{
    const tr_skeleton *skeleton = body->skeleton;
    tr_text *out = &w->nodes.text;
    int *parents = tr_alloc( (size_t)skeleton->joint_count, sizeof( int ) );
    tr_lists children = { 0 };
    for ( int j = 0; parents != NULL && j < skeleton->joint_count; ++j )
        parents[j] = skeleton->joints[j].parent;
    bool ok =
        parents != NULL && tr_lists_build( &children, parents, skeleton->joint_count, skeleton->joint_count );
    w->failed |= !ok;
    tr_glb_next( &w->roots );
    tr_text_add( &w->roots.text, "%d", w->nodes.count );
    int base = tr_glb_next( &w->nodes ) + 1;
    print_name( out, body->name, "" );
    tr_text_add( out, ",\"children\":[%d]}", base );
    for ( int j = 0; ok && j < skeleton->joint_count; ++j ) {
        const tr_joint *joint = &skeleton->joints[j];
        tr_glb_next( &w->nodes );
        print_name( out, joint->name, "" );
        print_vector( out, "translation", joint->offset );
        if ( q_angle( joint->rest, q_identity ) > 0 )
            print_rotation( out, joint->rest );
        add_children( out, &children, j, base );
        tr_text_append( out, "}", 1 );
    }
    tr_lists_free( &children );
    tr_free( parents );
    return base;
}

// Joints of the skin: those that turn, and those that carry points.
static int choose_slots( const tr_exchange_body *body, int *slots )
{
    const tr_skeleton *skeleton = body->skeleton;
    int count = 0;
    for ( int j = 0; j < skeleton->joint_count; ++j )
        slots[j] = !skeleton->joints[j].end_site || j == 0 ? 0 : -1;
    for ( int i = 0; i < body->facets.point_count; ++i )
        slots[body->facets.tags[i]] = 0;
    for ( int j = 0; j < skeleton->joint_count; ++j )
        slots[j] = slots[j] == 0 ? count++ : -1;
    return count;
}

static void put_inverse( float *to, rigid rest )
{
    rigid inverse = rigid_inverse( rest );
    mat3 m = m3_from_quat( inverse.rotation );
    const vec3 columns[4] = { m.cx, m.cy, m.cz, inverse.position };
    for ( int c = 0; c < 4; ++c ) {
        to[4 * c] = (float)columns[c].x + 0.0f;
        to[4 * c + 1] = (float)columns[c].y + 0.0f;
        to[4 * c + 2] = (float)columns[c].z + 0.0f;
        to[4 * c + 3] = c == 3 ? 1.0f : 0.0f;
    }
}

static void add_skin( tr_glb *w, const tr_exchange_body *body, int base, const int *slots, int slot_count )
{
    const tr_skeleton *skeleton = body->skeleton;
    size_t joints = (size_t)skeleton->joint_count;
    tr_pose rest = { tr_alloc( joints, sizeof( quat ) ), tr_alloc( joints, sizeof( vec3 ) ) };
    bool ok = rest.rotations != NULL && rest.positions != NULL && tr_glb_reserve( w, 16 * slot_count );
    w->failed |= !ok;
    if ( ok ) {
        tr_forward_rest( skeleton, rest );
        for ( int j = 0; j < skeleton->joint_count; ++j )
            if ( slots[j] >= 0 )
                put_inverse( w->numbers + 16 * slots[j], ( rigid ){ rest.rotations[j], rest.positions[j] } );
        int binds = tr_glb_add_floats( w, slot_count, 16, 0, false );
        tr_text *out = &w->skins.text;
        tr_glb_next( &w->skins );
        print_name( out, body->name, "" );
        tr_text_add( out, ",\"inverseBindMatrices\":%d,\"skeleton\":%d,\"joints\":[", binds, base );
        for ( int j = 0, n = 0; j < skeleton->joint_count; ++j )
            if ( slots[j] >= 0 )
                tr_text_add( out, "%s%d", n++ > 0 ? "," : "", base + j );
        tr_text_append( out, "]}", 2 );
    }
    tr_free( rest.rotations );
    tr_free( rest.positions );
}

static void add_body( tr_glb *w, const tr_exchange_body *body )
{
    int *slots = tr_alloc( (size_t)body->skeleton->joint_count, sizeof( int ) );
    w->failed |= slots == NULL;
    if ( slots == NULL )
        return;
    int base = add_joints( w, body ), slot_count = choose_slots( body, slots );
    add_skin( w, body, base, slots, slot_count );
    if ( body->facets.triangle_count > 0 ) {
        int mesh = add_mesh( w, body->name, &body->facets, body->colour, slots, slot_count );
        tr_glb_next( &w->roots );
        tr_text_add( &w->roots.text, "%d", tr_glb_next( &w->nodes ) );
        print_name( &w->nodes.text, body->name, "_body" );
        tr_text_add( &w->nodes.text, ",\"mesh\":%d,\"skin\":%d}", mesh, w->skins.count - 1 );
    }
    animate_body( w, body, base );
    if ( w->def->each )
        add_animation( w, body->name );
    tr_free( slots );
}

static void add_thing( tr_glb *w, const tr_exchange_thing *thing )
{
    rigid rest = tr_thing_at( thing, 0 );
    int mesh = thing->facets.triangle_count > 0
                   ? add_mesh( w, thing->name, &thing->facets, thing->colour, NULL, 0 )
                   : -1;
    tr_text *out = &w->nodes.text;
    int node = tr_glb_next( &w->nodes );
    tr_glb_next( &w->roots );
    tr_text_add( &w->roots.text, "%d", node );
    print_name( out, thing->name, "" );
    print_vector( out, "translation", rest.position );
    print_rotation( out, rest.rotation );
    if ( mesh >= 0 )
        tr_text_add( out, ",\"mesh\":%d", mesh );
    tr_text_append( out, "}", 1 );
    animate_thing( w, thing, node );
    if ( w->def->each )
        add_animation( w, thing->name );
}

// ------------------------------------------------------------------------------------------------ the file

static void add_times( tr_glb *w )
{
    if ( !tr_glb_reserve( w, w->x->frame_count ) )
        return;
    for ( int f = 0; f < w->x->frame_count; ++f )
        w->numbers[f] = (float)( f / w->x->fps );
    w->time = tr_glb_add_floats( w, w->x->frame_count, 1, 0, true );
}

static void print_extras( const tr_exchange *x, tr_text *out )
{
    tr_text_add( out, ",\"extras\":{\"troupe\":{\"fps\":" );
    tr_text_exact( out, x->fps );
    tr_text_add( out, ",\"first_frame\":%d,\"contacts\":[", x->first );
    for ( int i = 0; i < x->contact_count; ++i ) {
        const tr_exchange_contact *c = &x->contacts[i];
        const tr_exchange_body *body = &x->bodies[c->body];
        const char *joint = body->skeleton->joints[c->joint].name;
        tr_text_add( out, "%s{\"character\":", i > 0 ? "," : "" );
        tr_text_quoted( out, body->name, strlen( body->name ) );
        tr_text_add( out, ",\"joint\":" );
        tr_text_quoted( out, joint, strlen( joint ) );
        tr_text_add( out, ",\"surface\":" );
        tr_text_quoted( out, c->surface, strlen( c->surface ) );
        tr_text_add( out, ",\"first\":%d,\"last\":%d}", c->first, c->last );
    }
    tr_text_append( out, "]", 1 );
    if ( x->figures != NULL ) {
        tr_text_add( out, ",\"figures\":" );
        tr_text_append( out, x->figures, strlen( x->figures ) );
    }
    tr_text_append( out, "}}", 2 );
}

static void print_list( tr_text *out, const char *key, tr_glb_list *l )
{
    if ( l->count > 0 ) { // glTF knows no empty lists
        tr_text_add( out, ",\"%s\":[", key );
        tr_glb_append( out, &l->text );
        tr_text_append( out, "]", 1 );
    }
    tr_text_free( &l->text );
}

static void print_value( tr_text *out, const char *key, const json_t *value )
{
    if ( value == NULL )
        return;
    tr_text_add( out, ",\"%s\":", key );
    tr_json_print( value, out );
}

static void print_json( tr_glb *w, tr_text *out )
{
    tr_text_add( out,
                 "{\"asset\":{\"version\":\"2.0\",\"generator\":\"Troupe %s\"},\"scene\":0,\"scenes\":[{",
                 TROUPE_VERSION );
    tr_text_add( out, "\"name\":\"Scene\"" );
    print_list( out, "nodes", &w->roots );
    print_extras( w->x, out );
    tr_text_append( out, "}]", 2 );
    print_list( out, "nodes", &w->nodes );
    print_list( out, "meshes", &w->meshes );
    print_list( out, "materials", &w->materials );
    print_list( out, "textures", &w->textures );
    print_list( out, "images", &w->images );
    print_list( out, "samplers", &w->texture_samplers );
    print_list( out, "cameras", &w->cameras );
    print_list( out, "skins", &w->skins );
    print_list( out, "animations", &w->animations );
    print_list( out, "accessors", &w->accessors );
    print_list( out, "bufferViews", &w->views );
    print_value( out, "extensionsUsed", w->used );
    print_value( out, "extensionsRequired", w->required );
    print_value( out, "extensions", w->extensions );
    tr_text_add( out, ",\"buffers\":[{\"byteLength\":%zu}]}", w->data.size );
    tr_glb_pad( out, "   " );
}

static void add_u32( tr_text *out, size_t value )
{
    uint32_t number = (uint32_t)value;
    tr_text_append( out, (const char *)&number, sizeof number );
}

bool tr_glb_print( const tr_exchange *x, const tr_exchange_def *def, tr_text *out, tr_error *error )
{
    static const tr_exchange_def standard;
    tr_glb w = { .x = x, .def = def != NULL ? def : &standard };
    tr_text json = { 0 };
    add_times( &w );
    for ( int i = 0; i < x->body_count && !w.failed; ++i ) // first: what a document says of nodes stays true
        if ( x->bodies[i].look != NULL ) {
            tr_glb_add_look( &w, &x->bodies[i] );
            if ( w.def->each )
                add_animation( &w, x->bodies[i].name );
        }
    for ( int i = 0; i < x->body_count && !w.failed && tr_work_wanted(); ++i )
        if ( x->bodies[i].look == NULL )
            add_body( &w, &x->bodies[i] );
    for ( int i = 0; i < x->thing_count && !w.failed; ++i )
        add_thing( &w, &x->things[i] );
    add_animation( &w, "take" );
    tr_glb_pad( &w.data, "\0\0\0" );
    print_json( &w, &json );
    size_t size = 12 + 8 + json.size + 8 + w.data.size;
    bool ok = !w.failed && !w.data.failed && !json.failed && tr_work_go_on( error );
    if ( !ok )
        tr_error_memory( error );
    else if ( size > UINT32_MAX )
        ok = tr_error_set( error, "the scene is too large for one GLB file, which ends at 4 GB" );
    if ( ok ) {
        tr_text_append( out, "glTF", 4 );
        add_u32( out, 2 );
        add_u32( out, size );
        add_u32( out, json.size );
        tr_text_append( out, "JSON", 4 );
        tr_text_append( out, json.data, json.size );
        add_u32( out, w.data.size );
        tr_text_append( out, "BIN", 4 ); // with its NUL
        tr_text_append( out, w.data.data, w.data.size );
        ok = !out->failed || tr_error_memory( error );
    }
    json_decref( w.used );
    json_decref( w.required );
    json_decref( w.extensions );
    tr_text_free( &json );
    tr_text_free( &w.data );
    tr_free( w.numbers );
    tr_free( w.passed );
    return ok;
}
