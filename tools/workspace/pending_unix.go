//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// pendingMark starts the names of temporary files, behind a dot and before the
// digits that renameio adds, so that they are not taken for anybody else's. The
// name of the file is no part of them: it may be as long as a name can be.
const pendingMark = "taukit-"

// A pendingFile is a temporary file that waits to get the name of its place.
// As long as it does, it is open and locked, which tells it from one that a dead
// process left. So it is renamed here, while it is open, and after one fsync:
// CloseAtomicallyReplace would close it first, and sync once more.
type pendingFile struct {
	*os.File
	place place
	named bool // it has got its name, and is no longer temporary
}

// newPending makes a temporary file in the directory of p, with that mode less
// the umask.
func newPending(p place, perm fs.FileMode) (*pendingFile, error) {
	root, err := p.openRoot()
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // what follows goes by the directory that is open already
	f, err := renameio.NewPendingFile(pendingMark, renameio.WithRoot(root), renameio.WithPermissions(perm))
	if err != nil {
		return nil, err
	}
	_ = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	return &pendingFile{f.File, p, false}, nil
}

// openRoot opens the directory of the place once more, in the form that renameio
// takes.
func (p place) openRoot() (*os.Root, error) {
	root, err := os.OpenRoot(p.dir)
	if errors.Is(err, fs.ErrNotExist) { // it has been moved, or removed
		err = ErrStaleVersion
	}
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err == nil {
		var opened fs.FileInfo
		if opened, err = p.handle.Stat(); err == nil && !os.SameFile(info, opened) {
			err = ErrStaleVersion
		}
	}
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	return root, nil
}

// temporary returns the place of the temporary file itself.
func (t *pendingFile) temporary() place { return t.place.at(filepath.Base(t.Name())) }

// replace renames the file over what has the name.
func (t *pendingFile) replace(unsynced bool) error {
	if err := t.settle(unsynced); err != nil {
		return err
	}
	dir := t.place.fd()
	_, err := ignoringEINTR(func() (int, error) {
		return 0, unix.Renameat(dir, t.temporary().base, dir, t.place.base)
	})
	t.named = err == nil
	return err
}

// create renames the file to a name that is free.
func (t *pendingFile) create(unsynced bool) error {
	if err := t.settle(unsynced); err != nil {
		return err
	}
	err := renameExclusive(t.temporary(), t.place)
	t.named = err == nil
	return err
}

// settle closes a file that was not synced: some file systems tell only then
// that there was no room for it.
func (t *pendingFile) settle(unsynced bool) error {
	if unsynced {
		return t.Close()
	}
	return nil
}

// Cleanup closes the file, and removes it unless it has got its name.
func (t *pendingFile) Cleanup() error {
	_ = t.Close()
	if t.named {
		return nil
	}
	return removeName(t.temporary())
}
