// Joins clips that follow one another on one character. At each seam the next clip is turned and moved on the
// ground to the end of the clip before. The difference in pose and velocity that remains decays over some
// frames on both sides (tr_clip_join). Feet are excluded, because a foot that stands would slide:
//
//   held frames:  the foot (or hand) rests on something in the clip of that frame, and stays where that clip
//   has it. A
//                 foot that rests at the end of the first clip and at the start of the second stays where it
//                 stood, and returns to its clip's path in the next swing. The second clip is moved so that
//                 such feet meet as well as possible. If they are too far apart, the foot takes a step.
//   other frames: with j(t) the joined motion and w(t) the path in held frames, e = w − j goes from stance to
//   stance on
//                 minimum-jerk curves with the slopes that it has at their ends.
//
// Inverse kinematics brings the foot to j + e. Rotations of feet are treated in the same way. If a leg is too
// short, the pelvis sinks.
#include "actor/actor.h"

#include <string.h>

typedef struct side { // a clip before it is joined
    tr_motion motion; // borrowed
    tr_world world;
    tr_contacts contacts;
} side;

typedef struct foot { // or hand
    tr_limb_chain chain;
    bool is_leg;
    bool moved;    // the window asks something of it
    vec3 *hips;    // [count] the chain's upper end in the joined clip, over the window
    rigid *joined; // [count] the foot there
    vec3 *shift;   // [count] e of its place
    vec3 *turn;    // [count] e of its rotation, as a rotation vector
} foot;

typedef struct seam_work {
    const tr_sequence *given;
    const tr_skeleton *skeleton;
    const tr_surface *surfaces; // [surface_count] what feet can rest on
    int surface_count;
    side a, b;
    tr_clip joined;
    int at;           // the frame both share
    int blend;        // frames on either side
    int first, count; // window of the joined clip in which feet are corrected
    foot *feet;       // [foot_count]
    int foot_count;
    bool *held;   // [count] of the foot at hand
    double *sink; // [2 * count] of the pelvis, and scratch
    vec3 *positions;
    quat *rotations; // a pose
} seam_work;

// Brings the foot of the second clip to where the first clip left it. Not a tr_stance: clips are joined
// before there is a stage.
typedef struct crossing {
    bool is_one;    // the foot stands through the seam
    bool steps;     // it stands on both sides, but too far apart
    int pivot;      // the joint that stays
    int until;      // last frame of it in the second clip
    vec3 from, to;  // the pivot in the second clip, and in the first
    quat tilt, yaw; // turn of the foot from the second motion to the first: tilt · yaw. The tilt fades over
                    // the blend
} crossing;

// ------------------------------------------------------------------------------------------------- stances

static bool build_side( const seam_work *w, side *s, const tr_clip *clip, tr_error *error )
{
    s->motion = ( tr_motion ){ *w->skeleton, *clip };
    return tr_world_build( &s->world, &s->motion, error ) &&
           tr_contacts_label(
               &s->contacts,
               &( tr_contact_scene ){ w->skeleton, &s->world, clip->fps, w->surfaces, w->surface_count },
               w->given->contacts, error );
}

static void free_side( side *s )
{
    tr_world_free( &s->world );
    tr_contacts_free( &s->contacts );
}

static bool covers( const seam_work *w, const tr_contact *contact, int joint, int frame )
{
    return contact->first <= frame && frame <= contact->last &&
           tr_extremity_carrier( w->skeleton, contact->joint ) == joint;
}

static bool rests( const seam_work *w, const side *s, int joint, int frame )
{
    for ( int c = 0; c < s->contacts.count; ++c )
        if ( covers( w, &s->contacts.items[c], joint, frame ) )
            return true;
    return false;
}

