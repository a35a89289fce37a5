// The editor: looking, choosing, playing, tools, files; trouble and random events.
#include "desk.h"

#include <signal.h>
#include <sys/wait.h>

// ---------------------------------------------------------------------------------------------------- tests

static void a_scene_opens_solved_and_framed( void **state )
{
    (void)state;
    desk d;
    const tr_stage *stage;
    begin( &d, "box_relay", 3 );
    const tr_result *result = tr_app_result( d.app, &stage );
    assert_non_null( result );
    assert_int_equal( stage->actor_count, 3 );
    assert_int_equal( ui_of( &d )->frame_count, result->frame_count );
    assert_false( tr_app_unsaved( d.app ) );
    double x, y; // all are in the picture
    for ( int i = 0; i < 3; ++i )
        assert_true( tr_app_locate( d.app, stage->scene->cast[i].id, &x, &y ) );
    end( &d );
}

static void clicks_choose_what_is_under_them( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 3 );
    click_thing( &d, "p02.Head", 0 );
    assert_int_equal( ui_of( &d )->selection_count, 1 );
    assert_string_equal( ui_of( &d )->selection[0].id, "p02" );
    assert_true( ui_of( &d )->selection[0].joint > 0 );
    click_thing( &d, "p01.Head", TR_MOD_SHIFT );
    assert_int_equal( ui_of( &d )->selection_count, 2 );
    key( &d, TR_KEY_ESCAPE, 0 );
    assert_int_equal( ui_of( &d )->selection_count, 0 );
    press( &d, "item.p03" );
    assert_true( tr_ui_selected( ui_of( &d ), TR_ITEM_CAST, "p03" ) );
    tr_area v = ui_of( &d )->viewport; // a box around everything
    drag( &d, TR_BUTTON_LEFT, v.x + 3, v.y + 3, v.x + v.width - 3, v.y + v.height - 3, 0 );
    assert_true( ui_of( &d )->selection_count >= 3 );
    key( &d, 'F', TR_MOD_CTRL );
    type( &d, "box0" );
    key( &d, TR_KEY_ENTER, 0 );
    assert_true( tr_ui_selected( ui_of( &d ), TR_ITEM_PROP, "box01" ) );
    assert_false( tr_ui_selected( ui_of( &d ), TR_ITEM_CAST, "p01" ) );
    end( &d );
}

static void hidden_and_locked_ones_are_not_hit( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 3 );
    double x, y;
    assert_true( tr_app_locate( d.app, "p02.Head", &x, &y ) );
    move_to( &d, x, y );
    assert_string_equal( ui_of( &d )->hover.id, "p02" );
    press( &d, "lock.p02" );
    move_to( &d, x, y );
    assert_string_not_equal( ui_of( &d )->hover.id, "p02" );
    press( &d, "lock.p02" );
    press( &d, "hide.p02" );
    move_to( &d, x, y );
    assert_string_not_equal( ui_of( &d )->hover.id, "p02" );
    end( &d );
}

static void the_view_turns_moves_and_zooms( void **state )
{
    (void)state;
    desk d;
    begin( &d, "spider", 0 );
    tr_area v = ui_of( &d )->viewport;
    double x = v.x + 0.5 * v.width, y = v.y + 0.5 * v.height;
    tr_orbit before = ui_of( &d )->orbit;
    drag( &d, TR_BUTTON_LEFT, x, y, x + 100, y, TR_MOD_ALT );
    check_near( ui_of( &d )->orbit.yaw, before.yaw - 35.0, 1e-9 ); // 0.35 degrees a point
    drag( &d, TR_BUTTON_MIDDLE, x, y, x, y + 20, 0 );
    check_near( ui_of( &d )->orbit.pitch, before.pitch + 7.0, 1e-9 );
    before = ui_of( &d )->orbit;
    drag( &d, TR_BUTTON_MIDDLE, x, y, x + 50, y, TR_MOD_SHIFT );
    assert_true( v3_distance( before.target, ui_of( &d )->orbit.target ) > 1e-3 );
    check_near( ui_of( &d )->orbit.yaw, before.yaw, 0 );
    push( &d, ( tr_event ){ .kind = TR_EVENT_SCROLL, .y = 1 } );
    frames( &d, 1 );
    check_near( ui_of( &d )->orbit.distance, 0.88 * before.distance, 1e-9 );
    key( &d, TR_KEY_PAD_0 + 7, 0 );
    check_near( ui_of( &d )->orbit.pitch, 90, 0 );
    assert_true( ui_of( &d )->orbit.orthographic );
    key( &d, 'A', 0 );
    assert_true( ui_of( &d )->orbit.orthographic );
    key( &d, TR_KEY_PAD_0 + 5, 0 );
    key( &d, 'A', 0 );
    assert_false( ui_of( &d )->orbit.orthographic );
    end( &d );
}

