// Ranges of joint motion: anatomy by role, together with what the source itself does.
//
// Angles of a swing beyond `straight_back` cannot be distinguished from those of the opposite direction.
// Where the source swings so far from the anatomy's centre (rest poses of some files are no postures), its
// own mean rotation is the centre. A source that twists all around leaves the twist free: minimum and maximum
// of an angle that jumps at ±180° say nothing.
#include "motion/motion.h"

#define SHORT_BONE 1e-6 // metres; has no direction

static tr_anatomy anatomy( double bend_low, double bend_high, double side, double twist )
{
    return ( tr_anatomy ){ bend_low * TR_DEGREE, bend_high * TR_DEGREE, side * TR_DEGREE, twist * TR_DEGREE };
}

// Adults, active motion, rounded up. Which way a palm looks is not known, so wrists bend as far to all sides;
// nor is it of toes and fingers.
tr_range_def tr_default_range_def( void )
{
    tr_range_def def = { .hip_forward = 35 * TR_DEGREE,
                         .spine = 75 * TR_DEGREE,
                         .margin = 5 * TR_DEGREE,
                         .own_factor = 1.5,
                         .own_least = 30 * TR_DEGREE,
                         .straight_back = 150 * TR_DEGREE,
                         .all_around = 300 * TR_DEGREE,
                         .hardly_bent = 2 * TR_DEGREE,
                         .least_bend = 0.1 };
    def.anatomy[TR_ROLE_SPINE] = anatomy( -25, 25, 25, 25 );
    def.anatomy[TR_ROLE_NECK] = anatomy( -40, 40, 40, 40 );
    def.anatomy[TR_ROLE_HEAD] = anatomy( -40, 40, 40, 40 );
    def.anatomy[TR_ROLE_CLAVICLE] = anatomy( -20, 20, 20, 20 );
    def.anatomy[TR_ROLE_UPPER_ARM] = anatomy( -95, 95, 95, 90 );
    def.anatomy[TR_ROLE_FOREARM] = anatomy( 0, 150, 15, 90 );
    def.anatomy[TR_ROLE_HAND] = anatomy( -75, 75, 75, 45 );
    def.anatomy[TR_ROLE_FINGER] = anatomy( -100, 100, 30, 30 );
    def.anatomy[TR_ROLE_THIGH] = anatomy( -60, 60, 60, 45 );
    def.anatomy[TR_ROLE_SHIN] = anatomy( 0, 150, 10, 30 );
    def.anatomy[TR_ROLE_FOOT] = anatomy( -45, 45, 45, 30 );
    def.anatomy[TR_ROLE_TOE] = anatomy( -70, 70, 30, 30 );
    return def;
}

// ----------------------------------------------------------------------------------------------- angles

static void split( const tr_joint_range *range, quat local, vec3 *swing, double *twist )
{
    quat across, about;
    q_swing_twist( q_mul( q_conj( range->centre ), local ), range->axes[TR_RANGE_TWIST], &across, &about );
    *swing = q_to_vector( across );
    *twist = v3_dot( q_to_vector( about ), range->axes[TR_RANGE_TWIST] );
}

void tr_range_angles( const tr_joint_range *range, quat local, double angles[TR_RANGE_AXES] )
{
    vec3 swing;
    split( range, local, &swing, &angles[TR_RANGE_TWIST] );
    angles[TR_RANGE_BEND] = v3_dot( swing, range->axes[TR_RANGE_BEND] );
    angles[TR_RANGE_SIDE] = v3_dot( swing, range->axes[TR_RANGE_SIDE] );
}

double tr_range_overshoot( const tr_joint_range *range, quat local )
{
    double angles[TR_RANGE_AXES], most = 0;
    if ( !range->limited )
        return 0;
    tr_range_angles( range, local, angles );
    for ( int i = 0; i < TR_RANGE_AXES; ++i ) {
        double below = range->low[i] - angles[i], above = angles[i] - range->high[i];
        if ( i == TR_RANGE_TWIST ) { // the other way round may be nearer
            below = fmin( below, angles[i] + 2 * TR_PI - range->high[i] );
            above = fmin( above, range->low[i] - angles[i] + 2 * TR_PI );
        }
        most = fmax( most, fmax( below, above ) );
    }
    return most;
}

