// The editor: creation, and its frames: events, playback, panels, their actions, pictures.
#include "ui/app.h"

#include <epoxy/gl.h>
#include <stdio.h>
#include <string.h>

tr_app_def tr_default_app_def( void )
{
    return ( tr_app_def ){ .wait = true, .autosave = 60.0 };
}

// ----------------------------------------------------------------------------------------------------- life

static void begin_ui( tr_ui *ui, struct nk_context *nk )
{
    *ui = ( tr_ui ){ .nk = nk,
                     .loop = true,
                     .speed = 1.0,
                     .show = tr_default_view_def(),
                     .hover = tr_item_none(),
                     .reveal = tr_item_none(),
                     .show_left = true,
                     .show_right = true,
                     .cage.reach = 30,
                     .held.ease = 12,
                     .position = -1.0 };
    ui->show.contacts = true;
    ui->overlaps = true;
    ui->orbit = ( tr_orbit ){ .target = v3( 0, 0.9, 0 ), .yaw = 30, .pitch = 12, .distance = 8 };
}

// Nuklear counts letters, not bytes.
static void copy_text( nk_handle of, const char *text, int letters )
{
    tr_window *w = ( (tr_app *)of.ptr )->window;
    size_t size = 0;
    for ( int i = 0; i < letters; ++i )
        do
            ++size;
        while ( ( (unsigned char)text[size] & 0xC0 ) == 0x80 );
    char *copy = size > 0 ? tr_alloc( size + 1, 1 ) : NULL;
    if ( copy == NULL )
        return;
    memcpy( copy, text, size );
    w->copy( w, copy );
    tr_free( copy );
}

// As if it were typed, so that the field takes only what it would take from the keyboard.
static void paste_text( nk_handle of, struct nk_text_edit *edit )
{
    tr_app *app = of.ptr;
    const char *text = app->window->paste( app->window );
    char *copy = text != NULL ? tr_string_copy( text ) : NULL;
    if ( copy == NULL )
        return;
    for ( char *at = copy; *at != 0; ++at )
        if ( (unsigned char)*at < 0x80 )
            *at = (char)tr_ui_letter( &app->ui, (unsigned char)*at );
    nk_textedit_text( edit, copy, (int)strlen( copy ) );
    tr_free( copy );
}

static bool start( tr_app *app, const tr_app_def *def, tr_error *error )
{
    const tr_window *window = app->window;
    if ( !tr_paint_create( &app->paint, &app->nk, window->has_gl, window->scale, error ) )
        return false;
    if ( !nk_init( &app->over, &app->paint.allocator, &app->paint.fonts.small->handle ) ) {
        nk_free( &app->nk );
        return tr_error_memory( error );
    }
    tr_theme_apply( &app->nk );
    tr_theme_apply( &app->over );
    begin_ui( &app->ui, &app->nk );
    app->nk.clip = ( struct nk_clipboard ){ nk_handle_ptr( app ), paste_text, copy_text };
    if ( !tr_viewport_create( &app->viewport, window->has_gl, error ) )
        return false;
    app->session = tr_session_create( def->synchronous, error );
    if ( app->session == NULL )
        return false;
    tr_state_files_open( &app->state_files, def->state_dir, def->autosave );
    if ( app->state_files.found != NULL )
        app->ui.dialog = TR_DIALOG_RESTORE;
    if ( def->report != NULL )
        app->report = tr_string_copy( def->report );
    tr_session_open( app->session, def->open != NULL ? def->open : "box_relay", def->cast );
    app->last = app->window->now( app->window );
    return true;
}

tr_app *tr_app_create( const tr_app_def *def, tr_error *error )
{
    tr_app *app = tr_alloc( 1, sizeof *app );
    if ( app == NULL ) {
        tr_window_close( def->window );
        tr_error_memory( error );
        return NULL;
    }
    app->window = def->window;
    app->wait = def->wait;
    if ( start( app, def, error ) )
        return app;
    tr_app_destroy( app );
    return NULL;
}

