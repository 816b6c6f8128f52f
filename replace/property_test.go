package replace

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// checkApply compares a call with the page written out, and checks what must
// hold for any call (P1, P2, P3).
func checkApply(t *testing.T, src string, edits []Edit) (string, bool) {
	t.Helper()
	got, err := apply(t, src, edits...)
	want, wantErr := naiveApply(src, edits)
	if wantErr != nil {
		require.NotNil(t, err, "%q %q", src, edits)
		f := facts(err)
		if f.Code == CodeNoMatch {
			hint, line := naiveHint(src, edits[f.Index].OldText)
			require.Equal(t, hint, f.Hint, "%q %q", src, edits)
			require.Equal(t, line, f.NearLine)
			f.Hint, f.NearLine, f.NearCount = "", 0, 0
		}
		require.Equal(t, *wantErr, f, "%q %q", src, edits)
	} else {
		require.Nil(t, err, "%q %q", src, edits)
		require.Equal(t, want, got, "%q %q", src, edits)
		require.True(t, utf8.ValidString(got))
		checkNormalForm(t, src, edits, got)
	}

	reversed := slices.Clone(edits)
	slices.Reverse(reversed)
	again, againErr := apply(t, src, reversed...)
	require.Equal(t, err == nil, againErr == nil, "the order matters: %q %q", src, edits)
	require.Equal(t, got, again)
	return got, err == nil
}

// checkNormalForm checks P1 with plain string replacement.
func checkNormalForm(t *testing.T, src string, edits []Edit, got string) {
	t.Helper()
	mark := ""
	if rest, ok := strings.CutPrefix(src, "\ufeff"); ok {
		mark, src = "\ufeff", rest
		require.True(t, strings.HasPrefix(got, mark))
	}
	text := normOf(units(src))
	byPlace := slices.Clone(edits)
	place := func(e Edit) int { return strings.Index(text, normOf(units(e.OldText))) }
	slices.SortFunc(byPlace, func(a, b Edit) int { return place(b) - place(a) })
	want := text
	for _, e := range byPlace { // the last one first, so that places stay
		at := place(e)
		want = want[:at] + normOf(units(e.NewText)) + want[at+len(normOf(units(e.OldText))):]
	}
	result := normOf(units(got[len(mark):]))
	if result != want { // R13
		require.Equal(t, want, "\ufeff"+result, "%q %q", src, edits)
		require.NotEmpty(t, mark)
	}
}

var letters = []string{"a", "b", "é", "è", " ", "\t", "\n", "\r", "\r\n", "1 ", "\ufeff", "\x00"}

func randomText(r *rand.Rand, letters []string, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(letters[r.IntN(len(letters))])
	}
	return b.String()
}

// randomEdits returns edits of which most match src, often exactly once.
func randomEdits(r *rand.Rand, letters []string, src string, n int) []Edit {
	chars := []rune(src)
	edits := make([]Edit, n)
	for i := range edits {
		old := randomText(r, letters, 1+r.IntN(3))
		if len(chars) > 0 && r.IntN(12) > 0 {
			from := r.IntN(len(chars))
			old = string(chars[from:min(len(chars), from+1+r.IntN(1+r.IntN(40)))])
		}
		newText := randomText(r, letters, r.IntN(4))
		if r.IntN(3) == 0 {
			cut := r.IntN(len([]rune(old)) + 1)
			newText = string([]rune(old)[:cut]) + newText + string([]rune(old)[cut:])
		}
		edits[i] = Edit{old, newText}
	}
	return edits
}

func TestApplyAgreesWithTheRulesWrittenOut(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	done := 0
	for range 4000 {
		set := letters[:2+r.IntN(len(letters)-1)]
		if r.IntN(2) == 0 {
			set = append([]string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}, set...)
		}
		src := randomText(r, set, r.IntN(1+r.IntN(200)))
		if r.IntN(4) == 0 {
			src = strings.ReplaceAll(normOf(units(src)), "\n", "\r\n")
		}
		if r.IntN(4) == 0 {
			src = "\ufeff" + src
		}
		if _, ok := checkApply(t, src, randomEdits(r, set, src, 1+r.IntN(4))); ok {
			done++
		}
	}
	require.Greater(t, done, 400, "too few successful calls to say anything")
}

func TestFindAgreesWithANaiveCount(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 150 {
		set := letters[:1+r.IntN(6)]
		text := randomText(r, set, r.IntN(3000))
		var targets []string
		for range 1 + r.IntN(MaxEdits) {
			at := r.IntN(len(text) + 1)
			target := text[at:min(len(text), at+1+r.IntN(1+r.IntN(300)))]
			if r.IntN(4) == 0 {
				target += "a"
			}
			if target != "" {
				targets = append(targets, target)
			}
		}
		found, err := findAll(t.Context(), []byte(text), targets)
		require.NoError(t, err)
		for i, target := range targets {
			require.Equal(t, naivePlaces(text, target), found[i], "%q in %q", target, text)
		}
	}
}

