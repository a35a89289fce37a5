// Pose graphs, then interaction meshes wherever bodies come close to each other.
#include "method/private.h"

bool tr_solve_imesh( const tr_stage *stage, tr_result *result, tr_error *error )
{
    return tr_solve_frames( stage, result, error ) && tr_closeness_solve( stage, result, error );
}
