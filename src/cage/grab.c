// Preparing a solve: which vertices are held, the matrix of the others, and rows for points.
//
// K is the Laplacian of the edges, every edge counted for the cell at either end, plus the weak holds.
// Vertices that are held leave the matrix. A point in the section of frame t is a row h over the vertices of
// the keys around it; rows come in by H K⁻¹ Hᵀ, small and dense.
#include "cage/private.h"

#include <assert.h>
#include <string.h>

void tr_cage_solver_free( tr_cage_solver *solver )
{
    if ( solver == NULL )
        return;
    tr_ldl_free( &solver->ldl );
    tr_free( solver->memory );
    tr_free( solver );
}

void tr_cage_free( tr_cage *cage )
{
    tr_cage_solver_free( cage->solver );
    tr_mean_value_free( &cage->coordinates );
    tr_free( cage->shape );
    tr_free( cage->form );
    tr_free( cage->triangles );
    tr_free( cage->edges );
    tr_free( cage->places );
    tr_free( cage->extents );
    tr_free( cage->weights );
    tr_free( cage->sections );
    tr_free( cage->within );
    tr_free( cage->between );
    tr_free( cage->rest );
    tr_free( cage->moved );
    tr_free( cage->motions );
    tr_free( cage->drift );
    tr_free( cage->spin );
    tr_free( cage->residuals );
    tr_free( cage->residual_drift );
    tr_free( cage->bent );
    tr_free( cage->frames );
    tr_free( cage->frame_residuals );
    *cage = ( tr_cage ){ 0 };
}

static bool check_handle( const tr_cage *cage, const tr_cage_handle *h, int index, tr_error *error )
{
    bool point = h->kind == TR_HANDLE_POINT;
    assert( (unsigned)h->kind < TR_HANDLE_KINDS );
    if ( !point && ( h->section < 0 || h->section >= cage->section_count ) )
        return tr_error_set( error, "handle %d is on section %d, but the cage has sections 0 to %d", index,
                             h->section, cage->section_count - 1 );
    if ( h->kind == TR_HANDLE_VERTEX && ( h->vertex < 0 || h->vertex >= cage->vertex_count ) )
        return tr_error_set( error, "handle %d is on vertex %d, but a section has vertices 0 to %d", index,
                             h->vertex, cage->vertex_count - 1 );
    if ( point && ( h->frame < cage->first || h->frame > cage->last ) )
        return tr_error_set( error, "handle %d is at frame %d, but the cage reaches from %d to %d", index,
                             h->frame, cage->first, cage->last );
    if ( point && ( h->point < -1 || h->point >= cage->point_count ) )
        return tr_error_set( error, "handle %d is on point %d, but the cage holds points 0 to %d", index,
                             h->point, cage->point_count - 1 );
    if ( point && h->point < 0 && !v3_finite( h->place ) )
        return tr_error_set( error, "the place of handle %d is no number", index );
    return true;
}

// ---------------------------------------------------------------------------------------------------- memory

typedef struct sizes {
    size_t handles, count, free_count, round_count, neighbours, rows, entries, vertices;
} sizes;

// Lays the solver's arrays out from `base`, or only counts when that is NULL. Returns bytes.
static size_t lay_out( tr_cage_solver *s, char *base, const sizes *n )
{
    char *at = base;
    s->handles = tr_carve( &at, n->handles * sizeof s->handles[0] );
    s->number = tr_carve( &at, n->count * sizeof( int ) );
    s->holder = tr_carve( &at, n->count * sizeof( int ) );
    s->anchors = tr_carve( &at, n->count * sizeof( float ) );
    s->start = tr_carve( &at, ( n->count + 1 ) * sizeof( int ) );
    s->neighbours = tr_carve( &at, n->neighbours * sizeof( int ) );
    s->links = tr_carve( &at, n->neighbours * sizeof s->links[0] );
    s->shapes = tr_carve( &at, n->round_count * sizeof s->shapes[0] );
    s->sums = tr_carve( &at, n->count * sizeof s->sums[0] );
    s->u = tr_carve( &at, n->round_count * sizeof s->u[0] );
    s->step = tr_carve( &at, n->count * sizeof s->step[0] );
    s->quats = tr_carve( &at, n->round_count * sizeof s->quats[0] );
    s->turns = tr_carve( &at, n->round_count * sizeof s->turns[0] );
    s->rows = tr_carve( &at, n->rows * sizeof s->rows[0] );
    s->entries = tr_carve( &at, n->entries * sizeof( int ) );
    s->entry_weights = tr_carve( &at, n->entries * sizeof( float ) );
    s->row_weights = tr_carve( &at, n->rows * n->vertices * sizeof( float ) );
    s->schur = tr_carve( &at, n->rows * n->rows * sizeof( double ) );
    s->response = tr_carve( &at, n->rows * n->free_count * sizeof( float ) );
    s->forces = tr_carve( &at, n->rows * sizeof( vec3 ) );
    s->history = tr_carve( &at, 2 * ( TR_CAGE_HISTORY + 1 ) * 4 * n->free_count * sizeof( float ) );
    return (size_t)( (uintptr_t)at - (uintptr_t)base );
}

