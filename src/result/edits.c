// Edits in report.json: the places that handles reached, turns of bodies and steps of feet. `troupe
// measure` needs it to know where a contact is to be.
//
//   "edits": {"leak_mm": 0,
//     "handles": [{"id": "lift", "place": [0, 1, 2], "body": null, "joint": null, "error_mm": 0.1,
//                  "passed_on": false, "outside": false, "frame": 40, "gave_way": false, "cm": 0.01}],
//     "turns": [{"id": "p03", "first": 10, "degrees": [0.1, …]}],
//     "steps": [{"id": "p03", "joint": "LeftFoot", "first": 10, "steps": [[0.1, 0, 0, 0.2], …]}]}
//
// A step is degrees about the vertical through the origin, then metres.
#include "result/private.h"

#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------- printing

static void print_numbers( tr_text *out, const double *numbers, int count )
{
    for ( int i = 0; i < count; ++i ) {
        tr_text_append( out, i == 0 ? "[" : ", ", i == 0 ? 1 : 2 );
        tr_text_exact( out, numbers[i] );
    }
    tr_text_append( out, "]", 1 );
}

// The body or joint farthest off among those that a section drives.
static void print_led( tr_text *out, const tr_stage *stage, const tr_handle_report *report )
{
    int prop = report->node - stage->actor_count;
    const char *id = report->node < 0 ? NULL
                     : prop < 0       ? stage->scene->cast[report->node].id
                                      : stage->scene->props[prop].id;
    tr_text_add( out, id != NULL ? ", \"body\": \"%s\"" : ", \"body\": null", id );
    tr_text_add( out, ", \"joint\": " );
    if ( report->node >= 0 && report->joint >= 0 ) {
        const char *name = stage->actors[report->node].target.joints[report->joint].name;
        tr_text_quoted( out, name, strlen( name ) );
    } else
        tr_text_add( out, "null" );
}

static void print_handle( tr_text *out, const tr_stage *stage, const tr_result *result, int i )
{
    const tr_handle_report *report = &result->handles[i];
    tr_text_add( out, "{\"id\": \"%s\", \"place\": ", stage->scene->handles[i].id );
    if ( stage->scene->handles[i].point.who[0] != 0 || report->node >= 0 )
        print_numbers( out, ( const double[] ){ report->place.x, report->place.y, report->place.z }, 3 );
    else
        tr_text_add( out, "null" );
    print_led( out, stage, report );
    tr_text_add( out, ", \"error_mm\": " );
    tr_text_exact( out, report->error_mm );
    tr_text_add( out, ", \"passed_on\": %s, \"outside\": %s, \"frame\": %d, \"gave_way\": %s, \"cm\": ",
                 report->passed_on ? "true" : "false", report->outside ? "true" : "false",
                 stage->scene->handles[i].frame, tr_handle_gave_way( stage, report ) ? "true" : "false" );
    tr_text_number( out, 0.1 * report->error_mm, 4 );
    tr_text_add( out, "}" );
}

// The frames from the first to the last that are not zero. False: there are none.
static bool turned_frames( const double *turns, int frames, int *first, int *last )
{
    *last = -1;
    for ( int f = 0; f < frames; ++f )
        if ( turns[f] != 0 ) {
            *first = *last < 0 ? f : *first;
            *last = f;
        }
    return *last >= 0;
}

static bool stepped_frames( const tr_step *steps, int frames, int *first, int *last )
{
    *last = -1;
    for ( int f = 0; f < frames; ++f )
        if ( !tr_step_is_none( steps[f] ) ) {
            *first = *last < 0 ? f : *first;
            *last = f;
        }
    return *last >= 0;
}

static void print_turns( tr_text *out, const tr_stage *stage, const tr_result *result )
{
    const char *separator = "";
    for ( int i = 0; i < stage->actor_count; ++i ) {
        int first = 0, last;
        if ( result->turns[i] == NULL ||
             !turned_frames( result->turns[i], stage->frame_count, &first, &last ) )
            continue;
        tr_text_add( out, "%s\n      {\"id\": \"%s\", \"first\": %d, \"degrees\": [", separator,
                     stage->scene->cast[i].id, stage->scene->first + first );
        for ( int f = first; f <= last; ++f ) {
            tr_text_append( out, ", ", f > first ? 2 : 0 );
            tr_text_exact( out, result->turns[i][f] / TR_DEGREE );
        }
        tr_text_add( out, "]}" );
        separator = ",";
    }
}

