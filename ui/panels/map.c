// The joint map of a character whose body and motion come from different files: which joint drives which,
// suggested by name and part of the body, changed one by one, loaded and saved.
#include "ui/panels/panels.h"

#include <stdio.h>
#include <string.h>

static const char *const nothing = "nothing";

static const tr_drive *drive_of( const tr_scene *scene, const char *cast, const char *joint )
{
    for ( int i = 0; i < scene->drive_count; ++i )
        if ( strcmp( scene->drives[i].cast, cast ) == 0 && strcmp( scene->drives[i].joint, joint ) == 0 )
            return &scene->drives[i];
    return NULL;
}

void tr_map_use( const tr_scene *scene, tr_ops *ops, const char *cast, const char *file )
{
    for ( int i = 0; i < scene->drive_count; ++i )
        if ( strcmp( scene->drives[i].cast, cast ) == 0 )
            tr_ops_add( ops, "drive_remove id=%s", scene->drives[i].id );
    tr_ops_add( ops, "cast_mapping id=%s file=\"%s\"", cast, file );
}

void tr_body_use( const tr_scene *scene, tr_ops *ops, const char *cast, const char *file )
{
    int index = tr_scene_find_cast( scene, cast );
    bool mapped = index >= 0 && scene->cast[index].mapping[0] != 0;
    for ( int i = 0; i < scene->drive_count; ++i )
        mapped |= strcmp( scene->drives[i].cast, cast ) == 0;
    if ( mapped )
        tr_map_use( scene, ops, cast, "" );
    tr_ops_add( ops, "cast_skeleton id=%s file=\"%s\"", cast, file );
}

static void put_drive( const tr_scene *scene, tr_ops *ops, const char *cast, const char *joint,
                       const char *source )
{
    const tr_drive *old = drive_of( scene, cast, joint );
    tr_id id;
    if ( old != NULL ) {
        tr_ops_add( ops, "drive_set id=%s source=\"%s\"", old->id, source );
        return;
    }
    tr_free_id( scene, tr_scene_find_drive, "drive", id );
    tr_ops_add( ops, "drive_add id=%s cast=%s joint=\"%s\" source=\"%s\"", id, cast, joint, source );
}

// ------------------------------------------------------------------------------------------------------ rows

static void source_text( const tr_actor *actor, int joint, char *out, size_t size )
{
    const tr_skeleton *source = &actor->source.skeleton;
    int from = actor->map[joint];
    bool blends = from >= 0 && actor->blends != NULL && actor->blends[joint].share > 0;
    if ( blends )
        snprintf( out, size, "%s … %s", source->joints[from].name,
                  source->joints[actor->blends[joint].next].name );
    else
        snprintf( out, size, "%s", from >= 0 ? source->joints[from].name : nothing );
}

static bool line_of_list( tr_ui *ui, const char *joint, const char *source )
{
    char spot[160];
    snprintf( spot, sizeof spot, "map.%s.%s", joint, source );
    tr_ui_mark( ui, spot, nk_widget_bounds( ui->nk ) );
    return nk_combo_item_label( ui->nk, source, NK_TEXT_LEFT );
}

static void source_list( tr_ui *ui, const tr_scene *scene, tr_ops *ops, const tr_actor *actor,
                         const char *cast, int joint )
{
    const tr_skeleton *source = &actor->source.skeleton;
    const char *name = actor->target.joints[joint].name;
    nk_layout_row_dynamic( ui->nk, TR_ROW - 4, 1 );
    if ( line_of_list( ui, name, nothing ) )
        put_drive( scene, ops, cast, name, "" );
    for ( int j = 0; j < source->joint_count; ++j )
        if ( !source->joints[j].end_site && line_of_list( ui, name, source->joints[j].name ) )
            put_drive( scene, ops, cast, name, source->joints[j].name );
    const tr_drive *own = drive_of( scene, cast, name );
    if ( own != NULL && line_of_list( ui, name, "as the map says" ) )
        tr_ops_add( ops, "drive_remove id=%s", own->id );
}

