// The section's shape: the surface of a cube, cut into squares, each cut into two triangles.
#include "cage/private.h"

#include <assert.h>

typedef struct grid { // the points (i, j, k) of 0 … n on the surface of the cube
    int n;
    int *index; // [(n + 1)³] vertex, or -1 inside
} grid;

static int at( const grid *g, const int p[3] )
{
    return g->index[( p[0] * ( g->n + 1 ) + p[1] ) * ( g->n + 1 ) + p[2]];
}

static void place_vertices( tr_cage *cage, grid *g )
{
    int n = g->n, count = 0, cell = 0;
    for ( int i = 0; i <= n; ++i )
        for ( int j = 0; j <= n; ++j )
            for ( int k = 0; k <= n; ++k, ++cell ) {
                bool surface = i == 0 || j == 0 || k == 0 || i == n || j == n || k == n;
                g->index[cell] = surface ? count : -1;
                if ( surface )
                    cage->shape[count++] = v3( 2.0 * i / n - 1, 2.0 * j / n - 1, 2.0 * k / n - 1 );
            }
    assert( count == cage->vertex_count );
}

// One square of the face across `axis`. Seen from outside, corners a, b, c, d go round to the left.
static void add_square( tr_cage *cage, const grid *g, int axis, bool far_side, int u, int v )
{
    int p[3], corner[4], right = ( axis + 1 ) % 3, up = ( axis + 2 ) % 3;
    p[axis] = far_side ? g->n : 0;
    for ( int c = 0; c < 4; ++c ) {
        int along = c == 1 || c == 2, across = c >= 2;
        p[right] = u + ( far_side ? along : across );
        p[up] = v + ( far_side ? across : along );
        corner[c] = at( g, p );
    }
    int *first = cage->triangles[cage->triangle_count++], *second = cage->triangles[cage->triangle_count++];
    for ( int c = 0; c < 3; ++c ) {
        first[c] = corner[c];
        second[c] = corner[( c + 2 ) % 4];
    }
}

// Each edge of a closed surface is passed once in either sense. Struts join a vertex to the opposite one: a
// shell of edges alone would fold where it is pulled.
static void add_edges( tr_cage *cage )
{
    for ( int t = 0; t < cage->triangle_count; ++t )
        for ( int c = 0; c < 3; ++c ) {
            int a = cage->triangles[t][c], b = cage->triangles[t][( c + 1 ) % 3];
            if ( a < b ) {
                int *edge = cage->edges[cage->edge_count++];
                edge[0] = a, edge[1] = b;
            }
        }
    for ( int i = 0; i < cage->vertex_count / 2; ++i ) { // the order of vertices is symmetric
        int *edge = cage->edges[cage->edge_count++];
        edge[0] = i, edge[1] = cage->vertex_count - 1 - i;
    }
}

bool tr_cage_shape_build( tr_cage *cage, int detail, tr_error *error )
{
    size_t squares = 6 * (size_t)detail * (size_t)detail, side = (size_t)detail + 1;
    cage->vertex_count = (int)squares + 2;
    cage->shape = tr_alloc( squares + 2, sizeof cage->shape[0] );
    cage->triangles = tr_alloc( 2 * squares, sizeof cage->triangles[0] );
    cage->edges = tr_alloc( 3 * squares + squares / 2 + 1, sizeof cage->edges[0] );
    grid g = { detail, tr_alloc( side * side * side, sizeof( int ) ) };
    bool ok = cage->shape != NULL && cage->triangles != NULL && cage->edges != NULL && g.index != NULL;
    if ( ok ) {
        place_vertices( cage, &g );
        for ( int face = 0; face < 6; ++face )
            for ( int u = 0; u < detail; ++u )
                for ( int v = 0; v < detail; ++v )
                    add_square( cage, &g, face / 2, face % 2 == 1, u, v );
        add_edges( cage );
    }
    tr_free( g.index );
    return ok || tr_error_memory( error );
}
