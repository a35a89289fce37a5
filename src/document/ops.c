// Applies the ops of scene_ops.inl to a scene.
#include "document/op_line.h"

#include <stdio.h>
#include <string.h>

typedef bool apply_function( const tr_op_call *c, tr_edit *edit, tr_scene *scene, tr_error *error );
static apply_function apply_add, apply_set, apply_remove, apply_rename, apply_copy, apply_move, apply_limb,
    apply_scale;

typedef struct row {
    tr_list list;
    apply_function *apply;
} row;

#define OP( name, list, apply, help, ... ) { TR_LIST_##list, apply_##apply },
static const row rows[] = {
#include "document/scene_ops.inl"
};

static tr_list list_of( const tr_op_call *c )
{
    return rows[c->op].list;
}

// ------------------------------------------------------------------------------------------------ fields

static bool set_field( const tr_op_call *c, int i, void *element, const void *standard, tr_error *error )
{
    const tr_op_param *param = &c->info->params[i];
    const tr_field *field = tr_field_find( list_of( c ), param->field );
    tr_value value = tr_op_value( param->type, c->arguments[i].text );
    tr_error why;
    bool empty = c->arguments[i].text[0] == 0;
    if ( !tr_field_permit( field, element, &why ) ||
         ( !empty && !tr_field_store( field, element, &value, &why ) ) )
        return tr_op_fail( error, c->arguments[i].column, "%s: %s", param->key, why.message );
    if ( empty )
        tr_field_copy( field, element, standard );
    return true;
}

static bool set_fields( const tr_op_call *c, void *element, const void *standard, tr_error *error )
{
    for ( int i = 0; i < c->info->param_count; ++i )
        if ( c->info->params[i].field != NULL && c->arguments[i].text != NULL &&
             !set_field( c, i, element, standard, error ) )
            return false;
    return true;
}

// ------------------------------------------------------------------------------------------------ applying

static bool find_named( const tr_op_call *c, const tr_scene *scene, const tr_op_argument *id, int *index,
                        tr_error *error )
{
    tr_list list = list_of( c );
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
        tr_op_fail( error, id->column, "there is no %s \"%.40s\"; did you mean \"%s\"?", noun, id->text,
                    near );
    else
        tr_op_fail( error, id->column, "there is no %s \"%.40s\"", noun, id->text );
    tr_free( ids );
    return false;
}

static bool find_element( const tr_op_call *c, const tr_scene *scene, int *index, tr_error *error )
{
    return find_named( c, scene, tr_op_find( c, "id" ), index, error );
}

// Whether the element at `index` of this op's list, which may not exist yet, can have this id. The check of
// the whole scene finds duplicates too, but not which of the two came second.
static bool id_is_free( const tr_op_call *c, const tr_scene *scene, int index, const char *id,
                        tr_error *error )
{
    bool body = tr_list_holds_bodies( list_of( c ) );
    tr_list first = body ? TR_LIST_CAST : list_of( c ), last = body ? TR_LIST_OBSTACLE : list_of( c );
    for ( tr_list list = first; list <= last; ++list ) {
        int found = tr_list_find( scene, list, id );
        if ( found < 0 || ( list == list_of( c ) && found == index ) )
            continue;
        char path[160];
        snprintf( path, sizeof path, "%s[%d].id", tr_list_get_info( list_of( c ) )->path, index );
        tr_error_path( error, NULL, path, "\"%s\" is already the id of %s[%d]", id,
                       tr_list_get_info( list )->path, found );
        if ( error != NULL )
            error->column = tr_op_column_of( c, path );
        return false;
    }
    return true;
}

// The kind that an op gives, else `kind` unchanged.
static bool read_kind( const tr_op_call *c, int *kind, tr_error *error )
{
    tr_list list = list_of( c );
    const tr_op_argument *text =
        tr_list_kinds( list ) != NULL ? tr_op_find( c, tr_list_kinds( list )->key ) : NULL;
    tr_element element;
    tr_error why;
    if ( text == NULL )
        return true;
    tr_value value = { .type = TR_VALUE_TEXT, .text = text->text };
    const char *key = tr_list_kinds( list )->key;
    if ( text->text[0] == 0 && !tr_list_kinds( list )->required )
        value.text = tr_list_kinds( list )->names[0];
    if ( !tr_field_store( tr_field_find( list, key ), &element, &value, &why ) )
        return tr_op_fail( error, text->column, "%s: %s", key, why.message );
    *kind = tr_element_kind( list, &element );
    return true;
}