static void print_foot( tr_text *out, const tr_stage *stage, const tr_result *result, int actor, int joint,
                        int first, int last )
{
    const tr_skeleton *skeleton = &stage->actors[actor].target;
    tr_text_add( out, "{\"id\": \"%s\", \"joint\": ", stage->scene->cast[actor].id );
    tr_text_quoted( out, skeleton->joints[joint].name, strlen( skeleton->joints[joint].name ) );
    tr_text_add( out, ", \"first\": %d, \"steps\": [", stage->scene->first + first );
    for ( int f = first; f <= last; ++f ) {
        tr_step s = result->steps[actor][tr_step_cell( stage, joint, f )];
        tr_text_append( out, ", ", f > first ? 2 : 0 );
        print_numbers( out, ( const double[] ){ s.turn / TR_DEGREE, s.move.x, s.move.y, s.move.z }, 4 );
    }
    tr_text_add( out, "]}" );
}

static void print_steps( tr_text *out, const tr_stage *stage, const tr_result *result )
{
    const char *separator = "";
    for ( int i = 0; i < stage->actor_count; ++i )
        for ( int j = 0; result->steps[i] != NULL && j < stage->actors[i].target.joint_count; ++j ) {
            int first = 0, last;
            if ( !stepped_frames( result->steps[i] + tr_step_cell( stage, j, 0 ), stage->frame_count, &first,
                                  &last ) )
                continue;
            tr_text_add( out, "%s\n      ", separator );
            print_foot( out, stage, result, i, j, first, last );
            separator = ",";
        }
}

void tr_edits_print( const tr_stage *stage, const tr_result *result, tr_text *out )
{
    tr_text_add( out, "{\n    \"leak_mm\": " );
    tr_text_exact( out, result->leak_mm );
    tr_text_add( out, ",\n    \"handles\": [" );
    const char *separator = "";
    for ( int i = 0; i < result->handle_count; ++i ) {
        if ( !result->handles[i].acted )
            continue;
        tr_text_add( out, "%s\n      ", separator );
        print_handle( out, stage, result, i );
        separator = ",";
    }
    tr_text_add( out, "],\n    \"turns\": [" );
    print_turns( out, stage, result );
    tr_text_add( out, "],\n    \"steps\": [" );
    print_steps( out, stage, result );
    tr_text_add( out, "]\n  }" );
}

// -------------------------------------------------------------------------------------------------- reading

typedef struct edits_reader {
    const tr_stage *stage;
    tr_result *result;
    tr_error *error;
} edits_reader;

static const char *text_of( const tr_json *object, const char *key )
{
    tr_json member = tr_json_member( object, key, true );
    if ( member.value != NULL && !json_is_string( member.value ) )
        tr_json_fail( &member, "must be a text" );
    return json_is_string( member.value ) ? json_string_value( member.value ) : "";
}

static double number_of( const tr_json *at )
{
    if ( at->value != NULL && !json_is_number( at->value ) )
        tr_json_fail( at, "must be a number" );
    return json_is_number( at->value ) ? json_number_value( at->value ) : 0;
}

static void read_numbers( const tr_json *array, double *numbers, int count )
{
    if ( tr_json_count( array ) != count )
        tr_json_fail( array, "must be %d numbers", count );
    for ( int i = 0; i < count && *array->ok; ++i ) {
        tr_json item = tr_json_item( array, i );
        numbers[i] = number_of( &item );
    }
}

static void read_led( const edits_reader *r, const tr_json *item, tr_handle_report *report )
{
    const tr_stage *stage = r->stage;
    tr_json body = tr_json_member( item, "body", false );
    report->node = report->joint = -1;
    if ( !json_is_string( body.value ) )
        return;
    const char *id = json_string_value( body.value );
    int actor = tr_scene_find_cast( stage->scene, id ), prop = tr_scene_find_prop( stage->scene, id );
    if ( actor < 0 && prop < 0 ) {
        tr_json_fail( &body, "the scene has no character and no prop \"%.40s\"", id );
        return;
    }
    report->node = actor >= 0 ? actor : stage->actor_count + prop;
    if ( actor < 0 )
        return;
    const char *joint = text_of( item, "joint" );
    report->joint = tr_skeleton_find( &stage->actors[actor].target, joint );
    if ( report->joint < 0 )
        tr_json_fail( item, "there is no joint \"%.60s\"", joint );
}