// ---------------------------------------------------------------------------------------------- centres

typedef struct body_axes { // axes of the trunk in the rest pose, however limbs rest
    bool known;
    vec3 left, up, forward;
} body_axes;

static vec3 mean_place( const tr_skeleton *skeleton, tr_pose rest, tr_role role, tr_side side, int *count )
{
    vec3 sum = v3_zero;
    *count = 0;
    for ( int j = 0; j < skeleton->joint_count; ++j )
        if ( skeleton->joints[j].role == role && skeleton->joints[j].side == side ) {
            sum = v3_add( sum, rest.positions[j] );
            ++*count;
        }
    return *count > 0 ? v3_scale( 1.0 / *count, sum ) : v3_zero;
}

static body_axes find_axes( const tr_skeleton *skeleton, tr_pose rest )
{
    int hips[2], arms[2];
    vec3 left = mean_place( skeleton, rest, TR_ROLE_THIGH, TR_SIDE_LEFT, &hips[0] ),
         right = mean_place( skeleton, rest, TR_ROLE_THIGH, TR_SIDE_RIGHT, &hips[1] ),
         left_arm = mean_place( skeleton, rest, TR_ROLE_UPPER_ARM, TR_SIDE_LEFT, &arms[0] ),
         right_arm = mean_place( skeleton, rest, TR_ROLE_UPPER_ARM, TR_SIDE_RIGHT, &arms[1] );
    body_axes axes = { .left = v3_unit( v3_sub( left, right ) ) };
    vec3 up = v3_sub( v3_add( left_arm, right_arm ), v3_add( left, right ) );
    axes.up = v3_unit( v3_mad( up, -v3_dot( up, axes.left ), axes.left ) );
    axes.forward = v3_cross( axes.left, axes.up );
    axes.known = hips[0] > 0 && hips[1] > 0 && arms[0] > 0 && arms[1] > 0 && v3_length( axes.forward ) > 0.5;
    return axes;
}

void tr_joint_bones( const tr_skeleton *skeleton, vec3 *bones )
{
    for ( int j = 0; j < skeleton->joint_count; ++j )
        bones[j] = v3_zero;
    for ( int j = 1; j < skeleton->joint_count; ++j ) {
        vec3 *bone = &bones[skeleton->joints[j].parent];
        *bone = v3_add( *bone, skeleton->joints[j].offset );
    }
    for ( int j = 1; j < skeleton->joint_count; ++j ) {
        vec3 *bone = &bones[skeleton->joints[j].parent], offset = skeleton->joints[j].offset;
        if ( v3_length( *bone ) < 0.5 * v3_length( offset ) )
            *bone = offset;
    }
    for ( int j = 0; j < skeleton->joint_count; ++j )
        bones[j] = v3_length( bones[j] ) > SHORT_BONE ? v3_unit( bones[j] ) : v3_zero;
}

// Where the bone points at the centre, in the parent's frame; zero: as in the rest pose.
static vec3 central_direction( const tr_skeleton *skeleton, tr_pose rest, const body_axes *axes,
                               const tr_range_def *def, int joint )
{
    const tr_joint *j = &skeleton->joints[joint];
    vec3 direction = v3_zero;
    if ( j->role == TR_ROLE_FOREARM || j->role == TR_ROLE_SHIN || j->role == TR_ROLE_HAND )
        return v3_length( j->offset ) > SHORT_BONE ? v3_unit( j->offset ) : v3_zero;
    if ( axes->known && j->role == TR_ROLE_THIGH )
        direction =
            v3_mad( v3_scale( -cos( def->hip_forward ), axes->up ), sin( def->hip_forward ), axes->forward );
    if ( axes->known && j->role == TR_ROLE_UPPER_ARM && j->side != TR_SIDE_NONE )
        direction = v3_unit( v3_mad( axes->forward, j->side == TR_SIDE_LEFT ? 1 : -1, axes->left ) );
    return q_unrotate( rest.rotations[j->parent], direction );
}

static quat mean_rotation( const quat *own, int joint, int joints, int frames )
{
    quat sum = { 0 };
    for ( int f = 0; f < frames; ++f ) {
        quat q = own[(size_t)f * joints + joint];
        q = q_dot( q, own[joint] ) < 0 ? q_negate( q ) : q;
        sum = ( quat ){ sum.x + q.x, sum.y + q.y, sum.z + q.z, sum.w + q.w };
    }
    return q_unit( sum );
}

