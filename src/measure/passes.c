// Bones that go through each other from one frame to the next: those of different bodies, and those of one
// body that share no joint. Between frames joints are taken to go straight; tr_segments_pass then misses
// nothing and counts nothing twice.
#include "measure/private.h"

typedef struct bone {
    int joint, parent;
    int ends[2]; // the first joint at the same place as either: bones shorter than short_bone are none
} bone;

typedef struct bone_list {
    bone *items;
    int *first; // [performer_count + 1] each performer's first bone
    int count, capacity;
} bone_list;

typedef struct step { // what passes on the way to a frame
    int between, within;
    int who[2], joint[2]; // of the first pass between bodies, and of the first within one
    bool failed;
} step;

typedef struct pass_scan {
    const tr_take *take;
    const bone_list *list;
    step *steps; // [frame_count]
} pass_scan;

typedef struct pass_scratch {
    tr_moving_segment *segments; // [bone_count]
    tr_box *boxes;               // [bone_count] around them
    tr_box *whole;               // [performer_count] around those of a performer
    tr_box_tree tree;            // of these
    int *near;                   // [performer_count]
} pass_scratch;

static void free_list( bone_list *list )
{
    tr_free( list->items );
    tr_free( list->first );
    *list = ( bone_list ){ 0 };
}

static bool add_bones( bone_list *list, const tr_skeleton *skeleton, double short_bone )
{
    int *place = tr_alloc( (size_t)skeleton->joint_count, sizeof( int ) );
    bool ok = place != NULL;
    for ( int j = 0; j < skeleton->joint_count && ok; ++j ) {
        int parent = skeleton->joints[j].parent;
        bool none = parent < 0 || tr_bone_length( skeleton, j ) < short_bone;
        place[j] = none && parent >= 0 ? place[parent] : j;
        if ( none )
            continue;
        ok = tr_array_reserve( (void **)&list->items, &list->capacity, list->count + 1, sizeof( bone ) );
        if ( ok )
            list->items[list->count++] = ( bone ){ j, parent, { place[parent], j } };
    }
    tr_free( place );
    return ok;
}

static bool list_bones( bone_list *list, const tr_take *take, double short_bone )
{
    *list = ( bone_list ){ .first = tr_alloc( (size_t)take->performer_count + 1, sizeof( int ) ) };
    bool ok = list->first != NULL;
    for ( int c = 0; c < take->performer_count && ok; ++c ) {
        ok = add_bones( list, take->performers[c].skeleton, short_bone );
        list->first[c + 1] = list->count;
    }
    if ( !ok )
        free_list( list );
    return ok;
}

static bool joined( const bone *a, const bone *b )
{
    return a->ends[0] == b->ends[0] || a->ends[0] == b->ends[1] || a->ends[1] == b->ends[0] ||
           a->ends[1] == b->ends[1];
}

static void set_segments( const pass_scan *scan, pass_scratch *s, int frame )
{
    const bone_list *list = scan->list;
    for ( int c = 0; c < scan->take->performer_count; ++c ) {
        const tr_performer *performer = &scan->take->performers[c];
        s->whole[c] = tr_box_empty();
        for ( int i = list->first[c]; i < list->first[c + 1]; ++i ) {
            tr_moving_segment *segment = &s->segments[i];
            s->boxes[i] = tr_box_empty();
            for ( int moment = 0; moment < 2; ++moment ) {
                int f = frame - 1 + moment;
                segment->begin[moment] = tr_performer_at( performer, f, list->items[i].parent );
                segment->end[moment] = tr_performer_at( performer, f, list->items[i].joint );
                s->boxes[i] =
                    tr_box_with( tr_box_with( s->boxes[i], segment->begin[moment] ), segment->end[moment] );
            }
            s->whole[c] = tr_box_with( tr_box_with( s->whole[c], s->boxes[i].low ), s->boxes[i].high );
        }
    }
}

