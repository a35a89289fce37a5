#include "trial.h"

#include <ftw.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY_THREADS 3
#define FILE_STEP    2e-11 // metres: numbers of a result's files have nine decimals, in centimetres

typedef struct trial {
    trial_outcome *out;
    const trial_def *def;
    const char *folder;
    char path[256]; // path of the scene
    tr_error error;
} trial;

// A scene on stage; twice in a trial, once for each number of threads.
typedef struct staged {
    tr_library library;
    tr_stage stage;
} staged;

TR_PRINTF( 3 )
static bool fail( trial *t, const char *kind, const char *format, ... )
{
    if ( t->out->failure[0] != 0 )
        return false; // the first one counts
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( t->out->message, sizeof t->out->message, format, arguments );
    va_end( arguments );
    snprintf( t->out->failure, sizeof t->out->failure, "%s", kind );
    return false;
}

static bool fail_error( trial *t, const char *kind, const char *what )
{
    char text[500];
    tr_error_print( &t->error, text, sizeof text );
    return fail( t, kind, "%s: %s", what, text );
}

// --------------------------------------------------------------------------------------------------- results

// Bones are those of the target, and as long in every frame: 1e-9 of the bone, and the rounding of places,
// off at most. `step`: how far files round.
static bool check_bones( trial *t, const tr_skeleton *target, const tr_motion *motion, const tr_world *world,
                         double step, const char *what )
{
    const tr_skeleton *own = &motion->skeleton;
    if ( own->joint_count != target->joint_count || world->joint_count != target->joint_count )
        return fail( t, "bones", "%s: %d joints instead of %d", what, own->joint_count, target->joint_count );
    for ( int j = 0; j < target->joint_count; ++j ) {
        double off = v3_distance( own->joints[j].offset, target->joints[j].offset );
        if ( own->joints[j].parent != target->joints[j].parent || off > step )
            return fail( t, "bones", "%s: the bone of %s is off by %g m", what, target->joints[j].name, off );
    }
    for ( int f = 0; motion->clip.translations == NULL && f < world->frame_count; ++f ) {
        tr_pose pose = tr_world_pose( world, f );
        for ( int j = 1; j < own->joint_count; ++j ) {
            int parent = own->joints[j].parent;
            double length = tr_bone_length( own, j ),
                   now = v3_distance( pose.positions[j], pose.positions[parent] );
            if ( fabs( now - length ) > 1e-9 * length + 1e-14 * v3_length( pose.positions[parent] ) )
                return fail( t, "bones", "%s: the bone of %s is %.12g m long at frame %d, not %.12g", what,
                             own->joints[j].name, now, f, length );
        }
    }
    return true;
}

static bool check_motion( trial *t, const tr_skeleton *target, const tr_motion *motion, const tr_world *world,
                          double step, const char *what )
{
    if ( !tr_motion_check( motion, &t->error ) )
        return fail_error( t, "nan", what );
    for ( int f = 0; f < world->frame_count; ++f ) {
        tr_pose pose = tr_world_pose( world, f );
        for ( int j = 0; j < world->joint_count; ++j )
            if ( !v3_finite( pose.positions[j] ) || !q_finite( pose.rotations[j] ) )
                return fail( t, "nan", "%s: joint %d has no place at frame %d", what, j, f );
    }
    return check_bones( t, target, motion, world, step, what );
}

static bool check_track( trial *t, const rigid *track, int frames, const char *what )
{
    for ( int f = 0; f < frames; ++f )
        if ( !v3_finite( track[f].position ) || !q_finite( track[f].rotation ) ||
             fabs( q_dot( track[f].rotation, track[f].rotation ) - 1 ) > 1e-6 )
            return fail( t, "nan", "%s: a prop has no place at frame %d", what, f );
    return true;
}

