// Bodies against each other, against themselves and against props: overlaps of volumes, and touches of the
// source that are kept or lost.
#include "measure/private.h"

#include <stdlib.h>

// ----------------------------------------------------------------------------------------- penetration

typedef enum overlap_kind { OVERLAP_BODIES, OVERLAP_SELF, OVERLAP_PROPS } overlap_kind;

typedef struct overlap { // overlap at one frame
    double deepest, sum_of_squares;
    bool failed;
} overlap;

typedef struct overlap_scan {
    const tr_measuring *m;
    const tr_take *take;
    overlap_kind kind;
    const tr_close_pairs *candidates; // [performer_count] for OVERLAP_SELF
    overlap *frames;                  // [frame_count]
} overlap_scan;

static void count_depth( overlap *frame, double distance )
{
    double depth = fmax( 0, -distance );
    frame->deepest = fmax( frame->deepest, depth );
    frame->sum_of_squares += depth * depth;
}

static bool find_overlaps( const overlap_scan *scan, tr_closeness *closeness, int frame,
                           tr_close_pairs *pairs )
{
    bool ok = true;
    switch ( scan->kind ) {
    case OVERLAP_BODIES: return tr_closeness_bodies( closeness, scan->take, 0, pairs );
    case OVERLAP_PROPS: return tr_closeness_props( closeness, scan->take, frame, 0, pairs );
    case OVERLAP_SELF:
        for ( int c = 0; c < scan->take->performer_count && ok; ++c )
            ok = tr_closeness_self( closeness, c, &scan->candidates[c], 0, pairs );
    }
    return ok;
}

static void scan_overlaps( void *context, int begin, int end )
{
    overlap_scan *scan = context;
    tr_closeness closeness;
    tr_close_pairs pairs = { 0 };
    if ( !tr_closeness_alloc( &closeness, scan->take ) ) {
        scan->frames[begin].failed = true;
        return;
    }
    for ( int f = begin; f < end; ++f ) {
        pairs.count = 0;
        tr_closeness_pose( &closeness, scan->take, f );
        scan->frames[f].failed = !find_overlaps( scan, &closeness, f, &pairs );
        tr_closeness_drop_passes( &closeness, scan->m->stage, scan->take, f, &pairs );
        for ( int i = 0; i < pairs.count; ++i )
            count_depth( &scan->frames[f], pairs.items[i].distance );
    }
    tr_free( pairs.items );
    tr_closeness_free( &closeness );
}

// frames_pct, max_mm, mean_mm and sum_sq_m2 from the frames, added up in their order.
static bool report_overlaps( const overlap *frames, int count, double deep, tr_figures *figures )
{
    double deep_frames = 0, most = 0, sum = 0, sum_of_squares = 0;
    bool ok = true;
    for ( int f = 0; f < count; ++f ) {
        ok = ok && !frames[f].failed;
        deep_frames += frames[f].deepest > deep;
        most = fmax( most, frames[f].deepest );
        sum += frames[f].deepest;
        sum_of_squares += frames[f].sum_of_squares;
    }
    figures->values[0] = 100 * deep_frames / count;
    figures->values[1] = 1e3 * most;
    figures->values[2] = 1e3 * sum / count;
    figures->values[3] = sum_of_squares;
    return ok;
}

static bool measure_overlaps( const tr_measuring *m, const tr_take *take, overlap_kind kind,
                              const tr_close_pairs *candidates, tr_figures *figures )
{
    overlap_scan scan = { m, take, kind, candidates,
                          tr_alloc( (size_t)take->frame_count, sizeof( overlap ) ) };
    if ( scan.frames == NULL )
        return false;
    tr_parallel_for( take->frame_count, TR_MEASURE_BLOCK, scan_overlaps, &scan );
    bool ok = report_overlaps( scan.frames, take->frame_count, m->def.deep, figures );
    tr_free( scan.frames );
    return ok;
}

static int bodies_with_volume( const tr_take *take )
{
    int bodies = 0;
    for ( int c = 0; c < take->performer_count; ++c )
        bodies += take->performers[c].body->capsule_count > 0;
    return bodies;
}

