// NPZ out: arrays of numpy in a ZIP archive, not compressed. With one character the arrays have plain names;
// with several, each has the character's in front: anna/positions.
#include "exchange/writers.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct archive {
    tr_text *out;
    tr_text central; // its directory
    int count;
    tr_text array; // the entry at hand
    tr_text name;
} archive;

static void add_number( tr_text *out, size_t value, int bytes )
{
    char digits[8];
    for ( int i = 0; i < bytes; ++i )
        digits[i] = (char)( value >> ( 8 * i ) & 255 );
    tr_text_append( out, digits, (size_t)bytes );
}

// --------------------------------------------------------------------------------------------------- ZIP

// What the header of an entry and its line in the directory share.
static void add_entry( tr_text *out, const archive *a, uint32_t sum )
{
    add_number( out, 20, 2 );      // version 2.0 reads it
    add_number( out, 1 << 11, 2 ); // names are UTF-8
    add_number( out, 0, 2 );       // stored
    add_number( out, 0, 2 );       // at midnight
    add_number( out, 0x21, 2 );    // the date 1 January 1980: files are the same whenever they are written
    add_number( out, sum, 4 );
    add_number( out, a->array.size, 4 );
    add_number( out, a->array.size, 4 );
    add_number( out, a->name.size, 2 );
    add_number( out, 0, 2 ); // nothing further
}

static void append( tr_text *to, const tr_text *from )
{
    to->failed |= from->failed;
    if ( from->size > 0 )
        tr_text_append( to, from->data, from->size );
}

static void close_entry( archive *a )
{
    size_t at = a->out->size;
    uint32_t sum = tr_crc32( 0, a->array.data, a->array.size );
    tr_text_append( a->out, "PK\3\4", 4 );
    add_entry( a->out, a, sum );
    append( a->out, &a->name );
    append( a->out, &a->array );
    tr_text_append( &a->central, "PK\1\2", 4 );
    add_number( &a->central, 20, 2 );
    add_entry( &a->central, a, sum );
    add_number( &a->central, 0, 2 + 2 + 2 ); // no comment, first disk, no text
    add_number( &a->central, 0, 4 );
    add_number( &a->central, at, 4 );
    append( &a->central, &a->name );
    ++a->count;
    a->out->failed |= a->central.failed;
    tr_text_free( &a->array );
    tr_text_free( &a->name );
}

static bool close_archive( archive *a, tr_error *error )
{
    size_t at = a->out->size, size = a->central.size;
    bool ok = ( at < UINT32_MAX && a->count < 65535 ) ||
              tr_error_set( error, "the scene is too large for one NPZ file, which ends at 4 GB" );
    append( a->out, &a->central );
    tr_text_append( a->out, "PK\5\6", 4 );
    add_number( a->out, 0, 4 );
    add_number( a->out, (size_t)a->count, 2 );
    add_number( a->out, (size_t)a->count, 2 );
    add_number( a->out, size, 4 );
    add_number( a->out, at, 4 );
    add_number( a->out, 0, 2 );
    tr_text_free( &a->central );
    return ok && ( !a->out->failed || tr_error_memory( error ) );
}

// ------------------------------------------------------------------------------------------------- arrays

// Begins an array: its header, of a multiple of 64 bytes. Sizes that are negative are not there.
static void open_array( archive *a, const char *owner, const char *key, const char *type, int rows,
                        int columns, int depth )
{
    tr_text header = { 0 };
    tr_text_add( &a->name, "%s%s%s.npy", owner, owner[0] != 0 ? "/" : "", key );
    tr_text_add( &header, "{'descr': '%s', 'fortran_order': False, 'shape': (", type );
    if ( rows >= 0 )
        tr_text_add( &header, "%d,", rows );
    if ( columns >= 0 )
        tr_text_add( &header, " %d,", columns );
    if ( depth >= 0 )
        tr_text_add( &header, " %d", depth );
    tr_text_add( &header, "), }" );
    size_t whole = ( 10 + header.size + 1 + 63 ) / 64 * 64;
    tr_text_append( &a->array, "\x93NUMPY\1\0", 8 );
    add_number( &a->array, whole - 10, 2 );
    append( &a->array, &header );
    tr_text_add( &a->array, "%*s\n", (int)( whole - 11 - header.size ), "" );
    tr_text_free( &header );
}

