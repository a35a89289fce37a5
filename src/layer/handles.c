// What the user holds of a layer's cage: from handles of the document to those of the cage, and what becomes
// of handles that nobody can follow.
#include "layer/private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const tr_handle *handle_at( const tr_cage_layer *l, int index )
{
    return &l->stage->scene->handles[index];
}

static int handle_frame( const tr_cage_layer *l, const tr_handle *handle )
{
    return handle->frame - l->stage->scene->first;
}

bool tr_handle_is_held( const tr_stage *stage, const tr_grab *grab, const tr_handle *handle )
{
    int frame = handle->frame - stage->scene->first;
    return strcmp( handle->layer, stage->scene->layers[grab->layer].id ) == 0 && handle->pinned &&
           frame >= grab->first && frame <= grab->last && handle->vertex < grab->vertices;
}

static bool is_pin( const tr_handle *handle )
{
    return v3_length( handle->move ) == 0 && v3_length( handle->turn ) == 0;
}

// An end of the window whose section the user let go or dragged away as a whole. Where nothing lies beyond,
// dragging any of it will do.
bool tr_cage_layer_released( const tr_cage_layer *l, int frame )
{
    const tr_scene *scene = l->stage->scene;
    bool outermost = frame == 0 || frame == l->stage->frame_count - 1;
    for ( int i = 0; i < scene->handle_count; ++i ) {
        const tr_handle *handle = &scene->handles[i];
        bool whole = handle->point.who[0] == 0 && handle->vertex < 0;
        if ( strcmp( handle->layer, l->layer->id ) != 0 || handle_frame( l, handle ) != frame ||
             handle->vertex >= l->grab->vertices )
            continue;
        bool moves = i == l->dragged || !is_pin( handle );
        if ( handle->pinned ? ( whole || outermost ) && moves : whole )
            return true;
    }
    return false;
}

bool tr_grab_asks( const tr_stage *stage, const tr_grab *grab )
{
    const tr_scene *scene = stage->scene;
    for ( int i = 0; i < scene->handle_count; ++i )
        if ( tr_handle_is_held( stage, grab, &scene->handles[i] ) && !is_pin( &scene->handles[i] ) )
            return true;
    return false;
}

static int section_at( const tr_cage *cage, int frame )
{
    for ( int k = 0; k < cage->section_count; ++k )
        if ( cage->sections[k] == frame )
            return k;
    return -1;
}

static void make_handle( const tr_cage_layer *l, int index, tr_cage_handle *out )
{
    const tr_handle *handle = handle_at( l, index );
    int frame = handle_frame( l, handle );
    tr_handle_share share = l->handle_shares[index];
    share.over *= l->soft ? share.soft : 1;
    share.up *= l->soft ? share.soft : 1;
    vec3 offset = v3( share.over * handle->move.x, share.up * handle->move.y, share.over * handle->move.z );
    *out = ( tr_cage_handle ){ .offset = offset, .frame = frame, .point = -1 };
    if ( handle->point.who[0] != 0 ) {
        out->kind = TR_HANDLE_POINT;
        out->place = tr_anchor_position( l->stage, l->below, &l->stage->handles[index], frame );
        return;
    }
    assert( handle->vertex < l->cage.vertex_count ); // otherwise it is not held
    out->section = section_at( &l->cage, frame );
    out->kind = handle->vertex < 0 ? TR_HANDLE_SECTION : TR_HANDLE_VERTEX;
    out->vertex = handle->vertex;
    out->rotation = q_from_vector( v3_scale( fmin( share.over, share.up ) * TR_DEGREE, handle->turn ) );
}

// Does this point hang on a joint that is not grabbed? The root hangs on nothing.
static bool is_attached( const tr_cage_layer *l, tr_bound_point point )
{
    if ( point.node >= l->stage->actor_count )
        return false;
    const tr_joint *joints = l->stage->actors[point.node].target.joints;
    const bool *grabbed = l->grab->joints[point.node];
    int parent = joints[point.part].parent;
    if ( parent >= 0 && grabbed[parent] && joints[parent].role == TR_ROLE_CLAVICLE ) // the shoulder as well
        parent = joints[parent].parent;
    return parent >= 0 && !grabbed[parent];
}

static bool is_within_falloff( const tr_cage_layer *l, int frame )
{
    bool near = l->cage.def.falloff == 0;
    for ( int h = 0; h < l->handle_count; ++h )
        near = near || abs( l->handles[h].frame - frame ) < l->cage.def.falloff;
    return near;
}

