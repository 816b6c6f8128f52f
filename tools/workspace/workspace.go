package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// An FS is a file system that tools act on. Names are absolute paths in the
// form of the host, not cleaned: "link/.." is the parent of what the link
// leads to. Symbolic links are followed.
//
// An error is best one of [ErrNotFound] and its like as it is, or another
// [*Error]: a Workspace adds what was tried on which path. Errors of other types
// are classified by errors.Is and by their errno. Implementations must be safe
// for concurrent use; a File or Dir is used by one goroutine at a time.
type FS interface {
	// Open opens a regular file for reading. Opening must neither block nor
	// have an effect, whatever name leads to: for a directory, a FIFO, a
	// device or a socket it is an error.
	Open(ctx context.Context, name string) (File, error)
	// OpenDir opens a directory for listing. It must neither block nor have
	// an effect either.
	OpenDir(ctx context.Context, name string) (Dir, error)
	// Canonical returns the path of an existing directory without symbolic
	// links and "." or ".." elements. Anything else is an error.
	Canonical(ctx context.Context, name string) (string, error)
}

// A File is an open regular file.
type File interface {
	io.ReadCloser
	// Size returns what the file system says the size is, in bytes. It is a
	// hint: a file may grow, and files in /proc say 0.
	Size() int64
}

// A Dir is an open directory.
type Dir interface {
	// ReadDir returns the next entries in the order of the directory, at most
	// n of them, which is more than 0, without "." and "..". It returns
	// io.EOF, and no entries, at the end; no entries without an error are
	// fine. Only the names and types are used. The type of an entry is its
	// own, not that of what a symbolic link leads to; [fs.ModeIrregular]
	// stands for one that is not known.
	ReadDir(n int) ([]fs.DirEntry, error)
	Close() error
}

// A WriteFS is an FS whose files can be changed.
type WriteFS interface {
	FS
	// Lookup finds what name stands for, and looks at it without opening it.
	// With follow, a symbolic link at the end stands for what it leads to;
	// those before the end are always followed. If there is nothing the Entry is
	// about the place where a file would be: a link that leads nowhere stands
	// for what it names, and missing directories above it, but for "..", do not
	// matter. It is an error if the path cannot be that of a file: if it ends in
	// a separator, "." or "..".
	Lookup(ctx context.Context, name string, follow bool) (Entry, error)
}

// An Entry is a name in a directory, to be changed: that of a regular file, or
// of a file that is to be made. It is used by one goroutine at a time.
//
// An Entry remembers what it has found, by looking and by reading, and neither
// reads nor changes anything else: if the name has something else by then, its
// methods fail with [ErrStaleVersion], or with [ErrExists] if it had nothing. A
// file that was merely touched, or replaced by one with the same bytes, is the
// same.
type Entry interface {
	// Key returns the identity of the file, as in [Target].
	Key() string
	// Dir returns the canonical path of its directory, or of the nearest one
	// above it that exists.
	Dir() string
	// Found returns what has been found; false is nothing.
	Found() (Info, bool)

	// Read reads the regular file, and is [ErrTooLarge] if it has more than limit
	// bytes. The data is not to be changed.
	Read(ctx context.Context, limit int64) ([]byte, error)
	// Version returns the version of the regular file, whatever its size; the
	// zero Version if there is none.
	Version(ctx context.Context) (Version, error)
	// Recall takes over what another Entry of the same key has found at the
	// given time or later, and the data that it has read, if it is not nil.
	Recall(found Info, data []byte, since time.Time)
	// Verify fails if the name has something else by now.
	Verify(ctx context.Context) error

	// Stage prepares data, which is not to be changed, as the content of the
	// file. It makes directories that are missing.
	Stage(ctx context.Context, data []byte, opts StageOptions) (Staged, error)
	// Remove removes the file, or symbolic link, after check and Verify.
	Remove(ctx context.Context, check Check) error
	// Rename gives the file another name, at which nothing must have been found,
	// after check and Verify.
	Rename(ctx context.Context, to Entry, check Check) error
	// Mkdir makes a directory where nothing was found, and Rmdir removes one that
	// is empty.
	Mkdir(ctx context.Context) error
	Rmdir(ctx context.Context) error
	// SyncDir makes what was done to the name durable, as far as it can: until
	// then, a crash of the machine may undo it.
	SyncDir()

	// Close releases what the Entry holds. What is staged must have been
	// published or discarded before.
	Close() error
}

// Info is what is known of something that has a name.
type Info struct {
	Mode  fs.FileMode // the type and the permissions
	Size  int64       // of a regular file, in bytes
	Stamp any         // comparable; another one after each change
	File  any         // comparable; the same for all hard links of a file, nil if that is not known
}

// StageOptions say what file gets new content. By default it is the one that
// was found, or a new one with the permissions of new ones.
type StageOptions struct {
	// Like, of the same file system, is the file whose permissions, owner and
	// attributes the new one gets, as far as the system allows.
	Like Entry
	// Writable says that Like must be a file that this process may write to.
	Writable bool
	// NewFile says that the name gets a file of its own: hard links to the
	// one that was found keep the old content, and it need not be one that this
	// process may write to.
	NewFile bool
	// NoCleaning leaves temporary files of processes that were killed in the
	// directory: for the second of many writes to it, and those after.
	NoCleaning bool
}