// A view along an axis shows everything, however far away the camera was before.
static void framing_everything_stays_in_the_view( void **state )
{
    (void)state;
    desk d;
    static const struct {
        int digit;
        unsigned with;
    } sides[] = { { 1, 0 }, { 1, TR_MOD_CTRL }, { 3, 0 }, { 3, TR_MOD_CTRL }, { 7, 0 } };
    begin( &d, "box_relay", 8 );
    tr_area v = ui_of( &d )->viewport;
    double x = v.x + 0.5 * v.width, y = v.y + 0.5 * v.height;
    for ( size_t i = 0; i < sizeof sides / sizeof sides[0]; ++i ) {
        key( &d, TR_KEY_PAD_0 + sides[i].digit, sides[i].with );
        drag( &d, TR_BUTTON_MIDDLE, x, y, x + 150, y + 90, TR_MOD_SHIFT );
        for ( int k = 0; k < 15; ++k )
            push( &d, ( tr_event ){ .kind = TR_EVENT_SCROLL, .y = 1 } );
        tr_orbit before = ui_of( &d )->orbit;
        key( &d, 'A', 0 );
        const tr_orbit *now = &ui_of( &d )->orbit;
        assert_true( now->orthographic );
        check_near( now->yaw, before.yaw, 0 );
        check_near( now->pitch, before.pitch, 0 );
        for ( int k = 0; k < 8; ++k ) {
            char name[32];
            for ( int end_of = 0; end_of < 2; ++end_of ) {
                snprintf( name, sizeof name, "p%02d.%s", k + 1, end_of ? "LeftFoot" : "Head" );
                assert_true( tr_app_locate( d.app, name, &x, &y ) );
            }
        }
        x = v.x + 0.5 * v.width;
        y = v.y + 0.5 * v.height;
    }
    end( &d );
}

static void playing_keeps_real_time( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    key( &d, TR_KEY_HOME, 0 );
    key( &d, TR_KEY_SPACE, 0 );
    assert_true( ui_of( &d )->playing );
    int start = ui_of( &d )->frame;
    for ( int i = 0; i < 4; ++i ) { // a slow machine: four pictures a second, thirty frames a second
        tr_window_advance( d.window, 0.25 - 1.0 / 60.0 );
        frames( &d, 1 );
    }
    assert_in_range( ui_of( &d )->frame, start + 29, start + 31 );
    key( &d, TR_KEY_SPACE, 0 );
    int stopped = ui_of( &d )->frame;
    frames( &d, 20 );
    assert_int_equal( ui_of( &d )->frame, stopped );
    key( &d, TR_KEY_RIGHT, 0 );
    assert_int_equal( ui_of( &d )->frame, stopped + 1 );
    tr_area ruler = area_of( &d, "ruler" ); // the middle of the ruler is the middle of the clip
    click( &d, ruler.x + 0.5 * ruler.width, ruler.y + 18, 0 );
    assert_int_equal( ui_of( &d )->frame, ( ui_of( &d )->frame_count - 1 ) / 2 );
    end( &d );
}

static void a_loop_repeats_and_an_end_stops( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    key( &d, TR_KEY_HOME, 0 );
    for ( int i = 0; i < 9; ++i )
        key( &d, TR_KEY_RIGHT, 0 );
    key( &d, ']', 0 ); // frames 0 … 9 play
    assert_int_equal( ui_of( &d )->loop_last, 9 );
    key( &d, TR_KEY_SPACE, 0 );
    for ( int i = 0; i < 60; ++i ) {
        frames( &d, 1 );
        assert_in_range( ui_of( &d )->frame, 0, 9 );
    }
    assert_true( ui_of( &d )->playing );
    key( &d, 'L', 0 );
    frames( &d, 60 );
    assert_false( ui_of( &d )->playing );
    assert_int_equal( ui_of( &d )->frame, 9 );
    end( &d );
}

// Looks at p01, whose size it returns; x, y are a part of the way along its slider.
static double begin_at_slider( desk *d, double part, double *x, double *y )
{
    begin_relay( d, 2 );
    press( d, "item.p01" );
    tr_area s = area_of( d, "size" );
    *x = s.x + part * s.width;
    *y = s.y + 0.5 * s.height;
    return cast_of( d, "p01" )->target.scale;
}

static void one_drag_of_a_slider_is_one_step( void **state )
{
    (void)state;
    desk d;
    double x, y, before = begin_at_slider( &d, 0.4, &x, &y );
    drag( &d, TR_BUTTON_LEFT, x, y, x + 20, y, 0 );
    settle( &d );
    double after = cast_of( &d, "p01" )->target.scale;
    assert_int_equal( tr_app_ops( d.app ), 1 );
    assert_true( fabs( after - before ) > 0.05 );
    const tr_stage *stage; // the body on stage has the new size
    tr_app_result( d.app, &stage );
    check_near( stage->scene->cast[0].target.scale, after, 0 );
    key( &d, 'Z', TR_MOD_CTRL );
    settle( &d );
    check_near( cast_of( &d, "p01" )->target.scale, before, 0 );
    key( &d, 'Y', TR_MOD_CTRL );
    settle( &d );
    check_near( cast_of( &d, "p01" )->target.scale, after, 0 );
    assert_true( tr_app_unsaved( d.app ) );
    end( &d );
}

