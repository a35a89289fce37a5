// Fields and sliders: values that are dragged, and text that is typed.
#include "ui/shared/shared.h"

#include <stdio.h>
#include <string.h>

// --------------------------------------------------------------------------------------------------- values

void tr_ui_subject( tr_ui *ui, const char *id )
{
    ui->subject = nk_murmur_hash( id, (int)strlen( id ), 17 );
}

static unsigned key_of( const tr_ui *ui, const char *name )
{
    nk_hash hash = nk_murmur_hash( name, (int)strlen( name ), ui->subject );
    return hash != 0 ? hash : 1;
}

// What a widget came back with, held while the button is down and handed on when it is up.
static bool settle( tr_ui *ui, unsigned key, double now, double *value, bool *held )
{
    double before = *value;
    bool down = ui->nk->input.mouse.buttons[NK_BUTTON_LEFT].down;
    *held = false;
    if ( ui->edit.key == key && ui->edit.cancelled ) // until the button is let go
        return false;
    double shown = ui->edit.key == key ? ui->edit.value : before;
    if ( fabs( now - shown ) > 1e-9 * fmax( 1.0, fabs( now ) ) ) {
        ui->edit.key = key;
        ui->edit.value = now;
    }
    if ( ui->edit.key != key )
        return false;
    *value = ui->edit.value;
    *held = down;
    if ( down )
        return false;
    ui->edit.key = 0;
    return *value != before;
}

static double held_value( const tr_ui *ui, unsigned key, double value )
{
    return ui->edit.key == key && !ui->edit.cancelled ? ui->edit.value : value;
}

// ---------------------------------------------------------------------------------------------------- typing

static void begin_typing( tr_ui *ui, unsigned key, const char *text )
{
    ui->text.key = key;
    ui->text.length = snprintf( ui->text.buffer, sizeof ui->text.buffer, "%s", text );
    if ( ui->text.length >= (int)sizeof ui->text.buffer )
        ui->text.length = (int)sizeof ui->text.buffer - 1;
    ui->text.focus = true;
}

// The keyboard goes to the field that comes next, all of its text chosen.
static void take_focus( tr_ui *ui )
{
    struct nk_window *window = ui->nk->current;
    nk_edit_focus( ui->nk, 0 );
    window->edit.sel_start = 0;
    window->edit.cursor = window->edit.sel_end = nk_utf_len( ui->text.buffer, ui->text.length );
    window->edit.mode = NK_TEXT_EDIT_MODE_INSERT;
    ui->text.focus = false;
}

// Filters for a line of text and for ids.
static int filter_line( const struct nk_text_edit *box, nk_rune letter )
{
    (void)box;
    return letter >= ' ' && letter != '"' && letter != '\\';
}

static int filter_id( const struct nk_text_edit *box, nk_rune letter )
{
    (void)box;
    return ( letter >= 'a' && letter <= 'z' ) || ( letter >= '0' && letter <= '9' ) || letter == '_';
}

unsigned tr_ui_letter( tr_ui *ui, unsigned letter )
{
    if ( ui->text.key == 0 || !ui->text.is_id )
        return letter;
    unsigned as = letter >= 'A' && letter <= 'Z'                    ? letter + ( 'a' - 'A' )
                  : letter == ' ' || letter == '-' || letter == '.' ? '_'
                                                                    : letter;
    if ( !filter_id( NULL, as ) )
        tr_ui_say( ui, false, "A name is made of a to z, 0 to 9 and _" );
    return as;
}

// Letters that a name has no room for are not lost without a word. `length` it would have with all of them.
static void say_when_full( tr_ui *ui, int length )
{
    const int most = TR_ID_MAX - 1;
    if ( ui->text.is_id && length > most && ui->text.length >= most )
        tr_ui_say( ui, false, "A name has at most %d letters", most );
}

