// The orbiting camera, and picking what is under the pointer.
#include "ui/shared/shared.h"

#include <stdio.h>
#include <string.h>

static const double lens = 28.0; // vertical field of view, as tr_camera_fit chooses it

tr_camera tr_orbit_camera( const tr_orbit *o )
{
    double yaw = o->yaw * TR_DEGREE, pitch = o->pitch * TR_DEGREE;
    // Looking straight up or down, the direction alone does not define which way is up; a direction slightly
    // beside it does.
    pitch = clampd( pitch, -0.4999 * TR_PI, 0.4999 * TR_PI );
    vec3 back = v3( sin( yaw ) * cos( pitch ), sin( pitch ), cos( yaw ) * cos( pitch ) );
    tr_camera camera = { .eye = v3_mad( o->target, o->distance, back ), .target = o->target };
    camera.field_of_view = o->orthographic ? 0.0 : lens;
    camera.ortho_height = 2.0 * o->distance * tan( 0.5 * lens * TR_DEGREE );
    return camera;
}

void tr_orbit_from_camera( tr_orbit *o, const tr_camera *camera )
{
    vec3 back = v3_sub( camera->eye, camera->target );
    o->target = camera->target;
    o->distance = fmax( v3_length( back ), 1e-3 );
    o->yaw = atan2( back.x, back.z ) / TR_DEGREE;
    o->pitch = asin( clampd( back.y / o->distance, -1.0, 1.0 ) ) / TR_DEGREE;
    o->orthographic = camera->field_of_view <= 0.0;
}

void tr_orbit_turn( tr_orbit *o, double dx, double dy )
{
    o->yaw = remainder( o->yaw - 0.35 * dx, 360.0 );
    o->pitch = clampd( o->pitch + 0.35 * dy, -90.0, 90.0 );
    o->orthographic = false; // turned away from an axis, perspective helps again
}

typedef struct axes {
    vec3 right, up, forward;
} axes;

static axes axes_of( const tr_camera *camera )
{
    axes a;
    a.forward = v3_unit_or( v3_sub( camera->target, camera->eye ), v3( 0, 0, -1 ) );
    a.right = v3_unit_or( v3_cross( a.forward, v3_y ), v3_x );
    a.up = v3_cross( a.right, a.forward );
    return a;
}

void tr_orbit_pan( tr_orbit *o, double dx, double dy, double height )
{
    tr_camera camera = tr_orbit_camera( o );
    axes a = axes_of( &camera );
    double metres = camera.ortho_height / fmax( height, 1.0 );
    o->target = v3_mad( v3_mad( o->target, -dx * metres, a.right ), dy * metres, a.up );
}

void tr_orbit_zoom( tr_orbit *o, double notches )
{
    o->distance = clampd( o->distance * pow( 0.88, notches ), 0.02, 2000.0 );
}

// ------------------------------------------------------------------------------------------------- framing

static void bounds_add( vec3 *low, vec3 *high, vec3 p, double r )
{
    *low = v3( fmin( low->x, p.x - r ), fmin( low->y, p.y - r ), fmin( low->z, p.z - r ) );
    *high = v3( fmax( high->x, p.x + r ), fmax( high->y, p.y + r ), fmax( high->z, p.z + r ) );
}

static bool item_bounds( const tr_ui *ui, const tr_shown *shown, const tr_item *item, vec3 *low, vec3 *high )
{
    int actor = tr_item_actor( shown, item );
    vec3 place;
    if ( !tr_item_place( ui, shown, item, &place ) )
        return false;
    if ( actor < 0 || item->joint >= 0 ) {
        bounds_add( low, high, place, 0.35 );
        return true;
    }
    tr_pose pose = tr_world_pose( &shown->result->worlds[actor], ui->frame );
    for ( int j = 0; j < shown->stage->actors[actor].target.joint_count; ++j )
        bounds_add( low, high, pose.positions[j], 0.1 );
    return true;
}

// Frames everything, in perspective from a pleasant side. A view along an axis stays.
static void frame_all( tr_orbit *o, const tr_ui *ui, const tr_shown *shown, double aspect )
{
    char view[64] = "auto", yaw[28], pitch[28];
    const tr_orbit before = *o;
    tr_camera camera;
    if ( before.orthographic ) { // straight down, a direction alone does not define the roll of the picture
        tr_number_print( yaw, sizeof yaw, before.yaw, 3 );
        tr_number_print( pitch, sizeof pitch, clampd( before.pitch, -89.9, 89.9 ), 3 );
        snprintf( view, sizeof view, "flat %s,%s", yaw, pitch );
    }
    if ( !tr_view_camera( &camera, shown->stage, shown->result, 1, ui->frame, ui->frame, view, aspect,
                          NULL ) )
        return;
    tr_orbit_from_camera( o, &camera );
    if ( before.orthographic ) {
        o->yaw = before.yaw;
        o->pitch = before.pitch;
    }
}

