#include "check_motion.h"

#include <string.h>

typedef struct row {
    const char *name;
    const char *parent; // NULL for the root
    double x, y, z;     // in the world's rest pose
} row;

// Skeleton from world positions, so that a body can be written down as it stands.
static tr_skeleton build( const row *rows, int count )
{
    tr_skeleton s = { 0 };
    for ( int i = 0; i < count; ++i ) {
        int parent = rows[i].parent != NULL ? tr_skeleton_find( &s, rows[i].parent ) : -1;
        vec3 base = parent >= 0 ? v3( rows[parent].x, rows[parent].y, rows[parent].z ) : v3_zero;
        tr_skeleton_add( &s, rows[i].name, parent, v3_sub( v3( rows[i].x, rows[i].y, rows[i].z ), base ) );
    }
    tr_error error;
    check_ok( tr_skeleton_classify( &s, &error ), &error );
    check_ok( tr_skeleton_check( &s, &error ), &error );
    return s;
}

static void check_joint( const tr_skeleton *s, const char *name, tr_role role, tr_side side,
                         const char *limb )
{
    int j = tr_skeleton_find( s, name );
    assert_true( j >= 0 );
    const tr_joint *joint = &s->joints[j];
    if ( joint->role != role || joint->side != side || strcmp( s->limbs[joint->limb].name, limb ) != 0 )
        fail_msg( "%s is role %d, side %d of %s instead of %d, %d of %s", name, joint->role, joint->side,
                  s->limbs[joint->limb].name, role, side, limb );
}

// The same human in the words of several conventions; an entry that starts with '-' is left out.
enum {
    HIPS,
    HIP,
    THIGH,
    SHIN,
    FOOT,
    TOE,
    SPINE,
    CHEST,
    NECK,
    HEAD,
    CLAVICLE,
    ARM,
    FOREARM,
    HAND,
    THUMB,
    WORDS
};

typedef struct dialect {
    const char *words[WORDS]; // '*' stands for the side
    const char *left, *right;
} dialect;

static const dialect dialects[] = {
    { { "Hips", "*HipJoint", "*UpLeg", "*Leg", "*Foot", "*ToeBase", "LowerBack", "Spine1", "Neck1", "Head",
        "*Shoulder", "*Arm", "*ForeArm", "*Hand", "*HandThumb" },
      "Left",
      "Right" },
    { { "Hips", "-", "UpperLeg_*", "LowerLeg_*", "Foot_*", "Toes_*", "Spine", "Chest", "Neck", "Head",
        "Shoulder_*", "UpperArm_*", "LowerArm_*", "Hand_*", "Thumb_*" },
      "L",
      "R" },
    { { "Hips", "-", "*Hip", "*Knee", "*Ankle", "*Toe", "Chest", "Chest2", "Neck", "Head", "*Collar",
        "*Shoulder", "*Elbow", "*Wrist", "*Finger" },
      "Left",
      "Right" },
    { { "mixamorig:Hips", "-", "mixamorig:*UpLeg", "mixamorig:*Leg", "mixamorig:*Foot", "mixamorig:*ToeBase",
        "mixamorig:Spine", "mixamorig:Spine1", "mixamorig:Neck", "mixamorig:Head", "mixamorig:*Shoulder",
        "mixamorig:*Arm", "mixamorig:*ForeArm", "mixamorig:*Hand", "mixamorig:*HandThumb1" },
      "Left",
      "Right" },
    { { "pelvis", "-", "*_thigh", "*_shin", "*_foot", "*_ball", "spine_01", "spine_02", "neck_01", "head",
        "*_clavicle", "*_upperarm", "*_lowerarm", "*_hand", "*_thumb_01" },
      "l",
      "r" },
    { { "hips", "-", "thigh.*", "calf.*", "foot.*", "toe.*", "spine", "chest", "neck", "head", "collar.*",
        "upper_arm.*", "forearm.*", "hand.*", "thumb.01.*" },
      "L",
      "R" },
    { { "Bip01 Pelvis", "-", "Bip01 * Thigh", "Bip01 * Calf", "Bip01 * Foot", "Bip01 * Toe0", "Bip01 Spine",
        "Bip01 Spine1", "Bip01 Neck", "Bip01 Head", "Bip01 * Clavicle", "Bip01 * UpperArm", "Bip01 * Forearm",
        "Bip01 * Hand", "Bip01 * Finger0" },
      "L",
      "R" },
    { { "hip", "*Buttock", "*Thigh", "*Shin", "*Foot", "*Toe", "abdomen", "chest", "neck", "head", "*Collar",
        "*Shldr", "*ForeArm", "*Hand", "*Thumb1" },
      "l",
      "r" },
    { { "HIPS", "-", "*UPLEG", "*SHIN", "*FOOT", "*TOE", "SPINE", "CHEST", "NECK", "HEAD", "*COLLAR",
        "*UPPERARM", "*FOREARM", "*HAND", "*THUMB" },
      "L",
      "R" },
};

