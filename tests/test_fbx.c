// FBX files made here, with what is in them computed by hand: curves, layers, pivots, units, axes, skins.
#include "captures.h"
#include "check.h"
#include "folder.h"

#include "compose/compose.h"
#include "exchange/exchange.h"

#include <inttypes.h>

// ---------------------------------------------------------------------------------------- files made here

#define SECOND INT64_C( 46186158000 ) // a second of the clock of FBX

typedef struct fbx { // a file under construction, as text
    tr_text objects, links, file;
    int64_t next; // number of the next curve
    int up, unit; // 1: Y, 2: Z; centimetres
} fbx;

static void need_fbx( void )
{
    if ( tr_import_can_read( ".fbx" ) )
        return;
    print_message( "skipped: this build cannot read FBX (scripts/headers.sh ufbx)\n" );
    skip();
}

static void link_to( fbx *x, int64_t from, int64_t to )
{
    tr_text_add( &x->links, "C: \"OO\",%" PRId64 ",%" PRId64 "\n", from, to );
}

// A bone; `more` is further properties.
static void add_bone( fbx *x, int id, const char *name, int parent, vec3 at, const char *more )
{
    tr_text_add( &x->objects,
                 "NodeAttribute: %d, \"NodeAttribute::\", \"LimbNode\" { TypeFlags: \"Skeleton\" }\n"
                 "Model: %d, \"Model::%s\", \"LimbNode\" { Version: 232\nProperties70: {\n"
                 "P: \"Lcl Translation\", \"Lcl Translation\", \"\", \"A\",%.17g,%.17g,%.17g\n%s} }\n",
                 1000 + id, id, name, at.x, at.y, at.z, more != NULL ? more : "" );
    link_to( x, id, parent );
    link_to( x, 1000 + id, id );
}

static void add_stack( fbx *x, int id, const char *name )
{
    tr_text_add( &x->objects, "AnimationStack: %d, \"AnimStack::%s\", \"\" {}\n", id, name );
}

static void add_layer( fbx *x, int id, int stack, const char *more )
{
    tr_text_add( &x->objects, "AnimationLayer: %d, \"AnimLayer::l%d\", \"\" { Properties70: { %s } }\n", id,
                 id, more );
    link_to( x, id, stack );
}

typedef struct keys { // keys of one number
    const double *times, *values;
    int count;
    int flags;              // 2: step, 4: straight, 8 + 1024: cubic with slopes, + 2048: broken
    const double *tangents; // [2 * count] slopes after a key and before the next, NULL: 0
} keys;

// Curves for X, Y and Z of a property; without keys they stay at 0.
static void add_curves( fbx *x, int node, int layer, const char *property, const keys of[3] )
{
    int64_t group = ++x->next;
    tr_text_add( &x->objects,
                 "AnimationCurveNode: %" PRId64 ", \"AnimCurveNode::c\", \"\" { Properties70: {\n"
                 "P: \"d|X\", \"Number\", \"\", \"A\",0\nP: \"d|Y\", \"Number\", \"\", \"A\",0\n"
                 "P: \"d|Z\", \"Number\", \"\", \"A\",0\n} }\n",
                 group );
    link_to( x, group, layer );
    tr_text_add( &x->links, "C: \"OP\",%" PRId64 ",%d, \"%s\"\n", group, node, property );
    for ( int c = 0; c < 3; ++c ) {
        const keys *k = &of[c];
        if ( k->count == 0 )
            continue;
        int64_t id = ++x->next;
        tr_text_add( &x->objects,
                     "AnimationCurve: %" PRId64 ", \"AnimCurve::\", \"\" { Default: 0\nKeyVer: 4008\n"
                     "KeyTime: *%d { a: ",
                     id, k->count );
        for ( int i = 0; i < k->count; ++i )
            tr_text_add( &x->objects, "%s%" PRId64, i > 0 ? "," : "",
                         (int64_t)llround( k->times[i] * (double)SECOND ) );
        tr_text_add( &x->objects, " }\nKeyValueFloat: *%d { a: ", k->count );
        for ( int i = 0; i < k->count; ++i )
            tr_text_add( &x->objects, "%s%.17g", i > 0 ? "," : "", k->values[i] );
        bool each = k->tangents != NULL;
        int sets = each ? k->count : 1;
        tr_text_add( &x->objects, " }\nKeyAttrFlags: *%d { a: ", sets );
        for ( int i = 0; i < sets; ++i )
            tr_text_add( &x->objects, "%s%d", i > 0 ? "," : "", k->flags );
        tr_text_add( &x->objects, " }\nKeyAttrDataFloat: *%d { a: ", 4 * sets );
        for ( int i = 0; i < sets; ++i ) { // slopes as the bits of single precision
            float slopes[2] = { each ? (float)k->tangents[2 * i] : 0,
                                each ? (float)k->tangents[2 * i + 1] : 0 };
            int32_t bits[2];
            memcpy( bits, slopes, sizeof bits );
            tr_text_add( &x->objects, "%s%d,%d,0,0", i > 0 ? "," : "", bits[0], bits[1] );
        }
        tr_text_add( &x->objects, " }\nKeyAttrRefCount: *%d { a: ", sets );
        for ( int i = 0; i < sets; ++i )
            tr_text_add( &x->objects, "%s%d", i > 0 ? "," : "", each ? 1 : k->count );
        tr_text_add( &x->objects, " } }\n" );
        tr_text_add( &x->links, "C: \"OP\",%" PRId64 ",%" PRId64 ", \"d|%c\"\n", id, group, "XYZ"[c] );
    }
}