// A limb that is grabbed alone stays on its body: where it hangs, it is pinned at every section. So an arm
// that is pulled turns about its shoulder.
static void limb_pins( tr_cage_layer *l )
{
    tr_cage_handle *pins = l->handles + l->handle_count;
    for ( int p = 0; p < l->point_count; ++p )
        for ( int k = 0; is_attached( l, l->bound[p] ) && k < l->cage.section_count; ++k )
            if ( is_within_falloff( l, l->cage.sections[k] ) )
                pins[l->held_count++] = ( tr_cage_handle ){
                    .kind = TR_HANDLE_POINT, .frame = l->cage.sections[k], .point = p, .local = true };
}

// Who is held at the root is held at the sole too: otherwise the cage would lean where it is pulled.
static void body_columns( tr_cage_layer *l )
{
    for ( int h = 0; h < l->handle_count; ++h ) {
        const tr_anchor *anchor = &l->stage->handles[l->handle_index[h]];
        const tr_moved_body *body = anchor->actor >= 0 ? tr_cage_layer_body( l, anchor->actor ) : NULL;
        bool whole = l->handles[h].kind == TR_HANDLE_POINT && body != NULL && anchor->count == 1 &&
                     anchor->joints[0] == tr_moved_root( l, body );
        if ( !whole )
            continue;
        size_t at = tr_layer_cell( l, l->handles[h].frame, body->first );
        double sole = l->handles[h].place.y;
        for ( int p = 0; p < body->count; ++p )
            sole = fmin( sole, l->before[at + (size_t)p].y );
        tr_cage_handle *column = &l->handles[l->handle_count + l->held_count++];
        *column = l->handles[h];
        column->place.y = sole;
    }
}

// The handles of the document, where they are now, and what goes with them.
void tr_layer_handles_fill( tr_cage_layer *l )
{
    const tr_scene *scene = l->stage->scene;
    l->handle_count = l->held_count = 0;
    l->tilts = false;
    for ( int i = 0; i < scene->handle_count; ++i ) {
        if ( !tr_handle_is_held( l->stage, l->grab, &scene->handles[i] ) )
            continue;
        make_handle( l, i, &l->handles[l->handle_count] );
        l->tilts = l->tilts || scene->handles[i].turn.x != 0 || scene->handles[i].turn.z != 0;
        l->handle_index[l->handle_count++] = i;
    }
    limb_pins( l );
    body_columns( l );
}

bool tr_layer_handles_build( tr_cage_layer *l, tr_error *error )
{
    const tr_scene *scene = l->stage->scene;
    size_t most = 2 * (size_t)scene->handle_count;
    for ( int p = 0; p < l->point_count; ++p )
        most += is_attached( l, l->bound[p] ) ? (size_t)l->cage.section_count : 0;
    l->handles = tr_alloc( most, sizeof( tr_cage_handle ) );
    l->handle_index = tr_alloc( most, sizeof( int ) );
    l->handle_errors = tr_alloc( most, sizeof( double ) );
    l->handle_shares = tr_alloc( (size_t)scene->handle_count, sizeof( tr_handle_share ) );
    if ( l->handles == NULL || l->handle_index == NULL || l->handle_errors == NULL ||
         l->handle_shares == NULL )
        return tr_error_memory( error );
    tr_layer_handles_begin( l );
    tr_layer_handles_fill( l );
    return true;
}

void tr_layer_handles_ask( tr_cage_layer *l )
{
    for ( int i = 0; i < l->stage->scene->handle_count; ++i )
        l->handle_shares[i] = ( tr_handle_share ){
            .over = 1, .up = 1, .soft = l->handle_shares[i].soft, .limit = l->handle_shares[i].limit };
    l->looks = 0;
    l->steps = l->result != NULL ? l->result->fit_steps : 0;
    for ( int i = 0; i < l->body_count; ++i )
        l->bodies[i].lowered = l->bodies[i].eased = false;
    l->soft = false;
    l->easing = TR_EASING_NONE;
}

void tr_layer_handles_begin( tr_cage_layer *l )
{
    for ( int i = 0; i < l->stage->scene->handle_count; ++i )
        l->handle_shares[i].soft = 1;
    tr_layer_handles_ask( l );
}

