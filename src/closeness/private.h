// Private to closeness: close pairs, the members of windows, a window as its mesh sees it, and the fit of
// skeletons to the solved meshes.
#ifndef TROUPE_CLOSENESS_PRIVATE_H
#define TROUPE_CLOSENESS_PRIVATE_H

#include "closeness/closeness.h"
#include "cluster/cluster.h"

typedef struct tr_closeness_def {
    int most_members;  // most moving members of a window: a mesh costs more than the square of their joints
    double band_bytes; // per frame and square of the joints of a window: a joint has at most two points
    double
        reshaped; // share of the ratio of heights: limbs or girths that differ by more make another shape …
    double shortest_limb; // … metres in the source: shorter bones are not compared
    double shortest_bone; // metres in the source: joints nearer to their parents are no points of their own
    double longest_line;  // metres in the source: longer edges of a mesh are not drawn
    tr_imesh_def mesh;
    // Weights that depend on the window, in place of the mesh's; see cast.c
    double acceleration; // at `fps` frames a second; with their square at other rates …
    double fps;
    double least_rate, most_rate; // … as far as this times the weight
    double touch, collision;      // where several people are in a window
    double bend;                  // where boxes are
    // The fit to the meshes
    tr_fit_def fit;
    double lag;      // seconds over which feet and hands leave behind what the fit moved them by
    int hold_rounds; // rounds of the mesh of a held frame
    double hold_off; // metres that a body may fall short of a place it can reach
} tr_closeness_def;

tr_closeness_def tr_default_closeness_def( void );

typedef struct tr_mesh_answer { // the solution of a window's mesh
    quat **rotations;           // [member_count][frames * joints] of actors, NULL for others
    vec3 **positions;           // the same
    rigid **places;             // [member_count][frames] of props
    tr_mesh_report report;
    bool failed;
    tr_error error;
} tr_mesh_answer;

// A member is an actor, a prop, or an obstacle, in this order.
typedef struct tr_mesh_work {
    tr_closeness_def def;
    const tr_stage *stage;
    tr_result *result;
    tr_imesh_near *members; // [member_count]
    int member_count;
    tr_imesh_windows windows;
    int pad;                 // frames over which a window fades
    tr_graphs graphs;        // where the joints are to be: pose graphs, then meshes
    bool *affected;          // [(actor_count + prop_count) * frame_count]
    double *said;            // the same: sum of the weights of windows so far
    int first, last;         // frames that may be affected
    tr_mesh_answer *answers; // [windows.count]
    rigid **places;          // [prop_count] NULL, or [frame_count] where meshes have the prop
    vec3 **lags;             // [actor_count][footings * frame_count]: see tr_cluster_fit_def
} tr_mesh_work;

bool tr_mesh_is_actor( const tr_stage *stage, int member );
bool tr_mesh_is_prop( const tr_stage *stage, int member );
tr_imesh_near *tr_mesh_members( const tr_stage *stage ); // to be freed; NULL when out of memory
bool tr_mesh_links( tr_imesh_pairs *out, const tr_stage *stage, const tr_imesh_near *members,
                    const tr_imesh_near_def *def, tr_error *error );
// Where the scene lets members of a window go through each other. place_of [member_count]: index among the
// window's bodies or boxes, -1: not in it. `out` has room for every pair of the scene. Returns how many.
int tr_mesh_passes( const tr_stage *stage, const tr_imesh_window *window, const int *place_of, int body_count,
                    tr_imesh_pass *out );

// Fills members, windows and pad, and the links of the result: close pairs, and single members of another
// shape.
bool tr_mesh_find_windows( tr_mesh_work *w, tr_error *error );
// How much of a window counts at a frame: it fades over its padding, but not at the ends of the scene.
double tr_mesh_share( const tr_mesh_work *w, const tr_imesh_window *window, int frame );

typedef struct tr_mesh_party { // a window as its mesh sees it
    const tr_mesh_work *work;
    const tr_imesh_window *window;
    tr_imesh_body *bodies; // [member_count at most]
    tr_imesh_box *boxes;
    int *place_of; // [members of the stage] index among bodies or boxes, -1: not in it
    tr_imesh_pass *passes;
    tr_imesh_row *rows;
    int row_count, row_capacity;
    tr_imesh_cast cast;
    tr_imesh_def def;
} tr_mesh_party;

// Builds a party whose work and window are given. False when out of memory; to be freed in any case. `gather`
// leaves out the rows.
bool tr_mesh_party_gather( tr_mesh_party *p );
bool tr_mesh_party_build( tr_mesh_party *p );
void tr_mesh_party_free( tr_mesh_party *p );

// Turns of hands and heads as the mesh has them, over time. rotations, positions [frames of the window *
// joints]: world; in and out. False when out of memory.
bool tr_mesh_steady( const tr_mesh_party *p, int member, quat *rotations, vec3 *positions );

// Rooms and graphs, those at the result's motions; the windows, if any, are there. Freed in any case.
bool tr_mesh_work_build( tr_mesh_work *w, tr_error *error );
void tr_mesh_work_free( tr_mesh_work *w );

// A frame of the result's motion and world: blended with a pose as far as windows count there. What stands
// keeps its turn.
void tr_mesh_blend( tr_mesh_work *w, int actor, int frame, const tr_fit_result *aimed );
// Fits skeletons and props to what the meshes said, then all members that rules join to them.
bool tr_mesh_fit( tr_mesh_work *w, tr_error *error );
// Brings the affected members, whose motions were changed, and all that rules join to them back to the
// rules.
bool tr_mesh_meet( tr_mesh_work *w, tr_error *error );
// What the fit left too deep is pushed out, as far as that makes the motion better. See closeness/relieve.c.
bool tr_mesh_relieve( tr_mesh_work *w, tr_error *error );

// The mesh of a held frame (hold.c). `place`: of the held joint, at once.
typedef struct tr_held {
    const tr_stage *stage;
    const tr_result *result;
    int frame, actor, joint;
    int *place_of; // [actor_count] index among the bodies, -1: not in it
    tr_imesh_body *bodies;
    tr_imesh_box *boxes;
    tr_imesh_row *rows; // the first is the held joint
    int row_capacity;
    tr_imesh_cast cast;
    tr_imesh mesh;
} tr_held;

// Builds the mesh around a held joint that is given with its stage, result and frame. To be freed in any
// case.
bool tr_held_build( tr_held *h, const tr_closeness_def *closeness, tr_error *error );
void tr_held_free( tr_held *h );
bool tr_held_move( tr_held *h, vec3 place, tr_error *error );
// Moves and turns the work's graphs by `share` of the displacement that the mesh computed for its members at
// the frame: moved and turned as in the held one. tr_mesh_fit does the rest.
void tr_held_spread( const tr_held *h, tr_mesh_work *w, int frame, double share );

#endif