static bool check_reports( trial *t, const tr_result *result, const char *what )
{
    bool ok = isfinite( result->leak_mm );
    for ( int r = 0; ok && r < result->rule_count; ++r ) {
        const tr_rule_report *report = &result->reports[r];
        ok = isfinite( report->max_mm ) && isfinite( report->p95_mm ) && isfinite( report->mean_mm );
    }
    for ( int h = 0; ok && h < result->handle_count; ++h )
        ok = isfinite( result->handles[h].error_mm ) && v3_finite( result->handles[h].place );
    return ok || fail( t, "nan", "%s: a report has no number", what );
}

// What the offsets of a source are multiplied by, at most.
static double largest_factor( const tr_target *target )
{
    double most = 1;
    for ( int i = 0; i < target->limb_count; ++i )
        most = fmax( most, target->limbs[i].value );
    return 2 * fmax( 1, most * target->scale ); // twice the error of the source's file, for the result's own
}

static bool check_result( trial *t, const tr_stage *stage, const tr_result *result, double step,
                          const char *what )
{
    if ( result->actor_count != stage->actor_count || result->prop_count != stage->prop_count ||
         result->frame_count != stage->frame_count )
        return fail( t, "shape", "%s: bodies or frames are missing", what );
    bool ok = true;
    for ( int i = 0; ok && i < result->actor_count; ++i )
        ok = check_motion( t, &stage->actors[i].target, &result->motions[i], &result->worlds[i],
                           step * largest_factor( &stage->scene->cast[i].target ), what );
    for ( int p = 0; ok && p < result->prop_count; ++p )
        ok = check_track( t, result->tracks[p], result->frame_count, what );
    return ok && check_reports( t, result, what );
}

static bool same_bytes( const void *a, const void *b, size_t count, size_t size )
{
    return count == 0 || memcmp( a, b, count * size ) == 0;
}

// Where two motions differ first.
static bool check_same_motion( trial *t, const char *kind, const tr_motion *a, const tr_motion *b,
                               const char *what )
{
    int joints = a->clip.joint_count;
    if ( a->clip.frame_count != b->clip.frame_count || joints != b->clip.joint_count )
        return fail( t, kind, "%s: a motion has another size", what );
    for ( int f = 0; f < a->clip.frame_count; ++f ) {
        const quat *p = tr_clip_frame( &a->clip, f ), *q = tr_clip_frame( &b->clip, f );
        if ( !same_bytes( &a->clip.root[f], &b->clip.root[f], 1, sizeof( vec3 ) ) )
            return fail( t, kind, "%s: the root has other bits at frame %d, %g m off", what, f,
                         v3_distance( a->clip.root[f], b->clip.root[f] ) );
        for ( int j = 0; j < joints; ++j )
            if ( !same_bytes( &p[j], &q[j], 1, sizeof( quat ) ) )
                return fail( t, kind, "%s: %s has other bits at frame %d, %g radians off", what,
                             a->skeleton.joints[j].name, f, q_angle( p[j], q[j] ) );
    }
    return true;
}

static bool same_world( const tr_world *a, const tr_world *b )
{
    size_t count = (size_t)a->frame_count * (size_t)a->joint_count;
    return same_bytes( a->positions, b->positions, count, sizeof( vec3 ) ) &&
           same_bytes( a->rotations, b->rotations, count, sizeof( quat ) );
}

static bool same_reports( const tr_result *a, const tr_result *b )
{
    bool same =
        a->rule_count == b->rule_count && a->handle_count == b->handle_count && a->leak_mm == b->leak_mm;
    for ( int r = 0; same && r < a->rule_count; ++r ) {
        const tr_rule_report *p = &a->reports[r], *q = &b->reports[r];
        same = p->max_mm == q->max_mm && p->p95_mm == q->p95_mm && p->mean_mm == q->mean_mm &&
               p->gave_way == q->gave_way && p->worst_frame == q->worst_frame;
    }
    for ( int h = 0; same && h < a->handle_count; ++h )
        same = a->handles[h].error_mm == b->handles[h].error_mm &&
               a->handles[h].acted == b->handles[h].acted &&
               v3_distance( a->handles[h].place, b->handles[h].place ) == 0;
    return same;
}

