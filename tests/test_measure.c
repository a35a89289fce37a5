// Every figure on a tiny hand-made motion: a few straight chains of joints one metre apart, moved by hand.
#include "check.h"
#include "scene/scene.h"

#include <string.h>

// ----------------------------------------------------------------------------------------- puppet theatre

typedef struct theatre {
    tr_scene scene;
    tr_stage stage;
    tr_result result;
    tr_measures measures;
} theatre;

// A vertical chain of joints, 1 m apart, all in one limb.
static void make_chain( tr_skeleton *skeleton, int joints )
{
    for ( int j = 0; j < joints; ++j )
        assert_int_equal( tr_skeleton_add( skeleton, "joint", j - 1, j == 0 ? v3_zero : v3_y ), j );
    skeleton->limbs = tr_alloc( 1, sizeof( tr_limb ) );
    skeleton->limb_count = 1;
    for ( int j = 0; j < joints; ++j )
        skeleton->joints[j].limb = 0;
}

static void make_motion( tr_motion *motion, int joints, int frames, double fps )
{
    make_chain( &motion->skeleton, joints );
    assert_true( tr_clip_alloc( &motion->clip, frames, joints, fps, false, NULL ) );
}

static void make_world( tr_world *world, int actor, int joints, int frames )
{
    size_t cells = (size_t)joints * (size_t)frames;
    *world =
        ( tr_world ){ joints, frames, tr_alloc( cells, sizeof( quat ) ), tr_alloc( cells, sizeof( vec3 ) ) };
    for ( size_t i = 0; i < cells; ++i ) {
        world->rotations[i] = q_identity;
        world->positions[i] = v3( 10.0 * actor, (double)( i % (size_t)joints ), 0 );
    }
}

// `actors` chains, 10 m apart along x, standing still; nothing else on stage. The result equals the source.
static theatre *open_theatre( int actors, int joints, int frames, double fps )
{
    theatre *t = tr_alloc( 1, sizeof *t );
    t->scene.last = frames - 1;
    t->stage = ( tr_stage ){ .scene = &t->scene, .frame_count = frames, .fps = fps, .actor_count = actors };
    t->stage.actors = tr_alloc( (size_t)actors, sizeof( tr_actor ) );
    t->stage.groups = tr_alloc( 1, sizeof( tr_group ) );
    t->stage.groups[0] = ( tr_group ){ .path_scale = 1, .rise = 1, .size_ratio = 1 };
    t->stage.group_count = 1;
    t->result = ( tr_result ){ .actor_count = actors, .frame_count = frames };
    t->result.motions = tr_alloc( (size_t)actors, sizeof( tr_motion ) );
    t->result.worlds = tr_alloc( (size_t)actors, sizeof( tr_world ) );
    for ( int c = 0; c < actors; ++c ) {
        tr_actor *actor = &t->stage.actors[c];
        make_motion( &actor->source, joints, frames, fps );
        make_motion( &t->result.motions[c], joints, frames, fps );
        make_chain( &actor->target, joints );
        make_world( &actor->world, c, joints, frames );
        make_world( &t->result.worlds[c], c, joints, frames );
        actor->map = tr_alloc( (size_t)joints, sizeof( int ) );
        actor->align = tr_alloc( (size_t)joints, sizeof( quat ) );
        for ( int j = 0; j < joints; ++j ) {
            actor->map[j] = j;
            actor->align[j] = q_identity;
        }
    }
    return t;
}

static void close_theatre( theatre *t )
{
    tr_measures_free( &t->measures );
    tr_result_free( &t->result );
    tr_stage_free( &t->stage );
    tr_free( t );
}

static vec3 *source_at( theatre *t, int actor, int frame, int joint )
{
    return tr_world_pose( &t->stage.actors[actor].world, frame ).positions + joint;
}

static vec3 *out_at( theatre *t, int actor, int frame, int joint )
{
    return tr_world_pose( &t->result.worlds[actor], frame ).positions + joint;
}

static void put_both( theatre *t, int actor, int frame, int joint, vec3 place )
{
    *source_at( t, actor, frame, joint ) = *out_at( t, actor, frame, joint ) = place;
}

// A target body `factor` times as large; positions stay as they are.
static void resize_target( theatre *t, int actor, double factor )
{
    tr_skeleton *target = &t->stage.actors[actor].target;
    for ( int j = 0; j < target->joint_count; ++j )
        target->joints[j].offset = v3_scale( factor, target->joints[j].offset );
}

static void add_capsule_to( tr_body *body, tr_capsule capsule )
{
    body->capsules = tr_realloc( body->capsules, (size_t)body->capsule_count + 1, sizeof( tr_capsule ) );
    body->capsules[body->capsule_count++] = capsule;
}

// The capsule of the bone above `joint`, on both bodies.
static void add_capsule( theatre *t, int actor, int joint, double radius )
{
    tr_capsule capsule = { joint, joint - 1, v3_zero, v3_y, radius };
    add_capsule_to( &t->stage.actors[actor].body, capsule );
    add_capsule_to( &t->stage.actors[actor].source_body, capsule );
}

// A ball around `joint`, on both bodies.
static void add_ball( theatre *t, int actor, int joint, double radius )
{
    tr_capsule capsule = { joint, joint, v3_zero, v3_zero, radius };
    add_capsule_to( &t->stage.actors[actor].body, capsule );
    add_capsule_to( &t->stage.actors[actor].source_body, capsule );
}

