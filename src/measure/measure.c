// The table of figures; each row is measured on the result and on the source.
#include "measure/private.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------ table

tr_measure_def tr_default_measure_def( void )
{
    return ( tr_measure_def ){ .short_bone = 1e-3,
                               .short_trunk_bone = 0.02,
                               .deep = 0.01,
                               .touch = 0.02,
                               .touch_height = 1.75,
                               .still_jerk = 1e-6,
                               .still_acceleration = 1e-7,
                               .negligible_linking = 0.01,
                               .same_topology = 0.25,
                               .linked = 0.25,
                               .apart = 0.01,
                               .unlike = 0.5,
                               .unmoved = 1e-7,
                               .same = 1e-9,
                               .margin = 0.01,
                               .skate_span = 0.1,
                               .far_bent = 30 * TR_DEGREE,
                               .close = 0.3,
                               .standing = 0.3,
                               .crouched = 0.9,
                               .nearest = tr_default_imesh_def().nearest,
                               .ranges = tr_default_range_def() };
}

typedef struct field_row {
    const char *name, *unit;
    double fine;         // limit: a value beyond it and beyond the source's is marked as worse
    bool more_is_better; // else less is better
} field_row;

typedef struct metric_row {
    const char *key, *worse; // worse: what one sees then
    tr_metric_function *measure;
    field_row fields[TR_METRIC_FIELDS];
    const char *place_name, *place_frame; // names of the worst place in the report
} metric_row;

#define BEND_PART( part )                                                                                    \
    { part "_max", "deg", 45 }, { part "_p95", "deg", 30 },                                                  \
    {                                                                                                        \
        part "_beyond_30_pct", "%", 5                                                                        \
    }
// Bodies of other sizes reach by their shoulders, elbows, hips and knees.
#define BEND_LIMB( part )                                                                                    \
    { part "_max", "deg", 75 }, { part "_p95", "deg", 60 },                                                  \
    {                                                                                                        \
        part "_beyond_30_pct", "%", HUGE_VAL                                                                 \
    }

