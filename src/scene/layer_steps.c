// Feet under an edited body. A stance moves as a whole, by what the cage does to the foot at the stance's
// middle (or where a handle holds it), over the ground and about the vertical, so that a planted foot stays
// planted. In the swing between two stances the foot goes as the cage says, less what the cage says otherwise
// than the stances before and after, faded from the one to the other:
//
//   step(t) = d(t) + (1 − s) (S₀ − d(t₀)) + s (S₁ − d(t₁)),   s from 0 at the end t₀ of the one to 1 at the
//   beginning t₁ of the other, on a minimum-jerk curve
//
// with d the cage's displacement and S a stance's. A stance that reaches beyond the window, or leaves no time
// for a step to its end, stays put: S = 0. So does what lies beyond the window.
#include "scene/layer.h"

#include <stdlib.h>

#define ONE_STANCE 0.1 // seconds between contacts of a foot that are one stance
#define STEP_TIME  0.2 // seconds it takes at least to come from a moved stance to the window's end

#define SOFT 5e-3 // metres

typedef struct shift { // of a foot, against the result below
    vec3 move;
    double turn;
} shift;

typedef struct stance {
    int first, last;
    tr_step step; // one for all of it: toes and heel go the same way, whichever of them the foot rolls over
} stance;

typedef struct foot_work {
    tr_cage_layer *l;
    int actor, joint, point; // the joint that carries the foot, and its point in the cage
    stance *stances;         // [stance_count] in order of time
    int stance_count;
    int before, after; // frames an edit may not touch any more
} foot_work;

static shift cage_shift( const foot_work *w, int frame )
{
    const tr_cage_layer *l = w->l;
    int f = frame - l->begin;
    if ( f < 0 || f >= l->frame_count )
        return ( shift ){ 0 };
    size_t at = (size_t)f * (size_t)l->point_count + (size_t)w->point;
    return ( shift ){ v3_sub( l->after[at], l->before[at] ),
                      tr_yaw( tr_cage_layer_rotation( l, w->actor, frame ) ) };
}

static vec3 foot_below( const foot_work *w, int frame )
{
    return tr_world_pose( &w->l->result->worlds[w->actor], frame ).positions[w->joint];
}

