// Hands and heads end a body: one bone, often a short one, says how they are turned, and contacts or a joint
// of the source that jumps (fingers of captures do) swing it about from frame to frame. What the mesh turns
// them by, against the part above and the pose graphs' pose, is averaged over time.
#include "closeness/private.h"

#include <stdlib.h>

#define STEADY 0.1 // seconds on either side
#define CALM   300 // degrees per second: slower changes stay
#define WILD   600 // faster ones are averaged

typedef struct steadying {
    const tr_mesh_party *party;
    int member, joints, span;
    quat *rotations; // [frames * joints] world
    vec3 *positions; // the same
    quat *turns;     // [frames]
} steadying;

// Whether a rule holds something of a part at a frame: the last fit brings it there in any case.
static bool is_held( const steadying *s, int part, int frame )
{
    const tr_stage *stage = s->party->work->stage;
    const tr_skeleton *skeleton = &stage->actors[s->member].target;
    for ( int r = 0; r < stage->rule_count; ++r ) {
        const tr_anchor *ends[2] = { &stage->rules[r].a, &stage->rules[r].b };
        for ( int e = 0; e < 2; ++e )
            if ( ends[e]->actor == s->member && ends[e]->count > 0 &&
                 tr_joint_is_above( skeleton, part, ends[e]->joints[0] ) &&
                 tr_rule_strength( &stage->rules[r], s->party->window->first + frame ) > 0 )
                return true;
    }
    return false;
}

// The turn of a part beyond the one it has without the mesh, in the axes of the part above.
static void find_turns( const steadying *s, int part, int above )
{
    for ( int f = 0; f < s->party->cast.frame_count; ++f ) {
        const quat *now = s->rotations + (size_t)f * (size_t)s->joints;
        tr_pose like =
            tr_world_pose( &s->party->work->result->worlds[s->member], s->party->window->first + f );
        s->turns[f] = q_mul( q_mul( q_conj( now[above] ), now[part] ),
                             q_mul( q_conj( like.rotations[part] ), like.rotations[above] ) );
    }
}

// How much a frame is to be averaged with those around it, 0 … 1: by the fastest change among them.
static double unrest( const steadying *s, int frame )
{
    double most = 0, second = s->party->work->stage->fps / TR_DEGREE;
    for ( int f = frame - s->span; f < frame + s->span; ++f )
        if ( f >= 0 && f + 1 < s->party->cast.frame_count )
            most = fmax( most, second * q_angle( s->turns[f], s->turns[f + 1] ) );
    return smooth_step5( clampd( ( most - CALM ) / ( WILD - CALM ), 0, 1 ) );
}

// `share` of the way to the mean.
static quat mean_turn( const steadying *s, int frame, double share )
{
    quat sum = { 0, 0, 0, 0 };
    for ( int f = frame - s->span; f <= frame + s->span; ++f ) {
        if ( f < 0 || f >= s->party->cast.frame_count )
            continue;
        quat q = s->turns[f];
        double weight = smooth_step5( 1 - abs( f - frame ) / ( s->span + 1.0 ) );
        weight = q_dot( q, s->turns[frame] ) < 0 ? -weight : weight;
        sum = ( quat ){ sum.x + weight * q.x, sum.y + weight * q.y, sum.z + weight * q.z,
                        sum.w + weight * q.w };
    }
    return q_slerp( s->turns[frame], q_unit( sum ), share );
}

static void steady_part( const steadying *s, int part, int above )
{
    const tr_skeleton *skeleton = &s->party->work->stage->actors[s->member].target;
    find_turns( s, part, above );
    for ( int f = 0; f < s->party->cast.frame_count; ++f ) {
        size_t first = (size_t)f * (size_t)s->joints;
        quat *rotations = s->rotations + first;
        vec3 *positions = s->positions + first;
        double share = unrest( s, f );
        if ( share == 0 || is_held( s, part, f ) )
            continue;
        quat by = q_mul( q_mul( rotations[above], q_mul( mean_turn( s, f, share ), q_conj( s->turns[f] ) ) ),
                         q_conj( rotations[above] ) );
        for ( int j = part; j < s->joints; ++j ) {
            if ( !tr_joint_is_above( skeleton, part, j ) )
                continue;
            positions[j] = v3_add( positions[part], q_rotate( by, v3_sub( positions[j], positions[part] ) ) );
            rotations[j] = q_unit( q_mul( by, rotations[j] ) );
        }
    }
}

bool tr_mesh_steady( const tr_mesh_party *p, int member, quat *rotations, vec3 *positions )
{
    const tr_skeleton *skeleton = &p->work->stage->actors[member].target;
    steadying s = { .party = p,
                    .member = member,
                    .joints = skeleton->joint_count,
                    .span = tr_frames_in( STEADY, p->work->stage->fps ),
                    .rotations = rotations,
                    .positions = positions,
                    .turns = tr_alloc( (size_t)p->cast.frame_count, sizeof( quat ) ) };
    for ( int j = 0; s.turns != NULL && j < s.joints; ++j ) {
        int above = skeleton->joints[j].parent;
        tr_role role = skeleton->joints[j].role;
        if ( above >= 0 && ( role == TR_ROLE_HAND || role == TR_ROLE_HEAD ) &&
             skeleton->joints[above].role != role && !skeleton->joints[j].end_site )
            steady_part( &s, j, above );
    }
    bool ok = s.turns != NULL;
    tr_free( s.turns );
    return ok;
}
