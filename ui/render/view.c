// From a stage and its result to things to draw. Nothing here moves a joint.
#include "posegraph/posegraph.h"
#include "ui/render/private.h"

#include <string.h>

static const int small_cast = 4; // up to here every hand and foot gets its trail

tr_view_def tr_default_view_def( void )
{
    return ( tr_view_def ){
        .view = "auto", .bodies = true, .trail_frames = 20, .ghost_step = 10, .ghosts_each_side = 3 };
}

// What of one actor is drawn: the target body moved by the result, or the source.
typedef struct puppet {
    const tr_skeleton *skeleton;
    const tr_body *body;
    const tr_world *world;
    tr_colour colour;
    int glowing; // joint whose bone stands out, -1 = none
    int actor;
    const tr_strips *strips; // for overlaps; NULL = none are shown
} puppet;

static int clamp_frame( const tr_result *result, int frame )
{
    return frame < 0 ? 0 : frame >= result->frame_count ? result->frame_count - 1 : frame;
}

static tr_colour mixed( tr_colour a, tr_colour b, float t )
{
    return ( tr_colour ){ a.r + t * ( b.r - a.r ), a.g + t * ( b.g - a.g ), a.b + t * ( b.b - a.b ), a.a };
}

static tr_colour see_through( tr_colour colour, float alpha )
{
    colour.a *= alpha;
    return colour;
}

// The document's colour; paled when another member is highlighted.
static tr_colour paint( const float rgb[3], const char *id, const tr_view_def *def )
{
    const tr_colour pale = { 0.84f, 0.86f, 0.88f, 1.0f };
    tr_colour colour = { rgb[0], rgb[1], rgb[2], 1.0f };
    return def->highlight && strcmp( def->highlight, id ) != 0 ? mixed( colour, pale, 0.8f ) : colour;
}

// The colour of what the pointer is on or what is chosen.
static const tr_colour accent = { 1.0f, 0.69f, 0.23f, 1.0f };
static const tr_colour lit = { 1.0f, 0.97f, 0.90f,
                               1.0f }; // falls on what is chosen: its colour is still seen

static const tr_view_mark *mark_of( const tr_view_def *def, int index )
{
    static const tr_view_mark plain = { .joint = -1 };
    return def->marks != NULL ? &def->marks[index] : &plain;
}

static bool any_chosen( const tr_stage *stage, const tr_view_def *def )
{
    for ( int i = 0; def->marks != NULL && i < stage->actor_count + stage->prop_count; ++i )
        if ( def->marks[i].chosen )
            return true;
    return false;
}

// The performer of an actor that moves by examples.
static puppet source_puppet( const tr_actor *a, tr_colour colour )
{
    const tr_actor_examples *e = a->examples;
    return e != NULL ? ( puppet ){ &e->performer.skeleton, &e->body, &e->world, colour, -1 }
                     : ( puppet ){ &a->source.skeleton, &a->source_body, &a->world, colour, -1 };
}

static puppet puppet_of( const tr_stage *stage, const tr_result *result, int actor, const tr_view_def *def )
{
    const tr_cast *cast = &stage->scene->cast[actor];
    const tr_actor *a = &stage->actors[actor];
    const tr_view_mark *mark = mark_of( def, actor );
    tr_colour colour = mixed( paint( cast->colour, cast->id, def ), lit, mark->glow );
    if ( result->of_source )
        return source_puppet( a, colour );
    return ( puppet ){ &a->target, &a->body,   &result->worlds[actor], colour, mark->joint,
                       actor,      def->strips };
}

static tr_shape prop_shape( const tr_stage *stage, const tr_result *result, int prop )
{
    return tr_stage_prop_shape( stage, prop, result->of_source );
}

// ----------------------------------------------------------------------------------------------- bodies

static bool has_arms( const tr_skeleton *skeleton )
{
    for ( int i = 0; i < skeleton->limb_count; ++i )
        if ( skeleton->limbs[i].kind == TR_LIMB_ARM )
            return true;
    return false;
}

