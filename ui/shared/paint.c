// Nuklear's draw commands with OpenGL. Coordinates are points; the projection turns them into pixels, fonts
// are baked at their size in pixels, so that type is sharp at any scale.
#include "ui/shared/paint.h"

#include <epoxy/gl.h>
#include <stdlib.h>

static const float text_points = 14.0f, small_points = 12.0f;

typedef struct vertex {
    float position[2], uv[2];
    nk_byte colour[4];
} vertex;

// ---------------------------------------------------------------------------------------------- memory

static void *nk_memory( nk_handle handle, void *old, nk_size size )
{
    (void)handle;
    (void)old; // Nuklear copies by itself
    return tr_alloc( size, 1 );
}

static void nk_memory_free( nk_handle handle, void *pointer )
{
    (void)handle;
    tr_free( pointer );
}

// ----------------------------------------------------------------------------------------------- fonts

// Latin, Greek and Cyrillic letters, dashes, quotes, arrows, a few signs.
static const nk_rune glyphs[] = { 0x20,   0x17F,  0x386,  0x3CE,  0x400,  0x45F, 0x2010,
                                  0x2026, 0x2190, 0x2193, 0x2212, 0x2212, 0 };

static bool read_type( char **bytes, size_t *size, const char *const *candidates )
{
    for ( int i = 0; candidates[i] != NULL; ++i )
        if ( tr_file_exists( candidates[i] ) && tr_file_read( candidates[i], bytes, size, NULL ) )
            return true;
    return false;
}

static struct nk_font *add_font( tr_fonts *fonts, char *bytes, size_t size, float points, double scale )
{
    float pixels = (float)( points * scale );
    struct nk_font_config config = nk_font_config( pixels );
    config.range = glyphs;
    config.oversample_h = 3;
    config.oversample_v = 1;
    config.pixel_snap = 0;
    struct nk_font *font;
    if ( bytes == NULL )
        font = nk_font_atlas_add_default( &fonts->atlas, pixels, NULL );
    else
        font = nk_font_atlas_add_from_memory( &fonts->atlas, bytes, size, pixels, &config );
    return font;
}

static bool bake_fonts( tr_paint *paint, double scale, const void **image, int *width, int *height )
{
    static const char *const regular[] = {
        "/usr/share/fonts/truetype/roboto/unhinted/RobotoTTF/Roboto-Regular.ttf",
        "/usr/share/fonts/truetype/open-sans/OpenSans-Regular.ttf",
        "/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf",
        "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
        "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
        NULL };
    static const char *const strong[] = {
        "/usr/share/fonts/truetype/roboto/unhinted/RobotoTTF/Roboto-Medium.ttf",
        "/usr/share/fonts/truetype/open-sans/OpenSans-Semibold.ttf",
        "/usr/share/fonts/truetype/noto/NotoSans-Bold.ttf",
        "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf",
        "/usr/share/fonts/truetype/liberation/LiberationSans-Bold.ttf",
        NULL };
    const char *chosen[] = { getenv( "TROUPE_FONT" ), NULL };
    tr_fonts *fonts = &paint->fonts;
    size_t sizes[2] = { 0, 0 };
    if ( chosen[0] == NULL || !read_type( &fonts->files[0], &sizes[0], chosen ) ) {
        read_type( &fonts->files[0], &sizes[0], regular );
        if ( fonts->files[0] != NULL )
            read_type( &fonts->files[1], &sizes[1], strong );
    }
    bool two = fonts->files[1] != NULL;
    nk_font_atlas_init( &fonts->atlas, &paint->allocator );
    nk_font_atlas_begin( &fonts->atlas );
    fonts->text = add_font( fonts, fonts->files[0], sizes[0], text_points, scale );
    fonts->small = add_font( fonts, fonts->files[0], sizes[0], small_points, scale );
    fonts->strong = add_font( fonts, fonts->files[two], sizes[two], text_points, scale );
    if ( fonts->text == NULL || fonts->small == NULL || fonts->strong == NULL )
        return false;
    *image = nk_font_atlas_bake( &fonts->atlas, width, height, NK_FONT_ATLAS_RGBA32 );
    return *image != NULL;
}

