//go:build unix

package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A stamp is the state that a file is in, as far as the system tells it. It is
// comparable, and changes with each change of the file.
type stamp struct {
	dev, ino     uint64
	length       int64
	mtime, ctime unix.Timespec
	bits         uint32 // of the mode
	uid, gid     uint32
	nlink        uint64
}

// lstat returns the state of what has the name of the place.
func (p place) lstat() (stamp, error) {
	if err := p.missingError(); err != nil {
		return stamp{}, err
	}
	var st unix.Stat_t
	_, err := ignoringEINTR(func() (int, error) {
		return 0, unix.Fstatat(p.fd(), p.base, &st, unix.AT_SYMLINK_NOFOLLOW)
	})
	return newStamp(&st), err
}

// stat returns the state of the file that the name of the place leads to, by the
// rules of the system for links.
func (p place) stat() (stamp, error) {
	var st unix.Stat_t
	_, err := ignoringEINTR(func() (int, error) {
		return 0, unix.Fstatat(p.fd(), p.base, &st, 0)
	})
	return newStamp(&st), err
}

// exists returns nil if there is something at the place, below directories that
// may have been made by now.
func (p place) exists() error {
	var st unix.Stat_t
	_, err := ignoringEINTR(func() (int, error) {
		return 0, unix.Fstatat(p.fd(), p.rest(), &st, unix.AT_SYMLINK_NOFOLLOW)
	})
	return err
}

// stampOf returns the state of an open file.
func stampOf(f *os.File) (stamp, error) {
	var st unix.Stat_t
	_, err := ignoringEINTR(func() (int, error) { return 0, unix.Fstat(int(f.Fd()), &st) })
	return newStamp(&st), err
}

// newStamp converts fields whose types differ between systems.
func newStamp(st *unix.Stat_t) stamp {
	return stamp{
		dev: uint64(st.Dev), ino: uint64(st.Ino), length: st.Size, mtime: st.Mtim, ctime: st.Ctim,
		bits: uint32(st.Mode), uid: st.Uid, gid: st.Gid, nlink: uint64(st.Nlink),
	}
}

func (s stamp) size() int64       { return s.length }
func (s stamp) links() int        { return int(s.nlink) }
func (s stamp) mode() fs.FileMode { return typeOf(s.bits) | fs.FileMode(s.bits&0o777) }

// lastTime returns the later one of the times of modification and of the last
// change of status, which not everybody can set.
func (s stamp) lastTime() time.Time {
	m, c := time.Unix(s.mtime.Unix()), time.Unix(s.ctime.Unix())
	if c.After(m) {
		return c
	}
	return m
}

func (s stamp) sameFile(t stamp) bool { return s.dev == t.dev && s.ino == t.ino }

// inode returns a name for the file, whatever names it has: no path looks so.
func (s stamp) inode() string { return fmt.Sprintf("%d:%d", s.dev, s.ino) }
