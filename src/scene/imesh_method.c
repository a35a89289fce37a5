// The interaction-mesh method. Pose graphs first; then, wherever bodies, props and surroundings come close to
// each other in the source, the mesh of that window keeps who stands where to whom:
//
//   pose graphs ─► close pairs ─► windows ─► mesh of each window ─► aim skeletons ─► blend at its ends ─► fit
// Windows are solved side by side. Where many are close to each other there are several windows of a few
// members each; who is in two of them at once gets the mean of what they say. Links and stances stay exact:
// they are rows of the mesh, and the last fit meets them.
#include "imesh/imesh.h"
#include "scene/cluster.h"

#include <string.h>

#define MOST_MEMBERS 4 // that move, of a window

typedef struct answer { // what the mesh of a window says
    quat **rotations;   // [member_count][frames * joints] of actors, NULL for others
    vec3 **positions;   // the same
    rigid **places;     // [member_count][frames] of props
    bool failed;
    tr_error error;
} answer;

// A member is an actor, a prop, or an obstacle, in this order.
typedef struct work {
    const tr_stage *stage;
    tr_result *result;
    tr_imesh_near *members; // [member_count]
    int member_count;
    tr_imesh_windows windows;
    int pad;          // frames over which a window fades
    tr_graphs graphs; // where the joints are to be: pose graphs, then meshes
    bool *affected;   // [(actor_count + prop_count) * frame_count]
    double *said;     // the same: weight of what windows have said so far
    answer *answers;  // [windows.count]
    rigid **places;   // [prop_count] NULL, or [frame_count] where meshes have the prop
} work;

static bool is_actor( const work *w, int member )
{
    return member < w->stage->actor_count;
}

static bool is_prop( const work *w, int member )
{
    return !is_actor( w, member ) && member < w->stage->actor_count + w->stage->prop_count;
}

// ------------------------------------------------------------------------------------------------- windows

static void add_members( work *w )
{
    const tr_stage *stage = w->stage;
    for ( int i = 0; i < stage->actor_count; ++i )
        w->members[w->member_count++] =
            ( tr_imesh_near ){ .world = &stage->actors[i].world, .body = &stage->actors[i].source_body };
    for ( int i = 0; i < stage->prop_count; ++i )
        w->members[w->member_count++] = ( tr_imesh_near ){
            .track = stage->props[i].track, .track_count = stage->frame_count, .size = stage->props[i].size };
    for ( int i = 0; i < stage->scene->obstacle_count; ++i )
        w->members[w->member_count++] = ( tr_imesh_near ){ .track = &stage->obstacles[i],
                                                           .track_count = 1,
                                                           .size = stage->scene->obstacles[i].size,
                                                           .still = true };
}

// Whether a rule already says how the two hold together: a carrier and his box need no mesh.
static bool are_linked( const tr_stage *stage, int a, int b )
{
    for ( int r = 0; r < stage->rule_count; ++r ) {
        const tr_rule *rule = &stage->rules[r];
        int one = tr_anchor_node( stage, &rule->a ), other = tr_anchor_node( stage, &rule->b );
        if ( rule->kind == TR_CONSTRAINT_CONTACT && rule->surface_prop >= 0 )
            other = stage->actor_count + rule->surface_prop;
        if ( ( one == a && other == b ) || ( one == b && other == a ) )
            return true;
    }
    return false;
}

static void drop_carriers( const work *w, tr_imesh_pairs *pairs )
{
    int kept = 0;
    for ( int i = 0; i < pairs->count; ++i )
        if ( !is_prop( w, pairs->items[i].b ) ||
             !are_linked( w->stage, pairs->items[i].a, pairs->items[i].b ) )
            pairs->items[kept++] = pairs->items[i];
    pairs->count = kept;
}

static bool is_member( const work *w, int member )
{
    for ( int i = 0; i < w->windows.count; ++i )
        for ( int m = 0; m < w->windows.items[i].member_count; ++m )
            if ( w->windows.items[i].members[m] == member )
                return true;
    return false;
}

