// Capsules near each other: bounding boxes of bodies first, then of capsules, then the exact distance. All
// data belongs to one frame, so frames can be scanned in parallel.
#include "measure/private.h"

bool tr_closeness_alloc( tr_closeness *closeness, const tr_take *take )
{
    *closeness = ( tr_closeness ){ 0 };
    for ( int c = 0; c < take->performer_count; ++c )
        closeness->shell_count += take->performers[c].body->capsule_count;
    closeness->shells = tr_alloc( (size_t)closeness->shell_count, sizeof *closeness->shells );
    closeness->first = tr_alloc( (size_t)take->performer_count + 1, sizeof *closeness->first );
    closeness->whole = tr_alloc( (size_t)take->performer_count, sizeof *closeness->whole );
    closeness->boxes = tr_alloc( (size_t)take->performer_count, sizeof *closeness->boxes );
    closeness->near = tr_alloc( (size_t)take->performer_count, sizeof *closeness->near );
    if ( closeness->shells == NULL || closeness->first == NULL || closeness->whole == NULL ||
         closeness->boxes == NULL || closeness->near == NULL ) {
        tr_closeness_free( closeness );
        return false;
    }
    for ( int c = 0; c < take->performer_count; ++c )
        closeness->first[c + 1] = closeness->first[c] + take->performers[c].body->capsule_count;
    return true;
}

void tr_closeness_free( tr_closeness *closeness )
{
    tr_free( closeness->shells );
    tr_free( closeness->first );
    tr_free( closeness->whole );
    tr_free( closeness->boxes );
    tr_free( closeness->near );
    tr_box_tree_free( &closeness->tree );
    *closeness = ( tr_closeness ){ 0 };
}

// ----------------------------------------------------------------------------------------------- boxes

static vec3 lower( vec3 a, vec3 b )
{
    return v3( fmin( a.x, b.x ), fmin( a.y, b.y ), fmin( a.z, b.z ) );
}

static vec3 upper( vec3 a, vec3 b )
{
    return v3( fmax( a.x, b.x ), fmax( a.y, b.y ), fmax( a.z, b.z ) );
}

static bool boxes_near( const struct tr_shell *a, const struct tr_shell *b, double reach )
{
    return a->low.x <= b->high.x + reach && b->low.x <= a->high.x + reach && a->low.y <= b->high.y + reach &&
           b->low.y <= a->high.y + reach && a->low.z <= b->high.z + reach && b->low.z <= a->high.z + reach;
}

static struct tr_shell shell_of( const tr_capsule *capsule, tr_pose pose )
{
    rigid bone = { pose.rotations[capsule->parent], pose.positions[capsule->parent] };
    struct tr_shell shell = { .a = rigid_apply( bone, capsule->a ),
                              .b = rigid_apply( bone, capsule->b ),
                              .radius = capsule->radius };
    shell.low = v3_mad( lower( shell.a, shell.b ), -shell.radius, v3_one );
    shell.high = v3_mad( upper( shell.a, shell.b ), shell.radius, v3_one );
    return shell;
}

// Half extent of a turned box along a world axis: Σ |axis_i| half_i.
static struct tr_shell box_around( rigid at, vec3 size )
{
    mat3 m = m3_from_quat( at.rotation );
    vec3 x = v3_scale( 0.5 * size.x, m.cx ), y = v3_scale( 0.5 * size.y, m.cy ),
         z = v3_scale( 0.5 * size.z, m.cz );
    vec3 reach = { fabs( x.x ) + fabs( y.x ) + fabs( z.x ), fabs( x.y ) + fabs( y.y ) + fabs( z.y ),
                   fabs( x.z ) + fabs( y.z ) + fabs( z.z ) };
    return ( struct tr_shell ){ .low = v3_sub( at.position, reach ), .high = v3_add( at.position, reach ) };
}

void tr_closeness_pose( tr_closeness *closeness, const tr_take *take, int frame )
{
    for ( int c = 0; c < take->performer_count; ++c ) {
        const tr_performer *performer = &take->performers[c];
        tr_pose pose = tr_world_pose( performer->world, frame );
        struct tr_shell *shells = closeness->shells + closeness->first[c], *whole = &closeness->whole[c];
        *whole =
            ( struct tr_shell ){ .low = v3_scale( HUGE_VAL, v3_one ), .high = v3_scale( -HUGE_VAL, v3_one ) };
        for ( int i = 0; i < performer->body->capsule_count; ++i ) {
            shells[i] = shell_of( &performer->body->capsules[i], pose );
            whole->low = lower( whole->low, shells[i].low );
            whole->high = upper( whole->high, shells[i].high );
        }
    }
}

// ----------------------------------------------------------------------------------------------- pairs

static bool add_pair( tr_close_pairs *pairs, int a, int b, double distance )
{
    if ( !tr_array_reserve( (void **)&pairs->items, &pairs->capacity, pairs->count + 1,
                            sizeof *pairs->items ) )
        return false;
    pairs->items[pairs->count++] = ( tr_close_pair ){ a, b, distance };
    return true;
}

static double shell_distance( const struct tr_shell *a, const struct tr_shell *b )
{
    return tr_capsule_distance( a->a, a->b, a->radius, b->a, b->b, b->radius );
}

