// The selection, and which characters are visible or locked.
#include "ui/shared/shared.h"

#include <stdio.h>
#include <string.h>

tr_item tr_item_none( void )
{
    return ( tr_item ){ .joint = -1 };
}

tr_item tr_item_make( tr_item_kind kind, const char *id, int joint )
{
    tr_item item = { .kind = kind, .joint = joint };
    snprintf( item.id, sizeof item.id, "%s", id );
    return item;
}

bool tr_item_same( const tr_item *a, const tr_item *b )
{
    return a->kind == b->kind && a->joint == b->joint && strcmp( a->id, b->id ) == 0;
}

bool tr_ui_selected( const tr_ui *ui, tr_item_kind kind, const char *id )
{
    for ( int i = 0; i < ui->selection_count; ++i )
        if ( ui->selection[i].kind == kind && strcmp( ui->selection[i].id, id ) == 0 )
            return true;
    return false;
}

const tr_item *tr_selected( const tr_ui *ui )
{
    return ui->selection_count > 0 ? &ui->selection[ui->selection_count - 1] : NULL;
}

static void unselect( tr_ui *ui, int index )
{
    memmove( ui->selection + index, ui->selection + index + 1,
             (size_t)( ui->selection_count - index - 1 ) * sizeof *ui->selection );
    --ui->selection_count;
}

// Rules and layers have a panel of their own: it comes when one is chosen, in place of the inspector. After
// that the tabs are the user's.
static void show_panel_of( tr_ui *ui, const tr_item *item )
{
    bool inspects = ui->right_tab == TR_RIGHT_INSPECT;
    if ( item->kind == TR_ITEM_CONSTRAINT && inspects )
        ui->right_tab = TR_RIGHT_CONSTRAINTS;
    if ( item->kind == TR_ITEM_LAYER && inspects )
        ui->left_tab = TR_LEFT_LAYERS;
}

void tr_select( tr_ui *ui, const tr_item *item, bool extend )
{
    if ( !extend )
        ui->selection_count = 0;
    if ( item == NULL || item->kind == TR_ITEM_NONE )
        return;
    for ( int i = 0; i < ui->selection_count; ++i )
        if ( tr_item_same( &ui->selection[i], item ) ) {
            unselect( ui, i );
            return;
        }
    if ( tr_array_reserve( (void **)&ui->selection, &ui->selection_capacity, ui->selection_count + 1,
                           sizeof *item ) )
        ui->selection[ui->selection_count++] = *item;
    ui->reveal = *item;
    show_panel_of( ui, item );
}

bool tr_item_exists( const tr_scene *scene, const tr_item *item )
{
    switch ( item->kind ) {
    case TR_ITEM_CAST: return tr_scene_find_cast( scene, item->id ) >= 0;
    case TR_ITEM_PROP: return tr_scene_find_prop( scene, item->id ) >= 0;
    case TR_ITEM_OBSTACLE: return tr_scene_find_obstacle( scene, item->id ) >= 0;
    case TR_ITEM_CONSTRAINT: return tr_scene_find_constraint( scene, item->id ) >= 0;
    case TR_ITEM_LAYER: return tr_scene_find_layer( scene, item->id ) >= 0;
    case TR_ITEM_NONE: break;
    }
    return false;
}

tr_cast_look *tr_cast_look_of( tr_ui *ui, const char *id )
{
    for ( int i = 0; i < ui->look_count; ++i )
        if ( strcmp( ui->looks[i].id, id ) == 0 )
            return &ui->looks[i];
    return NULL;
}