static void add_prop( theatre *t, vec3 size, vec3 position )
{
    int frames = t->stage.frame_count;
    t->stage.props = tr_alloc( 1, sizeof( tr_stage_prop ) );
    t->stage.props[0] = ( tr_stage_prop ){ tr_alloc( (size_t)frames, sizeof( rigid ) ), size, 1.0, 0 };
    t->result.tracks = tr_alloc( 1, sizeof( rigid * ) );
    t->result.tracks[0] = tr_alloc( (size_t)frames, sizeof( rigid ) );
    for ( int f = 0; f < frames; ++f )
        t->stage.props[0].track[f] = t->result.tracks[0][f] = ( rigid ){ q_identity, position };
    t->stage.prop_count = t->result.prop_count = 1;
}

static tr_rule *add_rule( theatre *t, tr_constraint_kind kind, int actor, int joint, int first, int last )
{
    int n = t->stage.rule_count++;
    t->stage.rules = tr_realloc( t->stage.rules, (size_t)n + 1, sizeof( tr_rule ) );
    t->result.reports = tr_realloc( t->result.reports, (size_t)n + 1, sizeof( tr_rule_report ) );
    t->result.rule_count = n + 1;
    t->stage.rules[n] = ( tr_rule ){ .kind = kind,
                                     .constraint = n,
                                     .a = { actor, -1, { joint }, { 1 }, 1 },
                                     .b = { -1, -1 },
                                     .first = first,
                                     .last = last,
                                     .hard = true,
                                     .axis = { true, true, true },
                                     .given = true,
                                     .rotation = q_identity,
                                     .surface_prop = -1 };
    return &t->stage.rules[n];
}

static void add_contact( theatre *t, int actor, int joint, int first, int last )
{
    tr_contacts *contacts = &t->stage.actors[actor].contacts;
    assert_true( tr_array_reserve( (void **)&contacts->items, &contacts->capacity, contacts->count + 1,
                                   sizeof( tr_contact ) ) );
    contacts->items[contacts->count++] = ( tr_contact ){ joint, first, last, TR_SURFACE_GROUND, 0 };
    t->stage.actors[actor].source.skeleton.joints[joint].role = TR_ROLE_FOOT;
}

// --------------------------------------------------------------------------------------------- reading

static const tr_metric *metric_of( theatre *t, const char *key )
{
    if ( t->measures.count == 0 ) {
        tr_error error = { 0 };
        check_ok( tr_measure( &t->measures, &t->stage, &t->result, &error ), &error );
    }
    const tr_metric *metric = tr_measures_find( &t->measures, key );
    assert_non_null( metric );
    return metric;
}

static void measure_again( theatre *t )
{
    tr_measures_free( &t->measures );
}

static const tr_metric_field *field_of( theatre *t, const char *key, const char *name )
{
    const tr_metric *metric = metric_of( t, key );
    for ( int i = 0; i < metric->field_count; ++i )
        if ( strcmp( metric->fields[i].name, name ) == 0 )
            return &metric->fields[i];
    return NULL;
}

static double out_of( theatre *t, const char *key, const char *name )
{
    const tr_metric_field *field = field_of( t, key, name );
    assert_non_null( field );
    assert_false( field->out_null );
    return field->out;
}

static double source_of( theatre *t, const char *key, const char *name )
{
    const tr_metric_field *field = field_of( t, key, name );
    assert_non_null( field );
    assert_false( field->source_null );
    return field->source;
}

// All fields are null and there is a reason with this word in it.
static void check_null( theatre *t, const char *key, const char *word )
{
    const tr_metric *metric = metric_of( t, key );
    assert_true( metric->field_count > 0 );
    for ( int i = 0; i < metric->field_count; ++i )
        assert_true( metric->fields[i].out_null && metric->fields[i].source_null );
    assert_non_null( metric->reason );
    if ( strstr( metric->reason, word ) == NULL )
        fail_msg( "%s: \"%s\" does not say \"%s\"", key, metric->reason, word );
}

// ---------------------------------------------------------------------------------------- single bodies

static void bone_lengths( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 3, 2, 30 );
    out_at( t, 0, 1, 1 )->y = 1.02; // bone 1 is 2 % too long, bone 2 then 2 % too short
    check_near( out_of( t, "bone_length_error_pct", "value" ), 2, 1e-12 );
    check_near( source_of( t, "bone_length_error_pct", "value" ), 0, 0 );
    assert_null( metric_of( t, "bone_length_error_pct" )->reason );
    assert_null( field_of( t, "bone_length_error_pct", "short_bones_mm" ) ); // there are none
    // Bone 2 becomes half a millimetre long and is found up to 1 m long: 999.5 mm off, not 199900 %.
    t->stage.actors[0].target.joints[2].offset = v3( 0, 5e-4, 0 );
    measure_again( t );
    check_near( out_of( t, "bone_length_error_pct", "value" ), 2, 1e-12 );
    check_near( out_of( t, "bone_length_error_pct", "short_bones_mm" ), 999.5, 1e-9 );
    close_theatre( t );
    t = open_theatre( 1, 1, 2, 30 );
    check_null( t, "bone_length_error_pct", "bone" );
    close_theatre( t );
}

static void feet_that_skate( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 2, 5, 10 );
    add_contact( t, 0, 0, 1, 3 );
    // Horizontal steps of 10 and 30 mm in the contact's frames, 10 frames per second: 100 and 300 mm/s. The
    // rise of a metre and what happens outside frames 1 … 3 do not count.
    *out_at( t, 0, 2, 0 ) = v3( 0.01, 1, 0 );
    *out_at( t, 0, 3, 0 ) = v3( 0.01, 0, 0.03 );
    *out_at( t, 0, 4, 0 ) = v3( 5, 0, 0 );
    source_at( t, 0, 2, 0 )->x = 0.001; // 10 mm/s there and back
    check_near( out_of( t, "foot_skate_mm_s", "mean" ), 200, 1e-9 );
    check_near( out_of( t, "foot_skate_mm_s", "p95" ), 300, 1e-9 );
    check_near( source_of( t, "foot_skate_mm_s", "mean" ), 10, 1e-9 );
    assert_true( field_of( t, "foot_skate_mm_s", "mean" )->worse );
    assert_int_equal( metric_of( t, "foot_skate_mm_s" )->field_count, 2 );
    close_theatre( t );
}

