// A window as its mesh sees it: bodies, boxes, rows of the rules, and how the mesh is to be solved.
#include "closeness/private.h"

#include <string.h>

static void add_member( tr_mesh_party *p, int member )
{
    const tr_stage *stage = p->work->stage;
    if ( tr_mesh_is_actor( p->work->stage, member ) ) {
        const tr_actor *actor = &stage->actors[member];
        p->place_of[member] = p->cast.body_count;
        p->bodies[p->cast.body_count++] = ( tr_imesh_body ){ .source = &actor->source.skeleton,
                                                             .target = &actor->target,
                                                             .source_body = &actor->source_body,
                                                             .target_body = &actor->body,
                                                             .source_world = &actor->world,
                                                             .map = actor->map,
                                                             .place = &p->work->result->worlds[member] };
        return;
    }
    const tr_imesh_near *near = &p->work->members[member];
    tr_imesh_box box = { near->track, near->track, near->track_count, near->size,
                         near->size,  false,       near->shape };
    if ( tr_mesh_is_prop( p->work->stage, member ) ) {
        int prop = member - stage->actor_count;
        box.target = p->work->result->tracks[prop];
        box.target_size = v3_scale( stage->props[prop].scale, box.source_size );
        box.moves = true;
    } else {
        int obstacle = member - stage->actor_count - stage->prop_count;
        box.target = &stage->new_obstacles[obstacle];
        box.target_size = tr_stage_obstacle( stage, obstacle, false ).shape.size;
    }
    p->place_of[member] = p->cast.box_count;
    p->boxes[p->cast.box_count++] = box;
}

// One end of a rule as a point of the mesh; false when it is not in the window.
static bool point_of( const tr_mesh_party *p, const tr_anchor *anchor, int frame, tr_imesh_point *out )
{
    const tr_result *result = p->work->result;
    int member = tr_anchor_node( p->work->stage, anchor );
    if ( member < 0 || p->place_of[member] < 0 )
        return false;
    *out = ( tr_imesh_point ){ -1, -1, p->place_of[member], anchor->offset };
    if ( !tr_mesh_is_actor( p->work->stage, member ) )
        return true;
    int joint = anchor->joints[0];
    tr_pose pose = tr_world_pose( &result->worlds[member], frame );
    vec3 place = tr_anchor_position( p->work->stage, result, anchor, frame );
    *out = ( tr_imesh_point ){ p->place_of[member], joint, -1,
                               q_unrotate( pose.rotations[joint], v3_sub( place, pose.positions[joint] ) ) };
    return true;
}

// How an end of a rule is turned.
static quat turn_at( const tr_mesh_party *p, const tr_anchor *anchor, int frame )
{
    const tr_result *result = p->work->result;
    return anchor->actor >= 0
               ? tr_world_pose( &result->worlds[anchor->actor], frame ).rotations[anchor->joints[0]]
               : result->tracks[anchor->prop][frame].rotation;
}

// A rule that fades in or out is a soft row; its weight grows with its strength.
static bool append_row( tr_mesh_party *p, const tr_rule *rule, tr_imesh_row row, double strength )
{
    bool full = strength >= 1;
    if ( strength <= 0 )
        return true;
    if ( !tr_array_reserve( (void **)&p->rows, &p->row_capacity, p->row_count + 1, sizeof *p->rows ) )
        return false;
    row.hard = rule->hard && full;
    row.weight = rule->weight * ( full ? 1 : strength / ( 1 - strength ) );
    memcpy( row.axis, rule->axis, sizeof row.axis );
    p->rows[p->row_count++] = row;
    return true;
}

// The place of a, or its offset from b. At full strength it is that of the pose graphs, in which targets out
// of reach gave way already. Where a rule fades in or out it is the rule's own target.
static vec3 wanted( const tr_mesh_party *p, const tr_rule *rule, const tr_anchor *a, const tr_anchor *b,
                    int frame )
{
    const tr_stage *stage = p->work->stage;
    const tr_result *result = p->work->result;
    bool full = tr_rule_strength( rule, frame ) >= 1, linked = tr_rule_links( rule );
    if ( !full && linked == ( b != NULL ) && a == &rule->a )
        return tr_rule_target( stage, result, rule, frame );
    vec3 place = tr_anchor_position( stage, result, a, frame );
    return b != NULL ? v3_sub( place, tr_anchor_position( stage, result, b, frame ) ) : place;
}