static void close_fbx( fbx *x )
{
    int up = x->up > 0 ? x->up : 1, front = up == 2 ? 1 : 2;
    tr_text_add(
        &x->file,
        "; FBX 7.4.0 project file\nFBXHeaderExtension: { FBXHeaderVersion: 1003\nFBXVersion: 7400 }\n"
        "GlobalSettings: { Version: 1000\nProperties70: {\n"
        "P: \"UpAxis\", \"int\", \"Integer\", \"\",%d\nP: \"UpAxisSign\", \"int\", \"Integer\", \"\",1\n"
        "P: \"FrontAxis\", \"int\", \"Integer\", \"\",%d\n"
        "P: \"FrontAxisSign\", \"int\", \"Integer\", \"\",%d\n"
        "P: \"CoordAxis\", \"int\", \"Integer\", \"\",0\n"
        "P: \"CoordAxisSign\", \"int\", \"Integer\", \"\",1\n"
        "P: \"UnitScaleFactor\", \"double\", \"Number\", \"\",%d\n"
        "P: \"TimeMode\", \"enum\", \"\", \"\",6\n} }\nObjects: {\n%s}\nConnections: {\n%s}\n",
        up, front, up == 2 ? -1 : 1, x->unit > 0 ? x->unit : 1, x->objects.data, x->links.data );
    assert_false( x->objects.failed || x->links.failed || x->file.failed );
}

static void free_fbx( fbx *x )
{
    tr_text_free( &x->objects );
    tr_text_free( &x->links );
    tr_text_free( &x->file );
}

static void read_fbx( const fbx *x, tr_motion *motion )
{
    tr_import import;
    tr_error error = { 0 };
    tr_log log = { 0 };
    check_ok( tr_import_parse( &import, x->file.data, x->file.size, "made.fbx", NULL, &log, &error ),
              &error );
    check_ok( tr_import_motion( motion, &import, NULL, &log, &error ), &error );
    check_ok( tr_motion_check( motion, &error ), &error );
    for ( int i = 0; i < log.count; ++i )
        print_error( "%s\n", log.lines[i] );
    assert_int_equal( log.count, 0 );
    tr_log_free( &log );
    tr_import_free( &import );
}

static vec3 place_of( const tr_motion *motion, int frame, const char *name )
{
    quat rotations[64];
    vec3 positions[64];
    assert_true( motion->skeleton.joint_count <= 64 );
    tr_forward( &motion->skeleton, &motion->clip, frame, ( tr_pose ){ rotations, positions } );
    int joint = tr_skeleton_find( &motion->skeleton, name );
    assert_true( joint >= 0 );
    return positions[joint];
}

// --------------------------------------------------------------------------------------------- animation

static const double second[] = { 0, 1 }, quarter[] = { 0, 90 };

