// Trunks, necks and tails are chains of short bones that hardly bend against each other. Lengths alone let
// them fold wherever the mesh wants their ends nearer to each other than the chain is long. So a term keeps
// the bend between two bones as it is without the mesh:
//
//   ½ w_k ‖ r ( (x_c − x_b) / ℓ_bc − (x_b − x_a) / ℓ_ab ) − the same of the places without the mesh ‖²
// It is linear in x and part of the one matrix. It is in world axes and so not quite invariant to rotation;
// but the difference of two nearly equal directions is short however both are turned. Elbows and knees, which
// bend, have no such term. r, a part of the body's height, makes a bend cost the same for bones of any
// length.
#include "imesh/private.h"

static bool is_trunk( const tr_imesh *mesh, const tr_imesh_embodiment *bodies, int v )
{
    const tr_imesh_vertex *vertex = &mesh->vertices[v];
    if ( vertex->kind != TR_IMESH_JOINT || vertex->ends[0] < 0 )
        return false;
    tr_role role = bodies[vertex->owner].body->target->joints[vertex->part].role;
    return role == TR_ROLE_SPINE || role == TR_ROLE_NECK || role == TR_ROLE_HEAD || role == TR_ROLE_TAIL;
}

bool tr_imesh_bends_build( tr_imesh *mesh, const tr_imesh_embodiment *bodies )
{
    mesh->bends = tr_alloc( (size_t)mesh->vertex_count, sizeof *mesh->bends );
    for ( int c = 0; mesh->bends != NULL && c < mesh->vertex_count; ++c ) {
        int b = is_trunk( mesh, bodies, c ) ? mesh->vertices[c].ends[0] : -1;
        if ( b >= 0 && is_trunk( mesh, bodies, b ) )
            mesh->bends[mesh->bend_count++] =
                ( tr_imesh_bend ){ { mesh->vertices[b].ends[0], b, c },
                                   mesh->def.bend_reach * bodies[mesh->vertices[c].owner].target.height };
    }
    return mesh->bends != NULL;
}

void tr_imesh_bends_add( const tr_imesh *mesh, int frame, double *block, float *base )
{
    const vec3 *source = tr_imesh_frame( mesh, mesh->source, frame ),
               *target = tr_imesh_frame( mesh, mesh->target, frame );
    double weight = mesh->def.bend;
    for ( int i = 0; i < mesh->bend_count; ++i ) {
        const tr_imesh_bend *bend = &mesh->bends[i];
        const int *v = bend->vertex;
        double above = v3_distance( target[v[1]], target[v[0]] ),
               below = v3_distance( target[v[2]], target[v[1]] );
        if ( !( fmin( above, below ) > TR_IMESH_NO_LENGTH ) )
            continue;
        double c[3] = { bend->reach / above, -bend->reach / above - bend->reach / below,
                        bend->reach / below };
        vec3 wanted = v3_zero;
        for ( int k = 0; k < 3; ++k )
            wanted = v3_mad( wanted, c[k], v3_sub( target[v[k]], source[v[k]] ) );
        tr_imesh_add_square( mesh, block, v, c, 3, weight );
        for ( int k = 0; k < 3; ++k )
            tr_imesh_pull( mesh, base, v[k], weight * c[k], wanted );
    }
}
