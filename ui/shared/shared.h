// What the tools, the timeline and the panels share: what they may read, how they ask for changes, widgets,
// the selection and the camera.
#ifndef TROUPE_UI_SHARED_H
#define TROUPE_UI_SHARED_H

#include "ui/session/session.h"
#include "ui/shared/nk.h"
#include "ui/shared/paint.h"
#include "ui/shared/state.h"
#include "ui/shared/theme.h"

// --------------------------------------------------------------------------------------------------- actions

typedef enum tr_action_kind { // requests that do not change the document
    TR_ACTION_UNDO,
    TR_ACTION_REDO,
    TR_ACTION_OPEN,        // text: what
    TR_ACTION_OPEN_ANYWAY, // the same, without a question about unsaved changes
    TR_ACTION_DROP,        // text: a file dropped on the window
    TR_ACTION_CHOOSE,      // ui->choice: skeleton and take of the file that asks
    TR_ACTION_SAVE,        // text: path, "" = where it was
    TR_ACTION_EXPORT,      // text: folder
    TR_ACTION_PICTURE,
    TR_ACTION_VIDEO,
    TR_ACTION_LOAD_MAP, // text: path; of ui->map_of
    TR_ACTION_SAVE_MAP,
    TR_ACTION_BODY, // text: path, "" = that of its motion; for ui->map_of
    TR_ACTION_TRY,  // text: an op that names a file, which is tried first
    TR_ACTION_SOLVE,
    TR_ACTION_CANCEL,
    TR_ACTION_METHOD, // text: its name, "" = the one the scene asks for
    TR_ACTION_RESTORE,
    TR_ACTION_DISCARD_RECOVERY,
    TR_ACTION_QUIT,
    TR_ACTION_QUIT_ANYWAY
} tr_action_kind;

typedef struct tr_action {
    tr_action_kind kind;
    int number;
    char *text;
} tr_action;

// Filled by panels and tools during a frame, carried out after it.
typedef struct tr_ops {
    char **lines; // ops that become one step of the history
    int line_count, line_capacity;
    char **preview; // ops whose outcome is shown during a drag
    int preview_count, preview_capacity;
    tr_action *actions;
    int action_count, action_capacity;
    struct { // a dragged handle of a cage: the preview lines make it, poses follow at once
        char layer[TR_ID_MAX], handle[TR_ID_MAX]; // "" = none
        vec3 move, turn;
    } live;
    struct { // a held frame; who "" = none
        tr_live_hold what;
        vec3 place;
    } hold;
} tr_ops;

typedef void tr_put( tr_ops *ops, const char *format, ... ); // tr_ops_add or tr_ops_preview
void tr_ops_add( tr_ops *ops, const char *format, ... ) TR_PRINTF( 2 );
void tr_ops_preview( tr_ops *ops, const char *format, ... ) TR_PRINTF( 2 );
// Adds an op when a value is released, a preview while it is held.
void tr_ops_edit( tr_ops *ops, bool committed, bool held, const char *format, ... ) TR_PRINTF( 4 );
void tr_ops_live( tr_ops *ops, const char *layer, const char *handle, vec3 move, vec3 turn );
void tr_ops_hold( tr_ops *ops, const tr_live_hold *hold, vec3 place );
void tr_ops_act( tr_ops *ops, tr_action_kind kind, const char *text );
void tr_ops_clear( tr_ops *ops );
void tr_ops_free( tr_ops *ops );

// --------------------------------------------------------------------------------------------------- showing