void tr_app_destroy( tr_app *app )
{
    if ( app == NULL )
        return;
    tr_session_destroy( app->session );
    tr_state_files_close( &app->state_files );
    for ( int i = 0; i < TR_MAX_THUMBS; ++i )
        tr_paint_picture_free( app->thumbs[i] );
    tr_viewport_destroy( &app->viewport );
    if ( app->ui.nk != NULL ) {
        nk_free( &app->nk );
        nk_free( &app->over );
    }
    tr_paint_destroy( &app->paint );
    tr_ops_free( &app->ops );
    tr_free( app->ui.looks );
    tr_free( app->ui.selection );
    tr_free( app->ui.spots );
    tr_free( app->report );
    tr_window_close( app->window );
    tr_free( app );
}

const tr_ui *tr_app_ui( const tr_app *app )
{
    return &app->ui;
}

const tr_scene *tr_app_scene( const tr_app *app )
{
    return tr_session_scene( app->session );
}

const tr_result *tr_app_result( const tr_app *app, const tr_stage **stage )
{
    const tr_stage *of;
    const tr_result *result = tr_session_result( app->session, &of );
    if ( stage != NULL )
        *stage = of;
    return result;
}

bool tr_app_settled( const tr_app *app )
{
    return !tr_session_busy( app->session ) && !tr_session_measuring( app->session ) &&
           app->window->queue.count == 0;
}

bool tr_app_stale( const tr_app *app )
{
    return tr_session_stale( app->session );
}

const tr_imesh_pairs *tr_app_links( const tr_app *app )
{
    return tr_session_links( app->session );
}

unsigned tr_app_revision( const tr_app *app )
{
    return tr_session_revision( app->session );
}

unsigned tr_app_opened( const tr_app *app )
{
    return tr_session_opened( app->session );
}

size_t tr_app_drawing_bytes( const tr_app *app )
{
    const struct nk_buffer *buffers[] = { &app->nk.memory, &app->over.memory, &app->paint.commands,
                                          &app->paint.vertices, &app->paint.elements };
    const tr_draw_list *l = &app->viewport.list;
    size_t sum = (size_t)l->capsule_capacity * sizeof *l->capsules +
                 (size_t)l->box_capacity * sizeof *l->boxes +
                 (size_t)l->triangle_capacity * sizeof *l->triangles +
                 (size_t)l->line_capacity * sizeof *l->lines + (size_t)l->disc_capacity * sizeof *l->discs;
    for ( size_t i = 0; i < sizeof buffers / sizeof *buffers; ++i )
        sum += buffers[i]->memory.size;
    return sum;
}

void tr_app_open( tr_app *app, const char *what, int cast )
{
    tr_session_set_method( app->session, NULL );
    tr_session_open( app->session, what, cast );
}

void tr_app_cancel( tr_app *app )
{
    tr_session_cancel( app->session );
}

void tr_app_set_folder( tr_app *app, const char *folder )
{
    snprintf( app->ui.folder, sizeof app->ui.folder, "%s", folder );
}

// --------------------------------------------------------------------------------------------------- layout

// In small windows panels make room for the picture: `full` from `roomy` points on, `least` at `tight` ones.
// Narrow windows show one of the two, the last that was opened.
static float fitted( float points, float tight, float roomy, float least, float full )
{
    return floorf( (float)lerpd( least, full, clampd( ( points - tight ) / ( roomy - tight ), 0, 1 ) ) );
}

void tr_layout( tr_ui *ui )
{
    float w = (float)ui->width, h = (float)ui->height;
    bool one = w < 820 && ui->show_left && ui->show_right;
    float left = ui->show_left && !( one && ui->right_last ) ? fitted( w, 900, 1180, 212, TR_LEFT_WIDTH ) : 0;
    float right =
        ui->show_right && ( !one || ui->right_last ) ? fitted( w, 900, 1180, 248, TR_RIGHT_WIDTH ) : 0;
    float timeline =
              h < 600 ? fitted( h, 400, 560, 118, 204 ) : fitted( h, 600, 740, 204, TR_TIMELINE_HEIGHT ),
          low = h - TR_STATUS_HEIGHT - timeline;
    ui->bar = ( tr_area ){ 0, 0, w, TR_BAR_HEIGHT };
    ui->left = ( tr_area ){ 0, TR_BAR_HEIGHT, left, low - TR_BAR_HEIGHT };
    ui->right = ( tr_area ){ w - right, TR_BAR_HEIGHT, right, low - TR_BAR_HEIGHT };
    ui->viewport = ( tr_area ){ left + 1, TR_BAR_HEIGHT + 1, w - left - right - 2, low - TR_BAR_HEIGHT - 2 };
    ui->timeline = ( tr_area ){ 0, low, w, timeline };
    ui->status = ( tr_area ){ 0, h - TR_STATUS_HEIGHT, w, TR_STATUS_HEIGHT };
}

