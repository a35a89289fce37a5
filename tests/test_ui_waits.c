// How long users of the editor wait: what it says about it, and that they never wait for what could come
// later.
#include "bench/bench.h"
#include "desk.h"

#include <stdlib.h>

static void open_relay_behind( desk *d, int cast )
{
    char path[256];
    *d = ( desk ){ 0 };
    make_folder( d );
    write_relay( d, cast, path );
    open_behind( d, path, 0 );
}

static void a_drag_and_its_end_are_timed( void **state )
{
    (void)state;
    desk d;
    double x, y;
    open_relay_behind( &d, 3 );
    assert_int_equal( ui_of( &d )->settles, 0 );
    key( &d, 'X', 0 );
    hold( &d, "p02.LeftHand", 30, -40, &x, &y );
    assert_true( follows( &d, "p02.LeftHand", x, y ) );
    assert_true( ui_of( &d )->drag_moves > 0 );
    assert_true( ui_of( &d )->drag_ms > 0 && ui_of( &d )->drag_p95_ms > 0 );
    button( &d, TR_BUTTON_LEFT, false, x + 30, y - 40, 0 );
    rest( &d );
    assert_int_equal( ui_of( &d )->settles, 1 );
    assert_true( ui_of( &d )->settle_ms > 0 );
    key( &d, 'Z', TR_MOD_CTRL );
    rest( &d );
    assert_int_equal( ui_of( &d )->settles, 2 );
    end( &d );
}

// A hand that never rests: every frame brings another move, and poses come all the same.
static void poses_come_while_the_mouse_keeps_moving( void **state )
{
    (void)state;
    desk d;
    double x, y;
    open_relay_behind( &d, 3 );
    key( &d, 'X', 0 );
    hold( &d, "p02.LeftHand", 10, -10, &x, &y );
    int i = 0;
    for ( ; i < 20000 && ui_of( &d )->drag_moves < 5; ++i )
        move_to( &d, x + 10 + i % 40, y - 10 - i % 30 );
    assert_true( ui_of( &d )->drag_moves >= 5 );
    button( &d, TR_BUTTON_LEFT, false, x + 30, y - 40, 0 );
    rest( &d );
    end( &d );
}

// A video is being made, which takes a while: bodies follow the mouse nevertheless, and what is let go
// settles.
static void exports_keep_nobody_waiting( void **state )
{
    (void)state;
    desk d;
    double x, y;
    char path[128];
    open_relay_behind( &d, 2 );
    key( &d, 'F', TR_MOD_CTRL ); // nothing else has the keyboard
    key( &d, TR_KEY_ESCAPE, 0 );
    press( &d, "File" );
    press( &d, "menu.Export video…" );
    key( &d, 'A', TR_MOD_CTRL );
    snprintf( path, sizeof path, "%s/all.gif", d.folder );
    type( &d, path );
    key( &d, TR_KEY_ENTER, 0 );
    for ( int i = 0; i < PATIENCE && strcmp( ui_of( &d )->task, "Drawing" ) != 0; ++i ) {
        frames( &d, 1 );
        usleep( 1000 );
    }
    key( &d, 'X', 0 );
    hold( &d, "p01.Head", 25, 10, &x, &y );
    assert_true( follows( &d, "p01.Head", x, y ) );
    assert_string_equal( ui_of( &d )->task, "Drawing" );
    unsigned settles = ui_of( &d )->settles;
    button( &d, TR_BUTTON_LEFT, false, x + 25, y + 10, 0 );
    for ( int i = 0; i < PATIENCE && ui_of( &d )->settles == settles; ++i ) {
        frames( &d, 1 );
        usleep( 1000 );
    }
    assert_int_equal( ui_of( &d )->settles, settles + 1 );
    assert_string_equal( ui_of( &d )->task, "Drawing" );
    press( &d, "cancel" );
    rest( &d );
    assert_false( tr_file_exists( path ) );
    end( &d );
}

static void the_benchmark_runs_the_editor( void **state )
{
    (void)state;
    tr_bench_report report;
    tr_error error;
    tr_log log = { 0 };
    tr_bench_def def = tr_default_bench_def();
    def.quick = true;
    static const char *const names[] = { "ui/drag/19", "ui/settle/19" };
    for ( int i = 0; i < 2; ++i ) {
        def.only = names[i];
        check_ok( tr_bench_run_ui( &report, &def, &log, &error ), &error );
        assert_int_equal( report.count, 1 );
        const tr_bench_row *row = &report.rows[0];
        assert_string_equal( row->name, names[i] );
        assert_string_equal( row->fields[0].name, "p50_ms" );
        assert_string_equal( row->fields[1].name, "p95_ms" );
        assert_string_equal( row->fields[2].name, "max_ms" );
        assert_true( row->fields[0].value > 0 && row->fields[0].value <= row->fields[1].value &&
                     row->fields[1].value <= row->fields[2].value );
        tr_bench_report_free( &report );
    }
    tr_log_free( &log );
}

// There is nowhere to keep files after the first scene has been measured, until after the second.
static void hide_folders( void *context, int done, int total )
{
    (void)context, (void)total;
    if ( done == 1 )
        setenv( "TMPDIR", "/nowhere", 1 );
    else
        unsetenv( "TMPDIR" );
}

static void a_row_that_fails_leaves_the_others( void **state )
{
    (void)state;
    tr_bench_report report;
    tr_error error = { 0 };
    tr_log log = { 0 };
    tr_bench_def def = tr_default_bench_def();
    def.quick = true;
    def.only = "ui/settle/";
    def.progress = hide_folders;
    assert_false( tr_bench_run_ui( &report, &def, &log, &error ) );
    assert_string_equal( error.message, "1 of the editor's measurements failed" );
    assert_int_equal( report.count, 1 );
    assert_string_equal( report.rows[0].name, "ui/settle/19" );
    assert_int_equal( log.count, 1 );
    assert_string_equal( log.lines[0], "ui/settle/78 is left out: no folder can be made in /nowhere" );
    tr_bench_report_free( &report );
    tr_log_free( &log );
}

// Strips of a solve come before its links. Until these are there, those of the solve before may be shown, but
// only if they count the same members.
static void links_of_other_members_are_not_shown( void **state )
{
    (void)state;
    desk d;
    open_relay_behind( &d, 2 );
    assert_non_null( tr_app_links( d.app ) );
    int props = tr_app_scene( d.app )->prop_count, beyond = 0;
    click_thing( &d, "box01", 0 );
    key( &d, TR_KEY_DELETE, 0 );
    assert_int_equal( tr_app_scene( d.app )->prop_count, props - 1 );
    for ( int i = 0; i < PATIENCE && ( i < 3 || !tr_app_settled( d.app ) ); ++i ) {
        const tr_stage *stage;
        frames( &d, 1 );
        const tr_imesh_pairs *links = tr_app_result( d.app, &stage ) != NULL ? tr_app_links( d.app ) : NULL;
        for ( int k = 0; links != NULL && k < links->count; ++k )
            beyond +=
                links->items[k].b >= stage->actor_count + stage->prop_count + stage->scene->obstacle_count;
        usleep( 200 );
    }
    assert_int_equal( beyond, 0 );
    rest( &d );
    assert_non_null( tr_app_links( d.app ) );
    end( &d );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( a_drag_and_its_end_are_timed ),       TEST( poses_come_while_the_mouse_keeps_moving ),
        TEST( exports_keep_nobody_waiting ),        TEST( the_benchmark_runs_the_editor ),
        TEST( a_row_that_fails_leaves_the_others ), TEST( links_of_other_members_are_not_shown ) };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
