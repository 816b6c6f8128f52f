package gitignore

import "strings"

// A rule is one line of an ignore file.
type rule struct {
	include  bool // the line begins with "!"
	dirOnly  bool // it ends in "/"
	anywhere bool // it has no other "/": it is about the last element of a path

	// The pattern is the literal text, then the tokens. In a rule with a slash
	// git compares the text before the first special character by itself and
	// takes the rest for a pattern of its own: "a**/b" matches "ab".
	literal string
	tokens  []token
	suffix  bool // "*" and text: literal is what a name has to end in
}

// parseRule reads a line that is neither a comment nor empty. It is false for
// a line that can match nothing.
func parseRule(line string) (rule, bool) {
	var r rule
	line, r.include = strings.CutPrefix(line, "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	r.anywhere = !strings.Contains(line, "/")
	if !r.anywhere {
		line = strings.TrimPrefix(line, "/")
	}
	if r.anywhere && strings.HasPrefix(line, "*") && !strings.ContainsAny(line[1:], special) {
		r.suffix, r.literal = true, line[1:]
		return r, true
	}
	wild := strings.IndexAny(line, special)
	if wild < 0 {
		r.literal = line
		return r, line != ""
	}
	if !r.anywhere {
		r.literal, line = line[:wild], line[wild:]
	}
	var ok bool
	r.tokens, ok = tokenize(line, r.anywhere)
	return r, ok
}

// special are the characters with which a pattern begins to be one.
const special = `*?[\`

// match reports whether the rule is about path, whose last element is base.
func (r *rule) match(path, base string) bool {
	if r.anywhere {
		path = base
	}
	switch {
	case r.suffix:
		return strings.HasSuffix(path, r.literal)
	case r.tokens == nil:
		return path == r.literal
	default:
		rest, ok := strings.CutPrefix(path, r.literal)
		return ok && wildMatch(r.tokens, rest)
	}
}
