// Goes through the project's own sources, for tests that read them.
#ifndef TROUPE_TESTS_SOURCE_TREE_H
#define TROUPE_TESTS_SOURCE_TREE_H

#include "check.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_SIZE 1024

static inline bool is_source( const char *name )
{
    const char *end = strrchr( name, '.' );
    return end != NULL && ( !strcmp( end, ".c" ) || !strcmp( end, ".h" ) || !strcmp( end, ".inl" ) );
}

static inline char *file_text( const char *path )
{
    FILE *file = fopen( path, "rb" );
    assert_non_null( file );
    size_t capacity = 1 << 20;
    char *text = tr_alloc( capacity + 1, 1 );
    assert_non_null( text );
    text[fread( text, 1, capacity, file )] = 0;
    fclose( file );
    return text;
}

// Returns how many mistakes a file has; `report`: prints them.
typedef int source_check( const char *file, const char *text, bool report );

// All sources below a folder of the project. Adds to *files and *bad.
static inline void folder_check( const char *folder, source_check *check, int *files, int *bad )
{
    char path[2 * PATH_SIZE];
    snprintf( path, sizeof path, "%s/%s", SOURCE_DIR, folder );
    DIR *dir = opendir( path );
    assert_non_null( dir );
    for ( struct dirent *entry; ( entry = readdir( dir ) ) != NULL; ) {
        char inner[PATH_SIZE];
        snprintf( inner, sizeof inner, "%s/%s", folder, entry->d_name );
        snprintf( path, sizeof path, "%s/%s", SOURCE_DIR, inner );
        struct stat status;
        if ( entry->d_name[0] == '.' || stat( path, &status ) != 0 )
            continue;
        if ( S_ISDIR( status.st_mode ) )
            folder_check( inner, check, files, bad );
        else if ( is_source( entry->d_name ) ) {
            char *text = file_text( path );
            *bad += check( inner, text, true );
            *files += 1;
            tr_free( text );
        }
    }
    closedir( dir );
}

#endif
