// Paths with a direction. A rule that asks for the direction of a point's way over the ground becomes a place
// at every frame: a path as fast as the copied one whose steps all point that way, laid so that it is off by
// nothing on average. Beside its range, where the rule fades, the path is shifted as at the range's end.
#include "scene/scene_private.h"

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
    for ( int f = first + 1; f <= last; ++f ) { // way is led up to f − 1 and copied from f on
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

bool tr_stage_lead( tr_stage *stage, tr_error *error )
{
    size_t frames = (size_t)stage->frame_count, count = 0;
    for ( int r = 0; r < stage->rule_count; ++r )
        count += stage->rules[r].direction;
    stage->ways = tr_alloc( count * frames, sizeof( vec3 ) );
    if ( stage->ways == NULL )
        return tr_error_memory( error );
    vec3 *way = stage->ways;
    for ( int r = 0; r < stage->rule_count; ++r )
        if ( stage->rules[r].direction ) {
            lead( stage, &stage->rules[r], way );
            stage->rules[r].path = way;
            way += frames;
        }
    return true;
}
