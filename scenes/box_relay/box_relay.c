#include "scenes/box_relay/person.h"
#include "scenes/builders.h"

#include <stdio.h>
#include <string.h>

static void box_id( const relay *plan, int box, tr_id id )
{
    snprintf( id, TR_ID_MAX, "box%02d", box - plan->first_box + 1 );
}

// ------------------------------------------------------------------------------------------------- people

static bool add_people( const relay *plan, tr_scene *scene, tr_error *error )
{
    for ( int i = 0; i < plan->people; ++i ) {
        tr_cast cast = tr_crowd_member( 1, i, 0.7, 1.3 );
        rigid place = relay_place( plan, i );
        cast.position = place.position;
        cast.heading = tr_crowd_heading( place );
        if ( tr_scene_add_cast( scene, &cast ) == NULL )
            return tr_error_memory( error );
    }
    return true;
}

static tr_human_targets person_targets( const void *context, int person, double time )
{
    const relay_person *people = context;
    return relay_person_at( &people[person], time );
}

static bool add_performance( const relay *plan, const tr_scene *scene, tr_library *library, tr_error *error )
{
    relay_person *people = tr_alloc( (size_t)plan->people, sizeof( relay_person ) );
    if ( people == NULL )
        return tr_error_memory( error );
    for ( int i = 0; i < plan->people; ++i )
        relay_person_plan( &people[i], plan, i );
    bool ok = tr_crowd_perform( scene, library, plan->frame_count, person_targets, people, NULL, error );
    tr_free( people );
    return ok;
}

// ------------------------------------------------------------------------------------------------- boxes

typedef struct box_way {
    const relay *plan;
    int box;
} box_way;

static rigid box_at( const void *context, double time )
{
    const box_way *way = context;
    return relay_box( way->plan, way->box, time );
}

static bool add_boxes( const relay *plan, tr_scene *scene, tr_library *library, tr_error *error )
{
    for ( int b = plan->first_box; b <= plan->last_box; ++b ) {
        tr_id id;
        box_id( plan, b, id );
        if ( !tr_thing_add( scene, library, id, relay_box_size, tr_thing_yellow, box_at,
                            &( box_way ){ plan, b }, error ) )
            return false;
    }
    return true;
}

// Tables are props, not environment, so that they can be moved with the line.
static bool add_table( const relay *plan, tr_scene *scene, const char *id, int gap, tr_error *error )
{
    rigid at = relay_stack( plan, gap );
    tr_prop table = tr_default_prop( id );
    table.size = relay_table_size;
    table.position = v3_add( at.position, v3( 0, 0.5 * relay_table_size.y, 0 ) );
    table.heading = tr_crowd_heading( at );
    memcpy( table.colour, tr_thing_grey, sizeof table.colour );
    return tr_scene_add_prop( scene, &table ) != NULL || tr_error_memory( error );
}

// ------------------------------------------------------------------------------------------------- holds

// Both palms of a person keep their places on a box from the moment they touch it until they let go.
static bool add_hold( const relay *plan, tr_scene *scene, int person, int box, tr_error *error )
{
    double touch = relay_time( person, box ) - 0.5 * RELAY_HOLD;
    double release = relay_time( person + 1, box ) + 0.5 * RELAY_HOLD;
    int first = tr_frames_in( touch, plan->fps );
    int last = tr_int_clamped( floor( release * plan->fps ), -TR_FAR_FRAME, plan->frame_count - 1 );
    if ( last < first )
        return true;
    const char *who = scene->cast[person].id;
    tr_id prop;
    box_id( plan, box, prop );
    for ( int side = 0; side < 2; ++side ) {
        tr_id id;
        snprintf( id, sizeof id, "%.12s_%c_%.12s", who, side == TR_HUMAN_LEFT ? 'l' : 'r', prop );
        tr_constraint hold = tr_default_constraint( id, TR_CONSTRAINT_RELATIVE );
        hold.a = tr_crowd_palm( who, side );
        hold.b = tr_point_prop( prop, relay_grip( person, side ).position );
        hold.first = first;
        hold.last = last;
        hold.ease_in = 16;
        hold.ease_out = 16;
        if ( tr_scene_add_constraint( scene, &hold ) == NULL )
            return tr_error_memory( error );
    }
    return true;
}

static bool add_holds( const relay *plan, tr_scene *scene, tr_error *error )
{
    for ( int i = 0; i < plan->people; ++i )
        for ( int b = plan->first_box; b <= plan->last_box; ++b )
            if ( !add_hold( plan, scene, i, b, error ) )
                return false;
    return true;
}

bool tr_box_relay_build( int cast, tr_scene *scene, tr_library *library, tr_error *error )
{
    relay plan = relay_plan( cast );
    scene->fps = plan.fps;
    scene->first = 0;
    scene->last = plan.frame_count - 1;
    return add_people( &plan, scene, error ) && add_boxes( &plan, scene, library, error ) &&
           add_table( &plan, scene, "table_start", 0, error ) &&
           add_table( &plan, scene, "table_end", cast, error ) && add_holds( &plan, scene, error ) &&
           add_performance( &plan, scene, library, error );
}
