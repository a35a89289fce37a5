// Random small scenes through the whole program: stage, every method, measures, report and draw list. Nothing
// is known about their motion except that it must be made of numbers, that every step must end well or say
// why, and that nothing may be left behind.
#include "check.h"
#include "scenes/scenes.h"
#include "troupe.h"
#include "ui/render/render.h"

#include <string.h>

typedef struct dice {
    uint64_t state;
} dice;

static int below( dice *d, int count )
{
    return (int)( random_bits( &d->state ) % (uint64_t)count );
}

static double between( dice *d, double low, double high )
{
    return lerpd( low, high, ldexp( (double)( random_bits( &d->state ) >> 11 ), -53 ) );
}

static bool one_in( dice *d, int count )
{
    return below( d, count ) == 0;
}

// One by one, here and below: compilers differ in the order of arguments.
static vec3 vector( dice *d, double size )
{
    double z = between( d, -size, size ), y = between( d, -size, size ), x = between( d, -size, size );
    return v3( x, y, z );
}

static quat rotation( dice *d )
{
    return q_from_vector( vector( d, one_in( d, 4 ) ? 3.0 : 0.4 ) );
}

// ------------------------------------------------------------------------------------------ random motions

// Names a body would have, some doubled, some that mean nothing and some that are hard to write down.
static const char *joint_name( dice *d )
{
    static const char *const names[] = {
        "Hips",     "Spine",     "Head",     "LeftUpLeg",   "LeftLeg",  "LeftFoot",  "LeftToe", "RightUpLeg",
        "RightLeg", "RightFoot", "LeftArm",  "LeftForeArm", "LeftHand", "RightHand", "Tail",    "a b",
        "it's",     "\"q\\",     "\xc3\xa9", "\xff\x80",    "x",        "Neck1" };
    return names[below( d, (int)( sizeof names / sizeof names[0] ) )];
}

static void make_skeleton( dice *d, tr_skeleton *out )
{
    int joints = one_in( d, 6 ) ? 1 : 2 + below( d, 24 );
    double size = one_in( d, 8 ) ? 1e-6 : one_in( d, 8 ) ? 1e4 : 0.4;
    for ( int j = 0; j < joints; ++j ) {
        int parent = j == 0 ? -1 : one_in( d, 3 ) ? below( d, j ) : j - 1;
        vec3 offset = one_in( d, 5 ) ? v3_zero : vector( d, size );
        assert_int_equal( tr_skeleton_add( out, joint_name( d ), parent, offset ), j );
        if ( one_in( d, 4 ) )
            out->joints[j].rest = rotation( d );
    }
    tr_error error;
    check_ok( tr_skeleton_classify( out, &error ), &error );
    check_ok( tr_skeleton_check( out, &error ), &error );
}

static void make_motion( dice *d, tr_motion *out )
{
    static const double rates[] = { 0.5, 24, 30, 120 };
    tr_error error;
    *out = ( tr_motion ){ 0 };
    make_skeleton( d, &out->skeleton );
    int frames = one_in( d, 4 ) ? 1 : 2 + below( d, 12 ), joints = out->skeleton.joint_count;
    bool translates = one_in( d, 4 );
    double rate = rates[below( d, 4 )];
    check_ok( tr_clip_alloc( &out->clip, frames, joints, rate, translates, &error ), &error );
    vec3 away = vector( d, one_in( d, 6 ) ? 1e6 : 2.0 );
    for ( int f = 0; f < frames; ++f ) {
        out->clip.root[f] = one_in( d, 3 ) ? away : v3_add( away, vector( d, 0.1 ) );
        for ( int j = 0; j < joints; ++j ) {
            tr_clip_frame( &out->clip, f )[j] = rotation( d );
            if ( out->clip.translations != NULL )
                out->clip.translations[f * joints + j] = vector( d, 0.3 );
        }
    }
}

// ------------------------------------------------------------------------------------------- random scenes

typedef struct play {
    tr_scene scene;
    tr_library library;
    tr_stage stage;
    int actors, props;
} play;

