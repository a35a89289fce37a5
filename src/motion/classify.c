// Roles, sides and limbs. Guesses from names, or from structure where names do not help, go down the tree
// once: a limb begins where an arm, a leg, the neck or a tail leaves the torso, and everything below belongs
// to it. Clavicles and hip connectors belong to the torso: the width of shoulders and hips is no matter of
// arms and legs.
#include "motion/parts.h"

#include <stdio.h>
#include <string.h>

typedef struct mark { // what is known about one joint on the way
    guess guess;
    uint32_t below; // bit per part that occurs under the joint
    int children;
    bool carries; // a child that is more than the end of a bone
    tr_limb_kind region;
    tr_role stage; // last role other than OTHER on the way down this limb
    int start;     // first joint of the limb
} mark;

typedef struct limb_draft {
    tr_limb_kind kind;
    tr_side side;
    int start;
    double forward, lateral; // mean over the joints, in the body's frame
    double lowest;
    int joints;
    bool has_end; // a hand, foot or toe
} limb_draft;

typedef struct work {
    tr_classify_def def;
    tr_skeleton *skeleton;
    mark *marks;   // [joint_count]
    tr_pose rest;  // [joint_count]
    int *draft_of; // [joint_count] at the first joint of a limb: its draft, else -1
    limb_draft drafts[TR_MAX_LIMBS];
    int draft_count;
    vec3 forward; // horizontal, unit
    double low, height;
} work;

tr_classify_def tr_default_classify_def( void )
{
    return ( tr_classify_def ){ .named = 1.0 / 3,
                                .direction = 1e-3,
                                .side = 0.01,
                                .arm_low = 0.12,
                                .arm_level = 0.35,
                                .arm_long = 0.2,
                                .long_branch = 0.2,
                                .pair = 0.1,
                                .leg_low = 0.1,
                                .leg_long = 0.2,
                                .clavicle = 0.6,
                                .thigh = 0.1,
                                .foot_low = 0.15 };
}

static bool any_below( const mark *m, part a, part b )
{
    return ( m->below & ( 1u << a | 1u << b ) ) != 0;
}

// ------------------------------------------------------------------------------------------------ guesses

static bool names_suffice( const work *w )
{
    int asked = 0, known = 0;
    for ( int j = 0; j < w->skeleton->joint_count; ++j ) {
        const mark *m = &w->marks[j];
        if ( m->guess.end )
            continue;
        asked++;
        known += m->guess.part > PART_CARRIER && m->guess.part != PART_TIP;
    }
    return known >= w->def.named * asked;
}

// A family of rigs knows its names better: the neck of Rigify is called spine.
static bool take_family( work *w, tr_error *error )
{
    static const part parts[TR_RIG_FINGERS] = { [TR_RIG_HIPS] = PART_ROOT,
                                                [TR_RIG_SPINE_1] = PART_SPINE,
                                                [TR_RIG_SPINE_2] = PART_SPINE,
                                                [TR_RIG_SPINE_3] = PART_SPINE,
                                                [TR_RIG_SPINE_4] = PART_SPINE,
                                                [TR_RIG_SPINE_5] = PART_SPINE,
                                                [TR_RIG_NECK_1] = PART_NECK,
                                                [TR_RIG_NECK_2] = PART_NECK,
                                                [TR_RIG_HEAD] = PART_HEAD,
                                                [TR_RIG_JAW] = PART_FACE,
                                                [TR_RIG_EYE] = PART_FACE,
                                                [TR_RIG_CLAVICLE] = PART_CLAVICLE,
                                                [TR_RIG_UPPER_ARM] = PART_UPPER_ARM,
                                                [TR_RIG_FOREARM] = PART_FOREARM,
                                                [TR_RIG_HAND] = PART_HAND,
                                                [TR_RIG_THIGH] = PART_THIGH,
                                                [TR_RIG_SHIN] = PART_SHIN,
                                                [TR_RIG_FOOT] = PART_FOOT,
                                                [TR_RIG_TOE] = PART_TOE };
    int family;
    tr_rig_part *human = tr_alloc( (size_t)w->skeleton->joint_count, sizeof *human );
    bool ok = human != NULL ? tr_family_of( w->skeleton, &family, human, error ) : tr_error_memory( error );
    for ( int j = 0; ok && j < w->skeleton->joint_count; ++j ) {
        guess *g = &w->marks[j].guess;
        int parent = w->skeleton->joints[j].parent;
        bool split = family >= 0 && human[j].part == TR_RIG_NONE && parent >= 0 &&
                     human[parent].part >= TR_RIG_CLAVICLE && human[parent].part < TR_RIG_FINGERS &&
                     g->part == parts[human[parent].part];
        if ( split ) // the second half of a bone: DEF-thigh.L.001
            g->part = PART_NONE;
        if ( human[j].part == TR_RIG_NONE || g->end )
            continue;
        g->part = human[j].part < TR_RIG_FINGERS ? parts[human[j].part] : PART_FINGER;
        g->side = human[j].side;
    }
    tr_free( human );
    return ok;
}

