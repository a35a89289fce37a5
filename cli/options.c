#include "cli.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const cli_option common_options[] = {
    { "quiet", 'q', NULL, "print results and errors only" },
    { "help", 'h', NULL, "print this help" },
    { NULL },
};

static int option_count( const cli_option *options )
{
    int count = 0;
    while ( options != NULL && options[count].name != NULL )
        ++count;
    return count;
}

static int option_find( const cli_option *options, const char *name, size_t length )
{
    for ( int i = 0; i < option_count( options ); ++i )
        if ( strlen( options[i].name ) == length && strncmp( options[i].name, name, length ) == 0 )
            return i;
    return -1;
}

static int option_find_letter( const cli_option *options, char letter )
{
    for ( int i = 0; i < option_count( options ); ++i )
        if ( options[i].letter == letter )
            return i;
    return -1;
}

// ----------------------------------------------------------------------------------------------- parsing

typedef struct reader {
    cli_call *call;
    char **arguments;
    int count, at;
} reader;

static int unknown_option( const cli_command *command, const char *text )
{
    const char *names[CLI_MAX_OPTIONS + 4];
    int count = 0;
    for ( int i = 0; i < option_count( command->options ); ++i )
        names[count++] = command->options[i].name;
    for ( int i = 0; common_options[i].name != NULL; ++i )
        names[count++] = common_options[i].name;
    names[count] = NULL;
    char word[64];
    snprintf( word, sizeof word, "%.*s", (int)strcspn( text + strspn( text, "-" ), "=" ),
              text + strspn( text, "-" ) );
    const char *nearest = tr_nearest_word( word, names );
    if ( nearest != NULL )
        return cli_wrong( "%s has no option %s; did you mean --%s?", command->name, text, nearest );
    return cli_wrong( "%s has no option %s; 'troupe help %s' lists those it has", command->name, text,
                      command->name );
}

// The value of the option that starts at the reader's argument: behind "=" or the next argument.
static int take_value( reader *in, int row, const char *behind )
{
    const cli_option *option = &in->call->command->options[row];
    if ( in->call->values[row] != NULL )
        return cli_wrong( "--%s is given twice", option->name );
    if ( option->value == NULL ) {
        in->call->values[row] = "";
        return behind == NULL ? CLI_OK : cli_wrong( "--%s takes no value", option->name );
    }
    if ( behind == NULL && in->at + 1 < in->count && strncmp( in->arguments[in->at + 1], "--", 2 ) != 0 )
        behind = in->arguments[++in->at];
    if ( behind == NULL || behind[0] == 0 )
        return cli_wrong( "--%s needs a value: %s", option->name, option->value );
    in->call->values[row] = behind;
    return CLI_OK;
}

static int take_option( reader *in )
{
    const char *text = in->arguments[in->at];
    bool name = text[1] == '-';
    const char *behind = name ? strchr( text, '=' ) : text[2] != 0 ? text + 2 : NULL;
    size_t length = name ? strcspn( text + 2, "=" ) : 0;
    const cli_option *own = in->call->command->options;
    int row = name ? option_find( own, text + 2, length ) : option_find_letter( own, text[1] );
    if ( row >= 0 )
        return take_value( in, row, name && behind != NULL ? behind + 1 : behind );
    row = name ? option_find( common_options, text + 2, length )
               : option_find_letter( common_options, text[1] );
    if ( row < 0 || behind != NULL )
        return unknown_option( in->call->command, text );
    in->call->quiet |= row == 0;
    in->call->help |= row == 1;
    return CLI_OK;
}

static int take_operand( reader *in )
{
    cli_call *call = in->call;
    if ( call->operand_count == call->command->max_operands )
        return cli_wrong( "'%s' is one argument too many; the usage is: troupe %s %s", in->arguments[in->at],
                          call->command->name, call->command->usage );
    call->operands[call->operand_count++] = in->arguments[in->at];
    return CLI_OK;
}

// The operands a command cannot do without are the first words of its usage.
static int missing_operand( const cli_call *call )
{
    const char *usage = call->command->usage, *word = usage;
    for ( int i = 0; i < call->operand_count; ++i )
        word += strcspn( word, " " ) + 1;
    return cli_wrong( "%s needs %.*s; the usage is: troupe %s %s", call->command->name,
                      (int)strcspn( word, " " ), word, call->command->name, usage );
}

