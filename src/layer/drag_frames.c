// Frames of a drag: every set poses, deforms and fits its own. Of frames that are not looked at, only keys
// are solved: what a layer does to a pose changes slowly, so between keys it is mixed,
//
//   local(f) = D(f) · below(f),  D from D(a) to D(b),  D(k) = local(k) · below(k)⁻¹ at the keys a, b around
//   f,
//
// and likewise for roots, boxes and turns.
#include "layer/drag.h"

#include <string.h>

bool tr_drag_is_superseded( const tr_drag *drag )
{
    return drag->tick.latest != NULL && atomic_load( drag->tick.latest ) != drag->tick.number;
}

// Frames beside those to be fitted that need graphs.
static int margin( const tr_drag *drag, tr_drag_pass pass )
{
    return tr_steady_span( &drag->stage ) + drag->how[pass].stride - 1;
}

int tr_drag_chunk( const tr_drag *drag )
{
    int most = 0;
    for ( int pass = 0; pass < TR_DRAG_PASSES; ++pass ) {
        int frames = drag->blocks[pass] * TR_DRAG_BLOCK + 1 + 2 * margin( drag, (tr_drag_pass)pass );
        most = frames > most ? frames : most;
    }
    return most;
}

// ------------------------------------------------------------------------------------------------------ mix

typedef struct gap { // frames between two keys a and b; either may be beyond the stage
    int a, b;
} gap;

static double part_of( gap g, int frame )
{
    return g.b > g.a ? (double)( frame - g.a ) / ( g.b - g.a ) : 0;
}

// How a joint is turned in the world.
static quat offset_of( const tr_drag *drag, int actor, int joint, int frame )
{
    quat below = tr_world_pose( &drag->below->worlds[actor], frame ).rotations[joint],
         now = tr_world_pose( &drag->work.worlds[actor], frame ).rotations[joint];
    quat d = q_mul( now, q_conj( below ) );
    return d.w < 0 ? ( quat ){ -d.x, -d.y, -d.z, -d.w } : d;
}

// The body whose feet the layer may move; NULL: none.
static const tr_moved_body *stepping_body( const tr_drag *drag, int actor )
{
    const tr_moved_body *body = tr_cage_layer_body( &drag->layer, actor );
    return body != NULL ? body : tr_follower( &drag->layer, actor );
}

static void mix_steps( tr_drag *drag, int actor, gap g, tr_row frames )
{
    const tr_moved_body *body = stepping_body( drag, actor );
    const tr_step *below = drag->below->steps[actor];
    tr_step *now = drag->work.steps[actor];
    for ( int i = 0; body != NULL && i < body->foot_count; ++i ) {
        int joint = body->feet[i].joint;
        const tr_step *p = now + tr_step_cell( &drag->stage, joint, g.a ),
                      *q = now + tr_step_cell( &drag->stage, joint, g.b );
        bool none = tr_step_is_none( *p ) && tr_step_is_none( *q );
        for ( int f = frames.first; f <= frames.last; ++f ) {
            size_t at = tr_step_cell( &drag->stage, joint, f );
            double t = part_of( g, f );
            now[at] =
                none ? ( below != NULL ? below[at] : *p )
                     : ( tr_step ){ p->turn + t * ( q->turn - p->turn ), v3_lerp( p->move, q->move, t ) };
        }
    }
}

static void touch( tr_drag *drag, int node, tr_row frames, bool touched )
{
    for ( int f = frames.first; f <= frames.last; ++f )
        *tr_cage_layer_touched( &drag->layer, node, f ) = touched;
}

static bool is_same( const void *now, const void *below, size_t begin, size_t end, size_t size )
{
    const char *a = now, *b = below;
    return memcmp( a + begin * size, b + begin * size, size ) == 0 &&
           memcmp( a + end * size, b + end * size, size ) == 0;
}

