// How bodies are pushed out of what they are too deep in.
//
// Of each two volumes that are too deep somewhere, the depth over time is smoothed from above: nowhere less
// than what is missing, and coming and going over a fifth of a second. By so much the two are to go apart
// along their normal, he who is freer more; at each frame that is a place for the point of a bone that
// presses most. Skeletons are fitted to these places, softly and near the pose they have, while whatever a
// rule holds stays where it is. Frames ask for almost the same as their neighbours, and so get it.
#include "closeness/relief.h"

#include <stdlib.h>

#define LEFT   0.0005 // metres: so much of a depth is left
#define MOST   0.05   // metres that two are pushed apart by in a round
#define COMING 0.06   // seconds, twice of which a push comes and goes over
#define EASING 0.1    // seconds on either side over which turns are averaged
#define FIRM   4000   // weight of a push, per m²
#define FAINT  0.002  // metres: shorter pushes weigh less

typedef struct demand {         // two volumes are to go apart at a frame
    const tr_imesh_press *like; // the nearest frame in which they are near each other
    int frame;
    double amount;
} demand;

typedef struct placed { // a goal of the fit
    size_t cell;        // of whom, at which frame
    int order;          // that it was made in
    tr_fit_goal goal;
} placed;

typedef struct pushing {
    tr_relief *relief;
    demand *demands;
    int demand_count, demand_capacity;
    bool *pushed; // [actor_count * frame_count]
    placed *goals;
    int goal_count, goal_capacity;
    bool out_of_memory;
} pushing;

static const tr_stage *stage_of( const pushing *p )
{
    return p->relief->work->stage;
}

static tr_pose pose_at( const pushing *p, int actor, int frame )
{
    return tr_world_pose( &p->relief->work->result->worlds[actor], frame );
}

// ------------------------------------------------------------------------------------------------- demands

// What was pushed in vain is pushed less.
static double eagerness( const pushing *p, const tr_imesh_press *press, int frame )
{
    const tr_relief *r = p->relief;
    double eager = r->eager[TR_RELIEF_PUSH][tr_relief_cell( r, press->a, frame )];
    return tr_mesh_is_actor( stage_of( p ), press->b )
               ? fmin( eager, r->eager[TR_RELIEF_PUSH][tr_relief_cell( r, press->b, frame )] )
               : eager;
}

static void add_demand( pushing *p, demand d )
{
    if ( !tr_array_reserve( (void **)&p->demands, &p->demand_capacity, p->demand_count + 1,
                            sizeof *p->demands ) ) {
        p->out_of_memory = true;
        return;
    }
    p->demands[p->demand_count++] = d;
    p->pushed[tr_relief_cell( p->relief, d.like->a, d.frame )] = true;
    if ( tr_mesh_is_actor( stage_of( p ), d.like->b ) )
        p->pushed[tr_relief_cell( p->relief, d.like->b, d.frame )] = true;
}

// presses [count]: of one pair. amounts [2 * frame_count]: room.
static void demand_pair( pushing *p, const tr_imesh_press *presses, int count, double *amounts )
{
    int frames = stage_of( p )->frame_count, span = tr_frames_in( COMING, stage_of( p )->fps ), near = 0;
    double most = 0;
    for ( int f = 0; f < frames; ++f )
        amounts[f] = 0;
    for ( int i = 0; i < count; ++i ) {
        double deep = eagerness( p, &presses[i], presses[i].frame ) > 0 ? presses[i].depth : 0;
        most = fmax( most, deep );
        amounts[presses[i].frame] = clampd( deep - LEFT, 0, MOST );
    }
    if ( most <= TR_RELIEF_DEEP )
        return;
    tr_smooth_from_above( amounts, frames, span, false, amounts + frames );
    for ( int f = 0; f < frames; ++f ) {
        double amount = amounts[f] * eagerness( p, &presses[0], f );
        while ( near + 1 < count && abs( presses[near + 1].frame - f ) <= abs( presses[near].frame - f ) )
            ++near;
        if ( amount > 0 )
            add_demand( p, ( demand ){ &presses[near], f, amount } );
    }
}

