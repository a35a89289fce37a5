// Cameras that frame the action. A view is a direction to look from; the eye then moves along and across that
// direction until the given points just fit, which has a closed form (see fit_perspective).
#include "ui/render/private.h"

#include <string.h>

static const double lens = 28.0;   // vertical field of view in degrees: a long lens flatters people
static const double filled = 0.90; // share of the picture the action may take

tr_camera_frame tr_camera_frame_of( const tr_camera *camera )
{
    tr_camera_frame frame;
    frame.forward = v3_unit_or( v3_sub( camera->target, camera->eye ), v3( 0, 0, -1 ) );
    vec3 right = v3_cross( frame.forward, v3_y );
    // Looking straight down, the far side of the world (-Z) is up in the picture.
    frame.right = v3_length( right ) > 1e-6 ? v3_unit( right ) : v3_x;
    frame.up = v3_cross( frame.right, frame.forward );
    return frame;
}

vec3 tr_camera_project( const tr_camera *camera, vec3 point, double aspect )
{
    tr_camera_frame frame = tr_camera_frame_of( camera );
    vec3 p = v3_sub( point, camera->eye );
    double z = v3_dot( p, frame.forward );
    double half = camera->field_of_view > 0.0 ? z * tan( 0.5 * camera->field_of_view * TR_DEGREE )
                                              : 0.5 * camera->ortho_height;
    half = fabs( half ) > 1e-9 ? half : 1e-9;
    return v3( v3_dot( p, frame.right ) / ( half * aspect ), v3_dot( p, frame.up ) / half, z );
}

// ------------------------------------------------------------------------------------------------ views

typedef struct view {
    double yaw, pitch, distance; // degrees; distance 0 = so that everything fits
    bool automatic;
    bool flat; // orthographic
} view;

static bool parse_angles( view *out, const char *text )
{
    const char *end = text + strlen( text );
    double values[3] = { 0, 0, 0 };
    int count = 0;
    for ( const char *at = text; count < 3; ++at ) {
        at = tr_number_parse( at, end, &values[count] );
        if ( !at || !isfinite( values[count] ) )
            return false;
        ++count;
        if ( at == end )
            break;
        if ( *at != ',' || count == 3 )
            return false;
    }
    if ( count < 2 || ( count == 3 && values[2] <= 0.0 ) )
        return false;
    *out = ( view ){ values[0], clampd( values[1], -90.0, 90.0 ), values[2] };
    return true;
}

static bool parse_side( view *out, const char *text )
{
    static const struct {
        const char *name;
        double yaw, pitch;
    } named[] = {
        { "front", 0, 8 }, { "back", 180, 8 }, { "left", 90, 8 }, { "right", -90, 8 }, { "top", 0, 90 } };
    if ( strcmp( text, "auto" ) == 0 ) {
        *out = ( view ){ .automatic = true };
        return true;
    }
    for ( size_t i = 0; i < sizeof named / sizeof named[0]; ++i )
        if ( strcmp( text, named[i].name ) == 0 ) {
            *out = ( view ){ named[i].yaw, named[i].pitch };
            return true;
        }
    return parse_angles( out, text );
}

static bool parse_view( view *out, const char *text )
{
    const char flat[] = "flat ";
    bool is_flat = strncmp( text, flat, sizeof flat - 1 ) == 0;
    bool ok = parse_side( out, text + ( is_flat ? sizeof flat - 1 : 0 ) );
    out->flat = is_flat;
    return ok;
}

// Horizontal spread of the points: direction of the longest axis and standard deviations along and across.
typedef struct spread {
    double angle; // angle of the long axis, radians from +X towards -Z (as a turn about +Y)
    double along, across, height;
} spread;

static spread measure_spread( const vec3 *points, int count )
{
    vec3 mean = v3_zero;
    for ( int i = 0; i < count; ++i )
        mean = v3_mad( mean, 1.0 / count, points[i] );
    double xx = 0, xz = 0, zz = 0, yy = 0;
    for ( int i = 0; i < count; ++i ) {
        vec3 d = v3_sub( points[i], mean );
        xx += d.x * d.x / count;
        xz += d.x * d.z / count;
        zz += d.z * d.z / count;
        yy += d.y * d.y / count;
    }
    double centre = 0.5 * ( xx + zz ), swing = hypot( 0.5 * ( xx - zz ), xz );
    return ( spread ){ 0.5 * atan2( -2.0 * xz, xx - zz ), sqrt( centre + swing ),
                       sqrt( fmax( centre - swing, 0.0 ) ), sqrt( yy ) };
}

