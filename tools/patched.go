package tools

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/taukit/taukit/patch"
	"github.com/taukit/taukit/tools/guard"
	"github.com/taukit/taukit/tools/workspace"
)

// patched is the files of a workspace for one patch. Keys of the package patch
// are those of the workspace, with slashes. Between its calls nothing is held
// open, but what was found is remembered by the plan; whether a name still
// leads to the same directory shows by its key.
type patched struct {
	env     Env
	call    Call
	since   time.Time // before the first file was read
	release func()    // ends the turns

	cleaned  map[string]bool              // by path: directories without leftovers
	versions map[string]workspace.Version // by key: what files that were not read hold
	links    map[string]bool              // by key: what was found to be a symbolic link
}

// openPatched waits for the turns of all files that a patch may change.
func (e Env) openPatched(ctx context.Context, call Call, targets []patch.Target) (*patched, error) {
	p := &patched{
		env: e, call: call, since: time.Now(),
		cleaned: map[string]bool{}, versions: map[string]workspace.Version{}, links: map[string]bool{},
	}
	keys := p.keys(ctx, targets)
	for {
		release, err := e.Workspace.Turns(ctx, keys...)
		if err != nil {
			return nil, err
		}
		again := p.keys(ctx, targets)
		if slices.Equal(keys, again) {
			p.release = release
			return p, nil
		}
		release() // links led elsewhere by then
		keys = again
	}
}

// keys returns the keys of the files that a patch may change.
func (p *patched) keys(ctx context.Context, targets []patch.Target) (keys []string) {
	for _, t := range targets {
		entry, err := p.lookup(ctx, t.Path, t.Role == patch.Dest)
		if err != nil {
			continue // the plan reports it
		}
		keys = append(keys, entry.Key())
		_ = entry.Close()
	}
	return keys
}

func (p *patched) close() { p.release() }

// lookup finds what a path of the patch stands for.
func (p *patched) lookup(ctx context.Context, name string, follow bool) (workspace.Entry, error) {
	entry, err := p.env.Workspace.Lookup(ctx, p.call.Dir, name, follow)
	return entry, patchCause(err)
}

// at finds what has a key now.
func (p *patched) at(ctx context.Context, key string) (workspace.Entry, error) {
	entry, err := p.lookup(ctx, filepath.FromSlash(key), false)
	if err != nil {
		return nil, err
	}
	if keyOf(entry) != key { // a directory above it has become a link
		_ = entry.Close()
		return nil, patch.ErrStale
	}
	return entry, nil
}

// found returns the entry of what was found at a key.
func (p *patched) found(ctx context.Context, s patch.Snapshot) (workspace.Entry, error) {
	entry, err := p.at(ctx, s.Key)
	if err != nil {
		return nil, err
	}
	if _, there := entry.Found(); !there {
		_ = entry.Close()
		return nil, errGone
	}
	entry.Recall(workspace.Info{Mode: s.Mode, Size: s.Size, Stamp: s.Stamp}, s.Data, p.since)
	return entry, nil
}

// errGone says that a file of a plan is not there any more.
var errGone = &patch.Error{Code: patch.CodeStaleVersion, Msg: patch.ErrStale.Msg, Err: fs.ErrNotExist}

func keyOf(entry workspace.Entry) string { return filepath.ToSlash(entry.Key()) }

// Resolve returns the key of a path.
func (p *patched) Resolve(ctx context.Context, name string, follow bool) (string, error) {
	entry, err := p.lookup(ctx, name, follow)
	if err != nil {
		return "", err
	}
	defer entry.Close() //nolint:errcheck // nothing was written
	return keyOf(entry), nil
}

// Stat returns what is at a key.
func (p *patched) Stat(ctx context.Context, key string) (patch.Snapshot, error) {
	entry, err := p.at(ctx, key)
	if err != nil {
		return patch.Snapshot{}, err
	}
	defer entry.Close() //nolint:errcheck // nothing was written
	return snapshotOf(entry, nil)
}

// Read returns the file at a key with its data.
func (p *patched) Read(ctx context.Context, key string, limit int) (patch.Snapshot, error) {
	entry, err := p.at(ctx, key)
	if err != nil {
		return patch.Snapshot{}, err
	}
	defer entry.Close() //nolint:errcheck // nothing was written
	data, err := entry.Read(ctx, int64(limit))
	if err != nil {
		return patch.Snapshot{}, patchCause(err)
	}
	return snapshotOf(entry, data)
}

