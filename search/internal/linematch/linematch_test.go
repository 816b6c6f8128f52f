package linematch

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/search/internal/lines"
	"github.com/taukit/taukit/search/internal/literal"
)

func compile(t testing.TB, pattern string, o Options) *Matcher {
	t.Helper()
	tree, err := syntax.Parse(pattern, syntax.Perl&^syntax.OneLine)
	require.NoError(t, err)
	program, err := syntax.Compile(tree.Simplify())
	require.NoError(t, err)
	return NewRegexp(tree, program, regexp.MustCompile("(?m)"+pattern), o)
}

func parse(t testing.TB, pattern string) *syntax.Regexp {
	t.Helper()
	tree, err := syntax.Parse(pattern, syntax.Perl&^syntax.OneLine)
	require.NoError(t, err)
	return tree
}

func texts(literals []literal.Literal) string {
	var all []string
	for _, l := range literals {
		text, exact := l.Text()
		if !exact {
			text = "(?i)" + text
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestPlainPatterns(t *testing.T) {
	for pattern, plain := range map[string]bool{
		"needle": true, "(needle)": true, "a|b": true, "foo|bar": true, "[fF]oo": true, "colou?r": true, "a{3}": true, "\\bfoo\\b": true, "^foo": true, "foo$": true, "(?i)error": true, "é": true, "中文": true,
		"a+": false, "": false, "^$": false, ".": false, "(?i)k": false, "(?i)was": false, "(?i)é": false, "\\x{fffd}": false, "\\b(foo|bar)\\b": false, "a?": false, "[a-z]": false, "foo\\bbar": false, "a{40}|b*": false,
	} {
		require.Equal(t, plain, compile(t, pattern, Options{}).plain != nil, pattern)
		require.Nil(t, compile(t, pattern, Options{NoLiterals: true}).plain, pattern)
	}
}

func TestRequiredTexts(t *testing.T) {
	for pattern, want := range map[string]string{
		`func \w+Stats\(`:        "Stats(",
		`\w+\.ReadAll\(`:         ".ReadAll(",
		`\w+\s+\w+\(`:            "",
		`(?i)readmemstats`:       "(?i)readmem",
		`(foo|bar)\d+`:           "bar foo",
		`(foo|bar)baz\d+`:        "barbaz foobaz",
		`x*(quartz)+y?`:          "quartz",
		`(ab){2,}`:               "ab",
		`foo\bbar.*`:             "foobar",
		`(foo|b*)\d`:             "",
		`(foo\d|bar\d)`:          "bar foo",
		`[a-z]quartz\d`:          "quartz",
		`colou?r\d`:              "color colour",
		`a\d`:                    "",
		`\x{fffd}abc\x{fffd}d\d`: "abc",
	} {
		require.Equal(t, want, texts(required(parse(t, pattern))), pattern)
	}
}

func TestManyLinesThatHoldWhatIsRequired(t *testing.T) {
	text := []byte(strings.Repeat("zq x\n", 1000) + "zq 1\n" + strings.Repeat("zq y\r\n", 1000) + "zq 2")
	for _, o := range []Options{{}, {NoAutomaton: true}, {NoPrefilter: true}} {
		m := compile(t, `zq \d+`, o)
		s := m.Searcher()
		s.Reset(lines.New(text))
		var got []string
		for from := 0; ; {
			start, end, ok := s.Next(from)
			if !ok {
				break
			}
			got = append(got, string(text[start:end]))
			from = s.text.After(end)
		}
		require.Equal(t, []string{"zq 1", "zq 2"}, got)
		require.Equal(t, !o.NoPrefilter, s.dense, "the automaton goes on alone")
		m.Release(s)
	}
}

func TestASearcherIsUsedAgain(t *testing.T) {
	m := compile(t, `b+\d`, Options{})
	for i := range 3 {
		s := m.Searcher()
		for k := range 3 {
			text := fmt.Sprintf("a\nb%d%d\n", i, k)
			s.Reset(lines.New([]byte(text)))
			start, end, ok := s.Next(0)
			require.True(t, ok)
			require.Equal(t, fmt.Sprintf("b%d%d", i, k), text[start:end])
			_, _, ok = s.Next(end + 1)
			require.False(t, ok)
		}
		m.Release(s)
	}
}

func TestAnAutomatonThatGaveUpStaysSoInAFile(t *testing.T) {
	m := compile(t, "a[^\\n]{20}b[^\\n]{20}x", Options{})
	r := rand.New(rand.NewPCG(7, 8))
	var text []byte
	for range 300_000 {
		text = append(text, "ab\nabababababababababababababababababab"[r.IntN(39)])
	}
	s := m.Searcher()
	defer m.Release(s)
	s.Reset(lines.New(text))
	for from := 0; ; {
		_, end, ok := s.Next(from)
		if !ok {
			break
		}
		from = s.text.After(end)
	}
	require.True(t, s.gaveUp)
	s.Reset(lines.New(text))
	require.True(t, s.gaveUp, "another chunk")
	s.Begin()
	s.Reset(lines.New(text))
	require.False(t, s.gaveUp, "another file")
}
