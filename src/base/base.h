// base: errors, memory, growing arrays, warnings, numbers and letters, and the one parallel loop.
// Everything above stands on this module; it stands on the C library and OpenMP alone.
#ifndef TROUPE_BASE_H
#define TROUPE_BASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---------------------------------------------------------------------------------------------- errors
// Three kinds of failure have three channels. Misuse by the programmer: assert. Bad input or I/O: the
// function returns false or NULL and fills a tr_error. A numerical outcome: a field of the result.

typedef struct tr_error {
    char file[512];     // the file the trouble is in, "" when there is none; of a longer path the end
    int line, column;   // 1-based; 0 when unknown
    char path[160];     // JSON path such as cast[3].target.scale, "" when there is none
    char message[1024]; // one sentence a user can act on, without a final newline
} tr_error;

#if defined( __GNUC__ )
#define TR_PRINTF( format_index ) __attribute__( ( format( printf, format_index, format_index + 1 ) ) )
#else
#define TR_PRINTF( format_index )
#endif

// Each fills *error (which may be NULL) and returns false, so that a loader can `return tr_error_set( … )`.
bool tr_error_set( tr_error *error, const char *format, ... ) TR_PRINTF( 2 );
bool tr_error_at( tr_error *error, const char *file, int line, int column, const char *format, ... )
    TR_PRINTF( 5 );
bool tr_error_path( tr_error *error, const char *file, const char *path, const char *format, ... )
    TR_PRINTF( 4 );
bool tr_error_memory( tr_error *error );

// "walk.bvh:12:7: expected …" or "scene.json: cast[3].id: …" as one line into `out`, fit for a terminal.
void tr_error_print( const tr_error *error, char *out, size_t size );

// Text that comes from a file or is the name of one, fit for a terminal: control characters but those that
// are `allowed`, and bytes that are no UTF-8, become \xNN.
void tr_print_safe( char *out, size_t size, const char *text, const char *allowed );

// ---------------------------------------------------------------------------------------------- memory
// All heap memory of the library comes from here. Requests are zeroed and checked for overflow.

void *tr_alloc( size_t count, size_t size ); // NULL when out of memory, also when all together would be more
                                             // than the limit below, and when the work is no longer wanted
                                             // (tr_work); count 0 gives a valid pointer
void *tr_realloc( void *pointer, size_t count, size_t size ); // contents kept, new bytes zeroed
void tr_free( void *pointer );                                // NULL is fine

// Arrays one after the other in one piece of memory, each at a multiple of TR_CARVE from its beginning: what
// lanes of any kind need. Takes room for `bytes` off the front of what is left; works without memory, too:
// then only the difference of beginning and end counts.
#define TR_CARVE 64
size_t tr_carve_bytes( size_t bytes ); // that an array takes
void *tr_carve( char **at, size_t bytes );
char *tr_string_copy( const char *string );
char *tr_string_format( const char *format, ... ) TR_PRINTF( 1 );

// Bytes that may be handed out together. 0, the default: half of the machine's memory.
void tr_memory_set_limit( size_t bytes );
size_t tr_memory_limit( void );
size_t tr_memory_live( void );     // bytes handed out and not yet freed; tests assert 0 at their end
size_t tr_memory_peak( void );     // largest value of tr_memory_live so far
void tr_memory_reset_peak( void ); // from now on
// The n-th allocation from now on (n ≥ 1), and every later one, fails; 0 switches the failure off. Tests
// only.
void tr_memory_fail_from( long n );

// Makes room for `needed` elements of `size` bytes in a doubling array. False when out of memory, array
// intact.
bool tr_array_reserve( void **data, int *capacity, int needed, size_t size );

// Of bytes, for hash tables (FNV-1a): begin with TR_HASH_START, go on with the last answer.
#define TR_HASH_START 14695981039346656037u
uint64_t tr_hash_bytes( uint64_t hash, const void *data, size_t size );

// -------------------------------------------------------------------------------------------- warnings
// What a loader noticed and put up with. Zero-initialise, free with tr_log_free. A warning that finds no
// memory is lost, and whoever has to tell all of them fails then; what matters is an error.
typedef struct tr_log {
    char **lines; // [count]
    int count, capacity;
    bool failed; // one was lost
} tr_log;

void tr_log_add( tr_log *log, const char *format, ... ) TR_PRINTF( 2 ); // `log` may be NULL
void tr_log_free( tr_log *log );

// --------------------------------------------------------------------------------------------- progress
// Long work tells how far it has come, to whoever wants to know, and asks whether to go on. Always called
// from the thread that began the work.
typedef struct tr_progress {
    bool ( *report )( void *context, int done, int total ); // false: stop
    void *context;
} tr_progress;

// False when the work is no longer wanted; the error then says it was cancelled.
static inline bool tr_progress_report( const tr_progress *progress, int done, int total, tr_error *error )
{
    return progress == NULL || progress->report( progress->context, done, total ) ||
           tr_error_set( error, "cancelled" );
}

// ------------------------------------------------------------------------------------------ cancelling
// Whoever starts long work may say that it is no longer wanted. Work that is not wanted gets no more memory,
// so it ends the way it ends when memory runs out: nothing is left behind, and the error says that it was
// cancelled. Loops that run long without asking for memory ask tr_work_wanted themselves. What a thread
// begins counts for all that it does until it ends it, also for the tasks of its parallel loops.
typedef struct tr_work {
    bool ( *wanted )( void *context ); // false: stop. Asked by any of the threads at work, very often
    void *context;
    struct tr_work *outer; // that this one interrupts
} tr_work;