static bool add_if_near( const tr_closeness *closeness, int a, int b, double reach, tr_close_pairs *pairs )
{
    const struct tr_shell *shells = closeness->shells;
    if ( !boxes_near( &shells[a], &shells[b], reach ) )
        return true;
    double distance = shell_distance( &shells[a], &shells[b] );
    return distance > reach || add_pair( pairs, a, b, distance );
}

static bool scan_two_bodies( const tr_closeness *closeness, int one, int other, double reach,
                             tr_close_pairs *pairs )
{
    for ( int a = closeness->first[one]; a < closeness->first[one + 1]; ++a ) {
        if ( !boxes_near( &closeness->shells[a], &closeness->whole[other], reach ) )
            continue;
        for ( int b = closeness->first[other]; b < closeness->first[other + 1]; ++b )
            if ( !add_if_near( closeness, a, b, reach, pairs ) )
                return false;
    }
    return true;
}

static const double rounding = 1e-6; // metres: more than sums of coordinates lose

bool tr_closeness_bodies( tr_closeness *closeness, const tr_take *take, double reach, tr_close_pairs *pairs )
{
    for ( int c = 0; c < take->performer_count; ++c )
        closeness->boxes[c] = tr_box_grown( ( tr_box ){ closeness->whole[c].low, closeness->whole[c].high },
                                            0.5 * reach + rounding );
    if ( !tr_box_tree_build( &closeness->tree, closeness->boxes, take->performer_count ) )
        return false;
    for ( int one = 0; one < take->performer_count; ++one ) {
        int count = tr_box_tree_above( &closeness->tree, one, closeness->near );
        for ( int n = 0; n < count; ++n ) {
            int other = closeness->near[n];
            if ( boxes_near( &closeness->whole[one], &closeness->whole[other], reach ) &&
                 !scan_two_bodies( closeness, one, other, reach, pairs ) )
                return false;
        }
    }
    return true;
}

bool tr_closeness_solid( const tr_closeness *closeness, const tr_take *take, int solid, tr_solid where,
                         double reach, tr_close_pairs *pairs )
{
    struct tr_shell around = box_around( where.at, where.shape.size );
    for ( int c = 0; c < take->performer_count; ++c ) {
        if ( !boxes_near( &closeness->whole[c], &around, reach ) )
            continue;
        for ( int a = closeness->first[c]; a < closeness->first[c + 1]; ++a ) {
            const struct tr_shell *shell = &closeness->shells[a];
            if ( !boxes_near( shell, &around, reach ) )
                continue;
            double distance = tr_shape_distance( &where.shape, where.at, shell->a, shell->b, shell->radius );
            if ( distance <= reach && !add_pair( pairs, a, closeness->shell_count + solid, distance ) )
                return false;
        }
    }
    return true;
}

bool tr_closeness_props( const tr_closeness *closeness, const tr_take *take, int frame, double reach,
                         tr_close_pairs *pairs )
{
    for ( int p = 0; p < take->prop_count; ++p ) {
        tr_solid where = { take->props[p].track[frame], take->props[p].shape };
        if ( !tr_closeness_solid( closeness, take, p, where, reach, pairs ) )
            return false;
    }
    return true;
}

int tr_closeness_owner( const tr_closeness *closeness, const tr_take *take, int shell )
{
    int low = 0, high = take->performer_count; // finds the last performer with first[low] ≤ shell
    if ( shell >= closeness->shell_count )
        return take->performer_count + shell - closeness->shell_count;
    while ( high - low > 1 ) {
        int middle = low + ( high - low ) / 2;
        if ( closeness->first[middle] <= shell )
            low = middle;
        else
            high = middle;
    }
    return low;
}

void tr_closeness_drop_passes( const tr_closeness *closeness, const tr_stage *stage, const tr_take *take,
                               int frame, tr_close_pairs *pairs )
{
    int kept = 0;
    for ( int i = 0; i < pairs->count; ++i ) {
        int a = tr_closeness_owner( closeness, take, pairs->items[i].a ),
            b = tr_closeness_owner( closeness, take, pairs->items[i].b );
        if ( !tr_stage_passes( stage, a, b, frame ) )
            pairs->items[kept++] = pairs->items[i];
    }
    pairs->count = kept;
}

// --------------------------------------------------------------------------------- pairs within one body

bool tr_closeness_self_candidates( const tr_skeleton *skeleton, const tr_body *body, tr_close_pairs *pairs )
{
    int joints = skeleton->joint_count;
    tr_pose rest = { tr_alloc( (size_t)joints, sizeof( quat ) ), tr_alloc( (size_t)joints, sizeof( vec3 ) ) };
    bool ok = rest.rotations != NULL && rest.positions != NULL;
    if ( ok )
        tr_forward_rest( skeleton, rest );
    for ( int i = 0; i < body->capsule_count && ok; ++i )
        for ( int k = i + 1; k < body->capsule_count && ok; ++k )
            if ( tr_body_may_collide( body, skeleton, rest, i, k ) )
                ok = add_pair( pairs, i, k, 0 );
    tr_free( rest.rotations );
    tr_free( rest.positions );
    return ok;
}

bool tr_closeness_self( const tr_closeness *closeness, int performer, const tr_close_pairs *candidates,
                        double reach, tr_close_pairs *pairs )
{
    int first = closeness->first[performer];
    for ( int i = 0; i < candidates->count; ++i )
        if ( !add_if_near( closeness, first + candidates->items[i].a, first + candidates->items[i].b, reach,
                           pairs ) )
            return false;
    return true;
}
