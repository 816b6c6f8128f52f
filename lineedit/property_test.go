package lineedit

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// The model: lines by a regular expression, one slice of pieces, and the rules
// as the specification words them.

var lineRE = regexp.MustCompile(`(?s)[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+`)

// splitLines returns the lines of s with their endings.
func splitLines(s string) []string {
	// Each byte becomes a character of its own, so that the expression leaves
	// invalid UTF-8 alone.
	wide := make([]rune, len(s))
	for i := range len(s) {
		wide[i] = rune(s[i])
	}
	var out []string
	for _, m := range lineRE.FindAllString(string(wide), -1) {
		var narrow []byte
		for _, r := range m {
			narrow = append(narrow, byte(r))
		}
		out = append(out, string(narrow))
	}
	return out
}

func contentOf(line string) string { return strings.TrimRight(line, "\r\n") }
func endingOf(line string) string  { return line[len(contentOf(line)):] }

// linesOf returns what a file is to the editor: its byte order mark and its
// lines behind it.
func linesOf(src string) (mark string, lines []string) {
	rest, ok := strings.CutPrefix(src, bom)
	if !ok {
		return "", splitLines(src)
	}
	if rest == "" {
		return bom, []string{""}
	}
	return bom, splitLines(rest)
}

// naiveApply applies valid edits to src.
func naiveApply(src string, edits []Edit) string {
	mark, lines := linesOf(src)
	n := len(lines)
	nearest := func(k int) string { // of line k, k-1, ...
		for ; k >= 1; k-- {
			if k <= n && endingOf(lines[k-1]) != "" {
				return endingOf(lines[k-1])
			}
		}
		return ""
	}
	endings := func(s string) []string {
		var out []string
		for _, l := range splitLines(s) {
			if e := endingOf(l); e != "" {
				out = append(out, e)
			}
		}
		return out
	}
	complete := func(e Edit) string {
		switch s := e.NewText; {
		case s == "" || strings.HasSuffix(s, "\n") || strings.HasSuffix(s, "\r"):
			return s
		case e.EndExclusive > e.Start:
			return s + endingOf(lines[e.EndExclusive-2])
		case nearest(int(e.Start)) != "":
			return s + nearest(int(e.Start))
		case len(endings(s)) > 0:
			return s + endings(s)[len(endings(s))-1]
		default:
			return s + "\n"
		}
	}
	out, firstIsNew := "", false
	put := func(piece string, isNew bool) {
		if out == "" && piece != "" {
			firstIsNew = isNew
		}
		if strings.HasSuffix(out, "\r") && strings.HasPrefix(piece, "\n") {
			out += "\n"
		}
		out += piece
	}
	for line := 1; line <= n+1; {
		next, replaced := line, false
		for _, empty := range []bool{true, false} { // touching: only one of them starts here
			for _, e := range edits {
				if int(e.Start) != line || (e.Start == e.EndExclusive) != empty {
					continue
				}
				text := complete(e)
				if line == n+1 && text != "" && out != "" && !strings.HasSuffix(out, "\n") && !strings.HasSuffix(out, "\r") {
					if e := nearest(n); e != "" {
						put(e, false)
					} else {
						put(endings(text)[0], false)
					}
				}
				put(text, true)
				next, replaced = int(e.EndExclusive), !empty
			}
		}
		if !replaced {
			if line <= n {
				put(lines[line-1], false)
			}
			next = line + 1
		}
		line = next
	}
	if mark != "" && firstIsNew {
		out = strings.TrimPrefix(out, bom)
	}
	return mark + out
}

// naiveCheck returns the reason that a request fails with and the edit, -1 with
// EditsOverlap: whether two overlap is clear, but not which.
func naiveCheck(src string, edits []Edit) (Reason, int) {
	mark, lines := linesOf(src)
	for i, e := range edits {
		context := strings.TrimRight(e.ContextLine, "\r\n")
		switch {
		case e.Start < 1:
			return StartBelowOne, i
		case e.EndExclusive < 1:
			return EndBelowOne, i
		case e.EndExclusive < e.Start:
			return EndBelowStart, i
		case strings.ContainsAny(context, "\r\n"):
			return ContextNotOneLine, i
		}
	}
	for i, e := range edits {
		if e.Start > int64(len(lines)+1) {
			return StartPastEnd, i
		}
		if e.EndExclusive > int64(len(lines)+1) {
			return EndPastEnd, i
		}
	}
	for i, a := range edits {
		for _, b := range edits[i+1:] {
			if a.Start == b.Start || a.Start < b.Start && b.Start < a.EndExclusive || b.Start < a.Start && a.Start < b.EndExclusive {
				return EditsOverlap, -1
			}
		}
	}
	for i, e := range edits {
		context := contentOf(e.ContextLine)
		if e.Start == 1 {
			if context != "" {
				return ContextNotEmpty, i
			}
			continue
		}
		line := contentOf(lines[e.Start-2])
		if !utf8.ValidString(line) {
			return ContextInvalidLine, i
		}
		if context != line && (e.Start != 2 || mark == "" || context != bom+line) {
			return ContextDiffers, i
		}
	}
	if !utf8.ValidString(src) {
		for i, e := range edits {
			if strings.ContainsFunc(e.NewText, func(r rune) bool { return r >= utf8.RuneSelf }) {
				return TextNotASCII, i
			}
		}
	}
	return 0, -1
}