static void guess_from_names( work *w )
{
    for ( int j = w->skeleton->joint_count - 1; j >= 0; --j ) { // children first
        const tr_joint *joint = &w->skeleton->joints[j];
        mark *m = &w->marks[j];
        m->guess = tr_part_from_name( joint->name );
        m->guess.end = joint->end_site || ( m->guess.end && !m->carries );
        if ( j > 0 ) {
            mark *parent = &w->marks[joint->parent];
            parent->children++;
            parent->carries = parent->carries || !m->guess.end;
        }
        if ( m->guess.end )
            m->guess.part = PART_NONE;
    }
}

static bool guess_from_structure( work *w, tr_error *error )
{
    int n = w->skeleton->joint_count;
    guess *guesses = tr_alloc( (size_t)n, sizeof( guess ) );
    if ( guesses == NULL )
        return tr_error_memory( error );
    bool ok = tr_parts_from_structure( w->skeleton, &w->def, w->rest.positions, guesses, error );
    for ( int j = 0; ok && j < n; ++j )
        w->marks[j].guess.part = guesses[j].part;
    tr_free( guesses );
    return ok;
}

static void collect_below( work *w )
{
    for ( int j = w->skeleton->joint_count - 1; j > 0; --j ) {
        mark *m = &w->marks[j];
        w->marks[w->skeleton->joints[j].parent].below |= m->below | 1u << m->guess.part;
    }
}

// Ambiguous names are settled by what comes below them, and by a clavicle above.
static void settle_part( mark *m, const mark *parent )
{
    part *p = &m->guess.part;
    if ( *p == PART_SHOULDER ) {
        bool clavicle_above = parent != NULL && parent->guess.part == PART_CLAVICLE;
        bool upper_arm_below =
            any_below( m, PART_UPPER_ARM, PART_ARM ) || any_below( m, PART_SHOULDER, PART_SHOULDER );
        *p = !clavicle_above && upper_arm_below ? PART_CLAVICLE : PART_UPPER_ARM;
    } else if ( *p == PART_HIP && m->children > 0 && !any_below( m, PART_THIGH, PART_HIP ) )
        *p = PART_THIGH;
    else if ( *p == PART_COXA && !any_below( m, PART_THIGH, PART_COXA ) )
        *p = PART_THIGH;
}

// ------------------------------------------------------------------------------------------------ regions

static tr_limb_kind region_of_part( part p )
{
    switch ( p ) {
    case PART_NECK:
    case PART_HEAD:
    case PART_FACE:
    case PART_EAR: return TR_LIMB_HEAD;
    case PART_ARM:
    case PART_UPPER_ARM:
    case PART_FOREARM:
    case PART_HAND:
    case PART_FINGER: return TR_LIMB_ARM;
    case PART_COXA:
    case PART_LEG:
    case PART_THIGH:
    case PART_SHIN:
    case PART_FOOT:
    case PART_TOE: return TR_LIMB_LEG;
    case PART_TAIL: return TR_LIMB_TAIL;
    case PART_FEELER: return TR_LIMB_OTHER;
    default: return TR_LIMB_TORSO;
    }
}

