// Places of joints in arrays of numpy: which array holds them, which of its axes is what, what else is there.
#include "import/bodies.h"

#include <stdio.h>
#include <string.h>

enum {
    MOST_BODIES = 64,
    MOST_OWN_BODIES = 4096 // casts of this program may be crowds
};

// ------------------------------------------------------------------------------------------------ which one

static bool holds( const char *name, const char *const *words )
{
    for ( ; *words != NULL; ++words )
        if ( strcasestr( name, *words ) != NULL )
            return true;
    return false;
}

typedef struct axes { // axes of an array of places: counts, and steps through memory; a missing axis has
                      // count 1 and step 0
    int bodies, frames, joints;
    size_t body_step, frame_step, joint_step, part_step;
    bool sure; // false: rows of 3 × joints numbers
    int parts; // 3, or 4 with how sure a point is
} axes;

// Frames × joints × 3, and what programs make of it: × 4 with how sure a point is, joints × 3 × frames, with
// bodies in front or behind the frames, or frames × (3 joints).
static bool find_axes( const tr_array *a, axes *out )
{
    int rank = a->rank, part = -1, rest[TR_ARRAY_RANK], count = 0;
    *out = ( axes ){ .bodies = 1, .frames = 1, .joints = 1, .sure = true, .parts = 3 };
    if ( !tr_array_is_number( a ) || a->kind == 'b' || a->count == 0 )
        return false;
    if ( rank == 2 && a->shape[1] % 3 == 0 && a->shape[1] >= 9 ) {
        *out = ( axes ){ .bodies = 1,
                         .frames = a->shape[0],
                         .joints = a->shape[1] / 3,
                         .frame_step = a->steps[0],
                         .joint_step = 3 * a->steps[1],
                         .part_step = a->steps[1],
                         .parts = 3 };
        return true;
    }
    if ( rank < 3 || rank > 4 )
        return false;
    if ( a->shape[rank - 1] == 3 || a->shape[rank - 1] == 4 )
        part = rank - 1;
    else if ( a->shape[rank - 2] == 3 )
        part = rank - 2;
    if ( part < 0 )
        return false;
    out->parts = a->shape[part];
    out->part_step = a->steps[part];
    for ( int i = 0; i < rank; ++i )
        if ( i != part )
            rest[count++] = i;
    int body = -1, frame = rest[0], joint = rest[1];
    if ( count == 3 ) { // there are fewer bodies than frames
        bool first = part == rank - 2 || a->shape[rest[0]] <= a->shape[rest[1]];
        body = first ? rest[0] : rest[1];
        frame = first ? rest[1] : rest[0];
        joint = rest[2];
    }
    if ( part == rank - 2 ) { // joints × 3 × frames
        frame = rest[count - 1];
        joint = rest[count - 2];
    }
    if ( body >= 0 ) {
        out->bodies = a->shape[body];
        out->body_step = a->steps[body];
    }
    out->frames = a->shape[frame];
    out->frame_step = a->steps[frame];
    out->joints = a->shape[joint];
    out->joint_step = a->steps[joint];
    return out->bodies <= MOST_BODIES && out->joints >= 2;
}

// How likely it is that an array holds places, by its name: 0 never, 1 perhaps, 2 surely.
static int says_places( const tr_array *a )
{
    static const char *const not [] = { "rot",   "pose", "quat",  "vel",    "acc",    "offset",  "mat",
                                        "vert",  "face", "angle", "euler",  "normal", "contact", "orient",
                                        "trans", "beta", "expr",  "camera", NULL };
    static const char *const yes[] = { "joint",  "pos", "keypoint", "point", "xyz",
                                       "motion", "kpt", "skel",     NULL };
    if ( strcasestr( a->name, "3d" ) != NULL ) // poses_3d
        return 2;
    return holds( a->name, not ) ? 0 : holds( a->name, yes ) ? 2 : 1;
}

static int worth( const tr_array *a )
{
    axes x;
    int said = says_places( a );
    bool fits = said > 0 && find_axes( a, &x ) && ( x.parts == 3 || said == 2 ); // else quaternions
    return fits ? 2 * said + x.sure : 0;
}

// --------------------------------------------------------------------------------------------- what it is

// What is before the last slash of a name belongs to one body: "anna/positions".
static size_t owner_length( const char *name )
{
    const char *slash = strrchr( name, '/' );
    return slash != NULL ? (size_t)( slash - name ) : 0;
}

