// Moving motion in time so that nodes which rules join stay in step.
//
// A layer delays moments of its members: D(t) frames at the moment t. Nodes that a constraint joins at a
// moment (an *event*: a hand on a box, a box in two pairs of hands) have the same delay there. Without
// `ripple`, all nodes joined to the members within the window share their map of time, which is the identity
// outside.
//
// With `ripple` what comes later stays late, and only nodes that have to wait do. There are two bounds:
//
//   L(t) = max( L(t - 1), what keys ask for ) over all nodes joined at t, forwards in time: the least delay.
//          An event is as late as the latest node in it.
//   U(t) = max( L(t), min U(t + 1) over all nodes joined at t ), backwards in time: the largest delay that
//          makes no other node wait.
//
// Each rise of L to a new level is spread smoothly over the time in which U has it already: a node that will
// have to wait slows down as soon as it is free of nodes that do not.
//
// The scene becomes longer by the largest delay. All nodes end at the same time: those with less delay slow
// down, to half the speed at most, shortly before the end.
#include "stage/times.h"

#include "cage/cage.h"
#include "stage/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct event {
    int constraint;
    int nodes[3];       // -1: none
    double first, last; // with its ease, frames from the scene's first
} event;

typedef struct timing {
    tr_scene *scene; // being moved
    const char *file;
    tr_error *error;
    int node_count, frame_count;
    int steady; // frames over which roots are averaged, see tr_steady_frames
    event *events;
    int event_count;
    double **when;  // [node_count]
    double **delay; // [node_count][frame_count] of the layer at work
    double **least, **most;
    int *group; // [node_count] scratch: nodes joined at a frame
} timing;

static int node_of( const tr_scene *scene, const char *id )
{
    int cast = tr_scene_find_cast( scene, id ), prop = cast < 0 ? tr_scene_find_prop( scene, id ) : -1;
    return cast >= 0 ? cast : prop >= 0 ? scene->cast_count + prop : -1;
}

static const char *node_id( const tr_scene *scene, int node )
{
    return node < scene->cast_count ? scene->cast[node].id : scene->props[node - scene->cast_count].id;
}

// -------------------------------------------------------------------------------------------------- events

static void gather_events( timing *t )
{
    const tr_scene *scene = t->scene;
    t->event_count = 0;
    for ( int i = 0; i < scene->constraint_count; ++i ) {
        const tr_constraint *c = &scene->constraints[i];
        event e = {
            .constraint = i,
            .nodes = { node_of( scene, c->a.who ), node_of( scene, c->b.who ), node_of( scene, c->surface ) },
            .first = c->first - c->ease_in - scene->first,
            .last = c->last + c->ease_out - scene->first };
        if ( e.nodes[1] >= 0 || e.nodes[2] >= 0 )
            t->events[t->event_count++] = e;
    }
}

// group[n] = the first of the nodes that events join to n at a frame.
static void join_at( timing *t, double from, double to )
{
    for ( int n = 0; n < t->node_count; ++n )
        t->group[n] = n;
    for ( int e = 0; e < t->event_count; ++e ) {
        const event *v = &t->events[e];
        for ( int i = 1; v->first <= to && v->last >= from && i < 3; ++i )
            if ( v->nodes[i] >= 0 )
                tr_set_join( t->group, v->nodes[0], v->nodes[i] );
    }
    for ( int n = 0; n < t->node_count; ++n )
        t->group[n] = tr_set_find( t->group, n );
}

// All nodes joined at a frame get the largest (or smallest) value among them.
static void agree( timing *t, double **values, int frame, bool largest )
{
    join_at( t, frame, frame );
    for ( int pass = 0; pass < 2; ++pass )
        for ( int n = 0; n < t->node_count; ++n ) {
            double *lead = &values[t->group[n]][frame], *own = &values[n][frame];
            if ( pass == 1 )
                *own = *lead;
            else if ( largest ? *own > *lead : *own < *lead )
                *lead = *own;
        }
}

