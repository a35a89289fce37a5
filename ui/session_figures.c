// How good the last solve is: strips over time, who is close to whom, all figures. They take longer than
// solving, so a thread of their own finds them after the result is on show, the quickest first; until they
// are there, those of the solve before stay.
#include "ui/session_private.h"

enum { STRIPS, LINKS, MEASURES, PARTS }; // in the order they are found

static void run_figures( void *context, tr_worker *worker )
{
    tr_figuring *f = context;
    tr_progress link = tr_worker_link( worker );
    tr_stage stage = f->take->stage; // a look at it with a progress of its own
    stage.progress = &link;
    const tr_result *result = &f->take->solved;
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

static tr_figures_of figures_of( const tr_outcome *take )
{
    return ( tr_figures_of ){ .serial = take->serial,
                              .actors = take->stage.actor_count,
                              .props = take->stage.prop_count,
                              .obstacles = take->stage.scene->obstacle_count,
                              .frames = take->stage.frame_count };
}

// What has been found since the last time. Figures of a solve that is no longer shown are of no use.
static bool deliver( tr_session *session )
{
    tr_figuring *f = &session->figuring;
    int ready = f->take != NULL && f->take == session->take ? atomic_load( &f->ready ) : 0;
    bool news = f->delivered < ready;
    for ( ; f->delivered < ready; ++f->delivered ) {
        move_part( &session->figures, &f->found, f->delivered );
        session->figures_of[f->delivered] = figures_of( f->take );
    }
    return news;
}

static void finish( tr_session *session )
{
    tr_figuring *f = &session->figuring;
    for ( int part = 0; part < PARTS; ++part )
        free_part( &f->found, part );
    tr_outcome_release( f->take );
    *f = ( tr_figuring ){ 0 };
}

static void begin( tr_session *session )
{
    session->want_figures = false;
    session->figuring = ( tr_figuring ){ .take = session->take };
    ++session->take->users;
    tr_worker_start( session->measurer, run_figures, &session->figuring );
    if ( session->synchronous )
        tr_worker_wait( session->measurer );
}

bool tr_session_poll_figures( tr_session *session )
{
    bool news = deliver( session );
    if ( session->figuring.take != NULL && !tr_worker_running( session->measurer ) ) {
        news |= deliver( session );
        finish( session );
    }
    bool calm = session->job.kind != TR_JOB_SOLVE && session->job.kind != TR_JOB_DRAG;
    if ( session->want_figures && calm && session->figuring.take == NULL &&
         tr_session_solution( session ) != NULL ) {
        begin( session );
        news |= session->synchronous && deliver( session );
    }
    return news;
}

void tr_session_stop_figures( tr_session *session )
{
    if ( session->figuring.take != NULL )
        tr_worker_cancel( session->measurer );
}

void tr_session_forget_figures( tr_session *session )
{
    for ( int part = 0; part < PARTS; ++part ) {
        free_part( &session->figures, part );
        session->figures_of[part] = ( tr_figures_of ){ 0 };
    }
}

void tr_session_end_figures( tr_session *session )
{
    tr_worker_destroy( session->measurer );
    finish( session );
    tr_session_forget_figures( session );
}

bool tr_session_measuring( const tr_session *session )
{
    return session->figuring.take != NULL || session->want_figures;
}

// Of other members or another length they would say nothing, and count beyond those that there are.
static bool fits( const tr_session *session, int part )
{
    const tr_figures_of *of = &session->figures_of[part];
    if ( of->serial == 0 || session->take == NULL )
        return false;
    tr_figures_of now = figures_of( session->take );
    return of->actors == now.actors && of->props == now.props && of->obstacles == now.obstacles &&
           of->frames == now.frames;
}

const tr_strips *tr_session_strips( const tr_session *session, bool *fresh )
{
    *fresh = fits( session, STRIPS ) && session->figures_of[STRIPS].serial == session->take->serial;
    return fits( session, STRIPS ) ? &session->figures.strips : NULL;
}

const tr_imesh_pairs *tr_session_links( const tr_session *session )
{
    return fits( session, LINKS ) ? &session->figures.links : NULL;
}

const tr_measures *tr_session_measures( const tr_session *session )
{
    return fits( session, MEASURES ) ? &session->figures.measures : NULL;
}
