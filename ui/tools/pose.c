// Pose: a body from another file is posed at this frame, to become the target of a pair. A joint is pulled,
// and its chain follows; with Shift it turns. The person who drives the body stands beside it as a stick
// figure: a line from one of its joints to a joint of the body makes a part.
#include "ui/tools/tools.h"

#include <stdio.h>
#include <string.h>

enum { HANDLE_NONE, HANDLE_PULL, HANDLE_TURN, HANDLE_LINE };

static const double reach = 12; // points: a joint of the stick figure is this near
static const tr_colour amber = { 1.0f, 0.72f, 0.25f, 1.0f }, blue = { 0.45f, 0.78f, 1.0f, 1.0f };

// -------------------------------------------------------------------------------------------------- bodies

int tr_pose_actor( const tr_shown *shown, const char *cast )
{
    tr_item item = tr_item_make( TR_ITEM_CAST, cast, -1 );
    int actor = shown->stage != NULL && shown->result != NULL ? tr_item_actor( shown, &item ) : -1;
    if ( actor < 0 )
        return -1;
    const tr_actor *a = &shown->stage->actors[actor];
    return a->file_pose != NULL && a->target.joint_count <= TR_POSE_JOINTS ? actor : -1;
}

const char *tr_pose_subject( const tr_ui *ui, const tr_shown *shown )
{
    const tr_item *item = tr_selected( ui );
    if ( ui->pose.active )
        return ui->pose.cast;
    if ( item != NULL && item->kind == TR_ITEM_CAST && tr_pose_actor( shown, item->id ) >= 0 )
        return item->id;
    for ( int i = 0; i < shown->scene->cast_count; ++i )
        if ( tr_pose_actor( shown, shown->scene->cast[i].id ) >= 0 )
            return shown->scene->cast[i].id;
    return NULL;
}

// Where a joint of the stick figure is drawn: beside the body as the camera sees it.
static vec3 figure_place( const tr_ui *ui, const tr_shown *shown, int actor, int joint )
{
    const tr_world *world;
    const tr_actor *a = &shown->stage->actors[actor];
    const tr_skeleton *skeleton = tr_stage_performer( shown->stage, actor, &world );
    tr_pose pose = tr_world_pose( world, ui->frame );
    vec3 body = tr_world_pose( &shown->result->worlds[actor], ui->frame ).positions[0],
         forward = v3_sub( shown->camera.target, shown->camera.eye ),
         right = v3_unit_or( v3_horizontal( v3_cross( forward, v3_y ) ), v3_x );
    bool left = v3_dot( v3_sub( shown->camera.target, body ), right ) < 0; // where there is more room
    double away = ( left ? -0.4 : 0.4 ) * ( tr_stature( &a->target ) + tr_stature( skeleton ) );
    vec3 shift = v3_horizontal( v3_sub( body, pose.positions[0] ) );
    return v3_add( v3_mad( pose.positions[joint], away, right ), shift );
}

// The joint of the stick figure under the pointer, -1: none.
static int pick_figure( const tr_ui *ui, const tr_shown *shown, int actor, double x, double y )
{
    const tr_world *world;
    const tr_skeleton *skeleton = tr_stage_performer( shown->stage, actor, &world );
    int best = -1;
    double nearest = reach;
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        double u, v;
        if ( skeleton->joints[j].end_site ||
             !tr_project( ui, shown, figure_place( ui, shown, actor, j ), &u, &v ) )
            continue;
        double away = hypot( u - x, v - y );
        if ( away < nearest ) {
            nearest = away;
            best = j;
        }
    }
    return best;
}

// ------------------------------------------------------------------------------------------------- posing

static void begin_pose( tr_ui *ui, const tr_shown *shown, int actor, const char *cast )
{
    const tr_actor *a = &shown->stage->actors[actor];
    memcpy( ui->pose.cast, cast, sizeof ui->pose.cast );
    ui->pose.active = true;
    ui->pose.keep = false;
    ui->pose.fresh = true;
    ui->pose.frame = ui->frame;
    ui->pose.root = tr_world_pose( &shown->result->worlds[actor], ui->frame ).positions[0];
    memcpy( ui->pose.local, tr_clip_frame( &shown->result->motions[actor].clip, ui->frame ),
            (size_t)a->target.joint_count * sizeof( quat ) );
    ui->pose.line[0] = 0;
}

void tr_pose_let_go( tr_ui *ui )
{
    ui->pose.active = ui->pose.keep = false;
}

void tr_pose_keep( tr_ui *ui )
{
    ui->pose.keep = ui->pose.active;
}

