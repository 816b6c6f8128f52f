package patch

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The rules of locating and composing written out as simply as can be, line by
// line, without regard to time.

type naive struct {
	lines  []string // of the file, without ends
	ends   []string // of the file
	insert map[int][]string
	gone   map[int]bool
	cursor int
	notes  []Note
}

var naiveLine = regexp.MustCompile(`(?s)([^\r\n]*)(\r\n|\r|\n|$)`)

func newNaive(body string) *naive {
	n := &naive{insert: map[int][]string{}, gone: map[int]bool{}}
	for _, m := range naiveLine.FindAllStringSubmatch(body, -1) {
		if m[0] != "" {
			n.lines, n.ends = append(n.lines, m[1]), append(n.ends, m[2])
		}
	}
	return n
}

// same compares a line of a hunk with one of the file, in tier 1, 2 or 3.
func same(tier int, l Line, file string) bool {
	switch {
	case tier == 1:
		return l.Text == file
	case tier == 2 || l.Kind == '-':
		return trimRight(l.Text) == trimRight(file)
	default:
		return trim(l.Text) == trim(file)
	}
}

func (n *naive) matches(tier int, old []Line, at int) bool {
	if at < 0 || at+len(old) > len(n.lines) {
		return false
	}
	for i, l := range old {
		if !same(tier, l, n.lines[at+i]) {
			return false
		}
	}
	return true
}

// apply does a hunk; it reports the number of places if they are too many.
func (n *naive) apply(index int, h Hunk, unique bool) (ok bool, places int) {
	from := n.cursor
	for _, a := range h.Anchors {
		at := -1
		for tier := 1; tier <= 3 && at < 0; tier++ {
			for i := from; i < len(n.lines) && at < 0; i++ {
				if same(tier, ctxLine(a), n.lines[i]) {
					at = i
				}
			}
		}
		if at < 0 {
			return false, 0
		}
		from = at + 1
	}
	dropped := slices.Clone(h.Lines)
	for len(dropped) > 0 && dropped[len(dropped)-1].Bare {
		dropped = dropped[:len(dropped)-1]
	}
	if !slices.ContainsFunc(dropped, Line.old) {
		n.cursor = from
		at := from
		if h.EOF || len(h.Anchors) == 0 {
			at = len(n.lines)
		}
		n.change(at, dropped)
		return true, 0
	}
	readings := [][]Line{h.Lines, dropped}
	eof := []bool{h.EOF, h.EOF}
	if last := h.Lines[len(h.Lines)-1]; last.Kind == ' ' && trim(last.Text) == "" && slices.ContainsFunc(h.Lines[:len(h.Lines)-1], Line.old) {
		readings, eof = append(readings, h.Lines[:len(h.Lines)-1]), append(eof, true)
	}
	for _, atAnchor := range []bool{false, true} {
		if atAnchor && len(h.Anchors) == 0 {
			break
		}
		for i, lines := range readings {
			old := oldLines(lines)
			for tier := 1; tier <= 3; tier++ {
				var found []int
				for at := range n.lines {
					if n.matches(tier, old, at) && (at >= from && !atAnchor || at == from-1 && atAnchor) && (!eof[i] || at+len(old) == len(n.lines)) {
						found = append(found, at)
					}
				}
				if len(found) == 0 {
					continue
				}
				if len(found) > 1 && (tier > 1 || unique && len(h.Anchors) == 0) {
					return false, len(found)
				}
				note := Note{Hunk: index + 1, Line: found[0] + 1}
				switch {
				case tier == 2:
					note.Kind = TrailingSpace
				case tier == 3:
					note.Kind = Indentation
				case len(found) > 1 && len(h.Anchors) == 0:
					note.Kind, note.Places = Repeated, len(found)
				}
				if note.Kind != 0 {
					n.notes = append(n.notes, note)
				}
				n.change(found[0], lines)
				n.cursor = found[0] + len(old)
				return true, 0
			}
		}
	}
	return false, 0
}

