// Uniforms of a picture: camera, planes, lights, grid and the size of the ground.
#include "ui/render/private.h"

// Nearest and farthest depth of interest before the eye, with room for the ground that fades out.
static void choose_planes( const tr_shot *s, double fade_end, double *near_plane, double *far_plane )
{
    tr_camera_frame f = tr_camera_frame_of( s->camera );
    double distance = v3_distance( s->camera->eye, s->camera->target );
    double nearest = HUGE_VAL, farthest = distance + fade_end;
    for ( int i = 0; i < 8 && s->content.low.x <= s->content.high.x; ++i ) {
        vec3 corner =
            v3( i & 1 ? s->content.high.x : s->content.low.x, i & 2 ? s->content.high.y : s->content.low.y,
                i & 4 ? s->content.high.z : s->content.low.z );
        double z = v3_dot( v3_sub( corner, s->camera->eye ), f.forward );
        nearest = fmin( nearest, z );
        farthest = fmax( farthest, z );
    }
    double above = s->camera->eye.y - s->list->ground; // the ground may come nearer than any body
    nearest = fmin( nearest, fmin( distance, fabs( above ) ) );
    *near_plane = clampd( 0.7 * nearest, 2e-3 * distance, distance );
    *far_plane = fmax( farthest * 1.05, 2.0 * *near_plane );
    if ( s->camera->field_of_view <= 0.0 )
        *near_plane =
            fmin( nearest, distance - fade_end ) - 1.0; // orthographic: nothing is lost by going back
}

static double content_radius( const tr_shot *s )
{
    double radius = 0.0;
    for ( int i = 0; i < 4 && s->content.low.x <= s->content.high.x; ++i ) {
        double x = ( i & 1 ? s->content.high.x : s->content.low.x ) - s->origin.x;
        double z = ( i & 2 ? s->content.high.z : s->content.low.z ) - s->origin.z;
        radius = fmax( radius, hypot( x, z ) );
    }
    return radius;
}

vec3 tr_key_light( const tr_camera *camera )
{
    tr_camera_frame axes = tr_camera_frame_of( camera );
    vec3 light = v3_unit_or( camera->light, tr_camera_default_light( &axes ) );
    return light.y < 0.2 ? v3_unit( v3( light.x, 0.2, light.z ) )
                         : light; // below the floor it lights nothing
}

// Radius around the origin that holds every shadow: a blocker at height h throws its shadow h / tan(
// elevation ) away.
static double shadow_reach( const tr_shot *s )
{
    vec3 light = tr_key_light( s->camera );
    double tall = fmax( s->content.high.y - s->list->ground, 0.0 );
    return content_radius( s ) + tall * hypot( light.x, light.z ) / light.y + 4.0 * s->light.soft;
}

// Lines every metre and stronger ones every five, for views of people; for views of a hand's breadth or of a
// town a smaller or larger power of ten takes the metre's place. Close up, tenths appear. `view` is the
// height in metres that the picture shows at its centre.
static void choose_grid( tr_shot *s, double view )
{
    double decades = view < 0.8    ? floor( log10( view / 0.8 ) )
                     : view > 80.0 ? ceil( log10( view / 80.0 ) )
                                   : 0.0;
    double unit = pow( 10.0, decades ), relative = log10( view / unit );
    float *grid = s->frame.grid, *ground = s->frame.ground;
    grid[0] = (float)( 0.07 * ( 1.0 - smooth_step5( relative / 0.5 ) ) );
    grid[1] = (float)( lerpd( 0.12, 0.07, smooth_step5( ( relative - 1.6 ) / 0.6 ) ) );
    grid[2] = 0.20f;
    grid[3] = (float)( 1.0 / unit );
    ground[1] = (float)fmod( s->origin.x, 100.0 * unit );
    ground[2] = (float)fmod( s->origin.z, 100.0 * unit );
}

// Metres from the bottom to the top of the picture at the distance of the target.
static double shown_height( const tr_camera *c )
{
    double distance = v3_distance( c->eye, c->target );
    return c->field_of_view > 0.0 ? 2.0 * distance * tan( 0.5 * c->field_of_view * TR_DEGREE )
                                  : c->ortho_height;
}

static void fill_camera( tr_shot *s )
{
    tr_gpu_frame *f = &s->frame;
    const tr_camera *c = s->camera;
    tr_camera_frame axes = tr_camera_frame_of( c );
    double half = c->field_of_view > 0.0 ? tan( 0.5 * c->field_of_view * TR_DEGREE ) : 0.0;
    tr_gpu_put( f->eye, v3_sub( c->eye, s->origin ), c->field_of_view > 0.0 );
    tr_gpu_put( f->forward, axes.forward, 0.0 );
    tr_gpu_put( f->right, v3_scale( half * s->aspect, axes.right ), s->pixel );
    tr_gpu_put( f->up, v3_scale( half, axes.up ), 0.0 );
    tr_gpu_put( f->light, tr_key_light( c ), s->light.depth );
    vec3 back = v3_unit_or( v3_horizontal( v3_negate( axes.forward ) ), axes.up );
    tr_gpu_put(
        f->fill,
        v3_unit( v3_add( v3_add( v3_scale( 0.8, axes.right ), v3_scale( 0.5, back ) ), v3( 0, 0.25, 0 ) ) ),
        shown_height( c ) / s->height > 0.8 * s->light.texel ? 2.0 : 1.0 );
    f->viewport[0] = (float)s->width;
    f->viewport[1] = (float)s->height;
    f->viewport[2] = 1.0f / (float)s->width;
    f->viewport[3] = 1.0f / (float)s->height;
}

void tr_frame_fill( tr_shot *s )
{
    tr_gpu_frame *f = &s->frame;
    const tr_camera *c = s->camera;
    double radius = content_radius( s );
    double shown = shown_height( c );
    double tall = s->content.high.y > s->list->ground ? s->content.high.y - s->list->ground : 1.0;
    double fade_begin = 0.9 * radius + 0.5 * shown, fade_end = 2.0 * fade_begin + 5.0 * shown;
    double near_plane, far_plane;
    fill_camera( s );
    choose_planes( s, fade_end, &near_plane, &far_plane );
    tr_camera_matrix( c, s->origin, s->aspect, near_plane, far_plane, f->view_projection );
    f->ground[0] = (float)( s->list->ground - s->origin.y );
    f->ground[3] = (float)fmax( 0.2 * fmin( tall, 2.0 ), 1e-4 );
    f->fade[0] = (float)fade_begin;
    f->fade[1] = (float)fade_end;
    f->fade[2] = (float)shadow_reach( s );
    f->fade[3] = s->light.width > 0;
    choose_grid( s, fmax( shown, 1e-6 ) );
    if ( s->light.width > 0 ) {
        tr_light_matrix( &s->light, f->light_matrix );
        f->shadow_map[0] = 1.0f / (float)s->light.width;
        f->shadow_map[1] = 1.0f / (float)s->light.height;
        f->shadow_map[2] = (float)s->light.texel;
        f->shadow_map[3] = (float)( 0.05 / s->light.soft * s->light.tallest );
        f->forward[3] = (float)( 1.0 / s->light.tallest );
    }
}
