// Values of fields: stored, checked, compared, copied and printed by their descriptions (field_table.c).
#include "document/fields.h"

#include <stdio.h>
#include <string.h>

typedef struct limb_list {
    tr_limb_value values[TR_LIMB_VALUES];
    int count;
} limb_list;

_Static_assert( offsetof( tr_target, limb_count ) - offsetof( tr_target, limbs ) ==
                        offsetof( limb_list, count ) &&
                    offsetof( tr_target, girth_count ) - offsetof( tr_target, girths ) ==
                        offsetof( limb_list, count ),
                "a count follows its limbs" );

static tr_list list_of_kinds( const tr_field *field )
{
    return field->kinds_of != 0 ? field->kinds_of : TR_LIST_CONSTRAINT;
}

bool tr_field_applies( const tr_field *field, const void *element )
{
    return field->kinds == 0 ||
           ( field->kinds >> tr_element_kind( list_of_kinds( field ), element ) & 1 ) != 0;
}

bool tr_field_permit( const tr_field *field, const void *element, tr_error *error )
{
    if ( tr_field_applies( field, element ) )
        return true;
    tr_list list = list_of_kinds( field );
    const tr_kind_set *kinds = tr_list_kinds( list );
    const char *article = strchr( "aeiou", kinds->noun[0] ) != NULL ? "an" : "a";
    return tr_error_set( error, "does not belong to %s %s of %s %s", article, kinds->noun, kinds->key,
                         kinds->names[tr_element_kind( list, element )] );
}

static void *at( const tr_field *field, const void *element )
{
    return (char *)element + field->offset;
}

static int *row_count( const tr_field *field, const void *element )
{
    size_t rows = TR_ROWS_MAX * (size_t)field->size * sizeof( double );
    return (int *)(void *)( (char *)at( field, element ) + rows );
}

static bool *given( const tr_field *field, const void *element )
{
    return ( field->flags & TR_FIELD_GIVEN ) != 0 ? &( (tr_constraint *)element )->given : NULL;
}

static size_t byte_size( const tr_field *field )
{
    switch ( field->type ) {
    case TR_FIELD_TEXT:
    case TR_FIELD_ID: return (size_t)field->size;
    case TR_FIELD_NUMBERS: return (size_t)field->size * sizeof( double );
    case TR_FIELD_INTS: return (size_t)field->size * sizeof( int );
    case TR_FIELD_BOOL: return sizeof( bool );
    case TR_FIELD_UP: return sizeof( char );
    case TR_FIELD_KIND: return sizeof( int );
    case TR_FIELD_AXES: return 3 * sizeof( bool );
    case TR_FIELD_COLOUR: return 3 * sizeof( float );
    case TR_FIELD_POINT: return sizeof( tr_point );
    case TR_FIELD_LIMBS: return sizeof( limb_list );
    case TR_FIELD_ROWS: return TR_ROWS_MAX * (size_t)field->size * sizeof( double ) + sizeof( int );
    default: return 0;
    }
}

// -------------------------------------------------------------------------------------------- storing

static const char *expectation( const tr_field *field )
{
    static const char *const lists[] = { "", "a number", "two numbers", "three numbers", "four numbers" };
    switch ( field->type ) {
    case TR_FIELD_NUMBERS: return lists[field->size];
    case TR_FIELD_INTS: return field->size == 1 ? "a whole number" : "two whole numbers";
    case TR_FIELD_BOOL: return "true or false";
    case TR_FIELD_UP: return "\"y\" or \"z\"";
    case TR_FIELD_AXES: return "a text of the letters x, y, z";
    case TR_FIELD_COLOUR: return "a colour such as \"#f0c440\"";
    case TR_FIELD_POINT: return "a point such as \"p03.LeftHand\"";
    case TR_FIELD_LIMBS: return "an object such as {\"left_arm\": 1.2}";
    case TR_FIELD_ROWS: return field->size == 3 ? "rows of three numbers" : "rows of four numbers";
    default: return "a text";
    }
}

