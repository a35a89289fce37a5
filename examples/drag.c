// Pulls a hand up with a cage, as a mouse would, then keeps the edit and compares preview and solution.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <troupe/troupe.h>

#define FRAME 50
#define PULL  0.15 // metres

static void *check( void *object, const troupe_error *error )
{
    if ( object != NULL )
        return object;
    char text[2048];
    troupe_error_print( error, text, sizeof text );
    fprintf( stderr, "drag: %s\n", text );
    exit( 1 );
}

// Where the hand is at the frame.
static const double *hand( const troupe_result *result )
{
    troupe_clip clip = troupe_result_clip( result, 0 );
    int joint = 0;
    while ( joint + 1 < clip.joint_count && strcmp( clip.names[joint], "LeftHand" ) != 0 )
        ++joint;
    return clip.positions + 3 * ( (size_t)FRAME * clip.joint_count + joint );
}

int main( void )
{
    troupe_error error;
    troupe_scene *scene = check( troupe_scene_open( "high_five", 0, &error ), &error );
    const char *id = troupe_scene_cast_id( scene, 0 );
    char ops[300];
    snprintf( ops, sizeof ops,
              "layer_add id=pull kind=cage members=%s.left_arm range=%d,%d\n"
              "handle_add id=grip layer=pull frame=%d point=%s.LeftHand\n",
              id, FRAME - 20, FRAME + 20, FRAME, id );
    check( troupe_scene_apply( scene, ops, &error ) ? scene : NULL, &error );
    troupe_stage *stage = check( troupe_stage_create( scene, NULL, &error ), &error );

    // The motion below the layer is solved once; each move of the handle then takes milliseconds.
    troupe_solve_def def = troupe_default_solve_def();
    def.below = "pull";
    troupe_result *below = check( troupe_solve( stage, &def, &error ), &error );
    troupe_drag *drag = check( troupe_drag_begin( below, "grip", NULL, &error ), &error );
    const troupe_result *shown = troupe_drag_result( drag );
    for ( int step = 1; step <= 5; ++step ) {
        double move[3] = { 0, PULL * step / 5, 0 };
        troupe_drag_move( drag, "grip", move, FRAME ); // the visible frames
        printf( "hand at %.3f m\n", hand( shown )[1] );
    }
    while ( troupe_drag_more( drag, 4 ) ) // all other frames
        ;
    double preview = hand( shown )[1], start = hand( below )[1];
    printf( "pulled by %.3f m, %.4f m short\n", preview - start, troupe_drag_error( drag, "grip" ) );
    troupe_drag_end( drag );
    troupe_result_destroy( below );
    troupe_stage_destroy( stage );

    // Let go: the edit is kept as an op.
    snprintf( ops, sizeof ops, "handle_set id=grip move=0,%g,0", PULL );
    check( troupe_scene_apply( scene, ops, &error ) ? scene : NULL, &error );
    stage = check( troupe_stage_create( scene, NULL, &error ), &error );
    troupe_result *result = check( troupe_solve( stage, NULL, &error ), &error );
    double kept = hand( result )[1];
    printf( "kept: %.3f m\n", kept );
    troupe_result_destroy( result );
    troupe_stage_destroy( stage );
    troupe_scene_destroy( scene );
    return fabs( kept - preview ) < 0.01 ? 0 : 1;
}
