// One picture: the list is sorted into instanced groups, the light's maps are drawn, then solids, ground,
// backdrop, ghosts, discs and lines into a multisampled picture that is resolved into the target.
#include "ui/render/private.h"

#include <string.h>

enum { CONE, BOX, CONE_DEPTH, BOX_DEPTH, GROUND, BACKDROP, COVERAGE, BLUR, OCCLUSION, LINE, DISC, PROGRAMS };
enum { DETAILS = 5 };       // cone meshes from coarse to fine
enum { SHADOW_DETAIL = 1 }; // the one the light sees

// Instances of one kind within the stream of floats.
typedef struct group {
    size_t first; // float
    int count, stride;
} group;

struct tr_renderer {
    GLuint programs[PROGRAMS];
    GLuint vertex_array, frame_block, stream_buffer, shadow_sampler;
    tr_gpu_mesh cones[DETAILS], box;
    tr_gpu_target picture, resolved;
    tr_gpu_target shadow, coverage, quarter[2], soft[2], occlusion;
    float *stream;
    int stream_count, stream_capacity;
    group solid_cones[DETAILS], ghost_cones[DETAILS], solid_boxes, ghost_boxes, occluders;
    group lines, top_lines, discs;
    bool out_of_memory;
    int max_size;
};

// ---------------------------------------------------------------------------------------------- life

static bool create_programs( tr_renderer *renderer, tr_error *error )
{
    const struct {
        const char *name, *vertex, *fragment;
    } table[PROGRAMS] = {
        [CONE] = { "cone", tr_shader_cone_vertex, tr_shader_solid_fragment },
        [BOX] = { "box", tr_shader_box_vertex, tr_shader_solid_fragment },
        [CONE_DEPTH] = { "cone depth", tr_shader_cone_vertex, tr_shader_depth_fragment },
        [BOX_DEPTH] = { "box depth", tr_shader_box_vertex, tr_shader_depth_fragment },
        [GROUND] = { "ground", tr_shader_ground_vertex, tr_shader_ground_fragment },
        [BACKDROP] = { "backdrop", tr_shader_screen_vertex, tr_shader_backdrop_fragment },
        [COVERAGE] = { "coverage", tr_shader_screen_vertex, tr_shader_coverage_fragment },
        [BLUR] = { "blur", tr_shader_screen_vertex, tr_shader_blur_fragment },
        [OCCLUSION] = { "occlusion", tr_shader_occlusion_vertex, tr_shader_occlusion_fragment },
        [LINE] = { "line", tr_shader_line_vertex, tr_shader_line_fragment },
        [DISC] = { "disc", tr_shader_disc_vertex, tr_shader_disc_fragment },
    };
    for ( int i = 0; i < PROGRAMS; ++i ) {
        renderer->programs[i] = tr_gpu_program( table[i].name, table[i].vertex, table[i].fragment, error );
        if ( !renderer->programs[i] )
            return false;
    }
    return true;
}

static bool create_meshes( tr_renderer *renderer, tr_error *error )
{
    const int sides[DETAILS] = { 6, 8, 12, 20, 40 }, rings[DETAILS] = { 2, 2, 3, 5, 10 };
    for ( int i = 0; i < DETAILS; ++i )
        if ( !tr_gpu_mesh_cone( &renderer->cones[i], sides[i], rings[i], error ) )
            return false;
    return tr_gpu_mesh_box( &renderer->box, 3, error );
}

// Depth comparison, beside the plain lookup the map's own parameters give.
static GLuint create_shadow_sampler( void )
{
    GLuint sampler;
    glGenSamplers( 1, &sampler );
    glSamplerParameteri( sampler, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE );
    glSamplerParameteri( sampler, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE );
    glSamplerParameteri( sampler, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE );
    glSamplerParameteri( sampler, GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL );
    return sampler;
}

tr_renderer *tr_renderer_create( tr_error *error )
{
    if ( epoxy_gl_version() < 33 ) {
        tr_error_set( error, "OpenGL 3.3 is needed, this driver has %d.%d", epoxy_gl_version() / 10,
                      epoxy_gl_version() % 10 );
        return NULL;
    }
    tr_renderer *renderer = tr_alloc( 1, sizeof *renderer );
    if ( !renderer ) {
        tr_error_memory( error );
        return NULL;
    }
    GLint texture_size = 0, buffer_size = 0;
    glGetIntegerv( GL_MAX_TEXTURE_SIZE, &texture_size );
    glGetIntegerv( GL_MAX_RENDERBUFFER_SIZE, &buffer_size );
    renderer->max_size = texture_size < buffer_size ? texture_size : buffer_size;
    glGenVertexArrays( 1, &renderer->vertex_array );
    glGenBuffers( 1, &renderer->frame_block );
    glGenBuffers( 1, &renderer->stream_buffer );
    renderer->shadow_sampler = create_shadow_sampler();
    if ( !create_programs( renderer, error ) || !create_meshes( renderer, error ) ) {
        tr_renderer_destroy( renderer );
        return NULL;
    }
    return renderer;
}

