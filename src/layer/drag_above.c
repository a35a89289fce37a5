// Layers above the one that is dragged. Each of them is built around what the layers below it made, so all of
// them would have to be built anew in every tick. Instead, their change when the drag began is kept:
//
//   local(f) = dragged(f) · first(f)⁻¹ · top(f)      of every joint against its parent
//
// with `first` the dragged layer as it was then and `top` all layers; the root is moved and turned in the
// world, about the vertical as the drag turned it. Where the drag changes nothing that is `top`, to rounding.
// Hands and feet that a layer above led somewhere may be beside it; what is kept on release is solved.
#include "layer/drag.h"

#include <string.h>

static bool any_above( const tr_stage *stage, int layer )
{
    bool any = false;
    for ( int g = 0; g < stage->grab_count; ++g )
        any = any || ( stage->grabs[g].layer > layer && tr_grab_asks( stage, &stage->grabs[g] ) );
    return any;
}

static bool differs( const tr_drag *drag, int node, int frame )
{
    int prop = node - drag->stage.actor_count;
    if ( prop >= 0 )
        return memcmp( &drag->first.tracks[prop][frame], &drag->top.tracks[prop][frame], sizeof( rigid ) ) !=
               0;
    const tr_clip *a = &drag->first.motions[node].clip, *b = &drag->top.motions[node].clip;
    return memcmp( &a->root[frame], &b->root[frame], sizeof( vec3 ) ) != 0 ||
           memcmp( tr_clip_frame( a, frame ), tr_clip_frame( b, frame ),
                   (size_t)a->joint_count * sizeof( quat ) ) != 0;
}

// Until frames are solved there is to be seen what was there before.
static bool show_top( tr_drag *drag, tr_error *error )
{
    tr_result_free( &drag->shown );
    if ( !tr_result_copy( &drag->shown, &drag->stage, &drag->top, error ) )
        return false;
    for ( int i = 0; i < drag->stage.actor_count; ++i )
        if ( ( drag->work.turns[i] != NULL && tr_result_turns( &drag->shown, i ) == NULL ) ||
             ( drag->work.steps[i] != NULL && tr_result_steps( &drag->shown, &drag->stage, i ) == NULL ) )
            return tr_error_memory( error );
    return true;
}

bool tr_drag_above_build( tr_drag *drag, const tr_stage *stage, tr_error *error )
{
    int layer = drag->grab->layer, frames = stage->frame_count;
    if ( !any_above( stage, layer ) )
        return true;
    size_t cells = (size_t)( stage->actor_count + stage->prop_count ) * (size_t)frames;
    drag->above = tr_alloc( cells, sizeof( bool ) );
    if ( drag->above == NULL )
        return tr_error_memory( error );
    if ( !tr_result_copy( &drag->first, stage, drag->below, error ) ||
         !tr_layers_apply( stage, &drag->first, layer, layer + 1, error ) ||
         !tr_result_copy( &drag->top, stage, &drag->first, error ) ||
         !tr_layers_apply( stage, &drag->top, layer + 1, stage->scene->layer_count, error ) ||
         !show_top( drag, error ) )
        return false;
    for ( size_t i = 0; i < cells; ++i ) {
        drag->above[i] = differs( drag, (int)( i / (size_t)frames ), (int)( i % (size_t)frames ) );
        drag->shows[i] = true;
    }
    return true;
}

void tr_drag_above_free( tr_drag *drag )
{
    tr_result_free( &drag->first );
    tr_result_free( &drag->top );
    tr_free( drag->above );
}

static void put_on_actor( tr_drag *drag, int i, int frame )
{
    const tr_clip *first = &drag->first.motions[i].clip, *top = &drag->top.motions[i].clip;
    const quat *from = tr_clip_frame( first, frame ), *to = tr_clip_frame( top, frame );
    tr_clip *clip = &drag->shown.motions[i].clip;
    quat *local = tr_clip_frame( clip, frame );
    quat along = q_axis_angle( v3_y, tr_yaw( q_mul( local[0], q_conj( from[0] ) ) ) );
    quat turn = q_mul( q_mul( along, q_mul( to[0], q_conj( from[0] ) ) ), q_conj( along ) );
    vec3 step = v3_sub( top->root[frame], first->root[frame] );
    clip->root[frame] = v3_add( clip->root[frame], q_rotate( along, step ) );
    local[0] = q_unit( q_mul( turn, local[0] ) );
    for ( int j = 1; j < clip->joint_count; ++j )
        if ( memcmp( &from[j], &to[j], sizeof( quat ) ) != 0 )
            local[j] = q_unit( q_mul( local[j], q_mul( q_conj( from[j] ), to[j] ) ) );
    tr_forward( &drag->shown.motions[i].skeleton, clip, frame,
                tr_world_pose( &drag->shown.worlds[i], frame ) );
}

static void put_on_prop( tr_drag *drag, int prop, int frame )
{
    rigid first = drag->first.tracks[prop][frame], top = drag->top.tracks[prop][frame],
          *shown = &drag->shown.tracks[prop][frame];
    quat turn = q_mul( top.rotation, q_conj( first.rotation ) );
    shown->position = v3_add( shown->position, v3_sub( top.position, first.position ) );
    shown->rotation = q_unit( q_mul( turn, shown->rotation ) );
}

void tr_drag_above_put( tr_drag *drag, int node, int frame )
{
    int prop = node - drag->stage.actor_count;
    if ( drag->above == NULL || !drag->above[(size_t)node * (size_t)drag->stage.frame_count + (size_t)frame] )
        return;
    if ( prop < 0 )
        put_on_actor( drag, node, frame );
    else
        put_on_prop( drag, prop, frame );
}
