// Turned joints of an example's pose as text:
//
//   pose = turn { ";" turn }
//   turn = joint "@" number "," number "," number
//
// with joints as in points (point.c).
#include "document/fields.h"

#include <string.h>

bool tr_turn_parse( tr_turn *out, const char **text, tr_error *error )
{
    const char *begin = *text;
    memset( out, 0, sizeof *out );
    if ( !tr_joint_parse( text, out->joint, error ) || !tr_offset_parse( text, &out->degrees, error ) )
        return false;
    if ( **text != ';' && **text != 0 )
        return tr_error_set( error, "\"%.60s\" goes on after its three numbers; a ; stands between joints",
                             begin );
    if ( **text == ';' && *++*text == 0 )
        return tr_error_set( error, "a joint is missing behind the last ;" );
    return true;
}

void tr_turn_print( tr_text *out, const char *joint, vec3 degrees )
{
    if ( degrees.x == 0 && degrees.y == 0 && degrees.z == 0 )
        return;
    if ( out->size > 0 )
        tr_text_append( out, ";", 1 );
    tr_joint_print( out, joint );
    tr_point_print_offset( out, degrees );
}
