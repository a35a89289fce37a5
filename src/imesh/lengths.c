// What rounds leave of the lengths. Where contacts press harder than a bone can hold (solve.c), some per cent
// are left of it, and more rounds take away a hundredth of that each. At the end every frame is brought to
// its lengths by itself: bone by bone and group by group, the two ends of a bone by the same way, a group to
// where its shape lies nearest. What stands on a hard row stays.
#include "imesh/private.h"

#define SWEEPS 10

// What hard rows hold: the joints they are about, on both sides.
static void find_held( const tr_imesh *mesh, int frame, bool *held )
{
    const tr_imesh_solver *s = mesh->solver;
    for ( int v = 0; v < mesh->vertex_count; ++v )
        held[v] = mesh->vertices[v].unknown < 0;
    for ( int i = s->held_start[frame]; i < s->held_start[frame + 1]; ++i )
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

void tr_imesh_mend_lengths( const tr_imesh *mesh, int frame, bool *held, vec3 *at )
{
    find_held( mesh, frame, held );
    for ( int i = 0; i < SWEEPS; ++i ) {
        for ( int g = 0; g < mesh->group_count; ++g )
            tr_imesh_group_mend( mesh, &mesh->groups[g], frame, held, at );
        mend_links( mesh, frame, held, at );
    }
}