// What panels and tools may look at. All of it is const: they change the document only through ops.
typedef struct tr_shown {
    const tr_scene *scene;       // the document
    const tr_document *document; // NULL until something is open
    const tr_stage *stage; // the stage that is shown; NULL until there is one. May be older than the document
    const tr_result *result;
    const tr_measures *measures; // NULL while not known
    const tr_strips *strips;     // likewise; all three may belong to the solve before
    bool fresh;                  // the strips belong to the last solve
    const tr_imesh_pairs *links; // likewise
    const char *held; // ops that make the held frame; NULL: none is held, or its last move is not solved yet
    const tr_method *method;
    const tr_outcome *take; // the last solve, also during a drag; NULL until there is one
    tr_session *session;    // for its names and pictures
    const tr_paint *paint;
    const char *const *recent; // NULL-terminated
    const char *found;         // what can be restored, and when it was written
    const unsigned *thumbs;    // [TR_MAX_THUMBS] pictures of the built-in scenes, 0 = not there yet
    tr_camera camera;
    bool solved;  // result is of the solver, not merely copied or dragged
    bool current; // and of the document as it is now
    bool before;  // nothing has been solved yet
    bool busy;
} tr_shown;

// --------------------------------------------------------------------------------------------------- widgets

// Points: beyond every window, and near enough for shapes of Nuklear, which have 16 bits for a coordinate.
#define TR_FAR_POINT 16000

static inline float tr_near_window( double x ) // a coordinate, clamped
{
    return (float)clampd( x, -TR_FAR_POINT, TR_FAR_POINT );
}

void tr_ui_mark( tr_ui *ui, const char *name, struct nk_rect area ); // remembers where something is
struct nk_rect tr_rect( tr_area area );
void tr_ui_say( tr_ui *ui, bool bad, const char *format, ... ) TR_PRINTF( 3 );
// A panel at its place, and a scrolled part of one: the window is cleared to their colour, so neither paints
// it again.
bool tr_ui_dock( tr_ui *ui, const char *name, tr_area area );
bool tr_ui_group( tr_ui *ui, const char *name, unsigned flags );
void tr_ui_hint( tr_ui *ui, const char *format, ... ) TR_PRINTF( 2 );
void tr_ui_scroll_to( tr_ui *ui, struct nk_rect area ); // in the scrolled part that is being drawn
void tr_ui_stop_typing( tr_ui *ui );                    // it loses it, and what was typed
bool tr_ui_close_popup( tr_ui *ui );                    // true when one was
// Text cut to a width in points, with … where something is missing.
void tr_ui_fit( char *out, size_t size, const char *text, const struct nk_user_font *font, float width );
void tr_ui_heading( tr_ui *ui, const tr_paint *paint, const char *text );
struct nk_rect tr_ui_note( tr_ui *ui, const char *text ); // dim, wrapped; where it is
void tr_ui_caption( tr_ui *ui, const char *text );        // dim, one line
void tr_ui_text_at( struct nk_command_buffer *canvas, const struct nk_user_font *font, float x, float y,
                    const char *text, struct nk_color colour );
void tr_ui_tag( const tr_ui *ui, const tr_shown *shown,
                const char *text ); // beside the pointer, in an overlay
float tr_ui_text_width( const struct nk_user_font *font, const char *text );

typedef enum tr_icon {
    TR_ICON_FIRST,
    TR_ICON_BACK,
    TR_ICON_PLAY,
    TR_ICON_PAUSE,
    TR_ICON_FORWARD,
    TR_ICON_LAST,
    TR_ICON_LOOP,
    TR_ICON_EYE,
    TR_ICON_EYE_OFF,
    TR_ICON_LOCK,
    TR_ICON_UNLOCK,
    TR_ICON_SOLO,
    TR_ICON_SELECT,
    TR_ICON_MOVE,
    TR_ICON_TURN,
    TR_ICON_SIZE,
    TR_ICON_LINK,
    TR_ICON_CONTACT,
    TR_ICON_CAGE,
    TR_ICON_FRAME,
    TR_ICON_POSE,
    TR_ICON_UNDO,
    TR_ICON_REDO,
    TR_ICON_CROSS,
    TR_ICON_PLUS,
    TR_ICON_FOLDER,
    TR_ICON_FILE,
    TR_ICON_COUNT
} tr_icon;

void tr_icon_draw( struct nk_command_buffer *canvas, tr_icon icon, struct nk_rect area,
                   struct nk_color colour );
