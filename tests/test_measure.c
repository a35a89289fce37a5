// Every figure of single bodies and of constraints on a tiny hand-made motion, and how figures are printed.
#include "measure_fixture.h"

// ------------------------------------------------------------------------------------------- single bodies

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

// The same way of a foot, sampled at 30 and at 120 frames a second: it trembles by a millimetre at 30 Hz,
// which speeds from frame to frame count at 120 as 60 mm/s and more, and slides at 40 mm/s.
static void trembling_is_no_skate( void **state )
{
    (void)state;
    for ( int factor = 1; factor <= 4; factor *= 4 ) {
        int last = 30 * factor;
        theatre *t = open_theatre( 1, 2, last + 1, 30.0 * factor );
        add_contact( t, 0, 0, 0, last );
        for ( int f = 0; f <= last; ++f ) {
            double time = f / ( 30.0 * factor );
            out_at( t, 0, f, 0 )->x = 0.04 * time + 0.001 * sin( 2 * TR_PI * 30 * time );
        }
        check_near( out_of( t, "foot_skate_mm_s", "mean" ), 40, 1e-9 );
        check_near( out_of( t, "foot_skate_mm_s", "p95" ), 40, 1e-9 );
        close_theatre( t );
    }
    // Contacts shorter than 0.1 s: over all of it, 3 mm in 2 / 30 s.
    theatre *t = open_theatre( 1, 2, 9, 30 );
    add_contact( t, 0, 0, 3, 5 );
    out_at( t, 0, 5, 0 )->z = 3e-3;
    check_near( out_of( t, "foot_skate_mm_s", "mean" ), 45, 1e-9 );
    close_theatre( t );
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

// A quarter turn about the vertical is no tilt, 3° about an axis that lies are; of four frames in contact one
// is tilted.
static void soles_that_tilt( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 2, 6, 10 );
    check_null( t, "sole_tilt_deg", "foot" );
    add_contact( t, 0, 0, 1, 4 );
    t->stage.actors[0].target.joints[0].role = TR_ROLE_FOOT;
    quat aside = q_axis_angle( v3_y, 90 * TR_DEGREE ), tilt = q_axis_angle( v3_z, 3 * TR_DEGREE );
    for ( int f = 0; f < 6; ++f )
        tr_world_pose( &t->result.worlds[0], f ).rotations[0] = aside;
    tr_world_pose( &t->result.worlds[0], 2 ).rotations[0] = q_mul( tilt, aside );
    tr_world_pose( &t->result.worlds[0], 5 ).rotations[0] = q_axis_angle( v3_x, 90 * TR_DEGREE );
    measure_again( t );
    check_near( out_of( t, "sole_tilt_deg", "max" ), 3, 1e-6 );
    check_near( out_of( t, "sole_tilt_deg", "mean" ), 0.75, 1e-6 );
    check_near( source_of( t, "sole_tilt_deg", "max" ), 0, 1e-6 );
    assert_true( field_of( t, "sole_tilt_deg", "max" )->worse );
    t->stage.actors[0].contacts.items[0].surface = TR_SURFACE_PROP; // it may turn
    measure_again( t );
    check_null( t, "sole_tilt_deg", "foot" );
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

// There is no ratio to the largest of all, but one to the joint's own, which is 1 m/s² at least.
static void check_no_value( theatre *t, const char *key, const char *word )
{
    assert_true( field_of( t, key, "value" )->out_null );
    assert_non_null( strstr( metric_of( t, key )->reason, word ) );
    check_near( out_of( t, key, "own" ), 0, 1e-9 );
}

static void smoothness_needs_frames_and_a_moving_source( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 2, 3, 30 );
    check_null( t, "jerk_ratio", "four frames" );
    check_no_value( t, "acceleration_spike", "source" );
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
    check_no_value( t, "acceleration_spike", "evenly" );
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
    check_near( out_of( t, "acceleration_spike", "own" ), 8.0 / 2, 1e-9 );
    // The other joint shakes by 50 mm in both: beside its second differences of 200 the pop is not seen, but
    // against what the joint itself does in the source.
    for ( int f = 0; f < 9; ++f ) {
        source_at( t, 0, f, 0 )->z = f % 2 == 0 ? 0 : 0.05;
        out_at( t, 0, f, 0 )->z = f % 2 == 0 ? 0 : 0.05;
    }
    measure_again( t );
    assert_true( out_of( t, "acceleration_spike", "value" ) < 1.1 );
    check_near( out_of( t, "acceleration_spike", "own" ), 8.0 / 2, 1e-9 );
    check_near( source_of( t, "acceleration_spike", "own" ), 1, 1e-9 );
    assert_int_equal( metric_of( t, "acceleration_spike" )->out_place.frame, 4 );
    assert_string_equal( metric_of( t, "acceleration_spike" )->place_name, "own_joint" );
    close_theatre( t );
    // A source at rest counts as 1 m/s²: a jump of 5 mm there and back has 10 mm at 30 frames a second, 9.
    t = open_theatre( 1, 2, 9, 30 );
    out_at( t, 0, 4, 1 )->x += 5e-3;
    check_near( out_of( t, "acceleration_spike", "own" ), 9, 1e-9 );
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
    t->stage.actors[0].target.joints[1].name[0] = 'J';
    measure_again( t );
    assert_string_equal( metric_of( t, "rotation_spike_deg" )->out_place.name, "?.Joint" );
    assert_int_equal( metric_of( t, "rotation_spike_deg" )->out_place.frame, 2 );
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
    add_capsule( t, 1, 1, 0.1 );
    t->stage.actors[1].body.capsules[0].radius = 0.11; // nothing but the girth
    measure_again( t );
    check_null( t, "identity_error_m", "thicker" );
    t->stage.actors[1].body.capsules[0].radius = 0.1;
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

// --------------------------------------------------------------------------------------------- constraints

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
    // A second one that gave way is counted, not averaged, and how far it is off stands beside.
    add_rule( t, TR_CONSTRAINT_CONTACT, 0, 1, 0, 29 )->target = v3( 9, 9, 9 );
    t->result.reports[1].gave_way = true;
    measure_again( t );
    double far = 0, sum = 0;
    for ( int f = 0; f < 30; ++f ) {
        double off = v3_distance( tr_world_pose( &t->result.worlds[0], f ).positions[1], v3( 9, 9, 9 ) );
        far = fmax( far, off );
        sum += off;
    }
    check_near( out_of( t, "contact_error_mm", "gave_way_max" ), 1e3 * far, 1e-6 );
    check_near( out_of( t, "contact_error_mm", "gave_way_mean" ), 1e3 * sum / 30, 1e-6 );
    check_near( source_of( t, "contact_error_mm", "gave_way_max" ), 0, 0 );
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

// -------------------------------------------------------------------------------------------- all together

static void what_cannot_be_measured_says_why( void **state )
{
    (void)state;
    theatre *t = open_theatre( 1, 2, 4, 30 );
    check_null( t, "edit_handle_mm", "no edits" );
    check_null( t, "edit_leak_mm", "no edits" );
    assert_null( tr_measures_find( &t->measures, "beauty" ) );
    assert_int_equal( t->measures.count, 30 );
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
    assert_int_equal( json_object_size( metrics ), 30 );
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
    json_t *spike = json_object_get( json_object_get( metrics, "acceleration_spike" ), "out" );
    assert_true( json_is_string( json_object_get( spike, "own_joint" ) ) );
    assert_true( json_is_integer( json_object_get( spike, "own_frame" ) ) );
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
    assert_non_null( strstr( text.data, "figures are fine: no worse than the source's" ) );
    for ( int i = 0; i < t->measures.count; ++i ) { // what is worse is said in words, and nothing else
        const tr_metric *metric = &t->measures.metrics[i];
        bool worse = false;
        for ( int k = 0; k < metric->field_count; ++k )
            worse |= metric->fields[k].worse;
        const char *words = strstr( text.data, metric->worse ),
                   *line = words != NULL ? strchr( words, '\n' ) : NULL;
        assert_int_equal( words != NULL, worse );
        assert_true( !worse || line[1 + 27] == '(' ); // and by how much
    }
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
        TEST( trembling_is_no_skate ),
        TEST( skate_needs_labelled_feet ),
        TEST( soles_that_tilt ),
        TEST( depth_below_the_ground ),
        TEST( jerk ),
        TEST( smoothness_needs_frames_and_a_moving_source ),
        TEST( a_pop_in_acceleration ),
        TEST( flips_of_rotation ),
        TEST( likeness_of_pose ),
        TEST( identity ),
        TEST( contact_constraints ),
        TEST( relative_constraints ),
        TEST( what_cannot_be_measured_says_why ),
        TEST( a_hole_in_the_motion_is_an_error ),
        TEST( any_number_of_threads_gives_the_same_bits ),
        TEST( json_has_the_agreed_shape ),
        TEST( table_can_be_read ),
        TEST( running_out_of_memory_is_survived ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
