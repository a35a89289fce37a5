// Joints that come as numbers alone: what the layouts in use call them and how they hang together. The one
// whose bones keep their lengths best is taken where several have as many joints. Sources: the documents of
// SMPL, COCO, Human3.6M, OpenPose, Kinect 2 and MediaPipe.
#include "import/bodies.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct layout {
    const char *title;
    int count; // number of joints in files
    const char
        *joints; // "name:parent …" in the order of the file; then "name:parent=a+b", in the middle of both
} layout;

#define SMPL_BODY                                                                                            \
    "pelvis:-1 left_hip:0 right_hip:0 spine1:0 left_knee:1 right_knee:2 spine2:3 left_ankle:4 "              \
    "right_ankle:5 "                                                                                         \
    "spine3:6 left_foot:7 right_foot:8 neck:9 left_collar:9 right_collar:9 head:12 left_shoulder:13 "        \
    "right_shoulder:14 left_elbow:16 right_elbow:17 left_wrist:18 right_wrist:19"
#define FINGER( side, finger, wrist, first, second )                                                         \
    " " side "_" finger "1:" wrist " " side "_" finger "2:" first " " side "_" finger "3:" second

static const layout layouts[] = {
    { "SMPL", 22, SMPL_BODY },
    { "SMPL", 24, SMPL_BODY " left_hand:20 right_hand:21" },
    { "SMPL-H", 52,
      SMPL_BODY FINGER( "left", "index", "20", "22", "23" ) FINGER( "left", "middle", "20", "25", "26" )
          FINGER( "left", "pinky", "20", "28", "29" ) FINGER( "left", "ring", "20", "31", "32" )
              FINGER( "left", "thumb", "20", "34", "35" ) FINGER( "right", "index", "21", "37", "38" ) FINGER(
                  "right", "middle", "21", "40", "41" ) FINGER( "right", "pinky", "21", "43", "44" )
                  FINGER( "right", "ring", "21", "46", "47" ) FINGER( "right", "thumb", "21", "49", "50" ) },
    { "SMPL-X", 55,
      SMPL_BODY " jaw:15 left_eye:15 right_eye:15" FINGER( "left", "index", "20", "25", "26" )
          FINGER( "left", "middle", "20", "28", "29" ) FINGER( "left", "pinky", "20", "31", "32" )
              FINGER( "left", "ring", "20", "34", "35" ) FINGER( "left", "thumb", "20", "37", "38" )
                  FINGER( "right", "index", "21", "40", "41" ) FINGER( "right", "middle", "21", "43", "44" )
                      FINGER( "right", "pinky", "21", "46", "47" ) FINGER( "right", "ring", "21", "49", "50" )
                          FINGER( "right", "thumb", "21", "52", "53" ) },
    { "COCO", 17,
      "nose:18 left_eye:0 right_eye:0 left_ear:1 right_ear:2 left_shoulder:18 right_shoulder:18 left_elbow:5 "
      "right_elbow:6 left_wrist:7 right_wrist:8 left_hip:17 right_hip:17 left_knee:11 right_knee:12 "
      "left_ankle:13 right_ankle:14 pelvis:-1=11+12 neck:17=5+6" },
    { "Human3.6M", 17,
      "pelvis:-1 right_hip:0 right_knee:1 right_ankle:2 left_hip:0 left_knee:4 left_ankle:5 spine:0 chest:7 "
      "neck:8 head:9 left_shoulder:8 left_elbow:11 left_wrist:12 right_shoulder:8 right_elbow:14 "
      "right_wrist:15" },
    { "OpenPose", 25,
      "nose:1 neck:8 right_shoulder:1 right_elbow:2 right_wrist:3 left_shoulder:1 left_elbow:5 left_wrist:6 "
      "pelvis:-1 right_hip:8 right_knee:9 right_ankle:10 left_hip:8 left_knee:12 left_ankle:13 right_eye:0 "
      "left_eye:0 right_ear:15 left_ear:16 left_toe:14 left_small_toe:14 left_heel:14 right_toe:11 "
      "right_small_toe:11 right_heel:11" },
    { "Kinect", 25,
      "pelvis:-1 spine:0 neck:20 head:2 left_shoulder:20 left_elbow:4 left_wrist:5 left_hand:6 "
      "right_shoulder:20 right_elbow:8 right_wrist:9 right_hand:10 left_hip:0 left_knee:12 left_ankle:13 "
      "left_foot:14 right_hip:0 right_knee:16 right_ankle:17 right_foot:18 chest:1 left_finger:7 "
      "left_thumb:6 right_finger:11 right_thumb:10" },
    { "MediaPipe", 33,
      "nose:34 left_eye_inner:0 left_eye:1 left_eye_outer:2 right_eye_inner:0 right_eye:4 right_eye_outer:5 "
      "left_ear:3 right_ear:6 left_mouth:0 right_mouth:0 left_shoulder:34 right_shoulder:34 left_elbow:11 "
      "right_elbow:12 left_wrist:13 right_wrist:14 left_pinky:15 right_pinky:16 left_index:15 right_index:16 "
      "left_thumb:15 right_thumb:16 left_hip:33 right_hip:33 left_knee:23 right_knee:24 left_ankle:25 "
      "right_ankle:26 left_heel:27 right_heel:28 left_toe:27 right_toe:28 pelvis:-1=23+24 neck:33=11+12" },
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts, MOST_JOINTS = 64 };

