// Private to layer: one layer of kind cage at work on the result below it.
//
//   members' joints and props' corners ─► cage ─► moved points ─► aimed poses, moved props, steps of feet,
//   paths of handles ─► pose graphs and fit of all members that rules join to them (resolve.c)
//
// Split by cost: build (what is grabbed) → solve (where handles are) → frames (what that does to bodies).
// Only the first allocates. The bodies of a frame depend on the result below and on the cage alone: frames
// may be done in any order, repeatedly.
#ifndef TROUPE_LAYER_PRIVATE_H
#define TROUPE_LAYER_PRIVATE_H

#include "cage/cage.h"
#include "cluster/cluster.h"
#include "layer/layer.h"

// Some frames of a row first … last: those the stride, a power of two, divides, and all of near_first …
// near_last.
typedef struct tr_some_frames {
    int first, last, stride;
    int near_first, near_last; // none: the last before the first
} tr_some_frames;

static inline tr_some_frames tr_all_frames( int first, int last )
{
    return ( tr_some_frames ){ first, last, 1, 0, -1 };
}
static inline bool tr_some_have( const tr_some_frames *some, int frame )
{
    return frame >= some->first && frame <= some->last &&
           ( ( frame & ( some->stride - 1 ) ) == 0 ||
             ( frame >= some->near_first && frame <= some->near_last ) );
}

typedef struct tr_point_cells { // where a point's places are: `stride` apart from frame to frame
    size_t begin, stride;
} tr_point_cells;

typedef struct tr_foot_shift { // shift of a foot against the result below
    vec3 move;
    double turn;
} tr_foot_shift;

typedef struct tr_moved_stance {
    tr_stance span;     // found by tr_stances_find
    int stamp;          // number of the solve the step belongs to
    tr_step step;       // one for all of it: toes and heel share it, so that the foot may roll over either
    int edge_stamps[2]; // the same for
    tr_foot_shift surplus[2]; // how far it moves beyond the cage at its first and last frame
} tr_moved_stance;

typedef struct tr_moved_foot { // a hand or foot that stands
    int joint, point;          // the joint that carries it, and its point in the cage
    tr_moved_stance *stances;  // [stance_count] in order of time
    int stance_count;
    tr_step own; // step of this layer alone, at the frame being posed
} tr_moved_foot;

typedef struct tr_moved_frame { // one frame of a body that moved
    int stamp;                  // number of the solve it belongs to
    bool moves;                 // anything of it
    bool rigid;                 // all of it is grabbed and moves as one, about the vertical
    quat turn;                  // how its points turned as a whole, about all axes
    double yaw;                 // radians, the part of that about the vertical
    quat heading;               // the same as a rotation
} tr_moved_frame;

// A grabbed character or prop, with a row of points in the cage. Or a character that follows, without points.
typedef struct tr_moved_body {
    int node;
    int first, count;            // its points
    int lead, lead_count;        // those that lead it: its pelvis, a prop's corners; lead -1: nothing does
    tr_moved_frame *frames;      // [frame_count] filled when asked for
    struct tr_lead_frame *ways;  // [frame_count] the same for what leads it; NULL where bodies do not turn
    struct tr_room_frame *rooms; // [frame_count] the same for how far its legs reach; NULL: it has none
    bool lowered;                // lowered to where they do: it could not follow otherwise
    bool eased;                  // the same, away from what is held: it follows there, and jolts elsewhere
    bool *bound;                 // [frame_count] its points are, to the cage; NULL: all of them
    mat3 *spreads;       // [frame_count] of a character that moves as one, see tr_cage_moments, else NULL
    float *moments;      // [frame_count * TR_CAGE_MOMENTS * vertex_count] likewise
    tr_moved_foot *feet; // [foot_count]
    int foot_count;
    double fastest;                 // largest second difference of feet below, metres
    struct tr_aiming *aiming;       // for a character
    vec3 *path;                     // for a prop: [frame_count of the stage] where the layer's rule wants it
    struct tr_following *following; // for a character that follows
} tr_moved_body;

typedef struct tr_driven { // what sections drive of a body
    int body;              // in `bodies`
    tr_anchor anchor;      // one joint, or the middle of a prop
} tr_driven;

