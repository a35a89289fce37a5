// The skeleton fit against an exact slow twin, and with any number of threads and any width of vectors.
#define MAX_GOALS 64 // some for each of two ways to solve
#include "fit_fixture.h"

// ----------------------------------------------------------------------------------------------- slow twin
// The energy as the header states it, with every joint of the skeleton unknown, the Jacobian by differences
// of fourth order through plain forward kinematics, and dense normal equations. Shares no code with the fit
// but tr_fit_joint_axes.

#define TWIN_JOINTS 48
#define TWIN_SIZE   ( 3 * TWIN_JOINTS + 3 )
#define TWIN_ROWS   ( 3 * MAX_GOALS )

typedef struct twin {
    const tr_fit *fit;
    const tr_fit_frame *frame;
    int size; // unknowns: z of every joint, then the shift in sizes times √root_stiffness
    tr_fit_axes axes[TWIN_JOINTS];
    double z[TWIN_SIZE];
    quat local[TWIN_JOINTS], rotations[TWIN_JOINTS];
    vec3 positions[TWIN_JOINTS], root;
    double c[TWIN_ROWS], jacobian[TWIN_ROWS][TWIN_SIZE], normal[TWIN_SIZE][TWIN_SIZE + 1];
} twin;

static void twin_errors( twin *t, double *c )
{
    const tr_skeleton *skeleton = t->fit->skeleton;
    for ( int j = 0; j < skeleton->joint_count; ++j ) {
        vec3 turn = m3_mulv( t->axes[j].factor, v3( t->z[3 * j], t->z[3 * j + 1], t->z[3 * j + 2] ) );
        t->local[j] = q_mul( q_from_vector( turn ), t->frame->start[j] );
    }
    const double *shift = t->z + 3 * skeleton->joint_count;
    double unit = t->fit->size / sqrt( t->fit->def.root_stiffness );
    t->root = v3_mad( t->frame->root, unit, v3( shift[0], shift[1], shift[2] ) );
    tr_fit_result pose = { .local = t->local, .root = t->root };
    pose_result( skeleton, &pose, ( tr_pose ){ t->rotations, t->positions } );
    for ( int g = 0; g < t->frame->goal_count; ++g, c += 3 ) {
        const tr_fit_goal *goal = &t->frame->goals[g];
        vec3 point = v3_add( t->positions[goal->joint], q_rotate( t->rotations[goal->joint], goal->offset ) );
        vec3 off = v3_sub( point, goal->place );
        if ( goal->kind == TR_FIT_ROTATION )
            off = v3_scale( t->fit->def.arm * t->fit->size,
                            q_to_vector( q_mul( t->rotations[goal->joint], q_conj( goal->rotation ) ) ) );
        c[0] = goal->axes & TR_FIT_X ? off.x : 0;
        c[1] = goal->axes & TR_FIT_Y ? off.y : 0;
        c[2] = goal->axes & TR_FIT_Z ? off.z : 0;
    }
}

// f' = ( f(−2h) − 8 f(−h) + 8 f(h) − f(2h) ) / 12 h
static void twin_differentiate( twin *t )
{
    const double h = 1e-3, at[4] = { -2 * h, -h, h, 2 * h }, by[4] = { 1, -8, 8, -1 };
    double c[TWIN_ROWS];
    int rows = 3 * t->frame->goal_count;
    memset( t->jacobian, 0, sizeof t->jacobian );
    for ( int i = 0; i < t->size; ++i ) {
        double z = t->z[i];
        for ( int k = 0; k < 4; ++k ) {
            t->z[i] = z + at[k];
            twin_errors( t, c );
            for ( int r = 0; r < rows; ++r )
                t->jacobian[r][i] += by[k] * c[r] / ( 12 * h );
        }
        t->z[i] = z;
    }
    twin_errors( t, t->c );
}

static double twin_weight( const twin *t, int g )
{
    const tr_fit_goal *goal = &t->frame->goals[g];
    if ( !goal->hard )
        return goal->weight;
    const tr_fit_def *def = &t->fit->def;
    double force = def->pull * pow( def->priority_ratio, goal->priority ) / t->fit->size;
    double *c = (double *)t->c + 3 * g, cc = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
    return force / sqrt( def->softness * def->softness + cc ) +
           force / sqrt( t->fit->size * t->fit->size + cc );
}

