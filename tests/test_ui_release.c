// What is seen while something is pulled is what stays when it is let go: to 2 mm, in the visible frame, of
// every joint and box.
#include "desk.h"

typedef struct places { // places of all joints and boxes in one frame
    vec3 *items;
    int count;
} places;

static places places_of( const desk *d )
{
    const tr_stage *stage;
    const tr_result *result = tr_app_result( d->app, &stage );
    int frame = ui_of( d )->frame, count = 4 * stage->prop_count, at = 0;
    for ( int i = 0; i < stage->actor_count; ++i )
        count += stage->actors[i].target.joint_count;
    places out = { tr_alloc( (size_t)count, sizeof( vec3 ) ), count };
    assert_non_null( out.items );
    for ( int i = 0; i < stage->actor_count; ++i )
        for ( int j = 0; j < stage->actors[i].target.joint_count; ++j )
            out.items[at++] = tr_world_pose( &result->worlds[i], frame ).positions[j];
    for ( int i = 0; i < stage->prop_count; ++i )
        for ( int c = 0; c < 4; ++c ) // its middle, and half a metre from it along its axes
            out.items[at++] = rigid_apply( result->tracks[i][frame],
                                           v3( c == 1 ? 0.5 : 0, c == 2 ? 0.5 : 0, c == 3 ? 0.5 : 0 ) );
    return out;
}

static double farthest( const places *a, const places *b )
{
    double most = 0;
    assert_int_equal( a->count, b->count );
    for ( int i = 0; i < a->count; ++i )
        most = fmax( most, v3_distance( a->items[i], b->items[i] ) );
    return most;
}

// What is shown, in the place of `known`; how far it is from that.
static double look_again( const desk *d, places *known )
{
    places now = places_of( d );
    double far = farthest( &now, known );
    tr_free( known->items );
    *known = now;
    return far;
}

// Until the last move has been answered with poses. The editor counts answers to what cages and held frames
// are asked for: bodies that can follow no farther stay where they are. Other tools show solved drafts, which
// differ.
static void wait_for_poses( desk *d, const char *what, places *seen, int answered )
{
    for ( int i = 0; i < 20000; ++i ) {
        frames( d, 1 );
        if ( look_again( d, seen ) > 1e-4 || ui_of( d )->drag_moves > answered )
            return;
        usleep( 500 );
    }
    fail_msg( "%s: nothing moved", what );
}

#ifdef __SANITIZE_ADDRESS__
#define CALM_FRAMES 240 // there, poses take ten times as long
#else
#define CALM_FRAMES 60
#endif

// Until nothing has moved for so long that all is refined.
static void wait_for_rest( desk *d, places *seen )
{
    for ( int i = 0, calm = 0; i < PATIENCE && calm < CALM_FRAMES; ++i ) {
        frames( d, 1 );
        calm = look_again( d, seen ) > 0 ? 0 : calm + 1;
        usleep( 5000 );
    }
}

typedef struct pull {
    const char *scene;
    int cast, frame;
    const char *who; // is framed
    char tool;
    const char *first; // is pulled before, and let go
    const char *what;  // joint, member or spot
    double x, y;       // by so many points
    bool released;     // the drag has the result to the bit: nothing is solved again
} pull;

static void find( const desk *d, const char *name, double *x, double *y )
{
    const tr_spot *spot = tr_ui_spot( ui_of( d ), name );
    if ( spot == NULL && !tr_app_locate( d->app, name, x, y ) )
        fail_msg( "there is no %s", name );
    if ( spot != NULL ) {
        *x = spot->area.x + 0.5 * spot->area.width;
        *y = spot->area.y + 0.5 * spot->area.height;
    }
}

static void begin_pull( desk *d, const pull *p )
{
    char item[64];
    begin( d, p->scene, p->cast );
    key( d, TR_KEY_HOME, 0 );
    while ( ui_of( d )->frame < p->frame )
        key( d, TR_KEY_RIGHT, 0 );
    snprintf( item, sizeof item, "item.%s", p->who );
    press( d, item );
    key( d, 'F', 0 );
    key( d, p->tool, 0 );
    if ( p->first != NULL ) {
        drag_thing( d, p->first, 15, -10, 0 );
        rest( d );
    }
}

