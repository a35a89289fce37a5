// Who is in which window: links gathered into windows, and bodies of another shape.
#include "scene/imesh/method.h"

#define MOST_MEMBERS 4 // that move, of a window

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
    w->pad = def.pad;
    w->member_count = tr_stage_member_count( w->stage );
    w->members = tr_mesh_members( w->stage );
    if ( w->members == NULL )
        return tr_error_memory( error );
    return tr_mesh_links( &w->result->links, w->stage, w->members, &def, error ) &&
           tr_imesh_windows_find( &w->windows, &w->result->links, w->members, w->member_count, MOST_MEMBERS,
                                  error ) &&
           add_single_bodies( w, error );
}

// How much of a window counts at a frame: it fades over its padding, but not at the ends of the scene.
double tr_mesh_share( const tr_mesh_work *w, const tr_imesh_window *window, int frame )
{
    double in = window->first > 0 ? ( frame - window->first + 1.0 ) / ( w->pad + 1.0 ) : 1;
    double out =
        window->last < w->stage->frame_count - 1 ? ( window->last - frame + 1.0 ) / ( w->pad + 1.0 ) : 1;
    return smooth_step5( fmin( in, out ) );
}
