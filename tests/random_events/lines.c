// Events as lines of text: the log of an episode.
#include "random_events.h"

static const char *const step_names[STEP_KINDS] = {
    [STEP_OPEN] = "open",     [STEP_MOVE] = "move",  [STEP_PRESS] = "press",  [STEP_RELEASE] = "release",
    [STEP_WHEEL] = "wheel",   [STEP_KEY] = "key",    [STEP_KEY_UP] = "keyup", [STEP_TEXT] = "text",
    [STEP_DROP] = "drop",     [STEP_SIZE] = "size",  [STEP_CLOSE] = "close",  [STEP_FRAMES] = "frames",
    [STEP_SETTLE] = "settle", [STEP_ROUND] = "round" };

bool step_is_event( const step *s )
{
    return s->kind != STEP_OPEN && s->kind < STEP_FRAMES;
}

// Every line has all fields: what a kind does not use is 0.
void step_print( FILE *out, const step *s )
{
    fprintf( out, "%s %d %d %.17g %.17g%s%s\n", step_names[s->kind], s->a, s->b, s->x, s->y,
             s->path[0] != 0 ? " " : "", s->path );
}

static bool step_parse( const char *line, step *s )
{
    char name[16];
    int end = 0;
    *s = ( step ){ 0 };
    if ( sscanf( line, "%15s %d %d %lf %lf%n", name, &s->a, &s->b, &s->x, &s->y, &end ) != 5 )
        return false;
    for ( s->kind = 0; s->kind < STEP_KINDS && strcmp( step_names[s->kind], name ) != 0; )
        ++s->kind;
    line += end + ( line[end] == ' ' );
    snprintf( s->path, sizeof s->path, "%.*s", (int)strcspn( line, "\n" ), line );
    return s->kind < STEP_KINDS;
}

void step_list_add( step_list *list, const step *s )
{
    if ( list->count == list->capacity ) {
        list->capacity = 2 * list->capacity + 256;
        list->items = realloc( list->items, (size_t)list->capacity * sizeof *s );
        if ( list->items == NULL )
            abort();
    }
    list->items[list->count++] = *s;
}

bool step_list_load( step_list *list, const char *path )
{
    char line[512];
    step s;
    FILE *file = fopen( path, "r" );
    if ( file == NULL )
        return false;
    while ( fgets( line, sizeof line, file ) != NULL )
        if ( step_parse( line, &s ) )
            step_list_add( list, &s );
    fclose( file );
    return list->count > 0 && list->items[0].kind == STEP_OPEN;
}
