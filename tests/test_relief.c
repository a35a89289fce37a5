// What presses into what in a motion: what the last pass of the interaction-mesh method goes by.
#include "duet_fixture.h"

#define DEEP 0.003 // metres

// The axis of a capsule in the world.
static void axis_of( const player *p, int part, int frame, vec3 out[2] )
{
    const tr_capsule *c = &p->target_body.capsules[part];
    tr_pose pose = tr_world_pose( &p->place, frame );
    out[0] = v3_add( pose.positions[c->parent], q_rotate( pose.rotations[c->parent], c->a ) );
    out[1] = v3_add( pose.positions[c->parent], q_rotate( pose.rotations[c->parent], c->b ) );
}

static double gap_of( const duet *d, const tr_imesh_press *p )
{
    vec3 a[2], b[2];
    double s, t;
    axis_of( &d->players[p->a], p->part_a, p->frame, a );
    axis_of( &d->players[p->b], p->part_b, p->frame, b );
    return tr_segment_distance( a[0], a[1], b[0], b[1], &s, &t ) -
           d->players[p->a].target_body.capsules[p->part_a].radius -
           d->players[p->b].target_body.capsules[p->part_b].radius;
}

// In the source nothing is deeper than in the source. One of two people steps towards the other by 20 cm:
// parts that were apart overlap by what the distance of their axes gives, and the normals point back to the
// first.
static void depths_are_those_of_capsules( void **state )
{
    (void)state;
    duet d;
    tr_imesh_presses presses;
    duet_start( &d, 1, 1, 1 );
    check_ok( tr_imesh_presses_find( &presses, &d.cast, &d.def, DEEP, &d.error ), &d.error );
    assert_int_equal( presses.count, 0 );
    tr_imesh_presses_free( &presses );
    player *p = &d.players[0];
    for ( int f = 0; f < FRAMES; ++f )
        p->placed.clip.root[f] = v3_mad( p->placed.clip.root[f], 0.2, v3_z );
    tr_world_free( &p->place );
    check_ok( tr_world_build( &p->place, &p->placed, &d.error ), &d.error );
    check_ok( tr_imesh_presses_find( &presses, &d.cast, &d.def, DEEP, &d.error ), &d.error );
    int deep = 0, compared = 0;
    for ( int i = 0; i < presses.count; ++i ) {
        const tr_imesh_press *x = &presses.items[i];
        check_near( v3_length( x->normal ), 1, 1e-9 );
        deep += x->depth > DEEP;
        if ( x->a == x->b || x->depth <= 0 || x->depth > 0.05 )
            continue; // axes that crossed are on the wrong side, and the distance does not say it
        double gap = gap_of( &d, x );
        if ( gap + x->depth > -1e-9 && gap < 0 ) { // apart in the source: all of the depth is too deep
            compared += fabs( gap + x->depth ) < 1e-6;
            assert_true( fabs( gap + x->depth ) < 1e-6 || x->depth < -gap );
        }
    }
    print_message( "%d of %d presses are deep, %d as by hand\n", deep, presses.count, compared );
    assert_true( deep > 20 && compared > 20 );
    tr_imesh_presses_free( &presses );
    duet_end( &d );
}

static void memory_may_run_out( void **state )
{
    (void)state;
    duet d;
    tr_imesh_presses presses;
    duet_start( &d, 1.2, 0.9, 1 );
    d.cast.frame_count = 3;
    bool ok = false;
    for ( long n = 1; !ok && n < 400; ++n ) {
        tr_memory_fail_from( n );
        ok = tr_imesh_presses_find( &presses, &d.cast, &d.def, DEEP, &d.error );
        tr_memory_fail_from( 0 );
        tr_imesh_presses_free( &presses );
    }
    assert_true( ok );
    duet_end( &d );
}

int main( void )
{
    const struct CMUnitTest tests[] = { TEST( depths_are_those_of_capsules ), TEST( memory_may_run_out ) };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
