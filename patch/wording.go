package patch

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxQuoted is how many characters of a line of the patch a message quotes.
const maxQuoted = 80

// A wording composes messages, with names and lines escaped.
type wording struct {
	escape func(string) string
}

func newWording(escape func(string) string) wording {
	if escape == nil {
		escape = escapeControls
	}
	return wording{escape}
}

// escapeControls escapes backslashes and control characters.
func escapeControls(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsControl(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Limits of a path in a message, in bytes: so that what follows it is never cut
// off.
const (
	maxQuotedPath  = 1024
	maxQuotedPaths = 850 // of each of two
)

// quote returns a path escaped, in double quotes.
func (w wording) quote(path string) string { return w.quoteWithin(path, maxQuotedPath) }

// quoteWithin is quote for a path that may take limit bytes. Of a longer one the
// start and the end are shown.
func (w wording) quoteWithin(path string, limit int) string {
	quoted := inQuotes(w.escape(path))
	escaped := quoted[1 : len(quoted)-1]
	if len(escaped) <= limit {
		return quoted
	}
	half := (limit - len("…")) / 2
	head, tail := 0, len(escaped)
	for at := 0; at < len(escaped); {
		n := unitLen(escaped[at:])
		if at+n <= half {
			head = at + n
		}
		if len(escaped)-at <= half {
			tail = at
			break
		}
		at += n
	}
	return `"` + escaped[:head] + "…" + escaped[tail:] + `"`
}

func inQuotes(escaped string) string {
	return `"` + strings.ReplaceAll(escaped, `"`, `\"`) + `"`
}

// excerpt is quote for a line, which may be long.
func (w wording) excerpt(s string) string {
	escaped := w.escape(s)
	size, count := 0, 0 // of what is shown
	for size < len(escaped) {
		n := unitLen(escaped[size:])
		if count += utf8.RuneCountInString(escaped[size : size+n]); count > maxQuoted {
			return inQuotes(escaped[:size] + "…")
		}
		size += n
	}
	return inQuotes(escaped)
}

// unitLen returns the length in bytes of the first character of s, or of the
// escape that it starts.
func unitLen(s string) int {
	if end := strings.IndexByte(s, '}'); end > 0 && strings.HasPrefix(s, `\u{`) {
		return end + 1
	}
	_, n := utf8.DecodeRuneInString(s)
	if s[0] == '\\' {
		_, next := utf8.DecodeRuneInString(s[1:])
		n += next
	}
	return n
}

// phrase says what a section is about to do.
func (w wording) phrase(s *Section) string {
	switch {
	case s.MoveTo != "":
		return "move " + w.quoteWithin(s.Path, maxQuotedPaths) + " to " + w.quoteWithin(s.MoveTo, maxQuotedPaths)
	case s.Op == Add:
		return "add " + w.quote(s.Path)
	case s.Op == Delete:
		return "delete " + w.quote(s.Path)
	default:
		return "update " + w.quote(s.Path)
	}
}

// failure returns the error of a section that err stopped.
func (w wording) failure(s *Section, err error) error {
	var m *MatchError
	if errors.As(err, &m) {
		return w.mismatch(s, m)
	}
	code, reason := explain(err)
	return &Error{
		Code: code,
		Path: s.Path,
		Msg:  "cannot " + w.phrase(s) + ": " + w.escape(reason),
		Err:  err,
	}
}

// mismatch returns the error of a section with a hunk that does not fit.
func (w wording) mismatch(s *Section, m *MatchError) error {
	place := fmt.Sprintf("in %s (hunk %d of %d)", w.quote(s.Path), m.Hunk, m.Hunks)
	e := &Error{
		Code: m.Code(), Path: s.Path,
		Hunk: m.Hunk, Hunks: m.Hunks,
		Excerpt: w.excerpts(s.Path, m),
		Err:     m,
	}
	switch {
	case m.Places > 0:
		e.Msg = fmt.Sprintf("expected lines match %d places %s; add context or an @@ line", m.Places, place)
	case m.Anchor != "":
		e.Msg = "failed to find context " + w.excerpt(m.Anchor) + " " + place
	default:
		e.Msg = "failed to find expected lines " + place + suffix(m)
	}
	return e
}

func suffix(m *MatchError) string {
	switch m.Hint {
	case BeforeCursor:
		return fmt.Sprintf(": they match only at line %d, before an earlier hunk", m.HintLine)
	case NotAtEOF:
		return fmt.Sprintf(": they match at line %d, but not at end of file", m.HintLine)
	case AlreadyApplied:
		return fmt.Sprintf(": the new lines are already at line %d", m.HintLine)
	default:
		return ""
	}
}
