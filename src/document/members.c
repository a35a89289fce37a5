// Members of a layer as text:
//
//   members = member { "," member }
//   member  = id [ "." part ]          blanks around it are skipped
//   part    = characters other than a comma, or any characters in ' ' ('' is one ')
//
// In ids and parts * stands for any number of characters.
#include "document/fields.h"

#include <stdio.h>
#include <string.h>

bool tr_pattern_matches( const char *pattern, const char *text )
{
    const char *star = NULL, *retry = NULL; // the last star and where in the text it stopped taking
    while ( *text != 0 )
        if ( *pattern == '*' ) {
            star = pattern++;
            retry = text;
        } else if ( *pattern == *text ) {
            ++pattern;
            ++text;
        } else if ( star != NULL ) {
            pattern = star + 1;
            text = ++retry;
        } else
            return false;
    return pattern[strspn( pattern, "*" )] == 0;
}

static const char *skip_blanks( const char *text )
{
    return text + strspn( text, " " );
}

static bool parse_part( tr_member *out, const char **text, tr_error *error )
{
    if ( **text == '\'' )
        return tr_joint_parse( text, out->part, error );
    size_t length = strcspn( *text, "," ), used = length;
    while ( used > 0 && ( *text )[used - 1] == ' ' )
        --used;
    if ( used == 0 )
        return tr_error_set( error, "a limb or a joint is missing behind \"%s.\"", out->who );
    if ( used >= sizeof out->part )
        return tr_error_set( error, "a joint's name is longer than %d bytes", TR_JOINT_MAX - 1 );
    memcpy( out->part, *text, used );
    *text += length;
    return true;
}

bool tr_member_parse( tr_member *out, const char **text, tr_error *error )
{
    memset( out, 0, sizeof *out );
    *text = skip_blanks( *text );
    size_t length = strspn( *text, "abcdefghijklmnopqrstuvwxyz0123456789_*" );
    if ( length == 0 || length >= sizeof out->who )
        return tr_error_set( error, "\"%.60s\" does not start with an id, as p03.left_arm does", *text );
    memcpy( out->who, *text, length );
    *text += length;
    if ( **text == '.' ) {
        ++*text;
        if ( !parse_part( out, text, error ) )
            return false;
    }
    *text = skip_blanks( *text );
    if ( **text != 0 && **text != ',' )
        return tr_error_set( error, "a comma is missing before \"%.40s\"", *text );
    bool more = **text == ',';
    *text += more;
    return !more || *skip_blanks( *text ) != 0 || tr_error_set( error, "nothing follows the last comma" );
}

bool tr_members_name( const char *members, const char *id )
{
    tr_member member;
    while ( *members != 0 ) {
        if ( !tr_member_parse( &member, &members, NULL ) )
            return false;
        if ( strcmp( member.who, id ) == 0 )
            return true;
    }
    return false;
}

bool tr_members_match( const char *members, const char *id )
{
    tr_member member;
    while ( *members != 0 ) {
        if ( !tr_member_parse( &member, &members, NULL ) )
            return false;
        if ( tr_pattern_matches( member.who, id ) )
            return true;
    }
    return false;
}

bool tr_members_rename( char *members, const char *from, const char *to )
{
    char out[TR_MEMBERS_MAX] = "";
    size_t used = 0;
    for ( const char *at = members; *at != 0; ) {
        const char *begin = skip_blanks( at );
        tr_member member;
        if ( !tr_member_parse( &member, &at, NULL ) )
            return false;
        bool same = strcmp( member.who, from ) == 0;
        if ( same && to == NULL )
            continue;
        const char *who = same ? to : member.who, *rest = begin + strlen( member.who );
        size_t tail = (size_t)( at - rest );
        while ( tail > 0 && ( rest[tail - 1] == ',' || rest[tail - 1] == ' ' ) )
            --tail;
        if ( used + 2 + strlen( who ) + tail > sizeof out )
            return false;
        used += (size_t)snprintf( out + used, sizeof out - used, "%s%s%.*s", used > 0 ? ", " : "", who,
                                  (int)tail, rest );
    }
    return tr_string_set( members, TR_MEMBERS_MAX, out );
}
