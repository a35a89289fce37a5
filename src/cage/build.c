// Building a cage: where its keys are, where its section stands at every frame, and what is bound to it.
#include "cage/private.h"

#include <assert.h>
#include <string.h>

tr_cage_def tr_default_cage_def( void )
{
    return ( tr_cage_def ){
        .padding = 0.15,
        .detail = 2,
        .spacing = 0.5,
        .through = -1,
        .ease_in = 12,
        .ease_out = 12,
        .temporal = 1,
        .section = { .still_speed = 0.02,
                     .heading_return = 0.25,
                     .heading_window = 0.5,
                     .extent_window = 0.15,
                     .steady_growth = 1.5,
                     .flatness = 0.125,
                     .gap_min = 0.02,
                     .gap_max = 1e3 },
        .hold = { .edge = 0.01f, .vertex = 1e-5f, .damping = 1e-2f, .free_share = 0.2, .dependence = 1e-6 } };
}

static vec3 point_at( const tr_cage_points *p, int frame, int point )
{
    return p->points[(size_t)( frame - p->begin ) * (size_t)p->point_count + (size_t)point];
}

// --------------------------------------------------------------------------------------------------- spread

// Mean way of the points from one frame to the next, and what is added where they stand still.
static double step_length( const tr_cage_points *p, const tr_cage_def *def, int frame )
{
    double sum = 0;
    for ( int i = 0; i < p->point_count; ++i )
        sum += v3_distance( point_at( p, frame, i ), point_at( p, frame - 1, i ) );
    return sum / p->point_count + def->section.still_speed / p->fps;
}

static int least_sections( const tr_cage_def *def )
{
    return def->start == TR_CAGE_PINNED && def->end == TR_CAGE_PINNED ? 3 : 2;
}

// Arc length over a range, steps as above.
static double way_of( const tr_cage_points *p, const tr_cage_def *def, int first, int last )
{
    double sum = 0;
    for ( int f = first + 1; f <= last; ++f )
        sum += step_length( p, def, f );
    return sum;
}

// `parts` even stretches from first to last: writes the frames they end at, `last` included. parts ≥ 1, and
// no more than there are frames.
static void spread_evenly( const tr_cage_points *p, const tr_cage_def *def, int first, int last, int parts,
                           int *ends )
{
    const double rounding = 1e-9; // relative error of sums that should be equal
    double whole = ( 1 - rounding ) * way_of( p, def, first, last ), passed = 0;
    int count = 0;
    for ( int f = first + 1; f < last && count < parts - 1; ++f ) {
        passed += step_length( p, def, f );
        int left = last - f, missing = parts - 1 - count; // ends still to come before the last
        if ( passed >= whole * ( count + 1 ) / parts || left <= missing )
            ends[count++] = f;
    }
    ends[parts - 1] = last;
}

static int clamp_count( int count, int low, int high )
{
    count = count < low ? low : count; // two frames have no room for three
    return count > high ? high : count;
}

int tr_cage_spread( const tr_cage_points *points, int first, int last, const tr_cage_def *def, int *frames )
{
    double whole = way_of( points, def, first, last ),
           arc = whole - def->section.still_speed / points->fps * ( last - first );
    double by_arc = fmin( 1 + arc / def->spacing, TR_CAGE_MAX_SECTIONS );
    int wanted = def->section_count > 0 ? def->section_count
                                        : tr_int_clamped( round( by_arc ), 0, TR_CAGE_MAX_SECTIONS );
    int most = last - first + 1 < TR_CAGE_MAX_SECTIONS ? last - first + 1 : TR_CAGE_MAX_SECTIONS;
    frames[0] = first;
    if ( def->through <= first || def->through >= last ) {
        int parts = clamp_count( wanted, least_sections( def ), most ) - 1;
        parts = parts < 1 ? 1 : parts;
        spread_evenly( points, def, first, last, parts, frames + 1 );
        return parts + 1;
    }
    // Keys before that frame and after it are spread separately, in proportion to the two ways.
    int before = def->through - first, after = last - def->through,
        parts = clamp_count( wanted, 3, most ) - 1;
    int early =
        tr_int_clamped( round( parts * way_of( points, def, first, def->through ) / whole ), 0, parts );
    early =
        clamp_count( early, parts - after > 1 ? parts - after : 1, parts - 1 < before ? parts - 1 : before );
    spread_evenly( points, def, first, def->through, early, frames + 1 );
    spread_evenly( points, def, def->through, last, parts - early, frames + 1 + early );
    return parts + 1;
}

