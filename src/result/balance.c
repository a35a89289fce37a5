// Balance: the place a centre of mass is to be over.
//
// Every contact carries weight w(t): all of it while it lasts, less and less over a step's time before and
// after. With p(t) the place where it stands, before and after at the place where it landed or left, the
// support is
//
//   c(t) = Σ w p / Σ w,
//
// over all contacts and over a span of time around t, nearer moments counting more: a body shifts its weight
// before it lifts a foot, and gently. The places are those of the footings, with what edits did to them, not
// those of a pose, so that no frame waits for another. Nothing can balance in the air: as far as the
// body has no contact, the place is the centre of mass itself.
#include "result/private.h"

#include <stdlib.h>

static double weight_of( const tr_stage *stage, const tr_contact *contact, int frame )
{
    double ease = ceil( stage->def.rules.weight_time * stage->fps );
    return contact->surface == TR_SURFACE_PROP
               ? 0
               : tr_fade_range( frame, contact->first, contact->last, ease, ease );
}

// Where a joint of the target that touches stands.
static vec3 standing_place( const tr_stage *stage, const tr_result *result, int actor, int joint, int frame )
{
    const tr_actor *body = &stage->actors[actor];
    const tr_anchor anchor = {
        .actor = actor, .prop = -1, .joints = { joint }, .weights = { 1 }, .count = 1 };
    int carrier = tr_extremity_carrier( &body->target, joint );
    vec3 source = tr_anchor_source( stage, &anchor, frame );
    vec3 place = tr_group_place( &stage->groups[body->group], source );
    for ( int i = 0; i < body->footing_count; ++i )
        if ( body->footings[i].joint == carrier )
            place = v3_mad( body->footings[i].shift[frame], body->footings[i].rise, source );
    if ( result->steps != NULL && result->steps[actor] != NULL )
        place = tr_step_apply( result->steps[actor][tr_step_cell( stage, carrier, frame )], place );
    return place;
}

typedef struct support {
    vec3 sum;
    double weight, airborne;
} support;

static void add_moment( support *s, const tr_stage *stage, const tr_result *result, int actor, int frame,
                        double share )
{
    const tr_contacts *contacts = &stage->actors[actor].contacts;
    double weights = 0;
    for ( int c = 0; c < contacts->count; ++c ) {
        const tr_contact *contact = &contacts->items[c];
        double weight = weight_of( stage, contact, frame );
        int joint = weight > 0 ? tr_actor_target_joint( &stage->actors[actor], contact->joint ) : -1;
        if ( joint < 0 )
            continue;
        int stands = frame < contact->first ? contact->first : frame > contact->last ? contact->last : frame;
        s->sum = v3_mad( s->sum, share * weight, standing_place( stage, result, actor, joint, stands ) );
        weights += weight;
    }
    s->weight += share * weights;
    s->airborne += share * fmax( 1.0 - weights, 0.0 );
}

vec3 tr_support_centre( const tr_stage *stage, const tr_result *result, int actor, int frame, vec3 mass )
{
    support s = { 0 };
    int span = tr_frames_in( stage->def.rules.support_time, stage->fps ), last = stage->frame_count - 1;
    for ( int k = -span; k <= span; ++k ) {
        int at = frame + k < 0 ? 0 : frame + k > last ? last : frame + k;
        add_moment( &s, stage, result, actor, at, tr_fade( abs( k ), span ) );
    }
    return v3_scale( 1.0 / ( s.weight + s.airborne ), v3_mad( s.sum, s.airborne, mass ) );
}

// How far the joints that stand at a frame are from where they belong, on average. Feet of another file's
// shape are not compared: of them one joint alone is held.
vec3 tr_support_misplaced( const tr_stage *stage, const tr_result *result, int actor, int frame )
{
    const tr_actor *body = &stage->actors[actor];
    vec3 sum = v3_zero;
    int count = 0;
    for ( int c = 0; c < body->contacts.count && !body->foreign; ++c ) {
        const tr_contact *contact = &body->contacts.items[c];
        bool stands =
            frame >= contact->first && frame <= contact->last && contact->surface != TR_SURFACE_PROP;
        int joint = stands ? tr_actor_target_joint( body, contact->joint ) : -1;
        if ( joint < 0 || ( body->target.joints[joint].role != TR_ROLE_FOOT &&
                            body->target.joints[joint].role != TR_ROLE_TOE ) )
            continue;
        vec3 now = tr_world_pose( &result->worlds[actor], frame ).positions[joint];
        sum = v3_add( sum, v3_sub( now, standing_place( stage, result, actor, joint, frame ) ) );
        ++count;
    }
    return count > 0 ? v3_scale( 1.0 / count, sum ) : v3_zero;
}
