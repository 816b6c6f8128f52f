package workspace

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"time"
)

// Lookup finds what name stands for. Its directory is held open from then on,
// so that nothing can be put in its place.
func (o OS) Lookup(ctx context.Context, name string, follow bool) (Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := locate(name, follow)
	if err != nil {
		return nil, err
	}
	e := &entry{place: p, system: o}
	if err := e.look(); err != nil {
		_ = e.Close()
		return nil, err
	}
	return e, nil
}

// An entry is an Entry of the host's file system.
type entry struct {
	place
	system OS
	found  *stamp  // nil if there was nothing
	below  []place // directories on the way to the file that were made

	// What has been read, to tell whether it is still there.
	data    []byte
	version Version
	readAt  time.Time
}

// look notes what is there. It opens nothing.
func (e *entry) look() error {
	found, err := e.lstat()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	e.found = &found
	return err
}

func (e *entry) Key() string { return e.key() }
func (e *entry) Dir() string { return e.dir }

func (e *entry) Found() (Info, bool) {
	if e.found == nil {
		return Info{}, false
	}
	info := Info{Mode: e.found.mode(), Size: e.found.size(), Stamp: *e.found}
	if e.found.links() > 1 {
		info.File = e.found.inode()
	}
	return info, true
}

// Recall takes over what was found before.
func (e *entry) Recall(found Info, data []byte, since time.Time) {
	was, _ := found.Stamp.(stamp) // that of another file system equals none
	e.found, e.data, e.version, e.readAt = &was, data, "", since
}

// Read reads the file and remembers the state that it was in.
func (e *entry) Read(ctx context.Context, limit int64) ([]byte, error) {
	if e.found == nil {
		return nil, ErrNotFound
	}
	data, now, readAt, err := e.read(ctx, limit)
	if err != nil {
		return nil, e.orStale(ctx, err)
	}
	if e.version != "" && VersionOf(data) != e.version || e.data != nil && !bytes.Equal(data, e.data) {
		return nil, ErrStaleVersion
	}
	e.found, e.data, e.readAt = &now, data, readAt
	return data, nil
}

func (e *entry) read(ctx context.Context, limit int64) (data []byte, now stamp, readAt time.Time, err error) {
	readAt = time.Now()
	f, now, err := e.open()
	if err != nil {
		return nil, now, readAt, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if now.size() > limit {
		return nil, now, readAt, tooLarge(limit)
	}
	if err := e.system.step("read"); err != nil {
		return nil, now, readAt, err
	}
	data, err = readAll(ctx, io.LimitReader(f, limit+1), now.size())
	if err == nil && int64(len(data)) > limit {
		err = tooLarge(limit)
	}
	return data, now, readAt, err
}

// Version reads the file, however large it is, and remembers the state that it
// was in.
func (e *entry) Version(ctx context.Context) (Version, error) {
	if e.found == nil {
		return "", nil
	}
	v, err := e.digest(ctx)
	return v, e.orStale(ctx, err)
}

func (e *entry) digest(ctx context.Context) (Version, error) {
	readAt := time.Now()
	f, now, err := e.open()
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	var sum Digest
	if err := copyBlocks(ctx, &sum, f); err != nil {
		return "", err
	}
	v := sum.Version()
	if e.version != "" && v != e.version || e.data != nil && v != VersionOf(e.data) {
		return "", ErrStaleVersion
	}
	e.found, e.version, e.readAt = &now, v, readAt
	return v, nil
}

// open opens the file for reading and returns the state that it is in.
func (e *entry) open() (File, stamp, error) {
	f, err := openRegularIn(e.place)
	if err != nil {
		return nil, stamp{}, err
	}
	now, err := stampOf(f)
	if err != nil {
		_ = f.Close()
		return nil, stamp{}, err
	}
	return &osFile{f, now.size()}, now, nil
}

// Remove removes the file, or symbolic link, if it still is what was found.
func (e *entry) Remove(ctx context.Context, check Check) error {
	if e.found == nil {
		return ErrNotFound
	}
	_, unlock, err := e.ready(ctx, check, e.place)
	if err != nil {
		return err
	}
	defer unlock()
	err = e.system.step("remove")
	if err == nil {
		err = removeName(e.place)
	}
	return err
}

// Rename gives the file another name, if it still is what was found.
func (e *entry) Rename(ctx context.Context, to Entry, check Check) error {
	t, ok := to.(*entry)
	switch {
	case !ok:
		return errors.ErrUnsupported
	case e.found == nil:
		return ErrNotFound
	}
	_, unlock, err := e.ready(ctx, check, e.place)
	if err != nil {
		return err
	}
	defer unlock()
	err = e.system.step("rename")
	if err == nil {
		err = renameExclusive(e.place, t.place)
	}
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := linkAt(e.place, t.place); err != nil {
		return err
	}
	if err := removeName(e.place); err != nil {
		_ = removeName(t.place) // it stays under its old name
		return err
	}
	return nil
}

// Mkdir makes a directory.
func (e *entry) Mkdir(context.Context) error { return e.mkdir() }

// Rmdir removes a directory that is empty.
func (e *entry) Rmdir(context.Context) error { return removeDirectory(e.place) }

// ready asks check and looks at the file for the last time before a change.
// Until unlock is called, other processes that use this package change nothing
// in that directory.
func (e *entry) ready(ctx context.Context, check Check, dir place) (now stamp, unlock func(), err error) {
	if check != nil {
		if err := check(ctx); err != nil {
			return stamp{}, nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return stamp{}, nil, err
	}
	if now, err = e.verify(ctx); err != nil { // which may take a while
		return stamp{}, nil, err
	}
	unlock, _ = lockFile(ctx, dir.handle)
	if again, err := e.lstat(); e.found != nil && err == nil && again == now {
		return now, unlock, nil
	}
	if now, err = e.verify(ctx); err != nil {
		unlock()
	}
	return now, unlock, err
}

// SyncDir makes a change of the directory durable, and of those above it that
// were made. Some file systems cannot, and then nothing can be done about it.
func (e *entry) SyncDir() {
	if e.system.NoSync {
		return
	}
	_ = e.handle.Sync()
	for _, p := range e.below {
		_ = p.handle.Sync()
	}
}

// Close closes the directories.
func (e *entry) Close() error {
	for _, p := range e.below {
		_ = p.close()
	}
	e.below = nil
	return e.close()
}
