// How the editor looks: colours, sizes, and Nuklear dressed in them.
#ifndef TROUPE_UI_THEME_H
#define TROUPE_UI_THEME_H

#include "ui/shared/paint.h"

typedef struct tr_theme {
    struct nk_color ground; // behind everything
    struct nk_color panel;  // panels
    struct nk_color raised; // headers, buttons
    struct nk_color hover;  // the same under the pointer
    struct nk_color pressed;
    struct nk_color well; // fields, tracks of sliders
    struct nk_color edge; // lines between things
    struct nk_color text, dim, faint;
    struct nk_color accent; // selection, current time
    struct nk_color accent_dark;
    struct nk_color contact, prop, good, warn, bad, cool;
} tr_theme;

extern const tr_theme tr_theme_dark;

enum { // points
    TR_BAR_HEIGHT = 42,
    TR_STATUS_HEIGHT = 26,
    TR_LEFT_WIDTH = 272,
    TR_RIGHT_WIDTH = 312,
    TR_TIMELINE_HEIGHT = 256,
    TR_ROW = 26,
    TR_PAD = 8
};

void tr_theme_apply( struct nk_context *nk );

#endif
