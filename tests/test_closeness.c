// Close pairs, what the scene's pairs say about them, and what the interaction mesh makes of them.
#include "stage_fixture.h"

// Two people face each other, close enough to touch.
static void add_close_pair( fixture *x, double a, double b )
{
    add_bent( x, "a", v3_zero, a );
    tr_cast *other = add_bent( x, "b", v3( 0, 0, 0.55 ), b );
    other->heading = 180;
}

static double gap_between( tr_world *const worlds[2], const tr_body *const bodies[2], int f )
{
    double gap = HUGE_VAL;
    for ( int i = 0; i < bodies[0]->capsule_count; ++i )
        for ( int k = 0; k < bodies[1]->capsule_count; ++k ) {
            const tr_capsule *c[2] = { &bodies[0]->capsules[i], &bodies[1]->capsules[k] };
            vec3 ends[2][2];
            for ( int s = 0; s < 2; ++s ) {
                tr_pose pose = tr_world_pose( worlds[s], f );
                rigid bone = { pose.rotations[c[s]->parent], pose.positions[c[s]->parent] };
                ends[s][0] = rigid_apply( bone, c[s]->a );
                ends[s][1] = rigid_apply( bone, c[s]->b );
            }
            gap = fmin( gap, tr_capsule_distance( ends[0][0], ends[0][1], c[0]->radius, ends[1][0],
                                                  ends[1][1], c[1]->radius ) );
        }
    return gap;
}

// Touches are kept, bodies stay out of each other, feet stay where they stand, and bodies farther away do not
// move at all.
static void meshes_keep_people_together( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_close_pair( &x, 1.25, 0.85 );
    add_bent( &x, "far", v3( 6, 0, 0 ), 1.2 );
    build( &x );
    tr_result plain = solve( &x, "posegraph" ), result = solve( &x, "imesh" );
    const tr_actor *actors = x.stage.actors;
    tr_world *source[2] = { (tr_world *)&actors[0].world, (tr_world *)&actors[1].world },
             *out[2] = { &result.worlds[0], &result.worlds[1] };
    const tr_body *thin[2] = { &actors[0].source_body, &actors[1].source_body },
                  *thick[2] = { &actors[0].body, &actors[1].body };
    double before = gap_between( source, thin, 15 ), after = gap_between( out, thick, 15 );
    assert_true( before < 0.1 ); // they are close
    check_bound( after, TOUCH_GAP_M );
    check_bound( after - before, TOUCH_FARTHER_M );
    for ( int r = 0; r < x.stage.rule_count; ++r )
        check_bound( result.reports[r].max_mm, CONTACT_MM );
    size_t bytes = (size_t)FRAMES * (size_t)result.worlds[2].joint_count * sizeof( vec3 );
    assert_memory_equal( result.worlds[2].positions, plain.worlds[2].positions, bytes );
    tr_result_free( &plain );
    tr_result_free( &result );
    end( &x );
}

static void meshes_do_not_depend_on_threads( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_close_pair( &x, 1.2, 0.9 );
    add_bent( &x, "c", v3( 5, 0, 0 ), 0.8 );
    add_bent( &x, "d", v3( 5, 0, 0.6 ), 1.1 )->heading = 180;
    build( &x );
    tr_parallel_set_threads( 1 );
    tr_result alone = solve( &x, "imesh" );
    tr_parallel_set_threads( 4 );
    tr_result four = solve( &x, "imesh" );
    tr_parallel_set_threads( 0 );
    for ( int i = 0; i < 4; ++i )
        assert_memory_equal( alone.worlds[i].positions, four.worlds[i].positions,
                             (size_t)FRAMES * (size_t)alone.worlds[i].joint_count * sizeof( vec3 ) );
    tr_result_free( &alone );
    tr_result_free( &four );
    end( &x );
}

// ---------------------------------------------------------------------------------------------------- pairs

static tr_imesh_pairs links_of( fixture *x )
{
    tr_imesh_pairs links;
    check_ok( tr_stage_links( &links, &x->stage, &x->error ), &x->error );
    return links;
}

static void check_link( const tr_imesh_pairs *links, int i, int a, int b, int first, int last )
{
    assert_true( i < links->count );
    const tr_imesh_pair *link = &links->items[i];
    if ( link->a != a || link->b != b || link->first != first || link->last != last )
        fail_msg( "%d-%d in %d … %d instead of %d-%d in %d … %d", link->a, link->b, link->first, link->last,
                  a, b, first, last );
}

