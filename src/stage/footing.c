// Where feet (and hands that stand) go, over the whole clip.
//
// A stance is everything one foot does on a surface between landing and leaving: contacts of its heel, sole
// and toes that overlap in time or hardly leave it. With p(t) the source's place of a joint of the foot and c
// the mean place of the ankle in the stance s, the joint belongs at
//
//   target(t) = group(c) + ρ (p(t) − c) + drift(t),   ρ = size of the target's foot : the source's,
//
// and heights above the surface scale by ρ too (from where either foot stands, see soles.c). So heel and toe
// of a smaller foot agree, the foot rolls as in the source, and equal bodies give the source back. All of it
// is one vector per frame and foot:
//
//   target(t) = ρ p(t) + shift(t),   shift = group(c) − ρ c + drift (in height: floor − ρ floor).
// On a box of the environment that is larger, smaller or elsewhere for the target, the box takes the place of
// the group, and its new top that of the floor.
//
// Drift. A foot that rolls over its toes moves its ankle by ρ times as much, because it is longer. But a foot
// that slides as a whole, which in captures is mostly noise, must not slide more on a larger body. The slide
// ℓ(t) is the path of the slowest part of the foot at each moment. A larger foot keeps only σ = ρ⁻² of it:
//
//   drift = − (ρ − σ) (ℓ − mean ℓ),   σ = ρ for ρ ≤ 1,
//
// softly limited, so that a foot that glides on purpose stays under the body.
//
// Between two stances the shift goes from that of the one to that of the next, on a minimum-jerk curve over
// the whole swing: the foot swings as in the source, on a step as long as the target's stances are apart.
// In a swing longer than two times `longest_ease` it follows the copied path in between.
#include "stage/footing.h"

// --------------------------------------------------------------------------------------------------- drift

// Horizontal step of what a rule holds, from a frame to the next; in m/s.
static vec3 velocity( const tr_footing_work *w, const tr_rule *rule, int frame )
{
    vec3 step = v3_sub( tr_anchor_source( w->stage, &rule->a, frame + 1 ),
                        tr_anchor_source( w->stage, &rule->a, frame ) );
    return v3_scale( w->stage->fps, v3_horizontal( step ) );
}

static double mean_square_speed( const tr_footing_work *w, const tr_rule *rule, int frame )
{
    int span = tr_frames_in( w->stage->def.footings.slide_span, w->stage->fps ), count = 0;
    double sum = 0;
    for ( int f = frame - span; f <= frame + span; ++f )
        if ( f >= 0 && f + 1 < w->stage->frame_count ) {
            vec3 v = velocity( w, rule, f );
            sum += v3_dot( v, v );
            count++;
        }
    return count > 0 ? sum / count : 0;
}

// Velocity of the slowest part of the foot: the mean of all, weighted by the inverse fourth power of speed.
static vec3 slide_velocity( const tr_footing_work *w, const tr_placed_stance *s, int frame )
{
    vec3 sum = v3_zero;
    double weights = 0, still = w->stage->def.footings.still;
    for ( int r = s->span.rule; r < s->span.rule + s->span.rule_count; ++r ) {
        double square = mean_square_speed( w, w->rules[r], frame ) + still * still;
        sum = v3_mad( sum, 1.0 / ( square * square ), velocity( w, w->rules[r], frame ) );
        weights += 1.0 / ( square * square );
    }
    return v3_scale( 1.0 / weights, sum );
}

static double fade( const tr_placed_stance *s, double ease_in, double ease_out, int frame )
{
    return tr_fade_range( frame, s->span.first, s->span.last, ease_in, ease_out );
}

