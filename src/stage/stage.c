// From a document to something that can be solved: load, cut, resample, place, scale, map, label.
#include "stage/builder.h"
#include "stage/private.h"
#include "stage/times.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

bool tr_stage_blame( tr_stage_builder *b, const char *list, int index )
{
    if ( b->error == NULL || b->error->path[0] != 0 )
        return false;
    char path[128], inner[sizeof b->error->message];
    snprintf( path, sizeof path, "%s[%d]%s%s", list, index, b->field[0] != 0 ? "." : "", b->field );
    tr_error_print( b->error, inner, sizeof inner );
    return tr_error_path( b->error, b->file, path, "%s", inner );
}

rigid tr_stage_place( vec3 position, double heading )
{
    return ( rigid ){ q_axis_angle( v3_y, heading * TR_DEGREE ), position };
}

tr_surface *tr_stage_surfaces( const tr_stage *stage, bool props, int *count )
{
    tr_surface *surfaces = tr_alloc( 1 + (size_t)stage->prop_count + (size_t)stage->scene->obstacle_count,
                                     sizeof( tr_surface ) );
    *count = 0;
    if ( surfaces == NULL )
        return NULL;
    surfaces[( *count )++] = ( tr_surface ){ .kind = TR_SURFACE_GROUND, .height = stage->ground };
    for ( int i = 0; props && i < stage->prop_count; ++i )
        surfaces[( *count )++] = ( tr_surface ){
            TR_SURFACE_PROP, i, 0, stage->props[i].shape, stage->props[i].track, stage->frame_count };
    for ( int i = 0; i < stage->scene->obstacle_count; ++i )
        surfaces[( *count )++] = ( tr_surface ){ TR_SURFACE_ENVIRONMENT, i, 0, stage->obstacle_shapes[i],
                                                 &stage->obstacles[i],   1 };
    return surfaces;
}

// ---------------------------------------------------------------------------------------------- actors

// The motion of the target's own file, for joints that nothing drives: in the target's size, placed.
static bool take_own( tr_stage_builder *b, tr_actor *actor, const tr_cast *cast, const tr_motion *file )
{
    tr_motion own;
    rigid nowhere = { q_identity, v3_zero };
    if ( !tr_stage_take( b, &own, file, &cast->target.skeleton, cast->start, nowhere ) )
        return false;
    tr_carry_path_to_root( &own, b->stage->def.carried_path );
    for ( int f = 0; f < own.clip.frame_count; ++f )
        own.clip.root[f] = v3_scale( cast->target.scale, own.clip.root[f] );
    tr_free( own.clip.translations );
    own.clip.translations = NULL;
    tr_clip_place( &own.clip, tr_stage_place( cast->position, cast->heading ) );
    actor->own = own.clip;
    tr_skeleton_free( &own.skeleton );
    return true;
}

static bool build_target( tr_stage_builder *b, tr_actor *actor, const tr_cast *cast )
{
    const tr_target *t = &cast->target;
    tr_body_scale scale = { t->scale, t->limbs, t->limb_count, t->girths, t->girth_count };
    const tr_skeleton *like = &actor->source.skeleton;
    if ( t->skeleton.file[0] != 0 ) {
        const tr_motion *file = tr_stage_fetch( b, &t->skeleton, "target.skeleton" );
        if ( file == NULL )
            return false;
        like = &file->skeleton;
        actor->foreign = true;
        if ( t->animation && !take_own( b, actor, cast, file ) )
            return false;
    }
    b->field[0] = 0;
    return tr_target_check_limbs( t, like, b->field, sizeof b->field, b->error ) &&
           tr_skeleton_scaled( &actor->target, like, &scale, b->error ) &&
           tr_body_build( &actor->body, &actor->target, t->girths, t->girth_count, b->error ) &&
           tr_body_build( &actor->source_body, &actor->source.skeleton, NULL, 0, b->error );
}

