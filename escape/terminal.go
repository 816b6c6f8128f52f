package escape

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/taukit/taukit/internal/illformed"
)

// TerminalLine makes s safe to print as one line on a terminal. LF, CR and TAB
// become one space each; other control characters become their pictures
// (U+2400 to U+2421) or <U+XXXX>, and so do the invisible and reordering
// characters that [Field] escapes. Ill-formed UTF-8 becomes U+FFFD. No escape
// sequence survives, whatever s holds.
//
// It is for people only and does not make s safe for a model.
func TerminalLine(s string) string {
	return terminal(s, func(out *strings.Builder, r rune) {
		switch r {
		case '\n', '\r', '\t':
			out.WriteByte(' ')
		default:
			writePicture(out, r)
		}
	})
}

// TerminalText is [TerminalLine] for text of several lines: LF stays, CR LF
// becomes LF, a CR alone becomes its picture, and TAB becomes four spaces.
func TerminalText(s string) string {
	return terminal(strings.ReplaceAll(s, "\r\n", "\n"), func(out *strings.Builder, r rune) {
		switch r {
		case '\n':
			out.WriteByte('\n')
		case '\t':
			out.WriteString("    ")
		default:
			writePicture(out, r)
		}
	})
}

// terminal copies s and hands each rune that a terminal might obey to unsafe.
func terminal(s string, unsafe func(*strings.Builder, rune)) string {
	var out strings.Builder
	out.Grow(len(s))
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			n = illformed.Len(s)
			out.WriteString(illformed.Replacement)
		case r < ' ' || isControl(r) || isInvisible(r):
			unsafe(&out, r)
		default:
			out.WriteString(s[:n])
		}
		s = s[n:]
	}
	return out.String()
}

// writePicture writes a visible stand-in for r.
func writePicture(out *strings.Builder, r rune) {
	switch {
	case r < ' ':
		out.WriteRune(0x2400 + r)
	case r == 0x7F:
		out.WriteRune(0x2421)
	default:
		fmt.Fprintf(out, "<U+%04X>", r)
	}
}
