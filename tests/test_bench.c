// The benchmark: which rows there are, and that those which claim to compute the same do so.
#include "bench/bench.h"
#include "check.h"

#include <string.h>

static bool has_row( const char *name )
{
    for ( int i = 0; tr_bench_name( i ) != NULL; ++i )
        if ( strcmp( tr_bench_name( i ), name ) == 0 )
            return true;
    return false;
}

static void rows_there_are( void **state )
{
    (void)state;
    static const char *const figures[] = { "human", "spider", "wolf" };
    static const char *const ways[] = { "literal", "paper", "lbfgs", "gn",
                                        "fit",     "fast",  "fast2", "complete" };
    static const char *const others[] = { "crowd/19",          "crowd/100",           "crowd/1000",
                                          "box_relay/19",      "box_relay/78",        "imesh/relay78",
                                          "bvh/read",          "cage/mvc_scalar",     "cage/mvc",
                                          "cage/arap/100",     "cage/arap/1000",      "cage/arap/5000",
                                          "growth/1",          "growth/250",          "growth/2000",
                                          "growth/near/2000",  "growth/measure/2000", "growth/memory/300",
                                          "growth/memory/1000" };
    for ( int f = 0; f < 3; ++f )
        for ( int w = 0; w < 8; ++w ) {
            char name[64];
            snprintf( name, sizeof name, "posegraph/%s/%s", figures[f], ways[w] );
            assert_true( has_row( name ) );
        }
    for ( size_t i = 0; i < sizeof others / sizeof others[0]; ++i )
        assert_true( has_row( others[i] ) );
    assert_false( has_row( "posegraph" ) );
}

// Negative when the row has no such field.
static double field( const tr_bench_row *row, const char *name )
{
    for ( int i = 0; i < row->field_count; ++i )
        if ( strcmp( row->fields[i].name, name ) == 0 )
            return row->fields[i].value;
    return -1;
}

static void run( tr_bench_report *report, const char *only, int count )
{
    tr_error error;
    tr_bench_def def = tr_default_bench_def();
    def.quick = true;
    def.only = only;
    check_ok( tr_bench_run( report, &def, &error ), &error );
    assert_int_equal( report->count, count );
    for ( int i = 0; i < count; ++i ) {
        assert_true( report->rows[i].ms > 0 && report->rows[i].runs >= 2 );
        for ( int k = 0; k < report->rows[i].field_count; ++k )
            assert_true( isfinite( report->rows[i].fields[k].value ) );
    }
}

// Baselines and the fast path differ by rounding; what goes down to the skeleton keeps its bones and meets
// what is asked.
static void ways_to_the_same_pose( void **state )
{
    (void)state;
    static const char *const figures[] = { "/human/", "/spider/", "/wolf/" };
    for ( int f = 0; f < 3; ++f ) {
        tr_bench_report report;
        run( &report, figures[f], 8 );
        for ( int i = 0; i < report.count; ++i ) {
            const tr_bench_row *row = &report.rows[i];
            bool soft = strstr( row->name, "/lbfgs" ) != NULL; // places are wishes there
            bool fitted = soft || strstr( row->name, "/gn" ) != NULL || strstr( row->name, "/fit" ) != NULL ||
                          strstr( row->name, "/complete" ) != NULL;
            assert_true( fitted == ( field( row, "max_diff_m" ) < 0 ) );
            assert_true( field( row, "max_diff_m" ) <= 1e-5 );
            assert_true( field( row, "constraint_error_mm" ) <= ( soft ? 10 : 1 ) );
            assert_true( field( row, "bone_error_pct" ) <= ( fitted ? 1e-9 : 50 ) );
            assert_true( fitted || field( row, "mm_to_converged" ) > 0 );
            assert_int_equal( row->threads, strstr( row->name, "fast2" ) != NULL ? 2 : 1 );
        }
        tr_bench_report_free( &report );
    }
}

// At full length: what rounds leave of the lengths is mended before the fit, which makes them exact.
static void meshes_keep_their_bones( void **state )
{
    (void)state;
    tr_error error;
    tr_bench_report report;
    tr_bench_def def = tr_default_bench_def();
    def.only = "imesh/complete";
    check_ok( tr_bench_run( &report, &def, &error ), &error );
    assert_int_equal( report.count, 1 );
    assert_true( field( &report.rows[0], "bone_error_pct" ) <= 0.6 );
    assert_true( field( &report.rows[0], "fitted_bone_error_pct" ) <= 1e-9 );
    assert_true( field( &report.rows[0], "deepest_mm" ) <= 20 );
    tr_bench_report_free( &report );
}

static void long_rows_are_left_out( void **state )
{
    (void)state;
    tr_bench_report report;
    run( &report, "crowd/1", 1 );
    assert_string_equal( report.rows[0].name, "crowd/19" );
    assert_true( field( &report.rows[0], "characters" ) == 19 );
    tr_bench_report_free( &report );
}

static void ways_to_the_same_cage( void **state )
{
    (void)state;
    tr_bench_report report;
    run( &report, "cage/mvc", 2 );
    assert_true( field( &report.rows[1], "max_diff" ) <= 1e-4 );
    tr_bench_report_free( &report );
    run( &report, "cage/arap/100", 4 ); // of 100 and 1000 vertices, the plain way and ours
    assert_true( field( &report.rows[1], "max_diff_m" ) <= 1e-5 );
    assert_true( field( &report.rows[3], "max_diff_m" ) <= 1e-5 );
    tr_bench_report_free( &report );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( rows_there_are ),          TEST( ways_to_the_same_pose ),  TEST( ways_to_the_same_cage ),
        TEST( meshes_keep_their_bones ), TEST( long_rows_are_left_out ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
