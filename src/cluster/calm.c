// Frames are solved one by one, so what can only be met by quite another pose may be met by different ones in
// neighbouring frames: an arm goes to its pin over the shoulder in one and under it in the next. Where a
// result jumps, poses are averaged over the frames around (cluster/smooth.c), feet and all that rules join
// are settled again around these averages, and rules ask for no more than the first result gave:
//
//   find jumps ─► smooth ─► settle ─► find jumps ─► …  until nothing jumps
//
// Where that is not enough, and does not make the jump smaller, more and more gives way there: first places
// that the document asks for are taken where the averages have them, then everybody they concern comes back
// to his copied pose, and links are kept. Where links alone are asked for, of bodies of very different sizes,
// these give way. All of it grows and fades smoothly in time. Feet on the ground never give way: what comes
// out when everything else did is the copied pose on its feet. What a rule is off by in the end is reported
// like anything else that gave way.
//
// No frame is the first one: all are averaged and settled at once, from the results of the round before.
#include "cluster/calm.h"

#include <string.h>

#define ROUNDS        14
#define PATIENCE      8    // rounds in which nothing gives way of what becomes better
#define SHORTEST      0.25 // seconds to either side over which a small jump is smoothed …
#define LONGEST       0.75 // … and one of half a turn
#define FADE          0.5  // of that: how it fades beyond
#define GIVING        1.0  // seconds in which something gives way
#define BETTER        0.75 // of a jump, left by a round: smoothing goes on, and nothing more gives way …
#define MILDLY_BETTER 0.97 // … or this, of one that is
#define MILD          ( 30 * TR_DEGREE )
#define WORTH         0.5 // of the sum of jumps' squares: what may be left
#define WILD          0.5 // of the frames around a jump that jump as well

typedef struct give_level { // what has given way around a jump that came up for the n-th time
    double places, back, links;
} give_level;

#define LEVELS 7
#define PLACED 3 // level at which places are where smoothing brings them

// Where the document puts somebody in a place, who is linked to him comes back, too: without places, links
// can be kept. Else it is who jumps that comes back.
static const give_level of_places[LEVELS] = { { 0, 0, 0 },   { 0, 0, 0 },    { 0.5, 0, 0 }, { 1, 0, 0 },
                                              { 1, 0.5, 0 }, { 1, 0.75, 0 }, { 1, 1, 0 } };
static const give_level of_links[LEVELS] = { { 0, 0, 0 },   { 0, 0, 0 },    { 1, 0, 0.5 }, { 1, 0, 1 },
                                             { 1, 0.5, 1 }, { 1, 0.75, 1 }, { 1, 1, 1 } };

typedef struct asking { // of a rule, [frame_count] each
    vec3 *misses;
    double *shares;
} asking;

typedef struct calming {
    const tr_stage *stage;
    int nodes, frames, round;
    tr_result *result;
    tr_result copied, first; // poses before anything was asked for, and what the first solution was
    tr_stage asked;          // the stage with rules that ask for less
    asking *less;            // [rule_count] what those ask for, with NULL as it was
    int *rule_begin, *rules; // by actor: tr_rules_by_actor
    double *jumps;           // [actor_count * frame_count]
    double *before;          // the same, largest around, a round ago
    double *around;          // [frame_count] the same of this round, of the character at hand …
    int *next;               // … and its levels
    int *levels;             // [actor_count * frame_count] what has given way
    bool *reached;           // [nodes] whom rules join
    tr_calm_cell *cells;     // [nodes * frame_count]
    bool *affected;          // [nodes * frame_count]
    quat *chains;            // [tr_smooth_room]
} calming;

static size_t cell_of( const calming *c, int node, int frame )
{
    return (size_t)node * (size_t)c->frames + (size_t)frame;
}

// ------------------------------------------------------------------------------------------------- windows

typedef struct jump_site { // a jump
    int frame;
    double span, giving; // frames
} jump_site;

static double near_jump( const jump_site *jump, int frame, double fade )
{
    return smooth_step5( ( jump->span + fade - fabs( frame - jump->frame - 0.5 ) ) / fade );
}

static void widen( double *value, double to )
{
    *value = fmax( *value, to );
}

