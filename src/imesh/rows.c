// Rows of the cast in terms of vertices: a point on a chest, in a hand, on a box.
#include "imesh/private.h"

#include <stdlib.h>

// Where the joint has a group, the group's turn serves instead of weights, which would be large.
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

// A vector fixed to a joint as a mixture of the bones and surface points below the joint's vertex v, so that
// it turns with them: with d_i the vectors to those vertices, the least weights α that give Σ α_i d_i =
// vector are α = Dᵀ (D Dᵀ + ε)⁻¹ vector. The part they do not span (a bone alone does not define its twist)
// keeps its direction in the world.
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
    const double tiny = 1e-12; // m²: instead of a division by zero
    double trace = m.cx.x + m.cy.y + m.cz.z;
    vec3 y = m3_solve_damped( m, mesh->def.pull.row_damping * trace + tiny, vector );
    for ( int t = first; t < held->term_count; ++t ) {
        vec3 way = v3_sub( at[held->vertex[t]], at[v] );
        held->weight[t] = sign * v3_dot( way, y );
        held->weight[own] -= held->weight[t];
        vector = v3_mad( vector, -v3_dot( way, y ), way );
    }
    if ( !hold_group( mesh, held, v, vector, sign ) )
        held->offset = v3_mad( held->offset, sign, vector );
}

static void hold_box( const tr_imesh *mesh, tr_imesh_held *held, const tr_imesh_point *point, double sign )
{
    vec3 size = mesh->cast.boxes[point->box].target_size;
    double p[3] = { tr_imesh_box_share( point->offset.x, size.x ),
                    tr_imesh_box_share( point->offset.y, size.y ),
                    tr_imesh_box_share( point->offset.z, size.z ) };
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

// Whether the vertices can move the row. Two points on the same vertices keep their distance: 0 · x = target
// would only accumulate forces.
static bool can_move( const tr_imesh_held *held )
{
    const double rounding = 1e-9; // error of a sum of weights
    for ( int t = 0; t < held->term_count; ++t ) {
        double weight = 0;
        for ( int u = 0; u < held->term_count; ++u )
            weight += held->vertex[u] == held->vertex[t] ? held->weight[u] : 0;
        if ( fabs( weight ) > rounding )
            return true;
    }
    return false;
}

// A point far out on a lever has large weights, and the matrix has their squares: when they exceed its
// precision, rounds do not settle. A row means the same when all of it is divided by a number.
static void limit_weights( tr_imesh_held *held, double limit )
{
    double most = 0;
    for ( int t = 0; t < held->term_count; ++t )
        most = fmax( most, fabs( held->weight[t] ) );
    held->scale = most > limit ? limit / most : 1;
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
        limit_weights( &held, mesh->def.pull.row_weight );
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
