// Panels onto the screen: fonts, and what Nuklear asks to be drawn, with OpenGL 3.3.
#ifndef TROUPE_UI_PAINT_H
#define TROUPE_UI_PAINT_H

#include "ui/shared/nk.h"
#include "ui/shared/state.h"

typedef struct tr_fonts {
    struct nk_font_atlas atlas;
    struct nk_font *text, *strong, *small;
    struct nk_draw_null_texture null;
    char *files[2]; // bytes of the regular and the bold type, NULL = the built-in one
} tr_fonts;

typedef struct tr_paint { // the paint of one window
    struct nk_allocator allocator;
    struct nk_buffer commands, vertices, elements;
    tr_fonts fonts;
    unsigned program, vertex_array, vertex_buffer, element_buffer, font_texture;
    bool has_gl;
    double scale; // fonts are baked for
} tr_paint;

// With `has_gl` a context must be current. Fonts are baked for `scale` pixels per point.
bool tr_paint_create( tr_paint *paint, struct nk_context *nk, bool has_gl, double scale, tr_error *error );
void tr_paint_destroy( tr_paint *paint );
// Bakes the fonts again if the scale changed, as when the window moves to a finer screen. True when they
// changed: Nuklear must be given the new ones. Call between two frames only.
bool tr_paint_rescale( tr_paint *paint, double scale );
// Draws everything of this frame over what is in the window's framebuffer already, and forgets it.
void tr_paint_flush( tr_paint *paint, struct nk_context *nk, const tr_window *window );
// A picture panels can show; 0 without OpenGL.
unsigned tr_paint_picture( const tr_paint *paint, int width, int height, const unsigned char *rgb );
void tr_paint_picture_free( unsigned picture );

#endif
