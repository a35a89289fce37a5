// The state of the editor: events, the window they come from, and everything the interface remembers, in one
// struct that tests read. Knows nothing of how it is drawn.
#ifndef TROUPE_UI_STATE_H
#define TROUPE_UI_STATE_H

#include "troupe.h"
#include "ui/render/render.h"

#define TR_UI_PATH 4096 // bytes: the longest path that Linux takes

#define TR_FAR_PIXEL 1000000 // beyond every screen

static inline int tr_pixels( double x ) // whole points or pixels
{
    return tr_int_clamped( x, -TR_FAR_PIXEL, TR_FAR_PIXEL );
}

// ---------------------------------------------------------------------------------------------- events

typedef enum tr_event_kind {
    TR_EVENT_MOTION, // pointer at x, y
    TR_EVENT_BUTTON, // button goes down or up at x, y
    TR_EVENT_SCROLL, // by x, y notches
    TR_EVENT_KEY,
    TR_EVENT_TEXT,
    TR_EVENT_DROP, // a file was dropped on the window
    TR_EVENT_CLOSE
} tr_event_kind;

enum { TR_BUTTON_LEFT, TR_BUTTON_RIGHT, TR_BUTTON_MIDDLE, TR_BUTTON_COUNT };
enum { TR_MOD_SHIFT = 1, TR_MOD_CTRL = 2, TR_MOD_ALT = 4 };
// Keys: letters as capitals and digits as their characters, others as here.
enum {
    TR_KEY_SPACE = ' ',
    TR_KEY_ESCAPE = 256,
    TR_KEY_ENTER,
    TR_KEY_TAB,
    TR_KEY_BACKSPACE,
    TR_KEY_DELETE,
    TR_KEY_LEFT,
    TR_KEY_RIGHT,
    TR_KEY_UP,
    TR_KEY_DOWN,
    TR_KEY_HOME,
    TR_KEY_END,
    TR_KEY_PAGE_UP,
    TR_KEY_PAGE_DOWN,
    TR_KEY_F1,                     // … F12 follow
    TR_KEY_PAD_0 = TR_KEY_F1 + 12, // … 9 follow
    TR_KEY_PAD_POINT = TR_KEY_PAD_0 + 10,
    TR_KEY_COUNT
};

typedef struct tr_event {
    tr_event_kind kind;
    double x, y; // points from the window's upper left corner; scroll: notches
    int button, key;
    bool down;
    unsigned modifiers; // TR_MOD_… at that moment
    unsigned text;      // Unicode
    char *path;         // dropped file, owned by the queue
    double ms;          // tr_clock_ms when it was put into the queue
} tr_event;

// ---------------------------------------------------------------------------------------------- window
// What the editor needs of a window. Lengths are points: pixels divided by the screen's scale.

typedef struct tr_event_queue {
    tr_event *items;
    int count, capacity;
} tr_event_queue;

typedef struct tr_window tr_window;
struct tr_window {
    int width, height; // points
    int pixel_width, pixel_height;
    double scale;                         // pixels per point
    double asked_scale;                   // 0 = as the screen has it
    double limited_scale;                 // factor that keeps the window from being too small
    bool has_gl;                          // an OpenGL context is current
    unsigned target;                      // framebuffer to draw into, 0 = the window's own
    double pointer_x, pointer_y;          // points, by the last motion
    tr_event_queue queue;                 // delivered and not yet taken
    double ( *now )( tr_window *window ); // seconds, monotonic
    // Lets events arrive; waits up to `seconds` when there is nothing to do.
    void ( *poll )( tr_window *window, double seconds );
    void ( *present )( tr_window *window );
    void ( *set_title )( tr_window *window, const char *title );
    void ( *copy )( tr_window *window, const char *text ); // to the clipboard
    const char *( *paste )( tr_window *window );           // from it, until the next call; NULL = nothing
    void ( *destroy )( tr_window *window );
    void *own;
};

// GLFW. Sizes are in points; scale: pixels per point, 0 = as the screen has it.
tr_window *tr_window_open( const char *title, int width, int height, double scale, tr_error *error );
// No screen: events come from tr_window_push, time from tr_window_advance. With `pictures` it draws into
// memory (tr_window_picture); else panels are laid out and nothing is drawn.
tr_window *tr_window_pretend( int width, int height, double scale, bool pictures, tr_error *error );
void tr_window_push( tr_window *window, const tr_event *event );
void tr_window_advance( tr_window *window, double seconds );
void tr_window_close( tr_window *window ); // NULL is fine
bool tr_window_picture( tr_window *window,
                        unsigned char *rgb ); // [pixel_height * pixel_width * 3], top row first

