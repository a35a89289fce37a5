// Private to stage: layers of kind retime, which act on the sources before anything is solved.
#ifndef TROUPE_STAGE_TIMES_H
#define TROUPE_STAGE_TIMES_H

#include "stage/stage.h"

typedef struct tr_times {
    tr_scene scene; // the document on the new time: longer if necessary, with its frame numbers moved and its
                    // retimings muted
    double **when;  // [cast_count + prop_count] NULL: not moved; else [frames of `scene`] the moment of the
                    // document's own time, frames from its first
    tr_scene document; // before retiming
    tr_stage before;   // the stage before retiming, without layers; empty until it is built
} tr_times;

// For the stage's scene. *out stays NULL when no layer moves anything. An error has the path of its section;
// sections and layers that move nothing give a warning.
bool tr_times_build( tr_times **out, const tr_stage *stage, const char *file, tr_log *warnings,
                     tr_error *error );
void tr_times_free( tr_times *times ); // NULL is fine

#endif
