// Which bodies sections drive, and how far handles of all kinds are off their places on the solved bodies.
//
// A handle may hold a point. A section, or a vertex of one, drives the bodies in it: their roots, the middles
// of props, and the ends of limbs that are grabbed alone, such as hands and feet. A section moves them as
// rigidly as it was moved; a vertex moves them with the cage. Where handles yield (handles.c) a vertex asks
// for less: the rest counts as if the cage gave way evenly. The report names the body that is farthest off
// among those a handle drives.
#include "layer/private.h"

// ---------------------------------------------------------------------------------------------------- build

static bool hangs_on( const tr_skeleton *skeleton, int joint, int above )
{
    while ( joint > above )
        joint = skeleton->joints[joint].parent;
    return joint == above;
}

// A hand, a foot, or the last joint of a grabbed limb: only parts of the same hand or foot hang on it.
static bool is_end( const tr_skeleton *skeleton, const bool *grabbed, int joint )
{
    int carrier = tr_extremity_carrier( skeleton, joint );
    bool end = carrier == joint || !grabbed[carrier];
    for ( int j = joint + 1; end && j < skeleton->joint_count; ++j )
        end = !grabbed[j] || !hangs_on( skeleton, j, joint ) || tr_extremity_carrier( skeleton, j ) == joint;
    return end;
}

static void lead( tr_cage_layer *l, int body, int actor, int joint )
{
    tr_anchor anchor = { .actor = actor, .prop = -1, .joints = { joint }, .weights = { 1 }, .count = 1 };
    if ( actor < 0 )
        anchor = ( tr_anchor ){ .actor = -1, .prop = l->bodies[body].node - l->stage->actor_count };
    l->driven[l->driven_count++] = ( tr_driven ){ body, anchor };
}

bool tr_driven_build( tr_cage_layer *l )
{
    bool any = false;
    for ( int h = 0; h < l->handle_count; ++h )
        any = any || l->handles[h].kind != TR_HANDLE_POINT;
    l->driven = any ? tr_alloc( (size_t)l->point_count, sizeof( tr_driven ) ) : NULL;
    if ( any && l->driven == NULL )
        return false;
    for ( int i = 0; any && i < l->body_count; ++i ) {
        const tr_moved_body *body = &l->bodies[i];
        if ( body->node >= l->stage->actor_count ) {
            lead( l, i, -1, -1 );
            continue;
        }
        const tr_skeleton *skeleton = &l->stage->actors[body->node].target;
        for ( int p = body->first; p < body->first + body->count; ++p ) {
            int joint = l->bound[p].part;
            if ( body->lead >= 0 ? p == body->lead : is_end( skeleton, l->grab->joints[body->node], joint ) )
                lead( l, i, body->node, joint );
        }
    }
    return true;
}

void tr_driven_free( tr_cage_layer *l )
{
    tr_free( l->driven );
}

// ---------------------------------------------------------------------------------------------------- judge

static double whole_of( const tr_cage_layer *l, double part, double share )
{
    return part / fmax( share, l->def.least_share );
}

// Where the handle alone would have the place go that the cage takes from `from` to `to`.
static vec3 asked_place( const tr_cage_layer *l, int handle, vec3 from, vec3 to )
{
    const tr_cage_handle *held = &l->handles[handle];
    const tr_handle *wanted = &l->stage->scene->handles[l->handle_index[handle]];
    if ( held->kind == TR_HANDLE_SECTION ) {
        vec3 centre = l->cage.places[held->frame - l->cage.begin].position;
        quat turn = q_from_vector( v3_scale( TR_DEGREE, wanted->turn ) );
        return v3_add( v3_add( centre, wanted->move ), q_rotate( turn, v3_sub( from, centre ) ) );
    }
    tr_handle_share share = l->handle_shares[l->handle_index[handle]];
    double soft = l->soft ? share.soft : 1;
    vec3 way = v3_sub( to, from );
    return v3_add( from, v3( whole_of( l, way.x, soft * share.over ), whole_of( l, way.y, soft * share.up ),
                             whole_of( l, way.z, soft * share.over ) ) );
}

static void judge_led( const tr_cage_layer *l, const tr_result *result, int handle, const tr_driven *driven,
                       tr_handle_report *report )
{
    int frame = l->handles[handle].frame;
    vec3 from = tr_anchor_position( l->stage, l->below, &driven->anchor, frame ), to;
    tr_cage_move_points( &l->cage, frame, &from, 1, &to );
    vec3 asked = asked_place( l, handle, from, to );
    double error = 1e3 * v3_distance( tr_anchor_position( l->stage, result, &driven->anchor, frame ), asked );
    if ( report->node >= 0 && error <= report->error_mm )
        return;
    report->node = l->bodies[driven->body].node;
    report->joint = driven->anchor.prop >= 0 ? -1 : driven->anchor.joints[0];
    report->place = asked;
    report->error_mm = error;
}

// How far the cage itself leaves a vertex off: another handle may hold it, or a pinned end of the window.
static double cage_error( const tr_cage_layer *l, int handle )
{
    const tr_cage *cage = &l->cage;
    int frame = l->handles[handle].frame;
    bool pinned = ( frame == cage->first && cage->def.start == TR_CAGE_PINNED ) ||
                  ( frame == cage->last && cage->def.end == TR_CAGE_PINNED );
    return pinned ? v3_length( l->stage->scene->handles[l->handle_index[handle]].move )
                  : l->handle_errors[handle];
}

tr_handle_report tr_handle_judge( const tr_cage_layer *l, const tr_result *result, int handle )
{
    const tr_cage_handle *held = &l->handles[handle];
    int index = l->handle_index[handle];
    tr_handle_report report = { .acted = true, .node = -1, .joint = -1 };
    if ( held->kind == TR_HANDLE_POINT ) {
        report.place = v3_add( held->place, l->stage->scene->handles[index].move );
        vec3 now = tr_anchor_position( l->stage, result, &l->stage->handles[index], held->frame );
        report.error_mm = 1e3 * v3_distance( now, report.place );
        return report;
    }
    for ( int i = 0; i < l->driven_count; ++i )
        judge_led( l, result, handle, &l->driven[i], &report );
    double cage = 1e3 * cage_error( l, handle );
    if ( cage > report.error_mm )
        report = ( tr_handle_report ){ .acted = true, .node = -1, .joint = -1, .error_mm = cage };
    return report;
}
