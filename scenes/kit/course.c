#include "scenes/kit/gait.h"

#include "motion/motion.h"

#include <assert.h>
#include <string.h>

#define NODE_STEP ( 1.0 / 60.0 )

void tr_course_free( tr_course *course )
{
    tr_free( course->keys );
    tr_free( course->nodes );
    *course = ( tr_course ){ 0 };
}

tr_course_key tr_course_velocity( const tr_course *course, double time )
{
    const tr_course_key *keys = course->keys;
    int i = 0;
    while ( i + 1 < course->key_count && keys[i + 1].time <= time )
        ++i;
    if ( i + 1 == course->key_count || time <= keys[i].time )
        return ( tr_course_key ){ time, keys[i].speed, keys[i].side, keys[i].turn };
    const tr_course_key *a = &keys[i], *b = &keys[i + 1];
    double s = smooth_step5( ( time - a->time ) / ( b->time - a->time ) );
    return ( tr_course_key ){ time, lerpd( a->speed, b->speed, s ), lerpd( a->side, b->side, s ),
                              lerpd( a->turn, b->turn, s ) };
}

static vec3 world_velocity( const tr_course *course, double time, double heading )
{
    tr_course_key v = tr_course_velocity( course, time );
    double s = sin( heading ), c = cos( heading );
    return v3( v.speed * s + v.side * c, 0, v.speed * c - v.side * s );
}

// Three-point Gauss–Legendre over [t, t + h]: exact for the polynomials (degree 5) between two keys.
static double heading_after( const tr_course *course, double heading, double t, double h )
{
    double middle = t + 0.5 * h, d = 0.5 * h * sqrt( 0.6 );
    return heading + h / 18.0 *
                         ( 5.0 * tr_course_velocity( course, middle - d ).turn +
                           8.0 * tr_course_velocity( course, middle ).turn +
                           5.0 * tr_course_velocity( course, middle + d ).turn );
}

static tr_gait_place advance( const tr_course *course, tr_gait_place from, double t, double h )
{
    double d = 0.5 * h * sqrt( 0.6 );
    const double offsets[3] = { 0.5 * h - d, 0.5 * h, 0.5 * h + d };
    const double weights[3] = { h * 5.0 / 18.0, h * 8.0 / 18.0, h * 5.0 / 18.0 };
    tr_gait_place to = { from.position, heading_after( course, from.heading, t, h ) };
    for ( int i = 0; i < 3; ++i ) {
        double heading = heading_after( course, from.heading, t, offsets[i] );
        to.position = v3_mad( to.position, weights[i], world_velocity( course, t + offsets[i], heading ) );
    }
    return to;
}

// Outside the table the body's velocities are constant: it runs on a circle, or straight on.
static tr_gait_place follow_arc( const tr_course *course, tr_gait_place from, double t, double h )
{
    tr_course_key v = tr_course_velocity( course, h < 0 ? t - 1e-9 : t + 1e-9 );
    double half = 0.5 * v.turn * h;
    double chord = fabs( half ) > 1e-9 ? h * sin( half ) / half : h;
    double middle = from.heading + half, s = sin( middle ), c = cos( middle );
    vec3 along = v3( v.speed * s + v.side * c, 0, v.speed * c - v.side * s );
    return ( tr_gait_place ){ v3_mad( from.position, chord, along ), from.heading + v.turn * h };
}

tr_gait_place tr_course_place( const void *context, double time )
{
    const tr_course *course = context;
    double at = ( time - course->begin ) / course->step;
    int last = course->node_count - 1;
    if ( at <= 0 )
        return follow_arc( course, course->nodes[0], course->begin, time - course->begin );
    double end = course->begin + last * course->step;
    if ( at >= last )
        return follow_arc( course, course->nodes[last], end, time - end );
    int i = tr_int_clamped( at, 0, last - 1 );
    double node_time = course->begin + i * course->step;
    return advance( course, course->nodes[i], node_time, time - node_time );
}

bool tr_course_build( tr_course *out, tr_gait_place start, const tr_course_key *keys, int key_count,
                      double begin, double end, tr_error *error )
{
    assert( key_count > 0 && end >= begin );
    // The table spans all keys, so that velocities are constant outside it.
    double low = fmin( begin, keys[0].time ), high = fmax( end, keys[key_count - 1].time );
    int before = tr_whole_frames( ( begin - low ) / NODE_STEP ),
        after = tr_whole_frames( ( high - begin ) / NODE_STEP );
    *out = ( tr_course ){ .key_count = key_count, .step = NODE_STEP, .begin = begin - before * NODE_STEP };
    out->node_count = before + after + 1;
    out->keys = tr_alloc( (size_t)key_count, sizeof( tr_course_key ) );
    out->nodes = tr_alloc( (size_t)out->node_count, sizeof( tr_gait_place ) );
    if ( out->keys == NULL || out->nodes == NULL ) {
        tr_course_free( out );
        return tr_error_memory( error );
    }
    memcpy( out->keys, keys, (size_t)key_count * sizeof( tr_course_key ) );
    out->nodes[before] = start;
    for ( int i = before; i > 0; --i )
        out->nodes[i - 1] = advance( out, out->nodes[i], out->begin + i * NODE_STEP, -NODE_STEP );
    for ( int i = before; i + 1 < out->node_count; ++i )
        out->nodes[i + 1] = advance( out, out->nodes[i], out->begin + i * NODE_STEP, NODE_STEP );
    return true;
}
