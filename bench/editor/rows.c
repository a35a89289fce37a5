// The editor's rows: how long a user waits. A hand, a pelvis and a box are dragged in a circle with the cage
// tool, one move per frame of a screen with 60 Hz; the time until the editor shows the result is measured.
#include "bench/cases.h"
#include "bench/editor/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PULLS 4

typedef struct samples {
    double *ms;
    int count, capacity;
    bool failed;
} samples;

static void note( samples *s, double ms )
{
    if ( tr_array_reserve( (void **)&s->ms, &s->capacity, s->count + 1, sizeof *s->ms ) )
        s->ms[s->count++] = ms;
    else
        s->failed = true;
}

static int by_size( const void *a, const void *b )
{
    double x = *(const double *)a, y = *(const double *)b;
    return ( x > y ) - ( x < y );
}

// p50 and p95 of the samples, by nearest rank.
static bool add_row( tr_bench_report *report, const char *name, samples *s, tr_error *error )
{
    if ( s->failed || !tr_array_reserve( (void **)&report->rows, &report->capacity, report->count + 1,
                                         sizeof *report->rows ) )
        return tr_error_memory( error );
    if ( s->count == 0 )
        return tr_error_set( error, "%s: nothing moved", name );
    qsort( s->ms, (size_t)s->count, sizeof *s->ms, by_size );
    tr_bench_row *row = &report->rows[report->count++];
    *row = ( tr_bench_row ){ .name = name, .threads = tr_parallel_threads(), .runs = s->count };
    row->ms = s->ms[( s->count - 1 ) / 2];
    bench_field( row, "p50_ms", row->ms );
    bench_field( row, "p95_ms", s->ms[( 95 * s->count + 99 ) / 100 - 1] );
    bench_field( row, "max_ms", s->ms[s->count - 1] );
    return true;
}

static void more( tr_bench_report *report, const char *field, double value )
{
    bench_field( &report->rows[report->count - 1], field, value );
}

// ------------------------------------------------------------------------------------------------- dragging

typedef struct pulling {
    samples moves, settles;
    double first_ms; // longest wait for the first poses of a drag, which includes its setup
    int asked;
} pulling;

// Joints or boxes for the n-th drag; the first that can be picked is used.
#define CHOICES 24
typedef char choice[32];

static int choose( int pull, int cast, choice out[CHOICES] )
{
    static const char *const parts[PULLS] = { "LeftHand", "RightHand", "Hips", "" };
    int count = 0, boxes = ( cast + 3 ) / 4;
    for ( int i = 0; i < CHOICES; ++i ) {
        int person = ( cast * ( pull + 1 ) / ( PULLS + 1 ) + i ) % cast + 1;
        if ( parts[pull][0] != 0 )
            snprintf( out[count++], sizeof *out, "p%02d.%s", person, parts[pull] );
        else
            snprintf( out[count++], sizeof *out, "box%02d", 1 + i % boxes );
    }
    return count;
}

static bool grab( hands *h, int pull, int cast, double *x, double *y, tr_error *error )
{
    choice names[CHOICES];
    const char *list[CHOICES];
    int count = choose( pull, cast, names );
    for ( int i = 0; i < count; ++i )
        list[i] = names[i];
    if ( !hands_find( h, list, count, x, y, error ) )
        return false;
    hands_button( h, TR_BUTTON_LEFT, true, *x, *y );
    return hands_frame( h, error );
}

// A frame, and whether it brought poses.
static bool look( hands *h, pulling *p, int *answered, tr_error *error )
{
    const tr_ui *ui = tr_app_ui( h->app );
    if ( !hands_frame( h, error ) )
        return false;
    if ( ui->drag_moves == *answered )
        return true;
    if ( *answered == 0 )
        p->first_ms = fmax( p->first_ms, ui->drag_ms );
    *answered = ui->drag_moves;
    note( &p->moves, ui->drag_ms );
    return true;
}

