// The cage of a layer: what it holds, where it is held, and where that takes the points.
#include "layer/private.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BOX_CORNERS = 8 };

tr_layer_def tr_default_layer_def( void )
{
    return ( tr_layer_def ){ .heed_rounds = 4,
                             .heeded_bodies = 4,
                             .yield_rounds = 9,
                             .key_room = 0.25,
                             .root_time = 0.5,
                             .turn_arm = 0.1,
                             .least_share = 1e-3,
                             .heading_time = 0.3,
                             .least_speed = 0.1,
                             .crouch = 0.55,
                             .crouch_round = 0.04,
                             .bow = 0.5,
                             .turn_rest = 1e-5,
                             .step_time = 0.2,
                             .landing_time = 0.1,
                             .aside = 0.16,
                             .ground_round = 5e-3,
                             .follow_time = 0.15,
                             .follow_rest = 1e-4,
                             .follow_reach = 0.06,
                             .follow_lean = 0.1,
                             .follow_apart = 0.35,
                             .follow_fade = 0.3,
                             .cage = tr_default_cage_def(),
                             .solve = tr_default_cage_solve_def(),
                             .posing = tr_default_fit_def(),
                             .resolving = tr_default_resolving() };
}

// -------------------------------------------------------------------------------------------------- points

static vec3 box_corner( vec3 size, int corner )
{
    return v3_scale( 0.5, v3( ( corner & 1 ) != 0 ? size.x : -size.x, ( corner & 2 ) != 0 ? size.y : -size.y,
                              ( corner & 4 ) != 0 ? size.z : -size.z ) );
}

static bool gather_points( tr_cage_layer *l )
{
    const tr_stage *stage = l->stage;
    size_t most = BOX_CORNERS * (size_t)stage->prop_count;
    for ( int i = 0; i < stage->actor_count; ++i )
        most += (size_t)stage->actors[i].target.joint_count;
    l->bound = tr_alloc( most, sizeof( tr_bound_point ) );
    if ( l->bound == NULL )
        return false;
    for ( int i = 0; i < stage->actor_count; ++i )
        for ( int j = 0; l->grab->joints[i] != NULL && j < stage->actors[i].target.joint_count; ++j )
            if ( l->grab->joints[i][j] )
                l->bound[l->point_count++] = ( tr_bound_point ){ i, j };
    for ( int p = 0; p < stage->prop_count; ++p )
        for ( int c = 0; l->grab->props[p] && c < BOX_CORNERS; ++c )
            l->bound[l->point_count++] = ( tr_bound_point ){ stage->actor_count + p, c };
    return true;
}

static vec3 bound_place( const tr_cage_layer *l, tr_bound_point point, int frame )
{
    const tr_stage *stage = l->stage;
    if ( point.node < stage->actor_count )
        return tr_world_pose( &l->below->worlds[point.node], frame ).positions[point.part];
    int prop = point.node - stage->actor_count;
    vec3 size = tr_stage_prop_shape( stage, prop, false ).size;
    return rigid_apply( l->below->tracks[prop][frame], box_corner( size, point.part ) );
}

static void lay_out_body( tr_cage_layer *l, const tr_moved_body *body )
{
    size_t first = (size_t)body->first, count = (size_t)body->count;
    for ( size_t p = 0; p < count; ++p )
        l->cells[first + p] = ( tr_point_cells ){ first * (size_t)l->frame_count + p, count };
}

// Also as the cage wants them: frame after frame.
static bool read_points( tr_cage_layer *l, vec3 **by_frame )
{
    size_t points = (size_t)l->point_count, count = (size_t)l->frame_count * points;
    l->cells = tr_alloc( points, sizeof( tr_point_cells ) );
    l->before = tr_alloc( count, sizeof( vec3 ) );
    l->after = tr_alloc( count, sizeof( vec3 ) );
    *by_frame = tr_alloc( count, sizeof( vec3 ) );
    if ( l->cells == NULL || l->before == NULL || l->after == NULL || *by_frame == NULL )
        return false;
    for ( int i = 0; i < l->body_count; ++i )
        lay_out_body( l, &l->bodies[i] );
    for ( int f = 0; f < l->frame_count; ++f )
        for ( int p = 0; p < l->point_count; ++p )
            l->before[tr_layer_cell( l, l->begin + f, p )] = ( *by_frame )[(size_t)f * points + (size_t)p] =
                bound_place( l, l->bound[p], l->begin + f );
    memcpy( l->after, l->before, count * sizeof( vec3 ) );
    return true;
}

