// The rounds: projections frame by frame, one solve of the band over all frames, forces of contacts.
//
// For a split-off term with c x = z, z in its set (a length, a rigid box, a target), scaled duals y:
//   v = c x + y,   z = the nearest in the set,   y ← v − z,   right-hand side += ρ cᵀ ( z − y − c x̄ ).
// A soft one of weight w goes w / (w + ρ) of the way to its set.
//
// A dual against a bone and longer than it would reverse the bone in the next round: contacts may press
// harder than that, and rounds would never settle. Duals are limited, and a bone or group pressed harder
// gives way.
//
// A contact's force λ ≥ 0 along its normal belongs to the dual of min ½ w (required − gap)₊²:
//   λ ← max( 0, λ + s ( required − gap − λ / w ) ).
// Touches also pull: with λ < 0 and a weight of their own. Steps s of one over a bound of the flexibility's
// row sum, Σ |G_rs| + 1/w, converge; unit forces at all contacts move them by the sum. Where these forces
// cancel each other it is no bound: rounds whose movement grows halve all steps. A round that moves a vertex
// farther than the mesh is long is useless: rounds start over with shorter steps.
#include "imesh/private.h"

#include <string.h>

enum { FRAME_BLOCK = 16 }; // frames of a task

typedef struct rounds {
    tr_imesh *mesh;
    double morph;
    double damping; // damping of the steps of forces
    double span;    // metres that a vertex may have to move, see span_of
    bool *failed;   // [blocks]
    vec3 *sums;     // [frame_count · vertex_count] of the last rounds
} rounds;

// ---------------------------------------------------------------------------------------------- projections

static void project_links( const tr_imesh *mesh, int frame, double morph, const vec3 *at, float *right )
{
    tr_imesh_solver *s = mesh->solver;
    const vec3 *source = tr_imesh_frame( mesh, mesh->source, frame );
    const double rho = mesh->def.pull.link, soft = mesh->def.length / ( mesh->def.length + rho );
    size_t first = (size_t)frame * (size_t)mesh->link_count;
    for ( int l = 0; l < mesh->link_count; ++l ) {
        const tr_imesh_link *link = &mesh->links[l];
        const double *lengths = s->lengths[first + (size_t)l];
        if ( link->grouped )
            continue;
        vec3 rest = v3_sub( source[link->a], source[link->b] );
        vec3 *dual = &s->link_duals[first + (size_t)l];
        vec3 v = v3_add( v3_sub( at[link->a], at[link->b] ), *dual );
        double length = lerpd( lengths[0], lengths[1], morph );
        vec3 z = v3_scale( length, v3_unit_or( v, v3_unit( rest ) ) );
        if ( !mesh->def.hard_lengths )
            z = v3_lerp( v, z, soft );
        *dual = v3_sub( v, z );
        if ( v3_dot( *dual, z ) < 0 )
            *dual = v3_scale( tr_imesh_at_most( v3_length( *dual ), length ), *dual );
        vec3 t = v3_sub( v3_sub( z, *dual ), rest );
        tr_imesh_pull( mesh, right, link->a, rho, t );
        tr_imesh_pull( mesh, right, link->b, -rho, t );
    }
}

static vec3 mean_of( const vec3 *points, int count )
{
    vec3 sum = v3_zero;
    for ( int i = 0; i < count; ++i )
        sum = v3_mad( sum, 1.0 / count, points[i] );
    return sum;
}

// The rotation that brings corners of this size nearest to points q about their mean.
static quat fit_box( const vec3 *q, vec3 size )
{
    mat3 m = { v3_zero, v3_zero, v3_zero };
    for ( int k = 0; k < TR_IMESH_CORNERS; ++k ) {
        vec3 c = tr_imesh_corner( k, size );
        m.cx = v3_mad( m.cx, c.x, q[k] );
        m.cy = v3_mad( m.cy, c.y, q[k] );
        m.cz = v3_mad( m.cz, c.z, q[k] );
    }
    return q_fit( m );
}

