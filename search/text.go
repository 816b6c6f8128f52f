package search

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/taukit/taukit/internal/illformed"
)

// appendValid appends text with ill-formed UTF-8 replaced by U+FFFD, one for
// each maximal subpart as the Unicode Standard recommends, and reports whether
// nothing had to be replaced.
func appendValid(dst, text []byte) ([]byte, bool) {
	if utf8.Valid(text) {
		return append(dst, text...), true
	}
	for len(text) > 0 {
		n := charLen(text)
		if utf8.Valid(text[:n]) {
			dst = append(dst, text[:n]...)
		} else {
			dst = append(dst, illformed.Replacement...)
		}
		text = text[n:]
	}
	return dst, false
}

// charLen returns the length in bytes of the first character of text, which is
// not empty, or of the ill-formed bytes that one U+FFFD stands for.
func charLen(text []byte) int {
	if text[0] < utf8.RuneSelf {
		return 1
	}
	r, n := utf8.DecodeRune(text)
	if r == utf8.RuneError && n == 1 {
		return illformed.Len(text)
	}
	return n
}

// chars returns the number of characters of text, but not more than most, and
// how many bytes these take.
func chars(text []byte, most int) (n, size int) {
	for n < most && size < len(text) {
		size += charLen(text[size:])
		n++
	}
	return n, size
}

// utf16Order returns the byte order of a text that begins with the byte order
// mark of UTF-16, nil if it does not.
func utf16Order(data []byte) binary.ByteOrder {
	switch {
	case len(data) < 2:
		return nil
	case data[0] == 0xFF && data[1] == 0xFE:
		return binary.LittleEndian
	case data[0] == 0xFE && data[1] == 0xFF:
		return binary.BigEndian
	default:
		return nil
	}
}

// appendUTF16 appends UTF-16 text as UTF-8. Unpaired surrogates and half a code
// unit at the end become U+FFFD.
func appendUTF16(dst, data []byte, order binary.ByteOrder) []byte {
	for len(data) >= 2 {
		r := rune(order.Uint16(data))
		data = data[2:]
		if utf16.IsSurrogate(r) {
			second := rune(0)
			if len(data) >= 2 {
				second = rune(order.Uint16(data))
			}
			if r = utf16.DecodeRune(r, second); r != utf8.RuneError {
				data = data[2:]
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
	if len(data) > 0 {
		dst = utf8.AppendRune(dst, utf8.RuneError)
	}
	return dst
}