// An arm of one metre along X from (0, 1, 0), whose root turns about Z as the keys say.
static void make_arm( fbx *x, const keys *turn )
{
    add_bone( x, 1, "Arm", 0, v3( 0, 100, 0 ), NULL );
    add_bone( x, 2, "Hand", 1, v3( 100, 0, 0 ), NULL );
    add_stack( x, 500, "turn" );
    add_layer( x, 501, 500, "" );
    x->next = 100000;
    add_curves( x, 1, 501, "Lcl Rotation", ( const keys[3] ){ { 0 }, { 0 }, *turn } );
}

static vec3 arm_at( double degrees )
{
    return v3( cos( degrees * TR_DEGREE ), 1 + sin( degrees * TR_DEGREE ), 0 );
}

static void steps_lines_and_cubics( void **state )
{
    (void)state;
    need_fbx();
    static const double slopes[] = { 0, 0, 0, 0 }, steep[] = { 180, 0, 0, 0 };
    static const struct {
        int flags;
        const double *tangents;
        double at[4]; // degrees at 0, ¼, ½ and 1 s
    } kinds[] = {
        { 2, NULL, { 0, 0, 0, 90 } },
        { 4, NULL, { 0, 22.5, 45, 90 } },
        { 8 + 1024, slopes, { 0, 90 * 0.15625, 45, 90 } },
        // Hermite: 90 (3u² − 2u³) + 180 (u³ − 2u² + u)
        { 8 + 1024 + 2048, steep, { 0, 90 * 0.15625 + 180 * 0.140625, 45 + 180 * 0.125, 90 } },
    };
    for ( size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i ) {
        static const int frames[] = { 0, 3, 6, 12 };
        fbx x = { 0 };
        tr_import import;
        tr_motion motion;
        tr_error error = { 0 };
        make_arm( &x, &( keys ){ second, quarter, 2, kinds[i].flags, kinds[i].tangents } );
        close_fbx( &x );
        tr_import_def def = { .fps = 12 };
        check_ok( tr_import_parse( &import, x.file.data, x.file.size, "made.fbx", NULL, NULL, &error ),
                  &error );
        check_ok( tr_import_motion( &motion, &import, &def, NULL, &error ), &error );
        assert_int_equal( motion.clip.frame_count, 13 );
        for ( int k = 0; k < 4; ++k )
            check_v3( place_of( &motion, frames[k], "Hand" ), arm_at( kinds[i].at[k] ), 1e-5 );
        tr_motion_free( &motion );
        tr_import_free( &import );
        free_fbx( &x );
    }
}

// A layer on top adds to what is below, in proportion to its weight.
static void layers_add_up( void **state )
{
    (void)state;
    need_fbx();
    static const double still[] = { 30, 30 };
    for ( int half = 0; half < 2; ++half ) {
        fbx x = { 0 };
        tr_motion motion;
        make_arm( &x, &( keys ){ second, quarter, 2, 4, NULL } );
        add_layer( &x, 502, 500,
                   half ? "P: \"Weight\", \"Number\", \"\", \"A\",50"
                        : "P: \"Weight\", \"Number\", \"\", \"A\",100" );
        add_curves( &x, 1, 502, "Lcl Rotation",
                    ( const keys[3] ){ { 0 }, { 0 }, { second, still, 2, 4, NULL } } );
        close_fbx( &x );
        read_fbx( &x, &motion );
        double more = half ? 15 : 30;
        for ( int f = 0; f <= 30; f += 10 )
            check_v3( place_of( &motion, f, "Hand" ), arm_at( 3 * f + more ), 1e-5 );
        tr_motion_free( &motion );
        free_fbx( &x );
    }
}

