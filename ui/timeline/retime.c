// Moments moved in time: a layer of kind retime, found or made, and a key in it.
#include "ui/timeline/private.h"

#include <stdio.h>
#include <string.h>

static const int least_reach = 30; // frames to either side of a moment that a new retiming may change

typedef struct moment {
    const tr_scene *scene;
    const char *members;
    int layer;   // layer of kind retime, -1 = to be made
    int section; // -1 = to be made
    int frame;   // frame of the document
    int first, last;
} moment;

static int find_retiming( const tr_shown *shown, const char *members, int stage_frame )
{
    const tr_scene *scene = shown->scene;
    for ( int i = 0; i < scene->layer_count; ++i ) {
        const tr_layer *l = &scene->layers[i];
        int frame = tr_stage_document_frame( shown->stage, scene, members, i, stage_frame );
        if ( l->kind == TR_LAYER_RETIME && tr_layer_is_active( scene, i ) &&
             strcmp( l->members, members ) == 0 && frame > l->first && frame < l->last )
            return i;
    }
    return -1;
}

static const char *members_of( const tr_scene *scene, const tr_time_hold *hold )
{
    int layer = tr_scene_find_layer( scene, hold->layer );
    return layer >= 0 ? scene->layers[layer].members : hold->who;
}

// Before anything is pulled: later the stage shown may be one on which the moment has moved already. A key
// that differs by a rounding is the same.
void tr_moment_find( const tr_shown *shown, tr_time_hold *hold )
{
    const tr_scene *scene = shown->scene;
    const char *members = members_of( scene, hold );
    int layer = tr_scene_find_layer( scene, hold->layer );
    if ( layer < 0 || scene->layers[layer].kind != TR_LAYER_RETIME )
        layer = find_retiming( shown, members, hold->from );
    hold->frame = tr_stage_document_frame( shown->stage, scene, members,
                                           layer >= 0 ? layer : scene->layer_count, hold->from );
    if ( layer < 0 )
        return;
    memcpy( hold->retiming, scene->layers[layer].id, sizeof hold->retiming );
    for ( int i = 0; hold->section[0] == 0 && i < scene->section_count; ++i )
        if ( strcmp( scene->sections[i].layer, hold->retiming ) == 0 &&
             abs( scene->sections[i].frame - hold->frame ) <= 1 )
            memcpy( hold->section, scene->sections[i].id, sizeof hold->section );
}

static moment moment_of( const tr_scene *scene, const tr_time_hold *hold )
{
    moment m = { .scene = scene,
                 .members = members_of( scene, hold ),
                 .layer = hold->retiming[0] != 0 ? tr_scene_find_layer( scene, hold->retiming ) : -1,
                 .section = -1,
                 .frame = hold->frame };
    if ( hold->section[0] != 0 )
        m.section = tr_scene_find_section( scene, hold->section );
    if ( m.section >= 0 )
        m.frame = scene->sections[m.section].frame;
    return m;
}

// Moments do not change places: between the ends of the window and the keys on either side.
static int keep_order( const moment *m, double delay )
{
    const tr_scene *scene = m->scene;
    double low = m->first + 1, high = m->last - 1;
    bool ripple = m->layer >= 0 && scene->layers[m->layer].ripple;
    for ( int i = 0; m->layer >= 0 && i < scene->section_count; ++i ) {
        const tr_section *s = &scene->sections[i];
        if ( i == m->section || strcmp( s->layer, scene->layers[m->layer].id ) != 0 )
            continue;
        if ( s->frame < m->frame )
            low = fmax( low, ripple ? m->frame + s->delay : s->frame + s->delay + 1 );
        else
            high = fmin( high, ripple ? m->frame + s->delay : s->frame + s->delay - 1 );
    }
    low = ripple ? fmax( low, m->frame ) : low;
    high = ripple ? fmax( high, m->frame + delay ) : high;
    return tr_nearest_frame( clampd( m->frame + delay, low, fmax( low, high ) ) ) - m->frame;
}

void tr_moment_layer( const tr_shown *shown, const tr_time_hold *hold, tr_id out )
{
    if ( hold->retiming[0] == 0 )
        tr_free_id( shown->scene, tr_scene_find_layer, "time", out );
    else
        memcpy( out, hold->retiming, sizeof hold->retiming );
}

void tr_moment_put( const tr_shown *shown, const tr_time_hold *hold, int now, tr_ops *ops, tr_put *put )
{
    const tr_scene *scene = shown->scene;
    moment m = moment_of( scene, hold );
    tr_id layer, section;
    int by = now - hold->from, reach = 2 * abs( by ) > least_reach ? 2 * abs( by ) : least_reach;
    double delay = by + ( m.section >= 0 ? scene->sections[m.section].delay : 0 );
    m.first = m.layer >= 0 ? scene->layers[m.layer].first : m.frame - reach;
    m.last = m.layer >= 0 ? scene->layers[m.layer].last : m.frame + reach;
    m.first = m.first > scene->first ? m.first : scene->first;
    m.last = m.last < scene->last ? m.last : scene->last;
    int whole = keep_order( &m, delay );
    if ( m.frame <= m.first || m.frame >= m.last || ( m.section < 0 && whole == 0 ) )
        return;
    if ( m.section >= 0 && whole == 0 ) {
        put( ops, "section_remove id=%s", scene->sections[m.section].id );
        return;
    }
    tr_moment_layer( shown, hold, layer );
    if ( m.layer < 0 )
        put( ops, "layer_add id=%s kind=retime members=\"%s\" range=%d,%d", layer, m.members, m.first,
             m.last );
    tr_free_id( scene, tr_scene_find_section, "moment", section );
    if ( m.section >= 0 )
        put( ops, "section_set id=%s delay=%d", scene->sections[m.section].id, whole );
    else
        put( ops, "section_add id=%s layer=%s frame=%d delay=%d", section, layer, m.frame, whole );
}
