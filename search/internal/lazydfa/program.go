// Package lazydfa matches regular expressions against the lines of a text with
// a deterministic automaton over bytes whose states are made when they are
// first reached.
//
// It answers which line matches, not where in the line. A line ends at LF, at CR
// LF, or at a CR that no LF follows; its end is never part of it.
//
// On lines of ASCII the answer is that of package regexp. On other lines it is
// too if the [Program] is exact; otherwise a line may be reported that does not
// match, but never the other way round.
package lazydfa

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// A Program is a compiled expression. It is immutable.
type Program struct {
	nodes []node
	start uint32
	exact bool // no line is reported that does not match
	words bool // it looks at word boundaries
}

// A node is one instruction over bytes.
type node struct {
	op    op
	out   uint32
	other uint32         // of a split
	empty syntax.EmptyOp // of an assertion
	edges []edge         // of a step
}

type op uint8

const (
	opFail op = iota
	opMatch
	opSplit  // out and other
	opJump   // out
	opAssert // out, if empty holds
	opStep   // one byte, by edges
)

// An edge leads on for the bytes lo to hi.
type edge struct {
	lo, hi byte
	out    uint32
}

// maxNodes bounds the size of a Program: beyond it states take longer to make
// than package regexp takes to match.
const maxNodes = 100_000

// Compile translates a program of package syntax, whose flags must make "^" and
// "$" the ends of a line. It is false if the result would be too large.
func Compile(prog *syntax.Prog) (*Program, bool) {
	p := &Program{start: uint32(prog.Start), exact: true}
	p.nodes = make([]node, len(prog.Inst), 2*len(prog.Inst))
	for i := range prog.Inst {
		inst := &prog.Inst[i]
		n := node{out: inst.Out}
		switch inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			n.op, n.other = opSplit, inst.Arg
		case syntax.InstCapture, syntax.InstNop:
			n.op = opJump
		case syntax.InstEmptyWidth:
			n.op, n.empty = opAssert, syntax.EmptyOp(inst.Arg)
			p.noteAssertion(n.empty)
		case syntax.InstMatch:
			n.op = opMatch
		case syntax.InstFail:
			n.op = opFail
		default:
			n.op = opStep
			n.edges = p.addRunes(runesOf(inst), inst.Out)
		}
		p.nodes[i] = n
		if len(p.nodes) > maxNodes {
			return nil, false
		}
	}
	return p, true
}

// Exact reports whether lines that are not ASCII are judged rightly too.
func (p *Program) Exact() bool { return p.exact }

// noteAssertion notes what the assertion asks of the automaton. It looks between
// all bytes, package regexp between all characters: inside of a character there
// is never a word boundary, so that \b does not mind.
func (p *Program) noteAssertion(empty syntax.EmptyOp) {
	if empty&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 {
		p.words = true
	}
	if empty&syntax.EmptyNoWordBoundary != 0 {
		p.exact = false
	}
}

// runesOf returns the characters that inst matches, as pairs of first and last.
func runesOf(inst *syntax.Inst) []rune {
	switch inst.Op {
	case syntax.InstRune1:
		return []rune{inst.Rune[0], inst.Rune[0]}
	case syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return []rune{0, unicode.MaxRune}
	}
	if len(inst.Rune) != 1 {
		return inst.Rune
	}
	r := inst.Rune[0]
	runes := []rune{r, r}
	if syntax.Flags(inst.Arg)&syntax.FoldCase != 0 {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			runes = append(runes, f, f)
		}
	}
	return runes
}

// addRunes returns the edges for the given characters, and adds nodes for what
// follows the first byte of longer ones.
func (p *Program) addRunes(runes []rune, out uint32) []edge {
	var t trie
	replacement := false
	for i := 0; i < len(runes); i += 2 {
		lo, hi := runes[i], runes[i+1]
		t.addRange(lo, hi)
		replacement = replacement || lo <= utf8.RuneError && utf8.RuneError <= hi
	}
	edges := p.addTrie(&t, out)
	if replacement {
		// A byte that is not part of a character matches as U+FFFD does. Whether
		// it is one, only the bytes after it tell.
		edges = append(edges, edge{0x80, 0xFF, out})
		p.exact = false
	}
	return edges
}

// addTrie returns the edges of the root of t, and adds nodes for the others.
func (p *Program) addTrie(t *trie, out uint32) []edge {
	var edges []edge
	for _, b := range t.branches {
		if b.end {
			edges = append(edges, edge{b.lo, b.hi, out})
		}
		if b.next != nil {
			inner := p.addTrie(b.next, out)
			p.nodes = append(p.nodes, node{op: opStep, edges: inner})
			edges = append(edges, edge{b.lo, b.hi, uint32(len(p.nodes) - 1)})
		}
	}
	return edges
}
