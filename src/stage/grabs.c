// Layers bound to the stage: which joints and props they grab, in which frames.
#include "stage/private.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------- members

// Whether a part names the joint: by its name, its limb, or the group of its limb.
static bool is_part( const tr_skeleton *skeleton, int joint, const char *part )
{
    const tr_limb *limb = &skeleton->limbs[skeleton->joints[joint].limb];
    tr_limb_value group = { .value = 2 };
    snprintf( group.limb, sizeof group.limb, "%.31s", part );
    return part[0] == 0 || tr_pattern_matches( part, skeleton->joints[joint].name ) ||
           tr_pattern_matches( part, limb->name ) || tr_limb_lookup( &group, 1, limb ) == 2;
}

static bool no_part( const tr_binder *b, const tr_cast *cast, const tr_skeleton *skeleton, const char *part )
{
    char path[64];
    const char **words =
        tr_alloc( (size_t)( skeleton->limb_count + skeleton->joint_count + 1 ), sizeof *words );
    if ( words == NULL )
        return tr_error_memory( b->error );
    for ( int i = 0; i < skeleton->limb_count; ++i )
        words[i] = skeleton->limbs[i].name;
    for ( int j = 0; j < skeleton->joint_count; ++j )
        words[skeleton->limb_count + j] = skeleton->joints[j].name;
    snprintf( path, sizeof path, "layers[%d].members", b->index );
    const char *near = tr_nearest_word( part, words );
    tr_error_path( b->error, b->file, path,
                   near != NULL ? "%s has no limb and no joint \"%.60s\"; did you mean \"%.60s\"?"
                                : "%s has no limb and no joint \"%.60s\"",
                   cast->id, part, near );
    tr_free( words );
    return false;
}

static bool grab_actor( const tr_binder *b, tr_grab *grab, int actor, const tr_member *member, bool *grabs )
{
    const tr_skeleton *skeleton = &b->stage->actors[actor].target;
    if ( grab->joints[actor] == NULL )
        grab->joints[actor] = tr_alloc( (size_t)skeleton->joint_count, sizeof( bool ) );
    if ( grab->joints[actor] == NULL )
        return tr_error_memory( b->error );
    bool any = false;
    for ( int j = 0; j < skeleton->joint_count; ++j )
        if ( is_part( skeleton, j, member->part ) )
            grab->joints[actor][j] = any = true;
    vec3 beyond;
    int joint;
    if ( !any && tr_actor_find_joint( &b->stage->actors[actor], member->part, &joint, &beyond ) )
        grab->joints[actor][joint] = any = true; // found by its name on the source's body
    *grabs = *grabs || any;
    bool literal = strchr( member->who, '*' ) == NULL; // a pattern need not fit all
    return any || !literal || no_part( b, &b->stage->scene->cast[actor], skeleton, member->part );
}

static bool grab_member( const tr_binder *b, tr_grab *grab, const tr_member *member )
{
    const tr_stage *stage = b->stage;
    bool any = false;
    for ( int i = 0; i < stage->actor_count; ++i )
        if ( tr_pattern_matches( member->who, stage->scene->cast[i].id ) &&
             !grab_actor( b, grab, i, member, &any ) )
            return false;
    for ( int p = 0; p < stage->prop_count; ++p )
        if ( member->part[0] == 0 && tr_pattern_matches( member->who, stage->scene->props[p].id ) )
            grab->props[p] = any = true;
    if ( !any )
        tr_log_add( b->warnings, "layer %s grabs nothing by \"%s%s%s\"", stage->scene->layers[grab->layer].id,
                    member->who, member->part[0] != 0 ? "." : "", member->part );
    return true;
}

static bool grab_members( const tr_binder *b, tr_grab *grab )
{
    const char *at = b->stage->scene->layers[grab->layer].members;
    while ( *at != 0 ) {
        tr_member member;
        if ( !tr_member_parse( &member, &at, b->error ) || !grab_member( b, grab, &member ) )
            return false;
    }
    return true;
}

// -------------------------------------------------------------------------------------------------- layers

enum { BOX_CORNERS = 8 }; // points of a prop in a cage