// Limbs keep what hangs on them; only from a neck may arms and clavicles branch off.
static tr_limb_kind region_below( const mark *m, const mark *parent, tr_role parent_role )
{
    tr_limb_kind own = region_of_part( m->guess.part );
    if ( parent->region == TR_LIMB_TORSO )
        return own;
    bool off_the_neck = parent->region == TR_LIMB_HEAD && parent_role == TR_ROLE_NECK;
    if ( off_the_neck && ( own == TR_LIMB_ARM || m->guess.part == PART_CLAVICLE ) )
        return own;
    return parent->region;
}

// -------------------------------------------------------------------------------------------------- roles

static tr_role torso_role( const mark *m, bool root_above )
{
    switch ( m->guess.part ) {
    case PART_ROOT: return root_above ? TR_ROLE_OTHER : TR_ROLE_ROOT;
    case PART_SPINE: return TR_ROLE_SPINE;
    case PART_CLAVICLE: return TR_ROLE_CLAVICLE;
    case PART_HIP: return TR_ROLE_OTHER;
    default: return any_below( m, PART_NECK, PART_HEAD ) ? TR_ROLE_SPINE : TR_ROLE_OTHER;
    }
}

static tr_role head_role( const mark *m, tr_role stage )
{
    if ( m->guess.part == PART_EAR || stage == TR_ROLE_EAR )
        return TR_ROLE_EAR;
    if ( stage == TR_ROLE_HEAD || m->guess.part == PART_FACE )
        return TR_ROLE_OTHER;
    if ( m->guess.part == PART_HEAD )
        return TR_ROLE_HEAD;
    if ( m->guess.part == PART_NECK || any_below( m, PART_HEAD, PART_HEAD ) )
        return TR_ROLE_NECK;
    return stage == TR_ROLE_NECK ? TR_ROLE_HEAD : TR_ROLE_OTHER; // a neck that ends without a named head
}

static tr_role arm_role( const mark *m, tr_role stage )
{
    if ( stage == TR_ROLE_HAND || stage == TR_ROLE_FINGER || m->guess.part == PART_FINGER )
        return TR_ROLE_FINGER;
    switch ( m->guess.part ) {
    case PART_UPPER_ARM: return stage == TR_ROLE_OTHER ? TR_ROLE_UPPER_ARM : TR_ROLE_OTHER;
    case PART_ARM:
        return stage == TR_ROLE_OTHER       ? TR_ROLE_UPPER_ARM
               : stage == TR_ROLE_UPPER_ARM ? TR_ROLE_FOREARM
                                            : TR_ROLE_OTHER;
    case PART_FOREARM: return stage == TR_ROLE_FOREARM ? TR_ROLE_OTHER : TR_ROLE_FOREARM;
    case PART_HAND: return TR_ROLE_HAND;
    default: return TR_ROLE_OTHER;
    }
}

static tr_role leg_role( const mark *m, tr_role stage )
{
    if ( stage == TR_ROLE_FOOT || stage == TR_ROLE_TOE )
        return TR_ROLE_TOE;
    switch ( m->guess.part ) {
    case PART_LEG:
    case PART_THIGH: return stage == TR_ROLE_OTHER ? TR_ROLE_THIGH : TR_ROLE_SHIN;
    case PART_SHIN: return stage == TR_ROLE_OTHER && m->children == 0 ? TR_ROLE_THIGH : TR_ROLE_SHIN;
    case PART_FOOT: return TR_ROLE_FOOT;
    case PART_TIP: return m->children > 0 ? TR_ROLE_SHIN : TR_ROLE_TOE;
    case PART_TOE: return TR_ROLE_TOE;
    default: return TR_ROLE_OTHER;
    }
}