static const vec3 places[WORDS] = { // places on the left side
    { 0, 1, 0 },      { 0.02, 0.98, 0 }, { 0.1, 0.95, 0 }, { 0.1, 0.5, 0 },  { 0.1, 0.08, 0 },
    { 0.1, 0, 0.15 }, { 0, 1.15, 0 },    { 0, 1.3, 0 },    { 0, 1.5, 0 },    { 0, 1.6, 0 },
    { 0.05, 1.4, 0 }, { 0.2, 1.4, 0 },   { 0.5, 1.4, 0 },  { 0.75, 1.4, 0 }, { 0.8, 1.38, 0.05 } };
static const int stems[WORDS] = { -1,    HIPS, HIP,   THIGH,    SHIN, FOOT,    HIPS, SPINE,
                                  CHEST, NECK, CHEST, CLAVICLE, ARM,  FOREARM, HAND };

static void spell( const dialect *d, int word, int side, char out[64] )
{
    const char *text = d->words[word], *star = strchr( text, '*' );
    if ( star == NULL )
        snprintf( out, 64, "%s", text );
    else
        snprintf( out, 64, "%.*s%s%s", (int)( star - text ), text, side == 0 ? d->left : d->right, star + 1 );
}

static tr_skeleton speak( const dialect *d )
{
    tr_skeleton s = { 0 };
    for ( int word = 0; word < WORDS; ++word )
        for ( int side = 0; side < 2; ++side ) {
            bool single = strchr( d->words[word], '*' ) == NULL;
            if ( d->words[word][0] == '-' || ( single && side == 1 ) )
                continue;
            int stem = stems[word];
            if ( stem >= 0 && d->words[stem][0] == '-' )
                stem = stems[stem];
            char name[64], parent_name[64];
            spell( d, word, side, name );
            int parent = -1;
            vec3 base = v3_zero;
            if ( stem >= 0 ) {
                spell( d, stem, side, parent_name );
                parent = tr_skeleton_find( &s, parent_name );
                base = places[stem];
            }
            vec3 offset = v3_sub( places[word], base );
            if ( side == 1 )
                offset.x = -offset.x;
            assert_true( tr_skeleton_add( &s, name, parent, offset ) >= 0 );
        }
    return s;
}

static void every_dialect_is_understood( void **state )
{
    (void)state;
    const tr_role roles[WORDS] = { TR_ROLE_ROOT,    TR_ROLE_OTHER, TR_ROLE_THIGH,    TR_ROLE_SHIN,
                                   TR_ROLE_FOOT,    TR_ROLE_TOE,   TR_ROLE_SPINE,    TR_ROLE_SPINE,
                                   TR_ROLE_NECK,    TR_ROLE_HEAD,  TR_ROLE_CLAVICLE, TR_ROLE_UPPER_ARM,
                                   TR_ROLE_FOREARM, TR_ROLE_HAND,  TR_ROLE_FINGER };
    const char *const limbs[2][WORDS] = {
        { "torso", "torso", "left_leg", "left_leg", "left_leg", "left_leg", "torso", "torso", "head", "head",
          "torso", "left_arm", "left_arm", "left_arm", "left_arm" },
        { "torso", "torso", "right_leg", "right_leg", "right_leg", "right_leg", "torso", "torso", "head",
          "head", "torso", "right_arm", "right_arm", "right_arm", "right_arm" } };
    for ( size_t d = 0; d < sizeof dialects / sizeof dialects[0]; ++d ) {
        tr_skeleton s = speak( &dialects[d] );
        tr_error error;
        check_ok( tr_skeleton_classify( &s, &error ), &error );
        check_ok( tr_skeleton_check( &s, &error ), &error );
        assert_int_equal( s.limb_count, 6 );
        for ( int word = 0; word < WORDS; ++word )
            for ( int side = 0; side < 2; ++side ) {
                bool single = strchr( dialects[d].words[word], '*' ) == NULL;
                if ( dialects[d].words[word][0] == '-' )
                    continue;
                char name[64];
                spell( &dialects[d], word, side, name );
                check_joint( &s, name, roles[word],
                             single      ? TR_SIDE_NONE
                             : side == 0 ? TR_SIDE_LEFT
                                         : TR_SIDE_RIGHT,
                             limbs[side][word] );
            }
        check_near( tr_skeleton_height( &s ), 1.6, 1e-12 );
        check_near( tr_skeleton_leg_length( &s ), 0.45 + 0.42, 1e-12 );
        tr_skeleton_free( &s );
    }
}