// a and b are close all the time, c and d are far from all others.
static void begin_four( fixture *x )
{
    begin( x );
    add_close_pair( x, 1.2, 0.9 );
    add_bent( x, "c", v3( 6, 0, 0 ), 1 );
    tr_prop box = tr_default_prop( "box" );
    box.position = v3( -6, 1, 0 );
    tr_scene_add_prop( &x->scene, &box );
    tr_obstacle wall = tr_default_obstacle( "wall" );
    wall.position = v3( 0, 0.5, -9 );
    tr_scene_add_obstacle( &x->scene, &wall );
}

static void pairs_change_what_is_found( void **state )
{
    (void)state;
    static const struct {
        const char *ops;
        int count, links[3][4];
    } cases[] = {
        { "", 1, { { 0, 1, 0, 30 } } },
        { "pair_add id=p kind=exclude a=a b=b\n", 0, { { 0 } } },
        { "pair_add id=p kind=exclude a=b\n", 0, { { 0 } } }, // with any other
        { "pair_add id=p kind=exclude a=b b=c\n", 1, { { 0, 1, 0, 30 } } },
        { "pair_add id=p kind=exclude a=b b=a range=10,19\n", 2, { { 0, 1, 0, 9 }, { 0, 1, 20, 30 } } },
        { "pair_add id=p kind=exclude a=b b=a range=2,30\n", 0, { { 0 } } }, // too short to matter
        { "pair_add id=p kind=limit a=a b=b range=5,99\n", 1, { { 0, 1, 5, 30 } } },
        { "pair_add id=p kind=limit a=a range=5,9\npair_add id=q kind=limit a=b range=20,25\n",
          2,
          { { 0, 1, 5, 9 }, { 0, 1, 20, 25 } } },
        { "pair_add id=p kind=limit a=a range=90,99\n", 0, { { 0 } } },
        { "pair_add id=p kind=pass a=a b=b\n", 1, { { 0, 1, 0, 30 } } },
        // A link is padded by 0.4 s as what is found.
        { "pair_add id=p kind=link a=wall b=c range=20,25\npair_add id=q kind=link a=box b=c range=29,99\n",
          3,
          { { 0, 1, 0, 30 }, { 2, 4, 8, 30 }, { 2, 3, 17, 30 } } },
        { "pair_add id=p kind=link a=b b=c range=50,60\n", 1, { { 0, 1, 0, 30 } } },
        { "pair_add id=p kind=link a=b b=c\npair_add id=q kind=exclude a=b\n", 0, { { 0 } } },
    };
    for ( size_t i = 0; i < sizeof cases / sizeof *cases; ++i ) {
        fixture x;
        begin_four( &x );
        edit( &x, cases[i].ops );
        build( &x );
        tr_imesh_pairs links = links_of( &x );
        if ( links.count != cases[i].count )
            fail_msg( "%d links after %s", links.count, cases[i].ops );
        for ( int k = 0; k < links.count; ++k ) {
            const int *want = cases[i].links[k];
            check_link( &links, k, want[0], want[1], want[2], want[3] );
        }
        tr_imesh_pairs_free( &links );
        end( &x );
    }
}

// The setting of the scene stands for --method imesh, and a scene without links is left to the pose graphs.
static void the_scene_chooses_its_method( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_close_pair( &x, 1.2, 0.9 );
    assert_string_equal( tr_method_default( &x.scene )->name, "posegraph" );
    edit( &x, "scene_set imesh=true\n" );
    assert_string_equal( tr_method_default( &x.scene )->name, "imesh" );
    edit( &x, "pair_add id=p kind=exclude a=a\n" );
    build( &x );
    tr_result plain = solve( &x, "posegraph" ), result = solve( &x, "imesh" );
    assert_true( result.meshed && !plain.meshed );
    assert_int_equal( result.mesh_count, 0 );
    for ( int i = 0; i < 2; ++i )
        assert_memory_equal( result.worlds[i].positions, plain.worlds[i].positions,
                             (size_t)FRAMES * (size_t)plain.worlds[i].joint_count * sizeof( vec3 ) );
    tr_result_free( &plain );
    tr_result_free( &result );
    end( &x );
}

