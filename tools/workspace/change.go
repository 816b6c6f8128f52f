package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/taukit/taukit/framing"
)

// MaxEditBytes is the largest file that [Change.Read] takes, and the largest
// content that editors write, in bytes.
const MaxEditBytes = 10 << 20

// A Change is one change of one file, from the first look at it to the last:
//
//	c, err := ws.Change(ctx, workspace.OpEdit, dir, path)
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//	old, err := c.Read(ctx)
//	...
//	outcome, err := c.Commit(ctx, edit(old), nil)
//
// Changes of one file in one process take turns, first come first served: each
// sees what the one before it made. Anybody else who writes to the file is
// noticed when the change is committed. Processes that use this package keep each
// other out between the last look and the renaming; for others this instant
// remains, because no system compares and renames in one step.
//
// An error of its methods is an [*Error], with the path as it was given, or the
// error of a context or of a [Check]. A Change is used by one goroutine.
type Change struct {
	op     string
	target Target
	entry  Entry
	done   func() // ends the turn
	expect Expect
	data   []byte // nil until the file has been read
	spent  bool   // committed, or removed
}

// An Outcome is what [Change.Commit] did.
type Outcome struct {
	Created bool   // there was no file
	Changed bool   // there was none, or its content was another
	Before  []byte // the old content, not to be changed; nil if there was none, or more than MaxEditBytes
}

// Change begins a change of the file at path, seen from dir. It waits for its
// turn and then looks at what is there, without opening it: [ErrIsDirectory] or
// [ErrNotRegular] if that can have no content. A file that does not exist is no
// error, unless the path leads through ".." of a missing directory or starts at one
// ([ErrNotFound]), or cannot be that of a file ([ErrNoFileName]).
//
// op is one of the Op constants, for messages. The caller must call Close.
func (w *Workspace) Change(ctx context.Context, op, dir, path string) (*Change, error) {
	c := &Change{op: op, target: Target{Display: path}}
	err := c.begin(ctx, func() (Entry, error) { return w.lookup(ctx, dir, path, true) })
	if err != nil {
		c.Close()
		return nil, c.failed(ctx, err)
	}
	return c, nil
}

// begin waits for the turn of what look finds. Whoever had the turn before may
// have changed that, or where a link leads, so it looks again afterwards.
func (c *Change) begin(ctx context.Context, look func() (Entry, error)) error {
	entry, err := look()
	for {
		if err != nil {
			return err
		}
		c.target.Key = entry.Key()
		_ = entry.Close()
		if c.done, err = hostTurns.wait(ctx, c.target.Key); err != nil {
			return err
		}
		if entry, err = look(); err == nil && entry.Key() == c.target.Key {
			c.entry = entry
			return c.checkFound()
		}
		c.done()
		c.done = nil
	}
}

// checkFound refuses what has no content.
func (c *Change) checkFound() error {
	if found, ok := c.entry.Found(); ok {
		return checkRegular(found.Mode)
	}
	return nil
}

// Lookup finds what path, seen from dir, stands for, without a turn: see
// [WriteFS]. The caller closes the Entry.
func (w *Workspace) Lookup(ctx context.Context, dir, path string, follow bool) (Entry, error) {
	entry, err := w.lookup(ctx, dir, path, follow)
	if err != nil {
		return nil, classify(ctx, OpRead, path, err)
	}
	return entry, nil
}

func (w *Workspace) lookup(ctx context.Context, dir, path string, follow bool) (Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	fsys, ok := w.fs.(WriteFS)
	if !ok {
		return nil, errReadOnly
	}
	entry, err := fsys.Lookup(ctx, w.Resolve(dir, path), follow)
	if err != nil {
		return nil, err
	}
	if _, ok := entry.Found(); !ok && !filepath.IsAbs(path) {
		// Missing directories are made, but not the one that the path starts at.
		if _, err := w.fs.Canonical(ctx, cmp.Or(dir, w.dir)); err != nil {
			_ = entry.Close()
			return nil, err
		}
	}
	return entry, nil
}

// Turns waits for the turns of all files with the given keys, and returns a
// function that ends them. A caller that has a turn must not wait for more: it
// could wait for one who waits for it.
func (w *Workspace) Turns(ctx context.Context, keys ...string) (done func(), err error) {
	var ends []func()
	done = func() {
		for _, end := range ends {
			end()
		}
	}
	for _, key := range slices.Compact(slices.Sorted(slices.Values(keys))) { // in one order for all
		end, err := hostTurns.wait(ctx, key)
		if err != nil {
			done()
			return nil, err
		}
		ends = append(ends, end)
	}
	return done, nil
}

// Target returns the file at path, seen from dir, without a turn. The path of a
// file system that cannot be changed is its own key.
func (w *Workspace) Target(ctx context.Context, dir, path string) (Target, error) {
	t := Target{Key: w.Resolve(dir, path), Display: path}
	if _, ok := w.fs.(WriteFS); !ok {
		return t, nil
	}
	entry, err := w.Lookup(ctx, dir, path, true)
	if err != nil {
		return Target{}, err
	}
	t.Key = entry.Key()
	return t, entry.Close()
}

// errReadOnly is the error of changing files of an FS that is no WriteFS.
var errReadOnly = &Error{Code: framing.CodeIO, Reason: "read-only file system", Err: errors.ErrUnsupported}

// Close ends the turn. What is committed stays.
func (c *Change) Close() {
	if c.entry != nil {
		_ = c.entry.Close()
		c.entry = nil
	}
	if c.done != nil {
		c.done()
		c.done = nil
	}
}

// Target returns the file.
func (c *Change) Target() Target { return c.target }

