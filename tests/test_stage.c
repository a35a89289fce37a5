// Loading, grouping, rules and their errors, on small bodies whose numbers can be followed by hand.
#include "folder.h"
#include "stage_fixture.h"

// -------------------------------------------------------------------------------------------------- paths

static void path_scales_about_the_groups_centroid( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    tr_motion walk;
    make_body( &walk, FRAMES );
    for ( int f = 0; f < FRAMES; ++f )
        walk.clip.root[f] = v3( 0, 1, 0.1 * f ); // 0 … 3 m, centroid 1.5 m
    add_character( &x, "a", v3_zero, 0.5, &walk );
    build( &x );
    check_near( x.stage.groups[0].path_scale, 0.5, 1e-12 );
    check_v3( x.stage.groups[0].origin, v3( 0, 0, 1.5 ), 1e-12 );
    tr_result result = solve( &x, "copy" );
    check_v3( result.motions[0].clip.root[0], v3( 0, 0.5, 0.75 ), 1e-12 );          // 1.5 + 0.5 (0 − 1.5)
    check_v3( result.motions[0].clip.root[FRAMES - 1], v3( 0, 0.5, 2.25 ), 1e-12 ); // 1.5 + 0.5 (3 − 1.5)
    tr_result_free( &result );
    end( &x );
}

static void linked_and_close_characters_share_a_group( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    const char *ids[] = { "a", "b", "c", "d" };
    // a and b stand 0.8 m apart (closer than 0.6 of their 1.75 m), c is linked to b, d is alone.
    vec3 places[] = { { 0, 0, 0 }, { 0.8, 0, 0 }, { 5, 0, 0 }, { 20, 0, 0 } };
    double scales[] = { 1.0, 0.8, 0.6, 1.2 };
    for ( int i = 0; i < 4; ++i )
        add_straight( &x, ids[i], places[i], scales[i] );
    tr_constraint link =
        relation( "link", tr_point_joint( "b", "LeftHand" ), tr_point_joint( "c", "RightHand" ) );
    tr_scene_add_constraint( &x.scene, &link );
    build( &x );
    assert_int_equal( x.stage.group_count, 2 );
    assert_int_equal( x.stage.actors[0].group, x.stage.actors[2].group );
    assert_int_not_equal( x.stage.actors[0].group, x.stage.actors[3].group );
    check_near( x.stage.groups[0].path_scale, 0.8, 1e-12 ); // mean of 1.0, 0.8, 0.6
    check_v3( x.stage.groups[0].origin, v3( 5.8 / 3, 0, 0 ), 1e-12 );
    check_near( x.stage.groups[1].path_scale, 1.2, 1e-12 );
    end( &x );
}

static void other_numbers_make_another_stage( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    for ( int i = 0; i < 2; ++i ) { // 0.8 m apart
        tr_motion motion;
        make_body( &motion, FRAMES );
        add_character( &x, i == 0 ? "a" : "b", v3( 0.8 * i, 0, 0 ), 1, &motion );
    }
    tr_stage_def def = tr_default_stage_def();
    def.close = 0.3; // for bodies of 1.75 m
    check_ok( tr_stage_build_with( &x.stage, &def, &x.scene, NULL, &x.library, NULL, &x.error ), &x.error );
    assert_int_equal( x.stage.group_count, 2 );
    end( &x );
}

static void a_touched_prop_of_fixed_size_fixes_the_path( void **state )
{
    (void)state;
    for ( int grown = 0; grown < 2; ++grown ) {
        fixture x;
        begin( &x );
        add_straight( &x, "a", v3_zero, 0.7 );
        tr_prop box = tr_default_prop( "box" );
        box.size = v3( 0.4, 0.3, 0.3 );
        box.position = v3( 0, 1.2, 0.5 );
        box.scale = grown ? 0.7 : 1.0;
        tr_scene_add_prop( &x.scene, &box );
        tr_constraint hold =
            relation( "hold", tr_point_joint( "a", "LeftHand" ), tr_point_prop( "box", v3( 0.2, 0, 0 ) ) );
        tr_scene_add_constraint( &x.scene, &hold );
        build( &x );
        check_near( x.stage.groups[0].path_scale, grown ? 0.7 : 1.0, 1e-12 );
        tr_result result = solve( &x, "copy" ); // and its height: 0.7 · 1.2 above the ground
        check_near( result.tracks[0][0].position.y, grown ? 0.84 : 1.2, 1e-12 );
        tr_result_free( &result );
        end( &x );
    }
}

