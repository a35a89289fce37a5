// Random scenes that are valid: skeletons of many kinds, motions, and everything that a document may say.
//
// All decisions are drawn from one source of choices. It is a seed (a random number generator) or a row of
// bytes (a fuzzer): bytes that are used up read as zero, and zero is the simplest choice everywhere.
#ifndef TROUPE_TESTS_GENERATE_H
#define TROUPE_TESTS_GENERATE_H

#include "troupe.h"

typedef struct choices {
    uint64_t state;       // state of the generator, where there are no bytes
    const uint8_t *bytes; // [size], NULL: a seed
    size_t size, used;
} choices;

choices choices_from_seed( uint64_t seed );
choices choices_from_bytes( const uint8_t *bytes, size_t size );
int choose( choices *c, int count );                          // 0 … count - 1
bool chance( choices *c, int percent );                       // true in so many of a hundred cases
double between( choices *c, double low, double high );        // evenly
vec3 vector_within( choices *c, double size );                // each coordinate from -size to size
const char *pick( choices *c, const char *const *words );     // one of a NULL-terminated list
double pick_number( choices *c, const double *v, int count ); // one of a list

// ------------------------------------------------------------------------------------------------- motions

typedef struct rig_joint {
    char name[48];
    int parent;  // -1: the root, else an earlier joint
    vec3 offset; // metres, Y up
} rig_joint;

// A motion file in parts, so that joints and frames can be taken out of it.
typedef struct rig {
    rig_joint *joints;
    int joint_count, joint_capacity;
    int frame_count;
    double frame_time; // seconds
    double *angles;    // [frame_count * joint_count * 3] degrees about x, y, z
    vec3 *root;        // [frame_count] metres, Y up
    double unit;       // metres per unit of the file
    char up;           // 'y', 'z'
    int order;         // order of the rotation channels, 0 … 5
    bool end_sites;    // leaves have one
    bool stretches;    // all joints have position channels
} rig;

bool rig_generate( rig *out, choices *c, int most_joints, int most_frames );
bool rig_point( rig *out, choices *c, int frames ); // a single joint, the track of a prop
void rig_free( rig *rig );
void rig_print( const rig *rig, tr_text *out ); // as a BVH file
// Takes out a joint with everything below it, or all frames after the first `count`. The root stays.
void rig_drop_joint( rig *rig, int joint );
void rig_drop_frames( rig *rig, int count );

// -------------------------------------------------------------------------------------------------- scenes

typedef struct generated_file {
    char name[24]; // as the scene has it
    rig rig;       // a motion, where it has joints
    tr_text text;  // anything else
} generated_file;

typedef struct generated {
    tr_scene scene;
    generated_file *files;
    int file_count, file_capacity;
} generated;

typedef enum generate_what {
    GENERATE_ANY,
    GENERATE_LAYERS,  // at least one layer that acts
    GENERATE_DRAGS,   // the first layer is a cage that acts, and has a handle
    GENERATE_EXAMPLES // every character has a body from another file, with examples and parts
} generate_what;

// False: out of memory. Scenes pass tr_scene_check; some cannot be staged (a retiming that turns time back).
bool generate( generated *out, choices *c, generate_what what );
void generated_free( generated *g );
// Writes scene.json and the files it names into a folder that exists.
bool generated_write( const generated *g, const char *folder, tr_error *error );

#endif
