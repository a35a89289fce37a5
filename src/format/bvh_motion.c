// Conversion from the channels of a BVH file to motion in metres with Y up.
#include "format/bvh.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

tr_bvh_import tr_default_bvh_import( void )
{
    return ( tr_bvh_import ){ .unit = 0, .up = 0, .first = 0, .last = -1 };
}

vec3 tr_bvh_to_y_up( vec3 v, char up )
{
    return up == 'z' ? v3( v.x, v.z, -v.y ) : v;
}

vec3 tr_bvh_from_y_up( vec3 v, char up )
{
    return up == 'z' ? v3( v.x, -v.z, v.y ) : v;
}

static quat turn_to_y_up( quat q, char up )
{
    return up == 'z' ? ( quat ){ q.x, q.z, -q.y, q.w } : q;
}

quat tr_bvh_turn_from_y_up( quat q, char up )
{
    return up == 'z' ? ( quat ){ q.x, -q.z, q.y, q.w } : q;
}

// 0.0083333 seconds mean 120 frames per second; 23.976 and 29.97 are a thousandth off and stay.
double tr_bvh_fps( double frame_time )
{
    tr_bvh_def def = tr_default_bvh_def();
    double fps = 1.0 / frame_time, whole = nearbyint( fps );
    return whole > 0 && fabs( fps - whole ) < def.whole_rate * whole ? whole : fps;
}

// ----------------------------------------------------------------------------------- one joint, one frame

bool tr_bvh_is_rotation( int channel )
{
    return channel >= TR_BVH_X_ROTATION;
}

int tr_bvh_rotation_channels( const tr_bvh_layout *layout, const double *row, char order[3],
                              double degrees[3] )
{
    int count = 0;
    for ( int c = 0; c < layout->count; ++c )
        if ( tr_bvh_is_rotation( layout->channels[c] ) ) {
            order[count] = (char)( 'x' + layout->channels[c] - TR_BVH_X_ROTATION );
            degrees[count++] = row[layout->first + c];
        }
    return count;
}

quat tr_bvh_local_rotation( const tr_bvh_layout *layout, const double *row )
{
    char order[3];
    double degrees[3];
    int count = tr_bvh_rotation_channels( layout, row, order, degrees );
    quat q = q_identity;
    for ( int i = 0; i < count; ++i ) {
        vec3 axis = order[i] == 'x' ? v3_x : order[i] == 'y' ? v3_y : v3_z;
        q = q_mul( q, q_axis_angle( axis, degrees[i] * TR_DEGREE ) );
    }
    return q;
}

double *tr_bvh_component( vec3 *v, int axis )
{
    return axis == 0 ? &v->x : axis == 1 ? &v->y : &v->z;
}

vec3 tr_bvh_local_translation( const tr_bvh_layout *layout, const double *row, vec3 offset )
{
    for ( int c = 0; c < layout->count; ++c )
        if ( !tr_bvh_is_rotation( layout->channels[c] ) )
            *tr_bvh_component( &offset, layout->channels[c] ) = row[layout->first + c];
    return offset;
}

const double *tr_bvh_row( const tr_bvh *bvh, int frame )
{
    return bvh->values + (size_t)frame * (size_t)bvh->channel_count;
}

quat tr_bvh_rotation( const tr_bvh *bvh, const tr_bvh_import *import, int frame, int joint )
{
    return turn_to_y_up( tr_bvh_local_rotation( &bvh->layouts[joint], tr_bvh_row( bvh, frame ) ),
                         import->up );
}

vec3 tr_bvh_translation( const tr_bvh *bvh, const tr_bvh_import *import, int frame, int joint )
{
    vec3 t = tr_bvh_local_translation( &bvh->layouts[joint], tr_bvh_row( bvh, frame ),
                                       bvh->skeleton.joints[joint].offset );
    return v3_scale( import->unit, tr_bvh_to_y_up( t, import->up ) );
}

// ----------------------------------------------------------------------------------------- file to motion

bool tr_bvh_resolve( const tr_bvh *bvh, const tr_bvh_import *wanted, tr_bvh_import *out, tr_error *error )
{
    *out = wanted != NULL ? *wanted : tr_default_bvh_import();
    assert( out->unit >= 0 && ( out->up == 0 || out->up == 'y' || out->up == 'z' ) );
    const char *how;
    if ( !tr_bvh_try_guess( bvh, out, &how ) )
        return tr_error_memory( error );
    if ( out->last < 0 )
        out->last = bvh->frame_count - 1;
    if ( out->first < 0 || out->first > out->last || out->last >= bvh->frame_count )
        return tr_error_set( error, "frames %d to %d are not in the file, which has 0 to %d", out->first,
                             out->last, bvh->frame_count - 1 );
    return true;
}