// A rule with something of the surroundings keeps the path as it is; a way that is asked for, the heights.
static void surroundings_and_wishes_decide_about_heights( void **state )
{
    (void)state;
    for ( int resting = 0; resting < 2; ++resting ) {
        fixture x;
        begin( &x );
        x.scene.ground = 0.1;
        add_straight( &x, "a", v3( 0, 0.1, 0 ), 0.5 );
        tr_obstacle table = tr_default_obstacle( "table" );
        table.position = v3( 9, 0.5, 0 );
        tr_scene_add_obstacle( &x.scene, &table );
        tr_constraint rest = tr_default_constraint( "rest", TR_CONSTRAINT_CONTACT );
        rest.a = tr_point_joint( "a", "LeftHand" );
        snprintf( rest.surface, sizeof rest.surface, "table" );
        if ( resting )
            tr_scene_add_constraint( &x.scene, &rest );
        else
            x.scene.cast[0].target.path_scale = 3;
        build( &x );
        check_near( x.stage.groups[0].path_scale, resting ? 1 : 3, 1e-12 );
        check_v3( x.stage.groups[0].origin, v3( 0, 0.1, 0 ), 1e-12 );
        vec3 place = tr_group_place( &x.stage.groups[0], v3( 1, 1.1, 2 ) );
        check_v3( place, resting ? v3( 1, 1.1, 2 ) : v3( 3, 0.6, 6 ), 1e-12 );
        end( &x );
    }
}

static void a_still_root_hands_its_path_over( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    tr_motion body, file = { 0 };
    make_body( &body, FRAMES );
    // The same body below an extra root that never moves.
    tr_skeleton_add( &file.skeleton, "Scene", -1, v3_zero );
    for ( int j = 0; j < body.skeleton.joint_count; ++j )
        tr_skeleton_add( &file.skeleton, body.skeleton.joints[j].name, body.skeleton.joints[j].parent + 1,
                         body.skeleton.joints[j].offset );
    int joints = file.skeleton.joint_count;
    check_ok( tr_skeleton_classify( &file.skeleton, &x.error ), &x.error );
    check_ok( tr_clip_alloc( &file.clip, FRAMES, joints, FPS, true, &x.error ), &x.error );
    for ( int f = 0; f < FRAMES; ++f )
        for ( int j = 1; j < joints; ++j )
            file.clip.translations[f * joints + j] =
                j == 1 ? v3( 0, 1, 0.1 * f ) : file.skeleton.joints[j].offset;
    tr_motion_free( &body );
    add_character( &x, "a", v3_zero, 1, &file );
    build( &x );
    assert_null( x.stage.actors[0].source.clip.translations );
    check_v3( x.stage.actors[0].source.clip.root[10], v3( 0, 0, 1 ), 1e-12 ); // hips stay 1 m above it
    check_v3( tr_world_pose( &x.stage.actors[0].world, 10 ).positions[1], v3( 0, 1, 1 ), 1e-12 );
    end( &x );
}

static void clips_start_late_and_hold_their_ends( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    x.scene.first = 5;
    tr_motion motion;
    make_body( &motion, 11 );
    for ( int f = 0; f < 11; ++f )
        motion.clip.root[f] = v3( f, 1, 0 );
    add_character( &x, "a", v3_zero, 1, &motion );
    x.scene.cast[0].start = 8; // clip frame 0 is scene frame 8, stage frame 3
    build( &x );
    assert_int_equal( x.stage.frame_count, FRAMES - 5 );
    const vec3 *root = x.stage.actors[0].source.clip.root;
    check_near( root[0].x, 0, 0 );
    check_near( root[3].x, 0, 0 );
    check_near( root[5].x, 2, 0 );
    check_near( root[13].x, 10, 0 );
    check_near( root[FRAMES - 6].x, 10, 0 );
    end( &x );
}

// -------------------------------------------------------------------------------------------------- rules