// Two bodies that grow into each other are pushed apart, except where they may pass.
static void nothing_pushes_where_bodies_may_pass( void **state )
{
    (void)state;
    double depth[2], deepest[2];
    for ( int pass = 0; pass < 2; ++pass ) {
        fixture x;
        begin( &x );
        add_close_pair( &x, 1.2, 1.2 );
        edit( &x, pass ? "cast_girth id=a limb=all value=3\ncast_girth id=b limb=all value=3\n"
                         "pair_add id=p kind=pass a=b b=a\n"
                       : "cast_girth id=a limb=all value=3\ncast_girth id=b limb=all value=3\n" );
        build( &x );
        tr_result result = solve( &x, "imesh" );
        assert_int_equal( result.mesh_count, 1 );
        const tr_imesh_report *mesh = &result.meshes[0].mesh;
        deepest[pass] = mesh->before.deepest;
        tr_world *out[2] = { &result.worlds[0], &result.worlds[1] };
        const tr_body *thick[2] = { &x.stage.actors[0].body, &x.stage.actors[1].body };
        depth[pass] = -gap_between( out, thick, 15 );
        tr_result_free( &result );
        end( &x );
    }
    assert_true( deepest[0] > 0.02 && deepest[1] < 0.5 * deepest[0] ); // what may pass does not count
    assert_true( depth[1] > depth[0] + 0.02 );
}

// Ranges of pairs go along when motion is moved in time.
static void pairs_move_in_time( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_close_pair( &x, 1, 1 );
    edit( &x, "pair_add id=p kind=limit a=a b=b range=12,20\n"
              "layer_add id=wait kind=retime members=a,b ripple=true\n"
              "section_add id=s layer=wait frame=5 delay=10\n" );
    build( &x );
    tr_imesh_pairs links = links_of( &x );
    assert_int_equal( links.count, 1 );
    check_link( &links, 0, 0, 1, 22, 30 );
    tr_imesh_pairs_free( &links );
    end( &x );
}

// --------------------------------------------------------------------------------------------------- report

static void reports_tell_what_became_of_windows( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    x.scene.first = 100;
    x.scene.last = 100 + FRAMES - 1;
    add_close_pair( &x, 1.3, 0.7 );
    x.scene.cast[0].start = x.scene.cast[1].start = 100;
    edit( &x, "cast_girth id=a limb=all value=3\ncast_girth id=b limb=all value=3\n" );
    build( &x );
    tr_result result = solve( &x, "imesh" );
    tr_text text = { 0 };
    json_t *root;
    assert_true( tr_report_print( &x.stage, &result, "imesh", &text ) );
    check_ok( tr_json_parse( &root, text.data, text.size, "report", &x.error ), &x.error );
    const json_t *imesh = json_object_get( root, "imesh" ),
                 *link = json_array_get( json_object_get( imesh, "links" ), 0 ),
                 *window = json_array_get( json_object_get( imesh, "windows" ), 0 );
    assert_string_equal( json_string_value( json_object_get( link, "b" ) ), "b" );
    assert_int_equal( json_integer_value( json_array_get( json_object_get( link, "range" ), 0 ) ), 100 );
    assert_int_equal( json_array_size( json_object_get( window, "members" ) ), 2 );
    const json_t *penetration = json_object_get( window, "penetration" ),
                 *before = json_object_get( penetration, "before" ),
                 *after = json_object_get( penetration, "after" );
    assert_true( json_number_value( json_object_get( before, "deepest_cm" ) ) > 2 );
    assert_true( json_number_value( json_object_get( after, "sum_squares_cm2" ) ) <
                 json_number_value( json_object_get( before, "sum_squares_cm2" ) ) );
    for ( size_t i = 0; i < json_array_size( json_object_get( window, "no_room" ) ); ++i ) {
        const json_t *loss = json_array_get( json_object_get( window, "no_room" ), i );
        json_int_t worst = json_integer_value( json_object_get( loss, "worst_frame" ) );
        assert_true( worst >= 100 && worst <= 130 && json_number_value( json_object_get( loss, "cm" ) ) > 1 );
        assert_non_null( strchr( json_string_value( json_object_get( loss, "a" ) ), '.' ) );
    }
    assert_true( json_is_array( json_object_get( window, "lost" ) ) );
    assert_true( json_integer_value( json_object_get( window, "tetrahedra" ) ) > 1000 );
    assert_true( json_is_integer( json_object_get( window, "flipped" ) ) );
    assert_true( json_integer_value( json_object_get( window, "bytes" ) ) > 100000 );
    json_decref( root );
    tr_text_free( &text );
    tr_result_free( &result );
    end( &x );
}

