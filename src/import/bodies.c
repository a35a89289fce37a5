// Files of arrays as an import: bodies as skeletons, and one take.
#include "import/bodies.h"

#include <string.h>

// ------------------------------------------------------------------------------------------------- memory

void tr_places_free( tr_places *p )
{
    for ( int j = 0; p->names != NULL && j < p->joint_count; ++j )
        tr_free( p->names[j] );
    tr_free( p->title );
    tr_free( p->names );
    tr_free( p->parents );
    tr_free( p->places );
    *p = ( tr_places ){ 0 };
}

static void close_bodies( struct tr_import_file *base )
{
    tr_bodies_file *file = (tr_bodies_file *)base;
    for ( int i = 0; i < file->count; ++i ) {
        tr_free( file->titles[i] );
        tr_motion_free( &file->motions[i] );
    }
    for ( int i = 0; i < file->place_count; ++i )
        tr_places_free( &file->places[i] );
    tr_free( file->titles );
    tr_free( file->motions );
    tr_free( file->first );
    tr_free( file->places );
    tr_free( file->pose.rotations );
    tr_free( file->pose.positions );
    tr_free( file->local );
    tr_free( file->offset );
    tr_import_release( &file->base );
    tr_free( file );
}

tr_motion *tr_bodies_add( tr_bodies_file *file, const char *title )
{
    int room = file->capacity;
    char *copy = tr_string_copy( title != NULL ? title : "" );
    if ( copy == NULL ||
         !tr_array_reserve( (void **)&file->motions, &file->capacity, file->count + 1,
                            sizeof *file->motions ) ||
         !tr_array_reserve( (void **)&file->titles, &room, file->count + 1, sizeof *file->titles ) ) {
        tr_free( copy );
        return NULL;
    }
    file->titles[file->count] = copy;
    file->motions[file->count] = ( tr_motion ){ 0 };
    return &file->motions[file->count++];
}

tr_places *tr_places_add( tr_bodies_file *file )
{
    if ( !tr_array_reserve( (void **)&file->places, &file->place_capacity, file->place_count + 1,
                            sizeof *file->places ) )
        return NULL;
    file->places[file->place_count] = ( tr_places ){ 0 };
    return &file->places[file->place_count++];
}

bool tr_places_alloc( tr_places *p, int frames, int joints, tr_error *error )
{
    if ( joints > TR_MAX_JOINTS )
        return tr_error_set( error, "a body of it has %d joints; %d are the most", joints, TR_MAX_JOINTS );
    p->frame_count = frames;
    p->joint_count = joints;
    p->places = tr_alloc( (size_t)frames * (size_t)joints, sizeof( vec3 ) );
    return p->places != NULL || tr_error_memory( error );
}

// --------------------------------------------------------------------------------- places that are not seen

static bool is_seen( vec3 v )
{
    return v3_length( v ) < 1e9; // and no NaN
}

static vec3 *place_at( const tr_places *p, int frame, int joint )
{
    return &p->places[(size_t)frame * (size_t)p->joint_count + (size_t)joint];
}

// Fills gaps in one joint's way: straight between where it was seen. Returns in how many frames it was not.
static int fill_gaps( tr_places *p, int joint )
{
    int last = -1, filled = 0;
    for ( int f = 0; f < p->frame_count; ++f ) {
        if ( !is_seen( *place_at( p, f, joint ) ) )
            continue;
        vec3 to = *place_at( p, f, joint ), from = last >= 0 ? *place_at( p, last, joint ) : to;
        for ( int g = last + 1; g < f; ++g, ++filled )
            *place_at( p, g, joint ) =
                v3_lerp( from, to, last >= 0 ? (double)( g - last ) / ( f - last ) : 1 );
        last = f;
    }
    for ( int g = last + 1; last >= 0 && g < p->frame_count; ++g, ++filled )
        *place_at( p, g, joint ) = *place_at( p, last, joint );
    return last >= 0 ? filled : p->frame_count;
}