// Once around a circle of 40 points from the place of the grab; a busy machine gets a little longer.
static bool circle( hands *h, pulling *p, double x, double y, int moves, tr_error *error )
{
    int answered = 0;
    for ( int i = 1; i <= moves; ++i ) {
        double angle = 2 * TR_PI * i / moves;
        hands_move( h, x + 40 * sin( angle ), y - 40 * ( 1 - cos( angle ) ) );
        ++p->asked;
        if ( !look( h, p, &answered, error ) )
            return false;
    }
    for ( int i = 0; i < 600 && answered == 0; ++i )
        if ( !look( h, p, &answered, error ) )
            return false;
    return true;
}

// The wait begins when the button is released and ends with the frame that shows the whole clip solved.
static bool let_go( hands *h, pulling *p, double x, double y, tr_error *error )
{
    double start = tr_clock_ms();
    hands_button( h, TR_BUTTON_LEFT, false, x, y );
    if ( !hands_settle( h, error ) )
        return false;
    note( &p->settles, tr_clock_ms() - start );
    hands_key( h, 'Z', TR_MOD_CTRL );
    return hands_settle( h, error );
}

static bool pull_all( hands *h, pulling *p, int cast, bool quick, tr_error *error )
{
    hands_key( h, 'X', 0 );
    if ( !hands_frame( h, error ) )
        return false;
    for ( int pull = 0; pull < ( quick ? 1 : PULLS ); ++pull ) {
        double x, y;
        if ( !grab( h, pull, cast, &x, &y, error ) || !circle( h, p, x, y, quick ? 20 : 60, error ) ||
             !let_go( h, p, x, y, error ) )
            return false;
    }
    return true;
}

// ------------------------------------------------------------------------------------------------------ hold

// A hand is dragged with the frame tool, at the current frame, and released without a change.
static bool hold_frame( hands *h, pulling *p, int cast, bool quick, tr_error *error )
{
    double x, y;
    hands_key( h, 'H', 0 );
    if ( !hands_frame( h, error ) || !grab( h, 0, cast, &x, &y, error ) ||
         !circle( h, p, x, y, quick ? 20 : 180, error ) )
        return false;
    hands_button( h, TR_BUTTON_LEFT, false, x, y );
    hands_key( h, TR_KEY_ESCAPE, 0 );
    return hands_frame( h, error ) && hands_frame( h, error );
}

// ------------------------------------------------------------------------------------------------------ rows

typedef struct ui_rows {                     // rows of one scene
    const char *drag, *settle, *hold, *draw; // names of rows, NULL = not this one
    int cast;
    bool imesh;
} ui_rows;

static const ui_rows table[] = {
    { .drag = "ui/drag/19", .settle = "ui/settle/19", .cast = 19 },
    { .drag = "ui/drag/78", .settle = "ui/settle/78", .cast = 78 },
    { .hold = "ui/imesh/hold/19", .settle = "ui/imesh/settle/19", .cast = 19, .imesh = true },
    { .draw = "ui/draw/19", .cast = 19 },
    { .draw = "ui/draw/100", .cast = 100 },
};
#define TABLE_SIZE ( (int)( sizeof table / sizeof table[0] ) )

static bool is_named( const char *name, const tr_bench_def *def )
{
    return name != NULL && ( def->only == NULL || strstr( name, def->only ) != NULL );
}

static bool run_drags( tr_bench_report *out, const ui_rows *rows, hands *h, const tr_bench_def *def,
                       tr_error *error )
{
    pulling p = { 0 };
    bool drag = is_named( rows->drag, def ), settle = is_named( rows->settle, def );
    bool ok = ( !drag && !settle ) || pull_all( h, &p, rows->cast, def->quick, error );
    if ( ok && drag ) {
        ok = add_row( out, rows->drag, &p.moves, error );
        if ( ok )
            more( out, "first_ms", p.first_ms );
        if ( ok )
            more( out, "moves", p.asked );
    }
    if ( ok && settle )
        ok = add_row( out, rows->settle, &p.settles, error );
    tr_free( p.moves.ms );
    tr_free( p.settles.ms );
    return ok;
}

