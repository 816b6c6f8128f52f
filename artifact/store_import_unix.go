//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package artifact

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// importDir is the directory of an Imports. It can be listed, unlike that of a
// Spool, so its descriptor serves for all that is done in it.
type importDir struct {
	parent, name string
	id           identity
	self         *os.File
	lock         *os.File // open, and so locked, until the directory is gone
}

func makeImportDir(dir, prefix string) (*importDir, error) {
	parent, err := openParent(dir, openSearch)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	name, err := mkdir(parent, func() string { return randomName(prefix) })
	if err != nil {
		return nil, err
	}
	d := &importDir{parent: dir, name: name}
	if err := d.fill(parent); err != nil {
		d.unlock()
		return nil, errors.Join(err, unlinkAll(parent, name, lockName))
	}
	return d, nil
}

// fill opens the new directory and locks it.
func (d *importDir) fill(parent *os.File) error {
	err := at("chmod", parent, d.name, func(dir int) error { return unix.Fchmodat(dir, d.name, modePrivate, 0) })
	if err != nil {
		return err
	}
	if d.self, err = openAt(parent, d.name, unix.O_RDONLY|unix.O_DIRECTORY, 0); err != nil {
		return err
	}
	if d.id, err = setMode(d.self, modePrivate); err != nil {
		return err
	}
	if d.lock, err = createFile(d.self, lockName); err != nil {
		return err
	}
	return flock(d.lock)
}

// inPlace returns nil if the path of the directory still leads to it, and
// fs.ErrNotExist if it leads nowhere or elsewhere.
func (d *importDir) inPlace() error {
	parent, err := openParent(d.parent, openSearch)
	if err != nil {
		return err
	}
	defer parent.Close()
	return d.isOurs(parent)
}

// isOurs returns nil if the name in parent has the directory, and
// fs.ErrNotExist if it has nothing or something else.
func (d *importDir) isOurs(parent *os.File) error {
	st, err := lstatAt(parent, d.name)
	if err == nil && identify(&st) != d.id {
		err = fs.ErrNotExist
	}
	return err
}

// write makes a file with what it reads from r.
func (d *importDir) write(ctx context.Context, name string, r io.Reader) (Imported, error) {
	f, err := createFile(d.self, name)
	if err != nil {
		_ = unlinkAt(d.self, name, 0)
		return Imported{}, notMade(err)
	}
	size, err := copyChunks(ctx, destination{f}, r)
	written := err == nil
	if written {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if written && err != nil {
		err = notMade(err)
	}
	if err != nil {
		return Imported{}, errors.Join(err, unlinkAt(d.self, name, 0))
	}
	return Imported{Path: strings.TrimRight(d.parent, "/") + "/" + d.name + "/" + name, Size: size}, nil
}

// A destination is a file whose errors say that they are not those of the store.
type destination struct{ f *os.File }

func (d destination) Write(p []byte) (int, error) {
	n, err := d.f.Write(p)
	if err != nil {
		err = notMade(err)
	}
	return n, err
}

// remove removes the directory and all below it; one that is gone already is a
// success. Whatever happens, it is not locked any more: nobody may come back to
// try again, so other processes may do it.
func (d *importDir) remove() error {
	defer d.unlock()
	parent, err := openParent(d.parent, openSearch)
	if err != nil {
		return err
	}
	defer parent.Close()
	switch err := d.isOurs(parent); {
	case errors.Is(err, fs.ErrNotExist):
		return nil // this one is not for us to touch
	case err != nil:
		return err
	}
	// Nobody else can exchange an entry of a safe parent, and os.RemoveAll
	// follows no links below.
	return os.RemoveAll(strings.TrimRight(d.parent, "/") + "/" + d.name)
}

// unlock lets sweeps of other processes remove the directory.
func (d *importDir) unlock() {
	if d.self != nil {
		d.self.Close()
	}
	if d.lock != nil {
		d.lock.Close()
	}
}

func sweepImports(dir, prefix string, minAge time.Duration) (removed int, err error) {
	return sweepWith(sweepImportDir, dir, prefix, minAge)
}

// sweepImportDir is sweepEntry for a directory of imports.
func sweepImportDir(parent *os.File, name string, minAge time.Duration) bool {
	if !stale(parent, name, minAge) {
		return false
	}
	files, ok := importedFiles(parent, name)
	if !ok {
		return false
	}
	lock, err := lockDead(parent, name+"/"+lockName)
	if err != nil {
		return false
	}
	defer lock.Close()
	return unlinkAll(parent, name, append(files, lockName)...) == nil
}

// importedFiles returns the names of the imports in a directory, false if it has
// anything else or more than anybody would import.
func importedFiles(parent *os.File, name string) (files []string, ok bool) {
	dir, err := openAt(parent, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, false
	}
	defer dir.Close()
	names, err := dir.Readdirnames(MaxSwept)
	if err != nil && !errors.Is(err, io.EOF) || len(names) == MaxSwept {
		return nil, false
	}
	for _, file := range names {
		if file == lockName {
			continue
		}
		st, err := lstatAt(dir, file)
		if err != nil || !isImported(file) || !isRegular(&st) {
			return nil, false
		}
		files = append(files, file)
	}
	return files, true
}
