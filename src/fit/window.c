// The fit of bodies over a window of frames: memory, the rounds, the exact fit at the end.
#include "fit/window.h"

tr_window_def tr_default_window_def( double fps )
{
    return ( tr_window_def ){ .fps = fps,
                              .smooth = 0.2,
                              .speed = 7.3,
                              .speed_force = 0.105,
                              .speed_begin = 0.01,
                              .speed_growth = 3,
                              .jump = 15.7,
                              .draw = 130,
                              .growth = 1.25,
                              .rounds = 16,
                              .rest = 2e-3,
                              .rest_tie = 2e-4,
                              .strict = 3,
                              .effort = 0.01,
                              .least_effort = 0.002,
                              .spread = 0.13,
                              .gain = 0.1,
                              .acceleration = 20,
                              .tie_weight = 50,
                              .tie_most = 1e9,
                              .end_held = 1e4,
                              .mass_force = 10,
                              .point_bend = 400,
                              .point_near = 1,
                              .point_rest = 1e6,
                              .point_none = 1e-4,
                              .point_held = 1e6,
                              .point_faded = 1e-4,
                              .firm = 4,
                              .near = 2e-3,
                              .near_tie = 1e-2,
                              .dip = 1e-4,
                              .tolerance = 1e-3,
                              .iterations = 20,
                              .exact_rounds = 12 };
}

// ---------------------------------------------------------------------------------------------------- memory

static void free_body( body_state *b )
{
    tr_free( b->x );
    tr_free( b->effort );
    tr_free( b->still );
    tr_free( b->heights );
    tr_free( b->weight );
    tr_free( b->factor );
    tr_free( b->memories );
    tr_free( b->remembered );
    tr_free( b->ties );
}

void tr_window_destroy( tr_window *w )
{
    if ( w == NULL )
        return;
    for ( int i = 0; w->bodies != NULL && i < w->job.body_count; ++i )
        free_body( &w->bodies[i] );
    for ( int i = 0; w->points != NULL && i < w->job.point_count; ++i ) {
        tr_free( w->points[i].ties );
        tr_free( w->points[i].weight );
        tr_free( w->points[i].moved );
        tr_free( w->points[i].factor );
    }
    for ( int i = 0; w->ties != NULL && i < w->job.tie_count; ++i )
        tr_free( w->ties[i].u ), tr_free( w->ties[i].off );
    for ( int i = 0; i < w->thread_count; ++i ) {
        tr_fit_scratch_free( &w->threads[i].fit );
        tr_free( w->threads[i].centre );
        tr_free( w->threads[i].goals );
        tr_free( w->threads[i].columns );
        tr_free( w->threads[i].local );
        tr_free( w->threads[i].pose.positions );
    }
    tr_free( w->bodies );
    tr_free( w->points );
    tr_free( w->ties );
    tr_free( w->threads );
    tr_free( w );
}

static bool build_body( tr_window *w, int i )
{
    const tr_window_body *in = &w->job.bodies[i];
    body_state *b = &w->bodies[i];
    size_t frames = (size_t)w->job.frame_count, joints = (size_t)in->fit->skeleton->joint_count;
    b->joint_count = (int)joints;
    b->column_count = 3 * ( b->joint_count + 1 );
    b->size = in->fit->size;
    int of_ties = 0;
    for ( int t = 0; t < w->job.tie_count; ++t )
        if ( w->job.ties[t].body == i ) {
            b->tie_count++;
            of_ties += w->job.ties[t].count;
            b->means = b->means || w->job.ties[t].count > 1;
        }
    b->goal_limit =
        ( in->goal_count != NULL ? in->goal_limit : 0 ) + of_ties + ( in->floor != NULL ? LOW_MOST : 0 );
    b->heights = tr_alloc( frames * joints, sizeof( float ) );
    size_t all = frames * (size_t)b->column_count;
    b->ties = tr_alloc( (size_t)b->tie_count, sizeof( int ) );
    b->x = tr_alloc( 3 * all, sizeof( float ) );
    b->effort = tr_alloc( 5 * frames, sizeof( float ) );
    b->still = tr_alloc( 3 * frames, sizeof( bool ) );
    b->weight = tr_alloc( 2 * frames, sizeof( double ) );
    b->factor = tr_alloc( frames, sizeof( tr_chain ) );
    b->memories = tr_alloc( frames, sizeof( tr_fit_memory ) );
    b->remembered = tr_alloc( 6 * frames * joints, sizeof( float ) );
    if ( b->ties == NULL || b->x == NULL || b->heights == NULL || b->effort == NULL || b->still == NULL ||
         b->weight == NULL || b->factor == NULL || b->memories == NULL || b->remembered == NULL )
        return false;
    b->z = b->x + all;
    b->u = b->z + all;
    b->slope = b->weight + frames;
    b->missed = b->effort + frames;
    b->strain = b->missed + frames;
    b->gap = b->strain + frames;
    b->urged = b->still + frames;
    b->dips = b->urged + frames;
    b->before = b->gap + frames;
    for ( int t = 0, n = 0; t < w->job.tie_count; ++t )
        if ( w->job.ties[t].body == i )
            b->ties[n++] = t;
    for ( size_t f = 0; f < frames; ++f ) {
        b->memories[f].turns = b->remembered + 6 * f * joints;
        b->memories[f].pulls = b->memories[f].turns + 3 * joints;
    }
    return true;
}

