#include "bench/editor/input.h"
#include "scenes/scenes.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SCREEN_MS  ( 1000.0 / 60.0 )
#define LONGEST_MS 120e3 // for any wait

static void sleep_ms( double ms )
{
    struct timespec t = { tr_int_clamped( ms / 1e3, 0, INT_MAX ),
                          tr_int_clamped( 1e6 * fmod( ms, 1e3 ), 0, 999999999 ) };
    if ( ms > 0 )
        nanosleep( &t, NULL );
}

static void remove_folder( const char *folder )
{
    DIR *dir = opendir( folder );
    for ( struct dirent *entry; dir != NULL && ( entry = readdir( dir ) ) != NULL; ) {
        char path[512];
        if ( strcmp( entry->d_name, "." ) == 0 || strcmp( entry->d_name, ".." ) == 0 )
            continue;
        snprintf( path, sizeof path, "%s/%s", folder, entry->d_name );
        if ( unlink( path ) != 0 )
            remove_folder( path );
    }
    if ( dir != NULL )
        closedir( dir );
    rmdir( folder );
}

static bool is_in_time( double start, tr_error *error )
{
    return tr_clock_ms() - start < LONGEST_MS || tr_error_set( error, "the editor does not come to rest" );
}

// Until the screen is ready for the next frame.
static void wait_for_screen( const hands *h )
{
    if ( h->paced )
        sleep_ms( h->next - tr_clock_ms() );
}

bool hands_frame( hands *h, tr_error *error )
{
    wait_for_screen( h );
    double now = tr_clock_ms();
    h->next = fmax( h->next + SCREEN_MS, now ); // a late frame delays those after it
    tr_window_advance( h->window, 1e-3 * ( now - h->last ) );
    h->last = now;
    if ( !tr_app_frame( h->app ) )
        return tr_error_set( error, "the editor has closed" );
    const tr_ui *ui = tr_app_ui( h->app );
    return !ui->message_bad || ui->message[0] == 0 || tr_error_set( error, "%s", ui->message );
}

// The relay as a file that asks for interaction meshes.
static bool write_relay( const char *path, int cast, tr_error *error )
{
    tr_opened relay;
    if ( !tr_open( &relay, "box_relay", cast, error ) )
        return false;
    relay.scene.imesh = true;
    bool ok = tr_scene_save_beside( &relay.scene, &relay.library, NULL, path, error );
    tr_opened_free( &relay );
    return ok;
}

static bool wait_open( hands *h, tr_error *error )
{
    double start = tr_clock_ms();
    while ( tr_app_ui( h->app )->solve_ms == 0 )
        if ( !hands_frame( h, error ) || !is_in_time( start, error ) )
            return false;
    return true;
}

bool hands_open( hands *h, int cast, bool imesh, bool pictures, tr_error *error )
{
    char path[300];
    tr_app_def def = tr_default_app_def();
    *h = ( hands ){ 0 };
    const char *place = getenv( "TMPDIR" );
    place = place != NULL ? place : "/tmp";
    int length = snprintf( h->folder, sizeof h->folder, "%s/troupe_bench_XXXXXX", place );
    if ( length >= (int)sizeof h->folder || mkdtemp( h->folder ) == NULL ) {
        h->folder[0] = 0;
        return tr_error_set( error, "no folder can be made in %s", place );
    }
    snprintf( path, sizeof path, "%s/relay.json", h->folder );
    if ( imesh && !write_relay( path, cast, error ) )
        return false;
    h->window = tr_window_pretend( 1280, 800, 1.0, pictures, error );
    if ( h->window == NULL )
        return false;
    def.window = h->window;
    def.open = imesh ? path : "box_relay";
    def.cast = imesh ? 0 : cast;
    def.state_dir = h->folder;
    def.wait = false;
    h->app = tr_app_create( &def, error );
    h->paced = !pictures;
    h->next = h->last = tr_clock_ms();
    return h->app != NULL && wait_open( h, error );
}

void hands_close( hands *h )
{
    tr_app_destroy( h->app );
    if ( h->folder[0] != 0 )
        remove_folder( h->folder );
    *h = ( hands ){ 0 };
}

bool hands_settle( hands *h, tr_error *error )
{
    const tr_ui *ui = tr_app_ui( h->app );
    unsigned settles = ui->settles;
    double start = tr_clock_ms();
    while ( ui->settles == settles )
        if ( !hands_frame( h, error ) || !is_in_time( start, error ) )
            return false;
    return true;
}

// A window delivers mouse events when it is polled, once per frame: the wait for poses begins then.
void hands_move( hands *h, double x, double y )
{
    wait_for_screen( h );
    tr_window_push( h->window, &( tr_event ){ .kind = TR_EVENT_MOTION, .x = x, .y = y } );
}

void hands_button( hands *h, int button, bool down, double x, double y )
{
    tr_window_push(
        h->window, &( tr_event ){ .kind = TR_EVENT_BUTTON, .button = button, .down = down, .x = x, .y = y } );
}

void hands_key( hands *h, int key, unsigned modifiers )
{
    for ( int down = 1; down >= 0; --down )
        tr_window_push(
            h->window,
            &( tr_event ){ .kind = TR_EVENT_KEY, .key = key, .down = down != 0, .modifiers = modifiers } );
}

// A click where a joint is may pick the bone that ends there or the one that begins.
static bool is_on( const tr_app *app, const char *name )
{
    const tr_stage *stage;
    const tr_item *hover = &tr_app_ui( app )->hover;
    const char *dot = strchr( name, '.' );
    size_t length = dot != NULL ? (size_t)( dot - name ) : strlen( name );
    if ( strncmp( hover->id, name, length ) != 0 || hover->id[length] != 0 ||
         tr_app_result( app, &stage ) == NULL )
        return false;
    int actor = tr_scene_find_cast( stage->scene, hover->id );
    if ( dot == NULL || actor < 0 || hover->joint < 0 )
        return dot == NULL;
    const tr_skeleton *skeleton = &stage->actors[actor].target;
    int joint = tr_skeleton_find( skeleton, dot + 1 );
    return joint >= 0 && ( hover->joint == joint || skeleton->joints[joint].parent == hover->joint ||
                           skeleton->joints[hover->joint].parent == joint );
}

bool hands_find( hands *h, const char *const *names, int count, double *x, double *y, tr_error *error )
{
    for ( int i = 0; i < count; ++i ) {
        if ( !tr_app_locate( h->app, names[i], x, y ) )
            continue;
        hands_move( h, *x, *y );
        if ( !hands_frame( h, error ) )
            return false;
        if ( is_on( h->app, names[i] ) )
            return true;
    }
    return tr_error_set( error, "%s and the like cannot be reached from here", names[0] );
}
