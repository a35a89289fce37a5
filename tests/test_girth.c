// How girth moves points on a body and on bodies that touch it: places by hand, then a dance.
#include "scenes/scenes.h"
#include "stage_fixture.h"

// A relation of the one's left hand, on the bone or off it, to the other's spine.
static void add_relation( fixture *x, vec3 on_hand, vec3 on_spine )
{
    tr_point a = tr_point_joint( "a", "LeftForeArm" ), b = tr_point_joint( "b", "Spine" );
    a.offset = on_hand;
    b.offset = on_spine;
    tr_constraint link = relation( "hold", a, b );
    link.last = FRAMES - 1;
    assert_non_null( tr_scene_add_constraint( &x->scene, &link ) );
}

static void thicken( tr_cast *cast, double girth )
{
    cast->target.girths[0] = ( tr_limb_value ){ "all", girth };
    cast->target.girth_count = 1;
}

static double radius_below( const tr_actor *actor, const char *joint )
{
    for ( int i = 0; i < actor->body.capsule_count; ++i )
        if ( actor->body.capsules[i].parent == tr_skeleton_find( &actor->target, joint ) )
            return actor->body.capsules[i].radius;
    fail_msg( "%s carries nothing", joint );
    return 0;
}

static const tr_rule *hold_of( const fixture *x )
{
    for ( int r = 0; r < x->stage.rule_count; ++r )
        if ( strcmp( x->stage.rules[r].id, "hold" ) == 0 )
            return &x->stage.rules[r];
    fail_msg( "there is no hold" );
    return NULL;
}

// The forearm lies along x. A point on its bone stays, covered by what the girth added; one on its surface or
// above goes out by as much; one half way does half of both.
static void surfaces_move_out( void **state )
{
    (void)state;
    static const double shares[] = { 0, 0.5, 1, 1.7 };
    for ( int i = 0; i < 4; ++i ) {
        fixture x;
        begin( &x );
        thicken( add_bent( &x, "a", v3_zero, 1 ), 1.5 );
        add_bent( &x, "b", v3( 0.5, 0, 0 ), 1 );
        x.scene.constraint_count = 0;
        double plain = 0;
        for ( int pass = 0; pass < 2; ++pass ) { // first to know how thick it is
            vec3 at = v3( 0.1, shares[i] * plain, 0 );
            add_relation( &x, at, v3_zero );
            build( &x );
            const tr_anchor *a = &hold_of( &x )->a;
            double thick = radius_below( &x.stage.actors[0], "LeftForeArm" ), share = fmin( shares[i], 1 );
            if ( pass > 0 ) {
                check_v3( a->offset, v3( 0.1, at.y + share * ( thick - plain ), 0 ), 1e-9 );
                check_v3( a->source_offset, at, 0 );
                check_near( a->cover, ( 1 - share ) * ( thick - plain ), 1e-9 );
                check_v3( hold_of( &x )->b.offset, v3_zero, 0 ); // as thick as it was
                check_near( hold_of( &x )->b.cover, 0, 0 );
            }
            plain = thick / 1.5;
            tr_stage_free( &x.stage );
            x.scene.constraint_count = 0;
        }
        x.stage = ( tr_stage ){ 0 };
        end( &x );
    }
}

// A joint is itself, wherever the volume around it lies: a skull sits above the joint of the head.
static void joints_stay_joints( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    thicken( add_bent( &x, "a", v3_zero, 1 ), 1.5 );
    add_bent( &x, "b", v3( 0.5, 0, 0 ), 1 );
    tr_constraint link = relation( "hold", tr_point_joint( "a", "Head" ), tr_point_joint( "b", "Head" ) );
    link.last = FRAMES - 1;
    assert_non_null( tr_scene_add_constraint( &x.scene, &link ) );
    build( &x );
    check_v3( hold_of( &x )->a.offset, v3_zero, 0 );
    end( &x );
}

// Two forearms that touch, 4 cm from bone to bone: a little thicker, they give way like flesh; much thicker,
// they are farther apart by what was added to both.
static void touches_keep_their_depth( void **state )
{
    (void)state;
    static const double girths[] = { 1, 1.1, 2, 0.5 };
    for ( int i = 0; i < 4; ++i ) {
        fixture x;
        begin( &x );
        thicken( add_bent( &x, "a", v3_zero, 1 ), girths[i] );
        thicken( add_bent( &x, "b", v3( 0, 0, 0.04 ), 1 ), girths[i] );
        tr_constraint link =
            relation( "hold", tr_point_joint( "a", "LeftForeArm" ), tr_point_joint( "b", "LeftForeArm" ) );
        link.last = FRAMES - 1;
        assert_non_null( tr_scene_add_constraint( &x.scene, &link ) );
        build( &x );
        tr_result result = solve( &x, "posegraph" );
        double thick = radius_below( &x.stage.actors[0], "LeftForeArm" ), added = thick - thick / girths[i];
        assert_true( hold_of( &x )->touch );
        assert_true( girths[i] != 1.1 || 2 * added < 0.01 );
        assert_true( girths[i] != 2 || 2 * added > 0.02 );
        double apart = girths[i] == 2 ? 0.04 + 2 * added : 0.04;
        check_v3( tr_rule_target( &x.stage, &result, hold_of( &x ), 5 ), v3( 0, 0, -apart ), 1e-9 );
        tr_result_free( &result );
        end( &x );
    }
}

// Hands on a back and a shoulder, hand in hand: thicker dancers are no deeper in each other than the
// source's.
static void thick_dancers_hold_each_other( void **state )
{
    (void)state;
    tr_scene scene = tr_default_scene();
    tr_library library = { 0 };
    tr_stage stage;
    tr_result result;
    tr_measures measures;
    tr_error error;
    check_ok( tr_scene_build( tr_scene_entry_find( "dance_pair" ), 2, &scene, &library, &error ), &error );
    scene.last = 30;
    for ( int i = 0; i < 2; ++i ) {
        scene.cast[i].target.limb_count = 0;
        scene.cast[i].target.scale = 1;
        thicken( &scene.cast[i], 1.4 );
    }
    check_ok( tr_stage_build( &stage, &scene, NULL, &library, NULL, &error ), &error );
    check_ok( tr_pipeline_run( &result, &stage, tr_method_find( "imesh" ), &error ), &error );
    check_ok( tr_measure( &measures, &stage, &result, &error ), &error );
    const tr_metric *overlap = tr_measures_find( &measures, "inter_penetration" ),
                    *contacts = tr_measures_find( &measures, "contact_f1" );
    assert_string_equal( overlap->fields[1].name, "max_mm" );
    check_bound( overlap->fields[1].out - overlap->fields[1].source, THICK_DANCE_DEEPER_MM );
    assert_string_equal( contacts->fields[2].name, "f1" );
    check_bound( contacts->fields[2].out, THICK_DANCE_CONTACTS );
    tr_measures_free( &measures );
    tr_result_free( &result );
    tr_stage_free( &stage );
    tr_scene_free( &scene );
    tr_library_free( &library );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( surfaces_move_out ),
        TEST( joints_stay_joints ),
        TEST( touches_keep_their_depth ),
        TEST( thick_dancers_hold_each_other ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
