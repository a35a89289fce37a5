// base: errors, memory, growing arrays, lists, warnings, numbers as text, and the one parallel loop.
// All modules use it; it uses only the C library and OpenMP.
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
    char file[512];     // the file with the problem, "" when there is none; a longer path keeps its end
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

// Copies text for a terminal. Control characters other than those in `allowed`, and bytes that are not UTF-8,
// become \xNN.
void tr_print_safe( char *out, size_t size, const char *text, const char *allowed );

// ---------------------------------------------------------------------------------------------- memory
// All heap memory of the library comes from here. Requests are zeroed and checked for overflow.

void *tr_alloc( size_t count, size_t size ); // NULL when out of memory, beyond the limit below, or when the
                                             // work is cancelled (tr_work); count 0 gives a valid pointer
void *tr_realloc( void *pointer, size_t count, size_t size ); // contents kept, new bytes zeroed
void tr_free( void *pointer );                                // NULL is fine

// Several arrays in one block of memory. tr_carve takes `bytes` off the front of what is left at *at, aligned
// to TR_CARVE. Start from NULL to measure how large the block has to be.
#define TR_CARVE 64                    // bytes: the widest lanes
size_t tr_carve_bytes( size_t bytes ); // rounded up to a multiple of TR_CARVE
void *tr_carve( char **at, size_t bytes );
char *tr_string_copy( const char *string );
char *tr_string_format( const char *format, ... ) TR_PRINTF( 1 );

// Largest number of live bytes. 0, the default: half of the machine's memory.
void tr_memory_set_limit( size_t bytes );
size_t tr_memory_limit( void );
// How many requests were refused so far because of that limit.
long tr_memory_refusals( void );
size_t tr_memory_live( void );     // bytes handed out and not yet freed; tests assert 0 at their end
size_t tr_memory_peak( void );     // largest value of tr_memory_live so far
void tr_memory_reset_peak( void ); // from now on
// The n-th allocation from now on (n ≥ 1), and every later one, fails; 0 switches the failure off. Tests
// only.
void tr_memory_fail_from( long n );

// Grows a doubling array to hold `needed` elements of `size` bytes. False when out of memory, array intact.
bool tr_array_reserve( void **data, int *capacity, int needed, size_t size );

// FNV-1a hash of bytes, for hash tables. Start with TR_HASH_START; pass the last result on to add more.
#define TR_HASH_START 14695981039346656037u
uint64_t tr_hash_bytes( uint64_t hash, const void *data, size_t size );
// Check sum of ZIP archives and PNG pictures. Start with 0; pass the last result on to add more.
uint32_t tr_crc32( uint32_t sum, const void *data, size_t size );

// -------------------------------------------------------------------------------------------- warnings
// Problems that a loader tolerated. Zero-initialise, free with tr_log_free. A warning that finds no memory is
// lost and sets `failed`.
typedef struct tr_log {
    char **lines; // [count]
    int count, capacity;
    bool failed; // a warning was lost
} tr_log;

void tr_log_add( tr_log *log, const char *format, ... ) TR_PRINTF( 2 ); // `log` may be NULL
void tr_log_free( tr_log *log );

// --------------------------------------------------------------------------------------------- progress
// Long work reports how far it has come and asks whether to continue, always from the thread that began it.
typedef struct tr_progress {
    bool ( *report )( void *context, int done, int total ); // false: stop
    void *context;
} tr_progress;

// False when the work is cancelled; the error says so.
static inline bool tr_progress_report( const tr_progress *progress, int done, int total, tr_error *error )
{
    return progress == NULL || progress->report( progress->context, done, total ) ||
           tr_error_set( error, "cancelled" );
}

// ------------------------------------------------------------------------------------------ cancelling
// The caller of long work can cancel it. Cancelled work gets no more memory, so it unwinds as it does when
// memory runs out, and the error says "cancelled". Loops that run long without allocating call
// tr_work_wanted. A tr_work covers everything its thread does between begin and end, including the tasks of
// its parallel loops.
typedef struct tr_work {
    bool ( *wanted )( void *context ); // false: stop. Called very often, by any of the threads at work
    void *context;
    struct tr_work *outer; // the work this one is nested in
} tr_work;

