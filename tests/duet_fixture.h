// Two people of sticks that face each other, and the interaction mesh between them.
#ifndef TROUPE_TESTS_DUET_FIXTURE_H
#define TROUPE_TESTS_DUET_FIXTURE_H

#include "imesh/imesh.h"
#include "stage_fixture.h"

typedef struct player {
    tr_motion source;
    tr_skeleton target;
    tr_body source_body, target_body;
    tr_world source_world;
    tr_motion placed; // target body with the source's rotations
    tr_world place;
} player;

// Two people of sticks face each other; arms and trunks sway, hands come near the partner.
static inline void sway( tr_motion *motion, double phase )
{
    for ( int f = 0; f < motion->clip.frame_count; ++f ) {
        double t = f / FPS;
        quat *q = tr_clip_frame( &motion->clip, f );
        for ( int j = 0; j < motion->skeleton.joint_count; ++j ) {
            const char *name = motion->skeleton.joints[j].name;
            double wave = sin( 3 * t + phase + j );
            if ( strstr( name, "ForeArm" ) != NULL )
                q[j] = q_axis_angle( v3_y, ( name[0] == 'L' ? -1 : 1 ) * ( 0.9 + 0.3 * wave ) );
            else if ( strstr( name, "Arm" ) != NULL )
                q[j] = q_axis_angle( v3_y, ( name[0] == 'L' ? -1 : 1 ) * ( 0.9 + 0.2 * wave ) );
            else if ( strstr( name, "Spine" ) != NULL )
                q[j] = q_axis_angle( v3_x, 0.1 * wave );
        }
    }
}

static inline void player_start( player *p, rigid placement, double phase, double scale, double path,
                                 int frames )
{
    tr_error error;
    *p = ( player ){ 0 };
    make_body( &p->source, frames );
    bend_a_little( &p->source );
    sway( &p->source, phase );
    tr_clip_place( &p->source.clip, placement );
    tr_body_scale sizes = tr_default_body_scale();
    sizes.scale = scale;
    check_ok( tr_skeleton_scaled( &p->target, &p->source.skeleton, &sizes, &error ), &error );
    check_ok( tr_body_build( &p->source_body, &p->source.skeleton, NULL, 0, &error ), &error );
    check_ok( tr_body_build( &p->target_body, &p->target, NULL, 0, &error ), &error );
    check_ok( tr_world_build( &p->source_world, &p->source, &error ), &error );
    check_ok( tr_skeleton_copy( &p->placed.skeleton, &p->target, &error ), &error );
    check_ok( tr_clip_copy( &p->placed.clip, &p->source.clip, &error ), &error );
    for ( int f = 0; f < frames; ++f ) {
        vec3 *root = &p->placed.clip.root[f];
        *root = v3( path * root->x, scale * root->y, path * root->z );
    }
    check_ok( tr_world_build( &p->place, &p->placed, &error ), &error );
}

static inline void player_end( player *p )
{
    tr_motion_free( &p->source );
    tr_motion_free( &p->placed );
    tr_skeleton_free( &p->target );
    tr_body_free( &p->source_body );
    tr_body_free( &p->target_body );
    tr_world_free( &p->source_world );
    tr_world_free( &p->place );
}

static inline tr_imesh_body body_of( const player *p )
{
    return ( tr_imesh_body ){ .source = &p->source.skeleton,
                              .target = &p->target,
                              .source_body = &p->source_body,
                              .target_body = &p->target_body,
                              .source_world = &p->source_world,
                              .place = &p->place };
}

typedef struct duet {
    player players[2];
    tr_imesh_body bodies[2];
    tr_imesh_cast cast;
    tr_imesh_def def;
    tr_imesh mesh;
    tr_imesh_report report;
    tr_error error;
} duet;

static inline void duet_start( duet *d, double a, double b, double path )
{
    *d = ( duet ){ .def = tr_default_imesh_def() };
    rigid left = { q_identity, v3( 0, 0, -0.3 ) }, right = { q_axis_angle( v3_y, TR_PI ), v3( 0, 0, 0.3 ) };
    player_start( &d->players[0], left, 0, a, path, FRAMES );
    player_start( &d->players[1], right, 1, b, path, FRAMES );
    for ( int i = 0; i < 2; ++i )
        d->bodies[i] = body_of( &d->players[i] );
    d->cast =
        ( tr_imesh_cast ){ .bodies = d->bodies, .body_count = 2, .frame_count = FRAMES, .ground = -INFINITY };
}

static inline void duet_solve( duet *d )
{
    check_ok( tr_imesh_build( &d->mesh, &d->cast, &d->def, &d->error ), &d->error );
    check_ok( tr_imesh_solve( &d->mesh, &d->report, &d->error ), &d->error );
    for ( int i = 0; i < d->mesh.frame_count * d->mesh.vertex_count; ++i )
        assert_true( v3_finite( d->mesh.positions[i] ) );
}

static inline void duet_end( duet *d )
{
    tr_imesh_free( &d->mesh );
    for ( int i = 0; i < 2; ++i )
        player_end( &d->players[i] );
}

static inline double farthest( const tr_imesh *mesh, const vec3 *from, double scale )
{
    double most = 0;
    for ( int i = 0; i < mesh->frame_count * mesh->vertex_count; ++i )
        most = fmax( most, v3_distance( mesh->positions[i], v3_scale( scale, from[i] ) ) );
    return most;
}

static inline int vertex_of( const duet *d, int body, const char *joint )
{
    return d->mesh.joint_vertex[body][tr_skeleton_find( &d->players[body].target, joint )];
}

static inline vec3 place_of( const duet *d, int body, const char *joint, int frame )
{
    return d->mesh.positions[frame * d->mesh.vertex_count + vertex_of( d, body, joint )];
}

#endif
