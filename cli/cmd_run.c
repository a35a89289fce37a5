// run, ops: replay edits written as lines of text.
#include "cli.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------- ops

static const char *type_name( tr_op_type type )
{
    switch ( type ) {
    case TR_OP_ID: return "id";
    case TR_OP_TEXT: return "text";
    case TR_OP_NUMBER: return "number";
    case TR_OP_INT: return "whole number";
    case TR_OP_BOOL: return "true or false";
    case TR_OP_PAIR: return "a,b";
    case TR_OP_VEC3: return "x,y,z";
    case TR_OP_QUAT: return "x,y,z,w";
    }
    return "";
}

static json_t *ops_json( void )
{
    int count;
    const tr_op_info *table = tr_op_table( &count );
    json_t *rows = json_array();
    for ( int i = 0; i < count; ++i ) {
        json_t *params = json_array();
        for ( int p = 0; p < table[i].param_count; ++p )
            json_array_append_new( params, json_pack( "{ss ss sb ss}", "key", table[i].params[p].key, "type",
                                                      type_name( table[i].params[p].type ), "required",
                                                      table[i].params[p].required, "help",
                                                      table[i].params[p].help ) );
        json_array_append_new(
            rows, json_pack( "{ss ss so}", "name", table[i].name, "help", table[i].help, "params", params ) );
    }
    return json_pack( "{so}", "ops", rows );
}

static int run_ops( const cli_call *call )
{
    if ( cli_value( call, "json" ) != NULL )
        return cli_print_json( ops_json() );
    int count;
    const tr_op_info *table = tr_op_table( &count );
    printf( "open scene=NAME [cast=N] | open file=PATH\n    first line of a script: what to work on\n" );
    for ( int i = 0; i < count; ++i ) {
        printf( "%s\n    %s\n", table[i].name, table[i].help );
        for ( int p = 0; p < table[i].param_count; ++p ) {
            const tr_op_param *param = &table[i].params[p];
            char left[64];
            snprintf( left, sizeof left, param->required ? "%s=" : "[%s=]", param->key );
            printf( "    %-18s %s (%s)\n", left, param->help, type_name( param->type ) );
        }
    }
    return CLI_OK;
}

const cli_command cli_command_ops = {
    .name = "ops",
    .usage = "[--json]",
    .summary = "list every op a script can hold, with its parameters",
    .options = ( const cli_option[] ){ { "json", 0, NULL, "print the list as JSON" }, { NULL } },
    .run = run_ops,
};

// ---------------------------------------------------------------------------------------------------- run

typedef struct script {
    const char *path;
    char *text; // its first op line is turned into a comment once it is read
    size_t size;
    int line;   // of the first op
    char *open; // that line
    char name[TR_ID_MAX], file[TR_PATH_MAX];
    int cast;
} script;

static bool script_complain( const script *in, tr_error *error )
{
    return tr_error_at( error, in->path, in->line, 1,
                        "a script begins with 'open scene=NAME [cast=N]' or 'open file=PATH'" );
}

// One key=value of the open line; the value may stand in double quotes. Returns what follows, NULL when
// wrong.
static const char *take_pair( const char *at, char *key, size_t key_size, char *value, size_t value_size )
{
    size_t length = strcspn( at, "= \t" );
    if ( at[length] != '=' || length >= key_size )
        return NULL;
    snprintf( key, key_size, "%.*s", (int)length, at );
    at += length + 1;
    bool quoted = *at == '"';
    at += quoted;
    length = strcspn( at, quoted ? "\"" : " \t" );
    if ( length == 0 || length >= value_size || ( quoted && at[length] != '"' ) )
        return NULL;
    snprintf( value, value_size, "%.*s", (int)length, at );
    at += length + quoted;
    return at + strspn( at, " \t" );
}

static bool take_cast( script *in, const char *value, tr_error *error )
{
    double number;
    const char *end = value + strlen( value );
    if ( tr_number_parse( value, end, &number ) != end || number != floor( number ) || number < 1 ||
         number > 100000 )
        return tr_error_at( error, in->path, in->line, 1, "cast must be a whole number from 1, not '%s'",
                            value );
    in->cast = (int)number;
    return true;
}

static bool read_open( script *in, tr_error *error )
{
    const char *at = in->open;
    if ( strncmp( at, "open", 4 ) != 0 || !( at[4] == ' ' || at[4] == '\t' ) )
        return script_complain( in, error );
    at += 4 + strspn( at + 4, " \t" );
    while ( *at != 0 && *at != '#' ) {
        char key[16], value[TR_PATH_MAX];
        at = take_pair( at, key, sizeof key, value, sizeof value );
        if ( at == NULL )
            return script_complain( in, error );
        if ( strcmp( key, "scene" ) == 0 )
            snprintf( in->name, sizeof in->name, "%.*s", TR_ID_MAX - 1, value );
        else if ( strcmp( key, "file" ) == 0 )
            snprintf( in->file, sizeof in->file, "%s", value );
        else if ( strcmp( key, "cast" ) != 0 )
            return tr_error_at( error, in->path, in->line, 1, "open knows scene, cast and file, not '%s'",
                                key );
        else if ( !take_cast( in, value, error ) )
            return false;
    }
    if ( ( in->name[0] != 0 ) == ( in->file[0] != 0 ) )
        return script_complain( in, error );
    return true;
}