static bool build_point( tr_window *w, int i )
{
    point_state *p = &w->points[i];
    size_t frames = (size_t)w->job.frame_count;
    double sizes = 0;
    for ( int t = 0; t < w->job.tie_count; ++t )
        p->tie_count += w->job.ties[t].point == i;
    p->ties = tr_alloc( (size_t)p->tie_count, sizeof( int ) );
    p->weight = tr_alloc( 6 * frames, sizeof( double ) );
    p->factor = tr_alloc( frames, sizeof( tr_chain ) );
    p->moved = tr_alloc( frames, sizeof( float ) );
    if ( p->ties == NULL || p->weight == NULL || p->factor == NULL || p->moved == NULL )
        return false;
    p->columns = p->weight + 3 * frames;
    for ( int t = 0, n = 0; t < w->job.tie_count; ++t )
        if ( w->job.ties[t].point == i ) {
            p->ties[n++] = t;
            sizes += w->job.bodies[w->job.ties[t].body].fit->size;
        }
    p->size = p->tie_count > 0 ? sizes / p->tie_count : 1;
    return true;
}

static bool build_threads( tr_window *w, tr_error *error )
{
    if ( w->job.body_count == 0 )
        return true;
    tr_fit largest = *w->job.bodies[0].fit; // scratch for it serves all
    int goals = 0, columns = 0, threads = tr_parallel_threads();
    for ( int i = 0; i < w->job.body_count; ++i ) {
        const tr_fit *fit = w->job.bodies[i].fit;
        if ( fit->skeleton->joint_count > largest.skeleton->joint_count )
            largest.skeleton = fit->skeleton;
        largest.depth = fit->depth > largest.depth ? fit->depth : largest.depth;
        goals = w->bodies[i].goal_limit > goals ? w->bodies[i].goal_limit : goals;
        columns = w->bodies[i].column_count > columns ? w->bodies[i].column_count : columns;
    }
    w->threads = tr_alloc( (size_t)threads, sizeof( thread_scratch ) );
    if ( w->threads == NULL )
        return tr_error_memory( error );
    w->thread_count = threads;
    for ( int i = 0; i < threads; ++i ) {
        thread_scratch *t = &w->threads[i];
        t->centre = tr_alloc( BLOCK * (size_t)largest.skeleton->joint_count, sizeof( quat ) );
        t->goals = tr_alloc( BLOCK * (size_t)( goals > 0 ? goals : 1 ), sizeof( tr_fit_goal ) );
        t->columns = tr_alloc( (size_t)w->job.frame_count * (size_t)columns, sizeof( double ) );
        t->local = tr_alloc( 2 * (size_t)largest.skeleton->joint_count, sizeof( quat ) );
        t->pose.positions = tr_alloc( (size_t)largest.skeleton->joint_count, sizeof( vec3 ) );
        if ( t->centre == NULL || t->goals == NULL || t->columns == NULL || t->local == NULL ||
             t->pose.positions == NULL )
            return tr_error_memory( error );
        t->pose.rotations = t->local + largest.skeleton->joint_count;
        if ( !tr_fit_scratch_build( &t->fit, &largest, goals, 1, error ) )
            return false;
    }
    return true;
}

