// convert: BVH to BVH, keeping the channel layout; one take of one skeleton of a glTF or FBX file to BVH.
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

// Centimetres, Y up, at the rate of the file's keys or the one asked for.
static bool load_import( tr_bvh *out, const cli_call *call, double fps, char up, tr_log *warnings,
                         tr_error *error )
{
    tr_import_def def = {
        .skeleton = cli_value( call, "skeleton" ), .take = cli_value( call, "take" ), .up = up, .fps = fps };
    tr_motion motion;
    bool ok = tr_motion_read( &motion, call->operands[0], &def, warnings, error ) &&
              tr_bvh_from_motion( out, &motion, NULL, NULL, error );
    tr_motion_free( &motion );
    return ok;
}

static int run_convert( const cli_call *call )
{
    double fps = 0, scale = 1;
    const char *up = cli_value( call, "up" );
    if ( !cli_number( call, "fps", 0.1, 10000, &fps ) || !cli_number( call, "scale", 1e-6, 1e6, &scale ) )
        return CLI_USAGE;
    if ( up != NULL && strcmp( up, "y" ) != 0 && strcmp( up, "z" ) != 0 )
        return cli_wrong( "--up must be y or z, not '%s'", up );
    if ( !tr_path_ends_with( call->operands[1], ".bvh" ) )
        return cli_wrong( "the output '%s' must end in .bvh", call->operands[1] );
    tr_bvh bvh = { 0 };
    tr_log warnings = { 0 };
    tr_error error = { 0 };
    bool ok = !cli_same_file( call->operands[0], call->operands[1] ) ||
              tr_error_at( &error, call->operands[1], 0, 0,
                           "this is the file to be read, which stays as it is; choose another output" );
    bool import = tr_import_is_named( call->operands[0] );
    if ( !import && ( cli_value( call, "take" ) != NULL || cli_value( call, "skeleton" ) != NULL ) )
        return cli_wrong(
            "--take and --skeleton choose within glTF and FBX files; a BVH file holds one of each" );
    if ( ok )
        ok = import ? load_import( &bvh, call, fps, up != NULL ? up[0] : 0, &warnings, &error )
                    : tr_bvh_load( &bvh, call->operands[0], &warnings, &error );
    cli_print_warnings( call, &warnings );
    if ( ok && up == NULL && !import )
        hint_at_axis( call, &bvh );
    bool turn = up != NULL && up[0] == 'z';
    if ( ok && !import && ( fps > 0 || turn ) )
        ok = rework( &bvh, fps, turn ? 'z' : 'y', &error );
    if ( ok && scale != 1 )
        scale_lengths( &bvh, scale );
    ok = ok && tr_bvh_save( &bvh, call->operands[1], &error );
    if ( ok && !call->quiet )
        cli_say( "%s: %d frame%s at %.6g fps\n", call->operands[1], bvh.frame_count,
                 cli_plural( bvh.frame_count ), 1 / bvh.frame_time );
    tr_bvh_free( &bvh );
    tr_log_free( &warnings );
    return ok ? CLI_OK : cli_fail( &error );
}

const cli_command cli_command_convert = {
    .name = "convert",
    .usage = "IN.bvh|.glb|.fbx OUT.bvh [--take NAME] [--skeleton NAME] [--fps F] [--scale S] [--up y|z]",
    .summary = "rewrite a motion file at another rate, size or up axis",
    .details = "IN is a BVH, glTF, GLB, VRM or FBX file. Of BVH, joint order, rotation orders and channels "
               "stay as they\n"
               "are; without options so does every value. Others are written in centimetres with Y up: one "
               "skeleton in\n"
               "one take, which 'troupe info' lists.",
    .min_operands = 2,
    .max_operands = 2,
    .options =
        ( const cli_option[] ){
            { "take", 0, "NAME",
              "take of a glTF or FBX file, by name or number (default: the first that moves it)" },
            { "skeleton", 0, "NAME", "skeleton of it, by name or number (default: the first)" },
            { "fps", 0, "F", "resample to F frames a second, same duration" },
            { "scale", 0, "S", "multiply every length by S (0.01: centimetres to metres)" },
            { "up", 0, "y|z",
              "up axis of IN: z turns the motion to Y up, y leaves it alone (default: y; glTF, FBX: as the "
              "file says)" },
            { NULL },
        },
    .run = run_convert,
};
