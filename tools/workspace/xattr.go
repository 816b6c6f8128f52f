//go:build linux || darwin

package workspace

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// copyXattrs makes the extended attributes of the file fd those of model.
func copyXattrs(fd, model int) error {
	wanted, err := xattrs(model)
	if err != nil {
		return err
	}
	have, err := xattrs(fd)
	if err != nil {
		return err
	}
	for _, name := range have { // such as a list that the directory gives to new files
		if !slices.Contains(wanted, name) {
			if err := unix.Fremovexattr(fd, name); err != nil {
				return err
			}
		}
	}
	for _, name := range wanted {
		value, err := xattr(model, name)
		if err != nil {
			return err
		}
		if old, err := xattr(fd, name); err == nil && bytes.Equal(old, value) {
			continue
		}
		if err := unix.Fsetxattr(fd, name, value, 0); err != nil {
			return err
		}
	}
	return nil
}

// xattrs returns the names of the extended attributes of a file. A file system
// without them has none. File capabilities are left out: the kernel drops them
// from a file that is written to.
func xattrs(fd int) ([]string, error) {
	list, err := sized(func(buf []byte) (int, error) { return unix.Flistxattr(fd, buf) })
	if errors.Is(err, unix.ENOTSUP) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names := strings.FieldsFunc(string(list), func(r rune) bool { return r == 0 })
	return slices.DeleteFunc(names, func(name string) bool { return name == "security.capability" }), nil
}

func xattr(fd int, name string) ([]byte, error) {
	return sized(func(buf []byte) (int, error) { return unix.Fgetxattr(fd, name, buf) })
}

// sized calls get with a buffer that is large enough. Without a buffer get
// returns the size that is needed; it may have grown by the next call.
func sized(get func([]byte) (int, error)) ([]byte, error) {
	for {
		size, err := get(nil)
		if err != nil || size == 0 {
			return nil, err
		}
		buf := make([]byte, size)
		n, err := get(buf)
		if !errors.Is(err, unix.ERANGE) {
			return buf[:max(n, 0)], err
		}
	}
}
