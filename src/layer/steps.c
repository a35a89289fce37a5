// Feet under an edited body. A stance moves as a whole, by the cage's displacement of the foot at the
// stance's middle (or where a handle holds it), over the ground and about the vertical, so that a planted
// foot stays planted. In the swing between two stances the foot moves with the cage, corrected by the
// difference between cage and stance at both ends, faded from the one to the other:
//
//   step(t) = d(t) + (1 − s) (S₀ − d(t₀)) + s (S₁ − d(t₁)),   s from 0 at the end t₀ of the one to 1 at the
//   beginning t₁ of the other, on a minimum-jerk curve
//
// with d the cage's displacement and S a stance's. A stance that reaches beyond the window, or leaves no time
// for a step to its end, stays put: S = 0. So do stances beyond the window.
#include "layer/private.h"

typedef tr_foot_shift shift;

typedef struct foot_work {
    tr_cage_layer *l;
    tr_moved_body *body;
    tr_moved_foot *foot;
    int before, after; // frames an edit may not touch any more, around the one at hand
} foot_work;

static foot_work work_of( tr_cage_layer *l, tr_moved_body *body, tr_moved_foot *foot, int frame )
{
    foot_work w = { .l = l, .body = body, .foot = foot };
    tr_cage_layer_limits_at( l, frame, &w.before, &w.after );
    return w;
}

// A character that follows has no points in the cage: its feet move by its steps alone.
static shift whole_shift( const foot_work *w, int frame )
{
    tr_cage_layer *l = w->l;
    const tr_moved_frame *moved = w->body->following == NULL ? tr_moved_at( l, w->body, frame ) : NULL;
    if ( moved == NULL || !moved->moves )
        return ( shift ){ 0 };
    size_t at = tr_layer_cell( l, frame, w->foot->point );
    return ( shift ){ v3_sub( l->after[at], l->before[at] ), moved->yaw };
}

// The same for a body that moves along; one that is eased is lower between its feet's steps, which stay.
static shift cage_shift( const foot_work *w, int frame )
{
    shift s = whole_shift( w, frame );
    if ( w->body->following == NULL && w->body->lowered )
        s.move.y -= tr_room_drop( w->l, w->body, frame );
    return s;
}

static vec3 foot_below( const foot_work *w, int frame )
{
    return tr_world_pose( &w->l->below->worlds[w->body->node], frame ).positions[w->foot->joint];
}

// Height of the lowest joint of a foot above the ground.
static double foot_room( const foot_work *w, int frame )
{
    const tr_skeleton *skeleton = &w->l->stage->actors[w->body->node].target;
    const vec3 *places = tr_world_pose( &w->l->below->worlds[w->body->node], frame ).positions;
    double lowest = places[w->foot->joint].y;
    for ( int j = w->foot->joint + 1; j < skeleton->joint_count; ++j )
        if ( tr_extremity_carrier( skeleton, j ) == w->foot->joint )
            lowest = fmin( lowest, places[j].y );
    return fmax( lowest - w->l->stage->ground, 0 );
}

// A shift of a place as a step; the same for the foot at a frame; and a step as a shift.
static tr_step step_at( vec3 place, shift s )
{
    vec3 turned = tr_step_apply( ( tr_step ){ .turn = s.turn }, place );
    return ( tr_step ){ s.turn, v3_add( v3_sub( place, turned ), s.move ) };
}

static tr_step step_of( const foot_work *w, shift s, int frame )
{
    return step_at( foot_below( w, frame ), s );
}

static shift shift_of( const foot_work *w, tr_step step, int frame )
{
    vec3 place = foot_below( w, frame );
    return ( shift ){ v3_sub( tr_step_apply( step, place ), place ), step.turn };
}

static shift shift_mad( shift a, double s, shift b )
{
    return ( shift ){ v3_mad( a.move, s, b.move ), a.turn + s * b.turn };
}

// ------------------------------------------------------------------------------------------------- stances

typedef struct own_rules { // those that make stances of one character
    tr_rule **rules;       // [count]
    int count;
    tr_rule **mine;   // scratch: [count] those of one foot
    tr_stance *spans; // scratch: [count]
} own_rules;

static bool gather_own( const tr_stage *stage, int actor, own_rules *out )
{
    size_t all = (size_t)stage->rule_count;
    out->rules = tr_alloc( 2 * all, sizeof *out->rules );
    out->spans = tr_alloc( all, sizeof *out->spans );
    if ( out->rules == NULL || out->spans == NULL )
        return false;
    out->mine = out->rules + all;
    for ( int r = 0; r < stage->rule_count; ++r ) {
        tr_rule *rule = &stage->rules[r];
        if ( rule->a.actor == actor && !rule->given && rule->first <= rule->last &&
             tr_stance_foot( stage, rule ) >= 0 )
            out->rules[out->count++] = rule;
    }
    return true;
}

