// The timeline of the editor: layers, moments and contacts pulled in time.
#include "desk.h"

// Pulls within an area, from one share of its width to a frame's distance from there.
static void drag_frames( desk *d, double x, double y, int by, unsigned modifiers )
{
    tr_area ruler = area_of( d, "ruler" );
    double step = ruler.width / ( ui_of( d )->frame_count - 1 );
    push( d, ( tr_event ){
                 .kind = TR_EVENT_KEY, .key = 'J', .modifiers = modifiers } ); // modifiers are down before
    drag( d, TR_BUTTON_LEFT, x, y, x + by * step, y, modifiers );
    push( d, ( tr_event ){ .kind = TR_EVENT_KEY, .key = 'J' } );
    rest( d );
}

static double frame_x( const desk *d, double frame )
{
    tr_area ruler = area_of( d, "ruler" );
    return ruler.x + ruler.width * frame / ( ui_of( d )->frame_count - 1 );
}

static const tr_layer *layer_of( const desk *d, const char *id )
{
    const tr_scene *scene = tr_app_scene( d->app );
    int i = tr_scene_find_layer( scene, id );
    assert_true( i >= 0 );
    return &scene->layers[i];
}

// A layer over frames 15 … 45 of 60, from a file.
static void begin_layer( desk *d )
{
    char path[256];
    tr_scene scene;
    *d = ( desk ){ 0 };
    make_folder( d );
    write_relay( d, 2, path );
    check_ok( tr_scene_load( &scene, path, &d->error ), &d->error );
    tr_document *document = tr_document_create( &scene, &d->error );
    const char *const ops[] = { "layer_add id=bend kind=cage members=p01 range=15,45 ease=6,6",
                                "handle_add id=grip layer=bend frame=30 point=p01.Head move=0.05,0,0" };
    for ( int i = 0; i < 2; ++i )
        check_ok( tr_document_apply( document, ops[i], &d->error ), &d->error );
    check_ok( tr_scene_save( tr_document_scene( document ), path, &d->error ), &d->error );
    tr_document_destroy( document );
    tr_scene_free( &scene );
    open_app( d, path, 0, false );
}

static void windows_of_layers_are_pulled( void **state )
{
    (void)state;
    desk d;
    begin_layer( &d );
    tr_area w = area_of( &d, "window.bend" );
    check_near( w.x, frame_x( &d, 15 ), 1 );
    double y = w.y + 0.5 * w.height;
    drag_frames( &d, frame_x( &d, 15 ), y, -5, 0 );
    assert_int_equal( layer_of( &d, "bend" )->first, 10 );
    assert_int_equal( tr_app_ops( d.app ), 1 );
    drag_frames( &d, frame_x( &d, 45 ), y, 5, 0 );
    assert_int_equal( layer_of( &d, "bend" )->last, 50 );
    drag_frames( &d, frame_x( &d, 10 - 6 ), y, 3, 0 ); // the foot of the ramp
    check_near( layer_of( &d, "bend" )->ease_in, 3, 0 );
    drag_frames( &d, frame_x( &d, 50 ), y, 4, TR_MOD_SHIFT ); // with Shift the ease from the end itself
    check_near( layer_of( &d, "bend" )->ease_out, 4, 0 );
    assert_int_equal( tr_app_ops( d.app ), 4 );
    drag_frames( &d, frame_x( &d, 13 ), y, 5, 0 ); // its middle: all of it
    assert_int_equal( layer_of( &d, "bend" )->first, 15 );
    assert_int_equal( layer_of( &d, "bend" )->last, 55 );
    assert_int_equal( tr_app_scene( d.app )->handles[0].frame, 35 );
    key( &d, 'Z', TR_MOD_CTRL ); // window and handle are one step
    rest( &d );
    assert_int_equal( tr_app_ops( d.app ), 4 );
    assert_int_equal( tr_app_scene( d.app )->handles[0].frame, 30 );
    end( &d );
}

static void show_frame( desk *d, int frame )
{
    while ( ui_of( d )->frame < frame )
        key( d, TR_KEY_RIGHT, 0 );
    while ( ui_of( d )->frame > frame )
        key( d, TR_KEY_LEFT, 0 );
}

// Outside its window and its ease a cage has nothing to take hold of.
static void a_cage_is_there_in_its_time( void **state )
{
    (void)state;
    desk d;
    begin_layer( &d );
    tr_area w = area_of( &d, "window.bend" );
    click( &d, frame_x( &d, 20 ) + 3, w.y + 0.5 * w.height, 0 );
    key( &d, 'X', 0 );
    show_frame( &d, 30 );
    area_of( &d, "corner.0" );
    show_frame( &d, 50 ); // while it eases
    area_of( &d, "corner.0" );
    show_frame( &d, 55 );
    assert_null( tr_ui_spot( ui_of( &d ), "corner.0" ) );
    end( &d );
}

