// geometry: distances between simple solids, the Gauss linking of segments, Delaunay tetrahedra. Knows
// nothing of motion. Every function takes any finite input, zero lengths and sizes included.
#ifndef TROUPE_GEOMETRY_H
#define TROUPE_GEOMETRY_H

#include "base/base.h"
#include "math/math.h"

// Nearest points of two segments a0a1 and b0b1, as parameters s, t in [0, 1] (either may be NULL); exact for
// parallel and for zero-length segments. Returns the distance.
double tr_segment_distance( vec3 a0, vec3 a1, vec3 b0, vec3 b1, double *s, double *t );

// Distance from a point to a segment; *t (may be NULL) is the parameter of the nearest point.
double tr_point_segment_distance( vec3 p, vec3 a, vec3 b, double *t );

// Signed distance of surfaces: negative = penetration depth.
double tr_capsule_distance( vec3 a0, vec3 a1, double radius_a, vec3 b0, vec3 b1, double radius_b );

// Signed distance from a point to a box of full edge lengths `size` centred on `box`; negative inside.
double tr_point_box_distance( vec3 p, rigid box, vec3 size );

// Signed distance from a capsule to a box (negative = how far the capsule's surface lies inside along the
// axis point that is deepest).
double tr_capsule_box_distance( vec3 a, vec3 b, double radius, rigid box, vec3 size );

// Where the axis ab of a capsule is nearest to a box, or deepest inside it.
typedef struct tr_box_touch {
    double t;           // parameter along the axis
    double distance;    // from the axis to the box's surface, negative inside
    vec3 place, normal; // of the surface, in the box's own frame; the normal points out of the box
} tr_box_touch;

tr_box_touch tr_segment_box_touch( vec3 a, vec3 b, rigid box, vec3 size );

// Gauss linking integral of two straight segments: signed share of the sphere of directions from which they
// are seen to cross, in (-0.5, 0.5). 0 for coplanar or degenerate segments. A crossing counts positive when
// the segment nearer to the viewer turns counterclockwise, by less than half a turn, onto the farther one.
// Swapping the two segments keeps the value; reversing one, or a mirror, flips its sign.
double tr_segment_linking( vec3 a0, vec3 a1, vec3 b0, vec3 b1 );

// Sum over all segment pairs of two polylines of a_count and b_count points. Two closed polylines (first
// point repeated at the end) give their linking number, an integer.
double tr_chain_linking( const vec3 *a, int a_count, const vec3 *b, int b_count );

// ----------------------------------------------------------------------------------------------- Delaunay

// Delaunay tetrahedra of a point cloud and who is whose neighbour in them. Zero-initialise; building again
// uses the same memory, so that a cloud per frame costs no allocation.
//
// There is always an answer, and it depends on nothing but the points. Points are rounded to a grid of 2⁻²²
// to 2⁻²³ of the largest extent of their bounding box. Those that fall on the same place have the first of
// them as their twin and no neighbours of their own. Points of one plane give the edges of its Delaunay
// triangles, those of one line the way along it; neither gives tetrahedra. Cospherical points are cut
// somehow, but always in the same way.
typedef struct tr_delaunay {
    int point_count;
    int dimension;    // of what the points span: 3 space, 2 plane, 1 line, 0 one place, -1 no points
    int ( *tets )[4]; // [tet_count] points a, b, c, d with det( b − a, c − a, d − a ) > 0
    int *twin;        // [point_count] the first point at the same place; the point itself when it is that
    int *start;       // [point_count + 1] where each point's neighbours begin
    int *neighbours;  // [start[point_count]] ascending for each point
    int tet_count, tet_capacity;
    // Working memory.
    int neighbour_capacity, point_capacity;
    struct tr_delaunay_place *places;
    struct tr_delaunay_cell *cells;
    int cell_count, cell_capacity, free_cell;
    struct tr_delaunay_edge *edges; // [edge_capacity] a hash table, a power of two
    int edge_capacity;
    int *stack, stack_count, stack_capacity;
    int *last, *fill; // [point_count]
} tr_delaunay;

// False when a point is not finite or memory runs out; the struct can be built again or freed.
bool tr_delaunay_build( tr_delaunay *out, const vec3 *points, int count, tr_error *error );
void tr_delaunay_free( tr_delaunay *delaunay );

#endif
