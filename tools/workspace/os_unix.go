//go:build unix

package workspace

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// nonBlocking keeps open(2) from waiting for the other end of a FIFO and from
// making a terminal the controlling one.
const nonBlocking = unix.O_NONBLOCK | unix.O_NOCTTY

// openDirectory opens a directory. With O_DIRECTORY, open(2) refuses anything
// else before it has an effect.
func openDirectory(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY|nonBlocking, 0)
}

// Type asks relative to the open directory, so that the answer is about the
// entries that were listed even if the path leads elsewhere by now.
func (d osDir) Type(name string) (fs.FileMode, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(int(d.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return 0, err
	}
	return typeOf(uint32(st.Mode)), nil
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
