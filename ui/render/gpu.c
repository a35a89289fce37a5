// OpenGL objects: programs, meshes, framebuffers.
#include "ui/render/private.h"

// --------------------------------------------------------------------------------------------- programs

static GLuint compile( GLenum kind, const char *name, const char *source, tr_error *error )
{
    const char *parts[] = { "#version 330 core\n", tr_shader_common,
                            kind == GL_FRAGMENT_SHADER ? tr_shader_shading : "", source };
    GLuint shader = glCreateShader( kind );
    glShaderSource( shader, 4, parts, NULL );
    glCompileShader( shader );
    GLint ok = 0;
    glGetShaderiv( shader, GL_COMPILE_STATUS, &ok );
    if ( ok )
        return shader;
    char log[300] = "";
    glGetShaderInfoLog( shader, sizeof log, NULL, log );
    glDeleteShader( shader );
    tr_error_set( error, "the graphics driver refuses the %s shader \"%s\": %s",
                  kind == GL_VERTEX_SHADER ? "vertex" : "fragment", name, log );
    return 0;
}

static void bind_inputs( GLuint program )
{
    static const struct {
        const char *name;
        int unit;
    } samplers[] = { { "shadow_map", TR_UNIT_SHADOW },       { "depth_map", TR_UNIT_DEPTH },
                     { "sharp_map", TR_UNIT_SHARP },         { "soft_map", TR_UNIT_SOFT },
                     { "occlusion_map", TR_UNIT_OCCLUSION }, { "source_map", TR_UNIT_SOURCE } };
    GLuint block = glGetUniformBlockIndex( program, "Frame" );
    if ( block != GL_INVALID_INDEX )
        glUniformBlockBinding( program, block, 0 );
    glUseProgram( program );
    for ( size_t i = 0; i < sizeof samplers / sizeof samplers[0]; ++i )
        glUniform1i( glGetUniformLocation( program, samplers[i].name ), samplers[i].unit );
}

GLuint tr_gpu_program( const char *name, const char *vertex, const char *fragment, tr_error *error )
{
    GLuint shaders[2] = { compile( GL_VERTEX_SHADER, name, vertex, error ), 0 };
    if ( shaders[0] )
        shaders[1] = compile( GL_FRAGMENT_SHADER, name, fragment, error );
    if ( !shaders[1] ) {
        glDeleteShader( shaders[0] );
        return 0;
    }
    GLuint program = glCreateProgram();
    for ( int i = 0; i < 2; ++i ) {
        glAttachShader( program, shaders[i] );
        glDeleteShader( shaders[i] ); // lives on as part of the program
    }
    glLinkProgram( program );
    GLint ok = 0;
    glGetProgramiv( program, GL_LINK_STATUS, &ok );
    if ( ok ) {
        bind_inputs( program );
        return program;
    }
    glDeleteProgram( program );
    tr_error_set( error, "the graphics driver cannot link the shader \"%s\"", name );
    return 0;
}

// ---------------------------------------------------------------------------------------------- targets

static void attach_buffer( GLuint *buffer, int samples, GLenum format, GLenum attachment, int width,
                           int height )
{
    glGenRenderbuffers( 1, buffer );
    glBindRenderbuffer( GL_RENDERBUFFER, *buffer );
    glRenderbufferStorageMultisample( GL_RENDERBUFFER, samples, format, width, height );
    glFramebufferRenderbuffer( GL_FRAMEBUFFER, attachment, GL_RENDERBUFFER, *buffer );
}

static void attach_texture( GLuint *texture, GLenum internal, GLenum format, GLenum attachment, int width,
                            int height )
{
    glGenTextures( 1, texture );
    glBindTexture( GL_TEXTURE_2D, *texture );
    glTexImage2D( GL_TEXTURE_2D, 0, internal, width, height, 0, format, GL_FLOAT, NULL );
    glTexParameteri( GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR );
    glTexParameteri( GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR );
    glTexParameteri( GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE );
    glTexParameteri( GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE );
    glFramebufferTexture2D( GL_FRAMEBUFFER, attachment, GL_TEXTURE_2D, *texture, 0 );
}

