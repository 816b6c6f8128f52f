package escape

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Unescape undoes [Field], [Exact], and [Token] but for its placeholder "-",
// and [Quote] when the outer quotes are removed first. It accepts \\, \", \n,
// \r, \t, \u{h} with one to six lower-case hexadecimal digits that name a
// Unicode scalar value, and \xHH with two. Anything else after a backslash is
// an error that names its offset in bytes.
func Unescape(t string) (string, error) {
	next := strings.IndexByte(t, '\\')
	if next < 0 {
		return t, nil
	}
	out := make([]byte, 0, len(t))
	at := 0
	for next >= 0 {
		out = append(out, t[at:at+next]...)
		at += next
		var n int
		if out, n = appendUnescaped(out, t[at:]); n == 0 {
			return "", fmt.Errorf("escape: invalid escape at byte %d", at)
		}
		at += n
		next = strings.IndexByte(t[at:], '\\')
	}
	return string(append(out, t[at:]...)), nil
}

// appendUnescaped appends what the escape at the start of t stands for, and
// returns the length of the escape in bytes, 0 if it is not one.
func appendUnescaped(dst []byte, t string) ([]byte, int) {
	if len(t) < 2 {
		return dst, 0
	}
	switch t[1] {
	case '\\', '"':
		return append(dst, t[1]), 2
	case 'n':
		return append(dst, '\n'), 2
	case 'r':
		return append(dst, '\r'), 2
	case 't':
		return append(dst, '\t'), 2
	case 'x':
		if len(t) < 4 {
			return dst, 0
		}
		if v, ok := parseHex(t[2:4]); ok {
			return append(dst, byte(v)), 4
		}
	case 'u':
		n := unitLen(t)
		if n < len(`\u{0}`) || n > len(`\u{10ffff}`) {
			return dst, 0
		}
		if v, ok := parseHex(t[3 : n-1]); ok && utf8.ValidRune(v) {
			return utf8.AppendRune(dst, v), n
		}
	}
	return dst, 0
}

// parseHex reads at most six lower-case hexadecimal digits.
func parseHex(digits string) (rune, bool) {
	var v rune
	for i := range len(digits) {
		d := strings.IndexByte(hex, digits[i])
		if d < 0 {
			return 0, false
		}
		v = v<<4 | rune(d)
	}
	return v, true
}

// unitLen returns the length in bytes of the character at the start of t, which
// is not empty, or of what has the form of an escape. It is 0 for a \u{ that
// nothing closes, which escaped text does not have.
func unitLen(t string) int {
	if t[0] != '\\' {
		_, n := utf8.DecodeRuneInString(t)
		return n
	}
	switch {
	case strings.HasPrefix(t, `\u{`):
		return strings.IndexByte(t, '}') + 1
	case strings.HasPrefix(t, `\x`):
		return min(4, len(t))
	default:
		return min(2, len(t))
	}
}
