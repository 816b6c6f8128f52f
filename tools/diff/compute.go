package diff

import (
	"bytes"
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/taukit/taukit/lineio"
)

// Limits of the form that people see.
const (
	contextLines  = 3    // equal lines around a change
	maxModifyLine = 4096 // bytes of a line whose words are compared
	maxTokens     = 1000 // words and white space of such a line
)

// For returns what a user interface gets of a change: the diff; or a note if
// either side is not text; or the zero Payload if no line changed. A diff that
// cannot fit in [DefaultPayload] has its totals, but no hunks: see
// [Summary.Truncated].
func For(old, new []byte) Payload {
	switch {
	case !utf8.Valid(old) || !utf8.Valid(new):
		return Payload{Text: "[diff skipped: file is not valid UTF-8]"}
	case bytes.IndexByte(old, 0) >= 0 || bytes.IndexByte(new, 0) >= 0:
		return Payload{Text: "[diff skipped: file looks binary]"}
	}
	s := Within(old, new, DefaultPayload)
	if s.Added+s.Removed == 0 {
		return Payload{}
	}
	return Payload{Diff: &s}
}

// Compute returns the difference of two texts. Lines end at LF, CR LF or CR and
// are equal if their content and their ending are. The script is a shortest one
// up to 20,000 changed lines, if it is found within a fixed amount of work;
// beyond that it is a valid one. Equal input gives equal output.
func Compute(old, new []byte) Summary { return Within(old, new, math.MaxInt) }

// Within is Compute for a payload that has room for limit bytes of JSON. Hunks
// that take more are left out: see [Summary.Truncated].
func Within(old, new []byte, limit int) Summary {
	c := comparison{split(old), split(new)}
	return c.summary(shortest(c.old, c.new), limit)
}

// A comparison is the lines of two texts, with their endings.
type comparison struct{ old, new items }

// summary returns the hunks of a script.
func (c comparison) summary(blocks []block, limit int) Summary {
	s := Summary{Truncated: c.leastSize(blocks, limit) > limit}
	var open *Hunk
	equal := 0 // the line of old behind the last change
	for _, b := range blocks {
		s.Removed += b.oldHi - b.oldLo
		s.Added += b.newHi - b.newLo
		if s.Truncated {
			continue
		}
		if open == nil || b.oldLo-equal > 2*contextLines {
			c.finish(open, equal)
			s.Hunks = append(s.Hunks, c.begin(b))
			open = &s.Hunks[len(s.Hunks)-1]
		} else {
			c.context(open, equal, b.oldLo)
		}
		c.change(open, b)
		equal = b.oldHi
	}
	c.finish(open, equal)
	return s
}

// leastSize returns what changed lines take at least as JSON, in bytes, or any
// size over limit if it is over that.
func (c comparison) leastSize(blocks []block, limit int) (size int) {
	const perLine = len(`{"kind":"add","text":""},`)
	for _, b := range blocks {
		removed, added := b.oldHi-b.oldLo, b.newHi-b.newLo
		size += max(removed, added) * perLine // two may become one
		for i := b.oldLo; i < b.oldHi && size <= limit; i++ {
			size += len(c.old.at(i)) - len("\r\n")
		}
		for i := b.newLo; i < b.newHi && size <= limit; i++ {
			size += len(c.new.at(i)) - len("\r\n")
		}
		if size > limit {
			break
		}
	}
	return size
}

// Items are a text cut into pieces: lines with their endings, or tokens.
type items struct {
	text []byte
	ends []int // where each piece ends, and the next one begins
}

func (it items) len() int { return len(it.ends) }

func (it items) at(i int) []byte { return it.between(i, i+1) }

// between returns the pieces from the first to the one before end.
func (it items) between(first, end int) []byte {
	from, to := 0, 0
	if first > 0 {
		from = it.ends[first-1]
	}
	if end > 0 {
		to = it.ends[end-1]
	}
	return it.text[from:to]
}

func split(text []byte) items {
	lines := items{text, make([]int, 0, lineio.Count(text))}
	at := 0
	for l := range lineio.Lines(text) {
		at += len(l.Text) + len(l.End.Bytes())
		lines.ends = append(lines.ends, at)
	}
	return lines
}

// begin returns a hunk that starts with the context before b.
func (c comparison) begin(b block) Hunk {
	before := min(b.oldLo, contextLines)
	h := Hunk{OldStart: b.oldLo - before, NewStart: b.newLo - before} // lines before the hunk, for now
	c.context(&h, b.oldLo-before, b.oldLo)
	return h
}

