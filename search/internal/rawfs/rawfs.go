// Package rawfs lists directories and reads regular files with as few system
// calls and allocations as possible, and opens nothing else: no FIFO, no
// device and no symbolic link. This is about the last element of a path: those
// before it are followed, whatever they are by then.
package rawfs

import (
	"errors"
	"io/fs"
	"os"
)

// ErrNotRegular is the error for opening what is no regular file.
var ErrNotRegular = errors.New("not a regular file")

// A Kind is what a directory entry is. Symbolic links are Other.
type Kind uint8

// The kinds.
const (
	Other Kind = iota
	Regular
	Directory
)

// An Entry is a directory entry.
type Entry struct {
	Name string
	Kind Kind
}

// kindOf returns the kind of a file with the given type.
func kindOf(mode fs.FileMode) Kind {
	switch {
	case mode.IsRegular():
		return Regular
	case mode.IsDir():
		return Directory
	default:
		return Other
	}
}

// A Lister lists directories, one after another. It is for one goroutine.
type Lister struct {
	buf []byte // kept between directories
}

// appendPortably appends the entries of an open directory to dst.
func appendPortably(dst []Entry, f *os.File) ([]Entry, error) {
	entries, err := f.ReadDir(-1)
	for _, e := range entries {
		dst = append(dst, Entry{e.Name(), kindOf(e.Type())})
	}
	return dst, err
}
