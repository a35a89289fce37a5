// Which volumes of two characters, or of a character and a prop, touch, fingers and thumbs too, as contact_f1
// has it (docs/metrics.md): within 2 cm on bodies of 1.75 m.
#include "closeness/relief.h"

#define REACH tr_default_measure_limits().touch

static const tr_capsule *counterpart( const tr_actor *actor, const tr_capsule *c )
{
    const tr_body *source = &actor->source_body;
    for ( int i = 0; i < source->capsule_count; ++i )
        if ( source->capsules[i].joint == actor->map[c->joint] &&
             source->capsules[i].parent == actor->map[c->parent] )
            return &source->capsules[i];
    return NULL;
}

bool tr_touches_build( tr_touches *t, const tr_stage *stage )
{
    size_t actors = (size_t)stage->actor_count, count = 0;
    for ( size_t i = 0; i < actors; ++i )
        count += (size_t)stage->actors[i].body.capsule_count;
    t->first = tr_alloc( actors, sizeof( int ) );
    t->counterparts = tr_alloc( count, sizeof( tr_capsule * ) );
    t->heights = tr_alloc( actors, sizeof *t->heights );
    if ( t->first == NULL || t->counterparts == NULL || t->heights == NULL )
        return false;
    count = 0;
    for ( size_t i = 0; i < actors; ++i ) {
        const tr_actor *actor = &stage->actors[i];
        t->first[i] = (int)count;
        t->heights[i][0] = tr_skeleton_height( &actor->source.skeleton );
        t->heights[i][1] = tr_skeleton_height( &actor->target );
        for ( int k = 0; k < actor->body.capsule_count; ++k )
            t->counterparts[count++] = counterpart( actor, &actor->body.capsules[k] );
    }
    return true;
}

void tr_touches_free( tr_touches *t )
{
    tr_free( t->first );
    tr_free( t->counterparts );
    tr_free( t->heights );
    *t = ( tr_touches ){ 0 };
}

double tr_touches_reach( const tr_touches *t, int a, int b, int target )
{
    return REACH * 0.5 * ( t->heights[a][target] + t->heights[b][target] );
}

tr_volume tr_volume_of( const tr_capsule *capsule, tr_pose pose )
{
    rigid bone = { pose.rotations[capsule->parent], pose.positions[capsule->parent] };
    vec3 a = rigid_apply( bone, capsule->a ), b = rigid_apply( bone, capsule->b );
    return ( tr_volume ){ a, b, capsule->radius, v3_lerp( a, b, 0.5 ),
                          0.5 * v3_distance( a, b ) + capsule->radius };
}

static bool balls_are_near( vec3 a, double size_a, vec3 b, double size_b, double reach )
{
    vec3 apart = v3_sub( a, b );
    double most = size_a + size_b + reach;
    return v3_dot( apart, apart ) <= most * most;
}

bool tr_volumes_are_near( const tr_volume *a, const tr_volume *b, double reach )
{
    return balls_are_near( a->middle, a->size, b->middle, b->size, reach );
}

double tr_volume_gap( const tr_volume *a, const tr_volume *b )
{
    return tr_capsule_distance( a->a, a->b, a->radius, b->a, b->b, b->radius );
}

static bool touch( const tr_volume *a, const tr_volume *b, double reach )
{
    return tr_volumes_are_near( a, b, reach ) && tr_volume_gap( a, b ) <= reach;
}

static bool touch_prop( const tr_volume *a, tr_solid prop, double reach )
{
    return balls_are_near( a->middle, a->size, prop.at.position, 0.5 * v3_length( prop.shape.size ),
                           reach ) &&
           tr_shape_distance( &prop.shape, prop.at, a->a, a->b, a->radius ) <= reach;
}

#define MOST 256 // volumes of a body that are looked at

typedef struct shown { // the volumes of an actor that have counterparts, at a frame
    tr_volume source[MOST], now[MOST];
    int count;
} shown;

static void show( shown *s, const tr_touches *t, const tr_mesh_work *w, int actor, int frame )
{
    const tr_actor *a = &w->stage->actors[actor];
    s->count = 0;
    for ( int i = 0; i < a->body.capsule_count && s->count < MOST; ++i ) {
        const tr_capsule *c = t->counterparts[t->first[actor] + i];
        if ( c == NULL )
            continue;
        s->source[s->count] = tr_volume_of( c, tr_world_pose( &a->world, frame ) );
        s->now[s->count++] =
            tr_volume_of( &a->body.capsules[i], tr_world_pose( &w->result->worlds[actor], frame ) );
    }
}

static int strayed_from_prop( const tr_touches *t, const tr_mesh_work *w, int actor, int prop, int frame )
{
    shown s;
    tr_solid was = { w->stage->props[prop].track[frame], w->stage->props[prop].shape },
             is = { w->result->tracks[prop][frame], tr_stage_prop_shape( w->stage, prop, false ) };
    int count = 0;
    show( &s, t, w, actor, frame );
    for ( int i = 0; i < s.count; ++i )
        count += touch_prop( &s.source[i], was, tr_touches_reach( t, actor, actor, 0 ) ) !=
                 touch_prop( &s.now[i], is, tr_touches_reach( t, actor, actor, 1 ) );
    return count;
}

static int strayed_from_actor( const tr_touches *t, const tr_mesh_work *w, int a, int b, int frame )
{
    shown x, y;
    double source = tr_touches_reach( t, a, b, 0 ), now = tr_touches_reach( t, a, b, 1 );
    int count = 0;
    show( &x, t, w, a, frame );
    show( &y, t, w, b, frame );
    for ( int i = 0; i < x.count; ++i )
        for ( int k = 0; k < y.count; ++k )
            count += touch( &x.source[i], &y.source[k], source ) != touch( &x.now[i], &y.now[k], now );
    return count;
}

int tr_touches_strayed( const tr_touches *t, const tr_mesh_work *w, int a, int b, int frame )
{
    bool first = tr_mesh_is_actor( w->stage, a ), second = tr_mesh_is_actor( w->stage, b );
    if ( first && second )
        return strayed_from_actor( t, w, a, b, frame );
    if ( first && tr_mesh_is_prop( w->stage, b ) )
        return strayed_from_prop( t, w, a, b - w->stage->actor_count, frame );
    if ( second && tr_mesh_is_prop( w->stage, a ) )
        return strayed_from_prop( t, w, b, a - w->stage->actor_count, frame );
    return 0;
}