void tr_renderer_destroy( tr_renderer *renderer )
{
    if ( !renderer )
        return;
    tr_gpu_target *targets[] = { &renderer->picture,  &renderer->resolved,   &renderer->shadow,
                                 &renderer->coverage, &renderer->quarter[0], &renderer->quarter[1],
                                 &renderer->soft[0],  &renderer->soft[1],    &renderer->occlusion };
    for ( size_t i = 0; i < sizeof targets / sizeof targets[0]; ++i )
        tr_gpu_target_free( targets[i] );
    for ( int i = 0; i < PROGRAMS; ++i )
        glDeleteProgram( renderer->programs[i] );
    for ( int i = 0; i < DETAILS; ++i )
        tr_gpu_mesh_free( &renderer->cones[i] );
    tr_gpu_mesh_free( &renderer->box );
    glDeleteSamplers( 1, &renderer->shadow_sampler );
    glDeleteBuffers( 1, &renderer->frame_block );
    glDeleteBuffers( 1, &renderer->stream_buffer );
    glDeleteVertexArrays( 1, &renderer->vertex_array );
    tr_free( renderer->stream );
    tr_free( renderer );
}

// ------------------------------------------------------------------------------------------- instances

// Everything about the picture that the passes below need.
typedef struct shot {
    const tr_draw_list *list;
    const tr_camera *camera;
    int width, height;
    double aspect;
    vec3 origin;
    tr_bounds content; // of all solids, world
    tr_light_view light;
    tr_gpu_frame frame;
} shot;

static void stream_add( tr_renderer *renderer, group *g, const float *values )
{
    if ( !tr_array_reserve( (void **)&renderer->stream, &renderer->stream_capacity,
                            renderer->stream_count + g->stride, sizeof *renderer->stream ) ) {
        renderer->out_of_memory = true;
        return;
    }
    memcpy( renderer->stream + renderer->stream_count, values, sizeof *values * (size_t)g->stride );
    renderer->stream_count += g->stride;
    ++g->count;
}

static group stream_begin( const tr_renderer *renderer, int stride )
{
    return ( group ){ (size_t)renderer->stream_count, 0, stride };
}

static float linear( float encoded )
{
    return encoded <= 0.04045f ? encoded / 12.92f : powf( ( encoded + 0.055f ) / 1.055f, 2.4f );
}

static void put3( float *out, vec3 v, double w )
{
    out[0] = (float)v.x;
    out[1] = (float)v.y;
    out[2] = (float)v.z;
    out[3] = (float)w;
}

static void put_linear( float *out, tr_colour c )
{
    out[0] = linear( c.r );
    out[1] = linear( c.g );
    out[2] = linear( c.b );
    out[3] = c.a;
}

static void put_encoded( float *out, tr_colour c )
{
    out[0] = c.r;
    out[1] = c.g;
    out[2] = c.b;
    out[3] = c.a;
}

// Finer meshes for capsules that are larger in the picture: n sides leave a gap of r (π / n)² / 2 pixels to
// the true outline, kept near a third of a pixel. Finer would be slower for nothing: software rasterisers
// shade whole blocks of pixels for every little triangle.
static int detail_of( const shot *s, const tr_draw_capsule *c )
{
    vec3 middle = tr_camera_project( s->camera, v3_lerp( c->a, c->b, 0.5 ), s->aspect );
    double reach = s->camera->field_of_view > 0.0
                       ? fmax( middle.z, 1e-6 ) * tan( 0.5 * s->camera->field_of_view * TR_DEGREE )
                       : 0.5 * s->camera->ortho_height;
    double pixels = fmax( c->radius, c->radius_b ) / reach * 0.5 * s->height;
    return pixels < 4.0 ? 0 : pixels < 8.0 ? 1 : pixels < 20.0 ? 2 : pixels < 60.0 ? 3 : 4;
}

static group add_cones( tr_renderer *renderer, const shot *s, bool opaque, int detail )
{
    group g = stream_begin( renderer, 12 );
    for ( int i = 0; i < s->list->capsule_count; ++i ) {
        const tr_draw_capsule *c = &s->list->capsules[i];
        if ( tr_colour_opaque( c->colour ) != opaque || detail_of( s, c ) != detail )
            continue;
        float values[12];
        put3( values, v3_sub( c->a, s->origin ), c->radius );
        put3( values + 4, v3_sub( c->b, s->origin ), c->radius_b );
        put_linear( values + 8, c->colour );
        stream_add( renderer, &g, values );
    }
    return g;
}