static void first_and_last( const calming *c, const jump_site *jump, double fade, int *first, int *last )
{
    int reach = tr_whole_frames( jump->span + fade );
    *first = jump->frame - reach < 0 ? 0 : jump->frame - reach;
    *last = jump->frame + reach + 1 < c->frames ? jump->frame + reach + 1 : c->frames - 1;
}

static void smooth_around( const calming *c, int node, const jump_site *jump )
{
    int first, last;
    double fade = FADE * jump->span;
    first_and_last( c, jump, fade, &first, &last );
    for ( int f = first; f <= last; ++f ) {
        tr_calm_cell *cell = &c->cells[cell_of( c, node, f )];
        double share = near_jump( jump, f, fade );
        widen( &cell->share, share );
        widen( &cell->span, share > 0 ? jump->span : 0 );
    }
}

static void give_way_around( const calming *c, int node, const jump_site *jump, const give_level *up )
{
    int first, last;
    first_and_last( c, jump, jump->giving, &first, &last );
    for ( int f = first; f <= last; ++f ) {
        tr_calm_cell *cell = &c->cells[cell_of( c, node, f )];
        double share = near_jump( jump, f, jump->giving );
        widen( &cell->places, share * up->places );
        widen( &cell->back, share * up->back );
        widen( &cell->links, share * up->links );
    }
}

// Whether the document puts somebody reached in a place where this jump lets things give way: beyond the end
// of a rule it may be what the rule's own giving way left.
static bool has_places( const calming *c, const jump_site *jump )
{
    int first, last;
    first_and_last( c, jump, jump->giving, &first, &last );
    for ( int r = 0; r < c->stage->rule_count; ++r ) {
        const tr_rule *rule = &c->stage->rules[r];
        int node = tr_anchor_node( c->stage, &rule->a );
        if ( node < 0 || !c->reached[node] || rule->constraint < 0 ||
             tr_rule_priority( rule ) >= TR_PRIORITY_LINK )
            continue;
        for ( int f = first; f <= last; ++f )
            if ( tr_rule_strength( rule, f ) > 0 )
                return true;
    }
    return false;
}

// Whether it is one of very many: there is no side to stay on.
static bool is_wild( const calming *c, int actor, const jump_site *jump )
{
    int first, last, count = 0;
    first_and_last( c, jump, 0, &first, &last );
    for ( int f = first; f <= last; ++f )
        count += c->jumps[cell_of( c, actor, f )] > 0;
    return count > WILD * ( last - first + 1 );
}

// How often a jump was found that did not become smaller.
static int next_level( const calming *c, int actor, const jump_site *jump, bool places )
{
    size_t cell = cell_of( c, actor, jump->frame );
    double left = c->jumps[cell] < MILD ? MILDLY_BETTER : BETTER;
    bool better = c->levels[cell] > 0 && c->round < PATIENCE && c->jumps[cell] < left * c->before[cell];
    int level = c->levels[cell] + !better;
    if ( level == 1 && places && is_wild( c, actor, jump ) )
        level = PLACED;
    return level < LEVELS ? level : LEVELS - 1;
}

static void reach_from( const calming *c, int actor, int frame )
{
    for ( int n = 0; n < c->nodes; ++n )
        c->reached[n] = n == actor;
    tr_stage_reach( c->stage, frame, c->reached );
}

// Returns the level, for the frames within the span.
static int mark_jump( const calming *c, int actor, const jump_site *jump )
{
    reach_from( c, actor, jump->frame );
    bool places = has_places( c, jump );
    int level = next_level( c, actor, jump, places );
    const give_level *up = places ? &of_places[level] : &of_links[level];
    smooth_around( c, actor, jump );
    for ( int n = 0; n < c->nodes; ++n ) {
        if ( !c->reached[n] )
            continue;
        if ( places || n == actor || n >= c->stage->actor_count )
            give_way_around( c, n, jump, up );
        if ( n >= c->stage->actor_count )
            smooth_around( c, n, jump );
    }
    return level;
}

