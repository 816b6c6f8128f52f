//go:build unix

package workspace

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// A pendingFile is a temporary file that waits to get the name of its place.
// As long as it does, it is open and locked: this tells it from one that a dead
// process left.
type pendingFile struct {
	*renameio.PendingFile
	place place
	held  *os.File // a second descriptor, which outlives the first
	named bool     // it has its name, and is no longer temporary
}

// newPending makes a temporary file in the directory of p, with that mode less
// the umask.
func newPending(p place, perm fs.FileMode) (*pendingFile, error) {
	f, err := renameio.NewPendingFile(p.base, renameio.WithRoot(p.root), renameio.WithPermissions(perm))
	if err != nil {
		return nil, err
	}
	t := &pendingFile{PendingFile: f, place: p}
	// flock(2) belongs to the open file, not to the descriptor.
	_ = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		_ = f.Cleanup()
		return nil, err
	}
	t.held = os.NewFile(uintptr(fd), f.Name())
	return t, nil
}

// replace renames the file over what has the name.
func (t *pendingFile) replace(noSync bool) error {
	if !noSync {
		return t.CloseAtomicallyReplace()
	}
	if err := t.place.root.Rename(filepath.Base(t.Name()), t.place.base); err != nil {
		return err
	}
	t.forget()
	return nil
}

// forget says that the file has been given its name.
func (t *pendingFile) forget() { t.named = true }

// Cleanup closes the file, and removes it unless it has got its name.
func (t *pendingFile) Cleanup() error {
	defer t.held.Close()
	if t.named {
		return t.File.Close()
	}
	return t.PendingFile.Cleanup()
}