static tr_camera_frame frame_of( double yaw, double pitch ) // degrees
{
    yaw *= TR_DEGREE;
    pitch *= TR_DEGREE;
    tr_camera camera = { .eye = v3( sin( yaw ) * cos( pitch ), sin( pitch ), cos( yaw ) * cos( pitch ) ) };
    if ( fabs( pitch ) >
         89.9 * TR_DEGREE ) // straight down: yaw would turn the picture, eye and target cannot
        camera.eye = v3( 0, pitch, 0 );
    return tr_camera_frame_of( &camera );
}

// The points to be framed and the shape of the picture.
typedef struct subject {
    const vec3 *points; // [count]
    int count;
    double radius; // around each point
    double aspect;
} subject;

static double points_extent( const vec3 *points, int count ) // farthest from the first
{
    double extent = 0.0;
    for ( int i = 1; i < count; ++i )
        extent = fmax( extent, v3_distance( points[0], points[i] ) );
    return extent;
}

// -------------------------------------------------------------------------------------------------- fit

// In the camera's axes the eye (ex, ey, ez) sees a ball of radius r at (x, y, z) inside its right plane when
//   x - ex + r √(1 + t²) ≤ t (z - ez),   t = tangent of half the horizontal angle,
// that is ex - t ez ≥ R = max( x - t z ) + r √(1 + t²), and for the left plane -ex - t ez ≥ L likewise.
// So ex = (R - L) / 2 and ez ≤ -(R + L) / 2t; the same for the vertical; the farther ez of the two counts.
static vec3 fit_perspective( const subject *s, const tr_camera_frame *frame )
{
    double tangent_y = filled * tan( 0.5 * lens * TR_DEGREE ), tangent_x = tangent_y * s->aspect;
    double side[4] = { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL, -HUGE_VAL }; // right, left, top, bottom
    for ( int i = 0; i < s->count; ++i ) {
        double x = v3_dot( s->points[i], frame->right ), y = v3_dot( s->points[i], frame->up ),
               z = v3_dot( s->points[i], frame->forward );
        side[0] = fmax( side[0], x - tangent_x * z );
        side[1] = fmax( side[1], -x - tangent_x * z );
        side[2] = fmax( side[2], y - tangent_y * z );
        side[3] = fmax( side[3], -y - tangent_y * z );
    }
    double pad_x = s->radius * hypot( 1.0, tangent_x ), pad_y = s->radius * hypot( 1.0, tangent_y );
    double ez = fmin( -( side[0] + side[1] + 2.0 * pad_x ) / ( 2.0 * tangent_x ),
                      -( side[2] + side[3] + 2.0 * pad_y ) / ( 2.0 * tangent_y ) );
    return v3( 0.5 * ( side[0] - side[1] ), 0.5 * ( side[2] - side[3] ), ez );
}

// Moves the eye across until the action leaves the same margin on both sides. In the tightest direction the
// fit above does so already, but the other one has room to spare, and from an eye that stands farther back
// than that direction asks for, the near points reach less far out. With d = z - ez in front of the eye,
// the margins are even where max( (x - e) / d ) = max( (e - x) / d ). Both sides are the greatest of straight
// lines in e: take the two lines that count at e, go to where they meet, and again until they stay the same.
static double centre( const subject *s, vec3 across, vec3 forward, double ez, double e )
{
    for ( int round = 0; round < 16; ++round ) {
        double reach[2] = { -HUGE_VAL, -HUGE_VAL }, at[2] = { 0, 0 }, depth[2] = { 1, 1 };
        for ( int i = 0; i < s->count; ++i ) {
            double x = v3_dot( s->points[i], across ), d = v3_dot( s->points[i], forward ) - ez;
            for ( int side = 0; side < 2; ++side ) {
                double out = ( ( side == 0 ? x - e : e - x ) + s->radius ) / d;
                if ( out > reach[side] ) {
                    reach[side] = out;
                    at[side] = side == 0 ? x + s->radius : x - s->radius;
                    depth[side] = d;
                }
            }
        }
        double meet = ( at[0] * depth[1] + at[1] * depth[0] ) / ( depth[0] + depth[1] );
        if ( fabs( meet - e ) < 1e-9 * ( 1.0 + fabs( e ) ) )
            break;
        e = meet;
    }
    return e;
}

// Where the eye stands for a view that shows everything in the middle of the picture.
static vec3 place_eye( const subject *s, const tr_camera_frame *frame )
{
    vec3 e = fit_perspective( s, frame );
    double nearest = HUGE_VAL; // points in one line behind each other would let the eye sit on the first
    for ( int i = 0; i < s->count; ++i )
        nearest = fmin( nearest, v3_dot( s->points[i], frame->forward ) );
    e.z = fmin( e.z, nearest - s->radius - 0.1 * points_extent( s->points, s->count ) );
    e.x = centre( s, frame->right, frame->forward, e.z, e.x );
    e.y = centre( s, frame->up, frame->forward, e.z, e.y );
    return e;
}

