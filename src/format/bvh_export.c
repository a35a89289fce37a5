// Conversion from motion in metres with Y up to the channels of a BVH file; unedited values of an earlier
// file are kept.
#include "format/bvh.h"

#include <string.h>

typedef struct exporter {
    tr_bvh_def def;
    const tr_motion *motion;
    tr_bvh *out;
    const tr_bvh *like;   // or NULL
    tr_bvh_import import; // how `like` was read, resolved; else centimetres, Y up
    int *twins;           // [joint_count] the joint of `like` that has the same name, -1 when there is none
} exporter;

enum { JOINTS_PER_TASK = 4 };

static vec3 clip_translation( const exporter *e, int frame, int joint )
{
    const tr_clip *clip = &e->motion->clip;
    if ( joint == 0 )
        return clip->root[frame];
    return clip->translations != NULL
               ? clip->translations[(size_t)frame * (size_t)clip->joint_count + (size_t)joint]
               : e->motion->skeleton.joints[joint].offset;
}

// Rounds to a billionth of a degree or unit: files stay short, and no measurable detail is lost.
static double rounded( const exporter *e, double value )
{
    double decimals = e->def.decimals;
    double near = fabs( value ) < e->def.decimals_below ? nearbyint( value * decimals ) / decimals : value;
    return near + 0.0; // a zero without a sign
}

static vec3 to_file( const exporter *e, vec3 v ) // metres and Y up to units and axes of the file
{
    vec3 t = v3_scale( 1 / e->import.unit, tr_bvh_from_y_up( v, e->import.up ) );
    return v3( rounded( e, t.x ), rounded( e, t.y ), rounded( e, t.z ) );
}

static bool near_vector( const exporter *e, vec3 a, vec3 b )
{
    return v3_distance( a, b ) <= e->def.same * ( 1 + v3_length( a ) );
}

static bool near_rotation( const exporter *e, quat a, quat b )
{
    double s = q_dot( a, b ) < 0 ? -1 : 1, same = e->def.same;
    return fabs( a.x - s * b.x ) < same && fabs( a.y - s * b.y ) < same && fabs( a.z - s * b.z ) < same &&
           fabs( a.w - s * b.w ) < same;
}

// The row of `like` from which the frame was read, or NULL.
static const double *twin_row( const exporter *e, int frame )
{
    if ( e->like == NULL || e->import.first + frame > e->import.last )
        return NULL;
    return tr_bvh_row( e->like, e->import.first + frame );
}

static bool rotation_kept( const exporter *e, int frame, int joint )
{
    return e->twins[joint] >= 0 && twin_row( e, frame ) != NULL &&
           near_rotation( e, tr_clip_frame( &e->motion->clip, frame )[joint],
                          tr_bvh_rotation( e->like, &e->import, e->import.first + frame, e->twins[joint] ) );
}

static bool translation_kept( const exporter *e, int frame, int joint )
{
    return e->twins[joint] >= 0 && twin_row( e, frame ) != NULL &&
           near_vector( e, clip_translation( e, frame, joint ),
                        tr_bvh_translation( e->like, &e->import, e->import.first + frame, e->twins[joint] ) );
}

static void find_twins( const exporter *e )
{
    const tr_skeleton *ours = &e->motion->skeleton;
    for ( int j = 0; j < ours->joint_count; ++j ) {
        const char *name = ours->joints[j].name;
        e->twins[j] = -1;
        if ( e->like == NULL )
            continue;
        const tr_skeleton *theirs = &e->like->skeleton;
        bool same_place = j < theirs->joint_count && strcmp( theirs->joints[j].name, name ) == 0;
        e->twins[j] = same_place ? j : tr_skeleton_find( theirs, name );
    }
}

static bool convert_offsets( exporter *e, tr_error *error )
{
    tr_skeleton *skeleton = &e->out->skeleton;
    if ( !tr_skeleton_copy( skeleton, &e->motion->skeleton, error ) )
        return false;
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        tr_joint *joint = &skeleton->joints[j];
        joint->rest = q_identity;
        vec3 theirs = e->twins[j] >= 0 ? e->like->skeleton.joints[e->twins[j]].offset : v3_zero;
        if ( e->twins[j] >= 0 &&
             near_vector( e, joint->offset,
                          v3_scale( e->import.unit, tr_bvh_to_y_up( theirs, e->import.up ) ) ) )
            joint->offset = theirs;
        else
            joint->offset = to_file( e, joint->offset );
    }
    return true;
}

