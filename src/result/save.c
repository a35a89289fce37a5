// A folder of results: what other programs read, and what `troupe measure` and `troupe render` read back.
//   <id>.bvh          every character and prop, centimetres, Y up, the scene's rate
//   source/<id>.bvh   the source in the same world, rate and units, before layers move it in time; of a body
//   that
//                     moves by examples the performer's, and behind it the poses of the pairs
//   target/<id>.bvh   the target skeleton, where it came from a file of its own
//   target/<id>.map.json   and which of its joints the source's drive, turned by how much
//   scene.json        the scene with its paths pointing here, reloadable; meshes of characters stay where
//                     they are, and it names them by their whole path
//   report.json       how well every constraint was kept
// Frame numbers are the scene's in both JSON files; frame 0 of a BVH file is the scene's first.
#include "result/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double centimetre = 0.01; // metres: the unit of our BVH files

// ------------------------------------------------------------------------------------------------- props

// A prop travels as a skeleton of one joint.
static bool track_motion( tr_motion *out, const char *id, const rigid *track, int frame_count, double fps,
                          tr_error *error )
{
    *out = ( tr_motion ){ 0 };
    if ( tr_skeleton_add( &out->skeleton, id, -1, v3_zero ) < 0 )
        return tr_error_memory( error );
    if ( !tr_skeleton_classify( &out->skeleton, error ) ||
         !tr_clip_alloc( &out->clip, frame_count, 1, fps, false, error ) ) {
        tr_motion_free( out );
        return false;
    }
    for ( int f = 0; f < frame_count; ++f ) {
        out->clip.root[f] = track[f].position;
        *tr_clip_frame( &out->clip, f ) = track[f].rotation;
    }
    return true;
}

static bool save_motion( const tr_motion *motion, const char *folder, const char *sub, const char *id,
                         tr_error *error )
{
    char *path = tr_string_format( "%s/%s%s.bvh", folder, sub, id );
    if ( path == NULL )
        return tr_error_memory( error );
    bool ok = tr_motion_save( motion, path, error );
    tr_free( path );
    return ok;
}

static bool save_track( const tr_stage *stage, const rigid *track, const char *folder, const char *sub,
                        const char *id, tr_error *error )
{
    tr_motion motion;
    if ( !track_motion( &motion, id, track, stage->frame_count, stage->fps, error ) )
        return false;
    bool ok = save_motion( &motion, folder, sub, id, error );
    tr_motion_free( &motion );
    return ok;
}

// ----------------------------------------------------------------------------------------- resolved scene

static void refer( tr_file_ref *ref, const char *sub, const char *id )
{
    *ref = ( tr_file_ref ){ .unit = centimetre, .up = 'y', .last = -1 };
    snprintf( ref->file, sizeof ref->file, "%s%s.bvh", sub, id );
}

static void refer_mesh( tr_form *form, const char *id )
{
    if ( form->mesh[0] == 0 )
        return;
    memset( form->mesh, 0, sizeof form->mesh );
    snprintf( form->mesh, sizeof form->mesh, "source/%s.obj", id );
    form->unit = 1;
    form->up = 'y';
}

// Meshes of a character are not copied.
static bool refer_look( tr_cast *cast, const char *file, tr_error *error )
{
    tr_file_ref look = *tr_cast_meshes( cast );
    bool named = tr_import_may_have_meshes( look.file );
    char *path = !named         ? NULL
                 : file != NULL ? tr_path_beside( file, look.file )
                                : tr_string_copy( look.file );
    char *whole = path != NULL ? realpath( path, NULL ) : NULL;
    bool ok = !named || path != NULL || tr_error_memory( error );
    cast->target.look = ( tr_file_ref ){ .last = -1 };
    if ( whole != NULL && strlen( whole ) < TR_PATH_MAX && tr_utf8_valid( whole, strlen( whole ) ) ) {
        cast->target.look = look;
        cast->target.look.first = 0;
        cast->target.look.last = -1;
        memset( cast->target.look.file, 0, sizeof cast->target.look.file );
        snprintf( cast->target.look.file, sizeof cast->target.look.file, "%s", whole );
    }
    free( whole );
    tr_free( path );
    return ok;
}