static const metric_row rows[] = {
    { "bone_length_error_pct",
      "bones are stretched: a solver or a writer is broken",
      tr_measure_bone_length,
      { { "value", "%", 1e-3 }, { "short_bones_mm", "mm", 1e-3 } } },
    { "contact_error_mm",
      "feet or hands are not where their contacts ask for",
      tr_measure_contact_error,
      { { "max", "mm", 1 },
        { "p95", "mm", 1 },
        { "mean", "mm", 1 },
        { "gave_way", "rules", 0 },
        { "gave_way_max", "mm", 1 },
        { "gave_way_mean", "mm", 1 } } },
    { "foot_skate_mm_s",
      "feet that stand slide",
      tr_measure_foot_skate,
      { { "mean", "mm/s", 5 }, { "p95", "mm/s", 5 } } },
    { "sole_tilt_deg",
      "soles that stand are tilted",
      tr_measure_sole_tilt,
      { { "max", "deg", 2 }, { "mean", "deg", 2 } } },
    { "ground_penetration_mm",
      "something is under the ground",
      tr_measure_ground_penetration,
      { { "max", "mm", 1 }, { "mean", "mm", 1 } } },
    { "relative_error_mm",
      "hands miss hands or props they are linked to",
      tr_measure_relative_error,
      { { "max", "mm", 1 }, { "p95", "mm", 1 }, { "mean", "mm", 1 } } },
    { "inter_penetration",
      "people go into each other deeper than in the source",
      tr_measure_inter_penetration,
      { { "frames_pct", "%" }, { "max_mm", "mm" }, { "mean_mm", "mm" }, { "sum_sq_m2", "m2" } } },
    { "self_penetration",
      "people go into themselves deeper than in the source",
      tr_measure_self_penetration,
      { { "frames_pct", "%" }, { "max_mm", "mm" }, { "mean_mm", "mm" }, { "sum_sq_m2", "m2" } } },
    { "prop_penetration",
      "people go into props deeper than in the source; larger hands do while they hold them",
      tr_measure_prop_penetration,
      { { "frames_pct", "%" }, { "max_mm", "mm" }, { "mean_mm", "mm" }, { "sum_sq_m2", "m2" } } },
    { "environment_penetration_mm",
      "people go into what stands around deeper than in the source",
      tr_measure_environment_penetration,
      { { "frames_pct", "%" }, { "max", "mm", 10 }, { "mean", "mm", 1 } } },
    { "contact_f1",
      "some touches of the source are lost, or others made",
      tr_measure_contact_f1,
      { { "precision", "", 1, true }, { "recall", "", 1, true }, { "f1", "", 1, true } } },
    { "closeness",
      "hands, feet or heads are farther from others, or nearer to them, than in the source",
      tr_measure_closeness,
      { { "max_mm", "mm", 200 }, { "p95_mm", "mm", 100 }, { "mean_mm", "mm", 40 } },
      "joint",
      "frame" },
    { "laplacian_energy",
      "people stand otherwise to each other than in the source, as bodies of other sizes do",
      tr_measure_laplacian,
      { { "value", "", 0.01 } } },
    { "writhe_deviation",
      "limbs pass otherwise around each other than in the source",
      tr_measure_writhe,
      { { "max", "turns", 0.25 },
        { "p95", "turns", 0.25 },
        { "same_topology_pct", "%", 100, true },
        { "sign_changed_pct", "%", 0 } } },
    { "pass_through",
      "bones go right through each other",
      tr_measure_pass_through,
      { { "count", "passes", 0 },
        { "frames", "frames", 0 },
        { "self_count", "passes", 0 },
        { "self_frames", "frames", 0 } },
      "joint",
      "frame" },
    { "jerk_ratio", "the motion trembles", tr_measure_jerk, { { "value", "", 1.1 } } },
    { "acceleration_spike",
      "something pops",
      tr_measure_acceleration,
      { { "value", "", 1.5 }, { "own", "", 2 } },
      "own_joint",
      "own_frame" },
    { "prop_acceleration",
      "props are thrown about",
      tr_measure_prop_acceleration,
      { { "max", "m/s2", HUGE_VAL }, { "ratio", "", 1.5 } },
      "prop",
      "frame" },
    { "rotation_spike_deg",
      "a joint flips",
      tr_measure_rotation_spike,
      { { "value", "deg", 20 } },
      "joint",
      "frame" },
    { "bend_deviation_deg",
      "backs, heads, hands or feet are bent otherwise",
      tr_measure_bend,
      { { "max", "deg", 25 },
        { "p95", "deg", 15 },
        { "mean", "deg", 10 },
        BEND_PART( "trunk" ),
        BEND_PART( "head" ),
        BEND_LIMB( "arm" ),
        BEND_PART( "hand" ),
        BEND_LIMB( "leg" ),
        BEND_PART( "foot" ),
        BEND_PART( "other" ) } },
    { "range_overshoot_deg",
      "joints turn farther than people, or the source, can turn them",
      tr_measure_ranges,
      { { "max", "deg", 1 },
        { "frames_pct", "%", 1 },
        { "trunk", "deg", 1 },
        { "head", "deg", 1 },
        { "arm", "deg", 1 },
        { "hand", "deg", 1 },
        { "leg", "deg", 1 },
        { "foot", "deg", 1 },
        { "other", "deg", 1 } },
      "joint",
      "frame" },
    { "balance",
      "bodies lean farther out than the source does",
      tr_measure_balance,
      { { "max_mm", "mm", 100 }, { "p95_mm", "mm", 50 }, { "mean_mm", "mm", 20 } },
      "joint",
      "frame" },
    { "hip_height",
      "bodies crouch where the source does not",
      tr_measure_hip_height,
      { { "below_pct", "%", 1 }, { "least", "", 0.85, true } },
      "joint",
      "frame" },
    { "pose_error_deg", "poses differ from the source's", tr_measure_pose, { { "value", "deg", 10 } } },
    { "identity_error_m",
      "nothing was asked for, yet the motion is not the source's",
      tr_measure_identity,
      { { "value", "m", 1e-4 } } },
    { "example_error_deg",
      "poses differ from the examples in their own frames",
      tr_measure_example_error,
      { { "max", "deg", 20 }, { "mean", "deg", 5 } },
      "joint",
      "frame" },
    { "part_direction_deg",
      "parts go elsewhere than the chains that drive them",
      tr_measure_part_direction,
      { { "max", "deg", HUGE_VAL }, { "p95", "deg", HUGE_VAL }, { "mean", "deg", HUGE_VAL } } },
    { "unlike_pct",
      "poses of the source are unlike any example",
      tr_measure_unlike,
      { { "value", "%", 10 } } },
    { "edit_handle_mm",
      "what was dragged is not where it was dragged to",
      tr_measure_edit_handle,
      { { "value", "mm", 1 } } },
    { "edit_leak_mm", "an edit moved what it should not", tr_measure_edit_leak, { { "value", "mm" } } },
};

