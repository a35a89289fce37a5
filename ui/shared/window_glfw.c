// A window on the user's screen. Callbacks only put events into the queue; the app takes them out.
#include "ui/shared/state.h"

#define GLFW_INCLUDE_NONE
#include <epoxy/gl.h>

#include <GLFW/glfw3.h>

#define LEAST_WIDTH  900 // points
#define LEAST_HEIGHT 560

static tr_window *window_of( GLFWwindow *handle )
{
    return glfwGetWindowUserPointer( handle );
}

// As the keyboard is now: what GLFW hands to callbacks is the state before a modifier's own change.
static unsigned modifiers_of( GLFWwindow *handle )
{
    static const struct {
        int key;
        unsigned modifier;
    } table[] = { { GLFW_KEY_LEFT_SHIFT, TR_MOD_SHIFT },  { GLFW_KEY_RIGHT_SHIFT, TR_MOD_SHIFT },
                  { GLFW_KEY_LEFT_CONTROL, TR_MOD_CTRL }, { GLFW_KEY_RIGHT_CONTROL, TR_MOD_CTRL },
                  { GLFW_KEY_LEFT_SUPER, TR_MOD_CTRL },   { GLFW_KEY_RIGHT_SUPER, TR_MOD_CTRL },
                  { GLFW_KEY_LEFT_ALT, TR_MOD_ALT },      { GLFW_KEY_RIGHT_ALT, TR_MOD_ALT } };
    unsigned down = 0;
    for ( size_t i = 0; i < sizeof table / sizeof table[0]; ++i )
        if ( glfwGetKey( handle, table[i].key ) == GLFW_PRESS )
            down |= table[i].modifier;
    return down;
}

// As it was when a button changed: with quick hands the keyboard's own events may come later.
static unsigned modifiers_at( int mods )
{
    return ( mods & GLFW_MOD_SHIFT ? TR_MOD_SHIFT : 0u ) |
           ( mods & ( GLFW_MOD_CONTROL | GLFW_MOD_SUPER ) ? TR_MOD_CTRL : 0u ) |
           ( mods & GLFW_MOD_ALT ? TR_MOD_ALT : 0u );
}

// GLFW counts in screen coordinates, which are pixels on X11 and points elsewhere.
static void to_points( GLFWwindow *handle, double *x, double *y )
{
    tr_window *window = window_of( handle );
    int width, height;
    glfwGetWindowSize( handle, &width, &height );
    *x *= width > 0 ? (double)window->width / width : 1.0;
    *y *= height > 0 ? (double)window->height / height : 1.0;
}

static void on_motion( GLFWwindow *handle, double x, double y )
{
    tr_window *window = window_of( handle );
    to_points( handle, &x, &y );
    window->pointer_x = x;
    window->pointer_y = y;
    tr_window_push( window, &( tr_event ){ .kind = TR_EVENT_MOTION, .x = x, .y = y } );
}

static void on_button( GLFWwindow *handle, int button, int action, int mods )
{
    static const int names[] = { [GLFW_MOUSE_BUTTON_LEFT] = TR_BUTTON_LEFT,
                                 [GLFW_MOUSE_BUTTON_RIGHT] = TR_BUTTON_RIGHT,
                                 [GLFW_MOUSE_BUTTON_MIDDLE] = TR_BUTTON_MIDDLE };
    if ( button > GLFW_MOUSE_BUTTON_MIDDLE )
        return;
    tr_event event = { .kind = TR_EVENT_BUTTON,
                       .button = names[button],
                       .down = action == GLFW_PRESS,
                       .modifiers = modifiers_at( mods ) };
    // The place of the last motion event; the pointer itself may be farther by now.
    event.x = window_of( handle )->pointer_x;
    event.y = window_of( handle )->pointer_y;
    tr_window_push( window_of( handle ), &event );
}

static void on_scroll( GLFWwindow *handle, double x, double y )
{
    tr_event event = { .kind = TR_EVENT_SCROLL, .x = x, .y = y, .modifiers = modifiers_of( handle ) };
    tr_window_push( window_of( handle ), &event );
}

