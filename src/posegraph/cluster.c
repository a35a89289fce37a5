// Clusters: graphs, the points of them that can be constrained, and the rows between those.
#include "posegraph/posegraph.h"

#include <assert.h>
#include <math.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------- graphs

int tr_cluster_add_graph( tr_cluster *cluster, const tr_posegraph *graph )
{
    int needed = cluster->graph_count + 1, capacity = cluster->graph_capacity;
    if ( !tr_array_reserve( (void **)&cluster->graphs, &capacity, needed, sizeof *cluster->graphs ) ||
         !tr_array_reserve( (void **)&cluster->points, &cluster->graph_capacity, needed,
                            sizeof( tr_sparse ) ) )
        return -1;
    cluster->graphs[cluster->graph_count] = graph;
    cluster->points[cluster->graph_count] = ( tr_sparse ){ .column_count = 3 * graph->joint_count };
    return cluster->graph_count++;
}

// ------------------------------------------------------------------------------------------------- points

static bool same_row( const tr_sparse *rows, int a, int b )
{
    int count = rows->start[a + 1] - rows->start[a];
    return count == rows->start[b + 1] - rows->start[b] &&
           memcmp( rows->columns + rows->start[a], rows->columns + rows->start[b],
                   (size_t)count * sizeof( int ) ) == 0 &&
           memcmp( rows->values + rows->start[a], rows->values + rows->start[b],
                   (size_t)count * sizeof( double ) ) == 0;
}

// Takes the last row away again.
static void drop_last( tr_sparse *rows )
{
    rows->row_count--;
    rows->entry_count = rows->start[rows->row_count];
}

// Index of the last row, or of the one it repeats.
static int settle( tr_sparse *rows, bool complete )
{
    int last = rows->row_count - 1;
    if ( complete )
        for ( int r = 0; r <= last; ++r )
            if ( r == last || same_row( rows, r, last ) ) {
                if ( r < last )
                    drop_last( rows );
                return r;
            }
    drop_last( rows );
    return -1;
}

static bool extend_joint( tr_sparse *rows, int joint, double weight )
{
    return tr_sparse_extend( rows, 3 * joint, weight / 3 ) &&
           tr_sparse_extend( rows, 3 * joint + 1, weight / 3 ) &&
           tr_sparse_extend( rows, 3 * joint + 2, weight / 3 );
}

// offset = α e₀ + β e₁ + γ bone with e₀, e₁ the first two corners, which are at 120° to each other, and the
// bone perpendicular to both. A joint without any bone cannot carry what stands out of its plane.
static bool extend_offset( tr_sparse *rows, const tr_posegraph *g, int joint, vec3 offset )
{
    const vec3 *e = g->corners + 3 * joint;
    double square = v3_dot( e[0], e[0] ), across = v3_dot( e[0], e[1] );
    double det = square * square - across * across, a = v3_dot( offset, e[0] ), b = v3_dot( offset, e[1] );
    double alpha = ( a * square - b * across ) / det, beta = ( b * square - a * across ) / det;
    bool ok = tr_sparse_extend( rows, 3 * joint, alpha ) && tr_sparse_extend( rows, 3 * joint + 1, beta ) &&
              extend_joint( rows, joint, -alpha - beta );
    vec3 bone = g->bones[joint];
    if ( ok && v3_length( bone ) > 0 ) {
        double gamma = v3_dot( offset, bone ) / v3_dot( bone, bone );
        int to = g->facing[joint] >= 0 ? g->facing[joint] : joint;
        int from = g->facing[joint] >= 0 ? joint : g->parents[joint];
        ok = extend_joint( rows, to, gamma ) && extend_joint( rows, from, -gamma );
    }
    return ok;
}

int tr_cluster_add_point( tr_cluster *cluster, int graph, const int *joints, const double *weights, int count,
                          vec3 offset )
{
    assert( graph >= 0 && graph < cluster->graph_count && count > 0 );
    tr_sparse *rows = &cluster->points[graph];
    if ( !tr_sparse_add( rows, NULL, NULL, 0 ) )
        return -1;
    bool ok = true;
    for ( int i = 0; ok && i < count; ++i ) {
        assert( joints[i] >= 0 && joints[i] < cluster->graphs[graph]->joint_count );
        ok = extend_joint( rows, joints[i], weights[i] );
    }
    if ( ok && v3_length( offset ) > 0 )
        ok = extend_offset( rows, cluster->graphs[graph], joints[0], offset );
    return settle( rows, ok );
}

