// Cages in the editor: pulled, pinned, widened, let go.
#include "desk.h"

static void a_cage_follows_the_mouse( void **state )
{
    (void)state;
    desk d;
    double x, y;
    begin_relay( &d, 2 );
    key( &d, 'X', 0 );
    hold( &d, "p01.Head", 25, 10, &x, &y );
    assert_true( follows( &d, "p01.Head", x, y ) );
    assert_int_equal( tr_app_ops( d.app ), 0 );
    for ( int i = 0; i < 100; ++i ) { // the pose comes to rest
        frames( &d, 1 );
        usleep( 2000 );
    }
    const tr_stage *stage;
    const tr_result *result = tr_app_result( d.app, &stage );
    int head = tr_skeleton_find( &stage->actors[0].target, "Head" ), frame = ui_of( &d )->frame;
    vec3 preview = tr_world_pose( &result->worlds[0], frame ).positions[head];
    button( &d, TR_BUTTON_LEFT, false, x + 25, y + 10, 0 );
    for ( int i = 0; i < 400 && tr_app_ops( d.app ) == 0; ++i )
        frames( &d, 1 );
    for ( int i = 0; i < PATIENCE && !tr_app_settled( d.app ); ++i ) {
        frames( &d, 1 );
        usleep( 5000 );
    }
    assert_int_equal( tr_app_ops( d.app ), 2 ); // the layer and the handle
    assert_int_equal( tr_app_scene( d.app )->layer_count, 1 );
    result = tr_app_result( d.app, &stage );
    check_v3( tr_world_pose( &result->worlds[0], frame ).positions[head], preview, 0.002 );
    key( &d, 'Z', TR_MOD_CTRL ); // one drag, one step
    settle( &d );
    assert_int_equal( tr_app_scene( d.app )->layer_count, 0 );
    end( &d );
}

static void escape_lets_a_cage_go( void **state )
{
    (void)state;
    desk d;
    double x, y, back_x, back_y;
    begin_relay( &d, 2 );
    key( &d, 'X', 0 );
    hold( &d, "p01.Head", 25, 10, &x, &y );
    assert_true( follows( &d, "p01.Head", x, y ) );
    key( &d, TR_KEY_ESCAPE, 0 );
    button( &d, TR_BUTTON_LEFT, false, x + 25, y + 10, 0 );
    for ( int i = 0; i < PATIENCE && !tr_app_settled( d.app ); ++i ) {
        frames( &d, 1 );
        usleep( 5000 );
    }
    assert_int_equal( tr_app_ops( d.app ), 0 );
    assert_true( tr_app_locate( d.app, "p01.Head", &back_x, &back_y ) );
    check_near( back_x, x, 1e-9 );
    check_near( back_y, y, 1e-9 );
    end( &d );
}
// A cage around p01, made by pulling its head sideways.
static void begin_cage( desk *d )
{
    begin_relay( d, 2 );
    key( d, 'X', 0 );
    double x, y;
    assert_true( tr_app_locate( d->app, "p01.Head", &x, &y ) );
    drag( d, TR_BUTTON_LEFT, x, y, x + 25, y + 5, 0 );
    rest( d );
    assert_int_equal( tr_app_scene( d->app )->layer_count, 1 );
    assert_string_equal( ui_of( d )->cage.layer, "cage1" );
}

static const tr_handle *handle_of( const desk *d, const char *id )
{
    const tr_scene *scene = tr_app_scene( d->app );
    for ( int i = 0; i < scene->handle_count; ++i )
        if ( strcmp( scene->handles[i].id, id ) == 0 )
            return &scene->handles[i];
    return NULL;
}

static void point_at( desk *d, const char *spot )
{
    tr_area a = area_of( d, spot );
    move_to( d, a.x + 0.5 * a.width, a.y + 0.5 * a.height );
}

