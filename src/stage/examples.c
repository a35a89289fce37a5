// Bodies that move by examples. The cast member's source becomes a performer; the motion that its examples
// make, on the target's own skeleton and in the world, takes the source's place. So everything that follows
// treats the body as one that keeps its own motion. Contacts are the performer's: a foot of the target stands
// while that foot of the performer stands whose height goes with its own over the examples.
#include "stage/builder.h"

#include <stdio.h>
#include <string.h>

void tr_actor_examples_free( tr_actor_examples *examples )
{
    if ( examples == NULL )
        return;
    tr_exemplar_destroy( examples->exemplar );
    tr_motion_free( &examples->performer );
    tr_world_free( &examples->world );
    tr_body_free( &examples->body );
    tr_free( examples->pairs );
    tr_free( examples->frames );
    tr_free( examples->parts );
    tr_free( examples->chains );
    if ( examples->sources != NULL ) {
        tr_free( examples->sources[0].rotations );
        tr_free( examples->sources[0].positions );
    }
    tr_free( examples->sources );
    tr_free( examples->targets );
    tr_free( examples->made );
    tr_free( examples->soles );
    tr_free( examples->unlike );
    tr_text_free( &examples->map );
    tr_clip_free( &examples->own );
    tr_free( examples );
}

// ------------------------------------------------------------------------------------------------ pairs

typedef struct maker {
    tr_stage_builder *b;
    tr_actor *actor;
    const tr_cast *cast;
    tr_actor_examples *examples;
    const tr_motion *source_file, *target_file;
    tr_exemplar_pair pairs[TR_EXEMPLAR_PAIRS];
} maker;

static bool fail_at( const maker *m, const char *list, int index, const char *field, const tr_error *why )
{
    char path[96];
    snprintf( path, sizeof path, "%s[%d].%s", list, index, field );
    return tr_error_path( m->b->error, m->b->file, path, "%s", why->message );
}

static bool check_frame( const maker *m, int index, const char *field, int frame, const tr_motion *file )
{
    tr_error why;
    if ( frame < file->clip.frame_count )
        return true;
    tr_error_set( &why, "frame %d is asked for, but the %s's file has frames 0 to %d", frame, field,
                  file->clip.frame_count - 1 );
    return fail_at( m, "examples", index, field, &why );
}

// The stage's frame that shows a frame of the source's file; -1: none does, or it lies between two frames.
static int stage_frame( const maker *m, int frame )
{
    const tr_stage *stage = m->b->stage;
    const double rounding = 1e-6;
    double at = ( frame - m->cast->source.first ) * stage->fps / m->source_file->clip.fps + m->cast->start -
                stage->scene->first;
    int nearest = tr_nearest_frame( at );
    bool shown = m->b->when == NULL && fabs( at - nearest ) < rounding && nearest >= 0 &&
                 nearest < stage->frame_count && frame >= m->cast->source.first &&
                 ( m->cast->source.last < 0 || frame <= m->cast->source.last );
    return shown ? nearest : -1;
}

static bool counts( const maker *m, const tr_example *example )
{
    return !example->muted && strcmp( example->cast, m->cast->id ) == 0;
}

// The pose of the source's file on the bones that the performer has, mirrored if the pair is.
static bool pose_source( const maker *m, const tr_example *example, tr_pose out )
{
    const tr_skeleton *skeleton = &m->examples->performer.skeleton;
    if ( !example->mirrored ) {
        tr_forward( skeleton, &m->source_file->clip, example->source, out );
        return true;
    }
    tr_clip one;
    bool ok = tr_clip_alloc( &one, 1, skeleton->joint_count, m->source_file->clip.fps, false, m->b->error );
    if ( ok ) {
        memcpy( one.rotations, tr_clip_frame( &m->source_file->clip, example->source ),
                (size_t)skeleton->joint_count * sizeof( quat ) );
        ok = tr_pose_mirror( skeleton, one.rotations, m->b->error );
    }
    if ( ok )
        tr_forward( skeleton, &one, 0, out );
    tr_clip_free( &one );
    return ok;
}

