// Videos are encoded by ffmpeg, run as a child process without a shell. Frames go to its standard input
// through a socket rather than a pipe: a write to a socket without a reader can be kept from raising SIGPIPE.
// It writes a draft, which becomes the video when ffmpeg has ended well and all of it is there.
#include "ui/render/private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

struct tr_video {
    char *path;
    tr_draft draft;
    pid_t child;
    int input;    // our end of the socket
    int messages; // memory file with the messages of ffmpeg
    int width, height;
    int wide, tall;       // what ffmpeg is fed: even for .mp4, the last column and row repeated
    unsigned char *frame; // [wide * tall * 3]
    int frame_count;
    double fps;
    bool gif;
};

// A socket to feed the child's standard input and a memory file to catch its complaints.
static bool open_channels( tr_video *video, int *child_end )
{
    int ends[2];
    video->messages = memfd_create( "ffmpeg", MFD_CLOEXEC );
    if ( video->messages < 0 || socketpair( AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends ) != 0 )
        return false;
    video->input = ends[0];
    *child_end = ends[1];
    const struct timeval pause = { .tv_usec = 20000 }; // after which a frame is asked about again
    return setsockopt( video->input, SOL_SOCKET, SO_SNDTIMEO, &pause, sizeof pause ) == 0;
}

static int spawn( tr_video *video, int child_end, const char *const *arguments )
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init( &actions );
    posix_spawn_file_actions_adddup2( &actions, child_end, 0 );
    posix_spawn_file_actions_addopen( &actions, 1, "/dev/null", O_WRONLY, 0 );
    posix_spawn_file_actions_adddup2( &actions, video->messages, 2 );
    int status = posix_spawnp( &video->child, "ffmpeg", &actions, NULL, (char *const *)arguments, environ );
    posix_spawn_file_actions_destroy( &actions );
    if ( status != 0 )
        video->child = 0;
    return status;
}

static bool start( tr_video *video, double fps, bool gif, tr_error *error )
{
    char size[32], rate[32], name[PATH_MAX + 8];
    int child_end;
    snprintf( size, sizeof size, "%dx%d", video->wide, video->tall );
    // "file:" keeps ffmpeg from taking a colon or a leading minus in the name for something else
    if ( tr_number_print( rate, sizeof rate, fps, 6 ) == 0 ||
         snprintf( name, sizeof name, "file:%s", video->draft.name ) >= (int)sizeof name )
        return tr_error_at( error, video->path, 0, 0, "the name of the video is too long" );
    const char *arguments[32] = {
        "ffmpeg", "-loglevel",   "error", "-nostdin",   "-y", "-f", "rawvideo", "-pixel_format",
        "rgb24",  "-video_size", size,    "-framerate", rate, "-i", "pipe:0" };
    const char *mp4[] = { "-f", "mp4",     "-c:v",     "libx264",   "-pix_fmt",   "yuv420p", "-crf",
                          "18", "-preset", "veryfast", "-movflags", "+faststart", NULL };
    const char *palette[] = {
        "-f", "gif", "-filter_complex",
        "split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=sierra2_4a", NULL };
    int count = 15;
    for ( const char **a = gif ? palette : mp4; *a; ++a )
        arguments[count++] = *a;
    arguments[count] = name;
    if ( !open_channels( video, &child_end ) )
        return tr_error_at( error, video->path, 0, 0, "cannot talk to ffmpeg: %s", strerror( errno ) );
    int status = spawn( video, child_end, arguments );
    close( child_end );
    if ( status == 0 )
        return true;
    return tr_error_set( error, status == ENOENT ? "ffmpeg is needed for videos: install the package ffmpeg"
                                                 : "ffmpeg cannot be started" );
}

static void video_free( tr_video *video )
{
    if ( video->draft.name != NULL )
        tr_draft_discard( &video->draft );
    if ( video->input >= 0 )
        close( video->input );
    if ( video->messages >= 0 )
        close( video->messages );
    tr_free( video->path );
    tr_free( video->frame );
    tr_free( video );
}

tr_video *tr_video_open( const char *path, int width, int height, double fps, tr_error *error )
{
    bool gif = tr_path_ends( path, ".gif" );
    if ( !gif && !tr_path_ends( path, ".mp4" ) ) {
        tr_error_at( error, path, 0, 0,
                     "videos are written as .mp4 or .gif: the name must end in one of them" );
        return NULL;
    }
    if ( width < 1 || height < 1 || width > 16384 || height > 16384 || !( fps > 0.0 && fps <= 1000.0 ) ) {
        tr_error_at( error, path, 0, 0, "a video of %d x %d pixels at %g frames per second is not possible",
                     width, height, fps );
        return NULL;
    }
    tr_video *video = tr_alloc( 1, sizeof *video );
    if ( !video ) {
        tr_error_memory( error );
        return NULL;
    }
    *video =
        ( tr_video ){ .input = -1, .messages = -1, .width = width, .height = height, .fps = fps, .gif = gif };
    video->wide = gif ? width : width + width % 2;
    video->tall = gif ? height : height + height % 2;
    video->path = tr_string_copy( path );
    video->frame = tr_alloc( (size_t)video->wide * (size_t)video->tall, 3 );
    bool ok = video->path && video->frame
                  ? tr_draft_open( &video->draft, path, error ) && start( video, fps, gif, error )
                  : tr_error_memory( error );
    if ( ok )
        return video;
    video_free( video );
    return NULL;
}

