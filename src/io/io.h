// io: whole files and folders, atomic saving, text, JSON with paths in its errors.
#ifndef TROUPE_IO_H
#define TROUPE_IO_H

#include "base/base.h"
#include <jansson.h>

// ------------------------------------------------------------------------------------------------ files

#define TR_MAX_FILE_BYTES ( (size_t)1 << 30 ) // larger files are refused: they are read as a whole

// Whole file; *data is allocated, NUL-terminated behind *size bytes, freed with tr_free. Folders, pipes and
// devices are refused without waiting for them, and so is a file that changes while it is read.
bool tr_file_read( const char *path, char **data, size_t *size, tr_error *error );
// The same for a file that a user names: also a pipe that the shell has opened (/dev/stdin, /dev/fd/N).
bool tr_file_read_piped( const char *path, char **data, size_t *size, tr_error *error );
// Temporary file beside the target, fsync, rename, fsync of the folder: if the process is killed, the old
// file or the new one is complete. Follows a symbolic link to its target and keeps the permissions of an
// existing file. If only the fsync of the folder fails, the new file exists, and the error says that it may
// get lost.
bool tr_file_write( const char *path, const char *data, size_t size, tr_error *error );

// The same for data that is not in memory as a whole: an empty file beside the target, to be written by its
// name. It replaces the target when it is kept.
typedef struct tr_draft {
    char *path, *target; // as given, and with links resolved
    char *name;          // name of the draft
    int file;            // open for writing
} tr_draft;

bool tr_draft_open( tr_draft *out, const char *path, tr_error *error );
// Both also free. After a failure the draft is removed and the old file unchanged.
bool tr_draft_keep( tr_draft *draft, tr_error *error );
void tr_draft_discard( tr_draft *draft );

// A folder of files that is one unit: if the process is killed, this program reads the old folder or the new
// one, complete. So do others if the folder holds nothing else. See folder.c.
typedef struct tr_names {
    char **items; // [count] relative to the folder: "file" or "folder/file"
    int count, capacity;
} tr_names;

bool tr_names_add( tr_names *names, const char *name ); // false: out of memory
void tr_names_free( tr_names *names );

// Lists the files of a folder that belong to the old unit and are to be replaced. False when that is unknown;
// then only files with the name of a new one are replaced.
typedef bool tr_folder_owned( const char *folder, tr_names *out );

typedef struct tr_folder_draft {
    char *path, *target;    // as given, and with links resolved
    char *name;             // name of the draft: its files are written there, at most one folder deep
    char *parent, leaf[64]; // the same in two parts
    int handle;             // handle of the draft, locked
    bool exists, inside;    // the target exists; the draft is inside it, not beside it
    tr_folder_owned *owned;
} tr_folder_draft;

// Creates `path` and the folders above it if they do not exist. `owned` may be NULL. `inside` keeps the
// folder itself and replaces its files.
bool tr_folder_draft_open( tr_folder_draft *out, const char *path, tr_folder_owned *owned, bool inside,
                           tr_error *error );
// Both also free. After a failure the draft is removed; *cannot_swap: write it again with `inside`.
bool tr_folder_draft_keep( tr_folder_draft *draft, bool *cannot_swap, tr_error *error );
void tr_folder_draft_discard( tr_folder_draft *draft );
// Replaces the name of a draft's file in an error by its final name.
void tr_folder_draft_rename_error( const tr_folder_draft *draft, tr_error *error );
// Call before reading such a folder: completes an interrupted write.
bool tr_folder_recover( const char *path, tr_error *error );

// For tests: from now on the n-th call (n ≥ 1) that changes a disk fails, or it and all later ones fail, or
// the process is killed instead of it. Resets the count of such calls to 0.
typedef enum tr_file_fault {
    TR_FILE_SOUND,
    TR_FILE_FAILS_ONCE,
    TR_FILE_FAILS_FROM,
    TR_FILE_KILLS
} tr_file_fault;

void tr_file_break( tr_file_fault kind, long n );
long tr_file_steps( void ); // the count

bool tr_file_exists( const char *path );
bool tr_file_check( const char *path, tr_error *error );  // false: missing, or a pipe, a device, a folder
bool tr_folder_make( const char *path, tr_error *error ); // with parents; fine when it exists
// `path` relative to the folder of `base_file`; absolute paths stay. Allocated.
char *tr_path_beside( const char *base_file, const char *path );
bool tr_path_ends_with( const char *path, const char *ending ); // letter case does not matter

typedef struct tr_text { // growing text
    char *data;
    size_t size, capacity;
    bool failed; // out of memory happened; checked once at the end
} tr_text;

void tr_text_add( tr_text *text, const char *format, ... ) TR_PRINTF( 2 );
void tr_text_append( tr_text *text, const char *bytes, size_t size );
void tr_text_number( tr_text *text, double value, int decimals );
void tr_text_exact( tr_text *text, double value ); // shortest text that reads back as the same double
// As a JSON string, with its quotes; bytes that are not UTF-8 become U+FFFD.
void tr_text_quoted( tr_text *text, const char *string, size_t length );
void tr_text_free( tr_text *text );

// Skips the mark that some programs put before UTF-8.
void tr_skip_byte_order_mark( const char **text, size_t *size );

// ------------------------------------------------------------------------------------------------- JSON
// jansson checks the syntax (line and column), this reader the content (path and nearest valid key).

// jansson keeps its allocator in a global. From now on every json_t of the process comes from tr_alloc, and
// the order within hash tables is the same in every run. For programs only, before main: a library
// leaves jansson as its host has it.
void tr_json_take_over( void );
bool tr_json_load( json_t **out, const char *path, tr_error *error );
bool tr_json_parse( json_t **out, const char *text, size_t size, const char *name, tr_error *error );
// A JSON string of any bytes, as tr_text_quoted writes it; NULL when out of memory. jansson alone refuses
// bytes that are not UTF-8.
json_t *tr_json_text( const char *text );
// Whether jansson ran out of memory on this thread since the last call, or since a text was parsed: values
// built meanwhile may be incomplete.
bool tr_json_ran_out( void );
void tr_json_print( const json_t *json, tr_text *out ); // indented, numbers shortest-exact
bool tr_json_save( const json_t *json, const char *path,
                   tr_error *error ); // the same as a file, atomic

// A cursor on a value that knows its path. The first failure is kept in *error; later reads do nothing, so a
// reader can be a plain sequence of calls that checks `ok` at the end.
typedef struct tr_json {
    json_t *value;
    const char *file;
    char path[160];
    tr_error *error;
    bool *ok;
} tr_json;

tr_json tr_json_root( json_t *value, const char *file, bool *ok, tr_error *error );
tr_json tr_json_member( const tr_json *object, const char *key, bool required ); // .value NULL when absent
tr_json tr_json_item( const tr_json *array, int index );
int tr_json_count( const tr_json *array ); // also checks that it is an array
void tr_json_keys( const tr_json *object,
                   const char *const *keys ); // NULL-terminated; others fail, naming the nearest
void tr_json_fail( const tr_json *at, const char *format, ... ) TR_PRINTF( 2 );

// Leaves *out alone when the member is absent and not required.
void tr_json_int( const tr_json *object, const char *key, bool required, int low, int high, int *out );

// The candidate with the smallest edit distance to `word`, or NULL when none is near.
const char *tr_nearest_word( const char *word, const char *const *candidates );

#endif
