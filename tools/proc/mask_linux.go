package proc

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// systemIgnored returns the signals that this process ignores (proc_pid_status(5)).
func systemIgnored() (signals []os.Signal) {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "\nSigIgn:\t")
	mask, _, _ := strings.Cut(rest, "\n")
	bits, _ := strconv.ParseUint(mask, 16, 64)
	for n := syscall.Signal(1); n < numSignals; n++ {
		if bits&(1<<(n-1)) != 0 {
			signals = append(signals, n)
		}
	}
	return signals
}

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
