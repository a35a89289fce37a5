// Places of joints in a table of text: one row a frame with three columns a joint ("Hips_x,Hips_y,Hips_z"),
// or one row a joint and frame (columns frame, joint, x, y, z). Cells are parted by commas, semicolons, tabs
// or spaces; an empty cell was not seen. A column "time" (seconds) gives the rate.
#include "import/bodies.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST_CELL = 255 };

typedef struct cell {
    const char *text;
    size_t length;
} cell;

typedef struct reader {
    const char *at, *end;
    int line;
    char mark; // between cells; ' ': any white space
} reader;

static bool at_row_end( const reader *r )
{
    return r->at == r->end || *r->at == '\n' || *r->at == '\r';
}

// The next cell of the row; false at its end. *more is true at first; a row that ends with a mark has an
// empty cell behind it.
static bool next_cell( reader *r, bool *more, cell *out )
{
    if ( r->mark == ' ' )
        while ( !at_row_end( r ) && isspace( (unsigned char)*r->at ) )
            ++r->at;
    if ( !*more || ( r->mark == ' ' && at_row_end( r ) ) )
        return false;
    bool quoted = !at_row_end( r ) && *r->at == '"';
    r->at += quoted;
    out->text = r->at;
    while ( r->at < r->end && *r->at != '\n' && *r->at != '\r' &&
            ( quoted           ? *r->at != '"'
              : r->mark == ' ' ? !isspace( (unsigned char)*r->at )
                               : *r->at != r->mark ) )
        ++r->at;
    out->length = (size_t)( r->at - out->text );
    r->at += quoted && r->at < r->end && *r->at == '"';
    while ( out->length > 0 && isspace( (unsigned char)out->text[0] ) ) {
        ++out->text;
        --out->length;
    }
    while ( out->length > 0 && isspace( (unsigned char)out->text[out->length - 1] ) )
        --out->length;
    *more = r->mark == ' ' || ( r->at < r->end && *r->at == r->mark );
    r->at += *more && r->mark != ' ';
    return true;
}

// Goes to the next row that holds anything and is no remark; false at the end.
static bool next_row( reader *r )
{
    for ( ;; ) {
        while ( r->at < r->end && isspace( (unsigned char)*r->at ) )
            r->line += *r->at++ == '\n';
        if ( r->at == r->end )
            return false;
        if ( *r->at != '#' )
            return true;
        while ( !at_row_end( r ) )
            ++r->at;
    }
}

static void end_row( reader *r )
{
    while ( !at_row_end( r ) )
        ++r->at;
}

// An empty cell and "nan" are missing values, not errors.
static bool number_in( cell c, double *out )
{
    *out = NAN;
    if ( c.length == 0 || ( c.length == 3 && strncasecmp( c.text, "nan", 3 ) == 0 ) )
        return true;
    return tr_number_parse( c.text, c.text + c.length, out ) == c.text + c.length;
}

static char find_mark( const char *text, const char *end )
{
    for ( const char *marks = ",;\t"; *marks != 0; ++marks )
        for ( const char *at = text; at < end && *at != '\n'; ++at )
            if ( *at == *marks )
                return *marks;
    return ' ';
}

// ------------------------------------------------------------------------------------------------- header

typedef enum column_kind { COLUMN_OTHER, COLUMN_TIME, COLUMN_FRAME, COLUMN_JOINT, COLUMN_PART } column_kind;

typedef struct column {
    column_kind kind;
    int joint, part; // part 0 … 2: x, y, z
} column;

typedef struct header {
    column *columns;
    int count, capacity;
    char **names; // [joint_count]
    cell *keys;   // [joint_count] as the table writes them
    int joint_count, name_capacity, key_capacity;
    bool tall; // a row for each joint and frame
} header;

static bool is_word( cell c, const char *const *words )
{
    for ( ; *words != NULL; ++words )
        if ( c.length == strlen( *words ) && strncasecmp( c.text, *words, c.length ) == 0 )
            return true;
    return false;
}