// Whether limbs or girths changed against the rest of the body: then it may get in its own way.
static bool is_reshaped( const tr_actor *actor )
{
    for ( int j = 1; j < actor->target.joint_count; ++j ) {
        int from = actor->map != NULL ? actor->map[j] : j;
        double source = from >= 0 ? tr_bone_length( &actor->source.skeleton, from ) : 0;
        double length = tr_bone_length( &actor->target, j );
        if ( source > 0.03 && fabs( length / source - actor->height_ratio ) > 0.05 * actor->height_ratio )
            return true;
    }
    double girth = 0, before = 0;
    for ( int i = 0; i < actor->body.capsule_count; ++i )
        girth += actor->body.capsules[i].radius;
    for ( int i = 0; i < actor->source_body.capsule_count; ++i )
        before += actor->source_body.capsules[i].radius;
    return fabs( girth / fmax( before, 1e-9 ) - actor->height_ratio ) > 0.05 * actor->height_ratio;
}

// One who meets nobody, but has another shape, keeps the relations of his own limbs.
static bool add_single_bodies( work *w, tr_error *error )
{
    const tr_stage *stage = w->stage;
    size_t room = (size_t)w->windows.count + (size_t)stage->actor_count;
    tr_imesh_window *items = tr_realloc( w->windows.items, room, sizeof *items );
    if ( items == NULL )
        return tr_error_memory( error );
    w->windows.items = items;
    for ( int i = 0; i < stage->actor_count; ++i ) {
        if ( is_member( w, i ) || !is_reshaped( &stage->actors[i] ) )
            continue;
        tr_imesh_window window = { tr_alloc( 1, sizeof( int ) ), 1, 0, stage->frame_count - 1 };
        if ( window.members == NULL )
            return tr_error_memory( error );
        window.members[0] = i;
        w->windows.items[w->windows.count++] = window;
    }
    return true;
}

static bool find_windows( work *w, tr_error *error )
{
    tr_imesh_near_def def = tr_default_imesh_near_def( w->stage->fps );
    tr_imesh_pairs pairs;
    add_members( w );
    w->pad = def.pad;
    if ( !tr_imesh_pairs_find( &pairs, w->members, w->member_count, w->stage->frame_count, &def, error ) )
        return false;
    drop_carriers( w, &pairs );
    bool ok = tr_imesh_windows_find( &w->windows, &pairs, w->members, w->member_count, MOST_MEMBERS, error );
    tr_imesh_pairs_free( &pairs );
    return ok && add_single_bodies( w, error );
}

// How much of a window counts at a frame: it fades over its padding, but not at the ends of the scene.
static double share_of( const work *w, const tr_imesh_window *window, int frame )
{
    double in = window->first > 0 ? ( frame - window->first + 1.0 ) / ( w->pad + 1.0 ) : 1;
    double out =
        window->last < w->stage->frame_count - 1 ? ( window->last - frame + 1.0 ) / ( w->pad + 1.0 ) : 1;
    return smooth_step5( fmin( in, out ) );
}

// ---------------------------------------------------------------------------------------------------- cast

typedef struct party { // a window as its mesh sees it
    const work *work;
    const tr_imesh_window *window;
    tr_imesh_body *bodies; // [member_count at most]
    tr_imesh_box *boxes;
    int *place_of; // [members of the stage] index among bodies or boxes, -1: not in it
    tr_imesh_row *rows;
    int row_count, row_capacity;
    tr_imesh_cast cast;
} party;