int tr_cluster_add_joint( tr_cluster *cluster, int graph, int joint )
{
    const double one = 1;
    return tr_cluster_add_point( cluster, graph, &joint, &one, 1, v3_zero );
}

int tr_cluster_add_corner( tr_cluster *cluster, int graph, int joint, int corner )
{
    assert( corner >= 0 && corner < 3 );
    tr_sparse *rows = &cluster->points[graph];
    if ( !tr_sparse_add( rows, NULL, NULL, 0 ) )
        return -1;
    return settle( rows, tr_sparse_extend( rows, 3 * joint + corner, 1 ) && extend_joint( rows, joint, -1 ) );
}

int tr_cluster_add_mass( tr_cluster *cluster, int graph, const double *masses )
{
    tr_sparse *rows = &cluster->points[graph];
    double total = 0;
    for ( int j = 0; j < cluster->graphs[graph]->joint_count; ++j )
        total += masses[j];
    if ( !tr_sparse_add( rows, NULL, NULL, 0 ) )
        return -1;
    bool ok = true;
    for ( int j = 0; ok && j < cluster->graphs[graph]->joint_count; ++j )
        if ( masses[j] > 0 )
            ok = extend_joint( rows, j, masses[j] / total );
    return settle( rows, ok );
}

int tr_cluster_add_row( tr_cluster *cluster, int graph_a, int point_a, int graph_b, int point_b )
{
    assert( graph_a >= 0 && point_a >= 0 && ( graph_b < 0 || point_b >= 0 ) );
    if ( !tr_array_reserve( (void **)&cluster->rows, &cluster->row_capacity, cluster->row_count + 1,
                            sizeof( tr_port_row ) ) )
        return -1;
    cluster->rows[cluster->row_count] = ( tr_port_row ){ { graph_a, graph_b }, { point_a, point_b } };
    return cluster->row_count++;
}

// ------------------------------------------------------------------------------------------------- paths

static void free_paths( tr_cluster *cluster )
{
    for ( int g = 0; cluster->paths != NULL && g < cluster->graph_count; ++g ) {
        for ( int p = 0; cluster->paths[g] != NULL && p < cluster->points[g].row_count; ++p )
            tr_free( cluster->paths[g][p].nodes );
        tr_free( cluster->paths[g] );
    }
    tr_free( cluster->paths );
    cluster->paths = NULL;
}

// A corner pulled away from its joint, the other joints at rest, is held by six edges of the triangle,
// counted as in the energy, and twice by every rail.
static void set_soft( const tr_posegraph *graph, tr_path_node *node )
{
    double mean = ( node->weights[0] + node->weights[1] + node->weights[2] ) / 3;
    int bones = graph->parents[node->joint] >= 0;
    for ( int j = node->joint + 1; j < graph->joint_count; ++j )
        bones += graph->parents[j] == node->joint;
    double stiffness = graph->def.edge * ( 6 + 2 * bones ) + graph->def.anchor;
    for ( int k = 0; k < 3; ++k )
        node->soft[k] = ( node->weights[k] - mean ) / sqrt( stiffness );
}

// `place` [joint_count] is scratch: the index of a joint on the path.
static bool build_path( const tr_posegraph *graph, const tr_sparse *points, int point, int *place,
                        tr_port_path *out )
{
    int begin = points->start[point], end = points->start[point + 1];
    memset( place, 0, (size_t)graph->joint_count * sizeof( int ) );
    for ( int e = begin; e < end; ++e )
        for ( int j = points->columns[e] / 3; j >= 0 && !place[j]; j = graph->parents[j] ) {
            place[j] = 1;
            out->count++;
        }
    out->nodes = tr_alloc( (size_t)out->count, sizeof( tr_path_node ) );
    if ( out->nodes == NULL )
        return false;
    for ( int j = 0, i = out->count; j < graph->joint_count;
          ++j ) { // parents come first in joints, last here
        if ( !place[j] )
            continue;
        place[j] = --i;
        out->nodes[i] =
            ( tr_path_node ){ .joint = j, .up = graph->parents[j] < 0 ? -1 : place[graph->parents[j]] };
    }
    for ( int e = begin; e < end; ++e ) {
        tr_path_node *node = &out->nodes[place[points->columns[e] / 3]];
        node->weights[points->columns[e] % 3] += points->values[e];
        node->acts = true;
    }
    int acting = 0;
    for ( int i = 0; i < out->count; ++i ) {
        set_soft( graph, &out->nodes[i] );
        acting += out->nodes[i].acts;
        out->lone = out->nodes[i].acts ? i : out->lone;
    }
    out->lone = acting == 1 ? out->lone : -1;
    return true;
}

