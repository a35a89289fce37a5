// Clips that follow one another: joined, planted, held through the seam, refused.
#include "captures.h"
#include "check.h"

#include "scenes/scenes.h"
#include "troupe.h"

#include <string.h>

// How a motion moves in some of its frames.
typedef struct manner {
    double skate;        // m/s, mean over joints and frames that rest
    double acceleration; // m/frame², the largest of any joint
    double turn;         // radians per frame, the largest of any joint
} manner;

static manner manner_of( const tr_motion *motion, const tr_contacts *contacts, int first, int last )
{
    manner m = { 0 };
    tr_world world;
    tr_error error;
    double steps = 0;
    check_ok( tr_world_build( &world, motion, &error ), &error );
    first = first > 0 ? first : 0;
    last = last < world.frame_count - 1 ? last : world.frame_count - 1;
    for ( int f = first; f < last; ++f ) {
        const vec3 *now = tr_world_pose( &world, f ).positions, *then = now + world.joint_count,
                   *later = then + world.joint_count;
        for ( int j = 0; j < world.joint_count; ++j ) {
            if ( f + 1 < last ) {
                vec3 bend = v3_sub( v3_sub( later[j], then[j] ), v3_sub( then[j], now[j] ) );
                m.acceleration = fmax( m.acceleration, v3_length( bend ) );
            }
            m.turn = fmax( m.turn, q_angle( tr_clip_frame( &motion->clip, f )[j],
                                            tr_clip_frame( &motion->clip, f + 1 )[j] ) );
        }
        for ( int c = 0; c < contacts->count; ++c ) {
            const tr_contact *contact = &contacts->items[c];
            if ( contact->first > f || contact->last <= f )
                continue;
            vec3 step = v3_sub( then[contact->joint], now[contact->joint] );
            m.skate += v3_length( v3_horizontal( step ) ) * motion->clip.fps;
            steps += 1;
        }
    }
    m.skate /= fmax( steps, 1 );
    tr_world_free( &world );
    return m;
}

// Two pieces of one motion, or of two, played one after the other.
typedef struct pieces {
    tr_scene scene;
    tr_library library;
    tr_stage stage;
    tr_result result;
    tr_error error;
} pieces;

static void begin( pieces *x, double fps, double scale, const tr_file_ref *source )
{
    *x = ( pieces ){ .scene = tr_default_scene() };
    tr_cast cast = tr_default_cast( "anna" );
    cast.source = *source;
    cast.target.scale = scale;
    x->scene.fps = fps;
    assert_non_null( tr_scene_add_cast( &x->scene, &cast ) );
}

static tr_cast_clip *follow( pieces *x, const tr_file_ref *source )
{
    tr_id id;
    snprintf( id, sizeof id, "clip%d", x->scene.clip_count );
    tr_cast_clip clip = tr_default_cast_clip( id, "anna" );
    clip.source = *source;
    return tr_scene_add_clip( &x->scene, &clip );
}

static void add_motion( pieces *x, const char *path, const tr_motion *motion )
{
    tr_motion copy = { 0 };
    check_ok( tr_skeleton_copy( &copy.skeleton, &motion->skeleton, &x->error ), &x->error );
    check_ok( tr_clip_copy( &copy.clip, &motion->clip, &x->error ), &x->error );
    check_ok( tr_library_add( &x->library, path, &copy, &x->error ), &x->error );
}

static bool build( pieces *x )
{
    return tr_stage_build( &x->stage, &x->scene, NULL, &x->library, NULL, &x->error );
}

static void solve( pieces *x )
{
    check_ok( build( x ), &x->error );
    check_ok( tr_pipeline_run( &x->result, &x->stage, tr_method_find( NULL ), &x->error ), &x->error );
}

static void end( pieces *x )
{
    tr_result_free( &x->result );
    tr_stage_free( &x->stage );
    tr_library_free( &x->library );
    tr_scene_free( &x->scene );
}

static tr_file_ref frames( const char *file, int first, int last )
{
    tr_file_ref ref = { .first = first, .last = last };
    snprintf( ref.file, sizeof ref.file, "%s", file );
    return ref;
}

