// Estimates the memory of a scene before it is staged.
#include "stage/builder.h"

double tr_memory_needed( const tr_memory_def *def, double frames, double joints, bool meshes )
{
    return def->fixed_bytes + frames * joints * ( meshes ? def->mesh_bytes : def->joint_bytes );
}

bool tr_memory_suffices( const tr_stage *stage, const char *file, double joints, bool meshes,
                         tr_error *error )
{
    double frames = (double)stage->scene->last - stage->scene->first + 1,
           needed = tr_memory_needed( &stage->def.memory, frames, joints, meshes ),
           limit = (double)tr_memory_limit();
    if ( needed <= limit )
        return true;
    bool small = limit < 1e9;
    double unit = small ? 1e-6 : 1e-9;
    return tr_error_path( error, file, "range",
                          "%.0f frames of %.0f joints may need %.*f %s of memory, and %.*f %s may be used; "
                          "take fewer frames, or allow more (--memory)",
                          frames, joints, !small, unit * needed, small ? "MB" : "GB", !small, unit * limit,
                          small ? "MB" : "GB" );
}

static bool count_joints( tr_stage_builder *b, double *joints )
{
    const tr_scene *scene = b->stage->scene;
    *joints = scene->prop_count; // a prop counts as a joint
    for ( int i = 0; i < scene->cast_count; ++i ) {
        const tr_cast *cast = &scene->cast[i];
        int clips;
        tr_stage_clips( b, cast, &clips );
        const tr_motion *source = clips > 0 ? NULL : tr_stage_fetch( b, &cast->source, "source" );
        if ( source == NULL && clips == 0 )
            return tr_stage_blame( b, "cast", i );
        *joints += source != NULL ? source->skeleton.joint_count : b->stage->def.memory.joints;
    }
    return true;
}

bool tr_stage_check_memory( tr_stage_builder *b )
{
    double joints;
    bool ok = tr_stage_sort_clips( b ) && count_joints( b, &joints );
    tr_free( b->clips );
    b->clips = NULL;
    return ok && tr_memory_suffices( b->stage, b->file, joints, false, b->error );
}