// T · Roff · Rp · Rpre · R · Rpost⁻¹ · Rp⁻¹ · Soff · Sp · S · Sp⁻¹, all of them something.
static void pivots_and_scales( void **state )
{
    (void)state;
    need_fbx();
    fbx x = { 0 };
    tr_motion motion;
    add_bone( &x, 1, "Arm", 0, v3( 10, 20, 30 ),
              "P: \"RotationActive\", \"bool\", \"\", \"\",1\n"
              "P: \"RotationOffset\", \"Vector3D\", \"Vector\", \"\",1,2,3\n"
              "P: \"RotationPivot\", \"Vector3D\", \"Vector\", \"\",5,-5,10\n"
              "P: \"ScalingOffset\", \"Vector3D\", \"Vector\", \"\",-3,4,2\n"
              "P: \"ScalingPivot\", \"Vector3D\", \"Vector\", \"\",7,1,-4\n"
              "P: \"PreRotation\", \"Vector3D\", \"Vector\", \"\",0,90,0\n"
              "P: \"PostRotation\", \"Vector3D\", \"Vector\", \"\",90,0,0\n"
              "P: \"Lcl Scaling\", \"Lcl Scaling\", \"\", \"A\",2,2,2\n" );
    add_bone( &x, 2, "Hand", 1, v3( 50, 0, 25 ), NULL );
    add_stack( &x, 500, "turn" );
    add_layer( &x, 501, 500, "" );
    x.next = 100000;
    add_curves( &x, 1, 501, "Lcl Rotation",
                ( const keys[3] ){ { 0 }, { 0 }, { second, quarter, 2, 4, NULL } } );
    close_fbx( &x );
    read_fbx( &x, &motion );
    quat pre = q_axis_angle( v3_y, TR_PI / 2 ), post = q_axis_angle( v3_x, TR_PI / 2 );
    vec3 pivot = v3( 5, -5, 10 ), spivot = v3( 7, 1, -4 );
    for ( int f = 0; f <= 30; f += 6 ) {
        quat turn = q_mul( q_mul( pre, q_axis_angle( v3_z, 3 * f * TR_DEGREE ) ), q_conj( post ) );
        vec3 hand = v3( 50, 0, 25 ), root = v3_zero;
        for ( int k = 0; k < 2; ++k ) {
            vec3 *p = k == 0 ? &root : &hand;
            *p = v3_add( v3_add( v3_scale( 2, v3_sub( *p, spivot ) ), spivot ), v3( -3, 4, 2 ) );
            *p = v3_add( q_rotate( turn, v3_sub( *p, pivot ) ), pivot );
            *p = v3_scale( 0.01, v3_add( v3_add( *p, v3( 1, 2, 3 ) ), v3( 10, 20, 30 ) ) );
        }
        check_v3( place_of( &motion, f, "Arm" ), root, 1e-6 );
        check_v3( place_of( &motion, f, "Hand" ), hand, 1e-6 );
    }
    tr_motion_free( &motion );
    free_fbx( &x );
}

static void units_and_axes( void **state )
{
    (void)state;
    need_fbx();
    for ( int i = 0; i < 4; ++i ) {
        fbx x = { .up = 1 + i % 2, .unit = i < 2 ? 1 : 100 }; // centimetres, metres
        tr_motion motion;
        double m = i < 2 ? 0.01 : 1;
        make_arm( &x, &( keys ){ second, quarter, 2, 4, NULL } );
        close_fbx( &x );
        tr_import import;
        tr_error error = { 0 };
        check_ok( tr_import_parse( &import, x.file.data, x.file.size, "made.fbx", NULL, NULL, &error ),
                  &error );
        check_ok( tr_import_motion( &motion, &import, NULL, NULL, &error ), &error );
        // Z up: what was along Y goes away from whom it faces, along −Z.
        vec3 begin = v3( 100 * m, i % 2 ? 0 : 100 * m, i % 2 ? -100 * m : 0 ),
             end = v3( 0, i % 2 ? 0 : 200 * m, i % 2 ? -200 * m : 0 );
        check_v3( place_of( &motion, 0, "Hand" ), begin, 1e-6 * 100 * m );
        check_v3( place_of( &motion, 30, "Hand" ), end, 1e-6 * 100 * m );
        tr_motion_free( &motion );
        tr_import_free( &import );
        free_fbx( &x );
    }
}

// --------------------------------------------------------------------------------- the same motion as BVH

