// The mesh of every frame, and the one matrix that all steps share.
//
// With the displacement u of the unknown vertices, and M_e the columns of those that move by e on their own,
// the energy of a frame is ½ ‖M u + M_e e − (δ′ − δ)‖² + …, so
//
//   K_f = Mᵀ M + w_p + Σ bones w_b (e_a − e_b)(e_a − e_b)ᵀ + Σ bends w_k c cᵀ + Σ links ρ (e_a − e_b)(e_a −
//   e_b)ᵀ + Σ boxes ρ (1 − 11ᵀ/8) + Σ rows ρ c cᵀ,
// right-hand side: morph · ( Mᵀ (δ′ − δ) − Mᵀ M_e e + w_p (r − x̄) + w_a Aᵀ A (x̂ − x̄) ) + terms of the
// projections.
#include "imesh/private.h"

#include <string.h>

tr_imesh_def tr_default_imesh_def( void )
{
    return ( tr_imesh_def ){ .acceleration = 0.2,
                             .posture = 0.1,
                             .bend = 3,
                             .bend_reach = 0.06,
                             .place = 0.01,
                             .relations = 1,
                             .growth = true,
                             .collision = 400,
                             .touch = 10,
                             .touch_reach = 0.03,
                             .apart = 20,
                             .apart_reach = 0.04,
                             .watch = 0.06,
                             .nearest = 0.02,
                             .hard_lengths = true,
                             .length = 2,
                             .short_bone = 0.02,
                             .surface_bone = 0.05,
                             .steps = 10,
                             .iterations = 10,
                             .settle = 60,
                             .tolerance = 0.004,
                             .too_deep = 0.01,
                             .too_far = 0.02,
                             .pull = { .link = 10,
                                       .box = 1,
                                       .group = 20,
                                       .row = 5,
                                       .group_dual = 0.3,
                                       .row_damping = 0.01,
                                       .row_weight = 4 },
                             .round = { .stride = 0.03,
                                        .stride_apart = 0.10,
                                        .least = 3,
                                        .calm = 0.1,
                                        .still = 1e-3,
                                        .restless = 5e-3,
                                        .averaged = 10,
                                        .turn_rows = 5,
                                        .group_steps = 2,
                                        .worse = 1.2,
                                        .damping_min = 0.01,
                                        .leap = 4,
                                        .lasting = 2.5 },
                             .lengths = { .sweeps_min = 10,
                                          .sweeps_max = 80,
                                          .rows_hold = 40,
                                          .tolerance = 0.005,
                                          .bone_min = 1e-3 },
                             .pose = { .several = 1e-3, .single = 0.05, .hand = 0.3 },
                             .lanes = tr_lanes_best() };
}

// ----------------------------------------------------------------------------------------------------- webs

enum { WEB_BLOCK = 16 }; // frames that share their scratch memory

typedef struct web_task {
    tr_imesh *mesh;
    int ( *bones )[2];
    bool *failed; // [blocks]
    tr_error *errors;
} web_task;

static void build_webs( void *context, int begin, int end )
{
    web_task *task = context;
    tr_imesh *mesh = task->mesh;
    tr_delaunay scratch = { 0 };
    bool ok = true;
    for ( int f = begin; f < end && ok; ++f ) {
        tr_imesh_points points = { tr_imesh_frame( mesh, mesh->source, f ), mesh->vertex_count,
                                   (const int( * )[2])task->bones, mesh->link_count, mesh->def.nearest };
        ok = tr_imesh_web_build( &mesh->webs[f], &scratch, &points, &task->errors[begin / WEB_BLOCK] );
    }
    task->failed[begin / WEB_BLOCK] = !ok;
    tr_delaunay_free( &scratch );
}

