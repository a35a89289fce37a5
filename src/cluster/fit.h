// Private to the skeleton fit of clusters: what its files share. See cluster.h for what it does.
//
//   cluster/fit_build.c  bodies and props that are fitted, and jobs: frames of those that rules join there
//   cluster/fit_scratch.c memory of the jobs, per thread
//   cluster/fit_swing.c  limbs that are pinned far from where they are begin near their pins
//   cluster/fit_goals.c  what the fit of one character is asked for at one frame
//   cluster/fit_give.c   what gives way where not everything can be met
//   cluster/fit_meet.c   what moves after a fit so that partners, props and the ground are met
//   cluster/fit.c        the rounds of fitting and meeting
#ifndef TROUPE_CLUSTER_FIT_H
#define TROUPE_CLUSTER_FIT_H

#include "cluster/private.h"

#include <assert.h>

typedef struct fit_body { // a character at work
    int actor;
    int *masses; // [mass_count] places of its centre of mass, as indices in the stage
    int mass_count;
    int *feet; // [foot_count] joints that meet the ground as one, hands too
    int foot_count;
    int *parts;      // joints that each of these carries, itself included, one after the other
    int *part_begin; // [foot_count + 1] where its own begin
    double height;   // body height
    tr_end *ends;    // [joint_count] that turn back, see cluster/free_ends.c
    int *pins;       // [pin_count] shoulders and hips of limbs that the document pins somewhere
    int pin_count;
    vec3 *middles; // [pin_count] of what these limbs reach, see cluster/swing.c
    tr_fit fit;
    tr_fit_memory *memory; // [frames that may be asked for] their solutions; NULL: not wanted
    float *remembered;     // array that it points into
    // In the scratch of a thread, of its job:
    int *rules; // [rule_count] that act on it, as indices of the fitter's list
    int rule_count;
    int most_goals;  // at one frame
    quat *start;     // [frames * joint_count] local rotations before any fit
    quat *warm;      // [frames * joint_count] the pose the fit begins with, where limbs are far from their
    vec3 *warm_root; // [frames]                pins: the frames that are …
    bool *warmed;    // [frames]                … warmed. All NULL where nothing is pinned
    tr_world copied; // and their joints
    vec3 *holds;     // [frames * foot_count] where to keep a hand, how high to keep a foot; y INFINITY: free
    tr_lean *leans;  // [frames], NULL where no centre of mass has a place
    bool *stale;     // [frames] to be fitted again
    uint64_t *asked; // [frames] stands for what the frame was fitted to last; 0: nothing yet
    int *steps;      // [frames] of Newton's method that its fits have taken
} fit_body;

typedef struct fit_lead { // the member that leads a prop, see cluster/fit_meet.c
    int level, waited;    // priority of the rules; rounds in which others did not follow
} fit_lead;

typedef struct fit_prop { // a prop at work
    int prop;
    int *rules; // [rule_count] that hold it, as indices of the fitter's list
    int rule_count;
    fit_lead *leads; // [frames]
} fit_prop;

typedef struct fit_batch { // frames of one character that are fitted together
    tr_fit_frame *frames;  // [frames of the job]
    tr_fit_result *results;
    tr_fit_goal *goals; // [frames * most goals of any body]
    int *stage_frames;
} fit_batch;

// Frames are independent of each other, and so are characters that no rule joins. A job is some frames of
// characters and props that rules join; it runs from the first fit to the last without reading other jobs.
typedef struct fit_job {
    int from, to; // frames
    int body_begin, prop_begin,
        rule_begin; // in the lists: bodies of the fitter; props and rules of the stage, rules that act there
    int body_count, prop_count, rule_count;
    int most_goals; // largest number of goals of a body in a frame
    double cost;    // joints to fit
} fit_job;