void tr_work_begin( tr_work *work, bool ( *wanted )( void *context ), void *context );
void tr_work_end( tr_work *work ); // by the same thread; works that began later end first
bool tr_work_wanted( void );       // true outside of any work
// The same for functions that return errors: false with the error "cancelled".
bool tr_work_go_on( tr_error *error );

// --------------------------------------------------------------------------------------------- numbers
// Locale-independent, exact (the double nearest to the text) and fast: a decimal of up to 19 digits with a
// small exponent takes no library call.

// Reads a decimal number at `text`, never past `end`. Returns the first character after it, or NULL when
// there is no number. "nan", "inf" and hexadecimal do not count as numbers. A value too large for a double
// reads as HUGE_VAL.
const char *tr_number_parse( const char *text, const char *end, double *value );

// Writes `value` with at most `decimals` (0 … 17) digits after the point and no trailing zeros; magnitudes of
// 1e15 and above in exponent form. Returns the number of characters, 0 when it does not fit. "-0" is written
// as "0".
int tr_number_print( char *out, size_t size, double value, int decimals );

// Shortest text that reads back as the same double.
int tr_number_print_exact( char *out, size_t size, double value );

// Whether the bytes are UTF-8 as JSON requires it: no overlong forms, no surrogates, nothing beyond Unicode.
bool tr_utf8_valid( const char *text, size_t size );
size_t tr_utf8_length( const char *text, size_t size ); // bytes of the first character, 0 if it is invalid

// Truncates to an int of low … high; NaN gives `low`. C leaves a conversion that does not fit undefined, so
// this is the only one from floating point to int outside of kernels.
static inline int tr_int_clamped( double x, int low, int high )
{
    // cppcheck-suppress floatConversionOverflow ; cppcheck follows tests past the two comparisons
    return !( x > low ) ? low : x >= high ? high : (int)x;
}

double tr_clock_ms( void );     // monotonic
double tr_processor_ms( void ); // processor time of this process, summed over its threads

// -------------------------------------------------------------------------------------------- parallel
// The one parallel primitive. [0, count) is cut into blocks of `block` (the last may be short); the cut does
// not depend on the number of threads, so a task that writes only what belongs to its block gives the same
// bits for any number. Reductions: write one partial result per block, then add them up in order.

typedef void tr_task( void *context, int begin, int end );
void tr_parallel_for( int count, int block, tr_task *task, void *context );
void tr_parallel_set_threads( int threads ); // 0 = as many as there are processors
// The same for the calling thread alone; 0 = as above. Returns the old value.
int tr_parallel_set_own_threads( int threads );
int tr_parallel_threads( void );
// Index of the thread that runs a task, below tr_parallel_threads(): scratch memory is kept by it. 0 outside
// of tasks. A tr_parallel_for within a task runs on the thread of that task.
int tr_parallel_thread( void );

// Kinds of kernels, each wider than the one before it. All give the same bits.
typedef enum tr_kernels {
    TR_KERNELS_PLAIN, // for every processor
    TR_KERNELS_AVX2,
    TR_KERNELS_AVX512,
} tr_kernels;

// Sets the widest kernels that may be called, once at start-up; by default those of the processor.
void tr_kernels_limit( tr_kernels widest );
// Whether kernels for AVX2 (with fused products and sums), and for AVX-512, may be called.
bool tr_processor_has_avx2( void );
bool tr_processor_has_avx512( void );

// ------------------------------------------------------------------------------------------------- sets
// Union–find over parent [count], with parent[i] = i at first. The smallest member represents a set.
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

// Sorts `values`. p95 by nearest rank: the smallest value that at least 95 % of the values do not exceed.
tr_spread tr_spread_of( double *values, int count );
// Sorts `values`. The value that a share of them do not exceed, between two of them by their distance: 0.5 is
// the median. 0 when there are none.
double tr_quantile_of( double *values, int count, double share );

// ---------------------------------------------------------------------------------------------- failure

// The failure of jobs that run in parallel; where several fail, that of the job with the lowest number.
typedef struct tr_first_failure {
    atomic_flag busy; // zero: free
    int job;          // -1: no failure
    tr_error error;
} tr_first_failure;

void tr_first_failure_note( tr_first_failure *first, int job, const tr_error *error );

#endif
