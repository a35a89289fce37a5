// Private to scene/: the growing lists of a document, handled alike. Every element starts with its id.
#ifndef TROUPE_SCENE_DOCUMENT_H
#define TROUPE_SCENE_DOCUMENT_H

#include "scene/scene.h"

typedef enum tr_list {
    TR_LIST_CAST,
    TR_LIST_PROP,
    TR_LIST_OBSTACLE,
    TR_LIST_CONSTRAINT,
    TR_LIST_LAYER,
    TR_LIST_COUNT
} tr_list;

typedef struct tr_list_info {
    const char *path;             // JSON path of the list
    const char *noun;             // what an element is called in messages
    size_t size;                  // bytes of an element
    size_t data, count, capacity; // offsets into tr_scene
} tr_list_info;

const tr_list_info *tr_list_get_info( tr_list list );
int tr_list_count( const tr_scene *scene, tr_list list );
void *tr_list_at( const tr_scene *scene, tr_list list, int index );
int tr_list_find( const tr_scene *scene, tr_list list, const char *id ); // -1 when absent
// Makes room at `index` (0 … count) and copies the element there. False when out of memory, list intact.
bool tr_list_insert( tr_scene *scene, tr_list list, int index, const void *element );
void tr_list_remove( tr_scene *scene, tr_list list, int index );

// Copies with zeros behind the text, so that equal texts are equal bytes. False when it does not fit.
bool tr_string_set( char *out, size_t size, const char *text );

#endif