static bool build( tr_window *w )
{
    w->bodies = tr_alloc( (size_t)w->job.body_count, sizeof( body_state ) );
    w->points = tr_alloc( (size_t)w->job.point_count, sizeof( point_state ) );
    w->ties = tr_alloc( (size_t)w->job.tie_count, sizeof( tie_state ) );
    bool ok = w->bodies != NULL && w->points != NULL && w->ties != NULL;
    for ( int i = 0; ok && i < w->job.body_count; ++i )
        ok = build_body( w, i );
    for ( int i = 0; ok && i < w->job.point_count; ++i )
        ok = build_point( w, i );
    for ( int i = 0; ok && i < w->job.tie_count; ++i ) {
        w->ties[i].size = w->bodies[w->job.ties[i].body].size;
        w->ties[i].u = tr_alloc( (size_t)w->job.frame_count, sizeof( vec3 ) );
        w->ties[i].off = tr_alloc( (size_t)w->job.frame_count, sizeof( float ) );
        ok = w->ties[i].u != NULL && w->ties[i].off != NULL;
    }
    return ok;
}

tr_window *tr_window_create( const tr_window_job *job, const tr_window_def *def, tr_error *error )
{
    assert( job->frame_count > 0 && def->fps > 0 && def->rounds >= 0 );
    tr_window *w = tr_alloc( 1, sizeof( tr_window ) );
    if ( w == NULL ) {
        tr_error_memory( error );
        return NULL;
    }
    w->def = *def;
    w->job = *job;
    w->forces = job->body_count > 0 ? job->bodies[0].fit->def : tr_default_fit_def();
    if ( ( build( w ) || tr_error_memory( error ) ) && build_threads( w, error ) )
        return w;
    tr_window_destroy( w );
    return NULL;
}

// -----------------------------------------------------------------------------------------------------
// rounds

static bool jumps( const tr_window *w, const body_state *b )
{
    for ( int f = 0; f + 1 < w->job.frame_count; ++f )
        if ( tr_window_fastest( b, f ) > w->def.jump / w->def.fps )
            return true;
    return false;
}

static void wake( const tr_window *w, body_state *b )
{
    b->rests = false;
    memset( b->still, 0, (size_t)w->job.frame_count * sizeof( bool ) );
}

static void begin_body( tr_window *w, int i )
{
    const tr_window_body *in = &w->job.bodies[i];
    body_state *b = &w->bodies[i];
    memset( b->x, 0, 3 * (size_t)w->job.frame_count * (size_t)b->column_count * sizeof( float ) );
    for ( size_t n = 0; n < (size_t)w->job.frame_count * (size_t)b->joint_count; ++n )
        b->heights[n] = -INFINITY;
    memset( b->dips, 0, (size_t)w->job.frame_count * sizeof( bool ) );
    memset( b->urged, 0, (size_t)w->job.frame_count * sizeof( bool ) );
    memset( b->slope, 0, (size_t)w->job.frame_count * sizeof( double ) );
    b->rho = 0;
    b->fresh = true;
    wake( w, b );
    for ( int f = 0; f < w->job.frame_count; ++f ) {
        b->effort[f] = (float)w->def.effort;
        b->missed[f] = 0, b->before[f] = INFINITY;
    }
    for ( int f = 0; f < w->job.frame_count; ++f )
        b->memories[f].known = false;
    for ( int f = 0; f < w->job.frame_count; ++f )
        if ( !is_held( in, f ) ) {
            memcpy( tr_clip_frame( &in->clip, f ), in->start + (size_t)f * (size_t)b->joint_count,
                    (size_t)b->joint_count * sizeof( quat ) );
            in->clip.root[f] = in->root[f];
        }
}

// Whether a frame has something left to do.
static bool is_busy( const tr_window *w, const body_state *b, int frame )
{
    bool busy = b->gap[frame] >= w->def.rest || b->urged[frame] || b->dips[frame];
    for ( int k = 0; !busy && k < b->tie_count; ++k ) {
        const tr_window_tie *tie = &w->job.ties[b->ties[k]];
        if ( strength_of( tie, frame ) > 0 )
            busy = fmaxf( w->ties[b->ties[k]].off[frame], w->points[tie->point].moved[frame] ) >=
                   w->def.rest_tie;
    }
    return busy;
}

// Frames rest that have nothing to do and no busy frame around them.
static void find_rest( tr_window *w, int round )
{
    int around = tr_whole_frames( w->def.smooth * w->def.fps ), frames = w->job.frame_count;
    w->all_rest = round > 0 && w->job.body_count > 0;
    for ( int i = 0; i < w->job.body_count; ++i ) {
        body_state *b = &w->bodies[i];
        b->rests = round > 0;
        memset( b->still, round > 0, (size_t)frames * sizeof( bool ) );
        for ( int f = 0, after = 0; round > 0 && f < frames; ++f ) {
            if ( !is_busy( w, b, f ) )
                continue;
            for ( int g = f - around > after ? f - around : after; g < frames && g <= f + around; ++g )
                b->still[g] = false;
            after = f;
            b->rests = false;
        }
        memset( b->dips, 0, (size_t)frames * sizeof( bool ) );
        w->all_rest = w->all_rest && b->rests;
    }
}

