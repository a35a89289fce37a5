// Do hands, feet and heads stay as near to other bodies as in the source? Capsules are thin and hands of many
// captures stop short of each other, so what meets need not touch: everything within reach counts.
#include "measure/private.h"

enum { frames_per_block = 8 };

typedef struct gap { // the gap between one extremity and one other body in the source
    double distance; // HUGE_VAL: not near
    int own, other;  // shells of the source
} gap;

typedef struct frame_gaps {
    tr_samples changes; // metres
    double worst;
    int who, joint; // the body and the joint with the worst gap
    bool failed;
} frame_gaps;

typedef struct gap_scan {
    const tr_measuring *m;
    const tr_take *take;
    int *extremity;            // [shells of the source] number among those of its body, -1: none
    int *first_shell;          // [shells of the source] a shell of the take for it, -1: none
    int *next_shell;           // [shells of the take] the next for the same one, -1: none
    const tr_capsule **around; // [shells of the take]
    int most;                  // extremities of one body
    frame_gaps *frames;        // [frame_count]
} gap_scan;

// ----------------------------------------------------------------------------------------- extremities

typedef enum end_kind { END_NONE, END_HAND, END_FOOT, END_HEAD } end_kind;

static end_kind end_of( tr_role role )
{
    return role == TR_ROLE_HAND || role == TR_ROLE_FINGER ? END_HAND
           : role == TR_ROLE_FOOT || role == TR_ROLE_TOE  ? END_FOOT
           : role == TR_ROLE_HEAD                         ? END_HEAD
                                                          : END_NONE;
}

// The joint whose extremity a capsule is: the one that it moves with, or one at its end that has no capsule
// of its own. -1: none.
static int end_joint( const tr_performer *p, int capsule )
{
    const tr_capsule *c = &p->body->capsules[capsule];
    if ( end_of( p->skeleton->joints[c->parent].role ) != END_NONE )
        return c->parent;
    if ( end_of( p->skeleton->joints[c->joint].role ) == END_NONE )
        return -1;
    for ( int i = 0; i < p->body->capsule_count; ++i )
        if ( p->body->capsules[i].parent == c->joint )
            return -1;
    return c->joint;
}

// Numbers the extremities of a body: capsules of one limb and kind are one.
static int number_extremities( const tr_performer *p, int *extremity )
{
    int count = 0;
    for ( int i = 0; i < p->body->capsule_count; ++i ) {
        int joint = end_joint( p, i );
        extremity[i] = joint >= 0 ? count : -1;
        for ( int k = 0; k < i && joint >= 0; ++k ) {
            int before = extremity[k] >= 0 ? end_joint( p, k ) : -1;
            const tr_joint *a = &p->skeleton->joints[joint],
                           *b = &p->skeleton->joints[before < 0 ? 0 : before];
            if ( before >= 0 && a->limb == b->limb && end_of( a->role ) == end_of( b->role ) ) {
                extremity[i] = extremity[k];
                break;
            }
        }
        count += joint >= 0 && extremity[i] == count;
    }
    return count;
}

static void match_shells( gap_scan *scan )
{
    int shell = 0, first = 0;
    for ( int c = 0; c < scan->take->performer_count; ++c ) {
        const tr_performer *performer = &scan->take->performers[c], *source = &scan->m->source.performers[c];
        int count = number_extremities( source, scan->extremity + first );
        scan->most = count > scan->most ? count : scan->most;
        for ( int i = 0; i < source->body->capsule_count; ++i )
            scan->first_shell[first + i] = -1;
        for ( int i = 0; i < performer->body->capsule_count; ++i, ++shell ) {
            int match = tr_performer_capsule( performer, &performer->body->capsules[i], source );
            scan->around[shell] = &performer->body->capsules[i];
            scan->next_shell[shell] = match >= 0 ? scan->first_shell[first + match] : -1;
            if ( match >= 0 )
                scan->first_shell[first + match] = shell;
        }
        first += source->body->capsule_count;
    }
}

// ------------------------------------------------------------------------------------------------- gaps

static double shown_gap( const gap_scan *scan, const tr_closeness *out, const gap *g, int *nearest )
{
    double least = HUGE_VAL;
    for ( int a = scan->first_shell[g->own]; a >= 0; a = scan->next_shell[a] )
        for ( int b = scan->first_shell[g->other]; b >= 0; b = scan->next_shell[b] ) {
            const struct tr_shell *p = &out->shells[a], *q = &out->shells[b];
            double distance = tr_capsule_distance( p->a, p->b, p->radius, q->a, q->b, q->radius );
            if ( distance < least )
                *nearest = a;
            least = fmin( least, distance );
        }
    return fmax( 0, least );
}

// Compares the gaps of one body's extremities to another, and empties the list.
static bool compare_gaps( const gap_scan *scan, const tr_closeness *out, gap *gaps, int who, int other,
                          frame_gaps *frame )
{
    const tr_performer *mine = scan->take->performers, *source = scan->m->source.performers;
    double rescale = 0.5 * ( tr_performer_rescale( &mine[who], &source[who] ) +
                             tr_performer_rescale( &mine[other], &source[other] ) );
    for ( int i = 0; i < scan->most; ++i ) {
        int nearest = 0;
        if ( gaps[i].distance == HUGE_VAL )
            continue;
        double change =
            fabs( rescale * shown_gap( scan, out, &gaps[i], &nearest ) - fmax( 0, gaps[i].distance ) );
        gaps[i].distance = HUGE_VAL;
        if ( !tr_samples_add( &frame->changes, change ) )
            return false;
        if ( change <= frame->worst )
            continue;
        frame->worst = change;
        frame->who = who;
        frame->joint = scan->around[nearest]->parent;
    }
    return true;
}