int cli_parse( cli_call *call, const cli_command *command, int count, char **arguments )
{
    *call = ( cli_call ){ .command = command };
    assert( option_count( command->options ) <= CLI_MAX_OPTIONS );
    assert( command->max_operands <= CLI_MAX_OPERANDS );
    reader in = { call, arguments, count, 0 };
    bool options_end = false;
    for ( ; in.at < count; ++in.at ) {
        const char *text = arguments[in.at];
        if ( !options_end && strcmp( text, "--" ) == 0 ) {
            options_end = true;
            continue;
        }
        int code = !options_end && text[0] == '-' && text[1] != 0 ? take_option( &in ) : take_operand( &in );
        if ( code != CLI_OK )
            return code;
    }
    if ( call->help )
        return CLI_OK;
    if ( call->operand_count < command->min_operands )
        return missing_operand( call );
    for ( int i = 0; i < option_count( command->options ); ++i )
        if ( command->options[i].required && call->values[i] == NULL )
            return cli_wrong( "%s needs --%s %s", command->name, command->options[i].name,
                              command->options[i].value );
    return CLI_OK;
}

// ---------------------------------------------------------------------------------------------------- help

static void print_options( const cli_option *options )
{
    for ( int i = 0; i < option_count( options ); ++i ) {
        char left[64], letter[8] = "    ";
        if ( options[i].letter != 0 )
            snprintf( letter, sizeof letter, "-%c, ", options[i].letter );
        snprintf( left, sizeof left, "%s--%s%s%s", letter, options[i].name, options[i].value ? " " : "",
                  options[i].value ? options[i].value : "" );
        printf( "  %-26s %s\n", left, options[i].help );
    }
}

static void print_methods( const cli_option *options )
{
    if ( options == NULL || option_find( options, "method", 6 ) < 0 )
        return;
    int count;
    const tr_method *table = tr_method_table( &count );
    printf( "\nmethods:\n" );
    for ( int i = 0; i < count; ++i )
        printf( "  %-12s %s%s\n", table[i].name, table[i].help,
                tr_method_find( NULL ) == &table[i] ? " (the default)" : "" );
    printf( "A scene with imesh set is solved by imesh where no method is named.\n" );
}

void cli_print_help( const cli_command *command )
{
    printf( "usage: troupe %s%s%s\n\n%s\n", command->name, command->usage[0] ? " " : "", command->usage,
            command->summary );
    if ( command->details != NULL )
        printf( "\n%s\n", command->details );
    printf( "\noptions:\n" );
    print_options( command->options );
    print_options( common_options );
    print_methods( command->options );
}

// -------------------------------------------------------------------------------------------------- values

const char *cli_value( const cli_call *call, const char *option )
{
    int row = option_find( call->command->options, option, strlen( option ) );
    assert( row >= 0 );
    return call->values[row];
}

static bool whole_number( const char *text, double *out )
{
    const char *end = text + strlen( text );
    return tr_number_parse( text, end, out ) == end;
}

bool cli_number( const cli_call *call, const char *option, double low, double high, double *out )
{
    const char *text = cli_value( call, option );
    double value;
    if ( text == NULL )
        return true;
    if ( !whole_number( text, &value ) || value < low || value > high ) {
        cli_wrong( "--%s must be a number from %g to %g, not '%s'", option, low, high, text );
        return false;
    }
    *out = value;
    return true;
}

bool cli_int( const cli_call *call, const char *option, int low, int high, int *out )
{
    const char *text = cli_value( call, option );
    double value;
    if ( text == NULL )
        return true;
    if ( !whole_number( text, &value ) || value != floor( value ) || value < low || value > high ) {
        cli_wrong( "--%s must be a whole number from %d to %d, not '%s'", option, low, high, text );
        return false;
    }
    *out = tr_int_clamped( value, low, high );
    return true;
}

// Two whole numbers with one of `between` in the middle, within low … high.
static bool read_pair( const char *text, const char *between, int low, int high, int *a, int *b )
{
    const char *middle = strpbrk( text, between ), *end = text + strlen( text );
    double first, second;
    if ( middle == NULL || tr_number_parse( text, middle, &first ) != middle ||
         tr_number_parse( middle + 1, end, &second ) != end )
        return false;
    if ( first != floor( first ) || second != floor( second ) || first < low || first > high ||
         second < low || second > high )
        return false;
    *a = tr_int_clamped( first, low, high );
    *b = tr_int_clamped( second, low, high );
    return true;
}

bool cli_range( const cli_call *call, const char *option, int low, int high, int *first, int *last )
{
    const char *text = cli_value( call, option );
    if ( text == NULL )
        return true;
    if ( read_pair( text, ":", low, high, first, last ) && *first <= *last )
        return true;
    cli_wrong( "--%s must be A:B with whole numbers %d ≤ A ≤ B ≤ %d, not '%s'", option, low, high, text );
    return false;
}

bool cli_size( const cli_call *call, const char *option, int *width, int *height )
{
    const char *text = cli_value( call, option );
    if ( text == NULL || read_pair( text, "xX", 16, 8192, width, height ) )
        return true;
    cli_wrong( "--%s must be WIDTHxHEIGHT in pixels, each from 16 to 8192, not '%s'", option, text );
    return false;
}