// ---------------------------------------------------------------------------------------------- environment

// A person stands on a step. Half as large, the step takes the feet along: to its new top, and towards its
// middle.
static void feet_go_with_their_step( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_bent( &x, "a", v3( 0, 0.2 - 0.0446, 0 ), 1 ); // knees bent: the soles would be off the floor
    tr_obstacle step = tr_default_obstacle( "step" );
    step.size = v3( 2, 0.2, 2 );
    step.position = v3( 0, 0.1, 0 );
    tr_scene_add_obstacle( &x.scene, &step );
    edit( &x, "obstacle_scale scale=0.5\n" );
    build( &x );
    tr_result result = solve( &x, "posegraph" );
    int foot = tr_skeleton_find( &x.stage.actors[0].target, "LeftFoot" ), stances = 0;
    for ( int r = 0; r < x.stage.rule_count; ++r )
        stances += x.stage.rules[r].kind == TR_CONSTRAINT_CONTACT && x.stage.rules[r].obstacle == 0;
    assert_true( stances >= 2 );
    vec3 before = tr_world_pose( &x.stage.actors[0].world, 15 ).positions[foot],
         after = tr_world_pose( &result.worlds[0], 15 ).positions[foot];
    check_v3( after, v3( 0.5 * before.x, before.y - 0.1, 0.5 * before.z ), 2e-3 );
    tr_solid box = tr_stage_obstacle( &x.stage, 0, false );
    check_v3( box.at.position, v3( 0, 0.05, 0 ), 1e-12 );
    check_v3( box.shape.size, v3( 1, 0.1, 1 ), 1e-12 );
    tr_result_free( &result );
    end( &x );
}

// How far beyond a plane of constant x the body of the first actor reaches, in any frame.
static double reach_beyond( const fixture *x, const tr_result *result, double plane )
{
    const tr_body *body = &x->stage.actors[0].body;
    double most = 0;
    for ( int f = 0; f < result->frame_count; ++f )
        for ( int i = 0; i < body->capsule_count; ++i ) {
            const tr_capsule *c = &body->capsules[i];
            tr_pose pose = tr_world_pose( &result->worlds[0], f );
            rigid bone = { pose.rotations[c->parent], pose.positions[c->parent] };
            double end = fmax( rigid_apply( bone, c->a ).x, rigid_apply( bone, c->b ).x );
            most = fmax( most, end + c->radius - plane );
        }
    return most;
}

// A person with a hand at a wall, which comes nearer for the target.
static void begin_at_wall( fixture *x )
{
    begin( x );
    add_bent( x, "a", v3_zero, 1 );
    tr_obstacle wall = tr_default_obstacle( "wall" );
    wall.size = v3( 0.2, 3, 3 );
    wall.position = v3( 0.95, 1.5, 0 );
    wall.move = v3( -0.2, 0, 0 );
    tr_scene_add_obstacle( &x->scene, &wall );
}

// Depths are those of the motion that comes out, edits and all: a hand dragged into a wall is in it.
static void reports_tell_depths_of_what_comes_out( void **state )
{
    (void)state;
    const char *edits[2] = { "", "layer_add id=in kind=cage members=a.left_arm range=5,25\n"
                                 "handle_add id=push layer=in frame=15 point=a.LeftHand move=0.08,0,0\n" };
    double depths[2];
    for ( int i = 0; i < 2; ++i ) {
        fixture x;
        begin_at_wall( &x );
        edit( &x, edits[i] );
        build( &x );
        tr_result result = solve( &x, "imesh" );
        depths[i] = result.meshes[0].mesh.after.deepest;
        assert_true( fabs( depths[i] - reach_beyond( &x, &result, 0.65 ) ) < 1e-3 );
        assert_int_equal( result.meshes[0].mesh.no_room_count > 0, i == 1 );
        tr_result_free( &result );
        end( &x );
    }
    if ( !( depths[0] < 0.01 && depths[1] > 0.03 ) )
        fail_msg( "%.4f and %.4f m deep", depths[0], depths[1] );
}

