// Linked pose graphs deformed together, then skeletons fitted exactly.
#include "method/private.h"

bool tr_solve_posegraph( const tr_stage *stage, tr_result *result, tr_error *error )
{
    return tr_solve_frames( stage, result, error ) && tr_calm( stage, result, error );
}
