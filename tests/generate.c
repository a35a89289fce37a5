// Scenes: what a document may say, each field reached by some choice.
#include "generate.h"

#include <stdio.h>
#include <string.h>

#define COUNT( array ) (int)( sizeof( array ) / sizeof *( array ) )

typedef struct maker { // what the parts of a scene share while it is made
    generated *g;
    tr_scene *scene;
    choices *c;
    bool ok;             // false: out of memory
    tr_skeleton *bodies; // [file_count] what the motion files have, for the names of limbs
    int body_count, body_capacity;
    int motions;       // the first so many files are motions of bodies
    bool has_examples; // every character
} maker;

static generated_file *add_file( maker *m, const char *name, const char *suffix )
{
    generated *g = m->g;
    if ( !tr_array_reserve( (void **)&g->files, &g->file_capacity, g->file_count + 1, sizeof *g->files ) ) {
        m->ok = false;
        return NULL;
    }
    generated_file *file = &g->files[g->file_count];
    *file = ( generated_file ){ 0 };
    snprintf( file->name, sizeof file->name, "%.8s%d.%.8s", name, g->file_count, suffix );
    g->file_count++;
    return file;
}

static void name_id( tr_id out, const char *letter, int number )
{
    snprintf( out, sizeof( tr_id ), "%s%d", letter, number );
}

// --------------------------------------------------------------------------------------------------- motions

static void classify( maker *m, const rig *r )
{
    tr_skeleton skeleton = { 0 };
    for ( int j = 0; j < r->joint_count; ++j )
        m->ok = m->ok && tr_skeleton_add( &skeleton, r->joints[j].name, r->joints[j].parent,
                                          r->joints[j].offset ) >= 0;
    m->ok = m->ok && tr_skeleton_classify( &skeleton, NULL ) &&
            tr_array_reserve( (void **)&m->bodies, &m->body_capacity, m->body_count + 1, sizeof *m->bodies );
    if ( m->ok )
        m->bodies[m->body_count++] = skeleton;
    else
        tr_skeleton_free( &skeleton );
}

static void add_motions( maker *m, int frames )
{
    choices *c = m->c;
    int count = 1 + choose( c, 3 ), most = chance( c, 3 ) ? 90 : 12;
    for ( int i = 0; m->ok && i < count; ++i ) {
        generated_file *file = add_file( m, "m", "bvh" );
        if ( file != NULL ) {
            m->ok = rig_generate( &file->rig, c, most, chance( c, 10 ) ? 1 : frames + 4 );
            if ( m->ok )
                classify( m, &file->rig );
        }
    }
    m->motions = m->g->file_count;
}

static int file_of( const maker *m, const tr_file_ref *ref )
{
    for ( int i = 0; i < m->g->file_count; ++i )
        if ( strcmp( m->g->files[i].name, ref->file ) == 0 )
            return i;
    return -1;
}

static void refer( maker *m, tr_file_ref *ref, int file )
{
    choices *c = m->c;
    const rig *r = &m->g->files[file].rig;
    snprintf( ref->file, sizeof ref->file, "%s", m->g->files[file].name );
    ref->unit = chance( c, 20 ) ? 0 : r->unit;
    if ( chance( c, 3 ) )
        ref->unit = pick_number( c, ( const double[] ){ 1, 1e-4, 5 }, 3 );
    ref->up = chance( c, 50 ) ? 0 : r->up;
    if ( chance( c, 20 ) ) {
        ref->first = choose( c, r->frame_count );
        ref->last = chance( c, 50 ) ? -1 : ref->first + choose( c, r->frame_count - ref->first );
    }
}

// -----------------------------------------------------------------------------------------------------
// fields

static vec3 place( choices *c ) // mostly around where people are
{
    int kind = choose( c, 40 );
    if ( kind < 30 )
        return vector_within( c, 1.5 );
    if ( kind < 34 )
        return v3_zero;
    return vector_within( c, kind < 38 ? 0.05 : kind < 39 ? 30 : 1e5 );
}

static double size_factor( choices *c )
{
    static const double sizes[] = { 1, 1, 1.2, 0.8, 0.5, 2, 0.1, 10, 0.01, 100 };
    return pick_number( c, sizes, chance( c, 20 ) ? 10 : 5 );
}

static void choose_colour( choices *c, float colour[3] )
{
    if ( chance( c, 5 ) )
        for ( int k = 0; k < 3; ++k )
            colour[k] = (float)choose( c, 256 ) / 255;
}

// Ranges within the scene, of one frame, over an end, outside, or always.
static void choose_range( maker *m, int *first, int *last )
{
    choices *c = m->c;
    int frames = m->scene->last - m->scene->first + 1;
    int kind = choose( c, 20 ), from = m->scene->first + choose( c, frames );
    if ( kind < 6 )
        return; // always
    *first = from;
    *last = from + choose( c, frames );
    if ( kind < 10 )
        *last = from; // one frame
    else if ( kind < 12 )
        *first -= 100 * choose( c, 20 );
    else if ( kind < 13 )
        *first = *last = m->scene->last + 1 + choose( c, 30 );
    else if ( kind < 14 )
        *first = *last = m->scene->first - 1 - choose( c, 30 );
    else if ( kind < 15 ) {
        *first = m->scene->first;
        *last = m->scene->last;
    }
}

static double choose_ease( choices *c )
{
    static const double eases[] = { 0, 0, 2, 5, 0.5, 10, 40, 1e-3, 1000, 1e6 };
    return pick_number( c, eases, chance( c, 10 ) ? 10 : 7 );
}

