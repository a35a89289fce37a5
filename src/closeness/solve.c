// The interaction-mesh method. Pose graphs first; then, wherever bodies, props and surroundings come close to
// each other in the source, the mesh of that window keeps their places relative to each other:
//
//   pose graphs ─► close pairs ─► windows ─► mesh of each window ─► aim skeletons ─► blend at its ends ─► fit
//   ─► turn hands to what they touched ─► fit ─► push out what is too deep ─► fit
// Windows are solved side by side. Where many are close to each other there are several windows of a few
// members each; a member of two at once gets the mean of both. Links and stances stay exact:
// they are rows of the mesh, and the last fit meets them.
#include "closeness/private.h"

// A hand that leans on something lies as it lay, with all that hangs on it: the last fit keeps it so. Its
// fingers too, wherever the mesh has their tips: else aiming at those would turn the hand away again.
static void keep_hands( const tr_actor *actor, int frame, tr_pose like, tr_pose out )
{
    const tr_skeleton *skeleton = &actor->target;
    for ( int i = 0; i < actor->footing_count; ++i ) {
        int hand = actor->footings[i].joint;
        double firm = actor->footings[i].strength[frame];
        if ( skeleton->joints[hand].role != TR_ROLE_HAND || firm <= 0 )
            continue;
        for ( int j = hand; j < skeleton->joint_count; ++j ) {
            if ( tr_extremity_carrier( skeleton, j ) != hand )
                continue;
            vec3 arm = v3_sub( out.positions[j], out.positions[hand] ),
                 as_before = v3_sub( like.positions[j], like.positions[hand] );
            out.positions[j] = v3_add( out.positions[hand], v3_lerp( arm, as_before, firm ) );
            out.rotations[j] = q_slerp( out.rotations[j], like.rotations[j], firm );
        }
    }
}

// rotations, positions [frames of the window * joints]
static bool read_actor( const tr_mesh_party *p, const tr_imesh *mesh, int member, quat *rotations,
                        vec3 *positions )
{
    const tr_mesh_work *w = p->work;
    const tr_actor *actor = &w->stage->actors[member];
    for ( int pass = 0; pass < 2; ++pass ) {
        for ( int f = 0; f < p->cast.frame_count; ++f ) {
            size_t first = (size_t)f * (size_t)actor->target.joint_count;
            tr_pose like = tr_world_pose( &w->result->worlds[member], p->window->first + f ),
                    out = { rotations + first, positions + first };
            if ( pass == 0 )
                tr_imesh_pose( mesh, p->place_of[member], f, like, out );
            else
                keep_hands( actor, p->window->first + f, like, out );
        }
        if ( pass == 0 && !tr_mesh_steady( p, member, rotations, positions ) )
            return false;
    }
    return true;
}

static bool read_mesh( const tr_mesh_party *p, const tr_imesh *mesh, tr_mesh_answer *out )
{
    const tr_mesh_work *w = p->work;
    size_t count = (size_t)p->window->member_count, frames = (size_t)p->cast.frame_count;
    out->rotations = tr_alloc( count, sizeof( quat * ) );
    out->positions = tr_alloc( count, sizeof( vec3 * ) );
    out->places = tr_alloc( count, sizeof( rigid * ) );
    if ( out->rotations == NULL || out->positions == NULL || out->places == NULL )
        return false;
    for ( size_t m = 0; m < count; ++m ) {
        int member = p->window->members[m], at = p->place_of[member];
        size_t joints =
            tr_mesh_is_actor( w->stage, member ) ? (size_t)w->stage->actors[member].target.joint_count : 0;
        out->rotations[m] = tr_alloc( frames * joints, sizeof( quat ) );
        out->positions[m] = tr_alloc( frames * joints, sizeof( vec3 ) );
        out->places[m] = tr_alloc( frames, sizeof( rigid ) );
        if ( out->rotations[m] == NULL || out->positions[m] == NULL || out->places[m] == NULL )
            return false;
        if ( tr_mesh_is_actor( w->stage, member ) ) {
            if ( !read_actor( p, mesh, member, out->rotations[m], out->positions[m] ) )
                return false;
            continue;
        }
        for ( int f = 0; f < p->cast.frame_count; ++f )
            out->places[m][f] = tr_imesh_box_place( mesh, at, f );
    }
    return true;
}

static void answer_free( tr_mesh_answer *a, int member_count )
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
    tr_mesh_work *w = context;
    for ( int i = begin; i < end; ++i ) {
        tr_mesh_party p = { .work = w, .window = &w->windows.items[i] };
        tr_mesh_answer *out = &w->answers[i];
        tr_imesh mesh = { 0 };
        bool ok = tr_mesh_party_build( &p ) || tr_error_memory( &out->error );
        ok = ok && tr_imesh_build( &mesh, &p.cast, &p.def, &out->error ) &&
             tr_imesh_solve( &mesh, &out->report.mesh, &out->error ) &&
             ( read_mesh( &p, &mesh, out ) || tr_error_memory( &out->error ) );
        out->report.bytes = ok ? tr_imesh_bytes( &mesh ) : 0;
        tr_imesh_free( &mesh );
        tr_mesh_party_free( &p );
        out->failed = !ok;
    }
}

// `said` is the sum of the weights so far.
static void add_pose( tr_pose to, tr_pose more, int joints, double said, double weight )
{
    double part = weight / ( said + weight );
    for ( int j = 0; j < joints; ++j ) {
        to.rotations[j] = q_slerp( to.rotations[j], more.rotations[j], part );
        to.positions[j] = v3_lerp( to.positions[j], more.positions[j], part );
    }
}

