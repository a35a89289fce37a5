// The table of methods: a new one is a function and a row.
#include "method/private.h"

#include <assert.h>
#include <string.h>

static const tr_method methods[] = {
    // the first is the default
    { "posegraph", "linked pose graphs deformed together, then skeletons fitted exactly", tr_solve_posegraph,
      true },
    { "imesh", "pose graphs, then interaction meshes wherever bodies come close to each other",
      tr_solve_imesh, true, TR_MEMORY_MESHES },
    { "window", "on trial: as posegraph, with skeletons fitted in all frames at once", tr_solve_in_time, true,
      TR_MEMORY_WINDOW },
    { "copy-ik", "baseline: rotations copied, then feet and hands put in place frame by frame",
      tr_solve_copy_ik, false },
    { "copy", "baseline: rotations copied, root path scaled", tr_result_copy_source, false },
};

const tr_method *tr_method_table( int *count )
{
    *count = (int)( sizeof methods / sizeof *methods );
    return methods;
}

void tr_method_names( const char *names[TR_METHOD_MAX] )
{
    static_assert( sizeof methods / sizeof *methods < TR_METHOD_MAX, "NULL ends the list" );
    size_t count = 0;
    for ( ; count < sizeof methods / sizeof *methods; ++count )
        names[count] = methods[count].name;
    names[count] = NULL;
}

const tr_method *tr_method_find( const char *name )
{
    if ( name == NULL )
        return &methods[0];
    for ( size_t i = 0; i < sizeof methods / sizeof *methods; ++i )
        if ( strcmp( methods[i].name, name ) == 0 )
            return &methods[i];
    return NULL;
}

const tr_method *tr_method_default( const tr_scene *scene )
{
    return tr_method_find( scene->imesh ? "imesh" : NULL );
}

bool tr_method_solve( const tr_stage *stage, const tr_method *method, tr_result *out, tr_error *error )
{
    return method->exact ? tr_solve_held( stage, out, method->solve, error )
                         : method->solve( stage, out, error );
}