static int vertices_of( int detail ) // vertices of a section, a box whose sides have detail² quads each
{
    return 6 * detail * detail + 2;
}

int tr_grab_detail( const tr_stage *stage, const tr_grab *grab )
{
    size_t bodies = 0, points = 0;
    for ( int i = 0; i < stage->actor_count; ++i ) {
        size_t before = points;
        for ( int j = 0; grab->joints[i] != NULL && j < stage->actors[i].target.joint_count; ++j )
            points += grab->joints[i][j];
        bodies += points > before;
    }
    for ( int p = 0; p < stage->prop_count; ++p ) {
        points += grab->props[p] ? BOX_CORNERS : 0;
        bodies += grab->props[p];
    }
    int fine = stage->def.fine_detail;
    size_t weights = (size_t)stage->frame_count * points * (size_t)vertices_of( fine );
    return bodies > 1 && weights <= (size_t)stage->def.fine_weights ? fine : stage->def.detail;
}

// A cage has two frames at least: a window of one that fades to both sides reaches one frame into its ease,
// which is as much shorter. Without an ease its only frame is pinned.
static void widen( const tr_binder *b, const tr_layer *layer, tr_grab *grab )
{
    if ( grab->first != grab->last || layer->first != layer->last )
        return;
    if ( !( layer->ease_in > 0 ) || !( layer->ease_out > 0 ) )
        tr_log_add( b->warnings, "layer %s has no effect: a window of one frame needs an ease to both sides",
                    layer->id );
    else if ( grab->last + 1 < b->stage->frame_count )
        grab->last++;
    else if ( grab->first > 0 )
        grab->first--;
}

static bool bind_layer( const tr_binder *b, tr_grab *grab )
{
    tr_stage *stage = b->stage;
    const tr_layer *layer = &stage->scene->layers[b->index];
    int first = layer->first - stage->scene->first, last = layer->last - stage->scene->first;
    *grab = ( tr_grab ){ .layer = b->index };
    stage->grab_count++;
    grab->joints = tr_alloc( (size_t)stage->actor_count, sizeof( bool * ) );
    grab->props = tr_alloc( (size_t)stage->prop_count, sizeof( bool ) );
    if ( grab->joints == NULL || grab->props == NULL )
        return tr_error_memory( b->error );
    if ( last < 0 || first >= stage->frame_count )
        tr_log_add( b->warnings, "layer %s lies outside the scene's frames %d to %d and has no effect",
                    layer->id, stage->scene->first, stage->scene->last );
    grab->first = first < 0 ? 0 : first;
    grab->last = last >= stage->frame_count ? stage->frame_count - 1 : last;
    widen( b, layer, grab );
    bool ok = grab_members( b, grab );
    grab->vertices = vertices_of( tr_grab_detail( stage, grab ) );
    return ok;
}

static const tr_grab *grab_of( const tr_stage *stage, const char *layer )
{
    for ( int g = 0; g < stage->grab_count; ++g )
        if ( strcmp( stage->scene->layers[stage->grabs[g].layer].id, layer ) == 0 )
            return &stage->grabs[g];
    return NULL;
}

// Whether all joints of a point of an actor are in the cage.
static bool holds_all_of( const tr_grab *grab, const tr_anchor *anchor )
{
    const bool *joints = anchor->actor >= 0 ? grab->joints[anchor->actor] : NULL;
    bool all = anchor->actor < 0 || joints != NULL;
    for ( int i = 0; all && anchor->actor >= 0 && i < anchor->count; ++i )
        all = joints[anchor->joints[i]];
    return all;
}