static void escape_lets_a_window_go( void **state )
{
    (void)state;
    desk d;
    begin_layer( &d );
    tr_area w = area_of( &d, "window.bend" );
    double y = w.y + 0.5 * w.height;
    move_to( &d, w.x, y );
    button( &d, TR_BUTTON_LEFT, true, w.x, y, 0 );
    frames( &d, 1 );
    move_to( &d, w.x - 60, y );
    assert_int_equal( ui_of( &d )->time.grip, TR_GRIP_LAYER_FIRST );
    tr_area pulled = area_of( &d, "window.bend" ); // its bar goes along
    check_near( pulled.x, w.x - 60, 12 );
    check_near( pulled.x + pulled.width, w.x + w.width, 1 );
    key( &d, TR_KEY_ESCAPE, 0 );
    button( &d, TR_BUTTON_LEFT, false, w.x - 60, y, 0 );
    rest( &d );
    assert_int_equal( tr_app_ops( d.app ), 0 );
    assert_int_equal( layer_of( &d, "bend" )->first, 15 );
    end( &d );
}

// A section of the cage is pulled to another time: a retiming comes about, and what the cage holds goes
// along.
static void moments_are_pulled_in_time( void **state )
{
    (void)state;
    desk d;
    begin_layer( &d );
    tr_area w = area_of( &d, "window.bend" );
    double y = w.y + 0.5 * w.height;
    drag_frames( &d, frame_x( &d, 30 ), y, 6, 0 ); // where the handle is there is a section
    const tr_scene *scene = tr_app_scene( d.app );
    assert_int_equal( layer_of( &d, "time1" )->kind, TR_LAYER_RETIME );
    assert_true( tr_ui_selected( ui_of( &d ), TR_ITEM_LAYER, "time1" ) );
    assert_int_equal( scene->section_count, 1 );
    assert_int_equal( scene->sections[0].frame, 30 );
    check_near( scene->sections[0].delay, 6, 0 );
    const tr_stage *stage;
    tr_app_result( d.app, &stage );
    assert_int_equal( stage->scene->handles[0].frame, 36 );
    w = area_of( &d, "window.bend" );
    y = w.y + 0.5 * w.height;
    drag_frames( &d, frame_x( &d, 36 ), y, -2, 0 ); // again: the same moment
    scene = tr_app_scene( d.app );
    assert_int_equal( scene->section_count, 1 );
    check_near( scene->sections[0].delay, 4, 0 );
    w = area_of( &d, "window.time1" );
    drag_frames( &d, frame_x( &d, 34 ), w.y + 0.5 * w.height, -4, 0 ); // back where it was: no key any more
    assert_int_equal( tr_app_scene( d.app )->section_count, 0 );
    end( &d );
}

static void anybody_can_be_late( void **state )
{
    (void)state;
    desk d;
    begin_layer( &d );
    press( &d, "item.p02" );
    tr_area lane = area_of( &d, "lane.p02.left_arm" ); // the row's own line is above its lanes
    drag_frames( &d, frame_x( &d, 30 ), lane.y - 10, 5, TR_MOD_CTRL );
    const tr_scene *scene = tr_app_scene( d.app );
    assert_string_equal( layer_of( &d, "time1" )->members, "p02" );
    check_near( scene->sections[0].delay, 5, 0 );
    end( &d );
}

// -------------------------------------------------------------------------------------------------- contacts

static int labels( const desk *d, int actor, int limb, int first, int last )
{
    const tr_stage *stage;
    int frames = 0;
    tr_app_result( d->app, &stage );
    const tr_actor *a = &stage->actors[actor];
    for ( int f = first; f <= last; ++f )
        for ( int i = 0; i < a->contacts.count; ++i ) {
            const tr_contact *c = &a->contacts.items[i];
            if ( a->source.skeleton.joints[c->joint].limb == limb && f >= c->first && f <= c->last ) {
                ++frames;
                break;
            }
        }
    return frames;
}

static int limb_of( const desk *d, const char *name )
{
    const tr_stage *stage;
    tr_app_result( d->app, &stage );
    return tr_skeleton_find_limb( &stage->actors[0].source.skeleton, name );
}

