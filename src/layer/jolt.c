// Whether an edit gives anybody a jolt. Limbs that come to their ends, knees that snap and arms that are led
// past their shoulders show in places and turns alone, whatever the reason: they are compared with what
// bodies do in the source and below, and with what the cage asks for.
#include "layer/private.h"

#include <stdlib.h>

#define FASTER                                                                                               \
    tr_default_measure_limits()                                                                              \
        .edit_acceleration_spike // times the largest acceleration of anybody in the source …
#define SAME  1.02               // … or below …
#define ASKED 1.1                // … or of what is asked of anybody …
#define LEAST 4.0                // … or, where all move slowly, m/s² …
#define STILL 0.5                // … or, where they do not …
#define FREE  40.0               // … this
#define HURRY 40.0               // m/s²: nobody is asked for more who does not do more by himself
#define SPARE 1e-3               // of that
#define TURN                                                                                                 \
    tr_default_measure_limits()                                                                              \
        .edit_rotation_spike_deg // degrees from frame to frame beyond what a joint does in the source …
#define KEPT 1.0                 // … and beyond what it does below

// Largest second difference of any joint around a frame, metres.
static double bend_at( const tr_world *world, int frame )
{
    double most = 0;
    if ( frame < 1 || frame + 1 >= world->frame_count )
        return 0;
    const vec3 *a = tr_world_pose( world, frame - 1 ).positions, *b = tr_world_pose( world, frame ).positions,
               *c = tr_world_pose( world, frame + 1 ).positions;
    for ( int j = 0; j < world->joint_count; ++j ) {
        vec3 d = v3_mad( v3_add( a[j], c[j] ), -2, b[j] );
        most = fmax( most, v3_dot( d, d ) );
    }
    return sqrt( most );
}

static double turn_between( quat a, quat b )
{
    double along = fabs( a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w );
    return 2 * acos( fmin( along, 1 ) ) / TR_DEGREE;
}

// How a character is asked to turn as a whole from the frame before.
static double asked_turn( tr_cage_layer *l, int actor, int frame )
{
    const tr_moved_frame *a = tr_moved_whole( l, actor, frame - 1 ), *b = tr_moved_whole( l, actor, frame );
    return turn_between( a != NULL ? a->turn : q_identity, b != NULL ? b->turn : q_identity );
}

// By how many degrees a joint turns more from the frame before than its source or, where that does more, than
// below; the root also than it is asked to.
static double turn_at( tr_cage_layer *l, int actor, int frame )
{
    const tr_actor *cast = &l->stage->actors[actor];
    const tr_clip *below = &l->below->motions[actor].clip, *now = &l->result->motions[actor].clip,
                  *source = &cast->source.clip;
    double most = 0;
    if ( frame < 1 )
        return 0;
    const quat *a = tr_clip_frame( below, frame - 1 ), *b = tr_clip_frame( below, frame ),
               *x = tr_clip_frame( now, frame - 1 ), *y = tr_clip_frame( now, frame ),
               *p = tr_clip_frame( source, frame - 1 ), *q = tr_clip_frame( source, frame );
    for ( int j = 0; j < now->joint_count; ++j ) {
        double turn = turn_between( x[j], y[j] );
        int from = cast->map[j];
        if ( turn <= most )
            continue;
        double own = turn_between( a[j], b[j] ), copied = from >= 0 ? turn_between( p[from], q[from] ) : own;
        double more = turn - fmax( copied, own + KEPT - TURN );
        if ( j == 0 && more > TURN )
            more -= asked_turn( l, actor, frame );
        most = fmax( most, more );
    }
    return most;
}

// The same of what the cage asks of a body.
static double asked_at( tr_cage_layer *l, tr_moved_body *body, int frame )
{
    double most = 0;
    if ( frame <= l->begin || frame + 1 >= l->begin + l->frame_count )
        return 0;
    bool one = false;
    for ( int f = frame - 1; f <= frame + 1; ++f )
        one = tr_moved_at( l, body, f )->rigid || one; // of these, the root alone is placed
    int first = one ? body->lead : body->first, count = one ? 1 : body->count;
    const vec3 *a = l->after + tr_layer_cell( l, frame - 1, first ),
               *b = l->after + tr_layer_cell( l, frame, first ),
               *c = l->after + tr_layer_cell( l, frame + 1, first );
    for ( int p = 0; p < count; ++p ) {
        vec3 d = v3_mad( v3_add( a[p], c[p] ), -2, b[p] );
        most = fmax( most, v3_dot( d, d ) );
    }
    return sqrt( most );
}

