// Figures of single bodies: lengths, sliding feet, the floor, smoothness and likeness to the source.
#include "measure/private.h"

static const char *const no_counterpart = "no joint of the result corresponds to a joint of the source";

double tr_performer_rescale( const tr_performer *performer, const tr_performer *source )
{
    return performer->height > 0 && source->height > 0 ? source->height / performer->height : 1.0;
}

void tr_figures_null( tr_figures *figures, const char *reason )
{
    for ( int i = 0; i < TR_METRIC_FIELDS; ++i )
        figures->null[i] = true;
    figures->reason = reason;
}

bool tr_samples_add( tr_samples *samples, double value )
{
    if ( !tr_array_reserve( (void **)&samples->values, &samples->capacity, samples->count + 1,
                            sizeof *samples->values ) )
        return false;
    samples->values[samples->count++] = value;
    return true;
}

void tr_samples_report( tr_samples *samples, double unit, const char *reason, tr_figures *figures )
{
    if ( samples->count == 0 )
        tr_figures_null( figures, reason );
    tr_spread spread = tr_spread_of( samples->values, samples->count );
    figures->values[0] = unit * spread.max;
    figures->values[1] = unit * spread.p95;
    figures->values[2] = unit * spread.mean;
    tr_free( samples->values );
    *samples = ( tr_samples ){ 0 };
}

// --------------------------------------------------------------------------------------------- lengths

typedef struct length_errors {
    double percent, short_metres;
    int bones, short_bones;
} length_errors;

static void compare_bone( const tr_performer *performer, int joint, double short_bone, length_errors *errors )
{
    int parent = performer->skeleton->joints[joint].parent;
    double length = tr_bone_length( performer->skeleton, joint ), most = 0;
    for ( int f = 0; f < performer->world->frame_count; ++f ) {
        double now =
            v3_distance( tr_performer_at( performer, f, joint ), tr_performer_at( performer, f, parent ) );
        most = fmax( most, fabs( now - length ) );
    }
    if ( length < short_bone ) {
        errors->short_metres = fmax( errors->short_metres, most );
        errors->short_bones += 1;
    } else {
        errors->percent = fmax( errors->percent, 100 * most / length );
        errors->bones += 1;
    }
}

bool tr_measure_bone_length( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    length_errors errors = { 0 };
    for ( int c = 0; c < take->performer_count; ++c )
        for ( int j = 1; j < take->performers[c].skeleton->joint_count; ++j )
            compare_bone( &take->performers[c], j, m->def.short_bone, &errors );
    figures->values[0] = errors.percent;
    figures->values[1] = 1e3 * errors.short_metres;
    figures->absent[1] = errors.short_bones == 0;
    if ( errors.bones == 0 ) {
        figures->null[0] = true;
        figures->reason = "no character has a bone of 1 mm or more";
    }
    return true;
}

// ------------------------------------------------------------------------------------------------ feet

// World rotation of a joint in the source, mapped to this body.
static quat source_turn( const tr_performer *performer, const tr_performer *source, int joint, int frame )
{
    const quat *turns = tr_world_pose( source->world, frame ).rotations;
    return performer->actor != NULL ? tr_actor_source_turn( performer->actor, joint, turns )
                                    : turns[tr_performer_source( performer, joint )];
}

static bool is_foot( const tr_joint *joint )
{
    return joint->role == TR_ROLE_FOOT || joint->role == TR_ROLE_TOE;
}

static vec3 place_between( const tr_performer *performer, int joint, double moment )
{
    int before = tr_int_clamped( floor( moment ), 0, performer->world->frame_count - 1 );
    vec3 a = tr_performer_at( performer, before, joint );
    double share = moment - before;
    return share > 0 && before + 1 < performer->world->frame_count
               ? v3_lerp( a, tr_performer_at( performer, before + 1, joint ), share )
               : a;
}

double tr_skate_span( const tr_measure_def *def, const tr_take *take )
{
    return def->skate_span * take->fps;
}

double tr_skate_speed( const tr_measure_def *def, const tr_take *take, const tr_performer *performer,
                       int joint, const tr_contact *contact, double begin )
{
    double first = fmax( contact->first, 0 ), last = fmin( contact->last, take->frame_count - 1 ),
           span = fmin( tr_skate_span( def, take ), last - first );
    begin = fmax( first, fmin( begin, last - span ) );
    vec3 way =
        v3_sub( place_between( performer, joint, begin + span ), place_between( performer, joint, begin ) );
    return span > 0 ? v3_length( v3_horizontal( way ) ) * take->fps / span : 0;
}