// change does the lines of a hunk at a place. Added lines are kept with their
// ends, before the line of the file at which their block starts.
func (n *naive) change(at int, lines []Line) {
	for i := 0; i < len(lines); {
		if lines[i].Kind == ' ' {
			i, at = i+1, at+1
			continue
		}
		start, end := at, ""
		var added []string
		for ; i < len(lines) && lines[i].Kind != ' '; i++ {
			if lines[i].Kind == '+' {
				added = append(added, lines[i].Text)
				continue
			}
			if end == "" {
				end = n.ends[at]
			}
			n.gone[at] = true
			at++
		}
		for k := start - 1; k >= 0 && end == ""; k-- {
			end = n.ends[k]
		}
		for k := at; k < len(n.ends) && end == ""; k++ {
			end = n.ends[k]
		}
		if end == "" {
			end = "\n"
		}
		for _, text := range added {
			n.insert[start] = append(n.insert[start], text+end)
		}
	}
}

func (n *naive) result() string {
	var b strings.Builder
	write := func(line string) {
		if strings.HasPrefix(line, "\n") && strings.HasSuffix(b.String(), "\r") {
			b.WriteString("\n")
		}
		b.WriteString(line)
	}
	for i := 0; i <= len(n.lines); i++ {
		for k, line := range n.insert[i] {
			if i == len(n.lines) && k == 0 && i > 0 && n.ends[i-1] == "" && !n.gone[i-1] {
				end := line[len(strings.TrimRight(line, "\r\n")):]
				if strings.HasSuffix(end, "\r\n") {
					end = "\r\n"
				} else {
					end = end[len(end)-1:]
				}
				b.WriteString(end)
			}
			write(line)
		}
		if i < len(n.lines) && !n.gone[i] {
			write(n.lines[i] + n.ends[i])
		}
	}
	return b.String()
}

// checkHunks compares ApplyHunks with the rules written out.
func checkHunks(t *testing.T, old string, hunks []Hunk, m Match) (applied bool) {
	t.Helper()
	body, marked := strings.CutPrefix(old, byteOrderMark)
	n := newNaive(body)
	failed, places := -1, 0
	for i, h := range hunks {
		ok := false
		if ok, places = n.apply(i, h, m.RequireUnique); !ok {
			failed = i
			break
		}
	}
	got, notes, err := ApplyHunks(t.Context(), []byte(old), hunks, m)
	if failed >= 0 {
		var e *MatchError
		require.ErrorAs(t, err, &e, "%q %v", old, hunks)
		require.Equal(t, [2]int{failed + 1, places}, [2]int{e.Hunk, e.Places}, "%q %v", old, hunks)
		checkHint(t, n, hunks[failed], e)
		return false
	}
	require.NoError(t, err, "%q %v", old, hunks)
	require.Equal(t, n.notes, notes, "%q %v", old, hunks)
	want := n.result()
	if marked {
		want = byteOrderMark + want
	}
	require.Equal(t, want, string(got), "%q %v", old, hunks)
	return true
}

// checkHint checks what an error says about where lines are.
func checkHint(t *testing.T, n *naive, h Hunk, e *MatchError) {
	t.Helper()
	at := func(lines []Line) (places []int) {
		for i := range n.lines {
			if n.matches(1, lines, i) {
				places = append(places, i)
			}
		}
		return places
	}
	switch e.Hint {
	case BeforeCursor:
		places := at(oldLines(h.Lines))
		require.Equal(t, e.HintLine-1, places[0])
		require.Less(t, places[len(places)-1], n.cursor)
	case NotAtEOF:
		require.True(t, h.EOF)
		require.Contains(t, at(oldLines(h.Lines)), e.HintLine-1)
	case AlreadyApplied:
		require.Equal(t, []int{e.HintLine - 1}, at(newLines(h.Lines)))
	}
	for i, line := range e.Closest {
		require.Equal(t, n.lines[e.ClosestLine-1+i], line)
	}
}

var (
	naiveTexts = []string{"a", "b", " a", "a ", "\tb ", "", " ", "é"}
	naiveEnds  = []string{"\n", "\n", "\r\n", "\r"}
)

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// randomFile returns a few lines, often alike.
func randomFile(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(8) == 0 {
		b.WriteString(byteOrderMark)
	}
	texts := naiveTexts[:1+r.IntN(len(naiveTexts))]
	for n := r.IntN(9); n > 0; n-- {
		b.WriteString(pick(r, texts))
		if n > 1 || r.IntN(3) > 0 {
			b.WriteString(pick(r, naiveEnds))
		}
	}
	return b.String()
}

