// One picture: the list is sorted into instanced groups, the light's maps are drawn, then solids, ground,
// backdrop, ghosts, discs and lines into a multisampled picture that is resolved into the target.
#include "ui/render/private.h"

// ---------------------------------------------------------------------------------------------- life

static bool create_programs( tr_renderer *renderer, tr_error *error )
{
    const struct {
        const char *name, *vertex, *fragment;
    } table[TR_PROGRAM_COUNT] = {
        [TR_PROGRAM_CONE] = { "cone", tr_shader_cone_vertex, tr_shader_solid_fragment },
        [TR_PROGRAM_BOX] = { "box", tr_shader_box_vertex, tr_shader_solid_fragment },
        [TR_PROGRAM_TRIANGLE] = { "triangle", tr_shader_triangle_vertex, tr_shader_triangle_fragment },
        [TR_PROGRAM_CONE_DEPTH] = { "cone depth", tr_shader_cone_vertex, tr_shader_depth_fragment },
        [TR_PROGRAM_BOX_DEPTH] = { "box depth", tr_shader_box_vertex, tr_shader_depth_fragment },
        [TR_PROGRAM_TRIANGLE_DEPTH] = { "triangle depth", tr_shader_triangle_vertex,
                                        tr_shader_depth_fragment },
        [TR_PROGRAM_GROUND] = { "ground", tr_shader_ground_vertex, tr_shader_ground_fragment },
        [TR_PROGRAM_BACKDROP] = { "backdrop", tr_shader_screen_vertex, tr_shader_backdrop_fragment },
        [TR_PROGRAM_COVERAGE] = { "coverage", tr_shader_screen_vertex, tr_shader_coverage_fragment },
        [TR_PROGRAM_BLUR] = { "blur", tr_shader_screen_vertex, tr_shader_blur_fragment },
        [TR_PROGRAM_OCCLUSION] = { "occlusion", tr_shader_occlusion_vertex, tr_shader_occlusion_fragment },
        [TR_PROGRAM_LINE] = { "line", tr_shader_line_vertex, tr_shader_line_fragment },
        [TR_PROGRAM_DISC] = { "disc", tr_shader_disc_vertex, tr_shader_disc_fragment },
    };
    for ( int i = 0; i < TR_PROGRAM_COUNT; ++i ) {
        renderer->programs[i] = tr_gpu_program( table[i].name, table[i].vertex, table[i].fragment, error );
        if ( !renderer->programs[i] )
            return false;
    }
    return true;
}

static bool create_meshes( tr_renderer *renderer, tr_error *error )
{
    const int sides[TR_DETAILS] = { 4, 6, 8, 12, 20, 40 }, rings[TR_DETAILS] = { 1, 2, 2, 3, 5, 10 };
    for ( int i = 0; i < TR_DETAILS; ++i )
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
    renderer->scale = 1.0;
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
    tr_gpu_target *targets[] = { &renderer->picture,    &renderer->plain,      &renderer->resolved,
                                 &renderer->halved,     &renderer->shadow,     &renderer->coverage,
                                 &renderer->quarter[0], &renderer->quarter[1], &renderer->soft[0],
                                 &renderer->soft[1],    &renderer->occlusion };
    for ( size_t i = 0; i < sizeof targets / sizeof targets[0]; ++i )
        tr_gpu_target_free( targets[i] );
    for ( int i = 0; i < TR_PROGRAM_COUNT; ++i )
        glDeleteProgram( renderer->programs[i] );
    for ( int i = 0; i < TR_DETAILS; ++i )
        tr_gpu_mesh_free( &renderer->cones[i] );
    tr_gpu_mesh_free( &renderer->box );
    glDeleteSamplers( 1, &renderer->shadow_sampler );
    glDeleteBuffers( 1, &renderer->frame_block );
    glDeleteBuffers( 1, &renderer->stream_buffer );
    glDeleteVertexArrays( 1, &renderer->vertex_array );
    tr_free( renderer->stream );
    tr_free( renderer->details );
    tr_free( renderer );
}

// ------------------------------------------------------------------------------------------------ scene

static void draw_solids( const tr_renderer *renderer )
{
    glEnable( GL_CULL_FACE );
    glEnable( GL_STENCIL_TEST ); // solid pixels are marked, for the ghosts
    glStencilFunc( GL_ALWAYS, 1, 0xFF );
    glStencilOp( GL_KEEP, GL_KEEP, GL_REPLACE );
    tr_stream_solid( renderer, TR_PROGRAM_CONE, false );
    for ( int i = 0; i < TR_DETAILS; ++i )
        tr_stream_meshes( renderer, &renderer->solid_cones[i], &renderer->cones[i] );
    tr_stream_solid( renderer, TR_PROGRAM_BOX, false );
    tr_stream_meshes( renderer, &renderer->solid_boxes, &renderer->box );
    tr_stream_solid( renderer, TR_PROGRAM_TRIANGLE, false );
    tr_stream_triangles( renderer, &renderer->solid_triangles );
    glDisable( GL_STENCIL_TEST );
}