// A foot of a body that moves by examples stands where it stands on average, as high as its lowest part lets
// it: its blended poses slip and sink a little by chance. Before and after the stance it keeps what it had at
// the ends, but nothing of it is below the floor.
static void plant( const tr_footing_work *w, tr_placed_stance *s, const double *soles )
{
    const tr_stage *stage = w->stage;
    const tr_actor *actor = &stage->actors[w->actor];
    int first, last, joint = s->span.on->a.joints[0];
    tr_rule_frames( stage, &( tr_rule ){ .first = s->span.first, .last = s->span.last }, &first, &last );
    vec3 mean = v3_zero;
    for ( int f = first; f <= last; ++f )
        mean = v3_mad( mean, 1.0 / ( last - first + 1 ), tr_world_pose( &actor->world, f ).positions[joint] );
    for ( int f = 0; f < stage->frame_count; ++f ) {
        int at = f < first ? first : f > last ? last : f;
        double lowest = s->span.on->floor + soles[(size_t)joint * (size_t)stage->frame_count + (size_t)f];
        mean.y = s->span.on->floor + soles[(size_t)joint * (size_t)stage->frame_count + (size_t)at];
        s->drift[f] = v3_sub( mean, tr_world_pose( &actor->world, at ).positions[joint] );
        s->drift[f].y = fmax( s->drift[f].y, lowest - tr_world_pose( &actor->world, f ).positions[joint].y );
    }
}

static bool add_drift( const tr_footing_work *w, tr_placed_stance *s )
{
    double rise = w->footing->rise, kept = fmin( rise, 1.0 / ( rise * rise ) );
    const tr_stage *stage = w->stage;
    const tr_actor_examples *examples = stage->actors[w->actor].examples;
    if ( examples != NULL ) {
        s->drift = tr_alloc( (size_t)stage->frame_count, sizeof( vec3 ) );
        if ( s->drift != NULL )
            plant( w, s, examples->soles );
        return s->drift != NULL;
    }
    int ease = tr_frames_in( stage->def.footings.slide_ease, stage->fps ), n = stage->frame_count,
        in_stance = 0;
    if ( kept == rise )
        return true;
    s->drift = tr_alloc( (size_t)n, sizeof( vec3 ) );
    if ( s->drift == NULL )
        return false;
    vec3 mean = v3_zero;
    for ( int f = 0; f < n; ++f ) {
        double share = f > 0 ? fmin( fade( s, ease, ease, f - 1 ), fade( s, ease, ease, f ) ) : 0;
        s->drift[f] = f > 0 ? s->drift[f - 1] : v3_zero;
        if ( share > 0 )
            s->drift[f] = v3_mad( s->drift[f], share / stage->fps, slide_velocity( w, s, f - 1 ) );
        if ( f >= s->span.first && f <= s->span.last ) {
            mean = v3_add( mean, s->drift[f] );
            in_stance++;
        }
    }
    double most = stage->def.footings.most_drift * tr_skeleton_height( &stage->actors[w->actor].target );
    for ( int f = 0; f < n; ++f ) {
        vec3 from_mean = in_stance > 0 ? v3_mad( s->drift[f], -1.0 / in_stance, mean ) : v3_zero;
        vec3 wish = v3_scale( kept - rise, from_mean );
        double whole = sqrt( most * most + v3_dot( wish, wish ) );
        s->drift[f] =
            whole > 0 ? v3_scale( most / whole, wish ) : v3_zero; // a body of no size does not drift
    }
    return true;
}

// ------------------------------------------------------------------------------------------------- footing

// The joint that holds a foot of another shape. It is always the same one: heel, ball and toes of the source
// do not agree about the place of such a foot, so it would jump from one to the next. Takes the joint that
// touches longest and is not a tip.
static int holding_joint( const tr_footing_work *w )
{
    const tr_skeleton *target = &w->stage->actors[w->actor].target;
    int best = w->rules[0]->a.joints[0];
    double longest = -1;
    for ( int r = 0; r < w->rule_count; ++r ) {
        int joint = w->rules[r]->a.joints[0];
        double touches = 0;
        for ( int q = 0; q < w->rule_count && !target->joints[joint].end_site; ++q )
            touches += w->rules[q]->a.joints[0] == joint ? w->rules[q]->last - w->rules[q]->first + 1 : 0;
        if ( touches > longest || ( touches == longest && joint < best ) ) {
            longest = touches;
            best = joint;
        }
    }
    return best;
}