// A link that turns with its partner does so in the mesh.
static bool add_row( tr_mesh_party *p, const tr_rule *rule, const tr_anchor *a, const tr_anchor *b,
                     int frame )
{
    tr_imesh_row row = { .b = { .body = -1, .joint = -1, .box = -1 }, .frame = frame - p->window->first };
    if ( !point_of( p, a, frame, &row.a ) )
        return true;
    bool joined = b != NULL && point_of( p, b, frame, &row.b );
    row.target = wanted( p, rule, a, joined ? b : NULL, frame );
    if ( joined && ( rule->partner_space || rule->kind == TR_CONSTRAINT_CONTACT ) ) {
        row.b.offset = v3_add( row.b.offset, q_unrotate( turn_at( p, b, frame ), row.target ) );
        row.target = v3_zero;
    }
    return append_row( p, rule, row, tr_rule_strength( rule, frame ) );
}

// Places and links hold as in the pose graphs. A link to a member outside the window is a place.
static bool add_rule( tr_mesh_party *p, const tr_rule *rule )
{
    tr_anchor surface = { .actor = -1, .prop = rule->surface_prop };
    bool link = rule->kind == TR_CONSTRAINT_RELATIVE, contact = rule->kind == TR_CONSTRAINT_CONTACT;
    if ( ( !link && !contact && rule->kind != TR_CONSTRAINT_ABSOLUTE ) || rule->direction ||
         ( tr_rule_is_stance( rule ) && rule->footing >= 0 ) )
        return true;
    const tr_anchor *other = link ? &rule->b : contact && surface.prop >= 0 ? &surface : NULL;
    tr_imesh_point unused;
    for ( int f = p->window->first; f <= p->window->last; ++f ) {
        if ( !add_row( p, rule, &rule->a, other, f ) )
            return false;
        if ( link && !point_of( p, &rule->a, f, &unused ) && !add_row( p, rule, &rule->b, NULL, f ) )
            return false;
    }
    return true;
}

// Feet stay where the pose graphs put them, in stance and in the swing: the last fit brings them there in any
// case.
static bool add_footings( tr_mesh_party *p, int member )
{
    const tr_actor *actor = &p->work->stage->actors[member];
    for ( int i = 0; i < actor->footing_count; ++i )
        for ( int f = p->window->first; f <= p->window->last; ++f ) {
            const tr_footing *footing = &actor->footings[i];
            const tr_rule *rule = &p->work->stage->rules[footing->rule[f]];
            tr_pose pose = tr_world_pose( &p->work->result->worlds[member], f );
            tr_imesh_row row = {
                .a = { p->place_of[member], footing->joint, -1, v3_zero },
                .b = { .body = -1, .joint = -1, .box = -1 },
                .frame = f - p->window->first,
                .target = footing->strength[f] >= 1
                              ? pose.positions[footing->joint]
                              : tr_stance_place( p->work->stage, p->work->result, rule, f, pose ) };
            if ( !append_row( p, rule, row, footing->strength[f] ) )
                return false;
        }
    return true;
}

// Distances between bodies go with their sizes, and with surroundings as these do.
static double relations_of( const tr_mesh_party *p )
{
    double sum = 0, boxes = 0;
    for ( int b = 0; b < p->cast.box_count; ++b )
        boxes += p->boxes[b].moves ? 1 : p->boxes[b].target_size.x / p->boxes[b].source_size.x;
    for ( int m = 0; m < p->window->member_count; ++m )
        if ( tr_mesh_is_actor( p->work->stage, p->window->members[m] ) )
            sum += p->work->stage->actors[p->window->members[m]].height_ratio;
    return p->cast.box_count > 0 ? boxes / p->cast.box_count : sum / p->cast.body_count;
}

