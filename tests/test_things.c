// Surroundings other than boxes: a body steps onto a mesh, leans on it and gets into it; and the mesh's file.
#include "take.h"

typedef struct place { // a folder for the files of meshes
    char folder[FOLDER_SIZE];
} place;

static void write_file( const place *p, const char *name, const char *text )
{
    tr_error error;
    char path[FOLDER_SIZE + 40];
    snprintf( path, sizeof path, "%s/%s", p->folder, name );
    check_ok( tr_file_write( path, text, strlen( text ), &error ), &error );
}

// A box as an OBJ of six faces, inside out on purpose.
static void write_box( const place *p, const char *name, vec3 size )
{
    tr_text text = { 0 };
    for ( int k = 0; k < 8; ++k )
        tr_text_add( &text, "v %.17g %.17g %.17g\n", k & 1 ? 0.5 * size.x : -0.5 * size.x,
                     k & 2 ? 0.5 * size.y : -0.5 * size.y, k & 4 ? 0.5 * size.z : -0.5 * size.z );
    tr_text_add( &text, "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n" );
    write_file( p, name, text.data );
    tr_text_free( &text );
}

static tr_obstacle *add_mesh( take *x, const place *p, const char *id, const char *name, vec3 position )
{
    tr_obstacle mesh = tr_default_obstacle( id );
    mesh.shape = TR_SHAPE_MESH;
    snprintf( mesh.form.mesh, sizeof mesh.form.mesh, "%s/%s", p->folder, name );
    mesh.position = position;
    return tr_scene_add_obstacle( &x->scene, &mesh );
}

// The same obstacles, boxes as meshes.
static void make_meshes( take *x, const place *p )
{
    for ( int o = 0; o < x->scene.obstacle_count; ++o ) {
        tr_obstacle *obstacle = &x->scene.obstacles[o];
        if ( obstacle->shape != TR_SHAPE_BOX )
            continue;
        char name[TR_ID_MAX + 8];
        snprintf( name, sizeof name, "%s.obj", obstacle->id );
        write_box( p, name, obstacle->size );
        obstacle->shape = TR_SHAPE_MESH;
        snprintf( obstacle->form.mesh, sizeof obstacle->form.mesh, "%s/%s", p->folder, name );
        obstacle->size = tr_default_obstacle( "any" ).size;
    }
}

static void check_kept( const take *x )
{
    for ( int r = 0; r < x->stage.rule_count; ++r )
        if ( x->result.reports[r].gave_way || x->result.reports[r].max_mm > 1 )
            fail_msg( "%s is off by %g mm", x->stage.rules[r].id, x->result.reports[r].max_mm );
}

static vec3 out_place( const take *x, const char *joint, int frame )
{
    int j = tr_skeleton_find( &x->stage.actors[0].target, joint );
    return tr_world_pose( &x->result.worlds[0], frame ).positions[j];
}

// ------------------------------------------------------------------------------------------------- standing

static void open_standing( take *x, double scale )
{
    open_scene( x, "arm_circles", 1 );
    x->scene.cast[0].target = tr_default_cast( "any" ).target;
    x->scene.cast[0].target.scale = scale;
}

static void stand( take *x, const place *p, double scale, bool as_mesh )
{
    open_standing( x, scale );
    x->scene.cast[0].position.y = 0.3;
    tr_obstacle platform = tr_default_obstacle( "platform" );
    platform.size = v3( 4, 0.3, 4 );
    platform.position = v3( 0, 0.15, 0 );
    assert_non_null( tr_scene_add_obstacle( &x->scene, &platform ) );
    if ( as_mesh )
        make_meshes( x, p );
    solve( x, "posegraph" );
}

// On a platform that is a mesh they stand as on a box.
static void feet_stand_on_meshes( void **state )
{
    (void)state;
    const double sizes[] = { 0.6, 1, 1.4 };
    place p;
    new_folder( p.folder );
    for ( int s = 0; s < 3; ++s ) {
        take box, mesh;
        stand( &box, &p, sizes[s], false );
        stand( &mesh, &p, sizes[s], true );
        check_kept( &mesh );
        assert_int_equal( mesh.stage.rule_count, box.stage.rule_count );
        for ( int f = 0; f < box.stage.frame_count; f += 10 ) {
            check_v3( out_place( &mesh, "LeftFoot", f ), out_place( &box, "LeftFoot", f ), 1e-6 );
            check_v3( out_place( &mesh, "RightToe", f ), out_place( &box, "RightToe", f ), 1e-6 );
        }
        close_scene( &box );
        close_scene( &mesh );
    }
    remove_folder( p.folder );
}

