//go:build linux || darwin

package proc

import "golang.org/x/sys/unix"

// The size of a terminal.
const (
	terminalRows    = 24
	terminalColumns = 80
)

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
