package replace

import (
	"bytes"
	"sort"
	"strings"
)

// A normal is a text whose line endings are all alike, and the way back to its
// source.
type normal struct {
	src    []byte
	text   []byte    // shares src if that has one kind of line ending, LF or CR LF
	ending string    // of each line of text
	steps  []waymark // ascending; none if text is src
}

// A waymark is a boundary between two bytes of the text and the same boundary
// in the source.
type waymark struct{ text, src int }

// markEvery is the distance of waymarks, in bytes of text.
const markEvery = 4 << 10

// normalize returns the normal form of src, which it keeps.
func normalize(src []byte) normal {
	at := bytes.IndexByte(src, '\r')
	if at < 0 {
		return normal{src: src, text: src, ending: "\n"}
	}
	if onlyCRLF(src) {
		return normal{src: src, text: src, ending: "\r\n"}
	}
	n := normal{src: src, text: make([]byte, 0, len(src)), ending: "\n", steps: []waymark{{0, 0}}}
	done, next := 0, markEvery
	for i := at; i >= 0; i = bytes.IndexByte(src[done:], '\r') {
		n.text = append(append(n.text, src[done:done+i]...), '\n')
		done += i + len(endingAt(src, done+i))
		if len(n.text) >= next {
			n.steps = append(n.steps, waymark{len(n.text), done})
			next = len(n.text) + markEvery
		}
	}
	n.text = append(n.text, src[done:]...)
	return n
}

// onlyCRLF reports whether src has no CR and no LF outside of CR LF.
func onlyCRLF(src []byte) bool {
	lines := 0
	for rest := src; ; lines++ {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			return lines == bytes.Count(src, []byte{'\r'})
		}
		if i == 0 || rest[i-1] != '\r' {
			return false
		}
		rest = rest[i+1:]
	}
}

// form returns s with the line endings of n.text.
func (n normal) form(s string) string {
	s = normalText(s)
	if n.ending == "\n" {
		return s
	}
	return strings.ReplaceAll(s, "\n", n.ending)
}

// source returns the boundary in the source for one in the text. Before a line
// ending it is before the first byte of the ending, and behind it behind the
// last one: never between CR and LF.
func (n normal) source(at int) int {
	if n.steps == nil {
		return at
	}
	i := sort.Search(len(n.steps), func(i int) bool { return n.steps[i].text > at }) - 1
	text, src := n.steps[i].text, n.steps[i].src
	for {
		i := bytes.IndexByte(n.src[src:], '\r')
		if i < 0 || text+i >= at {
			return src + at - text
		}
		text += i + 1
		src += i + len(endingAt(n.src, src+i))
	}
}

// normalText returns s with LF for each line ending.
func normalText(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// endingAt returns the line ending that starts at src[i].
func endingAt(src []byte, i int) string {
	switch {
	case src[i] == '\n':
		return "\n"
	case i+1 < len(src) && src[i+1] == '\n':
		return "\r\n"
	default:
		return "\r"
	}
}

// endingBefore returns the last line ending in src[from:to], or "". Neither
// boundary may lie between CR and LF.
func endingBefore(src []byte, from, to int) string {
	i := from + bytes.LastIndexAny(src[from:to], "\r\n")
	switch {
	case i < from:
		return ""
	case src[i] == '\r':
		return "\r"
	case i > from && src[i-1] == '\r':
		return "\r\n"
	default:
		return "\n"
	}
}
