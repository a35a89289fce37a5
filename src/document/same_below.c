// Whether two scenes have the same motion below their cages: while cages are edited, the method's result is
// kept.
#include "document/document.h"

static bool is_of_cage( const tr_scene *scene, const tr_section *section )
{
    int layer = tr_scene_find_layer( scene, section->layer );
    return layer >= 0 && scene->layers[layer].kind == TR_LAYER_CAGE;
}

// The scene without cages. Its lists are borrowed except for layers and sections, which the caller frees.
static bool strip_cages( const tr_scene *scene, tr_scene *out, bool *solo )
{
    *out = *scene;
    *solo = false;
    out->handle_count = out->layer_count = out->section_count = 0;
    out->layers = tr_alloc( (size_t)scene->layer_count, sizeof( tr_layer ) );
    out->sections = tr_alloc( (size_t)scene->section_count, sizeof( tr_section ) );
    if ( out->layers == NULL || out->sections == NULL )
        return false;
    for ( int i = 0; i < scene->layer_count; ++i ) {
        *solo = *solo || scene->layers[i].solo;
        if ( scene->layers[i].kind != TR_LAYER_CAGE )
            out->layers[out->layer_count++] = scene->layers[i];
    }
    for ( int i = 0; i < scene->section_count; ++i )
        if ( !is_of_cage( scene, &scene->sections[i] ) )
            out->sections[out->section_count++] = scene->sections[i];
    return true;
}

// Solo layers disable others of any kind.
bool tr_scene_same_below( const tr_scene *a, const tr_scene *b )
{
    tr_scene x = { 0 }, y = { 0 };
    bool solo_x, solo_y,
        same = strip_cages( a, &x, &solo_x ) && strip_cages( b, &y, &solo_y ) && solo_x == solo_y &&
               tr_scene_equal( &x, &y );
    tr_free( x.layers );
    tr_free( x.sections );
    tr_free( y.layers );
    tr_free( y.sections );
    return same;
}
