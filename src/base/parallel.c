#include "base/private.h"

#include <assert.h>
#include <omp.h>
#include <time.h>

static int wanted_threads;                            // 0 = one per processor; set once at start-up
static tr_kernels widest_kernels = TR_KERNELS_AVX512; // set once at start-up

void tr_parallel_set_threads( int threads )
{
    assert( threads >= 0 );
    wanted_threads = threads;
}

int tr_parallel_threads( void )
{
    return wanted_threads > 0 ? wanted_threads : omp_get_num_procs();
}

static void run_block( int count, int block, int index, tr_task *task, void *context )
{
    int begin = index * block;
    task( context, begin, count - begin > block ? begin + block : count );
}

int tr_parallel_thread( void )
{
    return omp_get_thread_num();
}

void tr_parallel_for( int count, int block, tr_task *task, void *context )
{
    assert( block > 0 );
    int blocks = count > 0 ? ( count - 1 ) / block + 1 : 0;
    int threads = omp_in_parallel() ? 1 : tr_parallel_threads();
    if ( threads > blocks )
        threads = blocks;
    if ( threads <= 1 ) { // no team at all: within a task, its thread goes on by itself
        for ( int i = 0; i < blocks; ++i )
            run_block( count, block, i, task, context );
        return;
    }
    tr_work *work = tr_work_current();
#pragma omp parallel num_threads( threads )
    {
        tr_work *own = tr_work_current();
        tr_work_adopt( work );
#pragma omp for schedule( dynamic, 1 )
        for ( int i = 0; i < blocks; ++i )
            run_block( count, block, i, task, context );
        tr_work_adopt( own );
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