// Waits for ffmpeg, which may have most of its work before it, for as long as the video is wanted.
static int wait_for_end( pid_t child )
{
    int status = 0;
    pid_t ended;
    while ( ( ended = waitpid( child, &status, WNOHANG ) ) == 0 || ( ended < 0 && errno == EINTR ) ) {
        if ( !tr_work_wanted() )
            kill( child, SIGKILL );
        nanosleep( &( struct timespec ){ .tv_nsec = 2000000 }, NULL );
    }
    return status;
}

// Waits for ffmpeg to end; *error gets the last line of its messages.
static bool finish( tr_video *video, bool complain, tr_error *error )
{
    close( video->input );
    video->input = -1;
    int status = wait_for_end( video->child );
    video->child = 0;
    if ( !tr_work_go_on( error ) )
        return false;
    if ( !complain && WIFEXITED( status ) && WEXITSTATUS( status ) == 0 )
        return true;
    char text[400] = "";
    off_t size = lseek( video->messages, 0, SEEK_END );
    off_t from = size > (off_t)sizeof text - 1 ? size - (off_t)sizeof text + 1 : 0;
    ssize_t got = pread( video->messages, text, sizeof text - 1, from );
    text[got > 0 ? got : 0] = 0;
    while ( got > 0 && ( text[got - 1] == '\n' || text[got - 1] == ' ' ) )
        text[--got] = 0;
    const char *line = strrchr( text, '\n' );
    return tr_error_at( error, video->path, 0, 0, "ffmpeg could not write the video: %s",
                        line      ? line + 1
                        : text[0] ? text
                                  : "it gave no reason" );
}

bool tr_video_frame( tr_video *video, const unsigned char *rgb, tr_error *error )
{
    if ( video->child == 0 )
        return tr_error_at( error, video->path, 0, 0, "ffmpeg has already ended" );
    size_t row = 3 * (size_t)video->width, wide_row = 3 * (size_t)video->wide;
    for ( int y = 0; y < video->tall; ++y ) {
        const unsigned char *from = rgb + row * (size_t)( y < video->height ? y : video->height - 1 );
        unsigned char *to = video->frame + wide_row * (size_t)y;
        memcpy( to, from, row );
        memcpy( to + wide_row - 3, from + row - 3, 3 );
    }
    size_t size = wide_row * (size_t)video->tall, sent = 0;
    while ( sent < size ) {
        ssize_t n = send( video->input, video->frame + sent, size - sent, MSG_NOSIGNAL );
        if ( n < 0 && ( errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK ) ) {
            if ( !tr_work_go_on( error ) )
                return false;
            continue;
        }
        if ( n < 0 )
            return finish( video, true, error );
        sent += (size_t)n;
    }
    video->frame_count++;
    return true;
}

// ffmpeg may not report a full disk.
static bool check_whole( const tr_video *video, tr_error *error )
{
    tr_video_facts sent = { video->wide, video->tall, video->frame_count, video->frame_count / video->fps };
    tr_video_facts found;
    bool read = tr_video_read_facts( &found, video->draft.name, video->gif );
    if ( !read && errno == ENOMEM )
        return tr_error_memory( error );
    return ( read && tr_video_is_whole( &found, &sent, video->gif ) ) ||
           tr_error_at(
               error, video->path, 0, 0,
               "the video did not come out whole, perhaps because the disk is full; nothing was replaced" );
}

bool tr_video_close( tr_video *video, tr_error *error )
{
    if ( !video )
        return true;
    bool ok = video->child != 0 ? finish( video, false, error )
                                : tr_error_at( error, video->path, 0, 0, "ffmpeg ended early" );
    if ( ok && video->frame_count == 0 ) // ffmpeg is content with that, players are not
        ok = tr_error_at( error, video->path, 0, 0, "a video needs at least one frame" );
    ok = ok && check_whole( video, error ) && tr_draft_keep( &video->draft, error );
    video_free( video );
    return ok;
}

void tr_video_discard( tr_video *video )
{
    if ( !video )
        return;
    if ( video->child != 0 ) {
        kill( video->child, SIGKILL ); // the rest of its output is not used
        finish( video, false, NULL );
    }
    video_free( video );
}