// Names that say nothing: the same body is found from its shape.
static void shape_alone_is_enough( void **state )
{
    (void)state;
    tr_skeleton s = speak( &dialects[1] );
    for ( int j = 0; j < s.joint_count; ++j )
        snprintf( s.joints[j].name, strlen( s.joints[j].name ) + 1, "b%d", j );
    tr_error error;
    check_ok( tr_skeleton_classify( &s, &error ), &error );
    check_ok( tr_skeleton_check( &s, &error ), &error );
    tr_skeleton named = speak( &dialects[1] );
    check_ok( tr_skeleton_classify( &named, &error ), &error );
    for ( int j = 0; j < s.joint_count; ++j ) {
        assert_int_equal( s.joints[j].role, named.joints[j].role );
        assert_string_equal( s.limbs[s.joints[j].limb].name, named.limbs[named.joints[j].limb].name );
    }
    tr_skeleton_free( &s );
    tr_skeleton_free( &named );
}

static void carrier_above_the_hips( void **state )
{
    (void)state;
    const row rows[] = { { "joint_Root", NULL, 0, 0, 0 },       { "Hips", "joint_Root", 0, 1, 0 },
                         { "Spine", "Hips", 0, 1.2, 0 },        { "Head", "Spine", 0, 1.6, 0 },
                         { "UpperLeg_L", "Hips", 0.1, 0.9, 0 }, { "LowerLeg_L", "UpperLeg_L", 0.1, 0.5, 0 } };
    tr_skeleton s = build( rows, 6 );
    check_joint( &s, "joint_Root", TR_ROLE_OTHER, TR_SIDE_NONE, "torso" );
    check_joint( &s, "Hips", TR_ROLE_ROOT, TR_SIDE_NONE, "torso" );
    check_joint( &s, "UpperLeg_L", TR_ROLE_THIGH, TR_SIDE_LEFT, "left_leg" );
    tr_skeleton_free( &s );
}

static void spider_legs_front_to_back( void **state )
{
    (void)state;
    tr_skeleton s = { 0 };
    tr_skeleton_add( &s, "Body", -1, v3( 0, 0.3, 0 ) );
    tr_skeleton_add( &s, "Abdomen", 0, v3( 0, 0.05, -0.3 ) );
    tr_skeleton_add( &s, "LeftPalp", 0, v3( 0.02, 0, 0.1 ) );
    const char *const parts[] = { "Coxa", "Femur", "Tibia", "Tip" };
    const vec3 bones[] = { { 0.05, 0, 0 }, { 0.05, 0, 0 }, { 0.2, 0.2, 0 }, { 0.2, -0.5, 0 } };
    for ( int leg = 0; leg < 8; ++leg ) {
        int pair = leg / 2 + 1, parent = 0;
        double side = leg % 2 == 0 ? 1 : -1;
        for ( int p = 0; p < 4; ++p ) {
            char name[16];
            snprintf( name, sizeof name, "%c%d%s", side > 0 ? 'L' : 'R', pair, parts[p] );
            vec3 offset = v3( side * bones[p].x, bones[p].y, p == 0 ? 0.2 - 0.1 * pair : 0 );
            parent = tr_skeleton_add( &s, name, parent, offset );
        }
    }
    tr_error error;
    check_ok( tr_skeleton_classify( &s, &error ), &error );
    check_ok( tr_skeleton_check( &s, &error ), &error );
    check_joint( &s, "Body", TR_ROLE_ROOT, TR_SIDE_NONE, "torso" );
    check_joint( &s, "Abdomen", TR_ROLE_SPINE, TR_SIDE_NONE, "torso" );
    check_joint( &s, "LeftPalp", TR_ROLE_OTHER, TR_SIDE_LEFT, "left_other" );
    check_joint( &s, "L1Coxa", TR_ROLE_OTHER, TR_SIDE_LEFT, "left_leg_1" );
    check_joint( &s, "L1Femur", TR_ROLE_THIGH, TR_SIDE_LEFT, "left_leg_1" );
    check_joint( &s, "R3Tibia", TR_ROLE_SHIN, TR_SIDE_RIGHT, "right_leg_3" );
    check_joint( &s, "R4Tip", TR_ROLE_TOE, TR_SIDE_RIGHT, "right_leg_4" );
    check_near( tr_skeleton_leg_length( &s ), sqrt( 0.08 ) + sqrt( 0.29 ), 1e-12 ); // femur and tibia
    tr_skeleton_free( &s );
}