// Motions, worlds and tracks.
static bool check_same_poses( trial *t, const char *kind, const tr_result *a, const tr_result *b,
                              const char *what )
{
    bool same = a->actor_count == b->actor_count && a->prop_count == b->prop_count &&
                a->frame_count == b->frame_count;
    for ( int i = 0; same && i < a->actor_count; ++i )
        if ( !check_same_motion( t, kind, &a->motions[i], &b->motions[i], what ) )
            return false;
        else if ( !same_world( &a->worlds[i], &b->worlds[i] ) )
            return fail( t, kind, "%s: the joints of cast[%d] have other bits", what, i );
    for ( int p = 0; same && p < a->prop_count; ++p )
        if ( !same_bytes( a->tracks[p], b->tracks[p], (size_t)a->frame_count, sizeof( rigid ) ) )
            return fail( t, kind, "%s: the track of props[%d] has other bits", what, p );
    return same || fail( t, kind, "%s: a result has another size", what );
}

static bool check_same( trial *t, const char *kind, const tr_result *a, const tr_result *b, const char *what )
{
    return check_same_poses( t, kind, a, b, what ) &&
           ( same_reports( a, b ) || fail( t, kind, "%s: reports have other numbers", what ) );
}

// --------------------------------------------------------------------------------------------------- figures

// Report and figures as text: it can be read back, and is finite.
static bool print_figures( trial *t, const tr_stage *stage, const tr_result *result, const char *method,
                           tr_text *out )
{
    tr_measures measures = { 0 };
    tr_strips strips = { 0 };
    tr_losses losses = { 0 };
    if ( !tr_report_print( stage, result, method, out ) )
        return fail( t, "report", "%s: the report cannot be printed", method );
    json_t *json = NULL;
    if ( !tr_json_parse( &json, out->data, out->size, "report", &t->error ) )
        return fail_error( t, "report", method );
    json_decref( json );
    bool ok =
        ( tr_measure( &measures, stage, result, &t->error ) || fail_error( t, "measure", method ) ) &&
        ( tr_strips_measure( &strips, stage, result, &t->error ) || fail_error( t, "measure", method ) ) &&
        ( tr_losses_find( &losses, stage, result, &t->error ) || fail_error( t, "measure", method ) );
    for ( int m = 0; ok && m < measures.count; ++m )
        for ( int f = 0; f < measures.metrics[m].field_count; ++f ) {
            const tr_metric_field *field = &measures.metrics[m].fields[f];
            if ( !isfinite( field->out ) || !isfinite( field->source ) )
                ok = fail( t, "nan", "%s: %s has no number", method, measures.metrics[m].key );
        }
    for ( int s = 0; ok && s < TR_STRIP_KINDS; ++s )
        for ( int f = 0; ok && f < strips.frame_count; ++f )
            if ( !isfinite( strips.items[s].out[f] ) || !isfinite( strips.items[s].source[f] ) )
                ok = fail( t, "nan", "%s: the strip %s has no number", method, strips.items[s].name );
    for ( int i = 0; ok && i < losses.count; ++i )
        if ( !isfinite( losses.items[i].metres ) )
            ok = fail( t, "nan", "%s: a loss has no number", method );
    ok = ok && ( tr_measures_print_json( &measures, out ) ||
                 fail( t, "report", "%s: figures cannot be printed", method ) );
    tr_measures_free( &measures );
    tr_strips_free( &strips );
    tr_losses_free( &losses );
    return ok;
}

// --------------------------------------------------------------------------------------------- saved results

static int remove_entry( const char *path, const struct stat *status, int kind, struct FTW *where )
{
    (void)status, (void)kind, (void)where;
    return remove( path );
}