// Against its source: larger bodies go faster.
static double size_of( const tr_cage_layer *l, int node )
{
    return node < l->stage->actor_count ? fmax( l->stage->actors[node].height_ratio, 1e-3 ) : 1;
}

static double most_bent( const tr_world *world )
{
    double most = 0;
    for ( int f = 0; f < world->frame_count; ++f )
        most = fmax( most, bend_at( world, f ) );
    return most;
}

// The largest second difference that is borne of anybody, metres in the source's size.
static double borne( tr_cage_layer *l )
{
    if ( l->borne > 0 )
        return l->borne;
    double below = 0, source = 0;
    for ( int n = 0; n < l->stage->actor_count; ++n ) {
        below = fmax( below, most_bent( &l->below->worlds[n] ) / size_of( l, n ) );
        source = fmax( source, most_bent( &l->stage->actors[n].world ) );
    }
    double unit = 1 / ( l->stage->fps * l->stage->fps ), least = source > STILL * unit ? LEAST : FREE;
    l->borne = fmax( least * unit, fmax( SAME * below, FASTER * source ) );
    return l->borne;
}

// The same, or as much as the cage asks of anybody.
static double borne_here( tr_cage_layer *l, int first, int last )
{
    double most = borne( l );
    for ( int i = 0; i < l->body_count; ++i )
        for ( int f = first; f <= last; ++f )
            most = fmax( most, ASKED * asked_at( l, &l->bodies[i], f ) / size_of( l, l->bodies[i].node ) );
    return most;
}

double tr_layer_jolts( tr_cage_layer *l, double *jolts )
{
    int first, last, frames = l->stage->frame_count;
    tr_cage_layer_range( l, &first, &last );
    double most = borne_here( l, first, last ), largest = 0;
    for ( int n = 0; n < l->stage->actor_count; ++n )
        for ( int f = first; f <= last; ++f ) {
            double *jolt = &jolts[(size_t)n * (size_t)frames + (size_t)f];
            bool stands = l->linked[n] && l->stage->actors[n].footing_count > 0;
            *jolt = !stands ? 0
                            : fmax( bend_at( &l->result->worlds[n], f ) / ( size_of( l, n ) * most ),
                                    turn_at( l, n, f ) / TURN );
            largest = fmax( largest, *jolt );
        }
    return largest;
}

// ---------------------------------------------------------------------------------------------------- haste

// Whether handles may ask for too much in too little time. On a minimum-jerk curve a way D in a time T is
// gone with second differences of 5.8 D / T².
static bool hurries( tr_cage_layer *l )
{
    double most = 0;
    for ( int h = 0; h < l->handle_count; ++h ) {
        int frame = l->handles[h].frame, time = l->cage.last - l->cage.first;
        time = frame > l->cage.first && frame - l->cage.first < time ? frame - l->cage.first : time;
        time = frame < l->cage.last && l->cage.last - frame < time ? l->cage.last - frame : time;
        for ( int i = 0; i < l->handle_count; ++i ) {
            int apart = abs( l->handles[i].frame - frame );
            time = apart > 0 && apart < time ? apart : time;
        }
        most = fmax( most, v3_length( l->handles[h].offset ) / ( (double)time * time ) );
    }
    return 2 * 5.8 * most > HURRY / ( l->stage->fps * l->stage->fps );
}

static vec3 cage_shift( const tr_cage *cage, int frame )
{
    vec3 centre = cage->places[frame - cage->begin].position;
    return v3_sub( rigid_apply( tr_cage_motion( cage, frame ), centre ), centre );
}

double tr_layer_haste( tr_cage_layer *l )
{
    double most = 0;
    bool stands = false;
    for ( int i = 0; i < l->body_count; ++i )
        stands = stands || ( l->bodies[i].foot_count > 0 && l->bodies[i].lead >= 0 );
    if ( !stands || !hurries( l ) )
        return 1;
    for ( int f = l->begin + 1; f + 1 < l->begin + l->frame_count; ++f ) {
        vec3 a = cage_shift( &l->cage, f - 1 ), b = cage_shift( &l->cage, f ),
             c = cage_shift( &l->cage, f + 1 );
        most = fmax( most, v3_length( v3_mad( v3_add( a, c ), -2, b ) ) );
    }
    double least = HURRY / ( l->stage->fps * l->stage->fps );
    double bound = most > least ? fmax( least, borne( l ) ) : least;
    return most > ( 1 + SPARE ) * bound ? ( 1 - SPARE ) * bound / most : 1;
}