// A field in the place of a widget. True when Enter or a click elsewhere ends it with another text than
// `value`; Escape ends it without (tr_ui_stop_typing).
static bool edit_cell( tr_ui *ui, unsigned key, const char *value, nk_plugin_filter filter )
{
    char still[sizeof ui->text.buffer];
    bool mine = ui->text.key == key;
    int length = snprintf( still, sizeof still, "%s", value );
    if ( mine && ui->text.focus )
        take_focus( ui );
    length = length < (int)sizeof still ? length : (int)sizeof still - 1;
    bool is_id = filter == filter_id;
    struct nk_rect area = nk_widget_bounds( ui->nk );
    struct nk_panel *panel = ui->nk->current->layout;
    nk_flags asleep = panel->flags & NK_WINDOW_ROM; // the pointer is over another panel: letters still come
    if ( mine )
        panel->flags &= ~asleep;
    int whole = ui->text.length + ui->nk->input.keyboard.text_len; // before the field takes them
    nk_flags state = nk_edit_string( ui->nk, NK_EDIT_FIELD | NK_EDIT_SIG_ENTER | NK_EDIT_AUTO_SELECT,
                                     mine ? ui->text.buffer : still, mine ? &ui->text.length : &length,
                                     is_id ? TR_ID_MAX : (int)sizeof still - 1, filter );
    panel->flags |= asleep;
    if ( !mine ) {
        if ( ( state & NK_EDIT_ACTIVATED ) != 0 )
            begin_typing( ui, key, value );
        return false;
    }
    ui->text.is_id = is_id;
    ui->text.area = ( tr_area ){ area.x, area.y, area.w, area.h };
    ui->text.buffer[ui->text.length] = 0;
    say_when_full( ui, whole );
    state |= ui->text.ended ? NK_EDIT_COMMITED : 0;
    if ( ( state & NK_EDIT_COMMITED ) != 0 )
        nk_edit_unfocus( ui->nk );
    else if ( ( state & NK_EDIT_ACTIVE ) != 0 )
        return false;
    ui->text.key = 0;
    return ( state & ( NK_EDIT_COMMITED | NK_EDIT_DEACTIVATED ) ) != 0 &&
           strcmp( ui->text.buffer, value ) != 0;
}

bool tr_ui_text( tr_ui *ui, const char *name, const char *label, const char *value, bool is_id, char *out,
                 size_t size )
{
    const float columns[] = { 0.32f, 0.66f };
    nk_layout_row( ui->nk, NK_DYNAMIC, TR_ROW, 2, columns );
    nk_label_colored( ui->nk, label, NK_TEXT_LEFT, tr_theme_dark.dim );
    tr_ui_mark( ui, name, nk_widget_bounds( ui->nk ) );
    bool done = edit_cell( ui, key_of( ui, name ), value, is_id ? filter_id : filter_line );
    if ( done )
        snprintf( out, size, "%s", ui->text.buffer );
    return done;
}

void tr_ui_rows( tr_ui *ui, tr_ops *ops, const char *verb, const char *id, const char *key,
                 const double *rows, int count, int size )
{
    tr_text text = { 0 };
    char now[TR_TYPED_MAX];
    for ( int i = 0; i < count * size; ++i ) {
        tr_text_add( &text, "%s", i == 0 ? "" : i % size == 0 ? ";" : "," );
        tr_text_exact( &text, rows[i] );
    }
    if ( tr_ui_text( ui, key, key, text.data != NULL ? text.data : "", false, now, sizeof now ) )
        tr_ops_add( ops, "%s id=%s %s=\"%s\"", verb, id, key, now );
    tr_text_free( &text );
}

void tr_ui_rename( tr_ui *ui, tr_ops *ops, const char *verb, const char *id )
{
    tr_id to;
    if ( !tr_ui_text( ui, "rename", "name", id, true, to, sizeof to ) || to[0] == 0 )
        return;
    tr_ops_add( ops, "%s id=%s to=%s", verb, id, to );
    memcpy( ui->renamed.to, to, sizeof to );
    snprintf( ui->renamed.from, sizeof ui->renamed.from, "%s", id );
}

// --------------------------------------------------------------------------------------------------- numbers