// False when out of memory. No stances: the joint carries no foot that ever stands.
static bool find_stances( const tr_cage_layer *l, const own_rules *own, tr_moved_foot *foot )
{
    const tr_stage *stage = l->stage;
    int count = 0;
    for ( int r = 0; r < own->count; ++r )
        if ( tr_stance_foot( stage, own->rules[r] ) == foot->joint )
            own->mine[count++] = own->rules[r];
    count = tr_stances_find( stage, own->mine, count, false, own->spans );
    foot->stances = count > 0 ? tr_alloc( (size_t)count, sizeof *foot->stances ) : NULL;
    if ( foot->stances == NULL )
        return count == 0;
    foot->stance_count = count;
    for ( int i = 0; i < count; ++i )
        foot->stances[i].span = own->spans[i];
    return true;
}

static bool find_feet( const tr_cage_layer *l, tr_moved_body *body )
{
    own_rules own = { 0 };
    bool grabbed = body->following == NULL;
    int joints = grabbed ? body->count : l->stage->actors[body->node].target.joint_count;
    body->feet = tr_alloc( (size_t)joints, sizeof( tr_moved_foot ) );
    bool ok = body->feet != NULL && gather_own( l->stage, body->node, &own );
    for ( int i = 0; ok && i < joints; ++i ) {
        tr_moved_foot *foot = &body->feet[body->foot_count];
        int point = body->first + i;
        *foot = grabbed ? ( tr_moved_foot ){ .joint = l->bound[point].part, .point = point }
                        : ( tr_moved_foot ){ .joint = i, .point = -1 };
        ok = find_stances( l, &own, foot );
        body->foot_count += foot->stance_count > 0;
    }
    tr_free( own.rules );
    tr_free( own.spans );
    return ok;
}

// Largest second difference of the places of a foot below, metres.
static double fastest( const tr_cage_layer *l, const tr_moved_body *body, int joint )
{
    const tr_world *world = &l->below->worlds[body->node];
    double most = 0;
    for ( int f = 1; f + 1 < world->frame_count; ++f ) {
        vec3 a = tr_world_pose( world, f - 1 ).positions[joint],
             b = tr_world_pose( world, f ).positions[joint],
             c = tr_world_pose( world, f + 1 ).positions[joint];
        most = fmax( most, v3_length( v3_mad( v3_add( a, c ), -2, b ) ) );
    }
    return most;
}

bool tr_steps_build( tr_cage_layer *l, tr_moved_body *body, tr_error *error )
{
    if ( body->node >= l->stage->actor_count )
        return true; // props have no feet
    if ( !find_feet( l, body ) )
        return tr_error_memory( error );
    for ( int i = 0; i < body->foot_count; ++i )
        body->fastest = fmax( body->fastest, fastest( l, body, body->feet[i].joint ) );
    bool stands = body->foot_count > 0;
    return !stands || tr_result_steps( l->result, l->stage, body->node ) != NULL || tr_error_memory( error );
}

void tr_steps_free( tr_moved_body *body )
{
    for ( int i = 0; i < body->foot_count; ++i )
        tr_free( body->feet[i].stances );
    tr_free( body->feet );
}

// Does the handle hold this foot, or (`body`) the root or a section and thereby the body as a whole?
static bool holds( const foot_work *w, int handle, bool body )
{
    const tr_cage_layer *l = w->l;
    const tr_anchor *anchor = &l->stage->handles[l->handle_index[handle]];
    if ( body && l->handles[handle].kind != TR_HANDLE_POINT )
        return w->body->lead >= 0;
    if ( l->handles[handle].kind != TR_HANDLE_POINT || anchor->actor != w->body->node || anchor->count != 1 )
        return false;
    if ( body )
        return anchor->joints[0] == tr_moved_root( l, w->body );
    return tr_extremity_carrier( &l->stage->actors[w->body->node].target, anchor->joints[0] ) ==
           w->foot->joint;
}

// Handles so near a stance mean the foot that is about to land, or has just been lifted, as it stands.
static int landing( const tr_cage_layer *l )
{
    return tr_frames_in( l->def.landing_time, l->stage->fps );
}

// The handle of the layer that holds this foot (or the body) in its stance or `beside` it, NULL when none
// does.
static const tr_cage_handle *held_in( const foot_work *w, const tr_moved_stance *s, bool body, int beside )
{
    for ( int h = 0; h < w->l->handle_count; ++h ) {
        int frame = w->l->handles[h].frame;
        if ( frame >= s->span.first - beside && frame <= s->span.last + beside && holds( w, h, body ) )
            return &w->l->handles[h];
    }
    return NULL;
}

static bool is_in_stance( const foot_work *w, int frame )
{
    bool in = false;
    for ( int i = 0; i < w->foot->stance_count; ++i )
        in = in || ( frame >= w->foot->stances[i].span.first && frame <= w->foot->stances[i].span.last );
    return in;
}

