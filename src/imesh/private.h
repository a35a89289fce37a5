// Private to imesh.
#ifndef TROUPE_IMESH_PRIVATE_H
#define TROUPE_IMESH_PRIVATE_H

#include "imesh/imesh.h"

enum {
    TR_IMESH_CORNERS = 8, // corners of a box
    TR_IMESH_GROUP = 24,  // members of a group at most
    TR_IMESH_TERMS = 2 + TR_IMESH_CORNERS
};

#define TR_IMESH_NO_LENGTH 1e-6 // metres: shorter vectors have no direction

// Volume of a bone: its axis lies on the line through two vertices.
typedef struct tr_imesh_capsule {
    int a, b;         // vertices
    double from, to;  // ends of the axis in fractions of the way from a to b; a skull lies beyond 1
    double radius[2]; // source, target
    int body, index;  // capsule of the target's body
} tr_imesh_capsule;

// Joints rigidly connected to a joint, by a bone each, with the surface points of those bones: a pelvis with
// spine and thighs, a chest with neck and shoulders.
typedef struct tr_imesh_group {
    int count;
    int vertex[TR_IMESH_GROUP];
    vec3 shape[2][TR_IMESH_GROUP]; // on source and target, about their mean, laid along each other
    bool turns; // it has joints on top of the first one, as captures have: its shape is that of the frame
} tr_imesh_group;

// ---------------------------------------------------------------------------------------------- vertices.c

typedef struct tr_imesh_rest { // one skeleton at rest
    tr_pose pose;
    double height;
} tr_imesh_rest;

typedef struct tr_imesh_embodiment { // one body on its way into the mesh
    const tr_imesh_def *def;
    const tr_imesh_body *body;
    int index;
    tr_imesh_rest source, target;
    bool *keep;  // [target joints]
    int *tip;    // [target joints] of a hand: its tip, else -1
    int *vertex; // [target joints] borrowed from the mesh: joint_vertex
} tr_imesh_embodiment;

// Where a vertex is at rest.
vec3 tr_imesh_rest_place( const tr_imesh *mesh, const tr_imesh_embodiment *e, int v, bool on_target );
// A bone with joints in between that can bend has no length of its own, only a ratio to the source's.
bool tr_imesh_bends_between( const tr_imesh_embodiment *e, int joint, int above );

// Vertices, links, capsules and where they are in the source and without the mesh.
bool tr_imesh_vertices_build( tr_imesh *mesh, tr_error *error );
void tr_imesh_vertices_free( tr_imesh *mesh );
vec3 tr_imesh_corner( int corner, vec3 size ); // corner of a box, in its own frame
rigid tr_imesh_track( const rigid *track, int count, int frame );

static inline const vec3 *tr_imesh_frame( const tr_imesh *mesh, const vec3 *all, int frame )
{
    return all + (size_t)frame * (size_t)mesh->vertex_count;
}

static inline int tr_imesh_first_corner( const tr_imesh *mesh, int box ) // corners are the last vertices
{
    return mesh->vertex_count - TR_IMESH_CORNERS * ( mesh->cast.box_count - box );
}

// ------------------------------------------------------------------------------------------------- growth.c

bool tr_imesh_growth_build( tr_imesh *mesh, const tr_imesh_embodiment *bodies ); // fills growth and stretch
// out [vertex_count]: where the source's vertices would be with bones as long as the target's.
void tr_imesh_grow( const tr_imesh *mesh, int frame, vec3 *out );

// -------------------------------------------------------------------------------------------------- bends.c

typedef struct tr_imesh_bend { // the bend between two bones of a trunk, neck or tail
    int vertex[3];             // a joint, and the two below it
    double reach;              // metres that a bend of 1 is worth
} tr_imesh_bend;

bool tr_imesh_bends_build( tr_imesh *mesh, const tr_imesh_embodiment *bodies ); // fills bends
void tr_imesh_bends_add( const tr_imesh *mesh, int frame, double *block, float *base );

// ------------------------------------------------------------------------------------------------- groups.c

// Appends the groups of a body, and marks the links they stand for.
bool tr_imesh_groups_build( tr_imesh *mesh, const tr_imesh_embodiment *e );
// How a group of the source's (0) or the target's shape (1) lies.
quat tr_imesh_group_turn( const tr_imesh *mesh, const tr_imesh_group *group, int frame, const vec3 *at,
                          int shape );
void tr_imesh_groups_align( tr_imesh *mesh ); // fills group_aligns
void tr_imesh_group_square( const tr_imesh *mesh, const tr_imesh_group *group, double *block );
typedef struct tr_imesh_group_round {
    int frame;
    double morph;
    const vec3 *at; // [vertex_count]
    quat *turn;     // rotation of the group; kept from round to round, as are …
    vec3 *duals;    // [TR_IMESH_GROUP]
    float *right;   // right-hand side
} tr_imesh_group_round;

// One round of a group: nearest place of the rigid shape, dual, pull.
void tr_imesh_group_project( const tr_imesh *mesh, const tr_imesh_group *group,
                             const tr_imesh_group_round *round );
// Moves members, but for held ones, onto the target's shape where it lies nearest to them.
void tr_imesh_group_mend( const tr_imesh *mesh, const tr_imesh_group *group, int frame, const bool *held,
                          vec3 *at );

// ------------------------------------------------------------------------------------------------- solver.c

typedef enum tr_imesh_contact_kind { TR_IMESH_CAPSULES, TR_IMESH_BOX, TR_IMESH_GROUND } tr_imesh_contact_kind;