static void add_cast( dice *d, play *p, int index )
{
    tr_motion motion;
    tr_error error;
    tr_id id;
    snprintf( id, sizeof id, "c%d", index );
    tr_cast cast = tr_default_cast( id );
    snprintf( cast.source.file, sizeof cast.source.file, "c%d.bvh", index );
    make_motion( d, &motion );
    check_ok( tr_library_add( &p->library, cast.source.file, &motion, &error ), &error );
    cast.target.scale = one_in( d, 4 ) ? between( d, 0.01, 100 ) : between( d, 0.7, 1.3 );
    cast.position = vector( d, 2 );
    cast.heading = between( d, -360, 360 );
    cast.start = below( d, 21 ) - 10;
    cast.balance = one_in( d, 2 );
    cast.target.animation = one_in( d, 2 );
    if ( one_in( d, 3 ) )
        cast.target.limbs[cast.target.limb_count++] = ( tr_limb_value ){ "legs", between( d, 0.01, 3 ) };
    if ( one_in( d, 3 ) )
        cast.target.girths[cast.target.girth_count++] = ( tr_limb_value ){ "all", between( d, 0.01, 100 ) };
    if ( index > 0 && one_in( d, 3 ) ) // another's body
        snprintf( cast.target.skeleton.file, sizeof cast.target.skeleton.file, "c%d.bvh", index - 1 );
    assert_non_null( tr_scene_add_cast( &p->scene, &cast ) );
}

static tr_point make_point( dice *d, const play *p )
{
    if ( p->props > 0 && one_in( d, 4 ) ) {
        vec3 offset = vector( d, 0.2 );
        return tr_point_prop( p->scene.props[below( d, p->props )].id, offset );
    }
    const tr_cast *cast = &p->scene.cast[below( d, p->actors )];
    const char *body = cast->target.skeleton.file[0] != 0 ? cast->target.skeleton.file : cast->source.file;
    const tr_skeleton *skeleton = &tr_library_find( &p->library, body )->skeleton;
    tr_point point = tr_point_joint( cast->id, skeleton->joints[below( d, skeleton->joint_count )].name );
    if ( one_in( d, 3 ) )
        point.offset = vector( d, 0.2 );
    if ( one_in( d, 4 ) ) {
        const char *other = skeleton->joints[below( d, skeleton->joint_count )].name;
        point.terms[0].weight = between( d, -1, 2 );
        snprintf( point.terms[1].joint, sizeof point.terms[1].joint, "%s", other );
        point.terms[1].weight = 1 - point.terms[0].weight;
        point.term_count = 2;
    }
    return point;
}

static void add_constraint( dice *d, play *p, int index )
{
    tr_id id;
    snprintf( id, sizeof id, "k%d", index );
    tr_constraint c = tr_default_constraint( id, (tr_constraint_kind)below( d, TR_CONSTRAINT_KINDS ) );
    c.a = make_point( d, p );
    if ( c.kind == TR_CONSTRAINT_RELATIVE || ( c.kind == TR_CONSTRAINT_LENGTH && one_in( d, 2 ) ) )
        c.b = one_in( d, 6 ) ? c.a : make_point( d, p );
    if ( c.kind == TR_CONSTRAINT_CENTRE_OF_MASS )
        c.a = ( tr_point ){ .who = "c0" };
    c.given = one_in( d, 2 );
    c.target = vector( d, one_in( d, 5 ) ? 1e4 : 1.5 );
    c.rotation = rotation( d );
    c.length = between( d, 0, 2 );
    c.first = below( d, 30 ) - 10;
    c.last = c.first + below( d, 20 );
    c.ease_in = below( d, 5 );
    c.hard = one_in( d, 2 );
    c.weight = one_in( d, 3 ) ? 0 : between( d, 0, 5 );
    c.partner_space = c.kind == TR_CONSTRAINT_RELATIVE && one_in( d, 2 );
    c.flat = c.kind == TR_CONSTRAINT_ORIENTATION && !c.given && one_in( d, 2 );
    c.direction = c.kind == TR_CONSTRAINT_ABSOLUTE && c.given && one_in( d, 3 );
    if ( c.kind == TR_CONSTRAINT_CONTACT )
        snprintf( c.surface, sizeof c.surface, "%s", p->props > 0 && one_in( d, 2 ) ? "b0" : "ground" );
    assert_non_null( tr_scene_add_constraint( &p->scene, &c ) );
    tr_error error; // a kind may not take what was thrown; those are for other tests
    if ( !tr_scene_check( &p->scene, NULL, &error ) )
        --p->scene.constraint_count;
}

