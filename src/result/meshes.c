// Interaction meshes in report.json: close pairs, and what was kept of them, window by window.
//
//   "imesh": {"links": [{"a": "p01", "b": "p02", "range": [10, 80]}],
//     "windows": [{"members": ["p01", "p02"], "range": [10, 80],
//       "penetration": {"before": {"deepest_cm": 4.1, "sum_squares_cm2": 93, "frames": 12}, "after": {…}},
//       "no_room": [{"a": "p01.LeftArm", "b": "p02.Spine", "range": [31, 36], "worst_frame": 33, "cm": 1.2}],
//       "lost": [… the same …], "flipped": 3, "tetrahedra": 20113, "bytes": 8200123}]}
#include "result/private.h"

#include <string.h>

// Joint at which the bone of a part begins; -1: box, ground.
static int joint_of( const tr_stage *stage, const tr_mesh_report *report, int which, int part )
{
    int member = which >= 0 ? report->members[which] : -1;
    return part >= 0 && member >= 0 && member < stage->actor_count
               ? stage->actors[member].body.capsules[part].parent
               : -1;
}

void tr_mesh_part_print( const tr_stage *stage, const tr_mesh_report *report, int which, int part,
                         tr_text *out )
{
    int member = which >= 0 ? report->members[which] : -1, joint = joint_of( stage, report, which, part );
    const char *who = member >= 0 ? tr_stage_member_id( stage, member ) : "ground";
    tr_text_append( out, who, strlen( who ) );
    if ( joint >= 0 )
        tr_point_print_term( out, true, stage->actors[member].target.joints[joint].name, 1 );
}

static void print_part( tr_text *out, const tr_stage *stage, const tr_mesh_report *report, int which,
                        int part )
{
    tr_text text = { 0 };
    tr_mesh_part_print( stage, report, which, part, &text );
    tr_text_quoted( out, text.data != NULL ? text.data : "", text.size );
    out->failed = out->failed || text.failed;
    tr_text_free( &text );
}

static bool same_names( const tr_stage *stage, const tr_mesh_report *report, const tr_imesh_loss *x,
                        const tr_imesh_loss *y )
{
    return x->a == y->a && x->b == y->b &&
           joint_of( stage, report, x->a, x->part_a ) == joint_of( stage, report, y->a, y->part_a ) &&
           joint_of( stage, report, x->b, x->part_b ) == joint_of( stage, report, y->b, y->part_b );
}

// Several bones may begin at one joint, and each may be in the way: losses with the same names at the same
// time become one. Returns how many are left.
static int merge_losses( const tr_stage *stage, const tr_mesh_report *report, tr_imesh_loss *losses,
                         int count )
{
    int kept = 0;
    for ( int i = 0; i < count; ++i ) {
        tr_imesh_loss loss = losses[i];
        int k = 0;
        while ( k < kept && !( same_names( stage, report, &losses[k], &loss ) &&
                               losses[k].first <= loss.last + 1 && loss.first <= losses[k].last + 1 ) )
            ++k;
        if ( k < kept ) {
            int first = loss.first < losses[k].first ? loss.first : losses[k].first,
                last = loss.last > losses[k].last ? loss.last : losses[k].last;
            loss = loss.amount > losses[k].amount ? loss : losses[k];
            loss.first = first;
            loss.last = last;
        }
        losses[k] = loss;
        kept += k == kept;
    }
    return kept;
}

static void print_losses( tr_text *out, const tr_stage *stage, const tr_mesh_report *report, const char *key,
                          const tr_imesh_loss *all, int count )
{
    int origin = stage->scene->first + report->first;
    tr_imesh_loss losses[TR_IMESH_LOSSES];
    memcpy( losses, all, (size_t)count * sizeof *losses );
    count = merge_losses( stage, report, losses, count );
    tr_text_add( out, ", \"%s\": [", key );
    for ( int i = 0; i < count; ++i ) {
        const tr_imesh_loss *loss = &losses[i];
        tr_text_add( out, "%s\n        {\"a\": ", i > 0 ? "," : "" );
        print_part( out, stage, report, loss->a, loss->part_a );
        tr_text_add( out, ", \"b\": " );
        print_part( out, stage, report, loss->b, loss->part_b );
        tr_text_add( out, ", \"range\": [%d, %d], \"worst_frame\": %d, \"cm\": ", origin + loss->first,
                     origin + loss->last, origin + loss->worst );
        tr_text_number( out, 100 * loss->amount, 4 );
        tr_text_append( out, "}", 1 );
    }
    tr_text_append( out, "]", 1 );
}