static bool given_sections( int *out, int *count, int first, int last, const tr_cage_def *def,
                            tr_error *error )
{
    int n = 0;
    out[n++] = first;
    for ( int i = 0; i < def->frame_count; ++i ) {
        int frame = def->frames[i];
        if ( frame < first || frame > last )
            return tr_error_set( error, "a cage over frames %d to %d can have no section at frame %d", first,
                                 last, frame );
        if ( i > 0 && frame <= def->frames[i - 1] )
            return tr_error_set( error,
                                 "sections of a cage must follow each other in time: frame %d comes "
                                 "after frame %d",
                                 frame, def->frames[i - 1] );
        if ( frame == first || frame == last )
            continue;
        if ( n == TR_CAGE_MAX_SECTIONS - 1 )
            return tr_error_set( error, "a cage has at most %d sections", TR_CAGE_MAX_SECTIONS );
        out[n++] = frame;
    }
    out[n++] = last;
    *count = n;
    return true;
}

// --------------------------------------------------------------------------------------------------- places
// The section stands upright around the bundle's centroid and turns with it about the vertical. From frame to
// frame the heading changes by the turn that fits the points best, so it never flips. Swinging limbs make it
// drift; it returns, a little every frame, towards the turn that fits the points of the middle frame best.
// Smoothing removes the sway of a stride. Where the points do not define a heading (one point, a plumb line)
// it stays.

typedef struct heading {
    double angle; // about +Y, radians
    double trust; // 0 … 1: how much of the spread across the vertical it explains
} heading;

// The heading that puts x along the long side of the points, seen from above.
static double long_side( const tr_cage *cage, const tr_cage_points *p, int f )
{
    double xx = 0, xz = 0, zz = 0;
    for ( int i = 0; i < p->point_count; ++i ) {
        vec3 d = v3_sub( point_at( p, p->begin + f, i ), cage->places[f].position );
        xx += d.x * d.x, xz += d.x * d.z, zz += d.z * d.z;
    }
    const double evenness = 1e-6, nothing = 1e-18; // relative difference of the two sides; m²
    bool round = hypot( xx - zz, 2 * xz ) <= evenness * ( xx + zz ) + nothing;
    return round ? 0 : -0.5 * atan2( 2 * xz, xx - zz );
}

// The turn about +Y that brings the points of one frame nearest to those of another. Largest Σ b · R a:
// R takes (x, z) to (x cos + z sin, z cos − x sin).
static heading turn_between( const tr_cage *cage, const tr_cage_points *p, int from, int to )
{
    double along = 0, across = 0, aa = 0, bb = 0;
    for ( int i = 0; i < p->point_count; ++i ) {
        vec3 a = v3_sub( point_at( p, p->begin + from, i ), cage->places[from].position );
        vec3 b = v3_sub( point_at( p, p->begin + to, i ), cage->places[to].position );
        along += a.x * b.x + a.z * b.z;
        across += a.z * b.x - a.x * b.z;
        aa += a.x * a.x + a.z * a.z, bb += b.x * b.x + b.z * b.z;
    }
    const double nothing = 1e-12; // m²
    double whole = sqrt( aa * bb );
    if ( !( whole > nothing ) )
        return ( heading ){ 0 };
    return ( heading ){ atan2( across, along ), fmin( 1, hypot( along, across ) / whole ) };
}

static void find_centres( tr_cage *cage, const tr_cage_points *p )
{
    for ( int f = 0; f < cage->frame_count; ++f ) {
        vec3 sum = v3_zero;
        for ( int i = 0; i < p->point_count; ++i )
            sum = v3_add( sum, point_at( p, p->begin + f, i ) );
        cage->places[f].position = v3_scale( 1.0 / p->point_count, sum );
    }
}

