// Private to import: arrays of numpy, one alone (.npy) or several in an archive (.npz).
#ifndef TROUPE_IMPORT_ARRAYS_H
#define TROUPE_IMPORT_ARRAYS_H

#include "import/import.h"

enum { TR_ARRAY_RANK = 8 };

typedef struct tr_array {
    char *name;   // in the archive, without its ending; "" of a lone array
    char kind;    // as numpy names it: f, i, u, b numbers, U and S texts; 0: nothing that can be read
    int item;     // bytes
    bool swapped; // most significant byte first
    int rank, shape[TR_ARRAY_RANK];
    size_t steps[TR_ARRAY_RANK]; // items to the next along each axis
    size_t count;                // number of items
    const char *data;            // [count * item]
} tr_array;

typedef struct tr_arrays {
    tr_array *items;
    int count, capacity;
    char **blocks; // what was unpacked
    int block_count, block_capacity;
} tr_arrays;

// `data` stays as long as the arrays. Archives and arrays are refused that claim to be larger than the
// file can hold.
bool tr_arrays_parse( tr_arrays *out, const char *data, size_t size, tr_error *error );
void tr_arrays_free( tr_arrays *arrays );
// Finds an array by its name, ignoring case; NULL: there is none.
const tr_array *tr_arrays_find( const tr_arrays *arrays, const char *name );

static inline bool tr_array_is_number( const tr_array *a )
{
    return a->kind == 'f' || a->kind == 'i' || a->kind == 'u' || a->kind == 'b';
}
// One number, by its place in memory (sums of steps). Not of texts.
double tr_array_number( const tr_array *a, size_t at );
char *tr_array_text( const tr_array *a, size_t at ); // one text as UTF-8, allocated

#endif
