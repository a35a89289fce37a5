// What commands print about a solved scene: the rules, handles and touches that gave way, the farthest off
// first.
#include "cli.h"

#include <math.h>

#define MOST_TOLD 5

// Frames 10-20, 31: up to 4 ranges.
static void print_frames( const cli_subject *subject, const tr_rule *rule )
{
    int ranges[4][2], origin = subject->scene.first;
    int count = tr_rule_broken( &subject->stage, &subject->result, rule, ranges, 4 );
    for ( int i = 0; i < count && i < 4; ++i ) {
        cli_say( "%s%d", i > 0 ? ", " : "frames ", origin + ranges[i][0] );
        if ( ranges[i][1] > ranges[i][0] )
            cli_say( "-%d", origin + ranges[i][1] );
    }
    if ( count > 4 )
        cli_say( " and %d more", count - 4 );
}

// A point as a constraint names it, without its terms: p02.LeftFoot.
static void print_point( const cli_subject *subject, const tr_anchor *anchor )
{
    const tr_scene *scene = &subject->scene;
    if ( anchor->prop >= 0 )
        cli_say( "%s", scene->props[anchor->prop].id );
    else if ( anchor->actor >= 0 )
        cli_say( "%s%s%s", scene->cast[anchor->actor].id, anchor->count > 0 ? "." : "",
                 anchor->count > 0
                     ? subject->stage.actors[anchor->actor].target.joints[anchor->joints[0]].name
                     : "" );
}

// How far a rule is off: an angle, or centimetres as all lengths here.
static void print_off( const cli_subject *subject, int r )
{
    double metres = 1e-3 * subject->result.reports[r].max_mm;
    if ( tr_rule_turns( &subject->stage.rules[r] ) )
        cli_say( "%.1f°", tr_chord_degrees( &subject->stage, metres ) );
    else
        cli_say( "%.2f cm", 100 * metres );
}

static void print_gave_way( const cli_subject *subject, int r )
{
    const tr_rule *rule = &subject->stage.rules[r];
    cli_say( "  gave way: %s (%s of ", rule->id, tr_constraint_kind_names[rule->kind] );
    print_point( subject, &rule->a );
    if ( rule->b.actor >= 0 || rule->b.prop >= 0 ) {
        cli_say( " and " );
        print_point( subject, &rule->b );
    }
    cli_say( "), " );
    print_frames( subject, rule );
    cli_say( ", by up to " );
    print_off( subject, r );
    cli_say( "\n" );
}

// The next rule that gave way, in order of falling error; -1: none. Equals follow
// each other as in the document.
static int next_broken( const tr_result *result, int after )
{
    int next = -1;
    double above = after >= 0 ? result->reports[after].max_mm : INFINITY;
    for ( int i = 0; i < result->rule_count; ++i ) {
        double off = result->reports[i].max_mm;
        bool follows = off < above || ( off == above && i > after );
        if ( result->reports[i].gave_way && follows && ( next < 0 || off > result->reports[next].max_mm ) )
            next = i;
    }
    return next;
}

// Rules that gave way (were relaxed), the farthest off first.
static void print_broken( const cli_subject *subject, int count )
{
    int told = 0;
    for ( int r = next_broken( &subject->result, -1 ); r >= 0 && told < MOST_TOLD; ++told ) {
        print_gave_way( subject, r );
        r = next_broken( &subject->result, r );
    }
    if ( count > told )
        cli_say( "  and %d more, by less: report.json lists them all\n", count - told );
}

static void print_handle( const cli_subject *subject, int i )
{
    const tr_handle *handle = &subject->stage.scene->handles[i];
    const tr_handle_report *report = &subject->result.handles[i];
    bool pin = v3_length( handle->move ) == 0 && v3_length( handle->turn ) == 0;
    int actors = subject->stage.actor_count;
    cli_say( "  gave way: %s (%s of layer %s), frame %d, by %.1f cm", handle->id, pin ? "pin" : "handle",
             handle->layer, handle->frame, 0.1 * report->error_mm );
    if ( report->node >= 0 )
        cli_say( " at %s", report->node < actors ? subject->scene.cast[report->node].id
                                                 : subject->scene.props[report->node - actors].id );
    if ( report->node >= 0 && report->joint > 0 )
        cli_say( ".%s", subject->stage.actors[report->node].target.joints[report->joint].name );
    const tr_scene *scene = &subject->scene;
    int layer = tr_scene_find_layer( scene, handle->layer ), first = scene->first, last = scene->last;
    if ( layer >= 0 && scene->layers[layer].first > first )
        first = scene->layers[layer].first;
    if ( layer >= 0 && scene->layers[layer].last < last )
        last = scene->layers[layer].last;
    bool within = layer >= 0 && handle->frame >= first && handle->frame <= last;
    if ( report->outside && within )
        cli_say( handle->vertex < 0 ? ": the layer can move nothing" : ": it holds nothing" );
    else if ( report->outside && layer >= 0 )
        cli_say( ": the layer's frames are %d to %d", first, last );
    cli_say( "\n" );
}

