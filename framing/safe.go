package framing

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/taukit/taukit/internal/illformed"
)

// ellipsis marks the end of a cut text.
const ellipsis = "…"

// SafeHeader returns s as one line: LF, CR and TAB become \n, \r and \t, every
// other control character, U+2028 and U+2029 become \u{h}, and ill-formed
// UTF-8 becomes U+FFFD, one for each maximal subpart. Nothing else changes; in
// particular a backslash stays, so that what a tool escaped is not escaped
// again.
func SafeHeader(s string) string {
	return replace(s, func(r rune) string {
		switch {
		case r == '\n':
			return `\n`
		case r == '\r':
			return `\r`
		case r == '\t':
			return `\t`
		case r < ' ', 0x7F <= r && r <= 0x9F, r == 0x2028, r == 0x2029:
			return `\u{` + strconv.FormatInt(int64(r), 16) + `}`
		default:
			return ""
		}
	})
}

// SafeBody returns s with CR as \r, NUL as \u{0} and ill-formed UTF-8 as
// U+FFFD, one for each maximal subpart. Everything else stays, ESC and other
// control characters too: a model must be able to copy what it saw into an
// exact edit. A terminal needs protection of its own.
func SafeBody(s string) string {
	if strings.IndexByte(s, '\r') < 0 && strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) {
		return s
	}
	return replace(s, func(r rune) string {
		switch r {
		case '\r':
			return `\r`
		case 0:
			return `\u{0}`
		default:
			return ""
		}
	})
}

// replace returns s with U+FFFD for each maximal ill-formed subpart and with
// what escape gives, if it is not empty, for each other rune.
func replace(s string, escape func(rune) string) string {
	var out strings.Builder
	done := 0 // s[:done] is in out
	for at := 0; at < len(s); {
		r, n := utf8.DecodeRuneInString(s[at:])
		var instead string
		if r == utf8.RuneError && n == 1 {
			n = illformed.Len(s[at:])
			instead = illformed.Replacement
		} else {
			instead = escape(r)
		}
		if instead != "" {
			out.WriteString(s[done:at])
			out.WriteString(instead)
			done = at + n
		}
		at += n
	}
	if done == 0 {
		return s
	}
	out.WriteString(s[done:])
	return out.String()
}

// safeKey returns the valid header key that is nearest to s.
func safeKey(s string) string {
	if isKey(s) {
		return s
	}
	key := make([]byte, 0, MaxKeyBytes)
	for _, r := range replace(s, func(rune) string { return "" }) {
		switch {
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		case !isKeyRune(r):
			r = '_'
		}
		if len(key) == 0 && (r < 'a' || r > 'z') {
			key = append(key, 'x')
		}
		if key = append(key, byte(r)); len(key) >= MaxKeyBytes {
			return string(key[:MaxKeyBytes])
		}
	}
	if len(key) == 0 {
		return "x"
	}
	return string(key)
}

// isKey reports whether s is a valid header key.
func isKey(s string) bool {
	if s == "" || len(s) > MaxKeyBytes || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return !isKeyRune(r) }) < 0
}

func isKeyRune(r rune) bool {
	return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '_' || r == '-'
}

// safeValue returns the one line that is shown for a header value. A cut path
// would be useless, so paths and references are never cut.
func safeValue(key, value string) string {
	if value == "" {
		return Placeholder
	}
	value = SafeHeader(value)
	switch key {
	case "artifact", "path", "full_output_path", "saved_output_path":
		return value
	}
	return cut(value, MaxValueBytes)
}

// cut shortens s, which is valid UTF-8, to at most limit bytes, an ellipsis
// included.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := limit - len(ellipsis)
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + ellipsis
}