static void twin_eliminate( twin *t )
{
    for ( int k = 0; k < t->size; ++k )
        for ( int i = k + 1; i < t->size; ++i ) {
            double factor = t->normal[i][k] / t->normal[k][k];
            for ( int j = k; j <= t->size && factor != 0; ++j )
                t->normal[i][j] -= factor * t->normal[k][j];
        }
    for ( int k = t->size - 1; k >= 0; --k ) {
        for ( int j = k + 1; j < t->size; ++j )
            t->normal[k][t->size] -= t->normal[k][j] * t->normal[j][t->size];
        t->normal[k][t->size] /= t->normal[k][k];
    }
}

// Damped Gauss–Newton step; returns its length.
static double twin_step( twin *t, double damping )
{
    twin_differentiate( t );
    memset( t->normal, 0, sizeof t->normal );
    for ( int i = 0; i < t->size; ++i ) {
        t->normal[i][i] = 1 + damping;
        t->normal[i][t->size] = -t->z[i];
        const tr_fit_axes *axes = i < t->size - 3 ? &t->axes[i / 3] : NULL;
        if ( i % 3 != 0 || axes == NULL || !axes->hinged )
            continue;
        double over = fmin( t->z[i] - axes->least, 0 ) + fmax( t->z[i] - axes->most, 0 );
        t->normal[i][i] += over != 0 ? t->fit->def.stop : 0;
        t->normal[i][t->size] -= t->fit->def.stop * over;
        double compliance = v3_length( axes->factor.cx ), slack = t->fit->def.slack;
        double tight = fmax( -fmax( axes->bend - slack, 0 ) / compliance - t->z[i], 0 );
        t->normal[i][i] += 2 * t->fit->def.taut * compliance / slack * tight;
        t->normal[i][t->size] += t->fit->def.taut * compliance / slack * tight * tight;
    }
    for ( int r = 0; r < 3 * t->frame->goal_count; ++r ) {
        double weight = twin_weight( t, r / 3 );
        for ( int i = 0; i < t->size; ++i ) {
            double wj = weight * t->jacobian[r][i];
            for ( int j = 0; j < t->size && wj != 0; ++j )
                t->normal[i][j] += wj * t->jacobian[r][j];
            t->normal[i][t->size] -= wj * t->c[r];
        }
    }
    twin_eliminate( t );
    double length = 0;
    for ( int i = 0; i < t->size; ++i ) {
        t->z[i] += t->normal[i][t->size];
        length = fmax( length, fabs( t->normal[i][t->size] ) );
    }
    return length;
}

static void check_against_twin( actor *a, const tr_fit_frame *frame )
{
    tr_fit_result result = solve( a, frame );
    assert_true( result.converged );
    twin *t = tr_alloc( 1, sizeof *t );
    int joints = a->skeleton->joint_count;
    *t = ( twin ){ .fit = &a->fit, .frame = frame, .size = 3 * joints + 3 };
    for ( int j = 0; j < joints; ++j )
        t->axes[j] = tr_fit_joint_axes( &a->fit, j, frame->start[j] );
    double length = 1;
    for ( int i = 0; i < 400 && length > 1e-12; ++i )
        length = twin_step( t, 1.0 );
    check_near( length, 0, 1e-11 );
    for ( int j = 0; j < joints; ++j )
        check_rotation( a->local[j], t->local[j], 1e-9 );
    check_v3( result.root, t->root, 1e-9 );
    tr_free( t );
}