// An array that describes another: of the same owner, or of all.
static const tr_array *companion( const tr_arrays *arrays, const tr_array *of, const char *const *words,
                                  bool ( *fits )( const tr_array *a, int joints ), int joints )
{
    size_t owner = owner_length( of->name );
    for ( int all = 0; all < 2; ++all )
        for ( int i = 0; i < arrays->count; ++i ) {
            const tr_array *a = &arrays->items[i];
            size_t length = owner_length( a->name );
            bool same = length == owner && strncmp( a->name, of->name, owner ) == 0;
            if ( ( all ? length == 0 : same ) && holds( a->name + length, words ) && fits( a, joints ) )
                return a;
        }
    return NULL;
}

static bool are_names( const tr_array *a, int joints )
{
    return ( a->kind == 'U' || a->kind == 'S' ) && a->rank == 1 && a->shape[0] == joints;
}

static bool are_parents( const tr_array *a, int joints )
{
    return ( a->kind == 'i' || a->kind == 'u' ) && ( a->rank == 1 || a->rank == 2 ) &&
           a->shape[a->rank - 1] == joints;
}

static bool read_names( tr_places *p, const tr_array *names )
{
    p->names = tr_alloc( (size_t)p->joint_count, sizeof( char * ) );
    for ( int j = 0; p->names != NULL && j < p->joint_count; ++j ) {
        char *text = tr_array_text( names, (size_t)j * names->steps[0] );
        p->names[j] = text != NULL ? tr_import_name( text, "joint", j ) : NULL;
        tr_free( text );
        if ( p->names[j] == NULL )
            return false;
    }
    return p->names != NULL;
}

// The first row of a table of kinematics (2 × joints). A joint that is its own parent, or whose parent is no
// joint, is the root.
static bool read_parents( tr_places *p, const tr_array *parents )
{
    size_t step = parents->steps[parents->rank - 1];
    p->parents = tr_alloc( (size_t)p->joint_count, sizeof( int ) );
    for ( int j = 0; p->parents != NULL && j < p->joint_count; ++j ) {
        double parent = tr_array_number( parents, (size_t)j * step );
        int at = parent >= 0 ? tr_int_clamped( parent, 0, p->joint_count ) : -1;
        p->parents[j] = at < p->joint_count && at != j ? at : -1;
    }
    return p->parents != NULL;
}

double tr_rate_of_arrays( const tr_arrays *arrays )
{
    static const char *const rates[] = {
        "fps",       "framerate",   "frame_rate", "mocap_framerate", "mocap_frame_rate",
        "frequency", "sample_rate", NULL };
    static const char *const steps[] = { "dt", "frame_time", "frametime", "timestep", NULL };
    for ( int inverse = 0; inverse < 2; ++inverse )
        for ( const char *const *name = inverse ? steps : rates; *name != NULL; ++name ) {
            const tr_array *a = tr_arrays_find( arrays, *name );
            double n = a != NULL && tr_array_is_number( a ) && a->count == 1 ? tr_array_number( a, 0 ) : 0;
            double rate = inverse && n > 0 ? 1 / n : n;
            if ( rate >= 0.1 && rate <= 10000 )
                return rate;
        }
    return 0;
}

static bool add_body( tr_bodies_file *file, const tr_arrays *arrays, const tr_array *a, const axes *x,
                      int body, tr_error *error )
{
    static const char *const named[] = { "name", NULL }, *const parented[] = { "parent", "kintree", NULL };
    tr_places *p = tr_places_add( file );
    if ( p == NULL || x->frames > TR_MAX_FRAMES )
        return p == NULL
                   ? tr_error_memory( error )
                   : tr_error_set( error, "%d frames are too many; cut the file into parts", x->frames );
    if ( !tr_places_alloc( p, x->frames, x->joints, error ) )
        return false;
    for ( int f = 0; f < x->frames; ++f )
        for ( int j = 0; j < x->joints; ++j ) {
            size_t at = (size_t)body * x->body_step + (size_t)f * x->frame_step + (size_t)j * x->joint_step;
            vec3 *to = &p->places[(size_t)f * (size_t)x->joints + (size_t)j];
            *to = v3( tr_array_number( a, at ), tr_array_number( a, at + x->part_step ),
                      tr_array_number( a, at + 2 * x->part_step ) );
            if ( x->parts == 4 && !( tr_array_number( a, at + 3 * x->part_step ) > 0 ) )
                *to = v3( NAN, NAN, NAN );
        }
    const tr_array *names = companion( arrays, a, named, are_names, x->joints ),
                   *parents = companion( arrays, a, parented, are_parents, x->joints );
    size_t owner = owner_length( a->name );
    if ( owner > 0 )
        p->title = tr_string_format( "%.*s", (int)owner, a->name );
    else if ( x->bodies > 1 )
        p->title = tr_string_format( "body_%d", body + 1 );
    else
        p->title = tr_string_copy( a->name );
    bool ok = p->title != NULL && ( names == NULL || read_names( p, names ) ) &&
              ( parents == NULL || read_parents( p, parents ) );
    return ok || tr_error_memory( error );
}

