// The layer table: which module may include which. Fails on an #include that climbs, on a header that is
// private to another module, and on windows and graphics below ui/.
#include "source_tree.h"

// A module may include the headers of modules with a smaller rank, and its own. Modules of equal rank are
// siblings and do not know each other.
typedef struct module {
    const char *folder; // from the project's root
    const char *header; // its interface, as written in an #include; NULL = none
    int rank;
    const char *more[2]; // further headers for others, NULL = none
} module;

static const module modules[] = {
    { "include/troupe", NULL, 0 }, // what is installed and its examples know nothing of what is inside
    { "examples", NULL, 0 },
    { "src/base", "base/base.h", 0 },
    { "src/math", "math/math.h", 1, { "math/lanes.h", "math/lanes3.h" } },
    { "src/geometry", "geometry/geometry.h", 2 },
    { "src/solve", "solve/solve.h", 3 },
    { "src/motion", "motion/motion.h", 4 },
    { "src/fit", "fit/fit.h", 5 },
    { "src/io", "io/io.h", 4 },
    { "src/format", "format/format.h", 5 },
    { "src/import", "import/import.h", 6 },
    { "src/posegraph", "posegraph/posegraph.h", 6 },
    { "src/cage", "cage/cage.h", 6 },
    { "src/imesh", "imesh/imesh.h", 6 },
    { "src/exemplar", "exemplar/exemplar.h", 6 },
    { "src/actor", "actor/actor.h", 6 },
    { "src/exchange", "exchange/exchange.h", 7 },
    { "src/document", "document/document.h", 7 },
    { "src/stage", "stage/stage.h", 8 },
    { "src/result", "result/result.h", 9 },
    { "src/cluster", "cluster/cluster.h", 10 },
    { "src/measure", "measure/measure.h", 10 },
    { "src/compose", "compose/compose.h", 11 },
    { "src/closeness", "closeness/closeness.h", 11 },
    { "src/layer", "layer/layer.h", 11 },
    { "src/method", "method/method.h", 12 },
    { "src/pipeline", "pipeline/pipeline.h", 13 },
    { "src", "troupe.h", 14 }, // the umbrella
    { "scenes/kit", "scenes/kit/kit.h", 15 },
    { "scenes", "scenes/scenes.h", 16 },
    { "src/library", NULL, 17 },
    { "ui/render", "ui/render/render.h", 17 },
    { "ui/session", "ui/session/session.h", 18 },
    { "ui/shared", "ui/shared/shared.h", 19, { "ui/shared/state.h" } }, // what is seen without Nuklear
    { "ui/tools", "ui/tools/tools.h", 20 },
    { "ui/timeline", "ui/timeline/timeline.h", 21 },
    { "ui/panels", "ui/panels/panels.h", 21 },
    { "ui", "ui/ui.h", 22 },
    { "bench", "bench/bench.h", 23, { "bench/poster.h" } },
    { "cli", NULL, 24 },
    { "tests", NULL, 25 },
};
#define MODULE_COUNT ( (int)( sizeof modules / sizeof modules[0] ) )

static const char *const graphics[] = { "GL/",  "GLES",  "EGL/",      "epoxy/",    "GLFW/",
                                        "KHR/", "X11/",  "nuklear.h", "nuklear/",  "vulkan/",
                                        "SDL",  "glad/", "wayland",   "xkbcommon/" };

static bool starts_with( const char *text, const char *start )
{
    return strncmp( text, start, strlen( start ) ) == 0;
}

// The module whose folder holds the file; the deepest where one lies inside another.
static const module *module_of( const char *path )
{
    const module *best = NULL;
    for ( int i = 0; i < MODULE_COUNT; ++i ) {
        size_t length = strlen( modules[i].folder );
        if ( starts_with( path, modules[i].folder ) && path[length] == '/' &&
             ( best == NULL || length > strlen( best->folder ) ) )
            best = &modules[i];
    }
    // A folder under src/ that has no row is no part of the umbrella, but a module the table does not know.
    if ( best != NULL && strcmp( best->folder, "src" ) == 0 && strchr( path + 4, '/' ) != NULL )
        return NULL;
    return best;
}

