// Measures as JSON for programs and as a table for people.
#include "measure/private.h"

#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------- JSON

static void print_value( tr_text *out, double value, bool null )
{
    char number[40];
    int size = null ? 0 : tr_number_print_exact( number, sizeof number, value );
    if ( size > 0 )
        tr_text_append( out, number, (size_t)size );
    else
        tr_text_add( out, "null" );
}

static void print_column( tr_text *out, const tr_metric *metric, bool source )
{
    tr_text_add( out, "{" );
    for ( int i = 0; i < metric->field_count; ++i ) {
        const tr_metric_field *field = &metric->fields[i];
        tr_text_add( out, "%s\"%s\": ", i > 0 ? ", " : "", field->name );
        print_value( out, source ? field->source : field->out,
                     source ? field->source_null : field->out_null );
    }
    const tr_metric_place *place = source ? &metric->source_place : &metric->out_place;
    if ( metric->place_name != NULL && place->name[0] != 0 ) {
        tr_text_add( out, ", \"%s\": ", metric->place_name );
        tr_text_quoted( out, place->name, strlen( place->name ) );
        tr_text_add( out, ", \"%s\": %d", metric->place_frame, place->frame );
    } else if ( metric->place_name != NULL ) {
        tr_text_add( out, ", \"%s\": null, \"%s\": null", metric->place_name, metric->place_frame );
    }
    tr_text_add( out, "}" );
}

// Keys, names and reasons are our own plain words: nothing in them needs escaping.
bool tr_measures_print_json( const tr_measures *measures, tr_text *out )
{
    tr_text_add( out, "{\"metrics\": {" );
    for ( int i = 0; i < measures->count; ++i ) {
        const tr_metric *metric = &measures->metrics[i];
        tr_text_add( out, "%s\n  \"%s\": {\"out\": ", i > 0 ? "," : "", metric->key );
        print_column( out, metric, false );
        tr_text_add( out, ", \"source\": " );
        print_column( out, metric, true );
        if ( metric->reason != NULL )
            tr_text_add( out, ", \"reason\": \"%s\"}", metric->reason );
        else
            tr_text_add( out, ", \"reason\": null}" );
    }
    tr_text_add( out, "\n}}\n" );
    return !out->failed;
}

// ------------------------------------------------------------------------------------------------ table

// About four significant digits, in plain decimals, so that columns can be read down.
static void number_of( char out[40], double value, bool null )
{
    double size = fabs( value );
    int decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4;
    if ( size < 0.01 )
        decimals = 6;
    snprintf( out, 40, "-" );
    if ( !null )
        tr_number_print( out, 40, value, decimals );
}

static void print_cell( tr_text *out, double value, bool null )
{
    char number[40];
    number_of( number, value, null );
    tr_text_add( out, " %12s", number );
}

static bool is_measured( const tr_metric *metric )
{
    for ( int i = 0; i < metric->field_count; ++i )
        if ( !metric->fields[i].out_null || !metric->fields[i].source_null )
            return true;
    return false;
}

static void print_rows( tr_text *out, const tr_metric *metric )
{
    for ( int i = 0; i < metric->field_count; ++i ) {
        const tr_metric_field *field = &metric->fields[i];
        bool lone = strcmp( field->name, "value" ) == 0;
        tr_text_add( out, "%-26s %-18s", i == 0 ? metric->key : "", lone ? "" : field->name );
        print_cell( out, field->out, field->out_null );
        print_cell( out, field->source, field->source_null );
        if ( field->worse )
            tr_text_add( out, "  %-6s worse\n", field->unit );
        else
            tr_text_add( out, field->unit[0] != 0 ? "  %s\n" : "\n", field->unit );
    }
    if ( metric->out_place.name[0] != 0 )
        tr_text_add( out, "%-26s %-18s %s, frame %d\n", "", metric->place_name, metric->out_place.name,
                     metric->out_place.frame );
    if ( metric->reason != NULL )
        tr_text_add( out, "%-26s (%s)\n", "", metric->reason );
}

static void print_reasons( const tr_measures *measures, tr_text *out )
{
    tr_text_add( out, "\nNot measured:\n" );
    for ( int i = 0; i < measures->count; ++i ) {
        const tr_metric *metric = &measures->metrics[i];
        if ( !is_measured( metric ) )
            tr_text_add( out, "%-26s %s\n", metric->key, metric->reason );
    }
}

static bool is_worse( const tr_metric *metric )
{
    for ( int i = 0; i < metric->field_count; ++i )
        if ( metric->fields[i].worse )
            return true;
    return false;
}

// The maximum among the fields that are worse, else the last of them.
static const tr_metric_field *shown_field( const tr_metric *metric )
{
    const tr_metric_field *found = NULL;
    for ( int i = 0; i < metric->field_count; ++i ) {
        const tr_metric_field *field = &metric->fields[i];
        bool most = found != NULL && strncmp( found->name, "max", 3 ) == 0;
        if ( field->worse && !most )
            found = field;
    }
    return found;
}

static void print_worse( tr_text *out, const tr_metric *metric )
{
    char result[40], source[40];
    const tr_metric_field *field = shown_field( metric );
    number_of( result, field->out, field->out_null );
    number_of( source, field->source, field->source_null );
    bool lone = strcmp( field->name, "value" ) == 0;
    tr_text_add( out, "%-26s %s\n%-26s (%s%s%s%s%s", metric->key, metric->worse, "", lone ? "" : field->name,
                 lone ? "" : " ", result, field->unit[0] != 0 ? " " : "", field->unit );
    if ( !field->source_null )
        tr_text_add( out, "; the source: %s", source );
    if ( metric->out_place.name[0] != 0 )
        tr_text_add( out, "; %s, frame %d", metric->out_place.name, metric->out_place.frame );
    tr_text_add( out, ")\n" );
}

// Counts figures, not their fields.
static void print_summary( const tr_measures *measures, int measured, tr_text *out )
{
    int worse = 0;
    for ( int i = 0; i < measures->count; ++i )
        worse += is_worse( &measures->metrics[i] );
    if ( measured == 0 )
        return;
    if ( worse == 0 ) {
        tr_text_add( out, "\nAll %d figures are fine: no worse than the source's, or within their limits.\n",
                     measured );
        return;
    }
    tr_text_add( out, "\n%d of %d figures are fine: no worse than the source's, or within their limits.\n",
                 measured - worse, measured );
    tr_text_add( out, worse == 1 ? "One is not:\n" : "%d are not:\n", worse );
    for ( int i = 0; i < measures->count; ++i )
        if ( is_worse( &measures->metrics[i] ) )
            print_worse( out, &measures->metrics[i] );
    tr_text_add(
        out,
        "'troupe render' shows whether they can be seen. docs/metrics.md tells how each is measured, and "
        "what its limit is.\n" );
}

void tr_measures_print_table( const tr_measures *measures, tr_text *out )
{
    int measured = 0;
    tr_text_add( out, "%-45s %12s %12s  %s\n", "", "result", "source", "unit" );
    for ( int i = 0; i < measures->count; ++i ) {
        const tr_metric *metric = &measures->metrics[i];
        if ( !is_measured( metric ) )
            continue;
        print_rows( out, metric );
        ++measured;
    }
    if ( measured < measures->count )
        print_reasons( measures, out );
    print_summary( measures, measured, out );
}
