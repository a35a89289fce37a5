// Partners of an edited character are moved where a link pulls farther than leaning can reach.
//
// The cage moves what is grabbed. A link passes this motion on to the member at its other end: to a prop as a
// whole, to a character only as far as arms and leaning cannot make up for it. The motion spreads from link
// to link, the nearest to the grabbed members first, and a member takes the mean of what its nearer
// neighbours pass on. So every frame in which a character is linked asks it for a place; links to members
// that the edit does not reach ask it to stay. Between these frames it moves smoothly: with q(f) the place
// that a frame asks for and w(f) the weight of that,
//
//   Σ w ‖d − q‖² + λ Σ ‖d(f−1) − 2 d(f) + d(f+1)‖² + ε Σ ‖d‖²   →  min,     λ = (τ fps)⁴
//
// over shifts of the root over the ground and turns about the vertical: ε leads a character back where no
// frame asks for it. Then stances move as a whole, by d at their frames of largest weight (layer/steps.c),
// and the body moves by the mean of its feet, so it stays above them.
#include "layer/private.h"
#include "solve/solve.h"

#include <string.h>

typedef struct tr_pulled { // a node at the frame at hand
    int level;             // 1: grabbed, 2: joined to one of these, …; 0: not reached
    bool known;            // its motion
    int next;              // in the queue, -1: the last
    double weight;         // the weakest link on the way
    double sum, turn;      // sums of weights and of turns
    vec3 at, move;         // sums of places and of their shifts
} tr_pulled;

typedef struct tr_following {
    float *weights;   // [frame_count] w
    tr_chain *factor; // [frame_count] of the matrix
    vec3 *way;        // [frame_count] q w, then d: over the ground and, as y, the turn
    int stamp;        // number of the solve it belongs to
    bool asked;       // some frame asked
} tr_following;

// ----------------------------------------------------------------------------------------------------- build

static bool list_links( tr_cage_layer *l )
{
    int count = l->stage->actor_count + l->stage->prop_count;
    int *nodes = tr_alloc( 2 * (size_t)l->link_count, sizeof( int ) );
    for ( int i = 0; nodes != NULL && i < l->link_count; ++i )
        tr_layer_link_nodes( l->stage, &l->stage->rules[l->links[i]], nodes + 2 * i );
    bool ok = nodes != NULL && tr_lists_build( &l->node_links, nodes, 2 * l->link_count, count );
    for ( int i = 0; ok && i < l->node_links.first[count]; ++i )
        l->node_links.items[i] = l->links[l->node_links.items[i] / 2];
    tr_free( nodes );
    l->pulled = tr_alloc( (size_t)count, sizeof( tr_pulled ) );
    return ok && l->pulled != NULL;
}

static int other_end( const tr_cage_layer *l, const tr_rule *rule, int node )
{
    int nodes[2];
    tr_layer_link_nodes( l->stage, rule, nodes );
    return nodes[0] == node ? nodes[1] : nodes[0];
}

// The strength of the firmest hold on a prop by a character other than `but`.
static double held_by_others( const tr_cage_layer *l, int prop, int but, int frame )
{
    double most = 0;
    for ( int i = l->node_links.first[prop]; i < l->node_links.first[prop + 1]; ++i ) {
        const tr_rule *rule = &l->stage->rules[l->node_links.items[i]];
        if ( other_end( l, rule, prop ) != but )
            most = fmax( most, tr_rule_strength( rule, frame ) );
    }
    return most;
}

// How firmly a character is joined to other characters, through props as well.
static double joined( const tr_cage_layer *l, int actor, int frame )
{
    double most = 0;
    for ( int i = l->node_links.first[actor]; i < l->node_links.first[actor + 1]; ++i ) {
        const tr_rule *rule = &l->stage->rules[l->node_links.items[i]];
        int other = other_end( l, rule, actor );
        double strength = tr_rule_strength( rule, frame );
        if ( strength > most && other >= l->stage->actor_count && l->body_of[other] < 0 )
            strength = fmin( strength, held_by_others( l, other, actor, frame ) );
        most = fmax( most, strength );
    }
    return most;
}

