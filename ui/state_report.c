// The state of the interface as JSON, for other programs.
#include "ui/app.h"

#include <stdio.h>
#include <string.h>

static void add_string( tr_text *text, const char *key, const char *value )
{
    tr_text_add( text, "  \"%s\": ", key );
    if ( value != NULL )
        tr_text_quoted( text, value, strlen( value ) );
    else
        tr_text_add( text, "null" );
    tr_text_add( text, ",\n" );
}

static void add_selection( tr_text *text, const tr_ui *ui, const tr_shown *shown )
{
    tr_text_add( text, "  \"selection\": [" );
    for ( int i = 0; i < ui->selection_count; ++i ) {
        char name[160];
        tr_item_name( name, sizeof name, shown, &ui->selection[i] );
        tr_text_add( text, i > 0 ? ", " : "" );
        tr_text_quoted( text, name, strlen( name ) );
    }
    tr_text_add( text, "],\n" );
}

// Where things are: what panels marked, and every joint of the cast in the viewport.
static void add_spots( tr_text *text, const tr_ui *ui )
{
    tr_text_add( text, "  \"spots\": {" );
    for ( int i = 0; i < ui->spot_count; ++i ) {
        const tr_spot *s = &ui->spots[i];
        tr_text_add( text, "%s\n    ", i > 0 ? "," : "" );
        tr_text_quoted( text, s->name, strlen( s->name ) );
        tr_text_add( text, ": [%d, %d]", tr_pixels( s->area.x + 0.5f * s->area.width ),
                     tr_pixels( s->area.y + 0.5f * s->area.height ) );
    }
    tr_text_add( text, "},\n" );
}

static void add_joints( tr_text *text, const tr_ui *ui, const tr_shown *shown )
{
    bool first = true;
    tr_text_add( text, "  \"joints\": {" );
    for ( int a = 0; shown->result != NULL && a < shown->stage->actor_count; ++a ) {
        const tr_skeleton *skeleton = &shown->stage->actors[a].target;
        for ( int j = 0; j < skeleton->joint_count; ++j ) {
            tr_item item = tr_item_make( TR_ITEM_CAST, shown->stage->scene->cast[a].id, j );
            char name[160];
            vec3 place;
            double x, y;
            tr_role role = skeleton->joints[j].role;
            bool end = role == TR_ROLE_HAND || role == TR_ROLE_FOOT || role == TR_ROLE_HEAD || j == 0;
            if ( !end || !tr_item_place( ui, shown, &item, &place ) ||
                 !tr_project( ui, shown, place, &x, &y ) )
                continue;
            tr_item_name( name, sizeof name, shown, &item );
            tr_text_add( text, "%s\n    ", first ? "" : "," );
            tr_text_quoted( text, name, strlen( name ) );
            tr_text_add( text, ": [%d, %d]", tr_pixels( x ), tr_pixels( y ) );
            first = false;
        }
    }
    tr_text_add( text, "}\n" );
}

void tr_app_report( tr_app *app )
{
    tr_ui *ui = &app->ui;
    if ( app->report == NULL )
        return;
    tr_shown shown = { .scene = tr_session_scene( app->session ), .camera = tr_orbit_camera( &ui->orbit ) };
    shown.result = tr_session_result( app->session, &shown.stage );
    char hover[160];
    tr_item_name( hover, sizeof hover, &shown, &ui->hover );
    tr_text text = { 0 };
    tr_text_add( &text, "{\n" );
    add_string( &text, "opened", tr_session_what( app->session ) );
    add_string( &text, "file", tr_session_file( app->session ) );
    tr_text_add( &text, "  \"unsaved\": %s,\n  \"settled\": %s,\n  \"solved\": %s,\n",
                 tr_session_unsaved( app->session ) ? "true" : "false",
                 tr_app_settled( app ) ? "true" : "false",
                 tr_session_solved( app->session ) ? "true" : "false" );
    const tr_document *document = tr_session_document( app->session );
    tr_text_add( &text, "  \"frame\": %d,\n  \"frames\": %d,\n  \"playing\": %s,\n  \"ops\": %d,\n",
                 ui->frame, ui->frame_count, ui->playing ? "true" : "false",
                 document != NULL ? tr_document_log_count( document ) : 0 );
    tr_text_add( &text, "  \"yaw\": %.2f,\n  \"pitch\": %.2f,\n  \"distance\": %.3f,\n", ui->orbit.yaw,
                 ui->orbit.pitch, ui->orbit.distance );
    add_string( &text, "tool", tr_tool_get( ui->tool )->name );
    add_string( &text, "hover", hover );
    static const char *const parts[] = { "", "handle", "corner", "section" };
    add_string( &text, "part", parts[ui->cage.hover.kind] );
    add_string( &text, "message", ui->message );
    tr_text_add( &text, "  \"dialog\": %d,\n  \"help\": %s,\n", (int)ui->dialog,
                 ui->help ? "true" : "false" );
    add_selection( &text, ui, &shown );
    add_spots( &text, ui );
    add_joints( &text, ui, &shown );
    tr_text_add( &text, "}\n" );
    uint64_t key = tr_hash_bytes( TR_HASH_START, text.data, text.size );
    if ( !text.failed && key != app->reported ) { // whole or not at all, but without waiting for the disk
        char draft[TR_UI_PATH];
        snprintf( draft, sizeof draft, "%s.new", app->report );
        FILE *file = fopen( draft, "w" );
        if ( file != NULL ) {
            fwrite( text.data, 1, text.size, file );
            if ( fclose( file ) == 0 )
                rename( draft, app->report );
        }
        app->reported = key;
    }
    tr_text_free( &text );
}
