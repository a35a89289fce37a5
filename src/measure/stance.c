// Could a body hold itself as it stands? Where its mass is from what carries it, and how high its hips are,
// against the source.
#include "measure/private.h"

#include <stdlib.h>

// ---------------------------------------------------------------------------------------------- balance
// The support at a frame is the convex hull, seen from above, of the joints that rest on ground or
// environment in the source.

#define MOST_POINTS 64 // points of a support; a body with more of them at once stands in any case

typedef struct support {
    int *joints, *from; // resting joints, contact by contact: of the take's body and of the source's
    tr_lists at;        // for each frame: places in `joints` and `from`
} support;

static void support_free( support *s )
{
    tr_free( s->joints );
    tr_free( s->from );
    tr_lists_free( &s->at );
}

static bool carries( const tr_contact *contact, const int *target )
{
    return contact->surface != TR_SURFACE_PROP && target[contact->joint] >= 0;
}

static void contact_frames( const tr_contact *contact, int frame_count, int *first, int *last )
{
    *first = contact->first > 0 ? contact->first : 0;
    *last = contact->last < frame_count ? contact->last : frame_count - 1;
}

// The joints that rest at each frame; `target` is the joint of the body for each of the source.
static bool list_support( support *s, const tr_contacts *contacts, const int *target, int frame_count )
{
    int first, last, count = 0;
    for ( int i = 0; i < contacts->count; ++i ) {
        contact_frames( &contacts->items[i], frame_count, &first, &last );
        count += last >= first && carries( &contacts->items[i], target ) ? last - first + 1 : 0;
    }
    int *frames = tr_alloc( (size_t)count, sizeof( int ) ), at = 0;
    s->joints = tr_alloc( (size_t)count, sizeof( int ) );
    s->from = tr_alloc( (size_t)count, sizeof( int ) );
    bool ok = frames != NULL && s->joints != NULL && s->from != NULL;
    for ( int i = 0; ok && i < contacts->count; ++i ) {
        contact_frames( &contacts->items[i], frame_count, &first, &last );
        for ( int f = first; f <= last && carries( &contacts->items[i], target ); ++f, ++at ) {
            frames[at] = f;
            s->joints[at] = target[contacts->items[i].joint];
            s->from[at] = contacts->items[i].joint;
        }
    }
    ok = ok && tr_lists_build( &s->at, frames, count, frame_count );
    tr_free( frames );
    return ok;
}

static int along_x( const void *a, const void *b )
{
    const vec3 *p = a, *q = b;
    return p->x < q->x ? -1 : p->x > q->x ? 1 : ( p->z > q->z ) - ( p->z < q->z );
}

static double turn_of( vec3 a, vec3 b, vec3 c ) // > 0 where a → b → c turns from x towards z
{
    return ( b.x - a.x ) * ( c.z - a.z ) - ( b.z - a.z ) * ( c.x - a.x );
}

// Monotone chain: the hull in order, in `hull` [2 count]. Sorts the points.
static int find_hull( vec3 *points, int count, vec3 *hull )
{
    int n = 0;
    qsort( points, (size_t)count, sizeof *points, along_x );
    for ( int side = 0; side < 2; ++side ) {
        int begin = n;
        for ( int i = 0; i < count; ++i ) {
            vec3 p = points[side == 0 ? i : count - 1 - i];
            while ( n - begin >= 2 && turn_of( hull[n - 2], hull[n - 1], p ) <= 0 )
                --n;
            hull[n++] = p;
        }
        --n; // begins the other side
    }
    return n > 0 ? n : 1;
}

static double way_to_segment( vec3 p, vec3 a, vec3 b )
{
    vec3 along = v3_sub( b, a );
    double square = v3_dot( along, along );
    double t = square > 0 ? clampd( v3_dot( v3_sub( p, a ), along ) / square, 0, 1 ) : 0;
    return v3_distance( p, v3_mad( a, t, along ) );
}

// How far a place is outside of the support, seen from above, in metres. `joints`: of all contacts.
static double outside( vec3 place, const tr_performer *performer, const support *s, int frame,
                       const int *joints )
{
    vec3 points[MOST_POINTS] = { 0 }, hull[2 * MOST_POINTS];
    double least = HUGE_VAL;
    bool inside = true;
    const int *at = s->at.items + s->at.first[frame];
    int count = s->at.first[frame + 1] - s->at.first[frame];
    count = count < MOST_POINTS ? count : MOST_POINTS;
    for ( int i = 0; i < count; ++i )
        points[i] = v3_horizontal( tr_performer_at( performer, frame, joints[at[i]] ) );
    place = v3_horizontal( place );
    int n = find_hull( points, count, hull );
    for ( int i = 0; i < n; ++i ) {
        vec3 a = hull[i], b = hull[( i + 1 ) % n];
        inside = inside && n > 2 && turn_of( a, b, place ) >= 0;
        least = fmin( least, way_to_segment( place, a, b ) );
    }
    return inside ? 0 : least;
}

