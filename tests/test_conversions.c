// Floating point becomes int by tr_int_clamped alone: no cast in the sources does it, as far as their text
// tells. A conversion of what does not fit is undefined, and one of NaN once became an index. UBSan
// (float-cast-overflow) sees what a text does not tell.
#include "source_tree.h"

#include <ctype.h>

// Types of whole numbers a cast may name. 64 bits are left out: number.c and delaunay_predicates.h compute
// exactly with doubles that are whole and bounded by construction.
static const char *const whole[] = { "int",     "long",    "size_t",   "unsigned", "unsigned char", "short",
                                     "uint8_t", "int32_t", "uint32_t", "uint16_t", "time_t",        "GLint",
                                     "GLuint",  "GLsizei", "nk_uint",  "nk_size",  "nk_byte",       NULL };
// Calls that give floating point, or a long made of it.
static const char *const floating[] = {
    "ceil",    "floor",  "round",     "trunc",   "rint",         "nearbyint",   "lround",  "lrint",
    "llround", "sqrt",   "cbrt",      "pow",     "exp",          "log",         "fmin",    "fmax",
    "fabs",    "fmod",   "remainder", "hypot",   "sin",          "cos",         "tan",     "atan2",
    "acos",    "asin",   "clampd",    "lerpd",   "smooth_step5", "v3_dot",      "q_angle", "q_dot",
    "ceilf",   "floorf", "roundf",    "lroundf", "v3_length",    "v3_distance", NULL };
// Members that are floating point wherever they stand.
static const char *const members[] = { "x", "y", "z", "w", "fps", NULL };

static bool is_in( const char *const *words, const char *word, size_t length )
{
    for ( ; *words != NULL; ++words )
        if ( strlen( *words ) == length && memcmp( *words, word, length ) == 0 )
            return true;
    return false;
}

static bool is_word( char c )
{
    return isalnum( (unsigned char)c ) || c == '_';
}

static size_t word_length( const char *at )
{
    size_t length = 0;
    while ( is_word( at[length] ) )
        ++length;
    return length;
}

static const char *skip_space( const char *at )
{
    return at + strspn( at, " \t\n" );
}

// Behind the parenthesis or bracket that closes the one at `at`.
static const char *closed( const char *at )
{
    int depth = 0;
    do {
        depth += ( *at == '(' || *at == '[' ) - ( *at == ')' || *at == ']' );
        ++at;
    } while ( depth > 0 && *at != 0 );
    return at;
}

// Behind what a cast at `at` converts: a parenthesis, or a name with its members, calls and indices.
static const char *operand_end( const char *at )
{
    if ( *at == '(' )
        return closed( at );
    while ( is_word( *at ) || *at == '.' || ( at[0] == '-' && at[1] == '>' ) || *at == '[' || *at == '(' )
        at = *at == '[' || *at == '(' ? closed( at ) : *at == '-' ? at + 2 : at + 1;
    return at;
}

// Whether a declaration with double or float between `from` and `to` has this name.
static bool is_declared( const char *from, const char *to, const char *name, size_t length )
{
    for ( const char *at = from; at < to; at += is_word( *at ) ? word_length( at ) : 1 ) {
        size_t word = is_word( *at ) ? word_length( at ) : 0;
        if ( !( word == 6 && memcmp( at, "double", 6 ) == 0 ) &&
             !( word == 5 && memcmp( at, "float", 5 ) == 0 ) )
            continue;
        const char *next = skip_space( at + word );
        while ( is_word( *next ) ) { // a declarator, and those behind commas
            size_t own = word_length( next );
            const char *behind = skip_space( next + own );
            if ( strchr( "=,;)[", *behind ) == NULL || *behind == 0 )
                break; // the type of the next parameter
            if ( own == length && memcmp( next, name, length ) == 0 )
                return true;
            while ( *behind != 0 && strchr( ",;)", *behind ) == NULL )
                behind = *behind == '(' || *behind == '[' ? closed( behind ) : behind + 1;
            next = *behind == ',' ? skip_space( behind + 1 ) : behind;
        }
    }
    return false;
}

// Whether what a cast converts is floating point. `function`: where the one around it begins.
static bool is_floating( const char *function, const char *at )
{
    const char *end = operand_end( at );
    bool inner = *at == '(';
    for ( const char *c = at + inner; c < end; ) {
        if ( isdigit( (unsigned char)*c ) ) { // 1.5, 2e3
            size_t length = strspn( c, "0123456789" );
            bool hexadecimal = c[0] == '0' && ( c[1] == 'x' || c[1] == 'X' );
            if ( !hexadecimal && ( c[length] == '.' || c[length] == 'e' ) )
                return true;
            c += word_length( c );
        } else if ( is_word( *c ) ) {
            size_t length = word_length( c );
            bool calls = *skip_space( c + length ) == '(', member = c[-1] == '.' || c[-1] == '>';
            if ( calls    ? is_in( floating, c, length )
                 : member ? is_in( members, c, length )
                          : is_declared( function, at, c, length ) )
                return strchr( member ? "-.[" : "-.", c[length] ) == NULL; // else a part of it is asked for
            c += length;
            if ( calls )
                c = closed( skip_space( c ) ); // its arguments are its own
        } else
            c = *c == '[' ? closed( c ) : c + 1;
    }
    return false;
}