// The frames between the keys a and b of a body. A joint whose local rotation is that below at both keys
// keeps it; the world rotation of any other is D(f) times that below, with D between unit quaternions
//
//   ‖a + t (b − a)‖² = 1 − 2 t (1 − t) (1 − a·b),   1 / √(1 − x) = 1 + ½ x + ⅜ x² + …
//
// Most joints hardly turn from key to key: there three terms leave less than 1e-12. Halfway between opposite
// rotations there is nothing: then it stays as at a.
static void mix_actor( tr_drag *drag, int i, gap g, tr_row frames )
{
    static const double small = 1e-4, second = 0.375; // x below which the series is used, and its last term
    static const double no_length = 1e-6;             // norm of a unit quaternion, squared
    const tr_skeleton *skeleton = &drag->work.motions[i].skeleton;
    const tr_clip *below = &drag->below->motions[i].clip;
    tr_clip *now = &drag->work.motions[i].clip;
    size_t joints = (size_t)now->joint_count, from = (size_t)g.a, to = (size_t)g.b;
    double step = g.b > g.a ? 1.0 / ( g.b - g.a ) : 0;
    bool keeps = is_same( now->root, below->root, from, to, sizeof( vec3 ) );

    if ( drag->work.turns[i] != NULL ) { // about the vertical, in all
        const double *turns = drag->below->turns[i];
        double *turned = drag->work.turns[i], a = turned[g.a] - ( turns != NULL ? turns[g.a] : 0 ),
               b = turned[g.b] - ( turns != NULL ? turns[g.b] : 0 );
        for ( int f = frames.first; f <= frames.last; ++f )
            turned[f] = ( turns != NULL ? turns[f] : 0 ) + a + part_of( g, f ) * ( b - a );
    }
    if ( drag->work.steps[i] != NULL )
        mix_steps( drag, i, g, frames );

    for ( int j = 0; j < now->joint_count; ++j ) {
        int parent = skeleton->joints[j].parent;
        if ( is_same( now->rotations + j, below->rotations + j, from * joints, to * joints,
                      sizeof( quat ) ) ) {
            for ( int f = frames.first; f <= frames.last; ++f ) {
                quat *world = tr_world_pose( &drag->work.worlds[i], f ).rotations,
                     local = tr_clip_frame( below, f )[j];
                tr_clip_frame( now, f )[j] = local;
                world[j] = parent < 0 ? local : q_mul( world[parent], local );
            }
            continue;
        }
        keeps = false;
        quat a = offset_of( drag, i, j, g.a ), b = offset_of( drag, i, j, g.b );
        quat way = { b.x - a.x, b.y - a.y, b.z - a.z, b.w - a.w };
        double apart = 1 - q_dot( a, b );
        for ( int f = frames.first; f <= frames.last; ++f ) {
            double t = ( f - g.a ) * step, x = 2 * t * ( 1 - t ) * apart, s = 1, r = 0;
            if ( x < 1 - no_length ) {
                s = x < small ? 1 + x * ( 0.5 + second * x ) : 1 / sqrt( 1 - x );
                r = s * t;
            }
            quat d = { s * a.x + r * way.x, s * a.y + r * way.y, s * a.z + r * way.z, s * a.w + r * way.w };
            quat *world = tr_world_pose( &drag->work.worlds[i], f ).rotations;
            world[j] = q_mul( d, tr_world_pose( &drag->below->worlds[i], f ).rotations[j] );
            tr_clip_frame( now, f )[j] = parent < 0 ? world[j] : q_mul( q_conj( world[parent] ), world[j] );
        }
    }
    if ( keeps ) {
        tr_some_frames all = tr_all_frames( frames.first, frames.last );
        tr_cage_layer_restore( &drag->layer, i, &all );
        return;
    }

    touch( drag, i, frames, true );
    vec3 a = v3_sub( now->root[g.a], below->root[g.a] ), b = v3_sub( now->root[g.b], below->root[g.b] );
    for ( int f = frames.first; f <= frames.last; ++f ) {
        tr_pose pose = tr_world_pose( &drag->work.worlds[i], f );
        const vec3 *moved = now->translations != NULL ? now->translations + (size_t)f * joints : NULL;
        now->root[f] = v3_add( below->root[f], v3_lerp( a, b, part_of( g, f ) ) );
        pose.positions[0] = now->root[f];
        for ( int j = 1; j < now->joint_count; ++j ) {
            int parent = skeleton->joints[j].parent;
            vec3 offset = moved != NULL ? moved[j] : skeleton->joints[j].offset;
            pose.positions[j] = v3_add( pose.positions[parent], q_rotate( pose.rotations[parent], offset ) );
        }
    }
}