static int target_file( const maker *m, int cast )
{
    const tr_cast *who = &m->scene->cast[cast];
    return file_of( m, who->target.skeleton.file[0] != 0 ? &who->target.skeleton : &who->source );
}

static const rig *target_of( const maker *m, int cast )
{
    return &m->g->files[target_file( m, cast )].rig;
}

static const char *choose_joint( maker *m, int cast )
{
    const rig *r = target_of( m, cast );
    if ( chance( m->c, 5 ) ) // a point of the source: a joint that it drives, or beyond it
        r = &m->g->files[file_of( m, &m->scene->cast[cast].source )].rig;
    return r->joints[choose( m->c, r->joint_count )].name;
}

static void choose_terms( maker *m, int cast, tr_point *point )
{
    static const double weights[][4] = {
        { 0.5, 0.5 },  { 0.25, 0.75 }, { 2, -1 }, { 0.5, 0.25, 0.25 }, { 0.25, 0.25, 0.25, 0.25 },
        { 1000, -999 } };
    const double *w = weights[choose( m->c, COUNT( weights ) )];
    point->term_count = 1;
    point->terms[0].weight = 1;
    snprintf( point->terms[0].joint, TR_JOINT_MAX, "%s", choose_joint( m, cast ) );
    if ( !chance( m->c, 12 ) )
        return;
    for ( int t = 0; t < 4 && w[t] != 0; ++t ) {
        snprintf( point->terms[t].joint, TR_JOINT_MAX, "%s", choose_joint( m, cast ) );
        point->terms[t].weight = w[t];
        point->term_count = t + 1;
    }
}

// A point of a character, or of a prop where there is one and `props` allows it.
static tr_point choose_point( maker *m, bool props, bool single )
{
    choices *c = m->c;
    tr_point point;
    memset( &point, 0, sizeof point );
    if ( props && m->scene->prop_count > 0 && chance( c, 25 ) )
        memcpy( point.who, m->scene->props[choose( c, m->scene->prop_count )].id, sizeof point.who );
    else {
        int cast = choose( c, m->scene->cast_count );
        memcpy( point.who, m->scene->cast[cast].id, sizeof point.who );
        choose_terms( m, cast, &point );
        if ( single )
            point.term_count = 1, point.terms[0].weight = 1;
    }
    if ( chance( c, 25 ) )
        point.offset = vector_within( c, chance( c, 5 ) ? 100 : 0.2 );
    return point;
}

// ----------------------------------------------------------------------------------------------------- cast

static void choose_limbs( maker *m, const tr_skeleton *body, tr_limb_value *values, int *count )
{
    static const char *const groups[] = { "all", "arms", "legs", "left", "right", NULL };
    int wanted = 1 + choose( m->c, 3 );
    for ( int i = 0; i < wanted; ++i ) {
        const char *limb =
            chance( m->c, 50 ) ? body->limbs[choose( m->c, body->limb_count )].name : pick( m->c, groups );
        bool there = false;
        for ( int k = 0; k < *count; ++k )
            there = there || strcmp( values[k].limb, limb ) == 0;
        if ( there )
            continue;
        snprintf( values[*count].limb, sizeof values[*count].limb, "%s", limb );
        values[( *count )++].value = size_factor( m->c );
    }
}

static void choose_map( maker *m, tr_cast *cast, int from, int to )
{
    choices *c = m->c;
    generated_file *file = add_file( m, "map", "json" );
    if ( file == NULL )
        return;
    const rig *source = &m->g->files[from].rig, *target = &m->g->files[to].rig;
    snprintf( cast->mapping, sizeof cast->mapping, "%s", file->name );
    tr_text_add( &file->text, "{\"version\": 1, \"joints\": {" );
    int count = choose( c, target->joint_count + 1 );
    bool any = false;
    for ( int j = 0; j < count; ++j ) {
        bool twice = false; // a name that stands there already
        for ( int i = 0; i < j; ++i )
            twice = twice || strcmp( target->joints[i].name, target->joints[j].name ) == 0;
        if ( twice || chance( c, 20 ) )
            continue;
        tr_text_add( &file->text, "%s\"%s\": ", any ? ", " : "", target->joints[j].name );
        if ( chance( c, 10 ) )
            tr_text_add( &file->text, "null" );
        else
            tr_text_add( &file->text, "\"%s\"", source->joints[choose( c, source->joint_count )].name );
        any = true;
    }
    tr_text_add( &file->text, "}" );
    if ( chance( c, 40 ) ) { // from a joint down to one below it, on both
        int ends[2][2];
        for ( int k = 0; k < 2; ++k ) {
            const rig *r = k == 0 ? target : source;
            ends[k][0] = ends[k][1] = choose( c, r->joint_count );
            for ( int up = choose( c, 4 ); up > 0 && r->joints[ends[k][0]].parent >= 0; --up )
                ends[k][0] = r->joints[ends[k][0]].parent;
        }
        tr_text_add( &file->text,
                     ", \"chains\": [{\"target\": [\"%s\", \"%s\"], \"source\": [\"%s\", \"%s\"]}]",
                     target->joints[ends[0][0]].name, target->joints[ends[0][1]].name,
                     source->joints[ends[1][0]].name, source->joints[ends[1][1]].name );
    }
    tr_text_add( &file->text, "}\n" );
}

