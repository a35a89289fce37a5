// Checks that a body has the limbs that the document scales: a factor for a missing limb is an error.
#include "stage/private.h"

#include <stdio.h>
#include <string.h>

static const char *const groups[] = { "arms", "legs", "left", "right", "all" };
#define GROUP_COUNT ( (int)( sizeof groups / sizeof groups[0] ) )

static bool is_known( const tr_skeleton *body, const char *limb )
{
    bool known = tr_skeleton_find_limb( body, limb ) >= 0;
    for ( int i = 0; i < GROUP_COUNT; ++i )
        known = known || strcmp( groups[i], limb ) == 0;
    return known;
}

// Names the nearest limb, or all of them.
static bool refuse( const tr_skeleton *body, const char *limb, tr_error *error )
{
    const char **words = tr_alloc( (size_t)( body->limb_count + GROUP_COUNT + 1 ), sizeof *words );
    if ( words == NULL )
        return tr_error_memory( error );
    char list[320] = "";
    for ( int i = 0; i < body->limb_count + GROUP_COUNT; ++i ) {
        words[i] = i < body->limb_count ? body->limbs[i].name : groups[i - body->limb_count];
        size_t used = strlen( list );
        snprintf( list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", words[i] );
    }
    const char *nearest = tr_nearest_word( limb, words );
    if ( nearest != NULL )
        tr_error_set( error, "the body has no limb \"%s\"; did you mean \"%s\"?", limb, nearest );
    else
        tr_error_set( error, "the body has no limb \"%s\"; choose one of %s", limb, list );
    tr_free( words );
    return false;
}

bool tr_target_check_limbs( const tr_target *target, const tr_skeleton *body, char *field, size_t size,
                            tr_error *error )
{
    for ( int i = 0; i < target->limb_count + target->girth_count; ++i ) {
        bool girth = i >= target->limb_count;
        const char *limb = girth ? target->girths[i - target->limb_count].limb : target->limbs[i].limb;
        if ( is_known( body, limb ) )
            continue;
        snprintf( field, size, "target.%s.%s", girth ? "girth" : "limbs", limb );
        return refuse( body, limb, error );
    }
    return true;
}
