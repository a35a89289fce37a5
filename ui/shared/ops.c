// Ops, previews and actions of panels and tools, collected during a frame.
#include "ui/shared/shared.h"

#include <stdarg.h>
#include <stdio.h>

static void add_line( char ***lines, int *count, int *capacity, const char *format, va_list arguments )
{
    va_list again;
    va_copy( again, arguments );
    int length = vsnprintf( NULL, 0, format, again );
    va_end( again );
    char *text = length >= 0 ? tr_alloc( (size_t)length + 1, 1 ) : NULL;
    if ( text == NULL || !tr_array_reserve( (void **)lines, capacity, *count + 1, sizeof **lines ) ) {
        tr_free( text );
        return;
    }
    vsnprintf( text, (size_t)length + 1, format, arguments );
    ( *lines )[( *count )++] = text;
}

void tr_ops_add( tr_ops *ops, const char *format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    add_line( &ops->lines, &ops->line_count, &ops->line_capacity, format, arguments );
    va_end( arguments );
}

void tr_ops_preview( tr_ops *ops, const char *format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    add_line( &ops->preview, &ops->preview_count, &ops->preview_capacity, format, arguments );
    va_end( arguments );
}

void tr_ops_edit( tr_ops *ops, bool committed, bool held, const char *format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    if ( committed )
        add_line( &ops->lines, &ops->line_count, &ops->line_capacity, format, arguments );
    else if ( held )
        add_line( &ops->preview, &ops->preview_count, &ops->preview_capacity, format, arguments );
    va_end( arguments );
}

void tr_ops_act( tr_ops *ops, tr_action_kind kind, const char *text )
{
    char *copy = tr_string_copy( text != NULL ? text : "" );
    if ( copy == NULL || !tr_array_reserve( (void **)&ops->actions, &ops->action_capacity,
                                            ops->action_count + 1, sizeof *ops->actions ) ) {
        tr_free( copy );
        return;
    }
    ops->actions[ops->action_count++] = ( tr_action ){ .kind = kind, .text = copy };
}

void tr_ops_live( tr_ops *ops, const char *layer, const char *handle, vec3 move, vec3 turn )
{
    snprintf( ops->live.layer, sizeof ops->live.layer, "%s", layer );
    snprintf( ops->live.handle, sizeof ops->live.handle, "%s", handle );
    ops->live.move = move;
    ops->live.turn = turn;
}

void tr_ops_hold( tr_ops *ops, const tr_live_hold *hold, vec3 place )
{
    ops->hold.what = *hold;
    ops->hold.place = place;
}

void tr_ops_clear( tr_ops *ops )
{
    for ( int i = 0; i < ops->line_count; ++i )
        tr_free( ops->lines[i] );
    for ( int i = 0; i < ops->preview_count; ++i )
        tr_free( ops->preview[i] );
    for ( int i = 0; i < ops->action_count; ++i )
        tr_free( ops->actions[i].text );
    ops->line_count = ops->preview_count = ops->action_count = 0;
    ops->live.handle[0] = ops->hold.what.who[0] = 0;
}

void tr_ops_free( tr_ops *ops )
{
    tr_ops_clear( ops );
    tr_free( ops->lines );
    tr_free( ops->preview );
    tr_free( ops->actions );
    *ops = ( tr_ops ){ 0 };
}
