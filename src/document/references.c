// Elements name each other: constraints, layers, handles, clips, pairs, drives, examples and parts name
// bodies, sections and handles name layers. They follow when such an element is renamed, removed or copied.
#include "document/fields.h"

#include <stdio.h>
#include <string.h>

#define COUNT( array ) (int)( sizeof( array ) / sizeof *( array ) )

static const tr_list naming[] = { TR_LIST_CONSTRAINT, TR_LIST_SECTION, TR_LIST_HANDLE,  TR_LIST_CLIP,
                                  TR_LIST_PAIR,       TR_LIST_DRIVE,   TR_LIST_EXAMPLE, TR_LIST_PART };

// The ids by which an element names others of `list` (a body, or a layer). Returns how many.
static int named_ids( tr_list list, tr_list in, tr_element *element, char *ids[3] )
{
    int count = 0;
    if ( tr_list_holds_bodies( list ) && in == TR_LIST_CONSTRAINT ) {
        ids[count++] = element->constraint.a.who;
        ids[count++] = element->constraint.b.who;
        ids[count++] = element->constraint.surface;
    } else if ( tr_list_holds_bodies( list ) && in == TR_LIST_HANDLE )
        ids[count++] = element->handle.point.who;
    else if ( tr_list_holds_bodies( list ) && in == TR_LIST_PAIR ) {
        ids[count++] = element->pair.a;
        ids[count++] = element->pair.b;
    } else if ( list == TR_LIST_CAST && in == TR_LIST_CLIP )
        ids[count++] = element->clip.cast;
    else if ( list == TR_LIST_CAST && in == TR_LIST_DRIVE )
        ids[count++] = element->drive.cast;
    else if ( list == TR_LIST_CAST && in == TR_LIST_EXAMPLE )
        ids[count++] = element->example.cast;
    else if ( list == TR_LIST_CAST && in == TR_LIST_PART )
        ids[count++] = element->part.cast;
    else if ( list == TR_LIST_LAYER && in == TR_LIST_SECTION )
        ids[count++] = element->section.layer;
    else if ( list == TR_LIST_LAYER && in == TR_LIST_HANDLE )
        ids[count++] = element->handle.layer;
    return count;
}

static void fetch( const tr_scene *scene, tr_list list, int index, tr_element *out )
{
    memcpy( out, tr_list_at( scene, list, index ), tr_list_get_info( list )->size ); // padding too
}

static bool names( tr_list list, tr_list in, const tr_scene *scene, int index, const char *id )
{
    tr_element element;
    char *ids[3];
    fetch( scene, in, index, &element );
    int count = named_ids( list, in, &element, ids );
    for ( int i = 0; i < count; ++i )
        if ( strcmp( ids[i], id ) == 0 )
            return true;
    return false;
}

// -------------------------------------------------------------------------------------------------- remove

// A layer is removed with its last member.
static bool leave_layers( tr_edit *edit, tr_scene *scene, const char *id )
{
    bool ok = true;
    for ( int i = scene->layer_count - 1; ok && i >= 0; --i ) {
        tr_element element;
        if ( !tr_members_name( scene->layers[i].members, id ) )
            continue;
        fetch( scene, TR_LIST_LAYER, i, &element );
        tr_members_rename( element.layer.members, id, NULL );
        if ( element.layer.members[0] != 0 )
            ok = tr_edit_replace( edit, scene, TR_LIST_LAYER, i, &element );
        else
            ok = tr_edit_remove( edit, scene, TR_LIST_LAYER, i ) &&
                 tr_references_remove( edit, scene, TR_LIST_LAYER, element.id );
    }
    return ok;
}

bool tr_references_remove( tr_edit *edit, tr_scene *scene, tr_list list, const char *id )
{
    bool ok = true;
    for ( int n = 0; n < COUNT( naming ); ++n )
        for ( int i = tr_list_count( scene, naming[n] ) - 1; ok && i >= 0; --i )
            if ( names( list, naming[n], scene, i, id ) )
                ok = tr_edit_remove( edit, scene, naming[n], i );
    return ok && ( !tr_list_holds_bodies( list ) || leave_layers( edit, scene, id ) );
}

