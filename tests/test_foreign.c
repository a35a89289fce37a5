// Motion on skeletons of other files: people, wolf and spider in all directions, captures of tests/captures,
// and real ones where TROUPE_DATA_DIR names their folder.
#include "captures.h"
#include "format/format.h"
#include "take.h"

#include <stdlib.h>

// ------------------------------------------------------------------------------------ other numbers of legs

enum { PERSON = 0, SPIDER = 2, WOLF = 3 }; // members of the cast of mixed_cast
static const char *const names[] = { "person", "", "spider", "wolf" };

// The motion of one on the body of another, alone on the stage.
static void open_stranger( take *x, int motion, int body )
{
    open_scene( x, "mixed_cast", 0 );
    tr_scene *scene = &x->scene;
    tr_cast cast = scene->cast[motion];
    cast.target = tr_default_cast( "any" ).target;
    cast.target.skeleton = scene->cast[body].source;
    scene->cast[0] = cast;
    scene->cast_count = 1;
    scene->constraint_count = scene->prop_count = scene->obstacle_count = 0;
    scene->last = 90;
}

static void check_driven( const take *x, const char *target, const char *source )
{
    const tr_actor *actor = &x->stage.actors[0];
    int joint = tr_skeleton_find( &actor->target, target );
    assert_true( joint >= 0 && actor->map[joint] >= 0 );
    assert_string_equal( actor->source.skeleton.joints[actor->map[joint]].name, source );
}

static void arms_are_front_legs( void **state )
{
    (void)state;
    static const char *const pairs[][2] = {
        { "LeftFrontUpper", "LeftArm" },       { "LeftFrontPaw", "LeftHand" },
        { "RightFrontUpper", "RightArm" },     { "LeftHindUpper", "LeftUpLeg" },
        { "LeftHindPaw", "LeftFoot" },         { "RightHindPaw", "RightFoot" },
        { "LeftHindToe2A", "LeftToe" },        { "Hips", "Hips" },
        { "LeftFrontScapula", "LeftShoulder" } };
    take x;
    tr_error error;
    open_stranger( &x, PERSON, WOLF );
    check_ok( tr_stage_build( &x.stage, &x.scene, NULL, &x.library, NULL, &error ), &error );
    for ( size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i )
        check_driven( &x, pairs[i][0], pairs[i][1] );
    int nothing = tr_skeleton_find( &x.stage.actors[0].target, "LeftFrontToe1A" );
    assert_int_equal( x.stage.actors[0].map[nothing], -1 ); // fingers are no toes
    close_scene( &x );
    open_stranger( &x, WOLF, PERSON );
    check_ok( tr_stage_build( &x.stage, &x.scene, NULL, &x.library, NULL, &error ), &error );
    for ( size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i )
        if ( strcmp( pairs[i][1], "LeftToe" ) != 0 )
            check_driven( &x, pairs[i][1], pairs[i][0] );
    close_scene( &x );
}

// First with first and last with last; all legs of a side go by the one that a person has.
static void legs_go_front_to_back( void **state )
{
    (void)state;
    take x;
    tr_error error;
    open_stranger( &x, WOLF, SPIDER );
    check_ok( tr_stage_build( &x.stage, &x.scene, NULL, &x.library, NULL, &error ), &error );
    check_driven( &x, "L1Femur", "LeftFrontUpper" );
    check_driven( &x, "L2Femur", "LeftFrontUpper" );
    check_driven( &x, "R3Femur", "RightHindUpper" );
    check_driven( &x, "R4Femur", "RightHindUpper" );
    close_scene( &x );
    open_stranger( &x, SPIDER, WOLF );
    check_ok( tr_stage_build( &x.stage, &x.scene, NULL, &x.library, NULL, &error ), &error );
    check_driven( &x, "LeftFrontUpper", "L1Femur" );
    check_driven( &x, "RightHindUpper", "R4Femur" );
    close_scene( &x );
    open_stranger( &x, PERSON, SPIDER );
    check_ok( tr_stage_build( &x.stage, &x.scene, NULL, &x.library, NULL, &error ), &error );
    check_driven( &x, "L1Femur", "LeftUpLeg" );
    check_driven( &x, "L4Femur", "LeftUpLeg" );
    check_driven( &x, "R2Tip_End", "RightToe_End" );
    close_scene( &x );
}

