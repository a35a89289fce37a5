// BVH reader: one pass over the text, no recursion, memory in proportion to the size of the file, never to a
// number in it. Lines and columns are counted only for an error.
#include "format/bvh.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_FRAMES = 100000000 };

typedef struct parser {
    const char *begin, *at, *end;
    const char *name;
    tr_bvh *bvh;
    int layout_capacity, value_capacity;
    bool begun; // HIERARCHY was there
    tr_log *warnings;
    tr_error *error;
} parser;

// ------------------------------------------------------------------------------------------------- messages

static bool fail_at( const parser *p, const char *where, const char *format, ... ) TR_PRINTF( 3 );
static bool fail_at( const parser *p, const char *where, const char *format, ... )
{
    int line = 1;
    const char *line_begin = p->begin;
    for ( const char *c = p->begin; c < where; ++c )
        if ( *c == '\n' || ( *c == '\r' && ( c + 1 == p->end || c[1] != '\n' ) ) ) {
            line++;
            line_begin = c + 1;
        }
    char message[400];
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( message, sizeof message, format, arguments );
    va_end( arguments );
    return tr_error_at( p->error, p->name, line, (int)( where - line_begin ) + 1, "%s", message );
}

static bool is_newline( char c )
{
    return c == '\n' || c == '\r';
}

static bool is_blank( char c ) // within a line
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static bool is_space( char c )
{
    return is_blank( c ) || is_newline( c );
}

// The text at `where`, for a message: a word of at most 24 characters in quotes, or the end of line or file.
static const char *describe( const parser *p, const char *where, char out[40] )
{
    if ( where == p->end )
        return "the end of the file";
    if ( is_newline( *where ) )
        return "the end of the line";
    int length = 0;
    out[length++] = '"';
    for ( ; where < p->end && !is_space( *where ) && length < 25; ++where )
        out[length++] = (unsigned char)*where < 0x20 || (unsigned char)*where >= 0x7F ? '?' : *where;
    if ( length == 25 )
        length += snprintf( out + length, 8, "…" );
    out[length++] = '"';
    out[length] = 0;
    return out;
}

// Messages do not quote a file that does not begin as BVH does.
static bool fail_expected( const parser *p, const char *expected )
{
    char found[40];
    if ( !p->begun && p->at < p->end )
        return fail_at( p, p->at, "expected %s: this is no BVH file", expected );
    return fail_at( p, p->at, "expected %s, found %s", expected, describe( p, p->at, found ) );
}

// --------------------------------------------------------------------------------------------------- tokens

static void skip_space( parser *p )
{
    while ( p->at < p->end && is_space( *p->at ) )
        ++p->at;
}

static void skip_blank( parser *p )
{
    while ( p->at < p->end && is_blank( *p->at ) )
        ++p->at;
}

// Takes the word if it is next, in any case.
static bool take_word( parser *p, const char *word )
{
    skip_space( p );
    size_t length = strlen( word );
    if ( (size_t)( p->end - p->at ) < length || strncasecmp( p->at, word, length ) != 0 )
        return false;
    const char *after = p->at + length;
    if ( after < p->end && isalnum( (unsigned char)word[0] ) && isalnum( (unsigned char)*after ) )
        return false;
    p->at = after;
    return true;
}

static bool expect_word( parser *p, const char *word )
{
    return take_word( p, word ) || fail_expected( p, word );
}

static bool expect_number( parser *p, const char *what, double *value )
{
    const char *after = tr_number_parse( p->at, p->end, value );
    if ( after == NULL || ( after < p->end && !is_space( *after ) && *after != '}' ) )
        return fail_expected( p, what );
    if ( !( fabs( *value ) <= TR_BVH_LARGEST ) ) {
        char found[40];
        return fail_at( p, p->at, "%s is larger than any motion needs (at most 1e9)",
                        describe( p, p->at, found ) );
    }
    p->at = after;
    return true;
}

static bool expect_whole_number( parser *p, const char *what, int low, int high, int *out )
{
    skip_space( p );
    const char *where = p->at;
    double value;
    if ( !expect_number( p, what, &value ) )
        return false;
    if ( value < low || value > high || value != floor( value ) ) {
        p->at = where;
        return fail_expected( p, what );
    }
    *out = tr_int_clamped( value, low, high );
    return true;
}

// ------------------------------------------------------------------------------------------------ hierarchy

