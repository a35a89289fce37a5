// Paths of rules: trajectories by their keys, and paths with a direction.
//
// Keys are joined by the natural cubic spline, which bends least of all curves through them: over the
// interval of length h from key i to i + 1, with s = (t − tᵢ) / h and u = 1 − s,
//
//   x = u xᵢ + s xᵢ₊₁ − h²/6 ( (u − u³) mᵢ + (s − s³) mᵢ₊₁ ),
//
// and second derivatives m from  hᵢ₋₁ mᵢ₋₁ + 2 (hᵢ₋₁ + hᵢ) mᵢ + hᵢ mᵢ₊₁ = 6 (slopeᵢ − slopeᵢ₋₁),  0 at both
// ends.
//
// A rule for the direction of a point's path over the ground becomes a place at every frame: a path with the
// speed of the copied one and the given direction, placed so that the mean difference to the copied path is
// zero. Outside its range, where the rule fades, it is the copied path shifted as at the end of the range.
#include "stage/private.h"

typedef struct spline {
    const tr_key *keys;
    int count;
    vec3 bends[TR_ROWS_MAX]; // m
} spline;

static vec3 slope( const tr_key *key ) // from a key to the next
{
    return v3_scale( 1 / ( key[1].frame - key->frame ), v3_sub( key[1].place, key->place ) );
}

static void find_bends( spline *s )
{
    double share[TR_ROWS_MAX] = { 0 }; // share of the next row's bend, as the rows are eliminated in order
    s->bends[0] = s->bends[s->count - 1] = v3_zero;
    for ( int i = 1; i + 1 < s->count; ++i ) {
        const tr_key *key = &s->keys[i];
        double before = key->frame - key[-1].frame, after = key[1].frame - key->frame;
        double pivot = 2 * ( before + after ) - before * share[i - 1];
        vec3 turn = v3_scale( 6, v3_sub( slope( key ), slope( key - 1 ) ) );
        share[i] = after / pivot;
        s->bends[i] = v3_scale( 1 / pivot, v3_mad( turn, -before, s->bends[i - 1] ) );
    }
    for ( int i = s->count - 2; i > 0; --i )
        s->bends[i] = v3_mad( s->bends[i], -share[i], s->bends[i + 1] );
}

static vec3 place_at( const spline *s, double frame )
{
    int i = 0;
    while ( i + 1 < s->count && s->keys[i + 1].frame <= frame )
        ++i;
    const tr_key *key = &s->keys[i];
    if ( i + 1 == s->count || frame <= key->frame )
        return key->place;
    double h = key[1].frame - key->frame, t = ( frame - key->frame ) / h, u = 1 - t, c = -h * h / 6;
    vec3 x = v3_lerp( key->place, key[1].place, t );
    x = v3_mad( x, c * ( u - u * u * u ), s->bends[i] );
    return v3_mad( x, c * ( t - t * t * t ), s->bends[i + 1] );
}

static void follow_keys( const tr_stage *stage, const tr_constraint *c, vec3 *way )
{
    spline s = { .keys = c->keys, .count = c->key_count };
    find_bends( &s );
    for ( int f = 0; f < stage->frame_count; ++f )
        way[f] = place_at( &s, f + stage->scene->first );
}

// The constraint behind a rule that has keys, else NULL.
static const tr_constraint *keyed( const tr_stage *stage, const tr_rule *rule )
{
    const tr_constraint *c = rule->constraint >= 0 ? &stage->scene->constraints[rule->constraint] : NULL;
    return c != NULL && c->key_count > 0 ? c : NULL;
}

static void lead( const tr_stage *stage, const tr_rule *rule, vec3 *way )
{
    const tr_group *group = tr_anchor_group( stage, &rule->a );
    vec3 direction = v3_unit( v3_horizontal( rule->target ) );
    int first, last;
    tr_rule_frames( stage, rule, &first, &last );
    for ( int f = 0; f < stage->frame_count; ++f )
        way[f] = tr_group_place( group, tr_anchor_source( stage, &rule->a, f ) );
    if ( !rule->given || v3_length( direction ) == 0 )
        return;
    vec3 copied = way[first], shift = v3_zero, sum = v3_zero;
    for ( int f = first + 1; f <= last; ++f ) { // the path is directed up to f − 1 and copied from f on
        double step = v3_length( v3_horizontal( v3_sub( way[f], copied ) ) );
        copied = way[f];
        shift = v3_horizontal( v3_sub( v3_mad( way[f - 1], step, direction ), copied ) );
        way[f] = v3_add( copied, shift );
        sum = v3_add( sum, shift );
    }
    vec3 mean = v3_scale( 1.0 / ( last - first + 1 ), sum );
    for ( int f = 0; f < stage->frame_count; ++f )
        way[f] = v3_add( way[f], v3_sub( f > last ? shift : v3_zero, mean ) );
}

bool tr_stage_find_paths( tr_stage *stage, tr_error *error )
{
    size_t frames = (size_t)stage->frame_count, count = 0;
    for ( int r = 0; r < stage->rule_count; ++r )
        count += stage->rules[r].direction || keyed( stage, &stage->rules[r] ) != NULL;
    stage->ways = tr_alloc( count * frames, sizeof( vec3 ) );
    if ( stage->ways == NULL )
        return tr_error_memory( error );
    vec3 *way = stage->ways;
    for ( int r = 0; r < stage->rule_count; ++r ) {
        tr_rule *rule = &stage->rules[r];
        const tr_constraint *keys = keyed( stage, rule );
        if ( keys != NULL )
            follow_keys( stage, keys, way );
        else if ( rule->direction )
            lead( stage, rule, way );
        else
            continue;
        rule->path = way;
        way += frames;
    }
    return true;
}
