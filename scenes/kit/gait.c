#include "scenes/kit/gait.h"

#include "motion/motion.h"

#include <assert.h>

#define CLOCK_STEP     ( 1.0 / 120.0 )
#define SWING_SAMPLES  48
#define FOOTHOLD_RINGS 12

tr_gait_leg tr_default_gait_leg( void )
{
    return ( tr_gait_leg ){ .duty = 0.6, .lift = 0.08, .roll_out_share = 0.35, .roll_in_share = 0.2 };
}

tr_gait_def tr_default_gait_def( void )
{
    tr_gait_def def = { .cycle = 1.2, .cycle_fast = 0.8, .full_speed = 0.5, .full_stride = 0.5 };
    def.min_step = 0.012;
    def.min_turn = 3.0 * TR_DEGREE;
    def.clearance = 0.02;
    for ( int leg = 0; leg < TR_GAIT_LEGS; ++leg )
        def.legs[leg] = tr_default_gait_leg();
    return def;
}

void tr_gait_free( tr_gait *gait )
{
    for ( int leg = 0; leg < TR_GAIT_LEGS; ++leg )
        tr_free( gait->tracks[leg].stances );
    tr_free( gait->clock );
    *gait = ( tr_gait ){ 0 };
}

// A number in [-1, 1] that depends on its arguments alone (a 64-bit finaliser over a mixed key).
static double jitter( unsigned seed, int leg, int step, int channel )
{
    uint64_t x = ( (uint64_t)seed << 32 ) ^ ( (uint64_t)(unsigned)( step + 4096 ) << 12 ) ^
                 ( (uint64_t)(unsigned)leg << 4 ) ^ (uint64_t)(unsigned)channel;
    x = ( x ^ ( x >> 30 ) ) * 0xbf58476d1ce4e5b9u;
    x = ( x ^ ( x >> 27 ) ) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return (double)( x >> 11 ) / (double)( 1ull << 52 ) - 1.0;
}

// ----------------------------------------------------------------------------------------------- clock

static tr_gait_place place_at( const tr_gait *gait, double time )
{
    return gait->def.path( gait->def.path_context, time );
}

double tr_gait_speed( const tr_gait *gait, double time )
{
    const double h = 1e-3;
    tr_gait_place a = place_at( gait, time - h ), b = place_at( gait, time + h );
    double radius = 0;
    for ( int leg = 0; leg < gait->def.leg_count; ++leg )
        radius += hypot( gait->def.legs[leg].home.x, gait->def.legs[leg].home.z ) / gait->def.leg_count;
    double move = hypot( b.position.x - a.position.x, b.position.z - a.position.z );
    return ( move + radius * fabs( b.heading - a.heading ) ) / ( 2.0 * h );
}

static double clock_rate( const tr_gait *gait, double time )
{
    const tr_gait_def *def = &gait->def;
    if ( def->stride <= 0 )
        return 1.0 / def->cycle;
    double speed = tr_gait_speed( gait, time );
    return clampd( speed / ( def->stride + def->stride_gain * speed ), 1.0 / def->cycle,
                   1.0 / def->cycle_fast );
}

// Trapezoids; the table reaches far enough beyond the end to plan the last stances.
static bool build_clock( tr_gait *gait, tr_error *error )
{
    const tr_gait_def *def = &gait->def;
    gait->clock_step = CLOCK_STEP;
    gait->clock_count = 2 + tr_whole_frames( ( def->end - def->begin + 4.0 * def->cycle ) / CLOCK_STEP );
    gait->clock = tr_alloc( (size_t)gait->clock_count, sizeof( double ) );
    if ( gait->clock == NULL )
        return tr_error_memory( error );
    gait->clock[0] = def->start_phase;
    double rate = clock_rate( gait, def->begin );
    for ( int i = 1; i < gait->clock_count; ++i ) {
        double next = clock_rate( gait, def->begin + i * CLOCK_STEP );
        gait->clock[i] = gait->clock[i - 1] + 0.5 * CLOCK_STEP * ( rate + next );
        rate = next;
    }
    return true;
}