static tr_role role_in_region( const mark *m, tr_role stage, bool root_above )
{
    switch ( m->region ) {
    case TR_LIMB_TORSO: return torso_role( m, root_above );
    case TR_LIMB_HEAD: return head_role( m, stage );
    case TR_LIMB_ARM: return arm_role( m, stage );
    case TR_LIMB_LEG: return leg_role( m, stage );
    case TR_LIMB_TAIL: return TR_ROLE_TAIL;
    default: return TR_ROLE_OTHER;
    }
}

// The joint that carries the body: the pelvis when there is one, else the first joint; a frame above the body
// with nothing but the body on it is neither.
static int find_body_root( const work *w )
{
    for ( int j = 0; j < w->skeleton->joint_count; ++j )
        if ( w->marks[j].guess.part == PART_ROOT && w->marks[j].region == TR_LIMB_TORSO )
            return j;
    bool carrier = w->marks[0].guess.part == PART_CARRIER && w->marks[0].children == 1;
    return carrier && w->marks[1].guess.part != PART_NONE ? 1 : 0;
}

static void assign_roles( work *w )
{
    tr_joint *joints = w->skeleton->joints;
    bool root_above = false; // one body root, in index order
    w->marks[0].region = TR_LIMB_TORSO;
    for ( int j = 0; j < w->skeleton->joint_count; ++j ) {
        mark *m = &w->marks[j];
        const mark *parent = j > 0 ? &w->marks[joints[j].parent] : NULL;
        settle_part( m, parent );
        if ( parent != NULL )
            m->region = region_below( m, parent, joints[joints[j].parent].role );
        bool same = parent != NULL && parent->region == m->region;
        m->start = same ? parent->start : j;
        m->stage = same ? parent->stage : TR_ROLE_OTHER;
        joints[j].role = role_in_region( m, m->stage, root_above );
        root_above = root_above || joints[j].role == TR_ROLE_ROOT;
        if ( joints[j].role != TR_ROLE_OTHER )
            m->stage = joints[j].role;
        joints[j].side = m->guess.side;
        if ( joints[j].side == TR_SIDE_NONE && same )
            joints[j].side = joints[joints[j].parent].side;
    }
    int root = find_body_root( w );
    if ( joints[root].role != TR_ROLE_ROOT )
        joints[root].role = TR_ROLE_ROOT;
    if ( root != 0 )
        joints[0].role = TR_ROLE_OTHER;
}

// ------------------------------------------------------------------------------------------------- drafts

// Where the body looks: from pelvis to head when it is a beast's, else along the toes, else away from the
// tail, else +Z.
static vec3 find_forward( const work *w )
{
    const tr_joint *joints = w->skeleton->joints;
    const vec3 *at = w->rest.positions;
    vec3 toes = v3_zero, head = v3_zero, tail = v3_zero;
    for ( int j = 1; j < w->skeleton->joint_count; ++j ) {
        vec3 bone = v3_sub( at[j], at[joints[j].parent] );
        if ( joints[j].role == TR_ROLE_TOE && joints[joints[j].parent].role == TR_ROLE_FOOT )
            toes = v3_add( toes, v3_horizontal( bone ) );
        if ( joints[j].role == TR_ROLE_HEAD && v3_dot( head, head ) == 0 )
            head = v3_sub( at[j], at[0] );
        if ( joints[j].role == TR_ROLE_TAIL )
            tail = v3_sub( tail, v3_horizontal( bone ) );
    }
    if ( v3_length( v3_horizontal( head ) ) > 0.5 * v3_length( head ) )
        return v3_unit_or( v3_horizontal( head ), v3_z );
    double tiny = w->def.direction * w->height;
    return v3_length( toes ) > tiny ? v3_unit( toes ) : v3_length( tail ) > tiny ? v3_unit( tail ) : v3_z;
}