static void mix_prop( tr_drag *drag, int p, gap g, tr_row frames )
{
    const rigid *below = drag->below->tracks[p];
    rigid *now = drag->work.tracks[p];
    vec3 a = v3_sub( now[g.a].position, below[g.a].position ),
         b = v3_sub( now[g.b].position, below[g.b].position );
    quat from = q_mul( now[g.a].rotation, q_conj( below[g.a].rotation ) ),
         to = q_mul( now[g.b].rotation, q_conj( below[g.b].rotation ) );
    bool moves = memcmp( &now[g.a], &below[g.a], sizeof( rigid ) ) != 0 ||
                 memcmp( &now[g.b], &below[g.b], sizeof( rigid ) ) != 0;
    touch( drag, drag->stage.actor_count + p, frames, moves );
    for ( int f = frames.first; f <= frames.last; ++f ) {
        double t = part_of( g, f );
        now[f] = below[f];
        if ( moves )
            now[f] = ( rigid ){ q_unit( q_mul( q_slerp( from, to, t ), below[f].rotation ) ),
                                v3_add( below[f].position, v3_lerp( a, b, t ) ) };
    }
}

// Has anything become of the node around there, now or in an earlier tick?
static bool is_touched( tr_drag *drag, int node, gap g, tr_row frames )
{
    bool touched = *tr_cage_layer_touched( &drag->layer, node, g.a ) ||
                   *tr_cage_layer_touched( &drag->layer, node, g.b );
    for ( int f = frames.first; !touched && f <= frames.last; ++f )
        touched = *tr_cage_layer_touched( &drag->layer, node, f );
    return touched;
}

static void mix_gap( tr_drag *drag, const tr_drag_set *set, gap g )
{
    int end = drag->stage.frame_count - 1;
    tr_row frames = { g.a + 1, g.b - 1 };
    if ( tr_row_is_empty( frames ) )
        return;
    g = ( gap ){ g.a < 0 ? g.b : g.a, g.b > end ? g.a : g.b }; // nothing beyond: as on this side
    for ( int n = 0; n < set->count; ++n ) {
        int node = set->nodes[n], prop = node - drag->stage.actor_count;
        if ( is_touched( drag, node, g, frames ) && prop < 0 )
            mix_actor( drag, node, g, frames );
        else if ( is_touched( drag, node, g, frames ) )
            mix_prop( drag, prop, g, frames );
    }
}

static bool is_key( const tr_drag *drag, int frame )
{
    return frame % drag->how[TR_DRAG_FAR].stride == 0;
}

// A row begins and ends beside frames that are solved, or at the ends of what a tick may change.
static void mix( tr_drag *drag, const tr_drag_set *set, tr_row frames )
{
    int last = frames.first - 1;
    for ( int f = frames.first; f <= frames.last + 1; ++f )
        if ( f > frames.last || is_key( drag, f ) ) {
            mix_gap( drag, set, ( gap ){ last, f } );
            last = f;
        }
}

// ----------------------------------------------------------------------------------------------------- show

static void show_actor( tr_drag *drag, int i, int frame )
{
    size_t f = (size_t)frame, joints = (size_t)drag->work.worlds[i].joint_count;
    const tr_clip *in = &drag->work.motions[i].clip;
    tr_clip *out = &drag->shown.motions[i].clip;
    tr_pose from = tr_world_pose( &drag->work.worlds[i], frame ),
            to = tr_world_pose( &drag->shown.worlds[i], frame );
    memcpy( tr_clip_frame( out, frame ), tr_clip_frame( in, frame ), joints * sizeof( quat ) );
    out->root[f] = in->root[f];
    memcpy( to.rotations, from.rotations, joints * sizeof( quat ) );
    memcpy( to.positions, from.positions, joints * sizeof( vec3 ) );
    if ( drag->work.turns[i] != NULL )
        drag->shown.turns[i][f] = drag->work.turns[i][f];
    const tr_moved_body *body = drag->work.steps[i] != NULL ? stepping_body( drag, i ) : NULL;
    for ( int k = 0; body != NULL && k < body->foot_count; ++k ) {
        size_t at = tr_step_cell( &drag->stage, body->feet[k].joint, frame );
        drag->shown.steps[i][at] = drag->work.steps[i][at];
    }
}

