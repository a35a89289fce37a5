// USD out, as text: a SkelRoot for each character, an Xform with a mesh for each thing. Matrices are of row
// vectors, quaternions begin with their real part; translations, rotations and scales have equally many
// samples, which some readers need.
#include "exchange/writers.h"

#include <stdio.h>
#include <string.h>

typedef struct joint_names { // joint names of a skeleton
    char **own, **paths;     // [count] names among those with the same parent, and whole
    int *parents;
    int count;
} joint_names;

// ------------------------------------------------------------------------------------------------ numbers

static void print_float( tr_text *out, double v )
{
    char text[32];
    snprintf( text, sizeof text, "%.9g", (double)(float)v + 0.0 );
    tr_text_append( out, text, strlen( text ) );
}

static void print_row( tr_text *out, const double *values, int count )
{
    for ( int i = 0; i < count; ++i ) {
        tr_text_append( out, i == 0 ? "(" : ", ", i == 0 ? 1 : 2 );
        print_float( out, values[i] );
    }
    tr_text_append( out, ")", 1 );
}

static void print_vector( tr_text *out, vec3 v )
{
    print_row( out, ( const double[] ){ v.x, v.y, v.z }, 3 );
}

static void print_turn( tr_text *out, quat q )
{
    print_row( out, ( const double[] ){ q.w, q.x, q.y, q.z }, 4 );
}

static void print_matrix( tr_text *out, rigid at )
{
    mat3 m = m3_from_quat( at.rotation );
    const vec3 rows[4] = { m.cx, m.cy, m.cz, at.position }; // columns of ours are rows of theirs
    for ( int r = 0; r < 4; ++r ) {
        tr_text_append( out, r == 0 ? "( " : ", ", 2 );
        print_row( out, ( const double[] ){ rows[r].x, rows[r].y, rows[r].z, r == 3 ? 1 : 0 }, 4 );
    }
    tr_text_append( out, " )", 2 );
}

static void print_vectors( tr_text *out, const vec3 *v, int count )
{
    for ( int i = 0; i < count; ++i ) {
        if ( i > 0 )
            tr_text_append( out, ", ", 2 );
        print_vector( out, v[i] );
    }
}

// -------------------------------------------------------------------------------------------------- names

// An identifier: letters, digits and _, no digit in front.
static char *identifier( const char *name )
{
    char *out = tr_string_format( "%s%s", name[0] >= '0' && name[0] <= '9' ? "_" : "", name );
    for ( char *c = out; c != NULL && *c != 0; ++c )
        if ( !( ( *c >= 'a' && *c <= 'z' ) || ( *c >= 'A' && *c <= 'Z' ) || ( *c >= '0' && *c <= '9' ) ) )
            *c = '_';
    return out != NULL && out[0] == 0 ? ( tr_free( out ), tr_string_copy( "_" ) ) : out;
}

// Makes a name that none of the others has that have the same parent. NULL: out of memory. Takes `wanted`
// over.
static char *name_apart( char *const *names, const int *parents, int index, char *wanted )
{
    char *name = wanted != NULL ? tr_string_copy( wanted ) : NULL;
    int n = 1; // as many have the name already, with a number or without: the next one is likely to be free
    for ( int i = 0; name != NULL && i < index; ++i )
        n += ( parents == NULL || parents[i] == parents[index] ) &&
             strncmp( names[i], name, strlen( name ) ) == 0;
    for ( int i = 0; name != NULL && i < index; ++i )
        if ( ( parents == NULL || parents[i] == parents[index] ) && strcmp( names[i], name ) == 0 ) {
            tr_free( name );
            name = tr_string_format( "%s_%d", wanted, n++ );
            i = -1; // the new one may be taken, too
        }
    tr_free( wanted );
    return name;
}

static void free_names( char **names, int count )
{
    for ( int i = 0; names != NULL && i < count; ++i )
        tr_free( names[i] );
    tr_free( names );
}