static void drag_spot( desk *d, const char *spot, double dx, double dy, unsigned modifiers )
{
    tr_area a = area_of( d, spot );
    double x = a.x + 0.5 * a.width, y = a.y + 0.5 * a.height;
    drag( d, TR_BUTTON_LEFT, x, y, x + dx, y + dy, modifiers );
    rest( d );
}

static void parts_of_a_cage_are_seen_and_pulled( void **state )
{
    (void)state;
    desk d;
    begin_cage( &d );
    vec3 before = handle_of( &d, "grip1" )->move;
    point_at( &d, "handle.grip1" );
    assert_int_equal( ui_of( &d )->cage.hover.kind, TR_PART_HANDLE );
    assert_string_equal( ui_of( &d )->cage.hover.handle, "grip1" );
    drag_spot( &d, "handle.grip1", -15, 0, 0 ); // the same handle, farther on
    assert_int_equal( tr_app_ops( d.app ), 3 );
    assert_true( v3_distance( handle_of( &d, "grip1" )->move, before ) > 0.01 );
    key( &d, 'Z', TR_MOD_CTRL );
    rest( &d );
    check_v3( handle_of( &d, "grip1" )->move, before, 0 );
    drag_spot( &d, "corner.2", 10, 10, 0 ); // a corner gets a handle of its own, at the section's frame
    const tr_handle *corner = handle_of( &d, "grip2" );
    assert_non_null( corner );
    assert_true( corner->vertex >= 0 && corner->point.who[0] == 0 );
    assert_int_equal( corner->frame, ui_of( &d )->frame );
    key( &d, 'Z', TR_MOD_CTRL );
    rest( &d );
    assert_null( handle_of( &d, "grip2" ) );
    end( &d );
}

// Somewhere along its outline a section is not hidden behind a body.
static bool find_section( desk *d, double *x, double *y )
{
    tr_area v = ui_of( d )->viewport;
    for ( *y = v.y + 2; *y < v.y + v.height; *y += 7 )
        for ( *x = v.x + 2; *x < v.x + v.width; *x += 7 ) {
            move_to( d, *x, *y );
            if ( ui_of( d )->cage.hover.kind == TR_PART_SECTION )
                return true;
        }
    return false;
}

static void sections_move_turn_and_lead_to_their_time( void **state )
{
    (void)state;
    desk d;
    double x, y;
    begin_cage( &d );
    assert_true( find_section( &d, &x, &y ) );
    drag( &d, TR_BUTTON_LEFT, x, y, x + 20, y, 0 );
    rest( &d );
    const tr_handle *section = handle_of( &d, "grip2" );
    assert_non_null( section );
    assert_true( section->vertex < 0 && section->point.who[0] == 0 );
    assert_true( v3_length( section->move ) > 0.01 );
    vec3 turn = section->turn;
    int frame = section->frame;
    assert_true( find_section( &d, &x, &y ) );
    click( &d, x, y, 0 ); // goes to the time of what was clicked
    assert_int_equal( ui_of( &d )->frame, ui_of( &d )->cage.chosen.frame );
    assert_true( find_section( &d, &x, &y ) ); // at that time bodies stand elsewhere
    drag( &d, TR_BUTTON_LEFT, x, y, x + 40, y, TR_MOD_SHIFT );
    rest( &d );
    const tr_scene *scene = tr_app_scene( d.app );
    double most = 0;
    for ( int i = 0; i < scene->handle_count; ++i )
        most = fmax( most, fabs( scene->handles[i].turn.y - turn.y ) );
    assert_true( most > 1.0 ); // degrees
    assert_in_range( frame, 0, 60 );
    end( &d );
}

