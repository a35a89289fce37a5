// A scene with its history. The log of lines is complete, so that it replays from the start; the data for
// undo has a limit, beyond which the oldest is dropped.
#include "document/fields.h"

#include <stdlib.h>
#include <string.h>

enum { HISTORY_BYTES = 64 << 20 }; // default of tr_document_limit_history

typedef struct step {
    char *line;
    int number;  // number of the line in its script, 0 = not from a script
    bool joined; // undone and redone together with the step before
    tr_edit edit;
} step;

struct tr_document {
    tr_scene scene;
    step *steps; // [step_count] the first `done` are in the scene, the others can be redone
    int step_count, step_capacity;
    int done, forgotten; // steps before `forgotten` cannot be undone
    size_t bytes, limit; // bytes of all edits, and the most that are kept
};

tr_document *tr_document_create( const tr_scene *initial, tr_error *error )
{
    if ( !tr_scene_check( initial, NULL, error ) )
        return NULL;
    tr_document *document = tr_alloc( 1, sizeof *document );
    if ( document == NULL ) {
        tr_error_memory( error );
        return NULL;
    }
    document->limit = HISTORY_BYTES;
    if ( !tr_scene_copy( &document->scene, initial, error ) ) {
        tr_free( document );
        return NULL;
    }
    return document;
}

static void free_step( tr_document *document, step *old )
{
    document->bytes -= old->edit.bytes;
    tr_edit_free( &old->edit );
    tr_free( old->line );
    old->line = NULL;
}

static void forget_redo( tr_document *document )
{
    while ( document->step_count > document->done )
        free_step( document, &document->steps[--document->step_count] );
}

static void forget_oldest( tr_document *document ) // but never the last step
{
    while ( document->bytes > document->limit && document->forgotten < document->done - 1 ) {
        step *oldest = &document->steps[document->forgotten++];
        document->bytes -= oldest->edit.bytes;
        tr_edit_free( &oldest->edit );
    }
}

void tr_document_destroy( tr_document *document )
{
    if ( document == NULL )
        return;
    document->done = 0;
    forget_redo( document );
    tr_free( document->steps );
    tr_scene_free( &document->scene );
    tr_free( document );
}

const tr_scene *tr_document_scene( const tr_document *document )
{
    return &document->scene;
}

void tr_document_limit_history( tr_document *document, size_t bytes )
{
    document->limit = bytes;
    forget_oldest( document );
}

// The line without surrounding blanks and line end.
static char *trimmed( const char *line )
{
    line += strspn( line, " \t" );
    size_t length = strlen( line );
    while ( length > 0 && strchr( " \t\r\n", line[length - 1] ) != NULL )
        --length;
    char *copy = tr_alloc( length + 1, 1 );
    if ( copy != NULL )
        memcpy( copy, line, length );
    return copy;
}

bool tr_document_apply( tr_document *document, const char *line, tr_error *error )
{
    step new_step = { .line = trimmed( line ) };
    bool ok = new_step.line != NULL && tr_array_reserve( (void **)&document->steps, &document->step_capacity,
                                                         document->step_count + 1, sizeof new_step );
    if ( !ok )
        tr_error_memory( error );
    else if ( !tr_op_apply( &new_step.edit, &document->scene, line, error ) ) {
        tr_edit_undo( &new_step.edit, &document->scene );
        ok = false;
    }
    if ( !ok ) {
        tr_edit_free( &new_step.edit );
        tr_free( new_step.line );
        return false;
    }
    forget_redo( document );
    document->steps[document->step_count++] = new_step;
    document->done = document->step_count;
    document->bytes += new_step.edit.bytes;
    forget_oldest( document );
    return true;
}

void tr_document_join( tr_document *document, int count )
{
    for ( int i = document->done - count + 1; i < document->done; ++i )
        document->steps[i > 0 ? i : 0].joined = i > 0;
}

// First step of the group of joined steps that ends before `end`.
static int group_begin( const tr_document *document, int end )
{
    int begin = end - 1;
    while ( begin > 0 && document->steps[begin].joined )
        --begin;
    return begin;
}

bool tr_document_undo( tr_document *document )
{
    int begin = document->done > 0 ? group_begin( document, document->done ) : 0;
    if ( document->done == 0 || begin < document->forgotten )
        return false;
    while ( document->done > begin )
        tr_edit_undo( &document->steps[--document->done].edit, &document->scene );
    return true;
}

