// Binding: constraints of the document become rules that name joints of the stage.
#include "stage/private.h"

#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------ binding

static bool fail_at( const tr_binder *b, const char *field, const char *sentence, const char *what,
                     const char *nearest )
{
    char path[96];
    snprintf( path, sizeof path, "%s[%d].%s", b->list, b->index, field );
    return tr_error_path( b->error, b->file, path,
                          nearest != NULL ? "%s \"%.96s\"; did you mean \"%.96s\"?" : "%s \"%.96s\"",
                          sentence, what, nearest );
}

static bool no_joint( const tr_binder *b, const char *field, const tr_skeleton *skeleton, const char *name )
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

// Where the point is while the body rests, in the frame of its first joint.
static vec3 point_at_rest( const tr_skeleton *skeleton, const tr_anchor *anchor )
{
    vec3 sum = anchor->offset;
    for ( int i = 1; i < anchor->count; ++i ) {
        vec3 way = v3_zero;
        for ( int j = anchor->joints[i]; j > anchor->joints[0]; j = skeleton->joints[j].parent )
            way = v3_add( way, skeleton->joints[j].offset );
        sum = v3_mad( sum, anchor->weights[i], way );
    }
    return sum;
}

// The body volume of a joint around a point in its frame; the one with the nearest surface among several.
static const tr_capsule *flesh_around( const tr_body *body, int joint, vec3 point, double *along )
{
    const tr_capsule *best = NULL;
    double least = INFINITY, t;
    for ( int i = 0; i < body->capsule_count; ++i ) {
        const tr_capsule *c = &body->capsules[i];
        double depth = c->parent == joint
                           ? tr_point_segment_distance( point, c->a, c->b, &t ) - c->radius / c->girth
                           : INFINITY;
        if ( depth < least ) {
            least = depth;
            best = c;
            *along = t;
        }
    }
    return best;
}

// Another girth moves points on the skin out or in by what was added there. Joints and points on a bone stay;
// their `cover` keeps what touches them at that distance.
static void cover_with_girth( const tr_actor *actor, tr_anchor *anchor )
{
    double t = 0;
    vec3 point = point_at_rest( &actor->target, anchor );
    const tr_capsule *c = flesh_around( &actor->body, anchor->joints[0], point, &t );
    if ( c == NULL || c->girth == 1 )
        return;
    vec3 out = v3_sub( point, v3_lerp( c->a, c->b, t ) );
    double plain = c->radius / c->girth, added = c->radius - plain;
    double share = clampd( v3_length( out ) / plain, 0, 1 );
    if ( v3_length( anchor->offset ) > 0 )
        anchor->offset = v3_mad( anchor->offset, share * added, v3_unit( out ) );
    anchor->cover = ( 1 - share ) * added;
}

// Adds a term to an anchor, and `beyond` to its offset in the frame of the first joint at rest.
static void add_term( const tr_actor *actor, tr_anchor *anchor, int joint, double weight, vec3 beyond )
{
    int at = 0;
    while ( at < anchor->count && anchor->joints[at] != joint )
        ++at;
    anchor->count += at == anchor->count;
    anchor->joints[at] = joint;
    anchor->weights[at] += weight;
    anchor->source_offset = v3_mad( anchor->source_offset, weight, beyond );
    anchor->offset = v3_mad( anchor->offset, weight, q_unrotate( actor->align[anchor->joints[0]], beyond ) );
}

// Names are of the target's joints, else of the source's: rules written for one body hold for another that
// takes its place.
static bool bind_terms( const tr_binder *b, const char *field, const tr_point *point, tr_anchor *anchor )
{
    const tr_actor *actor = &b->stage->actors[anchor->actor];
    for ( int i = 0; i < point->term_count; ++i ) {
        const char *name = point->terms[i].joint;
        vec3 beyond;
        int joint;
        if ( !tr_actor_find_joint( actor, name, &joint, &beyond ) )
            return no_joint( b, field, &actor->target, name );
        if ( i == 0 && tr_skeleton_find( &actor->target, name ) < 0 ) // the offset is in the source's frame
            anchor->offset = q_unrotate( actor->align[joint], point->offset );
        add_term( actor, anchor, joint, point->terms[i].weight, beyond );
    }
    return true;
}

bool tr_point_bind( const tr_binder *b, const char *field, const tr_point *point, tr_anchor *anchor )
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
    const tr_actor *actor = &stage->actors[anchor->actor];
    if ( !bind_terms( b, field, point, anchor ) )
        return false;
    if ( anchor->count > 0 ) {
        anchor->offset = v3_scale( tr_part_ratio( actor, anchor->joints[0] ), anchor->offset );
        cover_with_girth( actor, anchor );
    }
    return true;
}