typedef enum tr_easing { TR_EASING_NONE, TR_EASING_TRIED, TR_EASING_DONE } tr_easing;

typedef struct tr_handle_share { // how much of its way a handle is followed
    double over, up;             // the ground, the vertical; both of a turn
    double soft;                 // share of that, once jolts are known
    double limit;                // the way that is left by that, metres or degrees
    double jolt;                 // the largest of the bodies it moves, against what is borne
    double rough, rough_jolt;    // `soft` that gave a jolt at last, and which; 0: none did
    double safe;                 // `soft` that gave none, while more is tried; 0: nothing is
    bool bold;                   // more was tried
    double tried, missed;        // `over` of the last time it was looked at, and by how many metres
} tr_handle_share;

typedef struct tr_layer_def { // how bodies go along with a cage; lengths "of the height": of the body's
    int heed_rounds;          // rounds that solve the cage again with handles moved less far, at most …
    int heeded_bodies;        // … and of a drag only where no more than these are grabbed
    int yield_rounds;         // how often the result at the handles is looked at to shorten their ways
    double key_room;          // share of the gap between keys of the cage: no key is nearer to a held frame
    double root_time;   // seconds around a section in which it drives roots in full, then as long fading
    double turn_arm;    // metres at which a turn that a handle asks for counts as a way
    double least_share; // share of a displacement: smaller shares count as this where the whole is computed
                        // from a part
    // Bodies (moved.c)
    double heading_time; // seconds to either side over which the direction of a way is taken
    double least_speed;  // m/s: slower ways have no direction
    double crouch; // share of its height above the ground: roots stay above this, so that knees do not dip
    double crouch_round; // share of the same height: how widely the limit is rounded
    double bow;          // share of a spine's length: how much further down than its root a head may go
    double turn_rest;    // share of the points' moment: holds turns that the points leave open
    // Feet (steps.c)
    double step_time;    // seconds from a moved stance to the window's end, at least
    double landing_time; // seconds beside a stance: a handle on the foot there moves the stance
    double aside; // share of the feet's largest acceleration times a time squared: the largest displacement
                  // aside
    double ground_round; // metres around the ground over which the way of a foot above it is rounded
    // Characters that follow (follow.c)
    double follow_time;  // τ, seconds
    double follow_rest;  // ε
    double follow_reach; // share of the height: shorter pulls are met by reaching and leaning
    double follow_lean;  // share of the height: what remains of a long pull, beyond that
    double follow_apart; // share of the height: how much further apart feet may be asked to stand
    double follow_fade;  // seconds in which a body without feet on the ground leaves the window's ends
    // Defs of the modules below
    tr_cage_def cage;        // but for what depends on the layer and its window
    tr_cage_solve_def solve; // solve of the cage, to convergence
    tr_fit_def posing;       // fit of bodies to the points of the cage
    tr_resolving resolving;  // solve of members joined by rules, to convergence
} tr_layer_def;

tr_layer_def tr_default_layer_def( void );