bool tr_layer_handles_within( const tr_cage_layer *l, bool sections, int *first, int *last )
{
    int from = *last, to = *first;
    for ( int h = 0; h < l->handle_count; ++h ) {
        int frame = l->handles[h].frame;
        if ( ( !sections && l->handles[h].kind != TR_HANDLE_POINT ) || frame < *first || frame > *last )
            return false;
        from = frame < from ? frame : from;
        to = frame > to ? frame : to;
    }
    *first = from;
    *last = to;
    return from <= to;
}

void tr_layer_handles_free( tr_cage_layer *l )
{
    tr_free( l->handles );
    tr_free( l->handle_index );
    tr_free( l->handle_errors );
    tr_free( l->handle_shares );
}

// -------------------------------------------------------------------------------------------------- yielding
// A limb or leg that is asked for more than its length is straight at once and stays so: everybody stops with
// a jerk. Who cannot follow a handle all the way is asked for as much as he can do, over the whole window.

#define MISSED  3e-3 // metres: less is not worth the while …
#define NEARLY  0.01 // … nor, of a long way, less than this of it
#define STRAYED 1e-2 // metres: the same of a body between its handles
#define LEFT    0.97 // of what was reached: limbs stay bent a little
#define LEAST   1e-3
#define BORNE   0.97 // of a jolt that is borne: what is aimed at
#define SOFTEST 0.5  // of a way, for what gives a jolt: no less at once
#define VIOLENT 2.0  // times what is borne: a jump, which does not grow evenly with the way
#define SLIGHT  1.1  // times that: one that may stay where less does not help
#define HALF    0.5  // of the way between: where what jumps is tried again
#define WORTH   0.01 // of a way: less is not worth another look
#define STEP    0.67 // of the legs: how much further apart than before feet may be asked to stand
#define LIFT    0.5  // of the height: so far up those may be asked to be who stand
#define SPARE   1e-3 // of these
#define HASTE   0.8  // of what was reached: no way is shortened by more at once
#define HOPE    0.5  // of a way: who does not come near before it is as short as this does not at all

// How much of `asked` is in `got`.
static double share_of( vec3 got, vec3 asked )
{
    return clampd( LEFT * v3_dot( got, asked ) / v3_dot( asked, asked ), LEAST, 1 );
}

// Where the path of what is held or led takes it, which keeps to the ground and to what legs reach, and what
// became of it, both from where it is below.
static vec3 anchor_asked( const tr_cage_layer *l, const tr_anchor *anchor, int frame, vec3 *got )
{
    vec3 from = tr_anchor_position( l->stage, l->below, anchor, frame ), place = from;
    tr_layer_rules_place( l, anchor, frame, &place );
    *got = v3_sub( tr_anchor_position( l->stage, l->result, anchor, frame ), from );
    return v3_sub( place, from );
}

static vec3 point_asked( const tr_cage_layer *l, int handle, vec3 *got )
{
    const tr_cage_handle *held = &l->handles[handle];
    const tr_anchor *anchor = &l->stage->handles[l->handle_index[handle]];
    if ( anchor->prop < 0 )
        return anchor_asked( l, anchor, held->frame, got );
    *got = v3_sub( tr_anchor_position( l->stage, l->result, anchor, held->frame ), held->place );
    return held->offset;
}

static double asked_share( vec3 asked, vec3 got, double least )
{
    double way = v3_length( asked ), missed = v3_distance( got, asked );
    return missed > fmax( least, NEARLY * way ) && way > least ? share_of( got, asked ) : 1;
}

static double point_share( const tr_cage_layer *l, int handle, double *missed )
{
    vec3 got, asked = point_asked( l, handle, &got );
    *missed = v3_distance( got, asked );
    return asked_share( asked, got, MISSED );
}

// Of a section, the least of those it leads: a few who are not quite there do not hold back all others.
static double section_share( const tr_cage_layer *l, int handle, double *missed )
{
    double share = 1, least = tr_cage_layer_holds_several( l ) ? STRAYED : MISSED;
    *missed = 0;
    for ( int i = 0; i < l->driven_count; ++i ) {
        vec3 got, asked = anchor_asked( l, &l->driven[i].anchor, l->handles[handle].frame, &got );
        share = fmin( share, asked_share( asked, got, least ) );
        *missed = fmax( *missed, v3_distance( got, asked ) );
    }
    return share;
}

