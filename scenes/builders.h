// The builders behind the scene table; private to scenes/. See tr_scene_entry for what a builder does.
#ifndef TROUPE_SCENES_BUILDERS_H
#define TROUPE_SCENES_BUILDERS_H

#include "troupe.h"

bool tr_box_relay_build( int cast, tr_scene *scene, tr_library *library, tr_error *error );
bool tr_squat_chain_build( int cast, tr_scene *scene, tr_library *library, tr_error *error );
bool tr_corridor_build( int cast, tr_scene *scene, tr_library *library, tr_error *error );
bool tr_spider_build( int cast, tr_scene *scene, tr_library *library, tr_error *error );
bool tr_wolf_build( int cast, tr_scene *scene, tr_library *library, tr_error *error );
bool tr_high_five_build( int cast, tr_scene *scene, tr_library *library, tr_error *error );
bool tr_arm_circles_build( int cast, tr_scene *scene, tr_library *library, tr_error *error );
bool tr_sword_pair_build( int cast, tr_scene *scene, tr_library *library, tr_error *error );
bool tr_mixed_cast_build( int cast, tr_scene *scene, tr_library *library, tr_error *error );
bool tr_car_entry_build( int cast, tr_scene *scene, tr_library *library, tr_error *error );
bool tr_judo_pair_build( int cast, tr_scene *scene, tr_library *library, tr_error *error );
bool tr_bowling_pin_build( int cast, tr_scene *scene, tr_library *library, tr_error *error );
bool tr_rabbit_build( int cast, tr_scene *scene, tr_library *library, tr_error *error );
bool tr_elephant_build( int cast, tr_scene *scene, tr_library *library, tr_error *error );
bool tr_menagerie_build( int cast, tr_scene *scene, tr_library *library, tr_error *error );
bool tr_dance_pair_build( int cast, tr_scene *scene, tr_library *library, tr_error *error );

#endif
