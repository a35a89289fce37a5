// The layers of a scene, one after the other, each on the result of those before it.
#include "layer/private.h"

#include <string.h>

// ----------------------------------------------------------------------------------------------------- leak

// How far a character or prop moved at a frame, metres.
static double moved( const tr_stage *stage, const tr_result *below, const tr_result *result, int node,
                     int frame )
{
    if ( node >= stage->actor_count ) {
        int prop = node - stage->actor_count;
        vec3 arm = v3_scale( 0.5 * stage->props[prop].scale, stage->props[prop].shape.size );
        return v3_distance( rigid_apply( below->tracks[prop][frame], arm ),
                            rigid_apply( result->tracks[prop][frame], arm ) );
    }
    const tr_world *world = &result->worlds[node];
    size_t at = (size_t)frame * (size_t)world->joint_count;
    double most = 0;
    for ( int j = 0; j < world->joint_count; ++j )
        most = fmax( most, v3_distance( below->worlds[node].positions[at + (size_t)j],
                                        world->positions[at + (size_t)j] ) );
    return most;
}

static void measure_leak( tr_cage_layer *l )
{
    const tr_stage *stage = l->stage;
    int nodes = stage->actor_count + stage->prop_count;
    for ( int f = 0; f < stage->frame_count; ++f ) {
        int before, after;
        tr_cage_layer_limits_at( l, f, &before, &after );
        for ( int n = 0; n < nodes; ++n )
            if ( !l->linked[n] || f <= before || f >= after )
                l->result->leak_mm =
                    fmax( l->result->leak_mm, 1e3 * moved( stage, l->below, l->result, n, f ) );
    }
}

// -------------------------------------------------------------------------------------------------- reports

static bool is_affected( const tr_cage_layer *l, int node, int frame )
{
    return node >= 0 && l->affected[(size_t)node * (size_t)l->stage->frame_count + (size_t)frame];
}

// Marks handles of earlier layers whose bodies this layer moved.
static void pass_on( tr_cage_layer *l )
{
    const tr_scene *scene = l->stage->scene;
    for ( int i = 0; i < scene->handle_count; ++i ) {
        tr_handle_report *report = &l->result->handles[i];
        int anchor = tr_anchor_node( l->stage, &l->stage->handles[i] ),
            node = anchor < 0 ? report->node : anchor;
        if ( report->acted && is_affected( l, node, scene->handles[i].frame - scene->first ) )
            report->passed_on = true;
    }
}

static void report_handles( tr_cage_layer *l )
{
    pass_on( l );
    for ( int h = 0; h < l->handle_count; ++h )
        l->result->handles[l->handle_index[h]] = tr_handle_judge( l, l->result, h );
}

// A handle holds nothing at a frame outside its layer's window, on a vertex that no section has, or without a
// cage.
static void report_outside( const tr_cage_layer *l, const tr_result *below, tr_result *result )
{
    const tr_stage *stage = l->stage;
    const tr_grab *grab = l->grab;
    const tr_scene *scene = stage->scene;
    for ( int i = 0; i < scene->handle_count; ++i ) {
        const tr_handle *handle = &scene->handles[i];
        const tr_anchor *anchor = &stage->handles[i];
        int frame = handle->frame - scene->first;
        if ( strcmp( handle->layer, scene->layers[grab->layer].id ) != 0 || !handle->pinned ||
             ( tr_handle_is_held( stage, grab, handle ) && l->built ) )
            continue;
        double way = v3_length( handle->move ) + l->def.turn_arm * TR_DEGREE * v3_length( handle->turn );
        tr_handle_report report = { .acted = true, .outside = true, .node = -1, .joint = -1 };
        report.error_mm = 1e3 * way;
        if ( tr_anchor_node( stage, anchor ) >= 0 && frame >= 0 && frame < stage->frame_count ) {
            report.place = v3_add( tr_anchor_position( stage, below, anchor, frame ), handle->move );
            report.error_mm =
                1e3 * v3_distance( tr_anchor_position( stage, result, anchor, frame ), report.place );
        }
        result->handles[i] = report;
    }
}

// ---------------------------------------------------------------------------------------------------- apply

// Frames in which any member has to be resolved; none: last < first.
static void find_affected( const tr_cage_layer *l, int *first, int *last )
{
    int frames = l->stage->frame_count;
    *first = frames;
    *last = -1;
    for ( int n = 0; n < l->stage->actor_count + l->stage->prop_count; ++n )
        for ( int f = 0; f < frames; ++f )
            if ( is_affected( l, n, f ) ) {
                *first = f < *first ? f : *first;
                *last = f > *last ? f : *last;
            }
}

