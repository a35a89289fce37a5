// Places of joints and poses of SMPL: arrays of numpy and tables.
#include "array_fixture.h"
#include "captures.h"
#include "check.h"

#include "exchange/exchange.h"
#include "import/import.h"
#include "motion/motion.h"

typedef struct places { // places of the joints of a capture, without its end sites
    tr_motion motion;
    const char *names[64];
    int parents[64];
    int joints, frames;
    double *values; // [frames][joints][3]
} places;

static void take_places( places *p, const char *file )
{
    char path[CAPTURE_PATH];
    tr_error error = { 0 };
    tr_world world = { 0 };
    int index[64] = { 0 };
    *p = ( places ){ 0 };
    check_ok( tr_motion_load( &p->motion, capture_path( path, file ), NULL, NULL, &error ), &error );
    check_ok( tr_world_build( &world, &p->motion, &error ), &error );
    const tr_skeleton *skeleton = &p->motion.skeleton;
    assert_true( skeleton->joint_count <= 64 );
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        const tr_joint *joint = &skeleton->joints[j];
        index[j] = joint->end_site ? -1 : p->joints;
        if ( joint->end_site )
            continue;
        p->names[p->joints] = joint->name;
        p->parents[p->joints++] = joint->parent >= 0 ? index[joint->parent] : -1;
    }
    p->frames = p->motion.clip.frame_count;
    p->values = tr_alloc( (size_t)( p->frames * p->joints * 3 ), sizeof( double ) );
    for ( int f = 0; f < p->frames; ++f )
        for ( int j = 0; j < skeleton->joint_count; ++j )
            if ( index[j] >= 0 )
                memcpy( p->values + 3 * ( f * p->joints + index[j] ),
                        &tr_world_pose( &world, f ).positions[j], sizeof( vec3 ) );
    tr_world_free( &world );
}

static void free_places( places *p )
{
    tr_motion_free( &p->motion );
    tr_free( p->values );
}

static vec3 place( const places *p, int frame, int joint )
{
    const double *v = p->values + 3 * ( frame * p->joints + joint );
    return v3( v[0], v[1], v[2] );
}

static void open_as( tr_motion *out, const tr_text *file, const char *name, const tr_import_def *def,
                     int warnings )
{
    tr_import import;
    tr_error error = { 0 };
    tr_log log = { 0 };
    bool ok = tr_import_parse( &import, file->data, file->size, name, def, &log, &error ) &&
              tr_import_motion( out, &import, def, &log, &error );
    for ( int i = 0; i < log.count && ( !ok || warnings >= 0 ); ++i )
        if ( log.count != warnings )
            print_message( "%s\n", log.lines[i] );
    check_ok( ok, &error );
    check_ok( tr_motion_check( out, &error ), &error );
    if ( warnings >= 0 )
        assert_int_equal( log.count, warnings );
    tr_log_free( &log );
    tr_import_free( &import );
}

static void check_places( const tr_motion *motion, const places *p, double tolerance )
{
    tr_world world = { 0 };
    tr_error error = { 0 };
    check_ok( tr_world_build( &world, motion, &error ), &error );
    assert_int_equal( motion->clip.frame_count, p->frames );
    double most = 0;
    for ( int j = 0; j < p->joints; ++j ) {
        int twin = tr_skeleton_find( &motion->skeleton, p->names[j] );
        if ( twin < 0 )
            print_error( "there is no %s\n", p->names[j] );
        assert_true( twin >= 0 );
        for ( int f = 0; f < p->frames; ++f )
            most = fmax( most, v3_distance( tr_world_pose( &world, f ).positions[twin], place( p, f, j ) ) );
    }
    check_near( most, 0, tolerance );
    tr_world_free( &world );
}

static const char *shape_of( char out[64], const places *p )
{
    snprintf( out, 64, "(%d, %d, 3)", p->frames, p->joints );
    return out;
}

// Names and parents, under the names that files use.
static void add_tree( zip *z, const places *p )
{
    tr_text a = { 0 };
    char shape[64];
    npy_names( &a, p->names, p->joints );
    zip_add( z, "names.npy", &a, true );
    snprintf( shape, sizeof shape, "(%d,)", p->joints );
    npy_begin( &a, "'<i4'", "False", shape );
    for ( int j = 0; j < p->joints; ++j )
        add_le( &a, (uint32_t)p->parents[j], 4 );
    zip_add( z, "parents.npy", &a, false );
}

// ------------------------------------------------------------------------------------------------ archives