// A walk down a corridor, 301 frames.
static tr_motion a_walk( void )
{
    tr_scene scene;
    tr_library library = { 0 };
    tr_error error;
    tr_motion walk = { 0 };
    const tr_scene_entry *entry = tr_scene_entry_find( "corridor" );
    check_ok( tr_scene_build( entry, entry->min_cast, &scene, &library, &error ), &error );
    const tr_motion *found = tr_library_find( &library, scene.cast[0].source.file );
    check_ok( tr_skeleton_copy( &walk.skeleton, &found->skeleton, &error ), &error );
    check_ok( tr_clip_copy( &walk.clip, &found->clip, &error ), &error );
    tr_library_free( &library );
    tr_scene_free( &scene );
    return walk;
}

static int count_seam_rules( const tr_stage *stage )
{
    int count = 0;
    for ( int r = 0; r < stage->rule_count; ++r )
        count += strstr( stage->rules[r].id, "_seam" ) != NULL;
    return count;
}

static int find_rule( const tr_stage *stage, const char *id )
{
    for ( int r = 0; r < stage->rule_count; ++r )
        if ( strcmp( stage->rules[r].id, id ) == 0 )
            return r;
    return -1;
}

// The worst of each of the pieces, as they are.
static manner manner_of_pieces( pieces *x )
{
    manner worst = { 0 };
    for ( int i = -1; i < x->scene.clip_count; ++i ) {
        pieces alone;
        begin( &alone, x->scene.fps, 1, i < 0 ? &x->scene.cast[0].source : &x->scene.clips[i].source );
        alone.library = x->library; // lent
        alone.scene.last = 1000;
        check_ok( build( &alone ), &alone.error );
        const tr_actor *actor = &alone.stage.actors[0];
        int last = 0; // behind it the last pose is held
        for ( int f = 1; f < actor->source.clip.frame_count; ++f )
            last = v3_distance( actor->source.clip.root[f], actor->source.clip.root[f - 1] ) > 0 ? f : last;
        manner m = manner_of( &actor->source, &actor->contacts, 0, last );
        worst.skate = fmax( worst.skate, m.skate );
        worst.acceleration = fmax( worst.acceleration, m.acceleration );
        worst.turn = fmax( worst.turn, m.turn );
        x->library = alone.library;
        alone.library = ( tr_library ){ 0 };
        end( &alone );
    }
    return worst;
}

// Around every seam the result skates no more than the pieces, or `skate` m/s, and neither pops nor flips.
static void check_seams( pieces *x, double skate )
{
    solve( x );
    const tr_actor *actor = &x->stage.actors[0];
    manner own = manner_of_pieces( x );
    assert_int_equal( actor->seam_count, x->scene.clip_count );
    for ( int s = 0; s < actor->seam_count; ++s ) {
        const tr_seam *seam = &actor->seams[s];
        manner m = manner_of( &x->result.motions[0], &actor->contacts, seam->frame - seam->blend,
                              seam->frame + 3 * seam->blend );
        assert_true( m.skate <= fmax( own.skate, skate ) );
        check_bound( m.acceleration / own.acceleration, ACCELERATION );
        check_bound( ( m.turn - own.turn ) / TR_DEGREE, ROTATION_DEG );
    }
    for ( int r = 0; r < x->stage.rule_count; ++r )
        if ( strstr( x->stage.rules[r].id, "_seam" ) != NULL && x->stage.rules[r].hard )
            assert_true( x->result.reports[r].max_mm < 1 && !x->result.reports[r].gave_way );
}

static void begin_walk( pieces *x, const tr_motion *walk, int last, int from, double scale )
{
    tr_file_ref first = frames( "walk.bvh", 0, last ), second = frames( "walk.bvh", from, 300 );
    begin( x, 30, scale, &first );
    add_motion( x, "walk.bvh", walk );
    follow( x, &second );
    x->scene.last = last + 300 - from;
}

// -------------------------------------------------------------------------------------------------- tests