// choices takes decisions from bytes, so that random tests and fuzzing share
// their checks.
type choices struct{ data []byte }

func (c *choices) below(n int) int {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % n
}

func (c *choices) text(alphabet ...string) string {
	s := ""
	for range c.below(6) {
		s += alphabet[c.below(len(alphabet))]
	}
	return s
}

// validEdits chooses edits that fit src, in some order.
func (c *choices) validEdits(src string) []Edit {
	mark, lines := linesOf(src)
	alphabet := []string{"a", "\n", "\r", "\r\n", bom, "b"}
	if !utf8.ValidString(src) {
		alphabet = []string{"a", "\n", "\r", "\r\n", "b"}
	}
	var edits []Edit
	for start := 1; start <= len(lines)+1; start++ {
		if c.below(3) > 0 {
			continue
		}
		e := Edit{Start: int64(start), EndExclusive: int64(start), NewText: c.text(alphabet...)}
		if start > 1 {
			e.ContextLine = contentOf(lines[start-2])
			if !utf8.ValidString(e.ContextLine) {
				continue
			}
		}
		if start == 2 && c.below(2) == 0 {
			e.ContextLine = mark + e.ContextLine
		}
		e.ContextLine += []string{"", "\n", "\r\n"}[c.below(3)]
		if length := min(c.below(3), len(lines)+1-start); length > 0 {
			e.EndExclusive += int64(length)
			start += length - 1
		}
		edits = append(edits, e)
		if len(edits) == MaxEdits {
			break
		}
	}
	for i := range edits {
		j := i + c.below(len(edits)-i)
		edits[i], edits[j] = edits[j], edits[i]
	}
	return edits
}

func apply(t *testing.T, src string, edits []Edit) Result {
	t.Helper()
	r, err := Apply([]byte(src), edits)
	require.NoError(t, err, "%q %+v", src, edits)
	return r
}

// checkValid checks all properties of valid edits.
func checkValid(t *testing.T, src string, c *choices) {
	edits := c.validEdits(src)
	original := []byte(src)
	got, err := Apply(original, edits)
	require.NoError(t, err, "%q %+v", src, edits)
	require.Equal(t, src, string(original))
	content := string(got.Content)
	require.Equal(t, naiveApply(src, edits), content, "%q %+v", src, edits)
	require.Equal(t, content != src, got.Changed)
	require.Equal(t, len(edits), got.Edits)
	require.Equal(t, len(splitLines(content)), got.Lines, "P6: as read counts")

	checkInvariant(t, src, content, edits)
	checkSurvival(t, src, content, edits)
	checkSets(t, src, content, edits, c)
	checkNextAppend(t, content, got.Lines)
}

// checkInvariant is R16, P1.
func checkInvariant(t *testing.T, src, content string, edits []Edit) {
	mark, lines := linesOf(src)
	want, got := contentsOf(lines), contentsOf(splitLines(strings.TrimPrefix(content, mark)))
	edits = slices.Clone(edits)
	slices.SortFunc(edits, func(a, b Edit) int { return int(b.Start - a.Start) })
	for _, e := range edits {
		want = slices.Replace(want, int(e.Start-1), int(e.EndExclusive-1), contentsOf(splitLines(e.NewText))...)
	}
	if src == bom || content == bom { // an empty line that only the BOM makes one
		want = slices.DeleteFunc(want, func(l string) bool { return strings.Trim(l, bom) == "" })
		got = slices.DeleteFunc(got, func(l string) bool { return strings.Trim(l, bom) == "" })
	}
	if mark != "" && len(want) > 0 && len(got) > 0 && want[0] == bom+got[0] {
		want[0] = got[0] // R2
	}
	require.Equal(t, fmt.Sprintf("%q", want), fmt.Sprintf("%q", got), "R16 %q %+v", src, edits)
}

func contentsOf(lines []string) []string {
	var out []string
	for _, l := range lines {
		out = append(out, contentOf(l))
	}
	return out
}

