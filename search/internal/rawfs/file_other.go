//go:build !unix

package rawfs

import (
	"io"
	"io/fs"
	"os"
	"syscall"
)

// A File is an open regular file.
type File struct {
	f    *os.File
	size int64
}

// Open opens a regular file. A symbolic link in its place gives an error.
func Open(path string) (File, error) {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		return File{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		f.Close()
		return File{}, err
	}
	return File{f, info.Size()}, nil
}

// Size returns the size of the file when it was opened, in bytes.
func (f File) Size() int64 { return f.size }

// ReadAt reads up to len(p) bytes at an offset. It returns 0 and no error at the
// end of the file. It may be called by several goroutines.
func (f File) ReadAt(p []byte, offset int64) (int, error) {
	n, err := f.f.ReadAt(p, offset)
	if err == io.EOF { //nolint:errorlint // only EOF itself is the end
		err = nil
	}
	return n, err
}

// Close closes the file.
func (f File) Close() { f.f.Close() }

// listPortably is List by package os.
func listPortably(dst []Entry, path string) ([]Entry, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return dst, err
	}
	if !info.IsDir() {
		return dst, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	f, err := os.Open(path)
	if err != nil {
		return dst, err
	}
	defer f.Close()
	return appendPortably(dst, f)
}
