// Parses a line of text into an op and its parameters.
#ifndef TROUPE_DOCUMENT_OP_LINE_H
#define TROUPE_DOCUMENT_OP_LINE_H

#include "document/fields.h"

enum { TR_OP_MAX_PARAMS = 24 }; // no op has more: op_line.c asserts it

typedef struct tr_op_argument {
    char *text; // NULL when absent
    int column; // column of the value
} tr_op_argument;

typedef struct tr_op_call { // a parsed line
    int op;                 // row of the table
    const tr_op_info *info;
    tr_op_argument arguments[TR_OP_MAX_PARAMS]; // [info->param_count], in the table's order
    int column;                                 // column of the op's name
} tr_op_call;

// Splits `line` in place; the call points into it.
bool tr_op_parse( tr_op_call *c, char *line, tr_error *error );
const tr_op_argument *tr_op_find( const tr_op_call *c, const char *key );

// A text that does not parse as the type stays a text; storing it then fails with what the field expects.
tr_value tr_op_value( tr_op_type type, const char *text );
bool tr_op_numbers( const char *text, int count, double *numbers );

// One sentence about a column of the line. Always false.
TR_PRINTF( 3 )
bool tr_op_fail( tr_error *error, int column, const char *format, ... );
// Column of the value that set the field of a JSON path, else of the op.
int tr_op_column_of( const tr_op_call *c, const char *path );

#endif
