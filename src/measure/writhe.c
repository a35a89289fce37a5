// How limbs of different characters wind around each other: Gauss linking of their chains, in the result
// against the source.
//
// Two chains of lengths l and k that keep a distance d link by at most l k / (4π d²), since the integrand
// r · (u × v) / (4π |r|³) has two unit vectors u and v along the chains. For two segments u and v the product
// r · (u × v) is the same everywhere, which gives the sharper bound Σ |r · (u × v)| / (4π d³): upright
// walkers have limbs side by side that hardly link. A pair whose bounds in both takes cannot exceed the
// largest deviation found so far in its frame need not be integrated (nor one that cannot change its sign,
// which takes a deviation of `linked`); nor one below `negligible`, nor one in which nothing moved. That
// leaves a few neighbours.
//
// Characters whose chains can link by more than `negligible` are near each other, and are found by a tree of
// boxes. With L the length of a character's longest chain in either take and d the distance of the boxes
// around both takes, both coarse bounds together are at most L₁ L₂ / (2π d²). They exceed `negligible` only
// where d < c √(L₁ L₂) ≤ c L₁ / 2 + c L₂ / 2, c² = 1 / (2π negligible): where boxes grown by c L / 2 overlap.
#include "measure/private.h"

typedef struct chain {
    int who, first, count; // performer; points of the chain within the list of joints
} chain;

typedef struct chain_list {
    chain *chains;
    int chain_count, chain_capacity;
    int *out_joints, *source_joints; // [joint_count] of the performers of either take
    int joint_count, out_capacity, source_capacity;
    int *first; // [performer_count + 1] each performer's first chain
} chain_list;

static void free_chains( chain_list *list )
{
    tr_free( list->chains );
    tr_free( list->out_joints );
    tr_free( list->source_joints );
    tr_free( list->first );
    *list = ( chain_list ){ 0 };
}

// The joint at the end of the longest way down a limb, -1 when the limb has no joint. `reach` is scratch.
static int limb_tip( const tr_skeleton *skeleton, int limb, double *reach )
{
    int tip = -1;
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        int parent = skeleton->joints[j].parent;
        if ( skeleton->joints[j].limb != limb )
            continue;
        bool inside = parent >= 0 && skeleton->joints[parent].limb == limb;
        reach[j] = inside ? reach[parent] + tr_bone_length( skeleton, j ) : 0;
        if ( tip < 0 || reach[j] > reach[tip] )
            tip = j;
    }
    return tip;
}

// Appends the chain from `tip` up to the start of its limb, leaving out joints without a source joint.
static bool add_chain( chain_list *list, const tr_performer *performer, int who, int tip )
{
    const tr_skeleton *skeleton = performer->skeleton;
    int limb = skeleton->joints[tip].limb, count = 0;
    for ( int j = tip; j >= 0 && skeleton->joints[j].limb == limb; j = skeleton->joints[j].parent ) {
        int at = list->joint_count + count, from = tr_performer_source( performer, j );
        if ( from < 0 )
            continue;
        if ( !tr_array_reserve( (void **)&list->out_joints, &list->out_capacity, at + 1, sizeof( int ) ) ||
             !tr_array_reserve( (void **)&list->source_joints, &list->source_capacity, at + 1,
                                sizeof( int ) ) )
            return false;
        list->out_joints[at] = j;
        list->source_joints[at] = from;
        ++count;
    }
    if ( count < 2 )
        return true;
    if ( !tr_array_reserve( (void **)&list->chains, &list->chain_capacity, list->chain_count + 1,
                            sizeof( chain ) ) )
        return false;
    list->chains[list->chain_count++] = ( chain ){ who, list->joint_count, count };
    list->joint_count += count;
    return true;
}

static bool add_performer_chains( chain_list *list, const tr_performer *performer, int who )
{
    const tr_skeleton *skeleton = performer->skeleton;
    double *reach = tr_alloc( (size_t)skeleton->joint_count, sizeof *reach );
    bool ok = reach != NULL;
    for ( int limb = 0; limb < skeleton->limb_count && ok; ++limb ) {
        int tip = limb_tip( skeleton, limb, reach );
        ok = tip < 0 || add_chain( list, performer, who, tip );
    }
    tr_free( reach );
    return ok;
}

