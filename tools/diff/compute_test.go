package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// show writes a diff compactly: one sign and the text of each line.
func show(s Summary) string {
	var out strings.Builder
	for _, h := range s.Hunks {
		fmt.Fprintf(&out, "@%d,%d %d,%d\n", h.OldStart, h.OldCount, h.NewStart, h.NewCount)
		for _, l := range h.Lines {
			sign := map[Kind]string{Equal: " ", Remove: "-", Add: "+", Modify: "~"}[l.Kind]
			text := l.Text
			if l.Kind == Modify {
				text = fmt.Sprint(l.Old, l.New, l.OldEnding, l.NewEnding)
			}
			out.WriteString(sign + text + string(l.Ending) + "\n")
		}
	}
	return out.String()
}

func TestCompute(t *testing.T) {
	for _, tt := range []struct{ rule, old, new, want string }{
		{"identical", "a\nb\n", "a\nb\n", ""},
		{"one line becomes one other", "a\nlet n = 1;\nc\n", "a\nlet n = 2;\nc\n", "@1,3 1,3\n a\n~[{equal let n = } {remove 1;}] [{equal let n = } {add 2;}]\n c\n"},
		{"new file", "", "a\nb\n", "@0,0 1,2\n+a\n+b\n"},
		{"file emptied", "a\nb\n", "", "@1,2 0,0\n-a\n-b\n"},
		{"a changed ending alone", "a\n", "a\r\n", "@1,1 1,1\n~[{equal a}] [{equal a}]crlf\n"},
		{"a final newline added", "a", "a\n", "@1,1 1,1\n~[{equal a}] [{equal a}]none\n"},
		{"endings are kept", "a\rb\r\nc", "a\rc", "@1,3 1,2\n acr\n-bcrlf\n cnone\n"},
		{"an empty line filled", "\n", "x\n", "@1,1 1,1\n~[] [{add x}]\n"},
		{"a line above a byte order mark", "\ufeffa\n", "x\n\ufeffa\n", "@1,1 1,2\n+x\n \ufeffa\n"},
		{"a line put before it takes the mark", "\ufeffa\n", "\ufeffx\na\n", "@1,1 1,2\n-\ufeffa\n+\ufeffx\n+a\n"},
		{"removals come first", "a\nb\nz\n", "c\nd\nz\n", "@1,3 1,3\n-a\n-b\n+c\n+d\n z\n"},
		{
			"an added function keeps its brace",
			"f {\n}\n\nh {\n}\n", "f {\n}\n\ng {\n}\n\nh {\n}\n",
			"@1,5 1,8\n f {\n }\n \n+g {\n+}\n+\n h {\n }\n",
		},
		{"a repeated line is added last", "x\nx\ny\n", "x\nx\nx\ny\n", "@1,3 1,4\n x\n x\n+x\n y\n"},
		{
			"a white space token",
			"a  b\tc\n", "a b\tc\n", "@1,1 1,1\n~[{equal a} {remove   } {equal b\tc}] [{equal a} {add  } {equal b\tc}]\n",
		},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			require.Equal(t, tt.want, show(Compute([]byte(tt.old), []byte(tt.new))))
			check(t, []byte(tt.old), []byte(tt.new))
		})
	}
}

// numbered returns a text of the lines 1 to n, some of them changed.
func numbered(n int, changed ...int) []byte {
	var out strings.Builder
	for i := 1; i <= n; i++ {
		mark := ""
		for _, c := range changed {
			if c == i {
				mark = " changed"
			}
		}
		fmt.Fprintf(&out, "%d%s\n", i, mark)
	}
	return []byte(out.String())
}