static void skate_does_not_depend_on_the_rate( void **state )
{
    (void)state;
    for ( int factor = 1; factor <= 4; factor *= 2 ) {
        theatre *t = open_theatre( 1, 2, 4 * factor + 1, 10.0 * factor );
        add_contact( t, 0, 0, 0, 4 * factor );
        for ( int f = 0; f <= 4 * factor; ++f )
            out_at( t, 0, f, 0 )->x = 0.2 * f / ( 10.0 * factor ); // 0.2 m/s
        check_near( out_of( t, "foot_skate_mm_s", "mean" ), 200, 1e-9 );
        close_theatre( t );
    }
}

static void skate_needs_labelled_feet( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 2, 5, 10 );
    check_null( t, "foot_skate_mm_s", "foot" );
    add_contact( t, 0, 0, 1, 3 );
    t->stage.actors[0].source.skeleton.joints[0].role = TR_ROLE_HAND; // a leaning hand is no foot
    measure_again( t );
    check_null( t, "foot_skate_mm_s", "foot" );
    close_theatre( t );
}

static void depth_below_the_ground( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 2, 5, 30 );
    t->stage.ground = 0.5;
    for ( int f = 0; f < 5; ++f )
        for ( int j = 0; j < 2; ++j )
            put_both( t, 0, f, j, v3( 0, 1 + j, 0 ) );
    resize_target( t, 0, 2 );                    // 2 m against 1 m
    *out_at( t, 0, 3, 0 ) = v3( 0, 0.45, 0 );    // 50 mm below the ground
    *source_at( t, 0, 3, 0 ) = v3( 0, 0.48, 0 ); // 20 mm: twice that, 40, is the body's own
    check_near( out_of( t, "ground_penetration_mm", "max" ), 10, 1e-9 );
    check_near( out_of( t, "ground_penetration_mm", "mean" ), 10.0 / 10, 1e-9 ); // of 2 joints · 5 frames
    check_near( source_of( t, "ground_penetration_mm", "max" ), 0, 0 );
    close_theatre( t );
}

// x(t) = a t³ has the third difference 6a.
static void cubic_path( theatre *t, double a_source, double a_out )
{
    for ( int f = 0; f < t->stage.frame_count; ++f )
        for ( int j = 0; j < 2; ++j ) {
            source_at( t, 0, f, j )->x = a_source * f * f * f;
            out_at( t, 0, f, j )->x = a_out * f * f * f;
        }
}

static void jerk( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 2, 8, 30 );
    cubic_path( t, 1e-3, 3e-3 );
    check_near( out_of( t, "jerk_ratio", "value" ), 3, 1e-9 );
    check_near( source_of( t, "jerk_ratio", "value" ), 1, 1e-9 );
    assert_true( field_of( t, "jerk_ratio", "value" )->worse );
    resize_target( t, 0, 3 ); // three times the body may move three times as far
    measure_again( t );
    check_near( out_of( t, "jerk_ratio", "value" ), 1, 1e-9 );
    assert_false( field_of( t, "jerk_ratio", "value" )->worse );
    close_theatre( t );
}

static void smoothness_needs_frames_and_a_moving_source( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 2, 3, 30 );
    check_null( t, "jerk_ratio", "four frames" );
    check_null( t, "acceleration_spike", "source" );
    close_theatre( t );
    t = open_theatre( 1, 2, 2, 30 );
    check_null( t, "acceleration_spike", "three frames" );
    check_near( out_of( t, "rotation_spike_deg", "value" ), 0, 0 );
    close_theatre( t );
    t = open_theatre( 1, 2, 1, 30 );
    check_null( t, "rotation_spike_deg", "two frames" );
    close_theatre( t );
    t = open_theatre( 1, 2, 40, 120 ); // an even walk: rounding is no jerk
    for ( int f = 0; f < 40; ++f )
        for ( int j = 0; j < 2; ++j )
            put_both( t, 0, f, j, v3( 0.1 * f, j, 0 ) );
    check_null( t, "jerk_ratio", "evenly" );
    check_null( t, "acceleration_spike", "evenly" );
    close_theatre( t );
    t = open_theatre( 1, 2, 5, 30 );
    cubic_path( t, 1e-3, 1e-3 );
    t->stage.actors[0].map[0] = t->stage.actors[0].map[1] = -1;
    const char *keys[] = { "jerk_ratio", "acceleration_spike", "pose_error_deg", "rotation_spike_deg" };
    for ( int i = 0; i < 4; ++i ) { // the source still corresponds to itself
        assert_true( field_of( t, keys[i], "value" )->out_null );
        assert_false( field_of( t, keys[i], "value" )->source_null );
        assert_non_null( strstr( metric_of( t, keys[i] )->reason, "corresponds" ) );
    }
    close_theatre( t );
}

static void a_pop_in_acceleration( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 2, 9, 30 );
    for ( int f = 0; f < 9; ++f ) // x = t² mm has the second difference 2 mm everywhere
        for ( int j = 0; j < 2; ++j )
            put_both( t, 0, f, j, v3( 1e-3 * f * f, j, 0 ) );
    // One joint jumps 5 mm at one frame: the differences about it are 2 + 5, 2 − 10 and 2 + 5.
    out_at( t, 0, 4, 1 )->x += 5e-3;
    check_near( out_of( t, "acceleration_spike", "value" ), 8.0 / 2, 1e-9 );
    check_near( source_of( t, "acceleration_spike", "value" ), 1, 1e-9 );
    close_theatre( t );
}

