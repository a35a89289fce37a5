// Plays random events, more often where they have an effect.
#include "random_events.h"

// -------------------------------------------------------------------------------------------------- choosing

static int below( player *p, int count )
{
    return (int)( random_bits( &p->seed ) % (uint64_t)( count > 0 ? count : 1 ) );
}

static double between( player *p, double low, double high )
{
    return low + ( high - low ) * (double)( random_bits( &p->seed ) >> 11 ) * 0x1p-53;
}

static bool chance( player *p, int percent )
{
    return below( p, 100 ) < percent;
}

static int modifiers( player *p )
{
    return chance( p, 75 ) ? 0 : below( p, 8 );
}

static void frame( player *p, int count )
{
    desk_send( p->d, &( step ){ .kind = STEP_FRAMES, .a = count } );
}

static void in_area( player *p, tr_area a )
{
    p->x = a.x + between( p, 0, a.width );
    p->y = a.y + between( p, 0, a.height );
}

static tr_area whole( const tr_ui *ui )
{
    return ( tr_area ){ 0, 0, (float)ui->width, (float)ui->height };
}

// A button, field or list entry of a part of the window; of a dialog while there is one.
static bool choose_spot( player *p, tr_area part )
{
    const tr_ui *ui = ui_of( p->d );
    bool asked = ui->dialog != TR_DIALOG_NONE;
    for ( int i = 0; i < 40 && ui->spot_count > 0; ++i ) {
        const tr_spot *spot = &ui->spots[below( p, ui->spot_count )];
        if ( asked && i < 30 && strncmp( spot->name, "dialog", 6 ) != 0 &&
             strncmp( spot->name, "find", 4 ) != 0 )
            continue;
        if ( !asked && i < 30 && !tr_area_has( part, spot->area.x + 1, spot->area.y + 1 ) )
            continue;
        in_area( p, spot->area );
        return true;
    }
    return false;
}

static bool choose_thing( player *p )
{
    const tr_stage *stage;
    if ( tr_app_result( p->d->app, &stage ) == NULL )
        return false;
    char name[TR_ID_MAX + TR_JOINT_MAX + 2];
    const tr_scene *scene = stage->scene;
    int i = below( p, scene->cast_count + scene->prop_count + scene->obstacle_count );
    if ( i < scene->cast_count ) {
        const tr_skeleton *s = &stage->actors[i].target;
        snprintf( name, sizeof name, "%s.%s", scene->cast[i].id, s->joints[below( p, s->joint_count )].name );
    } else if ( i < scene->cast_count + scene->prop_count ) {
        snprintf( name, sizeof name, "%s", scene->props[i - scene->cast_count].id );
    } else if ( scene->obstacle_count > 0 ) {
        snprintf( name, sizeof name, "%s", scene->obstacles[i - scene->cast_count - scene->prop_count].id );
    } else {
        return false;
    }
    return tr_app_locate( p->d->app, name, &p->x, &p->y );
}

static void choose_place( player *p )
{
    const tr_ui *ui = ui_of( p->d );
    int kind = below( p, 100 );
    if ( kind < 45 && choose_spot( p, whole( ui ) ) )
        return;
    if ( kind < 70 && choose_thing( p ) )
        return;
    if ( kind < 80 )
        in_area( p, ui->timeline );
    else if ( kind < 94 )
        in_area( p, ui->viewport );
    else // anywhere, and a little outside
        in_area( p, ( tr_area ){ -20, -20, (float)ui->width + 40, (float)ui->height + 40 } );
}

static void move( player *p )
{
    desk_send( p->d, &( step ){ .kind = STEP_MOVE, .x = p->x, .y = p->y } );
}

static void press( player *p, int button, int mods )
{
    desk_send( p->d, &( step ){ .kind = STEP_PRESS, .a = button, .b = mods, .x = p->x, .y = p->y } );
}

static void release( player *p, int button, int mods )
{
    desk_send( p->d, &( step ){ .kind = STEP_RELEASE, .a = button, .b = mods, .x = p->x, .y = p->y } );
}

static void strike( player *p, int key, int mods )
{
    desk_send( p->d, &( step ){ .kind = STEP_KEY, .a = key, .b = mods } );
    desk_send( p->d, &( step ){ .kind = STEP_KEY_UP, .a = key, .b = mods } );
}