// A tooltip beside `of`, when the pointer rests there; it stays inside the window. The second draws it, over
// all panels.
void tr_ui_tip( tr_ui *ui, struct nk_rect of, const char *text );
bool tr_ui_pointed( const tr_ui *ui, struct nk_rect area ); // the pointer is on it, and nothing covers it
void tr_panel_tip( tr_ui *ui, struct nk_context *over, const tr_paint *paint );
// A button with an icon, lit while `on`; `tip` appears under a resting pointer. `name` is its spot.
bool tr_ui_icon( tr_ui *ui, const char *name, tr_icon icon, bool on, const char *tip );
// The same with a word, and a switch with one: true when it was clicked.
bool tr_ui_button( tr_ui *ui, const char *name, const char *label );
bool tr_ui_check( tr_ui *ui, const char *name, const char *label, bool on );
// One of some words (NULL-terminated), from a list that opens. Returns its index, another one when it was
// chosen. Spots: the name for the list, name.word for its lines.
int tr_ui_choice( tr_ui *ui, const char *name, const char *label, const char *const *words, int chosen );
// The fields that follow belong to this item, so that text typed for one never goes to another.
void tr_ui_subject( tr_ui *ui, const char *id );
// A number with a slider and a field. True when the user has released it and *value is new; while it is held,
// *held is true and *value is the current one.
bool tr_ui_slider( tr_ui *ui, const char *name, const char *label, double low, double high, double step,
                   double *value, bool *held );
// A number to type or to drag sideways. Returns the same.
bool tr_ui_number( tr_ui *ui, const char *name, const char *label, double low, double high, double step,
                   double *value, bool *held );
// A line of text, or an id: lower-case letters, digits and _, which capitals and blanks become. True when it
// was changed: by Enter or a click elsewhere; Escape leaves it. `out` may be what `value` is.
bool tr_ui_text( tr_ui *ui, const char *name, const char *label, const char *value, bool is_id, char *out,
                 size_t size );
unsigned tr_ui_letter( tr_ui *ui, unsigned letter ); // as the field that is typed into has it
void tr_ui_rename( tr_ui *ui, tr_ops *ops, const char *verb, const char *id ); // the name, to be changed

// Two numbers of frames that belong together, as `verb id=… key=a,b`: to be seen while one is held, to stay
// when it is let go.
void tr_ui_frames( tr_ui *ui, tr_ops *ops, const char *verb, const char *id, const char *key,
                   const char *const labels[2], double low, const double values[2] );

// Three numbers; low > 0: none is less. True when one was changed for good, held: while it is being changed.
bool tr_ui_vec3_edit( tr_ui *ui, const char *key, double low, vec3 *value, bool *held );
// The same for a field of a scene item.
void tr_ui_vec3( tr_ui *ui, tr_ops *ops, const char *verb, const char *id, const char *key, double low,
                 vec3 value );
// Rows of `size` numbers as one line of text, with ; between them.
void tr_ui_rows( tr_ui *ui, tr_ops *ops, const char *verb, const char *id, const char *key,
                 const double *rows, int count, int size );

// ------------------------------------------------------------------------------------------------- selection

tr_item tr_item_none( void );
tr_item tr_item_make( tr_item_kind kind, const char *id, int joint );
bool tr_item_same( const tr_item *a, const tr_item *b );
bool tr_item_exists( const tr_scene *scene, const tr_item *item ); // in the document
void tr_select( tr_ui *ui, const tr_item *item, bool extend );     // NULL = nothing; extending toggles
const tr_item *tr_selected( const tr_ui *ui );                     // the last one, NULL = none
void tr_item_name( char *out, size_t size, const tr_shown *shown, const tr_item *item );
// Where it is at the shown frame; false when it is not on the stage.
bool tr_item_place( const tr_ui *ui, const tr_shown *shown, const tr_item *item, vec3 *place );
// The point a rule or a handle takes hold of, as ops write it: a joint (the root when none is chosen), or the
// middle of a prop. False: it does not fit.
bool tr_item_point( const tr_shown *shown, const tr_item *item, char *out, size_t size );
// A free id: the stem and a number. find: tr_scene_find_layer or another of these.
void tr_free_id( const tr_scene *scene, int ( *find )( const tr_scene *scene, const char *id ),
                 const char *stem, tr_id out );