static void add_drives( maker *m, const tr_cast *cast, const rig *source, const rig *target )
{
    int count = 1 + choose( m->c, 3 );
    for ( int i = 0; i < count && i < target->joint_count; ++i ) {
        tr_id id;
        name_id( id, "d", m->scene->drive_count );
        tr_drive drive = tr_default_drive( id, cast->id );
        snprintf( drive.joint, sizeof drive.joint, "%s",
                  target->joints[choose( m->c, target->joint_count )].name );
        if ( !chance( m->c, 25 ) )
            snprintf( drive.source, sizeof drive.source, "%s",
                      source->joints[choose( m->c, source->joint_count )].name );
        bool there = false;
        for ( int k = 0; k < m->scene->drive_count; ++k )
            there = there || ( strcmp( m->scene->drives[k].cast, drive.cast ) == 0 &&
                               strcmp( m->scene->drives[k].joint, drive.joint ) == 0 );
        if ( !there )
            m->ok = m->ok && tr_scene_add_drive( m->scene, &drive ) != NULL;
    }
}

static void add_clips( maker *m, const tr_cast *cast, int source )
{
    static const int blends[] = { -1, 0, 3, 50 };
    int count = 1 + choose( m->c, 2 );
    for ( int i = 0; i < count; ++i ) {
        tr_id id;
        name_id( id, "k", m->scene->clip_count );
        tr_cast_clip clip = tr_default_cast_clip( id, cast->id );
        refer( m, &clip.source, source );
        clip.source.unit = cast->source.unit; // the same size
        clip.source.up = cast->source.up;
        clip.blend = blends[choose( m->c, COUNT( blends ) )];
        m->ok = m->ok && tr_scene_add_clip( m->scene, &clip ) != NULL;
    }
}

static void choose_target( maker *m, tr_cast *cast, int target, bool foreign )
{
    choices *c = m->c;
    const tr_skeleton *body = &m->bodies[target];
    cast->target.scale = size_factor( c );
    if ( chance( c, 20 ) && body->limb_count > 0 )
        choose_limbs( m, body, cast->target.limbs, &cast->target.limb_count );
    if ( chance( c, 20 ) && body->limb_count > 0 )
        choose_limbs( m, body, cast->target.girths, &cast->target.girth_count );
    if ( chance( c, 8 ) )
        cast->target.path_scale = pick_number( c, ( const double[] ){ 1, 0.5, 3, 0.01, 100, 1e-6 }, 6 );
    cast->target.animation = foreign && chance( c, 15 );
    int frames = m->g->files[file_of( m, &cast->source )].rig.frame_count;
    if ( foreign && chance( c, 15 ) )
        cast->target.reference = choose( c, frames );
}

static void add_cast( maker *m )
{
    choices *c = m->c;
    tr_id id;
    name_id( id, "c", m->scene->cast_count );
    tr_cast cast = tr_default_cast( id );
    int source = choose( c, m->motions ), target = source;
    refer( m, &cast.source, source );
    if ( chance( c, 25 ) || m->has_examples ) {
        target = choose( c, m->motions );
        refer( m, &cast.target.skeleton, target );
    }
    bool foreign = cast.target.skeleton.file[0] != 0;
    choose_target( m, &cast, target, foreign );
    cast.position = place( c );
    if ( !chance( c, 30 ) )
        cast.position.y = 0;
    cast.heading = chance( c, 30 ) ? pick_number( c, ( const double[] ){ 90, 180, -45, 36000 }, 4 ) : 0;
    cast.start = chance( c, 20 ) ? m->scene->first + choose( c, 41 ) - 20 : m->scene->first;
    choose_colour( c, cast.colour );
    cast.contacts = !chance( c, 15 );
    cast.soles = !chance( c, 15 );
    cast.balance = chance( c, 20 );
    if ( chance( c, foreign ? 15 : 3 ) )
        choose_map( m, &cast, source, target );
    if ( chance( c, foreign ? 15 : 3 ) )
        add_drives( m, &cast, &m->g->files[source].rig, &m->g->files[target].rig );
    if ( chance( c, 10 ) )
        add_clips( m, &cast, source );
    m->ok = m->ok && tr_scene_add_cast( m->scene, &cast ) != NULL;
}

// ------------------------------------------------------------------------------------- props and environment

// A closed box, a pyramid without a floor, one triangle, triangles without an area.
static const char *const meshes[] = {
    "v -0.3 0 -0.3\nv 0.3 0 -0.3\nv 0.3 0 0.3\nv -0.3 0 0.3\nv -0.3 0.4 -0.3\nv 0.3 0.4 -0.3\nv 0.3 0.4 0.3\n"
    "v -0.3 0.4 0.3\nf 1 2 3 4\nf 8 7 6 5\nf 1 5 6 2\nf 2 6 7 3\nf 3 7 8 4\nf 4 8 5 1\n",
    "v -0.5 0 -0.5\nv 0.5 0 -0.5\nv 0.5 0 0.5\nv -0.5 0 0.5\nv 0 0.6 0\nf 1 5 2\nf 2 5 3\nf 3 5 4\nf 4 5 1\n",
    "v 0 0 0\nv 1 0.2 0\nv 0 0.1 1\nf 1 3 2\n", "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 0\nf 1 2 3\nf 1 2 4\n",
    NULL };

