// The baselines `literal` and `paper`. Same energy as src/posegraph, in doubles, without any reduction:
//
//   ⎡ K  Hᵀ ⎤ ⎡ v ⎤   ⎡ b ⎤     K, b from the sums over edges, lengths and anchors; H the rows that are on
//   ⎣ H  0  ⎦ ⎣ λ ⎦ = ⎣ h ⎦
//
// `literal` has x, y and z of all vertices in one matrix and hands it to UMFPACK at every solve. `paper` uses
// that the axes do not mix: a third of the size, factored once per frame and step, three right-hand sides.
#include "pose_task.h"

#include <suitesparse/umfpack.h>

#include <string.h>

// ------------------------------------------------------------------------------------------------ entries

static bool alloc_entries( pose_entries *out, size_t room )
{
    *out = ( pose_entries ){ tr_alloc( room, sizeof( long ) ), tr_alloc( room, sizeof( long ) ),
                             tr_alloc( room, sizeof( double ) ), 0 };
    return out->rows != NULL && out->columns != NULL && out->values != NULL;
}

static void free_entries( pose_entries *entries )
{
    tr_free( entries->rows );
    tr_free( entries->columns );
    tr_free( entries->values );
}

static void add_entry( pose_entries *to, long row, long column, double value )
{
    to->rows[to->count] = row;
    to->columns[to->count] = column;
    to->values[to->count++] = value;
}

// weight · c cᵀ for the six corners of the two joints of a bone
static void add_square( pose_entries *to, const long *corners, const double *c, int count, double weight )
{
    for ( int a = 0; a < count; ++a )
        for ( int b = 0; b < count; ++b )
            add_entry( to, corners[a], corners[b], weight * c[a] * c[b] );
}

static void add_edge( pose_entries *to, int a, int b, double weight )
{
    add_square( to, ( long[] ){ a, b }, ( double[] ){ 1, -1 }, 2, weight );
}

// Every edge belongs to two cells in the deformation.
static void fill_energy( pose_entries *to, const tr_posegraph *g, bool deform )
{
    double edge = deform ? 2 * g->def.edge : g->def.edge;
    for ( int j = 0; j < g->joint_count; ++j ) {
        int p = g->parents[j];
        for ( int k = 0; k < 3; ++k ) {
            add_edge( to, 3 * j + k, 3 * j + ( k + 1 ) % 3, edge );
            add_entry( to, 3 * j + k, 3 * j + k, g->def.anchor );
            if ( p >= 0 )
                add_edge( to, 3 * j + k, 3 * p + k, edge );
        }
        if ( p >= 0 && deform )
            add_square( to, ( long[] ){ 3 * j, 3 * j + 1, 3 * j + 2, 3 * p, 3 * p + 1, 3 * p + 2 },
                        ( double[] ){ 1, 1, 1, -1, -1, -1 }, 6, g->def.length / 9 );
    }
}

// Adds up entries of the same place once, not in every frame.
static bool gather( pose_kkt *kkt, pose_entries *entries )
{
    long n = 3 * kkt->task->joint_count;
    if ( umfpack_dl_triplet_to_col( n, n, entries->count, entries->rows, entries->columns, entries->values,
                                    kkt->start, kkt->index, kkt->values, NULL ) != UMFPACK_OK )
        return false;
    entries->count = 0;
    for ( long c = 0; c < n; ++c )
        for ( long e = kkt->start[c]; e < kkt->start[c + 1]; ++e )
            add_entry( entries, kkt->index[e], c, kkt->values[e] );
    return true;
}

// -------------------------------------------------------------------------------------------------- build