// Names, parents and rate as they are in the capture; stored or packed, in single or double precision.
static void archives_hold_places( void **state )
{
    (void)state;
    places p;
    char shape[64];
    take_places( &p, "walk.bvh" );
    for ( int kind = 0; kind < 3; ++kind ) {
        zip z = { 0 };
        tr_text a = { 0 };
        tr_motion motion;
        double fps = p.motion.clip.fps;
        int count = p.frames * p.joints * 3;
        if ( kind == 1 )
            npy_floats( &a, shape_of( shape, &p ), p.values, count );
        else
            npy_doubles( &a, shape_of( shape, &p ), p.values, count );
        zip_add( &z, "positions.npy", &a, kind == 2 );
        npy_names( &a, p.names, p.joints );
        zip_add( &z, "joint_names.npy", &a, kind == 2 );
        npy_begin( &a, "'<i8'", "False", "(12,)" ); // of something else
        for ( int i = 0; i < 12; ++i )
            add_le( &a, 0, 8 );
        zip_add( &z, "parents_of_nobody.npy", &a, false );
        snprintf( shape, sizeof shape, "(%d,)", p.joints );
        npy_begin( &a, "'<i4'", "False", shape );
        for ( int j = 0; j < p.joints; ++j )
            add_le( &a, (uint32_t)p.parents[j], 4 );
        zip_add( &z, "parents.npy", &a, kind == 2 );
        npy_doubles( &a, "()", &fps, 1 );
        zip_add( &z, "fps.npy", &a, false );
        zip_close( &z );
        open_as( &motion, &z.file, "made.npz", NULL, 0 );
        check_near( motion.clip.fps, fps, 1e-9 );
        check_places( &motion, &p, kind == 1 ? 1e-5 : 1e-7 );
        tr_motion_free( &motion );
        tr_text_free( &z.file );
    }
    free_places( &p );
}

// Centimetres and Z up are found, and so is a Y that points down.
static void units_and_axes_are_found( void **state )
{
    (void)state;
    places p;
    char shape[64];
    take_places( &p, "walk.bvh" );
    double *values = tr_alloc( (size_t)( p.frames * p.joints * 3 ), sizeof( double ) );
    static const double units[] = { 0.01, 0.001, 1 };
    for ( int up = 0; up < 3; ++up ) {
        zip z = { 0 };
        tr_text a = { 0 };
        tr_motion motion;
        for ( int i = 0; i < p.frames * p.joints; ++i ) {
            vec3 v =
                v3_scale( 1 / units[up], v3( p.values[3 * i], p.values[3 * i + 1], p.values[3 * i + 2] ) );
            vec3 turned = up == 0 ? v : up == 1 ? v3( v.x, -v.z, v.y ) : v3( v.x, -v.y, -v.z );
            memcpy( values + 3 * i, &turned, sizeof turned );
        }
        npy_doubles( &a, shape_of( shape, &p ), values, p.frames * p.joints * 3 );
        zip_add( &z, "joints.npy", &a, false );
        add_tree( &z, &p );
        zip_close( &z );
        // No rate in the file, and heads below feet: each is warned of.
        open_as( &motion, &z.file, "made.npz", &( tr_import_def ){ .rate = up == 2 ? 60 : 0 }, 1 );
        check_near( motion.clip.fps, up == 2 ? 60 : 30, 0 );
        check_places( &motion, &p, 1e-7 );
        tr_motion_free( &motion );
        tr_text_free( &z.file );
    }
    tr_free( values );
    free_places( &p );
}

// joints × 3 × frames, and Fortran's order.
static void axes_may_be_in_another_order( void **state )
{
    (void)state;
    places p;
    char shape[64];
    take_places( &p, "walk.bvh" );
    for ( int kind = 0; kind < 2; ++kind ) {
        zip z = { 0 };
        tr_text a = { 0 };
        tr_motion motion;
        snprintf( shape, sizeof shape, "(%d, 3, %d)", p.joints, p.frames );
        npy_begin( &a, "'>f8'", kind == 0 ? "False" : "True", kind == 0 ? shape : shape_of( shape, &p ) );
        for ( int outer = 0; outer < 3 * p.joints; ++outer )
            for ( int f = 0; f < p.frames; ++f ) {
                // In Fortran's order the first index, that of frames, is the innermost, too.
                int joint = kind == 0 ? outer / 3 : outer % p.joints,
                    part = kind == 0 ? outer % 3 : outer / p.joints;
                uint64_t bits;
                memcpy( &bits, p.values + 3 * ( f * p.joints + joint ) + part, sizeof bits );
                for ( int i = 7; i >= 0; --i )
                    add_le( &a, bits >> ( 8 * i ), 1 );
            }
        zip_add( &z, "motion.npy", &a, false );
        add_tree( &z, &p );
        zip_close( &z );
        open_as( &motion, &z.file, "made.npz", NULL, 1 );
        check_places( &motion, &p, 1e-7 );
        tr_motion_free( &motion );
        tr_text_free( &z.file );
    }
    free_places( &p );
}