// Of a character that moves by examples the folder holds what the motion was made of: the performer's motion
// with the poses of the pairs behind it, the pairs' poses of the target, and the joint map. Contacts are
// labelled on the performer, so they are found again.
static bool has_map( const tr_scene *scene, const tr_cast *cast )
{
    bool driven = false;
    for ( int i = 0; i < scene->drive_count; ++i )
        driven |= strcmp( scene->drives[i].cast, cast->id ) == 0;
    return driven || cast->mapping[0] != 0 || cast->target.skeleton.file[0] != 0;
}

// Drives are in the maps. Those of characters that move by examples stay: they say which joints do not.
static void resolve_drives( tr_scene *scene )
{
    int kept = 0;
    for ( int i = 0; i < scene->drive_count; ++i ) {
        int cast = tr_scene_find_cast( scene, scene->drives[i].cast );
        if ( tr_scene_exemplifies( scene, &scene->cast[cast] ) )
            scene->drives[kept++] = scene->drives[i];
    }
    scene->drive_count = kept;
}

// The pairs that count: mirrored and turned poses are frames of the folder's files. Behind the frames that
// the stage shows stand those of the pairs.
static void resolve_examples( tr_scene *out, const tr_stage *own )
{
    int kept = 0, parts = 0;
    for ( int i = 0; i < own->actor_count; ++i ) {
        const tr_actor_examples *e = own->actors[i].examples;
        for ( int k = 0; e != NULL && k < e->pair_count; ++k ) { // pairs are in the order of the list
            tr_example example =
                tr_default_example( own->scene->examples[e->pairs[k]].id, own->scene->cast[i].id );
            example.source = e->frames[k] >= 0 ? e->frames[k] : own->frame_count + k;
            example.target = e->own.frame_count + k;
            out->examples[kept++] = example;
        }
    }
    out->example_count = kept;
    for ( int p = 0; p < out->part_count; ++p )
        if ( own->actors[tr_scene_find_cast( own->scene, out->parts[p].cast )].examples != NULL )
            out->parts[parts++] = out->parts[p];
    out->part_count = parts;
}

// The same scene with the same frame numbers, standing on the files of the folder: every clip starts at the
// scene's first frame, in the world.
static bool resolve( tr_scene *out, const tr_stage *stage, tr_error *error )
{
    if ( !tr_scene_copy( out, tr_stage_own_time( stage )->scene, error ) )
        return false;
    for ( int i = 0; i < out->cast_count; ++i ) {
        tr_cast *cast = &out->cast[i];
        if ( !refer_look( cast, stage->file, error ) ) {
            tr_scene_free( out );
            return false;
        }
        refer( &cast->source, "source/", cast->id );
        const tr_actor_examples *e = tr_stage_own_time( stage )->actors[i].examples;
        if ( e != NULL )
            cast->source.last = tr_stage_own_time( stage )->frame_count - 1;
        if ( has_map(
                 stage->scene,
                 &stage->scene->cast[i] ) ) // also of what was found in frames that are not there any more
            snprintf( cast->mapping, sizeof cast->mapping, "target/%s.map.json", cast->id );
        if ( cast->target.skeleton.file[0] != 0 )
            refer( &cast->target.skeleton, "target/", cast->id );
        if ( e != NULL && e->own.frame_count > 0 )
            cast->target.skeleton.last = e->own.frame_count - 1;
        cast->target.reference = -1;
        cast->position = v3_zero;
        cast->heading = 0;
        cast->start = out->first;
    }
    out->clip_count = 0; // joined in the sources
    resolve_drives( out );
    resolve_examples( out, tr_stage_own_time( stage ) );
    for ( int p = 0; p < out->prop_count; ++p ) {
        refer( &out->props[p].track, "source/", out->props[p].id );
        out->props[p].position = v3_zero;
        out->props[p].heading = 0;
        out->props[p].start = out->first;
        refer_mesh( &out->props[p].form, out->props[p].id );
    }
    for ( int o = 0; o < out->obstacle_count; ++o )
        refer_mesh( &out->obstacles[o].form, out->obstacles[o].id );
    return true;
}