func TestHunks(t *testing.T) {
	for _, tt := range []struct {
		rule    string
		changed []int
		want    []string
	}{
		{"three lines of context", []int{10}, []string{"7,7"}},
		{"at the edges", []int{1, 20}, []string{"1,4", "17,4"}},
		{"six equal lines between join", []int{5, 12}, []string{"2,14"}},
		{"seven do not", []int{5, 13}, []string{"2,7", "10,7"}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			var got []string
			for _, h := range Compute(numbered(20), numbered(20, tt.changed...)).Hunks {
				got = append(got, fmt.Sprintf("%d,%d", h.OldStart, h.OldCount))
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestModifyHasItsLimits(t *testing.T) {
	long := strings.Repeat("x", maxModifyLine)
	require.Equal(t, Modify, Compute([]byte(long), []byte(long[1:])).Hunks[0].Lines[0].Kind)
	require.Equal(t, Remove, Compute([]byte(long), []byte(long+"x")).Hunks[0].Lines[0].Kind)
	words := strings.Repeat("a ", maxTokens/2)
	require.Equal(t, Modify, Compute([]byte(words), []byte(words[2:])).Hunks[0].Lines[0].Kind)
	require.Equal(t, Remove, Compute([]byte(words), []byte(words+"b")).Hunks[0].Lines[0].Kind)
}

func TestFor(t *testing.T) {
	require.Equal(t, Payload{Text: "[diff skipped: file is not valid UTF-8]"}, For([]byte("\xff\x00"), []byte("a")))
	require.Equal(t, Payload{Text: "[diff skipped: file looks binary]"}, For([]byte("a"), []byte("a\x00")))
	require.Equal(t, Payload{}, For([]byte("a"), []byte("a")))
	require.Equal(t, Payload{}, For(nil, nil))
	require.Equal(t, "+1/-0", For(nil, []byte("a")).Diff.Chip())
}

func TestUnified(t *testing.T) {
	got := Compute([]byte("a\nb\nc"), []byte("a\nB\nc\n")).Unified("old", "new")
	require.Equal(t, "--- old\n+++ new\n@@ -1,3 +1,3 @@\n a\n-b\n-c\n\\ No newline at end of file\n+B\n+c\n", got)
	require.Contains(t, Compute(nil, []byte("x\ny\nz\n")).Unified("a", "b"), "@@ -0,0 +1,3 @@")
}

func TestUnifiedIsWhatPatchTakes(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("there is no patch program")
	}
	random := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		old, changed := randomPair(random, 30)
		old, changed = bytes.ReplaceAll(old, []byte("\r"), nil), bytes.ReplaceAll(changed, []byte("\r"), nil)
		if bytes.Equal(old, changed) || len(old) == 0 || len(changed) == 0 {
			continue
		}
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), old, 0o644))
		cmd := exec.CommandContext(t.Context(), patch, "-p0", "-s", "f")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(Compute(old, changed).Unified("f", "f"))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		got, err := os.ReadFile(filepath.Join(dir, "f"))
		require.NoError(t, err)
		require.Equal(t, string(changed), string(got))
	}
}

// apply applies the hunks to one side and returns the other.
func apply(t *testing.T, s Summary, text []byte, back bool) []byte {
	t.Helper()
	lines := split(text)
	var out []byte
	at := 0
	for _, h := range s.Hunks {
		start, count := h.OldStart, h.OldCount
		if back {
			start, count = h.NewStart, h.NewCount
		}
		if count > 0 {
			start--
		}
		require.LessOrEqual(t, at, start, "hunks are in order and disjoint")
		out = append(out, lines.between(at, start)...)
		at = start + count
		for _, l := range h.Lines {
			to, ending := l.Text, l.Ending
			switch {
			case l.Kind == Modify && back:
				to, ending = joined(l.Old), l.OldEnding
			case l.Kind == Modify:
				to, ending = joined(l.New), l.NewEnding
			case l.Kind == Remove && !back, l.Kind == Add && back:
				continue
			}
			out = append(out, to+map[Ending]string{"": "\n", CRLF: "\r\n", CR: "\r"}[ending]...)
		}
	}
	return append(out, lines.between(at, lines.len())...)
}

// check checks what must hold of any diff.
func check(t *testing.T, old, changed []byte) Summary {
	t.Helper()
	s := Compute(old, changed)
	require.Equal(t, string(changed), string(apply(t, s, old, false)))
	require.Equal(t, string(old), string(apply(t, s, changed, true)))
	require.Equal(t, split(changed).len()-split(old).len(), s.Added-s.Removed)

	removed, added := 0, 0
	for _, h := range s.Hunks {
		oldCount, newCount, run, changes := 0, 0, 0, 0
		for i, l := range h.Lines {
			if l.Kind != Add {
				oldCount++
			}
			if l.Kind != Remove {
				newCount++
			}
			if l.Kind == Equal {
				run++
				continue
			}
			require.LessOrEqual(t, run, map[bool]int{true: contextLines, false: 2 * contextLines}[changes == 0])
			run = 0
			changes++
			if l.Kind != Add {
				removed++
			}
			if l.Kind != Remove {
				added++
			}
			if l.Kind == Remove && i > 0 {
				require.NotEqual(t, Add, h.Lines[i-1].Kind, "removals come first")
			}
		}
		require.Positive(t, changes)
		require.LessOrEqual(t, run, contextLines)
		require.Equal(t, []int{h.OldCount, h.NewCount}, []int{oldCount, newCount})
	}
	require.Equal(t, []int{s.Removed, s.Added}, []int{removed, added})

	back := Compute(changed, old)
	require.Equal(t, []int{s.Added, s.Removed}, []int{back.Removed, back.Added})
	first, err := json.Marshal(s)
	require.NoError(t, err)
	second, err := json.Marshal(Compute(old, changed))
	require.NoError(t, err)
	require.Equal(t, string(first), string(second))
	return s
}

