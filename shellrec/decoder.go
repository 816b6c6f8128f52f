package shellrec

import (
	"bytes"
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/taukit/taukit/internal/illformed"
)

// DefaultLineLimit is how many bytes of the text of a line a decoder keeps,
// unless it is told otherwise.
const DefaultLineLimit = 16 << 20

// longLine is how long a line is, in bytes, that gets room for all that is kept
// of one: to grow towards that in steps takes more than twice the memory.
const longLine = 1 << 20

// A Decoder cuts one stream into records. The zero value is ready for stdout. It
// is not safe for concurrent use.
//
// A line ends at LF, at CR LF, or at a CR that no LF follows, and at nothing
// else. How the bytes are cut into writes makes no difference: a decoder waits
// for the byte after a CR, and for the rest of a character.
type Decoder struct {
	// Stream is the stream that the records are of.
	Stream Stream
	// Limit is how many bytes of the text of one line are kept, cut at a
	// character boundary; the rest is judged and counted, then dropped. 0 means
	// DefaultLineLimit.
	Limit int

	flood *flood // of a Log that wants only the last records, or nil

	carry   string          // read but undecided: a CR, or the start of a character
	line    strings.Builder // the text of the line so far
	mended  []byte          // scratch: text with replacements
	flags   Flags
	omitted int64
}

// Write decodes p, which it does not keep, and calls emit for each line that is
// complete. The texts of one Write may share memory: keep a copy
// ([strings.Clone]) of one that is to be kept for long.
func (d *Decoder) Write(p []byte, emit func(Record)) {
	p = p[d.skip(p):]
	if len(p) == 0 {
		return
	}
	if d.carry == "" && bytes.IndexByte(p, '\n') < 0 && bytes.IndexByte(p, '\r') < 0 && utf8.Valid(p) {
		keep(d, p, d.line.Write)
		return
	}
	chunk := d.carry + string(p)
	cut := len(chunk) - undecided(chunk)
	chunk, d.carry = chunk[:cut], chunk[cut:]

	valid := utf8.ValidString(chunk)
	lf, cr := index(chunk, 0, '\n'), index(chunk, 0, '\r')
	start := 0
	for {
		end := min(lf, cr)
		if end == len(chunk) {
			break
		}
		ending, next := Flags(0), end+1
		switch {
		case lf < cr:
		case lf == cr+1 && lf < len(chunk):
			ending, next = CRLF, lf+1
		default:
			ending = CR
		}
		d.end(chunk[start:end], valid, ending, emit)
		start = next
		if lf < start {
			lf = index(chunk, start, '\n')
		}
		if cr < start {
			cr = index(chunk, start, '\r')
		}
	}
	d.add(chunk[start:], valid)
}

// skip hands the lines of p to the flood if they are many, all of them end in LF,
// and they are UTF-8. It returns where the rest begins.
func (d *Decoder) skip(p []byte) int {
	if d.flood == nil || d.carry != "" || len(p) > d.limit() {
		return 0
	}
	first, end := bytes.IndexByte(p, '\n'), bytes.LastIndexByte(p, '\n')
	last := end // the LF before the last lines
	for range d.flood.last {
		if last <= first {
			return 0
		}
		last = bytes.LastIndexByte(p[:last], '\n')
	}
	if last <= first || bytes.IndexByte(p[:end], '\r') >= 0 || !utf8.Valid(p[:end]) {
		return 0
	}
	d.end(string(p[:first]), true, 0, d.flood.drop) // it may have begun in an earlier chunk
	d.flood.skip(p[first+1 : last+1])
	d.flood.hold(d.Stream, p[last+1:end+1])
	return end + 1
}

// Close emits what is left: a line that a CR has ended, or one without an end.
// The decoder is then as new.
func (d *Decoder) Close(emit func(Record)) {
	carry := d.carry
	d.carry = ""
	switch {
	case carry == "\r":
		d.end("", true, CR, emit)
	case carry != "" || d.line.Len() > 0 || d.omitted > 0:
		d.end(carry, false, NoNL, emit)
	}
}

// end emits the current line, which ends with text.
func (d *Decoder) end(text string, valid bool, ending Flags, emit func(Record)) {
	valid = valid || utf8.ValidString(text)
	if valid && d.line.Len() == 0 && d.omitted == 0 && len(text) <= d.limit() {
		emit(Record{Stream: d.Stream, Flags: ending, Text: text})
		return
	}
	d.add(text, valid)
	r := Record{Stream: d.Stream, Flags: ending | d.flags, Text: d.line.String(), Omitted: d.omitted}
	d.line.Reset()
	d.flags, d.omitted = 0, 0
	emit(r)
}

// add adds text to the current line. valid spares a look at it.
func (d *Decoder) add(text string, valid bool) {
	if valid || utf8.ValidString(text) {
		keep(d, text, d.line.WriteString)
		return
	}
	d.flags |= InvalidUTF8
	d.mended = d.mended[:0]
	for text != "" {
		n := validPrefix(text)
		d.mended = append(d.mended, text[:n]...)
		if text = text[n:]; text != "" {
			d.mended = append(d.mended, illformed.Replacement...)
			text = text[illformed.Len(text):]
		}
	}
	keep(d, d.mended, d.line.Write)
}

// keep writes to the line of text what the limit allows, whole characters only,
// and counts the rest. After a cut nothing more is kept.
func keep[T string | []byte](d *Decoder, text T, write func(T) (int, error)) {
	n := len(text)
	if d.omitted > 0 {
		n = 0
	} else if room := d.limit() - d.line.Len(); n > room {
		for n = room; n > 0 && !utf8.RuneStart(text[n]); n-- {
		}
	}
	if size := d.line.Len() + n; size > max(longLine, d.line.Cap()) {
		d.line.Grow(d.limit() - d.line.Len())
	}
	_, _ = write(text[:n]) // a strings.Builder has no errors
	d.omitted = add(d.omitted, int64(len(text)-n))
}

func (d *Decoder) limit() int { return cmp.Or(d.Limit, DefaultLineLimit) }

// undecided returns how many bytes at the end of s what follows it decides on.
func undecided(s string) int {
	if s[len(s)-1] == '\r' {
		return 1
	}
	return illformed.Incomplete(s)
}

// index returns where b is in s from start on, or len(s).
func index(s string, start int, b byte) int {
	if i := strings.IndexByte(s[start:], b); i >= 0 {
		return start + i
	}
	return len(s)
}

// validPrefix returns the length of the longest prefix of s that is UTF-8.
func validPrefix(s string) int {
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], illformed.Replacement) {
			return i
		}
	}
	return len(s)
}
