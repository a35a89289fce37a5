// A frame that is held while one part of a body is moved. The interaction mesh of that frame alone lets close
// members follow at once; then the skeletons are fitted to it.
//
// Bodies have the target's size already, so there is nothing to morph: the mesh is that of the result, and
// the only thing new in it is where the held joint is to be. Feet that stand stay, links hold, props and
// environment are where they were.
#include "closeness/private.h"

#include <string.h>

struct tr_hold {
    tr_held held;
    tr_stage stage;   // with the pin as its last rule, which the document does not have yet
    tr_result result; // the held frame solved; other frames are unchanged
    const tr_result *before;
    tr_mesh_work work;
};

static bool add_row( tr_held *h, int actor, int joint )
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

static void add_body( tr_held *h, int actor )
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

static void add_box( tr_held *h, int member )
{
    const tr_stage *stage = h->stage;
    int prop = member - stage->actor_count, obstacle = prop - stage->prop_count;
    tr_imesh_box *box = &h->boxes[h->cast.box_count++];
    if ( obstacle < 0 ) {
        vec3 size = tr_stage_prop_shape( stage, prop, false ).size;
        const rigid *track = h->result->tracks[prop];
        *box = ( tr_imesh_box ){ track, track, stage->frame_count,       size,
                                 size,  false, &stage->props[prop].shape };
        return;
    }
    vec3 size = tr_stage_obstacle( stage, obstacle, false ).shape.size;
    const rigid *at = &stage->new_obstacles[obstacle];
    *box = ( tr_imesh_box ){ at, at, 1, size, size, false, &stage->obstacle_shapes[obstacle] };
}

// Adds the bodies that are close at the frame to one in the mesh, one after the other; then what is near
// them.
static void gather( tr_held *h, const tr_imesh_pairs *links )
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

// An end of a rule as a point of the mesh; false when it is not in it.
static bool point_of( const tr_held *h, const tr_anchor *anchor, tr_imesh_point *out )
{
    if ( anchor->actor < 0 || anchor->count == 0 || h->place_of[anchor->actor] < 0 )
        return false;
    tr_pose pose = tr_world_pose( &h->result->worlds[anchor->actor], h->frame );
    vec3 place = tr_anchor_position( h->stage, h->result, anchor, h->frame );
    int joint = anchor->joints[0];
    *out = ( tr_imesh_point ){ h->place_of[anchor->actor], joint, -1,
                               q_unrotate( pose.rotations[joint], v3_sub( place, pose.positions[joint] ) ) };
    return true;
}

// Links between those in it hold as they are now, and so do other places.
static bool add_rule( tr_held *h, const tr_rule *rule )
{
    tr_imesh_row row = { .b = { .body = -1, .joint = -1, .box = -1 }, .hard = true, .weight = 1 };
    bool link = rule->kind == TR_CONSTRAINT_RELATIVE;
    bool own = rule->a.actor == h->actor && rule->a.count == 1 && rule->a.joints[0] == h->joint;
    if ( ( !link && ( rule->kind != TR_CONSTRAINT_ABSOLUTE || own || rule->direction ) ) || !rule->hard ||
         tr_rule_strength( rule, h->frame ) < 1 || !point_of( h, &rule->a, &row.a ) ||
         ( link && !point_of( h, &rule->b, &row.b ) ) )
        return true;
    row.target = tr_anchor_position( h->stage, h->result, &rule->a, h->frame );
    if ( link )
        row.target = v3_sub( row.target, tr_anchor_position( h->stage, h->result, &rule->b, h->frame ) );
    if ( link && rule->partner_space ) {
        quat turn = tr_world_pose( &h->result->worlds[rule->b.actor], h->frame ).rotations[row.b.joint];
        row.b.offset = v3_add( row.b.offset, q_unrotate( turn, row.target ) );
        row.target = v3_zero;
    }
    memcpy( row.axis, rule->axis, sizeof row.axis );
    if ( !tr_array_reserve( (void **)&h->rows, &h->row_capacity, h->cast.row_count + 1, sizeof *h->rows ) )
        return false;
    h->rows[h->cast.row_count++] = row;
    return true;
}

static bool add_rows( tr_held *h )
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
    for ( int r = 0; r < h->stage->rule_count; ++r )
        if ( !add_rule( h, &h->stage->rules[r] ) )
            return false;
    return true;
}