static group add_boxes( tr_renderer *renderer, const shot *s, bool opaque )
{
    group g = stream_begin( renderer, 16 );
    for ( int i = 0; i < s->list->box_count; ++i ) {
        const tr_draw_box *b = &s->list->boxes[i];
        if ( tr_colour_opaque( b->colour ) != opaque )
            continue;
        double smallest = fmin( b->size.x, fmin( b->size.y, b->size.z ) );
        quat q = b->place.rotation;
        float values[16];
        put3( values, v3_sub( b->place.position, s->origin ), fmin( 0.06 * smallest, 0.02 ) );
        put3( values + 4, v3( q.x, q.y, q.z ), q.w );
        put3( values + 8, v3_scale( 0.5, b->size ), 0.0 );
        put_linear( values + 12, b->colour );
        stream_add( renderer, &g, values );
    }
    return g;
}

// A box darkens the floor like a capsule along its longest level edge that rests at the height of its bottom.
static void box_as_cone( const tr_draw_box *box, vec3 *a, vec3 *b, double *radius )
{
    mat3 m = m3_from_quat( box->place.rotation );
    vec3 edges[3] = { v3_scale( box->size.x, m.cx ), v3_scale( box->size.y, m.cy ),
                      v3_scale( box->size.z, m.cz ) };
    int longest = 0;
    double level[3], drop = 0.0;
    for ( int i = 0; i < 3; ++i ) {
        level[i] = v3_length( v3_horizontal( edges[i] ) );
        drop += 0.5 * fabs( edges[i].y );
        longest = level[i] > level[longest] ? i : longest;
    }
    double second = fmax( level[( longest + 1 ) % 3], level[( longest + 2 ) % 3] );
    *radius = fmax( 0.5 * fmin( second, level[longest] ), 1e-6 );
    double half = fmax( 0.5 * level[longest] - *radius, 0.0 );
    vec3 centre = box->place.position;
    centre.y = centre.y - drop + *radius;
    vec3 direction = v3_unit( v3_horizontal( edges[longest] ) );
    *a = v3_mad( centre, -half, direction );
    *b = v3_mad( centre, half, direction );
}

static group add_occluders( tr_renderer *renderer, const shot *s )
{
    group g = stream_begin( renderer, 8 );
    float values[8];
    for ( int i = 0; i < s->list->capsule_count; ++i ) {
        const tr_draw_capsule *c = &s->list->capsules[i];
        double low = fmin( c->a.y, c->b.y ) - s->list->ground, thick = fmax( c->radius, c->radius_b );
        if ( !tr_colour_opaque( c->colour ) || low > 8.0 * thick || low < -4.0 * thick )
            continue;
        put3( values, v3_sub( c->a, s->origin ), c->radius );
        put3( values + 4, v3_sub( c->b, s->origin ), c->radius_b );
        stream_add( renderer, &g, values );
    }
    for ( int i = 0; i < s->list->box_count; ++i ) {
        vec3 a, b;
        double radius;
        if ( !tr_colour_opaque( s->list->boxes[i].colour ) )
            continue;
        box_as_cone( &s->list->boxes[i], &a, &b, &radius );
        put3( values, v3_sub( a, s->origin ), radius );
        put3( values + 4, v3_sub( b, s->origin ), radius );
        stream_add( renderer, &g, values );
    }
    return g;
}

static group add_lines( tr_renderer *renderer, const shot *s, bool on_top )
{
    group g = stream_begin( renderer, 16 );
    for ( int i = 0; i < s->list->line_count; ++i ) {
        const tr_draw_line *l = &s->list->lines[i];
        if ( l->on_top != on_top )
            continue;
        float values[16];
        put3( values, v3_sub( l->a, s->origin ), l->width );
        put3( values + 4, v3_sub( l->b, s->origin ), on_top );
        put_encoded( values + 8, l->colour_a );
        put_encoded( values + 12, l->colour_b );
        stream_add( renderer, &g, values );
    }
    return g;
}

static group add_discs( tr_renderer *renderer, const shot *s )
{
    group g = stream_begin( renderer, 12 );
    for ( int i = 0; i < s->list->disc_count; ++i ) {
        const tr_draw_disc *d = &s->list->discs[i];
        float values[12];
        put3( values, v3_sub( d->centre, s->origin ), d->radius );
        put3( values + 4, v3_unit_or( d->normal, v3_y ), 0.0 );
        put_encoded( values + 8, d->colour );
        stream_add( renderer, &g, values );
    }
    return g;
}