static bool list_chains( chain_list *list, const tr_take *take )
{
    *list = ( chain_list ){ .first = tr_alloc( (size_t)take->performer_count + 1, sizeof( int ) ) };
    bool ok = list->first != NULL;
    for ( int c = 0; c < take->performer_count && ok; ++c ) {
        ok = add_performer_chains( list, &take->performers[c], c );
        list->first[c + 1] = list->chain_count;
    }
    if ( !ok )
        free_chains( list );
    return ok;
}

// ------------------------------------------------------------------------------------------- one frame

typedef struct extent { // extent of a chain, or of all chains of a performer
    vec3 low, high;
    double length; // length of the longest chain
} extent;

typedef struct posed_chains { // all chains of a take at a frame
    vec3 *points;             // [joint_count]
    extent *chains;           // [chain_count]
    extent *performers;       // [performer_count]
} posed_chains;

static bool alloc_posed( posed_chains *posed, const chain_list *list, int performers )
{
    *posed = ( posed_chains ){ tr_alloc( (size_t)list->joint_count, sizeof( vec3 ) ),
                               tr_alloc( (size_t)list->chain_count, sizeof( extent ) ),
                               tr_alloc( (size_t)performers, sizeof( extent ) ) };
    return posed->points != NULL && posed->chains != NULL && posed->performers != NULL;
}

static void free_posed( posed_chains *posed )
{
    tr_free( posed->points );
    tr_free( posed->chains );
    tr_free( posed->performers );
}

static extent nothing( void )
{
    return ( extent ){ v3_scale( HUGE_VAL, v3_one ), v3_scale( -HUGE_VAL, v3_one ), 0 };
}

static extent joined( extent a, extent b )
{
    return ( extent ){ { fmin( a.low.x, b.low.x ), fmin( a.low.y, b.low.y ), fmin( a.low.z, b.low.z ) },
                       { fmax( a.high.x, b.high.x ), fmax( a.high.y, b.high.y ), fmax( a.high.z, b.high.z ) },
                       fmax( a.length, b.length ) };
}

static void pose_chains( posed_chains *posed, const chain_list *list, const int *joints, const tr_take *take,
                         int frame )
{
    for ( int c = 0; c < take->performer_count; ++c )
        posed->performers[c] = nothing();
    for ( int i = 0; i < list->chain_count; ++i ) {
        const chain *limb = &list->chains[i];
        extent around = nothing();
        double length = 0;
        for ( int k = limb->first; k < limb->first + limb->count; ++k ) {
            vec3 p = tr_performer_at( &take->performers[limb->who], frame, joints[k] );
            posed->points[k] = p;
            around = joined( around, ( extent ){ p, p, 0 } );
            length += k > limb->first ? v3_distance( p, posed->points[k - 1] ) : 0;
        }
        around.length = length;
        posed->chains[i] = around;
        posed->performers[limb->who] = joined( posed->performers[limb->who], around );
    }
}

static double gap( double low_a, double high_a, double low_b, double high_b )
{
    return low_b > high_a ? low_b - high_a : low_a > high_b ? low_a - high_b : 0;
}

static double box_distance( const extent *a, const extent *b )
{
    double x = gap( a->low.x, a->high.x, b->low.x, b->high.x ),
           y = gap( a->low.y, a->high.y, b->low.y, b->high.y ),
           z = gap( a->low.z, a->high.z, b->low.z, b->high.z );
    return sqrt( x * x + y * y + z * z );
}

// l k / (4π d²) with d the distance of the boxes; infinite when they overlap.
static double coarse_bound( const extent *a, const extent *b )
{
    double d = box_distance( a, b );
    return d > 0 ? a->length * b->length / ( 4 * TR_PI * d * d ) : HUGE_VAL;
}