static void flips_of_rotation( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 2, 3, 30 );
    // Joint 1 turns 10° a frame in the source; in the result 10° and then 50°: 40° more.
    for ( int f = 0; f < 3; ++f ) {
        double out = f == 0 ? 0 : f == 1 ? 10 : 60;
        tr_clip_frame( &t->stage.actors[0].source.clip, f )[1] = q_axis_angle( v3_x, 10 * f * TR_DEGREE );
        tr_clip_frame( &t->result.motions[0].clip, f )[1] = q_axis_angle( v3_z, out * TR_DEGREE );
    }
    check_near( out_of( t, "rotation_spike_deg", "value" ), 40, 1e-9 );
    check_near( source_of( t, "rotation_spike_deg", "value" ), 0, 1e-9 );
    // the other sign of a quaternion is the same rotation
    quat *q = &tr_clip_frame( &t->result.motions[0].clip, 1 )[1];
    *q = q_negate( *q );
    measure_again( t );
    check_near( out_of( t, "rotation_spike_deg", "value" ), 40, 1e-9 );
    close_theatre( t );
}

static void likeness_of_pose( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 2, 2, 30 );
    for ( int f = 0; f < 2; ++f ) // one of two joints is off by 30°
        tr_world_pose( &t->result.worlds[0], f ).rotations[1] = q_axis_angle( v3_one, 30 * TR_DEGREE );
    check_near( out_of( t, "pose_error_deg", "value" ), 15, 1e-9 );
    check_near( source_of( t, "pose_error_deg", "value" ), 0, 1e-9 );
    // the same 30° as the difference of the two rest poses is no error
    t->stage.actors[0].align[1] = q_axis_angle( v3_one, 30 * TR_DEGREE );
    measure_again( t );
    check_near( out_of( t, "pose_error_deg", "value" ), 0, 1e-9 );
    close_theatre( t );
}

static void identity( void **state )
{
    (void)state;
    theatre *t = open_theatre( 2, 2, 3, 30 );
    *out_at( t, 1, 2, 1 ) = v3( 10 + 3e-3, 1, 4e-3 ); // 3, 4, 5
    check_near( out_of( t, "identity_error_m", "value" ), 5e-3, 1e-12 );
    check_near( source_of( t, "identity_error_m", "value" ), 0, 0 );
    resize_target( t, 1, 1.5 );
    measure_again( t );
    check_null( t, "identity_error_m", "bodies differ" );
    resize_target( t, 1, 1 / 1.5 );
    t->stage.groups[0].path_scale = 0.9;
    measure_again( t );
    check_null( t, "identity_error_m", "scaled" );
    t->stage.groups[0].path_scale = 1;
    add_rule( t, TR_CONSTRAINT_ABSOLUTE, 0, 0, 0, 2 );
    measure_again( t );
    check_null( t, "identity_error_m", "constraint" );
    t->stage.rules[0].given = false;
    t->scene.layer_count = 1;
    measure_again( t );
    check_null( t, "identity_error_m", "edits" );
    close_theatre( t );
}

// ------------------------------------------------------------------------------------------ constraints

static void contact_constraints( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 2, 30, 30 );
    add_rule( t, TR_CONSTRAINT_CONTACT, 0, 0, 5, 24 );
    // 1, 2, … 20 mm away in the twenty frames of the range, far away outside. 95 % of 20 are 19.
    for ( int f = 0; f < 30; ++f )
        out_at( t, 0, f, 0 )->z = f >= 5 && f <= 24 ? 1e-3 * ( f - 4 ) : 1;
    source_at( t, 0, 7, 0 )->x = 2e-3;
    check_near( out_of( t, "contact_error_mm", "max" ), 20, 1e-9 );
    check_near( out_of( t, "contact_error_mm", "p95" ), 19, 1e-9 );
    check_near( out_of( t, "contact_error_mm", "mean" ), 10.5, 1e-9 );
    check_near( out_of( t, "contact_error_mm", "gave_way" ), 0, 0 );
    check_near( source_of( t, "contact_error_mm", "max" ), 2, 1e-9 );
    check_near( source_of( t, "contact_error_mm", "mean" ), 0.1, 1e-9 );
    // A second one that gave way is counted, not averaged.
    add_rule( t, TR_CONSTRAINT_CONTACT, 0, 1, 0, 29 )->target = v3( 9, 9, 9 );
    t->result.reports[1].gave_way = true;
    measure_again( t );
    check_near( out_of( t, "contact_error_mm", "max" ), 20, 1e-9 );
    check_near( out_of( t, "contact_error_mm", "gave_way" ), 1, 0 );
    close_theatre( t );
    t = open_theatre( 1, 2, 3, 30 );
    check_null( t, "contact_error_mm", "contact" );
    close_theatre( t );
}

