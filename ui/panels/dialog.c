// Dialogs: files, unsaved changes, recovery, finding a member.
#include "ui/panels/panels.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct file_dialog {
    const char *title, *button;
    const char *proposal; // name to begin with
    const char *ending;   // ending of the files; "" = a folder
    tr_action_kind action;
} file_dialog;

static const file_dialog file_dialogs[] = {
    [TR_DIALOG_OPEN] = { "Open a scene or a motion", "Open", "", ".json", TR_ACTION_OPEN },
    [TR_DIALOG_SAVE] = { "Save the scene as", "Save", "scene.json", ".json", TR_ACTION_SAVE },
    [TR_DIALOG_EXPORT_MOTION] = { "Export the motion of all characters", "Export", "result", "",
                                  TR_ACTION_EXPORT },
    [TR_DIALOG_EXPORT_PICTURE] = { "Export this view as a picture", "Export", "picture.png", ".png",
                                   TR_ACTION_PICTURE },
    [TR_DIALOG_EXPORT_VIDEO] = { "Export the range that plays as a video", "Export", "video.mp4", ".mp4",
                                 TR_ACTION_VIDEO },
    [TR_DIALOG_LOAD_MAP] = { "Load a joint map", "Load", "", ".json", TR_ACTION_LOAD_MAP },
    [TR_DIALOG_SAVE_MAP] = { "Save the joint map as", "Save", "map.json", ".json", TR_ACTION_SAVE_MAP },
    [TR_DIALOG_BODY] = { "Take the body of a motion file", "Use", "", ".bvh", TR_ACTION_BODY },
};

static bool is_file_dialog( tr_dialog dialog )
{
    return ( dialog >= TR_DIALOG_OPEN && dialog <= TR_DIALOG_EXPORT_VIDEO ) ||
           ( dialog >= TR_DIALOG_LOAD_MAP && dialog <= TR_DIALOG_BODY );
}

static void set_field( tr_ui *ui, const char *text )
{
    snprintf( ui->field, sizeof ui->field, "%s", text );
    ui->field_length = (int)strlen( ui->field );
    ui->field_fresh = true;
}

static void enter_folder( tr_ui *ui, const char *path )
{
    char *whole = realpath( path, NULL );
    if ( whole != NULL && strlen( whole ) < sizeof ui->folder )
        snprintf( ui->folder, sizeof ui->folder, "%s", whole );
    free( whole );
}

static void enter_folder_of( tr_ui *ui, const char *file )
{
    char folder[TR_UI_PATH];
    const char *slash = strrchr( file, '/' );
    snprintf( folder, sizeof folder, "%.*s", slash != NULL ? (int)( slash - file ) + 1 : 1,
              slash != NULL ? file : "." );
    enter_folder( ui, folder );
}

// Where the document is, or was put when it was chosen; before there is one, where the last one was.
static void begin_folder( tr_ui *ui, const tr_shown *shown )
{
    const char *file = tr_session_file( shown->session );
    if ( file != NULL && strcmp( file, ui->folder_of ) != 0 ) {
        snprintf( ui->folder_of, sizeof ui->folder_of, "%s", file );
        enter_folder_of( ui, file );
    }
    if ( ui->folder[0] == 0 && shown->recent[0] != NULL )
        enter_folder_of( ui, shown->recent[0] );
    if ( ui->folder[0] == 0 )
        enter_folder( ui, "." );
    if ( ui->folder[0] == 0 )
        snprintf( ui->folder, sizeof ui->folder, "/" );
}

void tr_dialog_close( tr_ui *ui )
{
    ui->dialog = TR_DIALOG_NONE;
    ui->guard = ( tr_guard ){ 0 };
}

void tr_dialog_open( tr_ui *ui, tr_dialog dialog, const tr_shown *shown )
{
    const char *file = tr_session_file( shown->session );
    tr_dialog_close( ui );
    ui->dialog = dialog;
    ui->playing = false;
    set_field( ui, "" );
    if ( !is_file_dialog( dialog ) )
        return;
    begin_folder( ui, shown );
    set_field( ui, file_dialogs[dialog].proposal );
    if ( dialog == TR_DIALOG_SAVE && file != NULL ) {
        const char *slash = strrchr( file, '/' );
        set_field( ui, slash != NULL ? slash + 1 : file );
    }
}

