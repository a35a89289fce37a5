// closeness: pairs of members that are close, the windows of the interaction mesh, and held frames.
#ifndef TROUPE_CLOSENESS_H
#define TROUPE_CLOSENESS_H

#include "imesh/imesh.h"
#include "result/result.h"

// Which members are close to each other, and when (stage frames): found in the source, then changed by the
// scene's pairs. The interaction mesh keeps these.
bool tr_stage_links( tr_imesh_pairs *out, const tr_stage *stage, tr_error *error );

// Solves interaction meshes for all close members of a result that pose graphs have solved, then fits the
// skeletons to them. The result's `meshes` report what the meshes did.
bool tr_closeness_solve( const tr_stage *stage, tr_result *result, tr_error *error );
// Applies a constraint with `partners` to all members that are close to it, in a result solved without it.
bool tr_closeness_hold( const tr_stage *stage, tr_result *result, const tr_rule *rule, tr_error *error );
// Depths and lost touches of all windows, in the worlds of the result.
bool tr_meshes_judge( const tr_stage *stage, tr_result *result, tr_error *error );

typedef struct tr_mesh_lines { // lines to draw
    vec3 ( *items )[2];
    int count, capacity;
} tr_mesh_lines;

// Appends the edges of the interaction mesh at a frame between a member of the stage and those `links`
// (tr_stage_links) has close to it: neighbours in the source, where the result has them.
bool tr_mesh_lines_find( tr_mesh_lines *out, const tr_stage *stage, const tr_result *result,
                         const tr_imesh_pairs *links, int member, int frame, tr_error *error );
void tr_mesh_lines_free( tr_mesh_lines *lines );

// ------------------------------------------------------------------------------------------------ hold
// One part of a body is moved in one frame, and the members close to it follow at once, through the
// interaction mesh of that frame. Ops then carry this into the motion: with a constraint with `partners` the
// pipeline does the same at that frame and fades it out over the frames around.
//
//   tr_hold *hold = tr_hold_begin( &stage, &result, frame, actor, joint, &error );
//   for each move of the mouse
//       tr_hold_move( hold, place, &error );           solves the mesh and fits the frame
//       tr_hold_pose( hold, partner, pose );           of each member, to draw it
//   tr_hold_print( hold, "grip_higher", 45, 12, &ops );   for tr_document_run
//   tr_hold_end( hold );

typedef struct tr_hold tr_hold;

// Stage and result are borrowed until tr_hold_end and may not change. `joint` is the target's.
tr_hold *tr_hold_begin( const tr_stage *stage, const tr_result *result, int frame, int actor, int joint,
                        tr_error *error );
void tr_hold_end( tr_hold *hold ); // NULL is fine
// The held joint to a place in the world, as far as its limbs reach. False when out of memory.
bool tr_hold_move( tr_hold *hold, vec3 place, tr_error *error );
// Joints of a body that is held, close to it, or linked to one of those [joint_count of the target]; false:
// it is not. The pipeline gives them the same places.
bool tr_hold_pose( const tr_hold *hold, int actor, tr_pose out );
// The ops that make the motion go through this: an absolute constraint for the held joint at this frame (as
// the document counts), fading over `ease` frames before and after, by which partners follow.
// The place is the one asked for, or where it is out of reach the one that was reached.
void tr_hold_print( const tr_hold *hold, const char *id, int frame, double ease, tr_text *out );

#endif