// --------------------------------------------------------------------------------------------------- actions

static void write_letters( player *p, const char *text, size_t length )
{
    for ( size_t i = 0; i < length; ++i )
        desk_send( p->d, &( step ){ .kind = STEP_TEXT, .a = (unsigned char)text[i] } );
}

// What belongs into a field, what does not, and what is in no alphabet.
static void write_something( player *p )
{
    static const char words[] =
        "0|1|-1|0.5|1.7|12|1e9|-1e300|nan|inf|99999999999|0x10|1,2,3|0 0 1|p01|box01|Hips|"
        "LeftHand|%s%n|a=b c=\"d\"|scene.json|walk|out|ramp|x|.|..|wall1|id with spaces|30|45|"
        "-0.001|180|#ff0000|";
    static const int letters[] = { 0xE9, 0x2BB4, 0x4E2D, 0x1F600, 0x7F, 0x200B, 0xD800, 0x10FFFF, '"', '=' };
    int kind = below( p, 10 );
    if ( kind < 7 ) {
        const char *word = words + below( p, (int)sizeof words - 2 ); // the rest of one of them is another
        write_letters( p, word, strcspn( word, "|" ) );
    } else if ( kind < 9 ) {
        for ( int i = 1 + below( p, 6 ); i > 0; --i )
            desk_send( p->d,
                       &( step ){ .kind = STEP_TEXT,
                                  .a = chance( p, 50 ) ? letters[below( p, 10 )] : ' ' + below( p, 95 ) } );
    } else {
        for ( int i = chance( p, 5 ) ? 600 : 20 + below( p, 40 ); i > 0; --i )
            desk_send( p->d, &( step ){ .kind = STEP_TEXT, .a = 'a' + below( p, 26 ) } );
    }
}

static void fill_field( player *p )
{
    static const int endings[] = { TR_KEY_ENTER, TR_KEY_ENTER, TR_KEY_TAB, TR_KEY_ESCAPE, 0 };
    if ( chance( p, 70 ) )
        strike( p, 'A', TR_MOD_CTRL );
    if ( chance( p, 10 ) )
        strike( p, "XCV"[below( p, 3 )], TR_MOD_CTRL );
    write_something( p );
    if ( chance( p, 10 ) )
        strike( p, TR_KEY_BACKSPACE, 0 );
    frame( p, 2 );
    int key = endings[below( p, 5 )];
    if ( key != 0 )
        strike( p, key, 0 );
    frame( p, 1 );
}

static void click_somewhere( player *p )
{
    int button = chance( p, 85 ) ? TR_BUTTON_LEFT : below( p, TR_BUTTON_COUNT ), mods = modifiers( p );
    choose_place( p );
    move( p );
    if ( chance( p, 80 ) )
        frame( p, 1 );
    for ( int i = chance( p, 10 ) ? 2 : 1; i > 0; --i ) {
        press( p, button, mods );
        release( p, button, mods );
    }
    frame( p, 2 + below( p, 2 ) );
    if ( tr_ui_typing( ui_of( p->d ) ) && chance( p, 70 ) )
        fill_field( p );
}

static void strike_something( player *p );
static void drop_something( player *p );
static void resize_somehow( player *p );

// What comes between while a button is down.
static void meddle( player *p )
{
    switch ( below( p, 6 ) ) {
    case 0: strike( p, TR_KEY_ESCAPE, 0 ); break;
    case 1: strike_something( p ); break;
    case 2:
        desk_send( p->d, &( step ){ .kind = STEP_WHEEL, .y = between( p, -3, 3 ), .b = modifiers( p ) } );
        break;
    case 3: press( p, below( p, TR_BUTTON_COUNT ), modifiers( p ) ); break;
    case 4: resize_somehow( p ); break;
    default: drop_something( p ); break;
    }
}