// The scene's drives of single joints override the map. *any: there are some for this body that change it.
static bool drive( tr_stage_builder *b, tr_actor *actor, const tr_cast *cast, bool *any )
{
    const tr_scene *scene = b->stage->scene;
    for ( int i = 0; i < scene->drive_count; ++i ) {
        const tr_drive *d = &scene->drives[i];
        if ( strcmp( d->cast, cast->id ) != 0 )
            continue;
        bool bad_source;
        if ( tr_joint_map_says( actor, d->joint, d->source ) )
            continue;
        if ( !tr_joint_map_drive( actor, d->joint, d->source, &bad_source ) ) {
            char path[48];
            snprintf( path, sizeof path, "drives[%d].%s", i, bad_source ? "source" : "joint" );
            return tr_error_path( b->error, b->file, path, "the %s skeleton of %s has no joint \"%s\"",
                                  bad_source ? "source" : "target", cast->id,
                                  bad_source ? d->source : d->joint );
        }
        *any = true;
    }
    return true;
}

static bool build_map( tr_stage_builder *b, tr_actor *actor, const tr_cast *cast )
{
    bool ok;
    if ( cast->mapping[0] == 0 )
        ok = tr_joint_map_suggest( actor, b->error );
    else {
        snprintf( b->field, sizeof b->field, "mapping" );
        char *path =
            b->file != NULL ? tr_path_beside( b->file, cast->mapping ) : tr_string_copy( cast->mapping );
        ok = path != NULL ? tr_joint_map_load( actor, path, b->error ) : tr_error_memory( b->error );
        tr_free( path );
    }
    bool driven = false;
    ok = ok && drive( b, actor, cast, &driven );
    if ( ok && driven && actor->turned ) { // its turns are of other joints
        tr_free( actor->align );
        actor->align = NULL;
        actor->turned = false;
    }
    // The joint that carries the path of one body drives that of the other; a root on the floor stays still.
    if ( ok && actor->map[0] < 0 && actor->own.frame_count == 0 && tr_actor_pelvis( actor ) == 0 )
        actor->map[0] = 0;
    return ok;
}

// Files are in the library by now; the frames are the whole file's, so that a T-pose before the first one
// taken can be found.
static bool align( tr_stage_builder *b, tr_actor *actor, const tr_cast *cast )
{
    const tr_motion *source = tr_library_find_file( b->library, &cast->source ), *target = NULL;
    if ( cast->target.skeleton.file[0] != 0 )
        target = tr_library_find_file( b->library, &cast->target.skeleton );
    if ( target != NULL && actor->soles == NULL &&
         !tr_actor_ground( actor, &b->stage->def.contacts, source, target,
                           b->stage->ground - cast->position.y, b->stage->def.footings.same_bone, b->error ) )
        return false;
    if ( actor->turned )
        return true;
    snprintf( b->field, sizeof b->field, "target.reference" );
    if ( cast->target.reference >= source->clip.frame_count )
        return tr_error_set( b->error, "frame %d is asked for, but the source's file has frames 0 to %d",
                             cast->target.reference, source->clip.frame_count - 1 );
    return tr_actor_align( actor, &b->stage->def.postures, &source->clip,
                           target != NULL ? &target->clip : NULL, cast->target.reference, b->error );
}

// Those of a cast member on the stage's own time; NULL: that is the stage at hand.
static const tr_skeleton *bones_before( const tr_stage_builder *b, const tr_cast *cast )
{
    const tr_stage *stage = b->stage;
    return stage->times != NULL ? &stage->times->before.actors[cast - stage->scene->cast].source.skeleton
                                : NULL;
}

static bool take_file_pose( tr_stage_builder *b, tr_actor *actor, const tr_cast *cast )
{
    if ( cast->target.skeleton.file[0] == 0 )
        return true;
    const tr_motion *file = tr_library_find_file( b->library, &cast->target.skeleton );
    size_t joints = (size_t)actor->target.joint_count;
    actor->file_pose = tr_alloc( joints, sizeof( quat ) );
    if ( actor->file_pose == NULL )
        return tr_error_memory( b->error );
    memcpy( actor->file_pose, tr_clip_frame( &file->clip, 0 ), joints * sizeof( quat ) );
    return true;
}

