// The interaction mesh of one frame, to be drawn: which joints of close members are neighbours, and where the
// result has them.
#include "closeness/private.h"

#include <string.h>

enum { BOX_CORNERS = 8 };

typedef struct weaving {
    tr_closeness_def def;
    const tr_stage *stage;
    const tr_result *result;
    int frame;
    int *members;       // [count] whose point it is
    vec3 *source, *now; // [count]
    int count;
    int ( *bones )[2];
    int bone_count;
    int *above; // [joint_count of the largest] scratch: point of each joint, or of the nearest above it
} weaving;

static void add_point( weaving *w, int member, vec3 source, vec3 now )
{
    w->members[w->count] = member;
    w->source[w->count] = source;
    w->now[w->count++] = now;
}

static void add_actor( weaving *w, int member )
{
    const tr_actor *actor = &w->stage->actors[member];
    tr_pose source = tr_world_pose( &actor->world, w->frame ),
            now = tr_world_pose( &w->result->worlds[member], w->frame );
    for ( int j = 0; j < actor->target.joint_count; ++j ) {
        int parent = actor->target.joints[j].parent, from = actor->map[j];
        w->above[j] = parent >= 0 ? w->above[parent] : -1;
        if ( from < 0 ||
             ( w->above[j] >= 0 && tr_bone_length( &actor->source.skeleton, from ) < w->def.shortest_bone ) )
            continue;
        if ( w->above[j] >= 0 ) {
            w->bones[w->bone_count][0] = w->count;
            w->bones[w->bone_count++][1] = w->above[j];
        }
        w->above[j] = w->count;
        add_point( w, member, source.positions[from], now.positions[j] );
    }
}

static void add_box( weaving *w, int member, tr_solid source, tr_solid now )
{
    for ( int c = 0; c < BOX_CORNERS; ++c ) {
        vec3 corner = v3_sub( v3( c & 1, ( c >> 1 ) & 1, c >> 2 ), v3( 0.5, 0.5, 0.5 ) );
        add_point( w, member, rigid_apply( source.at, v3_mul( source.shape.size, corner ) ),
                   rigid_apply( now.at, v3_mul( now.shape.size, corner ) ) );
    }
}

static void add_member( weaving *w, int member )
{
    const tr_stage *stage = w->stage;
    int prop = member - stage->actor_count, obstacle = prop - stage->prop_count;
    if ( prop < 0 )
        add_actor( w, member );
    else if ( obstacle < 0 ) {
        tr_solid source = { stage->props[prop].track[w->frame], tr_stage_prop_shape( stage, prop, true ) };
        add_box(
            w, member, source,
            ( tr_solid ){ w->result->tracks[prop][w->frame], tr_stage_prop_shape( stage, prop, false ) } );
    } else
        add_box( w, member, tr_stage_obstacle( stage, obstacle, true ),
                 tr_stage_obstacle( stage, obstacle, false ) );
}

static bool are_close( const tr_imesh_pairs *links, int a, int b, int frame )
{
    for ( int i = 0; i < links->count && links->items[i].first <= frame; ++i ) {
        const tr_imesh_pair *p = &links->items[i];
        if ( frame <= p->last && p->a == ( a < b ? a : b ) && p->b == ( a < b ? b : a ) )
            return true;
    }
    return false;
}

// The member and all that are close to it at the frame.
static bool gather( weaving *w, const tr_imesh_pairs *links, int member )
{
    const tr_stage *stage = w->stage;
    int members = tr_stage_member_count( stage );
    size_t most = BOX_CORNERS * (size_t)members, largest = 0;
    for ( int i = 0; i < stage->actor_count; ++i ) {
        size_t joints = (size_t)stage->actors[i].target.joint_count;
        most += i == member || are_close( links, member, i, w->frame ) ? joints : 0;
        largest = joints > largest ? joints : largest;
    }
    w->members = tr_alloc( most, sizeof( int ) );
    w->source = tr_alloc( most, sizeof( vec3 ) );
    w->now = tr_alloc( most, sizeof( vec3 ) );
    w->bones = tr_alloc( most, sizeof *w->bones );
    w->above = tr_alloc( largest, sizeof( int ) );
    if ( w->members == NULL || w->source == NULL || w->now == NULL || w->bones == NULL || w->above == NULL )
        return false;
    for ( int m = 0; m < members; ++m )
        if ( m == member || are_close( links, member, m, w->frame ) )
            add_member( w, m );
    return true;
}

static bool write_lines( const weaving *w, const tr_imesh_pairs *links, const tr_imesh_web *web,
                         tr_mesh_lines *out )
{
    for ( int v = 0; v < w->count; ++v )
        for ( int i = web->start[v]; i < web->start[v + 1]; ++i ) {
            int n = web->neighbours[i];
            if ( n <= v || !are_close( links, w->members[v], w->members[n], w->frame ) ||
                 v3_distance( w->source[v], w->source[n] ) > w->def.longest_line )
                continue;
            if ( !tr_array_reserve( (void **)&out->items, &out->capacity, out->count + 1,
                                    sizeof *out->items ) )
                return false;
            out->items[out->count][0] = w->now[v];
            out->items[out->count++][1] = w->now[n];
        }
    return true;
}

bool tr_mesh_lines_find( tr_mesh_lines *out, const tr_stage *stage, const tr_result *result,
                         const tr_imesh_pairs *links, int member, int frame, tr_error *error )
{
    weaving w = { .def = tr_default_closeness_def(), .stage = stage, .result = result, .frame = frame };
    tr_delaunay scratch = { 0 };
    tr_imesh_web web = { 0 };
    bool ok = gather( &w, links, member ) || tr_error_memory( error );
    tr_imesh_points points = { w.source, w.count, (const int( * )[2])w.bones, w.bone_count,
                               w.def.mesh.nearest };
    if ( ok && w.count > 1 )
        ok = tr_imesh_web_build( &web, &scratch, &points, error ) &&
             ( write_lines( &w, links, &web, out ) || tr_error_memory( error ) );
    tr_imesh_web_free( &web );
    tr_delaunay_free( &scratch );
    tr_free( w.members );
    tr_free( w.source );
    tr_free( w.now );
    tr_free( w.bones );
    tr_free( w.above );
    return ok;
}

void tr_mesh_lines_free( tr_mesh_lines *lines )
{
    tr_free( lines->items );
    *lines = ( tr_mesh_lines ){ 0 };
}
