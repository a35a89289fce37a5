// Maps of the light: the shadow map, the floor's soft shadow made from it, and the floor darkened by nearby
// bodies.
#include "ui/render/private.h"

enum { SHADOW_DETAIL = 1 }; // the cone mesh the light sees

static void blur( const tr_renderer *renderer, const tr_gpu_target *from, const tr_gpu_target *between,
                  const tr_gpu_target *to, double deviation )
{
    // The kernel's own standard deviation is 1.75 strides.
    GLuint program = renderer->programs[TR_PROGRAM_BLUR];
    glUseProgram( program );
    GLint stride = glGetUniformLocation( program, "stride" );
    tr_gpu_bind_target( between );
    tr_gpu_bind_map( TR_UNIT_SOURCE, from->colour, 0 );
    glUniform2f( stride, (float)( deviation / 1.75 / to->width ), 0.0f );
    tr_stream_screen();
    tr_gpu_bind_target( to );
    tr_gpu_bind_map( TR_UNIT_SOURCE, between->colour, 0 );
    glUniform2f( stride, 0.0f, (float)( deviation / 1.75 / to->height ) );
    tr_stream_screen();
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

static bool draw_shadow_maps( tr_renderer *renderer, const tr_shot *s, tr_error *error )
{
    const tr_light_view *v = &s->light;
    if ( !fit_shadow_maps( renderer, v, error ) )
        return false;
    tr_gpu_bind_target( &renderer->shadow );
    glDepthMask( GL_TRUE );
    glEnable( GL_DEPTH_TEST );
    glDepthFunc( GL_LESS );
    glClear( GL_DEPTH_BUFFER_BIT );
    tr_stream_solid( renderer, TR_PROGRAM_CONE_DEPTH, true );
    for ( int i = 0; i < TR_DETAILS; ++i )
        tr_stream_meshes( renderer, &renderer->solid_cones[i], &renderer->cones[SHADOW_DETAIL] );
    tr_stream_solid( renderer, TR_PROGRAM_BOX_DEPTH, true );
    tr_stream_meshes( renderer, &renderer->solid_boxes, &renderer->box );
    tr_stream_solid( renderer, TR_PROGRAM_TRIANGLE_DEPTH, true );
    tr_stream_triangles( renderer, &renderer->solid_triangles );
    glDisable( GL_DEPTH_TEST );

    float floor_plane[3];
    tr_light_floor( v, s->list->ground - s->origin.y, floor_plane );
    GLuint program = renderer->programs[TR_PROGRAM_COVERAGE];
    glUseProgram( program );
    glUniform3fv( glGetUniformLocation( program, "floor_plane" ), 1, floor_plane );
    tr_gpu_bind_target( &renderer->coverage );
    tr_gpu_bind_map( TR_UNIT_DEPTH, renderer->shadow.depth, 0 );
    tr_stream_screen();
    // Each blur is asked for in texels of the map it writes.
    double t = v->texel;
    blur( renderer, &renderer->coverage, &renderer->quarter[0], &renderer->quarter[1],
          clampd( 0.4 * v->soft / ( 4 * t ), 0.6, 2.5 ) );
    blur( renderer, &renderer->quarter[1], &renderer->soft[0], &renderer->soft[1],
          clampd( 0.9 * v->soft / ( 8 * t ), 0.6, 3.0 ) );
    return true;
}

// The map of ground darkened by nearby bodies: seen from above, about 5 cm per texel for people.
static bool draw_occlusion_map( tr_renderer *renderer, tr_shot *s, tr_error *error )
{
    tr_bounds solid = tr_bounds_of_list( s->list, true );
    vec3 low = v3_sub( solid.low, s->origin ), high = v3_sub( solid.high, s->origin );
    double tall = clampd( high.y - low.y, 1e-4, 2.0 ), pad = 0.5 * tall;
    double texel = fmax( 0.02 * tall, fmax( high.x - low.x, high.z - low.z ) / 900.0 );
    int width = 64 * tr_int_clamped( ceil( ( high.x - low.x + 2.0 * pad ) / texel / 64.0 ), 1, 64 );
    int height = 64 * tr_int_clamped( ceil( ( high.z - low.z + 2.0 * pad ) / texel / 64.0 ), 1, 64 );
    if ( !tr_gpu_target_fit( &renderer->occlusion, TR_GPU_BRIGHTNESS, width, height, error ) )
        return false;
    float *box = s->frame.occlusion;
    box[0] = (float)( 0.5 * ( low.x + high.x - texel * width ) );
    box[1] = (float)( 0.5 * ( low.z + high.z - texel * height ) );
    box[2] = (float)( 1.0 / ( texel * width ) );
    box[3] = (float)( 1.0 / ( texel * height ) );
    glBufferData( GL_UNIFORM_BUFFER, sizeof s->frame, &s->frame, GL_STREAM_DRAW );
    tr_gpu_bind_target( &renderer->occlusion );
    glClearColor( 1, 1, 1, 1 );
    glClear( GL_COLOR_BUFFER_BIT );
    glDisable( GL_DEPTH_TEST );
    glEnable( GL_BLEND );
    glBlendFunc( GL_ZERO, GL_SRC_COLOR );
    glUseProgram( renderer->programs[TR_PROGRAM_OCCLUSION] );
    tr_stream_quads( renderer, &renderer->occluders );
    glDisable( GL_BLEND );
    return true;
}

bool tr_maps_draw( tr_renderer *renderer, tr_shot *s, tr_error *error )
{
    return s->light.width == 0 ||
           ( draw_shadow_maps( renderer, s, error ) && draw_occlusion_map( renderer, s, error ) );
}
