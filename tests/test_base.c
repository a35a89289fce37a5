#include "check.h"

#include <locale.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

// -------------------------------------------------------------------------------------------------- errors

static void check_printed( const tr_error *error, const char *expected )
{
    char text[1400];
    tr_error_print( error, text, sizeof text );
    assert_string_equal( text, expected );
}

static void errors_say_where( void **state )
{
    (void)state;
    tr_error error;
    assert_false( tr_error_at( &error, "walk.bvh", 12, 7, "expected %s", "OFFSET" ) );
    check_printed( &error, "walk.bvh:12:7: expected OFFSET" );
    assert_false( tr_error_at( &error, "walk.bvh", 12, 0, "is odd" ) );
    check_printed( &error, "walk.bvh:12: is odd" );
    assert_false( tr_error_at( &error, "walk.bvh", 0, 0, "is empty" ) );
    check_printed( &error, "walk.bvh: is empty" );
    assert_false( tr_error_path( &error, "scene.json", "cast[3].id", "is missing" ) );
    check_printed( &error, "scene.json: cast[3].id: is missing" );
    assert_false( tr_error_set( &error, "plain" ) );
    check_printed( &error, "plain" );
    assert_false( tr_error_memory( &error ) );
    check_printed( &error, "out of memory" );
    assert_false( tr_error_set( NULL, "nobody listens" ) );
}

static void long_messages_are_cut( void **state )
{
    (void)state;
    char long_text[5000], small[16];
    memset( long_text, 'x', sizeof long_text - 1 );
    long_text[sizeof long_text - 1] = 0;
    tr_error error;
    tr_error_at( &error, long_text, 1, 2, "%s", long_text );
    assert_int_equal( strlen( error.file ), sizeof error.file - 1 );
    assert_int_equal( strlen( error.message ), sizeof error.message - 1 );
    tr_error_print( &error, small, sizeof small );
    assert_int_equal( strlen( small ), sizeof small - 1 );
}

// -------------------------------------------------------------------------------------------------- memory

static void memory_is_counted( void **state )
{
    (void)state;
    size_t before = tr_memory_live();
    int *numbers = tr_alloc( 10, sizeof( int ) );
    assert_int_equal( tr_memory_live() - before, 10 * sizeof( int ) );
    for ( int i = 0; i < 10; ++i ) {
        assert_int_equal( numbers[i], 0 );
        numbers[i] = i;
    }
    numbers = tr_realloc( numbers, 1000, sizeof( int ) );
    assert_int_equal( tr_memory_live() - before, 1000 * sizeof( int ) );
    assert_true( tr_memory_peak() >= before + 1000 * sizeof( int ) );
    for ( int i = 0; i < 1000; ++i )
        assert_int_equal( numbers[i], i < 10 ? i : 0 );
    tr_free( numbers );
    assert_int_equal( tr_memory_live(), before );
    void *nothing = tr_alloc( 0, 8 );
    assert_non_null( nothing );
    tr_free( nothing );
    tr_free( NULL );
}

static void impossible_sizes_are_refused( void **state )
{
    (void)state;
    assert_null( tr_alloc( SIZE_MAX, 2 ) );
    assert_null( tr_alloc( SIZE_MAX / 16, 32 ) );
    assert_null( tr_alloc( SIZE_MAX, 1 ) );
    char *kept = tr_alloc( 1, 1 );
    assert_null( tr_realloc( kept, SIZE_MAX / 2, 4 ) );
    tr_free( kept );
}

static void the_machine_s_memory_is_the_limit( void **state )
{
    (void)state;
    // half of it may be used: once five sixteenths, but not twice
    size_t half = (size_t)sysconf( _SC_PHYS_PAGES ) / 16 * 5 * (size_t)sysconf( _SC_PAGESIZE );
    void *first = tr_alloc( half, 1 ); // not touched, so it costs nothing
    if ( first == NULL )
        skip(); // a system that promises nothing
    assert_null( tr_alloc( half, 1 ) );
    assert_null( tr_realloc( first, 2 * half, 1 ) );
    void *small = tr_alloc( 1000, 1 );
    assert_non_null( small );
    tr_free( small );
    tr_free( first );
}