static void free_joint_names( joint_names *names )
{
    free_names( names->own, names->count );
    free_names( names->paths, names->count );
    tr_free( names->parents );
}

// Paths such as Hips/Spine/Head; no two are alike.
static bool name_joints( joint_names *out, const tr_skeleton *skeleton )
{
    size_t joints = (size_t)skeleton->joint_count;
    out->own = tr_alloc( joints, sizeof *out->own );
    out->paths = tr_alloc( joints, sizeof *out->paths );
    out->parents = tr_alloc( joints, sizeof *out->parents );
    if ( out->own == NULL || out->paths == NULL || out->parents == NULL )
        return false;
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        int parent = out->parents[j] = skeleton->joints[j].parent;
        out->own[j] = name_apart( out->own, out->parents, j, identifier( skeleton->joints[j].name ) );
        out->count = j + 1;
        out->paths[j] = out->own[j] == NULL ? NULL
                        : parent >= 0       ? tr_string_format( "%s/%s", out->paths[parent], out->own[j] )
                                            : tr_string_copy( out->own[j] );
        if ( out->paths[j] == NULL )
            return false;
    }
    return true;
}

// --------------------------------------------------------------------------------------------------- mesh

static void print_colour( tr_text *out, const float colour[3] )
{
    tr_text_add( out, "            color3f[] primvars:displayColor = [" );
    print_vector( out, v3( tr_linear_colour( colour[0] ), tr_linear_colour( colour[1] ),
                           tr_linear_colour( colour[2] ) ) );
    tr_text_add( out, "]\n" );
}

static void print_binding( tr_text *out, const tr_facets *facets, const char *name )
{
    tr_text_add( out, "            matrix4d primvars:skel:geomBindTransform = " );
    print_matrix( out, ( rigid ){ q_identity, v3_zero } );
    tr_text_add( out, "\n            int[] primvars:skel:jointIndices = [" );
    for ( int i = 0; i < facets->point_count; ++i )
        tr_text_add( out, i > 0 ? ", %d" : "%d", facets->tags[i] );
    tr_text_add( out, "] (\n                elementSize = 1\n                interpolation = \"vertex\"\n"
                      "            )\n            float[] primvars:skel:jointWeights = [" );
    for ( int i = 0; i < facets->point_count; ++i )
        tr_text_append( out, i > 0 ? ", 1" : "1", i > 0 ? 3 : 1 );
    tr_text_add( out,
                 "] (\n                elementSize = 1\n                interpolation = \"vertex\"\n"
                 "            )\n            rel skel:skeleton = </Cast/%s/Skeleton>\n",
                 name );
}

// `skeleton`: name of the character whose joints carry it; NULL: a thing.
static void print_mesh( tr_text *out, const tr_facets *facets, const float colour[3], const char *skeleton )
{
    if ( facets->triangle_count == 0 )
        return;
    tr_text_add( out, "\n        def Mesh \"Body\"%s\n        {\n",
                 skeleton != NULL ? " (\n            prepend apiSchemas = [\"SkelBindingAPI\"]\n        )"
                                  : "" );
    tr_text_add( out, "            uniform token subdivisionScheme = \"none\"\n"
                      "            int[] faceVertexCounts = [" );
    for ( int i = 0; i < facets->triangle_count; ++i )
        tr_text_append( out, i > 0 ? ", 3" : "3", i > 0 ? 3 : 1 );
    tr_text_add( out, "]\n            int[] faceVertexIndices = [" );
    for ( int i = 0; i < facets->triangle_count; ++i )
        tr_text_add( out, "%s%d, %d, %d", i > 0 ? ", " : "", facets->triangles[i][0], facets->triangles[i][1],
                     facets->triangles[i][2] );
    tr_text_add( out, "]\n            point3f[] points = [" );
    print_vectors( out, facets->points, facets->point_count );
    tr_text_add( out, "]\n            normal3f[] normals = [" );
    print_vectors( out, facets->normals, facets->point_count );
    tr_text_add( out, "] (\n                interpolation = \"vertex\"\n            )\n" );
    print_colour( out, colour );
    if ( skeleton != NULL )
        print_binding( out, facets, skeleton );
    tr_text_add( out, "        }\n" );
}

