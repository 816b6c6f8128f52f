package rawfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// listBytes is the size of the buffer for getdents(2).
const listBytes = 64 << 10

// List appends the entries of a directory to dst, in no particular order and
// without "." and "..". What was listed before an error is returned with it.
func (l *Lister) List(dst []Entry, path string) ([]Entry, error) {
	fd, err := openDirectory(path)
	if err != nil {
		return dst, pathError("open", path, err)
	}
	defer unix.Close(fd)
	if l.buf == nil {
		l.buf = make([]byte, listBytes)
	}
	for {
		n, err := retry(func() (int, error) { return unix.Getdents(fd, l.buf) })
		if err != nil {
			return dst, pathError("readdir", path, err)
		}
		if n == 0 {
			return dst, nil
		}
		if dst, err = appendEntries(dst, l.buf[:n], path); err != nil {
			return dst, err
		}
	}
}

// The layout of struct linux_dirent64.
const (
	lengthOffset = unsafe.Offsetof(unix.Dirent{}.Reclen)
	typeOffset   = unsafe.Offsetof(unix.Dirent{}.Type)
	nameOffset   = unsafe.Offsetof(unix.Dirent{}.Name)
)

// appendEntries appends the entries in a buffer that getdents(2) has filled.
func appendEntries(dst []Entry, buf []byte, dir string) ([]Entry, error) {
	for len(buf) >= int(nameOffset) {
		length := int(binary.NativeEndian.Uint16(buf[lengthOffset:]))
		if length < int(nameOffset) || length > len(buf) {
			return dst, nil
		}
		name, _, _ := bytes.Cut(buf[nameOffset:length], []byte{0})
		kind := buf[typeOffset]
		buf = buf[length:]
		if string(name) == "." || string(name) == ".." {
			continue
		}
		e := Entry{Name: string(name)}
		switch kind {
		case unix.DT_REG:
			e.Kind = Regular
		case unix.DT_DIR:
			e.Kind = Directory
		case unix.DT_UNKNOWN: // some file systems do not tell
			info, err := os.Lstat(filepath.Join(dir, e.Name))
			if errors.Is(err, fs.ErrNotExist) {
				continue // it is gone
			}
			if err != nil {
				return dst, err
			}
			e.Kind = kindOf(info.Mode())
		}
		dst = append(dst, e)
	}
	return dst, nil
}