enum { row_count = sizeof rows / sizeof rows[0] };

// ------------------------------------------------------------------------------------------------ takes

void tr_measuring_end( tr_measuring *m )
{
    tr_free( m->out.performers );
    tr_free( m->out.props );
    tr_free( m->source.performers );
    tr_free( m->source.props );
}

int tr_performer_capsule( const tr_performer *performer, const tr_capsule *capsule,
                          const tr_performer *source )
{
    int joint = tr_performer_source( performer, capsule->joint );
    bool ball = capsule->joint == capsule->parent;
    for ( int i = 0; i < source->body->capsule_count && joint >= 0; ++i ) {
        const tr_capsule *other = &source->body->capsules[i];
        if ( other->joint == joint && ( other->joint == other->parent ) == ball )
            return i;
    }
    return -1;
}

static bool alloc_take( tr_take *take, const tr_stage *stage )
{
    *take = ( tr_take ){ .performer_count = stage->actor_count,
                         .prop_count = stage->prop_count,
                         .frame_count = stage->frame_count,
                         .fps = stage->fps,
                         .ground = stage->ground };
    take->performers = tr_alloc( (size_t)stage->actor_count, sizeof( tr_performer ) );
    take->props = tr_alloc( (size_t)stage->prop_count, sizeof( tr_take_prop ) );
    return take->performers != NULL && take->props != NULL;
}

static void fill_takes( tr_measuring *m )
{
    for ( int c = 0; c < m->stage->actor_count; ++c ) {
        const tr_actor *actor = &m->stage->actors[c];
        m->source.performers[c] = ( tr_performer ){ .skeleton = &actor->source.skeleton,
                                                    .body = &actor->source_body,
                                                    .world = &actor->world,
                                                    .clip = &actor->source.clip,
                                                    .contacts = &actor->contacts,
                                                    .height = tr_skeleton_height( &actor->source.skeleton ) };
        m->out.performers[c] = ( tr_performer ){ .skeleton = &actor->target,
                                                 .body = &actor->body,
                                                 .world = &m->result->worlds[c],
                                                 .clip = &m->result->motions[c].clip,
                                                 .map = actor->map,
                                                 .actor = actor,
                                                 .height = tr_skeleton_height( &actor->target ) };
    }
    for ( int i = 0; i < m->stage->prop_count; ++i ) {
        const tr_stage_prop *prop = &m->stage->props[i];
        m->source.props[i] = ( tr_take_prop ){ prop->track, prop->shape };
        m->out.props[i] = ( tr_take_prop ){ m->result->tracks[i], tr_stage_prop_shape( m->stage, i, false ) };
    }
}

bool tr_measuring_begin( tr_measuring *m, const tr_stage *stage, const tr_result *result )
{
    *m = ( tr_measuring ){ .def = tr_default_measure_def(), .stage = stage, .result = result };
    bool ok = alloc_take( &m->out, stage );
    ok = alloc_take( &m->source, stage ) && ok;
    if ( ok )
        fill_takes( m );
    return ok;
}

// Figures need a motion without gaps.
static bool check_result( const tr_stage *stage, const tr_result *result, tr_error *error )
{
    assert( result->actor_count == stage->actor_count && result->prop_count == stage->prop_count &&
            result->frame_count == stage->frame_count );
    for ( int c = 0; c < result->actor_count; ++c ) {
        const tr_world *world = &result->worlds[c];
        assert( world->joint_count == stage->actors[c].target.joint_count );
        size_t joints = (size_t)world->joint_count, cells = joints * (size_t)world->frame_count;
        for ( size_t i = 0; i < cells; ++i )
            if ( !v3_finite( world->positions[i] ) || !q_finite( world->rotations[i] ) )
                return tr_error_set( error, "character %d has no place for joint \"%s\" at frame %d", c,
                                     stage->actors[c].target.joints[i % joints].name, (int)( i / joints ) );
    }
    return true;
}

// ------------------------------------------------------------------------------------------------- runs

static const char *nothing_to_measure( const tr_stage *stage )
{
    if ( stage->actor_count == 0 )
        return "the scene has no characters";
    return stage->frame_count == 0 ? "the scene has no frames" : NULL;
}

