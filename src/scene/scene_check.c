// What can be said about a document without opening other files.
#include "scene/document.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct named { // an id and where it stands
    const char *id;
    tr_list list;
    int index;
} named;

typedef struct checker {
    const tr_scene *scene;
    const char *file;
    tr_error *error;
    named *bodies; // [body_count] cast, props and obstacles, sorted by id
    int body_count;
} checker;

// Reports trouble with a field of an element ("" = the element as a whole).
TR_PRINTF( 5 )
static bool fail( const checker *c, tr_list list, int index, const char *field, const char *format, ... )
{
    char path[160], sentence[512];
    if ( list == TR_LIST_SCENE )
        snprintf( path, sizeof path, "%s", field );
    else
        snprintf( path, sizeof path, "%s[%d]%s%s", tr_list_get_info( list )->path, index,
                  field[0] != 0 ? "." : "", field );
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( sentence, sizeof sentence, format, arguments );
    va_end( arguments );
    return tr_error_path( c->error, c->file, path, "%s", sentence );
}

// --------------------------------------------------------------------------------------------------- ids

static int compare_named( const void *a, const void *b )
{
    const named *p = a, *q = b;
    int order = strcmp( p->id, q->id );
    if ( order == 0 )
        order = p->list != q->list ? (int)p->list - (int)q->list : p->index - q->index;
    return order;
}

static int gather( const tr_scene *scene, tr_list list, named *out )
{
    for ( int i = 0; i < tr_list_count( scene, list ); ++i )
        out[i] = ( named ){ tr_list_at( scene, list, i ), list, i };
    return tr_list_count( scene, list );
}

// Sorts, then looks for neighbours with the same id.
static bool check_unique( const checker *c, named *all, int count )
{
    qsort( all, (size_t)count, sizeof *all, compare_named );
    for ( int i = 1; i < count; ++i )
        if ( strcmp( all[i - 1].id, all[i].id ) == 0 )
            return fail( c, all[i].list, all[i].index, "id", "\"%s\" is already the id of %s[%d]", all[i].id,
                         tr_list_get_info( all[i - 1].list )->path, all[i - 1].index );
    return true;
}

