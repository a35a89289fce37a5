// Rules: the document's constraints bound to joints, and the ones that come by themselves from contact
// labels.
#include "scene/scene_private.h"

#include <stdio.h>
#include <string.h>

#define TOUCH 0.05 // metres; a relation this close in the source is a touch and does not scale

// ------------------------------------------------------------------------------------------------ binding

typedef struct binder {
    tr_stage *stage;
    const char *file;
    int constraint; // index in the document
    tr_error *error;
} binder;

static bool fail_at( const binder *b, const char *field, const char *sentence, const char *what,
                     const char *nearest )
{
    char path[96];
    snprintf( path, sizeof path, "constraints[%d].%s", b->constraint, field );
    return tr_error_path( b->error, b->file, path,
                          nearest != NULL ? "%s \"%.96s\"; did you mean \"%.96s\"?" : "%s \"%.96s\"",
                          sentence, what, nearest );
}

static bool no_joint( const binder *b, const char *field, const tr_skeleton *skeleton, const char *name )
{
    const char **names = tr_alloc( (size_t)skeleton->joint_count + 1, sizeof( char * ) );
    if ( names == NULL )
        return tr_error_memory( b->error );
    for ( int j = 0; j < skeleton->joint_count; ++j )
        names[j] = skeleton->joints[j].name;
    fail_at( b, field, "this character has no joint", name, tr_nearest_word( name, names ) );
    tr_free( names );
    return false;
}

// How much longer the part below a joint is on the target: bones to its children, or its own where it has
// none.
static double part_ratio( const tr_actor *actor, int joint )
{
    double target = 0, source = 0;
    for ( int j = 0; j < actor->target.joint_count; ++j ) {
        bool below = actor->target.joints[j].parent == joint;
        if ( below && actor->map[j] >= 0 ) {
            target += tr_bone_length( &actor->target, j );
            source += tr_bone_length( &actor->source.skeleton, actor->map[j] );
        }
    }
    if ( source < 1e-6 && joint > 0 && actor->map[joint] >= 0 ) {
        target = tr_bone_length( &actor->target, joint );
        source = tr_bone_length( &actor->source.skeleton, actor->map[joint] );
    }
    return source > 1e-6 && target > 1e-6 ? target / source : actor->height_ratio;
}

static bool bind_point( const binder *b, const char *field, const tr_point *point, tr_anchor *anchor )
{
    *anchor =
        ( tr_anchor ){ .actor = -1, .prop = -1, .offset = point->offset, .source_offset = point->offset };
    if ( point->who[0] == 0 )
        return true;
    tr_stage *stage = b->stage;
    anchor->actor = tr_scene_find_cast( stage->scene, point->who );
    anchor->prop = anchor->actor < 0 ? tr_scene_find_prop( stage->scene, point->who ) : -1;
    if ( anchor->actor < 0 && anchor->prop < 0 )
        return fail_at( b, field, "there is no character or prop", point->who, NULL );
    if ( anchor->prop >= 0 ) {
        anchor->offset = v3_scale( stage->props[anchor->prop].scale, point->offset );
        return true;
    }
    tr_actor *actor = &stage->actors[anchor->actor];
    for ( int i = 0; i < point->term_count; ++i ) {
        int joint = tr_skeleton_find( &actor->target, point->terms[i].joint );
        if ( joint < 0 )
            return no_joint( b, field, &actor->target, point->terms[i].joint );
        anchor->joints[anchor->count] = joint;
        anchor->weights[anchor->count++] = point->terms[i].weight;
    }
    if ( anchor->count > 0 )
        anchor->offset = v3_scale( part_ratio( actor, anchor->joints[0] ), point->offset );
    return true;
}

// -------------------------------------------------------------------------------------------- positions