static void follow_headings( const tr_cage *cage, const tr_cage_points *p, double *angles )
{
    int middle = ( cage->first + cage->last ) / 2 - cage->begin;
    double lead = 1 - exp( -1 / ( cage->def.section.heading_return * cage->fps ) );
    angles[middle] = long_side( cage, p, middle );
    for ( int sense = -1; sense <= 1; sense += 2 )
        for ( int f = middle + sense; f >= 0 && f < cage->frame_count; f += sense ) {
            heading step = turn_between( cage, p, f - sense, f );
            double followed = angles[f - sense] + step.trust * step.angle;
            heading whole = turn_between( cage, p, middle, f );
            double drift = wrap_angle( angles[middle] + whole.angle - followed );
            angles[f] = followed + lead * whole.trust * drift;
        }
}

// Weight of a frame `away` from the one that is smoothed, out of `width` either way.
static double smoothing( int away, int width )
{
    double d = (double)away / ( width + 1 );
    return ( 1 - d * d ) * ( 1 - d * d );
}

static int frames_of( const tr_cage *cage, double seconds )
{
    return tr_int_clamped( ceil( seconds * cage->fps ), 0, cage->frame_count );
}

static int clamp_frame( const tr_cage *cage, int f )
{
    return f < 0 ? 0 : f >= cage->frame_count ? cage->frame_count - 1 : f;
}

static bool find_places( tr_cage *cage, const tr_cage_points *p, tr_error *error )
{
    double *angles = tr_alloc( (size_t)cage->frame_count, sizeof( double ) );
    if ( angles == NULL )
        return tr_error_memory( error );
    find_centres( cage, p );
    follow_headings( cage, p, angles );
    int width = frames_of( cage, cage->def.section.heading_window );
    for ( int f = 0; f < cage->frame_count; ++f ) {
        double sum = 0, all = 0;
        for ( int g = f - width; g <= f + width; ++g ) {
            sum += smoothing( g - f, width ) * angles[clamp_frame( cage, g )];
            all += smoothing( g - f, width );
        }
        cage->places[f].rotation = q_axis_angle( v3_y, sum / all );
    }
    tr_free( angles );
    return true;
}

// -------------------------------------------------------------------------------------------------- extents
// How far the points reach along the section's axes has kinks in time. The envelope over a few frames either
// way, smoothed over as many, has none and lies nowhere below.

static vec3 v3_largest( vec3 a, vec3 b )
{
    return v3( fmax( a.x, b.x ), fmax( a.y, b.y ), fmax( a.z, b.z ) );
}

static vec3 reach_at( const tr_cage *cage, const tr_cage_points *p, int f )
{
    vec3 reach = v3_zero;
    for ( int i = 0; i < p->point_count; ++i ) {
        vec3 d = v3_sub( point_at( p, cage->begin + f, i ), cage->places[f].position );
        d = q_unrotate( cage->places[f].rotation, d );
        reach = v3_largest( reach, v3( fabs( d.x ), fabs( d.y ), fabs( d.z ) ) );
    }
    return reach;
}

static bool find_extents( tr_cage *cage, const tr_cage_points *p, tr_error *error )
{
    int count = cage->frame_count, width = frames_of( cage, cage->def.section.extent_window );
    vec3 *reach = tr_alloc( 2 * (size_t)count, sizeof( vec3 ) );
    if ( reach == NULL )
        return tr_error_memory( error );
    vec3 *envelope = reach + count;
    for ( int f = 0; f < count; ++f )
        reach[f] = reach_at( cage, p, f );
    vec3 pad = v3_scale( cage->def.padding, v3_one );
    for ( int f = 0; f < count; ++f )
        for ( int g = f - width; g <= f + width; ++g )
            if ( g >= 0 && g < count )
                envelope[f] = v3_largest( envelope[f], reach[g] );
    for ( int f = 0; f < count; ++f ) {
        vec3 sum = v3_zero;
        double all = 0;
        for ( int g = f - width; g <= f + width; ++g ) {
            sum = v3_mad( sum, smoothing( g - f, width ), envelope[clamp_frame( cage, g )] );
            all += smoothing( g - f, width );
        }
        cage->extents[f] = v3_add( v3_scale( 1 / all, sum ), pad );
    }
    tr_free( reach );
    return true;
}

