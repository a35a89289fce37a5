// Where a rule wants its point, and how far a result is from that.
#include "result/private.h"

#include <string.h>

// -------------------------------------------------------------------------------------------- positions

vec3 tr_anchor_position( const tr_stage *stage, const tr_result *result, const tr_anchor *anchor, int frame )
{
    (void)stage;
    if ( anchor->prop >= 0 )
        return rigid_apply( result->tracks[anchor->prop][frame], anchor->offset );
    if ( anchor->actor < 0 )
        return v3_zero;
    tr_pose pose = tr_world_pose( &result->worlds[anchor->actor], frame );
    vec3 sum = v3_zero;
    for ( int i = 0; i < anchor->count; ++i )
        sum = v3_mad( sum, anchor->weights[i], pose.positions[anchor->joints[i]] );
    int first = anchor->count > 0 ? anchor->joints[0] : 0;
    if ( anchor->count == 0 )
        sum = pose.positions[first];
    return v3_add( sum, q_rotate( pose.rotations[first], anchor->offset ) );
}

static quat anchor_rotation( const tr_result *result, const tr_anchor *anchor, int frame )
{
    if ( anchor->prop >= 0 )
        return result->tracks[anchor->prop][frame].rotation;
    return tr_world_pose( &result->worlds[anchor->actor], frame )
        .rotations[anchor->count > 0 ? anchor->joints[0] : 0];
}

// ------------------------------------------------------------------------------------------------ contact

// See footing.c for hands and feet on ground and environment. Else the place where it landed, and the
// source's own movement about it: on a prop as it is, on the ground in the size of the body or prop.
static vec3 contact_target( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int frame )
{
    const tr_actor *actor = rule->a.actor >= 0 ? &stage->actors[rule->a.actor] : NULL;
    const tr_footing *footing = rule->footing >= 0 ? &actor->footings[rule->footing] : NULL;
    const tr_rule *held = footing != NULL ? &stage->rules[footing->rule[frame]] : NULL;
    if ( held == rule && footing->place != NULL )
        return footing->place[frame];
    vec3 p = tr_anchor_source( stage, &rule->a, frame );
    if ( footing != NULL ) {
        if ( !actor->foreign || held == rule )
            return v3_mad( footing->shift[frame], footing->rise, p );
        // A foot of another shape is held by one of its joints; the others are right where they then are.
        vec3 from_held = v3_sub( tr_anchor_position( stage, result, &rule->a, frame ),
                                 tr_anchor_position( stage, result, &held->a, frame ) );
        return v3_add( contact_target( stage, result, held, frame ), from_held );
    }
    if ( rule->surface_prop >= 0 ) {
        vec3 local = rigid_apply( rigid_inverse( stage->props[rule->surface_prop].track[frame] ), p );
        return rigid_apply( result->tracks[rule->surface_prop][frame],
                            v3_add( rule->target, v3_sub( local, rule->source_place ) ) );
    }
    double rise =
        actor != NULL ? tr_part_ratio( actor, rule->a.joints[0] ) : stage->props[rule->a.prop].scale;
    vec3 moved = v3_mad( rule->target, rise, v3_sub( p, rule->source_place ) );
    return v3( moved.x, tr_rule_floor( stage, rule ) + rise * ( p.y - rule->floor ), moved.z );
}

// ---------------------------------------------------------------------------------------------- edits

vec3 tr_step_apply( tr_step step, vec3 place )
{
    if ( step.turn != 0 )
        place = q_rotate( q_axis_angle( v3_y, step.turn ), place );
    return v3_add( place, step.move );
}

tr_step tr_step_after( tr_step first, tr_step then )
{
    return ( tr_step ){ first.turn + then.turn, tr_step_apply( then, first.move ) };
}

bool tr_step_is_none( tr_step step )
{
    return step.turn == 0 && step.move.x == 0 && step.move.y == 0 && step.move.z == 0;
}

// Where a foot stands after edits: heel and toes go with what carries them.
static vec3 step_of( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int frame,
                     vec3 place )
{
    int actor = rule->a.actor;
    if ( rule->surface_prop >= 0 || actor < 0 || rule->a.count == 0 || result->steps == NULL ||
         result->steps[actor] == NULL )
        return place;
    const tr_actor *a = &stage->actors[actor];
    int foot = rule->footing >= 0 ? a->footings[rule->footing].joint
                                  : tr_extremity_carrier( &a->target, rule->a.joints[0] );
    return tr_step_apply( result->steps[actor][tr_step_cell( stage, foot, frame )], place );
}

