package replace

import (
	"regexp"
	"slices"
	"strings"
)

// A unit is one byte of a text in normal form and its bytes in the source.
type unit struct{ norm, src string }

func units(s string) []unit {
	var list []unit
	for s != "" {
		n, norm := 1, s[:1]
		if norm == "\r" {
			norm = "\n"
		}
		if strings.HasPrefix(s, "\r\n") {
			n = 2
		}
		list = append(list, unit{norm, s[:n]})
		s = s[n:]
	}
	return list
}

func normOf(list []unit) string {
	var b strings.Builder
	for _, u := range list {
		b.WriteString(u.norm)
	}
	return b.String()
}

func srcOf(list []unit) string {
	var b strings.Builder
	for _, u := range list {
		b.WriteString(u.src)
	}
	return b.String()
}

// naivePlaces counts with overlaps, by trying every place.
func naivePlaces(text, target string) []int {
	var places []int
	for i := 0; i+len(target) <= len(text) && len(places) < MaxMatches; i++ {
		if text[i:i+len(target)] == target {
			places = append(places, i)
		}
	}
	return places
}

// naiveApply is the page written out, slowly, on units. The error has no hint.
func naiveApply(src string, edits []Edit) (string, *Error) {
	mark := ""
	if strings.HasPrefix(src, "\ufeff") {
		mark, src = "\ufeff", src[3:]
	}
	list := units(src)
	text := normOf(list)

	type span struct {
		entry, from, to int
		old, insert     string
	}
	var spans []span
	for i, e := range edits {
		old := normOf(units(e.OldText))
		places := naivePlaces(text, old)
		switch {
		case len(places) == 0:
			return "", &Error{Code: CodeNoMatch, Index: i, Other: -1}
		case len(places) > 1:
			var lines []int
			for _, p := range places {
				lines = append(lines, 1+strings.Count(text[:p], "\n"))
			}
			return "", &Error{Code: CodeAmbiguousMatch, Index: i, Other: -1, Matches: len(places), MatchLines: slices.Compact(lines)}
		}
		spans = append(spans, span{i, places[0], places[0] + len(old), old, normOf(units(e.NewText))})
	}
	slices.SortFunc(spans, func(a, b span) int { return (a.from-b.from)*1000000 + (a.to-b.to)*100 + a.entry - b.entry })
	for i := 1; i < len(spans); i++ {
		if a, b := spans[i-1], spans[i]; b.from < a.to {
			return "", &Error{Code: CodeOverlap, Index: min(a.entry, b.entry), Other: max(a.entry, b.entry)}
		}
	}

	out := mark
	write := func(s string) {
		if strings.HasSuffix(out, "\r") && strings.HasPrefix(s, "\n") {
			out += "\n"
		}
		out += s
	}
	at := 0
	for _, s := range spans {
		from, to, insert, old := s.from, s.to, s.insert, s.old
		for old != "" && insert != "" && old[0] == insert[0] {
			old, insert, from = old[1:], insert[1:], from+1
		}
		for old != "" && insert != "" && old[len(old)-1] == insert[len(insert)-1] {
			old, insert, to = old[:len(old)-1], insert[:len(insert)-1], to-1
		}
		write(srcOf(list[at:from]))
		if mark != "" && out == mark {
			insert = strings.TrimPrefix(insert, "\ufeff")
		}
		write(strings.ReplaceAll(insert, "\n", naiveEnding(list, from, to)))
		at = to
	}
	write(srcOf(list[at:]))
	if len(out) > MaxFileBytes {
		return "", &Error{Code: CodeTooLarge, Index: -1, Other: -1}
	}
	return out, nil
}

func naiveEnding(list []unit, from, to int) string {
	for _, u := range list[from:to] {
		if u.norm == "\n" {
			return u.src
		}
	}
	for i := from - 1; i >= 0; i-- {
		if list[i].norm == "\n" {
			return list[i].src
		}
	}
	for _, u := range list[to:] {
		if u.norm == "\n" {
			return u.src
		}
	}
	return "\n"
}

var (
	recordLabel = regexp.MustCompile(`^[0-9]+(\([a-z0-9,_-]+\))?( |$)`)
	blanks      = regexp.MustCompile(`[ \t]+`)
)

// naiveLines returns the lines of a text in normal form.
func naiveLines(s string) []string {
	lines := strings.Split(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func naiveKeys(s string) []string {
	var keys []string
	for _, l := range naiveLines(s) {
		keys = append(keys, strings.Trim(blanks.ReplaceAllString(l, " "), " "))
	}
	return keys
}

// naiveHint is rule R17 written out.
func naiveHint(src, target string) (Hint, int) {
	text := normOf(units(strings.TrimPrefix(src, "\ufeff")))
	old := normOf(units(target))
	line := func(s string) int {
		if i := strings.Index(text, s); i >= 0 && s != "" {
			return 1 + strings.Count(text[:i], "\n")
		}
		return 0
	}

	var bare []string
	for _, l := range naiveLines(old) {
		if recordLabel.MatchString(l) {
			bare = append(bare, recordLabel.ReplaceAllString(l, ""))
		}
	}
	if len(bare) == len(naiveLines(old)) {
		s := strings.Join(bare, "\n")
		if strings.HasSuffix(old, "\n") {
			s += "\n"
		}
		if n := line(s); n > 0 {
			return HintLineNumbers, n
		}
	}
	if rest, ok := strings.CutPrefix(old, "\ufeff"); ok {
		if n := line(rest); n > 0 {
			return HintBOM, n
		}
	}
	keys, want := naiveKeys(text), naiveKeys(old)
	for len(want) > 0 && want[0] == "" {
		want = want[1:]
	}
	for len(want) > 0 && want[len(want)-1] == "" {
		want = want[:len(want)-1]
	}
	if len(want) == 0 {
		return "", 0
	}
	for i := 0; i+len(want) <= len(keys); i++ {
		if slices.Equal(keys[i:i+len(want)], want) {
			return HintWhitespace, i + 1
		}
	}
	first, count := 0, 0
	for i, k := range keys {
		if k == want[0] {
			first, count = i+1, count+1
		}
	}
	if count == 1 {
		return HintFirstLine, first
	}
	return "", 0
}
