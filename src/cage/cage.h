// cage: reshape trajectories by a box that travels with them, after the spatiotemporal cages of Kim, Seol and
// Kwon, "Interactive multi-character motion retargeting" (2021). See docs/algorithms/cage.md.
//
// A cage holds a bundle of points (joints of a limb, a body, a group; corners of a prop) over a window of
// frames. At every frame there is a *section*: a closed triangle mesh around the points of that frame, always
// with the same vertices and triangles. Some frames of the window are *keys*. What the user pins and drags
// (vertices and whole sections at keys, points at any frame) moves the vertices of the keys as rigidly as
// possible:
//
//   E(v) = Σ over vertices i, edges (i, j)  w ‖(v_i − v_j) − R_i (v̄_i − v̄_j)‖²
//        + Σ over edges  h w ‖(v_i − v_j) − (v̄_i − v̄_j)‖² + a Σ ‖v_i − v̄_i‖²
//
// with edges within the keys and between the same vertex of neighbouring keys, weighted so that the sums
// stand for integrals over the section and over time (build.c). The last two terms are weak
// (tr_cage_hold_def): they let a free cage follow a drag without turning. The motion of the keys is
// interpolated to all frames, and mean value coordinates pass it on to the points. A point is bound to the
// section of *its own* frame: a path that stands still or crosses itself is edited at one time without moving
// at another.
//
// Split by cost: build (points change) → grab (the set of handles changes) → solve (handles move) → move.
// Everything is metres; frames are integers on one time axis the caller chooses, ranges include both ends.
#ifndef TROUPE_CAGE_H
#define TROUPE_CAGE_H

#include "base/base.h"
#include "math/math.h"
#include "solve/solve.h"

enum { // sizes of arrays on the stack
    TR_CAGE_MAX_DETAIL = 8,
    TR_CAGE_MAX_VERTICES = 6 * TR_CAGE_MAX_DETAIL * TR_CAGE_MAX_DETAIL + 2, // vertices of a section
    TR_CAGE_MAX_SECTIONS = 256
};

// ------------------------------------------------------------------------------------ mean value coordinates
// Of points p with respect to a closed triangle mesh, after Ju, Schaefer and Warren (2005) and Floater, Kós
// and Reimers (2005): weights that add up to 1 with Σ wᵢ vᵢ = p, anywhere in space, also on faces, edges and
// vertices and for triangles without area.

typedef struct tr_mean_value {
    const vec3 *vertices; // [vertex_count] borrowed, as are the triangles
    int vertex_count;
    const int ( *triangles )[3]; // [triangle_count] all outward or all inward
    int triangle_count;
    // Edges with the triangles on them: computed once, used by the fast way.
    int edge_count;
    int ( *edges )[2];     // [edge_count]
    int ( *sides )[3];     // [triangle_count] edge opposite to each corner
    float ( *signs )[3];   // [triangle_count] +1 where the edge runs along, -1 against the triangle
    float ( *rounded )[4]; // [vertex_count] vertices from the centroid
    vec3 centroid;
    mat3 inverse; // (Σ v vᵀ)⁻¹ from the centroid: mends what rounding leaves
    double size;  // largest distance of a vertex from the centroid
} tr_mean_value;

// Fails on meshes larger than a section can be, on triangles without vertices, and without memory.
bool tr_mean_value_build( tr_mean_value *out, const vec3 *vertices, int vertex_count,
                          const int ( *triangles )[3], int triangle_count, tr_error *error );
void tr_mean_value_free( tr_mean_value *mesh );
// The plain way: one point, double precision, trigonometry. weights [vertex_count]
void tr_mean_value_exact( const tr_mean_value *mesh, vec3 point, double *weights );
// The fast way, eight points at a time, within 1e-4 of the plain one. weights [count · vertex_count]. Points
// so near to the mesh that single precision does not do are computed the plain way. `lanes`: any kind of
// floats, the same bits.
void tr_mean_value_weights( const tr_mean_value *mesh, const vec3 *points, int count, tr_lanes lanes,
                            float *weights );

// -------------------------------------------------------------------------------------------------- build

typedef enum tr_cage_end {
    TR_CAGE_PINNED, // the window's end stays where it is, and so does everything beyond
    TR_CAGE_EASED, // free as any key; beyond the window the displacement fades to rest over the ease's frames
    TR_CAGE_HELD,  // free; everything beyond the window moves along with its end
    TR_CAGE_ENDS
} tr_cage_end;

