// exchange: writes characters, motion and things as files for other programs: GLB, USD and NPZ.
#ifndef TROUPE_EXCHANGE_H
#define TROUPE_EXCHANGE_H

#include "import/import.h"

// What files for other programs hold: characters with their motion, things, contacts and figures. All motion
// has one rate and one number of frames. Names, skeletons, clips and tracks are borrowed; facets and arrays
// belong to the exchange.

// The look of a skeleton of a glTF file: its meshes, weights, materials and textures, and what else the file
// says of them. GLB files pass it on as it is.
typedef struct tr_look tr_look;

// Whether these are the joints of the look's skeleton, of any size, in the order of its file or in that of
// BVH files (depth first). `joints`: NULL, or [joint_count] which joint of the skeleton each of the look is.
bool tr_look_fits( const tr_look *look, const tr_skeleton *skeleton, int *joints );

typedef struct tr_exchange_look { // and where it comes from
    char *path, *skeleton;
    double unit;
    char up;
    tr_look *look; // NULL: the file has none
} tr_exchange_look;

typedef struct tr_exchange_body {
    const char *name; // no two bodies and things have the same
    const tr_skeleton *skeleton;
    const tr_clip *clip;
    tr_facets facets;    // in the rest pose; tags are joints that carry the points. May be empty
    float colour[3];     // sRGB, 0 … 1
    const tr_look *look; // GLB: instead of the facets, of tr_exchange_find_look; NULL: none
    bool renamed;        // joints of the look take the names of the skeleton
    double *girths;      // [joint_count] thickness against the look's, with the exchange; NULL: 1
} tr_exchange_body;

typedef struct tr_exchange_thing {
    const char *name;
    tr_facets facets;   // in its own frame
    const rigid *track; // [frame_count], NULL: it stands at
    rigid place;
    float colour[3];
} tr_exchange_thing;

typedef struct tr_exchange_contact { // a joint rests on something
    int body, joint;
    const char *surface; // "ground", or a name
    int first, last;     // frames, from 0, both included
} tr_exchange_contact;

typedef struct tr_exchange {
    double fps;
    int frame_count;
    int first; // number of the first frame in the scene
    tr_exchange_body *bodies;
    int body_count, body_capacity;
    tr_exchange_thing *things;
    int thing_count, thing_capacity;
    tr_exchange_contact *contacts;
    int contact_count, contact_capacity;
    tr_exchange_look *looks; // each file and skeleton once
    int look_count, look_capacity;
    char *figures; // JSON text, NULL: none
} tr_exchange;

void tr_exchange_free( tr_exchange *x );
// The look of a skeleton of a file, which `def` chooses. *out is NULL where no skin of the file uses it. Read
// once for all who ask, and freed with the exchange.
bool tr_exchange_find_look( tr_exchange *x, const tr_look **out, const char *path, const tr_import_def *def,
                            tr_log *warnings, tr_error *error );

typedef enum tr_exchange_format { TR_EXCHANGE_GLB, TR_EXCHANGE_USDA, TR_EXCHANGE_NPZ } tr_exchange_format;

typedef struct tr_exchange_def {
    bool each; // GLB: one animation for each character and thing, not one for all
} tr_exchange_def;

// Finds the format by the ending of a path; false: none of these.
bool tr_exchange_format_of( const char *path, tr_exchange_format *out );
// The file is whole or not there, as with tr_file_write. docs/files.md says what the files hold.
bool tr_exchange_save( const tr_exchange *x, const char *path, const tr_exchange_def *def, tr_error *error );
bool tr_exchange_print( const tr_exchange *x, tr_exchange_format format, const tr_exchange_def *def,
                        tr_text *out, tr_error *error );

#endif
