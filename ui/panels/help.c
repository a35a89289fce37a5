// F1: every key and tool, from the tables that define them.
#include "ui/panels/panels.h"

#include <stdio.h>
#include <string.h>

// Rows a text takes when it is wrapped; lines end between words, so they are not quite full.
static int rows_of( const struct nk_user_font *font, const char *text, float width )
{
    float all = tr_ui_text_width( font, text );
    return all <= width ? 1 : 1 + tr_pixels( 1.15f * all / fmaxf( width, 1 ) );
}

// In several rows where the column is too narrow for one.
static void line( tr_ui *ui, const char *keys, const char *text )
{
    const float columns[] = { 0.34f, 0.62f }; // clear of the scrollbar
    const struct nk_user_font *font = ui->nk->style.font;
    float width = nk_window_get_content_region_size( ui->nk ).x - 16;
    int left = rows_of( font, keys, columns[0] * width ), right = rows_of( font, text, columns[1] * width ),
        rows = left > right ? left : right;
    nk_layout_row( ui->nk, NK_DYNAMIC, rows > 1 ? 12.0f * (float)rows + 5 : 17, 2, columns );
    if ( rows > 1 ) {
        nk_label_colored_wrap( ui->nk, keys, tr_theme_dark.accent );
        nk_label_wrap( ui->nk, text );
        return;
    }
    nk_label_colored( ui->nk, keys, NK_TEXT_LEFT, tr_theme_dark.accent );
    nk_label( ui->nk, text, NK_TEXT_LEFT );
}

// The commands of a menu; NULL: those that have only a key.
static void menu_lines( tr_ui *ui, const tr_shown *shown, const char *menu )
{
    int count;
    const tr_command *table = tr_command_table( &count );
    tr_ui_heading( ui, shown->paint, menu != NULL ? menu : "Also" );
    for ( int i = 0; i < count; ++i ) {
        bool of_it = menu == NULL ? table[i].menu == NULL
                                  : table[i].menu != NULL && strcmp( table[i].menu, menu ) == 0;
        if ( of_it && table[i].keys[0] != 0 )
            line( ui, table[i].keys, table[i].name );
    }
}

static void tool_lines( tr_ui *ui, const tr_shown *shown )
{
    tr_ui_heading( ui, shown->paint, "Tools" );
    for ( int i = 0; i < tr_tool_count(); ++i ) {
        const tr_tool *tool = tr_tool_get( i );
        char keys[64];
        snprintf( keys, sizeof keys, tool->other_key != 0 ? "%c, %c   %s" : "%c%.0d   %s", tool->key,
                  tool->other_key, tool->name );
        line( ui, keys, tool->help );
    }
}

static const struct {
    const char *gesture, *what;
} mouse[] = { { "Middle, Alt+left", "turn the view" },
              { "Shift+middle, Alt+middle", "move the view" },
              { "Wheel, Alt+right", "nearer, farther" },
              { "Cube", "look along an axis" },
              { "Wheel while pulling", "how far the cage reaches" },
              { "Ctrl+wheel", "the same at any time; on the timeline zoom" },
              { "Shift+drag a section", "turn it about the vertical" },
              { "Ctrl+drag in a row", "a moment comes earlier or later" } };

static void mouse_lines( tr_ui *ui, const tr_shown *shown )
{
    tr_ui_heading( ui, shown->paint, "Mouse" );
    for ( size_t i = 0; i < sizeof mouse / sizeof mouse[0]; ++i )
        line( ui, mouse[i].gesture, mouse[i].what );
}

// Column `column` of the `columns` that fit into the window.
static void column_lines( tr_ui *ui, const tr_shown *shown, int columns, int column )
{
    static const struct {
        const char *menu;
        void ( *lines )( tr_ui *ui, const tr_shown *shown ); // for parts that are no menu
        int of_two, of_three;
    } parts[] = { { NULL, tool_lines, 0, 2 },  { "File", NULL, 0, 0 }, { "Edit", NULL, 0, 0 },
                  { NULL, mouse_lines, 0, 0 }, { "View", NULL, 1, 1 }, { "Show", NULL, 1, 1 },
                  { "Play", NULL, 1, 2 },      { NULL, NULL, 1, 2 } };
    for ( size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i )
        if ( column == ( columns == 3 ? parts[i].of_three : columns == 2 ? parts[i].of_two : 0 ) ) {
            if ( parts[i].lines != NULL )
                parts[i].lines( ui, shown );
            else
                menu_lines( ui, shown, parts[i].menu );
        }
}

void tr_panel_help_print( tr_text *out )
{
    int count;
    const tr_command *table = tr_command_table( &count );
    tr_text_add( out, "| key | tool |\n|---|---|\n" );
    for ( int i = 0; i < tr_tool_count(); ++i ) {
        const tr_tool *tool = tr_tool_get( i );
        char other[16] = "";
        if ( tool->other_key != 0 )
            snprintf( other, sizeof other, ", `%c`", tool->other_key );
        tr_text_add( out, "| `%c`%s | %s: %s |\n", tool->key, other, tool->name, tool->help );
    }
    tr_text_add( out, "\n| mouse | what it does |\n|---|---|\n" );
    for ( size_t i = 0; i < sizeof mouse / sizeof mouse[0]; ++i )
        tr_text_add( out, "| %s | %s |\n", mouse[i].gesture, mouse[i].what );
    tr_text_add( out, "\n| key | what it does | menu |\n|---|---|---|\n" );
    for ( int i = 0; i < count; ++i )
        if ( table[i].keys[0] != 0 )
            tr_text_add( out, "| `%s` | %s | %s |\n", table[i].keys, table[i].name,
                         table[i].menu != NULL ? table[i].menu : "" );
}

void tr_panel_help( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    struct nk_context *nk = ui->nk;
    float w = fminf( 1180, (float)ui->width - 40 ), h = fminf( 700, (float)ui->height - 40 );
    struct nk_rect area = nk_rect( 0.5f * ( (float)ui->width - w ), 0.5f * ( (float)ui->height - h ), w, h );
    (void)ops;
    nk_style_push_color( nk, &nk->style.window.border_color, tr_theme_dark.faint );
    nk_style_push_float( nk, &nk->style.window.border, 1 );
    nk_style_push_vec2( nk, &nk->style.window.padding, nk_vec2( 20, 14 ) );
    nk_window_set_focus( nk, "help" );
    nk_style_push_font( nk, &shown->paint->fonts.small->handle );
    if ( nk_begin( nk, "help", area, NK_WINDOW_BORDER | NK_WINDOW_NO_SCROLLBAR ) ) {
        tr_ui_heading( ui, shown->paint, "Keys and tools      (F1 or Esc closes this)" );
        const int columns = w > 900 ? 3 : w > 420 ? 2 : 1;
        nk_layout_row_dynamic( nk, h - 70, columns );
        for ( int c = 0; c < columns; ++c ) {
            char name[8] = { 'h', (char)( '0' + c ), 0 };
            if ( !nk_group_begin( nk, name, 0 ) )
                continue;
            column_lines( ui, shown, columns, c );
            nk_group_end( nk );
        }
    }
    nk_end( nk );
    nk_style_pop_font( nk );
    nk_style_pop_vec2( nk );
    nk_style_pop_float( nk );
    nk_style_pop_color( nk );
}
