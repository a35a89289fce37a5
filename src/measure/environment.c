// Bodies against obstacles, both as exported: by how much a part of a body is deeper in an obstacle than the
// same part of the source's body is in the source's obstacle.
#include "measure/private.h"

typedef struct environment_frame {
    double deepest; // metres beyond the source's own depth
    bool failed;
} environment_frame;

typedef struct environment_scan {
    const tr_measuring *m;
    const tr_take *take;
    environment_frame *frames; // [frame_count]
    int *begin, *rules;        // rules of the stage by actor: tr_rules_by_actor
} environment_scan;

static bool rests_on( const environment_scan *scan, int who, int capsule, int obstacle, int frame )
{
    const tr_performer *performer = &scan->take->performers[who];
    int carrier = tr_extremity_carrier( performer->skeleton, performer->body->capsules[capsule].joint );
    for ( int i = scan->begin[who]; i < scan->begin[who + 1]; ++i ) {
        const tr_rule *rule = &scan->m->stage->rules[scan->rules[i]];
        if ( rule->kind == TR_CONSTRAINT_CONTACT && rule->obstacle == obstacle && rule->a.actor == who &&
             tr_extremity_carrier( performer->skeleton, rule->a.joints[0] ) == carrier &&
             tr_rule_strength( rule, frame ) > 0 )
            return true;
    }
    return false;
}

// Depth of the matching capsule of the source's body, in the size of the take's body.
static double depth_in_source( const environment_scan *scan, const tr_closeness *source, int who, int capsule,
                               int obstacle )
{
    const tr_performer *performer = &scan->take->performers[who], *from = &scan->m->source.performers[who];
    int match = tr_performer_capsule( performer, &performer->body->capsules[capsule], from );
    if ( match < 0 )
        return 0;
    const struct tr_shell *part = &source->shells[source->first[who] + match];
    tr_solid solid = tr_stage_obstacle( scan->m->stage, obstacle, true );
    double depth = -tr_shape_distance( &solid.shape, solid.at, part->a, part->b, part->radius );
    return fmax( 0, depth ) / tr_performer_rescale( performer, from );
}

static bool scan_frame( const environment_scan *scan, tr_closeness *take, tr_closeness *source,
                        tr_close_pairs *pairs, int frame )
{
    const tr_stage *stage = scan->m->stage;
    bool is_source = scan->take == &scan->m->source;
    int props = scan->take->prop_count;
    pairs->count = 0;
    tr_closeness_pose( take, scan->take, frame );
    tr_closeness_pose( source, &scan->m->source, frame );
    for ( int o = 0; o < stage->scene->obstacle_count; ++o )
        if ( !tr_closeness_solid( take, scan->take, props + o, tr_stage_obstacle( stage, o, is_source ), 0,
                                  pairs ) )
            return false;
    tr_closeness_drop_passes( take, stage, scan->take, frame, pairs );
    for ( int i = 0; i < pairs->count; ++i ) {
        const tr_close_pair *pair = &pairs->items[i];
        int obstacle = pair->b - take->shell_count - props,
            who = tr_closeness_owner( take, scan->take, pair->a ), capsule = pair->a - take->first[who];
        if ( !is_source && rests_on( scan, who, capsule, obstacle, frame ) )
            continue;
        double beyond = -pair->distance - depth_in_source( scan, source, who, capsule, obstacle );
        scan->frames[frame].deepest = fmax( scan->frames[frame].deepest, beyond );
    }
    return true;
}

static void scan_frames( void *context, int begin, int end )
{
    environment_scan *scan = context;
    tr_closeness take = { 0 }, source = { 0 };
    tr_close_pairs pairs = { 0 };
    bool ok = tr_closeness_alloc( &take, scan->take ) && tr_closeness_alloc( &source, &scan->m->source );
    for ( int f = begin; f < end && ok; ++f )
        ok = scan_frame( scan, &take, &source, &pairs, f );
    scan->frames[begin].failed = !ok;
    tr_free( pairs.items );
    tr_closeness_free( &take );
    tr_closeness_free( &source );
}

static bool has_volume( const tr_take *take )
{
    for ( int c = 0; c < take->performer_count; ++c )
        if ( take->performers[c].body->capsule_count > 0 )
            return true;
    return false;
}

bool tr_measure_environment_penetration( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    int count = take->frame_count;
    if ( m->stage->scene->obstacle_count == 0 || !has_volume( take ) ) {
        tr_figures_null( figures, "the scene has no body and obstacle that could meet" );
        return true;
    }
    environment_scan scan = { m, take, tr_alloc( (size_t)count, sizeof( environment_frame ) ), NULL, NULL };
    bool ok = scan.frames != NULL && tr_rules_by_actor( m->stage, &scan.begin, &scan.rules );
    if ( ok )
        tr_parallel_for( count, TR_MEASURE_BLOCK, scan_frames, &scan );
    double deep_frames = 0, most = 0, sum = 0;
    for ( int f = 0; f < count && ok; ++f ) {
        ok = !scan.frames[f].failed;
        deep_frames += scan.frames[f].deepest > m->def.deep;
        most = fmax( most, scan.frames[f].deepest );
        sum += scan.frames[f].deepest;
    }
    figures->values[0] = 100 * deep_frames / count;
    figures->values[1] = 1e3 * most;
    figures->values[2] = 1e3 * sum / count;
    tr_free( scan.frames );
    tr_free( scan.begin );
    tr_free( scan.rules );
    return ok;
}