static const named *find_body( const checker *c, const char *id )
{
    int low = 0, high = c->body_count;
    while ( low < high ) {
        int middle = ( low + high ) / 2;
        int order = strcmp( c->bodies[middle].id, id );
        if ( order == 0 )
            return &c->bodies[middle];
        if ( order < 0 )
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

// The sentence for an id that does not exist, with the nearest one of the lists in `allowed`.
static bool dangling( const checker *c, int index, const char *field, const char *id, const char *expected,
                      unsigned allowed )
{
    const char **words = tr_alloc( (size_t)c->body_count + 2, sizeof *words );
    const char *near = NULL;
    if ( words != NULL ) {
        int count = 0;
        if ( ( allowed & 1u << TR_LIST_OBSTACLE ) != 0 )
            words[count++] = "ground";
        for ( int i = 0; i < c->body_count; ++i )
            if ( ( allowed >> c->bodies[i].list & 1 ) != 0 )
                words[count++] = c->bodies[i].id;
        near = tr_nearest_word( id, words );
    }
    if ( near != NULL )
        fail( c, TR_LIST_CONSTRAINT, index, field, "there is no %s \"%.40s\"; did you mean \"%s\"?", expected,
              id, near );
    else
        fail( c, TR_LIST_CONSTRAINT, index, field, "there is no %s \"%.40s\"", expected, id );
    tr_free( words );
    return false;
}

// ------------------------------------------------------------------------------------------ constraints

// What the points of each kind may be. A `who` point names a whole character.
typedef enum point_rule { POINT_NONE, POINT_WHO, POINT_SINGLE, POINT_ANY, POINT_OPTIONAL } point_rule;

static const struct {
    point_rule a, b;
} point_rules[TR_CONSTRAINT_KINDS] = {
    [TR_CONSTRAINT_ABSOLUTE] = { POINT_ANY, POINT_NONE },
    [TR_CONSTRAINT_CONTACT] = { POINT_ANY, POINT_NONE },
    [TR_CONSTRAINT_ORIENTATION] = { POINT_SINGLE, POINT_NONE },
    [TR_CONSTRAINT_LENGTH] = { POINT_ANY, POINT_OPTIONAL },
    [TR_CONSTRAINT_CENTRE_OF_MASS] = { POINT_WHO, POINT_NONE },
    [TR_CONSTRAINT_RELATIVE] = { POINT_ANY, POINT_ANY },
};

static bool check_point( const checker *c, int index, const char *field, const tr_point *point,
                         point_rule rule )
{
    if ( point->who[0] == 0 )
        return rule == POINT_NONE || rule == POINT_OPTIONAL ||
               fail( c, TR_LIST_CONSTRAINT, index, field, "a point is needed here, as in p03.LeftHand" );
    const named *body = find_body( c, point->who );
    bool only_cast = rule == POINT_WHO;
    if ( body == NULL || body->list == TR_LIST_OBSTACLE || ( only_cast && body->list != TR_LIST_CAST ) )
        return dangling( c, index, field, point->who, only_cast ? "cast member" : "cast member or prop",
                         only_cast ? 1u << TR_LIST_CAST : 1u << TR_LIST_CAST | 1u << TR_LIST_PROP );
    if ( body->list == TR_LIST_PROP )
        return point->term_count == 0 || fail( c, TR_LIST_CONSTRAINT, index, field,
                                               "a prop has no joints; give an offset, as in box01@0,0.1,0" );
    if ( rule == POINT_WHO )
        return ( point->term_count == 0 && v3_length( point->offset ) == 0 ) ||
               fail( c, TR_LIST_CONSTRAINT, index, field, "the whole character is meant: give its id alone" );
    if ( point->term_count == 0 )
        return fail( c, TR_LIST_CONSTRAINT, index, field,
                     "a joint is needed behind the id, as in p03.LeftHand" );
    if ( rule == POINT_SINGLE && point->term_count > 1 )
        return fail( c, TR_LIST_CONSTRAINT, index, field, "one joint is needed here, not a combination" );
    return true;
}

// Fields of other kinds have to stay at their defaults: they would be lost in the file.
static bool check_foreign_fields( const checker *c, int index, const tr_constraint *constraint )
{
    tr_constraint standard = tr_default_constraint( constraint->id, constraint->kind );
    standard.given = constraint->given;
    int count;
    const tr_field *fields = tr_fields( TR_LIST_CONSTRAINT, &count );
    for ( int i = 0; i < count; ++i )
        if ( !tr_field_applies( &fields[i], constraint ) &&
             !tr_field_equal( &fields[i], constraint, &standard ) )
            return fail( c, TR_LIST_CONSTRAINT, index, fields[i].path,
                         "does not belong to a constraint of kind %s",
                         tr_constraint_kind_names[constraint->kind] );
    return true;
}

static bool check_surface( const checker *c, int index, const tr_constraint *constraint )
{
    if ( constraint->kind != TR_CONSTRAINT_CONTACT || strcmp( constraint->surface, "ground" ) == 0 )
        return true;
    const named *body = find_body( c, constraint->surface );
    if ( body == NULL || body->list == TR_LIST_CAST )
        return dangling( c, index, "surface", constraint->surface, "prop or obstacle",
                         1u << TR_LIST_PROP | 1u << TR_LIST_OBSTACLE );
    return strcmp( constraint->surface, constraint->a.who ) != 0 ||
           fail( c, TR_LIST_CONSTRAINT, index, "surface", "a prop cannot rest on itself" );
}

static bool check_constraint( const checker *c, int index, const tr_constraint *constraint )
{
    point_rule a = point_rules[constraint->kind].a, b = point_rules[constraint->kind].b;
    if ( constraint->kind == TR_CONSTRAINT_LENGTH && constraint->b.who[0] == 0 )
        a = POINT_SINGLE; // the bone above it
    if ( !check_foreign_fields( c, index, constraint ) || !check_point( c, index, "a", &constraint->a, a ) ||
         !check_point( c, index, "b", &constraint->b, b ) || !check_surface( c, index, constraint ) )
        return false;
    if ( a == POINT_SINGLE && constraint->kind == TR_CONSTRAINT_LENGTH && constraint->a.term_count == 0 )
        return fail( c, TR_LIST_CONSTRAINT, index, "b", "a second point is needed: a prop has no bone" );
    if ( constraint->first > constraint->last )
        return fail( c, TR_LIST_CONSTRAINT, index, "range", "the range ends before it begins" );
    if ( !constraint->axis[0] && !constraint->axis[1] && !constraint->axis[2] )
        return fail( c, TR_LIST_CONSTRAINT, index, "axes", "at least one of x, y, z is needed" );
    if ( constraint->direction && constraint->given &&
         hypot( constraint->target.x, constraint->target.z ) == 0 )
        return fail( c, TR_LIST_CONSTRAINT, index, "target",
                     "the direction of a path has to be horizontal, not zero" );
    return true;
}

// ---------------------------------------------------------------------------------------------- elements

static bool check_file( const checker *c, tr_list list, int index, const char *field,
                        const tr_file_ref *file )
{
    return file->last == -1 || file->last >= file->first ||
           fail( c, list, index, field, "is before the first frame, %d", file->first );
}

static bool check_cast( const checker *c, int index, const tr_cast *cast )
{
    if ( cast->source.file[0] == 0 )
        return fail( c, TR_LIST_CAST, index, "source.file", "a cast member needs a motion file" );
    return check_file( c, TR_LIST_CAST, index, "source.last", &cast->source ) &&
           check_file( c, TR_LIST_CAST, index, "target.skeleton.last", &cast->target.skeleton );
}

static bool check_fields( const checker *c, tr_list list, int index )
{
    int count;
    const tr_field *fields = tr_fields( list, &count );
    const void *element = tr_list_at( c->scene, list, index );
    if ( list == TR_LIST_CONSTRAINT && ( (const tr_constraint *)element )->kind >= TR_CONSTRAINT_KINDS )
        return fail( c, TR_LIST_CONSTRAINT, index, "kind", "there is no such kind" );
    for ( int i = 0; i < count; ++i ) {
        tr_error why;
        if ( tr_field_applies( &fields[i], element ) && !tr_field_check( &fields[i], element, &why ) )
            return fail( c, list, index, fields[i].path, "%s", why.message );
    }
    return true;
}

static bool check_elements( const checker *c, tr_list list )
{
    bool ok = true;
    for ( int i = 0; ok && i < tr_list_count( c->scene, list ); ++i ) {
        const tr_element *element = tr_list_at( c->scene, list, i );
        ok = check_fields( c, list, i );
        if ( ok && list != TR_LIST_CONSTRAINT && strcmp( element->id, "ground" ) == 0 )
            ok = fail( c, list, i, "id", "\"ground\" is the floor; take another id" );
        if ( ok && list == TR_LIST_CAST )
            ok = check_cast( c, i, &element->cast );
        if ( ok && list == TR_LIST_PROP )
            ok = check_file( c, list, i, "track.last", &element->prop.track );
    }
    return ok;
}

static bool check_scene_itself( const checker *c )
{
    const tr_scene *scene = c->scene;
    if ( !check_fields( c, TR_LIST_SCENE, 0 ) )
        return false;
    for ( tr_list list = 0; list < TR_LIST_COUNT; ++list )
        if ( tr_list_count( scene, list ) > TR_MAX_ELEMENTS )
            return fail( c, TR_LIST_SCENE, 0, tr_list_get_info( list )->path, "has more than %d entries",
                         TR_MAX_ELEMENTS );
    if ( scene->first > scene->last )
        return fail( c, TR_LIST_SCENE, 0, "range", "the range ends before it begins" );
    return scene->last - scene->first < TR_MAX_FRAMES ||
           fail( c, TR_LIST_SCENE, 0, "range", "there are more than %d frames", TR_MAX_FRAMES );
}

// Ids and references; needs the elements to be in order.
static bool check_names( checker *c )
{
    const tr_scene *scene = c->scene;
    c->body_count = scene->cast_count + scene->prop_count + scene->obstacle_count;
    named *bodies = tr_alloc( (size_t)c->body_count, sizeof *bodies );
    named *constraints = tr_alloc( (size_t)scene->constraint_count, sizeof *constraints );
    bool ok = bodies != NULL && constraints != NULL;
    if ( !ok )
        tr_error_memory( c->error );
    else {
        c->bodies = bodies;
        int count = gather( scene, TR_LIST_CAST, bodies );
        count += gather( scene, TR_LIST_PROP, bodies + count );
        gather( scene, TR_LIST_OBSTACLE, bodies + count );
        gather( scene, TR_LIST_CONSTRAINT, constraints );
        ok = check_unique( c, bodies, c->body_count ) &&
             check_unique( c, constraints, scene->constraint_count );
    }
    for ( int i = 0; ok && i < scene->constraint_count; ++i )
        ok = check_constraint( c, i, &scene->constraints[i] );
    tr_free( bodies );
    tr_free( constraints );
    return ok;
}

bool tr_scene_check( const tr_scene *scene, const char *file, tr_error *error )
{
    checker c = { .scene = scene, .file = file, .error = error };
    if ( !check_scene_itself( &c ) )
        return false;
    for ( tr_list list = 0; list < TR_LIST_LAYER; ++list )
        if ( !check_elements( &c, list ) )
            return false;
    if ( scene->layer_count > 0 )
        return fail( &c, TR_LIST_LAYER, 0, "", "this version knows no kind of layer" );
    return check_names( &c );
}