// Leaves a joint out; what hung on it hangs on the one above.
static void drop_joint( tr_places *p, int joint )
{
    int joints = p->joint_count, above = p->parents != NULL ? p->parents[joint] : -1;
    for ( int f = 0; f < p->frame_count; ++f )
        for ( int j = 0, to = 0; j < joints; ++j )
            if ( j != joint )
                p->places[(size_t)f * (size_t)( joints - 1 ) + (size_t)to++] = *place_at( p, f, j );
    if ( p->parents != NULL )
        for ( int j = 0, to = 0; j < joints; ++j ) {
            int parent = p->parents[j] == joint ? above : p->parents[j];
            if ( j != joint )
                p->parents[to++] = parent > joint ? parent - 1 : parent;
        }
    tr_free( p->names[joint] );
    memmove( &p->names[joint], &p->names[joint + 1], (size_t)( joints - 1 - joint ) * sizeof *p->names );
    p->joint_count--;
}

// Joints that are never seen go; gaps of others are filled. Called once with names alone, for lengths.
static bool complete( tr_places *p, tr_log *warnings, tr_error *error )
{
    for ( int j = p->joint_count - 1; j >= 0; --j ) {
        int missing = fill_gaps( p, j );
        if ( missing < p->frame_count ) {
            if ( missing > 0 )
                tr_log_add( warnings,
                            "joint \"%.60s\" is not seen in %d of %d frames; it moves straight there",
                            p->names[j], missing, p->frame_count );
            continue;
        }
        tr_log_add( warnings, "joint \"%.60s\" is never seen and left out", p->names[j] );
        drop_joint( p, j );
    }
    return p->joint_count >= 2 || tr_error_set( error, "fewer than two joints of a body are ever seen" );
}

// -------------------------------------------------------------------------------------------------- order

// Parents before children, one root. Where there are several, they hang on the first.
static bool sort_joints( tr_places *p, tr_log *warnings, tr_error *error )
{
    int joints = p->joint_count, root = -1, extra = 0, filled = 0;
    int *order = tr_alloc( (size_t)joints, sizeof( int ) ),
        *place = tr_alloc( (size_t)joints, sizeof( int ) );
    int *parents = tr_alloc( (size_t)joints, sizeof( int ) );
    char **names = tr_alloc( (size_t)joints, sizeof( char * ) );
    vec3 *row = tr_alloc( (size_t)joints, sizeof( vec3 ) );
    bool ok = order != NULL && place != NULL && parents != NULL && names != NULL && row != NULL;
    ok = ok || tr_error_memory( error );
    for ( int j = 0; ok && j < joints; ++j ) {
        place[j] = -1;
        if ( p->parents[j] < 0 && root < 0 )
            root = j;
        else if ( p->parents[j] < 0 ) {
            p->parents[j] = root;
            ++extra;
        }
    }
    if ( ok && root >= 0 ) {
        place[root] = 0;
        order[filled++] = root;
    }
    for ( bool more = ok; more; ) { // as many rounds as the tree is deep
        more = false;
        for ( int j = 0; j < joints; ++j )
            if ( place[j] < 0 && p->parents[j] >= 0 && place[p->parents[j]] >= 0 ) {
                place[j] = filled;
                order[filled++] = j;
                more = true;
            }
    }
    if ( ok && filled < joints )
        ok = tr_error_set(
            error, "joints of a body hang on each other in a ring; save the file with right parents" );
    if ( ok && extra > 0 )
        tr_log_add( warnings, "%d joints hang on nothing; they are taken to hang on \"%.60s\"", extra,
                    p->names[root] );
    for ( int i = 0; ok && i < joints; ++i ) {
        parents[i] = i > 0 ? place[p->parents[order[i]]] : -1;
        names[i] = p->names[order[i]];
    }
    for ( int f = 0; ok && f < p->frame_count; ++f ) {
        for ( int i = 0; i < joints; ++i )
            row[i] = *place_at( p, f, order[i] );
        memcpy( place_at( p, f, 0 ), row, (size_t)joints * sizeof *row );
    }
    if ( ok ) {
        memcpy( p->parents, parents, (size_t)joints * sizeof *parents );
        memcpy( p->names, names, (size_t)joints * sizeof *names );
    }
    tr_free( order );
    tr_free( place );
    tr_free( parents );
    tr_free( names );
    tr_free( row );
    return ok;
}