// ---------------------------------------------------------------------------------------------------- keys

typedef struct key {
    int frame;
    double delay;
    int section; // in the document
} key;

static int by_frame( const void *a, const void *b )
{
    const key *p = a, *q = b;
    return ( p->frame > q->frame ) - ( p->frame < q->frame );
}

static bool fail_at( const timing *t, int section, const char *sentence )
{
    char path[64];
    snprintf( path, sizeof path, "sections[%d].delay", section );
    return tr_error_path( t->error, t->file, path, "%s", sentence );
}

static int gather_keys( const timing *t, const tr_layer *layer, key *keys )
{
    int count = 0;
    for ( int i = 0; i < t->scene->section_count; ++i ) {
        const tr_section *s = &t->scene->sections[i];
        int frame = s->frame - t->scene->first;
        if ( strcmp( s->layer, layer->id ) == 0 && frame >= 0 && frame < t->frame_count )
            keys[count++] = ( key ){ frame, s->delay, i };
    }
    qsort( keys, (size_t)count, sizeof *keys, by_frame );
    return count;
}

static void window( const timing *t, const tr_layer *layer, int *first, int *last )
{
    *first = layer->first - t->scene->first < 0 ? 0 : layer->first - t->scene->first;
    *last =
        layer->last - t->scene->first < t->frame_count ? layer->last - t->scene->first : t->frame_count - 1;
}

// -------------------------------------------------------------------------------------------------- in place

// The skeleton fit averages roots over some frames. To keep frames beside the window unchanged, the first and
// last frames of the window keep their time, unless a key is among them.
static void find_rest( const timing *t, const key *keys, int count, int *first, int *last )
{
    int rest = t->steady - 1, low = *first + rest, high = *last - rest;
    for ( int k = 0; k < count; ++k ) {
        if ( keys[k].frame <= *first || keys[k].frame >= *last )
            continue;
        double to = keys[k].frame + keys[k].delay;
        if ( keys[k].frame <= low || to <= low )
            low = *first;
        if ( keys[k].frame >= high || to >= high )
            high = *last;
    }
    if ( low < high ) {
        *first = low;
        *last = high;
    }
}

// One map of time for all nodes joined to the members within the window.
static bool move_within( timing *t, const tr_layer *layer, const key *keys, int count )
{
    int first, last;
    window( t, layer, &first, &last );
    join_at( t, first, last );
    find_rest( t, keys, count, &first, &last );
    double *from = tr_alloc( 2 * (size_t)count + 4, sizeof( double ) );
    if ( from == NULL )
        return tr_error_memory( t->error );
    double *to = from + count + 2;
    int n = 0;
    from[n] = to[n] = first;
    ++n;
    bool ok = true;
    for ( int k = 0; ok && k < count; ++k )
        if ( keys[k].frame > first && keys[k].frame < last ) {
            from[n] = keys[k].frame;
            to[n] = keys[k].frame + keys[k].delay;
            ok = ( to[n] > to[n - 1] && from[n] > from[n - 1] && to[n] < last ) ||
                 fail_at( t, keys[k].section, "moments would change places, or leave the layer's window" );
            ++n;
        }
    from[n] = to[n] = last;
    tr_retime map = { 0 };
    ok = ok && ( last <= first || tr_retime_build( &map, from, to, n + 1, t->error ) );
    if ( ok && last > first ) {
        for ( int m = 0; m < t->node_count; ++m ) {
            bool member = false;
            for ( int o = 0; o < t->node_count; ++o )
                member = member || ( t->group[o] == t->group[m] &&
                                     tr_members_match( layer->members, node_id( t->scene, o ) ) );
            for ( int f = first; member && f <= last; ++f )
                t->delay[m][f] = tr_retime_map( &map, f ) - f;
        }
        tr_retime_free( &map );
    }
    tr_free( from );
    return ok;
}

// ---------------------------------------------------------------------------------------------------- ripple