// Turns the centre so that the source's twists are about 0. Returns the largest swing of the source.
static double centre_twist( tr_joint_range *range, const quat *own, int joint, int joints, int frames )
{
    double widest = 0, sine = 0, cosine = 0;
    for ( int f = 0; f < frames; ++f ) {
        vec3 swing;
        double twist;
        split( range, own[(size_t)f * joints + joint], &swing, &twist );
        widest = fmax( widest, v3_length( swing ) );
        sine += sin( twist );
        cosine += cos( twist );
    }
    if ( frames > 0 )
        range->centre =
            q_mul( range->centre, q_axis_angle( range->axes[TR_RANGE_TWIST], atan2( sine, cosine ) ) );
    return widest;
}

// ------------------------------------------------------------------------------------------------- axes

// The axis that the source bends a hinge about, on average; zero where it is hardly bent.
static vec3 hinge_axis( const tr_joint_range *range, const tr_range_def *def, const quat *own, int joint,
                        int joints, int frames )
{
    vec3 sum = v3_zero;
    for ( int f = 0; f < frames; ++f ) {
        vec3 swing;
        double twist;
        split( range, own[(size_t)f * joints + joint], &swing, &twist );
        sum = v3_add( sum, swing );
    }
    return v3_length( sum ) > frames * def->hardly_bent ? v3_unit( sum ) : v3_zero;
}

static void set_axes( tr_joint_range *range, const tr_range_def *def, vec3 bend )
{
    vec3 bone = range->axes[TR_RANGE_TWIST];
    bend = v3_mad( bend, -v3_dot( bend, bone ), bone );
    bend = v3_length( bend ) > def->least_bend ? v3_unit( bend ) : v3_perpendicular( bone );
    range->axes[TR_RANGE_BEND] = bend;
    range->axes[TR_RANGE_SIDE] = v3_cross( bone, bend );
}

// ----------------------------------------------------------------------------------------------- bounds

static void own_bounds( const tr_joint_range *range, const quat *own, int joint, int joints, int frames,
                        double low[TR_RANGE_AXES], double high[TR_RANGE_AXES] )
{
    for ( int i = 0; i < TR_RANGE_AXES; ++i )
        low[i] = high[i] = 0;
    for ( int f = 0; f < frames; ++f ) {
        double angles[TR_RANGE_AXES];
        tr_range_angles( range, own[(size_t)f * joints + joint], angles );
        for ( int i = 0; i < TR_RANGE_AXES; ++i ) {
            low[i] = f == 0 ? angles[i] : fmin( low[i], angles[i] );
            high[i] = f == 0 ? angles[i] : fmax( high[i], angles[i] );
        }
    }
}

static void widen( tr_joint_range *range, const tr_anatomy *known, const tr_range_def *def,
                   const double low[TR_RANGE_AXES], const double high[TR_RANGE_AXES] )
{
    bool unknown = known == NULL || !( known->bend_high > 0 );
    for ( int i = 0; i < TR_RANGE_AXES; ++i ) {
        double middle = 0.5 * ( low[i] + high[i] ), half = 0.5 * ( high[i] - low[i] );
        double least = middle - fmax( def->own_factor * half, def->own_least ),
               most = middle + fmax( def->own_factor * half, def->own_least );
        if ( !unknown ) {
            most = i == TR_RANGE_BEND ? known->bend_high : i == TR_RANGE_SIDE ? known->side : known->twist;
            least = i == TR_RANGE_BEND ? known->bend_low : -most;
        }
        range->low[i] = fmax( -TR_PI, fmin( least, low[i] - def->margin ) );
        range->high[i] = fmin( TR_PI, fmax( most, high[i] + def->margin ) );
    }
    if ( high[TR_RANGE_TWIST] - low[TR_RANGE_TWIST] > def->all_around ) {
        range->low[TR_RANGE_TWIST] = -TR_PI;
        range->high[TR_RANGE_TWIST] = TR_PI;
    }
}

