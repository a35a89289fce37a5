// Arrays of numpy: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, and the part of
// ZIP that archives of them use: entries that are stored or deflated, below 4 GB.
#include "import/arrays.h"

#include <stb/stb_image.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void tr_arrays_free( tr_arrays *arrays )
{
    for ( int i = 0; i < arrays->count; ++i )
        tr_free( arrays->items[i].name );
    for ( int i = 0; i < arrays->block_count; ++i )
        tr_free( arrays->blocks[i] );
    tr_free( arrays->items );
    tr_free( arrays->blocks );
    *arrays = ( tr_arrays ){ 0 };
}

const tr_array *tr_arrays_find( const tr_arrays *arrays, const char *name )
{
    for ( int i = 0; i < arrays->count; ++i )
        if ( strcasecmp( arrays->items[i].name, name ) == 0 )
            return &arrays->items[i];
    return NULL;
}

// -------------------------------------------------------------------------------------------------- items

static uint64_t bits_of( const tr_array *a, size_t at, int first, int bytes )
{
    const unsigned char *p = (const unsigned char *)a->data + at * (size_t)a->item + first;
    uint64_t bits = 0;
    for ( int i = 0; i < bytes; ++i )
        bits = bits << 8 | p[a->swapped ? i : bytes - 1 - i];
    return bits;
}

static double half_precision( uint64_t bits ) // sign, 5 bits of exponent, 10 of mantissa
{
    int exponent = (int)( bits >> 10 & 31 );
    double mantissa = (double)( bits & 1023 ), sign = ( bits >> 15 & 1 ) != 0 ? -1 : 1;
    if ( exponent == 31 )
        return mantissa > 0 ? NAN : sign * INFINITY;
    return sign * ( exponent == 0 ? ldexp( mantissa, -24 ) : ldexp( 1024 + mantissa, exponent - 25 ) );
}

double tr_array_number( const tr_array *a, size_t at )
{
    uint64_t bits = bits_of( a, at, 0, a->item );
    if ( a->kind == 'f' && a->item == 2 )
        return half_precision( bits );
    if ( a->kind == 'f' && a->item == 4 ) {
        uint32_t half = (uint32_t)bits;
        float f;
        memcpy( &f, &half, sizeof f );
        return (double)f;
    }
    if ( a->kind == 'f' ) {
        double d;
        memcpy( &d, &bits, sizeof d );
        return d;
    }
    uint64_t sign = (uint64_t)1 << ( 8 * a->item - 1 );
    if ( a->kind == 'i' && ( bits & sign ) != 0 )
        return -(double)( ( ~bits & ( sign - 1 ) ) + 1 );
    return (double)bits;
}

static void add_letter( tr_text *text, uint64_t code )
{
    char bytes[4];
    size_t count = 0;
    if ( code < 0x80 )
        bytes[count++] = (char)code;
    else if ( code < 0x800 ) {
        bytes[count++] = (char)( 0xC0 | code >> 6 );
        bytes[count++] = (char)( 0x80 | ( code & 63 ) );
    } else if ( code < 0x10000 ) {
        bytes[count++] = (char)( 0xE0 | code >> 12 );
        bytes[count++] = (char)( 0x80 | ( code >> 6 & 63 ) );
        bytes[count++] = (char)( 0x80 | ( code & 63 ) );
    } else if ( code < 0x110000 ) {
        bytes[count++] = (char)( 0xF0 | code >> 18 );
        bytes[count++] = (char)( 0x80 | ( code >> 12 & 63 ) );
        bytes[count++] = (char)( 0x80 | ( code >> 6 & 63 ) );
        bytes[count++] = (char)( 0x80 | ( code & 63 ) );
    } else
        bytes[count++] = '_';
    tr_text_append( text, bytes, count );
}

