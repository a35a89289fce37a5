// The view cube: shows which way the axes point, a click looks along one of them.
#include "ui/shared/shared.h"

#include <stdlib.h>

typedef struct face {
    const char *label;
    vec3 normal;
    double yaw, pitch;
} face;

static const face faces[6] = { { "Front", { 0, 0, 1 }, 0, 0 }, { "Back", { 0, 0, -1 }, 180, 0 },
                               { "Left", { 1, 0, 0 }, 90, 0 }, { "Right", { -1, 0, 0 }, -90, 0 },
                               { "Top", { 0, 1, 0 }, 0, 90 },  { "Bottom", { 0, -1, 0 }, 0, -90 } };

static const float cube_size = 26.0f;
const float tr_cube_margin = 56.0f;

// The camera's axes as rows: right, up, towards the viewer.
static void cube_axes( const tr_orbit *o, vec3 rows[3] )
{
    double yaw = o->yaw * TR_DEGREE, pitch = o->pitch * TR_DEGREE;
    rows[2] = v3( sin( yaw ) * cos( pitch ), sin( pitch ), cos( yaw ) * cos( pitch ) );
    rows[0] = v3( cos( yaw ), 0, -sin( yaw ) );
    rows[1] = v3_cross( rows[2], rows[0] );
}

static struct nk_vec2 cube_point( const tr_ui *ui, const vec3 rows[3], vec3 p )
{
    float cx = ui->viewport.x + ui->viewport.width - tr_cube_margin, cy = ui->viewport.y + tr_cube_margin;
    return nk_vec2( cx + cube_size * (float)v3_dot( rows[0], p ),
                    cy - cube_size * (float)v3_dot( rows[1], p ) );
}

// Corners of a face, counted around it.
static void face_corners( const tr_ui *ui, const vec3 rows[3], const face *f, struct nk_vec2 out[4] )
{
    vec3 n = f->normal, u = fabs( n.y ) > 0.5 ? v3_x : v3_y, v = v3_cross( n, u );
    const double signs[4][2] = { { -1, -1 }, { 1, -1 }, { 1, 1 }, { -1, 1 } };
    for ( int i = 0; i < 4; ++i )
        out[i] = cube_point( ui, rows, v3_mad( v3_mad( n, signs[i][0], u ), signs[i][1], v ) );
}

static bool in_quad( const struct nk_vec2 q[4], double x, double y )
{
    int positive = 0;
    for ( int i = 0; i < 4; ++i ) {
        struct nk_vec2 a = q[i], b = q[( i + 1 ) % 4];
        positive += ( b.x - a.x ) * ( y - a.y ) - ( b.y - a.y ) * ( x - a.x ) > 0;
    }
    return positive == 0 || positive == 4;
}

// The face under a point, -1 = none.
static int face_at( const tr_ui *ui, double x, double y )
{
    vec3 rows[3];
    cube_axes( &ui->orbit, rows );
    for ( int i = 0; i < 6; ++i ) {
        struct nk_vec2 q[4];
        face_corners( ui, rows, &faces[i], q );
        if ( v3_dot( rows[2], faces[i].normal ) > 0.05 && in_quad( q, x, y ) )
            return i;
    }
    return -1;
}

void tr_cube_draw( const tr_ui *ui, struct nk_command_buffer *canvas, const struct nk_user_font *font )
{
    const tr_theme *t = &tr_theme_dark;
    vec3 rows[3];
    struct nk_vec2 mouse = ui->nk->input.mouse.pos;
    int hovered = face_at( ui, mouse.x, mouse.y );
    cube_axes( &ui->orbit, rows );
    for ( int i = 0; i < 6; ++i ) {
        double towards = v3_dot( rows[2], faces[i].normal );
        if ( towards <= 0.0 )
            continue;
        struct nk_vec2 q[4];
        face_corners( ui, rows, &faces[i], q );
        int shade = 52 + tr_int_clamped( 40 * towards, 0, 40 );
        struct nk_color colour = i == hovered ? t->accent_dark : nk_rgba( shade, shade + 4, shade + 12, 235 );
        float points[8] = { q[0].x, q[0].y, q[1].x, q[1].y, q[2].x, q[2].y, q[3].x, q[3].y };
        nk_fill_polygon( canvas, points, 4, colour );
        nk_stroke_polygon( canvas, points, 4, 1.0f, t->edge );
        struct nk_vec2 centre = cube_point( ui, rows, faces[i].normal );
        float width = tr_ui_text_width( font, faces[i].label );
        if ( towards > 0.62 )
            tr_ui_text_at( canvas, font, centre.x - 0.5f * width, centre.y - 0.5f * font->height,
                           faces[i].label, t->text );
    }
}

bool tr_cube_click( tr_ui *ui, double x, double y )
{
    int i = face_at( ui, x, y );
    if ( i < 0 )
        return false;
    ui->orbit.yaw = faces[i].yaw;
    ui->orbit.pitch = faces[i].pitch;
    ui->orbit.orthographic = true;
    return true;
}