// One section for all frames, where it is not much larger than theirs.
static void stand_still( tr_cage *cage, const tr_cage_points *p )
{
    quat axes = cage->places[( cage->first + cage->last ) / 2 - cage->begin].rotation;
    vec3 low = v3_scale( INFINITY, v3_one ), high = v3_negate( low ), most = v3_zero;
    for ( int f = 0; f < cage->frame_count; ++f ) {
        most = v3_largest( most, cage->extents[f] );
        for ( int i = 0; i < p->point_count; ++i ) {
            vec3 d = q_unrotate( axes, point_at( p, cage->begin + f, i ) );
            low = v3_negate( v3_largest( v3_negate( low ), v3_negate( d ) ) );
            high = v3_largest( high, d );
        }
    }
    vec3 extent = v3_mad( v3_scale( cage->def.padding, v3_one ), 0.5, v3_sub( high, low ) );
    vec3 limit = v3_scale( cage->def.section.steady_growth, most );
    if ( extent.x > limit.x || extent.y > limit.y || extent.z > limit.z )
        return;
    rigid place = { axes, q_rotate( axes, v3_lerp( low, high, 0.5 ) ) };
    for ( int f = 0; f < cage->frame_count; ++f ) {
        cage->places[f] = place;
        cage->extents[f] = extent;
    }
}

vec3 tr_cage_to_form( const tr_cage *cage, int frame, vec3 point )
{
    rigid place = cage->places[frame - cage->begin];
    vec3 extent = cage->extents[frame - cage->begin];
    vec3 d = q_unrotate( place.rotation, v3_sub( point, place.position ) );
    return v3_mul( cage->proportions, v3( d.x / extent.x, d.y / extent.y, d.z / extent.z ) );
}

// ----------------------------------------------------------------------------------------------------- bind
// Coordinates are taken with respect to one form for all frames: the section of the middle frame, scaled to
// the size 1. For others they are those of an affine image: they add up to one and give linear functions back
// just the same. The form has the section's proportions, since coordinates fade with distance: in a cube, a
// body in the middle of a long row would depend on both of its ends. It is never so flat that its triangles
// become slivers.

static void find_form( tr_cage *cage )
{
    vec3 e = cage->extents[( cage->first + cage->last ) / 2 - cage->begin];
    double longest = fmax( e.x, fmax( e.y, e.z ) );
    cage->proportions =
        v3_largest( v3_scale( 1 / longest, e ), v3_scale( cage->def.section.flatness, v3_one ) );
    for ( int i = 0; i < cage->vertex_count; ++i )
        cage->form[i] = v3_mul( cage->proportions, cage->shape[i] );
}

enum { BIND_POINTS = 64 }; // in a task, on its stack

typedef struct binding {
    const tr_cage *cage;
    const vec3 *points; // points in all frames
    int first;          // index of the first point that is bound
} binding;

static void bind_some( void *context, int begin, int end )
{
    const binding *b = context;
    const tr_cage *cage = b->cage;
    vec3 at[BIND_POINTS];
    for ( int i = begin; i < end; ++i ) {
        int point = b->first + i;
        at[i - begin] = tr_cage_to_form( cage, cage->begin + point / cage->point_count, b->points[point] );
    }
    tr_mean_value_weights( &cage->coordinates, at, end - begin, tr_lanes_best(),
                           cage->weights + (size_t)( b->first + begin ) * (size_t)cage->vertex_count );
}

// All points, or those of keys.
static void bind( const tr_cage *cage, const tr_cage_points *points )
{
    binding b = { cage, points->points, 0 };
    if ( !cage->def.late )
        tr_parallel_for( cage->frame_count * cage->point_count, BIND_POINTS, bind_some, &b );
    for ( int k = 0; cage->def.late && k < cage->section_count; ++k ) {
        b.first = ( cage->sections[k] - cage->begin ) * cage->point_count;
        tr_parallel_for( cage->point_count, BIND_POINTS, bind_some, &b );
    }
}

// --------------------------------------------------------------------------------------------------- weights
// Sums over keys and edges stand for integrals over time and over the section, so that the result depends
// neither on the number of keys nor on the section's proportions. With τ the way from key to key in
// units of the spacing (which is how they are spread),
//
//   E = ∫ (strain of the section at τ) dτ + temporal ∫ ‖du/dτ‖² dτ.
//
// A key counts for half of the gaps beside it, h_k = ½ (τ_{k+1} − τ_{k−1}), and an edge between keys for
// temporal / (τ_{k+1} − τ_k). Where an end is eased, the cage continues to the end of the ease and
// rests there: edges as between keys, without length, hold the vertices of the last key to that. An edge of
// length l within a key weighs h_k s² / l²: the same strain costs the same along the short side of a box and
// along its long one. s² is the harmonic mean of the key's l², so that a cube's edges weigh 1. Gaps are
// bounded, since weights go with the gap and its inverse and share one matrix.

