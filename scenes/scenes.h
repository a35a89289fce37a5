// scenes: the built-in scenes, one row each in one explicit table.
// Used by the command line, the editor, the tests and the benchmark.
#ifndef TROUPE_SCENES_H
#define TROUPE_SCENES_H

#include "scene/scene.h"

typedef struct tr_scene_entry {
    const char *name;  // folder under scenes/ and name on the command line
    const char *title; // one line: what it shows
    int default_cast;  // how many characters unless asked otherwise
    int min_cast, max_cast;
    // Fills an empty scene and puts its clips into an empty library under <id>.bvh.
    bool ( *build )( int cast, tr_scene *scene, tr_library *library, tr_error *error );
} tr_scene_entry;

const tr_scene_entry *tr_scene_table( int *count );
const tr_scene_entry *tr_scene_entry_find( const char *name ); // NULL when absent
// cast 0 = the entry's default. Refuses counts outside the entry's limits.
bool tr_scene_build( const tr_scene_entry *entry, int cast, tr_scene *scene, tr_library *library,
                     tr_error *error );

#endif
