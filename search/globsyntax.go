package search

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// expandBraces returns all globs without braces that a glob stands for, or the
// reason why it is malformed.
func expandBraces(glob string) (expanded []string, reason string) {
	p := braceParser{glob: glob}
	parsed, reason := p.sequence(0)
	if reason != "" {
		return nil, reason
	}
	if parsed.count() > MaxGlobAlternatives {
		return nil, GlobAlternatives
	}
	for _, e := range parsed.expand([][]byte{nil}) {
		expanded = append(expanded, string(e))
	}
	return expanded, ""
}

// A braceSequence is a glob as its parts, which stand one behind the other.
type braceSequence []bracePart

// A bracePart is a text without braces, or else the alternatives in braces.
type bracePart struct {
	text         string
	alternatives []braceSequence
}

// count returns the number of globs without braces, or a number over the limit.
func (s braceSequence) count() int {
	product := 1
	for _, part := range s {
		if part.alternatives == nil {
			continue
		}
		sum := 0
		for _, a := range part.alternatives {
			sum += a.count()
		}
		product *= min(sum, MaxGlobAlternatives+1)
		product = min(product, MaxGlobAlternatives+1)
	}
	return product
}

// expand returns each of the beginnings with each of the globs without braces
// behind it. It may change the beginnings.
func (s braceSequence) expand(beginnings [][]byte) [][]byte {
	for _, part := range s {
		if part.alternatives == nil {
			for i := range beginnings {
				beginnings[i] = append(beginnings[i], part.text...)
			}
			continue
		}
		var all [][]byte
		for k, a := range part.alternatives {
			these := beginnings
			if k+1 < len(part.alternatives) {
				these = make([][]byte, len(beginnings))
				for i := range these {
					these[i] = bytes.Clone(beginnings[i])
				}
			}
			all = append(all, a.expand(these)...)
		}
		beginnings = all
	}
	return beginnings
}

// A braceParser reads a glob up to at.
type braceParser struct {
	glob string
	at   int
}

// sequence reads up to the end or, in braces, up to the "," or "}" that ends an
// alternative.
func (p *braceParser) sequence(depth int) (s braceSequence, reason string) {
	for {
		text, reason := p.text(depth)
		if reason != "" {
			return nil, reason
		}
		if text != "" {
			s = append(s, bracePart{text: text})
		}
		if p.at == len(p.glob) || p.glob[p.at] != '{' {
			return s, ""
		}
		alternatives, reason := p.braces(depth + 1)
		if reason != "" {
			return nil, reason
		}
		s = append(s, bracePart{alternatives: alternatives})
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
func (p *braceParser) braces(depth int) (all []braceSequence, reason string) {
	for {
		p.at++ // "{" or ","
		part, reason := p.sequence(depth)
		if reason != "" {
			return nil, reason
		}
		if p.at == len(p.glob) {
			return nil, GlobUnclosedBrace
		}
		all = append(all, part)
		if p.glob[p.at] == '}' {
			p.at++
			return all, ""
		}
	}
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
