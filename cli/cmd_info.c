// info: what is in a motion file or a scene.
#include "cli.h"

#include <stdio.h>
#include <string.h>

#define MAX_LAYOUTS 64

// --------------------------------------------------------------------------------------------- motion file

typedef struct layout_group { // joints that share one channel layout
    char channels[64];        // "Xpos Ypos Zpos Zrot Xrot Yrot"
    int joints;
} layout_group;

typedef struct motion_facts {
    const char *file;
    tr_bvh bvh;
    tr_bvh_import import;
    const char *guess; // how unit and up were found, borrowed
    tr_motion motion;
    tr_contacts contacts;
    layout_group layouts[MAX_LAYOUTS];
    int layout_count, end_sites;
    int first;           // recorded frame; 1 when a T-pose was put in front
    double hover, lower; // metres, see tr_contacts_hover
    vec3 low, high;      // bounds of all joints over the frames from there, metres
    tr_log warnings;
} motion_facts;

static void layout_print( char *out, size_t size, const tr_bvh_layout *layout )
{
    static const char *const names[] = { "Xpos", "Ypos", "Zpos", "Xrot", "Yrot", "Zrot" };
    size_t used = 0;
    out[0] = 0;
    for ( int i = 0; i < layout->count && used < size; ++i )
        used +=
            (size_t)snprintf( out + used, size - used, "%s%s", i > 0 ? " " : "", names[layout->channels[i]] );
}

static void count_layouts( motion_facts *facts )
{
    for ( int j = 0; j < facts->bvh.skeleton.joint_count; ++j ) {
        if ( facts->bvh.skeleton.joints[j].end_site ) {
            facts->end_sites++;
            continue;
        }
        char channels[64];
        layout_print( channels, sizeof channels, &facts->bvh.layouts[j] );
        int group = 0;
        while ( group < facts->layout_count && strcmp( facts->layouts[group].channels, channels ) != 0 )
            ++group;
        if ( group == MAX_LAYOUTS )
            continue;
        memcpy( facts->layouts[group].channels, channels, sizeof channels );
        facts->layouts[group].joints++;
        facts->layout_count = group < facts->layout_count ? facts->layout_count : group + 1;
    }
}

static void grow_box( vec3 *low, vec3 *high, vec3 p )
{
    *low = v3( fmin( low->x, p.x ), fmin( low->y, p.y ), fmin( low->z, p.z ) );
    *high = v3( fmax( high->x, p.x ), fmax( high->y, p.y ), fmax( high->z, p.z ) );
}

static bool look_at_motion( motion_facts *facts, tr_error *error )
{
    tr_world world = { 0 };
    if ( !tr_world_build( &world, &facts->motion, error ) )
        return false;
    size_t points = (size_t)world.joint_count * (size_t)world.frame_count;
    size_t start = (size_t)world.joint_count * (size_t)facts->first;
    facts->low = facts->high = points > 0 ? world.positions[start] : v3_zero;
    for ( size_t i = start; i < points; ++i )
        grow_box( &facts->low, &facts->high, world.positions[i] );
    tr_surface ground = { .kind = TR_SURFACE_GROUND };
    tr_contact_def def = tr_default_contact_def();
    tr_contact_scene scene = { &facts->motion.skeleton, &world, facts->motion.clip.fps, &ground, 1 };
    bool ok = tr_contacts_label( &facts->contacts, &scene, &def, error );
    facts->hover =
        ok ? tr_contacts_hover( &facts->motion.skeleton, &world, &facts->contacts, &def, 0, &facts->lower )
           : 0;
    tr_world_free( &world );
    return ok;
}

static bool facts_load( motion_facts *facts, const char *path, tr_error *error )
{
    *facts = ( motion_facts ){ .file = path, .import = tr_default_bvh_import() };
    if ( !tr_bvh_load( &facts->bvh, path, &facts->warnings, error ) )
        return false;
    facts->guess = tr_bvh_guess( &facts->bvh, &facts->import );
    if ( facts->guess == NULL || facts->warnings.failed )
        return tr_error_memory( error );
    facts->first = tr_bvh_first_frame( &facts->bvh );
    count_layouts( facts );
    return tr_bvh_to_motion( &facts->motion, &facts->bvh, &facts->import, error ) &&
           look_at_motion( facts, error );
}