static void escape_cancels_a_drag_completely( void **state )
{
    (void)state;
    desk d;
    double x, y, before = begin_at_slider( &d, 0.5, &x, &y );
    move_to( &d, x, y );
    button( &d, TR_BUTTON_LEFT, true, x, y, 0 );
    frames( &d, 1 );
    move_to( &d, x + 30, y );
    key( &d, TR_KEY_ESCAPE, 0 );
    move_to( &d, x + 40, y );
    button( &d, TR_BUTTON_LEFT, false, x + 40, y, 0 );
    settle( &d );
    assert_int_equal( tr_app_ops( d.app ), 0 );
    check_near( cast_of( &d, "p01" )->target.scale, before, 0 );
    assert_false( tr_app_unsaved( d.app ) );
    const tr_stage *stage;
    tr_app_result( d.app, &stage );
    check_near( stage->scene->cast[0].target.scale, before, 0 );
    end( &d );
}

// Only the press on a slider takes hold of it: no later one elsewhere does, nor after Escape.
static void a_slider_let_go_stays_where_it_is( void **state )
{
    (void)state;
    desk d;
    double x, y;
    begin_at_slider( &d, 0.4, &x, &y );
    for ( int i = 0; i < 2; ++i ) {
        move_to( &d, x, y );
        button( &d, TR_BUTTON_LEFT, true, x, y, 0 );
        frames( &d, 1 );
        move_to( &d, x + 20, y );
        if ( i == 1 )
            key( &d, TR_KEY_ESCAPE, 0 );
        button( &d, TR_BUTTON_LEFT, false, x + 20, y, 0 );
        settle( &d );
        double size = cast_of( &d, "p01" )->target.scale;
        press( &d, "ruler" );
        press( &d, "item.p02" );
        press( &d, "item.p01" );
        press( &d, "tab.History" );
        press( &d, "tab.Inspect" );
        settle( &d );
        check_near( cast_of( &d, "p01" )->target.scale, size, 0 );
        assert_int_equal( tr_app_ops( d.app ), 1 );
    }
    end( &d );
}

// --------------------------------------------------------------------------------------------------- tools

static void a_joint_that_is_moved_is_pinned( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    key( &d, 'W', 0 );
    drag_thing( &d, "p01.Head", 0, 30, 0 );
    assert_int_equal( tr_app_ops( d.app ), 1 );
    const tr_constraint *pin = constraint_of( &d, "pin1" );
    assert_string_equal( pin->a.terms[0].joint, "Head" );
    assert_true( pin->given && pin->first == pin->last );
    const tr_stage *stage; // and the head is there
    const tr_result *result = tr_app_result( d.app, &stage );
    int head = tr_skeleton_find( &stage->actors[0].target, "Head" ), frame = pin->first - stage->scene->first;
    check_v3( tr_world_pose( &result->worlds[0], frame ).positions[head], pin->target, 0.005 );
    drag_thing( &d, "p01.Head", 0, -10, 0 ); // again: the same pin, elsewhere
    assert_int_equal( tr_app_ops( d.app ), 2 );
    assert_int_equal( tr_scene_find_constraint( tr_app_scene( d.app ), "pin2" ), -1 );
    end( &d );
}

static void a_list_is_scrolled_to_its_end( void **state )
{
    (void)state;
    desk d;
    begin( &d, "corridor", 40 );
    tr_area top = area_of( &d, "filter" ); // the bar begins beside it
    double x = top.x + top.width + 8, y = top.y + top.height;
    drag( &d, TR_BUTTON_LEFT, x, y, x, y + 380, 0 );
    frames( &d, 2 );
    tr_area last = area_of( &d, "item.p40" );
    assert_true( last.y > top.y && last.y < 500 );
    end( &d );
}

static void bodies_are_resized_by_hand( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    double before = cast_of( &d, "p02" )->target.scale;
    key( &d, 'S', 0 );
    drag_thing( &d, "p02.Head", 0, -40, 0 ); // e^(0.006 · 40)
    check_near( cast_of( &d, "p02" )->target.scale, before * exp( 0.24 ), 1e-3 );
    drag_thing( &d, "p02.Head", 0, 40, TR_MOD_SHIFT );
    const tr_target *target = &cast_of( &d, "p02" )->target;
    bool found = false;
    for ( int i = 0; i < target->limb_count; ++i )
        found |= strcmp( target->limbs[i].limb, "head" ) == 0;
    assert_true( found );
    end( &d );
}

