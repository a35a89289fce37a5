// The interface of the skeleton fit: defs, memory, checks and the parallel loop over frames.
#include "fit/private.h"

#include <assert.h>
#include <limits.h>

tr_fit_goal tr_fit_position( int joint, vec3 place )
{
    return ( tr_fit_goal ){ .kind = TR_FIT_POSITION,
                            .joint = joint,
                            .axes = TR_FIT_XYZ,
                            .place = place,
                            .rotation = q_identity,
                            .hard = true,
                            .ease = 1,
                            .force = 1 };
}

tr_fit_goal tr_fit_rotation( int joint, quat rotation )
{
    return ( tr_fit_goal ){ .kind = TR_FIT_ROTATION,
                            .joint = joint,
                            .axes = TR_FIT_XYZ,
                            .rotation = rotation,
                            .hard = true,
                            .ease = 1,
                            .force = 1 };
}

tr_fit_def tr_default_fit_def( void )
{
    return ( tr_fit_def ){
        .stiffness = { [TR_ROLE_OTHER] = 4,
                       [TR_ROLE_ROOT] = 100,
                       [TR_ROLE_SPINE] = 60,
                       [TR_ROLE_NECK] = 10,
                       [TR_ROLE_HEAD] = 10,
                       [TR_ROLE_CLAVICLE] = 20,
                       [TR_ROLE_UPPER_ARM] = 1,
                       [TR_ROLE_FOREARM] = 1,
                       [TR_ROLE_HAND] = 1,
                       [TR_ROLE_FINGER] = 2,
                       [TR_ROLE_THIGH] = 1,
                       [TR_ROLE_SHIN] = 1,
                       [TR_ROLE_FOOT] = 1,
                       [TR_ROLE_TOE] = 2,
                       [TR_ROLE_TAIL] = 2,
                       [TR_ROLE_EAR] = 4 },
        .root_stiffness = 200,
        .hinge = 100,
        .stop = 1000,
        .taut = 15,
        .slack = 0.5,
        .twist = 2,
        .pull = 400,
        .priority_ratio = 10,
        .softness = 1e-3,
        .arm = 0.5,
        .tolerance = 1e-5,
        .max_iterations = 60,
        .reference = 1e-3,
        .straight = 0.06,
        .plane_onset = 0.01,
        .least_toes = 0.1,
        .folded = 2.7,
        .most_hint = 1.2,
        .hint_slack = 0.1,
        .bent_back = 0.005,
        .steps = { .longest = 0.8,
                   .known = 1.0,
                   .shrink = 0.25,
                   .ending = 0.1,
                   .sharp = 0.05,
                   .nearer = 0.25,
                   .kept_bend = 0.2,
                   .overstretch = 0.01,
                   .least_pivot = 1e-5,
                   .convex_pivot = 0.01,
                   .raise = 0.1,
                   .most_raises = 200 },
    };
}

tr_fit_def tr_preview_fit_def( void )
{
    tr_fit_def def = tr_default_fit_def();
    def.tolerance = 2e-3;
    def.max_iterations = 20; // most frames need three; the few that need more are far off without them
    return def;
}

// --------------------------------------------------------------------------------------------- building

static bool check_def( const tr_fit_def *def, tr_error *error )
{
    for ( int r = 0; r < TR_ROLE_COUNT; ++r )
        if ( !( def->stiffness[r] > 0 ) )
            return tr_error_set( error, "the fit's stiffness of role %d must be positive", r );
    if ( !( def->root_stiffness > 0 ) )
        return tr_error_set( error, "the fit's root stiffness must be positive" );
    if ( !( def->hinge >= 0 && def->hinge < 1e9 && def->stop >= 0 && def->stop < 1e9 && def->twist > 0 &&
            def->twist < 1e9 ) )
        return tr_error_set( error, "the fit's hinge, stop and twist must be positive and below 1e9" );
    if ( !( def->taut >= 0 && def->taut < 1e9 && def->slack > 0 && def->slack < 4 ) )
        return tr_error_set( error, "the fit's taut must be below 1e9, its slack an angle" );
    if ( !( def->pull > 0 && def->pull <= 1e6 && def->priority_ratio >= 1 && def->priority_ratio <= 100 ) )
        return tr_error_set( error, "the fit's pull must be in (0, 1e6], its priority ratio in [1, 100]" );
    if ( !( def->softness > 0 && def->softness < 1e6 && def->arm > 0 && def->arm < 1e6 ) )
        return tr_error_set( error, "the fit's softness and arm must be positive lengths" );
    if ( !( def->tolerance >= 0 ) || def->max_iterations < 1 )
        return tr_error_set( error, "the fit needs a tolerance and at least one iteration" );
    return true;
}

