// run, ops: replay edits written as lines of text.
#include "cli.h"

#include <ctype.h>
#include <stdarg.h>
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

// The first line of a script is no change of a scene, so it is no op of the document; in a script it is
// one like any other.
static const tr_op_param open_params[] = {
    { "scene", TR_OP_ID, false, NULL, "a built-in scene" },
    { "cast", TR_OP_INT, false, NULL, "how many characters of it" },
    { "file", TR_OP_TEXT, false, NULL, "a scene, a folder or a motion, as seen from the script" },
};
static const tr_op_info open_info = {
    "open",
    "First line of a script, what to work on: open scene=NAME [cast=N], or open file=PATH.",
    open_params,
    (int)( sizeof open_params / sizeof open_params[0] ),
};

static json_t *op_json( const tr_op_info *op )
{
    json_t *params = json_array();
    for ( int p = 0; p < op->param_count; ++p )
        json_array_append_new( params, json_pack( "{ss ss sb ss}", "key", op->params[p].key, "type",
                                                  type_name( op->params[p].type ), "required",
                                                  op->params[p].required, "help", op->params[p].help ) );
    return json_pack( "{ss ss so}", "name", op->name, "help", op->help, "params", params );
}

static void op_print( const tr_op_info *op )
{
    cli_say( "%s\n    %s\n", op->name, op->help );
    for ( int p = 0; p < op->param_count; ++p ) {
        const tr_op_param *param = &op->params[p];
        char left[64];
        snprintf( left, sizeof left, param->required ? "%s=" : "[%s=]", param->key );
        cli_say( "    %-18s %s (%s)\n", left, param->help, type_name( param->type ) );
    }
}

static int run_ops( const cli_call *call )
{
    int count;
    const tr_op_info *table = tr_op_table( &count );
    if ( cli_value( call, "json" ) == NULL ) {
        op_print( &open_info );
        for ( int i = 0; i < count; ++i )
            op_print( &table[i] );
        return CLI_OK;
    }
    json_t *rows = json_array();
    json_array_append_new( rows, op_json( &open_info ) );
    for ( int i = 0; i < count; ++i )
        json_array_append_new( rows, op_json( &table[i] ) );
    return cli_print_json( json_pack( "{so}", "ops", rows ) );
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
    char *open;       // the line that opens a scene, from its first letter on
    int line, column; // where it stands
    int subject;      // column of the name or path it opens
    char what[TR_PATH_MAX];
    bool built_in;
    int cast;
    tr_document *document; // the opened scene with the ops applied
} script;

// Trouble at a place of the open line.
TR_PRINTF( 4 )
static bool complain( const script *in, const char *at, tr_error *error, const char *format, ... )
{
    char sentence[400];
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( sentence, sizeof sentence, format, arguments );
    va_end( arguments );
    return tr_error_at( error, in->path, in->line, in->column + (int)( at - in->open ), "%s", sentence );
}

static bool complain_about_form( const script *in, const char *at, tr_error *error )
{
    return complain( in, at, error, "a script begins with 'open scene=NAME [cast=N]' or 'open file=PATH'" );
}

typedef struct pair { // one key=value of the open line; the value may stand in double quotes
    const char *at, *value_at;
    char key[16], value[TR_PATH_MAX];
} pair;

// Returns what follows, NULL when it is not of that form.
static const char *take_pair( pair *out, const char *at )
{
    size_t length = strcspn( at, "= \t" );
    if ( at[length] != '=' || length >= sizeof out->key )
        return NULL;
    out->at = at;
    snprintf( out->key, sizeof out->key, "%.*s", (int)length, at );
    at += length + 1;
    bool quoted = *at == '"';
    out->value_at = at;
    at += quoted;
    length = strcspn( at, quoted ? "\"" : " \t" );
    if ( length == 0 || length >= sizeof out->value || ( quoted && at[length] != '"' ) )
        return NULL;
    snprintf( out->value, sizeof out->value, "%.*s", (int)length, at );
    at += length + quoted;
    return at + strspn( at, " \t" );
}