// Heads and hands are lighter, feet darker: so one reads the pose of a small figure at a glance. A body
// without arms is taken for one with fur, whose neck is no lighter than its back.
static tr_colour part_colour( tr_colour colour, const tr_skeleton *skeleton, int joint, bool fur )
{
    const tr_colour light = { 1.0f, 0.95f, 0.88f, 1.0f }, dark = { 0.16f, 0.16f, 0.20f, 1.0f };
    const tr_joint *j = &skeleton->joints[joint];
    bool head =
        j->limb >= 0 && j->limb < skeleton->limb_count && skeleton->limbs[j->limb].kind == TR_LIMB_HEAD;
    switch ( j->role == TR_ROLE_OTHER && head ? TR_ROLE_HEAD : j->role ) {
    case TR_ROLE_NECK: return mixed( colour, light, fur ? 0.0f : 0.45f );
    case TR_ROLE_HEAD:
    case TR_ROLE_EAR:
    case TR_ROLE_HAND:
    case TR_ROLE_FINGER: return mixed( colour, light, fur ? 0.15f : 0.45f );
    case TR_ROLE_FOOT:
    case TR_ROLE_TOE: return mixed( colour, dark, 0.45f );
    default: return colour;
    }
}

// Limbs taper towards the thinner part that follows; a trunk does not.
static double radius_at_end( const tr_body *body, const tr_capsule *capsule, tr_role role )
{
    bool trunk =
        role == TR_ROLE_ROOT || role == TR_ROLE_SPINE || role == TR_ROLE_HEAD || role == TR_ROLE_OTHER;
    if ( trunk || capsule->joint == capsule->parent )
        return capsule->radius;
    double next = 0.0;
    for ( int i = 0; i < body->capsule_count; ++i )
        if ( body->capsules[i].parent == capsule->joint && body->capsules[i].joint != capsule->joint )
            next = fmax( next, body->capsules[i].radius );
    return capsule->radius * clampd( next / capsule->radius, 0.7, 1.0 );
}

// How red a part is, 0 … 1: from an overlap that some viewers notice to one that all do. `part` -1:
// any.
static float overlap_heat( const tr_strips *strips, int who, int part, int frame )
{
    float worst = 0.0f;
    if ( strips == NULL || frame >= strips->frame_count )
        return 0.0f;
    const tr_strip *strip = &strips->items[TR_STRIP_OVERLAP];
    for ( int i = strips->overlap_first[frame]; i < strips->overlap_first[frame + 1]; ++i ) {
        const tr_overlap *o = &strips->overlaps[i];
        bool mine = ( o->a == who && ( part < 0 || o->part_a == part ) ) ||
                    ( o->b == who && ( part < 0 || o->part_b == part ) );
        worst = mine ? fmaxf( worst, o->depth ) : worst;
    }
    double t = ( 1e3 * worst - strip->fine ) / ( strip->bad - strip->fine );
    return worst > 0.0f ? (float)( 0.15 + 0.8 * clampd( t, 0.0, 1.0 ) ) : 0.0f;
}

static const tr_colour hot = { 1.0f, 0.13f, 0.08f, 1.0f };

static void add_body( tr_draw_list *list, const puppet *p, int frame, bool parts )
{
    tr_pose pose = tr_world_pose( p->world, frame );
    bool fur = !has_arms( p->skeleton );
    for ( int i = 0; i < p->body->capsule_count; ++i ) {
        const tr_capsule *c = &p->body->capsules[i];
        rigid place = { pose.rotations[c->parent], pose.positions[c->parent] };
        tr_role role = p->skeleton->joints[c->parent].role;
        tr_colour colour = parts ? part_colour( p->colour, p->skeleton, c->parent, fur ) : p->colour;
        float heat = parts ? overlap_heat( p->strips, p->actor, i, frame ) : 0.0f;
        colour = parts && c->parent == p->glowing ? mixed( colour, accent, 0.75f ) : colour;
        tr_draw_cone_add( list, rigid_apply( place, c->a ), rigid_apply( place, c->b ), c->radius,
                          radius_at_end( p->body, c, role ), mixed( colour, hot, heat ) );
    }
}

static void add_ghosts( tr_draw_list *list, const puppet *p, int frame, const tr_view_def *def )
{
    for ( int k = -def->ghosts_each_side; k <= def->ghosts_each_side; ++k ) {
        int at = frame + k * def->ghost_step;
        if ( k == 0 || at < 0 || at >= p->world->frame_count )
            continue;
        puppet ghost = *p;
        float nearness = 1.0f - (float)abs( k ) / (float)( def->ghosts_each_side + 1 );
        ghost.colour = see_through( mixed( p->colour, ( tr_colour ){ 1, 1, 1, 1 }, k > 0 ? 0.35f : 0.0f ),
                                    0.10f + 0.30f * nearness );
        add_body( list, &ghost, at, false );
    }
}