static bool stream_list( tr_renderer *renderer, const shot *s, tr_error *error )
{
    renderer->stream_count = 0;
    renderer->out_of_memory = false;
    for ( int i = 0; i < DETAILS; ++i ) {
        renderer->solid_cones[i] = add_cones( renderer, s, true, i );
        renderer->ghost_cones[i] = add_cones( renderer, s, false, i );
    }
    renderer->solid_boxes = add_boxes( renderer, s, true );
    renderer->ghost_boxes = add_boxes( renderer, s, false );
    renderer->occluders = add_occluders( renderer, s );
    renderer->lines = add_lines( renderer, s, false );
    renderer->top_lines = add_lines( renderer, s, true );
    renderer->discs = add_discs( renderer, s );
    if ( renderer->out_of_memory )
        return tr_error_memory( error );
    glBindBuffer( GL_ARRAY_BUFFER, renderer->stream_buffer );
    glBufferData( GL_ARRAY_BUFFER, (GLsizeiptr)( sizeof( float ) * (size_t)renderer->stream_count ),
                  renderer->stream, GL_STREAM_DRAW );
    return true;
}

// Attributes 1 … n take four floats each from the group's instances.
static void bind_group( const tr_renderer *renderer, const group *g )
{
    glBindBuffer( GL_ARRAY_BUFFER, renderer->stream_buffer );
    for ( int i = 0; i < 4; ++i ) {
        GLuint attribute = (GLuint)i + 1;
        if ( 4 * i >= g->stride ) {
            glDisableVertexAttribArray( attribute );
            continue;
        }
        glEnableVertexAttribArray( attribute );
        glVertexAttribDivisor( attribute, 1 );
        glVertexAttribPointer( attribute, 4, GL_FLOAT, GL_FALSE,
                               (GLsizei)( sizeof( float ) * (size_t)g->stride ),
                               (const void *)( sizeof( float ) * ( g->first + 4 * (size_t)i ) ) );
    }
}

static void draw_meshes( const tr_renderer *renderer, const group *g, const tr_gpu_mesh *mesh )
{
    if ( g->count == 0 )
        return;
    bind_group( renderer, g );
    glBindBuffer( GL_ARRAY_BUFFER, mesh->vertices );
    glEnableVertexAttribArray( 0 );
    glVertexAttribPointer( 0, 4, GL_FLOAT, GL_FALSE, 0, NULL );
    glBindBuffer( GL_ELEMENT_ARRAY_BUFFER, mesh->indices );
    glDrawElementsInstanced( GL_TRIANGLES, mesh->index_count, GL_UNSIGNED_SHORT, NULL, g->count );
}

static void draw_quads( const tr_renderer *renderer, const group *g )
{
    if ( g->count == 0 )
        return;
    bind_group( renderer, g );
    glDisableVertexAttribArray( 0 );
    glDrawArraysInstanced( GL_TRIANGLE_STRIP, 0, 4, g->count );
}

static void draw_screen( void )
{
    for ( GLuint i = 0; i < 5; ++i )
        glDisableVertexAttribArray( i );
    glDrawArrays( GL_TRIANGLES, 0, 3 );
}

static void use_solid( const tr_renderer *renderer, int program, bool from_light )
{
    GLuint name = renderer->programs[program];
    glUseProgram( name );
    glUniform1f( glGetUniformLocation( name, "from_light" ), from_light ? 1.0f : 0.0f );
}

// ------------------------------------------------------------------------------------------ light maps

static void bind_target( const tr_gpu_target *target )
{
    glBindFramebuffer( GL_FRAMEBUFFER, target->framebuffer );
    glViewport( 0, 0, target->width, target->height );
}

static void bind_map( int unit, GLuint texture, GLuint sampler )
{
    glActiveTexture( GL_TEXTURE0 + (GLenum)unit );
    glBindTexture( GL_TEXTURE_2D, texture );
    glBindSampler( (GLuint)unit, sampler );
}

static void blur( const tr_renderer *renderer, const tr_gpu_target *from, const tr_gpu_target *between,
                  const tr_gpu_target *to, double deviation )
{
    // The kernel's own standard deviation is 1.75 strides.
    GLuint program = renderer->programs[BLUR];
    glUseProgram( program );
    GLint stride = glGetUniformLocation( program, "stride" );
    bind_target( between );
    bind_map( TR_UNIT_SOURCE, from->colour, 0 );
    glUniform2f( stride, (float)( deviation / 1.75 / to->width ), 0.0f );
    draw_screen();
    bind_target( to );
    bind_map( TR_UNIT_SOURCE, between->colour, 0 );
    glUniform2f( stride, 0.0f, (float)( deviation / 1.75 / to->height ) );
    draw_screen();
}

static bool fit_shadow_maps( tr_renderer *r, const tr_light_view *v, tr_error *error )
{
    int w = v->width, h = v->height;
    return tr_gpu_target_fit( &r->shadow, TR_GPU_SHADOW, w, h, error ) &&
           tr_gpu_target_fit( &r->coverage, TR_GPU_COVERAGE, w / 2, h / 2, error ) &&
           tr_gpu_target_fit( &r->quarter[0], TR_GPU_COVERAGE, w / 4, h / 4, error ) &&
           tr_gpu_target_fit( &r->quarter[1], TR_GPU_COVERAGE, w / 4, h / 4, error ) &&
           tr_gpu_target_fit( &r->soft[0], TR_GPU_COVERAGE, w / 8, h / 8, error ) &&
           tr_gpu_target_fit( &r->soft[1], TR_GPU_COVERAGE, w / 8, h / 8, error );
}