// An archive that zlib has packed, with codes of Huffman's.
static void packed_archives_are_unpacked( void **state )
{
    (void)state;
    tr_motion motion;
    tr_error error = { 0 };
    tr_log log = { 0 };
    tr_world world = { 0 };
    const char *path = SOURCE_DIR "/tests/fuzz/corpus/npz/places.npz";
    check_ok( tr_motion_read( &motion, path, NULL, &log, &error ), &error );
    assert_int_equal( log.count, 0 );
    assert_int_equal( motion.clip.frame_count, 3 );
    check_near( motion.clip.fps, 20, 0 );
    check_ok( tr_world_build( &world, &motion, &error ), &error );
    int shin = tr_skeleton_find( &motion.skeleton, "LeftLeg" );
    assert_true( shin >= 0 );
    check_v3( tr_world_pose( &world, 2 ).positions[shin], v3( 0.12, 0.5, 0 ), 1e-6 );
    tr_world_free( &world );
    tr_motion_free( &motion );
    tr_log_free( &log );
}

// Two bodies in one array are two skeletons; the second walks a metre beside the first.
static void two_bodies( void **state )
{
    (void)state;
    places p;
    tr_import import;
    tr_motion first, second;
    tr_error error = { 0 };
    zip z = { 0 };
    tr_text a = { 0 };
    char shape[64];
    take_places( &p, "walk.bvh" );
    snprintf( shape, sizeof shape, "(2, %d, %d, 3)", p.frames, p.joints );
    int count = p.frames * p.joints * 3;
    npy_begin( &a, "'<f8'", "False", shape );
    for ( int body = 0; body < 2; ++body )
        for ( int i = 0; i < count; ++i ) {
            double v = p.values[i] + ( i % 3 == 0 ? body : 0 );
            tr_text_append( &a, (const char *)&v, sizeof v );
        }
    zip_add( &z, "positions.npy", &a, true );
    add_tree( &z, &p );
    zip_close( &z );
    check_ok( tr_import_parse( &import, z.file.data, z.file.size, "pair.npz", NULL, NULL, &error ), &error );
    assert_string_equal( import.format, "NPZ" );
    assert_int_equal( import.skeleton_count, 2 );
    assert_int_equal( import.take_count, 1 );
    assert_string_equal( import.skeletons[1].name, "body_2" );
    check_ok( tr_import_motion( &first, &import, &( tr_import_def ){ .skeleton = "body_1" }, NULL, &error ),
              &error );
    check_ok( tr_import_motion( &second, &import, &( tr_import_def ){ .skeleton = "2" }, NULL, &error ),
              &error );
    check_places( &first, &p, 1e-7 );
    for ( int f = 0; f < p.frames; ++f )
        check_v3( v3_sub( second.clip.root[f], first.clip.root[f] ), v3_x, 1e-9 );
    tr_motion_free( &first );
    tr_motion_free( &second );
    tr_import_free( &import );
    tr_text_free( &z.file );
    free_places( &p );
}

// What this program writes it reads as it was: bones, rotations and the way of the root.
static void own_archives_come_back( void **state )
{
    (void)state;
    places p;
    tr_motion motion;
    tr_text text = { 0 };
    tr_error error = { 0 };
    take_places( &p, "shake_a.bvh" );
    tr_exchange x = { .fps = p.motion.clip.fps, .frame_count = p.frames };
    tr_exchange_body body = { .name = "anna", .skeleton = &p.motion.skeleton, .clip = &p.motion.clip };
    tr_exchange_def def = { 0 };
    x.bodies = &body;
    x.body_count = 1;
    check_ok( tr_exchange_print( &x, TR_EXCHANGE_NPZ, &def, &text, &error ), &error );
    open_as( &motion, &text, "own.npz", NULL, 0 );
    assert_int_equal( motion.skeleton.joint_count, p.motion.skeleton.joint_count );
    check_places( &motion, &p, 1e-9 );
    for ( int j = 0; j < motion.skeleton.joint_count; ++j ) {
        int twin = tr_skeleton_find( &p.motion.skeleton, motion.skeleton.joints[j].name );
        check_v3( motion.skeleton.joints[j].offset, p.motion.skeleton.joints[twin].offset, 1e-12 );
        check_rotation( tr_clip_frame( &motion.clip, 5 )[j], tr_clip_frame( &p.motion.clip, 5 )[twin], 1e-7 );
    }
    tr_motion_free( &motion );
    tr_text_free( &text );
    free_places( &p );
}

// ------------------------------------------------------------------------------------- joints without names

