// One thread in the background that does one piece of work at a time.
#ifndef TROUPE_UI_WORKER_H
#define TROUPE_UI_WORKER_H

#include "base/base.h"

typedef struct tr_worker tr_worker;

// Patient: it has a lower priority than other threads.
tr_worker *tr_worker_create( bool patient, tr_error *error );
void tr_worker_destroy( tr_worker *worker ); // cancels, then waits for what is running
// Only when nothing is running.
void tr_worker_start( tr_worker *worker, void ( *run )( void *context, tr_worker *worker ), void *context );
bool tr_worker_running( const tr_worker *worker );
void tr_worker_wait( tr_worker *worker );
void tr_worker_cancel( tr_worker *worker ); // asks the work to stop; it does at its next report

// For the work itself: link for stages and solvers; how far it is, in [0, 1], for the other side.
tr_progress tr_worker_link( tr_worker *worker );
bool tr_worker_cancelled( const tr_worker *worker );
float tr_worker_progress( const tr_worker *worker );

#endif
