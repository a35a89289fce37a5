// BVH files of tests/files, parsed, compared bit by bit and sent round, shared by the tests of BVH.
#ifndef TROUPE_TESTS_BVH_FIXTURE_H
#define TROUPE_TESTS_BVH_FIXTURE_H

#include "check.h"
#include "format/format.h"

#include <string.h>

static inline const char *file_path( char out[300], const char *name )
{
    snprintf( out, 300, "%s/tests/files/%s", SOURCE_DIR, name );
    return out;
}

static inline bool load_file( tr_bvh *bvh, const char *name, tr_log *log, tr_error *error )
{
    char path[300];
    return tr_bvh_load( bvh, file_path( path, name ), log, error );
}

static inline bool parse( tr_bvh *bvh, const char *text, tr_error *error )
{
    return tr_bvh_parse( bvh, text, strlen( text ), "test.bvh", NULL, error );
}

static inline void parse_ok( tr_bvh *bvh, const char *text )
{
    tr_error error;
    check_ok( parse( bvh, text, &error ), &error );
}

static inline bool same_bits( const double *a, const double *b, size_t count )
{
    return count == 0 || memcmp( a, b, count * sizeof( double ) ) == 0;
}

static inline size_t value_count( const tr_bvh *bvh )
{
    return (size_t)bvh->frame_count * (size_t)bvh->channel_count;
}

// Same joints, layout, rate and values, to the last bit.
static inline void check_same_bvh( const tr_bvh *a, const tr_bvh *b )
{
    assert_int_equal( a->skeleton.joint_count, b->skeleton.joint_count );
    assert_int_equal( a->channel_count, b->channel_count );
    assert_int_equal( a->frame_count, b->frame_count );
    assert_true( a->frame_time == b->frame_time );
    for ( int j = 0; j < a->skeleton.joint_count; ++j ) {
        const tr_joint *p = &a->skeleton.joints[j], *q = &b->skeleton.joints[j];
        assert_string_equal( p->name, q->name );
        assert_int_equal( p->parent, q->parent );
        assert_int_equal( p->end_site, q->end_site );
        assert_true( same_bits( &p->offset.x, &q->offset.x, 3 ) );
        assert_int_equal( a->layouts[j].count, b->layouts[j].count );
        assert_memory_equal( a->layouts[j].channels, b->layouts[j].channels, a->layouts[j].count );
    }
    assert_true( same_bits( a->values, b->values, value_count( a ) ) );
}

static inline void check_round_trip( const tr_bvh *bvh )
{
    tr_text text = { 0 };
    tr_bvh_print( bvh, &text );
    assert_false( text.failed );
    tr_bvh again;
    tr_error error;
    check_ok( tr_bvh_parse( &again, text.data, text.size, "again.bvh", NULL, &error ), &error );
    check_same_bvh( bvh, &again );
    tr_bvh_free( &again );
    tr_text_free( &text );
}

static inline char *read_text( const char *name, size_t *size )
{
    char path[300], *data;
    tr_error error;
    check_ok( tr_file_read( file_path( path, name ), &data, size, &error ), &error );
    return data;
}

static inline tr_bvh_import plain_import( double unit, char up )
{
    tr_bvh_import import = tr_default_bvh_import();
    import.unit = unit;
    import.up = up;
    return import;
}

static inline vec3 joint_at( const tr_motion *motion, int frame, int joint )
{
    quat rotations[64];
    vec3 positions[64];
    assert_true( motion->skeleton.joint_count <= 64 );
    tr_forward( &motion->skeleton, &motion->clip, frame, ( tr_pose ){ rotations, positions } );
    return positions[joint];
}

#endif