static void project_box( const tr_imesh *mesh, int frame, int box, double morph, const vec3 *at,
                         float *right )
{
    const tr_imesh_box *b = &mesh->cast.boxes[box];
    int first = tr_imesh_first_corner( mesh, box );
    const vec3 *source = tr_imesh_frame( mesh, mesh->source, frame ) + first;
    vec3 *duals = mesh->solver->box_duals +
                  ( (size_t)frame * (size_t)mesh->cast.box_count + (size_t)box ) * TR_IMESH_CORNERS;
    vec3 q[TR_IMESH_CORNERS], size = v3_lerp( b->source_size, b->target_size, morph );
    vec3 middle = mean_of( at + first, TR_IMESH_CORNERS ), rest = mean_of( source, TR_IMESH_CORNERS );
    for ( int k = 0; k < TR_IMESH_CORNERS; ++k )
        q[k] = v3_add( v3_sub( at[first + k], middle ), duals[k] );
    quat turn = fit_box( q, size );
    for ( int k = 0; k < TR_IMESH_CORNERS; ++k ) {
        vec3 z = q_rotate( turn, tr_imesh_corner( k, size ) );
        duals[k] = v3_sub( q[k], z );
        tr_imesh_pull( mesh, right, first + k, mesh->def.pull.box,
                       v3_sub( v3_sub( z, duals[k] ), v3_sub( source[k], rest ) ) );
    }
}

static void project_groups( const tr_imesh *mesh, int frame, double morph, const vec3 *at, float *right )
{
    const tr_imesh_solver *s = mesh->solver;
    for ( int g = 0; g < mesh->group_count; ++g ) {
        size_t i = (size_t)frame * (size_t)mesh->group_count + (size_t)g;
        tr_imesh_group_round round = {
            frame, morph, at, &s->group_turns[i], s->group_duals + i * TR_IMESH_GROUP, right };
        tr_imesh_group_project( mesh, &mesh->groups[g], &round );
    }
}

// `part` of the way to the target: 1 for hard rows.
static double project_axis( double v, double target, bool on, bool hard, double part )
{
    if ( !on )
        return v;
    return hard ? target : lerpd( v, target, part );
}

static void project_rows( const tr_imesh *mesh, int frame, double morph, const vec3 *at, float *right )
{
    tr_imesh_solver *s = mesh->solver;
    const double rho = mesh->def.pull.row;
    for ( int i = s->held_start[frame]; i < s->held_start[frame + 1]; ++i ) {
        tr_imesh_held *held = &s->held[i];
        const tr_imesh_row *row = held->row;
        vec3 wanted = v3_sub( v3_scale( held->scale, row->target ), held->turned ), v = held->dual,
             target = v3_lerp( held->source, wanted, morph );
        double weight = row->weight / ( held->scale * held->scale ), part = weight / ( weight + rho );
        for ( int t = 0; t < held->term_count; ++t )
            v = v3_mad( v, held->weight[t], at[held->vertex[t]] );
        vec3 z = v3( project_axis( v.x, target.x, row->axis[0], row->hard, part ),
                     project_axis( v.y, target.y, row->axis[1], row->hard, part ),
                     project_axis( v.z, target.z, row->axis[2], row->hard, part ) );
        held->dual = v3_sub( v, z );
        vec3 t = v3_sub( v3_sub( z, held->dual ), held->source );
        for ( int k = 0; k < held->term_count; ++k )
            tr_imesh_pull( mesh, right, held->vertex[k], rho * held->weight[k], t );
    }
}

static void pull_contacts( const tr_imesh *mesh, int frame, float *right )
{
    const tr_imesh_contacts *contacts = &mesh->solver->contacts[frame];
    for ( int i = 0; i < contacts->count; ++i ) {
        const tr_imesh_contact *c = &contacts->items[i];
        for ( int t = 0; c->force != 0 && t < c->term_count; ++t )
            tr_imesh_pull( mesh, right, c->vertex[t], c->force * c->weight[t], c->normal );
    }
}

static vec3 *positions_at( const tr_imesh *mesh, int frame )
{
    return mesh->positions + (size_t)frame * (size_t)mesh->vertex_count;
}

static float *unknowns_at( const tr_imesh *mesh, int frame )
{
    return mesh->solver->u + (size_t)frame * 3 * (size_t)mesh->solver->band.stride;
}

static void project( const rounds *r )
{
    const tr_imesh *mesh = r->mesh;
    int width = 3 * mesh->solver->band.stride;
    for ( int f = 0; f < mesh->frame_count; ++f ) {
        const vec3 *at = positions_at( mesh, f );
        float *right = unknowns_at( mesh, f );
        const float *base = mesh->solver->base + (size_t)f * (size_t)width;
        for ( int i = 0; i < width; ++i )
            right[i] = (float)r->morph * base[i];
        project_links( mesh, f, r->morph, at, right );
        project_groups( mesh, f, r->morph, at, right );
        for ( int b = 0; b < mesh->cast.box_count; ++b )
            if ( mesh->cast.boxes[b].moves )
                project_box( mesh, f, b, r->morph, at, right );
        project_rows( mesh, f, r->morph, at, right );
        pull_contacts( mesh, f, right );
    }
}

