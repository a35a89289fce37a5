#include "compose/compose.h"

#include <string.h>

tr_compose_def tr_default_compose_def( void )
{
    return ( tr_compose_def ){ .bodies = true, .things = true, .figures = true };
}

// Capsules of a body in its rest pose, each carried by the upper joint of its bone.
static bool cover_bones( tr_facets *out, const tr_skeleton *skeleton, const tr_body *body )
{
    size_t joints = (size_t)skeleton->joint_count;
    tr_pose rest = { tr_alloc( joints, sizeof( quat ) ), tr_alloc( joints, sizeof( vec3 ) ) };
    bool ok = rest.rotations != NULL && rest.positions != NULL;
    if ( ok )
        tr_forward_rest( skeleton, rest );
    for ( int i = 0; ok && i < body->capsule_count; ++i ) {
        const tr_capsule *capsule = &body->capsules[i];
        rigid at = { rest.rotations[capsule->parent], rest.positions[capsule->parent] };
        ok = tr_facets_add_capsule( out, rigid_apply( at, capsule->a ), rigid_apply( at, capsule->b ),
                                    capsule->radius, capsule->parent );
    }
    tr_free( rest.rotations );
    tr_free( rest.positions );
    return ok;
}

static bool add_body( tr_exchange *x, const tr_stage *stage, const tr_result *result, int actor,
                      const tr_compose_def *def )
{
    const tr_cast *cast = &stage->scene->cast[actor];
    const tr_motion *motion = &result->motions[actor];
    if ( !tr_array_reserve( (void **)&x->bodies, &x->body_capacity, x->body_count + 1, sizeof *x->bodies ) )
        return false;
    tr_exchange_body *body = &x->bodies[x->body_count++];
    *body = ( tr_exchange_body ){ .name = cast->id, .skeleton = &motion->skeleton, .clip = &motion->clip };
    memcpy( body->colour, cast->colour, sizeof body->colour );
    const tr_actor *of = &stage->actors[actor];
    return !def->bodies ||
           cover_bones( &body->facets, body->skeleton, result->of_source ? &of->source_body : &of->body );
}

static bool add_thing( tr_exchange *x, const char *name, const tr_shape *shape, const float colour[3],
                       const rigid *track, rigid place )
{
    if ( !tr_array_reserve( (void **)&x->things, &x->thing_capacity, x->thing_count + 1, sizeof *x->things ) )
        return false;
    tr_exchange_thing *thing = &x->things[x->thing_count++];
    *thing = ( tr_exchange_thing ){ .name = name, .track = track, .place = place };
    memcpy( thing->colour, colour, sizeof thing->colour );
    return tr_facets_add_shape( &thing->facets, shape, 0 );
}

static bool add_things( tr_exchange *x, const tr_stage *stage, const tr_result *result )
{
    const tr_scene *scene = stage->scene;
    bool ok = true;
    for ( int i = 0; ok && i < stage->prop_count; ++i ) {
        tr_shape shape = tr_stage_prop_shape( stage, i, result->of_source );
        ok = add_thing( x, scene->props[i].id, &shape, scene->props[i].colour, result->tracks[i],
                        ( rigid ){ q_identity, v3_zero } );
    }
    for ( int i = 0; ok && i < scene->obstacle_count; ++i ) {
        tr_solid solid = tr_stage_obstacle( stage, i, result->of_source );
        ok = add_thing( x, scene->obstacles[i].id, &solid.shape, scene->obstacles[i].colour, NULL, solid.at );
    }
    return ok;
}

// The name of the other side of a contact, as in scenes.
static const char *surface_of( const tr_stage *stage, const tr_rule *rule )
{
    return rule->surface_prop >= 0 ? stage->scene->props[rule->surface_prop].id
           : rule->obstacle >= 0   ? stage->scene->obstacles[rule->obstacle].id
                                   : "ground";
}

// Contacts with a single joint, of the characters that are there.
static bool add_contacts( tr_exchange *x, const tr_stage *stage, const int *bodies )
{
    for ( int i = 0; i < stage->rule_count; ++i ) {
        const tr_rule *rule = &stage->rules[i];
        int first = rule->first > 0 ? rule->first : 0,
            last = rule->last < stage->frame_count ? rule->last : stage->frame_count - 1;
        bool on = rule->kind == TR_CONSTRAINT_CONTACT && rule->a.actor >= 0 && rule->a.count > 0;
        if ( !on || bodies[rule->a.actor] < 0 || first > last )
            continue;
        if ( !tr_array_reserve( (void **)&x->contacts, &x->contact_capacity, x->contact_count + 1,
                                sizeof *x->contacts ) )
            return false;
        x->contacts[x->contact_count++] = ( tr_exchange_contact ){ bodies[rule->a.actor], rule->a.joints[0],
                                                                   surface_of( stage, rule ), first, last };
    }
    return true;
}