static void choose_form( maker *m, tr_shape_kind *shape, vec3 *size, tr_form *form )
{
    choices *c = m->c;
    *shape = chance( c, 40 ) ? (tr_shape_kind)choose( c, 4 ) : TR_SHAPE_BOX;
    double edge = pick_number( c, ( const double[] ){ 0.4, 1, 0.1, 1e-4, 10, 1e4 }, chance( c, 10 ) ? 6 : 3 );
    if ( *shape == TR_SHAPE_BOX )
        *size = chance( c, 50 ) ? v3( edge, edge, edge )
                                : v3( edge, pick_number( c, ( const double[] ){ 0.2, 0.01, 2 }, 3 ), 0.5 );
    if ( *shape == TR_SHAPE_SPHERE )
        *size = v3( edge, edge, edge );
    if ( *shape == TR_SHAPE_POLYLINE ) {
        form->point_count = 2 + choose( c, chance( c, 5 ) ? TR_ROWS_MAX - 1 : 3 );
        for ( int i = 0; i < form->point_count; ++i )
            form->points[i] = chance( c, 10 ) ? v3_zero : vector_within( c, 1 );
    }
    if ( *shape == TR_SHAPE_MESH ) {
        generated_file *file = add_file( m, "o", "obj" );
        if ( file != NULL ) {
            tr_text_add( &file->text, "%s", pick( c, meshes ) );
            snprintf( form->mesh, sizeof form->mesh, "%s", file->name );
        }
        form->unit = pick_number( c, ( const double[] ){ 1, 0.1, 10, 1e-6 }, chance( c, 20 ) ? 4 : 1 );
        form->up = chance( c, 30 ) ? 'z' : 'y';
    }
    if ( ( *shape == TR_SHAPE_POLYLINE || *shape == TR_SHAPE_MESH ) && chance( c, 30 ) )
        form->thickness = pick_number( c, ( const double[] ){ 0.02, 0.3, 1e-4, 5 }, 4 );
}

static void add_prop( maker *m )
{
    choices *c = m->c;
    tr_id id;
    name_id( id, "b", m->scene->prop_count );
    tr_prop prop = tr_default_prop( id );
    choose_form( m, &prop.shape, &prop.size, &prop.form );
    prop.scale = size_factor( c );
    if ( chance( c, 40 ) ) {
        generated_file *file = add_file( m, "t", "bvh" );
        m->ok = m->ok && rig_point( &file->rig, c, 1 + choose( c, m->scene->last - m->scene->first + 4 ) );
        if ( m->ok )
            refer( m, &prop.track, m->g->file_count - 1 );
    }
    prop.position = place( c );
    prop.heading = chance( c, 30 ) ? between( c, -180, 180 ) : 0;
    prop.start = chance( c, 20 ) ? m->scene->first + choose( c, 41 ) - 20 : m->scene->first;
    choose_colour( c, prop.colour );
    m->ok = m->ok && tr_scene_add_prop( m->scene, &prop ) != NULL;
}

static void add_obstacle( maker *m )
{
    choices *c = m->c;
    tr_id id;
    name_id( id, "o", m->scene->obstacle_count );
    tr_obstacle obstacle = tr_default_obstacle( id );
    choose_form( m, &obstacle.shape, &obstacle.size, &obstacle.form );
    obstacle.position = place( c );
    if ( !chance( c, 30 ) )
        obstacle.position.y = 0.1;
    obstacle.heading = chance( c, 30 ) ? between( c, -180, 180 ) : 0;
    obstacle.scale = size_factor( c );
    if ( chance( c, 30 ) )
        obstacle.move = vector_within( c, chance( c, 5 ) ? 1e5 : 0.5 );
    choose_colour( c, obstacle.colour );
    m->ok = m->ok && tr_scene_add_obstacle( m->scene, &obstacle ) != NULL;
}

// ---------------------------------------------------------------------------------------------- constraints

static void choose_keys( maker *m, tr_constraint *rule )
{
    static const double steps[] = { 2, 1, 5, 0.001, 30 };
    choices *c = m->c;
    double frame = m->scene->first + choose( c, 10 ) - 3;
    rule->key_count = 1 + choose( c, chance( c, 3 ) ? TR_ROWS_MAX : 5 );
    for ( int k = 0; k < rule->key_count; ++k ) {
        rule->keys[k] = ( tr_key ){ frame, place( c ) };
        frame += pick_number( c, steps, chance( c, 20 ) ? 5 : 3 ) * 1.000001; // not below a thousandth
    }
}

static void choose_kind_fields( maker *m, tr_constraint *rule )
{
    static const double lengths[] = { 0.5, 0.1, 0, 2, 1000 };
    choices *c = m->c;
    bool positional = rule->kind != TR_CONSTRAINT_ORIENTATION && rule->kind != TR_CONSTRAINT_LENGTH;
    if ( positional && chance( c, 40 ) ) {
        rule->given = true;
        rule->target = place( c );
    }
    if ( positional && chance( c, 20 ) ) {
        int axes = 1 + choose( c, 7 );
        for ( int k = 0; k < 3; ++k )
            rule->axis[k] = ( axes >> k & 1 ) != 0;
    }
    if ( rule->kind == TR_CONSTRAINT_ABSOLUTE ) {
        int special = choose( c, 10 );
        rule->direction = special == 7;
        rule->partners = special == 8;
        if ( special == 9 ) {
            rule->given = false, rule->target = v3_zero;
            choose_keys( m, rule );
        }
        if ( rule->direction && rule->given && rule->target.x == 0 && rule->target.z == 0 )
            rule->target.z = 1;
    }
    if ( rule->kind == TR_CONSTRAINT_ORIENTATION ) {
        if ( chance( c, 50 ) ) {
            vec3 axis = vector_within( c, 1 );
            rule->given = true;
            rule->rotation =
                v3_length( axis ) < 0.01 ? q_identity : q_axis_angle( v3_unit( axis ), between( c, 0, 3.2 ) );
        }
        rule->flat = chance( c, 20 );
    }
    if ( rule->kind == TR_CONSTRAINT_LENGTH && chance( c, 50 ) ) {
        rule->given = true;
        rule->length = pick_number( c, lengths, chance( c, 20 ) ? 5 : 2 );
    }
    rule->partner_space = rule->kind == TR_CONSTRAINT_RELATIVE && chance( c, 30 );
}

