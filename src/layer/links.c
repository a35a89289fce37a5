// Links between characters and props: members joined by rules are posed and resolved together.
#include "layer/private.h"

#include <string.h>

void tr_layer_link_nodes( const tr_stage *stage, const tr_rule *rule, int nodes[2] )
{
    nodes[0] = tr_anchor_node( stage, &rule->a );
    nodes[1] =
        rule->surface_prop >= 0 ? stage->actor_count + rule->surface_prop : tr_anchor_node( stage, &rule->b );
}

// Adds the nodes that links join to `nodes` at a frame.
static void join( const tr_cage_layer *l, int frame, bool *nodes )
{
    for ( bool grown = true; grown; ) {
        grown = false;
        for ( int i = 0; i < l->link_count; ++i ) {
            const tr_rule *rule = &l->stage->rules[l->links[i]];
            int ends[2];
            tr_layer_link_nodes( l->stage, rule, ends );
            if ( nodes[ends[0]] != nodes[ends[1]] && tr_rule_strength( rule, frame ) > 0 )
                nodes[ends[0]] = nodes[ends[1]] = grown = true;
        }
    }
}

// The nodes that links join to `from` in any frame of the window and its ease. Decided by the document alone,
// not by what was solved.
static void join_all( const tr_cage_layer *l, const bool *from, bool *room, bool *out )
{
    size_t count = (size_t)( l->stage->actor_count + l->stage->prop_count );
    int first, last;
    tr_cage_layer_range( l, &first, &last );
    for ( int f = first; f <= last; ++f ) {
        memcpy( room, from, count * sizeof( bool ) );
        join( l, f, room );
        for ( size_t n = 0; n < count; ++n )
            out[n] = out[n] || room[n];
    }
}

// A node that a link joins to a grabbed one may follow it in frames without that link as well, and then moves
// the nodes it is linked to there: so links are followed twice.
static bool find_linked( tr_cage_layer *l )
{
    size_t count = (size_t)( l->stage->actor_count + l->stage->prop_count );
    bool *grabbed = tr_alloc( 2 * count, sizeof( bool ) );
    if ( grabbed == NULL )
        return false;
    for ( int i = 0; i < l->body_count; ++i )
        grabbed[l->bodies[i].node] = l->pulls[l->bodies[i].node] = l->linked[l->bodies[i].node] = true;
    if ( l->link_count > 0 ) {
        join_all( l, grabbed, grabbed + count, l->pulls );
        join_all( l, l->pulls, grabbed + count, l->linked );
    }
    for ( size_t n = 0; n < count; ++n )
        if ( l->linked[n] )
            l->linked_nodes[l->linked_count++] = (int)n;
    tr_free( grabbed );
    return true;
}

bool tr_layer_links_build( tr_cage_layer *l )
{
    const tr_stage *stage = l->stage;
    int nodes = stage->actor_count + stage->prop_count;
    l->linked = tr_alloc( (size_t)nodes, sizeof( bool ) );
    l->pulls = tr_alloc( (size_t)nodes, sizeof( bool ) );
    l->linked_nodes = tr_alloc( (size_t)nodes, sizeof( int ) );
    l->links = tr_alloc( (size_t)stage->rule_count, sizeof( int ) );
    if ( l->linked == NULL || l->pulls == NULL || l->linked_nodes == NULL || l->links == NULL )
        return false;
    for ( int r = 0; r < stage->rule_count; ++r ) {
        int ends[2];
        tr_layer_link_nodes( stage, &stage->rules[r], ends );
        if ( ends[0] >= 0 && ends[1] >= 0 && ends[0] != ends[1] )
            l->links[l->link_count++] = r;
    }
    return find_linked( l );
}

// --------------------------------------------------------------------------------------------------- frames

static bool *affected_at( tr_cage_layer *l, int node, int frame )
{
    return &l->affected[(size_t)node * (size_t)l->stage->frame_count + (size_t)frame];
}

bool *tr_cage_layer_touched( tr_cage_layer *l, int node, int frame )
{
    return &l->touched[(size_t)node * (size_t)l->stage->frame_count + (size_t)frame];
}

// Joints of a body that moves are about to be placed anew.
static void restore_actor( tr_cage_layer *l, int i, int frame, bool moves )
{
    const tr_clip *in = &l->below->motions[i].clip;
    tr_clip *out = &l->result->motions[i].clip;
    size_t joints = (size_t)in->joint_count;
    tr_pose below = tr_world_pose( &l->below->worlds[i], frame ),
            pose = tr_world_pose( &l->result->worlds[i], frame );
    memcpy( tr_clip_frame( out, frame ), tr_clip_frame( in, frame ), joints * sizeof( quat ) );
    out->root[frame] = in->root[frame];
    if ( !moves ) {
        memcpy( pose.rotations, below.rotations, joints * sizeof( quat ) );
        memcpy( pose.positions, below.positions, joints * sizeof( vec3 ) );
    }
    if ( l->result->turns[i] != NULL )
        l->result->turns[i][frame] = l->below->turns[i] != NULL ? l->below->turns[i][frame] : 0;
}

