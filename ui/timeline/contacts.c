// Contacts of hands and feet, and painting them: over an empty part of a lane a contact is added, over one
// that is there it is taken away.
#include "ui/timeline/private.h"

#include <stdio.h>
#include <string.h>

static struct nk_color surface_colour( tr_surface_kind kind )
{
    const tr_theme *t = &tr_theme_dark;
    return kind == TR_SURFACE_GROUND ? t->contact : kind == TR_SURFACE_PROP ? t->prop : t->cool;
}

// A constraint of weight 0 takes contacts back.
static bool is_lift( const tr_constraint *c )
{
    return !c->hard && c->weight == 0;
}

// Does a constraint of the document set this limb's contact?
static bool is_of_limb( const tr_shown *shown, const tr_constraint *c, int actor, int limb )
{
    const tr_actor *a = &shown->stage->actors[actor];
    if ( c->kind != TR_CONSTRAINT_CONTACT || strcmp( c->a.who, shown->stage->scene->cast[actor].id ) != 0 )
        return false;
    int joint;
    vec3 beyond;
    bool named = c->a.term_count > 0 && tr_actor_find_joint( a, c->a.terms[0].joint, &joint, &beyond );
    int source = named ? a->map[joint] : -1;
    return source >= 0 && a->source.skeleton.joints[source].limb == limb;
}

// -------------------------------------------------------------------------------------------------- drawing

static void draw_lane( const tr_shown *shown, const tr_chart *c, const tr_row *row, int limb )
{
    const tr_actor *actor = &shown->stage->actors[row->index];
    const tr_scene *scene = shown->stage->scene;
    float height, top = tr_row_lane( shown, row, limb, &height );
    for ( int i = 0; i < actor->contacts.count; ++i ) {
        const tr_contact *contact = &actor->contacts.items[i];
        if ( actor->source.skeleton.joints[contact->joint].limb == limb )
            tr_chart_bar( c, contact->first, contact->last, top, height, surface_colour( contact->surface ) );
    }
    for ( int i = 0; i < scene->constraint_count; ++i ) { // the user's own are brighter
        const tr_constraint *k = &scene->constraints[i];
        if ( !is_of_limb( shown, k, row->index, limb ) || is_lift( k ) )
            continue;
        struct nk_color colour =
            surface_colour( tr_scene_find_prop( scene, k->surface ) >= 0       ? TR_SURFACE_PROP
                            : tr_scene_find_obstacle( scene, k->surface ) >= 0 ? TR_SURFACE_ENVIRONMENT
                                                                               : TR_SURFACE_GROUND );
        tr_chart_bar( c, k->first - scene->first, k->last - scene->first, top, height, colour );
        tr_chart_bar( c, k->first - scene->first, k->last - scene->first, top, 2, tr_theme_dark.text );
    }
}

void tr_contacts_draw( tr_ui *ui, const tr_shown *shown, const tr_chart *c, const tr_row *row )
{
    const tr_skeleton *skeleton = &shown->stage->actors[row->index].source.skeleton;
    const tr_time_hold *hold = &ui->time;
    for ( int i = 0; i < skeleton->limb_count; ++i )
        if ( skeleton->limbs[i].kind == TR_LIMB_ARM || skeleton->limbs[i].kind == TR_LIMB_LEG )
            draw_lane( shown, c, row, i );
    if ( hold->grip != TR_GRIP_CONTACT || strcmp( hold->who, tr_row_id( shown, row ) ) != 0 )
        return;
    float height, top = tr_row_lane( shown, row, hold->limb, &height );
    int first = hold->from < hold->now ? hold->from : hold->now, last = hold->from + hold->now - first;
    tr_chart_bar( c, first, last, top - 2, height + 4,
                  hold->erase ? tr_theme_dark.bad : surface_colour( TR_SURFACE_GROUND ) );
    tr_chart_bar( c, first, last, top - 2, 1.5f, tr_theme_dark.accent );
    tr_chart_bar( c, first, last, top + height + 0.5f, 1.5f, tr_theme_dark.accent );
}

