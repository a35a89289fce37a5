// Residuals of constraints, over their frames of full strength.
#include "measure/private.h"

static double error_at( const tr_measuring *m, const tr_take *take, const tr_rule *rule, int frame )
{
    return take == &m->out ? tr_rule_error( m->stage, m->result, rule, frame )
                           : tr_rule_source_error( m->stage, rule, frame );
}

static bool add_errors( tr_samples *errors, const tr_measuring *m, const tr_take *take, const tr_rule *rule )
{
    int first = rule->first > 0 ? rule->first : 0;
    int last = rule->last < take->frame_count ? rule->last : take->frame_count - 1;
    for ( int f = first; f <= last; ++f )
        if ( !tr_samples_add( errors, error_at( m, take, rule, f ) ) )
            return false;
    return true;
}

// Contacts that gave way are counted and reported apart from the others.
bool tr_measure_contact_error( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    tr_samples errors = { 0 }, broken = { 0 };
    bool ok = true;
    int gave_way = 0, contacts = 0;
    for ( int i = 0; i < m->stage->rule_count && ok; ++i ) {
        const tr_rule *rule = &m->stage->rules[i];
        if ( rule->kind != TR_CONSTRAINT_CONTACT )
            continue;
        bool gave = m->result->reports != NULL && m->result->reports[i].gave_way;
        ++contacts;
        gave_way += gave;
        ok = add_errors( gave ? &broken : &errors, m, take, rule );
    }
    const char *none = contacts == 0 ? "the scene has no contact constraints"
                                     : "every contact constraint gave way or lies outside the range";
    tr_figures apart = { 0 };
    tr_samples_report( &errors, 1e3, none, figures );
    tr_samples_report( &broken, 1e3, none, &apart );
    bool out = take == &m->out && gave_way > 0; // no contact of the source gives way
    figures->values[3] = out ? gave_way : 0;
    figures->values[4] = out ? apart.values[0] : 0;
    figures->values[5] = out ? apart.values[2] : 0;
    for ( int i = 3; i < 6; ++i )
        figures->null[i] = contacts == 0;
    return ok;
}

bool tr_measure_relative_error( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    tr_samples errors = { 0 };
    bool ok = true;
    for ( int i = 0; i < m->stage->rule_count && ok; ++i )
        if ( m->stage->rules[i].kind == TR_CONSTRAINT_RELATIVE )
            ok = add_errors( &errors, m, take, &m->stage->rules[i] );
    tr_samples_report( &errors, 1e3, "the scene has no relative constraints within its range", figures );
    return ok;
}
