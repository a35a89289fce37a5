// Do joints stay within what a person, or else the source, can do?
#include "measure/private.h"

static void scan_performer( const tr_take *take, int c, const tr_joint_range *ranges, tr_range_scan *scan,
                            double *frames )
{
    const tr_performer *performer = &take->performers[c];
    const tr_joint *joints = performer->skeleton->joints;
    for ( int f = 0; f < take->frame_count; ++f ) {
        const quat *local = tr_clip_frame( performer->clip, f );
        double worst = 0;
        for ( int j = 0; j < performer->skeleton->joint_count; ++j ) {
            if ( !ranges[j].limited )
                continue;
            double over = tr_range_overshoot( &ranges[j], local[j] ), most = 0;
            tr_part part = tr_part_of( joints[j].role );
            for ( int p = 0; p < TR_PARTS; ++p )
                most = fmax( most, scan->most[p] );
            if ( over > most ) {
                scan->who = c;
                scan->joint = j;
                scan->frame = f;
            }
            scan->any[part] = true;
            scan->most[part] = fmax( scan->most[part], over );
            worst = fmax( worst, over );
        }
        scan->beyond += worst > 1e-9;
        scan->count += 1;
        if ( frames != NULL )
            frames[f] = fmax( frames[f], worst );
    }
}

bool tr_scan_ranges( const tr_measuring *m, const tr_take *take, tr_range_scan *scan, double *frames )
{
    *scan = ( tr_range_scan ){ .who = -1 };
    bool ok = true;
    for ( int c = 0; c < take->performer_count && ok; ++c ) {
        const tr_performer *performer = &take->performers[c];
        tr_joint_range *ranges = tr_alloc( (size_t)performer->skeleton->joint_count, sizeof *ranges );
        quat *own = tr_shown_rotations( performer, &m->source.performers[c], true );
        ok = ranges != NULL && own != NULL &&
             tr_ranges_build( ranges, performer->skeleton, own, take->frame_count, &m->def.ranges );
        if ( ok )
            scan_performer( take, c, ranges, scan, frames );
        tr_free( ranges );
        tr_free( own );
    }
    return ok;
}

// The fields are max and frames_pct, then the largest of each part.
bool tr_measure_ranges( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    tr_range_scan scan;
    bool ok = tr_scan_ranges( m, take, &scan, NULL ), any = false;
    for ( int p = 0; p < TR_PARTS; ++p ) {
        figures->values[0] = fmax( figures->values[0], scan.most[p] / TR_DEGREE );
        figures->values[2 + p] = scan.most[p] / TR_DEGREE;
        figures->absent[2 + p] = !scan.any[p];
        any = any || scan.any[p];
    }
    figures->values[1] = scan.count > 0 ? 100 * scan.beyond / scan.count : 0;
    if ( !any ) {
        tr_figures_null( figures, "no body has a joint that turns a bone" );
        for ( int p = 0; p < TR_PARTS; ++p )
            figures->absent[2 + p] = true;
    } else if ( scan.who >= 0 ) {
        tr_figures_place( figures, scan.who, scan.joint, scan.frame );
    }
    return ok;
}