static void find_bounds( timing *t, const tr_layer *layer, const key *keys, int count )
{
    int first, last;
    window( t, layer, &first, &last );
    for ( int f = 0; f < t->frame_count; ++f ) {
        for ( int n = 0; n < t->node_count; ++n ) {
            double least = f > 0 ? t->least[n][f - 1] : 0;
            for ( int k = 0; k < count && tr_members_match( layer->members, node_id( t->scene, n ) ); ++k )
                if ( keys[k].frame <= f )
                    least = fmax( least, keys[k].delay );
            t->least[n][f] = least;
        }
        agree( t, t->least, f, true );
    }
    for ( int f = t->frame_count - 1; f >= 0; --f ) {
        for ( int n = 0; n < t->node_count; ++n ) {
            bool early = f < first && tr_members_match( layer->members, node_id( t->scene, n ) );
            t->most[n][f] = f + 1 < t->frame_count && !early ? t->most[n][f + 1] : t->least[n][f];
        }
        agree( t, t->most, f, false );
        for ( int n = 0; n < t->node_count; ++n )
            t->most[n][f] = fmax( t->most[n][f], t->least[n][f] );
    }
}

static int first_reaching( const double *values, int count, double level )
{
    int f = 0;
    while ( f < count && values[f] < level )
        ++f;
    return f;
}

static void spread_rises( timing *t, const key *keys, int count )
{
    double below = 0;
    for ( int k = 0; k < count; ++k ) {
        double rise = keys[k].delay - below;
        for ( int n = 0; rise > 0 && n < t->node_count; ++n ) {
            int end = first_reaching( t->least[n], t->frame_count, keys[k].delay );
            int begin = first_reaching( t->most[n], t->frame_count, keys[k].delay ) - 1;
            for ( int f = begin; end < t->frame_count && f < t->frame_count; ++f )
                if ( f >= 0 )
                    t->delay[n][f] += rise * smooth_step5( ( f - begin ) / ( end - begin + 0.0 ) );
        }
        below = fmax( below, keys[k].delay );
    }
    for ( int f = 0; f < t->frame_count; ++f ) { // joined nodes may still differ a little
        for ( int n = 0; f > 0 && n < t->node_count; ++n )
            t->delay[n][f] = fmax( t->delay[n][f], t->delay[n][f - 1] );
        agree( t, t->delay, f, true );
    }
}

static double largest_delay( const timing *t )
{
    double most = 0;
    for ( int n = 0; n < t->node_count; ++n )
        most = fmax( most, t->delay[n][t->frame_count - 1] );
    return most;
}

static void reach_the_end_together( timing *t )
{
    double most = largest_delay( t );
    for ( int n = 0; n < t->node_count; ++n ) {
        double rest = most - t->delay[n][t->frame_count - 1], span = fmin( 2 * rest, t->frame_count - 1 );
        for ( int f = 0; rest > 0 && f < t->frame_count; ++f ) {
            double left = t->frame_count - 1 - f;
            t->delay[n][f] += left > 0 ? rest * smooth_step5( 1 - left / span ) : rest;
        }
    }
}

static bool move_all_after( timing *t, const tr_layer *layer, const key *keys, int count )
{
    for ( int k = 0; k < count; ++k )
        if ( keys[k].delay < ( k > 0 ? keys[k - 1].delay : 0 ) )
            return fail_at( t, keys[k].section, "with ripple a delay cannot be less than the one before it" );
    find_bounds( t, layer, keys, count );
    spread_rises( t, keys, count );
    reach_the_end_together( t );
    return true;
}

// ---------------------------------------------------------------------------------------------------- moving

static double delay_at( const timing *t, int node, double frame )
{
    if ( node < 0 )
        return 0;
    const double *delay = t->delay[node];
    int last = t->frame_count - 1;
    double f = clampd( frame, 0, last );
    int at = tr_int_clamped( f, 0, last );
    return at < last ? lerpd( delay[at], delay[at + 1], f - at ) : delay[last];
}