// While a person stands with arms that hang, a wolf stands as it rests, whatever pose the person rests in.
static void who_stands_makes_others_stand( void **state )
{
    (void)state;
    take x;
    tr_error error;
    open_stranger( &x, PERSON, WOLF );
    const tr_motion *file = tr_library_find_file( &x.library, &x.scene.cast[0].source );
    tr_motion still;
    check_ok( tr_motion_copy( &still, file, &error ), &error );
    for ( int f = 0; f < still.clip.frame_count; ++f ) {
        still.clip.root[f] = still.skeleton.joints[0].offset;
        for ( int j = 0; j < still.skeleton.joint_count; ++j ) {
            const tr_joint *joint = &still.skeleton.joints[j];
            quat hang = q_axis_angle( v3_z, ( joint->side == TR_SIDE_LEFT ? -90 : 90 ) * TR_DEGREE );
            tr_clip_frame( &still.clip, f )[j] =
                joint->role == TR_ROLE_UPPER_ARM ? q_mul( hang, joint->rest ) : joint->rest;
        }
    }
    check_ok( tr_library_add( &x.library, "still.bvh", &still, &error ), &error );
    snprintf( x.scene.cast[0].source.file, TR_PATH_MAX, "still.bvh" );
    solve( &x, "copy" );
    const tr_actor *actor = &x.stage.actors[0];
    quat facing = tr_world_pose( &x.result.worlds[0], 5 ).rotations[0];
    for ( int j = 1; j < actor->target.joint_count; ++j ) {
        quat now = q_mul( q_conj( facing ), tr_world_pose( &x.result.worlds[0], 5 ).rotations[j] );
        quat up = actor->target.joints[j].rest;
        for ( int p = actor->target.joints[j].parent; p > 0; p = actor->target.joints[p].parent )
            up = q_mul( actor->target.joints[p].rest, up );
        assert_true( q_angle( now, up ) <
                     8 * TR_DEGREE ); // arms and trunk of a rest pose are not quite straight
    }
    close_scene( &x );
}

// Hands do not stand on the floor because front paws do, and every other foot keeps to it.
static void strangers_stay_whole( void **state )
{
    (void)state;
    static const int bodies[] = { PERSON, WOLF, SPIDER };
    for ( int m = 0; m < 3; ++m )
        for ( int b = 0; b < 3; ++b ) {
            take x;
            if ( m == b )
                continue;
            open_stranger( &x, bodies[m], bodies[b] );
            solve( &x, "posegraph" );
            print_message( "%s on %s: jerk %.2f, acceleration %.2f, rotation %.1f°, ground %.1f mm\n",
                           names[bodies[m]], names[bodies[b]], figure( &x, "jerk_ratio", "value" ),
                           figure( &x, "acceleration_spike", "value" ),
                           figure( &x, "rotation_spike_deg", "value" ),
                           figure( &x, "ground_penetration_mm", "max" ) );
            check_bound( figure( &x, "bone_length_error_pct", "value" ), BONE_PCT );
            check_bound( figure( &x, "contact_error_mm", "max" ), CONTACT_MM );
            assert_true( figure( &x, "contact_error_mm", "gave_way" ) == 0 );
            check_bound( figure( &x, "ground_penetration_mm", "max" ), STRANGER_GROUND_MM );
            check_bound( figure( &x, "acceleration_spike", "value" ), STRANGER_ACCELERATION );
            check_bound( figure( &x, "jerk_ratio", "value" ), STRANGER_JERK );
            if ( bodies[m] != SPIDER ) // its steps are high for legs that are four times as long
                check_bound( figure( &x, "rotation_spike_deg", "value" ), STRANGER_ROTATION_DEG );
            close_scene( &x );
        }
}