typedef struct tr_cage_section_def { // how keys are spread and sections are placed around their points
    double still_speed;    // m/s added to the bundle's speed: where it stands still, keys are spread by time
    double heading_return; // seconds in which most of the heading's drift is taken back
    double heading_window; // seconds either way over which headings are smoothed
    double extent_window;  // seconds either way over which extents are smoothed
    double steady_growth;  // size of a steady section at most, in units of the largest section otherwise
    double flatness;       // shortest side of the form at least, in units of its longest
    double gap_min, gap_max; // way from key to key in units of the spacing: bounds the weights of edges
} tr_cage_section_def;

typedef struct tr_cage_hold_def { // weak terms, and when a row for a point is dropped
    float edge;                   // h: an edge to its rest, against its rigidity
    float vertex;                 // a: a vertex to its rest; an edge within a key weighs 1
    float damping;                // replaces a in the matrix of a cage without held vertices (grab.c)
    double free_share; // weight of a point on free vertices below which these would have to move too far
    double dependence; // compliance a row has left beside the rows before it, at least, in units of its own
} tr_cage_hold_def;

typedef struct tr_cage_def {
    double padding;         // metres between the points and the section around them, > 0
    int detail;             // pieces along an edge of a section: 1, 2, 4 give 8, 26, 98 vertices
    int section_count;      // keys; 0 = by arc length. At least 2, 3 where both ends are pinned
    double spacing;         // metres of path per key, when they are spread by arc length
    const int *frames;      // keys by frame, strictly increasing, in the window; the ends are added.
    int frame_count;        // 0 = spread them
    int through;            // a frame that gets a key when they are spread (where the user grabbed); -1 none
    tr_cage_end start, end; // ends of the window
    int ease_in, ease_out;  // frames before and after the window, for TR_CAGE_EASED
    int falloff;            // keys this many frames or more from every handle stay put; 0 = none does
    double temporal;        // > 0: how much edges between keys weigh against those within
    bool steady;  // a bundle that hardly leaves its place gets the same section at all frames, so that a
                  // bend stays the same however the points move within it
    bool carried; // edges between keys do not turn: a bent path shifts its sections without turning them.
                  // Otherwise they turn as rigidly as possible, as in the paper
    bool upright; // cells turn about the vertical only: a cage pulled over the ground neither leans nor
                  // leaves it. Otherwise they turn about any axis
    bool late;    // points are bound at keys only; at other frames by tr_cage_bind, before they are moved
    tr_cage_section_def section;
    tr_cage_hold_def hold;
} tr_cage_def;

tr_cage_def tr_default_cage_def( void );

typedef struct tr_cage_points { // borrowed for the duration of a call
    const vec3 *points;         // [frame_count · point_count], by frame
    int point_count;            // ≥ 1
    int begin,
        frame_count; // frames begin … begin + frame_count − 1: the window, and what there is of the ease
    double fps;
} tr_cage_points;

typedef struct tr_cage_handle tr_cage_handle;
typedef struct tr_cage_solver tr_cage_solver;

typedef struct tr_cage {
    tr_cage_def def;        // `frames` is not kept
    int first, last;        // the window
    int begin, frame_count; // frames there are sections for
    int point_count;
    double fps;
    // The section's shape: a cube [−1, 1]³, its surface cut into triangles, outward.
    int vertex_count, triangle_count, edge_count;
    vec3 *shape;               // [vertex_count]
    vec3 proportions;          // side lengths in the middle of the window, the longest is 1
    vec3 *form;                // [vertex_count] the shape in these proportions
    int ( *triangles )[3];     // [triangle_count]
    int ( *edges )[2];         // [edge_count] of the triangles, then struts from vertex to opposite vertex
    tr_mean_value coordinates; // with respect to the form
    // Where it stands at each frame: vertex i at centre + axes · (extent ∘ shape[i]). Smooth in time.
    rigid *places;  // [frame_count] axes and centre
    vec3 *extents;  // [frame_count] half the box, padding included
    float *weights; // [frame_count · point_count · vertex_count] mean value coordinates
    // Keys. Vertex i of key k is vertex k · vertex_count + i of the cage.
    int section_count;
    int *sections;     // [section_count] frames, increasing; first and last of the window included
    double *within;    // [section_count · edge_count] weights of edges within keys
    double *between;   // [section_count − 1] of edges from a key to the next
    double resting[2]; // lengths of the edges from the first and the last key to the ends of their eases; 0:
                       // no ease
    vec3 *rest;        // [section_count · vertex_count]
    vec3 *moved;       // the same, as the last solve left it; starts as rest
    // The motion of each key: the nearest rigid motion, and residuals in its own axes. Filled by
    // tr_cage_solve, read by tr_cage_move…
    rigid *motions;       // [section_count]
    vec3 *drift, *spin;   // [section_count] velocity per frame beside that motion; zero at ends without ease
    vec3 *residuals;      // [section_count · vertex_count]
    vec3 *residual_drift; // [section_count · vertex_count] per frame
    bool *bent;           // [section_count] residuals are not all zero
    int reading;          // counts how often these were filled
    struct tr_cage_frame *frames; // [frame_count] motion of a frame, computed on demand
    float *frame_residuals;       // [frame_count · vertex_count · 4] likewise
    tr_cage_solver *solver;       // what tr_cage_grab prepared
} tr_cage;

