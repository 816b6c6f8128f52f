package search

import (
	"strings"
	"unicode/utf8"
)

// expandBraces returns all globs without braces that a glob stands for, in
// order, or the reason why it is malformed.
func expandBraces(glob string) (expanded []string, reason string) {
	p := braceParser{glob: glob}
	expanded, reason = p.sequence(0)
	return expanded, reason
}

// A braceParser reads a glob up to at.
type braceParser struct {
	glob string
	at   int
}

// maxExpandedBytes bounds all alternatives of a glob together.
const maxExpandedBytes = 16 * MaxGlobBytes

// sequence reads up to the end or, in braces, up to the "," or "}" that ends an
// alternative.
func (p *braceParser) sequence(depth int) ([]string, string) {
	all := []string{""}
	for {
		text, reason := p.text(depth)
		if reason != "" {
			return nil, reason
		}
		if all, reason = crossJoin(all, []string{text}); reason != "" {
			return nil, reason
		}
		if p.at == len(p.glob) || p.glob[p.at] != '{' {
			return all, ""
		}
		inner, reason := p.braces(depth + 1)
		if reason != "" {
			return nil, reason
		}
		if all, reason = crossJoin(all, inner); reason != "" {
			return nil, reason
		}
	}
}

// text reads up to the next brace or, in braces, comma.
func (p *braceParser) text(depth int) (text, reason string) {
	start := p.at
	for p.at < len(p.glob) {
		switch c := p.glob[p.at]; {
		case c == '{', depth > 0 && (c == ',' || c == '}'):
			return p.glob[start:p.at], ""
		case c == '[':
			if p.at, reason = classEnd(p.glob, p.at); reason != "" {
				return "", reason
			}
		case c == '\\':
			if p.at+1 == len(p.glob) {
				return "", GlobBackslash
			}
			p.at += 2
		default:
			p.at++
		}
	}
	return p.glob[start:], ""
}

// braces reads the alternatives of "{", up to the "}" that closes it.
func (p *braceParser) braces(depth int) ([]string, string) {
	if depth > MaxGlobAlternatives {
		return nil, GlobAlternatives
	}
	var all []string
	for {
		p.at++ // "{" or ","
		part, reason := p.sequence(depth)
		if reason != "" {
			return nil, reason
		}
		if p.at == len(p.glob) {
			return nil, GlobUnclosedBrace
		}
		all = append(all, part...)
		if len(all) > MaxGlobAlternatives {
			return nil, GlobAlternatives
		}
		if p.glob[p.at] == '}' {
			p.at++
			return all, ""
		}
	}
}

// crossJoin returns each of a followed by each of b.
func crossJoin(a, b []string) ([]string, string) {
	if len(a)*len(b) > MaxGlobAlternatives {
		return nil, GlobAlternatives
	}
	size := 0
	joined := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			joined = append(joined, x+y)
			if size += len(x) + len(y); size > maxExpandedBytes {
				return nil, GlobAlternatives
			}
		}
	}
	return joined, ""
}

// classEnd returns the position behind the class at glob[start:], which begins
// with "[".
func classEnd(glob string, start int) (int, string) {
	for i := start + 1; i < len(glob); i++ {
		switch glob[i] {
		case ']':
			return i + 1, ""
		case '\\':
			i++
		}
	}
	if strings.HasSuffix(glob, `\`) && !strings.HasSuffix(glob, `\\`) {
		return 0, GlobBackslash
	}
	return 0, GlobUnclosedClass
}

// normalGlob returns a glob without braces as package doublestar has to see it:
// "**" at the end matches at least one element, "**" inside of an element is
// "*", braces are plain characters, and no class matches "/". The glob is known
// to have its classes and backslashes complete.
func normalGlob(glob string) (normal, reason string) {
	var out []byte
	for i := 0; i < len(glob); {
		switch c := glob[i]; c {
		case '\\':
			_, size := utf8.DecodeRuneInString(glob[i+1:])
			out = append(out, glob[i:i+1+size]...)
			i += 1 + size
		case '[':
			end, _ := classEnd(glob, i)
			class, reason := normalClass(glob[i+1 : end-1])
			if reason != "" {
				return "", reason
			}
			out = append(out, class...)
			i = end
		case '*':
			start := i
			for i < len(glob) && glob[i] == '*' {
				i++
			}
			whole := (start == 0 || glob[start-1] == '/') && (i == len(glob) || glob[i] == '/')
			switch {
			case i-start != 2 || !whole:
				out = append(out, '*')
			case i == len(glob):
				out = append(out, "**/*"...)
			default:
				out = append(out, "**"...)
			}
		case '{', '}', ',':
			out = append(out, '\\', c)
			i++
		default:
			out = append(out, c)
			i++
		}
	}
	return string(out), ""
}

// normalClass returns a class, given without its brackets, with every end of a
// range escaped and "/" kept out.
func normalClass(class string) (normal, reason string) {
	members, negated := strings.CutPrefix(class, "!")
	if !negated {
		members, negated = strings.CutPrefix(class, "^")
	}
	if members == "" {
		return "", GlobRange
	}
	next := func() rune {
		members = strings.TrimPrefix(members, `\`)
		r, size := utf8.DecodeRuneInString(members)
		members = members[size:]
		return r
	}
	out := []byte{'['}
	if negated {
		out = append(out, `^\/`...)
	}
	empty := !negated
	add := func(lo, hi rune) {
		if lo > hi {
			return
		}
		empty = false
		out = utf8.AppendRune(append(out, '\\'), lo)
		if lo < hi {
			out = utf8.AppendRune(append(out, '-', '\\'), hi)
		}
	}
	for members != "" {
		lo := next()
		hi := lo
		if len(members) > 1 && members[0] == '-' {
			members = members[1:]
			hi = next()
		}
		if lo > hi {
			return "", GlobRange
		}
		if !negated && lo <= '/' && '/' <= hi {
			add(lo, '/'-1)
			add('/'+1, hi)
			continue
		}
		add(lo, hi)
	}
	if empty { // only "/": no character matches
		return "[^\\\x00-\\" + string(utf8.MaxRune) + "]", ""
	}
	return string(append(out, ']')), ""
}