static void finish_fonts( tr_paint *paint, double scale )
{
    tr_fonts *fonts = &paint->fonts;
    nk_font_atlas_end( &fonts->atlas, nk_handle_id( (int)paint->font_texture ), &fonts->null );
    struct nk_font *all[] = { fonts->text, fonts->small, fonts->strong };
    for ( int i = 0; i < 3; ++i )
        all[i]->handle.height = (float)( all[i]->handle.height / scale ); // points again
}

// ------------------------------------------------------------------------------------------------ OpenGL

static const char *const vertex_shader =
    "#version 330 core\n"
    "uniform vec2 size;\n"
    "layout(location = 0) in vec2 position;\n"
    "layout(location = 1) in vec2 uv;\n"
    "layout(location = 2) in vec4 colour;\n"
    "out vec2 at;\n"
    "out vec4 tint;\n"
    "void main() {\n"
    "    at = uv;\n"
    "    tint = colour;\n"
    "    gl_Position = vec4(2.0 * position.x / size.x - 1.0, 1.0 - 2.0 * position.y / size.y, 0, 1);\n"
    "}\n";
static const char *const fragment_shader = "#version 330 core\n"
                                           "uniform sampler2D picture;\n"
                                           "in vec2 at;\n"
                                           "in vec4 tint;\n"
                                           "out vec4 pixel;\n"
                                           "void main() { pixel = tint * texture(picture, at); }\n";

static GLuint compile( GLenum kind, const char *source )
{
    GLuint shader = glCreateShader( kind );
    glShaderSource( shader, 1, &source, NULL );
    glCompileShader( shader );
    return shader;
}

static bool create_program( tr_paint *paint, tr_error *error )
{
    GLuint shaders[2] = { compile( GL_VERTEX_SHADER, vertex_shader ),
                          compile( GL_FRAGMENT_SHADER, fragment_shader ) };
    paint->program = glCreateProgram();
    for ( int i = 0; i < 2; ++i ) {
        glAttachShader( paint->program, shaders[i] );
        glDeleteShader( shaders[i] );
    }
    glLinkProgram( paint->program );
    GLint ok = 0;
    glGetProgramiv( paint->program, GL_LINK_STATUS, &ok );
    return ok || tr_error_set( error, "the graphics driver refuses the shaders of the panels" );
}

static void create_buffers( tr_paint *paint )
{
    glGenVertexArrays( 1, &paint->vertex_array );
    glGenBuffers( 1, &paint->vertex_buffer );
    glGenBuffers( 1, &paint->element_buffer );
    glBindVertexArray( paint->vertex_array );
    glBindBuffer( GL_ARRAY_BUFFER, paint->vertex_buffer );
    glBindBuffer( GL_ELEMENT_ARRAY_BUFFER, paint->element_buffer );
    for ( GLuint i = 0; i < 3; ++i )
        glEnableVertexAttribArray( i );
    GLsizei size = sizeof( vertex );
    glVertexAttribPointer( 0, 2, GL_FLOAT, GL_FALSE, size, (void *)offsetof( vertex, position ) );
    glVertexAttribPointer( 1, 2, GL_FLOAT, GL_FALSE, size, (void *)offsetof( vertex, uv ) );
    glVertexAttribPointer( 2, 4, GL_UNSIGNED_BYTE, GL_TRUE, size, (void *)offsetof( vertex, colour ) );
    glBindVertexArray( 0 );
}

