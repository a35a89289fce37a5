// Everything that could not be kept, in one list: rules, handles, what the interaction mesh lost or had no
// room for.
#include "result/private.h"

#include <stdlib.h>

static void anchor_end( const tr_stage *stage, const tr_anchor *anchor, int *member, int *joint )
{
    *member = anchor->actor >= 0 ? anchor->actor : anchor->prop >= 0 ? stage->actor_count + anchor->prop : -1;
    *joint = anchor->actor >= 0 && anchor->count > 0 ? anchor->joints[0] : -1;
}

static bool add( tr_losses *out, const tr_loss *loss )
{
    if ( !tr_array_reserve( (void **)&out->items, &out->capacity, out->count + 1, sizeof *out->items ) )
        return false;
    out->items[out->count++] = *loss;
    return true;
}

// What a contact rests on, beside the ground: a prop or a box of the environment.
static int surface_of( const tr_stage *stage, const tr_rule *rule )
{
    if ( rule->kind != TR_CONSTRAINT_CONTACT )
        return -1;
    return rule->surface_prop >= 0 ? stage->actor_count + rule->surface_prop
           : rule->obstacle >= 0   ? stage->actor_count + stage->prop_count + rule->obstacle
                                   : -1;
}

static bool add_rules( tr_losses *out, const tr_stage *stage, const tr_result *result )
{
    for ( int r = 0; r < result->rule_count; ++r ) {
        const tr_rule *rule = &stage->rules[r];
        tr_loss loss = { .kind = TR_LOSS_RULE,
                         .index = r,
                         .frame = result->reports[r].worst_frame,
                         .metres = 1e-3 * result->reports[r].max_mm };
        if ( !result->reports[r].gave_way )
            continue;
        anchor_end( stage, &rule->a, &loss.members[0], &loss.joints[0] );
        anchor_end( stage, &rule->b, &loss.members[1], &loss.joints[1] );
        if ( loss.members[1] < 0 )
            loss.members[1] = surface_of( stage, rule );
        if ( !add( out, &loss ) )
            return false;
    }
    return true;
}

static bool add_handles( tr_losses *out, const tr_stage *stage, const tr_result *result )
{
    for ( int h = 0; h < result->handle_count; ++h ) {
        tr_loss loss = { .kind = TR_LOSS_HANDLE,
                         .index = h,
                         .members = { -1, -1 },
                         .joints = { -1, -1 },
                         .frame = stage->scene->handles[h].frame - stage->scene->first,
                         .metres = 1e-3 * result->handles[h].error_mm };
        if ( !tr_handle_gave_way( stage, &result->handles[h] ) )
            continue;
        anchor_end( stage, &stage->handles[h], &loss.members[0], &loss.joints[0] );
        if ( !add( out, &loss ) )
            return false;
    }
    return true;
}

// A part of a body of the mesh as the joint that carries it.
static void mesh_end( const tr_stage *stage, const tr_mesh_report *report, int which, int part, int *member,
                      int *joint )
{
    *member = which >= 0 ? report->members[which] : -1;
    bool body = part >= 0 && *member >= 0 && *member < stage->actor_count;
    *joint = body ? stage->actors[*member].body.capsules[part].parent : -1;
}

static bool add_mesh( tr_losses *out, const tr_stage *stage, const tr_mesh_report *report, tr_loss_kind kind )
{
    bool touch = kind == TR_LOSS_TOUCH;
    const tr_imesh_loss *items = touch ? report->mesh.lost : report->mesh.no_room;
    int count = touch ? report->mesh.lost_count : report->mesh.no_room_count;
    for ( int i = 0; i < count; ++i ) {
        tr_loss loss = {
            .kind = kind, .index = -1, .frame = report->first + items[i].worst, .metres = items[i].amount };
        mesh_end( stage, report, items[i].a, items[i].part_a, &loss.members[0], &loss.joints[0] );
        mesh_end( stage, report, items[i].b, items[i].part_b, &loss.members[1], &loss.joints[1] );
        if ( !add( out, &loss ) )
            return false;
    }
    return true;
}

// The farthest off first; equals by kind and as they are in the document.
static int by_metres( const void *a, const void *b )
{
    const tr_loss *p = a, *q = b;
    if ( p->metres != q->metres )
        return p->metres < q->metres ? 1 : -1;
    if ( p->kind != q->kind )
        return p->kind < q->kind ? -1 : 1;
    if ( p->index != q->index )
        return p->index < q->index ? -1 : 1;
    return ( p->frame > q->frame ) - ( p->frame < q->frame );
}

bool tr_losses_find( tr_losses *out, const tr_stage *stage, const tr_result *result, tr_error *error )
{
    *out = ( tr_losses ){ 0 };
    bool ok = add_rules( out, stage, result ) && add_handles( out, stage, result );
    for ( int i = 0; ok && i < result->mesh_count; ++i )
        ok = add_mesh( out, stage, &result->meshes[i], TR_LOSS_NO_ROOM ) &&
             add_mesh( out, stage, &result->meshes[i], TR_LOSS_TOUCH );
    if ( !ok ) {
        tr_losses_free( out );
        return tr_error_memory( error );
    }
    if ( out->count > 1 )
        qsort( out->items, (size_t)out->count, sizeof *out->items, by_metres );
    return true;
}

void tr_losses_free( tr_losses *losses )
{
    tr_free( losses->items );
    *losses = ( tr_losses ){ 0 };
}
