// Parts of a cluster. Most of the time few of its graphs are linked: people pass a box on, two at a time, and
// are separate before and after. In a block of frames, graphs that no row joins are independent, so each part
// is solved as a cluster of its own: its memory fits the cache, and the factor of its rows has no entries for
// rows of other parts.
#include "posegraph/private.h"

#include <string.h>

// ----------------------------------------------------------------------------------------------- which rows

bool tr_goal_is_on( const tr_goal *goal )
{
    return goal->compliance[0] >= 0 || goal->compliance[1] >= 0 || goal->compliance[2] >= 0;
}

void tr_join_graphs( const tr_port_row *row, int *set )
{
    if ( row->tree[1] >= 0 )
        tr_set_join( set, row->tree[0], row->tree[1] );
}

static void find_on( const tr_cluster_job *job, int begin, int end, bool *on )
{
    int rows = job->cluster->row_count;
    memset( on, 0, (size_t)rows * sizeof( bool ) );
    for ( int f = begin; f < end; ++f )
        for ( int r = 0; r < rows; ++r )
            on[r] = on[r] || tr_goal_is_on( &job->goals[(size_t)f * (size_t)rows + (size_t)r] );
}

// ---------------------------------------------------------------------------------------------------- parts

size_t tr_parts_bytes( const tr_cluster *cluster )
{
    tr_parts parts;
    char *none = NULL;
    return (size_t)( (uintptr_t)tr_parts_lay_out( &parts, cluster, none ) - (uintptr_t)none );
}

char *tr_parts_lay_out( tr_parts *parts, const tr_cluster *cluster, char *at )
{
    size_t graphs = (size_t)cluster->graph_count, rows = (size_t)cluster->row_count;
    *parts = ( tr_parts ){ .cluster = cluster };
    parts->on = tr_carve( &at, rows * sizeof( bool ) );
    parts->part_of = tr_carve( &at, graphs * sizeof( int ) );
    parts->local = tr_carve( &at, graphs * sizeof( int ) );
    parts->graphs = tr_carve( &at, graphs * sizeof( int ) );
    parts->rows = tr_carve( &at, rows * sizeof( int ) );
    parts->graph_begin = tr_carve( &at, ( graphs + 1 ) * sizeof( int ) );
    parts->row_begin = tr_carve( &at, ( graphs + 1 ) * sizeof( int ) );
    parts->graph_list = tr_carve( &at, graphs * sizeof( tr_posegraph * ) );
    parts->path_list = tr_carve( &at, graphs * sizeof( tr_port_path * ) );
    parts->tree_list = tr_carve( &at, graphs * sizeof( tr_ports * ) );
    parts->row_list = tr_carve( &at, rows * sizeof( tr_port_row ) );
    parts->order = tr_carve( &at, rows * sizeof( int ) );
    parts->dependent = tr_carve( &at, rows * sizeof( bool ) );
    return at;
}

// Numbers the parts by their first graphs and sorts graphs and rows by part, otherwise as they were.
static void sort( tr_parts *parts )
{
    const tr_cluster *cluster = parts->cluster;
    const int *order = cluster->deform.order;
    int graphs = cluster->graph_count, *part_of = parts->part_of,
        *row_parts = parts->order; // free until a view
    parts->count = 0;
    for ( int g = 0; g < graphs; ++g )
        part_of[g] = tr_set_find( part_of, g );
    for ( int g = 0; g < graphs; ++g ) // a part's number is known from its first graph on
        part_of[g] = part_of[g] == g ? parts->count++ : part_of[part_of[g]];
    tr_lists_fill( ( tr_lists ){ parts->graph_begin, parts->graphs }, part_of, graphs, parts->count );
    for ( int i = 0; i < graphs; ++i )
        parts->local[parts->graphs[i]] = i - parts->graph_begin[part_of[parts->graphs[i]]];
    for ( int o = 0; o < cluster->row_count; ++o )
        row_parts[o] = parts->on[order[o]] ? part_of[cluster->rows[order[o]].tree[0]] : -1;
    tr_lists_fill( ( tr_lists ){ parts->row_begin, parts->rows }, row_parts, cluster->row_count,
                   parts->count );
    for ( int i = 0; i < parts->row_begin[parts->count]; ++i )
        parts->rows[i] = order[parts->rows[i]];
}

void tr_parts_find( tr_parts *parts, const tr_cluster_job *job, int begin, int end )
{
    const tr_cluster *cluster = parts->cluster;
    find_on( job, begin, end, parts->on );
    for ( int g = 0; g < cluster->graph_count; ++g )
        parts->part_of[g] = g;
    for ( int r = 0; r < cluster->row_count; ++r )
        if ( parts->on[r] )
            tr_join_graphs( &cluster->rows[r], parts->part_of );
    sort( parts );
}

tr_part tr_parts_view( tr_parts *parts, int index, bool deform )
{
    const tr_cluster *whole = parts->cluster;
    const tr_system *system = deform ? &whole->deform : &whole->transfer;
    tr_part out = { .graphs = parts->graphs + parts->graph_begin[index],
                    .rows = parts->rows + parts->row_begin[index] };
    int graphs = parts->graph_begin[index + 1] - parts->graph_begin[index],
        rows = parts->row_begin[index + 1] - parts->row_begin[index];
    for ( int g = 0; g < graphs; ++g ) {
        parts->graph_list[g] = whole->graphs[out.graphs[g]];
        parts->path_list[g] = whole->paths[out.graphs[g]];
        parts->tree_list[g] = system->trees[out.graphs[g]];
    }
    for ( int r = 0; r < rows; ++r ) {
        tr_port_row row = system->rows[out.rows[r]];
        for ( int e = 0; e < 2; ++e )
            row.tree[e] = row.tree[e] < 0 ? -1 : parts->local[row.tree[e]];
        parts->row_list[r] = row;
        parts->order[r] = r;
        parts->dependent[r] = system->dependent[out.rows[r]];
    }
    out.cluster = ( tr_cluster ){ .graphs = parts->graph_list,
                                  .graph_count = graphs,
                                  .rows = parts->row_list,
                                  .row_count = rows,
                                  .paths = parts->path_list };
    out.system = ( tr_system ){ .trees = parts->tree_list,
                                .tree_count = graphs,
                                .rows = parts->row_list,
                                .row_count = rows,
                                .order = parts->order,
                                .dependent = parts->dependent };
    return out;
}
