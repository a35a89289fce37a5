// render: pictures and videos, without any display.
#include "cli.h"
#include "ui/render/render.h"

#include <stdio.h>
#include <string.h>

#define MAX_PANELS 6

typedef struct shot { // what is to be drawn and onto what
    cli_subject subject;
    const tr_method *ways[MAX_PANELS]; // methods, one panel each, in order; NULL: the source
    tr_result others[MAX_PANELS];      // what they came to; the only panel's is the subject's
    int panel_count;
    bool stacked; // panels one below the other
    tr_view_def view;
    tr_camera camera;
    int width, height;
    int first, last; // stage frames; equal for a picture
    tr_headless *headless;
    tr_renderer *renderer;
    tr_draw_list list;
    unsigned char *rgb;   // [height * width * 3]
    unsigned char *panel; // the same size: one panel, before it is put in its place
} shot;

// ---------------------------------------------------------------------------------------------- arguments

static const struct {
    const char *name;
    size_t offset;
} show_table[] = {
    { "bodies", offsetof( tr_view_def, bodies ) },     { "skeleton", offsetof( tr_view_def, skeleton ) },
    { "graph", offsetof( tr_view_def, pose_graph ) },  { "trails", offsetof( tr_view_def, trails ) },
    { "ghosts", offsetof( tr_view_def, ghosts ) },     { "source", offsetof( tr_view_def, source ) },
    { "contacts", offsetof( tr_view_def, contacts ) },
};
#define SHOW_COUNT ( sizeof show_table / sizeof show_table[0] )

static bool *show_switch( tr_view_def *view, size_t row )
{
    return (bool *)( (char *)view + show_table[row].offset );
}

static int unknown_part( const char *word )
{
    const char *names[SHOW_COUNT + 1] = { NULL };
    for ( size_t i = 0; i < SHOW_COUNT; ++i )
        names[i] = show_table[i].name;
    return cli_wrong_word( "part to --show called", word, names );
}

// "bodies,trails": exactly these.
static bool read_show( tr_view_def *view, const char *text )
{
    if ( text == NULL )
        return true;
    for ( size_t i = 0; i < SHOW_COUNT; ++i )
        *show_switch( view, i ) = false;
    for ( const char *at = text;; ) {
        size_t length = strcspn( at, "," ), row = 0;
        while ( row < SHOW_COUNT && ( strlen( show_table[row].name ) != length ||
                                      strncmp( show_table[row].name, at, length ) != 0 ) )
            ++row;
        if ( row == SHOW_COUNT ) {
            char word[32];
            snprintf( word, sizeof word, "%.*s", (int)length, at );
            return unknown_part( word ) == CLI_OK;
        }
        *show_switch( view, row ) = true;
        if ( at[length] == 0 )
            return true;
        at += length + 1;
    }
}

// "source,copy,posegraph": a panel for each.
static bool read_beside( shot *out, const char *text )
{
    const char *names[32] = { "source" };
    int count;
    const tr_method *methods = tr_method_table( &count );
    for ( int i = 0; i < count && i < 30; ++i )
        names[i + 1] = methods[i].name;
    for ( const char *at = text;; ) {
        char word[32];
        size_t length = strcspn( at, "," );
        snprintf( word, sizeof word, "%.*s", (int)length, at );
        const tr_method *method = tr_method_find( word );
        if ( method == NULL && strcmp( word, "source" ) != 0 )
            return cli_wrong_word( "panel", word, names ) == CLI_OK;
        if ( out->panel_count == MAX_PANELS )
            return cli_wrong( "--beside takes at most %d panels", MAX_PANELS ) == CLI_OK;
        out->ways[out->panel_count++] = method;
        if ( at[length] == 0 )
            return true;
        at += length + 1;
    }
}

// "--beside source": beside the result, that is.
static bool is_source_alone( const shot *out )
{
    return out->panel_count == 1 && out->ways[0] == NULL;
}

static bool is_video( const char *path )
{
    return tr_path_ends_with( path, ".mp4" ) || tr_path_ends_with( path, ".gif" );
}