// Σ |r · (u × v)| / (4π d³) over the segments u of a and v of b.
static double fine_bound( const posed_chains *posed, const chain_list *list, int i, int k )
{
    const chain *a = &list->chains[i], *b = &list->chains[k];
    double d = box_distance( &posed->chains[i], &posed->chains[k] ), sum = 0;
    for ( const vec3 *p = posed->points + a->first, *p_end = p + a->count - 1; p < p_end; ++p )
        for ( const vec3 *q = posed->points + b->first, *q_end = q + b->count - 1; q < q_end; ++q )
            sum += fabs(
                v3_dot( v3_sub( q[0], p[0] ), v3_cross( v3_sub( p[1], p[0] ), v3_sub( q[1], q[0] ) ) ) );
    return d > 0 ? sum / ( 4 * TR_PI * d * d * d ) : HUGE_VAL;
}

typedef struct writhe_scan {
    const tr_measure_def *def;
    const tr_take *out, *source;
    const chain_list *list;
    double *deviations; // [frame_count], negative when out of memory
    bool *changed;      // [frame_count] some pair is linked the other way
} writhe_scan;

typedef struct writhe_frame {
    const tr_measure_def *def;
    const chain_list *list;
    posed_chains out, source;
    bool *moved; // [chain_count]
    tr_box_tree tree;
    tr_box *boxes; // [performer_count] around the chains of both takes, grown
    int *near;     // [performer_count]
    double most;   // largest deviation so far
    int worst[2];  // and its chains
    bool changed;  // the sign of a pair
} writhe_frame;

static bool chain_moved( const writhe_frame *frame, const chain *limb )
{
    for ( int k = limb->first; k < limb->first + limb->count; ++k )
        if ( v3_distance( frame->out.points[k], frame->source.points[k] ) > frame->def->unmoved )
            return true;
    return false;
}

// Arms that hold each other in a capture may cut each other, back and forth within millimetres.
static bool keep_apart( const vec3 *points, const chain *a, const chain *b, double apart )
{
    for ( const vec3 *p = points + a->first, *p_end = p + a->count - 1; p < p_end; ++p )
        for ( const vec3 *q = points + b->first, *q_end = q + b->count - 1; q < q_end; ++q ) {
            double s, t;
            if ( tr_segment_distance( p[0], p[1], q[0], q[1], &s, &t ) < apart )
                return false;
        }
    return true;
}

static void try_pair( writhe_frame *frame, int i, int k )
{
    const chain *a = &frame->list->chains[i], *b = &frame->list->chains[k];
    const vec3 *out = frame->out.points, *source = frame->source.points;
    double now = tr_chain_linking( out + a->first, a->count, out + b->first, b->count );
    double before = tr_chain_linking( source + a->first, a->count, source + b->first, b->count );
    double deviation = fabs( now - before );
    frame->changed = frame->changed || ( fabs( before ) >= frame->def->linked && now * before < 0 &&
                                         keep_apart( source, a, b, frame->def->apart ) );
    if ( deviation <= frame->most )
        return;
    frame->most = deviation;
    frame->worst[0] = i;
    frame->worst[1] = k;
}

static bool matters( const writhe_frame *frame, double bound )
{
    return bound > frame->def->negligible_linking &&
           ( bound > frame->most || ( !frame->changed && bound > frame->def->linked ) );
}

static bool near_enough( const writhe_frame *frame, const extent *out, const extent *source, int a, int b )
{
    return matters( frame, coarse_bound( &out[a], &out[b] ) + coarse_bound( &source[a], &source[b] ) );
}

static void try_two_performers( writhe_frame *frame, int one, int other )
{
    const chain_list *list = frame->list;
    for ( int i = list->first[one]; i < list->first[one + 1]; ++i )
        for ( int k = list->first[other]; k < list->first[other + 1]; ++k )
            if ( ( frame->moved[i] || frame->moved[k] ) &&
                 near_enough( frame, frame->out.chains, frame->source.chains, i, k ) &&
                 matters( frame,
                          fine_bound( &frame->out, list, i, k ) + fine_bound( &frame->source, list, i, k ) ) )
                try_pair( frame, i, k );
}

// The worst pair of the frame before comes first: likely the worst again, it makes most others not matter.
// The result does not depend on the order.
static void try_all( writhe_frame *frame, int performers )
{
    int last[2] = { frame->worst[0], frame->worst[1] };
    frame->most = 0;
    frame->changed = false;
    if ( last[0] != last[1] )
        try_pair( frame, last[0], last[1] );
    for ( int one = 0; one < performers; ++one )
        for ( int n = 0, count = tr_box_tree_above( &frame->tree, one, frame->near ); n < count; ++n )
            if ( near_enough( frame, frame->out.performers, frame->source.performers, one, frame->near[n] ) )
                try_two_performers( frame, one, frame->near[n] );
}

