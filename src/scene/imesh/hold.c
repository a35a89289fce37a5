// A frame that is held while one part of a body is moved: the interaction mesh of that frame alone, in which
// whoever is close follows at once.
//
// Bodies have the target's size already, so there is nothing to morph: the mesh is that of the result, and
// the only thing new in it is where the held joint is to be. Feet that stand stay, props and environment too.
#include "scene/imesh/method.h"

#include <string.h>

static const double out_of_reach = 0.01; // metres that a body may fall short of a place it can reach

struct tr_hold {
    const tr_stage *stage;
    const tr_result *result;
    int frame, actor, joint;
    int *place_of; // [actor_count] index among the bodies, -1: not in it
    tr_imesh_body *bodies;
    tr_imesh_box *boxes;
    tr_imesh_row *rows; // the first is the held joint
    int row_capacity;
    tr_imesh_cast cast;
    tr_imesh mesh;
    tr_pose pose; // of the held body, as the last move left it
};

static bool add_row( tr_hold *h, int actor, int joint )
{
    if ( !tr_array_reserve( (void **)&h->rows, &h->row_capacity, h->cast.row_count + 1, sizeof *h->rows ) )
        return false;
    h->rows[h->cast.row_count++] =
        ( tr_imesh_row ){ .a = { .body = h->place_of[actor], .joint = joint, .box = -1 },
                          .b = { .body = -1, .joint = -1, .box = -1 },
                          .target = tr_world_pose( &h->result->worlds[actor], h->frame ).positions[joint],
                          .axis = { true, true, true },
                          .hard = true,
                          .weight = 1 };
    return true;
}

static void add_body( tr_hold *h, int actor )
{
    const tr_actor *a = &h->stage->actors[actor];
    if ( h->place_of[actor] >= 0 )
        return;
    h->place_of[actor] = h->cast.body_count;
    h->bodies[h->cast.body_count++] = ( tr_imesh_body ){ .source = &a->target,
                                                         .target = &a->target,
                                                         .source_body = &a->body,
                                                         .target_body = &a->body,
                                                         .source_world = &h->result->worlds[actor] };
}

static void add_box( tr_hold *h, int member )
{
    const tr_stage *stage = h->stage;
    int prop = member - stage->actor_count, obstacle = prop - stage->prop_count;
    tr_imesh_box *box = &h->boxes[h->cast.box_count++];
    if ( obstacle < 0 ) {
        vec3 size = v3_scale( stage->props[prop].scale, stage->props[prop].size );
        *box = ( tr_imesh_box ){
            h->result->tracks[prop], h->result->tracks[prop], stage->frame_count, size, size, false };
        return;
    }
    vec3 size = tr_stage_obstacle( stage, obstacle, false ).size;
    *box = ( tr_imesh_box ){
        &stage->new_obstacles[obstacle], &stage->new_obstacles[obstacle], 1, size, size, false };
}

// Everybody who is close at the frame to somebody who is in it, one after the other; then what is near them.
static void gather( tr_hold *h, const tr_imesh_pairs *links )
{
    int actors = h->stage->actor_count;
    add_body( h, h->actor );
    for ( int before = 0; before < h->cast.body_count; ) {
        before = h->cast.body_count;
        for ( int i = 0; i < links->count; ++i ) {
            const tr_imesh_pair *link = &links->items[i];
            if ( link->first > h->frame || link->last < h->frame || link->b >= actors )
                continue;
            if ( h->place_of[link->a] >= 0 || h->place_of[link->b] >= 0 ) {
                add_body( h, link->a );
                add_body( h, link->b );
            }
        }
    }
    for ( int member = actors; member < tr_stage_member_count( h->stage ); ++member )
        for ( int i = 0; i < links->count; ++i ) {
            const tr_imesh_pair *link = &links->items[i];
            if ( link->b == member && link->first <= h->frame && link->last >= h->frame &&
                 h->place_of[link->a] >= 0 ) {
                add_box( h, member );
                break;
            }
        }
}

static bool add_rows( tr_hold *h )
{
    if ( !add_row( h, h->actor, h->joint ) )
        return false;
    for ( int i = 0; i < h->stage->actor_count; ++i )
        for ( int k = 0; h->place_of[i] >= 0 && k < h->stage->actors[i].footing_count; ++k ) {
            const tr_footing *footing = &h->stage->actors[i].footings[k];
            bool held = i == h->actor && footing->joint == h->joint;
            if ( footing->strength[h->frame] >= 1 && !held && !add_row( h, i, footing->joint ) )
                return false;
        }
    return true;
}