// -------------------------------------------------------------------------------------------- what there is

tr_shown tr_app_look( const tr_app *app )
{
    const tr_session *session = app->session;
    const tr_outcome *take = tr_session_outcome( session );
    tr_shown shown = { .scene = tr_session_scene( session ),
                       .document = tr_session_document( session ),
                       .method = tr_session_method( session ),
                       .session = app->session,
                       .paint = &app->paint,
                       .recent = (const char *const *)app->state_files.recent,
                       .found = app->state_files.found_what,
                       .thumbs = app->thumbs,
                       .camera = tr_orbit_camera( &app->ui.orbit ),
                       .busy = app->ui.busy };
    shown.result = tr_session_result( session, &shown.stage );
    shown.solved = tr_session_solved( session );
    shown.current = shown.solved && tr_session_current( session );
    shown.before = shown.result != NULL && take != NULL && shown.result == &take->copied;
    shown.held = tr_session_held( session );
    shown.take = tr_session_solution( session ) != NULL ? take : NULL;
    shown.measures = tr_session_measures( session );
    shown.strips = tr_session_strips( session, &shown.fresh );
    shown.links = tr_session_links( session );
    return shown;
}

bool tr_app_locate( const tr_app *app, const char *name, double *x, double *y )
{
    tr_shown shown = tr_app_look( app );
    const char *dot = strchr( name, '.' );
    char id[TR_ID_MAX];
    vec3 place;
    snprintf( id, sizeof id, "%.*s", dot != NULL ? (int)( dot - name ) : (int)strlen( name ), name );
    if ( shown.result == NULL )
        return false;
    const tr_scene *scene = shown.stage->scene;
    int actor = tr_scene_find_cast( scene, id );
    tr_item item = tr_item_make( actor >= 0                             ? TR_ITEM_CAST
                                 : tr_scene_find_prop( scene, id ) >= 0 ? TR_ITEM_PROP
                                                                        : TR_ITEM_OBSTACLE,
                                 id, -1 );
    if ( actor >= 0 && dot != NULL )
        item.joint = tr_skeleton_find( &shown.stage->actors[actor].target, dot + 1 );
    return tr_item_place( &app->ui, &shown, &item, &place ) && tr_project( &app->ui, &shown, place, x, y ) &&
           tr_area_has( app->ui.viewport, *x, *y );
}

const tr_losses *tr_app_losses( const tr_app *app )
{
    tr_shown shown = tr_app_look( app );
    return shown.take != NULL ? &shown.take->losses : NULL;
}

bool tr_app_unsaved( const tr_app *app )
{
    return tr_session_unsaved( app->session );
}

bool tr_app_released( const tr_app *app )
{
    const tr_outcome *outcome = tr_session_outcome( app->session );
    return outcome != NULL && outcome->released;
}

int tr_app_ops( const tr_app *app )
{
    const tr_document *document = tr_session_document( app->session );
    return document != NULL ? tr_document_log_count( document ) : 0;
}

int tr_app_undone( const tr_app *app )
{
    const tr_document *document = tr_session_document( app->session );
    return document != NULL ? tr_document_redo_count( document ) : 0;
}

// Pictures the session has made become textures.
static void follow_thumbs( tr_app *app )
{
    bool wanted = app->paint.has_gl && app->ui.left.width > 0 && app->ui.left_tab == TR_LEFT_SCENES;
    for ( int i = 0; i < TR_MAX_THUMBS && wanted; ++i ) {
        const tr_thumb *thumb = app->thumbs[i] == 0 ? tr_session_thumb( app->session, i ) : NULL;
        if ( thumb != NULL && thumb->rgb != NULL )
            app->thumbs[i] = tr_paint_picture( &app->paint, thumb->width, thumb->height, thumb->rgb );
    }
}

// A new member of the cast is selected, and the view shows all of them.
static void follow_cast( tr_app *app )
{
    tr_id id;
    if ( tr_session_joined( app->session, id ) != app->joined ) {
        tr_item item = tr_item_make( TR_ITEM_CAST, id, -1 );
        app->joined = tr_session_joined( app->session, id );
        app->look_at_joined = true;
        tr_select( &app->ui, &item, false );
    }
    const tr_stage *stage;
    const tr_result *result = tr_session_result( app->session, &stage );
    if ( !app->look_at_joined || result == NULL || tr_scene_find_cast( stage->scene, id ) < 0 )
        return;
    tr_shown shown = tr_app_look( app );
    app->look_at_joined = false;
    tr_orbit_frame( &app->ui, &shown, false );
}