// ------------------------------------------------------------------------------------------------- a ramp

#define SLOPE 0.12

static void write_ramp( const place *p ) // two metres up along x, then level
{
    write_file( p, "ramp.obj",
                "v 0 0 -3\nv 40 0 -3\nv 40 0.24 -3\nv 2 0.24 -3\nv 0 0 3\nv 40 0 3\nv 40 0.24 3\nv 2 0.24 3\n"
                "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 1 5 8 4\n" );
}

static double ramp_at( double x )
{
    return clampd( SLOPE * x, 0, 0.24 );
}

// Every joint of a foot that stands, how high above the ramp on average, against where its source stands
// above its own floor: the largest difference of the middles of feet.
static double off_the_ramp( const take *x, bool source_on_ramp )
{
    double worst = 0;
    const tr_actor *actor = &x->stage.actors[0];
    for ( int r = 0; r < x->stage.rule_count; ++r ) {
        const tr_rule *rule = &x->stage.rules[r];
        if ( rule->kind != TR_CONSTRAINT_CONTACT || rule->a.actor != 0 )
            continue;
        const char *joint = actor->target.joints[rule->a.joints[0]].name;
        bool left = strncmp( joint, "Left", 4 ) == 0;
        if ( strstr( joint, "Foot" ) == NULL )
            continue;
        int f = ( rule->first + rule->last ) / 2;
        const char *names[2] = { left ? "LeftFoot" : "RightFoot", left ? "LeftToe" : "RightToe" };
        vec3 now = v3_lerp( out_place( x, names[0], f ), out_place( x, names[1], f ), 0.5 );
        vec3 from = v3_zero;
        for ( int k = 0; k < 2; ++k )
            from = v3_mad( from, 0.5,
                           tr_world_pose( &actor->world, f )
                               .positions[tr_skeleton_find( &actor->source.skeleton, names[k] )] );
        double rise = actor->footings[0].rise;
        double above = now.y - ramp_at( now.x ), before = from.y - ( source_on_ramp ? ramp_at( from.x ) : 0 );
        worst = fmax( worst, fabs( above - rise * before ) );
    }
    return worst;
}

// A walk on level ground goes up a ramp that is put into its way; and what came of it, as the source of a
// taller and of a smaller body, stays on the ramp, where these land.
static void a_walk_goes_up_a_ramp( void **state )
{
    (void)state;
    place p;
    new_folder( p.folder );
    write_ramp( &p );
    take x;
    open_scene( &x, "corridor", 2 );
    assert_non_null( add_mesh( &x, &p, "ramp", "ramp.obj", v3_zero ) );
    solve( &x, "posegraph" );
    check_kept( &x );
    double put = off_the_ramp( &x, false );
    print_message( "put onto the ramp: middles of feet off by %.1f mm\n", 1e3 * put );
    check_bound( put, RAMP_FOOT_M );
    tr_motion walk;
    tr_error error;
    check_ok( tr_motion_copy( &walk, &x.result.motions[0], &error ), &error );
    int frames = x.stage.frame_count;
    double fps = x.stage.fps;
    close_scene( &x );
    const double sizes[] = { 0.75, 1, 1.3 };
    for ( int s = 0; s < 3; ++s ) {
        x = ( take ){ .scene = tr_default_scene() };
        x.scene.fps = fps;
        x.scene.first = 0;
        x.scene.last = frames - 1;
        tr_cast cast = tr_default_cast( "climber" );
        snprintf( cast.source.file, sizeof cast.source.file, "walk.bvh" );
        cast.target.scale = sizes[s];
        assert_non_null( tr_scene_add_cast( &x.scene, &cast ) );
        tr_motion copy;
        check_ok( tr_motion_copy( &copy, &walk, &error ), &error );
        check_ok( tr_library_add( &x.library, "walk.bvh", &copy, &error ), &error );
        assert_non_null( add_mesh( &x, &p, "ramp", "ramp.obj", v3_zero ) );
        solve( &x, sizes[s] > 1 ? "imesh" : "posegraph" );
        int on_ramp = 0;
        for ( int r = 0; r < x.stage.rule_count; ++r )
            on_ramp += x.stage.rules[r].obstacle == 0;
        double off = off_the_ramp( &x, true );
        print_message( "size %.2f: %d contacts with the ramp, feet off by %.1f mm\n", sizes[s], on_ramp,
                       1e3 * off );
        assert_true( on_ramp > 4 );
        check_bound( figure( &x, "environment_penetration_mm", "max" ), RAMP_DEEP_MM );
        check_bound_of( off, sizes[s] == 1 ? BOUND_RAMP_SAME_FOOT_M : BOUND_RAMP_OTHER_FOOT_M );
        check_kept( &x );
        close_scene( &x );
    }
    tr_motion_free( &walk );
    remove_folder( p.folder );
}

