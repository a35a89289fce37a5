// imesh: interaction meshes, after Ho, Komura and Tai, "Spatial relationship preserving character motion
// adaptation" (2010). See docs/algorithms/imesh.md.
//
// At every frame the joints of bodies in close contact, a point on the surface of each bone, and the corners
// of boxes are cut into Delaunay tetrahedra. The Laplacian coordinates of that mesh describe the spatial
// relations: δ_i = p_i − Σ w_il p_l over the neighbours l of i, bones left out, w falling with distance. When
// sizes change, positions x of all frames of a window are solved for together:
//
//   minimise  Σ_f ½ ‖M_f x_f − δ′_f‖²  +  ½ w_a Σ_f ‖A (x − x̂)‖²  +  ½ w_p Σ ‖x − r‖²
//             +  ½ w_b Σ over bones ‖(x_a − x_b) − (r_a − r_b)‖²  +  ½ w_k Σ over trunks ‖bend(x) −
//             bend(r)‖²  +  rows
//   subject to  ‖x_a − x_b‖ = ℓ for bones, boxes rigid, hard rows met
// with x̄ the source, x̂ the source with the target's bones, g the growth of a body where the vertex is, A
// second differences over frames, r the positions without the mesh, and δ′_i = Σ w_il s_il (x̄_i −
// x̄_l): within a body s is the mean of g_i and g_l, between bodies σ. (With δ itself, s = 1, a body that
// grows is squeezed into its old place.) This is done in N steps in which ℓ, radii, boxes, s and targets go
// from the source's to the target's. Each step detects colliding volumes and pushes them apart, on the side
// they came from, no further than they were apart in the source.
//
// The unknown is the displacement u = x − x̄; equal sizes give u = 0 exactly. Lengths, rigid boxes and rows
// are split off (ADMM): their projections are local, and one matrix for x, y and z remains, a band over
// frames (solve's tr_band), factored once for all steps. Collision forces ascend their own dual in the same
// rounds.
#ifndef TROUPE_IMESH_H
#define TROUPE_IMESH_H

#include "base/base.h"
#include "geometry/geometry.h"
#include "math/math.h"
#include "motion/motion.h"
#include "solve/solve.h"

// ---------------------------------------------------------------------------------------------------- cast
// Bodies and boxes that meet, over a window of frames. Everything is borrowed.

typedef struct tr_imesh_body {
    const tr_skeleton *source, *target;
    const tr_body *source_body, *target_body;
    const tr_world *source_world; // [window's last frame + 1 at least]
    const int *map;               // [target joints] source joint that drives it, -1 none; NULL: the same
    const tr_world *place; // target joints without the mesh (same frames); NULL: the source's (same joints)
} tr_imesh_body;

typedef struct tr_imesh_box {     // a prop or a piece of the environment: the box around it
    const rigid *source, *target; // [track_count] world; a track of 1 stands still
    int track_count;
    vec3 source_size, target_size; // full edge lengths
    bool moves;            // a prop: placed by the mesh, rigid, near `target`. Otherwise it is at `target`
    const tr_shape *shape; // its contents, in any size; NULL: it is filled
} tr_imesh_box;

typedef struct tr_imesh_point { // fixed to a joint of a body, or to a box, or (both -1) nothing
    int body, joint, box;
    vec3 offset; // from the joint, turned as it is in `place` at the row's frame; from the centre of the box
} tr_imesh_point;

typedef struct tr_imesh_row { // a at `target`, or, with b, a − b = target, at one frame
    tr_imesh_point a, b;
    int frame;    // frame in the window, 0 is its first
    vec3 target;  // world
    bool axis[3]; // which of x, y, z count
    bool hard;
    double weight; // soft: 0.4 is the paper's
} tr_imesh_row;

typedef struct tr_imesh_pass { // frames of the window without collisions: two members pass through each other
    int first, last;
    int a, b; // bodies, or body_count + box; -1: any
} tr_imesh_pass;

typedef struct tr_imesh_cast {
    const tr_imesh_body *bodies;
    const tr_imesh_box *boxes;
    const tr_imesh_row *rows;
    const tr_imesh_pass *passes;
    int body_count, box_count, row_count, pass_count;
    int first, frame_count; // the window, in frames of the worlds and tracks
    double ground;          // height of the ground, which bodies stay above; -INFINITY: there is none
} tr_imesh_cast;

typedef struct tr_imesh_pull_def { // ρ of the terms that are split off: how fast rounds converge, not where
                                   // to
    double link, box, group, row;
    double group_dual;  // a dual against a group at most, in units of its size: pressed harder, it gives way
    double row_damping; // ε of the weights of a point fixed to a joint, in units of the trace (rows.c)
    double row_weight;  // largest weight of a row; rows with larger ones are scaled (rows.c)
} tr_imesh_pull_def;

