// Reads joint names of common conventions: CMU, mocap suites, 3ds Max bipeds, game rigs, our own animals.
// A name is cut into lower-case words ("LHipJoint" → l hip joint, "thigh.L" → thigh l); words that say the
// side are set apart, the others are looked up one by one and joined ("up" "leg" → upleg).
#include "motion/parts.h"

#include <ctype.h>
#include <string.h>

enum { MAX_WORDS = 12, MAX_WORD = 32 }; // limits of a name; longer ones are cut off

typedef struct words {
    char word[MAX_WORDS][MAX_WORD];
    int count;
    char joined[MAX_WORDS * MAX_WORD]; // all but sides
} words;

typedef struct entry {
    const char *text;
    bool whole; // must be a word of its own; else anywhere in the joined name
    part part;
} entry;

// The first match wins, so what is part of other words comes after them ("arm" after "forearm").
static const entry table[] = {
    { "armature", true, PART_CARRIER },
    { "toe", false, PART_TOE },
    { "hallux", false, PART_TOE },
    { "claw", false, PART_TOE },
    { "ball", true, PART_TOE },
    { "thumb", false, PART_FINGER },
    { "index", false, PART_FINGER },
    { "pinky", false, PART_FINGER },
    { "pinkie", false, PART_FINGER },
    { "finger", false, PART_FINGER },
    { "metacarp", false, PART_FINGER },
    { "ring", true, PART_FINGER },
    { "middle", true, PART_FINGER },
    { "mid", true, PART_FINGER },
    { "little", true, PART_FINGER },
    { "foot", false, PART_FOOT },
    { "feet", false, PART_FOOT },
    { "ankle", false, PART_FOOT },
    { "hoof", false, PART_FOOT },
    { "paw", false, PART_FOOT },
    { "heel", true, PART_FOOT },
    { "forearm", false, PART_FOREARM },
    { "lowerarm", false, PART_FOREARM },
    { "lowarm", false, PART_FOREARM },
    { "armlower", false, PART_FOREARM },
    { "elbow", false, PART_FOREARM },
    { "radius", true, PART_FOREARM },
    { "ulna", true, PART_FOREARM },
    { "hand", false, PART_HAND },
    { "wrist", false, PART_HAND },
    { "palm", true, PART_HAND },
    { "upperarm", false, PART_UPPER_ARM },
    { "uparm", false, PART_UPPER_ARM },
    { "armupper", false, PART_UPPER_ARM },
    { "humerus", false, PART_UPPER_ARM },
    { "clavic", false, PART_CLAVICLE },
    { "collar", false, PART_CLAVICLE },
    { "scapula", false, PART_CLAVICLE },
    { "shoulder", false, PART_SHOULDER },
    { "shldr", false, PART_SHOULDER },
    { "arm", false, PART_ARM },
    { "lowerleg", false, PART_SHIN },
    { "lowleg", false, PART_SHIN },
    { "leglower", false, PART_SHIN },
    { "shin", false, PART_SHIN },
    { "calf", false, PART_SHIN },
    { "knee", false, PART_SHIN },
    { "tibia", false, PART_SHIN },
    { "patella", false, PART_SHIN },
    { "tarsus", false, PART_SHIN },
    { "hock", true, PART_SHIN },
    { "cannon", true, PART_SHIN },
    { "pastern", true, PART_SHIN },
    { "upleg", false, PART_THIGH },
    { "upperleg", false, PART_THIGH },
    { "legupper", false, PART_THIGH },
    { "thigh", false, PART_THIGH },
    { "femur", false, PART_THIGH },
    { "coxa", false, PART_COXA },
    { "trochanter", false, PART_COXA },
    { "buttock", false, PART_HIP },
    { "pelvis", false, PART_ROOT },
    { "hips", true, PART_ROOT },
    { "hip", false, PART_HIP },
    { "leg", false, PART_LEG },
    { "jaw", false, PART_FACE },
    { "eye", false, PART_FACE },
    { "mouth", false, PART_FACE },
    { "tongue", false, PART_FACE },
    { "muzzle", false, PART_FACE },
    { "snout", false, PART_FACE },
    { "nose", true, PART_FACE },
    { "brow", true, PART_FACE },
    { "lip", true, PART_FACE },
    { "cheek", true, PART_FACE },
    { "chin", true, PART_FACE },
    { "hair", true, PART_FACE },
    { "ear", true, PART_EAR },
    { "ears", true, PART_EAR },
    { "neck", false, PART_NECK },
    { "head", false, PART_HEAD },
    { "skull", false, PART_HEAD },
    { "tail", false, PART_TAIL },
    { "antenna", false, PART_FEELER },
    { "palp", false, PART_FEELER },
    { "chelicera", false, PART_FEELER },
    { "tentacle", false, PART_FEELER },
    { "wing", true, PART_FEELER },
    { "fin", true, PART_FEELER },
    { "spine", false, PART_SPINE },
    { "chest", false, PART_SPINE },
    { "torso", false, PART_SPINE },
    { "abdomen", false, PART_SPINE },
    { "thorax", false, PART_SPINE },
    { "lumbar", false, PART_SPINE },
    { "waist", false, PART_SPINE },
    { "belly", false, PART_SPINE },
    { "lowerback", false, PART_SPINE },
    { "upperback", false, PART_SPINE },
    { "back", true, PART_SPINE },
    { "body", true, PART_SPINE },
    { "trunk", true, PART_SPINE },
    { "ribs", true, PART_SPINE },
    { "ribcage", true, PART_SPINE },
    { "root", true, PART_CARRIER },
    { "reference", true, PART_CARRIER },
    { "origin", true, PART_CARRIER },
    { "world", true, PART_CARRIER },
    { "tip", true, PART_TIP },
};