static void relative_constraints( void **state )
{
    (void)state;
    theatre *t = open_theatre( 2, 2, 4, 30 );
    tr_rule *rule = add_rule( t, TR_CONSTRAINT_RELATIVE, 0, 1, 1, 2 );
    rule->b = ( tr_anchor ){ 1, -1, { 1 }, { 1 }, 1 };
    rule->given = false;             // the source's offset, -10 m along x
    out_at( t, 0, 1, 1 )->x += 6e-3; // 6 mm off at frame 1
    out_at( t, 1, 2, 1 )->y += 2e-3; // the partner 2 mm off at frame 2
    out_at( t, 0, 3, 1 )->x += 1;    // outside
    check_near( out_of( t, "relative_error_mm", "max" ), 6, 1e-9 );
    check_near( out_of( t, "relative_error_mm", "p95" ), 6, 1e-9 );
    check_near( out_of( t, "relative_error_mm", "mean" ), 4, 1e-9 );
    check_near( source_of( t, "relative_error_mm", "max" ), 0, 0 );
    // A given offset of -10.001 m: the source itself is 1 mm away from it.
    t->stage.rules[0].given = true;
    t->stage.rules[0].target = v3( -10.001, 0, 0 );
    measure_again( t );
    check_near( source_of( t, "relative_error_mm", "mean" ), 1, 1e-9 );
    check_near( out_of( t, "relative_error_mm", "max" ), 7, 1e-9 );
    close_theatre( t );
    t = open_theatre( 2, 2, 3, 30 );
    check_null( t, "relative_error_mm", "relative" );
    close_theatre( t );
}

// ------------------------------------------------------------------------------------------- penetration

static void bodies_in_bodies( void **state )
{
    (void)state;
    theatre *t = open_theatre( 2, 2, 4, 30 );
    add_capsule( t, 0, 1, 0.1 );
    add_capsule( t, 1, 1, 0.2 );
    // Upright capsules of radii 0.1 and 0.2 with axes 10 m apart; at frame 1 0.25 m (50 mm deep), at frame 2
    // 0.295 m (5 mm: an overlap, but under 1 cm).
    for ( int j = 0; j < 2; ++j ) {
        *out_at( t, 1, 1, j ) = v3( 0.25, j, 0 );
        *out_at( t, 1, 2, j ) = v3( 0, j, 0.295 );
        *source_at( t, 1, 3, j ) = v3( 0, j, 0.28 );
    }
    check_near( out_of( t, "inter_penetration", "frames_pct" ), 25, 1e-12 );
    check_near( out_of( t, "inter_penetration", "max_mm" ), 50, 1e-9 );
    check_near( out_of( t, "inter_penetration", "mean_mm" ), 55.0 / 4, 1e-9 );
    check_near( out_of( t, "inter_penetration", "sum_sq_m2" ), 0.05 * 0.05 + 0.005 * 0.005, 1e-12 );
    check_near( source_of( t, "inter_penetration", "max_mm" ), 20, 1e-9 );
    assert_true( field_of( t, "inter_penetration", "max_mm" )->worse );
    assert_false( field_of( t, "inter_penetration", "frames_pct" )->worse );
    close_theatre( t );
    t = open_theatre( 1, 2, 4, 30 );
    add_capsule( t, 0, 1, 0.1 );
    check_null( t, "inter_penetration", "two bodies" );
    close_theatre( t );
}

static void bodies_in_themselves( void **state )
{
    (void)state;
    // Five bones one above the other. Bones 1 and 5 have two joints and three bones between their nearest
    // ends (joints 1 and 4); bone 4's nearest end is joint 3, two bones from joint 1: a neighbour.
    theatre *t = open_theatre( 1, 6, 2, 30 );
    for ( int j = 1; j <= 5; ++j )
        add_capsule( t, 0, j, 0.1 );
    // Folded at frame 1: joint 4 comes beside joint 0, 0.17 away, and bone 5 stands beside bone 1: 30 mm.
    // Joint 3 is put there as well, so bone 4 stands in the same place, but it is a neighbour.
    *out_at( t, 0, 1, 3 ) = *out_at( t, 0, 1, 4 ) = v3( 0.17, 0, 0 );
    check_near( out_of( t, "self_penetration", "max_mm" ), 30, 1e-9 );
    check_near( out_of( t, "self_penetration", "sum_sq_m2" ), 0.0009, 1e-12 );
    check_near( out_of( t, "self_penetration", "frames_pct" ), 50, 1e-12 );
    check_near( source_of( t, "self_penetration", "max_mm" ), 0, 0 );
    close_theatre( t );
    t = open_theatre( 1, 5, 2, 30 );
    for ( int j = 1; j <= 4; ++j )
        add_capsule( t, 0, j, 0.1 );
    check_null( t, "self_penetration", "apart" );
    close_theatre( t );
    // Radii of 1.6 m: bones 1 and 5 overlap in the rest pose already (3 m apart) and are left out.
    t = open_theatre( 1, 6, 2, 30 );
    add_capsule( t, 0, 1, 1.6 );
    add_capsule( t, 0, 5, 1.6 );
    check_null( t, "self_penetration", "apart" );
    close_theatre( t );
}

static void bodies_in_props( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 2, 2, 30 );
    add_capsule( t, 0, 1, 0.1 );
    check_null( t, "prop_penetration", "prop" );
    // A box of 1 m whose face is 0.08 m from the axis of the capsule: 20 mm deep. The result's box is 1.1
    // times as large, its face at 0.03 m: 70 mm; at frame 1 it has been moved away.
    add_prop( t, v3_one, v3( 0.58, 0.5, 0 ) );
    t->stage.props[0].scale = 1.1;
    t->result.tracks[0][1].position.x = 5;
    measure_again( t );
    check_near( out_of( t, "prop_penetration", "max_mm" ), 70, 1e-9 );
    check_near( out_of( t, "prop_penetration", "mean_mm" ), 35, 1e-9 );
    check_near( out_of( t, "prop_penetration", "frames_pct" ), 50, 1e-12 );
    check_near( out_of( t, "prop_penetration", "sum_sq_m2" ), 0.0049, 1e-12 );
    check_near( source_of( t, "prop_penetration", "mean_mm" ), 20, 1e-9 );
    close_theatre( t );
}