// What a shift of the foot at a frame is as a step, and the other way round.
static tr_step step_of( const foot_work *w, shift s, int frame )
{
    vec3 place = foot_below( w, frame ), turned = tr_step_apply( ( tr_step ){ .turn = s.turn }, place );
    return ( tr_step ){ s.turn, v3_add( v3_sub( place, turned ), s.move ) };
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

static int by_first_frame( const void *a, const void *b )
{
    const stance *p = a, *q = b;
    return ( p->first > q->first ) - ( p->first < q->first );
}

static bool is_of_foot( const foot_work *w, const tr_rule *rule )
{
    return rule->a.actor == w->actor && tr_rule_is_stance( rule ) && !rule->given &&
           tr_extremity_carrier( &w->l->stage->actors[w->actor].target, rule->a.joints[0] ) == w->joint;
}

static void find_stances( foot_work *w )
{
    const tr_stage *stage = w->l->stage;
    int count = 0;
    for ( int r = 0; r < stage->rule_count; ++r )
        if ( is_of_foot( w, &stage->rules[r] ) && stage->rules[r].first <= stage->rules[r].last )
            w->stances[count++] = ( stance ){ .first = stage->rules[r].first, .last = stage->rules[r].last };
    qsort( w->stances, (size_t)count, sizeof *w->stances, by_first_frame );
    w->stance_count = 0;
    for ( int i = 0; i < count; ++i ) {
        stance *last = w->stance_count > 0 ? &w->stances[w->stance_count - 1] : NULL;
        if ( last == NULL || w->stances[i].first - last->last - 1 > ONE_STANCE * stage->fps )
            w->stances[w->stance_count++] = w->stances[i];
        else if ( w->stances[i].last > last->last )
            last->last = w->stances[i].last;
    }
}

// Does the handle hold this foot, or (`body`) the root and thereby the body as a whole?
static bool holds( const foot_work *w, int handle, bool body )
{
    const tr_cage_layer *l = w->l;
    const tr_anchor *anchor = &l->stage->handles[l->handle_index[handle]];
    if ( l->handles[handle].kind != TR_HANDLE_POINT || anchor->actor != w->actor || anchor->count != 1 )
        return false;
    if ( body )
        return anchor->joints[0] == 0;
    return tr_extremity_carrier( &l->stage->actors[w->actor].target, anchor->joints[0] ) == w->joint;
}

// The frame at which a handle of the layer holds this foot (or the body) in its stance, -1 when none does.
static int held_at( const foot_work *w, const stance *s, bool body )
{
    for ( int h = 0; h < w->l->handle_count; ++h ) {
        int frame = w->l->handles[h].frame;
        if ( frame >= s->first && frame <= s->last && holds( w, h, body ) )
            return frame;
    }
    return -1;
}

static void place_stance( const foot_work *w, stance *s )
{
    int time = (int)ceil( STEP_TIME * w->l->stage->fps ), held = held_at( w, s, false ),
        body = held_at( w, s, true );
    bool cut = s->first - w->before < time || w->after - s->last < time;
    s->step = ( tr_step ){ 0 };
    if ( cut )
        return;
    int frame = held >= 0 ? held : body >= 0 ? body : ( s->first + s->last ) / 2;
    shift moved = cage_shift( w, frame );
    if ( held < 0 )
        moved.move.y = 0; // nobody leaves the ground by being pulled up
    s->step = step_of( w, moved, frame );
}

// --------------------------------------------------------------------------------------------------- swings

// What a stance asks for at its edge, the window's end, or a handle that holds the foot in its swing, beyond
// what the cage says there.
typedef struct edge {
    int frame;
    shift surplus;
} edge;

static edge edge_of( const foot_work *w, const stance *s, int frame )
{
    return ( edge ){ frame, shift_mad( shift_of( w, s->step, frame ), -1, cage_shift( w, frame ) ) };
}

// A swing the cage does not lower is not lowered by the stances before and after it either: a maximum,
// rounded off over `soft` to either side.
static double not_below( double height, double floor, double soft )
{
    double over = height - floor;
    if ( fabs( over ) < soft )
        return floor + ( over + soft ) * ( over + soft ) / ( 4 * soft );
    return over > 0 ? height : floor;
}

static edge edge_of_handle( const foot_work *w, int handle )
{
    const tr_cage_handle *held = &w->l->handles[handle];
    shift wanted = { held->offset, 0 };
    return ( edge ){ held->frame, shift_mad( wanted, -1, cage_shift( w, held->frame ) ) };
}

static tr_step foot_step( const foot_work *w, int frame )
{
    edge from = { .frame = w->before }, to = { .frame = w->after };
    for ( int h = 0; h < w->l->handle_count; ++h ) {
        int held = w->l->handles[h].frame;
        if ( held <= frame && held > from.frame && holds( w, h, false ) )
            from = edge_of_handle( w, h );
        else if ( held > frame && held < to.frame && holds( w, h, false ) )
            to = edge_of_handle( w, h );
    }
    for ( int i = 0; i < w->stance_count; ++i ) {
        const stance *s = &w->stances[i];
        if ( frame >= s->first && frame <= s->last )
            return s->step;
        if ( s->last < frame && s->last > from.frame )
            from = edge_of( w, s, s->last );
        if ( s->first > frame && s->first < to.frame )
            to = edge_of( w, s, s->first );
    }
    double t = smooth_step5( (double)( frame - from.frame ) / ( to.frame - from.frame ) );
    shift cage = cage_shift( w, frame ), sum = shift_mad( cage, 1 - t, from.surplus );
    sum = shift_mad( sum, t, to.surplus );
    sum.move.y = not_below( sum.move.y, fmin( cage.move.y, 0 ), 4 * t * ( 1 - t ) * SOFT );
    return step_of( w, sum, frame );
}

static void step_on( const foot_work *w, tr_step *steps, double *turns, int frame )
{
    const tr_cage_layer *l = w->l;
    tr_step own = foot_step( w, frame );
    if ( tr_step_is_none( own ) )
        return;
    turns[frame] = own.turn;
    tr_step *step =
        &steps[(size_t)frame * (size_t)l->stage->actors[w->actor].target.joint_count + (size_t)w->joint];
    *step = tr_step_after( *step, own );
    l->affected[(size_t)w->actor * (size_t)l->stage->frame_count + (size_t)frame] = true;
}

static bool move_foot( foot_work *w, tr_error *error )
{
    find_stances( w );
    if ( w->stance_count == 0 )
        return true;
    for ( int i = 0; i < w->stance_count; ++i )
        place_stance( w, &w->stances[i] );
    tr_step *steps = tr_result_steps( w->l->result, w->l->stage, w->actor );
    double *turns = tr_alloc( (size_t)w->l->stage->frame_count, sizeof( double ) );
    if ( turns == NULL || steps == NULL ) {
        tr_free( turns );
        return tr_error_memory( error );
    }
    w->l->feet[w->l->foot_count++] = ( tr_moved_foot ){ w->actor, w->joint, turns };
    int last = w->l->stage->frame_count - 1;
    for ( int f = w->before < 0 ? 0 : w->before + 1; f < w->after && f <= last; ++f )
        step_on( w, steps, turns, f );
    return true;
}

bool tr_cage_layer_steps( tr_cage_layer *l, tr_error *error )
{
    foot_work w = { .l = l };
    tr_cage_layer_limits( l, &w.before, &w.after );
    w.stances = tr_alloc( (size_t)l->stage->rule_count, sizeof( stance ) );
    l->feet = tr_alloc( (size_t)l->point_count, sizeof( tr_moved_foot ) );
    bool ok = ( w.stances != NULL && l->feet != NULL ) || tr_error_memory( error );
    for ( int p = 0; ok && p < l->point_count; ++p ) {
        if ( l->bound[p].node >= l->stage->actor_count )
            break; // props have no feet
        w.actor = l->bound[p].node;
        w.joint = l->bound[p].part;
        w.point = p;
        ok = move_foot( &w, error );
    }
    tr_free( w.stances );
    return ok;
}
