package confine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// A Plan says which directories a command sees read-only, each with all that is
// below it. Paths are absolute; symbolic links in them are followed.
//
// Of directories inside one another the innermost decides, so that a Writable
// one stays as writable as it was inside a ReadOnly one, and the other way round.
// A directory that is in both lists is read-only.
type Plan struct {
	ReadOnly []string
	Writable []string

	// StateDir is where [Chain.Start] may make a private temporary directory if
	// the system has no better place; empty for none.
	StateDir string
}

// A PlanError says that a directory of a [Plan] cannot be protected because
// there is none, or none that this process can reach. No method is to blame.
type PlanError struct {
	Dir string
	Err error // of the system, or errNotAbsolute
}

func (e *PlanError) Error() string { return "confine: " + quote(e.Dir) + ": " + e.Err.Error() }

// Unwrap returns the error of the system.
func (e *PlanError) Unwrap() error { return e.Err }

var errNotAbsolute = errors.New("not an absolute path")

// canonical returns the plan with all symbolic links resolved, or a [*PlanError].
func (p Plan) canonical() (Plan, error) {
	readOnly, err := canonical(p.ReadOnly)
	if err != nil {
		return Plan{}, err
	}
	writable, err := canonical(p.Writable)
	if err != nil {
		return Plan{}, err
	}
	return Plan{ReadOnly: readOnly, Writable: writable, StateDir: p.StateDir}, nil
}

func canonical(dirs []string) ([]string, error) {
	result := make([]string, 0, len(dirs))
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			return nil, &PlanError{dir, errNotAbsolute}
		}
		path, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil, &PlanError{dir, cause(err)}
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, &PlanError{dir, cause(err)}
		}
		if !info.IsDir() {
			return nil, &PlanError{dir, syscall.ENOTDIR}
		}
		result = append(result, path)
	}
	return result, nil
}

// cause returns what the system said, without the operation and the path.
func cause(err error) error {
	var e *os.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// A layer is a directory from which on downwards a mode holds, up to the next
// layer.
type layer struct {
	path     string
	readOnly bool
}

// layers returns what the directories come to, each layer behind those that
// contain it, and without those that change nothing. All paths are canonical.
func layers(readOnly, writable []string) []layer {
	all := make([]layer, 0, len(readOnly)+len(writable))
	for _, path := range readOnly {
		all = append(all, layer{path, true})
	}
	for _, path := range writable {
		if !slices.Contains(readOnly, path) {
			all = append(all, layer{path, false})
		}
	}
	// A path sorts behind every path that it begins with.
	slices.SortFunc(all, func(a, b layer) int { return strings.Compare(a.path, b.path) })
	kept := all[:0]
	for _, l := range all {
		if protected(kept, l.path) != l.readOnly {
			kept = append(kept, l)
		}
	}
	return kept
}

// protected reports whether path, a canonical one, is read-only.
func protected(layers []layer, path string) bool {
	for _, l := range slices.Backward(layers) {
		if within(l.path, path) {
			return l.readOnly
		}
	}
	return false
}

// containsProtected reports whether something below path is read-only.
func containsProtected(layers []layer, path string) bool {
	return slices.ContainsFunc(layers, func(l layer) bool {
		return l.readOnly && l.path != path && within(path, l.path)
	})
}

// within reports whether path is dir or lies in it. Both are clean.
func within(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, string(os.PathSeparator)))
	return ok && (rest == "" || os.IsPathSeparator(rest[0]))
}