static bool bind_handle( const tr_binder *b )
{
    const tr_handle *handle = &b->stage->scene->handles[b->index];
    tr_anchor *anchor = &b->stage->handles[b->index];
    if ( !tr_point_bind( b, "point", &handle->point, anchor ) )
        return false;
    const tr_grab *grab = grab_of( b->stage, handle->layer );
    if ( grab == NULL )
        return true; // the layer does nothing
    if ( !holds_all_of( grab, anchor ) )
        tr_log_add(
            b->warnings, "handle %s holds a joint of %s that its layer %s does not grab: members are %s",
            handle->id, handle->point.who, handle->layer, b->stage->scene->layers[grab->layer].members );
    if ( handle->vertex >= grab->vertices ) // sections may have had more before the cast or the clip grew
        tr_log_add( b->warnings,
                    "handle %s holds nothing by vertex %d: a section of layer %s has vertices 0 to %d",
                    handle->id, handle->vertex, handle->layer, grab->vertices - 1 );
    return true;
}

bool tr_stage_grab( tr_stage *stage, const char *file, tr_log *warnings, tr_error *error )
{
    const tr_scene *scene = stage->scene;
    stage->grabs = tr_alloc( (size_t)scene->layer_count, sizeof( tr_grab ) );
    stage->handles = tr_alloc( (size_t)scene->handle_count, sizeof( tr_anchor ) );
    if ( stage->grabs == NULL || stage->handles == NULL )
        return tr_error_memory( error );
    for ( int i = 0; i < scene->layer_count; ++i ) {
        tr_binder b = { stage, file, "layers", i, warnings, error };
        if ( scene->layers[i].kind == TR_LAYER_CAGE && tr_layer_is_active( scene, i ) &&
             !bind_layer( &b, &stage->grabs[stage->grab_count] ) )
            return false;
    }
    for ( int i = 0; i < scene->handle_count; ++i ) {
        tr_binder b = { stage, file, "handles", i, warnings, error };
        if ( !bind_handle( &b ) )
            return false;
    }
    return true;
}

void tr_stage_release( tr_stage *stage )
{
    for ( int g = 0; g < stage->grab_count; ++g ) {
        for ( int i = 0; stage->grabs[g].joints != NULL && i < stage->actor_count; ++i )
            tr_free( stage->grabs[g].joints[i] );
        tr_free( stage->grabs[g].joints );
        tr_free( stage->grabs[g].props );
    }
    tr_free( stage->grabs );
    tr_free( stage->handles );
    stage->grabs = NULL;
    stage->handles = NULL;
    stage->grab_count = 0;
}

bool tr_stage_regrab( tr_stage *stage, const tr_scene *scene, tr_log *warnings, tr_error *error )
{
    tr_stage_release( stage );
    stage->scene = scene;
    if ( tr_stage_grab( stage, NULL, warnings, error ) )
        return true;
    tr_stage_release( stage );
    return false;
}

bool tr_stage_carries( const tr_stage *base, const tr_scene *scene )
{
    return base->scene != NULL && base->times == NULL && tr_scene_same_below( base->scene, scene );
}

bool tr_stage_build_on( tr_stage *out, const tr_stage *base, const tr_scene *scene, tr_log *warnings,
                        tr_error *error )
{
    assert( base->times == NULL );
    *out = *base;
    out->shared = true;
    out->progress = NULL;
    out->grabs = NULL;
    out->handles = NULL;
    out->grab_count = 0;
    if ( tr_stage_regrab( out, scene, warnings, error ) )
        return true;
    tr_stage_free( out );
    return false;
}

// --------------------------------------------------------------------------------------------------- reach

static bool spread( bool *nodes, int a, int b )
{
    if ( a < 0 || b < 0 || nodes[a] == nodes[b] )
        return false;
    nodes[a] = nodes[b] = true;
    return true;
}

void tr_stage_reach( const tr_stage *stage, int frame, bool *nodes )
{
    for ( bool grown = true; grown; ) {
        grown = false;
        for ( int r = 0; r < stage->rule_count; ++r ) {
            const tr_rule *rule = &stage->rules[r];
            int a = tr_anchor_node( stage, &rule->a ), b = tr_anchor_node( stage, &rule->b );
            int surface = rule->surface_prop >= 0 ? stage->actor_count + rule->surface_prop : -1;
            if ( ( b < 0 && surface < 0 ) || tr_rule_strength( rule, frame ) <= 0 )
                continue;
            grown = spread( nodes, a, b ) || grown;
            grown = spread( nodes, a, surface ) || grown;
        }
    }
}
