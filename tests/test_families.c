// Families of rigs: their names are known, bodies of any two map onto each other, and joints can be renamed.
#include "check.h"

#include "actor/actor.h"
#include "motion/motion.h"

#include <stdio.h>
#include <string.h>

// A person at rest, metres; left side or middle.
static const struct {
    int part, above; // -1: of the hips
    vec3 offset;
    tr_role role;
} body[] = {
    { TR_RIG_HIPS, -1, { 0, 0.95, 0 }, TR_ROLE_ROOT },
    { TR_RIG_SPINE_1, TR_RIG_HIPS, { 0, 0.1, 0 }, TR_ROLE_SPINE },
    { TR_RIG_SPINE_2, TR_RIG_SPINE_1, { 0, 0.1, 0 }, TR_ROLE_SPINE },
    { TR_RIG_SPINE_3, TR_RIG_SPINE_2, { 0, 0.1, 0 }, TR_ROLE_SPINE },
    { TR_RIG_SPINE_4, TR_RIG_SPINE_3, { 0, 0.1, 0 }, TR_ROLE_SPINE },
    { TR_RIG_SPINE_5, TR_RIG_SPINE_4, { 0, 0.1, 0 }, TR_ROLE_SPINE },
    { TR_RIG_NECK_1, TR_RIG_SPINE_5, { 0, 0.15, 0 }, TR_ROLE_NECK },
    { TR_RIG_NECK_2, TR_RIG_NECK_1, { 0, 0.05, 0 }, TR_ROLE_NECK },
    { TR_RIG_HEAD, TR_RIG_NECK_2, { 0, 0.08, 0 }, TR_ROLE_HEAD },
    { TR_RIG_CLAVICLE, TR_RIG_SPINE_5, { 0.03, 0.1, 0 }, TR_ROLE_CLAVICLE },
    { TR_RIG_UPPER_ARM, TR_RIG_CLAVICLE, { 0.15, 0, 0 }, TR_ROLE_UPPER_ARM },
    { TR_RIG_FOREARM, TR_RIG_UPPER_ARM, { 0.28, 0, 0 }, TR_ROLE_FOREARM },
    { TR_RIG_HAND, TR_RIG_FOREARM, { 0.25, 0, 0 }, TR_ROLE_HAND },
    { TR_RIG_THIGH, TR_RIG_HIPS, { 0.09, -0.05, 0 }, TR_ROLE_THIGH },
    { TR_RIG_SHIN, TR_RIG_THIGH, { 0, -0.42, 0 }, TR_ROLE_SHIN },
    { TR_RIG_FOOT, TR_RIG_SHIN, { 0, -0.4, 0 }, TR_ROLE_FOOT },
    { TR_RIG_TOE, TR_RIG_FOOT, { 0, -0.06, 0.15 }, TR_ROLE_TOE },
};
enum { BONES = sizeof body / sizeof *body, MOST = 80 };

typedef struct rig {
    tr_skeleton skeleton;
    tr_rig_part parts[MOST]; // parts that the joints were made as
} rig;

static int find_part( const rig *r, int part, tr_side side )
{
    for ( int j = 0; j < r->skeleton.joint_count; ++j )
        if ( r->parts[j].part == part && ( r->parts[j].side == side || r->parts[j].side == TR_SIDE_NONE ) )
            return j;
    return -1;
}

// The nearest joint above that the family has.
static int above_of( const rig *r, int part, tr_side side )
{
    for ( int i = part; i >= 0; ) {
        int found = find_part( r, i, side ), bone = 0;
        if ( found >= 0 )
            return found;
        while ( bone < BONES && body[bone].part != i )
            ++bone;
        i = bone < BONES ? body[bone].above : -1;
    }
    return -1;
}

