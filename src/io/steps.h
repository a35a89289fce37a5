// Private to io: what the writers of files and folders share.
#ifndef TROUPE_IO_STEPS_H
#define TROUPE_IO_STEPS_H

#include "io/io.h"

#include <dirent.h>
#include <errno.h>
#include <sys/types.h>

// Stands before every system call that changes a disk: false, with errno set, where a test wants the call to
// fail (tr_file_break).
bool tr_file_step( void );

// A sentence of what failed and why, by errno.
bool tr_file_fail( tr_error *error, const char *path, const char *what );

// Drafts are called .troupe-<process>-<number>.tmp. Whoever writes one holds a lock on it (flock), which ends
// with the process, however that ends: a draft that nobody holds was left behind.

// Name of the n-th draft of this process. [64]
void tr_draft_leaf( char *out, int number );
// Locks a draft that was just made. False: somebody has taken it for left behind; make another.
bool tr_draft_lock( int handle );
// Whether a path leads through a draft: nothing was left behind in there.
bool tr_draft_holds( const char *path );
// Removes drafts that were left behind in a folder: files, and folders with what is in them.
void tr_draft_sweep( int folder );

// Removes a folder of drafts or of old results: files, and folders within it down to a depth of 3.
void tr_folder_remove( int parent, const char *name );

// Opens a folder for listing; NULL with errno set. Does not go through a link.
DIR *tr_folder_list( int parent, const char *name );
// The next entry that is not "." or "..". NULL at the end with errno 0, or with errno set where the list
// cannot be read on.
struct dirent *tr_folder_next( DIR *dir );

// The names in a folder are on the disk only when the folder is. Some file systems cannot sync folders, and
// some folders cannot be opened for it: not an error.
bool tr_folder_sync( int handle );

#endif
