// Rules by which a hand or foot stays where it touched, and what comes before what. Solvers, footings and
// edits ask here.
#include "stage/private.h"

bool tr_rule_stays( const tr_rule *rule )
{
    return rule->kind == TR_CONSTRAINT_CONTACT || rule->stands;
}

bool tr_rule_is_stance( const tr_rule *rule )
{
    return tr_rule_stays( rule ) && rule->surface_prop < 0 && rule->a.actor >= 0 && rule->a.count == 1;
}

int tr_rule_priority( const tr_rule *rule )
{
    if ( rule->priority > 0 )
        return rule->priority;
    if ( tr_rule_stays( rule ) && rule->surface_prop < 0 )
        return TR_PRIORITY_STANCE;
    if ( tr_rule_links( rule ) || rule->surface_prop >= 0 )
        return TR_PRIORITY_LINK;
    return rule->kind == TR_CONSTRAINT_ABSOLUTE ? TR_PRIORITY_PLACE : TR_PRIORITY_REST;
}

int tr_stance_foot( const tr_stage *stage, const tr_rule *rule )
{
    return tr_rule_is_stance( rule )
               ? tr_extremity_carrier( &stage->actors[rule->a.actor].target, rule->a.joints[0] )
               : -1;
}
