// The rules of an edited stage. Those of the document ask for no more than the result below gave, moved on by
// the edit; what a handle holds gets a rule of its own over the whole window, so that a point that is dragged
// at one frame does not stand out among its neighbours; grabbed props stay where the cage put them.
#include "layer/private.h"

#include <stdlib.h>
#include <string.h>

typedef struct tr_missed_rule {
    int rule;
    int owner;       // the node it is listed at
    int first, last; // frames in which it is missed
    int nodes[2];    // the error turns with one of these: the first that moves as a whole; -1
    vec3 *below;     // [frame_count of the stage] how far the result below is from it
    vec3 *now;       // the same, turned with those the rule joins
} tr_missed_rule;

void tr_layer_rules_free( tr_cage_layer *l )
{
    for ( int i = 0; l->missed != NULL && i < l->missed_count; ++i ) {
        tr_free( l->missed[i].below );
        tr_free( l->missed[i].now );
    }
    tr_free( l->missed );
    tr_free( l->missed_of );
    tr_free( l->edited.rules );
    tr_free( l->paths );
    tr_free( l->path_weights );
    tr_lists_free( &l->path_rules );
    tr_free( l->handle_misses );
    tr_driven_free( l );
}

// -------------------------------------------------------------------------------------------------- missed

// How far the result below is from a rule for a place, frame by frame, as far as it pulls in the window. Only
// one rule for the stances of a foot is active at a time.
static bool note_miss( tr_cage_layer *l, int r )
{
    const tr_stage *stage = l->stage;
    const tr_rule *rule = &stage->rules[r];
    int a = tr_anchor_node( stage, &rule->a ), b = tr_anchor_node( stage, &rule->b );
    bool relative = rule->kind == TR_CONSTRAINT_RELATIVE,
         place = relative || rule->kind == TR_CONSTRAINT_CONTACT ||
                 ( rule->kind == TR_CONSTRAINT_ABSOLUTE && !rule->direction ),
         linked = ( a >= 0 && l->linked[a] ) || ( b >= 0 && l->linked[b] );
    const int *standing = rule->footing >= 0 && tr_rule_is_stance( rule )
                              ? stage->actors[rule->a.actor].footings[rule->footing].rule
                              : NULL;
    tr_missed_rule missed = { .rule = r };
    int before, after;
    tr_cage_layer_limits( l, &before, &after );
    for ( int f = before < 0 ? 0 : before; place && linked && f <= after && f < stage->frame_count; ++f ) {
        if ( !( tr_rule_pull( stage, rule, f ) > 0 ) || ( standing != NULL && standing[f] != r ) )
            continue;
        if ( missed.below == NULL ) {
            missed.below = tr_alloc( (size_t)stage->frame_count, sizeof( vec3 ) );
            missed.now = tr_alloc( (size_t)stage->frame_count, sizeof( vec3 ) );
            missed.first = f;
            l->missed[l->missed_count++] = missed;
        }
        if ( missed.below == NULL || missed.now == NULL )
            return false;
        vec3 at = tr_anchor_position( stage, l->below, &rule->a, f );
        if ( relative )
            at = v3_sub( at, tr_anchor_position( stage, l->below, &rule->b, f ) );
        missed.below[f] = missed.now[f] = v3_sub( at, tr_rule_target( stage, l->below, rule, f ) );
        l->missed[l->missed_count - 1].last = f;
    }
    l->edited.rules[r].miss = missed.now;
    return true;
}

static bool is_whole( const tr_cage_layer *l, int node )
{
    const tr_moved_body *body = node >= 0 ? tr_cage_layer_body( l, node ) : NULL;
    return ( body != NULL && body->lead >= 0 ) || ( node >= 0 && tr_follower( l, node ) != NULL );
}

static int by_owner( const void *a, const void *b )
{
    const tr_missed_rule *p = a, *q = b;
    return p->owner != q->owner ? p->owner - q->owner : p->rule - q->rule;
}

