// Motions that a stage takes from files: cut, at the scene's rate, lined up with its frames, joined where
// clips follow each other.
#include "stage/builder.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------- motion files

const tr_motion *tr_stage_fetch( tr_stage_builder *b, const tr_file_ref *ref, const char *field )
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
    tr_import_def import = { .skeleton = ref->skeleton,
                             .take = ref->take,
                             .unit = ref->unit,
                             .up = ref->up,
                             .rate = ref->rate,
                             .body = strcmp( field, "target.skeleton" ) == 0 };
    tr_motion motion;
    bool ok = tr_motion_read( &motion, path, &import, b->warnings, b->error );
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
        int from = tr_int_clamped( at, 0, clip->frame_count - 1 );
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
static bool cut( tr_stage_builder *b, tr_motion *out, const tr_motion *whole, const tr_file_ref *ref )
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
static bool line_up_motion( tr_stage_builder *b, tr_motion *motion, int start )
{
    tr_clip lined = { 0 };
    int end = motion->clip.frame_count > 1 ? start + motion->clip.frame_count - 1 : INT_MIN;
    b->motion_end = end > b->motion_end ? end : b->motion_end;
    bool ok = line_up( &lined, &motion->clip, b->stage, b->when, start, b->error );
    tr_clip_free( &motion->clip );
    motion->clip = lined;
    ok = ok && tr_motion_check( motion, b->error );
    if ( !ok )
        tr_motion_free( motion );
    return ok;
}

