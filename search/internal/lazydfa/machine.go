package lazydfa

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
)

// Limits of the states that a Machine keeps.
const (
	maxCacheBytes = 16 << 20
	stateBytes    = 256*8 + 128 // of a state without its set, about

	// maxFlushes is how often the states may be thrown away in one file because
	// they are too many, and once more for every flushBytes of it. Beyond that
	// the automaton gives up: an expression that makes a new state for nearly
	// every byte is matched faster by package regexp.
	maxFlushes = 10
	flushBytes = 4 << 20
)

// A Machine runs a Program. It keeps the states it has made, at most 16 MiB of
// them, and is for one goroutine.
type Machine struct {
	p      *Program
	states map[string]*state
	size   int // of the states, in bytes
	limit  int

	flushes  int
	searched int // bytes of the file that were given to Reset
	lanes    lanes

	// The states that are always there. Nothing leads on from match, in which
	// the line is known to match, and dead, in which it is known not to.
	start, startCR, match, dead *state

	now, next sparseSet
	key       []byte
}

// A state is what may come next, after some bytes of a line.
type state struct {
	next [256]*state // nil: not known yet
	set  []uint32    // nodes that wait for a byte, and assertions about what is next
	context
	ends ending // whether the line matches if it ends here
}

// A context is what assertions have to know of the byte before.
type context uint8

const (
	atStart context = 1 << iota // none: this is the start of a line
	afterCR                     // it is a CR, and an LF would belong to it
	inWord                      // it is a word character
)

type ending uint8

const (
	unknown ending = iota
	matches
	fails
)

// NewMachine returns a Machine for p.
func NewMachine(p *Program) *Machine {
	m := &Machine{p: p, limit: maxCacheBytes, match: new(state), dead: new(state)}
	m.now.init(len(p.nodes))
	m.next.init(len(p.nodes))
	m.clear()
	return m
}

// Begin must be called before each new file.
func (m *Machine) Begin() { m.flushes, m.searched = 0, 0 }

// Reset must be called before each new text of a file, with its size in bytes.
func (m *Machine) Reset(size int) {
	m.searched += size
	m.lanes.ahead = false
}

// Match reports whether a single line, given without its end, matches. It is
// false if the automaton gave up.
func (m *Machine) Match(line []byte) (match, ok bool) {
	if len(line) == 0 {
		return m.matchesAtEnd(m.start), true
	}
	l := m.lane(0, len(line))
	ok = m.run(&l, line)
	return l.found >= 0, ok
}

// step returns the state that b leads to from s.
func (m *Machine) step(s *state, b byte) *state {
	if b == '\n' && s.context&afterCR != 0 {
		return m.start
	}
	if b == '\n' || b == '\r' {
		switch {
		case m.matchesAtEnd(s):
			return m.match
		case b == '\r':
			return m.startCR
		default:
			return m.start
		}
	}
	word := context(0)
	if m.p.words && syntax.IsWordChar(rune(b)) {
		word = inWord
	}
	m.now.clear()
	if m.resolve(s, s.holds(false, word)) {
		return m.match
	}
	m.next.clear()
	for _, n := range m.now.dense {
		for _, e := range m.p.nodes[n].edges {
			if e.lo <= b && b <= e.hi && m.follow(e.out) {
				return m.match
			}
		}
	}
	if m.follow(m.p.start) {
		return m.match
	}
	return m.intern(m.next.dense, word)
}

// matchesAtEnd reports whether the line matches if it ends in s.
func (m *Machine) matchesAtEnd(s *state) bool {
	if s.ends == unknown {
		s.ends = fails
		m.now.clear()
		if m.resolve(s, s.holds(true, 0)) {
			s.ends = matches
		}
	}
	return s.ends == matches
}

// holds returns the assertions that hold behind s if the line ends there, or if
// the next byte is a word character or not.
func (c context) holds(end bool, word context) syntax.EmptyOp {
	var holds syntax.EmptyOp
	if c&atStart != 0 {
		holds |= syntax.EmptyBeginLine | syntax.EmptyBeginText
	}
	if end {
		holds |= syntax.EmptyEndLine | syntax.EmptyEndText
	}
	if c&inWord != word {
		holds |= syntax.EmptyWordBoundary
	} else {
		holds |= syntax.EmptyNoWordBoundary
	}
	return holds
}