static void add_doubles( archive *a, const double *values, int count )
{
    tr_text_append( &a->array, (const char *)values, (size_t)count * sizeof( double ) );
}

static void add_vector( archive *a, vec3 v )
{
    add_doubles( a, ( const double[] ){ v.x, v.y, v.z }, 3 );
}

static void add_rotation( archive *a, quat q )
{
    add_doubles( a, ( const double[] ){ q.x, q.y, q.z, q.w }, 4 );
}

static uint32_t next_character( const char **text ) // from UTF-8; anything else becomes U+FFFD
{
    const unsigned char *at = (const unsigned char *)*text;
    size_t length = tr_utf8_length( *text, strlen( *text ) );
    *text += length > 0 ? length : 1;
    if ( length == 0 )
        return 0xFFFD;
    uint32_t code = length == 1 ? at[0] : at[0] & ( 0x7Fu >> length );
    for ( size_t i = 1; i < length; ++i )
        code = code << 6 | ( at[i] & 0x3F );
    return code;
}

// Texts of numpy are of equal length, four bytes a character.
static void add_texts( archive *a, const char *owner, const char *key, const char *const *texts, int count )
{
    int longest = 1;
    char type[16];
    for ( int i = 0; i < count; ++i ) {
        int length = 0;
        for ( const char *at = texts[i]; *at != 0; ++length )
            next_character( &at );
        longest = length > longest ? length : longest;
    }
    snprintf( type, sizeof type, "<U%d", longest );
    open_array( a, owner, key, type, count, -1, -1 );
    for ( int i = 0; i < count; ++i ) {
        const char *at = texts[i];
        for ( int k = 0; k < longest; ++k )
            add_number( &a->array, *at != 0 ? next_character( &at ) : 0, 4 );
    }
    close_entry( a );
}

static void add_value( archive *a, const char *key, double value )
{
    open_array( a, "", key, "<f8", -1, -1, -1 );
    add_doubles( a, &value, 1 );
    close_entry( a );
}

static void add_word( archive *a, const char *key, const char *word )
{
    char type[16];
    snprintf( type, sizeof type, "<U%zu", strlen( word ) );
    open_array( a, "", key, type, -1, -1, -1 );
    for ( ; *word != 0; ++word )
        add_number( &a->array, (unsigned char)*word, 4 );
    close_entry( a );
}

// ---------------------------------------------------------------------------------------------- characters

static bool add_skeleton( archive *a, const char *owner, const tr_skeleton *skeleton )
{
    int joints = skeleton->joint_count;
    const char **names = tr_alloc( (size_t)joints, sizeof *names );
    if ( names == NULL )
        return false;
    for ( int j = 0; j < joints; ++j )
        names[j] = skeleton->joints[j].name;
    add_texts( a, owner, "names", names, joints );
    tr_free( names );
    open_array( a, owner, "parents", "<i4", joints, -1, -1 );
    for ( int j = 0; j < joints; ++j )
        add_number( &a->array, (size_t)(uint32_t)skeleton->joints[j].parent, 4 );
    close_entry( a );
    open_array( a, owner, "offsets", "<f8", joints, 3, -1 );
    for ( int j = 0; j < joints; ++j )
        add_vector( a, skeleton->joints[j].offset );
    close_entry( a );
    return true;
}

static bool add_motion( archive *a, const char *owner, const tr_exchange *x, const tr_exchange_body *body )
{
    int joints = body->skeleton->joint_count, frames = x->frame_count;
    tr_pose pose = { tr_alloc( (size_t)joints, sizeof( quat ) ), tr_alloc( (size_t)joints, sizeof( vec3 ) ) };
    bool ok = pose.rotations != NULL && pose.positions != NULL;
    open_array( a, owner, "root_pos", "<f8", frames, 3, -1 );
    for ( int f = 0; f < frames; ++f )
        add_vector( a, body->clip->root[f] );
    close_entry( a );
    open_array( a, owner, "local_quat", "<f8", frames, joints, 4 );
    for ( int f = 0; f < frames; ++f )
        for ( int j = 0; j < joints; ++j )
            add_rotation( a, tr_clip_frame( body->clip, f )[j] );
    close_entry( a );
    if ( body->clip->translations != NULL ) {
        open_array( a, owner, "local_pos", "<f8", frames, joints, 3 );
        for ( int f = 0; f < frames; ++f )
            for ( int j = 0; j < joints; ++j )
                add_vector( a, tr_exchange_offset( body, f, j ) );
        close_entry( a );
    }
    open_array( a, owner, "positions", "<f8", frames, joints, 3 );
    for ( int f = 0; ok && f < frames; ++f ) {
        tr_forward( body->skeleton, body->clip, f, pose );
        for ( int j = 0; j < joints; ++j )
            add_vector( a, pose.positions[j] );
    }
    close_entry( a );
    tr_free( pose.rotations );
    tr_free( pose.positions );
    return ok && tr_work_wanted();
}

