// One iteration of a cage's deformation as in a textbook.
#include "plain_arap.h"

#include <string.h>

#define STIFFNESS 2.01 // stiffness of an edge: once for the cell at either end, and its weak hold
#define ANCHOR    1e-5

static int neighbour( const tr_cage *cage, int e, int *a, int *b, double *weight )
{
    int within = cage->section_count * cage->edge_count;
    *a = e < within ? e / cage->edge_count * cage->vertex_count + cage->edges[e % cage->edge_count][0]
                    : e - within;
    *b = e < within ? e / cage->edge_count * cage->vertex_count + cage->edges[e % cage->edge_count][1]
                    : *a + cage->vertex_count;
    *weight = e < within ? cage->within[e] : cage->between[*a / cage->vertex_count];
    return within + ( cage->section_count - 1 ) * cage->vertex_count; // number of edges
}

static bool plain_matrix( plain_arap *p, const tr_cage *cage, tr_error *error )
{
    tr_sparse k = { .column_count = p->free_count };
    bool ok = true;
    double *diagonal = p->work;
    int a, b;
    double w;
    for ( int e = 0, edges = neighbour( cage, 0, &a, &b, &w ); e < edges; ++e ) {
        neighbour( cage, e, &a, &b, &w );
        diagonal[a] += w * STIFFNESS;
        diagonal[b] += w * STIFFNESS;
    }
    // Edges go from smaller to larger vertices, but not sorted: one row per vertex, gathered by a scan.
    for ( int v = 0; ok && v < p->count; ++v ) {
        if ( p->unknowns[v] < 0 )
            continue;
        ok = tr_sparse_add( &k, &p->unknowns[v], &( double ){ diagonal[v] + ANCHOR }, 1 );
        int section = v / cage->vertex_count, own = v % cage->vertex_count;
        for ( int e = 0; ok && e < cage->edge_count; ++e )
            if ( cage->edges[e][0] == own || cage->edges[e][1] == own ) {
                int other = section * cage->vertex_count + cage->edges[e][cage->edges[e][0] == own];
                if ( p->unknowns[other] >= 0 )
                    ok = tr_sparse_extend( &k, p->unknowns[other],
                                           -STIFFNESS * cage->within[section * cage->edge_count + e] );
            }
        if ( ok && section > 0 && p->unknowns[v - cage->vertex_count] >= 0 )
            ok = tr_sparse_extend( &k, p->unknowns[v - cage->vertex_count],
                                   -STIFFNESS * cage->between[section - 1] );
    }
    ok = ok ? tr_ldl_build( &p->ldl, &k, error ) : tr_error_memory( error );
    tr_sparse_free( &k );
    return ok;
}

bool plain_arap_build( plain_arap *p, const tr_cage *cage, const tr_cage_handle *handle, tr_error *error )
{
    *p = ( plain_arap ){ .count = cage->section_count * cage->vertex_count };
    size_t n = (size_t)p->count;
    p->unknowns = tr_alloc( n, sizeof( int ) );
    p->v = tr_alloc( n, sizeof( vec3 ) );
    p->turns = tr_alloc( n, sizeof( quat ) );
    p->cells = tr_alloc( n, sizeof( mat3 ) );
    p->b = tr_alloc( 6 * n, sizeof( double ) );
    if ( !p->unknowns || !p->v || !p->turns || !p->cells || !p->b )
        return tr_error_memory( error );
    p->work = p->b + 3 * n;
    int dragged = handle->section * cage->vertex_count + handle->vertex;
    for ( int v = 0; v < p->count; ++v ) {
        int section = v / cage->vertex_count;
        bool held = section == 0 || section == cage->section_count - 1 || v == dragged;
        p->unknowns[v] = held ? -1 : p->free_count++;
        p->v[v] = v == dragged ? v3_add( cage->rest[v], handle->offset ) : cage->rest[v];
        p->turns[v] = q_identity;
    }
    return plain_matrix( p, cage, error );
}

void plain_arap_free( plain_arap *p )
{
    tr_ldl_free( &p->ldl );
    tr_free( p->unknowns );
    tr_free( p->v );
    tr_free( p->turns );
    tr_free( p->cells );
    tr_free( p->b );
}

void plain_arap_rotations( plain_arap *p, const tr_cage *cage )
{
    int a, b;
    double w;
    memset( p->cells, 0, (size_t)p->count * sizeof p->cells[0] );
    for ( int e = 0, edges = neighbour( cage, 0, &a, &b, &w ); e < edges; ++e ) {
        neighbour( cage, e, &a, &b, &w );
        vec3 r = v3_scale( w, v3_sub( cage->rest[a], cage->rest[b] ) ), d = v3_sub( p->v[a], p->v[b] );
        for ( int side = 0; side < 2; ++side ) {
            mat3 *m = &p->cells[side == 0 ? a : b];
            m->cx = v3_mad( m->cx, r.x, d ), m->cy = v3_mad( m->cy, r.y, d ), m->cz = v3_mad( m->cz, r.z, d );
        }
    }
    for ( int v = 0; v < p->count; ++v )
        p->turns[v] = q_fit( p->cells[v] );
}

static void plain_add( plain_arap *p, int v, int other, double weight, vec3 pull )
{
    int f = p->unknowns[v];
    if ( f < 0 )
        return;
    if ( p->unknowns[other] < 0 ) // held: its column goes to the right
        pull = v3_mad( pull, weight * STIFFNESS, p->v[other] );
    p->b[3 * f] += pull.x, p->b[3 * f + 1] += pull.y, p->b[3 * f + 2] += pull.z;
}

void plain_arap_positions( plain_arap *p, const tr_cage *cage )
{
    int a, b;
    double w;
    for ( int v = 0; v < p->count; ++v )
        if ( p->unknowns[v] >= 0 ) {
            double *at = p->b + 3 * p->unknowns[v];
            at[0] = ANCHOR * cage->rest[v].x, at[1] = ANCHOR * cage->rest[v].y,
            at[2] = ANCHOR * cage->rest[v].z;
        }
    for ( int e = 0, edges = neighbour( cage, 0, &a, &b, &w ); e < edges; ++e ) {
        neighbour( cage, e, &a, &b, &w );
        vec3 r = v3_scale( w, v3_sub( cage->rest[a], cage->rest[b] ) );
        vec3 pull = v3_add( q_rotate( p->turns[a], r ), q_rotate( p->turns[b], r ) );
        pull = v3_mad( pull, STIFFNESS - 2, r );
        plain_add( p, a, b, w, pull );
        plain_add( p, b, a, w, v3_negate( pull ) );
    }
    tr_ldl_solve( &p->ldl, p->b, 3, p->work );
    for ( int v = 0; v < p->count; ++v )
        if ( p->unknowns[v] >= 0 ) {
            const double *at = p->b + 3 * p->unknowns[v];
            p->v[v] = v3( at[0], at[1], at[2] );
        }
}