// -------------------------------------------------------------------------------------------- characters

static void print_joints( tr_text *out, const joint_names *names )
{
    tr_text_add( out, "            uniform token[] joints = [" );
    for ( int j = 0; j < names->count; ++j )
        tr_text_add( out, "%s\"%s\"", j > 0 ? ", " : "", names->paths[j] );
    tr_text_add( out, "]\n" );
}

static bool print_skeleton( tr_text *out, const tr_exchange_body *body, const joint_names *names,
                            const char *name )
{
    const tr_skeleton *skeleton = body->skeleton;
    size_t joints = (size_t)skeleton->joint_count;
    tr_pose rest = { tr_alloc( joints, sizeof( quat ) ), tr_alloc( joints, sizeof( vec3 ) ) };
    bool ok = rest.rotations != NULL && rest.positions != NULL;
    if ( ok ) {
        tr_forward_rest( skeleton, rest );
        tr_text_add( out, "        def Skeleton \"Skeleton\" (\n            prepend apiSchemas = "
                          "[\"SkelBindingAPI\"]\n        )\n        {\n" );
        print_joints( out, names );
        tr_text_add( out, "            uniform matrix4d[] bindTransforms = [" );
        for ( int j = 0; j < skeleton->joint_count; ++j ) {
            tr_text_add( out, j > 0 ? ", " : "" );
            print_matrix( out, ( rigid ){ rest.rotations[j], rest.positions[j] } );
        }
        tr_text_add( out, "]\n            uniform matrix4d[] restTransforms = [" );
        for ( int j = 0; j < skeleton->joint_count; ++j ) {
            tr_text_add( out, j > 0 ? ", " : "" );
            print_matrix( out, ( rigid ){ skeleton->joints[j].rest, skeleton->joints[j].offset } );
        }
        tr_text_add( out, "]\n            rel skel:animationSource = </Cast/%s/Motion>\n        }\n", name );
    }
    tr_free( rest.rotations );
    tr_free( rest.positions );
    return ok;
}

static void print_motion( tr_text *out, const tr_exchange *x, const tr_exchange_body *body,
                          const joint_names *names )
{
    int joints = body->skeleton->joint_count;
    tr_text_add( out, "\n        def SkelAnimation \"Motion\"\n        {\n" );
    print_joints( out, names );
    tr_text_add( out, "            half3[] scales.timeSamples = {\n" );
    for ( int f = 0; f < x->frame_count; ++f ) {
        tr_text_add( out, "                %d: [", x->first + f );
        for ( int j = 0; j < joints; ++j )
            tr_text_add( out, j > 0 ? ", (1, 1, 1)" : "(1, 1, 1)" );
        tr_text_add( out, "],\n" );
    }
    tr_text_add( out, "            }\n            float3[] translations.timeSamples = {\n" );
    for ( int f = 0; f < x->frame_count && tr_work_wanted(); ++f ) {
        tr_text_add( out, "                %d: [", x->first + f );
        for ( int j = 0; j < joints; ++j ) {
            tr_text_add( out, j > 0 ? ", " : "" );
            print_vector( out, tr_exchange_offset( body, f, j ) );
        }
        tr_text_add( out, "],\n" );
    }
    tr_text_add( out, "            }\n            quatf[] rotations.timeSamples = {\n" );
    for ( int f = 0; f < x->frame_count && tr_work_wanted(); ++f ) {
        tr_text_add( out, "                %d: [", x->first + f );
        for ( int j = 0; j < joints; ++j ) {
            tr_text_add( out, j > 0 ? ", " : "" );
            print_turn( out, tr_clip_frame( body->clip, f )[j] );
        }
        tr_text_add( out, "],\n" );
    }
    tr_text_add( out, "            }\n        }\n" );
}

