package dirlock

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Canonical returns the absolute path, without symbolic links, "." and "..", of
// the existing directory to which dir leads from the directory base. It resolves
// one component after the other, as the kernel does: "link/.." is the parent of
// what the link leads to. "~" and variables mean nothing. The base must be
// absolute.
//
// The error is an [*Error] with an FS code: also for what is no directory.
func Canonical(base, dir string) (string, error) {
	w, err := newWalk(base, dir)
	if err != nil {
		return "", err
	}
	return w.directory()
}

// UnlockDir is Canonical for a directory that may be gone, to release its lock.
// With an error of Canonical, it still returns the path that the lock would
// have: the deepest directory that exists, and the rest of the path. It returns ""
// if ".." is in the rest: what is missing has no parent.
func UnlockDir(base, dir string) (string, error) {
	w, err := newWalk(base, dir)
	if err != nil {
		return "", err
	}
	path, err := w.directory()
	if err == nil {
		return path, nil
	}
	for _, c := range slices.Backward(w.rest) {
		switch c.name {
		case "..":
			return "", err
		case ".":
		default:
			w.at = join(w.at, c.name)
		}
	}
	return w.at, err
}

// WriteDir returns the directory to lock for writing the file at path: the
// canonical one that the file is in, after links at the end of the path were
// followed, there or not. Of missing directories it is the deepest ancestor that
// exists; of a path to a directory, its parent.
func WriteDir(base, path string) (string, error) {
	w, err := newWalk(base, path)
	if err != nil {
		return "", err
	}
	for w.more() {
		mode, err := w.step()
		switch {
		case err == nil && mode.IsDir():
		case err == nil && len(w.rest) == 1: // the file
			return w.at, nil
		case err == nil:
			return "", pathError(syscall.ENOTDIR)
		case w.creatable(err):
			return w.at, nil
		default:
			return "", pathError(err)
		}
	}
	return filepath.Dir(w.at), nil
}

// EntryDir returns the directory to lock for removing or renaming the entry at
// path: the canonical one that the name is in. A link at the end of the path is
// not followed.
func EntryDir(base, path string) (string, error) {
	trimmed := strings.TrimRight(path, separators)
	cut := strings.LastIndexAny(trimmed, separators) + 1
	if name := trimmed[cut:]; name == "" || name == "." || name == ".." || name == filepath.VolumeName(trimmed) {
		dir, err := Canonical(base, path)
		if err != nil {
			return "", err
		}
		return filepath.Dir(dir), nil
	}
	if cut == 0 {
		return Canonical(base, ".")
	}
	return Canonical(base, trimmed[:cut])
}

// A walk resolves a path.
type walk struct {
	at    string      // the canonical directory reached
	rest  []component // what is left, the next one last
	links int         // followed
}

type component struct {
	name  string
	exist bool // it must: it is in the target of a link in the middle of the path
}

func newWalk(base, path string) (*walk, error) {
	if path == "" {
		return nil, pathError(syscall.ENOENT)
	}
	w := &walk{}
	if !w.enter(path, false) {
		if !w.enter(base, false) {
			return nil, invalid("the base directory is not absolute")
		}
		all := w.rest
		w.rest = nil
		w.push(path, false)
		w.rest = append(w.rest, all...)
	}
	return w, nil
}

// enter puts an absolute path before what is left, and begins at its root.
func (w *walk) enter(path string, exist bool) bool {
	volume := filepath.VolumeName(path)
	if len(path) == len(volume) || !os.IsPathSeparator(path[len(volume)]) {
		return false
	}
	if volume == "" {
		volume = filepath.VolumeName(w.at)
	}
	w.at = volume + string(filepath.Separator)
	w.push(path[len(filepath.VolumeName(path)):], exist)
	return true
}

func (w *walk) push(path string, exist bool) {
	names := strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(byte(r)) })
	if n := len(path); n > 0 && os.IsPathSeparator(path[n-1]) {
		names = append(names, ".") // it must be a directory
	}
	for i := len(names) - 1; i >= 0; i-- {
		w.rest = append(w.rest, component{names[i], exist})
	}
}

func (w *walk) more() bool { return len(w.rest) > 0 }

// directory takes all steps, each of which must lead to a directory.
func (w *walk) directory() (string, error) {
	for w.more() {
		mode, err := w.step()
		if err == nil && !mode.IsDir() {
			err = syscall.ENOTDIR
		}
		if err != nil {
			return "", pathError(err)
		}
	}
	return w.at, nil
}

// step resolves the next component. A directory is entered, and a link is
// replaced by its target; for both the mode is that of a directory. Anything else
// is left as the next component.
func (w *walk) step() (fs.FileMode, error) {
	next := w.rest[len(w.rest)-1]
	switch next.name {
	case ".":
		w.pop()
		return fs.ModeDir, nil
	case "..":
		w.pop()
		w.at = filepath.Dir(w.at)
		return fs.ModeDir, nil
	}
	path := join(w.at, next.name)
	info, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	switch {
	case info.IsDir():
		w.pop()
		w.at = path
	case info.Mode()&fs.ModeSymlink != 0:
		if w.links++; w.links > MaxLinks {
			return 0, syscall.ELOOP
		}
		target, err := os.Readlink(path)
		if err != nil {
			return 0, err
		}
		w.pop()
		exist := next.exist || w.more()
		if !w.enter(target, exist) {
			w.push(target, exist)
		}
		return fs.ModeDir, nil // for now
	}
	return info.Mode(), nil
}

func (w *walk) pop() { w.rest = w.rest[:len(w.rest)-1] }

// creatable reports whether err says that the next component is missing, and
// that what is missing can be made as directories and a file.
func (w *walk) creatable(err error) bool {
	if !errors.Is(err, fs.ErrNotExist) || w.rest[len(w.rest)-1].exist {
		return false
	}
	return !slices.ContainsFunc(w.rest, func(c component) bool { return c.name == ".." })
}

func join(dir, name string) string {
	if os.IsPathSeparator(dir[len(dir)-1]) {
		return dir + name
	}
	return dir + string(filepath.Separator) + name
}
