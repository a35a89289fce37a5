// Which volumes of two characters, or of a character and a prop, touch, fingers and thumbs too, as contact_f1
// has it (docs/metrics.md): within 2 cm on bodies of 1.75 m.
#include "scene/imesh/relief.h"

#define REACH ( 0.02 / 1.75 )

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

tr_axis tr_capsule_axis( const tr_capsule *capsule, tr_pose pose )
{
    rigid bone = { pose.rotations[capsule->parent], pose.positions[capsule->parent] };
    return ( tr_axis ){ rigid_apply( bone, capsule->a ), rigid_apply( bone, capsule->b ) };
}

static bool is_near( tr_axis a, tr_axis b, double within )
{
    vec3 apart = v3_sub( v3_add( a.a, a.b ), v3_add( b.a, b.b ) ); // twice
    return v3_length( apart ) <= v3_distance( a.a, a.b ) + v3_distance( b.a, b.b ) + 2 * within;
}

static bool touch( const tr_capsule *c, tr_pose p, const tr_capsule *d, tr_pose q, double reach )
{
    tr_axis a = tr_capsule_axis( c, p ), b = tr_capsule_axis( d, q );
    return is_near( a, b, c->radius + d->radius + reach ) &&
           tr_capsule_distance( a.a, a.b, c->radius, b.a, b.b, d->radius ) <= reach;
}

static bool touch_prop( const tr_capsule *c, tr_pose p, tr_solid prop, double reach )
{
    tr_axis a = tr_capsule_axis( c, p );
    return tr_shape_distance( &prop.shape, prop.at, a.a, a.b, c->radius ) <= reach;
}

static int strayed_from_prop( const tr_touches *t, const tr_mesh_work *w, int actor, int prop, int frame )
{
    const tr_actor *x = &w->stage->actors[actor];
    tr_pose source = tr_world_pose( &x->world, frame ),
            now = tr_world_pose( &w->result->worlds[actor], frame );
    tr_solid was = { w->stage->props[prop].track[frame], w->stage->props[prop].shape },
             is = { w->result->tracks[prop][frame], tr_stage_prop_shape( w->stage, prop, false ) };
    int count = 0;
    for ( int i = 0; i < x->body.capsule_count; ++i ) {
        const tr_capsule *c = t->counterparts[t->first[actor] + i];
        count += c != NULL &&
                 touch_prop( c, source, was, tr_touches_reach( t, actor, actor, 0 ) ) !=
                     touch_prop( &x->body.capsules[i], now, is, tr_touches_reach( t, actor, actor, 1 ) );
    }
    return count;
}

static int strayed_from_actor( const tr_touches *t, const tr_mesh_work *w, int a, int b, int frame )
{
    const tr_actor *x = &w->stage->actors[a], *y = &w->stage->actors[b];
    tr_pose source[2] = { tr_world_pose( &x->world, frame ), tr_world_pose( &y->world, frame ) };
    tr_pose now[2] = { tr_world_pose( &w->result->worlds[a], frame ),
                       tr_world_pose( &w->result->worlds[b], frame ) };
    double reach[2] = { tr_touches_reach( t, a, b, 0 ), tr_touches_reach( t, a, b, 1 ) };
    int count = 0;
    for ( int i = 0; i < x->body.capsule_count; ++i )
        for ( int k = 0; k < y->body.capsule_count; ++k ) {
            const tr_capsule *c = t->counterparts[t->first[a] + i], *d = t->counterparts[t->first[b] + k];
            count += c != NULL && d != NULL &&
                     touch( c, source[0], d, source[1], reach[0] ) !=
                         touch( &x->body.capsules[i], now[0], &y->body.capsules[k], now[1], reach[1] );
        }
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