static void write_curves( fbx *x, const tr_motion *motion, int joint, const double *times, double *values )
{
    const tr_clip *clip = &motion->clip;
    int frames = clip->frame_count;
    double angles[3] = { 0 };
    for ( int f = 0; f < frames; ++f ) {
        double hint[3] = { angles[0], angles[1], angles[2] };
        q_to_euler( tr_clip_frame( clip, f )[joint], "zyx", hint, angles );
        for ( int c = 0; c < 3; ++c )
            values[c * frames + f] = angles[2 - c] / TR_DEGREE;
    }
    keys turn[3], way[3];
    for ( int c = 0; c < 3; ++c )
        turn[c] = ( keys ){ times, values + c * frames, frames, 4, NULL };
    add_curves( x, joint + 1, 501, "Lcl Rotation", turn );
    if ( joint > 0 )
        return;
    for ( int f = 0; f < frames; ++f ) {
        values[f] = 100 * clip->root[f].x;
        values[frames + f] = 100 * clip->root[f].y;
        values[2 * frames + f] = 100 * clip->root[f].z;
    }
    for ( int c = 0; c < 3; ++c )
        way[c] = ( keys ){ times, values + c * frames, frames, 4, NULL };
    add_curves( x, 1, 501, "Lcl Translation", way );
}

static void make_same( fbx *x, const tr_motion *motion )
{
    int frames = motion->clip.frame_count;
    double *times = tr_alloc( 4 * (size_t)frames, sizeof *times );
    assert_non_null( times );
    x->next = 100000;
    for ( int f = 0; f < frames; ++f )
        times[f] = f / motion->clip.fps;
    add_stack( x, 500, "walk" );
    add_layer( x, 501, 500, "" );
    for ( int j = 0; j < motion->skeleton.joint_count; ++j ) {
        const tr_joint *joint = &motion->skeleton.joints[j];
        add_bone( x, j + 1, joint->name, joint->parent + 1, v3_scale( 100, joint->offset ), NULL );
        write_curves( x, motion, j, times, times + frames );
    }
    close_fbx( x );
    tr_free( times );
}

static double farthest( const tr_motion *a, const tr_motion *b )
{
    tr_world p = { 0 }, q = { 0 };
    tr_error error = { 0 };
    double most = 0;
    assert_int_equal( a->clip.frame_count, b->clip.frame_count );
    assert_int_equal( a->clip.joint_count, b->clip.joint_count );
    check_ok( tr_world_build( &p, a, &error ) && tr_world_build( &q, b, &error ), &error );
    for ( int j = 0; j < a->clip.joint_count; ++j ) {
        int twin = tr_skeleton_find( &b->skeleton, a->skeleton.joints[j].name );
        assert_true( twin >= 0 );
        for ( int f = 0; f < a->clip.frame_count; ++f )
            most = fmax( most, v3_distance( tr_world_pose( &p, f ).positions[j],
                                            tr_world_pose( &q, f ).positions[twin] ) );
    }
    tr_world_free( &p );
    tr_world_free( &q );
    return most;
}

// One motion as BVH, FBX and GLB: the same places.
static void bvh_fbx_and_glb_are_the_same( void **state )
{
    (void)state;
    need_fbx();
    char path[CAPTURE_PATH], glb[128];
    fbx x = { 0 };
    tr_motion bvh, read;
    tr_exchange out;
    tr_error error = { 0 };
    check_ok( tr_motion_load( &bvh, capture_path( path, "walk.bvh" ), NULL, NULL, &error ), &error );
    double limit = 1e-4 * tr_skeleton_height( &bvh.skeleton );
    make_same( &x, &bvh );
    tr_import import;
    tr_import_def def = { .fps = bvh.clip.fps };
    check_ok( tr_import_parse( &import, x.file.data, x.file.size, "made.fbx", NULL, NULL, &error ), &error );
    check_ok( tr_import_motion( &read, &import, &def, NULL, &error ), &error );
    check_near( farthest( &bvh, &read ), 0, limit );
    tr_compose_def bare = { 0 };
    check_ok( tr_compose_motion( &out, &read, "walk", &bare, &error ), &error );
    check_ok( tr_exchange_save( &out, in_folder( glb, "walk.glb" ), NULL, &error ), &error );
    tr_exchange_free( &out );
    tr_motion_free( &read );
    tr_import_free( &import );
    if ( tr_import_can_read( ".glb" ) ) {
        check_ok( tr_motion_read( &read, glb, &def, NULL, &error ), &error );
        check_near( farthest( &bvh, &read ), 0, limit );
        tr_motion_free( &read );
    }
    tr_motion_free( &bvh );
    free_fbx( &x );
}

