// Motion files for tests. Those of tests/captures are always there. A folder of further ones may be named by
// TROUPE_DATA_DIR in the environment, which ctest sets where cmake is given it; their names have a folder
// in front ("cmu-single/02_01.bvh").
#ifndef TROUPE_TESTS_CAPTURES_H
#define TROUPE_TESTS_CAPTURES_H

#include "base/base.h"
#include "io/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAPTURES_FOLDER SOURCE_DIR "/tests/captures"
#define CAPTURE_PATH    256 // as long as a path of a scene may be

static inline const char *data_folder( void ) // NULL: there is none
{
    const char *folder = getenv( "TROUPE_DATA_DIR" );
    return folder != NULL && folder[0] != 0 ? folder : NULL;
}

static inline bool have_capture( const char *name )
{
    return strchr( name, '/' ) == NULL || data_folder() != NULL;
}

static inline const char *capture_path( char out[CAPTURE_PATH], const char *name )
{
    snprintf( out, CAPTURE_PATH, "%s/%s", strchr( name, '/' ) == NULL ? CAPTURES_FOLDER : data_folder(),
              name );
    return out;
}

#endif