static void add_member( party *p, int member )
{
    const tr_stage *stage = p->work->stage;
    if ( is_actor( p->work, member ) ) {
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
    tr_imesh_box box = { near->track, near->track, near->track_count, near->size, near->size, false };
    if ( is_prop( p->work, member ) ) {
        int prop = member - stage->actor_count;
        box.target = p->work->result->tracks[prop];
        box.target_size = v3_scale( stage->props[prop].scale, box.source_size );
        box.moves = true;
    }
    p->place_of[member] = p->cast.box_count;
    p->boxes[p->cast.box_count++] = box;
}

// One end of a rule as a point of the mesh; false when it is not in the window.
static bool point_of( const party *p, const tr_anchor *anchor, tr_imesh_point *out )
{
    int member = tr_anchor_node( p->work->stage, anchor );
    if ( member < 0 || p->place_of[member] < 0 )
        return false;
    bool actor = is_actor( p->work, member );
    *out = ( tr_imesh_point ){ actor ? p->place_of[member] : -1, actor ? anchor->joints[0] : -1,
                               actor ? -1 : p->place_of[member] };
    return true;
}

static vec3 point_at( const party *p, const tr_anchor *anchor, int frame )
{
    const tr_result *result = p->work->result;
    return anchor->actor >= 0
               ? tr_world_pose( &result->worlds[anchor->actor], frame ).positions[anchor->joints[0]]
               : result->tracks[anchor->prop][frame].position;
}

static bool add_row( party *p, const tr_rule *rule, const tr_anchor *a, const tr_anchor *b, int frame )
{
    tr_imesh_row row = { .b = { -1, -1, -1 }, .frame = frame - p->window->first, .hard = rule->hard };
    if ( !point_of( p, a, &row.a ) )
        return true;
    if ( !tr_array_reserve( (void **)&p->rows, &p->row_capacity, p->row_count + 1, sizeof *p->rows ) )
        return false;
    bool joined = b != NULL && point_of( p, b, &row.b );
    row.target = point_at( p, a, frame );
    if ( joined )
        row.target = v3_sub( row.target, point_at( p, b, frame ) );
    row.weight = rule->weight;
    memcpy( row.axis, rule->axis, sizeof row.axis );
    p->rows[p->row_count++] = row;
    return true;
}

// Stances, places and links hold as the pose graphs have them. A link to somebody outside is a place.
static bool add_rule( party *p, const tr_rule *rule )
{
    int first = rule->first > p->window->first ? rule->first : p->window->first;
    int last = rule->last < p->window->last ? rule->last : p->window->last;
    tr_anchor surface = { .actor = -1, .prop = rule->surface_prop };
    bool link = rule->kind == TR_CONSTRAINT_RELATIVE, contact = rule->kind == TR_CONSTRAINT_CONTACT;
    if ( ( !link && !contact && rule->kind != TR_CONSTRAINT_ABSOLUTE ) || rule->direction )
        return true;
    const tr_anchor *other = link ? &rule->b : contact && surface.prop >= 0 ? &surface : NULL;
    tr_imesh_point unused;
    for ( int f = first; f <= last; ++f ) {
        if ( !add_row( p, rule, &rule->a, other, f ) )
            return false;
        if ( link && !point_of( p, &rule->a, &unused ) && !add_row( p, rule, &rule->b, NULL, f ) )
            return false;
    }
    return true;
}

static void party_free( party *p )
{
    tr_free( p->bodies );
    tr_free( p->boxes );
    tr_free( p->place_of );
    tr_free( p->rows );
}

static bool party_build( party *p )
{
    size_t count = (size_t)p->window->member_count, all = (size_t)p->work->member_count;
    p->bodies = tr_alloc( count, sizeof *p->bodies );
    p->boxes = tr_alloc( count, sizeof *p->boxes );
    p->place_of = tr_alloc( all, sizeof( int ) );
    if ( p->bodies == NULL || p->boxes == NULL || p->place_of == NULL )
        return false;
    for ( size_t m = 0; m < all; ++m )
        p->place_of[m] = -1;
    p->cast = ( tr_imesh_cast ){ .first = p->window->first,
                                 .frame_count = p->window->last - p->window->first + 1,
                                 .ground = p->work->stage->ground };
    for ( int m = 0; m < p->window->member_count; ++m )
        add_member( p, p->window->members[m] );
    for ( int r = 0; r < p->work->stage->rule_count; ++r )
        if ( !add_rule( p, &p->work->stage->rules[r] ) )
            return false;
    p->cast.bodies = p->bodies;
    p->cast.boxes = p->boxes;
    p->cast.rows = p->rows;
    p->cast.row_count = p->row_count;
    return true;
}

// ---------------------------------------------------------------------------------------------------- solve

// Distances between bodies go with their sizes, and not at all with surroundings that keep theirs.
static double relations_of( const party *p )
{
    double sum = 0;
    for ( int m = 0; m < p->window->member_count; ++m )
        if ( is_actor( p->work, p->window->members[m] ) )
            sum += p->work->stage->actors[p->window->members[m]].height_ratio;
    return p->cast.box_count > 0 || p->cast.body_count == 0 ? 1 : sum / p->cast.body_count;
}

// The paper's 0.2 leaves twice the source's jerk where contacts come and go from frame to frame; 5 at 30
// frames a second leaves a tenth more, for a few hundredths of the mesh's energy. More frames a second need
// more, but the rounds take longer.
static double acceleration_for( double fps )
{
    return 5 * clampd( fps * fps / 900, 0.25, 4 );
}

static bool read_mesh( const party *p, const tr_imesh *mesh, answer *out )
{
    const work *w = p->work;
    size_t count = (size_t)p->window->member_count, frames = (size_t)p->cast.frame_count;
    out->rotations = tr_alloc( count, sizeof( quat * ) );
    out->positions = tr_alloc( count, sizeof( vec3 * ) );
    out->places = tr_alloc( count, sizeof( rigid * ) );
    if ( out->rotations == NULL || out->positions == NULL || out->places == NULL )
        return false;
    for ( size_t m = 0; m < count; ++m ) {
        int member = p->window->members[m], at = p->place_of[member];
        size_t joints = is_actor( w, member ) ? (size_t)w->stage->actors[member].target.joint_count : 0;
        out->rotations[m] = tr_alloc( frames * joints, sizeof( quat ) );
        out->positions[m] = tr_alloc( frames * joints, sizeof( vec3 ) );
        out->places[m] = tr_alloc( frames, sizeof( rigid ) );
        if ( out->rotations[m] == NULL || out->positions[m] == NULL || out->places[m] == NULL )
            return false;
        for ( size_t f = 0; f < frames; ++f )
            if ( is_actor( w, member ) )
                tr_imesh_pose(
                    mesh, at, (int)f, tr_world_pose( &w->result->worlds[member], p->window->first + (int)f ),
                    ( tr_pose ){ out->rotations[m] + f * joints, out->positions[m] + f * joints } );
            else
                out->places[m][f] = tr_imesh_box_place( mesh, at, (int)f );
    }
    return true;
}

static void answer_free( answer *a, int member_count )
{
    for ( int m = 0; m < member_count; ++m ) {
        if ( a->rotations != NULL )
            tr_free( a->rotations[m] );
        if ( a->positions != NULL )
            tr_free( a->positions[m] );
        if ( a->places != NULL )
            tr_free( a->places[m] );
    }
    tr_free( a->rotations );
    tr_free( a->positions );
    tr_free( a->places );
}

static void solve_windows( void *context, int begin, int end )
{
    work *w = context;
    for ( int i = begin; i < end; ++i ) {
        party p = { .work = w, .window = &w->windows.items[i] };
        answer *out = &w->answers[i];
        tr_imesh_def def = tr_default_imesh_def();
        tr_imesh mesh = { 0 };
        bool ok = party_build( &p ) || tr_error_memory( &out->error );
        def.acceleration = acceleration_for( w->stage->fps );
        def.relations = ok ? relations_of( &p ) : 1;
        ok = ok && tr_imesh_build( &mesh, &p.cast, &def, &out->error ) &&
             tr_imesh_solve( &mesh, NULL, &out->error ) &&
             ( read_mesh( &p, &mesh, out ) || tr_error_memory( &out->error ) );
        tr_imesh_free( &mesh );
        party_free( &p );
        out->failed = !ok;
    }
}

// `said` is the weight of what there is so far.
static void add_pose( tr_pose to, tr_pose more, int joints, double said, double weight )
{
    double part = weight / ( said + weight );
    for ( int j = 0; j < joints; ++j ) {
        to.rotations[j] = q_slerp( to.rotations[j], more.rotations[j], part );
        to.positions[j] = v3_lerp( to.positions[j], more.positions[j], part );
    }
}

// What the windows say about a member, one after the other; who is in two at once gets the mean.
static void add_answer( work *w, int window, int m )
{
    const tr_imesh_window *from = &w->windows.items[window];
    const answer *a = &w->answers[window];
    int member = from->members[m], actors = w->stage->actor_count;
    for ( int f = from->first; f <= from->last && ( is_actor( w, member ) || is_prop( w, member ) ); ++f ) {
        size_t cell = (size_t)member * (size_t)w->stage->frame_count + (size_t)f,
               at = (size_t)( f - from->first );
        double weight = share_of( w, from, f ), said = w->said[cell];
        if ( is_actor( w, member ) ) {
            size_t joints = (size_t)w->stage->actors[member].target.joint_count;
            add_pose( tr_world_pose( &w->graphs.worlds[member], f ),
                      ( tr_pose ){ a->rotations[m] + at * joints, a->positions[m] + at * joints },
                      (int)joints, said, weight );
        } else {
            rigid *place = &w->places[member - actors][f];
            double part = weight / ( said + weight );
            *place = said > 0 ? ( rigid ){ q_slerp( place->rotation, a->places[m][at].rotation, part ),
                                           v3_lerp( place->position, a->places[m][at].position, part ) }
                              : a->places[m][at];
        }
        w->said[cell] += weight;
        w->affected[cell] = true;
    }
}

static bool solve_all( work *w, tr_error *error )
{
    tr_parallel_for( w->windows.count, 1, solve_windows, w );
    for ( int i = 0; i < w->windows.count; ++i ) {
        if ( w->answers[i].failed ) {
            if ( error != NULL )
                *error = w->answers[i].error;
            return false;
        }
        for ( int m = 0; m < w->windows.items[i].member_count; ++m )
            add_answer( w, i, m );
    }
    return true;
}

// --------------------------------------------------------------------------------------------------
// skeletons

static double share_at( const work *w, int member, int frame )
{
    return fmin( 1, w->said[(size_t)member * (size_t)w->stage->frame_count + (size_t)frame] );
}

typedef struct batch {
    tr_fit fit;
    tr_fit_scratch scratch;
    tr_fit_frame *frames;   // [count]
    tr_fit_result *results; // [count]
    quat *local;            // [count * joint_count]
    int *numbers;           // [count] of the stage
    int count;
} batch;

static bool batch_build( batch *b, const work *w, int actor, tr_error *error )
{
    const tr_skeleton *skeleton = &w->stage->actors[actor].target;
    size_t frames = (size_t)w->stage->frame_count, joints = (size_t)skeleton->joint_count;
    tr_fit_def def = tr_default_fit_def();
    b->frames = tr_alloc( frames, sizeof *b->frames );
    b->results = tr_alloc( frames, sizeof *b->results );
    b->local = tr_alloc( frames * joints, sizeof( quat ) );
    b->numbers = tr_alloc( frames, sizeof( int ) );
    if ( b->frames == NULL || b->results == NULL || b->local == NULL || b->numbers == NULL )
        return tr_error_memory( error );
    for ( int f = 0; f < w->stage->frame_count; ++f ) {
        if ( !w->affected[(size_t)actor * frames + (size_t)f] )
            continue;
        tr_pose pose = tr_world_pose( &w->graphs.worlds[actor], f );
        b->frames[b->count] = ( tr_fit_frame ){ .start = tr_clip_frame( &w->result->motions[actor].clip, f ),
                                                .root = pose.positions[0],
                                                .positions = pose.positions,
                                                .rotations = pose.rotations };
        b->results[b->count] = ( tr_fit_result ){ .local = b->local + (size_t)b->count * joints };
        b->numbers[b->count++] = f;
    }
    return tr_fit_build( &b->fit, skeleton, &def, error ) &&
           tr_fit_scratch_build( &b->scratch, &b->fit, 1, tr_parallel_threads(), error );
}

static void batch_free( batch *b )
{
    tr_fit_scratch_free( &b->scratch );
    tr_fit_free( &b->fit );
    tr_free( b->frames );
    tr_free( b->results );
    tr_free( b->local );
    tr_free( b->numbers );
}

// Bones are aimed along the mesh, then blended with the pose graphs' pose.
static bool aim_actor( work *w, int actor, tr_error *error )
{
    batch b = { 0 };
    bool ok = batch_build( &b, w, actor, error ) &&
              tr_fit_solve( &b.fit, &b.scratch, b.frames, b.results, b.count, error );
    tr_clip *clip = &w->result->motions[actor].clip;
    for ( int i = 0; ok && i < b.count; ++i ) {
        double share = share_at( w, actor, b.numbers[i] );
        quat *local = tr_clip_frame( clip, b.numbers[i] );
        vec3 *root = &clip->root[b.numbers[i]];
        for ( int j = 0; j < clip->joint_count; ++j )
            local[j] = q_slerp( local[j], b.results[i].local[j], share );
        *root = v3_lerp( *root, b.results[i].root, share );
    }
    batch_free( &b );
    if ( !ok )
        return false;
    tr_world_free( &w->result->worlds[actor] );
    tr_world_free( &w->graphs.worlds[actor] );
    return tr_world_build( &w->result->worlds[actor], &w->result->motions[actor], error ) &&
           tr_world_build( &w->graphs.worlds[actor], &w->result->motions[actor], error );
}

static bool ever_affected( const work *w, int node )
{
    for ( int f = 0; f < w->stage->frame_count; ++f )
        if ( w->affected[(size_t)node * (size_t)w->stage->frame_count + (size_t)f] )
            return true;
    return false;
}

static void blend_prop( work *w, int prop )
{
    int node = w->stage->actor_count + prop;
    for ( int f = 0; f < w->stage->frame_count; ++f ) {
        rigid *place = &w->result->tracks[prop][f], *wanted = &w->places[prop][f];
        double share = share_at( w, node, f );
        if ( share > 0 )
            *place = ( rigid ){ q_slerp( place->rotation, wanted->rotation, share ),
                                v3_lerp( place->position, wanted->position, share ) };
    }
}

// Whoever a rule joins to somebody in a window is fitted again, too.
static bool spread_affected( work *w, tr_error *error )
{
    const tr_stage *stage = w->stage;
    int nodes = stage->actor_count + stage->prop_count;
    bool *now = tr_alloc( (size_t)nodes, sizeof( bool ) );
    for ( int f = 0; now != NULL && f < stage->frame_count; ++f ) {
        bool any = false;
        for ( int n = 0; n < nodes; ++n ) {
            now[n] = w->affected[(size_t)n * (size_t)stage->frame_count + (size_t)f];
            any = any || now[n];
        }
        if ( any )
            tr_stage_reach( stage, f, now );
        for ( int n = 0; n < nodes; ++n )
            w->affected[(size_t)n * (size_t)stage->frame_count + (size_t)f] = now[n];
    }
    bool ok = now != NULL || tr_error_memory( error );
    tr_free( now );
    return ok;
}

static bool fit_affected( work *w, tr_error *error )
{
    tr_cluster_fit_def def = tr_default_cluster_fit_def( w->stage, w->result, &w->graphs );
    def.affected = w->affected;
    tr_cluster_fitter *fitter = tr_cluster_fitter_create( &def, error );
    bool ok = fitter != NULL && tr_cluster_fitter_run( fitter, 0, w->stage->frame_count - 1, error );
    tr_cluster_fitter_destroy( fitter );
    return ok;
}

static bool fit_all( work *w, tr_error *error )
{
    const tr_stage *stage = w->stage;
    for ( int i = 0; i < stage->actor_count; ++i )
        if ( ever_affected( w, i ) && !aim_actor( w, i, error ) )
            return false;
    for ( int p = 0; p < stage->prop_count; ++p )
        if ( ever_affected( w, stage->actor_count + p ) )
            blend_prop( w, p );
    return spread_affected( w, error ) && fit_affected( w, error );
}

// -------------------------------------------------------------------------------------------------- method

static void work_free( work *w )
{
    for ( int i = 0; w->answers != NULL && i < w->windows.count; ++i )
        answer_free( &w->answers[i], w->windows.items[i].member_count );
    tr_imesh_windows_free( &w->windows );
    tr_graphs_free( &w->graphs );
    for ( int p = 0; w->places != NULL && p < w->stage->prop_count; ++p )
        tr_free( w->places[p] );
    tr_free( w->members );
    tr_free( w->affected );
    tr_free( w->said );
    tr_free( w->answers );
    tr_free( w->places );
}

static bool work_build( work *w, tr_error *error )
{
    const tr_stage *stage = w->stage;
    size_t actors = (size_t)stage->actor_count, props = (size_t)stage->prop_count,
           frames = (size_t)stage->frame_count, windows = (size_t)w->windows.count;
    w->affected = tr_alloc( ( actors + props ) * frames, sizeof( bool ) );
    w->said = tr_alloc( ( actors + props ) * frames, sizeof( double ) );
    w->answers = tr_alloc( windows, sizeof *w->answers );
    w->places = tr_alloc( props, sizeof( rigid * ) );
    bool ok = w->affected != NULL && w->said != NULL && w->answers != NULL && w->places != NULL;
    for ( size_t p = 0; ok && p < props; ++p )
        ok = ( w->places[p] = tr_alloc( frames, sizeof( rigid ) ) ) != NULL;
    if ( !ok )
        return tr_error_memory( error );
    if ( !tr_graphs_build( &w->graphs, stage, NULL, error ) )
        return false;
    for ( size_t i = 0; i < actors; ++i ) {
        tr_world_free( &w->graphs.worlds[i] );
        if ( !tr_world_build( &w->graphs.worlds[i], &w->result->motions[i], error ) )
            return false;
    }
    return true;
}

bool tr_solve_imesh( const tr_stage *stage, tr_result *result, tr_error *error )
{
    size_t members = (size_t)( stage->actor_count + stage->prop_count + stage->scene->obstacle_count );
    work w = { .stage = stage, .result = result, .members = tr_alloc( members, sizeof( tr_imesh_near ) ) };
    bool ok = ( w.members != NULL || tr_error_memory( error ) ) &&
              tr_solve_posegraph( stage, result, error ) && find_windows( &w, error );
    if ( ok && w.windows.count > 0 )
        ok = work_build( &w, error ) && solve_all( &w, error ) && fit_all( &w, error );
    work_free( &w );
    return ok;
}