// ------------------------------------------------------------------------------------------------ captures

enum { FRAMES = 61 };

typedef struct capture {
    const char *file;
    double unit; // 0: as guessed
    int first;   // frame of the file
} capture;

enum { WALK, LIFT, CMU_WALK, BANDAI_WALK, MEREDITH, PERFUME, XIA, GENO }; // rows of `captures`

static const capture captures[] = {
    { "walk.bvh", 0.05644, 1 },
    { "lift.bvh", 0, 1 },
    { "cmu-single/02_01.bvh", 0.05644, 1 },
    { "bandai-nc/dataset-1_walk_normal_001.bvh", 0, 0 }, // rests folded up
    { "human-misc/AV_8Walk_Meredith_HVHA_Rep1.bvh", 0, 0 },
    { "trio-perfume/A_test.bvh", 0, 1 },
    { "human-misc/xia_neutral_16_000.bvh", 0, 0 },
    { "geno/Geno_stance.bvh", 0, 0 }, // one frame: a body only
};

static tr_file_ref file_of( const capture *c )
{
    tr_file_ref ref = tr_default_cast( "any" ).source;
    capture_path( ref.file, c->file );
    ref.unit = c->unit;
    ref.first = c->first;
    return ref;
}

static void open_capture( take *x, const capture *motion, const capture *body )
{
    *x = ( take ){ .scene = tr_default_scene() };
    tr_cast cast = tr_default_cast( "a" );
    cast.source = file_of( motion );
    cast.target.skeleton = file_of( body );
    cast.target.skeleton.first = 0;
    x->scene.fps = 30;
    x->scene.last = FRAMES - 1;
    assert_non_null( tr_scene_add_cast( &x->scene, &cast ) );
}

// What every person has goes by the same part and side of the other.
static void check_parts( const tr_actor *actor, const char *name )
{
    static const tr_role parts[] = { TR_ROLE_ROOT, TR_ROLE_HEAD,      TR_ROLE_THIGH,   TR_ROLE_SHIN,
                                     TR_ROLE_FOOT, TR_ROLE_UPPER_ARM, TR_ROLE_FOREARM, TR_ROLE_HAND };
    for ( size_t p = 0; p < sizeof parts / sizeof *parts; ++p )
        for ( int side = 0; side < 3; ++side ) {
            int joint;
            if ( tr_skeleton_find_role( &actor->target, parts[p], (tr_side)side, &joint, 1 ) == 0 )
                continue;
            const tr_joint *from =
                actor->map[joint] >= 0 ? &actor->source.skeleton.joints[actor->map[joint]] : NULL;
            if ( from == NULL || from->role != parts[p] || from->side != (tr_side)side )
                fail_msg( "%s: %s goes by %s", name, actor->target.joints[joint].name,
                          from != NULL ? from->name : "nothing" );
        }
}

static int ascending( const void *a, const void *b )
{
    double x = *(const double *)a, y = *(const double *)b;
    return ( x > y ) - ( x < y );
}

// Ankles stand where they do in the body's own file, toes on the floor or above it.
static void check_feet( const take *x, const char *name )
{
    const tr_actor *actor = &x->stage.actors[0];
    double heights[FRAMES];
    for ( int j = 0; j < actor->target.joint_count; ++j ) {
        tr_role role = actor->target.joints[j].role;
        if ( role != TR_ROLE_FOOT && role != TR_ROLE_TOE )
            continue;
        for ( int f = 0; f < FRAMES; ++f )
            heights[f] = tr_world_pose( &x->result.worlds[0], f ).positions[j].y;
        qsort( heights, FRAMES, sizeof *heights, ascending );
        if ( heights[0] < -1.5e-3 )
            fail_msg( "%s: %s is %.1f mm below the floor", name, actor->target.joints[j].name,
                      -1e3 * heights[0] );
        double stands = heights[FRAMES / 10], own = actor->soles[j].target; // feet of captures hover a little
        if ( role == TR_ROLE_FOOT &&
             !( actor->soles[j].known && stands > own - 0.015 && heights[0] < own + 0.025 ) )
            fail_msg( "%s: %s stands at %.1f mm for %.1f", name, actor->target.joints[j].name, 1e3 * stands,
                      1e3 * own );
    }
}

