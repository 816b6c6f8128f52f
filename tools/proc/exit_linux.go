package proc

import "golang.org/x/sys/unix"

// bytesToRead asks how much can be read at once.
const bytesToRead = unix.TIOCINQ // FIONREAD is its other name

// waitExit waits until a child has ended, which stays to be reaped. It also
// returns if nobody can tell, as when this process ignores SIGCHLD.
func waitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR { //nolint:errorlint // a bare number
			return
		}
	}
}

// hasExited reports whether waitExit would return at once.
func hasExited(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
	return err != nil && err != unix.EINTR || info.Signo != 0 //nolint:errorlint // a bare number
}