// Updates the looks after the cast changed: old members keep theirs, new ones are plain.
static void sync_looks( tr_ui *ui, const tr_scene *scene )
{
    if ( !tr_array_reserve( (void **)&ui->looks, &ui->look_capacity, ui->look_count + scene->cast_count,
                            sizeof *ui->looks ) )
        return;
    int old = ui->look_count;
    tr_cast_look *fresh = ui->looks + old;
    for ( int i = 0; i < scene->cast_count; ++i ) {
        const tr_cast_look *kept = tr_cast_look_of( ui, scene->cast[i].id );
        fresh[i] = kept != NULL ? *kept : ( tr_cast_look ){ 0 };
        memcpy( fresh[i].id, scene->cast[i].id, sizeof fresh[i].id );
    }
    if ( scene->cast_count > 0 ) // else there may be no array at all
        memmove( ui->looks, fresh, (size_t)scene->cast_count * sizeof *fresh );
    ui->look_count = scene->cast_count;
}

// What got another name stays chosen by it.
static void follow_rename( tr_ui *ui, const tr_scene *scene, tr_item *item )
{
    tr_item renamed = *item;
    memcpy( renamed.id, ui->renamed.to, sizeof renamed.id );
    if ( strcmp( item->id, ui->renamed.from ) == 0 && !tr_item_exists( scene, item ) &&
         tr_item_exists( scene, &renamed ) )
        *item = renamed;
}

void tr_selection_sync( tr_ui *ui, const tr_scene *scene )
{
    for ( int i = 0; i < ui->selection_count; ++i )
        follow_rename( ui, scene, &ui->selection[i] );
    if ( tr_scene_find_layer( scene, ui->cage.layer ) < 0 && strcmp( ui->cage.layer, ui->renamed.from ) == 0 )
        memcpy( ui->cage.layer, ui->renamed.to, sizeof ui->cage.layer );
    for ( int i = ui->selection_count - 1; i >= 0; --i )
        if ( !tr_item_exists( scene, &ui->selection[i] ) )
            unselect( ui, i );
    if ( !tr_item_exists( scene, &ui->hover ) )
        ui->hover = tr_item_none();
    sync_looks( ui, scene );
}

static bool any_solo( const tr_ui *ui )
{
    for ( int i = 0; i < ui->look_count; ++i )
        if ( ui->looks[i].solo )
            return true;
    return false;
}

bool tr_cast_visible( const tr_ui *ui, const char *id )
{
    for ( int i = 0; i < ui->look_count; ++i )
        if ( strcmp( ui->looks[i].id, id ) == 0 )
            return any_solo( ui ) ? ui->looks[i].solo : !ui->looks[i].hidden;
    return true;
}

bool tr_cast_locked( const tr_ui *ui, const char *id )
{
    for ( int i = 0; i < ui->look_count; ++i )
        if ( strcmp( ui->looks[i].id, id ) == 0 )
            return ui->looks[i].locked;
    return false;
}

// -------------------------------------------------------------------------------------------------- on stage

static bool is_among( const tr_item *items, int count, tr_item_kind kind, const char *id )
{
    for ( int i = 0; i < count; ++i )
        if ( items[i].kind == kind && strcmp( items[i].id, id ) == 0 )
            return true;
    return false;
}

void tr_free_id( const tr_scene *scene, int ( *find )( const tr_scene *scene, const char *id ),
                 const char *stem, tr_id out )
{
    int n = 1;
    do
        snprintf( out, TR_ID_MAX, "%s%d", stem, n++ );
    while ( find( scene, out ) >= 0 );
}

bool tr_members_list( const tr_scene *scene, const tr_item *items, int count, char out[TR_MEMBERS_MAX] )
{
    int people = scene->cast_count, all = people + scene->prop_count, listed = 0;
    size_t used = 0;
    out[0] = 0;
    for ( int i = 0; i < all; ++i ) {
        const char *id = i < people ? scene->cast[i].id : scene->props[i - people].id;
        if ( !is_among( items, count, i < people ? TR_ITEM_CAST : TR_ITEM_PROP, id ) )
            continue;
        if ( used < TR_MEMBERS_MAX )
            used += (size_t)snprintf( out + used, TR_MEMBERS_MAX - used, "%s%s", used > 0 ? "," : "", id );
        ++listed;
    }
    bool fits = used < TR_MEMBERS_MAX;
    if ( !fits )
        snprintf( out, TR_MEMBERS_MAX, "%s", listed == all ? "*" : "" );
    return listed > 0 && ( fits || listed == all );
}

