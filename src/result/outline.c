// The outline of the cage of a layer: memory.
#include "result/private.h"

#include <string.h>

bool tr_cage_outline_alloc( tr_cage_outline *shape, int edge_count )
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
    if ( !tr_cage_outline_alloc( out, in->edge_count ) ) {
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
