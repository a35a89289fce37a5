// What presses into what in the motion as it is, over all windows.
#include "closeness/relief.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct looking {
    tr_relief *relief;
    atomic_bool failed;
} looking;

// Whether an end of a rule is on the extremity, or other part, that a joint belongs to.
static bool is_on( const tr_stage *stage, const tr_anchor *anchor, int member, int joint )
{
    if ( anchor->actor < 0 || anchor->actor != member || anchor->count == 0 )
        return anchor->prop >= 0 && stage->actor_count + anchor->prop == member;
    const tr_skeleton *skeleton = &stage->actors[member].target;
    return tr_extremity_carrier( skeleton, anchor->joints[0] ) == tr_extremity_carrier( skeleton, joint );
}

static bool rests_on( const tr_stage *stage, const tr_rule *rule, int member )
{
    return rule->kind == TR_CONSTRAINT_CONTACT &&
           ( ( rule->surface_prop >= 0 && stage->actor_count + rule->surface_prop == member ) ||
             ( rule->obstacle >= 0 && stage->actor_count + stage->prop_count + rule->obstacle == member ) );
}

static int joint_of( const tr_stage *stage, int member, int part )
{
    return part < 0 ? -1 : stage->actors[member].body.capsules[part].joint;
}

// What a rule holds together is as deep as the rule has it.
static bool held_together( const tr_stage *stage, const tr_imesh_press *p )
{
    int joint_a = joint_of( stage, p->a, p->part_a ), joint_b = joint_of( stage, p->b, p->part_b );
    for ( int r = 0; r < stage->rule_count; ++r ) {
        const tr_rule *rule = &stage->rules[r];
        bool both = ( is_on( stage, &rule->a, p->a, joint_a ) &&
                      ( is_on( stage, &rule->b, p->b, joint_b ) || rests_on( stage, rule, p->b ) ) ) ||
                    ( is_on( stage, &rule->a, p->b, joint_b ) && is_on( stage, &rule->b, p->a, joint_a ) );
        if ( both && tr_rule_strength( rule, p->frame ) > 0 )
            return true;
    }
    return false;
}

static void keep_free( const tr_stage *stage, const tr_mesh_party *party, tr_imesh_presses *list )
{
    int kept = 0, all = party->work->member_count;
    for ( int i = 0; i < list->count; ++i ) {
        tr_imesh_press p = list->items[i];
        int a = -1, b = -1;
        for ( int m = 0; m < all; ++m ) {
            int at = party->place_of[m];
            if ( at < 0 )
                continue;
            at += tr_mesh_is_actor( stage, m ) ? 0 : party->cast.body_count;
            a = at == p.a ? m : a;
            b = at == p.b ? m : b;
        }
        assert( a >= 0 && b >= 0 ); // both are in the party
        p.a = a;
        p.b = b;
        p.frame += party->window->first;
        if ( !held_together( stage, &p ) )
            list->items[kept++] = p;
    }
    list->count = kept;
}

static void count_strays( const tr_relief *r, int window )
{
    const tr_imesh_window *in = &r->work->windows.items[window];
    for ( int f = in->first; f <= in->last; ++f ) {
        int *count = &r->strayed[window][f - in->first];
        *count = 0;
        for ( int m = 1; m < in->member_count; ++m )
            for ( int o = 0; o < m; ++o )
                *count += tr_touches_strayed( &r->touches, r->work, in->members[m], in->members[o], f );
    }
}

static void look_at_windows( void *context, int begin, int end )
{
    looking *l = context;
    const tr_mesh_work *w = l->relief->work;
    for ( int i = begin; i < end; ++i ) {
        if ( !l->relief->stale[i] )
            continue;
        tr_imesh_presses_free( &l->relief->found[i] );
        tr_mesh_party p = { .work = w, .window = &w->windows.items[i] };
        bool ok = tr_mesh_party_gather( &p );
        if ( ok && tr_imesh_presses_find( &l->relief->found[i], &p.cast, &p.def, TR_RELIEF_DEEP, NULL ) )
            keep_free( w->stage, &p, &l->relief->found[i] );
        else
            l->failed = true;
        tr_mesh_party_free( &p );
        count_strays( l->relief, i );
        l->relief->stale[i] = false;
    }
}

// Of two windows with the same two at a frame the deeper one comes first; they differ by nothing else.
static int by_frame( const void *a, const void *b )
{
    const tr_imesh_press *x = a, *y = b;
    int order = tr_imesh_press_order( x, y );
    return order != 0             ? order
           : x->frame != y->frame ? x->frame - y->frame
           : x->depth == y->depth ? 0
           : x->depth > y->depth  ? -1
                                  : 1;
}

static bool gather( tr_relief *r )
{
    r->now.count = 0;
    for ( int i = 0; i < r->work->windows.count; ++i )
        for ( int k = 0; k < r->found[i].count; ++k ) {
            if ( !tr_array_reserve( (void **)&r->now.items, &r->now.capacity, r->now.count + 1,
                                    sizeof *r->now.items ) )
                return false;
            r->now.items[r->now.count++] = r->found[i].items[k];
        }
    if ( r->now.count > 1 )
        qsort( r->now.items, (size_t)r->now.count, sizeof *r->now.items, by_frame );
    int kept = 0;
    for ( int i = 0; i < r->now.count; ++i )
        if ( kept == 0 || r->now.items[i].frame != r->now.items[kept - 1].frame ||
             tr_imesh_press_order( &r->now.items[i], &r->now.items[kept - 1] ) != 0 )
            r->now.items[kept++] = r->now.items[i];
    r->now.count = kept;
    return true;
}

bool tr_relief_look( tr_relief *r )
{
    looking l = { .relief = r };
    tr_parallel_for( r->work->windows.count, 1, look_at_windows, &l );
    return !l.failed && gather( r );
}