// Height of the joint that holds a foot of another shape above the foot's lowest joint or heel, with the
// rotation of the source.
static double depth_below_hold( const tr_footing_work *w, int frame )
{
    const tr_actor *actor = &w->stage->actors[w->actor];
    const quat *source = tr_world_pose( &actor->world, frame ).rotations;
    double lowest = 0, hold = 0;
    for ( int j = w->footing->joint; j < actor->target.joint_count; ++j ) {
        const tr_joint *joint = &actor->target.joints[j];
        bool first = j == w->footing->joint;
        if ( tr_extremity_carrier( &actor->target, j ) != w->footing->joint )
            continue;
        tr_pose pose = w->foot;
        pose.positions[j] = first ? v3_zero
                                  : v3_add( pose.positions[joint->parent],
                                            q_rotate( pose.rotations[joint->parent], joint->offset ) );
        pose.rotations[j] = first || actor->map[j] >= 0 ? tr_actor_source_turn( actor, j, source )
                                                        : q_mul( pose.rotations[joint->parent], joint->rest );
        lowest = fmin( lowest, pose.positions[j].y );
        if ( first && actor->target.joints[j].role == TR_ROLE_FOOT ) // its heel
            lowest = fmin( lowest, w->stage->def.footings.heel_slack - tr_actor_sole( actor, j ).target );
        if ( j == w->held_by )
            hold = pose.positions[j].y;
    }
    return hold - lowest;
}

// The footing at a frame: the mean shift of its stances, weighted by how far each has faded, and the rule
// whose contact is nearest in time. A foot of another shape is raised to keep all its joints above the floor:
// with h the height of its lowest joint and m a margin, by (m − h)² / 4m for |h| < m, by −h below.
static void blend( tr_footing_work *w, int frame )
{
    const tr_actor *actor = &w->stage->actors[w->actor];
    double margin = w->stage->def.footings.sole_margin, weights = 0, held = 0;
    vec3 sum = v3_zero;
    if ( w->held_by >= 0 ) {
        const vec3 *places = tr_world_pose( &actor->world, frame ).positions;
        held = w->footing->rise * tr_actor_source_place( actor, w->held_by, places ).y;
    }
    double depth = w->held_by >= 0 ? depth_below_hold( w, frame ) : 0;
    for ( int i = 0; i < w->stance_count; ++i ) {
        const tr_placed_stance *s = &w->stances[i];
        double weight = fade( s, s->ease_in, s->ease_out, frame );
        if ( !( weight > 0 ) )
            continue;
        vec3 shift = s->drift != NULL ? v3_add( s->shift, s->drift[frame] ) : s->shift;
        if ( w->held_by >= 0 ) {
            double h = held + s->shift.y + s->onto - tr_rule_floor( w->stage, s->span.on ) - depth,
                   below = margin - h;
            shift.y += h <= -margin ? -h : h < margin ? below * below / ( 4 * margin ) : 0;
        }
        sum = v3_mad( sum, weight, shift );
        weights += weight;
    }
    w->footing->shift[frame] = weights > 0 ? v3_scale( 1.0 / weights, sum ) : v3_zero;
    w->footing->strength[frame] = fmin( weights, 1.0 );

    const tr_rule *nearest = NULL; // the first of the stage among equals
    int least = 0;
    for ( int r = 0; r < w->rule_count; ++r ) {
        const tr_rule *rule = w->rules[r];
        if ( w->held_by >= 0 && rule->a.joints[0] != w->held_by )
            continue;
        int away = frame < rule->first ? rule->first - frame : frame > rule->last ? frame - rule->last : 0;
        if ( nearest == NULL || away < least || ( away == least && rule < nearest ) ) {
            nearest = rule;
            least = away;
        }
    }
    w->footing->rule[frame] = (int)( nearest - w->stage->rules );
}