static void mark_actor( const calming *c, int actor )
{
    double fps = c->stage->fps, *jumps = c->jumps + cell_of( c, actor, 0 ),
           *before = c->before + cell_of( c, actor, 0 );
    int *own = c->levels + cell_of( c, actor, 0 );
    memcpy( c->next, own, (size_t)c->frames * sizeof( int ) );
    memset( c->around, 0, (size_t)c->frames * sizeof( double ) );
    for ( int f = 0; f < c->frames; ++f ) {
        if ( !( jumps[f] > 0 ) )
            continue;
        jump_site jump = { f, fps * lerpd( SHORTEST, LONGEST, fmin( jumps[f] / TR_PI, 1 ) ), GIVING * fps };
        int level = mark_jump( c, actor, &jump ), first, last;
        first_and_last( c, &jump, 0, &first, &last );
        for ( int g = first; g <= last; ++g ) {
            c->next[g] = c->next[g] > level ? c->next[g] : level;
            widen( &c->around[g], jumps[f] );
        }
    }
    memcpy( own, c->next, (size_t)c->frames * sizeof( int ) );
    memcpy( before, c->around, (size_t)c->frames * sizeof( double ) );
}

// Whoever is smoothed or asked for less, and all whom rules join to them.
static void mark_affected( const calming *c )
{
    for ( int f = 0; f < c->frames; ++f ) {
        bool any = false;
        for ( int n = 0; n < c->nodes; ++n ) {
            const tr_calm_cell *cell = &c->cells[cell_of( c, n, f )];
            c->reached[n] = c->affected[cell_of( c, n, f )] || cell->share > 0 || cell->places > 0 ||
                            cell->back > 0 || cell->links > 0;
            any = any || c->reached[n];
        }
        if ( any )
            tr_stage_reach( c->stage, f, c->reached );
        for ( int n = 0; any && n < c->nodes; ++n )
            c->affected[cell_of( c, n, f )] = c->reached[n];
    }
}

static void mark( const calming *c )
{
    for ( size_t i = 0; i < (size_t)c->nodes * (size_t)c->frames; ++i )
        c->cells[i].share = c->cells[i].span = 0; // what gave way stays
    for ( int i = 0; i < c->stage->actor_count; ++i )
        mark_actor( c, i );
    mark_affected( c );
}

// -------------------------------------------------------------------------------------------------- asking

// Says where, or turns what the document names: of feet, the ground does.
static bool gives_way( const tr_rule *rule )
{
    if ( rule->kind == TR_CONSTRAINT_ORIENTATION )
        return rule->constraint >= 0 && !rule->flat;
    return !tr_rule_is_stance( rule ) && !rule->direction &&
           ( rule->kind != TR_CONSTRAINT_LENGTH || tr_rule_links( rule ) );
}

static vec3 off_by( const calming *c, const tr_result *result, const tr_rule *rule, int frame )
{
    vec3 at = rule->kind == TR_CONSTRAINT_CENTRE_OF_MASS
                  ? tr_actor_mass_centre( c->stage, result, rule->a.actor, frame )
                  : tr_anchor_position( c->stage, result, &rule->a, frame );
    if ( tr_rule_links( rule ) )
        at = v3_sub( at, tr_anchor_position( c->stage, result, &rule->b, frame ) );
    return v3_sub( at, tr_rule_target( c->stage, result, rule, frame ) );
}

// A rule asks for what the first result gave, or for less: for where the averages have it. Of bodies that
// come back links ask for what they are meant to again, and places for nothing: many of them, where the
// averages are, would hold a body off its feet.
static void ask_at( const calming *c, const tr_rule *rule, int frame, const asking *less )
{
    int nodes[2] = { tr_anchor_node( c->stage, &rule->a ), tr_anchor_node( c->stage, &rule->b ) };
    bool place = tr_rule_priority( rule ) < TR_PRIORITY_LINK;
    double given_up = 0, back = 0;
    for ( int e = 0; e < 2; ++e )
        if ( nodes[e] >= 0 ) {
            const tr_calm_cell *cell = &c->cells[cell_of( c, nodes[e], frame )];
            widen( &given_up, place ? cell->places : cell->links );
            widen( &back, cell->back );
        }
    bool turns = rule->kind == TR_CONSTRAINT_ORIENTATION;
    less->shares[frame] = 1.0 - ( place ? fmax( back, turns ? given_up : 0 ) : 0 );
    if ( !turns )
        less->misses[frame] = v3_lerp( v3_scale( 1.0 - back, off_by( c, &c->first, rule, frame ) ),
                                       off_by( c, c->result, rule, frame ), given_up );
}

