// Package illformed measures ill-formed UTF-8 as Unicode recommends for
// replacement by U+FFFD: by maximal subparts (The Unicode Standard, chapter 3,
// "U+FFFD Substitution of Maximal Subparts"; browsers and the WHATWG encoding
// standard do the same).
//
// No function of the Go standard library counts that way: ranging over a
// string yields one U+FFFD for each byte, [strings.ToValidUTF8] one for each
// run.
package illformed

import "unicode/utf8"

// Replacement is U+FFFD in UTF-8.
const Replacement = "\ufffd"

// Len returns the length in bytes, 1 to 3, of the maximal subpart at the start
// of s. The caller has found that s does not start with a well-formed
// sequence: [utf8.DecodeRune] gave (RuneError, 1).
func Len[T string | []byte](s T) int {
	need, lo, hi := lead(s[0])
	n := 1
	for n < need && n < len(s) && lo <= s[n] && s[n] <= hi {
		n++
		lo, hi = 0x80, 0xBF
	}
	return n
}

// Incomplete returns how many bytes at the end of s, 0 to 3, begin a sequence
// that bytes after s could still complete.
func Incomplete[T string | []byte](s T) int {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		tail := s[len(s)-n:]
		if !utf8.RuneStart(tail[0]) {
			continue
		}
		if need, _, _ := lead(tail[0]); n < need && Len(tail) == n {
			return n
		}
		return 0
	}
	return 0
}

// lead returns the length of a well-formed sequence that starts with b, and
// the range of its second byte (The Unicode Standard, table 3-7). The length
// is 1 when no longer sequence can start with b.
func lead(b byte) (need int, lo, hi byte) {
	switch {
	case b < 0xC2 || b > 0xF4:
		return 1, 0, 0
	case b < 0xE0:
		return 2, 0x80, 0xBF
	case b == 0xE0:
		return 3, 0xA0, 0xBF
	case b == 0xED:
		return 3, 0x80, 0x9F
	case b < 0xF0:
		return 3, 0x80, 0xBF
	case b == 0xF0:
		return 4, 0x90, 0xBF
	case b == 0xF4:
		return 4, 0x80, 0x8F
	default:
		return 4, 0x80, 0xBF
	}
}
