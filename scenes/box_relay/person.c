#include "scenes/box_relay/person.h"

// ------------------------------------------------------------------------------------------------- plan

static double own( const relay_person *p, int index, double low, double high )
{
    return tr_chance_between( relay_person_seed( p->index ), (uint64_t)index, low, high );
}

static vec3 gap_here( const relay_person *p, int gap, int box )
{
    return rigid_apply( p->inverse, relay_gap( p->plan, gap, box ) );
}

static double bearing( vec3 v )
{
    return atan2( v.x, v.z );
}

// Face of the neighbour at a gap, in this person's frame; the stack itself at the ends of the line.
static vec3 partner( const relay_person *p, int gap, int box )
{
    int other = gap == p->index ? p->index - 1 : p->index + 1;
    if ( other < 0 || other >= p->plan->people )
        return gap_here( p, gap, box );
    vec3 face = rigid_apply( relay_place( p->plan, other ), v3( 0, 1.58, 0.1 ) );
    return rigid_apply( p->inverse, face );
}

// Turns lie between two hand-overs; `from` and `to` are their times.
static void plan_turn( relay_person *p, double from, double to, double angle )
{
    double quick = own( p, 10, 0.0, 0.08 );
    double before = p->pelvis_turn.count > 0 ? p->pelvis_turn.keys[p->pelvis_turn.count - 1].value : -0.9;
    tr_track_add( &p->pelvis_turn, from + 0.06 + quick, before );
    tr_track_add( &p->pelvis_turn, to - 0.34, angle );
    tr_track_add( &p->chest_turn, from + 0.14 + quick, before );
    tr_track_add( &p->chest_turn, to - 0.20, angle );
    double side = angle > 0 ? 1.0 : -1.0;
    tr_track_add( &p->weight, from + 0.30, -side );
    tr_track_add( &p->weight, to - 0.40, side );
}

// The foot on the side of the turn opens first, while the weight is still on the other; the second closes up
// when the weight has come over.
static void plan_step( relay_person *p, int side, double from, double to, double towards, uint64_t chance )
{
    double out = side == TR_HUMAN_LEFT ? 1.0 : -1.0;
    bool lead = out * towards > 0;
    double start = lerpd( from, to, lead ? 0.10 : 0.56 ), end = lerpd( from, to, lead ? 0.40 : 0.86 );
    uint64_t seed = relay_person_seed( p->index );
    double wide = own( p, 11, -0.02, 0.02 ) + tr_chance_between( seed, chance, -0.012, 0.012 );
    double x = out * ( ( lead ? 0.17 : 0.125 ) + wide );
    double z = ( lead ? 0.035 : -0.03 ) + tr_chance_between( seed, chance + 1, -0.015, 0.015 );
    double heading =
        towards * ( lead ? 28 : 4 ) * TR_DEGREE + tr_chance_between( seed, chance + 2, -0.06, 0.06 );
    tr_track *tracks[3] = { &p->foot_x[side], &p->foot_z[side], &p->foot_heading[side] };
    const double values[3] = { x, z, heading };
    for ( int i = 0; i < 3; ++i ) {
        int count = tracks[i]->count;
        // Up first, then across: no foot moves that still touches the ground.
        tr_track_add( tracks[i], lerpd( start, end, 0.10 ),
                      count > 0 ? tracks[i]->keys[count - 1].value : values[i] );
        tr_track_add( tracks[i], lerpd( start, end, 0.90 ), values[i] );
    }
    tr_track_add( &p->foot_lift[side], start, 0 );
    tr_track_add( &p->foot_lift[side], lerpd( start, end, 0.5 ), own( p, 12, 0.045, 0.065 ) );
    tr_track_add( &p->foot_lift[side], end, 0 );
    tr_track_add( &p->foot_roll[side], start, 0 );
    tr_track_add( &p->foot_roll[side], lerpd( start, end, 0.38 ), 16 * TR_DEGREE );
    tr_track_add( &p->foot_roll[side], lerpd( start, end, 0.92 ), 0 );
}

static void plan_look( relay_person *p, int box, double take, double give )
{
    vec3 in = gap_here( p, p->index, box ), out = gap_here( p, p->index + 1, box );
    double early = own( p, 13, -0.12, 0.12 );
    tr_track3_add( &p->look, take - 0.95 + early, partner( p, p->index, box ) );
    tr_track3_add( &p->look, take - 0.55 + early, partner( p, p->index, box ) );
    tr_track3_add( &p->look, take - 0.10, in );
    tr_track3_add( &p->look, take + 0.30, in );
    tr_track3_add( &p->look, give - 0.95 + early, v3( 0.5, 1.1, 0.6 ) );
    tr_track3_add( &p->look, give - 0.55 + early, partner( p, p->index + 1, box ) );
    tr_track3_add( &p->look, give - 0.15, out );
    tr_track3_add( &p->look, give + 0.22, out );
    tr_track3_add( &p->look, give + 0.50, v3( 1.6, 1.45, 1.2 ) );
    tr_track3_add( &p->look, give + 0.80 + early, v3( 0.0, 1.40, 2.6 ) );
}