func snapshotOf(entry workspace.Entry, data []byte) (patch.Snapshot, error) {
	info, ok := entry.Found()
	if !ok {
		return patch.Snapshot{}, fs.ErrNotExist
	}
	return patch.Snapshot{Key: keyOf(entry), Mode: info.Mode, Size: info.Size, Stamp: info.Stamp, File: info.File, Data: data}, nil
}

// Mkdir makes a directory.
func (p *patched) Mkdir(ctx context.Context, key string) error {
	return p.do(ctx, key, func(e workspace.Entry) error {
		if err := p.call.holds(ctx); err != nil {
			return err
		}
		return e.Mkdir(ctx)
	})
}

// Rmdir removes an empty directory.
func (p *patched) Rmdir(ctx context.Context, key string) error {
	return p.do(ctx, key, func(e workspace.Entry) error { return e.Rmdir(ctx) })
}

// SyncDir makes the entries of a directory durable: any name in it leads there.
func (p *patched) SyncDir(ctx context.Context, key string) {
	_ = p.do(ctx, path.Join(key, "name"), func(e workspace.Entry) error {
		e.SyncDir()
		return nil
	})
}

func (p *patched) do(ctx context.Context, key string, do func(workspace.Entry) error) error {
	entry, err := p.at(ctx, key)
	if err != nil {
		return err
	}
	defer entry.Close() //nolint:errcheck // what matters is what was done
	return patchCause(do(entry))
}

// Stage prepares a write.
func (p *patched) Stage(ctx context.Context, w patch.Write) (patch.Staged, error) {
	entry, err := p.target(ctx, w)
	if err != nil {
		return nil, err
	}
	opts := workspace.StageOptions{NewFile: w.NewFile, Writable: w.Writable, NoCleaning: p.cleaned[entry.Dir()]}
	p.cleaned[entry.Dir()] = true
	if w.Like != nil && (w.Old == nil || w.Like.Key != w.Old.Key) {
		like, err := p.found(ctx, *w.Like)
		if err != nil {
			_ = entry.Close()
			return nil, err
		}
		defer like.Close() //nolint:errcheck // nothing was written
		opts.Like = like
	}
	staged, err := entry.Stage(ctx, w.Data, opts)
	if err != nil {
		_ = entry.Close()
		return nil, patchCause(err)
	}
	return &patchedWrite{staged, entry, p.call.check}, nil
}

// target returns the entry that a write is for.
func (p *patched) target(ctx context.Context, w patch.Write) (workspace.Entry, error) {
	if w.Old != nil {
		return p.found(ctx, *w.Old)
	}
	entry, err := p.at(ctx, w.Key)
	if err != nil {
		return nil, err
	}
	if _, taken := entry.Found(); taken {
		_ = entry.Close()
		return nil, fs.ErrExist
	}
	return entry, nil
}

// Rename gives a file another name.
func (p *patched) Rename(ctx context.Context, from patch.Snapshot, to string) error {
	source, err := p.found(ctx, from)
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // what matters is the new name
	err = p.do(ctx, to, func(dest workspace.Entry) error { return source.Rename(ctx, dest, p.call.check) })
	if errors.Is(err, syscall.EXDEV) {
		return p.copyOver(ctx, source, to)
	}
	return err
}

// maxCopied is the largest file that is moved to another file system, in bytes.
const maxCopied = 256 << 20

// copyOver moves a file to another file system, where it cannot be renamed to:
// it is written anew, and then removed where it was.
func (p *patched) copyOver(ctx context.Context, source workspace.Entry, to string) error {
	data, err := source.Read(ctx, maxCopied)
	if err != nil {
		return patchCause(err)
	}
	return p.do(ctx, to, func(dest workspace.Entry) error {
		staged, err := dest.Stage(ctx, data, workspace.StageOptions{Like: source})
		if err != nil {
			return err
		}
		if err := staged.Sync(ctx); err != nil {
			staged.Discard()
			return err
		}
		if err := staged.Publish(ctx, p.call.check); err != nil {
			return err
		}
		if err := source.Remove(ctx, p.call.check); err != nil {
			p.takeBack(ctx, to, data)
			return err
		}
		return nil
	})
}

// takeBack removes a copy that was made for nothing.
func (p *patched) takeBack(ctx context.Context, key string, data []byte) {
	_ = p.do(ctx, key, func(e workspace.Entry) error {
		if got, err := e.Read(ctx, int64(len(data))); err != nil || !bytes.Equal(got, data) {
			return err
		}
		return e.Remove(ctx, nil)
	})
}

