package proc

import (
	"bytes"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
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
	if err := unix.IoctlSetInt(fd, unix.TIOCPTYGRANT, 0); err != nil {
		return nil, nil, err
	}
	if err := unix.IoctlSetInt(fd, unix.TIOCPTYUNLK, 0); err != nil {
		return nil, nil, err
	}
	var name [128]byte // the size is a part of the request
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCPTYGNAME, uintptr(unsafe.Pointer(&name)))
	if errno != 0 {
		return nil, nil, errno
	}
	path, _, _ := bytes.Cut(name[:], []byte{0})
	userFD, err := unix.Open(string(path), unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, &os.PathError{Op: "open", Path: string(path), Err: err}
	}
	user = os.NewFile(uintptr(userFD), string(path))
	if err := setTerminal(userFD); err != nil {
		user.Close()
		return nil, nil, err
	}
	return controller, user, nil
}