// Removes "x/.." and "./" from a path, in place.
static void path_normalise( char *path )
{
    char *up;
    while ( ( up = strstr( path, "/../" ) ) != NULL ) {
        char *before = up;
        while ( before > path && before[-1] != '/' )
            --before;
        memmove( before, up + 4, strlen( up + 4 ) + 1 );
    }
    while ( ( up = strstr( path, "/./" ) ) != NULL )
        memmove( up, up + 2, strlen( up + 2 ) + 1 );
}

// Where a quoted include of `file` leads, from the project's root. The compiler looks beside the file first,
// then in src/ and in the root; a first folder that names a module stands for that module.
static void include_resolve( char out[PATH_SIZE], const char *file, const char *include )
{
    char in_src[PATH_SIZE];
    snprintf( in_src, sizeof in_src, "src/%s", include );
    bool dots = starts_with( include, "." );
    const module *umbrella = !dots && strcmp( include, "troupe.h" ) == 0 ? module_of( in_src ) : NULL;
    const module *below = !dots && strchr( include, '/' ) != NULL ? module_of( in_src ) : umbrella;
    if ( below != NULL )
        snprintf( out, PATH_SIZE, "%s", in_src );
    else if ( !dots && module_of( include ) != NULL )
        snprintf( out, PATH_SIZE, "%s", include );
    else {
        snprintf( out, PATH_SIZE, "%.*s/%s", (int)( strrchr( file, '/' ) - file ), file, include );
        path_normalise( out );
    }
}

// NULL when `file` may include it, else what is wrong.
static const char *include_complaint( const char *file, const char *include, bool quoted )
{
    const module *from = module_of( file );
    if ( from == NULL )
        return "the file is in no module of the layer table";
    bool core = starts_with( file, "src/" ) || starts_with( file, "scenes/" );
    for ( size_t i = 0; core && i < sizeof graphics / sizeof graphics[0]; ++i )
        if ( starts_with( include, graphics[i] ) )
            return "windows and graphics belong to ui/";
    if ( !quoted )
        return NULL;
    char path[PATH_SIZE];
    include_resolve( path, file, include );
    const module *to = module_of( path );
    if ( to == NULL )
        return "it leads to no module of the layer table";
    if ( to == from )
        return NULL;
    if ( to->rank >= from->rank )
        return to->rank == from->rank ? "siblings do not include each other" : "it climbs the layer table";
    bool more = false;
    for ( int i = 0; i < 2; ++i )
        more = more || ( to->more[i] != NULL && strcmp( include, to->more[i] ) == 0 );
    if ( !more && ( to->header == NULL || strcmp( include, to->header ) != 0 ) )
        return "only the header named like the module may be included from outside";
    return NULL;
}

// How many includes of a source text are not allowed; says which if asked to.
static int text_check( const char *file, const char *text, bool print )
{
    int bad = 0, line = 1;
    for ( const char *at = text; at != NULL && *at != 0; ++line ) {
        char open = 0, include[256];
        at += strspn( at, " \t" ); // sscanf would skip the line's end, too
        if ( sscanf( at, "# include %c%255[^\">\n]", &open, include ) == 2 &&
             ( open == '"' || open == '<' ) ) {
            const char *complaint = include_complaint( file, include, open == '"' );
            bad += complaint != NULL;
            if ( complaint != NULL && print )
                print_error( "%s:%d: #include %s: %s\n", file, line, include, complaint );
        }
        at = strchr( at, '\n' );
        at = at == NULL ? NULL : at + 1;
    }
    return bad;
}

static void the_project_keeps_its_layers( void **state )
{
    (void)state;
    int files = 0, bad = 0;
    static const char *const folders[] = { "include", "src", "scenes", "ui",
                                           "bench",   "cli", "tests",  "examples" };
    for ( size_t i = 0; i < sizeof folders / sizeof folders[0]; ++i )
        folder_check( folders[i], text_check, &files, &bad );
    assert_true( files > 20 );
    assert_int_equal( bad, 0 );
}

// How many lines of a file begin as `format` says, with a module in place of %s.
static int count_lines( const char *text, const char *format, const char *name )
{
    char start[128];
    snprintf( start, sizeof start, format, name );
    int count = 0;
    for ( const char *at = text; at != NULL && *at != 0; at = strchr( at, '\n' ) ) {
        at += *at == '\n';
        count += starts_with( at, start );
    }
    return count;
}

