// The fields of every list, each described once. fields.c works on them.
#include "document/fields.h"

#include <string.h>

#define COUNT( array )   (int)( sizeof( array ) / sizeof *( array ) )
#define TURN             36000 // degrees: angles may count up to a hundred turns
#define KIND( kind )     ( 1u << TR_CONSTRAINT_##kind )
#define LAYER( kind )    ( 1u << TR_LAYER_##kind )
#define POSITIONAL_KINDS ( KIND( ABSOLUTE ) | KIND( CONTACT ) | KIND( CENTRE_OF_MASS ) | KIND( RELATIVE ) )

#define FILE_FIELDS( key, type, member, file_flags )                                                         \
    { key ".file", TR_FIELD_TEXT, offsetof( type, member.file ), TR_PATH_MAX, .flags = file_flags },         \
        { key ".skeleton", TR_FIELD_TEXT, offsetof( type, member.skeleton ), TR_JOINT_MAX },                 \
        { key ".take", TR_FIELD_TEXT, offsetof( type, member.take ), TR_JOINT_MAX },                         \
        { key ".unit", TR_FIELD_NUMBERS, offsetof( type, member.unit ), 1, 0, 1000 },                        \
        { key ".up", TR_FIELD_UP, offsetof( type, member.up ) },                                             \
        { key ".rate", TR_FIELD_NUMBERS, offsetof( type, member.rate ), 1, 0, 10000 },                       \
        { key ".first", TR_FIELD_INTS, offsetof( type, member.first ), 1, 0, TR_MAX_FRAMES },                \
    {                                                                                                        \
        key ".last", TR_FIELD_INTS, offsetof( type, member.last ), 1, -1, TR_MAX_FRAMES                      \
    }

#define SHAPE( kind ) ( 1u << TR_SHAPE_##kind )
#define FORM_FIELDS( type, list )                                                                              \
    { "size", TR_FIELD_NUMBERS, offsetof( type, size ),         3,   1e-4,                                     \
      1e4,    TR_FIELD_ALWAYS,  SHAPE( BOX ) | SHAPE( SPHERE ), list },                                        \
        { "points",          TR_FIELD_ROWS, offsetof( type, form.points ), 3, -TR_FAR, TR_FAR, 0,              \
          SHAPE( POLYLINE ), list },                                                                           \
        { "thickness",                                                                                         \
          TR_FIELD_NUMBERS,                                                                                    \
          offsetof( type, form.thickness ),                                                                    \
          1,                                                                                                   \
          1e-4,                                                                                                \
          1e3,                                                                                                 \
          0,                                                                                                   \
          SHAPE( POLYLINE ) | SHAPE( MESH ),                                                                   \
          list },                                                                                              \
        { "mesh.file",   TR_FIELD_TEXT, offsetof( type, form.mesh ), TR_PATH_MAX, 0, 0, 0,                     \
          SHAPE( MESH ), list },                                                                               \
        { "mesh.unit", TR_FIELD_NUMBERS, offsetof( type, form.unit ), 1, 1e-6, 1000, 0, SHAPE( MESH ), list }, \
    {                                                                                                          \
        "mesh.up", TR_FIELD_UP, offsetof( type, form.up ), 0, 0, 0, 0, SHAPE( MESH ), list                     \
    }