static void make_play( dice *d, play *p )
{
    *p = ( play ){ .scene = tr_default_scene(), .actors = 1 + below( d, 3 ), .props = below( d, 3 ) };
    p->scene.first = below( d, 11 ) - 5;
    p->scene.last = p->scene.first + below( d, 15 );
    p->scene.ground = between( d, -1, 1 );
    for ( int i = 0; i < p->actors; ++i )
        add_cast( d, p, i );
    for ( int i = 0; i < p->props; ++i ) {
        tr_prop prop = tr_default_prop( i == 0 ? "b0" : "b1" );
        prop.position = vector( d, 1 );
        prop.scale = between( d, 0.01, 3 );
        assert_non_null( tr_scene_add_prop( &p->scene, &prop ) );
    }
    for ( int i = below( d, 6 ); i > 0; --i )
        add_constraint( d, p, i );
    if ( one_in( d, 2 ) ) {
        tr_obstacle step = tr_default_obstacle( "step" );
        step.position = vector( d, 1 );
        assert_non_null( tr_scene_add_obstacle( &p->scene, &step ) );
    }
}

static void end_play( play *p )
{
    tr_stage_free( &p->stage );
    tr_library_free( &p->library );
    tr_scene_free( &p->scene );
}

// ------------------------------------------------------------------------------------------------- checks

static void check_measures( const tr_stage *stage, const tr_result *result )
{
    tr_measures measures;
    tr_error error;
    tr_text text = { 0 };
    check_ok( tr_measure( &measures, stage, result, &error ), &error );
    for ( int i = 0; i < measures.count; ++i )
        for ( int k = 0; k < measures.metrics[i].field_count; ++k ) {
            const tr_metric_field *field = &measures.metrics[i].fields[k];
            if ( !isfinite( field->out ) || !isfinite( field->source ) )
                fail_msg( "%s %s is no number", measures.metrics[i].key, field->name );
        }
    assert_true( tr_measures_print_json( &measures, &text ) );
    json_t *json = NULL;
    check_ok( tr_json_parse( &json, text.data, text.size, "measures", &error ), &error );
    json_decref( json );
    tr_text_free( &text );
    tr_measures_free( &measures );
}

static void check_result( const tr_stage *stage, const tr_result *result, const char *method )
{
    tr_error error;
    for ( int i = 0; i < result->actor_count; ++i )
        check_ok( tr_motion_check( &result->motions[i], &error ), &error );
    for ( int p = 0; p < result->prop_count; ++p )
        for ( int f = 0; f < result->frame_count; ++f )
            assert_true( v3_finite( result->tracks[p][f].position ) &&
                         q_finite( result->tracks[p][f].rotation ) );
    for ( int r = 0; r < result->rule_count; ++r )
        assert_true( isfinite( result->reports[r].max_mm ) && isfinite( result->reports[r].p95_mm ) &&
                     isfinite( result->reports[r].mean_mm ) );
    tr_text text = { 0 };
    json_t *json = NULL;
    assert_true( tr_report_print( stage, result, method, &text ) );
    check_ok( tr_json_parse( &json, text.data, text.size, "report", &error ), &error );
    json_decref( json );
    tr_text_free( &text );
}

