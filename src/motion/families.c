// Names of joints in families of rigs. One row is a family; the columns are the parts of a human body. Names
// are compared without namespaces and without what is no letter or digit, since exporters change those;
// fingers are counted from the thumb, joints from the hand. Sources: rigs and documents of the programs
// named.
#include "motion/motion.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = TR_FAMILY_NAME };

typedef struct family {
    const char *name;
    const char *left, *right;          // what stands for * below
    const char *parts[TR_RIG_FINGERS]; // indexed by tr_rig_slot; NULL: it has none
    const char *fingers[5];            // thumb to little; # stands for the bone
    const char *bones[3];              // from the hand
    const char *prefix;                // prefix of files that are certainly of the family; NULL: none
} family;

#define HIK                                                                                                  \
    {                                                                                                        \
        [TR_RIG_HIPS] = "Hips", [TR_RIG_SPINE_1] = "Spine", [TR_RIG_SPINE_2] = "Spine1",                     \
        [TR_RIG_SPINE_3] = "Spine2", [TR_RIG_SPINE_4] = "Spine3", [TR_RIG_NECK_1] = "Neck",                  \
        [TR_RIG_NECK_2] = "Neck1", [TR_RIG_HEAD] = "Head", [TR_RIG_EYE] = "*Eye",                            \
        [TR_RIG_CLAVICLE] = "*Shoulder", [TR_RIG_UPPER_ARM] = "*Arm", [TR_RIG_FOREARM] = "*ForeArm",         \
        [TR_RIG_HAND] = "*Hand", [TR_RIG_THIGH] = "*UpLeg", [TR_RIG_SHIN] = "*Leg", [TR_RIG_FOOT] = "*Foot", \
        [TR_RIG_TOE] = "*ToeBase"                                                                            \
    }
#define HIK_FINGERS                                                                                          \
    {                                                                                                        \
        "*HandThumb#", "*HandIndex#", "*HandMiddle#", "*HandRing#", "*HandPinky#"                            \
    }

