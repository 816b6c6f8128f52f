package lineio

import (
	"strconv"
	"unicode/utf8"

	"github.com/taukit/taukit/internal/illformed"
)

// Flags are the flags of a record: names joined by commas without spaces. The
// caller adds them in this order: invalid-utf8, then the ending crlf or cr, then
// no_nl, then others. The marker functions add truncated themselves.
type Flags string

// Add returns f with another flag behind it. An empty name changes nothing.
func (f Flags) Add(name string) Flags {
	switch {
	case name == "":
		return f
	case f == "":
		return Flags(name)
	default:
		return f + "," + Flags(name)
	}
}

// LineFlags returns the flags of a line: invalid-utf8 if it is, and its ending.
// It does not allocate.
func LineFlags(l Line) Flags {
	if l.End == LF && !l.Invalid {
		return ""
	}
	if !l.Invalid {
		return Flags(l.End.Flag())
	}
	switch l.End {
	case CRLF:
		return "invalid-utf8,crlf"
	case CR:
		return "invalid-utf8,cr"
	case None:
		return "invalid-utf8,no_nl"
	default:
		return "invalid-utf8"
	}
}

// AppendRecord appends one record to dst: the label, the flags in parentheses
// if there are any, a space, and the text with ill-formed UTF-8 replaced
// ([AppendValid]). The space is there for empty text too. The label is a line
// number, the name of a stream, or another short word. Neither label nor text
// may hold a line break.
func AppendRecord(dst []byte, label string, flags Flags, text []byte) []byte {
	dst = append(dst, label...)
	dst = appendFlags(dst, flags)
	dst = append(dst, ' ')
	dst, _ = AppendValid(dst, text)
	return dst
}

// AppendMarker appends what stands for a record whose content is skipped: the
// label and the flags, "truncated" behind them, and no space or content.
func AppendMarker(dst []byte, label string, flags Flags) []byte {
	dst = append(dst, label...)
	return appendTruncated(dst, flags)
}

// AppendLine appends the record of l with its number as the label.
func AppendLine(dst []byte, l Line) []byte {
	dst = strconv.AppendInt(dst, int64(l.Number), 10)
	dst = appendFlags(dst, LineFlags(l))
	dst = append(dst, ' ')
	dst, _ = AppendValid(dst, l.Text)
	return dst
}

// AppendLineMarker appends the marker of l with its number as the label.
func AppendLineMarker(dst []byte, l Line) []byte {
	dst = strconv.AppendInt(dst, int64(l.Number), 10)
	return appendTruncated(dst, LineFlags(l))
}

func appendFlags(dst []byte, flags Flags) []byte {
	if flags == "" {
		return dst
	}
	dst = append(dst, '(')
	dst = append(dst, flags...)
	return append(dst, ')')
}

func appendTruncated(dst []byte, flags Flags) []byte {
	dst = append(dst, '(')
	if flags != "" {
		dst = append(dst, flags...)
		dst = append(dst, ',')
	}
	return append(dst, "truncated)"...)
}

// AppendValid appends text with ill-formed UTF-8 replaced by U+FFFD, one for
// each maximal subpart as the Unicode Standard recommends, and reports whether
// nothing had to be replaced.
func AppendValid(dst, text []byte) ([]byte, bool) {
	if utf8.Valid(text) {
		return append(dst, text...), true
	}
	done := 0 // text[:done] is appended
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && n == 1 {
			n = illformed.Len(text[at:])
			dst = append(dst, text[done:at]...)
			dst = append(dst, illformed.Replacement...)
			done = at + n
		}
		at += n
	}
	return append(dst, text[done:]...), false
}

// RunePrefix returns the longest prefix of b that has at most n bytes and does
// not end inside a well-formed character. It is a part of b.
func RunePrefix(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	n = max(n, 0)
	start := n
	for start > 0 && n-start < utf8.UTFMax-1 && !utf8.RuneStart(b[start]) {
		start--
	}
	if _, size := utf8.DecodeRune(b[start:]); start+size > n && size > 1 {
		return b[:start]
	}
	return b[:n]
}
