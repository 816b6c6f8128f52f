package escape

import "unicode"

// needsEscape reports whether [Field] escapes r wherever it stands.
func needsEscape(r rune) bool {
	if r < 0x7F {
		return r < ' ' || r == '\\'
	}
	return isControl(r) || unicode.Is(unicode.Zs, r) || isInvisible(r)
}

// isControl reports whether r is DEL or a C1 control character.
func isControl(r rune) bool {
	return 0x7F <= r && r <= 0x9F
}

// isInvisible reports whether r looks like nothing, breaks a line or reorders
// text: format characters (bidirectional controls, zero-width characters, the
// byte order mark, the soft hyphen, tag characters), line and paragraph
// separators, fillers, and selectors that are no part of ordinary names. The
// variation selectors U+FE00 to U+FE0F are: emoji use them.
func isInvisible(r rune) bool {
	switch {
	case r < 0xAD:
		return false
	case r == 0x034F, // combining grapheme joiner
		r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, // Hangul fillers
		0x180B <= r && r <= 0x180F,   // Mongolian selectors and vowel separator
		0xE0000 <= r && r <= 0xE007F, // tags, unassigned ones too
		0xE0100 <= r && r <= 0xE01EF: // variation selectors supplement
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}
