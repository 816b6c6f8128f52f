package patch

import (
	"context"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// A Mem is an [FS] in memory, for tests, examples and trials. Its root is "/",
// where relative paths start too. It has directories, regular files and symbolic
// links. It is safe for concurrent use.
type Mem struct {
	mu      sync.Mutex
	entries map[string]memEntry // by key
	stamp   int                 // the last one that was given
}

type memEntry struct {
	mode  fs.FileMode
	data  string // of a link, its target
	stamp int
}

// NewMem returns a file system with the given files, by path, in the
// directories they need.
func NewMem(files map[string]string) *Mem {
	m := &Mem{entries: map[string]memEntry{"/": {mode: fs.ModeDir | 0o777}}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		m.put(name, memEntry{mode: 0o666, data: files[name]})
	}
	return m
}

// Files returns the content of all regular files by key, such as "/a.txt".
func (m *Mem) Files() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	files := map[string]string{}
	for key, e := range m.entries {
		if e.mode.IsRegular() {
			files[key] = e.data
		}
	}
	return files
}

// WriteFile puts a file at a path, in place of whatever entry is there.
func (m *Mem) WriteFile(name, data string) { m.put(name, memEntry{mode: 0o666, data: data}) }

// Symlink puts a symbolic link at a path, in place of whatever entry is there.
func (m *Mem) Symlink(target, name string) {
	m.put(name, memEntry{mode: fs.ModeSymlink | 0o777, data: target})
}

// put puts an entry at a path, in the directories it needs.
func (m *Mem) put(name string, e memEntry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := path.Join("/", name)
	for dir := path.Dir(key); ; dir = path.Dir(dir) {
		if _, ok := m.entries[dir]; ok {
			break
		}
		m.set(dir, memEntry{mode: fs.ModeDir | 0o777})
	}
	m.set(key, e)
}

// set gives a key an entry with a new stamp.
func (m *Mem) set(key string, e memEntry) {
	m.stamp++
	e.stamp = m.stamp
	m.entries[key] = e
}

// maxLinks is how many symbolic links one path may lead through.
const maxLinks = 40

// Resolve is that of [FS].
func (m *Mem) Resolve(ctx context.Context, name string, follow bool) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key, links := "/", 0
	inLink := math.MaxInt // with so many elements left or more, they are of a link to a parent
	rest := strings.Split(name, "/")
	for len(rest) > 0 {
		element := rest[0]
		rest = rest[1:]
		if len(rest) < inLink {
			inLink = math.MaxInt
		}
		dir, ok := m.entries[key]
		switch {
		case element == "" || element == ".":
			continue
		case ok && !dir.mode.IsDir():
			return "", ErrNotDirectory
		case element == "..":
			if !ok {
				return "", fs.ErrNotExist
			}
			key = path.Dir(key)
			continue
		}
		e, ok := m.entries[path.Join(key, element)]
		switch {
		case e.mode.Type() == fs.ModeSymlink && (follow || len(rest) > 0):
			if links++; links > maxLinks {
				return "", ErrLoop
			}
			if len(rest) > 0 {
				inLink = min(inLink, len(rest))
			}
			if path.IsAbs(e.data) {
				key = "/"
			}
			rest = slices.Concat(strings.Split(e.data, "/"), rest)
			continue
		case !ok && len(rest) >= inLink:
			return "", fs.ErrNotExist
		}
		key = path.Join(key, element)
	}
	return key, ctx.Err()
}

// Stat is that of [FS].
func (m *Mem) Stat(ctx context.Context, key string) (Snapshot, error) {
	found, _, err := m.lookup(ctx, key)
	return found, err
}

// lookup returns what is at a key, and its data apart.
func (m *Mem) lookup(ctx context.Context, key string) (Snapshot, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[key]
	if !ok {
		return Snapshot{}, "", fs.ErrNotExist
	}
	return Snapshot{Key: key, Mode: e.mode, Size: int64(len(e.data)), Stamp: e.stamp}, e.data, ctx.Err()
}

// Read is that of [FS].
func (m *Mem) Read(ctx context.Context, key string, limit int) (Snapshot, error) {
	found, data, err := m.lookup(ctx, key)
	if err == nil {
		err = checkRegular(found.Mode)
	}
	if err == nil && len(data) > limit {
		err = ErrTooLarge
	}
	if err != nil {
		return Snapshot{}, err
	}
	found.Data = []byte(data)
	return found, nil
}

// Mkdir is that of [FS].
func (m *Mem) Mkdir(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.vacant(key); err != nil {
		return err
	}
	m.set(key, memEntry{mode: fs.ModeDir | 0o777})
	return nil
}

// vacant checks that an entry can be made at a key.
func (m *Mem) vacant(key string) error {
	dir, ok := m.entries[path.Dir(key)]
	switch {
	case !ok:
		return fs.ErrNotExist
	case !dir.mode.IsDir():
		return ErrNotDirectory
	}
	if _, ok := m.entries[key]; ok {
		return fs.ErrExist
	}
	return nil
}

// Rmdir is that of [FS].
func (m *Mem) Rmdir(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.entries[key].mode.IsDir() {
		return ErrNotDirectory
	}
	for other := range m.entries {
		if path.Dir(other) == key && other != key {
			return syscall.ENOTEMPTY
		}
	}
	delete(m.entries, key)
	return nil
}

// Stage is that of [FS].
func (m *Mem) Stage(ctx context.Context, w Write) (Staged, error) {
	if _, err := m.Stat(ctx, path.Dir(w.Key)); err != nil {
		return nil, err
	}
	return &memStaged{m, w}, nil
}

// A memStaged is a write that only has to be done.
type memStaged struct {
	mem   *Mem
	write Write
}

// Sync is that of [Staged].
func (s *memStaged) Sync(ctx context.Context) error { return ctx.Err() }

// Publish is that of [Staged].
func (s *memStaged) Publish(_ context.Context) error {
	m, w := s.mem, s.write
	m.mu.Lock()
	defer m.mu.Unlock()
	if w.Old == nil {
		if err := m.vacant(w.Key); err != nil {
			return err
		}
	} else if err := m.unchanged(*w.Old); err != nil {
		return err
	}
	mode := fs.FileMode(0o666)
	if w.Like != nil {
		mode = w.Like.Mode.Perm()
	}
	m.set(w.Key, memEntry{mode: mode, data: string(w.Data)})
	return nil
}

// Discard is that of [Staged].
func (s *memStaged) Discard() {}

// unchanged checks that what is at a key is what was there.
func (m *Mem) unchanged(old Snapshot) error {
	e, ok := m.entries[old.Key]
	if !ok || e.stamp != old.Stamp && (old.Data == nil || !e.mode.IsRegular() || e.data != string(old.Data)) {
		return ErrStale
	}
	return nil
}

// Rename is that of [FS].
func (m *Mem) Rename(_ context.Context, from Snapshot, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.unchanged(from); err != nil {
		return err
	}
	if err := m.vacant(to); err != nil {
		return err
	}
	m.set(to, m.entries[from.Key])
	delete(m.entries, from.Key)
	return nil
}

// Remove is that of [FS].
func (m *Mem) Remove(_ context.Context, old Snapshot) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.unchanged(old); err != nil {
		return err
	}
	delete(m.entries, old.Key)
	return nil
}

// SyncDir does nothing.
func (m *Mem) SyncDir(context.Context, string) {}