static const family families[] = {
    { "mixamo", "Left", "Right", HIK, HIK_FINGERS, { "1", "2", "3" }, "mixamorig" },
    { "cmu",
      "Left",
      "Right",
      { [TR_RIG_HIPS] = "Hips",
        [TR_RIG_SPINE_1] = "LowerBack",
        [TR_RIG_SPINE_2] = "Spine",
        [TR_RIG_SPINE_3] = "Spine1",
        [TR_RIG_NECK_1] = "Neck",
        [TR_RIG_NECK_2] = "Neck1",
        [TR_RIG_HEAD] = "Head",
        [TR_RIG_CLAVICLE] = "*Shoulder",
        [TR_RIG_UPPER_ARM] = "*Arm",
        [TR_RIG_FOREARM] = "*ForeArm",
        [TR_RIG_HAND] = "*Hand",
        [TR_RIG_THIGH] = "*UpLeg",
        [TR_RIG_SHIN] = "*Leg",
        [TR_RIG_FOOT] = "*Foot",
        [TR_RIG_TOE] = "*ToeBase" },
      { "*HandThumb#", "*HandIndex#" },
      { "1", "2", "3" },
      "LowerBack" },
    { "lafan",
      "Left",
      "Right",
      { [TR_RIG_HIPS] = "Hips",
        [TR_RIG_SPINE_1] = "Spine",
        [TR_RIG_SPINE_2] = "Spine1",
        [TR_RIG_SPINE_3] = "Spine2",
        [TR_RIG_NECK_1] = "Neck",
        [TR_RIG_HEAD] = "Head",
        [TR_RIG_CLAVICLE] = "*Shoulder",
        [TR_RIG_UPPER_ARM] = "*Arm",
        [TR_RIG_FOREARM] = "*ForeArm",
        [TR_RIG_HAND] = "*Hand",
        [TR_RIG_THIGH] = "*UpLeg",
        [TR_RIG_SHIN] = "*Leg",
        [TR_RIG_FOOT] = "*Foot",
        [TR_RIG_TOE] = "*Toe" } },
    { "humanik", "Left", "Right", HIK, HIK_FINGERS, { "1", "2", "3" } },
    { "rokoko",
      "Left",
      "Right",
      { [TR_RIG_HIPS] = "Hips",
        [TR_RIG_SPINE_1] = "Spine1",
        [TR_RIG_SPINE_2] = "Spine2",
        [TR_RIG_SPINE_3] = "Spine3",
        [TR_RIG_SPINE_4] = "Spine4",
        [TR_RIG_NECK_1] = "Neck",
        [TR_RIG_HEAD] = "Head",
        [TR_RIG_CLAVICLE] = "*Shoulder",
        [TR_RIG_UPPER_ARM] = "*Arm",
        [TR_RIG_FOREARM] = "*ForeArm",
        [TR_RIG_HAND] = "*Hand",
        [TR_RIG_THIGH] = "*Thigh",
        [TR_RIG_SHIN] = "*Shin",
        [TR_RIG_FOOT] = "*Foot",
        [TR_RIG_TOE] = "*Toe" },
      { "*Finger1#", "*Finger2#", "*Finger3#", "*Finger4#", "*Finger5#" },
      { "Proximal", "Medial", "Distal" } },
    { "ue4",
      "l",
      "r",
      { [TR_RIG_HIPS] = "pelvis",
        [TR_RIG_SPINE_1] = "spine_01",
        [TR_RIG_SPINE_2] = "spine_02",
        [TR_RIG_SPINE_3] = "spine_03",
        [TR_RIG_NECK_1] = "neck_01",
        [TR_RIG_HEAD] = "head",
        [TR_RIG_CLAVICLE] = "clavicle_*",
        [TR_RIG_UPPER_ARM] = "upperarm_*",
        [TR_RIG_FOREARM] = "lowerarm_*",
        [TR_RIG_HAND] = "hand_*",
        [TR_RIG_THIGH] = "thigh_*",
        [TR_RIG_SHIN] = "calf_*",
        [TR_RIG_FOOT] = "foot_*",
        [TR_RIG_TOE] = "ball_*" },
      { "thumb_#_*", "index_#_*", "middle_#_*", "ring_#_*", "pinky_#_*" },
      { "01", "02", "03" } },
    { "ue5", // and MetaHuman
      "l",
      "r",
      { [TR_RIG_HIPS] = "pelvis",
        [TR_RIG_SPINE_1] = "spine_01",
        [TR_RIG_SPINE_2] = "spine_02",
        [TR_RIG_SPINE_3] = "spine_03",
        [TR_RIG_SPINE_4] = "spine_04",
        [TR_RIG_SPINE_5] = "spine_05",
        [TR_RIG_NECK_1] = "neck_01",
        [TR_RIG_NECK_2] = "neck_02",
        [TR_RIG_HEAD] = "head",
        [TR_RIG_CLAVICLE] = "clavicle_*",
        [TR_RIG_UPPER_ARM] = "upperarm_*",
        [TR_RIG_FOREARM] = "lowerarm_*",
        [TR_RIG_HAND] = "hand_*",
        [TR_RIG_THIGH] = "thigh_*",
        [TR_RIG_SHIN] = "calf_*",
        [TR_RIG_FOOT] = "foot_*",
        [TR_RIG_TOE] = "ball_*" },
      { "thumb_#_*", "index_#_*", "middle_#_*", "ring_#_*", "pinky_#_*" },
      { "01", "02", "03" } },
    { "rigify",
      "L",
      "R",
      { [TR_RIG_HIPS] = "DEF-spine",
        [TR_RIG_SPINE_1] = "DEF-spine.001",
        [TR_RIG_SPINE_2] = "DEF-spine.002",
        [TR_RIG_SPINE_3] = "DEF-spine.003",
        [TR_RIG_NECK_1] = "DEF-spine.004",
        [TR_RIG_NECK_2] = "DEF-spine.005",
        [TR_RIG_HEAD] = "DEF-spine.006",
        [TR_RIG_JAW] = "DEF-jaw",
        [TR_RIG_EYE] = "DEF-eye.*",
        [TR_RIG_CLAVICLE] = "DEF-shoulder.*",
        [TR_RIG_UPPER_ARM] = "DEF-upper_arm.*",
        [TR_RIG_FOREARM] = "DEF-forearm.*",
        [TR_RIG_HAND] = "DEF-hand.*",
        [TR_RIG_THIGH] = "DEF-thigh.*",
        [TR_RIG_SHIN] = "DEF-shin.*",
        [TR_RIG_FOOT] = "DEF-foot.*",
        [TR_RIG_TOE] = "DEF-toe.*" },
      { "DEF-thumb.#.*", "DEF-f_index.#.*", "DEF-f_middle.#.*", "DEF-f_ring.#.*", "DEF-f_pinky.#.*" },
      { "01", "02", "03" },
      "DEF" },
    { "smplx", // and SMPL, SMPL-H
      "left",
      "right",
      { [TR_RIG_HIPS] = "pelvis",
        [TR_RIG_SPINE_1] = "spine1",
        [TR_RIG_SPINE_2] = "spine2",
        [TR_RIG_SPINE_3] = "spine3",
        [TR_RIG_NECK_1] = "neck",
        [TR_RIG_HEAD] = "head",
        [TR_RIG_JAW] = "jaw",
        [TR_RIG_EYE] = "*_eye",
        [TR_RIG_CLAVICLE] = "*_collar",
        [TR_RIG_UPPER_ARM] = "*_shoulder",
        [TR_RIG_FOREARM] = "*_elbow",
        [TR_RIG_HAND] = "*_wrist",
        [TR_RIG_THIGH] = "*_hip",
        [TR_RIG_SHIN] = "*_knee",
        [TR_RIG_FOOT] = "*_ankle",
        [TR_RIG_TOE] = "*_foot" },
      { "*_thumb#", "*_index#", "*_middle#", "*_ring#", "*_pinky#" },
      { "1", "2", "3" } },
    { "vroid",
      "L",
      "R",
      { [TR_RIG_HIPS] = "J_Bip_C_Hips",
        [TR_RIG_SPINE_1] = "J_Bip_C_Spine",
        [TR_RIG_SPINE_2] = "J_Bip_C_Chest",
        [TR_RIG_SPINE_3] = "J_Bip_C_UpperChest",
        [TR_RIG_NECK_1] = "J_Bip_C_Neck",
        [TR_RIG_HEAD] = "J_Bip_C_Head",
        [TR_RIG_EYE] = "J_Adj_*_FaceEye",
        [TR_RIG_CLAVICLE] = "J_Bip_*_Shoulder",
        [TR_RIG_UPPER_ARM] = "J_Bip_*_UpperArm",
        [TR_RIG_FOREARM] = "J_Bip_*_LowerArm",
        [TR_RIG_HAND] = "J_Bip_*_Hand",
        [TR_RIG_THIGH] = "J_Bip_*_UpperLeg",
        [TR_RIG_SHIN] = "J_Bip_*_LowerLeg",
        [TR_RIG_FOOT] = "J_Bip_*_Foot",
        [TR_RIG_TOE] = "J_Bip_*_ToeBase" },
      { "J_Bip_*_Thumb#", "J_Bip_*_Index#", "J_Bip_*_Middle#", "J_Bip_*_Ring#", "J_Bip_*_Little#" },
      { "1", "2", "3" } },
    { "vrm", // the names that VRM itself and Unity give to human bones
      "left",
      "right",
      { [TR_RIG_HIPS] = "hips",
        [TR_RIG_SPINE_1] = "spine",
        [TR_RIG_SPINE_2] = "chest",
        [TR_RIG_SPINE_3] = "upperChest",
        [TR_RIG_NECK_1] = "neck",
        [TR_RIG_HEAD] = "head",
        [TR_RIG_JAW] = "jaw",
        [TR_RIG_EYE] = "*Eye",
        [TR_RIG_CLAVICLE] = "*Shoulder",
        [TR_RIG_UPPER_ARM] = "*UpperArm",
        [TR_RIG_FOREARM] = "*LowerArm",
        [TR_RIG_HAND] = "*Hand",
        [TR_RIG_THIGH] = "*UpperLeg",
        [TR_RIG_SHIN] = "*LowerLeg",
        [TR_RIG_FOOT] = "*Foot",
        [TR_RIG_TOE] = "*Toes" },
      { "*Thumb#", "*Index#", "*Middle#", "*Ring#", "*Little#" },
      { "Proximal", "Intermediate", "Distal" } },
    { "biped",
      "L",
      "R",
      { [TR_RIG_HIPS] = "Bip01 Pelvis",
        [TR_RIG_SPINE_1] = "Bip01 Spine",
        [TR_RIG_SPINE_2] = "Bip01 Spine1",
        [TR_RIG_SPINE_3] = "Bip01 Spine2",
        [TR_RIG_SPINE_4] = "Bip01 Spine3",
        [TR_RIG_NECK_1] = "Bip01 Neck",
        [TR_RIG_NECK_2] = "Bip01 Neck1",
        [TR_RIG_HEAD] = "Bip01 Head",
        [TR_RIG_CLAVICLE] = "Bip01 * Clavicle",
        [TR_RIG_UPPER_ARM] = "Bip01 * UpperArm",
        [TR_RIG_FOREARM] = "Bip01 * Forearm",
        [TR_RIG_HAND] = "Bip01 * Hand",
        [TR_RIG_THIGH] = "Bip01 * Thigh",
        [TR_RIG_SHIN] = "Bip01 * Calf",
        [TR_RIG_FOOT] = "Bip01 * Foot",
        [TR_RIG_TOE] = "Bip01 * Toe0" },
      { "Bip01 * Finger0#", "Bip01 * Finger1#", "Bip01 * Finger2#", "Bip01 * Finger3#", "Bip01 * Finger4#" },
      { "", "1", "2" } },
};
enum { FAMILIES = sizeof families / sizeof *families };