// --------------------------------------------------------------------------------------------------- forces

// Touching surfaces stay as near, scaled as distances between bodies are.
static double touch_gap( const tr_imesh *mesh, const tr_imesh_contact *c, double morph )
{
    return c->source_gap > 0 ? lerpd( 1, fmin( mesh->def.relations, 1 ), morph ) * c->source_gap
                             : c->source_gap;
}

// Members that move and do not touch in the source keep the reach between each other, unless others prevent
// it.
static double apart_gap( const tr_imesh *mesh, const tr_imesh_contact *c )
{
    int a = tr_imesh_contact_owner( mesh, c, 0 ), b = tr_imesh_contact_owner( mesh, c, 1 );
    bool still = c->kind == TR_IMESH_GROUND || ( c->kind == TR_IMESH_BOX && !mesh->cast.boxes[c->j].moves );
    return a != b && !still && mesh->def.apart > 0 ? fmax( 0, fmin( c->source_gap, mesh->def.apart_reach ) )
                                                   : 0;
}

typedef struct spring { // force = weight · (gap − actual gap), near the present force
    double weight, gap;
} spring;

// A term keeps volumes apart, and where they overlap another one adds to it: with a the gap at which the
// first begins, w and v their weights, the force is w (a − gap) up to w a, and (w + v) (w a / (w + v) − gap)
// after.
static spring spring_of( const tr_imesh *mesh, const tr_imesh_contact *c, double morph )
{
    if ( tr_imesh_touches( mesh, c ) )
        return ( spring ){ c->force < 0 ? mesh->def.touch : mesh->def.collision,
                           touch_gap( mesh, c, morph ) };
    double apart = apart_gap( mesh, c ), most = mesh->def.apart * apart;
    if ( !( apart > 0 ) )
        return ( spring ){ mesh->def.collision, tr_imesh_required( c ) };
    double both = mesh->def.apart + mesh->def.collision;
    return c->force <= most ? ( spring ){ mesh->def.apart, apart } : ( spring ){ both, most / both };
}

static void push_contacts( const tr_imesh *mesh, int frame, const vec3 *at, double morph, double damping )
{
    tr_imesh_contacts *contacts = &mesh->solver->contacts[frame];
    for ( int i = 0; i < contacts->count; ++i ) {
        tr_imesh_contact *c = &contacts->items[i];
        if ( !c->active )
            continue;
        spring by = spring_of( mesh, c, morph );
        double step = damping / ( c->flexibility + 1 / by.weight );
        c->force += step * ( by.gap - tr_imesh_gap( c, at ) - c->force / by.weight );
        if ( !tr_imesh_touches( mesh, c ) )
            c->force = fmax( c->force, 0 );
    }
}

// Returns the largest movement.
static double take( const rounds *r )
{
    const tr_imesh *mesh = r->mesh;
    int stride = mesh->solver->band.stride;
    double change = 0;
    for ( int f = 0; f < mesh->frame_count; ++f ) {
        const vec3 *source = tr_imesh_frame( mesh, mesh->source, f ),
                   *target = tr_imesh_frame( mesh, mesh->target, f );
        const float *u = unknowns_at( mesh, f );
        vec3 *at = positions_at( mesh, f );
        for ( int v = 0; v < mesh->vertex_count; ++v ) {
            int k = mesh->vertices[v].unknown;
            vec3 now = k < 0 ? v3_lerp( source[v], target[v], r->morph )
                             : v3_add( source[v], v3( u[k], u[stride + k], u[2 * stride + k] ) );
            change = fmax( change, v3_distance( now, at[v] ) );
            at[v] = now;
        }
        push_contacts( mesh, f, at, r->morph, r->damping );
    }
    return change;
}

