// The ops of scene_ops.inl: one line of text → parameters → change of the scene.
#include "scene/document/document.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_PARAMS     24
#define COUNT( array ) (int)( sizeof( array ) / sizeof *( array ) )

typedef struct row row;

typedef struct argument {
    char *text; // NULL when it is not there
    int column; // of the value
} argument;

typedef struct call { // a parsed line
    const row *row;
    const tr_op_info *info;
    argument arguments[MAX_PARAMS]; // [info->param_count], in the row's order
    int column;                     // of the op's name
} call;

typedef bool apply_function( const call *c, tr_edit *edit, tr_scene *scene, tr_error *error );
static apply_function apply_add, apply_set, apply_remove, apply_rename, apply_copy, apply_move, apply_limb,
    apply_scale;

struct row {
    tr_list list;
    apply_function *apply;
};

#define NEED( key, type, field, help )                                                                       \
    {                                                                                                        \
#key, TR_OP_##type, true, field, help                                                                \
    }
#define MAY( key, type, field, help )                                                                        \
    {                                                                                                        \
#key, TR_OP_##type, false, field, help                                                               \
    }

#define OP( name, list, apply, help, ... ) static const tr_op_param name##_params[] = { __VA_ARGS__ };
#include "scene/scene_ops.inl"

#define OP( name, list, apply, help, ... ) { #name, help, name##_params, COUNT( name##_params ) },
static const tr_op_info infos[] = {
#include "scene/scene_ops.inl"
};

#define OP( name, list, apply, help, ... ) { TR_LIST_##list, apply_##apply },
static const row rows[] = {
#include "scene/scene_ops.inl"
};