// --------------------------------------------------------------------------------------------------- frame

// Over all that has to wait.
static void shade( tr_ui *ui )
{
    struct nk_context *nk = ui->nk;
    struct nk_rect area = nk_rect( 0, 0, (float)ui->width, (float)ui->height );
    nk_window_set_focus( nk, "shade" );
    nk_window_set_bounds( nk, "shade", area );
    nk_style_push_style_item( nk, &nk->style.window.fixed_background,
                              nk_style_item_color( nk_rgba( 0, 0, 0, 120 ) ) );
    nk_begin( nk, "shade", area, NK_WINDOW_NO_INPUT | NK_WINDOW_NO_SCROLLBAR );
    nk_end( nk );
    nk_style_pop_style_item( nk );
}

static const struct nk_vec2 padding = { 18, 14 };

static bool begin( tr_ui *ui, const tr_shown *shown, const char *title, float w, float h )
{
    struct nk_context *nk = ui->nk;
    h = fminf( h, (float)ui->height - 40 );
    struct nk_rect area = nk_rect( 0.5f * ( (float)ui->width - w ), 0.4f * ( (float)ui->height - h ), w, h );
    nk_window_set_focus( nk, "dialog" );
    nk_style_push_vec2( nk, &nk->style.window.padding, nk_vec2( padding.x, padding.y ) );
    nk_style_push_float( nk, &nk->style.window.border, 1 );
    nk_style_push_color( nk, &nk->style.window.border_color, tr_theme_dark.faint );
    nk_window_set_bounds( nk, "dialog", area );
    bool open = nk_begin( nk, "dialog", area, NK_WINDOW_BORDER | NK_WINDOW_NO_SCROLLBAR );
    tr_ui_mark( ui, "dialog", area );
    if ( open )
        tr_ui_heading( ui, shown->paint, title );
    return open;
}

static void end( tr_ui *ui )
{
    struct nk_context *nk = ui->nk;
    nk_end( nk );
    nk_style_pop_color( nk );
    nk_style_pop_float( nk );
    nk_style_pop_vec2( nk );
}

static bool button( tr_ui *ui, const char *label, bool main )
{
    const tr_theme *t = &tr_theme_dark;
    struct nk_style_button style = ui->nk->style.button;
    char spot[48];
    snprintf( spot, sizeof spot, "dialog.%s", label );
    tr_ui_mark( ui, spot, nk_widget_bounds( ui->nk ) );
    if ( main ) {
        style.normal = nk_style_item_color( t->accent_dark );
        style.hover = nk_style_item_color( nk_rgb( 150, 104, 40 ) );
    }
    return nk_button_label_styled( ui->nk, &style, label );
}

static const struct {
    const char *label, *ending;
} export_kinds[] = { { "Folder of BVH", "" }, { "GLB", ".glb" }, { "USD", ".usda" }, { "NPZ", ".npz" } };

enum { EXPORT_KINDS = sizeof export_kinds / sizeof *export_kinds };

static int kind_of_name( const char *name )
{
    int kind = 0;
    for ( int i = 1; i < EXPORT_KINDS; ++i )
        kind = tr_path_ends_with( name, export_kinds[i].ending ) ? i : kind;
    return kind;
}

// Typing replaces the proposed name, not what tells the kind of an export.
static void select_field( tr_ui *ui )
{
    struct nk_edit_state *edit = &ui->nk->current->edit;
    bool exports = ui->dialog == TR_DIALOG_EXPORT_MOTION;
    size_t ending = exports ? strlen( export_kinds[kind_of_name( ui->field )].ending ) : 0;
    edit->sel_start = 0;
    edit->sel_end = edit->cursor = nk_utf_len( ui->field, ui->field_length - (int)ending );
    ui->field_fresh = false;
}

// A field for a line of text that has the keyboard from the start. True when Enter was pressed.
static bool field( tr_ui *ui )
{
    nk_layout_row_dynamic( ui->nk, TR_ROW + 2, 1 );
    tr_ui_mark( ui, "dialog.field", nk_widget_bounds( ui->nk ) );
    nk_edit_focus( ui->nk, 0 );
    if ( ui->field_fresh )
        select_field( ui );
    nk_flags state = nk_edit_string( ui->nk, NK_EDIT_FIELD | NK_EDIT_SIG_ENTER, ui->field, &ui->field_length,
                                     (int)sizeof ui->field - 1, nk_filter_default );
    ui->field[ui->field_length] = 0;
    return ( state & NK_EDIT_COMMITED ) != 0;
}

