//go:build unix

package workspace

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// An openDir is a directory that is open.
type openDir struct{ handle *os.File }

// openDirectoryAt opens a directory, and nothing else.
func openDirectoryAt(path string) (openDir, error) {
	return openDirectoryFrom(unix.AT_FDCWD, path, 0)
}

func openDirectoryFrom(dir int, path string, flags int) (openDir, error) {
	open := func(access int) (int, error) {
		return ignoringEINTR(func() (int, error) {
			return unix.Openat(dir, path, access|unix.O_DIRECTORY|unix.O_CLOEXEC|flags, 0)
		})
	}
	fd, err := open(unix.O_RDONLY)
	if errors.Is(err, unix.EACCES) && searchOnly != 0 {
		fd, err = open(searchOnly) // its names can be used all the same
	}
	if err != nil {
		return openDir{}, err
	}
	return openDir{os.NewFile(uintptr(fd), path)}, nil
}

func (d openDir) fd() int { return int(d.handle.Fd()) }

func (d openDir) close() error { return d.handle.Close() }

// evalPath returns the path of a directory without symbolic links, for one of its
// paths.
func (d openDir) evalPath(path string) (string, error) {
	for range maxLinks {
		canonical, err := filepath.EvalSymlinks(path)
		if err != nil {
			return "", err
		}
		opened, err := stampOf(d.handle)
		if err != nil {
			return "", err
		}
		var named unix.Stat_t
		if err := unix.Lstat(canonical, &named); err == nil && newStamp(&named).sameFile(opened) {
			return canonical, nil
		}
	}
	return "", ErrStaleVersion // somebody moves it all the time
}

// openChild opens the directory that has the name of the place.
func (p place) openChild() (openDir, error) {
	return openDirectoryFrom(p.fd(), p.base, unix.O_NOFOLLOW)
}

// readlink returns where the link leads that has the name of the place.
func (p place) readlink() (string, error) {
	for size := 256; ; size *= 2 {
		buf := make([]byte, size)
		n, err := ignoringEINTR(func() (int, error) { return unix.Readlinkat(p.fd(), p.base, buf) })
		if err != nil || n < size {
			return string(buf[:max(n, 0)]), err
		}
	}
}

// mkdir makes a directory with the name of the place.
func (p place) mkdir() error {
	if err := p.missingError(); err != nil {
		return err
	}
	return unix.Mkdirat(p.fd(), p.base, 0o777)
}

// createExclusive makes a file with the name of the place.
func (p place) createExclusive() (*os.File, error) {
	fd, err := ignoringEINTR(func() (int, error) {
		return unix.Openat(p.fd(), p.base, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o666)
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), p.base), nil
}

// checkWritable returns why this process may not write to the file. A file
// that is read-only is meant to stay as it is, although another could take its
// place.
func checkWritable(p place) error {
	return unix.Faccessat(p.fd(), p.base, unix.W_OK, unix.AT_EACCESS)
}

// refusesNewFile reports whether an error says that the directory takes no new
// file. One of /proc says that there is no such file.
func refusesNewFile(err error) bool {
	return errors.Is(err, os.ErrPermission) || errors.Is(err, unix.EROFS) || errors.Is(err, os.ErrNotExist)
}

// cannotBeReplaced reports whether rename(2) says that nothing can take the
// place of a file, which is so for one that something is mounted on.
func cannotBeReplaced(err error) bool {
	return errors.Is(err, unix.EBUSY) || errors.Is(err, unix.EXDEV)
}

// dropPrivileges takes the set-user-ID and set-group-ID bits from a file that
// was written to. The kernel does so too, unless root writes.
func dropPrivileges(f *os.File, s stamp) {
	if s.bits&(unix.S_ISUID|unix.S_ISGID) != 0 {
		_ = unix.Fchmod(int(f.Fd()), s.bits&keptMode)
	}
}

// keptMode are the bits of a mode that a file keeps when its content changes:
// the permissions and the sticky bit.
const keptMode = 0o777 | unix.S_ISVTX

// Waiting for a lock that another process holds.
const (
	lockTries = 100
	lockPause = 2 * time.Millisecond
)

// lockFile keeps other processes that use this package from changing what f is,
// a directory or a file, between the last look and the change. That is short but
// for a file that is written in place. It gives up after a while, and locked is
// false: whoever else locks f for reasons of its own must not make a change
// impossible.
func lockFile(ctx context.Context, f *os.File) (unlock func(), locked bool) {
	fd := int(f.Fd())
	for range lockTries {
		err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = unix.Flock(fd, unix.LOCK_UN) }, true
		}
		if !errors.Is(err, unix.EWOULDBLOCK) || ctx.Err() != nil {
			break
		}
		time.Sleep(lockPause)
	}
	return func() {}, false
}

// openCheckedIn opens the regular file that has the name of the place on
// systems that cannot find a file without opening it.
func openCheckedIn(p place, access int) (*os.File, error) {
	before, err := p.lstat()
	if err != nil {
		return nil, err
	}
	if err := checkRegular(before.mode()); err != nil {
		return nil, err
	}
	fd, err := ignoringEINTR(func() (int, error) {
		return unix.Openat(p.fd(), p.base, access|unix.O_NOFOLLOW|unix.O_CLOEXEC|nonBlocking, 0)
	})
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), p.base)
	after, err := stampOf(f)
	if err == nil && !after.sameFile(before) {
		err = ErrStaleVersion
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// removeName removes what has the name of the place, unless it is a directory.
func removeName(p place) error {
	if err := p.missingError(); err != nil {
		return err
	}
	return unix.Unlinkat(p.fd(), p.base, 0)
}

// removeDirectory removes the directory that has the name of the place, if it
// is empty. It removes nothing else that may have taken its name.
func removeDirectory(p place) error {
	if err := p.missingError(); err != nil {
		return err
	}
	return unix.Unlinkat(p.fd(), p.base, unix.AT_REMOVEDIR)
}

// linkAt gives a file a second name, unless that is taken.
func linkAt(from, to place) error {
	if err := cmp.Or(from.missingError(), to.missingError()); err != nil {
		return err
	}
	return unix.Linkat(from.fd(), from.base, to.fd(), to.base, 0)
}
