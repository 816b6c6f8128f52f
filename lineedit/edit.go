package lineedit

import (
	"bytes"
	"strings"
)

const (
	// MaxEdits is how many edits one call takes.
	MaxEdits = 100
	// ContextLines is how many lines [Mismatch] shows on either side of the
	// line in question.
	ContextLines = 10
)

// An Edit replaces lines of the original. Line numbers are 1-based and those of
// the original, whatever other edits of the call do.
type Edit struct {
	// Start and EndExclusive are the half-open range of lines to replace,
	// 1 <= Start <= EndExclusive <= n+1 in a file of n lines. An empty range
	// inserts before line Start; at n+1 it appends.
	Start, EndExclusive int64

	// NewText is the whole lines that take the place of the range; if it is
	// empty, the range is deleted. Its endings are kept as they are. If the
	// last one is missing it is added: that of the last line replaced, which is
	// none if that line has none, or for an insertion that of the line that
	// follows, else of the nearest line before, else the last one in NewText,
	// else LF. In a file that is not valid UTF-8 it must be ASCII.
	NewText string

	// ContextLine is the content of the line before Start in the original, byte
	// for byte, empty if Start is 1. CR and LF at its end do not count (see
	// [TrimContext]). The byte order mark of the file may be there in front of
	// line 1 or not. A line that is not valid UTF-8 equals no ContextLine.
	ContextLine string
}

// TrimContext returns a context line without the CR and LF characters at its
// end. It is false if others remain: the context is not a single line.
func TrimContext(s string) (string, bool) {
	s = strings.TrimRight(s, "\r\n")
	return s, !strings.ContainsAny(s, "\r\n")
}

// A Result is what edits made of a file.
type Result struct {
	// Content is the new content, never nil. It is the slice given to [Apply]
	// if nothing changed, and shares no memory with it otherwise.
	Content []byte
	Changed bool // the file was missing, or its bytes differ now
	Edits   int  // number of edits applied
	Lines   int  // number of lines of Content
}

// Apply returns src with all edits applied; src itself is not changed. A src
// of nil is a missing file, which differs from an empty one only in that the
// result counts as changed. The order of the edits does not matter, and no
// edits change nothing.
//
// No two edits may have the same Start, and none may start inside the range of
// another. They may touch: an insertion at the end of a range comes behind what
// replaces it.
//
// The lines of the result are those of src with the lines of each range
// replaced by the lines of its NewText. To keep that true, an ending is added
// where an append meets a last line without one, and an LF where a CR would
// otherwise meet an LF and become one ending with it. All other bytes outside
// the ranges stay. A byte order mark is not doubled: if a NewText that begins
// with one comes first behind that of src, it loses it.
//
// An error is always an [*Error], and the result is then empty. It is the first
// of these, each looked for in the order of the edits: too many edits, an edit
// that makes no sense in itself, a range past the end, an overlap (the first in
// the order of lines), a context that does not match, text that is not ASCII
// for a file that is not valid UTF-8.
//
// The time taken is linear in the size of src and of the texts.
func Apply(src []byte, edits []Edit) (Result, error) {
	if err := checkEdits(edits); err != nil {
		return Result{}, err
	}
	t := newText(src)
	if err := checkRanges(t, edits); err != nil {
		return Result{}, err
	}
	sorted, err := sortEdits(t, edits)
	if err != nil {
		return Result{}, err
	}
	if err := checkContexts(t, edits); err != nil {
		return Result{}, err
	}
	if err := checkEncoding(t, edits); err != nil {
		return Result{}, err
	}
	content, lines := compose(t, sorted)
	if src != nil && bytes.Equal(content, src) {
		return Result{Content: src, Edits: len(edits), Lines: t.total}, nil
	}
	return Result{Content: content, Changed: true, Edits: len(edits), Lines: lines}, nil
}