bool tr_measure_inter_penetration( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    if ( bodies_with_volume( take ) >= 2 )
        return measure_overlaps( m, take, OVERLAP_BODIES, NULL, figures );
    tr_figures_null( figures, "the scene has fewer than two bodies with volume" );
    return true;
}

bool tr_measure_prop_penetration( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    if ( take->prop_count > 0 && bodies_with_volume( take ) > 0 )
        return measure_overlaps( m, take, OVERLAP_PROPS, NULL, figures );
    tr_figures_null( figures, "the scene has no body and prop that could meet" );
    return true;
}

bool tr_measure_self_penetration( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    tr_close_pairs *candidates = tr_alloc( (size_t)take->performer_count, sizeof *candidates );
    bool ok = candidates != NULL;
    int found = 0;
    for ( int c = 0; c < take->performer_count && ok; ++c ) {
        const tr_performer *performer = &take->performers[c];
        ok = tr_closeness_self_candidates( performer->skeleton, performer->body, &candidates[c] );
        found += candidates[c].count;
    }
    if ( ok && found > 0 )
        ok = measure_overlaps( m, take, OVERLAP_SELF, candidates, figures );
    else
        tr_figures_null( figures, "no character has two bones far enough apart along its skeleton" );
    for ( int c = 0; c < take->performer_count && candidates != NULL; ++c )
        tr_free( candidates[c].items );
    tr_free( candidates );
    return ok;
}

// --------------------------------------------------------------------------------- contacts kept and lost
// A contact is a pair of shell numbers of the *source*, so that those of a result and of the source can be
// compared as sets. Shells of one side that have no counterpart on the other are left out of both.

typedef struct contact_counts { // contacts of one frame
    int64_t out, source, both;
    bool failed;
} contact_counts;

typedef struct contact_scan {
    const tr_take *out, *source;
    const int *to_source; // [shells of out, then props] number in the source, -1 for none
    const bool *has_out;  // [shells of source, then props] a shell of out has this number
    double out_reach, source_reach;
    contact_counts *frames; // [frame_count]
} contact_scan;

typedef struct contact_keys {
    uint64_t *items;
    int count, capacity;
} contact_keys;

static int ascending_keys( const void *a, const void *b )
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return ( x > y ) - ( x < y );
}

static void sort_and_merge_doubles( contact_keys *keys )
{
    if ( keys->count > 1 )
        qsort( keys->items, (size_t)keys->count, sizeof *keys->items, ascending_keys );
    int kept = 0;
    for ( int i = 0; i < keys->count; ++i )
        if ( kept == 0 || keys->items[i] != keys->items[kept - 1] )
            keys->items[kept++] = keys->items[i];
    keys->count = kept;
}

// All contacts of a take at a frame as sorted keys.
static bool collect_contacts( const contact_scan *scan, const tr_take *take, int frame, contact_keys *keys )
{
    bool is_out = take == scan->out;
    double reach = is_out ? scan->out_reach : scan->source_reach;
    tr_closeness closeness;
    tr_close_pairs pairs = { 0 };
    if ( !tr_closeness_alloc( &closeness, take ) )
        return false;
    tr_closeness_pose( &closeness, take, frame );
    bool ok = tr_closeness_bodies( &closeness, take, reach, &pairs ) &&
              tr_closeness_props( &closeness, take, frame, reach, &pairs ) &&
              tr_array_reserve( (void **)&keys->items, &keys->capacity, pairs.count, sizeof *keys->items );
    keys->count = 0;
    for ( int i = 0; i < pairs.count && ok; ++i ) {
        int a = pairs.items[i].a, b = pairs.items[i].b;
        bool known = is_out || ( scan->has_out[a] && scan->has_out[b] );
        if ( is_out ) {
            a = scan->to_source[a];
            b = scan->to_source[b];
        }
        if ( known && a >= 0 && b >= 0 )
            keys->items[keys->count++] = (uint64_t)a << 32 | (uint64_t)b;
    }
    if ( ok && keys->count > 0 )
        sort_and_merge_doubles( keys );
    tr_free( pairs.items );
    tr_closeness_free( &closeness );
    return ok;
}

