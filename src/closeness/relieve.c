// The last pass. Meshes are solved with volumes that keep out of each other, but rounds end before all of it
// is so, and aiming, blending and fitting move what they said; of fingers they know nothing. So the motion
// that came out is looked at: where hands lost what they touched they are turned, where bodies are deeper in
// each other, in props or in the surroundings than the source they are pushed out, and fitted again, a few
// times, as long as that makes it better.
#include "closeness/relief.h"

#include <string.h>

#define TURNS  3
#define PUSHES 6
#define HELPED 0.95 // of the touches that strayed are left at most

static bool relief_build( tr_relief *r )
{
    size_t windows = (size_t)r->work->windows.count,
           cells = (size_t)r->work->stage->actor_count * (size_t)r->work->stage->frame_count;
    r->found = tr_alloc( windows, sizeof *r->found );
    r->stale = tr_alloc( windows, sizeof( bool ) );
    r->strayed = tr_alloc( windows, sizeof( int * ) );
    if ( r->found == NULL || r->stale == NULL || r->strayed == NULL )
        return false;
    for ( size_t i = 0; i < windows; ++i ) {
        const tr_imesh_window *window = &r->work->windows.items[i];
        r->stale[i] = true;
        r->strayed[i] = tr_alloc( (size_t)( window->last - window->first + 1 ), sizeof( int ) );
        if ( r->strayed[i] == NULL )
            return false;
    }
    for ( int kind = 0; kind < TR_RELIEF_KINDS; ++kind ) {
        r->eager[kind] = tr_alloc( cells, sizeof( double ) );
        for ( size_t i = 0; r->eager[kind] != NULL && i < cells; ++i )
            r->eager[kind][i] = 1;
        if ( r->eager[kind] == NULL )
            return false;
    }
    return tr_touches_build( &r->touches, r->work->stage );
}

static void relief_free( tr_relief *r )
{
    for ( int i = 0; r->found != NULL && i < r->work->windows.count; ++i )
        tr_imesh_presses_free( &r->found[i] );
    for ( int i = 0; r->strayed != NULL && i < r->work->windows.count; ++i )
        tr_free( r->strayed[i] );
    for ( int kind = 0; kind < TR_RELIEF_KINDS; ++kind )
        tr_free( r->eager[kind] );
    tr_touches_free( &r->touches );
    tr_imesh_presses_free( &r->now );
    tr_imesh_presses_free( &r->before );
    tr_imesh_presses_free( &r->meshes );
    tr_result_free( &r->first );
    tr_result_free( &r->saved );
    tr_free( r->found );
    tr_free( r->stale );
    tr_free( r->strayed );
}

static bool is_too_deep( const tr_relief *r )
{
    for ( int i = 0; i < r->now.count; ++i )
        if ( r->now.items[i].depth > TR_RELIEF_DEEP &&
             r->eager[TR_RELIEF_PUSH][tr_relief_cell( r, r->now.items[i].a, r->now.items[i].frame )] > 0 )
            return true;
    return false;
}

// Whether touches stray, and another round of turned hands is worth its time: the last one helped.
static bool is_worth_turning( tr_relief *r )
{
    int count = 0, last = r->last_strayed;
    for ( int i = 0; i < r->work->windows.count; ++i )
        for ( int f = r->work->windows.items[i].first; f <= r->work->windows.items[i].last; ++f )
            count += r->strayed[i][f - r->work->windows.items[i].first];
    r->last_strayed = count;
    return count > 0 && ( last == 0 || count <= HELPED * last );
}

static bool note_first( tr_relief *r, tr_error *error )
{
    r->meshes.items = tr_alloc( (size_t)r->now.count, sizeof *r->meshes.items );
    if ( r->meshes.items == NULL )
        return tr_error_memory( error );
    if ( r->now.count > 0 )
        memcpy( r->meshes.items, r->now.items, (size_t)r->now.count * sizeof *r->now.items );
    r->meshes.count = r->meshes.capacity = r->now.count;
    return tr_result_copy( &r->first, r->work->stage, r->work->result, error );
}

// `go_on`: another round may make it better.
static bool round_of( tr_relief *r, tr_relief_kind kind, bool *go_on, tr_error *error )
{
    tr_mesh_work *w = r->work;
    size_t cells = (size_t)( w->stage->actor_count + w->stage->prop_count ) * (size_t)w->stage->frame_count;
    bool any;
    if ( !tr_work_wanted() || !tr_relief_look( r ) )
        return tr_error_memory( error );
    *go_on = kind == TR_RELIEF_TURN ? is_worth_turning( r ) : is_too_deep( r );
    if ( !*go_on )
        return true;
    tr_result_free( &r->saved );
    memset( w->affected, 0, cells * sizeof( bool ) );
    if ( ( r->first.motions == NULL && !note_first( r, error ) ) ||
         !tr_result_copy( &r->saved, w->stage, w->result, error ) ||
         !( kind == TR_RELIEF_TURN ? tr_relief_turn_hands : tr_relief_push )( r, &any, error ) )
        return false;
    *go_on = any;
    if ( !any )
        return true;
    tr_imesh_presses swap = r->before;
    r->before = r->now;
    r->now = swap;
    return tr_mesh_meet( w, error ) && tr_relief_compare( r, kind, error );
}

bool tr_mesh_relieve( tr_mesh_work *w, tr_error *error )
{
    tr_relief r = { .work = w };
    static const int rounds[TR_RELIEF_KINDS] = { TURNS, PUSHES };
    bool ok = relief_build( &r ) || tr_error_memory( error );
    for ( int kind = 0; kind < TR_RELIEF_KINDS; ++kind ) {
        bool go_on = true;
        for ( int i = 0; ok && go_on && i < rounds[kind]; ++i )
            ok = round_of( &r, (tr_relief_kind)kind, &go_on, error );
    }
    relief_free( &r );
    return ok;
}