static bool same_bone( const tr_point *a, const tr_point *b )
{
    bool same = strcmp( a->who, b->who ) == 0 && a->term_count == b->term_count;
    for ( int t = 0; same && t < a->term_count; ++t )
        same =
            strcmp( a->terms[t].joint, b->terms[t].joint ) == 0 && a->terms[t].weight == b->terms[t].weight;
    return same;
}

// The points of a rule. False where the scene has no two that can move against each other.
static bool choose_points( maker *m, tr_constraint *rule )
{
    choices *c = m->c;
    bool two =
        rule->kind == TR_CONSTRAINT_RELATIVE || ( rule->kind == TR_CONSTRAINT_LENGTH && chance( c, 60 ) );
    bool bone = rule->kind == TR_CONSTRAINT_LENGTH && !two;
    rule->a = choose_point( m, !bone, bone || rule->kind == TR_CONSTRAINT_ORIENTATION );
    if ( rule->kind == TR_CONSTRAINT_CENTRE_OF_MASS ) {
        memset( &rule->a, 0, sizeof rule->a );
        memcpy( rule->a.who, m->scene->cast[choose( c, m->scene->cast_count )].id, sizeof rule->a.who );
    }
    if ( two ) {
        rule->b = choose_point( m, true, false );
        for ( int tries = 0; tries < 8 && same_bone( &rule->a, &rule->b ); ++tries )
            rule->b = choose_point( m, true, false );
    }
    return !two || !same_bone( &rule->a, &rule->b );
}

static void choose_surface( maker *m, tr_constraint *rule )
{
    choices *c = m->c;
    int things = m->scene->prop_count + m->scene->obstacle_count, thing = choose( c, things + 1 ) - 1;
    if ( rule->kind != TR_CONSTRAINT_CONTACT || thing < 0 )
        return;
    const char *id = thing < m->scene->prop_count ? m->scene->props[thing].id
                                                  : m->scene->obstacles[thing - m->scene->prop_count].id;
    if ( strcmp( id, rule->a.who ) != 0 )
        snprintf( rule->surface, sizeof rule->surface, "%s", id );
}

static void add_constraint( maker *m )
{
    choices *c = m->c;
    tr_id id;
    name_id( id, "r", m->scene->constraint_count );
    tr_constraint rule = tr_default_constraint( id, (tr_constraint_kind)choose( c, TR_CONSTRAINT_KINDS ) );
    // The same again, with other fields: rules that contradict each other.
    if ( m->scene->constraint_count > 0 && chance( c, 15 ) ) {
        rule = m->scene->constraints[choose( c, m->scene->constraint_count )];
        memcpy( rule.id, id, sizeof rule.id );
        if ( rule.given && rule.kind != TR_CONSTRAINT_ORIENTATION && rule.kind != TR_CONSTRAINT_LENGTH &&
             !rule.direction )
            rule.target = place( c );
    } else {
        if ( !choose_points( m, &rule ) )
            return;
        choose_surface( m, &rule );
        choose_kind_fields( m, &rule );
    }
    choose_range( m, &rule.first, &rule.last );
    rule.ease_in = choose_ease( c );
    rule.ease_out = choose_ease( c );
    rule.hard = !chance( c, 40 );
    rule.weight = pick_number( c, ( const double[] ){ 1, 0.1, 100, 0, 1e9, 1e-9 }, chance( c, 10 ) ? 6 : 3 );
    rule.priority = chance( c, 30 ) ? choose( c, 5 ) : 0;
    m->ok = m->ok && tr_scene_add_constraint( m->scene, &rule ) != NULL;
}

// ---------------------------------------------------------------------------------------------------- layers

// One or two members with or without a part; at times all.
static void choose_members( maker *m, tr_layer *layer )
{
    static const char *const parts[] = { "arms", "legs", "left", "right", "*", NULL };
    choices *c = m->c;
    char *at = layer->members, *end = at + sizeof layer->members;
    if ( chance( c, 10 ) ) {
        snprintf( at, (size_t)( end - at ), "%s", chance( c, 50 ) ? "c*" : "*" );
        return;
    }
    int count = 1 + choose( c, 2 );
    for ( int i = 0; i < count; ++i ) {
        int who = choose( c, m->scene->cast_count + m->scene->prop_count );
        bool prop = who >= m->scene->cast_count;
        at += snprintf( at, (size_t)( end - at ), "%s%s", i > 0 ? ", " : "",
                        prop ? m->scene->props[who - m->scene->cast_count].id : m->scene->cast[who].id );
        if ( prop || !chance( c, 20 ) )
            continue;
        const rig *r = target_of( m, who );
        const tr_skeleton *body = &m->bodies[target_file( m, who )];
        int kind = choose( c, 3 );
        const char *part = kind == 0   ? r->joints[choose( c, r->joint_count )].name
                           : kind == 1 ? body->limbs[choose( c, body->limb_count )].name
                                       : pick( c, parts );
        if ( kind == 2 ) { // groups that the body does not have are refused
            bool there = strcmp( part, "*" ) == 0;
            for ( int l = 0; l < body->limb_count; ++l ) {
                tr_limb_value group = { .value = 2 };
                snprintf( group.limb, sizeof group.limb, "%s", part );
                there = there || tr_limb_lookup( &group, 1, &body->limbs[l] ) == 2;
            }
            part = there ? part : "*";
        }
        at += snprintf( at, (size_t)( end - at ), ".%s", part );
    }
}