static int count_common( const contact_keys *a, const contact_keys *b )
{
    int common = 0;
    for ( int i = 0, k = 0; i < a->count && k < b->count; ) {
        common += a->items[i] == b->items[k];
        if ( a->items[i] <= b->items[k] )
            ++i;
        else
            ++k;
    }
    return common;
}

static void scan_contacts( void *context, int begin, int end )
{
    contact_scan *scan = context;
    contact_keys out = { 0 }, source = { 0 };
    for ( int f = begin; f < end; ++f ) {
        bool ok = collect_contacts( scan, scan->out, f, &out );
        if ( scan->out != scan->source )
            ok = ok && collect_contacts( scan, scan->source, f, &source );
        const contact_keys *against = scan->out != scan->source ? &source : &out;
        scan->frames[f] = ( contact_counts ){ out.count, against->count, count_common( &out, against ), !ok };
    }
    tr_free( out.items );
    tr_free( source.items );
}

static void match_shells( const tr_take *out, const tr_take *source, int *to_source, bool *has_out )
{
    int shell = 0, first = 0;
    for ( int c = 0; c < out->performer_count; ++c ) {
        const tr_body *body = out->performers[c].body;
        for ( int i = 0; i < body->capsule_count; ++i, ++shell ) {
            int match =
                tr_performer_capsule( &out->performers[c], &body->capsules[i], &source->performers[c] );
            to_source[shell] = match >= 0 ? first + match : -1;
            if ( match >= 0 )
                has_out[first + match] = true;
        }
        first += source->performers[c].body->capsule_count;
    }
    for ( int i = 0; i < out->prop_count; ++i ) {
        to_source[shell + i] = first + i;
        has_out[first + i] = true;
    }
}

static double contact_reach( const tr_measure_def *def, const tr_take *take )
{
    double sum = 0;
    for ( int c = 0; c < take->performer_count; ++c )
        sum += take->performers[c].height;
    return def->touch * sum / take->performer_count / def->touch_height;
}

static void report_contacts( const contact_counts *sum, tr_figures *figures )
{
    if ( sum->out + sum->source == 0 ) {
        tr_figures_null( figures, "nothing touches, neither in the source nor in the result" );
        return;
    }
    figures->null[0] = sum->out == 0;
    figures->null[1] = sum->source == 0;
    if ( figures->null[0] )
        figures->reason = "nothing touches in the result: there is no precision";
    if ( figures->null[1] )
        figures->reason = "nothing touches in the source: there is no recall";
    figures->values[0] = (double)sum->both / fmax( 1, (double)sum->out );
    figures->values[1] = (double)sum->both / fmax( 1, (double)sum->source );
    figures->values[2] = 2.0 * (double)sum->both / (double)( sum->out + sum->source );
}

static int shells_and_props( const tr_take *take )
{
    int count = take->prop_count;
    for ( int c = 0; c < take->performer_count; ++c )
        count += take->performers[c].body->capsule_count;
    return count;
}

bool tr_measure_contact_f1( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    int frames = take->frame_count;
    contact_counts *counts = tr_alloc( (size_t)frames, sizeof *counts );
    int *to_source = tr_alloc( (size_t)shells_and_props( take ), sizeof *to_source );
    bool *has_out = tr_alloc( (size_t)shells_and_props( &m->source ), sizeof *has_out );
    bool ok = counts != NULL && to_source != NULL && has_out != NULL;
    contact_counts sum = { 0 };
    if ( ok ) {
        match_shells( take, &m->source, to_source, has_out );
        contact_scan scan = { take,
                              &m->source,
                              to_source,
                              has_out,
                              contact_reach( &m->def, take ),
                              contact_reach( &m->def, &m->source ),
                              counts };
        tr_parallel_for( frames, TR_MEASURE_BLOCK, scan_contacts, &scan );
    }
    for ( int f = 0; f < frames && ok; ++f ) {
        ok = !counts[f].failed;
        sum.out += counts[f].out;
        sum.source += counts[f].source;
        sum.both += counts[f].both;
    }
    report_contacts( &sum, figures );
    tr_free( counts );
    tr_free( to_source );
    tr_free( has_out );
    return ok;
}