// TestSampling finds targets so long and rare that no text is scanned.
func TestSampling(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var text strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&text, "line %06d: %x\n", i, r.Uint64())
	}
	for size := minSampled; size < 200; size += 5 {
		var targets []string
		for range 20 {
			at := r.IntN(text.Len() - size)
			targets = append(targets, text.String()[at:at+size])
		}
		targets = append(targets, text.String()[:size], text.String()[text.Len()-size:])
		found, err := findAll(t.Context(), []byte(text.String()), targets)
		require.NoError(t, err)
		for i, target := range targets {
			require.Equal(t, naivePlaces(text.String(), target), found[i], target)
		}
	}
}

// homogeneous texts have one kind of line ending: P4, P5.
func TestHomogeneousTextsStaySo(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	set := append([]string{"c", "d", "e", "f", "g"}, letters[:7]...)
	done := 0
	for range 1500 {
		src := randomText(r, set, r.IntN(60)) + "\n"
		edits := randomEdits(r, set, src, 1+r.IntN(3))
		lf, err := apply(t, src, edits...)
		for _, ending := range []string{"\r\n", "\r"} {
			other, otherErr := apply(t, strings.ReplaceAll(src, "\n", ending), edits...)
			require.Equal(t, err == nil, otherErr == nil)
			require.Equal(t, strings.ReplaceAll(lf, "\n", ending), other, "%q %q", src, edits)
		}
		if err == nil {
			done++
		}
	}
	require.Greater(t, done, 100)
}

// TestRevert applies an edit and its inverse: P6. With whole characters kept it
// holds for mixed endings too when both texts are without line ends.
func TestRevert(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	done := 0
	for range 3000 {
		set := append([]string{"c", "d", "e"}, letters[:6]...)
		newline := []string{"\n", "\r\n", "\r"}[r.IntN(3)]
		src := randomText(r, append(set, newline), r.IntN(60))
		edit := randomEdits(r, append(set, newline), src, 1)[0]
		if r.IntN(2) == 0 && !strings.ContainsAny(edit.OldText+edit.NewText, "\r\n") {
			src = "\r" + randomText(r, letters[4:9], 4) + src
		}
		got, err := apply(t, src, edit)
		if err != nil || edit.NewText == "" || !strings.ContainsAny(got, "\r\n") {
			continue
		}
		back, err := apply(t, got, Edit{edit.NewText, edit.OldText})
		if err != nil { // not unique
			continue
		}
		require.Equal(t, src, back, "%q", edit)
		done++
	}
	require.Greater(t, done, 200)
}

func FuzzApply(f *testing.F) {
	f.Add("one\r\ntwo\nthree\r", "two", "2\n2", "three\n", "")
	f.Add("\ufeffa\rX\nY", "X\nY", "\nZ", "a", "\ufeffb")
	f.Add("aaa\n", "aa", "b", "a\n", "c")
	f.Add(strings.Repeat("0123456789abcdef\r\n", 20)+"end", "abcdef\nend", "END", "absent", "x")
	f.Add("a \n\tb\n", "1 a \n2 \tb", "x", " a\nb", "y")
	f.Fuzz(func(t *testing.T, src, old1, new1, old2, new2 string) {
		edits := []Edit{{old1, new1}, {old2, new2}}
		if len(src)+len(old1)+len(new1)+len(old2)+len(new2) > 5000 {
			t.Skip()
		}
		valid := utf8.ValidString(src)
		for _, e := range edits {
			valid = valid && e.OldText != "" && utf8.ValidString(e.OldText) && utf8.ValidString(e.NewText)
		}
		if !valid {
			_, err := apply(t, src, edits...)
			require.NotNil(t, err)
			return
		}
		if strings.HasPrefix(src, "\ufeff") && strings.Contains(new1+new2, "\ufeff") {
			// Characters that share bytes with the mark are cut apart by the model.
			_, err := apply(t, src, edits...)
			_, want := naiveApply(src, edits)
			require.Equal(t, want == nil, err == nil)
			return
		}
		checkApply(t, src, edits)
	})
}

func FuzzFind(f *testing.F) {
	f.Add("aaaaaaaaaaaaaaaaaaaaaaab", "aaaaaaaaaaaaaaaaaab", "aaaa", "ab")
	f.Add(strings.Repeat("the quick brown fox ", 30)+"jumps", "quick brown fox jumps", "fox jump", "x")
	f.Fuzz(func(t *testing.T, text, a, b, c string) {
		targets := slices.DeleteFunc([]string{a, b, c, a + b, text}, func(s string) bool { return s == "" })
		if len(text) > 20_000 {
			t.Skip()
		}
		found, err := findAll(t.Context(), []byte(text), targets)
		require.NoError(t, err)
		for i, target := range targets {
			require.Equal(t, naivePlaces(text, target), found[i])
		}
	})
}
