package patch

import (
	"context"
	"io/fs"
)

// An FS is a tree of files that patches are applied to.
//
// A key names one entry of a directory: the same entry has the same key,
// whatever spelling led to it. It is an absolute path, clean, with slashes, so
// that [path.Dir] gives the key of the directory, and without symbolic links in
// the directory part.
//
// Errors are those of package io/fs, an errno, one of the errors of this package
// ([ErrStale] and its like), or another [*Error]. A missing file, in particular,
// is [fs.ErrNotExist], and a taken name [fs.ErrExist].
//
// A plan is made with Resolve, Stat and Read. They have no effect, and do not
// block on what is not a regular file. The other methods commit it: directories
// are made and writes staged, everything is looked at again, and then the writes
// are published and names change; from there on, and for Rmdir, the context is one
// that is not cancelled. A plan calls one method at a time.
type FS interface {
	// Resolve returns the key of a path as it is written in a patch. Parents
	// that are missing are taken for directories to be made, but ".." in one
	// is fs.ErrNotExist, and so is a parent that is a dangling link. A parent
	// that is something else is ErrNotDirectory. With follow, the key is
	// that of the file to which a symbolic link at the end of the path leads,
	// there or not, after at most 40 links; more are ErrLoop. A path that
	// leads out of a tree that confines is ErrOutsideRoot.
	Resolve(ctx context.Context, path string, follow bool) (key string, err error)
	// Stat returns what is at a key, without its data. Links are not followed.
	Stat(ctx context.Context, key string) (Snapshot, error)
	// Read returns the regular file at a key with its data. Anything else
	// there is an error, and more than limit bytes are ErrTooLarge.
	Read(ctx context.Context, key string, limit int) (Snapshot, error)

	// Mkdir makes a directory with the permissions of new ones. Its parent
	// exists.
	Mkdir(ctx context.Context, key string) error
	// Rmdir removes a directory that Mkdir made, if it is empty.
	Rmdir(ctx context.Context, key string) error
	// Stage prepares a write, so that little is left to do and to fail for
	// Publish. Nothing of it is visible, temporary files aside, and there is
	// nothing left of it after an error. The directory of the file exists.
	// All writes of a patch are staged before the first is published, so
	// that a Staged should keep few files open.
	Stage(ctx context.Context, w Write) (Staged, error)
	// Rename gives a file a new name in the same instant. It fails with
	// fs.ErrExist if the new name is taken, and with ErrStale if from is not
	// what is there now.
	Rename(ctx context.Context, from Snapshot, to string) error
	// Remove removes a regular file or a symbolic link. It fails with ErrStale
	// if old is not what is there now.
	Remove(ctx context.Context, old Snapshot) error
	// SyncDir makes the entries of a directory durable, if it can.
	SyncDir(ctx context.Context, key string)
}

// A Snapshot is what was found at a key.
type Snapshot struct {
	Key  string
	Mode fs.FileMode // the type at least
	Size int64       // of a regular file, in bytes
	// Stamp changes whenever the file does. It is comparable, and means
	// nothing outside its FS. A file whose stamp differs but whose data is
	// known and the same counts as not changed.
	Stamp any
	// File is the same, and comparable, for all names of one file; nil if that is
	// not known.
	File any
	Data []byte // content; nil if it was not read. Nobody changes it.
}

// A Write is new content for a file.
type Write struct {
	Key  string
	Data []byte // nobody changes it

	// Old is what has the name now and is replaced: Publish fails with
	// ErrStale if that is no longer what is there. With nil nothing has the
	// name: Publish must not replace anything, and fails with fs.ErrExist.
	Old *Snapshot
	// Like is the file whose permission bits, owner and other attributes the
	// result has, setuid and setgid aside; nil for those of a new file.
	Like *Snapshot
	// Writable says that Like must be a file that may be written to, although
	// another one gets the data: Stage fails with fs.ErrPermission if not.
	Writable bool
	// NewFile says that the name gets a file of its own. Without it, the file
	// Old itself changes: all its hard links see the new content, and it must
	// be one that may be written, or Stage fails with fs.ErrPermission.
	NewFile bool
}

// A Staged is a [Write] that is prepared.
type Staged interface {
	// Sync puts the content on disk, if that matters. All writes of a patch are
	// staged before the first is synced: a file system can then do much of it
	// for all of them at once.
	Sync(ctx context.Context) error
	// Publish makes the write visible, whole or not at all. Only if a file
	// cannot be replaced but must be written where it is, a failure may leave
	// it incomplete; the error then has CodeDamaged. After any other error,
	// nothing has changed.
	Publish(ctx context.Context) error
	// Discard removes what is left of the write. After Publish it does
	// nothing.
	Discard()
}