static void list_misses( tr_cage_layer *l )
{
    int nodes = l->stage->actor_count + l->stage->prop_count, i = 0;
    for ( int m = 0; m < l->missed_count; ++m ) {
        const tr_rule *rule = &l->stage->rules[l->missed[m].rule];
        int b = tr_anchor_node( l->stage, &rule->b ), a = tr_anchor_node( l->stage, &rule->a );
        l->missed[m].nodes[0] = is_whole( l, b ) ? b : -1;
        l->missed[m].nodes[1] = is_whole( l, a ) ? a : -1;
        l->missed[m].owner = a >= 0 && l->linked[a] ? a : b;
    }
    if ( l->missed_count > 0 )
        qsort( l->missed, (size_t)l->missed_count, sizeof *l->missed, by_owner );
    for ( int n = 0; n <= nodes; ++n ) {
        while ( i < l->missed_count && l->missed[i].owner < n )
            ++i;
        l->missed_of[n] = i;
    }
}

static bool note_misses( tr_cage_layer *l )
{
    l->missed = tr_alloc( (size_t)l->stage->rule_count, sizeof( tr_missed_rule ) );
    l->missed_of = tr_alloc( (size_t)( l->stage->actor_count + l->stage->prop_count + 1 ), sizeof( int ) );
    if ( l->missed == NULL || l->missed_of == NULL )
        return false;
    for ( int r = 0; r < l->stage->rule_count; ++r )
        if ( !note_miss( l, r ) )
            return false;
    list_misses( l );
    return true;
}

// The miss of a rule turns with the bodies that it joins: while a rule fades in its miss is large, and has
// its direction relative to these bodies.
static void turn_miss( tr_cage_layer *l, tr_missed_rule *missed, int frame )
{
    missed->now[frame] = missed->below[frame];
    bool any = missed->below[frame].x != 0 || missed->below[frame].z != 0;
    for ( int end = 0; any && end < 2; ++end ) {
        const tr_moved_frame *moved = tr_moved_whole( l, missed->nodes[end], frame );
        if ( moved == NULL )
            continue;
        missed->now[frame] = q_rotate( moved->heading, missed->below[frame] );
        return;
    }
}

// -------------------------------------------------------------------------------------------------- handles

static bool same_anchor( const tr_anchor *a, const tr_anchor *b )
{
    bool same = a->actor == b->actor && a->prop == b->prop && a->count == b->count &&
                v3_distance( a->offset, b->offset ) == 0;
    for ( int i = 0; same && i < a->count; ++i )
        same = a->joints[i] == b->joints[i] && a->weights[i] == b->weights[i];
    return same;
}

static const tr_anchor *anchor_of( const tr_cage_layer *l, int handle )
{
    return &l->stage->handles[l->handle_index[handle]];
}

// A strained cage misses its handles by a little. The misses of the handles on this point are added back at
// their frames, and fade from one to the next and to the window's ends.
static vec3 made_up( const tr_cage_layer *l, const tr_anchor *anchor, int frame )
{
    int before, after;
    tr_cage_layer_limits_at( l, frame, &before, &after );
    vec3 from = v3_zero, to = v3_zero;
    for ( int h = 0; h < l->handle_count; ++h ) {
        int held = l->handles[h].frame;
        if ( l->handles[h].kind != TR_HANDLE_POINT || !same_anchor( anchor_of( l, h ), anchor ) )
            continue;
        if ( held <= frame && held > before ) { // the first of two at one frame
            before = held;
            from = l->handle_misses[h];
        }
        if ( held > frame && held < after ) {
            after = held;
            to = l->handle_misses[h];
        }
    }
    if ( after <= before ) // it rests there
        return v3_zero;
    return v3_lerp( from, to, smooth_step5( (double)( frame - before ) / ( after - before ) ) );
}