// Fields of one JSON object are adjacent; they are printed in this order.
static const tr_field cast_fields[] = {
    { "id", TR_FIELD_ID, offsetof( tr_cast, id ), TR_ID_MAX, .flags = TR_FIELD_REQUIRED },
    FILE_FIELDS( "source", tr_cast, source, TR_FIELD_REQUIRED ),
    { "target.scale", TR_FIELD_NUMBERS, offsetof( tr_cast, target.scale ), 1, 0.01, 100 },
    { "target.limbs", TR_FIELD_LIMBS, offsetof( tr_cast, target.limbs ), 0, 0.01, 100 },
    { "target.girth", TR_FIELD_LIMBS, offsetof( tr_cast, target.girths ), 0, 0.01, 100 },
    FILE_FIELDS( "target.skeleton", tr_cast, target.skeleton, 0 ),
    { "target.look.file", TR_FIELD_TEXT, offsetof( tr_cast, target.look.file ), TR_PATH_MAX },
    { "target.look.skeleton", TR_FIELD_TEXT, offsetof( tr_cast, target.look.skeleton ), TR_JOINT_MAX },
    { "target.look.unit", TR_FIELD_NUMBERS, offsetof( tr_cast, target.look.unit ), 1, 0, 1000 },
    { "target.look.up", TR_FIELD_UP, offsetof( tr_cast, target.look.up ) },
    { "target.examples", TR_FIELD_BOOL, offsetof( tr_cast, target.examples ) },
    { "target.animation", TR_FIELD_BOOL, offsetof( tr_cast, target.animation ) },
    { "target.reference", TR_FIELD_INTS, offsetof( tr_cast, target.reference ), 1, -1, TR_MAX_FRAMES },
    { "target.path_scale", TR_FIELD_NUMBERS, offsetof( tr_cast, target.path_scale ), 1, 0, 100 },
    { "mapping", TR_FIELD_TEXT, offsetof( tr_cast, mapping ), TR_PATH_MAX },
    { "placement.position", TR_FIELD_NUMBERS, offsetof( tr_cast, position ), 3, -TR_FAR, TR_FAR },
    { "placement.heading", TR_FIELD_NUMBERS, offsetof( tr_cast, heading ), 1, -TURN, TURN },
    { "placement.start", TR_FIELD_INTS, offsetof( tr_cast, start ), 1, -TR_MAX_FRAMES, TR_MAX_FRAMES },
    { "colour", TR_FIELD_COLOUR, offsetof( tr_cast, colour ) },
    { "automatic.contacts", TR_FIELD_BOOL, offsetof( tr_cast, contacts ) },
    { "automatic.soles", TR_FIELD_BOOL, offsetof( tr_cast, soles ) },
    { "automatic.balance", TR_FIELD_BOOL, offsetof( tr_cast, balance ) },
};

static const tr_field prop_fields[] = {
    { "id", TR_FIELD_ID, offsetof( tr_prop, id ), TR_ID_MAX, .flags = TR_FIELD_REQUIRED },
    { "shape", TR_FIELD_KIND, offsetof( tr_prop, shape ), .flags = TR_FIELD_ALWAYS,
      .kinds_of = TR_LIST_PROP },
    FORM_FIELDS( tr_prop, TR_LIST_PROP ),
    { "scale", TR_FIELD_NUMBERS, offsetof( tr_prop, scale ), 1, 0.01, 100 },
    FILE_FIELDS( "track", tr_prop, track, 0 ),
    { "placement.position", TR_FIELD_NUMBERS, offsetof( tr_prop, position ), 3, -TR_FAR, TR_FAR },
    { "placement.heading", TR_FIELD_NUMBERS, offsetof( tr_prop, heading ), 1, -TURN, TURN },
    { "placement.start", TR_FIELD_INTS, offsetof( tr_prop, start ), 1, -TR_MAX_FRAMES, TR_MAX_FRAMES },
    { "colour", TR_FIELD_COLOUR, offsetof( tr_prop, colour ) },
};

static const tr_field obstacle_fields[] = {
    { "id", TR_FIELD_ID, offsetof( tr_obstacle, id ), TR_ID_MAX, .flags = TR_FIELD_REQUIRED },
    { "shape", TR_FIELD_KIND, offsetof( tr_obstacle, shape ), .kinds_of = TR_LIST_OBSTACLE },
    FORM_FIELDS( tr_obstacle, TR_LIST_OBSTACLE ),
    { "position", TR_FIELD_NUMBERS, offsetof( tr_obstacle, position ), 3, -TR_FAR, TR_FAR, TR_FIELD_ALWAYS },
    { "heading", TR_FIELD_NUMBERS, offsetof( tr_obstacle, heading ), 1, -TURN, TURN },
    { "scale", TR_FIELD_NUMBERS, offsetof( tr_obstacle, scale ), 1, 0.01, 100 },
    { "move", TR_FIELD_NUMBERS, offsetof( tr_obstacle, move ), 3, -TR_FAR, TR_FAR },
    { "colour", TR_FIELD_COLOUR, offsetof( tr_obstacle, colour ) },
};

