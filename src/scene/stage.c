// From a document to something that can be solved: load, cut, resample, place, scale, map, label.
#include "scene/scene_private.h"
#include "scene/times.h"

#include <stdio.h>
#include <string.h>

typedef struct builder {
    tr_stage *stage;
    const char *file; // the scene's own path or NULL
    tr_library *library;
    tr_log *warnings;
    tr_error *error;
    const double *when; // [frame_count] moments of the motion at hand, NULL: frame by frame
    char field[96];     // of the element at hand that trouble now would come from, "" = all of it
} builder;

// ------------------------------------------------------------------------------------------- motion files

// The whole motion of a file, from the library or from disk (and then kept in the library).
static const tr_motion *fetch( builder *b, const tr_file_ref *ref, const char *field )
{
    snprintf( b->field, sizeof b->field, "%s.file", field );
    const tr_motion *known = tr_library_find_file( b->library, ref );
    if ( known != NULL )
        return known;
    char *path = b->file != NULL ? tr_path_beside( b->file, ref->file ) : tr_string_copy( ref->file );
    if ( path == NULL ) {
        tr_error_memory( b->error );
        return NULL;
    }
    tr_bvh_import import = tr_default_bvh_import();
    import.unit = ref->unit;
    import.up = ref->up;
    tr_motion motion;
    bool ok = tr_motion_load( &motion, path, &import, b->warnings, b->error );
    tr_free( path );
    if ( !ok || !tr_library_add_file( b->library, ref, &motion, b->error ) )
        return NULL;
    return tr_library_find_file( b->library, ref );
}

static void blend_frames( tr_clip *out, int frame, const tr_clip *clip, int from, double share )
{
    size_t joints = (size_t)clip->joint_count, at = (size_t)frame * joints, a = (size_t)from * joints,
           b = a + joints;
    for ( size_t j = 0; j < joints; ++j ) {
        out->rotations[at + j] = q_slerp( clip->rotations[a + j], clip->rotations[b + j], share );
        if ( clip->translations != NULL )
            out->translations[at + j] =
                v3_lerp( clip->translations[a + j], clip->translations[b + j], share );
    }
    out->root[frame] = v3_lerp( clip->root[from], clip->root[from + 1], share );
}

// Stage frames of a clip that starts at scene frame `start`: end poses are held outside.
// With `when`, the moments between frames are blended.
static bool line_up( tr_clip *out, const tr_clip *clip, const tr_stage *stage, const double *when, int start,
                     tr_error *error )
{
    if ( !tr_clip_alloc( out, stage->frame_count, clip->joint_count, stage->fps, clip->translations != NULL,
                         error ) )
        return false;
    size_t joints = (size_t)clip->joint_count;
    for ( int f = 0; f < stage->frame_count; ++f ) {
        double at =
            clampd( ( when != NULL ? when[f] : f ) + stage->scene->first - start, 0, clip->frame_count - 1 );
        int from = (int)at;
        if ( at > from ) {
            blend_frames( out, f, clip, from, at - from );
            continue;
        }
        memcpy( tr_clip_frame( out, f ), tr_clip_frame( clip, from ), joints * sizeof( quat ) );
        out->root[f] = clip->root[from];
        if ( clip->translations != NULL )
            memcpy( out->translations + (size_t)f * joints, clip->translations + (size_t)from * joints,
                    joints * sizeof( vec3 ) );
    }
    return true;
}

// Cut to the wanted frames, bring to the scene's rate, line up with the stage, place in the world.
static bool take( builder *b, tr_motion *out, const tr_motion *whole, const tr_file_ref *ref, int start,
                  rigid placement )
{
    *out = ( tr_motion ){ 0 };
    int last = ref->last < 0 ? whole->clip.frame_count - 1 : ref->last;
    if ( whole->clip.frame_count == 0 )
        return tr_error_at( b->error, ref->file, 0, 0, "the file has a skeleton but no frames of motion" );
    if ( ref->first > last || last >= whole->clip.frame_count )
        return tr_error_at( b->error, ref->file, 0, 0,
                            "frames %d to %d are asked for, but the file has frames 0 to %d", ref->first,
                            last, whole->clip.frame_count - 1 );
    tr_clip cut = { 0 }, rated = { 0 };
    bool ok = tr_skeleton_copy( &out->skeleton, &whole->skeleton, b->error ) &&
              tr_clip_slice( &cut, &whole->clip, ref->first, last, b->error ) &&
              tr_clip_resample( &rated, &cut, b->stage->fps, b->error ) &&
              line_up( &out->clip, &rated, b->stage, b->when, start, b->error ) &&
              tr_motion_check( out, b->error );
    tr_clip_free( &cut );
    tr_clip_free( &rated );
    if ( !ok ) {
        tr_motion_free( out );
        return false;
    }
    tr_clip_place( &out->clip, placement );
    return true;
}