// Nodes that are as below, and are shown so already, stay.
static void show( tr_drag *drag, const tr_drag_set *set, tr_row frames )
{
    for ( int n = 0; n < set->count; ++n ) {
        int prop = set->nodes[n] - drag->stage.actor_count;
        for ( int f = frames.first; f <= frames.last; ++f ) {
            bool *shows = &drag->shows[(size_t)set->nodes[n] * (size_t)drag->stage.frame_count + (size_t)f],
                 touched = *tr_cage_layer_touched( &drag->layer, set->nodes[n], f );
            if ( ( touched || *shows ) && prop < 0 )
                show_actor( drag, set->nodes[n], f );
            else if ( touched || *shows )
                drag->shown.tracks[prop][f] = drag->work.tracks[prop][f];
            if ( touched || *shows )
                tr_drag_above_put( drag, set->nodes[n], f );
            *shows = touched;
        }
    }
}

// ---------------------------------------------------------------------------------------------------- solve

typedef struct solving {
    tr_drag *drag;
    tr_drag_pass pass;
    tr_row frames, fresh; // frames to show; frames to prepare before
    atomic_bool stopped;
} solving;

// How a set is resolved. Where the fit takes joints of the graphs, every frame that is fitted needs its
// graph.
static tr_resolving how_of( const solving *s, int set )
{
    tr_resolving how = s->drag->how[s->pass];
    bool joints = tr_resolver_needs_joints( s->drag->resolver, set );
    if ( s->pass == TR_DRAG_NEAR && joints )
        how.stride = 1;
    if ( ( s->pass == TR_DRAG_NEAR || s->pass == TR_DRAG_FAR ) && !joints )
        how.graph.max_iterations = s->drag->def.root_rounds;
    return how;
}

static bool prepare( const solving *s, int index, const tr_resolving *how )
{
    const tr_drag_set *set = &s->drag->sets[index];
    tr_error error;
    tr_some_frames some = { s->fresh.first, s->fresh.last, how->stride, 0, -1 };
    if ( tr_row_is_empty( s->fresh ) )
        return true;
    if ( s->pass == TR_DRAG_NEAR )
        some.near_first = s->frames.first, some.near_last = s->frames.last;
    return tr_cage_layer_pose( &s->drag->layer, set->nodes, set->count, &some, &error ) &&
           tr_resolver_deform( s->drag->resolver, index, how, s->fresh.first, s->fresh.last, &error );
}

// Frames that were prepared only for their neighbours are not fitted.
static void skip_others( const solving *s, const tr_drag_set *set )
{
    for ( int n = 0; n < set->count; ++n ) {
        bool *affected = s->drag->layer.affected + (size_t)set->nodes[n] * (size_t)s->drag->stage.frame_count;
        for ( int f = s->frames.first; f <= s->frames.last; ++f )
            affected[f] = affected[f] && is_key( s->drag, f );
    }
}

static bool solve_set( const solving *s, int index )
{
    const tr_drag_set *set = &s->drag->sets[index];
    tr_resolving how = how_of( s, index );
    tr_error error;
    if ( tr_drag_is_superseded( s->drag ) || !prepare( s, index, &how ) || tr_drag_is_superseded( s->drag ) )
        return false;
    if ( s->pass == TR_DRAG_FAR )
        skip_others( s, set );
    if ( !tr_resolver_fit( s->drag->resolver, index, s->frames.first, s->frames.last, &error ) )
        return false;
    if ( s->pass == TR_DRAG_FAR )
        mix( s->drag, set, s->frames );
    return true;
}

