package workspace

import (
	"io/fs"
	"path/filepath"
)

// A place is a name in a directory that exists, or would exist once the missing
// directories were made.
type place struct {
	openDir          // that is open: the one of the name, or the nearest one that exists
	dir     string   // its path without symbolic links
	missing []string // directories to make in it, outermost first
	base    string
}

// missingError is the error of looking at a name in a directory that is missing.
// Its system calls would look at one with that name higher up.
func (p place) missingError() error {
	if len(p.missing) > 0 {
		return fs.ErrNotExist
	}
	return nil
}

// at returns the place of another name in the directory that is open.
func (p place) at(name string) place {
	return place{openDir: p.openDir, dir: p.dir, base: name}
}

// child opens the directory that has the name of the place.
func (p place) child() (place, error) {
	d, err := p.openChild()
	return place{openDir: d, dir: filepath.Join(p.dir, p.base)}, err
}

// rest returns the path of the file from the directory that is open.
func (p place) rest() string {
	return filepath.Join(filepath.Join(p.missing...), p.base)
}

// key returns the path of the file without symbolic links.
func (p place) key() string { return filepath.Join(p.dir, p.rest()) }
