package workspace

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
)

// OS is the file system of the host.
//
// What a replaced file keeps depends on the system. On Linux it is all of
// owner, mode, extended attributes and access control lists, or the file is
// rewritten in place. On macOS access control lists are lost, on the BSDs
// extended attributes too. On Windows only the read-only attribute is kept, and
// hard links are not noticed: the other names keep the old content.
type OS struct {
	// NoSync leaves it to the system when to write changes to disk. They are
	// faster then; a crash of the machine may lose them, or leave an empty file.
	NoSync bool

	hooks *hooks // of tests
}

// hooks are told of each step of a change.
type hooks struct {
	step func(name string) error // an error makes the step fail
}

// step is asked before each step of a change.
func (o OS) step(name string) error {
	if o.hooks == nil {
		return nil
	}
	return o.hooks.step(name)
}

// Open opens a regular file. On Linux the file is first found without being
// opened, so that nothing else is ever opened; elsewhere it is looked at, then
// opened without blocking, then looked at again.
func (OS) Open(_ context.Context, name string) (File, error) {
	f, err := openRegular(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &osFile{f, info.Size()}, nil
}

// OpenDir opens a directory.
func (OS) OpenDir(_ context.Context, name string) (Dir, error) {
	f, err := openDirectory(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Canonical resolves the symbolic links in the path of a directory, which must be
// one that can be searched.
func (OS) Canonical(_ context.Context, name string) (string, error) {
	// EvalSymlinks words some errors itself; the system's own come first.
	info, err := os.Stat(join(name, "."))
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", ErrNotDirectory
	}
	return filepath.EvalSymlinks(name)
}

type osFile struct {
	*os.File
	size int64
}

func (f *osFile) Size() int64 { return f.size }

// checkRegular returns the error for opening a file of that type for reading.
func checkRegular(mode fs.FileMode) error {
	switch {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return ErrIsDirectory
	default:
		return ErrNotRegular
	}
}

// openChecked opens a regular file on systems that cannot find a file without
// opening it. What name leads to is looked at before it is opened with the
// given flags, which must keep the opening from blocking, and once more
// afterwards, because it may have changed in between.
func openChecked(name string, flags int) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if err := checkRegular(info.Mode()); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|flags, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = checkRegular(info.Mode())
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
