// Families of rigs: their names are known, bodies of any two map onto each other, and joints can be renamed.
#include "check.h"

#include "actor/actor.h"
#include "motion/motion.h"

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
        TEST( names_may_be_changed ),
        TEST( joints_take_the_names_of_a_family ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
