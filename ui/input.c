// Passes events from the window's queue to Nuklear, the viewport and the keys. A frame takes at most one
// change of a button: a click shorter than a frame then lasts two frames and is not missed.
#include "ui/app.h"

#include <string.h>

static const enum nk_buttons nk_buttons_of[TR_BUTTON_COUNT] = { [TR_BUTTON_LEFT] = NK_BUTTON_LEFT,
                                                                [TR_BUTTON_RIGHT] = NK_BUTTON_RIGHT,
                                                                [TR_BUTTON_MIDDLE] = NK_BUTTON_MIDDLE };

static void nk_key( struct nk_context *nk, const tr_event *event )
{
    static const struct {
        int key;
        unsigned modifiers;
        enum nk_keys nk;
    } table[] = { { TR_KEY_DELETE, 0, NK_KEY_DEL },
                  { TR_KEY_ENTER, 0, NK_KEY_ENTER },
                  { TR_KEY_TAB, 0, NK_KEY_TAB },
                  { TR_KEY_BACKSPACE, 0, NK_KEY_BACKSPACE },
                  { TR_KEY_UP, 0, NK_KEY_UP },
                  { TR_KEY_DOWN, 0, NK_KEY_DOWN },
                  { TR_KEY_LEFT, TR_MOD_CTRL, NK_KEY_TEXT_WORD_LEFT },
                  { TR_KEY_RIGHT, TR_MOD_CTRL, NK_KEY_TEXT_WORD_RIGHT },
                  { TR_KEY_LEFT, 0, NK_KEY_LEFT },
                  { TR_KEY_RIGHT, 0, NK_KEY_RIGHT },
                  { TR_KEY_HOME, 0, NK_KEY_TEXT_LINE_START },
                  { TR_KEY_END, 0, NK_KEY_TEXT_LINE_END },
                  { 'A', TR_MOD_CTRL, NK_KEY_TEXT_SELECT_ALL },
                  { 'C', TR_MOD_CTRL, NK_KEY_COPY },
                  { 'V', TR_MOD_CTRL, NK_KEY_PASTE },
                  { 'X', TR_MOD_CTRL, NK_KEY_CUT } };
    nk_input_key( nk, NK_KEY_SHIFT, ( event->modifiers & TR_MOD_SHIFT ) != 0 );
    nk_input_key( nk, NK_KEY_CTRL, ( event->modifiers & TR_MOD_CTRL ) != 0 );
    for ( size_t i = 0; i < sizeof table / sizeof table[0]; ++i )
        if ( table[i].key == event->key &&
             ( !event->down || ( event->modifiers & TR_MOD_CTRL ) == table[i].modifiers ) )
            nk_input_key( nk, table[i].nk, event->down );
}

static void take_scroll( tr_app *app, const tr_shown *shown, const tr_event *event )
{
    const tr_tool *tool = tr_tool_get( app->ui.tool );
    tr_ui *ui = &app->ui;
    struct nk_vec2 mouse = app->nk.input.mouse.pos;
    bool free = !tr_ui_popup( ui ) && !ui->help && ui->dialog == TR_DIALOG_NONE;
    bool over = free && tr_area_has( ui->viewport, mouse.x, mouse.y );
    if ( over && tool->wheel != NULL && tool->wheel( ui, shown, event->y, event->modifiers ) )
        return;
    if ( over )
        tr_orbit_zoom( &ui->orbit, event->y );
    else
        nk_input_scroll( &app->nk, nk_vec2( (float)event->x, (float)event->y ) );
}

static void take_drop( tr_app *app, const tr_event *event )
{
    if ( event->path != NULL )
        tr_ops_act( &app->ops, TR_ACTION_DROP, event->path );
}

// Nuklear counts in whole pixels; picking uses the exact point, so hovering must, too.
static void point_at( struct nk_context *nk, const tr_event *event )
{
    nk_input_motion( nk, tr_pixels( event->x ), tr_pixels( event->y ) );
    nk->input.mouse.pos = nk_vec2( (float)event->x, (float)event->y );
}

