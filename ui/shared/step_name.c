// Names of the steps of the history: sentences made from their ops.
#include "ui/shared/shared.h"

#include <stdio.h>
#include <string.h>

// {key} stands for what the line has for it; a sentence fits a line that has all of its keys, and those
// before the bar with these values. In the order of what a step is about: where several ops make one, the
// first row that fits any of them names it, if another has the keys it also asks for.
static const struct {
    const char *op, *only, *sentence, *also;
} sentences[] = {
    { "layer_add", "falloff=0", "Turn {members}, with all they hold", "turn" },
    { "layer_add", "falloff=0", "Move {members}, with all they hold" },
    { "handle_set", "frame|move|turn", "Turn or move on, with all they hold" },
    { "handle_set", "frame|move", "Move on, with all they hold" },
    { "handle_set", "move|pinned=true", "Pull {point} on" },
    { "handle_set", "move|pinned=true", "Pull {id}" },
    { "handle_set", "pinned=false", "Let go {id}" },
    { "handle_set", "pinned=true", "Pin {id}" },
    { "handle_add", "pinned=false", "Let go of {layer} at frame {frame}" },
    { "handle_add", "", "Pull {point} at frame {frame}" },
    { "handle_add", "vertex", "Pull a corner of {layer} at frame {frame}" },
    { "handle_add", "", "Pull {layer} at frame {frame}" },
    { "handle_remove", "", "Delete {id}" },
    { "constraint_add", "kind=relative", "Link {a} to {b}" },
    { "constraint_add", "kind=contact", "Contact of {a}, frames {range}" },
    { "constraint_add", "kind=absolute", "Pin {a} at frame {range}" },
    { "constraint_add", "", "Add rule {id}" },
    { "constraint_set", "", "Move {id} to {target}" },
    { "constraint_set", "", "Frames of {id}: {range}" },
    { "constraint_set", "", "Ease of {id}: {ease}" },
    { "constraint_set", "", "Weight of {id}: {weight}" },
    { "constraint_set", "hard=true", "Make {id} hard" },
    { "constraint_set", "hard=false", "Make {id} soft" },
    { "constraint_set", "", "Make {id} a rule of kind {kind}" },
    { "section_set", "", "Move a moment to {delay} frames later" },
    { "section_add", "", "Move the moment at frame {frame} by {delay}" },
    { "section_remove", "", "Put a moment back" },
    { "layer_set", "muted=true", "Mute {id}" },
    { "layer_set", "muted=false", "Let {id} act again" },
    { "layer_set", "solo=true", "Only {id} acts" },
    { "layer_set", "solo=false", "{id} acts with the others" },
    { "layer_set", "firm=true", "Keep {id} where it is put" },
    { "layer_set", "firm=false", "Let {id} yield to jolts" },
    { "layer_set", "", "Frames of {id}: {range}" },
    { "layer_set", "", "Ease of {id}: {ease}" },
    { "layer_set", "", "Falloff of {id}: {falloff}" },
    { "layer_set", "", "Room around {id}: {padding} m" },
    { "layer_add", "", "Add layer {id} of {members}" },
    { "layer_copy", "", "Copy {id} as {to}" },
    { "layer_move", "", "Reorder {id}" },
    { "cast_scale", "", "Size of {id}: {scale}" },
    { "cast_limb", "", "Length of {id} {limb}: {value}" },
    { "cast_girth", "", "Girth of {id} {limb}: {value}" },
    { "cast_place", "", "Move {id} to {position}" },
    { "cast_place", "", "Turn {id} to {heading} degrees" },
    { "cast_colour", "", "Colour {id}" },
    { "cast_mapping", "", "Joint map of {id}: {file}" },
    { "drive_add", "source=", "Nothing drives {joint} of {cast}" },
    { "drive_add", "", "{source} drives {joint} of {cast}" },
    { "drive_set", "", "{id}: {source}" },
    { "example_add", "mirrored=true", "Mirror a pair of {cast}" },
    { "example_add", "pose=", "Pose {cast} at frame {source}" },
    { "example_add", "", "Example {id} of {cast}: frame {source}" },
    { "example_set", "pose=", "Pose {id} again" },
    { "example_set", "muted=true", "Leave out example {id}" },
    { "example_set", "muted=false", "Let example {id} count again" },
    { "part_add", "", "Part {id} of {cast}" },
    { "part_set", "", "Aim of {id}: {aim}" },
    { "cast_automatic", "", "Automatic rules of {id}" },
    { "cast_skeleton", "", "Body of {id}: {file}" },
    { "prop_set", "", "Size of {id}: {scale}" },
    { "prop_set", "", "Move {id} to {position}" },
    { "prop_set", "", "Turn {id} to {heading} degrees" },
    { "prop_set", "", "Shape of {id}: {shape}" },
    { "obstacle_set", "", "Shape of {id}: {shape}" },
    { "obstacle_set", "", "Size of {id}: {scale}" },
    { "obstacle_set", "", "Edges of {id}: {size}" },
    { "obstacle_set", "", "Shift {id} by {move}" },
    { "obstacle_set", "", "Move {id} to {position}" },
    { "obstacle_set", "", "Turn {id} to {heading} degrees" },
    { "obstacle_scale", "", "Scale the environment: {scale}" },
    { "scene_set", "imesh=true", "Keep close pairs" },
    { "scene_set", "imesh=false", "Let closeness go" },
};