static bool draw_shadow_maps( tr_renderer *renderer, const shot *s, tr_error *error )
{
    const tr_light_view *v = &s->light;
    if ( !fit_shadow_maps( renderer, v, error ) )
        return false;
    bind_target( &renderer->shadow );
    glDepthMask( GL_TRUE );
    glEnable( GL_DEPTH_TEST );
    glDepthFunc( GL_LESS );
    glClear( GL_DEPTH_BUFFER_BIT );
    use_solid( renderer, CONE_DEPTH, true );
    for ( int i = 0; i < DETAILS; ++i )
        draw_meshes( renderer, &renderer->solid_cones[i], &renderer->cones[SHADOW_DETAIL] );
    use_solid( renderer, BOX_DEPTH, true );
    draw_meshes( renderer, &renderer->solid_boxes, &renderer->box );
    glDisable( GL_DEPTH_TEST );

    float floor_plane[3];
    tr_light_floor( v, s->list->ground - s->origin.y, floor_plane );
    GLuint program = renderer->programs[COVERAGE];
    glUseProgram( program );
    glUniform3fv( glGetUniformLocation( program, "floor_plane" ), 1, floor_plane );
    bind_target( &renderer->coverage );
    bind_map( TR_UNIT_DEPTH, renderer->shadow.depth, 0 );
    draw_screen();
    // Each blur is asked for in texels of the map it writes.
    double t = v->texel;
    blur( renderer, &renderer->coverage, &renderer->quarter[0], &renderer->quarter[1],
          clampd( 0.4 * v->soft / ( 4 * t ), 0.6, 2.5 ) );
    blur( renderer, &renderer->quarter[1], &renderer->soft[0], &renderer->soft[1],
          clampd( 0.9 * v->soft / ( 8 * t ), 0.6, 3.0 ) );
    return true;
}

// The map of ground darkened by nearby bodies: seen from above, about 5 cm per texel for people.
static bool draw_occlusion_map( tr_renderer *renderer, shot *s, tr_error *error )
{
    tr_bounds solid = tr_bounds_of_list( s->list, true );
    vec3 low = v3_sub( solid.low, s->origin ), high = v3_sub( solid.high, s->origin );
    double tall = clampd( high.y - low.y, 1e-4, 2.0 ), pad = 0.5 * tall;
    double texel = fmax( 0.02 * tall, fmax( high.x - low.x, high.z - low.z ) / 900.0 );
    int width = 64 * (int)ceil( ( high.x - low.x + 2.0 * pad ) / texel / 64.0 );
    int height = 64 * (int)ceil( ( high.z - low.z + 2.0 * pad ) / texel / 64.0 );
    width = width < 4096 ? width : 4096;
    height = height < 4096 ? height : 4096;
    if ( !tr_gpu_target_fit( &renderer->occlusion, TR_GPU_BRIGHTNESS, width, height, error ) )
        return false;
    float *box = s->frame.occlusion;
    box[0] = (float)( 0.5 * ( low.x + high.x - texel * width ) );
    box[1] = (float)( 0.5 * ( low.z + high.z - texel * height ) );
    box[2] = (float)( 1.0 / ( texel * width ) );
    box[3] = (float)( 1.0 / ( texel * height ) );
    glBufferData( GL_UNIFORM_BUFFER, sizeof s->frame, &s->frame, GL_STREAM_DRAW );
    bind_target( &renderer->occlusion );
    glClearColor( 1, 1, 1, 1 );
    glClear( GL_COLOR_BUFFER_BIT );
    glDisable( GL_DEPTH_TEST );
    glEnable( GL_BLEND );
    glBlendFunc( GL_ZERO, GL_SRC_COLOR );
    glUseProgram( renderer->programs[OCCLUSION] );
    draw_quads( renderer, &renderer->occluders );
    glDisable( GL_BLEND );
    return true;
}

// ------------------------------------------------------------------------------------------------ frame