static void add_joint( rig *r, int family, const char *prefix, tr_rig_part human, int above, vec3 offset )
{
    char name[TR_FAMILY_NAME], whole[2 * TR_FAMILY_NAME];
    if ( !tr_family_joint( family, human, name ) )
        return;
    snprintf( whole, sizeof whole, "%s%s", prefix, name );
    offset.x *= human.side == TR_SIDE_RIGHT ? -1 : 1;
    r->parts[r->skeleton.joint_count] = human;
    assert_true( tr_skeleton_add( &r->skeleton, whole, above, offset ) >= 0 );
    assert_true( r->skeleton.joint_count < MOST );
}

// A body with the names of a family; `upper`: from the waist upwards.
static void make( rig *r, int family, bool upper )
{
    tr_error error = { 0 };
    const char *prefix = strcmp( tr_family_name( family ), "mixamo" ) == 0 ? "mixamorig:" : "";
    *r = ( rig ){ 0 };
    for ( int i = 0; i < BONES; ++i )
        for ( int side = TR_SIDE_NONE; side <= TR_SIDE_RIGHT; ++side ) {
            bool leg = body[i].part >= TR_RIG_THIGH;
            int above = body[i].above >= 0 ? above_of( r, body[i].above, (tr_side)side ) : -1;
            if ( ( i == 0 ) == ( r->skeleton.joint_count == 0 ) && !( upper && leg ) )
                add_joint( r, family, prefix, ( tr_rig_part ){ body[i].part, (tr_side)side }, above,
                           body[i].offset );
        }
    for ( int side = TR_SIDE_LEFT; side <= TR_SIDE_RIGHT; ++side )
        for ( int finger = 0; finger < 5; ++finger )
            for ( int bone = 0, above = find_part( r, TR_RIG_HAND, (tr_side)side ); bone < 3; ++bone ) {
                int before = r->skeleton.joint_count;
                vec3 offset = bone == 0 ? v3( 0.08, 0, 0.03 - 0.02 * finger ) : v3( 0.03, 0, 0 );
                add_joint( r, family, prefix,
                           ( tr_rig_part ){ TR_RIG_FINGERS + 3 * finger + bone, (tr_side)side }, above,
                           offset );
                above = r->skeleton.joint_count > before ? before : above;
            }
    check_ok( tr_skeleton_classify( &r->skeleton, &error ), &error );
}

static void names_are_known( void **state )
{
    (void)state;
    for ( int family = 0; family < tr_family_count(); ++family )
        for ( int upper = 0; upper < 2; ++upper ) {
            rig r;
            tr_rig_part parts[MOST];
            tr_error error = { 0 };
            int found;
            make( &r, family, upper );
            check_ok( tr_family_of( &r.skeleton, &found, parts, &error ), &error );
            if ( found != family && !upper )
                print_error( "%s is taken for %s\n", tr_family_name( family ),
                             found >= 0 ? tr_family_name( found ) : "none" );
            assert_true( found == family || ( upper && found >= 0 ) ); // halves are alike in some
            for ( int j = 0; j < r.skeleton.joint_count; ++j ) {
                assert_int_equal( parts[j].part, r.parts[j].part );
                assert_int_equal( parts[j].side, r.parts[j].side );
            }
            tr_skeleton_free( &r.skeleton );
        }
    assert_int_equal( tr_family_find( "UE5" ), tr_family_find( "ue5" ) );
    assert_int_equal( tr_family_find( "nobody" ), -1 );
}

static void parts_have_their_roles( void **state )
{
    (void)state;
    for ( int family = 0; family < tr_family_count(); ++family ) {
        rig r;
        make( &r, family, false );
        for ( int j = 0; j < r.skeleton.joint_count; ++j ) {
            tr_role role = TR_ROLE_FINGER;
            for ( int i = 0; i < BONES; ++i )
                role = body[i].part == r.parts[j].part ? body[i].role : role;
            if ( r.skeleton.joints[j].role != role || r.skeleton.joints[j].side != r.parts[j].side )
                print_error( "%s: %s has role %d, not %d\n", tr_family_name( family ),
                             r.skeleton.joints[j].name, r.skeleton.joints[j].role, role );
            assert_int_equal( r.skeleton.joints[j].role, role );
            assert_int_equal( r.skeleton.joints[j].side, r.parts[j].side );
        }
        assert_int_equal( r.skeleton.limb_count, 6 );
        tr_skeleton_free( &r.skeleton );
    }
}