// Whether the resolver knows exactly the nodes that are affected now; notes them. Others in the same cluster
// would change the bits of these.
static bool find_nodes( tr_cage_layer *l )
{
    size_t frames = (size_t)l->stage->frame_count;
    bool same = l->resolver != NULL;
    for ( int n = 0; n < l->stage->actor_count + l->stage->prop_count; ++n ) {
        int set = memchr( l->affected + (size_t)n * frames, 1, frames ) != NULL ? 0 : -1;
        same = same && l->set_of[n] == set;
        l->set_of[n] = set;
    }
    return same;
}

static bool build_resolver( tr_cage_layer *l, tr_error *error )
{
    size_t nodes = (size_t)( l->stage->actor_count + l->stage->prop_count );
    l->set_of = l->set_of != NULL ? l->set_of : tr_alloc( nodes, sizeof( int ) );
    if ( l->set_of == NULL )
        return tr_error_memory( error );
    if ( find_nodes( l ) ) {
        tr_resolver_forget( l->resolver );
        return true;
    }
    tr_resolve_def def = { .stage = &l->edited,
                           .result = l->result,
                           .set_of = l->set_of,
                           .set_count = 1,
                           .affected = l->affected,
                           .reach = 1 };
    tr_cage_layer_range( l, &def.first, &def.last );
    tr_resolver_destroy( l->resolver );
    l->resolver = tr_resolver_create( &def, error );
    return l->resolver != NULL;
}

// Brings the affected frames, all between `first` and `last`, in line with the rules.
static bool resolve( tr_cage_layer *l, int first, int last, tr_error *error )
{
    return build_resolver( l, error ) &&
           tr_resolver_deform( l->resolver, 0, &l->def.resolving, first, last, error ) &&
           tr_resolver_fit( l->resolver, 0, first, last, error );
}

// All bodies follow the present handles as far as they can.
static bool follow( tr_cage_layer *l, tr_error *error )
{
    int first, last;
    do {
        tr_cage_layer_solve( l, &l->def.solve, true );
        if ( !tr_cage_layer_pose_all( l, error ) )
            return false;
        find_affected( l, &first, &last );
        if ( last >= first && !resolve( l, first, last, error ) )
            return false;
    } while ( tr_layer_handles_yield( l ) );
    return true;
}

static bool move( tr_cage_layer *l, tr_error *error )
{
    int first, last;
    do {
        if ( !follow( l, error ) )
            return false;
        while ( tr_layer_calm( l, &first, &last ) )
            if ( !resolve( l, first, last, error ) )
                return false;
    } while ( tr_layer_handles_soften( l ) );
    return true;
}

bool tr_layer_keep_cage( tr_result *result, const tr_cage_layer *l, tr_error *error )
{
    if ( !tr_array_reserve( (void **)&result->cages, &result->cage_capacity, result->cage_count + 1,
                            sizeof *result->cages ) )
        return tr_error_memory( error );
    return tr_cage_outline_build( &result->cages[result->cage_count++], l, error );
}

void tr_layer_report( tr_cage_layer *l )
{
    measure_leak( l );
    report_handles( l );
    report_outside( l, l->below, l->result );
}

static bool apply( const tr_layer_def *how, const tr_stage *stage, const tr_grab *grab, tr_result *result,
                   tr_error *error )
{
    tr_cage_layer l = { 0 };
    tr_result below = { 0 };
    tr_cage_layer_def def = { how, stage, grab, result, result, stage->frame_count, false, -1 };
    bool asks = tr_grab_asks( stage, grab ), ok;
    if ( asks ) {
        def.below = &below;
        ok = tr_result_copy( &below, stage, result, error ) && tr_cage_layer_build( &l, &def, error ) &&
             ( !l.built || move( &l, error ) );
    } else
        ok = tr_cage_layer_outline( &l, &def, error );
    if ( ok && asks && l.built )
        tr_layer_report( &l );
    else if ( ok )
        report_outside( &l, def.below, result );
    ok = ok && ( !l.built || tr_layer_keep_cage( result, &l, error ) );
    tr_cage_layer_free( &l );
    tr_result_free( &below );
    return ok;
}

bool tr_layers_apply( const tr_stage *stage, tr_result *result, int begin, int end, tr_error *error )
{
    tr_layer_def how = tr_default_layer_def();
    for ( int g = 0; g < stage->grab_count && stage->grabs[g].layer < end; ++g )
        if ( stage->grabs[g].layer >= begin && !apply( &how, stage, &stage->grabs[g], result, error ) )
            return false;
    return true;
}
