// What the files of ui/render share with each other and with nobody else.
#ifndef TROUPE_RENDER_PRIVATE_H
#define TROUPE_RENDER_PRIVATE_H

#include "ui/render/render.h"

#include <epoxy/gl.h>

// ----------------------------------------------------------------------------------------------- camera

typedef struct tr_camera_frame {
    vec3 right, up, forward;
} tr_camera_frame;

tr_camera_frame tr_camera_frame_of( const tr_camera *camera );
vec3 tr_camera_default_light( const tr_camera_frame *frame );
void tr_camera_matrix( const tr_camera *camera, vec3 origin, double aspect, double near_plane,
                       double far_plane, float out[16] );

// -------------------------------------------------------------------------------------------------- GPU

// Everything the shaders know about a picture; the std140 block `Frame` of shaders.c, field by field.
// Positions are relative to an origin near the action, so that floats stay exact far from the world's origin.
typedef struct tr_gpu_frame {
    float view_projection[16];
    float light_matrix[16]; // to the shadow map, all three coordinates in [0, 1]
    float eye[4];           // w = 1 perspective, 0 orthographic
    float forward[4];       // w = 1 / height of the tallest blocker
    float right[4];         // scaled to the picture's right edge at distance 1
    float up[4];            // likewise
    float light[4];         // direction towards the key light; w = depth range of the shadow map in metres
    float fill[4];   // direction towards the fill light; w = 1 or 2: each or every other tap of body shadows
    float ground[4]; // height; origin x, z modulo 100 m; height over which bodies darken at their feet
    float fade[4];   // radius where the ground begins and ends to fade, that of all shadows; w = shadows on
    float grid[4];   // strength of lines every 0.1, 1, 5 m
    float viewport[4];   // width, height, 1 / width, 1 / height
    float occlusion[4];  // low corner x, z and 1 / size of the map of darkened ground
    float shadow_map[4]; // 1 / width, 1 / height of the shadow map, metres per texel, blend of soft edges
} tr_gpu_frame;

typedef struct tr_gpu_target { // a framebuffer with what it draws into
    GLuint framebuffer, colour, depth;
    bool textures; // colour and depth are textures rather than renderbuffers
    int width, height;
} tr_gpu_target;

typedef enum tr_gpu_format {
    TR_GPU_PICTURE,    // multisampled colour and depth
    TR_GPU_RESOLVED,   // colour only
    TR_GPU_SHADOW,     // depth texture only
    TR_GPU_COVERAGE,   // two-channel texture
    TR_GPU_BRIGHTNESS, // one-channel texture
} tr_gpu_format;

// Compiles and links; the frame block and the sampler units below are bound. 0 and *error on failure.
GLuint tr_gpu_program( const char *name, const char *vertex, const char *fragment, tr_error *error );
// (Re)creates *target at this size unless it has it already.
bool tr_gpu_target_fit( tr_gpu_target *target, tr_gpu_format format, int width, int height, tr_error *error );
void tr_gpu_target_free( tr_gpu_target *target );

enum { TR_UNIT_SHADOW, TR_UNIT_DEPTH, TR_UNIT_SHARP, TR_UNIT_SOFT, TR_UNIT_OCCLUSION, TR_UNIT_SOURCE };

typedef struct tr_gpu_mesh {
    GLuint vertices, indices; // buffers
    int index_count;
} tr_gpu_mesh;

// Directions of a round cone, see the vertex shader: `sides` around, `rings` per half ball.
bool tr_gpu_mesh_cone( tr_gpu_mesh *mesh, int sides, int rings, tr_error *error );
// A cube with rounded edges of `steps` facets.
bool tr_gpu_mesh_box( tr_gpu_mesh *mesh, int steps, tr_error *error );
void tr_gpu_mesh_free( tr_gpu_mesh *mesh );

// -------------------------------------------------------------------------------------------- light maps

typedef struct tr_bounds { // empty while low.x > high.x
    vec3 low, high;
} tr_bounds;

tr_bounds tr_bounds_empty( void );
void tr_bounds_add( tr_bounds *bounds, vec3 point, double radius );
tr_bounds tr_bounds_of_list( const tr_draw_list *list, bool opaque_only );
void tr_box_corners( const tr_draw_box *box, vec3 corners[8] );
static inline bool tr_colour_opaque( tr_colour colour )
{
    return colour.a > 0.995f;
}

// The key light's view of everything that casts a shadow: a rectangle across the light, as narrow as the
// content allows, cut into square texels.
typedef struct tr_light_view {
    vec3 x, y, z; // axes of the map and the direction away from the light
    vec3 low;     // coordinates along x, y, z where the map begins
    double texel, depth;
    double tallest;     // highest blocker above the floor, metres
    int width, height;  // texels, multiples of 256
    double sharp, soft; // blur of the floor's shadow at its sharpest and softest, metres (standard deviation)
} tr_light_view;

tr_light_view tr_light_view_of( const tr_draw_list *list, vec3 light, vec3 origin );
// Row-major 4x4 for column vectors, into OpenGL's column order.
void tr_light_matrix( const tr_light_view *view, float out[16] );
// Depth in the map of the floor at height `ground`, as a + b u + c v over the map's own coordinates.
void tr_light_floor( const tr_light_view *view, double ground, float out[3] );

extern const char *const tr_shader_common, *const tr_shader_shading;
extern const char *const tr_shader_cone_vertex, *const tr_shader_box_vertex, *const tr_shader_solid_fragment;
extern const char *const tr_shader_depth_fragment;
extern const char *const tr_shader_ground_vertex, *const tr_shader_ground_fragment;
extern const char *const tr_shader_screen_vertex, *const tr_shader_backdrop_fragment;
extern const char *const tr_shader_coverage_fragment, *const tr_shader_blur_fragment;
extern const char *const tr_shader_occlusion_vertex, *const tr_shader_occlusion_fragment;
extern const char *const tr_shader_line_vertex, *const tr_shader_line_fragment;
extern const char *const tr_shader_disc_vertex, *const tr_shader_disc_fragment;

#endif