void relay_person_plan( relay_person *p, const relay *plan, int index )
{
    *p = ( relay_person ){ .plan = plan, .index = index, .place = relay_place( plan, index ) };
    p->inverse = rigid_inverse( p->place );
    p->first_box = 0;
    while ( relay_time( index + 1, p->first_box ) > -RELAY_PERIOD )
        p->first_box--;
    p->last_box = p->first_box;
    while ( relay_time( index, p->last_box ) < plan->duration + 1.0 )
        p->last_box++;
    for ( int b = p->first_box; b <= p->last_box; ++b ) {
        double earlier = relay_time( index + 1, b - 1 );
        double take = relay_time( index, b ), give = relay_time( index + 1, b );
        uint64_t chance = (uint64_t)( 100 + 10 * ( b - p->first_box ) );
        plan_turn( p, earlier, take, bearing( gap_here( p, index, b ) ) );
        plan_turn( p, take, give, bearing( gap_here( p, index + 1, b ) ) );
        for ( int side = 0; side < 2; ++side ) {
            plan_step( p, side, earlier + 0.2, take - 0.1, -1, chance + 3 * (uint64_t)side );
            plan_step( p, side, take + 0.1, give - 0.1, 1, chance + 3 * (uint64_t)side + 500 );
        }
        plan_look( p, b, take, give );
    }
}

// ------------------------------------------------------------------------------------------------- pose

// How much of each deed there is at a moment, summed over the boxes.
typedef struct deeds {
    double reach;  // handing over or taking
    double load;   // box in the hands
    double effort; // just after its weight was felt
    double stoop;  // bending down to a low stack
} deeds;

static double stoop_for( const relay_person *p, int gap, int box )
{
    return clampd( ( 0.95 - relay_gap( p->plan, gap, box ).y ) / 0.45, 0.0, 1.0 );
}

static deeds deeds_at( const relay_person *p, double t )
{
    deeds d = { 0 };
    for ( int b = p->first_box; b <= p->last_box; ++b ) {
        double take = relay_time( p->index, b ), give = relay_time( p->index + 1, b );
        double at_take = tr_pulse( t, take - 0.12, take + 0.12, 0.62, 0.55 );
        double at_give = tr_pulse( t, give - 0.12, give + 0.14, 0.55, 0.60 );
        d.reach += at_take + at_give;
        d.load += tr_pulse( t, take + 0.2, give - 0.1, 0.35, 0.3 );
        d.effort += tr_pulse( t, take + 0.35, take + 0.40, 0.30, 0.65 );
        d.stoop += stoop_for( p, p->index, b ) * tr_pulse( t, take - 0.12, take + 0.18, 0.80, 0.85 );
        d.stoop += stoop_for( p, p->index + 1, b ) * tr_pulse( t, give - 0.12, give + 0.18, 0.80, 0.95 );
    }
    return d;
}

static void place_trunk( const relay_person *p, double t, const deeds *d, tr_human_targets *out )
{
    uint64_t seed = relay_person_seed( p->index );
    double sway = tr_noise( seed, t, 0.23 ), rock = tr_noise( seed + 1, t, 0.19 );
    double turn = tr_track_at( &p->pelvis_turn, t ), chest = tr_track_at( &p->chest_turn, t );
    double weight = tr_track_at( &p->weight, t );
    double hip_share = own( p, 14, 0.50, 0.58 ), back_share = own( p, 15, 0.26, 0.32 );

    double yaw = hip_share * turn + 0.02 * rock;
    vec3 back = q_rotate( q_axis_angle( v3_y, yaw ), v3( 0, 0, -1 ) );
    out->pelvis =
        v3( 0.08 * weight + 0.010 * sway, TR_HUMAN_HIP_HEIGHT - own( p, 16, 0.012, 0.026 ), 0.008 * rock );
    out->pelvis.y -= 0.016 * d->effort + 0.006 * d->reach + 0.20 * d->stoop;
    out->pelvis = v3_mad( out->pelvis, 0.015 + 0.015 * d->load + 0.12 * d->stoop, back );
    double pitch = ( 2.0 + 2.0 * d->reach + 24.0 * d->stoop ) * TR_DEGREE;
    double roll = -2.5 * TR_DEGREE * weight;
    out->pelvis_rotation =
        q_mul( q_axis_angle( v3_y, yaw ), q_mul( q_axis_angle( v3_z, roll ), q_axis_angle( v3_x, pitch ) ) );

    double bend =
        own( p, 17, 7.0, 12.0 ) * d->reach - 5.0 * d->load + 3.0 * d->effort + 22.0 * d->stoop + 1.5 * sway;
    out->spine = v3( bend * TR_DEGREE, back_share * chest + ( hip_share ) * ( chest - turn ),
                     -roll * 0.8 + 0.015 * rock );
    out->breath = sin( 2.0 * TR_PI * ( own( p, 18, 0.24, 0.32 ) * t + own( p, 19, 0, 1 ) ) );
}

