#include "base/base.h"

// 0xxxxxxx, 110xxxxx, 1110xxxx or 11110xxx followed by as many 10xxxxxx as the first byte needs.
size_t tr_utf8_length( const char *text, size_t left )
{
    const unsigned char *s = (const unsigned char *)text;
    if ( left == 0 )
        return 0;
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
    for ( size_t at = 0, step; at < size; at += step ) {
        step = tr_utf8_length( text + at, size - at );
        if ( step == 0 )
            return false;
    }
    return true;
}
