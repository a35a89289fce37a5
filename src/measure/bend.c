// Bends of trunks, necks and heads against the source's, from the positions of three joints. And of every
// joint by the direction of its bone, seen from the part of the body that it hangs on: that needs no joint at
// the bone's end, and distinguishes forwards from backwards.
#include "measure/private.h"

static bool is_trunk( const tr_joint *joint )
{
    return joint->role == TR_ROLE_ROOT || joint->role == TR_ROLE_SPINE || joint->role == TR_ROLE_NECK ||
           joint->role == TR_ROLE_HEAD;
}

static double rest_span( const tr_skeleton *skeleton, int joint, int above )
{
    vec3 sum = v3_zero;
    for ( int j = joint; j != above; j = skeleton->joints[j].parent )
        sum = v3_add( sum, skeleton->joints[j].offset );
    return v3_length( sum );
}

// The joint of the trunk at which the bone to `joint` begins, -1 for none. Both ends are driven by joints of
// the source; rigs split bones at will, so bones shorter than `shortest` are joined.
static int bone_start( const tr_performer *performer, int joint, double shortest )
{
    const tr_skeleton *skeleton = performer->skeleton;
    if ( !is_trunk( &skeleton->joints[joint] ) || tr_performer_source( performer, joint ) < 0 )
        return -1;
    for ( int j = skeleton->joints[joint].parent; j >= 0; j = skeleton->joints[j].parent )
        if ( is_trunk( &skeleton->joints[j] ) && tr_performer_source( performer, j ) >= 0 &&
             rest_span( skeleton, joint, j ) >= shortest )
            return j;
    return -1;
}

static double bend( const tr_performer *performer, int frame, int a, int b, int c )
{
    vec3 middle = tr_performer_at( performer, frame, b );
    vec3 in = v3_sub( middle, tr_performer_at( performer, frame, a ) ),
         out = v3_sub( tr_performer_at( performer, frame, c ), middle );
    return atan2( v3_length( v3_cross( in, out ) ), v3_dot( in, out ) );
}

static bool add_bends( tr_samples *bends, const tr_performer *performer, const tr_performer *source, int c,
                       double shortest )
{
    int b = bone_start( performer, c, shortest ), a = b < 0 ? -1 : bone_start( performer, b, shortest );
    if ( a < 0 )
        return true;
    int from[3] = { tr_performer_source( performer, a ), tr_performer_source( performer, b ),
                    tr_performer_source( performer, c ) };
    if ( from[0] == from[1] || from[1] == from[2] )
        return true;
    for ( int f = 0; f < performer->world->frame_count; ++f )
        if ( !tr_samples_add( bends, fabs( bend( performer, f, a, b, c ) -
                                           bend( source, f, from[0], from[1], from[2] ) ) ) )
            return false;
    return true;
}

// ------------------------------------------------------------------------------------------------ parts

static bool is_role( const tr_joint *joint, tr_role role, tr_role or )
{
    return joint->role == role || joint->role == or ;
}

// The joint whose axes the direction of a bone is taken in: the chest for heads, the forearm for hands, the
// shin for feet, else the parent.
static int seen_from( const tr_skeleton *skeleton, int joint )
{
    tr_role role = skeleton->joints[joint].role;
    int parent = skeleton->joints[joint].parent;
    for ( int j = parent; j >= 0; j = skeleton->joints[j].parent ) {
        const tr_joint *above = &skeleton->joints[j];
        if ( ( tr_part_of( role ) == TR_PART_HEAD && is_role( above, TR_ROLE_SPINE, TR_ROLE_ROOT ) ) ||
             ( role == TR_ROLE_HAND && is_role( above, TR_ROLE_FOREARM, TR_ROLE_UPPER_ARM ) ) ||
             ( role == TR_ROLE_FOOT && is_role( above, TR_ROLE_SHIN, TR_ROLE_THIGH ) ) )
            return j;
    }
    return parent;
}

static double deviation( const quat *out, const quat *shown, int joint, int from, vec3 bone )
{
    vec3 a = q_unrotate( out[from], q_rotate( out[joint], bone ) ),
         b = q_unrotate( shown[from], q_rotate( shown[joint], bone ) );
    return atan2( v3_length( v3_cross( a, b ) ), v3_dot( a, b ) );
}

