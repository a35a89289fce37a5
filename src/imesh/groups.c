// Rigid parts of a body made of several bones. Lengths alone do not keep them: a chest whose joints lie
// almost in a plane keeps all distances when it is turned inside out, and on the way there.
#include "imesh/private.h"

// The mean of the members' places.
static vec3 middle_of( const tr_imesh_group *group, const vec3 *at )
{
    vec3 sum = v3_zero;
    for ( int i = 0; i < group->count; ++i )
        sum = v3_mad( sum, 1.0 / group->count, at[group->vertex[i]] );
    return sum;
}

static void centre( vec3 *shape, int count )
{
    vec3 mean = v3_zero;
    for ( int i = 0; i < count; ++i )
        mean = v3_mad( mean, 1.0 / count, shape[i] );
    for ( int i = 0; i < count; ++i )
        shape[i] = v3_sub( shape[i], mean );
}

// Σ to fromᵀ
static void add_moment( mat3 *m, vec3 to, vec3 from )
{
    *m = m3_add_outer( *m, to, from );
}

static void measure_shapes( const tr_imesh *mesh, const tr_imesh_embodiment *e, tr_imesh_group *group )
{
    mat3 m = { v3_zero, v3_zero, v3_zero };
    for ( int k = 0; k < 2; ++k ) {
        for ( int i = 0; i < group->count; ++i )
            group->shape[k][i] = tr_imesh_rest_place( mesh, e, group->vertex[i], k == 1 );
        centre( group->shape[k], group->count );
    }
    for ( int i = 0; i < group->count; ++i )
        add_moment( &m, group->shape[0][i], group->shape[1][i] );
    quat turn = q_fit( m );
    for ( int i = 0; i < group->count; ++i )
        group->shape[1][i] = q_rotate( turn, group->shape[1][i] );
}

static bool is_in( const tr_imesh_group *group, int vertex )
{
    for ( int i = 0; i < group->count; ++i )
        if ( group->vertex[i] == vertex )
            return true;
    return false;
}

// The joint, the joints below it at the end of bones that do not bend, and points on such bones.
static tr_imesh_group gather( const tr_imesh *mesh, const tr_imesh_embodiment *e, int joint )
{
    tr_imesh_group group = { .count = 1, .vertex = { joint } };
    for ( int v = joint + 1; v < mesh->vertex_count && group.count < TR_IMESH_GROUP; ++v ) {
        const tr_imesh_vertex *vertex = &mesh->vertices[v];
        if ( vertex->ends[0] != joint )
            continue;
        bool fixed = vertex->kind == TR_IMESH_SURFACE
                         ? is_in( &group, vertex->ends[1] )
                         : !tr_imesh_bends_between( e, vertex->part, mesh->vertices[joint].part );
        if ( !fixed )
            continue;
        group.vertex[group.count++] = v;
        if ( vertex->kind == TR_IMESH_JOINT )
            group.turns |= e->body->target->joints[vertex->part].parent != mesh->vertices[joint].part;
    }
    return group;
}

static int joints_of( const tr_imesh *mesh, const tr_imesh_group *group )
{
    int count = 0;
    for ( int i = 0; i < group->count; ++i )
        count += mesh->vertices[group->vertex[i]].kind == TR_IMESH_JOINT;
    return count;
}

bool tr_imesh_groups_build( tr_imesh *mesh, const tr_imesh_embodiment *e )
{
    for ( int v = 0; v < mesh->vertex_count; ++v ) {
        if ( mesh->vertices[v].kind != TR_IMESH_JOINT || mesh->vertices[v].owner != e->index )
            continue;
        tr_imesh_group group = gather( mesh, e, v );
        if ( joints_of( mesh, &group ) <= 2 ) // a bone alone: its length is enough
            continue;
        if ( !tr_array_reserve( (void **)&mesh->groups, &mesh->group_capacity, mesh->group_count + 1,
                                sizeof *mesh->groups ) )
            return false;
        measure_shapes( mesh, e, &group );
        mesh->groups[mesh->group_count++] = group;
        for ( int l = 0; l < mesh->link_count; ++l )
            if ( is_in( &group, mesh->links[l].a ) && is_in( &group, mesh->links[l].b ) )
                mesh->links[l].grouped = true;
    }
    return true;
}

static quat *align_of( const tr_imesh *mesh, const tr_imesh_group *group, int frame )
{
    return &mesh->solver
                ->group_aligns[(size_t)frame * (size_t)mesh->group_count + (size_t)( group - mesh->groups )];
}

// The shape at a frame, `morph` of the way from the source's to the target's.
static void shape_at( const tr_imesh *mesh, const tr_imesh_group *group, int frame, double morph, vec3 *out )
{
    for ( int i = 0; i < group->count && !group->turns; ++i )
        out[i] = v3_lerp( group->shape[0][i], group->shape[1][i], morph );
    if ( !group->turns )
        return;
    const vec3 *source = tr_imesh_frame( mesh, mesh->source, frame ),
               *target = tr_imesh_frame( mesh, mesh->target, frame );
    vec3 from = middle_of( group, source ), to = middle_of( group, target );
    quat align = *align_of( mesh, group, frame );
    for ( int i = 0; i < group->count; ++i )
        out[i] = v3_lerp( v3_sub( source[group->vertex[i]], from ),
                          q_rotate( align, v3_sub( target[group->vertex[i]], to ) ), morph );
}

