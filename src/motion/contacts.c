// Which joint rests on what, and when. A joint rests where it is slow relative to a surface and near to it;
// both with hysteresis, so that a foot that rolls keeps its contact and one that swings by gets none.
#include "geometry/geometry.h"
#include "motion/stature.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-9 // frames; what products of seconds and rates lose is less

enum { SAMPLES_AT_ONCE = 20000 }; // samples of joints on surfaces: fewer are not worth waking a thread

tr_contact_def tr_default_contact_def( void )
{
    return ( tr_contact_def ){ .enter_speed = 0.25,
                               .leave_speed = 0.35,
                               .enter_height = 0.015,
                               .leave_height = 0.022,
                               .rest_height = 0.085,
                               .speed_span = 1.0 / 30.0,
                               .min_seconds = 0.06,
                               .lean_seconds = 0.25,
                               .lean_drift = 0.035,
                               .feet = true,
                               .hands = true,
                               .legs_of_height = 2.1,
                               .highest_ankle = 0.12,
                               .flat_band = 5e-3,
                               .flat_share = 0.1,
                               .usual_toe = 0.015,
                               .highest_toe = 0.033 };
}

typedef struct job { // one joint; jobs run side by side
    int joint;
    bool hand;
    tr_contacts found;
    bool out_of_memory;
} job;

typedef struct work {
    const tr_skeleton *skeleton;
    const tr_world *world;
    const tr_surface *surfaces;
    int surface_count;
    const tr_contact_def *def;
    double fps;
    double stature;
    job *jobs;
} work;

// What one joint does near one surface.
typedef struct course {
    double *distance; // [frame_count] metres from the surface, INFINITY where the joint cannot rest on it
    double *speed;    // [frame_count] relative to it; only where it is near
    double *rests;    // [frame_count] scratch
} course;

// --------------------------------------------------------------------------------------- where a joint is

static vec3 joint_at( const work *w, int joint, int frame )
{
    return tr_world_pose( w->world, frame ).positions[joint];
}

static rigid surface_at( const tr_surface *surface, int frame )
{
    return surface->track[frame < surface->track_count ? frame : surface->track_count - 1];
}

// Position of a joint as the surface sees it, so that what stands still on a moving box is still.
static vec3 seen_from( const work *w, const tr_surface *surface, int joint, int frame )
{
    vec3 p = joint_at( w, joint, frame );
    return surface->kind == TR_SURFACE_GROUND
               ? p
               : rigid_apply( rigid_inverse( surface_at( surface, frame ) ), p );
}

static vec3 seen_between( const work *w, const tr_surface *surface, int joint, double time )
{
    int last = w->world->frame_count - 1, before = tr_int_clamped( floor( time ), 0, last );
    vec3 a = seen_from( w, surface, joint, before );
    if ( before == last || time == before )
        return a;
    return v3_lerp( a, seen_from( w, surface, joint, before + 1 ), time - before );
}

// Mean speed over a fixed time to both sides, cut at the ends of the clip: the same for any frame rate.
static double relative_speed( const work *w, const tr_surface *surface, int joint, int frame )
{
    double span = fmax( w->def->speed_span * w->fps, 1.0 ), last = w->world->frame_count - 1;
    double from = fmax( frame - span, 0.0 ), to = fmin( frame + span, last );
    if ( !( to > from ) )
        return 0;
    vec3 a = seen_between( w, surface, joint, from ), b = seen_between( w, surface, joint, to );
    return v3_distance( a, b ) * w->fps / ( to - from );
}

// A foot that stands over the top of something cannot rest on the ground below it.
static bool over_a_top( const work *w, vec3 p, int frame, double tolerance )
{
    for ( int i = 0; i < w->surface_count; ++i ) {
        const tr_surface *s = &w->surfaces[i];
        if ( s->kind == TR_SURFACE_GROUND )
            continue;
        rigid at = surface_at( s, frame );
        if ( v3_distance( v3_horizontal( p ), v3_horizontal( at.position ) ) > v3_length( s->shape.size ) )
            continue;
        double height = tr_shape_height( &s->shape, at, p, tolerance, 0 );
        if ( isfinite( height ) && height > -tolerance )
            return true;
    }
    return false;
}

