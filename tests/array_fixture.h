// Files of numpy arrays and archives of them, made in memory.
#ifndef TROUPE_TESTS_ARRAY_FIXTURE_H
#define TROUPE_TESTS_ARRAY_FIXTURE_H

#include "base/base.h"
#include "io/io.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct zip { // an archive under construction
    tr_text file, directory;
    int count;
} zip;

static inline void add_le( tr_text *out, uint64_t value, int bytes )
{
    for ( int i = 0; i < bytes; ++i ) {
        char byte = (char)( i < 8 ? value >> ( 8 * i ) & 255 : 0 );
        tr_text_append( out, &byte, 1 );
    }
}

// Header of an array; `shape` as Python writes it: "(3, 2)".
static inline void npy_begin( tr_text *out, const char *type, const char *order, const char *shape )
{
    char header[300];
    int length = snprintf( header, sizeof header, "{'descr': %s, 'fortran_order': %s, 'shape': %s, }", type,
                           order, shape );
    int whole = ( 10 + length + 1 + 63 ) / 64 * 64 - 10;
    tr_text_append( out, "\x93NUMPY\1\0", 8 );
    add_le( out, (uint64_t)whole, 2 );
    tr_text_add( out, "%s%*s\n", header, whole - length - 1, "" );
}

static inline void npy_floats( tr_text *out, const char *shape, const double *values, int count )
{
    npy_begin( out, "'<f4'", "False", shape );
    for ( int i = 0; i < count; ++i ) {
        float f = (float)values[i];
        tr_text_append( out, (const char *)&f, sizeof f );
    }
}

static inline void npy_doubles( tr_text *out, const char *shape, const double *values, int count )
{
    npy_begin( out, "'<f8'", "False", shape );
    tr_text_append( out, (const char *)values, (size_t)count * sizeof *values );
}

static inline void npy_names( tr_text *out, const char *const *names, int count )
{
    char shape[32], type[16];
    int longest = 1;
    for ( int i = 0; i < count; ++i )
        longest = (int)strlen( names[i] ) > longest ? (int)strlen( names[i] ) : longest;
    snprintf( shape, sizeof shape, "(%d,)", count );
    snprintf( type, sizeof type, "'<U%d'", longest );
    npy_begin( out, type, "False", shape );
    for ( int i = 0; i < count; ++i )
        for ( int k = 0; k < longest; ++k )
            add_le( out, k < (int)strlen( names[i] ) ? (unsigned char)names[i][k] : 0, 4 );
}

// Takes the array. Packed: as one block that deflate leaves as it is.
static inline void zip_add( zip *z, const char *name, tr_text *array, bool packed )
{
    tr_text body = { 0 };
    size_t at = z->file.size, size = array->size;
    for ( size_t from = 0; packed && from < size; from += 65535 ) {
        size_t part = size - from < 65535 ? size - from : 65535;
        add_le( &body, from + part == size, 1 );
        add_le( &body, part, 2 );
        add_le( &body, ~part, 2 );
        tr_text_append( &body, array->data + from, part );
    }
    const tr_text *content = packed ? &body : array;
    for ( int central = 0; central < 2; ++central ) {
        tr_text *out = central ? &z->directory : &z->file;
        tr_text_append( out, central ? "PK\1\2" : "PK\3\4", 4 );
        if ( central )
            add_le( out, 20, 2 );
        add_le( out, 20, 2 );
        add_le( out, 0, 2 );
        add_le( out, packed ? 8 : 0, 2 );
        add_le( out, 0, 4 );
        add_le( out, tr_crc32( 0, array->data, size ), 4 );
        add_le( out, content->size, 4 );
        add_le( out, size, 4 );
        add_le( out, strlen( name ), 2 );
        add_le( out, 0, 2 );
        if ( central ) {
            add_le( out, 0, 2 + 2 + 2 + 4 );
            add_le( out, at, 4 );
        }
        tr_text_append( out, name, strlen( name ) );
    }
    tr_text_append( &z->file, content->data, content->size );
    ++z->count;
    tr_text_free( array );
    tr_text_free( &body );
}

static inline void zip_close( zip *z )
{
    size_t at = z->file.size;
    tr_text_append( &z->file, z->directory.data, z->directory.size );
    tr_text_append( &z->file, "PK\5\6\0\0\0\0", 8 );
    add_le( &z->file, (uint64_t)z->count, 2 );
    add_le( &z->file, (uint64_t)z->count, 2 );
    add_le( &z->file, z->directory.size, 4 );
    add_le( &z->file, at, 4 );
    add_le( &z->file, 0, 2 );
    tr_text_free( &z->directory );
}

#endif