// randomHunks returns hunks whose old lines are mostly in the file.
func randomHunks(r *rand.Rand, file string) []Hunk {
	n := newNaive(strings.TrimPrefix(file, byteOrderMark))
	hunks := make([]Hunk, 1+r.IntN(3))
	at := 0
	for i := range hunks {
		h := &hunks[i]
		at = min(at+r.IntN(2), len(n.lines))
		for at < len(n.lines) && r.IntN(4) == 0 {
			h.Anchors = append(h.Anchors, n.lines[at]+pick(r, []string{"", " "}))
			h.Anchors = slices.DeleteFunc(h.Anchors, isBlank)
			at += r.IntN(2)
		}
		h.EOF = r.IntN(8) == 0
		for range 1 + r.IntN(5) {
			text := pick(r, naiveTexts)
			if at < len(n.lines) && r.IntN(12) > 0 {
				text = n.lines[at]
			}
			switch r.IntN(5) {
			case 0:
				h.Lines = append(h.Lines, newLine(pick(r, naiveTexts)))
				continue
			case 1:
				h.Lines = append(h.Lines, oldLine(text))
			case 2:
				h.Lines = append(h.Lines, ctxLine(trim(text)))
			default:
				h.Lines = append(h.Lines, ctxLine(text))
			}
			at++
		}
		for r.IntN(4) == 0 {
			h.Lines = append(h.Lines, bareLine)
		}
	}
	return hunks
}

func TestApplyHunksNaively(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	applied := 0
	const rounds = 15_000
	for range rounds {
		file := randomFile(r)
		if checkHunks(t, file, randomHunks(r, file), Match{RequireUnique: r.IntN(4) == 0}) {
			applied++
		}
	}
	require.Greater(t, applied, rounds/5)
	require.Less(t, applied, rounds*4/5)
}

// diffHunk returns a hunk that makes new of old, which holds all of old.
func diffHunk(old, newTexts []string) Hunk {
	lengths := make([][]int, len(old)+1)
	for i := range lengths {
		lengths[i] = make([]int, len(newTexts)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(newTexts) - 1; j >= 0; j-- {
			if old[i] == newTexts[j] {
				lengths[i][j] = lengths[i+1][j+1] + 1
			} else {
				lengths[i][j] = max(lengths[i+1][j], lengths[i][j+1])
			}
		}
	}
	var h Hunk
	for i, j := 0, 0; i < len(old) || j < len(newTexts); {
		switch {
		case i < len(old) && j < len(newTexts) && old[i] == newTexts[j]:
			h.Lines = append(h.Lines, ctxLine(old[i]))
			i, j = i+1, j+1
		case j == len(newTexts) || i < len(old) && lengths[i+1][j] >= lengths[i][j+1]:
			h.Lines = append(h.Lines, oldLine(old[i]))
			i++
		default:
			h.Lines = append(h.Lines, newLine(newTexts[j]))
			j++
		}
	}
	return h
}

// FuzzApplyDiff makes one text of another, with a patch printed and parsed.
func FuzzApplyDiff(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nB\nc\n")
	f.Add("", "x")
	f.Add("a\n\n\nb", "\n")
	f.Add("a\na\na\n", "a\n")
	f.Add("b\na", "a\n")
	f.Fuzz(func(t *testing.T, old, new string) {
		if len(old)+len(new) > 4000 || strings.ContainsAny(old+new, "\x00\r") || strings.HasPrefix(old, byteOrderMark) || old == new {
			t.Skip()
		}
		oldTexts := strings.Split(strings.TrimSuffix(old, "\n"), "\n")
		newTexts := strings.Split(strings.TrimSuffix(new, "\n"), "\n")
		if old == "" {
			oldTexts = nil
		}
		if new == "" {
			newTexts = nil
		}
		h := diffHunk(oldTexts, newTexts)
		p := &Patch{updateOf(h)}
		parsed, err := Parse(p.String())
		if err != nil {
			require.ErrorContains(t, err, "not valid UTF-8")
			t.Skip()
		}
		require.Equal(t, p, parsed)
		got, _, err := ApplyHunks(t.Context(), []byte(old), parsed.Sections[0].Hunks, Match{})
		require.NoError(t, err)
		// Whether the last line ends in LF depends on whether it was added.
		require.Equal(t, strings.TrimSuffix(new, "\n"), strings.TrimSuffix(string(got), "\n"))
	})
}