// Frames of a person whose joints are those of SMPL; a Kinect has as many joints as OpenPose, and bones tell.
static void layouts_are_known( void **state )
{
    (void)state;
    enum { FRAMES = 12, JOINTS = 17 };
    // In Human3.6M's order: the middle, right leg, left leg, back, left arm, right arm.
    static const vec3 rest[JOINTS] = {
        { 0, 1, 0 },       { -0.1, 0.95, 0 }, { -0.1, 0.5, 0 }, { -0.1, 0.1, 0 }, { 0.1, 0.95, 0 },
        { 0.1, 0.5, 0 },   { 0.1, 0.1, 0 },   { 0, 1.2, 0 },    { 0, 1.45, 0 },   { 0, 1.55, 0.03 },
        { 0, 1.7, 0 },     { 0.2, 1.4, 0 },   { 0.45, 1.4, 0 }, { 0.7, 1.4, 0 },  { -0.2, 1.4, 0 },
        { -0.45, 1.4, 0 }, { -0.7, 1.4, 0 } };
    static const char *const names[] = { "pelvis", "right_hip", "right_knee", "right_ankle", "left_hip" };
    tr_text a = { 0 };
    tr_motion motion;
    char shape[64];
    snprintf( shape, sizeof shape, "(%d, %d, 3)", FRAMES, JOINTS );
    npy_begin( &a, "'<f8'", "False", shape );
    for ( int f = 0; f < FRAMES; ++f )
        for ( int j = 0; j < JOINTS; ++j ) {
            vec3 v = rest[j];
            if ( j == 3 || j == 6 ) // heels are lifted in turn
                v = v3_add( rest[j - 1], q_rotate( q_axis_angle( v3_x, j == 3 ? 0.1 * f : 1 - 0.08 * f ),
                                                   v3( 0, -0.4, 0 ) ) );
            if ( j == 13 || j == 16 )
                v = v3_add( rest[j - 1], q_rotate( q_axis_angle( v3_y, ( j == 13 ? -0.1 : 0.1 ) * f ),
                                                   v3( j == 13 ? 0.25 : -0.25, 0, 0 ) ) );
            tr_text_append( &a, (const char *)&v, sizeof v );
        }
    open_as( &motion, &a, "lone.npy", NULL, 2 );
    assert_int_equal( motion.skeleton.joint_count, JOINTS );
    for ( int j = 0; j < 5; ++j )
        assert_true( tr_skeleton_find( &motion.skeleton, names[j] ) >= 0 );
    assert_int_equal( motion.skeleton.joints[tr_skeleton_find( &motion.skeleton, "left_knee" )].role,
                      TR_ROLE_SHIN );
    assert_int_equal( motion.skeleton.joints[tr_skeleton_find( &motion.skeleton, "right_wrist" )].role,
                      TR_ROLE_HAND );
    tr_motion_free( &motion );
    tr_text_free( &a );
}

// Without names, parents or a layout that is known, joints that keep their distance belong together. What
// hangs on one joint is taken to be stiff, which costs millimetres where joints coincide.
static void lengths_tell_what_hangs_together( void **state )
{
    (void)state;
    places p;
    tr_text a = { 0 };
    tr_motion motion;
    tr_world world = { 0 };
    tr_error error = { 0 };
    char shape[64];
    take_places( &p, "walk.bvh" );
    npy_doubles( &a, shape_of( shape, &p ), p.values, p.frames * p.joints * 3 );
    open_as( &motion, &a, "nameless.npy", NULL, 3 );
    check_ok( tr_world_build( &world, &motion, &error ), &error );
    double most = 0;
    for ( int j = 0; j < p.joints; ++j ) {
        char name[32];
        snprintf( name, sizeof name, "joint_%d", j );
        int twin = tr_skeleton_find( &motion.skeleton, name );
        assert_true( twin >= 0 );
        for ( int f = 0; f < p.frames; ++f )
            most = fmax( most, v3_distance( tr_world_pose( &world, f ).positions[twin], place( &p, f, j ) ) );
    }
    check_near( most, 0, 0.005 );
    tr_world_free( &world );
    tr_motion_free( &motion );
    tr_text_free( &a );
    free_places( &p );
}

// ------------------------------------------------------------------------------------------------- tables

static void tables_hold_places( void **state )
{
    (void)state;
    static const char *const forms[] = { "%s_x,%s_y,%s_z", "%s.X;%s.Y;%s.Z", "\"%s x\"\t\"%s y\"\t\"%s z\"" };
    static const char marks[] = ",;\t";
    places p;
    take_places( &p, "walk.bvh" );
    for ( int form = 0; form < 4; ++form ) {
        bool tall = form == 3;
        tr_text t = { 0 };
        tr_motion motion;
        tr_text_add( &t, "\xEF\xBB\xBF# a remark\r\n" );
        if ( tall )
            tr_text_add( &t, "time,joint,x,y,z\r\n" );
        else
            tr_text_add( &t, "frame%ctime", marks[form] );
        for ( int j = 0; j < p.joints && !tall; ++j ) {
            tr_text_add( &t, "%c", marks[form] );
            char head[300];
            snprintf( head, sizeof head, forms[form], p.names[j], p.names[j], p.names[j] );
            tr_text_append( &t, head, strlen( head ) );
        }
        tr_text_add( &t, tall ? "" : "\r\n" );
        for ( int f = 0; f < p.frames; ++f ) {
            double time = f / p.motion.clip.fps;
            if ( !tall )
                tr_text_add( &t, "%d%c%.9g", f, marks[form], time );
            for ( int j = 0; j < p.joints; ++j ) {
                vec3 v = place( &p, f, j );
                char m = tall ? ',' : marks[form];
                if ( tall )
                    tr_text_add( &t, "%.9g,%s", time, p.names[j] );
                tr_text_add( &t, "%c%.12g%c%.12g%c%.12g%s", m, v.x, m, v.y, m, v.z, tall ? "\r\n" : "" );
            }
            tr_text_add( &t, tall ? "" : "\r\n" );
        }
        open_as( &motion, &t, "made.csv", NULL, 1 ); // no parents
        check_near( motion.clip.fps, p.motion.clip.fps, 1e-4 );
        check_places( &motion, &p, 0.005 );
        tr_motion_free( &motion );
        tr_text_free( &t );
    }
    free_places( &p );
}

