// Skeletons of several kinds and motions for them, written as BVH.
#include "generate.h"

#include <stdio.h>
#include <string.h>

// -------------------------------------------------------------------------------------------------- choices

choices choices_from_seed( uint64_t seed )
{
    return ( choices ){ .state = seed };
}

choices choices_from_bytes( const uint8_t *bytes, size_t size )
{
    return ( choices ){ .bytes = bytes, .size = size };
}

// `width` bytes; of a seed by splitmix64, the same sequence everywhere.
static uint64_t draw( choices *c, int width )
{
    if ( c->bytes != NULL ) {
        uint64_t value = 0;
        for ( int i = 0; i < width; ++i )
            value = value << 8 | ( c->used < c->size ? c->bytes[c->used++] : 0 );
        return value;
    }
    uint64_t z = c->state += 0x9E3779B97F4A7C15u;
    z = ( z ^ z >> 30 ) * 0xBF58476D1CE4E5B9u;
    z = ( z ^ z >> 27 ) * 0x94D049BB133111EBu;
    return ( z ^ z >> 31 ) >> ( 64 - 8 * width );
}

int choose( choices *c, int count )
{
    if ( count <= 1 )
        return 0;
    return (int)( draw( c, count <= 128 ? 1 : 3 ) % (uint64_t)count );
}

bool chance( choices *c, int percent ) // zero is no
{
    return choose( c, 100 ) >= 100 - percent;
}

double between( choices *c, double low, double high )
{
    return low + ( high - low ) * (double)draw( c, 2 ) / 65535.0;
}

vec3 vector_within( choices *c, double size )
{
    double x = between( c, -size, size ), y = between( c, -size, size ), z = between( c, -size, size );
    return v3( x, y, z );
}

const char *pick( choices *c, const char *const *words )
{
    int count = 0;
    while ( words[count] != NULL )
        ++count;
    return words[choose( c, count )];
}

double pick_number( choices *c, const double *values, int count )
{
    return values[choose( c, count )];
}

// ------------------------------------------------------------------------------------------------ skeletons

static int add( rig *r, const char *name, int parent, vec3 offset )
{
    if ( !tr_array_reserve( (void **)&r->joints, &r->joint_capacity, r->joint_count + 1, sizeof *r->joints ) )
        return 0; // rig_generate asks for the number of joints
    rig_joint *joint = &r->joints[r->joint_count];
    snprintf( joint->name, sizeof joint->name, "%s", name );
    joint->parent = parent;
    joint->offset = offset;
    return r->joint_count++;
}

static int add_numbered( rig *r, const char *name, int number, int parent, vec3 offset )
{
    char text[48];
    snprintf( text, sizeof text, "%s%d", name, number );
    return add( r, text, parent, offset );
}

static int add_sided( rig *r, const char *side, const char *part, int parent, vec3 offset )
{
    char text[48];
    snprintf( text, sizeof text, "%s%s", side, part );
    return add( r, text, parent, offset );
}

static void add_human_side( rig *r, choices *c, const char *side, double x, int hips, int chest )
{
    static const vec3 arm_ways[] = { { 1, 0, 0 }, { 0.7, -0.7, 0 }, { 0, -1, 0 }, { 0, 0, 1 } };
    vec3 way = arm_ways[choose( c, 4 )];
    way.x *= x;
    int arm = add_sided( r, side, "Arm", chest, v3( 0.18 * x, 0.2, 0 ) );
    int fore = add_sided( r, side, "ForeArm", arm, v3_scale( 0.28, way ) );
    int hand = add_sided( r, side, "Hand", fore, v3_scale( 0.25, way ) );
    if ( chance( c, 10 ) ) {
        static const char *const fingers[] = { "HandThumb1", "HandIndex1", "HandMiddle1" };
        for ( int f = 0; f < 3; ++f )
            add_sided( r, side, fingers[f], hand, v3_add( v3_scale( 0.08, way ), v3( 0, 0, 0.02 * f ) ) );
    }
    int thigh = add_sided( r, side, "UpLeg", hips, v3( 0.1 * x, 0, 0 ) );
    int shin = add_sided( r, side, "Leg", thigh, v3( 0, -0.43, 0 ) );
    int foot = add_sided( r, side, "Foot", shin, v3( 0, -0.42, 0 ) );
    if ( !chance( c, 20 ) )
        add_sided( r, side, "ToeBase", foot, v3( 0, -0.08, 0.15 ) );
}

