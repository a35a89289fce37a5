// Attached props: they are not grabbed, but held by a character that is grabbed or follows, and move and turn
// with it.
//
// Every carrier of a prop at a frame counts by the strength of its hold. A carrier that moves passes on its
// motion as a whole; one that does not move keeps the prop where it is. Where holds fade in or out, the rest
// of the weight goes to the prop's place in the result below. So a box follows the hands that hold it, and
// ends where it was put down before the edit.
#include "layer/private.h"

#include <stdlib.h>

typedef struct tr_carrier { // a character that a rule joins to a prop
    int prop, actor, rule;
} tr_carrier;

static int by_prop_and_actor( const void *a, const void *b )
{
    const tr_carrier *p = a, *q = b;
    if ( p->prop != q->prop )
        return p->prop < q->prop ? -1 : 1;
    if ( p->actor != q->actor )
        return p->actor < q->actor ? -1 : 1;
    return ( p->rule > q->rule ) - ( p->rule < q->rule );
}

static bool carries( const tr_cage_layer *l, int r, tr_carrier *out )
{
    const tr_rule *rule = &l->stage->rules[r];
    int prop = rule->a.prop >= 0 ? rule->a.prop : rule->b.prop;
    *out = ( tr_carrier ){ prop, rule->a.prop >= 0 ? rule->b.actor : rule->a.actor, r };
    int node = prop >= 0 ? l->stage->actor_count + prop : -1;
    return rule->kind == TR_CONSTRAINT_RELATIVE && node >= 0 && out->actor >= 0 && l->linked[node] &&
           l->body_of[node] < 0;
}

bool tr_attached_build( tr_cage_layer *l, tr_error *error )
{
    tr_carrier carrier;
    int count = 0;
    for ( int r = 0; r < l->stage->rule_count; ++r )
        count += carries( l, r, &carrier );
    if ( count == 0 )
        return true;
    l->carriers = tr_alloc( (size_t)count, sizeof( tr_carrier ) );
    if ( l->carriers == NULL )
        return tr_error_memory( error );
    for ( int r = 0; r < l->stage->rule_count; ++r )
        if ( carries( l, r, &carrier ) )
            l->carriers[l->carrier_count++] = carrier;
    qsort( l->carriers, (size_t)count, sizeof( tr_carrier ), by_prop_and_actor );
    return true;
}

void tr_attached_free( tr_cage_layer *l )
{
    tr_free( l->carriers );
}

typedef struct votes { // votes of its holders about a prop
    vec3 move, turn;
    double weight;
} votes;

// Adds the vote of one actor, with the holds carriers[from … to − 1].
static void add_vote( tr_cage_layer *l, int from, int to, int frame, rigid place, votes *sum )
{
    double strength = 0;
    for ( int i = from; i < to; ++i )
        strength = fmax( strength, tr_rule_strength( &l->stage->rules[l->carriers[i].rule], frame ) );
    sum->weight += strength;
    const tr_moved_frame *moved = strength > 0 ? tr_moved_whole( l, l->carriers[from].actor, frame ) : NULL;
    if ( moved == NULL )
        return;
    vec3 there = tr_moved_place( l, l->carriers[from].actor, frame, place.position );
    sum->move = v3_mad( sum->move, strength, v3_sub( there, place.position ) );
    sum->turn = v3_mad( sum->turn, strength, q_to_vector( moved->turn ) );
}

static void carry( tr_cage_layer *l, int from, int to, int frame )
{
    int prop = l->carriers[from].prop;
    rigid place = l->below->tracks[prop][frame];
    votes sum = { 0 };
    for ( int i = from, next; i < to; i = next ) {
        for ( next = i; next < to && l->carriers[next].actor == l->carriers[i].actor; )
            ++next;
        add_vote( l, i, next, frame, place, &sum );
    }
    double part = 1 / fmax( sum.weight, 1 );
    if ( v3_length( sum.move ) + v3_length( sum.turn ) == 0 )
        return;
    place.position = v3_mad( place.position, part, sum.move );
    place.rotation = q_unit( q_mul( q_from_vector( v3_scale( part, sum.turn ) ), place.rotation ) );
    l->result->tracks[prop][frame] = place;
    *tr_cage_layer_touched( l, l->stage->actor_count + prop, frame ) = true;
}

void tr_attached_frames( tr_cage_layer *l, int node, const tr_some_frames *frames )
{
    int prop = node - l->stage->actor_count, first = 0, end;
    while ( first < l->carrier_count && l->carriers[first].prop < prop )
        ++first;
    for ( end = first; end < l->carrier_count && l->carriers[end].prop == prop; )
        ++end;
    for ( int f = frames->first; first < end && f <= frames->last; ++f )
        if ( tr_some_have( frames, f ) )
            carry( l, first, end, f );
}
