// Icons, drawn: they need no font and no files, and are sharp at any scale. Each is described in a square of
// 16 x 16 units, as a row of strokes.
#include "ui/shared/shared.h"

typedef struct stroke {
    char kind; // l line, t filled triangle, r filled rectangle, o circle, d filled circle, a arc, 0 end
    float v[6];
} stroke;

#define ICON_STROKES 8

static const stroke icons[TR_ICON_COUNT][ICON_STROKES] = {
    [TR_ICON_FIRST] = { { 'r', { 3, 3, 2, 10 } }, { 't', { 13, 3, 13, 13, 6, 8 } } },
    [TR_ICON_BACK] = { { 't', { 11, 3.5f, 11, 12.5f, 4, 8 } } },
    [TR_ICON_PLAY] = { { 't', { 4.5f, 2.5f, 13.5f, 8, 4.5f, 13.5f } } },
    [TR_ICON_PAUSE] = { { 'r', { 4, 3, 3, 10 } }, { 'r', { 9, 3, 3, 10 } } },
    [TR_ICON_FORWARD] = { { 't', { 5, 3.5f, 12, 8, 5, 12.5f } } },
    [TR_ICON_LAST] = { { 'r', { 11, 3, 2, 10 } }, { 't', { 3, 3, 10, 8, 3, 13 } } },
    [TR_ICON_LOOP] = { { 'a', { 8, 8, 5, 0.6f, 5.4f } }, { 't', { 13.6f, 3.2f, 13.4f, 7.6f, 9.6f, 5.4f } } },
    [TR_ICON_EYE] = { { 'l', { 1.5f, 8, 5, 4.6f } },
                      { 'l', { 5, 4.6f, 11, 4.6f } },
                      { 'l', { 11, 4.6f, 14.5f, 8 } },
                      { 'l', { 14.5f, 8, 11, 11.4f } },
                      { 'l', { 11, 11.4f, 5, 11.4f } },
                      { 'l', { 5, 11.4f, 1.5f, 8 } },
                      { 'd', { 8, 8, 2.2f } } },
    [TR_ICON_EYE_OFF] = { { 'l', { 1.5f, 8, 5, 11 } },
                          { 'l', { 5, 11, 11, 11 } },
                          { 'l', { 11, 11, 14.5f, 8 } } },
    [TR_ICON_LOCK] = { { 'r', { 3.5f, 7.5f, 9, 6.5f } }, { 'a', { 8, 7, 3, 3.1416f, 6.2832f } } },
    [TR_ICON_UNLOCK] = { { 'r', { 3.5f, 7.5f, 9, 6.5f } }, { 'a', { 11, 7, 3, 3.1416f, 6.2832f } } },
    [TR_ICON_SOLO] = { { 'o', { 8, 8, 5.5f } }, { 'd', { 8, 8, 2.4f } } },
    [TR_ICON_SELECT] = { { 't', { 4, 2, 4, 13, 12.2f, 9.6f } }, { 'l', { 7, 9, 10, 14 } } },
    [TR_ICON_MOVE] = { { 'l', { 8, 3, 8, 13 } },
                       { 'l', { 3, 8, 13, 8 } },
                       { 't', { 8, 0.8f, 10.2f, 3.8f, 5.8f, 3.8f } },
                       { 't', { 8, 15.2f, 5.8f, 12.2f, 10.2f, 12.2f } },
                       { 't', { 0.8f, 8, 3.8f, 5.8f, 3.8f, 10.2f } },
                       { 't', { 15.2f, 8, 12.2f, 10.2f, 12.2f, 5.8f } } },
    [TR_ICON_TURN] = { { 'a', { 8, 8.6f, 5, -0.9f, 4.4f } }, { 't', { 12.4f, 1.8f, 13.8f, 6.6f, 9, 5.4f } } },
    [TR_ICON_SIZE] = { { 'l', { 4, 12, 12, 4 } },
                       { 't', { 13.6f, 2.4f, 13.2f, 7, 9, 2.8f } },
                       { 'r', { 2.4f, 9.6f, 4, 4 } } },
    [TR_ICON_LINK] = { { 'o', { 4.4f, 8, 2.9f } },
                       { 'o', { 11.6f, 8, 2.9f } },
                       { 'l', { 5.4f, 8, 10.6f, 8 } } },
    [TR_ICON_CONTACT] = { { 'l', { 2, 13, 14, 13 } }, { 'd', { 8, 9.4f, 2.6f } }, { 'l', { 8, 2, 8, 7 } } },
    [TR_ICON_CAGE] = { { 'l', { 3, 5, 11, 5 } },
                       { 'l', { 11, 5, 11, 13.4f } },
                       { 'l', { 11, 13.4f, 3, 13.4f } },
                       { 'l', { 3, 13.4f, 3, 5 } },
                       { 'l', { 3, 5, 6, 2.4f } },
                       { 'l', { 6, 2.4f, 14, 2.4f } },
                       { 'l', { 11, 5, 14, 2.4f } },
                       { 'l', { 14, 2.4f, 14, 10.6f } } },
    [TR_ICON_FRAME] = { { 'l', { 2, 3, 14, 3 } },
                        { 'l', { 14, 3, 14, 13 } },
                        { 'l', { 14, 13, 2, 13 } },
                        { 'l', { 2, 13, 2, 3 } },
                        { 'd', { 5.6f, 8, 1.8f } },
                        { 'd', { 10.4f, 8, 1.8f } },
                        { 'l', { 5.6f, 8, 10.4f, 8 } } },
    [TR_ICON_POSE] = { { 'd', { 3, 13, 1.8f } },
                       { 'l', { 3, 13, 6, 7 } },
                       { 'd', { 6, 7, 1.8f } },
                       { 'l', { 6, 7, 13, 3 } },
                       { 'd', { 13, 3, 1.8f } } },
    [TR_ICON_UNDO] = { { 'a', { 8, 9, 4.6f, 3.4f, 6.9f } }, { 't', { 0.8f, 8.6f, 6, 8.6f, 3, 4 } } },
    [TR_ICON_REDO] = { { 'a', { 8, 9, 4.6f, 2.6f, 6.1f } }, { 't', { 10, 8.6f, 15.2f, 8.6f, 13, 4 } } },
    [TR_ICON_CROSS] = { { 'l', { 4, 4, 12, 12 } }, { 'l', { 12, 4, 4, 12 } } },
    [TR_ICON_PLUS] = { { 'l', { 8, 3, 8, 13 } }, { 'l', { 3, 8, 13, 8 } } },
    [TR_ICON_FOLDER] = { { 'r', { 1.5f, 5, 13, 8.5f } }, { 'r', { 1.5f, 3, 5.5f, 3 } } },
    [TR_ICON_FILE] = { { 'l', { 4, 2, 10, 2 } },
                       { 'l', { 10, 2, 12.4f, 4.6f } },
                       { 'l', { 12.4f, 4.6f, 12.4f, 14 } },
                       { 'l', { 12.4f, 14, 4, 14 } },
                       { 'l', { 4, 14, 4, 2 } } },
};

