// The worker thread: starts, runs and cancels one piece of work.
#include "ui/session/worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

struct tr_worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void ( *run )( void *context, tr_worker *worker ); // NULL = nothing to do
    void *context;
    bool quit, started, patient;
    atomic_bool running, cancelled;
    atomic_int thousandths;
};

static bool is_wanted( void *context )
{
    return !tr_worker_cancelled( context );
}

static void *work( void *argument )
{
    tr_worker *worker = argument;
    if ( worker->patient ) // per thread on Linux; threads that it starts inherit it
        setpriority( PRIO_PROCESS, 0, getpriority( PRIO_PROCESS, 0 ) + 5 );
    pthread_mutex_lock( &worker->lock );
    while ( !worker->quit ) {
        if ( worker->run == NULL ) {
            pthread_cond_wait( &worker->changed, &worker->lock );
            continue;
        }
        pthread_mutex_unlock( &worker->lock );
        tr_work wanted;
        tr_work_begin( &wanted, is_wanted, worker );
        worker->run( worker->context, worker );
        tr_work_end( &wanted );
        pthread_mutex_lock( &worker->lock );
        worker->run = NULL;
        atomic_store( &worker->running, false );
        pthread_cond_broadcast( &worker->changed );
    }
    pthread_mutex_unlock( &worker->lock );
    return NULL;
}

tr_worker *tr_worker_create( bool patient, tr_error *error )
{
    tr_worker *worker = tr_alloc( 1, sizeof *worker );
    if ( worker == NULL ) {
        tr_error_memory( error );
        return NULL;
    }
    worker->patient = patient;
    pthread_mutex_init( &worker->lock, NULL );
    pthread_cond_init( &worker->changed, NULL );
    worker->started = pthread_create( &worker->thread, NULL, work, worker ) == 0;
    if ( worker->started )
        return worker;
    tr_error_set( error, "the system refuses to start a thread" );
    tr_worker_destroy( worker );
    return NULL;
}

void tr_worker_destroy( tr_worker *worker )
{
    if ( worker == NULL )
        return;
    tr_worker_cancel( worker );
    pthread_mutex_lock( &worker->lock );
    worker->quit = true;
    pthread_cond_broadcast( &worker->changed );
    pthread_mutex_unlock( &worker->lock );
    if ( worker->started )
        pthread_join( worker->thread, NULL );
    pthread_mutex_destroy( &worker->lock );
    pthread_cond_destroy( &worker->changed );
    tr_free( worker );
}

void tr_worker_start( tr_worker *worker, void ( *run )( void *context, tr_worker *worker ), void *context )
{
    atomic_store( &worker->cancelled, false );
    atomic_store( &worker->thousandths, 0 );
    atomic_store( &worker->running, true );
    pthread_mutex_lock( &worker->lock );
    worker->run = run;
    worker->context = context;
    pthread_cond_broadcast( &worker->changed );
    pthread_mutex_unlock( &worker->lock );
}

void tr_worker_wait( tr_worker *worker )
{
    pthread_mutex_lock( &worker->lock );
    while ( worker->run != NULL )
        pthread_cond_wait( &worker->changed, &worker->lock );
    pthread_mutex_unlock( &worker->lock );
}

bool tr_worker_running( const tr_worker *worker )
{
    return atomic_load( &worker->running );
}

void tr_worker_cancel( tr_worker *worker )
{
    atomic_store( &worker->cancelled, true );
}

bool tr_worker_cancelled( const tr_worker *worker )
{
    return atomic_load( &worker->cancelled );
}

static bool report( void *context, int done, int total )
{
    tr_worker *worker = context;
    atomic_store( &worker->thousandths, total > 0 ? (int)( 1000LL * done / total ) : 0 );
    return !tr_worker_cancelled( worker );
}

tr_progress tr_worker_link( tr_worker *worker )
{
    return ( tr_progress ){ report, worker };
}

float tr_worker_progress( const tr_worker *worker )
{
    return 1e-3f * (float)atomic_load( &worker->thousandths );
}
