// The work of a thread, and whether it is cancelled.
#include "base/private.h"

static _Thread_local tr_work *current;

tr_work *tr_work_current( void )
{
    return current;
}

void tr_work_adopt( tr_work *work )
{
    current = work;
}

void tr_work_begin( tr_work *work, bool ( *wanted )( void *context ), void *context )
{
    *work = ( tr_work ){ wanted, context, current };
    current = work;
}

void tr_work_end( tr_work *work )
{
    current = work->outer;
}

bool tr_work_wanted( void )
{
    for ( const tr_work *work = current; work != NULL; work = work->outer )
        if ( !work->wanted( work->context ) )
            return false;
    return true;
}

bool tr_work_go_on( tr_error *error )
{
    return tr_work_wanted() || tr_error_set( error, "cancelled" );
}