static bool mismatch( const tr_field *field, tr_error *error )
{
    return tr_error_set( error, "must be %s", expectation( field ) );
}

static const double unit_rounding = 1e-9; // how far the square of a unit quaternion may be from 1
static const double weight_limit = 1000;  // largest weight of a joint in a point; the weights sum to 1
static const double sum_rounding = 1e-6;  // error allowed in this sum: files have decimals

// Normalises a rotation, unless it has unit length to rounding: then its bits stay.
static bool normalise( double *numbers, tr_error *error )
{
    quat *q = (quat *)numbers;
    double square = q_dot( *q, *q );
    if ( square < 1e-12 )
        return tr_error_set( error, "is no rotation: x, y, z, w are all 0" );
    if ( fabs( square - 1 ) > unit_rounding )
        *q = q_unit( *q );
    return true;
}

static bool check_number( const tr_field *field, double number, tr_error *error )
{
    if ( number >= field->low && number <= field->high ) // false for NaN
        return true;
    return tr_error_set( error, "must lie between %.10g and %.10g, not at %.10g", field->low, field->high,
                         number );
}

enum { FAR = 1000000000 }; // beyond the bounds of every integer field

static bool store_numbers( const tr_field *field, void *element, const tr_value *value, tr_error *error )
{
    if ( value->type != ( field->size == 1 ? TR_VALUE_NUMBER : TR_VALUE_LIST ) ||
         ( field->size > 1 && value->count != field->size ) )
        return mismatch( field, error );
    for ( int i = 0; i < field->size; ++i ) {
        double number = value->numbers[i] + 0.0; // -0 is 0
        if ( field->type == TR_FIELD_NUMBERS )
            ( (double *)at( field, element ) )[i] = number;
        else if ( number != floor( number ) )
            return mismatch( field, error );
        else if ( fabs( number ) > FAR && !check_number( field, number, error ) )
            return false;
        else
            ( (int *)at( field, element ) )[i] = tr_int_clamped( number, -FAR, FAR );
    }
    return field->size != 4 || normalise( at( field, element ), error );
}

static bool store_kind( const tr_field *field, int *out, const char *text, tr_error *error )
{
    const tr_kind_set *kinds = tr_list_kinds( list_of_kinds( field ) );
    for ( int kind = 0; kinds->names[kind] != NULL; ++kind )
        if ( strcmp( text, kinds->names[kind] ) == 0 ) {
            *out = kind;
            return true;
        }
    const char *near = tr_nearest_word( text, kinds->names );
    if ( near != NULL )
        return tr_error_set( error, "\"%.40s\" is no %s of %s; did you mean \"%s\"?", text, kinds->key,
                             kinds->noun, near );
    return tr_error_set( error, "\"%.40s\" is no %s of %s; try \"%s\"", text, kinds->key, kinds->noun,
                         kinds->names[0] );
}

static bool store_axes( bool axis[3], const char *text )
{
    axis[0] = axis[1] = axis[2] = false;
    for ( ; *text != 0; ++text ) {
        if ( *text < 'x' || *text > 'z' || axis[*text - 'x'] )
            return false;
        axis[*text - 'x'] = true;
    }
    return axis[0] || axis[1] || axis[2];
}

static bool store_colour( float colour[3], const char *text )
{
    if ( text[0] != '#' || strlen( text ) != 7 || strspn( text + 1, "0123456789abcdefABCDEF" ) != 6 )
        return false;
    unsigned rgb[3];
    sscanf( text + 1, "%2x%2x%2x", &rgb[0], &rgb[1], &rgb[2] );
    for ( int i = 0; i < 3; ++i )
        colour[i] = (float)rgb[i] / 255;
    return true;
}