static const tr_field constraint_fields[] = {
    { "id", TR_FIELD_ID, offsetof( tr_constraint, id ), TR_ID_MAX, .flags = TR_FIELD_REQUIRED },
    { "kind", TR_FIELD_KIND, offsetof( tr_constraint, kind ), .flags = TR_FIELD_REQUIRED | TR_FIELD_ALWAYS },
    { "a", TR_FIELD_POINT, offsetof( tr_constraint, a ), .flags = TR_FIELD_REQUIRED },
    { "b", TR_FIELD_POINT, offsetof( tr_constraint, b ), .kinds = KIND( LENGTH ) | KIND( RELATIVE ) },
    { "surface", TR_FIELD_ID, offsetof( tr_constraint, surface ), TR_ID_MAX, .kinds = KIND( CONTACT ) },
    { "range", TR_FIELD_INTS, offsetof( tr_constraint, first ), 2, -2 * TR_MAX_FRAMES, 2 * TR_MAX_FRAMES },
    { "ease", TR_FIELD_NUMBERS, offsetof( tr_constraint, ease_in ), 2, 0, TR_MAX_FRAMES },
    { "hard", TR_FIELD_BOOL, offsetof( tr_constraint, hard ) },
    { "weight", TR_FIELD_NUMBERS, offsetof( tr_constraint, weight ), 1, 0, 1e9 },
    { "priority", TR_FIELD_INTS, offsetof( tr_constraint, priority ), 1, 0, 4 },
    { "axes", TR_FIELD_AXES, offsetof( tr_constraint, axis ), .kinds = POSITIONAL_KINDS },
    { "target", TR_FIELD_NUMBERS, offsetof( tr_constraint, target ), 3, -TR_FAR, TR_FAR, TR_FIELD_GIVEN,
      POSITIONAL_KINDS },
    { "keys", TR_FIELD_ROWS, offsetof( tr_constraint, keys ), 4, -2 * TR_MAX_FRAMES, 2 * TR_MAX_FRAMES,
      .kinds = KIND( ABSOLUTE ) },
    { "direction", TR_FIELD_BOOL, offsetof( tr_constraint, direction ), .kinds = KIND( ABSOLUTE ) },
    { "partners", TR_FIELD_BOOL, offsetof( tr_constraint, partners ), .kinds = KIND( ABSOLUTE ) },
    { "rotation", TR_FIELD_NUMBERS, offsetof( tr_constraint, rotation ), 4, -2, 2, TR_FIELD_GIVEN,
      KIND( ORIENTATION ) },
    { "flat", TR_FIELD_BOOL, offsetof( tr_constraint, flat ), .kinds = KIND( ORIENTATION ) },
    { "length", TR_FIELD_NUMBERS, offsetof( tr_constraint, length ), 1, 0, 1000, TR_FIELD_GIVEN,
      KIND( LENGTH ) },
    { "partner_space", TR_FIELD_BOOL, offsetof( tr_constraint, partner_space ), .kinds = KIND( RELATIVE ) },
};

#define ONLY( kind ) .kinds = LAYER( kind ), .kinds_of = TR_LIST_LAYER

static const tr_field layer_fields[] = {
    { "id", TR_FIELD_ID, offsetof( tr_layer, id ), TR_ID_MAX, .flags = TR_FIELD_REQUIRED },
    { "kind", TR_FIELD_KIND, offsetof( tr_layer, kind ), .flags = TR_FIELD_REQUIRED | TR_FIELD_ALWAYS,
      .kinds_of = TR_LIST_LAYER },
    { "members", TR_FIELD_TEXT, offsetof( tr_layer, members ), TR_MEMBERS_MAX, .flags = TR_FIELD_REQUIRED },
    { "range", TR_FIELD_INTS, offsetof( tr_layer, first ), 2, -2 * TR_MAX_FRAMES, 2 * TR_MAX_FRAMES },
    { "ease", TR_FIELD_NUMBERS, offsetof( tr_layer, ease_in ), 2, 0, TR_MAX_FRAMES },
    { "padding", TR_FIELD_NUMBERS, offsetof( tr_layer, padding ), 1, 0.001, 100, ONLY( CAGE ) },
    { "falloff", TR_FIELD_NUMBERS, offsetof( tr_layer, falloff ), 1, 0, TR_MAX_FRAMES, ONLY( CAGE ) },
    { "turn", TR_FIELD_BOOL, offsetof( tr_layer, turn ), ONLY( CAGE ) },
    { "firm", TR_FIELD_BOOL, offsetof( tr_layer, firm ), ONLY( CAGE ) },
    { "ripple", TR_FIELD_BOOL, offsetof( tr_layer, ripple ), ONLY( RETIME ) },
    { "muted", TR_FIELD_BOOL, offsetof( tr_layer, muted ) },
    { "solo", TR_FIELD_BOOL, offsetof( tr_layer, solo ) },
};

static const tr_field section_fields[] = {
    { "id", TR_FIELD_ID, offsetof( tr_section, id ), TR_ID_MAX, .flags = TR_FIELD_REQUIRED },
    { "layer", TR_FIELD_ID, offsetof( tr_section, layer ), TR_ID_MAX, .flags = TR_FIELD_REQUIRED },
    { "frame", TR_FIELD_INTS, offsetof( tr_section, frame ), 1, -TR_MAX_FRAMES, TR_MAX_FRAMES,
      TR_FIELD_REQUIRED | TR_FIELD_ALWAYS },
    { "delay", TR_FIELD_NUMBERS, offsetof( tr_section, delay ), 1, -TR_MAX_FRAMES, TR_MAX_FRAMES },
};