static void links_and_contacts_are_drawn( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    double x0, y0, x1, y1;
    key( &d, 'K', 0 );
    assert_true( tr_app_locate( d.app, "p01.Head", &x0, &y0 ) &&
                 tr_app_locate( d.app, "p02.Head", &x1, &y1 ) );
    drag( &d, TR_BUTTON_LEFT, x0, y0, x1, y1, 0 );
    settle( &d );
    const tr_constraint *link = constraint_of( &d, "link1" );
    assert_int_equal( link->kind, TR_CONSTRAINT_RELATIVE );
    assert_string_equal( link->a.who, "p01" );
    assert_string_equal( link->b.who, "p02" );
    double again_x, again_y; // no jump: it is kept as it was seen
    assert_true( link->given );
    assert_true( tr_app_locate( d.app, "p01.Head", &again_x, &again_y ) );
    assert_true( hypot( again_x - x0, again_y - y0 ) < 3.0 );
    assert_true( tr_app_locate( d.app, "p02.Head", &again_x, &again_y ) );
    assert_true( hypot( again_x - x1, again_y - y1 ) < 3.0 );
    key( &d, 'C', 0 );
    const char *const feet[] = { "p01.LeftFoot", "p01.RightFoot", "p02.LeftFoot", "p02.RightFoot" };
    for ( int i = 0; i < 4 && tr_scene_find_constraint( tr_app_scene( d.app ), "contact1" ) < 0; ++i )
        if ( tr_app_locate( d.app, feet[i], &x0, &y0 ) ) // one of them is not hidden behind a leg
            drag( &d, TR_BUTTON_LEFT, x0, y0, x0 + 40, y0, 0 );
    settle( &d );
    const tr_constraint *contact = constraint_of( &d, "contact1" ); // 40 points are five frames
    assert_string_equal( contact->surface, "ground" );
    assert_int_equal( contact->last - contact->first, 5 );
    end( &d );
}

// A body behind a panel is not seen: a link drawn over the edge of the viewport ends on none.
static void links_do_not_end_behind_panels( void **state )
{
    (void)state;
    desk d;
    double x0, y0, x1, y1;
    begin_relay( &d, 2 );
    tr_area v = ui_of( &d )->viewport;
    assert_true( tr_app_locate( d.app, "p01.Head", &x0, &y0 ) &&
                 tr_app_locate( d.app, "p02.Head", &x1, &y1 ) );
    double edge = x1 > x0 ? v.x + v.width + 20 : v.x - 20, x = v.x + 0.5 * v.width, y = v.y + v.height - 10;
    for ( int i = 0; i < 4; ++i ) { // nearer bodies move faster
        drag( &d, TR_BUTTON_MIDDLE, x, y, x + edge - x1, y, TR_MOD_SHIFT );
        assert_false( tr_app_locate( d.app, "p02.Head", &x1, &y1 ) && fabs( x1 - edge ) < 10 );
    }
    assert_true( tr_app_locate( d.app, "p01.Head", &x0, &y0 ) );
    assert_true( fabs( x1 - edge ) < 10 );
    key( &d, 'K', 0 );
    drag( &d, TR_BUTTON_LEFT, x0, y0, x1, y1, 0 );
    settle( &d );
    assert_true( tr_scene_find_constraint( tr_app_scene( d.app ), "link1" ) < 0 );
    end( &d );
}

static void save_as( desk *d, const char *name )
{
    char path[256];
    snprintf( path, sizeof path, "%s/%s", d->folder, name );
    key( d, 'S', TR_MOD_CTRL | TR_MOD_SHIFT );
    assert_int_equal( ui_of( d )->dialog, TR_DIALOG_SAVE );
    key( d, 'A', TR_MOD_CTRL );
    type( d, path );
    key( d, TR_KEY_ENTER, 0 );
    frames( d, 2 );
    assert_int_equal( ui_of( d )->dialog, TR_DIALOG_NONE );
}

static void what_was_saved_opens_again( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    key( &d, 'A', TR_MOD_CTRL );
    press( &d, "item.p02" );
    key( &d, TR_KEY_DELETE, 0 );
    settle( &d );
    assert_int_equal( tr_app_scene( d.app )->cast_count, 1 );
    assert_string_equal( tr_app_scene( d.app )->cast[0].id, "p01" );
    save_as( &d, "mine" ); // the ending comes by itself
    assert_false( tr_app_unsaved( d.app ) );
    tr_app_destroy( d.app );
    char path[256];
    snprintf( path, sizeof path, "%s/mine.json", d.folder );
    tr_scene scene;
    check_ok( tr_scene_load( &scene, path, &d.error ), &d.error );
    assert_int_equal( scene.cast_count, 1 );
    assert_string_equal( scene.cast[0].id, "p01" );
    tr_scene_free( &scene );
    open_app( &d, path, 0, false );
    assert_int_equal( tr_app_scene( d.app )->cast_count, 1 );
    assert_non_null( tr_app_result( d.app, NULL ) );
    end( &d );
}

static void unsaved_changes_are_asked_about( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    press( &d, "item.p02" );
    key( &d, TR_KEY_DELETE, 0 );
    key( &d, 'Q', TR_MOD_CTRL );
    assert_int_equal( ui_of( &d )->dialog, TR_DIALOG_UNSAVED );
    press( &d, "dialog.Back" );
    assert_int_equal( ui_of( &d )->dialog, TR_DIALOG_NONE );
    press( &d, "tab.Scenes" );
    press( &d, "scene.squat_chain" );
    assert_int_equal( ui_of( &d )->dialog, TR_DIALOG_UNSAVED );
    press( &d, "dialog.Discard" );
    settle( &d );
    assert_true( tr_app_scene( d.app )->cast_count > 2 );
    push( &d, ( tr_event ){ .kind = TR_EVENT_CLOSE } );
    assert_false( tr_app_frame( d.app ) ); // nothing unsaved: it closes
    end( &d );
}