static bool weave_all( tr_imesh *mesh, tr_error *error )
{
    size_t blocks = ( (size_t)mesh->frame_count + WEB_BLOCK - 1 ) / WEB_BLOCK;
    web_task task = { mesh, tr_alloc( (size_t)mesh->link_count, sizeof( int[2] ) ),
                      tr_alloc( blocks, sizeof( bool ) ), tr_alloc( blocks, sizeof( tr_error ) ) };
    mesh->webs = tr_alloc( (size_t)mesh->frame_count, sizeof *mesh->webs );
    bool ok = task.bones != NULL && task.failed != NULL && task.errors != NULL && mesh->webs != NULL;
    if ( !ok )
        tr_error_memory( error );
    for ( int l = 0; ok && l < mesh->link_count; ++l ) {
        task.bones[l][0] = mesh->links[l].a;
        task.bones[l][1] = mesh->links[l].b;
    }
    if ( ok )
        tr_parallel_for( mesh->frame_count, WEB_BLOCK, build_webs, &task );
    for ( size_t b = 0; ok && b < blocks; ++b )
        if ( task.failed[b] ) {
            ok = false;
            if ( error != NULL )
                *error = task.errors[b];
        }
    tr_free( task.bones );
    tr_free( task.failed );
    tr_free( task.errors );
    return ok;
}

// --------------------------------------------------------------------------------------------------- matrix

void tr_imesh_add_square( const tr_imesh *mesh, double *block, const int *vertices, const double *c,
                          int count, double weight )
{
    for ( int a = 0; a < count; ++a ) {
        int row = mesh->vertices[vertices[a]].unknown;
        for ( int b = 0; row >= 0 && b < count; ++b ) {
            int column = mesh->vertices[vertices[b]].unknown;
            if ( column >= 0 )
                block[row * mesh->unknown_count + column] += weight * c[a] * c[b];
        }
    }
}

vec3 tr_imesh_grown( const tr_imesh *mesh, int frame, int vertex )
{
    const tr_imesh_web *web = &mesh->webs[frame];
    const vec3 *source = tr_imesh_frame( mesh, mesh->source, frame );
    vec3 sum = v3_zero;
    for ( int i = web->start[vertex]; i < web->start[vertex + 1]; ++i ) {
        int other = web->neighbours[i];
        double scale = mesh->def.relations;
        const tr_imesh_vertex *a = &mesh->vertices[vertex], *b = &mesh->vertices[other];
        if ( a->owner == b->owner && ( a->kind == TR_IMESH_CORNER ) == ( b->kind == TR_IMESH_CORNER ) )
            scale = mesh->def.growth ? 0.5 * ( mesh->growth[vertex] + mesh->growth[other] ) : 1;
        sum = v3_mad( sum, web->weights[i] * ( scale - 1 ), v3_sub( source[vertex], source[other] ) );
    }
    return sum;
}

// One row of M: its square goes into the block, its value into the right-hand side.
static void add_relation( const tr_imesh *mesh, int frame, int vertex, double *block, float *base,
                          int *columns, double *c )
{
    const tr_imesh_web *web = &mesh->webs[frame];
    const vec3 *source = tr_imesh_frame( mesh, mesh->source, frame ),
               *target = tr_imesh_frame( mesh, mesh->target, frame );
    int count = web->start[vertex + 1] - web->start[vertex];
    if ( count == 0 )
        return;
    columns[0] = vertex;
    c[0] = 1;
    vec3 wanted = tr_imesh_grown( mesh, frame, vertex );
    for ( int i = 0; i < count; ++i ) {
        columns[1 + i] = web->neighbours[web->start[vertex] + i];
        c[1 + i] = -web->weights[web->start[vertex] + i];
    }
    for ( int i = 0; i <= count; ++i )
        if ( mesh->vertices[columns[i]].unknown < 0 )
            wanted = v3_mad( wanted, -c[i], v3_sub( target[columns[i]], source[columns[i]] ) );
    tr_imesh_add_square( mesh, block, columns, c, count + 1, 1 );
    for ( int i = 0; i <= count; ++i )
        tr_imesh_pull( mesh, base, columns[i], c[i], wanted );
}

