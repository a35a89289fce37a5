// Building a cage: where its keys are, where its section stands at every frame, and what is bound to it.
#include "cage/private.h"

#include <assert.h>
#include <string.h>

tr_cage_def tr_default_cage_def( void )
{
    return ( tr_cage_def ){ .padding = 0.15,
                            .detail = 2,
                            .spacing = 0.5,
                            .through = -1,
                            .ease_in = 12,
                            .ease_out = 12,
                            .temporal = 1 };
}

static vec3 point_at( const tr_cage_points *p, int frame, int point )
{
    return p->points[(size_t)( frame - p->begin ) * (size_t)p->point_count + (size_t)point];
}

// --------------------------------------------------------------------------------------------------- spread

#define STILL         0.02 // metres per second that pass even where nothing moves: spreads by time, then
#define LEAST_BETWEEN 2    // frames from a key to the one `through` a frame, nearer ones give way

// Mean way of the points from one frame to the next.
static double step_length( const tr_cage_points *p, int frame )
{
    double sum = 0;
    for ( int i = 0; i < p->point_count; ++i )
        sum += v3_distance( point_at( p, frame, i ), point_at( p, frame - 1, i ) );
    return sum / p->point_count;
}

static int least_sections( const tr_cage_def *def )
{
    return def->start == TR_CAGE_PINNED && def->end == TR_CAGE_PINNED ? 3 : 2;
}

static int insert_frame( int *frames, int count, int frame )
{
    int at = 0;
    while ( at < count && frames[at] < frame )
        ++at;
    if ( at < count && frames[at] == frame )
        return count;
    // A spread key right beside it gives way; the ends do not.
    if ( at < count - 1 && frames[at] - frame < LEAST_BETWEEN ) {
        frames[at] = frame;
        return count;
    }
    if ( at > 1 && frame - frames[at - 1] < LEAST_BETWEEN ) {
        frames[at - 1] = frame;
        return count;
    }
    if ( count == TR_CAGE_MAX_SECTIONS )
        return count;
    memmove( frames + at + 1, frames + at, (size_t)( count - at ) * sizeof frames[0] );
    frames[at] = frame;
    return count + 1;
}

int tr_cage_spread( const tr_cage_points *points, int first, int last, const tr_cage_def *def, int *frames )
{
    double arc = 0, still = STILL / points->fps, whole = 0;
    for ( int f = first + 1; f <= last; ++f ) {
        double step = step_length( points, f );
        arc += step;
        whole += step + still;
    }
    double by_arc = fmin( 1 + arc / def->spacing, TR_CAGE_MAX_SECTIONS );
    int wanted = def->section_count > 0 ? def->section_count : (int)round( by_arc );
    wanted = wanted < least_sections( def ) ? least_sections( def ) : wanted;
    wanted = wanted > TR_CAGE_MAX_SECTIONS ? TR_CAGE_MAX_SECTIONS : wanted;
    wanted = wanted > last - first + 1 ? last - first + 1 : wanted;
    int count = 0;
    double passed = 0;
    frames[count++] = first;
    for ( int f = first + 1; f < last && count < wanted - 1; ++f ) {
        passed += step_length( points, f ) + still;
        int left = last - f, missing = wanted - 1 - count; // inner keys still to come
        if ( passed >= ( 1 - 1e-9 ) * whole * count / ( wanted - 1 ) || left <= missing )
            frames[count++] = f;
    }
    frames[count++] = last;
    if ( def->through > first && def->through < last )
        count = insert_frame( frames, count, def->through );
    return count;
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
// The section follows the bundle as one body: its centre is the bundle's centroid, and from frame to frame it
// turns by the rotation that fits the points best. So it never flips, whatever the bundle looks like. Where
// the points leave a turn open (one point, points on a line) it is the smallest.

#define LEAST_TURN 1e-4 // of the bundle's spread: what a turn must explain to be made

static quat upright_axes( const tr_cage_points *p, int frame, vec3 centre )
{
    double xx = 0, xz = 0, zz = 0;
    for ( int i = 0; i < p->point_count; ++i ) {
        vec3 d = v3_sub( point_at( p, frame, i ), centre );
        xx += d.x * d.x, xz += d.x * d.z, zz += d.z * d.z;
    }
    double unlike = hypot( xx - zz, 2 * xz );
    if ( unlike <= 1e-6 * ( xx + zz ) + 1e-18 )
        return q_identity;
    // The long side of what stands on the ground, along x.
    return q_axis_angle( v3_y, -0.5 * atan2( 2 * xz, xx - zz ) );
}

static quat turn_between( const tr_cage_points *p, int from, int to, vec3 from_centre, vec3 to_centre )
{
    mat3 m = { v3_zero, v3_zero, v3_zero };
    for ( int i = 0; i < p->point_count; ++i ) {
        vec3 a = v3_sub( point_at( p, from, i ), from_centre ), b = v3_sub( point_at( p, to, i ), to_centre );
        m.cx = v3_mad( m.cx, a.x, b ), m.cy = v3_mad( m.cy, a.y, b ), m.cz = v3_mad( m.cz, a.z, b );
    }
    double spread = v3_length( m.cx ) + v3_length( m.cy ) + v3_length( m.cz );
    double hold = LEAST_TURN * spread + 1e-12;
    m.cx.x += hold, m.cy.y += hold, m.cz.z += hold;
    return q_fit( m );
}

static void find_places( tr_cage *cage, const tr_cage_points *p )
{
    for ( int f = 0; f < cage->frame_count; ++f ) {
        vec3 sum = v3_zero;
        for ( int i = 0; i < p->point_count; ++i )
            sum = v3_add( sum, point_at( p, p->begin + f, i ) );
        cage->places[f].position = v3_scale( 1.0 / p->point_count, sum );
    }
    int middle = ( cage->first + cage->last ) / 2 - cage->begin;
    rigid *at = cage->places;
    at[middle].rotation = upright_axes( p, cage->begin + middle, at[middle].position );
    for ( int sense = -1; sense <= 1; sense += 2 )
        for ( int f = middle + sense; f >= 0 && f < cage->frame_count; f += sense ) {
            int from = cage->begin + f - sense;
            quat turn = turn_between( p, from, from + sense, at[f - sense].position, at[f].position );
            at[f].rotation = q_unit( q_mul( turn, at[f - sense].rotation ) );
        }
}

// -------------------------------------------------------------------------------------------------- extents
// How far the points reach along the section's axes has kinks in time. The envelope over a few frames either
// way, smoothed over as many, has none and lies nowhere below.

#define SMOOTH_SECONDS 0.15

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
    int count = cage->frame_count, width = (int)fmin( ceil( SMOOTH_SECONDS * cage->fps ), count );
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
            double d = (double)( g - f ) / ( width + 1 ), w = ( 1 - d * d ) * ( 1 - d * d );
            int inside = g < 0 ? 0 : g >= count ? count - 1 : g;
            sum = v3_mad( sum, w, envelope[inside] );
            all += w;
        }
        cage->extents[f] = v3_add( v3_scale( 1 / all, sum ), pad );
    }
    tr_free( reach );
    return true;
}