static bool build_actor( tr_stage_builder *b, tr_actor *actor, const tr_cast *cast )
{
    if ( !tr_stage_take_source( b, actor, cast ) )
        return false;
    const tr_motion *file = tr_library_find_file( b->library, &cast->source );
    actor->file_fps = file->clip.fps;
    actor->file_frames = file->clip.frame_count;
    tr_carry_path_to_root( &actor->source, b->stage->def.carried_path );
    if ( !tr_average_offsets( &actor->source, bones_before( b, cast ), b->error ) ||
         !build_target( b, actor, cast ) || !build_map( b, actor, cast ) || !align( b, actor, cast ) ||
         !tr_world_build( &actor->world, &actor->source, b->error ) )
        return false;
    double ( *leg )( const tr_skeleton * ) =
        tr_actor_legs_differ( actor ) ? tr_standing_leg : tr_skeleton_leg_length;
    actor->leg_ratio = tr_size_ratio( leg( &actor->target ), leg( &actor->source.skeleton ), 1 );
    actor->height_ratio =
        tr_size_ratio( tr_stature( &actor->target ), tr_stature( &actor->source.skeleton ), 1 );
    return take_file_pose( b, actor, cast ) && tr_stage_exemplify( b, actor, cast );
}

static double farthest( vec3 a )
{
    return fmax( fabs( a.x ), fmax( fabs( a.y ), fabs( a.z ) ) );
}

static bool check_reach( tr_stage_builder *b, const tr_trimesh *mesh )
{
    double reach = fmax( farthest( mesh->low ), farthest( mesh->high ) );
    if ( reach <= TR_FAR )
        return true;
    snprintf( b->field, sizeof b->field, "mesh.unit" );
    return tr_error_set( b->error, "the mesh reaches %.0f m from its origin, and at most %.0f are possible",
                         reach, TR_FAR );
}

// Copies points and meshes into the stage, since document and library may change. `corners` is the memory for
// the next polyline.
static bool build_shape( tr_stage_builder *b, tr_shape *out, tr_shape_kind kind, vec3 size,
                         const tr_form *form, vec3 **corners )
{
    tr_trimesh *mesh = &b->stage->meshes[b->stage->mesh_count];
    switch ( kind ) {
    case TR_SHAPE_SPHERE: *out = tr_shape_sphere( size.x ); return true;
    case TR_SHAPE_POLYLINE:
        memcpy( *corners, form->points, (size_t)form->point_count * sizeof( vec3 ) );
        *out = tr_shape_polyline( *corners, form->point_count, form->thickness );
        *corners += form->point_count;
        return true;
    case TR_SHAPE_MESH: {
        snprintf( b->field, sizeof b->field, "mesh.file" );
        const tr_trimesh *read = tr_library_mesh( b->library, form, b->file, b->error );
        if ( read == NULL || !check_reach( b, read ) || !tr_trimesh_copy( mesh, read, b->error ) )
            return false;
        b->stage->mesh_count++;
        *out = tr_shape_mesh( mesh, form->thickness );
        return true;
    }
    default: *out = tr_shape_box( size ); return true;
    }
}

// Points are relative to the obstacle's position, and so is its middle.
static bool build_obstacle( tr_stage_builder *b, int i, vec3 **corners )
{
    tr_stage *stage = b->stage;
    const tr_obstacle *o = &stage->scene->obstacles[i];
    tr_shape *shape = &stage->obstacle_shapes[i];
    if ( !build_shape( b, shape, o->shape, o->size, &o->form, corners ) )
        return false;
    stage->obstacles[i] = tr_stage_place( o->position, o->heading );
    stage->new_obstacles[i] = tr_stage_place( v3_add( o->position, o->move ), o->heading );
    if ( shape->kind == TR_SHAPE_BOX || shape->kind == TR_SHAPE_SPHERE )
        return true;
    stage->obstacles[i].position = rigid_apply( stage->obstacles[i], shape->middle );
    stage->new_obstacles[i].position =
        rigid_apply( stage->new_obstacles[i], v3_scale( o->scale, shape->middle ) );
    return true;
}

