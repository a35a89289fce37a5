// An OpenGL context that needs neither a window nor a display server: EGL on Mesa's surfaceless platform,
// hardware or software alike. Everything is drawn into framebuffer objects.
#include "ui/render/render.h"

#include <epoxy/egl.h>

struct tr_headless {
    EGLDisplay display;
    EGLContext context;
};

static EGLContext create_context( EGLDisplay display )
{
    const EGLint attributes[] = { EGL_CONTEXT_MAJOR_VERSION,
                                  3,
                                  EGL_CONTEXT_MINOR_VERSION,
                                  3,
                                  EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                  EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                  EGL_NONE };
    const EGLint wanted[] = { EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT,
                              EGL_NONE };
    EGLConfig config;
    EGLint count = 0;
    if ( !eglChooseConfig( display, wanted, &config, 1, &count ) || count == 0 )
        return EGL_NO_CONTEXT;
    return eglCreateContext( display, config, EGL_NO_CONTEXT, attributes );
}

static bool start( tr_headless *headless, tr_error *error )
{
    EGLint major, minor;
    if ( !epoxy_has_egl_extension( EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless" ) )
        return tr_error_set( error, "pictures without a display need Mesa's EGL: install libegl1 and "
                                    "libgl1-mesa-dri" );
    headless->display = eglGetPlatformDisplayEXT( EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL );
    if ( headless->display == EGL_NO_DISPLAY || !eglInitialize( headless->display, &major, &minor ) )
        return tr_error_set( error, "EGL could not start: install libgl1-mesa-dri" );
    if ( !eglBindAPI( EGL_OPENGL_API ) )
        return tr_error_set( error, "EGL here offers no desktop OpenGL: install libgl1-mesa-dri" );
    headless->context = create_context( headless->display );
    if ( headless->context == EGL_NO_CONTEXT )
        return tr_error_set( error, "EGL here offers no OpenGL 3.3 core: install libgl1-mesa-dri" );
    if ( !eglMakeCurrent( headless->display, EGL_NO_SURFACE, EGL_NO_SURFACE, headless->context ) )
        return tr_error_set( error, "EGL could not make its context current without a surface" );
    return true;
}

tr_headless *tr_headless_create( tr_error *error )
{
    tr_headless *headless = tr_alloc( 1, sizeof *headless );
    if ( !headless ) {
        tr_error_memory( error );
        return NULL;
    }
    headless->display = EGL_NO_DISPLAY;
    headless->context = EGL_NO_CONTEXT;
    if ( !start( headless, error ) ) {
        tr_headless_destroy( headless );
        return NULL;
    }
    return headless;
}

void tr_headless_destroy( tr_headless *headless )
{
    if ( !headless )
        return;
    if ( headless->display != EGL_NO_DISPLAY ) {
        eglMakeCurrent( headless->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT );
        if ( headless->context != EGL_NO_CONTEXT )
            eglDestroyContext( headless->display, headless->context );
        eglTerminate( headless->display );
    }
    tr_free( headless );
}