void tr_work_begin( tr_work *work, bool ( *wanted )( void *context ), void *context );
void tr_work_end( tr_work *work ); // by the same thread, the last begun first
bool tr_work_wanted( void );       // true where nobody began anything
// For loops that return errors: false, with the error saying that the work was cancelled.
bool tr_work_go_on( tr_error *error );

// --------------------------------------------------------------------------------------------- numbers
// Locale-independent, exact (the double nearest to the text) and fast: a decimal of up to 19 digits with a
// small exponent takes no library call.

// Reads a decimal number at `text`, never past `end`. Returns the first character after it, or NULL when
// there is no number there. "nan", "inf" and hexadecimal are no numbers. A value too large for a double reads
// as HUGE_VAL.
const char *tr_number_parse( const char *text, const char *end, double *value );

// Writes `value` with at most `decimals` (0 … 17) digits after the point and no trailing zeros; magnitudes of
// 1e15 and above in exponent form. Returns the number of characters, 0 when it does not fit. "-0" is written
// as "0".
int tr_number_print( char *out, size_t size, double value, int decimals );

// Shortest text that reads back as the same double.
int tr_number_print_exact( char *out, size_t size, double value );

// Whether these bytes are UTF-8 as JSON wants it: no overlong forms, no surrogates, nothing beyond Unicode.
bool tr_utf8_valid( const char *text, size_t size );

// A number as an int of low … high: what is behind the point is cut off, numbers beyond give the nearer
// bound, NaN gives `low`. In C a conversion of what does not fit is undefined: this is the only one from
// floating point to int, but for those in kernels.
static inline int tr_int_clamped( double x, int low, int high )
{
    // cppcheck-suppress floatConversionOverflow ; cppcheck follows tests past the two comparisons
    return !( x > low ) ? low : x >= high ? high : (int)x;
}

double tr_clock_ms( void );     // monotonic
double tr_processor_ms( void ); // spent by this process on all its threads, whatever else the machine does

// -------------------------------------------------------------------------------------------- parallel
// The one parallel primitive. [0, count) is cut into blocks of `block` (the last may be short); the cut does
// not depend on the number of threads, so a task that writes only what belongs to its block gives the same
// bits for any number. Reductions: write one partial result per block, then add them up in order.

typedef void tr_task( void *context, int begin, int end );
void tr_parallel_for( int count, int block, tr_task *task, void *context );
void tr_parallel_set_threads( int threads ); // 0 = as many as there are processors
// The same for what the calling thread does from now on; 0 = as above. Returns what it was.
int tr_parallel_set_own_threads( int threads );
int tr_parallel_threads( void );
// Number of the thread that runs a task, below tr_parallel_threads(): memory of its own may be kept by it. 0
// outside of tasks. A task that calls tr_parallel_for itself runs all of that.
int tr_parallel_thread( void );

// Kinds of kernels, each wider than the one before it. All give the same bits.
typedef enum tr_kernels {
    TR_KERNELS_PLAIN, // for every processor
    TR_KERNELS_AVX2,
    TR_KERNELS_AVX512,
} tr_kernels;

// No kernels wider than these are called from now on. Set once at start-up; the default is what the processor
// has.
void tr_kernels_limit( tr_kernels widest );
// Whether kernels that are compiled for AVX2 (with fused products and sums), and for AVX-512, may be called.
bool tr_processor_has_avx2( void );
bool tr_processor_has_avx512( void );

// ------------------------------------------------------------------------------------------------- sets
// Union–find: parent [count], each its own to begin with. The smallest of a set stands for it.
int tr_set_find( int *parent, int i );
void tr_set_join( int *parent, int a, int b );

// ------------------------------------------------------------------------------------------------ lists
// Numbers sorted by key: the list of key k is items[first[k]] … items[first[k + 1] − 1], ascending.
typedef struct tr_lists {
    int *first; // [key_count + 1]
    int *items; // [first[key_count]]
} tr_lists;

// Lists 0 … count − 1 by `keys` [count], which are below key_count. A number with a negative key is in no
// list. False when out of memory: the lists are empty then.
bool tr_lists_build( tr_lists *lists, const int *keys, int count, int key_count );
void tr_lists_free( tr_lists *lists );
// The same in memory of the caller: first [key_count + 1], items [count].
void tr_lists_fill( tr_lists lists, const int *keys, int count, int key_count );

// ------------------------------------------------------------------------------------------- statistics

typedef struct tr_spread {
    double max, p95, mean; // 0 when there are no values
    int count, worst;      // worst: index of the first maximum
} tr_spread;

// Sorts `values`. p95 by nearest rank: the smallest value that at least 95 % of all do not exceed.
tr_spread tr_spread_of( double *values, int count );

// ---------------------------------------------------------------------------------------------- failure

// The failure of jobs that run at the same time: of several, that of the first job, whichever fails first.
typedef struct tr_first_failure {
    atomic_flag busy; // zero: free
    int job;          // -1: all is well
    tr_error error;
} tr_first_failure;

void tr_first_failure_note( tr_first_failure *first, int job, const tr_error *error );

#endif