// -------------------------------------------------------------------------------------------------- picking

static bool rests( const tr_shown *shown, int actor, int limb, int frame )
{
    const tr_actor *a = &shown->stage->actors[actor];
    const tr_scene *scene = shown->stage->scene;
    for ( int i = 0; i < a->contacts.count; ++i ) {
        const tr_contact *c = &a->contacts.items[i];
        if ( a->source.skeleton.joints[c->joint].limb == limb && frame >= c->first && frame <= c->last )
            return true;
    }
    for ( int i = 0; i < scene->constraint_count; ++i ) {
        const tr_constraint *k = &scene->constraints[i];
        if ( is_of_limb( shown, k, actor, limb ) && !is_lift( k ) && frame >= k->first - scene->first &&
             frame <= k->last - scene->first )
            return true;
    }
    return false;
}

tr_time_hold tr_contacts_pick( const tr_shown *shown, const tr_row *row, int limb, int frame )
{
    tr_time_hold hold = { .grip = TR_GRIP_CONTACT, .from = frame, .limb = limb };
    snprintf( hold.who, sizeof hold.who, "%s", tr_row_id( shown, row ) );
    hold.erase = rests( shown, row->index, limb, frame );
    return hold;
}

// ------------------------------------------------------------------------------------------------------ ops

typedef struct painting {
    const tr_shown *shown;
    tr_ops *ops;
    tr_put *put;
    int actor, limb;
    int first, last; // frames of the document
    int made;        // constraints so far
    char point[160];
    tr_id surface;
} painting;

static void new_id( painting *p, const char *stem, tr_id out )
{
    for ( int n = 1, free = 0;; ++n ) {
        snprintf( out, TR_ID_MAX, "%s%d", stem, n );
        free += tr_scene_find_constraint( p->shown->scene, out ) < 0;
        if ( free > p->made ) {
            ++p->made;
            return;
        }
    }
}

// The foot or hand at the end of the limb.
static bool find_point( painting *p )
{
    const tr_actor *a = &p->shown->stage->actors[p->actor];
    for ( int j = 0; j < a->target.joint_count; ++j ) {
        int from = a->map[j];
        tr_role role = a->target.joints[j].role;
        tr_item item = tr_item_make( TR_ITEM_CAST, p->shown->stage->scene->cast[p->actor].id, j );
        if ( from >= 0 && a->source.skeleton.joints[from].limb == p->limb &&
             ( role == TR_ROLE_FOOT || role == TR_ROLE_HAND ) )
            return tr_item_point( p->shown, &item, p->point, sizeof p->point );
    }
    return false;
}

// Takes some frames out of a constraint.
static void cut( painting *p, const tr_constraint *c, int first, int last )
{
    tr_id id;
    bool before = c->first<first, after = c->last> last;
    if ( before )
        p->put( p->ops, "constraint_set id=%s range=%d,%d", c->id, c->first, first - 1 );
    if ( before && after ) {
        new_id( p, "contact", id );
        p->put( p->ops, "constraint_copy id=%s to=%s range=%d,%d", c->id, id, last + 1, c->last );
    } else if ( after )
        p->put( p->ops, "constraint_set id=%s range=%d,%d", c->id, last + 1, c->last );
    else if ( !before )
        p->put( p->ops, "constraint_remove id=%s", c->id );
}

// What is painted together with what it touches: one contact, on the surface that was there.
static void grow( painting *p, int first, int last, const char *surface )
{
    if ( last < p->first - 1 || first > p->last + 1 )
        return;
    p->first = first < p->first ? first : p->first;
    p->last = last > p->last ? last : p->last;
    snprintf( p->surface, sizeof p->surface, "%s", surface );
}

