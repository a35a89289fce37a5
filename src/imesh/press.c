// Overlaps of bodies and boxes in any motion: where, along which normal, and how deep.
#include "imesh/private.h"

#include <stdlib.h>

// The first terms of a contact are those of its bones' ends, two for each.
static vec3 place_of( const tr_imesh_contact *c, const vec3 *at, int from, int to )
{
    vec3 sum = v3_zero;
    for ( int t = from; t < to; ++t )
        sum = v3_mad( sum, fabs( c->weight[t] ), at[c->vertex[t]] );
    return sum;
}

static bool add_press( const tr_imesh *mesh, const tr_imesh_contact *c, int frame, const vec3 *at,
                       tr_imesh_presses *out )
{
    if ( !tr_array_reserve( (void **)&out->items, &out->capacity, out->count + 1, sizeof *out->items ) )
        return false;
    out->items[out->count++] =
        ( tr_imesh_press ){ .frame = frame,
                            .a = tr_imesh_contact_owner( mesh, c, 0 ),
                            .b = tr_imesh_contact_owner( mesh, c, 1 ),
                            .part_a = mesh->capsules[c->i].index,
                            .part_b = c->kind == TR_IMESH_CAPSULES ? mesh->capsules[c->j].index : -1,
                            .at_a = place_of( c, at, 0, 2 ),
                            .at_b = place_of( c, at, 2, c->term_count ),
                            .normal = c->normal,
                            .depth = tr_imesh_required( c ) - tr_imesh_gap( c, at ) };
    return true;
}

// Sides are the source's: it is looked at first.
static bool find_at( const tr_imesh *mesh, int frame, tr_imesh_presses *out )
{
    const vec3 *at = tr_imesh_frame( mesh, mesh->target, frame );
    if ( !tr_imesh_detect( mesh, frame, tr_imesh_frame( mesh, mesh->source, frame ), 0 ) ||
         !tr_imesh_detect( mesh, frame, at, 1 ) )
        return false;
    const tr_imesh_contacts *contacts = &mesh->solver->contacts[frame];
    for ( int i = 0; i < contacts->count; ++i ) {
        const tr_imesh_contact *c = &contacts->items[i];
        if ( !c->active || c->kind == TR_IMESH_GROUND )
            continue;
        if ( !add_press( mesh, c, frame, at, out ) )
            return false;
    }
    return true;
}

int tr_imesh_press_order( const tr_imesh_press *x, const tr_imesh_press *y )
{
    return x->a != y->a             ? x->a - y->a
           : x->part_a != y->part_a ? x->part_a - y->part_a
           : x->b != y->b           ? x->b - y->b
                                    : x->part_b - y->part_b;
}

static int by_pair_and_frame( const void *a, const void *b )
{
    const tr_imesh_press *x = a, *y = b;
    int order = tr_imesh_press_order( x, y );
    return order != 0 ? order : x->frame - y->frame;
}

static void drop_shallow( tr_imesh_presses *list, double deep )
{
    int kept = 0;
    for ( int i = 0, end; i < list->count; i = end ) {
        double most = 0;
        for ( end = i; end < list->count && tr_imesh_press_order( &list->items[i], &list->items[end] ) == 0;
              ++end )
            most = fmax( most, list->items[end].depth );
        for ( int k = i; most > deep && k < end; ++k )
            list->items[kept++] = list->items[k];
    }
    list->count = kept;
}

bool tr_imesh_presses_find( tr_imesh_presses *out, const tr_imesh_cast *cast, const tr_imesh_def *def,
                            double deep, tr_error *error )
{
    tr_imesh mesh = { .cast = *cast, .def = *def, .frame_count = cast->frame_count };
    bool ok = tr_imesh_vertices_build( &mesh, error ) && tr_imesh_watch_build( &mesh, error );
    *out = ( tr_imesh_presses ){ 0 };
    bool found = ok;
    for ( int f = 0; found && f < mesh.frame_count; ++f )
        found = find_at( &mesh, f, out );
    tr_imesh_free( &mesh );
    if ( out->count > 1 )
        qsort( out->items, (size_t)out->count, sizeof *out->items, by_pair_and_frame );
    drop_shallow( out, deep );
    return ok && ( found || tr_error_memory( error ) );
}

void tr_imesh_presses_free( tr_imesh_presses *presses )
{
    tr_free( presses->items );
    *presses = ( tr_imesh_presses ){ 0 };
}