// Joints of what was read back are where they were saved. A file has angles: near the poles of these a turn
// keeps half of its digits, 1e-8 radians, and a chain of joints adds them up.
static bool check_places( trial *t, const tr_result *saved, const tr_result *loaded )
{
    for ( int i = 0; i < saved->actor_count; ++i )
        for ( int f = 0; f < saved->frame_count; ++f ) {
            tr_pose a = tr_world_pose( &saved->worlds[i], f ), b = tr_world_pose( &loaded->worlds[i], f );
            double size = 0;
            for ( int j = 1; j < saved->worlds[i].joint_count; ++j )
                size += tr_bone_length( &saved->motions[i].skeleton, j );
            for ( int j = 0; j < saved->worlds[i].joint_count; ++j )
                if ( !( v3_distance( a.positions[j], b.positions[j] ) <=
                        1e-6 * size + 1e-9 * v3_length( a.positions[j] ) + FILE_STEP * ( j + 1 ) ) )
                    return fail( t, "saved", "cast[%d]: %s is %g m off at frame %d when it is read back", i,
                                 saved->motions[i].skeleton.joints[j].name,
                                 v3_distance( a.positions[j], b.positions[j] ), f );
        }
    return true;
}

static bool check_loaded( trial *t, const tr_result *saved, const char *folder, const char *method )
{
    char path[300];
    tr_scene scene;
    tr_library library = { 0 };
    tr_stage stage = { 0 };
    tr_result result = { 0 };
    tr_text figures = { 0 };
    snprintf( path, sizeof path, "%s/scene.json", folder );
    if ( !tr_scene_load( &scene, path, &t->error ) )
        return fail_error( t, "saved", "the scene of the results" );
    bool ok = tr_stage_build( &stage, &scene, path, &library, NULL, &t->error ) ||
              fail_error( t, "saved", "the scene of the results" );
    ok = ok &&
         ( tr_result_load( &result, &stage, folder, &t->error ) || fail_error( t, "saved", "the results" ) );
    ok = ok && check_result( t, &stage, &result, FILE_STEP, "what was saved" ) &&
         check_places( t, saved, &result ) && print_figures( t, &stage, &result, method, &figures );
    tr_text_free( &figures );
    tr_result_free( &result );
    tr_stage_free( &stage );
    tr_library_free( &library );
    tr_scene_free( &scene );
    return ok;
}

// Ten thousand kilometres from the origin: files do not hold that, and saving says so.
static bool is_too_far( const tr_result *result )
{
    bool far = false;
    for ( int i = 0; i < result->actor_count; ++i )
        for ( int f = 0; f < result->frame_count; ++f )
            far = far || !( v3_length( result->motions[i].clip.root[f] ) < 1e7 );
    for ( int p = 0; p < result->prop_count; ++p )
        for ( int f = 0; f < result->frame_count; ++f )
            far = far || !( v3_length( result->tracks[p][f].position ) < 1e7 );
    return far;
}

static bool check_saving( trial *t, const tr_stage *stage, const tr_result *result, const char *method )
{
    char folder[280];
    snprintf( folder, sizeof folder, "%s/results", t->folder );
    bool saved = tr_result_save( stage, result, method, folder, &t->error );
    bool ok = saved ? check_loaded( t, result, folder, method )
                    : is_too_far( result ) || fail_error( t, "saved", "saving" );
    nftw( folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS );
    return ok;
}

// --------------------------------------------------------------------------------------------------- methods

static bool run( trial *t, const tr_stage *stage, const tr_method *method, tr_result *out )
{
    return tr_pipeline_run( out, stage, method, &t->error ) || fail_error( t, "unsolved", method->name );
}