tr_moved_body *tr_cage_layer_body( const tr_cage_layer *l, int node )
{
    return l->body_of[node] >= 0 ? &l->bodies[l->body_of[node]] : NULL;
}

int tr_cage_layer_joint( const tr_cage_layer *l, int actor, int joint )
{
    const tr_moved_body *body = tr_cage_layer_body( l, actor );
    for ( int p = 0; body != NULL && p < body->count; ++p )
        if ( l->bound[body->first + p].part == joint )
            return body->first + p;
    return -1;
}

bool tr_cage_layer_holds_several( const tr_cage_layer *l )
{
    return l->body_count > 1;
}

// Points in a row that are of the same node.
static bool gather_bodies( tr_cage_layer *l )
{
    size_t nodes = (size_t)( l->stage->actor_count + l->stage->prop_count );
    l->bodies = tr_alloc( nodes, sizeof( tr_moved_body ) );
    l->body_of = tr_alloc( nodes, sizeof( int ) );
    if ( l->bodies == NULL || l->body_of == NULL )
        return false;
    for ( size_t n = 0; n < nodes; ++n )
        l->body_of[n] = -1;
    for ( int p = 0; p < l->point_count; ++p ) {
        int node = l->bound[p].node;
        if ( l->body_of[node] < 0 ) {
            l->body_of[node] = l->body_count;
            l->bodies[l->body_count++] = ( tr_moved_body ){ .node = node, .first = p };
        }
        l->bodies[l->body_of[node]].count++;
    }
    return true;
}

// ---------------------------------------------------------------------------------------------------- cage

static void add_frame( int *frames, int *count, int frame )
{
    int at = 0;
    while ( at < *count && frames[at] < frame )
        ++at;
    if ( ( at < *count && frames[at] == frame ) || *count == TR_CAGE_MAX_SECTIONS )
        return;
    memmove( frames + at + 1, frames + at, (size_t)( *count - at ) * sizeof( int ) );
    frames[at] = frame;
    ++*count;
}

static int nearest( const int *frames, int count, int frame )
{
    int least = INT_MAX;
    for ( int i = 0; i < count; ++i )
        least = abs( frames[i] - frame ) < least ? abs( frames[i] - frame ) : least;
    return least;
}

// Where something is held, and the ends of a window: there a section has to be.
static int held_frames( const tr_cage_layer *l, int first, int last, int frames[TR_CAGE_MAX_SECTIONS] )
{
    const tr_scene *scene = l->stage->scene;
    int count = 0;
    add_frame( frames, &count, first );
    add_frame( frames, &count, last );
    for ( int i = 0; i < scene->handle_count; ++i )
        if ( tr_handle_is_held( l->stage, l->grab, &scene->handles[i] ) )
            add_frame( frames, &count, scene->handles[i].frame - scene->first );
    return count;
}

static bool is_section( const tr_cage_layer *l, const tr_section *section )
{
    int frame = section->frame - l->stage->scene->first;
    return strcmp( section->layer, l->layer->id ) == 0 && frame >= l->grab->first && frame <= l->grab->last;
}

int tr_cage_layer_sections( const tr_cage_layer *l, int frames[TR_CAGE_MAX_SECTIONS] )
{
    const tr_scene *scene = l->stage->scene;
    int count = held_frames( l, l->grab->first, l->grab->last, frames );
    bool given = false;
    for ( int i = 0; i < scene->section_count; ++i ) {
        given = given || strcmp( scene->sections[i].layer, l->layer->id ) == 0;
        if ( is_section( l, &scene->sections[i] ) )
            add_frame( frames, &count, scene->sections[i].frame - scene->first );
    }
    for ( int k = 0; !given && k < l->cage.section_count; ++k )
        if ( l->cage.sections[k] > l->grab->first && l->cage.sections[k] < l->grab->last )
            add_frame( frames, &count, l->cage.sections[k] );
    return count;
}