static void strength_eases_outside_the_range( void **state )
{
    (void)state;
    tr_rule rule = { .first = 10, .last = 20, .ease_in = 3, .ease_out = 0 };
    check_near( tr_rule_strength( &rule, 10 ), 1, 0 );
    check_near( tr_rule_strength( &rule, 20 ), 1, 0 );
    check_near( tr_rule_strength( &rule, 8 ), 0.5, 1e-15 ); // half of ease + 1 frames away
    check_near( tr_rule_strength( &rule, 6 ), 0, 0 );
    check_near( tr_rule_strength( &rule, 21 ), 0, 0 );
}

// Full strength outside the scene: the ease may still reach in, from either side.
static void constraints_outside_the_scene_act_by_their_ease( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    const int ranges[3][2] = { { FRAMES + 1, FRAMES + 20 }, { -20, -2 }, { -20, -9 } };
    const char *ids[] = { "after", "before", "beyond" };
    tr_constraint_kind kinds[] = { TR_CONSTRAINT_CONTACT, TR_CONSTRAINT_RELATIVE, TR_CONSTRAINT_CONTACT };
    for ( int i = 0; i < 3; ++i ) {
        tr_constraint c = tr_default_constraint( ids[i], kinds[i] );
        c.a = tr_point_joint( "a", "LeftHand" );
        if ( kinds[i] == TR_CONSTRAINT_RELATIVE )
            c.b = tr_point_joint( "a", "RightHand" );
        c.first = ranges[i][0];
        c.last = ranges[i][1];
        c.ease_in = c.ease_out = 3;
        tr_scene_add_constraint( &x.scene, &c );
    }
    tr_log warnings = { 0 };
    check_ok( tr_stage_build( &x.stage, &x.scene, NULL, &x.library, &warnings, &x.error ), &x.error );
    assert_int_equal( warnings.count, 1 );
    assert_non_null( strstr( warnings.lines[0], "beyond" ) );
    tr_log_free( &warnings );
    const tr_rule *after = &x.stage.rules[find_rule( &x.stage, "after" )];
    const tr_rule *before = &x.stage.rules[find_rule( &x.stage, "before" )];
    check_near( tr_rule_strength( after, FRAMES - 1 ), 0.5, 1e-15 ); // half of ease + 1 frames away
    check_near( tr_rule_strength( before, 0 ), 0.5, 1e-15 );
    assert_false( before->touch );
    for ( int r = 0; r < x.stage.rule_count; ++r )
        assert_int_not_equal( x.stage.rules[r].constraint, 2 );
    tr_result all = solve( &x, "posegraph" );
    tr_result_free( &all );
    tr_result out = solve( &x, "copy-ik" );
    assert_int_equal( out.reports[find_rule( &x.stage, "after" )].worst_frame, FRAMES - 1 );
    assert_int_equal( out.reports[find_rule( &x.stage, "before" )].worst_frame, 0 );
    tr_text report = { 0 };
    assert_true( tr_report_print( &x.stage, &out, "copy-ik", &report ) );
    assert_non_null( strstr( report.data, "\"range\": null, \"error_mm\": null, \"worst_frame\": null" ) );
    tr_text_free( &report );
    tr_result_free( &out );
    tr_stage_free( &x.stage );
    x.scene.constraints[2].a = tr_point_joint( "a", "Tail" ); // wrong, though it has no effect
    assert_false( tr_stage_build( &x.stage, &x.scene, NULL, &x.library, NULL, &x.error ) );
    assert_string_equal( x.error.path, "constraints[2].a" );
    end( &x );
}

static void a_weight_of_zero_is_told( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    tr_constraint idle = tr_default_constraint( "idle", TR_CONSTRAINT_ABSOLUTE );
    idle.a = tr_point_joint( "a", "LeftHand" );
    idle.hard = false;
    idle.weight = 0;
    tr_scene_add_constraint( &x.scene, &idle );
    tr_log warnings = { 0 };
    check_ok( tr_stage_build( &x.stage, &x.scene, NULL, &x.library, &warnings, &x.error ), &x.error );
    assert_int_equal( warnings.count, 1 );
    assert_string_equal( warnings.lines[0],
                         "constraint idle is not hard and has weight 0: it has no effect" );
    tr_log_free( &warnings );
    end( &x );
}

