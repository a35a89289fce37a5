// Which members come close to each other, and when. Each frame separately: boxes around members, sorted along
// x, then boxes around capsules, then distances; then, pair by pair, over time.
#include "imesh/private.h"

#include <stdlib.h>
#include <string.h>

enum { NEAR_BLOCK = 8 }; // frames of a task

tr_imesh_near_def tr_default_imesh_near_def( double fps )
{
    return ( tr_imesh_near_def ){ .enter = 0.15,
                                  .leave = 0.30,
                                  .min_frames = tr_int_clamped( rint( 0.1 * fps ), 1, TR_MAX_FRAMES ),
                                  .pad = tr_int_clamped( rint( 0.4 * fps ), 1, TR_MAX_FRAMES ) };
}

// ----------------------------------------------------------------------------------------------- one frame

typedef struct bounds {
    vec3 low, high;
} bounds;

typedef struct volume { // a capsule in the world
    vec3 a, b;
    double radius;
    bounds box;
} volume;

typedef struct sighting { // a pair at a frame
    int a, b, frame;
    bool close; // nearer than `enter`; else than `leave`
} sighting;

typedef struct sightings {
    sighting *items;
    int count, capacity;
    bool failed;
} sightings;

typedef struct crowd {
    const tr_imesh_near *members;
    int count, frame_count;
    const tr_imesh_near_def *def;
    int volume_count;
    int *first;       // [count + 1] of a member's volumes
    sightings *lists; // [blocks]
} crowd;

typedef struct frame_work {
    volume *volumes; // [volume_count]
    bounds *wholes;  // [count]
    int *order;      // [count] by low.x
} frame_work;

static void include( bounds *b, vec3 p, double radius )
{
    b->low =
        v3( fmin( b->low.x, p.x - radius ), fmin( b->low.y, p.y - radius ), fmin( b->low.z, p.z - radius ) );
    b->high = v3( fmax( b->high.x, p.x + radius ), fmax( b->high.y, p.y + radius ),
                  fmax( b->high.z, p.z + radius ) );
}

static bounds nothing( void )
{
    return ( bounds ){ v3_scale( HUGE_VAL, v3_one ), v3_scale( -HUGE_VAL, v3_one ) };
}

static bool overlap( const bounds *a, const bounds *b, double reach )
{
    return a->low.x <= b->high.x + reach && b->low.x <= a->high.x + reach && a->low.y <= b->high.y + reach &&
           b->low.y <= a->high.y + reach && a->low.z <= b->high.z + reach && b->low.z <= a->high.z + reach;
}

static void pose_member( const crowd *c, frame_work *w, int m, int frame )
{
    const tr_imesh_near *member = &c->members[m];
    bounds *whole = &w->wholes[m];
    *whole = nothing();
    if ( member->world == NULL ) {
        rigid at = tr_imesh_track( member->track, member->track_count, frame );
        for ( int k = 0; k < TR_IMESH_CORNERS; ++k )
            include( whole, rigid_apply( at, tr_imesh_corner( k, member->size ) ), 0 );
        return;
    }
    tr_pose pose = tr_world_pose( member->world, frame );
    for ( int i = 0; i < member->body->capsule_count; ++i ) {
        const tr_capsule *capsule = &member->body->capsules[i];
        rigid bone = { pose.rotations[capsule->parent], pose.positions[capsule->parent] };
        volume *v = &w->volumes[c->first[m] + i];
        *v = ( volume ){ rigid_apply( bone, capsule->a ), rigid_apply( bone, capsule->b ), capsule->radius,
                         nothing() };
        include( &v->box, v->a, v->radius );
        include( &v->box, v->b, v->radius );
        include( whole, v->box.low, 0 );
        include( whole, v->box.high, 0 );
    }
}

static double volume_distance( const crowd *c, const volume *v, const volume *other, int box, int frame )
{
    if ( box < 0 )
        return tr_capsule_distance( v->a, v->b, v->radius, other->a, other->b, other->radius );
    const tr_imesh_near *member = &c->members[box];
    rigid at = tr_imesh_track( member->track, member->track_count, frame );
    return member->shape != NULL ? tr_shape_distance( member->shape, at, v->a, v->b, v->radius )
                                 : tr_capsule_box_distance( v->a, v->b, v->radius, at, member->size );
}