void tr_members_brief( char *out, size_t size, const char *members )
{
    enum { MOST = 6 };
    int count = 1, told = 0;
    size_t used = 0;
    for ( const char *at = members; *at != 0; ++at )
        count += *at == ',';
    out[0] = 0;
    while ( *members != 0 && told < ( count > MOST + 1 ? MOST : count ) && used < size ) {
        size_t length = strcspn( members, "," );
        used += (size_t)snprintf( out + used, size - used, "%s%.*s", told++ > 0 ? ", " : "", (int)length,
                                  members );
        members += length + ( members[length] == ',' );
        members += strspn( members, " " );
    }
    if ( told < count && used < size )
        snprintf( out + used, size - used, " and %d more", count - told );
}

int tr_item_actor( const tr_shown *shown, const tr_item *item )
{
    if ( shown->stage == NULL || item->kind != TR_ITEM_CAST )
        return -1;
    return tr_scene_find_cast( shown->stage->scene, item->id );
}

int tr_item_prop( const tr_shown *shown, const tr_item *item )
{
    if ( shown->stage == NULL || item->kind != TR_ITEM_PROP )
        return -1;
    return tr_scene_find_prop( shown->stage->scene, item->id );
}

static bool has_joint( const tr_shown *shown, int actor, int joint )
{
    return actor >= 0 && joint >= 0 && joint < shown->stage->actors[actor].target.joint_count;
}

int tr_item_joint( const tr_shown *shown, const tr_item *item )
{
    return has_joint( shown, tr_item_actor( shown, item ), item->joint ) ? item->joint : 0;
}

void tr_item_name( char *out, size_t size, const tr_shown *shown, const tr_item *item )
{
    int actor = tr_item_actor( shown, item );
    if ( has_joint( shown, actor, item->joint ) )
        snprintf( out, size, "%s.%s", item->id, shown->stage->actors[actor].target.joints[item->joint].name );
    else
        snprintf( out, size, "%s", item->id );
}

bool tr_item_place( const tr_ui *ui, const tr_shown *shown, const tr_item *item, vec3 *place )
{
    int actor = tr_item_actor( shown, item ), prop = tr_item_prop( shown, item );
    if ( shown->result == NULL || shown->result->frame_count < 1 )
        return false;
    int frame = ui->frame < shown->result->frame_count ? ui->frame : shown->result->frame_count - 1;
    if ( actor >= 0 ) {
        *place =
            tr_world_pose( &shown->result->worlds[actor], frame ).positions[tr_item_joint( shown, item )];
        return true;
    }
    if ( prop >= 0 ) {
        *place = shown->result->tracks[prop][frame].position;
        return true;
    }
    int obstacle =
        item->kind == TR_ITEM_OBSTACLE ? tr_scene_find_obstacle( shown->stage->scene, item->id ) : -1;
    if ( obstacle >= 0 )
        *place = shown->stage->new_obstacles[obstacle].position;
    return obstacle >= 0;
}

bool tr_item_point( const tr_shown *shown, const tr_item *item, char *out, size_t size )
{
    int actor = tr_item_actor( shown, item );
    tr_text text = { 0 };
    tr_point point = tr_point_prop( item->id, v3_zero );
    if ( actor >= 0 )
        point = tr_point_joint(
            item->id, shown->stage->actors[actor].target.joints[tr_item_joint( shown, item )].name );
    tr_point_print( &point, &text );
    bool ok = !text.failed && text.size < size;
    snprintf( out, size, "%s", ok ? text.data : "" );
    tr_text_free( &text );
    return ok;
}