// Everything that can be said before files are opened.
static bool read_options( shot *out, const cli_call *call )
{
    const char *path = cli_value( call, "out" ), *view = cli_value( call, "view" ),
               *beside = cli_value( call, "beside" );
    out->view = tr_default_view_def();
    out->width = 1280;
    out->height = 720;
    if ( view != NULL )
        out->view.view = view;
    if ( !read_show( &out->view, cli_value( call, "show" ) ) ||
         !cli_size( call, "size", &out->width, &out->height ) ||
         ( beside != NULL && !read_beside( out, beside ) ) )
        return false;
    if ( beside != NULL && cli_value( call, "method" ) != NULL && !is_source_alone( out ) )
        return cli_wrong( "--beside names the methods itself; leave --method out" ) == CLI_OK;
    if ( !is_video( path ) && !tr_path_ends_with( path, ".png" ) )
        return cli_wrong( "the output '%s' must end in .png, .mp4 or .gif", path ) == CLI_OK;
    if ( is_video( path ) && cli_value( call, "frame" ) != NULL )
        return cli_wrong( "--frame is for pictures; a video takes --frames A:B" ) == CLI_OK;
    if ( !is_video( path ) && cli_value( call, "frames" ) != NULL )
        return cli_wrong( "--frames is for videos; a picture takes --frame N" ) == CLI_OK;
    if ( tr_path_ends_with( path, ".mp4" ) && ( out->width % 2 != 0 || out->height % 2 != 0 ) )
        return cli_wrong( "an .mp4 needs an even width and height, not %dx%d", out->width, out->height ) ==
               CLI_OK;
    if ( !tr_camera_view( &out->camera, out->view.view, v3_zero, v3_one, 1 ) )
        return cli_wrong( "--view must be auto, front, back, left, right, top or YAW,PITCH[,DISTANCE], "
                          "or \"flat \" and one of these, not '%s'",
                          out->view.view ) == CLI_OK;
    return true;
}

// Frames are counted as the scene counts them; the stage starts at 0.
static bool read_frames( shot *out, const cli_call *call )
{
    int first = out->subject.scene.first, last = first + out->subject.stage.frame_count - 1;
    int a = first, b = last, frame = first + ( last - first ) / 2;
    if ( !cli_range( call, "frames", first, last, &a, &b ) || !cli_int( call, "frame", first, last, &frame ) )
        return false;
    bool video = is_video( cli_value( call, "out" ) );
    out->first = ( video ? a : frame ) - first;
    out->last = ( video ? b : frame ) - first;
    return true;
}

// ------------------------------------------------------------------------------------------------ drawing

typedef struct box {
    int left, top, width, height; // pixels
} box;

// Panels stand side by side or, `stacked`, one below the other, a thin gap between them.
static box panel_box( const shot *out, int panel )
{
    int count = out->panel_count > 1 ? out->panel_count : 1, gap = 2;
    int length = out->stacked ? out->height : out->width;
    int begin = ( length + gap ) * panel / count, end = ( length + gap ) * ( panel + 1 ) / count - gap;
    return out->stacked ? ( box ){ 0, begin, out->width, end - begin }
                        : ( box ){ begin, 0, end - begin, out->height };
}

static const tr_result *panel_result( const shot *out, int panel )
{
    return out->panel_count > 1 ? &out->others[panel] : &out->subject.result;
}

// One camera for the whole shot, so that a video does not sway and panels can be compared: it frames
// everything that moves in any of them.
static bool shot_camera( const shot *out, tr_camera *camera, tr_error *error )
{
    box first = panel_box( out, 0 );
    int ghosts = out->view.ghosts ? out->view.ghost_step * out->view.ghosts_each_side : 0;
    return tr_view_camera( camera, &out->subject.stage, panel_result( out, 0 ),
                           out->panel_count > 1 ? out->panel_count : 1, out->first - ghosts,
                           out->last + ghosts, out->view.view, (double)first.width / first.height, error );
}

static double pixels_a_metre( const shot *out, const tr_camera *camera )
{
    double lens = tan( 0.5 * camera->field_of_view * TR_DEGREE );
    double metres = lens > 0 ? 2.0 * lens * v3_distance( camera->eye, camera->target ) : camera->ortho_height;
    return panel_box( out, 0 ).height / metres;
}