void tr_orbit_frame( tr_ui *ui, const tr_shown *shown, bool selection )
{
    vec3 low = v3( HUGE_VAL, HUGE_VAL, HUGE_VAL ), high = v3_negate( low );
    bool any = false;
    if ( shown->result == NULL )
        return;
    for ( int i = 0; selection && i < ui->selection_count; ++i )
        any |= item_bounds( ui, shown, &ui->selection[i], &low, &high );
    double aspect = ui->viewport.width / fmax( ui->viewport.height, 1.0 );
    if ( any ) { // same direction, nearer or farther
        vec3 size = v3_sub( high, low );
        double radius = 0.5 * v3_length( size );
        ui->orbit.target = v3_lerp( low, high, 0.5 );
        ui->orbit.distance = fmax( radius / sin( 0.5 * lens * TR_DEGREE ) / fmin( 1.0, aspect ), 0.2 );
        return;
    }
    frame_all( &ui->orbit, ui, shown, aspect );
}

// ---------------------------------------------------------------------------------------------------- rays

void tr_ray( const tr_ui *ui, const tr_shown *shown, double x, double y, vec3 *origin, vec3 *direction )
{
    const tr_camera *c = &shown->camera;
    axes a = axes_of( c );
    double aspect = ui->viewport.width / fmax( ui->viewport.height, 1.0 );
    double u = 2.0 * ( x - ui->viewport.x ) / fmax( ui->viewport.width, 1.0 ) - 1.0;
    double v = 1.0 - 2.0 * ( y - ui->viewport.y ) / fmax( ui->viewport.height, 1.0 );
    if ( c->field_of_view > 0.0 ) {
        double t = tan( 0.5 * c->field_of_view * TR_DEGREE );
        *origin = c->eye;
        *direction = v3_unit( v3_mad( v3_mad( a.forward, u * t * aspect, a.right ), v * t, a.up ) );
    } else {
        double half = 0.5 * c->ortho_height;
        *origin = v3_mad( v3_mad( c->eye, u * half * aspect, a.right ), v * half, a.up );
        *origin = v3_mad( *origin, -1000.0, a.forward );
        *direction = a.forward;
    }
}

bool tr_project( const tr_ui *ui, const tr_shown *shown, vec3 place, double *x, double *y )
{
    double aspect = ui->viewport.width / fmax( ui->viewport.height, 1.0 );
    vec3 p = tr_camera_project( &shown->camera, place, aspect );
    *x = ui->viewport.x + 0.5 * ( p.x + 1.0 ) * ui->viewport.width;
    *y = ui->viewport.y + 0.5 * ( 1.0 - p.y ) * ui->viewport.height;
    return p.z > 1e-6 || shown->camera.field_of_view <= 0.0;
}

// ------------------------------------------------------------------------------------------------- picking

typedef struct ray {
    vec3 origin, direction;
    double nearest; // hit so far
    double slack;   // metres per metre of distance: thin things can be hit too
} ray;

// Where the ray enters a capsule, judged by where it comes nearest to its axis, at share *t; HUGE_VAL when it
// passes.
static double hit_capsule( const ray *r, vec3 a, vec3 b, double radius, double *t )
{
    const double reach = 4000.0;
    double s;
    vec3 end = v3_mad( r->origin, reach, r->direction );
    double distance = tr_segment_distance( r->origin, end, a, b, &s, t );
    double along = s * reach;
    if ( distance > radius + r->slack * along || along <= 0.0 )
        return HUGE_VAL;
    return along - sqrt( fmax( radius * radius - distance * distance, 0.0 ) );
}

// Slabs, in the box's own axes.
static double hit_box( const ray *r, rigid place, vec3 size )
{
    vec3 o = q_unrotate( place.rotation, v3_sub( r->origin, place.position ) ),
         d = q_unrotate( place.rotation, r->direction );
    double from[3] = { o.x, o.y, o.z }, by[3] = { d.x, d.y, d.z }, half[3] = { size.x, size.y, size.z };
    double enter = 0.0, leave = HUGE_VAL;
    for ( int i = 0; i < 3; ++i ) {
        double step = fabs( by[i] ) > 1e-12 ? by[i] : 1e-12;
        double a = ( -0.5 * half[i] - from[i] ) / step, b = ( 0.5 * half[i] - from[i] ) / step;
        enter = fmax( enter, fmin( a, b ) );
        leave = fmin( leave, fmax( a, b ) );
    }
    return enter <= leave ? enter : HUGE_VAL;
}

static double hit_shape( const ray *r, rigid place, const tr_shape *shape )
{
    double t, best = HUGE_VAL;
    if ( shape->kind == TR_SHAPE_BOX )
        return hit_box( r, place, shape->size );
    if ( shape->kind == TR_SHAPE_SPHERE )
        return hit_capsule( r, place.position, place.position, shape->radius, &t );
    for ( int i = 0; i + 1 < shape->point_count; ++i )
        best = fmin( best, hit_capsule( r, rigid_apply( place, tr_shape_point( shape, shape->points[i] ) ),
                                        rigid_apply( place, tr_shape_point( shape, shape->points[i + 1] ) ),
                                        shape->radius, &t ) );
    if ( shape->mesh != NULL ) {
        vec3 from = rigid_apply( rigid_inverse( place ), r->origin ),
             way = v3_unit( q_unrotate( place.rotation, r->direction ) );
        best = shape->scale * tr_trimesh_ray( shape->mesh, tr_shape_given( shape, from ), way, NULL );
    }
    return best;
}

