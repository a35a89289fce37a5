// cli: the command line. Each command is one row of a table: its name, its help, its options and
// the function that runs it. Parsing, help, messages and exit codes are shared.
#ifndef TROUPE_CLI_H
#define TROUPE_CLI_H

#include "base/base.h"
#include "scenes/scenes.h"
#include "troupe.h"

#define CLI_MAX_OPTIONS  16
#define CLI_MAX_OPERANDS 4

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_CANCELLED = 130 }; // exit codes; SIGTERM: 143

typedef struct cli_option {
    const char *name;  // without its dashes; NULL ends a table
    char letter;       // -o for --out; 0 = none
    const char *value; // stands for the value in the help; NULL = a switch
    const char *help;
    bool required;
} cli_option;

typedef struct cli_call cli_call;

typedef struct cli_command {
    const char *name;
    const char *usage;   // operands and the most used options
    const char *summary; // one line
    const char *details; // further lines of its help, NULL = none
    int min_operands, max_operands;
    const cli_option *options; // --help and --quiet come on their own; NULL = no others
    int ( *run )( const cli_call *call );
} cli_command;

struct cli_call { // one command line, taken apart; borrows argv
    const cli_command *command;
    const char *operands[CLI_MAX_OPERANDS];
    int operand_count;
    const char *values[CLI_MAX_OPTIONS]; // by row of command->options; NULL = not given, "" for a switch
    bool quiet;
    bool help;
};

// ------------------------------------------------------------------------------------------- commands

extern const cli_command cli_command_edit, cli_command_scenes, cli_command_info, cli_command_convert,
    cli_command_make, cli_command_retarget, cli_command_measure, cli_command_render, cli_command_run,
    cli_command_ops, cli_command_bench, cli_command_map, cli_command_links, cli_command_examples;

// -------------------------------------------------------------------------------------------- options

// Takes the arguments after the command's name apart. CLI_OK, or CLI_USAGE after saying what is wrong.
int cli_parse( cli_call *call, const cli_command *command, int count, char **arguments );
void cli_print_help( const cli_command *command );

// The value of an option of this command, NULL when it was not given.
const char *cli_value( const cli_call *call, const char *option );
// Numbers within limits; *out stays when the option was not given. False after saying what is wrong.
bool cli_number( const cli_call *call, const char *option, double low, double high, double *out );
bool cli_int( const cli_call *call, const char *option, int low, int high, int *out );
// "A:B" with low ≤ A ≤ B ≤ high.
bool cli_range( const cli_call *call, const char *option, int low, int high, int *first, int *last );
// "WxH", each within 16 … 8192.
bool cli_size( const cli_call *call, const char *option, int *width, int *height );

// ------------------------------------------------------------------------------------------- messages

void cli_say( const char *format, ... ) TR_PRINTF( 1 ); // to stdout, fit for a terminal

// One sentence on stderr behind "troupe: "; each returns the exit code for it.

int cli_fail( const tr_error *error );
int cli_wrong( const char *format, ... ) TR_PRINTF( 1 );
// Names the nearest of the words there are, or all of them. `words` ends with NULL.
int cli_wrong_word( const char *what, const char *word, const char *const *words );
void cli_print_warnings( const cli_call *call, const tr_log *warnings );
// Prints to stdout; both take the value over. The text is printed if `ok`, else the error.
int cli_print_json( json_t *json );
int cli_print_text( tr_text *text, bool ok, const tr_error *error );
const char *cli_plural( int count ); // "s", or "" for one
// `code`, or CLI_FAILED after saying that stdout did not take what was printed (disk full).
int cli_output_written( int code );

// A bar on stderr for work that takes more than a second, on a terminal only and not with --quiet.
typedef struct cli_progress {
    const char *label;
    double start, last; // milliseconds
    bool enabled, shown;
} cli_progress;

void cli_progress_begin( cli_progress *progress, const cli_call *call, const char *label );
void cli_progress_step( cli_progress *progress, int done, int total );
// For work without known progress: prints the label alone, at once.
void cli_progress_wait( cli_progress *progress );
void cli_progress_end( cli_progress *progress );
// For the library's long work: steps of the bar.
tr_progress cli_progress_link( cli_progress *progress );

// ------------------------------------------------------------------------------------------- subjects
// What a SCENE, FILE.json, FILE.bvh or DIR on the command line stands for.

typedef struct cli_subject {
    tr_scene scene;
    tr_library library;
    tr_stage stage;
    tr_result result;
    tr_log warnings;
    char *file;   // the scene's own path, NULL for a built-in scene or a lone motion
    char *opened; // the file that was opened, scene or motion; NULL for a built-in scene
    char *folder; // folder of results to be read back, NULL = none
    bool lone;    // a single motion file: nothing to solve
    bool misused; // it could not be opened because of the command line, not of a file
} cli_subject;

// Scene and library. `cast` 0 = as many as the scene has; else only for built-in scenes.
bool cli_subject_open( cli_subject *subject, const char *what, int cast, tr_error *error );
bool cli_subject_stage( cli_subject *subject, tr_error *error );
// The result: read from the folder, taken over from a lone motion, or solved with `method`.
bool cli_subject_solve( cli_subject *subject, const cli_call *call, const tr_method *method,
                        tr_error *error );
// tr_pipeline_run with a bar.
bool cli_run_pipeline( tr_result *out, tr_stage *stage, const cli_call *call, const tr_method *method,
                       tr_error *error );
void cli_subject_close( cli_subject *subject );
// A command that shows something of a subject: `show` opens it and returns the exit code.
typedef int cli_show( cli_subject *subject, const cli_call *call, tr_error *error );
int cli_show_subject( const cli_call *call, cli_show *show );
// Index of a character by its id, -1 and a message where there is none.
int cli_find_cast( const cli_subject *subject, const char *id );
// As cli_fail, with the exit code for what went wrong.
int cli_subject_fail( const cli_subject *subject, const tr_error *error );
// What was solved in how long; the rules, handles and touches that gave way; the rule that came out worst
// (summary.c).
void cli_print_summary( const cli_subject *subject, const tr_method *method, const char *folder, double ms );
// False when writing these would replace a file that the scene was read from. For a stage that is built.
bool cli_subject_spares_inputs( const cli_subject *subject, const char *folder, const char *report,
                                tr_error *error );
bool cli_same_file( const char *a, const char *b ); // both are there, and are one

// Whether --method, if there, names one; says which there are otherwise.
bool cli_method_exists( const cli_call *call );
// The method asked for with --method, else the one the scene asks for.
const tr_method *cli_method( const cli_call *call, const cli_subject *subject );
// The option --memory, of every command that puts a scene on stage.
#define CLI_MEMORY                                                                                           \
    {                                                                                                        \
        "memory", 0, "SIZE", "memory that may be used, such as 4G; default: half of the machine's"           \
    }
// Applies --threads and --memory. False after saying what is wrong.
bool cli_threads( const cli_call *call );

#endif
