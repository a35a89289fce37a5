// An elephant of 36 bones whose true motion is a known nonlinear function of a person's pose: what an
// animator would do, everywhere. A few pairs are taken from it, the rest judges what is made of them.
#ifndef TROUPE_TESTS_EXEMPLAR_TRUTH_H
#define TROUPE_TESTS_EXEMPLAR_TRUTH_H

#include "bench/poster.h"
#include "check.h"
#include "exemplar/exemplar.h"

#include <string.h>

enum {
    BEAST_PELVIS,
    BEAST_SPINE, // three
    BEAST_NECK = BEAST_SPINE + 3,
    BEAST_HEAD,
    BEAST_TRUNK,                  // eight
    BEAST_EARS = BEAST_TRUNK + 8, // two left, two right
    BEAST_TAIL = BEAST_EARS + 4,  // two
    BEAST_LEGS = BEAST_TAIL + 2,  // upper, middle, lower, foot: front left, front right, hind left, right
    BEAST_JOINTS = BEAST_LEGS + 16
};

static inline int beast_add( tr_skeleton *beast, const char *name, int number, int parent, vec3 offset )
{
    char full[32];
    snprintf( full, sizeof full, "%s%d", name, number );
    return tr_skeleton_add( beast, full, parent, offset );
}

static inline void beast_build( tr_skeleton *beast )
{
    static const char *const legs[] = { "LeftFront", "RightFront", "LeftHind", "RightHind" };
    *beast = ( tr_skeleton ){ 0 };
    beast_add( beast, "Pelvis", 0, -1, v3( 0, 1.5, -0.8 ) );
    for ( int i = 0; i < 3; ++i )
        beast_add( beast, "Spine", i, BEAST_PELVIS + i, v3( 0, 0.05, 0.5 ) );
    beast_add( beast, "Neck", 0, BEAST_SPINE + 2, v3( 0, 0.2, 0.35 ) );
    beast_add( beast, "Head", 0, BEAST_NECK, v3( 0, 0.15, 0.3 ) );
    for ( int i = 0; i < 8; ++i )
        beast_add( beast, "Trunk", i, i > 0 ? BEAST_TRUNK + i - 1 : BEAST_HEAD,
                   i > 0 ? v3( 0, -0.2, 0.02 ) : v3( 0, -0.15, 0.3 ) );
    for ( int i = 0; i < 4; ++i ) {
        double s = i < 2 ? 1 : -1;
        beast_add( beast, s > 0 ? "LeftEar" : "RightEar", i % 2, i % 2 == 0 ? BEAST_HEAD : BEAST_EARS + i - 1,
                   i % 2 == 0 ? v3( 0.25 * s, 0.1, -0.05 ) : v3( 0.3 * s, -0.1, -0.1 ) );
    }
    beast_add( beast, "Tail", 0, BEAST_PELVIS, v3( 0, 0.1, -0.35 ) );
    beast_add( beast, "Tail", 1, BEAST_TAIL, v3( 0, -0.4, -0.05 ) );
    for ( int l = 0; l < 4; ++l ) {
        int first = BEAST_LEGS + 4 * l;
        beast_add( beast, legs[l], 0, l < 2 ? BEAST_SPINE + 2 : BEAST_PELVIS,
                   v3( l % 2 == 0 ? 0.35 : -0.35, -0.25, l < 2 ? 0.1 : 0 ) );
        beast_add( beast, legs[l], 1, first, v3( 0, -0.5, 0 ) );
        beast_add( beast, legs[l], 2, first + 1, v3( 0, -0.45, 0 ) );
        beast_add( beast, legs[l], 3, first + 2, v3( 0, -0.15, 0.05 ) );
    }
    tr_error error;
    assert_int_equal( beast->joint_count, BEAST_JOINTS );
    check_ok( tr_skeleton_classify( beast, &error ), &error );
}

