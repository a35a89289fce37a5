// Automatic rules: every labelled contact becomes one, every flat foot keeps its sole flat, and a character
// with `balance` keeps its centre of mass over the support. Where a clip follows another, feet that stand are
// held through the seam, and the pelvis keeps its path.
#include "stage/private.h"

#include <stdio.h>
#include <string.h>

// ----------------------------------------------------------------------------------------------- contacts

// Contacts of a foot with ground or environment become stances, see footing.c. On a prop a joint keeps its
// place on the prop, and a prop that rests on the ground its own.
static vec3 mean_place( const tr_stage *stage, const tr_rule *rule )
{
    vec3 sum = v3_zero;
    int first, last;
    tr_rule_frames( stage, rule, &first, &last );
    for ( int f = first; f <= last; ++f ) {
        vec3 p = tr_anchor_source( stage, &rule->a, f );
        if ( rule->surface_prop >= 0 )
            p = rigid_apply( rigid_inverse( stage->props[rule->surface_prop].track[f] ), p );
        sum = v3_add( sum, p );
    }
    return v3_scale( 1.0 / ( last - first + 1 ), sum );
}

// A contact of the document with the ground may be on the floor or on an obstacle that stands there.
static void find_surface( const tr_stage *stage, tr_rule *rule )
{
    double size = rule->a.prop >= 0 ? 0.5 * stage->props[rule->a.prop].shape.size.y : 0;
    int below = rule->surface_prop < 0 && rule->obstacle < 0
                    ? tr_stage_obstacle_below( stage, mean_place( stage, rule ), size )
                    : -1;
    if ( below >= 0 )
        tr_rule_set_obstacle( stage, rule, below );
}

static void place_contact( const tr_stage *stage, tr_rule *rule )
{
    rule->source_place = mean_place( stage, rule );
    rule->target = rule->surface_prop >= 0
                       ? v3_scale( stage->props[rule->surface_prop].scale, rule->source_place )
                       : tr_rule_landing( stage, rule, rule->source_place );
}

// -------------------------------------------------------------------------------------------------- lifts

bool tr_rule_is_lift( const tr_rule *rule )
{
    return rule->kind == TR_CONSTRAINT_CONTACT && !rule->hard && rule->weight == 0 && rule->a.actor >= 0;
}

// Removes frames from a label, which may split it into two. `*at` becomes the index of the next label.
static bool cut_label( tr_contacts *contacts, int *at, int first, int last )
{
    tr_contact *label = &contacts->items[*at], tail = *label;
    bool before = label->first<first, after = label->last> last;
    tail.first = last + 1;
    if ( before && after ) {
        if ( !tr_array_reserve( (void **)&contacts->items, &contacts->capacity, contacts->count + 1,
                                sizeof *contacts->items ) )
            return false;
        label = &contacts->items[*at];
        memmove( label + 2, label + 1, (size_t)( contacts->count - *at - 1 ) * sizeof *label );
        label[1] = tail;
        ++contacts->count;
        ++*at;
    } else if ( after )
        *label = tail;
    if ( before )
        label->last = first - 1;
    else if ( !after ) {
        memmove( label, label + 1, (size_t)( contacts->count - *at - 1 ) * sizeof *label );
        --contacts->count;
        --*at;
    }
    ++*at;
    return true;
}

// ------------------------------------------------------------------------------------------------- rules

static bool anchor_holds( const tr_stage *stage, const tr_anchor *anchor, int actor, int joint )
{
    if ( anchor->actor != actor )
        return false;
    for ( int i = 0; i < anchor->count; ++i )
        if ( tr_same_extremity( &stage->actors[actor].target, anchor->joints[i], joint ) )
            return true;
    return false;
}

bool tr_stage_lift( tr_stage *stage, const tr_rule *rule, tr_error *error )
{
    tr_actor *actor = &stage->actors[rule->a.actor];
    for ( int i = 0; i < actor->contacts.count; ) {
        const tr_contact *label = &actor->contacts.items[i];
        int joint = tr_actor_target_joint( actor, label->joint );
        bool mine = joint >= 0 && label->first <= rule->last && label->last >= rule->first &&
                    anchor_holds( stage, &rule->a, rule->a.actor, joint );
        if ( !mine )
            ++i;
        else if ( !cut_label( &actor->contacts, &i, rule->first, rule->last ) )
            return tr_error_memory( error );
    }
    return true;
}