static void pull_and_let_go( const pull *p )
{
    desk d;
    double x, y;
    begin_pull( &d, p );
    int ops = tr_app_ops( d.app );
    find( &d, p->what, &x, &y );
    places start = places_of( &d ), seen = places_of( &d );
    move_to( &d, x, y );
    button( &d, TR_BUTTON_LEFT, true, x, y, 0 );
    frames( &d, 1 );
    move_to( &d, x + 0.9 * p->x, y + 0.9 * p->y );
    wait_for_poses( &d, p->what, &seen, INT32_MAX ); // the first one is followed by all of them
    wait_for_rest( &d, &seen );
    int answered = ui_of( &d )->drag_moves;
    move_to( &d, x + p->x, y + p->y );
    wait_for_poses( &d, p->what, &seen, answered );
    places quick = places_of( &d );
    wait_for_rest( &d, &seen );
    assert_int_equal( tr_app_ops( d.app ), ops );
    button( &d, TR_BUTTON_LEFT, false, x + p->x, y + p->y, 0 );
    frames( &d, 2 );
    if ( p->tool == 'H' ) // stays held until it is propagated
        key( &d, TR_KEY_ENTER, 0 );
    rest( &d );
    assert_true( tr_app_ops( d.app ) > ops );
    if ( p->released && !tr_app_released( d.app ) )
        fail_msg( "%s, %c %s: it was solved again", p->scene, p->tool, p->what );
    places kept = places_of( &d );
    double pulled = farthest( &start, &seen ), at_once = farthest( &quick, &kept ),
           rested = farthest( &seen, &kept );
    if ( pulled < 0.01 || at_once > 2e-3 || rested > 1e-4 )
        fail_msg( "%s, %c %s: moved by %.1f mm, then by %.2f mm at once and %.2f mm after a while", p->scene,
                  p->tool, p->what, 1e3 * pulled, 1e3 * at_once, 1e3 * rested );
    places *all[] = { &start, &seen, &quick, &kept };
    for ( int i = 0; i < 4; ++i )
        tr_free( all[i]->items );
    end( &d );
}

static void pull_all( const pull *pulls, size_t count )
{
    for ( size_t i = 0; i < count; ++i )
        pull_and_let_go( &pulls[i] );
}

static void what_a_cage_shows_stays( void **state )
{
    (void)state;
    static const pull pulls[] = {
        { "box_relay", 5, 135, "p03", 'X', NULL, "p03.LeftHand", 40, -40 },
        { "box_relay", 5, 135, "p03", 'X', NULL, "p03.Hips", 20, 0 },
        { "box_relay", 5, 135, "p03", 'X', NULL, "box03", 30, -40 },
        { "box_relay", 2, 135, "p02", 'X', "p02.Hips", "corner.2", 60, 40 },
        { "box_relay", 2, 135, "p02", 'X', "p02.Hips", "handle.grip1", 15, 10 },
        { "high_five", 0, 80, "p02", 'X', NULL, "p02.RightHand", 30, -40, true },
        { "dance_pair", 0, 80, "p01", 'X', NULL, "p01.LeftHand", 30, -30, true },
    };
    pull_all( pulls, sizeof pulls / sizeof pulls[0] );
}

// Legs are too short for it: the preview shows as much of the pull as the result.
static void who_cannot_follow_does_not_jump( void **state )
{
    (void)state;
    static const pull pulls[] = {
        { "mixed_cast", 0, 60, "p02", 'X', NULL, "p02.Head", 10, -30, true },
        { "corridor", 8, 60, "p05", 'X', NULL, "p05.Head", 10, -30, true },
        { "high_five", 0, 20, "p02", 'X', NULL, "p02.RightHand", 150, 0, true },
    };
    pull_all( pulls, sizeof pulls / sizeof pulls[0] );
}

static void what_a_held_frame_shows_is_propagated( void **state )
{
    (void)state;
    static const pull pulls[] = {
        { "high_five", 0, 80, "p02", 'H', NULL, "p02.RightHand", 20, -25 },
        { "dance_pair", 0, 80, "p01", 'H', NULL, "p01.Head", 20, -20 },
    };
    pull_all( pulls, sizeof pulls / sizeof pulls[0] );
}

static void what_other_tools_show_stays( void **state )
{
    (void)state;
    static const pull pulls[] = {
        { "high_five", 0, 80, "p02", 'W', NULL, "p02.RightHand", 30, -40 },
        { "high_five", 0, 80, "p02", 'S', NULL, "p02.Spine", 0, 40 },
        { "box_relay", 2, 135, "p02", 'S', NULL, "box02", 0, 40 },
    };
    pull_all( pulls, sizeof pulls / sizeof pulls[0] );
}

static void what_arrows_rings_and_sections_show_stays( void **state )
{
    (void)state;
    static const pull pulls[] = {
        { "high_five", 0, 80, "p02", 'W', NULL, "arrow.x", 40, 10 },
        { "high_five", 0, 80, "p01", 'W', NULL, "arrow.z", 30, 10 },
        { "high_five", 0, 80, "p02", 'E', NULL, "ring", 30, 20 },
        { "box_relay", 2, 135, "p02", 'X', "p02.Hips", "section.0", 60, 40, true },
    };
    pull_all( pulls, sizeof pulls / sizeof pulls[0] );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( what_a_cage_shows_stays ),
        TEST( who_cannot_follow_does_not_jump ),
        TEST( what_a_held_frame_shows_is_propagated ),
        TEST( what_other_tools_show_stays ),
        TEST( what_arrows_rings_and_sections_show_stays ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