static void solve_sets( void *context, int begin, int end )
{
    solving *s = context;
    for ( int i = begin; i < end; ++i )
        if ( !s->stopped && !solve_set( s, i ) )
            s->stopped = true;
}

// The same for poses that exist already. Graphs beside them are out of date.
static void settle_sets( void *context, int begin, int end )
{
    solving *s = context;
    tr_resolver *resolver = s->drag->resolver;
    tr_error error;
    for ( int i = begin; i < end; ++i )
        if ( !s->stopped && ( tr_drag_is_superseded( s->drag ) ||
                              !tr_resolver_deform( resolver, i, &s->drag->how[s->pass], s->fresh.first,
                                                   s->fresh.last, &error ) ||
                              !tr_resolver_fit( resolver, i, s->frames.first, s->frames.last, &error ) ) )
            s->stopped = true;
}

static void show_sets( void *context, int begin, int end )
{
    const solving *s = context;
    for ( int i = begin; i < end; ++i )
        show( s->drag, &s->drag->sets[i], s->frames );
}

static void pose_sets( void *context, int begin, int end )
{
    solving *s = context;
    for ( int i = begin; i < end; ++i ) {
        const tr_drag_set *set = &s->drag->sets[i];
        tr_error error;
        for ( int f = s->frames.first; f <= s->frames.last && !s->stopped; f += s->drag->layer.chunk ) {
            int last = f + s->drag->layer.chunk - 1;
            tr_some_frames some = tr_all_frames( f, last < s->frames.last ? last : s->frames.last );
            if ( tr_drag_is_superseded( s->drag ) ||
                 !tr_cage_layer_pose( &s->drag->layer, set->nodes, set->count, &some, &error ) )
                s->stopped = true;
        }
    }
}

bool tr_drag_pose( tr_drag *drag )
{
    solving s = { .drag = drag, .frames = drag->range };
    tr_parallel_for( drag->set_count, 1, pose_sets, &s );
    return !s.stopped;
}

enum { SHOWN_AT_ONCE = 64 }; // frames of sets: some 50 µs

bool tr_drag_try( tr_drag *drag, tr_drag_pass pass, tr_row frames )
{
    int beside = margin( drag, pass );
    tr_row around = tr_row_cut( ( tr_row ){ frames.first - beside, frames.last + beside }, drag->range ),
           done = drag->prepared;
    solving s = { .drag = drag, .pass = pass, .frames = frames, .fresh = around };
    if ( !tr_row_is_empty( done ) && around.first >= done.first )
        s.fresh.first = done.last + 1;
    else if ( !tr_row_is_empty( done ) )
        s.fresh.last = done.first - 1;
    tr_resolver_set_fit( drag->resolver, &drag->how[pass] );
    tr_parallel_for( drag->set_count, 1, solve_sets, &s );
    if ( s.stopped || tr_drag_is_superseded( drag ) )
        return false;
    drag->prepared = tr_row_join( done, s.fresh );
    return true;
}

void tr_drag_show( tr_drag *drag, tr_row frames )
{
    solving s = { .drag = drag, .frames = frames };
    tr_parallel_for( drag->set_count, 1 + SHOWN_AT_ONCE / ( frames.last - frames.first + 1 ), show_sets, &s );
}

bool tr_drag_solve( tr_drag *drag, tr_drag_pass pass, tr_row frames )
{
    if ( !tr_drag_try( drag, pass, frames ) )
        return false;
    tr_drag_show( drag, frames );
    return true;
}

bool tr_drag_resolve( tr_drag *drag, tr_row frames )
{
    int beside = margin( drag, TR_DRAG_EXACT );
    solving s = { .drag = drag, .pass = TR_DRAG_EXACT, .frames = frames };
    s.fresh = tr_row_cut( ( tr_row ){ frames.first - beside, frames.last + beside }, drag->range );
    tr_resolver_set_fit( drag->resolver, &drag->how[TR_DRAG_EXACT] );
    tr_parallel_for( drag->set_count, 1, settle_sets, &s );
    return !s.stopped && !tr_drag_is_superseded( drag );
}