// Two people of different size, hands 4 cm apart in the source (a touch) or 40 cm (not one).
static void relative_offsets_scale_unless_they_touch( void **state )
{
    (void)state;
    for ( int touch = 0; touch < 2; ++touch ) {
        fixture x;
        begin( &x );
        tr_motion a, b;
        make_body( &a, FRAMES );
        make_body( &b, FRAMES );
        // a's left hand at x = 0.8, b's right hand at place − 0.8.
        double gap = touch ? 0.04 : 0.4;
        add_character( &x, "a", v3_zero, 0.5, &a );
        add_character( &x, "b", v3( 1.6 + gap, 0, 0 ), 1.0, &b );
        tr_constraint link =
            relation( "link", tr_point_joint( "a", "LeftHand" ), tr_point_joint( "b", "RightHand" ) );
        tr_scene_add_constraint( &x.scene, &link );
        build( &x );
        const tr_rule *rule = &x.stage.rules[find_rule( &x.stage, "link" )];
        assert_int_equal( rule->touch, touch );
        tr_result result = solve( &x, "copy" );
        // Group size ratio (0.5 + 1) / 2 = 0.75: the offset −0.4 becomes −0.3; a touch stays at −0.04.
        double wanted = touch ? -0.04 : -0.3;
        check_v3( tr_rule_target( &x.stage, &result, rule, 3 ), v3( wanted, 0, 0 ), 1e-12 );
        // Copied: path scale 0.75 about the middle; a's hand 0.4 from its root and lower, b's 0.8.
        double middle = 0.5 * ( 1.6 + gap ), root_a = middle - 0.75 * middle, root_b = middle + 0.75 * middle;
        vec3 hand_a = v3( root_a + 0.4, 0.725, 0 ), hand_b = v3( root_b - 0.8, 1.45, 0 );
        double miss = v3_distance( v3_sub( hand_a, hand_b ), v3( wanted, 0, 0 ) );
        check_near( tr_rule_error( &x.stage, &result, rule, 3 ), miss, 1e-12 );
        check_near( result.reports[find_rule( &x.stage, "link" )].max_mm, 1e3 * miss, 1e-9 );
        tr_result_free( &result );
        end( &x );
    }
}

static void relations_can_turn_with_the_partner( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    tr_motion a;
    make_body( &a, FRAMES );
    add_character( &x, "a", v3_zero, 1, &a );
    tr_prop box = tr_default_prop( "box" );
    box.position = v3( 0.8, 1.45, 0 );
    box.heading = 90;
    tr_scene_add_prop( &x.scene, &box );
    for ( int partner = 0; partner < 2; ++partner ) {
        tr_constraint hold = relation( partner ? "turns" : "stays", tr_point_joint( "a", "LeftHand" ),
                                       tr_point_prop( "box", v3_zero ) );
        hold.given = true;
        hold.target = v3( 0, 0, 0.1 );
        hold.partner_space = partner;
        tr_scene_add_constraint( &x.scene, &hold );
    }
    build( &x );
    tr_result result = solve( &x, "copy" );
    const tr_rule *stays = &x.stage.rules[0], *turns = &x.stage.rules[1];
    check_v3( tr_rule_target( &x.stage, &result, stays, 0 ), v3( 0, 0, 0.1 ), 1e-12 );
    check_v3( tr_rule_target( &x.stage, &result, turns, 0 ), v3( 0.1, 0, 0 ),
              1e-12 ); // +Z turned by 90° is +X
    check_near( tr_rule_error( &x.stage, &result, turns, 0 ), 0.1, 1e-12 );
    tr_result_free( &result );
    end( &x );
}