static bool scan_performer( const tr_performer *performer, const quat *shown, const vec3 *bones, int *from,
                            tr_bend_scan *scan, double *frames )
{
    const tr_skeleton *skeleton = performer->skeleton;
    int joints = skeleton->joint_count;
    for ( int j = 0; j < joints; ++j ) {
        bool bends = !skeleton->joints[j].end_site && v3_length( bones[j] ) > 0.5 &&
                     tr_performer_source( performer, j ) >= 0;
        from[j] = bends ? seen_from( skeleton, j ) : -1;
    }
    for ( int f = 0; f < performer->world->frame_count; ++f ) {
        const quat *out = tr_world_pose( performer->world, f ).rotations;
        double worst[TR_PARTS];
        for ( int p = 0; p < TR_PARTS; ++p )
            worst[p] = -1;
        for ( int j = 0; j < joints; ++j ) {
            double *part = &worst[tr_part_of( skeleton->joints[j].role )];
            if ( from[j] >= 0 )
                *part = fmax( *part, deviation( out, shown + (size_t)f * joints, j, from[j], bones[j] ) );
        }
        for ( int p = 0; p < TR_PARTS; ++p ) {
            if ( worst[p] >= 0 && !tr_samples_add( &scan->parts[p], worst[p] ) )
                return false;
            bool reaches = p == TR_PART_ARM || p == TR_PART_LEG || p == TR_PART_OTHER;
            if ( frames != NULL && !reaches )
                frames[f] = fmax( frames[f], worst[p] );
        }
    }
    return true;
}

bool tr_scan_bends( const tr_measuring *m, const tr_take *take, tr_bend_scan *scan, double *frames )
{
    bool ok = true;
    *scan = ( tr_bend_scan ){ 0 };
    for ( int c = 0; c < take->performer_count && ok; ++c ) {
        const tr_performer *performer = &take->performers[c];
        size_t joints = (size_t)performer->skeleton->joint_count;
        quat *shown = tr_shown_rotations( performer, &m->source.performers[c], false );
        vec3 *bones = tr_alloc( joints, sizeof( vec3 ) );
        int *from = tr_alloc( joints, sizeof( int ) );
        ok = shown != NULL && bones != NULL && from != NULL;
        if ( ok ) {
            tr_joint_bones( performer->skeleton, bones );
            ok = scan_performer( performer, shown, bones, from, scan, frames );
        }
        tr_free( shown );
        tr_free( bones );
        tr_free( from );
    }
    return ok;
}

void tr_bend_scan_free( tr_bend_scan *scan )
{
    for ( int p = 0; p < TR_PARTS; ++p )
        tr_free( scan->parts[p].values );
    *scan = ( tr_bend_scan ){ 0 };
}

// max, p95 and beyond_30_pct of each part, from the fourth field on.
static bool report_parts( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    tr_bend_scan scan;
    bool ok = tr_scan_bends( m, take, &scan, NULL );
    for ( int p = 0; p < TR_PARTS; ++p ) {
        tr_samples *part = &scan.parts[p];
        double beyond = 0;
        for ( int i = 0; i < part->count; ++i )
            beyond += part->values[i] > m->def.far_bent;
        tr_spread spread = tr_spread_of( part->values, part->count );
        const double values[3] = { spread.max / TR_DEGREE, spread.p95 / TR_DEGREE,
                                   100 * beyond / fmax( 1, part->count ) };
        for ( int i = 0; i < 3; ++i ) {
            figures->values[3 + 3 * p + i] = values[i];
            figures->absent[3 + 3 * p + i] = part->count == 0;
            figures->null[3 + 3 * p + i] = false;
        }
    }
    tr_bend_scan_free( &scan );
    return ok;
}

bool tr_measure_bend( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    tr_samples bends = { 0 };
    bool ok = true;
    for ( int c = 0; c < take->performer_count; ++c )
        for ( int j = 0; ok && j < take->performers[c].skeleton->joint_count; ++j )
            ok = add_bends( &bends, &take->performers[c], &m->source.performers[c], j,
                            m->def.short_trunk_bone * take->performers[c].height );
    tr_samples_report( &bends, 1 / TR_DEGREE, "no trunk has three joints that the source has as well",
                       figures );
    return ok && report_parts( m, take, figures );
}