static void wolf_has_four_legs( void **state )
{
    (void)state;
    const row rows[] = {
        { "Hips", NULL, 0, 0.7, -0.4 },
        { "Spine1", "Hips", 0, 0.72, -0.1 },
        { "Chest", "Spine1", 0, 0.72, 0.2 },
        { "Neck1", "Chest", 0, 0.85, 0.4 },
        { "Head", "Neck1", 0, 0.95, 0.55 },
        { "Jaw", "Head", 0, 0.9, 0.6 },
        { "LeftEar1", "Head", 0.05, 1.05, 0.5 },
        { "LeftEar2", "LeftEar1", 0.05, 1.1, 0.5 },
        { "Tail1", "Hips", 0, 0.7, -0.5 },
        { "Tail2", "Tail1", 0, 0.6, -0.7 },
        { "LeftFrontScapula", "Chest", 0.08, 0.7, 0.25 },
        { "LeftFrontUpper", "LeftFrontScapula", 0.1, 0.55, 0.3 },
        { "LeftFrontLower", "LeftFrontUpper", 0.1, 0.35, 0.22 },
        { "LeftFrontPaw", "LeftFrontLower", 0.1, 0.05, 0.25 },
        { "LeftFrontToeInner1", "LeftFrontPaw", 0.08, 0.0, 0.32 },
        { "LeftHindUpper", "Hips", 0.08, 0.65, -0.4 },
        { "LeftHindLower", "LeftHindUpper", 0.1, 0.4, -0.3 },
        { "LeftHindHock", "LeftHindLower", 0.1, 0.2, -0.5 },
        { "LeftHindPaw", "LeftHindHock", 0.1, 0.05, -0.45 },
    };
    tr_skeleton s = build( rows, sizeof rows / sizeof rows[0] );
    check_joint( &s, "Hips", TR_ROLE_ROOT, TR_SIDE_NONE, "torso" );
    check_joint( &s, "Head", TR_ROLE_HEAD, TR_SIDE_NONE, "head" );
    check_joint( &s, "Jaw", TR_ROLE_OTHER, TR_SIDE_NONE, "head" );
    check_joint( &s, "LeftEar2", TR_ROLE_EAR, TR_SIDE_LEFT, "head" );
    check_joint( &s, "Tail2", TR_ROLE_TAIL, TR_SIDE_NONE, "tail" );
    check_joint( &s, "LeftFrontScapula", TR_ROLE_CLAVICLE, TR_SIDE_LEFT, "torso" );
    check_joint( &s, "LeftFrontUpper", TR_ROLE_THIGH, TR_SIDE_LEFT, "left_leg_1" );
    check_joint( &s, "LeftFrontPaw", TR_ROLE_FOOT, TR_SIDE_LEFT, "left_leg_1" );
    check_joint( &s, "LeftFrontToeInner1", TR_ROLE_TOE, TR_SIDE_LEFT, "left_leg_1" );
    check_joint( &s, "LeftHindUpper", TR_ROLE_THIGH, TR_SIDE_LEFT, "left_leg_2" );
    check_joint( &s, "LeftHindLower", TR_ROLE_SHIN, TR_SIDE_LEFT, "left_leg_2" );
    check_joint( &s, "LeftHindHock", TR_ROLE_SHIN, TR_SIDE_LEFT, "left_leg_2" );
    check_joint( &s, "LeftHindPaw", TR_ROLE_FOOT, TR_SIDE_LEFT, "left_leg_2" );
    tr_skeleton_free( &s );
}

// A dog rigged with a human's names walks on its arms.
static void arms_on_the_ground_are_legs( void **state )
{
    (void)state;
    const row rows[] = {
        { "Hips", NULL, 0, 0.6, -0.4 },
        { "Spine", "Hips", 0, 0.6, 0.2 },
        { "Head", "Spine", 0, 0.8, 0.5 },
        { "LeftArm", "Spine", 0.1, 0.5, 0.2 },
        { "LeftForeArm", "LeftArm", 0.1, 0.3, 0.2 },
        { "LeftHand", "LeftForeArm", 0.1, 0, 0.2 },
        { "LeftUpLeg", "Hips", 0.1, 0.5, -0.4 },
        { "LeftLeg", "LeftUpLeg", 0.1, 0.3, -0.4 },
        { "LeftFoot", "LeftLeg", 0.1, 0, -0.4 },
    };
    tr_skeleton s = build( rows, sizeof rows / sizeof rows[0] );
    check_joint( &s, "LeftArm", TR_ROLE_THIGH, TR_SIDE_LEFT, "left_leg_1" );
    check_joint( &s, "LeftHand", TR_ROLE_FOOT, TR_SIDE_LEFT, "left_leg_1" );
    check_joint( &s, "LeftFoot", TR_ROLE_FOOT, TR_SIDE_LEFT, "left_leg_2" );
    tr_skeleton_free( &s );
}

