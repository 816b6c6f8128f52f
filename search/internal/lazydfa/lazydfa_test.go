package lazydfa

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/lineio"
)

func compile(t testing.TB, pattern string) (*Program, *regexp.Regexp) {
	t.Helper()
	tree, err := syntax.Parse(pattern, syntax.Perl&^syntax.OneLine)
	require.NoError(t, err)
	prog, err := syntax.Compile(tree.Simplify())
	require.NoError(t, err)
	p, ok := Compile(prog)
	require.True(t, ok)
	return p, regexp.MustCompile("(?m)" + pattern)
}

// check compares the lines that a machine finds with package regexp: all of
// them, or, if the program is not exact, all and perhaps more.
func check(t testing.TB, m *Machine, re *regexp.Regexp, text []byte) {
	t.Helper()
	m.Begin()
	m.Reset(len(text))
	at, ok := m.Next(text, 0)
	start := 0
	for l := range lineio.Lines(text) {
		end := start + len(l.Text)
		want := re.Match(l.Text)
		require.True(t, ok)
		got := at >= 0 && at >= start && at <= end
		if want || m.p.Exact() || isASCII(l.Text) {
			require.Equal(t, want, got, "%s: line %d of %q, at %d", re, l.Number, text, at)
		}
		single, sure := m.Match(l.Text)
		require.True(t, sure)
		require.Equal(t, got, single, "%s: line %q alone", re, l.Text)
		start = end + len(l.End.Bytes())
		if got {
			at, ok = m.Next(text, start)
		}
	}
	require.True(t, ok)
	require.Equal(t, -1, at, "%s %q", re, text)
}

func isASCII(b []byte) bool {
	return bytes.IndexFunc(b, func(r rune) bool { return r >= 0x80 }) < 0
}

func TestLinesAreThoseOfRegexp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "b", "é", "k", " ", "x", "\n", "\n", "\r\n", "\r", "\xff", "\xe2\x82", "\ufffd", "12", "_"}
	for _, pattern := range []string{
		"a", "ab*", "^a", "b$", "^$", "", "a|é", ".", "^.{3}$", "[^a]", "\\bk", "\\Bk", "\\B", "x\\b", "(?i)k", "\\w+\\d", "[a-é]x", "\\pL\\pL\\pL", "a.*b", "(ab|ba)+", "^a|b$", "\\b\\b", "a{2,3}x", "[^\\x00-\\x7f]", "\\x{fffd}", "(?s)a.b", "$^", "(^a)*b",
	} {
		p, re := compile(t, pattern)
		m := NewMachine(p)
		for range 20 {
			var text []byte
			for range r.IntN(30) {
				text = append(text, pieces[r.IntN(len(pieces))]...)
			}
			check(t, m, re, text)
			long := bytes.Repeat(append(text, "a\n"...), 4*minLane/(len(text)+2)) // in two lanes
			check(t, m, re, long[:len(long)-r.IntN(2)])
		}
	}
}

func TestExactness(t *testing.T) {
	for pattern, exact := range map[string]bool{"abc": true, "é+": true, "\\bé": true, "[a-z]": true, ".": false, "[^a]": false, "\\B": false, "\\pL": true, "\\x{fffd}": false} {
		p, _ := compile(t, pattern)
		require.Equal(t, exact, p.Exact(), pattern)
	}
}

func TestStatesAreThrownAway(t *testing.T) {
	p, re := compile(t, "[ab][^c]{6}a[^c]{6}x")
	r := rand.New(rand.NewPCG(3, 4))
	var text []byte
	for range 20_000 {
		text = append(text, "abababababababababababab\nx"[r.IntN(26)])
	}
	m := NewMachine(p)
	m.limit = 100 * stateBytes
	m.Reset(len(text))
	m.flushes = -1_000_000 // any number of times
	at, ok := m.Next(text, 0)
	require.True(t, ok)
	require.Greater(t, m.flushes, -1_000_000)
	require.LessOrEqual(t, m.size, m.limit+2*stateBytes)
	require.GreaterOrEqual(t, at, 0)
	first := re.FindIndex(text) // a match that spans no line is found by both
	require.NotNil(t, first)

	m.Begin()
	m.Reset(len(text))
	for from := 0; ; {
		at, ok := m.Next(text, from)
		if !ok {
			// Every line before has been searched.
			require.True(t, at == 0 || text[at-1] == '\n')
			require.Greater(t, m.flushes, maxFlushes)
			break
		}
		require.GreaterOrEqual(t, at, 0, "it must give up")
		from = at + bytes.IndexByte(text[at:], '\n') + 1
	}
}

func TestTooLargeForAnAutomaton(t *testing.T) {
	tree, err := syntax.Parse(strings.Repeat("\\pL{900}", 2), syntax.Perl)
	require.NoError(t, err)
	prog, err := syntax.Compile(tree.Simplify())
	require.NoError(t, err)
	_, ok := Compile(prog)
	require.False(t, ok)
}

func TestRangesOfCharacters(t *testing.T) {
	for _, tt := range []struct{ lo, hi rune }{
		{0, 0x10FFFF}, {'a', 'z'}, {'\n', '\r'}, {0x7F, 0x80}, {0x7FF, 0x800}, {0xFFFF, 0x10000}, {0xD7FF, 0xE000}, {0x100, 0x1FF}, {0x3FF, 0x1234}, {0x10FFFE, 0x10FFFF}, {0x20000, 0x3FFFF},
	} {
		var set trie
		set.addRange(tt.lo, tt.hi)
		for r := rune(0); r <= 0x10FFFF; r += 1 + r/97 {
			for _, r := range []rune{r, tt.lo, tt.hi, tt.lo - 1, tt.hi + 1} {
				valid := r >= 0 && (r < 0xD800 || 0xDFFF < r) && r <= 0x10FFFF && r != '\n' && r != '\r'
				if valid {
					require.Equal(t, tt.lo <= r && r <= tt.hi, set.contains([]byte(string(r))), "%U in %U-%U", r, tt.lo, tt.hi)
				}
			}
		}
		require.False(t, set.contains([]byte("\xed\xa0\x80")), "a surrogate")
		require.False(t, set.contains([]byte("\n")) || set.contains([]byte("\r")))
	}
}

func (t *trie) contains(b []byte) bool {
	for _, branch := range t.branches {
		if len(b) > 0 && branch.lo <= b[0] && b[0] <= branch.hi {
			if branch.end && len(b) == 1 || branch.next != nil && branch.next.contains(b[1:]) {
				return true
			}
		}
	}
	return false
}