static bool take_cast( script *in, const pair *p, tr_error *error )
{
    double number;
    const char *end = p->value + strlen( p->value );
    if ( tr_number_parse( p->value, end, &number ) != end || number != floor( number ) || number < 1 ||
         number > 100000 )
        return complain( in, p->value_at, error, "cast must be a whole number from 1, not '%s'", p->value );
    in->cast = tr_int_clamped( number, 1, 100000 );
    return true;
}

static bool take_subject( script *in, const pair *p, tr_error *error )
{
    if ( in->what[0] != 0 )
        return complain( in, p->at, error, "a script opens one scene or one file" );
    memcpy( in->what, p->value, sizeof in->what );
    in->built_in = strcmp( p->key, "scene" ) == 0;
    in->subject = in->column + (int)( p->value_at - in->open );
    return true;
}

static bool read_open( script *in, tr_error *error )
{
    static const char *const keys[] = { "scene", "cast", "file", NULL };
    const char *at = in->open;
    if ( strncmp( at, "open", 4 ) != 0 || ( at[4] != 0 && at[4] != ' ' && at[4] != '\t' ) )
        return complain_about_form( in, at, error );
    at += 4 + strspn( at + 4, " \t" );
    while ( *at != 0 && *at != '#' ) {
        pair p;
        const char *next = take_pair( &p, at );
        if ( next == NULL && strlen( at ) >= TR_PATH_MAX )
            return complain( in, at, error, "names and paths are at most %d bytes long", TR_PATH_MAX - 1 );
        if ( next == NULL )
            return complain_about_form( in, at, error );
        const char *nearest = tr_nearest_word( p.key, keys );
        if ( nearest == NULL || strcmp( nearest, p.key ) != 0 )
            return complain( in, at, error, "open knows scene, cast and file, not '%s'", p.key );
        if ( !( strcmp( p.key, "cast" ) == 0 ? take_cast( in, &p, error ) : take_subject( in, &p, error ) ) )
            return false;
        at = next;
    }
    return in->what[0] != 0 || complain_about_form( in, in->open, error );
}

// Finds the first line that is neither blank nor a comment, reads it, and comments it out: the rest keeps its
// line numbers.
static bool script_load( script *in, const char *path, tr_error *error )
{
    in->path = path;
    in->line = 1;
    if ( !tr_file_read_piped( path, &in->text, &in->size, error ) )
        return false;
    char *at = in->text + ( strncmp( in->text, "\xEF\xBB\xBF", 3 ) == 0 ? 3 : 0 ); // byte order mark
    char *start = at;
    while ( *at != 0 && ( isspace( (unsigned char)*at ) || *at == '#' ) ) {
        at += *at == '#' ? strcspn( at, "\n" ) : 0;
        in->line += *at == '\n';
        start = *at == '\n' ? at + 1 : start;
        at += *at != 0;
    }
    in->column = (int)( at - start ) + 1;
    in->open = tr_string_format( "%.*s", (int)strcspn( at, "\r\n" ), at );
    if ( in->open == NULL )
        return tr_error_memory( error );
    if ( !read_open( in, error ) )
        return false;
    *at = '#';
    return true;
}

static void script_free( script *in )
{
    tr_document_destroy( in->document );
    tr_free( in->text );
    tr_free( in->open );
}

// An error inside the opened file is printed as it is; a missing file is an error of this line.
static bool blame_open( const script *in, tr_error *error )
{
    if ( error->line > 0 || error->path[0] != 0 )
        return false;
    tr_error inner = *error;
    return tr_error_at( error, in->path, in->line, in->subject, "%s%s%s", inner.file,
                        inner.file[0] != 0 ? ": " : "", inner.message );
}

