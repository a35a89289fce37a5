// posegraph: motion as the deformation of a sparse graph, after Kim, Seol and Kwon, "Interactive
// multi-character motion retargeting" (2021). See docs/algorithms/posegraph.md.
//
// Three vertices stand around every joint, perpendicular to its bone; three rails join neighbouring joints.
// The joint's position is the centroid of its triangle, so constraints of joints are linear in the vertices.
// Every frame is solved separately, in two steps:
//
//   transfer     minimise Σ over edges ‖(v_a − v_b) − (v̂_a − v̂_b)‖²  subject to hard rows,
//                v̂ the target body posed with the source's rotations
//   deformation  minimise Σ over cells j, edges (a, b) of j  w ‖(v_a − v_b) − R_j (v̄_a − v̄_b)‖²
//                       + Σ over bones  w_l ‖(c_j − c_p) − ℓ_j d_j‖² + w_a Σ over vertices ‖v − v̄‖²
//                subject to rows, alternating rotations R, directions d and positions v until v rests
//
// Split by cost: build a graph per skeleton, factor a cluster when rows are added, solve whenever targets
// move.
#ifndef TROUPE_POSEGRAPH_H
#define TROUPE_POSEGRAPH_H

#include "base/base.h"
#include "math/math.h"
#include "motion/motion.h"
#include "solve/solve.h"

// -------------------------------------------------------------------------------------------------- graph

typedef struct tr_posegraph_def {
    double edge;          // weight w of an edge
    double length;        // weight w_l of a bone's length
    double anchor;        // weight w_a of a vertex's place: holds bodies without rows, and keeps them upright
    double min_radius;    // least radius of a triangle, in fractions of the body's extent …
    double least_radius;  // … and in metres; the larger one counts
    double box_stiffness; // edges and anchors of a box, in units of those of a body
    double box_min;       // metres: height and width of a box's graph at least
} tr_posegraph_def;

tr_posegraph_def tr_default_posegraph_def( void );

// Vertex 3 j + k is corner k of joint j.
typedef struct tr_posegraph {
    int joint_count;
    tr_posegraph_def def;
    int *parents;  // [joint_count]
    int *facing;   // [joint_count] lower end of the bone its triangle is perpendicular to; -1: the bone above
    vec3 *corners; // [3 · joint_count] from the joint to its corners, in the joint's frame
    vec3 *bones;   // [joint_count] that bone at rest, in the joint's frame; zero where there is none
    double *lengths;          // [joint_count] of the bone above each joint, 0 for the root
    tr_tree transfer, deform; // K of the two steps, factored
} tr_posegraph;

// Any skeleton gives a valid graph. Radii come from the body's capsules; joints without one (bones of no
// length, single joints) get their neighbour's or the smallest radius, so every joint has a triangle of some
// size and its cell a rotation. A bone of no length has rails of (nearly) no length: they weigh as much as
// any others, and the length term asks its two ends to stay together. `body` may be NULL.
bool tr_posegraph_build( tr_posegraph *out, const tr_skeleton *skeleton, const tr_body *body,
                         const tr_posegraph_def *def, tr_error *error );
// A rigid box: two joints, one below the other above its centre, joined so stiffly that the box hardly
// stretches. Joint 0 lies at (0, −size.y/2, 0) of the box.
bool tr_posegraph_build_box( tr_posegraph *out, vec3 size, const tr_posegraph_def *def, tr_error *error );
void tr_posegraph_free( tr_posegraph *graph );

// Vertices of a posed skeleton: what transfer gives when nothing constrains it. vertices [3 · joint_count].
void tr_posegraph_pose( const tr_posegraph *graph, tr_pose pose, vec3 *vertices );
void tr_posegraph_pose_box( const tr_posegraph *graph, rigid place, vec3 *vertices );
vec3 tr_posegraph_joint( const vec3 *vertices, int joint ); // centroid of its corners
// How a joint's triangle has turned. Its cell (tr_cluster_job.rotations) includes the bones around it.
quat tr_posegraph_turn( const vec3 *reference, const vec3 *vertices, int joint );
// The rigid motion that brings `reference` nearest to `vertices`, applied to `place`: the box's place again.
rigid tr_posegraph_box( const vec3 *reference, const vec3 *vertices, rigid place );