// Nearest and farthest depth of interest before the eye, with room for the ground that fades out.
static void choose_planes( const shot *s, double fade_end, double *near_plane, double *far_plane )
{
    tr_camera_frame f = tr_camera_frame_of( s->camera );
    double distance = v3_distance( s->camera->eye, s->camera->target );
    double nearest = HUGE_VAL, farthest = distance + fade_end;
    for ( int i = 0; i < 8 && s->content.low.x <= s->content.high.x; ++i ) {
        vec3 corner =
            v3( i & 1 ? s->content.high.x : s->content.low.x, i & 2 ? s->content.high.y : s->content.low.y,
                i & 4 ? s->content.high.z : s->content.low.z );
        double z = v3_dot( v3_sub( corner, s->camera->eye ), f.forward );
        nearest = fmin( nearest, z );
        farthest = fmax( farthest, z );
    }
    double above = s->camera->eye.y - s->list->ground; // the ground may come nearer than any body
    nearest = fmin( nearest, fmin( distance, fabs( above ) ) );
    *near_plane = clampd( 0.7 * nearest, 2e-3 * distance, distance );
    *far_plane = fmax( farthest * 1.05, 2.0 * *near_plane );
    if ( s->camera->field_of_view <= 0.0 )
        *near_plane =
            fmin( nearest, distance - fade_end ) - 1.0; // orthographic: nothing is lost by going back
}

static double content_radius( const shot *s )
{
    double radius = 0.0;
    for ( int i = 0; i < 4 && s->content.low.x <= s->content.high.x; ++i ) {
        double x = ( i & 1 ? s->content.high.x : s->content.low.x ) - s->origin.x;
        double z = ( i & 2 ? s->content.high.z : s->content.low.z ) - s->origin.z;
        radius = fmax( radius, hypot( x, z ) );
    }
    return radius;
}

static vec3 key_light( const tr_camera *camera )
{
    tr_camera_frame axes = tr_camera_frame_of( camera );
    vec3 light = v3_unit_or( camera->light, tr_camera_default_light( &axes ) );
    return light.y < 0.2 ? v3_unit( v3( light.x, 0.2, light.z ) )
                         : light; // below the floor it lights nothing
}

// Radius around the origin that holds every shadow: a blocker at height h throws its shadow h / tan(
// elevation ) away.
static double shadow_reach( const shot *s )
{
    vec3 light = key_light( s->camera );
    double tall = fmax( s->content.high.y - s->list->ground, 0.0 );
    return content_radius( s ) + tall * hypot( light.x, light.z ) / light.y + 4.0 * s->light.soft;
}

// Lines every 0.1 m for small views, every 1, 5 and 10 m for larger ones; `view` is the height in metres that
// the picture shows at its centre.
static void choose_grid( float grid[4], double view )
{
    double tenth = 1.0 - smooth_step5( ( log10( view ) - 0.0 ) / 0.5 );
    double wide = smooth_step5( ( log10( view ) - 1.6 ) / 0.6 );
    grid[0] = (float)( 0.07 * tenth );
    grid[1] = (float)( lerpd( 0.10, 0.05, wide ) );
    grid[2] = 0.17f;
}

// Metres from the bottom to the top of the picture at the distance of the target.
static double shown_height( const tr_camera *c )
{
    double distance = v3_distance( c->eye, c->target );
    return c->field_of_view > 0.0 ? 2.0 * distance * tan( 0.5 * c->field_of_view * TR_DEGREE )
                                  : c->ortho_height;
}

static void fill_camera( shot *s )
{
    tr_gpu_frame *f = &s->frame;
    const tr_camera *c = s->camera;
    tr_camera_frame axes = tr_camera_frame_of( c );
    double half = c->field_of_view > 0.0 ? tan( 0.5 * c->field_of_view * TR_DEGREE ) : 0.0;
    put3( f->eye, v3_sub( c->eye, s->origin ), c->field_of_view > 0.0 );
    put3( f->forward, axes.forward, 0.0 );
    put3( f->right, v3_scale( half * s->aspect, axes.right ), 0.0 );
    put3( f->up, v3_scale( half, axes.up ), 0.0 );
    put3( f->light, key_light( c ), s->light.depth );
    vec3 back = v3_unit_or( v3_horizontal( v3_negate( axes.forward ) ), axes.up );
    put3( f->fill,
          v3_unit( v3_add( v3_add( v3_scale( 0.8, axes.right ), v3_scale( 0.5, back ) ), v3( 0, 0.25, 0 ) ) ),
          shown_height( c ) / s->height > 0.8 * s->light.texel ? 2.0 : 1.0 );
    f->viewport[0] = (float)s->width;
    f->viewport[1] = (float)s->height;
    f->viewport[2] = 1.0f / (float)s->width;
    f->viewport[3] = 1.0f / (float)s->height;
}