// Without perspective the points fit when their box across the view does; the eye stands where a lens would
// see as much of what lies at `depth`, so that going over to perspective changes little.
static vec3 place_flat_eye( const subject *s, const tr_camera_frame *frame, double depth, double *height )
{
    double low[2] = { HUGE_VAL, HUGE_VAL }, high[2] = { -HUGE_VAL, -HUGE_VAL };
    for ( int i = 0; i < s->count; ++i ) {
        const double at[2] = { v3_dot( s->points[i], frame->right ), v3_dot( s->points[i], frame->up ) };
        for ( int k = 0; k < 2; ++k ) {
            low[k] = fmin( low[k], at[k] - s->radius );
            high[k] = fmax( high[k], at[k] + s->radius );
        }
    }
    *height = fmax( fmax( ( high[0] - low[0] ) / s->aspect, high[1] - low[1] ) / filled, 1e-3 );
    return v3( 0.5 * ( low[0] + high[0] ), 0.5 * ( low[1] + high[1] ),
               depth - 0.5 * *height / tan( 0.5 * lens * TR_DEGREE ) );
}

// -------------------------------------------------------------------------------------- pleasant angles

// How much of the cast one sees from this side: cells of a coarse picture that some point falls into. Bodies
// that hide each other count once, larger ones count more.
static int cells_filled( const subject *s, double yaw, double pitch )
{
    enum { ROWS = 54, COLUMNS = 96 };
    bool cells[ROWS][COLUMNS] = { 0 };
    tr_camera_frame frame = frame_of( yaw, pitch );
    vec3 e = place_eye( s, &frame );
    double tangent = tan( 0.5 * lens * TR_DEGREE );
    int filled_cells = 0;
    for ( int i = 0; i < s->count; ++i ) {
        double half = ( v3_dot( s->points[i], frame.forward ) - e.z ) * tangent;
        double x = ( v3_dot( s->points[i], frame.right ) - e.x ) / ( half * s->aspect );
        double y = ( v3_dot( s->points[i], frame.up ) - e.y ) / half;
        int column = tr_int_clamped( 0.5 * ( x + 1.0 ) * COLUMNS, 0, COLUMNS - 1 );
        int row = tr_int_clamped( 0.5 * ( y + 1.0 ) * ROWS, 0, ROWS - 1 );
        filled_cells += !cells[row][column];
        cells[row][column] = true;
    }
    return filled_cells;
}

// A row, or a long body, is seen from its side and turned a little. Turning brings one end closer and lets
// the row run through the picture's height too: this makes all bodies larger until they begin to hide each
// other.
static double choose_row_yaw( const subject *s, double side, double least, double pitch )
{
    double best = side;
    int best_cells = 0;
    for ( int sign = 1; sign >= -1; sign -= 2 )
        for ( double angle = least; angle < 49.0; angle += 4.0 ) {
            int cells = cells_filled( s, side + sign * angle, pitch );
            if ( cells > best_cells + best_cells / 50 ) {
                best_cells = cells;
                best = side + sign * angle;
            }
        }
    return best;
}

// A three-quarter view: rows as above, from the side that shows faces; round groups and single people from
// the front left. Wide crowds are seen from higher up than single bodies.
static void choose_angles( view *out, const subject *s, vec3 facing )
{
    spread shape = measure_spread( s->points, s->count );
    double height = fmax( shape.height, 1e-9 );
    double front =
        v3_length( v3_horizontal( facing ) ) > 1e-9 ? atan2( facing.x, facing.z ) / TR_DEGREE : 0.0;
    double longness = clampd( shape.along / fmax( shape.across, 1e-9 ) - 1.5, 0.0, 1.0 );
    double wideness = clampd( ( shape.along / height - 1.0 ) / 4.0, 0.0, 1.0 );
    out->pitch = lerpd( 11.0, 13.0, wideness ) + 8.0 * clampd( shape.across / height / 4.0 - 0.25, 0.0, 1.0 );
    out->yaw = front + 32.0;
    if ( longness > 0.0 ) {
        double side = shape.angle / TR_DEGREE; // yaw at right angles to the long axis
        if ( fabs( remainder( side - front, 360.0 ) ) > 90.0 )
            side += 180.0;
        double row = choose_row_yaw( s, side, lerpd( 35.0, 15.0, wideness ), out->pitch );
        out->yaw += longness * remainder( row - out->yaw, 360.0 );
    }
}