typedef struct tr_cage_layer {
    tr_layer_def def;
    const tr_stage *stage;
    const tr_grab *grab;
    const tr_layer *layer;
    const tr_result *below; // what it acts on
    tr_result *result;      // what it makes of that
    int first, last;        // window of the cage: that of the grab, and its eases
    tr_cage_end ends[2];    // ends of the grab's window, when the cage was built
    int begin, frame_count; // stage frames the cage covers: all of them where an end is held
    int dragged;            // handle of the document that counts as moved, -1: none
    int chunk;              // frames of a body that are posed at the same time, at most
    bool late;              // bodies are bound to the cage when a frame of them is asked for, not before
    tr_bound_point *bound;  // [point_count] members in the stage's order
    int point_count;
    tr_point_cells *cells; // [point_count] in
    vec3 *before, *after;  // [frame_count * point_count] body after body, so that what is asked for at one
                           // time lies together; the second where `bodies` are filled
    tr_moved_body *bodies; // [body_count] in the order of their nodes
    int body_count;
    int *body_of; // [actor_count + prop_count] -1: not grabbed
    int stamp;    // counts solves
    bool tilts;   // a handle turns a section over
    tr_cage cage;
    bool built;
    tr_cage_handle *handles;        // [handle_count]
    int *handle_index;              // [handle_count] in the document
    int held_count;                 // behind them in `handles`: what keeps limbs on bodies and bodies upright
    double *handle_errors;          // [handle_count] metres
    tr_handle_share *handle_shares; // [handle_count of the document]
    bool soft;                      // they count with `soft`
    tr_easing easing;               // for bodies, see tr_layer_handles_soften …
    double uneased;                 // … and the largest jolt before
    int looks;                      // solves since the handles were last asked for their whole displacement
    long steps;                     // steps of the result's fits before this layer
    double borne;                   // largest second difference that is no jolt, metres; 0: not known yet
    tr_driven *driven;              // [driven_count] none where no section and no vertex is held
    int driven_count;
    vec3 *handle_misses; // [handle_count] what a point is moved on beyond what cage and box do
    int handle_count;
    bool *affected;        // [(actor_count + prop_count) * frame_count of the stage]
    bool *touched;         // the same: the result there may not be what is below
    tr_resolver *resolver; // the pipeline's, for all its rounds …
    int *set_of;           // … [actor_count + prop_count] 0: affected when it was built; -1: not
    tr_stage edited; // the stage with the layer's own rules behind the others; nothing else of it is owned
    vec3 *paths;     // [path_count * frame_count of the stage] where those rules want their points
    int path_count;
    float *path_weights; // [(handle_count + driven_count) * frame_count * vertex_count] of what handles hold
                         // and sections lead, in the cage; their paths are the first
    tr_lists path_rules; // rules of `edited` for paths, by actor
    int *links;          // [link_count] of the stage's rules, those that join characters or props
    int link_count;
    bool *pulls;  // [actor_count + prop_count] grabbed, or linked to a grabbed node anywhere in the window
    bool *linked; // [actor_count + prop_count] or linked to one of these: all nodes that may have to move
    int *linked_nodes, linked_count; // the same as a list
    tr_lists node_links;             // the same rules by node, each twice
    tr_moved_body *followers;        // [follower_count] characters that are linked, but not grabbed
    int *follower_of;                // [actor_count] -1: does not follow
    int follower_count;
    struct tr_pulled *pulled;    // [actor_count + prop_count]
    struct tr_carrier *carriers; // [carrier_count] characters that hold props that are not grabbed
    int carrier_count;
    struct tr_layer_calming *calming; // see layer/calm.c
    struct tr_missed_rule *missed; // [missed_count] rules that the result below does not quite meet, by node
    int *missed_of;                // [actor_count + prop_count + 1] where those of a node begin
    int missed_count;
} tr_cage_layer;

// ---------------------------------------------------------------------------------------------- cage_layer.c

typedef struct tr_cage_layer_def { // everything is borrowed
    const tr_layer_def *how;       // copied
    const tr_stage *stage;
    const tr_grab *grab;
    const tr_result *below;
    tr_result *result; // begins as `below`
    int chunk;         // see above
    bool late;
    int dragged;
} tr_cage_layer_def;

// Builds the cage around what the grab holds in `below`, and everything else. `built` stays false, and there
// is nothing to move, when nothing is grabbed or the window is too short.
bool tr_cage_layer_build( tr_cage_layer *out, const tr_cage_layer_def *def, tr_error *error );
// The same without bodies: nothing can be moved, but the cage is there to be seen.
bool tr_cage_layer_outline( tr_cage_layer *out, const tr_cage_layer_def *def, tr_error *error );
void tr_cage_layer_free( tr_cage_layer *l );
// Whether any handle asks for something: otherwise the layer is the identity, to the last bit.
bool tr_grab_asks( const tr_stage *stage, const tr_grab *grab );
// Whether a layer that is built now, from the handles as they are, would have the same cage.
bool tr_cage_layer_is_as_built( const tr_cage_layer *l );
// Moves the cage by the handles of the stage's scene, as they are now. `heeds`: handles that ask for steps
// longer than legs move less (tr_layer_handles_heed).
void tr_cage_layer_solve( tr_cage_layer *l, const tr_cage_solve_def *def, bool heeds );