// --------------------------------------------------------------------------------------------------- holders

static int frame_of( const tr_cage *cage, const tr_cage_handle *h )
{
    return h->kind == TR_HANDLE_POINT ? h->frame : cage->sections[h->section];
}

static bool beyond_falloff( const tr_cage *cage, int section, const tr_cage_handle *handles, int count )
{
    for ( int i = 0; i < count; ++i ) {
        int away = cage->sections[section] - frame_of( cage, &handles[i] );
        if ( !handles[i].local && ( away < 0 ? -away : away ) < cage->def.falloff )
            return false;
    }
    return cage->def.falloff > 0;
}

static void find_holders( const tr_cage *cage, const tr_cage_handle *handles, int count, int *holder )
{
    int vertices = cage->vertex_count, last = cage->section_count - 1;
    for ( int k = 0; k <= last; ++k ) {
        bool pinned = ( k == 0 && cage->def.start == TR_CAGE_PINNED ) ||
                      ( k == last && cage->def.end == TR_CAGE_PINNED ) ||
                      beyond_falloff( cage, k, handles, count );
        for ( int i = 0; i < vertices; ++i )
            holder[k * vertices + i] = pinned ? TR_CAGE_HELD_AT_REST : TR_CAGE_NOT_HELD;
    }
    for ( int h = count - 1; h >= 0; --h ) { // the first handle wins
        int begin =
            handles[h].section * vertices + ( handles[h].kind == TR_HANDLE_VERTEX ? handles[h].vertex : 0 );
        int end = begin + ( handles[h].kind == TR_HANDLE_VERTEX ? 1 : vertices );
        for ( int v = begin; handles[h].kind != TR_HANDLE_POINT && v < end; ++v )
            holder[v] = h;
    }
}

// ---------------------------------------------------------------------------------------------------- matrix

// The edges of the cage, those within keys first. Edge e has the ends 2e and 2e + 1: the other end of end h
// is h ^ 1. Vertices go by their index, not by their number.
typedef struct adjacency {
    int *ends;       // [2 * edges] vertices
    double *weights; // [edges]
    tr_lists at;     // the edge ends at each vertex
} adjacency;

static bool build_adjacency( const tr_cage *c, int count, adjacency *out, tr_error *error )
{
    int within = c->section_count * c->edge_count, between = ( c->section_count - 1 ) * c->vertex_count,
        edges = within + between;
    out->ends = tr_alloc( 2 * (size_t)edges, sizeof( int ) );
    out->weights = tr_alloc( (size_t)edges, sizeof( double ) );
    if ( out->ends == NULL || out->weights == NULL )
        return tr_error_memory( error );
    for ( int e = 0; e < edges; ++e ) {
        int *ends = out->ends + 2 * (size_t)e;
        if ( e < within ) {
            int base = e / c->edge_count * c->vertex_count;
            const int *edge = c->edges[e % c->edge_count];
            ends[0] = base + edge[0], ends[1] = base + edge[1], out->weights[e] = c->within[e];
        } else {
            ends[0] = e - within, ends[1] = ends[0] + c->vertex_count;
            out->weights[e] = c->between[ends[0] / c->vertex_count];
        }
    }
    return tr_lists_build( &out->at, out->ends, 2 * edges, count ) || tr_error_memory( error );
}

