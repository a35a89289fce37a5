// render: draws a cast with OpenGL 3.3 core, into a window's framebuffer or, without any display, into
// memory. It is given shapes and draws them; it computes no motion.
#ifndef TROUPE_RENDER_H
#define TROUPE_RENDER_H

#include "base/base.h"
#include "math/math.h"
#include "troupe.h"

typedef struct tr_colour {
    float r, g, b, a;
} tr_colour;

// ------------------------------------------------------------------------------------------- draw list
// The shapes of one picture. Fill it again for every picture; memory is kept between fillings.

// Colours are sRGB as in a paint program. Alpha below 1 makes a ghost: it lets light through and casts no
// shadow; of several ghosts in a row only the nearest is seen, so that the parts of one body do not pile up,
// and ghost capsules stay behind solids.

typedef struct tr_draw_capsule {
    vec3 a, b;
    double radius, radius_b; // at a and at b: where they differ, the hull of the two balls
    tr_colour colour;
} tr_draw_capsule;

typedef struct tr_draw_box {
    rigid place;
    vec3 size;
    tr_colour colour;
} tr_draw_box;

typedef struct tr_draw_triangle { // seen from both sides
    vec3 a, b, c;
    tr_colour colour;
} tr_draw_triangle;

typedef struct tr_draw_line {
    vec3 a, b;
    tr_colour colour_a, colour_b;
    float width; // points, see tr_renderer_set_scale
    float most;  // metres a dot is across at most, 0 = as wide as it is
    bool on_top; // drawn over solids
} tr_draw_line;

typedef struct tr_draw_disc { // a flat mark with a brighter rim: contacts, places
    vec3 centre, normal;
    double radius;
    tr_colour colour;
} tr_draw_disc;

typedef struct tr_draw_list {
    tr_draw_capsule *capsules;
    int capsule_count, capsule_capacity;
    tr_draw_box *boxes;
    int box_count, box_capacity;
    tr_draw_triangle *triangles;
    int triangle_count, triangle_capacity;
    tr_draw_line *lines;
    int line_count, line_capacity;
    tr_draw_disc *discs;
    int disc_count, disc_capacity;
    double ground; // height of the floor
    bool failed;   // out of memory while filling
} tr_draw_list;

void tr_draw_clear( tr_draw_list *list );
void tr_draw_free( tr_draw_list *list );
void tr_draw_capsule_add( tr_draw_list *list, vec3 a, vec3 b, double radius, tr_colour colour );
// A limb that tapers from radius_a to radius_b.
void tr_draw_cone_add( tr_draw_list *list, vec3 a, vec3 b, double radius_a, double radius_b,
                       tr_colour colour );
void tr_draw_box_add( tr_draw_list *list, rigid place, vec3 size, tr_colour colour );
void tr_draw_triangle_add( tr_draw_list *list, vec3 a, vec3 b, vec3 c, tr_colour colour );
// A box, a ball, a row of capsules or the triangles of a mesh.
void tr_draw_shape_add( tr_draw_list *list, rigid place, const tr_shape *shape, tr_colour colour );
// a = b gives a round dot `width` points across.
void tr_draw_line_add( tr_draw_list *list, vec3 a, vec3 b, tr_colour colour, float width, bool on_top );
// A dot that is no more than `most` metres across, and so does not cover what is far away. It is seen through
// what it sticks in, as far as it is across, not through what is in front of that.
void tr_draw_dot_add( tr_draw_list *list, vec3 at, tr_colour colour, float width, float most );
void tr_draw_disc_add( tr_draw_list *list, vec3 centre, vec3 normal, double radius, tr_colour colour );

// ---------------------------------------------------------------------------------------------- camera

typedef struct tr_camera {
    vec3 eye, target;
    double field_of_view; // vertical, degrees; 0 = orthographic of `ortho_height` metres
    double ortho_height;
    vec3 light; // direction towards the key light; zero = over the viewer's left shoulder
} tr_camera;

// Named views: "auto" (frames the action from a pleasant side), "front", "back", "left", "right", "top", or
// "yaw,pitch[,distance]" in degrees and metres; "flat " before any of them: without perspective. False when
// the text is none of these. yaw 0 looks from +Z, 90 from +X. Boxes that are empty, a single point or not
// finite give a sane camera too.
bool tr_camera_view( tr_camera *camera, const char *view, vec3 low, vec3 high, double aspect );
// The same around a cloud of points, each with `radius` metres of flesh around it: tighter than a box.
// `facing` is the direction most of the cast looks (zero = unknown); "auto" looks at faces rather than backs.
bool tr_camera_fit( tr_camera *camera, const char *view, const vec3 *points, int count, double radius,
                    vec3 facing, double aspect );
// Where a point lands in the picture: x, y in [-1, 1] (right, up), z the distance before the eye in metres.
vec3 tr_camera_project( const tr_camera *camera, vec3 point, double aspect );

// -------------------------------------------------------------------------------------------- pictures