static void memory_has_a_limit( void **state )
{
    (void)state;
    enum { LIMIT = 64 << 20 };
    size_t before = tr_memory_limit(), live = tr_memory_live();
    tr_error error = { 0 };
    tr_memory_set_limit( LIMIT );
    assert_int_equal( tr_memory_limit(), LIMIT );
    void *first = tr_alloc( LIMIT / 2, 1 ), *second = tr_alloc( LIMIT / 2 + 1, 1 );
    assert_non_null( first );
    assert_null( second );
    assert_false( tr_error_memory( &error ) );
    assert_string_equal( error.message,
                         "out of memory: this needs more than the 0.0671 GB that may be used" );
    tr_error later = { 0 };
    tr_error_memory( &later ); // reported already
    assert_string_equal( later.message, "out of memory" );
    tr_free( first );
    tr_memory_set_limit( 0 );
    assert_int_equal( tr_memory_limit(), before );
    assert_int_equal( tr_memory_live(), live );
}

static bool is_not_wanted( void *context )
{
    return *(atomic_int *)context > 0;
}

static void ask_in_tasks( void *context, int begin, int end )
{
    atomic_int *wanted = context;
    for ( int i = begin; i < end; ++i )
        wanted[i] = tr_work_wanted();
}

static void work_is_cancelled( void **state )
{
    (void)state;
    enum { TASKS = 100 };
    atomic_int go_on = 1, answers[TASKS];
    tr_work work, inner;
    tr_error error = { 0 };
    assert_true( tr_work_wanted() );
    tr_work_begin( &work, is_not_wanted, &go_on );
    void *memory = tr_alloc( 10, 1 );
    assert_non_null( memory );
    assert_true( tr_work_go_on( &error ) );
    go_on = 0;
    assert_null( tr_alloc( 10, 1 ) );
    assert_null( tr_realloc( memory, 20, 1 ) );
    assert_false( tr_work_go_on( &error ) );
    assert_string_equal( error.message, "cancelled" );
    tr_error_memory( &error );
    assert_string_equal( error.message, "cancelled" );
    atomic_int always = 1; // what is done within it is no longer wanted either
    tr_work_begin( &inner, is_not_wanted, &always );
    assert_false( tr_work_wanted() );
    tr_parallel_set_threads( 4 );
    tr_parallel_for( TASKS, 1, ask_in_tasks, answers );
    for ( int i = 0; i < TASKS; ++i )
        assert_int_equal( answers[i], 0 );
    tr_work_end( &inner );
    tr_work_end( &work );
    tr_parallel_for( TASKS, 1, ask_in_tasks, answers ); // the same threads
    for ( int i = 0; i < TASKS; ++i )
        assert_int_equal( answers[i], 1 );
    tr_parallel_set_threads( 0 );
    tr_free( memory );
}

static void allocations_fail_on_request( void **state )
{
    (void)state;
    tr_memory_fail_from( 2 );
    void *first = tr_alloc( 1, 1 );
    void *second = tr_alloc( 1, 1 ), *third = tr_alloc( 1, 1 );
    tr_memory_fail_from( 0 );
    void *later = tr_alloc( 1, 1 );
    assert_non_null( first );
    assert_null( second );
    assert_null( third );
    assert_non_null( later );
    tr_free( first );
    tr_free( later );
}

static void strings_are_copied( void **state )
{
    (void)state;
    char *copy = tr_string_copy( "Hüfte" ), *made = tr_string_format( "%s-%d", "box", 7 );
    assert_string_equal( copy, "Hüfte" );
    assert_string_equal( made, "box-7" );
    tr_free( copy );
    tr_free( made );
    tr_memory_fail_from( 1 );
    assert_null( tr_string_copy( "a" ) );
    assert_null( tr_string_format( "%d", 1 ) );
}

static void arrays_grow( void **state )
{
    (void)state;
    int *data = NULL, capacity = 0;
    for ( int i = 0; i < 1000; ++i ) {
        assert_true( tr_array_reserve( (void **)&data, &capacity, i + 1, sizeof( int ) ) );
        assert_true( capacity > i );
        data[i] = i;
    }
    int before = capacity;
    tr_memory_fail_from( 1 );
    assert_false( tr_array_reserve( (void **)&data, &capacity, before + 1, sizeof( int ) ) );
    tr_memory_fail_from( 0 );
    assert_int_equal( capacity, before );
    for ( int i = 0; i < 1000; ++i )
        assert_int_equal( data[i], i );
    tr_free( data );
}