static int count_parts( const rig *r, int first, int last )
{
    int count = 0;
    for ( int j = 0; j < r->skeleton.joint_count; ++j )
        count += r->parts[j].part >= first && r->parts[j].part <= last;
    return count;
}

// Every part that both have is driven by itself; where backs or necks have different numbers of joints, they
// are chains. Half a body is enough, as source and as target.
static void any_two_map_onto_each_other( void **state )
{
    (void)state;
    for ( int pair = 0; pair < tr_family_count() * tr_family_count(); ++pair )
        for ( int half = 0; half < 3; ++half ) {
            rig source, target;
            tr_error error = { 0 };
            tr_actor actor = { 0 };
            make( &source, pair / tr_family_count(), half == 1 );
            make( &target, pair % tr_family_count(), half == 2 );
            actor.source.skeleton = source.skeleton;
            actor.target = target.skeleton;
            check_ok( tr_joint_map_suggest( &actor, &error ), &error );
            bool chains = count_parts( &source, TR_RIG_SPINE_1, TR_RIG_SPINE_5 ) !=
                              count_parts( &target, TR_RIG_SPINE_1, TR_RIG_SPINE_5 ) ||
                          count_parts( &source, TR_RIG_NECK_1, TR_RIG_NECK_2 ) !=
                              count_parts( &target, TR_RIG_NECK_1, TR_RIG_NECK_2 );
            for ( int j = 0; j < target.skeleton.joint_count; ++j ) {
                int part = target.parts[j].part, wanted = find_part( &source, part, target.parts[j].side );
                bool trunk = part >= TR_RIG_SPINE_1 && part <= TR_RIG_HEAD;
                if ( wanted < 0 || ( chains && trunk ) )
                    continue;
                if ( actor.map[j] != wanted )
                    print_error( "%s is driven by %s, not %s\n", target.skeleton.joints[j].name,
                                 actor.map[j] >= 0 ? source.skeleton.joints[actor.map[j]].name : "nothing",
                                 source.skeleton.joints[wanted].name );
                assert_int_equal( actor.map[j], wanted );
            }
            tr_joint_map_free( &actor );
            tr_skeleton_free( &source.skeleton );
            tr_skeleton_free( &target.skeleton );
        }
}

