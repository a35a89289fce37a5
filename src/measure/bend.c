// Bends of trunks, necks and heads against the source's, from the positions of three joints.
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
    return ok;
}
