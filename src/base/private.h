// What the files of this folder share.
#ifndef TROUPE_BASE_PRIVATE_H
#define TROUPE_BASE_PRIVATE_H

#include "base/base.h"

// The work of this thread; a parallel loop hands it to its threads and takes it back.
tr_work *tr_work_current( void );
void tr_work_adopt( tr_work *work );

// Whether a request was refused since somebody asked last, because of the limit. Clears that.
bool tr_memory_was_refused( void );

#endif