// Ends that are free to meet anywhere meet half way.
static void meet_half_way( const tr_window *w )
{
    for ( int i = 0; i < w->job.point_count; ++i ) {
        const tr_window_point *in = &w->job.points[i];
        const point_state *p = &w->points[i];
        for ( int f = 0; !in->fixed && in->near == NULL && f < w->job.frame_count; ++f ) {
            vec3 sum = v3_zero;
            double weights = 0;
            for ( int k = 0; k < p->tie_count; ++k ) {
                const tr_window_tie *tie = &w->job.ties[p->ties[k]];
                if ( strength_of( tie, f ) < 1 )
                    continue;
                double moves = is_held( &w->job.bodies[tie->body], f ) ? w->def.end_held : 1;
                vec3 end = end_of( w, tie, f );
                sum = v3_mad( sum, moves, tie->away != NULL ? v3_sub( end, tie->away[f] ) : end );
                weights += moves;
            }
            if ( weights > 0 )
                in->place[f] = v3_scale( 1 / weights, sum );
        }
    }
}

// What means are off by goes into the next of the exact fits. False: all are met.
static bool correct_means( const tr_window *w )
{
    double worst = 0;
    for ( int t = 0; t < w->job.tie_count; ++t ) {
        const tr_window_tie *tie = &w->job.ties[t];
        for ( int f = 0; tie->count > 1 && f < w->job.frame_count; ++f )
            if ( strength_of( tie, f ) > 0 )
                worst = fmax( worst, tr_window_add_to_dual( w, t, f ) );
    }
    return worst > w->def.dip;
}

static void follow( const tr_window *w )
{
    if ( w->job.follow != NULL )
        w->job.follow( w->job.context );
}

static bool fit_exactly( tr_window *w, tr_error *error )
{
    int frames = w->job.frame_count;
    w->exact = true;
    for ( int i = 0; i < w->job.body_count; ++i )
        wake( w, &w->bodies[i] );
    tr_window_pose_all( w );
    for ( int t = 0; t < w->job.tie_count; ++t )
        memset( w->ties[t].u, 0, (size_t)frames * sizeof( vec3 ) );
    meet_half_way( w );
    bool ok = tr_window_fit_all( w, error ), again = true;
    for ( int round = 1; ok && again && round < w->def.exact_rounds; ++round ) {
        follow( w );
        bool means = correct_means( w );
        again = false;
        for ( int i = 0; i < w->job.body_count; ++i ) {
            body_state *b = &w->bodies[i];
            b->rests = true;
            for ( int f = 0; f < frames; ++f ) {
                b->still[f] = !( b->means && means ) && !b->dips[f];
                b->rests = b->rests && b->still[f];
                b->dips[f] = false;
            }
            again = again || !b->rests;
        }
        ok = !again || tr_window_fit_all( w, error );
    }
    w->exact = false;
    return ok;
}

bool tr_window_solve( tr_window *w, tr_error *error )
{
    w->rho = 0;
    w->all_rest = false;
    for ( int i = 0; i < w->job.body_count; ++i ) {
        begin_body( w, i );
        w->bodies[i].steps = 0;
    }
    for ( int t = 0; t < w->job.tie_count; ++t )
        memset( w->ties[t].u, 0, (size_t)w->job.frame_count * sizeof( vec3 ) );
    if ( !tr_window_fit_all( w, error ) )
        return false;
    for ( int round = 0; !w->all_rest && round <= w->def.rounds; ++round ) {
        for ( int i = 0; round == 1 && i < w->job.body_count; ++i )
            if ( jumps( w, &w->bodies[i] ) )
                begin_body( w, i );
        if ( round > 0 && ( !tr_work_go_on( error ) || !tr_window_fit_all( w, error ) ) )
            return false;
        follow( w );
        tr_window_meet_points( w );
        w->next = round > 1 ? w->rho * w->def.growth : w->def.draw;
        tr_window_meet_bodies( w );
        tr_window_rescale_ties( w );
        w->rho = w->next;
        find_rest( w, round );
    }
    return fit_exactly( w, error );
}

long tr_window_steps( const tr_window *w )
{
    long steps = 0;
    for ( int i = 0; i < w->job.body_count; ++i )
        steps += w->bodies[i].steps;
    return steps;
}