static void add_places( const tr_imesh *mesh, int frame, double *block, float *base )
{
    const vec3 *source = tr_imesh_frame( mesh, mesh->source, frame ),
               *target = tr_imesh_frame( mesh, mesh->target, frame );
    for ( int v = 0; v < mesh->vertex_count; ++v ) {
        int u = mesh->vertices[v].unknown;
        if ( u < 0 )
            continue;
        block[u * mesh->unknown_count + u] += mesh->def.place;
        tr_imesh_pull( mesh, base, v, mesh->def.place, v3_sub( target[v], source[v] ) );
    }
}

static void add_posture( const tr_imesh *mesh, int frame, double *block, float *base )
{
    const vec3 *source = tr_imesh_frame( mesh, mesh->source, frame ),
               *target = tr_imesh_frame( mesh, mesh->target, frame );
    for ( int l = 0; l < mesh->link_count; ++l ) {
        int a = mesh->links[l].a, b = mesh->links[l].b;
        if ( !mesh->links[l].bone )
            continue;
        vec3 turned = v3_sub( v3_sub( target[a], target[b] ), v3_sub( source[a], source[b] ) );
        tr_imesh_add_square( mesh, block, ( int[] ){ a, b }, ( double[] ){ 1, -1 }, 2, mesh->def.posture );
        tr_imesh_pull( mesh, base, a, mesh->def.posture, turned );
        tr_imesh_pull( mesh, base, b, -mesh->def.posture, turned );
    }
}

static void add_boxes( const tr_imesh *mesh, double *block )
{
    for ( int v = 0; v < mesh->vertex_count; v += 1 ) {
        if ( mesh->vertices[v].kind != TR_IMESH_CORNER || mesh->vertices[v].part != 0 )
            continue;
        int corners[TR_IMESH_CORNERS];
        double ones[TR_IMESH_CORNERS];
        for ( int k = 0; k < TR_IMESH_CORNERS; ++k ) {
            corners[k] = v + k;
            ones[k] = 1;
            tr_imesh_add_square( mesh, block, &corners[k], ones, 1, mesh->def.pull.box );
        }
        tr_imesh_add_square( mesh, block, corners, ones, TR_IMESH_CORNERS,
                             -mesh->def.pull.box / TR_IMESH_CORNERS );
    }
}

static void add_splits( const tr_imesh *mesh, int frame, double *block )
{
    const tr_imesh_solver *s = mesh->solver;
    for ( int l = 0; l < mesh->link_count; ++l )
        if ( !mesh->links[l].grouped )
            tr_imesh_add_square( mesh, block, ( int[] ){ mesh->links[l].a, mesh->links[l].b },
                                 ( double[] ){ 1, -1 }, 2, mesh->def.pull.link );
    for ( int g = 0; g < mesh->group_count; ++g )
        tr_imesh_group_square( mesh, &mesh->groups[g], block );
    add_boxes( mesh, block );
    for ( int i = s->held_start[frame]; i < s->held_start[frame + 1]; ++i )
        tr_imesh_add_square( mesh, block, s->held[i].vertex, s->held[i].weight, s->held[i].term_count,
                             mesh->def.pull.row );
}

// Second differences over frames: how they join a frame with itself, the next, and the one after it.
static void accelerations( const tr_imesh *mesh, int frame, double out[3] )
{
    static const double stencil[3] = { 1, -2, 1 };
    for ( int ahead = 0; ahead < 3; ++ahead ) {
        out[ahead] = 0;
        for ( int c = frame - 1; c <= frame + 1; ++c ) { // around which frame the difference is taken
            int i = frame - c + 1, k = i + ahead;
            if ( c >= 1 && c + 1 < mesh->frame_count && k < 3 )
                out[ahead] += mesh->def.acceleration * stencil[i] * stencil[k];
        }
    }
}