bool tr_stance_is_cut( const tr_cage_layer *l, const tr_stance *s )
{
    int time = tr_frames_in( l->def.step_time, l->stage->fps ), before, after;
    tr_cage_layer_limits_at( l, s->first, &before, &after );
    return s->first - before < time || after - s->last < time;
}

static void place_stance( const foot_work *w, tr_moved_stance *s )
{
    const tr_cage_handle *held = held_in( w, s, false, 0 ), *near = held_in( w, s, false, landing( w->l ) ),
                         *body = held_in( w, s, true, 0 ), *foot = held != NULL ? held : near;
    s->step = ( tr_step ){ 0 };
    if ( tr_stance_is_cut( w->l, &s->span ) )
        return;
    if ( w->body->following != NULL ) {
        s->step = tr_follow_way( w->l, w->body, tr_follow_stance( w->l, w->body, &s->span ) );
        return;
    }
    int frame = foot != NULL   ? foot->frame
                : body != NULL ? body->frame
                               : ( s->span.first + s->span.last ) / 2;
    shift moved = whole_shift( w, frame );
    if ( foot != NULL ) // it goes where it is led, however the body around it is kept upright
        moved.move = foot->offset;
    moved.move.y = held == NULL ? 0 : fmax( moved.move.y, 0 ); // a pull upwards takes no foot off the ground
    s->step = foot != NULL ? step_at( foot->place, moved ) : step_of( w, moved, frame );
}

// The step of the stance in this solve.
static tr_step stance_step( const foot_work *w, tr_moved_stance *s )
{
    if ( s->stamp != w->l->stamp )
        place_stance( w, s );
    s->stamp = w->l->stamp;
    return s->step;
}

bool tr_steps_stand( tr_cage_layer *l, tr_moved_body *body, int foot, int frame, vec3 *place )
{
    foot_work w = work_of( l, body, &body->feet[foot], frame );
    for ( int i = 0; i < w.foot->stance_count; ++i ) {
        tr_moved_stance *s = &w.foot->stances[i];
        if ( frame < s->span.first || frame > s->span.last )
            continue;
        *place = tr_step_apply( stance_step( &w, s ), foot_below( &w, frame ) );
        return true;
    }
    return false;
}

static vec3 stance_shift( tr_cage_layer *l, tr_moved_body *body, int foot, tr_moved_stance *s, int frame )
{
    foot_work w = work_of( l, body, &body->feet[foot], frame );
    return v3_horizontal( shift_of( &w, stance_step( &w, s ), frame ).move );
}

static double feet_apart( tr_cage_layer *l, tr_moved_body *body, int i, int j )
{
    double most = 0;
    for ( int s = 0; s < body->feet[i].stance_count; ++s )
        for ( int t = 0; t < body->feet[j].stance_count; ++t ) {
            tr_moved_stance *a = &body->feet[i].stances[s], *b = &body->feet[j].stances[t];
            int frame = a->span.first > b->span.first ? a->span.first : b->span.first;
            if ( frame < 0 || frame >= l->stage->frame_count || frame > a->span.last || frame > b->span.last )
                continue;
            most = fmax( most, v3_distance( stance_shift( l, body, i, a, frame ),
                                            stance_shift( l, body, j, b, frame ) ) );
        }
    return most;
}

double tr_steps_apart( tr_cage_layer *l, tr_moved_body *body )
{
    double most = 0;
    for ( int i = 1; i < body->foot_count; ++i )
        for ( int j = 0; j < i; ++j )
            most = fmax( most, feet_apart( l, body, i, j ) );
    return most;
}

void tr_steps_forget( tr_moved_body *body )
{
    for ( int i = 0; i < body->foot_count; ++i )
        for ( int s = 0; s < body->feet[i].stance_count; ++s )
            body->feet[i].stances[s].stamp = 0;
}

// --------------------------------------------------------------------------------------------------- swings

// An end of a swing: the edge of a stance, the window's end, or a handle that holds the foot, with the
// difference to the cage's displacement there.
typedef struct edge {
    int frame;
    bool held; // a handle holds it
    shift surplus;
} edge;

static edge edge_of( const foot_work *w, tr_moved_stance *s, bool last )
{
    int frame = last ? s->span.last : s->span.first;
    if ( s->edge_stamps[last] != w->l->stamp )
        s->surplus[last] = shift_mad( shift_of( w, stance_step( w, s ), frame ), -1, cage_shift( w, frame ) );
    s->edge_stamps[last] = w->l->stamp;
    return ( edge ){ frame, false, s->surplus[last] };
}

