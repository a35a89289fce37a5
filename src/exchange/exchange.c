// Files for other programs: what their writers share.
#include "exchange/look.h"
#include "exchange/writers.h"

#include <assert.h>
#include <string.h>

void tr_exchange_free( tr_exchange *x )
{
    for ( int i = 0; i < x->body_count; ++i ) {
        tr_facets_free( &x->bodies[i].facets );
        tr_free( x->bodies[i].girths );
    }
    for ( int i = 0; i < x->thing_count; ++i )
        tr_facets_free( &x->things[i].facets );
    for ( int i = 0; i < x->look_count; ++i ) {
        tr_free( x->looks[i].path );
        tr_free( x->looks[i].skeleton );
        tr_look_destroy( x->looks[i].look );
    }
    tr_free( x->looks );
    tr_free( x->bodies );
    tr_free( x->things );
    tr_free( x->contacts );
    tr_free( x->figures );
    *x = ( tr_exchange ){ 0 };
}

bool tr_exchange_find_look( tr_exchange *x, const tr_look **out, const char *path, const tr_import_def *def,
                            tr_log *warnings, tr_error *error )
{
    const char *skeleton = def->skeleton != NULL ? def->skeleton : "";
    *out = NULL;
    for ( int i = 0; i < x->look_count; ++i ) {
        const tr_exchange_look *known = &x->looks[i];
        if ( strcmp( known->path, path ) == 0 && strcmp( known->skeleton, skeleton ) == 0 &&
             known->unit == def->unit && known->up == def->up ) {
            *out = known->look;
            return true;
        }
    }
    if ( !tr_array_reserve( (void **)&x->looks, &x->look_capacity, x->look_count + 1, sizeof *x->looks ) )
        return tr_error_memory( error );
    tr_exchange_look *new = &x->looks[x->look_count++];
    *new = ( tr_exchange_look ){ .path = tr_string_copy( path ),
                                 .skeleton = tr_string_copy( skeleton ),
                                 .unit = def->unit,
                                 .up = def->up };
    if ( new->path == NULL || new->skeleton == NULL )
        return tr_error_memory( error );
    bool ok = tr_look_load( &new->look, path, def, warnings, error );
    *out = new->look;
    return ok;
}

double tr_linear_colour( float srgb )
{
    double c = (double)srgb;
    return c <= 0.04045 ? c / 12.92 : pow( ( c + 0.055 ) / 1.055, 2.4 );
}

rigid tr_thing_at( const tr_exchange_thing *thing, int frame )
{
    return thing->track != NULL ? thing->track[frame] : thing->place;
}

vec3 tr_exchange_offset( const tr_exchange_body *body, int frame, int joint )
{
    const tr_clip *clip = body->clip;
    if ( joint == 0 )
        return clip->root[frame];
    return clip->translations != NULL
               ? clip->translations[(size_t)frame * (size_t)clip->joint_count + (size_t)joint]
               : body->skeleton->joints[joint].offset;
}

bool tr_exchange_format_of( const char *path, tr_exchange_format *out )
{
    static const char *const endings[] = {
        [TR_EXCHANGE_GLB] = ".glb", [TR_EXCHANGE_USDA] = ".usda", [TR_EXCHANGE_NPZ] = ".npz" };
    for ( tr_exchange_format f = TR_EXCHANGE_GLB; f <= TR_EXCHANGE_NPZ; ++f )
        if ( tr_path_ends_with( path, endings[f] ) ) {
            *out = f;
            return true;
        }
    return false;
}

bool tr_exchange_print( const tr_exchange *x, tr_exchange_format format, const tr_exchange_def *def,
                        tr_text *out, tr_error *error )
{
    for ( int i = 0; i < x->body_count; ++i )
        assert( x->bodies[i].clip->frame_count == x->frame_count );
    switch ( format ) {
    case TR_EXCHANGE_GLB: return tr_glb_print( x, def, out, error );
    case TR_EXCHANGE_USDA: return tr_usda_print( x, out, error );
    default: return tr_npz_print( x, out, error );
    }
}

bool tr_exchange_save( const tr_exchange *x, const char *path, const tr_exchange_def *def, tr_error *error )
{
    tr_exchange_format format = TR_EXCHANGE_GLB;
    tr_text text = { 0 };
    bool known = tr_exchange_format_of( path, &format );
    assert( known );
    bool ok = known && tr_exchange_print( x, format, def, &text, error ) &&
              tr_file_write( path, text.data, text.size, error );
    tr_text_free( &text );
    return ok;
}
