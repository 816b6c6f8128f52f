package workspace

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// blockSize is how much is read or written between two looks at a context.
const blockSize = 64 << 10

// racyAge is how old the time of a file must be for an equal time to prove
// that nothing was written since. Clocks of file systems tick every few
// milliseconds, some every two seconds.
const racyAge = 2 * time.Second

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
	found  *stamp // nil if there was nothing

	// What has been read, to tell whether it is still there.
	data    []byte
	version Version
	readAt  time.Time
}

// look notes what is there. It opens nothing.
func (e *entry) look() error {
	if len(e.missing) > 0 {
		return nil
	}
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
	return Info{Mode: e.found.mode(), Size: e.found.size(), Stamp: *e.found}, true
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
	f, now, err := e.open()
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if now.size() > limit {
		return nil, tooLarge(limit)
	}
	readAt := time.Now()
	data, err := readAll(ctx, io.LimitReader(f, limit+1), now.size())
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, tooLarge(limit)
	}
	e.found, e.data, e.readAt = &now, data, readAt
	return data, nil
}

// Version reads the file, however large it is, and remembers the state that it
// was in.
func (e *entry) Version(ctx context.Context) (Version, error) {
	switch {
	case e.found == nil:
		return "", nil
	case e.data != nil && e.version == "":
		e.version = VersionOf(e.data)
	case e.version == "":
		f, now, err := e.open()
		if err != nil {
			return "", err
		}
		defer f.Close() //nolint:errcheck // nothing was written
		readAt, sum := time.Now(), NewHash()
		if err := copyBlocks(ctx, sum, f); err != nil {
			return "", err
		}
		e.found, e.version, e.readAt = &now, sum.Version(), readAt
	}
	return e.version, nil
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

// readAll reads all of r, about size bytes, and looks at ctx before each block.
// The result is not nil.
func readAll(ctx context.Context, r io.Reader, size int64) ([]byte, error) {
	data := make([]byte, 0, size+1) // one more shows the end without growing
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = slices.Grow(data, blockSize)
		}
		n, err := r.Read(data[len(data):min(cap(data), len(data)+blockSize)])
		data = data[:len(data)+n]
		if err == io.EOF { //nolint:errorlint // only EOF itself is the end
			return data, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// copyBlocks copies all of r to w, and looks at ctx before each block.
func copyBlocks(ctx context.Context, w io.Writer, r io.Reader) error {
	block := make([]byte, blockSize)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(block)
		if _, err := w.Write(block[:n]); err != nil {
			return err
		}
		if err == io.EOF { //nolint:errorlint // only EOF itself is the end
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Verify reports whether what has been read is still there, as an error if
// not. A file that was merely touched, or replaced by one with the same bytes,
// is.
func (e *entry) Verify(ctx context.Context) error {
	_, err := e.verify(ctx)
	return err
}

// verify returns the state that the file is in now.
func (e *entry) verify(ctx context.Context) (stamp, error) {
	if e.found == nil {
		return stamp{}, e.verifyAbsent()
	}
	now, err := e.lstat()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return stamp{}, errGone
	case err != nil:
		return stamp{}, err
	case now.equal(*e.found) && !e.racy():
		return now, nil
	case !now.mode().IsRegular() || !e.found.mode().IsRegular():
		return stamp{}, ErrStaleVersion
	}
	f, now, err := e.open()
	if err != nil {
		return stamp{}, ErrStaleVersion
	}
	defer f.Close() //nolint:errcheck // nothing was written
	return now, e.compare(ctx, f, now)
}

// verifyAbsent reports whether there is still no file, as an error if not.
func (e *entry) verifyAbsent() error {
	_, err := e.root.Lstat(e.below())
	switch {
	case err == nil:
		return ErrExists
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return err
	}
}

// racy reports whether the file may have been written after it was read and
// yet have the same time. If its content is not known, that cannot be told.
func (e *entry) racy() bool {
	return (e.data != nil || e.version != "") && e.found.modTime().After(e.readAt.Add(-racyAge))
}

// compare compares the content of a file with what has been read.
func (e *entry) compare(ctx context.Context, f io.Reader, now stamp) error {
	switch {
	case e.data != nil:
		if now.size() != e.found.size() {
			return ErrStaleVersion
		}
		same := &matcher{want: e.data}
		if err := copyBlocks(ctx, same, io.LimitReader(f, int64(len(e.data))+1)); err != nil && !errors.Is(err, errDiffers) {
			return err
		}
		if same.differs || len(same.want) > 0 {
			return ErrStaleVersion
		}
		return nil
	case e.version != "":
		sum := NewHash()
		if err := copyBlocks(ctx, sum, f); err != nil {
			return err
		}
		if sum.Version() != e.version {
			return ErrStaleVersion
		}
		return nil
	case !now.equal(*e.found):
		return ErrStaleVersion
	default:
		return nil
	}
}

var errDiffers = errors.New("content differs")

// A matcher takes content that is to be equal to want.
type matcher struct {
	want    []byte
	differs bool
}

func (m *matcher) Write(p []byte) (int, error) {
	if !bytes.HasPrefix(m.want, p) {
		m.differs = true
		return 0, errDiffers
	}
	m.want = m.want[len(p):]
	return len(p), nil
}

// Remove removes the file, or symbolic link, if it still is what was found.
func (e *entry) Remove(ctx context.Context, check Check) error {
	if e.found == nil {
		return ErrNotFound
	}
	if err := e.ready(ctx, check); err != nil {
		return err
	}
	if err := e.root.Remove(e.base); err != nil {
		return err
	}
	e.SyncDir()
	return nil
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
	if err := e.ready(ctx, check); err != nil {
		return err
	}
	err := renameExclusive(e.place, t.place)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := linkAt(e.place, t.place); err != nil {
		return err
	}
	return e.root.Remove(e.base)
}

// Mkdir makes a directory.
func (e *entry) Mkdir(context.Context) error { return e.root.Mkdir(e.base, 0o777) }

// Rmdir removes a directory that is empty.
func (e *entry) Rmdir(context.Context) error { return removeDirectory(e.place) }

// ready is asked right before a change becomes visible.
func (e *entry) ready(ctx context.Context, check Check) error {
	_, err := e.readyStamp(ctx, check)
	return err
}

func (e *entry) readyStamp(ctx context.Context, check Check) (stamp, error) {
	if check != nil {
		if err := check(ctx); err != nil {
			return stamp{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return stamp{}, err
	}
	return e.verify(ctx)
}

// SyncDir makes a change of the directory durable. Some file systems cannot,
// and then nothing can be done about it.
func (e *entry) SyncDir() {
	if !e.system.NoSync {
		_ = e.handle.Sync()
	}
}

func (e *entry) Close() error { return e.close() }

// A place is a name in a directory that exists, or would exist once the missing
// directories were made.
type place struct {
	root    *os.Root // of the directory, or the nearest one that exists
	handle  *os.File // the same directory
	dir     string   // its path without symbolic links
	missing []string // directories to make in it, outermost first
	base    string
}

// child opens the directory with that name in the directory of p.
func (p place) child(name string) (place, error) {
	root, err := p.root.OpenRoot(name)
	if err != nil {
		return place{}, err
	}
	c := place{root: root, dir: filepath.Join(p.dir, name), base: p.base}
	if c.handle, err = root.Open("."); err != nil {
		_ = c.close()
		return place{}, err
	}
	return c, nil
}

// below returns the path of the file from the directory that exists.
func (p place) below() string {
	return filepath.Join(filepath.Join(p.missing...), p.base)
}

// key returns the path of the file without symbolic links.
func (p place) key() string {
	return filepath.Join(p.dir, p.below())
}

func (p place) close() error {
	if p.handle != nil {
		_ = p.handle.Close()
	}
	if p.root != nil {
		return p.root.Close()
	}
	return nil
}
