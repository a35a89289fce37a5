// result: the motion of the target bodies and props, its report, and how it is saved and loaded.
#ifndef TROUPE_RESULT_H
#define TROUPE_RESULT_H

#include "imesh/imesh.h"
#include "stage/stage.h"

typedef struct tr_rule_report { // how well a rule was kept, over its full-strength frames
    double max_mm, p95_mm, mean_mm;
    bool gave_way; // the solver relaxed it; `worst_frame` says where
    int worst_frame;
} tr_rule_report;

// What edits did to the place of a foot: turned about the vertical through the origin, then moved.
typedef struct tr_step {
    double turn; // radians
    vec3 move;
} tr_step;

typedef struct tr_handle_report { // on a handle of the document
    bool acted;                   // its layer is active, and it is not let go
    bool outside;                 // its frame is not in its layer's window, or no section has its vertex: it
                                  // holds nothing
    bool passed_on;               // later layers moved on what it holds: the error is the one from before
    int node,
        joint;  // for sections and vertices: what is farthest off among all they drive, a joint of an actor
                // or, joint -1, the middle of node - actor_count, a prop; -1: the handle holds a point
    vec3 place; // where that, or the point, was dragged to
    double error_mm; // how far from there it came out
} tr_handle_report;

// A handle gave way where what it holds is off by more than tr_rule_def.kept.
static inline bool tr_handle_gave_way( const tr_stage *stage, const tr_handle_report *report )
{
    return report->acted && report->error_mm > 1e3 * stage->def.rules.kept;
}

typedef struct tr_mesh_report { // on a window of the interaction mesh
    int *members;               // [member_count] of the stage: what `mesh` counts as bodies, then boxes
    int member_count;
    int first, last;      // stage frames
    tr_imesh_report mesh; // `after`, `no_room` and `lost` of the motion as it is, the rest of the mesh alone
    size_t bytes;         // memory in use while it was solved
} tr_mesh_report;

// The part and member of a loss of the report: "p01.LeftArm", "roof", "ground".
void tr_mesh_part_print( const tr_stage *stage, const tr_mesh_report *report, int which, int part,
                         tr_text *out );

typedef struct tr_bound_point { // what a point of the cage is
    int node;                   // actor, or actor_count + prop
    int part;                   // joint, or corner of the box 0 … 7
} tr_bound_point;

// The outline of a layer of kind cage: its key sections, in its input and as its handles moved them, and the
// places of the grabbed points in its input.
typedef struct tr_cage_outline {
    tr_id layer;
    int first, last; // its window, stage frames
    int section_count, vertex_count, edge_count;
    int *frames;          // [section_count] stage frames of the keys, increasing
    int ( *edges )[2];    // [edge_count] of a section: those along the edges of its box, vertex to vertex
    int corners[8];       // vertices at its corners
    vec3 *rest, *moved;   // [section_count * vertex_count]
    vec3 *shift, *turn;   // [section_count] how each moved as a whole, in the units of tr_handle
    int begin, row_count; // stage frames of the window and its ease
    int point_count;
    tr_bound_point *bound; // [point_count]
    vec3 *before;          // [row_count * point_count]
} tr_cage_outline;

// Memory for as many sections, vertices, points and rows as the outline says. False when out of memory.
bool tr_cage_outline_alloc( tr_cage_outline *shape, int edge_count );
void tr_cage_outline_free( tr_cage_outline *shape );
bool tr_cage_outline_copy( tr_cage_outline *out, const tr_cage_outline *in, tr_error *error );
// Takes over where a solve of the same cage moved it. Allocates nothing.
void tr_cage_outline_follow( tr_cage_outline *shape, const tr_cage_outline *from );
// Where the layer's input has a joint of an actor, or (joint -1) the middle of node - actor_count, a prop.
// False when the layer does not grab it, or not at this frame.
bool tr_cage_outline_before( const tr_cage_outline *shape, int node, int joint, int frame, vec3 *out );

typedef struct tr_result { // motion of the target bodies and of the props
    int actor_count, prop_count, frame_count;
    tr_motion *motions;      // [actor_count]
    tr_world *worlds;        // [actor_count] their joints
    rigid **tracks;          // [prop_count][frame_count]
    tr_rule_report *reports; // [rule_count of the stage]
    int rule_count;
    // What edits did. Contacts are kept where edits moved them.
    tr_step *
        *steps;     // [actor_count] NULL: none, else [joint_count * frame_count] of hands and feet that stand
    double **turns; // [actor_count] NULL: none, else [frame_count] radians about the vertical
    tr_handle_report *handles; // [handle_count]
    int handle_count;
    tr_cage_outline *cages; // [cage_count] of the layers that act
    int cage_count, cage_capacity;
    double leak_mm; // how far edits moved anything beyond their windows, eases and links
    bool of_source; // bodies and props are the source's, not the target's
    long fit_steps; // steps of Newton's method in the skeleton fit, over all frames and rounds
    // What interaction meshes did, if they were asked to.
    bool meshed;
    tr_imesh_pairs links;   // members of the stage that are close to each other
    tr_mesh_report *meshes; // [mesh_count] a window each
    int mesh_count;
} tr_result;

// Copies of limits in docs/metrics.md. Only passes that detect and repair use them: calm.c and jumps.c of
// cluster, calm.c and jolt.c of layer, patches.c and touches.c of closeness.
typedef struct tr_measure_limits {
    double rotation_spike_deg;      // rotation_spike_deg
    double edit_rotation_spike_deg; // the same with a margin, for edits
    double edit_acceleration_spike; // acceleration_spike (1.5) with a margin, for edits
    double jerk_ratio;              // jerk_ratio of a part of a motion …
    double whole_jerk_ratio;        // … and of all of it, where turned hands add to it
    double touch;                   // contact_f1, of a height: 2 cm at 1.75 m
} tr_measure_limits;