static void contacts_are_painted( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    press( &d, "item.p01" );
    key( &d, 'C', 0 );
    int limb = limb_of( &d, "left_leg" );
    tr_area lane = area_of( &d, "lane.p01.left_leg" );
    double y = lane.y + 0.5 * lane.height;
    int touching = -1, free = -1; // frames of the source: one in a stance, one in a swing
    for ( int f = 8; f < 50; ++f ) {
        if ( labels( &d, 0, limb, f - 4, f + 4 ) == 9 )
            touching = f;
        if ( labels( &d, 0, limb, f - 2, f + 2 ) == 0 )
            free = f;
    }
    assert_true( touching >= 0 && free >= 0 );
    int before = labels( &d, 0, limb, 0, 60 );
    drag_frames( &d, frame_x( &d, touching - 2 ), y, 4, 0 ); // taken away
    assert_int_equal( tr_app_ops( d.app ), 1 );
    assert_int_equal( labels( &d, 0, limb, touching - 2, touching + 2 ), 0 );
    assert_int_equal( labels( &d, 0, limb, 0, 60 ), before - 5 );
    drag_frames( &d, frame_x( &d, touching - 2 ), y, 4, 0 ); // and given back
    assert_int_equal( tr_scene_find_constraint( tr_app_scene( d.app ), "lift1" ), -1 );
    for ( int i = 0; i < 2; ++i )
        key( &d, 'Z', TR_MOD_CTRL );
    rest( &d );
    assert_int_equal( labels( &d, 0, limb, 0, 60 ), before );
    drag_frames( &d, frame_x( &d, free - 1 ), y, 2, 0 ); // a foot that swings is put down
    const tr_constraint *contact = constraint_of( &d, "contact1" );
    assert_string_equal( contact->surface, "ground" );
    assert_true( contact->first <= free - 1 && contact->last >= free + 1 );
    drag_frames( &d, frame_x( &d, free - 1 ), y, 2, 0 ); // and lifted again
    const tr_scene *scene = tr_app_scene( d.app );
    for ( int i = 0; i < scene->constraint_count; ++i ) {
        const tr_constraint *c = &scene->constraints[i];
        bool over = c->kind == TR_CONSTRAINT_CONTACT && strcmp( c->a.who, "p01" ) == 0 && c->hard &&
                    c->first <= free && c->last >= free;
        assert_false( over );
    }
    end( &d );
}

static void the_range_that_plays_is_pulled( void **state )
{
    (void)state;
    desk d;
    begin_relay( &d, 2 );
    tr_area ruler = area_of( &d, "ruler" );
    drag_frames( &d, ruler.x, ruler.y + 3, 10, 0 );
    assert_int_equal( ui_of( &d )->loop_first, 10 );
    drag_frames( &d, ruler.x + ruler.width, ruler.y + 3, -20, 0 );
    assert_int_equal( ui_of( &d )->loop_last, 40 );
    drag_frames( &d, frame_x( &d, 25 ), ruler.y + 3, 7, 0 ); // both
    assert_int_equal( ui_of( &d )->loop_first, 17 );
    assert_int_equal( ui_of( &d )->loop_last, 47 );
    assert_int_equal( tr_app_ops( d.app ), 0 );
    end( &d );
}

// Eight frames at the end of a long clip fill the timeline, so that its first frame is 50,000 points away;
// the pointer goes even farther. Shapes have 16 bits for each coordinate.
static void what_is_far_outside_is_cut_off( void **state )
{
    (void)state;
    desk d;
    begin( &d, "box_relay", 2 );
    tr_area ruler = area_of( &d, "ruler" );
    move_to( &d, ruler.x + ruler.width - 1, ruler.y + 12 );
    for ( int i = 0; i < 40; ++i )
        push( &d, ( tr_event ){ .kind = TR_EVENT_SCROLL, .y = 1, .modifiers = TR_MOD_CTRL } );
    frames( &d, 3 );
    const tr_ui *ui = ui_of( &d );
    check_near( ui->zoom_last - ui->zoom_first, 8, 1e-9 );
    assert_true( ui->zoom_first / 8 * ruler.width > 32768 );
    double x = ui->viewport.x + 5, y = ui->viewport.y + 60;
    drag( &d, TR_BUTTON_LEFT, x, y, x + 1e7, y + 1e9, 0 ); // a box of what is to be selected
    drag( &d, TR_BUTTON_LEFT, x, y, x - 1e300, y - 1e300, 0 );
    rest( &d );
    end( &d );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( windows_of_layers_are_pulled ),
        TEST( escape_lets_a_window_go ),
        TEST( a_cage_is_there_in_its_time ),
        TEST( moments_are_pulled_in_time ),
        TEST( anybody_can_be_late ),
        TEST( contacts_are_painted ),
        TEST( the_range_that_plays_is_pulled ),
        TEST( what_is_far_outside_is_cut_off ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
