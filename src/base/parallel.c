#include "base/private.h"

#include <assert.h>
#include <omp.h>
#include <time.h>

static int wanted_threads;                            // 0 = one per processor; set once at start-up
static _Thread_local int own_threads;                 // threads for loops of this thread; 0 = wanted_threads
static _Thread_local int number;                      // index of this thread in its loop
static tr_kernels widest_kernels = TR_KERNELS_AVX512; // set once at start-up

void tr_parallel_set_threads( int threads )
{
    assert( threads >= 0 );
    wanted_threads = threads;
}

int tr_parallel_set_own_threads( int threads )
{
    assert( threads >= 0 );
    int before = own_threads;
    own_threads = threads;
    return before;
}

int tr_parallel_threads( void )
{
    int threads = own_threads > 0 ? own_threads : wanted_threads;
    return threads > 0 ? threads : omp_get_num_procs();
}

static void run_block( int count, int block, int index, tr_task *task, void *context )
{
    int begin = index * block;
    task( context, begin, count - begin > block ? begin + block : count );
}

// Not OpenMP's number: a thread of the host's parallel region is the first thread of its own loops.
int tr_parallel_thread( void )
{
    return number;
}

void tr_parallel_for( int count, int block, tr_task *task, void *context )
{
    assert( block > 0 );
    int blocks = count > 0 ? ( count - 1 ) / block + 1 : 0;
    int threads = omp_in_parallel() ? 1 : tr_parallel_threads();
    if ( threads > blocks )
        threads = blocks;
    if ( threads <= 1 ) { // no team: nested loops run on the thread of their task
        for ( int i = 0; i < blocks; ++i )
            run_block( count, block, i, task, context );
        return;
    }
    tr_work *work = tr_work_current();
    int inherited = own_threads;
#pragma omp parallel num_threads( threads )
    {
        tr_work *own = tr_work_current();
        int before = tr_parallel_set_own_threads( inherited );
        tr_work_adopt( work );
        number = omp_get_thread_num();
#pragma omp for schedule( dynamic, 1 )
        for ( int i = 0; i < blocks; ++i )
            run_block( count, block, i, task, context );
        number = 0;
        tr_work_adopt( own );
        own_threads = before;
    }
}

void tr_kernels_limit( tr_kernels widest )
{
    widest_kernels = widest;
}

bool tr_processor_has_avx2( void )
{
#if defined( __x86_64__ )
    return widest_kernels >= TR_KERNELS_AVX2 && __builtin_cpu_supports( "avx2" ) &&
           __builtin_cpu_supports( "fma" );
#else
    return false;
#endif
}

bool tr_processor_has_avx512( void )
{
#if defined( __x86_64__ )
    return widest_kernels >= TR_KERNELS_AVX512 && tr_processor_has_avx2() &&
           __builtin_cpu_supports( "avx512f" ) && __builtin_cpu_supports( "avx512dq" ) &&
           __builtin_cpu_supports( "avx512vl" );
#else
    return false;
#endif
}

static double read_clock( clockid_t id )
{
    struct timespec now;
    clock_gettime( id, &now );
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

double tr_clock_ms( void )
{
    return read_clock( CLOCK_MONOTONIC );
}

double tr_processor_ms( void )
{
    return read_clock( CLOCK_PROCESS_CPUTIME_ID );
}
