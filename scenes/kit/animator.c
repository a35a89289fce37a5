#include "scenes/kit/animator.h"

#include "scenes/kit/human.h"

#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------ seeing

static vec3 way( tr_pose pose, quat facing, int from, int to )
{
    return q_unrotate( facing, v3_sub( pose.positions[to], pose.positions[from] ) );
}

static double bend( vec3 a, vec3 b )
{
    return acos( clampd( v3_dot( v3_unit( a ), v3_unit( b ) ), -1, 1 ) );
}

tr_person_view tr_person_see( const tr_skeleton *human, tr_pose pose )
{
    vec3 rest[TR_HUMAN_JOINTS];
    quat still[TR_HUMAN_JOINTS];
    tr_forward_rest( human, ( tr_pose ){ still, rest } );
    int hips[2] = { tr_human_leg( 0, TR_HUMAN_UP_LEG ), tr_human_leg( 1, TR_HUMAN_UP_LEG ) };
    vec3 left = v3_sub( pose.positions[hips[0]], pose.positions[hips[1]] );
    quat facing = q_axis_angle( v3_y, atan2( -left.z, left.x ) );
    tr_person_view v = { .sink = INFINITY };
    for ( int s = 0; s < 2; ++s ) {
        int foot = tr_human_leg( s, TR_HUMAN_FOOT ), arm = tr_human_arm( s, TR_HUMAN_ARM ),
            forearm = tr_human_arm( s, TR_HUMAN_FOREARM ), hand = tr_human_arm( s, TR_HUMAN_HAND );
        v.feet[s] =
            v3_sub( way( pose, facing, TR_HUMAN_HIPS, foot ), v3_sub( rest[foot], rest[TR_HUMAN_HIPS] ) );
        v.sink = fmin( v.sink, v.feet[s].y );
        v.arms[s] = v3_unit( way( pose, facing, arm, hand ) );
        v.forearms[s] = v3_unit( way( pose, facing, forearm, hand ) );
        v.elbows[s] = bend( way( pose, facing, arm, forearm ), way( pose, facing, forearm, hand ) );
    }
    v.back = v3_unit( way( pose, facing, TR_HUMAN_HIPS, TR_HUMAN_NECK ) );
    v.look = q_unrotate( facing, q_rotate( pose.rotations[TR_HUMAN_HEAD], v3_z ) );
    vec3 shoulders =
        way( pose, facing, tr_human_arm( 1, TR_HUMAN_SHOULDER ), tr_human_arm( 0, TR_HUMAN_SHOULDER ) );
    v.twist = atan2( -shoulders.z, shoulders.x );
    return v;
}

// ------------------------------------------------------------------------------------------------- pairs

static bool add_example( tr_scene *scene, const char *cast, int number, int frame, tr_error *error )
{
    tr_id id;
    snprintf( id, sizeof id, "%.20s_%02d", cast, number );
    tr_example example = tr_default_example( id, cast );
    example.source = frame;
    example.target = number;
    return tr_scene_add_example( scene, &example ) != NULL || tr_error_memory( error );
}

static int find_parts( const tr_scene *scene, const char *cast, const tr_motion *source, const tr_rig *rig,
                       tr_exemplar_part out[TR_EXEMPLAR_PARTS] )
{
    const tr_skeleton *target = &rig->motion.skeleton;
    int count = 0;
    for ( int i = 0; i < scene->part_count && count < TR_EXEMPLAR_PARTS; ++i ) {
        const tr_part_drive *part = &scene->parts[i];
        if ( strcmp( part->cast, cast ) == 0 )
            out[count++] =
                ( tr_exemplar_part ){ .name = part->id,
                                      .source = { tr_skeleton_find( &source->skeleton, part->source_first ),
                                                  tr_skeleton_find( &source->skeleton, part->source_last ) },
                                      .target = { tr_skeleton_find( target, part->target_first ),
                                                  tr_skeleton_find( target, part->target_last ) } };
    }
    return count;
}

bool tr_animator_add( tr_scene *scene, tr_library *library, int cast, tr_rig *rig, const void *body,
                      tr_animator_pose *pose, int count, tr_error *error )
{
    const tr_cast *member = &scene->cast[cast];
    const tr_motion *source = tr_library_find( library, member->source.file );
    tr_exemplar_def def = tr_default_exemplar_def();
    tr_world world = { 0 };
    int frames[TR_EXEMPLAR_PAIRS], found = 0;
    bool ok = tr_world_build( &world, source, error );
    if ( ok ) {
        tr_exemplar_part parts[TR_EXEMPLAR_PARTS];
        tr_exemplar_suggest_job job = { .source = &source->skeleton,
                                        .world = &world,
                                        .parts = parts,
                                        .part_count = find_parts( scene, member->id, source, rig, parts ),
                                        .target = &rig->motion.skeleton };
        found = tr_exemplar_suggest( &def, &job, frames, count, error );
        ok = found >= 0;
    }
    ok = ok && tr_rig_finish( rig, 1 + found, scene->fps, error );
    for ( int i = 0; ok && i <= found; ++i ) {
        tr_rig_begin( rig, ( rigid ){ q_identity, rig->rest[0] } );
        if ( i > 0 ) {
            tr_person_view view = tr_person_see( &source->skeleton, tr_world_pose( &world, frames[i - 1] ) );
            view.frame = frames[i - 1];
            pose( body, rig, &view );
            ok = add_example( scene, member->id, i, frames[i - 1], error );
        }
        tr_rig_store( rig, i );
    }
    tr_world_free( &world );
    return ok && tr_library_add( library, member->target.skeleton.file, &rig->motion, error );
}

bool tr_animator_part( tr_scene *scene, const char *id, const char *cast, const char *const source[2],
                       const char *const target[2], double aim, tr_error *error )
{
    tr_part_drive part = tr_default_part( id, cast );
    snprintf( part.source_first, sizeof part.source_first, "%s", source[0] );
    snprintf( part.source_last, sizeof part.source_last, "%s", source[1] );
    snprintf( part.target_first, sizeof part.target_first, "%s", target[0] );
    snprintf( part.target_last, sizeof part.target_last, "%s", target[1] );
    part.aim = aim;
    return tr_scene_add_part( scene, &part ) != NULL || tr_error_memory( error );
}
