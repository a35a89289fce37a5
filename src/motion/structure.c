// Where names do not help, roles follow from the shape of the rest pose. The trunk is the root and every
// joint from which two long branches leave; what hangs on the trunk is a limb. Limbs that come down to the
// ground are legs, pairs of equal length on one joint are arms, and of the single ones the highest is the
// neck and the others are tails.
#include "motion/parts.h"

enum { MAX_SHAPES = 64 }; // limbs beyond that stay unnamed

typedef struct node {
    int children;
    int deepest;       // child on the longest way down, -1 for a leaf
    double reach;      // length of the longest way down
    int long_branches; // children with a long way down
    bool trunk;
} node;

typedef struct shape { // one limb
    int top;           // its first joint
    int tip;           // end of its longest way down
    double length;     // length of that path, from the trunk on
    double lowest;     // least height of a joint on it
    part kind;         // PART_LEG, PART_ARM, PART_NECK, PART_TAIL
} shape;

static void measure_branches( const tr_skeleton *skeleton, node *nodes )
{
    int n = skeleton->joint_count;
    for ( int j = 0; j < n; ++j )
        nodes[j] = ( node ){ .deepest = -1 };
    for ( int j = n - 1; j > 0; --j ) {
        node *parent = &nodes[skeleton->joints[j].parent];
        double way = tr_bone_length( skeleton, j ) + nodes[j].reach;
        parent->children++;
        if ( parent->deepest < 0 || way >= parent->reach ) {
            parent->reach = way;
            parent->deepest = j;
        }
    }
}

static void mark_trunk( const tr_skeleton *skeleton, double share, node *nodes )
{
    double is_long = share * nodes[0].reach;
    for ( int j = skeleton->joint_count - 1; j > 0; --j ) {
        node *parent = &nodes[skeleton->joints[j].parent];
        if ( tr_bone_length( skeleton, j ) + nodes[j].reach >= is_long )
            parent->long_branches++;
        // All children of j have larger indices and have been counted.
        nodes[j].trunk = nodes[j].trunk || nodes[j].long_branches >= 2;
        parent->trunk = parent->trunk || nodes[j].trunk;
    }
    nodes[0].trunk = true;
}

static shape measure_shape( const tr_skeleton *skeleton, const node *nodes, const vec3 *rest, int top )
{
    shape s = { .top = top, .tip = top, .lowest = rest[top].y };
    for ( int j = top; j >= 0; j = nodes[j].deepest ) {
        s.tip = j;
        s.lowest = fmin( s.lowest, rest[j].y );
    }
    s.length = tr_bone_length( skeleton, top ) + nodes[top].reach;
    return s;
}

static int find_shapes( const tr_skeleton *skeleton, const node *nodes, const vec3 *rest, shape *shapes )
{
    int count = 0;
    for ( int j = 1; j < skeleton->joint_count && count < MAX_SHAPES; ++j )
        if ( !nodes[j].trunk && nodes[skeleton->joints[j].parent].trunk )
            shapes[count++] = measure_shape( skeleton, nodes, rest, j );
    return count;
}

static bool are_pair( const tr_skeleton *skeleton, double share, const shape *a, const shape *b )
{
    return a->kind == PART_NONE && b->kind == PART_NONE &&
           skeleton->joints[a->top].parent == skeleton->joints[b->top].parent &&
           fabs( a->length - b->length ) <= share * fmax( a->length, b->length );
}

static void name_shapes( const tr_skeleton *skeleton, const tr_classify_def *def, const vec3 *rest,
                         shape *shapes, int count, double ground, double height )
{
    for ( int i = 0; i < count; ++i )
        if ( shapes[i].lowest <= ground + def->leg_low * height &&
             rest[shapes[i].top].y - shapes[i].lowest >= def->leg_long * height )
            shapes[i].kind = PART_LEG;
    for ( int i = 0; i < count; ++i )
        for ( int k = i + 1; k < count; ++k )
            if ( are_pair( skeleton, def->pair, &shapes[i], &shapes[k] ) ) {
                shapes[i].kind = shapes[k].kind = PART_ARM;
                break;
            }
    int neck = -1;
    for ( int i = 0; i < count; ++i )
        if ( shapes[i].kind == PART_NONE && ( neck < 0 || rest[shapes[i].tip].y > rest[shapes[neck].tip].y ) )
            neck = i;
    for ( int i = 0; i < count; ++i )
        if ( shapes[i].kind == PART_NONE )
            shapes[i].kind = i == neck ? PART_NECK : PART_TAIL;
}

// ----------------------------------------------------------------------------- parts along a limb's main way

static int way_count( const node *nodes, int top )
{
    int count = 0;
    for ( int j = top; j >= 0; j = nodes[j].deepest )
        count++;
    return count;
}