static limb_draft *draft_for( work *w, int j )
{
    const mark *m = &w->marks[j];
    if ( m->region == TR_LIMB_TORSO )
        return &w->drafts[0];
    if ( w->draft_of[m->start] >= 0 )
        return &w->drafts[w->draft_of[m->start]];
    if ( m->region == TR_LIMB_HEAD ) // one head, however many pieces it is in
        for ( int i = 1; i < w->draft_count; ++i )
            if ( w->drafts[i].kind == TR_LIMB_HEAD ) {
                w->draft_of[m->start] = i;
                return &w->drafts[i];
            }
    if ( w->draft_count == TR_MAX_LIMBS ) {
        w->draft_of[m->start] = 0;
        return &w->drafts[0];
    }
    w->draft_of[m->start] = w->draft_count;
    limb_draft *draft = &w->drafts[w->draft_count++];
    tr_side side = m->region == TR_LIMB_HEAD ? TR_SIDE_NONE : w->skeleton->joints[m->start].side;
    *draft = ( limb_draft ){ .kind = m->region, .side = side, .start = m->start, .lowest = INFINITY };
    return draft;
}

static void collect_limbs( work *w )
{
    const tr_joint *joints = w->skeleton->joints;
    w->draft_count = 1;
    w->drafts[0] = ( limb_draft ){ .kind = TR_LIMB_TORSO, .lowest = INFINITY };
    vec3 left = v3_cross( v3_y, w->forward );
    for ( int j = 0; j < w->skeleton->joint_count; ++j ) {
        limb_draft *draft = draft_for( w, j );
        vec3 p = v3_sub( w->rest.positions[j], w->rest.positions[0] );
        draft->forward += v3_dot( p, w->forward );
        draft->lateral += v3_dot( p, left );
        draft->lowest = fmin( draft->lowest, w->rest.positions[j].y );
        draft->joints++;
        tr_role role = joints[j].role;
        draft->has_end =
            draft->has_end || role == TR_ROLE_HAND || role == TR_ROLE_FOOT || role == TR_ROLE_TOE;
        if ( draft->side == TR_SIDE_NONE && ( draft->kind == TR_LIMB_ARM || draft->kind == TR_LIMB_LEG ) )
            draft->side = joints[j].side;
    }
    for ( int i = 0; i < w->draft_count; ++i ) {
        w->drafts[i].forward /= w->drafts[i].joints;
        w->drafts[i].lateral /= w->drafts[i].joints;
    }
}

static int draft_index( const work *w, int j )
{
    return w->marks[j].region == TR_LIMB_TORSO ? 0 : w->draft_of[w->marks[j].start];
}

static int count_kind( const work *w, tr_limb_kind kind, tr_side side )
{
    int count = 0;
    for ( int i = 0; i < w->draft_count; ++i )
        count += w->drafts[i].kind == kind && w->drafts[i].side == side;
    return count;
}

// Limbs without a hand or foot of that name end in their farthest joint; of a spider's leg that is a toe.
static void finish_ends( work *w )
{
    tr_joint *joints = w->skeleton->joints;
    int legs = 0;
    int end[TR_MAX_LIMBS];
    double far[TR_MAX_LIMBS];
    for ( int i = 0; i < w->draft_count; ++i ) {
        legs += w->drafts[i].kind == TR_LIMB_LEG;
        end[i] = -1;
        far[i] = 0;
    }
    for ( int j = 0; j < w->skeleton->joint_count; ++j ) {
        int i = draft_index( w, j );
        double distance = v3_distance( w->rest.positions[j], w->rest.positions[w->drafts[i].start] );
        if ( w->marks[j].children == 0 && j != w->drafts[i].start && distance >= far[i] ) {
            end[i] = j;
            far[i] = distance;
        }
    }
    for ( int i = 0; i < w->draft_count; ++i ) {
        if ( w->drafts[i].has_end || end[i] < 0 )
            continue;
        if ( w->drafts[i].kind == TR_LIMB_LEG )
            joints[end[i]].role = legs > 4 ? TR_ROLE_TOE : TR_ROLE_FOOT;
        if ( w->drafts[i].kind == TR_LIMB_ARM )
            joints[end[i]].role = TR_ROLE_HAND;
    }
}

