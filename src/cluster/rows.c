#include "cluster/private.h"

#include <string.h>

tr_rows_def tr_default_rows_def( void )
{
    return ( tr_rows_def ){ .lowered = 0.9, .most_at_once = 64 };
}

int tr_cluster_rows_graph( const tr_cluster_rows *rows, int node )
{
    int low = 0, high = rows->node_count;
    while ( low < high ) {
        int middle = low + ( high - low ) / 2;
        if ( rows->nodes[middle] < node )
            low = middle + 1;
        else
            high = middle;
    }
    return low < rows->node_count && rows->nodes[low] == node ? low : -1;
}

static int graph_of( const tr_cluster_rows *rows, const tr_anchor *anchor )
{
    return tr_cluster_rows_graph( rows, tr_anchor_node( rows->stage, anchor ) );
}

// A box is a skeleton of two joints, the first at the middle of its floor.
static int add_anchor( tr_cluster_rows *rows, const tr_anchor *anchor )
{
    int graph = graph_of( rows, anchor );
    if ( anchor->prop < 0 )
        return tr_cluster_add_point( &rows->cluster, graph, anchor->joints, anchor->weights, anchor->count,
                                     anchor->offset );
    const tr_stage_prop *prop = &rows->stage->props[anchor->prop];
    int joint = 0;
    double weight = 1;
    vec3 from_floor = v3( 0, 0.5 * prop->scale * prop->shape.size.y, 0 );
    return tr_cluster_add_point( &rows->cluster, graph, &joint, &weight, 1,
                                 v3_add( anchor->offset, from_floor ) );
}

// The rules of the stances of one foot have the same target: one of them stands for the footing.
static bool serves( const tr_cluster_rows *rows, int rule, int row )
{
    const tr_rule *own = &rows->stage->rules[rule];
    bool told = false;
    for ( int i = 0; !told && own->footing >= 0 && tr_rule_is_stance( own ) && i < rows->count; ++i ) {
        const tr_rule *other = &rows->stage->rules[rows->items[i].rule];
        told = rows->items[i].row == row && other->footing == own->footing && tr_rule_is_stance( other ) &&
               other->hard == own->hard && other->weight == own->weight;
    }
    return told;
}

static bool append( tr_cluster_rows *rows, int rule, int corner, int graph_a, int point_a, int graph_b,
                    int point_b )
{
    if ( point_a < 0 || ( graph_b >= 0 && point_b < 0 ) )
        return false;
    int row = -1;
    for ( int r = 0; row < 0 && r < rows->cluster.row_count; ++r ) {
        const tr_port_row *known = &rows->cluster.rows[r];
        if ( known->tree[0] == graph_a && known->port[0] == point_a && known->tree[1] == graph_b &&
             ( graph_b < 0 || known->port[1] == point_b ) )
            row = r;
    }
    if ( row < 0 )
        row = tr_cluster_add_row( &rows->cluster, graph_a, point_a, graph_b, point_b );
    if ( row >= 0 && serves( rows, rule, row ) )
        return true;
    if ( row < 0 ||
         !tr_array_reserve( (void **)&rows->items, &rows->capacity, rows->count + 1, sizeof( tr_rule_row ) ) )
        return false;
    rows->items[rows->count++] = ( tr_rule_row ){ rule, row, corner, { graph_a, graph_b } };
    return true;
}

static bool add_rotation( tr_cluster_rows *rows, int r, const tr_rule *rule, int graph )
{
    for ( int corner = 0; corner < 2; ++corner ) {
        int point = tr_cluster_add_corner( &rows->cluster, graph, rule->a.joints[0], corner );
        if ( !append( rows, r, corner, graph, point, -1, -1 ) )
            return false;
    }
    return true;
}

// Strength of a rule; 0 for a soft rule without weight, which asks for nothing.
static double pull_of( const tr_cluster_rows *rows, const tr_rule *rule, int frame )
{
    return rule->hard || rule->weight > 0 ? tr_rule_pull( rows->stage, rule, frame ) : 0;
}

// Does the rule pull in any of the frames at work?
static bool is_on( const tr_cluster_rows *rows, const tr_rule *rule )
{
    for ( int f = rows->first; f < rows->first + rows->frame_count; ++f )
        if ( pull_of( rows, rule, f ) > 0 )
            return true;
    return false;
}

