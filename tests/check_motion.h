// Small skeletons and clips that several tests of motion share.
#ifndef TROUPE_TESTS_CHECK_MOTION_H
#define TROUPE_TESTS_CHECK_MOTION_H

#include "check.h"
#include "fit/fit.h"

typedef struct posed { // a skeleton with one pose to play with
    tr_skeleton skeleton;
    quat *local;
    tr_pose pose;
} posed;

static inline void posed_start( posed *p ) // after the last tr_skeleton_add; every rotation at rest
{
    size_t n = (size_t)p->skeleton.joint_count;
    p->local = tr_alloc( n, sizeof( quat ) );
    p->pose = ( tr_pose ){ tr_alloc( n, sizeof( quat ) ), tr_alloc( n, sizeof( vec3 ) ) };
    for ( size_t j = 0; j < n; ++j )
        p->local[j] = p->skeleton.joints[j].rest;
    tr_forward_rest( &p->skeleton, p->pose );
}

static inline void posed_end( posed *p )
{
    tr_free( p->local );
    tr_free( p->pose.rotations );
    tr_free( p->pose.positions );
    tr_skeleton_free( &p->skeleton );
}

// World pose, made anew from the local rotations, is the one the solvers left behind.
static inline void check_pose_is_consistent( const posed *p )
{
    posed again = { 0 };
    tr_error error;
    check_ok( tr_skeleton_copy( &again.skeleton, &p->skeleton, &error ), &error );
    posed_start( &again );
    again.pose.positions[0] = p->pose.positions[0];
    tr_pose_refresh( &again.skeleton, p->local, again.pose, 0 );
    for ( int j = 0; j < p->skeleton.joint_count; ++j ) {
        check_v3( p->pose.positions[j], again.pose.positions[j], 1e-12 );
        check_rotation( p->pose.rotations[j], again.pose.rotations[j], 1e-7 );
        check_near( q_dot( p->local[j], p->local[j] ), 1, 1e-12 );
    }
    posed_end( &again );
}

#endif