static bool hold_build( tr_hold *h, tr_error *error )
{
    size_t actors = (size_t)h->stage->actor_count, all = (size_t)tr_stage_member_count( h->stage );
    tr_imesh_pairs links;
    h->place_of = tr_alloc( actors, sizeof( int ) );
    h->bodies = tr_alloc( actors, sizeof *h->bodies );
    h->boxes = tr_alloc( all - actors, sizeof *h->boxes );
    int joints = h->stage->actors[h->actor].target.joint_count;
    h->pose.rotations = tr_alloc( (size_t)joints, sizeof( quat ) );
    h->pose.positions = tr_alloc( (size_t)joints, sizeof( vec3 ) );
    if ( h->place_of == NULL || h->bodies == NULL || h->boxes == NULL || h->pose.rotations == NULL ||
         h->pose.positions == NULL )
        return tr_error_memory( error );
    if ( !tr_stage_links( &links, h->stage, error ) )
        return false;
    for ( size_t i = 0; i < actors; ++i )
        h->place_of[i] = -1;
    h->cast = ( tr_imesh_cast ){ .first = h->frame, .frame_count = 1, .ground = h->stage->ground };
    gather( h, &links );
    tr_imesh_pairs_free( &links );
    if ( !add_rows( h ) )
        return tr_error_memory( error );
    h->cast.bodies = h->bodies;
    h->cast.boxes = h->boxes;
    h->cast.rows = h->rows;
    tr_imesh_def def = tr_default_imesh_def();
    def.steps = 1;
    def.settle = 0;
    return tr_imesh_build( &h->mesh, &h->cast, &def, error ) && tr_hold_move( h, h->rows[0].target, error );
}

tr_hold *tr_hold_begin( const tr_stage *stage, const tr_result *result, int frame, int actor, int joint,
                        tr_error *error )
{
    tr_hold *h = tr_alloc( 1, sizeof *h );
    if ( h == NULL ) {
        tr_error_memory( error );
        return NULL;
    }
    *h = ( tr_hold ){ .stage = stage, .result = result, .frame = frame, .actor = actor, .joint = joint };
    if ( hold_build( h, error ) )
        return h;
    tr_hold_end( h );
    return NULL;
}

void tr_hold_end( tr_hold *h )
{
    if ( h == NULL )
        return;
    tr_imesh_free( &h->mesh );
    tr_free( h->place_of );
    tr_free( h->bodies );
    tr_free( h->boxes );
    tr_free( h->rows );
    tr_free( h->pose.rotations );
    tr_free( h->pose.positions );
    tr_free( h );
}

bool tr_hold_move( tr_hold *h, vec3 place, tr_error *error )
{
    h->rows[0].target = place;
    return tr_imesh_solve( &h->mesh, NULL, error ) && tr_hold_pose( h, h->actor, h->pose );
}

bool tr_hold_pose( const tr_hold *h, int actor, tr_pose out )
{
    if ( h->place_of[actor] < 0 )
        return false;
    tr_imesh_pose( &h->mesh, h->place_of[actor], 0, tr_world_pose( &h->result->worlds[actor], h->frame ),
                   out );
    return true;
}

void tr_hold_print( const tr_hold *h, const char *id, int frame, double ease, tr_text *out )
{
    const tr_scene *scene = h->stage->scene;
    vec3 asked = h->rows[0].target, reached = h->pose.positions[h->joint];
    const vec3 to = v3_distance( asked, reached ) < out_of_reach ? asked : reached;
    tr_text point = { 0 };
    tr_text_append( &point, scene->cast[h->actor].id, strlen( scene->cast[h->actor].id ) );
    tr_point_print_term( &point, true, h->stage->actors[h->actor].target.joints[h->joint].name, 1 );
    tr_text_add( out, "constraint_add id=%s kind=absolute a=", id );
    tr_text_quoted( out, point.data != NULL ? point.data : "", point.size );
    tr_text_add( out, " range=%d,%d ease=%.9g,%.9g target=", frame, frame, ease, ease );
    tr_text_exact( out, to.x );
    tr_text_append( out, ",", 1 );
    tr_text_exact( out, to.y );
    tr_text_append( out, ",", 1 );
    tr_text_exact( out, to.z );
    tr_text_append( out, "\n", 1 );
    if ( !scene->imesh )
        tr_text_add( out, "scene_set imesh=true\n" );
    out->failed = out->failed || point.failed;
    tr_text_free( &point );
}