static int moved_frame( const timing *t, int node, int frame )
{
    return frame + tr_nearest_frame( delay_at( t, node, frame - t->scene->first ) );
}

static void move_range( const timing *t, int node, int *first, int *last )
{
    if ( *first > -TR_MAX_FRAMES )
        *first = moved_frame( t, node, *first );
    if ( *last < TR_MAX_FRAMES )
        *last = moved_frame( t, node, *last );
}

static int member_node( const timing *t, const char *layer )
{
    int index = tr_scene_find_layer( t->scene, layer );
    for ( int n = 0; index >= 0 && n < t->node_count; ++n )
        if ( tr_members_match( t->scene->layers[index].members, node_id( t->scene, n ) ) )
            return n;
    return -1;
}

// Moves every frame number in the document that belongs to the time below the layer.
static void move_document( timing *t, int layer )
{
    tr_scene *scene = t->scene;
    for ( int i = 0; i < scene->constraint_count; ++i ) {
        tr_constraint *c = &scene->constraints[i];
        int node = node_of( scene, c->a.who );
        move_range( t, node, &c->first, &c->last );
        for ( int k = 0; k < c->key_count; ++k )
            c->keys[k].frame += delay_at( t, node, c->keys[k].frame - scene->first );
    }
    for ( int i = 0; i < scene->pair_count; ++i ) {
        tr_pair *pair = &scene->pairs[i];
        int a = node_of( scene, pair->a );
        move_range( t, a >= 0 ? a : node_of( scene, pair->b ), &pair->first, &pair->last );
    }
    for ( int i = 0; i < layer; ++i )
        if ( scene->layers[i].kind == TR_LAYER_CAGE )
            move_range( t, member_node( t, scene->layers[i].id ), &scene->layers[i].first,
                        &scene->layers[i].last );
    for ( int i = 0; i < scene->section_count; ++i ) {
        int of = tr_scene_find_layer( scene, scene->sections[i].layer );
        if ( of >= 0 && of < layer && scene->layers[of].kind == TR_LAYER_CAGE )
            scene->sections[i].frame =
                moved_frame( t, member_node( t, scene->sections[i].layer ), scene->sections[i].frame );
    }
    for ( int i = 0; i < scene->handle_count; ++i ) {
        tr_handle *handle = &scene->handles[i];
        int node =
            handle->point.who[0] != 0 ? node_of( scene, handle->point.who ) : member_node( t, handle->layer );
        if ( tr_scene_find_layer( scene, handle->layer ) < layer )
            handle->frame = moved_frame( t, node, handle->frame );
    }
}

// The moment t at which t + D(t) is `frame`.
static double moment( const timing *t, int node, double frame )
{
    const double *delay = t->delay[node];
    int low = 0, high = t->frame_count - 1;
    if ( frame <= delay[0] )
        return frame - delay[0];
    if ( frame >= high + delay[high] )
        return frame - delay[high];
    while ( high - low > 1 ) {
        int middle = ( low + high ) / 2;
        if ( middle + delay[middle] <= frame )
            low = middle;
        else
            high = middle;
    }
    double a = low + delay[low], b = high + delay[high];
    return low + ( frame - a ) / ( b - a );
}

static bool move_clocks( timing *t, int frame_count )
{
    for ( int n = 0; n < t->node_count; ++n ) {
        double *when = tr_alloc( (size_t)frame_count, sizeof( double ) );
        if ( when == NULL )
            return false;
        for ( int f = 0; f < frame_count; ++f ) {
            double at = moment( t, n, f );
            const double *old = t->when[n];
            int low = tr_int_clamped( floor( at ), 0, t->frame_count - 1 ),
                high = low + 1 < t->frame_count ? low + 1 : low;
            double beyond = fmax( at - ( t->frame_count - 1 ), 0 ) + fmin( at, 0 );
            when[f] = old == NULL ? at : lerpd( old[low], old[high], clampd( at - low, 0, 1 ) ) + beyond;
        }
        tr_free( t->when[n] );
        t->when[n] = when;
    }
    return true;
}