// Frames beyond the falloff of everything that is held: there a section rests.
static bool is_beyond( const tr_cage_layer *l, int frame, int falloff )
{
    const tr_scene *scene = l->stage->scene;
    bool beyond = falloff > 0;
    for ( int i = 0; beyond && i < scene->handle_count; ++i )
        beyond = !tr_handle_is_held( l->stage, l->grab, &scene->handles[i] ) ||
                 abs( scene->handles[i].frame - scene->first - frame ) >= falloff;
    return beyond;
}

// Between two frames that are held the way from the one to the other is given.
static bool is_between( const tr_cage_layer *l, int frame )
{
    const tr_scene *scene = l->stage->scene;
    bool before = false, after = false;
    for ( int i = 0; i < scene->handle_count; ++i ) {
        int held = scene->handles[i].frame - scene->first;
        if ( !tr_handle_is_held( l->stage, l->grab, &scene->handles[i] ) )
            continue;
        before = before || held <= frame;
        after = after || held >= frame;
    }
    return before && after;
}

// The cage rests where the falloff of the held frames ends.
static void add_resting( const tr_cage_layer *l, int falloff, int frames[TR_CAGE_MAX_SECTIONS], int *count )
{
    const tr_scene *scene = l->stage->scene;
    for ( int i = 0; falloff > 0 && i < scene->handle_count; ++i ) {
        if ( !tr_handle_is_held( l->stage, l->grab, &scene->handles[i] ) )
            continue;
        for ( int side = -1; side <= 1; side += 2 ) {
            int frame = scene->handles[i].frame - scene->first + side * falloff;
            if ( frame >= l->first && frame <= l->last && is_beyond( l, frame, falloff ) )
                add_frame( frames, count, frame );
        }
    }
}

// The keys of the cage: the held frames and, from there to the window's ends or to the end of the falloff, as
// many as the length of the motion asks for, none of them right beside a held one. The document's sections
// are places where the cage can be held. A section that is not held is no key: adding or removing it changes
// nothing.
static int key_frames( const tr_cage_layer *l, const tr_cage_points *points, const tr_cage_def *def,
                       int frames[TR_CAGE_MAX_SECTIONS] )
{
    int count = held_frames( l, l->first, l->last, frames ), held[TR_CAGE_MAX_SECTIONS],
        spread[TR_CAGE_MAX_SECTIONS];
    add_resting( l, def->falloff, frames, &count );
    int held_count = count, spread_count = tr_cage_spread( points, l->first, l->last, def, spread );
    memcpy( held, frames, (size_t)count * sizeof( int ) );
    for ( int i = 0; i < spread_count; ++i ) {
        int width = spread[i + 1 < spread_count ? i + 1 : i] - spread[i > 0 ? i - 1 : i];
        if ( nearest( held, held_count, spread[i] ) >= l->def.key_room * width &&
             !is_between( l, spread[i] ) && !is_beyond( l, spread[i], def->falloff ) )
            add_frame( frames, &count, spread[i] );
    }
    return count;
}

static tr_cage_end window_end( const tr_cage_layer *l, int frame, double ease )
{
    if ( ease > 0 )
        return TR_CAGE_EASED;
    return tr_cage_layer_released( l, frame ) ? TR_CAGE_HELD : TR_CAGE_PINNED;
}

bool tr_cage_layer_is_as_built( const tr_cage_layer *l )
{
    tr_cage_layer now = *l;
    now.dragged = -1;
    return window_end( &now, l->grab->first, l->layer->ease_in ) == l->ends[0] &&
           window_end( &now, l->grab->last, l->layer->ease_out ) == l->ends[1];
}