// Dir returns the canonical path of the file's directory, or of the nearest one
// above it that exists.
func (c *Change) Dir() string { return c.entry.Dir() }

// Exists reports whether the file exists.
func (c *Change) Exists() bool {
	_, ok := c.entry.Found()
	return ok
}

// Require fails unless what is expected is so. [ErrStaleVersion] says that the
// file has another version, or is gone, which is [fs.ErrNotExist] as well;
// [ErrNotObserved] that there is a file and should be none. An expectation that
// there is no file holds to the end: if one appears before Commit, that fails in
// the same way.
func (c *Change) Require(ctx context.Context, e Expect) error {
	c.expect = e
	err := e.Judge(c.Exists(), func() (Version, error) { return c.version(ctx, e) })
	if err != nil {
		return c.failed(ctx, err)
	}
	return nil
}

// version returns the version of the file, which is read at once unless it is
// huge: what is judged is what is changed. Of a huge file it may return any other
// one than that which is expected, if the size tells enough.
func (c *Change) version(ctx context.Context, e Expect) (Version, error) {
	data, err := c.Read(ctx)
	if err == nil {
		return VersionOf(data), nil
	}
	if !errors.Is(err, ErrTooLarge) {
		return "", err
	}
	if found, _ := c.entry.Found(); !e.version.hasSize(found.Size) {
		return "", nil
	}
	return c.entry.Version(ctx)
}

// Read returns the content of the file, which must not be changed. It is
// [ErrNotFound] if there is none, and [ErrTooLarge] if there is more than
// MaxEditBytes.
func (c *Change) Read(ctx context.Context) ([]byte, error) {
	if c.data == nil {
		data, err := c.entry.Read(ctx, MaxEditBytes)
		if err != nil {
			return nil, c.failed(ctx, err)
		}
		c.data = data
		if data == nil { // of an empty file
			c.data = []byte{}
		}
	}
	return c.data, nil
}

// Commit gives the file new content, or makes it, with the directories above it
// that are missing. It writes nothing if the content is what the file holds.
// Check, unless it is nil, is asked right before the change becomes visible, and
// its error is returned as it is. The data must not be changed before Commit
// returns.
//
// The file keeps its permissions, but for set-user-ID and set-group-ID, its
// owner, and its extended attributes, as far as [OS] says; symbolic and hard
// links stay. On disk the new content takes the place of the old one at once.
// Only a file with several hard links, or one that no new file can stand in for,
// is written to in place: if that fails, the old content is put back, and
// [ErrDamaged] says that this failed too. No other error leaves content changed.
//
// Commit fails with [ErrStaleVersion] if the file is not what it was when it was
// read, except that it may have been touched, or written with the same bytes;
// and with [ErrPermission] if this process may not write to the file, even
// where it could replace it. Cancellation comes too late once the content is
// visible. After a success there is nothing more to do with the Change than to
// close it.
func (c *Change) Commit(ctx context.Context, data []byte, check Check) (Outcome, error) {
	if c.spent {
		return Outcome{}, errSpent
	}
	outcome := Outcome{Created: !c.Exists(), Changed: true}
	if !outcome.Created {
		before, err := c.Read(ctx)
		switch {
		case errors.Is(err, ErrTooLarge):
		case err != nil:
			return Outcome{}, err
		case bytes.Equal(before, data):
			return Outcome{Before: before}, nil
		default:
			outcome.Before = before
		}
	}
	staged, err := c.entry.Stage(ctx, data, StageOptions{})
	if err != nil {
		return Outcome{}, c.failed(ctx, err)
	}
	if err := staged.Sync(ctx); err != nil {
		staged.Discard()
		return Outcome{}, c.failed(ctx, err)
	}
	if err := c.finish(ctx, check, staged.Publish); err != nil {
		return Outcome{}, err
	}
	return outcome, nil
}

// Remove removes the file, after check unless that is nil. [ErrStaleVersion] is
// as with Commit.
func (c *Change) Remove(ctx context.Context, check Check) error {
	if c.spent {
		return errSpent
	}
	return c.finish(ctx, check, c.entry.Remove)
}

var errSpent = errors.New("workspace: the change was committed before")

// finish does what makes the change visible.
func (c *Change) finish(ctx context.Context, check Check, do func(context.Context, Check) error) error {
	var objection error
	err := do(ctx, func(ctx context.Context) error {
		if check != nil {
			objection = check(ctx)
		}
		return objection
	})
	switch {
	case err == nil:
		c.spent = true
		c.entry.SyncDir()
		return nil
	case objection != nil:
		return objection
	case c.Exists() || !errors.Is(err, fs.ErrExist):
		return c.failed(ctx, err)
	case c.expect.kind == expectAbsent:
		return c.failed(ctx, ErrNotObserved)
	default: // a file has appeared where none was
		return c.failed(ctx, &Error{Code: ErrStaleVersion.Code, Reason: ErrStaleVersion.Reason, Err: err})
	}
}

// failed returns err as an [*Error] of the change.
func (c *Change) failed(ctx context.Context, err error) error {
	return Failed(ctx, c.op, c.target.Display, err)
}

// Failed returns err as an [*Error] of what was tried on a path as it was given.
// The end of ctx stays what it is.
func Failed(ctx context.Context, op, path string, err error) error {
	err = classify(ctx, op, path, err)
	if e, ok := err.(*Error); ok && op == OpWrite && e.Is(ErrStaleVersion) && errors.Is(err, fs.ErrNotExist) { //nolint:errorlint // it was made just now
		e.Reason = "file no longer exists"
	}
	return err
}