static void find_demands( pushing *p )
{
    const tr_imesh_presses *now = &p->relief->now;
    double *amounts = tr_alloc( 2 * (size_t)stage_of( p )->frame_count, sizeof *amounts );
    for ( int i = 0, end; amounts != NULL && i < now->count; i = end ) {
        for ( end = i; end < now->count && tr_imesh_press_order( &now->items[i], &now->items[end] ) == 0; )
            ++end;
        demand_pair( p, now->items + i, end - i, amounts );
    }
    p->out_of_memory = p->out_of_memory || amounts == NULL;
    tr_free( amounts );
}

// --------------------------------------------------------------------------------------------------- goals

static void add_goal( pushing *p, size_t cell, tr_fit_goal goal )
{
    if ( !tr_array_reserve( (void **)&p->goals, &p->goal_capacity, p->goal_count + 1, sizeof *p->goals ) ) {
        p->out_of_memory = true;
        return;
    }
    p->goals[p->goal_count] = ( placed ){ cell, p->goal_count, goal };
    p->goal_count++;
}

static int by_cell( const void *a, const void *b )
{
    const placed *x = a, *y = b;
    return x->cell != y->cell ? ( x->cell < y->cell ? -1 : 1 ) : x->order - y->order;
}

static void sort_goals( pushing *p )
{
    if ( p->goal_count > 1 )
        qsort( p->goals, (size_t)p->goal_count, sizeof *p->goals, by_cell );
}