// -------------------------------------------------------------------------------------------------- layers.c

// Writes reports of a solved layer into its result: how far handles are off, and what moved beyond its
// window.
void tr_layer_report( tr_cage_layer *l );
// Adds the outline of the layer's cage to the result.
bool tr_layer_keep_cage( tr_result *result, const tr_cage_layer *l, tr_error *error );

// ------------------------------------------------------------------------------------------- layer/handles.c

bool tr_layer_handles_build( tr_cage_layer *l, tr_error *error );
void tr_layer_handles_fill( tr_cage_layer *l ); // as they are in the document now
void tr_layer_handles_free( tr_cage_layer *l );
// After the cage was moved, before bodies are posed: shortens the way of handles that ask for steps longer
// than legs. False when none do; otherwise it is to be moved again.
bool tr_layer_handles_heed( tr_cage_layer *l );
// After all members have been resolved in the frames of handles: shortens the way of handles that could not
// be followed there. False when there are none, or looks are used up; otherwise the layer is to be solved
// again.
bool tr_layer_handles_yield( tr_cage_layer *l );
// After that, and after what jolts has been calmed, the same for jolts that are left, bodies being eased
// first; and, of a preview, for what was known about them when all frames were seen at last.
bool tr_layer_handles_soften( tr_cage_layer *l );
bool tr_layer_handles_soften_again( tr_cage_layer *l );
void tr_layer_handles_ask( tr_cage_layer *l );   // for their whole way again; jolts are remembered
void tr_layer_handles_begin( tr_cage_layer *l ); // the same, and jolts are forgotten
// Whether all handles hold in these frames, and all are points unless `sections` count too: then these frames
// alone decide which handles yield. If so, cuts the frames to those of the handles.
bool tr_layer_handles_within( const tr_cage_layer *l, bool sections, int *first, int *last );
bool tr_handle_is_held( const tr_stage *stage, const tr_grab *grab, const tr_handle *handle );
bool tr_cage_layer_released( const tr_cage_layer *l, int frame ); // an end of the window

// ---------------------------------------------------------------------------------------------- cage_layer.c

tr_moved_body *tr_cage_layer_body( const tr_cage_layer *l, int node ); // NULL when it is not grabbed
// Index of the point that is this joint of an actor, -1 when it is not grabbed.
int tr_cage_layer_joint( const tr_cage_layer *l, int actor, int joint );
// Frames of the sections there are to see and to hold: the document's, else the keys of the cage; and those
// that are held.
int tr_cage_layer_sections( const tr_cage_layer *l, int frames[TR_CAGE_MAX_SECTIONS] );
bool tr_cage_layer_holds_several( const tr_cage_layer *l ); // characters or props, not one alone
// The last frame before, and the first after, the frames an edit may touch; beyond the stage where an end is
// held or there is nothing beyond.
void tr_cage_layer_limits( const tr_cage_layer *l, int *before, int *after );
// The same around a frame, falloff included. Where the edit does not touch the frame itself, none lies
// between them.
void tr_cage_layer_limits_at( const tr_cage_layer *l, int frame, int *before, int *after );
void tr_cage_layer_range( const tr_cage_layer *l, int *first, int *last ); // the frames between these

// --------------------------------------------------------------------------------------------- layer/moved.c

// How the cage moved a body at a stage frame; its points are in `after`. Different threads may ask for
// different bodies at the same time.
bool tr_moved_build( tr_cage_layer *l, tr_moved_body *body );
void tr_moved_free( tr_moved_body *body );
const tr_moved_frame *tr_moved_at( tr_cage_layer *l, tr_moved_body *body, int frame );
// The joint that leads a character: the pelvis, which in some files hangs on a root that lies on the floor.
int tr_moved_root( const tr_cage_layer *l, const tr_moved_body *body );
// The same of any node, after it has been posed there; NULL when it does not move as a whole. Where a place
// fixed to it goes.
const tr_moved_frame *tr_moved_whole( tr_cage_layer *l, int node, int frame );
vec3 tr_moved_place( tr_cage_layer *l, int node, int frame, vec3 place );
vec3 tr_mean_point( const vec3 *points, int count );
static inline size_t tr_layer_cell( const tr_cage_layer *l, int frame, int point )
{
    return l->cells[point].begin + (size_t)( frame - l->begin ) * l->cells[point].stride;
}
// The part of a rotation that is about the vertical, radians.
double tr_yaw( quat rotation );
// A maximum, rounded off over `soft` to either side.
double tr_not_below( double height, double floor, double soft );
// Where what a handle holds may be moved to from where it is: limbs to the ground, a trunk not that far.
vec3 tr_above_ground( const tr_cage_layer *l, const tr_anchor *anchor, int frame, vec3 from, vec3 to );