static bool build_prop( tr_stage_builder *b, tr_stage_prop *out, const tr_prop *prop )
{
    int frames = b->stage->frame_count;
    rigid placement = tr_stage_place( prop->position, prop->heading );
    out->scale = prop->scale;
    out->track = tr_alloc( (size_t)frames, sizeof( rigid ) );
    if ( out->track == NULL )
        return tr_error_memory( b->error );
    for ( int f = 0; f < frames; ++f )
        out->track[f] = placement;
    if ( prop->track.file[0] == 0 )
        return true;
    const tr_motion *whole = tr_stage_fetch( b, &prop->track, "track" );
    tr_motion motion;
    if ( whole == NULL || !tr_stage_take( b, &motion, whole, &prop->track, prop->start, placement ) )
        return false;
    for ( int f = 0; f < frames; ++f )
        out->track[f] = ( rigid ){ *tr_clip_frame( &motion.clip, f ), motion.clip.root[f] };
    tr_motion_free( &motion );
    return true;
}

// --------------------------------------------------------------------------------------------- contacts

static bool label_contacts( tr_stage_builder *b )
{
    tr_stage *stage = b->stage;
    int count;
    tr_surface *surfaces = tr_stage_surfaces( stage, true, &count );
    if ( surfaces == NULL )
        return tr_error_memory( b->error );
    bool ok = true;
    for ( int i = 0; i < stage->actor_count && ok; ++i ) {
        tr_actor *actor = &stage->actors[i];
        if ( actor->examples != NULL ) // the performer's
            continue;
        ok = tr_contacts_label(
            &actor->contacts,
            &( tr_contact_scene ){ &actor->source.skeleton, &actor->world, stage->fps, surfaces, count },
            &stage->def.contacts, b->error );
    }
    tr_free( surfaces );
    return ok;
}

// ------------------------------------------------------------------------------------------------ stage

// Room for what shapes point to, which stays where it is from then on.
static bool allocate_forms( tr_stage *stage )
{
    const tr_scene *scene = stage->scene;
    size_t corners = 0, meshes = 0;
    for ( int i = 0; i < scene->prop_count + scene->obstacle_count; ++i ) {
        bool prop = i < scene->prop_count;
        const tr_form *form = prop ? &scene->props[i].form : &scene->obstacles[i - scene->prop_count].form;
        corners += (size_t)form->point_count;
        meshes += form->mesh[0] != 0;
    }
    stage->corners = tr_alloc( corners, sizeof( vec3 ) );
    stage->meshes = tr_alloc( meshes, sizeof( tr_trimesh ) );
    return stage->corners != NULL && stage->meshes != NULL;
}

static bool allocate( tr_stage_builder *b )
{
    tr_stage *stage = b->stage;
    const tr_scene *scene = stage->scene;
    stage->actors = tr_alloc( (size_t)scene->cast_count, sizeof( tr_actor ) );
    stage->props = tr_alloc( (size_t)scene->prop_count, sizeof( tr_stage_prop ) );
    stage->obstacles = tr_alloc( (size_t)scene->obstacle_count, sizeof( rigid ) );
    stage->new_obstacles = tr_alloc( (size_t)scene->obstacle_count, sizeof( rigid ) );
    stage->obstacle_shapes = tr_alloc( (size_t)scene->obstacle_count, sizeof( tr_shape ) );
    return ( stage->actors != NULL && stage->props != NULL && stage->obstacles != NULL &&
             stage->new_obstacles != NULL && stage->obstacle_shapes != NULL && allocate_forms( stage ) ) ||
           tr_error_memory( b->error );
}

// Layers of kind retime: from here on everything is on the new time.
static bool move_in_time( tr_stage_builder *b )
{
    tr_stage *stage = b->stage;
    if ( !tr_times_build( &stage->times, stage, b->file, b->warnings, b->error ) )
        return false;
    if ( stage->times != NULL ) {
        stage->scene = &stage->times->scene;
        stage->frame_count = stage->scene->last - stage->scene->first + 1;
    }
    return true;
}