// The first goal of a cell or of one after it, of the first `count`.
static int first_goal( const pushing *p, size_t cell, int count )
{
    int low = 0, high = count;
    while ( low < high ) {
        int middle = low + ( high - low ) / 2;
        if ( p->goals[middle].cell < cell )
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Whatever a rule holds stays where it is: the last fit has brought it there.
static void hold_anchor( pushing *p, const tr_rule *rule, const tr_anchor *anchor )
{
    if ( anchor->actor < 0 || anchor->count == 0 )
        return;
    for ( int f = 0; f < stage_of( p )->frame_count; ++f ) {
        size_t cell = tr_relief_cell( p->relief, anchor->actor, f );
        double strength = p->pushed[cell] ? tr_rule_strength( rule, f ) : 0;
        if ( strength <= 0 )
            continue;
        tr_pose pose = pose_at( p, anchor->actor, f );
        int joint = anchor->joints[0];
        tr_fit_goal goal =
            tr_fit_position( joint, tr_anchor_position( stage_of( p ), p->relief->work->result, anchor, f ) );
        goal.offset = q_unrotate( pose.rotations[joint], v3_sub( goal.place, pose.positions[joint] ) );
        goal.priority = 1;
        goal.ease = strength;
        add_goal( p, cell, goal );
    }
}

static void hold_footing( pushing *p, int actor, const tr_footing *footing )
{
    for ( int f = 0; f < stage_of( p )->frame_count; ++f ) {
        size_t cell = tr_relief_cell( p->relief, actor, f );
        if ( !p->pushed[cell] || footing->strength[f] <= 0 )
            continue;
        tr_pose pose = pose_at( p, actor, f );
        tr_fit_goal place = tr_fit_position( footing->joint, pose.positions[footing->joint] ),
                    turn = tr_fit_rotation( footing->joint, pose.rotations[footing->joint] );
        place.priority = turn.priority = 1;
        place.ease = turn.ease = footing->strength[f];
        add_goal( p, cell, place );
        add_goal( p, cell, turn );
    }
}

static void find_holds( pushing *p )
{
    const tr_stage *stage = stage_of( p );
    for ( int r = 0; r < stage->rule_count; ++r ) {
        const tr_rule *rule = &stage->rules[r];
        bool place = rule->kind == TR_CONSTRAINT_ABSOLUTE || rule->kind == TR_CONSTRAINT_RELATIVE ||
                     ( rule->kind == TR_CONSTRAINT_CONTACT && rule->footing < 0 );
        if ( place && !rule->direction ) {
            hold_anchor( p, rule, &rule->a );
            hold_anchor( p, rule, &rule->b );
        }
    }
    for ( int i = 0; i < stage->actor_count; ++i )
        for ( int k = 0; k < stage->actors[i].footing_count; ++k )
            hold_footing( p, i, &stage->actors[i].footings[k] );
    sort_goals( p );
}

static bool is_trunk( tr_role role )
{
    return role == TR_ROLE_ROOT || role == TR_ROLE_SPINE || role == TR_ROLE_CLAVICLE || role == TR_ROLE_OTHER;
}

// How easily a part gives way: limbs more than trunks, what a rule holds not at all.
static double freedom( const pushing *p, int member, int part, int frame, int hold_count )
{
    if ( part < 0 )
        return 0;
    const tr_actor *actor = &stage_of( p )->actors[member];
    const tr_capsule *capsule = &actor->body.capsules[part];
    int carrier = tr_extremity_carrier( &actor->target, capsule->joint );
    double free = is_trunk( actor->target.joints[capsule->parent].role ) ? 0.5 : 1;
    size_t cell = tr_relief_cell( p->relief, member, frame );
    for ( int i = first_goal( p, cell, hold_count ); i < hold_count && p->goals[i].cell == cell; ++i )
        if ( tr_extremity_carrier( &actor->target, p->goals[i].goal.joint ) == carrier )
            free = fmin( free, 1 - p->goals[i].goal.ease );
    return fmax( free, 0 );
}

// The point of a bone that presses goes by `move`.
static void push( pushing *p, const demand *d, int member, int part, vec3 at, vec3 move )
{
    const tr_capsule *capsule = &stage_of( p )->actors[member].body.capsules[part];
    tr_pose then = pose_at( p, member, d->like->frame ), now = pose_at( p, member, d->frame );
    vec3 offset =
        q_unrotate( then.rotations[capsule->parent], v3_sub( at, then.positions[capsule->parent] ) );
    tr_fit_goal goal = tr_fit_position(
        capsule->parent,
        v3_add( v3_add( now.positions[capsule->parent], q_rotate( now.rotations[capsule->parent], offset ) ),
                move ) );
    goal.offset = offset;
    goal.hard = false;
    goal.weight = FIRM * fmin( 1, v3_length( move ) / FAINT );
    add_goal( p, tr_relief_cell( p->relief, member, d->frame ), goal );
}

static void find_pushes( pushing *p )
{
    int holds = p->goal_count;
    for ( int i = 0; i < p->demand_count; ++i ) {
        const demand *d = &p->demands[i];
        const tr_imesh_press *press = d->like;
        double a = freedom( p, press->a, press->part_a, d->frame, holds ),
               b = freedom( p, press->b, press->part_b, d->frame, holds );
        if ( a + b <= 0 )
            continue;
        if ( a > 0 )
            push( p, d, press->a, press->part_a, press->at_a,
                  v3_scale( d->amount * a / ( a + b ), press->normal ) );
        if ( b > 0 )
            push( p, d, press->b, press->part_b, press->at_b,
                  v3_scale( -d->amount * b / ( a + b ), press->normal ) );
    }
    sort_goals( p );
}

// ---------------------------------------------------------------------------------------------------- fit

typedef struct fitting { // of one character
    tr_fit fit;
    tr_fit_scratch scratch;
    tr_fit_goal *goals;     // [goals of the character]
    tr_fit_frame *frames;   // [count]
    tr_fit_result *results; // [count]
    quat *local;            // [count * joint_count]
    int *numbers;           // [count] of the stage
    int count, most;        // goals of a frame
} fitting;

static bool fitting_build( fitting *t, const pushing *p, int actor, tr_error *error )
{
    const tr_skeleton *skeleton = &stage_of( p )->actors[actor].target;
    const tr_clip *clip = &p->relief->work->result->motions[actor].clip;
    size_t frames = (size_t)stage_of( p )->frame_count, joints = (size_t)skeleton->joint_count;
    int first = first_goal( p, tr_relief_cell( p->relief, actor, 0 ), p->goal_count ),
        last = first_goal( p, tr_relief_cell( p->relief, actor + 1, 0 ), p->goal_count );
    tr_fit_def def = tr_default_fit_def();
    t->goals = tr_alloc( (size_t)( last - first ), sizeof *t->goals );
    t->frames = tr_alloc( frames, sizeof *t->frames );
    t->results = tr_alloc( frames, sizeof *t->results );
    t->local = tr_alloc( frames * joints, sizeof( quat ) );
    t->numbers = tr_alloc( frames, sizeof( int ) );
    if ( t->goals == NULL || t->frames == NULL || t->results == NULL || t->local == NULL ||
         t->numbers == NULL )
        return tr_error_memory( error );
    for ( int i = first, end; i < last; i = end ) {
        int f = (int)( p->goals[i].cell - tr_relief_cell( p->relief, actor, 0 ) );
        for ( end = i; end < last && p->goals[end].cell == p->goals[i].cell; ++end )
            t->goals[end - first] = p->goals[end].goal;
        t->frames[t->count] = ( tr_fit_frame ){ .start = tr_clip_frame( clip, f ),
                                                .root = clip->root[f],
                                                .goals = t->goals + ( i - first ),
                                                .goal_count = end - i };
        t->results[t->count] = ( tr_fit_result ){ .local = t->local + (size_t)t->count * joints };
        t->numbers[t->count++] = f;
        t->most = end - i > t->most ? end - i : t->most;
    }
    return tr_fit_build( &t->fit, skeleton, &def, error ) &&
           tr_fit_scratch_build( &t->scratch, &t->fit, t->most, tr_parallel_threads(), error );
}

static void fitting_free( fitting *t )
{
    tr_fit_scratch_free( &t->scratch );
    tr_fit_free( &t->fit );
    tr_free( t->goals );
    tr_free( t->frames );
    tr_free( t->results );
    tr_free( t->local );
    tr_free( t->numbers );
}

// Turns and shifts that the fit came to, from the pose there is, are averaged over time: contacts come and
// go, and their normals swing. `kernel` [span + 1]: weights of a frame and those on one side of it, 1 in all.
typedef struct easing {
    vec3 *
        turns; // [frame_count * (joint_count + 1)] rotation vectors, then the root's shift; 0 where no fit is
    double *kernel;
    int span, frames, width;
} easing;

static bool easing_build( easing *e, const pushing *p, int actor )
{
    e->span = tr_frames_in( EASING, stage_of( p )->fps );
    e->frames = stage_of( p )->frame_count;
    e->width = stage_of( p )->actors[actor].target.joint_count + 1;
    e->turns = tr_alloc( (size_t)e->frames * (size_t)e->width, sizeof( vec3 ) );
    e->kernel = tr_alloc( (size_t)e->span + 1, sizeof( double ) );
    if ( e->turns == NULL || e->kernel == NULL )
        return false;
    double sum = 0;
    for ( int k = 0; k <= e->span; ++k ) {
        e->kernel[k] = smooth_step5( 1 - k / ( e->span + 1.0 ) );
        sum += k > 0 ? 2 * e->kernel[k] : e->kernel[k];
    }
    for ( int k = 0; k <= e->span; ++k )
        e->kernel[k] /= sum;
    return true;
}

static void easing_free( easing *e )
{
    tr_free( e->turns );
    tr_free( e->kernel );
}

static void note_turns( const easing *e, const tr_clip *clip, int frame, const tr_fit_result *fitted )
{
    vec3 *turns = e->turns + (size_t)frame * (size_t)e->width;
    const quat *local = tr_clip_frame( clip, frame );
    for ( int j = 0; j + 1 < e->width; ++j )
        turns[j] = q_to_vector( q_mul( q_conj( local[j] ), fitted->local[j] ) );
    turns[e->width - 1] = v3_sub( fitted->root, clip->root[frame] );
}

// Beyond the ends of the scene it is as at them.
static vec3 eased( const easing *e, int frame, int j )
{
    vec3 sum = v3_zero;
    for ( int k = -e->span; k <= e->span; ++k ) {
        int at = frame + k < 0 ? 0 : frame + k < e->frames ? frame + k : e->frames - 1;
        sum = v3_mad( sum, e->kernel[abs( k )], e->turns[(size_t)at * (size_t)e->width + (size_t)j] );
    }
    return sum;
}

// room [joint_count]
static void take_frame( tr_relief *r, const easing *e, int actor, int frame, quat *room )
{
    tr_mesh_work *w = r->work;
    const tr_clip *clip = &w->result->motions[actor].clip;
    tr_fit_result to = { .local = room };
    double moved = 0;
    for ( int j = 0; j + 1 < e->width; ++j ) {
        vec3 turn = eased( e, frame, j );
        moved = fmax( moved, v3_length( turn ) );
        room[j] = q_unit( q_mul( tr_clip_frame( clip, frame )[j], q_from_vector( turn ) ) );
    }
    to.root = v3_add( clip->root[frame], eased( e, frame, e->width - 1 ) );
    moved = fmax( moved, v3_distance( to.root, clip->root[frame] ) );
    if ( moved == 0 || w->said[tr_relief_cell( r, actor, frame )] == 0 )
        return;
    tr_mesh_blend( w, actor, frame, &to );
    w->affected[tr_relief_cell( r, actor, frame )] = true;
}

static bool fit_actor( pushing *p, int actor, tr_error *error )
{
    fitting t = { 0 };
    easing e = { 0 };
    bool ok = easing_build( &e, p, actor ) || tr_error_memory( error );
    ok = ok && fitting_build( &t, p, actor, error ) &&
         tr_fit_solve( &t.fit, &t.scratch, t.frames, t.results, t.count, error );
    for ( int i = 0; ok && i < t.count; ++i )
        note_turns( &e, &p->relief->work->result->motions[actor].clip, t.numbers[i], &t.results[i] );
    for ( int f = 0; ok && f < e.frames; ++f )
        take_frame( p->relief, &e, actor, f, t.local );
    fitting_free( &t );
    easing_free( &e );
    return ok;
}

static bool is_pushed( const pushing *p, int actor )
{
    for ( int f = 0; f < stage_of( p )->frame_count; ++f )
        if ( p->pushed[tr_relief_cell( p->relief, actor, f )] )
            return true;
    return false;
}

bool tr_relief_push( tr_relief *r, bool *any, tr_error *error )
{
    const tr_stage *stage = r->work->stage;
    pushing p = { .relief = r,
                  .pushed =
                      tr_alloc( (size_t)stage->actor_count * (size_t)stage->frame_count, sizeof( bool ) ) };
    p.out_of_memory = p.pushed == NULL;
    if ( !p.out_of_memory )
        find_demands( &p );
    *any = p.demand_count > 0;
    if ( !p.out_of_memory && *any ) {
        find_holds( &p );
        find_pushes( &p );
    }
    bool ok = !p.out_of_memory || tr_error_memory( error );
    for ( int i = 0; ok && *any && i < stage->actor_count; ++i )
        ok = !is_pushed( &p, i ) || fit_actor( &p, i, error );
    tr_free( p.demands );
    tr_free( p.pushed );
    tr_free( p.goals );
    return ok;
}