static int joint_named( header *h, const char *text, size_t length )
{
    for ( int j = 0; j < h->joint_count; ++j )
        if ( h->keys[j].length == length && memcmp( h->keys[j].text, text, length ) == 0 )
            return j;
    if ( h->joint_count >= TR_MAX_JOINTS ||
         !tr_array_reserve( (void **)&h->names, &h->name_capacity, h->joint_count + 1, sizeof *h->names ) ||
         !tr_array_reserve( (void **)&h->keys, &h->key_capacity, h->joint_count + 1, sizeof *h->keys ) )
        return -1;
    char *copy = tr_string_format( "%.*s", (int)length, text );
    char *name = copy != NULL ? tr_import_name( copy, "joint", h->joint_count ) : NULL;
    tr_free( copy );
    if ( name == NULL )
        return -1;
    h->names[h->joint_count] = name;
    h->keys[h->joint_count] = ( cell ){ text, length };
    return h->joint_count++;
}

// "Hips_x", "Hips.X", "Hips x", "hips:tx", "HipsX", "x_hips"
static bool split_part( cell c, cell *name, int *part )
{
    char last = c.length > 0 ? (char)tolower( (unsigned char)c.text[c.length - 1] ) : 0;
    *name = c;
    if ( c.length > 2 && tolower( (unsigned char)c.text[0] ) >= 'x' &&
         tolower( (unsigned char)c.text[0] ) <= 'z' && strchr( "_. :-", c.text[1] ) != NULL ) {
        *part = tolower( (unsigned char)c.text[0] ) - 'x';
        *name = ( cell ){ c.text + 2, c.length - 2 };
        return true;
    }
    if ( last < 'x' || last > 'z' || c.length < 2 )
        return false;
    *part = last - 'x';
    --name->length;
    while ( name->length > 1 && strchr( "_. :-[(", name->text[name->length - 1] ) != NULL )
        --name->length;
    if ( name->length > 2 && tolower( (unsigned char)name->text[name->length - 1] ) == 't' &&
         strchr( "_. :-", name->text[name->length - 2] ) != NULL )
        name->length -= 2;
    return name->length > 0;
}

static bool add_column( header *h, cell c )
{
    static const char *const times[] = { "time", "t", "seconds", "timestamp", NULL };
    static const char *const frames[] = { "frame", "frame_id", "frame_index", "index", NULL };
    static const char *const joints[] = { "joint", "joint_name", "name", "bone", "marker", "landmark", NULL };
    static const char *const parts[] = { "x", "y", "z", NULL };
    column k = { .joint = -1 };
    cell name;
    if ( !tr_array_reserve( (void **)&h->columns, &h->capacity, h->count + 1, sizeof k ) )
        return false;
    if ( is_word( c, times ) )
        k.kind = COLUMN_TIME;
    else if ( is_word( c, frames ) )
        k.kind = COLUMN_FRAME;
    else if ( is_word( c, joints ) )
        k.kind = COLUMN_JOINT;
    else if ( is_word( c, parts ) ) {
        k.kind = COLUMN_PART;
        k.part = tolower( (unsigned char)c.text[0] ) - 'x';
        h->tall = true;
    } else if ( split_part( c, &name, &k.part ) ) {
        k.kind = COLUMN_PART;
        k.joint = joint_named( h, name.text, name.length );
        if ( k.joint < 0 )
            return false;
    }
    h->columns[h->count++] = k;
    return true;
}