static void degenerate_skeletons( void **state )
{
    (void)state;
    const row one[] = { { "", NULL, 0, 0, 0 } };
    tr_skeleton s = build( one, 1 );
    check_joint( &s, "", TR_ROLE_ROOT, TR_SIDE_NONE, "torso" );
    check_near( tr_skeleton_height( &s ), 0, 0 );
    check_near( tr_skeleton_leg_length( &s ), 0, 0 );
    tr_skeleton_free( &s );

    tr_error error;
    for ( int j = 0; j < 5000; ++j ) // a chain of joints without length, and then with
        tr_skeleton_add( &s, "joint", j - 1, j < 2500 ? v3_zero : v3( 0, 0.01, 0 ) );
    check_ok( tr_skeleton_classify( &s, &error ), &error );
    check_ok( tr_skeleton_check( &s, &error ), &error );
    assert_int_equal( s.limb_count, 1 );
    tr_skeleton_free( &s );

    for ( int j = 0; j < 3000; ++j ) // a star of legs beyond any body
        tr_skeleton_add( &s, "leg", j == 0 ? -1 : 0, v3( j, j == 0, 0 ) );
    check_ok( tr_skeleton_classify( &s, &error ), &error );
    check_ok( tr_skeleton_check( &s, &error ), &error );
    assert_int_equal( s.limb_count, TR_MAX_LIMBS );
    tr_skeleton_free( &s );
}

// Classifying again, after joints were added, replaces what was there.
static void classifying_twice( void **state )
{
    (void)state;
    tr_skeleton s = speak( &dialects[0] );
    tr_error error;
    check_ok( tr_skeleton_classify( &s, &error ), &error );
    tr_skeleton_add( &s, "Tail", 0, v3( 0, 0, -0.2 ) );
    check_ok( tr_skeleton_classify( &s, &error ), &error );
    check_ok( tr_skeleton_check( &s, &error ), &error );
    check_joint( &s, "Tail", TR_ROLE_TAIL, TR_SIDE_NONE, "tail" );
    tr_skeleton_free( &s );
}

static void out_of_memory_is_reported( void **state )
{
    (void)state;
    for ( int shape = 0; shape < 2; ++shape )
        for ( long n = 1, done = 0; !done; ++n ) {
            tr_skeleton s = speak( &dialects[0] );
            for ( int j = 0; shape == 1 && j < s.joint_count; ++j )
                s.joints[j].name[0] = 0;
            tr_error error = { 0 };
            tr_memory_fail_from( n );
            done = tr_skeleton_classify( &s, &error );
            tr_memory_fail_from( 0 );
            assert_true( done || strcmp( error.message, "out of memory" ) == 0 );
            check_ok( tr_skeleton_check( &s, &error ), &error );
            tr_skeleton_free( &s );
        }
}

static void checker_finds_what_is_wrong( void **state )
{
    (void)state;
    tr_skeleton s = speak( &dialects[0] );
    tr_error error;
    check_ok( tr_skeleton_classify( &s, &error ), &error );
    tr_joint good = s.joints[3];
    s.joints[3].parent = 3;
    assert_false( tr_skeleton_check( &s, &error ) );
    s.joints[3] = good;
    s.joints[3].offset.y = NAN;
    assert_false( tr_skeleton_check( &s, &error ) );
    s.joints[3] = good;
    s.joints[3].rest.w = 1.1;
    assert_false( tr_skeleton_check( &s, &error ) );
    s.joints[3] = good;
    s.joints[3].limb = s.limb_count;
    assert_false( tr_skeleton_check( &s, &error ) );
    s.joints[3] = good;
    memcpy( s.limbs[1].name, s.limbs[0].name, sizeof s.limbs[0].name );
    assert_false( tr_skeleton_check( &s, &error ) );
    tr_skeleton_free( &s );
    assert_false( tr_skeleton_check( &s, &error ) ); // no joints
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( every_dialect_is_understood ), TEST( shape_alone_is_enough ),
        TEST( carrier_above_the_hips ),      TEST( spider_legs_front_to_back ),
        TEST( wolf_has_four_legs ),          TEST( arms_on_the_ground_are_legs ),
        TEST( degenerate_skeletons ),        TEST( classifying_twice ),
        TEST( out_of_memory_is_reported ),   TEST( checker_finds_what_is_wrong ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