// Two volumes that are near each other at a frame. gap = normal · Σ weight x + offset, radii taken off.
typedef struct tr_imesh_contact {
    tr_imesh_contact_kind kind;
    int i, j; // capsule and capsule, box, or (ground) end of the capsule's axis
    int term_count;
    int vertex[TR_IMESH_TERMS];
    double weight[TR_IMESH_TERMS];
    vec3 normal; // towards i; of a box in its own frame as well:
    vec3 side;   // the side i is kept on: normal of the last step, in the box's frame
    double offset;
    double source_gap; // in the source, its radii
    bool active;
    double force, flexibility; // flexibility: how far a unit of force moves it, all others pulling along
} tr_imesh_contact;

typedef struct tr_imesh_contacts {
    tr_imesh_contact *items; // in a fixed order: by kind, i, j
    int count, capacity;
} tr_imesh_contacts;

typedef struct tr_imesh_held { // a row of the cast in terms of vertices
    const tr_imesh_row *row;
    int term_count;
    int vertex[2 * TR_IMESH_CORNERS];
    double weight[2 * TR_IMESH_CORNERS];
    vec3 offset;   // from the terms' sum to the point, on the target
    int group[2];  // group that an end is fixed to, -1: none …
    vec3 local[2]; // … and its further offset in the group's axes, sign included
    vec3 turned;   // offset with these, as the groups lay at the beginning of the step
    vec3 source;   // the terms' sum in the source
    vec3 dual;
    double scale; // all of the above, and the row's target, are multiplied by this
} tr_imesh_held;

typedef struct tr_imesh_solver {
    tr_band band;
    float *base;            // [frame][3][stride] right-hand side of the whole morph
    float *u, *u_memory;    // unknowns, as tr_band_solve wants them
    double ( *lengths )[2]; // [frame_count · link_count] source, target
    vec3 *link_duals;       // [frame_count · link_count]
    vec3 *box_duals;        // [frame_count · box_count · 8]
    vec3 *group_duals;      // [frame_count · group_count · TR_IMESH_GROUP]
    quat *group_turns;      // [frame_count · group_count]
    quat *group_aligns;     // the same: of groups that turn, from where the target is to where the source is
    tr_imesh_held *held;    // [held_count] by frame
    int *held_start;        // [frame_count + 1]
    int held_count;
    int ( *pairs )[2]; // [pair_count] capsules that may collide
    int pair_count;
    tr_imesh_contacts *contacts, *before; // [frame_count]
} tr_imesh_solver;

vec3 tr_imesh_grown( const tr_imesh *mesh, int frame, int vertex ); // δ′ − δ
// The part of the solver that detects contacts; solver_build does it, too.
bool tr_imesh_watch_build( tr_imesh *mesh, tr_error *error );
// The matrix and everything of the solver that does not change from step to step.
bool tr_imesh_solver_build( tr_imesh *mesh, tr_error *error );
void tr_imesh_solver_free( tr_imesh *mesh );

// block ← block + weight · c cᵀ over the unknown vertices
void tr_imesh_add_square( const tr_imesh *mesh, double *block, const int *vertices, const double *c,
                          int count, double weight );

// Adds scale · v to the right-hand side of a frame, [3][stride], at a vertex that is an unknown.
static inline void tr_imesh_pull( const tr_imesh *mesh, float *right, int vertex, double scale, vec3 v )
{
    int u = mesh->vertices[vertex].unknown, stride = mesh->solver->band.stride;
    if ( u < 0 )
        return;
    right[u] += (float)( scale * v.x );
    right[stride + u] += (float)( scale * v.y );
    right[2 * stride + u] += (float)( scale * v.z );
}

// Factor that makes a vector no longer than `most`.
static inline double tr_imesh_at_most( double length, double most )
{
    return length > most ? most / length : 1;
}

// Where along an edge of a box a place lies: 0 … 1 within it; ½ of an edge without length.
static inline double tr_imesh_box_share( double place, double size )
{
    const double none = 1e-9; // metres
    return size > none ? place / size + 0.5 : 0.5;
}

// ------------------------------------------------------------------------------------------------ lengths.c

// Brings a frame of the target's sizes nearer to its lengths. `held` [vertex_count] is scratch.
void tr_imesh_mend_lengths( const tr_imesh *mesh, int frame, bool *held, vec3 *at );

// --------------------------------------------------------------------------------------------------- rows.c

bool tr_imesh_hold_rows( tr_imesh *mesh ); // fills held, by frame
// From the sum of a row's terms to its point, groups turned as they are now.
vec3 tr_imesh_held_offset( const tr_imesh *mesh, const tr_imesh_held *held );

// ------------------------------------------------------------------------------------------------ collide.c

// Refreshes the contacts of one frame for bodies at `at`, `morph` of the way from source to target.
bool tr_imesh_detect( const tr_imesh *mesh, int frame, const vec3 *at, double morph );
double tr_imesh_gap( const tr_imesh_contact *contact, const vec3 *at );
// The least gap of the two: 0, or the source's where that is less.
double tr_imesh_required( const tr_imesh_contact *contact );
bool tr_imesh_touches( const tr_imesh *mesh, const tr_imesh_contact *contact );
int tr_imesh_contact_owner( const tr_imesh *mesh, const tr_imesh_contact *contact, int side );

// ------------------------------------------------------------------------------------------------- report.c

bool tr_imesh_report_fill( tr_imesh *mesh, tr_imesh_report *report );
double tr_imesh_bone_error( const tr_imesh *mesh ); // largest, as a fraction

#endif
