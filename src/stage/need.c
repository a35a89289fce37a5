// How much memory a scene will take, before any of it is taken.
#include "stage/builder.h"

// Bytes per joint and frame of a character: a rotation and a place in the world each (56 of them) of the
// source, the target, the result, the copied pose and the first result that calming keeps, the graphs'
// joints, and what fits, layers and reports add. Meshes have a vertex for a joint and one for its surface,
// with contacts, a band of the matrix and everybody's poses before and after each pass.
#define JOINT_BYTES 640.0
#define MESH_BYTES  2400.0
// And what does not grow with the frames: matrices and rooms of threads.
#define FIXED_BYTES ( 48.0 * ( 1 << 20 ) )

double tr_memory_needed( double frames, double joints, bool meshes )
{
    return FIXED_BYTES + frames * joints * ( meshes ? MESH_BYTES : JOINT_BYTES );
}

bool tr_memory_suffices( const tr_scene *scene, const char *file, double joints, bool meshes,
                         tr_error *error )
{
    double frames = (double)scene->last - scene->first + 1,
           needed = tr_memory_needed( frames, joints, meshes ), limit = (double)tr_memory_limit();
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

#define UNKNOWN_JOINTS 100 // of a body that is put together from clips: one with fingers

static bool count_joints( tr_stage_builder *b, double *joints )
{
    const tr_scene *scene = b->stage->scene;
    *joints = scene->prop_count; // a prop is as a joint
    for ( int i = 0; i < scene->cast_count; ++i ) {
        const tr_cast *cast = &scene->cast[i];
        int clips;
        tr_stage_clips( b, cast, &clips );
        const tr_motion *source = clips > 0 ? NULL : tr_stage_fetch( b, &cast->source, "source" );
        if ( source == NULL && clips == 0 )
            return tr_stage_blame( b, "cast", i );
        *joints += source != NULL ? source->skeleton.joint_count : UNKNOWN_JOINTS;
    }
    return true;
}

bool tr_stage_check_memory( tr_stage_builder *b )
{
    double joints;
    bool ok = tr_stage_sort_clips( b ) && count_joints( b, &joints );
    tr_free( b->clips );
    b->clips = NULL;
    return ok && tr_memory_suffices( b->stage->scene, b->file, joints, false, b->error );
}