const char *const tr_bvh_channel_names[6] = { "Xposition", "Yposition", "Zposition",
                                              "Xrotation", "Yrotation", "Zrotation" };

// Names are UTF-8 inside the program, since reports and scenes are JSON. Other bytes are read as Latin-1,
// whose letters 80 … FF become two bytes each. Returns the length in UTF-8; a longer name is cut.
static size_t store_name( const char *first, size_t length, char name[TR_BVH_LONGEST_NAME + 1] )
{
    bool latin = !tr_utf8_valid( first, length );
    size_t filled = 0;
    for ( size_t i = 0; i < length; ++i ) {
        unsigned char c = (unsigned char)first[i];
        bool two = latin && c >= 0x80;
        size_t at = filled;
        filled += two ? 2 : 1;
        if ( filled > TR_BVH_LONGEST_NAME )
            continue;
        if ( two )
            name[at++] = (char)( 0xc0 | c >> 6 );
        name[at] = (char)( two ? 0x80 | ( c & 0x3f ) : c );
    }
    name[filled <= TR_BVH_LONGEST_NAME ? filled : 0] = 0;
    return filled;
}

// The rest of the line, or up to a brace on it: names may hold spaces and colons.
static bool take_name( parser *p, char name[TR_BVH_LONGEST_NAME + 1] )
{
    skip_blank( p );
    const char *first = p->at;
    while ( p->at < p->end && !is_newline( *p->at ) && *p->at != '{' )
        ++p->at;
    const char *last = p->at;
    while ( last > first && is_blank( last[-1] ) )
        --last;
    if ( last == first )
        return fail_expected( p, "a joint name" );
    if ( memchr( first, 0, (size_t)( last - first ) ) != NULL )
        return fail_at( p, first, "expected a joint name, found a zero byte in it" );
    size_t in_file = (size_t)( last - first ), length = store_name( first, in_file, name );
    return length <= TR_BVH_LONGEST_NAME ||
           fail_at( p, first, "expected a joint name of at most %d bytes, found one of %zu%s",
                    TR_BVH_LONGEST_NAME, length, length > in_file ? " once it is UTF-8" : "" );
}

static bool read_offset( parser *p, vec3 *out )
{
    if ( !expect_word( p, "OFFSET" ) )
        return false;
    double *parts[3] = { &out->x, &out->y, &out->z };
    for ( int i = 0; i < 3; ++i ) {
        skip_space( p );
        if ( !expect_number( p, "one of the three numbers of OFFSET", parts[i] ) )
            return false;
    }
    return true;
}

static int take_channel( parser *p )
{
    for ( int c = 0; c < 6; ++c )
        if ( take_word( p, tr_bvh_channel_names[c] ) )
            return c;
    return -1;
}

static bool read_channels( parser *p, tr_bvh_layout *layout )
{
    int count = 0;
    if ( !expect_whole_number( p, "the number of channels, 0 to 6", 0, 6, &count ) )
        return false;
    layout->first = p->bvh->channel_count;
    for ( int i = 0; i < count; ++i ) {
        skip_space( p );
        const char *where = p->at;
        int channel = take_channel( p );
        if ( channel < 0 )
            return fail_expected( p, "a channel such as Xposition or Zrotation" );
        if ( memchr( layout->channels, channel, layout->count ) != NULL )
            return fail_at( p, where, "%s stands twice among the channels of one joint",
                            tr_bvh_channel_names[channel] );
        layout->channels[layout->count++] = (unsigned char)channel;
    }
    p->bvh->channel_count += count;
    return true;
}

// "{ OFFSET x y z [CHANNELS …]" after the name; what follows are children or "}".
static bool open_joint( parser *p, const char *name, int parent, bool end_site )
{
    tr_bvh *bvh = p->bvh;
    vec3 offset;
    tr_bvh_layout layout = { .first = bvh->channel_count };
    if ( bvh->skeleton.joint_count == TR_MAX_JOINTS )
        return fail_at( p, p->at, "there are more than %d joints", TR_MAX_JOINTS );
    if ( !expect_word( p, "{" ) || !read_offset( p, &offset ) )
        return false;
    if ( !end_site && take_word( p, "CHANNELS" ) && !read_channels( p, &layout ) )
        return false;
    int joint = tr_skeleton_add( &bvh->skeleton, name, parent, offset );
    if ( joint < 0 || !tr_array_reserve( (void **)&bvh->layouts, &p->layout_capacity, joint + 1,
                                         sizeof( tr_bvh_layout ) ) )
        return tr_error_memory( p->error );
    bvh->skeleton.joints[joint].end_site = end_site;
    bvh->layouts[joint] = layout;
    return true;
}