// -----------------------------------------------------------------------------------------------
// layer/driven.c

bool tr_driven_build( tr_cage_layer *l ); // after bodies and handles; false: out of memory
void tr_driven_free( tr_cage_layer *l );
// The report on a handle of the layer, by the bodies of a result.
tr_handle_report tr_handle_judge( const tr_cage_layer *l, const tr_result *result, int handle );

// ---------------------------------------------------------------------------------------------- layer/room.c

bool tr_room_build( const tr_cage_layer *l, tr_moved_body *body );
void tr_room_free( tr_moved_body *body );
// How far a body stays below where the cage wants it at a frame, so that its legs reach the ground,
// metres.
double tr_room_drop( tr_cage_layer *l, tr_moved_body *body, int frame );
bool tr_room_holds( const tr_cage_layer *l, const tr_anchor *anchor ); // the trunk of a body with legs
// The same for what a handle holds: of a trunk that of its body, of limbs, which have room of their own,
// none.
double tr_room_anchor( tr_cage_layer *l, const tr_anchor *anchor, int frame );

// ---------------------------------------------------------------------------------------------- layer/jolt.c

// Jolts in what an edit made of characters that were not there before, against what is borne: up to 1 there
// is none. jolts [actor_count * frame_count], out, in the frames of the edit. Returns the largest.
double tr_layer_jolts( tr_cage_layer *l, double *jolts );
// Share of the handles' displacements that fits into the time there is, judged by the cage alone.
double tr_layer_haste( tr_cage_layer *l );

// ---------------------------------------------------------------------------------------------- layer/calm.c

bool tr_layer_calm_build( tr_cage_layer *l ); // false: out of memory
void tr_layer_calm_free( tr_cage_layer *l );
// After all members have been resolved: where there are jolts, poses become averages of those around them, in
// all frames but those that are held, and `affected` says which members have to be resolved again, in frames
// first … last; then ask again. False: there is nothing, or nothing more, to be calmed. Begins anew with each
// solve.
bool tr_layer_calm( tr_cage_layer *l, int *first, int *last );
double tr_layer_jolt_left( const tr_cage_layer *l, int actor ); // the largest after that, see tr_layer_jolts

// --------------------------------------------------------------------------------------------- layer/steps.c

bool tr_steps_build( tr_cage_layer *l, tr_moved_body *body, tr_error *error );
void tr_steps_free( tr_moved_body *body );
bool tr_stance_is_cut( const tr_cage_layer *l, const tr_stance *s ); // cut by the window: it stays in place
// Where a foot that stands at a frame stands after the edit; false: it does not.
bool tr_steps_stand( tr_cage_layer *l, tr_moved_body *body, int foot, int frame, vec3 *place );
// How much further apart than before two feet that stand at the same time are asked to be, metres.
double tr_steps_apart( tr_cage_layer *l, tr_moved_body *body );
void tr_steps_forget( tr_moved_body *body ); // where stances went in this solve
// Where a foot's steps take a place that a handle holds of it; false: it holds no foot.
bool tr_steps_lead( tr_cage_layer *l, const tr_anchor *anchor, int frame, vec3 *place );
// The steps of every foot at a frame; true when any moved.
bool tr_steps_frame( tr_cage_layer *l, tr_moved_body *body, int frame );

// ---------------------------------------------------------------------------------------------- layer/pose.c

bool tr_posing_build( tr_cage_layer *l, tr_moved_body *body, tr_error *error );
void tr_posing_free( tr_moved_body *body );
// Poses a body in some frames, at most `chunk`, marks those in which it moved as affected, and leads its
// handles and props along their paths. False when a number is none.
bool tr_posing_frames( tr_cage_layer *l, tr_moved_body *body, const tr_some_frames *frames, tr_error *error );

