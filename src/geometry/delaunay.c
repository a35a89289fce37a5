// Delaunay tetrahedra, point by point, with exact decisions.
//
// Points are rounded to a grid of 2²³ steps across their bounding box (a few micrometres on a stage of twenty
// metres), where predicates are exact (delaunay_predicates.h). So nothing depends on a tolerance, and points
// that lie in one plane, on one line, on one sphere or on top of each other up to rounding do so exactly.
//
// The mesh covers all of space: outside every facet of the hull lies a *ghost*, a tetrahedron with the vertex
// at infinity. A new point removes the tetrahedra whose circumsphere holds it strictly inside (of a ghost:
// the half-space beyond its facet, and of the facet's plane the inside of its circumcircle) and is joined to
// the faces of the hole. Strictness makes the hole star-shaped also where points are cospherical: a face in
// the point's own plane would have the point in its circumcircle, and so in the spheres on both its sides.
//
// Where the points do not span space, up to three helpers off their plane or line are added. Tetrahedra over
// a plane meet it in its own Delaunay triangles, whatever the helper: a sphere through three points of the
// plane meets the plane in their circumcircle. Edges to helpers are dropped afterwards.
#include "geometry/curve.h"
#include "geometry/delaunay_predicates.h"
#include "geometry/geometry.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    HELPERS = 3,
    NOBODY = -1,
    FIRST_EDGES = 256
}; // points added to a plane; no index; a table's first size

typedef struct tr_delaunay_cell {
    int vertex[4]; // positively oriented: det( b − a, c − a, d − a ) > 0; the point at infinity is `ghost`
    int across[4]; // neighbour opposite to each vertex
    int mark;      // hole it was last looked at for: 2 · number kept, 2 · number + 1 removed
} cell;

typedef struct tr_delaunay_edge { // an edge on the rim of a new tetrahedron, while a hole is filled
    int low, high;                // its ends
    int cell, corner;             // the tetrahedron, and its corner opposite to what lies beyond the edge
    int hole;                     // number of the hole it is from: entries of others are free
} edge;

// ------------------------------------------------------------------------------------------------- the mesh

typedef struct mesh {
    tr_delaunay *out;
    int ghost; // index of the vertex at infinity
    int hole;  // number of the current hole
    int recent;
    int count; // number of places, helpers included
} mesh;

static int ghost_corner( const mesh *m, const cell *t )
{
    for ( int i = 0; i < 4; ++i )
        if ( t->vertex[i] == m->ghost )
            return i;
    return NOBODY;
}

// Orientation of a tetrahedron with one corner replaced by a point.
static int side( const mesh *m, const cell *t, int corner, const place *p )
{
    const place *at[4], *places = m->out->places;
    for ( int i = 0; i < 4; ++i )
        at[i] = i == corner ? p : &places[t->vertex[i]];
    return orientation( at[0], at[1], at[2], at[3] );
}

static bool holds( const mesh *m, const cell *t, const place *p )
{
    int corner = ghost_corner( m, t );
    const place *places = m->out->places;
    if ( corner == NOBODY )
        return in_sphere( &places[t->vertex[0]], &places[t->vertex[1]], &places[t->vertex[2]],
                          &places[t->vertex[3]], p ) > 0;
    int outside = side( m, t, corner, p );
    return outside > 0 || ( outside == 0 && holds( m, &m->out->cells[t->across[corner]], p ) );
}

static int new_cell( mesh *m )
{
    tr_delaunay *d = m->out;
    if ( d->free_cell != NOBODY ) {
        int index = d->free_cell;
        d->free_cell = d->cells[index].across[0];
        return index;
    }
    if ( !tr_array_reserve( (void **)&d->cells, &d->cell_capacity, d->cell_count + 1, sizeof( cell ) ) )
        return NOBODY;
    return d->cell_count++;
}

static int corner_towards( const cell *t, int neighbour )
{
    for ( int i = 0; i < 3; ++i )
        if ( t->across[i] == neighbour )
            return i;
    assert( t->across[3] == neighbour );
    return 3;
}