// --------------------------------------------------------------------------------------------------- files

static bool is_folder( const char *path )
{
    struct stat status;
    return stat( path, &status ) == 0 && S_ISDIR( status.st_mode );
}

static bool whole_path( const tr_ui *ui, const char *name, char *out, size_t size )
{
    int length = name[0] == '/' ? snprintf( out, size, "%s", name )
                                : snprintf( out, size, "%s/%s", ui->folder[1] != 0 ? ui->folder : "", name );
    return length > 0 && (size_t)length < size;
}

static bool is_listed( const tr_ui *ui, const char *name, bool folder )
{
    const file_dialog *d = &file_dialogs[ui->dialog];
    if ( name[0] == '.' )
        return false;
    bool takes_motion = ui->dialog == TR_DIALOG_OPEN || ui->dialog == TR_DIALOG_BODY;
    return folder || tr_path_ends_with( name, d->ending ) ||
           ( takes_motion && ( tr_path_ends_with( name, ".bvh" ) || tr_import_is_named( name ) ) );
}

static void list_entry( tr_ui *ui, const char *name, bool folder )
{
    struct nk_context *nk = ui->nk;
    char label[300], path[TR_UI_PATH];
    int chosen = !folder && strcmp( name, ui->field ) == 0, before = chosen;
    nk_layout_row_dynamic( nk, 24, 1 );
    struct nk_rect area = nk_widget_bounds( nk );
    snprintf( label, sizeof label, "       %.280s", name );
    if ( nk_selectable_label( nk, label, NK_TEXT_LEFT, &chosen ) && chosen != before ) {
        if ( folder && whole_path( ui, name, path, sizeof path ) )
            enter_folder( ui, path );
        else
            set_field( ui, name );
    }
    tr_icon_draw( nk_window_get_canvas( nk ), folder ? TR_ICON_FOLDER : TR_ICON_FILE,
                  nk_rect( area.x + 6, area.y + 5, 14, 14 ),
                  folder ? tr_theme_dark.accent : tr_theme_dark.dim );
}

static void list_folder( tr_ui *ui )
{
    struct dirent **entries = NULL;
    int count = scandir( ui->folder, &entries, NULL, alphasort );
    list_entry( ui, "..", true );
    for ( int pass = 0; pass < 2; ++pass )
        for ( int i = 0; i < count; ++i ) {
            char path[TR_UI_PATH];
            bool folder = whole_path( ui, entries[i]->d_name, path, sizeof path ) && is_folder( path );
            if ( folder == ( pass == 0 ) && is_listed( ui, entries[i]->d_name, folder ) )
                list_entry( ui, entries[i]->d_name, folder );
        }
    for ( int i = 0; i < count; ++i )
        free( entries[i] );
    free( entries );
}

// The action that waited for the changes to be saved.
static void go_on( tr_ops *ops, const tr_guard *guard )
{
    if ( guard->quit )
        tr_ops_act( ops, TR_ACTION_QUIT, NULL );
    else if ( guard->open[0] != 0 )
        tr_ops_act( ops, TR_ACTION_OPEN, guard->open );
}

static void accept_file( tr_ui *ui, tr_ops *ops )
{
    const file_dialog *d = &file_dialogs[ui->dialog];
    char path[TR_UI_PATH];
    if ( ui->field[0] == 0 || !whole_path( ui, ui->field, path, sizeof path - 8 ) )
        return;
    bool open =
        ui->dialog == TR_DIALOG_OPEN || ui->dialog == TR_DIALOG_LOAD_MAP || ui->dialog == TR_DIALOG_BODY;
    if ( is_folder( path ) && !open && d->ending[0] != 0 ) {
        enter_folder( ui, path );
        set_field( ui, d->proposal );
        return;
    }
    bool named = d->ending[0] == 0 || tr_path_ends_with( path, d->ending ) ||
                 ( ui->dialog == TR_DIALOG_EXPORT_VIDEO && tr_path_ends_with( path, ".gif" ) );
    if ( !open && !named )
        strcat( path, d->ending );
    tr_ops_act( ops, d->action, path );
    go_on( ops, &ui->guard );
    tr_dialog_close( ui );
}