static GLuint create_texture( int width, int height, GLenum format, const void *pixels )
{
    GLuint texture;
    glGenTextures( 1, &texture );
    glBindTexture( GL_TEXTURE_2D, texture );
    glTexParameteri( GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR );
    glTexParameteri( GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR );
    glTexParameteri( GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE );
    glTexParameteri( GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE );
    glPixelStorei( GL_UNPACK_ALIGNMENT, 1 );
    glTexImage2D( GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, format, GL_UNSIGNED_BYTE, pixels );
    glBindTexture( GL_TEXTURE_2D, 0 );
    return texture;
}

unsigned tr_paint_picture( const tr_paint *paint, int width, int height, const unsigned char *rgb )
{
    return paint->has_gl ? create_texture( width, height, GL_RGB, rgb ) : 0;
}

void tr_paint_picture_free( unsigned picture )
{
    if ( picture != 0 )
        glDeleteTextures( 1, &picture );
}

bool tr_paint_create( tr_paint *paint, struct nk_context *nk, bool has_gl, double scale, tr_error *error )
{
    *paint = ( tr_paint ){ .has_gl = has_gl, .scale = scale };
    paint->allocator.alloc = nk_memory;
    paint->allocator.free = nk_memory_free;
    const void *image = NULL;
    int width = 0, height = 0;
    bool ok = bake_fonts( paint, scale, &image, &width, &height ) || tr_error_memory( error );
    if ( ok && has_gl ) {
        paint->font_texture = create_texture( width, height, GL_RGBA, image );
        create_buffers( paint );
        ok = create_program( paint, error );
    }
    if ( ok ) {
        finish_fonts( paint, scale );
        nk_buffer_init( &paint->commands, &paint->allocator, 16 << 10 );
        nk_buffer_init( &paint->vertices, &paint->allocator, 256 << 10 );
        nk_buffer_init( &paint->elements, &paint->allocator, 128 << 10 );
        ok = nk_init( nk, &paint->allocator, &paint->fonts.text->handle ) || tr_error_memory( error );
    }
    if ( !ok )
        tr_paint_destroy( paint );
    return ok;
}

static void free_fonts( tr_fonts *fonts )
{
    nk_font_atlas_clear( &fonts->atlas );
    for ( int i = 0; i < 2; ++i )
        tr_free( fonts->files[i] );
    *fonts = ( tr_fonts ){ 0 };
}

bool tr_paint_rescale( tr_paint *paint, double scale )
{
    if ( scale == paint->scale )
        return false;
    tr_fonts old = paint->fonts;
    const void *image = NULL;
    int width = 0, height = 0;
    paint->scale = scale;
    paint->fonts = ( tr_fonts ){ 0 };
    if ( !bake_fonts( paint, scale, &image, &width,
                      &height ) ) { // then they are not as sharp as they could be
        free_fonts( &paint->fonts );
        paint->fonts = old;
        return false;
    }
    if ( paint->has_gl ) {
        glDeleteTextures( 1, &paint->font_texture );
        paint->font_texture = create_texture( width, height, GL_RGBA, image );
    }
    finish_fonts( paint, scale );
    free_fonts( &old );
    return true;
}

void tr_paint_destroy( tr_paint *paint )
{
    free_fonts( &paint->fonts );
    nk_buffer_free( &paint->commands );
    nk_buffer_free( &paint->vertices );
    nk_buffer_free( &paint->elements );
    if ( paint->has_gl ) {
        glDeleteTextures( 1, &paint->font_texture );
        glDeleteBuffers( 1, &paint->vertex_buffer );
        glDeleteBuffers( 1, &paint->element_buffer );
        glDeleteVertexArrays( 1, &paint->vertex_array );
        glDeleteProgram( paint->program );
    }
    *paint = ( tr_paint ){ 0 };
}

// --------------------------------------------------------------------------------------------- drawing