// Remove removes a file or a link.
func (p *patched) Remove(ctx context.Context, old patch.Snapshot) error {
	entry, err := p.found(ctx, old)
	if err != nil {
		return err
	}
	defer entry.Close() //nolint:errcheck // what matters is that it is gone
	return patchCause(entry.Remove(ctx, p.call.check))
}

// A patchedWrite is a write that is prepared.
type patchedWrite struct {
	staged workspace.Staged
	entry  workspace.Entry
	check  workspace.Check
}

// Sync puts the content on disk.
func (w *patchedWrite) Sync(ctx context.Context) error { return patchCause(w.staged.Sync(ctx)) }

// Publish makes the write visible.
func (w *patchedWrite) Publish(ctx context.Context) error {
	defer w.entry.Close() //nolint:errcheck // what matters is what was published
	return patchCause(w.staged.Publish(ctx, w.check))
}

// Discard removes what is left of the write.
func (w *patchedWrite) Discard() {
	w.staged.Discard()
	_ = w.entry.Close()
}

// patchCause returns an error of a workspace as one of the package patch, which
// composes the message. Others are told by what they wrap.
func patchCause(err error) error {
	var e *workspace.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Code == workspace.ErrDamaged.Code {
		return &patch.Error{Code: e.Code, Err: e.Err}
	}
	return &patch.Error{Code: e.Code, Msg: e.Reason, Err: e}
}

// judge asks the guard whether a section may change a file.
func (p *patched) judge(ctx context.Context, s patch.Subject) error {
	p.links[s.Key] = s.Type == fs.ModeSymlink
	if p.links[s.Key] || p.env.Guard == nil {
		return nil
	}
	op, intent := workspace.OpEdit, p.env.Guard.EditIntent
	switch {
	case s.Creates:
		op, intent = workspace.OpWrite, p.env.Guard.WriteIntent
	case s.Op == patch.Delete:
		op, intent = workspace.OpDelete, p.env.Guard.DeleteIntent
	}
	target := workspace.Target{Key: filepath.FromSlash(s.Key), Display: s.Path}
	expect, err := intent(p.call.Agent, target)
	if s.Seen { // at what an earlier section has made of it
		expect, err = workspace.Any(), nil
		if s.Last != nil {
			expect = workspace.IfVersion(workspace.VersionOf(s.Last))
		}
	}
	if err != nil {
		return err
	}
	if err := expect.Judge(s.Exists, func() (workspace.Version, error) { return p.version(ctx, s) }); err != nil {
		err = workspace.Failed(ctx, op, s.Path, err)
		p.env.Guard.Failed(p.call.Agent, target, err)
		return err
	}
	return nil
}

// version returns the version of a file that is to be changed, read or not.
func (p *patched) version(ctx context.Context, s patch.Subject) (workspace.Version, error) {
	if s.Data != nil {
		return workspace.VersionOf(s.Data), nil
	}
	entry, err := p.at(ctx, s.Key)
	if err != nil {
		return "", err
	}
	defer entry.Close() //nolint:errcheck // nothing was written
	v, err := entry.Version(ctx)
	p.versions[s.Key] = v
	return v, err
}

// observe tells the guard what was changed, and what was found to be gone.
func (p *patched) observe(changes []patch.Change, err error) {
	if p.env.Guard == nil {
		return
	}
	var e *patch.Error
	if errors.As(err, &e) && e.Key != "" && e.Code == patch.CodeStaleVersion && errors.Is(err, fs.ErrNotExist) {
		gone := &workspace.Error{Code: e.Code, Err: fs.ErrNotExist}
		p.env.Guard.Failed(p.call.Agent, workspace.Target{Key: filepath.FromSlash(e.Key), Display: e.Path}, gone)
	}
	note := func(key, path string, o guard.Observation) {
		p.env.Guard.Observed(p.call.Agent, workspace.Target{Key: filepath.FromSlash(key), Display: path}, o)
	}
	for _, c := range changes {
		if c.From != "" {
			note(c.FromKey, c.From, guard.Observation{})
		}
		switch {
		case c.Status == 'D' && !p.links[c.Key]:
			note(c.Key, c.Path, guard.Observation{})
		case c.Status == 'D':
		case c.After != nil:
			note(c.Key, c.Path, guard.Observation{Present: true, Version: workspace.VersionOf(c.After)})
		case p.versions[c.FromKey] != "": // moved as it was
			note(c.Key, c.Path, guard.Observation{Present: true, Version: p.versions[c.FromKey]})
		}
	}
}