// An ease is shorter by the part that the grab covers, and ends with the falloff of the held frames. `end`:
// of the window; `own`: the end in the document; `sense`: the direction of time beyond it.
static int ease_frames( const tr_cage_layer *l, double ease, int end, int own, int sense )
{
    const tr_scene *scene = l->stage->scene;
    int falloff = tr_whole_frames( l->layer->falloff ), most = falloff > 0 ? 0 : INT_MAX;
    int used = sense * ( end - ( own - scene->first ) );
    for ( int i = 0; falloff > 0 && i < scene->handle_count; ++i ) {
        int away = sense * ( end - ( scene->handles[i].frame - scene->first ) );
        if ( tr_handle_is_held( l->stage, l->grab, &scene->handles[i] ) && falloff - away - 1 > most )
            most = falloff - away - 1;
    }
    int left = tr_whole_frames( ease ) - ( used > 0 ? used : 0 );
    return left < most ? left : most;
}

// An eased end of the window goes on to where the ease rests, and is pinned there: so the way to rest is one
// from what is held to there, however short the ease. What there are no frames for the cage eases itself.
static int eased_end( const tr_cage_layer *l, int end, int sense, tr_cage_end *kind, int *ease )
{
    int rest = end + sense * ( *ease + 1 ), limit = sense < 0 ? 0 : l->stage->frame_count - 1,
        beyond = sense * ( rest - limit );
    if ( *kind != TR_CAGE_EASED )
        return end;
    *kind = beyond > 0 ? TR_CAGE_EASED : TR_CAGE_PINNED;
    *ease = beyond > 0 ? beyond - 1 : 0;
    return beyond > 0 ? limit : rest;
}

static tr_cage_def cage_def( tr_cage_layer *l )
{
    tr_cage_def def = l->def.cage;
    def.padding = l->layer->padding;
    def.detail = tr_grab_detail( l->stage, l->grab );
    def.start = l->ends[0] = window_end( l, l->grab->first, l->layer->ease_in );
    def.end = l->ends[1] = window_end( l, l->grab->last, l->layer->ease_out );
    def.ease_in = ease_frames( l, l->layer->ease_in, l->grab->first, l->layer->first, -1 );
    def.ease_out = ease_frames( l, l->layer->ease_out, l->grab->last, l->layer->last, 1 );
    l->first = eased_end( l, l->grab->first, -1, &def.start, &def.ease_in );
    l->last = eased_end( l, l->grab->last, 1, &def.end, &def.ease_out );
    def.falloff = tr_whole_frames( l->layer->falloff );
    def.steady = true;
    def.late = l->late;
    def.carried = true; // lifted bodies do not lean; with `turn`, bodies turn about the vertical
    return def;
}

// The frames the cage covers: its window, or all of the stage from where an end is held.
static void cover( tr_cage_layer *l, const tr_cage_def *def )
{
    int end = def->end == TR_CAGE_HELD ? l->stage->frame_count - 1 : l->last;
    l->begin = def->start == TR_CAGE_HELD ? 0 : l->first;
    l->frame_count = end - l->begin + 1;
}

void tr_cage_layer_limits( const tr_cage_layer *l, int *before, int *after )
{
    const tr_cage_def *def = &l->cage.def;
    int far = l->stage->frame_count + 1;
    *before = def->start == TR_CAGE_PINNED ? l->cage.first : l->cage.first - def->ease_in - 1;
    *after = def->end == TR_CAGE_PINNED ? l->cage.last : l->cage.last + def->ease_out + 1;
    if ( def->start == TR_CAGE_HELD || ( def->start == TR_CAGE_EASED && *before < 0 ) )
        *before = -far;
    if ( def->end == TR_CAGE_HELD || ( def->end == TR_CAGE_EASED && *after >= l->stage->frame_count ) )
        *after = 2 * far;
}

// Frames less than a falloff from one that is held move; from each that does not, it is as far to the next.
void tr_cage_layer_limits_at( const tr_cage_layer *l, int frame, int *before, int *after )
{
    int falloff = l->cage.def.falloff, low = frame < l->cage.first ? l->cage.first : frame;
    low = low > l->cage.last ? l->cage.last : low; // beyond the window it is as at its end
    int high = low;
    tr_cage_layer_limits( l, before, after );
    for ( bool grown = falloff > 0; grown; ) {
        grown = false;
        for ( int h = 0; h < l->handle_count; ++h ) {
            int held = l->handles[h].frame;
            bool below = abs( low - held ) < falloff, above = abs( high - held ) < falloff;
            low = below ? held - falloff : low;
            high = above ? held + falloff : high;
            grown = grown || below || above;
        }
    }
    if ( falloff > 0 && low >= l->cage.first )
        *before = low;
    if ( falloff > 0 && high <= l->cage.last )
        *after = high;
}