// Joints that rigs have beside their bodies, as their programs export them: they are no limbs, and change no
// role and no map.
static void helpers_are_passed_over( void **state )
{
    (void)state;
    static const struct {
        const char *family, *name;
        int above; // part, -1: the helper before it
        vec3 offset;
    } helpers[] = {
        { "biped", "Bip01 Footsteps", TR_RIG_HIPS, { 0, -0.95, 0 } },
        { "biped", "Bip01 HeadNub", TR_RIG_HEAD, { 0, 0.2, 0 } },
        { "biped", "Bip01 L Toe0Nub", TR_RIG_TOE, { 0, 0, 0.05 } },
        { "biped", "Bip01 L ForeTwist", TR_RIG_FOREARM, { 0.05, 0, 0 } },
        { "ue5", "ik_foot_root", TR_RIG_HIPS, { 0, -0.95, 0 } },
        { "ue5", "ik_foot_l", -1, { 0.09, 0.08, 0 } },
        { "ue5", "ik_hand_root", TR_RIG_HIPS, { 0, -0.95, 0 } },
        { "ue5", "ik_hand_gun", -1, { -0.6, 1.4, 0 } },
        { "ue5", "ik_hand_r", -1, { 0, 0, 0 } },
        { "ue5", "lowerarm_twist_01_l", TR_RIG_FOREARM, { 0.1, 0, 0 } },
        { "ue5", "thigh_twist_02_l", TR_RIG_THIGH, { 0, -0.2, 0 } },
        { "ue5", "thigh_correctiveRoot_l", TR_RIG_THIGH, { 0, 0, 0 } }, // MetaHuman
        { "ue5", "thigh_fwd_l", -1, { 0, 0, 0.05 } },
        { "ue5", "upperarm_correctiveRoot_l", TR_RIG_UPPER_ARM, { 0, 0, 0 } },
        { "ue5", "clavicle_pec_l", TR_RIG_CLAVICLE, { 0.05, -0.05, 0.05 } },
        { "ue5", "spine_04_latissimus_l", TR_RIG_SPINE_4, { 0.1, 0, 0 } },
        { "ue5", "calf_knee_l", TR_RIG_SHIN, { 0, 0, 0.05 } },
        { "ue5", "ankle_bck_l", TR_RIG_FOOT, { 0, 0, -0.05 } },
        { "ue5", "wrist_inner_l", TR_RIG_HAND, { 0, -0.02, 0 } },
        { "ue5", "FACIAL_C_FacialRoot", TR_RIG_HEAD, { 0, 0.05, 0.05 } },
        { "ue5", "FACIAL_L_Eye", -1, { 0.03, 0.03, 0.03 } },
        { "ue4", "ik_foot_root", TR_RIG_HIPS, { 0, -0.95, 0 } },
        { "ue4", "ik_foot_r", -1, { -0.09, 0.08, 0 } },
        { "ue4", "calf_twist_01_l", TR_RIG_SHIN, { 0, -0.2, 0 } },
        { "rigify", "DEF-upper_arm.L.001", TR_RIG_UPPER_ARM, { 0.14, 0, 0 } },
        { "rigify", "DEF-breast.L", TR_RIG_SPINE_3, { 0.08, 0, 0.1 } },
        { "rigify", "DEF-pelvis.L", TR_RIG_HIPS, { 0.05, 0.03, 0 } },
        { "humanik", "LeftForeArmRoll", TR_RIG_FOREARM, { 0.1, 0, 0 } },
        { "humanik", "LeftUpLegRoll", TR_RIG_THIGH, { 0, -0.2, 0 } },
        { "mixamo", "mixamorig:HeadTop_End", TR_RIG_HEAD, { 0, 0.2, 0 } },
        { "mixamo", "mixamorig:LeftToe_End", TR_RIG_TOE, { 0, 0, 0.05 } },
        { "vrm", "J_Sec_Hair1_01", TR_RIG_HEAD, { 0, 0.1, -0.1 } },
        { "vroid", "J_Sec_L_Bust1", TR_RIG_SPINE_3, { 0.08, 0, 0.1 } },
        { "vroid", "J_Sec_L_CoatSkirtFront_01", TR_RIG_HIPS, { 0.1, -0.1, 0.1 } },
    };
    for ( int family = 0; family < tr_family_count(); ++family ) {
        rig plain, full;
        tr_error error = { 0 };
        make( &plain, family, false );
        make( &full, family, false );
        int last = -1, own = full.skeleton.joint_count;
        for ( size_t h = 0; h < sizeof helpers / sizeof *helpers; ++h ) {
            if ( strcmp( helpers[h].family, tr_family_name( family ) ) != 0 )
                continue;
            int above = helpers[h].above < 0 ? last : find_part( &full, helpers[h].above, TR_SIDE_LEFT );
            assert_true( above >= 0 );
            last = full.skeleton.joint_count;
            assert_true( tr_skeleton_add( &full.skeleton, helpers[h].name, above, helpers[h].offset ) ==
                         last );
        }
        check_ok( tr_skeleton_classify( &full.skeleton, &error ), &error );
        if ( full.skeleton.limb_count != 6 )
            for ( int l = 0; l < full.skeleton.limb_count; ++l )
                print_error( "%s: %s\n", tr_family_name( family ), full.skeleton.limbs[l].name );
        assert_int_equal( full.skeleton.limb_count, 6 );
        tr_actor actor = { .source.skeleton = full.skeleton, .target = plain.skeleton };
        check_ok( tr_joint_map_suggest( &actor, &error ), &error );
        for ( int j = 0; j < own; ++j ) {
            if ( full.skeleton.joints[j].role != plain.skeleton.joints[j].role || actor.map[j] != j )
                print_error( "%s: %s has role %d, not %d, and is driven by %d\n", tr_family_name( family ),
                             plain.skeleton.joints[j].name, full.skeleton.joints[j].role,
                             plain.skeleton.joints[j].role, actor.map[j] );
            assert_int_equal( full.skeleton.joints[j].role, plain.skeleton.joints[j].role );
            assert_int_equal( actor.map[j], j );
        }
        tr_joint_map_free( &actor );
        tr_skeleton_free( &plain.skeleton );
        tr_skeleton_free( &full.skeleton );
    }
}

