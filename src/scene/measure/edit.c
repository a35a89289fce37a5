// How exactly edits were carried out, and whether they kept to themselves.
#include "scene/measure/private.h"

// Whether there is anything to tell about this take; otherwise says why not.
static bool has_edits( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    bool edited = m->stage != NULL && m->stage->grab_count > 0;
    if ( edited && take == &m->out )
        return true;
    tr_figures_null( figures, edited ? "the source has no edits" : "the scene has no edits" );
    return false;
}

bool tr_measure_edit_handle( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    if ( !has_edits( m, take, figures ) )
        return true;
    bool any = false;
    for ( int i = 0; i < m->result->handle_count; ++i ) {
        const tr_handle_report *report = &m->result->handles[i];
        const tr_handle *handle = &m->stage->scene->handles[i];
        double error = report->error_mm;
        if ( !report->acted )
            continue;
        if ( handle->point.who[0] != 0 && !report->passed_on )
            error = 1e3 * v3_distance( tr_anchor_position( m->stage, m->result, &m->stage->handles[i],
                                                           handle->frame - m->stage->scene->first ),
                                       report->place );
        figures->values[0] = fmax( figures->values[0], error );
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
