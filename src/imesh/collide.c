// Volumes that come near each other at a frame, and their contacts.
//
// Each contact remembers the side it is on. Two axes that passed through each other in one step are apart
// again, on the wrong side: there the old normal counts, and the gap is negative. In the first step the side
// is the source's.
#include "imesh/private.h"

typedef struct segment {
    vec3 a, b;
} segment;

typedef struct ball { // around a capsule: twice its centre, twice its radius
    vec3 centre;
    double size;
} ball;

typedef struct scan {
    const tr_imesh *mesh;
    int frame;
    const vec3 *at, *source;
    const ball *balls; // [capsule_count]
    double morph;
    tr_imesh_contacts *now;
    const tr_imesh_contacts *before;
    int next; // next in the list, as it was before
    bool out_of_memory;
} scan;

static segment axis_of( const tr_imesh_capsule *c, const vec3 *at )
{
    return ( segment ){ v3_lerp( at[c->a], at[c->b], c->from ), v3_lerp( at[c->a], at[c->b], c->to ) };
}

static double radius_of( const tr_imesh_capsule *c, double morph )
{
    return lerpd( c->radius[0], c->radius[1], morph );
}

static double along_bone( const tr_imesh_capsule *c, double t )
{
    return lerpd( c->from, c->to, t );
}

double tr_imesh_gap( const tr_imesh_contact *contact, const vec3 *at )
{
    vec3 sum = v3_zero;
    for ( int i = 0; i < contact->term_count; ++i )
        sum = v3_mad( sum, contact->weight[i], at[contact->vertex[i]] );
    return v3_dot( contact->normal, sum ) + contact->offset;
}

double tr_imesh_required( const tr_imesh_contact *contact )
{
    return fmin( contact->source_gap, 0 );
}

int tr_imesh_contact_owner( const tr_imesh *mesh, const tr_imesh_contact *contact, int side )
{
    if ( side == 0 )
        return mesh->capsules[contact->i].body;
    return contact->kind == TR_IMESH_CAPSULES ? mesh->capsules[contact->j].body
           : contact->kind == TR_IMESH_BOX    ? mesh->cast.body_count + contact->j
                                              : -1;
}

// Feet and hands have rows of their own; trunks and heads that lie on the ground are held there as touches.
static bool lies( const tr_imesh *mesh, const tr_imesh_contact *contact )
{
    const tr_imesh_capsule *c = &mesh->capsules[contact->i];
    const tr_body *body = mesh->cast.bodies[c->body].target_body;
    const tr_skeleton *skeleton = mesh->cast.bodies[c->body].target;
    tr_role role = skeleton->joints[body->capsules[c->index].parent].role;
    return role == TR_ROLE_ROOT || role == TR_ROLE_SPINE || role == TR_ROLE_NECK || role == TR_ROLE_HEAD;
}

bool tr_imesh_touches( const tr_imesh *mesh, const tr_imesh_contact *contact )
{
    if ( contact->source_gap > mesh->def.touch_reach )
        return false;
    if ( contact->kind == TR_IMESH_GROUND )
        return lies( mesh, contact );
    return tr_imesh_contact_owner( mesh, contact, 0 ) != tr_imesh_contact_owner( mesh, contact, 1 );
}

static bool passes_through( const tr_imesh *mesh, int frame, const tr_imesh_contact *contact )
{
    int a = tr_imesh_contact_owner( mesh, contact, 0 ), b = tr_imesh_contact_owner( mesh, contact, 1 );
    for ( int p = 0; p < mesh->cast.pass_count; ++p ) {
        const tr_imesh_pass *pass = &mesh->cast.passes[p];
        bool same = ( pass->a < 0 || pass->a == a ) && ( pass->b < 0 || pass->b == b );
        bool swapped = ( pass->a < 0 || pass->a == b ) && ( pass->b < 0 || pass->b == a );
        if ( frame >= pass->first && frame <= pass->last && ( same || swapped ) )
            return true;
    }
    return false;
}

// ------------------------------------------------------------------------------------------------- contacts

