package escape

import (
	"strings"
	"unicode/utf8"

	"github.com/taukit/taukit/internal/illformed"
)

// MaxQuotedPath is the most that [QuotePath] shows of a path, in bytes of
// escaped text.
const MaxQuotedPath = 1024

// quotedPathEnd is what stays of each end of a longer path, in bytes.
const quotedPathEnd = 510

// Flags tell what made an escaped text differ from its source.
type Flags uint8

const (
	// Escaped means that characters are shown as backslash escapes.
	// [Unescape] gives them back.
	Escaped Flags = 1 << iota
	// InvalidUTF8 means that bytes which are not UTF-8 are shown as U+FFFD.
	// What they were is lost; only [Exact] keeps them.
	InvalidUTF8
)

// List returns the names of the flags in the order in which records show them:
// "invalid-utf8", then "escaped". It is nil for no flags.
func (f Flags) List() []string {
	var names []string
	if f&InvalidUTF8 != 0 {
		names = append(names, "invalid-utf8")
	}
	if f&Escaped != 0 {
		names = append(names, "escaped")
	}
	return names
}

// Suffix returns the flags as they follow the prefix of a record, such as
// "(invalid-utf8,escaped)", or "" for no flags.
func (f Flags) Suffix() string {
	if f == 0 {
		return ""
	}
	return "(" + strings.Join(f.List(), ",") + ")"
}

// Field escapes metadata that runs to the end of a line: a header value, a
// path, a part of a message.
//
// A backslash is doubled; LF, CR and TAB become \n, \r and \t. Other control
// characters, characters that look like nothing or like a plain space, and
// those that reorder text become \u{h} with lower-case hexadecimal digits, and
// so does each space at either end of s. Ill-formed UTF-8 becomes U+FFFD, one
// for each maximal subpart. Everything else stays. An empty s stays empty.
func Field(s string) (string, Flags) {
	if isPlain(s) {
		return s, 0
	}
	out, flags := AppendField(make([]byte, 0, len(s)+16), s)
	return string(out), flags
}

// AppendField appends [Field] of s to dst and returns the extended slice.
func AppendField(dst []byte, s string) ([]byte, Flags) {
	return appendField(dst, s, replaceInvalid)
}

// Token escapes metadata that stands in a record separated by spaces or
// commas. It is [Field] with every space as \u{20} and every comma as \u{2c}.
// The empty string becomes the placeholder "-", and the string "-" becomes
// \u{2d}, so that the two can be told apart. The result is never empty.
func Token(s string) (string, Flags) {
	switch s {
	case "":
		return "-", 0
	case "-":
		return `\u{2d}`, Escaped
	}
	out, flags := appendEscaped(nil, s, replaceInvalid, func(r rune) bool {
		return r == ' ' || r == ',' || needsEscape(r)
	})
	return string(out), flags
}

// Quote returns [Field] of s with each double quote as \", in double quotes:
// the form of names and texts quoted in a message. The quoted text ends at the
// first double quote that is not part of an escape, whatever s holds.
func Quote(s string) string {
	return `"` + quoted(s) + `"`
}

// QuotePath is [Quote] for a path in a message. A path that is longer than
// [MaxQuotedPath] bytes when escaped keeps its first and last 510 bytes around
// an ellipsis, each end cut at a character or an escape, so that the reason
// that follows in the message is never cut off.
func QuotePath(p string) string {
	return `"` + shortened(p, quoted) + `"`
}

// Path is [Field] for a path on a user interface, shortened like [QuotePath].
func Path(p string) string {
	return shortened(p, func(s string) string {
		text, _ := Field(s)
		return text
	})
}

func quoted(s string) string {
	text, _ := Field(s)
	return strings.ReplaceAll(text, `"`, `\"`)
}

// shortened returns p in an escaped form without the middle that is too much.
func shortened(p string, form func(string) string) string {
	head, tail := p, p
	if len(p) > 2*MaxQuotedPath {
		// Escaping makes nothing shorter: what is shown of the ends lies in
		// these parts, far from where they are cut. The "/" keeps spaces
		// there from becoming the last or first ones.
		head, tail = p[:MaxQuotedPath]+"/", "/"+p[len(p)-MaxQuotedPath:]
	}
	text := form(head)
	if len(text) <= MaxQuotedPath {
		return text
	}
	end := 0
	for n := 0; n <= quotedPathEnd; n += unitLen(text[n:]) {
		end = n
	}
	rest := form(tail)
	start := 0
	for start < len(rest)-quotedPathEnd {
		start += unitLen(rest[start:])
	}
	return text[:end] + "…" + rest[start:]
}

// Exact is [Field] for bytes that must be recoverable: each byte that is not
// part of well-formed UTF-8 becomes \xHH, and [Unescape] of the result is s
// for every s.
func Exact(s string) string {
	out, _ := appendField(make([]byte, 0, len(s)+16), s, exactInvalid)
	return string(out)
}

const hex = "0123456789abcdef"

// isPlain reports whether s is made of the ASCII characters that every form
// leaves alone at every place. Most names are.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7F || c == '\\' {
			return false
		}
	}
	return true
}

// appendField appends s with the spaces at its ends escaped as well.
func appendField(dst []byte, s string, invalid appendInvalid) ([]byte, Flags) {
	if isPlain(s) {
		return append(dst, s...), 0
	}
	core := strings.TrimLeft(s, " ")
	leading := len(s) - len(core)
	core = strings.TrimRight(core, " ")
	trailing := len(s) - leading - len(core)

	dst = appendSpaces(dst, leading)
	dst, flags := appendEscaped(dst, core, invalid, needsEscape)
	dst = appendSpaces(dst, trailing)
	if leading+trailing > 0 {
		flags |= Escaped
	}
	return dst, flags
}

// appendEscaped appends s with each rune that escapes accepts as an escape and
// with what invalid makes of ill-formed UTF-8.
func appendEscaped(dst []byte, s string, invalid appendInvalid, escapes func(rune) bool) ([]byte, Flags) {
	var flags Flags
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			dst, n = invalid(dst, s)
			flags |= InvalidUTF8
		case escapes(r):
			dst = appendRune(dst, r)
			flags |= Escaped
		default:
			dst = append(dst, s[:n]...)
		}
		s = s[n:]
	}
	return dst, flags
}

// appendInvalid appends what stands for the ill-formed UTF-8 at the start of
// s, and returns how many bytes of s that was.
type appendInvalid func(dst []byte, s string) ([]byte, int)

func replaceInvalid(dst []byte, s string) ([]byte, int) {
	return append(dst, illformed.Replacement...), illformed.Len(s)
}

func exactInvalid(dst []byte, s string) ([]byte, int) {
	return append(dst, '\\', 'x', hex[s[0]>>4], hex[s[0]&0xF]), 1
}

// appendRune appends the escape of r.
func appendRune(dst []byte, r rune) []byte {
	switch r {
	case '\\':
		return append(dst, `\\`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	dst = append(dst, `\u{`...)
	shift := 0
	for r>>shift > 0xF {
		shift += 4
	}
	for ; shift >= 0; shift -= 4 {
		dst = append(dst, hex[r>>shift&0xF])
	}
	return append(dst, '}')
}

func appendSpaces(dst []byte, n int) []byte {
	for range n {
		dst = appendRune(dst, ' ')
	}
	return dst
}