// Verbs of ops that have no sentence of their own: op_verb id=… is "Verb id".
static const struct {
    const char *ending, *sentence;
} verbs[] = {
    { "_add", "Add {id}" },           { "_remove", "Delete {id}" }, { "_rename", "Rename {id}: {to}" },
    { "_copy", "Copy {id} as {to}" }, { "_move", "Reorder {id}" },  { "", "Change {id}" } };

// ------------------------------------------------------------------------------------------------- reading

// The value a line has for a key, without its quotes. False: it has none.
static bool value_of( const char *line, const char *key, size_t key_length, char *out, size_t size )
{
    bool quoted = false;
    for ( const char *at = line; *at != 0; ++at ) {
        quoted ^= *at == '"' && ( at == line || at[-1] != '\\' );
        if ( quoted || *at != ' ' || strncmp( at + 1, key, key_length ) != 0 || at[1 + key_length] != '=' )
            continue;
        at += key_length + 2;
        char stop = *at == '"' ? '"' : ' ';
        at += stop == '"';
        size_t length = strcspn( at, stop == '"' ? "\"" : " " );
        snprintf( out, size, "%.*s", (int)length, at );
        return true;
    }
    return false;
}

// Each of `only`, with bars between, is a key that must be there, or key=value.
static bool has_all( const char *line, const char *only )
{
    while ( *only != 0 ) {
        char value[160];
        size_t all = strcspn( only, "|" ), key = strcspn( only, "=|" );
        if ( !value_of( line, only, key, value, sizeof value ) )
            return false;
        if ( key < all &&
             ( strlen( value ) != all - key - 1 || strncmp( value, only + key + 1, all - key - 1 ) != 0 ) )
            return false;
        only += all + ( only[all] == '|' );
    }
    return true;
}

// A range of one frame is that frame; of others the ends, and exact numbers are cut to what is read.
static void tidy( char *value, size_t size )
{
    char first[32], second[32], rest;
    double number;
    if ( sscanf( value, "%31[0-9-],%31[0-9-]%c", first, second, &rest ) == 2 )
        snprintf( value, size, strcmp( first, second ) == 0 ? "%s" : "%s – %s", first, second );
    else if ( sscanf( value, "%lf%c", &number, &rest ) == 1 )
        snprintf( value, size, "%.4g", number );
}

static bool fill( char *out, size_t size, const char *sentence, const char *line )
{
    size_t used = 0;
    out[0] = 0;
    while ( *sentence != 0 && used + 1 < size ) {
        char value[TR_MEMBERS_MAX], brief[160];
        if ( *sentence != '{' ) {
            out[used++] = *sentence++;
            out[used] = 0;
            continue;
        }
        size_t key = strcspn( ++sentence, "}" );
        if ( !value_of( line, sentence, key, value, sizeof value ) )
            return false;
        tidy( value, sizeof value );
        bool list = key == strlen( "members" ) && strncmp( sentence, "members", key ) == 0;
        if ( list )
            tr_members_brief( brief, sizeof brief, value );
        used += (size_t)snprintf( out + used, size - used, "%.159s", list ? brief : value );
        sentence += key + 1;
    }
    return true;
}

// -------------------------------------------------------------------------------------------------- naming

static bool is_op( const char *line, const char *op )
{
    size_t length = strlen( op );
    return strncmp( line, op, length ) == 0 && ( line[length] == ' ' || line[length] == 0 );
}

static bool any_has( const char *const *lines, int count, const char *keys )
{
    bool has = keys == NULL;
    for ( int i = 0; !has && i < count; ++i )
        has = has_all( lines[i], keys );
    return has;
}

// The row of the table that fits one of the lines, and its sentence; -1: none does.
static int name_line( char *out, size_t size, const char *const *lines, int count, int at )
{
    for ( size_t i = 0; i < sizeof sentences / sizeof sentences[0]; ++i )
        if ( is_op( lines[at], sentences[i].op ) && has_all( lines[at], sentences[i].only ) &&
             any_has( lines, count, sentences[i].also ) &&
             fill( out, size, sentences[i].sentence, lines[at] ) )
            return (int)i;
    return -1;
}

static void name_by_verb( char *out, size_t size, const char *line )
{
    size_t length = strcspn( line, " " );
    for ( size_t i = 0; i < sizeof verbs / sizeof verbs[0]; ++i ) {
        size_t ending = strlen( verbs[i].ending );
        if ( length >= ending && strncmp( line + length - ending, verbs[i].ending, ending ) == 0 &&
             fill( out, size, verbs[i].sentence, line ) )
            return;
    }
    snprintf( out, size, "%.*s", (int)length, line );
}

void tr_step_name( char *out, size_t size, const char *const *lines, int count )
{
    int best = -1, alike = 0;
    out[0] = 0;
    for ( int i = 0; i < count; ++i ) {
        char name[240];
        int row = name_line( name, sizeof name, lines, count, i );
        if ( row >= 0 && ( best < 0 || row < best ) ) {
            snprintf( out, size, "%s", name );
            best = row;
            alike = 1;
        } else
            alike += row >= 0 && row == best && strcmp( name, out ) != 0;
    }
    if ( best < 0 && count > 0 ) {
        name_by_verb( out, size, lines[0] );
        alike = count;
    }
    size_t used = strlen( out );
    if ( alike > 1 )
        snprintf( out + used, size - used, ", and %d more", alike - 1 );
}