static int passes_of( const pass_scratch *s, int i, int k )
{
    return tr_box_overlaps( &s->boxes[i], &s->boxes[k] )
               ? tr_segments_pass( &s->segments[i], &s->segments[k] ).count
               : 0;
}

static void note( const bone_list *list, step *out, int kind, int passes, int who, int i )
{
    int *count = kind == 0 ? &out->between : &out->within;
    if ( *count == 0 && passes > 0 ) {
        out->who[kind] = who;
        out->joint[kind] = list->items[i].joint;
    }
    *count += passes;
}

static bool count_passes( const pass_scan *scan, pass_scratch *s, int frame )
{
    const bone_list *list = scan->list;
    const int *first = list->first;
    step *out = &scan->steps[frame];
    int performers = scan->take->performer_count;
    set_segments( scan, s, frame );
    if ( !tr_box_tree_build( &s->tree, s->whole, performers ) )
        return false;
    for ( int c = 0; c < performers; ++c ) {
        for ( int i = first[c]; i < first[c + 1]; ++i )
            for ( int k = i + 1; k < first[c + 1]; ++k )
                if ( !joined( &list->items[i], &list->items[k] ) )
                    note( list, out, 1, passes_of( s, i, k ), c, i );
        for ( int n = 0, near = tr_box_tree_above( &s->tree, c, s->near ); n < near; ++n )
            for ( int i = first[c]; i < first[c + 1]; ++i )
                for ( int k = first[s->near[n]]; k < first[s->near[n] + 1]; ++k )
                    note( list, out, 0, passes_of( s, i, k ), c, i );
    }
    return true;
}

static void scan_steps( void *context, int begin, int end )
{
    const pass_scan *scan = context;
    size_t bones = (size_t)scan->list->count, performers = (size_t)scan->take->performer_count;
    pass_scratch s = { .segments = tr_alloc( bones, sizeof( tr_moving_segment ) ),
                       .boxes = tr_alloc( bones, sizeof( tr_box ) ),
                       .whole = tr_alloc( performers, sizeof( tr_box ) ),
                       .near = tr_alloc( performers, sizeof( int ) ) };
    bool ok = s.segments != NULL && s.boxes != NULL && s.whole != NULL && s.near != NULL;
    for ( int f = begin > 0 ? begin : 1; f < end; ++f ) {
        ok = ok && count_passes( scan, &s, f );
        scan->steps[f].failed = !ok;
    }
    tr_free( s.segments );
    tr_free( s.boxes );
    tr_free( s.whole );
    tr_free( s.near );
    tr_box_tree_free( &s.tree );
}

bool tr_scan_passes( const tr_measuring *m, const tr_take *take, tr_figures *figures, double *frames )
{
    bone_list list;
    if ( !list_bones( &list, take, m->def.short_bone ) )
        return false;
    pass_scan scan = { take, &list, tr_alloc( (size_t)take->frame_count, sizeof( step ) ) };
    bool ok = scan.steps != NULL;
    if ( ok )
        tr_parallel_for( take->frame_count, TR_MEASURE_BLOCK, scan_steps, &scan );
    for ( int kind = 0; kind < 2 && ok; ++kind )
        for ( int f = 0; f < take->frame_count && ok; ++f ) {
            const step *at = &scan.steps[f];
            int count = kind == 0 ? at->between : at->within;
            ok = !at->failed;
            figures->values[2 * kind] += count;
            figures->values[2 * kind + 1] += count > 0;
            if ( count > 0 && !figures->placed )
                tr_figures_place( figures, at->who[kind], at->joint[kind], f );
            if ( frames != NULL )
                frames[f] = at->between + at->within;
        }
    tr_free( scan.steps );
    free_list( &list );
    return ok;
}

bool tr_measure_pass_through( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    if ( take->performer_count < 2 ) {
        figures->null[0] = figures->null[1] = true;
        figures->reason = "the scene has fewer than two characters";
    }
    return tr_scan_passes( m, take, figures, NULL );
}