static void every_kind_has_an_error_that_can_be_followed( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    tr_motion a;
    make_body( &a, FRAMES );
    for ( int f = 0; f < FRAMES; ++f )
        a.clip.root[f] = v3( 0, 1, 0.1 * f );
    add_character( &x, "a", v3_zero, 1, &a );
    x.scene.cast[0].contacts = x.scene.cast[0].soles = false;
    tr_constraint c[9];
    const char *ids[] = { "place", "height", "ahead", "turn", "bone", "span", "mass", "beside", "at" };
    tr_constraint_kind kinds[] = {
        TR_CONSTRAINT_ABSOLUTE,       TR_CONSTRAINT_ABSOLUTE,       TR_CONSTRAINT_ABSOLUTE,
        TR_CONSTRAINT_ORIENTATION,    TR_CONSTRAINT_LENGTH,         TR_CONSTRAINT_LENGTH,
        TR_CONSTRAINT_CENTRE_OF_MASS, TR_CONSTRAINT_CENTRE_OF_MASS, TR_CONSTRAINT_CENTRE_OF_MASS };
    for ( int i = 0; i < 9; ++i ) {
        c[i] = tr_default_constraint( ids[i], kinds[i] );
        c[i].a = tr_point_joint( "a", i == 4 ? "LeftForeArm" : "LeftHand" );
        c[i].last = FRAMES - 1;
        c[i].given = true;
    }
    c[0].target = c[1].target = v3( 0.8, 1.25, 0 ); // hand is at (0.8, 1.45, 0.1 f)
    c[1].axis[0] = c[1].axis[2] = false;
    c[2].target = v3( 1, 0, 0 );
    c[2].direction = true;
    c[3].rotation = q_axis_angle( v3_y, 60 * TR_DEGREE );
    c[4].length = 0.35;
    c[5].b = tr_point_joint( "a", "RightHand" );
    c[5].length = 1.5; // hands are 1.6 m apart
    for ( int i = 6; i < 9; ++i ) {
        c[i].a = ( tr_point ){ .who = "a" };
        c[i].target = v3( 0.3, 0, 0.5 );
    }
    c[6].axis[1] = false; // over the place
    c[7].axis[1] = c[7].axis[2] = false;
    for ( int i = 0; i < 9; ++i )
        assert_non_null( tr_scene_add_constraint( &x.scene, &c[i] ) );
    build( &x );
    tr_result result = solve( &x, "copy" );
    int f = 5;
    double expected[] = {
        hypot( 0.2, 0.5 ),           // 0.2 m too high, 0.5 m ahead
        0.2,                         // only the height counts
        0.2 * sin( 45 * TR_DEGREE ), // a right angle, as a chord at 10 cm
        0.2 * sin( 30 * TR_DEGREE ), // 60° off
        0.05,                        // 0.30 instead of 0.35
        0.1,                         // 1.6 instead of 1.5
        0.3,                         // the body is symmetric: its centre is at x = 0
    };
    for ( int i = 0; i < 6; ++i )
        check_near( tr_rule_error( &x.stage, &result, &x.stage.rules[i], f ), expected[i], 1e-9 );
    // The toes reach forward, so only the sideways part of the centre of mass is known by symmetry.
    double mass_error = tr_rule_error( &x.stage, &result, &x.stage.rules[6], f );
    assert_true( mass_error >= 0.3 - 1e-9 && mass_error < 0.32 );
    check_near( tr_rule_error( &x.stage, &result, &x.stage.rules[7], f ), 0.3, 1e-9 );
    double height = tr_body_centre_of_mass( &x.stage.actors[0].body, &x.stage.actors[0].target,
                                            tr_world_pose( &result.worlds[0], f ) )
                        .y;
    check_near( tr_rule_error( &x.stage, &result, &x.stage.rules[8], f ), hypot( mass_error, height ), 1e-9 );
    tr_result_free( &result );
    end( &x );
}

// ----------------------------------------------------------------------------------------------- contacts

static void stances_land_on_scaled_places( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    tr_motion a;
    make_body( &a, FRAMES );
    bend_a_little( &a );
    for ( int f = 0; f < FRAMES; ++f )
        a.clip.root[f] = v3( 0, 0.9576, 0 ); // stands still with bent knees, ankles 5 cm above the ground
    add_character( &x, "a", v3( 3, 0, 0 ), 0.5, &a );
    build( &x );
    assert_true( x.stage.actors[0].contacts.count >= 2 );
    tr_result copy = solve( &x, "copy" ), ik = solve( &x, "copy-ik" );
    int seen = 0;
    for ( int r = 0; r < x.stage.rule_count; ++r ) {
        const tr_rule *rule = &x.stage.rules[r];
        if ( rule->kind != TR_CONSTRAINT_CONTACT )
            continue;
        // The origin of the group is the root's place, x = 3: a foot 0.1 m beside it keeps half that
        // distance.
        vec3 source = tr_anchor_source( &x.stage, &rule->a, 4 ),
             target = tr_rule_target( &x.stage, &ik, rule, 4 );
        check_near( target.x - 3, 0.5 * ( source.x - 3 ), 1e-9 );
        check_near( target.y, 0.5 * source.y, 1e-9 );
        assert_true( ik.reports[r].max_mm < 1e-3 );
        seen++;
    }
    // Heel and toe of the small foot are as far apart as its bone is long.
    vec3 heel = v3_zero, toe = v3_zero;
    for ( int r = 0; r < x.stage.rule_count; ++r ) {
        const tr_rule *rule = &x.stage.rules[r];
        if ( rule->kind == TR_CONSTRAINT_CONTACT && rule->a.joints[0] == joint( &x.stage, 0, "LeftFoot" ) )
            heel = tr_rule_target( &x.stage, &ik, rule, 4 );
        if ( rule->kind == TR_CONSTRAINT_CONTACT && rule->a.joints[0] == joint( &x.stage, 0, "LeftToeBase" ) )
            toe = tr_rule_target( &x.stage, &ik, rule, 4 );
    }
    check_near( v3_distance( heel, toe ), 0.5 * hypot( 0.05, 0.15 ), 1e-9 );
    assert_true( seen >= 2 );
    tr_result_free( &copy );
    tr_result_free( &ik );
    end( &x );
}