// Longer limbs swing wider: accelerations are those of the source with the target's bones.
static bool add_accelerations( const tr_imesh *mesh )
{
    const tr_imesh_solver *s = mesh->solver;
    size_t width = 3 * (size_t)s->band.stride, count = (size_t)mesh->vertex_count;
    vec3 *grown = tr_alloc( 3 * count, sizeof( vec3 ) );
    for ( int f = 0; grown != NULL && f < mesh->frame_count && mesh->def.growth; ++f ) {
        vec3 *now = grown + (size_t)( f % 3 ) * count;
        tr_imesh_grow( mesh, f, now );
        for ( size_t v = 0; v < count; ++v )
            now[v] = v3_sub( now[v], tr_imesh_frame( mesh, mesh->source, f )[v] );
        float *base = f >= 2 ? s->base + (size_t)( f - 2 ) * width : NULL;
        for ( int v = 0; base != NULL && v < mesh->vertex_count; ++v ) {
            vec3 last = grown[(size_t)( ( f + 1 ) % 3 ) * count + (size_t)v],
                 middle = grown[(size_t)( ( f + 2 ) % 3 ) * count + (size_t)v];
            vec3 second = v3_scale( mesh->def.acceleration, v3_add( v3_mad( last, -2, middle ), now[v] ) );
            tr_imesh_pull( mesh, base, v, 1, second );
            tr_imesh_pull( mesh, base + width, v, -2, second );
            tr_imesh_pull( mesh, base + 2 * width, v, 1, second );
        }
    }
    bool ok = grown != NULL;
    tr_free( grown );
    return ok;
}

static bool factor( tr_imesh *mesh, tr_error *error )
{
    tr_imesh_solver *s = mesh->solver;
    size_t n = (size_t)mesh->unknown_count, m = (size_t)mesh->vertex_count;
    double *block = tr_alloc( n * n, sizeof( double ) ), *c = tr_alloc( m + 1, sizeof( double ) );
    int *columns = tr_alloc( m + 1, sizeof( int ) );
    bool ok = block != NULL && c != NULL && columns != NULL;
    if ( !ok )
        tr_error_memory( error );
    for ( int f = 0; f < mesh->frame_count && ok; ++f ) {
        float *base = s->base + (size_t)f * 3 * (size_t)s->band.stride;
        double joins[3];
        memset( block, 0, n * n * sizeof( double ) );
        for ( int v = 0; v < mesh->vertex_count; ++v )
            add_relation( mesh, f, v, block, base, columns, c );
        add_places( mesh, f, block, base );
        add_posture( mesh, f, block, base );
        tr_imesh_bends_add( mesh, f, block, base );
        add_splits( mesh, f, block );
        accelerations( mesh, f, joins );
        for ( size_t i = 0; i < n; ++i )
            block[i * n + i] += joins[0];
        ok = tr_band_add( &s->band, block, joins[1], joins[2] ) ||
             tr_error_set( error, "frame %d of an interaction mesh cannot be solved", mesh->cast.first + f );
    }
    if ( ok && !add_accelerations( mesh ) )
        ok = tr_error_memory( error );
    tr_free( block );
    tr_free( c );
    tr_free( columns );
    return ok;
}

// ------------------------------------------------------------------------------------------------- the rest