bool pose_kkt_build( pose_kkt *out, const pose_task *task, bool literal, tr_error *error )
{
    *out = ( pose_kkt ){ .task = task, .literal = literal };
    size_t joints = (size_t)task->joint_count, copies = literal ? 3 : 1;
    size_t each = joints * ( 3 * ( 4 + 1 + 4 ) + 36 ), rows = BENCH_ROWS_MAX;
    size_t room = copies * ( each + rows * 6 ), size = 3 * ( 3 * joints + rows );
    bool ok = alloc_entries( &out->transfer, each );
    ok = alloc_entries( &out->deform, each ) && ok;
    ok = alloc_entries( &out->bordered, room ) && ok;
    out->start = tr_alloc( size + 1, sizeof( long ) );
    out->index = tr_alloc( room, sizeof( long ) );
    out->values = tr_alloc( room, sizeof( double ) );
    out->right = tr_alloc( size, sizeof( double ) );
    out->answer = tr_alloc( size, sizeof( double ) );
    out->cells = tr_alloc( joints, sizeof( mat3 ) );
    out->turns = tr_alloc( joints, sizeof( mat3 ) );
    if ( !ok || out->start == NULL || out->index == NULL || out->values == NULL || out->right == NULL ||
         out->answer == NULL || out->cells == NULL || out->turns == NULL )
        return tr_error_memory( error );
    fill_energy( &out->transfer, &task->graph, false );
    fill_energy( &out->deform, &task->graph, true );
    return ( gather( out, &out->transfer ) && gather( out, &out->deform ) ) || tr_error_memory( error );
}

void pose_kkt_free( pose_kkt *kkt )
{
    free_entries( &kkt->transfer );
    free_entries( &kkt->deform );
    free_entries( &kkt->bordered );
    tr_free( kkt->start );
    tr_free( kkt->index );
    tr_free( kkt->values );
    tr_free( kkt->right );
    tr_free( kkt->answer );
    tr_free( kkt->cells );
    tr_free( kkt->turns );
}

// ----------------------------------------------------------------------------------------------- one frame

typedef struct frame_work {
    pose_kkt *kkt;
    const tr_goal *goals; // [row_count]
    int rows[BENCH_ROWS_MAX], row_count;
    long size; // size of the matrix
    const vec3 *reference;
    vec3 *v; // places of the vertices
    void *symbolic, *numeric;
} frame_work;

// Index of axis c of unknown i in the right-hand sides.
static size_t place( const frame_work *w, int i, int c )
{
    return w->kkt->literal ? 3 * (size_t)i + (size_t)c : (size_t)c * (size_t)w->size + (size_t)i;
}

static bool assemble( frame_work *w, const pose_entries *energy )
{
    pose_kkt *kkt = w->kkt;
    int copies = kkt->literal ? 3 : 1, n = 3 * kkt->task->joint_count;
    kkt->bordered.count = 0;
    for ( int c = 0; c < copies; ++c ) {
        for ( int e = 0; e < energy->count; ++e )
            add_entry( &kkt->bordered, copies * energy->rows[e] + c, copies * energy->columns[e] + c,
                       energy->values[e] );
        for ( int r = 0; r < w->row_count; ++r )
            for ( int k = 0; k < 3; ++k ) {
                int row = copies * ( n + r ) + c,
                    column = copies * ( 3 * kkt->task->joints[w->rows[r]] + k ) + c;
                add_entry( &kkt->bordered, row, column, 1.0 / 3 );
                add_entry( &kkt->bordered, column, row, 1.0 / 3 );
            }
    }
    return umfpack_dl_triplet_to_col( w->size, w->size, kkt->bordered.count, kkt->bordered.rows,
                                      kkt->bordered.columns, kkt->bordered.values, kkt->start, kkt->index,
                                      kkt->values, NULL ) == UMFPACK_OK;
}

static void drop_factor( frame_work *w )
{
    umfpack_dl_free_symbolic( &w->symbolic );
    umfpack_dl_free_numeric( &w->numeric );
}

static bool factor( frame_work *w )
{
    const pose_kkt *kkt = w->kkt;
    drop_factor( w );
    return umfpack_dl_symbolic( w->size, w->size, kkt->start, kkt->index, kkt->values, &w->symbolic, NULL,
                                NULL ) == UMFPACK_OK &&
           umfpack_dl_numeric( kkt->start, kkt->index, kkt->values, w->symbolic, &w->numeric, NULL, NULL ) ==
               UMFPACK_OK;
}