static bool save_mesh( const tr_shape *shape, const char *folder, const char *id, tr_error *error )
{
    if ( shape->mesh == NULL )
        return true;
    char *path = tr_string_format( "%s/source/%s.obj", folder, id );
    bool ok = path != NULL ? tr_obj_save( shape->mesh, path, error ) : tr_error_memory( error );
    tr_free( path );
    return ok;
}

// The target as it was before it was scaled: what its limbs are goes by these bones, and the scene scales
// them again.
static bool unscale( tr_skeleton *out, const tr_actor *actor, const tr_target *target, tr_error *error )
{
    tr_target inverse = *target;
    for ( int i = 0; i < inverse.limb_count; ++i )
        inverse.limbs[i].value = 1.0 / inverse.limbs[i].value;
    tr_body_scale scale = {
        .scale = 1.0 / target->scale, .limbs = inverse.limbs, .limb_count = inverse.limb_count };
    return tr_skeleton_scaled( out, &actor->target, &scale, error );
}

// The performer's motion, and behind it the poses of all pairs.
static bool save_performer( const tr_stage *own, int i, const char *folder, tr_error *error )
{
    const tr_actor_examples *e = own->actors[i].examples;
    const tr_skeleton *body = &e->performer.skeleton;
    tr_motion all = { 0 };
    int joints = body->joint_count, frames = own->frame_count;
    bool ok = tr_skeleton_copy( &all.skeleton, body, error ) &&
              tr_clip_alloc( &all.clip, frames + e->pair_count, joints, own->fps, false, error );
    if ( ok ) {
        memcpy( all.clip.rotations, e->performer.clip.rotations,
                (size_t)frames * (size_t)joints * sizeof( quat ) );
        memcpy( all.clip.root, e->performer.clip.root, (size_t)frames * sizeof( vec3 ) );
    }
    for ( int k = 0; ok && k < e->pair_count; ++k ) {
        const quat *world = e->sources[k].rotations;
        quat *local = tr_clip_frame( &all.clip, frames + k );
        all.clip.root[frames + k] = e->sources[k].positions[0];
        for ( int j = 0; j < joints; ++j )
            local[j] = j == 0 ? world[0] : q_mul( q_conj( world[body->joints[j].parent] ), world[j] );
    }
    ok = ok && save_motion( &all, folder, "source/", own->scene->cast[i].id, error );
    tr_motion_free( &all );
    return ok;
}

// The target's own motion where it is shown, in the size of its file.
static void shrink( tr_clip *clip, double scale )
{
    for ( int f = 0; f < clip->frame_count; ++f )
        clip->root[f] = v3_scale( 1.0 / scale, clip->root[f] );
}

// The target's own motion where some joints show it, and behind it the poses of all pairs.
static bool save_pairs( const tr_stage *own, int i, const char *folder, tr_error *error )
{
    const tr_actor *actor = &own->actors[i];
    const tr_actor_examples *e = actor->examples;
    const tr_cast *cast = &own->scene->cast[i];
    size_t shown = (size_t)e->own.frame_count, joints = (size_t)actor->target.joint_count;
    tr_motion poses = { 0 };
    bool ok = unscale( &poses.skeleton, actor, &cast->target, error ) &&
              tr_clip_alloc( &poses.clip, (int)shown + e->pair_count, (int)joints, own->fps, false, error );
    if ( ok && shown > 0 ) {
        memcpy( poses.clip.rotations, e->own.rotations, shown * joints * sizeof( quat ) );
        memcpy( poses.clip.root, e->own.root, shown * sizeof( vec3 ) );
        shrink( &poses.clip, cast->target.scale );
    }
    for ( int k = 0; ok && k < e->pair_count; ++k ) {
        poses.clip.root[shown + (size_t)k] = poses.skeleton.joints[0].offset;
        memcpy( tr_clip_frame( &poses.clip, (int)shown + k ), e->targets + (size_t)k * joints,
                joints * sizeof( quat ) );
    }
    ok = ok && save_motion( &poses, folder, "target/", cast->id, error );
    tr_motion_free( &poses );
    return ok;
}

