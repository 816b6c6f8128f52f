package diff

import (
	"bytes"
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
// either side is not text; or the zero Payload if no line changed.
func For(old, new []byte) Payload {
	switch {
	case !utf8.Valid(old) || !utf8.Valid(new):
		return Payload{Text: "[diff skipped: file is not valid UTF-8]"}
	case bytes.IndexByte(old, 0) >= 0 || bytes.IndexByte(new, 0) >= 0:
		return Payload{Text: "[diff skipped: file looks binary]"}
	}
	s := Compute(old, new)
	if len(s.Hunks) == 0 {
		return Payload{}
	}
	return Payload{Diff: &s}
}

// Compute returns the difference of two texts. Lines end at LF, CR LF or CR and
// are equal if their content and their ending are. The script is a shortest one
// up to 20,000 changed lines, if it is found within a fixed amount of work;
// beyond that it is a valid one. Equal input gives equal output.
func Compute(old, new []byte) Summary {
	c := comparison{split(old), split(new)}
	return c.summary(shortest(c.old, c.new))
}

// A comparison is the lines of two texts, with their endings.
type comparison struct{ old, new [][]byte }

// summary returns the hunks of a script.
func (c comparison) summary(blocks []block) Summary {
	var s Summary
	var open *Hunk
	equal := 0 // the line of old behind the last change
	for _, b := range blocks {
		s.Removed += b.oldHi - b.oldLo
		s.Added += b.newHi - b.newLo
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

func split(text []byte) [][]byte {
	lines := make([][]byte, 0, lineio.Count(text))
	at := 0
	for l := range lineio.Lines(text) {
		end := at + len(l.Text) + len(l.End.Bytes())
		lines = append(lines, text[at:end])
		at = end
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
	c.context(h, at, min(at+contextLines, len(c.old)))
	if h.OldCount > 0 {
		h.OldStart++
	}
	if h.NewCount > 0 {
		h.NewStart++
	}
}

// context adds equal lines to a hunk.
func (c comparison) context(h *Hunk, from, to int) {
	for _, l := range c.old[from:to] {
		h.Lines = append(h.Lines, newLine(Equal, l))
	}
	h.OldCount += to - from
	h.NewCount += to - from
}

// change adds a block to a hunk.
func (c comparison) change(h *Hunk, b block) {
	removed, added := c.old[b.oldLo:b.oldHi], c.new[b.newLo:b.newHi]
	h.OldCount += len(removed)
	h.NewCount += len(added)
	if len(removed) == 1 && len(added) == 1 {
		if l, ok := modified(removed[0], added[0]); ok {
			h.Lines = append(h.Lines, l)
			return
		}
	}
	for _, l := range removed {
		h.Lines = append(h.Lines, newLine(Remove, l))
	}
	for _, l := range added {
		h.Lines = append(h.Lines, newLine(Add, l))
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
	if max(len(oldTokens), len(newTokens)) > maxTokens {
		return Line{}, false
	}
	l := Line{Kind: Modify, OldEnding: oldEnding, NewEnding: newEnding}
	i, j := 0, 0
	for _, b := range append(shortest(oldTokens, newTokens), block{len(oldTokens), len(oldTokens), len(newTokens), len(newTokens)}) {
		l.Old = appendSegment(l.Old, Equal, oldTokens[i:b.oldLo])
		l.New = appendSegment(l.New, Equal, newTokens[j:b.newLo])
		l.Old = appendSegment(l.Old, Remove, oldTokens[b.oldLo:b.oldHi])
		l.New = appendSegment(l.New, Add, newTokens[b.newLo:b.newHi])
		i, j = b.oldHi, b.newHi
	}
	return l, true
}

// tokens cuts a line into runs of white space and runs of everything else.
func tokens(line []byte) [][]byte {
	var list [][]byte
	for len(line) > 0 {
		r, _ := utf8.DecodeRune(line)
		space := unicode.IsSpace(r)
		end := bytes.IndexFunc(line, func(r rune) bool { return unicode.IsSpace(r) != space })
		if end < 0 {
			end = len(line)
		}
		list = append(list, line[:end])
		line = line[end:]
	}
	return list
}

// appendSegment appends tokens as a segment, joined to one of the same kind
// before it.
func appendSegment(segments []Segment, kind Kind, tokens [][]byte) []Segment {
	if len(tokens) == 0 {
		return segments
	}
	text := string(bytes.Join(tokens, nil))
	if n := len(segments); n > 0 && segments[n-1].Kind == kind {
		segments[n-1].Text += text
		return segments
	}
	return append(segments, Segment{kind, text})
}