static bool store_text( const tr_field *field, void *element, const char *text, tr_error *error )
{
    char *out = at( field, element );
    switch ( field->type ) {
    case TR_FIELD_UP: *out = text[0]; return ( *out == 'y' || *out == 'z' ) && text[1] == 0;
    case TR_FIELD_KIND: return store_kind( field, (int *)(void *)out, text, error );
    case TR_FIELD_AXES: return store_axes( (bool *)out, text );
    case TR_FIELD_COLOUR: return store_colour( (float *)(void *)out, text );
    case TR_FIELD_POINT: return tr_point_parse( (tr_point *)(void *)out, text, error );
    case TR_FIELD_TEXT:
    case TR_FIELD_ID:
        return tr_string_set( out, (size_t)field->size, text ) ||
               tr_error_set( error, "is longer than %d bytes", field->size - 1 );
    default: return false;
    }
}

bool tr_rows_add( const tr_field *field, void *element, const double *numbers, tr_error *error )
{
    int *count = row_count( field, element );
    double *row = (double *)at( field, element ) + *count * field->size;
    if ( *count == TR_ROWS_MAX )
        return tr_error_set( error, "has more than %d rows", TR_ROWS_MAX );
    for ( int i = 0; i < field->size; ++i )
        row[i] = numbers[i] + 0.0; // -0 is 0
    ++*count;
    return true;
}

// As ops have them: 0,1,2;3,4,5
static bool store_rows( const tr_field *field, void *element, const tr_value *value, tr_error *error )
{
    memset( at( field, element ), 0, byte_size( field ) );
    const char *text = value->text;
    for ( bool more = value->type == TR_VALUE_TEXT && *text != 0; more; ) {
        const char *end = text + strcspn( text, ";" );
        double row[4];
        for ( int i = 0; i < field->size; ++i ) {
            if ( i > 0 && *text++ != ',' )
                return mismatch( field, error );
            text = tr_number_parse( text, end, &row[i] );
            if ( text == NULL || !isfinite( row[i] ) )
                return mismatch( field, error );
        }
        if ( text != end )
            return mismatch( field, error );
        if ( !tr_rows_add( field, element, row, error ) )
            return false;
        more = *text++ == ';';
    }
    return value->type == TR_VALUE_TEXT || mismatch( field, error );
}

bool tr_field_store( const tr_field *field, void *element, const tr_value *value, tr_error *error )
{
    if ( given( field, element ) != NULL )
        *given( field, element ) = true;
    switch ( field->type ) {
    case TR_FIELD_NUMBERS:
    case TR_FIELD_INTS: return store_numbers( field, element, value, error );
    case TR_FIELD_LIMBS: return mismatch( field, error ); // tr_limbs_set takes them one by one
    case TR_FIELD_ROWS: return store_rows( field, element, value, error );
    case TR_FIELD_BOOL:
        *(bool *)at( field, element ) = value->flag;
        return value->type == TR_VALUE_BOOL || mismatch( field, error );
    default:
        mismatch( field, error ); // unless the reader of this type has set an error
        return value->type == TR_VALUE_TEXT && store_text( field, element, value->text, error );
    }
}

bool tr_limbs_set( const tr_field *field, void *element, const char *limb, const double *value,
                   tr_error *error )
{
    limb_list *list = at( field, element );
    int i = 0;
    while ( i < list->count && strcmp( list->values[i].limb, limb ) != 0 )
        ++i;
    if ( value == NULL ) {
        if ( i == list->count )
            return tr_error_set( error, "there is no entry for \"%.40s\"", limb );
        memmove( &list->values[i], &list->values[i + 1],
                 (size_t)( list->count - i - 1 ) * sizeof *list->values );
        memset( &list->values[--list->count], 0, sizeof *list->values );
        return true;
    }
    if ( i == TR_LIMB_VALUES )
        return tr_error_set( error, "there are more than %d limbs", TR_LIMB_VALUES );
    if ( !tr_string_set( list->values[i].limb, sizeof list->values[i].limb, limb ) )
        return tr_error_set( error, "the limb's name is too long" );
    list->values[i].value = *value + 0.0;
    list->count += i == list->count;
    return true;
}

// -------------------------------------------------------------------------------------------- checking

