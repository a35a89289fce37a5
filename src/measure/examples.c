// Bodies that move by examples: how far contacts and links pull them from the examples, where parts go, and
// how much of the motion is like no example.
#include "measure/private.h"

#include <string.h>

// In the frames that show examples, the largest turn of a joint from its example.
bool tr_measure_example_error( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    double sum = 0;
    int count = 0;
    for ( int c = 0; c < take->performer_count; ++c ) {
        const tr_actor *actor = &m->stage->actors[c];
        const tr_actor_examples *e = actor->examples;
        for ( int i = 0; e != NULL && i < e->pair_count; ++i ) {
            if ( e->frames[i] < 0 )
                continue;
            const quat *own = tr_clip_frame( take->performers[c].clip, e->frames[i] ),
                       *wanted = tr_clip_frame( &actor->source.clip, e->frames[i] );
            for ( int j = 0; j < actor->target.joint_count; ++j ) {
                double turn = e->made[j] ? q_angle( own[j], wanted[j] ) / TR_DEGREE : 0;
                if ( turn > figures->values[0] ) {
                    figures->values[0] = turn;
                    tr_figures_place( figures, c, j, e->frames[i] );
                }
                sum += turn;
                count += e->made[j];
            }
        }
    }
    figures->values[1] = count > 0 ? sum / count : 0;
    if ( count == 0 )
        tr_figures_null( figures, "no frame shows an example of a character that moves by examples" );
    return true;
}

bool tr_measure_part_direction( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    tr_samples angles = { 0 };
    bool ok = true;
    for ( int c = 0; c < take->performer_count && ok; ++c ) {
        const tr_actor *actor = &m->stage->actors[c];
        const tr_actor_examples *e = actor->examples;
        if ( e == NULL || e->part_count == 0 )
            continue;
        size_t joints = (size_t)actor->target.joint_count;
        quat *local = tr_alloc( joints, sizeof( quat ) );
        ok = local != NULL;
        for ( int f = 0; ok && f < take->frame_count; ++f ) {
            tr_pose source = tr_world_pose( &e->world, f );
            memcpy( local, tr_clip_frame( take->performers[c].clip, f ), joints * sizeof( quat ) );
            local[0] = q_mul( q_conj( tr_exemplar_facing( e->exemplar, source ) ), local[0] );
            for ( int p = 0; ok && p < e->part_count; ++p )
                ok = tr_samples_add( &angles, tr_exemplar_part_error( e->exemplar, p, source, local ) );
        }
        tr_free( local );
    }
    tr_samples_report( &angles, 1.0 / TR_DEGREE, "no part of a character is driven by a chain of the source",
                       figures );
    return ok;
}

bool tr_measure_unlike( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    int frames = 0, unlike = 0;
    for ( int c = 0; c < take->performer_count; ++c ) {
        const tr_actor_examples *e = m->stage->actors[c].examples;
        for ( int f = 0; e != NULL && f < take->frame_count; ++f ) {
            frames++;
            unlike += e->unlike[f] > m->def.unlike;
        }
    }
    figures->values[0] = frames > 0 ? 100.0 * unlike / frames : 0;
    if ( frames == 0 )
        tr_figures_null( figures, "no character moves by examples" );
    return true;
}
