// A program that is not ours and uses libtroupe: whatever it has set stays as it was.
#include <jansson.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/troupe.h>

extern int openblas_get_num_threads( void ) __attribute__( ( weak ) );
extern char **environ;

static int blas_threads( void )
{
    return openblas_get_num_threads != NULL ? openblas_get_num_threads() : 0;
}

static size_t environment_size( void )
{
    size_t size = 0;
    for ( char **at = environ; *at != NULL; ++at )
        size += strlen( *at );
    return size;
}

static long allocations;

static void *host_malloc( size_t size )
{
    ++allocations;
    return malloc( size );
}

static void must( bool ok, const char *what )
{
    if ( ok )
        return;
    fprintf( stderr, "library_host: %s\n", what );
    exit( 1 );
}

static void work( void )
{
    troupe_error error = { 0 };
    troupe_scene *scene = troupe_scene_open( "high_five", 0, &error );
    must( scene != NULL && troupe_scene_save( scene, "library_host.json", &error ), error.message );
    troupe_scene_destroy( scene );
    scene = troupe_scene_open( "library_host.json", 0, &error ); // by jansson
    must( scene != NULL, error.message );
    troupe_stage *stage = troupe_stage_create( scene, NULL, &error );
    troupe_result *result = stage != NULL ? troupe_solve( stage, NULL, &error ) : NULL;
    troupe_measures *measures = result != NULL ? troupe_measure( result, NULL, &error ) : NULL;
    must( measures != NULL, error.message );
    troupe_measures_destroy( measures );
    troupe_result_destroy( result );
    troupe_stage_destroy( stage );
    troupe_scene_destroy( scene );
}

int main( void )
{
    json_malloc_t take;
    json_free_t give;
    json_get_alloc_funcs( &take, &give );
    must( take == malloc && give == free, "loading the library replaced jansson's allocator" );
    json_set_alloc_funcs( host_malloc, free );
    int threads = blas_threads();
    must( threads == 0 || threads == 2, "loading the library changed the threads of BLAS" );
    size_t environment = environment_size();
    char *locale = strdup( setlocale( LC_ALL, NULL ) );

    work();

    json_get_alloc_funcs( &take, &give );
    must( take == host_malloc && give == free, "jansson has another allocator" );
    must( allocations > 0, "jansson was not asked, so nothing was tested" );
    must( blas_threads() == threads, "BLAS has another number of threads" );
    must( environment_size() == environment, "the environment changed" );
    must( strcmp( setlocale( LC_ALL, NULL ), locale ) == 0, "the locale changed" );
    free( locale );
    return 0;
}
