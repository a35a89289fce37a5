// Estimates the memory of a scene before it is staged.
#include "stage/builder.h"

#include "cage/cage.h"

#include <string.h>

double tr_memory_needed( const tr_memory_def *def, const tr_memory_load *load )
{
    double goals = load->use == TR_MEMORY_WINDOW ? load->frames * def->goal_bytes : 0;
    return def->fixed_bytes + load->frames * load->joints * def->joint_bytes[load->use] +
           load->rules * ( def->rule_bytes + goals ) + load->triangles * def->triangle_bytes + load->kept +
           load->at_work;
}

bool tr_memory_suffices( const tr_stage *stage, const char *file, const tr_memory_load *load,
                         tr_error *error )
{
    double needed = tr_memory_needed( &stage->def.memory, load ), limit = (double)tr_memory_limit();
    if ( needed <= limit )
        return true;
    bool small = limit < 1e9;
    double unit = small ? 1e-6 : 1e-9;
    char more[128] = "";
    if ( load->rules > 0 || load->triangles > 0 || load->kept > 0 )
        snprintf( more, sizeof more, ", %.0f constraints, %.0f triangles and %d cages", load->rules,
                  load->triangles, stage->grab_count );
    return tr_error_path( error, file, "range",
                          "%.0f frames of %.0f joints%s may need %.*f %s of memory, and %.*f %s may be used; "
                          "take fewer frames, or allow more (--memory)",
                          load->frames, load->joints, more, !small, unit * needed, small ? "MB" : "GB",
                          !small, unit * limit, small ? "MB" : "GB" );
}

// ------------------------------------------------------------------------------------------------ solving

static double points_of( const tr_stage *stage, const tr_grab *grab )
{
    double count = 0;
    for ( int i = 0; i < stage->actor_count; ++i )
        for ( int j = 0; grab->joints[i] != NULL && j < stage->actors[i].target.joint_count; ++j )
            count += grab->joints[i][j];
    for ( int p = 0; p < stage->prop_count; ++p )
        count += grab->props[p] ? 8 : 0; // corners of its box
    return count;
}

// A handle has a path and a rule, weights in every frame and an answer of every section. Answers of points
// depend on one another.
static double handle_bytes( const tr_stage *stage, const tr_grab *grab, double frames )
{
    const tr_scene *scene = stage->scene;
    double count = 0, sections = fmin( frames, TR_CAGE_MAX_SECTIONS ), vertices = grab->vertices;
    for ( int h = 0; h < scene->handle_count; ++h )
        count += strcmp( scene->handles[h].layer, scene->layers[grab->layer].id ) == 0;
    return count * ( stage->frame_count * sizeof( vec3 ) + frames * vertices * sizeof( float ) +
                     sections * vertices * ( sizeof( double ) + sizeof( float ) ) +
                     stage->def.memory.rule_bytes + count * sizeof( double ) );
}

static void add_cage( tr_memory_load *load, const tr_stage *stage, const tr_grab *grab )
{
    const tr_layer *layer = &stage->scene->layers[grab->layer];
    double frames = fmin( grab->last - grab->first + 1 + layer->ease_in + layer->ease_out, load->frames ),
           cells = points_of( stage, grab ) * frames,
           at_work = cells * ( stage->def.memory.cage_bytes + grab->vertices * sizeof( float ) ) +
                     handle_bytes( stage, grab, frames );
    load->kept += cells * sizeof( vec3 );
    load->at_work = fmax( load->at_work, at_work );
}

tr_memory_load tr_stage_load( const tr_stage *stage, tr_memory_use use )
{
    tr_memory_load load = { .frames = stage->frame_count,
                            .joints = stage->prop_count,
                            .use = use,
                            .rules = stage->scene->constraint_count };
    for ( int i = 0; i < stage->actor_count; ++i )
        load.joints += stage->actors[i].target.joint_count;
    for ( int m = 0; m < stage->mesh_count; ++m )
        load.triangles += stage->meshes[m].triangle_count;
    for ( int g = 0; g < stage->grab_count; ++g )
        add_cage( &load, stage, &stage->grabs[g] );
    return load;
}

// ------------------------------------------------------------------------------------------------ staging

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

// Triangles of props and obstacles, counted before anything is staged.
static bool count_triangles( tr_stage_builder *b, tr_memory_load *load )
{
    const tr_scene *scene = b->stage->scene;
    for ( int i = 0; i < scene->prop_count + scene->obstacle_count; ++i ) {
        bool prop = i < scene->prop_count;
        int index = prop ? i : i - scene->prop_count;
        const tr_form *form = prop ? &scene->props[index].form : &scene->obstacles[index].form;
        if ( ( prop ? scene->props[index].shape : scene->obstacles[index].shape ) != TR_SHAPE_MESH )
            continue;
        snprintf( b->field, sizeof b->field, "mesh.file" );
        const tr_trimesh *mesh = tr_library_mesh( b->library, form, b->file, b->error );
        if ( mesh == NULL )
            return tr_stage_blame( b, prop ? "props" : "environment.boxes", index );
        load->triangles += mesh->triangle_count;
    }
    return true;
}

bool tr_stage_check_memory( tr_stage_builder *b )
{
    const tr_scene *scene = b->stage->scene;
    tr_memory_load load = { .frames = (double)scene->last - scene->first + 1,
                            .rules = scene->constraint_count };
    bool ok = tr_stage_sort_clips( b ) && count_joints( b, &load.joints ) && count_triangles( b, &load );
    tr_free( b->clips );
    b->clips = NULL;
    return ok && tr_memory_suffices( b->stage, b->file, &load, b->error );
}
