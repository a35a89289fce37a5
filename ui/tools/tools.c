// The tools there are, in the order of the bar.
#include "ui/tools/tools.h"

static const tr_tool *const tools[] = { &tr_tool_select, &tr_tool_move,    &tr_tool_turn,
                                        &tr_tool_size,   &tr_tool_cage,    &tr_tool_frame,
                                        &tr_tool_link,   &tr_tool_contact, &tr_tool_pose };

void tr_tool_take( tr_ui *ui, const tr_tool *tool )
{
    for ( int i = 0; i < tr_tool_count(); ++i )
        if ( tools[i] == tool )
            ui->tool = i;
}

int tr_tool_count( void )
{
    return (int)( sizeof tools / sizeof tools[0] );
}

const tr_tool *tr_tool_get( int i )
{
    return tools[i >= 0 && i < tr_tool_count() ? i : 0];
}
