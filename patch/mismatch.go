package patch

import (
	"fmt"
	"strings"
)

// A MatchError says which hunk does not fit its file, and what is known about
// it. Lines of the file are counted from 1.
type MatchError struct {
	Hunk, Hunks int    // its number, from 1, and that of all
	Anchor      string // the anchor that was not found, "" if it is the lines
	Expected    []Line // the old lines, if they are what was not found
	Places      int    // the number of places where the lines match; 0 if they do not

	Hint     Hint // of lines that were not found
	HintLine int

	// Closest is the part of the file that resembles the expected lines most,
	// with a few lines around, and ClosestLine its first line. Closest is empty
	// if no part does, if the search would take long, and with Places.
	Closest     []string
	ClosestLine int
}

// A Hint says where the lines of a hunk are that were not found.
type Hint uint8

// The hints, in the order in which they are tried.
const (
	BeforeCursor   Hint = iota + 1 // they match exactly before the end of an earlier hunk, and only there
	NotAtEOF                       // they match exactly, but not at the end of the file
	AlreadyApplied                 // what the hunk would make of them is in the file, in one place
)

// Code returns the code of the error: [CodeAmbiguousMatch] with Places,
// [CodeContextMismatch] otherwise.
func (e *MatchError) Code() string {
	if e.Places > 0 {
		return CodeAmbiguousMatch
	}
	return CodeContextMismatch
}

// Error returns one line for developers, without text of the file or the hunk.
func (e *MatchError) Error() string {
	hunk := fmt.Sprintf("patch: hunk %d of %d: ", e.Hunk, e.Hunks)
	switch {
	case e.Places > 0:
		return hunk + fmt.Sprintf("lines match %d places", e.Places)
	case e.Anchor != "":
		return hunk + "context not found"
	default:
		return hunk + "lines not found"
	}
}

// Limits of the search for the closest lines.
const (
	maxCompared = 2_000_000 // lines of the file times old lines
	linesAround = 2         // lines shown before the closest ones, and behind
)

func (l *locator) ambiguous(index, places int) error {
	return &MatchError{
		Hunk: index + 1, Hunks: len(l.hunks),
		Expected: oldLines(l.hunks[index].Lines),
		Places:   places,
	}
}

func (l *locator) anchorMissing(index int, anchor string, from int) error {
	e := &MatchError{Hunk: index + 1, Hunks: len(l.hunks), Anchor: anchor}
	l.closest(e, []Line{{Kind: ' ', Text: anchor}}, from)
	return e
}

// mismatch returns the error of a hunk whose lines were looked for from the
// given line on.
func (l *locator) mismatch(index, from int) error {
	h := &l.hunks[index]
	e := &MatchError{Hunk: index + 1, Hunks: len(l.hunks), Expected: oldLines(h.Lines)}
	e.Hint, e.HintLine = l.hint(h, from)
	l.closest(e, e.Expected, from)
	return e
}

// hint finds out where the lines of a hunk are.
func (l *locator) hint(h *Hunk, from int) (Hint, int) {
	lines := l.pattern(h.Lines)
	if at := l.firstExact(lines, 0); at >= 0 && l.firstExact(lines, l.cursor) < 0 {
		return BeforeCursor, at + 1
	}
	if at := l.firstExact(lines, from); at >= 0 && h.EOF {
		return NotAtEOF, at + 1
	}
	if countOld(h.Lines) < len(h.Lines) {
		added := newLocator(l.text, []Hunk{{Lines: newLines(h.Lines)}})
		lines := added.pattern(added.hunks[0].Lines)
		if at := added.firstExact(lines, 0); at >= 0 && added.firstExact(lines, at+1) < 0 {
			return AlreadyApplied, at + 1
		}
	}
	return 0, 0
}

// firstExact returns the first place of p from the given line on, -1 if there
// is none.
func (l *locator) firstExact(p pattern, from int) int {
	for at := range occurrences(l.numbered(exact), p.numbers[exact], from) {
		return at
	}
	return -1
}

// closest shows the lines of the file that resemble lines most: those with most
// lines in common without the whitespace around them, where blank lines do not
// count. Of equal ones it takes the first from the given line on, or else the
// first of all.
func (l *locator) closest(e *MatchError, lines []Line, from int) {
	n := l.text.len()
	if n*len(lines) > maxCompared {
		return
	}
	wanted, file := l.pattern(lines).numbers[trimmed], l.numbered(trimmed)
	blank := l.numbers[trimmed][""]
	best, at := 0, 0
	for start := range file {
		score := 0
		for i, number := range file[start:min(start+len(wanted), n)] {
			if number == wanted[i] && number != blank {
				score++
			}
		}
		if score > best || score == best && at < from && start >= from {
			best, at = score, start
		}
	}
	if best == 0 {
		return
	}
	first := max(at-linesAround, 0)
	e.ClosestLine = first + 1
	for i := first; i < min(at+len(wanted)+linesAround, n); i++ {
		e.Closest = append(e.Closest, strings.Clone(l.text.content(i)))
	}
}