// Finds the first line that is neither blank nor a comment, reads it, and comments it out: the rest keeps its
// line numbers.
static bool script_load( script *in, const char *path, tr_error *error )
{
    in->path = path;
    in->line = 1;
    if ( !tr_file_read( path, &in->text, &in->size, error ) )
        return false;
    char *at = in->text + ( strncmp( in->text, "\xEF\xBB\xBF", 3 ) == 0 ? 3 : 0 ); // byte order mark
    while ( *at != 0 && ( isspace( (unsigned char)*at ) || *at == '#' ) ) {
        at += *at == '#' ? strcspn( at, "\n" ) : 0;
        in->line += *at == '\n';
        at += *at != 0;
    }
    size_t length = strcspn( at, "\r\n" );
    in->open = tr_string_format( "%.*s", (int)length, at );
    if ( in->open == NULL )
        return tr_error_memory( error );
    if ( !read_open( in, error ) )
        return false;
    *at = '#';
    return true;
}

static void script_free( script *in )
{
    tr_free( in->text );
    tr_free( in->open );
}

static bool open_subject( const script *in, cli_subject *subject, tr_error *error )
{
    char *path = in->name[0] != 0 ? tr_string_copy( in->name ) : tr_path_beside( in->path, in->file );
    bool ok = path != NULL ? cli_subject_open( subject, path, in->cast, error ) : tr_error_memory( error );
    tr_free( path );
    if ( ok && subject->file == NULL ) { // no scene file: what ops add lies beside the script
        subject->file = tr_string_copy( in->path );
        ok = subject->file != NULL || tr_error_memory( error );
    }
    return ok;
}

// Applies the ops; the edited scene takes the place of the one that was opened.
static bool edit_subject( cli_subject *subject, const script *in, int *ops, tr_error *error )
{
    tr_document *document = tr_document_create( &subject->scene, error );
    if ( document == NULL )
        return false;
    tr_scene edited = { 0 };
    bool ok = tr_document_run( document, in->text, in->size, in->path, error ) &&
              tr_scene_copy( &edited, tr_document_scene( document ), error );
    *ops = tr_document_log_count( document );
    tr_document_destroy( document );
    if ( !ok )
        return false;
    tr_scene_free( &subject->scene );
    subject->scene = edited;
    return true;
}

static bool solve_and_save( cli_subject *subject, const cli_call *call, const tr_method *method,
                            tr_error *error )
{
    tr_free( subject->folder ); // earlier results do not know the edits
    subject->folder = NULL;
    subject->lone = false;
    const char *folder = cli_value( call, "out" );
    return cli_subject_stage( subject, error ) && cli_subject_spares_inputs( subject, folder, NULL, error ) &&
           cli_subject_solve( subject, call, method, error ) &&
           tr_result_save( &subject->stage, &subject->result, method->name, folder, error );
}

static int run_script( const cli_call *call )
{
    const tr_method *method = cli_method( call );
    if ( method == NULL )
        return CLI_USAGE;
    script in = { 0 };
    cli_subject subject = { 0 };
    tr_error error = { 0 };
    int ops = 0;
    const char *folder = cli_value( call, "out" );
    bool ok = script_load( &in, call->operands[0], &error ) && open_subject( &in, &subject, &error ) &&
              edit_subject( &subject, &in, &ops, &error ) &&
              ( folder == NULL || solve_and_save( &subject, call, method, &error ) );
    cli_print_warnings( call, &subject.warnings );
    if ( ok && !call->quiet )
        printf( "%d ops: %d characters, %d props, %d constraints, frames %d … %d%s%s\n", ops,
                subject.scene.cast_count, subject.scene.prop_count, subject.scene.constraint_count,
                subject.scene.first, subject.scene.last, folder != NULL ? ", written to " : "",
                folder != NULL ? folder : "" );
    cli_subject_close( &subject );
    script_free( &in );
    return ok ? CLI_OK : cli_fail( &error );
}

const cli_command cli_command_run = {
    .name = "run",
    .usage = "SCRIPT [-o DIR]",
    .summary = "replay a script of ops",
    .details =
        "One op a line: name key=value …; values with spaces in double quotes, # begins a comment. The "
        "first\n"
        "op says what to work on: open scene=NAME [cast=N], or open file=PATH (as seen from the script).\n"
        "'troupe ops' lists the others. With -o the edited scene is solved and written as by 'troupe\n"
        "retarget'.",
    .min_operands = 1,
    .max_operands = 1,
    .options =
        ( const cli_option[] ){
            { "out", 'o', "DIR", "folder for the results" },
            { "method", 'm', "M", "way of solving, see below" },
            { NULL },
        },
    .run = run_script,
};