// Limbs come to their ends gradually: as much as was reached is too much the next time as well, though by
// less. From the second time on it is known how fast what is missed goes with the way, and the line through
// both tells where nothing is missed. Where it says that shortening does not help, the way of a point stays;
// what a section leads is a whole body, which comes to stand somewhere.
static double hastened( tr_cage_layer *l, int handle, double share, double missed )
{
    tr_handle_share *now = &l->handle_shares[l->handle_index[handle]];
    double longer = now->tried - now->over, fell = now->missed - missed;
    bool again = longer > 0, point = l->handles[handle].kind == TR_HANDLE_POINT;
    double met = again && fell > 0 ? 1 - missed / fell * longer / now->over : 0;
    now->tried = now->over;
    now->missed = missed;
    if ( share == 1 || !again )
        return share;
    return point && met < HOPE ? 1 : clampd( LEFT * met, HASTE * share, share );
}

// How far the only body of a section is from where the section takes its root; false: it takes it nowhere.
static bool root_asked( tr_cage_layer *l, tr_moved_body *body, int frame, vec3 *asked, vec3 *got )
{
    size_t lead = tr_layer_cell( l, frame, body->lead );
    if ( !tr_moved_at( l, body, frame )->moves )
        return false;
    *asked = v3_mad( v3_sub( l->after[lead], l->before[lead] ), -tr_room_drop( l, body, frame ), v3_y );
    const vec3 *places = tr_world_pose( &l->result->worlds[body->node], frame ).positions;
    *got = v3_sub( places[tr_moved_root( l, body )], l->before[lead] );
    return true;
}

static bool is_led( const tr_cage_layer *l, const tr_moved_body *body )
{
    return body->node < l->stage->actor_count && body->lead >= 0;
}

// So that nobody has to take steps longer than his legs.
static double step_share( tr_cage_layer *l )
{
    double share = 1;
    for ( int i = 0; i < l->body_count; ++i ) {
        tr_moved_body *body = &l->bodies[i];
        if ( !is_led( l, body ) )
            continue;
        double most = STEP * tr_skeleton_leg_length( &l->stage->actors[body->node].target ),
               apart = tr_steps_apart( l, body );
        share = fmin( share, apart > ( 1 + SPARE ) * most ? ( 1 - SPARE ) * most / apart : 1 );
    }
    return share;
}

// Whether a body is anywhere far from where it is led by its trunk or a section.
static bool is_off( tr_cage_layer *l, tr_moved_body *body )
{
    bool off = false;
    for ( int h = 0; h < l->handle_count; ++h ) {
        const tr_anchor *anchor = &l->stage->handles[l->handle_index[h]];
        bool point = l->handles[h].kind == TR_HANDLE_POINT;
        if ( point && ( anchor->actor != body->node || !tr_room_holds( l, anchor ) ) )
            continue;
        vec3 got, asked = point ? point_asked( l, h, &got ) : v3_zero;
        if ( point )
            off = off || v3_distance( got, asked ) > MISSED;
        else if ( root_asked( l, body, l->handles[h].frame, &asked, &got ) )
            off = off || v3_distance( asked, got ) > STRAYED;
    }
    return off;
}

static bool drops( tr_cage_layer *l, tr_moved_body *body )
{
    bool any = false;
    for ( int f = l->begin; !any && f < l->begin + l->frame_count; ++f )
        any = tr_room_drop( l, body, f ) > 0;
    return any;
}

// Bodies whose legs are too short go lower from now on. True when there are any.
static bool lower( tr_cage_layer *l )
{
    bool lowered = false;
    for ( int i = 0; i < l->body_count; ++i ) {
        tr_moved_body *body = &l->bodies[i];
        if ( !is_led( l, body ) || body->lowered || !is_off( l, body ) )
            continue;
        body->lowered = true;
        lowered = drops( l, body ) || lowered;
    }
    return lowered;
}

// What would go through the ground is asked for no more than to the ground; of a section, what has most room.
static double share_down( const tr_cage_layer *l, int handle )
{
    const tr_cage_handle *held = &l->handles[handle];
    vec3 got;
    bool point = held->kind == TR_HANDLE_POINT;
    double down = -held->offset.y, room = point ? -point_asked( l, handle, &got ).y : 0;
    for ( int i = 0; !point && down > MISSED && i < l->driven_count; ++i )
        room = fmax( room, -anchor_asked( l, &l->driven[i].anchor, held->frame, &got ).y );
    return down > MISSED && down - room > MISSED ? clampd( room / down, LEAST, 1 ) : 1;
}

