// How much larger the target is, vertex by vertex, and how the source would move with the target's
// proportions.
#include "imesh/private.h"

// The growth of each vertex. A joint: the mean of its bones; a surface vertex: that of its bone's ends; a
// corner: that of the box.
static bool find_growth( tr_imesh *mesh )
{
    double *counts = tr_alloc( (size_t)mesh->vertex_count, sizeof( double ) );
    for ( int l = 0; counts != NULL && l < mesh->link_count; ++l ) {
        const tr_imesh_link *link = &mesh->links[l];
        for ( int k = 0; link->bone && k < 2; ++k ) {
            mesh->growth[k == 0 ? link->a : link->b] += link->ratio;
            counts[k == 0 ? link->a : link->b]++;
        }
    }
    for ( int v = 0; counts != NULL && v < mesh->vertex_count; ++v ) {
        const tr_imesh_vertex *vertex = &mesh->vertices[v];
        mesh->growth[v] = counts[v] > 0 ? mesh->growth[v] / counts[v] : 1;
        if ( vertex->kind == TR_IMESH_SURFACE )
            mesh->growth[v] = 0.5 * ( mesh->growth[vertex->ends[0]] + mesh->growth[vertex->ends[1]] );
        else if ( vertex->kind == TR_IMESH_CORNER ) {
            const tr_imesh_box *box = &mesh->cast.boxes[vertex->owner];
            double source = v3_length( box->source_size );
            mesh->growth[v] = source > 0 ? v3_length( box->target_size ) / source : 1;
        }
    }
    bool ok = counts != NULL;
    tr_free( counts );
    return ok;
}

// The stretch of a joint's offset from its parent is that of the bone; of the first joint that of the body's
// height, which also scales its path.
static void find_stretch( tr_imesh *mesh, const tr_imesh_embodiment *bodies )
{
    for ( int v = 0; v < mesh->vertex_count; ++v ) {
        const tr_imesh_vertex *vertex = &mesh->vertices[v];
        bool first = vertex->kind == TR_IMESH_JOINT && vertex->ends[0] < 0;
        const tr_imesh_embodiment *e = first ? &bodies[vertex->owner] : NULL;
        mesh->stretch[v] =
            first && e->source.height > 0 ? e->target.height / e->source.height : mesh->growth[v];
    }
    for ( int l = 0; l < mesh->link_count; ++l ) {
        const tr_imesh_link *link = &mesh->links[l];
        for ( int k = 0; link->bone && k < 2; ++k ) {
            int joint = k == 0 ? link->a : link->b, above = k == 0 ? link->b : link->a;
            if ( mesh->vertices[joint].ends[0] == above )
                mesh->stretch[joint] = link->ratio;
        }
    }
}

bool tr_imesh_growth_build( tr_imesh *mesh, const tr_imesh_embodiment *bodies )
{
    mesh->growth = tr_alloc( (size_t)mesh->vertex_count, sizeof( double ) );
    mesh->stretch = tr_alloc( (size_t)mesh->vertex_count, sizeof( double ) );
    if ( mesh->growth == NULL || mesh->stretch == NULL || !find_growth( mesh ) )
        return false;
    find_stretch( mesh, bodies );
    return true;
}

// Bone by bone from the first joint of a body, corners about the middle of their box.
void tr_imesh_grow( const tr_imesh *mesh, int frame, vec3 *out )
{
    const vec3 *source = tr_imesh_frame( mesh, mesh->source, frame );
    for ( int v = 0; v < mesh->vertex_count; ++v ) {
        const tr_imesh_vertex *vertex = &mesh->vertices[v];
        vec3 from = v3_zero, to = v3_zero;
        if ( vertex->kind == TR_IMESH_CORNER ) {
            from = v3_lerp( source[v - vertex->part], source[v - vertex->part + TR_IMESH_CORNERS - 1], 0.5 );
            to = v3_scale( mesh->def.relations, from );
        } else if ( vertex->kind == TR_IMESH_SURFACE ) {
            from = v3_lerp( source[vertex->ends[0]], source[vertex->ends[1]], 0.5 );
            to = v3_lerp( out[vertex->ends[0]], out[vertex->ends[1]], 0.5 );
        } else if ( vertex->ends[0] >= 0 ) {
            from = source[vertex->ends[0]];
            to = out[vertex->ends[0]];
        }
        out[v] = v3_mad( to, mesh->stretch[v], v3_sub( source[v], from ) );
    }
}
