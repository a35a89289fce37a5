// Copies of the poses of a result, worlds and tracks: all that is drawn.
#ifndef TROUPE_UI_POSES_H
#define TROUPE_UI_POSES_H

#include "troupe.h"

bool tr_poses_copy( tr_result *out, const tr_result *in ); // to be freed with tr_result_free, also on failure
void tr_poses_copy_frame( tr_result *out, const tr_result *in, int frame );

#endif