static void set_clock( tr_stage_builder *b, int node )
{
    b->when = b->stage->times != NULL ? b->stage->times->when[node] : NULL;
}

static bool build_all_motions( tr_stage_builder *b )
{
    tr_stage *stage = b->stage;
    const tr_scene *scene = stage->scene;
    if ( !allocate( b ) || !tr_stage_sort_clips( b ) )
        return false;
    stage->actor_count = scene->cast_count; // zeroed actors can be freed
    stage->prop_count = scene->prop_count;
    vec3 *corners = stage->corners;
    for ( int i = 0; i < scene->obstacle_count; ++i )
        if ( !build_obstacle( b, i, &corners ) )
            return tr_stage_blame( b, "environment.boxes", i );
    for ( int i = 0; i < stage->actor_count; ++i ) {
        set_clock( b, i );
        if ( !build_actor( b, &stage->actors[i], &scene->cast[i] ) )
            return tr_stage_blame( b, "cast", i );
    }
    for ( int i = 0; i < stage->prop_count; ++i ) {
        set_clock( b, stage->actor_count + i );
        const tr_prop *prop = &scene->props[i];
        if ( !build_shape( b, &stage->props[i].shape, prop->shape, prop->size, &prop->form, &corners ) ||
             !build_prop( b, &stage->props[i], prop ) )
            return tr_stage_blame( b, "props", i );
    }
    return true;
}

static bool build_motions( tr_stage_builder *b )
{
    bool ok = build_all_motions( b );
    tr_free( b->clips );
    b->clips = NULL;
    return ok;
}

// Warns of sources that hover above the ground: files do not define where their floor is.
static void warn_of_hovering( const tr_stage_builder *b )
{
    const tr_stage *stage = b->stage;
    for ( int i = 0; i < stage->actor_count && b->warnings != NULL; ++i ) {
        const tr_actor *actor = &stage->actors[i];
        const tr_cast *cast = &stage->scene->cast[i];
        double lower, height = tr_contacts_hover( &actor->source.skeleton, &actor->world, &actor->contacts,
                                                  &stage->def.contacts, stage->ground, &lower );
        if ( height > 0 )
            tr_log_add( b->warnings,
                        "%s: its toes rest %.1f cm above the floor, in the source and so in the result; "
                        "cast_place id=%s position=%.3f,%.3f,%.3f brings them down",
                        cast->id, 100 * height, cast->id, cast->position.x, cast->position.y - lower,
                        cast->position.z );
    }
}

static bool build_rules( tr_stage_builder *b )
{
    tr_stage *stage = b->stage;
    if ( !label_contacts( b ) )
        return false;
    warn_of_hovering( b );
    tr_stage_warn_of_sources( b );
    return tr_stage_bind( stage, b->file, b->warnings, b->error ) && tr_stage_group( stage, b->error ) &&
           tr_stage_find_paths( stage, b->error ) && tr_stage_automate( stage, b->error );
}

static tr_stage empty_stage( const tr_stage_def *def, const tr_scene *scene )
{
    return ( tr_stage ){ .def = *def,
                         .scene = scene,
                         .frame_count = scene->last - scene->first + 1,
                         .fps = scene->fps,
                         .ground = scene->ground };
}

// The stage on its own time comes first: bodies have the bones they have there.
static bool build_motions_twice( tr_stage_builder *b )
{
    tr_stage_builder own = *b, moved = *b;
    own.stage = &b->stage->times->before;
    *own.stage = empty_stage( &b->stage->def, &b->stage->times->document );
    moved.warnings = NULL; // said already
    return build_motions( &own ) && build_motions( &moved );
}

// The same on another time.
static bool replay_rules( tr_stage_builder *b )
{
    tr_stage *stage = b->stage, *before = &stage->times->before;
    tr_stage_builder own = *b;
    own.stage = before;
    own.warnings = NULL;
    if ( !build_rules( &own ) || !tr_stage_replay_contacts( stage, before, b->error ) ||
         !tr_stage_bind( stage, b->file, b->warnings, b->error ) ||
         !tr_stage_replay_groups( stage, before, b->error ) || !tr_stage_find_paths( stage, b->error ) ||
         !tr_stage_automate( stage, b->error ) )
        return false;
    tr_stage_replay( stage, before );
    return true;
}

