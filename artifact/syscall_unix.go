//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package artifact

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// at makes one system call that takes an open directory and a name in it, again
// if a signal interrupts it, and says where it failed.
func at(op string, dir *os.File, name string, call func(dir int) error) error {
	for {
		err := call(int(dir.Fd()))
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EINTR) {
			return &os.PathError{Op: op, Path: dir.Name() + "/" + name, Err: err}
		}
	}
}

// openAt opens a name in dir: never through a symbolic link, and never to be
// inherited by another program.
func openAt(dir *os.File, name string, flags int, mode uint32) (*os.File, error) {
	fd := -1
	err := at("open", dir, name, func(dir int) (err error) {
		fd, err = unix.Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
		return err
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), dir.Name()+"/"+name), nil
}

func unlinkAt(dir *os.File, name string, flags int) error {
	return at("unlink", dir, name, func(dir int) error { return unix.Unlinkat(dir, name, flags) })
}

func lstatAt(dir *os.File, name string) (st unix.Stat_t, err error) {
	err = at("lstat", dir, name, func(dir int) error {
		return unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	})
	return st, err
}

func stat(file *os.File) (st unix.Stat_t, err error) {
	if err := unix.Fstat(int(file.Fd()), &st); err != nil {
		return st, &os.PathError{Op: "stat", Path: file.Name(), Err: err}
	}
	return st, nil
}

// flock locks the file for this open description of it, or fails at once if
// another one has it locked, be it in this process or not.
func flock(file *os.File) error {
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return &os.PathError{Op: "flock", Path: file.Name(), Err: err}
	}
	return nil
}

// maxDescriptors returns how many files the process may have open.
func maxDescriptors() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil || uint64(limit.Cur) > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(limit.Cur)
}

// identity tells files apart while they exist.
type identity struct{ dev, ino uint64 }

// identify converts: the types of these fields differ between systems.
func identify(st *unix.Stat_t) identity {
	return identity{dev: uint64(st.Dev), ino: uint64(st.Ino)}
}