typedef struct person { // joints of a capture that the truth looks at
    int thigh[2], shin[2], foot[2], arm[2], forearm[2], hand[2], head, neck, pelvis;
} person;

static inline bool person_find( person *p, const tr_skeleton *skeleton )
{
    static const tr_side sides[] = { TR_SIDE_LEFT, TR_SIDE_RIGHT };
    int found = 0;
    memset( p, 0, sizeof *p );
    for ( int s = 0; s < 2; ++s ) {
        const struct {
            tr_role role;
            int *joint;
        } wanted[] = { { TR_ROLE_THIGH, p->thigh },     { TR_ROLE_SHIN, p->shin },
                       { TR_ROLE_FOOT, p->foot },       { TR_ROLE_UPPER_ARM, p->arm },
                       { TR_ROLE_FOREARM, p->forearm }, { TR_ROLE_HAND, p->hand } };
        for ( int i = 0; i < 6; ++i )
            found += tr_skeleton_find_role( skeleton, wanted[i].role, sides[s], &wanted[i].joint[s], 1 ) > 0;
    }
    found += tr_skeleton_find_role( skeleton, TR_ROLE_HEAD, TR_SIDE_NONE, &p->head, 1 ) > 0;
    found += tr_skeleton_find_role( skeleton, TR_ROLE_NECK, TR_SIDE_NONE, &p->neck, 1 ) > 0;
    // Some files have a root on the floor below the pelvis.
    found += tr_skeleton_find_role( skeleton, TR_ROLE_ROOT, TR_SIDE_NONE, &p->pelvis, 1 ) > 0;
    return found == 15;
}

static inline quat person_facing( const person *p, tr_pose pose )
{
    vec3 left = v3_sub( pose.positions[p->thigh[0]], pose.positions[p->thigh[1]] );
    return q_axis_angle( v3_y, atan2( -left.z, left.x ) );
}

static inline vec3 person_way( const person *p, tr_pose pose, int from, int to )
{
    vec3 way = v3_unit( v3_sub( pose.positions[to], pose.positions[from] ) );
    return q_unrotate( person_facing( p, pose ), way );
}

static inline double person_bend( tr_pose pose, int a, int b, int c )
{
    vec3 u = v3_unit( v3_sub( pose.positions[b], pose.positions[a] ) ),
         v = v3_unit( v3_sub( pose.positions[c], pose.positions[b] ) );
    return acos( clampd( v3_dot( u, v ), -1, 1 ) );
}

static inline quat about_x( double angle )
{
    return q_from_vector( v3( angle, 0, 0 ) );
}
static inline quat about_y( double angle )
{
    return q_from_vector( v3( 0, angle, 0 ) );
}
static inline quat about_z( double angle )
{
    return q_from_vector( v3( 0, 0, angle ) );
}