static void log_keeps_lines( void **state )
{
    (void)state;
    tr_log log = { 0 };
    for ( int i = 0; i < 20; ++i )
        tr_log_add( &log, "line %d", i );
    assert_int_equal( log.count, 20 );
    assert_string_equal( log.lines[0], "line 0" );
    assert_string_equal( log.lines[19], "line 19" );
    tr_memory_fail_from( 1 );
    tr_log_add( &log, "lost" );
    tr_memory_fail_from( 0 );
    assert_int_equal( log.count, 20 );
    tr_log_add( NULL, "nobody reads %d", 1 );
    tr_log_free( &log );
    assert_int_equal( log.count, 0 );
}

// ------------------------------------------------------------------------------------------------- numbers

static void check_bits( double actual, double expected, const char *text )
{
    if ( memcmp( &actual, &expected, sizeof actual ) == 0 )
        return;
    print_error( "\"%.60s\" read as %.17g, not %.17g\n", text, actual, expected );
    fail();
}

// The text lies at the very end of its memory, so that a sanitizer sees a read past it.
static const char *parse_alone( const char *text, double *value, size_t *used )
{
    size_t size = strlen( text );
    char *copy = malloc( size > 0 ? size : 1 );
    assert_non_null( copy );
    memcpy( copy, text, size );
    const char *after = tr_number_parse( copy, copy + size, value );
    *used = after != NULL ? (size_t)( after - copy ) : 0;
    const char *result = after != NULL ? text + *used : NULL;
    free( copy );
    return result;
}

static void check_number( const char *text, double expected, const char *rest )
{
    double value = 0.25;
    size_t used;
    const char *after = parse_alone( text, &value, &used );
    assert_non_null( after );
    assert_string_equal( after, rest );
    check_bits( value, expected, text );
}

static void numbers_by_hand( void **state )
{
    (void)state;
    check_number( "0", 0.0, "" );
    check_number( "-0.0", -0.0, "" );
    check_number( "+12.5", 12.5, "" );
    check_number( ".5", 0.5, "" );
    check_number( "5.", 5.0, "" );
    check_number( "-1e3", -1000.0, "" );
    check_number( "1E-2 7", 0.01, " 7" );
    check_number( "00000000000000000000000000123.25", 123.25, "" );
    check_number( "0.000000000000000000000000000001", 1e-30, "" );
    check_number( "1.2.3", 1.2, ".3" );
    check_number( "1e", 1.0, "e" );
    check_number( "1e+", 1.0, "e+" );
    check_number( "1,5", 1.0, ",5" );
    check_number( "9007199254740993", 9007199254740992.0, "" ); // 2^53 + 1: tie to even
    check_number( "9007199254740993.0000000000000000000000001", 9007199254740994.0, "" );
    check_number( "1844674407370955161.5", 0x1p64 / 10, "" );
    check_number( "18446744073709551615", 0x1p64, "" );
    check_number( "1e22", 1e22, "" );
    check_number( "1e23", 1e23, "" );
    check_number( "1.4901161193847656e-08", 0x1p-26, "" );
    check_number( "0e999999999999999999999", 0.0, "" );
}

static void what_is_no_number( void **state )
{
    (void)state;
    const char *texts[] = { "",    "-",    "+",        ".",   "-.",   "e5", ".e5", "nan", "NaN", "inf",
                            "Inf", "-inf", "infinity", "--1", "0x10", " 1", "abc", "{",   "١" };
    for ( size_t i = 0; i < sizeof texts / sizeof *texts; ++i ) {
        double value = 0.25;
        size_t used;
        if ( parse_alone( texts[i], &value, &used ) != NULL ) {
            print_error( "\"%s\" was taken for a number\n", texts[i] );
            fail();
        }
        assert_true( value == 0.25 );
    }
}