// A cell with a number: pulled sideways it changes by steps, a click lets it be typed exactly.
static double pull_cell( tr_ui *ui, unsigned key, const char *label, double low, double high, double step,
                         double value )
{
    const tr_theme *t = &tr_theme_dark;
    const struct nk_input *in = &ui->nk->input;
    const struct nk_user_font *font = ui->nk->style.font;
    struct nk_rect area;
    char text[40], fitted[80];
    if ( nk_widget( &area, ui->nk ) == NK_WIDGET_INVALID )
        return value;
    bool over = nk_input_is_mouse_hovering_rect( in, area ) && !tr_ui_popup( ui );
    bool down = in->mouse.buttons[NK_BUTTON_LEFT].down;
    if ( over && nk_input_is_mouse_pressed( in, NK_BUTTON_LEFT ) ) {
        ui->grabbed = key;
        ui->pull.x = in->mouse.pos.x;
        ui->pull.value = value;
        ui->pull.moved = false;
    }
    bool held = ui->grabbed == key && down;
    if ( held ) {
        double by = in->mouse.pos.x - ui->pull.x;
        ui->pull.moved |= fabs( by ) > 3;
        if ( ui->pull.moved )
            value = clampd( ui->pull.value + step * round( 0.5 * by ), low, high );
    } else if ( ui->grabbed == key ) { // let go: a click
        ui->grabbed = 0;
        tr_number_print_exact( text, sizeof text, value );
        if ( !ui->pull.moved && over )
            begin_typing( ui, key, text );
    }
    struct nk_command_buffer *canvas = nk_window_get_canvas( ui->nk );
    nk_fill_rect( canvas, area, 4, held ? t->pressed : over ? t->hover : t->well );
    tr_number_print( text, sizeof text, value, step < 1 ? 4 : 2 );
    float width = tr_ui_text_width( font, text ), y = area.y + 0.5f * ( area.h - font->height );
    tr_ui_fit( fitted, sizeof fitted, label, font, area.w - width - 20 );
    tr_ui_text_at( canvas, font, area.x + 6, y, fitted, t->dim );
    tr_ui_text_at( canvas, font, area.x + area.w - width - 6, y, text, t->text );
    return value;
}

// The cell, or while it is typed into a field in its place.
static double number_cell( tr_ui *ui, unsigned key, const char *label, double low, double high, double step,
                           double value )
{
    char before[40];
    double typed;
    if ( ui->text.key != key )
        return pull_cell( ui, key, label, low, high, step, value );
    tr_number_print_exact( before, sizeof before, value );
    if ( !edit_cell( ui, key, before, nk_filter_float ) )
        return value;
    const char *end = ui->text.buffer + ui->text.length;
    bool ok = tr_number_parse( ui->text.buffer, end, &typed ) == end && isfinite( typed );
    return ok ? clampd( typed, low, high ) : value;
}

// The bar of a slider: a press anywhere on it takes hold of it.
static double slider_bar( tr_ui *ui, unsigned key, double low, double high, double step, double value )
{
    const tr_theme *t = &tr_theme_dark;
    const struct nk_input *in = &ui->nk->input;
    struct nk_rect area;
    if ( nk_widget( &area, ui->nk ) == NK_WIDGET_INVALID )
        return value;
    bool over = nk_input_is_mouse_hovering_rect( in, area ) && !tr_ui_popup( ui );
    bool held = ui->grabbed == key && in->mouse.buttons[NK_BUTTON_LEFT].down;
    if ( over && nk_input_is_mouse_pressed( in, NK_BUTTON_LEFT ) ) {
        ui->grabbed = key;
        held = true;
    }
    const float knob = 6;
    float x0 = area.x + knob, width = fmaxf( area.w - 2 * knob, 1 ), y = area.y + 0.5f * area.h;
    if ( held )
        value = clampd( low + step * round( ( in->mouse.pos.x - x0 ) / width * ( high - low ) / step ), low,
                        high );
    float x = x0 + width * (float)( ( clampd( value, low, high ) - low ) / ( high - low ) );
    struct nk_command_buffer *canvas = nk_window_get_canvas( ui->nk );
    nk_fill_rect( canvas, nk_rect( x0, y - 2, width, 4 ), 2, t->well );
    nk_fill_rect( canvas, nk_rect( x0, y - 2, x - x0, 4 ), 2, t->accent_dark );
    nk_fill_circle( canvas, nk_rect( x - knob, y - knob, 2 * knob, 2 * knob ),
                    held || over ? t->accent : t->dim );
    return value;
}

