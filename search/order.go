package search

import (
	"cmp"
	"strings"
	"unicode/utf8"
)

// An entry is an entry of a directory that the walk goes to.
type entry struct {
	name string
	key  string // what it is sorted by, without the "/" of a directory
	dir  bool
	path string // absolute, "" if it was not needed yet
}

// sortKey returns what a name is sorted by: in lower case, with U+FFFD for what
// is not UTF-8.
func sortKey(name string) string {
	if !utf8.ValidString(name) {
		valid, _ := appendValid(nil, []byte(name))
		name = string(valid)
	}
	return strings.ToLower(name)
}

// compareEntries orders the entries of a directory. Together with what they
// hold that is the order of whole paths without regard to case.
func compareEntries(a, b entry) int {
	n := min(len(a.key), len(b.key))
	if c := strings.Compare(a.key[:n], b.key[:n]); c != 0 {
		return c
	}
	if c := cmp.Compare(a.rest(n), b.rest(n)); c != 0 {
		return c
	}
	return strings.Compare(a.name, b.name)
}

// rest returns the byte of the key behind the first n, with the "/" of a
// directory, or -1.
func (e entry) rest(n int) int {
	switch {
	case len(e.key) > n:
		return int(e.key[n])
	case e.dir:
		return '/'
	default:
		return -1
	}
}
