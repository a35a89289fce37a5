// geometry: distances between solids, overlaps of boxes, triangle meshes, facets, the Gauss linking of
// segments, Delaunay tetrahedra. Every function takes any finite input, including zero lengths and sizes.
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

// Signed distance from a capsule to a box; negative: depth of the capsule's surface at the deepest point of
// its axis.
double tr_capsule_box_distance( vec3 a, vec3 b, double radius, rigid box, vec3 size );

// The point of a capsule's axis ab that is nearest to a solid, or deepest inside it.
typedef struct tr_touch {
    double t;           // parameter along the axis
    double distance;    // from the axis to the solid's surface, negative inside
    vec3 place, normal; // on the surface, in the solid's own frame; the normal points outwards
} tr_touch;

tr_touch tr_segment_box_touch( vec3 a, vec3 b, rigid box, vec3 size );

// --------------------------------------------------------------------------------------------------- boxes

typedef struct tr_box { // axis-aligned; empty where a coordinate of `low` exceeds that of `high`
    vec3 low, high;
} tr_box;

tr_box tr_box_empty( void );
tr_box tr_box_with( tr_box box, vec3 point );             // the smallest box that holds both
tr_box tr_box_grown( tr_box box, double margin );         // to every side
bool tr_box_overlaps( const tr_box *a, const tr_box *b ); // or touches; an empty box overlaps nothing

// Finds which of many boxes overlap. Zero-initialise; building again uses the same memory.
typedef struct tr_box_tree {
    const tr_box *boxes; // [count of the last build] borrowed
    size_t looks;        // tests of boxes and nodes so far: the cost of queries
    // Working memory.
    struct tr_curve_item *order; // [count] boxes that are not empty
    struct tr_box_node *nodes;   // [node_count] the root first
    int count, capacity, node_count, node_capacity;
} tr_box_tree;

// False when out of memory.
bool tr_box_tree_build( tr_box_tree *tree, const tr_box *boxes, int count );
// Boxes of a higher index that overlap this one, ascending, into `found` [count]; returns how many.
int tr_box_tree_above( tr_box_tree *tree, int box, int *found );
void tr_box_tree_free( tr_box_tree *tree );

// -------------------------------------------------------------------------------------------------- meshes

enum { TR_MESH_MOST = 1000000 }; // limit of points, and of triangles, of one mesh

// A triangle mesh with a tree for queries of distance. Several threads may query it at once.
typedef struct tr_trimesh {
    vec3 *points;          // [point_count] no two at the same place
    int ( *triangles )[3]; // [triangle_count] counterclockwise as seen from outside, if the mesh is closed
    int point_count, triangle_count;
    bool closed;               // has an inside: two triangles of opposite direction meet at every edge
    vec3 low, high;            // bounding box
    vec3 *normals;             // [triangle_count] unit; zero for a triangle without area
    vec3 ( *edge_normals )[3]; // [triangle_count] sums of the normals at the edge that begins at each corner
    vec3 *point_normals; // [point_count] sums of the normals around, by the angle of each triangle there
    struct tr_trimesh_node *nodes; // a tree of boxes
    int node_count;
} tr_trimesh;

// Copies its input. Merges points at the same place, drops triangles without three distinct corners, and
// turns a closed mesh that is inside out. False: a corner that is no point, a point that is not finite, no
// triangle, more than TR_MESH_MOST, or no memory.
bool tr_trimesh_build( tr_trimesh *out, const vec3 *points, int point_count, const int ( *triangles )[3],
                       int triangle_count, tr_error *error );
bool tr_trimesh_copy( tr_trimesh *out, const tr_trimesh *in, tr_error *error );
void tr_trimesh_free( tr_trimesh *mesh );

// In the mesh's own coordinates; signed if the mesh is closed. Where the axis is inside, the deepest of nine
// samples along it, refined.
tr_touch tr_segment_trimesh_touch( vec3 a, vec3 b, const tr_trimesh *mesh );
// Distance from `from` along the unit vector `way` to the first hit, INFINITY for none. *from_inside (may be
// NULL): the hit is from behind, which is from inside if the mesh is closed.
double tr_trimesh_ray( const tr_trimesh *mesh, vec3 from, vec3 way, bool *from_inside );

// -------------------------------------------------------------------------------------------------- shapes
// Shapes of props and obstacles. A shape's own frame is at the middle of its bounding box, so that it can be
// moved, held and dragged by its corners like a box.

typedef enum tr_shape_kind {
    TR_SHAPE_BOX,
    TR_SHAPE_SPHERE,
    TR_SHAPE_POLYLINE, // a row of capsules
    TR_SHAPE_MESH,     // closed: a solid; else a surface with a thickness
    TR_SHAPE_KINDS
} tr_shape_kind;

extern const char *const tr_shape_kind_names[]; // as in JSON, NULL-terminated

typedef struct tr_shape { // points and mesh are borrowed
    tr_shape_kind kind;
    vec3 size;          // full edge lengths of its bounding box
    double radius;      // radius of a sphere; half the thickness of a polyline or an open mesh
    const vec3 *points; // [point_count] polyline
    int point_count;
    const tr_trimesh *mesh;
    vec3 middle;  // middle of the box, in the coordinates of points and mesh
    double scale; // metres per unit of these coordinates
} tr_shape;