static bool run_hold( tr_bench_report *out, const ui_rows *rows, hands *h, const tr_bench_def *def,
                      tr_error *error )
{
    pulling p = { 0 };
    if ( !is_named( rows->hold, def ) )
        return true;
    bool ok =
        hold_frame( h, &p, rows->cast, def->quick, error ) && add_row( out, rows->hold, &p.moves, error );
    if ( ok )
        more( out, "first_ms", p.first_ms );
    tr_free( p.moves.ms );
    return ok;
}

// The clip plays while the camera orbits: every frame is drawn. The first frames, in which the editor adapts
// its quality, do not count.
static bool draw_frames( hands *h, samples *s, bool quick, tr_error *error )
{
    double x = 640, y = 300;
    hands_key( h, TR_KEY_SPACE, 0 );
    hands_move( h, x, y );
    hands_button( h, TR_BUTTON_MIDDLE, true, x, y );
    for ( int i = 0; i < ( quick ? 20 : 140 ); ++i ) {
        hands_move( h, x += 2, y );
        double start = tr_clock_ms();
        if ( !hands_frame( h, error ) )
            return false;
        if ( i >= ( quick ? 10 : 20 ) )
            note( s, tr_clock_ms() - start );
    }
    return true;
}

static bool run_draw( tr_bench_report *out, const ui_rows *rows, hands *h, const tr_bench_def *def,
                      tr_error *error )
{
    samples s = { 0 };
    if ( !is_named( rows->draw, def ) )
        return true;
    bool ok = draw_frames( h, &s, def->quick, error ) && add_row( out, rows->draw, &s, error );
    double total = 0;
    for ( int i = 0; i < s.count; ++i )
        total += s.ms[i];
    if ( ok ) {
        more( out, "fps", 1e3 * s.count / total );
        more( out, "quality", tr_app_ui( h->app )->quality );
    }
    tr_free( s.ms );
    return ok;
}

static bool run_rows( tr_bench_report *out, const ui_rows *rows, const tr_bench_def *def, tr_error *error )
{
    hands h = { 0 };
    bool ok = hands_open( &h, rows->cast, rows->imesh, rows->draw != NULL, error ) &&
              run_hold( out, rows, &h, def, error ) && run_drags( out, rows, &h, def, error ) &&
              run_draw( out, rows, &h, def, error );
    hands_close( &h );
    return ok;
}

static bool is_wanted( const ui_rows *rows, const tr_bench_def *def )
{
    return is_named( rows->drag, def ) || is_named( rows->settle, def ) || is_named( rows->hold, def ) ||
           is_named( rows->draw, def );
}

// Names the rows that could not be measured; the others stay.
static void note_failure( tr_log *log, const ui_rows *rows, const tr_bench_def *def, const tr_error *reason )
{
    const char *const names[] = { rows->drag, rows->settle, rows->hold, rows->draw };
    for ( size_t i = 0; i < sizeof names / sizeof names[0]; ++i )
        if ( is_named( names[i], def ) )
            tr_log_add( log, "%s is left out: %s", names[i], reason->message );
}

bool tr_bench_run_ui( tr_bench_report *out, const tr_bench_def *def, tr_log *log, tr_error *error )
{
    tr_error no_canvas = { 0 };
    tr_window *canvas = tr_window_pretend( 64, 64, 1.0, true, &no_canvas );
    bool pictures = canvas != NULL;
    int failed = 0;
    tr_window_close( canvas );
    *out = ( tr_bench_report ){ 0 };
    for ( int i = 0; i < TABLE_SIZE; ++i ) {
        int before = out->count;
        tr_error reason = no_canvas;
        bool wanted = is_wanted( &table[i], def ), can = pictures || table[i].draw == NULL;
        if ( wanted && can )
            reason = ( tr_error ){ 0 };
        if ( wanted && ( !can || !run_rows( out, &table[i], def, &reason ) ) ) {
            out->count = before;
            failed += can;
            note_failure( log, &table[i], def, &reason );
        }
        if ( def->progress != NULL )
            def->progress( def->context, i + 1, TABLE_SIZE );
    }
    return failed == 0 || tr_error_set( error, "%d of the editor's measurements failed", failed );
}
