// Pictures as files and as something to compare.
#include "ui/render/png.h"
#include "ui/render/private.h"

#include <limits.h>
#include <string.h>

#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#include <stb/stb_image.h>

bool tr_picture_save( const char *path, int width, int height, const unsigned char *rgb, tr_error *error )
{
    if ( width < 1 || height < 1 || width > ( INT_MAX / height - 1 ) / 3 ) // a byte more for each row
        return tr_error_at( error, path, 0, 0, "a picture of %d x %d pixels cannot be written", width,
                            height );
    if ( !tr_path_ends( path, ".png" ) )
        return tr_error_at( error, path, 0, 0, "pictures are written as PNG: the name must end in .png" );
    tr_text file = { 0 };
    bool ok = tr_png_write( &file, width, height, rgb );
    ok = ok ? tr_file_write( path, file.data, file.size, error ) : tr_error_memory( error );
    tr_text_free( &file );
    return ok;
}

bool tr_picture_load( const char *path, int *width, int *height, unsigned char **rgb, tr_error *error )
{
    char *data;
    size_t size;
    *rgb = NULL;
    if ( !tr_file_read( path, &data, &size, error ) )
        return false;
    int channels;
    if ( size <= INT_MAX )
        *rgb = stbi_load_from_memory( (const unsigned char *)data, (int)size, width, height, &channels, 3 );
    tr_free( data );
    if ( *rgb )
        return true;
    return tr_error_at( error, path, 0, 0, "this is not a PNG picture that can be read" );
}

// ------------------------------------------------------------------------------------------- difference
// Both pictures are brought into Oklab (L lightness, a green–red, b blue–yellow: equal distances look equally
// different), blurred by a binomial kernel of five pixels in each direction (an edge moved by one pixel then
// changes little), and compared pixel by pixel:
//   d = √( ΔL² + Δa² + Δb² ), clipped to 1; the result is the mean of d over the picture.
// 0 = the same, 1 = black against white everywhere. Below 0.01 people see the same picture.

static double linear_of( unsigned char value )
{
    double c = value / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow( ( c + 0.055 ) / 1.055, 2.4 );
}

static vec3 oklab( const double table[256], const unsigned char *rgb )
{
    double r = table[rgb[0]], g = table[rgb[1]], b = table[rgb[2]];
    double l = cbrt( 0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b );
    double m = cbrt( 0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b );
    double s = cbrt( 0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b );
    return v3( 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
               1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
               0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s );
}

// 1 4 6 4 1 along one direction; pixels beyond the edge repeat the edge.
static void blur( const vec3 *in, vec3 *out, int count, int stride )
{
    const double weights[5] = { 1.0 / 16, 4.0 / 16, 6.0 / 16, 4.0 / 16, 1.0 / 16 };
    for ( int i = 0; i < count; ++i ) {
        vec3 sum = v3_zero;
        for ( int k = -2; k <= 2; ++k ) {
            int j = i + k < 0 ? 0 : i + k >= count ? count - 1 : i + k;
            sum = v3_mad( sum, weights[k + 2], in[(size_t)j * (size_t)stride] );
        }
        out[(size_t)i * (size_t)stride] = sum;
    }
}

double tr_picture_difference( const unsigned char *a, const unsigned char *b, int width, int height )
{
    size_t count = (size_t)width * (size_t)height;
    vec3 *change = tr_alloc( count, sizeof *change ), *once = tr_alloc( count, sizeof *once );
    double sum = 1.0;
    if ( change && once && count > 0 ) {
        double table[256];
        for ( int i = 0; i < 256; ++i )
            table[i] = linear_of( (unsigned char)i );
        // Blurring is linear: the blurred difference is the difference of the blurred pictures.
        for ( size_t i = 0; i < count; ++i )
            change[i] = v3_sub( oklab( table, a + 3 * i ), oklab( table, b + 3 * i ) );
        for ( int y = 0; y < height; ++y )
            blur( change + (size_t)y * (size_t)width, once + (size_t)y * (size_t)width, width, 1 );
        for ( int x = 0; x < width; ++x )
            blur( once + x, change + x, height, width );
        sum = 0.0;
        for ( size_t i = 0; i < count; ++i )
            sum += fmin( v3_length( change[i] ), 1.0 ) / (double)count;
    }
    tr_free( change );
    tr_free( once );
    return sum;
}
