// Numbers to and from text without the C library's locale.
//
// Reading: the digits form an integer m, so that the value is m · 10^e. With m < 2^64 and |e| ≤ 19 that is an
// exact 128-bit integer (e ≥ 0) or a quotient of two whose remainder is known (e < 0): one conversion
// to double rounds it correctly. When m ≤ 2^53 and |e| ≤ 22 both m and 10^|e| are doubles and one operation
// does (Clinger 1990). What is left (more than 19 digits, large exponents) goes to strtod, rewritten as
// digits and exponent without a decimal point, which every locale reads alike.
#include "base/base.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

// Midpoints between doubles have at most 767 significant digits. Further digits only break a tie: one
// non-zero digit can replace them all.
enum { ENOUGH_DIGITS = 770 };

static const double powers_of_ten[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

typedef struct decimal { // a number as text
    const char *first;   // first significant digit; digits up to `last`, a point may stand among them
    const char *last;
    uint64_t mantissa;     // the first 19 significant digits
    long digits;           // how many there are in all
    long long point_shift; // value = (all digits as an integer) · 10^point_shift
    bool negative;
} decimal;

static bool is_digit( char c )
{
    return (unsigned char)( c - '0' ) < 10;
}

// Digits with at most one point among them; NULL when there is no digit at all.
static const char *scan_digits( const char *at, const char *end, decimal *d )
{
    const char *begin = at, *point = NULL;
    uint64_t mantissa = 0;
    long digits = 0;
    for ( ; at < end; ++at ) {
        unsigned digit = (unsigned char)( *at - '0' );
        if ( digit < 10 ) {
            if ( digits == 0 && digit == 0 )
                continue; // a leading zero is not significant
            if ( digits == 0 )
                d->first = at;
            if ( digits++ < 19 )
                mantissa = 10 * mantissa + digit;
        } else if ( *at == '.' && point == NULL )
            point = at;
        else
            break;
    }
    if ( at - begin == ( point != NULL ? 1 : 0 ) )
        return NULL;
    d->last = at;
    d->mantissa = mantissa;
    d->digits = digits;
    d->point_shift = point != NULL ? -( at - point - 1 ) : 0;
    return at;
}

// "e-12"; reads nothing when no digit follows the letter.
static const char *scan_exponent( const char *at, const char *end, long long *exponent )
{
    const char *c = at + 1;
    bool negative = c < end && *c == '-';
    if ( c < end && ( *c == '-' || *c == '+' ) )
        ++c;
    if ( c == end || !is_digit( *c ) )
        return at;
    long long value = 0;
    for ( ; c < end && is_digit( *c ); ++c )
        if ( value < 1000000000000 ) // further than any text is long
            value = 10 * value + ( *c - '0' );
    *exponent = negative ? -value : value;
    return c;
}

static double divide( uint64_t mantissa, int power )
{
    int shift = __builtin_clzll( mantissa );
    wide numerator = (wide)( mantissa << shift ) << 64, divisor = (uint64_t)powers_of_ten[power];
    wide quotient = numerator / divisor; // at least 2^127 / 10^19 > 2^63: ten bits more than a double holds
    bool exact = quotient * divisor == numerator;
    return ldexp( (double)( quotient | ( exact ? 0 : 1 ) ), -64 - shift );
}

static double read_slowly( const decimal *d, long long exponent )
{
    char text[ENOUGH_DIGITS + 32];
    int kept = 0;
    bool more = false; // a digit other than zero stands behind the kept ones
    for ( const char *c = d->first; c < d->last; ++c )
        if ( *c != '.' && kept < ENOUGH_DIGITS )
            text[kept++] = *c;
        else if ( *c != '.' && *c != '0' )
            more = true;
    exponent += d->digits - kept;
    if ( more ) {
        text[kept++] = '1';
        exponent--;
    }
    exponent = exponent < -9999 ? -9999 : exponent > 9999 ? 9999 : exponent;
    snprintf( text + kept, sizeof text - (size_t)kept, "e%d", (int)exponent );
    return strtod( text, NULL );
}

static double decimal_value( const decimal *d, long long exponent )
{
    if ( d->digits == 0 )
        return 0;
    if ( d->digits <= 19 && d->mantissa <= (uint64_t)1 << 53 && exponent >= -22 && exponent <= 22 ) {
        double m = (double)d->mantissa;
        return exponent < 0 ? m / powers_of_ten[-exponent] : m * powers_of_ten[exponent];
    }
    if ( d->digits <= 19 && exponent >= -19 && exponent <= 19 )
        return exponent < 0 ? divide( d->mantissa, (int)-exponent )
                            : (double)( (wide)d->mantissa * (uint64_t)powers_of_ten[exponent] );
    return read_slowly( d, exponent );
}

const char *tr_number_parse( const char *text, const char *end, double *value )
{
    decimal d;
    const char *at = text;
    d.negative = at < end && *at == '-';
    if ( at < end && ( *at == '-' || *at == '+' ) )
        ++at;
    at = scan_digits( at, end, &d );
    if ( at == NULL )
        return NULL;
    long long exponent = 0;
    if ( at < end && ( *at == 'e' || *at == 'E' ) )
        at = scan_exponent( at, end, &exponent );
    else if ( at < end && ( *at == 'x' || *at == 'X' ) )
        return NULL;
    double magnitude = decimal_value( &d, exponent + d.point_shift );
    *value = d.negative ? -magnitude : magnitude;
    return at;
}

// ------------------------------------------------------------------------------------------------ printing

static int put( char *out, size_t size, const char *text )
{
    size_t length = strlen( text );
    if ( length >= size )
        return 0;
    memcpy( out, text, length + 1 );
    return (int)length;
}

// Removes trailing zeros of the fraction and replaces the locale's decimal separator by a point.
static void tidy_fixed( char *text )
{
    char *whole_end = text + ( *text == '-' );
    while ( is_digit( *whole_end ) )
        ++whole_end;
    char *fraction = whole_end;
    while ( *fraction != 0 && !is_digit( *fraction ) )
        ++fraction;
    size_t digits = strlen( fraction );
    while ( digits > 0 && fraction[digits - 1] == '0' )
        --digits;
    if ( digits > 0 ) {
        memmove( whole_end + 1, fraction, digits );
        *whole_end++ = '.';
    }
    whole_end[digits] = 0;
}

int tr_number_print( char *out, size_t size, double value, int decimals )
{
    assert( isfinite( value ) && decimals >= 0 && decimals <= 17 );
    if ( fabs( value ) >= 1e15 )
        return tr_number_print_exact( out, size, value );
    char text[64];
    snprintf( text, sizeof text, "%.*f", decimals, value );
    tidy_fixed( text );
    return put( out, size, strcmp( text, "-0" ) == 0 ? "0" : text );
}

// m · 10^-k with the smallest k for which that is `value`; exact because both factors are doubles and the
// quotient is rounded once, as in reading. False when it takes more than 15 digits or is better written with
// an exponent.
static bool find_few_decimals( double value, uint64_t *mantissa, int *decimals )
{
    if ( value != 0 && value < 1e-5 )
        return false;
    for ( int k = 0; k <= 20; ++k ) {
        double scaled = value * powers_of_ten[k];
        if ( scaled > 999999999999999.0 )
            return false;
        double whole = nearbyint( scaled );
        if ( whole / powers_of_ten[k] == value ) {
            *mantissa = (uint64_t)whole;
            *decimals = k;
            return true;
        }
    }
    return false;
}

static void print_fixed( char *text, bool negative, uint64_t mantissa, int decimals )
{
    char digits[32];
    int count = snprintf( digits, sizeof digits, "%0*llu", decimals + 1, (unsigned long long)mantissa );
    int whole = count - decimals;
    if ( negative )
        *text++ = '-';
    memcpy( text, digits, (size_t)whole );
    text += whole;
    if ( decimals > 0 )
        *text++ = '.';
    memcpy( text, digits + whole, (size_t)decimals );
    text[decimals] = 0;
}

// The `count` digits nearest to value > 0 and the power of ten of the first one.
static int round_to_digits( double value, int count, char *digits )
{
    char text[64];
    snprintf( text, sizeof text, "%.*e", count - 1, value );
    int kept = 0;
    char *c = text;
    for ( ; *c != 'e'; ++c )
        if ( is_digit( *c ) )
            digits[kept++] = *c;
    digits[kept] = 0;
    return atoi( c + 1 );
}

static bool reads_back( const char *digits, int exponent, double value )
{
    char text[48];
    int length = snprintf( text, sizeof text, "%se%d", digits, exponent - (int)strlen( digits ) + 1 );
    double back;
    return tr_number_parse( text, text + length, &back ) != NULL && back == value;
}

// Fewest digits that read back, by bisection: once enough, more digits stay enough.
static int find_digits( double value, char *digits )
{
    int low = 1, high = 17;
    while ( low < high ) {
        int middle = ( low + high ) / 2;
        int exponent = round_to_digits( value, middle, digits );
        if ( reads_back( digits, exponent, value ) )
            high = middle;
        else
            low = middle + 1;
    }
    return round_to_digits( value, high, digits );
}

int tr_number_print_exact( char *out, size_t size, double value )
{
    assert( isfinite( value ) );
    char text[64], digits[32];
    uint64_t mantissa;
    int decimals;
    bool negative = signbit( value );
    if ( find_few_decimals( fabs( value ), &mantissa, &decimals ) ) {
        print_fixed( text, negative, mantissa, decimals );
        return put( out, size, text );
    }
    int exponent = find_digits( fabs( value ), digits );
    const char *sign = negative ? "-" : "";
    int count = (int)strlen( digits );
    if ( exponent >= 15 || exponent < -5 )
        snprintf( text, sizeof text, "%s%c%s%se%d", sign, digits[0], count > 1 ? "." : "", digits + 1,
                  exponent );
    else if ( exponent < 0 )
        snprintf( text, sizeof text, "%s0.%.*s%s", sign, -exponent - 1, "00000", digits );
    else
        snprintf( text, sizeof text, "%s%.*s.%s", sign, exponent + 1, digits, digits + exponent + 1 );
    return put( out, size, text );
}