static void agrees_with_the_slow_twin( void **state )
{
    (void)state;
    actor a;
    tr_fit_def def = tr_default_fit_def();
    def.tolerance = 1e-12;
    make_actor( &a, "box_relay", &def );
    int ends[8], count = find_ends( &a, ends ), n = 0;
    tr_pose pose = tr_world_pose( &a.world, 60 );
    for ( int i = 0; i < count; ++i ) {
        vec3 by = v3_scale( 0.1, random_in_ball( 60, (uint64_t)i ) );
        a.goals[n] = tr_fit_position( ends[i], v3_add( pose.positions[ends[i]], by ) );
        a.goals[n++].priority = i % 3;
    }
    a.goals[n] =
        tr_fit_rotation( ends[0], q_mul( q_axis_angle( v3( 1, 2, 3 ), 0.4 ), pose.rotations[ends[0]] ) );
    a.goals[n++].axes = TR_FIT_X | TR_FIT_Z;
    a.goals[n] = tr_fit_position( TR_HUMAN_HEAD, v3_add( pose.positions[TR_HUMAN_HEAD], v3( 0.1, 0, 0 ) ) );
    a.goals[n].offset = v3( 0, 0.1, 0.05 );
    a.goals[n].hard = false;
    a.goals[n++].weight = 20;
    a.goals[n] = tr_fit_position( 0, v3_add( pose.positions[0], v3( 0, -0.04, 0 ) ) );
    a.goals[n++].axes = TR_FIT_Y;
    tr_fit_frame frame = frame_of( &a, 60, n );
    check_against_twin( &a, &frame );
    drop_actor( &a );

    make_actor( &a, "spider", &def );
    count = find_ends( &a, ends );
    pose = tr_world_pose( &a.world, 33 );
    for ( int i = 0; i < count; ++i )
        a.goals[i] = tr_fit_position(
            ends[i], v3_add( pose.positions[ends[i]], v3_scale( 0.05, random_in_ball( 61, (uint64_t)i ) ) ) );
    frame = frame_of( &a, 33, count );
    check_against_twin( &a, &frame );
    drop_actor( &a );
}

// Hard goals at the ends of the limbs and wishes of other points all over the body: more than are solved for
// their pulls.
static int make_many_goals( actor *a, int frame )
{
    int ends[8], n = 0;
    tr_pose pose = tr_world_pose( &a->world, frame );
    for ( int i = 0, count = find_ends( a, ends ); i < count; ++i ) {
        vec3 by = v3_scale( 0.1, random_in_ball( 60, (uint64_t)i ) );
        a->goals[n] = tr_fit_position( ends[i], v3_add( pose.positions[ends[i]], by ) );
        a->goals[n++].priority = i % 3;
    }
    a->goals[n] =
        tr_fit_rotation( ends[0], q_mul( q_axis_angle( v3( 1, 2, 3 ), 0.4 ), pose.rotations[ends[0]] ) );
    a->goals[n++].axes = TR_FIT_X | TR_FIT_Z;
    for ( int i = 0; n < MAX_GOALS; ++i, ++n ) {
        int joint = i * 7 % a->skeleton->joint_count;
        vec3 offset = v3_scale( 0.1, random_in_ball( 62, (uint64_t)i ) );
        vec3 at = v3_add( pose.positions[joint], q_rotate( pose.rotations[joint], offset ) );
        tr_fit_goal *goal = &a->goals[n];
        *goal = tr_fit_position( joint, v3_add( at, v3_scale( 0.05, random_in_ball( 63, (uint64_t)i ) ) ) );
        goal->offset = i % 9 == 0 ? v3_zero : offset; // the joint's own place
        goal->axes = i % 5 == 0 ? TR_FIT_X | TR_FIT_Y : TR_FIT_XYZ;
        goal->hard = false;
        goal->weight = 1 + i % 4;
        if ( i % 6 == 5 ) { // two wishes for one point
            goal->joint = goal[-1].joint;
            goal->offset = goal[-1].offset;
            goal->axes = goal[-1].axes;
        }
    }
    return n;
}

static void many_goals_agree_with_the_slow_twin( void **state )
{
    (void)state;
    actor a;
    tr_fit_def def = tr_default_fit_def();
    def.tolerance = 1e-12;
    const char *scenes[] = { "box_relay", "spider" };
    for ( int i = 0; i < 2; ++i ) {
        make_actor( &a, scenes[i], &def );
        tr_fit_frame frame = frame_of( &a, 60, make_many_goals( &a, 60 ) );
        check_against_twin( &a, &frame );
        drop_actor( &a );
    }
}

