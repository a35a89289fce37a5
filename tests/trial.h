// One scene through everything the library does with it, and what has to hold whatever the scene says: no
// crash, finite numbers, exact bones, equal bits for 1 and 3 threads, all memory given back.
#ifndef TROUPE_TESTS_TRIAL_H
#define TROUPE_TESTS_TRIAL_H

#include "generate.h"

typedef enum trial_parts { // parts of a trial, to be combined
    TRIAL_METHODS = 1,     // every method with the layers on top, measures, saving and loading
    TRIAL_LAYERS = 2,      // the pipeline in two parts, layers bound anew, undo
    TRIAL_DRAGS = 4,       // drags of a cage, and held frames
    TRIAL_ALL = 7
} trial_parts;

typedef struct trial_def {
    int parts;          // trial_parts
    const char *method; // NULL: every one
    bool threads;       // solve with 1 and with 3 threads and compare
    uint64_t seed;      // seed of the drags
} trial_def;

typedef struct trial_outcome {
    bool staged;       // false: the scene was refused, `message` is the sentence
    bool solved;       // false: a method refused it
    char failure[16];  // "" where all holds; else what does not: nan, bones, threads, memory, …
    char message[600]; // the sentence of the refusal or failure
    double work;  // for limits of time: ( frames × joints × rules + cubes of rules at once ) × layers, and
                  // vertices of dragged cages
    double units; // frames × joints
} trial_outcome;

// Runs the scene file of a folder; results are written into it and taken away again.
void trial_run( trial_outcome *out, const char *folder, const trial_def *def );

#endif