typedef struct tr_imesh_round_def { // when a step ends, and how wide forces step
    double stride; // metres a vertex moves in a step at most, if `steps` suffices: less than a limb is thick
    double stride_apart; // the same where nothing touches
    int least;           // rounds of a step
    double calm;         // a step ends when a round moves no more than this share of the step's first round
    double still;        // metres: a round that moves no more has settled
    double restless;     // metres: if the last round moves more, the mean of the last ones is taken
    int averaged;        // rounds of that mean
    int turn_rows;       // rounds after which points fixed to groups turn along, and of a settling at least
    int group_steps;     // steps of a group's rotation in a round, which starts from the last one
    double worse;        // growth of a round's movement that halves the steps of forces …
    double damping_min;  // … as long as they are more than this share of their bound
    double leap;         // divisor of the steps, at least, where a round moves farther than the whole mesh
    double lasting;      // flexibility of a contact that lasts, against that at one frame
} tr_imesh_round_def;

typedef struct tr_imesh_length_def { // the end of a solve: every frame is brought to its lengths (lengths.c)
    int sweeps_min, sweeps_max;      // the first so that frames next to each other are treated alike
    int rows_hold;                   // sweeps after which hard rows that contradict lengths give way
    double tolerance; // largest error of a bone, as a fraction, that needs no more than sweeps_min
    double bone_min;  // metres: errors of shorter bones do not count (the limit of a measure)
} tr_imesh_length_def;

typedef struct tr_imesh_pose_def { // weight of the turn of the joint above in that of a joint (pose.c)
    double several;                // where several bones determine the turn of the joint
    double single;                 // where one bone and its surface point do
    double hand;                   // weight of a hand's turn without the mesh
} tr_imesh_pose_def;

typedef struct tr_imesh_def {
    double acceleration; // w_a
    double posture;      // w_b: bones keep the direction they have at r, where nothing else turns them
    double bend;         // w_k: trunks, necks and tails are bent as at r
    double bend_reach;   // metres that a bend of 1 is worth, in units of the body's height
    double place;        // w_p of joints and moving boxes
    bool growth;         // relations within a body, and accelerations, grow with it; false: s = g = 1
    double relations;    // σ: factor of distances between bodies; 1 keeps them
    double collision;    // weight of two volumes apart, per m²
    double touch;        // weight of surfaces that touch in the source, to keep touching …
    double touch_reach;  // … if they are at most this near to each other there; metres
    double apart;        // weight of surfaces that do not touch in the source, to keep their distance …
    double apart_reach;  // … or this one, if it is less; metres
    double watch;        // metres: contacts are found for volumes that are at most this near to each other
    double nearest;      // metres: nearer neighbours weigh as if they were this far
    bool hard_lengths;   // else `length` is their weight
    double length;
    double short_bone;   // in units of the body's height: joints of shorter bones share the vertex above
    double surface_bone; // in units of the body's height: bones at least this long have a surface vertex
    int steps;           // N
    int iterations;      // rounds of each step at most
    int settle;          // rounds at the end at most …
    double tolerance;    // … until bones are right to this fraction of their length
    double too_deep;     // metres of overlap that are reported (the limit of a measure)
    double too_far;      // metres between surfaces that touched that are reported
    tr_imesh_pull_def pull;
    tr_imesh_round_def round;
    tr_imesh_length_def lengths;
    tr_imesh_pose_def pose;
    tr_lanes lanes;
} tr_imesh_def;

tr_imesh_def tr_default_imesh_def( void );

// ---------------------------------------------------------------------------------------------------- mesh

typedef enum tr_imesh_kind { TR_IMESH_JOINT, TR_IMESH_SURFACE, TR_IMESH_CORNER } tr_imesh_kind;

typedef struct tr_imesh_vertex {
    tr_imesh_kind kind;
    int owner;   // body or box
    int part;    // joint of the target, capsule of the target's body, corner 0 … 7 (bits: +x, +y, +z)
    int ends[2]; // surface: the two joints of its bone, as vertices; joint: the joint above, -1, in [0]
    int unknown; // index among the unknowns; -1: a corner that does not move
} tr_imesh_vertex;

typedef struct tr_imesh_link { // two vertices at a fixed distance
    int a, b;
    bool bone;     // a bone of a skeleton; else from a surface vertex to its bone's ends
    double length; // on the target; 0: `ratio` times the source's at the same frame
    double ratio;
    bool grouped; // within a group that is kept rigid as a whole
} tr_imesh_link;

