// Groups. Actors and props that are linked by a constraint, touch, or come close share one path scale about
// one origin: scaling each alone would pull partners apart.
#include "stage/private.h"

int tr_anchor_node( const tr_stage *stage, const tr_anchor *anchor )
{
    return anchor->actor >= 0 ? anchor->actor : anchor->prop >= 0 ? stage->actor_count + anchor->prop : -1;
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

// ------------------------------------------------------------------------------------------------- closeness
// Bodies can be close only if the boxes around their root paths overlap. Boxes grow by the body's share of
// the distance that counts as close. Paths are cut into pieces, because the box of a long path overlaps many
// bodies that pass at other times.

enum { FRAMES_AT_ONCE = 32 }; // long enough to share the cost of a tree, short enough for small boxes

typedef struct search {
    const tr_stage *stage;
    int *parent;     // [node_count]
    int sets;        // sets of actors, at most
    double *heights; // [actor_count]
    tr_box *boxes;   // [actor_count] of a piece
    int *near;       // [actor_count]
    tr_box_tree tree;
} search;

static bool come_close( const search *s, int a, int b, int first, int last )
{
    double limit = s->stage->def.close * ( 0.5 * ( s->heights[a] + s->heights[b] ) );
    const vec3 *p = s->stage->actors[a].source.clip.root, *q = s->stage->actors[b].source.clip.root;
    for ( int f = first; f <= last; ++f ) {
        vec3 apart = v3_horizontal( v3_sub( p[f], q[f] ) );
        if ( v3_dot( apart, apart ) < limit * limit )
            return true;
    }
    return false;
}

static bool search_piece( search *s, int first, int last )
{
    const double rounding = 1e-6; // metres, more than sums of coordinates lose
    int actors = s->stage->actor_count;
    for ( int i = 0; i < actors; ++i ) {
        tr_box around = tr_box_empty();
        for ( int f = first; f <= last; ++f )
            around = tr_box_with( around, v3_horizontal( s->stage->actors[i].source.clip.root[f] ) );
        s->boxes[i] = tr_box_grown( around, 0.5 * s->stage->def.close * s->heights[i] + rounding );
    }
    if ( !tr_box_tree_build( &s->tree, s->boxes, actors ) )
        return false;
    for ( int i = 0; i < actors; ++i )
        for ( int n = 0, count = tr_box_tree_above( &s->tree, i, s->near ); n < count; ++n ) {
            int other = s->near[n];
            if ( tr_set_find( s->parent, i ) == tr_set_find( s->parent, other ) ||
                 !come_close( s, i, other, first, last ) )
                continue;
            tr_set_join( s->parent, i, other );
            s->sets--;
        }
    return true;
}

static void join_touching( const tr_stage *stage, int *parent )
{
    for ( int i = 0; i < stage->actor_count; ++i ) {
        const tr_contacts *contacts = &stage->actors[i].contacts;
        for ( int c = 0; c < contacts->count; ++c )
            if ( contacts->items[c].surface == TR_SURFACE_PROP )
                tr_set_join( parent, i, stage->actor_count + contacts->items[c].surface_index );
    }
}

// False when out of memory.
static bool join_close( const tr_stage *stage, int *parent )
{
    size_t actors = (size_t)stage->actor_count;
    search s = { .stage = stage,
                 .parent = parent,
                 .sets = stage->actor_count,
                 .heights = tr_alloc( actors, sizeof( double ) ),
                 .boxes = tr_alloc( actors, sizeof( tr_box ) ),
                 .near = tr_alloc( actors, sizeof( int ) ) };
    bool ok = s.heights != NULL && s.boxes != NULL && s.near != NULL;
    for ( size_t i = 0; ok && i < actors; ++i )
        s.heights[i] = tr_stature( &stage->actors[i].source.skeleton );
    for ( int f = 0; ok && s.sets > 1 && f < stage->frame_count; f += FRAMES_AT_ONCE )
        ok = search_piece( &s, f,
                           f + FRAMES_AT_ONCE <= stage->frame_count ? f + FRAMES_AT_ONCE - 1
                                                                    : stage->frame_count - 1 );
    tr_free( s.heights );
    tr_free( s.boxes );
    tr_free( s.near );
    tr_box_tree_free( &s.tree );
    return ok;
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
        join_touching( stage, parent );
    if ( close && !join_close( stage, parent ) ) {
        tr_free( parent );
        return -1;
    }
    for ( int i = 0; i < nodes; ++i ) { // leaders have the smallest index, so they are numbered first
        int leader = tr_set_find( parent, i );
        part[i] = leader == i ? count++ : part[leader];
    }
    tr_free( parent );
    return count;
}

// --------------------------------------------------------------------------------------------------- groups

// A hand that holds a partner or a prop follows it; other things it touches meanwhile do not count.
// rules [count]: those that name the actor.
static bool holds_another( const tr_stage *stage, int actor, const tr_contact *contact, const int *rules,
                           int count )
{
    int joint = tr_actor_target_joint( &stage->actors[actor], contact->joint );
    for ( int i = 0; joint >= 0 && i < count; ++i ) {
        const tr_rule *rule = &stage->rules[rules[i]];
        if ( rule->kind == TR_CONSTRAINT_RELATIVE && rule->first <= contact->last &&
             contact->first <= rule->last && tr_rule_holds( stage, rule, actor, joint ) )
            return true;
    }
    return false;
}

// Finds groups whose members touch something that keeps its size: their path scale stays 1. fixed
// [group_count]: all false before.
static bool find_fixed_sizes( const tr_stage *stage, bool *fixed )
{
    int *begin, *rules; // rules of each actor
    if ( !tr_rules_by_actor( stage, &begin, &rules ) )
        return false;
    const double rounding = 1e-9; // error of a scale that is computed
    for ( int p = 0; p < stage->prop_count; ++p )
        if ( fabs( stage->props[p].scale - 1.0 ) < rounding )
            fixed[stage->props[p].group] = true;
    for ( int r = 0; r < stage->rule_count; ++r )
        if ( stage->rules[r].obstacle >= 0 )
            fixed[tr_anchor_group( stage, &stage->rules[r].a ) - stage->groups] = true;
    for ( int i = 0; i < stage->actor_count; ++i ) {
        const tr_contacts *contacts = &stage->actors[i].contacts;
        bool *own = &fixed[stage->actors[i].group];
        for ( int c = 0; !*own && c < contacts->count; ++c )
            *own = contacts->items[c].surface == TR_SURFACE_ENVIRONMENT &&
                   !holds_another( stage, i, &contacts->items[c], rules + begin[i], begin[i + 1] - begin[i] );
    }
    tr_free( begin );
    tr_free( rules );
    return true;
}

typedef struct group_sums { // over the actors of a group
    double legs, heights, wish;
    int members, wishes;
    vec3 path;
} group_sums;

static void add_member( const tr_stage *stage, int i, group_sums *sums )
{
    const tr_actor *actor = &stage->actors[i];
    vec3 path = v3_zero;
    for ( int f = 0; f < stage->frame_count; ++f )
        path = v3_add( path, actor->source.clip.root[f] );
    sums->path = v3_mad( sums->path, 1.0 / stage->frame_count, path );
    sums->legs += actor->leg_ratio;
    sums->heights += actor->height_ratio;
    sums->members++;
    // The path of a body that moves by examples has that scale already.
    double given = actor->examples == NULL ? stage->scene->cast[i].target.path_scale : 0;
    sums->wish += given;
    sums->wishes += given > 0;
}

static tr_group group_of( const tr_stage *stage, const group_sums *sums, bool fixed )
{
    tr_group group = { .path_scale = 1, .rise = 1, .size_ratio = 1 };
    int members = sums->members;
    if ( members == 0 )
        return group;
    group.origin = v3( sums->path.x / members, stage->ground, sums->path.z / members );
    group.size_ratio = sums->heights / members;
    if ( !fixed )
        group.rise = sums->legs / members;
    group.path_scale = sums->wishes > 0 ? sums->wish / sums->wishes : group.rise;
    return group;
}

static bool measure_groups( tr_stage *stage )
{
    size_t count = (size_t)stage->group_count;
    group_sums *sums = tr_alloc( count, sizeof *sums );
    bool *fixed = tr_alloc( count, sizeof *fixed );
    bool ok = sums != NULL && fixed != NULL && find_fixed_sizes( stage, fixed );
    for ( int i = 0; ok && i < stage->actor_count; ++i )
        add_member( stage, i, &sums[stage->actors[i].group] );
    for ( size_t g = 0; ok && g < count; ++g )
        stage->groups[g] = group_of( stage, &sums[g], fixed[g] );
    tr_free( sums );
    tr_free( fixed );
    return ok;
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
    tr_free( part );
    return measure_groups( stage ) || tr_error_memory( error );
}

vec3 tr_group_place( const tr_group *group, vec3 source )
{
    vec3 from = v3_sub( source, group->origin );
    vec3 scaled = v3( group->path_scale * from.x, group->rise * from.y, group->path_scale * from.z );
    return v3_add( group->origin, scaled );
}