// The pair that shows this frame of the source's file, NULL: none does yet.
static const tr_example *pair_at( const tr_scene *scene, const char *cast, int source )
{
    for ( int i = 0; i < scene->example_count; ++i )
        if ( strcmp( scene->examples[i].cast, cast ) == 0 && scene->examples[i].source == source &&
             !scene->examples[i].mirrored )
            return &scene->examples[i];
    return NULL;
}

// The op that makes or changes the pair. False: there can be none.
static bool write_line( tr_ui *ui, const tr_shown *shown, int actor )
{
    const tr_actor *a = &shown->stage->actors[actor];
    tr_error error;
    char text[TR_POSE_MAX];
    int source = tr_stage_file_frame( shown->stage, actor, ui->pose.frame );
    if ( source < 0 ) {
        tr_ui_say( ui, true, "This frame shows none of the source's file: no pair can be made of it" );
        return false;
    }
    if ( !tr_stage_pose_text( shown->stage, actor, ui->pose.frame, a->file_pose, ui->pose.local, text,
                              &error ) ) {
        tr_ui_say( ui, true, "%s", error.message );
        return false;
    }
    const tr_example *old = pair_at( shown->scene, ui->pose.cast, source );
    tr_id id;
    if ( old != NULL )
        snprintf( ui->pose.line, sizeof ui->pose.line, "example_set id=%s target=0 pose=\"%s\" muted=false",
                  old->id, text );
    else {
        tr_free_id( shown->scene, tr_scene_find_example, "pose", id );
        snprintf( ui->pose.line, sizeof ui->pose.line,
                  "example_add id=%s cast=%s source=%d target=0 pose=\"%s\"", id, ui->pose.cast, source,
                  text );
    }
    return true;
}

void tr_pose_hold( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    if ( !ui->pose.active || ui->pose.fresh )
        return;
    int actor = tr_pose_actor( shown, ui->pose.cast );
    if ( actor < 0 || ui->pose.frame >= ui->frame_count ||
         ( ui->pose.line[0] == 0 && !write_line( ui, shown, actor ) ) ) {
        tr_pose_let_go( ui );
        return;
    }
    if ( !ui->drag.active ) // the preview may have led the body elsewhere
        ui->pose.root = tr_world_pose( &shown->result->worlds[actor], ui->pose.frame ).positions[0];
    if ( !ui->pose.keep || ui->drag.active ) {
        tr_ops_preview( ops, "%s", ui->pose.line );
        return;
    }
    tr_ops_add( ops, "%s", ui->pose.line );
    tr_pose_let_go( ui );
}

// -------------------------------------------------------------------------------------------------- pulling

static bool press( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    (void)ops;
    const char *subject = tr_pose_subject( ui, shown );
    int actor = subject != NULL ? tr_pose_actor( shown, subject ) : -1;
    if ( actor < 0 )
        return false;
    ui->pose.from = pick_figure( ui, shown, actor, ui->drag.start_x, ui->drag.start_y );
    if ( ui->pose.from >= 0 ) {
        ui->drag.item = tr_item_make( TR_ITEM_CAST, subject, -1 );
        tr_select( ui, &ui->drag.item, false );
        ui->drag.handle = HANDLE_LINE;
        return true;
    }
    tr_item item = tr_pick( ui, shown, ui->drag.start_x, ui->drag.start_y, NULL );
    if ( item.kind != TR_ITEM_CAST || item.joint < 0 )
        return false;
    actor = tr_pose_actor( shown, item.id );
    if ( actor < 0 ) {
        tr_ui_say( ui, false, "%s has the body of its motion: only a body of another file can be posed",
                   item.id );
        return false;
    }
    tr_select( ui, &item, false );
    ui->drag.item = item;
    if ( !ui->pose.active || strcmp( ui->pose.cast, item.id ) != 0 || ui->pose.frame != ui->frame )
        begin_pose( ui, shown, actor, item.id );
    const tr_skeleton *body = &shown->stage->actors[actor].target;
    bool turns = ( ui->drag.modifiers & TR_MOD_SHIFT ) != 0 || tr_pose_chain( body, item.joint ) < 0;
    ui->drag.handle = turns ? HANDLE_TURN : HANDLE_PULL;
    ui->drag.start = tr_pose_place( body, ui->pose.local, ui->pose.root, item.joint );
    memcpy( ui->pose.before, ui->pose.local, sizeof ui->pose.before );
    return true;
}