tr_shape tr_shape_box( vec3 size );
tr_shape tr_shape_sphere( double diameter );
tr_shape tr_shape_polyline( const vec3 *points, int count, double thickness );
tr_shape tr_shape_mesh( const tr_trimesh *mesh, double thickness );
tr_shape tr_shape_scaled( const tr_shape *shape, double factor );
// Fits a shape to a box of that size: a box takes the size, other shapes scale with its mean edge.
tr_shape tr_shape_in( const tr_shape *shape, vec3 size );

// From the coordinates of points and mesh to the shape's own frame, and back.
vec3 tr_shape_point( const tr_shape *shape, vec3 p );
vec3 tr_shape_given( const tr_shape *shape, vec3 p );

tr_touch tr_shape_touch( const tr_shape *shape, rigid at, vec3 a, vec3 b );
// Signed distance of surfaces, as tr_capsule_box_distance; for a point: a = b, radius 0.
double tr_shape_distance( const tr_shape *shape, rigid at, vec3 a, vec3 b, double radius );
// Distance from a point inside, in the shape's own frame, along a unit vector to its surface; to a tenth of a
// millimetre.
double tr_shape_exit( const tr_shape *shape, vec3 inside, vec3 way );
// Height of p above the shape. Box: above its upper face, at most `margin` beside it; negative inside. Other
// shapes: above the highest surface below the point `slack` above p. INFINITY: there is no such surface, or
// that point is inside.
double tr_shape_height( const tr_shape *shape, rigid at, vec3 p, double slack, double margin );

// -------------------------------------------------------------------------------------------------- facets
// Triangles with normals, for files of other programs. Zero-initialise. Each function adds to what is there;
// false: out of memory, nothing is added.

typedef struct tr_facets {
    vec3 *points, *normals; // [point_count] normals are unit vectors
    int *tags;              // [point_count] as the caller gave them
    int ( *triangles )[3];  // [triangle_count] counterclockwise as seen from outside
    int point_count, triangle_count;
    int point_capacity, normal_capacity, tag_capacity, triangle_capacity;
} tr_facets;

// A tube with round ends; a = b: a ball.
bool tr_facets_add_capsule( tr_facets *facets, vec3 a, vec3 b, double radius, int tag );
// A shape in its own frame. Corners and edges of boxes and meshes are sharp.
bool tr_facets_add_shape( tr_facets *facets, const tr_shape *shape, int tag );
void tr_facets_free( tr_facets *facets );

// Gauss linking integral of two straight segments: signed share of the sphere of directions from which they
// are seen to cross, in (-0.5, 0.5). 0 for coplanar or degenerate segments. A crossing counts positive when
// the segment nearer to the viewer turns counterclockwise, by less than half a turn, onto the farther one.
// Swapping the two segments keeps the value; reversing one, or a mirror, flips its sign.
double tr_segment_linking( vec3 a0, vec3 a1, vec3 b0, vec3 b1 );

// Sum over all segment pairs of two polylines of a_count and b_count points. Two closed polylines (first
// point repeated at the end) give their linking number, an integer.
double tr_chain_linking( const vec3 *a, int a_count, const vec3 *b, int b_count );

typedef struct tr_moving_segment { // its ends at two moments; in between they go straight
    vec3 begin[2], end[2];
} tr_moving_segment;

typedef struct tr_passes {
    int count; // how often they go through each other, at most three times
    int turns; // by how much that changes the linking of closed polylines that they are parts of
} tr_passes;

// Counts how often two segments go through each other between the moments. Touching and turning back is no
// pass. A segment includes its begin but not its end, so a pass at a corner of a polyline is counted once.
tr_passes tr_segments_pass( const tr_moving_segment *a, const tr_moving_segment *b );

// ----------------------------------------------------------------------------------------------- Delaunay

// Delaunay tetrahedra of a point cloud and the neighbours of each point. Zero-initialise; building again uses
// the same memory, so that a cloud per frame costs no allocation.
//
// Every cloud has a result, which depends on the points alone. Points are rounded to a grid of 2⁻²² to 2⁻²³
// of the largest extent of their bounding box. Points at one place of the grid have the first as their twin,
// and the others no neighbours of their own. Coplanar points give the edges of their Delaunay triangles,
// collinear points the edges along the line; neither gives tetrahedra. Cospherical points are cut in an
// arbitrary, but always the same way.
//
// Points are inserted in their order, or `scattered`: in random rounds, each twice as large as all before it
// and along a curve through space. In a cloud that grows to one side every new point is joined to a long
// front of the hull, which costs N^1.5 and more; a scattered one costs N log N. The order of insertion
// decides the order of tetrahedra and the cut of cospherical points, nothing else.
typedef struct tr_delaunay {
    bool scattered; // set before building
    int point_count;
    int dimension;    // what the points span: 3 space, 2 plane, 1 line, 0 one place, -1 no points
    int ( *tets )[4]; // [tet_count] points a, b, c, d with det( b − a, c − a, d − a ) > 0
    int *twin;        // [point_count] the first point at the same place; may be the point itself
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
    int *last, *fill;            // [point_count]
    struct tr_curve_item *order; // [point_capacity]
} tr_delaunay;

// False when a point is not finite or memory runs out; the struct can be built again or freed.
bool tr_delaunay_build( tr_delaunay *out, const vec3 *points, int count, tr_error *error );
void tr_delaunay_free( tr_delaunay *delaunay );

#endif