// Rigify splits the bones of arms and legs: the second halves are joints without a role.
static void halves_of_bones_have_no_role( void **state )
{
    (void)state;
    static const struct {
        const char *name; // # stands for the side
        int above;
        vec3 offset;
        tr_role role;
    } chain[] = {
        { "DEF-spine", -1, { 0, 0.95, 0 }, TR_ROLE_ROOT },
        { "DEF-spine.001", 0, { 0, 0.2, 0 }, TR_ROLE_SPINE },
        { "DEF-spine.003", 1, { 0, 0.25, 0 }, TR_ROLE_SPINE },
        { "DEF-spine.004", 2, { 0, 0.1, 0 }, TR_ROLE_NECK },
        { "DEF-spine.006", 3, { 0, 0.1, 0 }, TR_ROLE_HEAD },
        { "DEF-thigh.#", 0, { 0.1, 0, 0 }, TR_ROLE_THIGH },
        { "DEF-thigh.#.001", 5, { 0, -0.2, 0 }, TR_ROLE_OTHER },
        { "DEF-shin.#", 6, { 0, -0.2, 0 }, TR_ROLE_SHIN },
        { "DEF-shin.#.001", 7, { 0, -0.2, 0 }, TR_ROLE_OTHER },
        { "DEF-foot.#", 8, { 0, -0.2, 0 }, TR_ROLE_FOOT },
        { "DEF-toe.#", 9, { 0, -0.1, 0.15 }, TR_ROLE_TOE },
        { "DEF-shoulder.#", 2, { 0.03, 0.08, 0 }, TR_ROLE_CLAVICLE },
        { "DEF-upper_arm.#", 11, { 0.15, 0, 0 }, TR_ROLE_UPPER_ARM },
        { "DEF-upper_arm.#.001", 12, { 0.14, 0, 0 }, TR_ROLE_OTHER },
        { "DEF-forearm.#", 13, { 0.14, 0, 0 }, TR_ROLE_FOREARM },
        { "DEF-forearm.#.001", 14, { 0.12, 0, 0 }, TR_ROLE_OTHER },
        { "DEF-hand.#", 15, { 0.12, 0, 0 }, TR_ROLE_HAND },
    };
    enum { COUNT = sizeof chain / sizeof *chain };
    tr_skeleton skeleton = { 0 };
    tr_error error = { 0 };
    int joints[2][COUNT];
    for ( int side = 0; side < 2; ++side )
        for ( int i = 0; i < COUNT; ++i ) {
            char name[40];
            bool both = strchr( chain[i].name, '#' ) != NULL;
            snprintf( name, sizeof name, "%s", chain[i].name );
            if ( both )
                *strchr( name, '#' ) = side == 0 ? 'L' : 'R';
            vec3 offset = chain[i].offset;
            offset.x *= side == 0 ? 1 : -1;
            joints[side][i] =
                side == 1 && !both
                    ? joints[0][i]
                    : tr_skeleton_add( &skeleton, name,
                                       chain[i].above < 0 ? -1 : joints[side][chain[i].above], offset );
        }
    check_ok( tr_skeleton_classify( &skeleton, &error ), &error );
    for ( int side = 0; side < 2; ++side )
        for ( int i = 0; i < COUNT; ++i )
            assert_int_equal( skeleton.joints[joints[side][i]].role, chain[i].role );
    assert_int_equal( skeleton.limb_count, 6 );
    tr_skeleton_free( &skeleton );
}

