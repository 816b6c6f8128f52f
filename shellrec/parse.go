package shellrec

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// ErrNotARecord says that a text is not what a record looks like.
var ErrNotARecord = errors.New("shellrec: not a record")

// Parse is the inverse of [Record.String], and of [Record.Marker], which gives a
// record with the flag Truncated and without text. The error is
// [ErrNotARecord].
func Parse(line string) (Record, error) {
	var r Record
	rest, isStdout := strings.CutPrefix(line, Stdout.String())
	if !isStdout {
		var isStderr bool
		if rest, isStderr = strings.CutPrefix(line, Stderr.String()); !isStderr {
			return Record{}, ErrNotARecord
		}
		r.Stream = Stderr
	}
	if inner, ok := strings.CutPrefix(rest, "("); ok {
		names, after, closed := strings.Cut(inner, ")")
		flags, known := parseFlags(names)
		if !closed || !known {
			return Record{}, ErrNotARecord
		}
		r.Flags, rest = flags, after
	}
	if r.Flags&Truncated != 0 {
		if rest != "" {
			return Record{}, ErrNotARecord
		}
		return r, nil
	}
	text, spaced := strings.CutPrefix(rest, " ")
	if !spaced || strings.ContainsAny(text, "\r\n") || !utf8.ValidString(text) {
		return Record{}, ErrNotARecord
	}
	r.Text = text
	return r, nil
}

// parseFlags reads names joined by commas: known ones, each once, in order, and
// at most one ending.
func parseFlags(names string) (Flags, bool) {
	var flags Flags
	for name := range strings.SplitSeq(names, ",") {
		flag := flagOf(name)
		if flag <= flags { // unknown, repeated, or out of order
			return 0, false
		}
		flags |= flag
	}
	endings := flags & (CRLF | CR | NoNL)
	return flags, endings&(endings-1) == 0
}

func flagOf(name string) Flags {
	for i, known := range flagNames {
		if name == known {
			return 1 << i
		}
	}
	return 0
}
