// Quality over time: figures of tr_measure for each frame.
#include "measure/private.h"

#include <stdatomic.h>

static const struct {
    const char *name, *unit;
    double fine, bad; // as in tr_strip
} kinds[TR_STRIP_KINDS] = { [TR_STRIP_SLIP] = { "Sliding feet", "mm/s", 20, 200 },
                            [TR_STRIP_CONTACTS] = { "Contacts missed", "mm", 1, 20 },
                            [TR_STRIP_RULES] = { "Rules missed", "mm", 1, 20 },
                            [TR_STRIP_OVERLAP] = { "Bodies overlap", "mm", 5, 50 },
                            [TR_STRIP_LENGTHS] = { "Bone lengths", "%", 0.1, 2 },
                            [TR_STRIP_JERK] = { "Jerk", "× source", 1.5, 4 },
                            [TR_STRIP_JOLTS] = { "Jolts", "× source", 1, 4 },
                            [TR_STRIP_BENDS] = { "Bends", "°", 30, 90 },
                            [TR_STRIP_RANGES] = { "Joint ranges", "°", 1, 20 },
                            [TR_STRIP_GAPS] = { "Closeness", "mm", 40, 200 },
                            [TR_STRIP_BALANCE] = { "Balance", "mm", 50, 200 },
                            [TR_STRIP_PASSES] = { "Pass-throughs", "bones", 0.5, 1 } };

typedef struct scan {
    const tr_measuring *m;
    tr_strips *strips;
    double *jerk[2];          // [frame_count] root mean square over the joints, out and source
    tr_close_pairs *pairs[2]; // [frame_count] that overlap, out and source
    atomic_bool failed;
} scan;

// Largest speed of a foot in contact at this frame, over 0.1 s around it.
static double slip_at( const tr_measuring *m, const tr_take *take, int frame )
{
    double most = 0.0;
    for ( int c = 0; c < take->performer_count; ++c ) {
        const tr_performer *p = &take->performers[c], *s = &m->source.performers[c];
        for ( int i = 0; i < s->contacts->count; ++i ) {
            const tr_contact *contact = &s->contacts->items[i];
            tr_role role = s->skeleton->joints[contact->joint].role;
            if ( frame < contact->first || frame > contact->last ||
                 ( role != TR_ROLE_FOOT && role != TR_ROLE_TOE ) )
                continue;
            for ( int j = 0; j < p->skeleton->joint_count; ++j )
                if ( tr_performer_source( p, j ) == contact->joint )
                    most = fmax( most, tr_skate_speed( &m->def, take, p, j, contact,
                                                       frame - 0.5 * tr_skate_span( &m->def, take ) ) );
        }
    }
    return 1e3 * most;
}

static double rules_at( const tr_measuring *m, bool contacts, int frame )
{
    double most = 0.0;
    for ( int r = 0; r < m->stage->rule_count; ++r ) {
        const tr_rule *rule = &m->stage->rules[r];
        if ( rule->hard && ( rule->kind == TR_CONSTRAINT_CONTACT ) == contacts && frame >= rule->first &&
             frame <= rule->last )
            most = fmax( most, tr_rule_error( m->stage, m->result, rule, frame ) );
    }
    return 1e3 * most;
}

// Largest error of a bone's length, in percent of it.
static double stretch_at( const tr_take *take, double short_bone, int frame )
{
    double most = 0.0;
    for ( int c = 0; c < take->performer_count; ++c ) {
        const tr_performer *p = &take->performers[c];
        for ( int j = 1; j < p->skeleton->joint_count; ++j ) {
            double length = tr_bone_length( p->skeleton, j );
            double now = v3_distance( tr_performer_at( p, frame, j ),
                                      tr_performer_at( p, frame, p->skeleton->joints[j].parent ) );
            if ( length >= short_bone )
                most = fmax( most, fabs( now - length ) / length );
        }
    }
    return 100 * most;
}