// "p03,box01": the characters and props among some items as members of a layer, each once, in the scene's
// order whichever was chosen first. Everything there is, "*", where names do not fit. False: there is none,
// or they do not fit.
bool tr_members_list( const tr_scene *scene, const tr_item *items, int count, char out[TR_MEMBERS_MAX] );
#define TR_CROWD "These are too many for one layer to name: select fewer of them, or all there are"
void tr_members_brief( char *out, size_t size, const char *members ); // "p01, p02, p03 and 9 more"
int tr_item_actor( const tr_shown *shown, const tr_item *item );      // index on the stage, -1 = none
int tr_item_prop( const tr_shown *shown, const tr_item *item );
// The joint that is chosen, in the body as it is shown: another with fewer joints may have taken its place.
// The root where there is none.
int tr_item_joint( const tr_shown *shown, const tr_item *item );
bool tr_cast_visible( const tr_ui *ui, const char *id );
bool tr_cast_locked( const tr_ui *ui, const char *id );
tr_cast_look *tr_cast_look_of( tr_ui *ui, const char *id );
void tr_selection_sync( tr_ui *ui, const tr_scene *scene ); // after the document changed

// ---------------------------------------------------------------------------------------------- linked moves

bool tr_linked_move_is( const tr_layer *layer ); // made by tr_linked_move_put
// How to move characters and props that rules join to others; false: they are joined to nothing else and can
// be placed.
bool tr_linked_move_find( const tr_shown *shown, const tr_item *items, int count, tr_linked_move *out );
// Call before turning: finds the centres, unless a preview is shown. False: they cannot be turned.
bool tr_linked_move_centre( const tr_shown *shown, const tr_item *items, int count, tr_linked_move *linked );
vec3 tr_linked_move_place( const tr_linked_move *linked, vec3 place ); // where the layer puts a place so far
// Turns all of their motion about a vertical axis, in degrees, then moves it, with a cage over the whole
// clip. Hands keep what they hold.
void tr_linked_move_put( const tr_linked_move *linked, const tr_scene *scene, tr_ops *ops, tr_put *put,
                         vec3 about, double turn, vec3 by );

// --------------------------------------------------------------------------------------------------- looking

tr_camera tr_orbit_camera( const tr_orbit *orbit );
void tr_orbit_from_camera( tr_orbit *orbit, const tr_camera *camera );
void tr_orbit_turn( tr_orbit *orbit, double dx, double dy ); // points
void tr_orbit_pan( tr_orbit *orbit, double dx, double dy,
                   double height ); // points of a picture of this height
void tr_orbit_zoom( tr_orbit *orbit, double notches );
void tr_orbit_frame( tr_ui *ui, const tr_shown *shown, bool selection );
void tr_ray( const tr_ui *ui, const tr_shown *shown, double x, double y, vec3 *origin, vec3 *direction );
bool tr_project( const tr_ui *ui, const tr_shown *shown, vec3 place, double *x, double *y ); // false: behind
tr_item tr_pick( const tr_ui *ui, const tr_shown *shown, double x, double y, vec3 *hit );
// Selects everything inside the rectangle between two points.
void tr_pick_box( tr_ui *ui, const tr_shown *shown, double x0, double y0, double x1, double y1, bool extend );

// -------------------------------------------------------------------------------------------------- the cube

extern const float tr_cube_margin; // points from its middle to the corner of the viewport
void tr_cube_draw( const tr_ui *ui, struct nk_command_buffer *canvas, const struct nk_user_font *font );
bool tr_cube_click( tr_ui *ui, double x, double y ); // true when it was on the cube

// --------------------------------------------------------------------------------------------------- playing

void tr_play_toggle( tr_ui *ui );
void tr_play_advance( tr_ui *ui, double fps, double elapsed );
void tr_play_seek( tr_ui *ui, int frame );        // clamped
void tr_play_scene( tr_ui *ui, int frame_count ); // another scene, or another length

#endif