char *tr_array_text( const tr_array *a, size_t at )
{
    int letter = a->kind == 'U' ? 4 : 1;
    tr_text text = { 0 };
    for ( int i = 0; i + letter <= a->item; i += letter ) {
        uint64_t code = bits_of( a, at, i, letter );
        if ( code == 0 )
            break;
        if ( letter == 1 )
            tr_text_append( &text, &( char ){ (char)code }, 1 );
        else
            add_letter( &text, code );
    }
    char *out = text.failed ? NULL : tr_string_copy( text.data != NULL ? text.data : "" );
    tr_text_free( &text );
    return out;
}

// -------------------------------------------------------------------------------------------------- arrays

static bool broken( tr_error *error, const char *name, const char *what )
{
    return tr_error_set( error, "array \"%.60s\" %s; save it anew", name, what );
}

// What stands behind a key of the header, a dictionary of Python as text.
static const char *value_of( const char *header, const char *key )
{
    const char *at = strstr( header, key );
    at = at != NULL ? strchr( at + strlen( key ), ':' ) : NULL;
    return at != NULL ? at + 1 + strspn( at + 1, " " ) : NULL;
}

// '<f4': bytes swapped or not, kind, bytes.
static void read_type( tr_array *a, const char *text )
{
    if ( text[0] != '\'' && text[0] != '"' ) // a list: records
        return;
    const char *at = text + 1;
    a->swapped = *at == '>';
    at += strchr( "<>|=", *at ) != NULL && *at != 0;
    long item = *at != 0 ? strtol( at + 1, NULL, 10 ) : 0;
    bool known = ( *at == 'f' && ( item == 2 || item == 4 || item == 8 ) ) ||
                 ( ( *at == 'i' || *at == 'u' ) && ( item == 1 || item == 2 || item == 4 || item == 8 ) ) ||
                 ( *at == 'b' && item == 1 ) ||
                 ( ( *at == 'U' || *at == 'S' ) && item >= 0 && item < 100000 );
    if ( !known )
        return;
    a->kind = *at;
    a->item = *at == 'U' ? 4 * (int)item : (int)item;
}

static bool read_shape( tr_array *a, const char *text )
{
    if ( *text != '(' )
        return false;
    ++text;
    for ( ;; ) {
        text += strspn( text, " ," );
        if ( *text == ')' )
            return true;
        char *end;
        long size = strtol( text, &end, 10 );
        if ( end == text || size < 0 || size > INT32_MAX || a->rank == TR_ARRAY_RANK )
            return false;
        a->shape[a->rank++] = (int)size;
        text = end + ( *end == 'L' ); // as Python 2 wrote it
    }
}

static bool count_items( tr_array *a, bool fortran, size_t bytes )
{
    size_t item = a->item > 0 ? (size_t)a->item : 1;
    bool empty = false;
    for ( int i = 0; i < a->rank; ++i )
        empty |= a->shape[i] == 0;
    if ( empty )
        return true;
    a->count = 1;
    for ( int i = 0; i < a->rank; ++i ) {
        int axis = fortran ? i : a->rank - 1 - i;
        a->steps[axis] = a->count;
        if ( a->count > bytes / item / (size_t)a->shape[axis] )
            return false; // more than there is
        a->count *= (size_t)a->shape[axis];
    }
    return a->count <= bytes / item;
}

// `name` becomes the array's.
static bool parse_array( tr_arrays *out, char *name, const char *data, size_t size, tr_error *error )
{
    tr_array a = { .name = name };
    if ( !tr_array_reserve( (void **)&out->items, &out->capacity, out->count + 1, sizeof a ) ) {
        tr_free( name );
        return tr_error_memory( error );
    }
    out->items[out->count++] = a;
    tr_array *to = &out->items[out->count - 1];
    const unsigned char *bytes = (const unsigned char *)data;
    if ( size < 10 || memcmp( data, "\x93NUMPY", 6 ) != 0 )
        return broken( error, name, "is none of numpy" );
    bool wide = bytes[6] >= 2;
    size_t start = wide ? 12 : 10, length = bytes[8] | (size_t)bytes[9] << 8;
    if ( wide && size >= start )
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if ( start > size || length > size - start || length > 65535 )
        return broken( error, name, "has no whole header" );
    char *header = tr_alloc( length + 1, 1 );
    if ( header == NULL )
        return tr_error_memory( error );
    memcpy( header, data + start, length );
    const char *type = value_of( header, "descr" ), *order = value_of( header, "fortran_order" ),
               *shape = value_of( header, "shape" );
    bool ok = type != NULL && order != NULL && shape != NULL && read_shape( &a, shape );
    if ( ok )
        read_type( &a, type );
    bool fortran = ok && *order == 'T';
    tr_free( header );
    a.data = data + start + length;
    if ( !ok )
        return broken( error, name, "has a header that cannot be read" );
    if ( a.kind != 0 && !count_items( &a, fortran, size - start - length ) )
        return broken( error, name, "ends before all its numbers are there" );
    *to = a;
    return true;
}

