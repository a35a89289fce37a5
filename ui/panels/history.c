// The history: steps by their names, undone ones in grey; a click undoes or redoes up to a step.
#include "ui/panels/panels.h"

#include <stdio.h>

#define MOST_LINES 64 // lines of a step that are read for its name

static const char *line_of( const tr_document *document, int index )
{
    int done = tr_document_log_count( document );
    return index < done ? tr_document_log( document, index ) : tr_document_undone( document, index - done );
}

// Where the step that ends before `end` begins.
static int step_before( const tr_document *document, int end )
{
    int first = end - 1;
    while ( tr_document_is_joined( document, first ) )
        --first;
    return first;
}

static void name_step( const tr_document *document, int first, int end, char *name, size_t size )
{
    const char *lines[MOST_LINES];
    int count = 0;
    for ( int i = first; i < end && count < MOST_LINES; ++i )
        lines[count++] = line_of( document, i );
    tr_step_name( name, size, lines, count );
}

// Long histories have names for the rows that are seen, no others.
static bool is_scrolled_away( struct nk_context *nk )
{
    struct nk_rect area = nk_widget_bounds( nk ), clip = nk->current->layout->clip;
    return area.y + area.h < clip.y || area.y > clip.y + clip.h;
}

// Steps between two places of the log.
static int steps_between( const tr_document *document, int first, int end )
{
    int count = 0;
    for ( int i = first; i < end; ++i )
        count += !tr_document_is_joined( document, i );
    return count;
}

static void go_to( const tr_document *document, tr_ops *ops, int end )
{
    int done = tr_document_log_count( document );
    for ( int k = steps_between( document, end, done ); k > 0; --k )
        tr_ops_act( ops, TR_ACTION_UNDO, NULL );
    for ( int k = steps_between( document, done, end ); k > 0; --k )
        tr_ops_act( ops, TR_ACTION_REDO, NULL );
}

static bool row( tr_ui *ui, int number, const char *name, bool now, bool undone, bool *hovered )
{
    struct nk_context *nk = ui->nk;
    int on = now;
    char line[240], spot[32];
    snprintf( spot, sizeof spot, "step.%d", number );
    tr_ui_mark( ui, spot, nk_widget_bounds( nk ) );
    tr_ui_fit( line, sizeof line, name, nk->style.font, nk_widget_width( nk ) - 14 );
    *hovered = nk_widget_is_hovered( nk );
    nk_style_push_color( nk, &nk->style.selectable.text_normal,
                         undone ? tr_theme_dark.faint : tr_theme_dark.text );
    bool clicked = nk_selectable_label( nk, line, NK_TEXT_LEFT, &on ) && on != now;
    nk_style_pop_color( nk );
    return clicked;
}

// The status line shows the ops of the step under the pointer.
static void tell_ops( tr_ui *ui, const tr_document *document, int first, int end )
{
    if ( end - first > 1 )
        tr_ui_hint( ui, "%s · and %d more", line_of( document, first ), end - first - 1 );
    else
        tr_ui_hint( ui, "%s", line_of( document, first ) );
}

void tr_panel_history( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    const tr_document *document = shown->document;
    if ( document == NULL )
        return;
    int done = tr_document_log_count( document ), all = done + tr_document_redo_count( document );
    if ( all == 0 ) {
        tr_ui_note(
            ui, "Nothing has been changed yet. Every change is one step here, and some lines of a script." );
        return;
    }
    bool hovered;
    for ( int end = all, number = steps_between( document, 0, all ); end > 0; --number ) {
        char name[240];
        int first = step_before( document, end ), last = end;
        end = first;
        nk_layout_row_dynamic( ui->nk, TR_ROW - 2, 1 );
        if ( is_scrolled_away( ui->nk ) ) {
            nk_label( ui->nk, "", NK_TEXT_LEFT );
            continue;
        }
        name_step( document, first, last, name, sizeof name );
        if ( row( ui, number, name, last == done, first >= done, &hovered ) )
            go_to( document, ops, last );
        if ( hovered )
            tell_ops( ui, document, first, last );
    }
    nk_layout_row_dynamic( ui->nk, TR_ROW - 2, 1 );
    if ( row( ui, 0, "As it was opened", done == 0, false, &hovered ) )
        go_to( document, ops, 0 );
}
