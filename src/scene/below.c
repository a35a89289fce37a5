// What layers act on, kept from one solve to the next: while somebody works on cages, what the method made of
// everything else stays what it was.
#include "scene/scene_private.h"

#include <string.h>

static bool is_of_cage( const tr_scene *scene, const tr_section *section )
{
    int layer = tr_scene_find_layer( scene, section->layer );
    return layer >= 0 && scene->layers[layer].kind == TR_LAYER_CAGE;
}

// The scene as text, without cages. Layers that are solo silence others, whatever their kind.
static bool print_below( const tr_scene *scene, tr_text *out )
{
    tr_scene below = *scene;
    bool solo = false;
    below.handle_count = below.layer_count = below.section_count = 0;
    below.layers = tr_alloc( (size_t)scene->layer_count, sizeof( tr_layer ) );
    below.sections = tr_alloc( (size_t)scene->section_count, sizeof( tr_section ) );
    bool ok = below.layers != NULL && below.sections != NULL;
    for ( int i = 0; ok && i < scene->layer_count; ++i ) {
        solo = solo || scene->layers[i].solo;
        if ( scene->layers[i].kind != TR_LAYER_CAGE )
            below.layers[below.layer_count++] = scene->layers[i];
    }
    for ( int i = 0; ok && i < scene->section_count; ++i )
        if ( !is_of_cage( scene, &scene->sections[i] ) )
            below.sections[below.section_count++] = scene->sections[i];
    ok = ok && tr_scene_print( &below, out, NULL );
    tr_text_add( out, solo ? "solo" : "" );
    tr_free( below.layers );
    tr_free( below.sections );
    return ok && !out->failed;
}

bool tr_scene_same_below( const tr_scene *a, const tr_scene *b )
{
    tr_text x = { 0 }, y = { 0 };
    bool same = print_below( a, &x ) && print_below( b, &y ) && x.size == y.size &&
                memcmp( x.data, y.data, x.size ) == 0;
    tr_text_free( &x );
    tr_text_free( &y );
    return same;
}