int tr_family_count( void )
{
    return FAMILIES;
}

const char *tr_family_name( int index )
{
    return families[index].name;
}

int tr_family_find( const char *name )
{
    for ( int i = 0; i < FAMILIES; ++i )
        if ( strcasecmp( families[i].name, name ) == 0 )
            return i;
    return -1;
}

// -------------------------------------------------------------------------------------------------- names

static bool has_sides( int part )
{
    return part >= TR_RIG_EYE;
}

static void add( char *out, size_t *used, const char *text )
{
    for ( ; *text != 0 && *used + 1 < LONGEST; ++text )
        out[( *used )++] = *text;
    out[*used] = 0;
}

bool tr_family_joint( int index, tr_rig_part human, char out[TR_FAMILY_NAME] )
{
    const family *f = &families[index];
    int finger = human.part - TR_RIG_FINGERS;
    const char *name = finger < 0 ? f->parts[human.part] : f->fingers[finger / 3];
    size_t used = 0;
    if ( name == NULL || has_sides( human.part ) != ( human.side != TR_SIDE_NONE ) )
        return false;
    for ( out[0] = 0; *name != 0; ++name )
        add( out, &used,
             *name == '*'   ? human.side == TR_SIDE_LEFT ? f->left : f->right
             : *name == '#' ? f->bones[finger % 3]
                            : ( const char[2] ){ *name, 0 } );
    return true;
}