static void draw_surroundings( const tr_renderer *renderer )
{
    for ( GLuint i = 0; i < 5; ++i )
        glDisableVertexAttribArray( i );
    glUseProgram( renderer->programs[TR_PROGRAM_GROUND] );
    glDrawArrays( GL_TRIANGLE_STRIP, 0, 4 );
    glDisable( GL_CULL_FACE );
    glDepthMask( GL_FALSE );
    glUseProgram( renderer->programs[TR_PROGRAM_BACKDROP] );
    tr_stream_screen();
}

// First the depth of all ghosts, then their colour where they are nearest: each pixel is tinted once. Bodies
// among them stay off the pixels of solid things, so that they never veil the pose they accompany.
static void draw_ghosts( const tr_renderer *renderer )
{
    glEnable( GL_CULL_FACE );
    glStencilFunc( GL_EQUAL, 0, 0xFF );
    glStencilOp( GL_KEEP, GL_KEEP, GL_KEEP );
    for ( int pass = 0; pass < 2; ++pass ) {
        GLboolean colour = pass == 1;
        glDepthMask( !colour );
        glColorMask( colour, colour, colour, colour );
        glEnable( GL_STENCIL_TEST );
        tr_stream_solid( renderer, TR_PROGRAM_CONE, false );
        for ( int i = 0; i < TR_DETAILS; ++i )
            tr_stream_meshes( renderer, &renderer->ghost_cones[i], &renderer->cones[i] );
        glDisable( GL_STENCIL_TEST );
        tr_stream_solid( renderer, TR_PROGRAM_BOX, false );
        tr_stream_meshes( renderer, &renderer->ghost_boxes, &renderer->box );
        tr_stream_solid( renderer, TR_PROGRAM_TRIANGLE, false );
        tr_stream_triangles( renderer, &renderer->ghost_triangles );
    }
    glDisable( GL_CULL_FACE );
}

static void draw_marks( const tr_renderer *renderer )
{
    glUseProgram( renderer->programs[TR_PROGRAM_DISC] );
    tr_stream_quads( renderer, &renderer->discs );
    glUseProgram( renderer->programs[TR_PROGRAM_LINE] );
    tr_stream_quads( renderer, &renderer->lines );
    glDisable( GL_DEPTH_TEST );
    tr_stream_quads( renderer, &renderer->top_lines );
}

static void draw_scene( const tr_renderer *renderer, const tr_shot *s, const tr_gpu_target *canvas )
{
    tr_gpu_bind_target( canvas );
    glClear( GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT ); // the backdrop covers all colour
    // Where a pixel is larger than a texel, weights between texels would not be seen.
    GLint filter = s->frame.fill[3] > 1.5f ? GL_NEAREST : GL_LINEAR;
    glSamplerParameteri( renderer->shadow_sampler, GL_TEXTURE_MIN_FILTER, filter );
    glSamplerParameteri( renderer->shadow_sampler, GL_TEXTURE_MAG_FILTER, filter );
    tr_gpu_bind_map( TR_UNIT_SHADOW, renderer->shadow.depth, renderer->shadow_sampler );
    tr_gpu_bind_map( TR_UNIT_SHARP, renderer->coverage.colour, 0 );
    tr_gpu_bind_map( TR_UNIT_SOFT, renderer->soft[1].colour, 0 );
    tr_gpu_bind_map( TR_UNIT_OCCLUSION, renderer->occlusion.colour, 0 );
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
    glClearStencil( 0 );
    glStencilMask( 0xFF );
    glCullFace( GL_BACK );
    glFrontFace( GL_CCW );
    glPolygonMode( GL_FRONT_AND_BACK, GL_FILL );
    glBlendEquation( GL_FUNC_ADD );
}

