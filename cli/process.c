// Settings of the whole process, made before main. Linked into every program of the project: the command line
// with its editor, tests, fuzzers. A library must not make them: there they belong to the host.
#include "io/io.h"
#include "solve/solve.h"

__attribute__( ( constructor ) ) static void own_the_process( void )
{
    tr_json_take_over();
    tr_blas_use_one_thread();
}
