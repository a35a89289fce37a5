// Rows of the cast in terms of vertices: a point on a chest, in a hand, on a box.
#include "imesh/private.h"

#include <stdlib.h>

// Where the joint carries a group, that knows how it is turned, and weights would be large.
static bool hold_group( const tr_imesh *mesh, tr_imesh_held *held, int v, vec3 vector, double sign )
{
    int end = sign < 0, g = 0;
    while ( g < mesh->group_count && mesh->groups[g].vertex[0] != v )
        ++g;
    if ( g == mesh->group_count )
        return false;
    quat turn = tr_imesh_group_turn( mesh, &mesh->groups[g], held->row->frame,
                                     tr_imesh_frame( mesh, mesh->target, held->row->frame ), 1 );
    held->group[end] = g;
    held->local[end] = v3_scale( sign, q_unrotate( turn, vector ) );
    return true;
}

// A vector fixed to a joint as a mixture of what hangs rigidly on the joint's vertex v, so that it turns with
// it: with d_i the way to those vertices, the least weights α that give Σ α_i d_i = vector are
// α = Dᵀ (D Dᵀ + ε)⁻¹ vector. What they do not span (a bone alone does not say how it is twisted) keeps its
// direction in the world.
static void hold_vector( const tr_imesh *mesh, tr_imesh_held *held, int v, vec3 vector, double sign )
{
    const vec3 *at = tr_imesh_frame( mesh, mesh->target, held->row->frame );
    int first = held->term_count, own = first - 1;
    mat3 m = { v3_zero, v3_zero, v3_zero };
    for ( int u = v + 1; u < mesh->vertex_count && held->term_count < first + TR_IMESH_CORNERS - 1; ++u ) {
        const tr_imesh_vertex *other = &mesh->vertices[u];
        if ( other->kind == TR_IMESH_CORNER || other->owner != mesh->vertices[v].owner )
            break;
        if ( other->ends[0] != v )
            continue;
        held->vertex[held->term_count++] = u;
        m = m3_add_outer( m, v3_sub( at[u], at[v] ), v3_sub( at[u], at[v] ) );
    }
    double trace = m.cx.x + m.cy.y + m.cz.z;
    vec3 y = m3_solve_damped( m, 0.01 * trace + 1e-12, vector );
    for ( int t = first; t < held->term_count; ++t ) {
        vec3 way = v3_sub( at[held->vertex[t]], at[v] );
        held->weight[t] = sign * v3_dot( way, y );
        held->weight[own] -= held->weight[t];
        vector = v3_mad( vector, -v3_dot( way, y ), way );
    }
    if ( !hold_group( mesh, held, v, vector, sign ) )
        held->offset = v3_mad( held->offset, sign, vector );
}

static double share( double offset, double size )
{
    return size > 1e-9 ? 0.5 + offset / size : 0.5;
}

static void hold_box( const tr_imesh *mesh, tr_imesh_held *held, const tr_imesh_point *point, double sign )
{
    vec3 size = mesh->cast.boxes[point->box].target_size;
    double p[3] = { share( point->offset.x, size.x ), share( point->offset.y, size.y ),
                    share( point->offset.z, size.z ) };
    for ( int k = 0; k < TR_IMESH_CORNERS; ++k ) {
        double weight = sign;
        for ( int d = 0; d < 3; ++d )
            weight *= k >> d & 1 ? p[d] : 1 - p[d];
        held->vertex[held->term_count] = tr_imesh_first_corner( mesh, point->box ) + k;
        held->weight[held->term_count++] = weight;
    }
}

static bool hold_point( const tr_imesh *mesh, tr_imesh_held *held, const tr_imesh_point *point, double sign )
{
    if ( point->body < 0 && point->box >= 0 )
        hold_box( mesh, held, point, sign );
    if ( point->body < 0 )
        return point->box >= 0;
    const tr_imesh_body *body = &mesh->cast.bodies[point->body];
    int v = mesh->joint_vertex[point->body][point->joint];
    if ( v < 0 )
        return false;
    held->vertex[held->term_count] = v;
    held->weight[held->term_count++] = sign;
    tr_pose pose = tr_world_pose( body->place != NULL ? body->place : body->source_world,
                                  mesh->cast.first + held->row->frame );
    vec3 vector = v3_add( v3_sub( pose.positions[point->joint], pose.positions[mesh->vertices[v].part] ),
                          q_rotate( pose.rotations[point->joint], point->offset ) );
    if ( v3_length( vector ) > 0 )
        hold_vector( mesh, held, v, vector, sign );
    return true;
}

