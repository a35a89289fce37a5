// Each block carries its size in front of it, so that the live-byte counter needs no help from the caller.
#include "base/private.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef union header {
    size_t size;
    max_align_t align;
} header;

static atomic_size_t live, peak;
static atomic_long countdown; // allocations left before they fail; 0 = never

static atomic_size_t limit;  // 0: half of the machine's memory
static atomic_bool refused;  // a request exceeded the limit
static atomic_long refusals; // refusals in all threads

// Half of the machine's memory. Systems grant more than they have and kill the program when it uses it; a
// request that can never be served is better refused, with an error.
static size_t half_of_the_machine( void )
{
    long pages = sysconf( _SC_PHYS_PAGES ), page = sysconf( _SC_PAGESIZE );
    return pages > 0 && page > 0 ? (size_t)pages / 2 * (size_t)page : SIZE_MAX;
}

void tr_memory_set_limit( size_t bytes )
{
    atomic_store( &limit, bytes );
}

size_t tr_memory_limit( void )
{
    size_t bytes = atomic_load( &limit );
    return bytes > 0 ? bytes : half_of_the_machine();
}

bool tr_memory_was_refused( void )
{
    return atomic_exchange( &refused, false );
}

long tr_memory_refusals( void )
{
    return atomic_load( &refusals );
}

// Small requests are never refused.
static bool fits( size_t bytes, size_t old_bytes )
{
    enum { SMALL = 1 << 20 };
    if ( bytes <= SMALL )
        return true;
    size_t others = atomic_load( &live ) - old_bytes, most = tr_memory_limit();
    bool ok = others <= most && bytes <= most - others;
    if ( !ok ) {
        atomic_store( &refused, true );
        atomic_fetch_add( &refusals, 1 );
    }
    return ok;
}

static bool may_allocate( void )
{
    long left = atomic_load( &countdown );
    if ( left == 0 )
        return true;
    if ( left == 1 )
        return false;
    atomic_store( &countdown, left - 1 );
    return true;
}

static void count_in( size_t size )
{
    size_t now = atomic_fetch_add( &live, size ) + size;
    size_t most = atomic_load( &peak );
    while ( now > most && !atomic_compare_exchange_weak( &peak, &most, now ) )
        ;
}

void *tr_realloc( void *pointer, size_t count, size_t size )
{
    if ( size != 0 && count > ( SIZE_MAX / 2 - sizeof( header ) ) / size )
        return NULL;
    if ( !may_allocate() || !tr_work_wanted() )
        return NULL;
    size_t bytes = count * size;
    header *old = pointer != NULL ? (header *)pointer - 1 : NULL;
    size_t old_bytes = old != NULL ? old->size : 0;
    if ( !fits( bytes, old_bytes ) )
        return NULL;
    header *block =
        old != NULL ? realloc( old, sizeof( header ) + bytes ) : calloc( 1, sizeof( header ) + bytes );
    if ( block == NULL )
        return NULL;
    if ( old != NULL && bytes > old_bytes )
        memset( (char *)( block + 1 ) + old_bytes, 0, bytes - old_bytes );
    block->size = bytes;
    atomic_fetch_sub( &live, old_bytes );
    count_in( bytes );
    return block + 1;
}

void *tr_alloc( size_t count, size_t size )
{
    return tr_realloc( NULL, count, size );
}

void tr_free( void *pointer )
{
    if ( pointer == NULL )
        return;
    header *block = (header *)pointer - 1;
    atomic_fetch_sub( &live, block->size );
    free( block );
}

size_t tr_memory_live( void )
{
    return atomic_load( &live );
}

size_t tr_memory_peak( void )
{
    return atomic_load( &peak );
}

void tr_memory_reset_peak( void )
{
    atomic_store( &peak, atomic_load( &live ) );
}

void tr_memory_fail_from( long n )
{
    atomic_store( &countdown, n );
}

char *tr_string_copy( const char *string )
{
    size_t size = strlen( string ) + 1;
    char *copy = tr_alloc( size, 1 );
    if ( copy != NULL )
        memcpy( copy, string, size );
    return copy;
}

char *tr_string_format( const char *format, ... )
{
    va_list arguments, again;
    va_start( arguments, format );
    va_copy( again, arguments );
    int length = vsnprintf( NULL, 0, format, arguments );
    char *text = length >= 0 ? tr_alloc( (size_t)length + 1, 1 ) : NULL;
    if ( text != NULL )
        vsnprintf( text, (size_t)length + 1, format, again );
    va_end( again );
    va_end( arguments );
    return text;
}

bool tr_array_reserve( void **data, int *capacity, int needed, size_t size )
{
    if ( needed <= *capacity )
        return true;
    long long grown = *capacity > 0 ? 2LL * *capacity : 8;
    if ( grown < needed )
        grown = needed;
    if ( grown > INT32_MAX )
        grown = INT32_MAX;
    void *bigger = tr_realloc( *data, (size_t)grown, size );
    if ( bigger == NULL )
        return false;
    *data = bigger;
    *capacity = (int)grown;
    return true;
}

uint64_t tr_hash_bytes( uint64_t hash, const void *data, size_t size )
{
    const unsigned char *bytes = data;
    for ( size_t i = 0; i < size; ++i )
        hash = ( hash ^ bytes[i] ) * 1099511628211u;
    return hash ^ hash >> 32; // tables use the low bits, which the high bits of the last bytes hardly reach
}

uint32_t tr_crc32( uint32_t sum, const void *data, size_t size )
{
    uint32_t table[256];
    for ( uint32_t i = 0; i < 256; ++i ) {
        table[i] = i;
        for ( int bit = 0; bit < 8; ++bit )
            table[i] = table[i] >> 1 ^ ( ( table[i] & 1 ) != 0 ? 0xedb88320u : 0 );
    }
    sum = ~sum;
    for ( size_t i = 0; i < size; ++i )
        sum = sum >> 8 ^ table[( sum ^ ( (const unsigned char *)data )[i] ) & 255];
    return ~sum;
}

size_t tr_carve_bytes( size_t bytes )
{
    return ( bytes + TR_CARVE - 1 ) / TR_CARVE * TR_CARVE;
}

void *tr_carve( char **at, size_t bytes )
{
    void *out = *at;
    *at = (char *)( (uintptr_t)out + tr_carve_bytes( bytes ) ); // NULL + n is undefined on pointers
    return out;
}
