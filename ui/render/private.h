// Private to the files of ui/render.
#ifndef TROUPE_RENDER_PRIVATE_H
#define TROUPE_RENDER_PRIVATE_H

#include "ui/render/render.h"

#include <epoxy/gl.h>
#include <string.h>

// ----------------------------------------------------------------------------------------------- camera

typedef struct tr_camera_frame {
    vec3 right, up, forward;
} tr_camera_frame;

tr_camera_frame tr_camera_frame_of( const tr_camera *camera );
vec3 tr_camera_default_light( const tr_camera_frame *frame );
void tr_camera_matrix( const tr_camera *camera, vec3 origin, double aspect, double near_plane,
                       double far_plane, float out[16] );

// ------------------------------------------------------------------------------------------------ files

static inline bool tr_path_ends( const char *path, const char *ending ) // and is more than the ending
{
    size_t length = strlen( path ), tail = strlen( ending );
    return length > tail && strcmp( path + length - tail, ending ) == 0;
}

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
    float ground[4]; // height; origin x, z modulo 100 units of the grid; height over which bodies darken at
                     // their feet
    float fade[4];   // radius where the ground begins and ends to fade, that of all shadows; w = shadows on
    float grid[4];   // strength of lines every 0.1, 1 and 5 units; units per metre
    float viewport[4];   // width, height, 1 / width, 1 / height
    float occlusion[4];  // low corner x, z and 1 / size of the map of darkened ground
    float shadow_map[4]; // 1 / width, 1 / height of the shadow map, metres per texel, blend of soft edges
    float room[4];       // 1 = dim
} tr_gpu_frame;

typedef struct tr_gpu_target { // a framebuffer with what it draws into
    GLuint framebuffer, colour, depth;
    bool textures; // colour and depth are textures rather than renderbuffers
    int width, height;
} tr_gpu_target;

typedef enum tr_gpu_format {
    TR_GPU_PICTURE,    // multisampled colour and depth
    TR_GPU_PLAIN,      // colour and depth
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
void tr_gpu_bind_target( const tr_gpu_target *target );
void tr_gpu_bind_map( int unit, GLuint texture, GLuint sampler );
void tr_gpu_put( float out[4], vec3 v, double w );

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

// ---------------------------------------------------------------------------------------------- renderer

typedef struct tr_gpu_group { // instances of one kind within the stream of floats
    size_t first;             // float
    int count, stride;
} tr_gpu_group;

enum {
    TR_PROGRAM_CONE,
    TR_PROGRAM_BOX,
    TR_PROGRAM_TRIANGLE,
    TR_PROGRAM_CONE_DEPTH,
    TR_PROGRAM_BOX_DEPTH,
    TR_PROGRAM_TRIANGLE_DEPTH,
    TR_PROGRAM_GROUND,
    TR_PROGRAM_BACKDROP,
    TR_PROGRAM_COVERAGE,
    TR_PROGRAM_BLUR,
    TR_PROGRAM_OCCLUSION,
    TR_PROGRAM_LINE,
    TR_PROGRAM_DISC,
    TR_PROGRAM_COUNT
};

enum { TR_DETAILS = 6 }; // cone meshes from coarse to fine

struct tr_renderer {
    GLuint programs[TR_PROGRAM_COUNT];
    GLuint vertex_array, frame_block, stream_buffer, shadow_sampler;
    tr_gpu_mesh cones[TR_DETAILS], box;
    tr_gpu_target picture, plain, resolved, halved;
    tr_gpu_target shadow, coverage, quarter[2], soft[2], occlusion;
    double scale;         // pixels per point
    signed char *details; // [capsule_count of the list] their meshes, -1: too small to be seen
    int detail_capacity;
    float *stream;
    int stream_count, stream_capacity;
    tr_gpu_group solid_cones[TR_DETAILS], ghost_cones[TR_DETAILS], solid_boxes, ghost_boxes, occluders;
    tr_gpu_group solid_triangles, ghost_triangles, lines, top_lines, discs;
    bool out_of_memory, still, dim;
    tr_quality quality;
    int max_size;
};

typedef struct tr_shot { // one picture being made
    const tr_draw_list *list;
    const tr_camera *camera;
    int width, height;
    double pixel; // width of a line, in pixels of this picture
    double aspect;
    vec3 origin;
    tr_bounds content; // bounds of all solids, world
    tr_light_view light;
    tr_gpu_frame frame;
} tr_shot;

bool tr_stream_list( tr_renderer *renderer, const tr_shot *shot, tr_error *error );
void tr_stream_solid( const tr_renderer *renderer, int program, bool from_light );
void tr_stream_meshes( const tr_renderer *renderer, const tr_gpu_group *group, const tr_gpu_mesh *mesh );
void tr_stream_triangles( const tr_renderer *renderer, const tr_gpu_group *group );
void tr_stream_quads( const tr_renderer *renderer, const tr_gpu_group *group );
void tr_stream_screen( void ); // a triangle that covers the target

vec3 tr_key_light( const tr_camera *camera );
void tr_frame_fill( tr_shot *shot );
bool tr_maps_draw( tr_renderer *renderer, tr_shot *shot, tr_error *error );

// ----------------------------------------------------------------------------------------------- shaders

extern const char *const tr_shader_common, *const tr_shader_shading;
extern const char *const tr_shader_cone_vertex, *const tr_shader_box_vertex, *const tr_shader_solid_fragment;
extern const char *const tr_shader_triangle_vertex, *const tr_shader_triangle_fragment;
extern const char *const tr_shader_depth_fragment;
extern const char *const tr_shader_ground_vertex, *const tr_shader_ground_fragment;
extern const char *const tr_shader_screen_vertex, *const tr_shader_backdrop_fragment;
extern const char *const tr_shader_coverage_fragment, *const tr_shader_blur_fragment;
extern const char *const tr_shader_occlusion_vertex, *const tr_shader_occlusion_fragment;
extern const char *const tr_shader_line_vertex, *const tr_shader_line_fragment;
extern const char *const tr_shader_disc_vertex, *const tr_shader_disc_fragment;

#endif