static bool check_threads( trial *t, const staged *many, const tr_result *one, const tr_method *method,
                           const tr_text *figures )
{
    tr_result result;
    tr_text again = { 0 };
    tr_parallel_set_threads( MANY_THREADS );
    bool ok = run( t, &many->stage, method, &result );
    if ( ok ) {
        ok = check_same( t, "threads", one, &result, method->name ) &&
             print_figures( t, &many->stage, &result, method->name, &again );
        if ( ok && ( again.size != figures->size || memcmp( again.data, figures->data, again.size ) != 0 ) )
            ok = fail( t, "threads", "%s: figures differ with the number of threads", method->name );
        tr_result_free( &result );
    }
    tr_text_free( &again );
    tr_parallel_set_threads( 1 );
    return ok;
}

static bool try_method( trial *t, const staged *one, const staged *many, const tr_method *method, bool save )
{
    tr_result result;
    tr_text figures = { 0 };
    if ( !run( t, &one->stage, method, &result ) )
        return false;
    bool ok = check_result( t, &one->stage, &result, 0, method->name ) &&
              print_figures( t, &one->stage, &result, method->name, &figures ) &&
              ( many == NULL || check_threads( t, many, &result, method, &figures ) ) &&
              ( !save || check_saving( t, &one->stage, &result, method->name ) );
    tr_text_free( &figures );
    tr_result_free( &result );
    return ok;
}

static bool try_methods( trial *t, const staged *one, const staged *many )
{
    int count;
    const tr_method *table = tr_method_table( &count );
    bool ok = true;
    for ( int m = 0; ok && m < count; ++m )
        if ( t->def->method == NULL || strcmp( t->def->method, table[m].name ) == 0 )
            ok = try_method( t, one, many, &table[m],
                             t->def->method != NULL || (int)( t->def->seed % (uint64_t)count ) == m );
    return ok;
}

static const tr_method *default_method( const trial *t, const tr_scene *scene )
{
    return t->def->method != NULL ? tr_method_find( t->def->method ) : tr_method_default( scene );
}

// ---------------------------------------------------------------------------------------------------- layers

// The pipeline in two parts gives the same bits, also on a stage whose layers were bound anew.
static bool try_layers( trial *t, staged *one, const tr_scene *scene )
{
    const tr_method *method = default_method( t, scene );
    tr_result below = { 0 }, above = { 0 }, whole = { 0 };
    tr_stage on = { 0 };
    bool ok = run( t, &one->stage, method, &whole );
    ok = ok && check_result( t, &one->stage, &whole, 0, method->name ) &&
         ( tr_pipeline_run_below( &below, &one->stage, method, 0, &t->error ) ||
           fail_error( t, "unsolved", "below layers" ) );
    const tr_stage *stage = &one->stage;
    if ( ok && tr_stage_carries( &one->stage, scene ) ) {
        ok = tr_stage_build_on( &on, &one->stage, scene, NULL, &t->error ) ||
             fail_error( t, "unsolved", "layers bound anew" );
        stage = &on;
    }
    ok = ok &&
         ( tr_pipeline_run_above( &above, stage, method, &below, &t->error ) ||
           fail_error( t, "unsolved", "layers" ) ) &&
         check_same( t, "above", &whole, &above, "layers on what is below them" );
    tr_result_free( &above );
    tr_result_free( &below );
    tr_result_free( &whole );
    tr_stage_free( &on );
    return ok;
}

// Every op of a script applies, and undo gives the scene back.
static bool check_undo( trial *t, const tr_scene *scene, const char *ops, size_t size )
{
    tr_document *document = tr_document_create( scene, &t->error );
    if ( document == NULL )
        return fail_error( t, "ops", "the document" );
    bool ok = tr_document_run( document, ops, size, "ops", &t->error ) ||
              strstr( t->error.message, "must lie between" ) != NULL || // a rule took the body too far away
              fail_error( t, "ops", "the ops of a held frame" );
    ok = ok && ( tr_scene_check( tr_document_scene( document ), NULL, &t->error ) ||
                 fail_error( t, "ops", "after them" ) );
    while ( tr_document_undo( document ) )
        ;
    if ( ok && !tr_scene_equal( tr_document_scene( document ), scene ) )
        ok = fail( t, "ops", "undo does not give the scene back" );
    tr_document_destroy( document );
    return ok;
}

