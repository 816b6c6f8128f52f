package workspace

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

func openRegularIn(p place) (*os.File, error) {
	info, err := p.root.Lstat(p.base)
	if err != nil {
		return nil, err
	}
	if err := checkRegular(info.Mode()); err != nil {
		return nil, err
	}
	return p.root.Open(p.base)
}

// checkWritable returns why this process may not write to the file. A file
// that is read-only is meant to stay as it is.
func checkWritable(p place) error {
	f, err := p.root.OpenFile(p.base, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

func refusesNewFile(err error) bool               { return errors.Is(err, fs.ErrPermission) }
func cannotBeReplaced(error) bool                 { return false }
func dropPrivileges(*os.File, stamp)              {}
func removeStale(place)                           {}
func copyAttributes(f, _ *os.File, s stamp) error { return f.Chmod(s.mode()) }

// An openDir is a directory that is open.
type openDir struct {
	root   *os.Root
	handle *os.File
}

// openDirectoryAt opens a directory.
func openDirectoryAt(path string) (d openDir, err error) {
	if d.root, err = os.OpenRoot(path); err != nil {
		return openDir{}, err
	}
	return d.open()
}

func (d openDir) open() (openDir, error) {
	var err error
	if d.handle, err = d.root.Open("."); err != nil {
		_ = d.root.Close()
	}
	return d, err
}

func (d openDir) close() error {
	_ = d.handle.Close()
	return d.root.Close()
}

// path returns the path of the directory without symbolic links.
func (d openDir) path(path string) (string, error) { return filepath.EvalSymlinks(path) }

// openChild opens the directory that has the name of the place.
func (p place) openChild() (openDir, error) {
	root, err := p.root.OpenRoot(p.base)
	if err != nil {
		return openDir{}, err
	}
	return openDir{root: root}.open()
}

// readlink returns where the link leads that has the name of the place.
func (p place) readlink() (string, error) { return p.root.Readlink(p.base) }

// mkdir makes a directory with the name of the place.
func (p place) mkdir() error {
	if err := p.missingError(); err != nil {
		return err
	}
	return p.root.Mkdir(p.base, 0o777)
}

// createExclusive makes a file with the name of the place.
func (p place) createExclusive() (*os.File, error) {
	return p.root.OpenFile(p.base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// exists returns nil if there is something at the place, below directories that
// may have been made by now.
func (p place) exists() error {
	_, err := p.root.Lstat(p.rest())
	return err
}

// stat returns the state of the file that the name of the place leads to.
func (p place) stat() (stamp, error) {
	info, err := os.Stat(filepath.Join(p.dir, p.base))
	return newStamp(info, err), err
}

// lockFile does nothing here.
func lockFile(context.Context, *os.File) (unlock func(), locked bool) { return func() {}, false }

func openForWriting(p place) (*os.File, error) { return p.root.OpenFile(p.base, os.O_RDWR, 0) }

// removeName removes what has the name of the place.
func removeName(p place) error {
	if err := p.missingError(); err != nil {
		return err
	}
	return p.root.Remove(p.base)
}

// removeDirectory removes the directory that has the name of the place, if it
// is empty.
func removeDirectory(p place) error {
	if err := p.missingError(); err != nil {
		return err
	}
	return p.root.Remove(p.base)
}

// linkAt gives a file a second name, unless that is taken.
func linkAt(from, to place) error {
	if err := cmp.Or(from.missingError(), to.missingError()); err != nil {
		return err
	}
	return os.Link(filepath.Join(from.dir, from.base), filepath.Join(to.dir, to.base))
}

// A pendingFile is a temporary file that waits to get the name of its place.
type pendingFile struct {
	*os.File
	place place
	name  string
	named bool
}

func newPending(p place, perm fs.FileMode) (*pendingFile, error) {
	for {
		name := ".taukit-" + strconv.FormatInt(rand.Int64(), 10)
		f, err := p.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		if err == nil {
			return &pendingFile{f, p, name, false}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
}

// replace renames the file over what has the name. An open file cannot be
// renamed here.
func (t *pendingFile) replace(bool) error {
	if err := t.Close(); err != nil {
		return err
	}
	err := t.place.root.Rename(t.name, t.place.base)
	t.named = err == nil
	return err
}

func (t *pendingFile) create(bool) error { return errors.ErrUnsupported }

// temporary returns the place of the temporary file itself.
func (t *pendingFile) temporary() place { return t.place.at(t.name) }

// Cleanup closes the file, and removes it unless it has got its name.
func (t *pendingFile) Cleanup() error {
	err := t.Close()
	if t.named {
		return err
	}
	return t.place.root.Remove(t.name)
}