// A file that has come with several skeletons or takes; leaving the question unanswered forgets the file.
static void follow_choice( tr_app *app )
{
    tr_ui *ui = &app->ui;
    const tr_choice *choice = tr_session_choice( app->session );
    if ( app->asks && ui->dialog != TR_DIALOG_CHOOSE ) {
        tr_session_forget( app->session );
        app->asks = false;
    } else if ( choice != NULL && ui->dialog == TR_DIALOG_NONE ) {
        tr_shown shown = tr_app_look( app );
        tr_dialog_open( ui, TR_DIALOG_CHOOSE, &shown );
        ui->choice[0] = choice->skeleton_count > 1 ? -1 : 0;
        ui->choice[1] = -1;
        app->asks = true;
    }
}

// Follows the session: another document, another length, progress.
static void follow( tr_app *app )
{
    tr_ui *ui = &app->ui;
    if ( tr_session_revision( app->session ) != app->revision ) {
        app->revision = tr_session_revision( app->session );
        tr_selection_sync( ui, tr_session_scene( app->session ) );
    }
    if ( tr_session_opened( app->session ) != app->opened ) {
        app->opened = tr_session_opened( app->session );
        ui->framed = ui->cage.pin.asked = ui->held.active = ui->orbit.orthographic = false;
        tr_pose_let_go( ui );
        ui->frame = ui->frame_count = 0;
        ui->loop_first = ui->loop_last = 0;
        ui->zoom_first = ui->zoom_last = 0;
        ui->timeline_rows = 0;
        tr_state_files_note( &app->state_files, tr_session_what( app->session ) );
    }
    const tr_stage *stage;
    const tr_result *result = tr_session_result( app->session, &stage );
    if ( result != NULL && result->frame_count != ui->frame_count )
        tr_play_scene( ui, result->frame_count );
    if ( result != NULL && !ui->framed ) {
        tr_shown shown = tr_app_look( app );
        ui->framed = true;
        tr_play_seek( ui, result->frame_count / 2 );
        tr_orbit_frame( ui, &shown, false );
    }
    if ( tr_session_solved( app->session ) )
        ui->solve_ms = tr_session_outcome( app->session )->solve_ms;
    tr_waits waits = tr_session_waits( app->session );
    ui->drag_ms = waits.last;
    ui->drag_p95_ms = waits.p95;
    ui->drag_moves = waits.moves;
    ui->settle_ms = waits.settle;
    ui->settles = waits.settles;
}

static void follow_work( tr_app *app )
{
    tr_ui *ui = &app->ui;
    float progress = 0;
    const char *task = tr_session_task( app->session, &progress );
    ui->busy = task != NULL;
    ui->progress = progress;
    snprintf( ui->task, sizeof ui->task, "%s", task != NULL ? task : "" );
    snprintf( ui->failure, sizeof ui->failure, "%s", tr_session_failure( app->session ) );
    char message[sizeof ui->message];
    bool bad, warns;
    if ( tr_session_message( app->session, message, sizeof message, &bad, &warns ) ) {
        tr_ui_say( ui, bad, "%s", message );
        ui->message_warns = warns;
    }
}

static void follow_title( tr_app *app )
{
    char title[sizeof app->title];
    const char *name = tr_session_name( app->session );
    snprintf( title, sizeof title, "%s%s%sTroupe", tr_session_unsaved( app->session ) ? "• " : "", name,
              name[0] != 0 ? " – " : "" );
    if ( strcmp( title, app->title ) == 0 )
        return;
    memcpy( app->title, title, sizeof title );
    app->window->set_title( app->window, title );
}

// --------------------------------------------------------------------------------------------------- frames