typedef struct tr_imesh_web { // one frame's mesh
    int *start;               // [vertex_count + 1]
    int *neighbours;          // bones left out
    double *weights;          // add up to 1 for each vertex that has neighbours
    int ( *tets )[4];
    int tet_count;
} tr_imesh_web;

typedef struct tr_imesh {
    tr_imesh_cast cast;
    tr_imesh_def def;
    int frame_count, vertex_count, unknown_count, link_count, capsule_count;
    tr_imesh_vertex *vertices; // [vertex_count]
    double *growth;            // [vertex_count] of the body or box where the vertex is, target : source
    double *stretch;           // the same of the bone to the joint above; of a first joint: of the height
    tr_imesh_link *links;      // [link_count]
    int **joint_vertex; // [body_count][target joints] the vertex of a joint or of the nearest one above
    vec3 *source;       // [frame_count · vertex_count]
    vec3 *target;       // the same: where vertices are without the mesh; those that do not move: exactly
    tr_imesh_web *webs; // [frame_count]
    vec3 *positions;    // [frame_count · vertex_count] out: x
    struct tr_imesh_capsule *capsules; // [capsule_count] volumes of bodies
    struct tr_imesh_group *groups;     // [group_count] parts that several bones make rigid
    int group_count, group_capacity;
    struct tr_imesh_bend *bends; // [bend_count]
    int bend_count;
    struct tr_imesh_solver *solver;
} tr_imesh;

// Vertices, webs, and the factored matrix. `cast` and what it points to must outlive the mesh; targets of
// rows may change between solves. False when out of memory, or when a position is not finite.
bool tr_imesh_build( tr_imesh *out, const tr_imesh_cast *cast, const tr_imesh_def *def, tr_error *error );
void tr_imesh_free( tr_imesh *mesh );
size_t tr_imesh_bytes( const tr_imesh *mesh ); // memory it holds, about

// Depths in metres, beyond the source's own depth at the same frame.
typedef struct tr_imesh_penetration {
    double sum_squares, deepest;
    int frames; // with more than `too_deep` anywhere
} tr_imesh_penetration;

typedef struct tr_imesh_loss { // two parts too deep in each other or too far apart, over consecutive frames
    int a, b;                  // bodies, or body_count + box; b -1: the ground
    int part_a, part_b;        // capsules of the target bodies; -1: box, ground
    int first, last, worst;    // frames of the window
    double amount;             // at the worst: metres too deep, or metres apart that touched
} tr_imesh_loss;

enum { TR_IMESH_LOSSES = 32 }; // most losses of either kind in a report

typedef struct tr_imesh_report {
    tr_imesh_penetration before, after;     // before: bodies of the target's size at `place`
    double energy;                          // mean over frames and vertices of ‖M x − δ′‖²
    double bone_error;                      // largest, as a fraction of the bone's length
    double row_error;                       // largest distance of a hard row from its target
    int flipped;                            // tetrahedra turned inside out, all frames
    int tets;                               // tetrahedra, all frames
    tr_imesh_loss no_room[TR_IMESH_LOSSES]; // volumes that overlap by more than `too_deep`
    tr_imesh_loss lost[TR_IMESH_LOSSES];    // touches more than `too_far` apart
    int no_room_count, lost_count;          // the largest ones where there are more
    int iterations;
    double change; // largest movement in the last iteration, metres; of the mean, where rounds find no rest
} tr_imesh_report;

// Starts from the source, so that the result depends on the cast alone. `report` may be NULL. The
// same bits for any number of threads; several meshes may be solved at once. False only when out of memory.
bool tr_imesh_solve( tr_imesh *mesh, tr_imesh_report *report, tr_error *error );

// Fills `after`, `no_room` and `lost` of the report for bodies at `place` and boxes at `target`; the rest of
// the report stays. No mesh is built, and rows do not matter.
bool tr_imesh_judge( const tr_imesh_cast *cast, const tr_imesh_def *def, tr_imesh_report *report,
                     tr_error *error );

// Two volumes near each other at a frame, where bodies stand at `place` and boxes at `target`.
typedef struct tr_imesh_press {
    int frame;          // frame in the window
    int a, b;           // a body, and a body or body_count + box
    int part_a, part_b; // capsules of the target bodies; -1: box
    vec3 at_a, at_b;    // where the two come nearest: on the axis of a capsule, on the surface of a box
    vec3 normal;        // towards a, on the side that a is on in the source
    double depth;       // metres deeper than in the source, or than touching; negative: the distance left
} tr_imesh_press;