typedef struct work {
    const tr_skeleton *skeleton;
    tr_pose rest;
    vec3 *bones; // [joint_count]
    body_axes axes;
    bool upright;     // on two legs
    int spine_joints; // between pelvis and neck
    const quat *own;
    int frames;
    const tr_range_def *def;
} work;

static tr_anatomy anatomy_of( const work *w, tr_role role )
{
    tr_anatomy known = w->upright ? w->def->anatomy[role] : ( tr_anatomy ){ 0 };
    double share = w->spine_joints > 0 ? w->def->spine / w->spine_joints : 0;
    if ( w->upright && role == TR_ROLE_SPINE ) {
        known.bend_low = fmin( known.bend_low, -share );
        known.bend_high = fmax( known.bend_high, share );
        known.side = fmax( known.side, share );
        known.twist = fmax( known.twist, share );
    }
    return known;
}

static tr_joint_range range_of( const work *w, int joint )
{
    const tr_joint *j = &w->skeleton->joints[joint];
    int joints = w->skeleton->joint_count;
    tr_joint_range range = { .limited = j->parent >= 0 && !j->end_site && j->role != TR_ROLE_ROOT };
    vec3 bone = w->bones[joint];
    range.limited = range.limited && v3_length( bone ) > 0.5;
    if ( !range.limited )
        return range;
    range.axes[TR_RANGE_TWIST] = bone;
    vec3 direction = central_direction( w->skeleton, w->rest, &w->axes, w->def, joint );
    range.centre = j->rest;
    if ( v3_length( direction ) > 0.5 )
        range.centre = q_mul( q_between( q_rotate( j->rest, bone ), direction ), j->rest );
    tr_anatomy known = anatomy_of( w, j->role );
    bool hinge = j->role == TR_ROLE_FOREARM || j->role == TR_ROLE_SHIN;
    vec3 bend = q_unrotate( q_mul( w->rest.rotations[j->parent], range.centre ), w->axes.left );
    double widest = centre_twist( &range, w->own, joint, joints, w->frames );
    if ( widest > w->def->straight_back ) {
        range.centre = mean_rotation( w->own, joint, joints, w->frames );
        widest = centre_twist( &range, w->own, joint, joints, w->frames );
        hinge = false;
    }
    if ( widest > w->def->straight_back )
        return ( tr_joint_range ){ 0 };
    if ( hinge )
        bend = hinge_axis( &range, w->def, w->own, joint, joints, w->frames );
    if ( hinge ? v3_length( bend ) < 0.5 : known.bend_low >= 0 ) // it is not known which way it bends
        known.bend_low = -known.bend_high;
    set_axes( &range, w->def, bend );
    double low[TR_RANGE_AXES], high[TR_RANGE_AXES];
    own_bounds( &range, w->own, joint, joints, w->frames, low, high );
    widen( &range, &known, w->def, low, high );
    return range;
}

bool tr_ranges_build( tr_joint_range *ranges, const tr_skeleton *skeleton, const quat *own, int frame_count,
                      const tr_range_def *def )
{
    size_t joints = (size_t)skeleton->joint_count;
    work w = { .skeleton = skeleton, .own = own, .frames = frame_count, .def = def };
    w.rest = ( tr_pose ){ tr_alloc( joints, sizeof( quat ) ), tr_alloc( joints, sizeof( vec3 ) ) };
    w.bones = tr_alloc( joints, sizeof( vec3 ) );
    bool ok = w.rest.rotations != NULL && w.rest.positions != NULL && w.bones != NULL;
    int legs = 0;
    for ( int i = 0; i < skeleton->limb_count; ++i )
        legs += skeleton->limbs[i].kind == TR_LIMB_LEG;
    for ( int j = 0; j < skeleton->joint_count; ++j )
        w.spine_joints += skeleton->joints[j].role == TR_ROLE_SPINE && !skeleton->joints[j].end_site;
    w.upright = legs == 2;
    if ( ok ) {
        tr_forward_rest( skeleton, w.rest );
        tr_joint_bones( skeleton, w.bones );
        w.axes = find_axes( skeleton, w.rest );
        for ( int j = 0; j < skeleton->joint_count; ++j )
            ranges[j] = range_of( &w, j );
    }
    tr_free( w.rest.rotations );
    tr_free( w.rest.positions );
    tr_free( w.bones );
    return ok;
}