bool tr_held_build( tr_held *h, const tr_closeness_def *closeness, tr_error *error )
{
    size_t actors = (size_t)h->stage->actor_count, all = (size_t)tr_stage_member_count( h->stage );
    tr_imesh_pairs links;
    h->place_of = tr_alloc( actors, sizeof( int ) );
    h->bodies = tr_alloc( actors, sizeof *h->bodies );
    h->boxes = tr_alloc( all - actors, sizeof *h->boxes );
    if ( h->place_of == NULL || h->bodies == NULL || h->boxes == NULL )
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
    tr_imesh_def def = closeness->mesh;
    def.steps = 1;
    def.settle = closeness->hold_rounds;
    return tr_imesh_build( &h->mesh, &h->cast, &def, error );
}

void tr_held_free( tr_held *h )
{
    tr_imesh_free( &h->mesh );
    tr_free( h->place_of );
    tr_free( h->bodies );
    tr_free( h->boxes );
    tr_free( h->rows );
}

bool tr_held_move( tr_held *h, vec3 place, tr_error *error )
{
    h->rows[0].target = place;
    return tr_imesh_solve( &h->mesh, NULL, error );
}

static void spread_actor( const tr_held *h, tr_mesh_work *w, int actor, int frame )
{
    tr_pose to = tr_world_pose( &w->graphs.worlds[actor], frame ),
            like = tr_world_pose( &h->result->worlds[actor], h->frame ),
            there = tr_world_pose( &h->result->worlds[actor], frame );
    tr_imesh_pose( &h->mesh, h->place_of[actor], 0, like, to );
    for ( int j = 0; j < h->stage->actors[actor].target.joint_count && frame != h->frame; ++j ) {
        to.positions[j] = v3_add( there.positions[j], v3_sub( to.positions[j], like.positions[j] ) );
        to.rotations[j] =
            q_unit( q_mul( q_mul( to.rotations[j], q_conj( like.rotations[j] ) ), there.rotations[j] ) );
    }
}

void tr_held_spread( const tr_held *h, tr_mesh_work *w, int frame, double share )
{
    for ( int i = 0; i < h->stage->actor_count; ++i ) {
        size_t cell = (size_t)i * (size_t)h->stage->frame_count + (size_t)frame;
        if ( h->place_of[i] < 0 )
            continue;
        spread_actor( h, w, i, frame );
        w->said[cell] = share;
        w->affected[cell] = true;
    }
}

// ---------------------------------------------------------------------------------------------- the editor's

static bool add_pin( tr_hold *hold, const tr_stage *stage, tr_error *error )
{
    const tr_held *h = &hold->held;
    size_t count = (size_t)stage->rule_count;
    hold->stage = *stage;
    hold->stage.rules = tr_alloc( count + 1, sizeof( tr_rule ) );
    if ( hold->stage.rules == NULL )
        return tr_error_memory( error );
    if ( count > 0 )
        memcpy( hold->stage.rules, stage->rules, count * sizeof( tr_rule ) );
    hold->stage.rule_count++;
    hold->stage.rules[count] = ( tr_rule ){
        .constraint = -1,
        .kind = TR_CONSTRAINT_ABSOLUTE,
        .a = { .actor = h->actor, .prop = -1, .joints = { h->joint }, .weights = { 1 }, .count = 1 },
        .b = { .actor = -1, .prop = -1 },
        .first = h->frame,
        .last = h->frame,
        .hard = true,
        .weight = 1,
        .axis = { true, true, true },
        .given = true,
        .rotation = q_identity,
        .surface_prop = -1,
        .obstacle = -1,
        .footing = -1 };
    return true;
}

static bool hold_build( tr_hold *hold, const tr_stage *stage, tr_error *error )
{
    if ( !add_pin( hold, stage, error ) ||
         !tr_result_copy( &hold->result, &hold->stage, hold->before, error ) )
        return false;
    hold->held.stage = &hold->stage;
    hold->work =
        ( tr_mesh_work ){ .def = tr_default_closeness_def(), .stage = &hold->stage, .result = &hold->result };
    int frame = hold->held.frame;
    vec3 now = tr_world_pose( &hold->before->worlds[hold->held.actor], frame ).positions[hold->held.joint];
    if ( !tr_held_build( &hold->held, &hold->work.def, error ) || !tr_mesh_work_build( &hold->work, error ) )
        return false;
    hold->work.first = hold->work.last = frame;
    return tr_hold_move( hold, now, error );
}

