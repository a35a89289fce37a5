// Writes PNG files: every row filtered by what makes its bytes smallest, then packed (deflate.c). When memory
// runs out or the work is cancelled there is no file, and nothing else happens.
//
// Why not a library: stb's writer aborts when memory runs out, and zlib and libpng are not among the packages
// Troupe needs (scripts/packages.sh). This and deflate.c are shorter than a dependency is worth.
#include "ui/render/png.h"

#include <stdlib.h>
#include <string.h>

static void put_number( unsigned char out[4], uint32_t value )
{
    for ( int i = 0; i < 4; ++i )
        out[i] = (unsigned char)( value >> ( 24 - 8 * i ) );
}

static void add_chunk( tr_text *out, const char *kind, const unsigned char *data, size_t size )
{
    unsigned char number[4];
    put_number( number, (uint32_t)size );
    tr_text_append( out, (const char *)number, 4 );
    tr_text_append( out, kind, 4 );
    tr_text_append( out, (const char *)data, size );
    put_number( number, tr_crc32( tr_crc32( 0, kind, 4 ), data, size ) );
    tr_text_append( out, (const char *)number, 4 );
}

// The one of left, above and above left that is nearest to left + above − above left.
static int paeth( int left, int above, int corner )
{
    int a = abs( above - corner ), b = abs( left - corner ), c = abs( left + above - 2 * corner );
    return a <= b && a <= c ? left : b <= c ? above : corner;
}

// A row [3 width] less what the filter foretells from the pixels left of it and above it.
static void filter_row( int filter, const unsigned char *row, const unsigned char *above, int bytes,
                        unsigned char *out )
{
    for ( int i = 0; i < bytes; ++i ) {
        int left = i >= 3 ? row[i - 3] : 0, up = above != NULL ? above[i] : 0;
        int corner = i >= 3 && above != NULL ? above[i - 3] : 0;
        const int foretold[5] = { 0, left, up, ( left + up ) / 2, paeth( left, up, corner ) };
        out[i] = (unsigned char)( row[i] - foretold[filter] );
    }
}

static long size_of_bytes( const unsigned char *row, int bytes )
{
    long sum = 0;
    for ( int i = 0; i < bytes; ++i )
        sum += row[i] < 128 ? row[i] : 256 - row[i];
    return sum;
}

// rows [height][1 + 3 width]: the filter of each row, then the row. trial [3 width] is room.
static bool filter_rows( int width, int height, const unsigned char *rgb, unsigned char *rows,
                         unsigned char *trial )
{
    int bytes = 3 * width;
    for ( int y = 0; y < height; ++y ) {
        const unsigned char *row = rgb + (size_t)y * (size_t)bytes;
        unsigned char *out = rows + (size_t)y * ( (size_t)bytes + 1 );
        long best = -1;
        if ( !tr_work_wanted() )
            return false;
        for ( int filter = 0; filter < 5; ++filter ) {
            filter_row( filter, row, y > 0 ? row - bytes : NULL, bytes, trial );
            long size = size_of_bytes( trial, bytes );
            if ( best >= 0 && size >= best )
                continue;
            best = size;
            out[0] = (unsigned char)filter;
            memcpy( out + 1, trial, (size_t)bytes );
        }
    }
    return true;
}

bool tr_png_write( tr_text *out, int width, int height, const unsigned char *rgb )
{
    size_t bytes = 3 * (size_t)width, size = ( bytes + 1 ) * (size_t)height, packed_size;
    unsigned char *rows = tr_alloc( size, 1 ), *trial = tr_alloc( bytes, 1 );
    bool ok = rows != NULL && trial != NULL && filter_rows( width, height, rgb, rows, trial );
    unsigned char *packed = ok ? tr_zlib_pack( rows, size, &packed_size ) : NULL;
    tr_free( rows );
    tr_free( trial );
    if ( packed == NULL )
        return false;
    unsigned char head[13] = { [8] = 8, 2 }; // 8 bits, red, green, blue
    put_number( head, (uint32_t)width );
    put_number( head + 4, (uint32_t)height );
    tr_text_append( out, "\x89PNG\r\n\x1a\n", 8 );
    add_chunk( out, "IHDR", head, sizeof head );
    add_chunk( out, "IDAT", packed, packed_size );
    add_chunk( out, "IEND", head, 0 );
    tr_free( packed );
    return !out->failed;
}