static void one_file_can_be_read_in_two_units( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    tr_motion body;
    make_body( &body, FRAMES );
    char folder[FOLDER_SIZE], path[64], scene_path[64];
    new_folder( folder );
    snprintf( path, sizeof path, "%s/body.bvh", folder );
    snprintf( scene_path, sizeof scene_path, "%s/scene.json", folder );
    check_ok( tr_motion_save( &body, path, &x.error ), &x.error ); // centimetres
    tr_motion_free( &body );
    for ( int i = 0; i < 2; ++i ) {
        tr_cast cast = tr_default_cast( i == 0 ? "a" : "b" );
        snprintf( cast.source.file, sizeof cast.source.file, "body.bvh" );
        cast.source.unit = i == 0 ? 0.01 : 0.02;
        assert_non_null( tr_scene_add_cast( &x.scene, &cast ) );
    }
    check_ok( tr_stage_build( &x.stage, &x.scene, scene_path, &x.library, NULL, &x.error ), &x.error );
    check_near( tr_skeleton_height( &x.stage.actors[1].target ),
                2 * tr_skeleton_height( &x.stage.actors[0].target ), 1e-9 );
    end( &x );
    remove_folder( folder );
}

// ------------------------------------------------------------------------------------------------- errors

// A body that walks along +X, its result turned to walk along +Z: a right angle, seen at 10 cm.
static void a_direction_is_the_source_s_unless_given( void **state )
{
    (void)state;
    fixture x;
    tr_motion body;
    make_body( &body, FRAMES );
    for ( int f = 0; f < FRAMES; ++f )
        body.clip.root[f] = v3( 0.01 * f, 1, 0 );
    begin( &x );
    add_character( &x, "a", v3_zero, 1, &body );
    tr_constraint way = tr_default_constraint( "way", TR_CONSTRAINT_ABSOLUTE );
    way.a = tr_point_joint( "a", "Hips" );
    way.direction = true;
    tr_scene_add_constraint( &x.scene, &way );
    build( &x );
    tr_result out = solve( &x, "copy" );
    check_near( tr_rule_error( &x.stage, &out, &x.stage.rules[0], 5 ), 0, 1e-9 );
    for ( int f = 0; f < FRAMES; ++f )
        tr_world_pose( &out.worlds[0], f ).positions[0] = v3( 0, 1, 0.01 * f );
    check_near( tr_rule_error( &x.stage, &out, &x.stage.rules[0], 5 ), 0.1 * sqrt( 2 ), 1e-9 );
    tr_result_free( &out );
    end( &x );
}

// The stick body stands upright on both feet, so its centre of mass is over them but for what toes and a
// slant add.
static void balance_is_a_rule_when_asked_for( void **state )
{
    (void)state;
    for ( int asked = 0; asked < 2; ++asked ) {
        fixture x;
        begin( &x );
        add_bent( &x, "a", v3_zero, 0.8 );
        x.scene.cast[0].balance = asked == 1;
        build( &x );
        tr_result out = solve( &x, "copy-ik" );
        int found = 0;
        for ( int r = 0; r < x.stage.rule_count; ++r ) {
            const tr_rule *rule = &x.stage.rules[r];
            if ( rule->kind != TR_CONSTRAINT_CENTRE_OF_MASS )
                continue;
            found++;
            assert_true( rule->first == 0 && rule->last == FRAMES - 1 && rule->a.actor == 0 );
            double error = tr_rule_error( &x.stage, &out, rule, 7 );
            vec3 *root = &out.worlds[0].positions[7 * out.worlds[0].joint_count];
            for ( int j = 0; j < out.worlds[0].joint_count; ++j ) // body and support move alike
                root[j].x += 3;
            check_near( tr_rule_error( &x.stage, &out, rule, 7 ), error, 1e-9 );
            assert_true( error < 0.15 );
        }
        assert_int_equal( found, asked );
        tr_result_free( &out );
        end( &x );
    }
}

