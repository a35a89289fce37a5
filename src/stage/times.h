// Private to scene/: layers of kind retime, which act on the sources before anything is solved.
#ifndef TROUPE_STAGE_TIMES_H
#define TROUPE_STAGE_TIMES_H

#include "stage/stage.h"

typedef struct tr_times {
    tr_scene scene; // as the document, on the new time: longer where need be, every frame in it moved along,
                    // and with the retimings muted
    double **when;  // [cast_count + prop_count] NULL: not moved; else [frames of `scene`] the moment of the
                    // document's own time, frames from its first
    tr_scene document; // itself
    tr_stage before;   // the stage of its own time, without layers; empty until that is built
} tr_times;

// *out stays NULL when no layer moves anything. Trouble is told with the path of the section; sections and
// layers that move nothing are warned of.
bool tr_times_build( tr_times **out, const tr_scene *scene, const char *file, tr_log *warnings,
                     tr_error *error );
void tr_times_free( tr_times *times ); // NULL is fine

#endif