static vec3 terms_position( const tr_anchor *anchor, tr_pose pose, const int *map, vec3 offset )
{
    vec3 sum = v3_zero;
    for ( int i = 0; i < anchor->count; ++i ) {
        int joint = map != NULL ? map[anchor->joints[i]] : anchor->joints[i];
        sum = v3_mad( sum, anchor->weights[i], pose.positions[joint < 0 ? 0 : joint] );
    }
    int first = anchor->count > 0 ? anchor->joints[0] : 0;
    if ( map != NULL )
        first = map[first] < 0 ? 0 : map[first];
    if ( anchor->count == 0 )
        sum = pose.positions[first];
    return v3_add( sum, q_rotate( pose.rotations[first], offset ) );
}

vec3 tr_anchor_position( const tr_stage *stage, const tr_result *result, const tr_anchor *anchor, int frame )
{
    (void)stage;
    if ( anchor->prop >= 0 )
        return rigid_apply( result->tracks[anchor->prop][frame], anchor->offset );
    if ( anchor->actor < 0 )
        return v3_zero;
    return terms_position( anchor, tr_world_pose( &result->worlds[anchor->actor], frame ), NULL,
                           anchor->offset );
}

vec3 tr_anchor_source( const tr_stage *stage, const tr_anchor *anchor, int frame )
{
    if ( anchor->prop >= 0 )
        return rigid_apply( stage->props[anchor->prop].track[frame], anchor->source_offset );
    if ( anchor->actor < 0 )
        return v3_zero;
    const tr_actor *actor = &stage->actors[anchor->actor];
    return terms_position( anchor, tr_world_pose( &actor->world, frame ), actor->map, anchor->source_offset );
}

static quat anchor_rotation( const tr_result *result, const tr_anchor *anchor, int frame )
{
    if ( anchor->prop >= 0 )
        return result->tracks[anchor->prop][frame].rotation;
    return tr_world_pose( &result->worlds[anchor->actor], frame )
        .rotations[anchor->count > 0 ? anchor->joints[0] : 0];
}

// The source's rotation as the target body would show it.
static quat anchor_source_rotation( const tr_stage *stage, const tr_anchor *anchor, int frame )
{
    if ( anchor->prop >= 0 )
        return stage->props[anchor->prop].track[frame].rotation;
    const tr_actor *actor = &stage->actors[anchor->actor];
    int joint = anchor->count > 0 ? anchor->joints[0] : 0, from = actor->map[joint];
    return q_mul( tr_world_pose( &actor->world, frame ).rotations[from < 0 ? 0 : from], actor->align[joint] );
}

static const tr_group *group_of( const tr_stage *stage, const tr_anchor *anchor )
{
    return &stage->groups[anchor->actor >= 0 ? stage->actors[anchor->actor].group
                                             : stage->props[anchor->prop].group];
}

// ------------------------------------------------------------------------------------------------ contact

// A contact keeps the source's own small movement on the surface (what the labelling let pass as resting)
// about the place where it landed, so equal bodies give the source back and no stance slides more than it
// did:
//   target(t) = place + (p(t) − mean of p), heights above the surface scaled by `rise`.
// For a prop the same holds in the prop's frame, scaled with it.
static void place_contact( const tr_stage *stage, tr_rule *rule )
{
    vec3 sum = v3_zero;
    for ( int f = rule->first; f <= rule->last; ++f ) {
        vec3 p = tr_anchor_source( stage, &rule->a, f );
        if ( rule->surface_prop >= 0 )
            p = rigid_apply( rigid_inverse( stage->props[rule->surface_prop].track[f] ), p );
        sum = v3_add( sum, p );
    }
    rule->source_place = v3_scale( 1.0 / ( rule->last - rule->first + 1 ), sum );
    rule->rise = rule->a.actor >= 0 ? part_ratio( &stage->actors[rule->a.actor], rule->a.joints[0] ) : 1.0;
    if ( rule->surface_prop >= 0 )
        rule->target = v3_scale( stage->props[rule->surface_prop].scale, rule->source_place );
    else
        rule->target = tr_group_place( group_of( stage, &rule->a ), rule->source_place );
}

