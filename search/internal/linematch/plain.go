package linematch

import (
	"regexp/syntax"

	"github.com/taukit/taukit/search/internal/literal"
)

// A plain pattern is one of several texts, or one text between two assertions.
type plain struct {
	set *literal.Set

	// Of a single text: its length and what is asserted around it.
	length        int
	before, after syntax.EmptyOp
}

// plainOf returns the plain pattern that the expression is, nil if it is none.
func plainOf(tree *syntax.Regexp) *plain {
	inner, before, after := cutAssertions(tree)
	literals := language(inner)
	set := literal.NewSet(literals)
	if set == nil || before|after != 0 && len(literals) > 1 {
		return nil
	}
	return &plain{set, literals[0].Len(), before, after}
}

// cutAssertions returns the expression without the assertions at its ends, and
// what these are.
func cutAssertions(re *syntax.Regexp) (inner *syntax.Regexp, before, after syntax.EmptyOp) {
	if re.Op != syntax.OpConcat {
		return re, 0, 0
	}
	subs := re.Sub
	for len(subs) > 0 && assertion(subs[0]) != 0 {
		before |= assertion(subs[0])
		subs = subs[1:]
	}
	for len(subs) > 0 && assertion(subs[len(subs)-1]) != 0 {
		after |= assertion(subs[len(subs)-1])
		subs = subs[:len(subs)-1]
	}
	return &syntax.Regexp{Op: syntax.OpConcat, Sub: subs}, before, after
}

// assertion returns what re asserts, 0 if it is no assertion.
func assertion(re *syntax.Regexp) syntax.EmptyOp {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpBeginText:
		return syntax.EmptyBeginLine
	case syntax.OpEndLine, syntax.OpEndText:
		return syntax.EmptyEndLine
	case syntax.OpWordBoundary:
		return syntax.EmptyWordBoundary
	case syntax.OpNoWordBoundary:
		return syntax.EmptyNoWordBoundary
	default:
		return 0
	}
}

// index returns the position of the first match in data at or after from, or
// -1.
func (p *plain) index(data []byte, from int, c *literal.Cursors) int {
	for {
		at := p.set.Index(data, from, c)
		if at < 0 || p.before|p.after == 0 {
			return at
		}
		if p.before&^holds(data, at) == 0 && p.after&^holds(data, at+p.length) == 0 {
			return at
		}
		from = at + 1
	}
}

// holds returns the assertions that hold in data at the given position.
func holds(data []byte, at int) syntax.EmptyOp {
	before, after := byte('\n'), byte('\n')
	if at > 0 {
		before = data[at-1]
	}
	if at < len(data) {
		after = data[at]
	}
	var ops syntax.EmptyOp
	if before == '\n' || before == '\r' {
		ops |= syntax.EmptyBeginLine
	}
	if after == '\n' || after == '\r' {
		ops |= syntax.EmptyEndLine
	}
	if syntax.IsWordChar(rune(before)) != syntax.IsWordChar(rune(after)) {
		ops |= syntax.EmptyWordBoundary
	} else {
		ops |= syntax.EmptyNoWordBoundary
	}
	return ops
}