// A name behind "End Site" is that of the tip, as bvh_write.c leaves it. Other words behind "End" are unused.
static bool open_end_site( parser *p, int parent )
{
    char name[TR_BVH_LONGEST_NAME + 8], own[TR_BVH_LONGEST_NAME + 1];
    snprintf( name, sizeof name, "%s_End", p->bvh->skeleton.joints[parent].name );
    bool site = take_word( p, "Site" );
    skip_blank( p );
    bool named = site && p->at < p->end && !is_newline( *p->at ) && *p->at != '{';
    if ( named && !take_name( p, own ) )
        return false;
    while ( p->at < p->end && !is_newline( *p->at ) && *p->at != '{' )
        ++p->at;
    return open_joint( p, named ? own : name, parent, true );
}

// One step inside joint *current: a child opens or the joint closes.
static bool read_inside( parser *p, int *current )
{
    char name[TR_BVH_LONGEST_NAME + 1];
    const tr_skeleton *skeleton = &p->bvh->skeleton;
    bool end_site = skeleton->joints[*current].end_site;
    if ( take_word( p, "}" ) ) {
        *current = skeleton->joints[*current].parent;
        return true;
    }
    if ( end_site )
        return fail_expected( p, "} after the OFFSET of an end site" );
    if ( take_word( p, "End" ) ) {
        if ( !open_end_site( p, *current ) )
            return false;
    } else if ( !take_word( p, "JOINT" ) )
        return fail_expected( p, "JOINT, End Site or }" );
    else if ( !take_name( p, name ) || !open_joint( p, name, *current, false ) )
        return false;
    *current = skeleton->joint_count - 1;
    return true;
}

static bool read_hierarchy( parser *p )
{
    char name[TR_BVH_LONGEST_NAME + 1];
    p->begun = take_word( p, "HIERARCHY" );
    if ( !p->begun )
        return fail_expected( p, "HIERARCHY" );
    if ( !expect_word( p, "ROOT" ) || !take_name( p, name ) || !open_joint( p, name, -1, false ) )
        return false;
    for ( int current = 0; current >= 0; )
        if ( !read_inside( p, &current ) )
            return false;
    skip_space( p );
    const char *where = p->at;
    if ( take_word( p, "ROOT" ) )
        return fail_at( p, where,
                        "expected MOTION, found a second ROOT; put each character into a file of its own" );
    if ( p->bvh->channel_count == 0 )
        return fail_at( p, where, "expected CHANNELS on at least one joint, found none: nothing moves" );
    return true;
}

static int compare_names( const void *a, const void *b )
{
    return strcmp( *(const char *const *)a, *(const char *const *)b );
}

// Duplicate names are legal, but a lookup by name finds the first.
static bool warn_of_doubled_names( parser *p )
{
    const tr_skeleton *skeleton = &p->bvh->skeleton;
    const char **names = tr_alloc( (size_t)skeleton->joint_count, sizeof( char * ) );
    if ( names == NULL )
        return tr_error_memory( p->error );
    size_t count = 0;
    for ( int j = 0; j < skeleton->joint_count; ++j )
        if ( !skeleton->joints[j].end_site )
            names[count++] = skeleton->joints[j].name;
    qsort( names, count, sizeof( char * ), compare_names );
    int doubled = 0;
    const char *example = NULL;
    for ( size_t i = 1; i < count; ++i )
        if ( strcmp( names[i - 1], names[i] ) == 0 ) {
            doubled++;
            example = names[i];
        }
    if ( doubled > 0 )
        tr_log_add( p->warnings, "%s: %d joint%s the name of another, \"%s\" for one", p->name, doubled,
                    doubled == 1 ? " has" : "s have", example );
    tr_free( names );
    return true;
}

// --------------------------------------------------------------------------------------------------- motion

