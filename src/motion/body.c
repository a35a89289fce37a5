// A capsule per bone.
//
// Radii are fractions of one length, the size of the body: the stature of a body on two legs, the
// length of the trunk (and for legs the length of the legs) of beasts. They do not follow the single bone,
// because rigs split bones at will; only limbs that are short as a whole are kept thin.
#include "geometry/geometry.h"
#include "motion/stature.h"

enum { MOST_HEADS = 16 }; // heads that get a ball, at most

tr_body_def tr_default_body_def( void )
{
    return ( tr_body_def ){
        .upright = { [TR_ROLE_NECK] = 0.030,
                     [TR_ROLE_CLAVICLE] = 0.032,
                     [TR_ROLE_UPPER_ARM] = 0.026,
                     [TR_ROLE_FOREARM] = 0.021,
                     [TR_ROLE_HAND] = 0.017,
                     [TR_ROLE_FINGER] = 0.0055,
                     [TR_ROLE_THIGH] = 0.042,
                     [TR_ROLE_SHIN] = 0.029,
                     [TR_ROLE_FOOT] = 0.020,
                     [TR_ROLE_TOE] = 0.016,
                     [TR_ROLE_TAIL] = 0.016,
                     [TR_ROLE_EAR] = 0.010 },
        .palm = 0.013,
        .hip = 0.044,
        .shoulder = 0.040,
        .other_limb = 0.020,
        .trunk = { 0.068, 0.061, 0.072 },
        .waist = 0.4,
        .beast = { [TR_ROLE_NECK] = 0.118,
                   [TR_ROLE_HEAD] = 0.052,
                   [TR_ROLE_EAR] = 0.030,
                   [TR_ROLE_CLAVICLE] = 0.095 },
        .beast_limb = 0.04,
        .withers = 0.09,
        .tail_base = 0.12,
        .loin = 0.125,
        .chest = 0.190,
        .tail = { 0.02, 0.10, 0.065 },
        .leg = { [TR_ROLE_THIGH] = 0.085,
                 [TR_ROLE_SHIN] = 0.048,
                 [TR_ROLE_FOOT] = 0.034,
                 [TR_ROLE_TOE] = 0.020 },
        .further_shin = 0.65,
        .beast_hip = 1.3,
        .crawler_leg = 0.40,
        .crawler_neck = 0.2,
        .feeler = 0.016,
        .abdomen = 0.45,
        .crawler_trunk = 0.75,
        .least_spread = 0.2,
        .other = 0.06,
        .other_length = 0.4,
        .short_limb = 0.45,
        .neck_gap = 0.8,
        .skull = 0.058,
        .beast_skull = 0.100,
        .skull_height = 0.7,
        .skull_length = 0.6,
        .skull_range = { 0.85, 1.15 },
        .skull_low = 0.25,
        .lone = 0.1,
        .density = 1000,
        .mass_index = 12.5,
        .masses = { 0.497, 0.081, 0.028, 0.016, 0.006, 0.100, 0.0465, 0.0145 },
    };
}

typedef enum plan { PLAN_UPRIGHT, PLAN_BEAST, PLAN_CRAWLER, PLAN_OTHER } plan;

typedef struct build {
    tr_body_def def;
    const tr_skeleton *skeleton;
    const tr_limb_value *girths;
    int girth_count;
    plan plan;
    double size;   // stature, trunk length, or longest way through the body
    double legs;   // mean length
    double spread; // how far from the trunk legs begin, sideways
    double spine;  // from the body's root to the last joint of the back, along the bones
    double *below; // [joint_count] length of the longest way down
    double *above; // [joint_count] distance from the body's root along the bones
    int *children; // [joint_count]
    bool *carries; // [joint_count] it or what hangs on it has a role
} build;

// ---------------------------------------------------------------------------------------------- body plan