// A frame of the target's file, with the joints turned that the pair turns.
static bool pose_target( const maker *m, int index, const tr_example *example, quat *out )
{
    const tr_skeleton *skeleton = &m->actor->target;
    size_t joints = (size_t)skeleton->joint_count;
    tr_error why;
    memcpy( out, tr_clip_frame( &m->target_file->clip, example->target ), joints * sizeof( quat ) );
    for ( const char *text = example->pose; *text != 0; ) {
        tr_turn turn;
        if ( !tr_turn_parse( &turn, &text, &why ) ) // a document has no such turn
            return fail_at( m, "examples", index, "pose", &why );
        int joint = tr_skeleton_find( skeleton, turn.joint );
        if ( joint < 0 ) {
            tr_error_set( &why, "the target skeleton of %s has no joint \"%s\"", m->cast->id, turn.joint );
            return fail_at( m, "examples", index, "pose", &why );
        }
        out[joint] = q_unit( q_mul( out[joint], q_from_vector( v3_scale( TR_DEGREE, turn.degrees ) ) ) );
    }
    return !example->mirrored || tr_pose_mirror( skeleton, out, m->b->error );
}

static bool gather_pairs( maker *m )
{
    const tr_scene *scene = m->b->stage->scene;
    tr_actor_examples *e = m->examples;
    size_t joints = (size_t)e->performer.skeleton.joint_count, count = (size_t)e->pair_count;
    e->pairs = tr_alloc( count, sizeof( int ) );
    e->frames = tr_alloc( count, sizeof( int ) );
    e->sources = tr_alloc( count, sizeof( tr_pose ) );
    e->targets = tr_alloc( count * (size_t)m->actor->target.joint_count, sizeof( quat ) );
    quat *rotations = tr_alloc( count * joints, sizeof( quat ) );
    vec3 *positions = tr_alloc( count * joints, sizeof( vec3 ) );
    if ( e->sources != NULL )
        e->sources[0] = ( tr_pose ){ rotations, positions };
    if ( e->pairs == NULL || e->frames == NULL || e->sources == NULL || e->targets == NULL ||
         rotations == NULL || positions == NULL ) {
        if ( e->sources == NULL ) {
            tr_free( rotations );
            tr_free( positions );
        }
        return tr_error_memory( m->b->error );
    }
    for ( int i = 0, n = 0; i < scene->example_count; ++i ) {
        const tr_example *example = &scene->examples[i];
        if ( !counts( m, example ) )
            continue;
        if ( !check_frame( m, i, "source", example->source, m->source_file ) ||
             !check_frame( m, i, "target", example->target, m->target_file ) )
            return false;
        tr_pose pose = { rotations + (size_t)n * joints, positions + (size_t)n * joints };
        quat *target = e->targets + (size_t)n * (size_t)m->actor->target.joint_count;
        if ( !pose_source( m, example, pose ) || !pose_target( m, i, example, target ) )
            return false;
        e->sources[n] = pose;
        e->pairs[n] = i;
        e->frames[n] = example->mirrored ? -1 : stage_frame( m, example->source );
        m->pairs[n++] = ( tr_exemplar_pair ){ example->id, pose, target };
    }
    return true;
}

// ------------------------------------------------------------------------------------------------ parts

static bool find_joint( const maker *m, const tr_skeleton *skeleton, int index, const char *field,
                        const char *name, int *joint )
{
    tr_error why;
    *joint = tr_skeleton_find( skeleton, name );
    if ( *joint >= 0 )
        return true;
    tr_error_set( &why, "the %s skeleton of %s has no joint \"%s\"",
                  skeleton == &m->actor->target ? "target" : "source", m->cast->id, name );
    return fail_at( m, "parts", index, field, &why );
}

static bool gather_parts( maker *m )
{
    const tr_scene *scene = m->b->stage->scene;
    tr_actor_examples *e = m->examples;
    const tr_skeleton *source = &e->performer.skeleton, *target = &m->actor->target;
    e->parts = tr_alloc( (size_t)scene->part_count, sizeof( int ) );
    e->chains = tr_alloc( (size_t)scene->part_count, sizeof( tr_exemplar_part ) );
    if ( e->parts == NULL || e->chains == NULL )
        return tr_error_memory( m->b->error );
    for ( int i = 0; i < scene->part_count; ++i ) {
        const tr_part_drive *part = &scene->parts[i];
        if ( strcmp( part->cast, m->cast->id ) != 0 )
            continue;
        if ( e->part_count == TR_EXEMPLAR_PARTS )
            return tr_error_set( m->b->error, "%s has more than %d parts", m->cast->id, TR_EXEMPLAR_PARTS );
        tr_exemplar_part *out = &e->chains[e->part_count];
        *out = ( tr_exemplar_part ){ .name = part->id, .aim = part->aim };
        if ( !find_joint( m, source, i, "source.first", part->source_first, &out->source[0] ) ||
             !find_joint( m, source, i, "source.last", part->source_last, &out->source[1] ) ||
             !find_joint( m, target, i, "target.first", part->target_first, &out->target[0] ) ||
             !find_joint( m, target, i, "target.last", part->target_last, &out->target[1] ) )
            return false;
        e->parts[e->part_count++] = i;
    }
    return true;
}