tr_hold *tr_hold_begin( const tr_stage *stage, const tr_result *result, int frame, int actor, int joint,
                        tr_error *error )
{
    tr_hold *hold = tr_alloc( 1, sizeof *hold );
    if ( hold == NULL ) {
        tr_error_memory( error );
        return NULL;
    }
    *hold = ( tr_hold ){ .held = { .result = result, .frame = frame, .actor = actor, .joint = joint },
                         .before = result };
    if ( hold_build( hold, stage, error ) )
        return hold;
    tr_hold_end( hold );
    return NULL;
}

void tr_hold_end( tr_hold *hold )
{
    if ( hold == NULL )
        return;
    tr_held_free( &hold->held );
    tr_mesh_work_free( &hold->work );
    tr_result_free( &hold->result );
    tr_free( hold->stage.rules );
    tr_free( hold );
}

// The held frame as it was before.
static void take_back( tr_hold *hold )
{
    int frame = hold->held.frame;
    for ( int i = 0; i < hold->stage.actor_count; ++i ) {
        size_t joints = (size_t)hold->stage.actors[i].target.joint_count;
        tr_pose from = tr_world_pose( &hold->before->worlds[i], frame ),
                to = tr_world_pose( &hold->result.worlds[i], frame );
        memcpy( tr_clip_frame( &hold->result.motions[i].clip, frame ),
                tr_clip_frame( &hold->before->motions[i].clip, frame ), joints * sizeof( quat ) );
        hold->result.motions[i].clip.root[frame] = hold->before->motions[i].clip.root[frame];
        memcpy( to.rotations, from.rotations, joints * sizeof( quat ) );
        memcpy( to.positions, from.positions, joints * sizeof( vec3 ) );
        hold->work.affected[(size_t)i * (size_t)hold->stage.frame_count + (size_t)frame] = false;
    }
    for ( int p = 0; p < hold->stage.prop_count; ++p )
        hold->result.tracks[p][frame] = hold->before->tracks[p][frame];
}

static bool move_to( tr_hold *hold, vec3 place, tr_error *error )
{
    take_back( hold );
    hold->stage.rules[hold->stage.rule_count - 1].target = place;
    if ( !tr_held_move( &hold->held, place, error ) )
        return false;
    tr_held_spread( &hold->held, &hold->work, hold->held.frame, 1 );
    return tr_mesh_fit( &hold->work, error );
}

static vec3 reached( const tr_hold *hold )
{
    return tr_world_pose( &hold->result.worlds[hold->held.actor], hold->held.frame )
        .positions[hold->held.joint];
}

// The ops do not ask for what is out of reach: partners would be pulled farther than is shown here.
bool tr_hold_move( tr_hold *hold, vec3 place, tr_error *error )
{
    if ( !move_to( hold, place, error ) )
        return false;
    vec3 at = reached( hold );
    return v3_distance( at, place ) < hold->work.def.hold_off || move_to( hold, at, error );
}

bool tr_hold_pose( const tr_hold *hold, int actor, tr_pose out )
{
    size_t joints = (size_t)hold->stage.actors[actor].target.joint_count;
    if ( !hold->work.affected[(size_t)actor * (size_t)hold->stage.frame_count + (size_t)hold->held.frame] )
        return false;
    tr_pose pose = tr_world_pose( &hold->result.worlds[actor], hold->held.frame );
    memcpy( out.rotations, pose.rotations, joints * sizeof( quat ) );
    memcpy( out.positions, pose.positions, joints * sizeof( vec3 ) );
    return true;
}

void tr_hold_print( const tr_hold *hold, const char *id, int frame, double ease, tr_text *out )
{
    const tr_held *h = &hold->held;
    const char *who = h->stage->scene->cast[h->actor].id;
    const vec3 to = h->rows[0].target;
    tr_text point = { 0 };
    tr_text_append( &point, who, strlen( who ) );
    tr_point_print_term( &point, true, h->stage->actors[h->actor].target.joints[h->joint].name, 1 );
    tr_text_add( out, "constraint_add id=%s kind=absolute a=", id );
    tr_text_quoted( out, point.data != NULL ? point.data : "", point.size );
    tr_text_add( out, " range=%d,%d ease=%.9g,%.9g target=", frame, frame, ease, ease );
    tr_text_exact( out, to.x );
    tr_text_append( out, ",", 1 );
    tr_text_exact( out, to.y );
    tr_text_append( out, ",", 1 );
    tr_text_exact( out, to.z );
    tr_text_add( out, " partners=true\n" );
    out->failed = out->failed || point.failed;
    tr_text_free( &point );
}
