// Accelerations of joints and props, each against its own source: a finger that trembles hides no knee that
// pops, and a prop has no joint.
#include "measure/private.h"

// The least that counts as a source's own maximum, in m/s²: what hardly moves would make any ratio large.
#define LEAST_OWN 1.0

// ----------------------------------------------------------------------------------------------- joints

static double joint_acceleration( const tr_performer *p, int f, int j, double rate )
{
    vec3 a = tr_performer_at( p, f, j ), b = tr_performer_at( p, f + 1, j ),
         c = tr_performer_at( p, f + 2, j );
    return rate * rate * v3_length( v3_add( v3_mad( a, -2, b ), c ) );
}

void tr_measure_own_acceleration( const tr_measuring *m, const tr_take *take, tr_figures *figures, int field,
                                  double *frames )
{
    figures->values[field] = 0;
    for ( int c = 0; c < take->performer_count; ++c ) {
        const tr_performer *performer = &take->performers[c], *source = &m->source.performers[c];
        double rescale = tr_performer_rescale( performer, source );
        for ( int j = 0; j < performer->skeleton->joint_count; ++j ) {
            int from = tr_performer_source( performer, j );
            double own = LEAST_OWN;
            for ( int f = 0; f + 2 < take->frame_count && from >= 0; ++f )
                own = fmax( own, joint_acceleration( source, f, from, take->fps ) );
            for ( int f = 0; f + 2 < take->frame_count && from >= 0; ++f ) {
                double ratio = rescale * joint_acceleration( performer, f, j, take->fps ) / own;
                if ( frames != NULL )
                    frames[f + 1] = fmax( frames[f + 1], ratio );
                if ( ratio <= figures->values[field] )
                    continue;
                figures->values[field] = ratio;
                tr_figures_place( figures, c, j, f + 1 );
            }
        }
    }
}

// ------------------------------------------------------------------------------------------------ props

// Largest acceleration of a prop's middle and the frame of it.
static double prop_acceleration( const tr_take *take, int prop, int *frame )
{
    const rigid *track = take->props[prop].track;
    double most = 0;
    for ( int f = 0; f + 2 < take->frame_count; ++f ) {
        vec3 change = v3_add( v3_mad( track[f].position, -2, track[f + 1].position ), track[f + 2].position );
        double a = take->fps * take->fps * v3_length( change );
        if ( a > most )
            *frame = f + 1;
        most = fmax( most, a );
    }
    return most;
}

// Paths of a group that is scaled are longer, and so are their accelerations.
static double path_scale( const tr_measuring *m, const tr_take *take, int prop )
{
    int group = m->stage->props[prop].group;
    double scale = group >= 0 && group < m->stage->group_count ? m->stage->groups[group].path_scale : 1;
    return take == &m->out && scale > 0 ? scale : 1;
}

bool tr_measure_prop_acceleration( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    for ( int p = 0; p < take->prop_count && take->frame_count >= 3; ++p ) {
        int frame = 0, unused = 0;
        double out = prop_acceleration( take, p, &frame ),
               ratio = out / path_scale( m, take, p ) /
                       fmax( LEAST_OWN, prop_acceleration( &m->source, p, &unused ) );
        figures->values[0] = fmax( figures->values[0], out );
        if ( ratio > figures->values[1] )
            tr_figures_place( figures, take->performer_count + p, -1, frame );
        figures->values[1] = fmax( figures->values[1], ratio );
    }
    if ( take->prop_count == 0 )
        tr_figures_null( figures, "the scene has no props" );
    else if ( take->frame_count < 3 )
        tr_figures_null( figures, "the acceleration needs at least three frames" );
    return true;
}
