#include "scenes/scenes.h"

#include "scenes/builders.h"

#include <assert.h>
#include <string.h>

static const tr_scene_entry table[] = {
    { "box_relay", "people pass yellow boxes along a curved line", 19, 2, 2000, tr_box_relay_build },
    { "squat_chain", "people side by side, hand in hand, squat together", 24, 2, 500, tr_squat_chain_build },
    { "corridor", "two streams of walkers pass through a narrow corridor", 120, 2, 400, tr_corridor_build },
    { "spider", "eight legs walk, turn and climb over a step", 1, 1, 12, tr_spider_build },
    { "wolf", "a wolf walks along a curve and breaks into a trot", 1, 1, 12, tr_wolf_build },
    { "high_five", "two people walk up and clap their hands together", 2, 2, 2, tr_high_five_build },
    { "arm_circles", "arms roll and circle around their own body", 1, 1, 1, tr_arm_circles_build },
    { "sword_pair", "a stab that is meant to pierce", 2, 2, 2, tr_sword_pair_build },
    { "mixed_cast", "two people, a crate, a spider and a wolf", 4, 4, 4, tr_mixed_cast_build },
    { "car_entry", "a person gets into a car", 1, 1, 1, tr_car_entry_build },
    { "judo_pair", "a hold and a hip throw", 2, 2, 2, tr_judo_pair_build },
    { "elephant", "a person waves, and an elephant its trunk", 1, 1, 1, tr_elephant_build },
    { "bowling_pin", "a person hops and bends, and so does a bowling pin", 1, 1, 1, tr_bowling_pin_build },
    { "rabbit", "a rabbit whose ears go with a person's arms", 1, 1, 1, tr_rabbit_build },
    { "menagerie", "an elephant, a person and a rabbit hand a box along", 3, 3, 3, tr_menagerie_build },
    { "dance_pair", "a couple in closed hold turns through a waltz", 2, 2, 2, tr_dance_pair_build },
};

const tr_scene_entry *tr_scene_table( int *count )
{
    *count = (int)( sizeof table / sizeof table[0] );
    return table;
}

const tr_scene_entry *tr_scene_entry_find( const char *name )
{
    for ( size_t i = 0; i < sizeof table / sizeof table[0]; ++i )
        if ( strcmp( table[i].name, name ) == 0 )
            return &table[i];
    return NULL;
}

bool tr_scene_build( const tr_scene_entry *entry, int cast, tr_scene *scene, tr_library *library,
                     tr_error *error )
{
    assert( entry != NULL );
    if ( cast == 0 )
        cast = entry->default_cast;
    if ( cast < entry->min_cast || cast > entry->max_cast )
        return tr_error_set( error, "scene %s takes %d to %d characters, not %d", entry->name,
                             entry->min_cast, entry->max_cast, cast );
    *scene = tr_default_scene();
    *library = ( tr_library ){ 0 };
    if ( entry->build( cast, scene, library, error ) )
        return true;
    tr_scene_free( scene );
    tr_library_free( library );
    return false;
}