// The target's joint, and what drives it: bright where it was chosen by hand, faint where it is nothing.
static void joint_row( tr_ui *ui, const tr_scene *scene, tr_ops *ops, const tr_actor *actor, const char *cast,
                       int joint )
{
    const tr_theme *t = &tr_theme_dark;
    const float columns[] = { 0.44f, 0.54f };
    const char *name = actor->target.joints[joint].name;
    char text[220], fitted[220], spot[128];
    bool own = drive_of( scene, cast, name ) != NULL, driven = actor->map[joint] >= 0;
    nk_layout_row( ui->nk, NK_DYNAMIC, TR_ROW - 4, 2, columns );
    tr_ui_fit( fitted, sizeof fitted, name, ui->nk->style.font, nk_widget_width( ui->nk ) - 4 );
    nk_label_colored( ui->nk, fitted, NK_TEXT_LEFT, driven ? t->text : t->faint );
    source_text( actor, joint, text, sizeof text );
    struct nk_rect area = nk_widget_bounds( ui->nk );
    snprintf( spot, sizeof spot, "map.%s", name );
    tr_ui_mark( ui, spot, area );
    tr_ui_fit( fitted, sizeof fitted, text, ui->nk->style.font, area.w - 30 );
    nk_style_push_color( ui->nk, &ui->nk->style.combo.label_normal,
                         own      ? t->accent
                         : driven ? t->text
                                  : t->faint );
    if ( nk_combo_begin_label( ui->nk, fitted, nk_vec2( area.w, 280 ) ) ) {
        source_list( ui, scene, ops, actor, cast, joint );
        nk_combo_end( ui->nk );
    }
    nk_style_pop_color( ui->nk );
}

// ---------------------------------------------------------------------------------------------------- panel

static void map_buttons( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const char *cast )
{
    nk_layout_row_dynamic( ui->nk, TR_ROW, 3 );
    if ( tr_ui_button( ui, "map.suggest", "Suggest" ) )
        tr_map_use( shown->scene, ops, cast, "" );
    if ( tr_ui_button( ui, "map.load", "Load…" ) ) {
        snprintf( ui->map_of, sizeof ui->map_of, "%s", cast );
        tr_dialog_open( ui, TR_DIALOG_LOAD_MAP, shown );
    }
    if ( tr_ui_button( ui, "map.save", "Save…" ) ) {
        snprintf( ui->map_of, sizeof ui->map_of, "%s", cast );
        tr_dialog_open( ui, TR_DIALOG_SAVE_MAP, shown );
    }
}

// The body and where it comes from.
static void body( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const tr_cast *c )
{
    const char *file = c->target.skeleton.file, *slash = strrchr( file, '/' );
    char text[TR_PATH_MAX + 16];
    bool own = file[0] == 0;
    snprintf( text, sizeof text, "Body of %s", own ? "its motion" : slash != NULL ? slash + 1 : file );
    tr_ui_note( ui, text );
    nk_layout_row_dynamic( ui->nk, TR_ROW, own ? 1 : 2 );
    if ( tr_ui_button( ui, "body.load", own ? "Take another body…" : "Another…" ) ) {
        snprintf( ui->map_of, sizeof ui->map_of, "%s", c->id );
        tr_dialog_open( ui, TR_DIALOG_BODY, shown );
    }
    if ( !own && tr_ui_button( ui, "body.own", "Its own" ) ) {
        snprintf( ui->map_of, sizeof ui->map_of, "%s", c->id );
        tr_ops_act( ops, TR_ACTION_BODY, "" ); // rules may name joints that only the other has
    }
}

void tr_panel_map( tr_ui *ui, const tr_shown *shown, tr_ops *ops, const tr_cast *c )
{
    const tr_scene *scene = shown->scene;
    body( ui, shown, ops, c );
    tr_item item = tr_item_make( TR_ITEM_CAST, c->id, -1 );
    int actor = tr_item_actor( shown, &item ), driven = 0, joints = 0;
    if ( actor < 0 )
        return;
    const tr_actor *a = &shown->stage->actors[actor];
    bool drives = false;
    for ( int i = 0; i < scene->drive_count; ++i )
        drives |= strcmp( scene->drives[i].cast, c->id ) == 0;
    if ( c->target.skeleton.file[0] == 0 && c->mapping[0] == 0 && !drives )
        return;
    for ( int j = 0; j < a->target.joint_count; ++j ) {
        joints += !a->target.joints[j].end_site;
        driven += !a->target.joints[j].end_site && a->map[j] >= 0;
    }
    char text[TR_PATH_MAX + 40];
    const char *slash = strrchr( c->mapping, '/' );
    snprintf( text, sizeof text, "Joint map, %d of %d driven, %s", driven, joints,
              c->mapping[0] == 0 ? "by name"
              : slash != NULL    ? slash + 1
                                 : c->mapping );
    tr_ui_note( ui, text );
    map_buttons( ui, shown, ops, c->id );
    for ( int j = 0; j < a->target.joint_count; ++j )
        if ( !a->target.joints[j].end_site )
            joint_row( ui, scene, ops, a, c->id, j );
}
