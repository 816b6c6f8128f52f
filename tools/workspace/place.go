package workspace

import (
	"os"
	"path/filepath"
)

// A place is a name in a directory that exists, or would exist once the missing
// directories were made.
type place struct {
	root    *os.Root // of the directory, or the nearest one that exists
	handle  *os.File // the same directory
	dir     string   // its path without symbolic links
	missing []string // directories to make in it, outermost first
	base    string
}

// child opens the directory with that name in the directory of p.
func (p place) child(name string) (place, error) {
	root, err := p.root.OpenRoot(name)
	if err != nil {
		return place{}, err
	}
	c := place{root: root, dir: filepath.Join(p.dir, name), base: p.base}
	if c.handle, err = root.Open("."); err != nil {
		_ = c.close()
		return place{}, err
	}
	return c, nil
}

// rest returns the path of the file from the directory that exists.
func (p place) rest() string {
	return filepath.Join(filepath.Join(p.missing...), p.base)
}

// key returns the path of the file without symbolic links.
func (p place) key() string {
	return filepath.Join(p.dir, p.rest())
}

func (p place) close() error {
	if p.handle != nil {
		_ = p.handle.Close()
	}
	if p.root != nil {
		return p.root.Close()
	}
	return nil
}