static bool print_body( tr_text *out, const tr_exchange *x, const tr_exchange_body *body, const char *name )
{
    joint_names names = { 0 };
    bool ok = name_joints( &names, body->skeleton );
    if ( ok ) {
        tr_text_add( out,
                     "\n    def SkelRoot \"%s\" (\n        prepend apiSchemas = [\"SkelBindingAPI\"]\n    )\n"
                     "    {\n",
                     name );
        ok = print_skeleton( out, body, &names, name );
        print_motion( out, x, body, &names );
        print_mesh( out, &body->facets, body->colour, name );
        tr_text_add( out, "    }\n" );
    }
    free_joint_names( &names );
    return ok;
}

// -------------------------------------------------------------------------------------------------- things

static void print_thing( tr_text *out, const tr_exchange *x, const tr_exchange_thing *thing,
                         const char *name )
{
    rigid still = tr_thing_at( thing, 0 );
    tr_text_add( out, "\n    def Xform \"%s\"\n    {\n", name );
    if ( thing->track != NULL ) {
        tr_text_add( out, "        double3 xformOp:translate.timeSamples = {\n" );
        for ( int f = 0; f < x->frame_count; ++f ) {
            tr_text_add( out, "            %d: ", x->first + f );
            print_vector( out, thing->track[f].position );
            tr_text_append( out, ",\n", 2 );
        }
        tr_text_add( out, "        }\n        quatf xformOp:orient.timeSamples = {\n" );
        for ( int f = 0; f < x->frame_count; ++f ) {
            tr_text_add( out, "            %d: ", x->first + f );
            print_turn( out, thing->track[f].rotation );
            tr_text_append( out, ",\n", 2 );
        }
        tr_text_add( out, "        }\n" );
    } else {
        tr_text_add( out, "        double3 xformOp:translate = " );
        print_vector( out, still.position );
        tr_text_add( out, "\n        quatf xformOp:orient = " );
        print_turn( out, still.rotation );
        tr_text_append( out, "\n", 1 );
    }
    tr_text_add( out,
                 "        uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"]\n" );
    print_mesh( out, &thing->facets, thing->colour, NULL );
    tr_text_add( out, "    }\n" );
}

bool tr_usda_print( const tr_exchange *x, tr_text *out, tr_error *error )
{
    int count = x->body_count + x->thing_count, named = 0;
    char **names = tr_alloc( (size_t)count, sizeof *names );
    bool ok = names != NULL;
    for ( ; ok && named < count; named += ok ) {
        const char *name =
            named < x->body_count ? x->bodies[named].name : x->things[named - x->body_count].name;
        names[named] = name_apart( names, NULL, named, identifier( name ) );
        ok = names[named] != NULL;
    }
    tr_text_add( out,
                 "#usda 1.0\n(\n    defaultPrim = \"Cast\"\n    metersPerUnit = 1\n    upAxis = \"Y\"\n" );
    tr_text_add( out, "    startTimeCode = %d\n    endTimeCode = %d\n    timeCodesPerSecond = ", x->first,
                 x->first + x->frame_count - 1 );
    tr_text_exact( out, x->fps );
    tr_text_add( out, "\n    framesPerSecond = " );
    tr_text_exact( out, x->fps );
    tr_text_add( out, "\n)\n\ndef Xform \"Cast\"\n{\n" );
    for ( int i = 0; ok && i < x->body_count; ++i )
        ok = print_body( out, x, &x->bodies[i], names[i] ) && tr_work_wanted();
    for ( int i = 0; ok && i < x->thing_count; ++i )
        print_thing( out, x, &x->things[i], names[x->body_count + i] );
    tr_text_append( out, "}\n", 2 );
    free_names( names, named );
    return ( ok && !out->failed ) || tr_error_memory( error );
}