// ------------------------------------------------------------------------------------ document's constraints

void tr_rule_set_obstacle( const tr_stage *stage, tr_rule *rule, int obstacle )
{
    int first, last;
    tr_rule_frames( stage, rule, &first, &last );
    rule->obstacle = obstacle;
    rule->above = v3_zero;
    for ( int f = first; f <= last; ++f )
        rule->above =
            v3_mad( rule->above, 1.0 / ( last - first + 1 ), tr_anchor_source( stage, &rule->a, f ) );
    rule->floor = tr_stage_source_top( stage, obstacle, rule->above );
}

static bool on_changed_obstacle( const tr_stage *stage, const tr_rule *rule )
{
    const tr_obstacle *o = rule->obstacle >= 0 ? &stage->scene->obstacles[rule->obstacle] : NULL;
    return o != NULL && ( o->scale != 1 || v3_length( o->move ) > 0 );
}

vec3 tr_rule_landing( const tr_stage *stage, const tr_rule *rule, vec3 source )
{
    if ( !on_changed_obstacle( stage, rule ) )
        return tr_group_place( tr_anchor_group( stage, &rule->a ), source );
    vec3 from = stage->obstacles[rule->obstacle].position, to = stage->new_obstacles[rule->obstacle].position;
    return v3_mad( to, stage->scene->obstacles[rule->obstacle].scale, v3_sub( source, from ) );
}

double tr_rule_floor( const tr_stage *stage, const tr_rule *rule )
{
    if ( rule->obstacle < 0 )
        return rule->onto.y + rule->floor;
    vec3 to = tr_rule_landing( stage, rule, rule->above );
    return rule->onto.y + tr_stage_target_top( stage, rule->obstacle, rule->floor, to );
}

static bool bind_surface( const tr_binder *b, const tr_constraint *c, tr_rule *rule )
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
        tr_rule_set_obstacle( b->stage, rule, obstacle );
    else
        return fail_at( b, "surface", "there is no prop or obstacle", c->surface, NULL );
    return true;
}

// Distance of the source's point from the surface of a contact; 0 inside.
static double off_surface( const tr_stage *stage, const tr_rule *rule, int frame )
{
    vec3 p = tr_anchor_source( stage, &rule->a, frame );
    double away = p.y - stage->ground;
    if ( rule->surface_prop >= 0 ) {
        const tr_stage_prop *prop = &stage->props[rule->surface_prop];
        away = tr_shape_distance( &prop->shape, prop->track[frame], p, p, 0 );
    } else if ( rule->obstacle >= 0 ) {
        tr_solid solid = tr_stage_obstacle( stage, rule->obstacle, true );
        away = tr_shape_distance( &solid.shape, solid.at, p, p, 0 );
    }
    return fmax( away, 0 );
}

// Warns of contacts that touch nothing in the source: their surface or frames are probably wrong.
static void warn_of_distance( const tr_binder *b, const tr_rule *rule )
{
    const tr_stage *stage = b->stage;
    int first, last, from = -1, to = -1;
    double most = 0;
    tr_rule_frames( stage, rule, &first, &last );
    bool touches = rule->kind == TR_CONSTRAINT_CONTACT && !rule->given && rule->first <= rule->last;
    for ( int f = first; touches && f <= last; ++f ) {
        double away = off_surface( stage, rule, f );
        if ( !( away > stage->def.rules.off_surface ) )
            continue;
        from = from < 0 ? f : from;
        to = f;
        most = fmax( most, away );
    }
    if ( from >= 0 )
        tr_log_add(
            b->warnings,
            "contact %s is up to %.2f m away from its surface in frames %d to %d: it stays where it is, "
            "touching nothing",
            rule->id, most, from + stage->scene->first, to + stage->scene->first );
}

static bool is_touch( const tr_stage *stage, const tr_rule *rule )
{
    double most = 0;
    int first, last;
    tr_rule_frames( stage, rule, &first, &last );
    for ( int f = first; f <= last; ++f )
        most = fmax( most, v3_distance( tr_anchor_source( stage, &rule->a, f ),
                                        tr_anchor_source( stage, &rule->b, f ) ) );
    return most <= stage->def.rules.touch;
}

tr_rule *tr_rule_append( tr_stage *stage )
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
                         .obstacle = -1,
                         .footing = -1 };
    return rule;
}

// Whether any frame of the constraint, with its ease, is on the stage.
static bool has_effect( const tr_stage *stage, const tr_rule *rule )
{
    int first, last;
    tr_rule_frames( stage, rule, &first, &last );
    return tr_rule_strength( rule, first ) > 0;
}

