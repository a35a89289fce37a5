// The draw list as instances: one stream of floats on the GPU, cut into groups that are drawn with one call
// each.
#include "ui/render/private.h"

#include <string.h>

static void stream_add( tr_renderer *renderer, tr_gpu_group *g, const float *values )
{
    if ( !tr_array_reserve( (void **)&renderer->stream, &renderer->stream_capacity,
                            renderer->stream_count + g->stride, sizeof *renderer->stream ) ) {
        renderer->out_of_memory = true;
        return;
    }
    memcpy( renderer->stream + renderer->stream_count, values, sizeof *values * (size_t)g->stride );
    renderer->stream_count += g->stride;
    ++g->count;
}

static tr_gpu_group stream_begin( const tr_renderer *renderer, int stride )
{
    return ( tr_gpu_group ){ (size_t)renderer->stream_count, 0, stride };
}

static float linear( float encoded )
{
    return encoded <= 0.04045f ? encoded / 12.92f : powf( ( encoded + 0.055f ) / 1.055f, 2.4f );
}

static void put_linear( float *out, tr_colour c )
{
    out[0] = linear( c.r );
    out[1] = linear( c.g );
    out[2] = linear( c.b );
    out[3] = c.a;
}

static void put_encoded( float *out, tr_colour c )
{
    out[0] = c.r;
    out[1] = c.g;
    out[2] = c.b;
    out[3] = c.a;
}

static double pixels_per_metre( const tr_shot *s, vec3 place )
{
    vec3 at = tr_camera_project( s->camera, place, s->aspect );
    double reach = s->camera->field_of_view > 0.0
                       ? fmax( at.z, 1e-6 ) * tan( 0.5 * s->camera->field_of_view * TR_DEGREE )
                       : 0.5 * s->camera->ortho_height;
    return 0.5 * s->height / reach;
}

// Finer meshes for capsules that are larger in the picture: n sides leave a gap of r (π / n)² / 2 pixels to
// the true outline, kept near a third of a pixel. Finer would be slower for nothing: software rasterisers
// shade whole blocks of pixels for every little triangle. Of a crowd far away most are thinner than three
// pixels; fingertips of a fraction of one are left out.
static int detail_of( const tr_shot *s, const tr_draw_capsule *c )
{
    double pixels = fmax( c->radius, c->radius_b ) * pixels_per_metre( s, v3_lerp( c->a, c->b, 0.5 ) );
    static const double most[TR_DETAILS] = { 1.6, 4.0, 8.0, 20.0, 60.0, INFINITY };
    int detail = 0;
    while ( pixels >= most[detail] )
        ++detail;
    return pixels < 0.2 ? -1 : detail;
}

static bool find_details( tr_renderer *renderer, const tr_shot *s )
{
    if ( !tr_array_reserve( (void **)&renderer->details, &renderer->detail_capacity, s->list->capsule_count,
                            sizeof *renderer->details ) )
        return false;
    for ( int i = 0; i < s->list->capsule_count; ++i )
        renderer->details[i] = (signed char)detail_of( s, &s->list->capsules[i] );
    return true;
}

static tr_gpu_group add_cones( tr_renderer *renderer, const tr_shot *s, bool opaque, int detail )
{
    tr_gpu_group g = stream_begin( renderer, 12 );
    for ( int i = 0; i < s->list->capsule_count; ++i ) {
        const tr_draw_capsule *c = &s->list->capsules[i];
        if ( tr_colour_opaque( c->colour ) != opaque || renderer->details[i] != detail )
            continue;
        float values[12];
        tr_gpu_put( values, v3_sub( c->a, s->origin ), c->radius );
        tr_gpu_put( values + 4, v3_sub( c->b, s->origin ), c->radius_b );
        put_linear( values + 8, c->colour );
        stream_add( renderer, &g, values );
    }
    return g;
}

static tr_gpu_group add_boxes( tr_renderer *renderer, const tr_shot *s, bool opaque )
{
    tr_gpu_group g = stream_begin( renderer, 16 );
    for ( int i = 0; i < s->list->box_count; ++i ) {
        const tr_draw_box *b = &s->list->boxes[i];
        if ( tr_colour_opaque( b->colour ) != opaque )
            continue;
        double smallest = fmin( b->size.x, fmin( b->size.y, b->size.z ) );
        quat q = b->place.rotation;
        float values[16];
        tr_gpu_put( values, v3_sub( b->place.position, s->origin ), fmin( 0.06 * smallest, 0.02 ) );
        tr_gpu_put( values + 4, v3( q.x, q.y, q.z ), q.w );
        tr_gpu_put( values + 8, v3_scale( 0.5, b->size ), 0.0 );
        put_linear( values + 12, b->colour );
        stream_add( renderer, &g, values );
    }
    return g;
}