static void measure_ways( build *b )
{
    const tr_joint *joints = b->skeleton->joints;
    int n = b->skeleton->joint_count;
    for ( int j = n - 1; j > 0; --j ) {
        int p = joints[j].parent;
        b->below[p] = fmax( b->below[p], b->below[j] + tr_bone_length( b->skeleton, j ) );
        b->children[p]++;
        b->carries[j] = b->carries[j] || joints[j].role != TR_ROLE_OTHER;
        b->carries[p] = b->carries[p] || b->carries[j];
    }
    for ( int j = 1; j < n; ++j )
        b->above[j] = joints[j].role == TR_ROLE_ROOT
                          ? 0
                          : b->above[joints[j].parent] + tr_bone_length( b->skeleton, j );
    for ( int j = 0; j < n; ++j )
        if ( joints[j].role == TR_ROLE_SPINE )
            b->spine = fmax( b->spine, b->above[j] );
}

static bool starts_limb( const tr_skeleton *skeleton, int joint, tr_limb_kind kind )
{
    int parent = skeleton->joints[joint].parent;
    return parent >= 0 && skeleton->limbs[skeleton->joints[joint].limb].kind == kind &&
           skeleton->joints[parent].limb != skeleton->joints[joint].limb;
}

// Trunk of a beast: from its hindmost to its foremost leg along the bones, never less than its spread
// sideways.
static void measure_trunk( build *b )
{
    double nearest = INFINITY, farthest = 0, spread = 0;
    int legs = 0;
    for ( int j = 0; j < b->skeleton->joint_count; ++j ) {
        if ( !starts_limb( b->skeleton, j, TR_LIMB_LEG ) )
            continue;
        vec3 offset = b->skeleton->joints[j].offset;
        double along = b->above[b->skeleton->joints[j].parent];
        nearest = fmin( nearest, along );
        farthest = fmax( farthest, along );
        spread += v3_length( v3_horizontal( offset ) );
        legs++;
    }
    b->spread = legs > 0 ? spread / legs : 0;
    b->size = legs > 0 ? fmax( farthest - nearest, b->spread ) : 0;
}

static void choose_plan( build *b )
{
    int legs = b->skeleton->limb_count > 0 ? tr_limb_kind_count( b->skeleton, TR_LIMB_LEG ) : 0;
    double whole = fmax( tr_skeleton_height( b->skeleton ), b->below[0] );
    b->legs = tr_skeleton_leg_length( b->skeleton );
    b->plan = legs == 2 ? PLAN_UPRIGHT : legs > 4 ? PLAN_CRAWLER : legs > 2 ? PLAN_BEAST : PLAN_OTHER;
    if ( b->plan == PLAN_UPRIGHT )
        b->size = tr_stature( b->skeleton );
    else if ( b->plan != PLAN_OTHER )
        measure_trunk( b );
    if ( !( b->size > 0 ) ) {
        b->plan = PLAN_OTHER;
        b->size = whole;
    }
}

// -------------------------------------------------------------------------------------------------- radii

// Thickness of the trunk along the way from pelvis to neck: hips, waist, chest.
static double trunk_profile( const tr_body_def *def, double t )
{
    double hips = def->trunk[0], waist = def->trunk[1], chest = def->trunk[2], at = def->waist;
    return t < at ? lerpd( hips, waist, smooth_step5( t / at ) )
                  : lerpd( waist, chest, smooth_step5( ( t - at ) / at ) ); // and the chest as far above it
}

static double upright_radius( const build *b, int parent, int joint )
{
    const tr_joint *joints = b->skeleton->joints;
    const tr_body_def *def = &b->def;
    double h = b->size;
    if ( joints[parent].role == TR_ROLE_HAND && joints[joint].role == TR_ROLE_FINGER &&
         b->children[joint] > 0 )
        return def->palm * h;
    if ( def->upright[joints[parent].role] > 0 )
        return def->upright[joints[parent].role] * h;
    if ( starts_limb( b->skeleton, joint, TR_LIMB_LEG ) )
        return def->hip * h;
    if ( joints[joint].role == TR_ROLE_CLAVICLE || starts_limb( b->skeleton, joint, TR_LIMB_ARM ) )
        return def->shoulder * h;
    if ( b->skeleton->limbs[joints[parent].limb].kind != TR_LIMB_TORSO )
        return def->other_limb * h;
    return trunk_profile( def, b->spine > 0 ? b->above[parent] / b->spine : 0 ) * h;
}