static vec3 contact_target( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int frame )
{
    vec3 p = tr_anchor_source( stage, &rule->a, frame );
    if ( rule->surface_prop >= 0 ) {
        const tr_stage_prop *prop = &stage->props[rule->surface_prop];
        vec3 local = rigid_apply( rigid_inverse( prop->track[frame] ), p );
        vec3 moved = v3_add( rule->target, v3_sub( local, rule->source_place ) );
        return rigid_apply( result->tracks[rule->surface_prop][frame], moved );
    }
    vec3 moved = v3_add( rule->target, v3_sub( p, rule->source_place ) );
    moved.y = rule->floor + rule->rise * ( p.y - rule->floor );
    return moved;
}

// ------------------------------------------------------------------------------------ document's constraints

static double obstacle_top( const tr_scene *scene, int obstacle )
{
    return scene->obstacles[obstacle].position.y + 0.5 * scene->obstacles[obstacle].size.y;
}

static bool bind_surface( const binder *b, const tr_constraint *c, tr_rule *rule )
{
    const tr_scene *scene = b->stage->scene;
    rule->floor = scene->ground;
    if ( c->kind != TR_CONSTRAINT_CONTACT || strcmp( c->surface, "ground" ) == 0 || c->surface[0] == 0 )
        return true;
    rule->surface_prop = tr_scene_find_prop( scene, c->surface );
    int obstacle = tr_scene_find_obstacle( scene, c->surface );
    if ( rule->surface_prop >= 0 )
        rule->floor = 0;
    else if ( obstacle >= 0 )
        rule->floor = obstacle_top( scene, obstacle );
    else
        return fail_at( b, "surface", "there is no prop or obstacle", c->surface, NULL );
    return true;
}

static bool is_touch( const tr_stage *stage, const tr_rule *rule )
{
    double most = 0;
    for ( int f = rule->first; f <= rule->last; ++f )
        most = fmax( most, v3_distance( tr_anchor_source( stage, &rule->a, f ),
                                        tr_anchor_source( stage, &rule->b, f ) ) );
    return most <= TOUCH;
}

static tr_rule *append_rule( tr_stage *stage )
{
    if ( !tr_array_reserve( (void **)&stage->rules, &stage->rule_capacity, stage->rule_count + 1,
                            sizeof( tr_rule ) ) )
        return NULL;
    tr_rule *rule = &stage->rules[stage->rule_count++];
    *rule = ( tr_rule ){ .constraint = -1,
                         .a = { .actor = -1, .prop = -1 },
                         .b = { .actor = -1, .prop = -1 },
                         .hard = true,
                         .weight = 1,
                         .axis = { true, true, true },
                         .rotation = q_identity,
                         .surface_prop = -1,
                         .rise = 1 };
    return rule;
}

// False and no error: the constraint lies outside the scene's range and has no effect.
static bool bind_constraint( const binder *b, const tr_constraint *c )
{
    tr_stage *stage = b->stage;
    int first = c->first - stage->scene->first, last = c->last - stage->scene->first;
    if ( last < 0 || first >= stage->frame_count )
        return true;
    tr_rule *rule = append_rule( stage );
    if ( rule == NULL )
        return tr_error_memory( b->error );
    memcpy( rule->id, c->id, sizeof rule->id );
    memcpy( rule->axis, c->axis, sizeof rule->axis );
    rule->kind = c->kind;
    rule->constraint = b->constraint;
    rule->first = first < 0 ? 0 : first;
    rule->last = last >= stage->frame_count ? stage->frame_count - 1 : last;
    rule->ease_in = c->ease_in;
    rule->ease_out = c->ease_out;
    rule->hard = c->hard;
    rule->weight = c->weight;
    rule->direction = c->direction;
    rule->partner_space = c->partner_space;
    rule->flat = c->flat;
    rule->given = c->given;
    rule->target = c->target;
    rule->rotation = c->rotation;
    rule->length = c->length;
    if ( !bind_point( b, "a", &c->a, &rule->a ) || !bind_point( b, "b", &c->b, &rule->b ) ||
         !bind_surface( b, c, rule ) )
        return false;
    rule->touch = rule->kind == TR_CONSTRAINT_RELATIVE && is_touch( stage, rule );
    return true;
}

