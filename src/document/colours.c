// Default colours of cast members.
#include "document/fields.h"

// Muted hues of equal weight, distinct from the yellow of the boxes.
static const float palette[][3] = {
    { 0.27f, 0.45f, 0.62f }, { 0.80f, 0.42f, 0.34f }, { 0.36f, 0.58f, 0.47f }, { 0.56f, 0.42f, 0.60f },
    { 0.84f, 0.58f, 0.47f }, { 0.33f, 0.60f, 0.66f }, { 0.66f, 0.36f, 0.44f }, { 0.49f, 0.55f, 0.70f },
    { 0.55f, 0.60f, 0.38f }, { 0.72f, 0.50f, 0.62f }, { 0.40f, 0.40f, 0.52f },
};
enum {
    PALETTE_COUNT = sizeof palette / sizeof palette[0],
    STEP = 4 // between neighbours in the cast; coprime to the palette's length, so that all hues are used
};
static const double same_hue = 0.2; // sum over red, green, blue: tones of one hue differ less, hues more

const float *tr_cast_hue( int i )
{
    return palette[( i * STEP ) % PALETTE_COUNT];
}

static bool is_used( const tr_scene *scene, const float *hue )
{
    for ( int i = 0; i < scene->cast_count; ++i ) {
        double apart = 0;
        for ( int c = 0; c < 3; ++c )
            apart += fabs( (double)scene->cast[i].colour[c] - (double)hue[c] );
        if ( apart < same_hue )
            return true;
    }
    return false;
}

void tr_cast_free_colour( const tr_scene *scene, float out[3] )
{
    const float *hue = tr_cast_hue( scene->cast_count );
    for ( int i = PALETTE_COUNT - 1; i >= 0; --i )
        if ( !is_used( scene, tr_cast_hue( i ) ) )
            hue = tr_cast_hue( i );
    for ( int c = 0; c < 3; ++c ) // rounded as in files
        out[c] = roundf( 255 * hue[c] ) / 255;
}
