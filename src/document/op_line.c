// The ops of scene_ops.inl, and parsing of lines.
#include "document/op_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COUNT( array ) (int)( sizeof( array ) / sizeof *( array ) )

#define NEED( key, type, field, help )                                                                       \
    {                                                                                                        \
#key, TR_OP_##type, true, field, help                                                                \
    }
#define MAY( key, type, field, help )                                                                        \
    {                                                                                                        \
#key, TR_OP_##type, false, field, help                                                               \
    }

#define OP( name, list, apply, help, ... ) static const tr_op_param name##_params[] = { __VA_ARGS__ };
#include "document/scene_ops.inl"

#define OP( name, list, apply, help, ... ) { #name, help, name##_params, COUNT( name##_params ) },
static const tr_op_info infos[] = {
#include "document/scene_ops.inl"
};

#define OP( name, list, apply, help, ... )                                                                   \
    _Static_assert( COUNT( name##_params ) <= TR_OP_MAX_PARAMS, "a call has room for every parameter" );
#include "document/scene_ops.inl"

const tr_op_info *tr_op_table( int *count )
{
    *count = COUNT( infos );
    return infos;
}

// ---------------------------------------------------------------------------------------------- parsing

bool tr_op_fail( tr_error *error, int column, const char *format, ... )
{
    char sentence[512];
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( sentence, sizeof sentence, format, arguments );
    va_end( arguments );
    return tr_error_at( error, NULL, 0, column, "%s", sentence );
}

static bool is_blank( char c )
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static int find_op( const char *name )
{
    for ( int i = 0; i < COUNT( infos ); ++i )
        if ( strcmp( infos[i].name, name ) == 0 )
            return i;
    return -1;
}

static bool fail_op( tr_error *error, int column, const char *name )
{
    const char *names[COUNT( infos ) + 1] = { NULL };
    for ( int i = 0; i < COUNT( infos ); ++i )
        names[i] = infos[i].name;
    const char *near = tr_nearest_word( name, names );
    if ( strcmp( name, "open" ) == 0 )
        return tr_op_fail( error, column, "open stands once, as the first op of a script" );
    if ( near != NULL )
        return tr_op_fail( error, column, "there is no op \"%.40s\"; did you mean \"%s\"?", name, near );
    return tr_op_fail( error, column, "there is no op \"%.40s\"; `troupe ops` lists them", name );
}

static bool fail_key( tr_error *error, int column, const tr_op_info *info, const char *key )
{
    const char *keys[TR_OP_MAX_PARAMS + 1] = { NULL };
    char list[320] = "";
    for ( int i = 0; i < info->param_count; ++i ) {
        keys[i] = info->params[i].key;
        size_t used = strlen( list );
        snprintf( list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", keys[i] );
    }
    const char *near = tr_nearest_word( key, keys );
    if ( near != NULL )
        return tr_op_fail( error, column, "%s has no key \"%.40s\"; did you mean \"%s\"?", info->name, key,
                           near );
    return tr_op_fail( error, column, "%s has no key \"%.40s\"; its keys are %s", info->name, key, list );
}

// Ends the word at *text with a NUL at `stop`, a blank or the end; returns the character that was there.
static char cut_word( char **text, char stop )
{
    while ( **text != 0 && **text != stop && !is_blank( **text ) )
        ++*text;
    char found = **text;
    if ( found != 0 )
        *( *text )++ = 0;
    return found;
}

// Removes the quotes of the value at *text, in place.
static bool cut_quoted( char **text, const char *line, tr_error *error )
{
    char *from = *text + 1, *to = *text;
    int column = (int)( *text - line ) + 1;
    for ( ; *from != '"'; *to++ = *from++ ) {
        if ( *from == '\\' && ( from[1] == '"' || from[1] == '\\' ) )
            ++from;
        if ( *from == 0 )
            return tr_op_fail( error, column, "the quote is not closed" );
    }
    if ( from[1] != 0 && !is_blank( from[1] ) )
        return tr_op_fail( error, (int)( from - line ) + 2, "a blank is needed behind the closing quote" );
    *to = 0;
    *text = from + 1;
    return true;
}

static bool parse_argument( tr_op_call *c, char **text, const char *line, tr_error *error )
{
    char *key = *text;
    int column = (int)( key - line ) + 1;
    if ( cut_word( text, '=' ) != '=' )
        return tr_op_fail( error, column, "\"%.40s\" is not of the form key=value", key );
    int i = 0;
    while ( i < c->info->param_count && strcmp( c->info->params[i].key, key ) != 0 )
        ++i;
    if ( i == c->info->param_count )
        return fail_key( error, column, c->info, key );
    if ( c->arguments[i].text != NULL )
        return tr_op_fail( error, column, "%s is given twice", key );
    c->arguments[i] = ( tr_op_argument ){ *text, (int)( *text - line ) + 1 };
    if ( **text == '"' )
        return cut_quoted( text, line, error );
    cut_word( text, 0 );
    return true;
}

bool tr_op_parse( tr_op_call *c, char *line, tr_error *error )
{
    char *text = line + strspn( line, " \t" ), *name = text;
    *c = ( tr_op_call ){ .column = (int)( text - line ) + 1 };
    if ( text[strcspn( text, "\r\n" ) + strspn( text + strcspn( text, "\r\n" ), "\r\n" )] != 0 )
        return tr_op_fail( error, 0, "an op is one line" );
    if ( *text == 0 || *text == '#' )
        return tr_op_fail( error, c->column, "there is no op on this line" );
    cut_word( &text, 0 );
    c->op = find_op( name );
    if ( c->op < 0 )
        return fail_op( error, c->column, name );
    c->info = &infos[c->op];
    for ( ;; ) {
        while ( is_blank( *text ) )
            ++text;
        if ( *text == 0 || *text == '#' )
            break;
        if ( !parse_argument( c, &text, line, error ) )
            return false;
    }
    for ( int i = 0; i < c->info->param_count; ++i )
        if ( c->info->params[i].required && c->arguments[i].text == NULL )
            return tr_op_fail( error, c->column, "%s needs %s=…: %s", c->info->name, c->info->params[i].key,
                               c->info->params[i].help );
    return true;
}

// ----------------------------------------------------------------------------------------------- values

bool tr_op_numbers( const char *text, int count, double *numbers )
{
    const char *end = text + strlen( text );
    for ( int i = 0; i < count; ++i ) {
        if ( i > 0 && *text++ != ',' )
            return false;
        text = tr_number_parse( text, end, &numbers[i] );
        if ( text == NULL || !isfinite( numbers[i] ) )
            return false;
    }
    return text == end;
}

tr_value tr_op_value( tr_op_type type, const char *text )
{
    tr_value value = { .type = TR_VALUE_TEXT, .text = text };
    switch ( type ) {
    case TR_OP_BOOL:
        value.flag = strcmp( text, "true" ) == 0;
        if ( value.flag || strcmp( text, "false" ) == 0 )
            value.type = TR_VALUE_BOOL;
        break;
    case TR_OP_NUMBER:
    case TR_OP_INT:
        if ( tr_op_numbers( text, 1, value.numbers ) )
            value.type = TR_VALUE_NUMBER;
        break;
    case TR_OP_PAIR:
    case TR_OP_VEC3:
    case TR_OP_QUAT:
        value.count = type == TR_OP_PAIR ? 2 : type == TR_OP_VEC3 ? 3 : 4;
        if ( tr_op_numbers( text, value.count, value.numbers ) )
            value.type = TR_VALUE_LIST;
        break;
    default: break;
    }
    return value;
}

const tr_op_argument *tr_op_find( const tr_op_call *c, const char *key )
{
    for ( int i = 0; i < c->info->param_count; ++i )
        if ( strcmp( c->info->params[i].key, key ) == 0 && c->arguments[i].text != NULL )
            return &c->arguments[i];
    return NULL;
}

// Column at which the line sets a field, or a part of it (target.limbs.tail of target.limbs); 0 = it does
// not.
static int column_of_field( const tr_op_call *c, const char *field )
{
    for ( int i = 0; i < c->info->param_count; ++i ) {
        const char *own = c->info->params[i].field;
        if ( own == NULL || c->arguments[i].text == NULL )
            continue;
        size_t length = strlen( own );
        if ( strncmp( own, field, length ) == 0 && ( field[length] == 0 || field[length] == '.' ) )
            return c->arguments[i].column;
    }
    return 0;
}

int tr_op_column_of( const tr_op_call *c, const char *path )
{
    const char *bracket = strrchr( path, ']' );
    int column = column_of_field( c, bracket != NULL && bracket[1] == '.' ? bracket + 2 : path );
    return column > 0 ? column : c->column;
}

int tr_op_column( const char *line, const char *field )
{
    char *copy = tr_string_copy( line );
    tr_op_call c;
    tr_error ignored;
    int column = 0;
    if ( copy != NULL && tr_op_parse( &c, copy, &ignored ) )
        column = column_of_field( &c, field );
    tr_free( copy );
    return column;
}