// ------------------------------------------------------------------------------------------------- meshes

// A strip of two squares, half a metre each, along two bones; the points between them hang on both. The third
// bone is a tip without weights. `png` names the picture beside it.
static void make_strip( fbx *x, const char *png )
{
    add_bone( x, 1, "UpperArm", 0, v3( 0, 100, 0 ), NULL );
    add_bone( x, 2, "ForeArm", 1, v3( 0, 50, 0 ), NULL );
    add_bone( x, 3, "Hand", 2, v3( 0, 50, 0 ), NULL );
    add_stack( x, 500, "bend" );
    add_layer( x, 501, 500, "" );
    x->next = 100000;
    add_curves( x, 2, 501, "Lcl Rotation",
                ( const keys[3] ){ { 0 }, { 0 }, { second, quarter, 2, 4, NULL } } );
    tr_text_add(
        &x->objects,
        "Geometry: 31, \"Geometry::strip\", \"Mesh\" {\n"
        "Vertices: *18 { a: -5,0,0,5,0,0,5,50,0,-5,50,0,5,100,0,-5,100,0 }\n"
        "PolygonVertexIndex: *8 { a: 0,1,2,-4,3,2,4,-6 }\n"
        "LayerElementUV: 0 { Version: 101\nName: \"map\"\nMappingInformationType: \"ByPolygonVertex\"\n"
        "ReferenceInformationType: \"Direct\"\nUV: *16 { a: 0,0,1,0,1,0.5,0,0.5,0,0.5,1,0.5,1,1,0,1 } }\n"
        "LayerElementMaterial: 0 { Version: 101\nName: \"\"\nMappingInformationType: \"AllSame\"\n"
        "ReferenceInformationType: \"IndexToDirect\"\nMaterials: *1 { a: 0 } }\n"
        "Layer: 0 { Version: 100\nLayerElement: { Type: \"LayerElementUV\"\nTypedIndex: 0 }\n"
        "LayerElement: { Type: \"LayerElementMaterial\"\nTypedIndex: 0 } } }\n"
        "Model: 30, \"Model::Strip\", \"Mesh\" { Version: 232\nProperties70: {\n"
        "P: \"Lcl Translation\", \"Lcl Translation\", \"\", \"A\",0,100,0\n} }\n"
        "Deformer: 41, \"Deformer::skin\", \"Skin\" { Version: 101 }\n"
        "Deformer: 42, \"SubDeformer::a\", \"Cluster\" { Version: 100\nIndexes: *4 { a: 0,1,2,3 }\n"
        "Weights: *4 { a: 1,1,0.5,0.5 }\nTransform: *16 { a: 1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1 }\n"
        "TransformLink: *16 { a: 1,0,0,0,0,1,0,0,0,0,1,0,0,100,0,1 } }\n"
        "Deformer: 43, \"SubDeformer::b\", \"Cluster\" { Version: 100\nIndexes: *4 { a: 2,3,4,5 }\n"
        "Weights: *4 { a: 0.5,0.5,1,1 }\nTransform: *16 { a: 1,0,0,0,0,1,0,0,0,0,1,0,0,-50,0,1 }\n"
        "TransformLink: *16 { a: 1,0,0,0,0,1,0,0,0,0,1,0,0,150,0,1 } }\n"
        "Material: 51, \"Material::skin\", \"\" { Version: 102\nShadingModel: \"phong\"\nProperties70: {\n"
        "P: \"DiffuseColor\", \"Color\", \"\", \"A\",0.5,0.25,0\n} }\n" );
    link_to( x, 30, 0 );
    link_to( x, 31, 30 );
    link_to( x, 41, 31 );
    link_to( x, 42, 41 );
    link_to( x, 43, 41 );
    link_to( x, 1, 42 );
    link_to( x, 2, 43 );
    link_to( x, 51, 30 );
    if ( png != NULL ) {
        tr_text_add(
            &x->objects,
            "Texture: 52, \"Texture::\", \"\" { Type: \"TextureVideoClip\"\nFileName: \"C:\\maps\\%s\"\n"
            "RelativeFilename: \"%s\" }\n",
            png, png );
        tr_text_add( &x->links, "C: \"OP\",52,51, \"DiffuseColor\"\n" );
    }
    close_fbx( x );
}

