// The outline of a layer's cage, for programs that draw it and pick its vertices.
#include "layer/private.h"

#include <string.h>

static const double at_end = 1e-9; // share of half a box: a coordinate this near to ±1 is at an end

// Along an edge of the box two of the three coordinates stay at the same end.
static bool is_along_edge( const tr_cage *cage, const int edge[2] )
{
    vec3 a = cage->shape[edge[0]], b = cage->shape[edge[1]];
    const double from[3] = { a.x, a.y, a.z }, to[3] = { b.x, b.y, b.z };
    int same = 0;
    for ( int i = 0; i < 3; ++i )
        same += fabs( from[i] ) > 1 - at_end && fabs( from[i] - to[i] ) < at_end;
    return same >= 2;
}

static void find_edges( tr_cage_outline *shape, const tr_cage *cage )
{
    for ( int e = 0; e < cage->edge_count; ++e )
        if ( is_along_edge( cage, cage->edges[e] ) )
            memcpy( shape->edges[shape->edge_count++], cage->edges[e], sizeof shape->edges[0] );
    for ( int v = 0; v < cage->vertex_count; ++v ) {
        vec3 s = cage->shape[v];
        if ( fabs( s.x ) + fabs( s.y ) + fabs( s.z ) > 3 - at_end )
            shape->corners[( s.x > 0 ) + 2 * ( s.y > 0 ) + 4 * ( s.z > 0 )] = v;
    }
}

void tr_cage_outline_read( tr_cage_outline *shape, const tr_cage *cage )
{
    for ( int k = 0; k < shape->section_count; ++k ) {
        int frame = shape->frames[k];
        tr_cage_section_moved( cage, frame, shape->moved + k * shape->vertex_count );
        rigid motion = tr_cage_motion( cage, frame );
        vec3 centre = cage->places[frame - cage->begin].position;
        shape->shift[k] = v3_sub( rigid_apply( motion, centre ), centre );
        shape->turn[k] = v3_scale( 1.0 / TR_DEGREE, q_to_vector( motion.rotation ) );
    }
}

bool tr_cage_outline_build( tr_cage_outline *out, const tr_cage_layer *l, tr_error *error )
{
    const tr_cage *cage = &l->cage;
    int frames[TR_CAGE_MAX_SECTIONS], count = tr_cage_layer_sections( l, frames );
    *out = ( tr_cage_outline ){ .first = l->grab->first,
                                .last = l->grab->last,
                                .section_count = count,
                                .vertex_count = cage->vertex_count,
                                .begin = l->begin,
                                .row_count = l->frame_count,
                                .point_count = l->point_count };
    memcpy( out->layer, l->layer->id, sizeof out->layer );
    if ( !tr_cage_outline_alloc( out, cage->edge_count ) )
        return tr_error_memory( error );
    find_edges( out, cage );
    memcpy( out->frames, frames, (size_t)count * sizeof( int ) );
    for ( int k = 0; k < count; ++k )
        tr_cage_section( cage, frames[k], out->rest + k * cage->vertex_count );
    memcpy( out->bound, l->bound, (size_t)l->point_count * sizeof( tr_bound_point ) );
    for ( int f = 0; f < l->frame_count; ++f )
        for ( int p = 0; p < l->point_count; ++p )
            out->before[(size_t)f * (size_t)l->point_count + (size_t)p] =
                l->before[tr_layer_cell( l, l->begin + f, p )];
    tr_cage_outline_read( out, cage );
    return true;
}
