// A retimed stage is the stage before retiming, played at another speed.
//
// Places of stances, surfaces and origins of groups are means over whole stances and clips. On a stretched
// time these means would differ a little, and frames that were not moved would change by millimetres. So they
// are found on the time before retiming, and every frame f of the new time takes them from the moment
// when[f]. Outside the window of a retiming that moment is a frame, and the bits stay the same.
#include "stage/builder.h"
#include "stage/times.h"

#include <string.h>

// -------------------------------------------------------------------------------------------------- contacts

// The first frame that shows the moment, or a later one.
static int first_from( const double *when, int count, double moment )
{
    int low = 0, high = count;
    while ( low < high ) {
        int middle = ( low + high ) / 2;
        if ( when[middle] < moment )
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void move_label( const double *when, int count, tr_contact *label )
{
    if ( when == NULL )
        return;
    int first = first_from( when, count, label->first ), last = first_from( when, count, label->last );
    last -= last == count || when[last] > label->last;
    label->first = first < count ? first : count - 1;
    label->last = last > label->first ? last : label->first;
}

bool tr_stage_replay_contacts( tr_stage *stage, const tr_stage *before, tr_error *error )
{
    for ( int i = 0; i < stage->actor_count; ++i ) {
        const tr_contacts *from = &before->actors[i].contacts;
        tr_contacts *to = &stage->actors[i].contacts;
        if ( !tr_array_reserve( (void **)&to->items, &to->capacity, from->count, sizeof *to->items ) )
            return tr_error_memory( error );
        to->count = from->count;
        for ( int c = 0; c < from->count; ++c ) {
            to->items[c] = from->items[c];
            move_label( stage->times->when[i], stage->frame_count, &to->items[c] );
        }
    }
    return true;
}

// ---------------------------------------------------------------------------------------------- what stands

// A moment on the time before, between two of its frames.
typedef struct moment {
    int low, high, nearest;
    double part;
} moment;

static moment moment_at( const double *when, int frame, int count )
{
    double at = clampd( when != NULL ? when[frame] : frame, 0, count - 1 );
    int low = tr_int_clamped( at, 0, count - 1 );
    return ( moment ){ low, low + 1 < count ? low + 1 : low, tr_nearest_frame( at ), at - low };
}

static void replay_footing( tr_footing *to, const tr_footing *from, moment m, int f )
{
    to->shift[f] = v3_lerp( from->shift[m.low], from->shift[m.high], m.part );
    to->strength[f] = lerpd( from->strength[m.low], from->strength[m.high], m.part );
    to->rule[f] = from->rule[m.nearest];
}

// Whether both stages have the same rules and footings in the same order. They differ if rules of the
// document cut labels into another number of pieces.
static bool is_same( const tr_stage *a, const tr_stage *b )
{
    bool same = a->rule_count == b->rule_count;
    for ( int r = 0; same && r < a->rule_count; ++r )
        same = a->rules[r].kind == b->rules[r].kind && strcmp( a->rules[r].id, b->rules[r].id ) == 0;
    for ( int i = 0; same && i < a->actor_count; ++i ) {
        const tr_actor *p = &a->actors[i], *q = &b->actors[i];
        same = p->footing_count == q->footing_count && ( p->lift != NULL ) == ( q->lift != NULL );
        for ( int k = 0; same && k < p->footing_count; ++k )
            same = p->footings[k].joint == q->footings[k].joint;
    }
    return same;
}

// The rule fades by the moments of the frames. Its eases on the new time are at least as long.
static void replay_fading( tr_rule *rule, const tr_rule *from, const double *when, int count )
{
    if ( when == NULL )
        return;
    rule->before.when = when;
    rule->before.first = from->first;
    rule->before.last = from->last;
    rule->before.ease_in = from->ease_in;
    rule->before.ease_out = from->ease_out;
    int begin = first_from( when, count, from->first - from->ease_in - 1 ),
        end = first_from( when, count, from->last + from->ease_out + 1 );
    rule->ease_in = fmax( rule->ease_in, rule->first - begin );
    rule->ease_out = fmax( rule->ease_out, end - rule->last );
}

bool tr_stage_replay_groups( tr_stage *stage, const tr_stage *before, tr_error *error )
{
    stage->groups = tr_alloc( (size_t)before->group_count, sizeof( tr_group ) );
    if ( stage->groups == NULL )
        return tr_error_memory( error );
    stage->group_count = before->group_count;
    memcpy( stage->groups, before->groups, (size_t)stage->group_count * sizeof *stage->groups );
    for ( int i = 0; i < stage->actor_count; ++i )
        stage->actors[i].group = before->actors[i].group;
    for ( int p = 0; p < stage->prop_count; ++p )
        stage->props[p].group = before->props[p].group;
    return true;
}

void tr_stage_replay( tr_stage *stage, const tr_stage *before )
{
    if ( !is_same( stage, before ) )
        return;
    for ( int r = 0; r < stage->rule_count; ++r ) {
        tr_rule *rule = &stage->rules[r];
        replay_fading( rule, &before->rules[r], stage->times->when[tr_anchor_node( stage, &rule->a )],
                       stage->frame_count );
        if ( rule->kind != TR_CONSTRAINT_CONTACT || rule->given )
            continue;
        rule->source_place = before->rules[r].source_place;
        rule->floor = before->rules[r].floor;
        rule->above = before->rules[r].above;
        rule->target = before->rules[r].target;
    }
    for ( int i = 0; i < stage->actor_count; ++i ) {
        tr_actor *to = &stage->actors[i];
        const tr_actor *from = &before->actors[i];
        for ( int f = 0; f < stage->frame_count; ++f ) {
            moment m = moment_at( stage->times->when[i], f, before->frame_count );
            for ( int k = 0; k < to->footing_count; ++k )
                replay_footing( &to->footings[k], &from->footings[k], m, f );
            if ( to->lift != NULL )
                to->lift[f] = lerpd( from->lift[m.low], from->lift[m.high], m.part );
        }
    }
}