// Names that exporters changed: namespaces, dots and spaces; a biped with another number.
static void names_may_be_changed( void **state )
{
    (void)state;
    static const struct {
        const char *name, *family;
        int part;
        tr_side side;
    } cases[] = {
        { "rig:DEF_upper_arm_L", "rigify", TR_RIG_UPPER_ARM, TR_SIDE_LEFT },
        { "Bip002_R_Thigh", "biped", TR_RIG_THIGH, TR_SIDE_RIGHT },
        { "Armature|mixamorig1:RightHandPinky3", "mixamo", TR_RIG_FINGERS + 14, TR_SIDE_RIGHT },
        { "LeftUpperLeg", "vrm", TR_RIG_THIGH, TR_SIDE_LEFT },
    };
    for ( size_t i = 0; i < sizeof cases / sizeof *cases; ++i ) {
        rig r;
        tr_rig_part parts[MOST];
        tr_error error = { 0 };
        int found;
        make( &r, tr_family_find( cases[i].family ), false );
        int joint = find_part( &r, cases[i].part, cases[i].side );
        tr_free( r.skeleton.joints[joint].name );
        r.skeleton.joints[joint].name = tr_string_copy( cases[i].name );
        check_ok( tr_family_of( &r.skeleton, &found, parts, &error ), &error );
        assert_string_equal( tr_family_name( found ), cases[i].family );
        assert_int_equal( parts[joint].part, cases[i].part );
        assert_int_equal( parts[joint].side, cases[i].side );
        tr_skeleton_free( &r.skeleton );
    }
}

static void joints_take_the_names_of_a_family( void **state )
{
    (void)state;
    tr_error error = { 0 };
    rig r;
    int renamed;
    make( &r, tr_family_find( "ue4" ), false );
    int count = r.skeleton.joint_count;
    check_ok( tr_family_rename( &r.skeleton, tr_family_find( "vroid" ), &renamed, &error ), &error );
    assert_int_equal( renamed, count );
    assert_true( tr_skeleton_find( &r.skeleton, "J_Bip_L_UpperArm" ) >= 0 );
    assert_true( tr_skeleton_find( &r.skeleton, "J_Bip_R_Little3" ) >= 0 );
    tr_skeleton_free( &r.skeleton );
    // A body of no family goes by its roles.
    static const char *const names[] = { "Becken", "Bauch", "L Thigh_a", "L Calf_a", "L Foot_a" };
    static const vec3 offsets[] = {
        { 0, 1, 0 }, { 0, 0.3, 0 }, { 0.1, 0, 0 }, { 0, -0.4, 0 }, { 0, -0.4, 0 } };
    static const int parents[] = { -1, 0, 0, 2, 3 };
    r = ( rig ){ 0 };
    for ( int j = 0; j < 5; ++j )
        assert_true( tr_skeleton_add( &r.skeleton, names[j], parents[j], offsets[j] ) >= 0 );
    check_ok( tr_skeleton_classify( &r.skeleton, &error ), &error );
    check_ok( tr_family_rename( &r.skeleton, tr_family_find( "humanik" ), &renamed, &error ), &error );
    assert_string_equal( r.skeleton.joints[0].name, "Hips" );
    assert_string_equal( r.skeleton.joints[3].name, "LeftLeg" );
    assert_string_equal( r.skeleton.joints[4].name, "LeftFoot" );
    tr_skeleton_free( &r.skeleton );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( names_are_known ),
        TEST( parts_have_their_roles ),
        TEST( any_two_map_onto_each_other ),
        TEST( helpers_are_passed_over ),
        TEST( halves_of_bones_have_no_role ),
        TEST( names_may_be_changed ),
        TEST( joints_take_the_names_of_a_family ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