// Letters and digits in lower case, without a namespace. The number of a biped does not count: Bip001.
static void plain( char out[LONGEST], const char *name )
{
    const char *start = name;
    size_t used = 0;
    for ( const char *c = name; *c != 0; ++c )
        if ( ( *c == ':' || *c == '|' ) && c[1] != 0 )
            start = c + 1;
    for ( const char *c = start; *c != 0 && used + 1 < LONGEST; ++c ) {
        bool number = used == 3 && strncmp( out, "bip", 3 ) == 0 && isdigit( (unsigned char)*c );
        if ( isalnum( (unsigned char)*c ) && !number )
            out[used++] = (char)tolower( (unsigned char)*c );
    }
    out[used] = 0;
}

typedef struct entry { // an entry in an index of a family's names
    uint64_t hash;
    tr_rig_part human;
} entry;

enum { MOST_ENTRIES = 2 * TR_RIG_PARTS };

static int list_names( int index, entry entries[MOST_ENTRIES] )
{
    int count = 0;
    for ( int part = 0; part < TR_RIG_PARTS; ++part )
        for ( int side = TR_SIDE_NONE; side <= TR_SIDE_RIGHT; ++side ) {
            char name[LONGEST], bare[LONGEST];
            tr_rig_part human = { part, (tr_side)side };
            if ( !tr_family_joint( index, human, name ) )
                continue;
            plain( bare, name );
            entries[count++] = ( entry ){ tr_hash_bytes( TR_HASH_START, bare, strlen( bare ) ), human };
        }
    return count;
}

// How many joints the family names; fills parts [joint_count] where it is not NULL.
static int match( const tr_skeleton *skeleton, const uint64_t *hashes, int index, tr_rig_part *parts )
{
    entry entries[MOST_ENTRIES];
    bool taken[MOST_ENTRIES] = { false };
    int count = list_names( index, entries ), found = 0;
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        if ( parts != NULL )
            parts[j] = ( tr_rig_part ){ TR_RIG_NONE, TR_SIDE_NONE };
        for ( int i = 0; i < count; ++i ) {
            if ( taken[i] || entries[i].hash != hashes[j] )
                continue;
            taken[i] = true;
            ++found;
            if ( parts != NULL )
                parts[j] = entries[i].human;
            break;
        }
    }
    return found;
}

static bool any_begins( const tr_skeleton *skeleton, const char *prefix )
{
    for ( int j = 0; prefix != NULL && j < skeleton->joint_count; ++j )
        if ( strncasecmp( skeleton->joints[j].name, prefix, strlen( prefix ) ) == 0 )
            return true;
    return false;
}