// ----------------------------------------------------------------------------------------------- archives

static size_t number( const char *data, int bytes )
{
    size_t n = 0;
    for ( int i = bytes - 1; i >= 0; --i )
        n = n << 8 | (unsigned char)data[i];
    return n;
}

typedef struct entry { // an entry of an archive's directory
    const char *name;
    size_t name_length, packed, size, at; // bytes; where its own header is
    int method;
    uint32_t sum;
    bool locked;
} entry;

// The entry at *at of the directory; moves *at behind it.
static bool next_entry( const char *data, size_t size, size_t *at, entry *out )
{
    const char *p = data + *at;
    if ( size - *at < 46 || memcmp( p, "PK\1\2", 4 ) != 0 )
        return false;
    *out = ( entry ){ .name = p + 46,
                      .name_length = number( p + 28, 2 ),
                      .packed = number( p + 20, 4 ),
                      .size = number( p + 24, 4 ),
                      .at = number( p + 42, 4 ),
                      .method = (int)number( p + 10, 2 ),
                      .sum = (uint32_t)number( p + 16, 4 ),
                      .locked = ( number( p + 8, 2 ) & 1 ) != 0 };
    size_t whole = 46 + out->name_length + number( p + 30, 2 ) + number( p + 32, 2 );
    if ( whole > size - *at )
        return false;
    *at += whole;
    return true;
}

typedef struct budget { // bytes that further entries may take
    size_t packed;      // of the file: entries lie behind each other, so together they are never larger
    size_t unpacked;
} budget;

// The bytes of an entry, unpacked if need be, within what is left of the budget.
static bool open_entry( tr_arrays *out, const char *data, size_t size, const entry *e, const char *name,
                        budget *left, const char **content, tr_error *error )
{
    const size_t most_packed = 1032; // bytes that one byte of deflated data can stand for
    size_t start = e->at;
    if ( start > size || size - start < 30 || memcmp( data + start, "PK\3\4", 4 ) != 0 )
        return broken( error, name, "is not where the archive says" );
    start += 30 + number( data + start + 26, 2 ) + number( data + start + 28, 2 );
    if ( start > size || e->packed > size - start )
        return broken( error, name, "ends after the file" );
    if ( e->locked || ( e->method != 0 && e->method != 8 ) )
        return broken( error, name, "is packed in a way that numpy does not use" );
    if ( e->method == 0 ? e->size != e->packed : e->size / most_packed > e->packed )
        return broken( error, name, "says it is larger than it can be" );
    size_t taken = start - e->at + e->packed;
    if ( taken > left->packed ) // before any work on bytes that other entries have, too
        return tr_error_set( error,
                             "the arrays up to \"%.60s\" take more bytes than the file has; save the file "
                             "anew",
                             name );
    left->packed -= taken;
    *content = data + start;
    if ( e->method == 8 ) {
        if ( e->size > left->unpacked || e->size > INT32_MAX || e->packed > INT32_MAX )
            return tr_error_set( error,
                                 "array \"%.60s\" has %zu bytes, far more than a file of this size should "
                                 "hold; save it without compression",
                                 name, e->size );
        left->unpacked -= e->size;
        char *block = tr_alloc( e->size + 1, 1 );
        if ( block == NULL || !tr_array_reserve( (void **)&out->blocks, &out->block_capacity,
                                                 out->block_count + 1, sizeof *out->blocks ) ) {
            tr_free( block );
            return tr_error_memory( error );
        }
        out->blocks[out->block_count++] = block;
        // stb asks for a few bytes behind the packed ones, as zlib has there; so has an archive.
        size_t behind = size - start - e->packed, more = behind < 8 ? behind : 8;
        if ( stbi_zlib_decode_noheader_buffer( block, (int)e->size, data + start,
                                               (int)( e->packed + more ) ) != (int)e->size )
            return broken( error, name, "cannot be unpacked" );
        *content = block;
    }
    return tr_crc32( 0, *content, e->size ) == e->sum ||
           broken( error, name, "was changed since it was packed" );
}

