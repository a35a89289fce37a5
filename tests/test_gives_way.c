// What gives way where not everything can be met: feet stand before links, links before places, places before
// the rest, what is hard before what is soft; and nothing gives way that need not.
#include "take.h"

// Runs ops on the scene.
static void edit( take *x, const char *ops )
{
    tr_error error;
    tr_document *document = tr_document_create( &x->scene, &error );
    assert_non_null( document );
    check_ok( tr_document_run( document, ops, strlen( ops ), "ops", &error ), &error );
    tr_scene_free( &x->scene );
    check_ok( tr_scene_copy( &x->scene, tr_document_scene( document ), &error ), &error );
    tr_document_destroy( document );
}

typedef struct conflict {
    const char *ops, *gives; // ids with a blank after each
} conflict;

static void solve_conflict( take *x, const char *scene, int cast, const char *ops )
{
    open_scene( x, scene, cast );
    edit( x, ops );
    solve( x, NULL );
}

static void check_conflict( const char *scene, int cast, const conflict *c )
{
    take x;
    char gave[256] = "";
    solve_conflict( &x, scene, cast, c->ops );
    for ( int r = 0; r < x.stage.rule_count; ++r ) {
        size_t used = strlen( gave );
        if ( x.result.reports[r].gave_way && used < 200 )
            snprintf( gave + used, sizeof gave - used, "%.40s ", x.stage.rules[r].id );
    }
    if ( strcmp( gave, c->gives ) != 0 )
        fail_msg( "%s\n%snot %sgave way", c->ops, gave, c->gives );
    close_scene( &x );
}

#define PIN( where, a ) "constraint_add id=" a " kind=absolute a=" where " target="

// The hands decide, wherever a box is pinned, and take it as far as they reach.
static void hands_hold_a_box_that_is_pinned_out_of_reach( void **state )
{
    (void)state;
    static const conflict conflicts[] = {
        { PIN( "box02", "pin" ) "0,3,0 range=60,80 ease=15,15", "pin " },
        { PIN( "box02", "pin" ) "0,1000,0 range=60,80 ease=15,15", "pin " },
        { PIN( "box02", "pin" ) "3,1,0 range=60,80 ease=15,15", "pin " },
        { PIN( "box02", "pin" ) "0,2.6,0 range=80,100 ease=15,15", "pin " }, // while it is handed over
        { PIN( "box02", "pin" ) "-0.7,1.2,0.4 range=60,80 ease=15,15", "" }, // within reach
        { PIN( "box02", "up" ) "0,3,0 range=60,80 ease=15,15\n" // one place after the other, and two at once
          PIN( "box02", "aside" ) "3,1,0 range=70,90 ease=15,15",
          "up aside " },
    };
    for ( size_t i = 0; i < sizeof conflicts / sizeof *conflicts; ++i )
        check_conflict( "box_relay", 3, &conflicts[i] );
}

// The same of the method that fits all frames at once: a box that is far out of reach stays in the hands.
static void hands_hold_a_far_box_in_time( void **state )
{
    (void)state;
    static const char *const places[] = { "0,1000,0", "3,1,0" };
    for ( int i = 0; i < 2; ++i ) {
        take x;
        char ops[100];
        snprintf( ops, sizeof ops, PIN( "box02", "pin" ) "%s range=60,80 ease=15,15", places[i] );
        open_scene( &x, "box_relay", 3 );
        edit( &x, ops );
        solve( &x, "window" );
        for ( int r = 0; r < x.stage.rule_count; ++r )
            assert_int_equal( x.result.reports[r].gave_way, strcmp( x.stage.rules[r].id, "pin" ) == 0 );
        check_bound( figure( &x, "rotation_spike_deg", "value" ), ROTATION_DEG );
        close_scene( &x );
    }
}

// As high as the arms are long: the place gives way by no more than it must.
static void a_pinned_box_is_lifted_as_far_as_hands_reach( void **state )
{
    (void)state;
    take x;
    solve_conflict( &x, "box_relay", 3, PIN( "box02", "pin" ) "-1,3,0 range=60,80 ease=15,15" );
    const tr_actor *who = &x.stage.actors[0];
    int shoulder = tr_skeleton_find( &who->target, "LeftArm" );
    for ( int f = 60; f <= 80; ++f ) {
        double above =
            x.result.tracks[1][f].position.y - tr_world_pose( &x.result.worlds[0], f ).positions[shoulder].y;
        assert_true( above > 0.1 );
    }
    close_scene( &x );
}