// Horizontal speeds of a joint over spans of time within a contact, one from each frame on; of a shorter
// contact the one over all of it.
static bool add_speeds( tr_samples *speeds, const tr_measure_def *def, const tr_take *take,
                        const tr_performer *performer, int joint, const tr_contact *contact )
{
    int first = contact->first > 0 ? contact->first : 0;
    int last = contact->last < take->frame_count ? contact->last : take->frame_count - 1;
    for ( int f = first; f < last && ( f == first || f + tr_skate_span( def, take ) <= last + 1e-9 ); ++f )
        if ( !tr_samples_add( speeds, tr_skate_speed( def, take, performer, joint, contact, f ) ) )
            return false;
    return true;
}

// A person's hands hang where a wolf's front paws stand: they are not feet of the result.
static bool is_hand( const tr_joint *joint )
{
    return joint->role == TR_ROLE_HAND || joint->role == TR_ROLE_FINGER;
}

static bool add_performer_speeds( tr_samples *speeds, const tr_measure_def *def, const tr_take *take,
                                  const tr_performer *performer, const tr_performer *source )
{
    for ( int i = 0; i < source->contacts->count; ++i ) {
        const tr_contact *contact = &source->contacts->items[i];
        if ( !is_foot( &source->skeleton->joints[contact->joint] ) )
            continue;
        for ( int j = 0; j < performer->skeleton->joint_count; ++j )
            if ( tr_performer_source( performer, j ) == contact->joint &&
                 !is_hand( &performer->skeleton->joints[j] ) &&
                 !add_speeds( speeds, def, take, performer, j, contact ) )
                return false;
    }
    return true;
}

bool tr_measure_foot_skate( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    tr_samples speeds = { 0 };
    bool ok = true;
    for ( int c = 0; c < take->performer_count && ok; ++c )
        ok = add_performer_speeds( &speeds, &m->def, take, &take->performers[c], &m->source.performers[c] );
    tr_samples_report( &speeds, 1e3, "no foot or toe rests on anything for two frames in the source",
                       figures );
    figures->values[0] = figures->values[2]; // the fields are mean and p95
    return ok;
}

// Tilts of a foot against the source's in the frames of a contact: the angle between the vertical and its
// image under the rotation from the source's foot, mapped to this body, to the foot. Yaw does not count.
static bool add_tilts( tr_samples *tilts, const tr_take *take, const tr_performer *performer,
                       const tr_performer *source, int joint, const tr_contact *contact )
{
    int first = contact->first > 0 ? contact->first : 0;
    int last = contact->last < take->frame_count ? contact->last : take->frame_count - 1;
    for ( int f = first; f <= last; ++f ) {
        quat wanted = source_turn( performer, source, joint, f );
        quat change = q_mul( tr_world_pose( performer->world, f ).rotations[joint], q_conj( wanted ) );
        double up = clampd( q_rotate( change, v3_y ).y, -1, 1 );
        if ( !tr_samples_add( tilts, acos( up ) / TR_DEGREE ) )
            return false;
    }
    return true;
}

bool tr_measure_sole_tilt( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    tr_samples tilts = { 0 };
    bool ok = true;
    for ( int c = 0; c < take->performer_count && ok; ++c ) {
        const tr_performer *performer = &take->performers[c], *source = &m->source.performers[c];
        for ( int i = 0; i < source->contacts->count; ++i ) {
            const tr_contact *contact = &source->contacts->items[i];
            for ( int j = 0; j < performer->skeleton->joint_count && ok; ++j )
                if ( performer->skeleton->joints[j].role == TR_ROLE_FOOT &&
                     tr_performer_source( performer, j ) == contact->joint &&
                     contact->surface != TR_SURFACE_PROP )
                    ok = add_tilts( &tilts, take, performer, source, j, contact );
        }
    }
    tr_samples_report( &tilts, 1, "no foot stands on the ground or the environment in the source", figures );
    figures->values[1] = figures->values[2]; // the fields are max and mean
    return ok;
}

// ----------------------------------------------------------------------------------------------- floor

bool tr_measure_ground_penetration( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    double most = 0, sum = 0, cells = 0;
    for ( int c = 0; c < take->performer_count; ++c ) {
        const tr_performer *performer = &take->performers[c], *source = &m->source.performers[c];
        double ratio = 1.0 / tr_performer_rescale( performer, source );
        for ( int j = 0; j < performer->skeleton->joint_count; ++j ) {
            int from = tr_performer_source( performer, j );
            if ( tr_joint_carries_pelvis( performer->skeleton, j ) )
                continue; // it has no part of the body
            for ( int f = 0; f < take->frame_count; ++f ) {
                double depth = take->ground - tr_performer_at( performer, f, j ).y;
                double own = from >= 0 ? take->ground - tr_performer_at( source, f, from ).y : 0;
                double excess = fmax( 0, fmax( 0, depth ) - ratio * fmax( 0, own ) );
                most = fmax( most, excess );
                sum += excess;
            }
        }
        cells += (double)performer->skeleton->joint_count * take->frame_count;
    }
    figures->values[0] = 1e3 * most;
    figures->values[1] = cells > 0 ? 1e3 * sum / cells : 0;
    return true;
}

