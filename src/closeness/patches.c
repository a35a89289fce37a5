// Which of a round's turns or pushes are kept.
//
// What a round changed falls into patches: characters and props at consecutive frames, joined by rules, by
// having been pushed apart and, where hands were turned, by windows. A patch stands for itself, as it begins
// and ends in the motion there was before. It is kept if more touches are the source's (turns) or it is less
// deep (pushes), and it is no rougher; else all of it is taken back.
#include "closeness/relief.h"

#include <string.h>

#define BETTER  0.95  // of the sum of squared depths: more than that is no improvement
#define SHALLOW 1e-4  // square metres that turned hands may add to it
#define DEEPER  0.001 // metres that the deepest place may become deeper by
#define ROUGHER 0.03  // share of the jerk that may be added where all depth is gone; where less is, less
#define ROUGH   tr_default_measure_limits().jerk_ratio // times the source's jerk that nobody minds
#define AT_MOST                                                                                              \
    tr_default_measure_limits()                                                                              \
        .whole_jerk_ratio // times the source's jerk, of all frames: turned hands may not bring it beyond
#define RUSH 1.3          // times the source's largest acceleration, or 1.02 times what it was, at most
#define SPIN 100          // degrees per second that a joint may turn faster than before
#define NEAR 0.15         // seconds

typedef struct patch {
    double deep[3], squares[3]; // before, after, and as the meshes left it
    int strayed[2];             // touches that are not the source's
    double jerk[3];             // as the meshes left it, after, and the source's for bodies of this size
    double whole[2];            // jerk of all frames of its characters: as the meshes left them, the source's
    double rush[2];             // largest acceleration in terms of the source's: as the meshes left it, after
    double spin;                // degrees per second
    bool bad;
} patch;