// The lowest joint fixed to the foot that rests in both frames; the foot itself if there is none.
static int find_pivot( const seam_work *w, int joint, int in_a, int in_b )
{
    int pivot = joint;
    const vec3 *places = tr_world_pose( &w->a.world, in_a ).positions;
    for ( int c = 0; c < w->a.contacts.count; ++c ) {
        const tr_contact *contact = &w->a.contacts.items[c];
        bool fixed = contact->joint == joint || w->skeleton->joints[contact->joint].parent == joint;
        if ( !fixed || !covers( w, contact, joint, in_a ) || places[contact->joint].y >= places[pivot].y )
            continue;
        for ( int d = 0; d < w->b.contacts.count; ++d )
            if ( w->b.contacts.items[d].joint == contact->joint &&
                 covers( w, &w->b.contacts.items[d], joint, in_b ) )
                pivot = contact->joint;
    }
    return pivot;
}

static crossing find_crossing( const seam_work *w, int joint )
{
    crossing s = { 0 };
    int slack = tr_frames_in( w->given->one_stance, w->joined.fps ), in_a = w->at, in_b = 0;
    while ( in_a > 0 && w->at - in_a < w->blend && !rests( w, &w->a, joint, in_a ) )
        in_a--;
    while ( in_b + 1 < w->b.world.frame_count && in_b < w->blend && !rests( w, &w->b, joint, in_b ) )
        in_b++;
    if ( !rests( w, &w->a, joint, in_a ) || !rests( w, &w->b, joint, in_b ) )
        return s;
    s.until = in_b;
    while ( s.until + 1 < w->b.world.frame_count && rests( w, &w->b, joint, s.until + 1 ) )
        s.until++;
    tr_pose a = tr_world_pose( &w->a.world, in_a ), b = tr_world_pose( &w->b.world, in_b );
    s.pivot = find_pivot( w, joint, in_a, in_b );
    s.to = a.positions[s.pivot];
    s.from = b.positions[s.pivot];
    q_swing_twist( q_mul( a.rotations[joint], q_conj( b.rotations[joint] ) ), v3_y, &s.tilt, &s.yaw );
    bool near = v3_length( v3_horizontal( v3_sub( s.to, s.from ) ) ) <=
                w->given->def->step * tr_skeleton_leg_length( w->skeleton );
    s.is_one = near && w->at - in_a <= slack && in_b <= slack;
    s.steps = !near && w->at - in_a + in_b < w->blend;
    return s;
}

// Moves the second clip on the ground so that the mean error of feet that stand through the seam is zero.
static void meet_feet( seam_work *w, tr_clip *b )
{
    vec3 sum = v3_zero;
    int count = 0;
    for ( int i = 0; i < w->foot_count; ++i ) {
        crossing s = find_crossing( w, w->feet[i].chain.end );
        if ( s.is_one ) {
            sum = v3_add( sum, v3_horizontal( v3_sub( s.to, s.from ) ) );
            count++;
        }
    }
    if ( count == 0 )
        return;
    vec3 move = v3_scale( 1.0 / count, sum );
    tr_clip_place( b, ( rigid ){ q_identity, move } );
    for ( size_t i = 0; i < (size_t)b->frame_count * (size_t)b->joint_count; ++i )
        w->b.world.positions[i] = v3_add( w->b.world.positions[i], move );
}

// ------------------------------------------------------------------------------------------------- targets

// Pose of a foot in the clip of a frame. `second`: the clip after the seam.
static rigid own_place( const seam_work *w, int joint, int frame, bool second )
{
    tr_pose pose = tr_world_pose( second ? &w->b.world : &w->a.world, second ? frame - w->at : frame );
    return ( rigid ){ pose.rotations[joint], pose.positions[joint] };
}

// The same in a stance that began before the seam: the foot turned and moved about what touches.
static rigid held_place( const seam_work *w, const crossing *s, int joint, int frame )
{
    rigid own = own_place( w, joint, frame, true );
    int since = frame - w->at;
    double tilted = 1.0 - smooth_step5( (double)since / w->blend );
    quat turn = q_mul( q_slerp( q_identity, s->tilt, tilted ), s->yaw );
    vec3 pivot = tr_world_pose( &w->b.world, since ).positions[s->pivot];
    vec3 place = v3_add( s->to, q_rotate( s->yaw, v3_sub( pivot, s->from ) ) );
    place.y = pivot.y + tilted * ( s->to.y - s->from.y );
    return ( rigid ){ q_mul( turn, own.rotation ),
                      v3_add( place, q_rotate( turn, v3_sub( own.position, pivot ) ) ) };
}