// A hand at a wall follows the wall.
static void the_mesh_follows_the_environment( void **state )
{
    (void)state;
    fixture x;
    begin_at_wall( &x );
    build( &x );
    tr_result plain = solve( &x, "posegraph" ), result = solve( &x, "imesh" );
    assert_int_equal( result.mesh_count, 1 );
    check_bound( result.meshes[0].mesh.after.deepest, WALL_DEEP_M );
    int hand = tr_skeleton_find( &x.stage.actors[0].target, "LeftHand" );
    double before = tr_world_pose( &plain.worlds[0], 15 ).positions[hand].x,
           after = tr_world_pose( &result.worlds[0], 15 ).positions[hand].x;
    assert_true( after < before - 0.05 );
    tr_result_free( &plain );
    tr_result_free( &result );
    end( &x );
}

// ----------------------------------------------------------------------------------------------------- hold

// A hand of the one is moved at a held frame: the other comes along, the third does not. Propagated, the
// motion goes through that place at that frame, and is the old one well before it.
static void partners_follow_a_held_hand( void **state )
{
    (void)state;
    fixture x;
    begin( &x );
    add_close_pair( &x, 1.1, 0.9 );
    add_bent( &x, "far", v3( 6, 0, 0 ), 1.2 );
    build( &x );
    tr_result result = solve( &x, "imesh" );
    int hand = tr_skeleton_find( &x.stage.actors[0].target, "LeftHand" ),
        joints = result.worlds[0].joint_count;
    vec3 from = tr_world_pose( &result.worlds[0], 15 ).positions[hand];
    vec3 to = v3_add( from, v3( 0.03, 0.05, 0.03 ) );
    quat rotations[64];
    vec3 positions[64];
    tr_pose pose = { rotations, positions };
    assert_true( joints <= 64 );
    tr_hold *hold = tr_hold_begin( &x.stage, &result, 15, 0, hand, &x.error );
    assert_non_null( hold );
    assert_true( tr_hold_pose( hold, 0, pose ) );
    check_v3( positions[hand], from, 2e-3 ); // nothing has been moved yet
    check_ok( tr_hold_move( hold, to, &x.error ), &x.error );
    assert_true( tr_hold_pose( hold, 0, pose ) );
    check_bound( v3_distance( positions[hand], to ), HELD_HAND_M );
    assert_true( tr_hold_pose( hold, 1, pose ) );
    double moved = 0;
    for ( int j = 0; j < joints; ++j )
        moved =
            fmax( moved, v3_distance( positions[j], tr_world_pose( &result.worlds[1], 15 ).positions[j] ) );
    assert_true( moved > 1e-3 );
    assert_false( tr_hold_pose( hold, 2, pose ) );
    tr_text ops = { 0 };
    tr_hold_print( hold, "higher", x.scene.first + 15, 6, &ops );
    tr_hold_end( hold );
    tr_stage_free( &x.stage );
    edit( &x, ops.data );
    assert_true( x.scene.constraint_count == 1 && x.scene.constraints[0].partners );
    build( &x );
    tr_result after = solve( &x, "imesh" );
    assert_true( v3_distance( tr_world_pose( &after.worlds[0], 15 ).positions[hand], to ) < 2e-3 );
    assert_true( v3_distance( tr_world_pose( &after.worlds[0], 0 ).positions[hand],
                              tr_world_pose( &result.worlds[0], 0 ).positions[hand] ) < 0.01 );
    tr_text_free( &ops );
    tr_result_free( &after );
    tr_result_free( &result );
    end( &x );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( meshes_keep_people_together ),
        TEST( meshes_do_not_depend_on_threads ),
        TEST( pairs_change_what_is_found ),
        TEST( the_scene_chooses_its_method ),
        TEST( nothing_pushes_where_bodies_may_pass ),
        TEST( pairs_move_in_time ),
        TEST( reports_tell_what_became_of_windows ),
        TEST( partners_follow_a_held_hand ),
        TEST( feet_go_with_their_step ),
        TEST( the_mesh_follows_the_environment ),
        TEST( reports_tell_depths_of_what_comes_out ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