static float *weights_of( tr_cage_layer *l, int path, int frame )
{
    size_t row = (size_t)path * (size_t)l->frame_count + (size_t)( frame - l->begin );
    return l->path_weights + row * (size_t)l->cage.vertex_count;
}

static void weigh_path( tr_cage_layer *l, const tr_anchor *anchor, int path )
{
    for ( int f = l->begin; f < l->begin + l->frame_count; ++f ) {
        vec3 place = tr_anchor_position( l->stage, l->below, anchor, f );
        tr_cage_weigh( &l->cage, f, &place, 1, weights_of( l, path, f ) );
    }
}

// Where the cage takes a point of the result below. Feet have their steps.
static vec3 trace( tr_cage_layer *l, const tr_anchor *anchor, int path, int frame )
{
    vec3 place = tr_anchor_position( l->stage, l->below, anchor, frame );
    if ( tr_steps_lead( l, anchor, frame, &place ) )
        return place;
    vec3 moved = tr_cage_move_weighted( &l->cage, frame, place, weights_of( l, path, frame ) );
    double drop = tr_room_anchor( l, anchor, frame );
    moved = v3_mad( v3_add( moved, made_up( l, anchor, frame ) ), -drop, v3_y );
    return tr_above_ground( l, anchor, frame, place, moved );
}

// ---------------------------------------------------------------------------------------------------- props

// A box is rigid and the cage is not, so what a handle holds of it may be beside its mark. The box moves
// there at the handle's frame, and less and less towards the window's ends. `handles`: how many of them
// count.
static rigid prop_place( tr_cage_layer *l, tr_moved_body *body, int frame, int handles )
{
    int prop = body->node - l->stage->actor_count, frames = l->stage->frame_count;
    const tr_moved_frame *moved = tr_moved_at( l, body, frame );
    rigid place = l->below->tracks[prop][frame];
    if ( moved->moves ) {
        place.rotation = q_unit( q_mul( moved->turn, place.rotation ) );
        place.position = tr_mean_point( l->after + tr_layer_cell( l, frame, body->first ), body->count );
    }
    for ( int h = 0; h < handles; ++h ) {
        if ( l->handles[h].kind != TR_HANDLE_POINT || anchor_of( l, h )->prop != prop )
            continue;
        int held = l->handles[h].frame, low, high; // the layer ends at these, or at the ends of the stage
        tr_cage_layer_limits_at( l, held, &low, &high );
        int ease_in = held - ( low < -1 ? -1 : low ) - 1,
            ease_out = ( high > frames ? frames : high ) - held - 1;
        place.position = v3_mad( place.position, tr_fade_range( frame, held, held, ease_in, ease_out ),
                                 l->handle_misses[h] );
    }
    return place;
}

rigid tr_layer_prop_place( tr_cage_layer *l, tr_moved_body *body, int frame )
{
    return prop_place( l, body, frame, l->handle_count );
}

// ---------------------------------------------------------------------------------------------------- rules

static vec3 *new_path( tr_cage_layer *l )
{
    return l->paths + (size_t)l->path_count++ * (size_t)l->stage->frame_count;
}

// A hard rule that leads `anchor` along a path through the window.
static tr_rule *add_rule( tr_cage_layer *l, const tr_anchor *anchor, const vec3 *path )
{
    tr_rule *rule = tr_rule_append( &l->edited ); // there is room
    rule->kind = TR_CONSTRAINT_ABSOLUTE;
    rule->a = *anchor;
    rule->path = path;
    rule->first = l->begin;
    rule->last = l->begin + l->frame_count - 1;
    return rule;
}

// The path of another handle on the same point, NULL when this is the first.
static const vec3 *known_path( const tr_cage_layer *l, const tr_anchor *anchor )
{
    for ( int r = l->stage->rule_count; r < l->edited.rule_count; ++r )
        if ( same_anchor( &l->edited.rules[r].a, anchor ) )
            return l->edited.rules[r].path;
    return NULL;
}

