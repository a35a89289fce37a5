// Private to io: shared by the writers of files and folders.
#ifndef TROUPE_IO_STEPS_H
#define TROUPE_IO_STEPS_H

#include "io/io.h"

#include <dirent.h>
#include <errno.h>
#include <sys/types.h>

// Called before every system call that changes a disk: false, with errno set, where a test makes the call
// fail (tr_file_break).
bool tr_file_step( void );

// A sentence of what failed and why, by errno.
bool tr_file_fail( tr_error *error, const char *path, const char *what );

// Drafts are called .troupe-<process>-<number>.tmp. Their writer holds a lock (flock), which ends with its
// process: a draft without a lock was left behind.
enum { TR_DRAFT_ATTEMPTS = 1000 }; // names to try: others may use a few of them

// Name of the n-th draft of this process. [64]
void tr_draft_leaf( char *out, int number );
// Locks a draft that was just made. False: another process has removed it as left behind; make a new one.
bool tr_draft_lock( int handle );
// Whether a path leads through a draft, which holds no drafts that were left behind.
bool tr_draft_holds( const char *path );
// Removes drafts that were left behind in a folder: files, and folders with what is in them.
void tr_draft_sweep( int folder );

// Removes a folder of drafts or of old results: files, and folders within it down to a depth of 3.
void tr_folder_remove( int parent, const char *name );

// Opens a folder for listing; NULL with errno set. Does not go through a link.
DIR *tr_folder_list( int parent, const char *name );
// The next entry other than "." and "..". NULL with errno 0 at the end, with errno set on failure.
struct dirent *tr_folder_next( DIR *dir );

// Names in a folder are on the disk once the folder is synced. Some file systems cannot sync folders, and
// some folders cannot be opened for it: that is not an error.
bool tr_folder_sync( int handle );

#endif