static double number_in( const json_t *json, const char *list, int index, const char *key )
{
    const json_t *item = json_array_get( json_object_get( json, list ), (size_t)index );
    return json_number_value( json_object_get( item, key ) );
}

// Floats of an accessor.
static const float *floats_of( const tr_import *import, const json_t *json, int accessor )
{
    size_t size;
    const char *data = tr_import_get_buffer( import, 0, &size );
    int view = (int)number_in( json, "accessors", accessor, "bufferView" );
    return (const float *)(const void *)( data +
                                          (size_t)number_in( json, "bufferViews", view, "byteOffset" ) );
}

// Where the skin puts a point at rest, in metres.
static vec3 skinned( const tr_import *import, const tr_affine *world, const float *place,
                     const uint16_t *joints, const float *weights )
{
    vec3 sum = v3_zero;
    for ( int k = 0; k < 4; ++k ) {
        int node = tr_import_skin_joint( import, 0, joints[k] );
        if ( !( weights[k] > 0 ) )
            continue;
        assert_true( node >= 0 );
        tr_affine m = tr_affine_mul( world[node], tr_import_inverse_bind( import, 0, joints[k] ) );
        vec3 p = v3_add( m3_mulv( m.linear, v3( (double)place[0], (double)place[1], (double)place[2] ) ),
                         m.position );
        sum = v3_mad( sum, (double)weights[k], p );
    }
    return sum;
}

// All points of the only mesh, at rest: within a strip of this size, its ends there.
static void check_strip( const tr_import *import, double size )
{
    tr_import_document document = tr_import_get_document( import );
    tr_affine world[16];
    json_t *json;
    tr_error error = { 0 };
    check_ok( tr_json_parse( &json, document.json, document.size, "strip", &error ), &error );
    assert_true( tr_import_get_tree( import ).node_count <= 16 );
    check_ok( tr_import_rest( import, world, &error ), &error );
    const json_t *primitive = json_array_get(
        json_object_get( json_array_get( json_object_get( json, "meshes" ), 0 ), "primitives" ), 0 );
    const json_t *attributes = json_object_get( primitive, "attributes" );
    int at[3], count;
    static const char *const names[] = { "POSITION", "JOINTS_0", "WEIGHTS_0" };
    for ( int i = 0; i < 3; ++i )
        at[i] = (int)json_integer_value( json_object_get( attributes, names[i] ) );
    count = (int)number_in( json, "accessors", at[0], "count" );
    assert_int_equal( count, 6 ); // corners that are alike are one
    assert_int_equal( (int)number_in( json, "accessors",
                                      (int)json_integer_value( json_object_get( primitive, "indices" ) ),
                                      "count" ),
                      12 );
    const float *places = floats_of( import, json, at[0] ), *weights = floats_of( import, json, at[2] );
    const uint16_t *joints = (const uint16_t *)(const void *)floats_of( import, json, at[1] );
    double low = INFINITY, high = -INFINITY;
    for ( int i = 0; i < count; ++i ) {
        vec3 p = skinned( import, world, places + 3 * i, joints + 4 * i, weights + 4 * i );
        float sum = weights[4 * i] + weights[4 * i + 1] + weights[4 * i + 2] + weights[4 * i + 3];
        check_near( (double)sum, 1, 1e-6 );
        check_near( fabs( p.x ), 0.05 * size, 1e-5 );
        check_near( p.z, 0, 1e-5 );
        low = fmin( low, p.y );
        high = fmax( high, p.y );
    }
    check_near( high - low, size, 1e-5 );
    json_decref( json );
}