static void measure( tr_fit *fit, vec3 *along /* [joint_count] x: length, y: joints from the root */ )
{
    double longest = 0;
    for ( int j = 0; j < fit->skeleton->joint_count; ++j ) {
        int parent = fit->skeleton->joints[j].parent;
        along[j] = parent < 0
                       ? v3( 0, 1, 0 )
                       : v3( along[parent].x + tr_bone_length( fit->skeleton, j ), along[parent].y + 1, 0 );
        longest = fmax( longest, along[j].x );
        fit->depth = along[j].y > fit->depth ? tr_int_clamped( along[j].y, 0, TR_MAX_JOINTS ) : fit->depth;
    }
    const double none = 1e-6; // metres: all joints are at one place, up to rounding
    fit->size = longest > none ? 0.5 * longest : 1.0;
}

bool tr_fit_build( tr_fit *out, const tr_skeleton *skeleton, const tr_fit_def *def, tr_error *error )
{
    *out = ( tr_fit ){ .skeleton = skeleton, .def = *def };
    if ( !tr_skeleton_check( skeleton, error ) || !check_def( def, error ) )
        return false;
    size_t n = (size_t)skeleton->joint_count;
    tr_pose rest = { tr_alloc( n, sizeof( quat ) ), tr_alloc( n, sizeof( vec3 ) ) };
    out->limbs = tr_alloc( n, sizeof( tr_fit_limb ) );
    bool ok = rest.rotations != NULL && rest.positions != NULL && out->limbs != NULL;
    if ( ok ) {
        measure( out, rest.positions );
        tr_forward_rest( skeleton, rest );
        tr_fit_limbs_build( out, rest );
    }
    tr_free( rest.rotations );
    tr_free( rest.positions );
    if ( ok )
        return true;
    tr_fit_free( out );
    return tr_error_memory( error );
}

void tr_fit_free( tr_fit *fit )
{
    tr_free( fit->limbs );
    *fit = ( tr_fit ){ 0 };
}

// ------------------------------------------------------------------------------------------------- lanes

typedef struct lanes {
    size_t ( *slot_bytes )( const tr_fit_scratch *scratch );
    void ( *solve_frames )( const tr_fit *fit, const tr_fit_scratch *scratch, void *slot,
                            const tr_fit_frame *frames, tr_fit_result *results, int count );
    void ( *set_centre )( const tr_fit_turns *turns );
    void ( *read_turns )( const tr_fit_turns *turns );
} lanes;

enum { NARROW = 4 }; // frames at a time of the narrower lanes

#define LANES_OF( kind )                                                                                     \
    ( lanes )                                                                                                \
    {                                                                                                        \
        tr_fit_slot_bytes_##kind, tr_fit_solve_frames_##kind, tr_fit_set_centre_##kind,                      \
            tr_fit_read_turns_##kind                                                                         \
    }

// The fastest lanes for `count` frames or joints. All give the same bits.
static lanes lanes_for( bool portable, int count )
{
    if ( !portable && tr_processor_has_avx512() && count > NARROW )
        return LANES_OF( avx512 );
    if ( !portable && tr_processor_has_avx2() )
        return LANES_OF( avx2 );
    return LANES_OF( double );
}

void tr_fit_set_centre( bool portable, const tr_fit_turns *turns )
{
    lanes_for( portable, turns->joint_count ).set_centre( turns );
}

void tr_fit_read_turns( bool portable, const tr_fit_turns *turns )
{
    lanes_for( portable, turns->joint_count ).read_turns( turns );
}

bool tr_fit_scratch_build( tr_fit_scratch *out, const tr_fit *fit, int max_goals, int slots, tr_error *error )
{
    assert( max_goals >= 0 && slots > 0 );
    *out = ( tr_fit_scratch ){ .joint_count = fit->skeleton->joint_count,
                               .depth = fit->depth,
                               .goal_count = max_goals,
                               .slot_count = slots };
    size_t bytes = lanes_for( false, INT_MAX ).slot_bytes( out ); // slots for the widest lanes
    out->slot_bytes = ( bytes + TR_FIT_ALIGN - 1 ) / TR_FIT_ALIGN * TR_FIT_ALIGN;
    out->memory = tr_alloc( (size_t)slots * out->slot_bytes + TR_FIT_ALIGN, 1 );
    if ( out->memory == NULL ) {
        *out = ( tr_fit_scratch ){ 0 };
        return tr_error_memory( error );
    }
    out->slots = (char *)out->memory + ( TR_FIT_ALIGN - (uintptr_t)out->memory % TR_FIT_ALIGN );
    return true;
}

void tr_fit_scratch_free( tr_fit_scratch *scratch )
{
    tr_free( scratch->memory );
    *scratch = ( tr_fit_scratch ){ 0 };
}

// --------------------------------------------------------------------------------------------- checking

