package patch

import (
	"iter"
	"slices"
)

// A form is a way to compare lines.
type form int

// The forms, from strict to tolerant.
const (
	exact   form = iota
	noTail       // without whitespace at the end
	trimmed      // without whitespace at both ends: removed lines as noTail
	forms
)

// of returns a line in the form.
func (f form) of(line string) string {
	switch f {
	case noTail:
		return trimRight(line)
	case trimmed:
		return trim(line)
	default:
		return line
	}
}

// A locator finds the places of hunks in a text. To compare lines quickly it
// numbers those that the hunks name, in each form; all others are 0.
type locator struct {
	text    *text
	hunks   []Hunk
	cursor  int // the first line that the next hunk may match
	numbers [forms]map[string]int32
	lines   [forms][]int32 // the lines of the text; nil until they are needed
}

func newLocator(t *text, hunks []Hunk) *locator {
	l := &locator{text: t, hunks: hunks}
	for f := range forms {
		l.numbers[f] = map[string]int32{}
	}
	for _, h := range hunks {
		for _, a := range h.Anchors {
			l.number(a)
		}
		for _, line := range h.Lines {
			if line.old() {
				l.number(line.Text)
			}
		}
	}
	return l
}

// number gives the line a number in each form.
func (l *locator) number(line string) {
	for f := range forms {
		if key := f.of(line); l.numbers[f][key] == 0 {
			l.numbers[f][key] = int32(len(l.numbers[f]) + 1)
		}
	}
}

// numbered returns the numbers of the lines of the text.
func (l *locator) numbered(f form) []int32 {
	if l.lines[f] == nil {
		l.lines[f] = make([]int32, l.text.len())
		for i := range l.lines[f] {
			l.lines[f][i] = l.numbers[f][f.of(l.text.content(i))]
		}
	}
	return l.lines[f]
}

// A placement is where a hunk goes.
type placement struct {
	start int    // the first line that matched, or the line to insert before
	lines []Line // those of the hunk that are applied
	note  *Note
}

// locate finds the place of the hunk with the given index, and moves the cursor
// behind it.
func (l *locator) locate(index int, m Match) (placement, error) {
	h := &l.hunks[index]
	from := l.cursor
	for _, a := range h.Anchors {
		at := l.findLine(a, from)
		if at < 0 {
			return placement{}, l.anchorMissing(index, a, from)
		}
		from = at + 1
	}
	if h.inserts() {
		return l.insertion(h, from), nil
	}
	found, ok := l.search(h, from)
	switch {
	case !ok:
		return placement{}, l.mismatch(index, from)
	case found.places > 1 && (found.form != exact || m.RequireUnique && len(h.Anchors) == 0):
		return placement{}, l.ambiguous(index, found.places)
	}
	l.cursor = found.start + countOld(found.lines)
	return placement{found.start, found.lines, found.note(h, index)}, nil
}

// findLine returns the first line, from the given one on, that is equal to
// line, in the strictest form in which there is one; -1 if there is none.
func (l *locator) findLine(line string, from int) int {
	for f := range forms {
		if at := slices.Index(l.numbered(f)[from:], l.numbers[f][f.of(line)]); at >= 0 {
			return from + at
		}
	}
	return -1
}

// insertion returns the place of a hunk without old lines, whose anchors end
// before line from.
func (l *locator) insertion(h *Hunk, from int) placement {
	l.cursor = from
	if h.EOF || len(h.Anchors) == 0 {
		from = l.text.len()
	}
	return placement{start: from, lines: withoutSeparators(h.Lines)}
}

// A match is where a reading of a hunk is found.
type match struct {
	reading
	form   form
	start  int
	places int // the number of matches; 1 if there was no choice
}

// search finds the old lines of a hunk from the given line on, which is the one
// below its last anchor. If they are not there, they may start at that anchor.
func (l *locator) search(h *Hunk, from int) (match, bool) {
	for _, r := range h.readings() {
		if m, ok := l.match(r, from); ok {
			return m, true
		}
	}
	if len(h.Anchors) > 0 {
		for _, r := range h.readings() {
			if m, ok := l.matchAt(r, from-1); ok {
				return m, true
			}
		}
	}
	return match{}, false
}

// match finds a reading from the given line on.
func (l *locator) match(r reading, from int) (match, bool) {
	p := l.pattern(r.lines)
	if r.eof {
		at := l.text.len() - p.len()
		if at < from {
			return match{}, false
		}
		return l.matchAt(r, at)
	}
	for f := range forms {
		m := match{reading: r, form: f}
		for at := range l.places(p, f, from) {
			if m.places == 0 {
				m.start = at
			}
			m.places++
		}
		if m.places > 0 {
			return m, true
		}
	}
	return match{}, false
}