static double bounded_gap( const tr_cage *cage, double gap )
{
    return clampd( gap, cage->def.section.gap_min, cage->def.section.gap_max );
}

static void weigh_key( tr_cage *cage, int k, double share )
{
    double *weights = cage->within + k * cage->edge_count, sum = 0;
    for ( int e = 0; e < cage->edge_count; ++e ) {
        const vec3 *rest = cage->rest + k * cage->vertex_count;
        double length = v3_distance( rest[cage->edges[e][0]], rest[cage->edges[e][1]] );
        weights[e] = 1 / ( length * length ); // there is padding: none is without length
        sum += weights[e];
    }
    for ( int e = 0; e < cage->edge_count; ++e )
        weights[e] *= share * cage->edge_count / sum;
}

// From an end of the window to where its ease rests, at the pace of the window: there may be no frames there.
static double ease_gap( const tr_cage *cage, tr_cage_end end, int ease, double whole )
{
    double frames = end == TR_CAGE_EASED ? ease + 1 : 0;
    double gap = frames * whole / ( cage->last - cage->first );
    return frames > 0 ? bounded_gap( cage, gap ) : 0;
}

static void weigh_edges( tr_cage *cage, const tr_cage_points *p )
{
    const tr_cage_def *def = &cage->def;
    double whole = way_of( p, def, cage->first, cage->last ),
           arc = whole - def->section.still_speed / p->fps * ( cage->last - cage->first );
    double unit = whole / fmax( arc / def->spacing, least_sections( def ) - 1 );
    double in = ease_gap( cage, def->start, def->ease_in, whole / unit ),
           out = ease_gap( cage, def->end, def->ease_out, whole / unit ), before = in;
    for ( int k = 0; k < cage->section_count; ++k ) {
        double after = out;
        if ( k + 1 < cage->section_count )
            after = bounded_gap( cage, way_of( p, def, cage->sections[k], cage->sections[k + 1] ) / unit );
        weigh_key( cage, k, 0.5 * ( before + after ) );
        if ( k + 1 < cage->section_count )
            cage->between[k] = def->temporal / after;
        before = after;
    }
    cage->resting[0] = in > 0 ? def->temporal / in : 0;
    cage->resting[1] = out > 0 ? def->temporal / out : 0;
}

// ---------------------------------------------------------------------------------------------------- build

static bool check_def( const tr_cage_def *def, tr_error *error )
{
    if ( !( def->padding > 0 ) || !isfinite( def->padding ) )
        return tr_error_set( error, "the padding of a cage must be more than 0 m" );
    if ( def->detail < 1 || def->detail > TR_CAGE_MAX_DETAIL )
        return tr_error_set( error, "the detail of a cage must be 1 to %d", TR_CAGE_MAX_DETAIL );
    if ( !( def->spacing > 0 ) || !isfinite( def->spacing ) )
        return tr_error_set( error, "the sections of a cage must be more than 0 m apart" );
    if ( !( def->temporal > 0 ) || !isfinite( def->temporal ) )
        return tr_error_set( error, "the temporal weight of a cage must be more than 0" );
    if ( def->section_count < 0 || def->section_count > TR_CAGE_MAX_SECTIONS )
        return tr_error_set( error, "a cage has at most %d sections", TR_CAGE_MAX_SECTIONS );
    if ( def->ease_in < 0 || def->ease_out < 0 || def->falloff < 0 )
        return tr_error_set( error, "ease and falloff of a cage cannot be negative" );
    return true;
}