// The first tetrahedron with the four ghosts around it. Vertices a, b, c, d positively oriented.
static bool start( mesh *m, const int vertex[4] )
{
    int made[5];
    for ( int i = 0; i < 5; ++i )
        if ( ( made[i] = new_cell( m ) ) == NOBODY )
            return false;
    cell *cells = m->out->cells;
    memcpy( cells[made[4]].vertex, vertex, 4 * sizeof( int ) );
    for ( int i = 0; i < 4; ++i ) {
        // Across the face opposite to vertex i: the same corners, i at infinity and two others swapped.
        cell *g = &cells[made[i]];
        int p = ( i + 1 ) % 4, q = ( i + 2 ) % 4;
        memcpy( g->vertex, vertex, 4 * sizeof( int ) );
        g->vertex[i] = m->ghost;
        g->vertex[p] = vertex[q];
        g->vertex[q] = vertex[p];
        cells[made[4]].across[i] = made[i];
    }
    for ( int i = 0; i < 4; ++i )
        for ( int k = 0; k < 4;
              ++k ) { // opposite to vertex k of ghost i lies ghost k; beyond the ghost, the inside
            int v = cells[made[i]].vertex[k];
            int neighbour = 4;
            for ( int o = 0; v != m->ghost && o < 4; ++o )
                if ( vertex[o] == v )
                    neighbour = o;
            cells[made[i]].across[k] = made[neighbour];
        }
    for ( int i = 0; i < 5; ++i )
        cells[made[i]].mark = 0;
    m->recent = made[4];
    return true;
}

// Walks towards p. In a Delaunay mesh a walk that always crosses a face p lies beyond comes to an end.
static int locate( const mesh *m, const place *p )
{
    const cell *cells = m->out->cells;
    int at = m->recent, from = NOBODY;
    for ( ;; ) {
        int next = NOBODY;
        for ( int i = 0; i < 4 && next == NOBODY; ++i )
            if ( cells[at].across[i] != from && side( m, &cells[at], i, p ) < 0 )
                next = cells[at].across[i];
        if ( next == NOBODY )
            return at;
        if ( ghost_corner( m, &cells[next] ) != NOBODY )
            return next;
        from = at;
        at = next;
    }
}

static bool push( tr_delaunay *d, int index )
{
    if ( !tr_array_reserve( (void **)&d->stack, &d->stack_capacity, d->stack_count + 1, sizeof( int ) ) )
        return false;
    d->stack[d->stack_count++] = index;
    return true;
}

static bool removed( const mesh *m, int index )
{
    return m->out->cells[index].mark == 2 * m->hole + 1;
}

// Fills `stack` with the cells of the hole around p, connected to the first.
static bool dig( mesh *m, int first, const place *p )
{
    tr_delaunay *d = m->out;
    d->stack_count = 0;
    m->hole++;
    d->cells[first].mark = 2 * m->hole + 1;
    if ( !push( d, first ) )
        return false;
    for ( int at = 0; at < d->stack_count; ++at )
        for ( int i = 0; i < 4; ++i ) {
            int next = d->cells[d->stack[at]].across[i];
            cell *t = &d->cells[next];
            if ( t->mark >= 2 * m->hole )
                continue;
            t->mark = 2 * m->hole + holds( m, t, p );
            if ( removed( m, next ) && !push( d, next ) )
                return false;
        }
    return true;
}

// Space for three edges of each new tetrahedron, half of them twice, in a table that is never half full.
static bool reserve_edges( tr_delaunay *d, int cells )
{
    int capacity = d->edge_capacity > 0 ? d->edge_capacity : FIRST_EDGES;
    while ( capacity < 4 * cells )
        capacity *= 2;
    if ( capacity == d->edge_capacity )
        return true;
    edge *edges = tr_alloc( (size_t)capacity, sizeof *edges );
    if ( edges == NULL )
        return false;
    tr_free( d->edges );
    d->edges = edges;
    d->edge_capacity = capacity;
    return true;
}

// Two new tetrahedra share each edge of the hole's rim, and the face from it to the new point: the
// second one finds the first in the table.
static void meet( mesh *m, int made, int corner, int u, int v )
{
    tr_delaunay *d = m->out;
    int low = u < v ? u : v, high = u < v ? v : u;
    unsigned key = (unsigned)low * 0x9e3779b1u + (unsigned)high * 0x85ebca77u;
    for ( unsigned at = key ^ key >> 15;; ++at ) {
        edge *e = &d->edges[at & (unsigned)( d->edge_capacity - 1 )];
        if ( e->hole != m->hole ) {
            *e = ( edge ){ low, high, made, corner, m->hole };
            return;
        }
        if ( e->low == low && e->high == high ) {
            d->cells[made].across[corner] = e->cell;
            d->cells[e->cell].across[e->corner] = made;
            return;
        }
    }
}