// Panels beside a question feel neither pointer nor keys. What opens a question in this frame is seen with
// the next: the press that did so is none on its buttons.
static void draw_panels( tr_app *app, const tr_shown *shown )
{
    tr_ui *ui = &app->ui;
    const struct nk_input input = app->nk.input;
    const bool asked = ui->dialog != TR_DIALOG_NONE;
    if ( asked )
        app->nk.input = ( struct nk_input ){ .mouse.pos = { -1e4f, -1e4f } };
    ui->spot_count = 0;
    ui->hint[0] = 0;
    ui->subject = 0;
    tr_panel_overlay( ui, shown, &app->ops );
    if ( ui->left.width > 0 )
        tr_panel_left( ui, shown, &app->ops );
    if ( ui->right.width > 0 )
        tr_panel_right( ui, shown, &app->ops );
    tr_panel_timeline( ui, shown, &app->ops );
    tr_panel_status( ui, shown, &app->ops );
    tr_panel_bar( ui, shown, &app->ops );
    if ( ui->help )
        tr_panel_help( ui, shown, &app->ops );
    if ( asked ) { // else panels have written into it: where a scrollbar is pulled on from
        app->nk.input = input;
        tr_panel_dialog( ui, shown, &app->ops );
    }
    tr_panel_tip( ui, &app->over, &app->paint );
}

static void draw_window( tr_app *app, const tr_shown *shown )
{
    tr_error error = { 0 };
    const struct nk_color c = tr_theme_dark.panel;
    if ( app->window->has_gl ) {
        glBindFramebuffer( GL_FRAMEBUFFER, app->window->target );
        glViewport( 0, 0, app->window->pixel_width, app->window->pixel_height );
        glClearColor( c.r / 255.0f, c.g / 255.0f, c.b / 255.0f, 1.0f );
        glClear( GL_COLOR_BUFFER_BIT );
    }
    if ( !tr_viewport_draw( &app->viewport, &app->ui, shown, app->window, &error ) )
        tr_ui_say( &app->ui, true, "%s", error.message );
    tr_paint_flush( &app->paint, &app->nk, app->window );
    tr_paint_flush( &app->paint, &app->over, app->window );
    app->window->present( app->window );
}

// How long to sleep when the last frames brought nothing new.
static double patience( const tr_app *app )
{
    const tr_ui *ui = &app->ui;
    if ( !app->wait || ui->playing || ui->drag.active || ui->drag.navigating || app->idle < 3 )
        return 0.0;
    return tr_session_busy( app->session ) || tr_session_measuring( app->session ) ? 0.03 : 0.25;
}

static void keep_time( tr_app *app )
{
    tr_ui *ui = &app->ui;
    double now = app->window->now( app->window ), elapsed = now - app->last;
    app->last = now;
    ui->now = now;
    ui->frame_ms = 1e3 * elapsed;
    if ( elapsed > 0.0 && elapsed < 0.5 )
        ui->fps = ui->fps > 0.0 ? lerpd( ui->fps, 1.0 / elapsed, 0.1 ) : 1.0 / elapsed;
    tr_play_advance( ui, tr_session_scene( app->session )->fps, elapsed < 1.0 ? elapsed : 0.0 );
    if ( ui->message[0] != 0 && now > ui->message_until )
        ui->message[0] = 0;
}

bool tr_app_frame( tr_app *app )
{
    tr_ui *ui = &app->ui;
    app->window->poll( app->window, patience( app ) );
    if ( tr_paint_rescale( &app->paint, app->window->scale ) ) {
        nk_style_set_font( &app->nk, &app->paint.fonts.text->handle );
        nk_style_set_font( &app->over, &app->paint.fonts.small->handle );
    }
    keep_time( app ); // before anything is said: messages are there for so many seconds from now
    bool news = tr_session_poll( app->session );
    follow( app );
    follow_choice( app );
    follow_cast( app );
    follow_work( app );
    follow_thumbs( app );
    ui->width = app->window->width;
    ui->height = app->window->height;
    tr_layout( ui );
    tr_shown shown = tr_app_look( app );
    news |= tr_input_frame( app, &shown );
    shown = tr_app_look( app );
    tr_viewport_hover( ui, &shown );
    tr_viewport_hold( ui, &shown, &app->ops );
    draw_panels( app, &shown );
    tr_app_carry_out( app ); // first of all: the other thread works while the picture is drawn
    shown = tr_app_look( app );
    draw_window( app, &shown );
    tr_state_files_tick( &app->state_files, app->session, ui->now );
    follow_title( app );
    ++ui->frames;
    app->idle = news || app->ui.busy ? 0 : app->idle + 1;
    tr_app_report( app );
    return !ui->quit;
}
