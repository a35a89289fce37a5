// Who is in which window: close pairs of the source, gathered into windows, and bodies of another shape.
#include "scene/imesh_method.h"

#define MOST_MEMBERS 4 // that move, of a window

bool tr_mesh_is_actor( const tr_mesh_work *w, int member )
{
    return member < w->stage->actor_count;
}

bool tr_mesh_is_prop( const tr_mesh_work *w, int member )
{
    return !tr_mesh_is_actor( w, member ) && member < w->stage->actor_count + w->stage->prop_count;
}

static void add_members( tr_mesh_work *w )
{
    const tr_stage *stage = w->stage;
    for ( int i = 0; i < stage->actor_count; ++i )
        w->members[w->member_count++] =
            ( tr_imesh_near ){ .world = &stage->actors[i].world, .body = &stage->actors[i].source_body };
    for ( int i = 0; i < stage->prop_count; ++i )
        w->members[w->member_count++] = ( tr_imesh_near ){
            .track = stage->props[i].track, .track_count = stage->frame_count, .size = stage->props[i].size };
    for ( int i = 0; i < stage->scene->obstacle_count; ++i )
        w->members[w->member_count++] = ( tr_imesh_near ){ .track = &stage->obstacles[i],
                                                           .track_count = 1,
                                                           .size = stage->scene->obstacles[i].size,
                                                           .still = true };
}

// Whether a rule already says how the two hold together: a carrier and his box need no mesh.
static bool are_linked( const tr_stage *stage, int a, int b )
{
    for ( int r = 0; r < stage->rule_count; ++r ) {
        const tr_rule *rule = &stage->rules[r];
        int one = tr_anchor_node( stage, &rule->a ), other = tr_anchor_node( stage, &rule->b );
        if ( rule->kind == TR_CONSTRAINT_CONTACT && rule->surface_prop >= 0 )
            other = stage->actor_count + rule->surface_prop;
        if ( ( one == a && other == b ) || ( one == b && other == a ) )
            return true;
    }
    return false;
}

static void drop_carriers( const tr_mesh_work *w, tr_imesh_pairs *pairs )
{
    int kept = 0;
    for ( int i = 0; i < pairs->count; ++i )
        if ( !tr_mesh_is_prop( w, pairs->items[i].b ) ||
             !are_linked( w->stage, pairs->items[i].a, pairs->items[i].b ) )
            pairs->items[kept++] = pairs->items[i];
    pairs->count = kept;
}

static bool is_member( const tr_mesh_work *w, int member )
{
    for ( int i = 0; i < w->windows.count; ++i )
        for ( int m = 0; m < w->windows.items[i].member_count; ++m )
            if ( w->windows.items[i].members[m] == member )
                return true;
    return false;
}

// Whether limbs or girths changed against the rest of the body: then it may get in its own way.
static bool is_reshaped( const tr_actor *actor )
{
    for ( int j = 1; j < actor->target.joint_count; ++j ) {
        int from = actor->map != NULL ? actor->map[j] : j;
        double source = from >= 0 ? tr_bone_length( &actor->source.skeleton, from ) : 0;
        double length = tr_bone_length( &actor->target, j );
        if ( source > 0.03 && fabs( length / source - actor->height_ratio ) > 0.05 * actor->height_ratio )
            return true;
    }
    double girth = 0, before = 0;
    for ( int i = 0; i < actor->body.capsule_count; ++i )
        girth += actor->body.capsules[i].radius;
    for ( int i = 0; i < actor->source_body.capsule_count; ++i )
        before += actor->source_body.capsules[i].radius;
    return fabs( girth / fmax( before, 1e-9 ) - actor->height_ratio ) > 0.05 * actor->height_ratio;
}

// One who meets nobody, but has another shape, keeps the relations of his own limbs.
static bool add_single_bodies( tr_mesh_work *w, tr_error *error )
{
    const tr_stage *stage = w->stage;
    size_t room = (size_t)w->windows.count + (size_t)stage->actor_count;
    tr_imesh_window *items = tr_realloc( w->windows.items, room, sizeof *items );
    if ( items == NULL )
        return tr_error_memory( error );
    w->windows.items = items;
    for ( int i = 0; i < stage->actor_count; ++i ) {
        if ( is_member( w, i ) || !is_reshaped( &stage->actors[i] ) )
            continue;
        tr_imesh_window window = { tr_alloc( 1, sizeof( int ) ), 1, 0, stage->frame_count - 1 };
        if ( window.members == NULL )
            return tr_error_memory( error );
        window.members[0] = i;
        w->windows.items[w->windows.count++] = window;
    }
    return true;
}

bool tr_mesh_find_windows( tr_mesh_work *w, tr_error *error )
{
    tr_imesh_near_def def = tr_default_imesh_near_def( w->stage->fps );
    tr_imesh_pairs pairs;
    add_members( w );
    w->pad = def.pad;
    if ( !tr_imesh_pairs_find( &pairs, w->members, w->member_count, w->stage->frame_count, &def, error ) )
        return false;
    drop_carriers( w, &pairs );
    bool ok = tr_imesh_windows_find( &w->windows, &pairs, w->members, w->member_count, MOST_MEMBERS, error );
    tr_imesh_pairs_free( &pairs );
    return ok && add_single_bodies( w, error );
}

// How much of a window counts at a frame: it fades over its padding, but not at the ends of the scene.
double tr_mesh_share( const tr_mesh_work *w, const tr_imesh_window *window, int frame )
{
    double in = window->first > 0 ? ( frame - window->first + 1.0 ) / ( w->pad + 1.0 ) : 1;
    double out =
        window->last < w->stage->frame_count - 1 ? ( window->last - frame + 1.0 ) / ( w->pad + 1.0 ) : 1;
    return smooth_step5( fmin( in, out ) );
}