static const char *trouble_with_goal( const tr_skeleton *skeleton, const tr_fit_goal *goal )
{
    if ( goal->joint < 0 || goal->joint >= skeleton->joint_count )
        return "names a joint that does not exist";
    if ( ( goal->axes & ~TR_FIT_XYZ ) != 0 )
        return "has unknown axes";
    if ( goal->kind == TR_FIT_POSITION && !( v3_finite( goal->place ) && v3_finite( goal->offset ) ) )
        return "has a place that is not a number";
    if ( goal->kind == TR_FIT_ROTATION && !q_is_unit( goal->rotation ) )
        return "has no proper rotation";
    if ( goal->hard && ( goal->priority < 0 || goal->priority >= TR_FIT_PRIORITIES ) )
        return "has an unknown priority";
    if ( goal->hard && !( goal->force > 0 && goal->force <= 1e3 ) )
        return "has a force outside 0 to 1000";
    if ( !( goal->ease >= 0 && goal->ease <= 1 ) ||
         ( !goal->hard && !( goal->weight >= 0 && goal->weight <= 1e12 ) ) )
        return "has an ease outside 0 to 1 or a weight outside 0 to 1e12";
    return NULL;
}

static bool check_frame( const tr_skeleton *skeleton, const tr_fit_frame *frame, int number, tr_error *error )
{
    bool sound = v3_finite( frame->root ) && ( frame->warm == NULL || v3_finite( frame->warm_root ) );
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        sound = sound && q_is_unit( frame->start[j] );
        sound = sound && ( frame->positions == NULL || v3_finite( frame->positions[j] ) );
        sound = sound && ( frame->rotations == NULL || q_is_unit( frame->rotations[j] ) );
        sound = sound && ( frame->warm == NULL || q_is_unit( frame->warm[j] ) );
        if ( !sound )
            return tr_error_set( error, "frame %d has no proper numbers at joint %d (%.100s)", number, j,
                                 skeleton->joints[j].name );
    }
    for ( int g = 0; g < frame->goal_count; ++g ) {
        const char *trouble = trouble_with_goal( skeleton, &frame->goals[g] );
        if ( trouble != NULL )
            return tr_error_set( error, "goal %d of frame %d %s", g, number, trouble );
    }
    return true;
}

// ----------------------------------------------------------------------------------------------- solving

// World transform of one joint, from the root down.
static rigid joint_in_world( const tr_skeleton *skeleton, const tr_fit_result *result, int joint )
{
    rigid world = rigid_identity;
    for ( int j = joint; j >= 0; j = skeleton->joints[j].parent ) {
        vec3 offset = j == 0 ? result->root : skeleton->joints[j].offset;
        world = rigid_mul( ( rigid ){ result->local[j], offset }, world );
    }
    return world;
}

// Also for goals that the kernel leaves out (acts in kernel_block.h).
static double residual_of( const tr_skeleton *skeleton, const tr_fit_result *result, const tr_fit_goal *goal )
{
    rigid world = joint_in_world( skeleton, result, goal->joint );
    vec3 off = goal->kind == TR_FIT_ROTATION
                   ? q_to_vector( q_mul( world.rotation, q_conj( goal->rotation ) ) )
                   : v3_sub( rigid_apply( world, goal->offset ), goal->place );
    double most = goal->at_least ? 0 : INFINITY;
    return v3_length( v3( goal->axes & TR_FIT_X ? fmin( off.x, most ) : 0,
                          goal->axes & TR_FIT_Y ? fmin( off.y, most ) : 0,
                          goal->axes & TR_FIT_Z ? fmin( off.z, most ) : 0 ) );
}

typedef struct job {
    const tr_fit *fit;
    const tr_fit_scratch *scratch;
    const tr_fit_frame *frames;
    tr_fit_result *results;
    int count;
} job;

// Each slot solves its own share of the frames.
static void solve_shares( void *context, int begin, int end )
{
    const job *j = context;
    const tr_fit_scratch *scratch = j->scratch;
    for ( int s = begin; s < end; ++s ) {
        int first = (int)( (int64_t)j->count * s / scratch->slot_count ),
            last = (int)( (int64_t)j->count * ( s + 1 ) / scratch->slot_count );
        lanes_for( j->fit->def.portable, last - first )
            .solve_frames( j->fit, scratch, scratch->slots + (size_t)s * scratch->slot_bytes,
                           j->frames + first, j->results + first, last - first );
        for ( int f = first; f < last; ++f )
            for ( int g = 0; g < j->frames[f].goal_count && j->results[f].residuals != NULL; ++g )
                j->results[f].residuals[g] =
                    residual_of( j->fit->skeleton, &j->results[f], &j->frames[f].goals[g] );
    }
}

bool tr_fit_solve( const tr_fit *fit, tr_fit_scratch *scratch, const tr_fit_frame *frames,
                   tr_fit_result *results, int count, tr_error *error )
{
    assert( fit->skeleton->joint_count <= scratch->joint_count && fit->depth <= scratch->depth );
    for ( int f = 0; f < count; ++f ) {
        assert( frames[f].goal_count <= scratch->goal_count && results[f].local != NULL );
        if ( !check_frame( fit->skeleton, &frames[f], f, error ) )
            return false;
    }
    job all = { fit, scratch, frames, results, count };
    tr_parallel_for( scratch->slot_count, 1, solve_shares, &all );
    return true;
}