// Every leg has a thigh: its first joint when no name said so.
static void finish_thighs( work *w )
{
    tr_joint *joints = w->skeleton->joints;
    bool has_thigh[TR_MAX_LIMBS] = { false };
    for ( int j = 0; j < w->skeleton->joint_count; ++j )
        if ( joints[j].role == TR_ROLE_THIGH )
            has_thigh[draft_index( w, j )] = true;
    for ( int i = 1; i < w->draft_count; ++i ) {
        tr_role *role = &joints[w->drafts[i].start].role;
        if ( w->drafts[i].kind == TR_LIMB_LEG && !has_thigh[i] && *role != TR_ROLE_FOOT &&
             *role != TR_ROLE_TOE )
            *role = TR_ROLE_THIGH;
    }
}

// ------------------------------------------------------------------------------------------- beasts, sides

static tr_role leg_role_of_arm( tr_role role )
{
    switch ( role ) {
    case TR_ROLE_UPPER_ARM: return TR_ROLE_THIGH;
    case TR_ROLE_FOREARM: return TR_ROLE_SHIN;
    case TR_ROLE_HAND: return TR_ROLE_FOOT;
    case TR_ROLE_FINGER: return TR_ROLE_TOE;
    default: return role;
    }
}

// Arms that stand on the ground at the height of the hips are the front legs of a beast rigged like a human.
static void turn_arms_into_legs( work *w )
{
    double hips = 0;
    int legs = 0;
    for ( int i = 0; i < w->draft_count; ++i )
        if ( w->drafts[i].kind == TR_LIMB_LEG ) {
            hips += w->rest.positions[w->drafts[i].start].y;
            legs++;
        }
    for ( int i = 0; i < w->draft_count && legs > 0; ++i ) {
        limb_draft *draft = &w->drafts[i];
        double shoulder = w->rest.positions[draft->start].y;
        if ( draft->kind == TR_LIMB_ARM && draft->lowest <= w->low + w->def.arm_low * w->height &&
             fabs( shoulder - hips / legs ) < w->def.arm_level * w->height &&
             shoulder - draft->lowest > w->def.arm_long * w->height )
            draft->kind = TR_LIMB_LEG;
    }
    for ( int j = 0; j < w->skeleton->joint_count; ++j )
        if ( w->marks[j].region == TR_LIMB_ARM && w->drafts[draft_index( w, j )].kind == TR_LIMB_LEG )
            w->skeleton->joints[j].role = leg_role_of_arm( w->skeleton->joints[j].role );
}

static void find_sides( work *w )
{
    for ( int i = 0; i < w->draft_count; ++i ) {
        limb_draft *draft = &w->drafts[i];
        bool paired =
            draft->kind == TR_LIMB_ARM || draft->kind == TR_LIMB_LEG || draft->kind == TR_LIMB_OTHER;
        if ( paired && draft->side == TR_SIDE_NONE && fabs( draft->lateral ) > w->def.side * w->height )
            draft->side = draft->lateral > 0 ? TR_SIDE_LEFT : TR_SIDE_RIGHT;
    }
    for ( int j = 0; j < w->skeleton->joint_count; ++j ) {
        tr_joint *joint = &w->skeleton->joints[j];
        if ( joint->side == TR_SIDE_NONE )
            joint->side = w->drafts[draft_index( w, j )].side;
    }
}

// -------------------------------------------------------------------------------------------------- limbs

static bool comes_before( const limb_draft *a, const limb_draft *b )
{
    if ( a->kind != b->kind )
        return a->kind < b->kind;
    if ( a->side != b->side )
        return a->side < b->side;
    const double rounding = 1e-9; // metres, more than means of places lose
    if ( fabs( a->forward - b->forward ) > rounding )
        return a->forward > b->forward;
    return a->start < b->start;
}

// Order of the drafts as `sorted`: by kind, side, front to back.
static void sort_drafts( const work *w, int *sorted )
{
    for ( int i = 0; i < w->draft_count; ++i ) {
        int k = i;
        for ( ; k > 0 && comes_before( &w->drafts[i], &w->drafts[sorted[k - 1]] ); --k )
            sorted[k] = sorted[k - 1];
        sorted[k] = i;
    }
}