// matchAt compares a reading with the lines from the given one on.
func (l *locator) matchAt(r reading, at int) (match, bool) {
	p := l.pattern(r.lines)
	end := at + p.len()
	if end > l.text.len() || r.eof && end < l.text.len() {
		return match{}, false
	}
	for f := range forms {
		if l.equal(p, f, at) {
			return match{r, f, at, 1}, true
		}
	}
	return match{}, false
}

// note returns what there is to say about a match of a hunk, or nil.
func (m match) note(h *Hunk, index int) *Note {
	n := Note{Hunk: index + 1, Line: m.start + 1}
	switch {
	case m.form == noTail:
		n.Kind = TrailingSpace
	case m.form == trimmed:
		n.Kind = Indentation
	case m.places > 1 && len(h.Anchors) == 0:
		n.Kind, n.Places = Repeated, m.places
	default:
		return nil
	}
	return &n
}

// A pattern is the old lines of a reading, numbered.
type pattern struct {
	numbers [forms][]int32
	removed []bool
}

func (p pattern) len() int { return len(p.removed) }

func (l *locator) pattern(lines []Line) pattern {
	var p pattern
	for _, line := range lines {
		if !line.old() {
			continue
		}
		for f := range forms {
			p.numbers[f] = append(p.numbers[f], l.numbers[f][f.of(line.Text)])
		}
		p.removed = append(p.removed, line.Kind == '-')
	}
	return p
}

// runs returns the half-open ranges of removed lines that follow each other.
func (p pattern) runs() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for i := 0; i < len(p.removed); i++ {
			start := i
			for i < len(p.removed) && p.removed[i] {
				i++
			}
			if i > start && !yield(start, i) {
				return
			}
		}
	}
}

// equal reports whether the lines from the given one on equal p in a form.
func (l *locator) equal(p pattern, f form, at int) bool {
	if !slices.Equal(l.numbered(f)[at:at+p.len()], p.numbers[f]) {
		return false
	}
	if f == trimmed {
		for start, end := range p.runs() {
			if !slices.Equal(l.numbered(noTail)[at+start:at+end], p.numbers[noTail][start:end]) {
				return false
			}
		}
	}
	return true
}

// maxTrimmedWork is how many lines are looked at for a hunk whose context is
// indented otherwise. A hunk of very many runs of removed lines in a file of very
// many lines is not matched in that form.
const maxTrimmedWork = 100_000_000

// places returns the lines, from the given one on, at which p matches in a form.
func (l *locator) places(p pattern, f form, from int) iter.Seq[int] {
	if f != trimmed {
		return occurrences(l.numbered(f), p.numbers[f], from)
	}
	// What matches without indentation comes first; then one run of removed
	// lines after the other rules out places. A place is not compared line by
	// line, which would take more than linear time.
	places := slices.Collect(occurrences(l.numbered(trimmed), p.numbers[trimmed], from))
	work := 0
	for start, end := range p.runs() {
		if len(places) == 0 {
			break
		}
		if work += l.text.len() - places[0]; work > maxTrimmedWork {
			return slices.Values(places[:0]) // which of them match cannot be told
		}
		run := occurrences(l.numbered(noTail), p.numbers[noTail][start:end], places[0]+start)
		places = intersect(places, run, start)
	}
	return slices.Values(places)
}

// intersect returns the places that are some offset before one of others. Both
// are in order. It overwrites places.
func intersect(places []int, others iter.Seq[int], offset int) []int {
	kept, next := places[:0], 0
	for other := range others {
		for next < len(places) && places[next]+offset < other {
			next++
		}
		if next == len(places) {
			break
		}
		if places[next]+offset == other {
			kept = append(kept, places[next])
		}
	}
	return kept
}

// occurrences returns where a pattern, which is not empty, occurs in lines,
// from the given index on, overlapping occurrences included. It takes linear
// time (Knuth, Morris and Pratt).
func occurrences(lines, pattern []int32, from int) iter.Seq[int] {
	return func(yield func(int) bool) {
		shorter, matched := borders(pattern), 0
		for i := from; i < len(lines); i++ {
			for matched > 0 && (matched == len(pattern) || pattern[matched] != lines[i]) {
				matched = int(shorter[matched])
			}
			if pattern[matched] == lines[i] {
				matched++
			}
			if matched == len(pattern) && !yield(i+1-matched) {
				return
			}
		}
	}
}

// borders returns for each length n the length of the longest shorter prefix of
// pattern that pattern[:n] ends with.
func borders(pattern []int32) []int32 {
	b := make([]int32, len(pattern)+1)
	n := int32(0)
	for i := 1; i < len(pattern); i++ {
		for n > 0 && pattern[n] != pattern[i] {
			n = b[n]
		}
		if pattern[n] == pattern[i] {
			n++
		}
		b[i+1] = n
	}
	return b
}
