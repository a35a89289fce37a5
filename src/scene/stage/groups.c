// Who belongs together. Actors and props that are linked by a constraint, touch, or come close share one path
// scale about one origin: scaling each alone would pull partners apart.
#include "scene/scene_private.h"

// Two bodies are close when their roots come within this share of their mean height on the ground.
#define CLOSE 0.6

int tr_set_find( int *parent, int i )
{
    while ( parent[i] != i )
        i = parent[i] = parent[parent[i]];
    return i;
}

void tr_set_join( int *parent, int a, int b )
{
    int x = tr_set_find( parent, a ), y = tr_set_find( parent, b );
    if ( x < y )
        parent[y] = x;
    else
        parent[x] = y;
}

int tr_anchor_node( const tr_stage *stage, const tr_anchor *anchor )
{
    return anchor->actor >= 0 ? anchor->actor : anchor->prop >= 0 ? stage->actor_count + anchor->prop : -1;
}

static bool come_close( const tr_stage *stage, const tr_actor *a, const tr_actor *b )
{
    double height = 0.5 * ( tr_stature( &a->source.skeleton ) + tr_stature( &b->source.skeleton ) );
    double limit = CLOSE * height;
    for ( int f = 0; f < stage->frame_count; ++f ) {
        vec3 apart = v3_horizontal( v3_sub( a->source.clip.root[f], b->source.clip.root[f] ) );
        if ( v3_dot( apart, apart ) < limit * limit )
            return true;
    }
    return false;
}

static void join_linked( const tr_stage *stage, int *parent )
{
    for ( int r = 0; r < stage->rule_count; ++r ) {
        const tr_rule *rule = &stage->rules[r];
        int a = tr_anchor_node( stage, &rule->a ), b = tr_anchor_node( stage, &rule->b );
        if ( a >= 0 && b >= 0 )
            tr_set_join( parent, a, b );
        if ( a >= 0 && rule->surface_prop >= 0 )
            tr_set_join( parent, a, stage->actor_count + rule->surface_prop );
    }
}

static void join_close( const tr_stage *stage, int *parent )
{
    for ( int i = 0; i < stage->actor_count; ++i ) {
        const tr_contacts *contacts = &stage->actors[i].contacts;
        for ( int c = 0; c < contacts->count; ++c )
            if ( contacts->items[c].surface == TR_SURFACE_PROP )
                tr_set_join( parent, i, stage->actor_count + contacts->items[c].surface_index );
        for ( int j = 0; j < i; ++j )
            if ( tr_set_find( parent, i ) != tr_set_find( parent, j ) &&
                 come_close( stage, &stage->actors[i], &stage->actors[j] ) )
                tr_set_join( parent, i, j );
    }
}

int tr_stage_partition( const tr_stage *stage, bool close, int *part )
{
    int nodes = stage->actor_count + stage->prop_count, count = 0;
    int *parent = tr_alloc( (size_t)nodes, sizeof( int ) );
    if ( parent == NULL )
        return -1;
    for ( int i = 0; i < nodes; ++i )
        parent[i] = i;
    join_linked( stage, parent );
    if ( close )
        join_close( stage, parent );
    for ( int i = 0; i < nodes; ++i ) { // leaders have the smallest index, so they are numbered first
        int leader = tr_set_find( parent, i );
        part[i] = leader == i ? count++ : part[leader];
    }
    tr_free( parent );
    return count;
}

// A hand that holds a partner or a prop goes where that goes, whatever it brushes against meanwhile.
static bool holds_another( const tr_stage *stage, int actor, const tr_contact *contact )
{
    int joint = tr_actor_target_joint( &stage->actors[actor], contact->joint );
    for ( int r = 0; joint >= 0 && r < stage->rule_count; ++r ) {
        const tr_rule *rule = &stage->rules[r];
        if ( rule->kind == TR_CONSTRAINT_RELATIVE && rule->first <= contact->last &&
             contact->first <= rule->last && tr_rule_holds( stage, rule, actor, joint ) )
            return true;
    }
    return false;
}

// Does anything the group touches keep its size? Then so does its path.
static bool touches_fixed_size( const tr_stage *stage, int group )
{
    for ( int p = 0; p < stage->prop_count; ++p )
        if ( stage->props[p].group == group && fabs( stage->props[p].scale - 1.0 ) < 1e-9 )
            return true;
    for ( int r = 0; r < stage->rule_count; ++r )
        if ( stage->rules[r].obstacle >= 0 &&
             tr_anchor_group( stage, &stage->rules[r].a ) == &stage->groups[group] )
            return true;
    for ( int i = 0; i < stage->actor_count; ++i ) {
        const tr_contacts *contacts = &stage->actors[i].contacts;
        for ( int c = 0; stage->actors[i].group == group && c < contacts->count; ++c )
            if ( contacts->items[c].surface == TR_SURFACE_ENVIRONMENT &&
                 !holds_another( stage, i, &contacts->items[c] ) )
                return true;
    }
    return false;
}

static void measure_group( const tr_stage *stage, int g, tr_group *group )
{
    double legs = 0, heights = 0, wish = 0;
    int members = 0, wishes = 0;
    vec3 sum = v3_zero;
    for ( int i = 0; i < stage->actor_count; ++i ) {
        const tr_actor *actor = &stage->actors[i];
        if ( actor->group != g )
            continue;
        vec3 path = v3_zero;
        for ( int f = 0; f < stage->frame_count; ++f )
            path = v3_add( path, actor->source.clip.root[f] );
        sum = v3_mad( sum, 1.0 / stage->frame_count, path );
        legs += actor->leg_ratio;
        heights += actor->height_ratio;
        members++;
        double given = stage->scene->cast[i].target.path_scale;
        wish += given;
        wishes += given > 0;
    }
    *group = ( tr_group ){ .path_scale = 1, .rise = 1, .size_ratio = 1 };
    if ( members == 0 )
        return;
    group->origin = v3( sum.x / members, stage->ground, sum.z / members );
    group->size_ratio = heights / members;
    if ( !touches_fixed_size( stage, g ) )
        group->rise = legs / members;
    group->path_scale = wishes > 0 ? wish / wishes : group->rise;
}

bool tr_stage_group( tr_stage *stage, tr_error *error )
{
    int nodes = stage->actor_count + stage->prop_count;
    int *part = tr_alloc( (size_t)nodes, sizeof( int ) );
    stage->groups = tr_alloc( (size_t)nodes, sizeof( tr_group ) );
    int count = part != NULL && stage->groups != NULL ? tr_stage_partition( stage, true, part ) : -1;
    if ( count < 0 ) {
        tr_free( part );
        return tr_error_memory( error );
    }
    stage->group_count = count;
    for ( int i = 0; i < stage->actor_count; ++i )
        stage->actors[i].group = part[i];
    for ( int p = 0; p < stage->prop_count; ++p )
        stage->props[p].group = part[stage->actor_count + p];
    for ( int g = 0; g < count; ++g )
        measure_group( stage, g, &stage->groups[g] );
    tr_free( part );
    return true;
}

vec3 tr_group_place( const tr_group *group, vec3 source )
{
    vec3 from = v3_sub( source, group->origin );
    vec3 scaled = v3( group->path_scale * from.x, group->rise * from.y, group->path_scale * from.z );
    return v3_add( group->origin, scaled );
}