bool tr_ui_slider( tr_ui *ui, const char *name, const char *label, double low, double high, double step,
                   double *value, bool *held )
{
    struct nk_context *nk = ui->nk;
    unsigned key = key_of( ui, name );
    double shown = held_value( ui, key, *value );
    const float columns[] = { 0.30f, 0.46f, 0.22f };
    nk_layout_row( nk, NK_DYNAMIC, TR_ROW - 2, 3, columns );
    nk_label_colored( nk, label, NK_TEXT_LEFT, tr_theme_dark.dim );
    tr_ui_mark( ui, name, nk_widget_bounds( nk ) );
    double now = slider_bar( ui, key, low, high, step, shown );
    char cell[64];
    snprintf( cell, sizeof cell, "%s.value", name );
    tr_ui_mark( ui, cell, nk_widget_bounds( nk ) );
    now = number_cell( ui, key_of( ui, cell ), "", fmin( low, 0.1 * low ), 4 * high, step, now );
    return settle( ui, key, now, value, held );
}

bool tr_ui_number( tr_ui *ui, const char *name, const char *label, double low, double high, double step,
                   double *value, bool *held )
{
    unsigned key = key_of( ui, name );
    tr_ui_mark( ui, name, nk_widget_bounds( ui->nk ) );
    double now = number_cell( ui, key, label, low, high, step, held_value( ui, key, *value ) );
    return settle( ui, key, now, value, held );
}

void tr_ui_frames( tr_ui *ui, tr_ops *ops, const char *verb, const char *id, const char *key,
                   const char *const labels[2], double low, const double values[2] )
{
    double now[2] = { values[0], values[1] };
    bool held[2], done = false, whole = strcmp( key, "range" ) == 0;
    char text[2][32];
    nk_layout_row_dynamic( ui->nk, TR_ROW, 2 );
    for ( int i = 0; i < 2; ++i ) {
        char name[64];
        snprintf( name, sizeof name, "%s.%s.%d", verb, key, i );
        done |= tr_ui_number( ui, name, labels[i], low, TR_MAX_FRAMES, 1, &now[i], &held[i] );
        tr_number_print_exact( text[i], sizeof text[i], whole ? round( now[i] ) : now[i] );
    }
    tr_ops_edit( ops, done, held[0] || held[1], "%s id=%s %s=%s,%s", verb, id, key, text[0], text[1] );
}

bool tr_ui_vec3_edit( tr_ui *ui, const char *key, double low, vec3 *value, bool *held )
{
    static const char *const labels[3] = { "X", "Y", "Z" };
    double *const now[3] = { &value->x, &value->y, &value->z };
    bool done = false, one;
    *held = false;
    nk_layout_row_dynamic( ui->nk, TR_ROW, 3 );
    for ( int i = 0; i < 3; ++i ) {
        char name[64];
        snprintf( name, sizeof name, "%s.%s", key, labels[i] );
        done |= tr_ui_number( ui, name, labels[i], low > 0 ? low : -1000, 1000, 0.01, now[i], &one );
        *held |= one;
    }
    return done;
}

void tr_ui_vec3( tr_ui *ui, tr_ops *ops, const char *verb, const char *id, const char *key, double low,
                 vec3 value )
{
    bool held, done = tr_ui_vec3_edit( ui, key, low, &value, &held );
    char x[32], y[32], z[32];
    if ( tr_number_print_exact( x, sizeof x, value.x ) > 0 &&
         tr_number_print_exact( y, sizeof y, value.y ) > 0 &&
         tr_number_print_exact( z, sizeof z, value.z ) > 0 )
        tr_ops_edit( ops, done, held, "%s id=%s %s=%s,%s,%s", verb, id, key, x, y, z );
}
