// The temporary folder: scenes and motions to be opened, and a lock on everything else.
#include "captures.h"
#include "random_events.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#if __has_include( <linux/landlock.h>)
#include <linux/landlock.h>
#endif
#endif

static void write_file( const char *path, const char *text )
{
    tr_error error = { 0 };
    check_that( tr_file_write( path, text, strlen( text ), &error ), "files: %s", error.message );
}

static void write_cut( const char *name, int cast, int frame_count, const char *path )
{
    tr_opened o;
    tr_error error = { 0 };
    check_that( tr_open( &o, name, cast, &error ), "files: %s", error.message );
    int middle = ( o.scene.first + o.scene.last ) / 2;
    o.scene.first = middle - frame_count / 2;
    o.scene.last = o.scene.first + frame_count - 1;
    check_that( tr_scene_save_beside( &o.scene, &o.library, NULL, path, &error ), "files: %s: %s", path,
                error.message );
    tr_opened_free( &o );
}

static void write_person( const char *path, int frame_count )
{
    static const char skeleton[] =
        "HIERARCHY\nROOT Hips {\nOFFSET 0 0 0\n"
        "CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n"
        "JOINT LeftUpLeg { OFFSET 9 0 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT LeftLeg { OFFSET 0 -42 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT LeftFoot { OFFSET 0 -42 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "End Site { OFFSET 0 -6 14 } } } }\n"
        "JOINT RightUpLeg { OFFSET -9 0 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT RightLeg { OFFSET 0 -42 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT RightFoot { OFFSET 0 -42 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "End Site { OFFSET 0 -6 14 } } } }\n"
        "JOINT Spine { OFFSET 0 12 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT Head { OFFSET 0 36 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "End Site { OFFSET 0 18 0 } }\n"
        "JOINT LeftArm { OFFSET 14 26 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT LeftForeArm { OFFSET 26 0 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT LeftHand { OFFSET 24 0 0 CHANNELS 3 Zrotation Yrotation Xrotation\n"
        "End Site { OFFSET 8 0 0 } } } } } }\n";
    tr_text text = { 0 };
    tr_text_add( &text, "%sMOTION\nFrames: %d\nFrame Time: 0.0333333\n", skeleton, frame_count );
    for ( int f = 0; f < frame_count; ++f ) {
        tr_text_add( &text, "0 90 %d", 3 * f );
        for ( int c = 0; c < 36; ++c )
            tr_text_add( &text, " %g", 8 * sin( 0.2 * f + c ) );
        tr_text_add( &text, "\n" );
    }
    write_file( path, text.data );
    tr_text_free( &text );
}

static const char *const captures[] = { "lift.bvh", "human-misc/xia_neutral_16_000.bvh",
                                        "bvh-quirks/walk01.bvh", "cmu-single/49_06.bvh" };

void files_write( const char *base )
{
    static const char empty[] =
        "{\"version\": 1, \"fps\": 30, \"range\": [0, %d], \"cast\": [], \"props\": [],\n"
        "\"environment\": {\"ground\": 0, \"boxes\": [%s]}, \"constraints\": [], "
        "\"layers\": []}\n";
    char text[600], command[3 * PATH_LENGTH];
    check_that( chdir( base ) == 0 && mkdir( "files", 0755 ) == 0 && mkdir( "readonly", 0755 ) == 0 &&
                    mkdir( "desk", 0755 ) == 0,
                "files: no folder in %s", base );
    int count;
    const tr_scene_entry *entries = tr_scene_table( &count );
    for ( int i = 0; i < count; ++i ) {
        char path[PATH_LENGTH];
        snprintf( path, sizeof path, "files/%s.json", entries[i].name );
        write_cut( entries[i].name, entries[i].min_cast, 16, path );
    }
    write_cut( "box_relay", 3, 1, "files/one_frame.json" );
    write_cut( "car_entry", 0, 1, "files/one_frame_car.json" );
    write_cut( "high_five", 0, 10, "readonly/duet.json" );
    snprintf( text, sizeof text, empty, 14, "" );
    write_file( "files/nobody.json", text );
    snprintf( text, sizeof text, empty, 0,
              "{\"id\": \"wall\", \"size\": [1, 1, 1], \"position\": [0, 0.5, 0], \"heading\": 41}" );
    write_file( "files/nobody_one_frame.json", text );
    snprintf( text, sizeof text, empty, 14,
              "{\"id\": \"ramp\", \"shape\": \"mesh\", \"mesh\": {\"file\": \"gone.obj\"}, "
              "\"position\": [3, 0, 0], \"heading\": 41}" );
    write_file( "files/nobody_gone.json", text );
    write_person( "files/person.bvh", 40 );
    write_person( "files/still.bvh", 1 );
    write_file( "files/broken.bvh", "HIERARCHY\nROOT Hips { OFFSET 0 0" );
    write_file( "files/empty.bvh", "" );
    write_file( "files/broken.json", "{ \"version\": " );
    write_file( "files/note.txt", "no scene\n" );
    for ( size_t i = 0; i < sizeof captures / sizeof *captures; ++i ) {
        if ( !have_capture( captures[i] ) )
            continue;
        snprintf( command, sizeof command, "cp '%s' files/", capture_path( text, captures[i] ) );
        check_that( system( command ) == 0, "files: %s", command );
    }
}