bool tr_stage_take( tr_stage_builder *b, tr_motion *out, const tr_motion *whole, const tr_file_ref *ref,
                    int start, rigid placement )
{
    if ( !cut( b, out, whole, ref ) || !line_up_motion( b, out, start ) )
        return false;
    tr_clip_place( &out->clip, placement );
    return true;
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

// Some files keep the root still and move its only child. Moves that path to the root, so that the child is
// as far from the root as in the rest pose.
void tr_carry_path_to_root( tr_motion *motion, double least )
{
    tr_clip *clip = &motion->clip;
    int children = 0;
    for ( int j = 1; j < motion->skeleton.joint_count; ++j )
        children += motion->skeleton.joints[j].parent == 0;
    if ( clip->translations == NULL || children != 1 || travel( clip, 1 ) < least )
        return;
    vec3 bone = motion->skeleton.joints[1].offset;
    for ( int f = 0; f < clip->frame_count; ++f ) {
        vec3 *moved = &clip->translations[(size_t)f * clip->joint_count + 1];
        vec3 path = q_rotate( *tr_clip_frame( clip, f ), v3_sub( *moved, bone ) );
        clip->root[f] = v3_add( clip->root[f], path );
        *moved = bone;
    }
}

// Bodies have fixed bones: where the file moves joints, a bone is the mean over its frames. Translations
// equal to that are dropped. Limbs are classified with these bones. `bones`: given bones, or NULL.
bool tr_average_offsets( tr_motion *motion, const tr_skeleton *bones, tr_error *error )
{
    tr_clip *clip = &motion->clip;
    if ( clip->translations == NULL )
        return true;
    double most = 0;
    for ( int j = 1; j < clip->joint_count; ++j ) {
        vec3 sum = v3_zero;
        for ( int f = 0; f < clip->frame_count; ++f )
            sum = v3_add( sum, clip->translations[(size_t)f * clip->joint_count + j] );
        motion->skeleton.joints[j].offset =
            bones != NULL ? bones->joints[j].offset : v3_scale( 1.0 / clip->frame_count, sum );
        most = fmax( most, travel( clip, j ) );
    }
    if ( most < TR_NO_SIZE ) {
        tr_free( clip->translations );
        clip->translations = NULL;
    }
    return tr_skeleton_classify( &motion->skeleton, error );
}

// ---------------------------------------------------------------------------------------------- clips

typedef struct sequence { // the source of a cast member and the clips that follow it
    tr_skeleton skeleton; // skeleton of the source
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
static bool add_clip( tr_stage_builder *b, sequence *s, const tr_file_ref *ref, int blend )
{
    const tr_motion *whole = tr_stage_fetch( b, ref, "source" );
    tr_motion motion;
    if ( whole == NULL || !cut( b, &motion, whole, ref ) )
        return false;
    tr_carry_path_to_root( &motion, b->stage->def.carried_path );
    bool ok = tr_average_offsets( &motion, NULL, b->error );
    ok = ok && ( s->count == 0 ? tr_skeleton_copy( &s->skeleton, &motion.skeleton, b->error )
                               : tr_sequence_match( &motion, &s->skeleton, &b->stage->def.seams, b->error ) );
    s->blends[s->count] = blend < 0 ? tr_frames_in( b->stage->def.seams.blend, b->stage->fps ) : blend;
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

static int compare_clips( const void *a, const void *b )
{
    const tr_cast_clip *p = *(const tr_cast_clip *const *)a, *q = *(const tr_cast_clip *const *)b;
    int order = strcmp( p->cast, q->cast );
    return order != 0 ? order : ( p > q ) - ( p < q );
}

bool tr_stage_sort_clips( tr_stage_builder *b )
{
    const tr_scene *scene = b->stage->scene;
    b->clips = tr_alloc( (size_t)scene->clip_count, sizeof *b->clips );
    if ( b->clips == NULL )
        return tr_error_memory( b->error );
    for ( int i = 0; i < scene->clip_count; ++i )
        b->clips[i] = &scene->clips[i];
    if ( scene->clip_count > 0 )
        qsort( b->clips, (size_t)scene->clip_count, sizeof *b->clips, compare_clips );
    return true;
}

const tr_cast_clip **tr_stage_clips( const tr_stage_builder *b, const tr_cast *cast, int *count )
{
    int low = 0, total = b->stage->scene->clip_count;
    for ( int high = total; low < high; ) {
        int middle = low + ( high - low ) / 2;
        if ( strcmp( b->clips[middle]->cast, cast->id ) < 0 )
            low = middle + 1;
        else
            high = middle;
    }
    int end = low;
    while ( end < total && strcmp( b->clips[end]->cast, cast->id ) == 0 )
        ++end;
    *count = end - low;
    return b->clips + low;
}

static bool gather_clips( tr_stage_builder *b, sequence *s, const tr_cast *cast, const tr_cast_clip **clips,
                          int count )
{
    s->clips = tr_alloc( 1 + (size_t)count, sizeof( tr_clip ) );
    s->blends = tr_alloc( 1 + (size_t)count, sizeof( int ) );
    if ( s->clips == NULL || s->blends == NULL )
        return tr_error_memory( b->error );
    if ( !add_clip( b, s, &cast->source, 0 ) )
        return false;
    for ( int i = 0; i < count; ++i )
        if ( !add_clip( b, s, &clips[i]->source, clips[i]->blend ) )
            return tr_stage_blame( b, "clips", (int)( clips[i] - b->stage->scene->clips ) );
    return even_out( s, b->error );
}

// The stage frame that shows a moment of the motion; before the first or after the last if none does.
static int frame_of( const tr_stage_builder *b, int moment )
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

static bool note_seams( tr_stage_builder *b, tr_actor *actor, const sequence *s, int start )
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
static bool join_clips( tr_stage_builder *b, tr_actor *actor, sequence *s, const tr_cast *cast )
{
    int surface_count;
    tr_surface *surfaces = tr_stage_surfaces( b->stage, false, &surface_count );
    b->field[0] = 0;
    if ( surfaces == NULL )
        return tr_error_memory( b->error );
    tr_clip_place( &s->clips[0], tr_stage_place( cast->position, cast->heading ) );
    const tr_stage_def *def = &b->stage->def;
    tr_sequence parts = { .def = &def->seams,
                          .contacts = &def->contacts,
                          .ik = &def->ik,
                          .one_stance = def->footings.one_stance,
                          .skeleton = &s->skeleton,
                          .clips = s->clips,
                          .blends = s->blends,
                          .count = s->count,
                          .surfaces = surfaces,
                          .surface_count = surface_count };
    bool ok = tr_sequence_join( &actor->source.clip, &parts, b->error );
    tr_free( surfaces );
    return ok && note_seams( b, actor, s, cast->start ) &&
           tr_skeleton_copy( &actor->source.skeleton, &s->skeleton, b->error ) &&
           line_up_motion( b, &actor->source, cast->start );
}

bool tr_stage_take_source( tr_stage_builder *b, tr_actor *actor, const tr_cast *cast )
{
    int count;
    const tr_cast_clip **clips = tr_stage_clips( b, cast, &count );
    if ( count == 0 ) {
        const tr_motion *whole = tr_stage_fetch( b, &cast->source, "source" );
        return whole != NULL && tr_stage_take( b, &actor->source, whole, &cast->source, cast->start,
                                               tr_stage_place( cast->position, cast->heading ) );
    }
    sequence s = { 0 };
    bool ok = gather_clips( b, &s, cast, clips, count ) && join_clips( b, actor, &s, cast );
    free_sequence( &s );
    return ok;
}

// ----------------------------------------------------------------------------------------------- warnings

typedef struct jump { // between two frames
    int frame, joint; // joint -1: the root leaps
    double size;      // radians, or metres
    int count;        // number of all in the motion
} jump;

static void note_jump( jump *worst, int frame, int joint, double size )
{
    if ( worst->count++ == 0 )
        *worst = ( jump ){ frame, joint, size, 1 };
}

static jump find_jumps( const tr_motion *motion, const tr_source_def *def )
{
    const tr_clip *clip = &motion->clip;
    double least = fmax( def->leap, def->own_leap * tr_stature( &motion->skeleton ) ) / clip->fps;
    jump first = { 0 };
    for ( int f = 1; f < clip->frame_count; ++f ) {
        double way = v3_distance( clip->root[f], clip->root[f - 1] );
        if ( way > least )
            note_jump( &first, f, -1, way );
        for ( int j = 0; j < clip->joint_count && clip->fps >= def->least_fps; ++j ) {
            double turn = q_angle( tr_clip_frame( clip, f )[j], tr_clip_frame( clip, f - 1 )[j] );
            if ( turn > def->jump )
                note_jump( &first, f, j, turn );
        }
    }
    return first;
}

// Bones keep their length here, so what a joint moves by against its parent is lost: steps of feet that hang
// on the root, for example.
static void warn_of_shifts( const tr_stage_builder *b, int i )
{
    const tr_motion *source = &b->stage->actors[i].source;
    const tr_clip *clip = &source->clip;
    double most = b->stage->def.sources.shift * tr_stature( &source->skeleton );
    int joint = -1;
    for ( int f = 0; clip->translations != NULL && f < clip->frame_count; ++f )
        for ( int j = 1; j < clip->joint_count; ++j ) {
            double off = v3_distance( clip->translations[(size_t)f * (size_t)clip->joint_count + (size_t)j],
                                      source->skeleton.joints[j].offset );
            if ( off > most )
                most = off, joint = j;
        }
    if ( joint >= 0 )
        tr_log_add( b->warnings,
                    "%s: %s of its source moves by up to %.2f m against its parent; bones keep their length "
                    "here, so that is lost",
                    b->stage->scene->cast[i].id, source->skeleton.joints[joint].name, most );
}

void tr_stage_warn_of_sources( const tr_stage_builder *b )
{
    const tr_stage *stage = b->stage;
    const tr_scene *scene = stage->scene;
    for ( int i = 0; i < stage->actor_count && b->warnings != NULL; ++i ) {
        const tr_motion *source = &stage->actors[i].source;
        warn_of_shifts( b, i );
        jump first = find_jumps( source, &stage->def.sources );
        char more[48] = "";
        if ( first.count == 0 )
            continue;
        if ( first.count > 1 )
            snprintf( more, sizeof more, ", the first of %d jumps", first.count );
        int frame = scene->first + first.frame;
        if ( first.joint < 0 )
            tr_log_add( b->warnings,
                        "%s: its source leaps by %.2f m from frame %d to %d%s; clean it or cut it there",
                        scene->cast[i].id, first.size, frame - 1, frame, more );
        else
            tr_log_add( b->warnings,
                        "%s: %s of its source turns by %.0f° from frame %d to %d%s; clean it or cut it there",
                        scene->cast[i].id, source->skeleton.joints[first.joint].name, first.size * 180 / M_PI,
                        frame - 1, frame, more );
    }
    if ( stage->times == NULL && b->motion_end > INT_MIN && b->motion_end < scene->last )
        tr_log_add( b->warnings,
                    "the scene goes on to frame %d, but its last motion ends at frame %d: end poses are held",
                    scene->last, b->motion_end );
    if ( stage->actor_count > 0 && b->motion_end == INT_MIN && scene->last > scene->first )
        tr_log_add( b->warnings,
                    "the scene goes on to frame %d, but no source has more than one frame: poses are held",
                    scene->last );
}