// The distance of two members, as soon as it is below `enter`; anything above `leave` when they are not near.
static double member_distance( const crowd *c, const frame_work *w, int a, int b, int frame )
{
    double best = HUGE_VAL, reach = c->def->leave;
    int body = c->members[a].world != NULL ? a : b, other = body == a ? b : a;
    bool box = c->members[other].world == NULL;
    for ( int i = c->first[body]; i < c->first[body + 1] && best > c->def->enter; ++i ) {
        const volume *v = &w->volumes[i];
        if ( !overlap( &v->box, &w->wholes[other], reach ) )
            continue;
        if ( box )
            best = fmin( best, volume_distance( c, v, NULL, other, frame ) );
        for ( int k = c->first[other]; k < c->first[other + 1] && best > c->def->enter; ++k )
            if ( overlap( &v->box, &w->volumes[k].box, reach ) )
                best = fmin( best, volume_distance( c, v, &w->volumes[k], -1, frame ) );
    }
    return best;
}

static void sight( const crowd *c, const frame_work *w, int a, int b, int frame, sightings *list )
{
    if ( c->members[a].world == NULL && c->members[b].world == NULL )
        return;
    double distance = member_distance( c, w, a, b, frame );
    if ( distance > c->def->leave )
        return;
    if ( !tr_array_reserve( (void **)&list->items, &list->capacity, list->count + 1, sizeof *list->items ) )
        list->failed = true;
    else
        list->items[list->count++] =
            ( sighting ){ a < b ? a : b, a < b ? b : a, frame, distance <= c->def->enter };
}

// From one frame to the next the order hardly changes: insertion is quick.
static void sort_along_x( frame_work *w, int count )
{
    for ( int i = 1; i < count; ++i ) {
        int member = w->order[i], at = i;
        for ( ; at > 0 && w->wholes[w->order[at - 1]].low.x > w->wholes[member].low.x; --at )
            w->order[at] = w->order[at - 1];
        w->order[at] = member;
    }
}

static void scan_frame( const crowd *c, frame_work *w, int frame, sightings *list )
{
    for ( int m = 0; m < c->count; ++m )
        pose_member( c, w, m, frame );
    sort_along_x( w, c->count );
    for ( int i = 0; i < c->count; ++i )
        for ( int k = i + 1; k < c->count; ++k ) {
            const bounds *a = &w->wholes[w->order[i]], *b = &w->wholes[w->order[k]];
            if ( b->low.x > a->high.x + c->def->leave )
                break;
            if ( overlap( a, b, c->def->leave ) )
                sight( c, w, w->order[i], w->order[k], frame, list );
        }
}

static void scan_frames( void *context, int begin, int end )
{
    const crowd *c = context;
    sightings *list = &c->lists[begin / NEAR_BLOCK];
    frame_work w = { tr_alloc( (size_t)c->volume_count, sizeof( volume ) ),
                     tr_alloc( (size_t)c->count, sizeof( bounds ) ),
                     tr_alloc( (size_t)c->count, sizeof( int ) ) };
    list->failed = w.volumes == NULL || w.wholes == NULL || w.order == NULL;
    for ( int m = 0; m < c->count && !list->failed; ++m )
        w.order[m] = m;
    for ( int f = begin; f < end && !list->failed; ++f )
        scan_frame( c, &w, f, list );
    tr_free( w.volumes );
    tr_free( w.wholes );
    tr_free( w.order );
}

// ----------------------------------------------------------------------------------------------- over time

static int by_pair( const void *a, const void *b )
{
    const sighting *x = a, *y = b;
    return x->a != y->a ? x->a - y->a : x->b != y->b ? x->b - y->b : x->frame - y->frame;
}

bool tr_imesh_pairs_add( tr_imesh_pairs *pairs, tr_imesh_pair pair )
{
    if ( !tr_array_reserve( (void **)&pairs->items, &pairs->capacity, pairs->count + 1,
                            sizeof *pairs->items ) )
        return false;
    pairs->items[pairs->count++] = pair;
    return true;
}

