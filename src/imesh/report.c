// The report of a solve: overlaps, lost touches, tetrahedra turned inside out.
#include "imesh/private.h"

#include <stdlib.h>
#include <string.h>

double tr_imesh_bone_error( const tr_imesh *mesh )
{
    double worst = 0;
    for ( int f = 0; f < mesh->frame_count; ++f ) {
        const vec3 *at = tr_imesh_frame( mesh, mesh->positions, f );
        for ( int l = 0; l < mesh->link_count; ++l ) {
            const tr_imesh_link *link = &mesh->links[l];
            double length = mesh->solver->lengths[(size_t)f * (size_t)mesh->link_count + (size_t)l][1];
            if ( link->bone && length > mesh->def.lengths.bone_min )
                worst = fmax( worst, fabs( v3_distance( at[link->a], at[link->b] ) - length ) / length );
        }
    }
    return worst;
}

// --------------------------------------------------------------------------------------------------- losses

typedef struct trouble { // overlap of two volumes at one frame
    tr_imesh_contact_kind kind;
    int i, j, frame;
    double amount;
} trouble;

typedef struct troubles {
    trouble *items;
    int count, capacity;
    bool failed;
} troubles;

static void add_trouble( troubles *list, const tr_imesh_contact *c, int frame, double amount )
{
    if ( !tr_array_reserve( (void **)&list->items, &list->capacity, list->count + 1, sizeof *list->items ) ) {
        list->failed = true;
        return;
    }
    list->items[list->count++] = ( trouble ){ c->kind, c->i, c->j, frame, amount };
}

static bool same_two( const trouble *x, const trouble *y )
{
    return x->kind == y->kind && x->i == y->i && x->j == y->j;
}

static int by_contact( const void *a, const void *b )
{
    const trouble *x = a, *y = b;
    return x->kind != y->kind ? (int)x->kind - (int)y->kind
           : x->i != y->i     ? x->i - y->i
           : x->j != y->j     ? x->j - y->j
                              : x->frame - y->frame;
}

static tr_imesh_loss loss_of( const tr_imesh *mesh, const trouble *t )
{
    tr_imesh_contact c = { .kind = t->kind, .i = t->i, .j = t->j };
    return ( tr_imesh_loss ){ .a = tr_imesh_contact_owner( mesh, &c, 0 ),
                              .b = tr_imesh_contact_owner( mesh, &c, 1 ),
                              .part_a = mesh->capsules[t->i].index,
                              .part_b = t->kind == TR_IMESH_CAPSULES ? mesh->capsules[t->j].index : -1,
                              .first = t->frame,
                              .last = t->frame,
                              .worst = t->frame,
                              .amount = t->amount };
}

// Keeps the largest, those found first where they are equal; ordered by amount.
static void keep_loss( tr_imesh_loss *out, int *count, const tr_imesh_loss *loss )
{
    int at = *count;
    while ( at > 0 && out[at - 1].amount < loss->amount )
        --at;
    if ( at == TR_IMESH_LOSSES )
        return;
    int behind = ( *count < TR_IMESH_LOSSES ? *count : TR_IMESH_LOSSES - 1 ) - at;
    memmove( out + at + 1, out + at, (size_t)behind * sizeof *out );
    out[at] = *loss;
    *count += *count < TR_IMESH_LOSSES;
}

// Consecutive frames of the same two volumes become one loss. Frees the list.
static bool sum_up( const tr_imesh *mesh, troubles *list, tr_imesh_loss *out, int *count )
{
    if ( list->count > 1 )
        qsort( list->items, (size_t)list->count, sizeof *list->items, by_contact );
    for ( int i = 0; i < list->count; ) {
        tr_imesh_loss loss = loss_of( mesh, &list->items[i] );
        int k = i + 1;
        for ( ; k < list->count && same_two( &list->items[i], &list->items[k] ) &&
                list->items[k].frame == loss.last + 1;
              ++k ) {
            loss.last = list->items[k].frame;
            if ( list->items[k].amount > loss.amount ) {
                loss.amount = list->items[k].amount;
                loss.worst = loss.last;
            }
        }
        keep_loss( out, count, &loss );
        i = k;
    }
    tr_free( list->items );
    return !list->failed;
}

// -------------------------------------------------------------------------------------------- penetration

static bool measure_depths( const tr_imesh *mesh, const vec3 *positions, tr_imesh_penetration *out,
                            troubles *deep, troubles *apart )
{
    for ( int f = 0; f < mesh->frame_count; ++f ) {
        const vec3 *at = tr_imesh_frame( mesh, positions, f );
        if ( !tr_imesh_detect( mesh, f, at, 1 ) )
            return false;
        const tr_imesh_contacts *contacts = &mesh->solver->contacts[f];
        double deepest = 0;
        for ( int i = 0; i < contacts->count; ++i ) {
            const tr_imesh_contact *c = &contacts->items[i];
            if ( !c->active )
                continue;
            double gap = tr_imesh_gap( c, at ), depth = tr_imesh_required( c ) - gap;
            deepest = fmax( deepest, depth );
            out->sum_squares += depth > 0 ? depth * depth : 0;
            if ( deep != NULL && depth > mesh->def.too_deep )
                add_trouble( deep, c, f, depth );
            if ( apart != NULL && tr_imesh_touches( mesh, c ) && gap - c->source_gap > mesh->def.too_far )
                add_trouble( apart, c, f, gap - c->source_gap );
        }
        out->deepest = fmax( out->deepest, deepest );
        out->frames += deepest > mesh->def.too_deep;
    }
    return true;
}

