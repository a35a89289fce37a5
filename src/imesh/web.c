// Neighbours of the points of a frame, and their weights.
#include "imesh/private.h"

#include <string.h>

typedef struct weaving {
    const tr_delaunay *mesh;
    const vec3 *points;
    const int *ends; // [2 * bone_count] of bones; the other end of ends[i] is ends[i ^ 1]
    tr_lists bones;  // by point: where it stands in `ends`
    double nearest;
} weaving;

static bool joined( const weaving *w, int a, int b )
{
    for ( int i = w->bones.first[a]; i < w->bones.first[a + 1]; ++i )
        if ( w->ends[w->bones.items[i] ^ 1] == b )
            return true;
    return false;
}

// Neighbours of a point with their weights behind `at`; returns how many. A twin has those of the point it
// lies on, and that point.
static int weave( const weaving *w, int point, int *neighbours, double *weights )
{
    int twin = w->mesh->twin[point], count = 0;
    double sum = 0;
    for ( int i = w->mesh->start[twin] - ( twin != point ); i < w->mesh->start[twin + 1]; ++i ) {
        int other = i < w->mesh->start[twin] ? twin : w->mesh->neighbours[i];
        if ( joined( w, point, other ) )
            continue;
        neighbours[count] = other;
        weights[count] = 1 / fmax( v3_distance( w->points[point], w->points[other] ), w->nearest );
        sum += weights[count++];
    }
    for ( int i = 0; i < count; ++i )
        weights[i] /= sum;
    return count;
}

// Bones are no neighbours, and a mesh holds many webs: gives back what they left free, if that is possible.
static void shrink( tr_imesh_web *web, int count )
{
    size_t used = (size_t)web->start[count];
    int *neighbours = used > 0 ? tr_realloc( web->neighbours, used, sizeof( int ) ) : NULL;
    web->neighbours = neighbours != NULL ? neighbours : web->neighbours;
    double *weights = used > 0 ? tr_realloc( web->weights, used, sizeof( double ) ) : NULL;
    web->weights = weights != NULL ? weights : web->weights;
}

bool tr_imesh_web_build( tr_imesh_web *out, tr_delaunay *scratch, const tr_imesh_points *of, tr_error *error )
{
    int count = of->count;
    *out = ( tr_imesh_web ){ 0 };
    if ( !tr_delaunay_build( scratch, of->points, count, error ) )
        return false;
    size_t most = (size_t)scratch->start[count] + (size_t)count; // twins: at most …
    for ( int i = 0; i < count; ++i )
        if ( scratch->twin[i] != i )
            most += (size_t)( scratch->start[scratch->twin[i] + 1] - scratch->start[scratch->twin[i]] );
    weaving w = {
        .mesh = scratch, .points = of->points, .ends = (const int *)of->bones, .nearest = of->nearest };
    bool ok = tr_lists_build( &w.bones, w.ends, 2 * of->bone_count, count );
    out->start = tr_alloc( (size_t)count + 1, sizeof( int ) );
    out->neighbours = tr_alloc( most, sizeof( int ) );
    out->weights = tr_alloc( most, sizeof( double ) );
    out->tets = tr_alloc( (size_t)scratch->tet_count, sizeof *out->tets );
    ok = ok && out->start != NULL && out->neighbours != NULL && out->weights != NULL && out->tets != NULL;
    if ( ok ) {
        for ( int i = 0, used = 0; i < count; ++i ) {
            used += weave( &w, i, out->neighbours + used, out->weights + used );
            out->start[i + 1] = used;
        }
        shrink( out, count );
        if ( scratch->tet_count > 0 )
            memcpy( out->tets, scratch->tets, (size_t)scratch->tet_count * sizeof *out->tets );
        out->tet_count = scratch->tet_count;
    } else
        tr_imesh_web_free( out );
    tr_lists_free( &w.bones );
    return ok || tr_error_memory( error );
}

void tr_imesh_web_free( tr_imesh_web *web )
{
    tr_free( web->start );
    tr_free( web->neighbours );
    tr_free( web->weights );
    tr_free( web->tets );
    *web = ( tr_imesh_web ){ 0 };
}

vec3 tr_imesh_laplacian( const tr_imesh_web *web, const vec3 *points, int vertex )
{
    if ( web->start[vertex] == web->start[vertex + 1] )
        return v3_zero;
    vec3 sum = points[vertex];
    for ( int i = web->start[vertex]; i < web->start[vertex + 1]; ++i )
        sum = v3_mad( sum, -web->weights[i], points[web->neighbours[i]] );
    return sum;
}