// Adds the poses of a member from one window after the other; a member of two at once gets the mean.
static void add_answer( tr_mesh_work *w, int window, int m )
{
    const tr_imesh_window *from = &w->windows.items[window];
    const tr_mesh_answer *a = &w->answers[window];
    int member = from->members[m], actors = w->stage->actor_count;
    for ( int f = from->first;
          f <= from->last && ( tr_mesh_is_actor( w->stage, member ) || tr_mesh_is_prop( w->stage, member ) );
          ++f ) {
        size_t cell = (size_t)member * (size_t)w->stage->frame_count + (size_t)f,
               at = (size_t)( f - from->first );
        double weight = tr_mesh_share( w, from, f ), said = w->said[cell];
        if ( tr_mesh_is_actor( w->stage, member ) ) {
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

static bool solve_all( tr_mesh_work *w, tr_error *error )
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

// Moves the reports of the windows, with their members, to the result.
static bool keep_reports( tr_mesh_work *w, tr_error *error )
{
    tr_result *result = w->result;
    result->meshed = true;
    result->meshes = tr_alloc( (size_t)w->windows.count, sizeof *result->meshes );
    if ( result->meshes == NULL )
        return tr_error_memory( error );
    for ( int i = 0; i < w->windows.count; ++i ) {
        tr_imesh_window *window = &w->windows.items[i];
        tr_mesh_report *report = &result->meshes[result->mesh_count++];
        *report = w->answers[i].report;
        report->members = window->members;
        report->member_count = window->member_count;
        report->first = window->first;
        report->last = window->last;
        window->members = NULL;
    }
    return true;
}

// -------------------------------------------------------------------------------------------------- method

void tr_mesh_work_free( tr_mesh_work *w )
{
    for ( int i = 0; w->answers != NULL && i < w->windows.count; ++i )
        answer_free( &w->answers[i], w->windows.items[i].member_count );
    tr_imesh_windows_free( &w->windows );
    tr_graphs_free( &w->graphs );
    for ( int p = 0; w->places != NULL && p < w->stage->prop_count; ++p )
        tr_free( w->places[p] );
    for ( int i = 0; w->lags != NULL && i < w->stage->actor_count; ++i )
        tr_free( w->lags[i] );
    tr_free( w->lags );
    tr_free( w->members );
    tr_free( w->affected );
    tr_free( w->said );
    tr_free( w->answers );
    tr_free( w->places );
}

bool tr_mesh_work_build( tr_mesh_work *w, tr_error *error )
{
    const tr_stage *stage = w->stage;
    size_t actors = (size_t)stage->actor_count, props = (size_t)stage->prop_count,
           frames = (size_t)stage->frame_count, windows = (size_t)w->windows.count;
    w->last = stage->frame_count - 1;
    w->affected = tr_alloc( ( actors + props ) * frames, sizeof( bool ) );
    w->said = tr_alloc( ( actors + props ) * frames, sizeof( double ) );
    w->answers = tr_alloc( windows, sizeof *w->answers );
    w->places = tr_alloc( props, sizeof( rigid * ) );
    w->lags = tr_alloc( actors, sizeof( vec3 * ) );
    bool ok =
        w->affected != NULL && w->said != NULL && w->answers != NULL && w->places != NULL && w->lags != NULL;
    for ( size_t p = 0; ok && p < props; ++p )
        ok = ( w->places[p] = tr_alloc( frames, sizeof( rigid ) ) ) != NULL;
    for ( size_t i = 0; ok && i < actors; ++i )
        ok = ( w->lags[i] = tr_alloc( (size_t)stage->actors[i].footing_count * frames, sizeof( vec3 ) ) ) !=
             NULL;
    if ( !ok )
        return tr_error_memory( error );
    if ( !tr_graphs_build( &w->graphs, stage, NULL, NULL, error ) )
        return false;
    for ( size_t i = 0; i < actors; ++i ) {
        tr_world_free( &w->graphs.worlds[i] );
        if ( !tr_world_build( &w->graphs.worlds[i], &w->result->motions[i], error ) )
            return false;
    }
    return true;
}

// Windows that need more than there is are refused before the first is solved: the band of a mesh holds the
// square of its points in every frame.
static bool has_memory( const tr_mesh_work *w, tr_error *error )
{
    double limit = (double)tr_memory_limit();
    for ( int i = 0; i < w->windows.count; ++i ) {
        const tr_imesh_window *window = &w->windows.items[i];
        double joints = 0, frames = window->last - window->first + 1;
        for ( int m = 0; m < window->member_count; ++m )
            if ( tr_mesh_is_actor( w->stage, window->members[m] ) )
                joints += w->stage->actors[window->members[m]].target.joint_count;
        double needed = w->def.band_bytes * frames * joints * joints;
        if ( needed > limit )
            return tr_error_path(
                error, NULL, "range",
                "an interaction mesh of %.0f frames of %.0f joints may need %.1f GB of "
                "memory, and %.1f GB may be used; take fewer frames, or allow more (--memory)",
                frames, joints, 1e-9 * needed, 1e-9 * limit );
    }
    return true;
}

bool tr_closeness_solve( const tr_stage *stage, tr_result *result, tr_error *error )
{
    tr_mesh_work w = { .def = tr_default_closeness_def(), .stage = stage, .result = result };
    bool ok = tr_mesh_find_windows( &w, error ) && has_memory( &w, error );
    if ( ok && w.windows.count > 0 )
        ok = tr_mesh_work_build( &w, error ) && solve_all( &w, error ) && tr_mesh_fit( &w, error ) &&
             tr_mesh_relieve( &w, error );
    ok = ok && keep_reports( &w, error );
    tr_mesh_work_free( &w );
    return ok;
}