static double leg_radius( const build *b, int parent )
{
    enum { MOST_SHINS = 4 }; // shins that become thinner, at most
    const tr_joint *joints = b->skeleton->joints;
    const double *shares = b->def.leg;
    double thin = b->plan == PLAN_CRAWLER ? b->def.crawler_leg : 1.0, leg = thin * b->legs;
    tr_role role = joints[parent].role;
    double radius = ( shares[role] > 0 ? shares[role] : shares[TR_ROLE_THIGH] ) * leg;
    if ( role == TR_ROLE_SHIN )
        for ( int j = joints[parent].parent, n = 0; j > 0 && n < MOST_SHINS && joints[j].role == TR_ROLE_SHIN;
              ++n ) {
            radius *= b->def.further_shin;
            j = joints[j].parent;
        }
    return radius;
}

static double beast_radius( const build *b, int parent, int joint )
{
    const tr_joint *joints = b->skeleton->joints;
    const tr_body_def *def = &b->def;
    tr_role role = joints[parent].role;
    double t = b->size, down = b->below[parent];
    bool crawls = b->plan == PLAN_CRAWLER;
    if ( role == TR_ROLE_TAIL ) {  // bushy in the first half, then to a point
        const double least = 1e-9; // metres: a body of no length
        double share = down / fmax( down + b->above[parent], least );
        return t * clampd( def->tail[0] + def->tail[1] * share, def->tail[0], def->tail[2] );
    }
    if ( def->beast[role] > 0 )
        return ( crawls && role == TR_ROLE_NECK ? def->crawler_neck : def->beast[role] ) * t;
    tr_limb_kind kind = b->skeleton->limbs[joints[parent].limb].kind;
    if ( kind == TR_LIMB_LEG || starts_limb( b->skeleton, joint, TR_LIMB_LEG ) )
        return leg_radius( b, parent ) * ( kind == TR_LIMB_LEG ? 1.0 : def->beast_hip );
    if ( kind != TR_LIMB_TORSO ) // a crawler's feelers are like the ends of its legs
        return crawls ? def->feeler * b->legs : def->beast_limb * t;
    if ( joints[joint].role == TR_ROLE_CLAVICLE ) // withers: the shoulder blades stand on the trunk
        return def->withers * t;
    if ( starts_limb( b->skeleton, joint, TR_LIMB_TAIL ) && b->plan == PLAN_BEAST )
        return def->tail_base * t;
    if ( crawls ) // an abdomen is as fat as its last bone is long
        return b->children[joint] == 0 ? def->abdomen * tr_bone_length( b->skeleton, joint )
                                       : def->crawler_trunk * fmax( b->spread, def->least_spread * t );
    double along = clampd( b->above[parent] / t, 0, 1 );
    return t * lerpd( def->loin, def->chest, smooth_step5( along ) );
}

static double bone_radius( const build *b, int parent, int joint )
{
    double length = tr_bone_length( b->skeleton, joint ), radius;
    if ( b->plan == PLAN_OTHER )
        return fmin( b->def.other * b->size, b->def.other_length * length );
    radius = b->plan == PLAN_UPRIGHT ? upright_radius( b, parent, joint ) : beast_radius( b, parent, joint );
    tr_limb_kind kind = b->skeleton->limbs[b->skeleton->joints[parent].limb].kind;
    double whole = b->below[parent] + length; // length of the limb from here on
    return kind == TR_LIMB_TORSO ? radius : fmin( radius, b->def.short_limb * whole );
}

static double girth_of( const build *b, int joint )
{
    if ( b->skeleton->limb_count == 0 )
        return 1.0;
    const tr_limb *limb = &b->skeleton->limbs[b->skeleton->joints[joint].limb];
    return tr_limb_lookup( b->girths, b->girth_count, limb );
}

// ----------------------------------------------------------------------------------------------- capsules

