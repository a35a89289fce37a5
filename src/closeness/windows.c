// The members of each window: links gathered into windows, and bodies of another shape.
#include "closeness/private.h"

static const double no_girth = 1e-9; // metres: bodies without volumes have none

// Whether limbs or girths changed against the rest of the body: then it may get in its own way.
static bool is_reshaped( const tr_closeness_def *def, const tr_actor *actor )
{
    double most = def->reshaped * actor->height_ratio;
    for ( int j = 1; j < actor->target.joint_count; ++j ) {
        int from = actor->map != NULL ? actor->map[j] : j;
        double source = from >= 0 ? tr_bone_length( &actor->source.skeleton, from ) : 0;
        double length = tr_bone_length( &actor->target, j );
        if ( source > def->shortest_limb && fabs( length / source - actor->height_ratio ) > most )
            return true;
    }
    double girth = 0, before = 0;
    for ( int i = 0; i < actor->body.capsule_count; ++i )
        girth += actor->body.capsules[i].radius;
    for ( int i = 0; i < actor->source_body.capsule_count; ++i )
        before += actor->source_body.capsules[i].radius;
    return fabs( girth / fmax( before, no_girth ) - actor->height_ratio ) > most;
}

// How much of a window counts at a frame: it fades over its padding, but not at the ends of the scene.
double tr_mesh_share( const tr_mesh_work *w, const tr_imesh_window *window, int frame )
{
    double in = window->first > 0 ? ( frame - window->first + 1.0 ) / ( w->pad + 1.0 ) : 1;
    double out =
        window->last < w->stage->frame_count - 1 ? ( window->last - frame + 1.0 ) / ( w->pad + 1.0 ) : 1;
    return smooth_step5( fmin( in, out ) );
}

// The shares of the windows of an actor and others at each frame; `said` [frame_count].
static void add_shares( const tr_mesh_work *w, int actor, int window_count, double *said )
{
    for ( int f = 0; f < w->stage->frame_count; ++f )
        said[f] = 0;
    for ( int i = 0; i < window_count; ++i ) {
        const tr_imesh_window *window = &w->windows.items[i];
        for ( int m = 0; m < window->member_count; ++m )
            for ( int f = window->first; window->members[m] == actor && f <= window->last; ++f )
                said[f] += tr_mesh_share( w, window, f );
    }
}

static bool add_own_window( tr_mesh_work *w, int actor, int first, int last )
{
    tr_imesh_window window = { tr_alloc( 1, sizeof( int ) ), 1, first, last };
    if ( window.members == NULL )
        return false;
    window.members[0] = actor;
    w->windows.items[w->windows.count++] = window;
    return true;
}

// While a body of another shape meets no other, it keeps the relations of its own limbs. Where a window with
// others fades in, its own fades out over the same frames: shares add up to 1.
static bool add_own_windows( tr_mesh_work *w, int actor, int shared, double *said )
{
    int frames = w->stage->frame_count;
    add_shares( w, actor, shared, said );
    for ( int f = 0; f < frames; ++f ) {
        int first = f;
        while ( f < frames && said[f] < 1 )
            ++f;
        if ( f > first && !add_own_window( w, actor, first, f - 1 ) )
            return false;
    }
    return true;
}

static bool add_single_bodies( tr_mesh_work *w, tr_error *error )
{
    const tr_stage *stage = w->stage;
    int shared = w->windows.count;
    size_t room = (size_t)shared + (size_t)stage->actor_count;
    for ( int i = 0; i < shared; ++i ) // between two windows of a member there is one of its own at most
        room += (size_t)w->windows.items[i].member_count;
    double *said = tr_alloc( (size_t)stage->frame_count, sizeof *said );
    tr_imesh_window *items = tr_realloc( w->windows.items, room, sizeof *items );
    if ( items != NULL )
        w->windows.items = items;
    bool ok = items != NULL && said != NULL;
    for ( int i = 0; ok && i < stage->actor_count; ++i )
        ok = !is_reshaped( &w->def, &stage->actors[i] ) || add_own_windows( w, i, shared, said );
    tr_free( said );
    return ok || tr_error_memory( error );
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
           tr_imesh_windows_find( &w->windows, &w->result->links, w->members, w->member_count,
                                  w->def.most_members, error ) &&
           add_single_bodies( w, error );
}