static void facts_free( motion_facts *facts )
{
    tr_contacts_free( &facts->contacts );
    tr_motion_free( &facts->motion );
    tr_bvh_free( &facts->bvh );
    tr_log_free( &facts->warnings );
}

static double duration( int frames, double fps )
{
    return frames > 1 ? ( frames - 1 ) / fps : 0;
}

static void facts_print( const motion_facts *facts )
{
    const tr_skeleton *skeleton = &facts->motion.skeleton;
    const tr_clip *clip = &facts->motion.clip;
    cli_say( "%s\n", facts->file );
    cli_say( "joints     %d, and %d end site%s\n", skeleton->joint_count - facts->end_sites, facts->end_sites,
             cli_plural( facts->end_sites ) );
    cli_say( "frames     %d at %.6g fps, %.2f s\n", clip->frame_count, clip->fps,
             duration( clip->frame_count, clip->fps ) );
    if ( facts->first > 0 )
        cli_say( "           frame 0 is an artificial T-pose: in a scene, take the file from frame 1 on "
                 "(source.first = 1)\n" );
    cli_say( "height     %.3f m in the rest pose\n", tr_skeleton_height( skeleton ) );
    cli_say( "units      1 = %.6g m, %c up: %s\n", facts->import.unit, facts->import.up == 'z' ? 'Z' : 'Y',
             facts->guess );
    cli_say( "channels   %d a frame", facts->bvh.channel_count );
    for ( int i = 0; i < facts->layout_count; ++i )
        cli_say( "%s %d × %s", i == 0 ? ":" : ",", facts->layouts[i].joints,
                 facts->layouts[i].channels[0] ? facts->layouts[i].channels : "none" );
    cli_say( "\nlimbs      " );
    for ( int i = 0; i < skeleton->limb_count; ++i )
        cli_say( "%s%s", i > 0 ? ", " : "", skeleton->limbs[i].name );
    cli_say( "\ncontacts   %d with the ground\n", facts->contacts.count );
    if ( facts->hover > 0 )
        cli_say( "           toes rest %.1f cm above the floor: in a scene, placement.position [0, %.3f, 0] "
                 "brings "
                 "them down\n",
                 100 * facts->hover, -facts->lower );
    cli_say( "bounds     (%.3f, %.3f, %.3f) … (%.3f, %.3f, %.3f) m\n", facts->low.x, facts->low.y,
             facts->low.z, facts->high.x, facts->high.y, facts->high.z );
    for ( int i = 0; i < facts->warnings.count; ++i )
        cli_say( "warning    %s\n", facts->warnings.lines[i] );
}

static json_t *json_vec3( vec3 v )
{
    return json_pack( "[fff]", v.x, v.y, v.z );
}

static json_t *contacts_json( const motion_facts *facts )
{
    json_t *rows = json_array();
    for ( int i = 0; i < facts->contacts.count; ++i ) {
        const tr_contact *contact = &facts->contacts.items[i];
        json_array_append_new( rows, json_pack( "{ss s[ii]}", "joint",
                                                facts->motion.skeleton.joints[contact->joint].name, "range",
                                                contact->first, contact->last ) );
    }
    return rows;
}