static inline void beast_truth( const person *p, tr_pose pose, quat *local )
{
    for ( int j = 0; j < BEAST_JOINTS; ++j )
        local[j] = q_identity;
    for ( int s = 0; s < 2; ++s ) {
        vec3 t = person_way( p, pose, p->thigh[s], p->shin[s] );
        double flex = atan2( t.z, -t.y ), aside = atan2( t.x, -t.y ),
               knee = person_bend( pose, p->thigh[s], p->shin[s], p->foot[s] );
        quat *hind = local + BEAST_LEGS + 4 * ( 2 + s ), *front = local + BEAST_LEGS + 4 * ( 1 - s );
        hind[0] = q_mul( about_x( -0.7 * sin( flex ) ), about_z( 0.3 * aside ) );
        hind[1] = about_x( 0.6 * knee );
        hind[2] = about_x( -0.3 * knee );
        front[0] = about_x( -0.55 * flex );
        front[1] = about_x( -0.4 * knee * knee );
        front[2] = about_x( 0.2 * knee );
    }
    vec3 chest = person_way( p, pose, p->pelvis, p->neck );
    for ( int i = 0; i < 3; ++i )
        local[BEAST_SPINE + i] = q_mul( about_x( 0.15 * chest.z ), about_z( -0.2 * chest.x ) );
    vec3 look = q_unrotate( person_facing( p, pose ), q_rotate( pose.rotations[p->head], v3_z ) );
    local[BEAST_HEAD] = q_mul( about_y( 0.6 * atan2( look.x, look.z ) ), about_x( -0.5 * look.y ) );
    vec3 right = person_way( p, pose, p->arm[1], p->hand[1] ),
         left = person_way( p, pose, p->arm[0], p->hand[0] );
    double elbow = person_bend( pose, p->arm[1], p->forearm[1], p->hand[1] ),
           up = asin( clampd( left.y, -1, 1 ) );
    vec3 turn = q_to_vector( q_between( v3( 0, -1, 0 ), right ) );
    for ( int i = 0; i < 8; ++i )
        local[BEAST_TRUNK + i] = q_mul( q_from_vector( v3_scale( i < 3 ? 0.28 : 0.032, turn ) ),
                                        about_x( 0.16 * sin( elbow ) * ( i > 3 ? -1.3 : 0.4 ) ) );
    local[BEAST_EARS] = about_y( -0.5 * up - 0.2 );
    local[BEAST_EARS + 1] = about_y( -0.3 * up );
    local[BEAST_EARS + 2] = about_y( 0.5 * up + 0.2 );
    local[BEAST_EARS + 3] = about_y( 0.3 * up );
    local[BEAST_TAIL] = q_mul( about_x( 0.3 ), about_z( 0.5 * chest.x ) );
    local[BEAST_TAIL + 1] = about_x( 0.2 * sin( 3 * chest.x ) );
    local[BEAST_NECK] = about_x( 0.1 * left.y );
}

// ------------------------------------------------------------------------------------------------- trials

typedef struct trial {
    tr_motion motion; // motion of the person
    tr_world world;
    person who;
    tr_skeleton beast;
    int frame_count;
    quat *truth; // [frame_count * BEAST_JOINTS]
} trial;

// Takes the motion over. False: it is no person, and nothing is kept.
static inline bool trial_start( trial *t, tr_motion *motion )
{
    tr_error error;
    *t = ( trial ){ .motion = *motion };
    *motion = ( tr_motion ){ 0 };
    if ( !person_find( &t->who, &t->motion.skeleton ) ) {
        tr_motion_free( &t->motion );
        return false;
    }
    check_ok( tr_world_build( &t->world, &t->motion, &error ), &error );
    beast_build( &t->beast );
    t->frame_count = t->world.frame_count;
    t->truth = tr_alloc( (size_t)t->frame_count * BEAST_JOINTS, sizeof( quat ) );
    for ( int f = 0; f < t->frame_count; ++f )
        beast_truth( &t->who, tr_world_pose( &t->world, f ), t->truth + (size_t)f * BEAST_JOINTS );
    return true;
}

static inline void trial_end( trial *t )
{
    tr_motion_free( &t->motion );
    tr_world_free( &t->world );
    tr_skeleton_free( &t->beast );
    tr_free( t->truth );
}

#define TRIAL_PAIRS 32

typedef struct trial_pairs {
    tr_exemplar_pair pairs[TRIAL_PAIRS];
    char names[TRIAL_PAIRS][16];
    int frames[TRIAL_PAIRS];
    tr_exemplar_part part;
    tr_exemplar_job job;
} trial_pairs;