static void free_adjacency( adjacency *near )
{
    tr_free( near->ends );
    tr_free( near->weights );
    tr_lists_free( &near->at );
}

static bool add_entry( tr_sparse *m, int row, int column, double value )
{
    if ( column > row )
        return true;
    assert( row == m->row_count - 1 );
    return tr_sparse_extend( m, column, value );
}

// The stiffness of an edge of weight 1: its hold, plus its rigidity in the cells at both ends.
static float stiffness_of( const tr_cage *cage )
{
    return 2 + cage->def.hold.edge;
}

// The hold of a vertex to its rest: the weak one, and beside an ease the edge to where the ease ends.
static double anchor_of( const tr_cage *cage, int vertex )
{
    int key = vertex / cage->vertex_count;
    double weight =
        ( key == 0 ? cage->resting[0] : 0 ) + ( key == cage->section_count - 1 ? cage->resting[1] : 0 );
    return cage->def.hold.vertex + stiffness_of( cage ) * weight;
}

// K of the free vertices; unknown f of the matrix is vertex free_vertices[f]. Where no vertex is held
// and no end is eased, only the weak hold keeps K⁻¹ from shifting the whole cage by the rounding error of the
// pull, and the rows of points, which have to undo the shift, are nearly dependent beside it. Such a K is
// damped, which shortens steps but does not change where they lead.
static bool build_matrix( const tr_cage *cage, tr_cage_solver *s, const int *holder, const adjacency *near,
                          int *free_vertices, int *unknowns, tr_error *error )
{
    int count = cage->section_count * cage->vertex_count, free_count = 0;
    for ( int v = 0; v < count; ++v ) {
        unknowns[v] = holder[v] == TR_CAGE_NOT_HELD ? free_count : -1;
        if ( unknowns[v] >= 0 )
            free_vertices[free_count++] = v;
    }
    tr_sparse k = { .column_count = free_count };
    bool ok = true, damped = free_count == count && !( cage->resting[0] + cage->resting[1] > 0 );
    for ( int f = 0; ok && f < free_count; ++f ) {
        int v = free_vertices[f];
        double diagonal = damped ? cage->def.hold.damping : anchor_of( cage, v );
        ok = tr_sparse_add( &k, NULL, NULL, 0 );
        for ( int e = near->at.first[v]; ok && e < near->at.first[v + 1]; ++e ) {
            int end = near->at.items[e], other = unknowns[near->ends[end ^ 1]];
            diagonal += s->stiffness * near->weights[end / 2];
            ok = other < 0 || add_entry( &k, f, other, -s->stiffness * near->weights[end / 2] );
        }
        ok = ok && add_entry( &k, f, f, diagonal );
    }
    if ( !ok )
        tr_error_memory( error );
    s->free_count = free_count;
    ok = ok && tr_ldl_build( &s->ldl, &k, error );
    tr_sparse_free( &k );
    return ok;
}

static void number_vertices( const tr_cage *cage, tr_cage_solver *s, const int *holder, const int *unknowns )
{
    int held = s->free_count;
    for ( int v = 0; v < s->count; ++v ) {
        s->number[v] = unknowns[v] >= 0 ? s->ldl.place[unknowns[v]] : held++;
        s->holder[v] = holder[v];
        s->anchors[s->number[v]] = (float)anchor_of( cage, v );
    }
}

static void link_vertices( const tr_cage *cage, tr_cage_solver *s, const adjacency *near )
{
    for ( int v = 0; v < s->count; ++v )
        s->start[s->number[v] + 1] = near->at.first[v + 1] - near->at.first[v];
    for ( int i = 0; i < s->count; ++i )
        s->start[i + 1] += s->start[i];
    for ( int v = 0; v < s->count; ++v ) {
        int i = s->number[v], at = s->start[i];
        for ( int e = near->at.first[v]; e < near->at.first[v + 1]; ++e, ++at ) {
            int end = near->at.items[e], other = near->ends[end ^ 1];
            double w = near->weights[end / 2];
            bool within = v / cage->vertex_count == other / cage->vertex_count;
            vec3 r = within || !cage->def.carried ? v3_sub( cage->rest[v], cage->rest[other] )
                                                  : v3_zero; // then displacements alone are compared
            double d[3] = { r.x, r.y, r.z };
            s->neighbours[at] = s->number[other];
            s->links[at][3] = (float)w;
            for ( int c = 0; c < 3; ++c ) {
                s->links[at][c] = (float)( w * d[c] );
                s->sums[i][c] += (float)( w * d[c] );
                for ( int b = 0; b < 3; ++b )
                    s->shapes[i][c][b] += (float)( w * d[c] * d[b] );
            }
        }
    }
}

