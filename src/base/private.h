// Shared by the files of this folder.
#ifndef TROUPE_BASE_PRIVATE_H
#define TROUPE_BASE_PRIVATE_H

#include "base/base.h"

// The work of this thread; a parallel loop passes it to its threads.
tr_work *tr_work_current( void );
void tr_work_adopt( tr_work *work );

// Whether a request was refused because of the limit since the last call. Resets it.
bool tr_memory_was_refused( void );

#endif