// ------------------------------------------------------------------------------------------------- words

// A new word begins after anything that is no letter, between letters and digits, at "aB", and before the
// last capital of a run that goes on in lower case ("LHip" → L Hip).
static bool begins_word( const char *name, size_t i )
{
    unsigned char before = (unsigned char)name[i - 1], here = (unsigned char)name[i];
    if ( !isalnum( before ) || !isdigit( before ) != !isdigit( here ) )
        return true;
    if ( islower( before ) && isupper( here ) )
        return true;
    return isupper( before ) && isupper( here ) && islower( (unsigned char)name[i + 1] );
}

static void split( const char *name, words *out )
{
    out->count = 0;
    int length = 0;
    for ( size_t i = 0; name[i] != 0; ++i ) {
        unsigned char c = (unsigned char)name[i];
        if ( !isalnum( c ) )
            continue;
        if ( i == 0 || begins_word( name, i ) ) {
            if ( out->count == MAX_WORDS )
                return;
            out->count++;
            length = 0;
        }
        if ( length < MAX_WORD - 1 ) {
            out->word[out->count - 1][length++] = (char)tolower( c );
            out->word[out->count - 1][length] = 0;
        }
    }
}

static bool has_word( const words *w, const char *text )
{
    for ( int i = 0; i < w->count; ++i )
        if ( strcmp( w->word[i], text ) == 0 )
            return true;
    return false;
}

static void join( words *w )
{
    size_t length = 0;
    w->joined[0] = 0;
    for ( int i = 0; i < w->count; ++i ) {
        size_t more = strlen( w->word[i] );
        memcpy( w->joined + length, w->word[i], more + 1 );
        length += more;
    }
}

static void drop_word( words *w, int index )
{
    for ( int i = index; i + 1 < w->count; ++i )
        memcpy( w->word[i], w->word[i + 1], MAX_WORD );
    w->count--;
}

// ------------------------------------------------------------------------------------------------- sides

static bool is_table_word( const char *text )
{
    for ( size_t i = 0; i < sizeof table / sizeof table[0]; ++i )
        if ( strcmp( text, table[i].text ) == 0 )
            return true;
    return false;
}

static tr_side side_of_word( const char *word )
{
    if ( strcmp( word, "l" ) == 0 || strcmp( word, "left" ) == 0 || strcmp( word, "lft" ) == 0 )
        return TR_SIDE_LEFT;
    if ( strcmp( word, "r" ) == 0 || strcmp( word, "right" ) == 0 || strcmp( word, "rgt" ) == 0 )
        return TR_SIDE_RIGHT;
    return TR_SIDE_NONE;
}

// Length of a side stuck to the front of a word: "leftfoot", "lhand". A single letter counts only before a
// word that is known as it stands.
static size_t stuck_side( const char *word )
{
    if ( strncmp( word, "left", 4 ) == 0 )
        return 4;
    if ( strncmp( word, "right", 5 ) == 0 )
        return 5;
    return ( word[0] == 'l' || word[0] == 'r' ) && !is_table_word( word ) && is_table_word( word + 1 ) ? 1
                                                                                                       : 0;
}