// --------------------------------------------------------------------------------------------- overlays

static void add_skeleton( tr_draw_list *list, const puppet *p, int frame )
{
    tr_pose pose = tr_world_pose( p->world, frame );
    tr_colour bone = mixed( p->colour, ( tr_colour ){ 0.10f, 0.12f, 0.18f, 1 }, 0.65f );
    for ( int j = 1; j < p->skeleton->joint_count; ++j )
        tr_draw_line_add( list, pose.positions[p->skeleton->joints[j].parent], pose.positions[j], bone, 2.0f,
                          true );
    for ( int j = 0; j < p->skeleton->joint_count; ++j ) {
        if ( p->skeleton->joints[j].end_site )
            continue;
        tr_draw_line_add( list, pose.positions[j], pose.positions[j], bone, 7.0f, true );
        tr_draw_line_add( list, pose.positions[j], pose.positions[j], ( tr_colour ){ 1, 1, 1, 1 }, 4.0f,
                          true );
    }
}

static double radius_around( const tr_body *body, int joint )
{
    double radius = 0.0;
    for ( int i = 0; i < body->capsule_count; ++i )
        if ( body->capsules[i].parent == joint || ( radius == 0.0 && body->capsules[i].joint == joint ) )
            radius = fmax( radius, body->capsules[i].radius );
    return radius;
}

// The graph the solver deforms, in this pose: a triangle around every joint, three rails along every bone.
static void add_pose_graph( tr_draw_list *list, const puppet *p, int frame )
{
    tr_colour rail = mixed( p->colour, ( tr_colour ){ 0.10f, 0.12f, 0.18f, 1 }, 0.45f );
    tr_colour ring = mixed( p->colour, ( tr_colour ){ 0.10f, 0.12f, 0.18f, 1 }, 0.75f );
    tr_posegraph graph = { 0 };
    tr_posegraph_def def = tr_default_posegraph_def();
    vec3 *vertices = tr_alloc( 3 * (size_t)p->skeleton->joint_count, sizeof( vec3 ) );
    bool ok = vertices && tr_posegraph_build( &graph, p->skeleton, p->body, &def, NULL );
    list->failed = list->failed || !ok;
    if ( ok )
        tr_posegraph_pose( &graph, tr_world_pose( p->world, frame ), vertices );
    for ( int j = 0; ok && j < graph.joint_count; ++j )
        for ( int k = 0; k < 3; ++k ) {
            const vec3 *here = vertices + 3 * j, *above = j > 0 ? vertices + 3 * graph.parents[j] : here;
            tr_draw_line_add( list, here[k], here[( k + 1 ) % 3], ring, 1.6f, true );
            if ( j > 0 )
                tr_draw_line_add( list, above[k], here[k], see_through( rail, 0.8f ), 1.2f, true );
        }
    tr_posegraph_free( &graph );
    tr_free( vertices );
}

// ----------------------------------------------------------------------------------------------- trails

typedef struct path { // path of a point: three doubles every `stride` doubles
    const double *points;
    size_t stride;
    int frame_count;
} path;

static vec3 path_at( const path *p, int frame )
{
    const double *at = p->points + p->stride * (size_t)( frame < 0                ? 0
                                                         : frame < p->frame_count ? frame
                                                                                  : p->frame_count - 1 );
    return v3( at[0], at[1], at[2] );
}

// Catmull–Rom between two frames: trails are smooth however few frames there are.
static vec3 path_between( const path *p, int frame, double t )
{
    vec3 a = path_at( p, frame - 1 ), b = path_at( p, frame ), c = path_at( p, frame + 1 ),
         d = path_at( p, frame + 2 );
    vec3 linear = v3_scale( 0.5, v3_sub( c, a ) );
    vec3 square = v3_add( v3_sub( a, v3_scale( 2.5, b ) ), v3_sub( v3_scale( 2.0, c ), v3_scale( 0.5, d ) ) );
    vec3 cubic = v3_scale( 0.5, v3_add( v3_sub( d, a ), v3_scale( 3.0, v3_sub( b, c ) ) ) );
    return v3_mad( v3_mad( v3_mad( b, t, linear ), t * t, square ), t * t * t, cubic );
}