// A node that the rule names and that is not in the cluster.
static bool is_outside( const tr_cluster_rows *rows, const tr_anchor *anchor )
{
    return tr_anchor_node( rows->stage, anchor ) >= 0 && graph_of( rows, anchor ) < 0;
}

// Frames in which a rule may have any strength; of a footing all frames.
static void acting_frames( const tr_rule *rule, int *from, int *to )
{
    if ( rule->footing >= 0 )
        return;
    double first = rule->first - rule->ease_in - 1, last = rule->last + rule->ease_out + 1;
    *from = tr_int_clamped( first, *from, *to + 1 );
    *to = tr_int_clamped( last, *from - 1, *to );
}

typedef struct crowding { // while rows are built
    int *on_graph;        // [graph_count] items of rules that act there at any frame
    int *at_frame;        // [frame_count] room for a count
} crowding;

static bool is_crowded( const tr_cluster_rows *rows, crowding *crowd, const tr_rule *rule, int graph )
{
    if ( graph < 0 || crowd->on_graph[graph] < rows->def.most_at_once )
        return false;
    int begin = rows->first, from = begin, to = begin + rows->frame_count - 1;
    acting_frames( rule, &from, &to );
    memset( crowd->at_frame, 0, (size_t)rows->frame_count * sizeof( int ) );
    for ( int i = 0; i < rows->count; ++i ) {
        const tr_rule_row *item = &rows->items[i];
        int first = from, last = to;
        if ( ( item->graphs[0] != graph && item->graphs[1] != graph ) ||
             rows->stage->rules[item->rule].footing >= 0 )
            continue;
        acting_frames( &rows->stage->rules[item->rule], &first, &last );
        for ( int f = first; f <= last; ++f )
            if ( ++crowd->at_frame[f - begin] >= rows->def.most_at_once )
                return true;
    }
    return false;
}

// A frame that is solved contains everything that rules join to its bodies (tr_stage_reach). So a rule that
// joins a body to something outside the cluster acts in other frames only, and gets no row.
static bool add_rule( tr_cluster_rows *rows, crowding *crowd, int r )
{
    const tr_rule *rule = &rows->stage->rules[r];
    int graph = graph_of( rows, &rule->a ), other = graph_of( rows, &rule->b );
    bool bone = rule->kind == TR_CONSTRAINT_LENGTH && other < 0; // exact by construction in the fit
    bool stance = rule->footing >= 0;                            // feet are few, and every foot has one row
    if ( graph < 0 || bone || !is_on( rows, rule ) ||
         ( !stance && ( is_crowded( rows, crowd, rule, graph ) || is_crowded( rows, crowd, rule, other ) ) ) )
        return true;
    if ( rule->kind == TR_CONSTRAINT_ORIENTATION )
        return rule->a.actor < 0 || rule->a.count == 0 || add_rotation( rows, r, rule, graph );
    if ( rule->kind == TR_CONSTRAINT_CENTRE_OF_MASS ) {
        int point =
            tr_cluster_add_mass( &rows->cluster, graph, rows->stage->actors[rule->a.actor].body.masses );
        return append( rows, r, -1, graph, point, -1, -1 );
    }
    int foot = tr_stance_foot( rows->stage, rule );
    if ( foot >= 0 )
        return append( rows, r, -1, graph, tr_cluster_add_joint( &rows->cluster, graph, foot ), -1, -1 );
    tr_anchor end = rule->b;
    if ( rule->surface_prop >= 0 ) // where it landed, as a point of the prop
        end = ( tr_anchor ){ .actor = -1, .prop = rule->surface_prop, .offset = rule->target };
    if ( is_outside( rows, &end ) )
        return true;
    int a = add_anchor( rows, &rule->a ), b = graph_of( rows, &end );
    return append( rows, r, -1, graph, a, b, b < 0 ? -1 : add_anchor( rows, &end ) );
}

static bool add_prop_turn( tr_cluster_rows *rows, int prop, int graph )
{
    for ( int corner = 0; corner < 2; ++corner ) {
        int point = tr_cluster_add_corner( &rows->cluster, graph, 0, corner );
        int row = point < 0 ? -1 : tr_cluster_add_row( &rows->cluster, graph, point, -1, -1 );
        if ( row < 0 || !tr_array_reserve( (void **)&rows->props, &rows->prop_capacity, rows->prop_count + 1,
                                           sizeof( tr_prop_row ) ) )
            return false;
        rows->props[rows->prop_count++] = ( tr_prop_row ){ prop, row, graph, corner };
    }
    return true;
}

