package proc

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// pPID says that waitid takes the id of a process (P_PID of <sys/wait.h>).
const pPID = 1

// bytesToRead asks how much can be read at once (FIONREAD of <sys/filio.h>).
const bytesToRead = 0x4004667f

// waitExit waits until a child has ended, which stays to be reaped. It also
// returns if nobody can tell, as when this process ignores SIGCHLD.
func waitExit(pid int) {
	for {
		if _, err := waitid(pid, unix.WEXITED|unix.WNOWAIT); err != unix.EINTR {
			return
		}
	}
}

// hasExited reports whether waitExit would return at once.
func hasExited(pid int) bool {
	signo, err := waitid(pid, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG)
	return err != 0 && err != unix.EINTR || signo != 0
}

// waitid returns the signal that told of the end, 0 if there was none.
func waitid(pid, options int) (signo int32, err unix.Errno) {
	var info [16]uint64 // a siginfo_t, which starts with the signal, with room to spare
	_, _, err = unix.Syscall6(unix.SYS_WAITID, pPID, uintptr(pid),
		uintptr(unsafe.Pointer(&info)), uintptr(options), 0, 0)
	return *(*int32)(unsafe.Pointer(&info)), err
}