static inline tr_measure_limits tr_default_measure_limits( void )
{
    return ( tr_measure_limits ){ .rotation_spike_deg = 20,
                                  .edit_rotation_spike_deg = 19.9,
                                  .edit_acceleration_spike = 1.47,
                                  .jerk_ratio = 1.1,
                                  .whole_jerk_ratio = 1.12,
                                  .touch = 0.02 / 1.75 };
}

// The source itself as a result (target = source bodies): what every figure is reported beside.
bool tr_result_from_source( tr_result *out, const tr_stage *stage, tr_error *error );
void tr_result_free( tr_result *result );
// The source's joint rotations on the target bodies, with scaled root paths: where other methods begin.
bool tr_result_copy_source( const tr_stage *stage, tr_result *result, tr_error *error );

vec3 tr_anchor_position( const tr_stage *stage, const tr_result *result, const tr_anchor *anchor, int frame );
// Demanded place of a (or offset of a from b for relative rules, in world axes) at a frame.
vec3 tr_rule_target( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int frame );
// How far the result is from the rule at a frame, in metres (orientations and directions: chord of the angle
// at tr_rule_def.arm).
double tr_rule_error( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int frame );
// Whether the error of a rule is such a chord, and the angle that belongs to it, in degrees.
bool tr_rule_turns( const tr_rule *rule );
double tr_chord_degrees( const tr_stage *stage, double metres );

// Frames of the stage in which a rule has given way, as ranges. Returns how many there are, writes at most
// `capacity`.
int tr_rule_broken( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int ( *ranges )[2],
                    int capacity );

typedef enum tr_loss_kind {
    TR_LOSS_RULE,
    TR_LOSS_HANDLE,
    TR_LOSS_NO_ROOM, // bodies of the interaction mesh are in each other, a box or the ground
    TR_LOSS_TOUCH    // what touched in the source is apart
} tr_loss_kind;

typedef struct tr_loss { // something that could not be kept
    tr_loss_kind kind;
    int index;      // a rule of the stage, a handle of the document; the mesh: -1
    int members[2]; // members of the stage: the one, and the other or what it is on. -1: none, or the ground
    int joints[2];  // joints of actors: -1 where the whole member is meant
    int frame;      // stage frame in which it is farthest off
    double metres;  // there; of orientations the chord of the angle at 10 cm, as in tr_rule_error
} tr_loss;

typedef struct tr_losses { // the farthest off first
    tr_loss *items;
    int count, capacity;
} tr_losses;

// Everything that gave way in a solved result.
bool tr_losses_find( tr_losses *out, const tr_stage *stage, const tr_result *result, tr_error *error );
void tr_losses_free( tr_losses *losses );

// Folder of results: <id>.bvh per character and prop, source/<id>.bvh, scene.json, report.json.
bool tr_result_save( const tr_stage *stage, const tr_result *result, const char *method, const char *folder,
                     tr_error *error );
// Every file tr_result_save writes for this scene, whether it is there or not. False when out of memory.
bool tr_result_visit_files( const tr_scene *scene, const char *folder,
                            void ( *visit )( void *context, const char *path ), void *context );
// Reads <id>.bvh of every character and prop of the stage back from such a folder.
bool tr_result_load( tr_result *out, const tr_stage *stage, const char *folder, tr_error *error );
// Prints report.json (report.c): every rule with its error, rules that were relaxed ("gave_way"), meshes,
// edits. False when out of memory.
bool tr_report_print( const tr_stage *stage, const tr_result *result, const char *method, tr_text *out );

// --------------------------------------------------------------------------------------------------- at work

// Fills worlds anew from the motions. Code that changes a motion of a result updates its world, by this or
// frame by frame: results of methods, layers and files have worlds.
bool tr_result_pose( tr_result *result, tr_error *error );
// Fills reports of a result whose motions, worlds and tracks are there.
bool tr_result_finish( tr_result *result, const tr_stage *stage, tr_error *error );
bool tr_result_alloc( tr_result *result, const tr_stage *stage, tr_error *error );
// Motions, worlds, tracks and what edits did, without reports.
bool tr_result_copy( tr_result *out, const tr_stage *stage, const tr_result *in, tr_error *error );

// What edits did to a point that a foot touches, and to a body's heading.
vec3 tr_step_apply( tr_step step, vec3 place );
tr_step tr_step_after( tr_step first, tr_step then );
bool tr_step_is_none( tr_step step );
// Steps of an actor [joint_count * frame_count] and turns [frame_count], made when they are not there. NULL
// when out of memory.
tr_step *tr_result_steps( tr_result *result, const tr_stage *stage, int actor );
// Those of a joint lie together: few joints have any.
static inline size_t tr_step_cell( const tr_stage *stage, int joint, int frame )
{
    return (size_t)joint * (size_t)stage->frame_count + (size_t)frame;
}
double *tr_result_turns( tr_result *result, int actor );

void tr_meshes_free( tr_result *result );
bool tr_meshes_copy( tr_result *out, const tr_result *in );

quat tr_rule_rotation( const tr_stage *stage, const tr_result *result, const tr_rule *rule,
                       int frame ); // orientation: the world rotation it wants
vec3 tr_actor_mass_centre( const tr_stage *stage, const tr_result *result, int actor, int frame );
// Where the foot of a stance must be so that its touching part is in place, if it keeps the rotation it has
// in `pose`. The same for all rules of a footing.
vec3 tr_stance_place( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int frame,
                      tr_pose pose );

#endif
