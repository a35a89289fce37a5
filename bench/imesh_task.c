#include "imesh_task.h"

#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------- skeleton

static bool add_limbs( tr_skeleton *s, int hips, int chest, const char *side, double x )
{
    static const struct {
        const char *name;
        vec3 offset;
    } leg[] = { { "UpLeg", { 0.1, -0.02, 0 } }, { "Leg", { 0, -0.44, 0 } }, { "Foot", { 0, -0.44, 0 } } },
      arm[] = { { "Arm", { 0.18, 0.05, 0 } }, { "ForeArm", { 0.28, 0, 0 } }, { "Hand", { 0.26, 0, 0 } } };
    char name[32];
    int below = hips, out = chest;
    for ( int i = 0; i < 3; ++i ) {
        snprintf( name, sizeof name, "%s%s", side, leg[i].name );
        below = tr_skeleton_add( s, name, below, v3_mul( leg[i].offset, v3( x, 1, 1 ) ) );
        snprintf( name, sizeof name, "%s%s", side, arm[i].name );
        out = tr_skeleton_add( s, name, out, v3_mul( arm[i].offset, v3( x, 1, 1 ) ) );
        if ( below < 0 || out < 0 )
            return false;
    }
    return true;
}

// The neck is so short that it has no surface point.
static bool make_skeleton( tr_skeleton *s, tr_error *error )
{
    int hips = tr_skeleton_add( s, "Hips", -1, v3( 0, 0.95, 0 ) );
    int spine = tr_skeleton_add( s, "Spine", hips, v3( 0, 0.22, 0 ) );
    int chest = tr_skeleton_add( s, "Chest", spine, v3( 0, 0.24, 0 ) );
    int neck = tr_skeleton_add( s, "Neck", chest, v3( 0, 0.07, 0 ) );
    int head = tr_skeleton_add( s, "Head", neck, v3( 0, 0.2, 0 ) );
    if ( head < 0 || !add_limbs( s, hips, chest, "Left", 1 ) || !add_limbs( s, hips, chest, "Right", -1 ) )
        return tr_error_memory( error );
    return tr_skeleton_classify( s, error );
}

// --------------------------------------------------------------------------------------------------- motion

static quat pose_joint( const tr_joint *joint, double wave )
{
    double side = joint->name[0] == 'L' ? -1 : 1;
    if ( strstr( joint->name, "ForeArm" ) != NULL )
        return q_axis_angle( v3_y, side * ( 0.5 + 0.3 * wave ) );
    if ( strstr( joint->name, "Arm" ) != NULL )
        return q_mul( q_axis_angle( v3_y, side * ( 1.1 + 0.2 * wave ) ), q_axis_angle( v3_z, 0.2 * wave ) );
    if ( strstr( joint->name, "UpLeg" ) != NULL )
        return q_axis_angle( v3_x, -0.2 + 0.1 * wave );
    if ( strstr( joint->name, "Leg" ) != NULL )
        return q_axis_angle( v3_x, 0.4 - 0.2 * wave );
    return q_axis_angle( v3( 1, 0.5, 0 ), 0.08 * wave );
}

static bool make_motion( tr_motion *out, int frame_count, double phase, bool opposite, tr_error *error )
{
    if ( !make_skeleton( &out->skeleton, error ) ||
         !tr_clip_alloc( &out->clip, frame_count, out->skeleton.joint_count, 30, false, error ) )
        return false;
    for ( int f = 0; f < frame_count; ++f ) {
        double t = f / 30.0;
        for ( int j = 0; j < out->skeleton.joint_count; ++j )
            tr_clip_frame( &out->clip, f )[j] =
                pose_joint( &out->skeleton.joints[j], sin( 3 * t + 0.6 * j + phase ) );
        out->clip.root[f] = v3( 0.05 * sin( t + phase ), 0.95, 0 );
    }
    tr_clip_place( &out->clip,
                   opposite ? ( rigid ){ q_axis_angle( v3_y, TR_PI ), v3( 0, 0, 0.42 ) } : rigid_identity );
    return true;
}

static bool make_person( imesh_person *p, int frame_count, double phase, bool opposite, double scale,
                         tr_error *error )
{
    tr_body_scale sizes = tr_default_body_scale();
    sizes.scale = scale;
    if ( !make_motion( &p->source, frame_count, phase, opposite, error ) ||
         !tr_skeleton_scaled( &p->target.skeleton, &p->source.skeleton, &sizes, error ) ||
         !tr_clip_copy( &p->target.clip, &p->source.clip, error ) )
        return false;
    for ( int f = 0; f < frame_count; ++f )
        p->target.clip.root[f].y *= scale;
    return tr_body_build( &p->source_body, &p->source.skeleton, NULL, 0, error ) &&
           tr_body_build( &p->target_body, &p->target.skeleton, NULL, 0, error ) &&
           tr_world_build( &p->source_world, &p->source, error ) &&
           tr_world_build( &p->target_world, &p->target, error );
}

// ---------------------------------------------------------------------------------------------------- task

bool imesh_task_build( imesh_task *out, int frame_count, double phase, tr_error *error )
{
    *out = ( imesh_task ){ .rows = tr_alloc( (size_t)frame_count, sizeof( tr_imesh_row ) ) };
    if ( out->rows == NULL )
        return tr_error_memory( error );
    for ( int i = 0; i < 2; ++i ) {
        imesh_person *p = &out->people[i];
        if ( !make_person( p, frame_count, phase + i, i == 1, i == 0 ? 0.85 : 1.3, error ) )
            return false;
        out->bodies[i] = ( tr_imesh_body ){ .source = &p->source.skeleton,
                                            .target = &p->target.skeleton,
                                            .source_body = &p->source_body,
                                            .target_body = &p->target_body,
                                            .source_world = &p->source_world,
                                            .place = &p->target_world };
    }
    int foot = tr_skeleton_find( &out->people[0].source.skeleton, "LeftFoot" );
    for ( int f = 0; f < frame_count; ++f )
        out->rows[f] =
            ( tr_imesh_row ){ .a = { 0, foot, -1 },
                              .b = { -1, -1, -1 },
                              .frame = f,
                              .target = tr_world_pose( &out->people[0].source_world, f ).positions[foot],
                              .axis = { true, true, true },
                              .hard = true };
    out->cast = ( tr_imesh_cast ){ .bodies = out->bodies,
                                   .body_count = 2,
                                   .rows = out->rows,
                                   .row_count = frame_count,
                                   .frame_count = frame_count,
                                   .ground = -INFINITY };
    return true;
}

void imesh_task_free( imesh_task *task )
{
    for ( int i = 0; i < 2; ++i ) {
        imesh_person *p = &task->people[i];
        tr_motion_free( &p->source );
        tr_motion_free( &p->target );
        tr_body_free( &p->source_body );
        tr_body_free( &p->target_body );
        tr_world_free( &p->source_world );
        tr_world_free( &p->target_world );
    }
    tr_free( task->rows );
    *task = ( imesh_task ){ 0 };
}