// ---------------------------------------------------------------------------------------------------- scenes

static void add_scene( scene_list *list, const char *what, int cast )
{
    step *s = &list->items[list->count];
    *s = ( step ){ .kind = STEP_OPEN, .a = cast };
    snprintf( s->path, sizeof s->path, "%s", what );
    ++list->count;
}

// Built-in scenes as they are, with a small cast where they have many; the same cut short, which are solved
// within moments; scenes without a cast and of one frame; lone motions.
void scene_list_fill( scene_list *list, const options *o )
{
    static const char *const others[] = { "nobody.json",          "one_frame.json", "person.bvh",
                                          "nobody_gone.json",     "still.bvh",      "one_frame_car.json",
                                          "nobody_one_frame.json" };
    char what[PATH_LENGTH];
    int count;
    const tr_scene_entry *entries = tr_scene_table( &count );
    if ( o->scene != NULL ) {
        const char *colon = strrchr( o->scene, ':' );
        snprintf( what, sizeof what, "%.*s", colon != NULL ? (int)( colon - o->scene ) : PATH_LENGTH - 1,
                  o->scene );
        add_scene( list, what, colon != NULL ? atoi( colon + 1 ) : 0 );
        return;
    }
    for ( int i = 0; i < count; ++i ) {
        const tr_scene_entry *e = &entries[i];
        int few = e->min_cast > 4 ? e->min_cast : 4;
        add_scene( list, e->name, e->default_cast > few ? few : 0 );
        snprintf( what, sizeof what, "%s.json", e->name );
        add_scene( list, what, 0 );
        if ( i < (int)( sizeof others / sizeof *others ) )
            add_scene( list, others[i], 0 );
        if ( i < (int)( sizeof captures / sizeof *captures ) && have_capture( captures[i] ) ) {
            const char *slash = strrchr( captures[i], '/' );
            add_scene( list, slash != NULL ? slash + 1 : captures[i], 0 );
        }
    }
}

// ------------------------------------------------------------------------------------------------------ lock

// Only `folder` and devices can be written.
static void lock_files( const char *folder )
{
#ifdef LANDLOCK_ACCESS_FS_WRITE_FILE
    const char *const open_to_all[] = { folder, "/dev" };
    struct landlock_ruleset_attr rules = {
        .handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                             LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                             LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_SYM };
    int set = (int)syscall( SYS_landlock_create_ruleset, &rules, sizeof rules, 0 );
    if ( set < 0 )
        return;
    for ( int i = 0; i < 2; ++i ) {
        struct landlock_path_beneath_attr rule = { .allowed_access = rules.handled_access_fs,
                                                   .parent_fd = open( open_to_all[i], O_PATH | O_CLOEXEC ) };
        syscall( SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &rule, 0 );
        close( rule.parent_fd );
    }
    check_that( prctl( PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0 ) == 0 &&
                    syscall( SYS_landlock_restrict_self, set, 0 ) == 0,
                "files: cannot be protected" );
    close( set );
#else
    (void)folder;
#endif
}

void files_move_in( const char *base, char folder[PATH_LENGTH] )
{
    static const char *const names[] = { "HOME",          "XDG_STATE_HOME",  "XDG_CACHE_HOME",
                                         "XDG_DATA_HOME", "XDG_CONFIG_HOME", "TMPDIR" };
    snprintf( folder, PATH_LENGTH, "%s/desk", base );
    for ( size_t i = 0; i < sizeof names / sizeof *names; ++i )
        setenv( names[i], folder, 1 );
    check_that( chdir( folder ) == 0, "files: no folder %s", folder );
    lock_files( folder );
}