static void add_bone_term( tr_imesh_contact *contact, const tr_imesh_capsule *c, double t, double sign )
{
    double along = along_bone( c, t );
    contact->vertex[contact->term_count] = c->a;
    contact->weight[contact->term_count++] = sign * ( 1 - along );
    contact->vertex[contact->term_count] = c->b;
    contact->weight[contact->term_count++] = sign * along;
}

// Two capsules at `at`: normal, terms and offset. `side` is the normal to agree with, zero for none.
static double aim_capsules( const tr_imesh *mesh, tr_imesh_contact *contact, const vec3 *at, double morph )
{
    const tr_imesh_capsule *i = &mesh->capsules[contact->i], *j = &mesh->capsules[contact->j];
    segment a = axis_of( i, at ), b = axis_of( j, at );
    double s, t, distance = tr_segment_distance( a.a, a.b, b.a, b.b, &s, &t );
    vec3 apart = v3_sub( v3_lerp( a.a, a.b, s ), v3_lerp( b.a, b.b, t ) );
    contact->normal =
        distance > TR_IMESH_NO_LENGTH ? v3_scale( 1 / distance, apart ) : v3_unit_or( contact->side, v3_y );
    if ( v3_dot( contact->normal, contact->side ) < 0 &&
         distance < radius_of( i, morph ) + radius_of( j, morph ) )
        contact->normal = v3_negate( contact->normal );
    contact->term_count = 0;
    add_bone_term( contact, i, s, 1 );
    add_bone_term( contact, j, t, -1 );
    contact->offset = -radius_of( i, morph ) - radius_of( j, morph );
    contact->side = contact->normal;
    return v3_dot( contact->normal, apart ) + contact->offset;
}

// The box nearest to its corners, which are not quite rigid while rounds go on.
static rigid box_place( const tr_imesh *mesh, int box, const vec3 *at, vec3 *size )
{
    const vec3 *c = at + tr_imesh_first_corner( mesh, box );
    vec3 centre = v3_zero, axis[3];
    for ( int k = 0; k < TR_IMESH_CORNERS; ++k )
        centre = v3_mad( centre, 1.0 / TR_IMESH_CORNERS, c[k] );
    const double each = 2.0 / TR_IMESH_CORNERS;
    for ( int d = 0; d < 3; ++d ) {
        axis[d] = v3_zero;
        for ( int k = 0; k < TR_IMESH_CORNERS; ++k )
            axis[d] = v3_mad( axis[d], k >> d & 1 ? each : -each, c[k] );
    }
    *size = v3( v3_length( axis[0] ), v3_length( axis[1] ), v3_length( axis[2] ) );
    quat turn = q_fit(
        ( mat3 ){ v3_unit_or( axis[0], v3_x ), v3_unit_or( axis[1], v3_y ), v3_unit_or( axis[2], v3_z ) } );
    return ( rigid ){ turn, centre };
}

static double part( double place, double size )
{
    return clampd( tr_imesh_box_share( place, size ), 0, 1 );
}

static void add_box_terms( const tr_imesh *mesh, tr_imesh_contact *contact, vec3 place, vec3 size )
{
    double p[3] = { part( place.x, size.x ), part( place.y, size.y ), part( place.z, size.z ) };
    for ( int k = 0; k < TR_IMESH_CORNERS; ++k ) {
        double weight = 1;
        for ( int d = 0; d < 3; ++d )
            weight *= k >> d & 1 ? p[d] : 1 - p[d];
        contact->vertex[contact->term_count] = tr_imesh_first_corner( mesh, contact->j ) + k;
        contact->weight[contact->term_count++] = -weight;
    }
}

// Inside the box the way out is the side it came in by, not the nearest one.
static void keep_side( tr_touch *touch, vec3 side, vec3 inside, vec3 size )
{
    double s[3] = { side.x, side.y, side.z }, p[3] = { inside.x, inside.y, inside.z };
    double half[3] = { 0.5 * size.x, 0.5 * size.y, 0.5 * size.z }, n[3] = { 0 };
    int d = fabs( s[0] ) >= fabs( s[1] ) && fabs( s[0] ) >= fabs( s[2] ) ? 0
            : fabs( s[1] ) >= fabs( s[2] )                               ? 1
                                                                         : 2;
    if ( s[d] == 0 )
        return;
    n[d] = s[d] > 0 ? 1 : -1;
    touch->distance = n[d] * p[d] - half[d];
    p[d] = n[d] * half[d];
    touch->normal = v3( n[0], n[1], n[2] );
    touch->place = v3( p[0], p[1], p[2] );
}