typedef struct tr_view_mark { // how one character, prop or obstacle is shown
    bool hidden;
    bool chosen; // gets trails and ghosts although others do not, once one is
    float glow;  // 0 … 1: how far its colour goes towards the accent
    int joint;   // the bone below this joint glows fully; -1 = none
} tr_view_mark;

typedef struct tr_view_def { // what of a stage to show
    const char *view;        // see tr_camera_view
    bool bodies;             // with props and environment, which are always there
    bool skeleton;           // bones and joints on top
    bool pose_graph;         // a triangle around each joint and three rails along each bone, on top
    bool trails;             // trails of props and pelvises; of hands and feet too when the cast is small
    bool ghosts;             // the same bodies some frames before and after
    bool source;             // the motion before it was given to these bodies, as a pale ghost
    bool contacts;           // a mark wherever a foot or hand rests
    int trail_frames;        // length of a trail before and after the frame
    int ghost_step, ghosts_each_side;
    const char *highlight;       // id drawn in full colour while the rest fades, NULL = none
    const tr_view_mark *marks;   // [actors + props + obstacles, in this order], NULL = nothing special
    const tr_strips *strips;     // strips of the result: parts that overlap glow, NULL = none do
    const tr_imesh_pairs *links; // pairs that are close, and the mesh between selected members and others;
                                 // NULL = not shown
} tr_view_def;

tr_view_def tr_default_view_def( void );
// Bounding box of everything that moves over frames first … last.
void tr_view_bounds( const tr_stage *stage, const tr_result *result, int first, int last, vec3 *low,
                     vec3 *high );
// A camera around all of that in each of results [count ≥ 1], the range clamped to the frames there are:
// "auto" looks at the side most of the cast turns to. False: unknown view or out of memory.
bool tr_view_camera( tr_camera *camera, const tr_stage *stage, const tr_result *results, int count, int first,
                     int last, const char *view, double aspect, tr_error *error );
// Replaces the list's content by the stage as it is at `frame`.
void tr_view_fill( tr_draw_list *list, const tr_stage *stage, const tr_result *result, int frame,
                   const tr_view_def *def );

// -------------------------------------------------------------------------------------------- renderer

typedef struct tr_headless tr_headless; // an OpenGL context without a window
tr_headless *tr_headless_create( tr_error *error );
void tr_headless_destroy( tr_headless *headless );

typedef struct tr_renderer tr_renderer; // needs a current context, window or headless
tr_renderer *tr_renderer_create( tr_error *error );
void tr_renderer_destroy( tr_renderer *renderer );
// Draws into framebuffer `target` (0 = the window's) of this size, already bound state is not assumed.
bool tr_renderer_draw( tr_renderer *renderer, const tr_draw_list *list, const tr_camera *camera, int width,
                       int height, unsigned target, tr_error *error );
// What a picture may cost, for programs that draw many a second.
typedef enum tr_quality {
    TR_QUALITY_FULL,  // smooth edges and shadows
    TR_QUALITY_QUICK, // shadows, edges as they come
    TR_QUALITY_BARE   // neither
} tr_quality;
void tr_renderer_set_quality( tr_renderer *renderer, tr_quality quality );
void tr_renderer_set_dim( tr_renderer *renderer, bool dim );       // a dark room, for dark panels around it
void tr_renderer_set_scale( tr_renderer *renderer, double scale ); // pixels per point: a fine screen has more
// Pictures into memory are drawn at twice the size and halved: finer edges for stills, at four times the
// cost.
void tr_renderer_set_still( tr_renderer *renderer, bool still );
// Draws into memory: `rgb` is [height * width * 3], top row first.
bool tr_renderer_picture( tr_renderer *renderer, const tr_draw_list *list, const tr_camera *camera, int width,
                          int height, unsigned char *rgb, tr_error *error );

bool tr_picture_save( const char *path, int width, int height, const unsigned char *rgb,
                      tr_error *error ); // PNG
bool tr_picture_load( const char *path, int *width, int *height, unsigned char **rgb, tr_error *error );
// Perceptual difference of two pictures in [0, 1]: mean over blurred luminance and colour, insensitive to
// single-pixel shifts and driver rounding.
double tr_picture_difference( const unsigned char *a, const unsigned char *b, int width, int height );

typedef struct tr_video tr_video; // frames piped into ffmpeg; .mp4 or .gif by the file's ending
tr_video *tr_video_open( const char *path, int width, int height, double fps, tr_error *error );
bool tr_video_frame( tr_video *video, const unsigned char *rgb, tr_error *error );
// Both also free. The file appears, or replaces an older one, when the video is closed and whole: false when
// ffmpeg failed, and then, as after discarding it, everything is as before.
bool tr_video_close( tr_video *video, tr_error *error );
void tr_video_discard( tr_video *video );

typedef struct tr_video_facts {
    int width, height; // pixels
    int frames;
    double seconds;
} tr_video_facts;

// What a file of a video holds; false where it is none, or ends too early or too late, or, with errno ENOMEM,
// where memory ran out.
bool tr_video_read_facts( tr_video_facts *out, const char *path, bool gif );
bool tr_video_is_whole( const tr_video_facts *found, const tr_video_facts *sent, bool gif );

#endif