bool tr_stage_bind( tr_stage *stage, const char *file, tr_error *error )
{
    for ( int i = 0; i < stage->scene->constraint_count; ++i ) {
        binder b = { stage, file, i, error };
        if ( !bind_constraint( &b, &stage->scene->constraints[i] ) )
            return false;
    }
    return true;
}

// ------------------------------------------------------------------------------------------ automatic rules

// A labelled joint of the source as one of the target, or -1.
static int target_joint( const tr_actor *actor, int source_joint )
{
    for ( int j = 0; j < actor->target.joint_count; ++j )
        if ( actor->map[j] == source_joint )
            return j;
    return -1;
}

static bool is_extremity( tr_role role )
{
    return role == TR_ROLE_HAND || role == TR_ROLE_FINGER || role == TR_ROLE_FOOT || role == TR_ROLE_TOE;
}

// The same joint, or parts of the same hand or foot.
static bool same_part( const tr_skeleton *skeleton, int a, int b )
{
    const tr_joint *p = &skeleton->joints[a], *q = &skeleton->joints[b];
    return a == b || ( p->limb == q->limb && is_extremity( p->role ) && is_extremity( q->role ) );
}

static bool anchor_holds( const tr_stage *stage, const tr_anchor *anchor, int actor, int joint )
{
    if ( anchor->actor != actor )
        return false;
    for ( int i = 0; i < anchor->count; ++i )
        if ( same_part( &stage->actors[actor].target, anchor->joints[i], joint ) )
            return true;
    return false;
}

// Is the joint held by a constraint of the document during any of these frames? Then the user's word counts.
static bool held_by_user( const tr_stage *stage, int actor, int joint, int first, int last )
{
    for ( int r = 0; r < stage->rule_count && stage->rules[r].constraint >= 0; ++r ) {
        const tr_rule *rule = &stage->rules[r];
        bool places = rule->kind == TR_CONSTRAINT_RELATIVE || rule->kind == TR_CONSTRAINT_CONTACT ||
                      rule->kind == TR_CONSTRAINT_ABSOLUTE;
        if ( places && rule->first <= last && first <= rule->last &&
             ( anchor_holds( stage, &rule->a, actor, joint ) ||
               anchor_holds( stage, &rule->b, actor, joint ) ) )
            return true;
    }
    return false;
}

static tr_rule *append_automatic( tr_stage *stage, int actor, int joint, const tr_contact *contact,
                                  tr_constraint_kind kind )
{
    tr_rule *rule = append_rule( stage );
    if ( rule == NULL )
        return NULL;
    snprintf( rule->id, sizeof rule->id, "auto_%.14s_%d", stage->scene->cast[actor].id, stage->rule_count );
    rule->kind = kind;
    rule->a.actor = actor;
    rule->a.joints[0] = joint;
    rule->a.weights[0] = 1;
    rule->a.count = 1;
    rule->first = contact->first;
    rule->last = contact->last;
    rule->ease_in = rule->ease_out = ceil( 0.1 * stage->fps );
    rule->floor = stage->ground;
    return rule;
}

static bool automate_contact( tr_stage *stage, int actor, const tr_contact *contact, tr_error *error )
{
    const tr_actor *body = &stage->actors[actor];
    int joint = target_joint( body, contact->joint );
    if ( joint < 0 || held_by_user( stage, actor, joint, contact->first, contact->last ) )
        return true;
    if ( stage->scene->cast[actor].contacts ) {
        tr_rule *rule = append_automatic( stage, actor, joint, contact, TR_CONSTRAINT_CONTACT );
        if ( rule == NULL )
            return tr_error_memory( error );
        if ( contact->surface == TR_SURFACE_PROP ) {
            rule->surface_prop = contact->surface_index;
            rule->floor = 0;
        } else if ( contact->surface == TR_SURFACE_ENVIRONMENT )
            rule->floor = obstacle_top( stage->scene, contact->surface_index );
        place_contact( stage, rule );
    }
    bool sole = body->target.joints[joint].role == TR_ROLE_FOOT && contact->surface != TR_SURFACE_PROP;
    if ( sole && stage->scene->cast[actor].soles ) {
        tr_rule *rule = append_automatic( stage, actor, joint, contact, TR_CONSTRAINT_ORIENTATION );
        if ( rule == NULL )
            return tr_error_memory( error );
        rule->flat = true;
    }
    return true;
}