vec3 tr_cage_to_shape( const tr_cage *cage, int frame, vec3 point )
{
    rigid place = cage->places[frame - cage->begin];
    vec3 extent = cage->extents[frame - cage->begin];
    vec3 d = q_unrotate( place.rotation, v3_sub( point, place.position ) );
    return v3( d.x / extent.x, d.y / extent.y, d.z / extent.z );
}

// ----------------------------------------------------------------------------------------------------- bind
// Coordinates are taken in the shape's own space. They are those of an affine image of the section: they add
// up to one and give linear functions back just the same, and a flat bundle makes no flat triangles.

#define BIND_POINTS 64 // at once

typedef struct binding {
    tr_cage *cage;
    const tr_cage_points *points;
} binding;

static void bind_some( void *context, int begin, int end )
{
    const binding *b = context;
    tr_cage *cage = b->cage;
    vec3 at[BIND_POINTS];
    for ( int i = begin; i < end; ++i )
        at[i - begin] = tr_cage_to_shape( cage, cage->begin + i / cage->point_count, b->points->points[i] );
    tr_mean_value_weights( &cage->coordinates, at, end - begin, tr_lanes_best(),
                           cage->weights + (size_t)begin * (size_t)cage->vertex_count );
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
    c->places = tr_alloc( frames, sizeof c->places[0] );
    c->extents = tr_alloc( frames, sizeof c->extents[0] );
    c->weights = tr_alloc( frames * (size_t)c->point_count, vertices * sizeof c->weights[0] );
    c->sections = tr_alloc( sections, sizeof c->sections[0] );
    c->rest = tr_alloc( all, sizeof c->rest[0] );
    c->moved = tr_alloc( all, sizeof c->moved[0] );
    c->motions = tr_alloc( sections, sizeof c->motions[0] );
    c->drift = tr_alloc( sections, sizeof c->drift[0] );
    c->spin = tr_alloc( sections, sizeof c->spin[0] );
    c->residuals = tr_alloc( all, sizeof c->residuals[0] );
    c->residual_drift = tr_alloc( all, sizeof c->residual_drift[0] );
    c->bent = tr_alloc( sections, sizeof c->bent[0] );
    bool ok = c->places && c->extents && c->weights && c->sections && c->rest && c->moved && c->motions &&
              c->drift && c->spin && c->residuals && c->residual_drift && c->bent;
    return ok || tr_error_memory( error );
}

static bool fill( tr_cage *cage, const tr_cage_points *points, const int *frames, tr_error *error )
{
    if ( !tr_cage_shape_build( cage, cage->def.detail, error ) || !allocate( cage, error ) ||
         !tr_mean_value_build( &cage->coordinates, cage->shape, cage->vertex_count,
                               (const int( * )[3])cage->triangles, cage->triangle_count, error ) )
        return false;
    memcpy( cage->sections, frames, (size_t)cage->section_count * sizeof frames[0] );
    find_places( cage, points );
    if ( !find_extents( cage, points, error ) )
        return false;
    for ( int k = 0; k < cage->section_count; ++k )
        tr_cage_section( cage, frames[k], cage->rest + k * cage->vertex_count );
    tr_cage_reset( cage );
    tr_parallel_for( cage->frame_count * cage->point_count, BIND_POINTS, bind_some,
                     &( binding ){ cage, points } );
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
