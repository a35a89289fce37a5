// Surfaces under hands and feet: the floor, or pieces of the environment. If source and scene differ (a walk
// recorded on level ground, with a step in its path), contacts are moved onto the environment: feet on top,
// other parts out of the nearest face.
#include "stage/private.h"

static double box_top( tr_solid solid )
{
    return solid.at.position.y + 0.5 * solid.shape.size.y;
}

// Height of a surface over or under p that is not above `high`; -INFINITY if there is none. Boxes have only a
// top.
static double top_at( tr_solid solid, vec3 p, double high )
{
    if ( solid.shape.kind != TR_SHAPE_BOX ) {
        vec3 from = v3( p.x, fmin( high, box_top( solid ) + 1 ), p.z );
        return from.y - tr_shape_height( &solid.shape, solid.at, from, 0, 0 );
    }
    vec3 q = rigid_apply( rigid_inverse( solid.at ), p );
    bool over = fabs( q.x ) <= 0.5 * solid.shape.size.x && fabs( q.z ) <= 0.5 * solid.shape.size.z;
    return over && box_top( solid ) <= high ? box_top( solid ) : -INFINITY;
}

double tr_stage_source_top( const tr_stage *stage, int obstacle, vec3 p )
{
    tr_solid solid = tr_stage_obstacle( stage, obstacle, true );
    if ( solid.shape.kind == TR_SHAPE_BOX )
        return box_top( solid );
    if ( tr_shape_distance( &solid.shape, solid.at, p, p, 0 ) < 0 ) // in it: what is above
        return p.y + tr_shape_exit( &solid.shape, rigid_apply( rigid_inverse( solid.at ), p ),
                                    q_unrotate( solid.at.rotation, v3_y ) );
    double top = top_at( solid, p, p.y );
    return isfinite( top ) ? top : box_top( solid );
}

double tr_stage_target_top( const tr_stage *stage, int obstacle, double floor, vec3 to )
{
    tr_solid from = tr_stage_obstacle( stage, obstacle, true ),
             solid = tr_stage_obstacle( stage, obstacle, false );
    if ( solid.shape.kind == TR_SHAPE_BOX )
        return box_top( solid );
    double scale = stage->scene->obstacles[obstacle].scale;
    double same = solid.at.position.y + scale * ( floor - from.at.position.y );
    double most = stage->def.surfaces.top_below, top = top_at( solid, to, same + most );
    return top > same - most ? top : same; // as high as that of the source, where there is nothing
}

// The highest obstacle under or around a point with a surface above `low` and not above `high`, or -1. *top
// is its height.
static int highest( const tr_stage *stage, vec3 p, double low, double high, bool of_source, int but,
                    double *top )
{
    int best = -1;
    *top = low;
    for ( int o = 0; o < stage->scene->obstacle_count; ++o ) {
        double here = o != but ? top_at( tr_stage_obstacle( stage, o, of_source ), p, high ) : -INFINITY;
        if ( here > *top && here <= high ) {
            best = o;
            *top = here;
        }
    }
    return best;
}

int tr_stage_obstacle_below( const tr_stage *stage, vec3 p, double size )
{
    double top;
    return highest( stage, p, fmax( stage->ground, p.y - size - stage->def.surfaces.top_below ), p.y, true,
                    -1, &top );
}

// On a slope every part of a foot has its own floor height; the one that was found serves all of them.
static int slope_of( const tr_stage *stage, const tr_rule *on )
{
    return on->obstacle >= 0 && stage->obstacle_shapes[on->obstacle].kind != TR_SHAPE_BOX ? on->obstacle : -1;
}

double tr_foot_source_floor( const tr_stage *stage, const tr_rule *on, double floor, vec3 lowest )
{
    int slope = slope_of( stage, on );
    double below,
        here = slope < 0 ? floor : top_at( tr_stage_obstacle( stage, slope, true ), lowest, INFINITY );
    if ( !( lowest.y < here ) )
        return floor;
    highest( stage, lowest, stage->ground, lowest.y, true, -1, &below );
    return lowest.y - below < here - lowest.y ? below : floor; // the nearer one
}

double tr_foot_climb( const tr_stage *stage, const tr_actor *actor, const tr_rule *on, double floor,
                      vec3 middle )
{
    double leg =
        fmax( tr_skeleton_leg_length( &actor->target ), tr_skeleton_leg_length( &actor->source.skeleton ) );
    const double rounding = 1e-6; // metres: a top this much higher is the floor itself
    double most = floor + stage->def.surfaces.climb * leg, top;
    int onto = highest( stage, middle, floor + rounding, most, false, slope_of( stage, on ), &top );
    return onto >= 0 ? top - floor : 0;
}

// How thick the part is that begins or ends at a joint.
static double thickness( const tr_body *body, int joint )
{
    double least = INFINITY;
    for ( int i = 0; i < body->capsule_count; ++i )
        if ( body->capsules[i].parent == joint || body->capsules[i].joint == joint )
            least = fmin( least, body->capsules[i].radius );
    return isfinite( least ) ? least : 0;
}

typedef struct way_def {
    double pressed_in; // metres: less deep inside stays
    double away;       // metres in front of the surface where the way ends
    bool sides;        // out of the nearest face, else of the top alone
} way_def;

static vec3 way_out_of_shape( tr_solid solid, vec3 p, const way_def *def )
{
    tr_touch touch = tr_shape_touch( &solid.shape, solid.at, p, p );
    if ( touch.distance >= -def->pressed_in )
        return v3_zero;
    double top = top_at( solid, p, INFINITY );
    if ( def->sides || !isfinite( top ) ) // an upright surface has no top
        return q_rotate( solid.at.rotation, v3_scale( def->away - touch.distance, touch.normal ) );
    return v3( 0, top - p.y + def->away, 0 );
}

// From a point inside a box to the front of its nearest face, but not through its bottom. Zero for a point
// that is hardly inside.
static vec3 way_out( tr_solid box, vec3 p, const way_def *def )
{
    if ( box.shape.kind != TR_SHAPE_BOX )
        return way_out_of_shape( box, p, def );
    vec3 q = rigid_apply( rigid_inverse( box.at ), p ), half = v3_scale( 0.5, box.shape.size );
    double x = half.x - fabs( q.x ), z = half.z - fabs( q.z ), y = half.y - q.y;
    if ( fmin( fmin( x, z ), fmin( y, half.y + q.y ) ) <= def->pressed_in )
        return v3_zero;
    double away = def->away;
    if ( !def->sides || ( y <= x && y <= z ) )
        return v3( 0, y + away, 0 );
    vec3 out = x <= z ? v3( copysign( x + away, q.x ), 0, 0 ) : v3( 0, 0, copysign( z + away, q.z ) );
    return q_rotate( box.at.rotation, out );
}

vec3 tr_hand_onto( const tr_stage *stage, const tr_actor *actor, const tr_rule *rule, vec3 place )
{
    int joint = rule->a.joints[0];
    tr_role role = actor->target.joints[joint].role;
    way_def def = { .pressed_in = stage->def.surfaces.pressed_in,
                    .away = thickness( &actor->body, joint ),
                    .sides = role == TR_ROLE_HAND || role == TR_ROLE_FINGER };
    for ( int o = 0; o < stage->scene->obstacle_count; ++o ) {
        if ( rule->obstacle >= 0 && rule->obstacle != o )
            continue;
        vec3 way = way_out( tr_stage_obstacle( stage, o, false ), place, &def );
        if ( v3_length( way ) > 0 )
            return way;
    }
    return v3_zero;
}