// From the right-hand sides of the vertices to their new places.
static bool solve( frame_work *w )
{
    const pose_kkt *kkt = w->kkt;
    int n = 3 * kkt->task->joint_count;
    double control[UMFPACK_CONTROL];
    umfpack_dl_defaults( control );
    control[UMFPACK_IRSTEP] = 0; // refining the answer costs time and changes its last digits only
    for ( int r = 0; r < w->row_count; ++r ) {
        vec3 target = w->goals[w->rows[r]].target;
        kkt->right[place( w, n + r, 0 )] = target.x;
        kkt->right[place( w, n + r, 1 )] = target.y;
        kkt->right[place( w, n + r, 2 )] = target.z;
    }
    if ( kkt->literal && !factor( w ) )
        return false;
    for ( int c = 0; c < ( kkt->literal ? 1 : 3 ); ++c )
        if ( umfpack_dl_solve( UMFPACK_A, kkt->start, kkt->index, kkt->values, kkt->answer + c * w->size,
                               kkt->right + c * w->size, w->numeric, control, NULL ) != UMFPACK_OK )
            return false;
    for ( int i = 0; i < n; ++i )
        w->v[i] =
            v3( kkt->answer[place( w, i, 0 )], kkt->answer[place( w, i, 1 )], kkt->answer[place( w, i, 2 )] );
    return true;
}

// -------------------------------------------------------------------------------------------- right sides

static void add_right( frame_work *w, int vertex, double weight, vec3 value )
{
    w->kkt->right[place( w, vertex, 0 )] += weight * value.x;
    w->kkt->right[place( w, vertex, 1 )] += weight * value.y;
    w->kkt->right[place( w, vertex, 2 )] += weight * value.z;
}

// The rows of w ‖(v_a − v_b) − wanted‖²
static void pull( frame_work *w, int a, int b, double weight, vec3 wanted )
{
    add_right( w, a, weight, wanted );
    add_right( w, b, -weight, wanted );
}

static void pull_length( frame_work *w, const tr_posegraph *g, int j, int p )
{
    vec3 bone = v3_sub( tr_posegraph_joint( w->v, j ), tr_posegraph_joint( w->v, p ) );
    double length = v3_length( bone );
    vec3 wanted = length > 1e-6 ? v3_scale( g->lengths[j] / length, bone ) : bone;
    for ( int k = 0; k < 3; ++k )
        pull( w, 3 * j + k, 3 * p + k, g->def.length / 3, wanted );
}

// `turns` of the cells; NULL for the transfer, where nothing turns and each edge counts once.
static void right_hand_side( frame_work *w, const mat3 *turns )
{
    const tr_posegraph *g = &w->kkt->task->graph;
    const vec3 *at = w->reference;
    double edge = g->def.edge;
    memset( w->kkt->right, 0, 3 * (size_t)( 3 * g->joint_count + w->row_count ) * sizeof( double ) );
    for ( int j = 0; j < g->joint_count; ++j ) {
        int p = g->parents[j];
        for ( int k = 0; k < 3; ++k ) {
            int a = 3 * j + k, b = 3 * j + ( k + 1 ) % 3, up = 3 * p + k;
            vec3 side = v3_sub( at[a], at[b] );
            add_right( w, a, g->def.anchor, at[a] );
            pull( w, a, b, turns != NULL ? 2 * edge : edge,
                  turns != NULL ? m3_mulv( turns[j], side ) : side );
            if ( p < 0 )
                continue;
            vec3 rail = v3_sub( at[a], at[up] );
            pull( w, a, up, edge, turns != NULL ? m3_mulv( turns[j], rail ) : rail );
            if ( turns != NULL )
                pull( w, a, up, edge, m3_mulv( turns[p], rail ) );
        }
        if ( p >= 0 && turns != NULL )
            pull_length( w, g, j, p );
    }
}

// ---------------------------------------------------------------------------------------------- rotations

static void add_outer( mat3 *to, vec3 now, vec3 before, double weight )
{
    to->cx = v3_mad( to->cx, weight * before.x, now );
    to->cy = v3_mad( to->cy, weight * before.y, now );
    to->cz = v3_mad( to->cz, weight * before.z, now );
}

static double frobenius( mat3 m )
{
    return sqrt( v3_dot( m.cx, m.cx ) + v3_dot( m.cy, m.cy ) + v3_dot( m.cz, m.cz ) );
}

static vec3 mean( double s, vec3 a, double t, vec3 b )
{
    return v3_mad( v3_scale( 0.5 * s, a ), 0.5 * t, b );
}

