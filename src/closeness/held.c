// A constraint with `partners`: what the mesh of the held frame asks of its members is given to the frames
// around, less and less, and the skeletons are fitted again to it and to the rules.
#include "closeness/private.h"

bool tr_closeness_hold( const tr_stage *stage, tr_result *result, const tr_rule *rule, tr_error *error )
{
    int middle = ( rule->first + rule->last ) / 2;
    tr_held held = { .stage = stage,
                     .result = result,
                     .frame = middle,
                     .actor = rule->a.actor,
                     .joint = rule->a.joints[0] };
    tr_mesh_work w = { .def = tr_default_closeness_def(), .stage = stage, .result = result };
    bool ok = tr_held_build( &held, &w.def, error ) && tr_mesh_work_build( &w, error ) &&
              tr_held_move( &held, tr_rule_target( stage, result, rule, middle ), error );
    w.first = w.last = middle;
    for ( int f = 0; ok && f < stage->frame_count; ++f ) {
        double share = tr_rule_strength( rule, f );
        if ( share <= 0 )
            continue;
        tr_held_spread( &held, &w, f, share );
        w.first = f < w.first ? f : w.first;
        w.last = f;
    }
    ok = ok && tr_mesh_fit( &w, error );
    tr_held_free( &held );
    tr_mesh_work_free( &w );
    return ok;
}