static void restore( tr_cage_layer *l, int node, tr_moved_body *posed, const tr_some_frames *frames )
{
    int prop = node - l->stage->actor_count;
    for ( int f = frames->first; f <= frames->last; ++f ) {
        if ( !tr_some_have( frames, f ) )
            continue;
        bool *touched = tr_cage_layer_touched( l, node, f );
        *affected_at( l, node, f ) = false;
        if ( !*touched )
            continue;
        *touched = false;
        if ( prop >= 0 )
            l->result->tracks[prop][f] = l->below->tracks[prop][f];
        else
            restore_actor( l, node, f, posed != NULL && tr_moved_at( l, posed, f )->moves );
    }
}

void tr_cage_layer_restore( tr_cage_layer *l, int node, const tr_some_frames *frames )
{
    restore( l, node, NULL, frames );
}

// A node that a rule joins to an affected one is affected, too. False: nothing changed. A rule without
// strength at the frame is left alone: its other end may be in another set, which another thread poses.
static bool reach_along( tr_cage_layer *l, int r, int frame )
{
    const tr_rule *rule = &l->stage->rules[r];
    int nodes[2];
    if ( !( tr_rule_strength( rule, frame ) > 0 ) )
        return false;
    tr_layer_link_nodes( l->stage, rule, nodes );
    bool *a = affected_at( l, nodes[0], frame ), *b = affected_at( l, nodes[1], frame );
    if ( *a == *b )
        return false;
    *a = *b = true;
    return true;
}

void tr_cage_layer_reach( tr_cage_layer *l, int frame )
{
    for ( bool grown = true; grown; ) {
        grown = false;
        for ( int i = 0; i < l->link_count; ++i )
            grown = reach_along( l, l->links[i], frame ) || grown;
    }
}

// The same along the links of some nodes alone.
static void reach_within( tr_cage_layer *l, const int *nodes, int count, int frame )
{
    for ( bool grown = true; grown; ) {
        grown = false;
        for ( int n = 0; n < count; ++n )
            for ( int i = l->node_links.first[nodes[n]]; i < l->node_links.first[nodes[n] + 1]; ++i )
                grown = reach_along( l, l->node_links.items[i], frame ) || grown;
    }
}

static bool pose_node( tr_cage_layer *l, int node, const tr_some_frames *frames, tr_error *error )
{
    tr_moved_body *body = tr_cage_layer_body( l, node );
    restore( l, node, body, frames );
    return body == NULL || tr_posing_frames( l, body, frames, error );
}

// Affected nodes will be resolved.
static void touch( tr_cage_layer *l, int node, const tr_some_frames *frames )
{
    for ( int f = frames->first; f <= frames->last; ++f )
        if ( *affected_at( l, node, f ) && tr_some_have( frames, f ) )
            *tr_cage_layer_touched( l, node, f ) = true;
}

static void pose_followers( tr_cage_layer *l, const int *nodes, int count, const tr_some_frames *frames )
{
    tr_follow_solve( l, nodes, count );
    for ( int n = 0; n < count; ++n ) {
        tr_moved_body *follower = tr_follower( l, nodes[n] );
        if ( follower != NULL )
            tr_posing_follower( l, follower, frames );
    }
}

bool tr_cage_layer_pose( tr_cage_layer *l, const int *nodes, int count, const tr_some_frames *frames,
                         tr_error *error )
{
    for ( int n = 0; n < count; ++n )
        if ( !pose_node( l, nodes[n], frames, error ) )
            return false;
    pose_followers( l, nodes, count, frames );
    for ( int n = 0; n < count; ++n )
        tr_attached_frames( l, nodes[n], frames );
    for ( int n = 0; n < count; ++n )
        tr_layer_rules_frames( l, nodes[n], frames );
    for ( int f = frames->first; count > 1 && f <= frames->last; ++f )
        if ( tr_some_have( frames, f ) )
            reach_within( l, nodes, count, f );
    for ( int n = 0; n < count; ++n )
        touch( l, nodes[n], frames );
    return true;
}

typedef struct posing {
    tr_cage_layer *l;
    tr_some_frames frames;
    atomic_bool failed;
} posing;

static void pose_nodes( void *context, int begin, int end )
{
    posing *p = context;
    tr_error error;
    for ( int n = begin; n < end; ++n )
        if ( p->l->linked[n] && !pose_node( p->l, n, &p->frames, &error ) )
            p->failed = true;
}

bool tr_cage_layer_pose_all( tr_cage_layer *l, tr_error *error )
{
    int nodes = l->stage->actor_count + l->stage->prop_count, first, last;
    tr_cage_layer_range( l, &first, &last );
    posing p = { .l = l, .frames = tr_all_frames( first, last ) };
    tr_parallel_for( nodes, 1, pose_nodes, &p );
    if ( p.failed )
        return tr_error_set( error, "the cage moved a body to where there are no numbers" );
    pose_followers( l, l->linked_nodes, l->linked_count, &p.frames );
    for ( int n = 0; n < l->linked_count; ++n )
        tr_attached_frames( l, l->linked_nodes[n], &p.frames );
    for ( int n = 0; n < l->linked_count; ++n )
        tr_layer_rules_frames( l, l->linked_nodes[n], &p.frames );
    for ( int f = first; f <= last; ++f )
        tr_cage_layer_reach( l, f );
    for ( int n = 0; n < nodes; ++n )
        touch( l, n, &p.frames );
    return true;
}