static int key_of( int key )
{
    static const struct {
        int from, to;
    } table[] = { { GLFW_KEY_ESCAPE, TR_KEY_ESCAPE },
                  { GLFW_KEY_ENTER, TR_KEY_ENTER },
                  { GLFW_KEY_KP_ENTER, TR_KEY_ENTER },
                  { GLFW_KEY_TAB, TR_KEY_TAB },
                  { GLFW_KEY_BACKSPACE, TR_KEY_BACKSPACE },
                  { GLFW_KEY_DELETE, TR_KEY_DELETE },
                  { GLFW_KEY_LEFT, TR_KEY_LEFT },
                  { GLFW_KEY_RIGHT, TR_KEY_RIGHT },
                  { GLFW_KEY_UP, TR_KEY_UP },
                  { GLFW_KEY_DOWN, TR_KEY_DOWN },
                  { GLFW_KEY_HOME, TR_KEY_HOME },
                  { GLFW_KEY_END, TR_KEY_END },
                  { GLFW_KEY_PAGE_UP, TR_KEY_PAGE_UP },
                  { GLFW_KEY_PAGE_DOWN, TR_KEY_PAGE_DOWN },
                  { GLFW_KEY_KP_DECIMAL, TR_KEY_PAD_POINT } };
    if ( key >= GLFW_KEY_SPACE && key <= GLFW_KEY_GRAVE_ACCENT )
        return key;
    if ( key >= GLFW_KEY_F1 && key <= GLFW_KEY_F12 )
        return TR_KEY_F1 + key - GLFW_KEY_F1;
    if ( key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_9 )
        return TR_KEY_PAD_0 + key - GLFW_KEY_KP_0;
    for ( size_t i = 0; i < sizeof table / sizeof table[0]; ++i )
        if ( table[i].from == key )
            return table[i].to;
    return 0;
}

// Letters by what stands on the key, so that Ctrl+Z is where the layout has its Z.
static int key_by_name( int key, int scancode )
{
    const char *name = key >= GLFW_KEY_SPACE && key <= GLFW_KEY_GRAVE_ACCENT
                           ? glfwGetKeyName( GLFW_KEY_UNKNOWN, scancode )
                           : NULL;
    if ( name != NULL && name[1] == 0 && name[0] >= 'a' && name[0] <= 'z' )
        return name[0] - 'a' + 'A';
    return key_of( key );
}

static void on_key( GLFWwindow *handle, int key, int scancode, int action, int mods )
{
    tr_event event = { .kind = TR_EVENT_KEY,
                       .key = key_by_name( key, scancode ),
                       .down = action != GLFW_RELEASE,
                       .modifiers = modifiers_of( handle ) };
    (void)mods;
    tr_window_push( window_of( handle ), &event ); // also without a key of ours: modifiers may have changed
}

static void on_text( GLFWwindow *handle, unsigned text )
{
    tr_window_push( window_of( handle ), &( tr_event ){ .kind = TR_EVENT_TEXT, .text = text } );
}

static void on_drop( GLFWwindow *handle, int count, const char **paths )
{
    for ( int i = 0; i < count; ++i ) {
        tr_event event = { .kind = TR_EVENT_DROP, .path = tr_string_copy( paths[i] ) };
        tr_window_push( window_of( handle ), &event );
    }
}

static void on_close( GLFWwindow *handle )
{
    glfwSetWindowShouldClose( handle, GLFW_FALSE ); // the app decides
    tr_window_push( window_of( handle ), &( tr_event ){ .kind = TR_EVENT_CLOSE } );
}

static void measure( tr_window *window )
{
    GLFWwindow *handle = window->own;
    float x = 1.0f, y = 1.0f;
    glfwGetFramebufferSize( handle, &window->pixel_width, &window->pixel_height );
    glfwGetWindowContentScale( handle, &x, &y );
    window->scale = window->asked_scale > 0 ? window->asked_scale : x >= 1.0f ? x : 1.0;
    window->width = tr_pixels( window->pixel_width / window->scale );
    window->height = tr_pixels( window->pixel_height / window->scale );
}

// No smaller than panels can bear, in the units of the window system, which are points or pixels.
static void limit_size( tr_window *window )
{
    int width = 0, height = 0;
    glfwGetWindowSize( window->own, &width, &height );
    double unit = window->width > 0 ? (double)width / window->width : 1.0;
    window->limited_scale = window->scale;
    glfwSetWindowSizeLimits( window->own, tr_pixels( LEAST_WIDTH * unit ), tr_pixels( LEAST_HEIGHT * unit ),
                             GLFW_DONT_CARE, GLFW_DONT_CARE );
}