static void drag_from_here( player *p, int button, int mods, double reach )
{
    move( p );
    frame( p, 1 );
    press( p, button, mods );
    frame( p, 1 );
    double from_x = p->x, from_y = p->y, to_x = from_x + between( p, -reach, reach ),
           to_y = from_y + between( p, -reach, reach );
    int steps = 1 + below( p, 6 );
    for ( int i = 1; i <= steps; ++i ) {
        p->x = lerpd( from_x, to_x, (double)i / steps );
        p->y = lerpd( from_y, to_y, (double)i / steps );
        move( p );
        if ( chance( p, 80 ) )
            frame( p, 1 );
        if ( chance( p, 3 ) )
            meddle( p );
    }
    if ( chance( p, 15 ) ) // a thread follows
        frame( p, 20 );
    if ( chance( p, 97 ) )
        release( p, button, mods );
    frame( p, 2 );
}

static void drag_something( player *p )
{
    int button = chance( p, 80 ) ? TR_BUTTON_LEFT : below( p, TR_BUTTON_COUNT );
    choose_place( p );
    drag_from_here( p, button, modifiers( p ), chance( p, 10 ) ? 2000 : 120 );
}

static void click_here( player *p, int mods )
{
    move( p );
    frame( p, 1 );
    press( p, TR_BUTTON_LEFT, mods );
    release( p, TR_BUTTON_LEFT, mods );
    frame( p, 2 + below( p, 2 ) );
}

// What people come for: a tool on a joint or a prop.
static void edit_something( player *p )
{
    strike( p, TR_KEY_ESCAPE, 0 );
    frame( p, 1 );
    if ( chance( p, 40 ) && choose_thing( p ) )
        click_here( p, chance( p, 20 ) ? TR_MOD_CTRL : 0 );
    if ( chance( p, 70 ) )
        strike( p, tr_app_tool_key( below( p, tr_app_tool_count() ) ), 0 );
    if ( chance( p, 30 ) )
        strike( p, chance( p, 50 ) ? TR_KEY_LEFT : TR_KEY_RIGHT, 0 );
    frame( p, 1 );
    bool handle = chance( p, 25 ) && choose_spot( p, ui_of( p->d )->viewport );
    if ( handle || choose_thing( p ) ) {
        double reach = chance( p, 5 ) ? 1000 : 80;
        drag_from_here( p, TR_BUTTON_LEFT, chance( p, 90 ) ? 0 : modifiers( p ), reach );
    }
    if ( chance( p, 20 ) )
        strike( p, chance( p, 50 ) ? 'P' : TR_KEY_ENTER, 0 );
    frame( p, 1 );
}

// Numbers, sliders, lists and switches of the panels.
static void use_panel( player *p )
{
    const tr_ui *ui = ui_of( p->d );
    tr_area parts[] = { ui->right, ui->right, ui->left, ui->timeline, ui->bar };
    if ( chance( p, 50 ) && choose_thing( p ) )
        click_here( p, 0 );
    if ( !choose_spot( p, parts[below( p, 5 )] ) )
        return;
    if ( chance( p, 40 ) )
        drag_from_here( p, TR_BUTTON_LEFT, 0, 60 );
    else
        click_here( p, 0 );
    if ( tr_ui_typing( ui_of( p->d ) ) ) // the editor may be another by now
        fill_field( p );
    else if ( tr_ui_popup( ui_of( p->d ) ) && choose_spot( p, whole( ui_of( p->d ) ) ) )
        click_here( p, 0 );
}

static void scrub( player *p )
{
    in_area( p, ui_of( p->d )->timeline );
    press( p, TR_BUTTON_LEFT, 0 );
    for ( int i = 1 + below( p, 8 ); i > 0; --i ) {
        p->x += between( p, -200, 200 );
        move( p );
        frame( p, 1 );
    }
    release( p, TR_BUTTON_LEFT, 0 );
    frame( p, 1 );
}

static void strike_something( player *p )
{
    int kind = below( p, 10 );
    if ( kind < 5 ) {
        unsigned mods;
        int key = tr_app_command_key( below( p, tr_app_command_count() ), &mods );
        bool quits = key == 'Q' && !chance( p, 5 );
        if ( key != 0 && !quits )
            strike( p, key, (int)mods );
    } else if ( kind < 8 ) {
        strike( p, tr_app_tool_key( below( p, tr_app_tool_count() ) ), 0 );
    } else {
        int key = below( p, TR_KEY_COUNT );
        if ( key != 'Q' )
            strike( p, key, modifiers( p ) );
    }
    frame( p, 1 );
}

