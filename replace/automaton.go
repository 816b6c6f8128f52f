package replace

// An automaton finds several targets at once (Aho and Corasick, Efficient
// String Matching, 1975). A state is a prefix of some target, state 0 the empty
// one; the automaton is in the state of the longest prefix that the text read
// so far ends with.
//
// The targets are few and may be long, so nearly every state has one way on:
// to the state with the next number. Only the others have a table. That makes
// about eight bytes for each byte of the targets.
type automaton struct {
	label  []byte        // of a state: the byte that leads to it
	moves  []moves       // of a state: the ways on from it
	tables []*[256]int32 // where a byte leads to, 0 if nowhere; the first is that of state 0
	root   *[256]int32
	fail   []int32  // of a state: that of its longest proper suffix
	output []uint16 // of a state: the longest target that it ends with, from 1, or 0

	shorter []uint16 // of a target, from 1: the next longest that it ends with, or 0
}

// moves says which ways on a state has: to the next state, and by the table with
// the number in the other bits, from 1. Each target needs one table at most, and
// state 0 another.
type moves uint8

const (
	toNext    moves = 1 << 7
	tableBits moves = toNext - 1

	_ = uint(int(tableBits) - (MaxEdits + 1)) // there are enough of them
)

// newAutomaton returns the automaton for targets that are different and not
// empty.
func newAutomaton(targets []string) *automaton {
	states := 1
	for _, t := range targets {
		states += len(t)
	}
	a := &automaton{
		label:   make([]byte, 1, states),
		moves:   make([]moves, 1, states),
		output:  make([]uint16, states),
		shorter: make([]uint16, len(targets)+1),
	}
	a.root = a.table(0)
	for i, t := range targets {
		a.output[a.insert(t)] = uint16(i + 1)
	}
	a.fail = make([]int32, len(a.label))
	a.link()
	return a
}

// insert adds a target and returns its state.
func (a *automaton) insert(target string) int32 {
	state, depth := int32(0), 0
	for depth < len(target) {
		next := a.child(state, target[depth])
		if next == 0 {
			break
		}
		state = next
		depth++
	}
	if depth == len(target) {
		return state
	}
	a.table(state)[target[depth]] = int32(len(a.label))
	for ; depth < len(target); depth++ {
		a.label = append(a.label, target[depth])
		a.moves = append(a.moves, toNext)
	}
	last := int32(len(a.label) - 1)
	a.moves[last] = 0
	return last
}

// table returns the table of a state, a new one if it had none.
func (a *automaton) table(state int32) *[256]int32 {
	n := a.moves[state] & tableBits
	if n == 0 {
		a.tables = append(a.tables, new([256]int32))
		n = moves(len(a.tables))
		a.moves[state] |= n
	}
	return a.tables[n-1]
}

// child returns the state that b leads to from a state, 0 if there is none.
func (a *automaton) child(state int32, b byte) int32 {
	if state == 0 {
		return a.root[b]
	}
	m := a.moves[state]
	if m&toNext != 0 && a.label[state+1] == b {
		return state + 1
	}
	if n := m & tableBits; n != 0 {
		return a.tables[n-1][b]
	}
	return 0
}

// step returns the state after b has been read in a state.
func (a *automaton) step(state int32, b byte) int32 {
	for {
		next := a.child(state, b)
		if next != 0 || state == 0 {
			return next
		}
		state = a.fail[state]
	}
}

// link fills fail, output and shorter, shorter prefixes first. There are never
// more prefixes of one length than targets.
func (a *automaton) link() {
	level, next := []int32{0}, []int32(nil)
	for len(level) > 0 {
		for _, s := range level {
			if a.moves[s]&toNext != 0 {
				a.linkState(s, s+1)
				next = append(next, s+1)
			}
			n := a.moves[s] & tableBits
			if n == 0 {
				continue
			}
			for _, child := range a.tables[n-1] {
				if child != 0 {
					a.linkState(s, child)
					next = append(next, child)
				}
			}
		}
		level, next = next, level[:0]
	}
}

// linkState does it for one state, which is a child of the given parent.
func (a *automaton) linkState(parent, s int32) {
	if parent != 0 {
		a.fail[s] = a.step(a.fail[parent], a.label[s])
	}
	inherited := a.output[a.fail[s]]
	if own := a.output[s]; own != 0 {
		a.shorter[own] = inherited
	} else {
		a.output[s] = inherited
	}
}

// live returns the target o, or the longest one that it ends with, that is not
// done, or 0. Targets that are done are passed over only once.
func (a *automaton) live(o uint16, done func(target int) bool) uint16 {
	end := o
	for end != 0 && done(int(end)-1) {
		end = a.shorter[end]
	}
	for o != end {
		o, a.shorter[o] = a.shorter[o], end
	}
	return end
}

// onlyFirst returns the byte that all targets begin with, if it is the same.
func (a *automaton) onlyFirst() (first byte, single bool) {
	n := 0
	for b, child := range a.root {
		if child != 0 {
			first = byte(b)
			n++
		}
	}
	return first, n == 1
}
