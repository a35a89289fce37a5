// A folder of a test's own, or of all tests of a program, and its removal with all that is in it.
#ifndef TROUPE_TESTS_FOLDER_H
#define TROUPE_TESTS_FOLDER_H

#include "check.h"

#include <ftw.h>
#include <string.h>

#define FOLDER_PATTERN "/tmp/troupe_test_XXXXXX"
#define FOLDER_SIZE    sizeof( FOLDER_PATTERN )

static inline void new_folder( char *folder ) // [FOLDER_SIZE] becomes its path
{
    memcpy( folder, FOLDER_PATTERN, FOLDER_SIZE );
    assert_non_null( mkdtemp( folder ) );
}

static inline int remove_entry( const char *path, const struct stat *status, int kind, struct FTW *where )
{
    (void)status, (void)kind, (void)where;
    return remove( path );
}

static inline void remove_folder( const char *folder )
{
    assert_int_equal( nftw( folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS ), 0 );
}

// One folder for all tests of a program: cmocka_run_group_tests( tests, set_up_folder, remove_group_folder ).
static char group_folder[FOLDER_SIZE];

static inline int set_up_folder( void **state )
{
    (void)state;
    new_folder( group_folder );
    return 0;
}

static inline int remove_group_folder( void **state )
{
    (void)state;
    remove_folder( group_folder );
    return 0;
}

static inline const char *in_folder( char out[128], const char *name ) // the path of a file in it
{
    snprintf( out, 128, "%s/%s", group_folder, name );
    return out;
}

#endif