// Bones that only carry or only mark something have no flesh: the frame above the pelvis, ends of split
// bones, eyes and ears' roots within the head, helpers beside the trunk.
static bool has_flesh( const build *b, int joint )
{
    const tr_joint *joints = b->skeleton->joints;
    int parent = joints[joint].parent;
    if ( parent < 0 || tr_bone_length( b->skeleton, joint ) < TR_SHORT_BONE )
        return false;
    if ( joints[joint].role == TR_ROLE_ROOT )
        return false;
    if ( b->plan == PLAN_OTHER )
        return true;
    bool in_head = joints[parent].role == TR_ROLE_HEAD;
    if ( in_head && ( b->plan == PLAN_UPRIGHT || joints[joint].role == TR_ROLE_EAR ) )
        return false;
    tr_limb_kind kind = b->skeleton->limbs[joints[joint].limb].kind;
    if ( kind == TR_LIMB_TORSO && b->plan == PLAN_UPRIGHT && !b->carries[joint] )
        return false;
    bool marker = b->children[joint] == 0 && joints[joint].role == TR_ROLE_OTHER;
    return !( marker && ( kind == TR_LIMB_ARM || kind == TR_LIMB_LEG ||
                          ( kind == TR_LIMB_HEAD && b->plan == PLAN_UPRIGHT ) ) );
}

static tr_capsule bone_capsule( const build *b, int joint )
{
    const tr_joint *joints = b->skeleton->joints;
    int parent = joints[joint].parent;
    vec3 offset = joints[joint].offset;
    double girth = girth_of( b, parent ), radius = bone_radius( b, parent, joint ) * girth;
    tr_capsule c = { .joint = joint, .parent = parent, .b = offset, .radius = radius, .girth = girth };
    // The chest ends at the neck: its round end must not swallow the chin.
    if ( b->plan != PLAN_OTHER && starts_limb( b->skeleton, joint, TR_LIMB_HEAD ) )
        c.b = v3_scale( fmax( 0.0, 1.0 - b->def.neck_gap * radius / tr_bone_length( b->skeleton, joint ) ),
                        offset );
    return c;
}

// The skull, a ball just under the top of the head. The end of the head shows where that is, and its size.
static tr_capsule head_ball( const build *b, int head, int end )
{
    const tr_joint *joints = b->skeleton->joints;
    const tr_body_def *def = &b->def;
    double whole = ( b->plan == PLAN_UPRIGHT ? def->skull : def->beast_skull ) * b->size;
    vec3 up = v3_unit_or( joints[head].offset, v3_y );
    vec3 centre = b->plan == PLAN_UPRIGHT ? v3_scale( def->skull_height * whole, up ) : v3_zero;
    double girth = girth_of( b, head ), radius = whole * girth;
    if ( end >= 0 && b->plan == PLAN_UPRIGHT ) {
        double length = tr_bone_length( b->skeleton, end );
        radius =
            clampd( def->skull_length * length, def->skull_range[0] * whole, def->skull_range[1] * whole ) *
            girth;
        vec3 along = v3_unit_or( joints[end].offset, up );
        centre = v3_scale( fmax( length - radius, def->skull_low * length ), along );
    }
    return ( tr_capsule ){
        .joint = head, .parent = head, .a = centre, .b = centre, .radius = radius, .girth = girth };
}

// Child of the head that marks its top: the longest bone that goes to neither eye nor ear.
static int head_end( const tr_skeleton *skeleton, int head )
{
    int best = -1;
    for ( int j = head + 1; j < skeleton->joint_count; ++j ) {
        const tr_joint *joint = &skeleton->joints[j];
        if ( joint->parent == head && joint->side == TR_SIDE_NONE &&
             tr_bone_length( skeleton, j ) >= TR_SHORT_BONE &&
             ( best < 0 || tr_bone_length( skeleton, j ) > tr_bone_length( skeleton, best ) ) )
            best = j;
    }
    return best;
}

static void add_capsules( const build *b, tr_body *out )
{
    for ( int j = 0, heads = 0; j < b->skeleton->joint_count; ++j ) {
        if ( has_flesh( b, j ) )
            out->capsules[out->capsule_count++] = bone_capsule( b, j );
        if ( b->plan != PLAN_OTHER && b->skeleton->joints[j].role == TR_ROLE_HEAD && heads++ < MOST_HEADS )
            out->capsules[out->capsule_count++] = head_ball( b, j, head_end( b->skeleton, j ) );
    }
    if ( out->capsule_count == 0 ) { // a lone joint is a ball, so that it can be seen and has a mass
        double radius = b->size > 0 ? 0.5 * b->size : b->def.lone, girth = girth_of( b, 0 );
        out->capsules[out->capsule_count++] = ( tr_capsule ){ .radius = radius * girth, .girth = girth };
    }
}