// Signed distance at which the joint could rest, INFINITY when it is nowhere near.
static double resting_distance( const work *w, const job *j, const tr_surface *surface, int frame,
                                double far )
{
    vec3 p = joint_at( w, j->joint, frame );
    double tolerance = w->def->leave_height * w->stature;
    if ( surface->kind == TR_SURFACE_GROUND ) {
        double height = p.y - surface->height;
        return height < far && !over_a_top( w, p, frame, tolerance ) ? height : INFINITY;
    }
    rigid at = surface_at( surface, frame );
    if ( v3_distance( p, at.position ) > 0.5 * v3_length( surface->shape.size ) + far )
        return INFINITY;
    if ( j->hand )
        return tr_shape_distance( &surface->shape, at, p, p, 0 );
    double height = tr_shape_height( &surface->shape, at, p, tolerance, w->def->enter_height * w->stature );
    return height > -tolerance ? height : INFINITY;
}

// ------------------------------------------------------------------------------------------------- course

static double highest_rest( const work *w, const job *j )
{
    return ( j->hand ? 0.5 : 1.0 ) * w->def->rest_height * w->stature;
}

static void follow( const work *w, const job *j, const tr_surface *surface, const course *c )
{
    double far = highest_rest( w, j ) + w->def->leave_height * w->stature;
    for ( int f = 0; f < w->world->frame_count; ++f ) {
        c->distance[f] = resting_distance( w, j, surface, f, far );
        c->speed[f] = c->distance[f] < far ? relative_speed( w, surface, j->joint, f ) : INFINITY;
    }
}

static int compare_doubles( const void *a, const void *b )
{
    double x = *(const double *)a, y = *(const double *)b;
    return ( x > y ) - ( x < y );
}

// Distance at which a share of the frames in which the joint is slow and near enough to rest are nearer;
// false when it never is.
static bool rest_quantile( const work *w, course *c, double highest, double share, double *rest )
{
    int count = 0;
    for ( int f = 0; f < w->world->frame_count; ++f )
        if ( c->speed[f] < w->def->enter_speed && c->distance[f] < highest )
            c->rests[count++] = c->distance[f];
    *rest = 0;
    if ( count == 0 )
        return false;
    qsort( c->rests, (size_t)count, sizeof( double ), compare_doubles );
    *rest = c->rests[tr_int_clamped( share * count, 0, count - 1 )];
    return true;
}

// The median and not the least, because a knee on the floor brings the ankle lower than it ever stands.
static double usual_rest( const work *w, const job *j, course *c )
{
    double rest;
    rest_quantile( w, c, highest_rest( w, j ), 0.5, &rest );
    return rest;
}

// ---------------------------------------------------------------------------------------------- intervals

static bool append( tr_contacts *list, tr_contact contact )
{
    if ( !tr_array_reserve( (void **)&list->items, &list->capacity, list->count + 1, sizeof( tr_contact ) ) )
        return false;
    list->items[list->count++] = contact;
    return true;
}

// Adds an interval, or lengthens the one before when the gap is too short to be one.
static bool add_interval( const work *w, job *j, int before, tr_contact contact )
{
    double shortest = w->def->min_seconds * w->fps;
    tr_contact *last = j->found.count > before ? &j->found.items[j->found.count - 1] : NULL;
    if ( last != NULL && contact.first - last->last - 1 < shortest ) {
        last->last = contact.last;
        return true;
    }
    return append( &j->found, contact );
}

// Hands that sway past a wall are slow and near it, too. Those that lean on it do so for a while and in one
// place.
static bool leans( const work *w, const job *j, const tr_surface *surface, const tr_contact *contact )
{
    vec3 begin = seen_from( w, surface, j->joint, contact->first );
    if ( contact->last - contact->first + 1 < w->def->lean_seconds * w->fps - ROUNDING )
        return false;
    for ( int f = contact->first; f <= contact->last; ++f )
        if ( v3_distance( seen_from( w, surface, j->joint, f ), begin ) > w->def->lean_drift * w->stature )
            return false;
    return true;
}

static void drop_passing_ones( const work *w, job *j, const tr_surface *surface, int before )
{
    int kept = before;
    for ( int i = before; i < j->found.count; ++i ) {
        const tr_contact *contact = &j->found.items[i];
        bool lasts = contact->last - contact->first + 1 >= w->def->min_seconds * w->fps - ROUNDING;
        bool rests = !j->hand || surface->kind != TR_SURFACE_ENVIRONMENT || leans( w, j, surface, contact );
        if ( lasts && rests )
            j->found.items[kept++] = *contact;
    }
    j->found.count = kept;
}

