// What hands and feet are on: the floor, or boxes of the environment. Where source and scene do not agree
// about the environment (a walk recorded on level ground, a step put into its way), whoever touches it is
// brought onto it: feet on top, other parts out of the nearest face.
#include "scene/scene_private.h"

#define CLIMB      0.3  // of the legs, the longer ones of source and target: nobody walks onto a higher step
#define PRESSED_IN 0.02 // metres: hands that lean on a table are in it by so much
#define BEHIND     0.3  // metres from a point down to the top of the box it touches, at most

double tr_stage_top( const tr_stage *stage, int obstacle, bool of_source )
{
    tr_stage_box box = tr_stage_obstacle( stage, obstacle, of_source );
    return box.at.position.y + 0.5 * box.size.y;
}

static bool is_over( tr_stage_box box, vec3 p )
{
    vec3 q = rigid_apply( rigid_inverse( box.at ), p );
    return fabs( q.x ) <= 0.5 * box.size.x && fabs( q.z ) <= 0.5 * box.size.z;
}

// Of the boxes under or around a point the highest with its top above `low` and not above `high`; -1: none.
static int highest_box( const tr_stage *stage, vec3 p, double low, double high, bool of_source )
{
    int best = -1;
    for ( int o = 0; o < stage->scene->obstacle_count; ++o ) {
        double top = tr_stage_top( stage, o, of_source );
        if ( top > low && top <= high && is_over( tr_stage_obstacle( stage, o, of_source ), p ) ) {
            best = o;
            low = top;
        }
    }
    return best;
}

int tr_stage_box_below( const tr_stage *stage, vec3 p, double size )
{
    return highest_box( stage, p, fmax( stage->ground, p.y - size - BEHIND ), p.y, true );
}

double tr_foot_source_floor( const tr_stage *stage, double floor, vec3 lowest )
{
    if ( lowest.y >= floor )
        return floor;
    int box = highest_box( stage, lowest, stage->ground, lowest.y, true );
    double below = box >= 0 ? tr_stage_top( stage, box, true ) : stage->ground;
    return lowest.y - below < floor - lowest.y ? below : floor; // the nearer one
}

double tr_foot_climb( const tr_stage *stage, const tr_actor *actor, double floor, vec3 middle )
{
    double leg =
        fmax( tr_skeleton_leg_length( &actor->target ), tr_skeleton_leg_length( &actor->source.skeleton ) );
    double most = floor + CLIMB * leg;
    int box = highest_box( stage, middle, floor + 1e-6, most, false );
    return box >= 0 ? tr_stage_top( stage, box, false ) - floor : 0;
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

// From a point inside a box to `away` in front of its nearest face; never out of the one it stands on. Zero
// for a point that is hardly inside, or only the top for what is no hand.
static vec3 way_out( tr_stage_box box, vec3 p, double away, bool sides )
{
    vec3 q = rigid_apply( rigid_inverse( box.at ), p ), half = v3_scale( 0.5, box.size );
    double x = half.x - fabs( q.x ), z = half.z - fabs( q.z ), y = half.y - q.y;
    if ( fmin( fmin( x, z ), fmin( y, half.y + q.y ) ) <= PRESSED_IN )
        return v3_zero;
    if ( !sides || ( y <= x && y <= z ) )
        return v3( 0, y + away, 0 );
    vec3 out = x <= z ? v3( copysign( x + away, q.x ), 0, 0 ) : v3( 0, 0, copysign( z + away, q.z ) );
    return q_rotate( box.at.rotation, out );
}

vec3 tr_hand_onto( const tr_stage *stage, const tr_actor *actor, const tr_rule *rule, vec3 place )
{
    int joint = rule->a.joints[0];
    tr_role role = actor->target.joints[joint].role;
    bool hand = role == TR_ROLE_HAND || role == TR_ROLE_FINGER;
    for ( int o = 0; o < stage->scene->obstacle_count; ++o ) {
        if ( rule->obstacle >= 0 && rule->obstacle != o )
            continue;
        vec3 way =
            way_out( tr_stage_obstacle( stage, o, false ), place, thickness( &actor->body, joint ), hand );
        if ( v3_length( way ) > 0 )
            return way;
    }
    return v3_zero;
}