// Long lines of people are seen larger in wide panels, lone figures in tall ones.
static bool shot_arrange( shot *out, tr_error *error )
{
    tr_camera stacked;
    if ( !shot_camera( out, &out->camera, error ) )
        return false;
    if ( out->panel_count < 2 )
        return true;
    double columns = pixels_a_metre( out, &out->camera );
    out->stacked = true;
    if ( !shot_camera( out, &stacked, error ) )
        return false;
    out->stacked = pixels_a_metre( out, &stacked ) > columns;
    if ( out->stacked )
        out->camera = stacked;
    return true;
}

static bool shot_prepare( shot *out, tr_error *error )
{
    if ( !shot_arrange( out, error ) )
        return false;
    size_t pixels = (size_t)out->width * (size_t)out->height;
    out->rgb = tr_alloc( pixels, 3 );
    out->panel = tr_alloc( pixels, 3 );
    if ( out->rgb == NULL || out->panel == NULL )
        return tr_error_memory( error );
    memset( out->rgb, 255, 3 * pixels );
    out->headless = tr_headless_create( error );
    if ( out->headless == NULL )
        return false;
    out->renderer = tr_renderer_create( error );
    if ( out->renderer == NULL )
        return false;
    tr_renderer_set_still( out->renderer, out->first == out->last );
    return true;
}

static bool panel_draw( shot *out, int panel, int frame, tr_error *error )
{
    box at = panel_box( out, panel );
    tr_view_fill( &out->list, &out->subject.stage, panel_result( out, panel ), frame, &out->view );
    if ( out->list.failed )
        return tr_error_memory( error );
    if ( !tr_renderer_picture( out->renderer, &out->list, &out->camera, at.width, at.height, out->panel,
                               error ) )
        return false;
    size_t row = 3 * (size_t)out->width, part = 3 * (size_t)at.width;
    unsigned char *corner = out->rgb + (size_t)at.top * row + 3 * (size_t)at.left;
    for ( int y = 0; y < at.height; ++y )
        memcpy( corner + (size_t)y * row, out->panel + (size_t)y * part, part );
    return true;
}

static bool shot_draw( shot *out, int frame, tr_error *error )
{
    for ( int panel = 0; panel == 0 || panel < out->panel_count; ++panel )
        if ( !panel_draw( out, panel, frame, error ) )
            return false;
    return true;
}

static bool shot_video( shot *out, const cli_call *call, const char *path, tr_error *error )
{
    tr_video *video = tr_video_open( path, out->width, out->height, out->subject.stage.fps, error );
    if ( video == NULL )
        return false;
    cli_progress progress;
    cli_progress_begin( &progress, call, "drawing" );
    bool ok = true;
    for ( int frame = out->first; ok && frame <= out->last; ++frame ) {
        ok = tr_work_go_on( error ) && shot_draw( out, frame, error ) &&
             tr_video_frame( video, out->rgb, error );
        cli_progress_step( &progress, frame - out->first + 1, out->last - out->first + 1 );
    }
    cli_progress_end( &progress );
    if ( !ok ) {
        tr_video_discard( video );
        return false;
    }
    cli_progress_begin( &progress, call, "finishing" ); // ffmpeg may have most of its work before it
    cli_progress_wait( &progress );
    ok = tr_video_close( video, error );
    cli_progress_end( &progress );
    return ok;
}

static void shot_free( shot *out )
{
    tr_renderer_destroy( out->renderer );
    tr_headless_destroy( out->headless );
    tr_draw_free( &out->list );
    tr_free( out->rgb );
    tr_free( out->panel );
    for ( int i = 0; i < out->panel_count; ++i )
        tr_result_free( &out->others[i] );
    cli_subject_close( &out->subject );
}

static bool solve_panel( shot *out, const cli_call *call, int i, tr_error *error )
{
    tr_stage *stage = &out->subject.stage;
    tr_result *panel = &out->others[i];
    if ( out->ways[i] == NULL )
        return tr_result_from_source( panel, stage, error );
    if ( out->subject.folder != NULL )
        return tr_result_load( panel, stage, out->subject.folder, error );
    return cli_run_pipeline( panel, stage, call, out->ways[i], error );
}