static int count_faces( const mesh *m )
{
    const tr_delaunay *d = m->out;
    int count = 0;
    for ( int n = 0; n < d->stack_count; ++n )
        for ( int i = 0; i < 4; ++i )
            count += !removed( m, d->cells[d->stack[n]].across[i] );
    return count;
}

// A tetrahedron from p to each face of the hole.
static bool raise_cells( mesh *m, int vertex )
{
    tr_delaunay *d = m->out;
    if ( !reserve_edges( d, count_faces( m ) ) )
        return false;
    for ( int n = 0; n < d->stack_count; ++n )
        for ( int i = 0; i < 4; ++i ) {
            int old = d->stack[n], outer = d->cells[old].across[i];
            if ( removed( m, outer ) )
                continue;
            int made = new_cell( m );
            if ( made == NOBODY )
                return false;
            cell *t = &d->cells[made];
            memcpy( t->vertex, d->cells[old].vertex, sizeof t->vertex );
            t->vertex[i] = vertex;
            t->across[i] = outer;
            t->mark = 2 * m->hole;
            d->cells[outer].across[corner_towards( &d->cells[outer], old )] = made;
            for ( int k = 0; k < 4; ++k )
                if ( k != i ) // the edge of face i that leaves out corner k
                    meet( m, made, k, t->vertex[k == ( i + 1 ) % 4 ? ( i + 2 ) % 4 : ( i + 1 ) % 4],
                          t->vertex[k == ( i + 3 ) % 4 ? ( i + 2 ) % 4 : ( i + 3 ) % 4] );
            if ( ghost_corner( m, t ) == NOBODY )
                m->recent = made; // a walk begins inside
        }
    return true;
}

static bool insert( mesh *m, int vertex )
{
    tr_delaunay *d = m->out;
    const place *p = &d->places[vertex];
    int first = locate( m, p );
    for ( int i = 0; i < 4; ++i ) {
        int v = d->cells[first].vertex[i];
        if ( v != m->ghost && same_place( &d->places[v], p ) ) {
            d->twin[vertex] = v;
            return true;
        }
    }
    if ( !dig( m, first, p ) || !raise_cells( m, vertex ) )
        return false;
    for ( int n = 0; n < d->stack_count; ++n ) {
        cell *t = &d->cells[d->stack[n]];
        t->vertex[0] = NOBODY;
        t->across[0] = d->free_cell;
        d->free_cell = d->stack[n];
    }
    return true;
}

// ------------------------------------------------------------------------------------------------- the grid

static double largest_extent( const vec3 *points, int count, vec3 *centre )
{
    vec3 low = points[0], high = points[0];
    for ( int i = 1; i < count; ++i ) {
        low = v3( fmin( low.x, points[i].x ), fmin( low.y, points[i].y ), fmin( low.z, points[i].z ) );
        high = v3( fmax( high.x, points[i].x ), fmax( high.y, points[i].y ), fmax( high.z, points[i].z ) );
    }
    *centre = v3_add( v3_scale( 0.5, low ), v3_scale( 0.5, high ) );
    vec3 half = v3_sub( high, *centre );
    return fmax( half.x, fmax( half.y, half.z ) );
}

static int32_t on_grid( double x, int exponent )
{
    return tr_int_clamped( rint( ldexp( x, GRID_BITS - exponent ) ), -( 1 << GRID_BITS ), 1 << GRID_BITS );
}

// A power of two keeps what is regular regular: a lattice of points stays one.
static void round_to_grid( tr_delaunay *d, const vec3 *points, int count )
{
    vec3 centre;
    int exponent = 0;
    frexp( largest_extent( points, count, &centre ), &exponent ); // extent < 2^exponent
    for ( int i = 0; i < count; ++i ) {
        vec3 r = v3_sub( points[i], centre );
        d->places[i] =
            ( place ){ { on_grid( r.x, exponent ), on_grid( r.y, exponent ), on_grid( r.z, exponent ) } };
    }
}