// Handles and pins that are not met to a millimetre, in the document's order.
static void print_missed( const cli_subject *subject )
{
    const tr_result *result = &subject->result;
    int told = 0;
    for ( int i = 0; i < result->handle_count; ++i ) {
        if ( tr_handle_gave_way( &subject->stage, &result->handles[i] ) && told++ < MOST_TOLD )
            print_handle( subject, i );
    }
    if ( told > MOST_TOLD )
        cli_say( "  %d more handles gave way\n", told - MOST_TOLD );
}

static void print_parts( const cli_subject *subject, const tr_mesh_report *report, const tr_imesh_loss *loss,
                         const char *kind, const char *between )
{
    tr_text names = { 0 };
    tr_mesh_part_print( &subject->stage, report, loss->a, loss->part_a, &names );
    tr_text_add( &names, between );
    tr_mesh_part_print( &subject->stage, report, loss->b, loss->part_b, &names );
    cli_say( "  %s: %s at frame %d, by %.1f cm", kind, names.failed ? "a character" : names.data,
             subject->scene.first + report->first + loss->worst, 100 * loss->amount );
    tr_text_free( &names );
}

// Where bodies of the interaction mesh had no room, the deepest of each window, and which touches were lost,
// the farthest of each.
static void print_losses( const cli_subject *subject )
{
    const tr_result *result = &subject->result;
    int deep = 0, apart = 0;
    for ( int i = 0; i < result->mesh_count; ++i ) {
        const tr_mesh_report *report = &result->meshes[i];
        const tr_imesh_report *mesh = &report->mesh;
        if ( mesh->no_room_count > 0 && deep++ < MOST_TOLD ) {
            print_parts( subject, report, &mesh->no_room[0], "no room", " in " );
            cli_say( "; squares of all depths add up to %.0f cm²\n", 1e4 * mesh->after.sum_squares );
        }
        if ( mesh->lost_count > 0 && apart++ < MOST_TOLD ) {
            print_parts( subject, report, &mesh->lost[0], "touch lost", " from " );
            if ( mesh->lost_count > 1 )
                cli_say( ", and %d more in report.json", mesh->lost_count - 1 );
            cli_say( "\n" );
        }
    }
    if ( deep > MOST_TOLD )
        cli_say( "  no room in %d more windows\n", deep - MOST_TOLD );
    if ( apart > MOST_TOLD )
        cli_say( "  touches lost in %d more windows\n", apart - MOST_TOLD );
}

// The rule that is farthest off, and how many the solver gave up.
void cli_print_summary( const cli_subject *subject, const tr_method *method, const char *folder, double ms )
{
    int worst = -1, gave_way = 0;
    const tr_result *result = &subject->result;
    for ( int i = 0; i < result->rule_count; ++i ) {
        gave_way += result->reports[i].gave_way;
        if ( worst < 0 || result->reports[i].max_mm > result->reports[worst].max_mm )
            worst = i;
    }
    cli_say( "%s: %d character%s, %d prop%s, %d frame%s by %s in %.0f ms\n", folder, result->actor_count,
             cli_plural( result->actor_count ), result->prop_count, cli_plural( result->prop_count ),
             result->frame_count, cli_plural( result->frame_count ), method->name, ms );
    print_losses( subject );
    print_missed( subject );
    if ( worst < 0 )
        return;
    const tr_rule *rule = &subject->stage.rules[worst];
    cli_say( "%d constraint%s, %d gave way; the farthest off is %s (%s%s): ", result->rule_count,
             cli_plural( result->rule_count ), gave_way, rule->id, rule->hard ? "" : "soft ",
             tr_constraint_kind_names[rule->kind] );
    print_off( subject, worst );
    cli_say( " at frame %d\n", result->reports[worst].worst_frame + subject->scene.first );
    print_broken( subject, gave_way );
}