// ---------------------------------------------------------------------------------------------------- hands

static void touch_once( take *x, const char *joint, const char *what )
{
    tr_constraint contact = tr_default_constraint( "touch", TR_CONSTRAINT_CONTACT );
    contact.a = tr_point_joint( x->scene.cast[0].id, joint );
    snprintf( contact.surface, sizeof contact.surface, "%s", what );
    contact.first = contact.last = 30;
    assert_non_null( tr_scene_add_constraint( &x->scene, &contact ) );
}

static void hands_lean_on_meshes( void **state )
{
    (void)state;
    place p;
    new_folder( p.folder );
    const double near[] = { 0.9, 1, 1.1 };
    for ( int s = 0; s < 3; ++s )
        for ( int kind = 0; kind < 2; ++kind ) { // a table top of a mesh, a ball
            take x;
            open_standing( &x, 1 );
            solve( &x, "copy" );
            int j = tr_skeleton_find( &x.stage.actors[0].source.skeleton, "LeftHand" );
            vec3 hand = tr_world_pose( &x.stage.actors[0].world, 30 ).positions[j];
            close_scene( &x );
            open_standing( &x, near[s] );
            tr_obstacle table = tr_default_obstacle( "table" );
            if ( kind == 0 ) {
                table.size = v3( 0.6, 0.2, 0.6 );
                table.position = v3( hand.x, hand.y - 0.06, hand.z );
            } else {
                table.shape = TR_SHAPE_SPHERE;
                table.size = v3( 0.8, 0.8, 0.8 );
                table.position = v3( hand.x, hand.y - 0.36, hand.z );
            }
            assert_non_null( tr_scene_add_obstacle( &x.scene, &table ) );
            if ( kind == 0 )
                make_meshes( &x, &p );
            touch_once( &x, "LeftHand", "table" );
            solve( &x, "posegraph" );
            tr_solid solid = tr_stage_obstacle( &x.stage, 0, false );
            vec3 now = out_place( &x, "LeftHand", 30 );
            double away = tr_shape_distance( &solid.shape, solid.at, now, now, 0 );
            print_message( "the hand is %.3f m in front of the %s\n", away, kind == 0 ? "table" : "ball" );
            assert_true( away > 0.005 && away < 0.06 );
            check_kept( &x );
            close_scene( &x );
        }
    remove_folder( p.folder );
}

// Nothing is above a body inside a thin upright wall: it comes out at the side.
static void hips_lean_on_an_upright_sheet( void **state )
{
    (void)state;
    place p;
    take x;
    new_folder( p.folder );
    write_file( &p, "sheet.obj", "v -2 0 0\nv 2 0 0\nv 2 2 0\nv -2 2 0\nf 1 2 3 4\n" );
    open_standing( &x, 1 );
    solve( &x, "copy" );
    vec3 hips = out_place( &x, "Hips", 30 );
    close_scene( &x );
    open_standing( &x, 1 );
    add_mesh( &x, &p, "sheet", "sheet.obj", v3( hips.x, 0, hips.z - 0.02 ) )->form.thickness = 0.2;
    touch_once( &x, "Hips", "sheet" );
    solve( &x, "posegraph" );
    vec3 now = out_place( &x, "Hips", 30 );
    assert_true( v3_finite( now ) );
    assert_true( now.z > hips.z + 0.05 );
    close_scene( &x );
    remove_folder( p.folder );
}

// -------------------------------------------------------------------------------------------------- a car

static int count_shapes( const take *x, tr_shape_kind kind )
{
    int count = 0;
    for ( int o = 0; o < x->scene.obstacle_count; ++o )
        count += x->stage.obstacle_shapes[o].kind == kind;
    return count;
}

