// Points as text, the same in files, ops and reports:
//
//   point  = id [ "." term { "+" term } ] [ "@" number "," number "," number ]
//   term   = joint [ "*" number ]
//   joint  = characters other than blanks and * + @ , ' " = #, or any characters in ' ' ('' is one ')
#include "document/fields.h"

#include <string.h>

static bool bare( char c )
{
    return (unsigned char)c > ' ' && c != 127 && strchr( "*+@,'\"=#", c ) == NULL;
}

bool tr_joint_parse( const char **text, char *joint, tr_error *error )
{
    const char *at = *text;
    bool quoted = *at == '\'';
    int length = 0;
    for ( at += quoted; quoted ? *at != 0 && ( *at != '\'' || at[1] == '\'' ) : bare( *at ); ++at ) {
        if ( quoted && *at == '\'' )
            ++at;
        if ( length == TR_JOINT_MAX - 1 )
            return tr_error_set( error, "a joint's name is longer than %d bytes", TR_JOINT_MAX - 1 );
        joint[length++] = *at;
    }
    if ( quoted && *at++ != '\'' )
        return tr_error_set( error, "the quote before the joint's name %.40s is not closed", *text );
    if ( length == 0 )
        return tr_error_set( error, "a joint's name is missing before \"%.40s\"", *text );
    *text = at;
    return true;
}

static bool parse_number( const char **text, double *value, tr_error *error )
{
    const char *end = tr_number_parse( *text, *text + strlen( *text ), value );
    if ( end == NULL || !isfinite( *value ) )
        return tr_error_set( error, "a number is expected at \"%.40s\"", *text );
    *value += 0.0; // -0 is 0
    *text = end;
    return true;
}

static bool parse_terms( const char **text, tr_point *point, tr_error *error )
{
    do {
        ++*text; // the dot, then plus signs
        if ( point->term_count == TR_POINT_TERMS )
            return tr_error_set( error, "a point combines at most %d joints", TR_POINT_TERMS );
        int n = point->term_count++;
        point->terms[n].weight = 1;
        if ( !tr_joint_parse( text, point->terms[n].joint, error ) )
            return false;
        if ( **text == '*' ) {
            ++*text;
            if ( !parse_number( text, &point->terms[n].weight, error ) )
                return false;
        }
    } while ( **text == '+' );
    return true;
}

bool tr_offset_parse( const char **text, vec3 *offset, tr_error *error )
{
    double *numbers[3] = { &offset->x, &offset->y, &offset->z };
    for ( int i = 0; i < 3; ++i ) {
        if ( **text != ( i == 0 ? '@' : ',' ) )
            return tr_error_set( error, "an offset is three numbers, as in @0,0.1,0" );
        ++*text;
        if ( !parse_number( text, numbers[i], error ) )
            return false;
    }
    return true;
}

bool tr_point_parse( tr_point *out, const char *text, tr_error *error )
{
    tr_point point;
    memset( &point, 0, sizeof point );
    size_t length = strcspn( text, ".@" );
    if ( length == 0 || length >= TR_ID_MAX )
        return tr_error_set( error, "\"%.60s\" does not start with an id, as p03.LeftHand does", text );
    memcpy( point.who, text, length );
    const char *at = text + length;
    if ( *at == '.' && !parse_terms( &at, &point, error ) )
        return false;
    if ( *at == '@' && !tr_offset_parse( &at, &point.offset, error ) )
        return false;
    if ( *at != 0 )
        return tr_error_set( error, "\"%.40s\" is left over behind the point", at );
    *out = point;
    return true;
}

void tr_joint_print( tr_text *out, const char *joint )
{
    const char *at = joint;
    while ( bare( *at ) )
        ++at;
    if ( *at == 0 ) {
        tr_text_append( out, joint, strlen( joint ) );
        return;
    }
    tr_text_append( out, "'", 1 );
    for ( at = joint; *at != 0; ++at )
        tr_text_append( out, *at == '\'' ? "''" : at, *at == '\'' ? 2 : 1 );
    tr_text_append( out, "'", 1 );
}

void tr_point_print_term( tr_text *out, bool first, const char *joint, double weight )
{
    tr_text_append( out, first ? "." : "+", 1 );
    tr_joint_print( out, joint );
    if ( weight != 1 ) {
        tr_text_append( out, "*", 1 );
        tr_text_exact( out, weight );
    }
}

void tr_point_print_offset( tr_text *out, vec3 offset )
{
    if ( offset.x == 0 && offset.y == 0 && offset.z == 0 )
        return;
    const double numbers[3] = { offset.x, offset.y, offset.z };
    for ( int i = 0; i < 3; ++i ) {
        tr_text_append( out, i == 0 ? "@" : ",", 1 );
        tr_text_exact( out, numbers[i] );
    }
}

void tr_point_print( const tr_point *point, tr_text *out )
{
    tr_text_append( out, point->who, strlen( point->who ) );
    for ( int i = 0; i < point->term_count; ++i )
        tr_point_print_term( out, i == 0, point->terms[i].joint, point->terms[i].weight );
    tr_point_print_offset( out, point->offset );
}