// The rotation nearest to m as its polar factor, X ← ½ (γ X + X⁻ᵀ/γ) with γ² = ‖X⁻ᵀ‖/‖X‖ (Higham 1986): six
// or seven rounds, several times faster than eigenvectors, which remain for flat or mirrored m.
static mat3 polar( mat3 m )
{
    mat3 x = m;
    for ( int round = 0; round < 20; ++round ) {
        mat3 t = { v3_cross( x.cy, x.cz ), v3_cross( x.cz, x.cx ), v3_cross( x.cx, x.cy ) };
        double det = v3_dot( x.cx, t.cx ), size = frobenius( x );
        if ( !( det > 1e-12 * size * size * size ) )
            return m3_from_quat( q_fit( m ) );
        double gamma = sqrt( frobenius( t ) / ( det * size ) ), other = 1 / ( gamma * det );
        mat3 next = { mean( gamma, x.cx, other, t.cx ), mean( gamma, x.cy, other, t.cy ),
                      mean( gamma, x.cz, other, t.cz ) };
        mat3 step = { v3_sub( next.cx, x.cx ), v3_sub( next.cy, x.cy ), v3_sub( next.cz, x.cz ) };
        x = next;
        if ( frobenius( step ) < 1e-9 ) // converges quadratically
            break;
    }
    return x;
}

static void fit_rotations( const frame_work *w )
{
    const tr_posegraph *g = &w->kkt->task->graph;
    mat3 *cells = w->kkt->cells;
    const vec3 *at = w->reference, *v = w->v;
    memset( cells, 0, (size_t)g->joint_count * sizeof( mat3 ) );
    for ( int j = 0; j < g->joint_count; ++j ) {
        int p = g->parents[j];
        for ( int k = 0; k < 3; ++k ) {
            int a = 3 * j + k, b = 3 * j + ( k + 1 ) % 3, up = 3 * p + k;
            add_outer( &cells[j], v3_sub( v[a], v[b] ), v3_sub( at[a], at[b] ), 2 );
            if ( p < 0 )
                continue;
            add_outer( &cells[j], v3_sub( v[a], v[up] ), v3_sub( at[a], at[up] ), 1 );
            add_outer( &cells[p], v3_sub( v[a], v[up] ), v3_sub( at[a], at[up] ), 1 );
        }
    }
    for ( int j = 0; j < g->joint_count; ++j )
        w->kkt->turns[j] = polar( cells[j] );
}

// ------------------------------------------------------------------------------------------------- frames

static bool transfer_frame( frame_work *w )
{
    if ( !assemble( w, &w->kkt->transfer ) || ( !w->kkt->literal && !factor( w ) ) )
        return false;
    right_hand_side( w, NULL );
    return solve( w );
}

// Deforms the result of the transfer, in w->v.
static bool deform_frame( frame_work *w, vec3 *around )
{
    pose_kkt *kkt = w->kkt;
    int joints = kkt->task->joint_count;
    memcpy( around, w->v, 3 * (size_t)joints * sizeof( vec3 ) );
    w->reference = around;
    for ( int j = 0; j < joints; ++j )
        kkt->turns[j] = m3_from_quat( q_identity );
    bool ok = assemble( w, &kkt->deform ) && ( kkt->literal || factor( w ) );
    for ( int i = 0; ok && i < BENCH_ITERATIONS; ++i ) {
        if ( i > 0 )
            fit_rotations( w );
        right_hand_side( w, kkt->turns );
        ok = solve( w );
    }
    return ok;
}

bool pose_kkt_solve( pose_kkt *kkt, vec3 *vertices, tr_error *error )
{
    const pose_task *task = kkt->task;
    int n = 3 * task->joint_count, rows = task->cluster.row_count;
    vec3 *around = tr_alloc( (size_t)n, sizeof( vec3 ) );
    bool ok = around != NULL || tr_error_memory( error );
    for ( int f = 0; ok && f < task->frame_count; ++f ) {
        size_t first = (size_t)f * (size_t)n;
        frame_work w = { .kkt = kkt,
                         .goals = task->goals + f * rows,
                         .reference = task->reference + first,
                         .v = vertices + first };
        for ( int r = 0; r < rows; ++r )
            if ( w.goals[r].compliance[0] >= 0 )
                w.rows[w.row_count++] = r;
        w.size = ( kkt->literal ? 3 : 1 ) * ( n + w.row_count );
        if ( kkt->edits )
            memcpy( w.v, w.reference, (size_t)n * sizeof( vec3 ) );
        ok = ( ( kkt->edits || transfer_frame( &w ) ) && deform_frame( &w, around ) ) ||
             tr_error_set( error, "UMFPACK could not solve frame %d", f );
        drop_factor( &w );
    }
    tr_free( around );
    return ok;
}
