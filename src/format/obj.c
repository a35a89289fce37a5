// Wavefront OBJ: points (v) and faces (f); the rest is skipped. Faces with more than three corners are cut
// into a fan of triangles.
#include "format/format.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const double largest_value = 1e9; // largest coordinate, in the file's units

typedef struct parser {
    const char *at, *end, *line_begin;
    int line;
    const char *name;
    vec3 *points;
    int point_count, point_capacity;
    int ( *triangles )[3];
    int triangle_count, triangle_capacity;
    tr_error *error;
} parser;

static bool fail( const parser *p, const char *where, const char *format, ... ) TR_PRINTF( 3 );
static bool fail( const parser *p, const char *where, const char *format, ... )
{
    char message[300];
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( message, sizeof message, format, arguments );
    va_end( arguments );
    return tr_error_at( p->error, p->name, p->line, (int)( where - p->line_begin ) + 1, "%s", message );
}

static bool is_newline( char c )
{
    return c == '\n' || c == '\r';
}

static bool is_blank( char c )
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static void next_line( parser *p )
{
    if ( p->at < p->end && *p->at++ == '\r' && p->at < p->end && *p->at == '\n' )
        ++p->at;
    p->line_begin = p->at;
    ++p->line;
}

// Skips to the next word of the line, which a backslash continues. False: there is none.
static bool find_word( parser *p )
{
    for ( ;; ) {
        while ( p->at < p->end && is_blank( *p->at ) )
            ++p->at;
        if ( p->at + 1 >= p->end || *p->at != '\\' || !is_newline( p->at[1] ) )
            return p->at < p->end && !is_newline( *p->at ) && *p->at != '#';
        ++p->at;
        next_line( p );
    }
}

static const char *word_end( const parser *p )
{
    const char *c = p->at;
    while ( c < p->end && !is_blank( *c ) && !is_newline( *c ) )
        ++c;
    return c;
}

static bool read_point( parser *p )
{
    double number[3];
    for ( int i = 0; i < 3; ++i ) {
        if ( !find_word( p ) )
            return fail( p, p->at, "a point needs three numbers" );
        const char *after = tr_number_parse( p->at, p->end, &number[i] );
        if ( after == NULL || after != word_end( p ) )
            return fail( p, p->at, "expected a number" );
        if ( !( fabs( number[i] ) <= largest_value ) )
            return fail( p, p->at, "the number is beyond ±%g", largest_value );
        p->at = after;
    }
    if ( p->point_count == TR_MESH_MOST )
        return fail( p, p->at, "there are more than %d points", TR_MESH_MOST );
    if ( !tr_array_reserve( (void **)&p->points, &p->point_capacity, p->point_count + 1, sizeof( vec3 ) ) )
        return tr_error_memory( p->error );
    p->points[p->point_count++] = v3( number[0], number[1], number[2] );
    return true;
}

// A corner is the number of a point, from 1 on, or negative: from the last one backwards. Texture and normal
// behind a slash are skipped.
static bool read_corner( parser *p, int *corner )
{
    double number;
    const char *after = tr_number_parse( p->at, p->end, &number );
    if ( after == NULL || ( after != word_end( p ) && *after != '/' ) || number != floor( number ) )
        return fail( p, p->at, "expected the number of a point" );
    if ( p->point_count == 0 )
        return fail( p, p->at, "a face comes before all points" );
    double index = number < 0 ? p->point_count + number : number - 1;
    if ( number == 0 || !( index >= 0 && index < p->point_count ) )
        return fail( p, p->at, "there is no point %.0f; up to here there are %d", number, p->point_count );
    *corner = tr_int_clamped( index, 0, p->point_count - 1 );
    p->at = word_end( p );
    return true;
}

static bool read_face( parser *p )
{
    int first = 0, before = 0, corner = 0, count = 0;
    const char *begin = p->at;
    for ( ; find_word( p ); ++count ) {
        if ( !read_corner( p, &corner ) )
            return false;
        if ( count >= 2 ) {
            if ( p->triangle_count == TR_MESH_MOST )
                return fail( p, p->at, "there are more than %d triangles", TR_MESH_MOST );
            if ( !tr_array_reserve( (void **)&p->triangles, &p->triangle_capacity, p->triangle_count + 1,
                                    sizeof *p->triangles ) )
                return tr_error_memory( p->error );
            memcpy( p->triangles[p->triangle_count++], ( int[3] ){ first, before, corner },
                    sizeof *p->triangles );
        }
        first = count == 0 ? corner : first;
        before = corner;
    }
    return count >= 3 || fail( p, begin, "a face needs three corners" );
}

static bool read_lines( parser *p )
{
    while ( p->at < p->end ) {
        if ( find_word( p ) ) {
            const char *word = p->at;
            p->at = word_end( p );
            bool one = p->at - word == 1;
            if ( ( one && *word == 'v' && !read_point( p ) ) || ( one && *word == 'f' && !read_face( p ) ) )
                return false;
        }
        while ( p->at < p->end && !is_newline( *p->at ) )
            ++p->at;
        if ( p->at < p->end )
            next_line( p );
    }
    return true;
}

bool tr_obj_parse( tr_trimesh *out, const char *text, size_t size, const char *name,
                   const tr_obj_import *import, tr_error *error )
{
    *out = ( tr_trimesh ){ 0 };
    tr_skip_byte_order_mark( &text, &size );
    parser p = {
        .at = text, .end = text + size, .line_begin = text, .line = 1, .name = name, .error = error };
    bool ok = read_lines( &p );
    for ( int i = 0; ok && i < p.point_count; ++i ) {
        vec3 v = p.points[i];
        v = v3_scale( import->unit, import->up == 'z' ? v3( v.x, v.z, -v.y ) : v );
        p.points[i] = v3_add( v, v3_zero ); // -0 is 0
    }
    tr_error inner;
    if ( ok && !tr_trimesh_build( out, p.points, p.point_count, (const int( * )[3])p.triangles,
                                  p.triangle_count, &inner ) )
        ok = tr_error_at( error, name, 0, 0, "%s", inner.message );
    tr_free( p.points );
    tr_free( p.triangles );
    return ok;
}

bool tr_obj_load( tr_trimesh *out, const char *path, const tr_obj_import *import, tr_error *error )
{
    char *text;
    size_t size;
    *out = ( tr_trimesh ){ 0 };
    if ( !tr_file_read( path, &text, &size, error ) )
        return false;
    bool ok = tr_obj_parse( out, text, size, path, import, error );
    tr_free( text );
    return ok;
}

void tr_obj_print( const tr_trimesh *mesh, tr_text *out )
{
    for ( int i = 0; i < mesh->point_count; ++i ) {
        const double v[3] = { mesh->points[i].x, mesh->points[i].y, mesh->points[i].z };
        tr_text_append( out, "v", 1 );
        for ( int k = 0; k < 3; ++k ) {
            tr_text_append( out, " ", 1 );
            tr_text_exact( out, v[k] );
        }
        tr_text_append( out, "\n", 1 );
    }
    for ( int t = 0; t < mesh->triangle_count; ++t )
        tr_text_add( out, "f %d %d %d\n", mesh->triangles[t][0] + 1, mesh->triangles[t][1] + 1,
                     mesh->triangles[t][2] + 1 );
}

bool tr_obj_save( const tr_trimesh *mesh, const char *path, tr_error *error )
{
    tr_text text = { 0 };
    tr_obj_print( mesh, &text );
    bool ok = text.failed ? tr_error_memory( error ) : tr_file_write( path, text.data, text.size, error );
    tr_text_free( &text );
    return ok;
}