// checkSurvival is P7: what lies between the ranges is there, in order.
func checkSurvival(t *testing.T, src, content string, edits []Edit) {
	mark, lines := linesOf(src)
	rest, ok := strings.CutPrefix(content, mark)
	require.True(t, ok, "the BOM survives")
	edits = slices.Clone(edits)
	slices.SortFunc(edits, func(a, b Edit) int { return int(a.Start - b.Start) })
	line := 1
	for _, e := range append(edits, Edit{Start: int64(len(lines) + 1)}) {
		kept := strings.Join(lines[line-1:e.Start-1], "")
		at := strings.Index(rest, kept)
		require.GreaterOrEqual(t, at, 0, "P7 %q %+v", src, edits)
		rest = rest[at+len(kept):]
		line = int(e.EndExclusive)
	}
}

// checkSets is P3 and P4.
func checkSets(t *testing.T, src, content string, edits []Edit, c *choices) {
	reversed := slices.Clone(edits)
	slices.Reverse(reversed)
	require.Equal(t, content, string(apply(t, src, reversed).Content), "P3")
	if len(edits) == 0 || len(edits) == MaxEdits {
		return
	}
	drop := c.below(len(edits))
	apply(t, src, slices.Delete(slices.Clone(edits), drop, drop+1))
	more := edits[drop]
	more.EndExclusive = more.Start
	e := refuse(t, src, append(slices.Clone(edits), more)...)
	require.Equal(t, EditsOverlap, e.Reason, "P4")
}

// checkNextAppend is P6: Lines serves the next call.
func checkNextAppend(t *testing.T, content string, n int) {
	context := ""
	if n > 0 {
		context = splitLines(content)[n-1] // as read shows it, BOM included
	}
	if !utf8.ValidString(context) {
		return
	}
	next := apply(t, content, []Edit{insertAt(int64(n+1), "tail", context)})
	if content != bom {
		require.Equal(t, n+1, next.Lines)
	}
}

// checkRevert is apply, then revert, and P2 and P5, all for files of one kind
// of ending.
func checkRevert(t *testing.T, c *choices) {
	eol := []string{"\n", "\r\n", "\r"}[c.below(3)]
	src := ""
	for range c.below(8) {
		src += c.text("a", "b", "\xff", "é") + eol
	}
	edits := c.validEdits(src)
	lines := splitLines(src)
	var undo []Edit
	slices.SortFunc(edits, func(a, b Edit) int { return int(a.Start - b.Start) })
	edits = slices.CompactFunc(edits, func(a, b Edit) bool { return b.Start <= a.EndExclusive }) // none may touch
	shift := int64(0)
	for i := range edits {
		e := &edits[i]
		e.NewText = strings.ReplaceAll(strings.NewReplacer("\n", "", "\r", "x", bom, "y").Replace(e.NewText), "x", eol)
		added := int64(len(splitLines(e.NewText)))
		old := strings.Join(lines[e.Start-1:e.EndExclusive-1], "")
		undo = append(undo, replaceLines(e.Start+shift, e.Start+shift+added, old, e.ContextLine))
		shift += added - (e.EndExclusive - e.Start)
	}
	content := string(apply(t, src, edits).Content)
	ascii := !slices.ContainsFunc(undo, func(e Edit) bool { return !isASCII(e.NewText) })
	if ascii || utf8.ValidString(src) { // else R10a forbids to put the old lines back
		require.Equal(t, src, string(apply(t, content, undo).Content), "apply, revert %q %+v", src, edits)
	}

	oneByOne := src
	for _, e := range slices.Backward(edits) {
		oneByOne = string(apply(t, oneByOne, []Edit{e}).Content)
	}
	require.Equal(t, content, oneByOne, "P2")

	if n := len(lines); n > 0 && utf8.ValidString(src) {
		from := 1 + c.below(n)
		to := from + c.below(n-from+1)
		context := ""
		if from > 1 {
			context = lines[from-2]
		}
		same := strings.TrimSuffix(strings.Join(lines[from-1:to], ""), eol)
		if same != "" && !strings.HasSuffix(same, eol) {
			require.False(t, apply(t, src, []Edit{replaceLines(int64(from), int64(to+1), same, context)}).Changed, "P5")
		}
	}
}

func TestProperties(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pick := func(n int, alphabet ...string) string {
		s := ""
		for range rnd.IntN(n) {
			s += alphabet[rnd.IntN(len(alphabet))]
		}
		return s
	}
	for i := range 2_000 {
		src := pick(14, "a", "\r", "\n", "\r\n", bom, "é")
		switch i % 4 {
		case 1:
			src = bom + src
		case 2:
			src = pick(14, "a", "\r", "\n", bom, "\xff")
		}
		c := &choices{make([]byte, 100)}
		for k := range c.data {
			c.data[k] = byte(rnd.Uint32())
		}
		checkValid(t, src, c)
		checkRevert(t, c)
	}
}

