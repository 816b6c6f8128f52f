//go:build unix

package rawfs

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// A File is an open regular file. Package os costs more for each: it watches
// files for readiness and closes forgotten ones.
type File struct {
	fd   int
	path string
	size int64
}

// Open opens a regular file. It never waits: a FIFO put in place of the file
// since it was listed gives an error, and so does a symbolic link.
func Open(path string) (File, error) {
	fd, err := openRetry(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC)
	if errors.Is(err, unix.ENXIO) || errors.Is(err, unix.EOPNOTSUPP) { // a socket: Linux, BSD
		err = ErrNotRegular
	}
	if err != nil {
		return File{}, pathError("open", path, err)
	}
	var st unix.Stat_t
	_, err = retry(func() (int, error) { return 0, unix.Fstat(fd, &st) })
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = ErrNotRegular
	}
	if err != nil {
		unix.Close(fd)
		return File{}, pathError("open", path, err)
	}
	return File{fd, path, st.Size}, nil
}

// Size returns the size of the file when it was opened, in bytes.
func (f File) Size() int64 { return f.size }

// ReadAt reads up to len(p) bytes at an offset. It returns 0 and no error at the
// end of the file. It may be called by several goroutines.
func (f File) ReadAt(p []byte, offset int64) (int, error) {
	n, err := retry(func() (int, error) { return unix.Pread(f.fd, p, offset) })
	if err != nil {
		return 0, pathError("read", f.path, err)
	}
	return n, nil
}

// Close closes the file.
func (f File) Close() { unix.Close(f.fd) }

// listPortably is List by package os. It never waits either: what is no
// directory, or a symbolic link to one, gives an error.
func listPortably(dst []Entry, path string) ([]Entry, error) {
	fd, err := openDirectory(path)
	if err != nil {
		return dst, pathError("open", path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	return appendPortably(dst, f)
}

func openDirectory(path string) (int, error) {
	return openRetry(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC)
}

func openRetry(path string, flags int) (int, error) {
	return retry(func() (int, error) { return unix.Open(path, flags, 0) })
}

// retry repeats a system call that a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

func pathError(op, path string, err error) error {
	return &fs.PathError{Op: op, Path: path, Err: err}
}