static bool save_map( const tr_stage *stage, int i, const char *folder, tr_error *error )
{
    const tr_actor_examples *e = tr_stage_own_time( stage )->actors[i].examples;
    char *path = tr_string_format( "%s/target/%s.map.json", folder, stage->scene->cast[i].id );
    bool ok = path != NULL || tr_error_memory( error );
    if ( ok )
        ok = e != NULL ? tr_file_write( path, e->map.data, e->map.size, error )
                       : tr_joint_map_save( &stage->actors[i], path, true, error );
    tr_free( path );
    return ok;
}

// Target skeletons that came from files of their own, and joint maps.
static bool save_target( const tr_stage *stage, int i, const char *folder, tr_error *error )
{
    const tr_cast *cast = &stage->scene->cast[i];
    const tr_actor *actor = &stage->actors[i];
    if ( has_map( stage->scene, cast ) && !save_map( stage, i, folder, error ) )
        return false;
    if ( actor->examples != NULL )
        return save_pairs( tr_stage_own_time( stage ), i, folder, error );
    if ( cast->target.skeleton.file[0] == 0 )
        return true;
    bool animated = actor->own.frame_count > 0;
    tr_motion rest = { 0 };
    bool ok =
        unscale( &rest.skeleton, actor, &cast->target, error ) &&
        ( animated ? tr_clip_copy( &rest.clip, &actor->own, error )
                   : tr_clip_alloc( &rest.clip, 1, actor->target.joint_count, stage->fps, false, error ) );
    for ( int j = 0; ok && !animated && j < rest.skeleton.joint_count; ++j )
        rest.clip.rotations[j] = rest.skeleton.joints[j].rest;
    if ( ok && !animated )
        rest.clip.root[0] = rest.skeleton.joints[0].offset;
    if ( ok && animated )
        shrink( &rest.clip, cast->target.scale );
    ok = ok && save_motion( &rest, folder, "target/", cast->id, error );
    tr_motion_free( &rest );
    return ok;
}

// ------------------------------------------------------------------------------------------------- report

static bool save_report( const tr_stage *stage, const tr_result *result, const char *method,
                         const char *folder, tr_error *error )
{
    tr_text text = { 0 };
    char *path = tr_string_format( "%s/report.json", folder );
    bool ok = path != NULL && tr_report_print( stage, result, method, &text );
    ok = ok ? tr_file_write( path, text.data, text.size, error ) : tr_error_memory( error );
    tr_text_free( &text );
    tr_free( path );
    return ok;
}

// --------------------------------------------------------------------------------------------- save, load

static bool make_folders( const tr_stage *stage, const char *folder, tr_error *error )
{
    bool targets = false;
    for ( int i = 0; i < stage->scene->cast_count; ++i )
        targets = targets || has_map( stage->scene, &stage->scene->cast[i] );
    char *source = tr_string_format( "%s/source", folder ), *target = tr_string_format( "%s/target", folder );
    bool ok = source != NULL && target != NULL
                  ? tr_folder_make( source, error ) && ( !targets || tr_folder_make( target, error ) )
                  : tr_error_memory( error );
    tr_free( source );
    tr_free( target );
    return ok;
}

static bool save_scene( const tr_stage *stage, const char *folder, tr_error *error )
{
    tr_scene scene;
    if ( !resolve( &scene, stage, error ) )
        return false;
    char *path = tr_string_format( "%s/scene.json", folder );
    bool ok = path != NULL ? tr_scene_save( &scene, path, error ) : tr_error_memory( error );
    tr_free( path );
    tr_scene_free( &scene );
    return ok;
}