// What the motion is written as: the ending of the name says so, a folder has none of these.
static void kind_of_export( tr_ui *ui )
{
    int now = kind_of_name( ui->field ), chosen = -1;
    nk_layout_row_dynamic( ui->nk, 24, EXPORT_KINDS );
    for ( int i = 0; i < EXPORT_KINDS; ++i ) {
        char spot[48];
        snprintf( spot, sizeof spot, "dialog.%s", export_kinds[i].label );
        tr_ui_mark( ui, spot, nk_widget_bounds( ui->nk ) );
        if ( nk_option_label( ui->nk, export_kinds[i].label, i == now ) && i != now )
            chosen = i;
    }
    if ( chosen < 0 )
        return;
    char name[TR_UI_PATH];
    int stem = (int)( strlen( ui->field ) - strlen( export_kinds[now].ending ) );
    snprintf( name, sizeof name, "%.*s%s", stem, ui->field, export_kinds[chosen].ending );
    set_field( ui, name );
}

static void file_question( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    struct nk_context *nk = ui->nk;
    const file_dialog *d = &file_dialogs[ui->dialog];
    const float h = 520;
    bool done = false, cancel = false, exports = ui->dialog == TR_DIALOG_EXPORT_MOTION;
    if ( begin( ui, shown, d->title, 620, h ) ) {
        char folder[128];
        size_t length = strlen( ui->folder );
        snprintf( folder, sizeof folder, "%s%s", length > 80 ? "…" : "",
                  ui->folder + ( length > 80 ? length - 80 : 0 ) );
        nk_layout_row_dynamic( nk, 20, 1 );
        nk_label_colored( nk, folder, NK_TEXT_LEFT, tr_theme_dark.dim );
        nk_layout_row_dynamic( nk, fminf( h, (float)ui->height - 40 ) - ( exports ? 206 : 178 ), 1 );
        nk_style_push_style_item( nk, &nk->style.window.fixed_background,
                                  nk_style_item_color( tr_theme_dark.well ) );
        if ( nk_group_begin( nk, "files", 0 ) ) {
            list_folder( ui );
            nk_group_end( nk );
        }
        nk_style_pop_style_item( nk );
        if ( exports )
            kind_of_export( ui );
        done = field( ui );
        nk_layout_row_template_begin( nk, 30 );
        nk_layout_row_template_push_dynamic( nk );
        nk_layout_row_template_push_static( nk, 108 );
        nk_layout_row_template_push_static( nk, 108 );
        nk_layout_row_template_end( nk );
        nk_spacing( nk, 1 );
        cancel = button( ui, "Back", false );
        done |= button( ui, d->button, true );
    }
    end( ui );
    if ( cancel )
        tr_dialog_close( ui );
    else if ( done )
        accept_file( ui, ops );
}

// ------------------------------------------------------------------------------------------------- choices

// Enter chooses the last, which is the highlighted one.
static int choice( tr_ui *ui, const tr_shown *shown, const char *title, const char *text,
                   const char *const *labels, int count )
{
    const struct nk_style *style = &ui->nk->style;
    const float w = 480, wide = w - 2 * padding.x - 8; // width of the note, see tr_ui_note
    float rows = 1 + floorf( tr_ui_text_width( style->font, text ) * 1.08f / wide );
    float note = rows * ( style->font->height + 4 ) + 4;
    int chosen = nk_input_is_key_pressed( &ui->nk->input, NK_KEY_ENTER ) ? count - 1 : -1;
    if ( begin( ui, shown, title, w, 2 * padding.y + 24 + note + 30 + 2 * style->window.spacing.y ) ) {
        tr_ui_note( ui, text );
        nk_layout_row_dynamic( ui->nk, 30, count );
        for ( int i = 0; i < count; ++i )
            if ( button( ui, labels[i], i == count - 1 ) )
                chosen = i;
    }
    end( ui );
    return chosen;
}