// ----------------------------------------------------------------------------------------------------- drags

static int find_cage( const tr_scene *scene )
{
    for ( int l = 0; l < scene->layer_count; ++l )
        if ( scene->layers[l].kind == TR_LAYER_CAGE && tr_layer_is_active( scene, l ) )
            return l;
    return -1;
}

// The handles of a layer that can be dragged; returns how many, writes at most 4.
static int find_handles( const tr_scene *scene, int layer, int handles[4] )
{
    int count = 0;
    for ( int h = 0; h < scene->handle_count && count < 4; ++h )
        if ( scene->handles[h].pinned && strcmp( scene->handles[h].layer, scene->layers[layer].id ) == 0 )
            handles[count++] = h;
    return count;
}

static bool check_drag( trial *t, const tr_stage *stage, const tr_drag *drag, const int *handles, int count )
{
    bool ok = check_result( t, stage, tr_drag_result( drag ), 0, "drag" );
    for ( int h = 0; ok && h < count; ++h )
        ok = isfinite( tr_drag_error( drag, handles[h] ) ) || fail( t, "nan", "drag: a handle has no error" );
    return ok;
}

// Moves the handles about; `last` [count] gets where they are left.
static bool drag_about( trial *t, const tr_stage *stage, tr_drag *drag, const int *handles, int count,
                        tr_drag_move *last )
{
    static const double sizes[] = { 0.1, 0.5, 0, 5, 1e5 };
    choices c = choices_from_seed( t->def->seed + 7 );
    bool ok = true;
    int ticks = 1 + choose( &c, 3 );
    for ( int n = 0; ok && n < ticks; ++n ) {
        tr_drag_move moves[4] = { 0 };
        for ( int h = 0; h < count; ++h ) {
            const tr_handle *handle = &stage->scene->handles[handles[h]];
            bool section = handle->point.who[0] == 0 && handle->vertex < 0;
            double size = pick_number( &c, sizes, chance( &c, 10 ) ? 5 : 3 );
            moves[h] = ( tr_drag_move ){ handles[h], vector_within( &c, size ),
                                         section ? vector_within( &c, 40 ) : v3_zero };
        }
        tr_drag_tick tick = {
            .moves = moves, .move_count = count, .frame = choose( &c, stage->frame_count ) };
        tr_drag_visible( drag, &tick );
        for ( int more = choose( &c, 4 ); more > 0 && tr_drag_more( drag, 1 + choose( &c, 4 ) ); --more )
            ;
        memcpy( last, moves, (size_t)count * sizeof *moves );
        ok = check_drag( t, stage, drag, handles, count );
    }
    while ( ok && tr_drag_more( drag, 4 ) )
        ;
    for ( int left = chance( &c, 50 ) ? 1000000 : choose( &c, 8 );
          ok && left > 0 && tr_drag_refine( drag, 2 ); --left )
        ;
    return ok && check_drag( t, stage, drag, handles, count );
}

// A vertex of a cage counts as a joint in a frame: a long cage around a small body is most of the work.
static void add_cage_work( trial *t, const tr_cage_outline *cage )
{
    if ( cage != NULL )
        t->out->work += (double)cage->section_count * cage->vertex_count;
}