static void check_picture( const tr_stage *stage, const tr_result *result )
{
    tr_error error;
    tr_camera camera;
    tr_draw_list list = { 0 };
    tr_view_def def = tr_default_view_def();
    def.skeleton = def.pose_graph = def.trails = def.ghosts = def.source = def.contacts = true;
    check_ok( tr_view_camera( &camera, stage, result, 1, 0, stage->frame_count - 1, "auto", 1.5, &error ),
              &error );
    assert_true( v3_finite( camera.eye ) && v3_finite( camera.target ) );
    tr_view_fill( &list, stage, result, stage->frame_count / 2, &def );
    assert_false( list.failed );
    for ( int i = 0; i < list.capsule_count; ++i )
        assert_true( v3_finite( list.capsules[i].a ) && v3_finite( list.capsules[i].b ) &&
                     isfinite( list.capsules[i].radius ) && isfinite( list.capsules[i].radius_b ) );
    for ( int i = 0; i < list.line_count; ++i )
        assert_true( v3_finite( list.lines[i].a ) && v3_finite( list.lines[i].b ) );
    for ( int i = 0; i < list.disc_count; ++i )
        assert_true( v3_finite( list.discs[i].centre ) && v3_finite( list.discs[i].normal ) &&
                     isfinite( list.discs[i].radius ) );
    for ( int i = 0; i < list.box_count; ++i )
        assert_true( v3_finite( list.boxes[i].place.position ) && v3_finite( list.boxes[i].size ) );
    tr_draw_free( &list );
}

// ------------------------------------------------------------------------------------------------- tests

static void random_scenes_stay_numbers( void **state )
{
    (void)state;
    int constraints = 0, methods;
    const tr_method *method = tr_method_table( &methods );
    for ( uint64_t seed = 1; seed <= 150; ++seed ) {
        dice d = { seed };
        play p;
        tr_error error;
        make_play( &d, &p );
        if ( !tr_stage_build( &p.stage, &p.scene, NULL, &p.library, NULL, &error ) ) {
            print_error( "seed %d\n", (int)seed );
            check_ok( false, &error );
        }
        constraints += p.scene.constraint_count;
        for ( int m = 0; m < methods; ++m ) {
            tr_result result;
            check_ok( tr_pipeline_run( &result, &p.stage, &method[m], &error ), &error );
            check_result( &p.stage, &result, method[m].name );
            check_measures( &p.stage, &result );
            check_picture( &p.stage, &result );
            tr_result_free( &result );
        }
        end_play( &p );
    }
    assert_true( constraints > 150 ); // most of what was thrown was good for something
}

// Thousands of bones in a row: no step may be worse than quadratic in their number, or this never ends.
static void a_long_chain_is_measured( void **state )
{
    (void)state;
    enum { BONES = 2000 };
    play p = { .scene = tr_default_scene() };
    tr_motion motion = { 0 };
    tr_error error;
    for ( int j = 0; j < BONES; ++j )
        tr_skeleton_add( &motion.skeleton, "link", j - 1, v3( 0, j % 2 == 0 ? 0.02 : 0.01, 0.005 ) );
    check_ok( tr_skeleton_classify( &motion.skeleton, &error ), &error );
    check_ok( tr_clip_alloc( &motion.clip, 1, BONES, 30, false, &error ), &error );
    check_ok( tr_library_add( &p.library, "chain.bvh", &motion, &error ), &error );
    tr_cast cast = tr_default_cast( "chain" );
    snprintf( cast.source.file, sizeof cast.source.file, "chain.bvh" );
    assert_non_null( tr_scene_add_cast( &p.scene, &cast ) );
    check_ok( tr_stage_build( &p.stage, &p.scene, NULL, &p.library, NULL, &error ), &error );
    tr_result result;
    check_ok( tr_pipeline_run( &result, &p.stage, tr_method_find( "copy-ik" ), &error ), &error );
    check_measures( &p.stage, &result );
    check_picture( &p.stage, &result );
    tr_result_free( &result );
    end_play( &p );
}

// ------------------------------------------------------------------------------------------ strange orders