static void what_comes_first_stands( void **state )
{
    (void)state;
    static const conflict conflicts[] = {
        // both hands of one person, one of them in a partner's
        { PIN( "p01.LeftHand", "l" ) "1.5,1.2,0.2\n" PIN( "p01.RightHand", "r" ) "-2,1.2,0.2", "l r " },
        // partners pulled apart by their free hands, by those that hold each other, by hips, by one head
        { PIN( "p01.RightHand", "l" ) "-4,1.2,0.2\n" PIN( "p02.LeftHand", "r" ) "4,1.2,0.2", "l r " },
        { PIN( "p01.LeftHand", "l" ) "-4,1.2,0.2\n" PIN( "p02.RightHand", "r" ) "4,1.2,0.2", "l r " },
        { PIN( "p01.Hips", "l" ) "-4,1.2,0.2\n" PIN( "p02.Hips", "r" ) "4,1.2,0.2", "l r " },
        { PIN( "p01.Head", "l" ) "-4,1.2,0.2", "l " },
        // a foot that stands and is to be elsewhere, or otherwise turned
        { "constraint_add id=c kind=contact a=p01.LeftFoot range=0,30\n" PIN( "p01.LeftFoot",
                                                                              "f" ) "1,0.5,0.5",
          "f " },
        { "constraint_add id=o kind=orientation a=p01.LeftFoot rotation=0.7,0,0,0.7", "o " },
        // weight that no foot is under
        { "constraint_add id=m kind=centre_of_mass a=p01 target=2,0,2 axes=xz", "m " },
        // hands that keep their distance, at places farther apart: the graphs leave out what they heard last
        { "constraint_add id=d kind=length a=p01.RightHand b=p02.LeftHand length=0.3\n" //
          PIN( "p01.RightHand", "l" ) "-0.6,1.2,0.3\n" PIN( "p02.LeftHand", "r" ) "0.7,1.2,0.3",
          "r " },
        // hard and soft; the same twice; two places that overlap in time
        { PIN( "p01.RightHand", "h" ) "-0.5,1.2,0.3\n" PIN( "p01.RightHand",
                                                            "s" ) "-1,0.5,0.3 hard=false weight=1e6",
          "" },
        { PIN( "p01.RightHand", "h" ) "-0.5,1.2,0.3\n" PIN( "p01.RightHand", "s" ) "-0.5,1.2,0.3", "" },
        { PIN( "p01.RightHand", "h" ) "-0.5,1.2,0.3 range=0,15 ease=5,5\n" PIN(
              "p01.RightHand", "s" ) "-0.6,0.8,0.3 range=12,30 ease=5,5",
          "h s " },
    };
    for ( size_t i = 0; i < sizeof conflicts / sizeof *conflicts; ++i ) {
        char ops[512];
        snprintf( ops, sizeof ops, "scene_set range=0,30\n%s", conflicts[i].ops );
        check_conflict( "squat_chain", 2, &( conflict ){ ops, conflicts[i].gives } );
    }
}

// A foot that is let go of after it was pinned, and weight far from it, while a partner holds the sleeve; two
// which carry a crate that is pinned elsewhere, and one of their hands.
static void what_fades_gives_way_too( void **state )
{
    (void)state;
    static const conflict
        sleeve = { "scene_set range=90,100\n"
                   "constraint_add id=m kind=centre_of_mass a=p02 target=-2,0,-0.23 axes=xz\n" //
                   PIN( "p02.LeftFoot", "f" ) "0.15,0.38,-0.3 range=96,100 ease=4,10",
                   "m " },
        crate = { "scene_set range=117,122\n" PIN( "p01.LeftHand", "h" ) "0.26,0.65,-0.13\n" //
                  PIN( "crate", "c" ) "-1.03,3.16,1.89",
                  "h c " };
    check_conflict( "judo_pair", 2, &sleeve );
    check_conflict( "mixed_cast", 0, &crate );
}

// A wolf that walks away from where its head or a paw is pinned: all legs taut, every paw where it stands.
static void paws_stand_while_a_place_is_left_behind( void **state )
{
    (void)state;
    static const conflict conflicts[] = {
        { "scene_set range=30,70\n" PIN( "wolf01.Head", "pin" ) "0,0.5,0", "pin " },
        { "scene_set range=160,200\n" PIN( "wolf01.LeftFrontLower", "pin" ) "0,0.5,0", "pin " },
    };
    for ( int i = 0; i < 2; ++i )
        check_conflict( "wolf", 1, &conflicts[i] );
}

// Partners of a giant share its strides: no leg is as long. Contacts that gave way are distinguished from
// those that hold, with how far they are off, here and in the report.
static void contacts_that_gave_way_are_measured( void **state )
{
    (void)state;
    take x;
    tr_text text = { 0 };
    solve_conflict( &x, "dance_pair", 2, "scene_set range=222,225\ncast_scale id=p01 scale=50" );
    double most = 0;
    int count = 0;
    for ( int r = 0; r < x.stage.rule_count; ++r )
        if ( x.stage.rules[r].kind == TR_CONSTRAINT_CONTACT && x.result.reports[r].gave_way ) {
            most = fmax( most, x.result.reports[r].max_mm );
            count++;
        }
    assert_true( count > 0 && most > 1e3 );
    check_near( figure( &x, "contact_error_mm", "gave_way" ), count, 0 );
    check_near( figure( &x, "contact_error_mm", "gave_way_max" ), most, 1e-6 * most );
    assert_true( figure( &x, "contact_error_mm", "gave_way_mean" ) > 1 );
    check_bound( figure( &x, "contact_error_mm", "max" ), CONTACT_MM );
    assert_true( tr_report_print( &x.stage, &x.result, "posegraph", &text ) );
    for ( int r = 0; r < x.stage.rule_count; ++r ) {
        char line[128];
        snprintf( line, sizeof line, "{\"id\": \"%s\", \"frames\": [[22", x.stage.rules[r].id );
        assert_int_equal( strstr( text.data, line ) != NULL, x.result.reports[r].gave_way );
    }
    tr_text_free( &text );
    close_scene( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( hands_hold_a_box_that_is_pinned_out_of_reach ),
        TEST( hands_hold_a_far_box_in_time ),
        TEST( a_pinned_box_is_lifted_as_far_as_hands_reach ),
        TEST( what_comes_first_stands ),
        TEST( what_fades_gives_way_too ),
        TEST( paws_stand_while_a_place_is_left_behind ),
        TEST( contacts_that_gave_way_are_measured ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