static json_t *facts_json( const motion_facts *facts )
{
    const tr_skeleton *skeleton = &facts->motion.skeleton;
    const tr_clip *clip = &facts->motion.clip;
    json_t *layouts = json_array(), *limbs = json_array(), *warnings = json_array();
    for ( int i = 0; i < facts->layout_count; ++i )
        json_array_append_new( layouts, json_pack( "{ss si}", "channels", facts->layouts[i].channels,
                                                   "joints", facts->layouts[i].joints ) );
    for ( int i = 0; i < skeleton->limb_count; ++i )
        json_array_append_new( limbs, json_string( skeleton->limbs[i].name ) );
    for ( int i = 0; i < facts->warnings.count; ++i )
        json_array_append_new( warnings, tr_json_text( facts->warnings.lines[i] ) );
    char up[2] = { facts->import.up == 'z' ? 'z' : 'y', 0 };
    return json_pack(
        "{so ss si si si si si sf sf sf sf ss ss so so so s{so so} so}", "file", tr_json_text( facts->file ),
        "kind", "motion", "joints", skeleton->joint_count - facts->end_sites, "end_sites", facts->end_sites,
        "channels", facts->bvh.channel_count, "frames", clip->frame_count, "first", facts->first, "fps",
        clip->fps, "duration_s", duration( clip->frame_count, clip->fps ), "height_m",
        tr_skeleton_height( skeleton ), "unit_m", facts->import.unit, "up", up, "guess", facts->guess,
        "layouts", layouts, "limbs", limbs, "contacts", contacts_json( facts ), "bounds_m", "low",
        json_vec3( facts->low ), "high", json_vec3( facts->high ), "warnings", warnings );
}

// ------------------------------------------------------------------------------------- glTF and FBX files

static void import_print( const tr_import *import, const char *file, const tr_log *warnings )
{
    cli_say( "%s\n", file );
    cli_say( "format     %s\n", import->format );
    cli_say( "skeletons  %d\n", import->skeleton_count );
    for ( int k = 0; k < import->skeleton_count; ++k ) {
        const tr_import_skeleton *skeleton = &import->skeletons[k];
        cli_say( "  %-3d %-24s %d joint%s, %.3f m at rest, %d skin%s\n", k + 1, skeleton->name,
                 skeleton->joint_count, cli_plural( skeleton->joint_count ), skeleton->height,
                 skeleton->skin_count, cli_plural( skeleton->skin_count ) );
    }
    cli_say( "takes      %d\n", import->take_count );
    for ( int t = 0; t < import->take_count; ++t ) {
        const tr_import_take *take = &import->takes[t];
        int moved = 0;
        for ( int k = 0; k < import->skeleton_count; ++k )
            moved += tr_import_take_moves( import, t, k );
        cli_say( "  %-3d %-24s %.2f s, %d frames at %.6g fps, moves %d skeleton%s\n", t + 1, take->name,
                 take->seconds, tr_import_frame_count( take, 0 ), take->fps, moved, cli_plural( moved ) );
    }
    cli_say( "meshes     %d, and %d skin%s\n", import->mesh_count, import->skin_count,
             cli_plural( import->skin_count ) );
    if ( import->skeleton_count == 0 )
        cli_say( "           nothing here can be retargeted: no skin, no bones and no node that moves\n" );
    for ( int i = 0; i < warnings->count; ++i )
        cli_say( "warning    %s\n", warnings->lines[i] );
}

static json_t *import_json( const tr_import *import, const char *file, const tr_log *warnings )
{
    json_t *skeletons = json_array(), *takes = json_array(), *lines = json_array();
    for ( int k = 0; k < import->skeleton_count; ++k ) {
        const tr_import_skeleton *skeleton = &import->skeletons[k];
        json_array_append_new( skeletons,
                               json_pack( "{so si si sf si}", "name", tr_json_text( skeleton->name ),
                                          "joints", skeleton->joint_count, "end_sites", skeleton->end_count,
                                          "height_m", skeleton->height, "skins", skeleton->skin_count ) );
    }
    for ( int t = 0; t < import->take_count; ++t ) {
        const tr_import_take *take = &import->takes[t];
        json_t *moves = json_array();
        for ( int k = 0; k < import->skeleton_count; ++k )
            if ( tr_import_take_moves( import, t, k ) )
                json_array_append_new( moves, tr_json_text( import->skeletons[k].name ) );
        json_array_append_new( takes, json_pack( "{so sf si sf so}", "name", tr_json_text( take->name ),
                                                 "duration_s", take->seconds, "frames",
                                                 tr_import_frame_count( take, 0 ), "fps", take->fps,
                                                 "skeletons", moves ) );
    }
    for ( int i = 0; i < warnings->count; ++i )
        json_array_append_new( lines, tr_json_text( warnings->lines[i] ) );
    return json_pack( "{so ss ss so so si si so}", "file", tr_json_text( file ), "kind", "motions", "format",
                      import->format, "skeletons", skeletons, "takes", takes, "meshes", import->mesh_count,
                      "skins", import->skin_count, "warnings", lines );
}