static const tr_field handle_fields[] = {
    { "id", TR_FIELD_ID, offsetof( tr_handle, id ), TR_ID_MAX, .flags = TR_FIELD_REQUIRED },
    { "layer", TR_FIELD_ID, offsetof( tr_handle, layer ), TR_ID_MAX, .flags = TR_FIELD_REQUIRED },
    { "frame", TR_FIELD_INTS, offsetof( tr_handle, frame ), 1, -TR_MAX_FRAMES, TR_MAX_FRAMES,
      TR_FIELD_REQUIRED | TR_FIELD_ALWAYS },
    { "point", TR_FIELD_POINT, offsetof( tr_handle, point ) },
    { "vertex", TR_FIELD_INTS, offsetof( tr_handle, vertex ), 1, -1, 1e6 },
    { "move", TR_FIELD_NUMBERS, offsetof( tr_handle, move ), 3, -TR_FAR, TR_FAR },
    { "turn", TR_FIELD_NUMBERS, offsetof( tr_handle, turn ), 3, -TURN, TURN },
    { "pinned", TR_FIELD_BOOL, offsetof( tr_handle, pinned ) },
};

static const tr_field clip_fields[] = {
    { "id", TR_FIELD_ID, offsetof( tr_cast_clip, id ), TR_ID_MAX, .flags = TR_FIELD_REQUIRED },
    { "cast", TR_FIELD_ID, offsetof( tr_cast_clip, cast ), TR_ID_MAX, .flags = TR_FIELD_REQUIRED },
    FILE_FIELDS( "source", tr_cast_clip, source, TR_FIELD_REQUIRED ),
    { "blend", TR_FIELD_INTS, offsetof( tr_cast_clip, blend ), 1, -1, TR_MAX_FRAMES },
};

static const tr_field pair_fields[] = {
    { "id", TR_FIELD_ID, offsetof( tr_pair, id ), TR_ID_MAX, .flags = TR_FIELD_REQUIRED },
    { "kind", TR_FIELD_KIND, offsetof( tr_pair, kind ), .flags = TR_FIELD_REQUIRED | TR_FIELD_ALWAYS,
      .kinds_of = TR_LIST_PAIR },
    { "a", TR_FIELD_ID, offsetof( tr_pair, a ), TR_ID_MAX, .flags = TR_FIELD_REQUIRED },
    { "b", TR_FIELD_TEXT, offsetof( tr_pair, b ), TR_ID_MAX },
    { "range", TR_FIELD_INTS, offsetof( tr_pair, first ), 2, -2 * TR_MAX_FRAMES, 2 * TR_MAX_FRAMES },
};

static const tr_field drive_fields[] = {
    { "id", TR_FIELD_ID, offsetof( tr_drive, id ), TR_ID_MAX, .flags = TR_FIELD_REQUIRED },
    { "cast", TR_FIELD_ID, offsetof( tr_drive, cast ), TR_ID_MAX, .flags = TR_FIELD_REQUIRED },
    { "joint", TR_FIELD_TEXT, offsetof( tr_drive, joint ), TR_JOINT_MAX, .flags = TR_FIELD_REQUIRED },
    { "source", TR_FIELD_TEXT, offsetof( tr_drive, source ), TR_JOINT_MAX },
};

static const tr_field example_fields[] = {
    { "id", TR_FIELD_ID, offsetof( tr_example, id ), TR_ID_MAX, .flags = TR_FIELD_REQUIRED },
    { "cast", TR_FIELD_ID, offsetof( tr_example, cast ), TR_ID_MAX, .flags = TR_FIELD_REQUIRED },
    { "source", TR_FIELD_INTS, offsetof( tr_example, source ), 1, 0, TR_MAX_FRAMES,
      TR_FIELD_REQUIRED | TR_FIELD_ALWAYS },
    { "target", TR_FIELD_INTS, offsetof( tr_example, target ), 1, 0, TR_MAX_FRAMES,
      TR_FIELD_REQUIRED | TR_FIELD_ALWAYS },
    { "pose", TR_FIELD_TEXT, offsetof( tr_example, pose ), TR_POSE_MAX },
    { "mirrored", TR_FIELD_BOOL, offsetof( tr_example, mirrored ) },
    { "muted", TR_FIELD_BOOL, offsetof( tr_example, muted ) },
};

