package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
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
//	outcome, err := c.Commit(ctx, edit(old))
//
// Changes of one file through one Workspace take turns, first come first
// served: each sees what the one before it made. Anybody else who writes to the
// file is noticed when the change is committed, but for the instant between the
// last look and the renaming: no system compares and renames in one step.
//
// An error of its methods is an [*Error], with the path as it was given, or the
// error of a context. A Change is used by one goroutine.
type Change struct {
	// Check, if it is set, is asked right before a change becomes visible. Its
	// error is returned as it is.
	Check Check

	op        string
	target    Target
	entry     Entry
	done      func() // ends the turn
	expect    Expect
	data      []byte // nil until the file has been read
	objection error  // of Check
}

// An Outcome is what [Change.Commit] did.
type Outcome struct {
	Created bool   // there was no file
	Changed bool   // there was none, or its content was another
	Before  []byte // the old content; nil if there was none, or more than MaxEditBytes
}

// Change begins a change of the file at path, seen from dir. It waits for its
// turn and then looks at what is there, without opening it: [ErrIsDirectory] or
// [ErrNotRegular] if that can have no content. A file that does not exist is no
// error, unless the path leads through ".." of a missing directory
// ([ErrNotFound]) or cannot be that of a file ([ErrNoFileName]).
//
// op is one of the Op constants, for messages. The caller must call Close.
func (w *Workspace) Change(ctx context.Context, op, dir, path string) (*Change, error) {
	c := &Change{op: op, target: Target{Display: path}}
	entry, err := w.lookup(ctx, dir, path, true)
	for err == nil {
		c.entry, c.target.Key = entry, entry.Key()
		if c.done, err = w.turns.wait(ctx, c.target.Key); err != nil {
			break
		}
		// Whoever had the turn before may have changed what is there.
		if entry, err = w.lookup(ctx, dir, path, true); err != nil {
			break
		}
		_ = c.entry.Close()
		c.entry = entry
		if entry.Key() == c.target.Key {
			err = c.checkFound()
			break
		}
		c.done() // a link leads elsewhere by now
		c.done = nil
	}
	if err != nil {
		c.Close()
		return nil, c.failed(ctx, err)
	}
	return c, nil
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
	return fsys.Lookup(ctx, w.Resolve(dir, path), follow)
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
		end, err := w.turns.wait(ctx, key)
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
	err := e.Judge(c.Exists(), func() (Version, error) { return c.entry.Version(ctx) })
	if err != nil {
		return c.failed(ctx, err)
	}
	return nil
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
	}
	return c.data, nil
}

// Commit gives the file new content, or makes it, with the directories above it
// that are missing. It writes nothing if the content is what the file holds.
//
// The file keeps its permissions, but for set-user-ID and set-group-ID, its
// owner, and its extended attributes; symbolic and hard links stay. On disk the
// new content takes the place of the old one at once. Only a file with several
// hard links, or one that no new file can stand in for, is written to in place:
// if that fails, the old content is put back, and [ErrDamaged] says that this
// failed too. No other error leaves anything changed.
//
// Commit fails with [ErrStaleVersion] if the file is not what it was when it was
// read, except that it may have been touched, or written with the same bytes;
// and with [ErrPermission] if this process may not write to the file, even
// where it could replace it. Cancellation comes too late once the content is
// visible.
func (c *Change) Commit(ctx context.Context, data []byte) (Outcome, error) {
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
	if err := staged.Publish(ctx, c.check); err != nil {
		return Outcome{}, c.unpublished(ctx, err)
	}
	return outcome, nil
}

// Remove removes the file. [ErrStaleVersion] is as with Commit.
func (c *Change) Remove(ctx context.Context) error {
	if err := c.entry.Remove(ctx, c.check); err != nil {
		return c.unpublished(ctx, err)
	}
	return nil
}

func (c *Change) check(ctx context.Context) error {
	if c.Check != nil {
		c.objection = c.Check(ctx)
	}
	return c.objection
}

// unpublished returns the error of a failed publication.
func (c *Change) unpublished(ctx context.Context, err error) error {
	switch {
	case c.objection != nil:
		return c.objection
	case c.Exists() || !errors.Is(err, fs.ErrExist):
		return c.failed(ctx, err)
	case c.expect.kind == expectAbsent:
		return c.failed(ctx, ErrNotObserved)
	default:
		return c.failed(ctx, &Error{Code: framing.CodeStaleVersion, Reason: ErrStaleVersion.Reason, Err: err})
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
	var e *Error
	if errors.As(err, &e) && op == OpWrite && e.Code == framing.CodeStaleVersion && errors.Is(err, fs.ErrNotExist) {
		e.Reason = "file no longer exists"
	}
	return err
}
