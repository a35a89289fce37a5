// Private to render: PNG files in memory. stb's writer ends the program when memory runs out.
#ifndef TROUPE_RENDER_PNG_H
#define TROUPE_RENDER_PNG_H

#include "io/io.h"

// data [size] as a zlib stream [*packed_size], to be freed; NULL when memory runs out or the work is not
// wanted any more. size ≤ INT_MAX.
unsigned char *tr_zlib_pack( const unsigned char *data, size_t size, size_t *packed_size );

// Appends a picture rgb [height * width * 3] as a PNG file; false as above. ( 3 width + 1 ) height ≤ INT_MAX.
bool tr_png_write( tr_text *out, int width, int height, const unsigned char *rgb );

#endif
