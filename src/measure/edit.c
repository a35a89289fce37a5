// How exactly edits were carried out, and whether they moved anything else.
#include "measure/private.h"

// Whether there is anything to measure on this take; sets the reason if not.
static bool has_edits( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    bool edited = m->stage != NULL && m->stage->grab_count > 0;
    if ( edited && take == &m->out )
        return true;
    bool retimed = m->stage != NULL && m->stage->times != NULL;
    tr_figures_null( figures, edited    ? "the source has no edits"
                              : retimed ? "the source is retimed with the scene"
                                        : "the scene has no edits" );
    return false;
}

static double handle_error( const tr_measuring *m, int i )
{
    const tr_handle_report *report = &m->result->handles[i];
    int frame = m->stage->scene->handles[i].frame - m->stage->scene->first,
        prop = report->node - m->stage->actor_count;
    const tr_anchor *anchor = &m->stage->handles[i];
    vec3 now;
    if ( report->passed_on || report->outside ||
         ( tr_anchor_node( m->stage, anchor ) < 0 && report->node < 0 ) )
        return report->error_mm;
    if ( report->node < 0 )
        now = tr_anchor_position( m->stage, m->result, anchor, frame );
    else if ( prop >= 0 )
        now = m->result->tracks[prop][frame].position;
    else
        now = tr_world_pose( &m->result->worlds[report->node], frame ).positions[report->joint];
    return 1e3 * v3_distance( now, report->place );
}

bool tr_measure_edit_handle( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    if ( !has_edits( m, take, figures ) )
        return true;
    bool any = false;
    for ( int i = 0; i < m->result->handle_count; ++i ) {
        if ( !m->result->handles[i].acted )
            continue;
        figures->values[0] = fmax( figures->values[0], handle_error( m, i ) );
        any = true;
    }
    if ( !any )
        tr_figures_null( figures, "no handle holds anything" );
    return true;
}

bool tr_measure_edit_leak( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    if ( has_edits( m, take, figures ) )
        figures->values[0] = m->result->leak_mm;
    return true;
}