// Catmull–Rom through the table, straight on beyond its ends.
double tr_gait_clock( const tr_gait *gait, double time )
{
    const double *c = gait->clock;
    int last = gait->clock_count - 1;
    double at = ( time - gait->def.begin ) / gait->clock_step;
    if ( at <= 0 )
        return c[0] + at * ( c[1] - c[0] );
    if ( at >= last )
        return c[last] + ( at - last ) * ( c[last] - c[last - 1] );
    int i = tr_int_clamped( at, 0, last - 1 );
    double u = at - i;
    double before = i > 0 ? c[i - 1] : 2 * c[0] - c[1];
    double after = i + 2 <= last ? c[i + 2] : 2 * c[last] - c[last - 1];
    double m0 = 0.5 * ( c[i + 1] - before ), m1 = 0.5 * ( after - c[i] ), d = c[i + 1] - c[i];
    return c[i] + u * ( m0 + u * ( 3 * d - 2 * m0 - m1 + u * ( m0 + m1 - 2 * d ) ) );
}

tr_gait_leg tr_gait_leg_at( const tr_gait *gait, int leg, double time )
{
    tr_gait_leg constants = gait->def.legs[leg];
    if ( gait->def.style != NULL )
        gait->def.style( gait->def.style_context, leg, time, &constants );
    return constants;
}

// -------------------------------------------------------------------------------------------- schedule
// Step n of a leg: the stance begins when its own clock p(t) = clock(t) − phase(t) passes n and ends when it
// passes n + duty(t), both shifted by the step's jitter.

static double event_distance( const tr_gait *gait, int leg, int step, bool leaving, double time )
{
    tr_gait_leg constants = tr_gait_leg_at( gait, leg, time );
    double shift = gait->def.time_jitter * jitter( gait->def.seed, leg, step, leaving ? 1 : 0 );
    return tr_gait_clock( gait, time ) - constants.phase - step - shift - ( leaving ? constants.duty : 0 );
}

// First time from `from` on at which the event has happened.
static double event_time( const tr_gait *gait, int leg, int step, bool leaving, double from )
{
    double limit = gait->def.end + 4.0 * gait->def.cycle, t = from;
    while ( event_distance( gait, leg, step, leaving, t ) < 0 ) {
        if ( t > limit )
            return t;
        t += CLOCK_STEP;
    }
    if ( t == from )
        return from;
    double low = t - CLOCK_STEP, high = t;
    for ( int i = 0; i < 50; ++i ) {
        double middle = 0.5 * ( low + high );
        *( event_distance( gait, leg, step, leaving, middle ) < 0 ? &low : &high ) = middle;
    }
    return high;
}

// ----------------------------------------------------------------------------------------------- places

static double terrain_height( const tr_gait *gait, double x, double z )
{
    return gait->def.terrain != NULL ? gait->def.terrain( gait->def.terrain_context, x, z ) : 0.0;
}

static vec3 home_at( const tr_gait *gait, int leg, double time )
{
    tr_gait_leg constants = tr_gait_leg_at( gait, leg, time );
    tr_gait_place body = place_at( gait, time );
    double moving = smooth_step5( tr_gait_speed( gait, time ) / gait->def.full_speed );
    vec3 home = v3_mad( constants.home, moving, constants.moving );
    double s = sin( body.heading ), c = cos( body.heading );
    vec3 place =
        v3( body.position.x + c * home.x + s * home.z, 0, body.position.z - s * home.x + c * home.z );
    place.y = terrain_height( gait, place.x, place.z ) + home.y;
    return place;
}

