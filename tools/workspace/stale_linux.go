package workspace

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// isOpenElsewhere reports whether f is open a second time anywhere. The kernel
// grants a write lease only if it is not (fcntl(2), F_SETLEASE). It ends when f
// is closed.
func isOpenElsewhere(f *os.File) bool {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK)
	return errors.Is(err, unix.EAGAIN)
}