static int info_import( const char *path, bool json )
{
    tr_import import;
    tr_log warnings = { 0 };
    tr_error error = { 0 };
    int code = CLI_OK;
    bool ok = tr_import_load( &import, path, NULL, &warnings, &error );
    if ( ok && warnings.failed )
        ok = tr_error_memory( &error );
    if ( !ok )
        code = cli_fail( &error );
    else if ( json )
        code = cli_print_json( import_json( &import, path, &warnings ) );
    else
        import_print( &import, path, &warnings );
    tr_import_free( &import );
    tr_log_free( &warnings );
    return code;
}

// --------------------------------------------------------------------------------------------------- scene

static void count_kinds( const tr_scene *scene, int counts[TR_CONSTRAINT_KINDS] )
{
    memset( counts, 0, TR_CONSTRAINT_KINDS * sizeof counts[0] );
    for ( int i = 0; i < scene->constraint_count; ++i )
        counts[scene->constraints[i].kind]++;
}

static bool has_size( tr_shape_kind shape )
{
    return shape == TR_SHAPE_BOX || shape == TR_SHAPE_SPHERE;
}

static void prop_print( const tr_prop *prop )
{
    cli_say( "  %-16s ", prop->id );
    if ( prop->shape != TR_SHAPE_BOX )
        cli_say( "%s, ", tr_shape_kind_names[prop->shape] );
    if ( has_size( prop->shape ) )
        cli_say( "%.3g × %.3g × %.3g m, ", prop->size.x, prop->size.y, prop->size.z );
    cli_say( "%s\n", prop->track.file[0] ? prop->track.file : "stands still" );
}

// Id, shape and, of boxes and spheres, size.
static json_t *thing_json( const char *id, tr_shape_kind shape, vec3 size )
{
    json_t *thing = json_pack( "{ss ss}", "id", id, "shape", tr_shape_kind_names[shape] );
    if ( has_size( shape ) )
        json_object_set_new( thing, "size", json_vec3( size ) );
    return thing;
}

static void scene_print( const tr_scene *scene, const char *name )
{
    int counts[TR_CONSTRAINT_KINDS], frames = scene->last - scene->first + 1;
    count_kinds( scene, counts );
    cli_say( "%s\n", name );
    cli_say( "frames      %d (%d … %d) at %.6g fps, %.2f s\n", frames, scene->first, scene->last, scene->fps,
             duration( frames, scene->fps ) );
    cli_say( "cast        %d\n", scene->cast_count );
    for ( int i = 0; i < scene->cast_count; ++i )
        cli_say( "  %-16s %s, × %.3g\n", scene->cast[i].id, scene->cast[i].source.file,
                 scene->cast[i].target.scale );
    if ( scene->clip_count > 0 )
        cli_say( "clips       %d\n", scene->clip_count );
    for ( int i = 0; i < scene->clip_count; ++i )
        cli_say( "  %-16s %s, for %s\n", scene->clips[i].id, scene->clips[i].source.file,
                 scene->clips[i].cast );
    cli_say( "props       %d\n", scene->prop_count );
    for ( int i = 0; i < scene->prop_count; ++i )
        prop_print( &scene->props[i] );
    cli_say( "obstacles   %d\n", scene->obstacle_count );
    cli_say( "constraints %d\n", scene->constraint_count );
    for ( int k = 0; k < TR_CONSTRAINT_KINDS; ++k )
        if ( counts[k] > 0 )
            cli_say( "  %-16s %d\n", tr_constraint_kind_names[k], counts[k] );
}