// Fills e in frames between held ones. It is zero at the ends of the window.
static void bridge( const seam_work *w, vec3 *e )
{
    int swing = tr_frames_in( w->given->def->swing, w->joined.fps ),
        longest = w->blend > swing ? w->blend : swing;
    for ( int i = 0; i < w->count; ++i ) {
        if ( w->held[i] )
            continue;
        int low = i - 1, high = i;
        while ( high < w->count && !w->held[high] )
            high++;
        vec3 before = low >= 0 ? e[low] : v3_zero, after = high < w->count ? e[high] : v3_zero;
        vec3 slope_before = low > 0 && w->held[low - 1] ? v3_sub( e[low], e[low - 1] ) : v3_zero;
        vec3 slope_after =
            high + 1 < w->count && w->held[high + 1] ? v3_sub( e[high], e[high + 1] ) : v3_zero;
        double length = high - low < longest ? high - low : longest;
        for ( ; i < high; ++i )
            e[i] = v3_add( v3_decay( before, slope_before, i - low, length ),
                           v3_decay( after, slope_after, high - i, length ) );
    }
}

// A foot that stands in two places leaves the first and lands in the second within the blend, on an arc.
static void take_step( seam_work *w, foot *f, const crossing *s )
{
    double height = w->given->def->step_height * v3_length( v3_horizontal( v3_sub( s->to, s->from ) ) );
    for ( int i = 0; i < w->count; ++i ) {
        double u = 0.5 + 0.5 * ( w->first + i - w->at ) / w->blend, v = 4 * u * ( 1 - u );
        if ( u > 0 && u < 1 )
            f->shift[i].y += height * v * v * v;
    }
}

static void find_targets( seam_work *w, foot *f )
{
    int joint = f->chain.end;
    crossing s = find_crossing( w, joint );
    for ( int i = 0; i < w->count; ++i ) {
        int frame = w->first + i, in_b = frame - w->at;
        bool lands = in_b == 0 && !rests( w, &w->a, joint, frame ) && rests( w, &w->b, joint, 0 );
        bool second = in_b > 0 || lands, through = s.is_one && second && in_b <= s.until;
        bool swings = s.steps && frame > w->at - w->blend && in_b < w->blend;
        w->held[i] =
            !swings &&
            ( through || ( second ? rests( w, &w->b, joint, in_b ) : rests( w, &w->a, joint, frame ) ) );
        rigid target = through ? held_place( w, &s, joint, frame ) : own_place( w, joint, frame, second );
        f->shift[i] = v3_sub( target.position, f->joined[i].position );
        f->turn[i] = q_to_vector( q_mul( target.rotation, q_conj( f->joined[i].rotation ) ) );
        f->moved = f->moved || w->held[i];
    }
    bridge( w, f->shift );
    bridge( w, f->turn );
    if ( s.steps )
        take_step( w, f, &s );
}

// --------------------------------------------------------------------------------------------------- reach

static double leg_length( const seam_work *w, const foot *f )
{
    double length = 0;
    for ( int j = f->chain.end; j != f->chain.root; j = w->skeleton->joints[j].parent )
        length += tr_bone_length( w->skeleton, j );
    return length;
}

// How far the hip of a leg has to sink for the foot to reach its place, if the foot is moved.
static double needed_sink( const tr_seam_def *def, const foot *f, int i, double length )
{
    vec3 goal = v3_add( f->joined[i].position, f->shift[i] ), hip = f->hips[i];
    double reach = fmax( def->stretch * length, v3_distance( f->joined[i].position, hip ) );
    vec3 level = v3_horizontal( v3_sub( goal, hip ) );
    double square = reach * reach - v3_dot( level, level );
    return clampd( hip.y - goal.y - sqrt( fmax( square, 0 ) ), 0, def->most_sink * length );
}