static void recovery_of( const desk *d, int process, char path[256] )
{
    snprintf( path, 256, "%s/recovery-%d.json", d->folder, process );
}

// What would be on disk a minute later, left behind by `process`, and the editor begun again.
static void crash( desk *d, int process )
{
    tr_window_advance( d->window, 61.0 );
    frames( d, 2 );
    char own[256], left[256];
    recovery_of( d, (int)getpid(), own );
    recovery_of( d, process, left );
    assert_int_equal( rename( own, left ), 0 );
    tr_app_destroy( d->app );
    open_app( d, "spider", 0, false );
    assert_int_equal( ui_of( d )->dialog, TR_DIALOG_RESTORE );
}

// All characters are within the viewport.
static bool is_framed( const desk *d )
{
    double x, y;
    const tr_scene *scene = tr_app_scene( d->app );
    bool framed = true;
    for ( int i = 0; i < scene->cast_count; ++i )
        framed = framed && tr_app_locate( d->app, scene->cast[i].id, &x, &y );
    return framed;
}

static void work_survives_a_crash( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    press( &d, "item.p02" );
    key( &d, TR_KEY_DELETE, 0 );
    settle( &d );
    crash( &d, 0x3FFFFFFF ); // a process that is no more
    press( &d, "dialog.Restore" );
    settle( &d );
    assert_int_equal( tr_app_scene( d.app )->cast_count, 1 );
    assert_string_equal( tr_app_scene( d.app )->cast[0].id, "p01" );
    assert_true( tr_app_unsaved( d.app ) );
    assert_true( is_framed( &d ) );
    char own[256];
    recovery_of( &d, (int)getpid(), own );
    assert_true( tr_file_exists( own ) );
    end( &d );
}

// A built-in scene comes back with the motions of as many people as it had. The editor that was killed may
// still be listed until its parent process waits for it.
static void a_crash_keeps_the_size_of_the_cast( void **state )
{
    (void)state;
    desk d = { 0 };
    make_folder( &d );
    open_app( &d, "box_relay", 3, false );
    press( &d, "item.p02" );
    key( &d, TR_KEY_DELETE, 0 );
    settle( &d );
    const tr_stage *stage;
    vec3 somewhere = tr_app_result( d.app, &stage )->worlds[1].positions[1000];
    pid_t killed = fork();
    if ( killed == 0 )
        _exit( 0 );
    siginfo_t info;
    waitid( P_PID, (id_t)killed, &info, WEXITED | WNOWAIT ); // it has ended and is a zombie
    crash( &d, (int)killed );
    waitpid( killed, NULL, 0 );
    press( &d, "dialog.Restore" );
    settle( &d );
    assert_int_equal( tr_app_scene( d.app )->cast_count, 2 );
    check_v3( tr_app_result( d.app, &stage )->worlds[1].positions[1000], somewhere, 0 );
    end( &d );
}

// What the bar has no room for is behind the arrows at its end.
static void a_narrow_bar_hides_nothing( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    assert_null( tr_ui_spot( ui_of( &d ), "show.Mesh" ) );
    press( &d, "more" );
    assert_true( ui_of( &d )->more );
    assert_false( ui_of( &d )->links );
    press( &d, "menu.Close pairs" );
    assert_true( ui_of( &d )->links );
    tr_area v = ui_of( &d )->viewport;
    click( &d, v.x + 20, v.y + 0.8 * v.height, 0 ); // elsewhere: it closes
    assert_false( ui_of( &d )->more );
    d.window->width = 1920;
    frames( &d, 2 );
    assert_non_null( tr_ui_spot( ui_of( &d ), "show.Mesh" ) );
    assert_non_null( tr_ui_spot( ui_of( &d ), "method" ) );
    assert_null( tr_ui_spot( ui_of( &d ), "more" ) );
    end( &d );
}