// The same for some frames of a character that follows.
void tr_posing_follower( tr_cage_layer *l, tr_moved_body *body, const tr_some_frames *frames );

// -------------------------------------------------------------------------------------------- layer/follow.c

bool tr_follow_build( tr_cage_layer *l, tr_error *error );
void tr_follow_free( tr_cage_layer *l );
tr_moved_body *tr_follower( const tr_cage_layer *l, int node ); // NULL when it does not follow
// Finds the ways of those nodes that follow, once in a solve. `nodes` must contain all nodes that rules join
// to one of them.
void tr_follow_solve( tr_cage_layer *l, const int *nodes, int count );
bool tr_follow_asked( const tr_moved_body *body ); // whether links ask anything of it
// What links ask of it at a frame; the frame of a stance at which they ask with the largest weight; how it
// moves, by its feet.
tr_step tr_follow_way( const tr_cage_layer *l, const tr_moved_body *body, int frame );
int tr_follow_stance( const tr_cage_layer *l, const tr_moved_body *body, const tr_stance *s );
tr_step tr_follow_body( const tr_cage_layer *l, const tr_moved_body *body, int frame );

// -------------------------------------------------------------------------------------------
// layer/attached.c

bool tr_attached_build( tr_cage_layer *l, tr_error *error );
void tr_attached_free( tr_cage_layer *l );
// Puts a prop that is not grabbed where its carriers take it, after bodies have been posed.
void tr_attached_frames( tr_cage_layer *l, int node, const tr_some_frames *frames );

// --------------------------------------------------------------------------------------------- layer/rules.c

// Copies the stage's rules into `edited`, in such a way that the result below meets them all, and adds rules
// for what handles hold and for props.
bool tr_layer_rules_build( tr_cage_layer *l, tr_error *error );
void tr_layer_rules_free( tr_cage_layer *l );
void tr_layer_rules_solve( tr_cage_layer *l ); // after each solve
// The place of a held or driven anchor on its path at a frame; false: it has no path.
bool tr_layer_rules_place( const tr_cage_layer *l, const tr_anchor *anchor, int frame, vec3 *place );
void tr_layer_rules_frames( tr_cage_layer *l, int node,
                            const tr_some_frames *frames ); // `node`: of the stage
// The place of a prop by the cage and its handles.
rigid tr_layer_prop_place( tr_cage_layer *l, tr_moved_body *body, int frame );

// ----------------------------------------------------------------------------------------------
// cage_outline.c

bool tr_cage_outline_build( tr_cage_outline *out, const tr_cage_layer *l, tr_error *error );
void tr_cage_outline_read( tr_cage_outline *shape,
                           const tr_cage *cage ); // after each solve; allocates nothing

// --------------------------------------------------------------------------------------------- layer/links.c

// Finds the links between nodes.
bool tr_layer_links_build( tr_cage_layer *l );
// Both ends of a link; the second may be the first, and either -1.
void tr_layer_link_nodes( const tr_stage *stage, const tr_rule *rule, int nodes[2] );
// Whether a frame of a node may differ from what is below.
bool *tr_cage_layer_touched( tr_cage_layer *l, int node, int frame );
void tr_cage_layer_reach( tr_cage_layer *l,
                          int frame ); // nodes that rules join to affected ones are affected
// Some frames of a node go back to what is below.
void tr_cage_layer_restore( tr_cage_layer *l, int node, const tr_some_frames *frames );
// Brings some frames, of a body at most `chunk`, of some characters and props from `below` to `result`:
// posed, but not resolved yet; `affected` says which have to be. `nodes` must contain all nodes that rules
// join to one of them. Sets of nodes that no rule joins may be posed at the same time.
bool tr_cage_layer_pose( tr_cage_layer *l, const int *nodes, int count, const tr_some_frames *frames,
                         tr_error *error );
// The same for all linked nodes, and all frames of the edit.
bool tr_cage_layer_pose_all( tr_cage_layer *l, tr_error *error );

#endif
