// Captures from end to end in bodies of other sizes and proportions, as exported: those of tests/captures,
// and real ones where TROUPE_DATA_DIR names their folder. docs/quality.md has the figures.
#include "captures.h"
#include "format/format.h"
#include "limits.h"

typedef struct capture {
    const char *files[3];
    double unit; // 0: as guessed
    int first;   // frame of the files: what is before was not captured
    bool skates; // in larger bodies, a known miss
} capture;

#define CMU 0.05644, 1
#define PAIR( a, b )                                                                                         \
    {                                                                                                        \
        { "cmu-pairs/" a ".bvh", "cmu-pairs/" b ".bvh" }, CMU                                                \
    }
#define SINGLE( a )                                                                                          \
    {                                                                                                        \
        { "cmu-single/" a ".bvh" }, CMU                                                                      \
    }
#define FILE( a )                                                                                            \
    {                                                                                                        \
        { a ".bvh" }, 0, 0                                                                                   \
    }

static const capture captures[] = {
    { { "shake_a.bvh", "shake_b.bvh" }, CMU },
    { { "walk.bvh" }, CMU, .skates = true },
    { { "lift.bvh" }, 0, 1 },
    PAIR( "18_01", "19_01" ),
    PAIR( "18_05", "19_05" ),
    PAIR( "18_13", "19_13" ),
    PAIR( "20_02", "21_02" ),
    PAIR( "20_09", "21_09" ),
    PAIR( "20_10", "21_10" ),
    PAIR( "20_11", "21_11" ),
    PAIR( "22_04", "23_04" ),
    PAIR( "22_08", "23_08" ),
    PAIR( "22_13", "23_13" ),
    PAIR( "22_20", "23_20" ),
    PAIR( "22_22", "23_22" ),
    PAIR( "33_02", "34_02" ),
    PAIR( "60_10", "61_10" ),
    SINGLE( "02_01" ),
    SINGLE( "05_02" ),
    SINGLE( "09_01" ),
    SINGLE( "13_35" ),
    SINGLE( "16_08" ),
    SINGLE( "49_06" ),
    SINGLE( "85_02" ),
    FILE( "bandai-nc/dataset-1_bow_normal_001" ),
    FILE( "bandai-nc/dataset-1_dash_normal_001" ),
    FILE( "bandai-nc/dataset-1_kick_normal_001" ),
    FILE( "bandai-nc/dataset-1_respond_normal_001" ),
    FILE( "bandai-nc/dataset-1_run_normal_001" ),
    FILE( "bandai-nc/dataset-1_walk_giant_001" ),
    FILE( "bandai-nc/dataset-1_walk_normal_001" ),
    FILE( "geno/Geno_bind" ),
    FILE( "geno/Geno_stance" ),
    FILE( "human-misc/AV_8Walk_Meredith_HVHA_Rep1" ),
    FILE( "human-misc/dab" ),
    FILE( "human-misc/jumping_jacks" ),
    FILE( "human-misc/pirouette" ),
    FILE( "human-misc/xia_neutral_16_000" ),
    FILE( "human-misc/xia_rest" ),
    { { "trio-perfume/A_test.bvh", "trio-perfume/B_test.bvh", "trio-perfume/C_test.bvh" }, 0, 1 },
};

enum { capture_count = sizeof captures / sizeof *captures };

// The last frame at 30 a second of what a file has from `first` on.
static int last_frame( const char *path, int first )
{
    tr_motion motion;
    tr_error error;
    tr_bvh_import import = tr_default_bvh_import();
    import.first = first;
    check_ok( tr_motion_load( &motion, path, &import, NULL, &error ), &error );
    int last = (int)( ( motion.clip.frame_count - 1 ) * 30.0 / motion.clip.fps );
    tr_motion_free( &motion );
    return last;
}

static void check_capture( const capture *c, const tr_target *target )
{
    take x = { .scene = tr_default_scene() };
    x.scene.fps = 30;
    for ( int i = 0; i < 3 && c->files[i] != NULL; ++i ) {
        char id[8];
        snprintf( id, sizeof id, "p%d", i );
        tr_cast cast = tr_default_cast( id );
        capture_path( cast.source.file, c->files[i] );
        cast.source.unit = c->unit;
        cast.source.first = c->first;
        cast.target = *target;
        assert_non_null( tr_scene_add_cast( &x.scene, &cast ) );
        x.scene.last = last_frame( cast.source.file, c->first );
    }
    export_and_measure( &x, "posegraph" );
    bounds most = promised;
    most.skates = c->skates && target->scale > 1;
    check_whole( &x, c->files[0], &most );
    close_scene( &x );
}

static void check_all( tr_target body )
{
    for ( int c = 0; c < capture_count; ++c )
        if ( have_capture( captures[c].files[0] ) )
            check_capture( &captures[c], &body );
}

static void small_bodies( void **state )
{
    (void)state;
    tr_target body = tr_default_cast( "any" ).target;
    body.scale = 0.6;
    check_all( body );
}

static void large_bodies( void **state )
{
    (void)state;
    tr_target body = tr_default_cast( "any" ).target;
    body.scale = 1.5;
    check_all( body );
}

static void long_arms( void **state )
{
    (void)state;
    check_all( body_with( "arms", 1.4 ) );
}

static void short_legs( void **state )
{
    (void)state;
    check_all( body_with( "legs", 0.7 ) );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( small_bodies ),
        TEST( large_bodies ),
        TEST( long_arms ),
        TEST( short_legs ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