static int by_name( const void *a, const void *b )
{
    return strcmp( *(const char *const *)a, *(const char *const *)b );
}

// Of two arrays of one name nobody can tell which is meant.
static bool names_differ( const tr_arrays *arrays, tr_error *error )
{
    const char **names = tr_alloc( (size_t)arrays->count + 1, sizeof *names );
    if ( names == NULL )
        return tr_error_memory( error );
    for ( int i = 0; i < arrays->count; ++i )
        names[i] = arrays->items[i].name;
    qsort( names, (size_t)arrays->count, sizeof *names, by_name );
    bool ok = true;
    for ( int i = 1; ok && i < arrays->count; ++i )
        ok =
            strcmp( names[i - 1], names[i] ) != 0 ||
            tr_error_set( error, "the archive has two arrays named \"%.60s\"; save the file anew", names[i] );
    tr_free( names );
    return ok;
}

static bool parse_archive( tr_arrays *out, const char *data, size_t size, tr_error *error )
{
    const size_t least = 22, most_comment = 65535;
    size_t end = size < least ? 0 : size - least, stop = end > most_comment ? end - most_comment : 0;
    budget left = { .packed = size, .unpacked = ( (size_t)64 << 20 ) + 64 * size };
    while ( size >= least && end > stop && memcmp( data + end, "PK\5\6", 4 ) != 0 )
        --end;
    if ( size < least || memcmp( data + end, "PK\5\6", 4 ) != 0 )
        return tr_error_set( error, "the archive has no end; copy or save the file anew" );
    size_t count = number( data + end + 10, 2 ), at = number( data + end + 16, 4 );
    if ( at > end )
        return tr_error_set( error,
                             "the archive has no directory, or is larger than 4 GB; save the file anew" );
    for ( size_t i = 0; i < count; ++i ) {
        entry e;
        const char *content = NULL;
        if ( !tr_work_go_on( error ) )
            return false;
        if ( !next_entry( data, end, &at, &e ) )
            return tr_error_set( error,
                                 "the directory of the archive is broken; copy or save the file anew" );
        if ( e.name_length < 5 || memcmp( e.name + e.name_length - 4, ".npy", 4 ) != 0 )
            continue;
        char *name = tr_string_format( "%.*s", (int)( e.name_length - 4 ), e.name );
        if ( name == NULL )
            return tr_error_memory( error );
        if ( !open_entry( out, data, size, &e, name, &left, &content, error ) ) {
            tr_free( name );
            return false;
        }
        if ( !parse_array( out, name, content, e.size, error ) )
            return false;
    }
    return names_differ( out, error );
}

bool tr_arrays_parse( tr_arrays *out, const char *data, size_t size, tr_error *error )
{
    *out = ( tr_arrays ){ 0 };
    bool archive = size >= 4 && ( memcmp( data, "PK\3\4", 4 ) == 0 || memcmp( data, "PK\5\6", 4 ) == 0 );
    bool ok;
    if ( archive )
        ok = parse_archive( out, data, size, error );
    else if ( size < 6 || memcmp( data, "\x93NUMPY", 6 ) != 0 )
        ok = tr_error_set( error, "this is no file of numpy; save it with numpy.save or numpy.savez" );
    else {
        char *name = tr_string_copy( "" );
        ok = name != NULL ? parse_array( out, name, data, size, error ) : tr_error_memory( error );
    }
    if ( !ok )
        tr_arrays_free( out );
    return ok;
}