// Fades at both ends, paler where it is still to come.
static void add_trail( tr_draw_list *list, const path *p, int frame, int length, tr_colour colour,
                       float width )
{
    const int pieces = 3; // per frame
    for ( int i = -length * pieces; i < length * pieces; ++i ) {
        int f = frame + ( i + length * pieces ) / pieces - length, part = ( i + length * pieces ) % pieces;
        if ( f < 0 || f + 1 >= p->frame_count )
            continue;
        float strength = i >= 0 ? 0.45f : 0.9f, reach = (float)( length * pieces );
        tr_draw_line_add( list, path_between( p, f, (double)part / pieces ),
                          path_between( p, f, ( part + 1.0 ) / pieces ), colour, width, false );
        if ( list->failed )
            return;
        tr_draw_line *line = &list->lines[list->line_count - 1];
        line->colour_a = see_through( colour, strength * ( 1.0f - (float)abs( i ) / reach ) );
        line->colour_b = see_through( colour, strength * ( 1.0f - (float)abs( i + 1 ) / reach ) );
    }
}

static void add_joint_trails( tr_draw_list *list, const puppet *p, int frame, bool all_ends, int length )
{
    tr_colour colour = mixed( p->colour, ( tr_colour ){ 0.10f, 0.12f, 0.18f, 1 }, 0.25f );
    for ( int j = 0; j < p->skeleton->joint_count; ++j ) {
        tr_role role = p->skeleton->joints[j].role;
        bool end = role == TR_ROLE_HAND || role == TR_ROLE_FOOT;
        path joint = { &p->world->positions[j].x, 3 * (size_t)p->world->joint_count, p->world->frame_count };
        if ( j == 0 || ( all_ends && end ) )
            add_trail( list, &joint, frame, length, colour, j == 0 ? 3.0f : 2.0f );
    }
}

// --------------------------------------------------------------------------------------------- contacts

static const tr_colour contact_colour = { 0.16f, 0.66f, 0.45f, 0.9f };

static bool in_contact( const tr_contacts *contacts, int joint, int frame, tr_surface_kind *surface )
{
    for ( int i = 0; i < contacts->count; ++i ) {
        const tr_contact *c = &contacts->items[i];
        if ( c->joint == joint && frame >= c->first && frame <= c->last ) {
            *surface = c->surface;
            return true;
        }
    }
    return false;
}

// One mark for all joints of a limb that rest: a foot, not each of its toes. On the floor a disc around them,
// elsewhere a dot between them.
// `map`: from the puppet's joints to those of the source that are labelled, NULL = it is the source.
static void add_limb_contact( tr_draw_list *list, const tr_stage *stage, const tr_contacts *contacts,
                              const int *map, const puppet *p, int limb, int frame )
{
    tr_pose pose = tr_world_pose( p->world, frame );
    tr_bounds resting = tr_bounds_empty();
    tr_surface_kind surface = TR_SURFACE_GROUND;
    double radius = 0.0;
    for ( int j = 0; j < p->skeleton->joint_count; ++j ) {
        const int labelled = map != NULL ? map[j] : j;
        bool mine = p->skeleton->joints[j].limb == limb && labelled >= 0;
        if ( !mine || !in_contact( contacts, labelled, frame, &surface ) )
            continue;
        tr_bounds_add( &resting, pose.positions[j], 0.0 );
        radius = fmax( radius, radius_around( p->body, j ) );
    }
    if ( resting.low.x > resting.high.x )
        return;
    vec3 at = v3_lerp( resting.low, resting.high, 0.5 );
    double reach = 0.5 * v3_length( v3_horizontal( v3_sub( resting.high, resting.low ) ) );
    if ( surface == TR_SURFACE_GROUND )
        tr_draw_disc_add( list, v3( at.x, stage->ground + 1e-3, at.z ), v3_y, reach + 1.2 * radius,
                          contact_colour );
    else
        tr_draw_dot_add( list, at, contact_colour, 8.0f, 0.08f );
}

static void add_contacts( tr_draw_list *list, const tr_stage *stage, int actor, const puppet *p, int frame )
{
    const tr_actor *a = &stage->actors[actor];
    const int *map = p->skeleton == &a->target ? a->map : NULL;
    for ( int limb = 0; limb < p->skeleton->limb_count; ++limb )
        add_limb_contact( list, stage, &a->contacts, map, p, limb, frame );
}

// ------------------------------------------------------------------------------------------------- fill

