package proc

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// withEmptyMask calls start with no signal blocked in its thread: a command
// inherits what is, and a program that was started so would hand it on.
func withEmptyMask(start func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var none, before unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &none, &before); err != nil {
		return err
	}
	defer unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) //nolint:errcheck // it was just in force
	return start()
}