static void pins_hold_and_let_go( void **state )
{
    (void)state;
    desk d;
    double x, y;
    begin_cage( &d );
    point_at( &d, "handle.grip1" );
    key( &d, 'P', 0 ); // what was pulled is let go, and keeps its place in mind
    rest( &d );
    assert_false( handle_of( &d, "grip1" )->pinned );
    point_at( &d, "handle.grip1" );
    key( &d, 'P', 0 );
    rest( &d );
    assert_true( handle_of( &d, "grip1" )->pinned );
    assert_true( tr_app_locate( d.app, "p01.RightHand", &x, &y ) );
    move_to( &d, x, y );
    assert_string_equal( ui_of( &d )->hover.id, "p01" );
    const tr_stage *stage;
    const tr_result *result = tr_app_result( d.app, &stage );
    int joint = ui_of( &d )->hover.joint, frame = ui_of( &d )->frame;
    vec3 before = tr_world_pose( &result->worlds[0], frame ).positions[joint];
    key( &d, 'P', 0 ); // a joint is pinned where it is now
    rest( &d );
    assert_non_null( handle_of( &d, "grip2" ) );
    result = tr_app_result( d.app, &stage );
    check_v3( tr_world_pose( &result->worlds[0], frame ).positions[joint], before, 0.004 );
    assert_int_equal( tr_app_scene( d.app )->layer_count, 1 );
    key( &d, 'Z', TR_MOD_CTRL );
    rest( &d );
    assert_null( handle_of( &d, "grip2" ) );
    end( &d );
}

static void the_wheel_widens_a_cage( void **state )
{
    (void)state;
    desk d;
    begin_cage( &d );
    tr_layer before = tr_app_scene( d.app )->layers[0];
    int ops = tr_app_ops( d.app );
    tr_area v = ui_of( &d )->viewport;
    double distance = ui_of( &d )->orbit.distance;
    move_to( &d, v.x + 10, v.y + v.height - 10 );
    for ( int i = 0; i < 3; ++i ) {
        push( &d, ( tr_event ){ .kind = TR_EVENT_SCROLL, .y = -1, .modifiers = TR_MOD_CTRL } );
        frames( &d, 2 );
    }
    push( &d, ( tr_event ){ .kind = TR_EVENT_SCROLL, .y = 1, .modifiers = TR_MOD_CTRL | TR_MOD_SHIFT } );
    frames( &d, 2 );
    assert_int_equal( tr_app_ops( d.app ), ops ); // not before the hand rests
    tr_window_advance( d.window, 1.0 );
    rest( &d );
    const tr_layer *after = &tr_app_scene( d.app )->layers[0];
    assert_int_equal( tr_app_ops( d.app ), ops + 1 );
    assert_int_equal( after->first, before.first + 6 );
    assert_int_equal( after->last, before.last - 6 );
    check_near( after->padding, 1.15 * before.padding, 1e-3 );
    check_near( ui_of( &d )->orbit.distance, distance, 0 );
    push( &d, ( tr_event ){ .kind = TR_EVENT_SCROLL, .y = 1 } ); // alone it zooms
    frames( &d, 1 );
    assert_true( ui_of( &d )->orbit.distance < distance );
    end( &d );
}

static void the_wheel_widens_what_is_being_pulled( void **state )
{
    (void)state;
    desk d;
    double x, y;
    begin_relay( &d, 2 );
    key( &d, 'X', 0 );
    hold( &d, "p01.Head", 25, 5, &x, &y );
    assert_true( follows( &d, "p01.Head", x, y ) );
    push( &d, ( tr_event ){ .kind = TR_EVENT_SCROLL, .y = -4 } );
    frames( &d, 3 );
    assert_true( follows( &d, "p01.Head", x, y ) ); // it goes on
    button( &d, TR_BUTTON_LEFT, false, x + 25, y + 5, 0 );
    rest( &d );
    const tr_layer *layer = &tr_app_scene( d.app )->layers[0];
    assert_int_equal( layer->last - layer->first, 60 - 16 );
    assert_int_equal( tr_app_ops( d.app ), 2 );
    end( &d );
}

