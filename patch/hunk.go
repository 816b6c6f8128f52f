package patch

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"
)

// Match says how strict [ApplyHunks] is.
type Match struct {
	// RequireUnique refuses lines that match exactly in several places, if
	// neither an anchor nor the end of the file says which one is meant. Without
	// it the first place is used.
	RequireUnique bool
}

// A Note tells that the place of a hunk deserves a second look.
type Note struct {
	Path   string // of the file, as first written in the patch; "" from ApplyHunks
	Hunk   int    // its number in its section, from 1
	Kind   NoteKind
	Line   int // the first line that matched, from 1, in the file as the section found it
	Places int // of a Repeated one: the number of places, at least 2
}

// A NoteKind says what a [Note] is about.
type NoteKind uint8

// The kinds of notes.
const (
	TrailingSpace NoteKind = iota + 1 // whitespace at the ends of lines was ignored
	Indentation                       // whitespace in front of context lines was ignored too
	Repeated                          // the lines match in several places; the first one was used
)

// ApplyHunks returns the bytes of a file with hunks applied. It is safe for
// concurrent use, never changes old, and the result shares no memory with it.
//
// Hunks come in the order of the file: none matches before the end of the one
// before it. Each of its anchors is looked for below the last, and then its old
// lines, which are context and removed ones and must follow each other: exactly,
// in the first place where they are; or else without the whitespace at the ends
// of lines; or else without that in front of context lines too. In the last two
// forms there must be one place only. If there is none, blank lines at the end
// of the hunk are taken for separators, or for the end of the file; and after
// that the old lines may start with the last anchor itself. A hunk without old
// lines adds its lines below its last anchor, or at the end of the file.
//
// Only removed lines go, and only added ones come. Context keeps the bytes that
// it has in the file, line ends included, and so does a byte order mark. An
// added line ends as the line it replaces, or one nearby.
//
// The error is a [*MatchError] if a hunk does not fit, the error of ctx, which is
// looked at between hunks, or an [*Error]: the file or the result is over
// [MaxFileBytes], the file has NUL bytes, or it is not UTF-8 and an added line is
// not ASCII. Time is linear in the size of the file for each hunk, and, up to a
// bound, for each run of removed lines in a hunk that is matched in the third
// form.
func ApplyHunks(ctx context.Context, old []byte, hunks []Hunk, m Match) ([]byte, []Note, error) {
	if err := checkContent(old); err != nil {
		return nil, nil, err
	}
	l := newLocator(newText(old), hunks)
	var blocks []block
	var notes []Note
	for i := range hunks {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		p, err := l.locate(i, m)
		if err != nil {
			return nil, nil, err
		}
		blocks = append(blocks, blocksOf(p)...)
		if p.note != nil {
			notes = append(notes, *p.note)
		}
	}
	if !utf8.Valid(old) && !addsASCII(hunks) {
		return nil, nil, errNotASCII
	}
	// Only additions at the end of the file can be out of order.
	slices.SortStableFunc(blocks, func(a, b block) int { return cmp.Compare(a.start, b.start) })
	result := l.text.replace(blocks)
	if len(result) > MaxFileBytes {
		return nil, nil, errResultTooLarge
	}
	return result, notes, nil
}

// checkContent checks whether a file is one for hunks.
func checkContent(data []byte) error {
	if len(data) > MaxFileBytes {
		return ErrTooLarge
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return errBinary
	}
	return nil
}

// addsASCII reports whether all added lines are ASCII.
func addsASCII(hunks []Hunk) bool {
	for _, h := range hunks {
		for _, l := range h.Lines {
			if !l.old() && strings.ContainsFunc(l.Text, func(r rune) bool { return r >= utf8.RuneSelf }) {
				return false
			}
		}
	}
	return true
}

// blocksOf returns the changes that a hunk makes in its place.
func blocksOf(p placement) []block {
	var blocks []block
	at, open := p.start, false
	for _, l := range p.lines {
		if l.Kind == ' ' {
			at, open = at+1, false
			continue
		}
		if !open {
			blocks, open = append(blocks, block{start: at, end: at}), true
		}
		b := &blocks[len(blocks)-1]
		if l.Kind == '+' {
			b.lines = append(b.lines, l.Text)
		} else {
			at++
			b.end = at
		}
	}
	return blocks
}
