// What the default method promises on the built-in scenes, measured on the motion it gives.
#include "check.h"
#include "scenes/scenes.h"

#include <string.h>

static double figure( const tr_measures *measures, const char *key, const char *field )
{
    const tr_metric *metric = tr_measures_find( measures, key );
    assert_non_null( metric );
    for ( int f = 0; f < metric->field_count; ++f )
        if ( strcmp( metric->fields[f].name, field ) == 0 && !metric->fields[f].out_null )
            return metric->fields[f].out;
    return 0; // nothing of the kind in this scene
}

static double source_figure( const tr_measures *measures, const char *key, const char *field )
{
    const tr_metric *metric = tr_measures_find( measures, key );
    for ( int f = 0; f < metric->field_count; ++f )
        if ( strcmp( metric->fields[f].name, field ) == 0 )
            return metric->fields[f].source;
    return 0;
}

static void check_scene( const char *name, int cast )
{
    tr_scene scene = tr_default_scene();
    tr_library library = { 0 };
    tr_stage stage;
    tr_result result;
    tr_measures m;
    tr_error error;
    check_ok( tr_scene_build( tr_scene_entry_find( name ), cast, &scene, &library, &error ), &error );
    check_ok( tr_stage_build( &stage, &scene, NULL, &library, NULL, &error ), &error );
    check_ok( tr_pipeline_run( &result, &stage, tr_method_find( "posegraph" ), &error ), &error );
    check_ok( tr_measure( &m, &stage, &result, &error ), &error );
    print_message( "%s: contact %.4f mm, relative %.4f mm, jerk %.2f, spike %.2f, rotation %.1f\n", name,
                   figure( &m, "contact_error_mm", "max" ), figure( &m, "relative_error_mm", "max" ),
                   figure( &m, "jerk_ratio", "value" ), figure( &m, "acceleration_spike", "value" ),
                   figure( &m, "rotation_spike_deg", "value" ) );
    assert_true( figure( &m, "bone_length_error_pct", "value" ) <= 1e-4 );
    assert_true( figure( &m, "contact_error_mm", "max" ) <= 1.0 );
    assert_true( figure( &m, "contact_error_mm", "gave_way" ) == 0 );
    assert_true( figure( &m, "relative_error_mm", "max" ) <= 5.0 );
    assert_true( figure( &m, "foot_skate_mm_s", "mean" ) <=
                 fmax( 1.3 * source_figure( &m, "foot_skate_mm_s", "mean" ), 5.0 ) );
    assert_true( figure( &m, "ground_penetration_mm", "max" ) <= 12.0 );
    assert_true( figure( &m, "acceleration_spike", "value" ) <= 1.5 );
    assert_true( figure( &m, "rotation_spike_deg", "value" ) <= 20.0 );
    tr_measures_free( &m );
    tr_result_free( &result );
    tr_stage_free( &stage );
    tr_library_free( &library );
    tr_scene_free( &scene );
}

static void box_relay( void **state )
{
    (void)state;
    check_scene( "box_relay", 7 );
}

static void squat_chain( void **state )
{
    (void)state;
    check_scene( "squat_chain", 8 );
}

static void spider( void **state )
{
    (void)state;
    check_scene( "spider", 2 );
}

static void wolf( void **state )
{
    (void)state;
    check_scene( "wolf", 2 );
}

static void corridor( void **state )
{
    (void)state;
    check_scene( "corridor", 10 );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( box_relay ), TEST( squat_chain ), TEST( spider ), TEST( wolf ), TEST( corridor ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
