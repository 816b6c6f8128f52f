package replace

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// A change is an edit with its place in a text whose line endings are all alike.
type change struct {
	entry      int
	start, end int    // what was matched
	from, to   int    // the part of it that is replaced
	insert     string // what takes that part's place, with the line endings of the text
}

// newChange returns the change that puts newText in the place of oldText at the
// given position, with what they have in common left alone.
func newChange(entry, at int, oldText, newText string) change {
	c := change{entry: entry, start: at, end: at + len(oldText)}
	prefix := commonPrefix(oldText, newText)
	suffix := commonSuffix(oldText[prefix:], newText[prefix:])
	c.from, c.to = at+prefix, c.end-suffix
	c.insert = newText[prefix : len(newText)-suffix]
	return c
}

// commonPrefix returns how many bytes of whole characters a and b begin with in
// common. (To cut characters apart would give the same result, except that a
// byte order mark could go unseen.)
func commonPrefix(a, b string) int {
	n, shorter := 0, min(len(a), len(b))
	for n < shorter && a[n] == b[n] {
		n++
	}
	for n < shorter && n > 0 && !utf8.RuneStart(a[n]) {
		n--
	}
	return n
}

// commonSuffix is commonPrefix for the ends.
func commonSuffix(a, b string) int {
	n, shorter := 0, min(len(a), len(b))
	for n < shorter && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	for n > 0 && !utf8.RuneStart(a[len(a)-n]) {
		n--
	}
	return n
}

// sortDisjoint sorts the changes by place and reports the first two that
// overlap.
func sortDisjoint(changes []change) error {
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(a.entry, b.entry))
	})
	for i := 1; i < len(changes); i++ {
		a, b := changes[i-1], changes[i]
		if b.start < a.end {
			e := newError(CodeOverlap, min(a.entry, b.entry), nil)
			e.Other = max(a.entry, b.entry)
			return e
		}
	}
	return nil
}