static void attach( tr_gpu_target *target, tr_gpu_format format )
{
    int width = target->width, height = target->height;
    switch ( format ) {
    case TR_GPU_PICTURE:
    case TR_GPU_PLAIN: {
        GLint samples = 0;
        if ( format == TR_GPU_PICTURE )
            glGetIntegerv( GL_MAX_SAMPLES, &samples );
        samples = samples < 4 ? samples : 4;
        attach_buffer( &target->colour, samples, GL_RGBA8, GL_COLOR_ATTACHMENT0, width, height );
        attach_buffer( &target->depth, samples, GL_DEPTH24_STENCIL8, GL_DEPTH_STENCIL_ATTACHMENT, width,
                       height );
        break;
    }
    case TR_GPU_RESOLVED:
        attach_buffer( &target->colour, 0, GL_RGBA8, GL_COLOR_ATTACHMENT0, width, height );
        break;
    case TR_GPU_SHADOW:
        attach_texture( &target->depth, GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT, GL_DEPTH_ATTACHMENT, width,
                        height );
        glDrawBuffer( GL_NONE );
        glReadBuffer( GL_NONE );
        break;
    case TR_GPU_COVERAGE:
        attach_texture( &target->colour, GL_RG8, GL_RG, GL_COLOR_ATTACHMENT0, width, height );
        break;
    case TR_GPU_BRIGHTNESS:
        attach_texture( &target->colour, GL_R8, GL_RED, GL_COLOR_ATTACHMENT0, width, height );
        break;
    }
}

bool tr_gpu_target_fit( tr_gpu_target *target, tr_gpu_format format, int width, int height, tr_error *error )
{
    if ( target->framebuffer && target->width == width && target->height == height )
        return true;
    tr_gpu_target_free( target );
    target->width = width;
    target->height = height;
    target->textures = format != TR_GPU_PICTURE && format != TR_GPU_PLAIN && format != TR_GPU_RESOLVED;
    glGenFramebuffers( 1, &target->framebuffer );
    glBindFramebuffer( GL_FRAMEBUFFER, target->framebuffer );
    attach( target, format );
    if ( glCheckFramebufferStatus( GL_FRAMEBUFFER ) == GL_FRAMEBUFFER_COMPLETE &&
         glGetError() == GL_NO_ERROR )
        return true;
    tr_gpu_target_free( target );
    return tr_error_set( error, "the graphics driver cannot make a picture of %d x %d pixels", width,
                         height );
}

void tr_gpu_target_free( tr_gpu_target *target )
{
    GLuint names[2] = { target->colour, target->depth };
    glDeleteFramebuffers( 1, &target->framebuffer );
    if ( target->textures )
        glDeleteTextures( 2, names );
    else
        glDeleteRenderbuffers( 2, names );
    *target = ( tr_gpu_target ){ 0 };
}

void tr_gpu_bind_target( const tr_gpu_target *target )
{
    glBindFramebuffer( GL_FRAMEBUFFER, target->framebuffer );
    glViewport( 0, 0, target->width, target->height );
}

void tr_gpu_bind_map( int unit, GLuint texture, GLuint sampler )
{
    glActiveTexture( GL_TEXTURE0 + (GLenum)unit );
    glBindTexture( GL_TEXTURE_2D, texture );
    glBindSampler( (GLuint)unit, sampler );
}

void tr_gpu_put( float out[4], vec3 v, double w )
{
    out[0] = (float)v.x;
    out[1] = (float)v.y;
    out[2] = (float)v.z;
    out[3] = (float)w;
}

// ----------------------------------------------------------------------------------------------- meshes

static bool upload( tr_gpu_mesh *mesh, const float *vertices, int vertex_count, const unsigned short *indices,
                    int index_count, tr_error *error )
{
    glGenBuffers( 1, &mesh->vertices );
    glGenBuffers( 1, &mesh->indices );
    glBindVertexArray( 0 );
    glBindBuffer( GL_ARRAY_BUFFER, mesh->vertices );
    glBufferData( GL_ARRAY_BUFFER, (GLsizeiptr)( sizeof *vertices * 4 * (size_t)vertex_count ), vertices,
                  GL_STATIC_DRAW );
    glBindBuffer( GL_ARRAY_BUFFER, mesh->indices ); // any binding point fills a buffer
    glBufferData( GL_ARRAY_BUFFER, (GLsizeiptr)( sizeof *indices * (size_t)index_count ), indices,
                  GL_STATIC_DRAW );
    mesh->index_count = index_count;
    return glGetError() == GL_NO_ERROR || tr_error_set( error, "the graphics driver is out of memory" );
}

