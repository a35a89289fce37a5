// How good the last solve is: strips over time, pairs that are close, all figures. Measuring takes longer
// than solving, so it has its own thread and begins after the result is shown, the quickest part first; until
// then the figures of the solve before stay.
#include "ui/session/private.h"

enum { STRIPS, LINKS, MEASURES, PARTS }; // in the order they are found

static void run_figures( void *context, tr_worker *worker )
{
    tr_figuring *f = context;
    tr_progress link = tr_worker_link( worker );
    tr_stage stage = f->outcome->stage; // a shallow copy with its own progress
    stage.progress = &link;
    const tr_result *result = &f->outcome->solved;
    for ( int part = 0; part < PARTS && !tr_worker_cancelled( worker ); ++part ) {
        bool ok = part == STRIPS  ? tr_strips_measure( &f->found.strips, &stage, result, NULL )
                  : part == LINKS ? tr_stage_links( &f->found.links, &stage, NULL )
                                  : tr_measure( &f->found.measures, &stage, result, NULL );
        if ( !ok )
            return;
        atomic_store( &f->ready, part + 1 );
    }
}

static void free_part( tr_figures *figures, int part )
{
    if ( part == STRIPS )
        tr_strips_free( &figures->strips );
    else if ( part == LINKS )
        tr_imesh_pairs_free( &figures->links );
    else
        tr_measures_free( &figures->measures );
}

static void move_part( tr_figures *to, tr_figures *from, int part )
{
    free_part( to, part );
    if ( part == STRIPS ) {
        to->strips = from->strips;
        from->strips = ( tr_strips ){ 0 };
    } else if ( part == LINKS ) {
        to->links = from->links;
        from->links = ( tr_imesh_pairs ){ 0 };
    } else {
        to->measures = from->measures;
        from->measures = ( tr_measures ){ 0 };
    }
}

static tr_figures_of figures_of( const tr_outcome *outcome )
{
    return ( tr_figures_of ){ .serial = outcome->serial,
                              .actors = outcome->stage.actor_count,
                              .props = outcome->stage.prop_count,
                              .obstacles = outcome->stage.scene->obstacle_count,
                              .frames = outcome->stage.frame_count };
}

// Takes over the parts that are new. Figures of a solve that is no longer shown are of no use.
static bool deliver( tr_measuring *m, const tr_outcome *shown )
{
    tr_figuring *f = &m->now;
    int ready = f->outcome != NULL && f->outcome == shown ? atomic_load( &f->ready ) : 0;
    bool news = f->delivered < ready;
    for ( ; f->delivered < ready; ++f->delivered ) {
        move_part( &m->figures, &f->found, f->delivered );
        m->of[f->delivered] = figures_of( shown );
    }
    return news;
}

static void finish( tr_measuring *m )
{
    for ( int part = 0; part < PARTS; ++part )
        free_part( &m->now.found, part );
    tr_outcome_release( m->now.outcome );
    m->now = ( tr_figuring ){ 0 };
}

static void begin( tr_measuring *m, tr_outcome *shown )
{
    m->wanted = false;
    m->now = ( tr_figuring ){ .outcome = shown };
    ++shown->users;
    tr_worker_start( m->worker, run_figures, &m->now );
    if ( m->synchronous )
        tr_worker_wait( m->worker );
}

bool tr_measuring_poll( tr_measuring *m, const tr_solving *solving, bool calm )
{
    bool news = deliver( m, solving->shown );
    if ( m->now.outcome != NULL && !tr_worker_running( m->worker ) ) {
        news |= deliver( m, solving->shown );
        finish( m );
    }
    if ( m->wanted && calm && m->now.outcome == NULL && tr_solving_solution( solving ) != NULL ) {
        begin( m, solving->shown );
        news |= m->synchronous && deliver( m, solving->shown );
    }
    return news;
}

void tr_measuring_stop( tr_measuring *m )
{
    if ( m->now.outcome != NULL )
        tr_worker_cancel( m->worker );
}

void tr_measuring_clear( tr_measuring *m )
{
    tr_measuring_stop( m );
    m->wanted = false;
    for ( int part = 0; part < PARTS; ++part ) {
        free_part( &m->figures, part );
        m->of[part] = ( tr_figures_of ){ 0 };
    }
}

bool tr_measuring_create( tr_measuring *m, bool synchronous, tr_error *error )
{
    *m = ( tr_measuring ){ .worker = tr_worker_create( !synchronous, error ), .synchronous = synchronous };
    return m->worker != NULL;
}

void tr_measuring_destroy( tr_measuring *m )
{
    tr_worker_destroy( m->worker );
    finish( m );
    tr_measuring_clear( m );
}

bool tr_session_measuring( const tr_session *session )
{
    return session->measuring.now.outcome != NULL || session->measuring.wanted;
}

// Figures of other members or of another length are not shown: their indices do not fit.
static bool fits( const tr_session *session, int part )
{
    const tr_figures_of *of = &session->measuring.of[part];
    const tr_outcome *shown = session->solving.shown;
    if ( of->serial == 0 || shown == NULL )
        return false;
    tr_figures_of now = figures_of( shown );
    return of->actors == now.actors && of->props == now.props && of->obstacles == now.obstacles &&
           of->frames == now.frames;
}

const tr_strips *tr_session_strips( const tr_session *session, bool *fresh )
{
    const tr_measuring *m = &session->measuring;
    *fresh = fits( session, STRIPS ) && m->of[STRIPS].serial == session->solving.shown->serial;
    return fits( session, STRIPS ) ? &m->figures.strips : NULL;
}

const tr_imesh_pairs *tr_session_links( const tr_session *session )
{
    return fits( session, LINKS ) ? &session->measuring.figures.links : NULL;
}

const tr_measures *tr_session_measures( const tr_session *session )
{
    return fits( session, MEASURES ) ? &session->measuring.figures.measures : NULL;
}
