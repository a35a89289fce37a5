// Files with several skeletons or takes: which of them is meant is asked once the file is known, and only
// where there is a choice.
#include "ui/session/private.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void tr_pick_free( tr_pick *pick )
{
    tr_free( pick->path );
    *pick = ( tr_pick ){ 0 };
}

bool tr_picks_add( tr_picks *picks, const tr_pick *pick )
{
    tr_pick copy = *pick;
    copy.path = tr_string_copy( pick->path );
    bool ok = copy.path != NULL &&
              tr_array_reserve( (void **)&picks->items, &picks->capacity, picks->count + 1, sizeof copy );
    if ( ok )
        picks->items[picks->count++] = copy;
    else
        tr_free( copy.path );
    return ok;
}

tr_pick tr_picks_take( tr_picks *picks )
{
    tr_pick first = picks->items[0];
    memmove( picks->items, picks->items + 1, (size_t)--picks->count * sizeof first );
    return first;
}

void tr_picks_free( tr_picks *picks )
{
    for ( int i = 0; i < picks->count; ++i )
        tr_pick_free( &picks->items[i] );
    tr_free( picks->items );
    *picks = ( tr_picks ){ 0 };
}

void tr_choice_free( tr_choice *choice )
{
    tr_free( choice->path );
    tr_free( choice->skeletons );
    tr_free( choice->takes );
    tr_free( choice->moves );
    *choice = ( tr_choice ){ 0 };
}

// -------------------------------------------------------------------------------------------- what there is

// Its name, or its number where the name is too long or means another.
static void put_word( tr_choice_word word, const char *name, bool clear, int index )
{
    if ( clear && strlen( name ) < sizeof( tr_choice_word ) )
        snprintf( word, sizeof( tr_choice_word ), "%s", name );
    else
        snprintf( word, sizeof( tr_choice_word ), "%d", index + 1 );
}

static bool list_choices( tr_choice *out, const tr_import *import, tr_error *error )
{
    size_t skeletons = (size_t)import->skeleton_count, takes = (size_t)import->take_count;
    out->skeletons = tr_alloc( skeletons, sizeof *out->skeletons );
    out->takes = tr_alloc( takes, sizeof *out->takes );
    out->moves = tr_alloc( skeletons * takes, sizeof *out->moves );
    if ( out->skeletons == NULL || out->takes == NULL || out->moves == NULL )
        return tr_error_memory( error );
    out->skeleton_count = import->skeleton_count;
    out->take_count = import->take_count;
    for ( int s = 0; s < import->skeleton_count; ++s ) {
        const char *name = import->skeletons[s].name;
        put_word( out->skeletons[s], name, tr_import_find_skeleton( import, name ) == s, s );
    }
    for ( int t = 0; t < import->take_count; ++t ) {
        const char *name = import->takes[t].name;
        put_word( out->takes[t], name, tr_import_find_take( import, name, 0 ) == t, t );
        for ( int s = 0; s < import->skeleton_count; ++s )
            *tr_choice_moves( out, t, s ) = tr_import_take_moves( import, t, s );
    }
    return true;
}

static bool is_open_to_choice( const tr_choice *choice )
{
    int takes = 0;
    for ( int t = 0; choice->skeleton_count == 1 && t < choice->take_count; ++t )
        takes += choice->moves[t];
    return choice->skeleton_count > 1 || takes > 1;
}

bool tr_choice_find( tr_choice *out, const char *path, bool opens, tr_error *error )
{
    tr_import import;
    struct stat status;
    *out = ( tr_choice ){ 0 };
    if ( !tr_import_is_named( path ) || stat( path, &status ) != 0 || !S_ISREG( status.st_mode ) )
        return true;
    if ( !tr_import_load( &import, path, NULL, NULL, error ) )
        return false;
    bool ok = list_choices( out, &import, error );
    tr_import_free( &import );
    if ( ok && is_open_to_choice( out ) ) {
        out->opens = opens;
        out->path = tr_string_copy( path );
        if ( out->path != NULL )
            return true;
        ok = tr_error_memory( error );
    }
    tr_choice_free( out );
    return ok;
}

// ------------------------------------------------------------------------------------------------- answers

const tr_choice *tr_session_choice( const tr_session *session )
{
    return session->choices.count > 0 ? &session->choices.items[0] : NULL;
}

void tr_session_ask( tr_session *session, tr_choice *choice )
{
    tr_error error = { 0 };
    if ( tr_array_reserve( (void **)&session->choices.items, &session->choices.capacity,
                           session->choices.count + 1, sizeof *choice ) )
        session->choices.items[session->choices.count++] = *choice;
    else {
        tr_error_memory( &error );
        tr_message_error( &session->message, &error );
        tr_choice_free( choice );
    }
    *choice = ( tr_choice ){ 0 };
}

void tr_session_forget( tr_session *session )
{
    if ( session->choices.count == 0 )
        return;
    tr_choice_free( &session->choices.items[0] );
    memmove( session->choices.items, session->choices.items + 1,
             (size_t)--session->choices.count * sizeof *session->choices.items );
}

void tr_session_choose( tr_session *session, int skeleton, int take )
{
    const tr_choice *choice = tr_session_choice( session );
    tr_picks picks = { 0 };
    bool ok = choice != NULL;
    for ( int s = 0; ok && s < choice->skeleton_count; ++s ) {
        bool moved = take < 0 || *tr_choice_moves( choice, take, s );
        if ( skeleton >= 0 ? s != skeleton : !moved )
            continue;
        tr_pick pick = { .path = choice->path, .chosen = true, .one = choice->skeleton_count == 1 };
        memcpy( pick.skeleton, choice->skeletons[s], sizeof pick.skeleton );
        if ( take >= 0 )
            memcpy( pick.take, choice->takes[take], sizeof pick.take );
        ok = tr_picks_add( &picks, &pick );
    }
    if ( ok && choice->opens && picks.count > 0 )
        tr_session_open_picks( session, &picks );
    else
        for ( int i = 0; ok && i < picks.count; ++i )
            ok = tr_picks_add( &session->requests.joins, &picks.items[i] );
    tr_picks_free( &picks );
    tr_session_forget( session );
}
