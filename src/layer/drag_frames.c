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

// Is it turned against its parent as it is below?
static bool keeps_joint( const tr_drag *drag, int actor, int joint, gap g )
{
    const tr_clip *below = &drag->below->motions[actor].clip, *now = &drag->work.motions[actor].clip;
    const quat *a = tr_clip_frame( below, g.a ), *b = tr_clip_frame( below, g.b ),
               *x = tr_clip_frame( now, g.a ), *y = tr_clip_frame( now, g.b );
    return memcmp( a + joint, x + joint, sizeof( quat ) ) == 0 &&
           memcmp( b + joint, y + joint, sizeof( quat ) ) == 0;
}

// 1 / √(1 − x) = 1 + ½ x + ⅜ x² + …. Most joints hardly turn from key to key: there three terms leave less
// than 1e-12.
static double inverse_root( double x )
{
    const double small = 1e-4, second = 0.375;
    return x < small ? 1 + x * ( 0.5 + second * x ) : 1 / sqrt( 1 - x );
}

// Between unit a and b, ‖a + t (b − a)‖² = 1 − 2 t (1 − t) (1 − a·b). Halfway between opposite ones there is
// nothing: then it stays as in a.
static const double no_length = 1e-6; // norm of a unit quaternion, squared

static void mix_joint( tr_drag *drag, int actor, int joint, gap g, tr_row frames )
{
    int parent = drag->work.motions[actor].skeleton.joints[joint].parent;
    quat a = offset_of( drag, actor, joint, g.a ), b = offset_of( drag, actor, joint, g.b );
    quat way = { b.x - a.x, b.y - a.y, b.z - a.z, b.w - a.w };
    double apart = 1 - q_dot( a, b ), step = g.b > g.a ? 1.0 / ( g.b - g.a ) : 0;
    for ( int f = frames.first; f <= frames.last; ++f ) {
        double t = ( f - g.a ) * step, less = 2 * t * ( 1 - t ) * apart;
        bool between = less < 1 - no_length;
        double s = between ? inverse_root( less ) : 1, r = between ? s * t : 0;
        quat d = { s * a.x + r * way.x, s * a.y + r * way.y, s * a.z + r * way.z, s * a.w + r * way.w };
        quat *world = tr_world_pose( &drag->work.worlds[actor], f ).rotations;
        world[joint] = q_mul( d, tr_world_pose( &drag->below->worlds[actor], f ).rotations[joint] );
        tr_clip_frame( &drag->work.motions[actor].clip, f )[joint] =
            parent < 0 ? world[joint] : q_mul( q_conj( world[parent] ), world[joint] );
    }
}

static void keep_joint( tr_drag *drag, int actor, int joint, tr_row frames )
{
    int parent = drag->work.motions[actor].skeleton.joints[joint].parent;
    for ( int f = frames.first; f <= frames.last; ++f ) {
        quat *world = tr_world_pose( &drag->work.worlds[actor], f ).rotations,
             local = tr_clip_frame( &drag->below->motions[actor].clip, f )[joint];
        tr_clip_frame( &drag->work.motions[actor].clip, f )[joint] = local;
        world[joint] = parent < 0 ? local : q_mul( world[parent], local );
    }
}

// `now` [frames] from `below`, as far from it as between a and b.
static void mix_places( const vec3 *below, vec3 *now, gap g, tr_row frames )
{
    vec3 a = v3_sub( now[g.a], below[g.a] ), b = v3_sub( now[g.b], below[g.b] );
    for ( int f = frames.first; f <= frames.last; ++f )
        now[f] = v3_add( below[f], v3_lerp( a, b, part_of( g, f ) ) );
}

static void mix_turns( const double *below, double *now, gap g, tr_row frames )
{
    double a = now[g.a] - ( below != NULL ? below[g.a] : 0 ),
           b = now[g.b] - ( below != NULL ? below[g.b] : 0 );
    for ( int f = frames.first; f <= frames.last; ++f )
        now[f] = ( below != NULL ? below[f] : 0 ) + a + part_of( g, f ) * ( b - a );
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

static bool keeps_place( const tr_drag *drag, int i, gap g )
{
    const vec3 *below = drag->below->motions[i].clip.root, *now = drag->work.motions[i].clip.root;
    return memcmp( &below[g.a], &now[g.a], sizeof( vec3 ) ) == 0 &&
           memcmp( &below[g.b], &now[g.b], sizeof( vec3 ) ) == 0;
}

static void place_joints( const tr_drag *drag, int i, int frame )
{
    const tr_motion *motion = &drag->work.motions[i];
    tr_pose pose = tr_world_pose( &drag->work.worlds[i], frame );
    const vec3 *moved = motion->clip.translations;
    pose.positions[0] = motion->clip.root[frame];
    for ( int j = 1; j < motion->skeleton.joint_count; ++j ) {
        int parent = motion->skeleton.joints[j].parent;
        vec3 offset = moved != NULL ? moved[(size_t)frame * (size_t)motion->clip.joint_count + (size_t)j]
                                    : motion->skeleton.joints[j].offset;
        pose.positions[j] = v3_add( pose.positions[parent], q_rotate( pose.rotations[parent], offset ) );
    }
}

static void touch( tr_drag *drag, int node, tr_row frames, bool touched )
{
    for ( int f = frames.first; f <= frames.last; ++f )
        *tr_cage_layer_touched( &drag->layer, node, f ) = touched;
}

static void mix_actor( tr_drag *drag, int i, gap g, tr_row frames )
{
    bool keeps = keeps_place( drag, i, g );
    if ( drag->work.turns[i] != NULL )
        mix_turns( drag->below->turns[i], drag->work.turns[i], g, frames );
    if ( drag->work.steps[i] != NULL )
        mix_steps( drag, i, g, frames );
    for ( int j = 0; j < drag->work.motions[i].clip.joint_count; ++j ) {
        bool kept = keeps_joint( drag, i, j, g );
        if ( kept )
            keep_joint( drag, i, j, frames );
        else
            mix_joint( drag, i, j, g, frames );
        keeps = keeps && kept;
    }
    if ( keeps ) {
        tr_some_frames all = tr_all_frames( frames.first, frames.last );
        tr_cage_layer_restore( &drag->layer, i, &all );
        return;
    }
    touch( drag, i, frames, true );
    mix_places( drag->below->motions[i].clip.root, drag->work.motions[i].clip.root, g, frames );
    for ( int f = frames.first; f <= frames.last; ++f )
        place_joints( drag, i, f );
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

// Frames that are prepared for their neighbours' sake only are not to be fitted.
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

// The same of poses that are there. Graphs beside them say nothing any more.
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
