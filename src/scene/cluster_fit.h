// Private to the skeleton fit of clusters: what its files share. See cluster.h for what it does.
//
//   cluster_fit_build.c  who is at work, which rules act on them, memory
//   cluster_fit_goals.c  what the fit of one character is asked for at one frame
//   cluster_fit_meet.c   what moves after a fit so that partners, props and the ground are met
//   cluster_fit.c        the rounds of fitting and meeting
#ifndef TROUPE_SCENE_CLUSTER_FIT_H
#define TROUPE_SCENE_CLUSTER_FIT_H

#include "scene/cluster.h"

typedef struct fit_body { // a character at work
    int actor;
    int *rules; // [rule_count] that act on it, as indices of the fitter's list
    int rule_count;
    int *masses; // [mass_count] places of its centre of mass, as indices in the stage
    int mass_count;
    int *feet; // [foot_count] joints that stand on the ground as one
    int foot_count;
    bool *ends;     // [joint_count] that turn back, see cluster_ends.c
    int most_goals; // at one frame
    tr_fit fit;
    int scratch;     // index of the fitter's
    quat *start;     // [frame_count * joint_count] local rotations before any fit
    tr_world copied; // and their joints
    double *holds;   // [frame_count * foot_count] height to keep a foot at, 0: none
    tr_lean *leans;  // [frame_count], NULL where no centre of mass has a place
    bool *stale;     // [frame_count] to be fitted again
} fit_body;

typedef struct fit_prop { // a prop at work
    int prop;
    int *rules; // [rule_count] that hold it, as indices of the fitter's list
    int rule_count;
} fit_prop;

typedef struct fit_batch { // frames of one character that are fitted together
    tr_fit_frame *frames;  // [chunk]
    tr_fit_result *results;
    tr_fit_goal *goals; // [chunk * most goals of anybody]
    int *stage_frames;
} fit_batch;

// Memory of frames holds def.chunk of them, from that on which the run at hand begins.
struct tr_cluster_fitter {
    tr_cluster_fit_def def;
    fit_body *bodies; // [body_count]
    int body_count;
    int *body_of;    // [actor_count] -1: not at work
    fit_prop *props; // [prop_count]
    int prop_count;
    int *rules; // [rule_count] of the stage that act on any of them
    int rule_count;
    vec3 **agreed; // [rule_count] where end a of a relation between two characters is to be, else NULL
    vec3 **nudges; // [2 rule_count] of ends that mix joints, NULL for others: what the fit is told to add so
                   // that their mean comes to its place
    tr_fit_scratch *scratches; // [scratch_count]
    int scratch_count;
    fit_batch batch;
    int from, to; // frames of the run at hand
};

typedef tr_cluster_fitter fitter;

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
    return tr_world_pose( &s->def.graphs->worlds[actor], frame );
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

static inline double *fitter_hold( const fitter *s, const fit_body *body, int foot, int frame )
{
    return &body->holds[fitter_cell( s, frame ) * (size_t)body->foot_count + (size_t)foot];
}

// -------------------------------------------------------------------------------- cluster_fit_goals.c

bool tr_rule_links_actors( const tr_rule *rule ); // offset or distance between two characters
// Where a rule wants one of its ends.
vec3 tr_fitter_wanted( const fitter *s, int k, bool is_a, int frame );
// Fills goals [body->most_goals] and returns how many there are.
int tr_fitter_goals( const fitter *s, const fit_body *body, int frame, tr_fit_goal *goals );

// --------------------------------------------------------------------------------- cluster_fit_meet.c

// Half way between where `achieved` has the two ends of a link between characters; `*apart` says how far they
// are off.
vec3 tr_fitter_half_way( const fitter *s, const tr_result *achieved, const tr_rule *rule, int frame,
                         double *apart );
// True when something moved and has to be fitted again.
bool tr_fitter_meet( const fitter *s );

#endif