// ------------------------------------------------------------------------------------------------- masses

// In the order of tr_body_def.
typedef enum segment { TRUNK, HEAD, UPPER_ARM, FOREARM, HAND, THIGH, SHANK, FOOT, SEGMENTS } segment;

static segment segment_of( const tr_skeleton *skeleton, int joint )
{
    switch ( skeleton->joints[joint].role ) {
    case TR_ROLE_NECK:
    case TR_ROLE_HEAD:
    case TR_ROLE_EAR: return HEAD;
    case TR_ROLE_UPPER_ARM: return UPPER_ARM;
    case TR_ROLE_FOREARM: return FOREARM;
    case TR_ROLE_HAND:
    case TR_ROLE_FINGER: return HAND;
    case TR_ROLE_THIGH: return THIGH;
    case TR_ROLE_SHIN: return SHANK;
    case TR_ROLE_FOOT:
    case TR_ROLE_TOE: return FOOT;
    default: break;
    }
    tr_limb_kind kind = skeleton->limbs[skeleton->joints[joint].limb].kind;
    return kind == TR_LIMB_HEAD  ? HEAD
           : kind == TR_LIMB_ARM ? UPPER_ARM
           : kind == TR_LIMB_LEG ? THIGH
                                 : TRUNK;
}

// π r² l, and half a ball at each end that no other capsule shares: bodies are chains of capsules that
// overlap at the joints, and what overlaps must not weigh twice.
static double capsule_volume( const tr_capsule *c, const int *shared )
{
    double half_ball = 2.0 / 3.0 * TR_PI * c->radius * c->radius * c->radius;
    double volume = TR_PI * c->radius * c->radius * v3_distance( c->a, c->b );
    if ( c->joint == c->parent )
        return volume + 2 * half_ball;
    return volume + ( ( shared[c->joint] == 1 ) + ( shared[c->parent] == 1 ) ) * half_ball;
}

static void add_mass( tr_body *body, const tr_capsule *c, double mass )
{
    body->masses[c->parent] += 0.5 * mass;
    body->masses[c->joint] += 0.5 * mass;
    body->total_mass += mass;
}

// A segment's share goes to its capsules by volume. Thicker or thinner limbs weigh by the square of the
// girth.
static void weigh_upright( const build *b, const int *shared, tr_body *out )
{
    const double none = 1e-300; // m³: a segment without volume has no mass, but no 0 / 0 either
    double volumes[SEGMENTS][3] = { { 0 } };
    double whole = b->def.mass_index * b->size * b->size * b->size;
    for ( int i = 0; i < out->capsule_count; ++i ) {
        const tr_capsule *c = &out->capsules[i];
        segment s = segment_of( b->skeleton, c->parent );
        tr_side side = s == TRUNK || s == HEAD ? TR_SIDE_NONE : b->skeleton->joints[c->parent].side;
        volumes[s][side] += capsule_volume( c, shared );
    }
    for ( int i = 0; i < out->capsule_count; ++i ) {
        const tr_capsule *c = &out->capsules[i];
        segment s = segment_of( b->skeleton, c->parent );
        tr_side side = s == TRUNK || s == HEAD ? TR_SIDE_NONE : b->skeleton->joints[c->parent].side;
        double girth = girth_of( b, c->parent );
        double part = capsule_volume( c, shared ) / fmax( volumes[s][side], none );
        add_mass( out, c, b->def.masses[s] * whole * part * girth * girth );
    }
}

static bool weigh( const build *b, tr_body *out, tr_error *error )
{
    int *shared = tr_alloc( (size_t)b->skeleton->joint_count, sizeof( int ) );
    if ( shared == NULL )
        return tr_error_memory( error );
    for ( int i = 0; i < out->capsule_count; ++i ) {
        shared[out->capsules[i].joint]++;
        shared[out->capsules[i].parent] += out->capsules[i].joint != out->capsules[i].parent;
    }
    if ( b->plan == PLAN_UPRIGHT )
        weigh_upright( b, shared, out );
    else
        for ( int i = 0; i < out->capsule_count; ++i )
            add_mass( out, &out->capsules[i], b->def.density * capsule_volume( &out->capsules[i], shared ) );
    tr_free( shared );
    return true;
}

