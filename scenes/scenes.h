// scenes: the built-in scenes, one row each in one explicit table.
// Used by the command line, the editor, the tests and the benchmark.
#ifndef TROUPE_SCENES_H
#define TROUPE_SCENES_H

#include "troupe.h"

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

// What a name, a file or a folder stands for.
typedef struct tr_opened {
    tr_scene scene;
    tr_library library;
    tr_log warnings;
    char *file;   // the scene's own path, NULL for a built-in scene or a lone motion
    char *path;   // the file that was opened, scene or motion; NULL for a built-in scene
    char *folder; // folder of results to be read back, NULL = none
    bool lone;    // a single motion file: nothing to solve
    int first;    // its first recorded frame: 1 when a T-pose was put in front
    bool misused; // it could not be opened because of what was asked for, not of a file
} tr_opened;

// A built-in scene, FILE.json, a folder with scene.json, or FILE.bvh, which becomes a scene of one character.
// `cast` 0 = as many as the scene has; else only for built-in scenes. Free it in any case.
bool tr_open( tr_opened *opened, const char *what, int cast, tr_error *error );
// The same of a motion file whose skeleton and take `def` names, with a source that does so, too. The
// character's name is that of the skeleton, or that of the file.
bool tr_open_motion( tr_opened *opened, const char *path, const tr_import_def *def, bool by_skeleton,
                     tr_error *error );
void tr_opened_skip_front(
    tr_opened *opened ); // the scene of a lone motion begins with its first recorded frame
void tr_opened_free( tr_opened *opened );
// An error that names the scene nearest to `what`; `kind` is what was looked for: "built-in scene".
bool tr_scene_refuse( const char *what, const char *kind, tr_error *error );

#endif
