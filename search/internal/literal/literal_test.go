package literal

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// lower makes ASCII letters lower case and leaves all else.
func lower(b []byte) []byte {
	out := bytes.Clone(b)
	for i, c := range out {
		if 'A' <= c && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return out
}

// naive returns where the first of the texts is at or after from, or -1.
func naive(texts []string, fold bool, data []byte, from int) int {
	if fold {
		data = lower(data)
	}
	for at := from; at < len(data); at++ {
		for _, text := range texts {
			if fold {
				text = string(lower([]byte(text)))
			}
			if bytes.HasPrefix(data[at:], []byte(text)) {
				return at
			}
		}
	}
	return -1
}

// checkAll compares all occurrences that a search finds with those of naive.
func checkAll(t testing.TB, texts []string, fold bool, data []byte) {
	t.Helper()
	var literals []Literal
	for _, text := range texts {
		if fold {
			literals = append(literals, Fold(text))
		} else {
			literals = append(literals, Exact(text))
		}
	}
	s := NewSet(literals)
	require.NotNil(t, s, "%q", texts)
	var c Cursors
	c.Reset()
	for from := 0; ; {
		want := naive(texts, fold, data, from)
		require.Equal(t, want, s.Index(data, from, &c), "%q, fold %v, from %d of %q", texts, fold, from, data)
		if len(texts) == 1 {
			f := NewFinder(literals[0])
			require.Equal(t, want, f.indexPair(data, from), "%q", texts)
			if f.exact {
				require.Equal(t, want, f.indexRare(data, from), "%q", texts)
			}
		}
		if want < 0 {
			return
		}
		from = want + 1
	}
}

func TestSearchAgreesWithNaiveOne(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		alphabet := []string{"ab", "aAbB", "abcdefghijklmnopqrstuvwxyz _(.", "aé\xff\x00Z@`"}[r.IntN(4)]
		text := func(n int) string {
			b := make([]byte, n)
			for i := range b {
				b[i] = alphabet[r.IntN(len(alphabet))]
			}
			return string(b)
		}
		var texts []string
		for range []int{1, 1, 2, 4, 5, 12, MaxSet}[r.IntN(7)] {
			texts = append(texts, text(1+r.IntN(6)))
		}
		if len(texts) > MaxCursors {
			for i := range texts {
				texts[i] += text(minBlocksLen)
			}
		}
		data := text(r.IntN(200))
		if r.IntN(2) == 0 {
			data += texts[0] + text(r.IntN(70))
		}
		checkAll(t, texts, r.IntN(2) == 0, []byte(data))
	}
}

func TestManyFalseHits(t *testing.T) {
	data := []byte(strings.Repeat("z ", 5000) + "xzq" + strings.Repeat(" zz", 1000))
	checkAll(t, []string{"xzq"}, false, data)
	checkAll(t, []string{"zx"}, false, data)
	checkAll(t, []string{"XZQ"}, true, data)
}

func TestTimeIsLinear(t *testing.T) {
	text := strings.Repeat("a", 20_000)
	data := []byte(strings.Repeat(text[1:]+"b", 500))
	require.Equal(t, -1, NewFinder(Exact(text)).Index(data, 0)) // within the time of the test
	require.Equal(t, 3, NewFinder(Exact(text)).Index([]byte("bbb"+text), 1))
}

func TestJoin(t *testing.T) {
	l := Join(Join(Exact("Ab"), Fold("Cd")), Exact("E"))
	f := NewFinder(l)
	require.Equal(t, 2, f.Index([]byte("..AbcDE"), 0))
	require.Equal(t, -1, f.Index([]byte("..abcDE"), 0))
	require.Equal(t, -1, f.Index([]byte("..AbcDe"), 0))
	_, exact := l.Text()
	require.False(t, exact)
	text, exact := Join(Exact("a"), Fold("1")).Text()
	require.Equal(t, "a1", text)
	require.True(t, exact, "nothing in it has two cases")
}

func TestFast(t *testing.T) {
	many := func(n int, text string) []Literal {
		var all []Literal
		for i := range n {
			all = append(all, Exact(fmt.Sprint(text, i)))
		}
		return all
	}
	require.False(t, Fast(nil))
	require.False(t, Fast([]Literal{Exact("")}))
	require.True(t, Fast([]Literal{Exact("a")}))
	require.True(t, Fast(many(MaxCursors, "")))
	require.False(t, Fast(many(MaxCursors+1, "")))
	require.True(t, Fast(many(MaxSet, "ab")))
	require.False(t, Fast(many(MaxSet+1, "ab")))
	require.Nil(t, NewSet(nil))
}

func FuzzIndex(f *testing.F) {
	f.Add("needle", "Need", []byte("a Needle, a needle"), true)
	f.Add("zz", "z", []byte("zyz"), false)
	f.Fuzz(func(t *testing.T, a, b string, data []byte, fold bool) {
		if a == "" || b == "" || len(data) > 500 {
			return
		}
		checkAll(t, []string{a}, fold, data)
		checkAll(t, []string{a, b}, fold, data)
		checkAll(t, []string{a + "xyz", b + "abc", "one", "two", "three"}, fold, data)
	})
}