// A handle of another time is neither picked nor in the way of what is there now.
static void handles_are_picked_at_their_own_time( void **state )
{
    (void)state;
    desk d;
    begin_cage( &d );
    tr_area a = area_of( &d, "handle.grip1" );
    for ( int i = 0; i < 2; ++i )
        key( &d, TR_KEY_RIGHT, 0 );
    area_of( &d, "handle.grip1" ); // near enough
    key( &d, TR_KEY_RIGHT, 0 );
    assert_null( tr_ui_spot( ui_of( &d ), "handle.grip1" ) );
    move_to( &d, a.x + 6, a.y + 6 );
    assert_int_not_equal( ui_of( &d )->cage.hover.kind, TR_PART_HANDLE );
    end( &d );
}

// The pointer has moved on in the same frame in which the key comes: it counts where it is, not where it was.
static void a_pin_is_set_where_the_pointer_is( void **state )
{
    (void)state;
    desk d;
    double x, y;
    begin_relay( &d, 2 );
    key( &d, 'X', 0 );
    assert_true( tr_app_locate( d.app, "p02.Head", &x, &y ) );
    move_to( &d, x, y );
    assert_string_equal( ui_of( &d )->hover.id, "p02" );
    assert_true( tr_app_locate( d.app, "p01.Head", &x, &y ) );
    push( &d, ( tr_event ){ .kind = TR_EVENT_MOTION, .x = x, .y = y } );
    key( &d, 'P', 0 );
    rest( &d );
    assert_string_equal( handle_of( &d, "grip1" )->point.who, "p01" );
    end( &d );
}

// While what is shown is behind the document, a pin waits: where it holds follows from what is solved.
static void a_pin_waits_for_the_solver( void **state )
{
    (void)state;
    desk d;
    double x, y;
    begin_cage( &d );
    assert_true( tr_app_locate( d.app, "p01.LeftHand", &x, &y ) );
    move_to( &d, x, y );
    int frame = ui_of( &d )->frame;
    push( &d, ( tr_event ){ .kind = TR_EVENT_KEY, .key = 'Z', .down = true, .modifiers = TR_MOD_CTRL } );
    push( &d, ( tr_event ){ .kind = TR_EVENT_KEY, .key = 'P', .down = true } );
    push( &d, ( tr_event ){ .kind = TR_EVENT_KEY, .key = TR_KEY_RIGHT, .down = true } );
    frames( &d, 1 );
    rest( &d );
    assert_false( ui_of( &d )->cage.pin.asked );
    const tr_scene *scene = tr_app_scene( d.app );
    assert_int_equal( scene->handle_count, 1 ); // the cage was undone, this is a new one
    assert_int_equal( scene->handles[0].frame, frame );
    check_v3( scene->handles[0].move, v3_zero, 0 );
    end( &d );
}

// The hint says how far the next cage reaches, up to the whole clip.
static void the_reach_of_cages_is_told( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    key( &d, 'X', 0 );
    key( &d, ',', 0 );
    assert_string_equal( ui_of( &d )->message, "New cages reach 25 frames to either side" );
    for ( int i = 0; i < 20; ++i )
        key( &d, '.', 0 );
    assert_string_equal( ui_of( &d )->message, "New cages reach as far as the clip" );
    assert_int_equal( ui_of( &d )->cage.reach, ui_of( &d )->frame_count - 1 );
    for ( int i = 0; i < 40; ++i )
        key( &d, ',', 0 );
    assert_int_equal( ui_of( &d )->cage.reach, 1 );
    end( &d );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( a_cage_follows_the_mouse ),
        TEST( escape_lets_a_cage_go ),
        TEST( parts_of_a_cage_are_seen_and_pulled ),
        TEST( sections_move_turn_and_lead_to_their_time ),
        TEST( pins_hold_and_let_go ),
        TEST( the_wheel_widens_a_cage ),
        TEST( the_wheel_widens_what_is_being_pulled ),
        TEST( handles_are_picked_at_their_own_time ),
        TEST( a_pin_is_set_where_the_pointer_is ),
        TEST( a_pin_waits_for_the_solver ),
        TEST( the_reach_of_cages_is_told ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
