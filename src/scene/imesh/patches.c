// Which of a round's pushes are kept.
//
// What a round changed falls into patches: characters and props at consecutive frames, joined by rules and by
// having been pushed apart. A patch stands for itself, as it begins and ends in the motion there was before.
// It is kept if it is less deep and no rougher; else all of it is taken back.
#include "scene/imesh/relief.h"

#include <string.h>

#define BETTER  0.95  // of the sum of squared depths: more than that is no improvement
#define DEEPER  0.001 // metres that the deepest place may become deeper by
#define ROUGHER 0.03  // share of the jerk that may be added where all depth is gone; where less is, less
#define ROUGH   1.10  // times the source's jerk that nobody minds
#define SPIN    100   // degrees per second that a joint may turn faster than before
#define NEAR    0.15  // seconds

typedef struct patch {
    double deep[3], squares[3]; // before, after, and as the meshes left it
    int strayed[2];             // touches that are not the source's
    double jerk[3];             // as the meshes left it, after, and the source's for bodies of this size
    double spin;                // degrees per second
    bool bad;
} patch;

typedef struct comparing {
    tr_relief *relief;
    const tr_stage *stage;
    int nodes, frames;
    int *set;       // [nodes * frames] union–find of affected cells
    patch *patches; // [nodes * frames] at the cell that stands for the set
    int *strays;    // [nodes * frames] how many touches more have strayed
} comparing;

static bool is_affected( const comparing *c, int node, int frame )
{
    return frame >= 0 && frame < c->frames &&
           c->relief->work->affected[tr_relief_cell( c->relief, node, frame )];
}

static void join( const comparing *c, int a, int b, int frame )
{
    if ( a >= 0 && b >= 0 && a < c->nodes && b < c->nodes && is_affected( c, a, frame ) &&
         is_affected( c, b, frame ) )
        tr_set_join( c->set, (int)tr_relief_cell( c->relief, a, frame ),
                     (int)tr_relief_cell( c->relief, b, frame ) );
}

static void join_cells( const comparing *c )
{
    for ( int n = 0; n < c->nodes; ++n )
        for ( int f = 0; f + 1 < c->frames; ++f )
            if ( is_affected( c, n, f ) && is_affected( c, n, f + 1 ) )
                tr_set_join( c->set, (int)tr_relief_cell( c->relief, n, f ),
                             (int)tr_relief_cell( c->relief, n, f + 1 ) );
    for ( int r = 0; r < c->stage->rule_count; ++r ) {
        const tr_rule *rule = &c->stage->rules[r];
        int a = tr_anchor_node( c->stage, &rule->a ), b = tr_anchor_node( c->stage, &rule->b ),
            on = rule->surface_prop >= 0 ? c->stage->actor_count + rule->surface_prop : -1;
        for ( int f = 0; ( b >= 0 || on >= 0 ) && f < c->frames; ++f )
            if ( tr_rule_strength( rule, f ) > 0 ) {
                join( c, a, b, f );
                join( c, a, on, f );
            }
    }
    for ( int i = 0; i < c->relief->before.count; ++i )
        join( c, c->relief->before.items[i].a, c->relief->before.items[i].b,
              c->relief->before.items[i].frame );
}

static patch *patch_of( const comparing *c, int node, int frame )
{
    return &c->patches[tr_set_find( c->set, (int)tr_relief_cell( c->relief, node, frame ) )];
}

// ------------------------------------------------------------------------------------------------- figures

static void add_depths( const comparing *c, const tr_imesh_presses *presses, int when )
{
    for ( int i = 0; i < presses->count; ++i ) {
        const tr_imesh_press *p = &presses->items[i];
        int who = is_affected( c, p->a, p->frame )                      ? p->a
                  : p->b < c->nodes && is_affected( c, p->b, p->frame ) ? p->b
                                                                        : -1;
        if ( who < 0 || p->depth <= 0 )
            continue;
        patch *at = patch_of( c, who, p->frame );
        at->deep[when] = fmax( at->deep[when], p->depth );
        at->squares[when] += p->depth * p->depth;
    }
}

