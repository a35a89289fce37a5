// Members of a stage: actors, then props, then obstacles.
#include "stage/private.h"

#include <string.h>

int tr_stage_member_count( const tr_stage *stage )
{
    return stage->actor_count + stage->prop_count + stage->scene->obstacle_count;
}

const char *tr_stage_member_id( const tr_stage *stage, int member )
{
    const tr_scene *scene = stage->scene;
    int prop = member - stage->actor_count, obstacle = prop - stage->prop_count;
    return prop < 0       ? scene->cast[member].id
           : obstacle < 0 ? scene->props[prop].id
                          : scene->obstacles[obstacle].id;
}

int tr_stage_find_member( const tr_stage *stage, const char *id )
{
    for ( int m = 0; m < tr_stage_member_count( stage ); ++m )
        if ( strcmp( tr_stage_member_id( stage, m ), id ) == 0 )
            return m;
    return -1;
}

bool tr_stage_passes( const tr_stage *stage, int a, int b, int frame )
{
    int at = stage->scene->first + frame;
    for ( int i = 0; i < stage->scene->pair_count; ++i ) {
        const tr_pair *pair = &stage->scene->pairs[i];
        if ( pair->kind != TR_PAIR_PASS || at < pair->first || at > pair->last )
            continue;
        int x = tr_stage_find_member( stage, pair->a ),
            y = pair->b[0] != 0 ? tr_stage_find_member( stage, pair->b ) : -1; // -1: any other
        if ( y >= 0 ? ( x == a && y == b ) || ( x == b && y == a ) : x == a || x == b )
            return true;
    }
    return false;
}