// --------------------------------------------------------------------------------------------------- layers

static void free_curves( double **curves, int count )
{
    for ( int n = 0; curves != NULL && n < count; ++n )
        tr_free( curves[n] );
    tr_free( curves );
}

static double **make_curves( const timing *t )
{
    double **curves = tr_alloc( (size_t)t->node_count, sizeof( double * ) );
    for ( int n = 0; curves != NULL && n < t->node_count; ++n ) {
        curves[n] = tr_alloc( (size_t)t->frame_count, sizeof( double ) );
        if ( curves[n] == NULL ) {
            free_curves( curves, t->node_count );
            return NULL;
        }
    }
    return curves;
}

#define TOO_LONG "the scene would have more than a million frames"
_Static_assert( TR_MAX_FRAMES == 1000000, "as it says" );

static bool apply_layer( timing *t, int layer, key *keys )
{
    const tr_layer *l = &t->scene->layers[layer];
    int count = gather_keys( t, l, keys );
    if ( count == 0 )
        return true;
    t->delay = make_curves( t );
    t->least = make_curves( t );
    t->most = make_curves( t );
    bool ok = ( t->delay != NULL && t->least != NULL && t->most != NULL ) || tr_error_memory( t->error );
    gather_events( t );
    ok = ok && ( l->ripple ? move_all_after( t, l, keys, count ) : move_within( t, l, keys, count ) );
    if ( ok ) {
        const double rounding = 1e-9; // frames, more than sums of delays lose
        int longer = tr_int_clamped( ceil( largest_delay( t ) - rounding ), 0, TR_FAR_FRAME ),
            frames = t->frame_count + longer;
        ok = frames <= TR_MAX_FRAMES ? move_clocks( t, frames ) || tr_error_memory( t->error )
                                     : fail_at( t, keys[count - 1].section, TOO_LONG );
        move_document( t, layer );
        t->scene->last += longer;
    }
    free_curves( t->delay, t->node_count );
    free_curves( t->least, t->node_count );
    free_curves( t->most, t->node_count );
    t->frame_count = t->scene->last - t->scene->first + 1;
    return ok;
}

static bool apply_layers( timing *t, const tr_scene *document )
{
    key *keys = tr_alloc( (size_t)document->section_count, sizeof *keys );
    t->events = tr_alloc( (size_t)document->constraint_count, sizeof *t->events );
    t->group = tr_alloc( (size_t)t->node_count, sizeof( int ) );
    bool ok = ( keys != NULL && t->events != NULL && t->group != NULL ) || tr_error_memory( t->error );
    for ( int i = 0; ok && i < document->layer_count; ++i )
        if ( document->layers[i].kind == TR_LAYER_RETIME && tr_layer_is_active( document, i ) )
            ok = apply_layer( t, i, keys );
    for ( int i = 0; ok && i < document->layer_count; ++i ) {
        bool done = document->layers[i].kind == TR_LAYER_RETIME;
        t->scene->layers[i].muted = done || !tr_layer_is_active( document, i );
        t->scene->layers[i].solo = false;
    }
    tr_free( keys );
    tr_free( t->events );
    tr_free( t->group );
    return ok;
}

static bool any_retiming( const tr_scene *scene )
{
    for ( int i = 0; i < scene->layer_count; ++i )
        if ( scene->layers[i].kind == TR_LAYER_RETIME && tr_layer_is_active( scene, i ) )
            return true;
    return false;
}

static bool matches_nothing( const tr_scene *scene, const char *members )
{
    for ( int n = 0; n < scene->cast_count + scene->prop_count; ++n )
        if ( tr_members_match( members, node_id( scene, n ) ) )
            return false;
    return true;
}