static void add_sections( maker *m, const tr_layer *layer )
{
    choices *c = m->c;
    int frames = m->scene->last - m->scene->first + 1;
    int count = choose( c, 4 ) + ( layer->kind == TR_LAYER_RETIME );
    int frame = m->scene->first + choose( c, frames ) / 2;
    for ( int i = 0; i < count; ++i ) {
        tr_id id;
        name_id( id, "s", m->scene->section_count );
        tr_section section = tr_default_section( id, layer->id, frame );
        int step = 1 + choose( c, 12 );
        if ( layer->kind == TR_LAYER_RETIME ) // mostly less than what lies between
            section.delay = between( c, -0.4, layer->ripple ? 2 : 0.4 ) * step;
        if ( layer->kind == TR_LAYER_RETIME && chance( c, 5 ) )
            section.delay = pick_number( c, ( const double[] ){ 20, -20, 200, 0 }, 4 );
        m->ok = m->ok && tr_scene_add_section( m->scene, &section ) != NULL;
        frame += step;
        if ( chance( c, 5 ) ) // anywhere, also outside, also twice at one frame
            frame = m->scene->first - 20 + choose( c, frames + 40 );
    }
}

static bool is_member( const tr_layer *layer, const char *id )
{
    for ( const char *at = layer->members; *at != 0; ) {
        tr_member member;
        if ( !tr_member_parse( &member, &at, NULL ) )
            return false;
        if ( tr_pattern_matches( member.who, id ) )
            return true;
    }
    return false;
}

static vec3 choose_move( choices *c )
{
    static const double sizes[] = { 0.2, 0.05, 0.6, 0, 3, 1e3, 1e5 };
    return vector_within( c, pick_number( c, sizes, chance( c, 10 ) ? 7 : 4 ) );
}

static void add_handle( maker *m, const tr_layer *layer, bool pinned )
{
    choices *c = m->c;
    tr_id id;
    int frames = m->scene->last - m->scene->first + 1, from = m->scene->first, count = frames;
    name_id( id, "h", m->scene->handle_count );
    if ( layer->last <= m->scene->last && layer->first >= m->scene->first && !chance( c, 10 ) ) {
        from = layer->first;
        count = layer->last - layer->first + 1;
    }
    tr_handle handle = tr_default_handle( id, layer->id, from + choose( c, count ) );
    int kind = choose( c, 10 );
    if ( kind < 6 ) {
        tr_point point = choose_point( m, true, chance( c, 70 ) );
        for ( int tries = 0; tries < 8 && !is_member( layer, point.who ); ++tries )
            point = choose_point( m, true, chance( c, 70 ) );
        if ( is_member( layer, point.who ) )
            handle.point = point;
    } else if ( kind < 8 )
        handle.vertex = choose( c, chance( c, 5 ) ? 1000000 : chance( c, 20 ) ? 110 : 26 );
    if ( handle.point.who[0] == 0 && handle.vertex < 0 && chance( c, 50 ) )
        handle.turn = vector_within( c, chance( c, 10 ) ? 36000 : 40 );
    if ( !chance( c, 20 ) )
        handle.move = choose_move( c );
    handle.pinned = pinned || !chance( c, 12 );
    m->ok = m->ok && tr_scene_add_handle( m->scene, &handle ) != NULL;
}

static void add_layer( maker *m, bool acts, bool cage )
{
    choices *c = m->c;
    tr_id id;
    name_id( id, "l", m->scene->layer_count );
    tr_layer layer = tr_default_layer( id, !cage && chance( c, 30 ) ? TR_LAYER_RETIME : TR_LAYER_CAGE );
    choose_members( m, &layer );
    choose_range( m, &layer.first, &layer.last );
    layer.ease_in = choose_ease( c );
    layer.ease_out = choose_ease( c );
    if ( layer.kind == TR_LAYER_CAGE ) {
        if ( chance( c, 20 ) )
            layer.padding = pick_number( c, ( const double[] ){ 0.02, 1, 0.001, 100 }, 4 );
        if ( chance( c, 20 ) )
            layer.falloff = pick_number( c, ( const double[] ){ 5, 1, 0.5, 50, 1e6 }, 5 );
        layer.turn = chance( c, 20 );
        layer.firm = chance( c, 30 );
    } else
        layer.ripple = chance( c, 50 );
    layer.muted = !acts && chance( c, 8 );
    layer.solo = chance( c, 5 );
    m->ok = m->ok && tr_scene_add_layer( m->scene, &layer ) != NULL;
    if ( layer.kind == TR_LAYER_RETIME || chance( c, 30 ) )
        add_sections( m, &layer );
    int handles = layer.kind == TR_LAYER_CAGE ? cage + choose( c, 4 ) : 0;
    for ( int i = 0; i < handles; ++i )
        add_handle( m, &layer, cage && i == 0 );
}

// ----------------------------------------------------------------------------------------------------- pairs

static void add_pair( maker *m )
{
    choices *c = m->c;
    tr_id id;
    name_id( id, "q", m->scene->pair_count );
    tr_pair pair = tr_default_pair( id, (tr_pair_kind)choose( c, TR_PAIR_KINDS ) );
    int cast = m->scene->cast_count, props = m->scene->prop_count;
    int a = choose( c, cast ), b = choose( c, cast + props + m->scene->obstacle_count );
    memcpy( pair.a, m->scene->cast[a].id, sizeof pair.a );
    bool open = pair.kind != TR_PAIR_LINK && chance( c, 25 );
    if ( !open )
        memcpy( pair.b,
                b < cast           ? m->scene->cast[b].id
                : b < cast + props ? m->scene->props[b - cast].id
                                   : m->scene->obstacles[b - cast - props].id,
                sizeof pair.b );
    if ( pair.kind != TR_PAIR_PASS && strcmp( pair.a, pair.b ) == 0 )
        pair.kind = TR_PAIR_PASS;
    choose_range( m, &pair.first, &pair.last );
    m->ok = m->ok && tr_scene_add_pair( m->scene, &pair ) != NULL;
}

