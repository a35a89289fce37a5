// Moving and turning members that rules join to others. A new placement would move the source of only one of
// them, away from what its hands hold; a cage over the whole clip moves it and keeps the links.
//
// The cage has a handle at each end of the clip, on the whole section. A handle with the turn R and the
// move m takes a place x to A(x) = R (x − c) + c + m, c the middle of its section. Where A is the same at
// both ends it holds for all frames between (cage/move.c), as rigid as a placement. Turning by Q about p
// and going by d afterwards is Q A(x) − Q p + p + d: the turn becomes Q R, and m becomes Q (c + m − p) + p +
// d − c.
#include "ui/shared/shared.h"

#include <stdio.h>
#include <string.h>

static const char ending[] = "_moved";

bool tr_linked_move_is( const tr_layer *layer )
{
    return layer->kind == TR_LAYER_CAGE && strstr( layer->id, ending ) != NULL;
}

// ------------------------------------------------------------------------------------------------- finding

static bool *nodes_of( const tr_shown *shown, const tr_item *items, int count )
{
    const tr_stage *stage = shown->stage;
    bool *nodes = tr_alloc( (size_t)( stage->actor_count + stage->prop_count ), sizeof *nodes );
    for ( int i = 0; nodes != NULL && i < count; ++i ) {
        int actor = tr_item_actor( shown, &items[i] ), prop = tr_item_prop( shown, &items[i] );
        if ( actor >= 0 )
            nodes[actor] = true;
        else if ( prop >= 0 )
            nodes[stage->actor_count + prop] = true;
    }
    return nodes;
}

// Only whole sections at both ends of the clip are held, with equal turns.
static bool is_rigid( const tr_scene *scene, const tr_layer *layer )
{
    const tr_handle *ends[2] = { NULL, NULL };
    for ( int i = 0; i < scene->handle_count; ++i ) {
        const tr_handle *h = &scene->handles[i];
        if ( strcmp( h->layer, layer->id ) != 0 )
            continue;
        int end = h->frame == scene->first ? 0 : h->frame == scene->last ? 1 : -1;
        if ( end < 0 || ends[end] != NULL || !h->pinned || h->vertex >= 0 || h->point.who[0] != 0 ||
             h->turn.x != 0 || h->turn.z != 0 )
            return false;
        ends[end] = h;
    }
    return ends[0] != NULL && ends[1] != NULL && ends[0]->turn.y == ends[1]->turn.y;
}

// The layer that moves these already, or NULL.
static const tr_layer *find_layer( const tr_scene *scene, const char *members )
{
    for ( int i = 0; i < scene->layer_count; ++i )
        if ( tr_linked_move_is( &scene->layers[i] ) && tr_layer_is_active( scene, i ) &&
             strcmp( scene->layers[i].members, members ) == 0 && is_rigid( scene, &scene->layers[i] ) )
            return &scene->layers[i];
    return NULL;
}

// "p03_moved"
static void free_layer( const tr_scene *scene, const char *members, tr_id id )
{
    const char *first = members[0] == '*' ? "all" : members;
    int stem = (int)strcspn( first, "," ), most = TR_ID_MAX - (int)sizeof ending - 4;
    stem = stem < most ? stem : most;
    snprintf( id, TR_ID_MAX, "%.*s%s", stem, first, ending );
    for ( int n = 2; tr_scene_find_layer( scene, id ) >= 0; ++n )
        snprintf( id, TR_ID_MAX, "%.*s%s%d", stem, first, ending, n );
}

// "p03_moved_1"
static void free_handle( const tr_scene *scene, const char *layer, int skip, tr_id out )
{
    for ( int n = 1;; ++n ) {
        snprintf( out, TR_ID_MAX, "%.*s_%d", TR_ID_MAX - 6, layer, n );
        if ( tr_scene_find_handle( scene, out ) < 0 && skip-- == 0 )
            return;
    }
}