// ------------------------------------------------------------------------------------------- up and unit

typedef struct stand { // evidence of a file's bodies for its axes and unit
    vec3 upwards;      // summed over bodies and frames
    vec3 extent;       // the same, of all joints
    double stature;    // stature of the largest body, file units
    bool person;
} stand;

// A skeleton in file units and axes with the bones of a frame, to learn what is what.
static bool look_at( const tr_places *p, stand *s, tr_error *error )
{
    tr_skeleton skeleton = { 0 };
    bool ok = true;
    for ( int j = 0; ok && j < p->joint_count; ++j ) {
        int parent = p->parents[j];
        vec3 way = parent >= 0 ? v3_sub( *place_at( p, 0, j ), *place_at( p, 0, parent ) ) : v3_zero;
        ok = tr_skeleton_add( &skeleton, p->names[j], parent, way ) >= 0;
    }
    ok = ok ? tr_skeleton_name_apart( &skeleton, error ) && tr_skeleton_classify( &skeleton, error )
            : tr_error_memory( error );
    double tall = 0;
    for ( int f = 0; ok && f < p->frame_count; ++f ) {
        s->upwards = v3_add( s->upwards, tr_upwards( &skeleton, place_at( p, f, 0 ) ) );
        vec3 low = *place_at( p, f, 0 ), high = low;
        for ( int j = 0; j < p->joint_count; ++j ) {
            vec3 at = *place_at( p, f, j );
            low = v3( fmin( low.x, at.x ), fmin( low.y, at.y ), fmin( low.z, at.z ) );
            high = v3( fmax( high.x, at.x ), fmax( high.y, at.y ), fmax( high.z, at.z ) );
        }
        s->extent = v3_add( s->extent, v3_sub( high, low ) );
        tall = fmax( tall, fmax( high.x - low.x, fmax( high.y - low.y, high.z - low.z ) ) );
    }
    s->stature = fmax( s->stature, tall );
    s->person |= tr_skeleton_find_role( &skeleton, TR_ROLE_FOOT, TR_SIDE_LEFT, NULL, 0 ) > 0 &&
                 tr_skeleton_find_role( &skeleton, TR_ROLE_HAND, TR_SIDE_LEFT, NULL, 0 ) > 0;
    tr_skeleton_free( &skeleton );
    return ok;
}

// The turn that brings the file's upwards to +Y. Some programs let Y grow downwards, as in pictures.
static quat turn_up( const stand *s, char up, tr_log *warnings )
{
    vec3 v = up == 'y' ? v3_y : up == 'z' ? v3_z : s->upwards;
    double taller = tr_default_import_limits().taller;
    if ( v3_dot( v, v ) <= 0 )
        v = s->extent.z > taller * fmax( s->extent.x, s->extent.y ) ? v3_z : v3_y;
    if ( fabs( v.z ) > fabs( v.y ) && fabs( v.z ) > fabs( v.x ) )
        return q_axis_angle( v3_x, v.z > 0 ? -TR_PI / 2 : TR_PI / 2 );
    if ( fabs( v.x ) > fabs( v.y ) )
        return q_axis_angle( v3_z, v.x > 0 ? TR_PI / 2 : -TR_PI / 2 );
    if ( v.y < 0 )
        tr_log_add( warnings, "heads are below feet in it: Y is taken to point down" );
    return v.y < 0 ? q_axis_angle( v3_x, TR_PI ) : q_identity;
}

static bool fit_body( tr_bodies_file *file, const tr_places *p, tr_log *warnings, tr_error *error )
{
    tr_points points = {
        (const char *const *)p->names, p->parents, p->places, p->joint_count, p->frame_count, file->fps };
    tr_points_fit fit;
    tr_motion *motion = tr_bodies_add( file, p->title );
    if ( motion == NULL )
        return tr_error_memory( error );
    if ( !tr_motion_from_points( motion, &points, NULL, &fit, error ) )
        return false;
    double height = tr_skeleton_height( &motion->skeleton );
    if ( fit.mean > tr_default_import_limits().bone_change * height )
        tr_log_add(
            warnings,
            "bones change their lengths: with lengths that stay, joints%s%.60s are %.1f cm off on average, "
            "\"%.60s\" %.1f cm in frame %d",
            p->title != NULL && p->title[0] != 0 ? " of " : "", p->title != NULL ? p->title : "",
            100 * fit.mean, p->names[fit.joint], 100 * fit.most, fit.frame );
    return true;
}