static void extreme_numbers( void **state )
{
    (void)state;
    check_number( "1.7976931348623157e308", 0x1.fffffffffffffp1023, "" );
    check_number( "1.7976931348623159e308", HUGE_VAL, "" );
    check_number( "-1e400", -HUGE_VAL, "" );
    check_number( "1e99999999999999999999999999", HUGE_VAL, "" );
    check_number( "1e-99999999999999999999999999", 0.0, "" );
    check_number( "4.9406564584124654e-324", 0x1p-1074, "" );
    check_number( "2.4703282292062327e-324", 0.0, "" );       // just under half of the smallest
    check_number( "2.4703282292062328e-324", 0x1p-1074, "" ); // just above it
    check_number( "2.2250738585072011e-308", 0x0.fffffffffffffp-1022, "" );
    check_number( "2.2250738585072014e-308", 0x1p-1022, "" );
}

// A number of a million digits: exact, and no larger memory than a short one.
static void endless_numbers( void **state )
{
    (void)state;
    size_t size = 1000000;
    char *text = malloc( size );
    assert_non_null( text );
    memset( text, '0', size );
    double value;
    memcpy( text, "9007199254740993.", 17 );
    assert_ptr_equal( tr_number_parse( text, text + size, &value ), text + size );
    check_bits( value, 9007199254740992.0, "tie to even" );
    text[size - 1] = '1';
    assert_ptr_equal( tr_number_parse( text, text + size, &value ), text + size );
    check_bits( value, 9007199254740994.0, "one digit beyond the tie" );
    memset( text, '0', size );
    memcpy( text, "12", 2 );
    memcpy( text + size - 8, "e-999997", 8 ); // 12 · 10^999990 · 10^-999997
    assert_ptr_equal( tr_number_parse( text, text + size, &value ), text + size );
    check_bits( value, 12e-7, "zeros undone by the exponent" );
    free( text );
}

static double random_double( uint64_t *seed )
{
    double value;
    do {
        uint64_t bits = random_bits( seed );
        memcpy( &value, &bits, sizeof value );
    } while ( !isfinite( value ) );
    return value;
}

static void random_texts_read_like_strtod( void **state )
{
    (void)state;
    uint64_t seed = 7;
    for ( int n = 0; n < 100000; ++n ) {
        char text[64];
        double value = random_double( &seed );
        if ( n % 2 == 0 ) // numbers as in motion files
            value = ldexp( (double)(int64_t)random_bits( &seed ), -56 );
        int digits = (int)( random_bits( &seed ) % 21 );
        snprintf( text, sizeof text, n % 4 == 0 && fabs( value ) < 1e9 ? "%.*f" : "%.*e", digits, value );
        double read;
        assert_ptr_equal( tr_number_parse( text, text + strlen( text ), &read ), text + strlen( text ) );
        check_bits( read, strtod( text, NULL ), text );
    }
}

// The middle between two neighbouring doubles, written out in full, and the same nudged up.
static void halfway_cases( void **state )
{
    (void)state;
    uint64_t seed = 11;
    for ( int n = 0; n < 20000; ++n ) {
        char text[64];
        int64_t odd = (int64_t)( random_bits( &seed ) >> 11 | 1 ) + ( (int64_t)1 << 53 ); // 54 bits, odd
        snprintf( text, sizeof text, "%lld%s", (long long)odd,
                  n % 3 == 0   ? ""
                  : n % 3 == 1 ? "e-7"
                               : ".001" );
        double read;
        assert_non_null( tr_number_parse( text, text + strlen( text ), &read ) );
        check_bits( read, strtod( text, NULL ), text );
    }
}

static void check_text( double value, int decimals, const char *expected )
{
    char text[64];
    int length = decimals < 0 ? tr_number_print_exact( text, sizeof text, value )
                              : tr_number_print( text, 64, value, decimals );
    assert_string_equal( text, expected );
    assert_int_equal( length, strlen( expected ) );
}