static void fill_frame( shot *s )
{
    tr_gpu_frame *f = &s->frame;
    const tr_camera *c = s->camera;
    double radius = content_radius( s );
    double shown = shown_height( c );
    double tall = s->content.high.y > s->list->ground ? s->content.high.y - s->list->ground : 1.0;
    double fade_begin = 0.9 * radius + 0.5 * shown, fade_end = 2.0 * fade_begin + 5.0 * shown;
    double near_plane, far_plane;
    fill_camera( s );
    choose_planes( s, fade_end, &near_plane, &far_plane );
    tr_camera_matrix( c, s->origin, s->aspect, near_plane, far_plane, f->view_projection );
    f->ground[0] = (float)( s->list->ground - s->origin.y );
    f->ground[1] = (float)fmod( s->origin.x, 100.0 );
    f->ground[2] = (float)fmod( s->origin.z, 100.0 );
    f->ground[3] = (float)fmax( 0.2 * fmin( tall, 2.0 ), 1e-4 );
    f->fade[0] = (float)fade_begin;
    f->fade[1] = (float)fade_end;
    f->fade[2] = (float)shadow_reach( s );
    f->fade[3] = s->light.width > 0;
    choose_grid( f->grid, shown );
    if ( s->light.width > 0 ) {
        tr_light_matrix( &s->light, f->light_matrix );
        f->shadow_map[0] = 1.0f / (float)s->light.width;
        f->shadow_map[1] = 1.0f / (float)s->light.height;
        f->shadow_map[2] = (float)s->light.texel;
        f->shadow_map[3] = (float)( 0.05 / s->light.soft * s->light.tallest );
        f->forward[3] = (float)( 1.0 / s->light.tallest );
    }
}

// ------------------------------------------------------------------------------------------------ scene

static void draw_solids( const tr_renderer *renderer )
{
    glEnable( GL_CULL_FACE );
    use_solid( renderer, CONE, false );
    for ( int i = 0; i < DETAILS; ++i )
        draw_meshes( renderer, &renderer->solid_cones[i], &renderer->cones[i] );
    use_solid( renderer, BOX, false );
    draw_meshes( renderer, &renderer->solid_boxes, &renderer->box );
}

static void draw_surroundings( const tr_renderer *renderer )
{
    for ( GLuint i = 0; i < 5; ++i )
        glDisableVertexAttribArray( i );
    glUseProgram( renderer->programs[GROUND] );
    glDrawArrays( GL_TRIANGLE_STRIP, 0, 4 );
    glDisable( GL_CULL_FACE );
    glDepthMask( GL_FALSE );
    glUseProgram( renderer->programs[BACKDROP] );
    draw_screen();
}

// First the depth of all ghosts, then their colour where they are nearest: each pixel is tinted once.
static void draw_ghosts( const tr_renderer *renderer )
{
    glEnable( GL_CULL_FACE );
    for ( int pass = 0; pass < 2; ++pass ) {
        GLboolean colour = pass == 1;
        glDepthMask( !colour );
        glColorMask( colour, colour, colour, colour );
        use_solid( renderer, CONE, false );
        for ( int i = 0; i < DETAILS; ++i )
            draw_meshes( renderer, &renderer->ghost_cones[i], &renderer->cones[i] );
        use_solid( renderer, BOX, false );
        draw_meshes( renderer, &renderer->ghost_boxes, &renderer->box );
    }
    glDisable( GL_CULL_FACE );
}

static void draw_marks( const tr_renderer *renderer )
{
    glUseProgram( renderer->programs[DISC] );
    draw_quads( renderer, &renderer->discs );
    glUseProgram( renderer->programs[LINE] );
    draw_quads( renderer, &renderer->lines );
    glDisable( GL_DEPTH_TEST );
    draw_quads( renderer, &renderer->top_lines );
}

static void draw_scene( const tr_renderer *renderer, const shot *s )
{
    bind_target( &renderer->picture );
    glClear( GL_DEPTH_BUFFER_BIT ); // the backdrop covers all colour
    // Where a pixel is larger than a texel, weights between texels would not be seen.
    GLint filter = s->frame.fill[3] > 1.5f ? GL_NEAREST : GL_LINEAR;
    glSamplerParameteri( renderer->shadow_sampler, GL_TEXTURE_MIN_FILTER, filter );
    glSamplerParameteri( renderer->shadow_sampler, GL_TEXTURE_MAG_FILTER, filter );
    bind_map( TR_UNIT_SHADOW, renderer->shadow.depth, renderer->shadow_sampler );
    bind_map( TR_UNIT_SHARP, renderer->coverage.colour, 0 );
    bind_map( TR_UNIT_SOFT, renderer->soft[1].colour, 0 );
    bind_map( TR_UNIT_OCCLUSION, renderer->occlusion.colour, 0 );
    glEnable( GL_DEPTH_TEST );
    glDepthFunc( GL_LEQUAL );
    draw_solids( renderer );
    draw_surroundings( renderer );
    glEnable( GL_BLEND );
    glBlendFunc( GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA );
    draw_ghosts( renderer );
    draw_marks( renderer );
}