bool tr_id_valid( const char *id )
{
    size_t length = strspn( id, "abcdefghijklmnopqrstuvwxyz0123456789_" );
    return length > 0 && length < TR_ID_MAX && id[length] == 0;
}

// One line of valid UTF-8: what JSON and scripts can both hold.
static bool plain_text( const char *text )
{
    for ( const char *c = text; *c != 0; ++c )
        if ( ( *c > 0 && *c < ' ' ) || *c == 127 )
            return false;
    return tr_utf8_valid( text, strlen( text ) );
}

static bool check_numbers( const tr_field *field, const void *element, tr_error *error )
{
    for ( int i = 0; i < field->size; ++i ) {
        bool whole = field->type == TR_FIELD_INTS;
        double number =
            whole ? ( (const int *)at( field, element ) )[i] : ( (const double *)at( field, element ) )[i];
        if ( !check_number( field, number, error ) )
            return false;
    }
    if ( field->size == 4 ) {
        quat q = *(const quat *)at( field, element );
        return fabs( q_dot( q, q ) - 1 ) <= unit_rounding || tr_error_set( error, "is not of unit length" );
    }
    return true;
}

static bool check_rows( const tr_field *field, const void *element, tr_error *error )
{
    int count = *row_count( field, element );
    if ( count < 0 || count > TR_ROWS_MAX )
        return tr_error_set( error, "must have at most %d rows", TR_ROWS_MAX );
    for ( int i = 0; i < count * field->size; ++i )
        if ( !check_number( field, ( (const double *)at( field, element ) )[i], error ) )
            return false;
    return true;
}

static bool check_point( const tr_point *point, tr_error *error )
{
    double sum = 0;
    if ( point->term_count < 0 || point->term_count > TR_POINT_TERMS )
        return tr_error_set( error, "must combine at most %d joints", TR_POINT_TERMS );
    for ( int i = 0; i < point->term_count; ++i ) {
        if ( point->terms[i].joint[0] == 0 || !plain_text( point->terms[i].joint ) )
            return tr_error_set( error, "has a joint without a proper name" );
        if ( !( fabs( point->terms[i].weight ) <= weight_limit ) )
            return tr_error_set( error, "has a weight beyond ±%g", weight_limit );
        sum += point->terms[i].weight;
    }
    if ( point->term_count > 0 && fabs( sum - 1 ) > sum_rounding )
        return tr_error_set( error, "has weights that sum to %.10g instead of 1", sum );
    const double offset[3] = { point->offset.x, point->offset.y, point->offset.z };
    for ( int i = 0; i < 3; ++i )
        if ( !( fabs( offset[i] ) <= TR_FAR ) )
            return tr_error_set( error, "has an offset beyond ±%g m", TR_FAR );
    return true;
}

static bool check_limbs( const tr_field *field, const limb_list *list, tr_error *error )
{
    if ( list->count < 0 || list->count > TR_LIMB_VALUES )
        return tr_error_set( error, "must have at most %d limbs", TR_LIMB_VALUES );
    for ( int i = 0; i < list->count; ++i ) {
        for ( int j = 0; j < i; ++j )
            if ( strcmp( list->values[i].limb, list->values[j].limb ) == 0 )
                return tr_error_set( error, "%s has two entries", list->values[i].limb );
        if ( !tr_id_valid( list->values[i].limb ) )
            return tr_error_set( error, "\"%s\" is no name of a limb: use a-z, 0-9 and _",
                                 list->values[i].limb );
        if ( !check_number( field, list->values[i].value, error ) )
            return tr_error_set( error, "%s must lie between %g and %g, not at %.10g", list->values[i].limb,
                                 field->low, field->high, list->values[i].value );
    }
    return true;
}

