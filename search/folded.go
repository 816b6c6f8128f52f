package search

import (
	"unicode"
	"unicode/utf8"

	"github.com/taukit/taukit/search/internal/linematch"
)

// A lineRegexp finds matches in a line as a *regexp.Regexp does.
type lineRegexp interface {
	linematch.Line
	FindIndex(line []byte) (at []int)
}

// A foldedText is a text to look for, perhaps without regard to case, by the
// algorithm of Knuth, Morris and Pratt over characters. Unlike in an expression,
// U+FFFD in it matches no bytes that are not UTF-8.
type foldedText struct {
	fold  func(rune) rune
	runes []rune // folded, at least one
	fail  []int  // fail[i] is the length of the longest border of runes[:i+1]
}

// newFoldedText returns the foldedText of a text that is UTF-8 and not empty.
func newFoldedText(text string, ignoreCase bool) *foldedText {
	f := &foldedText{fold: func(r rune) rune { return r }}
	if ignoreCase {
		f.fold = firstCase
	}
	for _, r := range text {
		f.runes = append(f.runes, f.fold(r))
	}
	f.fail = make([]int, len(f.runes))
	for i, k := 1, 0; i < len(f.runes); i++ {
		k = f.next(k, f.runes[i])
		f.fail[i] = k
	}
	return f
}

// next returns how many runes match behind k of them that do and r.
func (f *foldedText) next(k int, r rune) int {
	for k > 0 && f.runes[k] != r {
		k = f.fail[k-1]
	}
	if f.runes[k] == r {
		k++
	}
	return k
}

// Match reports whether the text is in a line.
func (f *foldedText) Match(line []byte) bool { return f.FindIndex(line) != nil }

// FindIndex returns where the leftmost match is, nil if there is none.
func (f *foldedText) FindIndex(line []byte) []int {
	k := 0
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		i += size
		if r == utf8.RuneError && size == 1 {
			k = 0
			continue
		}
		if k = f.next(k, f.fold(r)); k == len(f.runes) {
			start := i
			for range f.runes {
				_, size := utf8.DecodeLastRune(line[:start])
				start -= size
			}
			return []int{start, i}
		}
	}
	return nil
}

// firstCase returns the first one of the characters that differ from r in case
// alone.
func firstCase(r rune) rune {
	first := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		first = min(first, other)
	}
	return first
}

// hasCase reports whether a character of s has another case.
func hasCase(s string) bool {
	for _, r := range s {
		if unicode.SimpleFold(r) != r {
			return true
		}
	}
	return false
}