bool tr_stage_automate( tr_stage *stage, tr_error *error )
{
    for ( int r = 0; r < stage->rule_count; ++r )
        if ( stage->rules[r].kind == TR_CONSTRAINT_CONTACT && !stage->rules[r].given )
            place_contact( stage, &stage->rules[r] );
    for ( int i = 0; i < stage->actor_count; ++i )
        for ( int c = 0; c < stage->actors[i].contacts.count; ++c )
            if ( !automate_contact( stage, i, &stage->actors[i].contacts.items[c], error ) )
                return false;
    return true;
}

// -------------------------------------------------------------------------------------------- evaluation

double tr_rule_strength( const tr_rule *rule, int frame )
{
    if ( frame < rule->first )
        return smooth_step5( 1.0 - ( rule->first - frame ) / ( rule->ease_in + 1.0 ) );
    if ( frame > rule->last )
        return smooth_step5( 1.0 - ( frame - rule->last ) / ( rule->ease_out + 1.0 ) );
    return 1.0;
}

// Offset of a from b. Between bodies it scales with the group; to a prop with the prop; a touch does not
// scale.
static vec3 relative_target( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int frame )
{
    vec3 offset = rule->target;
    if ( !rule->given ) {
        offset =
            v3_sub( tr_anchor_source( stage, &rule->a, frame ), tr_anchor_source( stage, &rule->b, frame ) );
        if ( !rule->touch )
            offset = v3_scale( group_of( stage, &rule->a )->size_ratio, offset );
        if ( rule->partner_space )
            offset = q_unrotate( anchor_source_rotation( stage, &rule->b, frame ), offset );
    }
    return rule->partner_space ? q_rotate( anchor_rotation( result, &rule->b, frame ), offset ) : offset;
}

// Over the middle of what stands on the ground at this frame, or over where the whole body's clip wants it.
static vec3 support_centre( const tr_stage *stage, const tr_result *result, int actor, int frame,
                            vec3 fallback )
{
    vec3 sum = v3_zero;
    int count = 0;
    const tr_contacts *contacts = &stage->actors[actor].contacts;
    for ( int c = 0; c < contacts->count; ++c ) {
        const tr_contact *contact = &contacts->items[c];
        int joint = target_joint( &stage->actors[actor], contact->joint );
        if ( joint < 0 || frame < contact->first || frame > contact->last ||
             contact->surface == TR_SURFACE_PROP )
            continue;
        sum = v3_add( sum, tr_world_pose( &result->worlds[actor], frame ).positions[joint] );
        count++;
    }
    return count > 0 ? v3_scale( 1.0 / count, sum ) : fallback;
}

static vec3 centre_of_mass( const tr_stage *stage, const tr_result *result, int actor, int frame )
{
    return tr_body_centre_of_mass( &stage->actors[actor].body, &stage->actors[actor].target,
                                   tr_world_pose( &result->worlds[actor], frame ) );
}

vec3 tr_rule_target( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int frame )
{
    switch ( rule->kind ) {
    case TR_CONSTRAINT_CONTACT:
        return rule->given ? rule->target : contact_target( stage, result, rule, frame );
    case TR_CONSTRAINT_RELATIVE: return relative_target( stage, result, rule, frame );
    case TR_CONSTRAINT_CENTRE_OF_MASS:
        return rule->given ? rule->target
                           : support_centre( stage, result, rule->a.actor, frame,
                                             centre_of_mass( stage, result, rule->a.actor, frame ) );
    default:
        return rule->given ? rule->target
                           : tr_group_place( group_of( stage, &rule->a ),
                                             tr_anchor_source( stage, &rule->a, frame ) );
    }
}