static bool stands_at( tr_cage_layer *l, tr_moved_body *body, int frame )
{
    vec3 place;
    bool stands = false;
    for ( int i = 0; !stands && i < body->foot_count; ++i )
        stands = tr_steps_stand( l, body, i, frame, &place );
    return stands;
}

// Who stands is lifted by no more than half of the height, as legs are long.
static double lift_share( tr_cage_layer *l, int handle )
{
    int frame = l->handles[handle].frame;
    double share = 1;
    for ( int i = 0; l->handles[handle].offset.y > MISSED && i < l->body_count; ++i ) {
        tr_moved_body *body = &l->bodies[i];
        double most =
            is_led( l, body ) ? LIFT * tr_skeleton_height( &l->stage->actors[body->node].target ) : 0;
        if ( !( most > 0 ) || l->handles[handle].offset.y < most || !tr_moved_at( l, body, frame )->moves )
            continue;
        size_t lead = tr_layer_cell( l, frame, body->lead );
        double up = l->after[lead].y - l->before[lead].y;
        if ( up > ( 1 + SPARE ) * most && stands_at( l, body, frame ) )
            share = fmin( share, ( 1 - SPARE ) * most / up );
    }
    return share;
}

bool tr_layer_handles_heed( tr_cage_layer *l )
{
    bool lifts = false;
    double share = fmin( step_share( l ), tr_layer_haste( l ) );
    for ( int h = 0; h < l->handle_count; ++h ) {
        tr_handle_share *shares = &l->handle_shares[l->handle_index[h]];
        double up = lift_share( l, h );
        shares->over *= share;
        shares->up *= share * up;
        lifts = lifts || up < 1;
    }
    return share < 1 || lifts;
}

static bool shorten( tr_cage_layer *l )
{
    bool yields = false;
    for ( int h = 0; h < l->handle_count; ++h ) {
        bool point = l->handles[h].kind == TR_HANDLE_POINT;
        double missed = 0, found = ( point ? point_share : section_share )( l, h, &missed ),
               share = hastened( l, h, found, missed ), down = share_down( l, h );
        tr_handle_share *shares = &l->handle_shares[l->handle_index[h]];
        shares->over *= share;
        shares->up *= share * down;
        yields = yields || share < 1 || down < 1;
    }
    return yields;
}

// Whether a handle has to do with a character: it holds or leads him, or somebody he may be joined to.
static bool concerns( const tr_cage_layer *l, int handle, int actor )
{
    const tr_anchor *anchor = &l->stage->handles[l->handle_index[handle]];
    bool joined = l->node_links.first[actor] < l->node_links.first[actor + 1];
    return l->handles[handle].kind != TR_HANDLE_POINT || anchor->actor == actor || anchor->actor < 0 ||
           joined;
}

static bool asks_for_little( const tr_cage_layer *l, int handle )
{
    const tr_handle *wanted = handle_at( l, l->handle_index[handle] );
    return v3_length( l->handles[handle].offset ) < MISSED && v3_length( wanted->turn ) == 0;
}

// The largest jolt of whom each handle concerns. Nothing is known of how fast those may go who never stand.
static bool find_jolts( tr_cage_layer *l )
{
    bool any = false;
    for ( int h = 0; h < l->handle_count; ++h )
        l->handle_shares[l->handle_index[h]].jolt = 0;
    for ( int n = 0; n < l->stage->actor_count; ++n ) {
        double jolt = tr_layer_jolt_left( l, n );
        for ( int h = 0; jolt > 0 && h < l->handle_count; ++h ) {
            tr_handle_share *share = &l->handle_shares[l->handle_index[h]];
            if ( !concerns( l, h, n ) || asks_for_little( l, h ) )
                continue;
            share->jolt = fmax( share->jolt, jolt );
            any = any || jolt > 1;
        }
    }
    return any;
}

// Back to what gave no jolt, or on to less. Most of them grow evenly with the way; for slight ones that do
// not nothing is given up.
static bool pull_less( tr_handle_share *share )
{
    double soft = share->soft;
    if ( share->safe > 0 ) {
        share->soft = share->safe;
        share->safe = 0;
    } else if ( share->rough > 0 && share->rough_jolt < SLIGHT && share->jolt > share->rough_jolt ) {
        share->soft = share->rough;
        share->bold = true;
    } else if ( share->jolt > 1 && !share->bold ) {
        share->rough = share->soft;
        share->rough_jolt = share->jolt;
        share->soft *= clampd( BORNE / share->jolt, SOFTEST, BORNE );
    }
    return share->soft != soft;
}

