// Pose graphs that are linked: to a box, to each other, and for some frames only.
#include "posegraph_fixture.h"

static void linked_bodies_and_box_meet( void **state )
{
    (void)state;
    meeting m = { 0 };
    make_meeting( &m );
    deform( &m.r );
    for ( int f = 0; f < FRAMES; ++f ) {
        for ( int row = 0; row < 4; ++row )
            check_near( error_at( &m.r, row, f ), 0, 1e-5 );
        // The box is still a box: its own place moves the reference onto the result within 1 mm.
        rigid place = tr_posegraph_box( m.box_reference + 6 * f, m.box_out + 6 * f, m.places[f] );
        vec3 again[6];
        tr_posegraph_pose_box( &m.box, place, again );
        for ( int v = 0; v < 6; ++v )
            check_v3( again[v], m.box_out[6 * f + v], 1e-3 );
        if ( f % 5 != 4 ) // and the hand lies where the box really is
            check_v3( after( &m.r, 0, LEFT_HAND, f ), rigid_apply( place, v3( -0.2, 0, 0 ) ), 1e-3 );
    }
    end_meeting( &m );
}

// A graph in the same cluster that is not linked at a frame has no influence on it, to the bit.
static void strangers_change_nothing( void **state )
{
    (void)state;
    meeting m = { 0 };
    make_meeting( &m );
    deform( &m.r );
    vec3 kept[6];
    const int frame = 7; // both hold the box, their heads are free
    memcpy( kept, m.box_out + 6 * frame, sizeof kept );
    for ( int f = 0; f < FRAMES; ++f )
        for ( int row = 0; row < 5; ++row )
            if ( f != frame )
                *goal_at( &m.r, row, f ) = tr_goal_off();
    deform( &m.r );
    assert_memory_equal( m.box_out + 6 * frame, kept, sizeof kept );
    // The first figure alone, its rows off the box: as if the others were not there.
    for ( int row = 2; row < 5; ++row )
        *goal_at( &m.r, row, frame ) = tr_goal_off();
    deform( &m.r );
    vec3 alone = after( &m.r, 0, LEFT_HAND, frame );
    set_goal( &m.r, 1, frame, v3( 5, 5, 5 ), 0 ); // the second is torn away
    deform( &m.r );
    check_v3( after( &m.r, 0, LEFT_HAND, frame ), alone, 0 );
    end_meeting( &m );
}

// Three in a row; the one in the middle holds hands with the first in one block of frames, with the last in
// the next.
static void make_row( rig *r, int people )
{
    for ( int i = 0; i < people; ++i )
        add_actor( r, make_figure( 1 + 0.1 * i ), 0.3, v3( 0.8 * i, 0, 0 ) );
    for ( int i = people - 2; i >= 0; --i ) { // the last link first: parts are not in order of their rows
        int a = tr_cluster_add_joint( &r->cluster, i, LEFT_HAND ),
            b = tr_cluster_add_joint( &r->cluster, i + 1, RIGHT_HAND );
        tr_cluster_add_row( &r->cluster, i, a, i + 1, b );
    }
    add_joint_row( r, 0, RIGHT_FOOT );
    ready( r );
    for ( int f = 0; f < FRAMES; ++f ) {
        int row = f < 8 ? people - 2 : 0; // between the first two, between the others
        if ( f < 8 || people > 2 )
            set_goal( r, row, f, v3_zero, 0 );
        set_goal( r, people - 1, f, before( r, 0, RIGHT_FOOT, f ), 0 );
    }
}

// Graphs are solved in parts, block by block: as if every part were a cluster of its own, to the bit.
static void parts_are_clusters_of_their_own( void **state )
{
    (void)state;
    rig three = { 0 }, two = { 0 };
    make_row( &three, 3 );
    make_row( &two, 2 );
    deform( &three );
    deform( &two );
    for ( int g = 0; g < 2; ++g ) {
        size_t frame = 3 * (size_t)three.actors[g].graph.joint_count * sizeof( vec3 );
        assert_memory_equal( three.out[g], two.out[g], 8 * frame );
        if ( g == 0 ) // alone from there on in both
            assert_memory_equal( three.out[g], two.out[g], FRAMES * frame );
    }
    for ( int f = 0; f < FRAMES; ++f ) {
        bool first = f < 8;
        check_v3( after( &three, first ? 0 : 1, LEFT_HAND, f ), after( &three, first ? 1 : 2, RIGHT_HAND, f ),
                  1e-4 );
        assert_true( error_at( &three, 0, f ) < 1e-4 && error_at( &three, 1, f ) < 1e-4 );
        assert_true( three.iterations[f] >= two.iterations[f] );
    }
    end_rig( &three );
    end_rig( &two );
}

static void a_free_box_stays( void **state )
{
    (void)state;
    meeting m = { 0 };
    make_meeting( &m );
    for ( int f = 0; f < FRAMES; ++f )
        for ( int row = 2; row < 5; ++row )
            *goal_at( &m.r, row, f ) = tr_goal_off();
    deform( &m.r );
    for ( int i = 0; i < 6 * FRAMES; ++i )
        check_v3( m.box_out[i], m.box_reference[i], 0 );
    end_meeting( &m );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( linked_bodies_and_box_meet ),
        TEST( strangers_change_nothing ),
        TEST( parts_are_clusters_of_their_own ),
        TEST( a_free_box_stays ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
