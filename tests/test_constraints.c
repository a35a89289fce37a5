// Every kind of constraint through the whole pipeline, on one or two stick bodies: what is exported keeps it.
#include "stage_fixture.h"

// ------------------------------------------------------------------------------------------------- helpers

static tr_constraint *add_rule( fixture *x, const char *id, tr_constraint_kind kind, const char *a )
{
    tr_constraint c = tr_default_constraint( id, kind );
    check_ok( tr_point_parse( &c.a, a, &x->error ), &x->error );
    return tr_scene_add_constraint( &x->scene, &c );
}

static void set_b( fixture *x, tr_constraint *c, const char *b )
{
    check_ok( tr_point_parse( &c->b, b, &x->error ), &x->error );
}

static void ask( tr_constraint *c, vec3 target )
{
    c->given = true;
    c->target = target;
}

static const tr_rule_report *report_of( const fixture *x, const tr_result *result, const char *id )
{
    return &result->reports[find_rule( &x->stage, id )];
}

static void check_kept( const fixture *x, const tr_result *result, const char *id )
{
    const tr_rule_report *report = report_of( x, result, id );
    if ( report->gave_way || report->max_mm > 1 )
        fail_msg( "%s is %.3f mm off at frame %d", id, report->max_mm, report->worst_frame );
}

// Demands of the document do not move feet that stand.
static void check_feet( const fixture *x, const tr_result *result )
{
    for ( int r = 0; r < x->stage.rule_count; ++r )
        if ( x->stage.rules[r].constraint < 0 && x->stage.rules[r].kind == TR_CONSTRAINT_CONTACT )
            check_kept( x, result, x->stage.rules[r].id );
}

static vec3 at( const tr_result *result, const tr_stage *stage, const char *name, int frame )
{
    return tr_world_pose( &result->worlds[0], frame ).positions[joint( stage, 0, name )];
}

// Largest change of step from frame to frame, over all joints.
static double jolt( const tr_result *result )
{
    double most = 0;
    for ( int f = 1; f + 1 < result->frame_count; ++f )
        for ( int j = 0; j < result->worlds[0].joint_count; ++j ) {
            vec3 a = tr_world_pose( &result->worlds[0], f - 1 ).positions[j],
                 b = tr_world_pose( &result->worlds[0], f ).positions[j],
                 c = tr_world_pose( &result->worlds[0], f + 1 ).positions[j];
            most = fmax( most, v3_distance( v3_sub( c, b ), v3_sub( b, a ) ) );
        }
    return most;
}

static void stop( fixture *x, tr_result *result )
{
    tr_result_free( result );
    end( x );
}

// ------------------------------------------------------------------------------------------------ absolute

static void joints_points_and_mixtures_come_to_their_places( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 0.9 );
    ask( add_rule( &x, "hand", TR_CONSTRAINT_ABSOLUTE, "a.LeftHand@0.1,0,0" ), v3( 0.45, 1.2, 0.35 ) );
    ask( add_rule( &x, "middle", TR_CONSTRAINT_ABSOLUTE, "a.LeftUpLeg*0.5+RightUpLeg*0.5" ),
         v3( 0.05, 0.75, 0.02 ) );
    build( &x );
    tr_result out = solve( &x, "posegraph" );
    check_kept( &x, &out, "hand" );
    check_kept( &x, &out, "middle" );
    check_feet( &x, &out );
    stop( &x, &out );
}

// Both hands of a mixture move alike; neither does all the work.
static void a_mixture_moves_all_of_its_joints( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    tr_constraint *c = add_rule( &x, "hands", TR_CONSTRAINT_ABSOLUTE, "a.LeftHand*0.5+RightHand*0.5" );
    build( &x );
    tr_result before = solve( &x, "copy" );
    vec3 middle =
        v3_lerp( at( &before, &x.stage, "LeftHand", 5 ), at( &before, &x.stage, "RightHand", 5 ), 0.5 );
    tr_stage_free( &x.stage );
    ask( c, v3_add( middle, v3( 0, -0.08, 0.05 ) ) );
    build( &x );
    tr_result out = solve( &x, "posegraph" );
    check_kept( &x, &out, "hands" );
    for ( int side = 0; side < 2; ++side ) {
        const char *name = side == 0 ? "LeftHand" : "RightHand";
        vec3 moved = v3_sub( at( &out, &x.stage, name, 5 ), at( &before, &x.stage, name, 5 ) );
        check_near( moved.y, -0.08, 0.02 );
    }
    tr_result_free( &before );
    stop( &x, &out );
}

