// From a document to something that can be solved: load, cut, resample, place, scale, map, label.
#include "scene/document/times.h"
#include "scene/scene_private.h"

#include <stdio.h>
#include <string.h>

#define BLEND 0.3 // seconds on either side of a seam, unless the clip says how many frames

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

// The wanted frames at the scene's rate, where the file has them.
static bool cut( builder *b, tr_motion *out, const tr_motion *whole, const tr_file_ref *ref )
{
    *out = ( tr_motion ){ 0 };
    int last = ref->last < 0 ? whole->clip.frame_count - 1 : ref->last;
    if ( whole->clip.frame_count == 0 )
        return tr_error_at( b->error, ref->file, 0, 0, "the file has a skeleton but no frames of motion" );
    if ( ref->first > last || last >= whole->clip.frame_count )
        return tr_error_at( b->error, ref->file, 0, 0,
                            "frames %d to %d are asked for, but the file has frames 0 to %d", ref->first,
                            last, whole->clip.frame_count - 1 );
    tr_clip wanted = { 0 };
    bool ok = tr_skeleton_copy( &out->skeleton, &whole->skeleton, b->error ) &&
              tr_clip_slice( &wanted, &whole->clip, ref->first, last, b->error ) &&
              tr_clip_resample( &out->clip, &wanted, b->stage->fps, b->error );
    tr_clip_free( &wanted );
    if ( !ok )
        tr_motion_free( out );
    return ok;
}

// Lines a motion up with the stage, in place. On failure it is freed.
static bool line_up_motion( builder *b, tr_motion *motion, int start )
{
    tr_clip lined = { 0 };
    bool ok = line_up( &lined, &motion->clip, b->stage, b->when, start, b->error );
    tr_clip_free( &motion->clip );
    motion->clip = lined;
    ok = ok && tr_motion_check( motion, b->error );
    if ( !ok )
        tr_motion_free( motion );
    return ok;
}

