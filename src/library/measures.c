// Measures as a flat list of figures.
#include "library.h"

#include <assert.h>
#include <string.h>

static bool flatten( troupe_measures *out, const tr_measures *in, tr_error *error )
{
    out->figures = tr_alloc( (size_t)in->count * TR_METRIC_FIELDS, sizeof *out->figures );
    if ( out->figures == NULL )
        return tr_error_memory( error );
    for ( int m = 0; m < in->count; ++m )
        for ( int f = 0; f < in->metrics[m].field_count; ++f ) {
            const tr_metric_field *field = &in->metrics[m].fields[f];
            out->figures[out->count++] = ( troupe_figure ){ .key = in->metrics[m].key,
                                                            .field = field->name,
                                                            .unit = field->unit,
                                                            .value = field->out,
                                                            .source = field->source,
                                                            .value_known = !field->out_null,
                                                            .source_known = !field->source_null,
                                                            .worse = field->worse };
        }
    return true;
}

static bool measure( tr_call *c, troupe_measures *out, const troupe_result *result )
{
    if ( out == NULL )
        return tr_error_memory( &c->error );
    if ( result->motion != &result->own || result->below >= 0 )
        return tr_error_set( &c->error,
                             "the result of a drag, or below a layer, is not whole; solve the scene" );
    tr_stage stage = tr_call_stage( c, result->stage );
    tr_measures measures;
    if ( !tr_measure( &measures, &stage, &result->own, &c->error ) )
        return false;
    bool ok = flatten( out, &measures, &c->error );
    tr_measures_free( &measures );
    return ok;
}

troupe_measures *troupe_measure( const troupe_result *result, const troupe_work *work, troupe_error *error )
{
    assert( result != NULL );
    tr_call c;
    tr_call_begin( &c, work );
    troupe_measures *measures = tr_alloc( 1, sizeof *measures );
    bool ok = measure( &c, measures, result );
    if ( !ok )
        troupe_measures_destroy( measures );
    return tr_call_end( &c, ok, error ) ? measures : NULL;
}

void troupe_measures_destroy( troupe_measures *measures )
{
    if ( measures == NULL )
        return;
    tr_free( measures->figures );
    tr_free( measures );
}

int troupe_measures_count( const troupe_measures *measures )
{
    assert( measures != NULL );
    return measures->count;
}

troupe_figure troupe_measures_figure( const troupe_measures *measures, int index )
{
    assert( index >= 0 && index < troupe_measures_count( measures ) );
    return measures->figures[index];
}

int troupe_measures_find( const troupe_measures *measures, const char *key, const char *field )
{
    assert( measures != NULL && key != NULL );
    for ( int i = 0; i < measures->count; ++i ) {
        const troupe_figure *figure = &measures->figures[i];
        if ( strcmp( figure->key, key ) == 0 && ( field == NULL || strcmp( figure->field, field ) == 0 ) )
            return i;
    }
    return -1;
}
