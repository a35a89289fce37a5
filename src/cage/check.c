// The invariants of a cage.
#include "cage/private.h"

#define ROUNDING 1e-9 // error of doubles near 1
#define ROUNDED  1e-5 // error of sums of floats near 1

static bool all_finite( const vec3 *v, int count )
{
    for ( int i = 0; i < count; ++i )
        if ( !v3_finite( v[i] ) )
            return false;
    return true;
}

static const char *check_shape( const tr_cage *cage )
{
    int n = cage->def.detail;
    if ( cage->vertex_count != 6 * n * n + 2 || cage->triangle_count != 12 * n * n ||
         cage->edge_count != 18 * n * n + cage->vertex_count / 2 )
        return "the section is no closed cube";
    double volume = 0; // six times that of the cube [−1, 1]³, if all triangles look outward
    for ( int t = 0; t < cage->triangle_count; ++t ) {
        const int *c = cage->triangles[t];
        for ( int k = 0; k < 3; ++k )
            if ( c[k] < 0 || c[k] >= cage->vertex_count )
                return "a triangle has a corner that is no vertex";
        volume += m3_det( ( mat3 ){ cage->shape[c[0]], cage->shape[c[1]], cage->shape[c[2]] } );
    }
    return fabs( volume - 48 ) < ROUNDING ? NULL : "the section's triangles do not close around it";
}

static const char *check_sections( const tr_cage *cage )
{
    if ( cage->section_count < 2 || cage->section_count > TR_CAGE_MAX_SECTIONS )
        return "a cage has 2 sections at least";
    if ( cage->sections[0] != cage->first || cage->sections[cage->section_count - 1] != cage->last )
        return "the window's ends have no section";
    for ( int k = 1; k < cage->section_count; ++k )
        if ( cage->sections[k] <= cage->sections[k - 1] )
            return "sections do not follow each other in time";
    if ( cage->first < cage->begin || cage->last >= cage->begin + cage->frame_count )
        return "the window is not within the frames";
    return NULL;
}

static const char *check_places( const tr_cage *cage )
{
    for ( int f = 0; f < cage->frame_count; ++f ) {
        vec3 e = cage->extents[f];
        if ( !v3_finite( cage->places[f].position ) || !q_finite( cage->places[f].rotation ) ||
             fabs( q_dot( cage->places[f].rotation, cage->places[f].rotation ) - 1 ) > ROUNDING )
            return "a section has no place";
        if ( !v3_finite( e ) || !( fmin( e.x, fmin( e.y, e.z ) ) >= cage->def.padding ) )
            return "a section is smaller than its padding";
    }
    return NULL;
}

// Weights add up to one and put their point inside the section.
static const char *check_weights( const tr_cage *cage )
{
    for ( int i = 0; i < cage->frame_count * cage->point_count; ++i ) {
        const float *w = cage->weights + (size_t)i * (size_t)cage->vertex_count;
        double sum = 0;
        vec3 at = v3_zero;
        for ( int v = 0; v < cage->vertex_count; ++v ) {
            sum += w[v];
            at = v3_mad( at, w[v], cage->shape[v] );
        }
        if ( !( fabs( sum - 1 ) <= ROUNDED ) )
            return "the weights of a point do not add up to 1";
        if ( !( fmax( fabs( at.x ), fmax( fabs( at.y ), fabs( at.z ) ) ) <= 1 + ROUNDED ) )
            return "a point lies outside its section";
    }
    return NULL;
}

static const char *check_moved( const tr_cage *cage )
{
    int all = cage->section_count * cage->vertex_count;
    if ( !all_finite( cage->rest, all ) || !all_finite( cage->moved, all ) ||
         !all_finite( cage->residuals, all ) || !all_finite( cage->residual_drift, all ) )
        return "a vertex is nowhere";
    if ( !all_finite( cage->drift, cage->section_count ) || !all_finite( cage->spin, cage->section_count ) )
        return "a section moves at no speed";
    for ( int k = 0; k < cage->section_count; ++k )
        if ( !v3_finite( cage->motions[k].position ) || !q_finite( cage->motions[k].rotation ) )
            return "the motion of a section is none";
    int last = cage->section_count - 1;
    bool moves =
        cage->def.start != TR_CAGE_EASED && v3_length( cage->drift[0] ) + v3_length( cage->spin[0] ) > 0;
    if ( cage->def.end != TR_CAGE_EASED )
        moves = moves || v3_length( cage->drift[last] ) + v3_length( cage->spin[last] ) > 0;
    if ( moves )
        return "the window does not end at rest";
    return NULL;
}

const char *tr_cage_check( const tr_cage *cage )
{
    const char *wrong = check_shape( cage );
    wrong = wrong != NULL ? wrong : check_sections( cage );
    wrong = wrong != NULL ? wrong : check_places( cage );
    wrong = wrong != NULL || cage->def.late ? wrong : check_weights( cage );
    return wrong != NULL ? wrong : check_moved( cage );
}
