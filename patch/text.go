package patch

import (
	"bytes"
	"strings"
)

// A text is the content of a file with the places of its lines, which are
// counted from 0. A line ends in LF, CR LF or CR; the last one may have no end.
type text struct {
	bom    string  // the byte order mark at the start of the file, or ""
	body   string  // what follows it
	starts []int32 // where the lines start in body, and where the last one ends
}

// newText finds the lines of src, which is at most MaxFileBytes long.
func newText(src []byte) *text {
	t := &text{body: string(src)}
	if rest, ok := strings.CutPrefix(t.body, byteOrderMark); ok {
		t.bom, t.body = byteOrderMark, rest
	}
	ends := strings.Count(t.body, "\n") + strings.Count(t.body, "\r")
	t.starts = append(make([]int32, 0, ends+2), 0)
	for i := range len(t.body) {
		if c := t.body[i]; c == '\n' || c == '\r' && !strings.HasPrefix(t.body[i+1:], "\n") {
			t.starts = append(t.starts, int32(i+1))
		}
	}
	if t.body != "" && !endsLine(t.body) {
		t.starts = append(t.starts, int32(len(t.body)))
	}
	return t
}

// endsLine reports whether s ends in LF or CR.
func endsLine[T string | []byte](s T) bool {
	return len(s) > 0 && (s[len(s)-1] == '\n' || s[len(s)-1] == '\r')
}

// len returns the number of lines.
func (t *text) len() int { return len(t.starts) - 1 }

// lines returns the lines from the first to the one before end, line ends
// included.
func (t *text) lines(first, end int) string {
	return t.body[t.starts[first]:t.starts[end]]
}

// content returns line i without its line end.
func (t *text) content(i int) string {
	return strings.TrimSuffix(strings.TrimSuffix(t.lines(i, i+1), "\n"), "\r")
}

// ending returns the line end of line i, "" if it has none.
func (t *text) ending(i int) string {
	return t.lines(i, i+1)[len(t.content(i)):]
}

// A block is a change of a text: lines that follow each other are replaced by
// others.
type block struct {
	start, end int // half-open range of what is replaced
	lines      []string
}

// replace returns the file with blocks replaced, which are in order and do not
// overlap. An added line ends as the lines do that are replaced. A CR and an LF
// that come to lie together are kept apart by an LF between them, so that they
// end two lines as before.
func (t *text) replace(blocks []block) []byte {
	size := len(t.bom) + len(t.body)
	for _, b := range blocks {
		for _, line := range b.lines {
			size += len(line) + len("\r\n")
		}
	}
	out := append(make([]byte, 0, size), t.bom...)
	at := 0
	for _, b := range blocks {
		out = appendLines(out, t.lines(at, b.start))
		ending := t.endingFor(b)
		if len(b.lines) > 0 && len(out) > len(t.bom) && !endsLine(out) {
			out = append(out, ending...) // the last line of the file had none
		}
		for _, line := range b.lines {
			out = appendLines(out, line+ending)
		}
		at = b.end
	}
	return appendLines(out, t.lines(at, t.len()))
}

// appendLines appends lines to others.
func appendLines(out []byte, lines string) []byte {
	if strings.HasPrefix(lines, "\n") && bytes.HasSuffix(out, []byte{'\r'}) {
		out = append(out, '\n')
	}
	return append(out, lines...)
}

// endingFor returns the line end of the lines that b adds: that of the first
// line it replaces, or else of the nearest line before, or else of the nearest
// one after, or else LF.
func (t *text) endingFor(b block) string {
	for i := b.start; i < b.end; i++ {
		if e := t.ending(i); e != "" {
			return e
		}
	}
	for i := b.start - 1; i >= 0; i-- { // at most two rounds: only the last line can lack one
		if e := t.ending(i); e != "" {
			return e
		}
	}
	if b.end < t.len() && t.ending(b.end) != "" {
		return t.ending(b.end)
	}
	return "\n"
}