// -----------------------------------------------------------------------------------------------------
// scenes

static int choose_frames( choices *c )
{
    int kind = choose( c, 40 );
    if ( kind < 4 )
        return 1;
    if ( kind < 14 )
        return 2 + choose( c, 3 );
    return kind < 36 ? 5 + choose( c, 6 ) : kind < 39 ? 11 + choose( c, 15 ) : 26 + choose( c, 60 );
}

static void name_the_first( choices *c, tr_file_ref *ref )
{
    if ( ref->file[0] != 0 && chance( c, 10 ) )
        strcpy( ref->skeleton, "1" );
    if ( ref->file[0] != 0 && chance( c, 10 ) )
        strcpy( ref->take, "1" );
    if ( ref->file[0] != 0 && chance( c, 10 ) )
        ref->rate = 60; // BVH files know theirs
}

// Every file has a first skeleton and a first take, and may be given a rate. Draws from a copy: seeds keep
// the scenes they had.
static void name_takes( tr_scene *scene, choices c )
{
    for ( int i = 0; i < scene->cast_count; ++i ) {
        name_the_first( &c, &scene->cast[i].source );
        name_the_first( &c, &scene->cast[i].target.skeleton );
    }
    for ( int i = 0; i < scene->prop_count; ++i )
        name_the_first( &c, &scene->props[i].track );
    for ( int i = 0; i < scene->clip_count; ++i )
        name_the_first( &c, &scene->clips[i].source );
}

// Files with meshes are opened only where files for other programs are written, so that a name does.
static void name_looks( tr_scene *scene, choices c )
{
    for ( int i = 0; i < scene->cast_count; ++i ) {
        tr_file_ref *look = &scene->cast[i].target.look;
        if ( !chance( &c, 5 ) )
            continue;
        strcpy( look->file, "look.glb" );
        strcpy( look->skeleton, chance( &c, 50 ) ? "1" : "" );
        look->unit = chance( &c, 50 ) ? 0.01 : 0;
        look->up = chance( &c, 50 ) ? 'z' : 0;
    }
}

// A joint, and one up to `most` generations above it: a chain where they differ.
static void choose_chain( choices *c, const rig *r, int most, char first[TR_JOINT_MAX],
                          char last[TR_JOINT_MAX] )
{
    int end = choose( c, r->joint_count ), begin = end;
    for ( int up = 1 + choose( c, most ); up > 0 && r->joints[begin].parent >= 0; --up )
        begin = r->joints[begin].parent;
    snprintf( first, TR_JOINT_MAX, "%s", r->joints[begin].name );
    snprintf( last, TR_JOINT_MAX, "%s", r->joints[end].name );
}

static void add_part( maker *m, const tr_cast *cast, const rig *source, const rig *target )
{
    choices *c = m->c;
    tr_id id;
    name_id( id, "t", m->scene->part_count );
    tr_part_drive part = tr_default_part( id, cast->id );
    choose_chain( c, source, 3, part.source_first, part.source_last );
    choose_chain( c, target, 8, part.target_first, part.target_last );
    part.aim = pick_number( c, ( const double[] ){ 0.5, 1, 0, 0.01 }, 4 );
    m->ok = m->ok && tr_scene_add_part( m->scene, &part ) != NULL;
}

static double largest_turn( const rig *r, int a, int b ) // degrees, but for that of the whole body
{
    double most = 0;
    for ( int i = 3; i < 3 * r->joint_count; ++i )
        most = fmax( most, fabs( r->angles[(size_t)( a * r->joint_count ) * 3 + (size_t)i] -
                                 r->angles[(size_t)( b * r->joint_count ) * 3 + (size_t)i] ) );
    return most;
}

// Whether another pair that counts shows nearly the same pose of the source: a stage mostly refuses that.
static bool pose_is_taken( const tr_scene *scene, const tr_example *example, const rig *source )
{
    const double alike = 4; // degrees
    bool taken = false;
    for ( int i = 0; i < scene->example_count; ++i ) {
        const tr_example *other = &scene->examples[i];
        bool counts = strcmp( other->cast, example->cast ) == 0 && !other->muted;
        bool there = other->source < source->frame_count && example->source < source->frame_count;
        taken = taken ||
                ( counts && ( other->source == example->source ||
                              ( there && largest_turn( source, other->source, example->source ) < alike ) ) );
    }
    return taken;
}

static void choose_pose( choices *c, const rig *target, char pose[TR_POSE_MAX] )
{
    tr_text text = { 0 };
    for ( int j = 0; j < target->joint_count && j < 40; ++j )
        if ( chance( c, 30 ) )
            tr_turn_print( &text, target->joints[j].name,
                           vector_within( c, chance( c, 5 )   ? 200
                                             : chance( c, 5 ) ? 1e-3
                                                              : 30 ) );
    if ( text.size > 0 )
        snprintf( pose, TR_POSE_MAX, "%s", text.data );
    tr_text_free( &text );
}

