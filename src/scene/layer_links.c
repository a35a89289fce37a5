// Who moves along with whom: characters and props that rules join are posed, and settled, together.
#include "scene/layer.h"

#include <string.h>

void tr_layer_link_nodes( const tr_stage *stage, const tr_rule *rule, int nodes[2] )
{
    nodes[0] = tr_anchor_node( stage, &rule->a );
    nodes[1] =
        rule->surface_prop >= 0 ? stage->actor_count + rule->surface_prop : tr_anchor_node( stage, &rule->b );
}

// Whom rules join to the members anywhere in the window and its ease. Judged by the document alone, not by
// what was solved.
static void find_linked( const tr_cage_layer *l )
{
    int first, last;
    for ( int i = 0; i < l->body_count; ++i )
        l->linked[l->bodies[i].node] = true;
    tr_cage_layer_range( l, &first, &last );
    for ( int f = first; l->link_count > 0 && f <= last; ++f )
        tr_stage_reach( l->stage, f, l->linked );
}

bool tr_layer_links_build( tr_cage_layer *l )
{
    const tr_stage *stage = l->stage;
    l->linked = tr_alloc( (size_t)( stage->actor_count + stage->prop_count ), sizeof( bool ) );
    l->links = tr_alloc( (size_t)stage->rule_count, sizeof( int ) );
    if ( l->linked == NULL || l->links == NULL )
        return false;
    for ( int r = 0; r < stage->rule_count; ++r ) {
        int nodes[2];
        tr_layer_link_nodes( stage, &stage->rules[r], nodes );
        if ( nodes[0] >= 0 && nodes[1] >= 0 && nodes[0] != nodes[1] )
            l->links[l->link_count++] = r;
    }
    find_linked( l );
    return true;
}

// --------------------------------------------------------------------------------------------------- frames

static bool *affected_at( const tr_cage_layer *l, int node, int frame )
{
    return &l->affected[(size_t)node * (size_t)l->stage->frame_count + (size_t)frame];
}

bool *tr_cage_layer_touched( const tr_cage_layer *l, int node, int frame )
{
    return &l->touched[(size_t)node * (size_t)l->stage->frame_count + (size_t)frame];
}

static void restore_actor( const tr_cage_layer *l, int i, int frame )
{
    const tr_clip *in = &l->below->motions[i].clip, *out = &l->result->motions[i].clip;
    size_t joints = (size_t)in->joint_count;
    tr_pose below = tr_world_pose( &l->below->worlds[i], frame ),
            pose = tr_world_pose( &l->result->worlds[i], frame );
    memcpy( tr_clip_frame( out, frame ), tr_clip_frame( in, frame ), joints * sizeof( quat ) );
    out->root[frame] = in->root[frame];
    memcpy( pose.rotations, below.rotations, joints * sizeof( quat ) );
    memcpy( pose.positions, below.positions, joints * sizeof( vec3 ) );
    if ( l->result->turns[i] != NULL )
        l->result->turns[i][frame] = l->below->turns[i] != NULL ? l->below->turns[i][frame] : 0;
}

void tr_cage_layer_restore( const tr_cage_layer *l, int node, const tr_some_frames *frames )
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
            restore_actor( l, node, f );
    }
}

// Whoever rules join to somebody affected is so, too.
static void reach( const tr_cage_layer *l, int frame )
{
    for ( bool grown = true; grown; ) {
        grown = false;
        for ( int i = 0; i < l->link_count; ++i ) {
            const tr_rule *rule = &l->stage->rules[l->links[i]];
            int nodes[2];
            tr_layer_link_nodes( l->stage, rule, nodes );
            bool *a = affected_at( l, nodes[0], frame ), *b = affected_at( l, nodes[1], frame );
            if ( *a != *b && tr_rule_strength( rule, frame ) > 0 )
                *a = *b = grown = true;
        }
    }
}

static bool pose_node( const tr_cage_layer *l, int node, const tr_some_frames *frames, tr_error *error )
{
    tr_moved_body *body = tr_cage_layer_body( l, node );
    tr_cage_layer_restore( l, node, frames );
    return body == NULL || tr_posing_frames( l, body, frames, error );
}

// Who is affected will be settled.
static void touch( const tr_cage_layer *l, int node, const tr_some_frames *frames )
{
    for ( int f = frames->first; f <= frames->last; ++f )
        if ( *affected_at( l, node, f ) && tr_some_have( frames, f ) )
            *tr_cage_layer_touched( l, node, f ) = true;
}

bool tr_cage_layer_pose( const tr_cage_layer *l, const int *nodes, int count, const tr_some_frames *frames,
                         tr_error *error )
{
    for ( int n = 0; n < count; ++n )
        if ( !pose_node( l, nodes[n], frames, error ) )
            return false;
    for ( int n = 0; n < count; ++n )
        tr_carried_frames( l, nodes[n], frames );
    for ( int n = 0; n < count; ++n )
        tr_layer_rules_frames( l, nodes[n], frames );
    for ( int f = frames->first; count > 1 && f <= frames->last; ++f )
        if ( tr_some_have( frames, f ) )
            reach( l, f );
    for ( int n = 0; n < count; ++n )
        touch( l, nodes[n], frames );
    return true;
}

typedef struct posing {
    const tr_cage_layer *l;
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

bool tr_cage_layer_pose_all( const tr_cage_layer *l, tr_error *error )
{
    int nodes = l->stage->actor_count + l->stage->prop_count, first, last;
    tr_cage_layer_range( l, &first, &last );
    posing p = { .l = l, .frames = tr_all_frames( first, last ) };
    tr_parallel_for( nodes, 1, pose_nodes, &p );
    if ( p.failed )
        return tr_error_set( error, "the cage moved a body to where there are no numbers" );
    for ( int n = 0; n < nodes; ++n )
        if ( l->linked[n] )
            tr_carried_frames( l, n, &p.frames );
    for ( int n = 0; n < nodes; ++n )
        if ( l->linked[n] )
            tr_layer_rules_frames( l, n, &p.frames );
    for ( int f = first; f <= last; ++f )
        reach( l, f );
    for ( int n = 0; n < nodes; ++n )
        touch( l, n, &p.frames );
    return true;
}