static bool is_worse( const tr_measure_def *def, const field_row *field, double out, double source )
{
    double sign = field->more_is_better ? -1 : 1;
    double limit = fmax( sign * source, sign * field->fine );
    return sign * out > limit + def->margin * fabs( limit ) + def->same;
}

static tr_metric_place place_of( const tr_measuring *m, const tr_take *take, const tr_figures *figures )
{
    const tr_scene *scene = m->stage->scene;
    tr_metric_place place = { .frame = figures->placed ? figures->frame + scene->first : 0 };
    int who = figures->who, prop = who - take->performer_count;
    if ( !figures->placed )
        return place;
    if ( prop >= 0 )
        snprintf( place.name, sizeof place.name, "%s",
                  prop < scene->prop_count ? scene->props[prop].id : "?" );
    else
        snprintf( place.name, sizeof place.name, "%s.%s", who < scene->cast_count ? scene->cast[who].id : "?",
                  take->performers[who].skeleton->joints[figures->joint].name );
    return place;
}

static void report_row( tr_metric *metric, const metric_row *row, const tr_measure_def *def,
                        const tr_figures *out, const tr_figures *source )
{
    *metric = ( tr_metric ){ .key = row->key,
                             .worse = row->worse,
                             .unit = row->fields[0].unit,
                             .place_name = row->place_name,
                             .place_frame = row->place_frame };
    metric->reason = out->reason != NULL ? out->reason : source->reason;
    for ( int i = 0; i < TR_METRIC_FIELDS && row->fields[i].name != NULL; ++i ) {
        if ( out->absent[i] && source->absent[i] )
            continue;
        bool out_null = out->null[i] || out->absent[i] || !isfinite( out->values[i] );
        bool source_null = source->null[i] || source->absent[i] || !isfinite( source->values[i] );
        tr_metric_field *field = &metric->fields[metric->field_count++];
        *field = ( tr_metric_field ){ .name = row->fields[i].name,
                                      .unit = row->fields[i].unit,
                                      .out = out_null ? 0 : out->values[i],
                                      .source = source_null ? 0 : source->values[i],
                                      .out_null = out_null,
                                      .source_null = source_null };
        if ( ( out_null || source_null ) && metric->reason == NULL )
            metric->reason = "a value is out of range";
        field->worse = !out_null && is_worse( def, &row->fields[i], field->out,
                                              source_null ? row->fields[i].fine : field->source );
    }
}

static bool run_row( tr_metric *metric, const metric_row *row, const tr_measuring *m )
{
    tr_figures out = { 0 }, source = { 0 };
    const char *reason = nothing_to_measure( m->stage );
    bool ok = true;
    if ( reason != NULL ) {
        tr_figures_null( &out, reason );
        tr_figures_null( &source, reason );
    } else {
        ok = row->measure( m, &m->out, &out ) && row->measure( m, &m->source, &source );
    }
    report_row( metric, row, &m->def, &out, &source );
    metric->out_place = place_of( m, &m->out, &out );
    metric->source_place = place_of( m, &m->source, &source );
    return ok;
}

bool tr_measure( tr_measures *out, const tr_stage *stage, const tr_result *result, tr_error *error )
{
    *out = ( tr_measures ){ 0 };
    if ( !check_result( stage, result, error ) )
        return false;
    tr_measuring m;
    tr_error stopped = { 0 };
    bool ok = tr_measuring_begin( &m, stage, result );
    out->metrics = tr_alloc( row_count, sizeof( tr_metric ) );
    ok = ok && out->metrics != NULL;
    for ( ; out->count < row_count && ok; ++out->count )
        ok = tr_progress_report( stage->progress, out->count, row_count, &stopped ) &&
             run_row( &out->metrics[out->count], &rows[out->count], &m );
    tr_measuring_end( &m );
    if ( ok )
        return true;
    tr_measures_free( out );
    return stopped.message[0] != 0 ? tr_error_set( error, "%s", stopped.message ) : tr_error_memory( error );
}

void tr_measures_free( tr_measures *measures )
{
    tr_free( measures->metrics );
    *measures = ( tr_measures ){ 0 };
}

const tr_metric *tr_measures_find( const tr_measures *measures, const char *key )
{
    for ( int i = 0; i < measures->count; ++i )
        if ( strcmp( measures->metrics[i].key, key ) == 0 )
            return &measures->metrics[i];
    return NULL;
}