static struct nk_convert_config convert_config( const tr_paint *paint )
{
    static const struct nk_draw_vertex_layout_element layout[] = {
        { NK_VERTEX_POSITION, NK_FORMAT_FLOAT, offsetof( vertex, position ) },
        { NK_VERTEX_TEXCOORD, NK_FORMAT_FLOAT, offsetof( vertex, uv ) },
        { NK_VERTEX_COLOR, NK_FORMAT_R8G8B8A8, offsetof( vertex, colour ) },
        { NK_VERTEX_LAYOUT_END } };
    return ( struct nk_convert_config ){ .vertex_layout = layout,
                                         .vertex_size = sizeof( vertex ),
                                         .vertex_alignment = NK_ALIGNOF( vertex ),
                                         .null = paint->fonts.null,
                                         .circle_segment_count = 14,
                                         .curve_segment_count = 16,
                                         .arc_segment_count = 20,
                                         .global_alpha = 1.0f,
                                         .shape_AA = NK_ANTI_ALIASING_ON,
                                         .line_AA = NK_ANTI_ALIASING_ON };
}

static void prepare_state( const tr_paint *paint, const tr_window *window )
{
    glBindFramebuffer( GL_FRAMEBUFFER, window->target );
    glViewport( 0, 0, window->pixel_width, window->pixel_height );
    glEnable( GL_BLEND );
    glBlendEquation( GL_FUNC_ADD );
    glBlendFunc( GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA );
    glDisable( GL_CULL_FACE );
    glDisable( GL_DEPTH_TEST );
    glEnable( GL_SCISSOR_TEST );
    glActiveTexture( GL_TEXTURE0 );
    glUseProgram( paint->program );
    glUniform2f( glGetUniformLocation( paint->program, "size" ), (float)window->width,
                 (float)window->height );
    glUniform1i( glGetUniformLocation( paint->program, "picture" ), 0 );
    glBindVertexArray( paint->vertex_array );
}

static void upload( tr_paint *paint )
{
    glBindBuffer( GL_ARRAY_BUFFER, paint->vertex_buffer );
    glBufferData( GL_ARRAY_BUFFER, (GLsizeiptr)paint->vertices.allocated,
                  nk_buffer_memory( &paint->vertices ), GL_STREAM_DRAW );
    glBufferData( GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)paint->elements.allocated,
                  nk_buffer_memory( &paint->elements ), GL_STREAM_DRAW );
}

static void draw( tr_paint *paint, struct nk_context *nk, const tr_window *window )
{
    const struct nk_draw_command *command;
    size_t offset = 0;
    float sx = (float)window->pixel_width / (float)window->width,
          sy = (float)window->pixel_height / (float)window->height;
    nk_draw_foreach( command, nk, &paint->commands )
    {
        if ( command->elem_count == 0 )
            continue;
        struct nk_rect clip = command->clip_rect;
        GLuint texture = (GLuint)command->texture.id;
        glBindTexture( GL_TEXTURE_2D, texture != 0 ? texture : paint->font_texture );
        glScissor( tr_pixels( clip.x * sx ), tr_pixels( ( (float)window->height - clip.y - clip.h ) * sy ),
                   tr_pixels( clip.w * sx + 0.5f ), tr_pixels( clip.h * sy + 0.5f ) );
        glDrawElements( GL_TRIANGLES, (GLsizei)command->elem_count, GL_UNSIGNED_SHORT, (void *)offset );
        offset += command->elem_count * sizeof( nk_draw_index );
    }
}

void tr_paint_flush( tr_paint *paint, struct nk_context *nk, const tr_window *window )
{
    struct nk_convert_config config = convert_config( paint );
    nk_buffer_clear( &paint->commands );
    nk_buffer_clear( &paint->vertices );
    nk_buffer_clear( &paint->elements );
    // What does not fit (16-bit indices, or memory) is left out; the rest is drawn.
    nk_convert( nk, &paint->commands, &paint->vertices, &paint->elements, &config );
    if ( paint->has_gl ) {
        prepare_state( paint, window );
        upload( paint );
        draw( paint, nk, window );
        glDisable( GL_SCISSOR_TEST );
        glDisable( GL_BLEND );
        glBindVertexArray( 0 );
        glUseProgram( 0 );
    }
    nk_clear( nk );
}