// ---------------------------------------------------------------------------------------------- cameras

static void place_camera( tr_camera *camera, const view *v, const subject *s )
{
    tr_camera_frame frame = frame_of( v->yaw, v->pitch );
    double depth = 0.0, height = 0.0;
    for ( int i = 0; i < s->count; ++i )
        depth += v3_dot( s->points[i], frame.forward ) / s->count;
    vec3 e = v->flat ? place_flat_eye( s, &frame, depth, &height ) : place_eye( s, &frame );
    if ( v->distance > 0.0 ) {
        e.z = depth - v->distance;
        height = 2.0 * v->distance * tan( 0.5 * lens * TR_DEGREE );
    }
    *camera = ( tr_camera ){ .field_of_view = v->flat ? 0.0 : lens,
                             .ortho_height = height,
                             .light = tr_camera_default_light( &frame ) };
    camera->eye = v3_add( v3_add( v3_scale( e.x, frame.right ), v3_scale( e.y, frame.up ) ),
                          v3_scale( e.z, frame.forward ) );
    camera->target = v3_mad( camera->eye, fmax( depth - e.z, 1e-6 ), frame.forward );
}

vec3 tr_camera_default_light( const tr_camera_frame *frame )
{
    vec3 towards = v3_unit_or( v3_horizontal( v3_negate( frame->forward ) ), v3_z );
    vec3 side = v3_horizontal( frame->right );
    return v3_unit(
        v3_add( v3_add( v3_scale( 0.42, towards ), v3_scale( -0.52, side ) ), v3( 0, 1.15, 0 ) ) );
}

bool tr_camera_fit( tr_camera *camera, const char *text, const vec3 *points, int count, double radius,
                    vec3 facing, double aspect )
{
    view v;
    if ( !parse_view( &v, text ) )
        return false;
    aspect = isfinite( aspect ) && aspect > 1e-6 ? aspect : 1.0;
    const vec3 middle = { 0, 0.9, 0 };
    subject s = { points, count, radius, aspect };
    if ( count == 0 ) {
        s.points = &middle;
        s.count = 1;
    }
    if ( !( radius > 0.0 ) && points_extent( s.points, s.count ) < 1e-6 )
        s.radius = 1.0; // nothing to see yet: two metres around it
    if ( v.automatic )
        choose_angles( &v, &s, facing );
    place_camera( camera, &v, &s );
    return true;
}

bool tr_camera_view( tr_camera *camera, const char *text, vec3 low, vec3 high, double aspect )
{
    vec3 corners[8];
    bool usable =
        v3_finite( low ) && v3_finite( high ) && low.x <= high.x && low.y <= high.y && low.z <= high.z;
    for ( int i = 0; usable && i < 8; ++i )
        corners[i] = v3( i & 1 ? high.x : low.x, i & 2 ? high.y : low.y, i & 4 ? high.z : low.z );
    return tr_camera_fit( camera, text, corners, usable ? 8 : 0, 0.0, v3_zero, aspect );
}

// ----------------------------------------------------------------------------------------------- matrix

// Rows of the clip transform, written into columns as OpenGL wants them. Positions are relative to `origin`.
void tr_camera_matrix( const tr_camera *camera, vec3 origin, double aspect, double near_plane,
                       double far_plane, float out[16] )
{
    tr_camera_frame frame = tr_camera_frame_of( camera );
    vec3 eye = v3_sub( camera->eye, origin );
    bool perspective = camera->field_of_view > 0.0;
    double half = perspective ? tan( 0.5 * camera->field_of_view * TR_DEGREE ) : 0.5 * camera->ortho_height;
    double range = far_plane - near_plane, sum = far_plane + near_plane;
    double depth_scale = perspective ? sum / range : 2.0 / range;
    double depth_shift = perspective ? -2.0 * far_plane * near_plane / range : -sum / range;
    vec3 rows[4] = { v3_scale( 1.0 / ( half * aspect ), frame.right ), v3_scale( 1.0 / half, frame.up ),
                     v3_scale( depth_scale, frame.forward ), perspective ? frame.forward : v3_zero };
    for ( int r = 0; r < 4; ++r ) {
        out[0 + r] = (float)rows[r].x;
        out[4 + r] = (float)rows[r].y;
        out[8 + r] = (float)rows[r].z;
        out[12 + r] = (float)-v3_dot( rows[r], eye );
    }
    out[14] += (float)depth_shift;
    if ( !perspective )
        out[15] = 1.0f;
}