static void add_actor( tr_draw_list *list, const tr_stage *stage, const tr_result *result, int actor,
                       int frame, const tr_view_def *def )
{
    puppet p = puppet_of( stage, result, actor, def );
    bool chosen = ( def->highlight && strcmp( def->highlight, stage->scene->cast[actor].id ) == 0 ) ||
                  mark_of( def, actor )->chosen;
    bool others = !def->highlight && !any_chosen( stage, def ); // unselected ones count too
    if ( def->bodies )
        add_body( list, &p, frame, true );
    if ( def->ghosts && ( chosen || others ) )
        add_ghosts( list, &p, frame, def );
    if ( def->source ) {
        puppet source = source_puppet(
            &stage->actors[actor],
            see_through( mixed( p.colour, ( tr_colour ){ 0.75f, 0.78f, 0.82f, 1 }, 0.7f ), 0.4f ) );
        add_body( list, &source, frame, false );
    }
    if ( def->skeleton )
        add_skeleton( list, &p, frame );
    if ( def->pose_graph )
        add_pose_graph( list, &p, frame );
    if ( def->trails && ( chosen || others ) )
        add_joint_trails( list, &p, frame, chosen || stage->actor_count <= small_cast, def->trail_frames );
    // Contacts of an actor that moves by examples are of its own feet, which the performer does not have.
    if ( def->contacts && !( result->of_source && stage->actors[actor].examples != NULL ) )
        add_contacts( list, stage, actor, &p, frame );
}

static void add_prop( tr_draw_list *list, const tr_stage *stage, const tr_result *result, int prop, int frame,
                      const tr_view_def *def )
{
    const tr_prop *document = &stage->scene->props[prop];
    const tr_stage_prop *p = &stage->props[prop];
    const tr_view_mark *mark = mark_of( def, stage->actor_count + prop );
    tr_colour colour = mixed( paint( document->colour, document->id, def ), lit, mark->glow );
    colour = mixed( colour, hot, 0.6f * overlap_heat( def->strips, stage->actor_count + prop, -1, frame ) );
    tr_shape shape = prop_shape( stage, result, prop );
    tr_draw_shape_add( list, result->tracks[prop][frame], &shape, colour );
    if ( def->source )
        tr_draw_shape_add( list, p->track[frame], &p->shape, see_through( colour, 0.3f ) );
    path centre = { &result->tracks[prop][0].position.x, sizeof( rigid ) / sizeof( double ),
                    result->frame_count };
    if ( def->trails )
        add_trail( list, &centre, frame, def->trail_frames,
                   mixed( colour, ( tr_colour ){ 0.55f, 0.30f, 0.05f, 1 }, 0.3f ), 3.0f );
}

// ------------------------------------------------------------------------------------------------ closeness

static vec3 member_place( const tr_stage *stage, const tr_result *result, int member, int frame )
{
    int prop = member - stage->actor_count, obstacle = prop - stage->prop_count;
    return prop < 0       ? tr_world_pose( &result->worlds[member], frame ).positions[0]
           : obstacle < 0 ? result->tracks[prop][frame].position
                          : stage->obstacles[obstacle].position;
}

// A line for every pair that is close; around selected members also the mesh itself.
static void add_links( tr_draw_list *list, const tr_stage *stage, const tr_result *result, int frame,
                       const tr_view_def *def )
{
    const tr_colour violet = { 0.74f, 0.58f, 1.0f, 1.0f };
    for ( int i = 0; i < def->links->count && def->links->items[i].first <= frame; ++i ) {
        const tr_imesh_pair *pair = &def->links->items[i];
        if ( frame > pair->last || mark_of( def, pair->a )->hidden || mark_of( def, pair->b )->hidden )
            continue;
        vec3 a = member_place( stage, result, pair->a, frame ),
             b = member_place( stage, result, pair->b, frame );
        tr_draw_line_add( list, a, b, see_through( violet, 0.85f ), 2.5f, true );
        tr_draw_line_add( list, a, a, violet, 7.0f, true );
        tr_draw_line_add( list, b, b, violet, 7.0f, true );
    }
    tr_mesh_lines lines = { 0 };
    for ( int m = 0; m < stage->actor_count + stage->prop_count; ++m )
        if ( mark_of( def, m )->chosen && !result->of_source &&
             !tr_mesh_lines_find( &lines, stage, result, def->links, m, frame, NULL ) )
            list->failed = true;
    for ( int i = 0; i < lines.count; ++i )
        tr_draw_line_add( list, lines.items[i][0], lines.items[i][1], see_through( violet, 0.45f ), 1.2f,
                          true );
    tr_mesh_lines_free( &lines );
}