static void take( tr_app *app, const tr_shown *shown, tr_event *event )
{
    if ( event->kind == TR_EVENT_MOTION || event->kind == TR_EVENT_BUTTON ) { // tools draw where it is
        event->x = tr_near_window( event->x );
        event->y = tr_near_window( event->y );
    }
    int x = tr_pixels( event->x ), y = tr_pixels( event->y );
    if ( event->kind == TR_EVENT_KEY || event->kind == TR_EVENT_BUTTON || event->kind == TR_EVENT_SCROLL )
        app->ui.modifiers = event->modifiers;
    bool typing = tr_ui_typing( &app->ui );
    switch ( event->kind ) {
    case TR_EVENT_MOTION: point_at( &app->nk, event ); break;
    case TR_EVENT_BUTTON:
        point_at( &app->nk, event );
        nk_input_button( &app->nk, nk_buttons_of[event->button], x, y, event->down );
        if ( event->down && event->button == TR_BUTTON_LEFT ) // a new press holds nothing yet
            app->ui.grabbed = app->ui.edit.key = app->ui.edit.cancelled = 0;
        if ( !event->down && event->button == TR_BUTTON_LEFT && app->ui.edit.cancelled )
            app->ui.edit.key = app->ui.edit.cancelled = 0;
        break;
    case TR_EVENT_SCROLL: take_scroll( app, shown, event ); break;
    case TR_EVENT_KEY:
        nk_key( &app->nk, event );
        if ( event->down && !typing ) // the pointer may have moved on since the last frame
            tr_viewport_hover( &app->ui, shown );
        if ( event->down && ( !typing || event->key == TR_KEY_ESCAPE ) )
            tr_command_key( &app->ui, shown, &app->ops, event->key, event->modifiers );
        break;
    case TR_EVENT_TEXT:
        if ( typing )
            nk_input_unicode( &app->nk, tr_ui_letter( &app->ui, event->text ) );
        break;
    case TR_EVENT_DROP: take_drop( app, event ); break;
    case TR_EVENT_CLOSE: tr_ops_act( &app->ops, TR_ACTION_QUIT, NULL ); break;
    }
    tr_viewport_input( &app->ui, shown, &app->ops, event );
}

// A press beside the field that is typed into ends it first, as Enter does: the press may select another
// character, which what was typed does not belong to.
static bool ends_typing( tr_app *app, const tr_event *event )
{
    tr_ui *ui = &app->ui;
    bool before = ui->text.ended, press = event->kind == TR_EVENT_BUTTON && event->down;
    ui->text.ended = false;
    if ( before || !press || ui->text.key == 0 || ui->text.focus || ui->dialog != TR_DIALOG_NONE ||
         tr_area_has( ui->text.area, event->x, event->y ) )
        return false;
    ui->text.ended = true;
    return true;
}

bool tr_input_frame( tr_app *app, const tr_shown *shown )
{
    tr_event_queue *queue = &app->window->queue;
    const int most_letters = NK_INPUT_MAX / 4; // Nuklear loses what is beyond; each may be four bytes long
    int taken = 0, letters = 0;
    nk_input_begin( &app->nk );
    for ( bool full = false; taken < queue->count && !full; ++taken ) {
        tr_event *event = &queue->items[taken];
        letters += event->kind == TR_EVENT_TEXT;
        if ( event->kind == TR_EVENT_KEY && letters > 0 && event->down ) // what was typed before comes first
            break;
        if ( ends_typing( app, event ) )
            break;
        full = event->kind == TR_EVENT_BUTTON || letters == most_letters;
        take( app, shown, event );
        tr_free( event->path );
    }
    queue->count -= taken;
    if ( queue->count > 0 )
        memmove( queue->items, queue->items + taken, (size_t)queue->count * sizeof *queue->items );
    nk_input_end( &app->nk );
    return taken > 0 || app->ui.text.ended;
}