// The edges of stances before and after a frame, or the window's ends.
static void edges_around( const foot_work *w, int frame, edge *from, edge *to )
{
    tr_moved_stance *before = NULL, *after = NULL;
    *from = ( edge ){ .frame = w->before };
    *to = ( edge ){ .frame = w->after };
    for ( int i = 0; i < w->foot->stance_count && after == NULL; ++i ) {
        tr_moved_stance *s = &w->foot->stances[i];
        if ( s->span.last < frame && s->span.last > from->frame )
            before = s;
        if ( s->span.first > frame && s->span.first < to->frame )
            after = s;
    }
    if ( before != NULL )
        *from = edge_of( w, before, true );
    if ( after != NULL )
        *to = edge_of( w, after, false );
}

// A foot takes its time: from a surplus to the next it goes no faster than a step.
static shift within_time( const foot_work *w, shift wanted, edge next, int frame )
{
    double time = frame - next.frame, most = w->l->def.aside * w->body->fastest * time * time;
    shift way = shift_mad( wanted, -1, next.surplus );
    double far = v3_length( way.move );
    return far > most ? shift_mad( next.surplus, most / far, way ) : wanted;
}

static edge edge_of_handle( const foot_work *w, int handle )
{
    const tr_cage_handle *held = &w->l->handles[handle];
    edge from, to;
    edges_around( w, held->frame, &from, &to );
    shift wanted = shift_mad( ( shift ){ held->offset, 0 }, -1, cage_shift( w, held->frame ) );
    wanted = within_time( w, wanted, from, held->frame );
    return ( edge ){ held->frame, true, within_time( w, wanted, to, held->frame ) };
}

// A body that crouches swings its feet about as high as before. Only a handle on a foot lowers that foot, at
// most to the ground. Feet that are not lowered keep their bits: the limit is rounded off below them.
static double sunk( const foot_work *w, int frame, double down, double soft, bool held )
{
    double room = foot_room( w, frame );
    soft = fmin( soft, room );
    return tr_not_below( down, held ? -room : -soft, soft );
}

static tr_step foot_step( const foot_work *w, int frame )
{
    edge from, to;
    for ( int i = 0; i < w->foot->stance_count; ++i ) {
        tr_moved_stance *s = &w->foot->stances[i];
        if ( frame >= s->span.first && frame <= s->span.last )
            return stance_step( w, s );
    }
    edges_around( w, frame, &from, &to );
    for ( int h = 0; h < w->l->handle_count; ++h ) { // those in the swing are nearer
        int held = w->l->handles[h].frame;
        if ( !holds( w, h, false ) || is_in_stance( w, held ) )
            continue;
        if ( held <= frame && held > from.frame )
            from = edge_of_handle( w, h );
        else if ( held > frame && held < to.frame )
            to = edge_of_handle( w, h );
    }
    double t = smooth_step5( (double)( frame - from.frame ) / ( to.frame - from.frame ) );
    shift cage = cage_shift( w, frame ), sum = shift_mad( cage, 1 - t, from.surplus );
    sum = shift_mad( sum, t, to.surplus );
    if ( sum.move.y < 0 )
        sum.move.y =
            sunk( w, frame, sum.move.y, 4 * t * ( 1 - t ) * w->l->def.ground_round, from.held || to.held );
    return step_of( w, sum, frame );
}

bool tr_steps_lead( tr_cage_layer *l, const tr_anchor *anchor, int frame, vec3 *place )
{
    tr_moved_body *body = anchor->actor >= 0 ? tr_cage_layer_body( l, anchor->actor ) : NULL;
    for ( int i = 0; body != NULL && i < body->foot_count; ++i ) {
        foot_work w = work_of( l, body, &body->feet[i], frame );
        bool mine =
            anchor->count == 1 &&
            w.foot->joint == tr_extremity_carrier( &l->stage->actors[body->node].target, anchor->joints[0] );
        if ( mine && frame > w.before && frame < w.after )
            *place = tr_step_apply( foot_step( &w, frame ), *place );
        if ( mine )
            return true;
    }
    return false;
}

bool tr_steps_frame( tr_cage_layer *l, tr_moved_body *body, int frame )
{
    bool moved = false, stands = body->following != NULL && !tr_follow_asked( body );
    const tr_step *below = l->below->steps[body->node];
    for ( int i = 0; i < body->foot_count; ++i ) {
        tr_moved_foot *foot = &body->feet[i];
        foot_work w = work_of( l, body, foot, frame );
        bool steps = frame > w.before && frame < w.after && !stands;
        tr_step own = steps ? foot_step( &w, frame ) : ( tr_step ){ 0 };
        size_t at = tr_step_cell( l->stage, foot->joint, frame );
        tr_step from = below != NULL ? below[at] : ( tr_step ){ 0 };
        foot->own = own;
        l->result->steps[body->node][at] = tr_step_is_none( own ) ? from : tr_step_after( from, own );
        moved = moved || !tr_step_is_none( own );
    }
    return moved;
}
