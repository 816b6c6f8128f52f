package framing

import "strings"

// truncated is the flag of a record whose content is not shown.
const truncated = "truncated"

// Line returns one record of line-oriented output, for tools that make their
// content themselves; package lineio renders lines of files and streams. It is
// the prefix, the flags in parentheses if there are any, a space, and the
// content. The space is there
// for empty content too. A marker, the last flag of which is "truncated" and
// which has no content, has no space at its end.
//
// The caller gives the flags in this order: invalid-utf8, then crlf or cr, no_nl,
// escaped, a tool's own, truncated. Content is one line of payload, without a
// line break; it is literal.
func Line(prefix string, flags []string, content string) string {
	var out strings.Builder
	out.WriteString(prefix)
	if len(flags) > 0 {
		out.WriteByte('(')
		out.WriteString(strings.Join(flags, ","))
		out.WriteByte(')')
		if content == "" && flags[len(flags)-1] == truncated {
			return out.String()
		}
	}
	out.WriteByte(' ')
	out.WriteString(content)
	return out.String()
}

// Record returns the fields of one record of output with the header "format",
// joined by single spaces. An empty field becomes [Placeholder]. Fields other
// than the last must not contain spaces, and none a line break: they are tokens
// and fields of package escape.
func Record(fields ...string) string {
	var out strings.Builder
	for i, field := range fields {
		if i > 0 {
			out.WriteByte(' ')
		}
		if field == "" {
			field = Placeholder
		}
		out.WriteString(field)
	}
	return out.String()
}
