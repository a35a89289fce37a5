// Moving those whom rules join to others. Placing one of them anew takes its source away from theirs, and
// with it what its hands hold; a cage leads it there and keeps it.
#include "ui/tools/lead.h"

#include <stdio.h>
#include <string.h>

static const char ending[] = "_moved";

bool tr_lead_is( const tr_layer *layer )
{
    return layer->kind == TR_LAYER_CAGE && strstr( layer->id, ending ) != NULL;
}

static bool is_body( const tr_item *item )
{
    return item->kind == TR_ITEM_CAST || item->kind == TR_ITEM_PROP;
}

bool tr_lead_needed( const tr_ui *ui, const tr_shown *shown )
{
    const tr_stage *stage = shown->stage;
    bool *nodes =
        stage != NULL ? tr_alloc( (size_t)( stage->actor_count + stage->prop_count ), sizeof *nodes ) : NULL;
    if ( nodes == NULL )
        return false;
    for ( int i = 0; i < ui->selection_count; ++i ) {
        int actor = tr_item_actor( shown, &ui->selection[i] ),
            prop = tr_item_prop( shown, &ui->selection[i] );
        if ( actor >= 0 )
            nodes[actor] = true;
        else if ( prop >= 0 )
            nodes[stage->actor_count + prop] = true;
    }
    bool needed = tr_stage_joins( stage, nodes );
    tr_free( nodes );
    return needed;
}

// "p03,box01": each once. False: there is none, or they do not fit.
static bool list_members( const tr_ui *ui, char *out, size_t size )
{
    size_t used = 0;
    out[0] = 0;
    for ( int i = 0; i < ui->selection_count; ++i ) {
        const tr_item *item = &ui->selection[i];
        bool again = !is_body( item );
        for ( int k = 0; k < i; ++k ) // two joints of one character move it once
            again |= is_body( &ui->selection[k] ) && strcmp( ui->selection[k].id, item->id ) == 0;
        if ( again )
            continue;
        used += (size_t)snprintf( out + used, size - used, "%s%s", used > 0 ? "," : "", item->id );
        if ( used >= size )
            return false;
    }
    return used > 0;
}

static bool holds_anything( const tr_scene *scene, const tr_layer *layer )
{
    bool holds = false;
    for ( int i = 0; i < scene->handle_count; ++i )
        holds |= scene->handles[i].pinned && strcmp( scene->handles[i].layer, layer->id ) == 0;
    return holds;
}

// The layer that leads these already, or NULL and a name for one.
static const tr_layer *find_layer( const tr_scene *scene, const char *members, tr_id id )
{
    for ( int i = 0; i < scene->layer_count; ++i ) {
        const tr_layer *layer = &scene->layers[i];
        if ( tr_lead_is( layer ) && tr_layer_is_active( scene, i ) &&
             strcmp( layer->members, members ) == 0 && holds_anything( scene, layer ) )
            return layer;
    }
    int stem = (int)strcspn( members, "," ), most = TR_ID_MAX - (int)sizeof ending - 4;
    stem = stem < most ? stem : most;
    snprintf( id, TR_ID_MAX, "%.*s%s", stem, members, ending );
    for ( int n = 2; tr_scene_find_layer( scene, id ) >= 0; ++n )
        snprintf( id, TR_ID_MAX, "%.*s%s%d", stem, members, ending, n );
    return NULL;
}

static void print_move( char *out, size_t size, vec3 by )
{
    char x[32], y[32], z[32];
    tr_number_print( x, sizeof x, by.x, 5 );
    tr_number_print( y, sizeof y, by.y, 5 );
    tr_number_print( z, sizeof z, by.z, 5 );
    snprintf( out, size, "%s,%s,%s", x, y, z );
}

// What holds it, at the first and the last frame, goes farther.
static void move_on( const tr_scene *scene, const tr_layer *layer, tr_ops *ops, tr_put *put, vec3 by )
{
    for ( int i = 0; i < scene->handle_count; ++i ) {
        const tr_handle *handle = &scene->handles[i];
        char move[100];
        if ( strcmp( handle->layer, layer->id ) != 0 )
            continue;
        print_move( move, sizeof move, v3_add( handle->move, by ) );
        put( ops, "handle_set id=%s frame=%d move=%s", handle->id, handle->frame, move );
    }
}

// "p03_moved_1"
static void free_handle( const tr_scene *scene, const char *layer, int skip, tr_id out )
{
    for ( int n = 1;; ++n ) {
        bool taken = false;
        snprintf( out, TR_ID_MAX, "%.*s_%d", TR_ID_MAX - 6, layer, n );
        for ( int i = 0; i < scene->handle_count; ++i )
            taken |= strcmp( scene->handles[i].id, out ) == 0;
        if ( !taken && skip-- == 0 )
            return;
    }
}

void tr_lead_by( const tr_ui *ui, const tr_shown *shown, tr_ops *ops, tr_put *put, vec3 by )
{
    const tr_scene *scene = shown->scene;
    char members[TR_PATH_MAX], move[100];
    tr_id id, handle;
    if ( !list_members( ui, members, sizeof members ) )
        return;
    const tr_layer *layer = find_layer( scene, members, id );
    if ( layer != NULL ) {
        move_on( scene, layer, ops, put, by );
        return;
    }
    const int ends[2] = { scene->first, scene->last };
    print_move( move, sizeof move, by );
    put( ops, "layer_add id=%s kind=cage members=\"%s\" falloff=0", id, members );
    for ( int i = 0; i < ( ends[1] > ends[0] ? 2 : 1 ); ++i ) {
        free_handle( scene, id, i, handle );
        put( ops, "handle_add id=%s layer=%s frame=%d move=%s", handle, id, ends[i], move );
    }
}