bool tr_places_to_motions( tr_bodies_file *file, const tr_import_def *def, tr_log *warnings, tr_error *error )
{
    stand s = { 0 };
    for ( int i = 0; i < file->place_count; ++i ) {
        tr_places *p = &file->places[i];
        if ( !tr_places_name( p, i == 0 ? warnings : NULL, error ) || !complete( p, warnings, error ) ||
             !sort_joints( p, warnings, error ) || !look_at( p, &s, error ) || !tr_work_go_on( error ) )
            return false;
    }
    quat turn = turn_up( &s, def->up, warnings );
    double unit = def->unit > 0 ? def->unit : tr_unit_of_size( s.stature, s.person );
    for ( int i = 0; i < file->place_count; ++i ) {
        tr_places *p = &file->places[i];
        for ( size_t k = 0; k < (size_t)p->joint_count * (size_t)p->frame_count; ++k )
            p->places[k] = q_rotate( turn, v3_scale( unit, p->places[k] ) );
        if ( !fit_body( file, p, warnings, error ) )
            return false;
        tr_free( p->places );
        p->places = NULL;
    }
    return true;
}

// ----------------------------------------------------------------------------------------------- sampling

static void rest_of_body( const tr_motion *motion, tr_bodies_file *file )
{
    tr_forward_rest( &motion->skeleton, file->pose );
}

// Between frames rotations take the shorter way, and places move on a line.
static void pose_body( const tr_motion *motion, double time, tr_bodies_file *file )
{
    const tr_clip *clip = &motion->clip;
    const tr_skeleton *skeleton = &motion->skeleton;
    const double whole = 1e-6; // share of a frame: key times are rounded
    double at = clampd( time * clip->fps, 0, clip->frame_count - 1 ), low = floor( at + whole );
    int f = tr_int_clamped( low, 0, clip->frame_count - 1 );
    double t = at - low < whole ? 0 : at - low;
    int next = t > 0 && f + 1 < clip->frame_count ? f + 1 : f;
    size_t joints = (size_t)clip->joint_count;
    tr_pose pose = file->pose;
    for ( int j = 0; j < clip->joint_count; ++j ) {
        int parent = skeleton->joints[j].parent;
        quat a = tr_clip_frame( clip, f )[j],
             local = t > 0 ? q_slerp( a, tr_clip_frame( clip, next )[j], t ) : a;
        vec3 offset = skeleton->joints[j].offset;
        if ( j == 0 )
            offset = v3_lerp( clip->root[f], clip->root[next], t );
        else if ( clip->translations != NULL )
            offset = v3_lerp( clip->translations[(size_t)f * joints + (size_t)j],
                              clip->translations[(size_t)next * joints + (size_t)j], t );
        quat above = parent >= 0 ? pose.rotations[parent] : q_identity;
        vec3 base = parent >= 0 ? pose.positions[parent] : v3_zero;
        pose.rotations[j] = q_unit( q_mul( above, local ) );
        pose.positions[j] = v3_add( base, q_rotate( above, offset ) );
    }
}

static bool sample_bodies( struct tr_import_file *base, int take, double time, tr_affine *world,
                           tr_error *error )
{
    tr_bodies_file *file = (tr_bodies_file *)base;
    (void)error;
    for ( int i = 0; i < file->count; ++i ) {
        if ( take < 0 )
            rest_of_body( &file->motions[i], file );
        else
            pose_body( &file->motions[i], time, file );
        world[file->first[i] - 1] = tr_affine_identity;
        for ( int j = 0; j < file->motions[i].skeleton.joint_count; ++j )
            world[file->first[i] + j] =
                ( tr_affine ){ m3_from_quat( file->pose.rotations[j] ), file->pose.positions[j] };
    }
    return true;
}

