// Private to import: bodies in files that hold arrays of numbers, as places of joints or as rotations.
#ifndef TROUPE_IMPORT_BODIES_H
#define TROUPE_IMPORT_BODIES_H

#include "import/arrays.h"
#include "import/reader.h"

typedef struct tr_places { // places of the joints of one body
    char *title;           // title of the body; NULL: none
    char **names;          // [joint_count], NULL: none are known
    int *parents;          // [joint_count], NULL: unknown; -1: the root; in any order
    vec3 *places;          // [frame_count * joint_count] file units and axes; NaN: not seen
    int joint_count, frame_count;
} tr_places;

typedef struct tr_bodies_file { // for tr_import
    struct tr_import_file base;
    char **titles;       // [count] of the bodies
    tr_motion *motions;  // [count] metres, Y up
    int *first;          // [count] node of the first joint
    int count, capacity; // capacity of motions
    tr_places *places;   // [place_count] not yet made into motions
    int place_count, place_capacity;
    double fps; // 0: not in the file
    tr_pose pose;
    quat *local;  // scratch for one body
    vec3 *offset; // the same
} tr_bodies_file;

// Adds an empty motion; its title is copied. NULL when out of memory.
tr_motion *tr_bodies_add( tr_bodies_file *file, const char *title );
tr_places *tr_places_add( tr_bodies_file *file );
bool tr_places_alloc( tr_places *p, int frames, int joints, tr_error *error );
void tr_places_free( tr_places *p );

// Each reads what is of its kind, into motions or into places; *found: there was any.
bool tr_read_own_arrays( tr_bodies_file *file, const tr_arrays *arrays, bool *found,
                         tr_error *error ); // as this program writes them
bool tr_read_smpl( tr_bodies_file *file, const tr_arrays *arrays, const tr_import_def *def, bool *found,
                   tr_log *warnings, tr_error *error ); // AMASS and its kin
bool tr_read_place_arrays( tr_bodies_file *file, const tr_arrays *arrays, tr_log *warnings, tr_error *error );
double tr_rate_of_arrays( const tr_arrays *arrays ); // frames a second; 0: they have none
bool tr_read_place_table( tr_bodies_file *file, const char *text, size_t size, tr_error *error ); // CSV

// Names and parents of joints that come without; see layouts.c. Adds joints that are the middle of others.
bool tr_places_name( tr_places *p, tr_log *warnings, tr_error *error );
// Joints of SMPL, SMPL-H or SMPL-X, by how many there are. False: no such body.
enum { TR_LAYOUT_NAME = 32 };
bool tr_smpl_joint( int joint_count, int joint, char name[TR_LAYOUT_NAME], int *parent );

// Moves joints that are not seen to where they were between, turns and scales all, and fits a skeleton.
bool tr_places_to_motions( tr_bodies_file *file, const tr_import_def *def, tr_log *warnings,
                           tr_error *error );

#endif