// A joint that is out of sight goes straight from where it was to where it is seen next; one that is never
// seen is left out, and its child hangs on the joint above.
static void gaps_are_filled( void **state )
{
    (void)state;
    static const char text[] = "Hips_x,Hips_y,Hips_z,Lost_x,Lost_y,Lost_z,Head_x,Head_y,Head_z\n"
                               "0,1,0,,,,0,1.7,0\n"
                               "1,1,0,,,,nan,,\n"
                               "4,1,0,,,,4,1.7,0\n";
    tr_text t = { 0 };
    tr_motion motion;
    tr_world world = { 0 };
    tr_error error = { 0 };
    tr_text_add( &t, "%s", text );
    open_as( &motion, &t, "gaps.csv", &( tr_import_def ){ .unit = 1, .up = 'y', .rate = 30 }, -1 );
    assert_int_equal( motion.skeleton.joint_count, 2 );
    assert_int_equal( tr_skeleton_find( &motion.skeleton, "Lost" ), -1 );
    check_ok( tr_world_build( &world, &motion, &error ), &error );
    // The head was seen at x = 0 and 4: half-way it is at 2, a metre before the hips; 0.7 m of bone lead
    // there.
    vec3 bone = v3_sub( tr_world_pose( &world, 1 ).positions[1], tr_world_pose( &world, 1 ).positions[0] );
    check_v3( v3_unit( bone ), v3_unit( v3( 1, 0.7, 0 ) ), 0.02 );
    check_near( v3_length( bone ), 0.7, 1e-9 );
    tr_world_free( &world );
    tr_motion_free( &motion );
    tr_text_free( &t );
}

// --------------------------------------------------------------------------------------------------- SMPL

// Poses as AMASS has them: Z up, rotation vectors of 52 joints. The body turns to its left about the vertical
// and lifts its left arm straight up.
static void poses_of_smpl( void **state )
{
    (void)state;
    enum { FRAMES = 5, JOINTS = 52 };
    for ( int z_up = 0; z_up < 2; ++z_up ) {
        zip z = { 0 };
        tr_text a = { 0 };
        tr_motion motion;
        tr_world world = { 0 };
        tr_error error = { 0 };
        double poses[FRAMES][3 * JOINTS] = { 0 }, trans[FRAMES][3] = { 0 }, fps = 120;
        for ( int f = 0; f < FRAMES; ++f ) {
            quat root = q_axis_angle( v3_y, TR_PI / 8 * f );
            if ( z_up )
                root = q_mul( q_axis_angle( v3_x, TR_PI / 2 ), root );
            vec3 turn = q_to_vector( root );
            memcpy( poses[f], &turn, sizeof turn );
            poses[f][3 * 16 + 2] = TR_PI / 2; // left_shoulder about Z: from +X to +Y
            // Feet at rest are on the floor where the pelvis is 0.56 of a mean adult's height above it.
            trans[f][0] = 0.1 * f;
            trans[f][z_up ? 2 : 1] = 0.9520 + ( z_up ? -0.03 : 0.23 );
        }
        npy_doubles( &a, "(5, 156)", poses[0], FRAMES * 3 * JOINTS );
        zip_add( &z, "poses.npy", &a, true );
        npy_doubles( &a, "(5, 3)", trans[0], FRAMES * 3 );
        zip_add( &z, "trans.npy", &a, true );
        npy_doubles( &a, "()", &fps, 1 );
        zip_add( &z, "mocap_framerate.npy", &a, false );
        zip_close( &z );
        open_as( &motion, &z.file, "amass.npz", NULL, 1 );
        assert_int_equal( motion.skeleton.joint_count, JOINTS );
        check_near( motion.clip.fps, 120, 1e-9 );
        assert_int_equal( motion.skeleton.limb_count, 6 );
        check_ok( tr_world_build( &world, &motion, &error ), &error );
        double low = INFINITY;
        for ( int j = 0; j < JOINTS; ++j )
            low = fmin( low, tr_world_pose( &world, 0 ).positions[j].y );
        check_near( low, 0.011 * 1.7, 1e-3 );
        int shoulder = tr_skeleton_find( &motion.skeleton, "left_shoulder" ),
            elbow = tr_skeleton_find( &motion.skeleton, "left_elbow" ),
            right = tr_skeleton_find( &motion.skeleton, "right_shoulder" );
        for ( int f = 0; f < FRAMES; ++f ) {
            const vec3 *at = tr_world_pose( &world, f ).positions;
            check_v3( v3_unit( v3_sub( at[elbow], at[shoulder] ) ), v3_y, 1e-6 );
            vec3 across = q_rotate( q_axis_angle( v3_y, TR_PI / 8 * f ), v3_x );
            check_v3( v3_unit( v3_horizontal( v3_sub( at[shoulder], at[right] ) ) ), across, 1e-6 );
            check_near( at[0].x - tr_world_pose( &world, 0 ).positions[0].x, 0.1 * f, 1e-6 );
        }
        tr_world_free( &world );
        tr_motion_free( &motion );
        tr_text_free( &z.file );
    }
}