static bool overlap_at( const tr_stage *stage, tr_closeness *closeness, const tr_take *take, int frame,
                        tr_close_pairs *pairs, double *mm )
{
    pairs->count = 0;
    tr_closeness_pose( closeness, take, frame );
    bool ok = tr_closeness_bodies( closeness, take, 0, pairs ) &&
              tr_closeness_props( closeness, take, frame, 0, pairs );
    tr_closeness_drop_passes( closeness, stage, take, frame, pairs );
    double deepest = 0.0;
    for ( int i = 0; i < pairs->count; ++i )
        deepest = fmax( deepest, -pairs->items[i].distance );
    *mm = 1e3 * deepest;
    return ok;
}

// Root mean square of the third difference over all joints, in metres per frame³.
static double jerk_at( const tr_take *take, int frame )
{
    double sum = 0.0, count = 0.0;
    if ( frame < 1 || frame + 2 >= take->frame_count )
        return 0.0;
    for ( int c = 0; c < take->performer_count; ++c ) {
        const tr_performer *p = &take->performers[c];
        for ( int j = 0; j < p->skeleton->joint_count; ++j ) {
            vec3 ahead = v3_sub( tr_performer_at( p, frame + 2, j ), tr_performer_at( p, frame - 1, j ) );
            vec3 middle = v3_sub( tr_performer_at( p, frame + 1, j ), tr_performer_at( p, frame, j ) );
            vec3 third = v3_mad( ahead, -3.0, middle );
            sum += v3_dot( third, third );
            count += 1.0;
        }
    }
    return count > 0.0 ? sqrt( sum / count ) : 0.0;
}

static bool scan_side( scan *s, int side, int begin, int end )
{
    const tr_take *take = side == 0 ? &s->m->out : &s->m->source;
    tr_closeness closeness;
    bool ok = tr_closeness_alloc( &closeness, take );
    for ( int f = begin; f < end && ok; ++f ) {
        float *at[TR_STRIP_KINDS];
        for ( int k = 0; k < TR_STRIP_KINDS; ++k )
            at[k] = ( side == 0 ? s->strips->items[k].out : s->strips->items[k].source ) + f;
        double mm = 0.0;
        ok = overlap_at( s->m->stage, &closeness, take, f, &s->pairs[side][f], &mm );
        *at[TR_STRIP_OVERLAP] = (float)mm;
        *at[TR_STRIP_SLIP] = (float)slip_at( s->m, take, f );
        *at[TR_STRIP_CONTACTS] = side == 0 ? (float)rules_at( s->m, true, f ) : 0.0f;
        *at[TR_STRIP_RULES] = side == 0 ? (float)rules_at( s->m, false, f ) : 0.0f;
        *at[TR_STRIP_LENGTHS] = (float)stretch_at( take, s->m->def.short_bone, f );
        s->jerk[side][f] = jerk_at( take, f );
    }
    tr_closeness_free( &closeness );
    return ok;
}

// ------------------------------------------------------------------------------------------------ overlaps

// A shell's number as performer and capsule; beyond all shells: performer_count + prop, and no capsule.
static void part_of( const tr_take *take, int shell, int *who, int *part )
{
    int first = 0;
    for ( *who = 0; *who < take->performer_count; ++*who ) {
        int count = take->performers[*who].body->capsule_count;
        if ( shell < first + count ) {
            *part = shell - first;
            return;
        }
        first += count;
    }
    *who = take->performer_count + shell - first;
    *part = -1;
}

static tr_overlap overlap_of( const tr_take *take, const tr_close_pair *pair )
{
    tr_overlap o = { .depth = (float)-pair->distance };
    part_of( take, pair->a, &o.a, &o.part_a );
    part_of( take, pair->b, &o.b, &o.part_b );
    return o;
}

// Bodies of another skeleton have other parts: their overlaps count in full.
static bool is_same_body( const tr_measuring *m, int who )
{
    return who >= m->out.performer_count ||
           m->out.performers[who].body->capsule_count == m->source.performers[who].body->capsule_count;
}