// Acceleration: contacts come and go from frame to frame, and the paper's 0.2 lets it be seen. Over the
// couples of docs/closeness.md 5 leaves a seventh more jerk than the source has, 40 a twelfth, both at 30
// frames a second, for a hundredth of the contacts and nothing of the mesh's energy. More frames a second
// need more, but the rounds take longer.
//
// Touch and collision: people hold each other more firmly than furniture. At the default weights a fiftieth
// of their contacts more is lost (docs/closeness.md), while touches of a seat or a wheel that come and go
// would jerk. Bend: a body that enters a car bends as far as the clearance requires.
tr_closeness_def tr_default_closeness_def( void )
{
    return ( tr_closeness_def ){ .most_members = 4,
                                 .band_bytes = 20,
                                 .reshaped = 0.05,
                                 .shortest_limb = 0.03,
                                 .shortest_bone = 1e-3,
                                 .longest_line = 0.5,
                                 .mesh = tr_default_imesh_def(),
                                 .acceleration = 40,
                                 .fps = 30,
                                 .least_rate = 0.25,
                                 .most_rate = 4,
                                 .touch = 15,
                                 .collision = 700,
                                 .bend = 2,
                                 .fit = tr_default_fit_def(),
                                 .lag = 0.2,
                                 .hold_rounds = 20,
                                 .hold_off = 0.01 };
}

static tr_imesh_def mesh_def( const tr_mesh_party *p )
{
    const tr_closeness_def *own = &p->work->def;
    double fps = p->work->stage->fps, rate = fps * fps / ( own->fps * own->fps );
    tr_imesh_def def = own->mesh;
    def.acceleration = own->acceleration * clampd( rate, own->least_rate, own->most_rate );
    def.relations = relations_of( p );
    if ( p->cast.body_count > 1 ) {
        def.touch = own->touch;
        def.collision = own->collision;
    }
    if ( p->cast.box_count > 0 )
        def.bend = own->bend;
    return def;
}

void tr_mesh_party_free( tr_mesh_party *p )
{
    tr_free( p->bodies );
    tr_free( p->boxes );
    tr_free( p->place_of );
    tr_free( p->passes );
    tr_free( p->rows );
}

// Bodies, boxes, what may pass through what, and weights.
bool tr_mesh_party_gather( tr_mesh_party *p )
{
    size_t count = (size_t)p->window->member_count, all = (size_t)p->work->member_count;
    p->bodies = tr_alloc( count, sizeof *p->bodies );
    p->boxes = tr_alloc( count, sizeof *p->boxes );
    p->place_of = tr_alloc( all, sizeof( int ) );
    p->passes = tr_alloc( (size_t)p->work->stage->scene->pair_count, sizeof *p->passes );
    if ( p->bodies == NULL || p->boxes == NULL || p->place_of == NULL || p->passes == NULL )
        return false;
    for ( size_t m = 0; m < all; ++m )
        p->place_of[m] = -1;
    p->cast = ( tr_imesh_cast ){ .first = p->window->first,
                                 .frame_count = p->window->last - p->window->first + 1,
                                 .ground = p->work->stage->ground };
    for ( int m = 0; m < p->window->member_count; ++m )
        add_member( p, p->window->members[m] );
    p->cast.pass_count =
        tr_mesh_passes( p->work->stage, p->window, p->place_of, p->cast.body_count, p->passes );
    p->cast.passes = p->passes;
    p->cast.bodies = p->bodies;
    p->cast.boxes = p->boxes;
    p->def = mesh_def( p );
    return true;
}

bool tr_mesh_party_build( tr_mesh_party *p )
{
    if ( !tr_mesh_party_gather( p ) )
        return false;
    for ( int r = 0; r < p->work->stage->rule_count; ++r )
        if ( !add_rule( p, &p->work->stage->rules[r] ) )
            return false;
    for ( int m = 0; m < p->window->member_count; ++m )
        if ( tr_mesh_is_actor( p->work->stage, p->window->members[m] ) &&
             !add_footings( p, p->window->members[m] ) )
            return false;
    p->cast.rows = p->rows;
    p->cast.row_count = p->row_count;
    return true;
}