static void printing_by_hand( void **state )
{
    (void)state;
    check_text( 0, 6, "0" );
    check_text( -0.0, 6, "0" );
    check_text( -1e-9, 6, "0" );
    check_text( 1.5, 0, "2" );
    check_text( 1.25, 6, "1.25" );
    check_text( -100, 3, "-100" );
    check_text( 0.1, 17, "0.10000000000000001" );
    check_text( 123456.789, 2, "123456.79" );
    check_text( 1e15, 3, "1e15" );
    check_text( -2.5e300, 3, "-2.5e300" );
    check_text( 0.1, -1, "0.1" );
    check_text( -0.0, -1, "-0" );
    check_text( 0.30000000000000004, -1, "0.30000000000000004" );
    check_text( 5e-324, -1, "5e-324" );
    check_text( 1e22, -1, "1e22" );
    check_text( 120, -1, "120" );
    check_text( -0.0083333, -1, "-0.0083333" );
    check_text( 1.4901161193847656e-08, -1, "1.4901161193847656e-8" );
    check_text( 0.000123456789012345, -1, "0.000123456789012345" );
    check_text( 123456789.01234567, -1, "123456789.01234567" );
    char small[4];
    assert_int_equal( tr_number_print( small, sizeof small, 1234, 0 ), 0 );
    assert_int_equal( tr_number_print( small, sizeof small, 123, 0 ), 3 );
    assert_int_equal( tr_number_print_exact( small, sizeof small, 0.125 ), 0 );
}

static void printing_reads_back( void **state )
{
    (void)state;
    uint64_t seed = 5;
    for ( int n = 0; n < 50000; ++n ) {
        char text[64], rounded[64];
        double value = random_double( &seed ), back;
        if ( n % 2 == 0 )
            value = ldexp( (double)(int64_t)random_bits( &seed ), -54 );
        int length = tr_number_print_exact( text, sizeof text, value );
        assert_true( length > 0 && length < 26 );
        assert_ptr_equal( tr_number_parse( text, text + length, &back ), text + length );
        check_bits( back, value, text );
        if ( fabs( value ) >= 1e15 )
            continue;
        length = tr_number_print( rounded, sizeof rounded, value, 9 );
        assert_ptr_equal( tr_number_parse( rounded, rounded + length, &back ), rounded + length );
        check_near( back, value, 0.5000001e-9 + 1e-16 * fabs( value ) );
    }
}

static void locale_does_not_matter( void **state )
{
    (void)state;
    const char *names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8", "de_DE", "fr_FR" };
    const char *found = NULL;
    for ( size_t i = 0; i < sizeof names / sizeof *names && found == NULL; ++i )
        found = setlocale( LC_NUMERIC, names[i] );
    if ( found == NULL ) {
        print_message( "no locale with a decimal comma is installed\n" );
        skip();
    }
    numbers_by_hand( NULL );
    extreme_numbers( NULL );
    endless_numbers( NULL );
    printing_by_hand( NULL );
    printing_reads_back( NULL );
    setlocale( LC_NUMERIC, "C" );
}

// ------------------------------------------------------------------------------------------------ parallel

enum { CELLS = 1003, BLOCK = 17, BLOCKS = ( CELLS + BLOCK - 1 ) / BLOCK };

typedef struct sums {
    int visits[CELLS];
    double partial[BLOCKS];
} sums;

static void add_block( void *context, int begin, int end )
{
    sums *s = context;
    for ( int i = begin; i < end; ++i ) {
        s->visits[i]++;
        s->partial[begin / BLOCK] += 1.0 / ( 1.0 + i ); // rounding depends on the order of the terms
    }
}

static void parallel_gives_the_same_bits( void **state )
{
    (void)state;
    const int threads[] = { 1, 2, 3, 8, 0 };
    double first = 0;
    for ( int t = 0; t < 5; ++t ) {
        tr_parallel_set_threads( threads[t] );
        assert_true( threads[t] == 0 ? tr_parallel_threads() > 0 : tr_parallel_threads() == threads[t] );
        sums s = { 0 };
        tr_parallel_for( CELLS, BLOCK, add_block, &s );
        double total = 0;
        for ( int b = 0; b < BLOCKS; ++b )
            total += s.partial[b];
        for ( int i = 0; i < CELLS; ++i )
            assert_int_equal( s.visits[i], 1 );
        if ( t == 0 )
            first = total;
        check_bits( total, first, "sum over blocks" );
    }
    tr_parallel_set_threads( 0 );
}

static void note_inner( void *context, int begin, int end )
{
    for ( int i = begin; i < end; ++i )
        ( (int *)context )[i] = tr_parallel_thread();
}

typedef struct own_numbers {
    bool in_range[16], kept[16];
} own_numbers;