#define JOINT_FIELD( key, member )                                                                           \
    {                                                                                                        \
        key, TR_FIELD_TEXT, offsetof( tr_part_drive, member ), TR_JOINT_MAX, .flags = TR_FIELD_REQUIRED      \
    }

static const tr_field part_fields[] = {
    { "id", TR_FIELD_ID, offsetof( tr_part_drive, id ), TR_ID_MAX, .flags = TR_FIELD_REQUIRED },
    { "cast", TR_FIELD_ID, offsetof( tr_part_drive, cast ), TR_ID_MAX, .flags = TR_FIELD_REQUIRED },
    JOINT_FIELD( "source.first", source_first ),
    JOINT_FIELD( "source.last", source_last ),
    JOINT_FIELD( "target.first", target_first ),
    JOINT_FIELD( "target.last", target_last ),
    { "aim", TR_FIELD_NUMBERS, offsetof( tr_part_drive, aim ), 1, 0, 1 },
};

static const tr_field scene_fields[] = {
    { "fps", TR_FIELD_NUMBERS, offsetof( tr_scene, fps ), 1, 0.1, 1000 },
    { "range", TR_FIELD_INTS, offsetof( tr_scene, first ), 2, -TR_MAX_FRAMES, TR_MAX_FRAMES,
      TR_FIELD_REQUIRED },
    { "imesh", TR_FIELD_BOOL, offsetof( tr_scene, imesh ) },
    { "environment.ground", TR_FIELD_NUMBERS, offsetof( tr_scene, ground ), 1, -TR_FAR, TR_FAR },
};

// Lists of numbers are read and written through the first of them.
_Static_assert( offsetof( tr_scene, last ) == offsetof( tr_scene, first ) + sizeof( int ) &&
                    offsetof( tr_constraint, last ) == offsetof( tr_constraint, first ) + sizeof( int ) &&
                    offsetof( tr_constraint, ease_out ) ==
                        offsetof( tr_constraint, ease_in ) + sizeof( double ) &&
                    offsetof( tr_layer, last ) == offsetof( tr_layer, first ) + sizeof( int ) &&
                    offsetof( tr_layer, ease_out ) == offsetof( tr_layer, ease_in ) + sizeof( double ) &&
                    offsetof( tr_pair, last ) == offsetof( tr_pair, first ) + sizeof( int ) &&
                    offsetof( tr_form, point_count ) ==
                        offsetof( tr_form, points ) + 3 * TR_ROWS_MAX * sizeof( double ) &&
                    offsetof( tr_constraint, key_count ) ==
                        offsetof( tr_constraint, keys ) + 4 * TR_ROWS_MAX * sizeof( double ) &&
                    sizeof( vec3 ) == 3 * sizeof( double ) && sizeof( quat ) == 4 * sizeof( double ) &&
                    sizeof( tr_key ) == 4 * sizeof( double ),
                "numbers of a list stand together" );

const tr_field *tr_fields( tr_list list, int *count )
{
    static const struct {
        const tr_field *fields;
        int count;
    } tables[] = {
        [TR_LIST_CAST] = { cast_fields, COUNT( cast_fields ) },
        [TR_LIST_PROP] = { prop_fields, COUNT( prop_fields ) },
        [TR_LIST_OBSTACLE] = { obstacle_fields, COUNT( obstacle_fields ) },
        [TR_LIST_CONSTRAINT] = { constraint_fields, COUNT( constraint_fields ) },
        [TR_LIST_LAYER] = { layer_fields, COUNT( layer_fields ) },
        [TR_LIST_SECTION] = { section_fields, COUNT( section_fields ) },
        [TR_LIST_HANDLE] = { handle_fields, COUNT( handle_fields ) },
        [TR_LIST_CLIP] = { clip_fields, COUNT( clip_fields ) },
        [TR_LIST_PAIR] = { pair_fields, COUNT( pair_fields ) },
        [TR_LIST_DRIVE] = { drive_fields, COUNT( drive_fields ) },
        [TR_LIST_EXAMPLE] = { example_fields, COUNT( example_fields ) },
        [TR_LIST_PART] = { part_fields, COUNT( part_fields ) },
        [TR_LIST_SCENE] = { scene_fields, COUNT( scene_fields ) },
    };
    *count = tables[list].count;
    return tables[list].fields;
}

const tr_field *tr_field_find( tr_list list, const char *path )
{
    int count;
    const tr_field *fields = tr_fields( list, &count );
    for ( int i = 0; i < count; ++i )
        if ( strcmp( fields[i].path, path ) == 0 )
            return &fields[i];
    return NULL;
}