static void release_state( void )
{
    reset_state();
    for ( int unit = TR_UNIT_SHADOW; unit <= TR_UNIT_SOURCE; ++unit )
        tr_gpu_bind_map( unit, 0, 0 );
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

static bool draw_into_picture( tr_renderer *renderer, tr_shot *s, tr_gpu_target *canvas, tr_error *error )
{
    tr_gpu_format format = canvas == &renderer->plain ? TR_GPU_PLAIN : TR_GPU_PICTURE;
    reset_state();
    glBindVertexArray( renderer->vertex_array );
    glBindBufferBase( GL_UNIFORM_BUFFER, 0, renderer->frame_block );
    if ( !tr_stream_list( renderer, s, error ) )
        return false;
    tr_frame_fill( s );
    s->frame.room[0] = renderer->dim;
    glBufferData( GL_UNIFORM_BUFFER, sizeof s->frame, &s->frame, GL_STREAM_DRAW );
    if ( !tr_maps_draw( renderer, s, error ) ||
         !tr_gpu_target_fit( canvas, format, s->width, s->height, error ) )
        return false;
    draw_scene( renderer, s, canvas );
    return true;
}

// `scale` pixels of the target stand for one pixel of what the viewer gets to see.
static bool draw( tr_renderer *renderer, const tr_draw_list *list, const tr_camera *camera, int width,
                  int height, int scale, unsigned target, tr_error *error )
{
    if ( !check_call( renderer, list, camera, width, height, error ) )
        return false;
    tr_shot s = {
        .list = list, .camera = camera, .width = width, .height = height, .origin = camera->target };
    s.pixel = scale * renderer->scale;
    s.aspect = (double)width / height;
    s.content = tr_bounds_of_list( list, false );
    if ( renderer->quality < TR_QUALITY_BARE )
        s.light = tr_light_view_of( list, tr_key_light( camera ), s.origin );
    tr_gpu_target *canvas = renderer->quality == TR_QUALITY_FULL ? &renderer->picture : &renderer->plain;
    bool ok = draw_into_picture( renderer, &s, canvas, error );
    if ( ok ) {
        glBindFramebuffer( GL_READ_FRAMEBUFFER, canvas->framebuffer );
        glBindFramebuffer( GL_DRAW_FRAMEBUFFER, target );
        glBlitFramebuffer( 0, 0, width, height, 0, 0, width, height, GL_COLOR_BUFFER_BIT, GL_NEAREST );
    }
    glBindFramebuffer( GL_FRAMEBUFFER, target );
    release_state();
    return ok;
}

bool tr_renderer_draw( tr_renderer *renderer, const tr_draw_list *list, const tr_camera *camera, int width,
                       int height, unsigned target, tr_error *error )
{
    return draw( renderer, list, camera, width, height, 1, target, error );
}

void tr_renderer_set_quality( tr_renderer *renderer, tr_quality quality )
{
    renderer->quality = quality;
}

void tr_renderer_set_scale( tr_renderer *renderer, double scale )
{
    renderer->scale = scale;
}

void tr_renderer_set_dim( tr_renderer *renderer, bool dim )
{
    renderer->dim = dim;
}

void tr_renderer_set_still( tr_renderer *renderer, bool still )
{
    renderer->still = still;
}

static void flip_rows( unsigned char *rgb, size_t row, int height )
{
    for ( int y = 0; y < height / 2; ++y ) {
        unsigned char *upper = rgb + row * (size_t)y, *lower = rgb + row * (size_t)( height - 1 - y );
        for ( size_t i = 0; i < row; ++i ) {
            unsigned char swap = upper[i];
            upper[i] = lower[i];
            lower[i] = swap;
        }
    }
}

bool tr_renderer_picture( tr_renderer *renderer, const tr_draw_list *list, const tr_camera *camera, int width,
                          int height, unsigned char *rgb, tr_error *error )
{
    if ( !check_call( renderer, list, camera, width, height, error ) )
        return false;
    int larger = width > height ? width : height,
        scale = renderer->still && 2 * larger <= renderer->max_size ? 2 : 1;
    tr_gpu_target *large = &renderer->resolved, *final = scale == 1 ? large : &renderer->halved;
    if ( !tr_gpu_target_fit( large, TR_GPU_RESOLVED, width * scale, height * scale, error ) ||
         !tr_gpu_target_fit( final, TR_GPU_RESOLVED, width, height, error ) ||
         !draw( renderer, list, camera, width * scale, height * scale, scale, large->framebuffer, error ) )
        return false;
    glBindFramebuffer( GL_READ_FRAMEBUFFER, large->framebuffer );
    if ( scale > 1 ) { // linear filtering at exactly half the size is the mean of four
        glBindFramebuffer( GL_DRAW_FRAMEBUFFER, final->framebuffer );
        glBlitFramebuffer( 0, 0, width * scale, height * scale, 0, 0, width, height, GL_COLOR_BUFFER_BIT,
                           GL_LINEAR );
        glBindFramebuffer( GL_READ_FRAMEBUFFER, final->framebuffer );
    }
    glPixelStorei( GL_PACK_ALIGNMENT, 1 );
    glReadPixels( 0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, rgb );
    flip_rows( rgb, 3 * (size_t)width, height ); // OpenGL's first row is the bottom
    glBindFramebuffer( GL_FRAMEBUFFER, 0 );
    return glGetError() == GL_NO_ERROR ||
           tr_error_set( error, "the graphics driver failed to draw the picture" );
}
