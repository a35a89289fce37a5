// Jolts that an edit gives away from its handles are calmed in time: what the layer does to poses there is
// averaged over the frames around (cluster/smooth.c), feet and all that rules join are settled again around
// these averages, and what handles hold is led where the averages have it:
//
//   find jolts ─► smooth ─► settle ─► find jolts ─► …  until there are none
//
// Frames in which handles hold something stay as they are, to the bit: whoever pulls sees them, and has them.
// Where such a frame itself stands out, those around it go along with it.
#include "cluster/cluster.h"
#include "layer/private.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS   10
#define PATIENCE 4    // rounds in which it need not become better
#define SHORTEST 0.2  // seconds to either side over which a slight jolt is smoothed …
#define LONGEST  0.5  // … and one that is
#define VIOLENT  3.0  // times what is borne
#define LONGER   0.25 // of that, with each round
#define FADE     0.75 // of that: how it fades beyond
#define HELD     0.1  // seconds around a held frame in which jolts are of its own making
#define ENDS     0.3  // seconds before the end of an edit in which what is smoothed comes back
#define CALM     0.97 // of what is borne: what is aimed at
#define BETTER   0.97 // of a jolt, left by a round: it is worth another
#define NEAR     3    // frames from a jolt to where it may have gone
#define BACK     0.6  // seconds to either side in which everybody comes nearer to what is below …
#define BY       0.3  // … by so much of what the edit did, where smoothing does not help

struct tr_layer_calming {
    double *jolts;       // [actor_count * frame_count]
    double *before;      // the same, largest near by, a round ago
    tr_calm_cell *cells; // [(actor_count + prop_count) * frame_count]
    bool *affected;      // the same: in any round
    quat *chains;        // [tr_smooth_room]
    quat *turns;         // of the best round: every joint of who is linked, in the frames of the edit …
    vec3 *roots;         // … and roots …
    rigid *tracks;       // … and boxes
    int stamp, round;    // of the solve it belongs to; so often
    int best_round;      // the one with the smallest …
    double best;         // … largest jolt
    bool joined, apart;  // frames went along with held ones; they do not any more
};

// How many frames an edit has, and the characters' joints and the nodes that are linked.
static void count( const tr_cage_layer *l, size_t *frames, size_t *joints, size_t *nodes )
{
    int first, last;
    tr_cage_layer_range( l, &first, &last );
    *frames = last >= first ? (size_t)( last - first + 1 ) : 0;
    *joints = 0;
    *nodes = (size_t)l->linked_count;
    for ( int i = 0; i < l->linked_count; ++i )
        if ( l->linked_nodes[i] < l->stage->actor_count )
            *joints += (size_t)l->stage->actors[l->linked_nodes[i]].target.joint_count;
}

bool tr_layer_calm_build( tr_cage_layer *l )
{
    size_t frames = (size_t)l->stage->frame_count,
           cells = frames * (size_t)( l->stage->actor_count + l->stage->prop_count );
    struct tr_layer_calming *c = l->calming = tr_alloc( 1, sizeof *c );
    if ( c == NULL )
        return false;
    c->jolts = tr_alloc( frames * (size_t)l->stage->actor_count, sizeof( double ) );
    c->before = tr_alloc( frames * (size_t)l->stage->actor_count, sizeof( double ) );
    c->cells = tr_alloc( cells, sizeof( tr_calm_cell ) );
    c->affected = tr_alloc( cells, sizeof( bool ) );
    c->chains = tr_alloc( tr_smooth_room( l->stage ), sizeof( quat ) );
    size_t edited, joints, nodes;
    count( l, &edited, &joints, &nodes );
    c->turns = tr_alloc( edited * joints, sizeof( quat ) );
    c->roots = tr_alloc( edited * nodes, sizeof( vec3 ) );
    c->tracks = tr_alloc( edited * nodes, sizeof( rigid ) );
    if ( c->turns == NULL || c->roots == NULL || c->tracks == NULL )
        return false;
    return c->jolts != NULL && c->before != NULL && c->cells != NULL && c->affected != NULL &&
           c->chains != NULL;
}