quat tr_imesh_group_turn( const tr_imesh *mesh, const tr_imesh_group *group, int frame, const vec3 *at,
                          int shape )
{
    vec3 middle = middle_of( group, at ), shapes[TR_IMESH_GROUP];
    mat3 m = { v3_zero, v3_zero, v3_zero };
    shape_at( mesh, group, frame, shape, shapes );
    for ( int i = 0; i < group->count; ++i )
        add_moment( &m, v3_sub( at[group->vertex[i]], middle ), shapes[i] );
    return q_fit( m );
}

void tr_imesh_groups_align( tr_imesh *mesh )
{
    for ( int f = 0; f < mesh->frame_count; ++f )
        for ( int g = 0; g < mesh->group_count; ++g ) {
            const tr_imesh_group *group = &mesh->groups[g];
            const vec3 *source = tr_imesh_frame( mesh, mesh->source, f ),
                       *target = tr_imesh_frame( mesh, mesh->target, f );
            vec3 from = middle_of( group, source ), to = middle_of( group, target );
            mat3 m = { v3_zero, v3_zero, v3_zero };
            for ( int i = 0; group->turns && i < group->count; ++i )
                add_moment( &m, v3_sub( source[group->vertex[i]], from ),
                            v3_sub( target[group->vertex[i]], to ) );
            *align_of( mesh, group, f ) = group->turns ? q_fit( m ) : q_identity;
        }
}

void tr_imesh_group_square( const tr_imesh *mesh, const tr_imesh_group *group, double *block )
{
    double ones[TR_IMESH_GROUP];
    for ( int i = 0; i < group->count; ++i ) {
        ones[i] = 1;
        tr_imesh_add_square( mesh, block, &group->vertex[i], &ones[i], 1, mesh->def.pull.group );
    }
    tr_imesh_add_square( mesh, block, group->vertex, ones, group->count,
                         -mesh->def.pull.group / group->count );
}

// A step towards the rotation R that maximises tr( Rᵀ m ): by ω = Σ r × m / |Σ r · m| over their columns
// (Müller and others, 2016).
static quat turn_on( quat turn, const mat3 *m )
{
    mat3 r = m3_from_quat( turn );
    vec3 torque =
        v3_add( v3_add( v3_cross( r.cx, m->cx ), v3_cross( r.cy, m->cy ) ), v3_cross( r.cz, m->cz ) );
    const double tiny = 1e-12; // instead of a division by zero
    double along = fabs( v3_dot( r.cx, m->cx ) + v3_dot( r.cy, m->cy ) + v3_dot( r.cz, m->cz ) );
    return q_unit( q_mul( q_from_vector( v3_scale( 1 / ( along + tiny ), torque ) ), turn ) );
}

void tr_imesh_group_project( const tr_imesh *mesh, const tr_imesh_group *group,
                             const tr_imesh_group_round *round )
{
    const vec3 *source = tr_imesh_frame( mesh, mesh->source, round->frame ), *at = round->at;
    const double pull = mesh->def.pull.group, dual_max = mesh->def.pull.group_dual;
    vec3 *duals = round->duals;
    vec3 middle = middle_of( group, at ), rest = middle_of( group, source );
    vec3 q[TR_IMESH_GROUP], shape[TR_IMESH_GROUP];
    mat3 m = { v3_zero, v3_zero, v3_zero };
    shape_at( mesh, group, round->frame, round->morph, shape );
    for ( int i = 0; i < group->count; ++i ) {
        q[i] = v3_add( v3_sub( at[group->vertex[i]], middle ), duals[i] );
        add_moment( &m, q[i], shape[i] );
    }
    for ( int k = 0; k < mesh->def.round.group_steps; ++k )
        *round->turn = turn_on( *round->turn, &m );
    double size = 0, strain = 0, along = 0;
    for ( int i = 0; i < group->count; ++i ) {
        shape[i] = q_rotate( *round->turn, shape[i] );
        duals[i] = v3_sub( q[i], shape[i] );
        size += v3_dot( shape[i], shape[i] );
        strain += v3_dot( duals[i], duals[i] );
        along += v3_dot( duals[i], shape[i] );
    }
    double most = along < 0 ? tr_imesh_at_most( sqrt( strain ), dual_max * sqrt( size ) ) : 1; // see solve.c
    for ( int i = 0; i < group->count; ++i ) {
        duals[i] = v3_scale( most, duals[i] );
        tr_imesh_pull( mesh, round->right, group->vertex[i], pull,
                       v3_sub( v3_sub( shape[i], duals[i] ), v3_sub( source[group->vertex[i]], rest ) ) );
    }
}

void tr_imesh_group_mend( const tr_imesh *mesh, const tr_imesh_group *group, int frame, const bool *held,
                          vec3 *at )
{
    vec3 middle = middle_of( group, at ), shape[TR_IMESH_GROUP];
    quat *turn =
        &mesh->solver
             ->group_turns[(size_t)frame * (size_t)mesh->group_count + (size_t)( group - mesh->groups )];
    mat3 m = { v3_zero, v3_zero, v3_zero };
    shape_at( mesh, group, frame, 1, shape );
    for ( int i = 0; i < group->count; ++i )
        add_moment( &m, v3_sub( at[group->vertex[i]], middle ), shape[i] );
    for ( int k = 0; k < mesh->def.round.group_steps; ++k )
        *turn = turn_on( *turn, &m );
    for ( int i = 0; i < group->count; ++i )
        if ( !held[group->vertex[i]] )
            at[group->vertex[i]] = v3_add( middle, q_rotate( *turn, shape[i] ) );
}
