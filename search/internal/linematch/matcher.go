// Package linematch finds the lines of a text that match a pattern, with
// results equal to those of package regexp on each line.
//
// It searches whole texts, never line by line: for a pattern that is a text, or
// a few of them, by a plain search; for one that needs a certain text, by a
// plain search for that text and the automaton of package lazydfa on its line;
// else by the automaton alone. Package regexp is asked where the automaton is
// not exact or would be too large.
package linematch

import (
	"regexp/syntax"
	"sync"

	"github.com/taukit/taukit/search/internal/lazydfa"
	"github.com/taukit/taukit/search/internal/literal"
)

// Options switch off what makes a search fast, for tests that compare.
type Options struct {
	NoLiterals  bool // no pattern is searched for as a plain text
	NoPrefilter bool // no plain text is looked for to find the lines to match
	NoAutomaton bool // lines are matched by package regexp
}

// A Line tells whether a single line, given without its end, matches: a
// *regexp.Regexp.
type Line interface {
	Match(line []byte) bool
}

// A Matcher is a compiled pattern. It is safe for concurrent use.
type Matcher struct {
	std Line // nil if plain is the whole pattern

	// The plan: the first of these that is not nil, std if all are.
	plain    *plain           // what to look for, without anything else
	required *literal.Set     // what every line that matches holds
	dfa      *lazydfa.Program // nil if it would be too large

	searchers sync.Pool
}

// NewText returns a Matcher of the lines that hold text, which is not empty and
// holds no line end.
func NewText(text string) *Matcher {
	return &Matcher{plain: &plain{set: literal.NewSet([]literal.Literal{literal.Exact(text)})}}
}

// NewRegexp returns a Matcher for an expression, given in all its forms: std is
// compiled from tree, program from tree simplified. Its flags make "^" and "$"
// the ends of a line. Of the lines with bytes that are not ASCII, std may match
// fewer than the expression does, if that has U+FFFD.
func NewRegexp(tree *syntax.Regexp, program *syntax.Prog, std Line, o Options) *Matcher {
	m := &Matcher{std: std}
	if !o.NoLiterals {
		m.plain = plainOf(tree)
	}
	if m.plain != nil {
		return m
	}
	if !o.NoPrefilter {
		m.required = literal.NewSet(required(tree))
	}
	if !o.NoAutomaton {
		m.dfa, _ = lazydfa.Compile(program)
	}
	return m
}

// Searcher returns a Searcher for one goroutine, which is to be given back with
// Release.
func (m *Matcher) Searcher() *Searcher {
	s, ok := m.searchers.Get().(*Searcher)
	if !ok {
		s = &Searcher{m: m}
		if m.dfa != nil {
			s.machine = lazydfa.NewMachine(m.dfa)
		}
	}
	s.Begin()
	return s
}

// Release gives a Searcher back, to be used again.
func (m *Matcher) Release(s *Searcher) {
	s.text.Data = nil
	m.searchers.Put(s)
}
