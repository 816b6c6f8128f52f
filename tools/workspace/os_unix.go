//go:build unix

package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// nonBlocking keeps open(2) from waiting for the other end of a FIFO and from
// making a terminal the controlling one.
const nonBlocking = unix.O_NONBLOCK | unix.O_NOCTTY

// Read reads without waiting in Go for more to come. Some files, such as
// /proc/kmsg, are regular by their type and yet wait for content; the runtime
// would do so for ever, deaf to any context. Here read(2) says EAGAIN.
func (f *osFile) Read(p []byte) (n int, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := conn.Read(func(fd uintptr) bool {
		n, err = ignoringEINTR(func() (int, error) { return unix.Read(int(fd), p) })
		return true
	})
	switch {
	case failed != nil:
		return 0, failed
	case err != nil:
		return 0, &fs.PathError{Op: "read", Path: f.Name(), Err: err}
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return n, nil
}

// ignoringEINTR repeats a system call that a signal interrupted.
func ignoringEINTR(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// openDirectory opens a directory. With O_DIRECTORY, open(2) refuses anything
// else before it has an effect.
func openDirectory(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY|nonBlocking, 0)
}

// typeOf returns the type bits of a mode of stat(2).
func typeOf(mode uint32) fs.FileMode {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return 0
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFLNK:
		return fs.ModeSymlink
	case unix.S_IFIFO:
		return fs.ModeNamedPipe
	case unix.S_IFSOCK:
		return fs.ModeSocket
	case unix.S_IFCHR:
		return fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		return fs.ModeDevice
	default:
		return fs.ModeIrregular
	}
}
