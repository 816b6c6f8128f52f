package proc

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)

// openTerminal opens a pseudo-terminal: the end that reads what is written to
// the other one. Neither becomes a controlling terminal, here or in a command.
func openTerminal() (controller, user *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, &os.PathError{Op: "open", Path: "/dev/ptmx", Err: err}
	}
	controller = os.NewFile(uintptr(fd), "/dev/ptmx")
	defer func() {
		if err != nil {
			controller.Close()
		}
	}()
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	userFD, err := openUser(fd)
	if err != nil {
		return nil, nil, err
	}
	user = os.NewFile(uintptr(userFD), "tty")
	if err := setTerminal(userFD); err != nil {
		user.Close()
		return nil, nil, err
	}
	return controller, user, nil
}

// openUser opens the other end of a terminal: by its controller where the kernel
// can (Linux 4.13), since the name may lead elsewhere in a container.
func openUser(controller int) (int, error) {
	const flags = unix.O_RDWR | unix.O_NOCTTY | unix.O_CLOEXEC
	fd, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(controller), unix.TIOCGPTPEER, flags)
	if errno == 0 {
		return int(fd), nil
	}
	n, err := unix.IoctlGetInt(controller, unix.TIOCGPTN)
	if err != nil {
		return -1, err
	}
	return unix.Open("/dev/pts/"+strconv.Itoa(n), flags, 0)
}
