// What rounds leave of the lengths. Where contacts press harder than a bone can hold (solve.c), some per cent
// are left of it, and more rounds take away a hundredth of that each. At the end every frame is brought to
// its lengths by itself: bone by bone and group by group, the two ends of a bone by the same way, a group to
// where its shape lies nearest. What stands on a hard row stays.
#include "imesh/private.h"

#define SWEEPS      10 // at least, so that frames next to each other are treated alike
#define MOST_SWEEPS 80 // where much is left
#define GIVE_WAY    40 // after these rows that contradict each other hold no more
#define FINE        0.005

// What hard rows hold: the joints they are about, on both sides.
static void find_held( const tr_imesh *mesh, int frame, bool rows, bool *held )
{
    const tr_imesh_solver *s = mesh->solver;
    for ( int v = 0; v < mesh->vertex_count; ++v )
        held[v] = mesh->vertices[v].unknown < 0;
    for ( int i = s->held_start[frame]; rows && i < s->held_start[frame + 1]; ++i )
        for ( int t = 0; s->held[i].row->hard && t < s->held[i].term_count; ++t )
            if ( fabs( s->held[i].weight[t] ) >= 0.5 )
                held[s->held[i].vertex[t]] = true;
}

static void mend_links( const tr_imesh *mesh, int frame, const bool *held, vec3 *at )
{
    size_t first = (size_t)frame * (size_t)mesh->link_count;
    for ( int l = 0; l < mesh->link_count; ++l ) {
        const tr_imesh_link *link = &mesh->links[l];
        double a = held[link->a] ? 0 : 1, b = held[link->b] ? 0 : 1;
        vec3 way = v3_sub( at[link->a], at[link->b] );
        double length = v3_length( way );
        if ( !link->bone || link->grouped || !( length > 1e-6 ) || a + b == 0 )
            continue;
        double off = ( mesh->solver->lengths[first + (size_t)l][1] - length ) / ( length * ( a + b ) );
        at[link->a] = v3_mad( at[link->a], a * off, way );
        at[link->b] = v3_mad( at[link->b], -b * off, way );
    }
}

static double worst_bone( const tr_imesh *mesh, int frame, const vec3 *at )
{
    double worst = 0;
    for ( int l = 0; l < mesh->link_count; ++l ) {
        const tr_imesh_link *link = &mesh->links[l];
        double length = mesh->solver->lengths[(size_t)frame * (size_t)mesh->link_count + (size_t)l][1];
        if ( link->bone && length > 1e-3 )
            worst = fmax( worst, fabs( v3_distance( at[link->a], at[link->b] ) / length - 1 ) );
    }
    return worst;
}

void tr_imesh_mend_lengths( const tr_imesh *mesh, int frame, bool *held, vec3 *at )
{
    for ( int i = 0; i < SWEEPS || ( i < MOST_SWEEPS && worst_bone( mesh, frame, at ) > FINE ); ++i ) {
        if ( i == 0 || i == GIVE_WAY )
            find_held( mesh, frame, i == 0, held );
        for ( int g = 0; g < mesh->group_count; ++g )
            tr_imesh_group_mend( mesh, &mesh->groups[g], frame, held, at );
        mend_links( mesh, frame, held, at );
    }
}