// Two hundred points to an inch of a small screen: everything is there, a panel at a time.
static void a_small_window_has_room_for_all( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 3 );
    d.window->width = 640;
    d.window->height = 400;
    frames( &d, 3 );
    const tr_ui *ui = ui_of( &d );
    for ( int i = 0; i < 3; ++i ) { // names of the cast
        char spot[16];
        snprintf( spot, sizeof spot, "item.p%02d", i + 1 );
        tr_area a = area_of( &d, spot );
        assert_true( a.y + a.height <= ui->timeline.y );
    }
    static const char *const tools[] = { "select", "move", "turn",    "size", "cage",
                                         "frame",  "link", "contact", "pose" };
    for ( int i = 0; i < 9; ++i ) {
        char spot[32];
        snprintf( spot, sizeof spot, "tool.%s", tools[i] );
        tr_area a = area_of( &d, spot );
        assert_true( a.x + a.width <= 640 );
    }
    tr_area more = area_of( &d, "more" );
    assert_true( more.x + more.width <= 640 );
    assert_true( ui->viewport.width > 400 && ui->viewport.height > 200 );
    key( &d, ']', TR_MOD_CTRL ); // the other panel takes the place of the first
    assert_non_null( tr_ui_spot( ui, "tab.History" ) );
    assert_null( tr_ui_spot( ui, "tab.Cast" ) );
    key( &d, ']', TR_MOD_CTRL );
    assert_non_null( tr_ui_spot( ui, "tab.Cast" ) );
    key( &d, '[', TR_MOD_CTRL );
    assert_true( ui->viewport.width > 600 );
    key( &d, '[', TR_MOD_CTRL );
    press( &d, "Edit" ); // menus end within the window
    tr_area last = area_of( &d, "menu.Cages reach farther" );
    assert_true( last.y + last.height < 400 );
    key( &d, TR_KEY_ESCAPE, 0 );
    key( &d, TR_KEY_F1, 0 );
    frames( &d, 2 );
    key( &d, TR_KEY_F1, 0 );
    key( &d, ']', TR_MOD_CTRL ); // in a larger one there is room for both
    d.window->width = 1280;
    frames( &d, 2 );
    assert_true( ui->left.width > 0 && ui->right.width > 0 );
    end( &d );
}

// Files are looked for where the scene is, and what is proposed is replaced by what is typed.
static void dialogs_begin_beside_the_scene( void **state )
{
    (void)state;
    desk d;
    char path[256], whole[256];
    begin_relay( &d, 2 );
    assert_non_null( realpath( d.folder, whole ) );
    key( &d, 'S', TR_MOD_CTRL | TR_MOD_SHIFT );
    assert_string_equal( ui_of( &d )->folder, whole );
    assert_string_equal( ui_of( &d )->field, "relay2.json" );
    type( &d, "other" );
    assert_string_equal( ui_of( &d )->field, "other" );
    key( &d, TR_KEY_ENTER, 0 );
    settle( &d );
    snprintf( path, sizeof path, "%s/other.json", d.folder );
    assert_true( tr_file_exists( path ) );
    tr_app_destroy( d.app ); // the next time, with nothing of its own: where the last one was
    open_app( &d, "spider", 0, false );
    key( &d, 'O', TR_MOD_CTRL );
    assert_string_equal( ui_of( &d )->folder, whole );
    end( &d );
}

static void trouble_is_told_and_harms_nothing( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    key( &d, 'O', TR_MOD_CTRL );
    type( &d, "/nowhere/at/all.json" );
    key( &d, TR_KEY_ENTER, 0 );
    settle( &d );
    assert_true( ui_of( &d )->message_bad );
    assert_non_null( strstr( ui_of( &d )->message, "/nowhere/at/all.json" ) );
    assert_int_equal( tr_app_scene( d.app )->cast_count, 2 );
    char path[128]; // a dropped file that is no motion
    snprintf( path, sizeof path, "%s/broken.bvh", d.folder );
    check_ok( tr_file_write( path, "HIERARCHY\nROOT", 14, &d.error ), &d.error );
    push( &d, ( tr_event ){ .kind = TR_EVENT_DROP, .path = tr_string_copy( path ) } );
    settle( &d );
    assert_true( ui_of( &d )->message_bad );
    assert_non_null( tr_app_result( d.app, NULL ) );
    key( &d, 'Z', TR_MOD_CTRL );
    settle( &d );
    assert_int_equal( tr_app_scene( d.app )->cast_count, 2 );
    end( &d );
}

static void exports_are_written( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    char path[256];
    key( &d, 'E', TR_MOD_CTRL );
    key( &d, 'A', TR_MOD_CTRL );
    snprintf( path, sizeof path, "%s/out", d.folder );
    type( &d, path );
    key( &d, TR_KEY_ENTER, 0 );
    settle( &d );
    snprintf( path, sizeof path, "%s/out/p01.bvh", d.folder );
    assert_true( tr_file_exists( path ) );
    snprintf( path, sizeof path, "%s/out/report.json", d.folder );
    assert_true( tr_file_exists( path ) );
    end( &d );
}

// The dialog's kinds change the ending of the name; the file is what 'troupe convert' writes.
static void exports_for_other_programs( void **state )
{
    (void)state;
    static const char *const kinds[][2] = {
        { "dialog.GLB", "result.glb" }, { "dialog.USD", "result.usda" }, { "dialog.NPZ", "result.npz" } };
    desk d;
    begin_relay( &d, 2 );
    for ( int i = 0; i < 3; ++i ) {
        char path[256];
        key( &d, 'E', TR_MOD_CTRL );
        press( &d, kinds[( i + 1 ) % 3][0] );
        press( &d, kinds[i][0] );
        assert_string_equal( ui_of( &d )->field, kinds[i][1] );
        press( &d, "dialog.Export" );
        settle( &d );
        snprintf( path, sizeof path, "%s/%s", d.folder, kinds[i][1] );
        assert_true( tr_file_exists( path ) );
        if ( !tr_import_can_read( path ) )
            continue;
        tr_import read;
        check_ok( tr_import_load( &read, path, NULL, NULL, &d.error ), &d.error );
        assert_int_equal( read.skeleton_count, 2 );
        assert_string_equal( read.skeletons[1].name, "p02" );
        tr_import_free( &read );
    }
    end( &d );
}