static double masked_length( const bool axis[3], vec3 v )
{
    return v3_length( v3( axis[0] ? v.x : 0, axis[1] ? v.y : 0, axis[2] ? v.z : 0 ) );
}

static double chord( double angle )
{
    return 0.2 * sin( 0.5 * angle ); // at 10 cm
}

// Flat: how far the change from the wanted rotation tilts the vertical.
static double orientation_error( const tr_stage *stage, const tr_result *result, const tr_rule *rule,
                                 int frame )
{
    quat now = anchor_rotation( result, &rule->a, frame );
    quat wanted = rule->given ? rule->rotation : anchor_source_rotation( stage, &rule->a, frame );
    quat change = q_mul( now, q_conj( wanted ) );
    if ( rule->flat ) {
        vec3 up = q_rotate( change, v3_y );
        return chord( acos( clampd( up.y, -1, 1 ) ) );
    }
    return chord( q_angle( now, wanted ) );
}

// Direction of a's horizontal path, from its neighbours in time.
static double direction_error( const tr_stage *stage, const tr_result *result, const tr_rule *rule,
                               int frame )
{
    int before = frame > 0 ? frame - 1 : frame, after = frame + 1 < stage->frame_count ? frame + 1 : frame;
    vec3 step = v3_horizontal( v3_sub( tr_anchor_position( stage, result, &rule->a, after ),
                                       tr_anchor_position( stage, result, &rule->a, before ) ) );
    vec3 wanted = v3_unit( v3_horizontal( rule->target ) );
    if ( v3_length( step ) < 1e-6 || v3_length( wanted ) == 0 )
        return 0; // standing still has no direction
    return chord( acos( clampd( v3_dot( v3_unit( step ), wanted ), -1, 1 ) ) );
}

static double length_error( const tr_stage *stage, const tr_result *result, const tr_rule *rule, int frame )
{
    vec3 a = tr_anchor_position( stage, result, &rule->a, frame );
    if ( rule->b.actor >= 0 || rule->b.prop >= 0 ) {
        double now = v3_distance( a, tr_anchor_position( stage, result, &rule->b, frame ) );
        double source = v3_distance( tr_anchor_source( stage, &rule->a, frame ),
                                     tr_anchor_source( stage, &rule->b, frame ) );
        return fabs( now - ( rule->given ? rule->length : source ) );
    }
    const tr_skeleton *skeleton = &result->motions[rule->a.actor].skeleton;
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
        at = centre_of_mass( stage, result, rule->a.actor, frame );
        return v3_length( v3_horizontal( v3_sub( at, tr_rule_target( stage, result, rule, frame ) ) ) );
    case TR_CONSTRAINT_RELATIVE:
        at = v3_sub( at, tr_anchor_position( stage, result, &rule->b, frame ) );
        break;
    default:
        if ( rule->direction )
            return direction_error( stage, result, rule, frame );
    }
    return masked_length( rule->axis, v3_sub( at, tr_rule_target( stage, result, rule, frame ) ) );
}

// The source is right by definition where the rule takes its target from it; a given one it may miss.
double tr_rule_source_error( const tr_stage *stage, const tr_rule *rule, int frame )
{
    if ( !rule->given )
        return 0;
    vec3 at = tr_anchor_source( stage, &rule->a, frame ), wanted = rule->target;
    if ( rule->kind == TR_CONSTRAINT_RELATIVE ) {
        at = v3_sub( at, tr_anchor_source( stage, &rule->b, frame ) );
        if ( rule->partner_space )
            wanted = q_rotate( anchor_source_rotation( stage, &rule->b, frame ), wanted );
    }
    return masked_length( rule->axis, v3_sub( at, wanted ) );
}