static void add_strays( const comparing *c, int after )
{
    const tr_imesh_windows *windows = &c->relief->work->windows;
    for ( int i = 0; i < windows->count; ++i ) {
        const tr_imesh_window *window = &windows->items[i];
        for ( int f = window->first; f <= window->last; ++f ) {
            int count = c->relief->found[i].strayed[f - window->first];
            patch *in = NULL;
            for ( int m = 0; m < window->member_count; ++m ) {
                int node = window->members[m];
                if ( node >= c->nodes || !is_affected( c, node, f ) )
                    continue;
                c->strays[tr_relief_cell( c->relief, node, f )] += after ? count : -count;
                in = in != NULL ? in : patch_of( c, node, f ); // those of a window are counted once
            }
            if ( in != NULL )
                in->strayed[after] += count;
        }
    }
}

static double jerk_at( const tr_world *world, int joints, int frame )
{
    double sum = 0;
    const vec3 *p[4];
    for ( int k = 0; k < 4; ++k )
        p[k] = tr_world_pose( world, frame + k ).positions;
    for ( int j = 0; j < joints; ++j ) {
        vec3 ends = v3_sub( p[3][j], p[0][j] ), middle = v3_sub( p[2][j], p[1][j] );
        sum += v3_length( v3_mad( ends, -3, middle ) );
    }
    return sum;
}

// A third difference over four frames belongs to the patch of the first of them that is affected.
static void add_jerks( const comparing *c, int actor )
{
    const tr_relief *r = c->relief;
    const tr_actor *a = &c->stage->actors[actor];
    int joints = a->target.joint_count, sources = a->source.skeleton.joint_count;
    for ( int f = 0; f + 3 < c->frames; ++f ) {
        int at = f;
        while ( at < f + 4 && !is_affected( c, actor, at ) )
            ++at;
        if ( at == f + 4 )
            continue;
        patch *in = patch_of( c, actor, at );
        in->jerk[0] += jerk_at( &r->first.worlds[actor], joints, f );
        in->jerk[1] += jerk_at( &r->work->result->worlds[actor], joints, f );
        in->jerk[2] += jerk_at( &a->world, sources, f ) * a->height_ratio * joints / sources;
    }
}

static void add_spins( const comparing *c, int actor )
{
    const tr_clip *before = &c->relief->first.motions[actor].clip,
                  *after = &c->relief->work->result->motions[actor].clip;
    double second = c->stage->fps / TR_DEGREE;
    for ( int f = 0; f + 1 < c->frames; ++f ) {
        int at = is_affected( c, actor, f ) ? f : f + 1;
        if ( !is_affected( c, actor, at ) )
            continue;
        patch *in = patch_of( c, actor, at );
        for ( int j = 0; j < after->joint_count; ++j )
            in->spin = fmax(
                in->spin,
                second * ( q_angle( tr_clip_frame( after, f )[j], tr_clip_frame( after, f + 1 )[j] ) -
                           q_angle( tr_clip_frame( before, f )[j], tr_clip_frame( before, f + 1 )[j] ) ) );
    }
}

// Jerk counts against the motion as the meshes left it: it may not grow from round to round.
static bool is_better( const patch *p )
{
    double gone = p->squares[2] > 0 ? fmax( 0, 1 - p->squares[1] / p->squares[2] ) : 0;
    return p->squares[1] <= BETTER * p->squares[0] && p->deep[1] <= p->deep[0] + DEEPER &&
           p->strayed[1] <= p->strayed[0] &&
           p->jerk[1] <= fmax( ( 1 + ROUGHER * gone ) * p->jerk[0], ROUGH * p->jerk[2] ) && p->spin <= SPIN;
}

// ----------------------------------------------------------------------------------------------- taking back