// Sightings of one pair, in order of frames: with hysteresis, gaps closed, short ones dropped, padded,
// joined.
static bool follow( tr_imesh_pairs *out, const sighting *s, int count, const crowd *c )
{
    int begin = out->count;
    for ( int i = 0; i < count; ) {
        int k = i, close = s[i].close; // a stretch of frames below `leave`
        while ( k + 1 < count && s[k + 1].frame == s[k].frame + 1 )
            close |= s[++k].close;
        int first = s[i].frame, last = s[k].frame;
        for ( int n = i; close && !s[n].close; ++n )
            first = s[n + 1].frame; // it begins where it is close
        tr_imesh_pair *before = out->count > begin ? &out->items[out->count - 1] : NULL;
        if ( close && before != NULL && first - before->last <= c->def->min_frames )
            before->last = last;
        else if ( close && !tr_imesh_pairs_add( out, ( tr_imesh_pair ){ s[i].a, s[i].b, first, last } ) )
            return false;
        i = k + 1;
    }
    int kept = begin, shortest = c->def->min_frames < c->frame_count ? c->def->min_frames : c->frame_count;
    for ( int i = begin; i < out->count; ++i ) {
        tr_imesh_pair pair = out->items[i];
        if ( pair.last - pair.first + 1 < shortest )
            continue;
        pair.first = pair.first > c->def->pad ? pair.first - c->def->pad : 0;
        pair.last = pair.last + c->def->pad < c->frame_count ? pair.last + c->def->pad : c->frame_count - 1;
        if ( kept > begin && out->items[kept - 1].last + 1 >= pair.first )
            out->items[kept - 1].last = pair.last;
        else
            out->items[kept++] = pair;
    }
    out->count = kept;
    return true;
}

static int by_start( const void *a, const void *b )
{
    const tr_imesh_pair *x = a, *y = b;
    return x->first != y->first ? x->first - y->first : x->a != y->a ? x->a - y->a : x->b - y->b;
}

void tr_imesh_pairs_sort( tr_imesh_pairs *pairs )
{
    if ( pairs->count > 1 )
        qsort( pairs->items, (size_t)pairs->count, sizeof *pairs->items, by_start );
}

static bool gather( const crowd *c, int blocks, sightings *all )
{
    for ( int b = 0; b < blocks; ++b ) {
        const sightings *list = &c->lists[b];
        if ( list->failed || !tr_array_reserve( (void **)&all->items, &all->capacity,
                                                all->count + list->count, sizeof *all->items ) )
            return false;
        if ( list->count > 0 )
            memcpy( all->items + all->count, list->items, (size_t)list->count * sizeof *all->items );
        all->count += list->count;
    }
    if ( all->count > 1 )
        qsort( all->items, (size_t)all->count, sizeof *all->items, by_pair );
    return true;
}

static bool follow_all( tr_imesh_pairs *out, const sightings *all, const crowd *c )
{
    for ( int i = 0, k; i < all->count; i = k ) {
        for ( k = i + 1;
              k < all->count && all->items[k].a == all->items[i].a && all->items[k].b == all->items[i].b; )
            ++k;
        if ( !follow( out, all->items + i, k - i, c ) )
            return false;
    }
    tr_imesh_pairs_sort( out );
    return true;
}

bool tr_imesh_pairs_find( tr_imesh_pairs *out, const tr_imesh_near *members, int count, int frame_count,
                          const tr_imesh_near_def *def, tr_error *error )
{
    *out = ( tr_imesh_pairs ){ 0 };
    int blocks = ( frame_count + NEAR_BLOCK - 1 ) / NEAR_BLOCK;
    crowd c = { .members = members,
                .count = count,
                .frame_count = frame_count,
                .def = def,
                .first = tr_alloc( (size_t)count + 1, sizeof( int ) ),
                .lists = tr_alloc( (size_t)blocks, sizeof( sightings ) ) };
    sightings all = { 0 };
    bool ok = c.first != NULL && c.lists != NULL;
    for ( int m = 0; ok && m < count; ++m )
        c.first[m + 1] = c.first[m] + ( members[m].world != NULL ? members[m].body->capsule_count : 0 );
    if ( ok ) {
        c.volume_count = c.first[count];
        tr_parallel_for( frame_count, NEAR_BLOCK, scan_frames, &c );
        ok = gather( &c, blocks, &all ) && follow_all( out, &all, &c );
    }
    for ( int b = 0; c.lists != NULL && b < blocks; ++b )
        tr_free( c.lists[b].items );
    tr_free( all.items );
    tr_free( c.first );
    tr_free( c.lists );
    if ( !ok )
        tr_imesh_pairs_free( out );
    return ok || tr_error_memory( error );
}

void tr_imesh_pairs_free( tr_imesh_pairs *pairs )
{
    tr_free( pairs->items );
    *pairs = ( tr_imesh_pairs ){ 0 };
}

// ------------------------------------------------------------------------------------------------- windows

// Whether they overlap for half of the shorter one at least. A body that goes from one partner to the next is
// in a window with each.
static bool are_simultaneous( const tr_imesh_pair *x, const tr_imesh_pair *y )
{
    int first = x->first > y->first ? x->first : y->first, last = x->last < y->last ? x->last : y->last;
    int a = x->last - x->first + 1, b = y->last - y->first + 1;
    return 2 * ( last - first + 1 ) >= ( a < b ? a : b );
}

