package linematch

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"

	"github.com/taukit/taukit/search/internal/literal"
)

// language returns all texts that the expression matches, nil if these are more
// than a Set can have, or not texts that literals can stand for.
func language(re *syntax.Regexp) []literal.Literal {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return []literal.Literal{{}}
	case syntax.OpLiteral:
		if l, n := prefix(re.Rune, re.Flags); n == len(re.Rune) {
			return []literal.Literal{l}
		}
	case syntax.OpCharClass:
		return members(re.Rune)
	case syntax.OpCapture:
		return language(re.Sub[0])
	case syntax.OpQuest:
		if sub := language(re.Sub[0]); len(sub) > 0 && len(sub) < literal.MaxSet {
			return append(sub, literal.Literal{})
		}
	case syntax.OpConcat:
		all := []literal.Literal{{}}
		for _, sub := range re.Sub {
			all = product(all, language(sub))
		}
		return all
	case syntax.OpAlternate:
		var all []literal.Literal
		for _, sub := range re.Sub {
			part := language(sub)
			if part == nil || len(all)+len(part) > literal.MaxSet {
				return nil
			}
			all = append(all, part...)
		}
		return all
	case syntax.OpRepeat:
		if re.Min != re.Max || re.Max > literal.MaxSet {
			return nil
		}
		all := []literal.Literal{{}}
		for range re.Min {
			all = product(all, language(re.Sub[0]))
		}
		return all
	}
	return nil
}

// prefix returns the literal for the first characters, as many as one can stand
// for, and their number. Without regard to case a letter with a case outside of
// ASCII is none of them: k and s, and all that are not ASCII.
func prefix(runes []rune, flags syntax.Flags) (literal.Literal, int) {
	text := make([]byte, 0, len(runes))
	n := 0
	for _, r := range runes {
		if n == maxChars || !hasOneSpelling(r) || flags&syntax.FoldCase != 0 && !foldsInASCII(r) {
			break
		}
		text = utf8.AppendRune(text, r)
		n++
	}
	if flags&syntax.FoldCase != 0 {
		return literal.Fold(string(text)), n
	}
	return literal.Exact(string(text)), n
}

// maxChars is the length of the longest literal of an expression in characters.
// One that goes on is left to the automaton, which compares each byte once.
const maxChars = 32

// hasOneSpelling reports whether r matches its bytes in UTF-8 and nothing else.
// U+FFFD matches invalid bytes too, and a surrogate has no bytes.
func hasOneSpelling(r rune) bool { return r != utf8.RuneError && utf8.ValidRune(r) }

// foldsInASCII reports whether r is the only case of a character, or a letter
// that is one of two, both ASCII.
func foldsInASCII(r rune) bool {
	other := unicode.SimpleFold(r)
	return other == r || other <= unicode.MaxASCII && unicode.SimpleFold(other) == r && r <= unicode.MaxASCII
}

// members returns the characters of a class of a few.
func members(ranges []rune) []literal.Literal {
	var all []literal.Literal
	for i := 0; i < len(ranges); i += 2 {
		if int(ranges[i+1]-ranges[i]) >= literal.MaxSet {
			return nil
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if !hasOneSpelling(r) || r == '\n' || r == '\r' || len(all) == literal.MaxSet {
				return nil
			}
			all = append(all, literal.Exact(string(r)))
		}
	}
	return all
}

// product returns each of a joined with each of b, nil if that is more than a
// Set can have, or if one is nil.
func product(a, b []literal.Literal) []literal.Literal {
	if len(a)*len(b) > literal.MaxSet {
		return nil
	}
	var all []literal.Literal
	for _, x := range a {
		for _, y := range b {
			all = append(all, literal.Join(x, y))
		}
	}
	return all
}

// required returns literals of which every match holds one, the most selective
// ones, nil if there are none worth looking for.
func required(re *syntax.Regexp) []literal.Literal {
	switch re.Op {
	case syntax.OpLiteral:
		return requiredOfText(re)
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		return requiredOfConcat(re.Sub)
	case syntax.OpAlternate:
		var all []literal.Literal
		for _, sub := range re.Sub {
			part := required(sub)
			if part == nil || len(all)+len(part) > literal.MaxSet {
				return nil
			}
			all = append(all, part...)
		}
		return all
	}
	return nil
}

// requiredOfText returns the best part of a text of which not all characters
// can be part of a literal.
func requiredOfText(re *syntax.Regexp) []literal.Literal {
	var best []literal.Literal
	for runes := re.Rune; len(runes) > 0; {
		l, n := prefix(runes, re.Flags)
		best = better(best, []literal.Literal{l})
		runes = runes[max(n, 1):]
	}
	return best
}

// requiredOfConcat joins neighbours that have few texts. An assertion between
// them takes no room.
func requiredOfConcat(subs []*syntax.Regexp) []literal.Literal {
	var best []literal.Literal
	run := []literal.Literal{{}}
	for _, sub := range subs {
		if assertion(sub) != 0 {
			continue
		}
		texts := language(sub)
		if len(texts) <= literal.MaxCursors { // more would make a run longer, not better
			if joined := product(run, texts); joined != nil {
				run = joined
				continue
			}
		}
		best = better(best, run)
		best = better(best, texts)
		best = better(best, required(sub))
		run = []literal.Literal{{}}
	}
	return better(best, run)
}

// better returns the more selective one of two sets of literals, nil if neither
// is worth looking for.
func better(a, b []literal.Literal) []literal.Literal {
	if rarity(b) > rarity(a) {
		return b
	}
	return a
}

// rarity says how selective a set is; 0 if it is of no use.
func rarity(set []literal.Literal) int {
	if !literal.Fast(set) {
		return 0
	}
	least := set[0].Rarity()
	for _, l := range set {
		least = min(least, l.Rarity())
	}
	return max(least-8*(len(set)-1), min(least, 1))
}