static void lengths_are_the_target_s( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3_zero, 1 );
    tr_constraint bone = tr_default_constraint( "bone", TR_CONSTRAINT_LENGTH );
    bone.a = tr_point_joint( "a", "LeftLeg" ); // 0.5 m below the hip
    tr_scene_add_constraint( &x.scene, &bone );
    build( &x );
    tr_result out = solve( &x, "copy" );
    check_near( tr_rule_error( &x.stage, &out, &x.stage.rules[0], 3 ), 0, 1e-9 );
    int shin = tr_skeleton_find( &out.motions[0].skeleton, "LeftLeg" );
    out.motions[0].skeleton.joints[shin].offset = v3( 0, -0.6, 0 ); // as in a file that was edited
    tr_world_free( &out.worlds[0] );
    check_ok( tr_world_build( &out.worlds[0], &out.motions[0], &x.error ), &x.error );
    check_near( tr_rule_error( &x.stage, &out, &x.stage.rules[0], 3 ), 0.1, 1e-9 );
    tr_result_free( &out );
    end( &x );
}

// ------------------------------------------------------------------------------------------------- failure

static void a_missing_joint_is_named_with_its_path( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    tr_motion a;
    make_body( &a, FRAMES );
    add_character( &x, "a", v3_zero, 1, &a );
    tr_constraint place = tr_default_constraint( "place", TR_CONSTRAINT_ABSOLUTE );
    place.a = tr_point_joint( "a", "LeftHnad" );
    place.last = FRAMES - 1;
    tr_scene_add_constraint( &x.scene, &place );
    assert_false( tr_stage_build( &x.stage, &x.scene, "show.json", &x.library, NULL, &x.error ) );
    assert_string_equal( x.error.file, "show.json" );
    assert_string_equal( x.error.path, "constraints[0].a" );
    assert_non_null( strstr( x.error.message, "LeftHnad" ) );
    assert_non_null( strstr( x.error.message, "LeftHand" ) );
    end( &x );
}

static void absent_frames_and_numbers_that_are_none_are_refused( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    tr_motion a;
    make_body( &a, 11 );
    tr_cast *cast = add_character( &x, "a", v3_zero, 1, &a );
    cast->source.first = 4;
    cast->source.last = 11;
    assert_false( tr_stage_build( &x.stage, &x.scene, NULL, &x.library, NULL, &x.error ) );
    assert_non_null( strstr( x.error.message, "0 to 10" ) );
    x.scene.cast[0].source.last = 9;
    x.library.items[0].motion.clip.root[6].y = NAN;
    assert_false( tr_stage_build( &x.stage, &x.scene, NULL, &x.library, NULL, &x.error ) );
    end( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( path_scales_about_the_groups_centroid ),
        TEST( linked_and_close_characters_share_a_group ),
        TEST( other_numbers_make_another_stage ),
        TEST( a_touched_prop_of_fixed_size_fixes_the_path ),
        TEST( surroundings_and_wishes_decide_about_heights ),
        TEST( a_still_root_hands_its_path_over ),
        TEST( clips_start_late_and_hold_their_ends ),
        TEST( strength_eases_outside_the_range ),
        TEST( constraints_outside_the_scene_act_by_their_ease ),
        TEST( a_weight_of_zero_is_told ),
        TEST( relative_offsets_scale_unless_they_touch ),
        TEST( relations_can_turn_with_the_partner ),
        TEST( every_kind_has_an_error_that_can_be_followed ),
        TEST( stances_land_on_scaled_places ),
        TEST( one_file_can_be_read_in_two_units ),
        TEST( a_direction_is_the_source_s_unless_given ),
        TEST( balance_is_a_rule_when_asked_for ),
        TEST( lengths_are_the_target_s ),
        TEST( a_missing_joint_is_named_with_its_path ),
        TEST( absent_frames_and_numbers_that_are_none_are_refused ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