static void add_chain( play *p, int joints, double bone, int frames )
{
    tr_motion motion = { 0 };
    tr_error error;
    for ( int j = 0; j < joints; ++j ) {
        char name[16];
        snprintf( name, sizeof name, "j%d", j );
        tr_skeleton_add( &motion.skeleton, name, j - 1, v3( 0, j % 3 == 2 ? 0 : bone, 0 ) );
    }
    check_ok( tr_skeleton_classify( &motion.skeleton, &error ), &error );
    check_ok( tr_clip_alloc( &motion.clip, frames, joints, 30, false, &error ), &error );
    check_ok( tr_library_add( &p->library, "chain.bvh", &motion, &error ), &error );
    tr_cast cast = tr_default_cast( "chain" );
    snprintf( cast.source.file, sizeof cast.source.file, "chain.bvh" );
    assert_non_null( tr_scene_add_cast( &p->scene, &cast ) );
    p->scene.last = frames - 1;
}

static void pin( play *p, int joint, const char *id, vec3 place )
{
    char name[16];
    tr_constraint c = tr_default_constraint( id, TR_CONSTRAINT_ABSOLUTE );
    snprintf( name, sizeof name, "j%d", joint );
    c.a = tr_point_joint( "chain", name );
    c.given = true;
    c.target = place;
    assert_non_null( tr_scene_add_constraint( &p->scene, &c ) );
}

// Joints are pinned twice, hard, all or every so many, to places that no chain reaches: what gives way is
// reported with frames and centimetres, the rest is finite. One joint, 200 of them, bones of no length, one
// frame.
static void contradictions_are_reported( void **state )
{
    (void)state;
    static const struct {
        int joints, every, frames;
        double bone;
    } cases[] = { { 1, 1, 1, 0.1 }, { 1, 1, 5, 0.1 },     { 12, 1, 1, 0.1 },
                  { 12, 1, 6, 0 },  { 200, 40, 3, 0.02 }, { 40, 1, 2, 0.02 } };
    for ( size_t i = 0; i < sizeof cases / sizeof *cases; ++i ) {
        play p = { .scene = tr_default_scene() };
        tr_error error;
        tr_result result;
        add_chain( &p, cases[i].joints, cases[i].bone, cases[i].frames );
        for ( int j = 0; j < cases[i].joints; j += cases[i].every ) {
            tr_id left, right;
            snprintf( left, sizeof left, "left%d", j );
            snprintf( right, sizeof right, "right%d", j );
            pin( &p, j, left, v3( -1 - j, 1, 0 ) );
            pin( &p, j, right, v3( 1 + j, 1, 0.5 ) );
        }
        check_ok( tr_stage_build( &p.stage, &p.scene, NULL, &p.library, NULL, &error ), &error );
        check_ok( tr_pipeline_run( &result, &p.stage, tr_method_find( NULL ), &error ), &error );
        check_result( &p.stage, &result, "posegraph" );
        int broken = 0, ranges[2][2];
        for ( int r = 0; r < result.rule_count; ++r ) {
            broken += result.reports[r].gave_way;
            if ( result.reports[r].gave_way ) {
                assert_int_equal( tr_rule_broken( &p.stage, &result, &p.stage.rules[r], ranges, 2 ), 1 );
                assert_true( ranges[0][0] == 0 && ranges[0][1] == cases[i].frames - 1 );
            }
        }
        assert_true( broken >= cases[i].joints / cases[i].every ); // at most one of two places
        tr_text report = { 0 };
        assert_true( tr_report_print( &p.stage, &result, "posegraph", &report ) );
        char told[64];
        snprintf( told, sizeof told, "\"frames\": [[0, %d]], \"cm\": ", cases[i].frames - 1 );
        assert_non_null( strstr( report.data, told ) );
        tr_text_free( &report );
        tr_result_free( &result );
        end_play( &p );
    }
}

