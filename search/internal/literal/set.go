package literal

// A Set looks for any of several literals. It is immutable; the memory of a
// search is in a [Cursors].
type Set struct {
	finders []*Finder
	blocks  *blocks // for many
}

// MaxCursors is how many literals are looked for one by one. Each costs a pass
// over the text.
const MaxCursors = 4

// MaxSet is the number of literals of the largest Set.
const MaxSet = maxBlocks

// NewSet returns a Set of the given literals. It is nil unless [Fast] holds for
// them.
func NewSet(literals []Literal) *Set {
	if !Fast(literals) {
		return nil
	}
	s := new(Set)
	for _, l := range literals {
		s.finders = append(s.finders, NewFinder(l))
	}
	if len(literals) > MaxCursors {
		s.blocks = newBlocks(s.finders)
	}
	return s
}

// Fast reports whether there is a fast way to look for all of the literals:
// they are a few, or not many and none of them is short. None may be empty.
func Fast(literals []Literal) bool {
	shortest := minBlocksLen
	for _, l := range literals {
		shortest = min(shortest, l.Len())
	}
	switch n := len(literals); {
	case n == 0 || shortest == 0:
		return false
	case n <= MaxCursors:
		return true
	default:
		return n <= MaxSet && shortest == minBlocksLen
	}
}

// Cursors remember where each literal of a Set occurs next in one text, so that
// no part of the text is searched twice for the same literal.
type Cursors struct {
	next []int // of each literal, or len(data) if there is no more
}

// Reset forgets all; it must be called before each new text.
func (c *Cursors) Reset() { c.next = c.next[:0] }

// Index returns the position of the first occurrence of any literal in data at
// or after from, or -1. From one call to the next, from must not decrease.
func (s *Set) Index(data []byte, from int, c *Cursors) int {
	switch {
	case s.blocks != nil:
		return s.blocks.index(data, from)
	case len(s.finders) == 1:
		return s.finders[0].Index(data, from)
	}
	for len(c.next) < len(s.finders) {
		c.next = append(c.next, -1)
	}
	at := len(data)
	for i, f := range s.finders {
		if c.next[i] < from {
			c.next[i] = f.Index(data, from)
			if c.next[i] < 0 {
				c.next[i] = len(data)
			}
		}
		at = min(at, c.next[i])
	}
	if at == len(data) {
		return -1
	}
	return at
}
