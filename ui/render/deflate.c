// The compression of PNG files (zlib, RFC 1950 and 1951): matches found by hash chains, fixed Huffman codes.
// Our own for the reasons in png.c.
#include "ui/render/png.h"

#include <assert.h>
#include <limits.h>
#include <stdint.h>

enum {
    WINDOW = 32768,   // bytes a match may lie behind
    HASHES = 1 << 15, // lists of places whose next three bytes have the same hash
    SHORTEST = 3,
    LONGEST = 258,
    LOOKS = 24, // places tried for a match: more make files a little smaller and take longer
    ASK = 1 << 16
};

typedef struct packer {
    const unsigned char *data;
    int size;
    int *newest; // [HASHES] the last place of each list + 1; 0: none
    int *older;  // [WINDOW] the place before it + 1, by place modulo WINDOW
    unsigned char *out;
    size_t out_size;
    uint32_t bits; // not written yet, the first lowest
    int bit_count;
} packer;

static void put( packer *p, unsigned value, int count )
{
    p->bits |= value << p->bit_count;
    for ( p->bit_count += count; p->bit_count >= 8; p->bit_count -= 8, p->bits >>= 8 )
        p->out[p->out_size++] = (unsigned char)p->bits;
}

// Huffman codes come with their highest bit first.
static void put_code( packer *p, unsigned code, int count )
{
    unsigned turned = 0;
    for ( int i = 0; i < count; ++i )
        turned |= ( code >> i & 1 ) << ( count - 1 - i );
    put( p, turned, count );
}

static void put_symbol( packer *p, unsigned symbol ) // 0 … 255: a byte; 256: the end; above: a length
{
    if ( symbol < 144 )
        put_code( p, 0x30 + symbol, 8 );
    else if ( symbol < 256 )
        put_code( p, 0x190 + symbol - 144, 9 );
    else if ( symbol < 280 )
        put_code( p, symbol - 256, 7 );
    else
        put_code( p, 0xc0 + symbol - 280, 8 );
}

// Lengths and distances come in classes, each with a first value and bits for the rest.
static void put_match( packer *p, int length, int distance )
{
    static const int length_from[] = { 3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                       31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258 };
    static const int length_bits[] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                       2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0 };
    int kind = 28, class = 29;
    while ( length < length_from[kind] )
        --kind;
    put_symbol( p, 257 + (unsigned)kind );
    put( p, (unsigned)( length - length_from[kind] ), length_bits[kind] );
    for ( ;; --class ) { // classes 0 … 3 are 1 … 4; then two to each power of two
        int bits = class < 4 ? 0 : class / 2 - 1,
            from = class < 4 ? class + 1 : ( ( 2 + class % 2 ) << bits ) + 1;
        if ( distance >= from ) {
            put_code( p, (unsigned)class, 5 );
            put( p, (unsigned)( distance - from ), bits );
            return;
        }
    }
}

static unsigned hash_at( const packer *p, int at )
{
    const unsigned char *d = p->data + at;
    return ( ( (unsigned)d[0] << 16 | (unsigned)d[1] << 8 | d[2] ) * 2654435761u ) >> 17;
}

static void remember( packer *p, int at )
{
    if ( at + SHORTEST > p->size )
        return;
    int *newest = &p->newest[hash_at( p, at )];
    p->older[at % WINDOW] = *newest;
    *newest = at + 1;
}

static int common( const packer *p, int a, int b ) // bytes that are equal from a < b on
{
    int most = p->size - b < LONGEST ? p->size - b : LONGEST, n = 0;
    while ( n < most && p->data[a + n] == p->data[b + n] )
        ++n;
    return n;
}

// Length of the longest match found for what stands at a place; below SHORTEST: none.
static int find_match( const packer *p, int at, int *distance )
{
    int best = 0, place = at + SHORTEST <= p->size ? p->newest[hash_at( p, at )] - 1 : -1;
    for ( int look = 0; look < LOOKS && place >= 0 && at - place <= WINDOW && best < LONGEST; ++look ) {
        int length = common( p, place, at ), before = p->older[place % WINDOW] - 1;
        if ( length > best ) {
            best = length;
            *distance = at - place;
        }
        place = before < place ? before : -1; // else its cell was taken by a later place
    }
    return best;
}

static uint32_t adler( const unsigned char *data, int size )
{
    uint32_t a = 1, b = 0;
    for ( int i = 0; i < size; ++i ) {
        a = ( a + data[i] ) % 65521;
        b = ( b + a ) % 65521;
    }
    return b << 16 | a;
}

static bool pack( packer *p )
{
    put( p, 0x78, 8 ); // zlib, window of 32 KiB
    put( p, 0x01, 8 );
    put( p, 3, 3 ); // the last block, fixed codes
    for ( int at = 0, asked = 0; at < p->size; ) {
        int distance = 0, length = find_match( p, at, &distance );
        if ( length >= SHORTEST )
            put_match( p, length, distance );
        else {
            put_symbol( p, p->data[at] );
            length = 1;
        }
        for ( int end = at + length; at < end; ++at )
            remember( p, at );
        if ( at - asked >= ASK && !tr_work_wanted() )
            return false;
        asked = at - asked >= ASK ? at : asked;
    }
    put_symbol( p, 256 );
    put( p, 0, 7 ); // to whole bytes
    uint32_t sum = adler( p->data, p->size );
    for ( int i = 0; i < 4; ++i )
        p->out[p->out_size++] = (unsigned char)( sum >> ( 24 - 8 * i ) );
    return true;
}

unsigned char *tr_zlib_pack( const unsigned char *data, size_t size, size_t *packed_size )
{
    assert( size <= INT_MAX );
    packer p = { .data = data, .size = (int)size };
    p.newest = tr_alloc( HASHES, sizeof( int ) );
    p.older = tr_alloc( WINDOW, sizeof( int ) );
    p.out = tr_alloc( size + size / 8 + 16, 1 ); // nothing takes more than 9 bits for a byte
    bool ok = p.newest != NULL && p.older != NULL && p.out != NULL && pack( &p );
    tr_free( p.newest );
    tr_free( p.older );
    *packed_size = p.out_size;
    if ( ok )
        return p.out;
    tr_free( p.out );
    return NULL;
}