// finish adds the context behind the last change of a hunk, which ends before
// line at of old, and completes its numbers.
func (c comparison) finish(h *Hunk, at int) {
	if h == nil {
		return
	}
	c.context(h, at, min(at+contextLines, c.old.len()))
	if h.OldCount > 0 {
		h.OldStart++
	}
	if h.NewCount > 0 {
		h.NewStart++
	}
}

// context adds equal lines to a hunk.
func (c comparison) context(h *Hunk, from, to int) {
	for i := from; i < to; i++ {
		h.Lines = append(h.Lines, newLine(Equal, c.old.at(i)))
	}
	h.OldCount += to - from
	h.NewCount += to - from
}

// change adds a block to a hunk.
func (c comparison) change(h *Hunk, b block) {
	removed, added := b.oldHi-b.oldLo, b.newHi-b.newLo
	h.OldCount += removed
	h.NewCount += added
	if removed == 1 && added == 1 {
		if l, ok := modified(c.old.at(b.oldLo), c.new.at(b.newLo)); ok {
			h.Lines = append(h.Lines, l)
			return
		}
	}
	h.Lines = slices.Grow(h.Lines, removed+added)
	for i := b.oldLo; i < b.oldHi; i++ {
		h.Lines = append(h.Lines, newLine(Remove, c.old.at(i)))
	}
	for i := b.newLo; i < b.newHi; i++ {
		h.Lines = append(h.Lines, newLine(Add, c.new.at(i)))
	}
}

func newLine(kind Kind, line []byte) Line {
	text, ending := cutEnding(line)
	return Line{Kind: kind, Text: string(text), Ending: ending}
}

// cutEnding cuts the terminator off a line.
func cutEnding(line []byte) ([]byte, Ending) {
	n := len(line)
	switch {
	case bytes.HasSuffix(line, []byte("\r\n")):
		return line[:n-2], CRLF
	case bytes.HasSuffix(line, []byte("\n")):
		return line[:n-1], ""
	case bytes.HasSuffix(line, []byte("\r")):
		return line[:n-1], CR
	default:
		return line, None
	}
}

// modified returns one line that shows the words by which two lines differ,
// unless they are too long for that.
func modified(old, new []byte) (Line, bool) {
	oldText, oldEnding := cutEnding(old)
	newText, newEnding := cutEnding(new)
	if max(len(oldText), len(newText)) > maxModifyLine {
		return Line{}, false
	}
	oldTokens, newTokens := tokens(oldText), tokens(newText)
	if max(oldTokens.len(), newTokens.len()) > maxTokens {
		return Line{}, false
	}
	l := Line{Kind: Modify, OldEnding: oldEnding, NewEnding: newEnding}
	i, j := 0, 0
	for _, b := range append(shortest(oldTokens, newTokens), block{oldTokens.len(), oldTokens.len(), newTokens.len(), newTokens.len()}) {
		l.Old = appendSegment(l.Old, Equal, oldTokens.between(i, b.oldLo))
		l.New = appendSegment(l.New, Equal, newTokens.between(j, b.newLo))
		l.Old = appendSegment(l.Old, Remove, oldTokens.between(b.oldLo, b.oldHi))
		l.New = appendSegment(l.New, Add, newTokens.between(b.newLo, b.newHi))
		i, j = b.oldHi, b.newHi
	}
	return l, true
}

// tokens cuts a line into runs of white space and runs of everything else.
func tokens(line []byte) items {
	list := items{text: line}
	for at := 0; at < len(line); {
		r, _ := utf8.DecodeRune(line[at:])
		space := unicode.IsSpace(r)
		n := bytes.IndexFunc(line[at:], func(r rune) bool { return unicode.IsSpace(r) != space })
		if n < 0 {
			n = len(line) - at
		}
		at += n
		list.ends = append(list.ends, at)
	}
	return list
}

// appendSegment appends text as a segment, joined to one of the same kind before
// it.
func appendSegment(segments []Segment, kind Kind, text []byte) []Segment {
	if len(text) == 0 {
		return segments
	}
	if n := len(segments); n > 0 && segments[n-1].Kind == kind {
		segments[n-1].Text += string(text)
		return segments
	}
	return append(segments, Segment{kind, string(text)})
}