static bool start_asking( const calming *c, int r )
{
    asking *less = &c->less[r];
    if ( less->misses != NULL )
        return true;
    less->misses = tr_alloc( (size_t)c->frames, sizeof( vec3 ) );
    less->shares = tr_alloc( (size_t)c->frames, sizeof( double ) );
    if ( less->misses == NULL || less->shares == NULL )
        return false;
    for ( int f = 0; f < c->frames; ++f )
        less->shares[f] = 1;
    c->asked.rules[r].miss = less->misses;
    c->asked.rules[r].share = less->shares;
    return true;
}

static bool ask_for_less( const calming *c, int r )
{
    const tr_rule *rule = &c->stage->rules[r];
    int node = tr_anchor_node( c->stage, &rule->a );
    for ( int f = 0; node >= 0 && gives_way( rule ) && f < c->frames; ++f ) {
        if ( !c->affected[cell_of( c, node, f )] || !( tr_rule_strength( rule, f ) > 0 ) )
            continue;
        if ( !start_asking( c, r ) )
            return false;
        ask_at( c, rule, f, &c->less[r] );
    }
    return true;
}

// -------------------------------------------------------------------------------------------------- rounds

static bool settle( const calming *c, tr_error *error )
{
    int first = c->frames, last = -1;
    for ( int f = 0; f < c->frames; ++f )
        for ( int n = 0; n < c->nodes; ++n )
            if ( c->affected[cell_of( c, n, f )] ) {
                first = f < first ? f : first;
                last = f;
            }
    return tr_cluster_resolve( &c->asked, c->result, c->affected, first, last, error );
}

static bool run_round( const calming *c, tr_error *error )
{
    if ( !tr_work_go_on( error ) || !tr_progress_report( c->stage->progress, 1, 1, error ) )
        return false;
    mark( c );
    tr_smooth( &( tr_smoothing ){ c->stage, c->cells, &c->copied, c->result, false, c->chains } );
    for ( int r = 0; r < c->stage->rule_count; ++r )
        if ( !ask_for_less( c, r ) )
            return tr_error_memory( error );
    return settle( c, error );
}

static bool build( calming *c, tr_error *error )
{
    const tr_stage *stage = c->stage;
    size_t frames = (size_t)c->frames, cells = (size_t)c->nodes * frames,
           own = (size_t)stage->actor_count * frames;
    c->before = tr_alloc( own, sizeof( double ) );
    c->levels = tr_alloc( own, sizeof( int ) );
    c->around = tr_alloc( frames, sizeof( double ) );
    c->next = tr_alloc( frames, sizeof( int ) );
    c->reached = tr_alloc( (size_t)c->nodes, sizeof( bool ) );
    c->cells = tr_alloc( cells, sizeof( tr_calm_cell ) );
    c->affected = tr_alloc( cells, sizeof( bool ) );
    c->chains = tr_alloc( tr_smooth_room( stage ), sizeof( quat ) );
    c->less = tr_alloc( (size_t)stage->rule_count, sizeof( asking ) );
    c->asked.rules = tr_alloc( (size_t)stage->rule_count, sizeof( tr_rule ) );
    if ( c->before == NULL || c->levels == NULL || c->around == NULL || c->next == NULL ||
         c->reached == NULL || c->cells == NULL || c->affected == NULL || c->chains == NULL ||
         c->less == NULL || c->asked.rules == NULL )
        return tr_error_memory( error );
    if ( stage->rule_count > 0 )
        memcpy( c->asked.rules, stage->rules, (size_t)stage->rule_count * sizeof( tr_rule ) );
    return tr_result_alloc( &c->copied, stage, error ) && tr_copy_pose( stage, &c->copied, error ) &&
           tr_result_copy( &c->first, stage, c->result, error );
}

