// Constraints with `partners`: a joint is at a place at one frame, and close bodies follow as in the mesh of
// that frame. The motion without them is solved first. Then, for one constraint after the other, the changes
// of the held frame's mesh are faded out over the frames around, and skeletons are fitted again to them and
// to the rules. The editor's held frame (closeness/hold.c) is one such fit.
#include "method/private.h"

#include <string.h>

// The mesh has joints, not points between them.
static bool is_held( const tr_rule *rule )
{
    return rule->partners && rule->kind == TR_CONSTRAINT_ABSOLUTE && !rule->direction && rule->a.actor >= 0 &&
           rule->a.count == 1 && v3_length( rule->a.offset ) == 0 && rule->first <= rule->last;
}

bool tr_solve_held( const tr_stage *stage, tr_result *result,
                    bool ( *solve )( const tr_stage *, tr_result *, tr_error * ), tr_error *error )
{
    tr_stage still = *stage;
    int held = 0;
    for ( int r = 0; r < stage->rule_count; ++r )
        held += is_held( &stage->rules[r] );
    if ( held == 0 )
        return solve( stage, result, error );
    still.rules = tr_alloc( (size_t)stage->rule_count, sizeof *still.rules );
    if ( still.rules == NULL )
        return tr_error_memory( error );
    memcpy( still.rules, stage->rules, (size_t)stage->rule_count * sizeof *still.rules );
    for ( int r = 0; r < stage->rule_count; ++r )
        if ( is_held( &stage->rules[r] ) ) // disabled until its turn
            still.rules[r] = ( tr_rule ){ .constraint = stage->rules[r].constraint,
                                          .kind = TR_CONSTRAINT_ABSOLUTE,
                                          .a = { .actor = -1, .prop = -1 },
                                          .b = { .actor = -1, .prop = -1 },
                                          .last = -1,
                                          .rotation = q_identity,
                                          .surface_prop = -1,
                                          .obstacle = -1,
                                          .footing = -1 };
    bool ok = solve( &still, result, error );
    for ( int r = 0; r < stage->rule_count && ok; ++r )
        if ( is_held( &stage->rules[r] ) ) {
            still.rules[r] = stage->rules[r];
            ok = tr_closeness_hold( &still, result, &still.rules[r], error );
        }
    tr_free( still.rules );
    return ok;
}
