package lineedit

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
)

// bom is the byte order mark of UTF-8.
const bom = "\ufeff"

// stride is the distance of the marks of a text in bytes. The search for a
// line starts at a mark, so this is how far it goes at most.
const stride = 1 << 10

// A text is a file with the places of its lines. They are found by counting
// and marks, not by a table of all lines: that would be larger than a file of
// empty lines, and most of it is never asked for.
type text struct {
	src   []byte
	bom   []byte // the byte order mark at the start of src, or empty
	body  []byte // what follows it; offsets are into this
	total int    // number of lines
	marks []int  // marks[k] is the number of endings in body[:k*stride]; the last one is that of body
}

// newText finds the lines of src, which it keeps and does not change.
func newText(src []byte) *text {
	t := &text{src: src, body: src}
	if bytes.HasPrefix(src, []byte(bom)) {
		t.bom, t.body = src[:len(bom)], src[len(bom):]
	}
	t.marks = make([]int, 1, len(t.body)/stride+2)
	ends := 0
	for at := 0; at < len(t.body); at += stride {
		ends += countEnds(t.body, at, min(at+stride, len(t.body)))
		t.marks = append(t.marks, ends)
	}
	t.total = ends + unterminated(src)
	return t
}

// unterminated returns 1 if the last line of src has no ending, else 0. A byte
// order mark counts as content here: a file of nothing else has one line.
func unterminated(src []byte) int {
	if len(src) == 0 || endsLine(src) {
		return 0
	}
	return 1
}

// endsLine reports whether text is not empty and ends in LF or CR.
func endsLine[T string | []byte](text T) bool {
	return len(text) > 0 && (text[len(text)-1] == '\n' || text[len(text)-1] == '\r')
}

// isEnd reports whether data[i] is the last byte of an ending: LF, or a CR that
// no LF follows.
func isEnd(data []byte, i int) bool {
	return data[i] == '\n' || data[i] == '\r' && (i+1 == len(data) || data[i+1] != '\n')
}

// countEnds returns for how many i in [from, to) isEnd holds.
func countEnds(data []byte, from, to int) int {
	lf := bytes.Count(data[from:to], []byte{'\n'})
	cr := bytes.Count(data[from:to], []byte{'\r'})
	if cr == 0 {
		return lf
	}
	return lf + cr - countPairs(data, from, to)
}

// countPairs returns how many CR in data[from:to] an LF follows. It takes eight
// bytes at a time: in files of CR LF this is most of the work.
func countPairs(data []byte, from, to int) int {
	if bytes.IndexByte(data[from:min(to+1, len(data))], '\n') < 0 {
		return 0
	}
	pairs := 0
	for ; from+8 <= to && from+9 <= len(data); from += 8 {
		pairs += pairsInWord(binary.LittleEndian.Uint64(data[from:]), binary.LittleEndian.Uint64(data[from+1:]))
	}
	for ; from < to; from++ {
		if data[from] == '\r' && from+1 < len(data) && data[from+1] == '\n' {
			pairs++
		}
	}
	return pairs
}

// pairsInWord returns in how many places word holds a CR and next an LF.
func pairsInWord(word, next uint64) int {
	const ones, low = 0x0101010101010101, 0x7f7f7f7f7f7f7f7f
	x := (word ^ '\r'*ones) | (next ^ '\n'*ones) // a byte is 0 where both hold
	// The sum carries into the top bit of a byte, and never beyond it, if one
	// of the low bits of the byte is set.
	return bits.OnesCount64(^(x&low + low | x | low))
}

// endsBefore returns how many endings come before line n, 1 <= n <= total+1.
func (t *text) endsBefore(n int) int {
	return min(n-1, t.marks[len(t.marks)-1])
}

// start returns the offset at which line n starts, 1 <= n <= total+1; that of
// line total+1 is the end of the text.
func (t *text) start(n int) int {
	ends := n - 1 // so many come before the line, if all lines before it have one
	if ends == 0 {
		return 0
	}
	k, _ := slices.BinarySearch(t.marks, ends)
	if k == len(t.marks) {
		return len(t.body)
	}
	ends -= t.marks[k-1]
	for i := (k - 1) * stride; ; i++ {
		if isEnd(t.body, i) {
			if ends--; ends == 0 {
				return i + 1
			}
		}
	}
}

// line returns the content of line n, without its ending and without the byte
// order mark.
func (t *text) line(n int) []byte {
	end := t.start(n + 1)
	return t.body[t.start(n) : end-len(t.ending(n))]
}

// ending returns the ending of line n, "" if it has none.
func (t *text) ending(n int) string {
	upto := t.body[:t.start(n+1)] // an ending never goes back beyond its line
	switch {
	case bytes.HasSuffix(upto, []byte("\r\n")):
		return "\r\n"
	case bytes.HasSuffix(upto, []byte("\n")):
		return "\n"
	case bytes.HasSuffix(upto, []byte("\r")):
		return "\r"
	default:
		return ""
	}
}

// nearestEnding returns the ending of line n if there is such a line and it has
// one, else that of the nearest line before it that has one, else "".
func (t *text) nearestEnding(n int) string {
	for k := min(n, t.total); k >= 1; k-- { // at most two rounds: only the last line can lack one
		if e := t.ending(k); e != "" {
			return e
		}
	}
	return ""
}

// cutLine returns the content of the first line of body, and what follows its
// ending.
func cutLine(body []byte) (content, rest []byte) {
	end := 0
	for end < len(body) && body[end] != '\n' && body[end] != '\r' {
		end++
	}
	content, rest = body[:end], body[end:]
	switch {
	case bytes.HasPrefix(rest, []byte("\r\n")):
		return content, rest[2:]
	case len(rest) > 0:
		return content, rest[1:]
	default:
		return content, nil
	}
}