// TestMarks checks the places of lines in texts longer than a stride, with
// endings of every kind around its edges.
func TestMarks(t *testing.T) {
	for _, ending := range []string{"\n", "\r\n", "\r", "\r\r\n", "\n\r", "\r\n\r"} {
		for pad := range 12 {
			src := strings.Repeat("x", stride-pad) + strings.Repeat(ending, 8) + strings.Repeat("yy"+ending, 3*stride/4) + "tail"
			for _, src := range []string{src, bom + src, src + ending} {
				mark, lines := linesOf(src)
				text := newText([]byte(src))
				require.Equal(t, len(lines), text.total)
				at := 0
				for i, l := range lines {
					require.Equal(t, at, text.start(i+1))
					at += len(l)
				}
				require.Equal(t, len(src)-len(mark), text.start(len(lines)+1))
			}
		}
	}
}

// fuzzBytes bounds the sources in fuzzing: the model is quadratic.
const fuzzBytes = 2 << 10

func seeds(f *testing.F) {
	for _, src := range []string{
		"", "a", "a\nb\nc\n", "a\r\nb\rc\nd", bom, bom + "a\n\nb", "\xff\nx\n", "a\r\r\n\nb", "\n\n\n\r\r\r", bom + bom,
		strings.Repeat("line\r\n", 300),
	} {
		for _, choice := range []string{"", "\x00\x05\x01\x00\x02", "\x00\x03\x04\x00\x01\x00\x01\x00\x02\x00\x00\x05\x03\x03\x02", strings.Repeat("\x00\x02\x01", 40)} {
			f.Add([]byte(src), []byte(choice))
		}
	}
}

func FuzzApplyValid(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src, choice []byte) {
		if len(src) > fuzzBytes {
			return
		}
		c := &choices{choice}
		checkValid(t, string(src), c)
		checkRevert(t, c)
	})
}

func FuzzApplyAny(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, src, choice []byte) {
		if len(src) > fuzzBytes {
			return
		}
		c := &choices{choice}
		_, lines := linesOf(string(src))
		edits := c.validEdits(string(src))
		for range c.below(4) {
			e := Edit{
				Start:        int64(c.below(len(lines)+4)) - 1,
				NewText:      c.text("a", "\n", "\r", bom, "é", "\xff"),
				ContextLine:  c.text("a", "\n", "\r", bom, "é", "\xff"),
				EndExclusive: int64(c.below(len(lines)+4)) - 1,
			}
			if line := int(e.Start) - c.below(3); line >= 1 && line <= len(lines) && c.below(2) == 0 {
				e.ContextLine = lines[line-1]
			}
			edits = append(edits, e)
		}
		if len(edits) > MaxEdits {
			return
		}
		reason, index := naiveCheck(string(src), edits)
		if reason == 0 {
			got := apply(t, string(src), edits)
			require.Equal(t, naiveApply(string(src), edits), string(got.Content))
			require.Equal(t, len(splitLines(string(got.Content))), got.Lines)
			return
		}
		e := refuse(t, string(src), edits...)
		require.Equal(t, reason, e.Reason, "%q %+v", src, edits)
		if reason == EditsOverlap {
			require.Less(t, e.Index, e.Other)
			pair := []Edit{edits[e.Index], edits[e.Other]}
			got, _ := naiveCheck(string(src), pair)
			require.Equal(t, EditsOverlap, got)
		} else {
			require.Equal(t, index, e.Index)
		}
		if m := e.Mismatch; m != nil {
			checkMismatch(t, string(src), edits[e.Index], m)
		}
	})
}

// checkMismatch compares the diagnosis with a search of all lines.
func checkMismatch(t *testing.T, src string, e Edit, m *Mismatch) {
	mark, lines := linesOf(src)
	context := contentOf(e.ContextLine)
	var found []int
	for i, l := range lines {
		l = contentOf(l)
		if context != "" && utf8.ValidString(l) && (l == context || i == 0 && mark != "" && mark+l == context) {
			found = append(found, i+1)
		}
	}
	require.Equal(t, int(e.Start)-1, m.Line)
	equalsStart := slices.Contains(found, int(e.Start)) && m.Line > 0 && utf8.ValidString(contentOf(lines[m.Line-1]))
	require.Equal(t, equalsStart, m.EqualsStart)
	want := 0
	if len(found) == 1 && !equalsStart {
		want = found[0]
	}
	require.Equal(t, want, m.FoundAt, "%q %q", src, context)
	require.Equal(t, max(1, m.Line-10), m.First)
	require.Equal(t, min(len(lines), m.Line+10), m.Last)
	require.Equal(t, utf8.ValidString(src), m.ValidUTF8)
}