// Pairs at these frames, and the trunk as a part driven by the right arm.
static inline void trial_pair( const trial *t, const int *frames, int count, double aim, trial_pairs *out )
{
    for ( int i = 0; i < count; ++i ) {
        snprintf( out->names[i], sizeof out->names[i], "frame_%d", frames[i] );
        out->frames[i] = frames[i];
        out->pairs[i] = ( tr_exemplar_pair ){ out->names[i], tr_world_pose( &t->world, frames[i] ),
                                              t->truth + (size_t)frames[i] * BEAST_JOINTS };
    }
    out->part = ( tr_exemplar_part ){
        "trunk", { t->who.arm[1], t->who.hand[1] }, { BEAST_TRUNK, BEAST_TRUNK + 7 }, aim };
    out->job = ( tr_exemplar_job ){ &t->motion.skeleton, &t->beast, out->pairs, count, &out->part, 1 };
}

// Frames to make pairs of, with the trunk as a part.
static inline int trial_suggest( const trial *t, const tr_pose *have, int have_count, int *frames, int count )
{
    tr_exemplar_def def = tr_default_exemplar_def();
    tr_exemplar_part part = {
        "trunk", { t->who.arm[1], t->who.hand[1] }, { BEAST_TRUNK, BEAST_TRUNK + 7 }, 0 };
    tr_exemplar_suggest_job job = { &t->motion.skeleton, &t->world, have, have_count, &part, 1, &t->beast };
    tr_error error;
    int found = tr_exemplar_suggest( &def, &job, frames, count, &error );
    check_ok( found >= 0, &error );
    return found;
}

// Every count-th frame, chosen without a look at the motion.
static inline void trial_spread( const trial *t, int count, int *frames )
{
    for ( int i = 0; i < count; ++i )
        frames[i] = tr_int_clamped( ( i + 0.5 ) * t->frame_count / count, 0, t->frame_count - 1 );
}

typedef struct trial_figures {
    double at_pairs;         // degrees, worst joint
    double body, part;       // degrees, mean over frames and joints
    double direction;        // degrees, worst: of the trunk against the arm
    double jerk, spike, own; // against the truth's
} trial_figures;

static inline bool is_trunk( int joint )
{
    return joint >= BEAST_TRUNK && joint < BEAST_TRUNK + 8;
}

static inline void trial_places( const trial *t, const quat *local, vec3 *places )
{
    quat world[BEAST_JOINTS];
    for ( int f = 0; f < t->frame_count; ++f )
        for ( int j = 0; j < BEAST_JOINTS; ++j ) {
            int parent = t->beast.joints[j].parent;
            size_t at = (size_t)f * BEAST_JOINTS;
            world[j] = parent < 0 ? local[at] : q_mul( world[parent], local[at + (size_t)j] );
            places[at + (size_t)j] = parent < 0
                                         ? v3_zero
                                         : v3_add( places[at + (size_t)parent],
                                                   q_rotate( world[parent], t->beast.joints[j].offset ) );
        }
}

// Sum of third differences over all joints, and of each the largest second difference.
static inline double trial_unrest( const trial *t, const vec3 *places, double *largest )
{
    double sum = 0;
    for ( int j = 0; j < BEAST_JOINTS; ++j ) {
        largest[j] = 0;
        for ( int f = 2; f < t->frame_count; ++f ) {
            vec3 p[4];
            for ( int k = 0; k < 4 && k <= f; ++k )
                p[k] = places[(size_t)( f - k ) * BEAST_JOINTS + (size_t)j];
            largest[j] = fmax( largest[j], v3_length( v3_add( v3_sub( p[0], v3_scale( 2, p[1] ) ), p[2] ) ) );
            if ( f > 2 )
                sum += v3_length( v3_add( v3_sub( p[0], p[3] ), v3_scale( 3, v3_sub( p[2], p[1] ) ) ) );
        }
    }
    return sum;
}