// No edge within the margin: the ground around is not steeper than 30°. And no wall within twice the margin:
// a leg leans over its foot.
static bool is_foothold( const tr_gait *gait, double x, double z )
{
    double margin = gait->def.margin, here = terrain_height( gait, x, z );
    for ( int i = 0; i < 12; ++i ) {
        double s = margin * sin( i * TR_PI / 6.0 ), c = margin * cos( i * TR_PI / 6.0 );
        double near = terrain_height( gait, x + s, z + c ) - here;
        double far = terrain_height( gait, x + 2.0 * s, z + 2.0 * c ) - here;
        if ( fabs( near ) > 0.577 * margin || far > 1.155 * margin )
            return false;
    }
    return true;
}

// The nearest good foothold to `place`, searched on growing rings; `place` itself when there is none.
static vec3 settle( const tr_gait *gait, vec3 place, double height )
{
    if ( gait->def.margin <= 0 || is_foothold( gait, place.x, place.z ) )
        return place;
    for ( int ring = 1; ring <= FOOTHOLD_RINGS; ++ring )
        for ( int i = 0; i < 16; ++i ) {
            double r = 0.25 * gait->def.margin * ring, a = i * TR_PI / 8.0;
            double x = place.x + r * sin( a ), z = place.z + r * cos( a );
            if ( is_foothold( gait, x, z ) )
                return v3( x, terrain_height( gait, x, z ) + height, z );
        }
    return place;
}

static tr_gait_stance land_at( const tr_gait *gait, int leg, int step, double first, double last )
{
    double middle = 0.5 * ( first + last );
    tr_gait_leg constants = tr_gait_leg_at( gait, leg, middle );
    tr_gait_stance stance = { .first = first, .last = last };
    stance.heading = place_at( gait, middle ).heading + constants.heading;
    vec3 place = home_at( gait, leg, middle );
    // Irregular only while under way: a body at rest has its feet at home.
    double scatter =
        gait->def.place_jitter * smooth_step5( tr_gait_speed( gait, middle ) / gait->def.full_speed );
    if ( scatter > 0 ) {
        place.x += scatter * jitter( gait->def.seed, leg, step, 2 );
        place.z += scatter * jitter( gait->def.seed, leg, step, 3 );
        place.y = terrain_height( gait, place.x, place.z ) + constants.home.y;
    }
    stance.place = settle( gait, place, constants.home.y );
    stance.roll_in = constants.roll_in_share * ( last - first );
    stance.roll_out = constants.roll_out_share * ( last - first );
    return stance;
}

// ------------------------------------------------------------------------------------------------ swing
// A swing runs from place to place with minimum-jerk timing s(u), bowed sideways so that it passes the foot's
// home as the body does: on a curve the straight way would cut through the other legs. It rises by lift ·
// b(u): up in the first share `rise` of the swing, down in the last, also with minimum jerk. So there is
// neither velocity nor acceleration at either end.

static double arc( double u, double rise )
{
    return smooth_step5( fmin( u, 1.0 - u ) / rise );
}

static vec3 swing_base( const tr_gait_stance *from, const tr_gait_stance *to, double u )
{
    return v3_mad( v3_lerp( from->place, to->place, smooth_step5( u ) ), arc( u, 0.5 ), to->bow );
}

// The lift that clears the ground by the clearance (less near the ends, where the foot is on the ground):
// base(u) + lift · b(u) ≥ ground + clearance · min(1, 3 b(u)). `margin` widens the ground under the foot.
static double clear_lift( const tr_gait *gait, const tr_gait_stance *from, const tr_gait_stance *to,
                          double height )
{
    double margin = 0.5 * gait->def.margin, need = 0;
    vec3 way = v3_horizontal( v3_sub( to->place, from->place ) );
    vec3 ahead = v3_scale( margin, v3_unit( way ) );
    for ( int i = 1; i < SWING_SAMPLES; ++i ) {
        double u = (double)i / SWING_SAMPLES, b = arc( u, to->rise );
        if ( b < 0.02 )
            continue;
        vec3 base = swing_base( from, to, u );
        double ground = terrain_height( gait, base.x, base.z );
        ground = fmax( ground, terrain_height( gait, base.x + ahead.x, base.z + ahead.z ) );
        ground = fmax( ground, terrain_height( gait, base.x - ahead.x, base.z - ahead.z ) );
        double room = gait->def.clearance * fmin( 1.0, 3.0 * b );
        need = fmax( need, ( ground + height + room - base.y ) / b );
    }
    return need;
}