// What a drag is released to has the bits of the pipeline for the same document, refined before or not.
static bool check_release( trial *t, const tr_stage *stage, tr_drag *drag, const tr_method *method,
                           const tr_drag_move *moves, int count )
{
    tr_scene scene = *stage->scene;
    tr_stage moved = *stage;
    tr_result kept = { 0 }, released = { 0 };
    scene.handles = tr_alloc( (size_t)scene.handle_count, sizeof( tr_handle ) );
    if ( scene.handles == NULL )
        return fail( t, "memory", "drag: no memory for handles" );
    for ( int i = 0; i < scene.handle_count; ++i )
        scene.handles[i] = stage->scene->handles[i];
    for ( int h = 0; h < count; ++h ) {
        scene.handles[moves[h].handle].move = moves[h].move;
        scene.handles[moves[h].handle].turn = moves[h].turn;
    }
    moved.scene = &scene;
    bool ok = true;
    if ( tr_drag_finish( drag, &scene, NULL ) )
        ok = ( ( tr_pipeline_run_below( &kept, &moved, method, tr_drag_layer( drag ) + 1, &t->error ) &&
                 tr_drag_take( drag, &moved, &released, &t->error ) ) ||
               fail_error( t, "unsolved", "releasing a drag" ) ) &&
             check_same( t, "release", &kept, &released, "drag" );
    tr_result_free( &kept );
    tr_result_free( &released );
    tr_free( scene.handles );
    return ok;
}

// The same drag with 1 and with 3 threads.
static bool try_drag( trial *t, const staged *one, bool threads )
{
    const tr_stage *stage = &one->stage;
    int layer = find_cage( stage->scene ), handles[4];
    if ( layer < 0 )
        return true;
    int count = find_handles( stage->scene, layer, handles );
    const tr_method *method = default_method( t, stage->scene );
    tr_result below;
    if ( !tr_pipeline_run_below( &below, stage, method, layer, &t->error ) )
        return fail_error( t, "unsolved", "below the cage" );
    tr_drag *drags[2] = { 0 };
    tr_drag_move moves[4] = { 0 };
    bool ok = true;
    for ( int k = 0; ok && k < ( threads ? 2 : 1 ); ++k ) {
        tr_parallel_set_threads( k == 0 ? 1 : MANY_THREADS );
        drags[k] = tr_drag_begin( stage, &below, layer, count > 0 ? handles[0] : -1, &t->error );
        ok = ( drags[k] != NULL || fail_error( t, "unsolved", "drag" ) ) &&
             drag_about( t, stage, drags[k], handles, count, moves );
        add_cage_work( t, ok ? tr_drag_cage( drags[k] ) : NULL );
    }
    tr_parallel_set_threads( 1 );
    ok = ok && ( drags[1] == NULL ||
                 check_same( t, "threads", tr_drag_result( drags[0] ), tr_drag_result( drags[1] ), "drag" ) );
    ok = ok && check_release( t, stage, drags[0], method, moves, count );
    tr_drag_end( drags[0] );
    tr_drag_end( drags[1] );
    tr_result_free( &below );
    return ok;
}

static bool try_hold( trial *t, const staged *one, const tr_scene *scene )
{
    const tr_stage *stage = &one->stage;
    choices c = choices_from_seed( t->def->seed + 8 );
    tr_result result;
    tr_text ops = { 0 };
    if ( stage->actor_count == 0 )
        return true;
    if ( !run( t, stage, tr_method_find( "copy" ), &result ) )
        return false;
    int frame = choose( &c, stage->frame_count ), actor = choose( &c, stage->actor_count );
    int joint = choose( &c, stage->actors[actor].target.joint_count );
    tr_hold *hold = tr_hold_begin( stage, &result, frame, actor, joint, &t->error );
    bool ok = hold != NULL || fail_error( t, "unsolved", "hold" );
    for ( int n = 0; ok && n < 2; ++n ) {
        vec3 place = v3_add( tr_world_pose( &result.worlds[actor], frame ).positions[joint],
                             vector_within( &c, chance( &c, 20 ) ? 50 : 0.3 ) );
        ok = tr_hold_move( hold, place, &t->error ) || fail_error( t, "unsolved", "hold" );
    }
    for ( int i = 0; ok && i < stage->actor_count; ++i ) {
        tr_pose pose = { result.worlds[i].rotations, result.worlds[i].positions }; // to be written over
        if ( tr_hold_pose( hold, i, pose ) )
            for ( int j = 0; ok && j < stage->actors[i].target.joint_count; ++j )
                ok = ( v3_finite( pose.positions[j] ) && q_finite( pose.rotations[j] ) ) ||
                     fail( t, "nan", "hold: a joint has no place" );
    }
    if ( ok ) {
        tr_hold_print( hold, "held", scene->first + frame, 3, &ops );
        ok = check_undo( t, scene, ops.data, ops.size );
    }
    tr_text_free( &ops );
    tr_hold_end( hold );
    tr_result_free( &result );
    return ok;
}