static void a_clip_cut_in_two_is_whole_again( void **state )
{
    (void)state;
    tr_motion walk = a_walk();
    tr_world world;
    tr_error error;
    check_ok( tr_world_build( &world, &walk, &error ), &error );
    for ( int cut = 40; cut < 280; cut += 37 ) {
        pieces x;
        begin_walk( &x, &walk, cut, cut, 1 );
        solve( &x );
        for ( int f = 0; f <= 300; ++f )
            for ( int j = 0; j < walk.skeleton.joint_count; ++j )
                check_v3( tr_world_pose( &x.result.worlds[0], f ).positions[j],
                          tr_world_pose( &world, f ).positions[j], 1e-3 );
        end( &x );
    }
    tr_world_free( &world );
    tr_motion_free( &walk );
}

// Every phase of a step after the same one. Where feet stand alike they stay; where they cannot they step.
static void pieces_of_a_walk_go_on_smoothly( void **state )
{
    (void)state;
    tr_motion walk = a_walk();
    static const int in_phase[] = { 60, 64, 88 };
    for ( size_t i = 0; i < sizeof in_phase / sizeof *in_phase; ++i )
        for ( int size = 0; size < 2; ++size ) {
            pieces x;
            begin_walk( &x, &walk, 150, in_phase[i], 0.7 + 0.3 * size );
            check_seams( &x, 5e-3 );
            end( &x );
        }
    for ( int from = 60; from < 95; from += 3 ) {
        pieces x;
        begin_walk( &x, &walk, 150, from, 1 );
        check_seams( &x, 15e-3 );
        end( &x );
    }
    tr_motion_free( &walk );
}

static void recorded_clips_go_on_smoothly( void **state )
{
    (void)state;
    static const struct {
        const char *a;
        int last;
        const char *b;
        int first;
    } pairs[] = {
        { "walk.bvh", 171, "walk.bvh", 56 },
        { "shake_a.bvh", 217, "walk.bvh", 40 },
        { "cmu-single/02_01.bvh", 171, "cmu-single/02_01.bvh", 41 },
        { "cmu-single/02_01.bvh", 201, "cmu-single/02_01.bvh", 150 },
        { "cmu-pairs/22_08.bvh", 226, "cmu-pairs/22_04.bvh", 1 },
        { "cmu-pairs/20_02.bvh", 229, "cmu-pairs/20_11.bvh", 1 },
    };
    for ( size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i ) {
        pieces x;
        char a[CAPTURE_PATH], b[CAPTURE_PATH];
        if ( !have_capture( pairs[i].a ) )
            continue;
        tr_file_ref first = frames( capture_path( a, pairs[i].a ), 1, pairs[i].last ),
                    second = frames( capture_path( b, pairs[i].b ), pairs[i].first, -1 );
        begin( &x, 60, i % 2 == 0 ? 1 : 0.6, &first );
        follow( &x, &second );
        x.scene.last = 220;
        check_seams( &x, 5e-3 );
        end( &x );
    }
}

static void seams_come_with_rules( void **state )
{
    (void)state;
    tr_motion walk = a_walk();
    pieces x;
    begin_walk( &x, &walk, 150, 88, 1 );
    x.scene.cast[0].start = 7;
    x.scene.first = 5;
    check_ok( build( &x ), &x.error );
    assert_int_equal( x.stage.actors[0].seams[0].frame, 152 );
    assert_int_equal( x.stage.actors[0].seams[0].blend, 9 ); // 0.3 seconds
    int pelvis = find_rule( &x.stage, "auto_anna_seam1_0" ),
        foot = find_rule( &x.stage, "auto_anna_seam1_1" );
    assert_true( pelvis >= 0 && foot >= 0 );
    const tr_rule *rule = &x.stage.rules[pelvis];
    assert_true( rule->kind == TR_CONSTRAINT_ABSOLUTE && !rule->hard && !rule->axis[1] );
    assert_true( rule->first == 143 && rule->last == 161 && rule->constraint == -1 );
    rule = &x.stage.rules[foot];
    assert_true( rule->kind == TR_CONSTRAINT_ABSOLUTE && rule->hard && rule->footing >= 0 );
    assert_true( rule->first <= 152 && rule->last >= 152 );
    int through = 0; // one stance, not two that meet
    for ( int c = 0; c < x.stage.actors[0].contacts.count; ++c ) {
        const tr_contact *contact = &x.stage.actors[0].contacts.items[c];
        through += contact->first < 152 && 152 < contact->last;
    }
    assert_true( through > 0 );
    tr_stage_free( &x.stage );

    x.scene.clips[0].blend = 0; // a cut
    check_ok( build( &x ), &x.error );
    assert_int_equal( count_seam_rules( &x.stage ), 0 );
    tr_stage_free( &x.stage );
    x.scene.clips[0].blend = 4;
    x.scene.last = 100; // before the seam
    check_ok( build( &x ), &x.error );
    assert_int_equal( count_seam_rules( &x.stage ), 0 );
    tr_stage_free( &x.stage );
    x.scene.clip_count = 0;
    x.scene.last = 200;
    check_ok( build( &x ), &x.error );
    assert_int_equal( count_seam_rules( &x.stage ), 0 );
    assert_int_equal( x.stage.actors[0].seam_count, 0 );
    end( &x );
    tr_motion_free( &walk );
}