static void note_outer( void *context, int begin, int end )
{
    own_numbers *n = context;
    int own = tr_parallel_thread(), inner[4] = { -1, -1, -1, -1 };
    tr_parallel_for( 4, 1, note_inner, inner );
    for ( int i = begin; i < end; ++i ) {
        n->in_range[i] = own >= 0 && own < tr_parallel_threads();
        n->kept[i] = inner[0] == own && inner[1] == own && inner[2] == own && inner[3] == own;
    }
}

// Memory may be kept by number of thread: it is small, and the same in loops within a task.
static void threads_have_numbers( void **state )
{
    (void)state;
    int threads[] = { 1, 2, 3, 8 };
    assert_int_equal( tr_parallel_thread(), 0 );
    for ( int t = 0; t < 4; ++t ) {
        own_numbers n = { { false }, { false } };
        tr_parallel_set_threads( threads[t] );
        tr_parallel_for( 16, 1, note_outer, &n );
        for ( int i = 0; i < 16; ++i )
            assert_true( n.in_range[i] && n.kept[i] );
    }
    tr_parallel_set_threads( 0 );
}

static void note_threads( void *context, int begin, int end )
{
    for ( int i = begin; i < end; ++i )
        ( (int *)context )[i] = tr_parallel_threads();
}

// A thread's own number of threads holds for it and its loops alone.
static void a_thread_has_its_own_number_of_threads( void **state )
{
    (void)state;
    int seen[16];
    tr_parallel_set_threads( 2 );
    assert_int_equal( tr_parallel_set_own_threads( 3 ), 0 );
    tr_parallel_for( 16, 1, note_threads, seen );
    for ( int i = 0; i < 16; ++i )
        assert_int_equal( seen[i], 3 );
    assert_int_equal( tr_parallel_set_own_threads( 0 ), 3 );
    tr_parallel_for( 16, 1, note_threads, seen ); // the threads of before may run it
    for ( int i = 0; i < 16; ++i )
        assert_int_equal( seen[i], 2 );
    tr_parallel_set_threads( 0 );
}

// A call from a foreign parallel region counts as the first thread of its loops.
static void a_foreign_region_does_not_count( void **state )
{
    (void)state;
    int numbers[4][8];
    memset( numbers, 0xFF, sizeof numbers );
#pragma omp parallel for num_threads( 4 )
    for ( int i = 0; i < 4; ++i )
        tr_parallel_for( 8, 1, note_inner, numbers[i] );
    for ( int i = 0; i < 32; ++i )
        assert_int_equal( numbers[i / 8][i % 8], 0 );
}

static void nothing_to_do_in_parallel( void **state )
{
    (void)state;
    sums s = { 0 };
    tr_parallel_for( 0, 8, add_block, &s );
    tr_parallel_for( -3, 8, add_block, &s );
    for ( int i = 0; i < CELLS; ++i )
        assert_int_equal( s.visits[i], 0 );
    tr_parallel_for( 1, BLOCK, add_block, &s );
    assert_int_equal( s.visits[0], 1 );
}

static void utf_8_is_told_from_other_bytes( void **state )
{
    (void)state;
    static const char *const valid[] = { "",    "abc", "ü", "€", "\xf0\x9f\x90\xba", "\xf4\x8f\xbf\xbf",
                                         "\x7f" };
    static const char *const invalid[] = { "\x80",             // begins in the middle
                                           "\xc3",             // ends in the middle
                                           "\xe2\x82",         //
                                           "\xc3(",            // goes on with something else
                                           "\xc0\x80",         // overlong
                                           "\xe0\x80\xaf",     //
                                           "\xed\xa0\x80",     // surrogate
                                           "\xf4\x90\x80\x80", // beyond U+10FFFF
                                           "\xf8\x88\x80\x80\x80" };
    for ( size_t i = 0; i < sizeof valid / sizeof *valid; ++i )
        assert_true( tr_utf8_valid( valid[i], strlen( valid[i] ) ) );
    for ( size_t i = 0; i < sizeof invalid / sizeof *invalid; ++i )
        assert_false( tr_utf8_valid( invalid[i], strlen( invalid[i] ) ) );
    assert_true( tr_utf8_valid( "a\0b", 3 ) );
    assert_int_equal( tr_utf8_length( "€x", 4 ), 3 );
    assert_int_equal( tr_utf8_length( "€", 2 ), 0 );
    assert_int_equal( tr_utf8_length( "", 0 ), 0 );
}