// Frames spread by arc length of the bundle (by time where it stands still), ends included, as tr_cage_build
// does without `frames`. Writes at most TR_CAGE_MAX_SECTIONS to `frames` and returns how many.
int tr_cage_spread( const tr_cage_points *points, int first, int last, const tr_cage_def *def, int *frames );

// Any finite points will do: one, all in one place, on a line, in a plane, standing still. The window must
// lie within the points' frames and have two frames at least. Fails on points that are not finite, on a def
// that makes no sense, and without memory. The cage borrows nothing.
bool tr_cage_build( tr_cage *out, const tr_cage_points *points, int first, int last, const tr_cage_def *def,
                    tr_error *error );
void tr_cage_free( tr_cage *cage );

// NULL when all is well, else what is wrong: the invariants every cage keeps. For tests and debug builds.
const char *tr_cage_check( const tr_cage *cage );

// ------------------------------------------------------------------------------------------------- handles

typedef enum tr_handle_kind {
    TR_HANDLE_VERTEX,  // one vertex of a key
    TR_HANDLE_SECTION, // a whole key: turned about its centre, then shifted
    TR_HANDLE_POINT,   // a bound point, or any place, at any frame of the window
    TR_HANDLE_KINDS
} tr_handle_kind;

// Zero-initialise; a handle with no offset and no rotation is a pin. Offsets are from the place at rest, in
// world axes, so they stay meaningful when the points change.
struct tr_cage_handle {
    tr_handle_kind kind;
    int section; // VERTEX, SECTION: index of the key
    int vertex;  // VERTEX: 0 … vertex_count − 1
    int frame;   // POINT
    int point;   // POINT: which bound point, or -1: the `place`
    vec3 place;  // POINT with point -1: world, at `frame`, anywhere in the section
    vec3 offset;
    quat rotation; // SECTION; all zero counts as none
    bool local;    // ignored by falloff: keys far from all other handles rest
};

// Prepares the solve for a set of handles. A vertex that two handles hold belongs to the first; a handle on a
// vertex or section at a pinned end is stronger than that pin. Fails on handles outside the cage and without
// memory. Offsets and rotations do not matter here.
bool tr_cage_grab( tr_cage *cage, const tr_cage_handle *handles, int count, tr_error *error );

typedef struct tr_cage_solve_def {
    int max_iterations; // a fixed few for a preview, many for a final result
    double tolerance;   // done when an iteration moves nothing further: metres, or of the way of the farthest
                        // vertex where that is more than a metre. 0: always max_iterations
    bool warm;          // go on from the last solve; otherwise from rest, so that the result depends on the
                        // handles alone
    int corrections;   // corrections of the targets of points between keys, whose motion is not linear in the
                       // vertices
    double near;       // metres that such a point may miss its target by without another correction …
    double near_share; // … or this share of the target's distance
    int fit_steps;     // steps of each cell's rotation in an iteration
    double restart;    // a step this many times as long as the shortest so far discards the history
    double mixture_max; // Σ |γ| of a mixture at most: it is larger where steps differ by rounding alone
} tr_cage_solve_def;

tr_cage_solve_def tr_default_cage_solve_def( void ); // solves to convergence, from rest
tr_cage_solve_def tr_cage_preview_def( void );       // four iterations from where it is