static bool add_figures( tr_exchange *x, const tr_stage *stage, const tr_result *result, tr_error *error )
{
    tr_measures measures = { 0 };
    tr_text text = { 0 };
    if ( !tr_measure( &measures, stage, result, error ) )
        return false;
    bool ok = tr_measures_print_json( &measures, &text ) && !text.failed;
    tr_measures_free( &measures );
    x->figures = ok ? text.data : NULL;
    if ( !ok )
        tr_text_free( &text );
    return ok || tr_error_memory( error );
}

// Thickness of a character against the file that its look comes from.
static bool find_girths( tr_exchange_body *body, const tr_target *target )
{
    const tr_skeleton *skeleton = body->skeleton;
    body->girths = tr_alloc( (size_t)skeleton->joint_count, sizeof *body->girths );
    for ( int j = 0; body->girths != NULL && j < skeleton->joint_count; ++j )
        body->girths[j] = target->scale * tr_limb_lookup( target->girths, target->girth_count,
                                                          &skeleton->limbs[skeleton->joints[j].limb] );
    return body->girths != NULL;
}

// Characters get the meshes of the file of their skeleton. If it cannot be read any more, there is a warning.
static bool add_look( tr_exchange *x, tr_exchange_body *body, const tr_cast *cast, const tr_compose_def *def,
                      tr_log *warnings, tr_error *error )
{
    const tr_file_ref *ref = tr_cast_meshes( cast );
    char *path = def->file != NULL ? tr_path_beside( def->file, ref->file ) : tr_string_copy( ref->file );
    if ( path == NULL )
        return tr_error_memory( error );
    tr_import_def import = { .skeleton = ref->skeleton, .unit = ref->unit, .up = ref->up };
    tr_error why = { 0 };
    bool named = tr_import_may_have_meshes( path ), there = named && tr_file_exists( path );
    bool ok = !there || tr_exchange_find_look( x, &body->look, path, &import, warnings, &why );
    if ( named && !there )
        tr_log_add( warnings, "%s: the meshes of %s are not there any more; its body is made of capsules",
                    path, cast->id );
    tr_free( path );
    if ( !ok && error != NULL )
        *error = why;
    if ( !ok || body->look == NULL )
        return ok;
    if ( !tr_look_fits( body->look, body->skeleton, NULL ) ) {
        tr_log_add( warnings, "%s: its skeleton is not that of %s, so its meshes are not passed on",
                    ref->file, cast->id );
        body->look = NULL;
        return true;
    }
    return find_girths( body, &cast->target ) || tr_error_memory( error );
}

static bool add_looks( tr_exchange *x, const tr_stage *stage, const int *bodies, const tr_compose_def *def,
                       tr_log *warnings, tr_error *error )
{
    bool ok = true;
    for ( int i = 0; ok && def->looks && i < stage->actor_count; ++i )
        if ( bodies[i] >= 0 )
            ok = add_look( x, &x->bodies[bodies[i]], &stage->scene->cast[i], def, warnings, error );
    return ok;
}

bool tr_compose( tr_exchange *out, const tr_stage *stage, const tr_result *result, const tr_compose_def *def,
                 tr_log *warnings, tr_error *error )
{
    *out =
        ( tr_exchange ){ .fps = stage->fps, .frame_count = stage->frame_count, .first = stage->scene->first };
    int *bodies = tr_alloc( (size_t)stage->actor_count, sizeof *bodies );
    bool ok = bodies != NULL;
    for ( int i = 0; ok && i < stage->actor_count; ++i ) {
        bool wanted = def->only == NULL || strcmp( def->only, stage->scene->cast[i].id ) == 0;
        bodies[i] = wanted ? out->body_count : -1;
        ok = !wanted || add_body( out, stage, result, i, def );
    }
    ok = ok && ( !def->things || add_things( out, stage, result ) ) && add_contacts( out, stage, bodies );
    if ( !ok )
        tr_error_memory( error );
    ok = ok && add_looks( out, stage, bodies, def, warnings, error );
    tr_free( bodies );
    ok = ok && ( !def->figures || add_figures( out, stage, result, error ) );
    if ( !ok )
        tr_exchange_free( out );
    return ok;
}

bool tr_compose_motion( tr_exchange *out, const tr_motion *motion, const char *name,
                        const tr_compose_def *def, tr_error *error )
{
    tr_body body = { 0 };
    *out = ( tr_exchange ){ .fps = motion->clip.fps, .frame_count = motion->clip.frame_count };
    if ( def->bodies && !tr_body_build( &body, &motion->skeleton, NULL, 0, error ) )
        return false;
    bool ok = tr_array_reserve( (void **)&out->bodies, &out->body_capacity, 1, sizeof *out->bodies );
    if ( ok ) {
        out->bodies[out->body_count++] =
            ( tr_exchange_body ){ .name = name, .skeleton = &motion->skeleton, .clip = &motion->clip };
        memcpy( out->bodies[0].colour, tr_cast_hue( 0 ), sizeof out->bodies[0].colour );
        ok = !def->bodies || cover_bones( &out->bodies[0].facets, &motion->skeleton, &body );
    }
    tr_body_free( &body );
    if ( !ok )
        tr_exchange_free( out );
    return ok || tr_error_memory( error );
}