static void read_handle( const edits_reader *r, const tr_json *item )
{
    const tr_scene *scene = r->stage->scene;
    const char *id = text_of( item, "id" );
    int index = tr_scene_find_handle( scene, id );
    if ( index < 0 ) {
        tr_json_fail( item, "the scene has no handle \"%.40s\"", id );
        return;
    }
    tr_handle_report *report = &r->result->handles[index];
    tr_json place = tr_json_member( item, "place", false ), error = tr_json_member( item, "error_mm", true ),
            passed_on = tr_json_member( item, "passed_on", false ),
            outside = tr_json_member( item, "outside", false );
    double numbers[3] = { 0 };
    if ( place.value != NULL && !json_is_null( place.value ) )
        read_numbers( &place, numbers, 3 );
    *report = ( tr_handle_report ){ .acted = true,
                                    .passed_on = json_is_true( passed_on.value ),
                                    .outside = json_is_true( outside.value ),
                                    .place = v3( numbers[0], numbers[1], numbers[2] ),
                                    .error_mm = number_of( &error ) };
    read_led( r, item, report );
}

// The actor of these frames, and the first frame; -1 after a failure.
static int read_actor( const edits_reader *r, const tr_json *item, const tr_json *frames, int *first )
{
    const tr_stage *stage = r->stage;
    const char *id = text_of( item, "id" );
    int actor = tr_scene_find_cast( stage->scene, id ), count = tr_json_count( frames );
    if ( actor < 0 )
        tr_json_fail( item, "the scene has no character \"%.40s\"", id );
    *first = 0;
    tr_json_int( item, "first", true, stage->scene->first, stage->scene->last, first );
    *first -= stage->scene->first;
    if ( *item->ok && *first + count > stage->frame_count )
        tr_json_fail( frames, "has %d frames, more than are left", count );
    return *item->ok ? actor : -1;
}

static void read_turns( const edits_reader *r, const tr_json *item )
{
    tr_json frames = tr_json_member( item, "degrees", true );
    int first, actor = read_actor( r, item, &frames, &first );
    double *turns = actor >= 0 ? tr_result_turns( r->result, actor ) : NULL;
    if ( actor >= 0 && turns == NULL )
        *item->ok = tr_error_memory( r->error );
    for ( int i = 0; *item->ok && i < tr_json_count( &frames ); ++i ) {
        tr_json number = tr_json_item( &frames, i );
        turns[first + i] = TR_DEGREE * number_of( &number );
    }
}

static void read_steps( const edits_reader *r, const tr_json *item )
{
    tr_json frames = tr_json_member( item, "steps", true );
    int first, actor = read_actor( r, item, &frames, &first );
    if ( actor < 0 )
        return;
    const tr_skeleton *skeleton = &r->stage->actors[actor].target;
    const char *name = text_of( item, "joint" );
    int joint = tr_skeleton_find( skeleton, name );
    tr_step *steps = tr_result_steps( r->result, r->stage, actor );
    if ( joint < 0 )
        tr_json_fail( item, "there is no joint \"%.60s\"", name );
    else if ( steps == NULL )
        *item->ok = tr_error_memory( r->error );
    for ( int i = 0; *item->ok && i < tr_json_count( &frames ); ++i ) {
        tr_json step = tr_json_item( &frames, i );
        double n[4] = { 0 };
        read_numbers( &step, n, 4 );
        steps[tr_step_cell( r->stage, joint, first + i )] =
            ( tr_step ){ TR_DEGREE * n[0], v3( n[1], n[2], n[3] ) };
    }
}

static void read_list( const edits_reader *r, const tr_json *edits, const char *key,
                       void ( *read )( const edits_reader *r, const tr_json *item ) )
{
    tr_json list = tr_json_member( edits, key, true );
    for ( int i = 0; list.value != NULL && *edits->ok && i < tr_json_count( &list ); ++i ) {
        tr_json item = tr_json_item( &list, i );
        read( r, &item );
    }
}

bool tr_edits_load( tr_result *result, const tr_stage *stage, const char *folder, tr_error *error )
{
    if ( stage->grab_count == 0 )
        return true;
    char *path = tr_string_format( "%s/report.json", folder );
    json_t *json = NULL;
    bool ok = path != NULL ? tr_json_load( &json, path, error ) : tr_error_memory( error );
    if ( ok ) {
        tr_json root = tr_json_root( json, path, &ok, error );
        tr_json edits = tr_json_member( &root, "edits", true );
        if ( edits.value != NULL ) {
            edits_reader r = { stage, result, error };
            tr_json leak = tr_json_member( &edits, "leak_mm", true );
            result->leak_mm = number_of( &leak );
            read_list( &r, &edits, "handles", read_handle );
            read_list( &r, &edits, "turns", read_turns );
            read_list( &r, &edits, "steps", read_steps );
        }
        json_decref( json );
    }
    tr_free( path );
    return ok;
}