// Drives count before examples; without target.examples only parts are made by them.
static bool choose_joints( maker *m )
{
    const tr_scene *scene = m->b->stage->scene;
    tr_actor_examples *e = m->examples;
    const tr_skeleton *target = &m->actor->target;
    e->made = tr_alloc( (size_t)target->joint_count, sizeof( bool ) );
    if ( e->made == NULL )
        return tr_error_memory( m->b->error );
    for ( int j = 0; j < target->joint_count; ++j )
        e->made[j] = m->cast->target.examples;
    for ( int i = 0; i < scene->drive_count; ++i ) {
        int joint = tr_skeleton_find( target, scene->drives[i].joint );
        if ( strcmp( scene->drives[i].cast, m->cast->id ) == 0 && joint >= 0 )
            e->made[joint] = false;
    }
    for ( int p = 0; p < e->part_count; ++p )
        for ( int j = e->chains[p].target[1]; j >= 0; j = target->joints[j].parent ) { // a chain, or refused
            e->made[j] = true;
            if ( j == e->chains[p].target[0] )
                break;
        }
    return true;
}

// ------------------------------------------------------------------------------------------------- feet

typedef struct feet { // feet of a body
    int joints[16];
    int count;
} feet;

static feet feet_of( const tr_skeleton *skeleton )
{
    feet f = { .count = 0 };
    for ( int j = 0; j < skeleton->joint_count && f.count < 16; ++j )
        if ( skeleton->joints[j].role == TR_ROLE_FOOT && tr_extremity_carrier( skeleton, j ) == j )
            f.joints[f.count++] = j;
    return f;
}

static void heights_from_lowest( const vec3 *positions, const feet *f, double *heights )
{
    double low = INFINITY;
    for ( int i = 0; i < f->count; ++i )
        low = fmin( low, positions[f->joints[i]].y );
    for ( int i = 0; i < f->count; ++i )
        heights[i] = positions[f->joints[i]].y - low;
}

// The foot of the source whose height above the lowest goes with that of the target's foot best: with the
// largest covariance over the pairs. Where none goes with it, the one that the joint map or the side says.
static bool pair_feet( const maker *m, const feet *source, const feet *target, int *from )
{
    const tr_skeleton *body = &m->actor->target;
    const tr_actor_examples *e = m->examples;
    int n = e->pair_count;
    size_t joints = (size_t)body->joint_count;
    tr_pose pose = { tr_alloc( joints, sizeof( quat ) ), tr_alloc( joints, sizeof( vec3 ) ) };
    double( *high )[16] = tr_alloc( (size_t)n, sizeof *high ),
                  ( *low )[16] = tr_alloc( (size_t)n, sizeof *low );
    bool ok = pose.rotations != NULL && pose.positions != NULL && high != NULL && low != NULL;
    for ( int i = 0; ok && i < n; ++i ) {
        tr_clip one = { .joint_count = body->joint_count, .frame_count = 1, .fps = 1 };
        vec3 root = v3_zero;
        one.rotations = e->targets + (size_t)i * joints;
        one.root = &root;
        tr_forward( body, &one, 0, pose );
        heights_from_lowest( pose.positions, target, high[i] );
        heights_from_lowest( e->sources[i].positions, source, low[i] );
    }
    for ( int t = 0; ok && t < target->count; ++t ) {
        int joint = target->joints[t], mapped = m->actor->map[joint];
        double best = 0;
        from[t] = -1;
        for ( int s = 0; s < source->count; ++s ) {
            double a = 0, b = 0, both = 0;
            for ( int i = 0; i < n; ++i ) {
                a += high[i][t] / n;
                b += low[i][s] / n;
                both += high[i][t] * low[i][s] / n;
            }
            if ( both - a * b > best ) {
                best = both - a * b;
                from[t] = source->joints[s];
            }
        }
        bool sided = false;
        for ( int s = 0; from[t] < 0 && s < source->count && !sided; ++s ) {
            sided = source->joints[s] == mapped ||
                    ( m->examples->performer.skeleton.joints[source->joints[s]].side ==
                      body->joints[joint].side );
            if ( sided )
                from[t] = source->joints[s];
        }
    }
    tr_free( pose.rotations );
    tr_free( pose.positions );
    tr_free( high );
    tr_free( low );
    return ok || tr_error_memory( m->b->error );
}