// Staged is the new content of an [Entry]. Nothing is to be seen of it yet.
type Staged interface {
	// Sync puts the content on disk. A crash of the machine after Publish might
	// otherwise leave an empty file.
	Sync(ctx context.Context) error
	// Publish makes the content visible after check and Verify, all at once if
	// the file system can. Whatever happens, nothing else is left behind.
	Publish(ctx context.Context, check Check) error
	// Discard removes what has been prepared. It does nothing after Publish.
	Discard()
}

// A Check is asked right before a change becomes visible; an error prevents it.
// A nil Check has no objection.
type Check func(ctx context.Context) error

// A Workspace is a file system and the directory that relative paths start at
// when a call names no other. It is safe for concurrent use.
type Workspace struct {
	fs  FS
	dir string
}

// New returns a Workspace in the given directory of the host's file system. A
// relative one starts at the current directory of the process, which the empty
// string means itself.
func New(dir string) (*Workspace, error) {
	ctx := context.Background()
	if !filepath.IsAbs(dir) {
		current, err := os.Getwd()
		if err != nil {
			return nil, classify(ctx, "open", dir, err)
		}
		dir = join(current, dir)
	}
	return NewFS(ctx, OS{}, dir)
}

// NewFS returns a Workspace in the given directory of a file system. The path
// must be absolute; it is made canonical. An error is an [*Error], that of ctx,
// or [fs.ErrInvalid] for a relative path.
func NewFS(ctx context.Context, fsys FS, dir string) (*Workspace, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("workspace: %q is not an absolute path: %w", dir, fs.ErrInvalid)
	}
	canonical, err := fsys.Canonical(ctx, dir)
	if err != nil {
		return nil, classify(ctx, "open", dir, err)
	}
	return &Workspace{fsys, canonical}, nil
}

// Dir returns the directory that relative paths start at by default.
func (w *Workspace) Dir() string { return w.dir }

// OnHost reports whether the files are those of the host as [OS] gives them, and
// can be reached by their paths without the Workspace.
func (w *Workspace) OnHost() bool {
	_, ok := w.fs.(OS)
	return ok
}

// Writable reports whether the file system is a [WriteFS].
func (w *Workspace) Writable() bool {
	_, ok := w.fs.(WriteFS)
	return ok
}

// Resolve returns the absolute path of path, seen from the absolute directory
// dir; an empty dir means [Workspace.Dir]. It only joins: the path is not
// cleaned, because "link/.." depends on where the link leads.
func (w *Workspace) Resolve(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	if dir == "" {
		dir = w.dir
	}
	return join(dir, path)
}

// Directory returns the canonical path of the directory at path, seen from dir. An
// error is an [*Error] or the error of ctx.
func (w *Workspace) Directory(ctx context.Context, dir, path string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	name := w.Resolve(dir, path)
	canonical, err := w.fs.Canonical(ctx, name)
	if err != nil {
		return "", classify(ctx, OpList, name, err)
	}
	return canonical, nil
}

// join is filepath.Join without cleaning.
func join(dir, path string) string {
	if !os.IsPathSeparator(dir[len(dir)-1]) {
		dir += string(filepath.Separator)
	}
	return dir + path
}

// Open opens the regular file at path, seen from dir, for reading. Every read
// checks ctx first. The file is also an [fs.File]. An error is an [*Error] or the error of ctx.
func (w *Workspace) Open(ctx context.Context, dir, path string) (File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name := w.Resolve(dir, path)
	f, err := w.fs.Open(ctx, name)
	if err != nil {
		return nil, classify(ctx, OpRead, name, err)
	}
	return &file{f, ctx, name}, nil
}

// OpenDir opens the directory at path, seen from dir, for listing. Every batch
// of entries checks ctx first. An error is an [*Error] or the error of ctx.
func (w *Workspace) OpenDir(ctx context.Context, dir, path string) (Dir, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name := w.Resolve(dir, path)
	d, err := w.fs.OpenDir(ctx, name)
	if err != nil {
		return nil, classify(ctx, OpList, name, err)
	}
	return &directory{d, ctx, name}, nil
}

// A file is a File that obeys a context and returns classified errors.
type file struct {
	File
	ctx  context.Context
	name string
}

// Stat returns what the file system knows of the open file, so that a file that
// changes while it is read can be noticed. It is [errors.ErrUnsupported] where
// the file system does not tell.
func (f *file) Stat() (fs.FileInfo, error) {
	if s, ok := f.File.(interface{ Stat() (fs.FileInfo, error) }); ok {
		return s.Stat()
	}
	return nil, errors.ErrUnsupported
}

func (f *file) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := f.File.Read(p)
	return n, classifyRead(f.ctx, OpRead, f.name, err)
}

// A directory is a Dir that obeys a context and returns classified errors.
type directory struct {
	Dir
	ctx  context.Context
	name string
}

func (d *directory) ReadDir(n int) ([]fs.DirEntry, error) {
	if err := d.ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := d.Dir.ReadDir(n)
	return entries, classifyRead(d.ctx, OpList, d.name, err)
}

// classifyRead is classify for the error of a read, which may be the end.
func classifyRead(ctx context.Context, op, path string, err error) error {
	if err == nil || err == io.EOF { //nolint:errorlint // only EOF itself is the end
		return err
	}
	return classify(ctx, op, path, err)
}