static void find_sink( seam_work *w )
{
    for ( int k = 0; k < w->foot_count; ++k ) {
        const foot *f = &w->feet[k];
        double length = leg_length( w, f );
        for ( int i = 0; f->is_leg && f->moved && i < w->count; ++i )
            w->sink[i] = fmax( w->sink[i], needed_sink( w->given->def, f, i, length ) );
    }
    tr_smooth_from_above( w->sink, w->count, w->blend / 2, true, w->sink + w->count );
}

// ----------------------------------------------------------------------------------------------- planting

// Last frame of a stance through the seam and of the swing after it.
static void find_window( seam_work *w )
{
    int last = w->at + w->blend, swing = tr_frames_in( w->given->def->swing, w->joined.fps );
    for ( int i = 0; i < w->foot_count; ++i ) {
        crossing s = find_crossing( w, w->feet[i].chain.end );
        int end = w->at + s.until + ( w->blend > swing ? w->blend : swing );
        if ( s.is_one && end > last )
            last = end;
    }
    w->first = w->at > w->blend ? w->at - w->blend : 0;
    w->count = ( last < w->joined.frame_count ? last + 1 : w->joined.frame_count ) - w->first;
}

static bool find_feet( seam_work *w )
{
    w->feet = tr_alloc( (size_t)w->skeleton->joint_count, sizeof( foot ) );
    for ( int j = 0; w->feet != NULL && j < w->skeleton->joint_count; ++j ) {
        tr_limb_chain chain;
        if ( !tr_role_is_extremity( w->skeleton->joints[j].role ) ||
             tr_extremity_carrier( w->skeleton, j ) != j || !tr_limb_chain_find( w->skeleton, j, &chain ) ||
             chain.end != j )
            continue;
        bool is_leg = w->skeleton->limbs[w->skeleton->joints[j].limb].kind == TR_LIMB_LEG;
        w->feet[w->foot_count++] = ( foot ){ .chain = chain, .is_leg = is_leg };
    }
    return w->feet != NULL;
}

static bool allocate_window( seam_work *w )
{
    size_t frames = (size_t)w->count, joints = (size_t)w->skeleton->joint_count;
    w->held = tr_alloc( frames, sizeof( bool ) );
    w->sink = tr_alloc( 2 * frames, sizeof( double ) );
    w->positions = tr_alloc( joints, sizeof( vec3 ) );
    w->rotations = tr_alloc( joints, sizeof( quat ) );
    bool ok = w->held != NULL && w->sink != NULL && w->positions != NULL && w->rotations != NULL;
    for ( int i = 0; ok && i < w->foot_count; ++i ) {
        foot *f = &w->feet[i];
        f->hips = tr_alloc( frames, sizeof( vec3 ) );
        f->joined = tr_alloc( frames, sizeof( rigid ) );
        f->shift = tr_alloc( frames, sizeof( vec3 ) );
        f->turn = tr_alloc( frames, sizeof( vec3 ) );
        ok = f->hips != NULL && f->joined != NULL && f->shift != NULL && f->turn != NULL;
    }
    return ok;
}

static void free_window( seam_work *w )
{
    for ( int i = 0; i < w->foot_count; ++i ) {
        tr_free( w->feet[i].hips );
        tr_free( w->feet[i].joined );
        tr_free( w->feet[i].shift );
        tr_free( w->feet[i].turn );
    }
    tr_free( w->feet );
    tr_free( w->held );
    tr_free( w->sink );
    tr_free( w->positions );
    tr_free( w->rotations );
}