// What there is instead.
static bool nothing( const tr_arrays *arrays, tr_error *error )
{
    char list[400] = "nothing";
    size_t used = 0;
    bool objects = false;
    for ( int i = 0; i < arrays->count; ++i )
        objects |= arrays->items[i].kind == 0;
    for ( int i = 0; i < arrays->count && i < 8 && used < sizeof list - 80; ++i ) {
        const tr_array *a = &arrays->items[i];
        used +=
            (size_t)snprintf( list + used, sizeof list - used, "%s\"%.40s\" (", i > 0 ? ", " : "", a->name );
        for ( int k = 0; k < a->rank && k < 4; ++k )
            used +=
                (size_t)snprintf( list + used, sizeof list - used, "%s%d", k > 0 ? " x " : "", a->shape[k] );
        used += (size_t)snprintf( list + used, sizeof list - used, ")" );
    }
    if ( objects )
        return tr_error_set(
            error,
            "there are no places of joints in it that can be read, only objects of Python (%s); "
            "save plain arrays, as in numpy.savez(file, positions=array, names=list)",
            list );
    return tr_error_set(
        error,
        "there is no array of places of joints (frames x joints x 3) in it, but %s; call the "
        "array \"positions\"",
        list );
}

bool tr_read_place_arrays( tr_bodies_file *file, const tr_arrays *arrays, tr_log *warnings, tr_error *error )
{
    int best = 0;
    axes first = { 0 };
    for ( int i = 0; i < arrays->count; ++i ) {
        int w = worth( &arrays->items[i] );
        if ( w > best ) {
            best = w;
            find_axes( &arrays->items[i], &first );
        }
    }
    if ( best == 0 )
        return nothing( arrays, error );
    file->fps = tr_rate_of_arrays( arrays );
    for ( int i = 0; i < arrays->count; ++i ) {
        axes x;
        const tr_array *a = &arrays->items[i];
        if ( worth( a ) != best || !find_axes( a, &x ) )
            continue;
        if ( x.joints != first.joints && owner_length( a->name ) == 0 ) {
            tr_log_add( warnings, "array \"%.60s\" has other joints than the first; it is left out",
                        a->name );
            continue;
        }
        for ( int b = 0; b < x.bodies; ++b )
            if ( file->place_count >= MOST_BODIES || !add_body( file, arrays, a, &x, b, error ) )
                return file->place_count >= MOST_BODIES
                           ? tr_error_set( error, "it has more than %d bodies", MOST_BODIES )
                           : false;
    }
    return true;
}

// -------------------------------------------------------------------------------------------- our own files

static const tr_array *part_of( const tr_arrays *arrays, const char *owner, size_t length, const char *key )
{
    for ( int i = 0; i < arrays->count; ++i ) {
        const char *name = arrays->items[i].name;
        if ( owner_length( name ) == length && strncmp( name, owner, length ) == 0 &&
             strcmp( name + length + ( length > 0 ), key ) == 0 )
            return &arrays->items[i];
    }
    return NULL;
}

static bool shaped( const tr_array *a, int rank, int first, int second, int third )
{
    const int shape[] = { first, second, third };
    bool ok = a != NULL && tr_array_is_number( a ) && a->rank == rank;
    for ( int i = 0; ok && i < rank; ++i )
        ok = a->shape[i] == shape[i];
    return ok;
}

static vec3 vector_at( const tr_array *a, size_t at )
{
    size_t step = a->steps[a->rank - 1];
    return v3( tr_array_number( a, at ), tr_array_number( a, at + step ),
               tr_array_number( a, at + 2 * step ) );
}

typedef struct own { // arrays of one body
    const tr_array *names, *parents, *offsets, *root, *turns, *places;
    int joints, frames;
    bool scalar_first; // quaternions w, x, y, z
} own;

static bool read_own_skeleton( tr_skeleton *skeleton, const own *o, tr_error *error )
{
    for ( int j = 0; j < o->joints; ++j ) {
        double parent = tr_array_number( o->parents, (size_t)j * o->parents->steps[0] );
        vec3 offset = vector_at( o->offsets, (size_t)j * o->offsets->steps[0] );
        if ( !( j == 0 ? parent == -1 : parent >= 0 && parent < j && parent == floor( parent ) ) ||
             !( v3_length( offset ) < 1e7 ) )
            return tr_error_set( error,
                                 "joint %d hangs on no joint before it, or nowhere; save the file anew", j );
        char *text = tr_array_text( o->names, (size_t)j * o->names->steps[0] );
        char *name = text != NULL ? tr_import_name( text, "joint", j ) : NULL;
        int added = name != NULL
                        ? tr_skeleton_add( skeleton, name, tr_int_clamped( parent, -1, j - 1 ), offset )
                        : -1;
        tr_free( text );
        tr_free( name );
        if ( added < 0 )
            return tr_error_memory( error );
    }
    return tr_skeleton_name_apart( skeleton, error ) && tr_skeleton_classify( skeleton, error );
}