static void copy_cell( const comparing *c, tr_result *to, const tr_result *from, int node, int frame )
{
    if ( node >= c->stage->actor_count ) {
        int prop = node - c->stage->actor_count;
        to->tracks[prop][frame] = from->tracks[prop][frame];
        return;
    }
    size_t joints = (size_t)c->stage->actors[node].target.joint_count;
    tr_pose out = tr_world_pose( &to->worlds[node], frame ), in = tr_world_pose( &from->worlds[node], frame );
    memcpy( tr_clip_frame( &to->motions[node].clip, frame ),
            tr_clip_frame( &from->motions[node].clip, frame ), joints * sizeof( quat ) );
    to->motions[node].clip.root[frame] = from->motions[node].clip.root[frame];
    memcpy( out.rotations, in.rotations, joints * sizeof( quat ) );
    memcpy( out.positions, in.positions, joints * sizeof( vec3 ) );
}

static void mark_stale( const comparing *c, int node, int frame )
{
    const tr_imesh_windows *windows = &c->relief->work->windows;
    for ( int i = 0; i < windows->count; ++i )
        for ( int m = 0; m < windows->items[i].member_count; ++m )
            if ( windows->items[i].members[m] == node && windows->items[i].first <= frame &&
                 windows->items[i].last >= frame )
                c->relief->stale[i] = true;
}

// Where touches strayed, next time less is tried; elsewhere the same, unless it is for another reason that
// the patch is bad.
static bool is_to_blame( const comparing *c, int node, int frame )
{
    const patch *p = patch_of( c, node, frame );
    int sum = 0, span = (int)ceil( NEAR * c->stage->fps );
    if ( p->strayed[1] <= p->strayed[0] )
        return true;
    for ( int f = frame - span; f <= frame + span; ++f )
        if ( is_affected( c, node, f ) && patch_of( c, node, f ) == p )
            sum += fmax( 0, c->strays[tr_relief_cell( c->relief, node, f )] );
    return sum > 0;
}

static void take_back( const comparing *c )
{
    tr_relief *r = c->relief;
    for ( int n = 0; n < c->nodes; ++n )
        for ( int f = 0; f < c->frames; ++f ) {
            if ( !is_affected( c, n, f ) || !patch_of( c, n, f )->bad )
                continue;
            copy_cell( c, r->work->result, &r->saved, n, f );
            mark_stale( c, n, f );
            if ( n < c->stage->actor_count && is_to_blame( c, n, f ) ) {
                double *eager = &r->eager[tr_relief_cell( r, n, f )];
                *eager = *eager > 0.3 ? *eager / 2 : 0;
            }
        }
}

static void mark_affected( const comparing *c )
{
    for ( int n = 0; n < c->nodes; ++n )
        for ( int f = 0; f < c->frames; ++f )
            if ( is_affected( c, n, f ) )
                mark_stale( c, n, f );
}

static bool compare( comparing *c )
{
    for ( int i = 0; i < c->nodes * c->frames; ++i )
        c->set[i] = i;
    join_cells( c );
    add_strays( c, 0 );
    mark_affected( c );
    if ( !tr_relief_look( c->relief ) )
        return false;
    add_strays( c, 1 );
    add_depths( c, &c->relief->before, 0 );
    add_depths( c, &c->relief->now, 1 );
    add_depths( c, &c->relief->meshes, 2 );
    for ( int i = 0; i < c->stage->actor_count; ++i ) {
        add_jerks( c, i );
        add_spins( c, i );
    }
    for ( int i = 0; i < c->nodes * c->frames; ++i )
        c->patches[i].bad = !is_better( &c->patches[i] );
    return true;
}

bool tr_relief_compare( tr_relief *r, tr_error *error )
{
    const tr_stage *stage = r->work->stage;
    comparing c = { .relief = r,
                    .stage = stage,
                    .nodes = stage->actor_count + stage->prop_count,
                    .frames = stage->frame_count };
    size_t cells = (size_t)c.nodes * (size_t)c.frames;
    c.set = tr_alloc( cells, sizeof( int ) );
    c.patches = tr_alloc( cells, sizeof *c.patches );
    c.strays = tr_alloc( cells, sizeof( int ) );
    bool ok = c.set != NULL && c.patches != NULL && c.strays != NULL && compare( &c );
    if ( ok )
        take_back( &c );
    tr_free( c.set );
    tr_free( c.patches );
    tr_free( c.strays );
    return ok || tr_error_memory( error );
}