static bool build_paths( tr_cluster *cluster )
{
    int most = 0;
    for ( int g = 0; g < cluster->graph_count; ++g )
        most = cluster->graphs[g]->joint_count > most ? cluster->graphs[g]->joint_count : most;
    int *place = tr_alloc( (size_t)most, sizeof( int ) );
    cluster->paths = tr_alloc( (size_t)cluster->graph_count, sizeof( tr_port_path * ) );
    bool ok = place != NULL && cluster->paths != NULL;
    for ( int g = 0; ok && g < cluster->graph_count; ++g ) {
        const tr_sparse *points = &cluster->points[g];
        cluster->paths[g] = tr_alloc( (size_t)points->row_count, sizeof( tr_port_path ) );
        ok = cluster->paths[g] != NULL;
        for ( int p = 0; ok && p < points->row_count; ++p )
            ok = build_path( cluster->graphs[g], points, p, place, &cluster->paths[g][p] );
    }
    tr_free( place );
    return ok;
}

// ------------------------------------------------------------------------------------------------- factor

static void free_factor( tr_cluster *cluster )
{
    free_paths( cluster );
    tr_system_free( &cluster->transfer );
    tr_system_free( &cluster->deform );
    for ( int g = 0; g < cluster->graph_count; ++g ) {
        if ( cluster->transfer_ports != NULL )
            tr_ports_free( &cluster->transfer_ports[g] );
        if ( cluster->deform_ports != NULL )
            tr_ports_free( &cluster->deform_ports[g] );
    }
    tr_free( cluster->transfer_ports );
    tr_free( cluster->deform_ports );
    cluster->transfer_ports = cluster->deform_ports = NULL;
}

static bool build_system( const tr_cluster *cluster, bool deform, tr_ports *ports, const tr_ports **list,
                          tr_system *out, tr_error *error )
{
    for ( int g = 0; g < cluster->graph_count; ++g ) {
        const tr_posegraph *graph = cluster->graphs[g];
        if ( !tr_ports_build( &ports[g], deform ? &graph->deform : &graph->transfer, &cluster->points[g],
                              error ) )
            return false;
        list[g] = &ports[g];
    }
    return tr_system_build( out, list, cluster->graph_count, cluster->rows, cluster->row_count, error );
}

bool tr_cluster_factor( tr_cluster *cluster, tr_error *error )
{
    free_factor( cluster );
    size_t n = (size_t)cluster->graph_count;
    const tr_ports **list = tr_alloc( n, sizeof *list );
    cluster->transfer_ports = tr_alloc( n, sizeof( tr_ports ) );
    cluster->deform_ports = tr_alloc( n, sizeof( tr_ports ) );
    bool ok = ( list != NULL && cluster->transfer_ports != NULL && cluster->deform_ports != NULL &&
                build_paths( cluster ) ) ||
              tr_error_memory( error );
    ok = ok && build_system( cluster, false, cluster->transfer_ports, list, &cluster->transfer, error ) &&
         build_system( cluster, true, cluster->deform_ports, list, &cluster->deform, error );
    tr_free( list );
    if ( !ok )
        free_factor( cluster );
    return ok;
}

double tr_cluster_compliance( const tr_cluster *cluster, int row, bool hard, double weight, double strength )
{
    if ( !( strength > 0 ) || ( !hard && !( weight > 0 ) ) )
        return TR_ROW_OFF;
    double own = hard ? 0.0 : 1.0 / weight;
    return strength < 1 ? own + tr_system_flexibility( &cluster->deform, row ) * ( 1.0 - strength ) / strength
                        : own;
}

void tr_cluster_free( tr_cluster *cluster )
{
    free_factor( cluster );
    for ( int g = 0; g < cluster->graph_count; ++g )
        tr_sparse_free( &cluster->points[g] );
    tr_free( cluster->graphs );
    tr_free( cluster->points );
    tr_free( cluster->rows );
    memset( cluster, 0, sizeof *cluster );
}