// Ends the rule at the nearest handles on other points of the same body, before and after: there these
// decide.
static void make_way( const tr_cage_layer *l, int frame, tr_rule *rule )
{
    for ( int h = 0; h < l->handle_count; ++h ) {
        const tr_anchor *other = anchor_of( l, h );
        int away = l->handles[h].frame - frame;
        if ( l->handles[h].kind != TR_HANDLE_POINT || other->actor != rule->a.actor ||
             same_anchor( other, &rule->a ) )
            continue;
        if ( away < 0 && l->handles[h].frame > rule->first - rule->ease_in - 1 ) {
            rule->first = frame;
            rule->ease_in = -away - 1;
        }
        if ( away > 0 && l->handles[h].frame < rule->last + rule->ease_out + 1 ) {
            rule->last = frame;
            rule->ease_out = away - 1;
        }
    }
}

// The same for the joints of a character that sections drive: the end of a limb like a held joint, a root
// around the section only, so that legs decide elsewhere. One frame is too short for a root: a place that is
// just within reach takes full strength to be reached, and a body that bends for it in one frame jumps.
static void add_led( tr_cage_layer *l, const tr_anchor *anchor )
{
    if ( anchor->prop >= 0 || known_path( l, anchor ) != NULL )
        return;
    weigh_path( l, anchor, l->path_count );
    const vec3 *path = new_path( l );
    for ( int h = 0; h < l->handle_count; ++h ) {
        if ( l->handles[h].kind == TR_HANDLE_POINT )
            continue;
        tr_rule *rule = add_rule( l, anchor, path );
        if ( anchor->joints[0] == tr_moved_root( l, tr_cage_layer_body( l, anchor->actor ) ) ) {
            int time = tr_frames_in( l->def.root_time, l->stage->fps );
            rule->first = l->handles[h].frame - time;
            rule->last = l->handles[h].frame + time;
            rule->ease_in = rule->ease_out = time;
        }
        make_way( l, l->handles[h].frame, rule );
    }
}

// An anchor held at one frame is led along its path through the whole window, so that this frame does not
// differ from its neighbours. Props stay where the cage put them.
static void add_rules( tr_cage_layer *l )
{
    for ( int h = 0; h < l->handle_count; ++h ) {
        const tr_anchor *anchor = anchor_of( l, h );
        if ( l->handles[h].kind != TR_HANDLE_POINT || anchor->prop >= 0 )
            continue;
        const vec3 *path = known_path( l, anchor );
        if ( path == NULL ) {
            weigh_path( l, anchor, l->path_count );
            path = new_path( l );
        }
        make_way( l, l->handles[h].frame, add_rule( l, anchor, path ) );
    }
    for ( int i = 0; i < l->driven_count; ++i )
        add_led( l, &l->driven[i].anchor );
    for ( int i = 0; i < l->body_count; ++i )
        if ( l->bodies[i].node >= l->stage->actor_count ) {
            tr_anchor centre = { .actor = -1, .prop = l->bodies[i].node - l->stage->actor_count };
            l->bodies[i].path = new_path( l );
            add_rule( l, &centre, l->bodies[i].path );
        }
}

// Lists the layer's rules that lead an actor, one for each path: rules of one path follow each other.
static bool list_paths( tr_cage_layer *l )
{
    int count = l->edited.rule_count, *actors = tr_alloc( (size_t)count, sizeof( int ) );
    for ( int r = 0; actors != NULL && r < count; ++r ) {
        const tr_rule *rule = &l->edited.rules[r];
        bool own = r >= l->stage->rule_count && rule->a.actor >= 0 &&
                   ( r == l->stage->rule_count || rule->path != rule[-1].path );
        actors[r] = own ? rule->a.actor : -1;
    }
    bool ok = actors != NULL && tr_lists_build( &l->path_rules, actors, count, l->stage->actor_count );
    tr_free( actors );
    return ok;
}