static double depth_in_source( const scan *s, const tr_overlap *o, int frame )
{
    const tr_close_pairs *pairs = &s->pairs[1][frame];
    bool same = is_same_body( s->m, o->a ) && is_same_body( s->m, o->b );
    for ( int i = 0; same && i < pairs->count; ++i ) {
        tr_overlap there = overlap_of( &s->m->source, &pairs->items[i] );
        if ( there.a == o->a && there.b == o->b && there.part_a == o->part_a && there.part_b == o->part_b )
            return there.depth;
    }
    return 0.0;
}

static bool gather_overlaps( const scan *s )
{
    tr_strips *strips = s->strips;
    int count = 0, capacity = 0;
    strips->overlap_first = tr_alloc( (size_t)strips->frame_count + 1, sizeof( int ) );
    if ( strips->overlap_first == NULL )
        return false;
    for ( int f = 0; f < strips->frame_count; ++f ) {
        strips->overlap_first[f] = count;
        for ( int i = 0; i < s->pairs[0][f].count; ++i ) {
            tr_overlap o = overlap_of( &s->m->out, &s->pairs[0][f].items[i] );
            o.depth -= (float)depth_in_source( s, &o, f );
            if ( 1e3 * o.depth <= kinds[TR_STRIP_OVERLAP].fine )
                continue;
            if ( !tr_array_reserve( (void **)&strips->overlaps, &capacity, count + 1, sizeof o ) )
                return false;
            strips->overlaps[count++] = o;
        }
    }
    strips->overlap_first[strips->frame_count] = count;
    return true;
}

static void free_pairs( tr_close_pairs *pairs, int count )
{
    for ( int f = 0; pairs != NULL && f < count; ++f )
        tr_free( pairs[f].items );
    tr_free( pairs );
}

static void scan_frames( void *context, int begin, int end )
{
    scan *s = context;
    for ( int side = 0; side < 2; ++side )
        if ( !scan_side( s, side, begin, end ) )
            atomic_store( &s->failed, true );
}

// Jerk relative to the source's mean.
static void scale_jerk( scan *s )
{
    int count = s->strips->frame_count;
    double mean = 0.0;
    for ( int f = 0; f < count; ++f )
        mean += s->jerk[1][f] / count;
    for ( int f = 0; f < count; ++f ) {
        s->strips->items[TR_STRIP_JERK].out[f] = (float)( s->jerk[0][f] / fmax( mean, s->m->def.same ) );
        s->strips->items[TR_STRIP_JERK].source[f] = (float)( s->jerk[1][f] / fmax( mean, s->m->def.same ) );
    }
}

// ------------------------------------------------------------------------------------------- whole takes

typedef bool take_scan( const tr_measuring *m, const tr_take *take, double *frames );

static bool scan_jolts( const tr_measuring *m, const tr_take *take, double *frames )
{
    tr_figures unused = { 0 };
    tr_measure_own_acceleration( m, take, &unused, 0, frames );
    return true;
}

static bool scan_bends( const tr_measuring *m, const tr_take *take, double *frames )
{
    tr_bend_scan bends;
    bool ok = tr_scan_bends( m, take, &bends, frames );
    tr_bend_scan_free( &bends );
    return ok;
}

static bool scan_ranges( const tr_measuring *m, const tr_take *take, double *frames )
{
    tr_range_scan ranges;
    return tr_scan_ranges( m, take, &ranges, frames );
}

static bool scan_gaps( const tr_measuring *m, const tr_take *take, double *frames )
{
    tr_figures unused = { 0 };
    tr_samples samples = { 0 };
    bool ok = tr_scan_gaps( m, take, &samples, &unused, frames );
    tr_free( samples.values );
    return ok;
}

static bool scan_balance( const tr_measuring *m, const tr_take *take, double *frames )
{
    tr_figures unused = { 0 };
    tr_samples samples = { 0 };
    bool ok = tr_scan_balance( m, take, &samples, &unused, frames );
    tr_free( samples.values );
    return ok;
}