void tr_cage_layer_range( const tr_cage_layer *l, int *first, int *last )
{
    int before, after, end = l->stage->frame_count - 1;
    tr_cage_layer_limits( l, &before, &after );
    *first = before < 0 ? 0 : before + 1;
    *last = after > end ? end : after - 1;
}

static bool build_around( tr_cage_layer *l, const vec3 *by_frame, tr_cage_def *def, tr_error *error )
{
    tr_cage_points points = { by_frame, l->point_count, l->begin, l->frame_count, l->stage->fps };
    int frames[TR_CAGE_MAX_SECTIONS];
    def->frame_count = key_frames( l, &points, def, frames );
    def->frames = frames;
    if ( !tr_cage_build( &l->cage, &points, l->first, l->last, def, error ) )
        return false;
    l->built = true;
    return tr_layer_handles_build( l, error ) &&
           tr_cage_grab( &l->cage, l->handles, l->handle_count + l->held_count, error );
}

static bool build_cage( tr_cage_layer *l, tr_error *error )
{
    tr_cage_def def = cage_def( l );
    vec3 *by_frame = NULL;
    cover( l, &def );
    bool ok =
        read_points( l, &by_frame ) ? build_around( l, by_frame, &def, error ) : tr_error_memory( error );
    tr_free( by_frame );
    return ok;
}

static void solve_once( tr_cage_layer *l, const tr_cage_solve_def *def )
{
    tr_layer_handles_fill( l );
    l->stamp++;
    l->cage.def.upright = tr_cage_layer_holds_several( l ) && !l->tilts;
    if ( tr_grab_asks( l->stage, l->grab ) )
        tr_cage_solve( &l->cage, l->handles, def, l->handle_errors );
    else
        tr_cage_reset( &l->cage );
    tr_layer_rules_solve( l );
}

void tr_cage_layer_solve( tr_cage_layer *l, const tr_cage_solve_def *def, bool heeds )
{
    int rounds = 0;
    do
        solve_once( l, def );
    while ( heeds && ++rounds < l->def.heed_rounds && tr_layer_handles_heed( l ) );
}

typedef struct building {
    tr_cage_layer *l;
    atomic_bool failed;
} building;

static void build_some( void *context, int begin, int end )
{
    building *b = context;
    for ( int i = begin; i < end; ++i ) {
        tr_moved_body *body = &b->l->bodies[i];
        tr_error error;
        if ( !tr_moved_build( b->l, body ) || !tr_steps_build( b->l, body, &error ) ||
             !tr_posing_build( b->l, body, &error ) || !tr_room_build( b->l, body ) )
            b->failed = true;
    }
}

// Fails for want of memory only.
static bool build_bodies( tr_cage_layer *l, tr_error *error )
{
    building b = { .l = l };
    tr_parallel_for( l->body_count, 1, build_some, &b );
    if ( b.failed || !tr_layer_links_build( l ) )
        return tr_error_memory( error );
    return tr_follow_build( l, error ) && tr_attached_build( l, error ) && tr_layer_rules_build( l, error ) &&
           ( tr_layer_calm_build( l ) || tr_error_memory( error ) );
}

static bool begin( tr_cage_layer *out, const tr_cage_layer_def *def, tr_error *error )
{
    *out = ( tr_cage_layer ){ .def = *def->how,
                              .stage = def->stage,
                              .grab = def->grab,
                              .layer = &def->stage->scene->layers[def->grab->layer],
                              .below = def->below,
                              .dragged = -1,
                              .edited = *def->stage };
    out->edited.rules = NULL;
    return ( gather_points( out ) && gather_bodies( out ) ) || tr_error_memory( error );
}

static bool is_idle( const tr_cage_layer *l )
{
    return l->point_count == 0 || l->grab->last <= l->grab->first;
}