static tr_gpu_group add_triangles( tr_renderer *renderer, const tr_shot *s, bool opaque )
{
    tr_gpu_group g = stream_begin( renderer, 16 );
    for ( int i = 0; i < s->list->triangle_count; ++i ) {
        const tr_draw_triangle *t = &s->list->triangles[i];
        if ( tr_colour_opaque( t->colour ) != opaque )
            continue;
        float values[16];
        tr_gpu_put( values, v3_sub( t->a, s->origin ), 0.0 );
        tr_gpu_put( values + 4, v3_sub( t->b, s->origin ), 0.0 );
        tr_gpu_put( values + 8, v3_sub( t->c, s->origin ), 0.0 );
        put_linear( values + 12, t->colour );
        stream_add( renderer, &g, values );
    }
    return g;
}

// A box darkens the floor like a capsule along its longest level edge that rests at the height of its bottom.
static void box_as_cone( const tr_draw_box *box, vec3 *a, vec3 *b, double *radius )
{
    mat3 m = m3_from_quat( box->place.rotation );
    vec3 edges[3] = { v3_scale( box->size.x, m.cx ), v3_scale( box->size.y, m.cy ),
                      v3_scale( box->size.z, m.cz ) };
    int longest = 0;
    double level[3], drop = 0.0;
    for ( int i = 0; i < 3; ++i ) {
        level[i] = v3_length( v3_horizontal( edges[i] ) );
        drop += 0.5 * fabs( edges[i].y );
        longest = level[i] > level[longest] ? i : longest;
    }
    double second = fmax( level[( longest + 1 ) % 3], level[( longest + 2 ) % 3] );
    *radius = fmax( 0.5 * fmin( second, level[longest] ), 1e-6 );
    double half = fmax( 0.5 * level[longest] - *radius, 0.0 );
    vec3 centre = box->place.position;
    centre.y = centre.y - drop + *radius;
    vec3 direction = v3_unit( v3_horizontal( edges[longest] ) );
    *a = v3_mad( centre, -half, direction );
    *b = v3_mad( centre, half, direction );
}

static tr_gpu_group add_occluders( tr_renderer *renderer, const tr_shot *s )
{
    tr_gpu_group g = stream_begin( renderer, 8 );
    float values[8];
    for ( int i = 0; i < s->list->capsule_count; ++i ) {
        const tr_draw_capsule *c = &s->list->capsules[i];
        double low = fmin( c->a.y, c->b.y ) - s->list->ground, thick = fmax( c->radius, c->radius_b );
        if ( !tr_colour_opaque( c->colour ) || low > 8.0 * thick || low < -4.0 * thick )
            continue;
        tr_gpu_put( values, v3_sub( c->a, s->origin ), c->radius );
        tr_gpu_put( values + 4, v3_sub( c->b, s->origin ), c->radius_b );
        stream_add( renderer, &g, values );
    }
    for ( int i = 0; i < s->list->box_count; ++i ) {
        vec3 a, b;
        double radius;
        if ( !tr_colour_opaque( s->list->boxes[i].colour ) )
            continue;
        box_as_cone( &s->list->boxes[i], &a, &b, &radius );
        tr_gpu_put( values, v3_sub( a, s->origin ), radius );
        tr_gpu_put( values + 4, v3_sub( b, s->origin ), radius );
        stream_add( renderer, &g, values );
    }
    return g;
}

static double width_of( const tr_shot *s, const tr_draw_line *l )
{
    double width = s->pixel * l->width;
    return l->most > 0 ? fmin( width, fmax( l->most * pixels_per_metre( s, l->a ), s->pixel ) ) : width;
}

// Dots come towards the viewer, on the line of sight, by as much as they may be across.
static vec3 raised( const tr_shot *s, const tr_draw_line *l, vec3 at )
{
    vec3 towards = s->camera->field_of_view > 0.0 ? v3_sub( s->camera->eye, at )
                                                  : v3_negate( tr_camera_frame_of( s->camera ).forward );
    return l->most > 0 ? v3_mad( at, l->most, v3_unit_or( towards, v3_y ) ) : at;
}

static tr_gpu_group add_lines( tr_renderer *renderer, const tr_shot *s, bool on_top )
{
    tr_gpu_group g = stream_begin( renderer, 16 );
    for ( int i = 0; i < s->list->line_count; ++i ) {
        const tr_draw_line *l = &s->list->lines[i];
        if ( l->on_top != on_top )
            continue;
        float values[16];
        tr_gpu_put( values, v3_sub( raised( s, l, l->a ), s->origin ), width_of( s, l ) );
        tr_gpu_put( values + 4, v3_sub( raised( s, l, l->b ), s->origin ), on_top );
        put_encoded( values + 8, l->colour_a );
        put_encoded( values + 12, l->colour_b );
        stream_add( renderer, &g, values );
    }
    return g;
}