typedef struct entry {
    char name[TR_LAYOUT_NAME];
    int parent;
    int between[2]; // the joints it is in the middle of; -1: it is in the file
} entry;

// Returns how many there are.
static int read_layout( const layout *l, entry entries[MOST_JOINTS] )
{
    int count = 0;
    for ( const char *at = l->joints; *at != 0 && count < MOST_JOINTS; at += strspn( at, " " ) ) {
        entry *e = &entries[count++];
        size_t length = strcspn( at, ":" );
        *e = ( entry ){ .between = { -1, -1 } };
        memcpy( e->name, at, length < TR_LAYOUT_NAME ? length : TR_LAYOUT_NAME - 1 );
        char *end;
        e->parent = (int)strtol( at + length + 1, &end, 10 );
        if ( *end == '=' ) {
            e->between[0] = (int)strtol( end + 1, &end, 10 );
            e->between[1] = (int)strtol( end + 1, &end, 10 );
        }
        at = end;
    }
    return count;
}

bool tr_smpl_joint( int joint_count, int joint, char name[TR_LAYOUT_NAME], int *parent )
{
    entry entries[MOST_JOINTS];
    for ( int i = 0; i < LAYOUTS; ++i ) {
        if ( layouts[i].count != joint_count || strncmp( layouts[i].title, "SMPL", 4 ) != 0 )
            continue;
        if ( joint >= read_layout( &layouts[i], entries ) )
            return false;
        memcpy( name, entries[joint].name, TR_LAYOUT_NAME );
        *parent = entries[joint].parent;
        return true;
    }
    return false;
}

// ------------------------------------------------------------------------------------------------ lengths

static vec3 place_of( const tr_places *p, const entry *entries, int frame, int joint )
{
    const vec3 *places = p->places + (size_t)frame * (size_t)p->joint_count;
    if ( entries[joint].between[0] < 0 )
        return places[joint];
    return v3_lerp( places[entries[joint].between[0]], places[entries[joint].between[1]], 0.5 );
}

enum { SAMPLES = 100 }; // frames in which lengths are compared

static int step_of( const tr_places *p )
{
    return ( p->frame_count - 1 ) / SAMPLES + 1;
}