static void start_over( tr_imesh *mesh )
{
    tr_imesh_solver *s = mesh->solver;
    size_t frames = (size_t)mesh->frame_count, links = (size_t)mesh->link_count;
    memcpy( mesh->positions, mesh->source, frames * (size_t)mesh->vertex_count * sizeof( vec3 ) );
    memset( s->link_duals, 0, frames * links * sizeof( vec3 ) );
    memset( s->box_duals, 0, frames * (size_t)mesh->cast.box_count * TR_IMESH_CORNERS * sizeof( vec3 ) );
    memset( s->group_duals, 0, frames * (size_t)mesh->group_count * TR_IMESH_GROUP * sizeof( vec3 ) );
    for ( size_t f = 0; f < frames; ++f )
        for ( int g = 0; g < mesh->group_count; ++g )
            s->group_turns[f * (size_t)mesh->group_count + (size_t)g] =
                tr_imesh_group_turn( mesh, &mesh->groups[g], (int)f, positions_at( mesh, (int)f ), 0 );
    for ( int i = 0; i < s->held_count; ++i )
        s->held[i].dual = v3_zero;
    for ( int f = 0; f < mesh->frame_count; ++f )
        s->contacts[f].count = s->before[f].count = 0;
}

// A round takes a fraction of a millisecond, and its larger half is sequential over frames: threads would
// mostly wait for each other. Meshes run in parallel instead.
static double iterate( rounds *r, double last )
{
    tr_imesh *mesh = r->mesh;
    const tr_imesh_round_def *def = &mesh->def.round;
    project( r );
    tr_band_solve( &mesh->solver->band, mesh->def.lanes, mesh->solver->u );
    double change = take( r ), growth = change / last;
    if ( change > r->span ) {
        r->damping /= fmax( growth, def->leap );
        start_over( mesh );
    } else if ( growth > def->worse && r->damping > def->damping_min )
        r->damping *= 0.5;
    return change;
}

// -------------------------------------------------------------------------------------------------- contacts

static void detect_frames( void *context, int begin, int end )
{
    const rounds *r = context;
    bool ok = true;
    for ( int f = begin; f < end; ++f )
        ok = tr_imesh_detect( r->mesh, f, positions_at( r->mesh, f ), r->morph ) && ok;
    r->failed[begin / FRAME_BLOCK] = !ok;
}

// Unit forces at all contacts at once: the movement of each bounds its flexibility.
static void measure_steps( tr_imesh *mesh )
{
    tr_imesh_solver *s = mesh->solver;
    int stride = s->band.stride, any = 0;
    // a contact that lasts adds up over the frames that accelerations join
    double lasting = mesh->def.round.lasting * sqrt( 1 + mesh->def.acceleration );
    memset( s->u, 0, (size_t)mesh->frame_count * 3 * (size_t)stride * sizeof( float ) );
    for ( int f = 0; f < mesh->frame_count; ++f )
        for ( int i = 0; i < s->contacts[f].count; ++i ) {
            const tr_imesh_contact *c = &s->contacts[f].items[i];
            for ( int t = 0; c->active && t < c->term_count; ++t, ++any )
                tr_imesh_pull( mesh, unknowns_at( mesh, f ), c->vertex[t], c->weight[t], c->normal );
        }
    if ( any == 0 )
        return;
    tr_band_solve( &s->band, mesh->def.lanes, s->u );
    for ( int f = 0; f < mesh->frame_count; ++f )
        for ( int i = 0; i < s->contacts[f].count; ++i ) {
            tr_imesh_contact *c = &s->contacts[f].items[i];
            const float *u = unknowns_at( mesh, f );
            double moved = 0, own = 0;
            for ( int t = 0; t < c->term_count; ++t ) {
                int k = mesh->vertices[c->vertex[t]].unknown;
                if ( k < 0 )
                    continue;
                moved += c->weight[t] * v3_dot( c->normal, v3( u[k], u[stride + k], u[2 * stride + k] ) );
                for ( int q = 0; q < c->term_count; ++q ) {
                    int o = mesh->vertices[c->vertex[q]].unknown;
                    own += o < 0 ? 0 : c->weight[t] * c->weight[q] * tr_band_flexibility( &s->band, f, k, o );
                }
            }
            c->flexibility = fmax( moved, lasting * own );
        }
}

// Turns points fixed to groups along with them; in every round the two would oscillate.
static void turn_rows( tr_imesh *mesh )
{
    for ( int i = 0; i < mesh->solver->held_count; ++i )
        mesh->solver->held[i].turned = tr_imesh_held_offset( mesh, &mesh->solver->held[i] );
}

static bool detect( rounds *r )
{
    tr_imesh *mesh = r->mesh;
    tr_parallel_for( mesh->frame_count, FRAME_BLOCK, detect_frames, r );
    for ( int b = 0; b * FRAME_BLOCK < mesh->frame_count; ++b )
        if ( r->failed[b] )
            return false;
    turn_rows( mesh );
    measure_steps( mesh );
    r->damping = fmin( 1, 2 * r->damping );
    return true;
}

