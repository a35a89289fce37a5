// Checks of a document that need no other file.
#include "document/fields.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct named { // an id and its element
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
    named *layers; // [layer_count of the scene] sorted by id
} checker;

// Reports an error in a field of an element ("" = the whole element).
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

// Sorts, then compares neighbours.
static bool check_unique( const checker *c, named *all, int count )
{
    qsort( all, (size_t)count, sizeof *all, compare_named );
    for ( int i = 1; i < count; ++i )
        if ( strcmp( all[i - 1].id, all[i].id ) == 0 )
            return fail( c, all[i].list, all[i].index, "id", "\"%s\" is already the id of %s[%d]", all[i].id,
                         tr_list_get_info( all[i - 1].list )->path, all[i - 1].index );
    return true;
}

static const named *find_named( const named *all, int count, const char *id )
{
    int low = 0, high = count;
    while ( low < high ) {
        int middle = ( low + high ) / 2;
        int order = strcmp( all[middle].id, id );
        if ( order == 0 )
            return &all[middle];
        if ( order < 0 )
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static const named *find_body( const checker *c, const char *id )
{
    return find_named( c->bodies, c->body_count, id );
}

// The sentence for an id that does not exist, with the nearest one of the lists in `allowed`.
static bool dangling( const checker *c, tr_list list, int index, const char *field, const char *id,
                      const char *expected, unsigned allowed )
{
    const char **words = tr_alloc( (size_t)c->body_count + (size_t)c->scene->layer_count + 2, sizeof *words );
    const char *near = NULL;
    if ( words != NULL ) {
        int count = 0;
        for ( int i = 0; ( allowed & 1u << TR_LIST_LAYER ) != 0 && i < c->scene->layer_count; ++i )
            words[count++] = c->layers[i].id;
        if ( ( allowed & 1u << TR_LIST_OBSTACLE ) != 0 && list != TR_LIST_PAIR )
            words[count++] = "ground";
        for ( int i = 0; i < c->body_count; ++i )
            if ( ( allowed >> c->bodies[i].list & 1 ) != 0 )
                words[count++] = c->bodies[i].id;
        near = tr_nearest_word( id, words );
    }
    if ( near != NULL )
        fail( c, list, index, field, "there is no %s \"%.40s\"; did you mean \"%s\"?", expected, id, near );
    else
        fail( c, list, index, field, "there is no %s \"%.40s\"", expected, id );
    tr_free( words );
    return false;
}

// ------------------------------------------------------------------------------------------ constraints

// Points allowed in each kind. A `who` point names a whole character.
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

static bool check_point( const checker *c, tr_list list, int index, const char *field, const tr_point *point,
                         point_rule rule )
{
    if ( point->who[0] == 0 )
        return rule == POINT_NONE || rule == POINT_OPTIONAL ||
               fail( c, list, index, field, "a point is needed here, as in p03.LeftHand" );
    const named *body = find_body( c, point->who );
    bool only_cast = rule == POINT_WHO;
    if ( body == NULL || body->list == TR_LIST_OBSTACLE || ( only_cast && body->list != TR_LIST_CAST ) )
        return dangling( c, list, index, field, point->who, only_cast ? "cast member" : "cast member or prop",
                         only_cast ? 1u << TR_LIST_CAST : 1u << TR_LIST_CAST | 1u << TR_LIST_PROP );
    if ( body->list == TR_LIST_PROP )
        return point->term_count == 0 ||
               fail( c, list, index, field, "a prop has no joints; give an offset, as in box01@0,0.1,0" );
    if ( rule == POINT_WHO )
        return ( point->term_count == 0 && v3_length( point->offset ) == 0 ) ||
               fail( c, list, index, field, "the whole character is meant: give its id alone" );
    if ( point->term_count == 0 )
        return fail( c, list, index, field, "a joint is needed behind the id, as in p03.LeftHand" );
    if ( rule == POINT_SINGLE && point->term_count > 1 )
        return fail( c, list, index, field, "one joint is needed here, not a combination" );
    return true;
}

// Fields of other kinds have to be at their defaults: a file would lose them.
static bool check_foreign_fields( const checker *c, tr_list list, int index, const tr_element *element )
{
    tr_element standard;
    tr_element_default( &standard, list, element->id, tr_element_kind( list, element ) );
    if ( list == TR_LIST_CONSTRAINT )
        standard.constraint.given = element->constraint.given;
    int count;
    const tr_field *fields = tr_fields( list, &count );
    for ( int i = 0; i < count; ++i ) {
        tr_error why;
        if ( !tr_field_permit( &fields[i], element, &why ) &&
             !tr_field_equal( &fields[i], element, &standard ) )
            return fail( c, list, index, fields[i].path, "%s", why.message );
    }
    return true;
}

static bool check_surface( const checker *c, int index, const tr_constraint *constraint )
{
    if ( constraint->kind != TR_CONSTRAINT_CONTACT || strcmp( constraint->surface, "ground" ) == 0 )
        return true;
    const named *body = find_body( c, constraint->surface );
    if ( body == NULL || body->list == TR_LIST_CAST )
        return dangling( c, TR_LIST_CONSTRAINT, index, "surface", constraint->surface, "prop or obstacle",
                         1u << TR_LIST_PROP | 1u << TR_LIST_OBSTACLE );
    return strcmp( constraint->surface, constraint->a.who ) != 0 ||
           fail( c, TR_LIST_CONSTRAINT, index, "surface", "a prop cannot rest on itself" );
}

// Points of one bone or prop cannot move against each other.
static bool are_on_one_bone( const tr_point *a, const tr_point *b )
{
    if ( strcmp( a->who, b->who ) != 0 || a->term_count != b->term_count )
        return false;
    for ( int t = 0; t < a->term_count; ++t )
        if ( strcmp( a->terms[t].joint, b->terms[t].joint ) != 0 || a->terms[t].weight != b->terms[t].weight )
            return false;
    return true;
}

static bool check_two( const checker *c, int index, const tr_constraint *constraint )
{
    bool two = constraint->kind == TR_CONSTRAINT_RELATIVE || constraint->kind == TR_CONSTRAINT_LENGTH;
    return !two || !are_on_one_bone( &constraint->a, &constraint->b ) ||
           fail( c, TR_LIST_CONSTRAINT, index, "b",
                 "b is on the same bone or prop as a and cannot move without it" );
}

static const double keys_apart = 1e-3; // frames at least: the spline divides by their distance

static bool check_keys( const checker *c, int index, const tr_constraint *constraint )
{
    const char *trouble = NULL;
    for ( int k = 0; k < constraint->key_count && trouble == NULL; ++k ) {
        const tr_key *key = &constraint->keys[k];
        if ( fabs( key->place.x ) > TR_FAR || fabs( key->place.y ) > TR_FAR || fabs( key->place.z ) > TR_FAR )
            trouble = "a key has a place that is too far away";
        else if ( k > 0 && !( key->frame - key[-1].frame >= keys_apart ) )
            trouble = "keys have to be in the order of their frames, a thousandth of one apart at least";
    }
    if ( constraint->key_count > 0 && ( constraint->given || constraint->direction || constraint->partners ) )
        trouble = "keys stand alone: without a target, a direction and partners";
    return trouble == NULL || fail( c, TR_LIST_CONSTRAINT, index, "keys", "%s", trouble );
}

static bool check_constraint( const checker *c, int index, const tr_constraint *constraint )
{
    point_rule a = point_rules[constraint->kind].a, b = point_rules[constraint->kind].b;
    if ( constraint->kind == TR_CONSTRAINT_LENGTH && constraint->b.who[0] == 0 )
        a = POINT_SINGLE; // the bone above it
    if ( !check_foreign_fields( c, TR_LIST_CONSTRAINT, index, (const tr_element *)constraint ) ||
         !check_point( c, TR_LIST_CONSTRAINT, index, "a", &constraint->a, a ) ||
         !check_point( c, TR_LIST_CONSTRAINT, index, "b", &constraint->b, b ) ||
         !check_surface( c, index, constraint ) || !check_two( c, index, constraint ) ||
         !check_keys( c, index, constraint ) )
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

// ------------------------------------------------------------------------------------------------ layers

// Patterns may match nothing (yet); an id has to exist.
static bool check_member( const checker *c, int index, const tr_member *member )
{
    bool pattern = strchr( member->who, '*' ) != NULL;
    const named *body = pattern ? NULL : find_body( c, member->who );
    if ( !pattern && ( body == NULL || body->list == TR_LIST_OBSTACLE ) )
        return dangling( c, TR_LIST_LAYER, index, "members", member->who, "cast member or prop",
                         1u << TR_LIST_CAST | 1u << TR_LIST_PROP );
    return body == NULL || body->list == TR_LIST_CAST || member->part[0] == 0 ||
           fail( c, TR_LIST_LAYER, index, "members", "a prop has no limbs and no joints" );
}

static bool check_layer( const checker *c, int index, const tr_layer *layer )
{
    if ( !check_foreign_fields( c, TR_LIST_LAYER, index, (const tr_element *)layer ) )
        return false;
    if ( layer->members[strspn( layer->members, " " )] == 0 )
        return fail( c, TR_LIST_LAYER, index, "members", "a layer needs members to act on" );
    for ( const char *at = layer->members; *at != 0; ) {
        tr_member member;
        tr_error why;
        if ( !tr_member_parse( &member, &at, &why ) )
            return fail( c, TR_LIST_LAYER, index, "members", "%s", why.message );
        if ( !check_member( c, index, &member ) )
            return false;
    }
    return layer->first <= layer->last ||
           fail( c, TR_LIST_LAYER, index, "range", "the range ends before it begins" );
}

static const tr_layer *find_layer( const checker *c, tr_list list, int index, const char *id )
{
    const named *found = find_named( c->layers, c->scene->layer_count, id );
    if ( found == NULL )
        dangling( c, list, index, "layer", id, "layer", 1u << TR_LIST_LAYER );
    return found != NULL ? &c->scene->layers[found->index] : NULL;
}

static bool check_section( const checker *c, int index, const tr_section *section )
{
    const tr_layer *layer = find_layer( c, TR_LIST_SECTION, index, section->layer );
    if ( layer == NULL )
        return false;
    return layer->kind == TR_LAYER_RETIME || section->delay == 0 ||
           fail( c, TR_LIST_SECTION, index, "delay",
                 "a cage stays in time; layers of kind retime move in it" );
}

static bool check_handle( const checker *c, int index, const tr_handle *handle )
{
    const tr_layer *layer = find_layer( c, TR_LIST_HANDLE, index, handle->layer );
    if ( layer == NULL )
        return false;
    if ( layer->kind != TR_LAYER_CAGE )
        return fail( c, TR_LIST_HANDLE, index, "layer", "handles belong to layers of kind cage" );
    if ( !check_point( c, TR_LIST_HANDLE, index, "point", &handle->point, POINT_OPTIONAL ) )
        return false;
    bool held = handle->point.who[0] != 0;
    if ( held && !tr_members_match( layer->members, handle->point.who ) )
        return fail( c, TR_LIST_HANDLE, index, "point", "\"%s\" is no member of layer %s", handle->point.who,
                     layer->id );
    if ( held && handle->vertex >= 0 )
        return fail( c, TR_LIST_HANDLE, index, "vertex", "a handle holds a point or a vertex, not both" );
    return ( !held && handle->vertex < 0 ) || v3_length( handle->turn ) == 0 ||
           fail( c, TR_LIST_HANDLE, index, "turn", "only a whole section can be turned" );
}

// ---------------------------------------------------------------------------------------------- elements

static bool check_file( const checker *c, tr_list list, int index, const char *field,
                        const tr_file_ref *file )
{
    return file->last == -1 || file->last >= file->first ||
           fail( c, list, index, field, "is before the first frame, %d", file->first );
}

static bool check_form( const checker *c, tr_list list, int index, vec3 size, const tr_form *form )
{
    const tr_element *element = tr_list_at( c->scene, list, index );
    int shape = tr_element_kind( list, element );
    if ( !check_foreign_fields( c, list, index, element ) )
        return false;
    if ( shape == TR_SHAPE_SPHERE && ( size.x != size.y || size.y != size.z ) )
        return fail( c, list, index, "size",
                     "a sphere is as high as it is wide: three equal numbers are needed" );
    if ( shape == TR_SHAPE_POLYLINE && form->point_count < 2 )
        return fail( c, list, index, "points", "a polyline needs two points at least" );
    return shape != TR_SHAPE_MESH || form->mesh[0] != 0 ||
           fail( c, list, index, "mesh.file", "a mesh needs a file" );
}

static bool check_cast( const checker *c, int index, const tr_cast *cast )
{
    if ( cast->source.file[0] == 0 )
        return fail( c, TR_LIST_CAST, index, "source.file", "a cast member needs a motion file" );
    return check_file( c, TR_LIST_CAST, index, "source.last", &cast->source ) &&
           check_file( c, TR_LIST_CAST, index, "target.skeleton.last", &cast->target.skeleton );
}

static bool check_clip( const checker *c, int index, const tr_cast_clip *clip )
{
    const named *body = find_body( c, clip->cast );
    if ( body == NULL || body->list != TR_LIST_CAST )
        return dangling( c, TR_LIST_CLIP, index, "cast", clip->cast, "cast member", 1u << TR_LIST_CAST );
    if ( clip->source.file[0] == 0 )
        return fail( c, TR_LIST_CLIP, index, "source.file", "a clip needs a motion file" );
    return check_file( c, TR_LIST_CLIP, index, "source.last", &clip->source );
}

static bool check_pair_end( const checker *c, int index, const char *field, const char *id )
{
    if ( strcmp( id, "ground" ) == 0 && find_body( c, id ) == NULL )
        return fail( c, TR_LIST_PAIR, index, field,
                     "the ground is no partner: nothing can be linked to it, or pass" );
    return find_body( c, id ) != NULL ||
           dangling( c, TR_LIST_PAIR, index, field, id, "cast member, prop or obstacle",
                     1u << TR_LIST_CAST | 1u << TR_LIST_PROP | 1u << TR_LIST_OBSTACLE );
}

static bool check_pair( const checker *c, int index, const tr_pair *pair )
{
    if ( !check_pair_end( c, index, "a", pair->a ) )
        return false;
    if ( pair->b[0] != 0 && !check_pair_end( c, index, "b", pair->b ) )
        return false;
    if ( pair->b[0] == 0 && pair->kind == TR_PAIR_LINK )
        return fail( c, TR_LIST_PAIR, index, "b", "a link needs a member at its other end" );
    if ( pair->kind != TR_PAIR_PASS && strcmp( pair->a, pair->b ) == 0 )
        return fail( c, TR_LIST_PAIR, index, "b", "\"%s\" cannot be its own partner", pair->b );
    const named *a = find_body( c, pair->a ), *b = pair->b[0] != 0 ? find_body( c, pair->b ) : a;
    if ( b != a && a->list != TR_LIST_CAST && b->list != TR_LIST_CAST )
        return fail( c, TR_LIST_PAIR, index, "b", "one of the two has to be a cast member" );
    return pair->first <= pair->last ||
           fail( c, TR_LIST_PAIR, index, "range", "the range ends before it begins" );
}

static bool check_fields( const checker *c, tr_list list, int index )
{
    int count;
    const tr_field *fields = tr_fields( list, &count );
    const void *element = tr_list_at( c->scene, list, index );
    const tr_kind_set *kinds = tr_list_kinds( list );
    int kind_count = 0;
    while ( kinds != NULL && kinds->names[kind_count] != NULL )
        ++kind_count;
    if ( kinds != NULL && (unsigned)tr_element_kind( list, element ) >= (unsigned)kind_count )
        return fail( c, list, index, kinds->key, "there is no such %s", kinds->key );
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
        if ( ok && tr_list_holds_bodies( list ) && strcmp( element->id, "ground" ) == 0 )
            ok = fail( c, list, i, "id", "\"ground\" is the floor; take another id" );
        if ( ok && list == TR_LIST_CAST )
            ok = check_cast( c, i, &element->cast );
        if ( ok && list == TR_LIST_PROP )
            ok = check_file( c, list, i, "track.last", &element->prop.track ) &&
                 check_form( c, list, i, element->prop.size, &element->prop.form );
        if ( ok && list == TR_LIST_OBSTACLE )
            ok = check_form( c, list, i, element->obstacle.size, &element->obstacle.form );
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

static bool names_cast( const checker *c, tr_list list, int index, const char *cast )
{
    const named *body = find_body( c, cast );
    return ( body != NULL && body->list == TR_LIST_CAST ) ||
           dangling( c, list, index, "cast", cast, "cast member", 1u << TR_LIST_CAST );
}

// Names of joints are checked once files are open.
static bool check_drive( const checker *c, int index, const tr_drive *drive )
{
    if ( !names_cast( c, TR_LIST_DRIVE, index, drive->cast ) )
        return false;
    if ( drive->joint[0] == 0 )
        return fail( c, TR_LIST_DRIVE, index, "joint", "a drive needs a joint of the target" );
    for ( int i = 0; i < index; ++i )
        if ( strcmp( c->scene->drives[i].cast, drive->cast ) == 0 &&
             strcmp( c->scene->drives[i].joint, drive->joint ) == 0 )
            return fail( c, TR_LIST_DRIVE, index, "joint", "%s of %s is driven by drives[%d] already",
                         drive->joint, drive->cast, i );
    return true;
}

static bool check_pose( const checker *c, int index, const tr_example *example )
{
    const double most = 360; // degrees
    const char *text = example->pose;
    while ( *text != 0 ) {
        tr_turn turn;
        tr_error why;
        if ( !tr_turn_parse( &turn, &text, &why ) )
            return fail( c, TR_LIST_EXAMPLE, index, "pose", "%s", why.message );
        if ( !( v3_length( turn.degrees ) <= most ) )
            return fail( c, TR_LIST_EXAMPLE, index, "pose", "%s is turned by more than %g degrees",
                         turn.joint, most );
    }
    return true;
}

// Frames and names of joints are checked once files are open.
static bool check_example( const checker *c, int index, const tr_example *example )
{
    if ( !names_cast( c, TR_LIST_EXAMPLE, index, example->cast ) || !check_pose( c, index, example ) )
        return false;
    const tr_cast *cast = &c->scene->cast[find_body( c, example->cast )->index];
    if ( cast->target.skeleton.file[0] == 0 )
        return fail( c, TR_LIST_EXAMPLE, index, "cast",
                     "%s has no target.skeleton, which is the file with the poses of its target", cast->id );
    for ( int i = 0; i < index; ++i ) {
        const tr_example *other = &c->scene->examples[i];
        if ( strcmp( other->cast, example->cast ) != 0 || other->source != example->source ||
             other->mirrored != example->mirrored || other->muted || example->muted )
            continue;
        return fail( c, TR_LIST_EXAMPLE, index, "source",
                     other->target == example->target && strcmp( other->pose, example->pose ) == 0
                         ? "examples \"%s\" and \"%s\" are the same pair; remove one"
                         : "examples \"%s\" and \"%s\" have the same pose of the source and different "
                           "poses of the target; remove one",
                     other->id, example->id );
    }
    return true;
}

static bool check_part( const checker *c, int index, const tr_part_drive *part )
{
    static const char *const fields[] = { "source.first", "source.last", "target.first", "target.last" };
    const char *const joints[] = { part->source_first, part->source_last, part->target_first,
                                   part->target_last };
    if ( !names_cast( c, TR_LIST_PART, index, part->cast ) )
        return false;
    for ( int i = 0; i < 4; ++i )
        if ( joints[i][0] == 0 )
            return fail( c, TR_LIST_PART, index, fields[i], "a joint is needed here" );
    return true;
}

static bool check_references( const checker *c )
{
    const tr_scene *scene = c->scene;
    bool ok = true;
    for ( int i = 0; ok && i < scene->constraint_count; ++i )
        ok = check_constraint( c, i, &scene->constraints[i] );
    for ( int i = 0; ok && i < scene->layer_count; ++i )
        ok = check_layer( c, i, &scene->layers[i] );
    for ( int i = 0; ok && i < scene->section_count; ++i )
        ok = check_section( c, i, &scene->sections[i] );
    for ( int i = 0; ok && i < scene->handle_count; ++i )
        ok = check_handle( c, i, &scene->handles[i] );
    for ( int i = 0; ok && i < scene->clip_count; ++i )
        ok = check_clip( c, i, &scene->clips[i] );
    for ( int i = 0; ok && i < scene->pair_count; ++i )
        ok = check_pair( c, i, &scene->pairs[i] );
    for ( int i = 0; ok && i < scene->drive_count; ++i )
        ok = check_drive( c, i, &scene->drives[i] );
    for ( int i = 0; ok && i < scene->example_count; ++i )
        ok = check_example( c, i, &scene->examples[i] );
    for ( int i = 0; ok && i < scene->part_count; ++i )
        ok = check_part( c, i, &scene->parts[i] );
    return ok;
}

// Ids that have to be unique only in their own list.
static bool check_own_ids( const checker *c, tr_list list, named *all )
{
    return check_unique( c, all, gather( c->scene, list, all ) );
}

// Ids and references of elements that have been checked one by one.
static bool check_names( checker *c )
{
    const tr_scene *scene = c->scene;
    c->body_count = scene->cast_count + scene->prop_count + scene->obstacle_count;
    int most = 0;
    for ( tr_list list = TR_LIST_CONSTRAINT; list < TR_LIST_COUNT; ++list )
        most = tr_list_count( scene, list ) > most ? tr_list_count( scene, list ) : most;
    c->bodies = tr_alloc( (size_t)c->body_count, sizeof *c->bodies );
    c->layers = tr_alloc( (size_t)scene->layer_count, sizeof *c->layers );
    named *all = tr_alloc( (size_t)most, sizeof *all );
    bool ok = ( c->bodies != NULL && c->layers != NULL && all != NULL ) || tr_error_memory( c->error );
    if ( ok ) {
        int count = gather( scene, TR_LIST_CAST, c->bodies );
        count += gather( scene, TR_LIST_PROP, c->bodies + count );
        gather( scene, TR_LIST_OBSTACLE, c->bodies + count );
        ok = check_unique( c, c->bodies, c->body_count ) && check_own_ids( c, TR_LIST_CONSTRAINT, all ) &&
             check_own_ids( c, TR_LIST_LAYER, c->layers ) && check_own_ids( c, TR_LIST_SECTION, all ) &&
             check_own_ids( c, TR_LIST_HANDLE, all ) && check_own_ids( c, TR_LIST_CLIP, all ) &&
             check_own_ids( c, TR_LIST_PAIR, all ) && check_own_ids( c, TR_LIST_DRIVE, all ) &&
             check_own_ids( c, TR_LIST_EXAMPLE, all ) && check_own_ids( c, TR_LIST_PART, all ) &&
             check_references( c );
    }
    tr_free( c->bodies );
    tr_free( c->layers );
    tr_free( all );
    return ok;
}

bool tr_scene_check( const tr_scene *scene, const char *file, tr_error *error )
{
    checker c = { .scene = scene, .file = file, .error = error };
    if ( !check_scene_itself( &c ) )
        return false;
    for ( tr_list list = 0; list < TR_LIST_COUNT; ++list )
        if ( !check_elements( &c, list ) )
            return false;
    return check_names( &c );
}