static tr_side take_side( words *w )
{
    for ( int i = 0; i < w->count; ++i ) {
        tr_side side = side_of_word( w->word[i] );
        if ( side != TR_SIDE_NONE && w->count > 1 ) { // a joint that is called just "r" is no right one
            drop_word( w, i );
            return side;
        }
    }
    for ( int i = 0; i < w->count; ++i ) {
        size_t length = strcmp( w->word[i], "rear" ) == 0 ? 0 : stuck_side( w->word[i] );
        if ( length > 0 ) {
            tr_side side = w->word[i][0] == 'l' ? TR_SIDE_LEFT : TR_SIDE_RIGHT;
            memmove( w->word[i], w->word[i] + length, strlen( w->word[i] ) - length + 1 );
            return side;
        }
    }
    return TR_SIDE_NONE;
}

// ------------------------------------------------------------------------------------------------- parts

static part look_up( const words *w )
{
    for ( size_t i = 0; i < sizeof table / sizeof table[0]; ++i ) {
        const entry *e = &table[i];
        if ( e->whole ? has_word( w, e->text ) : strstr( w->joined, e->text ) != NULL )
            return e->part;
    }
    return PART_NONE;
}

// "LeftFrontUpper", "hind_paw_l": of a beast on all fours, whose arms are legs.
static bool is_beast_leg( const words *w )
{
    return has_word( w, "front" ) || has_word( w, "hind" ) || has_word( w, "rear" ) ||
           has_word( w, "back" ) || ( has_word( w, "fore" ) && strstr( w->joined, "forearm" ) == NULL );
}

static part beast_leg_part( part p, const words *w )
{
    switch ( p ) {
    case PART_ARM:
    case PART_UPPER_ARM: return PART_THIGH;
    case PART_FOREARM: return PART_SHIN;
    case PART_HAND: return PART_FOOT;
    case PART_FINGER: return PART_TOE;
    case PART_NONE:
    case PART_SPINE: // "back"
    case PART_LEG:
        if ( has_word( w, "upper" ) )
            return PART_THIGH;
        return has_word( w, "lower" ) ? PART_SHIN : PART_LEG;
    default: return p;
    }
}

tr_side tr_name_without_side( const char *name, uint64_t *hash )
{
    words w;
    split( name, &w );
    tr_side side = take_side( &w );
    *hash = TR_HASH_START;
    for ( int i = 0; i < w.count; ++i )
        *hash = tr_hash_bytes( *hash, w.word[i], strlen( w.word[i] ) + 1 );
    return side;
}

// Joints beside a body: along a bone to turn its skin, goals of inverse kinematics (UE: ik_foot_l), the
// footsteps of 3ds Max, what swings along.
static bool is_helper( const words *w )
{
    static const char *const names[] = { "twist", "roll", "ik",    "footsteps", "breast", "bust",
                                         "skirt", "coat", "cloth", "cape",      "sleeve", "ribbon" };
    for ( size_t i = 0; i < sizeof names / sizeof *names; ++i )
        if ( has_word( w, names[i] ) )
            return true;
    return false;
}

guess tr_part_from_name( const char *name )
{
    const char *start = name; // names may carry a namespace: "mixamorig:LeftArm", "Armature|LeftArm"
    for ( const char *c = name; *c != 0; ++c )
        if ( ( *c == ':' || *c == '|' ) && c[1] != 0 )
            start = c + 1;
    words w;
    split( start, &w );
    guess g = { .side = take_side( &w ) };
    join( &w );
    g.end = has_word( &w, "end" ) || has_word( &w, "nub" ) || has_word( &w, "site" );
    if ( is_helper( &w ) )
        return g;
    g.part = look_up( &w );
    if ( g.side != TR_SIDE_NONE && is_beast_leg( &w ) )
        g.part = beast_leg_part( g.part, &w );
    if ( g.part == PART_HIP && g.side == TR_SIDE_NONE )
        g.part = PART_ROOT;
    if ( g.part == PART_ROOT && g.side != TR_SIDE_NONE )
        g.part = PART_HIP;
    return g;
}