static void storm( player *p )
{
    static const int most[] = { 3, 12, 60 };
    for ( int i = most[below( p, 3 )]; i > 0; --i ) {
        strike( p, chance( p, 60 ) ? 'Z' : 'Y', TR_MOD_CTRL );
        if ( chance( p, 30 ) )
            frame( p, 1 );
    }
    frame( p, 1 );
}

static void turn_wheel( player *p )
{
    choose_place( p );
    move( p );
    frame( p, 1 );
    for ( int i = 1 + below( p, 4 ); i > 0; --i )
        desk_send( p->d, &( step ){ .kind = STEP_WHEEL,
                                    .x = chance( p, 10 ) ? between( p, -2, 2 ) : 0,
                                    .y = chance( p, 5 ) ? between( p, -1e4, 1e4 ) : between( p, -3, 3 ),
                                    .b = modifiers( p ) } );
    frame( p, 1 );
}

static const char *const dropped[] = { "person.bvh",     "person.bvh",
                                       "still.bvh",      "broken.bvh",
                                       "empty.bvh",      "broken.json",
                                       "note.txt",       "nobody.json",
                                       "one_frame.json", "high_five.json",
                                       "wolf.json",      "../readonly/duet.json",
                                       "no such file",   "." };

static void drop_something( player *p )
{
    step s = { .kind = STEP_DROP };
    snprintf( s.path, sizeof s.path, "%s", dropped[below( p, (int)( sizeof dropped / sizeof *dropped ) )] );
    desk_send( p->d, &s );
    frame( p, 2 );
}

static void resize_somehow( player *p )
{
    static const int sizes[][2] = { { 1280, 800 }, { 1280, 800 }, { 900, 560 },  { 2560, 1440 },
                                    { 640, 480 },  { 300, 200 },  { 1, 1 },      { 0, 0 },
                                    { 4000, 300 }, { 400, 2000 }, { 1920, 1080 } };
    static const double scales[] = { 1, 1, 1.25, 2 };
    int i = below( p, (int)( sizeof sizes / sizeof *sizes ) );
    desk_send(
        p->d,
        &( step ){ .kind = STEP_SIZE, .a = sizes[i][0], .b = sizes[i][1], .x = scales[below( p, 4 )] } );
    frame( p, 2 );
    if ( chance( p, 60 ) )
        desk_send( p->d, &( step ){ .kind = STEP_SIZE, .a = 1280, .b = 800, .x = 1 } );
}

static void wait_for_it( player *p )
{
    if ( chance( p, 50 ) )
        desk_send( p->d, &( step ){ .kind = STEP_SETTLE } );
    else
        frame( p, 1 + below( p, 30 ) );
}

static void close_window( player *p )
{
    desk_send( p->d, &( step ){ .kind = STEP_CLOSE } );
    frame( p, 1 );
}

// By name: what random clicks reach too seldom.
static void open_panel( player *p )
{
    static const char *const names[] = {
        "tab.Cast", "tab.Scenes", "tab.Layers", "tab.Inspect", "tab.Constraints", "tab.Report", "tab.History",
        "File",     "Edit",       "View",       "Show",        "method" };
    const tr_spot *spot =
        tr_ui_spot( ui_of( p->d ), names[below( p, (int)( sizeof names / sizeof *names ) )] );
    if ( spot == NULL )
        return;
    in_area( p, spot->area );
    move( p );
    frame( p, 1 );
    press( p, TR_BUTTON_LEFT, 0 );
    release( p, TR_BUTTON_LEFT, 0 );
    frame( p, 2 );
}

static const struct {
    int weight;
    void ( *run )( player *p );
} actions[] = {
    { 150, click_somewhere },  { 100, drag_something }, { 200, edit_something }, { 200, use_panel },
    { 120, strike_something }, { 60, open_panel },      { 50, scrub },           { 40, turn_wheel },
    { 40, wait_for_it },       { 20, storm },           { 12, drop_something },  { 10, resize_somehow },
    { 10, write_something },   { 2, close_window } };

void player_act( player *p )
{
    int total = 0, i = 0;
    for ( size_t k = 0; k < sizeof actions / sizeof *actions; ++k )
        total += actions[k].weight;
    for ( total = below( p, total ); total >= actions[i].weight; ++i )
        total -= actions[i].weight;
    actions[i].run( p );
}
