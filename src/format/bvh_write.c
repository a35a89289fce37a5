// BVH writer. Numbers are the shortest that read back as the same double, so unedited values are written as
// they were read.
#include "format/bvh.h"

#include <string.h>

// A file nests joints, so it lists them depth first; skeletons made by hand need not.
typedef struct tree {
    int *next_sibling, *first_child; // [joint_count], -1 for none
    int *order;                      // [joint_count] depth first
    int *memory;
} tree;

static void sort_depth_first( const tr_skeleton *skeleton, tree *t )
{
    int count = skeleton->joint_count;
    for ( int j = 0; j < count; ++j )
        t->next_sibling[j] = t->first_child[j] = -1;
    for ( int j = count - 1; j > 0; --j ) {
        int parent = skeleton->joints[j].parent;
        t->next_sibling[j] = t->first_child[parent];
        t->first_child[parent] = j;
    }
    int joint = 0;
    for ( int n = 0; n < count; ++n ) {
        t->order[n] = joint;
        if ( t->first_child[joint] >= 0 ) {
            joint = t->first_child[joint];
            continue;
        }
        while ( joint > 0 && t->next_sibling[joint] < 0 )
            joint = skeleton->joints[joint].parent;
        joint = t->next_sibling[joint] >= 0 ? t->next_sibling[joint] : 0;
    }
}

static bool build_tree( const tr_skeleton *skeleton, tree *t )
{
    size_t count = (size_t)skeleton->joint_count;
    t->memory = tr_alloc( 3 * count, sizeof( int ) );
    if ( t->memory == NULL )
        return false;
    t->next_sibling = t->memory;
    t->first_child = t->memory + count;
    t->order = t->memory + 2 * count;
    sort_depth_first( skeleton, t );
    return true;
}

// Limited, since a chain of thousands of joints would make a file of tabs.
static void print_indent( tr_text *out, int depth )
{
    static const char tabs[] = "\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t";
    size_t most = sizeof tabs - 1;
    tr_text_append( out, tabs, (size_t)depth < most ? (size_t)depth : most );
}

// Characters that would end a name or begin a block become underscores.
static void print_name( tr_text *out, const char *name )
{
    size_t length = strnlen( name, TR_BVH_LONGEST_NAME );
    for ( size_t i = 0; i < length; ++i ) {
        bool edge_space = name[i] == ' ' && ( i == 0 || i + 1 == length );
        bool harmful = name[i] == '{' || ( name[i] > 0 && name[i] < ' ' ) || edge_space;
        tr_text_append( out, harmful ? "_" : name + i, 1 );
    }
    if ( length == 0 )
        tr_text_append( out, "joint", 5 );
    tr_text_append( out, "\n", 1 );
}

// Readers call a tip by its parent, "Head_End". Another name stands behind "End Site", where they pass it
// over.
static bool has_own_name( const tr_skeleton *skeleton, const tr_joint *tip )
{
    const char *parent = skeleton->joints[tip->parent].name;
    size_t length = strlen( parent );
    return strncmp( tip->name, parent, length ) != 0 || strcmp( tip->name + length, "_End" ) != 0;
}

static void print_joint( tr_text *out, const tr_bvh *bvh, int j, bool end_site, int depth )
{
    const tr_joint *joint = &bvh->skeleton.joints[j];
    const tr_bvh_layout *layout = &bvh->layouts[j];
    print_indent( out, depth );
    bool named = !end_site || has_own_name( &bvh->skeleton, joint );
    tr_text_add( out, "%s%s", end_site ? "End Site" : j == 0 ? "ROOT" : "JOINT", named ? " " : "\n" );
    if ( named )
        print_name( out, joint->name );
    print_indent( out, depth );
    tr_text_append( out, "{\n", 2 );
    print_indent( out, depth + 1 );
    tr_text_append( out, "OFFSET", 6 );
    const double offset[3] = { joint->offset.x, joint->offset.y, joint->offset.z };
    for ( int i = 0; i < 3; ++i ) {
        tr_text_append( out, " ", 1 );
        tr_text_exact( out, offset[i] );
    }
    tr_text_append( out, "\n", 1 );
    if ( end_site )
        return;
    print_indent( out, depth + 1 );
    tr_text_add( out, "CHANNELS %d", layout->count );
    for ( int c = 0; c < layout->count; ++c )
        tr_text_add( out, " %s", tr_bvh_channel_names[layout->channels[c]] );
    tr_text_append( out, "\n", 1 );
}

static void print_hierarchy( tr_text *out, const tr_bvh *bvh, const tree *t )
{
    const tr_skeleton *skeleton = &bvh->skeleton;
    int depth = 0;
    tr_text_append( out, "HIERARCHY\n", 10 );
    for ( int n = 0; n < skeleton->joint_count; ++n ) {
        int j = t->order[n];
        bool leaf = t->first_child[j] < 0;
        print_joint( out, bvh, j, j > 0 && leaf && skeleton->joints[j].end_site, depth );
        depth++;
        if ( !leaf )
            continue;
        int next = n + 1 < skeleton->joint_count ? skeleton->joints[t->order[n + 1]].parent : -1;
        for ( int closing = j; closing != next; closing = skeleton->joints[closing].parent ) {
            print_indent( out, --depth );
            tr_text_append( out, "}\n", 2 );
        }
    }
}

static void print_frames( tr_text *out, const tr_bvh *bvh, const tree *t )
{
    tr_text_add( out, "MOTION\nFrames: %d\nFrame Time: ", bvh->frame_count );
    tr_text_exact( out, bvh->frame_time );
    tr_text_append( out, "\n", 1 );
    for ( int f = 0; f < bvh->frame_count && !out->failed; ++f ) {
        const double *row = bvh->values + (size_t)f * (size_t)bvh->channel_count;
        bool first = true;
        for ( int n = 0; n < bvh->skeleton.joint_count; ++n ) {
            const tr_bvh_layout *layout = &bvh->layouts[t->order[n]];
            for ( int c = 0; c < layout->count; ++c ) {
                if ( !first )
                    tr_text_append( out, " ", 1 );
                tr_text_exact( out, row[layout->first + c] );
                first = false;
            }
        }
        tr_text_append( out, "\n", 1 );
    }
}

void tr_bvh_print( const tr_bvh *bvh, tr_text *out )
{
    tree t;
    if ( !build_tree( &bvh->skeleton, &t ) ) {
        out->failed = true;
        return;
    }
    print_hierarchy( out, bvh, &t );
    print_frames( out, bvh, &t );
    tr_free( t.memory );
}

bool tr_bvh_save( const tr_bvh *bvh, const char *path, tr_error *error )
{
    tr_text text = { 0 };
    tr_bvh_print( bvh, &text );
    bool ok = text.failed ? tr_error_memory( error ) : tr_file_write( path, text.data, text.size, error );
    tr_text_free( &text );
    return ok;
}
