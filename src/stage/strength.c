// How much a rule counts at a frame: it fades in, holds in its range, and fades out. Where one rule hands
// over to the next, their fades overlap.
#include "stage/private.h"

double tr_rule_strength( const tr_rule *rule, int frame )
{
    double share = rule->share != NULL ? rule->share[frame] : 1.0, at = frame;
    double first = rule->first, last = rule->last, ease_in = rule->ease_in, ease_out = rule->ease_out;
    if ( rule->before.when != NULL ) {
        at = rule->before.when[frame];
        first = rule->before.first, last = rule->before.last;
        ease_in = rule->before.ease_in, ease_out = rule->before.ease_out;
    }
    if ( frame < rule->first )
        return share * tr_fade( first - at, ease_in );
    if ( frame > rule->last )
        return share * tr_fade( at - last, ease_out );
    return share;
}

void tr_rule_frames( const tr_stage *stage, const tr_rule *rule, int *first, int *last )
{
    int end = stage->frame_count - 1;
    *first = rule->first < end ? rule->first : end;
    *last = rule->last > 0 ? rule->last : 0;
}

static const tr_footing *footing_of( const tr_stage *stage, const tr_rule *rule )
{
    return rule->footing >= 0 ? &stage->actors[rule->a.actor].footings[rule->footing] : NULL;
}

double tr_rule_pull( const tr_stage *stage, const tr_rule *rule, int frame )
{
    const tr_footing *footing = footing_of( stage, rule );
    return footing != NULL ? footing->strength[frame] : tr_rule_strength( rule, frame );
}