// ------------------------------------------------------------------------------------------------- layout

static const tr_bvh_layout positions_and_zxy = { .count = 6,
                                                 .channels = { TR_BVH_X_POSITION, TR_BVH_Y_POSITION,
                                                               TR_BVH_Z_POSITION, TR_BVH_Z_ROTATION,
                                                               TR_BVH_X_ROTATION, TR_BVH_Y_ROTATION } };
static const tr_bvh_layout zxy = { .count = 3,
                                   .channels = { TR_BVH_Z_ROTATION, TR_BVH_X_ROTATION, TR_BVH_Y_ROTATION } };

static void add_channels( tr_bvh_layout *layout, int first )
{
    for ( int channel = first; channel < first + 3; ++channel )
        if ( memchr( layout->channels, channel, layout->count ) == NULL )
            layout->channels[layout->count++] = (unsigned char)channel;
}

static int count_rotations( const tr_bvh_layout *layout )
{
    int count = 0;
    for ( int c = 0; c < layout->count; ++c )
        count += tr_bvh_is_rotation( layout->channels[c] );
    return count;
}

// The layout of the twin, with the channels it lacks if the motion needs them somewhere.
static tr_bvh_layout twin_layout( const exporter *e, int joint )
{
    tr_bvh_layout layout = e->like->layouts[e->twins[joint]];
    int rotations = count_rotations( &layout ), positions = layout.count - rotations;
    bool turn = false, move = false;
    for ( int f = 0; f < e->motion->clip.frame_count; ++f ) {
        turn = turn || ( rotations < 3 && !rotation_kept( e, f, joint ) );
        move = move || ( positions < 3 && !translation_kept( e, f, joint ) );
    }
    bool still = joint > 0 && e->motion->clip.translations == NULL; // a changed offset needs no channel
    if ( move && !still )
        add_channels( &layout, TR_BVH_X_POSITION );
    if ( turn )
        add_channels( &layout, TR_BVH_X_ROTATION );
    return layout;
}

static tr_bvh_layout choose_layout( const exporter *e, int joint )
{
    if ( e->motion->skeleton.joints[joint].end_site )
        return ( tr_bvh_layout ){ 0 };
    if ( e->twins[joint] >= 0 )
        return twin_layout( e, joint );
    return joint == 0 || e->motion->clip.translations != NULL ? positions_and_zxy : zxy;
}

static bool make_layouts( exporter *e, tr_error *error )
{
    tr_bvh *out = e->out;
    int joints = out->skeleton.joint_count;
    out->layouts = tr_alloc( (size_t)joints, sizeof( tr_bvh_layout ) );
    if ( out->layouts == NULL )
        return tr_error_memory( error );
    for ( int j = 0; j < joints; ++j ) {
        out->layouts[j] = choose_layout( e, j );
        out->layouts[j].first = out->channel_count;
        out->channel_count += out->layouts[j].count;
    }
    out->values = tr_alloc( (size_t)out->frame_count * (size_t)out->channel_count, sizeof( double ) );
    return out->values != NULL || tr_error_memory( error );
}

// ------------------------------------------------------------------------------------------------- values

// Degrees about one axis at this frame of `like`; 0 where it has no such frame or channel.
static double twin_angle( const exporter *e, int frame, int joint, char axis )
{
    if ( e->twins[joint] < 0 || twin_row( e, frame ) == NULL )
        return 0;
    const tr_bvh_layout *layout = &e->like->layouts[e->twins[joint]];
    for ( int c = 0; c < layout->count; ++c )
        if ( layout->channels[c] == TR_BVH_X_ROTATION + axis - 'x' )
            return twin_row( e, frame )[layout->first + c];
    return 0;
}

static void write_position( const exporter *e, int frame, int joint, double *row )
{
    const tr_bvh_layout *layout = &e->out->layouts[joint];
    bool kept = translation_kept( e, frame, joint );
    vec3 t = kept ? tr_bvh_local_translation( &e->like->layouts[e->twins[joint]], twin_row( e, frame ),
                                              e->like->skeleton.joints[e->twins[joint]].offset )
                  : to_file( e, clip_translation( e, frame, joint ) );
    for ( int c = 0; c < layout->count; ++c )
        if ( !tr_bvh_is_rotation( layout->channels[c] ) )
            row[layout->first + c] = *tr_bvh_component( &t, layout->channels[c] );
}