// What the caller may have left behind, and what we leave behind for the caller.
static void reset_state( void )
{
    glDisable( GL_BLEND );
    glDisable( GL_CULL_FACE );
    glDisable( GL_DEPTH_TEST );
    glDisable( GL_SCISSOR_TEST );
    glDisable( GL_STENCIL_TEST );
    glDisable( GL_FRAMEBUFFER_SRGB );
    glEnable( GL_MULTISAMPLE );
    glColorMask( GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE );
    glDepthMask( GL_TRUE );
    glClearDepth( 1.0 );
    glCullFace( GL_BACK );
    glFrontFace( GL_CCW );
    glPolygonMode( GL_FRONT_AND_BACK, GL_FILL );
    glBlendEquation( GL_FUNC_ADD );
}

static void release_state( void )
{
    reset_state();
    for ( int unit = TR_UNIT_SHADOW; unit <= TR_UNIT_SOURCE; ++unit )
        bind_map( unit, 0, 0 );
    glActiveTexture( GL_TEXTURE0 );
    glBindVertexArray( 0 );
    glBindBuffer( GL_ARRAY_BUFFER, 0 );
    glBindBuffer( GL_UNIFORM_BUFFER, 0 );
    glUseProgram( 0 );
}

static bool check_call( const tr_renderer *renderer, const tr_draw_list *list, const tr_camera *camera,
                        int width, int height, tr_error *error )
{
    if ( width < 1 || height < 1 || width > renderer->max_size || height > renderer->max_size )
        return tr_error_set( error, "a picture of %d x %d pixels is not possible: each side must be 1 … %d",
                             width, height, renderer->max_size );
    if ( list->failed )
        return tr_error_memory( error );
    if ( !v3_finite( camera->eye ) || !v3_finite( camera->target ) )
        return tr_error_set( error, "the camera has no finite place" );
    return true;
}

static bool draw_into_picture( tr_renderer *renderer, shot *s, tr_error *error )
{
    reset_state();
    glBindVertexArray( renderer->vertex_array );
    glBindBufferBase( GL_UNIFORM_BUFFER, 0, renderer->frame_block );
    if ( !stream_list( renderer, s, error ) )
        return false;
    fill_frame( s );
    glBufferData( GL_UNIFORM_BUFFER, sizeof s->frame, &s->frame, GL_STREAM_DRAW );
    if ( s->light.width > 0 &&
         ( !draw_shadow_maps( renderer, s, error ) || !draw_occlusion_map( renderer, s, error ) ) )
        return false;
    if ( !tr_gpu_target_fit( &renderer->picture, TR_GPU_PICTURE, s->width, s->height, error ) )
        return false;
    draw_scene( renderer, s );
    return true;
}

bool tr_renderer_draw( tr_renderer *renderer, const tr_draw_list *list, const tr_camera *camera, int width,
                       int height, unsigned target, tr_error *error )
{
    if ( !check_call( renderer, list, camera, width, height, error ) )
        return false;
    shot s = { .list = list, .camera = camera, .width = width, .height = height, .origin = camera->target };
    s.aspect = (double)width / height;
    s.content = tr_bounds_of_list( list, false );
    s.light = tr_light_view_of( list, key_light( camera ), s.origin );
    bool ok = draw_into_picture( renderer, &s, error );
    if ( ok ) {
        glBindFramebuffer( GL_READ_FRAMEBUFFER, renderer->picture.framebuffer );
        glBindFramebuffer( GL_DRAW_FRAMEBUFFER, target );
        glBlitFramebuffer( 0, 0, width, height, 0, 0, width, height, GL_COLOR_BUFFER_BIT, GL_NEAREST );
    }
    glBindFramebuffer( GL_FRAMEBUFFER, target );
    release_state();
    return ok;
}

bool tr_renderer_picture( tr_renderer *renderer, const tr_draw_list *list, const tr_camera *camera, int width,
                          int height, unsigned char *rgb, tr_error *error )
{
    if ( !check_call( renderer, list, camera, width, height, error ) ||
         !tr_gpu_target_fit( &renderer->resolved, TR_GPU_RESOLVED, width, height, error ) ||
         !tr_renderer_draw( renderer, list, camera, width, height, renderer->resolved.framebuffer, error ) )
        return false;
    glBindFramebuffer( GL_READ_FRAMEBUFFER, renderer->resolved.framebuffer );
    glPixelStorei( GL_PACK_ALIGNMENT, 1 );
    size_t row = 3 * (size_t)width;
    glReadPixels( 0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, rgb );
    for ( int y = 0; y < height / 2; ++y ) { // OpenGL's first row is the bottom
        unsigned char *upper = rgb + row * (size_t)y, *lower = rgb + row * (size_t)( height - 1 - y );
        for ( size_t i = 0; i < row; ++i ) {
            unsigned char swap = upper[i];
            upper[i] = lower[i];
            lower[i] = swap;
        }
    }
    glBindFramebuffer( GL_FRAMEBUFFER, 0 );
    return glGetError() == GL_NO_ERROR ||
           tr_error_set( error, "the graphics driver failed to draw the picture" );
}