// resolve adds to m.now the steps of s, and those behind the assertions that
// hold. It reports whether that reaches a match.
func (m *Machine) resolve(s *state, holds syntax.EmptyOp) bool {
	for _, n := range s.set {
		if m.closure(&m.now, n, holds, false) {
			return true
		}
	}
	return false
}

// follow adds to m.next what can be reached from n without a byte, assertions
// as they are. It reports whether that is a match.
func (m *Machine) follow(n uint32) bool {
	return m.closure(&m.next, n, 0, true)
}

// closure adds to set the steps that can be reached from n without a byte. An
// assertion that does not hold is added too with waiting, and left out
// otherwise. It reports whether a match was reached.
func (m *Machine) closure(set *sparseSet, n uint32, holds syntax.EmptyOp, waiting bool) bool {
	for {
		if !set.mark(n) {
			return false
		}
		node := &m.p.nodes[n]
		switch node.op {
		case opMatch:
			return true
		case opStep:
			set.dense = append(set.dense, n)
			return false
		case opSplit:
			if m.closure(set, node.out, holds, waiting) {
				return true
			}
			n = node.other
		case opJump:
			n = node.out
		case opAssert:
			if node.empty&^holds == 0 {
				n = node.out
				continue
			}
			const start = syntax.EmptyBeginLine | syntax.EmptyBeginText
			if waiting && node.empty&start == 0 { // the start of the line is over
				set.dense = append(set.dense, n)
			}
			return false
		default:
			return false
		}
	}
}

// intern returns the state for a set and a context, which it may make.
func (m *Machine) intern(set []uint32, c context) *state {
	if len(set) == 0 {
		return m.dead
	}
	slices.Sort(set)
	m.key = append(m.key[:0], byte(c))
	for _, n := range set {
		m.key = binary.LittleEndian.AppendUint32(m.key, n)
	}
	if s, ok := m.states[string(m.key)]; ok {
		return s
	}
	s := &state{set: slices.Clone(set), context: c}
	m.states[string(m.key)] = s
	m.size += stateBytes + 2*len(m.key)
	return s
}

// flush throws all states away and returns s made anew. It is false if that was
// done too often.
func (m *Machine) flush(s *state) (*state, bool) {
	if m.flushes++; m.flushes > maxFlushes+m.searched/flushBytes {
		return nil, false
	}
	old := [...]*state{m.start, m.startCR}
	m.clear()
	again := func(s *state) *state {
		switch s {
		case m.match, m.dead:
			return s
		case old[0]:
			return m.start
		case old[1]:
			return m.startCR
		default:
			return m.intern(slices.Clone(s.set), s.context)
		}
	}
	for i := range m.lanes.both {
		if l := &m.lanes.both[i]; l.s != nil {
			l.s = again(l.s)
		}
	}
	return again(s), true
}

// clear throws all states away and makes those that are always there.
func (m *Machine) clear() {
	m.states = make(map[string]*state)
	m.size = 0
	m.start = &state{set: []uint32{m.p.start}, context: atStart}
	m.startCR = &state{set: m.start.set, context: atStart | afterCR}
}

// A sparseSet is a set of nodes: those that were visited, and of these, in
// dense, those to keep.
type sparseSet struct {
	dense   []uint32
	visited []uint32 // the round in which a node was visited last
	round   uint32
}

func (s *sparseSet) init(n int) { s.visited = make([]uint32, n) }

func (s *sparseSet) clear() {
	s.dense = s.dense[:0]
	if s.round++; s.round == 0 {
		clear(s.visited)
		s.round = 1
	}
}

// mark notes that n is visited, and reports whether it was not before.
func (s *sparseSet) mark(n uint32) bool {
	if s.visited[n] == s.round {
		return false
	}
	s.visited[n] = s.round
	return true
}