static void captures_on_each_others_bodies( void **state )
{
    (void)state;
    int count = data_folder() != NULL ? GENO + 1 : LIFT + 1;
    for ( int m = 0; m < count && m != GENO; ++m )
        for ( int b = 0; b < count; ++b ) {
            take x;
            char name[160];
            if ( m == b || ( m <= LIFT ) != ( b <= LIFT ) ) // ours on ours, real ones on real ones
                continue;
            open_capture( &x, &captures[m], &captures[b] );
            solve( &x, "posegraph" );
            snprintf( name, sizeof name, "%s on %s", captures[m].file, captures[b].file );
            print_message( "%s: jerk %.2f, acceleration %.2f, rotation %.1f°\n", name,
                           figure( &x, "jerk_ratio", "value" ), figure( &x, "acceleration_spike", "value" ),
                           figure( &x, "rotation_spike_deg", "value" ) );
            check_parts( &x.stage.actors[0], name );
            check_feet( &x, name );
            check_bound( figure( &x, "bone_length_error_pct", "value" ), BONE_PCT );
            check_bound( figure( &x, "contact_error_mm", "max" ), CONTACT_MM );
            assert_true( figure( &x, "contact_error_mm", "gave_way" ) == 0 );
            check_bound( figure( &x, "acceleration_spike", "value" ), ACCELERATION );
            check_bound( figure( &x, "rotation_spike_deg", "value" ), ROTATION_DEG );
            close_scene( &x );
        }
}

// Hands point where the source's point, be there five fingers or one tip: a thumb goes by a thumb alone.
static void fingers_go_by_name( void **state )
{
    (void)state;
    static const struct {
        int source;
        const char *wrist, *tip, *thumb;
        int body;
        const char *own_wrist, *own_tip, *own_thumb;
    } cases[] = {
        { LIFT, "LeftWrist", "LeftWrist_End", NULL, WALK, "LeftHand", "LeftHandIndex1", "LThumb" },
        { WALK, "LeftHand", "LeftHandIndex1_End", NULL, LIFT, "LeftWrist", "LeftWrist_End", NULL },
        { CMU_WALK, "LeftHand", "LeftHandIndex1_End", "LThumb", WALK, "LeftHand", "LeftHandIndex1",
          "LThumb" },
        { CMU_WALK, "LeftHand", "LeftHandIndex1_End", "LThumb", GENO, "LeftHand", "LeftHandMiddle2",
          "LeftHandThumb1" },
        { PERFUME, "LeftWrist", "LeftWrist_End", NULL, GENO, "LeftHand", "LeftHandMiddle2",
          "LeftHandThumb1" },
    };
    for ( size_t i = 0; i < sizeof cases / sizeof *cases; ++i ) {
        take x;
        if ( !have_capture( captures[cases[i].source].file ) )
            continue;
        open_capture( &x, &captures[cases[i].source], &captures[cases[i].body] );
        solve( &x, "copy" );
        const tr_actor *actor = &x.stage.actors[0];
        const tr_skeleton *source = &actor->source.skeleton;
        if ( cases[i].thumb != NULL )
            check_driven( &x, cases[i].own_thumb, cases[i].thumb );
        else if ( cases[i].own_thumb != NULL )
            assert_int_equal( actor->map[tr_skeleton_find( &actor->target, cases[i].own_thumb )], -1 );
        const vec3 *out = tr_world_pose( &x.result.worlds[0], 30 ).positions;
        const vec3 *in = tr_world_pose( &actor->world, 30 ).positions;
        vec3 hand = v3_sub( out[tr_skeleton_find( &actor->target, cases[i].own_tip )],
                            out[tr_skeleton_find( &actor->target, cases[i].own_wrist )] );
        vec3 wanted = v3_sub( in[tr_skeleton_find( source, cases[i].tip )],
                              in[tr_skeleton_find( source, cases[i].wrist )] );
        double off = acos( clampd( v3_dot( v3_unit( hand ), v3_unit( wanted ) ), -1, 1 ) ) / TR_DEGREE;
        print_message( "the hand points %.1f degrees from %s\n", off, cases[i].tip );
        check_bound( off, STRANGER_HAND_DEG );
        close_scene( &x );
    }
}

