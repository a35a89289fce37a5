// The one place where stb's reader of pictures is compiled, with our memory and without file access.
#include "base/base.h"

#include <string.h>

static void *grow( void *pointer, size_t old_size, size_t new_size )
{
    (void)old_size;
    return tr_realloc( pointer, new_size, 1 );
}

#define STBI_MALLOC( size )                               tr_alloc( ( size ), 1 )
#define STBI_REALLOC_SIZED( pointer, old_size, new_size ) grow( ( pointer ), ( old_size ), ( new_size ) )
#define STBI_REALLOC( pointer, size )                     tr_realloc( ( pointer ), ( size ), 1 )
#define STBI_FREE( pointer )                              tr_free( pointer )
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STB_IMAGE_IMPLEMENTATION

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wshadow"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop
