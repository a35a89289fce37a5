// convert: BVH to BVH, keeping the channel layout; one take of one skeleton of any other motion file to BVH;
// motions, scenes and results to files of other programs.
#include "cli.h"

#include <stdio.h>
#include <string.h>

// Lengths are offsets and position channels; angles stay, so nothing is computed again.
static void scale_lengths( tr_bvh *bvh, double scale )
{
    for ( int j = 0; j < bvh->skeleton.joint_count; ++j )
        bvh->skeleton.joints[j].offset = v3_scale( scale, bvh->skeleton.joints[j].offset );
    for ( int j = 0; j < bvh->skeleton.joint_count; ++j )
        for ( int c = 0; c < bvh->layouts[j].count; ++c )
            for ( int f = 0; bvh->layouts[j].channels[c] <= TR_BVH_Z_POSITION && f < bvh->frame_count; ++f )
                bvh->values[(size_t)f * bvh->channel_count + bvh->layouts[j].first + c] *= scale;
}

// Rate and up axis need the motion itself. It is read in file units (1 "metre" each), so that the numbers
// keep their size, and written back into the same layout, Y up.
static bool rework( tr_bvh *bvh, double fps, char up, tr_error *error )
{
    tr_bvh_import from = { .unit = 1, .up = up, .first = 0, .last = -1 };
    tr_bvh_import to = { .unit = 1, .up = 'y', .first = 0, .last = -1 };
    tr_motion motion = { 0 };
    tr_bvh out = { 0 };
    tr_clip clip = { 0 };
    bool ok = tr_bvh_to_motion( &motion, bvh, &from, error );
    if ( ok && fps > 0 && fps != motion.clip.fps ) {
        ok = tr_clip_resample( &clip, &motion.clip, fps, error );
        if ( ok ) {
            tr_clip_free( &motion.clip );
            motion.clip = clip;
        }
    }
    ok = ok && tr_bvh_from_motion( &out, &motion, bvh, &to, error );
    tr_motion_free( &motion );
    if ( !ok )
        return false;
    tr_bvh_free( bvh );
    *bvh = out;
    return true;
}

static void hint_at_axis( const cli_call *call, const tr_bvh *bvh )
{
    tr_bvh_import guess = tr_default_bvh_import();
    tr_bvh_guess( bvh, &guess );
    if ( guess.up != 'z' || call->quiet )
        return;
    char safe[4096];
    tr_print_safe( safe, sizeof safe, call->operands[0], "" );
    fprintf( stderr, "troupe: %s looks Z up and stays so; add --up z to turn it to Y up.\n", safe );
}

typedef struct change { // what the options ask of a motion
    int family;         // family of names that joints get; -1: they keep theirs
    double fps, scale;  // fps 0: as it is
    double rate;        // rate of the file; 0: its own
    char up;            // up axis of the file; 0: its own
} change;

static tr_import_def import_def( const cli_call *call, const change *c )
{
    return ( tr_import_def ){ .skeleton = cli_value( call, "skeleton" ),
                              .take = cli_value( call, "take" ),
                              .up = c->up,
                              .fps = c->fps,
                              .rate = c->rate };
}

static bool rename_joints( tr_skeleton *skeleton, int family, tr_error *error )
{
    int renamed;
    if ( family < 0 )
        return true;
    return tr_family_rename( skeleton, family, &renamed, error ) &&
           ( renamed > 0 || tr_error_set( error, "no joint of it is known, so none can be renamed" ) );
}

// Centimetres, Y up, at the rate of the file's keys or the one asked for.
static bool load_import( tr_bvh *out, const cli_call *call, const change *c, tr_log *warnings,
                         tr_error *error )
{
    tr_import_def def = import_def( call, c );
    tr_motion motion;
    bool ok = tr_motion_read( &motion, call->operands[0], &def, warnings, error ) &&
              rename_joints( &motion.skeleton, c->family, error ) &&
              tr_bvh_from_motion( out, &motion, NULL, NULL, error );
    tr_motion_free( &motion );
    return ok;
}

static bool is_motion( const char *path )
{
    return tr_path_ends_with( path, ".bvh" ) || tr_import_is_named( path );
}

static bool spares_input( const char *in, const char *out, tr_error *error )
{
    return !cli_same_file( in, out ) ||
           tr_error_at( error, out, 0, 0,
                        "this is the file to be read, which stays as it is; choose another output" );
}

static int convert_to_bvh( const cli_call *call, const change *c )
{
    tr_bvh bvh = { 0 };
    tr_log warnings = { 0 };
    tr_error error = { 0 };
    bool import = tr_import_is_named( call->operands[0] );
    bool ok = spares_input( call->operands[0], call->operands[1], &error );
    if ( ok )
        ok = import ? load_import( &bvh, call, c, &warnings, &error )
                    : tr_bvh_load( &bvh, call->operands[0], &warnings, &error );
    cli_print_warnings( call, &warnings );
    if ( ok && c->up == 0 && !import )
        hint_at_axis( call, &bvh );
    if ( ok && !import && ( c->fps > 0 || c->up == 'z' ) )
        ok = rework( &bvh, c->fps, c->up == 'z' ? 'z' : 'y', &error );
    if ( ok && !import )
        ok = rename_joints( &bvh.skeleton, c->family, &error );
    if ( ok && c->scale != 1 )
        scale_lengths( &bvh, c->scale );
    ok = ok && tr_bvh_save( &bvh, call->operands[1], &error );
    if ( ok && !call->quiet )
        cli_say( "%s: %d frame%s at %.6g fps\n", call->operands[1], bvh.frame_count,
                 cli_plural( bvh.frame_count ), 1 / bvh.frame_time );
    tr_bvh_free( &bvh );
    tr_log_free( &warnings );
    return ok ? CLI_OK : cli_fail( &error );
}

// ------------------------------------------------------------------------------------- for other programs

static void scale_motion( tr_motion *motion, double scale )
{
    tr_clip *clip = &motion->clip;
    size_t cells = (size_t)clip->frame_count * (size_t)clip->joint_count;
    for ( int j = 0; j < motion->skeleton.joint_count; ++j )
        motion->skeleton.joints[j].offset = v3_scale( scale, motion->skeleton.joints[j].offset );
    for ( int f = 0; f < clip->frame_count; ++f )
        clip->root[f] = v3_scale( scale, clip->root[f] );
    for ( size_t i = 0; clip->translations != NULL && i < cells; ++i )
        clip->translations[i] = v3_scale( scale, clip->translations[i] );
}

static bool load_motion( tr_motion *out, const cli_call *call, const change *c, tr_log *warnings,
                         tr_error *error )
{
    tr_import_def def = import_def( call, c );
    if ( !tr_motion_read( out, call->operands[0], &def, warnings, error ) ||
         !rename_joints( &out->skeleton, c->family, error ) )
        return false;
    if ( c->scale != 1 )
        scale_motion( out, c->scale );
    tr_clip clip;
    if ( !( c->fps > 0 ) || c->fps == out->clip.fps )
        return true;
    if ( !tr_clip_resample( &clip, &out->clip, c->fps, error ) )
        return false;
    tr_clip_free( &out->clip );
    out->clip = clip;
    return true;
}

static void say_written( const cli_call *call, const tr_exchange *x )
{
    if ( call->quiet )
        return;
    cli_say( "%s: %d character%s, %d thing%s, %d frame%s at %.6g fps\n", call->operands[1], x->body_count,
             cli_plural( x->body_count ), x->thing_count, cli_plural( x->thing_count ), x->frame_count,
             cli_plural( x->frame_count ), x->fps );
}

static tr_compose_def compose_def( const cli_call *call )
{
    tr_compose_def def = tr_default_compose_def();
    def.bodies = cli_value( call, "bones" ) == NULL;
    def.only = cli_value( call, "only" );
    def.looks = def.bodies && tr_path_ends_with( call->operands[1], ".glb" );
    def.figures = def.figures && cli_value( call, "no-figures" ) == NULL &&
                  tr_path_ends_with( call->operands[1], ".glb" );
    return def;
}

static bool write_exchange( const cli_call *call, const tr_exchange *x, tr_error *error )
{
    tr_exchange_def def = { .each = cli_value( call, "each" ) != NULL };
    return tr_exchange_save( x, call->operands[1], &def, error );
}

// The mesh that a glTF file has for its skeleton.
static bool wear_look( tr_exchange *x, const cli_call *call, const change *c, tr_log *warnings,
                       tr_error *error )
{
    tr_import_def def = { .skeleton = cli_value( call, "skeleton" ), .up = c->up };
    tr_exchange_body *body = &x->bodies[0];
    body->renamed = c->family >= 0;
    if ( !tr_exchange_find_look( x, &body->look, call->operands[0], &def, warnings, error ) )
        return false;
    if ( body->look != NULL && !tr_look_fits( body->look, body->skeleton, NULL ) ) {
        body->look = NULL;
        tr_log_add( warnings, "%s: its meshes need another skeleton, so they are not passed on",
                    call->operands[0] );
    }
    return true;
}

static int convert_motion( const cli_call *call, const change *c )
{
    tr_motion motion = { 0 };
    tr_exchange x = { 0 };
    tr_log warnings = { 0 };
    tr_error error = { 0 };
    tr_compose_def def = compose_def( call );
    const char *slash = strrchr( call->operands[0], '/' ),
               *name = slash != NULL ? slash + 1 : call->operands[0];
    char *stem = tr_string_format( "%.*s", (int)( strrchr( name, '.' ) - name ), name );
    bool ok = stem != NULL || tr_error_memory( &error );
    ok = ok && spares_input( call->operands[0], call->operands[1], &error ) &&
         load_motion( &motion, call, c, &warnings, &error ) &&
         tr_compose_motion( &x, &motion, stem[0] != 0 ? stem : "body", &def, &error ) &&
         ( !def.looks || wear_look( &x, call, c, &warnings, &error ) );
    cli_print_warnings( call, &warnings );
    ok = ok && write_exchange( call, &x, &error );
    if ( ok )
        say_written( call, &x );
    tr_exchange_free( &x );
    tr_motion_free( &motion );
    tr_log_free( &warnings );
    tr_free( stem );
    return ok ? CLI_OK : cli_fail( &error );
}

// ------------------------------------------------------------------------------------ scenes and results

// The character of a BVH file: the one that is named, or the only one.
static int find_character( const cli_call *call, const tr_scene *scene, tr_error *error )
{
    const char *only = cli_value( call, "only" );
    int found = only != NULL ? tr_scene_find_cast( scene, only ) : scene->cast_count == 1 ? 0 : -1;
    if ( found < 0 && only == NULL )
        tr_error_set( error,
                      "a BVH file holds one character, and there are %d; name one with --only, as in --only "
                      "%s, or write a .glb file",
                      scene->cast_count, scene->cast_count > 0 ? scene->cast[0].id : "p01" );
    return found;
}

static bool check_only( const cli_call *call, const tr_scene *scene, tr_error *error )
{
    const char *only = cli_value( call, "only" );
    return only == NULL || tr_scene_find_cast( scene, only ) >= 0 ||
           tr_error_set( error, "there is no character '%s' in it; 'troupe info %s' lists the characters",
                         only, call->operands[0] );
}

// Characters whose joints are not known keep their names.
static bool rename_cast( cli_subject *subject, int family, tr_error *error )
{
    int all = 0, renamed = 0;
    for ( int i = 0; family >= 0 && i < subject->result.actor_count; ++i, all += renamed )
        if ( !tr_family_rename( &subject->result.motions[i].skeleton, family, &renamed, error ) )
            return false;
    return family < 0 || all > 0 ||
           tr_error_set( error, "no joint of its characters is known, so none can be renamed" );
}

static bool convert_subject( cli_subject *subject, const cli_call *call, const change *c, tr_error *error )
{
    const char *out = call->operands[1];
    bool bvh = tr_path_ends_with( out, ".bvh" );
    if ( !cli_subject_open( subject, call->operands[0], 0, error ) ||
         !check_only( call, &subject->scene, error ) )
        return false;
    int character = bvh ? find_character( call, &subject->scene, error ) : -1;
    if ( ( bvh && character < 0 ) || !cli_subject_stage( subject, error ) )
        return false;
    cli_print_warnings( call, &subject->warnings );
    if ( !cli_subject_spares_inputs( subject, NULL, out, error ) ||
         !cli_subject_solve( subject, call, cli_method( call, subject ), error ) ||
         !rename_cast( subject, c->family, error ) )
        return false;
    if ( bvh ) {
        const tr_motion *motion = &subject->result.motions[character];
        if ( !tr_motion_save( motion, out, error ) )
            return false;
        if ( !call->quiet )
            cli_say( "%s: %d frame%s at %.6g fps\n", out, motion->clip.frame_count,
                     cli_plural( motion->clip.frame_count ), motion->clip.fps );
        return true;
    }
    tr_exchange x;
    tr_compose_def def = compose_def( call );
    def.file = subject->file;
    tr_log warnings = { 0 };
    bool ok = tr_compose( &x, &subject->stage, &subject->result, &def, &warnings, error );
    for ( int i = 0; ok && i < x.body_count; ++i )
        x.bodies[i].renamed = c->family >= 0;
    ok = ok && write_exchange( call, &x, error );
    cli_print_warnings( call, &warnings );
    tr_log_free( &warnings );
    if ( ok )
        say_written( call, &x );
    tr_exchange_free( &x );
    return ok;
}

// Options that belong to the other kind of input are refused.
static const char *misplaced( const cli_call *call, const char *const *options )
{
    for ( ; *options != NULL; ++options )
        if ( cli_value( call, *options ) != NULL )
            return *options;
    return NULL;
}

static int wrong_family( const char *name )
{
    char names[300] = "";
    size_t used = 0;
    for ( int i = 0; i < tr_family_count() && used < sizeof names; ++i )
        used += (size_t)snprintf( names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                  tr_family_name( i ) );
    return cli_wrong( "--names '%s' is no family of rigs; there are %s", name, names );
}

static int run_convert( const cli_call *call )
{
    static const char *const of_motions[] = { "take", "skeleton", "fps", "rate", "scale", "up", NULL };
    static const char *const of_scenes[] = { "only", "method", "no-figures", NULL };
    static const char *const of_others[] = { "bones", "each", "no-figures", NULL };
    const char *in = call->operands[0], *out = call->operands[1], *up = cli_value( call, "up" );
    change c = { .scale = 1, .family = -1 };
    tr_exchange_format format;
    bool motion = is_motion( in ), bvh = tr_path_ends_with( out, ".bvh" );
    if ( !cli_number( call, "fps", 0.1, 10000, &c.fps ) ||
         !cli_number( call, "scale", 1e-6, 1e6, &c.scale ) ||
         !cli_number( call, "rate", 0.1, 10000, &c.rate ) || !cli_method_exists( call ) ||
         !cli_threads( call ) )
        return CLI_USAGE;
    if ( up != NULL && strcmp( up, "y" ) != 0 && strcmp( up, "z" ) != 0 )
        return cli_wrong( "--up must be y or z, not '%s'", up );
    c.up = up != NULL ? up[0] : 0;
    if ( cli_value( call, "names" ) != NULL &&
         ( c.family = tr_family_find( cli_value( call, "names" ) ) ) < 0 )
        return wrong_family( cli_value( call, "names" ) );
    if ( !bvh && !tr_exchange_format_of( out, &format ) )
        return cli_wrong( "the output '%s' must end in .bvh, .glb, .usda or .npz", out );
    const char *wrong = misplaced( call, motion ? of_scenes : of_motions );
    if ( wrong != NULL )
        return cli_wrong( "--%s is for %s, and '%s' is %s", wrong,
                          motion ? "scenes and results" : "motion files", in,
                          motion ? "a motion file" : "none" );
    wrong = bvh ? misplaced( call, of_others ) : NULL;
    if ( wrong != NULL )
        return cli_wrong( "--%s is not for BVH files", wrong );
    if ( tr_path_ends_with( in, ".bvh" ) &&
         ( cli_value( call, "take" ) != NULL || cli_value( call, "skeleton" ) != NULL ) )
        return cli_wrong(
            "--take and --skeleton choose within files that hold several; a BVH file holds one of each" );
    if ( cli_value( call, "rate" ) != NULL && motion && tr_path_ends_with( in, ".bvh" ) )
        return cli_wrong( "a BVH file says how many frames a second it has; --fps resamples it" );
    if ( motion )
        return bvh ? convert_to_bvh( call, &c ) : convert_motion( call, &c );
    cli_subject subject = { 0 };
    tr_error error = { 0 };
    int code = convert_subject( &subject, call, &c, &error ) ? CLI_OK : cli_subject_fail( &subject, &error );
    cli_subject_close( &subject );
    return code;
}

const cli_command cli_command_convert = {
    .name = "convert",
    .usage = "IN OUT.bvh|.glb|.usda|.npz [--only ID] [--take NAME] [--skeleton NAME] [--fps F] [--scale S]",
    .summary = "write a motion, a scene or results as another kind of file",
    .details =
        "IN is a motion file (BVH, glTF, GLB, VRM, FBX; places of joints or poses of SMPL as NPZ, NPY, CSV), "
        "a "
        "folder\n"
        "of results, or a scene, which is solved first.\n"
        "GLB and USD hold the whole cast with its bodies, props and surroundings; GLB also contacts and "
        "figures\n"
        "('extras' of its scene), NPZ arrays for numpy (docs/files.md). From BVH to BVH, joint order, "
        "rotation\n"
        "orders and channels stay as they are, and without options every value. Other motion files give "
        "one\n"
        "skeleton in one take, which 'troupe info' lists.",
    .min_operands = 2,
    .max_operands = 2,
    .options =
        ( const cli_option[] ){
            { "only", 0, "ID", "one character of a scene; a BVH file holds no more" },
            { "method", 'm', "M", "way of solving a scene, see below" },
            { "threads", 'j', "N", "processors to use; 0 (the default) = all" },
            CLI_MEMORY,
            { "bones", 0, NULL, "skeletons without bodies around them (.glb, .usda)" },
            { "each", 0, NULL, "an animation for each character, not one for all (.glb)" },
            { "no-figures", 0, NULL, "do not measure the result (.glb)" },
            { "take", 0, "NAME",
              "take of a file with several, by name or number (default: the first that moves it)" },
            { "skeleton", 0, "NAME", "skeleton of it, by name or number (default: the first)" },
            { "names", 0, "FAMILY",
              "joints get the names of mixamo, ue4, ue5, rigify, rokoko, cmu, lafan, smplx, vroid, vrm, "
              "biped, "
              "humanik" },
            { "fps", 0, "F", "resample a motion to F frames a second, same duration" },
            { "scale", 0, "S", "multiply every length of a motion by S (0.01: centimetres to metres)" },
            { "rate", 0, "F",
              "frames a second of a file of places (NPZ, NPY, CSV; default: as it says, else 30)" },
            { "up", 0, "y|z",
              "up axis of a motion: z turns it to Y up, y leaves it alone (default: y; others: as the "
              "file "
              "says)" },
            { NULL },
        },
    .run = run_convert,
};