// Contacts of the performer's foot and toes with the ground, as one list of the target's foot.
static bool take_stances( const tr_contacts *labels, const tr_skeleton *performer, tr_lead_foot *foot )
{
    tr_contacts *out = &foot->stands;
    for ( int c = 0; c < labels->count; ++c ) {
        tr_contact stance = labels->items[c];
        if ( stance.surface != TR_SURFACE_GROUND ||
             !tr_same_extremity( performer, stance.joint, foot->from ) )
            continue;
        stance.joint = foot->joint;
        // Contacts that it overlaps or follows at once are joined with it.
        for ( int i = 0; i < out->count; ) {
            tr_contact *other = &out->items[i];
            if ( other->first > stance.last + 1 || other->last + 1 < stance.first ) {
                ++i;
                continue;
            }
            stance.first = other->first < stance.first ? other->first : stance.first;
            stance.last = other->last > stance.last ? other->last : stance.last;
            *other = out->items[--out->count];
        }
        if ( !tr_array_reserve( (void **)&out->items, &out->capacity, out->count + 1, sizeof *out->items ) )
            return false;
        out->items[out->count++] = stance;
    }
    for ( int i = 1; i < out->count; ++i ) // sorted by time
        for ( int k = i; k > 0 && out->items[k - 1].first > out->items[k].first; --k ) {
            tr_contact swap = out->items[k];
            out->items[k] = out->items[k - 1];
            out->items[k - 1] = swap;
        }
    return true;
}

typedef struct standing {
    tr_lead_foot feet[16];
    int count;
} standing;

static void standing_free( standing *s )
{
    for ( int i = 0; i < s->count; ++i )
        tr_contacts_free( &s->feet[i].stands );
}

static double rest_height( const tr_skeleton *skeleton, int joint )
{
    double height = 0, low = INFINITY;
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        vec3 place = v3_zero;
        for ( int k = j; k > 0; k = skeleton->joints[k].parent )
            place = q_rotate( skeleton->joints[skeleton->joints[k].parent].rest,
                              v3_add( skeleton->joints[k].offset, place ) );
        low = fmin( low, place.y );
        height = j == joint ? place.y : height;
    }
    return height - low;
}

static bool find_standing( maker *m, standing *out )
{
    const tr_skeleton *performer = &m->examples->performer.skeleton;
    tr_stage_builder *b = m->b;
    feet source = feet_of( performer ), target = feet_of( &m->actor->target );
    int from[16];
    tr_contacts labels = { 0 };
    tr_surface ground = { .kind = TR_SURFACE_GROUND, .height = b->stage->ground };
    tr_contact_scene scene = { performer, &m->examples->world, b->stage->fps, &ground, 1 };
    *out = ( standing ){ .count = 0 };
    bool ok = pair_feet( m, &source, &target, from ) &&
              tr_contacts_label( &labels, &scene, &b->stage->def.contacts, b->error );
    for ( int t = 0; ok && t < target.count; ++t ) {
        if ( from[t] < 0 )
            continue;
        tr_lead_foot *foot = &out->feet[out->count++];
        *foot = ( tr_lead_foot ){ .joint = target.joints[t], .from = from[t] };
        ok = take_stances( &labels, performer, foot ) || tr_error_memory( b->error );
    }
    tr_contacts_free( &labels );
    return ok;
}

// Sorted by joint, then first, as labels are.
static bool hand_over( const standing *s, tr_contacts *out )
{
    for ( int i = 0; i < s->count; ++i )
        for ( int c = 0; c < s->feet[i].stands.count; ++c ) {
            if ( !tr_array_reserve( (void **)&out->items, &out->capacity, out->count + 1,
                                    sizeof *out->items ) )
                return false;
            out->items[out->count++] = s->feet[i].stands.items[c];
        }
    return true;
}