// ----------------------------------------------------------------------------------------------------- trial

// A step of the fit factors the matrix of the goals that rules make in a frame.
static double goal_matrices( const tr_stage *stage )
{
    double sum = 0;
    for ( int f = 0; f < stage->frame_count; ++f ) {
        double goals = 0;
        for ( int r = 0; r < stage->rule_count; ++r )
            goals += tr_rule_strength( &stage->rules[r], f ) > 0;
        sum += goals * goals * goals;
    }
    return sum;
}

static void add_up_work( trial *t, const tr_stage *stage )
{
    double joints = 1;
    for ( int i = 0; i < stage->actor_count; ++i )
        joints += stage->actors[i].target.joint_count + stage->actors[i].source.skeleton.joint_count;
    t->out->units = joints * ( stage->frame_count + 1 );
    double rules = stage->rule_count;
    t->out->work = ( t->out->units * ( 1 + rules ) + goal_matrices( stage ) ) *
                   ( 1 + stage->grab_count ); // each is a solve
}

static bool put_on_stage( trial *t, staged *out, const tr_scene *scene )
{
    *out = ( staged ){ 0 };
    return tr_stage_build( &out->stage, scene, t->path, &out->library, NULL, &t->error );
}

static void strike( staged *s )
{
    tr_stage_free( &s->stage );
    tr_library_free( &s->library );
}

static void try_all( trial *t, const tr_scene *scene )
{
    staged one, many = { 0 };
    tr_parallel_set_threads( 1 );
    bool built = put_on_stage( t, &one, scene );
    if ( !built ) {
        tr_error_print( &t->error, t->out->message, sizeof t->out->message );
        strike( &one );
        return;
    }
    t->out->staged = true;
    add_up_work( t, &one.stage );
    bool ok = true;
    if ( t->def->threads ) {
        tr_parallel_set_threads( MANY_THREADS );
        ok = put_on_stage( t, &many, scene ) || fail_error( t, "threads", "with more threads" );
        tr_parallel_set_threads( 1 );
    }
    if ( ok && ( t->def->parts & TRIAL_METHODS ) != 0 )
        ok = try_methods( t, &one, t->def->threads ? &many : NULL );
    if ( ok && ( t->def->parts & TRIAL_LAYERS ) != 0 )
        ok = try_layers( t, &one, scene );
    if ( ok && ( t->def->parts & TRIAL_DRAGS ) != 0 )
        ok = try_drag( t, &one, t->def->threads ) && try_hold( t, &one, scene );
    t->out->solved = ok;
    strike( &one );
    strike( &many );
}

void trial_run( trial_outcome *out, const char *folder, const trial_def *def )
{
    trial t = { .out = out, .def = def, .folder = folder };
    size_t before = tr_memory_live();
    *out = ( trial_outcome ){ 0 };
    snprintf( t.path, sizeof t.path, "%s/scene.json", folder );
    tr_scene scene;
    if ( !tr_scene_load( &scene, t.path, &t.error ) ) {
        fail_error( &t, "invalid", "the scene" );
        return;
    }
    try_all( &t, &scene );
    tr_scene_free( &scene );
    if ( tr_memory_live() != before )
        fail( &t, "leak", "%zd bytes are still allocated", (ssize_t)( tr_memory_live() - before ) );
}
