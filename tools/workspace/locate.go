package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many symbolic links are followed to a file.
const maxLinks = 40

// locate finds the place that an absolute path leads to. Links are followed as
// the system follows them, one at the end only with follow; but one that leads
// nowhere gives the place where it leads. A path through ".." is taken as it is,
// not shortened: "link/.." is the parent of what the link leads to.
func locate(name string, follow bool) (place, error) {
	for range maxTouches {
		p, err := locateOnce(name, follow)
		if !errors.Is(err, errElsewhere) {
			return p, err
		}
	}
	return place{}, ErrNotFound // such as a link of /proc to a file that was removed
}

// errElsewhere says that links do not lead where they say, or that what they
// lead to was replaced meanwhile.
var errElsewhere = errors.New("not where links lead")

func locateOnce(name string, follow bool) (place, error) {
	links := 0
	var leads *stamp // what the system says that the links lead to; nil if nowhere
	for {
		dir, base := filepath.Split(name)
		if base == "" || base == "." || base == ".." {
			return place{}, noFile(name)
		}
		p, err := openDirectoryOf(dir, &links)
		if err != nil {
			return place{}, err
		}
		p.base = base
		if len(p.missing) > 0 || !follow {
			return p, nil
		}
		target, err := p.readlink()
		if err != nil { // no link; whatever else there is shows later
			return p, p.arrived(leads)
		}
		if leads, err = p.leadsTo(); err == nil {
			if links++; links > maxLinks {
				err = ErrLoop
			}
		}
		_ = p.close()
		if err != nil {
			return place{}, err
		}
		name = targetOf(dir, target)
	}
}

// leadsTo asks the system what a link leads to, because it may forbid to follow
// it (proc(5), protected_symlinks), and because some links of /proc do not lead
// where they say. What is no regular file is an error.
func (p place) leadsTo() (*stamp, error) {
	leads, err := p.stat()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil //nolint:nilnil // nowhere
	case err != nil:
		return nil, err
	}
	return &leads, checkRegular(leads.mode())
}

// arrived reports whether the place is what links were said to lead to.
func (p place) arrived(leads *stamp) error {
	if leads == nil {
		return nil
	}
	if now, err := p.lstat(); err == nil && now.sameFile(*leads) {
		return nil
	}
	_ = p.close()
	return errElsewhere
}

// noFile returns the error of a path that can only name a directory.
func noFile(name string) error {
	_, err := os.Stat(name)
	switch {
	case err == nil:
		return ErrIsDirectory
	case errors.Is(err, fs.ErrNotExist):
		return ErrNoFileName
	default:
		return err
	}
}

// openDirectoryOf opens the directory with a path that ends in a separator, or
// the nearest one above it that exists.
func openDirectoryOf(dir string, links *int) (place, error) {
	p, err := openPlace(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return p, err
	}
	up, last := filepath.Split(strings.TrimRightFunc(dir, isSeparator))
	switch last {
	case "..": // of something that is not there
		return place{}, ErrNotFound
	case "":
		return place{}, err
	}
	if p, err = openDirectoryOf(up, links); err != nil || last == "." {
		return p, err
	}
	if len(p.missing) == 0 {
		target, err := p.at(last).readlink()
		if err == nil { // it leads nowhere, or did so a moment ago
			_ = p.close()
			if *links++; *links > maxLinks {
				return place{}, ErrLoop
			}
			return openDirectoryOf(withSeparator(targetOf(up, target)), links)
		}
	}
	p.missing = append(p.missing, last)
	return p, nil
}

// openPlace opens a directory. Its path ends in a separator, so that the system
// opens nothing else (path_resolution(7)).
func openPlace(dir string) (place, error) {
	d, err := openDirectoryAt(dir)
	if err != nil {
		return place{}, err
	}
	path, err := d.path(dir)
	if err != nil {
		_ = d.close()
		return place{}, err
	}
	return place{openDir: d, dir: path}, nil
}

// targetOf returns the path of the target of a link in a directory.
func targetOf(dir, target string) string {
	if filepath.IsAbs(target) {
		return target
	}
	return dir + target
}

func isSeparator(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) }

func withSeparator(dir string) string {
	if !os.IsPathSeparator(dir[len(dir)-1]) {
		dir += string(filepath.Separator)
	}
	return dir
}