static void contacts_kept( void **state )
{
    (void)state;
    // Two balls of radius 0.1 per character, on joints 0 and 1; 1 m tall, so 2 cm become 20 / 1.75 = 11.43
    // mm.
    theatre *t = open_theatre( 2, 2, 3, 30 );
    check_null( t, "contact_f1", "touches" );
    for ( int c = 0; c < 2; ++c )
        for ( int j = 0; j < 2; ++j )
            add_ball( t, c, j, 0.1 );
    // Source: both pairs of balls touch (gap 11 mm) at frame 0, the lower ones at frame 1: three contacts.
    *source_at( t, 1, 0, 0 ) = *source_at( t, 1, 1, 0 ) = v3( 0.211, 0, 0 );
    *source_at( t, 1, 0, 1 ) = v3( 0, 1, 0.211 );
    // Result: the lower ones at frames 0 and 1 (kept), the upper ones at frame 2 (new), and at frame 0 the
    // upper ones miss by half a millimetre.
    *out_at( t, 1, 0, 0 ) = *out_at( t, 1, 1, 0 ) = v3( 0, 0, 0.19 );
    *out_at( t, 1, 2, 1 ) = v3( 0.2, 1, 0 );
    *out_at( t, 1, 0, 1 ) = v3( 0.212, 1, 0 );
    measure_again( t );
    check_near( out_of( t, "contact_f1", "precision" ), 2.0 / 3, 1e-12 );
    check_near( out_of( t, "contact_f1", "recall" ), 2.0 / 3, 1e-12 );
    check_near( out_of( t, "contact_f1", "f1" ), 2.0 / 3, 1e-12 );
    check_near( source_of( t, "contact_f1", "f1" ), 1, 0 );
    assert_true( field_of( t, "contact_f1", "f1" )->worse );
    // A body twice as tall reaches 1.5 times as far on average: the half millimetre no longer matters.
    resize_target( t, 1, 2 );
    measure_again( t );
    check_near( out_of( t, "contact_f1", "precision" ), 3.0 / 4, 1e-12 );
    check_near( out_of( t, "contact_f1", "recall" ), 1, 1e-12 );
    check_near( out_of( t, "contact_f1", "f1" ), 6.0 / 7, 1e-12 );
    close_theatre( t );
}

static void contacts_with_props_and_by_map( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 2, 2, 30 );
    add_ball( t, 0, 0, 0.1 );
    add_ball( t, 0, 1, 0.1 );
    add_prop( t, v3_one, v3( 0.605, 0, 0 ) ); // face 5 mm from the lower ball, above it free
    check_near( out_of( t, "contact_f1", "f1" ), 1, 0 );
    // Target joint 1 is driven by source joint 0 and the other way round; the box touches the other ball:
    // the same contacts.
    t->stage.actors[0].map[0] = 1;
    t->stage.actors[0].map[1] = 0;
    t->result.tracks[0][0].position.y = t->result.tracks[0][1].position.y = 1;
    measure_again( t );
    check_near( out_of( t, "contact_f1", "f1" ), 1, 0 );
    // Lost altogether: recall 0, and no precision of nothing.
    t->result.tracks[0][0].position.x = t->result.tracks[0][1].position.x = 9;
    measure_again( t );
    check_near( out_of( t, "contact_f1", "recall" ), 0, 0 );
    check_near( out_of( t, "contact_f1", "f1" ), 0, 0 );
    assert_true( field_of( t, "contact_f1", "precision" )->out_null );
    assert_non_null( metric_of( t, "contact_f1" )->reason );
    close_theatre( t );
}

static void limbs_that_cross( void **state )
{
    (void)state;
    // The crossing of test_geometry: unit segments along x and y, 1 apart along z, link by asin(1/5)/π.
    double link = asin( 0.2 ) / TR_PI;
    theatre *t = open_theatre( 2, 2, 2, 30 );
    for ( int f = 0; f < 2; ++f ) {
        put_both( t, 0, f, 0, v3( -0.5, 0, 0.5 ) );
        put_both( t, 0, f, 1, v3( 0.5, 0, 0.5 ) );
        put_both( t, 1, f, 0, v3( 0, -0.5, -0.5 ) );
        put_both( t, 1, f, 1, v3( 0, 0.5, -0.5 ) );
    }
    // At frame 1 the first limb has passed through the second and lies as far below it.
    out_at( t, 0, 1, 0 )->z = out_at( t, 0, 1, 1 )->z = -1.5;
    check_near( out_of( t, "writhe_deviation", "max" ), 2 * link, 1e-12 );
    check_near( out_of( t, "writhe_deviation", "p95" ), 2 * link, 1e-12 );
    check_near( out_of( t, "writhe_deviation", "same_topology_pct" ), 100, 0 );
    check_near( out_of( t, "writhe_deviation", "sign_changed_pct" ), 0, 0 ); // they hardly link
    check_near( source_of( t, "writhe_deviation", "max" ), 0, 0 );
    // Close by, a passage changes the linking from almost +½ to almost −½.
    for ( int f = 0; f < 2; ++f )
        for ( int j = 0; j < 2; ++j ) {
            source_at( t, 0, f, j )->z = -0.49;
            out_at( t, 0, f, j )->z = f == 0 ? -0.49 : -0.51;
        }
    measure_again( t );
    double near = asin( 0.25 / ( 0.25 + 1e-4 ) ) / TR_PI;
    check_near( out_of( t, "writhe_deviation", "max" ), 2 * near, 1e-9 );
    check_near( out_of( t, "writhe_deviation", "same_topology_pct" ), 50, 0 );
    check_near( out_of( t, "writhe_deviation", "sign_changed_pct" ), 50, 0 );
    assert_true( field_of( t, "writhe_deviation", "max" )->worse );
    assert_true( field_of( t, "writhe_deviation", "same_topology_pct" )->worse );
    close_theatre( t );
    t = open_theatre( 1, 2, 2, 30 );
    check_null( t, "writhe_deviation", "limbs" );
    close_theatre( t );
}

