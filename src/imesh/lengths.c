// Errors of lengths that the rounds leave. Where contacts press harder than a bone can hold (solve.c), it is
// wrong by some per cent, and a round takes away a hundredth of that. At the end every frame is brought to
// its lengths separately: bone by bone, both ends by the same distance, and group by group, to where the
// shape lies nearest. Vertices on hard rows stay.
#include "imesh/private.h"

// Vertices held by hard rows: the joints on both sides.
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
        if ( !link->bone || link->grouped || !( length > TR_IMESH_NO_LENGTH ) || a + b == 0 )
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
        if ( link->bone && length > mesh->def.lengths.bone_min )
            worst = fmax( worst, fabs( v3_distance( at[link->a], at[link->b] ) / length - 1 ) );
    }
    return worst;
}

void tr_imesh_mend_lengths( const tr_imesh *mesh, int frame, bool *held, vec3 *at )
{
    const tr_imesh_length_def *def = &mesh->def.lengths;
    for ( int i = 0;
          i < def->sweeps_min || ( i < def->sweeps_max && worst_bone( mesh, frame, at ) > def->tolerance );
          ++i ) {
        if ( i == 0 || i == def->rows_hold )
            find_held( mesh, frame, i == 0, held );
        for ( int g = 0; g < mesh->group_count; ++g )
            tr_imesh_group_mend( mesh, &mesh->groups[g], frame, held, at );
        mend_links( mesh, frame, held, at );
    }
}