typedef struct tr_cage_result {
    int iterations;
    double change; // metres moved in the last iteration
    double error;  // metres: the handle farthest from where it ought to be
    int worst;     // the handle with that error, -1 without any
} tr_cage_result;

// Moves the cage. `handles` [count as grabbed]: the same as grabbed but for offsets and rotations. Where
// points contradict each other the ones given first win. A point that depends on held vertices (its frame is
// next to a pinned section; give it a key of its own) gives way to them. errors [count]: of each handle,
// metres, may be NULL. Allocates nothing.
tr_cage_result tr_cage_solve( tr_cage *cage, const tr_cage_handle *handles, const tr_cage_solve_def *def,
                              double *errors );
void tr_cage_reset( tr_cage *cage ); // back to rest

// --------------------------------------------------------------------------------------------------- moved
// Any frame from begin to begin + frame_count − 1. Exactly the points as they were where nothing moved; a
// rigid motion of all keys is that motion of every point. Smooth in time (twice differentiable) as far as the
// points are, also at the ends of the window and of its ease. Allocate nothing; may be called from several
// threads.

// Whether frames move at all: false outside the window and its ease, and between keys that rest.
bool tr_cage_moves( const tr_cage *cage, int frame );
// The rigid part of the motion at a frame, in world axes: how a body that the cage holds travels and turns.
rigid tr_cage_motion( const tr_cage *cage, int frame );
// Binds some of the points of a frame, points [count], unless all have been from the beginning.
void tr_cage_bind( const tr_cage *cage, int frame, int first, int count, const vec3 *points );
// The bound points: in and out [(last − first + 1) · point_count], by frame; may be the same memory. `in` are
// the points of these frames as given to tr_cage_build (the cage keeps weights, not points).
void tr_cage_move( const tr_cage *cage, int first, int last, const vec3 *in, vec3 *out );
// The same for some of them at one frame: first … first + count − 1, in and out [count].
void tr_cage_move_some( const tr_cage *cage, int frame, int first, int count, const vec3 *in, vec3 *out );
// How some of them turn as a whole, without moving any: Σ (p' − p̄') (p − p̄)ᵀ over them, p' where the cage
// takes p. First, once, what does not depend on how the cage is moved: `spread`, and moments
// [TR_CAGE_MOMENTS · vertex_count], with the weights of the bound point that leads them.
enum { TR_CAGE_MOMENTS = 4 };
void tr_cage_moments( const tr_cage *cage, int frame, int first, int count, const vec3 *points, int lead,
                      mat3 *spread, float *moments );
// Moves the place of that point as well.
mat3 tr_cage_spin( const tr_cage *cage, int frame, mat3 spread, const float *moments, vec3 *place );
// Any points at one frame [count]; outside the section they move as its nearest part does.
void tr_cage_move_points( const tr_cage *cage, int frame, const vec3 *in, int count, vec3 *out );
// The same in two steps, for points that are moved again and again: their weights [count · vertex_count],
// which do not depend on how the cage is moved; and where one of them goes.
void tr_cage_weigh( const tr_cage *cage, int frame, const vec3 *points, int count, float *weights );
vec3 tr_cage_move_weighted( const tr_cage *cage, int frame, vec3 point, const float *weights );
// Vertices of the section at any frame [vertex_count], at rest and moved.
void tr_cage_section( const tr_cage *cage, int frame, vec3 *out );
void tr_cage_section_moved( const tr_cage *cage, int frame, vec3 *out );

// ------------------------------------------------------------------------------------------------- retiming
// Moving a key along the time axis. A monotone map of time with a continuous rate: piecewise rational
// quadratic, identity where the keys stay, shifted before the first and after the last key.

typedef struct tr_retime {
    int count;
    double *from, *to; // [count] strictly increasing
    double *rates;     // [count] d to / d from at each key, > 0
} tr_retime;

// Fails when the times are not strictly increasing, on either side, or not finite.
bool tr_retime_build( tr_retime *out, const double *from, const double *to, int count, tr_error *error );
void tr_retime_free( tr_retime *map );
double tr_retime_map( const tr_retime *map, double from );
double tr_retime_inverse( const tr_retime *map, double to );
double tr_retime_rate( const tr_retime *map, double from ); // derivative of tr_retime_map, > 0

#endif