static void unsaved_question( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    static const char *const labels[] = { "Back", "Discard", "Save" };
    const tr_guard guard = ui->guard;
    char text[200];
    snprintf( text, sizeof text, "%s has changes that are not saved.", tr_session_name( shown->session ) );
    switch ( choice( ui, shown, "Save first?", text, labels, 3 ) ) {
    case 0: tr_dialog_close( ui ); break;
    case 1:
        tr_dialog_close( ui );
        tr_ops_act( ops, guard.quit ? TR_ACTION_QUIT_ANYWAY : TR_ACTION_OPEN_ANYWAY, guard.open );
        break;
    case 2:
        if ( tr_session_file( shown->session ) == NULL ) {
            tr_dialog_open( ui, TR_DIALOG_SAVE, shown );
            ui->guard = guard; // it waits on
            break;
        }
        tr_dialog_close( ui );
        tr_ops_act( ops, TR_ACTION_SAVE, "" ); // and, when that worked, what was asked for before
        go_on( ops, &guard );
        break;
    default: break;
    }
}

static void restore_question( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    static const char *const labels[] = { "Forget it", "Restore" };
    char text[320];
    snprintf( text, sizeof text, "The editor did not end well the last time. There are changes of %s.",
              shown->found );
    int chosen = choice( ui, shown, "Restore unsaved work?", text, labels, 2 );
    if ( chosen < 0 )
        return;
    tr_dialog_close( ui );
    tr_ops_act( ops, chosen == 1 ? TR_ACTION_RESTORE : TR_ACTION_DISCARD_RECOVERY, NULL );
}

// ---------------------------------------------------------------------------------------- skeletons and
// takes

static void choice_row( tr_ui *ui, const char *label, const char *spot, int index, int *chosen )
{
    int now = *chosen == index;
    char name[48];
    snprintf( name, sizeof name, "choose.%s.%d", spot, index + 1 );
    nk_layout_row_dynamic( ui->nk, 24, 1 );
    tr_ui_mark( ui, name, nk_widget_bounds( ui->nk ) );
    if ( nk_selectable_label( ui->nk, label, NK_TEXT_LEFT, &now ) )
        *chosen = index;
}

static bool moved( const tr_choice *c, int skeleton, int take )
{
    bool any = false;
    for ( int s = 0; s < c->skeleton_count; ++s )
        any = any || ( ( skeleton < 0 || s == skeleton ) && *tr_choice_moves( c, take, s ) );
    return any;
}

static bool moves_all( const tr_choice *c, int take )
{
    bool all = true;
    for ( int s = 0; s < c->skeleton_count; ++s )
        all = all && *tr_choice_moves( c, take, s );
    return all;
}

// The first take that moves all that is chosen; -1: none does, and each skeleton has its own first one.
static int first_take( const tr_choice *c, int skeleton )
{
    for ( int t = 0; t < c->take_count; ++t )
        if ( skeleton < 0 ? moves_all( c, t ) : moved( c, skeleton, t ) )
            return t;
    return -1;
}

static void list_skeletons( tr_ui *ui, const tr_choice *c )
{
    nk_layout_row_dynamic( ui->nk, 20, 1 );
    nk_label_colored( ui->nk, "Skeleton", NK_TEXT_LEFT, tr_theme_dark.dim );
    if ( c->skeleton_count > 1 )
        choice_row( ui, "all of them", "skeleton", -1, &ui->choice[0] );
    for ( int s = 0; s < c->skeleton_count; ++s )
        choice_row( ui, c->skeletons[s], "skeleton", s, &ui->choice[0] );
}

static void list_takes( tr_ui *ui, const tr_choice *c )
{
    nk_layout_row_dynamic( ui->nk, 20, 1 );
    nk_label_colored( ui->nk, "Take", NK_TEXT_LEFT, tr_theme_dark.dim );
    int first = first_take( c, ui->choice[0] );
    if ( ui->choice[1] < 0 || !moved( c, ui->choice[0], ui->choice[1] ) )
        ui->choice[1] = first;
    if ( first < 0 )
        choice_row( ui, ui->choice[0] < 0 ? "the first of each" : "none: it stands as at rest", "take", -1,
                    &ui->choice[1] );
    for ( int t = 0; t < c->take_count; ++t )
        if ( moved( c, ui->choice[0], t ) )
            choice_row( ui, c->takes[t], "take", t, &ui->choice[1] );
}