// How edits turned what an offset or a rotation taken from the source is about: a prop as it is, a character
// about the vertical. Without edits exactly the identity.
static quat edit_turn( const tr_stage *stage, const tr_result *result, const tr_anchor *anchor, int frame )
{
    if ( anchor->prop >= 0 ) {
        quat now = result->tracks[anchor->prop][frame].rotation;
        quat source = stage->props[anchor->prop].track[frame].rotation;
        return memcmp( &now, &source, sizeof now ) == 0 ? q_identity : q_mul( now, q_conj( source ) );
    }
    bool turned = anchor->actor >= 0 && result->turns != NULL && result->turns[anchor->actor] != NULL;
    return turned ? q_axis_angle( v3_y, result->turns[anchor->actor][frame] ) : q_identity;
}

// -------------------------------------------------------------------------------------------- evaluation

// A hand that touches a hand is as thick as before; one that touches a prop is as far from it as the prop is
// large.
static double touch_scale( const tr_stage *stage, const tr_rule *rule )
{
    int prop = rule->b.prop >= 0 ? rule->b.prop : rule->a.prop;
    return prop >= 0 ? stage->props[prop].scale : 1.0;
}

// A touch is as it was while flesh can give way. Much thicker bodies rest on each other's surface.
static double girth_between( const tr_stage *stage, const tr_rule *rule )
{
    double added = rule->a.cover + rule->b.cover;
    return added * smooth_step5( added / stage->def.rules.flesh - 1 );
}

// Offset of a from b. It scales with the group, except where the two touch.
static vec3 relative_target( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int frame )
{
    vec3 offset = rule->target;
    if ( !rule->given ) {
        offset =
            v3_sub( tr_anchor_source( stage, &rule->a, frame ), tr_anchor_source( stage, &rule->b, frame ) );
        offset = v3_scale( rule->touch ? touch_scale( stage, rule )
                                       : tr_anchor_group( stage, &rule->a )->size_ratio,
                           offset );
        if ( rule->touch )
            offset = v3_mad( offset, girth_between( stage, rule ), v3_unit( offset ) );
        if ( rule->partner_space )
            offset = q_unrotate( tr_anchor_source_rotation( stage, &rule->b, frame ), offset );
        else
            offset = q_rotate( edit_turn( stage, result, rule->a.prop >= 0 ? &rule->a : &rule->b, frame ),
                               offset );
    }
    return rule->partner_space ? q_rotate( anchor_rotation( result, &rule->b, frame ), offset ) : offset;
}

vec3 tr_actor_mass_centre( const tr_stage *stage, const tr_result *result, int actor, int frame )
{
    return tr_body_centre_of_mass( &stage->actors[actor].body, &stage->actors[actor].target,
                                   tr_world_pose( &result->worlds[actor], frame ) );
}

// A distance along the direction it has now.
static vec3 distance_target( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int frame )
{
    vec3 apart = v3_sub( tr_anchor_position( stage, result, &rule->a, frame ),
                         tr_anchor_position( stage, result, &rule->b, frame ) );
    return v3_scale( tr_rule_length( stage, rule, frame ), v3_unit_or( apart, v3_y ) );
}

static vec3 target_of( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int frame )
{
    switch ( rule->kind ) {
    case TR_CONSTRAINT_CONTACT:
        return rule->given
                   ? rule->target
                   : step_of( stage, result, rule, frame, contact_target( stage, result, rule, frame ) );
    case TR_CONSTRAINT_RELATIVE: return relative_target( stage, result, rule, frame );
    case TR_CONSTRAINT_CENTRE_OF_MASS:
        return rule->given ? rule->target
                           : tr_support_centre( stage, result, rule->a.actor, frame,
                                                tr_actor_mass_centre( stage, result, rule->a.actor, frame ) );
    case TR_CONSTRAINT_LENGTH: return distance_target( stage, result, rule, frame );
    default:
        if ( rule->stands )
            return step_of( stage, result, rule, frame, contact_target( stage, result, rule, frame ) );
        if ( rule->path != NULL )
            return rule->path[frame];
        return rule->given ? rule->target
                           : tr_group_place( tr_anchor_group( stage, &rule->a ),
                                             tr_anchor_source( stage, &rule->a, frame ) );
    }
}

vec3 tr_rule_target( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int frame )
{
    vec3 target = target_of( stage, result, rule, frame );
    return rule->miss != NULL ? v3_add( target, rule->miss[frame] ) : target;
}

static double chord( const tr_stage *stage, double angle )
{
    return 2 * stage->def.rules.arm * sin( 0.5 * angle );
}

double tr_chord_degrees( const tr_stage *stage, double metres )
{
    return 2 * asin( fmin( metres / ( 2 * stage->def.rules.arm ), 1 ) ) / TR_DEGREE;
}

bool tr_rule_turns( const tr_rule *rule )
{
    return rule->kind == TR_CONSTRAINT_ORIENTATION ||
           ( rule->kind == TR_CONSTRAINT_ABSOLUTE && rule->direction );
}