static void note_gap( const gap_scan *scan, gap *gaps, int own, int other, double distance )
{
    int i = scan->extremity[own];
    if ( i >= 0 && distance < gaps[i].distance )
        gaps[i] = ( gap ){ distance, own, other };
}

static bool scan_frame( const gap_scan *scan, tr_closeness *near, tr_closeness *out, tr_close_pairs *pairs,
                        gap *gaps, int f )
{
    const tr_take *source = &scan->m->source;
    pairs->count = 0;
    tr_closeness_pose( near, source, f );
    if ( !tr_closeness_bodies( near, source, scan->m->def.close, pairs ) )
        return false;
    if ( pairs->count > 0 )
        tr_closeness_pose( out, scan->take, f );
    tr_closeness_drop_passes( near, scan->m->stage, source, f, pairs );
    bool ok = true;
    for ( int i = 0; i < pairs->count && ok; ) { // pairs of two bodies follow one another
        int one = tr_closeness_owner( near, source, pairs->items[i].a ),
            other = tr_closeness_owner( near, source, pairs->items[i].b );
        for ( ; i < pairs->count && pairs->items[i].a < near->first[one + 1] &&
                pairs->items[i].b >= near->first[other] && pairs->items[i].b < near->first[other + 1];
              ++i ) {
            const tr_close_pair *p = &pairs->items[i];
            if ( scan->first_shell[p->a] < 0 || scan->first_shell[p->b] < 0 )
                continue;
            note_gap( scan, gaps, p->a, p->b, p->distance );
            note_gap( scan, gaps + scan->most, p->b, p->a, p->distance );
        }
        ok = compare_gaps( scan, out, gaps, one, other, &scan->frames[f] ) &&
             compare_gaps( scan, out, gaps + scan->most, other, one, &scan->frames[f] );
    }
    return ok;
}

static void scan_frames( void *context, int begin, int end )
{
    gap_scan *scan = context;
    tr_closeness near, out;
    tr_close_pairs pairs = { 0 };
    gap *gaps = tr_alloc( 2 * (size_t)scan->most, sizeof *gaps );
    bool ok = tr_closeness_alloc( &near, &scan->m->source );
    ok = tr_closeness_alloc( &out, scan->take ) && ok && gaps != NULL;
    for ( int i = 0; i < 2 * scan->most && ok; ++i )
        gaps[i].distance = HUGE_VAL;
    for ( int f = begin; f < end && ok; ++f )
        ok = scan_frame( scan, &near, &out, &pairs, gaps, f );
    scan->frames[begin].failed = !ok;
    tr_free( pairs.items );
    tr_free( gaps );
    tr_closeness_free( &near );
    tr_closeness_free( &out );
}

// ----------------------------------------------------------------------------------------------- figures

static int count_shells( const tr_take *take )
{
    int count = 0;
    for ( int c = 0; c < take->performer_count; ++c )
        count += take->performers[c].body->capsule_count;
    return count;
}

// Adds up frames in their order, so that any number of threads gives the same.
static bool gather( gap_scan *scan, tr_samples *samples, tr_figures *figures, double *frames )
{
    double worst = 0;
    bool ok = true;
    for ( int f = 0; f < scan->take->frame_count; ++f ) {
        frame_gaps *frame = &scan->frames[f];
        ok = ok && !frame->failed;
        for ( int i = 0; i < frame->changes.count && ok; ++i )
            ok = tr_samples_add( samples, frame->changes.values[i] );
        if ( frames != NULL )
            frames[f] = fmax( frames[f], frame->worst );
        if ( frame->worst > worst )
            tr_figures_place( figures, frame->who, frame->joint, f );
        worst = fmax( worst, frame->worst );
        tr_free( frame->changes.values );
    }
    return ok;
}

bool tr_scan_gaps( const tr_measuring *m, const tr_take *take, tr_samples *samples, tr_figures *figures,
                   double *frames )
{
    size_t shells = (size_t)count_shells( take ), sources = (size_t)count_shells( &m->source );
    gap_scan scan = { .m = m,
                      .take = take,
                      .extremity = tr_alloc( sources, sizeof( int ) ),
                      .first_shell = tr_alloc( sources, sizeof( int ) ),
                      .next_shell = tr_alloc( shells, sizeof( int ) ),
                      .around = tr_alloc( shells, sizeof( tr_capsule * ) ),
                      .frames = tr_alloc( (size_t)take->frame_count, sizeof( frame_gaps ) ) };
    bool ok = scan.extremity != NULL && scan.first_shell != NULL && scan.next_shell != NULL &&
              scan.around != NULL && scan.frames != NULL;
    if ( ok ) {
        match_shells( &scan );
        if ( scan.most > 0 && take->performer_count > 1 )
            tr_parallel_for( take->frame_count, frames_per_block, scan_frames, &scan );
        ok = gather( &scan, samples, figures, frames );
    }
    tr_free( scan.extremity );
    tr_free( scan.first_shell );
    tr_free( scan.next_shell );
    tr_free( scan.around );
    tr_free( scan.frames );
    return ok;
}

bool tr_measure_closeness( const tr_measuring *m, const tr_take *take, tr_figures *figures )
{
    tr_samples samples = { 0 };
    bool ok = tr_scan_gaps( m, take, &samples, figures, NULL );
    tr_samples_report( &samples, 1e3,
                       "no hand, foot or head comes within 0.3 m of another body in the source", figures );
    return ok;
}