// Over an edge the foot goes up and down more steeply rather than higher.
static void lift_over( const tr_gait *gait, const tr_gait_stance *from, tr_gait_stance *to, double height,
                       double lift )
{
    double enough = fmax( lift, 0.6 * fabs( to->place.y - from->place.y ) + 2.0 * gait->def.clearance );
    double need = 0;
    for ( to->rise = 0.5; to->rise > 0.33; to->rise -= 0.04 ) {
        need = clear_lift( gait, from, to, height );
        if ( need <= enough )
            break;
    }
    double most = 2.0 * ( lift + fabs( to->place.y - from->place.y ) + gait->def.clearance );
    to->lift = clampd( need, lift, most );
}

// The way round to where the home is at mid-swing, at right angles to the step and not too far.
static vec3 bow_of( const tr_gait *gait, int leg, double swerve, const tr_gait_stance *from,
                    const tr_gait_stance *to )
{
    double time = 0.5 * ( from->last + to->first ), heading = place_at( gait, time ).heading;
    vec3 home = v3_mad( home_at( gait, leg, time ), swerve, v3( cos( heading ), 0, -sin( heading ) ) );
    vec3 off = v3_horizontal( v3_sub( home, v3_lerp( from->place, to->place, 0.5 ) ) );
    vec3 way = v3_horizontal( v3_sub( to->place, from->place ) );
    double length = v3_length( way ), most = 0.35 * length;
    vec3 ahead = v3_unit( way );
    vec3 bow = v3_mad( off, -v3_dot( off, ahead ), ahead );
    double far = v3_length( bow );
    return far > most ? v3_scale( most / far, bow ) : bow;
}

static void shape_swing( const tr_gait *gait, int leg, const tr_gait_stance *from, tr_gait_stance *to )
{
    tr_gait_leg constants = tr_gait_leg_at( gait, leg, 0.5 * ( from->last + to->first ) );
    double length = v3_distance( from->place, to->place );
    double share = smooth_step5( length / gait->def.full_stride );
    // Short steps are low steps, down to half height.
    double lift = constants.lift * ( 0.5 + 0.5 * smooth_step5( 2.0 * length / gait->def.full_stride ) );
    to->bow = bow_of( gait, leg, constants.swerve, from, to );
    lift_over( gait, from, to, constants.home.y, lift );
    to->roll_off = share * constants.roll_off;
    to->roll_on = share * constants.roll_on;
}

// ------------------------------------------------------------------------------------------------- plan

static bool push_stance( struct tr_gait_track *track, tr_gait_stance stance, tr_error *error )
{
    if ( !tr_array_reserve( (void **)&track->stances, &track->capacity, track->count + 1,
                            sizeof( tr_gait_stance ) ) )
        return tr_error_memory( error );
    track->stances[track->count++] = stance;
    return true;
}

static bool worth_a_step( const tr_gait_def *def, const tr_gait_stance *a, const tr_gait_stance *b )
{
    return v3_distance( a->place, b->place ) > def->min_step ||
           fabs( b->heading - a->heading ) > def->min_turn;
}

