// Playback. Time decides which frame is shown: when drawing cannot keep up, frames are left out.
#include "ui/shared/shared.h"

static int clamp( int frame, int first, int last )
{
    return frame < first ? first : frame > last ? last : frame;
}

void tr_play_seek( tr_ui *ui, int frame )
{
    ui->frame = clamp( frame, 0, ui->frame_count > 0 ? ui->frame_count - 1 : 0 );
    ui->position = -1.0; // to be taken from the frame
}

void tr_play_scene( tr_ui *ui, int frame_count )
{
    bool whole = ui->loop_first <= 0 && ui->loop_last >= ui->frame_count - 1;
    ui->frame_count = frame_count;
    int last = frame_count > 0 ? frame_count - 1 : 0;
    ui->loop_first = whole ? 0 : clamp( ui->loop_first, 0, last );
    ui->loop_last = whole ? last : clamp( ui->loop_last, 0, last );
    ui->zoom_first = clampd( ui->zoom_first, 0, last );
    ui->zoom_last = clampd( ui->zoom_last, 0, last );
    tr_play_seek( ui, ui->frame );
}

void tr_play_toggle( tr_ui *ui )
{
    ui->playing = !ui->playing && ui->frame_count > 1;
    if ( ui->playing && ( ui->frame < ui->loop_first || ui->frame >= ui->loop_last ) )
        ui->frame = ui->loop_first;
    ui->position = -1.0;
}

void tr_play_advance( tr_ui *ui, double fps, double elapsed )
{
    if ( !ui->playing || fps <= 0.0 )
        return;
    int span = ui->loop_last - ui->loop_first + 1;
    if ( ui->position < 0.0 )
        ui->position = ( ui->frame - ui->loop_first ) / fps;
    ui->position += elapsed * ui->speed;
    double frames = ui->position * fps;
    if ( frames >= span && !ui->loop ) {
        ui->playing = false;
        ui->frame = ui->loop_last;
        return;
    }
    if ( frames >= span ) {
        frames = fmod( frames, span );
        ui->position = frames / fps;
    }
    ui->frame = clamp( ui->loop_first + tr_int_clamped( frames, 0, span ), ui->loop_first, ui->loop_last );
}