static json_t *scene_json( const tr_scene *scene, const char *name )
{
    json_t *cast = json_array(), *clips = json_array(), *props = json_array(), *obstacles = json_array(),
           *kinds = json_object();
    for ( int i = 0; i < scene->cast_count; ++i )
        json_array_append_new( cast, json_pack( "{ss ss sf}", "id", scene->cast[i].id, "source",
                                                scene->cast[i].source.file, "scale",
                                                scene->cast[i].target.scale ) );
    for ( int i = 0; i < scene->clip_count; ++i )
        json_array_append_new( clips,
                               json_pack( "{ss ss ss}", "id", scene->clips[i].id, "cast",
                                          scene->clips[i].cast, "source", scene->clips[i].source.file ) );
    for ( int i = 0; i < scene->prop_count; ++i )
        json_array_append_new(
            props, thing_json( scene->props[i].id, scene->props[i].shape, scene->props[i].size ) );
    for ( int i = 0; i < scene->obstacle_count; ++i )
        json_array_append_new( obstacles, thing_json( scene->obstacles[i].id, scene->obstacles[i].shape,
                                                      scene->obstacles[i].size ) );
    int counts[TR_CONSTRAINT_KINDS], frames = scene->last - scene->first + 1;
    count_kinds( scene, counts );
    for ( int k = 0; k < TR_CONSTRAINT_KINDS; ++k )
        json_object_set_new( kinds, tr_constraint_kind_names[k], json_integer( counts[k] ) );
    return json_pack( "{so ss si s[ii] sf sf so so so so so}", "file", tr_json_text( name ), "kind", "scene",
                      "frames", frames, "range", scene->first, scene->last, "fps", scene->fps, "duration_s",
                      duration( frames, scene->fps ), "cast", cast, "clips", clips, "props", props,
                      "obstacles", obstacles, "constraints", kinds );
}

// ------------------------------------------------------------------------------------------------- command

static int info_motion( const char *path, bool json )
{
    motion_facts facts;
    tr_error error = { 0 };
    int code = CLI_OK;
    if ( !facts_load( &facts, path, &error ) )
        code = cli_fail( &error );
    else if ( json )
        code = cli_print_json( facts_json( &facts ) );
    else
        facts_print( &facts );
    facts_free( &facts );
    return code;
}

static int info_scene( const char *what, bool json )
{
    cli_subject subject;
    tr_error error = { 0 };
    int code = CLI_OK;
    if ( !cli_subject_open( &subject, what, 0, &error ) )
        code = cli_subject_fail( &subject, &error );
    else if ( json )
        code = cli_print_json( scene_json( &subject.scene, what ) );
    else
        scene_print( &subject.scene, what );
    cli_subject_close( &subject );
    return code;
}

static int run_info( const cli_call *call )
{
    bool json = cli_value( call, "json" ) != NULL;
    const char *what = call->operands[0];
    if ( tr_path_ends_with( what, ".bvh" ) && tr_file_exists( what ) )
        return info_motion( what, json );
    if ( tr_import_is_named( what ) && tr_file_exists( what ) )
        return info_import( what, json );
    return info_scene( what, json );
}

const cli_command cli_command_info = {
    .name = "info",
    .usage = "FILE [--json]",
    .summary = "tell what is in a motion file or a scene",
    .details =
        "Of a BVH file: joints, frames, rate, height, units and up axis (and how they were found), channel\n"
        "layout, limbs, contacts with the ground, bounds, warnings. Of any other motion file: "
        "skeletons,\n"
        "takes, meshes and skins, warnings. Of a scene (file, folder of results or\n"
        "built-in name): frames, cast, props, obstacles and constraints by kind.",
    .min_operands = 1,
    .max_operands = 1,
    .options = ( const cli_option[] ){ { "json", 0, NULL, "print the same as JSON" }, { NULL } },
    .run = run_info,
};