static bool check_points( const tr_cage_points *p, int first, int last, tr_error *error )
{
    if ( p->point_count < 1 || p->frame_count < 1 )
        return tr_error_set( error, "a cage needs a point to be built around" );
    if ( first >= last )
        return tr_error_set( error, "a cage needs two frames at least, not %d to %d", first, last );
    if ( first < p->begin || last >= p->begin + p->frame_count )
        return tr_error_set( error, "frames %d to %d are not all there: the motion has frames %d to %d",
                             first, last, p->begin, p->begin + p->frame_count - 1 );
    if ( !( p->fps > 0 ) || !isfinite( p->fps ) )
        return tr_error_set( error, "the frame rate of a cage must be more than 0" );
    if ( (long long)p->point_count * p->frame_count > INT32_MAX )
        return tr_error_set( error, "%d points over %d frames are too many for one cage", p->point_count,
                             p->frame_count );
    for ( int i = 0; i < p->point_count * p->frame_count; ++i )
        if ( !v3_finite( p->points[i] ) )
            return tr_error_set( error, "point %d of a cage is no number at frame %d", i % p->point_count,
                                 p->begin + i / p->point_count );
    return true;
}

static bool allocate( tr_cage *c, tr_error *error )
{
    size_t frames = (size_t)c->frame_count, sections = (size_t)c->section_count;
    size_t vertices = (size_t)c->vertex_count, all = sections * vertices;
    c->form = tr_alloc( vertices, sizeof c->form[0] );
    c->places = tr_alloc( frames, sizeof c->places[0] );
    c->extents = tr_alloc( frames, sizeof c->extents[0] );
    c->weights = tr_alloc( frames * (size_t)c->point_count, vertices * sizeof c->weights[0] );
    c->sections = tr_alloc( sections, sizeof c->sections[0] );
    c->within = tr_alloc( sections * (size_t)c->edge_count, sizeof c->within[0] );
    c->between = tr_alloc( sections, sizeof c->between[0] );
    c->rest = tr_alloc( all, sizeof c->rest[0] );
    c->moved = tr_alloc( all, sizeof c->moved[0] );
    c->motions = tr_alloc( sections, sizeof c->motions[0] );
    c->drift = tr_alloc( sections, sizeof c->drift[0] );
    c->spin = tr_alloc( sections, sizeof c->spin[0] );
    c->residuals = tr_alloc( all, sizeof c->residuals[0] );
    c->residual_drift = tr_alloc( all, sizeof c->residual_drift[0] );
    c->bent = tr_alloc( sections, sizeof c->bent[0] );
    bool ok = tr_cage_frames_build( c ) && c->form && c->places && c->extents && c->weights && c->sections &&
              c->within && c->between && c->rest && c->moved && c->motions && c->drift && c->spin &&
              c->residuals && c->residual_drift && c->bent;
    return ok || tr_error_memory( error );
}

static bool fill( tr_cage *cage, const tr_cage_points *points, const int *frames, tr_error *error )
{
    if ( !tr_cage_shape_build( cage, cage->def.detail, error ) || !allocate( cage, error ) )
        return false;
    memcpy( cage->sections, frames, (size_t)cage->section_count * sizeof frames[0] );
    if ( !find_places( cage, points, error ) || !find_extents( cage, points, error ) )
        return false;
    if ( cage->def.steady )
        stand_still( cage, points );
    find_form( cage );
    if ( !tr_mean_value_build( &cage->coordinates, cage->form, cage->vertex_count,
                               (const int( * )[3])cage->triangles, cage->triangle_count, error ) )
        return false;
    for ( int k = 0; k < cage->section_count; ++k )
        tr_cage_section( cage, frames[k], cage->rest + k * cage->vertex_count );
    weigh_edges( cage, points );
    tr_cage_reset( cage );
    bind( cage, points );
    return true;
}

bool tr_cage_build( tr_cage *out, const tr_cage_points *points, int first, int last, const tr_cage_def *def,
                    tr_error *error )
{
    *out = ( tr_cage ){ 0 };
    if ( !check_def( def, error ) || !check_points( points, first, last, error ) )
        return false;
    int frames[TR_CAGE_MAX_SECTIONS + 1], count = 0;
    if ( def->frame_count == 0 )
        count = tr_cage_spread( points, first, last, def, frames );
    else if ( !given_sections( frames, &count, first, last, def, error ) )
        return false;
    *out = ( tr_cage ){ .def = *def,
                        .first = first,
                        .last = last,
                        .begin = points->begin,
                        .frame_count = points->frame_count,
                        .point_count = points->point_count,
                        .fps = points->fps,
                        .section_count = count };
    out->def.frames = NULL;
    if ( fill( out, points, frames, error ) )
        return true;
    tr_cage_free( out );
    return false;
}