// One goal more or less decides which unknowns are solved for; the answer does not jump.
static void the_number_of_goals_does_not_show( void **state )
{
    (void)state;
    actor a;
    tr_fit_def def = tr_default_fit_def();
    make_actor( &a, "box_relay", &def );
    make_many_goals( &a, 60 );
    quat *last = tr_alloc( (size_t)a.skeleton->joint_count, sizeof( quat ) );
    for ( int count = 30; count < MAX_GOALS; ++count ) {
        a.goals[count - 1].weight = 1e-6; // it has no say
        tr_fit_frame frame = frame_of( &a, 60, count );
        assert_true( solve( &a, &frame ).converged );
        for ( int j = 0; j < a.skeleton->joint_count && count > 30; ++j )
            check_rotation( a.local[j], last[j], 1e-4 );
        memcpy( last, a.local, (size_t)a.skeleton->joint_count * sizeof( quat ) );
    }
    tr_free( last );
    drop_actor( &a );
}

// -------------------------------------------------------------------------------------- threads and frames

typedef struct batch {
    actor a;
    int frames, count;
    tr_fit_goal *goals;
    tr_fit_frame *input;
    tr_fit_result *results;
    quat *local, *first; // [frames * joint_count] the latter to compare with
    size_t bytes;        // size of each slot
    tr_fit_memory *memory;
    float *remembered;
} batch;

// Some frames begin with what is known of them; a fit that is over knows something else.
static void remember( batch *b )
{
    int joints = b->a.skeleton->joint_count;
    for ( int f = 3; f < b->frames; f += 4 ) {
        float *turns = b->remembered + 6 * f * joints;
        for ( int i = 0; i < 6 * joints; ++i )
            turns[i] = (float)( 0.1 * tr_chance_between( 5, (uint64_t)( f * 1000 + i ), -1, 1 ) );
        b->memory[f] = ( tr_fit_memory ){ true, v3( 0.01, 0, 0.02 ), turns, turns + 3 * joints };
        b->input[f].memory = &b->memory[f];
    }
}

// Frames of one block need not agree on more than which joints are asked for, and how.
static void vary_goals( batch *b, int f )
{
    tr_fit_goal *goals = b->goals + f * b->count;
    if ( f % 3 == 0 ) {
        goals[0].hard = false;
        goals[0].weight = 50;
    }
    goals[1].ease = f % 5 == 0 ? 0.3 : 1;
    goals[2].priority = f % 4;
    goals[2].axes = f % 7 == 0 ? TR_FIT_Y : TR_FIT_XYZ;
    if ( f % 6 > 3 )
        goals[2] = tr_fit_rotation( goals[2].joint, q_axis_angle( v3( 1, 2, 3 ), 0.1 * f ) );
    if ( f % 11 == 0 )
        goals[1].place.y += 100;
    if ( f % 4 == 1 ) {
        b->input[f].warm = tr_clip_frame( &b->a.motion->clip, f + 1 );
        b->input[f].warm_root = b->a.motion->clip.root[f + 1];
    }
}

static void make_batch( batch *b )
{
    tr_fit_def def = tr_default_fit_def();
    make_actor( &b->a, "box_relay", &def );
    int ends[8];
    b->count = find_ends( &b->a, ends );
    b->frames = 61;
    b->goals = tr_alloc( (size_t)( b->frames * b->count ), sizeof( tr_fit_goal ) );
    b->input = tr_alloc( (size_t)b->frames, sizeof( tr_fit_frame ) );
    b->results = tr_alloc( (size_t)b->frames, sizeof( tr_fit_result ) );
    b->bytes = (size_t)( b->frames * b->a.skeleton->joint_count ) * sizeof( quat );
    b->local = tr_alloc( 1, b->bytes );
    b->first = tr_alloc( 1, b->bytes );
    b->memory = tr_alloc( (size_t)b->frames, sizeof( tr_fit_memory ) );
    b->remembered = tr_alloc( 6 * (size_t)( b->frames * b->a.skeleton->joint_count ), sizeof( float ) );
    for ( int f = 0; f < b->frames; ++f ) {
        b->input[f] = frame_of( &b->a, f, b->count - f % 2 ); // goals come and go
        b->input[f].goals = b->goals + f * b->count;
        b->results[f].local = b->local + f * b->a.skeleton->joint_count;
        for ( int i = 0; i < b->count; ++i ) {
            vec3 by = v3_scale( 0.2, random_in_ball( 70 + (uint64_t)i, (uint64_t)f ) );
            vec3 place = v3_add( tr_world_pose( &b->a.world, f ).positions[ends[i]], by );
            b->goals[f * b->count + i] = tr_fit_position( ends[i], place );
        }
        vary_goals( b, f );
    }
}