// A section that moves nothing, because its frame is not one that its layer moves.
static void warn_of_section( const tr_scene *scene, const tr_section *s, tr_log *warnings )
{
    int at = tr_scene_find_layer( scene, s->layer );
    const tr_layer *layer = at >= 0 ? &scene->layers[at] : NULL;
    if ( layer == NULL || layer->kind != TR_LAYER_RETIME || !tr_layer_is_active( scene, at ) ||
         s->delay == 0 )
        return;
    int first = layer->ripple || layer->first < scene->first ? scene->first : layer->first + 1,
        last = layer->ripple || layer->last > scene->last ? scene->last : layer->last - 1;
    if ( first > last )
        tr_log_add( warnings,
                    "section %s of layer %s moves nothing: there is no frame within the layer's ends", s->id,
                    layer->id );
    else if ( s->frame < first || s->frame > last )
        tr_log_add( warnings, "section %s of layer %s moves nothing at frame %d: it can move frames %d to %d",
                    s->id, layer->id, s->frame, first, last );
}

static void warn( const tr_scene *scene, tr_log *warnings )
{
    for ( int i = 0; i < scene->layer_count; ++i )
        if ( scene->layers[i].kind == TR_LAYER_RETIME && tr_layer_is_active( scene, i ) &&
             matches_nothing( scene, scene->layers[i].members ) )
            tr_log_add( warnings, "layer %s grabs nothing by \"%s\"", scene->layers[i].id,
                        scene->layers[i].members );
    for ( int i = 0; i < scene->section_count; ++i )
        warn_of_section( scene, &scene->sections[i], warnings );
}

bool tr_times_build( tr_times **out, const tr_stage *stage, const char *file, tr_log *warnings,
                     tr_error *error )
{
    const tr_scene *scene = stage->scene;
    *out = NULL;
    warn( scene, warnings );
    if ( !any_retiming( scene ) )
        return true;
    tr_times *times = tr_alloc( 1, sizeof *times );
    if ( times == NULL )
        return tr_error_memory( error );
    timing t = { .scene = &times->scene,
                 .file = file,
                 .error = error,
                 .node_count = scene->cast_count + scene->prop_count,
                 .frame_count = scene->last - scene->first + 1,
                 .steady = tr_steady_frames( stage ) };
    times->when = t.when = tr_alloc( (size_t)t.node_count, sizeof( double * ) );
    bool ok = times->when != NULL || tr_error_memory( error );
    if ( ok && tr_scene_copy( &times->document, scene, error ) &&
         tr_scene_copy( &times->scene, scene, error ) && apply_layers( &t, scene ) ) {
        *out = times;
        return true;
    }
    tr_times_free( times );
    return false;
}

int tr_stage_document_frame( const tr_stage *stage, const tr_scene *document, const char *members, int above,
                             int frame )
{
    bool moved = false;
    for ( int i = above; stage->times != NULL && i < document->layer_count; ++i )
        moved |= document->layers[i].kind == TR_LAYER_RETIME && tr_layer_is_active( document, i );
    int nodes = moved ? stage->actor_count + stage->prop_count : 0, last = stage->frame_count - 1;
    for ( int n = 0; n < nodes; ++n ) {
        const double *when = stage->times->when[n];
        if ( tr_members_match( members, node_id( stage->scene, n ) ) )
            return document->first + ( when != NULL ? tr_nearest_frame( when[frame < 0      ? 0
                                                                             : frame > last ? last
                                                                                            : frame] )
                                                    : frame );
    }
    return frame + document->first;
}

void tr_times_free( tr_times *times )
{
    if ( times == NULL )
        return;
    free_curves( times->when, times->scene.cast_count + times->scene.prop_count );
    tr_stage_free( &times->before );
    tr_scene_free( &times->scene );
    tr_scene_free( &times->document );
    tr_free( times );
}

const tr_stage *tr_stage_own_time( const tr_stage *stage )
{
    return stage->times != NULL ? &stage->times->before : stage;
}
