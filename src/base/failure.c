#include "base/base.h"

void tr_first_failure_note( tr_first_failure *first, int job, const tr_error *error )
{
    while ( atomic_flag_test_and_set( &first->busy ) ) { // for as long as a copy takes
    }
    if ( first->job < 0 || job < first->job ) {
        first->job = job;
        first->error = *error;
    }
    atomic_flag_clear( &first->busy );
}