// A car of meshes and polylines: bodies sink no deeper into it than into one of boxes and polylines, and no
// deeper than the source where there is room.
static void a_car_of_meshes_is_a_car( void **state )
{
    (void)state;
    place p;
    new_folder( p.folder );
    double deep[2];
    int bars[2], boxes[2], meshes[2]; // read back from the folder
    for ( int mesh = 0; mesh < 2; ++mesh ) {
        take x;
        open_scene( &x, "car_entry", 1 );
        if ( mesh == 1 )
            make_meshes( &x, &p );
        export_and_measure( &x, "imesh" );
        deep[mesh] = figure( &x, "environment_penetration_mm", "max" );
        bars[mesh] = count_shapes( &x, TR_SHAPE_POLYLINE );
        boxes[mesh] = count_shapes( &x, TR_SHAPE_BOX );
        meshes[mesh] = count_shapes( &x, TR_SHAPE_MESH );
        assert_int_equal( (int)figure( &x, "contact_error_mm", "gave_way" ), 0 );
        close_scene( &x );
    }
    print_message( "in boxes %.1f mm, in meshes %.1f mm\n", deep[0], deep[1] );
    assert_true( deep[1] < deep[0] + 1 );
    assert_true( boxes[0] > 0 && bars[0] > 0 );
    assert_true( meshes[0] == 0 && meshes[1] == boxes[0] && boxes[1] == 0 && bars[1] == bars[0] );
    remove_folder( p.folder );
}

// -------------------------------------------------------------------------------------------------- files

static void files_are_named_when_they_are_bad( void **state )
{
    (void)state;
    place p;
    take x;
    tr_error error = { 0 };
    new_folder( p.folder );
    write_file( &p, "bad.obj", "v 0 0 0\nv 1 0\n" );
    open_standing( &x, 1 );
    add_mesh( &x, &p, "bad", "bad.obj", v3_zero );
    assert_false( tr_stage_build( &x.stage, &x.scene, NULL, &x.library, NULL, &error ) );
    assert_string_equal( error.path, "environment.boxes[0].mesh.file" ); // and the place in the file
    assert_non_null( strstr( error.message, "bad.obj:2:6: " ) );
    write_file( &p, "far.obj", "v 0 0 0\nv 0 0 -500\nv 1 0 0\nf 1 2 3\n" );
    snprintf( x.scene.obstacles[0].form.mesh, sizeof x.scene.obstacles[0].form.mesh, "%s/far.obj", p.folder );
    x.scene.obstacles[0].form.unit = 1000;
    assert_false( tr_stage_build( &x.stage, &x.scene, NULL, &x.library, NULL, &error ) );
    assert_string_equal( error.path, "environment.boxes[0].mesh.unit" );
    assert_non_null( strstr( error.message, "500000 m" ) );
    snprintf( x.scene.obstacles[0].form.mesh, sizeof x.scene.obstacles[0].form.mesh, "nowhere.obj" );
    assert_false( tr_stage_build( &x.stage, &x.scene, NULL, &x.library, NULL, &error ) );
    assert_string_equal( error.path, "environment.boxes[0].mesh.file" );
    close_scene( &x );
    remove_folder( p.folder );
}

// A mesh from elsewhere goes with the scene when that is saved in another place.
static void meshes_go_with_their_scene( void **state )
{
    (void)state;
    place p;
    take x;
    tr_error error;
    tr_scene again;
    char path[FOLDER_SIZE + 40];
    new_folder( p.folder );
    write_ramp( &p );
    open_standing( &x, 1 );
    add_mesh( &x, &p, "ramp", "ramp.obj", v3( 5, 0, 0 ) );
    snprintf( path, sizeof path, "%s/new/scene.json", p.folder );
    path[strlen( path ) - strlen( "/scene.json" )] = 0;
    check_ok( tr_folder_make( path, &error ), &error );
    snprintf( path, sizeof path, "%s/new/scene.json", p.folder );
    check_ok( tr_scene_save_beside( &x.scene, &x.library, NULL, path, &error ), &error );
    close_scene( &x );
    check_ok( tr_scene_load( &again, path, &error ), &error );
    assert_string_equal( again.obstacles[0].form.mesh, "scene_motion/ramp.obj" );
    x = ( take ){ .scene = again };
    check_ok( tr_stage_build( &x.stage, &x.scene, path, &x.library, NULL, &error ), &error );
    check_v3( x.stage.obstacles[0].position, v3( 25, 0.12, 0 ), 1e-12 );
    close_scene( &x );
    remove_folder( p.folder );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( feet_stand_on_meshes ),       TEST( a_walk_goes_up_a_ramp ),
        TEST( hands_lean_on_meshes ),       TEST( hips_lean_on_an_upright_sheet ),
        TEST( a_car_of_meshes_is_a_car ),   TEST( files_are_named_when_they_are_bad ),
        TEST( meshes_go_with_their_scene ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