// The hand is where the fingers part. Without fingers it is counted from the shoulder, behind a clavicle when
// the first bone is short.
static int hand_index( const tr_skeleton *skeleton, double shorter, const node *nodes, int top )
{
    int count = way_count( nodes, top ), index = 0;
    for ( int j = top; j >= 0; j = nodes[j].deepest, ++index )
        if ( index >= 2 && nodes[j].children >= 2 )
            return index;
    if ( count < 4 )
        return count - 1;
    int second = nodes[top].deepest, third = nodes[second].deepest;
    bool clavicle = tr_bone_length( skeleton, second ) < shorter * tr_bone_length( skeleton, third );
    return clavicle ? 3 : 2;
}

static void name_arm( const tr_skeleton *skeleton, double shorter, const node *nodes, int top,
                      guess *guesses )
{
    int hand = hand_index( skeleton, shorter, nodes, top ), index = 0;
    for ( int j = top; j >= 0; j = nodes[j].deepest, ++index ) {
        int before = hand - index; // bones still to go to the hand
        guesses[j].part = before > 2    ? PART_CLAVICLE
                          : before == 0 ? hand > 0 ? PART_HAND : PART_UPPER_ARM
                          : before < 0  ? PART_FINGER
                          : before == 2 ? PART_UPPER_ARM
                          : index == 0  ? PART_UPPER_ARM
                                        : PART_FOREARM;
    }
}

// Short bones first are connectors in the pelvis; the foot is the first joint near the ground that has
// something below it.
static void name_leg( const tr_classify_def *def, const node *nodes, const vec3 *rest, const shape *s,
                      double near_ground, guess *guesses )
{
    bool thigh = false, foot = false;
    for ( int j = s->top; j >= 0; j = nodes[j].deepest ) {
        int next = nodes[j].deepest;
        double bone = next >= 0 ? nodes[j].reach - nodes[next].reach : 0;
        if ( foot )
            guesses[j].part = PART_TOE;
        else if ( thigh && rest[j].y <= near_ground && next >= 0 ) {
            guesses[j].part = PART_FOOT;
            foot = true;
        } else if ( thigh )
            guesses[j].part = next >= 0 ? PART_SHIN : PART_NONE;
        else if ( next < 0 || bone >= def->thigh * s->length ) {
            guesses[j].part = PART_THIGH;
            thigh = true;
        } else
            guesses[j].part = PART_COXA;
    }
}

// The head is the last joint, or where ears and jaw branch off.
static void name_neck( const tr_skeleton *skeleton, const node *nodes, int top, guess *guesses )
{
    for ( int j = top; j >= 0; j = nodes[j].deepest ) {
        int next = nodes[j].deepest;
        bool last = next < 0 || nodes[j].children >= 2 ||
                    ( nodes[next].children == 0 && skeleton->joints[next].end_site );
        guesses[j].part = last ? PART_HEAD : PART_NECK;
        if ( last )
            return;
    }
}

static void name_trunk( const tr_skeleton *skeleton, const node *nodes, bool all, guess *guesses )
{
    for ( int j = 0; j < skeleton->joint_count; ++j )
        guesses[j] = ( guess ){ .part = j == 0 ? PART_ROOT : all || nodes[j].trunk ? PART_SPINE : PART_NONE };
}

bool tr_parts_from_structure( const tr_skeleton *skeleton, const tr_classify_def *def, const vec3 *rest,
                              guess *guesses, tr_error *error )
{
    node *nodes = tr_alloc( (size_t)skeleton->joint_count, sizeof( node ) );
    if ( nodes == NULL )
        return tr_error_memory( error );
    measure_branches( skeleton, nodes );
    mark_trunk( skeleton, def->long_branch, nodes );
    double ground = rest[0].y, top = rest[0].y;
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        ground = fmin( ground, rest[j].y );
        top = fmax( top, rest[j].y );
    }
    shape shapes[MAX_SHAPES];
    int count = find_shapes( skeleton, nodes, rest, shapes );
    name_trunk( skeleton, nodes, count < 2, guesses ); // a lone chain is a body without limbs
    if ( count >= 2 )
        name_shapes( skeleton, def, rest, shapes, count, ground, top - ground );
    for ( int i = 0; i < count && count >= 2; ++i ) {
        const shape *s = &shapes[i];
        if ( s->kind == PART_LEG )
            name_leg( def, nodes, rest, s, ground + def->foot_low * ( top - ground ), guesses );
        else if ( s->kind == PART_ARM )
            name_arm( skeleton, def->clavicle, nodes, s->top, guesses );
        else if ( s->kind == PART_NECK )
            name_neck( skeleton, nodes, s->top, guesses );
        else
            guesses[s->top].part = PART_TAIL;
    }
    tr_free( nodes );
    return true;
}