void tr_layer_calm_free( tr_cage_layer *l )
{
    if ( l->calming == NULL )
        return;
    tr_free( l->calming->jolts );
    tr_free( l->calming->before );
    tr_free( l->calming->cells );
    tr_free( l->calming->affected );
    tr_free( l->calming->chains );
    tr_free( l->calming->turns );
    tr_free( l->calming->roots );
    tr_free( l->calming->tracks );
    tr_free( l->calming );
}

// Frames to the next that is held.
static int away_from_held( const tr_cage_layer *l, int frame )
{
    int away = l->stage->frame_count;
    for ( int h = 0; h < l->handle_count; ++h ) {
        int held = abs( l->handles[h].frame - frame );
        away = held < away ? held : away;
    }
    return away;
}

// 0 where nothing may change.
static double end_freedom( const tr_cage_layer *l, int frame )
{
    int before, after;
    tr_cage_layer_limits_at( l, frame, &before, &after );
    int away = frame - before < after - frame ? frame - before : after - frame;
    return smooth_step5( away / ceil( ENDS * l->stage->fps ) );
}

static size_t cell_of( const tr_cage_layer *l, int node, int frame )
{
    return (size_t)node * (size_t)l->stage->frame_count + (size_t)frame;
}

static bool is_calmed( const tr_calm_cell *cell )
{
    return cell->share > 0 || cell->back > 0;
}

static void smooth_around( const tr_cage_layer *l, int node, int frame, double span )
{
    int first, last, reach = tr_whole_frames( ( 1 + FADE ) * span );
    tr_cage_layer_range( l, &first, &last );
    first = frame - reach > first ? frame - reach : first;
    last = frame + reach < last ? frame + reach : last;
    for ( int f = first; f <= last; ++f ) {
        tr_calm_cell *cell = &l->calming->cells[cell_of( l, node, f )];
        double share = smooth_step5( ( ( 1 + FADE ) * span - abs( f - frame ) ) / ( FADE * span ) );
        cell->share = fmax( cell->share, share );
        cell->span = fmax( cell->span, share > 0 ? span : 0 );
    }
}

// The held frame that is nearest; -1: there is none.
static int nearest_held( const tr_cage_layer *l, int frame, int but )
{
    int nearest = -1;
    for ( int h = 0; h < l->handle_count; ++h ) {
        int held = l->handles[h].frame;
        if ( held != but && ( nearest < 0 || abs( held - frame ) < abs( nearest - frame ) ) )
            nearest = held;
    }
    return nearest;
}

// A jolt beside a held frame: those around go along with it, as far as no other is held.
static void join_around( const tr_cage_layer *l, int node, int held, double span )
{
    int first, last, other = nearest_held( l, held, held );
    span = other >= 0 ? fmin( span, abs( other - held ) / ( 1 + FADE ) ) : span;
    tr_cage_layer_range( l, &first, &last );
    if ( span < 1 )
        return;
    smooth_around( l, node, held, span );
    for ( int f = first; f <= last; ++f ) {
        tr_calm_cell *cell = &l->calming->cells[cell_of( l, node, f )];
        double share = smooth_step5( ( ( 1 + FADE ) * span - abs( f - held ) ) / ( FADE * span ) );
        if ( share > cell->towards ) {
            cell->towards = share;
            cell->held = held;
        }
    }
}

// How large jolts near by were a round ago. Returns whether this one is no smaller.
static bool is_stuck( const tr_cage_layer *l, int actor, int frame )
{
    const struct tr_layer_calming *c = l->calming;
    size_t at = cell_of( l, actor, frame );
    return c->before[at] > 0 && c->jolts[at] > BETTER * c->before[at];
}

static void note( const tr_cage_layer *l, int actor, int first, int last )
{
    const struct tr_layer_calming *c = l->calming;
    for ( int f = first; f <= last; ++f ) {
        double *before = &c->before[cell_of( l, actor, f )];
        *before = 0;
        for ( int g = f - NEAR < first ? first : f - NEAR; g <= f + NEAR && g <= last; ++g )
            *before = fmax( *before, c->jolts[cell_of( l, actor, g )] );
        *before = *before > 1 ? *before : 0;
    }
}

