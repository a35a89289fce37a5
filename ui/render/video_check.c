// Is a video file whole? ffmpeg may end with success although the disk was full, so the file itself is asked:
// its parts have to fill it to the last byte, and to hold as many frames of the right size, for as long, as
// were sent.
#include "ui/render/render.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------------- MP4
// A tree of boxes: size (32 bits, with itself; 1: 64 bits follow the type; 0: to the end), type, content.

typedef struct box {
    const unsigned char *at;
    uint64_t size; // size of the content
} box;

static uint64_t number( const unsigned char *at, int bytes )
{
    uint64_t value = 0;
    for ( int i = 0; i < bytes; ++i )
        value = value << 8 | at[i];
    return value;
}

// Size of the box whose first bytes these are, head included; 0: there is none. `left` is what follows.
static uint64_t box_size( const unsigned char head[16], uint64_t left, int *head_size )
{
    uint64_t size = left >= 8 ? number( head, 4 ) : 0;
    *head_size = size == 1 ? 16 : 8;
    if ( size == 1 )
        size = left >= 16 ? number( head + 8, 8 ) : 0;
    else if ( size == 0 && left >= 8 )
        size = left;
    return size >= (uint64_t)*head_size && size <= left ? size : 0;
}

// The first box of this type in the content of another; empty when there is none.
static box find_box( box in, const char *type )
{
    while ( in.size >= 8 ) {
        unsigned char head[16] = { 0 };
        int head_size;
        memcpy( head, in.at, in.size < 16 ? (size_t)in.size : 16 );
        uint64_t size = box_size( head, in.size, &head_size );
        if ( size == 0 )
            break;
        if ( memcmp( head + 4, type, 4 ) == 0 )
            return ( box ){ in.at + head_size, size - (uint64_t)head_size };
        in = ( box ){ in.at + size, in.size - size };
    }
    return ( box ){ 0 };
}

static box find_path( box in, const char *const *types )
{
    for ( ; *types != NULL; ++types )
        in = find_box( in, *types );
    return in;
}

// Frames, pixels and seconds by the index, and the bytes of the frames.
static bool read_index( box index, tr_video_facts *out, uint64_t *bytes )
{
    static const char *const to_head[] = { "trak", "tkhd", NULL };
    static const char *const to_sizes[] = { "trak", "mdia", "minf", "stbl", "stsz", NULL };
    box movie = find_box( index, "mvhd" ), track = find_path( index, to_head ),
        sizes = find_path( index, to_sizes );
    if ( movie.size < 32 || track.size < 84 || sizes.size < 12 )
        return false;
    bool wide = movie.at[0] == 1; // times of 64 bits
    uint64_t scale = number( movie.at + ( wide ? 20 : 12 ), 4 ),
             duration = wide ? number( movie.at + 24, 8 ) : number( movie.at + 16, 4 );
    uint64_t each = number( sizes.at + 4, 4 ), count = number( sizes.at + 8, 4 );
    if ( scale == 0 || count > INT32_MAX || ( each == 0 && ( sizes.size - 12 ) / 4 < count ) )
        return false;
    *bytes = each * count;
    for ( uint64_t i = 0; each == 0 && i < count; ++i )
        *bytes += number( sizes.at + 12 + 4 * i, 4 );
    *out = ( tr_video_facts ){ .width = (int)number( track.at + track.size - 8, 2 ),
                               .height = (int)number( track.at + track.size - 4, 2 ),
                               .frames = (int)count,
                               .seconds = (double)duration / (double)scale };
    return true;
}

enum { LARGEST_INDEX = 1 << 28 }; // bytes: 4 a frame and some

static bool read_box( FILE *file, uint64_t size, tr_video_facts *out, uint64_t *bytes )
{
    unsigned char *data = size <= LARGEST_INDEX ? tr_alloc( (size_t)size, 1 ) : NULL;
    if ( data == NULL && size <= LARGEST_INDEX )
        errno = ENOMEM;
    bool ok = data != NULL && fread( data, 1, (size_t)size, file ) == (size_t)size &&
              read_index( ( box ){ data, size }, out, bytes );
    tr_free( data );
    return ok;
}