static bool find_intervals( const work *w, job *j, const tr_surface *surface, course *c )
{
    const tr_contact_def *def = w->def;
    int before = j->found.count, n = w->world->frame_count, first = -1;
    double zero = usual_rest( w, j, c );
    double enter = zero + def->enter_height * w->stature, leave = zero + def->leave_height * w->stature;
    for ( int f = 0; f <= n; ++f ) {
        bool near = f < n && c->speed[f] <= def->leave_speed && c->distance[f] <= leave;
        if ( first < 0 && near && c->speed[f] <= def->enter_speed && c->distance[f] <= enter )
            first = f;
        if ( first >= 0 && !near ) {
            tr_contact contact = { j->joint, first, f - 1, surface->kind, surface->index };
            if ( !add_interval( w, j, before, contact ) )
                return false;
            first = -1;
        }
    }
    drop_passing_ones( w, j, surface, before );
    return true;
}

static int compare_contacts( const void *a, const void *b )
{
    const tr_contact *x = a, *y = b;
    if ( x->joint != y->joint )
        return x->joint < y->joint ? -1 : 1;
    if ( x->first != y->first )
        return x->first < y->first ? -1 : 1;
    if ( x->surface != y->surface )
        return x->surface < y->surface ? -1 : 1;
    return x->surface_index < y->surface_index ? -1 : x->surface_index > y->surface_index;
}

// --------------------------------------------------------------------------------------------------- jobs

static bool course_alloc( course *c, const work *w )
{
    size_t n = (size_t)w->world->frame_count;
    *c = ( course ){ tr_alloc( n, sizeof( double ) ), tr_alloc( n, sizeof( double ) ),
                     tr_alloc( n, sizeof( double ) ) };
    return c->distance != NULL && c->speed != NULL && c->rests != NULL;
}

static void course_free( course *c )
{
    tr_free( c->distance );
    tr_free( c->speed );
    tr_free( c->rests );
}

static bool label_joint( const work *w, job *j )
{
    course c;
    bool ok = course_alloc( &c, w );
    for ( int i = 0; ok && i < w->surface_count; ++i ) {
        follow( w, j, &w->surfaces[i], &c );
        ok = find_intervals( w, j, &w->surfaces[i], &c );
    }
    course_free( &c );
    if ( j->found.count > 1 )
        qsort( j->found.items, (size_t)j->found.count, sizeof( tr_contact ), compare_contacts );
    return ok;
}

static void label_some( void *context, int begin, int end )
{
    work *w = context;
    for ( int i = begin; i < end; ++i )
        w->jobs[i].out_of_memory = !label_joint( w, &w->jobs[i] );
}

// Feet and toes; hands and the tips of fingers.
static int list_jobs( const work *w, job *jobs )
{
    int n = w->skeleton->joint_count, count = 0;
    for ( int j = 0; j < n; ++j )
        jobs[j] = ( job ){ .joint = -1 };
    for ( int j = 1; j < n; ++j ) // `hand` marks joints that have children until the job is written
        jobs[w->skeleton->joints[j].parent].hand = true;
    for ( int j = 0; j < n; ++j ) {
        tr_role role = w->skeleton->joints[j].role;
        bool leaf = !jobs[j].hand;
        bool foot = w->def->feet && ( role == TR_ROLE_FOOT || role == TR_ROLE_TOE );
        bool hand = w->def->hands && ( role == TR_ROLE_HAND || ( role == TR_ROLE_FINGER && leaf ) );
        if ( foot || hand )
            jobs[count++] = ( job ){ .joint = j, .hand = hand };
    }
    return count;
}

// How far the joints of the jobs are from the root at most, at any frame.
static double greatest_reach( const work *w, int count )
{
    double reach = 0;
    for ( int f = 0; f < w->world->frame_count; ++f )
        for ( int i = 0; i < count; ++i )
            reach = fmax( reach, v3_distance( joint_at( w, 0, f ), joint_at( w, w->jobs[i].joint, f ) ) );
    return reach;
}

// Drops the shapes that no joint ever comes over or near to, without asking joint by joint: in a crowd these
// are most of them.
static void keep_near_surfaces( work *w, int count, tr_surface *kept )
{
    double reach = greatest_reach( w, count ) + ( w->def->rest_height + w->def->leave_height ) * w->stature;
    int kept_count = 0;
    for ( int i = 0; i < w->surface_count; ++i ) {
        const tr_surface *s = &w->surfaces[i];
        double limit = reach + v3_length( s->shape.size );
        bool near = s->kind == TR_SURFACE_GROUND;
        for ( int f = 0; !near && f < w->world->frame_count; ++f ) {
            vec3 way = v3_horizontal( v3_sub( joint_at( w, 0, f ), surface_at( s, f ).position ) );
            near = !( v3_dot( way, way ) > limit * limit );
        }
        if ( near )
            kept[kept_count++] = *s;
    }
    w->surfaces = kept;
    w->surface_count = kept_count;
}