static double volume6( const vec3 *at, const int *tet )
{
    vec3 a = at[tet[0]];
    return v3_dot( v3_sub( at[tet[1]], a ), v3_cross( v3_sub( at[tet[2]], a ), v3_sub( at[tet[3]], a ) ) );
}

// Tetrahedra so flat that rounding could turn them do not count.
static void count_flips( const tr_imesh *mesh, tr_imesh_report *report )
{
    const double flat = 6e-9; // six times a cubic millimetre
    for ( int f = 0; f < mesh->frame_count; ++f ) {
        const tr_imesh_web *web = &mesh->webs[f];
        const vec3 *source = tr_imesh_frame( mesh, mesh->source, f ),
                   *at = tr_imesh_frame( mesh, mesh->positions, f );
        for ( int t = 0; t < web->tet_count; ++t )
            report->flipped += volume6( source, web->tets[t] ) > flat && volume6( at, web->tets[t] ) < -flat;
        report->tets += web->tet_count;
    }
}

static double energy_of( const tr_imesh *mesh )
{
    double sum = 0;
    for ( int f = 0; f < mesh->frame_count; ++f ) {
        const vec3 *source = tr_imesh_frame( mesh, mesh->source, f ),
                   *at = tr_imesh_frame( mesh, mesh->positions, f );
        for ( int v = 0; v < mesh->vertex_count; ++v ) {
            vec3 wanted =
                v3_add( tr_imesh_laplacian( &mesh->webs[f], source, v ), tr_imesh_grown( mesh, f, v ) );
            vec3 d = v3_sub( tr_imesh_laplacian( &mesh->webs[f], at, v ), wanted );
            sum += v3_dot( d, d );
        }
    }
    return sum / fmax( 1, (double)mesh->frame_count * mesh->vertex_count );
}

static double row_error( const tr_imesh *mesh )
{
    double worst = 0;
    for ( int i = 0; i < mesh->solver->held_count; ++i ) {
        const tr_imesh_held *held = &mesh->solver->held[i];
        const vec3 *at = tr_imesh_frame( mesh, mesh->positions, held->row->frame );
        vec3 miss = v3_sub( tr_imesh_held_offset( mesh, held ), v3_scale( held->scale, held->row->target ) );
        for ( int t = 0; t < held->term_count; ++t )
            miss = v3_mad( miss, held->weight[t], at[held->vertex[t]] );
        miss = v3_mul( miss, v3( held->row->axis[0], held->row->axis[1], held->row->axis[2] ) );
        if ( held->row->hard )
            worst = fmax( worst, v3_length( miss ) / held->scale );
    }
    return worst;
}

// Overlaps and lost touches at `positions`, with the contacts known so far.
static bool find_losses( const tr_imesh *mesh, const vec3 *positions, tr_imesh_report *report )
{
    troubles deep = { 0 }, apart = { 0 };
    report->after = ( tr_imesh_penetration ){ 0 };
    report->no_room_count = report->lost_count = 0;
    bool ok = measure_depths( mesh, positions, &report->after, &deep, &apart );
    ok = sum_up( mesh, &deep, report->no_room, &report->no_room_count ) && ok;
    return sum_up( mesh, &apart, report->lost, &report->lost_count ) && ok;
}

bool tr_imesh_report_fill( tr_imesh *mesh, tr_imesh_report *report )
{
    bool ok = find_losses( mesh, mesh->positions, report );
    for ( int f = 0; f < mesh->frame_count; ++f )
        mesh->solver->contacts[f].count = mesh->solver->before[f].count = 0;
    ok = ok && measure_depths( mesh, mesh->target, &report->before, NULL, NULL );
    count_flips( mesh, report );
    report->energy = energy_of( mesh );
    report->bone_error = tr_imesh_bone_error( mesh );
    report->row_error = row_error( mesh );
    return ok;
}

// Touches of the source are detected there first: at `place` they may be far apart.
bool tr_imesh_judge( const tr_imesh_cast *cast, const tr_imesh_def *def, tr_imesh_report *report,
                     tr_error *error )
{
    tr_imesh mesh = { .cast = *cast, .def = *def, .frame_count = cast->frame_count };
    bool ok = tr_imesh_vertices_build( &mesh, error ) && tr_imesh_watch_build( &mesh, error );
    bool found = ok;
    for ( int f = 0; found && f < mesh.frame_count; ++f )
        found = tr_imesh_detect( &mesh, f, tr_imesh_frame( &mesh, mesh.source, f ), 0 );
    found = found && find_losses( &mesh, mesh.target, report );
    tr_imesh_free( &mesh );
    return ok && ( found || tr_error_memory( error ) );
}
