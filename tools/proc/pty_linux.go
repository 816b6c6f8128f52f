package proc

import (
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)

// openUser opens the other end of a terminal: by its controller where the kernel
// can (Linux 4.13), since the name may lead elsewhere in a container.
func openUser(controller int) (int, error) {
	if err := unix.IoctlSetPointerInt(controller, unix.TIOCSPTLCK, 0); err != nil {
		return -1, err
	}
	fd, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(controller), unix.TIOCGPTPEER, userFlags)
	if errno == 0 {
		return int(fd), nil
	}
	n, err := unix.IoctlGetInt(controller, unix.TIOCGPTN)
	if err != nil {
		return -1, err
	}
	return unix.Open("/dev/pts/"+strconv.Itoa(n), userFlags, 0)
}