static bool plan_leg( tr_gait *gait, int leg, tr_error *error )
{
    const tr_gait_def *def = &gait->def;
    struct tr_gait_track *track = &gait->tracks[leg];
    tr_gait_leg constants = tr_gait_leg_at( gait, leg, def->begin );
    double beyond = def->end + 4.0 * def->cycle;
    tr_gait_stance start = { .place = home_at( gait, leg, def->begin ), .first = def->begin, .last = beyond };
    start.heading = place_at( gait, def->begin ).heading + constants.heading;
    if ( !push_stance( track, start, error ) )
        return false;
    int step = tr_int_clamped( floor( tr_gait_clock( gait, def->begin ) - constants.phase ), -TR_MAX_FRAMES,
                               TR_MAX_FRAMES );
    double time = def->begin;
    if ( event_distance( gait, leg, step, true, time ) >= 0 ) // starts within a swing: waits for the next
        ++step;
    for ( ;; ++step ) {
        double leave = event_time( gait, leg, step, true, time );
        double land = event_time( gait, leg, step + 1, false, leave );
        double next = event_time( gait, leg, step + 1, true, land );
        if ( leave >= def->end )
            return true;
        tr_gait_stance *now = &track->stances[track->count - 1];
        tr_gait_stance then = land_at( gait, leg, step + 1, land, next );
        time = land;
        if ( !worth_a_step( def, now, &then ) )
            continue;
        now->last = leave;
        if ( track->count == 1 ) // the waiting stance rolls over the time of an ordinary one
            now->roll_out = constants.roll_out_share * constants.duty / clock_rate( gait, leave );
        shape_swing( gait, leg, now, &then );
        then.last = beyond;
        if ( !push_stance( track, then, error ) )
            return false;
    }
}

bool tr_gait_plan( tr_gait *out, const tr_gait_def *def, tr_error *error )
{
    assert( def->leg_count > 0 && def->leg_count <= TR_GAIT_LEGS && def->path != NULL );
    assert( def->end >= def->begin && def->cycle > 0 && def->cycle_fast > 0 && def->full_speed > 0 &&
            def->full_stride > 0 );
    *out = ( tr_gait ){ .def = *def };
    bool ok = build_clock( out, error );
    for ( int leg = 0; ok && leg < def->leg_count; ++leg )
        ok = plan_leg( out, leg, error );
    if ( !ok )
        tr_gait_free( out );
    return ok;
}

// ----------------------------------------------------------------------------------------------- queries