static void grow_by_labels( painting *p )
{
    const tr_actor *a = &p->shown->stage->actors[p->actor];
    const tr_scene *scene = p->shown->stage->scene;
    for ( int i = 0; i < a->contacts.count; ++i ) {
        const tr_contact *c = &a->contacts.items[i];
        if ( a->source.skeleton.joints[c->joint].limb == p->limb )
            grow( p, c->first + scene->first, c->last + scene->first,
                  c->surface == TR_SURFACE_PROP          ? scene->props[c->surface_index].id
                  : c->surface == TR_SURFACE_ENVIRONMENT ? scene->obstacles[c->surface_index].id
                                                         : "ground" );
    }
}

static void paint_on( painting *p )
{
    const tr_scene *scene = p->shown->scene;
    const tr_constraint *kept = NULL;
    int first = p->first, last = p->last;
    bool lifted = false; // all of it: what was there before is back
    grow_by_labels( p );
    for ( int i = 0; i < scene->constraint_count; ++i ) {
        const tr_constraint *c = &scene->constraints[i];
        if ( !is_of_limb( p->shown, c, p->actor, p->limb ) )
            continue;
        if ( is_lift( c ) && c->last >= first && c->first <= last )
            cut( p, c, first, last );
        lifted |= is_lift( c ) && c->first <= first && c->last >= last;
        bool touches = !is_lift( c ) && c->last >= p->first - 1 && c->first <= p->last + 1;
        if ( touches && kept != NULL )
            p->put( p->ops, "constraint_remove id=%s", c->id );
        if ( touches ) {
            grow( p, c->first, c->last, c->surface );
            kept = kept != NULL ? kept : c;
        }
    }
    tr_id id;
    if ( kept != NULL )
        p->put( p->ops, "constraint_set id=%s range=%d,%d", kept->id, p->first, p->last );
    else if ( !lifted ) {
        new_id( p, "contact", id );
        p->put( p->ops, "constraint_add id=%s kind=contact a=\"%s\" surface=%s range=%d,%d ease=4,4", id,
                p->point, p->surface, p->first, p->last );
    }
}

static void paint_off( painting *p )
{
    const tr_scene *scene = p->shown->scene;
    const tr_actor *a = &p->shown->stage->actors[p->actor];
    tr_id id;
    bool labelled = false;
    for ( int i = 0; i < scene->constraint_count; ++i ) {
        const tr_constraint *c = &scene->constraints[i];
        if ( is_of_limb( p->shown, c, p->actor, p->limb ) && !is_lift( c ) && c->last >= p->first &&
             c->first <= p->last )
            cut( p, c, p->first, p->last );
    }
    for ( int i = 0; i < a->contacts.count; ++i ) {
        const tr_contact *c = &a->contacts.items[i];
        labelled |= a->source.skeleton.joints[c->joint].limb == p->limb &&
                    c->last + scene->first >= p->first && c->first + scene->first <= p->last;
    }
    if ( !labelled )
        return;
    new_id( p, "lift", id );
    p->put( p->ops,
            "constraint_add id=%s kind=contact a=\"%s\" surface=ground range=%d,%d hard=false weight=0", id,
            p->point, p->first, p->last );
}

void tr_contacts_put( const tr_shown *shown, const tr_time_hold *hold, int now, tr_ops *ops, tr_put *put )
{
    const tr_scene *scene = shown->scene;
    painting p = { .shown = shown, .ops = ops, .put = put, .limb = hold->limb, .surface = "ground" };
    p.actor = tr_scene_find_cast( shown->stage->scene, hold->who );
    int from = hold->from < now ? hold->from : now, to = hold->from + now - from;
    if ( p.actor < 0 || hold->limb >= shown->stage->actors[p.actor].source.skeleton.limb_count ||
         !find_point( &p ) )
        return;
    p.first = tr_stage_document_frame( shown->stage, scene, hold->who, 0, from );
    p.last = tr_stage_document_frame( shown->stage, scene, hold->who, 0, to );
    if ( hold->erase )
        paint_off( &p );
    else
        paint_on( &p );
}