// ------------------------------------------------------------------------------------------------------ rows

static void add_point( const tr_cage *cage, tr_cage_solver *s, int handle )
{
    const tr_cage_handle *h = &s->handles[handle];
    int index = s->row_count++, vertices = cage->vertex_count;
    tr_cage_row *row = &s->rows[index];
    float *weights = s->row_weights + (size_t)index * (size_t)vertices;
    if ( h->point >= 0 ) {
        size_t at = (size_t)( h->frame - cage->begin ) * (size_t)cage->point_count + (size_t)h->point;
        memcpy( weights, cage->weights + at * (size_t)vertices, (size_t)vertices * sizeof weights[0] );
        vec3 centre = cage->places[h->frame - cage->begin].position; // weights are rounded: stay near it
        row->place = centre;
        for ( int i = 0; i < vertices; ++i )
            row->place =
                v3_mad( row->place, weights[i], v3_sub( tr_cage_vertex( cage, h->frame, i ), centre ) );
    } else {
        vec3 at = tr_cage_to_form( cage, h->frame, h->place );
        tr_mean_value_weights( &cage->coordinates, &at, 1, tr_lanes_best(), weights );
        row->place = h->place;
    }
    row->handle = handle;
    row->weights = weights;
    tr_cage_share share = tr_cage_share_at( cage, h->frame );
    row->begin = index == 0 ? 0 : s->rows[index - 1].end;
    row->end = row->begin;
    row->linear = !( share.part > 0 );
    for ( int side = 0; side < ( row->linear ? 1 : 2 ); ++side )
        for ( int i = 0; i < vertices; ++i ) {
            s->entries[row->end] = s->number[( side == 0 ? share.key : share.next ) * vertices + i];
            s->entry_weights[row->end++] = weights[i] * (float)( side == 0 ? 1 - share.part : share.part );
        }
}

// h · y of a row, over the free vertices.
static double row_product( const tr_cage_solver *s, const tr_cage_row *row, const double *y )
{
    double sum = 0;
    for ( int e = row->begin; e < row->end; ++e )
        if ( s->entries[e] < s->free_count )
            sum += s->entry_weights[e] * y[s->ldl.order[s->entries[e]]];
    return sum;
}

// K⁻¹ h of a row. Returns how much of its weight lies on free vertices.
static double respond( const tr_cage_solver *s, const tr_cage_row *row, double *y, double *work )
{
    double share = 0;
    for ( int e = row->begin; e < row->end; ++e )
        if ( s->entries[e] < s->free_count ) {
            y[s->ldl.order[s->entries[e]]] += s->entry_weights[e];
            share += fabs( s->entry_weights[e] );
        }
    tr_ldl_solve( &s->ldl, y, 1, work );
    return share;
}

// Row r of L, by the rows before it: l_rq = h_r · z_q, z = K⁻¹ Hᵀ L⁻ᵀ being orthonormal in K; what is left of
// y = K⁻¹ h_r without them becomes z_r. Points of one body have weights that hardly differ: factors of K⁻¹ Hᵀ
// would be large and cancel, for which floats have too few digits. A row that depends on rows before it, or
// on held vertices, is dropped.
static void factor_row( tr_cage_solver *s, const tr_cage_hold_def *hold, int r, double *z, double *work )
{
    size_t free_count = (size_t)s->free_count, m = (size_t)s->row_count;
    double *own = z + (size_t)r * free_count, *l = s->schur + (size_t)r * m;
    tr_cage_row *row = &s->rows[r];
    double share = respond( s, row, own, work ), whole = row_product( s, row, own );
    for ( int q = 0; q < r; ++q ) {
        const double *other = z + (size_t)q * free_count;
        l[q] = row_product( s, row, other );
        for ( size_t f = 0; f < free_count; ++f )
            own[f] -= l[q] * other[f];
    }
    double left = row_product( s, row, own );
    row->dropped = !( left > hold->dependence * whole ) || !( share > hold->free_share );
    l[r] = row->dropped ? 1 : sqrt( left );
    for ( size_t f = 0; f < free_count; ++f ) {
        own[f] = row->dropped ? 0 : own[f] / l[r];
        s->response[(size_t)r * free_count + (size_t)s->ldl.place[f]] = (float)own[f];
    }
}