enum { NAMED = 13 };

// Names of the same joints in source and target.
static void check_nameless( int source, const char *const of_source[NAMED], int target,
                            const char *const of_target[NAMED] )
{
    take x;
    tr_error error;
    tr_motion nameless;
    int at[NAMED];
    open_capture( &x, &captures[source], &captures[target] );
    tr_bvh_import import = tr_default_bvh_import();
    import.unit = captures[target].unit;
    check_ok( tr_motion_load( &nameless, x.scene.cast[0].target.skeleton.file, &import, NULL, &error ),
              &error );
    for ( int i = 0; i < NAMED; ++i )
        at[i] = tr_skeleton_find( &nameless.skeleton, of_target[i] );
    for ( int j = 0; j < nameless.skeleton.joint_count; ++j ) {
        char *name = nameless.skeleton.joints[j].name;
        snprintf( name, strlen( name ) + 1, "n%d", j );
    }
    check_ok( tr_skeleton_classify( &nameless.skeleton, &error ), &error );
    check_ok( tr_library_add( &x.library, "nameless.bvh", &nameless, &error ), &error );
    snprintf( x.scene.cast[0].target.skeleton.file, TR_PATH_MAX, "nameless.bvh" );
    solve( &x, "copy" );
    const tr_actor *actor = &x.stage.actors[0];
    for ( int i = 0; i < NAMED; ++i ) {
        int from = actor->map[at[i]];
        assert_true( from >= 0 );
        assert_string_equal( actor->source.skeleton.joints[from].name, of_source[i] );
    }
    close_scene( &x );
}

// Names that say nothing: the shape of the skeleton tells.
static void nameless_joints_go_by_structure( void **state )
{
    (void)state;
    static const char *const laboratory[NAMED] = {
        "Hips",    "LeftUpLeg",   "LeftLeg",  "LeftFoot", "RightUpLeg",   "RightLeg", "RightFoot",
        "LeftArm", "LeftForeArm", "LeftHand", "RightArm", "RightForeArm", "Head" };
    static const char *const studio[NAMED] = {
        "Hips",         "LeftHip",   "LeftKnee",  "LeftAnkle",     "RightHip",   "RightKnee", "RightAnkle",
        "LeftShoulder", "LeftElbow", "LeftWrist", "RightShoulder", "RightElbow", "Head" };
    check_nameless( WALK, laboratory, LIFT, studio );
    check_nameless( LIFT, studio, WALK, laboratory );
    if ( data_folder() != NULL )
        check_nameless( MEREDITH, laboratory, CMU_WALK, laboratory );
}

// ------------------------------------------------------------------------------------------- rules of others