bool tr_document_redo( tr_document *document )
{
    if ( document->done == document->step_count )
        return false;
    do
        tr_edit_redo( &document->steps[document->done++].edit, &document->scene );
    while ( document->done < document->step_count && document->steps[document->done].joined );
    return true;
}

int tr_document_log_count( const tr_document *document )
{
    return document->done;
}

int tr_document_redo_count( const tr_document *document )
{
    return document->step_count - document->done;
}

const char *tr_document_log( const tr_document *document, int index )
{
    return index >= 0 && index < document->done ? document->steps[index].line : NULL;
}

const char *tr_document_undone( const tr_document *document, int index )
{
    return index >= 0 && index < document->step_count - document->done
               ? document->steps[document->done + index].line
               : NULL;
}

bool tr_document_is_joined( const tr_document *document, int index )
{
    return index > 0 && index < document->step_count && document->steps[index].joined;
}

// ---------------------------------------------------------------------------------------------- scripts

static bool run_line( tr_document *document, const char *text, size_t size, tr_error *error )
{
    char *line = tr_alloc( size + 1, 1 );
    if ( line == NULL )
        return tr_error_memory( error );
    memcpy( line, text, size );
    const char *first = line + strspn( line, " \t\r" );
    bool ok = true;
    if ( strlen( line ) != size )
        ok = tr_error_at( error, NULL, 0, (int)strlen( line ) + 1, "there is a NUL character" );
    else if ( *first != 0 && *first != '#' )
        ok = tr_document_apply( document, line, error );
    tr_free( line );
    return ok;
}

bool tr_document_run( tr_document *document, const char *text, size_t size, const char *name,
                      tr_error *error )
{
    const char *end = text + size;
    tr_skip_byte_order_mark( &text, &size );
    for ( int number = 1; text < end; ++number ) {
        const char *stop = memchr( text, '\n', (size_t)( end - text ) );
        if ( stop == NULL )
            stop = end;
        tr_error trouble;
        int before = document->done;
        if ( !run_line( document, text, (size_t)( stop - text ), &trouble ) ) {
            tr_error_at( error, name, number, trouble.column, "%s", trouble.message );
            if ( error != NULL )
                memcpy( error->path, trouble.path, sizeof error->path );
            return false;
        }
        if ( document->done > before )
            document->steps[document->done - 1].number = number;
        text = stop + ( stop < end );
    }
    return true;
}

// ---------------------------------------------------------------------------------------------- locating

// "constraints[3].a" → list, index 3, "a".
static bool split_path( const char *path, tr_list *list, int *index, const char **field )
{
    for ( *list = 0; *list < TR_LIST_COUNT; ++*list ) {
        const char *name = tr_list_get_info( *list )->path;
        size_t length = strlen( name );
        if ( strncmp( path, name, length ) != 0 || path[length] != '[' )
            continue;
        char *end;
        *index = (int)strtol( path + length + 1, &end, 10 );
        *field = end[0] == ']' && end[1] == '.' ? end + 2 : "";
        return end[0] == ']';
    }
    return false;
}

// Goes back through the changes of a step. *index follows the element; true if the step set its field.
static bool step_is_behind( const step *s, tr_list list, int *index, const char *field, int *column )
{
    bool made = false, touched = false;
    for ( int i = s->edit.count - 1; i >= 0 && !made; --i ) {
        const tr_change *change = &s->edit.changes[i];
        if ( change->list != list )
            continue;
        touched |= change->type != TR_CHANGE_REMOVE && change->index == *index;
        made = change->type == TR_CHANGE_INSERT && change->index == *index;
        if ( change->type == TR_CHANGE_INSERT && change->index < *index )
            --*index;
        else if ( change->type == TR_CHANGE_REMOVE && change->index <= *index )
            ++*index;
    }
    *column = touched ? tr_op_column( s->line, field ) : 0;
    if ( made && *column == 0 )
        *column = 1;
    return *column > 0;
}

bool tr_document_locate( const tr_document *document, const char *path, int *line, int *column )
{
    tr_list list;
    int index;
    const char *field;
    if ( !split_path( path, &list, &index, &field ) )
        return false;
    for ( int i = document->done - 1; i >= document->forgotten; --i )
        if ( step_is_behind( &document->steps[i], list, &index, field, column ) ) {
            *line = document->steps[i].number;
            return *line > 0;
        }
    return false;
}