// How many casts of a source text turn floating point into whole numbers; says which if asked to.
static int text_check( const char *file, const char *text, bool print )
{
    int bad = 0, line = 1;
    const char *function = text;
    for ( const char *at = text; *at != 0; ++at ) {
        line += *at == '\n';
        if ( at[0] == '\n' && at[1] == '}' )
            function = at + 2;
        if ( at[0] == '/' && at[1] == '/' ) { // up to the line's end
            at += strcspn( at, "\n" ) - 1;
            continue;
        }
        const char *close = *at == '(' ? strchr( at, ')' ) : NULL;
        if ( close == NULL || !is_in( whole, at + 1, (size_t)( close - at - 1 ) ) )
            continue;
        const char *operand = close + 1 + strspn( close + 1, " -" );
        bool own = strcmp( file, "src/base/base.h" ) == 0 && strncmp( operand, "x;", 2 ) == 0;
        if ( own || !is_floating( function, operand ) )
            continue;
        ++bad;
        if ( print )
            print_error( "%s:%d: floating point is cast to (%.*s); tr_int_clamped does it\n", file, line,
                         (int)( close - at - 1 ), at + 1 );
    }
    return bad;
}

// Kernels convert lanes: what they convert is bounded there, and said so.
static int conversions_check( const char *file, const char *text, bool report )
{
    const char *name = strrchr( file, '/' ) + 1;
    return strncmp( name, "kernel", 6 ) == 0 ? 0 : text_check( file, text, report );
}

static void no_source_casts_floating_point_to_int( void **state )
{
    (void)state;
    int files = 0, bad = 0;
    static const char *const folders[] = { "src", "scenes", "ui", "bench", "cli" };
    for ( size_t i = 0; i < sizeof folders / sizeof folders[0]; ++i )
        folder_check( folders[i], conversions_check, &files, &bad );
    assert_true( files > 200 );
    assert_int_equal( bad, 0 );
}

static int count( const char *text )
{
    return text_check( "src/a.c", text, false );
}

static void casts_are_found( void **state )
{
    (void)state;
    assert_int_equal( count( "int n = (int)ceil( seconds * fps );" ), 1 );
    assert_int_equal( count( "int n = -(int)lround( x ), m = (int)fmax( 1, y );" ), 2 );
    assert_int_equal( count( "void f( int a, double time )\n{\n    g( (int)time );\n}" ), 1 );
    assert_int_equal( count( "double a = g( c, d ), b;\nint n = (int)b;" ), 1 );
    assert_int_equal( count( "float at[3];\nint n = (int)at[i];" ), 1 );
    assert_int_equal( count( "int n = (int)( 1.5f * all / width );" ), 1 );
    assert_int_equal( count( "int n = (int)( k / 1e3 ), x = (int)event->x;" ), 2 );
    assert_int_equal(
        count( "size_t n = (size_t)fmax( (double)most, count ); GLint m = (GLint)( clip.x * s );" ), 2 );
}

static void other_casts_are_left_alone( void **state )
{
    (void)state;
    assert_int_equal(
        count( "int n = (int)strlen( text ), m = (int)( end - begin ), k = (int)sizeof x - 1;" ), 0 );
    assert_int_equal( count( "// (int)ceil( x )\nint n = tr_int_clamped( ceil( x ), 0, 9 );" ), 0 );
    assert_int_equal( count( "void f( double at )\n{\n}\nvoid g( size_t at )\n{\n    h( (int)at );\n}" ), 0 );
    assert_int_equal( count( "double d = g( at, n );\nint n = (int)( at / joints );" ), 0 );
    assert_int_equal( count( "int n = (int)index_of( floor( x ) ), m = (int)rows[row_of( 0.5 )];" ), 0 );
    assert_int_equal( count( "uint32_t at = (uint32_t)( place->x[axis] + 1 );" ), 0 );
    assert_int_equal( count( "double d = (double)n; unsigned u = (unsigned)n * 0x9e3779b1u;" ), 0 );
}

static void numbers_become_ints_within_bounds( void **state )
{
    (void)state;
    assert_int_equal( tr_int_clamped( 2.9, 0, 9 ), 2 );
    assert_int_equal( tr_int_clamped( -2.9, -9, 9 ), -2 );
    assert_int_equal( tr_int_clamped( 9, 0, 9 ), 9 );
    assert_int_equal( tr_int_clamped( 1e300, -9, 9 ), 9 );
    assert_int_equal( tr_int_clamped( -HUGE_VAL, -9, 9 ), -9 );
    assert_int_equal( tr_int_clamped( HUGE_VAL, INT32_MIN, INT32_MAX ), INT32_MAX );
    assert_int_equal( tr_int_clamped( -2147483648.5, INT32_MIN, INT32_MAX ), INT32_MIN );
    assert_int_equal( tr_int_clamped( NAN, 3, 9 ), 3 );
}

static void a_clamped_number_is_a_number( void **state )
{
    (void)state;
    assert_true( clampd( NAN, 2, 5 ) == 2 );
    assert_true( clampd( -HUGE_VAL, 2, 5 ) == 2 && clampd( HUGE_VAL, 2, 5 ) == 5 );
    assert_true( clampd( 3.5, 2, 5 ) == 3.5 && clampd( 2, 2, 5 ) == 2 && clampd( 5, 2, 5 ) == 5 );
    assert_true( signbit( clampd( -0.0, 0, 1 ) ) ); // what is within keeps its bits
    assert_true( smooth_step5( NAN ) == 0 );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( no_source_casts_floating_point_to_int ),
        TEST( casts_are_found ),
        TEST( other_casts_are_left_alone ),
        TEST( numbers_become_ints_within_bounds ),
        TEST( a_clamped_number_is_a_number ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