static void make_human( rig *r, choices *c, int most )
{
    (void)most;
    int hips = add( r, "Hips", -1, v3( 0, 0.93, 0 ) ), chest = hips;
    int spines = 1 + choose( c, 3 );
    for ( int i = 0; i < spines; ++i )
        chest = add_numbered( r, "Spine", i, chest, v3( 0, 0.35 / spines, 0 ) );
    int neck = chance( c, 30 ) ? add( r, "Neck", chest, v3( 0, 0.25, 0 ) ) : chest;
    add( r, "Head", neck, v3( 0, 0.15, 0.02 ) );
    add_human_side( r, c, "Left", 1, hips, chest );
    add_human_side( r, c, "Right", -1, hips, chest );
}

static void make_spider( rig *r, choices *c, int most )
{
    int body = add( r, "Body", -1, v3( 0, 0.3, 0 ) );
    add( r, "Abdomen", body, v3( 0, 0.05, -0.3 ) );
    int pairs = most < 20 ? 2 : 1 + choose( c, 4 );
    for ( int i = 0; i < pairs; ++i )
        for ( int s = 0; s < 2; ++s ) {
            char side[8];
            double x = s == 0 ? 1 : -1, z = 0.2 - 0.13 * i;
            snprintf( side, sizeof side, "%s%d", s == 0 ? "L" : "R", i + 1 );
            int femur = add_sided( r, side, "Femur", body, v3( 0.1 * x, 0, z ) );
            int tibia = add_sided( r, side, "Tibia", femur, v3( 0.3 * x, 0.25, z ) );
            add_sided( r, side, "Tip", tibia, v3( 0.25 * x, -0.55, 0.5 * z ) );
        }
}

static void make_wolf( rig *r, choices *c, int most )
{
    int hips = add( r, "Hips", -1, v3( 0, 0.7, -0.37 ) ), at = hips;
    int spines = 1 + choose( c, most > 40 ? 8 : 2 ), tails = 1 + choose( c, most > 40 ? 10 : 2 );
    for ( int i = 0; i < spines; ++i )
        at = add_numbered( r, "Spine", i + 1, at, v3( 0, -0.005 * i, 0.6 / spines ) );
    int chest = at;
    at = add( r, "Neck1", chest, v3( 0, 0.1, 0.12 ) );
    at = add( r, "Head", at, v3( 0, 0.12, 0.12 ) );
    if ( most > 40 )
        for ( int s = 0; s < 2; ++s ) {
            int ear =
                add_sided( r, s == 0 ? "Left" : "Right", "Ear1", at, v3( s == 0 ? 0.04 : -0.04, 0.06, 0 ) );
            add_sided( r, s == 0 ? "Left" : "Right", "Ear2", ear, v3( 0, 0.05, 0 ) );
        }
    for ( int leg = 0; leg < 4; ++leg ) {
        const char *side = leg % 2 == 0 ? "Left" : "Right", *end = leg < 2 ? "Front" : "Hind";
        double x = leg % 2 == 0 ? 0.1 : -0.1, bend = leg < 2 ? -0.05 : 0.05;
        char name[32];
        snprintf( name, sizeof name, "%s%s", side, end );
        int up = add_sided( r, name, "UpLeg", leg < 2 ? chest : hips, v3( x, -0.05, 0 ) );
        int low = add_sided( r, name, "Leg", up, v3( 0, -0.3, bend ) );
        int foot = add_sided( r, name, "Foot", low, v3( 0, -0.3, -bend ) );
        for ( int t = 0; t < ( most > 40 ? 4 : 1 ); ++t )
            add_numbered( r, name, t, foot, v3( 0.02 * ( t - 1.5 ), -0.04, 0.06 ) );
    }
    for ( at = hips; tails-- > 0; )
        at = add_numbered( r, "Tail", tails, at, v3( 0, 0, -0.1 ) );
}

static void make_snake( rig *r, choices *c, int most )
{
    int count = 2 + choose( c, most - 2 ), at = add( r, "Root", -1, v3( 0, 0.05, 0 ) );
    for ( int i = 1; i < count; ++i )
        at = add_numbered( r, "S", i, at, v3( 0, 0, 1.5 / count ) );
}

static void make_single( rig *r, choices *c, int most )
{
    (void)most;
    add( r, "Root", -1, v3( 0, between( c, 0, 1 ), 0 ) );
}

