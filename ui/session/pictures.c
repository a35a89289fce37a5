// Jobs that draw without the window: pictures, videos, thumbnails of built-in scenes.
#include "ui/session/private.h"

static const int thumb_width = 248, thumb_height = 140;

typedef struct studio { // draws without the window, on the worker's thread
    tr_headless *headless;
    tr_renderer *renderer;
    tr_draw_list list;
    unsigned char *rgb;
} studio;

static bool studio_open( studio *s, int width, int height, tr_error *error )
{
    *s = ( studio ){ .rgb = tr_alloc( (size_t)width * (size_t)height, 3 ) };
    if ( s->rgb == NULL )
        return tr_error_memory( error );
    s->headless = tr_headless_create( error );
    s->renderer = s->headless != NULL ? tr_renderer_create( error ) : NULL;
    return s->renderer != NULL;
}

static void studio_close( studio *s )
{
    tr_renderer_destroy( s->renderer );
    tr_headless_destroy( s->headless );
    tr_draw_free( &s->list );
    tr_free( s->rgb );
}

static bool draw_frame( studio *s, const tr_job *j, int frame, tr_error *error )
{
    const tr_picture_job *p = &j->picture;
    tr_view_fill( &s->list, &j->outcome->stage, &j->outcome->solved, frame, &p->view );
    return tr_renderer_picture( s->renderer, &s->list, &p->camera, p->width, p->height, s->rgb, error );
}

static bool draw_video( studio *s, tr_job *j, tr_worker *worker )
{
    const tr_picture_job *p = &j->picture;
    tr_video *video = tr_video_open( p->path, p->width, p->height, j->outcome->stage.fps, &j->error );
    tr_progress link = tr_worker_link( worker );
    bool ok = video != NULL;
    for ( int f = p->first; ok && f <= p->last; ++f )
        ok = tr_progress_report( &link, f - p->first, p->last - p->first + 1, &j->error ) &&
             draw_frame( s, j, f, &j->error ) && tr_video_frame( video, s->rgb, &j->error );
    if ( video == NULL || ok )
        return ok && tr_video_close( video, &j->error );
    tr_video_discard( video );
    return false;
}

void tr_job_draw( void *context, tr_worker *worker )
{
    tr_job *j = context;
    const tr_picture_job *p = &j->picture;
    studio s;
    j->ok = studio_open( &s, p->width, p->height, &j->error );
    if ( j->ok && p->first != p->last )
        j->ok = draw_video( &s, j, worker );
    else if ( j->ok ) {
        tr_renderer_set_still( s.renderer, true );
        j->ok = draw_frame( &s, j, p->first, &j->error ) &&
                tr_picture_save( p->path, p->width, p->height, s.rgb, &j->error );
    }
    studio_close( &s );
}

// A built-in scene before solving: enough for a thumbnail.
static bool draw_thumb( tr_job *j )
{
    tr_opened opened = { 0 };
    tr_stage stage = { 0 };
    tr_result result = { 0 };
    studio s = { 0 };
    int count;
    const tr_scene_entry *entry = &tr_scene_table( &count )[j->entry];
    int w = j->thumb.width, h = j->thumb.height;
    tr_view_def view = tr_default_view_def();
    tr_camera camera;
    bool ok = tr_open( &opened, entry->name, 0, &j->error ) &&
              tr_stage_build( &stage, &opened.scene, NULL, &opened.library, NULL, &j->error ) &&
              tr_pipeline_run( &result, &stage, tr_method_find( "copy" ), &j->error );
    int middle = result.frame_count / 2;
    ok = ok &&
         tr_view_camera( &camera, &stage, &result, 1, middle, middle, "auto", (double)w / h, &j->error ) &&
         studio_open( &s, w, h, &j->error );
    if ( ok ) {
        tr_renderer_set_still( s.renderer, true );
        tr_renderer_set_dim( s.renderer, true ); // as the panel around it
        tr_view_fill( &s.list, &stage, &result, middle, &view );
        ok = tr_renderer_picture( s.renderer, &s.list, &camera, w, h, s.rgb, &j->error );
    }
    if ( ok ) {
        j->thumb.rgb = s.rgb;
        s.rgb = NULL;
    }
    studio_close( &s );
    tr_result_free( &result );
    tr_stage_free( &stage );
    tr_opened_free( &opened );
    return ok;
}

void tr_job_thumb( void *context, tr_worker *worker )
{
    tr_job *j = context;
    (void)worker;
    j->thumb = ( tr_thumb ){ .width = thumb_width, .height = thumb_height };
    j->ok = draw_thumb( j );
}