static void axes_leave_the_others_free( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    tr_constraint *c = add_rule( &x, "height", TR_CONSTRAINT_ABSOLUTE, "a.RightHand" );
    ask( c, v3( 9, 1.3, 9 ) );
    c->axis[0] = c->axis[2] = false;
    build( &x );
    tr_result copy = solve( &x, "copy" ), out = solve( &x, "posegraph" );
    check_kept( &x, &out, "height" );
    check_near( at( &out, &x.stage, "RightHand", 4 ).y, 1.3, 1e-3 );
    assert_true( v3_distance( at( &out, &x.stage, "RightHand", 4 ), at( &copy, &x.stage, "RightHand", 4 ) ) <
                 0.3 );
    tr_result_free( &copy );
    stop( &x, &out );
}

static void softness_and_ease_are_shares_of_the_way( void **state )
{
    (void)state;
    double before = 0;
    for ( double weight = 0; weight <= 100; weight = weight == 0 ? 0.1 : 10 * weight ) {
        fixture x;
        begin( &x );
        add_bent( &x, "a", v3_zero, 1 );
        tr_constraint *c = add_rule( &x, "hand", TR_CONSTRAINT_ABSOLUTE, "a.LeftHand" );
        ask( c, v3( 0.5, 1.2, 0.3 ) );
        c->hard = false;
        c->weight = weight;
        c->first = 12;
        c->last = 18;
        c->ease_in = c->ease_out = 8;
        build( &x );
        tr_result copy = solve( &x, "copy" ), out = solve( &x, "posegraph" );
        double way = v3_distance( at( &copy, &x.stage, "LeftHand", 15 ), v3( 0.5, 1.2, 0.3 ) );
        double left = v3_distance( at( &out, &x.stage, "LeftHand", 15 ), v3( 0.5, 1.2, 0.3 ) );
        double share = 1 - left / way;
        assert_true( share > before - 1e-6 && share < 1.0001 && ( weight > 0 || fabs( share ) < 1e-3 ) );
        before = share;
        assert_false( report_of( &x, &out, "hand" )->gave_way ); // a soft one is never broken
        print_message( "weight %g: share %.4f, jolt %.4f m\n", weight, share, jolt( &out ) );
        check_bound( jolt( &out ), SOFT_KICK_M );
        tr_result_free( &copy );
        stop( &x, &out );
    }
    assert_true( before > 0.9 );
}

// A body that walks along +Z at 3 m/s is led 6 degrees to the left over the middle of the scene.
static void a_path_takes_its_direction( void **state )
{
    (void)state;
    for ( int given = 0; given < 2; ++given ) {
        fixture x;
        begin( &x );
        tr_motion walk;
        make_body( &walk, FRAMES );
        bend_a_little( &walk );
        for ( int f = 0; f < FRAMES; ++f )
            walk.clip.root[f] = v3( 0.01 * sin( 0.3 * f ), 1, 0.1 * f );
        add_character( &x, "a", v3_zero, 0.8, &walk );
        tr_constraint *c = add_rule( &x, "way", TR_CONSTRAINT_ABSOLUTE, "a.Hips" );
        c->direction = true;
        c->first = 10;
        c->last = 20;
        c->ease_in = c->ease_out = 8;
        if ( given )
            ask( c, v3( 0.1, 0, 1 ) );
        build( &x );
        tr_result copy = solve( &x, "copy" ), out = solve( &x, "posegraph" );
        check_kept( &x, &out, "way" );
        vec3 step = v3_sub( out.motions[0].clip.root[18], out.motions[0].clip.root[12] );
        if ( given )
            check_near( atan2( step.x, step.z ), atan2( 0.1, 1 ), 0.01 );
        check_near( v3_length( step ), 0.48, 0.01 ); // as fast as before
        check_v3( out.motions[0].clip.root[0], copy.motions[0].clip.root[0], 1e-3 );
        check_bound( jolt( &out ), LED_KICK_M );
        tr_result_free( &copy );
        stop( &x, &out );
    }
}

// ------------------------------------------------------------------------------------------ centre of mass

static void a_centre_of_mass_is_brought_over_a_place( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 0.9 );
    tr_constraint *c = add_rule( &x, "mass", TR_CONSTRAINT_CENTRE_OF_MASS, "a" );
    ask( c, v3( 0.06, 0, 0.05 ) );
    c->axis[1] = false;
    c->first = 10;
    c->last = 20;
    c->ease_in = c->ease_out = 8;
    build( &x );
    tr_result out = solve( &x, "posegraph" );
    check_kept( &x, &out, "mass" );
    check_feet( &x, &out );
    check_bound( jolt( &out ), BALANCE_KICK_M );
    stop( &x, &out );
}