// Lets the footing fade between stances where another rule holds this hand or foot.
static void give_way( tr_footing_work *w )
{
    const tr_stage *stage = w->stage;
    for ( int i = 0; i < w->mine_count; ++i ) {
        const tr_rule *rule = &w->stage->rules[w->mine[i]];
        if ( rule->footing >= 0 || !tr_rule_holds( stage, rule, w->actor, w->footing->joint ) )
            continue;
        for ( int f = 0; f < stage->frame_count; ++f )
            w->footing->strength[f] *= 1.0 - tr_rule_strength( rule, f );
    }
    for ( int i = 0; i < w->stance_count; ++i )
        for ( int f = w->stances[i].span.first; f <= w->stances[i].span.last; ++f )
            w->footing->strength[f] = 1;
}

// Adds the lift of this foot to that of the body, as far as the foot stands.
static void add_lift( tr_footing_work *w )
{
    for ( int f = 0; w->lift != NULL && f < w->stage->frame_count && tr_footing_is_foot( w ); ++f ) {
        double sum = 0, weights = 0;
        for ( int i = 0; i < w->stance_count; ++i ) {
            const tr_placed_stance *s = &w->stances[i];
            double weight = fade( s, s->ease_in, s->ease_out, f );
            sum += weight * s->lift;
            weights += weight;
        }
        if ( weights > 0 ) {
            w->lift[f] += w->footing->strength[f] * sum / weights;
            w->weight[f] += w->footing->strength[f];
        }
    }
}

// Lift of the body: the mean of the feet that stand, zero in the air.
static bool lift_actor( tr_footing_work *w, tr_actor *actor )
{
    bool any = false;
    int frames = w->lift != NULL ? w->stage->frame_count : 0;
    for ( int f = 0; f < frames; ++f ) {
        w->lift[f] /= fmax( w->weight[f], 1 );
        any = any || w->lift[f] != 0;
    }
    actor->lift = any ? tr_alloc( (size_t)frames, sizeof( double ) ) : NULL;
    for ( int f = 0; f < frames; ++f ) {
        if ( actor->lift != NULL )
            actor->lift[f] = w->lift[f];
        w->lift[f] = w->weight[f] = 0;
    }
    return !any || actor->lift != NULL;
}

static bool build_footing( tr_footing_work *w )
{
    size_t frames = (size_t)w->stage->frame_count;
    tr_footing *footing = w->footing;
    footing->shift = tr_alloc( frames, sizeof( vec3 ) );
    footing->strength = tr_alloc( frames, sizeof( double ) );
    footing->rule = tr_alloc( frames, sizeof( int ) );
    bool ok = footing->shift != NULL && footing->strength != NULL && footing->rule != NULL;
    tr_footing_stances( w );
    w->held_by = w->stage->actors[w->actor].foreign ? holding_joint( w ) : -1;
    for ( int i = 0; ok && i < w->stance_count; ++i ) {
        tr_stance_put( w, &w->stances[i] );
        ok = add_drift( w, &w->stances[i] );
    }
    for ( int f = 0; ok && f < w->stage->frame_count; ++f )
        blend( w, f );
    if ( ok ) {
        tr_stances_climb( w );
        give_way( w );
        add_lift( w );
    }
    for ( int i = 0; i < w->stance_count; ++i )
        tr_free( w->stances[i].drift );
    return ok;
}

// The rules that make the stances of one foot. Fills rule->footing.
static void gather_stances( tr_footing_work *w, int foot, int index )
{
    for ( int i = 0; i < w->mine_count; ++i ) {
        tr_rule *rule = &w->stage->rules[w->mine[i]];
        if ( rule->a.actor != w->actor || rule->given || tr_stance_foot( w->stage, rule ) != foot )
            continue;
        rule->footing = index;
        w->rules[w->rule_count++] = rule;
    }
}

static bool pose_scratch( tr_footing_work *w, int joints )
{
    tr_free( w->foot.rotations );
    tr_free( w->foot.positions );
    w->foot =
        ( tr_pose ){ tr_alloc( (size_t)joints, sizeof( quat ) ), tr_alloc( (size_t)joints, sizeof( vec3 ) ) };
    return w->foot.rotations != NULL && w->foot.positions != NULL;
}