static bool has_position( const tr_bvh_layout *layout )
{
    for ( int c = 0; c < layout->count; ++c )
        if ( !tr_bvh_is_rotation( layout->channels[c] ) )
            return true;
    return false;
}

static bool same_vector( vec3 a, vec3 b )
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// Whether a joint other than the root ever leaves its offset. Many files have position channels that repeat
// the offset.
static bool has_translations( const tr_bvh *bvh, const tr_bvh_import *import )
{
    for ( int j = 1; j < bvh->skeleton.joint_count; ++j ) {
        vec3 offset = bvh->skeleton.joints[j].offset;
        if ( !has_position( &bvh->layouts[j] ) )
            continue;
        for ( int f = import->first; f <= import->last; ++f )
            if ( !same_vector( tr_bvh_local_translation( &bvh->layouts[j], tr_bvh_row( bvh, f ), offset ),
                               offset ) )
                return true;
    }
    return false;
}

static bool convert_skeleton( tr_skeleton *out, const tr_skeleton *in, const tr_bvh_import *import,
                              tr_error *error )
{
    if ( !tr_skeleton_copy( out, in, error ) )
        return false;
    for ( int j = 0; j < out->joint_count; ++j )
        out->joints[j].offset = v3_scale( import->unit, tr_bvh_to_y_up( in->joints[j].offset, import->up ) );
    return tr_skeleton_classify( out, error );
}

typedef struct conversion {
    const tr_bvh *bvh;
    const tr_bvh_import *import;
    tr_clip *clip;
} conversion;

static void convert_frames( void *context, int begin, int end )
{
    const conversion *c = context;
    int joints = c->clip->joint_count;
    for ( int f = begin; f < end; ++f ) {
        int from = c->import->first + f;
        quat *rotations = tr_clip_frame( c->clip, f );
        c->clip->root[f] = tr_bvh_translation( c->bvh, c->import, from, 0 );
        for ( int j = 0; j < joints; ++j )
            rotations[j] = tr_bvh_rotation( c->bvh, c->import, from, j );
        if ( c->clip->translations != NULL )
            for ( int j = 0; j < joints; ++j )
                c->clip->translations[(size_t)f * (size_t)joints + (size_t)j] =
                    tr_bvh_translation( c->bvh, c->import, from, j );
    }
}

// Joints without channels take memory in every frame, but none in the file: limits the ratio of the two.
enum { MANY_CELLS = 1 << 22, CELLS_PER_VALUE = 16, FRAMES_PER_TASK = 64 };

static bool check_size( const tr_bvh *bvh, int frames, tr_error *error )
{
    size_t cells = (size_t)frames * (size_t)bvh->skeleton.joint_count;
    size_t values = (size_t)frames * (size_t)bvh->channel_count;
    if ( cells > MANY_CELLS && cells > CELLS_PER_VALUE * values )
        return tr_error_set( error,
                             "%d frames of %d joints with only %d channels are too many; remove joints that "
                             "never move",
                             frames, bvh->skeleton.joint_count, bvh->channel_count );
    return true;
}

bool tr_bvh_to_motion( tr_motion *out, const tr_bvh *bvh, const tr_bvh_import *wanted, tr_error *error )
{
    tr_bvh_import import;
    *out = ( tr_motion ){ 0 };
    if ( !tr_bvh_resolve( bvh, wanted, &import, error ) )
        return false;
    int frames = import.last - import.first + 1;
    if ( !check_size( bvh, frames, error ) )
        return false;
    if ( !convert_skeleton( &out->skeleton, &bvh->skeleton, &import, error ) ||
         !tr_clip_alloc( &out->clip, frames, bvh->skeleton.joint_count, tr_bvh_fps( bvh->frame_time ),
                         has_translations( bvh, &import ), error ) ) {
        tr_motion_free( out );
        return false;
    }
    conversion c = { bvh, &import, &out->clip };
    tr_parallel_for( frames, FRAMES_PER_TASK, convert_frames, &c );
    return true;
}

// --------------------------------------------------------------------------------------- both in one step

bool tr_motion_load( tr_motion *out, const char *path, const tr_bvh_import *import, tr_log *warnings,
                     tr_error *error )
{
    tr_bvh bvh;
    *out = ( tr_motion ){ 0 };
    if ( !tr_bvh_load( &bvh, path, warnings, error ) )
        return false;
    bool ok = tr_bvh_to_motion( out, &bvh, import, error );
    if ( !ok && error != NULL && error->file[0] == 0 )
        snprintf( error->file, sizeof error->file, "%s", path );
    tr_bvh_free( &bvh );
    return ok;
}

bool tr_motion_save( const tr_motion *motion, const char *path, tr_error *error )
{
    tr_bvh bvh;
    bool ok = tr_bvh_from_motion( &bvh, motion, NULL, NULL, error ) && tr_bvh_save( &bvh, path, error );
    tr_bvh_free( &bvh );
    return ok;
}
