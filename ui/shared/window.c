// The queue of events, and a pretended window for tests.
#include "ui/shared/state.h"

#include <epoxy/gl.h>

void tr_window_push( tr_window *window, const tr_event *event )
{
    tr_event_queue *queue = &window->queue;
    if ( tr_array_reserve( (void **)&queue->items, &queue->capacity, queue->count + 1, sizeof *event ) )
        queue->items[queue->count++] = *event;
    else {
        tr_free( event->path );
        return;
    }
    queue->items[queue->count - 1].ms = tr_clock_ms();
}

void tr_window_close( tr_window *window )
{
    if ( window == NULL )
        return;
    window->destroy( window );
    for ( int i = 0; i < window->queue.count; ++i )
        tr_free( window->queue.items[i].path );
    tr_free( window->queue.items );
    tr_free( window );
}

// ---------------------------------------------------------------------------------------------- pretended

typedef struct likeness {
    double seconds;
    tr_headless *headless;
    GLuint framebuffer, colour;
    char *clipboard;
} likeness;

static double likeness_now( tr_window *window )
{
    return ( (likeness *)window->own )->seconds;
}

static void likeness_poll( tr_window *window, double seconds )
{
    (void)window;
    (void)seconds;
}

static void likeness_present( tr_window *window )
{
    if ( window->has_gl )
        glFinish();
}

static void likeness_title( tr_window *window, const char *title )
{
    (void)window;
    (void)title;
}

static void likeness_copy( tr_window *window, const char *text )
{
    likeness *own = window->own;
    tr_free( own->clipboard );
    own->clipboard = tr_string_copy( text );
}

static const char *likeness_paste( tr_window *window )
{
    return ( (likeness *)window->own )->clipboard;
}

static void likeness_destroy( tr_window *window )
{
    likeness *own = window->own;
    if ( own != NULL && own->headless != NULL ) {
        glDeleteFramebuffers( 1, &own->framebuffer );
        glDeleteRenderbuffers( 1, &own->colour );
        tr_headless_destroy( own->headless );
    }
    if ( own != NULL )
        tr_free( own->clipboard );
    tr_free( own );
}

static bool likeness_canvas( tr_window *window, tr_error *error )
{
    likeness *own = window->own;
    own->headless = tr_headless_create( error );
    if ( own->headless == NULL )
        return false;
    glGenFramebuffers( 1, &own->framebuffer );
    glGenRenderbuffers( 1, &own->colour );
    glBindRenderbuffer( GL_RENDERBUFFER, own->colour );
    glRenderbufferStorage( GL_RENDERBUFFER, GL_RGBA8, window->pixel_width, window->pixel_height );
    glBindFramebuffer( GL_FRAMEBUFFER, own->framebuffer );
    glFramebufferRenderbuffer( GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, own->colour );
    window->target = own->framebuffer;
    window->has_gl = true;
    return glCheckFramebufferStatus( GL_FRAMEBUFFER ) == GL_FRAMEBUFFER_COMPLETE ||
           tr_error_set( error, "the graphics driver cannot make a picture of %d x %d pixels",
                         window->pixel_width, window->pixel_height );
}

tr_window *tr_window_pretend( int width, int height, double scale, bool pictures, tr_error *error )
{
    tr_window *window = tr_alloc( 1, sizeof *window );
    likeness *own = tr_alloc( 1, sizeof *own );
    if ( window == NULL || own == NULL ) {
        tr_free( window );
        tr_free( own );
        tr_error_memory( error );
        return NULL;
    }
    *window = ( tr_window ){ .width = width,
                             .height = height,
                             .pixel_width = tr_pixels( width * scale ),
                             .pixel_height = tr_pixels( height * scale ),
                             .scale = scale,
                             .now = likeness_now,
                             .poll = likeness_poll,
                             .present = likeness_present,
                             .set_title = likeness_title,
                             .copy = likeness_copy,
                             .paste = likeness_paste,
                             .destroy = likeness_destroy,
                             .own = own };
    if ( !pictures || likeness_canvas( window, error ) )
        return window;
    tr_window_close( window );
    return NULL;
}

void tr_window_advance( tr_window *window, double seconds )
{
    ( (likeness *)window->own )->seconds += seconds;
}

bool tr_window_picture( tr_window *window, unsigned char *rgb )
{
    if ( !window->has_gl )
        return false;
    size_t row = 3 * (size_t)window->pixel_width;
    glBindFramebuffer( GL_FRAMEBUFFER, window->target );
    glPixelStorei( GL_PACK_ALIGNMENT, 1 );
    for ( int y = 0; y < window->pixel_height; ++y ) // OpenGL's first row is the bottom
        glReadPixels( 0, window->pixel_height - 1 - y, window->pixel_width, 1, GL_RGB, GL_UNSIGNED_BYTE,
                      rgb + row * (size_t)y );
    return glGetError() == GL_NO_ERROR;
}
