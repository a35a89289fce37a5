// The tables of tools and commands, for programs and tests that see no panels.
#include "ui/app.h"

int tr_app_tool_count( void )
{
    return tr_tool_count();
}

int tr_app_tool_key( int i )
{
    return tr_tool_get( i )->key;
}

int tr_app_command_count( void )
{
    int count;
    tr_command_table( &count );
    return count;
}

int tr_app_command_key( int i, unsigned *modifiers )
{
    int count;
    const tr_command *command = &tr_command_table( &count )[i];
    *modifiers = command->modifiers;
    return command->key;
}

void tr_help_print( tr_text *out )
{
    tr_panel_help_print( out );
}