static void name_limb( const work *w, const limb_draft *draft, int ordinal, tr_limb *limb )
{
    const char *const kinds[] = { "torso", "head", "arm", "leg", "tail", "other" };
    const char *const sides[] = { "", "left_", "right_" };
    bool numbered = count_kind( w, draft->kind, TR_SIDE_NONE ) > 1 ||
                    count_kind( w, draft->kind, TR_SIDE_LEFT ) > 1 ||
                    count_kind( w, draft->kind, TR_SIDE_RIGHT ) > 1;
    *limb = ( tr_limb ){ .kind = draft->kind, .side = draft->side };
    if ( numbered )
        snprintf( limb->name, sizeof limb->name, "%s%s_%d", sides[draft->side], kinds[draft->kind], ordinal );
    else
        snprintf( limb->name, sizeof limb->name, "%s%s", sides[draft->side], kinds[draft->kind] );
}

static bool write_limbs( work *w, tr_error *error )
{
    tr_limb *limbs = tr_alloc( (size_t)w->draft_count, sizeof( tr_limb ) );
    if ( limbs == NULL )
        return tr_error_memory( error );
    int sorted[TR_MAX_LIMBS], place[TR_MAX_LIMBS] = { 0 };
    sort_drafts( w, sorted );
    for ( int i = 0, ordinal = 1; i < w->draft_count; ++i ) {
        const limb_draft *draft = &w->drafts[sorted[i]];
        const limb_draft *before = i > 0 ? &w->drafts[sorted[i - 1]] : NULL;
        bool same = before != NULL && before->kind == draft->kind && before->side == draft->side;
        ordinal = same ? ordinal + 1 : 1;
        name_limb( w, draft, ordinal, &limbs[i] );
        place[sorted[i]] = i;
    }
    for ( int j = 0; j < w->skeleton->joint_count; ++j )
        w->skeleton->joints[j].limb = place[draft_index( w, j )];
    tr_free( w->skeleton->limbs );
    w->skeleton->limbs = limbs;
    w->skeleton->limb_count = w->draft_count;
    return true;
}

static bool classify( work *w, tr_error *error )
{
    tr_forward_rest( w->skeleton, w->rest );
    w->height = tr_skeleton_height( w->skeleton );
    w->low = w->rest.positions[0].y;
    for ( int j = 0; j < w->skeleton->joint_count; ++j ) {
        w->low = fmin( w->low, w->rest.positions[j].y );
        w->draft_of[j] = -1;
    }
    guess_from_names( w );
    if ( !take_family( w, error ) )
        return false;
    if ( !names_suffice( w ) && !guess_from_structure( w, error ) )
        return false;
    collect_below( w );
    assign_roles( w );
    w->forward = find_forward( w );
    collect_limbs( w );
    finish_ends( w );
    finish_thighs( w );
    turn_arms_into_legs( w );
    find_sides( w );
    return write_limbs( w, error );
}

bool tr_skeleton_classify( tr_skeleton *skeleton, tr_error *error )
{
    size_t n = (size_t)skeleton->joint_count;
    work *w = tr_alloc( 1, sizeof( work ) );
    if ( w == NULL )
        return tr_error_memory( error );
    w->def = tr_default_classify_def();
    w->skeleton = skeleton;
    w->marks = tr_alloc( n, sizeof( mark ) );
    w->draft_of = tr_alloc( n, sizeof( int ) );
    w->rest = ( tr_pose ){ tr_alloc( n, sizeof( quat ) ), tr_alloc( n, sizeof( vec3 ) ) };
    bool ok =
        w->marks != NULL && w->draft_of != NULL && w->rest.rotations != NULL && w->rest.positions != NULL;
    ok = ok ? classify( w, error ) : tr_error_memory( error );
    tr_free( w->rest.rotations );
    tr_free( w->rest.positions );
    tr_free( w->draft_of );
    tr_free( w->marks );
    tr_free( w );
    return ok;
}