static inline void trial_judge( const trial *t, const int *frames, int count, const quat *local,
                                trial_figures *out )
{
    size_t n = (size_t)t->frame_count * BEAST_JOINTS;
    *out = ( trial_figures ){ 0 };
    for ( size_t i = 0; i < n; ++i ) {
        double angle = q_angle( local[i], t->truth[i] ) / TR_DEGREE;
        bool trunk = is_trunk( (int)( i % BEAST_JOINTS ) );
        *( trunk ? &out->part : &out->body ) +=
            angle / ( t->frame_count * ( trunk ? 8.0 : BEAST_JOINTS - 8.0 ) );
        for ( int k = 0; k < count; ++k )
            if ( (size_t)frames[k] == i / BEAST_JOINTS )
                out->at_pairs = fmax( out->at_pairs, angle );
    }
    vec3 *own = tr_alloc( n, sizeof( vec3 ) ), *truth = tr_alloc( n, sizeof( vec3 ) );
    double most[BEAST_JOINTS], most_true[BEAST_JOINTS], all = 0, all_true = 0;
    trial_places( t, local, own );
    trial_places( t, t->truth, truth );
    double jerk = trial_unrest( t, own, most ), jerk_true = trial_unrest( t, truth, most_true );
    // As in docs/metrics.md, the truth's own joint counts as 1 m/s² at least.
    double least = 1.0 / ( t->motion.clip.fps * t->motion.clip.fps );
    for ( int j = 0; j < BEAST_JOINTS; ++j ) {
        out->own = fmax( out->own, most[j] / fmax( most_true[j], least ) );
        all = fmax( all, most[j] );
        all_true = fmax( all_true, most_true[j] );
    }
    out->jerk = jerk / jerk_true;
    out->spike = all / all_true;
    tr_free( own );
    tr_free( truth );
}

static inline void trial_krige( const trial *t, const int *frames, int count, double aim,
                                const tr_exemplar_def *def, trial_figures *out )
{
    trial_pairs pairs;
    tr_error error;
    trial_pair( t, frames, count, aim, &pairs );
    tr_exemplar *e = tr_exemplar_create( def, &pairs.job, &error );
    check_ok( e != NULL, &error );
    quat *local = tr_alloc( (size_t)t->frame_count * BEAST_JOINTS, sizeof( quat ) );
    check_ok( tr_exemplar_motion( e, &t->world, t->motion.clip.fps, pairs.frames, local, NULL, &error ),
              &error );
    trial_judge( t, frames, count, local, out );
    for ( int f = 0; f < t->frame_count; ++f )
        out->direction = fmax( out->direction, tr_exemplar_part_error( e, 0, tr_world_pose( &t->world, f ),
                                                                       local + (size_t)f * BEAST_JOINTS ) /
                                                   TR_DEGREE );
    tr_free( local );
    tr_exemplar_destroy( e );
}

// Damping of 0.1 and 1: of 0.01, 0.03, 0.1, 0.3 and 1 the best for the poster in the mean of the captures of
// test_exemplar_captures.c.
static inline void trial_poster( const trial *t, const int *frames, int count, trial_figures *out )
{
    trial_pairs pairs;
    tr_error error;
    size_t joints = (size_t)t->motion.skeleton.joint_count;
    trial_pair( t, frames, count, 0, &pairs );
    quat *locals = tr_alloc( (size_t)count * joints, sizeof( quat ) );
    for ( int i = 0; i < count; ++i )
        memcpy( locals + (size_t)i * joints, tr_clip_frame( &t->motion.clip, frames[i] ),
                joints * sizeof( quat ) );
    tr_poster *p = tr_poster_create( &pairs.job, locals, 0.1, 1.0, &error );
    check_ok( p != NULL, &error );
    quat *local = tr_alloc( (size_t)t->frame_count * BEAST_JOINTS, sizeof( quat ) );
    for ( int f = 0; f < t->frame_count; ++f ) {
        tr_pose pose = tr_world_pose( &t->world, f );
        tr_poster_pose( p, tr_clip_frame( &t->motion.clip, f ), pose, person_facing( &t->who, pose ),
                        local + (size_t)f * BEAST_JOINTS );
    }
    trial_judge( t, frames, count, local, out );
    tr_free( local );
    tr_free( locals );
    tr_poster_destroy( p );
}

#endif
