package workspace

import (
	"io/fs"
	"os"
	"time"
)

// A stamp is the state that a file is in, as far as the system tells it.
type stamp struct{ info fs.FileInfo }

// lstat returns the state of what has the name of the place.
func (p place) lstat() (stamp, error) {
	info, err := p.root.Lstat(p.base)
	return stamp{info}, err
}

// stampOf returns the state of an open file.
func stampOf(f *os.File) (stamp, error) {
	info, err := f.Stat()
	return stamp{info}, err
}

func (s stamp) size() int64        { return s.info.Size() }
func (s stamp) links() int         { return 1 } // the system does not say
func (s stamp) modTime() time.Time { return s.info.ModTime() }
func (s stamp) mode() fs.FileMode  { return s.info.Mode() }

// equal reports whether two stamps are of one file that was not changed in
// between.
func (s stamp) equal(t stamp) bool {
	return os.SameFile(s.info, t.info) && s.size() == t.size() && s.modTime().Equal(t.modTime())
}