static bool measure_links( tr_imesh *mesh )
{
    tr_imesh_solver *s = mesh->solver;
    size_t links = (size_t)mesh->link_count, all = (size_t)mesh->frame_count * links;
    s->lengths = tr_alloc( all, sizeof *s->lengths );
    s->link_duals = tr_alloc( all, sizeof( vec3 ) );
    s->box_duals = tr_alloc( (size_t)mesh->frame_count * (size_t)mesh->cast.box_count * TR_IMESH_CORNERS,
                             sizeof( vec3 ) );
    size_t groups = (size_t)mesh->frame_count * (size_t)mesh->group_count;
    s->group_duals = tr_alloc( groups * TR_IMESH_GROUP, sizeof( vec3 ) );
    s->group_turns = tr_alloc( groups, sizeof( quat ) );
    s->group_aligns = tr_alloc( groups, sizeof( quat ) );
    if ( s->lengths == NULL || s->link_duals == NULL || s->box_duals == NULL || s->group_duals == NULL ||
         s->group_turns == NULL || s->group_aligns == NULL )
        return false;
    tr_imesh_groups_align( mesh );
    for ( int f = 0; f < mesh->frame_count; ++f )
        for ( size_t l = 0; l < links; ++l ) {
            const vec3 *at = tr_imesh_frame( mesh, mesh->source, f );
            const tr_imesh_link *link = &mesh->links[l];
            double *length = s->lengths[(size_t)f * links + l];
            length[0] = v3_distance( at[link->a], at[link->b] );
            length[1] = link->length > 0 ? link->length : link->ratio * length[0];
        }
    return true;
}

static bool may_collide( const tr_imesh *mesh, const tr_pose *rests, int i, int k )
{
    const tr_imesh_capsule *a = &mesh->capsules[i], *b = &mesh->capsules[k];
    const tr_imesh_body *body = &mesh->cast.bodies[a->body];
    return a->body != b->body ||
           tr_body_may_collide( body->target_body, body->target, rests[a->body], a->index, b->index );
}

static bool find_pairs( tr_imesh *mesh )
{
    tr_imesh_solver *s = mesh->solver;
    size_t bodies = (size_t)mesh->cast.body_count, capsules = (size_t)mesh->capsule_count;
    tr_pose *rests = tr_alloc( bodies, sizeof *rests );
    s->pairs = tr_alloc( capsules * ( capsules + 1 ) / 2, sizeof *s->pairs );
    bool ok = rests != NULL && s->pairs != NULL;
    for ( size_t b = 0; ok && b < bodies; ++b ) {
        size_t n = (size_t)mesh->cast.bodies[b].target->joint_count;
        rests[b] = ( tr_pose ){ tr_alloc( n, sizeof( quat ) ), tr_alloc( n, sizeof( vec3 ) ) };
        ok = rests[b].rotations != NULL && rests[b].positions != NULL;
        if ( ok )
            tr_forward_rest( mesh->cast.bodies[b].target, rests[b] );
    }
    for ( int i = 0; ok && i < mesh->capsule_count; ++i )
        for ( int k = i + 1; k < mesh->capsule_count; ++k )
            if ( may_collide( mesh, rests, i, k ) ) {
                s->pairs[s->pair_count][0] = i;
                s->pairs[s->pair_count++][1] = k;
            }
    for ( size_t b = 0; rests != NULL && b < bodies; ++b ) {
        tr_free( rests[b].rotations );
        tr_free( rests[b].positions );
    }
    tr_free( rests );
    return ok;
}

bool tr_imesh_watch_build( tr_imesh *mesh, tr_error *error )
{
    tr_imesh_solver *s = mesh->solver = tr_alloc( 1, sizeof *s );
    size_t frames = (size_t)mesh->frame_count;
    if ( s == NULL )
        return tr_error_memory( error );
    s->contacts = tr_alloc( frames, sizeof *s->contacts );
    s->before = tr_alloc( frames, sizeof *s->before );
    return ( s->contacts != NULL && s->before != NULL && find_pairs( mesh ) ) || tr_error_memory( error );
}