static bool bodies_move( const struct tr_import_file *base, int take, int node )
{
    (void)take;
    return base->nodes[node].joint;
}

// A node for each body, and below it those of its joints.
static bool build_nodes( tr_bodies_file *file, tr_error *error )
{
    int count = 0, most = 0;
    file->first = tr_alloc( (size_t)file->count, sizeof( int ) );
    for ( int i = 0; i < file->count; ++i ) {
        int joints = file->motions[i].skeleton.joint_count;
        count += joints + 1;
        most = joints > most ? joints : most;
    }
    file->pose =
        ( tr_pose ){ tr_alloc( (size_t)most, sizeof( quat ) ), tr_alloc( (size_t)most, sizeof( vec3 ) ) };
    if ( file->first == NULL || file->pose.rotations == NULL || file->pose.positions == NULL )
        return tr_error_memory( error );
    if ( !tr_import_alloc( &file->base, count, error ) )
        return false;
    for ( int i = 0, n = 0; i < file->count; ++i ) {
        const tr_skeleton *skeleton = &file->motions[i].skeleton;
        file->base.nodes[n++].name = file->titles[i];
        file->first[i] = n;
        for ( int j = 0; j < skeleton->joint_count; ++j, ++n ) {
            tr_import_node *node = &file->base.nodes[n];
            node->name = skeleton->joints[j].name;
            node->parent = j > 0 ? file->first[i] + skeleton->joints[j].parent : file->first[i] - 1;
            node->joint = node->animated = true;
            tr_set_join( file->base.set, file->first[i], n );
        }
    }
    file->base.work = 4 * (size_t)count;
    return true;
}

static bool read_arrays( tr_bodies_file *file, const tr_import_source *source, tr_log *warnings,
                         tr_error *error )
{
    tr_arrays arrays;
    bool own = false, smpl = false;
    if ( !tr_arrays_parse( &arrays, source->data, source->size, error ) )
        return false;
    bool ok = tr_read_own_arrays( file, &arrays, &own, error ) &&
              ( own || tr_read_smpl( file, &arrays, source->def, &smpl, warnings, error ) ) &&
              ( own || smpl || tr_read_place_arrays( file, &arrays, warnings, error ) );
    tr_arrays_free( &arrays );
    return ok;
}

bool tr_bodies_open( tr_import *out, const tr_import_source *source, const char *format, tr_log *warnings,
                     tr_error *error )
{
    tr_bodies_file *file = tr_alloc( 1, sizeof *file );
    if ( file == NULL )
        return tr_error_memory( error );
    out->format = format;
    out->file = &file->base;
    file->base.sample = sample_bodies;
    file->base.moves = bodies_move;
    file->base.close = close_bodies;
    file->base.bytes = source->size;
    file->base.placement = tr_affine_identity;
    bool table = strcmp( format, "CSV" ) == 0;
    if ( !( table ? tr_read_place_table( file, source->data, source->size, error )
                  : read_arrays( file, source, warnings, error ) ) )
        return false;
    double rate = source->def->rate;
    if ( file->place_count > 0 ) {
        if ( rate > 0 )
            file->fps = rate;
        else if ( file->fps <= 0 ) {
            file->fps = 30;
            tr_log_add( warnings,
                        "it does not say how many frames a second it has; 30 are assumed (source.rate in a "
                        "scene, --rate of convert)" );
        }
        if ( !tr_places_to_motions( file, source->def, warnings, error ) )
            return false;
    }
    double seconds = 0, fps = 0;
    for ( int i = 0; i < file->count; ++i ) {
        const tr_clip *clip = &file->motions[i].clip;
        seconds = fmax( seconds, ( clip->frame_count - 1 ) / clip->fps );
        fps = fmax( fps, clip->fps );
    }
    return build_nodes( file, error ) && tr_import_add_take( out, "motion", 0, seconds, fps, error ) &&
           tr_import_find_skeletons( out, true, error );
}