static rigid placement_of( vec3 position, double heading )
{
    return ( rigid ){ q_axis_angle( v3_y, heading * TR_DEGREE ), position };
}

// --------------------------------------------------------------------------------- moving joint offsets

static double travel( const tr_clip *clip, int joint )
{
    vec3 first = clip->translations[joint];
    double most = 0;
    for ( int f = 1; f < clip->frame_count; ++f )
        most = fmax( most, v3_distance( clip->translations[(size_t)f * clip->joint_count + joint], first ) );
    return most;
}

// Some files keep the root still and move its only child. The path then belongs to the root: carry it over,
// so that the child is as far from the root as in the rest pose.
static void carry_path_to_root( tr_motion *motion )
{
    tr_clip *clip = &motion->clip;
    int children = 0;
    for ( int j = 1; j < motion->skeleton.joint_count; ++j )
        children += motion->skeleton.joints[j].parent == 0;
    if ( clip->translations == NULL || children != 1 || travel( clip, 1 ) < 0.01 )
        return;
    vec3 bone = motion->skeleton.joints[1].offset;
    for ( int f = 0; f < clip->frame_count; ++f ) {
        vec3 *moved = &clip->translations[(size_t)f * clip->joint_count + 1];
        vec3 path = q_rotate( *tr_clip_frame( clip, f ), v3_sub( *moved, bone ) );
        clip->root[f] = v3_add( clip->root[f], path );
        *moved = bone;
    }
}

// A body has fixed bones: where the file moves joints, the mean over its frames is the bone. Translations
// that say nothing more than that are dropped.
static void settle_offsets( tr_motion *motion )
{
    tr_clip *clip = &motion->clip;
    if ( clip->translations == NULL )
        return;
    double most = 0;
    for ( int j = 1; j < clip->joint_count; ++j ) {
        vec3 sum = v3_zero;
        for ( int f = 0; f < clip->frame_count; ++f )
            sum = v3_add( sum, clip->translations[(size_t)f * clip->joint_count + j] );
        motion->skeleton.joints[j].offset = v3_scale( 1.0 / clip->frame_count, sum );
        most = fmax( most, travel( clip, j ) );
    }
    if ( most < 1e-6 ) {
        tr_free( clip->translations );
        clip->translations = NULL;
    }
}

// ---------------------------------------------------------------------------------------------- actors

// The motion of the target's own file, for joints that nothing drives: in the target's size, placed.
static bool take_own( builder *b, tr_actor *actor, const tr_cast *cast, const tr_motion *file )
{
    tr_motion own;
    rigid nowhere = { q_identity, v3_zero };
    if ( !take( b, &own, file, &cast->target.skeleton, cast->start, nowhere ) )
        return false;
    carry_path_to_root( &own );
    for ( int f = 0; f < own.clip.frame_count; ++f )
        own.clip.root[f] = v3_scale( cast->target.scale, own.clip.root[f] );
    tr_free( own.clip.translations );
    own.clip.translations = NULL;
    tr_clip_place( &own.clip, placement_of( cast->position, cast->heading ) );
    actor->own = own.clip;
    tr_skeleton_free( &own.skeleton );
    return true;
}

