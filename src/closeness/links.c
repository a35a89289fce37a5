// Close pairs: found in the source, then changed by the scene's pairs.
//
// Per two members, frame by frame:
//
//   close = ( found in the source, or in the range of a link ) and in the range of a limit, if there is any,
//           and in no range of an exclusion
// Two members that a rule already holds together, such as a carrier and a box, count only if a link asks for
// it.
#include "closeness/private.h"

#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------- members

bool tr_mesh_is_actor( const tr_stage *stage, int member )
{
    return member < stage->actor_count;
}

bool tr_mesh_is_prop( const tr_stage *stage, int member )
{
    return !tr_mesh_is_actor( stage, member ) && member < stage->actor_count + stage->prop_count;
}

tr_imesh_near *tr_mesh_members( const tr_stage *stage )
{
    tr_imesh_near *members = tr_alloc( (size_t)tr_stage_member_count( stage ), sizeof *members ),
                  *at = members;
    for ( int i = 0; members != NULL && i < stage->actor_count; ++i )
        *at++ = ( tr_imesh_near ){ .world = &stage->actors[i].world, .body = &stage->actors[i].source_body };
    for ( int i = 0; members != NULL && i < stage->prop_count; ++i )
        *at++ = ( tr_imesh_near ){ .track = stage->props[i].track,
                                   .track_count = stage->frame_count,
                                   .size = stage->props[i].shape.size,
                                   .shape = &stage->props[i].shape };
    for ( int i = 0; members != NULL && i < stage->scene->obstacle_count; ++i )
        *at++ = ( tr_imesh_near ){ .track = &stage->obstacles[i],
                                   .track_count = 1,
                                   .size = stage->obstacle_shapes[i].size,
                                   .shape = &stage->obstacle_shapes[i],
                                   .still = true };
    return members;
}

// ------------------------------------------------------------------------------------------------ carriers

// Whether a rule already holds the two together: a carrier and a box need no mesh.
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

static void drop_carriers( const tr_stage *stage, tr_imesh_pairs *pairs )
{
    int kept = 0;
    for ( int i = 0; i < pairs->count; ++i )
        if ( !tr_mesh_is_prop( stage, pairs->items[i].b ) ||
             !are_linked( stage, pairs->items[i].a, pairs->items[i].b ) )
            pairs->items[kept++] = pairs->items[i];
    pairs->count = kept;
}

// ----------------------------------------------------------------------------------------- pairs of a scene

typedef struct pair_frames { // a pair of the scene on the stage
    tr_pair_kind kind;
    int a, b;        // members, a ≤ b; b -1: any other
    int first, last; // stage frames, cut to the stage; first > last: none of them
} pair_frames;

static pair_frames frames_of_pair( const tr_stage *stage, const tr_pair *pair, int pad )
{
    int a = tr_stage_find_member( stage, pair->a );
    int b = pair->b[0] != 0 ? tr_stage_find_member( stage, pair->b ) : -1;
    int more = pair->kind == TR_PAIR_LINK ? pad : 0; // as what is found: full strength in the whole range
    int first = pair->first - stage->scene->first - more, last = pair->last - stage->scene->first + more;
    return ( pair_frames ){ .kind = pair->kind,
                            .a = b >= 0 && b < a ? b : a,
                            .b = b >= 0 && b < a ? a : b,
                            .first = first > 0 ? first : 0,
                            .last = last < stage->frame_count ? last : stage->frame_count - 1 };
}

static bool is_about( const pair_frames *s, const tr_imesh_pair *pair )
{
    return s->b >= 0 ? s->a == pair->a && s->b == pair->b : s->a == pair->a || s->a == pair->b;
}

static int by_members( const void *a, const void *b )
{
    const tr_imesh_pair *x = a, *y = b;
    return x->a != y->a ? x->a - y->a : x->b != y->b ? x->b - y->b : x->first - y->first;
}

typedef struct revision {
    const tr_stage *stage;
    pair_frames *pairs; // [count]
    int count;
    bool *close;   // [frame_count] of the two at work
    bool *allowed; // the same: in the range of a limit
} revision;

static void mark( bool *frames, int first, int last, bool value )
{
    for ( int f = first; f <= last; ++f )
        frames[f] = value;
}

// pairs [count]: ranges of the same two, in order.
static void revise_frames( revision *r, const tr_imesh_pair *pairs, int count )
{
    int end = r->stage->frame_count - 1;
    bool limited = false;
    mark( r->close, 0, end, false );
    mark( r->allowed, 0, end, false );
    for ( int i = 0; i < count; ++i )
        mark( r->close, pairs[i].first, pairs[i].last, true );
    for ( int i = 0; i < r->count; ++i ) {
        const pair_frames *s = &r->pairs[i];
        if ( s->kind != TR_PAIR_LIMIT || !is_about( s, pairs ) )
            continue;
        mark( r->allowed, s->first, s->last, true );
        limited = true;
    }
    for ( int f = 0; f <= end; ++f )
        r->close[f] = r->close[f] && ( !limited || r->allowed[f] );
    for ( int i = 0; i < r->count; ++i )
        if ( r->pairs[i].kind == TR_PAIR_EXCLUDE && is_about( &r->pairs[i], pairs ) )
            mark( r->close, r->pairs[i].first, r->pairs[i].last, false );
}

