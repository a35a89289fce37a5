// Part of the fit's kernel: the centre. Aims bones along given positions, joint by joint from the root, and
// finds the axes of the joints in that pose.
#include "fit/slot.h"

// -------------------------------------------------------------------------------------------------- aim

typedef struct aim_input { // the arrays of the block's frames
    const quat *start[LANES], *rotations[LANES];
    const vec3 *positions[LANES]; // these and rotations may be NULL
} aim_input;

static lane_quat load_quat( const quat *const from[LANES], int j )
{
    lane_quat q;
    for ( int l = 0; l < LANES; ++l )
        lq_set( &q, l, from[l][j] );
    return q;
}

static lane3 load_vec3( const vec3 *const from[LANES], int j )
{
    lane3 v;
    for ( int l = 0; l < LANES; ++l )
        l3_set( &v, l, from[l][j] );
    return v;
}

// Shortest rotation from one direction to another, not normalised: ( f × t, |f| |t| + f · t ). q_between
// handles vectors of zero length and opposite ones.
static lane_quat turn_between( lane3 from, lane3 to )
{
    lane both = lane_sqrt( l3_dot( from, from ) * l3_dot( to, to ) ), w = both + l3_dot( from, to );
    lane3 n = l3_cross( from, to );
    const double opposite = 1e-6, none = 1e-12; // share of |f| |t|; m²
    lane_mask plain = ( w > opposite * both ) & ( both > none );
    lane_quat q = { n.x, n.y, n.z, w };
    for ( int l = 0; l < LANES && lane_any( ~plain ); ++l )
        if ( !plain[l] )
            lq_set( &q, l, q_between( l3_get( &from, l ), l3_get( &to, l ) ) );
    return q;
}

// Σ d oᵀ over the bones of a joint, row by row. The rotation R that brings the offsets o nearest to the
// wanted bones d maximises tr( Rᵀ Σ d oᵀ ).
static void gather_moment( const tr_fit *fit, const aim_input *in, int joint, lane m[9] )
{
    lane3 place = load_vec3( in->positions, joint );
    for ( int i = 0; i < 9; ++i )
        m[i] = lane_all( 0 );
    for ( int c = fit->limbs[joint].first_child; c >= 0; c = fit->limbs[c].next_child ) {
        vec3 o = fit->skeleton->joints[c].offset;
        lane3 d = l3_sub( load_vec3( in->positions, c ), place );
        m[0] += d.x * o.x, m[1] += d.x * o.y, m[2] += d.x * o.z;
        m[3] += d.y * o.x, m[4] += d.y * o.y, m[5] += d.y * o.z;
        m[6] += d.z * o.x, m[7] += d.z * o.y, m[8] += d.z * o.z;
    }
}

// Whether the stationary point q is the maximum of tr( Rᵀ m ). There, and at no other stationary point,
// tr(S) I − S is positive definite, where S is the symmetric part of Rᵀ m.
static lane_mask is_largest( const lane m[9], lane_quat q )
{
    lane33 r = l33_from_quat( q );
    lane3 x = { m[0], m[3], m[6] }, y = { m[1], m[4], m[7] }, z = { m[2], m[5], m[8] };
    lane xx = l3_dot( r.cx, x ), yy = l3_dot( r.cy, y ), zz = l3_dot( r.cz, z );
    lane xy = 0.5 * ( l3_dot( r.cx, y ) + l3_dot( r.cy, x ) );
    lane xz = 0.5 * ( l3_dot( r.cx, z ) + l3_dot( r.cz, x ) );
    lane yz = 0.5 * ( l3_dot( r.cy, z ) + l3_dot( r.cz, y ) );
    lane a = yy + zz, b = xx + zz, c = xx + yy;
    lane ab = a * b - xy * xy;
    return ( a > 0 ) & ( ab > 0 ) & ( ab * c - a * yz * yz - b * xz * xz - 2 * xy * xz * yz > 0 );
}

