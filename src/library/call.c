// Version, errors, and the begin and end of every call.
#include "library.h"

#include <assert.h>
#include <stdio.h>

const char *tr_version( void )
{
    return TROUPE_VERSION;
}

void troupe_error_print( const troupe_error *error, char *out, size_t size )
{
    tr_error inner = { .line = error->line, .column = error->column };
    snprintf( inner.file, sizeof inner.file, "%s", error->file );
    snprintf( inner.path, sizeof inner.path, "%s", error->path );
    snprintf( inner.message, sizeof inner.message, "%s", error->message );
    tr_error_print( &inner, out, size );
}

troupe_work troupe_default_work( void )
{
    return ( troupe_work ){ 0 };
}

static bool is_wanted( void *context )
{
    tr_call *c = context;
    if ( !atomic_load_explicit( &c->stopped, memory_order_relaxed ) && c->def.wanted != NULL &&
         !c->def.wanted( c->def.context ) )
        atomic_store( &c->stopped, true );
    return !atomic_load_explicit( &c->stopped, memory_order_relaxed );
}

static bool report( void *context, int done, int total )
{
    tr_call *c = context;
    if ( c->def.progress != NULL && !c->def.progress( c->def.context, done, total ) )
        atomic_store( &c->stopped, true );
    return !atomic_load( &c->stopped );
}

void tr_call_begin( tr_call *c, const troupe_work *work )
{
    *c = ( tr_call ){ .def = work != NULL ? *work : troupe_default_work(), .progress = { report, c } };
    assert( c->def.threads >= 0 );
    c->threads = tr_parallel_set_own_threads( c->def.threads );
    tr_work_begin( &c->work, is_wanted, c );
}

bool tr_call_end( tr_call *c, bool ok, troupe_error *error )
{
    tr_work_end( &c->work );
    tr_parallel_set_own_threads( c->threads );
    if ( ok || error == NULL )
        return ok;
    *error = ( troupe_error ){
        .line = c->error.line, .column = c->error.column, .cancelled = atomic_load( &c->stopped ) };
    snprintf( error->message, sizeof error->message, "%s", c->error.message );
    snprintf( error->file, sizeof error->file, "%s", c->error.file );
    snprintf( error->path, sizeof error->path, "%s", c->error.path );
    return false;
}

tr_stage tr_call_stage( tr_call *c, const troupe_stage *stage )
{
    tr_stage copy = stage->stage;
    copy.progress = c->def.progress != NULL ? &c->progress : NULL;
    return copy;
}
