// Which boxes overlap: a tree of boxes over the order of a space-filling curve.
//
// Leaves are runs of the order, each node is the box around its half of the run above it. A query goes down
// into the nodes it overlaps. Of boxes that each overlap a few others, all pairs take N log N steps; testing
// every pair takes N².
#include "geometry/curve.h"
#include "geometry/geometry.h"

#include <stdlib.h>

enum { LEAF = 4 }; // boxes of a leaf: a test of a box costs as much as a test of a node

struct tr_box_node {
    tr_box box;
    int first, count; // range of `order`
    int right;        // the second child; the first one is the next node. 0: a leaf
};

static tr_box box_around( tr_box a, tr_box b )
{
    return ( tr_box ){
        v3( fmin( a.low.x, b.low.x ), fmin( a.low.y, b.low.y ), fmin( a.low.z, b.low.z ) ),
        v3( fmax( a.high.x, b.high.x ), fmax( a.high.y, b.high.y ), fmax( a.high.z, b.high.z ) ) };
}

tr_box tr_box_empty( void )
{
    return ( tr_box ){ v3_scale( HUGE_VAL, v3_one ), v3_scale( -HUGE_VAL, v3_one ) };
}

tr_box tr_box_with( tr_box box, vec3 point )
{
    return box_around( box, ( tr_box ){ point, point } );
}

tr_box tr_box_grown( tr_box box, double margin )
{
    return ( tr_box ){ v3_mad( box.low, -margin, v3_one ), v3_mad( box.high, margin, v3_one ) };
}

bool tr_box_overlaps( const tr_box *a, const tr_box *b )
{
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y &&
           a->low.z <= b->high.z && b->low.z <= a->high.z;
}

static bool is_empty( const tr_box *box )
{
    return !( box->low.x <= box->high.x && box->low.y <= box->high.y && box->low.z <= box->high.z );
}

static int add_node( tr_box_tree *tree, int first, int count )
{
    int at = tree->node_count++;
    struct tr_box_node node = { .box = tr_box_empty(), .first = first, .count = count };
    if ( count > LEAF ) {
        int left = add_node( tree, first, count / 2 );
        node.right = add_node( tree, first + count / 2, count - count / 2 );
        node.box = box_around( tree->nodes[left].box, tree->nodes[node.right].box );
    } else
        for ( int i = first; i < first + count; ++i )
            node.box = box_around( node.box, tree->boxes[tree->order[i].index] );
    tree->nodes[at] = node;
    return at;
}

bool tr_box_tree_build( tr_box_tree *tree, const tr_box *boxes, int count )
{
    // A leaf has at least LEAF / 2 boxes, and a tree has fewer than twice as many nodes as leaves.
    if ( !tr_array_reserve( (void **)&tree->order, &tree->capacity, count, sizeof *tree->order ) ||
         !tr_array_reserve( (void **)&tree->nodes, &tree->node_capacity, count + 1, sizeof *tree->nodes ) )
        return false;
    tree->boxes = boxes;
    tree->count = tree->node_count = 0;
    tr_box all = tr_box_empty();
    for ( int i = 0; i < count; ++i )
        if ( !is_empty( &boxes[i] ) ) {
            tree->order[tree->count++].index = i;
            all = box_around( all, boxes[i] );
        }
    if ( tree->count == 0 )
        return true;
    for ( int i = 0; i < tree->count; ++i ) {
        const tr_box *box = &boxes[tree->order[i].index];
        tree->order[i].key = tr_curve_key( v3_lerp( box->low, box->high, 0.5 ), all.low, all.high );
    }
    qsort( tree->order, (size_t)tree->count, sizeof *tree->order, tr_curve_compare );
    add_node( tree, 0, tree->count );
    return true;
}

static int ascending( const void *a, const void *b )
{
    int p = *(const int *)a, q = *(const int *)b;
    return ( p > q ) - ( p < q );
}

int tr_box_tree_above( tr_box_tree *tree, int box, int *found )
{
    int stack[64], depth = 0, count = 0; // a balanced tree of 2³¹ boxes is 31 nodes deep
    const tr_box *own = &tree->boxes[box];
    if ( tree->node_count > 0 )
        stack[depth++] = 0;
    while ( depth > 0 ) {
        int at = stack[--depth];
        const struct tr_box_node *node = &tree->nodes[at];
        tree->looks++;
        if ( !tr_box_overlaps( &node->box, own ) )
            continue;
        if ( node->right > 0 ) {
            stack[depth++] = node->right;
            stack[depth++] = at + 1;
            continue;
        }
        for ( int i = node->first; i < node->first + node->count; ++i ) {
            int other = tree->order[i].index;
            tree->looks++;
            if ( other > box && tr_box_overlaps( &tree->boxes[other], own ) )
                found[count++] = other;
        }
    }
    if ( count > 1 )
        qsort( found, (size_t)count, sizeof( int ), ascending );
    return count;
}

void tr_box_tree_free( tr_box_tree *tree )
{
    tr_free( tree->order );
    tr_free( tree->nodes );
    *tree = ( tr_box_tree ){ 0 };
}