// -------------------------------------------------------------------------------------------- broken files

static void check_refused_within( const tr_text *file, const char *name, const char *says, size_t most )
{
    tr_import import;
    tr_error error = { 0 };
    size_t before = tr_memory_live();
    tr_memory_reset_peak();
    assert_false( tr_import_parse( &import, file->data, file->size, name, NULL, NULL, &error ) );
    if ( strstr( error.message, says ) == NULL )
        print_error( "'%s' does not say '%s'\n", error.message, says );
    assert_non_null( strstr( error.message, says ) );
    assert_string_equal( error.file, name );
    assert_true( tr_memory_peak() - before < most );
}

static void check_refused( const tr_text *file, const char *name, const char *says )
{
    check_refused_within( file, name, says,
                          (size_t)1 << 20 ); // less than a thousandth of what the entries promise
}

static void promises_are_not_believed( void **state )
{
    (void)state;
    tr_text a = { 0 }, packed = { 0 };
    npy_begin( &a, "'<f8'", "False", "(1000000000, 1000, 3)" );
    tr_text_append( &a, "12345678", 8 );
    check_refused( &a, "huge.npy", "ends before all its numbers" );
    tr_text_free( &a );
    npy_begin( &a, "'<f8'", "False", "(4294967296, 4294967296, 3)" );
    check_refused( &a, "overflow.npy", "header that cannot be read" );
    tr_text_free( &a );
    npy_begin( &a, "'|O'", "False", "(20, 22, 3)" );
    check_refused( &a, "objects.npy", "objects of Python" );
    tr_text_free( &a );
    npy_begin( &a, "'<f8'", "False", "(0, 22, 3)" );
    check_refused( &a, "none.npy", "no array of places" );
    tr_text_free( &a );
    tr_text_add( &a, "%s", "this is no array" );
    check_refused( &a, "text.npz", "no file of numpy" );
    check_refused( &a, "text.csv", "must name three columns for each joint" );
    tr_text_free( &a );
    tr_text_add( &a, "%s", "Hips_x,Hips_y,Hips_z,Head_x,,,\n0.1,0.2,1,0\n" ); // empty cells at the end
    check_refused( &a, "empty.csv", "must name three columns for each joint" );
    tr_text_free( &a );
    tr_text_add( &a, "%s", "1,2,3,4,5,6,7\n" );
    check_refused( &a, "seven.csv", "7 numbers is not three for each joint" );
    tr_text_free( &a );
    tr_text_add( &a, "%s", "Hips_x,Hips_y,Hips_z,Head_x,Head_y,Head_z\n0,1,0,0,1.7\n" );
    check_refused( &a, "short.csv", "the row has 5 cells; the first one has 6" );
    tr_text_free( &a );
    tr_text_add( &a, "%s", "Hips_x,Hips_y,Hips_z,Head_x,Head_y,Head_z\n0,1,0,0,1.7,high\n" );
    check_refused( &a, "word.csv", "cell 6, 'high', is no number" );
    tr_text_free( &a );
    tr_text_add( &a, "%s", "0 0 1 0 0 1.7\v0 1 0 0 1\n" ); // white space of another kind
    check_refused( &a, "blank.csv", "11 numbers is not three for each joint" );
    tr_text_free( &a );
    tr_text_append( &a, "frame;joint;x;y;z\n0;he\0ad;0;1;0\n1;he\0ad;0;1;0\n", 46 );
    check_refused( &a, "zero.csv", "holds a byte of value 0" );
    tr_text_free( &a );
    // An entry that says it unpacks to a gigabyte.
    zip z = { 0 };
    npy_floats( &packed, "(1, 3, 3)", ( double[9] ){ 0 }, 9 );
    zip_add( &z, "positions.npy", &packed, true );
    for ( int i = 0; i < 4; ++i )
        z.directory.data[24 + i] = (char)( 1u << 30 >> ( 8 * i ) & 255 );
    zip_close( &z );
    check_refused( &z.file, "bomb.npz", "larger than it can be" );
    tr_text_free( &z.file );
}

