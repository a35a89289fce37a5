// Depths and lost touches of every window in the final motion: after the meshes are solved, the fit, the
// rules and edits still move bodies.
#include "closeness/private.h"

#include <stdatomic.h>

typedef struct judging {
    tr_mesh_work work;
    atomic_bool failed; // for want of memory: there is nothing else to fail for
} judging;

static void judge_windows( void *context, int begin, int end )
{
    judging *j = context;
    for ( int i = begin; i < end; ++i ) {
        tr_mesh_report *report = &j->work.result->meshes[i];
        tr_imesh_window window = { report->members, report->member_count, report->first, report->last };
        tr_mesh_party p = { .work = &j->work, .window = &window };
        if ( !tr_mesh_party_gather( &p ) || !tr_imesh_judge( &p.cast, &p.def, &report->mesh, NULL ) )
            j->failed = true;
        tr_mesh_party_free( &p );
    }
}

bool tr_meshes_judge( const tr_stage *stage, tr_result *result, tr_error *error )
{
    if ( result->mesh_count == 0 )
        return true;
    judging j = { .work = { .def = tr_default_closeness_def(),
                            .stage = stage,
                            .result = result,
                            .members = tr_mesh_members( stage ),
                            .member_count = tr_stage_member_count( stage ) } };
    j.failed = j.work.members == NULL;
    if ( !j.failed )
        tr_parallel_for( result->mesh_count, 1, judge_windows, &j );
    tr_free( j.work.members );
    return !j.failed || tr_error_memory( error );
}
