#include "shrink.h"

#include <stdio.h>
#include <string.h>

typedef struct shrinking {
    generated *g;
    shrink_test *fails;
    void *context;
    bool progress;
} shrinking;

static bool try_op( shrinking *s, const char *line )
{
    generated next = *s->g; // shares the files
    tr_document *document = tr_document_create( &s->g->scene, NULL );
    bool ok = document != NULL && tr_document_apply( document, line, NULL ) &&
              !tr_scene_equal( tr_document_scene( document ), &s->g->scene ) &&
              tr_scene_copy( &next.scene, tr_document_scene( document ), NULL );
    tr_document_destroy( document );
    if ( !ok )
        return false;
    ok = s->fails( s->context, &next );
    tr_scene_free( ok ? &s->g->scene : &next.scene );
    if ( ok )
        s->g->scene = next.scene;
    s->progress = s->progress || ok;
    return ok;
}

// Ids of the elements that ops of this name work on: cast_…, prop_…
typedef struct id_list {
    const char *name;
    size_t items, count, size; // offsets in tr_scene, bytes of an element; the id comes first
} id_list;

#define LIST( name, field, type )                                                                            \
    {                                                                                                        \
        name, offsetof( tr_scene, field##s ), offsetof( tr_scene, field##_count ), sizeof( type )            \
    }

static const id_list lists[] = {
    LIST( "layer", layer, tr_layer ),
    LIST( "pair", pair, tr_pair ),
    LIST( "constraint", constraint, tr_constraint ),
    LIST( "handle", handle, tr_handle ),
    LIST( "section", section, tr_section ),
    LIST( "obstacle", obstacle, tr_obstacle ),
    LIST( "prop", prop, tr_prop ),
    LIST( "clip", clip, tr_cast_clip ),
    LIST( "drive", drive, tr_drive ),
    { "cast", offsetof( tr_scene, cast ), offsetof( tr_scene, cast_count ), sizeof( tr_cast ) },
};
#define LIST_COUNT ( (int)( sizeof lists / sizeof *lists ) )

static int list_count( const tr_scene *scene, const id_list *list )
{
    return *(const int *)( (const char *)scene + list->count );
}

static const char *list_id( const tr_scene *scene, const id_list *list, int index )
{
    const char *items = *(char *const *)( (const char *)scene + list->items );
    return items + (size_t)index * list->size;
}

static void drop_elements( shrinking *s )
{
    for ( int l = 0; l < LIST_COUNT; ++l )
        for ( int i = list_count( &s->g->scene, &lists[l] ) - 1; i >= 0; --i )
            if ( i < list_count( &s->g->scene, &lists[l] ) ) { // what goes may take others along
                char line[120];
                snprintf( line, sizeof line, "%s_remove id=%s", lists[l].name,
                          list_id( &s->g->scene, &lists[l], i ) );
                try_op( s, line );
            }
}

// Ops that need nothing but an id set fields; an empty value is the default.
static bool only_sets( const tr_op_info *op )
{
    int needed = 0;
    for ( int p = 0; p < op->param_count; ++p )
        needed += op->params[p].required;
    return needed == 1 && strcmp( op->params[0].key, "id" ) == 0;
}

static void reset_fields_of( shrinking *s, const tr_op_info *op, const id_list *list )
{
    for ( int i = 0; i < list_count( &s->g->scene, list ); ++i )
        for ( int p = 1; p < op->param_count; ++p ) {
            char line[160];
            snprintf( line, sizeof line, "%s id=%s %s=", op->name, list_id( &s->g->scene, list, i ),
                      op->params[p].key );
            try_op( s, line );
        }
}

static void reset_fields( shrinking *s )
{
    int count;
    const tr_op_info *ops = tr_op_table( &count );
    for ( int o = 0; o < count; ++o )
        for ( int l = 0; l < LIST_COUNT; ++l ) {
            size_t length = strlen( lists[l].name );
            if ( strncmp( ops[o].name, lists[l].name, length ) == 0 && ops[o].name[length] == '_' &&
                 only_sets( &ops[o] ) )
                reset_fields_of( s, &ops[o], &lists[l] );
        }
    for ( int i = 0; i < s->g->scene.cast_count; ++i )
        for ( int k = s->g->scene.cast[i].target.limb_count + s->g->scene.cast[i].target.girth_count - 1;
              k >= 0; --k ) {
            const tr_cast *cast = &s->g->scene.cast[i];
            char line[160];
            bool girth = k >= cast->target.limb_count;
            snprintf( line, sizeof line, "cast_%s id=%s limb=%s value=", girth ? "girth" : "limb", cast->id,
                      girth ? cast->target.girths[k - cast->target.limb_count].limb
                            : cast->target.limbs[k].limb );
            try_op( s, line );
        }
    try_op( s, "scene_set fps=" );
    try_op( s, "scene_set ground=" );
    try_op( s, "scene_set imesh=" );
}

static bool try_range( shrinking *s, int first, int last )
{
    char line[80];
    snprintf( line, sizeof line, "scene_set range=%d,%d", first, last );
    return first <= last && try_op( s, line );
}

static void drop_scene_frames( shrinking *s )
{
    const tr_scene *scene = &s->g->scene;
    bool less = true;
    while ( less && scene->last > scene->first ) {
        int middle = ( scene->first + scene->last ) / 2;
        less = try_range( s, scene->first, middle ) || try_range( s, middle + 1, scene->last ) ||
               try_range( s, scene->first, scene->last - 1 ) || try_range( s, scene->first + 1, scene->last );
    }
}

// --------------------------------------------------------------------------------------------------- motions

static bool copy_rig( rig *out, const rig *in )
{
    size_t joints = (size_t)in->joint_count, frames = (size_t)in->frame_count;
    *out = *in;
    out->joints = tr_alloc( joints, sizeof *in->joints );
    out->joint_capacity = in->joint_count;
    out->angles = tr_alloc( joints * frames * 3, sizeof *in->angles );
    out->root = tr_alloc( frames, sizeof *in->root );
    if ( out->joints == NULL || out->angles == NULL || out->root == NULL ) {
        rig_free( out );
        return false;
    }
    memcpy( out->joints, in->joints, joints * sizeof *in->joints );
    memcpy( out->angles, in->angles, joints * frames * 3 * sizeof *in->angles );
    memcpy( out->root, in->root, frames * sizeof *in->root );
    return true;
}

// Takes the changed rig over if the failure stays; frees the other one.
static bool try_rig( shrinking *s, int file, rig *changed )
{
    rig *own = &s->g->files[file].rig, old = *own;
    *own = *changed;
    bool ok = s->fails( s->context, s->g );
    if ( !ok )
        *own = old;
    rig_free( ok ? &old : changed );
    s->progress = s->progress || ok;
    return ok;
}

static void shrink_rig( shrinking *s, int file )
{
    const rig *own = &s->g->files[file].rig;
    rig next;
    for ( int j = own->joint_count - 1; j > 0; --j )
        if ( j < own->joint_count && copy_rig( &next, own ) ) {
            rig_drop_joint( &next, j );
            try_rig( s, file, &next );
        }
    for ( int count = own->frame_count / 2; count >= 1 && copy_rig( &next, own ); count /= 2 ) {
        rig_drop_frames( &next, count );
        if ( !try_rig( s, file, &next ) )
            break;
    }
    bool still = true;
    for ( int k = 0; k < own->frame_count * own->joint_count * 3; ++k )
        still = still && own->angles[k] == 0;
    if ( !still && copy_rig( &next, own ) ) {
        memset( next.angles, 0,
                (size_t)next.frame_count * (size_t)next.joint_count * 3 * sizeof *next.angles );
        try_rig( s, file, &next );
    }
    if ( ( own->end_sites || own->stretches || own->order != 0 ) && copy_rig( &next, own ) ) {
        next.end_sites = next.stretches = false;
        next.order = 0;
        try_rig( s, file, &next );
    }
}

static bool is_named( const generated *g, const char *file )
{
    tr_text text = { 0 };
    char quoted[40];
    snprintf( quoted, sizeof quoted, "\"%s\"", file );
    tr_text_add( &text, "%s", "" );
    bool named = !tr_scene_print( &g->scene, &text, NULL );
    for ( size_t i = 0; i + strlen( quoted ) <= text.size; ++i )
        named = named || memcmp( text.data + i, quoted, strlen( quoted ) ) == 0;
    tr_text_free( &text );
    return named;
}

static void drop_files( generated *g )
{
    int kept = 0;
    for ( int i = 0; i < g->file_count; ++i )
        if ( is_named( g, g->files[i].name ) )
            g->files[kept++] = g->files[i];
        else {
            rig_free( &g->files[i].rig );
            tr_text_free( &g->files[i].text );
        }
    g->file_count = kept;
}

void shrink( generated *g, shrink_test *fails, void *context )
{
    shrinking s = { g, fails, context, true };
    while ( s.progress ) {
        s.progress = false;
        drop_elements( &s );
        drop_files( g );
        reset_fields( &s );
        drop_scene_frames( &s );
        for ( int f = 0; f < g->file_count; ++f )
            if ( g->files[f].rig.joint_count > 0 )
                shrink_rig( &s, f );
    }
}