// The name of a module's target in CMakeLists.txt: src/cage is cage, ui/tools is ui_tools. False: it has
// none.
static bool target_name( char out[64], const char *folder )
{
    static const char *const others[] = { "include/troupe", "examples", "src", "cli", "tests" };
    for ( size_t i = 0; i < sizeof others / sizeof others[0]; ++i )
        if ( strcmp( folder, others[i] ) == 0 )
            return false;
    bool short_name = starts_with( folder, "src/" ) || strcmp( folder, "ui/render" ) == 0;
    snprintf( out, 64, "%s", short_name ? strchr( folder, '/' ) + 1 : folder );
    for ( char *c = out; ( c = strchr( c, '/' ) ) != NULL; )
        *c = '_';
    return true;
}

// The build, the page on the architecture and the table above name the same modules.
static void lists_of_modules_are_equal( void **state )
{
    (void)state;
    char *build = file_text( SOURCE_DIR "/CMakeLists.txt" ),
         *page = file_text( SOURCE_DIR "/docs/architecture.md" );
    int rows = 0, targets = 0;
    for ( int i = 0; i < MODULE_COUNT; ++i ) {
        const char *folder = modules[i].folder;
        char name[64];
        bool target = target_name( name, folder );
        targets += target;
        char line[128];
        snprintf( line, sizeof line, "%s %s ", name, folder );
        if ( target && count_lines( build, "troupe_module(%s", line ) +
                               count_lines( build, "  troupe_module(%s", line ) !=
                           1 )
            fail_msg( "%s has no target of its own", folder );
        bool row = strcmp( folder, "src" ) != 0 && strcmp( folder, "tests" ) != 0 &&
                   strcmp( folder, "examples" ) != 0;
        rows += row;
        if ( row && count_lines( page, "| `%s` |", folder ) != 1 )
            fail_msg( "%s has no row in docs/architecture.md", folder );
    }
    assert_int_equal( count_lines( build, "troupe_module(%s", "" ) +
                          count_lines( build, "  troupe_module(%s", "" ),
                      targets );
    const char *table = strstr( page, "\n| module |" );
    assert_non_null( table );
    char *end = strstr( table, "\n\n" );
    assert_non_null( end );
    *end = 0;
    assert_int_equal( count_lines( table, "| `%s", "" ), rows );
    tr_free( build );
    tr_free( page );
}

#define MOST_LINES 7000 // lines of a module at most, see docs/architecture.md
static int lines_of[MODULE_COUNT];

static int lines_count( const char *file, const char *text, bool print )
{
    (void)print;
    const module *m = module_of( file );
    assert_non_null( m );
    for ( const char *c = text; *c != 0; ++c )
        lines_of[m - modules] += *c == '\n';
    return 0;
}

static void no_module_is_too_large( void **state )
{
    (void)state;
    int files = 0, bad = 0;
    static const char *const folders[] = { "include", "src", "scenes", "ui", "bench", "cli" };
    for ( size_t i = 0; i < sizeof folders / sizeof folders[0]; ++i )
        folder_check( folders[i], lines_count, &files, &bad );
    for ( int i = 0; i < MODULE_COUNT; ++i )
        if ( lines_of[i] > MOST_LINES )
            fail_msg( "%s has %d lines, %d are allowed", modules[i].folder, lines_of[i], MOST_LINES );
}

static void what_is_allowed( void **state )
{
    (void)state;
    assert_int_equal( text_check( "src/document/document.h",
                                  "#include \"import/import.h\"\n#include <jansson.h>\n", false ),
                      0 );
    assert_int_equal(
        text_check( "src/stage/rules.c", "#include \"stage.h\"\n#include \"stage/private.h\"", false ), 0 );
    assert_int_equal( text_check( "scenes/wolf/wolf.c", "#include \"scenes/kit/kit.h\"", false ), 0 );
    assert_int_equal( text_check( "scenes/wolf/wolf.c", "#include \"../scenes.h\"", false ), 0 );
    assert_int_equal( text_check( "ui/render/gl.c", "#include <epoxy/gl.h>\n#include \"render.h\"", false ),
                      0 );
    assert_int_equal(
        text_check( "cli/main.c", "#include \"cli.h\"\n#include \"ui/render/render.h\"", false ), 0 );
    assert_int_equal( text_check( "cli/main.c", "#include \"troupe.h\"\n#include \"bench/bench.h\"", false ),
                      0 );
    assert_int_equal(
        text_check( "tests/test_a.c", "// #include \"ui/render/gl.h\"\n#include \"check.h\"", false ), 0 );
}