static bool bind_constraint( const tr_binder *b, const tr_constraint *c )
{
    tr_stage *stage = b->stage;
    int from = c->first, to = c->last;
    if ( c->key_count > 0 ) { // a trajectory is as long as its keys, where nothing else is said
        from = from > -TR_MAX_FRAMES ? from : tr_nearest_frame( c->keys[0].frame );
        to = to < TR_MAX_FRAMES ? to : tr_nearest_frame( c->keys[c->key_count - 1].frame );
    }
    int first = from - stage->scene->first, last = to - stage->scene->first;
    tr_rule *rule = tr_rule_append( stage );
    if ( rule == NULL )
        return tr_error_memory( b->error );
    memcpy( rule->id, c->id, sizeof rule->id );
    memcpy( rule->axis, c->axis, sizeof rule->axis );
    rule->kind = c->kind;
    rule->constraint = b->index;
    rule->first = first < 0 ? 0 : first;
    rule->last = last >= stage->frame_count ? stage->frame_count - 1 : last;
    rule->ease_in = c->ease_in;
    rule->ease_out = c->ease_out;
    rule->hard = c->hard;
    rule->weight = c->weight;
    rule->priority = c->priority;
    rule->direction = c->direction;
    rule->partner_space = c->partner_space;
    rule->partners = c->partners;
    rule->flat = c->flat;
    rule->given = c->given || c->key_count > 0;
    rule->target = c->target;
    rule->rotation = c->rotation;
    rule->length = c->length;
    if ( !tr_point_bind( b, "a", &c->a, &rule->a ) || !tr_point_bind( b, "b", &c->b, &rule->b ) ||
         !bind_surface( b, c, rule ) )
        return false;
    if ( !has_effect( stage, rule ) ) {
        stage->rule_count--;
        tr_log_add( b->warnings, "constraint %s lies outside the scene's frames %d to %d and has no effect",
                    c->id, stage->scene->first, stage->scene->last );
        return true;
    }
    if ( tr_rule_is_lift( rule ) ) { // it has done its work
        stage->rule_count--;
        return tr_stage_lift( stage, &stage->rules[stage->rule_count], b->error );
    }
    if ( !rule->hard && rule->weight == 0 )
        tr_log_add( b->warnings, "constraint %s is not hard and has weight 0: it has no effect", c->id );
    warn_of_distance( b, rule );
    rule->touch = rule->kind == TR_CONSTRAINT_RELATIVE && is_touch( stage, rule );
    return true;
}

bool tr_stage_bind( tr_stage *stage, const char *file, tr_log *warnings, tr_error *error )
{
    for ( int i = 0; i < stage->scene->constraint_count; ++i ) {
        tr_binder b = { stage, file, "constraints", i, warnings, error };
        if ( !bind_constraint( &b, &stage->scene->constraints[i] ) )
            return false;
    }
    return true;
}

// One or two actors that a rule names, each once.
static int actors_of( const tr_rule *rule, int actors[2] )
{
    int count = 0;
    if ( rule->a.actor >= 0 )
        actors[count++] = rule->a.actor;
    if ( rule->b.actor >= 0 && rule->b.actor != rule->a.actor )
        actors[count++] = rule->b.actor;
    return count;
}

bool tr_rules_by_actor( const tr_stage *stage, int **begin, int **rules )
{
    tr_lists lists = { 0 };
    int count = 2 * stage->rule_count, *keys = tr_alloc( (size_t)count, sizeof( int ) );
    for ( int r = 0; keys != NULL && r < stage->rule_count; ++r ) {
        keys[2 * r] = keys[2 * r + 1] = -1;
        actors_of( &stage->rules[r], keys + 2 * r );
    }
    bool ok = keys != NULL && tr_lists_build( &lists, keys, count, stage->actor_count );
    for ( int i = 0; ok && i < lists.first[stage->actor_count]; ++i )
        lists.items[i] /= 2;
    *begin = lists.first;
    *rules = lists.items;
    tr_free( keys );
    return ok;
}

bool tr_stage_joins( const tr_stage *stage, const bool *nodes )
{
    for ( int r = 0; r < stage->rule_count; ++r ) {
        const tr_rule *rule = &stage->rules[r];
        const int props[] = { rule->a.prop, rule->b.prop, rule->surface_prop };
        int actors[2], among = 0, others = 0;
        for ( int i = actors_of( rule, actors ) - 1; i >= 0; --i )
            *( nodes[actors[i]] ? &among : &others ) += 1;
        for ( int i = 0; i < 3; ++i )
            if ( props[i] >= 0 )
                *( nodes[stage->actor_count + props[i]] ? &among : &others ) += 1;
        if ( among > 0 && others > 0 )
            return true;
    }
    return false;
}
