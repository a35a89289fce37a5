// How different two pictures of a screen look: screens FIRST SECOND X Y WIDTH HEIGHT, the files as Xvfb keeps
// its screen (-fbdir, X window dumps). Prints tr_picture_difference of that part. For tests/editor_x11.sh.
#include "io/io.h"
#include "ui/render/render.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct screen {
    char *data;
    size_t size, pixels; // where these begin
    int width, height, row;
} screen;

static unsigned word( const screen *s, int index )
{
    const unsigned char *at = (const unsigned char *)s->data + 4 * index;
    return (unsigned)at[0] << 24 | (unsigned)at[1] << 16 | (unsigned)at[2] << 8 | at[3];
}

static bool load( screen *s, const char *path, tr_error *error )
{
    enum { HEADER_SIZE, VERSION, WIDTH = 4, HEIGHT, BYTES_LAST = 7, BITS = 11, ROW, COLOURS = 19 };
    if ( !tr_file_read( path, &s->data, &s->size, error ) )
        return false;
    bool ok = s->size > 100 && word( s, VERSION ) == 7 && word( s, BITS ) == 32 && word( s, BYTES_LAST ) == 0;
    if ( ok ) {
        s->pixels = word( s, HEADER_SIZE ) + 12 * (size_t)word( s, COLOURS );
        s->width = (int)word( s, WIDTH );
        s->height = (int)word( s, HEIGHT );
        s->row = (int)word( s, ROW );
    }
    ok = ok && s->pixels + (size_t)s->row * (size_t)s->height <= s->size;
    return ok || tr_error_at( error, path, 0, 0, "is no dump of a screen with 32 bits a pixel" );
}

static unsigned char *cut( const screen *s, const int area[4] )
{
    unsigned char *rgb = tr_alloc( (size_t)area[2] * (size_t)area[3], 3 ), *out = rgb;
    for ( int y = area[1]; rgb != NULL && y < area[1] + area[3]; ++y )
        for ( int x = area[0]; x < area[0] + area[2]; ++x ) {
            const char *at = s->data + s->pixels + (size_t)y * (size_t)s->row + 4 * (size_t)x;
            for ( int c = 2; c >= 0; --c )
                *out++ = (unsigned char)at[c];
        }
    return rgb;
}

int main( int count, char **words )
{
    screen s[2] = { 0 };
    tr_error error = { 0 };
    int area[4] = { 0 };
    for ( int i = 0; i < 4 && count == 7; ++i )
        area[i] = atoi( words[3 + i] );
    bool ok =
        area[2] > 0 && area[3] > 0 && load( &s[0], words[1], &error ) && load( &s[1], words[2], &error );
    for ( int i = 0; ok && i < 2; ++i )
        ok = area[0] >= 0 && area[1] >= 0 && area[0] + area[2] <= s[i].width &&
             area[1] + area[3] <= s[i].height;
    unsigned char *a = ok ? cut( &s[0], area ) : NULL, *b = ok ? cut( &s[1], area ) : NULL;
    if ( a != NULL && b != NULL )
        printf( "%.5f\n", tr_picture_difference( a, b, area[2], area[3] ) );
    else
        fprintf( stderr, "screens: %s\n",
                 error.message[0] != 0 ? error.message : "FIRST SECOND X Y WIDTH HEIGHT" );
    tr_free( a );
    tr_free( b );
    for ( int i = 0; i < 2; ++i )
        tr_free( s[i].data );
    return a != NULL && b != NULL ? 0 : 1;
}
