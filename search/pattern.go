package search

import (
	"bytes"
	"iter"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/taukit/taukit/search/internal/linematch"
	"github.com/taukit/taukit/search/internal/lines"
)

// MaxProgram is the size of the largest pattern, in instructions of package
// regexp.
const MaxProgram = 10_000

// PatternOptions say how a pattern is meant.
type PatternOptions struct {
	// Literal: the pattern is the text to look for, not a regular expression. It
	// is compared byte by byte, or without regard to case character by
	// character, and does not match bytes that are not UTF-8 as U+FFFD.
	Literal bool

	// IgnoreCase: characters match if Unicode simple case folding makes them
	// equal, in a literal too.
	IgnoreCase bool
}

// A Pattern is a compiled pattern, for one line at a time. It is immutable and
// safe for concurrent use.
type Pattern struct {
	matcher *linematch.Matcher
	std     lineRegexp // nil if literal is the whole pattern
	literal []byte
}

// Compile compiles a pattern: unless it is literal, a regular expression as of
// package regexp, with the Perl extensions. "^" and "$", "\A" and "\z" are the
// ends of a line, and \w \d \s \b are about ASCII. Bytes that are not UTF-8
// match as U+FFFD does, one each. An empty pattern matches every line.
//
// The error is a [*PatternError]. A pattern that could never match because it
// spells out CR or LF is an error, and so is a literal that is not UTF-8 if
// case is to be ignored.
//
// The time of a search is linear in the size of what is searched, whatever the
// pattern.
func Compile(pattern string, o PatternOptions) (*Pattern, error) {
	return compile(pattern, o, linematch.Options{})
}

func compile(pattern string, o PatternOptions, how linematch.Options) (*Pattern, error) {
	if strings.ContainsAny(pattern, "\r\n") {
		return nil, &PatternError{Fault: FaultLineBreak}
	}
	text := pattern
	if o.Literal {
		asText := !o.IgnoreCase || utf8.ValidString(text) && !hasCase(text)
		if text != "" && asText && !how.NoLiterals {
			return &Pattern{matcher: linematch.NewText(text), literal: []byte(text)}, nil
		}
		pattern = regexp.QuoteMeta(pattern)
	}
	flags, prefix := syntax.Perl&^syntax.OneLine, "(?m)"
	if o.IgnoreCase {
		flags, prefix = flags|syntax.FoldCase, "(?mi)"
	}
	tree, err := syntax.Parse(pattern, flags)
	if err != nil {
		return nil, syntaxError(err)
	}
	if spellsLineBreak(tree) || hasLineBreakAlternative(pattern) {
		return nil, &PatternError{Fault: FaultLineBreak}
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, syntaxError(err)
	}
	if len(program.Inst) > MaxProgram {
		return nil, errPatternTooLarge()
	}
	var std lineRegexp
	if o.Literal && strings.Contains(text, "\ufffd") {
		std = newFoldedText(text, o.IgnoreCase)
	} else if std, err = regexp.Compile(prefix + pattern); err != nil {
		return nil, syntaxError(err)
	}
	return &Pattern{matcher: linematch.NewRegexp(tree, program, std, how), std: std}, nil
}

// spellsLineBreak reports whether a part of the expression matches CR or LF and
// nothing else.
func spellsLineBreak(re *syntax.Regexp) bool {
	isBreak := func(r rune) bool { return r == '\n' || r == '\r' }
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if isBreak(r) {
				return true
			}
		}
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if lo, hi := re.Rune[i], re.Rune[i+1]; lo != hi || !isBreak(lo) {
				return false
			}
		}
		return len(re.Rune) > 0
	}
	for _, sub := range re.Sub {
		if spellsLineBreak(sub) {
			return true
		}
	}
	return false
}

// patternToken matches the parts of a pattern that is well formed.
var patternToken = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)\\Q.*?(?:\\E|\z)|` + // quoted text
		`\[\^?\]?(?:\[:\^?\w*:\]|\\.|[^\]\\])*\]|` + // a class
		`\\(?:x\{[^}]*\}|x..|[0-7]{1,3}|.)|.`) // an escape; a character
})

// hasLineBreakAlternative reports whether a part of a pattern that is well
// formed spells out CR or LF. It is for single characters that are alternatives,
// as in `a|\n`: the parser makes one class of them.
func hasLineBreakAlternative(pattern string) bool {
	if !strings.Contains(pattern, "|") {
		return false
	}
	for _, t := range patternToken().FindAllString(pattern, -1) {
		if t[0] != '\\' && t[0] != '[' || strings.HasPrefix(t, `\Q`) {
			continue
		}
		if tree, err := syntax.Parse(t, syntax.Perl); err == nil && spellsLineBreak(tree) {
			return true
		}
	}
	return false
}

// Find returns where the leftmost match in a line is, in bytes, or -1, -1. The
// line is given without its end and must not hold CR or LF.
func (p *Pattern) Find(line []byte) (start, end int) {
	if p.std == nil {
		start = bytes.Index(line, p.literal)
		if start < 0 {
			return -1, -1
		}
		return start, start + len(p.literal)
	}
	if at := p.std.FindIndex(line); at != nil {
		return at[0], at[1]
	}
	return -1, -1
}

// A LineMatch is a line that matches.
type LineMatch struct {
	Number     int    // 1-based
	Text       []byte // the content without its end: a part of the input, never a copy
	Start, End int    // the leftmost match in Text, in bytes
}

// Lines returns the lines of data that match, in order. A line ends at LF, at CR
// LF, or at a CR that no LF follows; a last line without an end is one too,
// unless it is empty. A UTF-8 byte order mark at the start belongs to no line.
func (p *Pattern) Lines(data []byte) iter.Seq[LineMatch] {
	return func(yield func(LineMatch) bool) {
		text := lines.New(bytes.TrimPrefix(data, []byte(byteOrderMark)))
		s := p.matcher.Searcher()
		defer p.matcher.Release(s)
		s.Reset(text)
		number, counted := 1, 0
		for from := 0; ; {
			start, end, ok := s.Next(from)
			if !ok {
				return
			}
			number += text.Count(counted, start)
			counted = start
			line := text.Data[start:end:end]
			m, e := p.Find(line)
			if !yield(LineMatch{number, line, m, e}) {
				return
			}
			from = text.After(end)
		}
	}
}

// byteOrderMark is U+FEFF in UTF-8.
const byteOrderMark = "\ufeff"