bool tr_field_check( const tr_field *field, const void *element, tr_error *error )
{
    const char *text = at( field, element );
    switch ( field->type ) {
    case TR_FIELD_NUMBERS:
    case TR_FIELD_INTS:
        return ( given( field, element ) != NULL && !*given( field, element ) ) ||
               check_numbers( field, element, error );
    case TR_FIELD_POINT: return check_point( (const tr_point *)(const void *)text, error );
    case TR_FIELD_LIMBS: return check_limbs( field, (const limb_list *)(const void *)text, error );
    case TR_FIELD_ROWS: return check_rows( field, element, error );
    case TR_FIELD_UP: return *text == 0 || *text == 'y' || *text == 'z' || mismatch( field, error );
    case TR_FIELD_TEXT:
        return plain_text( text ) || tr_error_set( error, "must be valid UTF-8 without control characters" );
    case TR_FIELD_ID:
        return tr_id_valid( text ) ||
               tr_error_set( error, "\"%.40s\" is no id: use 1 to %d of a-z, 0-9 and _", text,
                             TR_ID_MAX - 1 );
    case TR_FIELD_COLOUR:
        for ( int i = 0; i < 3; ++i )
            if ( !( ( (const float *)(const void *)text )[i] >= 0 &&
                    ( (const float *)(const void *)text )[i] <= 1 ) )
                return tr_error_set( error, "has parts outside 0 … 1" );
        return true;
    default: return true;
    }
}

// --------------------------------------------------------------------------------- comparing and copying

void tr_field_copy( const tr_field *field, void *to, const void *from )
{
    memcpy( at( field, to ), at( field, from ), byte_size( field ) );
    if ( given( field, to ) != NULL )
        *given( field, to ) = *given( field, from );
}

static void colour_bytes( const float colour[3], int out[3] )
{
    for ( int i = 0; i < 3; ++i )
        out[i] = tr_int_clamped( roundf( 255 * colour[i] ), 0, 255 );
}

static bool numbers_equal( const double *a, const double *b, int count )
{
    for ( int i = 0; i < count; ++i )
        if ( a[i] != b[i] )
            return false;
    return true;
}

static bool point_equal( const tr_point *a, const tr_point *b )
{
    if ( strcmp( a->who, b->who ) != 0 || a->term_count != b->term_count || a->offset.x != b->offset.x ||
         a->offset.y != b->offset.y || a->offset.z != b->offset.z )
        return false;
    for ( int i = 0; i < a->term_count; ++i )
        if ( strcmp( a->terms[i].joint, b->terms[i].joint ) != 0 || a->terms[i].weight != b->terms[i].weight )
            return false;
    return true;
}

static bool limbs_equal( const limb_list *a, const limb_list *b )
{
    if ( a->count != b->count )
        return false;
    for ( int i = 0; i < a->count; ++i )
        if ( strcmp( a->values[i].limb, b->values[i].limb ) != 0 || a->values[i].value != b->values[i].value )
            return false;
    return true;
}

bool tr_field_equal( const tr_field *field, const void *a, const void *b )
{
    const void *p = at( field, a ), *q = at( field, b );
    const bool *p_given = given( field, a ), *q_given = given( field, b );
    if ( p_given != NULL && ( *p_given != *q_given || !*p_given ) )
        return *p_given == *q_given;
    int p_colour[3], q_colour[3];
    switch ( field->type ) {
    case TR_FIELD_TEXT:
    case TR_FIELD_ID: return strcmp( p, q ) == 0;
    case TR_FIELD_NUMBERS: return numbers_equal( p, q, field->size );
    case TR_FIELD_POINT: return point_equal( p, q );
    case TR_FIELD_LIMBS: return limbs_equal( p, q );
    case TR_FIELD_ROWS:
        return *row_count( field, a ) == *row_count( field, b ) &&
               numbers_equal( p, q, *row_count( field, a ) * field->size );
    case TR_FIELD_COLOUR:
        colour_bytes( p, p_colour );
        colour_bytes( q, q_colour );
        return memcmp( p_colour, q_colour, sizeof p_colour ) == 0;
    default: return memcmp( p, q, byte_size( field ) ) == 0;
    }
}