static void print_penetration( tr_text *out, const char *key, const tr_imesh_penetration *p )
{
    tr_text_add( out, "\"%s\": {\"deepest_cm\": ", key );
    tr_text_number( out, 100 * p->deepest, 4 );
    tr_text_add( out, ", \"sum_squares_cm2\": " );
    tr_text_number( out, 1e4 * p->sum_squares, 6 );
    tr_text_add( out, ", \"frames\": %d}", p->frames );
}

static void print_window( tr_text *out, const tr_stage *stage, const tr_mesh_report *report )
{
    int origin = stage->scene->first;
    const tr_imesh_report *mesh = &report->mesh;
    tr_text_add( out, "      {\"members\": [" );
    for ( int m = 0; m < report->member_count; ++m )
        tr_text_add( out, "%s\"%s\"", m > 0 ? ", " : "", tr_stage_member_id( stage, report->members[m] ) );
    tr_text_add( out, "], \"range\": [%d, %d],\n        \"penetration\": {", origin + report->first,
                 origin + report->last );
    print_penetration( out, "before", &mesh->before );
    tr_text_append( out, ", ", 2 );
    print_penetration( out, "after", &mesh->after );
    tr_text_append( out, "}", 1 );
    print_losses( out, stage, report, "no_room", mesh->no_room, mesh->no_room_count );
    print_losses( out, stage, report, "lost", mesh->lost, mesh->lost_count );
    tr_text_add( out, ", \"flipped\": %d, \"tetrahedra\": %d, \"bytes\": %zu}", mesh->flipped, mesh->tets,
                 report->bytes );
}

void tr_meshes_print( const tr_stage *stage, const tr_result *result, tr_text *out )
{
    int origin = stage->scene->first;
    tr_text_add( out, "{\n    \"links\": [" );
    for ( int i = 0; i < result->links.count; ++i ) {
        const tr_imesh_pair *link = &result->links.items[i];
        tr_text_add( out, "%s\n      {\"a\": \"%s\", \"b\": \"%s\", \"range\": [%d, %d]}", i > 0 ? "," : "",
                     tr_stage_member_id( stage, link->a ), tr_stage_member_id( stage, link->b ),
                     origin + link->first, origin + link->last );
    }
    tr_text_add( out, "],\n    \"windows\": [" );
    for ( int i = 0; i < result->mesh_count; ++i ) {
        tr_text_add( out, i > 0 ? ",\n" : "\n" );
        print_window( out, stage, &result->meshes[i] );
    }
    tr_text_add( out, "]\n  }" );
}

void tr_meshes_free( tr_result *result )
{
    for ( int i = 0; i < result->mesh_count; ++i )
        tr_free( result->meshes[i].members );
    tr_free( result->meshes );
    tr_imesh_pairs_free( &result->links );
}

bool tr_meshes_copy( tr_result *out, const tr_result *in )
{
    out->meshed = in->meshed;
    out->meshes = tr_alloc( (size_t)in->mesh_count, sizeof( tr_mesh_report ) );
    out->links.items = tr_alloc( (size_t)in->links.count, sizeof *in->links.items );
    if ( out->meshes == NULL || out->links.items == NULL )
        return false;
    for ( int i = 0; i < in->links.count; ++i )
        out->links.items[out->links.count++] = in->links.items[i];
    for ( int i = 0; i < in->mesh_count; ++i ) {
        const tr_mesh_report *from = &in->meshes[i];
        tr_mesh_report *to = &out->meshes[out->mesh_count++];
        *to = *from;
        to->members = tr_alloc( (size_t)from->member_count, sizeof( int ) );
        if ( to->members == NULL )
            return false;
        for ( int k = 0; k < from->member_count; ++k )
            to->members[k] = from->members[k];
    }
    return true;
}