// Cut, lined up with the stage and placed in the world.
static bool take( builder *b, tr_motion *out, const tr_motion *whole, const tr_file_ref *ref, int start,
                  rigid placement )
{
    if ( !cut( b, out, whole, ref ) || !line_up_motion( b, out, start ) )
        return false;
    tr_clip_place( &out->clip, placement );
    return true;
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

// Ground and environment and, unless a clip is not yet lined up with them, props. To be freed; NULL: out of
// memory.
static tr_surface *list_surfaces( const tr_stage *stage, bool props, int *count )
{
    tr_surface *surfaces = tr_alloc( 1 + (size_t)stage->prop_count + (size_t)stage->scene->obstacle_count,
                                     sizeof( tr_surface ) );
    *count = 0;
    if ( surfaces == NULL )
        return NULL;
    surfaces[( *count )++] = ( tr_surface ){ .kind = TR_SURFACE_GROUND, .height = stage->ground };
    for ( int i = 0; props && i < stage->prop_count; ++i )
        surfaces[( *count )++] = ( tr_surface ){
            TR_SURFACE_PROP, i, 0, stage->props[i].size, stage->props[i].track, stage->frame_count };
    for ( int i = 0; i < stage->scene->obstacle_count; ++i )
        surfaces[( *count )++] = ( tr_surface ){
            TR_SURFACE_ENVIRONMENT, i, 0, stage->scene->obstacles[i].size, &stage->obstacles[i], 1 };
    return surfaces;
}

// ---------------------------------------------------------------------------------------------- clips

typedef struct sequence { // the source of a cast member and the clips that follow it
    tr_skeleton skeleton; // of the source
    tr_clip *clips;       // [count] at the scene's rate
    int *blends;          // [count] of the seam before each
    int count;
} sequence;

static void free_sequence( sequence *s )
{
    for ( int i = 0; i < s->count; ++i )
        tr_clip_free( &s->clips[i] );
    tr_free( s->clips );
    tr_free( s->blends );
    tr_skeleton_free( &s->skeleton );
}

// Adds a clip whose joints are those of the sequence; takes it over.
static bool add_clip( builder *b, sequence *s, const tr_file_ref *ref, int blend )
{
    const tr_motion *whole = fetch( b, ref, "source" );
    tr_motion motion;
    if ( whole == NULL || !cut( b, &motion, whole, ref ) )
        return false;
    carry_path_to_root( &motion );
    settle_offsets( &motion );
    bool ok = s->count == 0 ? tr_skeleton_copy( &s->skeleton, &motion.skeleton, b->error )
                            : tr_sequence_match( &motion, &s->skeleton, b->error );
    s->blends[s->count] = blend < 0 ? (int)ceil( BLEND * b->stage->fps ) : blend;
    s->clips[s->count++] = motion.clip;
    tr_skeleton_free( &motion.skeleton );
    return ok;
}

// Either all clips move joints or none does.
static bool even_out( sequence *s, tr_error *error )
{
    bool any = false;
    for ( int i = 0; i < s->count; ++i )
        any = any || s->clips[i].translations != NULL;
    for ( int i = 0; any && i < s->count; ++i ) {
        tr_clip *clip = &s->clips[i];
        size_t joints = (size_t)clip->joint_count;
        if ( clip->translations != NULL )
            continue;
        clip->translations = tr_alloc( (size_t)clip->frame_count * joints, sizeof( vec3 ) );
        if ( clip->translations == NULL )
            return tr_error_memory( error );
        for ( size_t k = 0; k < (size_t)clip->frame_count * joints; ++k )
            clip->translations[k] = s->skeleton.joints[k % joints].offset;
    }
    return true;
}

static bool gather_clips( builder *b, sequence *s, const tr_cast *cast )
{
    const tr_scene *scene = b->stage->scene;
    s->clips = tr_alloc( 1 + (size_t)scene->clip_count, sizeof( tr_clip ) );
    s->blends = tr_alloc( 1 + (size_t)scene->clip_count, sizeof( int ) );
    if ( s->clips == NULL || s->blends == NULL )
        return tr_error_memory( b->error );
    if ( !add_clip( b, s, &cast->source, 0 ) )
        return false;
    for ( int i = 0; i < scene->clip_count; ++i )
        if ( strcmp( scene->clips[i].cast, cast->id ) == 0 &&
             !add_clip( b, s, &scene->clips[i].source, scene->clips[i].blend ) )
            return blame( b, "clips", i );
    return even_out( s, b->error );
}

// The stage's frame that shows a moment of the motion at hand; one that none shows is before or behind all.
static int frame_of( const builder *b, int moment )
{
    int last = b->stage->frame_count - 1, frame = 0;
    if ( b->when == NULL )
        return moment;
    if ( moment < b->when[0] || moment > b->when[last] )
        return moment < b->when[0] ? -1 : last + 1;
    while ( frame < last && b->when[frame] < moment )
        frame++;
    return frame;
}

static bool note_seams( builder *b, tr_actor *actor, const sequence *s, int start )
{
    actor->seams = tr_alloc( (size_t)s->count, sizeof( tr_seam ) );
    if ( actor->seams == NULL )
        return tr_error_memory( b->error );
    int moment = start - b->stage->scene->first;
    for ( int i = 1; i < s->count; ++i ) {
        moment += s->clips[i - 1].frame_count - 1;
        actor->seams[actor->seam_count++] = ( tr_seam ){ frame_of( b, moment ), s->blends[i] };
    }
    return true;
}

// Joined in the world, where the ground is, then lined up.
static bool join_clips( builder *b, tr_actor *actor, sequence *s, const tr_cast *cast )
{
    int surface_count;
    tr_surface *surfaces = list_surfaces( b->stage, false, &surface_count );
    b->field[0] = 0;
    if ( surfaces == NULL )
        return tr_error_memory( b->error );
    tr_clip_place( &s->clips[0], placement_of( cast->position, cast->heading ) );
    tr_sequence parts = { &s->skeleton, s->clips, s->blends, s->count, surfaces, surface_count };
    bool ok = tr_sequence_join( &actor->source.clip, &parts, b->error );
    tr_free( surfaces );
    return ok && note_seams( b, actor, s, cast->start ) &&
           tr_skeleton_copy( &actor->source.skeleton, &s->skeleton, b->error ) &&
           line_up_motion( b, &actor->source, cast->start );
}

static bool has_clips( const tr_scene *scene, const tr_cast *cast )
{
    for ( int i = 0; i < scene->clip_count; ++i )
        if ( strcmp( scene->clips[i].cast, cast->id ) == 0 )
            return true;
    return false;
}

static bool take_source( builder *b, tr_actor *actor, const tr_cast *cast )
{
    if ( !has_clips( b->stage->scene, cast ) ) {
        const tr_motion *whole = fetch( b, &cast->source, "source" );
        return whole != NULL && take( b, &actor->source, whole, &cast->source, cast->start,
                                      placement_of( cast->position, cast->heading ) );
    }
    sequence s = { 0 };
    bool ok = gather_clips( b, &s, cast ) && join_clips( b, actor, &s, cast );
    free_sequence( &s );
    return ok;
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

// What the scene says of single joints counts before the map. Whether it says anything of this body.
static bool drive( builder *b, tr_actor *actor, const tr_cast *cast, bool *any )
{
    const tr_scene *scene = b->stage->scene;
    for ( int i = 0; i < scene->drive_count; ++i ) {
        const tr_drive *d = &scene->drives[i];
        if ( strcmp( d->cast, cast->id ) != 0 )
            continue;
        bool bad_source;
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
    bool driven = false;
    ok = ok && drive( b, actor, cast, &driven );
    if ( ok && driven && actor->turned ) { // its turns are of other joints
        tr_free( actor->align );
        actor->align = NULL;
        actor->turned = false;
    }
    // Whatever carries one body carries the other; a root on the floor that has a pelvis above it lies still.
    if ( ok && actor->map[0] < 0 && actor->own.frame_count == 0 && tr_actor_pelvis( actor ) == 0 )
        actor->map[0] = 0;
    return ok;
}

// Files are in the library by now; the frames are the whole file's, so that a T-pose before the first one
// taken can be found.
static bool align( builder *b, tr_actor *actor, const tr_cast *cast )
{
    const tr_motion *source = tr_library_find_file( b->library, &cast->source ), *target = NULL;
    if ( cast->target.skeleton.file[0] != 0 )
        target = tr_library_find_file( b->library, &cast->target.skeleton );
    if ( target != NULL && actor->soles == NULL &&
         !tr_actor_ground( actor, source, target, b->stage->ground - cast->position.y, b->error ) )
        return false;
    if ( actor->turned )
        return true;
    snprintf( b->field, sizeof b->field, "target.reference" );
    if ( cast->target.reference >= source->clip.frame_count )
        return tr_error_set( b->error, "frame %d is asked for, but the source's file has frames 0 to %d",
                             cast->target.reference, source->clip.frame_count - 1 );
    return tr_actor_align( actor, &source->clip, target != NULL ? &target->clip : NULL,
                           cast->target.reference, b->error );
}

static bool build_actor( builder *b, tr_actor *actor, const tr_cast *cast )
{
    if ( !take_source( b, actor, cast ) )
        return false;
    carry_path_to_root( &actor->source );
    settle_offsets( &actor->source );
    if ( !build_target( b, actor, cast ) || !build_map( b, actor, cast ) || !align( b, actor, cast ) ||
         !tr_world_build( &actor->world, &actor->source, b->error ) )
        return false;
    double ( *leg )( const tr_skeleton * ) =
        tr_actor_legs_differ( actor ) ? tr_standing_leg : tr_skeleton_leg_length;
    double source_leg = leg( &actor->source.skeleton );
    double source_height = tr_stature( &actor->source.skeleton );
    actor->leg_ratio = source_leg > 1e-6 ? leg( &actor->target ) / source_leg : 1.0;
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
    int count;
    tr_surface *surfaces = list_surfaces( stage, true, &count );
    if ( surfaces == NULL )
        return tr_error_memory( b->error );
    tr_contact_def def = tr_default_contact_def();
    bool ok = true;
    for ( int i = 0; i < stage->actor_count && ok; ++i ) {
        tr_actor *actor = &stage->actors[i];
        ok = tr_contacts_label(
            &actor->contacts,
            &( tr_contact_scene ){ &actor->source.skeleton, &actor->world, stage->fps, surfaces, count },
            &def, b->error );
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
    stage->new_obstacles = tr_alloc( (size_t)scene->obstacle_count, sizeof( rigid ) );
    return ( stage->actors != NULL && stage->props != NULL && stage->obstacles != NULL &&
             stage->new_obstacles != NULL ) ||
           tr_error_memory( b->error );
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
    for ( int i = 0; i < scene->obstacle_count; ++i ) {
        const tr_obstacle *o = &scene->obstacles[i];
        stage->obstacles[i] = placement_of( o->position, o->heading );
        stage->new_obstacles[i] = placement_of( v3_add( o->position, o->move ), o->heading );
    }
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

tr_stage_box tr_stage_obstacle( const tr_stage *stage, int obstacle, bool of_source )
{
    const tr_obstacle *o = &stage->scene->obstacles[obstacle];
    return of_source ? ( tr_stage_box ){ stage->obstacles[obstacle], o->size }
                     : ( tr_stage_box ){ stage->new_obstacles[obstacle], v3_scale( o->scale, o->size ) };
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
    tr_free( stage->groups );
    tr_free( stage->rules );
    tr_free( stage->ways );
    *stage = ( tr_stage ){ 0 };
}
