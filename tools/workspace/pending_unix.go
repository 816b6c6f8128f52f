//go:build unix

package workspace

import (
	"io/fs"
	"path/filepath"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// A pendingFile is a temporary file that waits to get the name of its place.
// As long as it does, it is open and locked, which tells it from one that a dead
// process left. So it is renamed here, while it is open, and after one fsync:
// CloseAtomicallyReplace would close it first, and sync once more.
type pendingFile struct {
	*renameio.PendingFile
	place place
	named bool // it has got its name, and is no longer temporary
}

// newPending makes a temporary file in the directory of p, with that mode less
// the umask.
func newPending(p place, perm fs.FileMode) (*pendingFile, error) {
	f, err := renameio.NewPendingFile(p.base, renameio.WithRoot(p.root), renameio.WithPermissions(perm))
	if err != nil {
		return nil, err
	}
	_ = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	return &pendingFile{f, p, false}, nil
}

// replace renames the file over what has the name.
func (t *pendingFile) replace() error {
	err := t.place.root.Rename(filepath.Base(t.Name()), t.place.base)
	t.named = err == nil
	return err
}

// create renames the file to a name that is free.
func (t *pendingFile) create() error {
	temporary := t.place
	temporary.base = filepath.Base(t.Name())
	err := renameExclusive(temporary, t.place)
	t.named = err == nil
	return err
}

// Cleanup closes the file, and removes it unless it has got its name.
func (t *pendingFile) Cleanup() error {
	if t.named {
		return t.File.Close()
	}
	return t.PendingFile.Cleanup()
}
