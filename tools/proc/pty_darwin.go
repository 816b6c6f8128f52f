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

// openUser opens the other end of a terminal.
func openUser(controller int) (int, error) {
	if err := unix.IoctlSetInt(controller, unix.TIOCPTYGRANT, 0); err != nil {
		return -1, err
	}
	if err := unix.IoctlSetInt(controller, unix.TIOCPTYUNLK, 0); err != nil {
		return -1, err
	}
	var name [128]byte // the size is a part of the request
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(controller), unix.TIOCPTYGNAME, uintptr(unsafe.Pointer(&name)))
	if errno != 0 {
		return -1, errno
	}
	path, _, _ := bytes.Cut(name[:], []byte{0})
	fd, err := unix.Open(string(path), userFlags, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: string(path), Err: err}
	}
	return fd, nil
}