static void make_thread( rig *r, choices *c, int most ) // bones of a millimetre and less
{
    double length = pick_number( c, ( const double[] ){ 1e-2, 1e-3, 1e-4, 1e-6 }, 4 );
    int count = 2 + choose( c, most - 2 ), at = add( r, "Thread", -1, v3( 0, 1, 0 ) );
    for ( int i = 1; i < count; ++i )
        at = add_numbered( r, "t", i, at, v3( 0, length, 0 ) );
}

static void make_tree( rig *r, choices *c, int most )
{
    int count = 1 + choose( c, most );
    double size = pick_number( c, ( const double[] ){ 0.3, 0.05, 1, 30 }, 4 );
    add( r, "J0", -1, vector_within( c, size ) );
    for ( int i = 1; i < count; ++i )
        add_numbered( r, "J", i, choose( c, i ), vector_within( c, size ) );
}

static void make_star( rig *r, choices *c, int most )
{
    int count = 1 + choose( c, most - 1 );
    add( r, "Hub", -1, v3( 0, 0.5, 0 ) );
    for ( int i = 0; i < count; ++i )
        add_numbered( r, "Ray", i, 0, v3( 0.5 * cos( i ), 0.2 * ( i % 3 ), 0.5 * sin( i ) ) );
}

static void make_heap( rig *r, choices *c, int most ) // all joints at one place
{
    int count = 1 + choose( c, most < 8 ? most : 8 );
    add( r, "Heap", -1, v3_zero );
    for ( int i = 1; i < count; ++i )
        add_numbered( r, "h", i, i - 1, v3_zero );
}

// What makes a skeleton odd: bones of no length, offsets that are off, another facing, names that say
// nothing, or with a prefix.
static void make_odd( rig *r, choices *c )
{
    if ( chance( c, 15 ) )
        for ( int j = 1; j < r->joint_count; ++j )
            if ( chance( c, 20 ) )
                r->joints[j].offset = v3_zero;
    if ( chance( c, 15 ) )
        for ( int j = 0; j < r->joint_count; ++j )
            r->joints[j].offset = v3_add( r->joints[j].offset, vector_within( c, 0.1 ) );
    if ( chance( c, 5 ) ) {
        rig_joint *joint = &r->joints[choose( c, r->joint_count )];
        joint->offset = v3_scale( pick_number( c, ( const double[] ){ 20, -1, 0.01 }, 3 ), joint->offset );
    }
    if ( chance( c, 8 ) ) {
        quat turn =
            q_axis_angle( chance( c, 50 ) ? v3_x : v3_y,
                          pick_number( c, ( const double[] ){ 1.5707963, -1.5707963, 3.1415927, 0.4 }, 4 ) );
        for ( int j = 0; j < r->joint_count; ++j )
            r->joints[j].offset = q_rotate( turn, r->joints[j].offset );
    }
    int names = choose( c, 20 );
    for ( int j = 0; j < r->joint_count; ++j ) {
        char name[48];
        memcpy( name, r->joints[j].name, sizeof name );
        if ( names == 17 )
            snprintf( r->joints[j].name, sizeof name, "j%d", j );
        else if ( names == 18 )
            snprintf( r->joints[j].name, sizeof name, "rig:%.40s", name );
        else if ( names == 19 && j % 5 == 4 ) // two of one name
            memcpy( r->joints[j].name, r->joints[j - 1].name, sizeof name );
    }
}

// -------------------------------------------------------------------------------------------------- motions

typedef struct moving { // how a rig moves
    int kind;
    double speed, size; // m/s, degrees
    vec3 start;
} moving;

static bool contains( const char *text, const char *part )
{
    return strstr( text, part ) != NULL;
}