// How much a length varies: standard deviation and mean over frames in which it is known.
static double variation( const tr_places *p, const entry *entries, int a, int b, double *mean )
{
    double sum = 0, squares = 0;
    int count = 0;
    for ( int f = 0; f < p->frame_count; f += step_of( p ) ) {
        double length = v3_distance( place_of( p, entries, f, a ), place_of( p, entries, f, b ) );
        if ( !isfinite( length ) )
            continue;
        sum += length;
        squares += length * length;
        ++count;
    }
    *mean = count > 0 ? sum / count : 0;
    return count > 0 ? sqrt( fmax( squares / count - *mean * *mean, 0 ) ) : 0;
}

// The sum of what bones vary, against their whole length. Left and right are alike in a body as well.
static double trouble_of( const tr_places *p, const entry *entries, int count )
{
    double all = 0, varied = 0;
    for ( int j = 0; j < count; ++j ) {
        double mean;
        if ( entries[j].parent < 0 )
            continue;
        varied += variation( p, entries, j, entries[j].parent, &mean );
        all += mean;
    }
    return all > 0 ? varied / all : 0;
}

static const layout *best_layout( const tr_places *p )
{
    entry entries[MOST_JOINTS];
    const layout *best = NULL;
    double least = INFINITY;
    for ( int i = 0; i < LAYOUTS; ++i ) {
        if ( layouts[i].count != p->joint_count )
            continue;
        double trouble = trouble_of( p, entries, read_layout( &layouts[i], entries ) );
        if ( trouble < least ) {
            least = trouble;
            best = &layouts[i];
        }
    }
    return best;
}

// ---------------------------------------------------------------------------------------- names and parents

static bool take_layout( tr_places *p, const layout *l, tr_error *error )
{
    entry entries[MOST_JOINTS];
    int count = read_layout( l, entries );
    tr_places out = { 0 };
    if ( !tr_places_alloc( &out, p->frame_count, count, error ) )
        return false;
    out.parents = tr_alloc( (size_t)count, sizeof( int ) );
    out.names = tr_alloc( (size_t)count, sizeof( char * ) );
    bool ok = out.parents != NULL && out.names != NULL;
    for ( int j = 0; ok && j < count; ++j ) {
        out.parents[j] = entries[j].parent;
        out.names[j] = tr_string_copy( entries[j].name );
        ok = out.names[j] != NULL;
        for ( int f = 0; f < p->frame_count; ++f )
            out.places[(size_t)f * (size_t)count + (size_t)j] = place_of( p, entries, f, j );
    }
    out.title = p->title;
    p->title = NULL;
    tr_places_free( p );
    *p = out;
    return ok || tr_error_memory( error );
}

// Letters and digits in lower case.
static void plain_name( char out[TR_LAYOUT_NAME], const char *name )
{
    size_t used = 0;
    for ( const char *at = name; *at != 0 && used + 1 < TR_LAYOUT_NAME; ++at )
        if ( isalnum( (unsigned char)*at ) )
            out[used++] = (char)tolower( (unsigned char)*at );
    out[used] = 0;
}

static int find_entry( const entry *entries, int count, const char *name )
{
    char wanted[TR_LAYOUT_NAME], have[TR_LAYOUT_NAME];
    plain_name( wanted, name );
    for ( int i = 0; i < count; ++i ) {
        plain_name( have, entries[i].name );
        if ( strcmp( wanted, have ) == 0 )
            return i;
    }
    return -1;
}

// The nearest joint above, in the layout, that the body has.
static int parent_among( const entry *entries, const int *where, int joint )
{
    int at = entries[joint].parent;
    while ( at >= 0 && where[at] < 0 )
        at = entries[at].parent;
    return at >= 0 ? where[at] : -1;
}

