// How well relative positions are kept: the source's interaction mesh, measured on the result.
#include "imesh/imesh.h"
#include "measure/private.h"

#include <string.h>

enum { blocks_at_once = 16 }; // between two reports of progress

// The vertices are joints of the result that have a joint in the source. A joint at the same place as its
// parent in the source's rest pose is left out.
typedef struct mesh_vertex {
    int performer, joint, source; // source: joint of the source's performer
} mesh_vertex;

typedef struct mesh_scan {
    double short_bone, nearest; // see tr_measure_def
    const tr_take *take, *source;
    mesh_vertex *vertices; // [count]
    int count;
    int ( *bones )[2]; // [bone_count] indices of vertices
    int bone_count;
    double *sums; // [frame_count] of squares
    bool *failed; // [frame_count]
    int begin;    // frame from which blocks count
} mesh_scan;

static void add_performer( mesh_scan *scan, int performer, int *vertex_of )
{
    const tr_performer *p = &scan->take->performers[performer], *from = &scan->source->performers[performer];
    for ( int j = 0; j < p->skeleton->joint_count; ++j ) {
        int parent = p->skeleton->joints[j].parent, source = tr_performer_source( p, j );
        int above = parent >= 0 ? vertex_of[parent] : -1;
        vertex_of[j] = above;
        if ( source < 0 || ( above >= 0 && tr_bone_length( from->skeleton, source ) < scan->short_bone ) )
            continue;
        vertex_of[j] = scan->count;
        scan->vertices[scan->count++] = ( mesh_vertex ){ performer, j, source };
        if ( above >= 0 ) {
            scan->bones[scan->bone_count][0] = vertex_of[j];
            scan->bones[scan->bone_count++][1] = above;
        }
    }
}

static bool choose_vertices( mesh_scan *scan )
{
    size_t most = 0, largest = 0;
    for ( int c = 0; c < scan->take->performer_count; ++c ) {
        size_t joints = (size_t)scan->take->performers[c].skeleton->joint_count;
        most += joints;
        largest = joints > largest ? joints : largest;
    }
    int *vertex_of = tr_alloc( largest, sizeof( int ) );
    scan->vertices = tr_alloc( most, sizeof *scan->vertices );
    scan->bones = tr_alloc( most, sizeof *scan->bones );
    bool ok = vertex_of != NULL && scan->vertices != NULL && scan->bones != NULL;
    for ( int c = 0; ok && c < scan->take->performer_count; ++c )
        add_performer( scan, c, vertex_of );
    tr_free( vertex_of );
    return ok;
}

// Σ over vertices of ‖δ(out) − δ(source)‖², neighbours and weights of the source.
static bool sum_frame( const mesh_scan *scan, int frame, vec3 *points, tr_delaunay *scratch, double *sum )
{
    vec3 *now = points + scan->count;
    tr_imesh_web web;
    for ( int v = 0; v < scan->count; ++v ) {
        const mesh_vertex *vertex = &scan->vertices[v];
        points[v] = tr_performer_at( &scan->source->performers[vertex->performer], frame, vertex->source );
        now[v] = tr_performer_at( &scan->take->performers[vertex->performer], frame, vertex->joint );
    }
    tr_imesh_points all = { points, scan->count, (const int( * )[2])scan->bones, scan->bone_count,
                            scan->nearest };
    if ( !tr_imesh_web_build( &web, scratch, &all, NULL ) )
        return false;
    *sum = 0;
    for ( int v = 0; v < scan->count; ++v ) {
        vec3 d = v3_sub( tr_imesh_laplacian( &web, now, v ), tr_imesh_laplacian( &web, points, v ) );
        *sum += v3_dot( d, d );
    }
    tr_imesh_web_free( &web );
    return true;
}

static void scan_meshes( void *context, int begin, int end )
{
    mesh_scan *scan = context;
    tr_delaunay scratch = { .scattered = true };
    vec3 *points = tr_alloc( 2 * (size_t)scan->count, sizeof( vec3 ) );
    for ( int f = scan->begin + begin; f < scan->begin + end; ++f )
        scan->failed[f] = points == NULL || !sum_frame( scan, f, points, &scratch, &scan->sums[f] );
    tr_free( points );
    tr_delaunay_free( &scratch );
}

// In parts, so that it can be cancelled.
static bool scan_all( mesh_scan *scan, const tr_progress *progress )
{
    const int frames = scan->take->frame_count, at_once = blocks_at_once * TR_MEASURE_BLOCK;
    mesh_scan part = *scan;
    tr_error stopped;
    for ( int f = 0; f < frames; f += at_once ) {
        part.begin = f;
        int count = frames - f < at_once ? frames - f : at_once;
        tr_parallel_for( count, TR_MEASURE_BLOCK, scan_meshes, &part );
        if ( !tr_progress_report( progress, f + count, frames, &stopped ) )
            return false;
    }
    return true;
}

// Mean length of the source's bones between vertices.
static double mean_bone( const mesh_scan *scan )
{
    double sum = 0;
    for ( int i = 0; i < scan->bone_count; ++i ) {
        const mesh_vertex *vertex = &scan->vertices[scan->bones[i][0]];
        sum += tr_bone_length( scan->source->performers[vertex->performer].skeleton, vertex->source );
    }
    return scan->bone_count > 0 ? sum / scan->bone_count : 1;
}

bool tr_measure_laplacian( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    mesh_scan scan = {
        .short_bone = m->def.short_bone, .nearest = m->def.nearest, .take = take, .source = &m->source };
    size_t frames = (size_t)take->frame_count;
    bool ok = choose_vertices( &scan );
    scan.sums = tr_alloc( frames, sizeof( double ) );
    scan.failed = tr_alloc( frames, sizeof( bool ) );
    ok = ok && scan.sums != NULL && scan.failed != NULL;
    if ( ok && scan.count < 2 )
        tr_figures_null( figures, "the scene has no two joints to compare" );
    else if ( ok ) {
        double sum = 0, bone = mean_bone( &scan );
        if ( take != &m->source ) // the source deviates from itself by nothing
            ok = scan_all( &scan, m->stage->progress );
        for ( int f = 0; f < take->frame_count; ++f ) {
            sum += scan.sums[f];
            ok = ok && !scan.failed[f];
        }
        figures->values[0] = sum / ( (double)take->frame_count * scan.count * bone * bone );
    }
    tr_free( scan.vertices );
    tr_free( scan.bones );
    tr_free( scan.sums );
    tr_free( scan.failed );
    return ok;
}
