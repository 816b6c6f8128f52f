package dirlock

import "slices"

// An Identity tells directories apart that one host can reach: on Unix device
// and inode, on Windows volume and file index. Zero means not known.
type Identity struct{ Device, File uint64 }

// A Dir is a canonical directory with the identities under which it was seen.
//
// Two directories overlap if their paths do, or if the identity of one occurs in
// the other's. That finds what paths do not show: names that a file system takes
// for the same, and bind mounts.
type Dir struct {
	Path string
	// Chain holds the identities of the root, of each directory below it on the
	// path, and last of the directory itself; nil if none is known. It is not
	// changed.
	Chain []Identity
}

// Identify returns a canonical directory with the identities that it and its
// ancestors have now, those that exist.
func Identify(path string) Dir {
	d := Dir{Path: path, Chain: make([]Identity, 0, depth(path)+1)}
	d.Chain = append(d.Chain, rootIdentity(path))
	for _, end := range components(path) {
		d.Chain = append(d.Chain, identityOf(path[:end]))
	}
	return d
}

// self returns the identity of the directory itself.
func (d Dir) self() Identity {
	if len(d.Chain) == 0 {
		return Identity{}
	}
	return d.Chain[len(d.Chain)-1]
}

func (d Dir) overlaps(e Dir) bool {
	return Overlap(d.Path, e.Path) || d.contains(e.self()) || e.contains(d.self())
}

// contains reports whether id is one of the directory or its ancestors.
func (d Dir) contains(id Identity) bool {
	return id != Identity{} && slices.Contains(d.Chain, id)
}

// covers reports whether e is d, or below it.
func (d Dir) covers(e Dir) bool { return Covers(d.Path, e.Path) || e.contains(d.self()) }

// within reports whether d is e or below it, by the path and by the directories
// that are there.
func (d Dir) within(e Dir) bool {
	if !Covers(e.Path, d.Path) || len(d.Chain) < len(e.Chain) {
		return false
	}
	return slices.Equal(d.Chain[:len(e.Chain)], e.Chain)
}