bool tr_cage_layer_build( tr_cage_layer *out, const tr_cage_layer_def *def, tr_error *error )
{
    const tr_stage *stage = def->stage;
    if ( !begin( out, def, error ) )
        return false;
    size_t nodes = (size_t)( stage->actor_count + stage->prop_count ), frames = (size_t)stage->frame_count;
    out->result = def->result;
    out->chunk = def->chunk;
    out->late = def->late;
    out->dragged = def->dragged;
    out->affected = tr_alloc( nodes * frames, sizeof( bool ) );
    out->touched = tr_alloc( nodes * frames, sizeof( bool ) );
    if ( out->affected == NULL || out->touched == NULL )
        return tr_error_memory( error );
    return is_idle( out ) || ( build_cage( out, error ) && build_bodies( out, error ) );
}

bool tr_cage_layer_outline( tr_cage_layer *out, const tr_cage_layer_def *def, tr_error *error )
{
    return begin( out, def, error ) && ( is_idle( out ) || build_cage( out, error ) );
}

void tr_cage_layer_free( tr_cage_layer *l )
{
    for ( int i = 0; l->bodies != NULL && i < l->body_count; ++i ) {
        tr_moved_free( &l->bodies[i] );
        tr_steps_free( &l->bodies[i] );
        tr_posing_free( &l->bodies[i] );
        tr_room_free( &l->bodies[i] );
    }
    tr_follow_free( l );
    tr_attached_free( l );
    tr_layer_rules_free( l );
    tr_layer_calm_free( l );
    tr_free( l->bodies );
    tr_free( l->body_of );
    tr_free( l->linked );
    tr_free( l->linked_nodes );
    tr_free( l->pulls );
    tr_free( l->affected );
    tr_free( l->touched );
    tr_resolver_destroy( l->resolver );
    tr_free( l->set_of );
    tr_free( l->links );
    tr_free( l->bound );
    tr_free( l->cells );
    tr_free( l->before );
    tr_free( l->after );
    tr_layer_handles_free( l );
    if ( l->built )
        tr_cage_free( &l->cage );
    *l = ( tr_cage_layer ){ 0 };
}

// -------------------------------------------------------------------------------------------------- middles

bool tr_cage_middles( const tr_stage *stage, const tr_result *below, const bool *nodes, vec3 middles[2],
                      tr_error *error )
{
    int most = 0;
    for ( int i = 0; i < stage->actor_count; ++i )
        most = stage->actors[i].target.joint_count > most ? stage->actors[i].target.joint_count : most;
    bool *all = tr_alloc( (size_t)most, sizeof( bool ) ),
         **joints = tr_alloc( (size_t)stage->actor_count, sizeof all );
    tr_grab grab = { .joints = joints, .props = (bool *)nodes + stage->actor_count };
    tr_cage_layer l = { .stage = stage, .grab = &grab, .below = below, .frame_count = stage->frame_count };
    vec3 *by_frame = NULL;
    bool ok = all != NULL && joints != NULL;
    for ( int j = 0; ok && j < most; ++j )
        all[j] = true;
    for ( int i = 0; ok && i < stage->actor_count; ++i )
        joints[i] = nodes[i] ? all : NULL;
    ok = ( ok && gather_points( &l ) && gather_bodies( &l ) && read_points( &l, &by_frame ) ) ||
         tr_error_memory( error );
    tr_cage_def def = tr_default_cage_def();
    def.padding = tr_default_layer( "", TR_LAYER_CAGE ).padding;
    def.steady = true;
    def.detail = 1;
    int last = stage->frame_count - 1;
    tr_cage_points points = { by_frame, l.point_count, 0, l.frame_count, stage->fps };
    ok = ok && ( ( l.point_count > 0 && last > 0 ) || tr_error_set( error, "there is nothing to turn" ) );
    if ( ok && tr_cage_build( &l.cage, &points, 0, last, &def, error ) ) {
        l.built = true;
        middles[0] = l.cage.places[0].position;
        middles[1] = l.cage.places[last].position;
    }
    tr_free( all );
    tr_free( joints );
    tr_free( by_frame );
    ok = l.built;
    tr_cage_layer_free( &l );
    return ok;
}