// Brings feet to their places. When the pelvis sinks, the other feet stay where they are.
static void move_feet( seam_work *w, int i )
{
    const double rounding = 1e-9; // metres, radians: smaller corrections are none
    int frame = w->first + i;
    tr_pose pose = { w->rotations, w->positions };
    w->joined.root[frame].y -= w->sink[i];
    tr_forward( w->skeleton, &w->joined, frame, pose );
    for ( int k = 0; k < w->foot_count; ++k ) {
        const foot *f = &w->feet[k];
        bool asked =
            f->moved && ( v3_length( f->shift[i] ) > rounding || v3_length( f->turn[i] ) > rounding );
        vec3 shift = f->moved ? f->shift[i] : v3_zero, turn = f->moved ? f->turn[i] : v3_zero;
        if ( asked || ( f->is_leg && w->sink[i] > 0 ) )
            tr_ik_limb( w->skeleton, tr_clip_frame( &w->joined, frame ), pose, &f->chain,
                        v3_add( f->joined[i].position, shift ),
                        q_unit( q_mul( q_from_vector( turn ), f->joined[i].rotation ) ), w->given->ik );
    }
}

static bool plant( seam_work *w, tr_error *error )
{
    find_window( w );
    if ( !allocate_window( w ) )
        return tr_error_memory( error );
    for ( int i = 0; i < w->count; ++i ) {
        tr_pose pose = { w->rotations, w->positions };
        tr_forward( w->skeleton, &w->joined, w->first + i, pose );
        for ( int k = 0; k < w->foot_count; ++k ) {
            foot *f = &w->feet[k];
            f->hips[i] = pose.positions[f->chain.root];
            f->joined[i] = ( rigid ){ pose.rotations[f->chain.end], pose.positions[f->chain.end] };
        }
    }
    for ( int k = 0; k < w->foot_count; ++k )
        find_targets( w, &w->feet[k] );
    find_sink( w );
    for ( int i = 0; i < w->count; ++i )
        move_feet( w, i );
    return true;
}

// ------------------------------------------------------------------------------------------------ joining

// Splits the joined clip again; both parts have the shared frame.
static bool split( const seam_work *w, tr_clip *a, tr_clip *b, tr_error *error )
{
    tr_clip head, tail;
    if ( !tr_clip_slice( &head, &w->joined, 0, w->at, error ) )
        return false;
    if ( !tr_clip_slice( &tail, &w->joined, w->at, w->joined.frame_count - 1, error ) ) {
        tr_clip_free( &head );
        return false;
    }
    tr_clip_free( a );
    tr_clip_free( b );
    *a = head;
    *b = tail;
    return true;
}

static bool join_two( seam_work *w, tr_clip *a, tr_clip *b, tr_error *error )
{
    tr_clip_place( b, tr_clip_meeting( a, b ) );
    w->at = a->frame_count - 1;
    w->joined.fps = a->fps;
    bool ok = w->blend == 0 || ( build_side( w, &w->a, a, error ) && build_side( w, &w->b, b, error ) &&
                                 ( find_feet( w ) || tr_error_memory( error ) ) );
    if ( ok && w->blend > 0 )
        meet_feet( w, b );
    ok = ok && tr_clip_join( &w->joined, a, b, w->blend, error ) && ( w->blend == 0 || plant( w, error ) ) &&
         split( w, a, b, error );
    free_window( w );
    tr_clip_free( &w->joined );
    free_side( &w->a );
    free_side( &w->b );
    return ok;
}

static void append( tr_clip *out, int at, const tr_clip *clip )
{
    size_t joints = (size_t)clip->joint_count, frames = (size_t)clip->frame_count;
    memcpy( tr_clip_frame( out, at ), clip->rotations, frames * joints * sizeof( quat ) );
    memcpy( out->root + at, clip->root, frames * sizeof( vec3 ) );
    if ( out->translations != NULL )
        memcpy( out->translations + (size_t)at * joints, clip->translations,
                frames * joints * sizeof( vec3 ) );
}