// ------------------------------------------------------------------------------------------------ cluster
// Graphs that are solved together because rows join them; a lone character is a cluster of one.

// The joints that a point depends on and all above them, from the tips to the root.
typedef struct tr_path_node {
    int joint;
    int up;            // index of its parent on the path, -1 at the root
    bool acts;         // the point has weights here
    double weights[3]; // weights of the joint's corners
    double soft[3]; // their part that pulls corners apart, over √ of the stiffness that holds these together
} tr_path_node;

typedef struct tr_port_path {
    tr_path_node *nodes; // [count]
    int count;
    int lone; // the only node that acts, -1: there are several
} tr_port_path;

typedef struct tr_cluster {
    const tr_posegraph **graphs; // [graph_count] borrowed
    tr_sparse *points;           // [graph_count] rows over the graph's vertices: points that rows can use
    int graph_count, graph_capacity;
    tr_port_row *rows; // [row_count]
    int row_count, row_capacity;
    // Filled by tr_cluster_factor.
    tr_ports *transfer_ports, *deform_ports; // [graph_count]
    tr_port_path **paths;                    // [graph_count][points[g].row_count]
    tr_system transfer, deform;
} tr_cluster;

// Each returns an index, or -1 when out of memory. A point that is there already is not added again.
int tr_cluster_add_graph( tr_cluster *cluster, const tr_posegraph *graph );
// Σ weight · joint + an offset in the frame of the first joint. The offset is a combination of the joint's
// corners and the bone its triangle faces (the bone above, at the tip of a chain), so the point stays linear
// and can turn the joint.
int tr_cluster_add_point( tr_cluster *cluster, int graph, const int *joints, const double *weights, int count,
                          vec3 offset );
int tr_cluster_add_joint( tr_cluster *cluster, int graph, int joint );
// From the centre of joint's triangle to one of its corners (0 … 2). Two of them fix the joint's rotation.
int tr_cluster_add_corner( tr_cluster *cluster, int graph, int joint, int corner );
// Centre of mass of the joints' masses [joint_count], such as tr_body.masses.
int tr_cluster_add_mass( tr_cluster *cluster, int graph, const double *masses );
// point_a of graph_a − point_b of graph_b; graph_b -1: an absolute row. Where hard rows of a graph contradict
// each other, the ones added first win.
int tr_cluster_add_row( tr_cluster *cluster, int graph_a, int point_a, int graph_b, int point_b );
bool tr_cluster_factor( tr_cluster *cluster, tr_error *error ); // after the last row, before solving
void tr_cluster_free( tr_cluster *cluster );

// --------------------------------------------------------------------------------------------------- solve

typedef struct tr_goal {  // goal of a row at one frame
    vec3 target;          // target of point a, or of its offset from point b, world axes
    double compliance[3]; // per axis: 0 hard, 1/weight soft, TR_ROW_OFF not at all
} tr_goal;

// The compliance of a row with a given strength (0 … 1). It grows as (1 − s)/s in units of the row's own
// flexibility, so that a lone row moves its point by the fraction s of the way, and fades without a jump.
double tr_cluster_compliance( const tr_cluster *cluster, int row, bool hard, double weight, double strength );
tr_goal tr_goal_off( void );

