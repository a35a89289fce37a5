// The draw list: shapes of one picture.
#include "ui/render/render.h"

// Room for one more element, or NULL with the list marked as failed.
static void *grow( tr_draw_list *list, void **data, int *count, int *capacity, size_t size )
{
    if ( !tr_array_reserve( data, capacity, *count + 1, size ) ) {
        list->failed = true;
        return NULL;
    }
    return (char *)*data + size * (size_t)( *count )++;
}

void tr_draw_clear( tr_draw_list *list )
{
    list->capsule_count = list->box_count = list->triangle_count = list->line_count = list->disc_count = 0;
    list->ground = 0.0;
    list->failed = false;
}

void tr_draw_free( tr_draw_list *list )
{
    tr_free( list->capsules );
    tr_free( list->boxes );
    tr_free( list->triangles );
    tr_free( list->lines );
    tr_free( list->discs );
    *list = ( tr_draw_list ){ 0 };
}

void tr_draw_cone_add( tr_draw_list *list, vec3 a, vec3 b, double radius_a, double radius_b,
                       tr_colour colour )
{
    tr_draw_capsule *capsule = grow( list, (void **)&list->capsules, &list->capsule_count,
                                     &list->capsule_capacity, sizeof *capsule );
    if ( capsule )
        *capsule = ( tr_draw_capsule ){ a, b, radius_a, radius_b, colour };
}

void tr_draw_capsule_add( tr_draw_list *list, vec3 a, vec3 b, double radius, tr_colour colour )
{
    tr_draw_cone_add( list, a, b, radius, radius, colour );
}

void tr_draw_box_add( tr_draw_list *list, rigid place, vec3 size, tr_colour colour )
{
    tr_draw_box *box =
        grow( list, (void **)&list->boxes, &list->box_count, &list->box_capacity, sizeof *box );
    if ( box )
        *box = ( tr_draw_box ){ place, size, colour };
}

void tr_draw_triangle_add( tr_draw_list *list, vec3 a, vec3 b, vec3 c, tr_colour colour )
{
    tr_draw_triangle *triangle = grow( list, (void **)&list->triangles, &list->triangle_count,
                                       &list->triangle_capacity, sizeof *triangle );
    if ( triangle )
        *triangle = ( tr_draw_triangle ){ a, b, c, colour };
}

static vec3 world_point( rigid place, const tr_shape *shape, vec3 p )
{
    return rigid_apply( place, tr_shape_point( shape, p ) );
}

void tr_draw_shape_add( tr_draw_list *list, rigid place, const tr_shape *shape, tr_colour colour )
{
    const tr_trimesh *mesh = shape->mesh;
    if ( shape->kind == TR_SHAPE_BOX )
        tr_draw_box_add( list, place, shape->size, colour );
    if ( shape->kind == TR_SHAPE_SPHERE )
        tr_draw_capsule_add( list, place.position, place.position, shape->radius, colour );
    for ( int i = 0; i + 1 < shape->point_count; ++i )
        tr_draw_capsule_add( list, world_point( place, shape, shape->points[i] ),
                             world_point( place, shape, shape->points[i + 1] ), shape->radius, colour );
    for ( int t = 0; mesh != NULL && t < mesh->triangle_count; ++t ) {
        const int *c = mesh->triangles[t];
        tr_draw_triangle_add( list, world_point( place, shape, mesh->points[c[0]] ),
                              world_point( place, shape, mesh->points[c[1]] ),
                              world_point( place, shape, mesh->points[c[2]] ), colour );
    }
}

void tr_draw_line_add( tr_draw_list *list, vec3 a, vec3 b, tr_colour colour, float width, bool on_top )
{
    tr_draw_line *line =
        grow( list, (void **)&list->lines, &list->line_count, &list->line_capacity, sizeof *line );
    if ( line )
        *line = ( tr_draw_line ){ a, b, colour, colour, width, 0, on_top };
}

void tr_draw_dot_add( tr_draw_list *list, vec3 at, tr_colour colour, float width, float most )
{
    tr_draw_line_add( list, at, at, colour, width, false );
    if ( !list->failed )
        list->lines[list->line_count - 1].most = most;
}

void tr_draw_disc_add( tr_draw_list *list, vec3 centre, vec3 normal, double radius, tr_colour colour )
{
    tr_draw_disc *disc =
        grow( list, (void **)&list->discs, &list->disc_count, &list->disc_capacity, sizeof *disc );
    if ( disc )
        *disc = ( tr_draw_disc ){ centre, normal, radius, colour };
}
