// Hands that touch somebody go on touching him, fingers and thumbs too. These are no vertices of the mesh,
// which says where a hand is and where it points; how it is twisted is guessed. So hands of the motion that
// came out are turned, each about the place it is held at, or its wrist, so that what they touched is near
// and what they did not touch is apart. Each frame by itself minimises
//
//   Σ w ( n · (ω × (p − o)) − d )² + s ‖ω‖²
//
// over pairs of volumes: n the normal towards the hand, p the nearest point of its volume, o the place it is
// turned about, d by how much the gap is wanted wider. No two axes come nearer by more than a tenth of what
// is between them, so nothing goes through anything. What comes out is averaged over time.
#include "closeness/relief.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Of the reach within which volumes touch: what touches is brought as near as that, …
#define NEAR_ENOUGH  0.2
#define FAR_ENOUGH   1.25 // … what does not touch as far apart. In the source the first turns into the second
#define TOUCH_BEGINS 0.75 // between these two gaps
#define TOUCH_ENDS   1.25
#define WATCH        5.0   // what is farther apart does not matter
#define STIFF        0.012 // s, square metres
#define MOST         0.15  // radians in a round
#define ROOM         0.1   // of what is between two axes
#define SPAN         0.17  // seconds to either side
#define SMALL        1e-5  // radians: no turn at all
#define ROWS         256

typedef struct hand {
    int actor, joint;
    vec3 *grips; // [frame_count] from the joint to where it is held, in its own axes
    vec3 *turns; // [frame_count]
} hand;

typedef struct turning {
    tr_relief *relief;
    const tr_stage *stage;
    hand *hands;
    int hand_count, hand_capacity;
} turning;

typedef struct equations {
    mat3 m;
    vec3 right;
    vec3 rows[ROWS];   // how fast two axes come apart as the hand turns, and …
    double room[ROWS]; // … how much nearer they may come
    int count;
} equations;

static int hand_of( const tr_skeleton *skeleton, int joint )
{
    int carrier = tr_extremity_carrier( skeleton, joint );
    return carrier >= 0 && skeleton->joints[carrier].role == TR_ROLE_HAND ? carrier : -1;
}

// --------------------------------------------------------------------------------------------------- hands

static bool add_hand( turning *t, int actor, int joint )
{
    size_t frames = (size_t)t->stage->frame_count;
    if ( !tr_array_reserve( (void **)&t->hands, &t->hand_capacity, t->hand_count + 1, sizeof *t->hands ) )
        return false;
    hand *h = &t->hands[t->hand_count++];
    *h = ( hand ){ actor, joint, tr_alloc( frames, sizeof( vec3 ) ), tr_alloc( frames, sizeof( vec3 ) ) };
    return h->grips != NULL && h->turns != NULL;
}

static bool find_hands( turning *t )
{
    for ( int a = 0; a < t->stage->actor_count; ++a ) {
        const tr_skeleton *s = &t->stage->actors[a].target;
        for ( int j = 0; j < s->joint_count; ++j )
            if ( s->joints[j].parent >= 0 && hand_of( s, j ) == j && t->stage->actors[a].map[j] >= 0 &&
                 !add_hand( t, a, j ) )
                return false;
    }
    return true;
}

// Links hold a hand by a place of its own: the fit brings that back to where it is.
static void find_grips( const turning *t, hand *h )
{
    const tr_result *result = t->relief->work->result;
    for ( int r = 0; r < 2 * t->stage->rule_count; ++r ) {
        const tr_rule *rule = &t->stage->rules[r / 2];
        const tr_anchor *anchor = r % 2 ? &rule->b : &rule->a;
        if ( rule->kind != TR_CONSTRAINT_RELATIVE || anchor->actor != h->actor || anchor->count == 0 ||
             hand_of( &t->stage->actors[h->actor].target, anchor->joints[0] ) != h->joint )
            continue;
        for ( int f = 0; f < t->stage->frame_count; ++f ) {
            double strength = fmin( 1, tr_rule_strength( rule, f ) );
            tr_pose pose = tr_world_pose( &result->worlds[h->actor], f );
            vec3 arm = v3_sub( tr_anchor_position( t->stage, result, anchor, f ), pose.positions[h->joint] );
            if ( strength > 0 )
                h->grips[f] = v3_lerp( h->grips[f], q_unrotate( pose.rotations[h->joint], arm ), strength );
        }
    }
}

// -------------------------------------------------------------------------------------------------- turns

typedef struct meeting { // a volume of a hand or its forearm, and one of another character
    tr_volume mine, his;
    vec3 about;        // where the hand is turned about
    vec3 wrist;        // from there
    double reach;      // within which they touch
    double source_gap; // in terms of the source's reach
    bool arm;          // mine is the forearm: it is carried along, the more the nearer to the hand
    bool both;         // his is of a hand, too, and does the other half
} meeting;