// Smoothing does not help: everybody comes nearer to what is below.
static void back_around( const tr_cage_layer *l, int frame )
{
    double span = BACK * l->stage->fps;
    int first, last, nodes = l->stage->actor_count + l->stage->prop_count;
    tr_cage_layer_range( l, &first, &last );
    for ( int f = first; f <= last; ++f ) {
        double share = smooth_step5( 2 * ( 1 - abs( f - frame ) / span ) );
        for ( int n = 0; share > 0 && n < nodes; ++n ) {
            tr_calm_cell *cell = &l->calming->cells[cell_of( l, n, f )];
            cell->back = fmax( cell->back, l->linked[n] ? BY * share : 0 );
        }
    }
}

static void mark_actor( const tr_cage_layer *l, int actor, int first, int last )
{
    struct tr_layer_calming *c = l->calming;
    for ( int f = first; f <= last; ++f ) {
        double jolt = c->jolts[cell_of( l, actor, f )];
        if ( !( jolt > ( c->round > 0 ? CALM : 1 ) ) )
            continue;
        double how = clampd( ( jolt - 1 ) / ( VIOLENT - 1 ), 0, 1 ),
               span = l->stage->fps * lerpd( SHORTEST, LONGEST, how ) * ( 1 + LONGER * c->round );
        bool beside = away_from_held( l, f ) < HELD * l->stage->fps;
        if ( !beside )
            smooth_around( l, actor, f, span );
        else if ( !c->apart )
            join_around( l, actor, nearest_held( l, f, -1 ), span );
        c->joined = c->joined || beside;
        if ( !beside && is_stuck( l, actor, f ) )
            back_around( l, f );
    }
    note( l, actor, first, last );
}

static bool mark( const tr_cage_layer *l )
{
    const struct tr_layer_calming *c = l->calming;
    int nodes = l->stage->actor_count + l->stage->prop_count, first, last;
    bool any = false;
    tr_cage_layer_range( l, &first, &last );
    memset( c->cells, 0, (size_t)nodes * (size_t)l->stage->frame_count * sizeof *c->cells );
    for ( int n = 0; n < l->stage->actor_count; ++n )
        mark_actor( l, n, first, last );
    for ( int f = first; f <= last; ++f ) {
        int away = away_from_held( l, f );
        double held = smooth_step5( away / ( BACK * l->stage->fps ) ), end = end_freedom( l, f );
        for ( int n = 0; n < nodes; ++n ) {
            tr_calm_cell *cell = &c->cells[cell_of( l, n, f )];
            cell->span = cell->towards > 0 ? cell->span : fmin( cell->span, away );
            cell->share = away > 0 ? cell->share : 0;
            cell->towards = away > 0 ? end * cell->towards : 0;
            cell->back = fmax( held * cell->back, ( 1 - end ) * cell->share );
            any = any || is_calmed( cell );
        }
    }
    return any;
}

// What handles hold is led to where the averages have it.
static void lead( const tr_cage_layer *l )
{
    for ( int r = l->stage->rule_count; r < l->edited.rule_count; ++r ) {
        const tr_rule *rule = &l->edited.rules[r];
        ptrdiff_t at = rule->path - l->paths;
        bool first = r == l->stage->rule_count || rule->path != rule[-1].path;
        int node = tr_anchor_node( l->stage, &rule->a );
        for ( int f = 0; first && f < l->stage->frame_count; ++f ) {
            if ( is_calmed( &l->calming->cells[cell_of( l, node, f )] ) )
                l->paths[at + f] = tr_anchor_position( l->stage, l->result, &rule->a, f );
        }
    }
}

static void mark_affected( tr_cage_layer *l, int *first, int *last )
{
    const struct tr_layer_calming *c = l->calming;
    size_t frames = (size_t)l->stage->frame_count;
    int nodes = l->stage->actor_count + l->stage->prop_count, begin, end;
    tr_cage_layer_range( l, &begin, &end );
    *first = end + 1, *last = begin - 1;
    memset( l->affected, 0, (size_t)nodes * frames * sizeof( bool ) );
    for ( int f = begin; f <= end; ++f ) {
        bool any = false;
        for ( int n = 0; n < nodes; ++n ) {
            size_t at = (size_t)n * frames + (size_t)f;
            l->affected[at] = is_calmed( &c->cells[at] );
            any = any || l->affected[at];
        }
        if ( !any )
            continue;
        tr_cage_layer_reach( l, f );
        for ( int n = 0; n < nodes; ++n )
            if ( l->affected[cell_of( l, n, f )] )
                *tr_cage_layer_touched( l, n, f ) = true;
        *first = f < *first ? f : *first;
        *last = f;
    }
}