static bool read_motion_head( parser *p, int *declared )
{
    if ( !expect_word( p, "MOTION" ) || !expect_word( p, "Frames" ) )
        return false;
    take_word( p, ":" );
    if ( !expect_whole_number( p, "the number of frames, 0 to 100000000", 0, MOST_FRAMES, declared ) )
        return false;
    if ( !take_word( p, "Frame" ) || !take_word( p, "Time" ) )
        return fail_expected( p, "Frame Time" );
    take_word( p, ":" );
    skip_space( p );
    const char *where = p->at;
    if ( !expect_number( p, "the time of one frame in seconds", &p->bvh->frame_time ) )
        return false;
    if ( p->bvh->frame_time < 1e-6 || p->bvh->frame_time > 3600 ) {
        p->at = where;
        return fail_expected( p, "a time of one frame between a microsecond and an hour" );
    }
    skip_blank( p );
    if ( p->at < p->end && !is_newline( *p->at ) )
        return fail_expected( p, "the end of the line" );
    if ( p->bvh->frame_time == 1.0 )
        tr_log_add( p->warnings,
                    "%s: Frame Time is 1 second, which is rarely meant; give the rate if it is wrong",
                    p->name );
    return true;
}

static bool read_frame( parser *p, double *row )
{
    int count = p->bvh->channel_count, frame = p->bvh->frame_count;
    for ( int c = 0; c < count; ++c ) {
        skip_blank( p );
        if ( p->at == p->end || is_newline( *p->at ) )
            return fail_at( p, p->at, "expected %d values in frame %d, found %d", count, frame, c );
        if ( !expect_number( p, "a number", &row[c] ) )
            return false;
    }
    skip_blank( p );
    if ( p->at < p->end && !is_newline( *p->at ) ) {
        char found[40];
        return fail_at( p, p->at, "expected the end of the line after the %d values of frame %d, found %s",
                        count, frame, describe( p, p->at, found ) );
    }
    return true;
}

static bool reserve_frames( parser *p, int count )
{
    return tr_array_reserve( (void **)&p->bvh->values, &p->value_capacity, count,
                             (size_t)p->bvh->channel_count * sizeof( double ) ) ||
           tr_error_memory( p->error );
}

static bool read_frames( parser *p, int declared )
{
    tr_bvh *bvh = p->bvh;
    // A value takes two bytes at least: this bounds the memory whatever the file declares.
    size_t possible = (size_t)( p->end - p->at ) / ( 2 * (size_t)bvh->channel_count ) + 1;
    if ( !reserve_frames( p, (size_t)declared < possible ? declared : (int)possible ) )
        return false;
    for ( skip_space( p ); p->at < p->end; skip_space( p ) ) {
        if ( bvh->frame_count == MOST_FRAMES )
            return fail_at( p, p->at, "there are more than %d frames", MOST_FRAMES );
        if ( !reserve_frames( p, bvh->frame_count + 1 ) ||
             !read_frame( p, bvh->values + (size_t)bvh->frame_count * (size_t)bvh->channel_count ) )
            return false;
        bvh->frame_count++;
    }
    if ( bvh->frame_count == 0 )
        return fail_at( p, p->at, "expected the values of at least one frame, found the end of the file" );
    if ( bvh->frame_count != declared )
        tr_log_add( p->warnings, "%s: declares %d frames but holds %d; all that are there were loaded",
                    p->name, declared, bvh->frame_count );
    return true;
}

bool tr_bvh_parse( tr_bvh *out, const char *text, size_t size, const char *name, tr_log *warnings,
                   tr_error *error )
{
    *out = ( tr_bvh ){ 0 };
    tr_skip_byte_order_mark( &text, &size );
    parser p = { .begin = text,
                 .at = text,
                 .end = text + size,
                 .name = name,
                 .bvh = out,
                 .warnings = warnings,
                 .error = error };
    int declared = 0;
    if ( read_hierarchy( &p ) && warn_of_doubled_names( &p ) && read_motion_head( &p, &declared ) &&
         read_frames( &p, declared ) )
        return true;
    tr_bvh_free( out );
    return false;
}

bool tr_bvh_load( tr_bvh *out, const char *path, tr_log *warnings, tr_error *error )
{
    char *data;
    size_t size;
    *out = ( tr_bvh ){ 0 };
    if ( !tr_file_read( path, &data, &size, error ) )
        return false;
    bool ok = tr_bvh_parse( out, data, size, path, warnings, error );
    tr_free( data );
    return ok;
}

void tr_bvh_free( tr_bvh *bvh )
{
    tr_skeleton_free( &bvh->skeleton );
    tr_free( bvh->layouts );
    tr_free( bvh->values );
    *bvh = ( tr_bvh ){ 0 };
}