// The frames in which the two are close, as ranges; ranges that are too short are dropped.
static bool keep_ranges( revision *r, int a, int b, int shortest, tr_imesh_pairs *out )
{
    for ( int f = 0; f < r->stage->frame_count; ++f ) {
        int first = f;
        while ( f < r->stage->frame_count && r->close[f] )
            ++f;
        if ( f > first && f - first >= shortest &&
             !tr_imesh_pairs_add( out, ( tr_imesh_pair ){ a, b, first, f - 1 } ) )
            return false;
    }
    return true;
}

static bool revise( revision *r, tr_imesh_pairs *pairs, int shortest )
{
    tr_imesh_pairs out = { 0 };
    bool ok = true;
    for ( int i = 0; ok && i < r->count; ++i )
        if ( r->pairs[i].kind == TR_PAIR_LINK && r->pairs[i].first <= r->pairs[i].last )
            ok = tr_imesh_pairs_add( pairs, ( tr_imesh_pair ){ r->pairs[i].a, r->pairs[i].b,
                                                               r->pairs[i].first, r->pairs[i].last } );
    if ( ok && pairs->count > 1 )
        qsort( pairs->items, (size_t)pairs->count, sizeof *pairs->items, by_members );
    for ( int i = 0, k; ok && i < pairs->count; i = k ) {
        const tr_imesh_pair *two = &pairs->items[i];
        for ( k = i + 1; k < pairs->count && pairs->items[k].a == two->a && pairs->items[k].b == two->b; )
            ++k;
        revise_frames( r, two, k - i );
        ok = keep_ranges( r, two->a, two->b, shortest, &out );
    }
    tr_imesh_pairs_free( pairs );
    *pairs = out;
    tr_imesh_pairs_sort( pairs );
    return ok;
}

static bool apply_scene_pairs( const tr_stage *stage, const tr_imesh_near_def *def, tr_imesh_pairs *pairs )
{
    size_t count = (size_t)stage->scene->pair_count, frames = (size_t)stage->frame_count;
    revision r = { .stage = stage,
                   .pairs = tr_alloc( count, sizeof( pair_frames ) ),
                   .close = tr_alloc( frames, sizeof( bool ) ),
                   .allowed = tr_alloc( frames, sizeof( bool ) ) };
    bool ok = r.pairs != NULL && r.close != NULL && r.allowed != NULL;
    for ( size_t i = 0; ok && i < count; ++i )
        r.pairs[r.count++] = frames_of_pair( stage, &stage->scene->pairs[i], def->pad );
    ok = ok &&
         revise( &r, pairs, def->min_frames < stage->frame_count ? def->min_frames : stage->frame_count );
    tr_free( r.pairs );
    tr_free( r.close );
    tr_free( r.allowed );
    return ok;
}

// --------------------------------------------------------------------------------------------------- links

bool tr_mesh_links( tr_imesh_pairs *out, const tr_stage *stage, const tr_imesh_near *members,
                    const tr_imesh_near_def *def, tr_error *error )
{
    if ( !tr_imesh_pairs_find( out, members, tr_stage_member_count( stage ), stage->frame_count, def,
                               error ) )
        return false;
    drop_carriers( stage, out );
    if ( stage->scene->pair_count == 0 || apply_scene_pairs( stage, def, out ) )
        return true;
    tr_imesh_pairs_free( out );
    return tr_error_memory( error );
}

bool tr_stage_links( tr_imesh_pairs *out, const tr_stage *stage, tr_error *error )
{
    tr_imesh_near_def def = tr_default_imesh_near_def( stage->fps );
    tr_imesh_near *members = tr_mesh_members( stage );
    *out = ( tr_imesh_pairs ){ 0 };
    bool ok = members != NULL ? tr_mesh_links( out, stage, members, &def, error ) : tr_error_memory( error );
    tr_free( members );
    return ok;
}

int tr_mesh_passes( const tr_stage *stage, const tr_imesh_window *window, const int *place_of, int body_count,
                    tr_imesh_pass *out )
{
    int count = 0;
    for ( int i = 0; i < stage->scene->pair_count; ++i ) {
        pair_frames s = frames_of_pair( stage, &stage->scene->pairs[i], 0 );
        if ( s.kind != TR_PAIR_PASS || s.first > window->last || s.last < window->first )
            continue;
        if ( place_of[s.a] < 0 || ( s.b >= 0 && place_of[s.b] < 0 ) )
            continue;
        int ends[2] = { s.a, s.b };
        for ( int e = 0; e < 2; ++e )
            if ( ends[e] >= 0 )
                ends[e] = place_of[ends[e]] + ( tr_mesh_is_actor( stage, ends[e] ) ? 0 : body_count );
        out[count++] = ( tr_imesh_pass ){ s.first - window->first, s.last - window->first, ends[0], ends[1] };
    }
    return count;
}