// Poses in the frames of the edit go to where the best are kept, or come back from there.
static void keep( const tr_cage_layer *l, bool back )
{
    const struct tr_layer_calming *c = l->calming;
    int first, last;
    size_t turn = 0, place = 0;
    tr_cage_layer_range( l, &first, &last );
    for ( int i = 0; i < l->linked_count; ++i ) {
        int node = l->linked_nodes[i], prop = node - l->stage->actor_count;
        tr_motion *motion = prop < 0 ? &l->result->motions[node] : NULL;
        size_t joints = prop < 0 ? (size_t)motion->clip.joint_count : 0;
        for ( int f = first; f <= last; ++f, turn += joints, ++place ) {
            rigid *box = prop < 0 ? NULL : &l->result->tracks[prop][f];
            if ( prop >= 0 && back )
                *box = c->tracks[place];
            else if ( prop >= 0 )
                c->tracks[place] = *box;
            else if ( back ) {
                memcpy( tr_clip_frame( &motion->clip, f ), c->turns + turn, joints * sizeof( quat ) );
                motion->clip.root[f] = c->roots[place];
                tr_forward( &motion->skeleton, &motion->clip, f,
                            tr_world_pose( &l->result->worlds[node], f ) );
            } else {
                memcpy( c->turns + turn, tr_clip_frame( &motion->clip, f ), joints * sizeof( quat ) );
                c->roots[place] = motion->clip.root[f];
            }
        }
    }
}

static void begin( const tr_cage_layer *l, size_t cells )
{
    struct tr_layer_calming *c = l->calming;
    c->stamp = l->stamp;
    c->round = c->best_round = 0;
    c->best = INFINITY;
    c->joined = c->apart = false;
    memset( c->before, 0, (size_t)l->stage->frame_count * (size_t)l->stage->actor_count * sizeof( double ) );
    memcpy( c->affected, l->affected, cells * sizeof( bool ) );
}

// Frames that went along with held ones did not make it better any more: once again from the best there was,
// without that. False: it has been, or none did.
static bool part( tr_cage_layer *l )
{
    struct tr_layer_calming *c = l->calming;
    if ( !c->joined || c->apart )
        return false;
    keep( l, true );
    tr_layer_jolts( l, c->jolts );
    c->apart = true;
    c->round = c->best_round = 0;
    memset( c->before, 0, (size_t)l->stage->frame_count * (size_t)l->stage->actor_count * sizeof( double ) );
    return true;
}

bool tr_layer_calm( tr_cage_layer *l, int *first, int *last )
{
    struct tr_layer_calming *c = l->calming;
    size_t cells = (size_t)l->stage->frame_count * (size_t)( l->stage->actor_count + l->stage->prop_count );
    if ( c->stamp != l->stamp )
        begin( l, cells );
    double largest = tr_layer_jolts( l, c->jolts );
    bool best = largest < c->best;
    if ( best ) {
        c->best = largest;
        c->best_round = c->round;
    }
    bool patient = c->round < ROUNDS && c->round < c->best_round + PATIENCE,
         more = tr_may_resolve_again( l->stage, l->result, l->steps );
    if ( best && largest > 1 )
        keep( l, false );
    if ( largest > 1 && more && ( patient || part( l ) ) && mark( l ) ) {
        tr_smooth( &( tr_smoothing ){ l->stage, c->cells, l->below, l->result, true, c->chains } );
        lead( l );
        mark_affected( l, first, last );
        c->round++;
        return true;
    }
    if ( !best ) {
        keep( l, true );
        tr_layer_jolts( l, c->jolts );
    }
    memcpy( l->affected, c->affected, cells * sizeof( bool ) );
    return false;
}

double tr_layer_jolt_left( const tr_cage_layer *l, int actor )
{
    int first, last;
    double most = 0;
    tr_cage_layer_range( l, &first, &last );
    for ( int f = first; f <= last; ++f )
        most = fmax( most, l->calming->jolts[cell_of( l, actor, f )] );
    return most;
}
