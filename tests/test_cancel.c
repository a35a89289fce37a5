// Long work may be cancelled at any moment: it says so, leaves no memory behind, and the next run gives the
// same bits as if nothing had happened.
#include "stage_fixture.h"

#include "folder.h"
#include "scenes/scenes.h"

#include <dirent.h>

typedef struct patience {
    long left; // the question, counted down to 1, that is the first to be answered with no; -1: none
    long asked;
} patience;

static bool is_wanted( void *context )
{
    patience *p = context;
    ++p->asked;
    if ( p->left > 0 )
        --p->left;
    return p->left != 0; // once and for all
}

// Two bodies that hold each other, a prop, a cage: all methods, layers and meshes have something to do.
static void make_scene( fixture *x )
{
    begin( x );
    x->scene.last = 11;
    add_bent( x, "a", v3_zero, 0.8 );
    add_bent( x, "b", v3( 0, 0, 0.5 ), 1.2 );
    edit( x, "prop_add id=ball\n"
             "constraint_add id=hold kind=relative a=a.LeftHand b=b.RightHand\n"
             "constraint_set id=hold target=0,0,0\n"
             "constraint_add id=far kind=absolute a=b.LeftHand\n"
             "constraint_set id=far target=3,1,0\n"
             "constraint_add id=touch kind=contact a=a.RightHand surface=ball range=3,8\n"
             "layer_add id=bend kind=cage members=a\n"
             "handle_add id=turn layer=bend frame=6 turn=0,20,0" );
}

static uint64_t bits_of( const tr_result *result )
{
    uint64_t hash = TR_HASH_START;
    for ( int i = 0; i < result->actor_count; ++i ) {
        const tr_clip *clip = &result->motions[i].clip;
        size_t frames = (size_t)clip->frame_count;
        hash = tr_hash_bytes( hash, clip->root, frames * sizeof( vec3 ) );
        hash = tr_hash_bytes( hash, clip->rotations, frames * (size_t)clip->joint_count * sizeof( quat ) );
    }
    for ( int p = 0; p < result->prop_count; ++p )
        hash = tr_hash_bytes( hash, result->tracks[p], (size_t)result->frame_count * sizeof( rigid ) );
    return hash;
}

// Stages, solves and measures the scene while it is wanted. 0: cancelled.
static uint64_t run( fixture *x, const char *method, patience *p )
{
    tr_work work;
    tr_result result = { 0 };
    tr_measures measures = { 0 };
    uint64_t bits = 0;
    x->error = ( tr_error ){ 0 };
    tr_work_begin( &work, is_wanted, p );
    if ( tr_stage_build( &x->stage, &x->scene, NULL, &x->library, NULL, &x->error ) ) {
        if ( tr_pipeline_run( &result, &x->stage, tr_method_find( method ), &x->error ) &&
             tr_measure( &measures, &x->stage, &result, &x->error ) )
            bits = bits_of( &result );
        tr_measures_free( &measures );
        tr_result_free( &result );
        tr_stage_free( &x->stage );
    }
    tr_work_end( &work );
    return bits;
}

static void is_cancelled_at_any_question( void **state )
{
    (void)state;
    int count;
    const tr_method *methods = tr_method_table( &count );
    tr_parallel_set_threads( 1 );
    for ( int m = 0; m < count; ++m ) {
        fixture x;
        make_scene( &x );
        patience patient = { .left = -1 };
        uint64_t bits = run( &x, methods[m].name, &patient );
        size_t live = tr_memory_live();
        assert_true( bits != 0 && patient.asked > 100 );
        for ( long n = 1; n <= patient.asked; n += 1 + n / 12 ) {
            patience p = { .left = n };
            assert_true( run( &x, methods[m].name, &p ) == 0 );
            assert_string_equal( x.error.message, "cancelled" );
            assert_int_equal( tr_memory_live(), live );
        }
        patience again = { .left = -1 };
        assert_true( run( &x, methods[m].name, &again ) == bits );
        end( &x );
    }
    tr_parallel_set_threads( 0 );
}

static int count_entries( const char *folder )
{
    int count = 0;
    DIR *directory = opendir( folder );
    assert_non_null( directory );
    for ( const struct dirent *entry; ( entry = readdir( directory ) ) != NULL; )
        count += strcmp( entry->d_name, "." ) != 0 && strcmp( entry->d_name, ".." ) != 0;
    closedir( directory );
    return count;
}

// Cancelled while results are written: the old folder is there, whole, and nothing else.
static void writing_is_cancelled( void **state )
{
    (void)state;
    fixture x;
    char folder[FOLDER_SIZE], path[FOLDER_SIZE + 8];
    new_folder( folder );
    make_scene( &x );
    build( &x );
    tr_result result = solve( &x, "copy" );
    snprintf( path, sizeof path, "%s/out", folder );
    for ( long n = 1;; n += 1 + n / 12 ) {
        tr_work work;
        patience p = { .left = n };
        tr_work_begin( &work, is_wanted, &p );
        bool ok = tr_result_save( &x.stage, &result, "copy", path, &x.error );
        tr_work_end( &work );
        if ( ok )
            break;
        assert_string_equal( x.error.message, "cancelled" );
        assert_int_equal( count_entries( folder ), 0 );
    }
    assert_int_equal( count_entries( folder ), 1 );
    tr_result_free( &result );
    remove_folder( folder );
    end( &x );
}

// Long casts take long to make: every character is a question.
static void building_a_scene_is_cancelled( void **state )
{
    (void)state;
    static const char *const names[] = { "box_relay", "squat_chain", "corridor" };
    tr_parallel_set_threads( 1 );
    for ( int i = 0; i < 3; ++i ) {
        bool ok = false;
        for ( long n = 1; !ok; n += 1 + n / 12 ) {
            tr_work work;
            tr_scene scene;
            tr_library library;
            tr_error error = { 0 };
            patience p = { .left = n };
            tr_work_begin( &work, is_wanted, &p );
            ok = tr_scene_build( tr_scene_entry_find( names[i] ), 6, &scene, &library, &error );
            tr_work_end( &work );
            if ( ok ) {
                tr_library_free( &library );
                tr_scene_free( &scene );
            } else
                assert_string_equal( error.message, "cancelled" );
            assert_int_equal( tr_memory_live(), 0 );
        }
    }
    tr_parallel_set_threads( 0 );
}

int main( void )
{
    const struct CMUnitTest tests[] = {
        TEST( is_cancelled_at_any_question ),
        TEST( writing_is_cancelled ),
        TEST( building_a_scene_is_cancelled ),
    };
    return cmocka_run_group_tests( tests, NULL, NULL );
}
