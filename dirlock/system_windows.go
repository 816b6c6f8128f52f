package dirlock

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// errLocked says that somebody else has the lock.
var errLocked = errors.New("locked")

func openPrivate(path string, flags int) (*os.File, error) { return os.OpenFile(path, flags, 0o600) }

// tryLock locks the file for this handle, until that is closed, or fails with
// errLocked if another one has it locked.
func tryLock(file *os.File) error {
	err := windows.LockFileEx(windows.Handle(file.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return errLocked
	default:
		return &os.PathError{Op: "LockFileEx", Path: file.Name(), Err: err}
	}
}

// What others may do is a matter of access control lists here, which modes do
// not show; the temporary directory is that of the user.
func isOurs(fs.FileInfo) bool    { return true }
func isPrivate(fs.FileInfo) bool { return true }