static void every_key_and_panel_works_on_every_scene( void **state )
{
    (void)state;
    int count;
    const tr_scene_entry *table = tr_scene_table( &count );
    for ( int i = 0; i < count; ++i ) {
        desk d;
        begin( &d, table[i].name, table[i].min_cast );
        const char *const tabs[] = { "tab.Scenes", "tab.Layers",  "tab.Cast",   "tab.Rules",
                                     "tab.Report", "tab.History", "tab.Inspect" };
        key( &d, 'A', TR_MOD_CTRL );
        for ( size_t t = 0; t < sizeof tabs / sizeof tabs[0]; ++t )
            press( &d, tabs[t] );
        for ( int k = '0'; k <= '9'; ++k )
            key( &d, k, 0 );
        key( &d, TR_KEY_F1, 0 );
        assert_true( ui_of( &d )->help );
        key( &d, TR_KEY_ESCAPE, 0 );
        assert_false( ui_of( &d )->help );
        end( &d );
    }
}

// A click there would open dozens of people: with the sanitizers looking on, minutes of work at each event.
static bool opens_a_crowd( const desk *d, double x, double y )
{
    int count;
    const tr_scene_entry *table = tr_scene_table( &count );
    bool opens = false;
    for ( int i = 0; i < count; ++i ) {
        char name[64];
        snprintf( name, sizeof name, "scene.%s", table[i].name );
        const tr_spot *spot = table[i].default_cast > 4 ? tr_ui_spot( ui_of( d ), name ) : NULL;
        opens = opens || ( spot != NULL && x >= spot->area.x && x < spot->area.x + spot->area.width &&
                           y >= spot->area.y && y < spot->area.y + spot->area.height );
    }
    return opens;
}

// A thousand events without sense. Nothing is asserted but that the program lives, leaks nothing and its
// state stays sane; the sanitizers look on.
static void random_event( desk *d, uint64_t *seed )
{
    uint64_t r = random_bits( seed );
    double x = (double)( r >> 8 & 2047 ) * WIDTH / 2047, y = (double)( r >> 20 & 1023 ) * HEIGHT / 1023;
    unsigned modifiers = (unsigned)( r >> 32 & 7 );
    static const int keys[] = {
        TR_KEY_SPACE, TR_KEY_ESCAPE, TR_KEY_ENTER, TR_KEY_DELETE, TR_KEY_LEFT, TR_KEY_RIGHT, TR_KEY_HOME,
        TR_KEY_END,   TR_KEY_TAB,    TR_KEY_F1,    'Z',           'Y',         'A',          'F',
        'W',          'E',           'S',          'Q',           'G',         'R',          'L',
        'T',          '1',           '4',          '5',           '[',         ']',          'P',
        'X',          'K',           'C',          'H',           'V',         ',',          '.' };
    int which = keys[( r >> 40 ) % ( sizeof keys / sizeof keys[0] )];
    bool down = ( r >> 36 & 1 ) != 0;
    if ( opens_a_crowd( d, x, y ) )
        x = 0.5 * WIDTH;
    switch ( r % 8 ) {
    case 0:
    case 1: push( d, ( tr_event ){ .kind = TR_EVENT_MOTION, .x = x, .y = y } ); break;
    case 2: button( d, (int)( r >> 44 & 3 ) % 3, down, x, y, modifiers ); break;
    case 3: click( d, x, y, modifiers ); break;
    case 4: push( d, ( tr_event ){ .kind = TR_EVENT_SCROLL, .x = 0, .y = down ? 1 : -1 } ); break;
    case 5:
    case 6: // quitting and files stay out of it
        if ( !( ( modifiers & TR_MOD_CTRL ) && ( which == 'Q' || which == 'S' || which == 'E' ) ) )
            push( d,
                  ( tr_event ){ .kind = TR_EVENT_KEY, .key = which, .down = down, .modifiers = modifiers } );
        break;
    default: push( d, ( tr_event ){ .kind = TR_EVENT_TEXT, .text = (unsigned)( r >> 48 & 127 ) } ); break;
    }
}

// TROUPE_TEST_SEED: other ones.
static void a_thousand_random_events( void **state )
{
    (void)state;
    desk d;
    const char *other = getenv( "TROUPE_TEST_SEED" );
    uint64_t seed = other != NULL ? strtoull( other, NULL, 10 ) : 20240607;
    begin_relay( &d, 2 );
    for ( int i = 0; i < 1000; ++i ) {
        random_event( &d, &seed );
        tr_window_advance( d.window, 1.0 / 60.0 );
        if ( !tr_app_frame( d.app ) ) { // it found its way to Quit: begin again
            char path[256];
            tr_app_destroy( d.app );
            write_relay( &d, 2, path );
            open_app( &d, path, 0, false );
        }
        const tr_ui *ui = ui_of( &d );
        assert_true( ui->frame >= 0 && ( ui->frame_count == 0 || ui->frame < ui->frame_count ) );
        assert_true( isfinite( ui->orbit.yaw ) && isfinite( ui->orbit.distance ) && ui->orbit.distance > 0 );
        assert_true( v3_finite( ui->orbit.target ) );
        check_ok( tr_scene_check( tr_app_scene( d.app ), NULL, &d.error ), &d.error );
    }
    end( &d );
}

