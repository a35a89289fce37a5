#include "scenes/kit/crowd.h"

#include "scenes/kit/tracks.h"

#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------- cast

static void add_value( tr_limb_value *values, int *count, const char *limb, double value )
{
    snprintf( values[*count].limb, sizeof values[*count].limb, "%s", limb );
    values[( *count )++].value = value;
}

static double rounded( double value ) // to hundredths: numbers a person would have typed
{
    return round( 100.0 * value ) / 100.0;
}

static tr_target varied_body( uint64_t seed, tr_target target, double small, double tall )
{
    target.scale = rounded( tr_chance_between( seed, 1, small, tall ) );
    if ( tr_chance( seed, 2 ) < 0.22 )
        add_value( target.limbs, &target.limb_count, "arms",
                   rounded( tr_chance_between( seed, 3, 1.1, 1.25 ) ) );
    if ( tr_chance( seed, 4 ) < 0.22 )
        add_value( target.limbs, &target.limb_count, "legs",
                   rounded( tr_chance_between( seed, 5, 0.8, 0.92 ) ) );
    add_value( target.girths, &target.girth_count, "torso",
               rounded( tr_chance_between( seed, 6, 0.88, 1.2 ) ) );
    add_value( target.girths, &target.girth_count, "all",
               rounded( tr_chance_between( seed, 7, 0.88, 1.15 ) ) );
    return target;
}

tr_cast tr_crowd_member( uint64_t seed, int index, double small, double tall )
{
    tr_id id;
    snprintf( id, sizeof id, "p%02d", index + 1 );
    tr_cast cast = tr_default_cast( id );
    snprintf( cast.source.file, sizeof cast.source.file, "%s.bvh", id );
    uint64_t own = seed * 1000003u + (uint64_t)index;
    const float *hue = tr_cast_hue( index );
    double tone = tr_chance_between( own, 0, 0.9, 1.1 );
    for ( int c = 0; c < 3; ++c )
        cast.colour[c] = (float)clampd( tone * (double)hue[c], 0.0, 1.0 );
    cast.target = varied_body( own, cast.target, small, tall );
    return cast;
}

bool tr_crowd_add( tr_scene *scene, uint64_t seed, const double *sizes, int count, tr_error *error )
{
    for ( int i = 0; i < count; ++i ) {
        tr_cast cast = tr_crowd_member( seed, i, sizes[i], sizes[i] );
        if ( tr_scene_add_cast( scene, &cast ) == NULL )
            return tr_error_memory( error );
    }
    return true;
}

rigid tr_crowd_place( vec3 position, double heading )
{
    vec3 place = v3( round( 1000.0 * position.x ) / 1000.0, 0, round( 1000.0 * position.z ) / 1000.0 );
    return ( rigid ){ q_axis_angle( v3_y, rounded( heading / TR_DEGREE ) * TR_DEGREE ), place };
}

double tr_crowd_heading( rigid place )
{
    return rounded( q_heading( place.rotation ) / TR_DEGREE );
}

rigid tr_crowd_line( int people, int index, double spacing, double bend )
{
    double radius = fmax( 11.0, spacing * people / bend );
    double heading = -( index - 0.5 * ( people - 1 ) ) * spacing / radius;
    vec3 centre = v3( 0, 0, radius );
    return tr_crowd_place( v3_sub( centre, q_rotate( q_axis_angle( v3_y, heading ), centre ) ), heading );
}

tr_point tr_crowd_palm( const char *who, int side )
{
    const char *hand = side == TR_HUMAN_LEFT ? "LeftHand" : "RightHand";
    tr_point point = tr_point_joint( who, hand );
    point.terms[0].weight = 1.0 - TR_HUMAN_PALM_CENTRE;
    snprintf( point.terms[1].joint, sizeof point.terms[1].joint, "%s_End", hand );
    point.terms[1].weight = TR_HUMAN_PALM_CENTRE;
    point.term_count = 2;
    return point;
}

// ------------------------------------------------------------------------------------------- performance

typedef struct performance {
    tr_motion *motions; // [people]
    double *worst;      // [people]
    tr_crowd_targets *targets;
    const void *context;
} performance;

static void perform_people( void *context, int begin, int end )
{
    performance *p = context;
    for ( int i = begin; i < end && tr_work_wanted(); ++i ) {
        tr_clip *clip = &p->motions[i].clip;
        for ( int f = 0; f < clip->frame_count; ++f ) {
            tr_human_targets targets = p->targets( p->context, i, f / clip->fps );
            double left =
                tr_human_solve( &p->motions[i].skeleton, &targets, tr_clip_frame( clip, f ), &clip->root[f] );
            p->worst[i] = fmax( p->worst[i], left );
        }
    }
}

static bool prepare_people( performance *p, const tr_scene *scene, int frame_count, tr_error *error )
{
    for ( int i = 0; i < scene->cast_count; ++i )
        if ( !tr_human_skeleton( &p->motions[i].skeleton, error ) ||
             !tr_clip_alloc( &p->motions[i].clip, frame_count, TR_HUMAN_JOINTS, scene->fps, false, error ) )
            return false;
    return true;
}

bool tr_crowd_perform( const tr_scene *scene, tr_library *library, int frame_count, tr_crowd_targets *targets,
                       const void *context, double *worst, tr_error *error )
{
    int people = scene->cast_count;
    performance p = { .targets = targets, .context = context };
    p.motions = tr_alloc( (size_t)people, sizeof( tr_motion ) );
    p.worst = tr_alloc( (size_t)people, sizeof( double ) );
    bool ok = p.motions != NULL && p.worst != NULL;
    if ( !ok )
        tr_error_memory( error );
    ok = ok && prepare_people( &p, scene, frame_count, error );
    if ( ok )
        tr_parallel_for( people, 1, perform_people, &p );
    ok = ok && tr_work_go_on( error );
    for ( int i = 0; ok && i < people; ++i ) {
        ok = tr_library_add( library, scene->cast[i].source.file, &p.motions[i], error );
        if ( worst != NULL )
            *worst = fmax( *worst, p.worst[i] );
    }
    for ( int i = 0; p.motions != NULL && i < people; ++i )
        tr_motion_free( &p.motions[i] );
    tr_free( p.motions );
    tr_free( p.worst );
    return ok;
}