static bool save_files( const tr_stage *stage, const tr_result *result, const char *method,
                        const char *folder, tr_error *error )
{
    const tr_stage *own = tr_stage_own_time( stage );
    if ( !make_folders( stage, folder, error ) )
        return false;
    for ( int i = 0; i < stage->actor_count; ++i ) {
        const char *id = stage->scene->cast[i].id;
        if ( !tr_progress_report( stage->progress, i, stage->actor_count, error ) ||
             !save_motion( &result->motions[i], folder, "", id, error ) ||
             !( own->actors[i].examples != NULL
                    ? save_performer( own, i, folder, error )
                    : save_motion( &own->actors[i].source, folder, "source/", id, error ) ) ||
             !save_target( stage, i, folder, error ) )
            return false;
    }
    for ( int p = 0; p < stage->prop_count; ++p ) {
        const char *id = stage->scene->props[p].id;
        if ( !save_track( stage, result->tracks[p], folder, "", id, error ) ||
             !save_track( own, own->props[p].track, folder, "source/", id, error ) ||
             !save_mesh( &stage->props[p].shape, folder, id, error ) )
            return false;
    }
    for ( int o = 0; o < stage->scene->obstacle_count; ++o )
        if ( !save_mesh( &stage->obstacle_shapes[o], folder, stage->scene->obstacles[o].id, error ) )
            return false;
    return save_scene( stage, folder, error ) && save_report( stage, result, method, folder, error );
}

// Tells the path it is given in parts.
static bool visit_file( void ( *visit )( void *context, const char *path ), void *context, const char *folder,
                        const char *name, const char *end )
{
    char *path = tr_string_format( "%s/%s%s", folder, name, end );
    if ( path == NULL )
        return false;
    visit( context, path );
    tr_free( path );
    return true;
}

bool tr_result_visit_files( const tr_scene *scene, const char *folder,
                            void ( *visit )( void *context, const char *path ), void *context )
{
    bool ok = visit_file( visit, context, folder, "scene", ".json" ) &&
              visit_file( visit, context, folder, "report", ".json" );
    for ( int i = 0; ok && i < scene->cast_count + scene->prop_count; ++i ) {
        bool prop = i >= scene->cast_count;
        const char *id = prop ? scene->props[i - scene->cast_count].id : scene->cast[i].id;
        char *source = tr_string_format( "source/%s", id ), *target = tr_string_format( "target/%s", id );
        ok = source != NULL && target != NULL && visit_file( visit, context, folder, id, ".bvh" ) &&
             visit_file( visit, context, folder, source, ".bvh" );
        if ( ok && prop && scene->props[i - scene->cast_count].form.mesh[0] != 0 )
            ok = visit_file( visit, context, folder, source, ".obj" );
        if ( ok && !prop && scene->cast[i].target.skeleton.file[0] != 0 )
            ok = visit_file( visit, context, folder, target, ".bvh" );
        if ( ok && !prop && has_map( scene, &scene->cast[i] ) )
            ok = visit_file( visit, context, folder, target, ".map.json" );
        tr_free( source );
        tr_free( target );
    }
    for ( int o = 0; ok && o < scene->obstacle_count; ++o )
        if ( scene->obstacles[o].form.mesh[0] != 0 ) {
            char *source = tr_string_format( "source/%s", scene->obstacles[o].id );
            ok = source != NULL && visit_file( visit, context, folder, source, ".obj" );
            tr_free( source );
        }
    return ok;
}

// ---------------------------------------------------------------------------------------- replacing a folder

typedef struct listing {
    size_t prefix; // bytes of the folder's path and its slash
    tr_names *names;
    bool failed;
} listing;

static void note_name( void *context, const char *path )
{
    listing *l = context;
    l->failed = l->failed || !tr_names_add( l->names, path + l->prefix );
}