// About the direction in which the camera looks, as the pointer goes around the joint.
static double swept( const tr_ui *ui, const tr_shown *shown )
{
    double x, y;
    if ( !tr_project( ui, shown, ui->drag.start, &x, &y ) )
        return 0;
    // At the joint itself no angle is known: sideways counts there.
    const double near = 8; // points
    if ( hypot( ui->drag.start_x - x, ui->drag.start_y - y ) < near )
        return 0.01 * ( ui->drag.x - ui->drag.start_x );
    return atan2( ui->drag.y - y, ui->drag.x - x ) - atan2( ui->drag.start_y - y, ui->drag.start_x - x );
}

static void pull( tr_ui *ui, const tr_shown *shown )
{
    int actor = tr_pose_actor( shown, ui->pose.cast );
    if ( actor < 0 || !ui->pose.active || ui->drag.handle == HANDLE_LINE )
        return;
    const tr_skeleton *body = &shown->stage->actors[actor].target;
    int joint = ui->drag.item.joint;
    memcpy( ui->pose.local, ui->pose.before, sizeof ui->pose.local );
    if ( ui->drag.handle == HANDLE_TURN ) {
        vec3 look = v3_unit_or( v3_sub( shown->camera.target, shown->camera.eye ), v3( 0, 0, -1 ) );
        tr_pose_turn( body, ui->pose.local, joint, q_axis_angle( look, swept( ui, shown ) ) );
    } else {
        vec3 forward = v3_unit_or( v3_sub( shown->camera.target, shown->camera.eye ), v3( 0, 0, -1 ) ),
             origin, direction;
        tr_ray( ui, shown, ui->drag.x, ui->drag.y, &origin, &direction );
        double slope = v3_dot( direction, forward );
        if ( slope < 1e-6 )
            return;
        vec3 goal = v3_mad( origin, v3_dot( v3_sub( ui->drag.start, origin ), forward ) / slope, direction );
        tr_pull_def def = tr_default_pull_def();
        tr_pose_pull( &def, body, ui->pose.local, ui->pose.root, tr_pose_chain( body, joint ), joint, goal );
    }
    ui->pose.line[0] = 0;
    ui->pose.fresh = false;
}

static void drag( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    (void)ops;
    pull( ui, shown );
}

// ---------------------------------------------------------------------------------------------------- parts

// The joint of the body on which a line ends, -1: none.
static int line_end( const tr_ui *ui, const tr_shown *shown )
{
    tr_item end = tr_pick( ui, shown, ui->drag.x, ui->drag.y, NULL );
    bool own = end.kind == TR_ITEM_CAST && end.joint >= 0 && strcmp( end.id, ui->drag.item.id ) == 0;
    return own && tr_area_has( ui->viewport, ui->drag.x, ui->drag.y ) ? end.joint : -1;
}

// From the first joint of the limb down to this one.
static bool chain_of( const tr_skeleton *skeleton, int joint, const char *names[2] )
{
    if ( joint >= 0 && skeleton->joints[joint].end_site )
        joint = skeleton->joints[joint].parent;
    int first = joint >= 0 ? tr_pose_chain( skeleton, joint ) : -1;
    if ( first < 0 )
        return false;
    names[0] = skeleton->joints[first].name;
    names[1] = skeleton->joints[joint].name;
    return true;
}

static void make_part( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    const tr_world *world;
    const char *source[2], *target[2];
    int actor = tr_pose_actor( shown, ui->drag.item.id );
    if ( actor < 0 || !chain_of( tr_stage_performer( shown->stage, actor, &world ), ui->pose.from, source ) ||
         !chain_of( &shown->stage->actors[actor].target, line_end( ui, shown ), target ) )
        return;
    tr_id id;
    char line[5 * TR_JOINT_MAX + 200];
    tr_free_id( shown->scene, tr_scene_find_part, "part", id );
    snprintf( line, sizeof line,
              "part_add id=%s cast=%s source_first=\"%s\" source_last=\"%s\" target_first=\"%s\" "
              "target_last=\"%s\"",
              id, ui->drag.item.id, source[0], source[1], target[0], target[1] );
    tr_ops_act( ops, TR_ACTION_TRY, line );
}

static void release( tr_ui *ui, const tr_shown *shown, tr_ops *ops )
{
    if ( ui->drag.handle == HANDLE_LINE )
        make_part( ui, shown, ops );
    else if ( ui->drag.moved )
        pull( ui, shown );
    else if ( ui->pose.fresh ) // a mere click poses nothing
        tr_pose_let_go( ui );
}

// -------------------------------------------------------------------------------------------------- on show

static void draw_bones( const tr_skeleton *skeleton, int joint, vec3 from, vec3 to, tr_colour colour,
                        tr_draw_list *list )
{
    if ( skeleton->joints[joint].parent >= 0 )
        tr_draw_line_add( list, from, to, colour, 2.0f, true );
    if ( !skeleton->joints[joint].end_site )
        tr_draw_line_add( list, to, to, colour, 7.0f, true );
}

