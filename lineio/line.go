package lineio

import (
	"bytes"
	"iter"
	"strconv"
	"unicode/utf8"

	"github.com/taukit/taukit/internal/illformed"
)

// An Ending is how a line ends.
type Ending uint8

// The endings. None, the zero value, is that of a last line without a
// terminator.
const (
	None Ending = iota
	LF
	CRLF
	CR
)

// Flag returns the name that records show for e: "no_nl", "crlf", "cr", or ""
// for LF.
func (e Ending) Flag() string {
	switch e {
	case None:
		return "no_nl"
	case CRLF:
		return "crlf"
	case CR:
		return "cr"
	default:
		return ""
	}
}

// Bytes returns the terminator itself, or "" for None.
func (e Ending) Bytes() string {
	switch e {
	case LF:
		return "\n"
	case CRLF:
		return "\r\n"
	case CR:
		return "\r"
	default:
		return ""
	}
}

// String returns the name of e, for debugging.
func (e Ending) String() string {
	switch e {
	case None:
		return "None"
	case LF:
		return "LF"
	case CRLF:
		return "CRLF"
	case CR:
		return "CR"
	default:
		return "Ending(" + strconv.Itoa(int(e)) + ")"
	}
}

// A Line is one line of a text.
type Line struct {
	Number  int    // 1-based
	Text    []byte // the content without its terminator: a part of the input, never a copy
	End     Ending
	Invalid bool // Text is not well-formed UTF-8
}

// Lines returns the lines of data in order. It allocates nothing for a line.
func Lines(data []byte) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		c := newCutter(data)
		for {
			l, ok := c.next()
			if !ok || !yield(l) || !c.plainLines(yield) {
				return
			}
		}
	}
}

// Split returns all lines of data.
func Split(data []byte) []Line {
	lines := make([]Line, 0, Count(data))
	for l := range Lines(data) {
		lines = append(lines, l)
	}
	return lines
}

// Join returns the text that the lines make up. Join(Split(x)) equals x.
func Join(lines []Line) []byte {
	size := 0
	for _, l := range lines {
		size += len(l.Text) + len(l.End.Bytes())
	}
	out := make([]byte, 0, size)
	for _, l := range lines {
		out = append(out, l.Text...)
		out = append(out, l.End.Bytes()...)
	}
	return out
}

// Count returns the number of lines of data without allocating.
func Count(data []byte) int {
	if len(data) == 0 {
		return 0
	}
	n := bytes.Count(data, []byte{'\n'})
	last := data[len(data)-1]
	if last != '\n' && last != '\r' {
		n++
	}
	for rest := data; ; {
		i := bytes.IndexByte(rest, '\r')
		if i < 0 {
			return n
		}
		rest = rest[i+1:]
		if len(rest) == 0 || rest[0] != '\n' {
			n++
		}
	}
}

// Offset returns where the line with the 1-based number n starts in data, in
// bytes. It is len(data) when data has fewer lines, and 0 when n is less
// than 2.
func Offset(data []byte, n int) int {
	c := newCutter(data)
	c.valid = len(data) // nobody asks whether it is
	for i := 1; i < n; i++ {
		if _, ok := c.next(); !ok {
			break
		}
	}
	return c.at
}

// A cutter cuts the lines off data one by one. It remembers what it found
// ahead, so that each byte is searched and checked once, not once a line.
type cutter struct {
	data   []byte
	at     int // start of the next line
	number int // of the line cut off last

	lf, cr  int // the next LF and CR, len(data) if none; looked up again when less than at
	checked int // end of the window that was checked last
	valid   int // end of that window if it is well-formed UTF-8; less than at, or at, otherwise
}

func newCutter(data []byte) cutter {
	return cutter{data: data, lf: -1, cr: -1}
}

// next cuts off the next line, if there is one.
func (c *cutter) next() (Line, bool) {
	start := c.at
	if start >= len(c.data) {
		return Line{}, false
	}
	if c.lf < start {
		c.lf = indexFrom(c.data, start, '\n')
	}
	if c.cr < start {
		c.cr = indexFrom(c.data, start, '\r')
	}
	end := min(c.lf, c.cr)
	ending, size := LF, 1
	switch {
	case end == len(c.data):
		ending, size = None, 0
	case c.lf < c.cr:
	case c.lf == c.cr+1 && c.lf < len(c.data):
		ending, size = CRLF, 2
	default:
		ending = CR
	}
	invalid := end > c.valid && !c.isValid(start, end)
	c.at = end + size
	c.number++
	return Line{c.number, c.data[start:end:end], ending, invalid}, true
}

// plainLines yields lines as long as they end in LF and lie in the text ahead
// that is known to be well-formed and without CR, which is most text. It
// reports whether to go on.
func (c *cutter) plainLines(yield func(Line) bool) bool {
	end := max(c.at, min(c.cr, c.valid))
	rest, number := c.data[c.at:end], c.number
	for {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			c.at, c.number = end-len(rest), number
			return true
		}
		text := rest[:i:i]
		rest = rest[i+1:]
		number++
		if !yield(Line{number, text, LF, false}) {
			return false
		}
	}
}

// validWindow is how far ahead isValid looks, in bytes.
const validWindow = 16 << 10

// isValid reports whether the line at data[start:end] is well-formed UTF-8,
// and looks ahead: checking a window is much cheaper than each of its lines.
func (c *cutter) isValid(start, end int) bool {
	if start >= c.checked {
		window := c.data[start:min(start+validWindow, len(c.data))]
		window = window[:len(window)-illformed.Incomplete(window)]
		c.checked = start + len(window)
		if utf8.Valid(window) {
			c.valid = c.checked
		}
	}
	return end <= c.valid || utf8.Valid(c.data[start:end])
}

// indexFrom returns the position of the first b at or after from, len(data) if
// there is none.
func indexFrom(data []byte, from int, b byte) int {
	if i := bytes.IndexByte(data[from:], b); i >= 0 {
		return from + i
	}
	return len(data)
}
