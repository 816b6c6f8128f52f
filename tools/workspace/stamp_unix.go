//go:build unix

package workspace

import (
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A stamp is the state that a file is in, as far as the system tells it.
type stamp struct{ unix.Stat_t }

// lstat returns the state of what has the name of the place.
func (p place) lstat() (s stamp, err error) {
	_, err = ignoringEINTR(func() (int, error) {
		return 0, unix.Fstatat(int(p.handle.Fd()), p.base, &s.Stat_t, unix.AT_SYMLINK_NOFOLLOW)
	})
	return s, err
}

// stampOf returns the state of an open file.
func stampOf(f *os.File) (s stamp, err error) {
	_, err = ignoringEINTR(func() (int, error) { return 0, unix.Fstat(int(f.Fd()), &s.Stat_t) })
	return s, err
}

func (s stamp) size() int64        { return s.Size }
func (s stamp) links() int         { return int(s.Nlink) }
func (s stamp) modTime() time.Time { return time.Unix(s.Mtim.Unix()) }
func (s stamp) mode() fs.FileMode  { return typeOf(uint32(s.Mode)) | fs.FileMode(s.Mode&0o777) }

// equal reports whether two stamps are of one file that was not changed in
// between. The time of the last change of status shows what the time of
// modification, which anybody can set, does not.
func (s stamp) equal(t stamp) bool {
	return s.Dev == t.Dev && s.Ino == t.Ino && s.Size == t.Size && s.Mtim == t.Mtim && s.Ctim == t.Ctim
}
