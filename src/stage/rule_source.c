// Values of rules from the source: the places of their points, and lengths.
#include "stage/private.h"

// The point in the source, at a frame whose joints are in `pose`.
static vec3 source_point( const tr_anchor *anchor, tr_pose pose, const tr_actor *actor )
{
    vec3 sum = v3_zero;
    for ( int i = 0; i < anchor->count; ++i )
        sum = v3_mad( sum, anchor->weights[i],
                      tr_actor_source_place( actor, anchor->joints[i], pose.positions ) );
    int first = actor->map[anchor->count > 0 ? anchor->joints[0] : 0];
    first = first < 0 ? 0 : first;
    if ( anchor->count == 0 )
        sum = pose.positions[first];
    return v3_add( sum, q_rotate( pose.rotations[first], anchor->source_offset ) );
}

vec3 tr_anchor_source( const tr_stage *stage, const tr_anchor *anchor, int frame )
{
    if ( anchor->prop >= 0 )
        return rigid_apply( stage->props[anchor->prop].track[frame], anchor->source_offset );
    if ( anchor->actor < 0 )
        return v3_zero;
    const tr_actor *actor = &stage->actors[anchor->actor];
    return source_point( anchor, tr_world_pose( &actor->world, frame ), actor );
}

// The source's rotation as the target body would show it.
quat tr_anchor_source_rotation( const tr_stage *stage, const tr_anchor *anchor, int frame )
{
    if ( anchor->prop >= 0 )
        return stage->props[anchor->prop].track[frame].rotation;
    const tr_actor *actor = &stage->actors[anchor->actor];
    return tr_actor_source_turn( actor, anchor->count > 0 ? anchor->joints[0] : 0,
                                 tr_world_pose( &actor->world, frame ).rotations );
}

const tr_group *tr_anchor_group( const tr_stage *stage, const tr_anchor *anchor )
{
    return &stage->groups[anchor->actor >= 0 ? stage->actors[anchor->actor].group
                                             : stage->props[anchor->prop].group];
}

double tr_rule_length( const tr_stage *stage, const tr_rule *rule, int frame )
{
    if ( rule->given )
        return rule->length;
    return v3_distance( tr_anchor_source( stage, &rule->a, frame ),
                        tr_anchor_source( stage, &rule->b, frame ) );
}

bool tr_rule_links( const tr_rule *rule )
{
    bool two = rule->b.actor >= 0 || rule->b.prop >= 0;
    return rule->kind == TR_CONSTRAINT_RELATIVE || ( rule->kind == TR_CONSTRAINT_LENGTH && two );
}

vec3 tr_rule_masked( const tr_rule *rule, vec3 v )
{
    bool level = rule->direction || ( rule->kind == TR_CONSTRAINT_CENTRE_OF_MASS && !rule->given );
    return v3( rule->axis[0] ? v.x : 0, rule->axis[1] && !level ? v.y : 0, rule->axis[2] ? v.z : 0 );
}

// Zero for rules that take their target from the source; the source may miss a given target.
double tr_rule_source_error( const tr_stage *stage, const tr_rule *rule, int frame )
{
    if ( !rule->given )
        return 0;
    vec3 at = tr_anchor_source( stage, &rule->a, frame ), wanted = rule->target;
    if ( rule->kind == TR_CONSTRAINT_RELATIVE ) {
        at = v3_sub( at, tr_anchor_source( stage, &rule->b, frame ) );
        if ( rule->partner_space )
            wanted = q_rotate( tr_anchor_source_rotation( stage, &rule->b, frame ), wanted );
    }
    return v3_length( tr_rule_masked( rule, v3_sub( at, wanted ) ) );
}