typedef struct tr_imesh_presses {
    tr_imesh_press *items; // by pair of volumes, then by frame
    int count, capacity;
} tr_imesh_presses;

// Pairs that at some frame are deeper than `deep` (metres), at every frame they are near each other. The
// cast's passes, and the ground, do not count. No mesh is built, and rows do not matter.
bool tr_imesh_presses_find( tr_imesh_presses *out, const tr_imesh_cast *cast, const tr_imesh_def *def,
                            double deep, tr_error *error );
void tr_imesh_presses_free( tr_imesh_presses *presses );
int tr_imesh_press_order( const tr_imesh_press *x, const tr_imesh_press *y ); // 0: the same two volumes

// A body's joints at a frame of the window: positions, and world rotations that agree with bones and surface
// points. Joints that are no vertices follow the ones above as in `like`, the body's pose without the mesh;
// feet keep its rotation.
void tr_imesh_pose( const tr_imesh *mesh, int body, int frame, tr_pose like, tr_pose out );
rigid tr_imesh_box_place( const tr_imesh *mesh, int box, int frame );

// ---------------------------------------------------------------------------------------------------- webs
// The mesh of a frame without deforming it, for figures.

typedef struct tr_imesh_points {
    const vec3 *points; // [count]
    int count;
    const int ( *bones )[2]; // [bone_count] pairs of points that do not count as neighbours
    int bone_count;
    double nearest; // metres, as in tr_imesh_def
} tr_imesh_points;

// Neighbours of points and their weights.
bool tr_imesh_web_build( tr_imesh_web *out, tr_delaunay *scratch, const tr_imesh_points *of,
                         tr_error *error );
void tr_imesh_web_free( tr_imesh_web *web );
vec3 tr_imesh_laplacian( const tr_imesh_web *web, const vec3 *points, int vertex ); // δ; 0 without neighbours

// ---------------------------------------------------------------------------------------------- close pairs
// Which members come close to each other, and when.

typedef struct tr_imesh_near { // one member of a crowd: a body, or a box
    const tr_world *world;     // NULL: a box
    const tr_body *body;
    const rigid *track; // [track_count]
    int track_count;
    vec3 size;
    const tr_shape *shape; // contents of the box; NULL: it is filled
    bool still;            // environment: does not become close to other boxes
} tr_imesh_near;

typedef struct tr_imesh_near_def {
    double enter, leave; // surface distance in metres: close below the first, until above the second
    int min_frames; // shorter ones are dropped (but in a clip that is shorter itself), shorter gaps closed
    int pad;        // frames added at both ends
} tr_imesh_near_def;

tr_imesh_near_def tr_default_imesh_near_def( double fps );

typedef struct tr_imesh_pair { // members a < b are close during first … last, padding included
    int a, b, first, last;
} tr_imesh_pair;

typedef struct tr_imesh_pairs {
    tr_imesh_pair *items; // sorted by first, then a, then b
    int count, capacity;
} tr_imesh_pairs;

// Frames in parallel; boxes around bodies, then around capsules, then the exact distance, and that only as
// far as needed. Members 0 … count − 1; at least one of a pair is a body.
bool tr_imesh_pairs_find( tr_imesh_pairs *out, const tr_imesh_near *members, int count, int frame_count,
                          const tr_imesh_near_def *def, tr_error *error );
bool tr_imesh_pairs_add( tr_imesh_pairs *pairs, tr_imesh_pair pair ); // at the end; false: out of memory
void tr_imesh_pairs_sort( tr_imesh_pairs *pairs );                    // after changes; windows need the order
void tr_imesh_pairs_free( tr_imesh_pairs *pairs );

typedef struct tr_imesh_window { // pairs that share members at the same time, directly or through others
    int *members;                // [member_count] ascending
    int member_count;
    int first, last;
} tr_imesh_window;

typedef struct tr_imesh_windows {
    tr_imesh_window *items; // sorted by first, then first member
    int count;
} tr_imesh_windows;

// A still member joins no pairs: two bodies at the same wall are two windows, and it is a member of both.
// Pairs that overlap for half of the shorter one are at the same time. Windows grow, in the order of pairs,
// to at most `most` members that move (0: any number), as the time of a mesh grows with the third power of
// their number. Beyond that a member may be in two windows at once.
bool tr_imesh_windows_find( tr_imesh_windows *out, const tr_imesh_pairs *pairs, const tr_imesh_near *members,
                            int member_count, int most, tr_error *error );
void tr_imesh_windows_free( tr_imesh_windows *windows );

#endif