// A place off all those found so far: from the first along one of the axes, inwards.
static void add_helper( mesh *m, int axis )
{
    place *p = &m->out->places[m->count++];
    *p = m->out->places[0];
    p->x[axis] += p->x[axis] > 0 ? -( 1 << ( GRID_BITS - 1 ) ) : 1 << ( GRID_BITS - 1 );
}

static bool extends_span( const place *places, const int *corners, int known, int candidate )
{
    const place *p = &places[candidate];
    switch ( known ) {
    case 0: return true;
    case 1: return !same_place( &places[corners[0]], p );
    case 2: return !on_one_line( &places[corners[0]], &places[corners[1]], p );
    default: return orientation( &places[corners[0]], &places[corners[1]], &places[corners[2]], p ) != 0;
    }
}

// Four points that span space, the first of their kind in order; helpers where there are none.
static void find_corners( mesh *m, int count, int corners[4] )
{
    const place *places = m->out->places;
    int known = 0;
    for ( int i = 0; i < count && known < 4; ++i )
        if ( extends_span( places, corners, known, i ) )
            corners[known++] = i;
    m->out->dimension = known - 1;
    for ( int axis = 0; axis < 3 && known < 4; ++axis ) {
        add_helper( m, axis );
        if ( extends_span( places, corners, known, m->count - 1 ) )
            corners[known++] = m->count - 1;
        else
            m->count--;
    }
    assert( known == 4 );
    if ( orientation( &places[corners[0]], &places[corners[1]], &places[corners[2]], &places[corners[3]] ) <
         0 ) {
        int swap = corners[0];
        corners[0] = corners[1];
        corners[1] = swap;
    }
}

// ------------------------------------------------------------------------------------------------- results

static bool collect_tets( tr_delaunay *d, int count )
{
    d->tet_count = 0;
    for ( int i = 0; i < d->cell_count; ++i ) {
        const int *v = d->cells[i].vertex;
        if ( v[0] == NOBODY || v[0] >= count || v[1] >= count || v[2] >= count || v[3] >= count )
            continue;
        if ( !tr_array_reserve( (void **)&d->tets, &d->tet_capacity, d->tet_count + 1, sizeof *d->tets ) )
            return false;
        memcpy( d->tets[d->tet_count++], v, 4 * sizeof( int ) );
    }
    return true;
}

// Both directions of every edge of every cell, sorted by counting: first by one end, then by the other.
static bool collect_neighbours( tr_delaunay *d, int count )
{
    int halves = 12 * d->cell_count;
    if ( !tr_array_reserve( (void **)&d->neighbours, &d->neighbour_capacity, halves, sizeof( int ) ) ||
         !tr_array_reserve( (void **)&d->stack, &d->stack_capacity, 2 * halves, sizeof( int ) ) )
        return false;
    int *ends = d->stack, *starts = d->stack + halves, used = 0;
    for ( int i = 0; i < d->cell_count; ++i )
        for ( int a = 0; d->cells[i].vertex[0] != NOBODY && a < 4; ++a )
            for ( int b = 0; b < 4; ++b )
                if ( a != b && d->cells[i].vertex[a] < count && d->cells[i].vertex[b] < count ) {
                    starts[used] = d->cells[i].vertex[a];
                    ends[used++] = d->cells[i].vertex[b];
                }
    tr_lists_fill( ( tr_lists ){ d->start, d->neighbours }, ends, used, count );
    for ( int h = 0; h < used; ++h )
        d->neighbours[h] = starts[d->neighbours[h]];
    // By symmetry the list of an end's starts is the list of a start's ends, several times over: going
    // through the ends in order gives every start its ends in order.
    memset( d->last, 0xff, (size_t)count * sizeof( int ) );
    int *sorted = d->stack;
    memset( d->fill, 0, ( (size_t)count + 1 ) * sizeof( int ) );
    for ( int end = 0; end < count; ++end )
        for ( int h = d->start[end]; h < d->start[end + 1]; ++h ) {
            int from = d->neighbours[h];
            if ( d->last[from] == end )
                continue;
            d->last[from] = end;
            sorted[d->start[from] + d->fill[from]++] = end;
        }
    used = 0;
    for ( int i = 0, begin = 0; i < count; ++i ) {
        memcpy( d->neighbours + used, sorted + begin, (size_t)d->fill[i] * sizeof( int ) );
        begin = d->start[i + 1];
        used += d->fill[i];
        d->start[i + 1] = used;
    }
    return true;
}