static void balance_keeps_it_over_the_feet( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    tr_motion leaning;
    make_body( &leaning, FRAMES );
    bend_a_little( &leaning );
    for ( int f = 0; f < FRAMES; ++f ) // more and more forward
        tr_clip_frame( &leaning.clip, f )[1] = q_axis_angle( v3_x, 0.03 * f );
    add_character( &x, "a", v3_zero, 0.9, &leaning )->balance = true;
    build( &x );
    tr_result out = solve( &x, "posegraph" );
    int balance = -1;
    for ( int r = 0; r < x.stage.rule_count; ++r )
        if ( x.stage.rules[r].kind == TR_CONSTRAINT_CENTRE_OF_MASS )
            balance = r;
    assert_true( balance >= 0 );
    check_kept( &x, &out, x.stage.rules[balance].id );
    check_feet( &x, &out );
    stop( &x, &out );
}

static void a_centre_of_mass_out_of_reach_gives_way( void **state )
{
    (void)state;
    for ( double away = 5; away < 1000; away *= 10 ) {
        fixture x;
        begin( &x );
        add_bent( &x, "a", v3_zero, 1 );
        tr_constraint *c = add_rule( &x, "mass", TR_CONSTRAINT_CENTRE_OF_MASS, "a" );
        ask( c, v3( away, 0, 0 ) );
        c->axis[1] = false;
        build( &x );
        tr_result out = solve( &x, "posegraph" );
        const tr_rule_report *report = report_of( &x, &out, "mass" );
        assert_true( report->gave_way && report->max_mm > 600 * away );
        check_feet( &x, &out );
        check_bound( jolt( &out ), BALANCE_KICK_M );
        stop( &x, &out );
    }
}

// -------------------------------------------------------------------------------------------------- length

static void distances_are_kept( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 0.9 );
    add_bent( &x, "b", v3( 1.7, 0, 0 ), 1.1 );
    tr_prop box = tr_default_prop( "box" );
    box.position = v3( -0.5, 1.2, 0.4 );
    tr_scene_add_prop( &x.scene, &box );
    tr_constraint *hands = add_rule( &x, "hands", TR_CONSTRAINT_LENGTH, "a.LeftHand" );
    set_b( &x, hands, "b.RightHand" );
    hands->given = true;
    hands->length = 0.25;
    tr_constraint *lead = add_rule( &x, "lead", TR_CONSTRAINT_LENGTH, "a.RightHand" );
    set_b( &x, lead, "box" );
    lead->given = true;
    lead->length = 0.3;
    tr_constraint *own = add_rule( &x, "own", TR_CONSTRAINT_LENGTH, "b.LeftHand" );
    set_b( &x, own, "b.Head" );
    own->given = true;
    own->length = 0.45;
    build( &x );
    tr_result out = solve( &x, "posegraph" );
    check_kept( &x, &out, "hands" );
    check_kept( &x, &out, "lead" );
    check_kept( &x, &out, "own" );
    check_feet( &x, &out );
    stop( &x, &out );
}

// ------------------------------------------------------------------------------------------------ relative

// b turns about; a's hand keeps its place in front of b's chest, in b's own axes.
static void relations_turn_with_the_partner( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    tr_motion turning;
    make_body( &turning, FRAMES );
    bend_a_little( &turning );
    for ( int f = 0; f < FRAMES; ++f )
        tr_clip_frame( &turning.clip, f )[1] = q_axis_angle( v3_y, 0.01 * f );
    add_character( &x, "b", v3( 0.8, 0, 0.6 ), 0.9, &turning );
    x.scene.cast[1].heading = 180;
    tr_constraint *c = add_rule( &x, "touch", TR_CONSTRAINT_RELATIVE, "a.LeftHand" );
    set_b( &x, c, "b.Spine" );
    c->partner_space = true;
    ask( c, v3( 0.1, -0.1, 0.25 ) );
    build( &x );
    tr_result out = solve( &x, "posegraph" );
    check_kept( &x, &out, "touch" );
    check_feet( &x, &out );
    stop( &x, &out );
}

static void relations_keep_to_their_axes( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    tr_prop box = tr_default_prop( "box" );
    box.position = v3( 0.4, 1.3, 0.3 );
    tr_scene_add_prop( &x.scene, &box );
    tr_constraint *c = add_rule( &x, "level", TR_CONSTRAINT_RELATIVE, "a.LeftHand" );
    set_b( &x, c, "box" );
    ask( c, v3_zero );
    c->axis[0] = c->axis[2] = false;
    build( &x );
    tr_result copy = solve( &x, "copy" ), out = solve( &x, "posegraph" );
    check_kept( &x, &out, "level" );
    rigid moved = out.tracks[0][7];
    check_near( moved.position.x, copy.tracks[0][7].position.x, 1e-3 );
    check_near( moved.position.z, copy.tracks[0][7].position.z, 1e-3 );
    tr_result_free( &copy );
    stop( &x, &out );
}