typedef struct tr_rod_def {  // the step that turns all cells together: how many rounds it takes, not where to
    double corner_stiffness; // part left of the stiffness between cells, since corners give way (rods.h)
    double turn_max;         // radians a cell turns in one step
    double stale;            // tolerances: after a round that moves more, the stiffness is computed again …
    int kept_rounds;         // … and after this many rounds
    double share_min; // least share of a step that is taken: halved when a round moves more than the last …
    double share_growth; // … and growing by this factor when not, up to the whole step
    double pivot_min;    // least stiffness of a joint's shift, in units of an edge's
    double row_give;     // compliance of a row, in units of its flexibility: keeps equal rows apart
    double row_pivot;    // least pivot of a row, in units of that compliance: less is rounding
    double spring_give;  // compliance of a row that is a spring, in units of an edge's
} tr_rod_def;

typedef struct tr_cluster_def {
    tr_lanes lanes;
    int max_iterations;
    int fit_steps;    // Newton steps per rotation and iteration
    bool newton;      // turn all cells together in each iteration; without, each separately, as in the paper
    double tolerance; // metres; a frame is done when an iteration moved nothing further. 0: always
                      // max_iterations
    tr_rod_def rods;
} tr_cluster_def;

tr_cluster_def tr_default_cluster_def( void );

typedef struct tr_cluster_scratch tr_cluster_scratch; // working memory, one piece per thread

// The state of a graph at a frame, as it is solved. All zero but for turned[4 i + 3], which are one: the
// reference.
typedef struct tr_graph_kept {
    float *moved;  // [9 · joint_count] vertices from the reference
    float *turned; // [4 · joint_count] R of each cell
} tr_graph_kept;

// Everything by frame, then vertex, joint or row. Arrays of arrays: [graph_count].
typedef struct tr_cluster_job {
    const tr_cluster *cluster;
    tr_cluster_def def;
    int frame_count;
    const vec3 *const *reference; // [frame_count · 3 · joint_count] v̂ for transfer, v̄ for deformation
    const tr_goal *goals;         // [frame_count · row_count]
    vec3 *const *vertices;        // out, the same shape as reference; may be the same memory
    bool roots_only;              // write those of the first joint only
    quat *const *rotations; // out of the deformation, [frame_count · joint_count] R of each cell; NULL: not
                            // wanted, either of them
    double *errors;         // out, [frame_count · row_count] metres left; NULL: not wanted
    bool *relaxed;          // out, [frame_count · row_count] gave way to other rows; NULL: not wanted
    const tr_graph_kept *kept;   // [frame_count · graph_count] in and out of the deformation: it begins with
                                 // the state of an earlier run of the frame, which saves iterations, and
                                 // stores its own there. NULL: begin with the reference
    int *iterations;             // out, [frame_count] how many it took; NULL: not wanted
    double *change;              // out, [frame_count] metres moved in the last one; NULL: not wanted
    tr_cluster_scratch *scratch; // NULL: allocated for the call
    const bool *still; // [graph_count] graphs without changes: unless a row joins them to others, they are
                       // left out, and nothing of them is read or written. NULL: none
} tr_cluster_job;

// Scratch for jobs of this cluster whose rows are on where those of `job` are, with as many threads as there
// are now. NULL and an error when out of memory.
tr_cluster_scratch *tr_cluster_scratch_create( const tr_cluster_job *job, tr_error *error );
// The same for jobs of several clusters: each is measured, then one scratch is built. `need` begins as zero.
// `block`: frames of the job whose rows may share a block of lanes; usually as many as lanes.
typedef struct tr_cluster_need {
    size_t lists, part; // bytes
} tr_cluster_need;
bool tr_cluster_measure( const tr_cluster_job *job, int block, tr_cluster_need *need, tr_error *error );
tr_cluster_scratch *tr_cluster_scratch_build( const tr_cluster_need *need, tr_error *error );
void tr_cluster_scratch_destroy( tr_cluster_scratch *scratch );

// Both fail only when out of memory or when the scratch is too small. Frames in parallel, same
// bits for any number of threads; no frame depends on another.
bool tr_cluster_transfer( const tr_cluster_job *job, tr_error *error );
bool tr_cluster_deform( const tr_cluster_job *job, tr_error *error );

#endif
