// The bounds that results of the solvers are held to, all in one table: bounds.inl. Tests name them, so that
// a bound is changed in one place, beside what is measured and the reason it has.
#ifndef TROUPE_TESTS_BOUNDS_H
#define TROUPE_TESTS_BOUNDS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum bound_name {
    BOUND_NONE, // zero: nothing is asked
#define AT_MOST( name, limit, measured, reason )  BOUND_##name,
#define AT_LEAST( name, limit, measured, reason ) BOUND_##name,
#include "bounds.inl"
#undef AT_MOST
#undef AT_LEAST
    BOUND_COUNT
} bound_name;

typedef struct bound_row {
    const char *name;
    double limit;
    double measured; // what the present solvers come to, the worst of all tests that ask; its distance from
                     // the limit is the margin
    const char *reason;
    bool least; // the limit is the least that will do
} bound_row;

static inline const bound_row *bound_row_of( bound_name name )
{
    static const bound_row rows[BOUND_COUNT] = {
#define AT_MOST( name, limit, measured, reason )  [BOUND_##name] = { #name, limit, measured, reason, false },
#define AT_LEAST( name, limit, measured, reason ) [BOUND_##name] = { #name, limit, measured, reason, true },
#include "bounds.inl"
#undef AT_MOST
#undef AT_LEAST
    };
    return &rows[name];
}

// For what is compared with another figure.
#define bound( name )                ( bound_row_of( BOUND_##name )->limit )
#define check_bound( value, name )   check_bound_at( ( value ), BOUND_##name, #value, __FILE__, __LINE__ )
#define check_bound_of( value, row ) check_bound_at( ( value ), ( row ), #value, __FILE__, __LINE__ )

// With TROUPE_SHOW_BOUNDS in the environment every value is printed, for the column `measured`.
static inline void check_bound_at( double value, bound_name name, const char *what, const char *file,
                                   int line )
{
    const bound_row *row = bound_row_of( name );
    if ( getenv( "TROUPE_SHOW_BOUNDS" ) != NULL )
        print_message( "bound %s %.6g of %g\n", row->name, value, row->limit );
    if ( row->least ? value >= row->limit : value <= row->limit )
        return;
    print_error( "%s is %.9g; %s is %s %g (%g was measured): %s\n", what, value, row->name,
                 row->least ? "at least" : "at most", row->limit, row->measured, row->reason );
    _fail( file, line );
}

#endif