// A body as this program writes it, that stands still.
static void add_own_body( zip *z, const char *owner, int frames, bool packed )
{
    enum { JOINTS = 2 };
    static const char *const keys[] = { "names", "parents", "offsets", "root_pos", "local_quat" };
    static const char *const names[JOINTS] = { "Hips", "Head" };
    static const double parents[JOINTS] = { -1, 0 }, offsets[3 * JOINTS] = { 0, 1, 0, 0, 0.7, 0 };
    for ( int k = 0; k < 5; ++k ) {
        tr_text a = { 0 };
        char shape[64], name[64];
        snprintf( name, sizeof name, "%s/%s.npy", owner, keys[k] );
        if ( k == 0 )
            npy_names( &a, names, JOINTS );
        else if ( k == 1 )
            npy_doubles( &a, "(2,)", parents, JOINTS );
        else if ( k == 2 )
            npy_doubles( &a, "(2, 3)", offsets, 3 * JOINTS );
        else {
            snprintf( shape, sizeof shape, k == 3 ? "(%d, 3)" : "(%d, 2, 4)", frames );
            npy_begin( &a, "'<f8'", "False", shape );
            for ( int i = 0; i < frames * ( k == 3 ? 3 : 4 * JOINTS ); ++i ) {
                double v = k == 3 ? i % 3 == 1 : i % 4 == 3;
                tr_text_append( &a, (const char *)&v, sizeof v );
            }
        }
        zip_add( z, name, &a, packed );
    }
}

static void add_rate( zip *z )
{
    tr_text a = { 0 };
    npy_doubles( &a, "()", ( double[] ){ 30 }, 1 );
    zip_add( z, "fps.npy", &a, false );
}

// A directory that names the bytes of one body for many of them.
static void repeated_bytes_are_refused( void **state )
{
    (void)state;
    enum { BODIES = 500, OWNER = 5, LINE = 46 }; // bytes of a name's owner, and before the name
    for ( int packed = 0; packed < 2; ++packed ) {
        zip z = { 0 };
        add_rate( &z );
        size_t first = z.directory.size;
        add_own_body( &z, "00000", 400, packed == 1 );
        size_t lines = z.directory.size - first;
        for ( int body = 1; body < BODIES; ++body ) {
            tr_text copy = { 0 };
            char owner[16];
            snprintf( owner, sizeof owner, "%05d", body );
            tr_text_append( &copy, z.directory.data + first, lines );
            for ( size_t at = 0; at < lines; at += LINE + (unsigned char)copy.data[at + 28] )
                memcpy( copy.data + at + LINE, owner, OWNER );
            tr_text_append( &z.directory, copy.data, copy.size );
            z.count += 5;
            tr_text_free( &copy );
        }
        zip_close( &z );
        // The bodies would take 500 × 400 × 88 bytes.
        check_refused( &z.file, "repeated.npz", "/local_quat\" take more bytes than the file has; save" );
        tr_text_free( &z.file );
    }
}

static void doubled_names_are_refused( void **state )
{
    (void)state;
    zip z = { 0 };
    add_rate( &z );
    add_own_body( &z, "anna", 3, false );
    add_own_body( &z, "ben", 3, true );
    add_rate( &z );
    zip_close( &z );
    check_refused( &z.file, "doubled.npz", "the archive has two arrays named \"fps\"; save the file anew" );
    tr_text_free( &z.file );
}

// A crowd of ours may be larger than what captures hold, but not without end.
static void crowds_come_back( void **state )
{
    (void)state;
    enum { CROWD = 100, TOO_MANY = 4097 };
    for ( int many = 0; many < 2; ++many ) {
        zip z = { 0 };
        tr_import import;
        tr_error error = { 0 };
        add_rate( &z );
        for ( int i = 0; i < ( many ? TOO_MANY : CROWD ); ++i ) {
            char owner[16];
            snprintf( owner, sizeof owner, "c%d", i );
            if ( !many )
                add_own_body( &z, owner, 2, i % 2 == 1 );
            else {
                tr_text a = { 0 };
                char name[32];
                snprintf( name, sizeof name, "%s/local_quat.npy", owner );
                npy_doubles( &a, "(1, 1, 4)", ( double[] ){ 0, 0, 0, 1 }, 4 );
                zip_add( &z, name, &a, false );
            }
        }
        zip_close( &z );
        if ( many )
            check_refused_within( &z.file, "crowd.npz", "it has more than 4096 bodies", 4 * z.file.size );
        else {
            check_ok( tr_import_parse( &import, z.file.data, z.file.size, "crowd.npz", NULL, NULL, &error ),
                      &error );
            assert_int_equal( import.skeleton_count, CROWD );
            assert_string_equal( import.skeletons[CROWD - 1].name, "c99" );
            tr_import_free( &import );
        }
        tr_text_free( &z.file );
    }
}

