// A little person of capsules, for pictures that need no motion.
#ifndef TROUPE_TESTS_FIGURE_H
#define TROUPE_TESTS_FIGURE_H

#include "ui/render/render.h"

typedef struct figure {
    rigid place;   // feet
    double size;   // 1 = 1.75 m
    double reach;  // -1 … 1: arms at the side … stretched forward
    double stride; // half the distance between the feet along the walk, metres
    tr_colour colour;
} figure;

static void figure_limb( tr_draw_list *list, const figure *f, vec3 a, vec3 b, double ra, double rb,
                         tr_colour colour )
{
    tr_draw_cone_add( list, rigid_apply( f->place, v3_scale( f->size, a ) ),
                      rigid_apply( f->place, v3_scale( f->size, b ) ), f->size * ra, f->size * rb, colour );
}

static void figure_side( tr_draw_list *list, const figure *f, double side, tr_colour light, tr_colour dark )
{
    double swing = side * f->stride, lift = 0.5 * ( 1.0 + f->reach );
    vec3 hip = v3( 0.09 * side, 0.90, 0 ), knee = v3( 0.10 * side, 0.49, 0.06 + 0.5 * swing ),
         ankle = v3( 0.10 * side, 0.09, swing - 0.03 ), toe = v3( 0.115 * side, 0.04, swing + 0.13 );
    figure_limb( list, f, hip, knee, 0.078, 0.055, f->colour );
    figure_limb( list, f, knee, ankle, 0.055, 0.042, f->colour );
    figure_limb( list, f, ankle, toe, 0.045, 0.036, dark );
    vec3 shoulder = v3( 0.185 * side, 1.41, 0 );
    vec3 elbow = v3( 0.25 * side, lerpd( 1.13, 1.20, lift ), lerpd( -0.03, 0.17, lift ) );
    vec3 wrist = v3( lerpd( 0.26, 0.17, lift ) * side, lerpd( 0.88, 1.15, lift ), lerpd( 0.05, 0.42, lift ) );
    vec3 tips = v3( lerpd( 0.26, 0.15, lift ) * side, lerpd( 0.76, 1.13, lift ), lerpd( 0.10, 0.53, lift ) );
    figure_limb( list, f, shoulder, elbow, 0.052, 0.042, f->colour );
    figure_limb( list, f, elbow, wrist, 0.042, 0.030, f->colour );
    figure_limb( list, f, wrist, tips, 0.032, 0.028, light );
}

static inline void figure_add( tr_draw_list *list, const figure *f )
{
    tr_colour c = f->colour;
    tr_colour light = { 0.6f * c.r + 0.4f, 0.6f * c.g + 0.38f, 0.6f * c.b + 0.34f, c.a };
    tr_colour dark = { 0.55f * c.r, 0.55f * c.g, 0.55f * c.b, c.a };
    figure_limb( list, f, v3( -0.07, 0.93, 0 ), v3( 0.07, 0.93, 0 ), 0.105, 0.105, c );
    figure_limb( list, f, v3( 0, 0.97, 0 ), v3( 0, 1.16, 0 ), 0.115, 0.125, c );
    figure_limb( list, f, v3( 0, 1.16, 0 ), v3( 0, 1.36, 0 ), 0.125, 0.115, c );
    figure_limb( list, f, v3( -0.12, 1.40, 0 ), v3( 0.12, 1.40, 0 ), 0.065, 0.065, c );
    figure_limb( list, f, v3( 0, 1.42, 0 ), v3( 0, 1.53, 0.01 ), 0.055, 0.05, light );
    figure_limb( list, f, v3( 0, 1.61, 0.02 ), v3( 0, 1.66, 0.015 ), 0.092, 0.098, light );
    figure_side( list, f, -1.0, light, dark );
    figure_side( list, f, 1.0, light, dark );
}

#endif