// Puts surface vertices back on the surface of their bones, at their present angle around them.
static void restore_surfaces( const tr_imesh *mesh, double morph )
{
    for ( int f = 0; f < mesh->frame_count; ++f )
        for ( int v = 0; v < mesh->vertex_count; ++v ) {
            const tr_imesh_vertex *vertex = &mesh->vertices[v];
            if ( vertex->kind != TR_IMESH_SURFACE )
                continue;
            vec3 *at = positions_at( mesh, f ), a = at[vertex->ends[0]], b = at[vertex->ends[1]];
            vec3 bone = v3_unit( v3_sub( b, a ) ), middle = v3_lerp( a, b, 0.5 ),
                 out = v3_sub( at[v], middle );
            const vec3 *source = tr_imesh_frame( mesh, mesh->source, f );
            double radius =
                v3_distance( source[v], v3_lerp( source[vertex->ends[0]], source[vertex->ends[1]], 0.5 ) );
            double target = mesh->cast.bodies[vertex->owner].target_body->capsules[vertex->part].radius;
            out = v3_mad( out, -v3_dot( out, bone ), bone );
            at[v] =
                v3_mad( middle, lerpd( radius, target, morph ), v3_unit_or( out, v3_perpendicular( bone ) ) );
        }
}

// --------------------------------------------------------------------------------------------------- public

// Adds the positions of a round; `weight` 0 begins.
static void add_up( const tr_imesh *mesh, vec3 *sums, double weight )
{
    size_t count = (size_t)mesh->frame_count * (size_t)mesh->vertex_count;
    for ( size_t i = 0; i < count; ++i )
        sums[i] = v3_add( v3_scale( weight, sums[i] ), mesh->positions[i] );
}

static void take_mean( tr_imesh *mesh, const vec3 *sums, int rounds_added )
{
    size_t count = (size_t)mesh->frame_count * (size_t)mesh->vertex_count;
    for ( size_t i = 0; i < count; ++i )
        mesh->positions[i] = v3_scale( 1.0 / rounds_added, sums[i] );
}

// Rounds with fixed contacts: detected anew every few rounds they would oscillate for ever. Rounds that do
// not settle circle around the solution: the mean of the last ones is nearer to it than any of them.
static bool settle( rounds *r, bool last, tr_imesh_report *report )
{
    const tr_imesh_def *def = &r->mesh->def;
    const tr_imesh_round_def *round = &def->round;
    int most = ( def->settle + 1 ) / 2, added = 0;
    if ( !detect( r ) )
        return false;
    for ( int i = 0; i < most; ++i, ++report->iterations ) {
        if ( !tr_work_wanted() )
            return false;
        report->change = iterate( r, i < 2 ? HUGE_VAL : report->change );
        if ( ( i + 1 ) % round->turn_rows == 0 )
            turn_rows( r->mesh );
        if ( i + 1 >= round->turn_rows && report->change <= round->still &&
             tr_imesh_bone_error( r->mesh ) <= def->tolerance ) {
            added = 0;
            break;
        }
        if ( last && i >= most - round->averaged )
            add_up( r->mesh, r->sums, added++ > 0 );
    }
    if ( added > 0 && report->change > round->restless ) {
        take_mean( r->mesh, r->sums, added );
        report->change /= added; // the last round moved the mean by this, at most
    }
    return true;
}

static bool any_touches( const tr_imesh *mesh )
{
    for ( int f = 0; f < mesh->frame_count; ++f )
        for ( int i = 0; i < mesh->solver->contacts[f].count; ++i )
            if ( tr_imesh_touches( mesh, &mesh->solver->contacts[f].items[i] ) )
                return true;
    return false;
}

// Steps keep volumes from passing through each other unseen: a short way needs fewer, and so do bodies that
// only stand near each other. The mean movement of a frame's vertices does not count.
static int steps_for( const tr_imesh *mesh )
{
    double longest = 0;
    for ( int f = 0; f < mesh->frame_count; ++f ) {
        const vec3 *source = tr_imesh_frame( mesh, mesh->source, f ),
                   *target = tr_imesh_frame( mesh, mesh->target, f );
        vec3 all = v3_sub( mean_of( target, mesh->vertex_count ), mean_of( source, mesh->vertex_count ) );
        for ( int v = 0; v < mesh->vertex_count; ++v )
            longest = fmax( longest, v3_distance( v3_add( source[v], all ), target[v] ) );
    }
    const tr_imesh_round_def *def = &mesh->def.round;
    bool alone = mesh->cast.body_count + mesh->cast.box_count < 2; // a body can only hit itself
    double stride = alone || any_touches( mesh ) ? def->stride : def->stride_apart;
    return tr_int_clamped( ceil( longest / stride ), 1, mesh->def.steps );
}