// Joints of a ring, and one frame that is all there is.
static void odd_bodies( void **state )
{
    (void)state;
    zip z = { 0 };
    tr_text a = { 0 };
    tr_motion motion;
    static const double frame[9] = { 0, 1, 0, 0, 1.5, 0, 0, 2, 0 };
    npy_doubles( &a, "(1, 3, 3)", frame, 9 );
    zip_add( &z, "positions.npy", &a, false );
    npy_begin( &a, "'<i4'", "False", "(3,)" );
    add_le( &a, (uint32_t)-1, 4 );
    add_le( &a, 2, 4 );
    add_le( &a, 1, 4 );
    zip_add( &z, "parents.npy", &a, false );
    zip_close( &z );
    check_refused( &z.file, "ring.npz", "in a ring" );
    tr_text_free( &z.file );
    npy_doubles( &a, "(1, 3, 3)", frame, 9 );
    open_as( &motion, &a, "still.npy", NULL, -1 );
    assert_int_equal( motion.clip.frame_count, 1 );
    tr_motion_free( &motion );
    tr_text_free( &a );
}

static void make_small( tr_text *out )
{
    zip z = { 0 };
    tr_text a = { 0 };
    static const char *const names[] = { "Hips", "Spine", "Head" };
    static const double frames[18] = { 0, 1, 0, 0, 1.5, 0, 0, 2, 0, 0, 1, 0, 0, 1.5, 0, 0.3, 1.9, 0 };
    npy_doubles( &a, "(2, 3, 3)", frames, 18 );
    zip_add( &z, "positions.npy", &a, true );
    npy_names( &a, names, 3 );
    zip_add( &z, "names.npy", &a, false );
    zip_close( &z );
    *out = z.file;
}

static bool read_all( const char *data, size_t size, const char *name, tr_error *error )
{
    tr_import import;
    tr_motion motion;
    if ( !tr_import_parse( &import, data, size, name, NULL, NULL, error ) )
        return false;
    bool ok = tr_import_motion( &motion, &import, NULL, NULL, error );
    if ( ok )
        check_ok( tr_motion_check( &motion, error ), error );
    tr_motion_free( &motion );
    tr_import_free( &import );
    return ok;
}

static void changed_bytes_do_no_harm( void **state )
{
    (void)state;
    tr_text file;
    make_small( &file );
    for ( size_t size = 0; size < file.size; ++size ) {
        tr_error error = { 0 };
        assert_false( read_all( file.data, size, "cut.npz", &error ) );
        assert_true( error.message[0] != 0 );
    }
    uint64_t random = 11;
    for ( int i = 0; i < 4000; ++i ) {
        tr_error error = { 0 };
        size_t at = random_bits( &random ) % file.size;
        char was = file.data[at];
        file.data[at] = (char)random_bits( &random );
        assert_true( read_all( file.data, file.size, "changed.npz", &error ) || error.message[0] != 0 );
        file.data[at] = was;
    }
    tr_text_free( &file );
}

static void memory_runs_out( void **state )
{
    (void)state;
    static const char table[] =
        "frame,joint,x,y,z\n0,Hips,0,1,0\n0,Head,0,1.7,0\n1,Hips,0,1,0\n1,Head,0.1,1.7,0\n";
    tr_text file;
    make_small( &file );
    for ( int kind = 0; kind < 2; ++kind ) {
        bool done = false;
        for ( long n = 1; !done; ++n ) {
            tr_error error = { 0 };
            tr_memory_fail_from( n );
            done = kind == 0 ? read_all( file.data, file.size, "small.npz", &error )
                             : read_all( table, sizeof table - 1, "small.csv", &error );
            tr_memory_fail_from( 0 );
            assert_true( done || error.message[0] != 0 );
        }
    }
    tr_text_free( &file );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( archives_hold_places ),
        TEST( units_and_axes_are_found ),
        TEST( axes_may_be_in_another_order ),
        TEST( packed_archives_are_unpacked ),
        TEST( two_bodies ),
        TEST( own_archives_come_back ),
        TEST( layouts_are_known ),
        TEST( lengths_tell_what_hangs_together ),
        TEST( tables_hold_places ),
        TEST( gaps_are_filled ),
        TEST( poses_of_smpl ),
        TEST( promises_are_not_believed ),
        TEST( repeated_bytes_are_refused ),
        TEST( doubled_names_are_refused ),
        TEST( crowds_come_back ),
        TEST( odd_bodies ),
        TEST( changed_bytes_do_no_harm ),
        TEST( memory_runs_out ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