typedef struct fit_meeting { // where the two ends of a link meet
    vec3 place;              // where end a is to be
    vec3 step, apart;        // how the place was moved last, and how far the ends were off before
    bool led;                // in this round it moved to a place that a rule requires …
    double missed;           // … which was so far off; 0: not yet
    int waited;              // rounds in which that did not become less
} fit_meeting;

// A job at work, in the scratch of a thread.
typedef struct fitter {
    tr_cluster_fit_def def;
    int from, to;     // frames
    fit_body *bodies; // [body_count]
    int body_count;
    const int *body_of; // [actor_count] of those at work, and of those only
    fit_prop *props;    // [prop_count]
    int prop_count;
    const int *rules; // [rule_count] of the stage that act on any of them
    int rule_count;
    fit_meeting **agreed; // [rule_count] of relations between two characters, at each frame; else NULL
    vec3 **nudges; // [2 rule_count] of ends that mix joints, NULL for others: added to their goals so that
                   // their mean comes to its place
    fit_batch batch;
    tr_fit_scratch *scratch;
} fitter;

typedef struct fit_scratch { // scratch of one thread
    char *memory;            // for the job at hand
    tr_fit_scratch fit;
    int *body_of; // [actor_count]
} fit_scratch;

struct tr_cluster_fitter {
    tr_cluster_fit_def def;
    fit_body *bodies; // [body_count]
    int body_count;
    int *body_of;       // [actor_count] -1: not at work
    bool *needs_joints; // [set_count] of the graphs, not only where they put bodies
    fit_job *jobs;      // [job_count] the longest first
    int job_count, job_capacity;
    tr_lists set_jobs; // the same by set
    int *lists;        // [list_count]
    int list_count, list_capacity;
    size_t scratch_bytes;
    fit_scratch *scratch; // [scratch_count]
    int scratch_count;
};

// Frames of a job: enough of a kind to fill the lanes of the fit, few enough for all threads to have work.
enum { FIT_FRAMES = 32 };

static inline size_t fitter_cell( const fitter *s, int frame )
{
    return (size_t)( frame - s->from );
}

static inline const tr_rule *fitter_rule( const fitter *s, int k )
{
    return &s->def.stage->rules[s->rules[k]];
}

static inline fit_body *fitter_body( const fitter *s, int actor )
{
    return actor >= 0 && s->body_of[actor] >= 0 ? &s->bodies[s->body_of[actor]] : NULL;
}

static inline const tr_skeleton *fitter_skeleton( const fitter *s, const fit_body *body )
{
    return &s->def.stage->actors[body->actor].target;
}

static inline tr_pose fitter_graph_pose( const fitter *s, int actor, int frame )
{
    const tr_world *world = &s->def.graphs->worlds[actor];
    assert( world->positions != NULL ); // tr_cluster_fitter_needs_joints says whose are there
    return tr_world_pose( world, frame );
}

static inline tr_pose fitter_copied_pose( const fitter *s, const fit_body *body, int frame )
{
    return tr_world_pose( &body->copied, frame - s->from );
}

static inline bool fitter_affects( const fitter *s, int node, int frame )
{
    const bool *affected = s->def.affected;
    return affected == NULL || affected[(size_t)node * (size_t)s->def.stage->frame_count + (size_t)frame];
}

// A hand, or a paw that does what a hand of the source does.
static inline bool fitter_is_hand( const fitter *s, const fit_body *body, int foot )
{
    const tr_actor *actor = &s->def.stage->actors[body->actor];
    int joint = body->feet[foot], from = actor->map[joint];
    return actor->target.joints[joint].role == TR_ROLE_HAND ||
           ( from >= 0 && actor->source.skeleton.joints[from].role == TR_ROLE_HAND );
}

static inline vec3 *fitter_hold( const fitter *s, const fit_body *body, int foot, int frame )
{
    return &body->holds[fitter_cell( s, frame ) * (size_t)body->foot_count + (size_t)foot];
}

// --------------------------------------------------------------------------------- cluster/fit_build.c

