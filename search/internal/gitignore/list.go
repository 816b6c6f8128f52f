// Package gitignore reads one ignore file in the syntax of gitignore(5) and
// judges paths by it, with the verdicts of git itself, its quirks included.
//
// What file counts where, and which of several files decides, is the business
// of the caller.
package gitignore

import "bytes"

// A Verdict is what a list says of a path.
type Verdict uint8

// The verdicts. None, the zero value, means that no line of the list matches.
const (
	None Verdict = iota
	Ignore
	Include // the last line that matches begins with "!"
)

// String returns the name of v.
func (v Verdict) String() string {
	switch v {
	case Ignore:
		return "Ignore"
	case Include:
		return "Include"
	default:
		return "None"
	}
}

// A List is the rules of one ignore file. It is immutable.
type List struct {
	rules []rule // in the order of the file
}

// Parse reads the content of an ignore file. There is no malformed content: a
// line that makes no sense matches nothing, as in git.
func Parse(data []byte) *List {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	l := new(List)
	for len(data) > 0 {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte{'\n'})
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		line = bytes.TrimSuffix(line, []byte{'\r'})
		line, _, _ = bytes.Cut(line, []byte{0}) // where a C string ends
		if r, ok := parseRule(string(trimSpaces(line))); ok {
			l.rules = append(l.rules, r)
		}
	}
	return l
}

// Empty reports whether l can match nothing.
func (l *List) Empty() bool { return len(l.rules) == 0 }

// Match returns what the list says of a path, by the last line that matches
// it. The path is relative to the directory of the ignore file, with slashes
// and none at either end; dir says whether it is a directory. Whether a
// directory above it is ignored is for the caller to ask.
func (l *List) Match(path string, dir bool) Verdict {
	if len(l.rules) == 0 {
		return None
	}
	base := baseName(path)
	for i := len(l.rules) - 1; i >= 0; i-- {
		r := &l.rules[i]
		if r.dirOnly && !dir || !r.match(path, base) {
			continue
		}
		if r.include {
			return Include
		}
		return Ignore
	}
	return None
}

// baseName returns the last element of path.
func baseName(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return path[i+1:]
		}
	}
	return path
}

// trimSpaces cuts off the spaces at the end of a line, except behind a
// backslash. Tabs stay.
func trimSpaces(line []byte) []byte {
	end := 0 // line[:end] ends in something to keep
	for i := 0; i < len(line); i++ {
		if line[i] == ' ' {
			continue
		}
		if line[i] == '\\' {
			i++
			if i == len(line) { // a backslash at the very end keeps all before it
				return line
			}
		}
		end = i + 1
	}
	return line[:end]
}