// The same for a shape, where the nearest way out is not on that side.
static void keep_side_of_shape( tr_touch *touch, const tr_shape *shape, vec3 side, vec3 inside )
{
    if ( v3_dot( touch->normal, side ) >= 0 )
        return;
    touch->normal = v3_unit( side );
    touch->distance = -tr_shape_exit( shape, inside, touch->normal );
    touch->place = v3_mad( inside, -touch->distance, touch->normal );
}

static double aim_box( const tr_imesh *mesh, tr_imesh_contact *contact, const vec3 *at, double morph )
{
    const tr_imesh_capsule *i = &mesh->capsules[contact->i];
    segment a = axis_of( i, at );
    vec3 size;
    rigid box = box_place( mesh, contact->j, at, &size );
    const tr_shape *made_of = mesh->cast.boxes[contact->j].shape;
    tr_shape shape = made_of != NULL ? tr_shape_in( made_of, size ) : tr_shape_box( size );
    tr_touch touch = tr_shape_touch( &shape, box, a.a, a.b );
    if ( touch.distance < 0 ) {
        vec3 inside = rigid_apply( rigid_inverse( box ), v3_lerp( a.a, a.b, touch.t ) );
        if ( shape.kind == TR_SHAPE_BOX )
            keep_side( &touch, contact->side, inside, size );
        else
            keep_side_of_shape( &touch, &shape, contact->side, inside );
    }
    contact->side = touch.normal;
    contact->normal = q_rotate( box.rotation, touch.normal );
    contact->term_count = 0;
    add_bone_term( contact, i, touch.t, 1 );
    add_box_terms( mesh, contact, touch.place, size );
    contact->offset = -radius_of( i, morph );
    return touch.distance + contact->offset;
}

static double aim_ground( const tr_imesh *mesh, tr_imesh_contact *contact, const vec3 *at, double morph )
{
    const tr_imesh_capsule *i = &mesh->capsules[contact->i];
    contact->normal = v3_y;
    contact->term_count = 0;
    add_bone_term( contact, i, contact->j, 1 );
    contact->offset = -radius_of( i, morph ) - mesh->cast.ground;
    return tr_imesh_gap( contact, at );
}

typedef double aim_function( const tr_imesh *mesh, tr_imesh_contact *contact, const vec3 *at, double morph );
static aim_function *const aims[] = { aim_capsules, aim_box, aim_ground };

// ------------------------------------------------------------------------------------------------- the scan

static bool same_contact( const tr_imesh_contact *c, tr_imesh_contact_kind kind, int i, int j )
{
    return c->kind == kind && c->i == i && c->j == j;
}

static void keep( scan *s, const tr_imesh_contact *contact )
{
    if ( !tr_array_reserve( (void **)&s->now->items, &s->now->capacity, s->now->count + 1,
                            sizeof *s->now->items ) ) {
        s->out_of_memory = true;
        return;
    }
    s->now->items[s->now->count++] = *contact;
}

// An axis that runs through a box in the source does so on purpose: no side is the right one, and the next
// frame's may be the opposite.
static bool pierced( const tr_imesh *mesh, const tr_imesh_contact *contact )
{
    return contact->kind == TR_IMESH_BOX && contact->source_gap + mesh->capsules[contact->i].radius[0] < 0;
}

// Volumes that are apart have the same gap on any side. Those that touch in the source are found in the first
// scan, which is of the source, and are known from then on.
static bool is_apart( const scan *s, tr_imesh_contact contact )
{
    double far = fmax( s->mesh->def.watch, s->mesh->def.touch_reach );
    return aims[contact.kind]( s->mesh, &contact, s->at, s->morph ) > far;
}