static void draw( const tr_ui *ui, const tr_shown *shown, tr_draw_list *list )
{
    const char *subject = tr_pose_subject( ui, shown );
    int actor = subject != NULL ? tr_pose_actor( shown, subject ) : -1;
    if ( actor < 0 )
        return;
    const tr_world *world;
    const tr_skeleton *performer = tr_stage_performer( shown->stage, actor, &world ),
                      *body = &shown->stage->actors[actor].target;
    for ( int j = 0; j < performer->joint_count; ++j ) {
        int parent = performer->joints[j].parent;
        draw_bones( performer, j, figure_place( ui, shown, actor, parent >= 0 ? parent : 0 ),
                    figure_place( ui, shown, actor, j ), blue, list );
    }
    for ( int j = 0; ui->pose.active && ui->frame == ui->pose.frame && j < body->joint_count; ++j ) {
        int parent = body->joints[j].parent;
        draw_bones( body, j, tr_pose_place( body, ui->pose.local, ui->pose.root, parent >= 0 ? parent : 0 ),
                    tr_pose_place( body, ui->pose.local, ui->pose.root, j ), amber, list );
    }
    if ( !ui->drag.active || ui->drag.handle != HANDLE_LINE )
        return;
    vec3 from = figure_place( ui, shown, actor, ui->pose.from ), to, origin, direction;
    int end = line_end( ui, shown );
    if ( end >= 0 )
        to = tr_world_pose( &shown->result->worlds[actor], ui->frame ).positions[end];
    else {
        tr_ray( ui, shown, ui->drag.x, ui->drag.y, &origin, &direction );
        to = v3_mad( origin, v3_dot( v3_sub( from, origin ), direction ), direction );
    }
    tr_draw_line_add( list, from, to, amber, 3.0f, true );
    tr_draw_line_add( list, to, to, amber, 10.0f, true );
}

// Joints of the stick figure are spots of the window.
static void mark_figure( tr_ui *ui, const tr_shown *shown )
{
    const char *subject = tr_pose_subject( ui, shown );
    int actor = subject != NULL ? tr_pose_actor( shown, subject ) : -1;
    if ( actor < 0 )
        return;
    const tr_world *world;
    const tr_skeleton *performer = tr_stage_performer( shown->stage, actor, &world );
    for ( int j = 0; j < performer->joint_count; ++j ) {
        double x, y;
        char spot[48];
        if ( performer->joints[j].end_site ||
             !tr_project( ui, shown, figure_place( ui, shown, actor, j ), &x, &y ) )
            continue;
        snprintf( spot, sizeof spot, "source.%.40s", performer->joints[j].name );
        tr_ui_mark( ui, spot, nk_rect( tr_near_window( x ) - 4, tr_near_window( y ) - 4, 8, 8 ) );
    }
}

static void overlay( tr_ui *ui, const tr_shown *shown )
{
    char name[160];
    mark_figure( ui, shown );
    if ( !ui->drag.active || ui->drag.handle != HANDLE_LINE || line_end( ui, shown ) < 0 )
        return;
    tr_item end = tr_item_make( TR_ITEM_CAST, ui->drag.item.id, line_end( ui, shown ) );
    tr_item_name( name, sizeof name, shown, &end );
    tr_ui_tag( ui, shown, name );
}

static void hint( tr_ui *ui, const tr_shown *shown )
{
    if ( ui->drag.active && ui->drag.handle == HANDLE_LINE )
        tr_ui_hint( ui, "Onto a joint of the body: the chain down to it follows this one as a part" );
    else if ( ui->pose.active )
        tr_ui_hint( ui,
                    "Pull joints on · Shift+drag turns one · Enter keeps the pair at frame %d · Esc lets go",
                    ui->pose.frame + shown->scene->first );
    else if ( tr_pose_subject( ui, shown ) != NULL )
        tr_ui_hint( ui,
                    "Pull a joint of the body, Shift+drag turns it · from a blue joint to the body: a part" );
    else
        tr_ui_hint( ui, "Poses are for bodies of another file: Cast, Take another body…" );
}

const tr_tool tr_tool_pose = { .name = "Pose",
                               .spot = "tool.pose",
                               .icon = TR_ICON_POSE,
                               .key = 'O',
                               .help = "pose a body of another file; Enter keeps the pair",
                               .press = press,
                               .drag = drag,
                               .release = release,
                               .draw = draw,
                               .overlay = overlay,
                               .hint = hint };