bool tr_scene_equal( const tr_scene *a, const tr_scene *b )
{
    for ( tr_list list = 0; list <= TR_LIST_SCENE; ++list ) {
        int field_count, count = list == TR_LIST_SCENE ? 1 : tr_list_count( a, list );
        const tr_field *fields = tr_fields( list, &field_count );
        if ( list != TR_LIST_SCENE && count != tr_list_count( b, list ) )
            return false;
        for ( int i = 0; i < count; ++i )
            for ( int f = 0; f < field_count; ++f ) {
                const void *p = tr_list_at( a, list, i ), *q = tr_list_at( b, list, i );
                if ( tr_field_applies( &fields[f], p ) && !tr_field_equal( &fields[f], p, q ) )
                    return false;
            }
    }
    return true;
}

// -------------------------------------------------------------------------------------------- printing

static void print_numbers( const tr_field *field, const void *values, tr_text *out )
{
    if ( field->size > 1 )
        tr_text_append( out, "[", 1 );
    for ( int i = 0; i < field->size; ++i ) {
        if ( i > 0 )
            tr_text_append( out, ", ", 2 );
        tr_text_exact( out, field->type == TR_FIELD_INTS ? ( (const int *)values )[i]
                                                         : ( (const double *)values )[i] );
    }
    if ( field->size > 1 )
        tr_text_append( out, "]", 1 );
}

static void print_rows( const tr_field *field, const void *element, tr_text *out )
{
    const double *rows = at( field, element );
    tr_text_append( out, "[", 1 );
    for ( int i = 0; i < *row_count( field, element ); ++i ) {
        tr_text_append( out, ", ", i > 0 ? 2 : 0 );
        print_numbers( field, rows + i * field->size, out );
    }
    tr_text_append( out, "]", 1 );
}

static void print_point( const tr_point *point, tr_text *out )
{
    tr_text text = { 0 };
    tr_point_print( point, &text );
    out->failed = out->failed || text.failed;
    if ( !text.failed )
        tr_text_quoted( out, text.data, text.size );
    tr_text_free( &text );
}

static void print_limbs( const limb_list *list, tr_text *out )
{
    tr_text_append( out, "{", 1 );
    for ( int i = 0; i < list->count; ++i ) {
        tr_text_append( out, ", ", i > 0 ? 2 : 0 );
        tr_text_quoted( out, list->values[i].limb, strlen( list->values[i].limb ) );
        tr_text_append( out, ": ", 2 );
        tr_text_exact( out, list->values[i].value );
    }
    tr_text_append( out, "}", 1 );
}

void tr_field_print( const tr_field *field, const void *element, tr_text *out )
{
    const void *value = at( field, element );
    int rgb[3];
    char axes[4] = "";
    switch ( field->type ) {
    case TR_FIELD_TEXT:
    case TR_FIELD_ID: tr_text_quoted( out, value, strlen( value ) ); break;
    case TR_FIELD_NUMBERS:
    case TR_FIELD_INTS: print_numbers( field, value, out ); break;
    case TR_FIELD_BOOL: tr_text_add( out, "%s", *(const bool *)value ? "true" : "false" ); break;
    case TR_FIELD_UP: tr_text_add( out, "\"%c\"", *(const char *)value ); break;
    case TR_FIELD_KIND:
        tr_text_add( out, "\"%s\"", tr_list_kinds( list_of_kinds( field ) )->names[*(const int *)value] );
        break;
    case TR_FIELD_AXES:
        for ( int i = 0; i < 3; ++i )
            if ( ( (const bool *)value )[i] )
                axes[strlen( axes )] = (char)( 'x' + i );
        tr_text_add( out, "\"%s\"", axes );
        break;
    case TR_FIELD_COLOUR:
        colour_bytes( value, rgb );
        tr_text_add( out, "\"#%02x%02x%02x\"", (unsigned)rgb[0], (unsigned)rgb[1], (unsigned)rgb[2] );
        break;
    case TR_FIELD_POINT: print_point( value, out ); break;
    case TR_FIELD_LIMBS: print_limbs( value, out ); break;
    case TR_FIELD_ROWS: print_rows( field, element, out ); break;
    }
}