static bool add_contacts( archive *a, const char *owner, const tr_exchange *x, int body )
{
    int joints = x->bodies[body].skeleton->joint_count;
    size_t size = (size_t)joints * (size_t)x->frame_count;
    char *flags = tr_alloc( (size_t)x->frame_count, (size_t)joints );
    if ( flags == NULL )
        return false;
    for ( int i = 0; i < x->contact_count; ++i )
        for ( int f = x->contacts[i].first; x->contacts[i].body == body && f <= x->contacts[i].last; ++f )
            flags[(size_t)f * (size_t)joints + (size_t)x->contacts[i].joint] = 1;
    open_array( a, owner, "contacts", "|b1", x->frame_count, joints, -1 );
    tr_text_append( &a->array, flags, size );
    close_entry( a );
    tr_free( flags );
    return true;
}

static void add_thing( archive *a, const tr_exchange *x, const tr_exchange_thing *thing )
{
    const tr_facets *facets = &thing->facets;
    open_array( a, thing->name, "pos", "<f8", x->frame_count, 3, -1 );
    for ( int f = 0; f < x->frame_count; ++f )
        add_vector( a, tr_thing_at( thing, f ).position );
    close_entry( a );
    open_array( a, thing->name, "quat", "<f8", x->frame_count, 4, -1 );
    for ( int f = 0; f < x->frame_count; ++f )
        add_rotation( a, tr_thing_at( thing, f ).rotation );
    close_entry( a );
    open_array( a, thing->name, "points", "<f8", facets->point_count, 3, -1 );
    for ( int i = 0; i < facets->point_count; ++i )
        add_vector( a, facets->points[i] );
    close_entry( a );
    open_array( a, thing->name, "triangles", "<i4", facets->triangle_count, 3, -1 );
    for ( int i = 0; i < facets->triangle_count; ++i )
        for ( int k = 0; k < 3; ++k )
            add_number( &a->array, (size_t)facets->triangles[i][k], 4 );
    close_entry( a );
}

static bool add_lists( archive *a, const tr_exchange *x )
{
    int count = x->body_count > x->thing_count ? x->body_count : x->thing_count;
    const char **names = tr_alloc( (size_t)count, sizeof *names );
    if ( names == NULL )
        return false;
    for ( int i = 0; i < x->body_count; ++i )
        names[i] = x->bodies[i].name;
    add_texts( a, "", "characters", names, x->body_count );
    for ( int i = 0; i < x->thing_count; ++i )
        names[i] = x->things[i].name;
    add_texts( a, "", "things", names, x->thing_count );
    tr_free( names );
    return true;
}

bool tr_npz_print( const tr_exchange *x, tr_text *out, tr_error *error )
{
    archive a = { .out = out };
    bool ok = add_lists( &a, x );
    add_value( &a, "fps", x->fps );
    add_value( &a, "first_frame", x->first );
    add_word( &a, "quat_order", "xyzw" );
    for ( int i = 0; ok && i < x->body_count; ++i ) {
        const char *owner = x->body_count > 1 ? x->bodies[i].name : "";
        ok = add_skeleton( &a, owner, x->bodies[i].skeleton ) && add_motion( &a, owner, x, &x->bodies[i] ) &&
             add_contacts( &a, owner, x, i );
    }
    for ( int i = 0; ok && i < x->thing_count; ++i )
        add_thing( &a, x, &x->things[i] );
    bool closed = close_archive( &a, error );
    return closed && ( ok || tr_error_memory( error ) );
}