static bool build_actor( tr_footing_work *w )
{
    tr_actor *actor = &w->stage->actors[w->actor];
    bool differ = actor->foreign && tr_actor_legs_differ( actor );
    tr_world_free( &w->copied );
    if ( actor->foreign && !pose_scratch( w, actor->target.joint_count ) )
        return false;
    if ( differ && !tr_copied_world( &w->copied, w->stage, w->actor, NULL ) )
        return false;
    w->mine = w->by_actor + w->begin[w->actor];
    w->mine_count = w->begin[w->actor + 1] - w->begin[w->actor];
    actor->footings = tr_alloc( (size_t)actor->target.joint_count, sizeof( tr_footing ) );
    if ( actor->footings == NULL )
        return false;
    for ( int j = 0; j < actor->target.joint_count; ++j ) {
        w->rule_count = w->stance_count = 0;
        gather_stances( w, j, actor->footing_count );
        if ( w->rule_count == 0 )
            continue;
        w->footing = &actor->footings[actor->footing_count++];
        *w->footing =
            ( tr_footing ){ .joint = j, .rise = differ ? actor->leg_ratio : tr_part_ratio( actor, j ) };
        if ( !build_footing( w ) )
            return false;
    }
    return lift_actor( w, actor );
}

bool tr_stage_stand( tr_stage *stage, tr_error *error )
{
    size_t rules = (size_t)stage->rule_count;
    tr_footing_work w = { .stage = stage };
    w.rules = tr_alloc( rules, sizeof *w.rules );
    w.spans = tr_alloc( rules, sizeof *w.spans );
    w.stances = tr_alloc( rules, sizeof *w.stances );
    bool ok = tr_rules_by_actor( stage, &w.begin, &w.by_actor ) && w.rules != NULL && w.spans != NULL &&
              w.stances != NULL;
    if ( ok && stage->scene->obstacle_count > 0 ) {
        w.lift = tr_alloc( (size_t)stage->frame_count, sizeof( double ) );
        w.weight = tr_alloc( (size_t)stage->frame_count, sizeof( double ) );
        ok = w.lift != NULL && w.weight != NULL;
    }
    for ( w.actor = 0; ok && w.actor < stage->actor_count; ++w.actor )
        ok = build_actor( &w );
    tr_free( w.begin );
    tr_free( w.by_actor );
    tr_free( w.rules );
    tr_free( w.spans );
    tr_free( w.stances );
    tr_free( w.lift );
    tr_free( w.weight );
    tr_free( w.foot.rotations );
    tr_free( w.foot.positions );
    tr_world_free( &w.copied );
    return ok || tr_error_memory( error );
}

// Solvers and edits ask for these places again and again.
bool tr_stage_place_footings( tr_stage *stage, tr_error *error )
{
    for ( int i = 0; i < stage->actor_count; ++i )
        for ( int k = 0; k < stage->actors[i].footing_count; ++k ) {
            tr_footing *footing = &stage->actors[i].footings[k];
            vec3 *place = tr_alloc( (size_t)stage->frame_count, sizeof( vec3 ) );
            if ( place == NULL )
                return tr_error_memory( error );
            for ( int f = 0; f < stage->frame_count; ++f )
                place[f] = v3_mad( footing->shift[f], footing->rise,
                                   tr_anchor_source( stage, &stage->rules[footing->rule[f]].a, f ) );
            footing->place = place;
        }
    return true;
}

void tr_footings_free( tr_actor *actor )
{
    for ( int i = 0; i < actor->footing_count; ++i ) {
        tr_free( actor->footings[i].shift );
        tr_free( actor->footings[i].strength );
        tr_free( actor->footings[i].rule );
        tr_free( actor->footings[i].place );
    }
    tr_free( actor->footings );
    tr_free( actor->lift );
    actor->footings = NULL;
    actor->lift = NULL;
    actor->footing_count = 0;
}