// Every joint of a built-in figure in two places at once.
static void a_body_in_two_places_gives_way( void **state )
{
    (void)state;
    static const char *const figures[] = { "corridor", "spider" };
    for ( int i = 0; i < 2; ++i ) {
        play p = { .scene = tr_default_scene() };
        tr_scene built;
        tr_error error;
        const tr_scene_entry *entry = tr_scene_entry_find( figures[i] );
        check_ok( tr_scene_build( entry, entry->min_cast, &built, &p.library, &error ), &error );
        assert_non_null( tr_scene_add_cast( &p.scene, &built.cast[0] ) );
        p.scene.last = 29;
        const tr_skeleton *skeleton = &tr_library_find( &p.library, built.cast[0].source.file )->skeleton;
        for ( int j = 0; j < 2 * skeleton->joint_count; ++j ) {
            tr_id id;
            snprintf( id, sizeof id, "pin%d", j );
            tr_constraint c = tr_default_constraint( id, TR_CONSTRAINT_ABSOLUTE );
            c.a = tr_point_joint( built.cast[0].id, skeleton->joints[j / 2].name );
            c.given = true;
            c.target = v3( j % 2 == 0 ? -1 - 0.1 * j : 1 + 0.1 * j, 1, 0.3 * ( j % 2 ) );
            assert_non_null( tr_scene_add_constraint( &p.scene, &c ) );
        }
        check_ok( tr_stage_build( &p.stage, &p.scene, NULL, &p.library, NULL, &error ), &error );
        tr_result result;
        check_ok( tr_pipeline_run( &result, &p.stage, tr_method_find( NULL ), &error ), &error );
        check_result( &p.stage, &result, "posegraph" );
        int broken = 0;
        for ( int r = 0; r < p.scene.constraint_count; ++r )
            broken += result.reports[r].gave_way;
        assert_true( broken >= skeleton->joint_count ); // a joint is at one of its two places at most
        tr_result_free( &result );
        tr_scene_free( &built );
        end_play( &p );
    }
}

// Broken in some frames only: ranges are reported one by one, at most as many as there is room for.
static void broken_frames_are_ranges( void **state )
{
    (void)state;
    play p = { .scene = tr_default_scene() };
    tr_error error;
    tr_result result;
    int ranges[2][2];
    add_chain( &p, 4, 0.1, 12 );
    pin( &p, 0, "root", v3( 0, 0.1, 0 ) );
    check_ok( tr_stage_build( &p.stage, &p.scene, NULL, &p.library, NULL, &error ), &error );
    check_ok( tr_pipeline_run( &result, &p.stage, tr_method_find( NULL ), &error ), &error );
    assert_int_equal( tr_rule_broken( &p.stage, &result, &p.stage.rules[0], ranges, 2 ), 0 );
    static const int off[] = { 2, 3, 4, 7, 11 };
    for ( int i = 0; i < 5; ++i )
        tr_world_pose( &result.worlds[0], off[i] ).positions[0].x += 0.01;
    assert_int_equal( tr_rule_broken( &p.stage, &result, &p.stage.rules[0], ranges, 2 ), 3 );
    assert_true( ranges[0][0] == 2 && ranges[0][1] == 4 && ranges[1][0] == 7 && ranges[1][1] == 7 );
    tr_result_free( &result );
    end_play( &p );
}

static void what_is_no_motion_is_refused( void **state )
{
    (void)state;
    play p = { .scene = tr_default_scene() };
    tr_error error;
    add_chain( &p, 5, 0.1, 4 );
    p.library.items[0].motion.clip.rotations[7].x = NAN;
    assert_false( tr_stage_build( &p.stage, &p.scene, "show.json", &p.library, NULL, &error ) );
    assert_string_equal( error.path, "cast[0].source.file" );
    assert_non_null( strstr( error.message, "frame 1" ) ); // 5 joints a frame
    p.library.items[0].motion.clip.rotations[7].x = 0;
    p.scene.last = -1;
    assert_false( tr_stage_build( &p.stage, &p.scene, "show.json", &p.library, NULL, &error ) );
    assert_string_equal( error.path, "range" );
    p.scene.last = 3;
    pin( &p, 4, "tip", v3_zero );
    p.scene.constraints[0].first = 3;
    p.scene.constraints[0].last = 2;
    assert_false( tr_stage_build( &p.stage, &p.scene, "show.json", &p.library, NULL, &error ) );
    assert_string_equal( error.path, "constraints[0].range" );
    end_play( &p );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( random_scenes_stay_numbers ),  TEST( a_long_chain_is_measured ),
        TEST( contradictions_are_reported ), TEST( a_body_in_two_places_gives_way ),
        TEST( broken_frames_are_ranges ),    TEST( what_is_no_motion_is_refused ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