// Without the automatic contacts the seam alone holds the feet.
static void seams_hold_feet_alone( void **state )
{
    (void)state;
    tr_motion walk = a_walk();
    pieces x;
    begin_walk( &x, &walk, 150, 88, 0.8 );
    x.scene.cast[0].contacts = x.scene.cast[0].soles = false;
    solve( &x );
    int foot = find_rule( &x.stage, "auto_anna_seam1_1" );
    assert_true( foot >= 0 && x.stage.rule_count == count_seam_rules( &x.stage ) );
    assert_true( x.result.reports[foot].max_mm < 1 );
    end( &x );
    tr_motion_free( &walk );
}

// Another rate and another order of joints make no difference.
static void files_may_differ_in_rate_and_order( void **state )
{
    (void)state;
    tr_motion walk = a_walk(), other = { 0 };
    tr_error error;
    int count = walk.skeleton.joint_count;
    int *place = tr_alloc( (size_t)count, sizeof( int ) ); // in `other`: arms and legs the other way round
    tr_clip doubled;
    assert_non_null( place );
    check_ok( tr_clip_resample( &doubled, &walk.clip, 60, &error ), &error );
    for ( int pass = 0, made = 0; made < count; ++pass )
        for ( int j = count - 1; j >= 0; --j ) {
            const tr_joint *joint = &walk.skeleton.joints[j];
            bool ready = joint->parent < 0 ||
                         tr_skeleton_find( &other.skeleton, walk.skeleton.joints[joint->parent].name ) >= 0;
            if ( !ready || tr_skeleton_find( &other.skeleton, joint->name ) >= 0 )
                continue;
            int parent = joint->parent < 0 ? -1 : place[joint->parent];
            place[j] = tr_skeleton_add( &other.skeleton, joint->name, parent, joint->offset );
            other.skeleton.joints[place[j]].rest = joint->rest;
            ++made;
        }
    check_ok( tr_skeleton_classify( &other.skeleton, &error ), &error );
    check_ok( tr_clip_alloc( &other.clip, doubled.frame_count, count, 60, false, &error ), &error );
    for ( int f = 0; f < doubled.frame_count; ++f ) {
        other.clip.root[f] = doubled.root[f];
        for ( int j = 0; j < count; ++j )
            tr_clip_frame( &other.clip, f )[place[j]] = tr_clip_frame( &doubled, f )[j];
    }
    pieces x, y;
    begin_walk( &x, &walk, 150, 88, 1 );
    begin_walk( &y, &walk, 150, 88, 1 );
    add_motion( &y, "other.bvh", &other );
    y.scene.clips[0].source = frames( "other.bvh", 176, 600 );
    check_ok( build( &x ), &x.error );
    check_ok( build( &y ), &y.error );
    for ( int f = 0; f <= x.scene.last; ++f )
        for ( int j = 0; j < count; ++j )
            check_v3( tr_world_pose( &y.stage.actors[0].world, f ).positions[j],
                      tr_world_pose( &x.stage.actors[0].world, f ).positions[j], 1e-6 );
    end( &x );
    end( &y );
    tr_free( place );
    tr_clip_free( &doubled );
    tr_motion_free( &other );
    tr_motion_free( &walk );
}