// Whether the scene uses the files of its own folder, as after resolving its paths.
static bool is_resolved( const tr_scene *scene )
{
    char file[TR_PATH_MAX];
    for ( int i = 0; i < scene->cast_count; ++i ) {
        snprintf( file, sizeof file, "source/%s.bvh", scene->cast[i].id );
        if ( strcmp( scene->cast[i].source.file, file ) != 0 )
            return false;
    }
    return true;
}

// The files of earlier results: those that the scene and the report there name.
static bool list_results( const char *folder, tr_names *out )
{
    char *path = tr_string_format( "%s/scene.json", folder ),
         *report = tr_string_format( "%s/report.json", folder );
    tr_scene scene = { 0 };
    listing l = { strlen( folder ) + 1, out, false };
    bool ok = path != NULL && report != NULL;
    if ( ok && tr_file_exists( path ) ) {
        ok = tr_file_exists( report ) && tr_scene_load( &scene, path, NULL ) && is_resolved( &scene ) &&
             tr_result_visit_files( &scene, folder, note_name, &l ) && !l.failed;
        tr_scene_free( &scene );
    }
    tr_free( path );
    tr_free( report );
    return ok;
}

bool tr_result_save( const tr_stage *stage, const tr_result *result, const char *method, const char *folder,
                     tr_error *error )
{
    bool ok = false, inside = false, again = true;
    while ( again ) {
        tr_folder_draft draft;
        if ( !tr_folder_draft_open( &draft, folder, list_results, inside, error ) )
            return false;
        again = false;
        if ( save_files( stage, result, method, draft.name, error ) )
            ok = tr_folder_draft_keep( &draft, &again, error );
        else {
            tr_folder_draft_rename_error( &draft, error );
            tr_folder_draft_discard( &draft );
        }
        inside = true;
    }
    return ok;
}

static bool load_motion( tr_motion *out, const char *folder, const char *id, int joint_count, int frame_count,
                         tr_error *error )
{
    char *path = tr_string_format( "%s/%s.bvh", folder, id );
    if ( path == NULL )
        return tr_error_memory( error );
    tr_bvh_import import = tr_default_bvh_import();
    import.unit = centimetre;
    import.up = 'y';
    bool there = tr_file_exists( path );
    bool ok = there && tr_motion_load( out, path, &import, NULL, error );
    if ( !there )
        tr_error_at( error, folder, 0, 0,
                     "holds no results of this scene (there is no %s.bvh); 'troupe retarget' with -o and a "
                     "folder writes them",
                     id );
    else if ( ok && joint_count > 0 && out->skeleton.joint_count != joint_count )
        ok = tr_error_at( error, path, 0, 0, "the file has %d joints, but the scene's target has %d",
                          out->skeleton.joint_count, joint_count );
    else if ( ok && out->clip.frame_count != frame_count )
        ok = tr_error_at( error, path, 0, 0, "the file has %d frames, but the scene has %d",
                          out->clip.frame_count, frame_count );
    if ( !ok && there )
        tr_motion_free( out );
    tr_free( path );
    return ok;
}

// BVH files list joints depth first, children in order; a skeleton need not.
static bool find_places( const tr_skeleton *skeleton, int *place )
{
    int count = skeleton->joint_count;
    int *parents = tr_alloc( (size_t)count, sizeof( int ) );
    for ( int j = 0; parents != NULL && j < count; ++j )
        parents[j] = skeleton->joints[j].parent;
    bool ok = parents != NULL && tr_depth_first_places( parents, count, place );
    tr_free( parents );
    return ok;
}

