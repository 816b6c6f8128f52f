package workspace

import (
	"io/fs"
	"os"
	"time"
)

// A stamp is the state that a file is in, as far as the system tells it. It is
// comparable. Which file it is cannot be part of it here.
type stamp struct {
	length int64
	mtime  int64 // in nanoseconds
	bits   fs.FileMode
}

// lstat returns the state of what has the name of the place.
func (p place) lstat() (stamp, error) {
	if err := p.missingError(); err != nil {
		return stamp{}, err
	}
	info, err := p.root.Lstat(p.base)
	return newStamp(info, err), err
}

// stampOf returns the state of an open file.
func stampOf(f *os.File) (stamp, error) {
	info, err := f.Stat()
	return newStamp(info, err), err
}

func newStamp(info fs.FileInfo, err error) stamp {
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime().UnixNano(), info.Mode()}
}

func (s stamp) size() int64         { return s.length }
func (s stamp) links() int          { return 1 } // it is not asked: see OS
func (s stamp) lastTime() time.Time { return time.Unix(0, s.mtime) }
func (s stamp) mode() fs.FileMode   { return s.bits }

// sameFile cannot be told here.
func (s stamp) sameFile(stamp) bool { return true }

// inode returns one name for all files: they take turns.
func (s stamp) inode() string { return "file" }