// ------------------------------------------------------------------------------------------------ motion

static bool pose_frames( const maker *m, tr_clip *clip )
{
    tr_stage_builder *b = m->b;
    const tr_actor_examples *e = m->examples;
    quat *world = tr_alloc( (size_t)clip->joint_count, sizeof( quat ) );
    bool ok = world != NULL || tr_error_memory( b->error );
    ok = ok && tr_exemplar_motion( e->exemplar, &e->world, clip->fps, e->frames, clip->rotations, e->unlike,
                                   b->error );
    for ( int f = 0; ok && f < clip->frame_count; ++f ) {
        quat *local = tr_clip_frame( clip, f );
        if ( e->made[0] )
            local[0] = q_mul( tr_exemplar_facing( e->exemplar, tr_world_pose( &e->world, f ) ), local[0] );
        tr_actor_copy_frame( m->actor, f, e->made, local, world );
    }
    tr_free( world );
    return ok;
}

static bool hangs_on( const tr_skeleton *skeleton, int joint, int on )
{
    while ( joint > on )
        joint = skeleton->joints[joint].parent;
    return joint == on;
}

// Standing feet touch the floor with their lowest part: of a foot that is rolled over its toes, the toes. No
// joint of it is lower than in the rest pose.
static bool measure_soles( const maker *m, standing *s, const tr_clip *clip )
{
    const tr_skeleton *body = &m->actor->target;
    size_t joints = (size_t)body->joint_count, frames = (size_t)clip->frame_count;
    tr_pose pose = { tr_alloc( joints, sizeof( quat ) ), tr_alloc( joints, sizeof( vec3 ) ) };
    double *rest = tr_alloc( joints, sizeof( double ) );
    bool ok = pose.rotations != NULL && pose.positions != NULL && rest != NULL;
    for ( int j = 0; ok && j < body->joint_count; ++j )
        rest[j] = rest_height( body, j );
    for ( int f = 0; ok && f < clip->frame_count; ++f ) {
        tr_forward( body, clip, f, pose );
        for ( int i = 0; i < s->count; ++i ) {
            int joint = s->feet[i].joint;
            double *sole = &m->examples->soles[(size_t)joint * frames + (size_t)f];
            for ( int j = joint; j < body->joint_count; ++j )
                if ( hangs_on( body, j, joint ) )
                    *sole = fmax( *sole, rest[j] + pose.positions[joint].y - pose.positions[j].y );
        }
    }
    for ( int i = 0; i < s->count; ++i )
        s->feet[i].soles = m->examples->soles + (size_t)s->feet[i].joint * frames;
    tr_free( pose.rotations );
    tr_free( pose.positions );
    tr_free( rest );
    return ok || tr_error_memory( m->b->error );
}

static bool move_root( const maker *m, const standing *s, tr_clip *clip )
{
    tr_stage_builder *b = m->b;
    const tr_actor_examples *e = m->examples;
    int pelvis;
    if ( tr_skeleton_find_role( &e->performer.skeleton, TR_ROLE_ROOT, TR_SIDE_NONE, &pelvis, 1 ) == 0 )
        pelvis = 0;
    vec3 *path = tr_alloc( (size_t)clip->frame_count, sizeof( vec3 ) );
    if ( path == NULL )
        return tr_error_memory( b->error );
    for ( int f = 0; f < clip->frame_count; ++f )
        path[f] = tr_world_pose( &e->world, f ).positions[pelvis];
    tr_lead_job job = { .def = &b->stage->def.lead,
                        .skeleton = &m->actor->target,
                        .feet = s->feet,
                        .foot_count = s->count,
                        .path = path,
                        .ground = b->stage->ground,
                        .rise = m->actor->height_ratio,
                        .path_scale = m->cast->target.path_scale };
    bool ok = tr_lead_root( &job, clip, b->error );
    tr_free( path );
    return ok;
}

