#include "base/base.h"

// Bytes of the character at `s`, 0 when it is none: 0xxxxxxx, 110xxxxx, 1110xxxx or 11110xxx and as many
// 10xxxxxx as the first byte says.
static size_t character_size( const unsigned char *s, size_t left )
{
    size_t size = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf8 ? 4 : 0;
    if ( size < 2 || size > left )
        return size > left ? 0 : size;
    unsigned code = s[0] & ( 0x7fu >> size );
    for ( size_t i = 1; i < size; ++i ) {
        if ( ( s[i] & 0xc0 ) != 0x80 )
            return 0;
        code = code << 6 | ( s[i] & 0x3fu );
    }
    size_t shortest = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    bool surrogate = code >= 0xd800 && code < 0xe000;
    return shortest == size && !surrogate && code <= 0x10ffff ? size : 0;
}

bool tr_utf8_valid( const char *text, size_t size )
{
    const unsigned char *s = (const unsigned char *)text, *end = s + size;
    while ( s < end ) {
        size_t step = character_size( s, (size_t)( end - s ) );
        if ( step == 0 )
            return false;
        s += step;
    }
    return true;
}