static bool apply_add( const tr_op_call *c, tr_edit *edit, tr_scene *scene, tr_error *error )
{
    tr_element element, standard;
    int kind = 0;
    if ( !read_kind( c, &kind, error ) )
        return false;
    tr_element_default( &standard, list_of( c ), "", kind );
    element = standard;
    if ( list_of( c ) == TR_LIST_CAST ) // unless the op gives a colour
        tr_cast_free_colour( scene, element.cast.colour );
    int index = tr_list_count( scene, list_of( c ) );
    return set_fields( c, &element, &standard, error ) && id_is_free( c, scene, index, element.id, error ) &&
           ( tr_edit_insert( edit, scene, list_of( c ), index, &element ) || tr_error_memory( error ) );
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

// Applies the kind that an op gives, if any, with the defaults of that kind.
static bool take_kind( const tr_op_call *c, tr_element *element, tr_element *standard, tr_error *error )
{
    int before = tr_element_kind( list_of( c ), element ), kind = before;
    if ( !read_kind( c, &kind, error ) )
        return false;
    if ( kind != before )
        change_kind( list_of( c ), element, kind );
    tr_element_default( standard, list_of( c ), "", kind );
    return true;
}

static bool set_scene( const tr_op_call *c, tr_edit *edit, tr_scene *scene, tr_error *error )
{
    tr_scene changed = *scene, standard = tr_default_scene();
    if ( !set_fields( c, &changed, &standard, error ) )
        return false;
    return tr_edit_replace( edit, scene, TR_LIST_SCENE, 0, &changed ) || tr_error_memory( error );
}

static bool set_anything( const tr_op_call *c, tr_error *error )
{
    for ( int i = 0; i < c->info->param_count; ++i )
        if ( c->info->params[i].field != NULL && c->arguments[i].text != NULL )
            return true;
    return tr_op_fail( error, c->column, "%s is given nothing to set", c->info->name );
}

static bool apply_set( const tr_op_call *c, tr_edit *edit, tr_scene *scene, tr_error *error )
{
    tr_list list = list_of( c );
    tr_element element, standard;
    int index;
    if ( !set_anything( c, error ) )
        return false;
    if ( list == TR_LIST_SCENE )
        return set_scene( c, edit, scene, error );
    if ( !find_element( c, scene, &index, error ) )
        return false;
    memcpy( &element, tr_list_at( scene, list, index ), tr_list_get_info( list )->size );
    if ( !take_kind( c, &element, &standard, error ) )
        return false;
    return set_fields( c, &element, &standard, error ) &&
           ( tr_edit_replace( edit, scene, list, index, &element ) || tr_error_memory( error ) );
}

static bool apply_copy( const tr_op_call *c, tr_edit *edit, tr_scene *scene, tr_error *error )
{
    tr_list list = list_of( c );
    tr_element element, standard;
    int index;
    if ( !find_element( c, scene, &index, error ) )
        return false;
    memcpy( &element, tr_list_at( scene, list, index ), tr_list_get_info( list )->size );
    if ( !take_kind( c, &element, &standard, error ) )
        return false;
    index = tr_list_count( scene, list );
    if ( !set_fields( c, &element, &standard, error ) || !id_is_free( c, scene, index, element.id, error ) )
        return false;
    const char *id = tr_op_find( c, "id" )->text;
    return ( tr_edit_insert( edit, scene, list, index, &element ) &&
             tr_references_copy( edit, scene, list, id, element.id ) ) ||
           tr_error_memory( error );
}

static bool apply_remove( const tr_op_call *c, tr_edit *edit, tr_scene *scene, tr_error *error )
{
    int index;
    if ( !find_element( c, scene, &index, error ) )
        return false;
    return ( tr_edit_remove( edit, scene, list_of( c ), index ) &&
             tr_references_remove( edit, scene, list_of( c ), tr_op_find( c, "id" )->text ) ) ||
           tr_error_memory( error );
}

static bool apply_rename( const tr_op_call *c, tr_edit *edit, tr_scene *scene, tr_error *error )
{
    tr_list list = list_of( c );
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
    return tr_references_rename( edit, scene, list, tr_op_find( c, "id" )->text, element.id, error );
}

// Moves an element before another of its list, or to the end.
static bool apply_move( const tr_op_call *c, tr_edit *edit, tr_scene *scene, tr_error *error )
{
    tr_list list = list_of( c );
    tr_element element;
    int from, to = tr_list_count( scene, list ) - 1;
    const tr_op_argument *before = tr_op_find( c, "before" );
    if ( !find_element( c, scene, &from, error ) )
        return false;
    if ( before != NULL && before->text[0] != 0 && !find_named( c, scene, before, &to, error ) )
        return false;
    if ( before != NULL && before->text[0] != 0 && to > from )
        --to; // the place moves up when the element is taken out
    memcpy( &element, tr_list_at( scene, list, from ), tr_list_get_info( list )->size );
    return ( tr_edit_remove( edit, scene, list, from ) &&
             tr_edit_insert( edit, scene, list, to, &element ) ) ||
           tr_error_memory( error );
}

static bool apply_limb( const tr_op_call *c, tr_edit *edit, tr_scene *scene, tr_error *error )
{
    const tr_op_argument *limb = tr_op_find( c, "limb" ), *value = tr_op_find( c, "value" );
    const tr_field *field = NULL;
    for ( int i = 0; i < c->info->param_count; ++i )
        if ( c->info->params[i].field != NULL )
            field = tr_field_find( list_of( c ), c->info->params[i].field );
    tr_element element;
    int index;
    double factor = 0;
    tr_error why;
    if ( !find_element( c, scene, &index, error ) )
        return false;
    if ( value->text[0] != 0 && !tr_op_numbers( value->text, 1, &factor ) )
        return tr_op_fail( error, value->column, "value: must be a number" );
    memcpy( &element, &scene->cast[index], sizeof scene->cast[index] );
    if ( !tr_limbs_set( field, &element, limb->text, value->text[0] != 0 ? &factor : NULL, &why ) )
        return tr_op_fail( error, limb->column, "limb: %s", why.message );
    return tr_edit_replace( edit, scene, TR_LIST_CAST, index, &element ) || tr_error_memory( error );
}

// The middle, on the floor, of the obstacles that members name. A mesh counts with its origin, since its file
// is not read here.
static vec3 middle_of( const tr_scene *scene, const char *members )
{
    vec3 low = v3_scale( HUGE_VAL, v3_one ), high = v3_negate( low );
    for ( int i = 0; i < scene->obstacle_count; ++i ) {
        const tr_obstacle *o = &scene->obstacles[i];
        if ( !tr_members_match( members, o->id ) )
            continue;
        rigid at = { q_axis_angle( v3_y, o->heading * TR_DEGREE ), o->position };
        bool boxed = o->shape == TR_SHAPE_BOX || o->shape == TR_SHAPE_SPHERE;
        double reach = boxed ? 0.5 * hypot( o->size.x, o->size.z ) : 0;
        for ( int k = 0; k < ( o->form.point_count > 0 ? o->form.point_count : 1 ); ++k ) {
            vec3 p = rigid_apply( at, o->form.points[k] ); // zero without points
            low = v3( fmin( low.x, p.x - reach ), 0, fmin( low.z, p.z - reach ) );
            high = v3( fmax( high.x, p.x + reach ), 0, fmax( high.z, p.z + reach ) );
        }
    }
    return v3( 0.5 * ( low.x + high.x ), scene->ground, 0.5 * ( low.z + high.z ) );
}

// Scales obstacles about a common place, so that they keep their arrangement.
static bool apply_scale( const tr_op_call *c, tr_edit *edit, tr_scene *scene, tr_error *error )
{
    const tr_op_argument *about = tr_op_find( c, "about" ), *members = tr_op_find( c, "members" );
    const char *which = members != NULL && members->text[0] != 0 ? members->text : "*";
    double place[3];
    vec3 still = middle_of( scene, which );
    if ( about != NULL && about->text[0] != 0 ) {
        if ( !tr_op_numbers( about->text, 3, place ) )
            return tr_op_fail( error, about->column, "about: must be three numbers" );
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
    return any || tr_op_fail( error, members != NULL ? members->column : c->column,
                              "there is no such thing in the environment" );
}

bool tr_op_apply( tr_edit *edit, tr_scene *scene, const char *line, tr_error *error )
{
    char *copy = tr_string_copy( line );
    if ( copy == NULL )
        return tr_error_memory( error );
    tr_op_call c;
    tr_error trouble;
    bool ok = tr_op_parse( &c, copy, error ) && rows[c.op].apply( &c, edit, scene, error );
    if ( ok && !tr_scene_check( scene, NULL, &trouble ) ) {
        ok = false;
        trouble.column = tr_op_column_of( &c, trouble.path );
        if ( error != NULL )
            *error = trouble;
    }
    tr_free( copy );
    return ok;
}