static bool scan_passes( const tr_measuring *m, const tr_take *take, double *frames )
{
    tr_figures unused = { 0 };
    return tr_scan_passes( m, take, &unused, frames );
}

static bool fill_strip( float *strip, take_scan *run, const tr_measuring *m, const tr_take *take,
                        double unit )
{
    double *frames = tr_alloc( (size_t)take->frame_count, sizeof( double ) );
    bool ok = frames != NULL && run( m, take, frames );
    for ( int f = 0; f < take->frame_count && ok; ++f )
        strip[f] = (float)( frames[f] * unit );
    tr_free( frames );
    return ok;
}

// All but jolts and passes are differences from the source, which has none from itself.
static bool fill_from_takes( tr_strips *strips, const tr_measuring *m )
{
    tr_strip *items = strips->items;
    return fill_strip( items[TR_STRIP_JOLTS].out, scan_jolts, m, &m->out, 1 ) &&
           fill_strip( items[TR_STRIP_JOLTS].source, scan_jolts, m, &m->source, 1 ) &&
           fill_strip( items[TR_STRIP_PASSES].out, scan_passes, m, &m->out, 1 ) &&
           fill_strip( items[TR_STRIP_PASSES].source, scan_passes, m, &m->source, 1 ) &&
           fill_strip( items[TR_STRIP_BENDS].out, scan_bends, m, &m->out, 1 / TR_DEGREE ) &&
           fill_strip( items[TR_STRIP_RANGES].out, scan_ranges, m, &m->out, 1 / TR_DEGREE ) &&
           fill_strip( items[TR_STRIP_GAPS].out, scan_gaps, m, &m->out, 1e3 ) &&
           fill_strip( items[TR_STRIP_BALANCE].out, scan_balance, m, &m->out, 1e3 );
}

static bool alloc_strips( tr_strips *out, int frame_count )
{
    bool ok = true;
    *out = ( tr_strips ){ .frame_count = frame_count };
    for ( int k = 0; k < TR_STRIP_KINDS; ++k ) {
        out->items[k] = ( tr_strip ){ kinds[k].name, kinds[k].unit, kinds[k].fine, kinds[k].bad, NULL, NULL };
        out->items[k].out = tr_alloc( (size_t)frame_count, sizeof( float ) );
        out->items[k].source = tr_alloc( (size_t)frame_count, sizeof( float ) );
        ok = ok && out->items[k].out != NULL && out->items[k].source != NULL;
    }
    return ok;
}

bool tr_strips_measure( tr_strips *out, const tr_stage *stage, const tr_result *result, tr_error *error )
{
    tr_measuring m;
    scan s = { .m = &m, .strips = out };
    bool ok = alloc_strips( out, stage->frame_count );
    for ( int side = 0; side < 2; ++side ) {
        s.jerk[side] = tr_alloc( (size_t)stage->frame_count, sizeof( double ) );
        s.pairs[side] = tr_alloc( (size_t)stage->frame_count, sizeof( tr_close_pairs ) );
        ok = ok && s.jerk[side] != NULL && s.pairs[side] != NULL;
    }
    ok = tr_measuring_begin( &m, stage, result ) && ok;
    if ( ok ) {
        tr_parallel_for( stage->frame_count, TR_MEASURE_BLOCK, scan_frames, &s );
        scale_jerk( &s );
        ok = gather_overlaps( &s ) && fill_from_takes( out, &m );
    }
    tr_measuring_end( &m );
    for ( int side = 0; side < 2; ++side ) {
        tr_free( s.jerk[side] );
        free_pairs( s.pairs[side], stage->frame_count );
    }
    if ( ok && !atomic_load( &s.failed ) )
        return true;
    tr_strips_free( out );
    return tr_error_memory( error );
}

void tr_strips_free( tr_strips *strips )
{
    for ( int k = 0; k < TR_STRIP_KINDS; ++k ) {
        tr_free( strips->items[k].out );
        tr_free( strips->items[k].source );
    }
    tr_free( strips->overlaps );
    tr_free( strips->overlap_first );
    *strips = ( tr_strips ){ 0 };
}