static void refuse( pieces *x, const char *path, const char *sentence )
{
    assert_false( build( x ) );
    assert_string_equal( x->error.path, path );
    if ( strstr( x->error.message, sentence ) == NULL )
        fail_msg( "expected \"%s\" in \"%s\"", sentence, x->error.message );
    tr_stage_free( &x->stage );
}

static void clips_that_do_not_fit_are_refused( void **state )
{
    (void)state;
    tr_motion walk = a_walk(), other = { 0 };
    tr_error error;
    pieces x;
    begin_walk( &x, &walk, 150, 88, 1 );
    x.scene.clips[0].source.last = 400;
    refuse( &x, "clips[0].source.file", "the file has frames 0 to 300" );
    x.scene.clips[0].source = frames( "nowhere.bvh", 0, -1 );
    refuse( &x, "clips[0].source.file", "nowhere.bvh" );
    x.scene.clips[0].source = frames( "other.bvh", 0, -1 );
    check_ok( tr_skeleton_copy( &other.skeleton, &walk.skeleton, &error ), &error );
    check_ok( tr_clip_copy( &other.clip, &walk.clip, &error ), &error );
    other.skeleton.joints[5].offset.y += 0.1;
    add_motion( &x, "other.bvh", &other );
    refuse( &x, "clips[0].source.file", "is 10.0 cm from where the source's skeleton has it" );
    other.skeleton.joints[5].offset.y -= 0.1;
    other.skeleton.joints[5].name[0] = '?';
    add_motion( &x, "named.bvh", &other );
    x.scene.clips[0].source = frames( "named.bvh", 0, -1 );
    refuse( &x, "clips[0].source.file", "has no joint" );
    tr_motion_free( &other );
    other = ( tr_motion ){ 0 };
    assert_int_equal( tr_skeleton_add( &other.skeleton, "Hips", -1, v3_zero ), 0 );
    check_ok( tr_skeleton_classify( &other.skeleton, &error ), &error );
    check_ok( tr_clip_alloc( &other.clip, 3, 1, 30, false, &error ), &error );
    add_motion( &x, "lone.bvh", &other );
    x.scene.clips[0].source = frames( "lone.bvh", 0, -1 );
    refuse( &x, "clips[0].source.file", "its skeleton has 1 joints" );
    tr_motion_free( &other );
    end( &x );
    tr_motion_free( &walk );
}

// Very short clips, a blend longer than they are, many of them.
static void short_clips_and_long_blends( void **state )
{
    (void)state;
    tr_motion walk = a_walk();
    pieces x;
    begin_walk( &x, &walk, 3, 299, 1 );
    for ( int i = 0; i < 12; ++i ) {
        tr_file_ref more = frames( "walk.bvh", 20 * i, 20 * i + i );
        follow( &x, &more )->blend = 5 * i;
    }
    x.scene.last = 100;
    solve( &x );
    check_ok( tr_motion_check( &x.result.motions[0], &x.error ), &x.error );
    end( &x );
    tr_motion_free( &walk );
}

static void every_allocation_may_fail( void **state )
{
    (void)state;
    tr_motion walk = a_walk();
    pieces x;
    begin_walk( &x, &walk, 150, 88, 1 );
    x.scene.last = 160;
    for ( int n = 1;; n += 1 + n / 8 ) {
        tr_memory_fail_from( n );
        bool ok = build( &x );
        tr_memory_fail_from( 0 );
        tr_stage_free( &x.stage );
        if ( ok )
            break;
        assert_true( x.error.message[0] != 0 );
    }
    end( &x );
    tr_motion_free( &walk );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( a_clip_cut_in_two_is_whole_again ),
        TEST( pieces_of_a_walk_go_on_smoothly ),
        TEST( recorded_clips_go_on_smoothly ),
        TEST( seams_come_with_rules ),
        TEST( seams_hold_feet_alone ),
        TEST( files_may_differ_in_rate_and_order ),
        TEST( clips_that_do_not_fit_are_refused ),
        TEST( short_clips_and_long_blends ),
        TEST( every_allocation_may_fail ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