// The manual lists what the tables have: `troupe edit --keys` prints it.
static void the_manual_has_every_key( void **state )
{
    (void)state;
    tr_error error = { 0 };
    tr_text keys = { 0 };
    char *manual;
    size_t size;
    tr_help_print( &keys );
    check_ok( tr_file_read( SOURCE_DIR "/docs/editor.md", &manual, &size, &error ), &error );
    assert_false( keys.failed );
    assert_non_null( strstr( manual, keys.data ) );
    tr_free( manual );
    tr_text_free( &keys );
}

// To a finer screen and back: type is baked anew, and everything stays where it is, in points.
static void a_window_goes_to_a_finer_screen( void **state )
{
    (void)state;
    desk d = { 0 };
    make_folder( &d );
    open_app( &d, "box_relay", 2, false );
    tr_area before = area_of( &d, "item.p02" );
    static const double scales[] = { 2, 1.5, 1 };
    for ( int i = 0; i < 3; ++i ) {
        d.window->scale = scales[i];
        d.window->pixel_width = (int)( WIDTH * scales[i] );
        d.window->pixel_height = (int)( HEIGHT * scales[i] );
        frames( &d, 3 );
        tr_area now = area_of( &d, "item.p02" );
        check_near( now.x, before.x, 1.5 );
        check_near( now.y, before.y, 1.5 );
        click_thing( &d, "p02.Head", 0 );
        assert_true( tr_ui_selected( ui_of( &d ), TR_ITEM_CAST, "p02" ) );
        key( &d, TR_KEY_ESCAPE, 0 );
    }
    end( &d );
}

static void the_window_is_painted( void **state )
{
    (void)state;
    desk d = { 0 };
    make_folder( &d );
    open_app( &d, "box_relay", 3, true );
    click_thing( &d, "p02.Head", 0 );
    frames( &d, 30 );
    unsigned char *rgb = tr_alloc( (size_t)WIDTH * HEIGHT, 3 );
    assert_non_null( rgb );
    assert_true( tr_window_picture( d.window, rgb ) );
    if ( getenv( "TROUPE_KEEP_PICTURES" ) != NULL )
        check_ok( tr_picture_save( "/tmp/troupe_ui.png", WIDTH, HEIGHT, rgb, &d.error ), &d.error );
    // The panels are dark, the type on them bright, the figures colourful.
    int bright = 0, colourful = 0;
    for ( size_t i = 0; i < (size_t)WIDTH * HEIGHT; ++i ) {
        const unsigned char *p = rgb + 3 * i;
        int high = p[0] > p[1] ? p[0] : p[1], low = p[0] < p[1] ? p[0] : p[1];
        high = p[2] > high ? p[2] : high;
        low = p[2] < low ? p[2] : low;
        bright += low > 180;
        colourful += high - low > 80;
    }
    assert_in_range( bright, 500, WIDTH * HEIGHT / 10 );
    assert_in_range( colourful, 3000, WIDTH * HEIGHT / 4 );
    tr_free( rgb );
    end( &d );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( a_scene_opens_solved_and_framed ),
        TEST( clicks_choose_what_is_under_them ),
        TEST( hidden_and_locked_ones_are_not_hit ),
        TEST( the_view_turns_moves_and_zooms ),
        TEST( framing_everything_stays_in_the_view ),
        TEST( playing_keeps_real_time ),
        TEST( a_loop_repeats_and_an_end_stops ),
        TEST( one_drag_of_a_slider_is_one_step ),
        TEST( escape_cancels_a_drag_completely ),
        TEST( a_slider_let_go_stays_where_it_is ),
        TEST( a_joint_that_is_moved_is_pinned ),
        TEST( a_list_is_scrolled_to_its_end ),
        TEST( bodies_are_resized_by_hand ),
        TEST( links_and_contacts_are_drawn ),
        TEST( links_do_not_end_behind_panels ),
        TEST( what_was_saved_opens_again ),
        TEST( unsaved_changes_are_asked_about ),
        TEST( work_survives_a_crash ),
        TEST( a_crash_keeps_the_size_of_the_cast ),
        TEST( a_narrow_bar_hides_nothing ),
        TEST( a_small_window_has_room_for_all ),
        TEST( dialogs_begin_beside_the_scene ),
        TEST( trouble_is_told_and_harms_nothing ),
        TEST( exports_are_written ),
        TEST( exports_for_other_programs ),
        TEST( every_key_and_panel_works_on_every_scene ),
        TEST( a_thousand_random_events ),
        TEST( the_manual_has_every_key ),
        TEST( a_window_goes_to_a_finer_screen ),
        TEST( the_window_is_painted ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