static void add_row( equations *e, const meeting *m )
{
    double s, t, distance = tr_segment_distance( m->mine.a, m->mine.b, m->his.a, m->his.b, &s, &t ),
                 gap = distance - m->mine.radius - m->his.radius;
    if ( gap > WATCH * m->reach || distance < 1e-4 || e->count == ROWS )
        return;
    double apart =
        smooth_step5( clampd( ( m->source_gap - TOUCH_BEGINS ) / ( TOUCH_ENDS - TOUCH_BEGINS ), 0, 1 ) );
    double near = clampd( gap, fmin( m->source_gap, 0 ) * m->reach, NEAR_ENOUGH * m->reach ) - gap,
           far = fmax( gap, FAR_ENOUGH * m->reach ) - gap, wider = lerpd( near, far, apart );
    double weight = fmax( 1 - apart, smooth_step5( clampd( 2 * wider / m->reach, 0, 1 ) ) );
    if ( wider > 0 ) // what is too deep counts more
        weight *= 1 + 2 * smooth_step5( clampd( -2 * gap / m->reach, 0, 1 ) );
    vec3 p = v3_lerp( m->mine.a, m->mine.b, s ),
         n = v3_scale( 1 / distance, v3_sub( p, v3_lerp( m->his.a, m->his.b, t ) ) );
    vec3 row = m->arm ? v3_scale( s, v3_cross( m->wrist, n ) ) : v3_cross( v3_sub( p, m->about ), n );
    wider = clampd( m->both ? 0.5 * wider : wider, -1.5 * m->reach, 1.5 * m->reach );
    e->rows[e->count] = row;
    e->room[e->count++] = ROOM * distance;
    e->m = m3_add_outer( e->m, v3_scale( weight, row ), row );
    e->right = v3_mad( e->right, weight * wider, row );
}

static const tr_capsule *counterpart( const turning *t, int actor, int part )
{
    return t->relief->touches.counterparts[t->relief->touches.first[actor] + part];
}

static double source_gap( const turning *t, int a, int i, int b, int k, int frame )
{
    tr_volume x = tr_volume_of( counterpart( t, a, i ), tr_world_pose( &t->stage->actors[a].world, frame ) ),
              y = tr_volume_of( counterpart( t, b, k ), tr_world_pose( &t->stage->actors[b].world, frame ) );
    return tr_volume_gap( &x, &y ) / tr_touches_reach( &t->relief->touches, a, b, 0 );
}

// All of another character against one volume of the hand.
static void add_rows_of( const turning *t, const hand *h, int part, int other, int frame, meeting *m,
                         equations *e )
{
    const tr_actor *his = &t->stage->actors[other];
    tr_pose pose = tr_world_pose( &t->relief->work->result->worlds[other], frame );
    for ( int k = 0; k < his->body.capsule_count; ++k ) {
        if ( counterpart( t, other, k ) == NULL )
            continue;
        m->his = tr_volume_of( &his->body.capsules[k], pose );
        if ( !tr_volumes_are_near( &m->mine, &m->his, WATCH * m->reach ) )
            continue;
        m->both = hand_of( &his->target, his->body.capsules[k].joint ) >= 0;
        m->source_gap = source_gap( t, h->actor, part, other, k, frame );
        add_row( e, m );
    }
}

static void add_rows( const turning *t, const hand *h, int other, int frame, equations *e )
{
    const tr_actor *mine = &t->stage->actors[h->actor];
    const tr_result *result = t->relief->work->result;
    tr_pose pose = tr_world_pose( &result->worlds[h->actor], frame );
    vec3 grip = q_rotate( pose.rotations[h->joint], h->grips[frame] ), at = pose.positions[h->joint];
    meeting m = { .about = v3_add( at, grip ),
                  .wrist = v3_negate( grip ),
                  .reach = tr_touches_reach( &t->relief->touches, h->actor, other, 1 ) };
    double far = v3_distance( at, tr_world_pose( &result->worlds[other], frame ).positions[0] );
    if ( far > 2 * t->relief->touches.heights[other][1] || !( m.reach > 0 ) ||
         !( tr_touches_reach( &t->relief->touches, h->actor, other, 0 ) > 0 ) ) // rest poses that lie flat
        return;
    for ( int i = 0; i < mine->body.capsule_count; ++i ) {
        const tr_capsule *c = &mine->body.capsules[i];
        m.arm = c->joint == h->joint && c->parent != h->joint;
        if ( ( !m.arm && hand_of( &mine->target, c->parent ) != h->joint ) ||
             counterpart( t, h->actor, i ) == NULL )
            continue;
        m.mine = tr_volume_of( c, pose );
        add_rows_of( t, h, i, other, frame, &m, e );
    }
}

static vec3 solve( const equations *e )
{
    vec3 turn = m3_solve_damped( e->m, STIFF, e->right );
    for ( int i = 0; i < e->count; ++i ) {
        double nearer = -v3_dot( e->rows[i], turn );
        if ( nearer > e->room[i] )
            turn = v3_scale( e->room[i] / nearer, turn );
    }
    double angle = v3_length( turn );
    return angle > MOST ? v3_scale( MOST / angle, turn ) : turn;
}