// Makes the actor a body that keeps its own motion.
static bool settle( maker *m, tr_motion *made, const standing *s )
{
    tr_actor *actor = m->actor;
    tr_stage_builder *b = m->b;
    int joints = actor->target.joint_count;
    if ( !tr_joint_map_print( actor, true, &m->examples->map, b->error ) )
        return false;
    m->examples->body = actor->source_body;
    actor->source_body = ( tr_body ){ 0 };
    tr_world_free( &actor->world );
    tr_motion_free( &actor->source );
    actor->source = *made;
    *made = ( tr_motion ){ 0 };
    tr_joint_map_free( actor );
    m->examples->own = actor->own;
    actor->own = ( tr_clip ){ 0 };
    actor->map = tr_alloc( (size_t)joints, sizeof( int ) );
    actor->align = tr_alloc( (size_t)joints, sizeof( quat ) );
    if ( actor->map == NULL || actor->align == NULL )
        return tr_error_memory( b->error );
    for ( int j = 0; j < joints; ++j ) {
        actor->map[j] = j;
        actor->align[j] = q_identity;
    }
    actor->foreign = false;
    actor->leg_ratio = actor->height_ratio = 1;
    return tr_body_build( &actor->source_body, &actor->source.skeleton, NULL, 0, b->error ) &&
           tr_world_build( &actor->world, &actor->source, b->error ) &&
           ( hand_over( s, &actor->contacts ) || tr_error_memory( b->error ) );
}

static bool make( maker *m )
{
    tr_stage_builder *b = m->b;
    tr_actor_examples *e = m->examples;
    tr_actor *actor = m->actor;
    size_t frames = (size_t)b->stage->frame_count;
    if ( !gather_pairs( m ) || !gather_parts( m ) || !choose_joints( m ) )
        return false;
    e->unlike = tr_alloc( frames, sizeof( double ) );
    e->soles = tr_alloc( (size_t)actor->target.joint_count * frames, sizeof( double ) );
    if ( e->unlike == NULL || e->soles == NULL )
        return tr_error_memory( b->error );
    tr_exemplar_job job = { &e->performer.skeleton, &actor->target, m->pairs,
                            e->pair_count,          e->chains,      e->part_count };
    snprintf( b->field, sizeof b->field, "target.examples" );
    e->exemplar = tr_exemplar_create( &b->stage->def.exemplars, &job, b->error );
    if ( e->exemplar == NULL )
        return false;
    b->field[0] = 0;
    for ( int p = 0; p < e->part_count; ++p )
        e->chains[p].name = NULL;
    standing s = { .count = 0 };
    tr_motion made = { 0 };
    bool ok = tr_skeleton_copy( &made.skeleton, &actor->target, b->error ) &&
              tr_clip_alloc( &made.clip, b->stage->frame_count, actor->target.joint_count, b->stage->fps,
                             false, b->error ) &&
              find_standing( m, &s ) && pose_frames( m, &made.clip ) && measure_soles( m, &s, &made.clip ) &&
              move_root( m, &s, &made.clip ) && settle( m, &made, &s );
    standing_free( &s );
    tr_motion_free( &made );
    return ok;
}

static int count_pairs( const maker *m )
{
    int count = 0;
    for ( int i = 0; i < m->b->stage->scene->example_count; ++i )
        count += counts( m, &m->b->stage->scene->examples[i] );
    return count;
}

bool tr_stage_exemplify( tr_stage_builder *b, tr_actor *actor, const tr_cast *cast )
{
    maker m = { .b = b, .actor = actor, .cast = cast };
    int count = count_pairs( &m );
    if ( count == 1 ) // on the way to two; the joint map serves meanwhile
        tr_log_add( b->warnings, "%s has one example; it moves by examples from two on", cast->id );
    if ( !tr_scene_exemplifies( b->stage->scene, cast ) )
        return true;
    snprintf( b->field, sizeof b->field, "target.examples" );
    if ( count > TR_EXEMPLAR_PAIRS )
        return tr_error_set( b->error, "there are %d examples; at most %d are possible", count,
                             TR_EXEMPLAR_PAIRS );
    m.examples = tr_alloc( 1, sizeof *m.examples );
    if ( m.examples == NULL )
        return tr_error_memory( b->error );
    // The exemplar refers to the performer's skeleton where it stays; tr_actor_copy_frame still needs the
    // source until the motion is made.
    actor->examples = m.examples;
    m.examples->pair_count = count;
    m.source_file = tr_library_find_file( b->library, &cast->source );
    m.target_file = tr_library_find_file( b->library, &cast->target.skeleton );
    bool ok = tr_motion_copy( &m.examples->performer, &actor->source, b->error ) &&
              tr_world_build( &m.examples->world, &m.examples->performer, b->error ) && make( &m );
    return ok;
}