typedef struct comparing {
    tr_relief *relief;
    tr_relief_kind kind;
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

// Hands of one are turned by where the others are.
static void join_members( const comparing *c, const tr_imesh_window *window )
{
    for ( int f = window->first; f <= window->last; ++f ) {
        int first = -1;
        for ( int m = 0; m < window->member_count; ++m ) {
            int node = window->members[m];
            if ( node >= c->nodes || !is_affected( c, node, f ) )
                continue;
            first = first < 0 ? node : first;
            join( c, first, node, f );
        }
    }
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
    for ( int i = 0; c->kind == TR_RELIEF_TURN && i < c->relief->work->windows.count; ++i )
        join_members( c, &c->relief->work->windows.items[i] );
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
            int count = c->relief->strayed[i][f - window->first];
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

// Mean over the joints.
static double jerk_at( const tr_world *world, int frame )
{
    double sum = 0;
    const vec3 *p[4];
    for ( int k = 0; k < 4; ++k )
        p[k] = tr_world_pose( world, frame + k ).positions;
    for ( int j = 0; j < world->joint_count; ++j ) {
        vec3 ends = v3_sub( p[3][j], p[0][j] ), middle = v3_sub( p[2][j], p[1][j] );
        sum += v3_length( v3_mad( ends, -3, middle ) );
    }
    return sum / world->joint_count;
}

// A third difference over four frames belongs to the patch of the first of them that is affected. As in
// jerk_ratio (docs/metrics.md), large bodies count no more than small ones.
static void add_jerks( const comparing *c, int actor )
{
    const tr_actor *a = &c->stage->actors[actor];
    const tr_world *first = &c->relief->first.worlds[actor], *now = &c->relief->work->result->worlds[actor];
    const patch *last = NULL;
    double whole[2] = { 0, 0 };
    for ( int f = 0; f + 3 < c->frames && c->kind == TR_RELIEF_TURN; ++f ) {
        whole[0] += jerk_at( first, f ) / a->height_ratio;
        whole[1] += jerk_at( &a->world, f );
    }
    for ( int f = 0; f + 3 < c->frames; ++f ) {
        int at = f;
        while ( at < f + 4 && !is_affected( c, actor, at ) )
            ++at;
        if ( at == f + 4 )
            continue;
        patch *in = patch_of( c, actor, at );
        for ( int k = 0; k < 2 && in != last; ++k )
            in->whole[k] += whole[k];
        last = in;
        in->jerk[0] += jerk_at( first, f ) / a->height_ratio;
        in->jerk[1] += jerk_at( now, f ) / a->height_ratio;
        in->jerk[2] += jerk_at( &a->world, f );
    }
}

static double rush_at( const tr_world *world, int frame )
{
    double most = 0;
    const vec3 *p[3];
    for ( int k = 0; k < 3; ++k )
        p[k] = tr_world_pose( world, frame + k ).positions;
    for ( int j = 0; j < world->joint_count; ++j )
        most = fmax( most, v3_length( v3_mad( v3_add( p[0][j], p[2][j] ), -2, p[1][j] ) ) );
    return most;
}

static void add_rushes( const comparing *c, int actor )
{
    const tr_actor *a = &c->stage->actors[actor];
    const tr_world *first = &c->relief->first.worlds[actor], *now = &c->relief->work->result->worlds[actor];
    double source = 0;
    for ( int f = 0; f + 2 < c->frames; ++f )
        source = fmax( source, a->height_ratio * rush_at( &a->world, f ) );
    for ( int f = 0; f + 2 < c->frames && source > 0; ++f ) {
        int at = f;
        while ( at < f + 3 && !is_affected( c, actor, at ) )
            ++at;
        if ( at == f + 3 )
            continue;
        patch *in = patch_of( c, actor, at );
        in->rush[0] = fmax( in->rush[0], rush_at( first, f ) / source );
        in->rush[1] = fmax( in->rush[1], rush_at( now, f ) / source );
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

// Jerk counts against the motion as the meshes left it: it may not grow from round to round. A hand that is
// turned for a moment, in a slap, may do so against the jerk of the whole motion.
static bool is_smooth( const patch *p, tr_relief_kind kind )
{
    double gone = p->squares[2] > 0 ? fmax( 0, 1 - p->squares[1] / p->squares[2] ) : 0;
    double more = p->jerk[1] - p->jerk[0], most = gone * p->jerk[0];
    if ( kind == TR_RELIEF_TURN )
        most = p->whole[0] + more <= AT_MOST * p->whole[1] ? p->whole[0] : 0;
    return p->spin <= SPIN && p->rush[1] <= fmax( 1.02 * p->rush[0], RUSH ) &&
           ( more <= ROUGHER * most || p->jerk[1] <= ROUGH * p->jerk[2] );
}

static bool is_better( const patch *p, tr_relief_kind kind )
{
    bool better = kind == TR_RELIEF_TURN
                      ? p->strayed[1] < p->strayed[0] && p->squares[1] <= p->squares[0] + SHALLOW
                      : p->strayed[1] <= p->strayed[0] && p->squares[1] <= BETTER * p->squares[0];
    return better && p->deep[1] <= p->deep[0] + DEEPER && is_smooth( p, kind );
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

// Windows in which a motion changed: it did where a round was at work, and does where that is taken back.
static bool has_changed( const comparing *c, const tr_imesh_window *window, bool back )
{
    for ( int m = 0; m < window->member_count; ++m )
        for ( int f = window->first; window->members[m] < c->nodes && f <= window->last; ++f )
            if ( is_affected( c, window->members[m], f ) &&
                 ( !back || patch_of( c, window->members[m], f )->bad ) )
                return true;
    return false;
}

static void mark_stale( const comparing *c, bool back )
{
    const tr_imesh_windows *windows = &c->relief->work->windows;
    for ( int i = 0; i < windows->count; ++i )
        c->relief->stale[i] = c->relief->stale[i] || has_changed( c, &windows->items[i], back );
}

// Where touches strayed, next time less is tried; elsewhere the same, unless it is for another reason that
// the patch is bad.
static bool is_to_blame( const comparing *c, int node, int frame )
{
    const patch *p = patch_of( c, node, frame );
    bool any = false;
    int span = tr_frames_in( NEAR, c->stage->fps );
    if ( p->strayed[1] <= p->strayed[0] )
        return true;
    for ( int f = frame - span; f <= frame + span; ++f )
        if ( is_affected( c, node, f ) && patch_of( c, node, f ) == p )
            any = any || c->strays[tr_relief_cell( c->relief, node, f )] > 0;
    return any;
}

static void take_back( const comparing *c )
{
    tr_relief *r = c->relief;
    for ( int n = 0; n < c->nodes; ++n )
        for ( int f = 0; f < c->frames; ++f ) {
            if ( !is_affected( c, n, f ) || !patch_of( c, n, f )->bad )
                continue;
            copy_cell( c, r->work->result, &r->saved, n, f );
            if ( n < c->stage->actor_count && is_to_blame( c, n, f ) ) {
                double *eager = &r->eager[c->kind][tr_relief_cell( r, n, f )];
                *eager = *eager > 0.3 ? *eager / 2 : 0;
            }
        }
    mark_stale( c, true );
}

static bool compare( comparing *c )
{
    for ( int i = 0; i < c->nodes * c->frames; ++i )
        c->set[i] = i;
    join_cells( c );
    add_strays( c, 0 );
    mark_stale( c, false );
    if ( !tr_relief_look( c->relief ) )
        return false;
    add_strays( c, 1 );
    add_depths( c, &c->relief->before, 0 );
    add_depths( c, &c->relief->now, 1 );
    add_depths( c, &c->relief->meshes, 2 );
    for ( int i = 0; i < c->stage->actor_count; ++i ) {
        add_jerks( c, i );
        add_rushes( c, i );
        add_spins( c, i );
    }
    for ( int i = 0; i < c->nodes * c->frames; ++i )
        c->patches[i].bad = !is_better( &c->patches[i], c->kind );
    return true;
}

bool tr_relief_compare( tr_relief *r, tr_relief_kind kind, tr_error *error )
{
    const tr_stage *stage = r->work->stage;
    comparing c = { .relief = r,
                    .kind = kind,
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
