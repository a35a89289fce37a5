// Private to document: the lists and the fields of a document, each described once. Reading, printing,
// comparing, checking, the ops and undo are loops over these descriptions.
#ifndef TROUPE_DOCUMENT_FIELDS_H
#define TROUPE_DOCUMENT_FIELDS_H

#include "document/document.h"

// ------------------------------------------------------------------------------------------------ lists

typedef enum tr_list {
    TR_LIST_CAST,
    TR_LIST_PROP,
    TR_LIST_OBSTACLE,
    TR_LIST_CONSTRAINT,
    TR_LIST_LAYER,
    TR_LIST_SECTION,
    TR_LIST_HANDLE,
    TR_LIST_CLIP,
    TR_LIST_PAIR,
    TR_LIST_DRIVE,
    TR_LIST_EXAMPLE,
    TR_LIST_PART,
    TR_LIST_COUNT,
    TR_LIST_SCENE = TR_LIST_COUNT // not a list: the scene's own fields
} tr_list;

typedef struct tr_list_info {
    const char *path;             // JSON path of the list
    const char *noun;             // name of an element in messages
    size_t size;                  // bytes of an element
    size_t data, count, capacity; // offsets into tr_scene
} tr_list_info;

// An element of any list. All of them start with their id.
typedef union tr_element {
    tr_id id;
    tr_cast cast;
    tr_prop prop;
    tr_obstacle obstacle;
    tr_constraint constraint;
    tr_layer layer;
    tr_section section;
    tr_handle handle;
    tr_cast_clip clip;
    tr_pair pair;
    tr_drive drive;
    tr_example example;
    tr_part_drive part;
} tr_element;

const tr_list_info *tr_list_get_info( tr_list list );
int tr_list_count( const tr_scene *scene, tr_list list );
void *tr_list_at( const tr_scene *scene, tr_list list, int index );      // TR_LIST_SCENE: the scene itself
int tr_list_find( const tr_scene *scene, tr_list list, const char *id ); // -1 when absent
// Inserts a copy of the element at `index` (0 … count). False when out of memory, list intact.
bool tr_list_insert( tr_scene *scene, tr_list list, int index, const void *element );
void tr_list_remove( tr_scene *scene, tr_list list, int index );
// Cast, props and obstacles share one set of ids; every other list has a set of its own.
bool tr_list_holds_bodies( tr_list list );

// Constraints, layers and pairs come in kinds.
typedef struct tr_kind_set {
    const char *noun;         // name of such elements in messages
    const char *const *names; // NULL-terminated
    const char *key;          // key of the field with the kind: "kind"
    bool required;            // else the first kind is the default
} tr_kind_set;

const tr_kind_set *tr_list_kinds( tr_list list );         // NULL: the list has no kinds
int tr_element_kind( tr_list list, const void *element ); // 0 if the list has no kinds
// A new element with this id, of this kind where there are kinds.
void tr_element_default( tr_element *out, tr_list list, const char *id, int kind );

// Copies with zeros behind the text, so that equal texts are equal bytes. False when it does not fit.
bool tr_string_set( char *out, size_t size, const char *text );

// ----------------------------------------------------------------------------------------------- fields

typedef enum tr_field_type {
    TR_FIELD_TEXT,    // char[size]
    TR_FIELD_ID,      // tr_id
    TR_FIELD_NUMBERS, // double[size]
    TR_FIELD_INTS,    // int[size]
    TR_FIELD_BOOL,
    TR_FIELD_UP,     // char: "y" or "z", 0 = guess
    TR_FIELD_KIND,   // int: a name of tr_list_kinds
    TR_FIELD_AXES,   // bool[3]: "xz"
    TR_FIELD_COLOUR, // float[3]: "#rrggbb"
    TR_FIELD_POINT,  // tr_point, see tr_point_parse
    TR_FIELD_LIMBS,  // tr_limb_value[TR_LIMB_VALUES] and their count behind it: an object
    TR_FIELD_ROWS // double[TR_ROWS_MAX][size] and the count of rows behind it: [[0, 1, 2], …]; in ops 0,1,2;…
} tr_field_type;

enum {
    TR_FIELD_REQUIRED = 1, // must be in a file
    TR_FIELD_ALWAYS = 2,   // printed even when it has its default
    TR_FIELD_GIVEN = 4     // counts only when tr_constraint.given is set; reading it sets that
};