// Items that adding a rule made.
static void count_items( const tr_cluster_rows *rows, crowding *crowd, int from )
{
    for ( int i = from; i < rows->count; ++i )
        for ( int e = 0; e < 2; ++e )
            if ( rows->items[i].graphs[e] >= 0 && rows->stage->rules[rows->items[i].rule].footing < 0 )
                crowd->on_graph[rows->items[i].graphs[e]]++;
}

static bool add_rules( tr_cluster_rows *rows, crowding *crowd )
{
    for ( int level = TR_FIT_PRIORITIES - 1; level >= 0; --level )
        for ( int i = 0; i < rows->rule_count; ++i ) {
            int r = rows->rules != NULL ? rows->rules[i] : i, from = rows->count;
            if ( tr_rule_priority( &rows->stage->rules[r] ) == level && !add_rule( rows, crowd, r ) )
                return false;
            count_items( rows, crowd, from );
        }
    return true;
}

bool tr_cluster_rows_build( tr_cluster_rows *rows, tr_error *error )
{
    rows->def = tr_default_rows_def();
    for ( int n = 0; n < rows->node_count; ++n ) {
        int prop = rows->nodes[n] - rows->stage->actor_count;
        if ( prop >= 0 && !add_prop_turn( rows, prop, n ) )
            return tr_error_memory( error );
    }
    crowding crowd = { tr_alloc( (size_t)rows->cluster.graph_count, sizeof( int ) ),
                       tr_alloc( (size_t)rows->frame_count, sizeof( int ) ) };
    bool ok = crowd.on_graph != NULL && crowd.at_frame != NULL && add_rules( rows, &crowd );
    tr_free( crowd.on_graph );
    tr_free( crowd.at_frame );
    return ok ? tr_cluster_factor( &rows->cluster, error ) : tr_error_memory( error );
}

void tr_cluster_rows_free( tr_cluster_rows *rows )
{
    tr_cluster_free( &rows->cluster );
    tr_free( rows->items );
    tr_free( rows->props );
    rows->items = NULL;
    rows->props = NULL;
    rows->count = rows->capacity = rows->prop_count = rows->prop_capacity = 0;
}

// ------------------------------------------------------------------------------------------------- goals

static vec3 wanted( const tr_cluster_rows *rows, const tr_result *now, const tr_rule_row *item, int frame )
{
    const tr_stage *stage = rows->stage;
    const tr_rule *rule = &stage->rules[item->rule];
    if ( item->corner >= 0 ) {
        int graph = item->graphs[0], joint = rule->a.joints[0];
        vec3 corner = rows->cluster.graphs[graph]->corners[3 * joint + item->corner];
        return q_rotate( tr_rule_rotation( stage, now, rule, frame ), corner );
    }
    if ( tr_rule_is_stance( rule ) )
        return tr_stance_place( stage, now, rule, frame,
                                tr_world_pose( &now->worlds[rule->a.actor], frame ) );
    vec3 target = tr_rule_target( stage, now, rule, frame );
    if ( rule->surface_prop >= 0 ) // the row is the offset from the spot on the prop
        return v3_sub( target, rigid_apply( now->tracks[rule->surface_prop][frame], rule->target ) );
    if ( rule->kind == TR_CONSTRAINT_CENTRE_OF_MASS && rule->given )
        return tr_reach_mass( stage, now, rule, frame, tr_world_pose( &now->worlds[rule->a.actor], frame ) );
    bool pinned = rule->kind == TR_CONSTRAINT_ABSOLUTE && rule->a.actor >= 0 && rule->a.count > 0;
    return pinned ? tr_reach_place( stage, now, rule, frame, target ) : target;
}

static bool is_still( const bool *still, const tr_rule_row *item )
{
    return still != NULL && still[item->graphs[0]] && ( item->graphs[1] < 0 || still[item->graphs[1]] );
}

// Rules that share a row take turns: at each frame the strongest one is used.
static bool is_stronger( const tr_goal *goal, double compliance )
{
    double present = fmax( goal->compliance[0], fmax( goal->compliance[1], goal->compliance[2] ) );
    return present == TR_ROW_OFF || compliance < present;
}