// The memory of a follower, and its matrix. Beyond an end of the window that is not free the body rests.
static bool build_follower( tr_cage_layer *l, tr_moved_body *body, tr_error *error )
{
    size_t frames = (size_t)l->frame_count;
    body->following = tr_alloc( 1, sizeof( tr_following ) );
    body->frames = tr_alloc( frames, sizeof( tr_moved_frame ) );
    double *weight = tr_alloc( frames, sizeof( double ) );
    tr_following *following = body->following;
    bool ok = following != NULL && body->frames != NULL && weight != NULL;
    if ( ok ) {
        following->weights = tr_alloc( frames, sizeof( float ) );
        following->factor = tr_alloc( frames, sizeof *following->factor );
        following->way = tr_alloc( frames, sizeof( vec3 ) );
        ok = following->weights != NULL && following->factor != NULL && following->way != NULL &&
             tr_result_turns( l->result, body->node ) != NULL;
    }
    for ( int f = 0; ok && f < l->frame_count; ++f ) {
        following->weights[f] = (float)joined( l, body->node, l->begin + f );
        weight[f] = following->weights[f] + l->def.follow_rest;
    }
    if ( ok ) {
        int before, after;
        tr_cage_layer_limits( l, &before, &after );
        tr_chain_def chain = { .frame_count = l->frame_count,
                               .weight = weight,
                               .bend = pow( l->def.follow_time * l->stage->fps, 4 ),
                               .free_start = before<-1, .free_end = after> l->stage->frame_count };
        tr_chain_factor( &chain, following->factor );
    }
    tr_free( weight );
    return ok ? tr_steps_build( l, body, error ) : tr_error_memory( error );
}

bool tr_follow_build( tr_cage_layer *l, tr_error *error )
{
    int actors = l->stage->actor_count;
    l->follower_of = tr_alloc( (size_t)actors, sizeof( int ) );
    l->followers = tr_alloc( (size_t)actors, sizeof( tr_moved_body ) );
    if ( l->follower_of == NULL || l->followers == NULL || !list_links( l ) )
        return tr_error_memory( error );
    for ( int i = 0; i < actors; ++i ) {
        l->follower_of[i] = -1;
        if ( !l->pulls[i] || l->body_of[i] >= 0 )
            continue;
        tr_moved_body *body = &l->followers[l->follower_count];
        *body = ( tr_moved_body ){ .node = i, .lead = -1 };
        l->follower_of[i] = l->follower_count++;
        if ( !build_follower( l, body, error ) )
            return false;
    }
    return true;
}

void tr_follow_free( tr_cage_layer *l )
{
    for ( int i = 0; l->followers != NULL && i < l->follower_count; ++i ) {
        tr_moved_body *body = &l->followers[i];
        if ( body->following != NULL ) {
            tr_free( body->following->weights );
            tr_free( body->following->factor );
            tr_free( body->following->way );
            tr_free( body->following );
        }
        tr_steps_free( body );
        tr_moved_free( body );
    }
    tr_free( l->followers );
    tr_free( l->follower_of );
    tr_lists_free( &l->node_links );
    tr_free( l->pulled );
}

tr_moved_body *tr_follower( const tr_cage_layer *l, int node )
{
    bool follows = node < l->stage->actor_count && l->follower_of[node] >= 0;
    return follows ? &l->followers[l->follower_of[node]] : NULL;
}

// ----------------------------------------------------------------------------------------------------- pull

// Where the motion of a node takes a place.
static vec3 pulled_shift( const tr_pulled *p, vec3 place )
{
    vec3 arm = v3_sub( place, p->at ), turned = q_rotate( q_axis_angle( v3_y, p->turn ), arm );
    return v3_horizontal( v3_add( p->move, v3_sub( turned, arm ) ) );
}