// The last stance that began before `time`.
static int find_stance( const struct tr_gait_track *track, double time )
{
    int low = 0, high = track->count - 1;
    while ( low < high ) {
        int middle = ( low + high + 1 ) / 2;
        if ( track->stances[middle].first <= time )
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static double load_at( const struct tr_gait_track *track, int index, double time )
{
    const tr_gait_stance *s = &track->stances[index];
    if ( time > s->last )
        return 0;
    // A body that starts within a stance has stood there for a while.
    double span = index > 0 ? fmin( s->last - s->first, 1.0 ) : 1.0, ramp = 0.3 * span, load = 1;
    if ( index > 0 )
        load *= smooth_step5( ( time - s->first ) / ramp );
    if ( index + 1 < track->count )
        load *= smooth_step5( ( s->last - time ) / ramp );
    return load;
}

// Rises from `start` to 1 at `peak` and back to 0 at `end`.
static double hump( double start, double peak, double end, double time )
{
    if ( time <= start || time >= end )
        return 0;
    return time < peak ? smooth_step5( ( time - start ) / ( peak - start ) )
                       : smooth_step5( ( end - time ) / ( end - peak ) );
}

// The heel rises before the swing and is down at its middle; the toes rise after that and come down after
// landing. In between the roll and its rate are zero, so the change of pivot is not felt.
static double roll_at( const struct tr_gait_track *track, int index, double time )
{
    double roll = 0;
    for ( int i = index; i <= index + 1 && i < track->count; ++i ) {
        if ( i == 0 )
            continue;
        const tr_gait_stance *from = &track->stances[i - 1], *to = &track->stances[i];
        double swing = to->first - from->last, middle = from->last + 0.5 * swing;
        roll += to->roll_off * hump( from->last - from->roll_out, from->last + 0.08 * swing, middle, time );
        roll -= to->roll_on * hump( middle, to->first - 0.06 * swing, to->first + to->roll_in, time );
    }
    return roll;
}

tr_gait_foot tr_gait_foot_at( const tr_gait *gait, int leg, double time )
{
    const struct tr_gait_track *track = &gait->tracks[leg];
    int index = find_stance( track, time );
    const tr_gait_stance *from = &track->stances[index];
    tr_gait_foot foot = { .position = from->place, .base = from->place, .heading = from->heading };
    foot.stance = index;
    foot.planted = time <= from->last || index + 1 == track->count;
    foot.load = load_at( track, index, time );
    foot.roll = roll_at( track, index, time );
    if ( foot.planted )
        return foot;
    const tr_gait_stance *to = &track->stances[index + 1];
    double u = ( time - from->last ) / ( to->first - from->last ), s = smooth_step5( u );
    foot.base = swing_base( from, to, u );
    foot.position = v3_mad( foot.base, to->lift * arc( u, to->rise ), v3_y );
    foot.heading = lerpd( from->heading, to->heading, s );
    foot.swing = u;
    foot.stance = index + 1;
    return foot;
}

rigid tr_gait_sole( const tr_gait_foot *foot, vec3 ball, vec3 heel )
{
    rigid flat = { q_axis_angle( v3_y, foot->heading ), foot->position };
    vec3 pivot = foot->roll > 0 ? ball : heel;
    quat roll = q_axis_angle( v3_x, foot->roll ); // +Z ahead turns down: the heel comes up
    rigid rolled = { roll, v3_sub( pivot, q_rotate( roll, pivot ) ) };
    return rigid_mul( flat, rolled );
}

// Plane y = y0 + a (x − x0) + b (z − z0) through the feet's bases, by least squares with a small weight that
// holds a and b at 0 where the feet leave them open (two feet side by side).
static vec3 fit_normal( const vec3 *bases, int count, vec3 centre )
{
    double xx = 0, xz = 0, zz = 0, xy = 0, zy = 0, scale = 0;
    for ( int i = 0; i < count; ++i ) {
        vec3 d = v3_sub( bases[i], centre );
        xx += d.x * d.x, xz += d.x * d.z, zz += d.z * d.z, xy += d.x * d.y, zy += d.z * d.y;
        scale += d.x * d.x + d.z * d.z;
    }
    double ridge = 0.1 * scale + 1e-9;
    xx += ridge, zz += ridge;
    double det = xx * zz - xz * xz;
    return v3_unit( v3( -( xy * zz - zy * xz ) / det, 1.0, -( zy * xx - xy * xz ) / det ) );
}

tr_gait_support tr_gait_support_at( const tr_gait *gait, double time )
{
    int count = gait->def.leg_count;
    vec3 bases[TR_GAIT_LEGS];
    tr_gait_support out = { 0 };
    // A little weight on every foot keeps the mean calm when all are in the air or about to be.
    double total = 0;
    for ( int leg = 0; leg < count; ++leg ) {
        tr_gait_foot foot = tr_gait_foot_at( gait, leg, time );
        vec3 home = home_at( gait, leg, time );
        double weight = foot.load + 0.1;
        bases[leg] = v3_sub( foot.base, v3( 0, gait->def.legs[leg].home.y, 0 ) );
        out.ground = v3_mad( out.ground, 1.0 / count, bases[leg] );
        out.centre = v3_mad( out.centre, weight, bases[leg] );
        double dx = foot.base.x - home.x, dz = foot.base.z - home.z;
        out.spread += weight * ( dx * dx + dz * dz );
        out.load += foot.load;
        total += weight;
    }
    out.centre = v3_scale( 1.0 / total, out.centre );
    out.spread /= total;
    out.normal = fit_normal( bases, count, out.ground );
    return out;
}