static void set_goal( const tr_rule *rule, vec3 target, double compliance, tr_goal *goal )
{
    vec3 acts = tr_rule_masked( rule, v3_one );
    *goal = ( tr_goal ){ .target = target,
                         .compliance = { acts.x != 0 ? compliance : TR_ROW_OFF,
                                         acts.y != 0 ? compliance : TR_ROW_OFF,
                                         acts.z != 0 ? compliance : TR_ROW_OFF } };
}

static void rule_goals( const tr_cluster_rows *rows, const tr_result *now, const tr_rule_row *item,
                        const tr_goal_frames *out )
{
    const tr_stage *stage = rows->stage;
    const tr_rule *rule = &stage->rules[item->rule];
    size_t stride = (size_t)rows->cluster.row_count;
    int from = out->from, to = out->to;
    bool stays = out->contacts != NULL && tr_rule_stays( rule );
    acting_frames( rule, &from, &to );
    int n = ( from - out->from + out->stride - 1 ) / out->stride;
    for ( int f = out->from + n * out->stride; f <= to; f += out->stride, ++n ) {
        double strength = pull_of( rows, rule, f );
        if ( !( strength > 0 ) )
            continue;
        tr_goal *goal = &out->goals[(size_t)n * stride + (size_t)item->row],
                *contact = stays ? &out->contacts[(size_t)n * stride + (size_t)item->row] : NULL;
        double compliance =
            tr_cluster_compliance( &rows->cluster, item->row, rule->hard, rule->weight, strength );
        bool speaks = is_stronger( goal, compliance ), holds = stays && is_stronger( contact, compliance );
        if ( !speaks && !holds )
            continue;
        vec3 target = wanted( rows, now, item, f );
        if ( speaks )
            set_goal( rule, target, compliance, goal );
        if ( speaks && tr_rule_lowers( rule ) )
            goal->compliance[0] = goal->compliance[2] = tr_cluster_compliance(
                &rows->cluster, item->row, true, rule->weight, rows->def.lowered * strength );
        if ( holds )
            set_goal( rule, target, compliance, contact );
    }
}

static void prop_goals( const tr_cluster_rows *rows, const tr_result *now, const tr_prop_row *prop,
                        const tr_goal_frames *out )
{
    size_t at = (size_t)prop->row;
    vec3 corner = rows->cluster.graphs[prop->graph]->corners[prop->corner];
    for ( int f = out->from; f <= out->to; f += out->stride, at += (size_t)rows->cluster.row_count ) {
        quat turn = now->tracks[prop->prop][f].rotation;
        out->goals[at] = ( tr_goal ){ .target = q_rotate( turn, corner ) };
        if ( out->contacts != NULL )
            out->contacts[at] = out->goals[at];
    }
}

void tr_cluster_rows_goals( const tr_cluster_rows *rows, const tr_result *now, const bool *still,
                            const tr_goal_frames *out )
{
    size_t count = (size_t)( ( out->to - out->from ) / out->stride + 1 ) * (size_t)rows->cluster.row_count;
    for ( size_t i = 0; i < count; ++i )
        out->goals[i] = tr_goal_off();
    for ( size_t i = 0; i < count && out->contacts != NULL; ++i )
        out->contacts[i] = tr_goal_off();
    for ( int i = 0; i < rows->prop_count; ++i )
        if ( still == NULL || !still[rows->props[i].graph] )
            prop_goals( rows, now, &rows->props[i], out );
    for ( int i = 0; i < rows->count; ++i )
        if ( !is_still( still, &rows->items[i] ) )
            rule_goals( rows, now, &rows->items[i], out );
}

void tr_cluster_rows_on( const tr_cluster_rows *rows, int from, int to, bool *on )
{
    for ( int i = 0; i < rows->prop_count; ++i )
        on[rows->props[i].row] = true;
    for ( int i = 0; i < rows->count; ++i ) {
        const tr_rule *rule = &rows->stage->rules[rows->items[i].rule];
        bool *own = &on[rows->items[i].row];
        int first = from, last = to;
        acting_frames( rule, &first, &last );
        for ( int f = first; f <= last && !*own; ++f )
            *own = pull_of( rows, rule, f ) > 0;
    }
}