// Four joints, all of them neighbours: A at the origin and above it, B at (1, 0, 0) and (1, 1, 1). B's upper
// joint moves by 0.2 in one frame of two. Its own coordinate changes by 0.2; that of A's lower joint, with
// neighbours at distances 1 and √3, by a share of (1/√3) / (1 + 1/√3) = 0.366 of it; that of A's upper one by
// half, both neighbours being √2 away; bones do not count, so B's lower joint stays. 0.04 (1 + 0.366² + 0.25)
// over 4 joints and 2 frames.
static void relations_by_hand( void **state )
{
    (void)state;
    theatre *t = open_theatre( 2, 2, 2, 30 );
    for ( int f = 0; f < 2; ++f ) {
        put_both( t, 1, f, 0, v3( 1, 0, 0 ) );
        put_both( t, 1, f, 1, v3( 1, 1, 1 ) );
    }
    check_near( out_of( t, "laplacian_energy", "value" ), 0, 0 );
    tr_measures_free( &t->measures );
    out_at( t, 1, 1, 1 )->z += 0.2;
    double share = ( 1 / sqrt( 3 ) ) / ( 1 + 1 / sqrt( 3 ) );
    check_near( out_of( t, "laplacian_energy", "value" ), 0.04 * ( 1.25 + share * share ) / 8, 1e-12 );
    close_theatre( t );
}

// ---------------------------------------------------------------------------------------- all together

static void what_cannot_be_measured_says_why( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 2, 4, 30 );
    check_null( t, "edit_handle_mm", "no edits" );
    check_null( t, "edit_leak_mm", "no edits" );
    assert_null( tr_measures_find( &t->measures, "beauty" ) );
    assert_int_equal( t->measures.count, 18 );
    close_theatre( t );
    t = open_theatre( 0, 1, 4, 30 );
    metric_of( t, "jerk_ratio" );
    for ( int i = 0; i < t->measures.count; ++i )
        check_null( t, t->measures.metrics[i].key, "no characters" );
    close_theatre( t );
    t = open_theatre( 1, 1, 0, 30 );
    check_null( t, "ground_penetration_mm", "no frames" );
    close_theatre( t );
}

static void a_hole_in_the_motion_is_an_error( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 2, 4, 30 );
    out_at( t, 0, 2, 1 )->y = NAN;
    tr_error error = { 0 };
    assert_false( tr_measure( &t->measures, &t->stage, &t->result, &error ) );
    assert_non_null( strstr( error.message, "frame 2" ) );
    close_theatre( t );
}

// Bodies that mill about and into each other: every figure has something to count.
static theatre *crowd( int actors, int frames )
{
    theatre *t = open_theatre( actors, 6, frames, 30 );
    uint64_t state = 7;
    for ( int c = 0; c < actors; ++c ) {
        for ( int j = 1; j < 6; ++j )
            add_capsule( t, c, j, 0.05 + 0.01 * j );
        add_contact( t, c, 0, 1, frames - 2 );
        for ( int f = 0; f < frames; ++f )
            for ( int j = 0; j < 6; ++j ) {
                double x[3];
                for ( int i = 0; i < 3; ++i ) {
                    state = state * 6364136223846793005u + 1442695040888963407u;
                    x[i] = (double)( state >> 40 ) / (double)( 1 << 24 );
                }
                vec3 base = v3( 0.25 * c + 0.3 * sin( 0.1 * f ), 0.3 * j - 0.1, 0 );
                *source_at( t, c, f, j ) = v3_add( base, v3( 0.1 * x[0], 0, 0.2 * x[1] ) );
                *out_at( t, c, f, j ) = v3_add( base, v3( 0.1 * x[1], 0.1 * x[2], 0.2 * x[0] ) );
            }
    }
    add_prop( t, v3_one, v3( 0.4, 0.5, 0.6 ) );
    return t;
}

static char *json_of( theatre *t, tr_text *text )
{
    tr_error error = { 0 };
    measure_again( t );
    check_ok( tr_measure( &t->measures, &t->stage, &t->result, &error ), &error );
    assert_true( tr_measures_print_json( &t->measures, text ) );
    tr_text_append( text, "", 1 );
    return text->data;
}

static void any_number_of_threads_gives_the_same_bits( void **state )
{
    (void)state;
    theatre *t = crowd( 7, 53 );
    tr_text reference = { 0 };
    tr_parallel_set_threads( 1 );
    json_of( t, &reference );
    const int threads[] = { 2, 3, 8 };
    for ( int i = 0; i < 3; ++i ) {
        tr_text text = { 0 };
        tr_parallel_set_threads( threads[i] );
        assert_string_equal( json_of( t, &text ), reference.data );
        tr_text_free( &text );
    }
    tr_parallel_set_threads( 0 );
    tr_text_free( &reference );
    close_theatre( t );
}