bool tr_imesh_solver_build( tr_imesh *mesh, tr_error *error )
{
    if ( !tr_imesh_watch_build( mesh, error ) )
        return false;
    tr_imesh_solver *s = mesh->solver;
    if ( !weave_all( mesh, error ) ||
         !tr_band_start( &s->band, mesh->frame_count, mesh->unknown_count, error ) )
        return false;
    s->base = tr_alloc( (size_t)mesh->frame_count * 3 * (size_t)s->band.stride, sizeof( float ) );
    s->u_memory = tr_alloc( tr_band_floats( &s->band ), sizeof( float ) );
    if ( s->base == NULL || s->u_memory == NULL || !measure_links( mesh ) || !tr_imesh_hold_rows( mesh ) )
        return tr_error_memory( error );
    s->u = tr_band_align( s->u_memory );
    return factor( mesh, error );
}

void tr_imesh_solver_free( tr_imesh *mesh )
{
    tr_imesh_solver *s = mesh->solver;
    for ( int f = 0; mesh->webs != NULL && f < mesh->frame_count; ++f )
        tr_imesh_web_free( &mesh->webs[f] );
    tr_free( mesh->webs );
    if ( s == NULL )
        return;
    for ( int f = 0; f < mesh->frame_count; ++f ) {
        if ( s->contacts != NULL )
            tr_free( s->contacts[f].items );
        if ( s->before != NULL )
            tr_free( s->before[f].items );
    }
    tr_band_free( &s->band );
    tr_free( s->base );
    tr_free( s->u_memory );
    tr_free( s->lengths );
    tr_free( s->link_duals );
    tr_free( s->box_duals );
    tr_free( s->group_duals );
    tr_free( s->group_turns );
    tr_free( s->group_aligns );
    tr_free( s->held );
    tr_free( s->held_start );
    tr_free( s->pairs );
    tr_free( s->contacts );
    tr_free( s->before );
    tr_free( s );
}

bool tr_imesh_build( tr_imesh *out, const tr_imesh_cast *cast, const tr_imesh_def *def, tr_error *error )
{
    *out = ( tr_imesh ){ .cast = *cast, .def = *def, .frame_count = cast->frame_count };
    if ( tr_imesh_vertices_build( out, error ) && tr_imesh_solver_build( out, error ) )
        return true;
    tr_imesh_free( out );
    return false;
}

void tr_imesh_free( tr_imesh *mesh )
{
    tr_imesh_solver_free( mesh );
    tr_imesh_vertices_free( mesh );
    *mesh = ( tr_imesh ){ 0 };
}

static size_t web_bytes( const tr_imesh *mesh, const tr_imesh_web *web )
{
    size_t vertices = (size_t)mesh->vertex_count;
    return ( vertices + 1 ) * sizeof( int ) +
           (size_t)web->start[vertices] * ( sizeof( int ) + sizeof( double ) ) +
           (size_t)web->tet_count * sizeof( int[4] );
}

size_t tr_imesh_bytes( const tr_imesh *mesh )
{
    const tr_imesh_solver *s = mesh->solver;
    size_t frames = (size_t)mesh->frame_count, vertices = (size_t)mesh->vertex_count,
           links = (size_t)mesh->link_count, groups = (size_t)mesh->group_count;
    size_t each = 6 * (size_t)s->band.stride * sizeof( float ) + 3 * vertices * sizeof( vec3 ) +
                  links * ( sizeof( vec3 ) + sizeof( double[2] ) ) +
                  groups * ( TR_IMESH_GROUP * sizeof( vec3 ) + sizeof( quat ) ) +
                  (size_t)mesh->cast.box_count * TR_IMESH_CORNERS * sizeof( vec3 );
    size_t bytes = frames * each + tr_band_bytes( &s->band ) +
                   (size_t)mesh->cast.row_count * sizeof *s->held +
                   (size_t)mesh->capsule_count * ( (size_t)mesh->capsule_count + 1 ) / 2 * sizeof *s->pairs;
    for ( size_t f = 0; f < frames; ++f )
        bytes += web_bytes( mesh, &mesh->webs[f] ) +
                 (size_t)( s->contacts[f].capacity + s->before[f].capacity ) * sizeof( tr_imesh_contact );
    return bytes;
}