static bool has( const tr_imesh_window *w, int member, int frame )
{
    for ( int m = 0; m < w->member_count && frame >= w->first && frame <= w->last; ++m )
        if ( w->members[m] == member )
            return true;
    return false;
}

// Who is in two windows with somebody meets him once.
static bool met_before( const tr_imesh_windows *windows, int window, int a, int b, int frame )
{
    for ( int i = 0; i < window; ++i )
        if ( has( &windows->items[i], a, frame ) && has( &windows->items[i], b, frame ) )
            return true;
    return false;
}

static void find_turns( void *context, int begin, int end )
{
    const turning *t = context;
    const tr_imesh_windows *windows = &t->relief->work->windows;
    for ( int i = begin; i < end; ++i ) {
        const hand *h = &t->hands[i];
        for ( int f = 0; f < t->stage->frame_count; ++f ) {
            double eager = t->relief->eager[TR_RELIEF_TURN][tr_relief_cell( t->relief, h->actor, f )];
            equations e; // large: rows are not cleared
            e.m = ( mat3 ){ v3_zero, v3_zero, v3_zero };
            e.right = v3_zero;
            e.count = 0;
            for ( int w = 0; eager > 0 && w < windows->count; ++w )
                for ( int m = 0; has( &windows->items[w], h->actor, f ) && m < windows->items[w].member_count;
                      ++m ) {
                    int other = windows->items[w].members[m];
                    if ( other != h->actor && tr_mesh_is_actor( t->stage, other ) &&
                         !met_before( windows, w, h->actor, other, f ) )
                        add_rows( t, h, other, f, &e );
                }
            h->turns[f] = e.count > 0 ? v3_scale( eager, solve( &e ) ) : v3_zero;
        }
    }
}

// -------------------------------------------------------------------------------------------------- taking

static vec3 mean_turn( const turning *t, const hand *h, int frame )
{
    int span = tr_frames_in( SPAN, t->stage->fps );
    vec3 sum = v3_zero;
    double all = 0;
    for ( int f = frame - span; f <= frame + span; ++f ) {
        double weight = smooth_step5( 1 - abs( f - frame ) / ( span + 1.0 ) );
        if ( f < 0 || f >= t->stage->frame_count )
            continue;
        sum = v3_mad( sum, weight, h->turns[f] );
        all += weight;
    }
    return v3_scale( 1 / all, sum );
}

// A hand that leans on something lies as it lies.
static double freedom( const turning *t, const hand *h, int frame )
{
    const tr_actor *actor = &t->stage->actors[h->actor];
    double free = fmin( 1, t->relief->work->said[tr_relief_cell( t->relief, h->actor, frame )] );
    for ( int i = 0; i < actor->footing_count; ++i )
        if ( actor->footings[i].joint == h->joint )
            free = fmin( free, 1 - actor->footings[i].strength[frame] );
    return free;
}

static bool turn_hand( const turning *t, const hand *h )
{
    tr_mesh_work *w = t->relief->work;
    const tr_skeleton *skeleton = &t->stage->actors[h->actor].target;
    tr_clip *clip = &w->result->motions[h->actor].clip;
    bool any = false;
    for ( int f = 0; f < t->stage->frame_count; ++f ) {
        vec3 turn = v3_scale( freedom( t, h, f ), mean_turn( t, h, f ) );
        if ( v3_length( turn ) < SMALL )
            continue;
        tr_pose pose = tr_world_pose( &w->result->worlds[h->actor], f );
        quat now = q_mul( q_axis_angle( turn, v3_length( turn ) ), pose.rotations[h->joint] );
        tr_clip_frame( clip, f )[h->joint] =
            q_unit( q_mul( q_conj( pose.rotations[skeleton->joints[h->joint].parent] ), now ) );
        tr_forward( skeleton, clip, f, pose );
        w->affected[tr_relief_cell( t->relief, h->actor, f )] = any = true;
    }
    return any;
}

bool tr_relief_turn_hands( tr_relief *r, bool *any, tr_error *error )
{
    turning t = { .relief = r, .stage = r->work->stage };
    bool ok = find_hands( &t ) || tr_error_memory( error );
    *any = false;
    for ( int i = 0; ok && i < t.hand_count; ++i )
        find_grips( &t, &t.hands[i] );
    if ( ok )
        tr_parallel_for( t.hand_count, 1, find_turns, &t );
    for ( int i = 0; ok && i < t.hand_count; ++i )
        *any = turn_hand( &t, &t.hands[i] ) || *any;
    for ( int i = 0; i < t.hand_count; ++i ) {
        tr_free( t.hands[i].grips );
        tr_free( t.hands[i].turns );
    }
    tr_free( t.hands );
    return ok;
}