static tr_gpu_group add_discs( tr_renderer *renderer, const tr_shot *s )
{
    tr_gpu_group g = stream_begin( renderer, 12 );
    for ( int i = 0; i < s->list->disc_count; ++i ) {
        const tr_draw_disc *d = &s->list->discs[i];
        float values[12];
        tr_gpu_put( values, v3_sub( d->centre, s->origin ), d->radius );
        tr_gpu_put( values + 4, v3_unit_or( d->normal, v3_y ), 0.0 );
        put_encoded( values + 8, d->colour );
        stream_add( renderer, &g, values );
    }
    return g;
}

bool tr_stream_list( tr_renderer *renderer, const tr_shot *s, tr_error *error )
{
    renderer->stream_count = 0;
    renderer->out_of_memory = !find_details( renderer, s );
    for ( int i = 0; i < TR_DETAILS && !renderer->out_of_memory; ++i ) {
        renderer->solid_cones[i] = add_cones( renderer, s, true, i );
        renderer->ghost_cones[i] = add_cones( renderer, s, false, i );
    }
    renderer->solid_boxes = add_boxes( renderer, s, true );
    renderer->ghost_boxes = add_boxes( renderer, s, false );
    renderer->solid_triangles = add_triangles( renderer, s, true );
    renderer->ghost_triangles = add_triangles( renderer, s, false );
    renderer->occluders = add_occluders( renderer, s );
    renderer->lines = add_lines( renderer, s, false );
    renderer->top_lines = add_lines( renderer, s, true );
    renderer->discs = add_discs( renderer, s );
    if ( renderer->out_of_memory )
        return tr_error_memory( error );
    glBindBuffer( GL_ARRAY_BUFFER, renderer->stream_buffer );
    glBufferData( GL_ARRAY_BUFFER, (GLsizeiptr)( sizeof( float ) * (size_t)renderer->stream_count ),
                  renderer->stream, GL_STREAM_DRAW );
    return true;
}

// ---------------------------------------------------------------------------------------------- drawing

// Attributes 1 … n take four floats each from the group's instances.
static void bind_group( const tr_renderer *renderer, const tr_gpu_group *g )
{
    glBindBuffer( GL_ARRAY_BUFFER, renderer->stream_buffer );
    for ( int i = 0; i < 4; ++i ) {
        GLuint attribute = (GLuint)i + 1;
        if ( 4 * i >= g->stride ) {
            glDisableVertexAttribArray( attribute );
            continue;
        }
        glEnableVertexAttribArray( attribute );
        glVertexAttribDivisor( attribute, 1 );
        glVertexAttribPointer( attribute, 4, GL_FLOAT, GL_FALSE,
                               (GLsizei)( sizeof( float ) * (size_t)g->stride ),
                               (const void *)( sizeof( float ) * ( g->first + 4 * (size_t)i ) ) );
    }
}

void tr_stream_meshes( const tr_renderer *renderer, const tr_gpu_group *g, const tr_gpu_mesh *mesh )
{
    if ( g->count == 0 )
        return;
    bind_group( renderer, g );
    glBindBuffer( GL_ARRAY_BUFFER, mesh->vertices );
    glEnableVertexAttribArray( 0 );
    glVertexAttribPointer( 0, 4, GL_FLOAT, GL_FALSE, 0, NULL );
    glBindBuffer( GL_ELEMENT_ARRAY_BUFFER, mesh->indices );
    glDrawElementsInstanced( GL_TRIANGLES, mesh->index_count, GL_UNSIGNED_SHORT, NULL, g->count );
}

// Both of their sides.
void tr_stream_triangles( const tr_renderer *renderer, const tr_gpu_group *g )
{
    if ( g->count == 0 )
        return;
    GLboolean culls = glIsEnabled( GL_CULL_FACE );
    bind_group( renderer, g );
    glDisableVertexAttribArray( 0 );
    glDisable( GL_CULL_FACE );
    glDrawArraysInstanced( GL_TRIANGLES, 0, 3, g->count );
    if ( culls )
        glEnable( GL_CULL_FACE );
}

void tr_stream_quads( const tr_renderer *renderer, const tr_gpu_group *g )
{
    if ( g->count == 0 )
        return;
    bind_group( renderer, g );
    glDisableVertexAttribArray( 0 );
    glDrawArraysInstanced( GL_TRIANGLE_STRIP, 0, 4, g->count );
}

void tr_stream_screen( void )
{
    for ( GLuint i = 0; i < 5; ++i )
        glDisableVertexAttribArray( i );
    glDrawArrays( GL_TRIANGLES, 0, 3 );
}

void tr_stream_solid( const tr_renderer *renderer, int program, bool from_light )
{
    GLuint name = renderer->programs[program];
    glUseProgram( name );
    glUniform1f( glGetUniformLocation( name, "from_light" ), from_light ? 1.0f : 0.0f );
}