// `near`: the two may be within reach. A known contact is kept while it touches or is near.
static void look_at( scan *s, tr_imesh_contact_kind kind, int i, int j, bool near )
{
    bool known = s->next < s->before->count && same_contact( &s->before->items[s->next], kind, i, j );
    if ( !known && !near )
        return;
    tr_imesh_contact contact = { .kind = kind, .i = i, .j = j };
    if ( known )
        contact = s->before->items[s->next++];
    else {
        if ( is_apart( s, contact ) )
            return;
        contact.source_gap = aims[kind]( s->mesh, &contact, s->source, 0 ); // sets the side, too
        if ( pierced( s->mesh, &contact ) )
            return;
    }
    double gap = aims[kind]( s->mesh, &contact, s->at, s->morph );
    bool touch = tr_imesh_touches( s->mesh, &contact );
    if ( !touch && contact.force == 0 && gap > tr_imesh_required( &contact ) + s->mesh->def.watch )
        return; // one with a force pushed too far, and comes back
    contact.active = !passes_through( s->mesh, s->frame, &contact );
    if ( !contact.active )
        contact.force = 0;
    keep( s, &contact );
}

static void wrap( const scan *s, ball *balls )
{
    for ( int i = 0; i < s->mesh->capsule_count; ++i ) {
        const tr_imesh_capsule *c = &s->mesh->capsules[i];
        segment x = axis_of( c, s->at );
        balls[i] = ( ball ){ v3_add( x.a, x.b ), v3_distance( x.a, x.b ) + 2 * radius_of( c, s->morph ) };
    }
}

static bool balls_meet( const ball *a, const ball *b, double watch )
{
    vec3 apart = v3_sub( a->centre, b->centre );
    double bound = a->size + b->size + 2 * watch;
    return v3_dot( apart, apart ) <= bound * bound;
}

static void scan_capsules( scan *s )
{
    const tr_imesh_solver *solver = s->mesh->solver;
    const double watch = s->mesh->def.watch;
    for ( int p = 0; p < solver->pair_count; ++p ) {
        int i = solver->pairs[p][0], k = solver->pairs[p][1];
        look_at( s, TR_IMESH_CAPSULES, i, k, balls_meet( &s->balls[i], &s->balls[k], watch ) );
    }
}

static void scan_boxes( scan *s )
{
    const tr_imesh *mesh = s->mesh;
    for ( int i = 0; i < mesh->capsule_count; ++i )
        for ( int b = 0; b < mesh->cast.box_count; ++b ) {
            const vec3 *c = s->at + tr_imesh_first_corner( mesh, b );
            ball box = { v3_add( c[0], c[TR_IMESH_CORNERS - 1] ),
                         v3_distance( c[0], c[TR_IMESH_CORNERS - 1] ) };
            look_at( s, TR_IMESH_BOX, i, b, balls_meet( &s->balls[i], &box, mesh->def.watch ) );
        }
}

static void scan_ground( scan *s )
{
    const tr_imesh *mesh = s->mesh;
    for ( int i = 0; i < mesh->capsule_count && isfinite( mesh->cast.ground ); ++i ) {
        segment x = axis_of( &mesh->capsules[i], s->at );
        double reach = mesh->cast.ground + radius_of( &mesh->capsules[i], s->morph ) + mesh->def.watch;
        look_at( s, TR_IMESH_GROUND, i, 0, x.a.y <= reach );
        look_at( s, TR_IMESH_GROUND, i, 1, x.b.y <= reach );
    }
}

bool tr_imesh_detect( const tr_imesh *mesh, int frame, const vec3 *at, double morph )
{
    tr_imesh_solver *solver = mesh->solver;
    tr_imesh_contacts spare = solver->before[frame];
    solver->before[frame] = solver->contacts[frame];
    spare.count = 0;
    solver->contacts[frame] = spare;
    scan s = { .mesh = mesh,
               .frame = frame,
               .at = at,
               .source = tr_imesh_frame( mesh, mesh->source, frame ),
               .morph = morph,
               .now = &solver->contacts[frame],
               .before = &solver->before[frame] };
    ball *balls = tr_alloc( (size_t)mesh->capsule_count, sizeof *balls );
    if ( balls == NULL )
        return false;
    wrap( &s, balls );
    s.balls = balls;
    scan_capsules( &s );
    scan_boxes( &s );
    scan_ground( &s );
    tr_free( balls );
    return !s.out_of_memory;
}