static void poll_events( tr_window *window, double seconds )
{
    if ( seconds > 0.0 && window->queue.count == 0 )
        glfwWaitEventsTimeout( seconds );
    else
        glfwPollEvents();
    measure( window );
    if ( window->scale != window->limited_scale )
        limit_size( window );
}

static void present( tr_window *window )
{
    glfwSwapBuffers( window->own );
}

static void set_title( tr_window *window, const char *title )
{
    glfwSetWindowTitle( window->own, title );
}

static void copy( tr_window *window, const char *text )
{
    glfwSetClipboardString( window->own, text );
}

static const char *paste( tr_window *window )
{
    return glfwGetClipboardString( window->own );
}

static double now( tr_window *window )
{
    (void)window;
    return 1e-3 * tr_clock_ms();
}

static void destroy( tr_window *window )
{
    if ( window->own != NULL )
        glfwDestroyWindow( window->own );
    glfwTerminate();
}

// No larger than what is free of the monitor. Sizes asked for grow by the monitor's scale when the window
// opens, unless a scale is asked for.
static void fit_to_monitor( const tr_window *window, int *width, int *height )
{
    GLFWmonitor *monitor = glfwGetPrimaryMonitor();
    int x, y, free_width = 0, free_height = 0;
    float scale_x = 1, scale_y = 1;
    if ( window->asked_scale > 0 ) {
        *width = tr_pixels( *width * window->asked_scale );
        *height = tr_pixels( *height * window->asked_scale );
    }
    if ( monitor == NULL )
        return;
    glfwGetMonitorWorkarea( monitor, &x, &y, &free_width, &free_height );
    if ( window->asked_scale == 0 )
        glfwGetMonitorContentScale( monitor, &scale_x, &scale_y );
    if ( free_width > 0 && *width * scale_x > free_width )
        *width = tr_pixels( free_width / scale_x );
    if ( free_height > 0 && *height * scale_y > free_height )
        *height = tr_pixels( free_height / scale_y );
}

static bool open_window( tr_window *window, const char *title, int width, int height, tr_error *error )
{
    if ( !glfwInit() )
        return tr_error_set( error,
                             "there is no display to open a window on; 'troupe render' draws without one" );
    glfwWindowHint( GLFW_CONTEXT_VERSION_MAJOR, 3 );
    glfwWindowHint( GLFW_CONTEXT_VERSION_MINOR, 3 );
    glfwWindowHint( GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE );
    glfwWindowHint( GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE );
    glfwWindowHint( GLFW_SCALE_TO_MONITOR, window->asked_scale > 0 ? GLFW_FALSE : GLFW_TRUE );
    glfwWindowHint( GLFW_SAMPLES, 0 ); // the viewport smooths its own edges
    fit_to_monitor( window, &width, &height );
    window->own = glfwCreateWindow( width, height, title, NULL, NULL );
    if ( window->own == NULL )
        return tr_error_set( error, "no window with OpenGL 3.3 could be opened here; is the graphics driver "
                                    "installed (libgl1-mesa-dri)?" );
    GLFWwindow *handle = window->own;
    glfwMakeContextCurrent( handle );
    glfwSwapInterval( 1 );
    glfwSetWindowUserPointer( handle, window );
    glfwSetCursorPosCallback( handle, on_motion );
    glfwSetMouseButtonCallback( handle, on_button );
    glfwSetScrollCallback( handle, on_scroll );
    glfwSetKeyCallback( handle, on_key );
    glfwSetCharCallback( handle, on_text );
    glfwSetDropCallback( handle, on_drop );
    glfwSetWindowCloseCallback( handle, on_close );
    measure( window );
    return true;
}

tr_window *tr_window_open( const char *title, int width, int height, double scale, tr_error *error )
{
    tr_window *window = tr_alloc( 1, sizeof *window );
    if ( window == NULL ) {
        tr_error_memory( error );
        return NULL;
    }
    window->has_gl = true;
    window->asked_scale = scale;
    window->now = now;
    window->poll = poll_events;
    window->present = present;
    window->set_title = set_title;
    window->copy = copy;
    window->paste = paste;
    window->destroy = destroy;
    if ( open_window( window, title, width, height, error ) )
        return window;
    tr_window_close( window );
    return NULL;
}
