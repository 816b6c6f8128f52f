//go:build linux || darwin

package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// The size of a terminal.
const (
	terminalRows    = 24
	terminalColumns = 80
)

const userFlags = unix.O_RDWR | unix.O_NOCTTY | unix.O_CLOEXEC

// openTerminal opens a pseudo-terminal: the end that reads what is written to
// the other one. Neither becomes a controlling terminal, here or in a command.
func openTerminal() (controller, user *os.File, err error) {
	const multiplexer = "/dev/ptmx"
	fd, err := unix.Open(multiplexer, userFlags|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, &os.PathError{Op: "open", Path: multiplexer, Err: err}
	}
	controller = os.NewFile(uintptr(fd), multiplexer)
	userFD, err := openUser(fd)
	if err != nil {
		controller.Close()
		return nil, nil, err
	}
	user = os.NewFile(uintptr(userFD), "tty")
	if err := setTerminal(userFD); err != nil {
		closeAll([]*os.File{controller, user})
		return nil, nil, err
	}
	return controller, user, nil
}

func setTerminal(fd int) error {
	mode, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return err
	}
	mode.Oflag &^= unix.OPOST // LF stays LF
	if err := unix.IoctlSetTermios(fd, setTermios, mode); err != nil {
		return err
	}
	return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: terminalRows, Col: terminalColumns})
}
