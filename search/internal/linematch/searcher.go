package linematch

import (
	"github.com/taukit/taukit/search/internal/lazydfa"
	"github.com/taukit/taukit/search/internal/lines"
	"github.com/taukit/taukit/search/internal/literal"
)

// A Searcher finds the matching lines of one text after another.
type Searcher struct {
	m       *Matcher
	machine *lazydfa.Machine
	text    lines.Text
	cursors literal.Cursors

	// What was learned about the text so far.
	rejected int  // lines that hold what is required and do not match
	dense    bool // there are so many of them that the automaton alone is faster

	// What was learned about the file.
	gaveUp bool // the automaton was no help, or there is none
}

// Begin begins the search of another file. Its texts are then given to Reset.
func (s *Searcher) Begin() {
	if s.machine != nil {
		s.machine.Begin()
	}
	s.gaveUp = s.machine == nil
}

// Reset begins the search of another text of the file.
func (s *Searcher) Reset(t lines.Text) {
	s.text = t
	s.cursors.Reset()
	if s.machine != nil {
		s.machine.Reset(len(t.Data))
	}
	s.rejected, s.dense = 0, false
}

// Next returns the first matching line that starts at or after from, which is
// where a line starts: the start and the end of its content. From one call to
// the next, from must not decrease.
func (s *Searcher) Next(from int) (start, end int, ok bool) {
	switch {
	case from >= len(s.text.Data):
		return 0, 0, false
	case s.m.plain != nil:
		return s.nextPlain(from)
	case s.m.required != nil && !s.dense:
		return s.nextCandidate(from)
	case !s.gaveUp:
		return s.nextByAutomaton(from)
	default:
		return s.nextByRegexp(from)
	}
}

func (s *Searcher) nextPlain(from int) (start, end int, ok bool) {
	at := s.m.plain.index(s.text.Data, from, &s.cursors)
	if at < 0 {
		return 0, 0, false
	}
	return s.text.Start(at, from), s.text.End(at), true
}

// A line is rejected by the automaton in the time in which the automaton alone
// would get about so far, in bytes; the first lines do not count.
const (
	rejectedBytes = 128
	rejectedFree  = 16
)

func (s *Searcher) nextCandidate(from int) (start, end int, ok bool) {
	for {
		at := s.m.required.Index(s.text.Data, from, &s.cursors)
		if at < 0 {
			return 0, 0, false
		}
		start, end = s.text.Start(at, from), s.text.End(at)
		if s.matches(s.text.Data[start:end]) {
			return start, end, true
		}
		from = s.text.After(end)
		s.rejected++
		if s.rejected > rejectedFree && from/s.rejected < rejectedBytes {
			s.dense = true
			return s.Next(from)
		}
	}
}

func (s *Searcher) nextByAutomaton(from int) (start, end int, ok bool) {
	for {
		at, ok := s.machine.Next(s.text.Data, from)
		if !ok {
			s.gaveUp = true
			return s.nextByRegexp(at)
		}
		if at < 0 {
			return 0, 0, false
		}
		start, end = s.text.Start(at, from), s.text.End(at)
		if line := s.text.Data[start:end]; s.certain(line) || s.m.std.Match(line) {
			return start, end, true
		}
		from = s.text.After(end)
	}
}

func (s *Searcher) nextByRegexp(from int) (start, end int, ok bool) {
	for from < len(s.text.Data) {
		end = s.text.End(from)
		if s.m.std.Match(s.text.Data[from:end]) {
			return from, end, true
		}
		from = s.text.After(end)
	}
	return 0, 0, false
}

// matches reports whether a line matches.
func (s *Searcher) matches(line []byte) bool {
	if !s.gaveUp {
		match, ok := s.machine.Match(line)
		if ok {
			return match && (s.certain(line) || s.m.std.Match(line))
		}
		s.gaveUp = true
	}
	return s.m.std.Match(line)
}

// certain reports whether the automaton is right that a line matches.
func (s *Searcher) certain(line []byte) bool {
	return s.m.dfa.Exact() || isASCII(line)
}

func isASCII(line []byte) bool {
	for _, b := range line {
		if b >= 0x80 {
			return false
		}
	}
	return true
}
