package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// searchOnly opens a directory that may be searched, but not read (open(2)).
const searchOnly = unix.O_PATH

// openRegular opens a regular file and nothing else. Without /proc it falls
// back on what other systems do.
func openRegular(name string) (*os.File, error) {
	f, err := reopen(unix.AT_FDCWD, name, 0, unix.O_RDONLY)
	if errors.Is(err, errNoProc) {
		return openChecked(name, nonBlocking)
	}
	return f, err
}

// openRegularIn opens the regular file that has the name of the place, and
// nothing else, not even what a link leads to.
func openRegularIn(p place) (*os.File, error) { return openIn(p, unix.O_RDONLY) }

// openForWriting is openRegularIn for reading and writing.
func openForWriting(p place) (*os.File, error) { return openIn(p, unix.O_RDWR) }

func openIn(p place, access int) (*os.File, error) {
	if err := p.missingError(); err != nil {
		return nil, err
	}
	f, err := reopen(p.fd(), p.base, unix.O_NOFOLLOW, access)
	if errors.Is(err, errNoProc) {
		return openCheckedIn(p, access)
	}
	return f, err
}

var errNoProc = errors.New("no /proc")

// reopen opens a regular file in two steps. A descriptor with O_PATH says what
// a name leads to without opening it (open(2)); the file itself is then opened
// through that descriptor, so that nothing can take its place in between.
func reopen(dir int, name string, flags, access int) (*os.File, error) {
	fd, err := ignoringEINTR(func() (int, error) { return unix.Openat(dir, name, unix.O_PATH|unix.O_CLOEXEC|flags, 0) })
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd) //nolint:errcheck // nothing was opened, nothing can be lost

	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	if err := checkRegular(typeOf(st.Mode)); err != nil {
		return nil, err
	}
	again, err := ignoringEINTR(func() (int, error) {
		return unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), access|unix.O_CLOEXEC|nonBlocking, 0)
	})
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return nil, errNoProc
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(again), name), nil
}

// path returns the path of the directory without symbolic links. The system
// knows it; without /proc it is found from one of its paths.
func (d openDir) path(path string) (string, error) {
	canonical, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", d.fd()))
	if err != nil || strings.HasSuffix(canonical, " (deleted)") || !filepath.IsAbs(canonical) {
		return d.evalPath(path)
	}
	return canonical, nil
}