bool tr_family_of( const tr_skeleton *skeleton, int *index, tr_rig_part *parts, tr_error *error )
{
    const int least = 6; // names that make a family: an arm and what it hangs on
    uint64_t *hashes = tr_alloc( (size_t)skeleton->joint_count, sizeof *hashes );
    int best = 0;
    *index = -1;
    if ( hashes == NULL )
        return tr_error_memory( error );
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        char bare[LONGEST];
        plain( bare, skeleton->joints[j].name );
        hashes[j] = tr_hash_bytes( TR_HASH_START, bare, strlen( bare ) );
    }
    for ( int i = 0; i < FAMILIES; ++i ) {
        // A prefix decides between families with the same names, and those that need one are no others.
        bool sure = any_begins( skeleton, families[i].prefix );
        int found = 2 * match( skeleton, hashes, i, NULL ) + sure;
        if ( ( families[i].prefix != NULL && !sure ) || found <= best || found < 2 * least )
            continue;
        best = found;
        *index = i;
    }
    for ( int j = 0; j < skeleton->joint_count; ++j )
        parts[j] = ( tr_rig_part ){ TR_RIG_NONE, TR_SIDE_NONE };
    if ( *index >= 0 )
        match( skeleton, hashes, *index, parts );
    tr_free( hashes );
    return true;
}

// ------------------------------------------------------------------------------------------------ renaming

// Slots by roles, in order: for bodies of no family. Fingers are left out, roles do not distinguish them.
static tr_rig_part part_by_role( const tr_skeleton *skeleton, int joint )
{
    static const struct {
        int first, count;
    } parts[TR_ROLE_COUNT] = {
        [TR_ROLE_ROOT] = { TR_RIG_HIPS, 1 },         [TR_ROLE_SPINE] = { TR_RIG_SPINE_1, 5 },
        [TR_ROLE_NECK] = { TR_RIG_NECK_1, 2 },       [TR_ROLE_HEAD] = { TR_RIG_HEAD, 1 },
        [TR_ROLE_CLAVICLE] = { TR_RIG_CLAVICLE, 1 }, [TR_ROLE_UPPER_ARM] = { TR_RIG_UPPER_ARM, 1 },
        [TR_ROLE_FOREARM] = { TR_RIG_FOREARM, 1 },   [TR_ROLE_HAND] = { TR_RIG_HAND, 1 },
        [TR_ROLE_THIGH] = { TR_RIG_THIGH, 1 },       [TR_ROLE_SHIN] = { TR_RIG_SHIN, 1 },
        [TR_ROLE_FOOT] = { TR_RIG_FOOT, 1 },         [TR_ROLE_TOE] = { TR_RIG_TOE, 1 } };
    const tr_joint *of = &skeleton->joints[joint];
    int rank = 0;
    for ( int j = 0; j < joint; ++j )
        rank += skeleton->joints[j].role == of->role && skeleton->joints[j].side == of->side;
    if ( of->end_site || rank >= parts[of->role].count )
        return ( tr_rig_part ){ TR_RIG_NONE, TR_SIDE_NONE };
    int part = parts[of->role].first + rank;
    return ( tr_rig_part ){ part, has_sides( part ) ? of->side : TR_SIDE_NONE };
}

bool tr_family_rename( tr_skeleton *skeleton, int index, int *renamed, tr_error *error )
{
    int own;
    tr_rig_part *parts = tr_alloc( (size_t)skeleton->joint_count, sizeof *parts );
    if ( parts == NULL )
        return tr_error_memory( error );
    bool ok = tr_family_of( skeleton, &own, parts, error );
    for ( int j = 0; ok && own < 0 && j < skeleton->joint_count; ++j )
        parts[j] = part_by_role( skeleton, j );
    *renamed = 0;
    for ( int j = 0; ok && j < skeleton->joint_count; ++j ) {
        char name[TR_FAMILY_NAME];
        if ( parts[j].part == TR_RIG_NONE || !tr_family_joint( index, parts[j], name ) )
            continue;
        char *copy = tr_string_copy( name );
        ok = copy != NULL || tr_error_memory( error );
        if ( !ok )
            break;
        tr_free( skeleton->joints[j].name );
        skeleton->joints[j].name = copy;
        ++*renamed;
    }
    tr_free( parts );
    return ok && tr_skeleton_name_apart( skeleton, error );
}