static void choose_question( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    struct nk_context *nk = ui->nk;
    const tr_choice *c = tr_session_choice( shown->session );
    if ( c == NULL ) {
        tr_dialog_close( ui );
        return;
    }
    const char *slash = strrchr( c->path, '/' );
    char title[TR_UI_PATH];
    const float h = 400;
    bool done = nk_input_is_key_pressed( &nk->input, NK_KEY_ENTER ), cancel = false;
    snprintf( title, sizeof title, "What of %s?", slash != NULL ? slash + 1 : c->path );
    if ( begin( ui, shown, title, 560, h ) ) {
        nk_layout_row_dynamic( nk, fminf( h, (float)ui->height - 40 ) - 112, 2 );
        if ( nk_group_begin( nk, "skeletons", 0 ) ) {
            list_skeletons( ui, c );
            nk_group_end( nk );
        }
        if ( nk_group_begin( nk, "takes", 0 ) ) {
            list_takes( ui, c );
            nk_group_end( nk );
        }
        nk_layout_row_template_begin( nk, 30 );
        nk_layout_row_template_push_dynamic( nk );
        nk_layout_row_template_push_static( nk, 108 );
        nk_layout_row_template_push_static( nk, 108 );
        nk_layout_row_template_end( nk );
        nk_spacing( nk, 1 );
        cancel = button( ui, "Back", false );
        done |= button( ui, c->opens ? "Open" : "Add", true );
    }
    end( ui );
    if ( done && !cancel )
        tr_ops_act( ops, TR_ACTION_CHOOSE, NULL );
    if ( done || cancel )
        tr_dialog_close( ui );
}

// --------------------------------------------------------------------------------------------------- names

static void found_item( tr_ui *ui, tr_item_kind kind, const char *id, const char *what, bool all, int *count )
{
    if ( strstr( id, ui->field ) == NULL || ( !all && *count >= 12 ) )
        return;
    tr_item item = tr_item_make( kind, id, -1 );
    ++*count;
    if ( all ) {
        if ( !tr_ui_selected( ui, kind, id ) )
            tr_select( ui, &item, true );
        return;
    }
    char label[80];
    int chosen = 0;
    nk_layout_row_dynamic( ui->nk, 24, 1 );
    snprintf( label, sizeof label, "find.%s", id );
    tr_ui_mark( ui, label, nk_widget_bounds( ui->nk ) );
    snprintf( label, sizeof label, "%s   (%s)", id, what );
    if ( nk_selectable_label( ui->nk, label, NK_TEXT_LEFT, &chosen ) && chosen ) {
        tr_select( ui, &item, false );
        tr_dialog_close( ui );
    }
}

static void each_found( tr_ui *ui, const tr_scene *scene, bool all )
{
    int count = 0;
    for ( int i = 0; i < scene->cast_count; ++i )
        found_item( ui, TR_ITEM_CAST, scene->cast[i].id, "character", all, &count );
    for ( int i = 0; i < scene->prop_count; ++i )
        found_item( ui, TR_ITEM_PROP, scene->props[i].id, "prop", all, &count );
    for ( int i = 0; i < scene->obstacle_count; ++i )
        found_item( ui, TR_ITEM_OBSTACLE, scene->obstacles[i].id, "environment", all, &count );
    for ( int i = 0; i < scene->constraint_count && !all; ++i )
        found_item( ui, TR_ITEM_CONSTRAINT, scene->constraints[i].id, "constraint", all, &count );
}

static void find_question( tr_ui *ui, const tr_shown *shown )
{
    bool done = false;
    if ( begin( ui, shown, "Select by name      (Enter takes all that match)", 420, 460 ) ) {
        done = field( ui );
        each_found( ui, shown->scene, false );
    }
    end( ui );
    if ( done ) {
        tr_select( ui, NULL, false );
        each_found( ui, shown->scene, true );
        tr_dialog_close( ui );
    }
}

void tr_panel_dialog( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    shade( ui );
    if ( is_file_dialog( ui->dialog ) )
        file_question( ui, shown, ops );
    else if ( ui->dialog == TR_DIALOG_UNSAVED )
        unsaved_question( ui, shown, ops );
    else if ( ui->dialog == TR_DIALOG_RESTORE )
        restore_question( ui, shown, ops );
    else if ( ui->dialog == TR_DIALOG_CHOOSE )
        choose_question( ui, shown, ops );
    else if ( ui->dialog == TR_DIALOG_FIND )
        find_question( ui, shown );
}
