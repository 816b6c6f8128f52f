package dirlock

import (
	"cmp"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Overlap reports whether two canonical directories are equal, or one is above
// the other. It compares whole components: /w/ab is not below /w/a.
func Overlap(a, b string) bool { return Covers(a, b) || Covers(b, a) }

// Covers reports whether child is parent, or below it. Both are canonical.
func Covers(parent, child string) bool {
	if parent == "" || !strings.HasPrefix(child, parent) {
		return false
	}
	return len(child) == len(parent) || os.IsPathSeparator(child[len(parent)]) || os.IsPathSeparator(parent[len(parent)-1])
}

// Normalize returns the fewest directories that cover the given ones: sorted by
// the number of components, then by bytes, without duplicates, and without
// those below another. More than [MaxDirs] become their deepest common ancestor.
// All are canonical; the argument is not changed.
func Normalize(dirs []string) []string {
	if len(dirs) <= 1 {
		return slices.Clone(dirs)
	}
	sorted := slices.Clone(dirs)
	slices.SortFunc(sorted, func(a, b string) int {
		return cmp.Or(cmp.Compare(depth(a), depth(b)), cmp.Compare(a, b))
	})
	kept := make(map[string]bool, len(sorted))
	top := sorted[:0]
	for _, dir := range sorted {
		if !hasAncestor(kept, dir) {
			kept[dir] = true
			top = append(top, dir)
		}
	}
	if len(top) <= MaxDirs {
		return top
	}
	common := top[0]
	for _, dir := range top[1:] {
		for !Covers(common, dir) {
			parent := filepath.Dir(common)
			if parent == common {
				return top // on other volumes
			}
			common = parent
		}
	}
	return []string{common}
}

// hasAncestor reports whether dir, or a directory above it, is in the set.
func hasAncestor(set map[string]bool, dir string) bool {
	if set[dir] {
		return true
	}
	for parent := filepath.Dir(dir); parent != dir; parent = filepath.Dir(dir) {
		if set[parent] {
			return true
		}
		dir = parent
	}
	return false
}

// depth returns the number of components of a canonical path.
func depth(path string) int {
	n := 0
	for range components(path) {
		n++
	}
	return n
}

// components yields the components of a canonical path below its root, and the
// length of the path up to the end of each. A volume is a component.
func components(path string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		start := len(filepath.VolumeName(path))
		if start > 0 && !yield(path[:start], start) {
			return
		}
		for start < len(path) {
			if os.IsPathSeparator(path[start]) {
				start++
				continue
			}
			end := start
			for end < len(path) && !os.IsPathSeparator(path[end]) {
				end++
			}
			if !yield(path[start:end], end) {
				return
			}
			start = end
		}
	}
}

// isCanonical reports whether path has the form of a canonical path.
func isCanonical(path string) bool {
	return filepath.IsAbs(path) && len(path) <= MaxPathBytes && !strings.ContainsRune(path, 0) && filepath.Clean(path) == path
}