// --------------------------------------------------------------------------------------------------- lists

static void lists_are_sorted_by_key( void **state )
{
    (void)state;
    static const int keys[] = { 2, 0, -1, 2, 4, 0, 2 }, first[] = { 0, 2, 2, 5, 5, 6 },
                     items[] = { 1, 5, 0, 3, 6, 4 };
    tr_lists lists;
    assert_true( tr_lists_build( &lists, keys, 7, 5 ) );
    assert_memory_equal( lists.first, first, sizeof first );
    assert_memory_equal( lists.items, items, sizeof items );
    tr_lists_free( &lists );
    assert_null( lists.first );
    assert_null( lists.items );
}

static void lists_may_be_empty( void **state )
{
    (void)state;
    static const int keys[] = { -1, -1 };
    int first[4] = { 7, 7, 7, 7 }, items[2] = { 7, 7 };
    tr_lists_fill( ( tr_lists ){ first, items }, keys, 2, 3 );
    for ( int k = 0; k <= 3; ++k )
        assert_int_equal( first[k], 0 );
    assert_int_equal( items[0], 7 );
    tr_lists_fill( ( tr_lists ){ first, items }, NULL, 0, 0 );
    tr_lists lists;
    assert_true( tr_lists_build( &lists, NULL, 0, 0 ) );
    tr_lists_free( &lists );
}

static void lists_are_as_by_search( void **state )
{
    (void)state;
    enum { COUNT = 300, KEYS = 17 };
    int keys[COUNT];
    uint64_t random = 1;
    for ( int i = 0; i < COUNT; ++i ) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        keys[i] = (int)( random >> 33 ) % ( KEYS + 1 ) - 1;
    }
    tr_lists lists;
    assert_true( tr_lists_build( &lists, keys, COUNT, KEYS ) );
    for ( int k = 0, at = 0; k < KEYS; ++k ) {
        assert_int_equal( lists.first[k], at );
        for ( int i = 0; i < COUNT; ++i )
            if ( keys[i] == k )
                assert_int_equal( lists.items[at++], i );
        assert_int_equal( lists.first[k + 1], at );
    }
    tr_lists_free( &lists );
}

static void lists_need_memory( void **state )
{
    (void)state;
    static const int keys[] = { 0, 1 };
    for ( long n = 1; n <= 2; ++n ) {
        tr_lists lists;
        tr_memory_fail_from( n );
        assert_false( tr_lists_build( &lists, keys, 2, 2 ) );
        tr_memory_fail_from( 0 );
        assert_null( lists.first );
        assert_null( lists.items );
    }
    assert_int_equal( tr_memory_live(), 0 );
}

static void clock_runs_forward( void **state )
{
    (void)state;
    double before = tr_clock_ms();
    assert_true( tr_clock_ms() >= before );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( errors_say_where ),
        TEST( long_messages_are_cut ),
        TEST( memory_is_counted ),
        TEST( impossible_sizes_are_refused ),
        TEST( the_machine_s_memory_is_the_limit ),
        TEST( memory_has_a_limit ),
        TEST( work_is_cancelled ),
        TEST( allocations_fail_on_request ),
        TEST( strings_are_copied ),
        TEST( arrays_grow ),
        TEST( log_keeps_lines ),
        TEST( numbers_by_hand ),
        TEST( what_is_no_number ),
        TEST( extreme_numbers ),
        TEST( endless_numbers ),
        TEST( random_texts_read_like_strtod ),
        TEST( halfway_cases ),
        TEST( printing_by_hand ),
        TEST( printing_reads_back ),
        TEST( locale_does_not_matter ),
        TEST( parallel_gives_the_same_bits ),
        TEST( threads_have_numbers ),
        TEST( a_thread_has_its_own_number_of_threads ),
        TEST( a_foreign_region_does_not_count ),
        TEST( nothing_to_do_in_parallel ),
        TEST( utf_8_is_told_from_other_bytes ),
        TEST( lists_are_sorted_by_key ),
        TEST( lists_may_be_empty ),
        TEST( lists_are_as_by_search ),
        TEST( lists_need_memory ),
        TEST( clock_runs_forward ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