static bool reserve_points( tr_delaunay *d, int count )
{
    int room = count + HELPERS;
    if ( room <= d->point_capacity )
        return true;
    place *places = tr_realloc( d->places, (size_t)room, sizeof( place ) );
    d->places = places != NULL ? places : d->places;
    int **lists[] = { &d->twin, &d->start, &d->last, &d->fill };
    bool ok = places != NULL;
    for ( int i = 0; i < 4; ++i ) {
        int *list = tr_realloc( *lists[i], (size_t)room, sizeof( int ) );
        *lists[i] = list != NULL ? list : *lists[i];
        ok = ok && list != NULL;
    }
    tr_curve_item *order = d->scattered ? tr_realloc( d->order, (size_t)room, sizeof *order ) : NULL;
    d->order = order != NULL ? order : d->order;
    ok = ok && ( order != NULL || !d->scattered );
    d->point_capacity = ok ? room : d->point_capacity;
    return ok;
}

// Rounds of points that double in size, whichever are in them by chance, so that no round grows the hull on
// one side only; in a round along the curve, so that each point is near the one before it (Amenta, Choi and
// Rote, "Incremental constructions con BRIO", 2003). Points at the same place keep their order.
static void scatter( tr_delaunay *d, int count )
{
    enum { last_round = 15, round_bits = 4, key_bits = 3 * TR_CURVE_BITS };
    for ( int i = 0; i < count; ++i ) {
        const place *p = &d->places[i];
        uint64_t key = 0, chance = tr_hash_bytes( TR_HASH_START, p, sizeof *p ), round = last_round;
        for ( ; round > 0 && ( chance & 1 ) != 0; chance >>= 1 )
            round--;
        for ( int axis = 0; axis < 3; ++axis ) {
            uint32_t at = (uint32_t)( p->x[axis] + ( 1 << GRID_BITS ) );
            key |= tr_curve_spread( at >> ( GRID_BITS + 1 - TR_CURVE_BITS ) ) << axis;
        }
        d->order[i] = ( tr_curve_item ){ round << ( key_bits - round_bits ) | key >> round_bits, i };
    }
    qsort( d->order, (size_t)count, sizeof *d->order, tr_curve_compare );
}

static bool insert_all( tr_delaunay *d, int count )
{
    mesh m = { .out = d, .ghost = count + HELPERS, .count = count };
    int corners[4];
    if ( d->edge_capacity > 0 ) // numbers of holes begin anew
        memset( d->edges, 0, (size_t)d->edge_capacity * sizeof *d->edges );
    find_corners( &m, count, corners );
    if ( !start( &m, corners ) )
        return false;
    for ( int i = 0; i < count; ++i )
        d->twin[i] = i;
    if ( d->scattered )
        scatter( d, count );
    for ( int n = 0; n < m.count; ++n ) {
        int i = d->scattered && n < count ? d->order[n].index : n;
        bool corner = i == corners[0] || i == corners[1] || i == corners[2] || i == corners[3];
        if ( !corner && !insert( &m, i ) )
            return false;
    }
    return true;
}

bool tr_delaunay_build( tr_delaunay *out, const vec3 *points, int count, tr_error *error )
{
    out->point_count = count;
    out->dimension = -1;
    out->tet_count = out->cell_count = 0;
    out->free_cell = NOBODY;
    for ( int i = 0; i < count; ++i )
        if ( !v3_finite( points[i] ) )
            return tr_error_set( error, "point %d is not finite", i );
    if ( !reserve_points( out, count ) )
        return tr_error_memory( error );
    out->start[0] = 0;
    if ( count == 0 )
        return true;
    round_to_grid( out, points, count );
    return ( insert_all( out, count ) && collect_tets( out, count ) && collect_neighbours( out, count ) ) ||
           tr_error_memory( error );
}

void tr_delaunay_free( tr_delaunay *delaunay )
{
    tr_free( delaunay->tets );
    tr_free( delaunay->twin );
    tr_free( delaunay->start );
    tr_free( delaunay->neighbours );
    tr_free( delaunay->places );
    tr_free( delaunay->cells );
    tr_free( delaunay->stack );
    tr_free( delaunay->edges );
    tr_free( delaunay->last );
    tr_free( delaunay->fill );
    tr_free( delaunay->order );
    *delaunay = ( tr_delaunay ){ 0 };
}