static rigid idle_hand( const relay_person *p, int side, double t )
{
    uint64_t seed = relay_person_seed( p->index ) + 10u + (uint64_t)side;
    double swing = own( p, 20, -2, 8 ) + 3.0 * tr_noise( seed, t, 0.35 );
    double bend = own( p, 21, 22, 40 ) + 5.0 * tr_noise( seed + 5, t, 0.3 );
    return tr_human_hang( side, swing * TR_DEGREE, own( p, 22, 7, 11 ) * TR_DEGREE, bend * TR_DEGREE );
}

// Place of a palm on a box; an open hand waits outside of the face and a little back towards its owner.
static rigid hold_hand( const relay_person *p, int side, int box, double t, double open )
{
    rigid at = rigid_mul( p->inverse, relay_box( p->plan, box, t ) );
    rigid grip = rigid_mul( at, relay_grip( p->index, side ) );
    vec3 palm = q_rotate( grip.rotation, v3( 0, -1, 0 ) );
    vec3 fingers = q_rotate( grip.rotation, v3( side == TR_HUMAN_LEFT ? 1 : -1, 0, 0 ) );
    vec3 away = v3_sub( v3_negate( palm ), v3_scale( 0.6, fingers ) );
    grip.position = v3_mad( grip.position, open, away );
    return grip;
}

// Times at which the hands touch a box and let go of it.
static double touch_time( const relay_person *p, int box )
{
    return relay_time( p->index, box ) - 0.5 * RELAY_HOLD;
}

static double release_time( const relay_person *p, int box )
{
    return relay_time( p->index + 1, box ) + 0.5 * RELAY_HOLD;
}

// Half of the time between two boxes belongs to letting go of one, half to reaching for the next.
static tr_human_hand hand_at( const relay_person *p, int side, double t )
{
    double out = side == TR_HUMAN_LEFT ? 1.0 : -1.0;
    tr_human_hand hand = { .rest = idle_hand( p, side, t ), .hold = rigid_identity };
    for ( int b = p->first_box; b <= p->last_box; ++b ) {
        double touch = touch_time( p, b ), release = release_time( p, b );
        double rise = 0.5 * ( touch - release_time( p, b - 1 ) ),
               fall = 0.5 * ( touch_time( p, b + 1 ) - release );
        double grip = tr_pulse( t, touch - 0.04, release + 0.04, rise - 0.05, fall - 0.05 );
        if ( grip == 0.0 )
            continue;
        // On its way to the box and back a hand keeps well outside of it.
        double open = 0.085 * ( 1.0 - tr_pulse( t, touch, release, 0.30, 0.24 ) ) + 0.4 * ( 1.0 - grip );
        hand.hold = hold_hand( p, side, b, t, open );
        hand.grip = grip;
        hand.firm = tr_pulse( t, touch - 0.02, release + 0.02, 0.40, 0.40 );
    }
    hand.elbow = v3_lerp( v3( 0.35 * out, -0.3, -1.0 ), v3( 0.6 * out, -0.7, -0.5 ), hand.grip );
    return hand;
}

static tr_human_foot foot_at( const relay_person *p, int side, double t )
{
    return ( tr_human_foot ){
        .position = v3( tr_track_at( &p->foot_x[side], t ), tr_track_at( &p->foot_lift[side], t ),
                        tr_track_at( &p->foot_z[side], t ) ),
        .heading = tr_track_at( &p->foot_heading[side], t ),
        .roll = tr_track_at( &p->foot_roll[side], t ),

    };
}

tr_human_targets relay_person_at( const relay_person *p, double t )
{
    tr_human_targets out = { .look = tr_track3_at( &p->look, t ), .look_weight = 0.9 };
    deeds d = deeds_at( p, t );
    place_trunk( p, t, &d, &out );
    for ( int side = 0; side < 2; ++side ) {
        out.hands[side] = hand_at( p, side, t );
        out.feet[side] = foot_at( p, side, t );
    }
    return out;
}
