// Whether an edit gives anybody a jolt. Limbs that come to their ends, knees that snap and arms that are led
// past their shoulders show in places and turns alone, whatever the reason: they are compared with what the
// body does below, and with what the cage asks for.
#include "scene/layer/layer.h"

#define FASTER 1.47 // times the largest acceleration of anybody below, or of what is asked of the body …
#define LEAST  40.0 // … or, where all hardly move, m/s²
#define TURN   20.0 // degrees from frame to frame beyond what a joint does below

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

static bool turns( const tr_clip *below, const tr_clip *now, int frame, int first )
{
    const quat *a = tr_clip_frame( below, frame - 1 ), *b = tr_clip_frame( below, frame ),
               *x = tr_clip_frame( now, frame - 1 ), *y = tr_clip_frame( now, frame );
    bool any = false;
    for ( int j = first; !any && j < now->joint_count; ++j )
        any = turn_between( x[j], y[j] ) > TURN + turn_between( a[j], b[j] );
    return any;
}

// The same of what the cage asks of a body.
static double asked_at( const tr_cage_layer *l, tr_moved_body *body, int frame )
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

static bool turns_sections( const tr_cage_layer *l )
{
    bool any = l->layer->turn;
    for ( int h = 0; h < l->handle_count; ++h )
        any = any || v3_length( l->stage->scene->handles[l->handle_index[h]].turn ) > 0;
    return any;
}

bool tr_layer_jolts( const tr_cage_layer *l, int actor )
{
    const tr_world *below = &l->below->worlds[actor], *now = &l->result->worlds[actor];
    tr_moved_body *body = tr_cage_layer_body( l, actor );
    double most = LEAST / ( l->stage->fps * l->stage->fps );
    bool jolts = false;
    int first, last, joint = turns_sections( l ) ? 1 : 0;
    tr_cage_layer_range( l, &first, &last );
    for ( int n = 0; n < l->stage->actor_count; ++n )
        for ( int f = 0; f < below->frame_count; ++f )
            most = fmax( most, FASTER * bend_at( &l->below->worlds[n], f ) );
    for ( int f = first; body != NULL && f <= last; ++f )
        most = fmax( most, FASTER * asked_at( l, body, f ) );
    for ( int f = first; !jolts && f <= last; ++f )
        jolts = bend_at( now, f ) > most || ( f > 0 && turns( &l->below->motions[actor].clip,
                                                              &l->result->motions[actor].clip, f, joint ) );
    return jolts;
}
