// Tools to make pairs of poses for bodies that move by examples: which frames to pose next, and a pose as the
// text that an example holds.
#include "stage/private.h"

#include <stdio.h>
#include <string.h>

const tr_skeleton *tr_stage_performer( const tr_stage *stage, int actor, const tr_world **world )
{
    const tr_actor *a = &stage->actors[actor];
    const tr_actor_examples *e = a->examples;
    *world = e != NULL ? &e->world : &a->world;
    return e != NULL ? &e->performer.skeleton : &a->source.skeleton;
}

// Poses of pairs that do not act yet because there is only one; their frames are on the stage.
static int shown_pairs( const tr_stage *stage, int actor, const tr_world *world,
                        tr_pose out[TR_EXEMPLAR_PAIRS] )
{
    const tr_scene *scene = stage->scene;
    int count = 0;
    for ( int i = 0; i < scene->example_count; ++i ) {
        const tr_example *example = &scene->examples[i];
        bool counts =
            strcmp( example->cast, scene->cast[actor].id ) == 0 && !example->muted && !example->mirrored;
        for ( int f = 0; counts && f < stage->frame_count && count < TR_EXEMPLAR_PAIRS; ++f )
            if ( tr_stage_file_frame( stage, actor, f ) == example->source ) {
                out[count++] = tr_world_pose( world, f );
                break;
            }
    }
    return count;
}

int tr_stage_suggest( const tr_stage *stage, int actor, int *frames, int count, tr_error *error )
{
    tr_pose have[TR_EXEMPLAR_PAIRS];
    const tr_actor *a = &stage->actors[actor];
    const tr_actor_examples *e = a->examples;
    tr_exemplar_suggest_job job = { .target = &a->target };
    job.source = tr_stage_performer( stage, actor, &job.world );
    if ( e != NULL ) {
        job.have = e->sources;
        job.have_count = e->pair_count;
        job.parts = e->chains;
        job.part_count = e->part_count;
    } else {
        job.have = have;
        job.have_count = shown_pairs( stage, actor, job.world, have );
    }
    return tr_exemplar_suggest( &stage->def.exemplars, &job, frames, count, error );
}

int tr_stage_file_frame( const tr_stage *stage, int actor, int frame )
{
    const tr_cast *cast = &stage->scene->cast[actor];
    const tr_actor *a = &stage->actors[actor];
    int nearest = tr_nearest_frame( cast->source.first + ( frame + stage->scene->first - cast->start ) *
                                                             a->file_fps / stage->fps );
    bool shown = stage->times == NULL && nearest >= cast->source.first && nearest < a->file_frames &&
                 ( cast->source.last < 0 || nearest <= cast->source.last );
    return shown ? nearest : -1;
}

static double rounded( double degrees ) // to thousandths
{
    return round( 1e3 * degrees ) / 1e3 + 0.0; // no -0
}

bool tr_stage_pose_text( const tr_stage *stage, int actor, int frame, const quat *base, const quat *local,
                         char out[TR_POSE_MAX], tr_error *error )
{
    const tr_actor *a = &stage->actors[actor];
    const tr_world *world;
    const tr_skeleton *source = tr_stage_performer( stage, actor, &world ), *target = &a->target;
    quat facing = tr_exemplar_faces( source, tr_world_pose( world, frame ) );
    tr_text text = { 0 };
    for ( int j = 0; j < target->joint_count; ++j ) {
        quat pose = j == 0 ? q_mul( q_conj( facing ), local[0] ) : local[j];
        vec3 turn = v3_scale( 1.0 / TR_DEGREE, q_to_vector( q_mul( q_conj( base[j] ), pose ) ) );
        turn = v3( rounded( turn.x ), rounded( turn.y ), rounded( turn.z ) );
        if ( v3_length( turn ) > 0 && tr_skeleton_find( target, target->joints[j].name ) != j ) {
            tr_text_free( &text );
            return tr_error_set( error, "%s has two joints \"%s\": a pose cannot name both",
                                 stage->scene->cast[actor].id, target->joints[j].name );
        }
        tr_turn_print( &text, target->joints[j].name, turn );
    }
    bool fits = text.size < TR_POSE_MAX, failed = text.failed;
    if ( fits && !failed )
        snprintf( out, TR_POSE_MAX, "%.*s", (int)text.size, text.data != NULL ? text.data : "" );
    tr_text_free( &text );
    if ( failed )
        return tr_error_memory( error );
    return fits || tr_error_set( error, "the pose turns more joints than an example can hold" );
}