static bool link_by( tr_places *p, const layout *l, bool *found )
{
    entry entries[MOST_JOINTS];
    int count = read_layout( l, entries ), where[MOST_JOINTS], roots = 0;
    for ( int i = 0; i < count; ++i )
        where[i] = -1;
    for ( int j = 0; j < p->joint_count; ++j ) {
        int e = find_entry( entries, count, p->names[j] );
        if ( e < 0 || where[e] >= 0 )
            return true;
        where[e] = j;
    }
    for ( int e = 0; e < count; ++e )
        roots += where[e] >= 0 && parent_among( entries, where, e ) < 0;
    if ( roots != 1 )
        return true;
    p->parents = tr_alloc( (size_t)p->joint_count, sizeof( int ) );
    if ( p->parents == NULL )
        return false;
    for ( int e = 0; e < count; ++e )
        if ( where[e] >= 0 )
            p->parents[where[e]] = parent_among( entries, where, e );
    *found = true;
    return true;
}

// Every joint to the one that is linked already and keeps its distance best; of those alike, the nearest
// (Prim's tree). What varies less than `even` of the size counts as even.
static bool link_by_lengths( tr_places *p, tr_error *error )
{
    double even = tr_default_import_limits().even_bone;
    int count = p->joint_count, root = 0;
    entry *entries = tr_alloc( (size_t)count, sizeof *entries );
    double *cost = tr_alloc( (size_t)count, sizeof( double ) );
    bool *linked = tr_alloc( (size_t)count, sizeof( bool ) );
    p->parents = tr_alloc( (size_t)count, sizeof( int ) );
    bool ok = entries != NULL && cost != NULL && linked != NULL && p->parents != NULL;
    for ( int j = 0; ok && j < count; ++j ) {
        entries[j].between[0] = -1;
        cost[j] = INFINITY;
        p->parents[j] = -1;
        if ( strcasestr( p->names[j], "hips" ) != NULL || strcasestr( p->names[j], "pelvis" ) != NULL ||
             strcasestr( p->names[j], "root" ) != NULL )
            root = j;
    }
    for ( int at = root, left = count - 1; ok && left > 0; --left ) {
        int next = -1;
        linked[at] = true;
        for ( int j = 0; j < count; ++j ) {
            double mean, spread;
            if ( linked[j] )
                continue;
            spread = variation( p, entries, at, j, &mean );
            double price = spread + even * mean;
            if ( price < cost[j] ) {
                cost[j] = price;
                p->parents[j] = at;
            }
            if ( next < 0 || cost[j] < cost[next] )
                next = j;
        }
        at = next;
        ok = tr_work_wanted();
    }
    tr_free( entries );
    tr_free( cost );
    tr_free( linked );
    return ok || tr_error_memory( error );
}

bool tr_places_name( tr_places *p, tr_log *warnings, tr_error *error )
{
    const layout *l = p->names == NULL && p->parents == NULL ? best_layout( p ) : NULL;
    if ( l != NULL ) {
        tr_log_add( warnings, "joints have no names; %d of them are taken as those of %s", p->joint_count,
                    l->title );
        return take_layout( p, l, error );
    }
    if ( p->names == NULL ) {
        p->names = tr_alloc( (size_t)p->joint_count, sizeof( char * ) );
        for ( int j = 0; p->names != NULL && j < p->joint_count; ++j ) {
            p->names[j] = tr_string_format( "joint_%d", j );
            if ( p->names[j] == NULL )
                return tr_error_memory( error );
        }
        tr_log_add( warnings, "joints have no names, and no layout that is known has %d of them",
                    p->joint_count );
    }
    if ( p->names == NULL )
        return tr_error_memory( error );
    bool found = p->parents != NULL;
    for ( int i = 0; i < LAYOUTS && !found; ++i )
        if ( !link_by( p, &layouts[i], &found ) )
            return tr_error_memory( error );
    if ( found )
        return true;
    if ( p->joint_count > 500 )
        return tr_error_set(
            error, "it has %d joints and does not say which hangs on which; add an array \"parents\"",
            p->joint_count );
    tr_log_add( warnings,
                "the file does not say which joint hangs on which; those that keep their distance do" );
    return link_by_lengths( p, error );
}