// --------------------------------------------------------------------------------------------- the state

typedef enum tr_item_kind {
    TR_ITEM_NONE,
    TR_ITEM_CAST,
    TR_ITEM_PROP,
    TR_ITEM_OBSTACLE,
    TR_ITEM_CONSTRAINT,
    TR_ITEM_LAYER
} tr_item_kind;

typedef struct tr_item { // something that can be picked
    tr_item_kind kind;
    tr_id id;
    int joint; // joint of a character's target skeleton, -1 = the whole of it
} tr_item;

typedef struct tr_orbit { // the camera
    vec3 target;
    double yaw, pitch; // degrees, as in tr_camera_view
    double distance;
    bool orthographic;
} tr_orbit;

typedef struct tr_cast_look { // how a character is shown; not part of the document
    tr_id id;
    bool hidden, locked, solo;
} tr_cast_look;

typedef struct tr_area {
    float x, y, width, height; // points
} tr_area;

bool tr_area_has( tr_area area, double x, double y );

typedef struct tr_spot { // where on the window something is: for tests and for the guide
    char name[48];
    tr_area area;
} tr_spot;

typedef enum tr_dialog {
    TR_DIALOG_NONE,
    TR_DIALOG_OPEN,
    TR_DIALOG_SAVE,
    TR_DIALOG_EXPORT_MOTION,
    TR_DIALOG_EXPORT_PICTURE,
    TR_DIALOG_EXPORT_VIDEO,
    TR_DIALOG_UNSAVED,
    TR_DIALOG_RESTORE,
    TR_DIALOG_FIND,
    TR_DIALOG_LOAD_MAP,
    TR_DIALOG_SAVE_MAP,
    TR_DIALOG_BODY,
    TR_DIALOG_CHOOSE // skeleton and take of a file
} tr_dialog;

typedef struct tr_guard { // waits for what "Save first?" is answered; any other dialog, or none, ends it
    bool quit;
    char open[TR_UI_PATH]; // what to open, "" = nothing
} tr_guard;

typedef enum tr_left_tab {
    TR_LEFT_CAST,
    TR_LEFT_SCENES,
    TR_LEFT_LAYERS,
    TR_LEFT_EXAMPLES,
    TR_LEFT_TABS
} tr_left_tab;
typedef enum tr_right_tab {
    TR_RIGHT_INSPECT,
    TR_RIGHT_CONSTRAINTS,
    TR_RIGHT_REPORT,
    TR_RIGHT_HISTORY,
    TR_RIGHT_TABS
} tr_right_tab;

typedef enum tr_grip { // what of the timeline can be held
    TR_GRIP_NONE,
    TR_GRIP_TIME,
    TR_GRIP_RANGE_FIRST, // the range that plays
    TR_GRIP_RANGE_LAST,
    TR_GRIP_RANGE,
    TR_GRIP_LAYER_FIRST, // from here on it is a change of the document
    TR_GRIP_LAYER_LAST,
    TR_GRIP_EASE_IN,
    TR_GRIP_EASE_OUT,
    TR_GRIP_LAYER,  // the whole of it
    TR_GRIP_MOMENT, // a moment of a layer's members, or of one character or prop, moved to another time
    TR_GRIP_CONTACT // a contact of a hand or foot, to be painted
} tr_grip;

typedef struct tr_time_hold {
    tr_grip grip;
    tr_id layer;             // layer that is held
    tr_id who;               // member of the moment or contact
    tr_id retiming, section; // moments: layer and key that are there already
    int frame;               // moments: of the document
    int limb;                // contacts: of the source's skeleton
    bool erase;              // pressed where there is one
    int from, now;           // stage frames
    float x;                 // x of the press, points
    bool moved;
} tr_time_hold;

typedef enum tr_part_kind { TR_PART_NONE, TR_PART_HANDLE, TR_PART_VERTEX, TR_PART_SECTION } tr_part_kind;

typedef struct tr_part { // a part of a cage that can be pulled and pinned
    tr_part_kind kind;
    tr_id layer, handle; // handle: of the document
    int frame;           // frame of the stage
    int vertex;          // -1 = none
} tr_part;