// -------------------------------------------------------------------------------------------------- rename

static bool rename_members( tr_edit *edit, tr_scene *scene, const char *from, const char *to,
                            tr_error *error )
{
    for ( int i = 0; i < scene->layer_count; ++i ) {
        tr_element element;
        if ( !tr_members_name( scene->layers[i].members, from ) )
            continue;
        fetch( scene, TR_LIST_LAYER, i, &element );
        if ( !tr_members_rename( element.layer.members, from, to ) )
            return tr_error_set( error, "the members of layer %s would be longer than %d bytes", element.id,
                                 TR_MEMBERS_MAX - 1 );
        if ( !tr_edit_replace( edit, scene, TR_LIST_LAYER, i, &element ) )
            return tr_error_memory( error );
    }
    return true;
}

static bool rename_in( tr_edit *edit, tr_scene *scene, tr_list list, tr_list in, int index, const char *from,
                       const char *to )
{
    tr_element element;
    char *ids[3];
    fetch( scene, in, index, &element );
    int count = named_ids( list, in, &element, ids );
    for ( int i = 0; i < count; ++i )
        if ( strcmp( ids[i], from ) == 0 )
            tr_string_set( ids[i], TR_ID_MAX, to );
    return tr_edit_replace( edit, scene, in, index, &element );
}

bool tr_references_rename( tr_edit *edit, tr_scene *scene, tr_list list, const char *from, const char *to,
                           tr_error *error )
{
    for ( int n = 0; n < COUNT( naming ); ++n )
        for ( int i = 0; i < tr_list_count( scene, naming[n] ); ++i )
            if ( names( list, naming[n], scene, i, from ) &&
                 !rename_in( edit, scene, list, naming[n], i, from, to ) )
                return tr_error_memory( error );
    return !tr_list_holds_bodies( list ) || rename_members( edit, scene, from, to, error );
}

// ---------------------------------------------------------------------------------------------------- copy

// The first of to_1, to_2, … that is free in the list; `to` is cut where it would not fit.
static void free_id( const tr_scene *scene, tr_list list, const char *to, tr_id out )
{
    int number = 0;
    do {
        char end[16];
        int length = snprintf( end, sizeof end, "_%d", ++number );
        tr_id id = "";
        snprintf( id, sizeof id, "%.*s%s", TR_ID_MAX - 1 - length, to, end );
        tr_string_set( out, TR_ID_MAX, id );
    } while ( tr_list_find( scene, list, out ) >= 0 );
}

bool tr_references_copy( tr_edit *edit, tr_scene *scene, tr_list list, const char *id, const char *to )
{
    static const tr_list brought[] = { TR_LIST_SECTION, TR_LIST_HANDLE,  TR_LIST_CLIP,
                                       TR_LIST_DRIVE,   TR_LIST_EXAMPLE, TR_LIST_PART };
    for ( int b = 0; b < COUNT( brought ); ++b ) {
        tr_list in = brought[b];
        bool of_cast = in >= TR_LIST_CLIP; // clips, drives, examples, parts
        int count = list == TR_LIST_LAYER || of_cast ? tr_list_count( scene, in ) : 0;
        for ( int i = 0; i < count; ++i ) {
            tr_element element;
            char *ids[3] = { NULL };
            if ( !names( list, in, scene, i, id ) )
                continue;
            fetch( scene, in, i, &element );
            free_id( scene, in, to, element.id );
            if ( named_ids( list, in, &element, ids ) > 0 )
                tr_string_set( ids[0], TR_ID_MAX, to );
            if ( !tr_edit_insert( edit, scene, in, tr_list_count( scene, in ), &element ) )
                return false;
        }
    }
    return true;
}