// ------------------------------------------------------------------------------------------- smoothness

static vec3 second_difference( const tr_performer *p, int f, int j )
{
    return v3_add( v3_mad( tr_performer_at( p, f, j ), -2, tr_performer_at( p, f + 1, j ) ),
                   tr_performer_at( p, f + 2, j ) );
}

static vec3 third_difference( const tr_performer *p, int f, int j )
{
    return v3_sub( second_difference( p, f + 1, j ), second_difference( p, f, j ) );
}

typedef struct roughness { // roughness of a take, scaled to the source's size, and of the source, over the
                           // same joints
    double out_sum, out_max, source_sum, source_max;
    double count;
} roughness;

static roughness compare_differences( const tr_measuring *m, const tr_take *take, int order )
{
    roughness r = { 0 };
    vec3 ( *difference )( const tr_performer *, int, int ) =
        order == 3 ? third_difference : second_difference;
    for ( int c = 0; c < take->performer_count; ++c ) {
        const tr_performer *performer = &take->performers[c], *source = &m->source.performers[c];
        double rescale = tr_performer_rescale( performer, source );
        for ( int j = 0; j < performer->skeleton->joint_count; ++j ) {
            int from = tr_performer_source( performer, j );
            for ( int f = 0; f + order < take->frame_count && from >= 0; ++f ) {
                double out = rescale * v3_length( difference( performer, f, j ) );
                double own = v3_length( difference( source, f, from ) );
                r.out_sum += out;
                r.source_sum += own;
                r.out_max = fmax( r.out_max, out );
                r.source_max = fmax( r.source_max, own );
                r.count += 1;
            }
        }
    }
    return r;
}

bool tr_measure_jerk( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    roughness r = compare_differences( m, take, 3 );
    double unit = take->fps * take->fps * take->fps;
    if ( take->frame_count < 4 )
        tr_figures_null( figures, "the jerk needs at least four frames" );
    else if ( r.count == 0 )
        tr_figures_null( figures, no_counterpart );
    else if ( r.source_sum / r.count * unit < m->def.still_jerk )
        tr_figures_null( figures, "the source has no jerk to compare with: it stands still or moves evenly" );
    else
        figures->values[0] = r.out_sum / r.source_sum;
    return true;
}

bool tr_measure_acceleration( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    roughness r = compare_differences( m, take, 2 );
    double unit = take->fps * take->fps;
    if ( take->frame_count < 3 )
        tr_figures_null( figures, "the acceleration needs at least three frames" );
    else if ( r.count == 0 )
        tr_figures_null( figures, no_counterpart );
    else if ( r.source_max * unit < m->def.still_acceleration )
        tr_figures_null( figures,
                         "the source has no acceleration to compare with: it stands still or moves evenly" );
    else
        figures->values[0] = r.out_max / r.source_max;
    if ( take->frame_count >= 3 && r.count > 0 ) { // against at least 1 m/s², so that a still source will do
        figures->null[1] = false;
        tr_measure_own_acceleration( m, take, figures, 1, NULL );
    }
    return true;
}

// ------------------------------------------------------------------------------------------- rotations

// The source joint of a joint, -1 for none. End sites have no rotation.
static int turning_source( const tr_performer *performer, const tr_performer *source, int joint )
{
    int from = tr_performer_source( performer, joint );
    bool turns =
        from >= 0 && !performer->skeleton->joints[joint].end_site && !source->skeleton->joints[from].end_site;
    return turns ? from : -1;
}

static double turn( const tr_performer *performer, int frame, int joint )
{
    return q_angle( tr_clip_frame( performer->clip, frame )[joint],
                    tr_clip_frame( performer->clip, frame + 1 )[joint] );
}