void tr_view_fill( tr_draw_list *list, const tr_stage *stage, const tr_result *result, int frame,
                   const tr_view_def *def )
{
    tr_draw_clear( list );
    list->ground = stage->ground;
    if ( result->frame_count < 1 )
        return;
    frame = clamp_frame( result, frame );
    int actors = stage->actor_count, props = stage->prop_count;
    for ( int i = 0; i < actors; ++i )
        if ( !mark_of( def, i )->hidden )
            add_actor( list, stage, result, i, frame, def );
    for ( int i = 0; i < props; ++i )
        if ( !mark_of( def, actors + i )->hidden )
            add_prop( list, stage, result, i, frame, def );
    if ( def->links != NULL )
        add_links( list, stage, result, frame, def );
    for ( int i = 0; i < stage->scene->obstacle_count; ++i ) {
        const tr_obstacle *o = &stage->scene->obstacles[i];
        const tr_view_mark *mark = mark_of( def, actors + props + i );
        tr_solid solid = tr_stage_obstacle( stage, i, result->of_source );
        if ( !mark->hidden )
            tr_draw_shape_add( list, solid.at, &solid.shape,
                               mixed( paint( o->colour, o->id, def ), lit, mark->glow ) );
    }
}

// ----------------------------------------------------------------------------------------------- camera

// Calls for at most this many frames of a range: enough for any framing.
static const int frame_samples = 24;

typedef void visit( void *context, vec3 point, double radius );

static void visit_frame( const tr_stage *stage, const tr_result *result, int frame, visit *call,
                         void *context )
{
    for ( int i = 0; i < stage->actor_count; ++i ) {
        puppet p = result->of_source
                       ? source_puppet( &stage->actors[i], ( tr_colour ){ 0 } )
                       : ( puppet ){ .body = &stage->actors[i].body, .world = &result->worlds[i] };
        tr_pose pose = tr_world_pose( p.world, frame );
        const tr_body *body = p.body;
        for ( int k = 0; k < body->capsule_count; ++k ) {
            const tr_capsule *c = &body->capsules[k];
            rigid place = { pose.rotations[c->parent], pose.positions[c->parent] };
            call( context, rigid_apply( place, c->a ), c->radius );
            call( context, rigid_apply( place, c->b ), c->radius );
        }
    }
    for ( int i = 0; i < stage->prop_count; ++i ) {
        tr_draw_box box = { result->tracks[i][frame], prop_shape( stage, result, i ).size, { 0 } };
        vec3 corners[8];
        tr_box_corners( &box, corners );
        for ( int k = 0; k < 8; ++k )
            call( context, corners[k], 0.0 );
    }
}

static void visit_range( const tr_stage *stage, const tr_result *result, int first, int last, visit *call,
                         void *context )
{
    if ( result->frame_count < 1 )
        return;
    first = clamp_frame( result, first );
    last = clamp_frame( result, last );
    int span = last > first ? last - first : 0, samples = span < frame_samples ? span : frame_samples;
    visit_frame( stage, result, first, call, context );
    for ( int i = 1; i <= samples; ++i )
        visit_frame( stage, result, first + (int)( (long)span * i / samples ), call, context );
}

static void add_to_bounds( void *context, vec3 point, double radius )
{
    tr_bounds_add( context, point, radius );
}

void tr_view_bounds( const tr_stage *stage, const tr_result *result, int first, int last, vec3 *low,
                     vec3 *high )
{
    tr_bounds bounds = tr_bounds_empty();
    visit_range( stage, result, first, last, add_to_bounds, &bounds );
    if ( bounds.low.x > bounds.high.x ) // nothing moves: the environment, or nothing at all
        for ( int i = 0; i < stage->scene->obstacle_count; ++i ) {
            tr_solid solid = tr_stage_obstacle( stage, i, result->of_source );
            tr_bounds_add( &bounds, solid.at.position, 0.5 * v3_length( solid.shape.size ) );
        }
    if ( bounds.low.x > bounds.high.x )
        bounds = ( tr_bounds ){ v3( -1, stage->ground, -1 ), v3( 1, stage->ground + 1.8, 1 ) };
    *low = bounds.low;
    *high = bounds.high;
}