// distance returns the length of a shortest script, by the textbook table.
func distance(old, changed items) int {
	row := make([]int, changed.len()+1)
	for i := range old.len() {
		diagonal := 0
		for j := range changed.len() {
			above := row[j+1]
			if bytes.Equal(old.at(i), changed.at(j)) {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			diagonal = above
		}
	}
	return old.len() + changed.len() - 2*row[changed.len()]
}

// randomPair returns a text of few different lines and a changed copy of it.
func randomPair(r *rand.Rand, lines int) (old, changed []byte) {
	for range r.IntN(lines) {
		l := string(rune('a'+r.IntN(5))) + []string{"\n", "\n", "\n", "\r\n", "\r"}[r.IntN(5)]
		switch r.IntN(6) {
		case 0:
			old = append(old, l...)
		case 1:
			changed = append(changed, l...)
		default:
			old, changed = append(old, l...), append(changed, l...)
		}
	}
	if r.IntN(3) == 0 {
		old = append(old, "end"...)
	}
	return old, changed
}

func TestScriptIsShortest(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 3000 {
		old, changed := randomPair(random, 60)
		s := check(t, old, changed)
		require.Equal(t, distance(split(old), split(changed)), s.Added+s.Removed, "%q %q", old, changed)
	}
}

func FuzzCompute(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nc\r\nd"))
	f.Add([]byte("x\nx\nx\ny\n"), []byte("x\ny\nx\n"))
	f.Add([]byte("let n = 1;\n"), []byte("let  n = 2;"))
	f.Fuzz(func(t *testing.T, old, changed []byte) {
		if len(old)+len(changed) > 5000 {
			t.Skip()
		}
		s := check(t, old, changed)
		require.Equal(t, distance(split(old), split(changed)), s.Added+s.Removed)
	})
}

// unrelated returns lines that occur nowhere else.
func unrelated(name string, lines int) []byte {
	var out strings.Builder
	for i := range lines {
		fmt.Fprintf(&out, "%s line %d of a text of its own\n", name, i)
	}
	return []byte(out.String())
}

func TestBeyondTheBoundsTheScriptIsValid(t *testing.T) {
	alternating := bytes.Repeat([]byte("same\nold\n"), 2000)
	for name, sides := range map[string][2][]byte{
		"unrelated":           {unrelated("old", 5000), unrelated("new", 4000)},
		"one line":            {bytes.Repeat([]byte("x"), 10<<20), bytes.Repeat([]byte("y"), 10<<20)},
		"alternating":         {alternating, bytes.ReplaceAll(alternating, []byte("old"), []byte("new"))},
		"equal lines":         {bytes.Repeat([]byte("x\n"), 3000), bytes.Repeat([]byte("x\n"), 2000)},
		"few lines, shuffled": {bytes.Repeat([]byte("a\nb\nc\nd\n"), 1000), bytes.Repeat([]byte("d\nb\na\nc\n"), 1000)},
		"anchored": {
			append(unrelated("old", 1000), append([]byte("anchor\n"), unrelated("more", 1000)...)...),
			append(unrelated("new", 1000), append([]byte("anchor\n"), unrelated("other", 1000)...)...),
		},
	} {
		for _, bounds := range [][2]int{{20, 1 << 20}, {1 << 20, 5000}, {0, 0}} {
			t.Run(fmt.Sprint(name, bounds), func(t *testing.T) {
				c := comparison{split(sides[0]), split(sides[1])}
				s := c.summary(bounded(c.old, c.new, bounds[0], bounds[1]), math.MaxInt)
				require.True(t, bytes.Equal(sides[1], apply(t, s, sides[0], false)))
				if name == "anchored" && bounds[1] > 0 {
					require.Equal(t, 2000, s.Removed, "the line in the middle is found")
				}
			})
		}
	}
}

func TestUnrelatedTextsTakeBoundedWork(t *testing.T) {
	old, changed := unrelated("old", 12_000), unrelated("new", 12_000) // over the bound of changes
	s := Compute(old, changed)
	require.Equal(t, "+12000/-12000", s.Chip())
	require.Len(t, s.Hunks, 1)
}

// TestHunksThatAreTooLargeAreNotMade changes lines whose hunks are around the
// bound, by a little more each time.
func TestHunksThatAreTooLargeAreNotMade(t *testing.T) {
	const line = "a line of the text\n"
	truncated := 0
	for lines := 20_000; lines < 30_000; lines += 500 {
		p := For(nil, []byte(strings.Repeat(line, lines)))
		whole := Compute(nil, []byte(strings.Repeat(line, lines)))
		fitted, ok := Fit(p, Budget{})
		require.True(t, ok)
		want, ok := Fit(Payload{Diff: &whole}, Budget{})
		require.True(t, ok)
		require.Equal(t, want, fitted, "what is left out would not have fitted")
		require.Equal(t, whole.Chip(), p.Diff.Chip())
		if p.Diff.Truncated {
			truncated++
			require.Empty(t, p.Diff.Hunks)
			text, err := json.Marshal(p)
			require.NoError(t, err)
			require.JSONEq(t, `{"text":"[diff truncated: structured diff would exceed 1048576 bytes]"}`, string(text))
			_, ok := Fit(p, Budget{Payload: 1 << 30, Frame: 1, Size: func(Payload) int { return 2 }})
			require.False(t, ok)
			fitted, _ := Fit(Payload{Files: []File{{"a", *p.Diff}, {"b", *p.Diff}}}, Budget{Payload: 1 << 30})
			require.Equal(t, "[diff truncated: structured diff would exceed 1073741824 bytes]\nChanged files:\na\nb", fitted.Text)
		}
	}
	require.NotZero(t, truncated)
	require.Less(t, truncated, 20)
}