// The body of a person of the relay with names of its own ("hand_l"), longer by a fifth, and hands without
// tips.
static void add_renamed( take *x, int who, const char *path )
{
    tr_error error;
    const tr_skeleton *own = &tr_library_find( &x->library, x->scene.cast[who].source.file )->skeleton;
    tr_motion body = { 0 };
    int *at = tr_alloc( (size_t)own->joint_count, sizeof *at );
    assert_non_null( at );
    for ( int j = 0; j < own->joint_count; ++j ) {
        const tr_joint *joint = &own->joints[j];
        bool left = strncmp( joint->name, "Left", 4 ) == 0, right = strncmp( joint->name, "Right", 5 ) == 0;
        char name[TR_JOINT_MAX];
        if ( strstr( joint->name, "Hand_End" ) != NULL )
            continue;
        snprintf( name, sizeof name, "%.40s%s",
                  joint->name + ( left    ? 4
                                  : right ? 5
                                          : 0 ),
                  left    ? "_l"
                  : right ? "_r"
                          : "_m" );
        at[j] = tr_skeleton_add( &body.skeleton, name, joint->parent >= 0 ? at[joint->parent] : -1,
                                 v3_scale( 1.2, joint->offset ) );
        body.skeleton.joints[at[j]].end_site = joint->end_site;
    }
    tr_free( at );
    check_ok( tr_skeleton_classify( &body.skeleton, &error ), &error );
    check_ok( tr_clip_alloc( &body.clip, 1, body.skeleton.joint_count, 30, false, &error ), &error );
    body.clip.root[0] = v3_scale( 1.2, own->joints[0].offset );
    check_ok( tr_library_add( &x->library, path, &body, &error ), &error );
    snprintf( x->scene.cast[who].target.skeleton.file, TR_PATH_MAX, "%s", path );
}

// Rules, and layers with their handles, name joints of the body they were made for. Another that takes its
// place is held by the joints these drive, and by as much beyond them as a palm is beyond a wrist.
static void rules_hold_for_who_takes_the_place( void **state )
{
    (void)state;
    take own, x;
    tr_error error;
    open_scene( &own, "box_relay", 3 );
    open_scene( &x, "box_relay", 3 );
    own.scene.last = x.scene.last = 120;
    add_renamed( &x, 1, "stranger.bvh" );
    x.scene.cast[1].target.scale = own.scene.cast[1].target.scale = 1;
    solve( &own, "posegraph" );
    solve( &x, "posegraph" );
    assert_int_equal( tr_skeleton_find( &x.stage.actors[1].target, "LeftHand" ), -1 );
    assert_int_equal( x.stage.rules[0].constraint, own.stage.rules[0].constraint );
    int palms = 0;
    for ( int r = 0; r < x.stage.rule_count && x.stage.rules[r].constraint >= 0; ++r ) {
        const tr_anchor *a = &x.stage.rules[r].a, *before = &own.stage.rules[r].a;
        if ( a->actor != 1 )
            continue;
        for ( int f = 0; f <= 120; f += 40 )
            check_v3( tr_anchor_source( &x.stage, a, f ), tr_anchor_source( &own.stage, before, f ), 1e-9 );
        check_near( v3_length( a->offset ), 1.2 * v3_length( a->source_offset ), 1e-3 ); // and the girth
        ++palms;
    }
    assert_true( palms >= 2 );
    assert_true( figure( &x, "contact_error_mm", "gave_way" ) == 0 );
    check_bound( figure( &x, "contact_error_mm", "max" ), CONTACT_MM );
    close_scene( &own );
    // Cages as well.
    tr_document *document = tr_document_create( &x.scene, &error );
    check_ok( tr_document_apply( document, "layer_add id=c kind=cage members=p02.LeftHand", &error ),
              &error );
    check_ok(
        tr_document_apply( document, "handle_add id=h layer=c point=p02.LeftHand_End frame=60", &error ),
        &error );
    tr_stage_free( &x.stage );
    check_ok( tr_stage_build( &x.stage, tr_document_scene( document ), NULL, &x.library, NULL, &error ),
              &error );
    tr_stage_free( &x.stage );
    check_ok( tr_document_apply( document, "layer_set id=c members=p02.LeftHoof", &error ), &error );
    assert_false( tr_stage_build( &x.stage, tr_document_scene( document ), NULL, &x.library, NULL, &error ) );
    assert_non_null( strstr( error.message, "LeftHoof" ) );
    tr_document_destroy( document );
    close_scene( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( arms_are_front_legs ),   TEST( rules_hold_for_who_takes_the_place ),
        TEST( legs_go_front_to_back ), TEST( who_stands_makes_others_stand ),
        TEST( strangers_stay_whole ),  TEST( captures_on_each_others_bodies ),
        TEST( fingers_go_by_name ),    TEST( nameless_joints_go_by_structure ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