// The same figure without boxes, blocks or lists.
static void penetration_against_all_pairs( void **state )
{
    (void)state;
    theatre *t = crowd( 5, 20 );
    double most = 0, sum_of_squares = 0;
    for ( int f = 0; f < 20; ++f )
        for ( int a = 0; a < 25; ++a )
            for ( int b = 0; b < 25; ++b ) {
                if ( a / 5 >= b / 5 )
                    continue;
                vec3 p = *out_at( t, a / 5, f, a % 5 ), q = *out_at( t, b / 5, f, b % 5 );
                double depth = -tr_capsule_distance( p, v3_add( p, v3_y ), 0.06 + 0.01 * ( a % 5 ), q,
                                                     v3_add( q, v3_y ), 0.06 + 0.01 * ( b % 5 ) );
                most = fmax( most, depth );
                sum_of_squares += depth > 0 ? depth * depth : 0;
            }
    assert_true( most > 0 );
    check_near( out_of( t, "inter_penetration", "max_mm" ), 1e3 * most, 1e-9 );
    check_near( out_of( t, "inter_penetration", "sum_sq_m2" ), sum_of_squares, 1e-9 );
    close_theatre( t );
}

static void writhe_against_all_pairs( void **state )
{
    (void)state;
    theatre *t = crowd( 6, 12 );
    double most = 0;
    for ( int f = 0; f < 12; ++f )
        for ( int a = 0; a < 6; ++a )
            for ( int b = a + 1; b < 6; ++b ) {
                double out = tr_chain_linking( out_at( t, a, f, 0 ), 6, out_at( t, b, f, 0 ), 6 );
                double source = tr_chain_linking( source_at( t, a, f, 0 ), 6, source_at( t, b, f, 0 ), 6 );
                most = fmax( most, fabs( out - source ) );
            }
    assert_true( most > 0.02 ); // more than what is left out as negligible
    check_near( out_of( t, "writhe_deviation", "max" ), most, 1e-12 );
    close_theatre( t );
}

static void json_has_the_agreed_shape( void **state )
{
    (void)state;
    theatre *t = crowd( 2, 6 );
    tr_text text = { 0 };
    json_of( t, &text );
    tr_error error = { 0 };
    json_t *json;
    check_ok( tr_json_parse( &json, text.data, text.size - 1, "measures", &error ), &error );
    json_t *metrics = json_object_get( json, "metrics" ), *metric;
    assert_int_equal( json_object_size( json ), 1 );
    assert_int_equal( json_object_size( metrics ), 18 );
    const char *key;
    json_object_foreach( metrics, key, metric )
    {
        assert_int_equal( json_object_size( metric ), 3 );
        assert_true( json_is_object( json_object_get( metric, "out" ) ) );
        assert_true( json_is_object( json_object_get( metric, "source" ) ) );
        assert_non_null( json_object_get( metric, "reason" ) );
    }
    metric = json_object_get( metrics, "edit_leak_mm" );
    assert_true( json_is_null( json_object_get( json_object_get( metric, "out" ), "value" ) ) );
    assert_true( json_is_string( json_object_get( metric, "reason" ) ) );
    metric = json_object_get( metrics, "inter_penetration" );
    assert_true( json_is_null( json_object_get( metric, "reason" ) ) );
    json_t *deepest = json_object_get( json_object_get( metric, "out" ), "max_mm" );
    check_near( json_number_value( deepest ), out_of( t, "inter_penetration", "max_mm" ), 0 );
    json_decref( json );
    tr_text_free( &text );
    close_theatre( t );
}

static void table_can_be_read( void **state )
{
    (void)state;
    theatre *t = crowd( 2, 6 );
    tr_text text = { 0 };
    metric_of( t, "jerk_ratio" );
    tr_measures_print_table( &t->measures, &text );
    tr_text_append( &text, "", 1 );
    assert_false( text.failed );
    assert_non_null( strstr( text.data, "result" ) );
    assert_non_null( strstr( text.data, "foot_skate_mm_s" ) );
    assert_non_null( strstr( text.data, "worse" ) );
    assert_non_null( strstr( text.data, "no edits" ) );
    tr_text_free( &text );
    close_theatre( t );
}

static void running_out_of_memory_is_survived( void **state )
{
    (void)state;
    theatre *t = crowd( 2, 3 );
    add_rule( t, TR_CONSTRAINT_CONTACT, 0, 0, 0, 2 );
    tr_parallel_set_threads( 1 );
    size_t before = tr_memory_live();
    tr_error error = { 0 };
    bool ok = false;
    for ( long n = 1; n < 500 && !ok; ++n ) {
        tr_memory_fail_from( n );
        ok = tr_measure( &t->measures, &t->stage, &t->result, &error );
        tr_memory_fail_from( 0 );
        if ( !ok )
            assert_int_equal( tr_memory_live(), before );
    }
    assert_true( ok );
    tr_parallel_set_threads( 0 );
    close_theatre( t );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( bone_lengths ),
        TEST( feet_that_skate ),
        TEST( skate_does_not_depend_on_the_rate ),
        TEST( skate_needs_labelled_feet ),
        TEST( depth_below_the_ground ),
        TEST( jerk ),
        TEST( smoothness_needs_frames_and_a_moving_source ),
        TEST( a_pop_in_acceleration ),
        TEST( flips_of_rotation ),
        TEST( likeness_of_pose ),
        TEST( identity ),
        TEST( contact_constraints ),
        TEST( relative_constraints ),
        TEST( bodies_in_bodies ),
        TEST( bodies_in_themselves ),
        TEST( bodies_in_props ),
        TEST( contacts_kept ),
        TEST( contacts_with_props_and_by_map ),
        TEST( limbs_that_cross ),
        TEST( relations_by_hand ),
        TEST( what_cannot_be_measured_says_why ),
        TEST( a_hole_in_the_motion_is_an_error ),
        TEST( any_number_of_threads_gives_the_same_bits ),
        TEST( penetration_against_all_pairs ),
        TEST( writhe_against_all_pairs ),
        TEST( json_has_the_agreed_shape ),
        TEST( table_can_be_read ),
        TEST( running_out_of_memory_is_survived ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