// What the grabbed nodes of a set ask of all others at a frame: a search by breadth over the links. A node
// takes the mean of the motions that links from the level before pass on, weighted by the weakest link on the
// way. A character follows only by what is beyond its reach.
static void spread( tr_cage_layer *l, const int *nodes, int count, int frame )
{
    int first = -1, last = -1; // of the queue
    for ( int n = 0; n < count; ++n ) {
        if ( l->body_of[nodes[n]] < 0 )
            continue;
        l->pulled[nodes[n]] = ( tr_pulled ){ .level = 1, .next = -1, .weight = 1 };
        if ( last >= 0 )
            l->pulled[last].next = nodes[n];
        first = first < 0 ? nodes[n] : first;
        last = nodes[n];
    }
    for ( int node = first; node >= 0; node = l->pulled[node].next ) {
        tr_pulled *near = &l->pulled[node];
        if ( near->level > 1 ) {
            double part = 1 / near->sum;
            near->at = v3_scale( part, near->at );
            near->move = v3_scale( part, near->move );
            near->turn *= part;
        }
        if ( near->level > 1 && node < l->stage->actor_count ) {
            double height = tr_skeleton_height( &l->stage->actors[node].target ),
                   far = v3_length( near->move );
            double beyond = fmax( far - l->def.follow_reach * height, 0 ),
                   share = beyond > 0 ? beyond * beyond / ( beyond + l->def.follow_lean * height ) / far : 0;
            near->move = v3_scale( share, near->move );
            near->turn *= share;
        }

        for ( int i = l->node_links.first[node]; i < l->node_links.first[node + 1]; ++i ) {
            const tr_rule *rule = &l->stage->rules[l->node_links.items[i]];
            int other = other_end( l, rule, node );
            double strength = tr_rule_strength( rule, frame );
            tr_pulled *p = &l->pulled[other];
            if ( !( strength > 0 ) || ( p->level > 0 && p->level <= near->level ) )
                continue;
            if ( !near->known ) { // a grabbed node passes on its motion as a whole
                tr_moved_body *body = tr_cage_layer_body( l, node );
                const tr_moved_frame *moved = tr_moved_at( l, body, frame );
                near->known = true;
                if ( moved->moves && body->lead >= 0 ) {
                    size_t lead = tr_layer_cell( l, frame, body->lead );
                    near->at = tr_mean_point( l->before + lead, body->lead_count );
                    near->move = v3_horizontal(
                        v3_sub( tr_mean_point( l->after + lead, body->lead_count ), near->at ) );
                    near->turn = moved->yaw;
                }
            }
            if ( p->level == 0 ) {
                *p = ( tr_pulled ){ .level = near->level + 1, .known = true, .next = -1 };
                l->pulled[last].next = other;
                last = other;
            }
            const tr_anchor *anchor = tr_anchor_node( l->stage, &rule->a ) == other ? &rule->a : &rule->b;
            vec3 place = anchor->actor >= 0 || anchor->prop >= 0
                             ? tr_anchor_position( l->stage, l->below, anchor, frame )
                             : l->below->tracks[other - l->stage->actor_count][frame].position; // a surface
            double weight = fmin( near->weight, strength );
            p->weight = fmax( p->weight, weight );
            p->sum += weight;
            p->at = v3_mad( p->at, weight, place );
            p->move = v3_mad( p->move, weight, pulled_shift( near, place ) );
            p->turn += weight * near->turn;
        }

        tr_moved_body *follower = tr_follower( l, node );
        if ( follower != NULL && !( v3_length( near->move ) == 0 && near->turn == 0 ) ) {
            tr_following *following = follower->following;
            vec3 root = tr_world_pose( &l->below->worlds[node], frame ).positions[0],
                 move = pulled_shift( near, root );
            int at = frame - l->begin;
            following->asked = true;
            following->way[at] = v3_scale( following->weights[at], v3( move.x, near->turn, move.z ) );
        }
    }
    for ( int node = first; node >= 0; ) { // for the next search
        int next = l->pulled[node].next;
        l->pulled[node].level = 0;
        node = next;
    }
}

// Shortens the whole path of a body if feet that stand at the same time would go further apart than legs
// reach. Reaching and leaning make up for the rest.
static void stay_on_legs( tr_cage_layer *l, tr_moved_body *body )
{
    tr_following *following = body->following;
    double most = l->def.follow_apart * tr_skeleton_height( &l->stage->actors[body->node].target ),
           apart = tr_steps_apart( l, body );
    for ( int f = 0; apart > most && f < l->frame_count; ++f )
        following->way[f] = v3_scale( most / apart, following->way[f] );
    tr_steps_forget( body );
}