static void calming_free( calming *c )
{
    for ( int r = 0; c->less != NULL && r < c->stage->rule_count; ++r ) {
        tr_free( c->less[r].misses );
        tr_free( c->less[r].shares );
    }
    tr_result_free( &c->copied );
    tr_result_free( &c->first );
    tr_free( c->rule_begin );
    tr_free( c->rules );
    tr_free( c->jumps );
    tr_free( c->before );
    tr_free( c->levels );
    tr_free( c->around );
    tr_free( c->next );
    tr_free( c->reached );
    tr_free( c->cells );
    tr_free( c->affected );
    tr_free( c->chains );
    tr_free( c->less );
    tr_free( c->asked.rules );
}

// Stands for all that the next round depends on. Rounds that end as the one before them would go on so.
static uint64_t state_of( const calming *c )
{
    size_t frames = (size_t)c->frames, own = (size_t)c->stage->actor_count * frames,
           cells = (size_t)c->nodes * frames;
    bool patient = c->round + 1 < PATIENCE;
    uint64_t hash = tr_hash_bytes( TR_HASH_START, &patient, sizeof patient );
    for ( int i = 0; i < c->stage->actor_count; ++i ) {
        const tr_clip *clip = &c->result->motions[i].clip;
        hash = tr_hash_bytes( hash, clip->root, frames * sizeof( vec3 ) );
        hash = tr_hash_bytes( hash, clip->rotations, frames * (size_t)clip->joint_count * sizeof( quat ) );
    }
    for ( int p = 0; p < c->stage->prop_count; ++p )
        hash = tr_hash_bytes( hash, c->result->tracks[p], frames * sizeof( rigid ) );
    hash = tr_hash_bytes( hash, c->before, own * sizeof( double ) );
    hash = tr_hash_bytes( hash, c->levels, own * sizeof( int ) );
    hash = tr_hash_bytes( hash, c->affected, cells * sizeof( bool ) );
    for ( size_t i = 0; i < cells; ++i ) // as far as it stays
        hash = tr_hash_bytes( hash, ( double[] ){ c->cells[i].places, c->cells[i].links, c->cells[i].back },
                              3 * sizeof( double ) );
    return hash;
}

static double sum_of_jumps( const calming *c )
{
    double sum = 0;
    for ( size_t i = 0; i < (size_t)c->stage->actor_count * (size_t)c->frames; ++i )
        sum += c->jumps[i] * c->jumps[i];
    return sum;
}

// What did not become calmer has lost its links for nothing.
static void keep_better( calming *c, double at_first )
{
    if ( sum_of_jumps( c ) < WORTH * at_first )
        return;
    tr_result *now = c->result, calmed = *now;
    now->motions = c->first.motions, now->worlds = c->first.worlds, now->tracks = c->first.tracks;
    c->first.motions = calmed.motions, c->first.worlds = calmed.worlds, c->first.tracks = calmed.tracks;
}

bool tr_calm( const tr_stage *stage, tr_result *result, tr_error *error )
{
    calming c = { .stage = stage,
                  .nodes = stage->actor_count + stage->prop_count,
                  .frames = stage->frame_count,
                  .result = result,
                  .asked = *stage };
    c.asked.rules = NULL;
    c.asked.progress = NULL; // it was told of all the work already
    c.jumps = tr_alloc( (size_t)stage->actor_count * (size_t)c.frames, sizeof( double ) );
    bool ok = ( c.jumps != NULL && tr_rules_by_actor( stage, &c.rule_begin, &c.rules ) ) ||
              tr_error_memory( error );
    tr_jump_search search = { .stage = stage, .result = result, .begin = c.rule_begin, .rules = c.rules };
    if ( ok && tr_jumps_find( &search, c.jumps ) ) {
        ok = build( &c, error );
        search.copied = &c.copied;
        bool jumps = ok && tr_jumps_find( &search, c.jumps );
        search.affected = c.affected;
        double at_first = sum_of_jumps( &c );
        uint64_t last = 0, state = 1;
        long steps = result->fit_steps;
        for ( c.round = 0;
              jumps && c.round < ROUNDS && state != last && tr_may_resolve_again( stage, result, steps );
              ++c.round ) {
            ok = run_round( &c, error );
            jumps = ok && tr_jumps_find( &search, c.jumps );
            last = state;
            state = jumps ? state_of( &c ) : 0;
        }
        if ( jumps )
            keep_better( &c, at_first );
    }
    calming_free( &c );
    return ok;
}