// Newton's method from the reference (lane_fit_step). Lanes that do not converge to the maximum use q_fit.
static lane_quat aim_all( const lane moment[9], lane_quat reference, double weight )
{
    enum { MOST_STEPS = 12 };  // quadratic convergence needs fewer
    const double last = 1e-10; // change of q in the last step
    lane size = lane_all( 0 ), m[9];
    for ( int i = 0; i < 9; ++i )
        size += moment[i] * moment[i];
    size = lane_sqrt( size );
    lane33 r = l33_from_quat( reference );
    const lane *rows[9] = { &r.cx.x, &r.cy.x, &r.cz.x, &r.cx.y, &r.cy.y, &r.cz.y, &r.cx.z, &r.cy.z, &r.cz.z };
    for ( int i = 0; i < 9; ++i )
        m[i] = moment[i] + weight * size * *rows[i];
    lane_quat q = reference;
    lane_mask some = size > 0, moving = some;
    for ( int i = 0; i < MOST_STEPS && lane_any( moving ); ++i ) {
        lane_quat next = lane_fit_step( m, q );
        lane change = lane_max( lane_max( lane_abs( next.x - q.x ), lane_abs( next.y - q.y ) ),
                                lane_max( lane_abs( next.z - q.z ), lane_abs( next.w - q.w ) ) );
        q = lq_select( moving, next, q );
        moving &= change > last;
    }
    lane_mask lost = some & ( moving | ~is_largest( m, q ) );
    for ( int l = 0; l < LANES && lane_any( lost ); ++l )
        if ( lost[l] )
            lq_set( &q, l,
                    q_fit( ( mat3 ){ { m[0][l], m[3][l], m[6][l] },
                                     { m[1][l], m[4][l], m[7][l] },
                                     { m[2][l], m[5][l], m[8][l] } } ) );
    lane_quat other = { -q.x, -q.y, -q.z, -q.w };
    return lq_select( lq_dot( q, reference ) < 0, other, q );
}

// World rotation of a joint whose bones point along the positions. A single bone is aligned by the shortest
// rotation, which keeps the twist of the reference.
static lane_quat aim_joint( const tr_fit *fit, const aim_input *in, int j, lane_quat reference )
{
    int child = fit->limbs[j].only_child;
    if ( child == TR_FIT_NO_CHILD || in->positions[0] == NULL )
        return reference;
    if ( child == TR_FIT_SEVERAL ) {
        lane moment[9];
        gather_moment( fit, in, j, moment );
        return aim_all( moment, reference, fit->def.reference );
    }
    lane3 along = l3_sub( load_vec3( in->positions, child ), load_vec3( in->positions, j ) );
    lane3 bone = lq_rotate( reference, l3_all( fit->skeleton->joints[child].offset ) );
    return lq_mul( turn_between( bone, along ), reference );
}

// Local rotations whose bones point along the frames' positions, into slot->centre.
static void aim( const tr_fit *fit, fit_slot *slot, const fit_block *block )
{
    const tr_skeleton *skeleton = fit->skeleton;
    aim_input in;
    for ( int l = 0; l < LANES; ++l ) {
        in.start[l] = block->frames[l]->start;
        in.rotations[l] = block->frames[l]->rotations;
        in.positions[l] = block->frames[l]->positions;
    }
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        int p = skeleton->joints[j].parent;
        lane_quat start = load_quat( in.start, j ), carried = p < 0 ? start : lq_mul( slot->world[p], start );
        if ( skeleton->joints[j].end_site ) { // the file has no rotation for it
            slot->world[j] = carried;
            slot->centre[j] = start;
            continue;
        }
        lane_quat reference = in.rotations[0] != NULL ? load_quat( in.rotations, j ) : carried;
        slot->world[j] = lq_unit( aim_joint( fit, &in, j, reference ) );
        slot->centre[j] = p < 0 ? slot->world[j] : lq_mul( lq_conj( slot->world[p] ), slot->world[j] );
    }
}

// -------------------------------------------------------------------------------------------------- axes

static lane3 perpendicular( lane3 a )
{
    lane3 p;
    for ( int l = 0; l < LANES; ++l )
        l3_set( &p, l, v3_perpendicular( l3_get( &a, l ) ) );
    return p;
}

static lane angle_of( lane y, lane x )
{
    for ( int l = 0; l < LANES; ++l )
        y[l] = atan2( y[l], x[l] );
    return y;
}