// *words: the row has cells that are no numbers, so it is a header.
static bool read_header( header *h, reader *r, bool *words, tr_error *error )
{
    reader look = *r;
    cell c;
    double n;
    bool more = true;
    int cells = 0;
    *words = false;
    while ( next_cell( &look, &more, &c ) ) {
        *words |= !number_in( c, &n );
        ++cells;
    }
    more = true;
    for ( int i = 0; *words && next_cell( r, &more, &c ) && i < cells; ++i )
        if ( c.length > LONGEST_CELL || !add_column( h, c ) )
            return tr_work_go_on( error ) && tr_error_memory( error );
    if ( *words )
        return true;
    if ( cells < 6 || cells % 3 != 0 )
        return tr_error_set(
            error,
            "a row of %d numbers is not three for each joint; give the table a header such as "
            "Hips_x,Hips_y,Hips_z",
            cells );
    for ( int i = 0; i < cells; ++i ) {
        column k = { COLUMN_PART, i / 3, i % 3 };
        if ( !tr_array_reserve( (void **)&h->columns, &h->capacity, h->count + 1, sizeof k ) )
            return tr_error_memory( error );
        h->columns[h->count++] = k;
    }
    h->joint_count = cells / 3;
    return true;
}

static bool check_header( const header *h, tr_error *error )
{
    bool joint = false;
    int parts = 0;
    for ( int i = 0; i < h->count; ++i ) {
        joint |= h->columns[i].kind == COLUMN_JOINT;
        parts += h->columns[i].kind == COLUMN_PART;
    }
    if ( h->tall ? joint && parts == 3 : h->joint_count >= 2 && parts == 3 * h->joint_count )
        return true;
    return tr_error_set( error, h->tall ? "columns x, y and z need a column \"joint\" beside them"
                                        : "the header must name three columns for each joint, such as "
                                          "Hips_x,Hips_y,Hips_z" );
}

// ---------------------------------------------------------------------------------------------------- rows

typedef struct rows {
    vec3 *places; // [count * joint_count]
    int count, capacity;
    double first_time, last_time;
    size_t most; // places, in proportion to the file: a row need not name all joints
} rows;

static vec3 *add_frame( rows *out, int joints )
{
    size_t row = (size_t)joints * sizeof( vec3 );
    if ( out->count >= TR_MAX_FRAMES || (size_t)out->count * (size_t)joints > out->most ||
         !tr_array_reserve( (void **)&out->places, &out->capacity, out->count + 1, row ) )
        return NULL;
    vec3 *frame = out->places + (size_t)out->count++ * (size_t)joints;
    for ( int j = 0; j < joints; ++j )
        frame[j] = v3( NAN, NAN, NAN );
    return frame;
}

static bool too_many( const rows *out, tr_error *error )
{
    return tr_work_go_on( error ) &&
           tr_error_set( error, "no memory for so many rows (%d so far); cut the table into parts",
                         out->count );
}

static void set_part( vec3 *v, int part, double value )
{
    *( part == 0 ? &v->x : part == 1 ? &v->y : &v->z ) = value;
}

static bool read_row( header *h, reader *r, rows *out, tr_error *error )
{
    vec3 *frame = add_frame( out, h->joint_count );
    cell c;
    bool more = true;
    int i = 0;
    if ( frame == NULL )
        return too_many( out, error );
    for ( ; i < h->count && next_cell( r, &more, &c ); ++i ) {
        const column *k = &h->columns[i];
        double n;
        if ( k->kind != COLUMN_PART && k->kind != COLUMN_TIME )
            continue;
        if ( !number_in( c, &n ) )
            return tr_error_at( error, NULL, r->line, i + 1, "cell %d, '%.*s', is no number", i + 1,
                                c.length < 40 ? (int)c.length : 40, c.text );
        if ( k->kind == COLUMN_TIME && out->count == 1 )
            out->first_time = n;
        if ( k->kind == COLUMN_TIME )
            out->last_time = n;
        else
            set_part( &frame[k->joint], k->part, n );
    }
    if ( i < h->count )
        return tr_error_at( error, NULL, r->line, 0, "the row has %d cells; the first one has %d", i,
                            h->count );
    return true;
}