// Several joints that move on their own. Those of one hand or foot do not: they are a point on it, such as a
// palm.
bool tr_anchor_mixes( const tr_stage *stage, const tr_anchor *anchor );

// ---------------------------------------------------------------------------------- cluster/fit_scratch.c

bool tr_fit_scratches_build( tr_cluster_fitter *all, tr_error *error ); // for the jobs there are
void tr_fit_scratches_free( tr_cluster_fitter *all );
// Begins those frames of a job that lie between `from` and `to`, in the scratch of a thread.
fitter tr_fit_scratch_open( const tr_cluster_fitter *all, fit_scratch *scratch, const fit_job *job, int from,
                            int to );
void tr_fit_scratch_close( fit_scratch *scratch, const fitter *s );

// -------------------------------------------------------------------------------------- cluster/fit.c

// How far the body is moved from its copied pose before it is fitted.
vec3 tr_fitter_shift( const fitter *s, const fit_body *body, int frame );
// The goals of a character at a frame, brought within reach.
tr_fit_frame tr_fitter_frame( const fitter *s, const fit_body *body, int frame, tr_fit_goal *goals );
// Fits the first `count` frames of the batch and poses the result.
bool tr_fitter_solve( fitter *s, fit_body *body, int count, tr_error *error );

// -------------------------------------------------------------------------------- cluster/fit_swing.c

// Fills pins and middles; rules [rule_count] are those that name the character.
bool tr_fit_body_find_pins( fit_body *body, const tr_stage *stage, const int *rules, int rule_count );
// Turns limbs of `start` towards their pins, and fills what the fit begins with.
bool tr_fitter_swing( fitter *s, fit_body *body, tr_error *error );

// -------------------------------------------------------------------------------- cluster/fit_window.c

// Whether an end of a rule is a tie of the window, not a goal.
bool tr_fitter_ties( const fitter *s, int k, bool is_a );
// Fits all frames of the job at once; counts steps of Newton's method.
bool tr_fitter_run_window( fitter *s, long *steps, tr_error *error );

// --------------------------------------------------------------------------------- cluster/fit_goals.c

bool tr_rule_links_actors( const tr_rule *rule ); // offset or distance between two characters
// Where a rule wants one of its ends.
vec3 tr_fitter_wanted( const fitter *s, int k, bool is_a, int frame );
// Whether the target of rule k is fixed in the axes of b: then it is a point of b, at the end of a lever.
bool tr_fitter_has_lever( const fitter *s, int k );
// From b's end to the point that has to meet a, in the axes of b's joint.
vec3 tr_fitter_lever( const fitter *s, const tr_rule *rule, int frame );
// The anchor as a point fixed to its first joint, in the pose the character has now.
vec3 tr_fitter_point_on_joint( const fitter *s, const tr_anchor *anchor, int frame );
// How far the graph moved a pelvis that has to bring a centre of mass to its place; one that is only lowered
// stays over its feet.
vec3 tr_fitter_moved( const fitter *s, const fit_body *body, const tr_rule *rule, int frame );
// Fills goals [body->most_goals] and returns how many there are.
int tr_fitter_goals( const fitter *s, const fit_body *body, int frame, tr_fit_goal *goals );

// ---------------------------------------------------------------------------------- cluster/fit_give.c

// Fits those of the first `count` frames of the batch again in which what comes first is not met, because of
// what comes last.
bool tr_fitter_give_way( fitter *s, fit_body *body, int count, tr_error *error );

// ---------------------------------------------------------------------------------- cluster/fit_meet.c

// Half way between where `achieved` has the two ends of a link between characters; `*apart` says how far a
// is off.
vec3 tr_fitter_half_way( const fitter *s, const tr_result *achieved, const tr_rule *rule, int frame,
                         vec3 *apart );
// True when something moved and has to be fitted again.
bool tr_fitter_meet( const fitter *s );

#endif