// The clip of a file, in the joint order of the target it was made for.
static bool adopt( tr_motion *out, const tr_skeleton *target, const tr_motion *file, const char *id,
                   tr_error *error )
{
    const tr_clip *clip = &file->clip;
    int joints = target->joint_count;
    int *place = tr_alloc( (size_t)joints, sizeof( int ) );
    bool ok = ( place != NULL && find_places( target, place ) ) || tr_error_memory( error );
    for ( int j = 0; ok && j < joints; ++j ) {
        const tr_joint *there = &file->skeleton.joints[place[j]];
        if ( !target->joints[j].end_site && strcmp( there->name, target->joints[j].name ) != 0 )
            ok = tr_error_set( error, "%s.bvh has joint \"%.64s\" where the scene's target has \"%.64s\"", id,
                               there->name, target->joints[j].name );
    }
    ok = ok && tr_skeleton_copy( &out->skeleton, target, error ) &&
         tr_clip_alloc( &out->clip, clip->frame_count, joints, clip->fps, clip->translations != NULL, error );
    for ( int f = 0; ok && f < clip->frame_count; ++f ) {
        out->clip.root[f] = clip->root[f];
        for ( int j = 0; j < joints; ++j ) {
            size_t to = (size_t)f * (size_t)joints + (size_t)j,
                   from = (size_t)f * (size_t)joints + (size_t)place[j];
            out->clip.rotations[to] = clip->rotations[from];
            if ( clip->translations != NULL )
                out->clip.translations[to] = clip->translations[from];
        }
    }
    // Lengths are those of the file, so that a measure can find them broken.
    for ( int j = 1; ok && j < joints; ++j )
        out->skeleton.joints[j].offset = file->skeleton.joints[place[j]].offset;
    tr_free( place );
    return ok;
}

static void read_gave_way( const tr_json *list, const tr_stage *stage, tr_result *out )
{
    for ( int i = 0; *list->ok && i < tr_json_count( list ); ++i ) {
        tr_json item = tr_json_item( list, i ), id = tr_json_member( &item, "id", true );
        if ( *list->ok && !json_is_string( id.value ) )
            tr_json_fail( &id, "must be a text" );
        for ( int r = 0; *list->ok && r < stage->rule_count; ++r )
            if ( strcmp( stage->rules[r].id, json_string_value( id.value ) ) == 0 )
                out->reports[r].gave_way = true;
    }
}

// Which rules gave way, by the report. Motions of other programs come without a report.
static bool load_gave_way( tr_result *out, const tr_stage *stage, const char *folder, tr_error *error )
{
    char *path = tr_string_format( "%s/report.json", folder );
    json_t *json = NULL;
    bool ok = path != NULL || tr_error_memory( error );
    if ( ok && tr_file_exists( path ) && ( ok = tr_json_load( &json, path, error ) ) ) {
        tr_json root = tr_json_root( json, path, &ok, error ),
                list = tr_json_member( &root, "gave_way", false );
        if ( list.value != NULL )
            read_gave_way( &list, stage, out );
        json_decref( json );
    }
    tr_free( path );
    return ok;
}

static bool load_all( tr_result *out, const tr_stage *stage, const char *folder, tr_error *error )
{
    for ( int i = 0; i < stage->actor_count; ++i ) {
        const tr_skeleton *target = &stage->actors[i].target;
        const char *id = stage->scene->cast[i].id;
        tr_motion file;
        if ( !load_motion( &file, folder, id, target->joint_count, stage->frame_count, error ) )
            return false;
        bool ok = adopt( &out->motions[i], target, &file, id, error );
        tr_motion_free( &file );
        if ( !ok )
            return false;
    }
    for ( int p = 0; p < stage->prop_count; ++p ) {
        tr_motion motion;
        if ( !load_motion( &motion, folder, stage->scene->props[p].id, 0, stage->frame_count, error ) )
            return false;
        for ( int f = 0; f < stage->frame_count; ++f )
            out->tracks[p][f] = ( rigid ){ *tr_clip_frame( &motion.clip, f ), motion.clip.root[f] };
        tr_motion_free( &motion );
    }
    return tr_result_pose( out, error ) && tr_edits_load( out, stage, folder, error ) &&
           tr_result_finish( out, stage, error ) && load_gave_way( out, stage, folder, error );
}

bool tr_result_load( tr_result *out, const tr_stage *stage, const char *folder, tr_error *error )
{
    if ( !tr_result_alloc( out, stage, error ) )
        return false;
    if ( tr_folder_recover( folder, error ) && load_all( out, stage, folder, error ) )
        return true;
    tr_result_free( out );
    return false;
}