typedef struct tr_field {
    const char *path; // within the element: target.scale
    tr_field_type type;
    size_t offset;
    int size;         // numbers in a list, bytes of a text
    double low, high; // bounds of each number
    int flags;
    unsigned kinds;   // bit 1 << kind for each kind of constraint (or layer, …) that has it; 0 = all
    tr_list kinds_of; // list of these kinds; 0: constraints
} tr_field;

// The value of a field in a file or an op, before it is checked.
typedef struct tr_value {
    enum { TR_VALUE_OTHER, TR_VALUE_TEXT, TR_VALUE_NUMBER, TR_VALUE_LIST, TR_VALUE_BOOL } type;
    const char *text;
    double numbers[4];
    int count; // elements of a list
    bool flag;
} tr_value;

const tr_field *tr_fields( tr_list list, int *count );
const tr_field *tr_field_find( tr_list list, const char *path );     // NULL when absent
bool tr_field_applies( const tr_field *field, const void *element ); // to this kind of element
bool tr_field_permit( const tr_field *field, const void *element,
                      tr_error *error ); // the same, with a reason
bool tr_field_store( const tr_field *field, void *element, const tr_value *value, tr_error *error );
bool tr_field_check( const tr_field *field, const void *element, tr_error *error );
bool tr_field_equal( const tr_field *field, const void *a, const void *b );
void tr_field_copy( const tr_field *field, void *to, const void *from );
void tr_field_print( const tr_field *field, const void *element, tr_text *out ); // its value as JSON

// Adds a row of field->size numbers. False: there are TR_ROWS_MAX.
bool tr_rows_add( const tr_field *field, void *element, const double *numbers, tr_error *error );

// Sets the entry of a limb, adding it at the end when new; `value` NULL removes it. False: too many limbs,
// name too long.
bool tr_limbs_set( const tr_field *field, void *element, const char *limb, const double *value,
                   tr_error *error );

// ------------------------------------------------------------------------------------------------ edits
// The changes an op made to the scene, to undo and redo them. Neither allocates: lists keep their capacity.

typedef struct tr_change { // a change of one element, or of the scene's own fields
    enum { TR_CHANGE_INSERT, TR_CHANGE_REMOVE, TR_CHANGE_REPLACE } type;
    tr_list list;
    int index;
    size_t offset, size;  // changed bytes of the element; all of them unless replaced
    unsigned char *bytes; // [size]; replaced: [2 * size], before and after
} tr_change;

typedef struct tr_edit {
    tr_change *changes; // in the order they were made
    int count, capacity;
    size_t bytes; // held in all
} tr_edit;

// Each changes the scene and records it. False when out of memory, nothing changed.
bool tr_edit_insert( tr_edit *edit, tr_scene *scene, tr_list list, int index, const void *element );
bool tr_edit_remove( tr_edit *edit, tr_scene *scene, tr_list list, int index );
bool tr_edit_replace( tr_edit *edit, tr_scene *scene, tr_list list, int index, const void *element );
void tr_edit_undo( const tr_edit *edit, tr_scene *scene );
void tr_edit_redo( const tr_edit *edit, tr_scene *scene );
void tr_edit_free( tr_edit *edit );

// Parses and applies one op. On failure `edit` holds what was done before it failed; errors carry the column.
bool tr_op_apply( tr_edit *edit, tr_scene *scene, const char *line, tr_error *error );
// Column of the value that a line gives to a field of its element; 0 when it does not set the field.
int tr_op_column( const char *line, const char *field );

bool tr_id_valid( const char *id ); // [a-z0-9_]+

// ------------------------------------------------------------------------------------------- references
// References follow an element that is renamed. Elements that name a removed one are removed too; a copied
// layer brings its sections and handles, a copied cast member its clips, drives, examples and parts.
bool tr_references_remove( tr_edit *edit, tr_scene *scene, tr_list list, const char *id );
bool tr_references_rename( tr_edit *edit, tr_scene *scene, tr_list list, const char *from, const char *to,
                           tr_error *error );
bool tr_references_copy( tr_edit *edit, tr_scene *scene, tr_list list, const char *id, const char *to );

// Reads the name of a joint at *text, with or without single quotes, into `joint` [TR_JOINT_MAX].
bool tr_joint_parse( const char **text, char *joint, tr_error *error );
void tr_joint_print( tr_text *out, const char *joint );
// Reads @x,y,z.
bool tr_offset_parse( const char **text, vec3 *offset, tr_error *error );

// Whether the members of a layer (see tr_member_parse) include this id literally.
bool tr_members_name( const char *members, const char *id );
// Renames an id among the members, or removes it when `to` is NULL. False when it does not fit; nothing
// changes then.
bool tr_members_rename( char *members, const char *from, const char *to );

#endif