bool tr_measure_rotation_spike( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    double most = -HUGE_VAL;
    for ( int c = 0; c < take->performer_count; ++c ) {
        const tr_performer *performer = &take->performers[c], *source = &m->source.performers[c];
        for ( int j = 0; j < performer->skeleton->joint_count; ++j ) {
            int from = turning_source( performer, source, j );
            for ( int f = 0; f + 1 < take->frame_count && from >= 0; ++f ) {
                double more = turn( performer, f, j ) - turn( source, f, from );
                if ( more > most )
                    tr_figures_place( figures, c, j, f + 1 );
                most = fmax( most, more );
            }
        }
    }
    if ( take->frame_count < 2 )
        tr_figures_null( figures, "turning from frame to frame needs at least two frames" );
    else if ( most == -HUGE_VAL )
        tr_figures_null( figures, no_counterpart );
    else
        figures->values[0] = most / TR_DEGREE;
    return true;
}

bool tr_measure_pose( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    double sum = 0, count = 0;
    for ( int c = 0; c < take->performer_count; ++c ) {
        const tr_performer *performer = &take->performers[c], *source = &m->source.performers[c];
        for ( int j = 0; j < performer->skeleton->joint_count; ++j ) {
            int from = turning_source( performer, source, j );
            for ( int f = 0; f < take->frame_count && from >= 0; ++f ) {
                sum += q_angle( tr_world_pose( performer->world, f ).rotations[j],
                                source_turn( performer, source, j, f ) );
                count += 1;
            }
        }
    }
    if ( count == 0 )
        tr_figures_null( figures, no_counterpart );
    else
        figures->values[0] = sum / count / TR_DEGREE;
    return true;
}

// -------------------------------------------------------------------------------------------- identity

static bool same_body( const tr_performer *performer, const tr_performer *source, double same )
{
    const tr_skeleton *a = performer->skeleton, *b = source->skeleton;
    if ( a->joint_count != b->joint_count )
        return false;
    for ( int j = 0; j < a->joint_count; ++j )
        if ( tr_performer_source( performer, j ) != j || a->joints[j].parent != b->joints[j].parent ||
             v3_distance( a->joints[j].offset, b->joints[j].offset ) > same )
            return false;
    return true;
}

static bool same_girth( const tr_performer *performer, const tr_performer *source, double same )
{
    const tr_body *a = performer->body, *b = source->body;
    if ( a->capsule_count != b->capsule_count )
        return false;
    for ( int i = 0; i < a->capsule_count; ++i )
        if ( fabs( a->capsules[i].radius - b->capsules[i].radius ) > same )
            return false;
    return true;
}

static bool leaves_source_surface( const tr_stage *stage, const tr_rule *rule, double same )
{
    return rule->kind == TR_CONSTRAINT_CONTACT && rule->surface_prop < 0 &&
           ( v3_length( rule->onto ) > 0 || fabs( tr_rule_floor( stage, rule ) - rule->floor ) > same );
}

// Why the result should differ from the source, NULL when it should not.
static const char *why_not_identical( const tr_measuring *m )
{
    double same = m->def.same;
    for ( int c = 0; c < m->out.performer_count; ++c )
        if ( !same_body( &m->out.performers[c], &m->source.performers[c], same ) )
            return "the target bodies differ from the source's";
    for ( int c = 0; c < m->out.performer_count; ++c )
        if ( !same_girth( &m->out.performers[c], &m->source.performers[c], same ) )
            return "the target bodies are thicker or thinner than the source's";
    for ( int i = 0; i < m->out.prop_count; ++i )
        if ( v3_distance( m->out.props[i].shape.size, m->source.props[i].shape.size ) > same )
            return "the target props differ from the source's";
    if ( m->stage == NULL )
        return NULL;
    for ( int i = 0; i < m->stage->group_count; ++i )
        if ( fabs( m->stage->groups[i].path_scale - 1 ) > same )
            return "the paths are scaled";
    for ( int i = 0; i < m->stage->rule_count; ++i )
        if ( m->stage->rules[i].constraint >= 0 && m->stage->rules[i].given )
            return "a constraint asks for something else than the source has";
    for ( int i = 0; i < m->stage->rule_count; ++i )
        if ( leaves_source_surface( m->stage, &m->stage->rules[i], same ) )
            return "what is touched is not where the source has it";
    return m->stage->scene->layer_count > 0 ? "the scene has edits" : NULL;
}

bool tr_measure_identity( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    const char *reason = why_not_identical( m );
    if ( reason != NULL ) {
        tr_figures_null( figures, reason );
        return true;
    }
    double most = 0;
    for ( int c = 0; c < take->performer_count; ++c )
        for ( int j = 0; j < take->performers[c].skeleton->joint_count; ++j )
            for ( int f = 0; f < take->frame_count; ++f )
                most = fmax( most, v3_distance( tr_performer_at( &take->performers[c], f, j ),
                                                tr_performer_at( &m->source.performers[c], f, j ) ) );
    figures->values[0] = most;
    return true;
}
