// Maps fingers by name. A thumb maps only to a thumb, because it points elsewhere and would turn the whole
// hand. A joint that is no particular finger (the tip of a hand, one bone for all fingers) maps to the middle
// finger, or to the first that is not the thumb.
#include "actor/joint_map.h"

#include <string.h>

typedef enum digit { DIGIT_ANY, DIGIT_THUMB, DIGIT_INDEX, DIGIT_MIDDLE, DIGIT_RING, DIGIT_LITTLE } digit;

static digit digit_of_name( const char *name )
{
    static const struct {
        const char *word;
        digit digit;
    } words[] = { { "thumb", DIGIT_THUMB }, { "index", DIGIT_INDEX },  { "middle", DIGIT_MIDDLE },
                  { "ring", DIGIT_RING },   { "pinky", DIGIT_LITTLE }, { "little", DIGIT_LITTLE } };
    for ( size_t i = 0; i < sizeof words / sizeof *words; ++i )
        if ( strcasestr( name, words[i].word ) != NULL )
            return words[i].digit;
    return DIGIT_ANY;
}

typedef struct finger { // where a joint is on a hand
    digit digit;
    int depth; // joints below the hand
} finger;

static bool has_length( const tr_skeleton *skeleton, int first )
{
    for ( int j = first; j < skeleton->joint_count; ++j )
        if ( tr_bone_length( skeleton, j ) > TR_SHORT_BONE && tr_joint_is_above( skeleton, first, j ) )
            return true;
    return false;
}

// Depth 0: a marker that is no finger, without length or not on a hand.
static finger finger_of( const tr_skeleton *skeleton, int joint )
{
    finger f = { DIGIT_ANY, 0 };
    int j = joint, first = joint;
    for ( ; j >= 0 && skeleton->joints[j].role == TR_ROLE_FINGER; j = skeleton->joints[j].parent ) {
        if ( f.digit == DIGIT_ANY )
            f.digit = digit_of_name( skeleton->joints[j].name );
        first = j;
        f.depth++;
    }
    if ( j < 0 || skeleton->joints[j].role != TR_ROLE_HAND || !has_length( skeleton, first ) )
        f.depth = 0;
    return f;
}

bool tr_joint_is_thumb( const tr_skeleton *skeleton, int joint )
{
    finger f = finger_of( skeleton, joint );
    return f.digit == DIGIT_THUMB && f.depth > 0;
}

// The first joint of the finger on that side, -1 when there is none.
static int find( const tr_skeleton *skeleton, tr_side side, finger wanted )
{
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        if ( skeleton->joints[j].role != TR_ROLE_FINGER || skeleton->joints[j].side != side )
            continue;
        finger found = finger_of( skeleton, j );
        if ( found.digit == wanted.digit && found.depth == wanted.depth )
            return j;
    }
    return -1;
}

// The finger that stands for all of a hand.
static digit main_digit( const tr_skeleton *skeleton, tr_side side )
{
    static const digit order[] = { DIGIT_ANY, DIGIT_MIDDLE, DIGIT_INDEX, DIGIT_RING, DIGIT_LITTLE };
    for ( size_t i = 0; i < sizeof order / sizeof *order; ++i )
        if ( find( skeleton, side, ( finger ){ order[i], 1 } ) >= 0 )
            return order[i];
    return DIGIT_ANY;
}

int tr_find_finger( const tr_skeleton *source, const tr_skeleton *target, int joint )
{
    tr_side side = target->joints[joint].side;
    finger wanted = finger_of( target, joint );
    if ( wanted.depth == 0 )
        return -1;
    int same = find( source, side, wanted );
    if ( same >= 0 || wanted.digit == DIGIT_THUMB || wanted.digit != main_digit( target, side ) )
        return same;
    return find( source, side, ( finger ){ main_digit( source, side ), wanted.depth } );
}