// S of a joint that is not locked. The axes are the hinge h, the bone l and the side m = h × l, with
// stiffness s about h, (1 + hinge b) s about m and twist s about l. The columns of S are these axes divided
// by the square roots of the stiffness. b = n² / (n² + plane_onset · straight²) says how much of a hinge the
// limb is; n is the normal of the limb's own plane plus a little of the rest pose's. A straight limb without
// a plane has b = 0. Then h may be any direction across the bone; S Sᵀ, which alone enters the energy, stays
// continuous.
static void find_axes( const tr_fit *fit, fit_joint *joint )
{
    const double none = 1e-18; // squared sine: bones are parallel, up to rounding
    const tr_fit_limb *limb = &fit->limbs[joint->joint];
    double straight = fit->def.straight;
    double stiffness = limb->stiffness, compliance = 1.0 / sqrt( stiffness );
    joint->factor = ( lane33 ){ l3_all( v3( compliance, 0, 0 ) ), l3_all( v3( 0, compliance, 0 ) ),
                                l3_all( v3( 0, 0, compliance ) ) };
    joint->stiffness = l3_all( v3( stiffness, stiffness, stiffness ) );
    joint->hinged = lane_all( 0 ) > 0;
    joint->bend = joint->least = joint->most = joint->taut = joint->tightening = lane_all( 0 );
    if ( !( v3_dot( limb->bone_out, limb->bone_out ) > 0 ) )
        return;
    lane3 l = lq_rotate( joint->centre, l3_all( limb->bone_out ) );
    lane3 in = l3_all( limb->bone_in ), own = l3_cross( in, l );
    lane3 n = l3_mad( own, lane_all( straight ), l3_all( limb->bend ) );
    n = l3_mad( n, -l3_dot( n, l ), l );
    lane nn = l3_dot( n, n ), b = nn / ( nn + fit->def.plane_onset * straight * straight );
    lane_mask plane = nn > none;
    lane3 h = l3_scale( 1 / lane_sqrt( lane_select( plane, nn, lane_all( 1 ) ) ), n );
    if ( lane_any( ~plane ) )
        h = l3_select( plane, h, perpendicular( l ) );
    double twist = fit->def.twist;
    lane sideways = 1 + fit->def.hinge * b;
    joint->factor.cx = l3_scale( lane_all( compliance ), h );
    joint->factor.cy = l3_scale( lane_all( compliance / sqrt( twist ) ), l );
    joint->factor.cz = l3_scale( compliance / lane_sqrt( sideways ), l3_cross( h, l ) );
    joint->stiffness =
        ( lane3 ){ lane_all( stiffness ), lane_all( stiffness * twist ), stiffness * sideways };
    if ( !( limb->span > 0 ) )
        return;
    joint->hinged = plane;
    lane bend = angle_of( l3_dot( own, h ), l3_dot( in, l ) );
    joint->bend = lane_select( plane, bend, lane_all( 0 ) );
    joint->least = lane_select( plane, -lane_positive( bend ) / compliance, lane_all( 0 ) );
    joint->most = lane_select( plane, lane_positive( fit->def.folded - bend ) / compliance, lane_all( 0 ) );
    double slack = fit->def.slack;
    joint->taut = lane_select( plane, -lane_positive( bend - slack ) / compliance, lane_all( 0 ) );
    joint->tightening = lane_select( plane, lane_all( fit->def.taut * compliance / slack ), lane_all( 0 ) );
}

tr_fit_axes KERNEL( axes )( const tr_fit *fit, int j, quat centre )
{
    fit_joint joint = { .joint = j, .centre = lq_all( centre ) };
    if ( !( 1.0 / fit->limbs[j].stiffness > 0 ) )
        return ( tr_fit_axes ){ .hinged = false };
    find_axes( fit, &joint );
    return ( tr_fit_axes ){ .factor = { l3_get( &joint.factor.cx, 0 ), l3_get( &joint.factor.cy, 0 ),
                                        l3_get( &joint.factor.cz, 0 ) },
                            .hinged = joint.hinged[0] != 0,
                            .bend = joint.bend[0],
                            .least = joint.least[0],
                            .most = joint.most[0] };
}