// Two triangles per cell of a grid of (columns + 1) x (rows + 1) vertices, column-major, from vertex `base`.
static int add_grid( unsigned short *indices, int base, int columns, int rows )
{
    int n = 0;
    for ( int c = 0; c < columns; ++c )
        for ( int r = 0; r < rows; ++r ) {
            int v = base + c * ( rows + 1 ) + r, w = v + rows + 1;
            const int corners[6] = { v, w, w + 1, v, w + 1, v + 1 };
            for ( int i = 0; i < 6; ++i )
                indices[n++] = (unsigned short)corners[i];
        }
    return n;
}

bool tr_gpu_mesh_cone( tr_gpu_mesh *mesh, int sides, int rings, tr_error *error )
{
    int rows = 2 * rings + 1, vertex_count = ( sides + 1 ) * ( rows + 1 ), n = 0;
    float *vertices = tr_alloc( (size_t)vertex_count, 4 * sizeof *vertices );
    unsigned short *indices = tr_alloc( (size_t)( sides * rows ), 6 * sizeof *indices );
    bool ok = vertices && indices ? true : tr_error_memory( error );
    if ( ok ) {
        for ( int s = 0; s <= sides; ++s ) // downwards around, so that triangles face outwards
            for ( int r = 0; r <= rows; ++r ) {
                double angle = -2.0 * TR_PI * ( s % sides ) / sides;
                bool second = r > rings;
                vertices[n++] = (float)cos( angle );
                vertices[n++] = (float)sin( angle );
                int above = second ? r - rings - 1 : r - rings; // rings above the equator
                vertices[n++] = above == 0 ? 0.0f : (float)sin( 0.5 * TR_PI * above / rings );
                vertices[n++] = second ? 1.0f : 0.0f;
            }
        ok = upload( mesh, vertices, vertex_count, indices, add_grid( indices, 0, sides, rows ), error );
    }
    tr_free( vertices );
    tr_free( indices );
    return ok;
}

// Each face is a grid whose outer `steps` rings bend by 45° towards its neighbours. A vertex holds the sign
// of the face's axis and the two bends, all packed into a direction; the shader turns it into normal and
// place.
bool tr_gpu_mesh_box( tr_gpu_mesh *mesh, int steps, tr_error *error )
{
    int side = 2 * ( steps + 1 ), n = 0, index_count = 0;
    float *vertices = tr_alloc( (size_t)( 6 * side * side ), 4 * sizeof *vertices );
    unsigned short *indices = tr_alloc( (size_t)( 6 * ( side - 1 ) * ( side - 1 ) ), 6 * sizeof *indices );
    bool ok = vertices && indices ? true : tr_error_memory( error );
    for ( int face = 0; ok && face < 6; ++face ) {
        index_count += add_grid( indices + index_count, face * side * side, side - 1, side - 1 );
        int axis = face / 2;
        double sign = face % 2 ? 1.0 : -1.0;
        for ( int c = 0; c < side; ++c )
            for ( int r = 0; r < side; ++r ) {
                int steps_c = c <= steps ? c - steps : c - steps - 1,
                    steps_r = r <= steps ? r - steps : r - steps - 1;
                double d[3];
                d[axis] = sign;
                d[( axis + 1 ) % 3] = tan( 0.25 * TR_PI * steps_c / steps );
                d[( axis + 2 ) % 3] = sign * tan( 0.25 * TR_PI * steps_r / steps );
                int mask = 0; // which octant's corner the vertex belongs to: bits for positive x, y, z
                mask |= ( sign > 0 ) << axis;
                mask |= ( c > steps ) << ( axis + 1 ) % 3;
                mask |= ( ( r > steps ) == ( sign > 0 ) ) << ( axis + 2 ) % 3;
                for ( int i = 0; i < 3; ++i )
                    vertices[n++] = (float)d[i];
                vertices[n++] = (float)mask;
            }
    }
    ok = ok && upload( mesh, vertices, 6 * side * side, indices, index_count, error );
    tr_free( vertices );
    tr_free( indices );
    return ok;
}

void tr_gpu_mesh_free( tr_gpu_mesh *mesh )
{
    glDeleteBuffers( 1, &mesh->vertices );
    glDeleteBuffers( 1, &mesh->indices );
    *mesh = ( tr_gpu_mesh ){ 0 };
}