static bool take_step( rounds *r, bool last, tr_imesh_report *report )
{
    const tr_imesh_def *def = &r->mesh->def;
    double first = HUGE_VAL;
    int least = last && def->settle == 0 ? def->iterations : def->round.least; // else settle() follows
    if ( !detect( r ) )
        return false;
    for ( int i = 0; i < def->iterations && ( i < least || report->change > def->round.calm * first ); ++i ) {
        if ( !tr_work_wanted() )
            return false;
        report->change = iterate( r, i < 2 ? HUGE_VAL : report->change );
        first = i == 0 ? report->change : first;
        ++report->iterations;
    }
    restore_surfaces( r->mesh, r->morph );
    return true;
}

static bool mend( const tr_imesh *mesh )
{
    bool *held = tr_alloc( (size_t)mesh->vertex_count, sizeof( bool ) );
    for ( int f = 0; f < mesh->frame_count && held != NULL; ++f )
        tr_imesh_mend_lengths( mesh, f, held, positions_at( mesh, f ) );
    bool ok = held != NULL;
    tr_free( held );
    return ok;
}

static bool morph( rounds *r, tr_imesh_report *report )
{
    tr_imesh *mesh = r->mesh;
    r->morph = 0;
    if ( !detect( r ) ) // the touches of the source
        return false;
    int steps = steps_for( mesh );
    for ( int step = 1; step <= steps; ++step ) {
        r->morph = (double)step / steps;
        if ( !take_step( r, step == steps, report ) )
            return false;
    }
    for ( int half = 0; half < 2; ++half )
        if ( !settle( r, half == 1, report ) )
            return false;
    if ( mesh->def.hard_lengths && !mend( mesh ) )
        return false;
    restore_surfaces( mesh, 1 );
    return true;
}

// The farthest that a vertex may have to move: from end to end of the mesh, and to the targets of rows.
static double span_of( const tr_imesh *mesh )
{
    double most = 0;
    for ( size_t i = 0; i < (size_t)mesh->frame_count * (size_t)mesh->vertex_count; ++i )
        most = fmax( most, fmax( v3_distance( mesh->source[i], mesh->source[0] ),
                                 v3_distance( mesh->target[i], mesh->source[0] ) ) );
    for ( int i = 0; i < mesh->solver->held_count; ++i ) {
        const tr_imesh_held *held = &mesh->solver->held[i];
        most = fmax( most, v3_distance( v3_scale( held->scale, held->row->target ), held->source ) );
    }
    return 2 * most;
}

bool tr_imesh_solve( tr_imesh *mesh, tr_imesh_report *report, tr_error *error )
{
    tr_imesh_report unused = { 0 }, *out = report != NULL ? report : &unused;
    *out = ( tr_imesh_report ){ 0 };
    size_t blocks = ( (size_t)mesh->frame_count + FRAME_BLOCK - 1 ) / FRAME_BLOCK;
    rounds r = { .mesh = mesh,
                 .damping = 1,
                 .span = span_of( mesh ),
                 .failed = tr_alloc( blocks, sizeof( bool ) ),
                 .sums = tr_alloc( (size_t)mesh->frame_count * (size_t)mesh->vertex_count, sizeof( vec3 ) ) };
    start_over( mesh );
    bool ok = r.failed != NULL && r.sums != NULL && morph( &r, out ) &&
              ( report == NULL || tr_imesh_report_fill( mesh, report ) );
    tr_free( r.failed );
    tr_free( r.sums );
    return ok || tr_error_memory( error );
}

rigid tr_imesh_box_place( const tr_imesh *mesh, int box, int frame )
{
    const tr_imesh_box *b = &mesh->cast.boxes[box];
    if ( !b->moves )
        return tr_imesh_track( b->target, b->track_count, mesh->cast.first + frame );
    const vec3 *at = tr_imesh_frame( mesh, mesh->positions, frame ) + tr_imesh_first_corner( mesh, box );
    vec3 middle = mean_of( at, TR_IMESH_CORNERS ), q[TR_IMESH_CORNERS];
    for ( int k = 0; k < TR_IMESH_CORNERS; ++k )
        q[k] = v3_sub( at[k], middle );
    return ( rigid ){ fit_box( q, b->target_size ), middle };
}