static int by_frame( const void *a, const void *b )
{
    const tr_imesh_row *x = ( (const tr_imesh_held *)a )->row, *y = ( (const tr_imesh_held *)b )->row;
    return x->frame != y->frame ? x->frame - y->frame : ( x > y ) - ( x < y );
}

// Whether the vertices move what the row is about. Two points that share a vertex and all that hangs on it
// stay as they are to each other: 0 · x = target would only gather forces.
static bool can_move( const tr_imesh_held *held )
{
    for ( int t = 0; t < held->term_count; ++t ) {
        double weight = 0;
        for ( int u = 0; u < held->term_count; ++u )
            weight += held->vertex[u] == held->vertex[t] ? held->weight[u] : 0;
        if ( fabs( weight ) > 1e-9 )
            return true;
    }
    return false;
}

// A point far out on a lever, or a mixture of far more than the whole, has large weights. The matrix has
// their squares; beyond what its digits can hold, rounds do not come to rest. A row means the same when all
// of it is divided by a number.
#define MOST_WEIGHT 4.0

static void limit_weights( tr_imesh_held *held )
{
    double most = 0;
    for ( int t = 0; t < held->term_count; ++t )
        most = fmax( most, fabs( held->weight[t] ) );
    held->scale = most > MOST_WEIGHT ? MOST_WEIGHT / most : 1;
    if ( held->scale == 1 )
        return;
    for ( int t = 0; t < held->term_count; ++t )
        held->weight[t] *= held->scale;
    held->offset = v3_scale( held->scale, held->offset );
    for ( int e = 0; e < 2; ++e )
        held->local[e] = v3_scale( held->scale, held->local[e] );
}

bool tr_imesh_hold_rows( tr_imesh *mesh )
{
    tr_imesh_solver *s = mesh->solver;
    s->held = tr_alloc( (size_t)mesh->cast.row_count, sizeof *s->held );
    s->held_start = tr_alloc( (size_t)mesh->frame_count + 1, sizeof( int ) );
    if ( s->held == NULL || s->held_start == NULL )
        return false;
    for ( int r = 0; r < mesh->cast.row_count; ++r ) {
        tr_imesh_held held = { .row = &mesh->cast.rows[r], .group = { -1, -1 } };
        if ( !hold_point( mesh, &held, &held.row->a, 1 ) )
            continue;
        hold_point( mesh, &held, &held.row->b, -1 );
        if ( !can_move( &held ) )
            continue;
        limit_weights( &held );
        const vec3 *at = tr_imesh_frame( mesh, mesh->source, held.row->frame );
        for ( int t = 0; t < held.term_count; ++t )
            held.source = v3_mad( held.source, held.weight[t], at[held.vertex[t]] );
        s->held[s->held_count++] = held;
    }
    if ( s->held_count > 1 )
        qsort( s->held, (size_t)s->held_count, sizeof *s->held, by_frame );
    for ( int i = 0; i < s->held_count; ++i )
        s->held_start[s->held[i].row->frame + 1]++;
    for ( int f = 0; f < mesh->frame_count; ++f )
        s->held_start[f + 1] += s->held_start[f];
    return true;
}

vec3 tr_imesh_held_offset( const tr_imesh *mesh, const tr_imesh_held *held )
{
    vec3 sum = held->offset;
    const quat *turns = mesh->solver->group_turns + (size_t)held->row->frame * (size_t)mesh->group_count;
    for ( int e = 0; e < 2; ++e )
        if ( held->group[e] >= 0 )
            sum = v3_add( sum, q_rotate( turns[held->group[e]], held->local[e] ) );
    return sum;
}