static bool build_target( builder *b, tr_actor *actor, const tr_cast *cast )
{
    const tr_target *t = &cast->target;
    tr_body_scale scale = { t->scale, t->limbs, t->limb_count, t->girths, t->girth_count };
    const tr_skeleton *like = &actor->source.skeleton;
    if ( t->skeleton.file[0] != 0 ) {
        const tr_motion *file = fetch( b, &t->skeleton, "target.skeleton" );
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

static bool build_map( builder *b, tr_actor *actor, const tr_cast *cast )
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
    if ( ok && actor->map[0] < 0 && actor->own.frame_count == 0 )
        actor->map[0] = 0; // whatever carries one body carries the other
    return ok;
}

// Files are in the library by now; the frames are the whole file's, so that a T-pose before the first one
// taken can be found.
static bool align( builder *b, tr_actor *actor, const tr_cast *cast )
{
    const tr_motion *source = tr_library_find_file( b->library, &cast->source ), *target = NULL;
    if ( cast->target.skeleton.file[0] != 0 )
        target = tr_library_find_file( b->library, &cast->target.skeleton );
    snprintf( b->field, sizeof b->field, "target.reference" );
    if ( cast->target.reference >= source->clip.frame_count )
        return tr_error_set( b->error, "frame %d is asked for, but the source's file has frames 0 to %d",
                             cast->target.reference, source->clip.frame_count - 1 );
    return tr_actor_align( actor, &source->clip, target != NULL ? &target->clip : NULL,
                           cast->target.reference, b->error );
}

static bool build_actor( builder *b, tr_actor *actor, const tr_cast *cast )
{
    const tr_motion *whole = fetch( b, &cast->source, "source" );
    if ( whole == NULL || !take( b, &actor->source, whole, &cast->source, cast->start,
                                 placement_of( cast->position, cast->heading ) ) )
        return false;
    carry_path_to_root( &actor->source );
    settle_offsets( &actor->source );
    if ( !build_target( b, actor, cast ) || !build_map( b, actor, cast ) || !align( b, actor, cast ) ||
         !tr_world_build( &actor->world, &actor->source, b->error ) )
        return false;
    double source_leg = tr_skeleton_leg_length( &actor->source.skeleton );
    double source_height = tr_stature( &actor->source.skeleton );
    actor->leg_ratio = source_leg > 1e-6 ? tr_skeleton_leg_length( &actor->target ) / source_leg : 1.0;
    actor->height_ratio = source_height > 1e-6 ? tr_stature( &actor->target ) / source_height : 1.0;
    return true;
}

static bool build_prop( builder *b, tr_stage_prop *out, const tr_prop *prop )
{
    int frames = b->stage->frame_count;
    rigid placement = placement_of( prop->position, prop->heading );
    out->size = prop->size;
    out->scale = prop->scale;
    out->track = tr_alloc( (size_t)frames, sizeof( rigid ) );
    if ( out->track == NULL )
        return tr_error_memory( b->error );
    for ( int f = 0; f < frames; ++f )
        out->track[f] = placement;
    if ( prop->track.file[0] == 0 )
        return true;
    const tr_motion *whole = fetch( b, &prop->track, "track" );
    tr_motion motion;
    if ( whole == NULL || !take( b, &motion, whole, &prop->track, prop->start, placement ) )
        return false;
    for ( int f = 0; f < frames; ++f )
        out->track[f] = ( rigid ){ *tr_clip_frame( &motion.clip, f ), motion.clip.root[f] };
    tr_motion_free( &motion );
    return true;
}

// --------------------------------------------------------------------------------------------- contacts

static bool label_contacts( builder *b )
{
    tr_stage *stage = b->stage;
    int count = 1 + stage->prop_count + stage->scene->obstacle_count;
    tr_surface *surfaces = tr_alloc( (size_t)count, sizeof( tr_surface ) );
    if ( surfaces == NULL )
        return tr_error_memory( b->error );
    surfaces[0] = ( tr_surface ){ .kind = TR_SURFACE_GROUND, .height = stage->ground };
    for ( int i = 0; i < stage->prop_count; ++i )
        surfaces[1 + i] = ( tr_surface ){
            TR_SURFACE_PROP, i, 0, stage->props[i].size, stage->props[i].track, stage->frame_count };
    for ( int i = 0; i < stage->scene->obstacle_count; ++i )
        surfaces[1 + stage->prop_count + i] = ( tr_surface ){
            TR_SURFACE_ENVIRONMENT, i, 0, stage->scene->obstacles[i].size, &stage->obstacles[i], 1 };
    tr_contact_def def = tr_default_contact_def();
    bool ok = true;
    for ( int i = 0; i < stage->actor_count && ok; ++i ) {
        tr_actor *actor = &stage->actors[i];
        ok = tr_contacts_label( &actor->contacts, &actor->source.skeleton, &actor->world, stage->fps,
                                surfaces, count, &def, b->error );
    }
    tr_free( surfaces );
    return ok;
}

// ------------------------------------------------------------------------------------------------ stage

static bool allocate( builder *b )
{
    tr_stage *stage = b->stage;
    const tr_scene *scene = stage->scene;
    stage->actors = tr_alloc( (size_t)scene->cast_count, sizeof( tr_actor ) );
    stage->props = tr_alloc( (size_t)scene->prop_count, sizeof( tr_stage_prop ) );
    stage->obstacles = tr_alloc( (size_t)scene->obstacle_count, sizeof( rigid ) );
    return ( stage->actors != NULL && stage->props != NULL && stage->obstacles != NULL ) ||
           tr_error_memory( b->error );
}

// An error inside a file names its own line there. Any other gets the path of the field behind it, before the
// name of the file it may be about.
static bool blame( builder *b, const char *list, int index )
{
    if ( b->error == NULL || b->error->line > 0 || b->error->path[0] != 0 )
        return false;
    char path[128];
    tr_error inner = *b->error;
    snprintf( path, sizeof path, "%s[%d]%s%s", list, index, b->field[0] != 0 ? "." : "", b->field );
    return tr_error_path( b->error, b->file, path, "%s%s%s", inner.file, inner.file[0] != 0 ? ": " : "",
                          inner.message );
}

// Layers of kind retime: from here on everything is on the new time.
static bool move_in_time( builder *b )
{
    tr_stage *stage = b->stage;
    if ( !tr_times_build( &stage->times, stage->scene, b->file, b->error ) )
        return false;
    if ( stage->times != NULL ) {
        stage->scene = &stage->times->scene;
        stage->frame_count = stage->scene->last - stage->scene->first + 1;
    }
    return true;
}

static void set_clock( builder *b, int node )
{
    b->when = b->stage->times != NULL ? b->stage->times->when[node] : NULL;
}

static bool build( builder *b )
{
    tr_stage *stage = b->stage;
    if ( !tr_scene_check( stage->scene, b->file, b->error ) || !move_in_time( b ) || !allocate( b ) )
        return false;
    const tr_scene *scene = stage->scene;
    stage->actor_count = scene->cast_count; // zeroed actors can be freed
    stage->prop_count = scene->prop_count;
    for ( int i = 0; i < stage->actor_count; ++i ) {
        set_clock( b, i );
        if ( !build_actor( b, &stage->actors[i], &scene->cast[i] ) )
            return blame( b, "cast", i );
    }
    for ( int i = 0; i < stage->prop_count; ++i ) {
        set_clock( b, stage->actor_count + i );
        if ( !build_prop( b, &stage->props[i], &scene->props[i] ) )
            return blame( b, "props", i );
    }
    for ( int i = 0; i < scene->obstacle_count; ++i )
        stage->obstacles[i] = placement_of( scene->obstacles[i].position, scene->obstacles[i].heading );
    return label_contacts( b ) && tr_stage_bind( stage, b->file, b->warnings, b->error ) &&
           tr_stage_group( stage, b->error ) && tr_stage_lead( stage, b->error ) &&
           tr_stage_automate( stage, b->error ) && tr_stage_grab( stage, b->file, b->warnings, b->error );
}

bool tr_stage_build( tr_stage *out, const tr_scene *scene, const char *file, tr_library *library,
                     tr_log *warnings, tr_error *error )
{
    *out = ( tr_stage ){ .scene = scene,
                         .frame_count = scene->last - scene->first + 1,
                         .fps = scene->fps,
                         .ground = scene->ground };
    builder b = { .stage = out, .file = file, .library = library, .warnings = warnings, .error = error };
    if ( build( &b ) )
        return true;
    tr_stage_free( out );
    return false;
}

void tr_stage_free( tr_stage *stage )
{
    for ( int i = 0; i < stage->actor_count; ++i ) {
        tr_actor *actor = &stage->actors[i];
        tr_motion_free( &actor->source );
        tr_world_free( &actor->world );
        tr_body_free( &actor->source_body );
        tr_skeleton_free( &actor->target );
        tr_body_free( &actor->body );
        tr_joint_map_free( actor );
        tr_free( actor->align );
        tr_footings_free( actor );
        tr_clip_free( &actor->own );
        tr_contacts_free( &actor->contacts );
    }
    for ( int i = 0; i < stage->prop_count; ++i )
        tr_free( stage->props[i].track );
    tr_times_free( stage->times );
    tr_stage_release( stage );
    tr_free( stage->actors );
    tr_free( stage->props );
    tr_free( stage->obstacles );
    tr_free( stage->groups );
    tr_free( stage->rules );
    tr_free( stage->ways );
    *stage = ( tr_stage ){ 0 };
}