static void move_joint( const rig *r, choices *c, const moving *m, int frame, int joint, double *angles )
{
    const char *name = r->joints[joint].name;
    double phase =
        6.28 * 1.5 * frame * r->frame_time + ( contains( name, "Right" ) ? 3.14159 : 0 ) + 0.7 * joint;
    bool leg = contains( name, "Leg" ) || contains( name, "Femur" ),
         arm = contains( name, "Arm" ) || name[0] == 'S' || name[0] == 'J';
    switch ( m->kind ) {
    case 0: angles[0] = joint == 0 ? 0 : 0.2 * m->size * ( joint % 3 - 1 ); break; // stands still
    case 1: angles[0] = ( leg ? 1 : 0.2 ) * m->size * sin( phase - 0.7 * joint ); break;
    case 2: angles[2] = arm ? 2 * m->size * sin( phase ) : 0; break; // waves
    case 3:                                                          // wild
        for ( int k = 0; k < 3; ++k )
            angles[k] = between( c, -180, 180 );
        break;
    case 4: // jitters
        for ( int k = 0; k < 3; ++k )
            angles[k] = between( c, -2, 2 );
        break;
    case 5: angles[0] = joint == 0 ? -90 : 0; break;                         // lies
    case 6: angles[1] = joint == 0 ? 720 * frame * r->frame_time : 0; break; // spins
    default:
        angles[0] = joint == 0 ? 0 : m->size * ( leg ? -1.5 : contains( name, "Foot" ) ? 1 : 0 );
        break; // squats
    }
}

static vec3 move_root( const rig *r, choices *c, const moving *m, int frame )
{
    double t = frame * r->frame_time;
    vec3 at = v3_add( m->start, r->joints[0].offset );
    switch ( m->kind ) {
    case 1: return v3_add( at, v3( 0, 0.02 * sin( 19 * t ), m->speed * t ) );
    case 3: return v3_add( at, vector_within( c, 0.5 ) );
    case 4: return v3_add( at, vector_within( c, 0.01 ) );
    case 5: return v3( at.x, 0.1, at.z );
    case 6: return v3_add( at, v3( 0, fmax( 0, 2 * t - 5 * t * t ), 0 ) );
    case 7: return v3_add( at, v3( 0, -0.2 * fabs( sin( 3 * t ) ), 0 ) );
    default: return at;
    }
}

static bool move( rig *r, choices *c, int frames )
{
    static const double rates[] = { 30, 60, 24, 120, 10, 1, 29.97 };
    r->frame_count = frames;
    r->frame_time = 1 / pick_number( c, rates, chance( c, 20 ) ? 7 : 2 );
    r->angles = tr_alloc( (size_t)frames * (size_t)r->joint_count * 3, sizeof *r->angles );
    r->root = tr_alloc( (size_t)frames, sizeof *r->root );
    if ( r->angles == NULL || r->root == NULL )
        return false;
    moving m = { .kind = choose( c, 8 ), .speed = between( c, 0, 2 ), .size = between( c, 0, 40 ) };
    if ( chance( c, 20 ) )
        m.start = vector_within( c, 3 );
    for ( int f = 0; f < frames; ++f ) {
        r->root[f] = move_root( r, c, &m, f );
        for ( int j = 0; j < r->joint_count; ++j )
            move_joint( r, c, &m, f, j, &r->angles[( (size_t)f * (size_t)r->joint_count + (size_t)j ) * 3] );
    }
    if ( chance( c, 3 ) ) // a jump in the recording
        r->root[choose( c, frames )] = vector_within( c, 50 );
    return true;
}

static void choose_format( rig *r, choices *c )
{
    static const double units[] = { 0.01, 1, 0.001, 0.0254, 0.05644, 2.5 };
    r->unit = pick_number( c, units, chance( c, 30 ) ? 6 : 1 );
    r->up = chance( c, 10 ) ? 'z' : 'y';
    r->order = chance( c, 30 ) ? choose( c, 6 ) : 0;
    r->end_sites = chance( c, 50 );
    r->stretches = chance( c, 4 );
}

bool rig_generate( rig *out, choices *c, int most_joints, int most_frames )
{
    static void ( *const makers[] )( rig *, choices *, int ) = {
        make_human, make_human, make_human, make_human, make_wolf,   make_wolf,   make_spider,
        make_tree,  make_tree,  make_snake, make_star,  make_single, make_thread, make_heap,
    };
    *out = ( rig ){ 0 };
    makers[choose( c, (int)( sizeof makers / sizeof *makers ) )]( out, c, most_joints );
    if ( out->joint_count == 0 )
        return false;
    make_odd( out, c );
    choose_format( out, c );
    return move( out, c, 1 + choose( c, most_frames ) );
}

bool rig_point( rig *out, choices *c, int frames )
{
    *out = ( rig ){ 0 };
    if ( add( out, "box", -1, v3_zero ), out->joint_count == 0 )
        return false;
    choose_format( out, c );
    return move( out, c, frames );
}

void rig_free( rig *r )
{
    tr_free( r->joints );
    tr_free( r->angles );
    tr_free( r->root );
    *r = ( rig ){ 0 };
}