static bool is_asked( const tr_cage_layer *l, const int *nodes, int count, int frame )
{
    bool asked = false;
    for ( int n = 0; !asked && n < count; ++n ) {
        const tr_moved_body *body = tr_follower( l, nodes[n] );
        asked = body != NULL && body->following->weights[frame - l->begin] > 0;
    }
    return asked;
}

void tr_follow_solve( tr_cage_layer *l, const int *nodes, int count )
{
    bool due = false;
    for ( int n = 0; n < count; ++n ) {
        tr_moved_body *body = tr_follower( l, nodes[n] );
        if ( body == NULL || body->following->stamp == l->stamp )
            continue;
        tr_following *following = body->following;
        memset( following->way, 0, (size_t)l->frame_count * sizeof( vec3 ) );
        following->stamp = l->stamp;
        following->asked = false;
        due = true;
    }
    if ( !due )
        return;
    for ( int f = l->begin; f < l->begin + l->frame_count; ++f )
        if ( is_asked( l, nodes, count, f ) )
            spread( l, nodes, count, f );
    for ( int n = 0; n < count; ++n ) {
        tr_moved_body *body = tr_follower( l, nodes[n] );
        if ( body == NULL || !body->following->asked )
            continue;
        tr_chain_solve( body->following->factor, l->frame_count, &body->following->way[0].x, 3 );
        stay_on_legs( l, body );
    }
}

// ------------------------------------------------------------------------------------------------------ ways

bool tr_follow_asked( const tr_moved_body *body )
{
    return body->following->asked;
}

tr_step tr_follow_way( const tr_cage_layer *l, const tr_moved_body *body, int frame )
{
    int at = frame - l->begin;
    if ( at < 0 || at >= l->frame_count )
        return ( tr_step ){ 0 };
    vec3 way = body->following->way[at];
    vec3 root = tr_world_pose( &l->below->worlds[body->node], frame ).positions[0];
    tr_step turn = { .turn = way.y };
    vec3 there = v3_add( root, v3( way.x, 0, way.z ) );
    return ( tr_step ){ turn.turn, v3_sub( there, tr_step_apply( turn, root ) ) };
}

int tr_follow_stance( const tr_cage_layer *l, const tr_moved_body *body, const tr_stance *s )
{
    double sum = 0, weights = 0;
    for ( int f = s->first; f <= s->last; ++f ) {
        int at = f - l->begin;
        double w = at >= 0 && at < l->frame_count ? body->following->weights[at] : 0;
        sum += w * f;
        weights += w;
    }
    return weights > 0 ? tr_int_clamped( round( sum / weights ), s->first, s->last )
                       : ( s->first + s->last ) / 2;
}

// The mean motion of its feet. A body without feet follows its own path, from rest at one end of the window
// to rest at the other.
tr_step tr_follow_body( const tr_cage_layer *l, const tr_moved_body *body, int frame )
{
    vec3 root = tr_world_pose( &l->below->worlds[body->node], frame ).positions[0], there;
    tr_step out = { 0 };
    if ( body->foot_count == 0 ) {
        int before, after;
        tr_cage_layer_limits_at( l, frame, &before, &after );
        double share = smooth_step5( fmin( frame - before, after - frame ) /
                                     ( l->def.follow_fade * l->stage->fps + 1 ) );
        tr_step way = tr_follow_way( l, body, frame );
        out.turn = way.turn * share;
        there = v3_add( root, v3_scale( share, v3_sub( tr_step_apply( way, root ), root ) ) );
    } else {
        vec3 sum = v3_zero;
        for ( int i = 0; i < body->foot_count; ++i ) {
            sum = v3_add( sum, v3_sub( tr_step_apply( body->feet[i].own, root ), root ) );
            out.turn += body->feet[i].own.turn / body->foot_count;
        }
        there = v3_mad( root, 1.0 / body->foot_count, sum );
    }
    out.move = v3_sub( there, tr_step_apply( ( tr_step ){ .turn = out.turn }, root ) );
    return out;
}