static bool build( tr_stage_builder *b )
{
    tr_stage *stage = b->stage;
    return tr_scene_check( stage->scene, b->file, b->error ) && tr_stage_check_memory( b ) &&
           move_in_time( b ) && ( stage->times == NULL || tr_stage_check_memory( b ) ) && // longer now
           ( stage->times != NULL ? build_motions_twice( b ) : build_motions( b ) ) &&
           ( stage->times != NULL ? replay_rules( b ) : build_rules( b ) ) &&
           tr_stage_place_footings( stage, b->error ) &&
           tr_stage_grab( stage, b->file, b->warnings, b->error );
}

bool tr_stage_build( tr_stage *out, const tr_scene *scene, const char *file, tr_library *library,
                     tr_log *warnings, tr_error *error )
{
    tr_stage_def def = tr_default_stage_def();
    return tr_stage_build_with( out, &def, scene, file, library, warnings, error );
}

bool tr_stage_build_with( tr_stage *out, const tr_stage_def *def, const tr_scene *scene, const char *file,
                          tr_library *library, tr_log *warnings, tr_error *error )
{
    *out = empty_stage( def, scene );
    tr_stage_builder b = { .stage = out,
                           .file = file,
                           .library = library,
                           .warnings = warnings,
                           .error = error,
                           .motion_end = INT_MIN };
    out->file = file != NULL ? tr_string_copy( file ) : NULL;
    if ( file != NULL && out->file == NULL )
        return tr_error_memory( error );
    if ( build( &b ) )
        return true;
    tr_stage_free( out );
    return false;
}

tr_solid tr_stage_obstacle( const tr_stage *stage, int obstacle, bool of_source )
{
    const tr_shape *shape = &stage->obstacle_shapes[obstacle];
    if ( of_source )
        return ( tr_solid ){ stage->obstacles[obstacle], *shape };
    return ( tr_solid ){ stage->new_obstacles[obstacle],
                         tr_shape_scaled( shape, stage->scene->obstacles[obstacle].scale ) };
}

tr_shape tr_stage_prop_shape( const tr_stage *stage, int prop, bool of_source )
{
    const tr_stage_prop *p = &stage->props[prop];
    return of_source ? p->shape : tr_shape_scaled( &p->shape, p->scale );
}

static void free_actors( const tr_stage *stage )
{
    for ( int i = 0; i < stage->actor_count; ++i ) {
        tr_actor *actor = &stage->actors[i];
        tr_motion_free( &actor->source );
        tr_world_free( &actor->world );
        tr_body_free( &actor->source_body );
        tr_skeleton_free( &actor->target );
        tr_body_free( &actor->body );
        tr_joint_map_free( actor );
        tr_footings_free( actor );
        tr_clip_free( &actor->own );
        tr_contacts_free( &actor->contacts );
        tr_free( actor->seams );
        tr_free( actor->file_pose );
        tr_actor_examples_free( actor->examples );
    }
    tr_free( stage->actors );
}

void tr_stage_free( tr_stage *stage )
{
    tr_stage_release( stage );
    if ( stage->shared ) {
        *stage = ( tr_stage ){ 0 };
        return;
    }
    free_actors( stage );
    for ( int i = 0; i < stage->prop_count; ++i )
        tr_free( stage->props[i].track );
    tr_times_free( stage->times );
    tr_free( stage->props );
    tr_free( stage->obstacles );
    tr_free( stage->new_obstacles );
    tr_free( stage->obstacle_shapes );
    tr_free( stage->corners );
    for ( int i = 0; i < stage->mesh_count; ++i )
        tr_trimesh_free( &stage->meshes[i] );
    tr_free( stage->meshes );
    tr_free( stage->groups );
    tr_free( stage->rules );
    tr_free( stage->ways );
    tr_free( stage->file );
    *stage = ( tr_stage ){ 0 };
}