#define OP( name, list, apply, help, ... )                                                                   \
    _Static_assert( COUNT( name##_params ) <= MAX_PARAMS, "a call has room for every parameter" );
#include "scene/scene_ops.inl"

const tr_op_info *tr_op_table( int *count )
{
    *count = COUNT( infos );
    return infos;
}

// ---------------------------------------------------------------------------------------------- parsing

TR_PRINTF( 3 )
static bool fail( tr_error *error, int column, const char *format, ... )
{
    char sentence[512];
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( sentence, sizeof sentence, format, arguments );
    va_end( arguments );
    return tr_error_at( error, NULL, 0, column, "%s", sentence );
}

static bool is_blank( char c )
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static int find_op( const char *name )
{
    for ( int i = 0; i < COUNT( infos ); ++i )
        if ( strcmp( infos[i].name, name ) == 0 )
            return i;
    return -1;
}

static bool fail_op( tr_error *error, int column, const char *name )
{
    const char *names[COUNT( infos ) + 1] = { NULL };
    for ( int i = 0; i < COUNT( infos ); ++i )
        names[i] = infos[i].name;
    const char *near = tr_nearest_word( name, names );
    if ( strcmp( name, "open" ) == 0 )
        return fail( error, column, "open stands once, as the first op of a script" );
    if ( near != NULL )
        return fail( error, column, "there is no op \"%.40s\"; did you mean \"%s\"?", name, near );
    return fail( error, column, "there is no op \"%.40s\"; `troupe ops` lists them", name );
}

static bool fail_key( tr_error *error, int column, const tr_op_info *info, const char *key )
{
    const char *keys[MAX_PARAMS + 1] = { NULL };
    char list[320] = "";
    for ( int i = 0; i < info->param_count; ++i ) {
        keys[i] = info->params[i].key;
        size_t used = strlen( list );
        snprintf( list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", keys[i] );
    }
    const char *near = tr_nearest_word( key, keys );
    if ( near != NULL )
        return fail( error, column, "%s has no key \"%.40s\"; did you mean \"%s\"?", info->name, key, near );
    return fail( error, column, "%s has no key \"%.40s\"; its keys are %s", info->name, key, list );
}

// Ends the word at *text with a NUL where `stop`, a blank or the end follows; returns what stood there.
static char cut_word( char **text, char stop )
{
    while ( **text != 0 && **text != stop && !is_blank( **text ) )
        ++*text;
    char found = **text;
    if ( found != 0 )
        *( *text )++ = 0;
    return found;
}

// Takes the quotes off the value at *text, in place.
static bool cut_quoted( char **text, const char *line, tr_error *error )
{
    char *from = *text + 1, *to = *text;
    int column = (int)( *text - line ) + 1;
    for ( ; *from != '"'; *to++ = *from++ ) {
        if ( *from == '\\' && ( from[1] == '"' || from[1] == '\\' ) )
            ++from;
        if ( *from == 0 )
            return fail( error, column, "the quote is not closed" );
    }
    if ( from[1] != 0 && !is_blank( from[1] ) )
        return fail( error, (int)( from - line ) + 2, "a blank is needed behind the closing quote" );
    *to = 0;
    *text = from + 1;
    return true;
}

static bool parse_argument( call *c, char **text, const char *line, tr_error *error )
{
    char *key = *text;
    int column = (int)( key - line ) + 1;
    if ( cut_word( text, '=' ) != '=' )
        return fail( error, column, "\"%.40s\" is not of the form key=value", key );
    int i = 0;
    while ( i < c->info->param_count && strcmp( c->info->params[i].key, key ) != 0 )
        ++i;
    if ( i == c->info->param_count )
        return fail_key( error, column, c->info, key );
    if ( c->arguments[i].text != NULL )
        return fail( error, column, "%s is given twice", key );
    c->arguments[i] = ( argument ){ *text, (int)( *text - line ) + 1 };
    if ( **text == '"' )
        return cut_quoted( text, line, error );
    cut_word( text, 0 );
    return true;
}

// Cuts `line` up in place; the call points into it.
static bool parse_call( call *c, char *line, tr_error *error )
{
    char *text = line + strspn( line, " \t" ), *name = text;
    *c = ( call ){ .column = (int)( text - line ) + 1 };
    if ( text[strcspn( text, "\r\n" ) + strspn( text + strcspn( text, "\r\n" ), "\r\n" )] != 0 )
        return fail( error, 0, "an op is one line" );
    if ( *text == 0 || *text == '#' )
        return fail( error, c->column, "there is no op on this line" );
    cut_word( &text, 0 );
    int op = find_op( name );
    if ( op < 0 )
        return fail_op( error, c->column, name );
    c->row = &rows[op];
    c->info = &infos[op];
    for ( ;; ) {
        while ( is_blank( *text ) )
            ++text;
        if ( *text == 0 || *text == '#' )
            break;
        if ( !parse_argument( c, &text, line, error ) )
            return false;
    }
    for ( int i = 0; i < c->info->param_count; ++i )
        if ( c->info->params[i].required && c->arguments[i].text == NULL )
            return fail( error, c->column, "%s needs %s=…: %s", c->info->name, c->info->params[i].key,
                         c->info->params[i].help );
    return true;
}

// ----------------------------------------------------------------------------------------------- values

static bool read_numbers( const char *text, int count, double *numbers )
{
    const char *end = text + strlen( text );
    for ( int i = 0; i < count; ++i ) {
        if ( i > 0 && *text++ != ',' )
            return false;
        text = tr_number_parse( text, end, &numbers[i] );
        if ( text == NULL || !isfinite( numbers[i] ) )
            return false;
    }
    return text == end;
}

// A text that cannot be read as the type stays a text; storing it then says what the field expects.
static tr_value value_of( tr_op_type type, const char *text )
{
    tr_value value = { .type = TR_VALUE_TEXT, .text = text };
    switch ( type ) {
    case TR_OP_BOOL:
        value.flag = strcmp( text, "true" ) == 0;
        if ( value.flag || strcmp( text, "false" ) == 0 )
            value.type = TR_VALUE_BOOL;
        break;
    case TR_OP_NUMBER:
    case TR_OP_INT:
        if ( read_numbers( text, 1, value.numbers ) )
            value.type = TR_VALUE_NUMBER;
        break;
    case TR_OP_PAIR:
    case TR_OP_VEC3:
    case TR_OP_QUAT:
        value.count = type == TR_OP_PAIR ? 2 : type == TR_OP_VEC3 ? 3 : 4;
        if ( read_numbers( text, value.count, value.numbers ) )
            value.type = TR_VALUE_LIST;
        break;
    default: break;
    }
    return value;
}

static const argument *find_argument( const call *c, const char *key )
{
    for ( int i = 0; i < c->info->param_count; ++i )
        if ( strcmp( c->info->params[i].key, key ) == 0 && c->arguments[i].text != NULL )
            return &c->arguments[i];
    return NULL;
}

static bool set_field( const call *c, int i, void *element, const void *standard, tr_error *error )
{
    const tr_op_param *param = &c->info->params[i];
    const tr_field *field = tr_field_find( c->row->list, param->field );
    tr_value value = value_of( param->type, c->arguments[i].text );
    tr_error why;
    bool empty = c->arguments[i].text[0] == 0;
    if ( !tr_field_permit( field, element, &why ) ||
         ( !empty && !tr_field_store( field, element, &value, &why ) ) )
        return fail( error, c->arguments[i].column, "%s: %s", param->key, why.message );
    if ( empty )
        tr_field_copy( field, element, standard );
    return true;
}

static bool set_fields( const call *c, void *element, const void *standard, tr_error *error )
{
    for ( int i = 0; i < c->info->param_count; ++i )
        if ( c->info->params[i].field != NULL && c->arguments[i].text != NULL &&
             !set_field( c, i, element, standard, error ) )
            return false;
    return true;
}

// Where the line sets a field, or something within it (target.limbs.tail within target.limbs); 0 = it does
// not.
static int column_of_field( const call *c, const char *field )
{
    for ( int i = 0; i < c->info->param_count; ++i ) {
        const char *own = c->info->params[i].field;
        if ( own == NULL || c->arguments[i].text == NULL )
            continue;
        size_t length = strlen( own );
        if ( strncmp( own, field, length ) == 0 && ( field[length] == 0 || field[length] == '.' ) )
            return c->arguments[i].column;
    }
    return 0;
}

// Where in the line the trouble of a JSON path comes from: at the value of the field it names, if that was
// set.
static int column_of_path( const call *c, const char *path )
{
    const char *bracket = strrchr( path, ']' );
    int column = column_of_field( c, bracket != NULL && bracket[1] == '.' ? bracket + 2 : path );
    return column > 0 ? column : c->column;
}

// ------------------------------------------------------------------------------------------------ applying

static bool find_named( const call *c, const tr_scene *scene, const argument *id, int *index,
                        tr_error *error )
{
    tr_list list = c->row->list;
    *index = tr_list_find( scene, list, id->text );
    if ( *index >= 0 )
        return true;
    int count = tr_list_count( scene, list );
    const char **ids = tr_alloc( (size_t)count + 1, sizeof *ids );
    for ( int i = 0; ids != NULL && i < count; ++i )
        ids[i] = tr_list_at( scene, list, i );
    const char *near = ids != NULL ? tr_nearest_word( id->text, ids ) : NULL;
    const char *noun = tr_list_get_info( list )->noun;
    if ( near != NULL )
        fail( error, id->column, "there is no %s \"%.40s\"; did you mean \"%s\"?", noun, id->text, near );
    else
        fail( error, id->column, "there is no %s \"%.40s\"", noun, id->text );
    tr_free( ids );
    return false;
}

static bool find_element( const call *c, const tr_scene *scene, int *index, tr_error *error )
{
    return find_named( c, scene, find_argument( c, "id" ), index, error );
}

// Whether the element at `index` (of this op's list; it need not be there yet) may have this id. The check of
// the whole scene would find out too, but not know which of the two came second.
static bool id_is_free( const call *c, const tr_scene *scene, int index, const char *id, tr_error *error )
{
    bool body = tr_list_holds_bodies( c->row->list );
    tr_list first = body ? TR_LIST_CAST : c->row->list, last = body ? TR_LIST_OBSTACLE : c->row->list;
    for ( tr_list list = first; list <= last; ++list ) {
        int found = tr_list_find( scene, list, id );
        if ( found < 0 || ( list == c->row->list && found == index ) )
            continue;
        char path[160];
        snprintf( path, sizeof path, "%s[%d].id", tr_list_get_info( c->row->list )->path, index );
        tr_error_path( error, NULL, path, "\"%s\" is already the id of %s[%d]", id,
                       tr_list_get_info( list )->path, found );
        if ( error != NULL )
            error->column = column_of_path( c, path );
        return false;
    }
    return true;
}

// The kind an op asks for, else `kind` as it is.
static bool read_kind( const call *c, int *kind, tr_error *error )
{
    tr_list list = c->row->list;
    const argument *text = tr_list_kinds( list ) != NULL ? find_argument( c, "kind" ) : NULL;
    tr_element element;
    tr_error why;
    if ( text == NULL )
        return true;
    tr_value value = { .type = TR_VALUE_TEXT, .text = text->text };
    if ( !tr_field_store( tr_field_find( list, "kind" ), &element, &value, &why ) )
        return fail( error, text->column, "kind: %s", why.message );
    *kind = tr_element_kind( list, &element );
    return true;
}

static bool apply_add( const call *c, tr_edit *edit, tr_scene *scene, tr_error *error )
{
    tr_element element, standard;
    int kind = 0;
    if ( !read_kind( c, &kind, error ) )
        return false;
    tr_element_default( &standard, c->row->list, "", kind );
    element = standard;
    int index = tr_list_count( scene, c->row->list );
    return set_fields( c, &element, &standard, error ) && id_is_free( c, scene, index, element.id, error ) &&
           ( tr_edit_insert( edit, scene, c->row->list, index, &element ) || tr_error_memory( error ) );
}

// An element of another kind keeps the fields both kinds have.
static void change_kind( tr_list list, tr_element *element, int kind )
{
    int count;
    const tr_field *fields = tr_fields( list, &count );
    tr_element changed;
    tr_element_default( &changed, list, element->id, kind );
    for ( int i = 0; i < count; ++i )
        if ( fields[i].type != TR_FIELD_KIND && tr_field_applies( &fields[i], element ) &&
             tr_field_applies( &fields[i], &changed ) )
            tr_field_copy( &fields[i], &changed, element );
    *element = changed;
}

static bool set_scene( const call *c, tr_edit *edit, tr_scene *scene, tr_error *error )
{
    tr_scene changed = *scene, standard = tr_default_scene();
    if ( !set_fields( c, &changed, &standard, error ) )
        return false;
    return tr_edit_replace( edit, scene, TR_LIST_SCENE, 0, &changed ) || tr_error_memory( error );
}

static bool set_anything( const call *c, tr_error *error )
{
    for ( int i = 0; i < c->info->param_count; ++i )
        if ( c->info->params[i].field != NULL && c->arguments[i].text != NULL )
            return true;
    return fail( error, c->column, "%s is given nothing to set", c->info->name );
}

static bool apply_set( const call *c, tr_edit *edit, tr_scene *scene, tr_error *error )
{
    tr_list list = c->row->list;
    tr_element element, standard;
    int index;
    if ( !set_anything( c, error ) )
        return false;
    if ( list == TR_LIST_SCENE )
        return set_scene( c, edit, scene, error );
    if ( !find_element( c, scene, &index, error ) )
        return false;
    memcpy( &element, tr_list_at( scene, list, index ), tr_list_get_info( list )->size );
    int before = tr_element_kind( list, &element ), kind = before;
    if ( !read_kind( c, &kind, error ) )
        return false;
    if ( kind != before )
        change_kind( list, &element, kind );
    tr_element_default( &standard, list, "", kind );
    return set_fields( c, &element, &standard, error ) &&
           ( tr_edit_replace( edit, scene, list, index, &element ) || tr_error_memory( error ) );
}

static bool apply_copy( const call *c, tr_edit *edit, tr_scene *scene, tr_error *error )
{
    tr_list list = c->row->list;
    tr_element element, standard;
    int index;
    if ( !find_element( c, scene, &index, error ) )
        return false;
    memcpy( &element, tr_list_at( scene, list, index ), tr_list_get_info( list )->size );
    tr_element_default( &standard, list, "", tr_element_kind( list, &element ) );
    index = tr_list_count( scene, list );
    if ( !set_fields( c, &element, &standard, error ) || !id_is_free( c, scene, index, element.id, error ) )
        return false;
    const char *id = find_argument( c, "id" )->text;
    return ( tr_edit_insert( edit, scene, list, index, &element ) &&
             tr_references_copy( edit, scene, list, id, element.id ) ) ||
           tr_error_memory( error );
}

static bool apply_remove( const call *c, tr_edit *edit, tr_scene *scene, tr_error *error )
{
    int index;
    if ( !find_element( c, scene, &index, error ) )
        return false;
    return ( tr_edit_remove( edit, scene, c->row->list, index ) &&
             tr_references_remove( edit, scene, c->row->list, find_argument( c, "id" )->text ) ) ||
           tr_error_memory( error );
}

static bool apply_rename( const call *c, tr_edit *edit, tr_scene *scene, tr_error *error )
{
    tr_list list = c->row->list;
    tr_element element;
    int index;
    if ( !find_element( c, scene, &index, error ) )
        return false;
    memcpy( &element, tr_list_at( scene, list, index ), tr_list_get_info( list )->size );
    if ( !set_fields( c, &element, &( tr_element ){ 0 }, error ) ||
         !id_is_free( c, scene, index, element.id, error ) )
        return false;
    if ( !tr_edit_replace( edit, scene, list, index, &element ) )
        return tr_error_memory( error );
    return tr_references_rename( edit, scene, list, find_argument( c, "id" )->text, element.id, error );
}

// To before another of the list, or to its end.
static bool apply_move( const call *c, tr_edit *edit, tr_scene *scene, tr_error *error )
{
    tr_list list = c->row->list;
    tr_element element;
    int from, to = tr_list_count( scene, list ) - 1;
    const argument *before = find_argument( c, "before" );
    if ( !find_element( c, scene, &from, error ) )
        return false;
    if ( before != NULL && before->text[0] != 0 && !find_named( c, scene, before, &to, error ) )
        return false;
    if ( before != NULL && before->text[0] != 0 && to > from )
        --to; // it moves up when the other is taken out
    memcpy( &element, tr_list_at( scene, list, from ), tr_list_get_info( list )->size );
    return ( tr_edit_remove( edit, scene, list, from ) &&
             tr_edit_insert( edit, scene, list, to, &element ) ) ||
           tr_error_memory( error );
}

static bool apply_limb( const call *c, tr_edit *edit, tr_scene *scene, tr_error *error )
{
    const argument *limb = find_argument( c, "limb" ), *value = find_argument( c, "value" );
    const tr_field *field = NULL;
    for ( int i = 0; i < c->info->param_count; ++i )
        if ( c->info->params[i].field != NULL )
            field = tr_field_find( c->row->list, c->info->params[i].field );
    tr_element element;
    int index;
    double factor = 0;
    tr_error why;
    if ( !find_element( c, scene, &index, error ) )
        return false;
    if ( value->text[0] != 0 && !read_numbers( value->text, 1, &factor ) )
        return fail( error, value->column, "value: must be a number" );
    memcpy( &element, &scene->cast[index], sizeof scene->cast[index] );
    if ( !tr_limbs_set( field, &element, limb->text, value->text[0] != 0 ? &factor : NULL, &why ) )
        return fail( error, limb->column, "limb: %s", why.message );
    return tr_edit_replace( edit, scene, TR_LIST_CAST, index, &element ) || tr_error_memory( error );
}

// The middle of the boxes that members name, on the floor.
static vec3 middle_of( const tr_scene *scene, const char *members )
{
    vec3 low = v3_scale( HUGE_VAL, v3_one ), high = v3_negate( low );
    for ( int i = 0; i < scene->obstacle_count; ++i ) {
        const tr_obstacle *o = &scene->obstacles[i];
        if ( !tr_members_match( members, o->id ) )
            continue;
        double reach = 0.5 * hypot( o->size.x, o->size.z );
        low = v3( fmin( low.x, o->position.x - reach ), 0, fmin( low.z, o->position.z - reach ) );
        high = v3( fmax( high.x, o->position.x + reach ), 0, fmax( high.z, o->position.z + reach ) );
    }
    return v3( 0.5 * ( low.x + high.x ), scene->ground, 0.5 * ( low.z + high.z ) );
}

// Boxes of the environment go together: what holds between them holds in the new size.
static bool apply_scale( const call *c, tr_edit *edit, tr_scene *scene, tr_error *error )
{
    const argument *about = find_argument( c, "about" ), *members = find_argument( c, "members" );
    const char *which = members != NULL && members->text[0] != 0 ? members->text : "*";
    double place[3];
    vec3 still = middle_of( scene, which );
    if ( about != NULL && about->text[0] != 0 ) {
        if ( !read_numbers( about->text, 3, place ) )
            return fail( error, about->column, "about: must be three numbers" );
        still = v3( place[0], place[1], place[2] );
    }
    bool any = false;
    for ( int i = 0; i < scene->obstacle_count; ++i ) {
        tr_element element, standard;
        if ( !tr_members_match( which, scene->obstacles[i].id ) )
            continue;
        tr_element_default( &standard, TR_LIST_OBSTACLE, "", 0 );
        memcpy( &element, &scene->obstacles[i], sizeof scene->obstacles[i] );
        if ( !set_fields( c, &element, &standard, error ) )
            return false;
        tr_obstacle *o = &element.obstacle;
        o->move = v3_scale( o->scale - 1, v3_sub( o->position, still ) );
        if ( !tr_edit_replace( edit, scene, TR_LIST_OBSTACLE, i, &element ) )
            return tr_error_memory( error );
        any = true;
    }
    return any || fail( error, members != NULL ? members->column : c->column,
                        "there is no such box in the environment" );
}

bool tr_op_apply( tr_edit *edit, tr_scene *scene, const char *line, tr_error *error )
{
    char *copy = tr_string_copy( line );
    if ( copy == NULL )
        return tr_error_memory( error );
    call c;
    tr_error trouble;
    bool ok = parse_call( &c, copy, error ) && c.row->apply( &c, edit, scene, error );
    if ( ok && !tr_scene_check( scene, NULL, &trouble ) ) {
        ok = false;
        trouble.column = column_of_path( &c, trouble.path );
        if ( error != NULL )
            *error = trouble;
    }
    tr_free( copy );
    return ok;
}

int tr_op_column( const char *line, const char *field )
{
    char *copy = tr_string_copy( line );
    call c;
    tr_error ignored;
    int column = 0;
    if ( copy != NULL && parse_call( &c, copy, &ignored ) )
        column = column_of_field( &c, field );
    tr_free( copy );
    return column;
}