static void store_angles( const tr_bvh_layout *layout, const double degrees[3], double *row )
{
    int n = 0;
    for ( int c = 0; c < layout->count; ++c )
        if ( tr_bvh_is_rotation( layout->channels[c] ) )
            row[layout->first + c] = degrees[n++];
}

// Angles near which those of a frame are chosen: those of the frame before; at the first frame the file's.
static int hint_angles( const exporter *e, int frame, int joint, const double *row, char order[3],
                        double degrees[3] )
{
    const double *before = frame > 0 ? row - e->out->channel_count : row;
    int count = tr_bvh_rotation_channels( &e->out->layouts[joint], before, order, degrees );
    for ( int i = 0; i < count && frame == 0; ++i )
        degrees[i] = twin_angle( e, frame, joint, order[i] );
    return count;
}

static void write_rotation( const exporter *e, int frame, int joint, double *row )
{
    char order[3];
    double degrees[3], hint[3], angles[3];
    int count = hint_angles( e, frame, joint, row, order, degrees );
    if ( rotation_kept( e, frame, joint ) ) {
        for ( int i = 0; i < count; ++i )
            degrees[i] = twin_angle( e, frame, joint, order[i] );
    } else if ( count == 3 ) {
        for ( int i = 0; i < 3; ++i )
            hint[i] = degrees[i] * TR_DEGREE;
        quat q = tr_bvh_turn_from_y_up( tr_clip_frame( &e->motion->clip, frame )[joint], e->import.up );
        q_to_euler( q, order, hint, angles );
        for ( int i = 0; i < 3; ++i )
            degrees[i] = rounded( e, angles[i] / TR_DEGREE );
    }
    store_angles( &e->out->layouts[joint], degrees, row );
}

static void write_joints( void *context, int begin, int end )
{
    const exporter *e = context;
    for ( int j = begin; j < end; ++j )
        for ( int f = 0; f < e->out->frame_count; ++f ) {
            double *row = e->out->values + (size_t)f * (size_t)e->out->channel_count;
            write_position( e, f, j, row );
            write_rotation( e, f, j, row );
        }
}

static bool begin_export( exporter *e, const tr_bvh_import *like_import, tr_error *error )
{
    e->import = ( tr_bvh_import ){ .unit = 0.01, .up = 'y' };
    if ( e->like != NULL && !tr_bvh_resolve( e->like, like_import, &e->import, error ) )
        return false;
    double fps = e->motion->clip.fps;
    bool same_rate = e->like != NULL && tr_bvh_fps( e->like->frame_time ) == fps;
    *e->out = ( tr_bvh ){ .frame_count = e->motion->clip.frame_count,
                          .frame_time = same_rate ? e->like->frame_time : 1 / fps };
    e->twins = tr_alloc( (size_t)e->motion->skeleton.joint_count, sizeof( int ) );
    if ( e->twins == NULL )
        return tr_error_memory( error );
    find_twins( e );
    return true;
}

// Refuses motion that the reader would refuse.
static bool check_numbers( const tr_bvh *bvh, tr_error *error )
{
    for ( int j = 0; j < bvh->skeleton.joint_count; ++j ) {
        vec3 o = bvh->skeleton.joints[j].offset;
        if ( !( fmax( fabs( o.x ), fmax( fabs( o.y ), fabs( o.z ) ) ) <= TR_BVH_LARGEST ) )
            return tr_error_set( error, "%.100s is too far from the joint above for a motion file",
                                 bvh->skeleton.joints[j].name );
    }
    size_t channels = (size_t)bvh->channel_count;
    for ( size_t i = 0; i < (size_t)bvh->frame_count * channels; ++i )
        if ( !( fabs( bvh->values[i] ) <= TR_BVH_LARGEST ) )
            return tr_error_set( error, "frame %d is too far from the origin for a motion file",
                                 (int)( i / channels ) );
    return true;
}

bool tr_bvh_from_motion( tr_bvh *out, const tr_motion *motion, const tr_bvh *like,
                         const tr_bvh_import *like_import, tr_error *error )
{
    *out = ( tr_bvh ){ 0 };
    exporter e = { .def = tr_default_bvh_def(), .motion = motion, .out = out, .like = like };
    bool ok =
        begin_export( &e, like_import, error ) && convert_offsets( &e, error ) && make_layouts( &e, error );
    if ( ok )
        tr_parallel_for( motion->skeleton.joint_count, JOINTS_PER_TASK, write_joints, &e );
    ok = ok && check_numbers( out, error );
    if ( !ok )
        tr_bvh_free( out );
    tr_free( e.twins );
    return ok;
}