// Flat: the rotation it has, tilted back by the least turn that makes the change from the wanted one level.
quat tr_rule_rotation( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int frame )
{
    quat wanted = rule->given ? rule->rotation
                              : q_mul( edit_turn( stage, result, &rule->a, frame ),
                                       tr_anchor_source_rotation( stage, &rule->a, frame ) );
    if ( !rule->flat )
        return wanted;
    quat now = anchor_rotation( result, &rule->a, frame );
    vec3 up = q_rotate( q_mul( now, q_conj( wanted ) ), v3_y );
    return q_mul( q_between( up, v3_y ), now );
}

static double orientation_error( const tr_stage *stage, const tr_result *result, const tr_rule *rule,
                                 int frame )
{
    return chord( stage, q_angle( anchor_rotation( result, &rule->a, frame ),
                                  tr_rule_rotation( stage, result, rule, frame ) ) );
}

// Direction of a's horizontal path, from its neighbours in time; the source's own unless one is given.
static double direction_error( const tr_stage *stage, const tr_result *result, const tr_rule *rule,
                               int frame )
{
    int low = rule->first < rule->last ? rule->first : 0, // outside of its range it is off
        high = rule->first < rule->last ? rule->last : stage->frame_count - 1;
    int before = frame > low ? frame - 1 : frame, after = frame < high ? frame + 1 : frame;
    vec3 step = v3_horizontal( v3_sub( tr_anchor_position( stage, result, &rule->a, after ),
                                       tr_anchor_position( stage, result, &rule->a, before ) ) );
    vec3 wanted = v3_horizontal( rule->given ? rule->target
                                             : v3_sub( tr_anchor_source( stage, &rule->a, after ),
                                                       tr_anchor_source( stage, &rule->a, before ) ) );
    double least = stage->def.rules.least_step;
    if ( v3_length( step ) < least || v3_length( wanted ) < least )
        return 0; // standing still has no direction
    return chord( stage, acos( clampd( v3_dot( v3_unit( step ), v3_unit( wanted ) ), -1, 1 ) ) );
}

static double length_error( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int frame )
{
    vec3 a = tr_anchor_position( stage, result, &rule->a, frame );
    if ( rule->b.actor >= 0 || rule->b.prop >= 0 ) {
        double now = v3_distance( a, tr_anchor_position( stage, result, &rule->b, frame ) );
        return fabs( now - tr_rule_length( stage, rule, frame ) );
    }
    const tr_skeleton *skeleton = &stage->actors[rule->a.actor].target; // a result may have broken its own
    int joint = rule->a.joints[0], parent = skeleton->joints[joint].parent;
    if ( parent < 0 )
        return 0;
    const vec3 *p = tr_world_pose( &result->worlds[rule->a.actor], frame ).positions;
    return fabs( v3_distance( p[joint], p[parent] ) -
                 ( rule->given ? rule->length : tr_bone_length( skeleton, joint ) ) );
}

double tr_rule_error( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int frame )
{
    vec3 at = tr_anchor_position( stage, result, &rule->a, frame );
    switch ( rule->kind ) {
    case TR_CONSTRAINT_ORIENTATION: return orientation_error( stage, result, rule, frame );
    case TR_CONSTRAINT_LENGTH: return length_error( stage, result, rule, frame );
    case TR_CONSTRAINT_CENTRE_OF_MASS:
        at = tr_actor_mass_centre( stage, result, rule->a.actor, frame );
        if ( !rule->given ) // over the feet as they are
            at = v3_sub( at, tr_support_misplaced( stage, result, rule->a.actor, frame ) );
        break;
    case TR_CONSTRAINT_RELATIVE:
        at = v3_sub( at, tr_anchor_position( stage, result, &rule->b, frame ) );
        break;
    default:
        if ( rule->direction )
            return direction_error( stage, result, rule, frame );
    }
    return v3_length( tr_rule_masked( rule, v3_sub( at, tr_rule_target( stage, result, rule, frame ) ) ) );
}

vec3 tr_stance_place( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int frame,
                      tr_pose pose )
{
    const tr_footing *footing =
        rule->footing >= 0 ? &stage->actors[rule->a.actor].footings[rule->footing] : NULL;
    if ( footing != NULL )
        rule = &stage->rules[footing->rule[frame]];
    int joint = rule->a.joints[0];
    int foot = footing != NULL ? footing->joint : tr_stance_foot( stage, rule );
    vec3 touching = v3_add( pose.positions[joint], q_rotate( pose.rotations[joint], rule->a.offset ) );
    vec3 target = tr_rule_target( stage, result, rule, frame );
    return v3_add( target, v3_sub( pose.positions[foot], touching ) );
}
