// geometry: distances between simple solids and the Gauss linking of segments. Knows nothing of motion.
// Every function takes any finite input, zero lengths and sizes included, and returns a finite number.
#ifndef TROUPE_GEOMETRY_H
#define TROUPE_GEOMETRY_H

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

// Gauss linking integral of two straight segments: signed share of the sphere of directions from which they
// are seen to cross, in (-0.5, 0.5). 0 for coplanar or degenerate segments. A crossing counts positive when
// the segment nearer to the viewer turns counterclockwise, by less than half a turn, onto the farther one.
// Swapping the two segments keeps the value; reversing one, or a mirror, flips its sign.
double tr_segment_linking( vec3 a0, vec3 a1, vec3 b0, vec3 b1 );

// Sum over all segment pairs of two polylines of a_count and b_count points. Two closed polylines (first
// point repeated at the end) give their linking number, an integer.
double tr_chain_linking( const vec3 *a, int a_count, const vec3 *b, int b_count );

#endif