static bool read_own_clip( tr_clip *clip, const own *o, tr_error *error )
{
    for ( int f = 0; f < o->frames; ++f ) {
        clip->root[f] = vector_at( o->root, (size_t)f * o->root->steps[0] );
        if ( !( v3_length( clip->root[f] ) < 1e7 ) )
            return tr_error_set( error, "frame %d is broken: the root is nowhere", f );
        for ( int j = 0; j < o->joints; ++j ) {
            size_t at = (size_t)f * o->turns->steps[0] + (size_t)j * o->turns->steps[1],
                   step = o->turns->steps[2];
            double n[4];
            for ( int k = 0; k < 4; ++k )
                n[k] = tr_array_number( o->turns, at + (size_t)k * step );
            quat q =
                o->scalar_first ? ( quat ){ n[1], n[2], n[3], n[0] } : ( quat ){ n[0], n[1], n[2], n[3] };
            if ( !( q_dot( q, q ) > 0.5 && q_dot( q, q ) < 2 ) )
                return tr_error_set( error, "frame %d is broken: the rotation of joint %d is none", f, j );
            tr_clip_frame( clip, f )[j] = q_unit( q );
            if ( o->places == NULL )
                continue;
            vec3 place =
                vector_at( o->places, (size_t)f * o->places->steps[0] + (size_t)j * o->places->steps[1] );
            if ( !( v3_length( place ) < 1e7 ) )
                return tr_error_set( error, "frame %d is broken: joint %d is nowhere", f, j );
            clip->translations[(size_t)f * (size_t)o->joints + (size_t)j] = place;
        }
    }
    return true;
}

static bool read_own_body( tr_bodies_file *file, const own *o, const char *title, double fps,
                           tr_error *error )
{
    tr_motion *motion = tr_bodies_add( file, title );
    if ( motion == NULL )
        return tr_error_memory( error );
    return read_own_skeleton( &motion->skeleton, o, error ) &&
           tr_clip_alloc( &motion->clip, o->frames, o->joints, fps, o->places != NULL, error ) &&
           read_own_clip( &motion->clip, o, error );
}

bool tr_read_own_arrays( tr_bodies_file *file, const tr_arrays *arrays, bool *found, tr_error *error )
{
    double fps = tr_rate_of_arrays( arrays );
    int bodies = 0;
    for ( int i = 0; i < arrays->count; ++i ) {
        const tr_array *turns = &arrays->items[i];
        size_t length = owner_length( turns->name );
        if ( strcmp( turns->name + length + ( length > 0 ), "local_quat" ) != 0 || turns->rank != 3 ||
             fps <= 0 )
            continue;
        if ( !tr_work_go_on( error ) )
            return false;
        if ( ++bodies > MOST_OWN_BODIES ) // whole or not: each looks through all arrays for its parts
            return tr_error_set( error, "it has more than %d bodies", MOST_OWN_BODIES );
        const char *name = turns->name;
        own o = { .names = part_of( arrays, name, length, "names" ),
                  .parents = part_of( arrays, name, length, "parents" ),
                  .offsets = part_of( arrays, name, length, "offsets" ),
                  .root = part_of( arrays, name, length, "root_pos" ),
                  .places = part_of( arrays, name, length, "local_pos" ),
                  .turns = turns,
                  .frames = turns->shape[0],
                  .joints = turns->shape[1] };
        const tr_array *order = tr_arrays_find( arrays, "quat_order" );
        char *text = order != NULL && ( order->kind == 'U' || order->kind == 'S' ) && order->count == 1
                         ? tr_array_text( order, 0 )
                         : NULL;
        o.scalar_first = text != NULL && text[0] == 'w';
        tr_free( text );
        if ( o.names == NULL || !are_names( o.names, o.joints ) || !shaped( o.parents, 1, o.joints, 0, 0 ) ||
             !shaped( o.offsets, 2, o.joints, 3, 0 ) || !shaped( o.root, 2, o.frames, 3, 0 ) ||
             !shaped( turns, 3, o.frames, o.joints, 4 ) || o.joints < 1 || o.joints > TR_MAX_JOINTS ||
             o.frames < 1 || o.frames > TR_MAX_FRAMES ||
             ( o.places != NULL && !shaped( o.places, 3, o.frames, o.joints, 3 ) ) )
            continue;
        char *title = tr_string_format( "%.*s", (int)length, name );
        bool ok = title != NULL ? read_own_body( file, &o, title, fps, error ) : tr_error_memory( error );
        tr_free( title );
        if ( !ok )
            return false;
        *found = true;
    }
    return true;
}