typedef struct cloud {
    vec3 *points;
    int count, capacity;
    bool failed;
} cloud;

// Six points on the ball: a common radius would be too much for fingers and too little for heads.
static void add_to_cloud( void *context, vec3 p, double r )
{
    cloud *c = context;
    const vec3 directions[6] = { { 1, 0, 0 },  { -1, 0, 0 }, { 0, 1, 0 },
                                 { 0, -1, 0 }, { 0, 0, 1 },  { 0, 0, -1 } };
    if ( !v3_finite( p ) )
        return;
    if ( !tr_array_reserve( (void **)&c->points, &c->capacity, c->count + 6, sizeof *c->points ) ) {
        c->failed = true;
        return;
    }
    for ( int i = 0; i < ( r > 0.0 ? 6 : 1 ); ++i )
        c->points[c->count++] = v3_mad( p, r, directions[i] );
}

// Furniture belongs in the picture; walls and ramps larger than half the action need not be seen whole.
static void add_furniture( cloud *c, const tr_stage *stage, bool of_source )
{
    tr_bounds bounds = tr_bounds_empty();
    for ( int i = 0; i < c->count; ++i )
        tr_bounds_add( &bounds, c->points[i], 0.0 );
    double extent = v3_distance( bounds.low, bounds.high );
    for ( int i = 0; c->count > 0 && i < stage->scene->obstacle_count; ++i ) {
        tr_solid placed = tr_stage_obstacle( stage, i, of_source );
        tr_draw_box box = { placed.at, placed.shape.size, { 0 } };
        vec3 corners[8];
        if ( v3_length( box.size ) > 0.5 * extent )
            continue;
        tr_box_corners( &box, corners );
        for ( int k = 0; k < 8; ++k )
            add_to_cloud( c, corners[k], 0.0 );
    }
}

// Where most of the cast looks, from hip to hip: forward = left × up. Zero when they look everywhere.
static vec3 mean_facing( const tr_stage *stage, const tr_result *result, int frame )
{
    vec3 sum = v3_zero;
    int count = 0;
    for ( int i = 0; i < stage->actor_count; ++i ) {
        const tr_actor *actor = &stage->actors[i];
        const tr_skeleton *skeleton = result->of_source ? &actor->source.skeleton : &actor->target;
        tr_pose pose = tr_world_pose( &result->worlds[i], frame );
        int left, right;
        if ( tr_skeleton_find_role( skeleton, TR_ROLE_THIGH, TR_SIDE_LEFT, &left, 1 ) < 1 ||
             tr_skeleton_find_role( skeleton, TR_ROLE_THIGH, TR_SIDE_RIGHT, &right, 1 ) < 1 )
            continue;
        vec3 across = v3_sub( pose.positions[left], pose.positions[right] );
        sum = v3_add( sum, v3_unit( v3_horizontal( v3_cross( across, v3_y ) ) ) );
        ++count;
    }
    return v3_length( sum ) > 0.3 * count ? v3_unit( sum ) : v3_zero;
}

bool tr_view_camera( tr_camera *camera, const tr_stage *stage, const tr_result *results, int count, int first,
                     int last, const char *view, double aspect, tr_error *error )
{
    cloud c = { 0 };
    const tr_result *result = &results[count - 1];
    for ( int i = 0; i < count; ++i )
        visit_range( stage, &results[i], first, last, add_to_cloud, &c );
    add_furniture( &c, stage, result->of_source );
    vec3 facing = result->frame_count > 0
                      ? mean_facing( stage, result, clamp_frame( result, ( first + last ) / 2 ) )
                      : v3_zero;
    bool ok = c.failed ? tr_error_memory( error ) : true;
    if ( ok && c.count > 0 )
        ok = tr_camera_fit( camera, view, c.points, c.count, 0.0, facing, aspect );
    else if ( ok ) {
        vec3 low, high;
        tr_view_bounds( stage, result, first, last, &low, &high );
        ok = tr_camera_view( camera, view, low, high, aspect );
    }
    tr_free( c.points );
    if ( !ok && !c.failed )
        tr_error_set( error,
                      "unknown view \"%s\": use auto, front, back, left, right, top or yaw,pitch[,distance], "
                      "with \"flat \" before it for no perspective",
                      view );
    return ok;
}
