// Input scripts: what they do, and what they say when they cannot.
#include "desk.h"

static bool play( desk *d, const char *script )
{
    char path[128];
    tr_app_def def = tr_default_app_def();
    snprintf( path, sizeof path, "%s/script.hands", d->folder );
    check_ok( tr_file_write( path, script, strlen( script ), &d->error ), &d->error );
    d->error = ( tr_error ){ 0 };
    def.window = tr_window_pretend( WIDTH, HEIGHT, 1.0, true, &d->error );
    assert_non_null( def.window );
    def.open = "high_five";
    def.state_dir = d->folder;
    return tr_input_script_play( path, &def, &d->error );
}

static void hands_leave_pictures( void **state )
{
    (void)state;
    desk d = { 0 };
    char path[128];
    make_folder( &d );
    check_ok(
        play( &d,
              "# two people\nframe 20\n  key A\nkey X\ndrag p01.Head 20 -20\nkey Ctrl+Z\norbit 40 0\nzoom 2\n"
              "click tab.Report\n\npicture seen.png" ),
        &d.error );
    snprintf( path, sizeof path, "%s/seen.png", d.folder );
    int width, height;
    unsigned char *rgb;
    check_ok( tr_picture_load( path, &width, &height, &rgb, &d.error ), &d.error );
    assert_int_equal( width, WIDTH );
    assert_int_equal( height, HEIGHT );
    tr_free( rgb );
    remove_folder( d.folder );
}

static void what_hands_cannot_do_is_told( void **state )
{
    (void)state;
    static const struct {
        const char *script, *says;
        int line;
    } cases[] = { { "frame 3\ndance wildly\n", "dance wildly", 2 },
                  { "click nobody", "nobody", 1 },
                  { "key Banana", "Banana", 1 },
                  { "\n\ndrag p01.Head", "p01.Head", 3 } };
    for ( size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i ) {
        desk d = { 0 };
        make_folder( &d );
        assert_false( play( &d, cases[i].script ) );
        assert_non_null( strstr( d.error.message, cases[i].says ) );
        assert_int_equal( d.error.line, cases[i].line );
        remove_folder( d.folder );
    }
}

int main( void )
{
    const struct CMUnitTest tests[] = { TEST( hands_leave_pictures ), TEST( what_hands_cannot_do_is_told ) };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