void tr_icon_draw( struct nk_command_buffer *canvas, tr_icon icon, struct nk_rect area,
                   struct nk_color colour )
{
    float unit = ( area.w < area.h ? area.w : area.h ) / 16.0f, width = 1.5f * unit;
    float x = area.x + 0.5f * ( area.w - 16 * unit ), y = area.y + 0.5f * ( area.h - 16 * unit );
    for ( const stroke *s = icons[icon]; s < icons[icon] + ICON_STROKES && s->kind != 0; ++s ) {
        const float *v = s->v;
#define X( i ) ( x + unit * v[i] )
#define Y( i ) ( y + unit * v[i] )
        float r = unit * v[2];
        switch ( s->kind ) {
        case 'l': nk_stroke_line( canvas, X( 0 ), Y( 1 ), X( 2 ), Y( 3 ), width, colour ); break;
        case 't': nk_fill_triangle( canvas, X( 0 ), Y( 1 ), X( 2 ), Y( 3 ), X( 4 ), Y( 5 ), colour ); break;
        case 'r':
            nk_fill_rect( canvas, nk_rect( X( 0 ), Y( 1 ), unit * v[2], unit * v[3] ), unit, colour );
            break;
        case 'o':
            nk_stroke_circle( canvas, nk_rect( X( 0 ) - r, Y( 1 ) - r, 2 * r, 2 * r ), width, colour );
            break;
        case 'd': nk_fill_circle( canvas, nk_rect( X( 0 ) - r, Y( 1 ) - r, 2 * r, 2 * r ), colour ); break;
        case 'a': { // an arc without its two radii, as a row of short lines
            const int pieces = 14;
            for ( int i = 0; i < pieces; ++i ) {
                double a = v[3] + ( v[4] - v[3] ) * i / pieces,
                       b = v[3] + ( v[4] - v[3] ) * ( i + 1 ) / pieces;
                nk_stroke_line( canvas, X( 0 ) + r * (float)cos( a ), Y( 1 ) + r * (float)sin( a ),
                                X( 0 ) + r * (float)cos( b ), Y( 1 ) + r * (float)sin( b ), width, colour );
            }
            break;
        }
        default: break;
        }
#undef X
#undef Y
    }
}