bool tr_rule_holds( const tr_stage *stage, const tr_rule *rule, int actor, int joint )
{
    bool places = rule->kind == TR_CONSTRAINT_RELATIVE || rule->kind == TR_CONSTRAINT_CONTACT ||
                  rule->kind == TR_CONSTRAINT_ABSOLUTE;
    return places &&
           ( anchor_holds( stage, &rule->a, actor, joint ) || anchor_holds( stage, &rule->b, actor, joint ) );
}

typedef struct automation {
    tr_stage *stage;
    int *begin, *rules; // rules of the document by actor: tr_rules_by_actor
} automation;

// Whether a constraint of the document holds the joint in any of these frames. Then it replaces the automatic
// rule, unless it is a held frame.
static bool held_by_user( const automation *a, int actor, int joint, int first, int last )
{
    const tr_stage *stage = a->stage;
    for ( int i = a->begin[actor]; i < a->begin[actor + 1]; ++i ) {
        const tr_rule *rule = &stage->rules[a->rules[i]];
        if ( !rule->partners && rule->first <= last && first <= rule->last &&
             tr_rule_holds( stage, rule, actor, joint ) )
            return true;
    }
    return false;
}

static tr_rule *append_automatic( tr_stage *stage, int actor, int joint, const tr_contact *contact,
                                  tr_constraint_kind kind )
{
    tr_rule *rule = tr_rule_append( stage );
    if ( rule == NULL )
        return NULL;
    snprintf( rule->id, sizeof rule->id, "auto_%.14s_%d", stage->scene->cast[actor].id, stage->rule_count );
    rule->kind = kind;
    rule->a.actor = actor;
    rule->a.joints[0] = joint;
    rule->a.weights[0] = 1;
    rule->a.count = 1;
    rule->first = contact->first;
    rule->last = contact->last;
    rule->ease_in = rule->ease_out = ceil( stage->def.rules.contact_ease * stage->fps );
    rule->floor = stage->ground;
    return rule;
}

static bool is_hand( const tr_joint *joint )
{
    return joint->role == TR_ROLE_HAND || joint->role == TR_ROLE_FINGER;
}

// The next target joint after `after` that a label applies to, or -1: a joint that the labelled joint alone
// drives, one for each hand or foot. A person's hands do not stand where a wolf's front paws do.
static int next_touching( const tr_actor *body, const tr_contact *contact, int after )
{
    bool from_foot = !is_hand( &body->source.skeleton.joints[contact->joint] );
    for ( int j = after + 1; j < body->target.joint_count; ++j ) {
        bool first = body->map[j] == contact->joint && !tr_joint_blends( body, j ) &&
                     tr_role_is_extremity( body->target.joints[j].role ) &&
                     !( from_foot && is_hand( &body->target.joints[j] ) );
        for ( int k = 0; first && k < j; ++k )
            first = body->map[k] != contact->joint || tr_joint_blends( body, k ) ||
                    tr_extremity_carrier( &body->target, k ) != tr_extremity_carrier( &body->target, j );
        if ( first )
            return j;
    }
    return -1;
}

static bool touch_joint( const automation *a, int actor, int joint, const tr_contact *contact,
                         tr_error *error )
{
    tr_stage *stage = a->stage;
    const tr_actor *body = &stage->actors[actor];
    if ( held_by_user( a, actor, joint, contact->first, contact->last ) )
        return true;
    if ( stage->scene->cast[actor].contacts ) {
        tr_rule *rule = append_automatic( stage, actor, joint, contact, TR_CONSTRAINT_CONTACT );
        if ( rule == NULL )
            return tr_error_memory( error );
        if ( contact->surface == TR_SURFACE_PROP ) {
            rule->surface_prop = contact->surface_index;
            rule->floor = 0;
        } else if ( contact->surface == TR_SURFACE_ENVIRONMENT )
            tr_rule_set_obstacle( stage, rule, contact->surface_index );
        place_contact( stage, rule );
    }
    bool sole = body->target.joints[joint].role == TR_ROLE_FOOT && contact->surface != TR_SURFACE_PROP;
    if ( sole && stage->scene->cast[actor].soles ) {
        tr_rule *rule = append_automatic( stage, actor, joint, contact, TR_CONSTRAINT_ORIENTATION );
        if ( rule == NULL )
            return tr_error_memory( error );
        rule->flat = true;
    }
    return true;
}

static bool automate_contact( const automation *a, int actor, const tr_contact *contact, tr_error *error )
{
    int joint = -1;
    while ( ( joint = next_touching( &a->stage->actors[actor], contact, joint ) ) >= 0 )
        if ( !touch_joint( a, actor, joint, contact, error ) )
            return false;
    return true;
}