// The nearer end of a bone: a pointer at the wrist means the hand, not the elbow.
static int near_end( const tr_skeleton *skeleton, tr_pose pose, const tr_capsule *c, vec3 at )
{
    bool far = skeleton->joints[c->joint].end_site ||
               v3_distance( pose.positions[c->parent], at ) <= v3_distance( pose.positions[c->joint], at );
    return far ? c->parent : c->joint;
}

static void pick_actor( ray *r, const tr_ui *ui, const tr_shown *shown, int actor, tr_item *best )
{
    const tr_body *body = &shown->stage->actors[actor].body;
    tr_pose pose = tr_world_pose( &shown->result->worlds[actor], ui->frame );
    for ( int i = 0; i < body->capsule_count; ++i ) {
        const tr_capsule *c = &body->capsules[i];
        rigid place = { pose.rotations[c->parent], pose.positions[c->parent] };
        vec3 a = rigid_apply( place, c->a ), b = rigid_apply( place, c->b );
        double t, at = hit_capsule( r, a, b, c->radius, &t );
        if ( at >= r->nearest )
            continue;
        r->nearest = at;
        int joint = near_end( &shown->stage->actors[actor].target, pose, c, v3_lerp( a, b, t ) );
        *best = tr_item_make( TR_ITEM_CAST, shown->stage->scene->cast[actor].id, joint );
    }
}

tr_item tr_pick( const tr_ui *ui, const tr_shown *shown, double x, double y, vec3 *hit )
{
    tr_item best = tr_item_none();
    ray r = { .nearest = HUGE_VAL, .slack = 0.002 };
    if ( shown->result == NULL || shown->result->frame_count < 1 )
        return best;
    tr_ray( ui, shown, x, y, &r.origin, &r.direction );
    if ( shown->camera.field_of_view <= 0.0 )
        r.slack = 0.0;
    const tr_scene *scene = shown->stage->scene;
    for ( int i = 0; i < shown->stage->actor_count; ++i )
        if ( tr_cast_visible( ui, scene->cast[i].id ) && !tr_cast_locked( ui, scene->cast[i].id ) )
            pick_actor( &r, ui, shown, i, &best );
    for ( int i = 0; i < shown->stage->prop_count; ++i ) {
        tr_shape shape = tr_stage_prop_shape( shown->stage, i, false );
        double at = hit_shape( &r, shown->result->tracks[i][ui->frame], &shape );
        if ( at < r.nearest ) {
            r.nearest = at;
            best = tr_item_make( TR_ITEM_PROP, scene->props[i].id, -1 );
        }
    }
    for ( int i = 0; i < scene->obstacle_count; ++i ) {
        tr_solid solid = tr_stage_obstacle( shown->stage, i, shown->result->of_source );
        double at = hit_shape( &r, solid.at, &solid.shape );
        if ( at < r.nearest ) {
            r.nearest = at;
            best = tr_item_make( TR_ITEM_OBSTACLE, scene->obstacles[i].id, -1 );
        }
    }
    if ( !tr_item_exists( shown->scene, &best ) ) // removed, but shown until the next solve
        best = tr_item_none();
    if ( hit != NULL && best.kind != TR_ITEM_NONE )
        *hit = v3_mad( r.origin, r.nearest, r.direction );
    return best;
}

static bool inside( const tr_ui *ui, const tr_shown *shown, vec3 place, const double box[4] )
{
    double x, y;
    return tr_project( ui, shown, place, &x, &y ) && x >= box[0] && x <= box[2] && y >= box[1] && y <= box[3];
}

void tr_pick_box( tr_ui *ui, const tr_shown *shown, double x0, double y0, double x1, double y1, bool extend )
{
    const double box[4] = { fmin( x0, x1 ), fmin( y0, y1 ), fmax( x0, x1 ), fmax( y0, y1 ) };
    if ( !extend )
        tr_select( ui, NULL, false );
    if ( shown->result == NULL )
        return;
    const tr_scene *scene = shown->stage->scene;
    for ( int i = 0; i < scene->cast_count + scene->prop_count + scene->obstacle_count; ++i ) {
        int p = i - scene->cast_count, o = p - scene->prop_count;
        tr_item item = p < 0   ? tr_item_make( TR_ITEM_CAST, scene->cast[i].id, -1 )
                       : o < 0 ? tr_item_make( TR_ITEM_PROP, scene->props[p].id, -1 )
                               : tr_item_make( TR_ITEM_OBSTACLE, scene->obstacles[o].id, -1 );
        vec3 place;
        bool free = p >= 0 || ( tr_cast_visible( ui, item.id ) && !tr_cast_locked( ui, item.id ) );
        if ( free && tr_item_exists( shown->scene, &item ) && tr_item_place( ui, shown, &item, &place ) &&
             inside( ui, shown, place, box ) && !tr_ui_selected( ui, item.kind, item.id ) )
            tr_select( ui, &item, true );
    }
}
