// What the files of this folder share.
#ifndef TROUPE_IMESH_PRIVATE_H
#define TROUPE_IMESH_PRIVATE_H

#include "imesh/imesh.h"

#define TR_IMESH_CORNERS 8

// Volume of a bone: its axis lies on the line through two vertices.
typedef struct tr_imesh_capsule {
    int a, b;         // vertices
    double from, to;  // ends of the axis in fractions of the way from a to b; a skull lies beyond 1
    double radius[2]; // source, target
    int body, index;  // capsule of the target's body
} tr_imesh_capsule;

// Joints that a joint carries rigidly, by a bone each, with the points on those bones' surfaces: a pelvis
// with spine and thighs, a chest with neck and shoulders.
#define TR_IMESH_GROUP 24

typedef struct tr_imesh_group {
    int count;
    int vertex[TR_IMESH_GROUP];
    vec3 shape[2][TR_IMESH_GROUP]; // on source and target, about their mean, laid along each other
    bool turns; // by joints on top of the first one, as captures have them: its shape is that of the frame
} tr_imesh_group;

// ---------------------------------------------------------------------------------------------- vertices.c

typedef struct tr_imesh_rest { // of one skeleton
    tr_pose pose;
    double height;
} tr_imesh_rest;

typedef struct tr_imesh_embodiment { // one body on its way into the mesh
    const tr_imesh_body *body;
    int index;
    tr_imesh_rest source, target;
    bool *keep;  // [target joints]
    int *tip;    // [target joints] of a hand: its tip, else -1
    int *vertex; // [target joints] borrowed from the mesh: joint_vertex
} tr_imesh_embodiment;

// Where a vertex is at rest.
vec3 tr_imesh_rest_place( const tr_imesh *mesh, const tr_imesh_embodiment *e, int v, bool on_target );
// A bone of which joints in between can bend keeps no length of its own, only its ratio to the source's.
bool tr_imesh_bends_between( const tr_imesh_embodiment *e, int joint, int above );

// Vertices, links, capsules and where they are in the source and without the mesh.
bool tr_imesh_vertices_build( tr_imesh *mesh, tr_error *error );
void tr_imesh_vertices_free( tr_imesh *mesh );
vec3 tr_imesh_corner( int corner, vec3 size ); // of a box, in its own frame
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

typedef struct tr_imesh_bend { // of two bones of a trunk, neck or tail
    int vertex[3];             // a joint, and the two below it
    double reach;              // metres: what a bend of 1 is worth
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
    quat *turn;     // of the group; goes on from round to round, and so do …
    vec3 *duals;    // [TR_IMESH_GROUP]
    float *right;   // that is pulled at
} tr_imesh_group_round;

// One round of a group: nearest place of the rigid shape, dual, pull.
void tr_imesh_group_project( const tr_imesh *mesh, const tr_imesh_group *group,
                             const tr_imesh_group_round *round );
// Members, but those held, to where the target's shape lies nearest to them.
void tr_imesh_group_mend( const tr_imesh *mesh, const tr_imesh_group *group, int frame, const bool *held,
                          vec3 *at );

// ------------------------------------------------------------------------------------------------- solver.c

typedef enum tr_imesh_contact_kind { TR_IMESH_CAPSULES, TR_IMESH_BOX, TR_IMESH_GROUND } tr_imesh_contact_kind;

#define TR_IMESH_TERMS ( 2 + TR_IMESH_CORNERS )

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
    vec3 offset;   // from what the terms say to the point, on the target
    int group[2];  // an end that is fixed to a group is off by so much more, -1: not; the group …
    vec3 local[2]; // … turns it, sign included
    vec3 turned;   // offset with these, as the groups lay at the beginning of the step
    vec3 source;   // what the terms say in the source
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
// What is needed to look for contacts; solver_build does it, too.
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

// What a vector is to be scaled by to be no longer than that.
static inline double tr_imesh_at_most( double length, double most )
{
    return length > most ? most / length : 1;
}

// Stiffness of what is split off. They change how fast the rounds converge, not where to.
#define TR_IMESH_LINK_PULL  10.0
#define TR_IMESH_BOX_PULL   1.0
#define TR_IMESH_GROUP_PULL 20.0
#define TR_IMESH_ROW_PULL   5.0

// ------------------------------------------------------------------------------------------------ lengths.c

// Brings a frame of the target's sizes nearer to its lengths. `held` [vertex_count] is room.
void tr_imesh_mend_lengths( const tr_imesh *mesh, int frame, bool *held, vec3 *at );

// --------------------------------------------------------------------------------------------------- rows.c

bool tr_imesh_hold_rows( tr_imesh *mesh ); // fills held, by frame
// From what a row's terms say to its point, groups turned as they are now.
vec3 tr_imesh_held_offset( const tr_imesh *mesh, const tr_imesh_held *held );

// ------------------------------------------------------------------------------------------------ collide.c

// Refreshes the contacts of one frame for bodies at `at`, `morph` of the way from source to target.
bool tr_imesh_detect( const tr_imesh *mesh, int frame, const vec3 *at, double morph );
double tr_imesh_gap( const tr_imesh_contact *contact, const vec3 *at );
// How near the two may come: not nearer than nothing, or than they were in the source.
double tr_imesh_required( const tr_imesh_contact *contact );
bool tr_imesh_touches( const tr_imesh *mesh, const tr_imesh_contact *contact );
int tr_imesh_contact_owner( const tr_imesh *mesh, const tr_imesh_contact *contact, int side );

// ------------------------------------------------------------------------------------------------- report.c

bool tr_imesh_report_fill( tr_imesh *mesh, tr_imesh_report *report );
double tr_imesh_bone_error( const tr_imesh *mesh ); // largest, as a fraction

#endif