// Pairs of bodies from another file. Frames are mostly there, and mostly show poses that differ.
static void add_pairs_of_poses( maker *m, const tr_cast *cast, const rig *source, const rig *target )
{
    choices *c = m->c;
    int count = chance( c, 5 ) ? 1 + choose( c, TR_EXEMPLAR_PAIRS + 2 ) : 2 + choose( c, 5 );
    for ( int i = 0; i < count; ++i ) {
        tr_id id;
        name_id( id, "e", m->scene->example_count );
        tr_example example = tr_default_example( id, cast->id );
        example.source = choose( c, source->frame_count + chance( c, 2 ) );
        example.target = choose( c, target->frame_count + chance( c, 2 ) );
        if ( chance( c, 30 ) )
            choose_pose( c, target, example.pose );
        example.mirrored = chance( c, 10 );
        example.muted = chance( c, 10 ) || pose_is_taken( m->scene, &example, source );
        m->ok = m->ok && tr_scene_add_example( m->scene, &example ) != NULL;
    }
}

// Last, so that what is drawn before stays what it was.
static void add_examples( maker *m )
{
    for ( int i = 0; i < m->scene->cast_count; ++i ) {
        tr_cast *cast = &m->scene->cast[i];
        if ( cast->target.skeleton.file[0] == 0 || ( !chance( m->c, 20 ) && !m->has_examples ) )
            continue;
        const rig *source = &m->g->files[file_of( m, &cast->source )].rig, *target = target_of( m, i );
        add_pairs_of_poses( m, cast, source, target );
        for ( int n = choose( m->c, 3 ); n > 0; --n )
            add_part( m, cast, source, target );
        cast->target.examples = chance( m->c, 80 );
    }
}

bool generate( generated *out, choices *c, generate_what what )
{
    static const double rates[] = { 30, 60, 24, 120, 12.5, 1, 1000, 0.1 };
    *out = ( generated ){ .scene = tr_default_scene() };
    maker m = {
        .g = out, .scene = &out->scene, .c = c, .ok = true, .has_examples = what == GENERATE_EXAMPLES };
    int frames = choose_frames( c );
    m.scene->first = chance( c, 20 ) ? choose( c, 120 ) - 40 : 0;
    m.scene->last = m.scene->first + frames - 1;
    m.scene->fps = pick_number( c, rates, chance( c, 10 ) ? 8 : 2 );
    m.scene->ground = chance( c, 10 ) ? between( c, -1, 1 ) : 0;
    m.scene->imesh = chance( c, 30 );
    add_motions( &m, frames );
    int cast = 1 + ( chance( c, 50 ) ? 1 : 0 ) + ( chance( c, 8 ) ? choose( c, 3 ) : 0 );
    for ( int i = 0; m.ok && i < cast; ++i )
        add_cast( &m );
    for ( int i = choose( c, 3 ); m.ok && i > 0; --i )
        add_prop( &m );
    for ( int i = choose( c, 3 ); m.ok && i > 0; --i )
        add_obstacle( &m );
    for ( int i = choose( c, chance( c, 5 ) ? 20 : 6 ); m.ok && i > 0; --i )
        add_constraint( &m );
    bool layered = what == GENERATE_LAYERS || what == GENERATE_DRAGS;
    for ( int i = layered + ( chance( c, 40 ) ? choose( c, 3 ) : 0 ), n = 0; m.ok && n < i; ++n )
        add_layer( &m, layered && n == 0, what == GENERATE_DRAGS && n == 0 );
    for ( int i = chance( c, 30 ) ? 1 + choose( c, 3 ) : 0; m.ok && i > 0; --i )
        add_pair( &m );
    add_examples( &m );
    if ( what == GENERATE_DRAGS && m.ok ) // it acts, whatever the others are
        for ( int l = 0; l < m.scene->layer_count; ++l )
            m.scene->layers[l].solo = m.scene->layers[l].solo && m.scene->layers[0].solo;
    name_takes( m.scene, *c );
    name_looks( m.scene, *c );
    for ( int i = 0; i < m.body_count; ++i )
        tr_skeleton_free( &m.bodies[i] );
    tr_free( m.bodies );
    if ( !m.ok )
        generated_free( out );
    return m.ok;
}

void generated_free( generated *g )
{
    for ( int i = 0; i < g->file_count; ++i ) {
        rig_free( &g->files[i].rig );
        tr_text_free( &g->files[i].text );
    }
    tr_free( g->files );
    tr_scene_free( &g->scene );
    *g = ( generated ){ 0 };
}

static bool write_text( const char *folder, const char *name, const tr_text *text, tr_error *error )
{
    char path[512];
    snprintf( path, sizeof path, "%s/%s", folder, name );
    FILE *file = text->failed ? NULL : fopen( path, "wb" );
    bool ok = file != NULL && fwrite( text->data, 1, text->size, file ) == text->size;
    ok = file != NULL && fclose( file ) == 0 && ok;
    return ok || tr_error_set( error, "cannot write %s", path );
}

bool generated_write( const generated *g, const char *folder, tr_error *error )
{
    bool ok = true;
    for ( int i = 0; ok && i < g->file_count; ++i ) {
        tr_text motion = { 0 };
        const generated_file *file = &g->files[i];
        if ( file->rig.joint_count > 0 )
            rig_print( &file->rig, &motion );
        ok = write_text( folder, file->name, motion.size > 0 ? &motion : &file->text, error );
        tr_text_free( &motion );
    }
    tr_text scene = { 0 };
    ok =
        ok && tr_scene_print( &g->scene, &scene, error ) && write_text( folder, "scene.json", &scene, error );
    tr_text_free( &scene );
    return ok;
}