static void skins_are_read( void **state )
{
    (void)state;
    need_fbx();
    fbx x = { 0 };
    tr_import import;
    tr_error error = { 0 };
    tr_log log = { 0 };
    make_strip( &x, NULL );
    tr_import_def def = { .meshes = true };
    check_ok( tr_import_parse( &import, x.file.data, x.file.size, "made.fbx", &def, &log, &error ), &error );
    assert_int_equal( log.count, 0 );
    assert_int_equal( import.skeletons[0].skin_count, 1 );
    assert_int_equal( tr_import_get_document( &import ).skin_count, 1 );
    check_strip( &import, 1 );
    tr_import_free( &import );
    bool ok = false; // any allocation may fail
    for ( long n = 1; !ok; n += n < 100 ? 1 : n / 20 ) {
        size_t live = tr_memory_live();
        error = ( tr_error ){ 0 };
        tr_memory_fail_from( n );
        ok = tr_import_parse( &import, x.file.data, x.file.size, "made.fbx", &def, NULL, &error );
        tr_memory_fail_from( 0 );
        tr_import_free( &import );
        assert_true( ok || strstr( error.message, "memory" ) != NULL );
        assert_int_equal( tr_memory_live(), live );
    }
    free_fbx( &x );
}

// The mesh of an FBX file in a GLB, with its picture, on a body of twice the size.
static void meshes_are_passed_on( void **state )
{
    (void)state;
    need_fbx();
    static const char picture[] = "\x89PNG\r\n\x1a\nno more than a head";
    char path[128], out[128], png[128];
    fbx x = { 0 };
    tr_motion motion, again;
    tr_exchange e;
    tr_import import;
    tr_error error = { 0 };
    tr_log log = { 0 };
    make_strip( &x, "skin.png" );
    check_ok( tr_file_write( in_folder( path, "strip.fbx" ), x.file.data, x.file.size, &error ), &error );
    free_fbx( &x );
    for ( int there = 0; there < 2; ++there ) {
        if ( there )
            check_ok( tr_file_write( in_folder( png, "skin.png" ), picture, sizeof picture, &error ),
                      &error );
        check_ok( tr_motion_read( &motion, path, NULL, NULL, &error ), &error );
        for ( int j = 0; j < motion.skeleton.joint_count; ++j )
            motion.skeleton.joints[j].offset = v3_scale( 2, motion.skeleton.joints[j].offset );
        tr_compose_def bare = { 0 };
        tr_import_def def = tr_default_import_def();
        check_ok( tr_compose_motion( &e, &motion, "strip", &bare, &error ), &error );
        check_ok( tr_exchange_find_look( &e, &e.bodies[0].look, path, &def, &log, &error ), &error );
        assert_non_null( e.bodies[0].look );
        assert_true( tr_look_fits( e.bodies[0].look, &motion.skeleton, NULL ) );
        assert_int_equal( log.count, !there ); // the picture is missing
        tr_log_free( &log );
        check_ok( tr_exchange_save( &e, in_folder( out, "strip.glb" ), NULL, &error ), &error );
        tr_exchange_free( &e );
        if ( tr_import_can_read( ".glb" ) ) {
            check_ok( tr_import_load( &import, out, NULL, &log, &error ), &error );
            assert_int_equal( log.count, 0 );
            tr_import_document document = tr_import_get_document( &import );
            json_t *json;
            check_ok( tr_json_parse( &json, document.json, document.size, "strip", &error ), &error );
            assert_int_equal( json_array_size( json_object_get( json, "images" ) ), there );
            assert_int_equal( json_array_size( json_object_get( json, "materials" ) ), 1 );
            json_decref( json );
            check_strip( &import, 2 );
            check_ok( tr_import_motion( &again, &import, &( tr_import_def ){ .fps = motion.clip.fps }, NULL,
                                        &error ),
                      &error );
            for ( int f = 0; f < motion.clip.frame_count; f += 5 )
                check_v3( place_of( &again, f, "Hand" ), place_of( &motion, f, "Hand" ), 1e-5 );
            tr_motion_free( &again );
            tr_import_free( &import );
        }
        tr_motion_free( &motion );
    }
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( steps_lines_and_cubics ),
        TEST( layers_add_up ),
        TEST( pivots_and_scales ),
        TEST( units_and_axes ),
        TEST( bvh_fbx_and_glb_are_the_same ),
        TEST( skins_are_read ),
        TEST( meshes_are_passed_on ),
    };
    return cmocka_run_group_tests( tests, set_up_folder, remove_group_folder );
}