static void take_over( const tr_shown *shown, const tr_layer *layer, tr_linked_move *out )
{
    const tr_scene *scene = shown->scene;
    memcpy( out->layer, layer->id, sizeof out->layer );
    for ( int i = 0; i < scene->handle_count; ++i ) {
        const tr_handle *h = &scene->handles[i];
        int end = h->frame == scene->first ? 0 : 1;
        if ( strcmp( h->layer, layer->id ) != 0 )
            continue;
        memcpy( out->handles[end], h->id, sizeof out->handles[end] );
        out->moves[end] = h->move;
        out->turn = h->turn.y;
    }
    const tr_cage_outline *shape = tr_session_cage( shown->session, layer->id );
    out->centred = shape != NULL && shape->section_count > 1;
    for ( int end = 0; out->centred && end < 2; ++end ) {
        const vec3 *rest = shape->rest + ( end > 0 ? shape->section_count - 1 : 0 ) * shape->vertex_count;
        out->middles[end] = v3_zero;
        for ( int v = 0; v < shape->vertex_count; ++v )
            out->middles[end] = v3_mad( out->middles[end], 1.0 / shape->vertex_count, rest[v] );
    }
}

bool tr_linked_move_find( const tr_shown *shown, const tr_item *items, int count, tr_linked_move *out )
{
    *out = ( tr_linked_move ){ 0 };
    if ( shown->stage == NULL || shown->stage->frame_count < 2 )
        return false;
    bool *nodes = nodes_of( shown, items, count );
    out->needed = nodes != NULL && tr_stage_joins( shown->stage, nodes );
    tr_free( nodes );
    if ( !out->needed )
        return false;
    out->fits = tr_members_list( shown->scene, items, count, out->members );
    const tr_layer *layer = out->fits ? find_layer( shown->scene, out->members ) : NULL;
    out->fresh = layer == NULL;
    if ( layer != NULL ) {
        take_over( shown, layer, out );
        return true;
    }
    free_layer( shown->scene, out->members, out->layer );
    for ( int end = 0; end < 2; ++end )
        free_handle( shown->scene, out->layer, end, out->handles[end] );
    return true;
}

bool tr_linked_move_centre( const tr_shown *shown, const tr_item *items, int count, tr_linked_move *linked )
{
    tr_error error = { 0 };
    if ( linked->fresh && !linked->centred && shown->result != NULL ) {
        bool *nodes = nodes_of( shown, items, count );
        linked->centred =
            nodes != NULL && tr_cage_middles( shown->stage, shown->result, nodes, linked->middles, &error );
        tr_free( nodes );
    }
    return linked->centred;
}

vec3 tr_linked_move_place( const tr_linked_move *linked, vec3 x )
{
    vec3 c = linked->middles[0];
    if ( linked->turn == 0 || !linked->centred )
        return v3_add( x, linked->moves[0] );
    quat turn = q_axis_angle( v3_y, linked->turn * TR_DEGREE );
    return v3_add( v3_add( q_rotate( turn, v3_sub( x, c ) ), c ), linked->moves[0] );
}

// --------------------------------------------------------------------------------------------------- writing

static void print_move( char *out, size_t size, vec3 by )
{
    char x[32], y[32], z[32];
    tr_number_print( x, sizeof x, by.x, 5 );
    tr_number_print( y, sizeof y, by.y, 5 );
    tr_number_print( z, sizeof z, by.z, 5 );
    snprintf( out, size, "%s,%s,%s", x, y, z );
}

void tr_linked_move_put( const tr_linked_move *linked, const tr_scene *scene, tr_ops *ops, tr_put *put,
                         vec3 about, double turn, vec3 by )
{
    quat q = q_axis_angle( v3_y, turn * TR_DEGREE );
    char angle[32], turned[48] = "";
    if ( !linked->fits || ( turn != 0 && !linked->centred ) )
        return;
    tr_number_print( angle, sizeof angle, remainder( linked->turn + turn, 360.0 ), 5 );
    if ( linked->turn != 0 || turn != 0 )
        snprintf( turned, sizeof turned, " turn=0,%s,0", angle );
    if ( linked->fresh )
        put( ops, "layer_add id=%s kind=cage members=\"%s\" falloff=0", linked->layer, linked->members );
    for ( int end = 0; end < 2; ++end ) {
        vec3 c = linked->middles[end], to = linked->moves[end];
        if ( turn != 0 )
            to = v3_sub( v3_add( q_rotate( q, v3_sub( v3_add( c, to ), about ) ), about ), c );
        char move[100];
        print_move( move, sizeof move, v3_add( to, by ) );
        int frame = end > 0 ? scene->last : scene->first;
        if ( linked->fresh )
            put( ops, "handle_add id=%s layer=%s frame=%d move=%s%s", linked->handles[end], linked->layer,
                 frame, move, turned );
        else
            put( ops, "handle_set id=%s frame=%d move=%s%s", linked->handles[end], frame, move, turned );
    }
}