static void what_climbs_is_found( void **state )
{
    (void)state;
    assert_int_equal( text_check( "src/format/obj.c", "#include \"import/import.h\"", false ), 1 );
    assert_int_equal( text_check( "src/math/math.h", "#include \"motion/motion.h\"", false ), 1 );
    assert_int_equal( text_check( "src/format/bvh.c", "\n#  include  \"document/document.h\"", false ), 1 );
    assert_int_equal( text_check( "src/format/bvh.c", "#include \"../stage/stage.h\"", false ), 1 );
    assert_int_equal( text_check( "src/stage/rules.c", "#include \"scenes/scenes.h\"", false ), 1 );
    assert_int_equal( text_check( "src/stage/rules.c", "#include \"result/result.h\"", false ), 1 );
    assert_int_equal( text_check( "ui/render/gl.c", "#include \"cli/cli.h\"", false ), 1 );
    assert_int_equal( text_check( "bench/bench.c", "#include \"cli/cli.h\"", false ), 1 );
}

static void the_public_header_stands_alone( void **state )
{
    (void)state;
    assert_int_equal( text_check( "include/troupe/troupe.h", "#include <stdbool.h>", false ), 0 );
    assert_int_equal( text_check( "include/troupe/troupe.h", "#include \"base/base.h\"", false ), 1 );
    assert_int_equal( text_check( "examples/drag.c", "#include \"stage/stage.h\"", false ), 1 );
    assert_int_equal( text_check( "src/stage/rules.c", "#include \"library/library.h\"", false ), 1 );
}

static void siblings_are_found( void **state )
{
    (void)state;
    assert_int_equal( text_check( "src/cage/cage.c", "#include \"posegraph/posegraph.h\"", false ), 1 );
    assert_int_equal( text_check( "src/layer/layer.h", "#include \"closeness/closeness.h\"", false ), 1 );
    assert_int_equal( text_check( "ui/timeline/rows.c", "#include \"ui/panels/panels.h\"", false ), 1 );
    assert_int_equal( text_check( "ui/session/drag.c", "#include \"ui/tools/tools.h\"", false ), 1 );
}

static void private_headers_are_found( void **state )
{
    (void)state;
    assert_int_equal( text_check( "src/stage/rules.c", "#include \"format/bvh_lexer.h\"", false ), 1 );
    assert_int_equal( text_check( "scenes/wolf/wolf.c", "#include \"scenes/kit/gait.h\"", false ), 1 );
    assert_int_equal( text_check( "tests/test_a.c", "#include \"ui/render/gl.h\"", false ), 1 );
    assert_int_equal( text_check( "tests/test_a.c", "#include \"cli/cli.h\"", false ), 1 );
}

static void graphics_below_the_ui_are_found( void **state )
{
    (void)state;
    assert_int_equal( text_check( "src/stage/rules.c", "#include <epoxy/gl.h>", false ), 1 );
    assert_int_equal( text_check( "src/base/log.c", "#include <GLFW/glfw3.h>\n#include <EGL/egl.h>", false ),
                      2 );
    assert_int_equal( text_check( "scenes/wolf/wolf.c", "#include \"nuklear.h\"", false ), 1 );
}

static void unknown_modules_are_found( void **state )
{
    (void)state;
    assert_int_equal( text_check( "src/novel/novel.c", "#include \"base/base.h\"", false ), 1 );
    assert_int_equal( text_check( "src/stage/rules.c", "#include \"../novel/novel.h\"", false ), 1 );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( the_project_keeps_its_layers ),
        TEST( what_is_allowed ),
        TEST( what_climbs_is_found ),
        TEST( the_public_header_stands_alone ),
        TEST( siblings_are_found ),
        TEST( private_headers_are_found ),
        TEST( graphics_below_the_ui_are_found ),
        TEST( unknown_modules_are_found ),
        TEST( lists_of_modules_are_equal ),
        TEST( no_module_is_too_large ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