typedef struct tr_cage_hold { // what a pull means: a layer and a handle, there already or to be made
    tr_id layer, handle;
    bool new_layer, new_handle, pinned;
    bool whole;      // a section, not a point or a corner of it
    bool grown;      // its window or padding was changed
    bool crowd;      // more members than a layer can name: there is no hold
    int frame;       // frame of the document, as are the next three
    int first, last; // window of the layer
    int ease;
    double padding;
    vec3 move, turn; // of the handle before the pull
    char members[TR_MEMBERS_MAX], what[200];
} tr_cage_hold;

// Members that are moved or turned as a whole although rules join them to others: see linked_move.c.
typedef struct tr_linked_move {
    bool needed;                  // rules do so
    bool fits;                    // their names fit into a layer
    bool fresh;                   // the layer does not exist yet
    bool centred;                 // the middles are known
    char members[TR_MEMBERS_MAX]; // members of the layer
    tr_id layer, handles[2];      // held at the first and the last frame
    vec3 middles[2];              // middles of the sections there
    vec3 moves[2];                // moves of the handles, so far
    double turn;                  // the same, degrees about the vertical
} tr_linked_move;

struct nk_context;

#define TR_POSE_JOINTS 256 // most of a body that is posed

#define TR_TYPED_MAX ( TR_ROWS_MAX * 4 * 32 ) // bytes of a typed line: all keys of a trajectory fit

