//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package dirlock

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// errLocked says that somebody else has the lock.
var errLocked = errors.New("locked")

// openPrivate opens a file in the state directory, not through a symbolic link
// and not to be inherited by another program.
func openPrivate(path string, flags int) (*os.File, error) {
	return os.OpenFile(path, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
}

// tryLock locks the file for this open description of it, until that is closed,
// or fails with errLocked if another one has it locked, in this process or
// another.
func tryLock(file *os.File) error {
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return errLocked
		case !errors.Is(err, unix.EINTR):
			return &os.PathError{Op: "flock", Path: file.Name(), Err: err}
		}
	}
}

func isOurs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

func isPrivate(info fs.FileInfo) bool { return info.Mode().Perm() == 0o700 }