static bool read_mp4( FILE *file, uint64_t size, tr_video_facts *out )
{
    bool index = false;
    uint64_t frames = 0, media = 0;
    for ( uint64_t at = 0; at < size; ) {
        unsigned char head[16] = { 0 };
        int head_size;
        if ( fseeko( file, (off_t)at, SEEK_SET ) != 0 || fread( head, 1, 16, file ) < 8 )
            return false;
        uint64_t whole = box_size( head, size - at, &head_size ), content = whole - (uint64_t)head_size;
        if ( whole == 0 )
            return false;
        if ( memcmp( head + 4, "mdat", 4 ) == 0 )
            media += content;
        else if ( memcmp( head + 4, "moov", 4 ) == 0 ) {
            if ( index || fseeko( file, (off_t)( at + (uint64_t)head_size ), SEEK_SET ) != 0 ||
                 !read_box( file, content, out, &frames ) )
                return false;
            index = true;
        }
        at += whole;
    }
    return index && frames > 0 && frames <= media;
}

// ------------------------------------------------------------------------------------------------------- GIF
// Head, colours, then blocks: pictures (0x2C), extensions (0x21), and one byte 0x3B at the end. Data comes in
// pieces of a length and as many bytes, the last of length 0.

static bool skip( FILE *file, int bytes )
{
    unsigned char unused[1024];
    return bytes == 0 || fread( unused, 1, (size_t)bytes, file ) == (size_t)bytes;
}

static bool skip_pieces( FILE *file )
{
    int length;
    while ( ( length = getc( file ) ) > 0 )
        if ( !skip( file, length ) )
            return false;
    return length == 0;
}

static int colour_bytes( int flags )
{
    return ( flags & 0x80 ) != 0 ? 3 << ( ( flags & 7 ) + 1 ) : 0;
}

static bool read_extension( FILE *file, tr_video_facts *out )
{
    unsigned char control[5];
    if ( getc( file ) != 0xF9 ) // what is about time
        return skip_pieces( file );
    if ( fread( control, 1, 5, file ) != 5 || control[0] != 4 )
        return false;
    out->seconds += 0.01 * ( control[2] | control[3] << 8 );
    return skip_pieces( file );
}

static bool read_gif( FILE *file, tr_video_facts *out )
{
    unsigned char head[13];
    if ( fread( head, 1, 13, file ) != 13 || memcmp( head, "GIF89a", 6 ) != 0 ||
         !skip( file, colour_bytes( head[10] ) ) )
        return false;
    *out = ( tr_video_facts ){ .width = head[6] | head[7] << 8, .height = head[8] | head[9] << 8 };
    for ( int kind = getc( file ); kind != 0x3B; kind = getc( file ) ) {
        unsigned char picture[9];
        if ( kind == 0x21 ) {
            if ( !read_extension( file, out ) )
                return false;
        } else if ( kind != 0x2C || fread( picture, 1, 9, file ) != 9 ||
                    !skip( file, colour_bytes( picture[8] ) ) || !skip( file, 1 ) || !skip_pieces( file ) )
            return false;
        else
            ++out->frames;
    }
    return getc( file ) == EOF;
}

// ------------------------------------------------------------------------------------------------------
// check

bool tr_video_read_facts( tr_video_facts *out, const char *path, bool gif )
{
    *out = ( tr_video_facts ){ 0 };
    errno = 0;
    FILE *file = fopen( path, "rbe" );
    bool ok = file != NULL && fseeko( file, 0, SEEK_END ) == 0;
    off_t size = ok ? ftello( file ) : -1;
    ok = ok && size > 0 && fseeko( file, 0, SEEK_SET ) == 0 &&
         ( gif ? read_gif( file, out ) : read_mp4( file, (uint64_t)size, out ) );
    int reason = errno;
    if ( file != NULL )
        fclose( file );
    errno = reason;
    return ok;
}

// Times are whole milliseconds in MP4 files and whole hundredths in GIF files, where equal pictures may be
// one. The last picture of a GIF is shown for as long as ffmpeg likes.
bool tr_video_is_whole( const tr_video_facts *found, const tr_video_facts *sent, bool gif )
{
    double frame = sent->seconds / sent->frames;
    if ( found->width != sent->width || found->height != sent->height )
        return false;
    return gif ? found->frames > 0 && found->frames <= sent->frames &&
                     found->seconds >= sent->seconds - frame - 0.02
               : found->frames == sent->frames &&
                     fabs( found->seconds - sent->seconds ) <= 0.5 * frame + 0.002;
}
