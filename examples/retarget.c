// Gives one person of a scene another body, solves, reads a pose, measures, saves.
//   retarget [SCENE|FILE.json|FILE.bvh [FOLDER]]
#include <stdio.h>
#include <troupe/troupe.h>

static bool show_progress( void *context, int done, int total )
{
    (void)context;
    fprintf( stderr, "\rsolving %3d %%", total > 0 ? 100 * done / total : 100 );
    return true; // false cancels
}

static int fail( const troupe_error *error )
{
    char text[2048];
    troupe_error_print( error, text, sizeof text );
    fprintf( stderr, "\nretarget: %s\n", text );
    return 1;
}

int main( int count, char **arguments )
{
    troupe_error error;
    troupe_scene *scene = troupe_scene_open( count > 1 ? arguments[1] : "high_five", 0, &error );
    if ( scene == NULL )
        return fail( &error );
    char ops[200]; // every edit is a line of text
    snprintf( ops, sizeof ops, "cast_scale id=%s scale=1.2\ncast_limb id=%s limb=arms value=1.1\n",
              troupe_scene_cast_id( scene, 0 ), troupe_scene_cast_id( scene, 0 ) );
    troupe_stage *stage = NULL;
    if ( !troupe_scene_apply( scene, ops, &error ) ||
         ( stage = troupe_stage_create( scene, NULL, &error ) ) == NULL )
        return fail( &error );

    troupe_solve_def def = troupe_default_solve_def();
    def.work.progress = show_progress;
    troupe_result *result = troupe_solve( stage, &def, &error );
    troupe_measures *measures = result != NULL ? troupe_measure( result, NULL, &error ) : NULL;
    if ( measures == NULL )
        return fail( &error );

    troupe_clip clip = troupe_result_clip( result, 0 );
    int frame = clip.frame_count / 2, joint = clip.joint_count - 1;
    const double *p = clip.positions + 3 * ( (size_t)frame * clip.joint_count + joint ); // x, y, z
    printf( "\n%s.%s at frame %d: %.3f %.3f %.3f m\n", clip.id, clip.names[joint], frame, p[0], p[1], p[2] );
    int skate = troupe_measures_find( measures, "foot_skate_mm_s", "mean" );
    if ( skate >= 0 )
        printf( "foot skate: %.2f mm/s\n", troupe_measures_figure( measures, skate ).value );
    if ( count > 2 && !troupe_result_save( result, arguments[2], NULL, &error ) )
        return fail( &error );

    troupe_measures_destroy( measures );
    troupe_result_destroy( result );
    troupe_stage_destroy( stage );
    troupe_scene_destroy( scene );
    return 0;
}