// ----------------------------------------------------------------------------------------------------- BVH

static const char orders[6][4] = { "ZXY", "XYZ", "YXZ", "YZX", "ZYX", "XZY" };

static vec3 in_file( const rig *r, vec3 v ) // units and axes of the file
{
    v = v3_scale( 1 / r->unit, v );
    return r->up == 'z' ? v3( v.x, -v.z, v.y ) : v;
}

static void print_joint( const rig *r, int joint, int depth, tr_text *out )
{
    vec3 offset = in_file( r, r->joints[joint].offset );
    bool leaf = true;
    tr_text_add( out, "%s %s\n{\nOFFSET %.7g %.7g %.7g\n", depth == 0 ? "ROOT" : "JOINT",
                 r->joints[joint].name, offset.x, offset.y, offset.z );
    bool places = depth == 0 || r->stretches;
    tr_text_add( out, "CHANNELS %d%s", places ? 6 : 3, places ? " Xposition Yposition Zposition" : "" );
    for ( int k = 0; k < 3; ++k )
        tr_text_add( out, " %crotation", orders[r->order][k] );
    tr_text_add( out, "\n" );
    for ( int j = joint + 1; j < r->joint_count; ++j )
        if ( r->joints[j].parent == joint ) {
            print_joint( r, j, depth + 1, out );
            leaf = false;
        }
    if ( leaf && r->end_sites )
        tr_text_add( out, "End Site\n{\nOFFSET %.7g 0 0\n}\n", 0.05 / r->unit );
    tr_text_add( out, "}\n" );
}

static void print_values( const rig *r, int frame, int joint, tr_text *out ) // joints as in the hierarchy
{
    if ( joint == 0 || r->stretches ) {
        vec3 at = joint == 0 ? r->root[frame] : r->joints[joint].offset;
        if ( joint > 0 ) // a bone that grows and shrinks by a tenth
            at = v3_scale( 1 + 0.1 * sin( 0.5 * frame + joint ), at );
        at = in_file( r, at );
        tr_text_add( out, "%.7g %.7g %.7g ", at.x, at.y, at.z );
    }
    const double *angles = &r->angles[( (size_t)frame * (size_t)r->joint_count + (size_t)joint ) * 3];
    for ( int k = 0; k < 3; ++k )
        tr_text_add( out, "%.5g ", angles[orders[r->order][k] - 'X'] );
    for ( int j = joint + 1; j < r->joint_count; ++j )
        if ( r->joints[j].parent == joint )
            print_values( r, frame, j, out );
}

void rig_print( const rig *r, tr_text *out )
{
    tr_text_add( out, "HIERARCHY\n" );
    print_joint( r, 0, 0, out );
    tr_text_add( out, "MOTION\nFrames: %d\nFrame Time: %.7g\n", r->frame_count, r->frame_time );
    for ( int f = 0; f < r->frame_count; ++f ) {
        print_values( r, f, 0, out );
        tr_text_add( out, "\n" );
    }
}

// ------------------------------------------------------------------------------------------------- shrinking

void rig_drop_joint( rig *r, int joint )
{
    int *now = tr_alloc( (size_t)r->joint_count, sizeof *now ); // new number of each joint, -1: it goes
    if ( now == NULL || joint <= 0 ) {
        tr_free( now );
        return;
    }
    int old = r->joint_count, count = 0;
    for ( int j = 0; j < old; ++j ) {
        bool goes = j == joint || ( j > joint && now[r->joints[j].parent] < 0 );
        now[j] = goes ? -1 : count++;
    }
    for ( int f = 0; f < r->frame_count; ++f )
        for ( int j = 0; j < old; ++j )
            if ( now[j] >= 0 )
                memmove( &r->angles[( (size_t)f * (size_t)count + (size_t)now[j] ) * 3],
                         &r->angles[( (size_t)f * (size_t)old + (size_t)j ) * 3], 3 * sizeof *r->angles );
    for ( int j = 0; j < old; ++j )
        if ( now[j] >= 0 ) {
            rig_joint kept = r->joints[j];
            kept.parent = kept.parent < 0 ? -1 : now[kept.parent];
            r->joints[now[j]] = kept;
        }
    r->joint_count = count;
    tr_free( now );
}

void rig_drop_frames( rig *r, int count )
{
    if ( count >= 1 && count < r->frame_count )
        r->frame_count = count;
}