static bool gather( tr_contacts *out, job *jobs, int count )
{
    bool ok = true;
    for ( int i = 0; i < count; ++i ) {
        ok = ok && !jobs[i].out_of_memory;
        for ( int k = 0; ok && k < jobs[i].found.count; ++k )
            ok = append( out, jobs[i].found.items[k] );
        tr_contacts_free( &jobs[i].found );
    }
    return ok;
}

bool tr_contacts_label( tr_contacts *out, const tr_contact_scene *scene, const tr_contact_def *def,
                        tr_error *error )
{
    const tr_world *world = scene->world;
    assert( world->joint_count == scene->skeleton->joint_count && scene->fps > 0 );
    *out = ( tr_contacts ){ 0 };
    work w = { .skeleton = scene->skeleton,
               .world = world,
               .surfaces = scene->surfaces,
               .surface_count = scene->surface_count,
               .def = def,
               .fps = scene->fps,
               .stature = tr_stature( scene->skeleton ) };
    w.jobs = tr_alloc( (size_t)world->joint_count, sizeof( job ) );
    tr_surface *near = tr_alloc( (size_t)scene->surface_count, sizeof( tr_surface ) );
    if ( w.jobs == NULL || near == NULL ) {
        tr_free( w.jobs );
        tr_free( near );
        return tr_error_memory( error );
    }
    int count = world->frame_count > 0 ? list_jobs( &w, w.jobs ) : 0;
    keep_near_surfaces( &w, count, near );
    double samples = (double)world->frame_count * ( w.surface_count + 1.0 ); // for one joint
    int block = 1 + tr_int_clamped( SAMPLES_AT_ONCE / fmax( samples, 1.0 ), 0, SAMPLES_AT_ONCE );
    tr_parallel_for( count, block, label_some, &w );
    bool ok = gather( out, w.jobs, count );
    tr_free( w.jobs );
    tr_free( near );
    if ( ok )
        return true;
    tr_contacts_free( out );
    return tr_error_memory( error );
}

// Only heights of toes on a flat foot count, that is where its ankle is low: on tiptoe they are lower, and
// higher where the heel lands.
static bool rest_of_toe( const work *w, course *ankle, double flat, int toe, double *rest )
{
    int count = 0;
    for ( int f = 0; f < w->world->frame_count; ++f )
        if ( ankle->speed[f] < w->def->enter_speed &&
             ankle->distance[f] <= flat + w->def->flat_band * w->stature )
            ankle->rests[count++] = joint_at( w, toe, f ).y - w->surfaces->height;
    if ( count > 0 )
        qsort( ankle->rests, (size_t)count, sizeof( double ), compare_doubles );
    *rest = count > 0 ? ankle->rests[count / 2] : 0;
    return count > 0;
}

static void find_rests( const work *w, course *c, double *heights, bool *known )
{
    const tr_skeleton *skeleton = w->skeleton;
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        tr_role role = skeleton->joints[j].role;
        const job foot = { .joint = j };
        if ( known[j] || ( role != TR_ROLE_FOOT && role != TR_ROLE_TOE ) )
            continue;
        follow( w, &foot, w->surfaces, c );
        known[j] = rest_quantile( w, c, highest_rest( w, &foot ), w->def->flat_share, &heights[j] );
        for ( int i = j + 1; known[j] && role == TR_ROLE_FOOT && i < skeleton->joint_count; ++i )
            if ( skeleton->joints[i].role == TR_ROLE_TOE &&
                 skeleton->joints[i].limb == skeleton->joints[j].limb )
                known[i] = rest_of_toe( w, c, heights[j], i, &heights[i] );
    }
}

bool tr_contact_rests( const tr_skeleton *skeleton, const tr_world *world, double fps,
                       const tr_contact_def *def, double ground, double *heights, bool *known,
                       tr_error *error )
{
    tr_contact_def flat = *def;
    flat.rest_height = def->highest_ankle;
    const tr_surface floor = { .kind = TR_SURFACE_GROUND, .height = ground };
    work w = { .skeleton = skeleton,
               .world = world,
               .surfaces = &floor,
               .surface_count = 1,
               .def = &flat,
               .fps = fps,
               .stature = def->legs_of_height * tr_skeleton_leg_length( skeleton ) };
    course c;
    bool ok = course_alloc( &c, &w );
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        heights[j] = 0;
        known[j] = false;
    }
    if ( ok )
        find_rests( &w, &c, heights, known );
    course_free( &c );
    return ok || tr_error_memory( error );
}

void tr_contacts_free( tr_contacts *contacts )
{
    tr_free( contacts->items );
    *contacts = ( tr_contacts ){ 0 };
}