bool tr_layer_rules_build( tr_cage_layer *l, tr_error *error )
{
    const tr_stage *stage = l->stage;
    if ( !tr_driven_build( l ) )
        return tr_error_memory( error );
    int paths = l->handle_count + l->driven_count, most = paths + l->body_count,
        rules = l->handle_count * ( 1 + l->driven_count ) + l->body_count;
    l->edited.rule_capacity = stage->rule_count + rules;
    l->edited.rules = tr_alloc( (size_t)l->edited.rule_capacity, sizeof( tr_rule ) );
    l->paths = tr_alloc( (size_t)most * (size_t)stage->frame_count, sizeof( vec3 ) );
    l->handle_misses = tr_alloc( (size_t)l->handle_count, sizeof( vec3 ) );
    l->path_weights =
        tr_alloc( (size_t)paths * (size_t)l->frame_count * (size_t)l->cage.vertex_count, sizeof( float ) );
    if ( l->edited.rules == NULL || l->paths == NULL || l->handle_misses == NULL || l->path_weights == NULL )
        return tr_error_memory( error );
    if ( stage->rule_count > 0 ) // otherwise there is no list at all
        memcpy( l->edited.rules, stage->rules, (size_t)stage->rule_count * sizeof( tr_rule ) );
    if ( !note_misses( l ) )
        return tr_error_memory( error );
    add_rules( l );
    return list_paths( l ) || tr_error_memory( error );
}

void tr_layer_rules_solve( tr_cage_layer *l )
{
    for ( int h = 0; h < l->handle_count; ++h ) {
        const tr_cage_handle *handle = &l->handles[h];
        const tr_anchor *anchor = anchor_of( l, h );
        vec3 wanted = v3_add( handle->place, handle->offset ), moved = wanted;
        tr_moved_body *box =
            anchor->prop >= 0 ? tr_cage_layer_body( l, l->stage->actor_count + anchor->prop ) : NULL;
        if ( handle->kind == TR_HANDLE_POINT && anchor->prop < 0 )
            tr_cage_move_points( &l->cage, handle->frame, &handle->place, 1, &moved );
        else if ( handle->kind == TR_HANDLE_POINT && box != NULL )
            moved = rigid_apply( prop_place( l, box, handle->frame, h ), anchor->offset );
        l->handle_misses[h] = v3_sub( wanted, moved );
    }
}

bool tr_layer_rules_place( const tr_cage_layer *l, const tr_anchor *anchor, int frame, vec3 *place )
{
    const vec3 *path = known_path( l, anchor );
    if ( path != NULL )
        *place = path[frame];
    return path != NULL;
}

void tr_layer_rules_frames( tr_cage_layer *l, int node, const tr_some_frames *frames )
{
    for ( int i = l->missed_of[node]; i < l->missed_of[node + 1]; ++i ) {
        tr_missed_rule *missed = &l->missed[i];
        int last = frames->last < missed->last ? frames->last : missed->last;
        for ( int f = frames->first > missed->first ? frames->first : missed->first; f <= last; ++f )
            if ( tr_some_have( frames, f ) )
                turn_miss( l, missed, f );
    }
    int begin = frames->first > l->begin ? frames->first : l->begin, end = l->begin + l->frame_count - 1;
    bool actor = node < l->stage->actor_count;
    const tr_lists *of_actor = &l->path_rules;
    for ( int i = actor ? of_actor->first[node] : 0; actor && i < of_actor->first[node + 1]; ++i ) {
        const tr_rule *rule = &l->edited.rules[of_actor->items[i]];
        ptrdiff_t at = rule->path - l->paths;
        int path = (int)( at / l->stage->frame_count );
        for ( int f = begin; f <= frames->last && f <= end; ++f )
            if ( tr_some_have( frames, f ) )
                l->paths[at + f] = trace( l, &rule->a, path, f );
    }
}