// A thousandth more than the formula: rounding takes less away.
static bool plant_tree( writhe_frame *frame, int performers )
{
    double factor = 1.001 * 0.5 / sqrt( 2 * TR_PI * frame->def->negligible_linking );
    for ( int c = 0; c < performers; ++c ) {
        extent around = joined( frame->out.performers[c], frame->source.performers[c] );
        frame->boxes[c] = tr_box_grown( ( tr_box ){ around.low, around.high }, factor * around.length );
    }
    return tr_box_tree_build( &frame->tree, frame->boxes, performers );
}

static void scan_frames( void *context, int begin, int end )
{
    writhe_scan *scan = context;
    const chain_list *list = scan->list;
    int performers = scan->out->performer_count;
    writhe_frame frame = { .def = scan->def,
                           .list = list,
                           .moved = tr_alloc( (size_t)list->chain_count, sizeof( bool ) ),
                           .boxes = tr_alloc( (size_t)performers, sizeof( tr_box ) ),
                           .near = tr_alloc( (size_t)performers, sizeof( int ) ) };
    bool out_ok = alloc_posed( &frame.out, list, performers );
    bool source_ok = alloc_posed( &frame.source, list, performers );
    bool ok = frame.moved != NULL && frame.boxes != NULL && frame.near != NULL && out_ok && source_ok;
    for ( int f = begin; f < end; ++f ) {
        scan->deviations[f] = -1;
        if ( !ok )
            continue;
        pose_chains( &frame.out, list, list->out_joints, scan->out, f );
        pose_chains( &frame.source, list, list->source_joints, scan->source, f );
        for ( int i = 0; i < list->chain_count; ++i )
            frame.moved[i] = chain_moved( &frame, &list->chains[i] );
        ok = plant_tree( &frame, performers );
        if ( !ok )
            continue;
        try_all( &frame, performers );
        scan->deviations[f] = frame.most;
        scan->changed[f] = frame.changed;
    }
    tr_free( frame.moved );
    tr_free( frame.boxes );
    tr_free( frame.near );
    tr_box_tree_free( &frame.tree );
    free_posed( &frame.out );
    free_posed( &frame.source );
}

// ------------------------------------------------------------------------------------------- all frames

static bool report( const writhe_scan *scan, tr_figures *figures )
{
    double same = 0, changed = 0;
    int frames = scan->out->frame_count;
    for ( int f = 0; f < frames; ++f ) {
        if ( scan->deviations[f] < 0 )
            return false;
        same += scan->deviations[f] < scan->def->same_topology;
        changed += scan->changed[f];
    }
    tr_spread spread = tr_spread_of( scan->deviations, frames );
    figures->values[0] = spread.max;
    figures->values[1] = spread.p95;
    figures->values[2] = 100 * same / frames;
    figures->values[3] = 100 * changed / frames;
    return true;
}

bool tr_measure_writhe( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    chain_list list;
    if ( !list_chains( &list, take ) )
        return false;
    int with_chains = 0;
    for ( int c = 0; c < take->performer_count; ++c )
        with_chains += list.first[c + 1] > list.first[c];
    bool ok = true;
    if ( with_chains < 2 ) {
        tr_figures_null( figures, "the scene has fewer than two characters with limbs" );
    } else {
        size_t frames = (size_t)take->frame_count;
        writhe_scan scan = { &m->def,
                             take,
                             &m->source,
                             &list,
                             tr_alloc( frames, sizeof( double ) ),
                             tr_alloc( frames, sizeof( bool ) ) };
        ok = scan.deviations != NULL && scan.changed != NULL;
        if ( ok ) {
            tr_parallel_for( take->frame_count, TR_MEASURE_BLOCK, scan_frames, &scan );
            ok = report( &scan, figures );
        }
        tr_free( scan.deviations );
        tr_free( scan.changed );
    }
    free_chains( &list );
    return ok;
}