static bool scan_performer( const tr_measuring *m, const tr_take *take, int c, const support *s,
                            tr_samples *samples, tr_figures *figures, double *worst, double *frames )
{
    const tr_performer *performer = &take->performers[c], *source = &m->source.performers[c];
    double rescale = tr_performer_rescale( performer, source );
    for ( int f = 0; f < take->frame_count; ++f ) {
        if ( s->at.first[f + 1] == s->at.first[f] )
            continue;
        vec3 out = tr_body_centre_of_mass( performer->body, performer->skeleton,
                                           tr_world_pose( performer->world, f ) ),
             own =
                 tr_body_centre_of_mass( source->body, source->skeleton, tr_world_pose( source->world, f ) );
        double more = fmax( 0, rescale * outside( out, performer, s, f, s->joints ) -
                                   outside( own, source, s, f, s->from ) );
        if ( !tr_samples_add( samples, more ) )
            return false;
        if ( frames != NULL )
            frames[f] = fmax( frames[f], more );
        if ( more > *worst )
            tr_figures_place( figures, c, 0, f );
        *worst = fmax( *worst, more );
    }
    return true;
}

bool tr_scan_balance( const tr_measuring *m, const tr_take *take, tr_samples *samples, tr_figures *figures,
                      double *frames )
{
    double worst = 0;
    bool ok = true;
    for ( int c = 0; c < take->performer_count && ok; ++c ) {
        const tr_performer *performer = &take->performers[c], *source = &m->source.performers[c];
        if ( !( performer->body->total_mass > 0 && source->body->total_mass > 0 ) )
            continue;
        support s = { 0 };
        int *target = tr_alloc( (size_t)source->skeleton->joint_count, sizeof( int ) );
        for ( int j = 0; j < source->skeleton->joint_count && target != NULL; ++j )
            target[j] = -1;
        for ( int j = performer->skeleton->joint_count - 1; j >= 0 && target != NULL; --j )
            if ( tr_performer_source( performer, j ) >= 0 )
                target[tr_performer_source( performer, j )] = j;
        ok = target != NULL && list_support( &s, source->contacts, target, take->frame_count ) &&
             scan_performer( m, take, c, &s, samples, figures, &worst, frames );
        support_free( &s );
        tr_free( target );
    }
    return ok;
}

bool tr_measure_balance( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    tr_samples samples = { 0 };
    bool ok = tr_scan_balance( m, take, &samples, figures, NULL );
    tr_samples_report( &samples, 1e3,
                       "no body with mass stands on the ground or the environment in the source", figures );
    return ok;
}

// ------------------------------------------------------------------------------------------------- hips

// Height of the hips above the lowest joint of a foot, in leg lengths; `legs` is a leg's.
static double hips_above_feet( const tr_performer *p, int frame, double legs )
{
    double hips = 0, feet = HUGE_VAL;
    int count = 0;
    for ( int j = 0; j < p->skeleton->joint_count; ++j ) {
        tr_role role = p->skeleton->joints[j].role;
        double y = tr_performer_at( p, frame, j ).y;
        if ( role == TR_ROLE_FOOT || role == TR_ROLE_TOE )
            feet = fmin( feet, y );
        if ( role != TR_ROLE_THIGH )
            continue;
        hips += y;
        ++count;
    }
    return count > 0 && feet < HUGE_VAL && legs > 0 ? ( hips / count - feet ) / legs : 0;
}

static int first_thigh( const tr_skeleton *skeleton )
{
    int joint = 0;
    tr_skeleton_find_role( skeleton, TR_ROLE_THIGH, TR_SIDE_LEFT, &joint, 1 );
    return joint;
}

bool tr_measure_hip_height( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    double below = 0, count = 0, least = HUGE_VAL;
    for ( int c = 0; c < take->performer_count; ++c ) {
        const tr_performer *performer = &take->performers[c], *source = &m->source.performers[c];
        double legs = tr_skeleton_leg_length( performer->skeleton ),
               own_legs = tr_skeleton_leg_length( source->skeleton );
        for ( int f = 0; f < take->frame_count; ++f ) {
            double own = hips_above_feet( source, f, own_legs );
            if ( own < m->def.standing )
                continue;
            double ratio = hips_above_feet( performer, f, legs ) / own;
            below += ratio < m->def.crouched;
            count += 1;
            if ( ratio < least )
                tr_figures_place( figures, c, first_thigh( performer->skeleton ), f );
            least = fmin( least, ratio );
        }
    }
    figures->values[0] = count > 0 ? 100 * below / count : 0;
    figures->values[1] = least;
    if ( count == 0 )
        tr_figures_null( figures, "no body has hips above its feet in the source" );
    return true;
}