static void drop_batch( batch *b )
{
    tr_free( b->goals );
    tr_free( b->input );
    tr_free( b->results );
    tr_free( b->local );
    tr_free( b->first );
    tr_free( b->memory );
    tr_free( b->remembered );
    drop_actor( &b->a );
}

static void same_bits_for_any_threads( void **state )
{
    (void)state;
    batch b = { 0 };
    make_batch( &b );
    tr_error error;
    const int threads[] = { 1, 2, 3, 8 }, slots[] = { 1, 8, 5, 100 };
    for ( int i = 0; i < 4; ++i ) {
        tr_fit_scratch scratch;
        tr_parallel_set_threads( threads[i] );
        check_ok( tr_fit_scratch_build( &scratch, &b.a.fit, b.count, slots[i], &error ), &error );
        size_t before = tr_memory_live();
        memset( b.local, 0, b.bytes );
        remember( &b );
        check_ok( tr_fit_solve( &b.a.fit, &scratch, b.input, b.results, b.frames, &error ), &error );
        assert_int_equal( tr_memory_live(), before );
        if ( i == 0 )
            memcpy( b.first, b.local, b.bytes );
        assert_memory_equal( b.first, b.local, b.bytes );
        tr_fit_scratch_free( &scratch );
    }
    tr_parallel_set_threads( 0 );
    // A frame alone, after others or before them, is the same frame.
    remember( &b );
    for ( int f = b.frames - 1; f >= 0; --f ) {
        solve( &b.a, &b.input[f] );
        assert_memory_equal( b.a.local, b.first + f * b.a.skeleton->joint_count,
                             (size_t)b.a.skeleton->joint_count * sizeof( quat ) );
    }
    drop_batch( &b );
}

// Every processor gives the same bits as those with wide vectors.
static void same_bits_without_wide_vectors( void **state )
{
    (void)state;
    batch b = { 0 };
    make_batch( &b );
    tr_error error;
    vec3 *positions = tr_alloc( (size_t)( b.frames * b.a.skeleton->joint_count ), sizeof( vec3 ) );
    for ( int aimed = 0; aimed < 2; ++aimed ) {
        for ( int f = 0; f < b.frames && aimed; ++f ) {
            const vec3 *from = tr_world_pose( &b.a.world, f + 20 ).positions;
            vec3 *to = positions + f * b.a.skeleton->joint_count;
            for ( int j = 0; j < b.a.skeleton->joint_count; ++j )
                to[j] = v3_scale( 1.1, from[j] );
            b.input[f].positions = to;
        }
        b.a.fit.def.portable = false;
        remember( &b );
        check_ok( tr_fit_solve( &b.a.fit, &b.a.scratch, b.input, b.results, b.frames, &error ), &error );
        memcpy( b.first, b.local, b.bytes );
        memset( b.local, 0, b.bytes );
        b.a.fit.def.portable = true;
        remember( &b );
        check_ok( tr_fit_solve( &b.a.fit, &b.a.scratch, b.input, b.results, b.frames, &error ), &error );
        assert_memory_equal( b.first, b.local, b.bytes );
    }
    tr_free( positions );
    drop_batch( &b );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( agrees_with_the_slow_twin ),         TEST( many_goals_agree_with_the_slow_twin ),
        TEST( the_number_of_goals_does_not_show ), TEST( same_bits_for_any_threads ),
        TEST( same_bits_without_wide_vectors ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
