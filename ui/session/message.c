// The session's message to the user: what failed or was finished last.
#include "ui/session/private.h"

#include <stdarg.h>
#include <stdio.h>

void tr_message_say( tr_message *message, bool bad, const char *format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( message->text, sizeof message->text, format, arguments );
    va_end( arguments );
    message->bad = bad;
    message->warns = false;
    message->waiting = true;
}

void tr_message_warn( tr_message *message, const char *text )
{
    tr_message_say( message, false, "%s", text );
    message->warns = true;
}

void tr_message_error( tr_message *message, const tr_error *error )
{
    char text[1400];
    tr_error_print( error, text, sizeof text );
    tr_message_say( message, true, "%s", text );
}

bool tr_session_message( tr_session *session, char *out, size_t size, bool *bad, bool *warns )
{
    tr_message *message = &session->message;
    if ( !message->waiting )
        return false;
    snprintf( out, size, "%s", message->text );
    *bad = message->bad;
    *warns = message->warns;
    message->waiting = false;
    return true;
}