static bool automate_balance( tr_stage *stage, int actor, tr_error *error )
{
    const tr_contact always = { .first = 0, .last = stage->frame_count - 1 };
    tr_rule *rule = append_automatic( stage, actor, 0, &always, TR_CONSTRAINT_CENTRE_OF_MASS );
    if ( rule == NULL )
        return tr_error_memory( error );
    rule->a.count = 0; // the whole body
    rule->ease_in = rule->ease_out = 0;
    return true;
}

// -------------------------------------------------------------------------------------------------- seams

static tr_rule *append_seam( tr_stage *stage, int actor, int seam, int number, int joint )
{
    const tr_seam *at = &stage->actors[actor].seams[seam];
    int last = stage->frame_count - 1, from = at->frame - at->blend, to = at->frame + at->blend;
    const tr_contact window = { .first = from > 0 ? from : 0, .last = to < last ? to : last };
    tr_rule *rule = append_automatic( stage, actor, joint, &window, TR_CONSTRAINT_ABSOLUTE );
    if ( rule != NULL )
        snprintf( rule->id, sizeof rule->id, "auto_%.12s_seam%d_%d", stage->scene->cast[actor].id, seam + 1,
                  number );
    return rule;
}

// Horizontally only: the legs decide the height of the pelvis.
static bool keep_way( tr_stage *stage, int actor, int seam, tr_error *error )
{
    tr_rule *rule = append_seam( stage, actor, seam, 0, tr_actor_pelvis( &stage->actors[actor] ) );
    if ( rule == NULL )
        return tr_error_memory( error );
    rule->hard = rule->axis[1] = false;
    rule->weight = stage->def.seams.pelvis_weight;
    return true;
}

static bool automate_seam( const automation *a, int actor, int seam, tr_error *error )
{
    tr_stage *stage = a->stage;
    const tr_actor *body = &stage->actors[actor];
    int frame = body->seams[seam].frame, number = 0;
    if ( body->seams[seam].blend == 0 || frame < 0 || frame >= stage->frame_count )
        return true;
    if ( !keep_way( stage, actor, seam, error ) )
        return false;
    for ( int c = 0; c < body->contacts.count; ++c ) {
        const tr_contact *contact = &body->contacts.items[c];
        int joint = next_touching( body, contact, -1 );
        bool through = contact->first < frame && frame < contact->last && contact->surface != TR_SURFACE_PROP;
        if ( !through || joint < 0 || held_by_user( a, actor, joint, contact->first, contact->last ) )
            continue;
        tr_rule *rule = append_seam( stage, actor, seam, ++number, joint );
        if ( rule == NULL )
            return tr_error_memory( error );
        rule->stands = true;
        rule->first = rule->first > contact->first ? rule->first : contact->first;
        rule->last = rule->last < contact->last ? rule->last : contact->last;
        if ( contact->surface == TR_SURFACE_ENVIRONMENT )
            tr_rule_set_obstacle( stage, rule, contact->surface_index );
    }
    return true;
}

static bool automate_actor( const automation *a, int actor, tr_error *error )
{
    tr_stage *stage = a->stage;
    for ( int c = 0; c < stage->actors[actor].contacts.count; ++c )
        if ( !automate_contact( a, actor, &stage->actors[actor].contacts.items[c], error ) )
            return false;
    if ( stage->scene->cast[actor].balance && !automate_balance( stage, actor, error ) )
        return false;
    for ( int s = 0; s < stage->actors[actor].seam_count; ++s )
        if ( !automate_seam( a, actor, s, error ) )
            return false;
    return true;
}

bool tr_stage_automate( tr_stage *stage, tr_error *error )
{
    for ( int r = 0; r < stage->rule_count; ++r )
        if ( stage->rules[r].kind == TR_CONSTRAINT_CONTACT && !stage->rules[r].given ) {
            find_surface( stage, &stage->rules[r] );
            place_contact( stage, &stage->rules[r] );
        }
    automation a = { .stage = stage };
    bool ok = tr_rules_by_actor( stage, &a.begin, &a.rules ) || tr_error_memory( error );
    for ( int i = 0; ok && i < stage->actor_count; ++i )
        ok = automate_actor( &a, i, error );
    tr_free( a.begin );
    tr_free( a.rules );
    return ok && tr_stage_stand( stage, error );
}