static bool shot_solve( shot *out, const cli_call *call, tr_error *error )
{
    const tr_method *method = out->panel_count == 1 ? out->ways[0] : cli_method( call, &out->subject );
    if ( out->panel_count < 2 )
        return cli_subject_solve( &out->subject, call, method, error );
    for ( int i = 0; i < out->panel_count; ++i )
        if ( !solve_panel( out, call, i, error ) )
            return false;
    return true;
}

static int shoot( shot *out, const cli_call *call, int cast, tr_error *error )
{
    const char *path = cli_value( call, "out" );
    if ( !cli_subject_open( &out->subject, call->operands[0], cast, error ) ||
         !cli_subject_stage( &out->subject, error ) )
        return CLI_FAILED;
    if ( !read_frames( out, call ) )
        return CLI_USAGE;
    bool source_alone = is_source_alone( out );
    if ( source_alone )
        out->ways[out->panel_count++] = cli_method( call, &out->subject );
    if ( cli_value( call, "method" ) != NULL ||
         ( out->panel_count > 0 && !source_alone ) ) { // given: solve, even if the folder has results
        tr_free( out->subject.folder );
        out->subject.folder = NULL;
    }
    if ( !shot_solve( out, call, error ) || !shot_prepare( out, error ) )
        return CLI_FAILED;
    cli_print_warnings( call, &out->subject.warnings );
    bool ok = is_video( path ) ? shot_video( out, call, path, error )
                               : shot_draw( out, out->first, error ) &&
                                     tr_picture_save( path, out->width, out->height, out->rgb, error );
    if ( ok && !call->quiet )
        cli_say( "%s: %d × %d, %d frame%s\n", path, out->width, out->height, out->last - out->first + 1,
                 cli_plural( out->last - out->first + 1 ) );
    return ok ? CLI_OK : CLI_FAILED;
}

static int run_render( const cli_call *call )
{
    int cast = 0;
    shot out = { 0 };
    if ( !cli_method_exists( call ) || !cli_threads( call ) || !cli_int( call, "cast", 1, 100000, &cast ) ||
         !read_options( &out, call ) )
        return CLI_USAGE;
    tr_error error = { 0 };
    int code = shoot( &out, call, cast, &error );
    if ( code == CLI_FAILED )
        code = cli_subject_fail( &out.subject, &error );
    shot_free( &out );
    return code;
}

const cli_command cli_command_render = {
    .name = "render",
    .usage = "SCENE|FILE.json|DIR|MOTION -o X.png|X.mp4|X.gif [--frame N] [--size WxH] [--view V]",
    .summary = "draw a picture or a video; needs no display",
    .details =
        "A scene is solved first; a folder written by 'troupe retarget' and a lone motion file are drawn as\n"
        "they are.",
    .min_operands = 1,
    .max_operands = 1,
    .options =
        ( const cli_option[] ){
            { "out", 'o', "FILE", "picture (.png) or video (.mp4, .gif) to write", .required = true },
            { "frame", 0, "N", "frame of the picture; the middle one by default" },
            { "frames", 0, "A:B", "first and last frame of the video; all by default" },
            { "size", 0, "WxH", "pixels; 1280x720 by default" },
            { "view", 0, "V",
              "auto, front, back, left, right, top, or YAW,PITCH[,DISTANCE] in degrees, metres; \"flat "
              "top\": "
              "without perspective" },
            { "show", 0, "LIST",
              "of bodies,skeleton,graph,trails,ghosts,source,contacts; bodies by default" },
            { "method", 'm', "M", "way of solving, see below" },
            { "beside", 0, "LIST",
              "of source and methods: a panel each, seen by the same camera; source: beside the result" },
            { "threads", 'j', "N", "processors to use; 0 (the default) = all" },
            CLI_MEMORY,
            { "cast", 0, "N", "number of characters of a built-in scene" },
            { NULL },
        },
    .run = run_render,
};