static bool share_mover( const tr_imesh_pair *x, const tr_imesh_pair *y, const tr_imesh_near *members )
{
    int a[2] = { x->a, x->b }, b[2] = { y->a, y->b };
    for ( int i = 0; i < 4; ++i )
        if ( a[i / 2] == b[i % 2] && !members[a[i / 2]].still )
            return true;
    return false;
}

typedef struct joining {
    const tr_imesh_pairs *pairs;
    const tr_imesh_near *members;
    int member_count, most;
    int *set; // [pairs.count] union–find: pairs of one window
    bool *in; // [member_count] scratch
} joining;

// How many members that move two windows have together.
static int movers_of( joining *j, int a, int b )
{
    int count = 0;
    memset( j->in, 0, (size_t)j->member_count * sizeof( bool ) );
    for ( int i = 0; i < j->pairs->count; ++i ) {
        int root = tr_set_find( j->set, i );
        const int ends[2] = { j->pairs->items[i].a, j->pairs->items[i].b };
        for ( int e = 0; ( root == a || root == b ) && e < 2; ++e ) {
            count += !j->in[ends[e]] && !j->members[ends[e]].still;
            j->in[ends[e]] = true;
        }
    }
    return count;
}

static void join_pairs( joining *j )
{
    const tr_imesh_pairs *pairs = j->pairs;
    int *set = j->set;
    for ( int i = 0; i < pairs->count; ++i )
        set[i] = i;
    for ( int i = 0; i < pairs->count; ++i )
        for ( int k = i + 1; k < pairs->count && pairs->items[k].first <= pairs->items[i].last; ++k )
            if ( are_simultaneous( &pairs->items[i], &pairs->items[k] ) &&
                 share_mover( &pairs->items[i], &pairs->items[k], j->members ) ) {
                int a = tr_set_find( set, i ), b = tr_set_find( set, k );
                if ( a != b && ( j->most == 0 || movers_of( j, a, b ) <= j->most ) )
                    tr_set_join( set, a, b ); // the earlier pair stands for both
            }
}

static bool fill_window( tr_imesh_window *window, const tr_imesh_pairs *pairs, int *set, int root, bool *in,
                         int member_count )
{
    memset( in, 0, (size_t)member_count * sizeof( bool ) );
    *window = ( tr_imesh_window ){ .first = pairs->items[root].first, .last = pairs->items[root].last };
    for ( int i = root; i < pairs->count; ++i ) {
        if ( tr_set_find( set, i ) != root )
            continue;
        in[pairs->items[i].a] = in[pairs->items[i].b] = true;
        window->last = pairs->items[i].last > window->last ? pairs->items[i].last : window->last;
    }
    for ( int m = 0; m < member_count; ++m )
        window->member_count += in[m];
    window->members = tr_alloc( (size_t)window->member_count, sizeof( int ) );
    for ( int m = 0, n = 0; window->members != NULL && m < member_count; ++m )
        if ( in[m] )
            window->members[n++] = m;
    return window->members != NULL;
}

bool tr_imesh_windows_find( tr_imesh_windows *out, const tr_imesh_pairs *pairs, const tr_imesh_near *members,
                            int member_count, int most, tr_error *error )
{
    *out = ( tr_imesh_windows ){ .items = tr_alloc( (size_t)pairs->count, sizeof *out->items ) };
    int *set = tr_alloc( (size_t)pairs->count, sizeof( int ) );
    bool *in = tr_alloc( (size_t)member_count, sizeof( bool ) );
    bool ok = out->items != NULL && set != NULL && in != NULL;
    if ( ok )
        join_pairs( &( joining ){ pairs, members, member_count, most, set, in } );
    for ( int i = 0; ok && i < pairs->count; ++i )
        if ( tr_set_find( set, i ) == i )
            ok = fill_window( &out->items[out->count++], pairs, set, i, in, member_count );
    tr_free( set );
    tr_free( in );
    if ( !ok )
        tr_imesh_windows_free( out );
    return ok || tr_error_memory( error );
}

void tr_imesh_windows_free( tr_imesh_windows *windows )
{
    for ( int i = 0; i < windows->count; ++i )
        tr_free( windows->items[i].members );
    tr_free( windows->items );
    *windows = ( tr_imesh_windows ){ 0 };
}