typedef struct tr_ui {
    struct nk_context *nk;
    double now; // seconds, of this frame
    int width, height;
    tr_area bar, left, right, timeline, status, viewport;

    // Playback. Frames are those of the stage: 0 is the scene's first.
    int frame, frame_count;
    double position; // seconds since the loop's first frame while playing
    bool playing, loop;
    int loop_first, loop_last;
    double speed;
    bool seconds; // times are shown in seconds instead of frames

    // Looking
    tr_orbit orbit;
    bool framed; // the camera has been pointed at this scene
    tr_view_def show;
    bool overlaps;       // parts of bodies that are in each other glow
    bool links;          // pairs that are close
    tr_cast_look *looks; // [look_count], as the document's cast
    int look_count, look_capacity;

    // Choosing
    tr_item *selection; // the last is the one the inspector shows
    int selection_count, selection_capacity;
    tr_item hover;  // what a click would pick
    tr_item reveal; // was chosen a moment ago: lists are to show it

    // Tools
    int tool; // row of tr_tool_table
    struct {
        bool active;     // a tool holds the pointer
        bool navigating; // the camera holds it
        int button;
        unsigned modifiers;
        double x, y, start_x, start_y; // points
        vec3 start, now;               // in the world, chosen by the tool
        int handle;                    // handle of the tool
        tr_item item;
        double ms; // time of the last event that moved it, by tr_clock_ms
        bool moved;
        tr_linked_move linked; // move, turn: of what is selected
    } drag;

    struct { // numbers of a placement, while one is changed
        bool held;
        tr_item item;
        tr_linked_move linked;
    } place;

    struct {
        int reach;   // frames to either side that a new cage takes hold of
        tr_id layer; // the one that was pulled at last
        tr_part hover, held, chosen;
        tr_cage_hold hold;
        bool turning; // a section, about the vertical
        bool growing; // the wheel changed its size a moment ago
        double grown_at;
        struct { // asked for while something was being solved: done when it is there
            bool asked;
            int frame;
            tr_part parts[2]; // what the pointer was on, what was chosen
            tr_item items[2];
        } pin;
    } cage;

    struct {         // a pose that becomes the target of a pair: see tools/pose.c
        bool active; // until Enter or Escape
        bool keep;   // Enter
        bool fresh;  // nothing was pulled yet
        tr_id cast;
        int frame;                    // frame of the stage
        int from;                     // joint of the source a line is drawn from
        vec3 root;                    // its place
        quat local[TR_POSE_JOINTS];   // rotations of the body, the root's in the world
        quat before[TR_POSE_JOINTS];  // the same when the drag began
        char line[TR_POSE_MAX + 200]; // op of the pair, "" = to be written
        tr_id chosen;                 // pair of the list
    } pose;

    struct {             // a frame that is held while a part of a body is pulled
        bool active;     // until Enter or Escape
        bool keep;       // Enter: its ops follow as soon as the last pull is solved
        tr_item item;    // a joint
        int frame;       // frame of the stage
        int ease;        // frames before and after over which it fades
        vec3 start, now; // places of the joint
    } held;

    // Values held by a slider or a field until the button is let go
    struct {
        unsigned key; // 0 = none
        double value;
        bool cancelled; // Escape was pressed; until the button is let go
    } edit;

    struct { // the field that is being typed into
        unsigned key;
        char buffer[TR_TYPED_MAX];
        int length;
        bool focus; // it gets the keyboard next
        bool is_id; // what is typed becomes small letters, digits and _
        bool ended; // ended by a press elsewhere, which comes a frame later
        tr_area area;
    } text;
    struct { // a number that is pulled sideways
        float x;
        double value;
        bool moved;
    } pull;
    struct {
        tr_id from, to;
    } renamed; // the last rename, so that the selection follows

    unsigned subject;   // item whose fields are being drawn; other items have other fields
    unsigned modifiers; // TR_MOD_… that are down
    unsigned grabbed;   // slider or number of the last press: has the pointer while the button is down

    // Panels
    int left_tab, right_tab;
    bool show_left, show_right, help;
    bool right_last; // the panel at the right was asked for last: narrow windows have room for one
    bool more;       // the menu of what the bar has no room for is open
    int more_first;  // switch of the bar it begins with
    tr_dialog dialog;
    tr_guard guard;
    bool menu_followed; // the open menu is the one the pointer came to: a click on its title leaves it open
    char field[512];    // text of the dialog
    int field_length;
    bool field_fresh;           // all of it is selected, so that typing replaces it
    int choice[2];              // TR_DIALOG_CHOOSE: skeleton (-1: all of them) and take
    char folder[TR_UI_PATH];    // the file dialog's
    char folder_of[TR_UI_PATH]; // the document's file when that was chosen
    tr_id map_of;               // character of the joint map
    char filter[64];
    int filter_length;
    bool all_losses;               // the report lists all losses, not only the worst
    float timeline_rows;           // scrolled by, points
    double zoom_first, zoom_last;  // frames the timeline shows; equal = all
    tr_time_hold time, time_hover; // what of the timeline is held, or would be

    // What is going on, for the status line
    char message[640];
    bool message_bad, message_warns; // neither: it is good news
    double message_until;
    char failure[640]; // why the document as it is cannot be solved; "" = it can
    char hint[200];    // what the mouse would do
    struct {           // about the button under the pointer; text "" = none
        char text[200];
        tr_area of;
        double since; // when the pointer came there
        bool asked;   // in this frame
    } tip;
    double frame_ms, view_ms, fps;
    int quality; // quality of the viewport, see tr_renderer_set_quality
    bool busy;
    float progress;
    char task[64];
    double solve_ms;
    double drag_ms,
        drag_p95_ms; // from a move of the mouse to poses of the visible frame: the last, and of the last drag
    int drag_moves;  // moves that were answered with poses in it
    double settle_ms; // from the last change to the whole clip solved
    unsigned settles; // changes that came so far
    bool quit;

    tr_spot *spots; // spots of this frame
    int spot_count, spot_capacity;
    unsigned long frames; // drawn so far
} tr_ui;

const tr_spot *tr_ui_spot( const tr_ui *ui, const char *name ); // NULL: not on the window now
bool tr_ui_selected( const tr_ui *ui, tr_item_kind kind, const char *id );
bool tr_ui_typing( const tr_ui *ui ); // a text field has the keyboard
bool tr_ui_popup( const tr_ui *ui );  // a menu or a list is open

// --------------------------------------------------------------------------------------------------- words

// What a step of the history that these ops made is called: "Pull p03.LeftHand at frame 45".
void tr_step_name( char *out, size_t size, const char *const *lines, int count );

typedef struct tr_loss_words { // something that gave way: "p03.LeftHand", "does not stay with box02", "1.4
                               // cm"
    char who[160], what[160], amount[24];
} tr_loss_words;

void tr_loss_name( const tr_stage *stage, const tr_loss *loss, tr_loss_words *out );

typedef struct tr_figure_words { // what people call a figure of quality
    const char *key, *field;     // as in reports
    const char *name, *unit, *help;
} tr_figure_words;

const tr_figure_words *tr_figure_name( const char *key ); // NULL: it is not shown

#endif
