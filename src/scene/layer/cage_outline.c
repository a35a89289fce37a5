// What there is to see of the cage of a layer, for who draws it and takes hold of it.
#include "scene/layer/layer.h"

#include <string.h>

// Along an edge of the box two of the three coordinates stay at the same end.
static bool is_along_edge( const tr_cage *cage, const int edge[2] )
{
    vec3 a = cage->shape[edge[0]], b = cage->shape[edge[1]];
    const double from[3] = { a.x, a.y, a.z }, to[3] = { b.x, b.y, b.z };
    int same = 0;
    for ( int i = 0; i < 3; ++i )
        same += fabs( from[i] ) > 1 - 1e-9 && fabs( from[i] - to[i] ) < 1e-9;
    return same >= 2;
}

static void find_edges( tr_cage_outline *shape, const tr_cage *cage )
{
    for ( int e = 0; e < cage->edge_count; ++e )
        if ( is_along_edge( cage, cage->edges[e] ) )
            memcpy( shape->edges[shape->edge_count++], cage->edges[e], sizeof shape->edges[0] );
    for ( int v = 0; v < cage->vertex_count; ++v ) {
        vec3 s = cage->shape[v];
        if ( fabs( s.x ) + fabs( s.y ) + fabs( s.z ) > 3 - 1e-9 )
            shape->corners[( s.x > 0 ) + 2 * ( s.y > 0 ) + 4 * ( s.z > 0 )] = v;
    }
}

static bool alloc( tr_cage_outline *shape, int edge_count )
{
    size_t sections = (size_t)shape->section_count, vertices = sections * (size_t)shape->vertex_count;
    size_t points = (size_t)shape->point_count;
    shape->frames = tr_alloc( sections, sizeof( int ) );
    shape->edges = tr_alloc( (size_t)edge_count, sizeof shape->edges[0] );
    shape->rest = tr_alloc( vertices, sizeof( vec3 ) );
    shape->moved = tr_alloc( vertices, sizeof( vec3 ) );
    shape->shift = tr_alloc( sections, sizeof( vec3 ) );
    shape->turn = tr_alloc( sections, sizeof( vec3 ) );
    shape->bound = tr_alloc( points, sizeof( tr_bound_point ) );
    shape->before = tr_alloc( points * (size_t)shape->row_count, sizeof( vec3 ) );
    return shape->frames != NULL && shape->edges != NULL && shape->rest != NULL && shape->moved != NULL &&
           shape->shift != NULL && shape->turn != NULL && shape->bound != NULL && shape->before != NULL;
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
    if ( !alloc( out, cage->edge_count ) )
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

void tr_cage_outline_free( tr_cage_outline *shape )
{
    tr_free( shape->frames );
    tr_free( shape->edges );
    tr_free( shape->rest );
    tr_free( shape->moved );
    tr_free( shape->shift );
    tr_free( shape->turn );
    tr_free( shape->bound );
    tr_free( shape->before );
    *shape = ( tr_cage_outline ){ 0 };
}

bool tr_cage_outline_copy( tr_cage_outline *out, const tr_cage_outline *in, tr_error *error )
{
    *out = *in;
    if ( !alloc( out, in->edge_count ) ) {
        tr_cage_outline_free( out );
        return tr_error_memory( error );
    }
    size_t vertices = (size_t)in->section_count * (size_t)in->vertex_count;
    memcpy( out->frames, in->frames, (size_t)in->section_count * sizeof( int ) );
    memcpy( out->edges, in->edges, (size_t)in->edge_count * sizeof in->edges[0] );
    memcpy( out->rest, in->rest, vertices * sizeof( vec3 ) );
    memcpy( out->bound, in->bound, (size_t)in->point_count * sizeof( tr_bound_point ) );
    memcpy( out->before, in->before, (size_t)in->point_count * (size_t)in->row_count * sizeof( vec3 ) );
    tr_cage_outline_follow( out, in );
    return true;
}

void tr_cage_outline_follow( tr_cage_outline *shape, const tr_cage_outline *from )
{
    size_t sections = (size_t)shape->section_count;
    memcpy( shape->moved, from->moved, sections * (size_t)shape->vertex_count * sizeof( vec3 ) );
    memcpy( shape->shift, from->shift, sections * sizeof( vec3 ) );
    memcpy( shape->turn, from->turn, sections * sizeof( vec3 ) );
}

bool tr_cage_outline_before( const tr_cage_outline *shape, int node, int joint, int frame, vec3 *out )
{
    vec3 sum = v3_zero;
    int count = 0, row = frame - shape->begin;
    for ( int p = 0; row >= 0 && row < shape->row_count && p < shape->point_count; ++p )
        if ( shape->bound[p].node == node && ( joint < 0 || shape->bound[p].part == joint ) ) {
            sum = v3_add( sum, shape->before[(size_t)row * (size_t)shape->point_count + (size_t)p] );
            ++count;
        }
    if ( count > 0 )
        *out = v3_scale( 1.0 / count, sum );
    return count > 0;
}
