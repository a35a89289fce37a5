// One line of text → the op it names and its parameters.
#ifndef TROUPE_DOCUMENT_OP_LINE_H
#define TROUPE_DOCUMENT_OP_LINE_H

#include "document/fields.h"

#define TR_OP_MAX_PARAMS 24

typedef struct tr_op_argument {
    char *text; // NULL when it is not there
    int column; // of the value
} tr_op_argument;

typedef struct tr_op_call { // a parsed line
    int op;                 // of the table
    const tr_op_info *info;
    tr_op_argument arguments[TR_OP_MAX_PARAMS]; // [info->param_count], in the table's order
    int column;                                 // of the op's name
} tr_op_call;

// Cuts `line` up in place; the call points into it.
bool tr_op_parse( tr_op_call *c, char *line, tr_error *error );
const tr_op_argument *tr_op_find( const tr_op_call *c, const char *key );

// A text that cannot be read as the type stays a text; storing it then says what the field expects.
tr_value tr_op_value( tr_op_type type, const char *text );
bool tr_op_numbers( const char *text, int count, double *numbers );

// One sentence about a column of the line. Always false.
TR_PRINTF( 3 )
bool tr_op_fail( tr_error *error, int column, const char *format, ... );
// Where in the line the trouble of a JSON path comes from: at the value of the field it names, if that was
// set.
int tr_op_column_of( const tr_op_call *c, const char *path );

#endif