bool tr_sequence_join( tr_clip *out, const tr_sequence *sequence, tr_error *error )
{
    *out = ( tr_clip ){ 0 };
    tr_clip *clips = sequence->clips;
    int count = sequence->count;
    double frames = clips[0].frame_count;
    for ( int i = 1; i < count; ++i ) {
        seam_work w = { .given = sequence,
                        .skeleton = sequence->skeleton,
                        .surfaces = sequence->surfaces,
                        .surface_count = sequence->surface_count,
                        .blend = sequence->blends[i] };
        if ( !join_two( &w, &clips[i - 1], &clips[i], error ) )
            return false;
        frames += clips[i].frame_count - 1;
    }
    if ( frames > TR_MAX_FRAMES )
        return tr_error_set( error, "together the clips have %.0f frames, more than %d", frames,
                             TR_MAX_FRAMES );
    if ( !tr_clip_alloc( out, tr_int_clamped( frames, 0, TR_MAX_FRAMES ), sequence->skeleton->joint_count,
                         clips[0].fps, clips[0].translations != NULL, error ) )
        return false;
    for ( int i = 0, at = 0; i < count; at += clips[i].frame_count - 1, ++i )
        append( out, at, &clips[i] );
    return true;
}

// ---------------------------------------------------------------------------------------------- skeletons

static const char *parent_name( const tr_skeleton *skeleton, int joint )
{
    int parent = skeleton->joints[joint].parent;
    return parent >= 0 ? skeleton->joints[parent].name : "";
}

// The joint of that name and parent, at the same place of the list if it can be.
static int find_like( const tr_skeleton *skeleton, const tr_skeleton *like, int joint )
{
    const char *name = like->joints[joint].name;
    if ( joint < skeleton->joint_count && strcmp( skeleton->joints[joint].name, name ) == 0 )
        return joint;
    return tr_skeleton_find( skeleton, name );
}

static bool find_order( const tr_skeleton *skeleton, const tr_skeleton *like, int *order,
                        const tr_seam_def *def, tr_error *error )
{
    double most = def->same_bone * tr_skeleton_height( like );
    if ( skeleton->joint_count != like->joint_count )
        return tr_error_set( error,
                             "its skeleton has %d joints, the source's has %d; clips that follow one another "
                             "need the same skeleton",
                             skeleton->joint_count, like->joint_count );
    for ( int j = 0; j < like->joint_count; ++j ) {
        const char *name = like->joints[j].name;
        order[j] = find_like( skeleton, like, j );
        if ( order[j] < 0 || strcmp( parent_name( skeleton, order[j] ), parent_name( like, j ) ) != 0 )
            return tr_error_set( error,
                                 order[j] < 0 ? "its skeleton has no joint \"%.96s\", which the source's has"
                                              : "its joint \"%.96s\" hangs on another one than the source's",
                                 name );
        double apart = v3_distance( skeleton->joints[order[j]].offset, like->joints[j].offset );
        if ( j > 0 && apart > most )
            return tr_error_set( error,
                                 "its joint \"%.96s\" is %.1f cm from where the source's skeleton has it; "
                                 "clips that follow one another need the same skeleton",
                                 name, 100 * apart );
    }
    return true;
}

static bool reorder( tr_clip *clip, const int *order, tr_error *error )
{
    tr_clip sorted;
    if ( !tr_clip_copy( &sorted, clip, error ) )
        return false;
    for ( int f = 0; f < clip->frame_count; ++f ) {
        size_t row = (size_t)f * (size_t)clip->joint_count;
        for ( int j = 0; j < clip->joint_count; ++j ) {
            sorted.rotations[row + (size_t)j] = clip->rotations[row + (size_t)order[j]];
            if ( clip->translations != NULL )
                sorted.translations[row + (size_t)j] = clip->translations[row + (size_t)order[j]];
        }
    }
    tr_clip_free( clip );
    *clip = sorted;
    return true;
}

bool tr_sequence_match( tr_motion *motion, const tr_skeleton *like, const tr_seam_def *def, tr_error *error )
{
    int *order = tr_alloc( (size_t)like->joint_count, sizeof( int ) );
    bool ok = ( order != NULL || tr_error_memory( error ) ) &&
              find_order( &motion->skeleton, like, order, def, error ) &&
              reorder( &motion->clip, order, error );
    tr_free( order );
    return ok;
}