// -------------------------------------------------------------------------------------------------- props

static void props_come_to_places_and_rotations( void **state )
{
    (void)state;
    for ( int held = 0; held < 2; ++held ) {
        fixture x;
        begin( &x );
        add_bent( &x, "a", v3_zero, 1 );
        tr_prop box = tr_default_prop( "box" );
        box.position = v3( 0.45, 1.25, 0.35 );
        tr_scene_add_prop( &x.scene, &box );
        ask( add_rule( &x, "there", TR_CONSTRAINT_ABSOLUTE, "box" ), v3( 0.4, 1.15, 0.4 ) );
        tr_constraint *turned = add_rule( &x, "turned", TR_CONSTRAINT_ORIENTATION, "box" );
        turned->given = true;
        turned->rotation = q_axis_angle( v3_y, 0.5 );
        if ( held ) {
            tr_constraint *c = add_rule( &x, "hold", TR_CONSTRAINT_RELATIVE, "a.LeftHand" );
            set_b( &x, c, "box@0.15,0,0" );
            c->partner_space = true;
            ask( c, v3_zero );
        }
        build( &x );
        tr_result out = solve( &x, "posegraph" );
        check_kept( &x, &out, "there" );
        check_kept( &x, &out, "turned" );
        if ( held )
            check_kept( &x, &out, "hold" );
        stop( &x, &out );
    }
}

// ---------------------------------------------------------------------------------------------- orientation

static void hands_and_heads_turn_as_they_are_told( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 0.9 );
    tr_constraint *palm = add_rule( &x, "palm", TR_CONSTRAINT_ORIENTATION, "a.LeftHand" );
    palm->given = true;
    palm->rotation = q_mul( q_axis_angle( v3_y, -0.5 ), q_axis_angle( v3_x, 0.3 ) );
    ask( add_rule( &x, "place", TR_CONSTRAINT_ABSOLUTE, "a.LeftHand" ), v3( 0.5, 1.1, 0.3 ) );
    tr_constraint *head = add_rule( &x, "head", TR_CONSTRAINT_ORIENTATION, "a.Head" );
    head->given = true;
    head->rotation = q_axis_angle( v3_y, 0.6 );
    build( &x );
    tr_result out = solve( &x, "posegraph" );
    check_kept( &x, &out, "palm" );
    check_kept( &x, &out, "place" );
    check_kept( &x, &out, "head" );
    check_feet( &x, &out );
    stop( &x, &out );
}

// ------------------------------------------------------------------------------------------------- contact

static void hands_stay_on_tables_and_boxes( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 0.85 );
    tr_obstacle table = tr_default_obstacle( "table" );
    table.size = v3( 1, 1.1, 1 );
    table.position = v3( 0.6, 0.55, 0.6 );
    tr_scene_add_obstacle( &x.scene, &table );
    tr_prop box = tr_default_prop( "box" );
    box.position = v3( -0.5, 1.1, 0.3 );
    tr_scene_add_prop( &x.scene, &box );
    tr_constraint *left = add_rule( &x, "left", TR_CONSTRAINT_CONTACT, "a.LeftHand" );
    snprintf( left->surface, sizeof left->surface, "table" );
    ask( left, v3( 0.4, 1.1, 0.3 ) );
    tr_constraint *right = add_rule( &x, "right", TR_CONSTRAINT_CONTACT, "a.RightHand" );
    snprintf( right->surface, sizeof right->surface, "box" );
    build( &x );
    tr_result out = solve( &x, "posegraph" );
    check_kept( &x, &out, "left" );
    check_kept( &x, &out, "right" );
    check_feet( &x, &out );
    stop( &x, &out );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( joints_points_and_mixtures_come_to_their_places ),
        TEST( a_mixture_moves_all_of_its_joints ),
        TEST( axes_leave_the_others_free ),
        TEST( softness_and_ease_are_shares_of_the_way ),
        TEST( a_path_takes_its_direction ),
        TEST( a_centre_of_mass_is_brought_over_a_place ),
        TEST( balance_keeps_it_over_the_feet ),
        TEST( a_centre_of_mass_out_of_reach_gives_way ),
        TEST( distances_are_kept ),
        TEST( relations_turn_with_the_partner ),
        TEST( relations_keep_to_their_axes ),
        TEST( props_come_to_places_and_rotations ),
        TEST( hands_and_heads_turn_as_they_are_told ),
        TEST( hands_stay_on_tables_and_boxes ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