static bool open_subject( const script *in, cli_subject *subject, tr_error *error )
{
    char *path = in->built_in ? tr_string_copy( in->what ) : tr_path_beside( in->path, in->what );
    bool ok = path != NULL ? cli_subject_open( subject, path, in->cast, error ) : tr_error_memory( error );
    tr_free( path );
    if ( !ok )
        return blame_open( in, error );
    if ( subject->file == NULL ) { // no scene file: paths of ops are relative to the script
        subject->file = tr_string_copy( in->path );
        ok = subject->file != NULL || tr_error_memory( error );
    }
    return ok;
}

// Applies the ops; the edited scene takes the place of the one that was opened.
static bool edit_subject( cli_subject *subject, script *in, tr_error *error )
{
    in->document = tr_document_create( &subject->scene, error );
    tr_scene edited = { 0 };
    if ( in->document == NULL || !tr_document_run( in->document, in->text, in->size, in->path, error ) ||
         !tr_scene_copy( &edited, tr_document_scene( in->document ), error ) )
        return false;
    tr_scene_free( &subject->scene );
    subject->scene = edited;
    return true;
}

// Errors that appear only once files are open, such as a missing joint, get their line too.
static bool stage_subject( cli_subject *subject, const script *in, tr_error *error )
{
    if ( cli_subject_stage( subject, error ) )
        return true;
    int line, column;
    if ( error->line == 0 && tr_document_locate( in->document, error->path, &line, &column ) ) {
        snprintf( error->file, sizeof error->file, "%s", in->path );
        error->line = line;
        error->column = column;
    }
    return false;
}

static bool solve_and_save( cli_subject *subject, const cli_call *call, tr_error *error )
{
    const tr_method *method = cli_method( call, subject );
    const char *folder = cli_value( call, "out" );
    tr_free( subject->folder ); // earlier results do not know the edits
    subject->folder = NULL;
    subject->lone = false;
    double start = tr_clock_ms();
    if ( !cli_subject_spares_inputs( subject, folder, NULL, error ) ||
         !cli_subject_solve( subject, call, method, error ) )
        return false;
    double ms = tr_clock_ms() - start;
    if ( !tr_result_save( &subject->stage, &subject->result, method->name, folder, error ) )
        return false;
    if ( !call->quiet )
        cli_print_summary( subject, method, folder, ms );
    return true;
}

static void print_edited( const script *in, const tr_scene *scene )
{
    int ops = tr_document_log_count( in->document );
    cli_say( "%d op%s: %d character%s, %d prop%s, %d constraint%s, frames %d … %d\n", ops, cli_plural( ops ),
             scene->cast_count, cli_plural( scene->cast_count ), scene->prop_count,
             cli_plural( scene->prop_count ), scene->constraint_count, cli_plural( scene->constraint_count ),
             scene->first, scene->last );
}

static bool replay( script *in, cli_subject *subject, const cli_call *call, tr_error *error )
{
    if ( !script_load( in, call->operands[0], error ) || !open_subject( in, subject, error ) ||
         !edit_subject( subject, in, error ) )
        return false;
    bool ok = stage_subject( subject, in, error );
    cli_print_warnings( call, &subject->warnings );
    if ( ok && !call->quiet )
        print_edited( in, &subject->scene );
    return ok && ( cli_value( call, "out" ) == NULL || solve_and_save( subject, call, error ) );
}

static int run_script( const cli_call *call )
{
    if ( !cli_method_exists( call ) || !cli_threads( call ) )
        return CLI_USAGE;
    script in = { 0 };
    cli_subject subject = { 0 };
    tr_error error = { 0 };
    bool ok = replay( &in, &subject, call, &error );
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
        "'troupe ops' lists the others. Every name and file in it is checked; with -o the edited scene is "
        "also\n"
        "solved and written as by 'troupe retarget'.",
    .min_operands = 1,
    .max_operands = 1,
    .options =
        ( const cli_option[] ){
            { "out", 'o', "DIR", "folder for the results" },
            { "method", 'm', "M", "way of solving, see below" },
            { "threads", 'j', "N", "processors to use; 0 (the default) = all" },
            CLI_MEMORY,
            { NULL },
        },
    .run = run_script,
};