static bool factor_rows( tr_cage_solver *s, const tr_cage_hold_def *hold, tr_error *error )
{
    size_t free_count = (size_t)s->free_count, m = (size_t)s->row_count;
    double *z = tr_alloc( ( m + 1 ) * free_count, sizeof( double ) );
    if ( z == NULL )
        return tr_error_memory( error );
    for ( int r = 0; r < s->row_count; ++r )
        factor_row( s, hold, r, z, z + m * free_count );
    tr_free( z );
    return true;
}

// ------------------------------------------------------------------------------------------------------ grab

enum { LANES = 8, ALIGNED = 32 }; // floats, and bytes, that a kernel loads at once

static bool prepare( const tr_cage *cage, tr_cage_solver *s, const tr_cage_handle *handles, int count,
                     const int *holder, const adjacency *near, int *scratch, tr_error *error )
{
    int *unknowns = scratch, *free_vertices = scratch + s->count;
    if ( !build_matrix( cage, s, holder, near, free_vertices, unknowns, error ) )
        return false;
    sizes n = { .handles = (size_t)count, .count = (size_t)s->count, .free_count = (size_t)s->free_count };
    for ( int h = 0; h < count; ++h )
        n.rows += handles[h].kind == TR_HANDLE_POINT;
    s->round_count = ( s->count + LANES - 1 ) / LANES * LANES;
    n.round_count = (size_t)s->round_count;
    n.neighbours = (size_t)near->at.first[s->count];
    n.vertices = (size_t)cage->vertex_count;
    n.entries = 2 * n.rows * n.vertices;
    s->memory = tr_alloc( lay_out( s, NULL, &n ) + ALIGNED, 1 );
    if ( s->memory == NULL )
        return tr_error_memory( error );
    lay_out( s, (char *)( ( (uintptr_t)s->memory + ALIGNED - 1 ) / ALIGNED * ALIGNED ), &n );
    memcpy( s->handles, handles, (size_t)count * sizeof handles[0] );
    number_vertices( cage, s, holder, unknowns );
    link_vertices( cage, s, near );
    tr_cage_solver_load( cage, s );
    for ( int h = 0; h < count; ++h )
        if ( handles[h].kind == TR_HANDLE_POINT )
            add_point( cage, s, h );
    return factor_rows( s, &cage->def.hold, error );
}

bool tr_cage_grab( tr_cage *cage, const tr_cage_handle *handles, int count, tr_error *error )
{
    for ( int h = 0; h < count; ++h )
        if ( !check_handle( cage, &handles[h], h, error ) )
            return false;
    tr_cage_solver *solver = tr_alloc( 1, sizeof *solver );
    int vertices = cage->section_count * cage->vertex_count;
    int *scratch = tr_alloc( 3 * (size_t)vertices, sizeof( int ) );
    adjacency near = { 0 };
    bool ok = solver != NULL && scratch != NULL ? true : tr_error_memory( error );
    if ( ok ) {
        solver->count = vertices;
        solver->handle_count = count;
        solver->stiffness = stiffness_of( cage );
        int *holder = scratch + 2 * vertices;
        find_holders( cage, handles, count, holder );
        ok = build_adjacency( cage, vertices, &near, error ) &&
             prepare( cage, solver, handles, count, holder, &near, scratch, error );
    }
    free_adjacency( &near );
    tr_free( scratch );
    if ( !ok ) {
        tr_cage_solver_free( solver );
        return false;
    }
    tr_cage_solver_free( cage->solver );
    cage->solver = solver;
    return true;
}