// What lies between this and what gave a jolt is tried once, if there is time to go back.
static bool pull_more( const tr_cage_layer *l, tr_handle_share *share )
{
    double fell = share->rough_jolt - share->jolt, between = share->rough - share->soft;
    double even = fell > 0 ? clampd( ( BORNE - share->jolt ) / fell, 0, 1 ) : 0;
    double more = between * ( share->rough_jolt > VIOLENT ? HALF : even );
    bool tries = !share->bold && more > WORTH * share->soft && l->looks + 2 < l->def.yield_rounds;
    share->safe = tries ? share->soft : 0;
    share->soft += tries ? more : 0;
    share->bold = share->bold || tries;
    return tries;
}

// How much a handle asks for, metres or degrees.
static double way_of( const tr_cage_layer *l, int handle )
{
    const tr_handle *wanted = handle_at( l, l->handle_index[handle] );
    return fmax( v3_length( wanted->move ), v3_length( wanted->turn ) );
}

static double largest_jolt( const tr_cage_layer *l )
{
    double most = 0;
    for ( int n = 0; n < l->stage->actor_count; ++n )
        most = fmax( most, tr_layer_jolt_left( l, n ) );
    return most;
}

// Who is where he is held, but jolts elsewhere since his legs are too short there, goes lower there; where
// that does not help, he does not. True when it is to be tried, or taken back.
static bool ease( tr_cage_layer *l )
{
    double jolt = largest_jolt( l );
    bool any = false, worse = l->easing == TR_EASING_TRIED && jolt > 1 && jolt >= l->uneased;
    for ( int i = 0; i < l->body_count; ++i ) {
        tr_moved_body *body = &l->bodies[i];
        bool tries = l->easing == TR_EASING_NONE && jolt > 1 && is_led( l, body ) && !body->lowered;
        any = any || ( worse && body->eased );
        body->eased = tries || ( body->eased && !worse );
        any = ( tries && drops( l, body ) ) || any;
    }
    l->uneased = jolt;
    l->easing = l->easing == TR_EASING_NONE && any ? TR_EASING_TRIED : TR_EASING_DONE;
    return any;
}

// Once fits have taken too many steps, there are no more looks than it takes to go back.
static void count_steps( tr_cage_layer *l )
{
    if ( l->looks < l->def.yield_rounds - 2 && !tr_may_resolve_again( l->stage, l->result, l->steps ) )
        l->looks = l->def.yield_rounds - 2;
}

// Who gets a jolt from an edit, or gives one to somebody he is joined to, is pulled at less.
bool tr_layer_handles_soften( tr_cage_layer *l )
{
    count_steps( l );
    bool time = l->looks + 2 < l->def.yield_rounds; // to take it back
    if ( ( l->easing == TR_EASING_TRIED || ( l->easing == TR_EASING_NONE && time ) ) && ease( l ) ) {
        l->looks++;
        return true;
    }
    if ( l->layer->firm || ++l->looks >= l->def.yield_rounds )
        return false;
    bool jolts = find_jolts( l ), yields = false;
    for ( int h = 0; h < l->handle_count; ++h ) {
        tr_handle_share *share = &l->handle_shares[l->handle_index[h]];
        if ( jolts )
            yields = pull_less( share ) || yields;
        else if ( l->soft )
            yields = pull_more( l, share ) || yields;
        share->limit = share->soft * way_of( l, h );
    }
    l->soft = l->soft || yields;
    return yields;
}

// What the last look at all frames said about jolts: so long a way gave none.
bool tr_layer_handles_soften_again( tr_cage_layer *l )
{
    bool any = false;
    for ( int h = 0; h < l->handle_count; ++h ) {
        tr_handle_share *share = &l->handle_shares[l->handle_index[h]];
        if ( share->soft == 1 || l->soft )
            continue;
        share->soft = clampd( share->limit / fmax( way_of( l, h ), LEAST ), LEAST, 1 - LEAST );
        any = true;
    }
    l->soft = l->soft || any;
    return any;
}

bool tr_layer_handles_yield( tr_cage_layer *l )
{
    count_steps( l );
    bool settled = l->soft || l->easing != TR_EASING_NONE;
    return !settled && ++l->looks < l->def.yield_rounds && ( lower( l ) || shorten( l ) );
}