// ------------------------------------------------------------------------------------------------- public

static bool build_body( build *b, tr_body *out, tr_error *error )
{
    size_t n = (size_t)b->skeleton->joint_count;
    b->below = tr_alloc( n, sizeof( double ) );
    b->above = tr_alloc( n, sizeof( double ) );
    b->children = tr_alloc( n, sizeof( int ) );
    b->carries = tr_alloc( n, sizeof( bool ) );
    out->capsules = tr_alloc( n + MOST_HEADS, sizeof( tr_capsule ) ); // a bone each, and balls for heads
    out->masses = tr_alloc( n, sizeof( double ) );
    bool ok = b->below != NULL && b->above != NULL && b->children != NULL && b->carries != NULL &&
              out->capsules != NULL && out->masses != NULL;
    if ( !ok )
        return tr_error_memory( error );
    measure_ways( b );
    choose_plan( b );
    add_capsules( b, out );
    return weigh( b, out, error );
}

bool tr_body_build( tr_body *out, const tr_skeleton *skeleton, const tr_limb_value *girths, int girth_count,
                    tr_error *error )
{
    *out = ( tr_body ){ 0 };
    build b = { .def = tr_default_body_def(),
                .skeleton = skeleton,
                .girths = girths,
                .girth_count = girths != NULL ? girth_count : 0 };
    bool ok = build_body( &b, out, error );
    tr_free( b.below );
    tr_free( b.above );
    tr_free( b.children );
    tr_free( b.carries );
    if ( !ok )
        tr_body_free( out );
    return ok;
}

void tr_body_free( tr_body *body )
{
    tr_free( body->capsules );
    tr_free( body->masses );
    *body = ( tr_body ){ 0 };
}

vec3 tr_body_centre_of_mass( const tr_body *body, const tr_skeleton *skeleton, tr_pose pose )
{
    if ( !( body->total_mass > 0 ) )
        return pose.positions[0];
    vec3 sum = v3_zero;
    for ( int j = 0; j < skeleton->joint_count; ++j )
        sum = v3_mad( sum, body->masses[j], pose.positions[j] );
    return v3_scale( 1.0 / body->total_mass, sum );
}

// ------------------------------------------------------------------------------------------ its own way

// Whether at most `most` bones lie between two joints, counted along the skeleton. A parent's index is
// smaller than its child's, so the larger of the two never is the common ancestor. On long chains the count
// ends early.
static bool bones_within( const tr_skeleton *skeleton, int a, int b, int most )
{
    for ( int steps = 0; a != b; ++steps ) {
        if ( steps == most )
            return false;
        if ( a > b )
            a = skeleton->joints[a].parent;
        else
            b = skeleton->joints[b].parent;
    }
    return true;
}

static bool neighbours( const tr_skeleton *skeleton, const tr_capsule *a, const tr_capsule *b )
{
    int a_ends[2] = { a->parent, a->joint }, b_ends[2] = { b->parent, b->joint };
    for ( int i = 0; i < 4; ++i )
        if ( bones_within( skeleton, a_ends[i / 2], b_ends[i % 2], 2 ) )
            return true;
    return false;
}

bool tr_body_may_collide( const tr_body *body, const tr_skeleton *skeleton, tr_pose rest, int a, int b )
{
    const tr_capsule *one = &body->capsules[a], *other = &body->capsules[b];
    rigid one_at = { rest.rotations[one->parent], rest.positions[one->parent] };
    rigid other_at = { rest.rotations[other->parent], rest.positions[other->parent] };
    return !neighbours( skeleton, one, other ) &&
           tr_capsule_distance( rigid_apply( one_at, one->a ), rigid_apply( one_at, one->b ), one->radius,
                                rigid_apply( other_at, other->a ), rigid_apply( other_at, other->b ),
                                other->radius ) >= 0;
}