// Rows of joints: a frame ends where the frame's number or the time changes, or a joint comes again. The
// first pass finds the joints.
static bool read_tall( header *h, reader *r, rows *out, bool names, tr_error *error )
{
    double now = NAN;
    vec3 *frame = NULL;
    while ( next_row( r ) ) {
        double part[3] = { NAN, NAN, NAN }, moment = NAN;
        int joint = -1, i = 0;
        bool more = true;
        cell c;
        for ( ; i < h->count && next_cell( r, &more, &c ); ++i ) {
            const column *k = &h->columns[i];
            double n = NAN;
            if ( k->kind == COLUMN_JOINT ) {
                joint = c.length <= LONGEST_CELL ? joint_named( h, c.text, c.length ) : -1;
                if ( joint < 0 )
                    return tr_error_at( error, NULL, r->line, 0, "too many joints, or no memory for them" );
                continue;
            }
            if ( k->kind == COLUMN_OTHER || names )
                continue;
            if ( !number_in( c, &n ) )
                return tr_error_at( error, NULL, r->line, i + 1, "cell %d, '%.*s', is no number", i + 1,
                                    c.length < 40 ? (int)c.length : 40, c.text );
            if ( k->kind == COLUMN_PART )
                part[k->part] = n;
            else
                moment = n;
            if ( k->kind == COLUMN_TIME ) {
                out->first_time = out->count == 0 ? n : out->first_time;
                out->last_time = n;
            }
        }
        end_row( r );
        if ( i < h->count )
            return tr_error_at( error, NULL, r->line, 0, "the row has %d cells; the first one has %d", i,
                                h->count );
        if ( names )
            continue;
        bool again = frame == NULL || ( isfinite( moment ) ? moment != now : isfinite( frame[joint].x ) );
        if ( again && ( frame = add_frame( out, h->joint_count ) ) == NULL )
            return too_many( out, error );
        now = moment;
        frame[joint] = v3( part[0], part[1], part[2] );
    }
    return true;
}

static bool read_rows( header *h, reader *r, rows *out, tr_error *error )
{
    if ( h->tall ) {
        reader again = *r;
        if ( !read_tall( h, &again, out, true, error ) )
            return false;
        return h->joint_count >= 2 ? read_tall( h, r, out, false, error )
                                   : tr_error_set( error, "the table names fewer than two joints" );
    }
    while ( next_row( r ) ) {
        if ( !read_row( h, r, out, error ) )
            return false;
        end_row( r );
    }
    return true;
}

static bool take( tr_bodies_file *file, header *h, rows *from, tr_error *error )
{
    tr_places *p = tr_places_add( file );
    if ( p == NULL )
        return tr_error_memory( error );
    p->places = from->places;
    p->frame_count = from->count;
    p->joint_count = h->joint_count;
    from->places = NULL;
    if ( h->names != NULL ) {
        p->names = h->names;
        h->names = NULL;
    }
    double seconds = from->last_time - from->first_time;
    if ( from->count > 1 && seconds > 0 )
        file->fps = ( from->count - 1 ) / seconds;
    if ( !( file->fps >= 0.1 && file->fps <= 10000 ) )
        file->fps = 0;
    return true;
}

bool tr_read_place_table( tr_bodies_file *file, const char *text, size_t size, tr_error *error )
{
    header h = { 0 };
    rows found = { .most = ( (size_t)1 << 22 ) + size };
    bool words;
    tr_skip_byte_order_mark( &text, &size );
    reader r = { text, text + size, 1, ' ' };
    if ( size > 0 && memchr( text, 0, size ) != NULL )
        return tr_error_set( error, "this is no text: it holds a byte of value 0" );
    bool ok = next_row( &r ) || tr_error_set( error, "the table is empty" );
    r.mark = find_mark( r.at, r.end );
    ok = ok && read_header( &h, &r, &words, error ) && check_header( &h, error );
    if ( ok && words ) // else the first row is a frame
        end_row( &r );
    ok = ok && read_rows( &h, &r, &found, error ) &&
         ( found.count > 0 || tr_error_set( error, "the table has a header, but no rows" ) ) &&
         take( file, &h, &found, error );
    for ( int j = 0; h.names != NULL && j < h.joint_count; ++j )
        tr_free( h.names[j] );
    tr_free( h.names );
    tr_free( h.keys );
    tr_free( h.columns );
    tr_free( found.places );
    return ok;
}
