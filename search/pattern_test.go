package search

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/taukit/taukit/lineio"
	"github.com/taukit/taukit/search/internal/linematch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ways are the ways to search, each with something switched off.
var ways = map[string]linematch.Options{
	"all":          {},
	"no literals":  {NoLiterals: true},
	"no prefilter": {NoPrefilter: true, NoLiterals: true},
	"no automaton": {NoAutomaton: true},
	"regexp alone": {NoLiterals: true, NoPrefilter: true, NoAutomaton: true},
}

// oracle returns what package regexp says of a pattern, nil if it is malformed.
func oracle(pattern string, o PatternOptions) *regexp.Regexp {
	if o.Literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	flags := "(?m)"
	if o.IgnoreCase {
		flags = "(?mi)"
	}
	re, err := regexp.Compile(flags + pattern)
	if err != nil {
		return nil
	}
	return re
}

// literally returns where a text is in a line, which it compares at each
// character.
func literally(text string, ignoreCase bool, line []byte) []int {
	n := utf8.RuneCountInString(text)
	for i := 0; i <= len(line); {
		end := i
		for range n {
			_, size := utf8.DecodeRune(line[end:])
			end += size
		}
		part := string(line[i:end])
		if part == text || ignoreCase && utf8.ValidString(part) && strings.EqualFold(part, text) {
			return []int{i, end}
		}
		_, size := utf8.DecodeRune(line[i:])
		i += max(size, 1)
	}
	return nil
}

// checkLines compares all ways to search a text with package regexp, which gets
// the lines of package lineio.
func checkLines(t testing.TB, pattern string, o PatternOptions, text []byte) {
	t.Helper()
	re := oracle(pattern, o)
	find := func(line []byte) []int { return re.FindIndex(line) }
	if o.Literal && utf8.ValidString(pattern) {
		find = func(line []byte) []int { return literally(pattern, o.IgnoreCase, line) }
	}
	body := bytes.TrimPrefix(text, []byte("\ufeff"))
	for name, how := range ways {
		p, err := compile(pattern, o, how)
		if err != nil {
			require.ErrorIs(t, err, ErrPattern)
			if re != nil {
				var fault *PatternError
				require.ErrorAs(t, err, &fault)
				require.Contains(t, []PatternFault{FaultLineBreak, FaultTooLarge}, fault.Fault)
			}
			return
		}
		var want []LineMatch
		for l := range lineio.Lines(body) {
			if at := find(l.Text); at != nil {
				want = append(want, LineMatch{l.Number, l.Text, at[0], at[1]})
			}
		}
		var got []LineMatch
		for m := range p.Lines(text) {
			got = append(got, m)
		}
		require.Equal(t, want, got, "%s: pattern %q, %+v, text %q", name, pattern, o, text)
	}
}

var patternPieces = []string{
	"a", "b", "k", "s", "é", "É", "\u017f", "\u212a", "1", "_", " ", ".", "\\w", "\\W", "\\d", "\\s", "\\S", "\\b", "\\B", "^", "$", "\\A", "\\z",
	"[ab]", "[^a]", "[a-z]", "[^\\w]", "[é-ü]", "\\pL", "\\p{Lu}", "[[:alpha:]]", "(a|b)", "(ab|ba|é)", "|", "(?i)", "(?i:ab)", "(?s:.)", "foo", "bar", "(foo|bar|ba)",
	"*", "+", "?", "{2}", "{1,3}", "*?", "+?", "(", ")", "(?:", "\\x{fffd}", "\\x{10ffff}", "\\x{d800}", "[\\x{dfff}\\x{e000}]", "\\Qa.b\\E", "[^\\x00-\\x7f]", "ss", "ab", "k", "colou?r", "\t",
}

var textPieces = []string{
	"a", "b", "A", "B", "ab", "foo", "Foo", "FOO", "bar", "k", "K", "s", "S", "\u017f", "\u212a", "é", "É", "ü", "ss", "1", "2", "_", " ", ".", "a.b", "\t", "color", "colour",
	"\n", "\n", "\r\n", "\r", "\r\r\n", "\n\r", "\x00", "\xff", "\xc3", "\xe2\x82", "\xa9", "\ufffd", "\U0010ffff", "\u2028", "中", "\xed\xa0\x80",
}

func pick(r *rand.Rand, pieces []string, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func TestEveryPatternAgreesWithRegexpOnEveryLine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	compiled := 0
	for range 4000 {
		o := PatternOptions{Literal: r.IntN(5) == 0, IgnoreCase: r.IntN(3) == 0}
		pattern := pick(r, patternPieces, 1+r.IntN(5))
		if o.Literal {
			pattern = pick(r, textPieces, 1+r.IntN(3))
			if r.IntN(4) == 0 {
				pattern += "\ufffd" + pick(r, textPieces, r.IntN(2))
			}
			if !utf8.ValidString(pattern) || strings.ContainsAny(pattern, "\r\n") {
				continue
			}
		}
		if oracle(pattern, o) == nil {
			continue
		}
		compiled++
		text := pick(r, textPieces, r.IntN(60))
		if r.IntN(10) == 0 {
			text = "\ufeff" + text
		}
		checkLines(t, pattern, o, []byte(text))
	}
	require.Greater(t, compiled, 1000)
}

func TestLongTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	filler := strings.Fields("func return err nil context Background readmemstats ReadAll Stats( x := 1 // needle haystack the quick Brown fox")
	var b strings.Builder
	for b.Len() < 60_000 {
		for range r.IntN(8) {
			b.WriteString(filler[r.IntN(len(filler))] + " ")
		}
		b.WriteString([]string{"\n", "\n", "\n", "\r\n", "\r", "é\n", "\xff\n"}[r.IntN(7)])
	}
	for _, pattern := range []string{
		"needle", "nil", "e", "XYZZY", "ReadAll|Stats|needle", "func \\w+", "^func", "err$", "\\berr\\b", "\\w+\\.\\w+", "[A-Z][a-z]+ [a-z]{3,}", "(?i)BROWN FOX",
		"x := \\d", "(quick|slow) brown", "(?i)quick brown", "haystack.*needle", "^$", "^", "$", "\\Bdl", "e{0}r{2}", "[rR]ead(All|memstats)", "a|b|c|d|e|f|g|h|i|j", "context Background .*the",
	} {
		for _, ignoreCase := range []bool{false, true} {
			checkLines(t, pattern, PatternOptions{IgnoreCase: ignoreCase}, []byte(b.String()))
		}
	}
}

func TestAutomatonGivesUp(t *testing.T) {
	// Nearly every byte leads to a new state.
	pattern := "a[^\\n]{20}b[^\\n]{20}x"
	r := rand.New(rand.NewPCG(7, 8))
	var text []byte
	for range 300_000 {
		text = append(text, "ab\nabababababababababababababababababab"[r.IntN(39)])
	}
	text = append(text, "\na"+strings.Repeat("b", 41)+"x\n"...)
	p, err := Compile(pattern, PatternOptions{})
	require.NoError(t, err)
	re := oracle(pattern, PatternOptions{})
	var want, got []int
	for l := range lineio.Lines(text) {
		if re.Match(l.Text) {
			want = append(want, l.Number)
		}
	}
	for m := range p.Lines(text) {
		got = append(got, m.Number)
	}
	require.Equal(t, want, got)
	require.NotEmpty(t, got)
}

func TestCompileErrors(t *testing.T) {
	for _, tt := range []struct {
		rule, pattern string
		o             PatternOptions
		fault         PatternFault
		message       string
	}{
		{"syntax", "a(b", PatternOptions{}, FaultSyntax, "invalid pattern: missing closing ): `a(b`"},
		{"range", "[z-a]", PatternOptions{}, FaultSyntax, "invalid pattern: invalid character class range: `z-a`"},
		{"repetition", "*a", PatternOptions{}, FaultSyntax, "invalid pattern: missing argument to repetition operator: `*`"},
		{"escape", `\y`, PatternOptions{}, FaultSyntax, "invalid pattern: invalid escape sequence: `\\y`"},
		{"look-ahead", "(?=a)", PatternOptions{}, FaultLookAround, "invalid pattern: invalid or unsupported Perl syntax: `(?=`; look-around is not supported"},
		{"look-behind", "(?<=a)b", PatternOptions{}, FaultLookAround, ""},
		{"negative look-behind", "x(?<!a)b", PatternOptions{}, FaultLookAround, ""},
		{"negative look-ahead", "x(?!a)b", PatternOptions{}, FaultLookAround, ""},
		{"back-reference", `(a)\1`, PatternOptions{}, FaultBackReference, "invalid pattern: invalid escape sequence: `\\1`; back-references are not supported"},
		{"too many instructions", strings.Repeat(`\pL{1000}`, 11), PatternOptions{}, FaultTooLarge, "invalid pattern: pattern too large"},
		{"too large for package syntax", `((a{100}){100}){100}`, PatternOptions{}, FaultSyntax, ""},
		{"nesting", strings.Repeat("(", 2000) + strings.Repeat(")", 2000), PatternOptions{}, FaultTooLarge, "invalid pattern: pattern too large"},
		{"LF", "a\nb", PatternOptions{}, FaultLineBreak, "pattern must not contain a line break; matching is line by line"},
		{"CR in a literal", "a\rb", PatternOptions{Literal: true}, FaultLineBreak, ""},
		{"spelt LF", `a\nb`, PatternOptions{}, FaultLineBreak, ""},
		{"spelt CR", `a\r`, PatternOptions{}, FaultLineBreak, ""},
		{"hex LF", `\x0a`, PatternOptions{}, FaultLineBreak, ""},
		{"class of only these", `a[\r\n]+b`, PatternOptions{}, FaultLineBreak, ""},
		{"optional CR", `a\r?$`, PatternOptions{}, FaultLineBreak, ""},
		{"alternative", `ab|c\n`, PatternOptions{}, FaultLineBreak, ""},
		{"alternative of one character", `a|\n`, PatternOptions{}, FaultLineBreak, ""},
		{"alternative of one character, octal", `(?:[]\n]|\015|b)`, PatternOptions{}, FaultLineBreak, ""},
		{"alternative of one character, hex", `\x{00a}|b`, PatternOptions{}, FaultLineBreak, ""},
		{"not UTF-8", "a\xff", PatternOptions{}, FaultSyntax, ""},
		{"not UTF-8, ignoring case", "a\xff", PatternOptions{Literal: true, IgnoreCase: true}, FaultSyntax, ""},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			p, err := Compile(tt.pattern, tt.o)
			require.Nil(t, p)
			require.ErrorIs(t, err, ErrPattern)
			var fault *PatternError
			require.ErrorAs(t, err, &fault)
			require.Equal(t, tt.fault, fault.Fault, "%v", err)
			require.NotContains(t, err.Error(), "\n")
			if tt.message != "" {
				require.Equal(t, tt.message, err.Error())
			}
		})
	}
	for _, fine := range []string{`[^\n]`, `\s`, `[\r\n\t]`, `(?s).`, `[[:cntrl:]]`, `\\n`, `\Q\n\E`, `\Q\n\E|a`, `[\n|]`, `a|[^\n]`, `\\n|a`, `[]\n]|a`} {
		_, err := Compile(fine, PatternOptions{})
		require.NoError(t, err, fine)
	}
	p, err := Compile("a\xff", PatternOptions{Literal: true})
	require.NoError(t, err)
	start, end := p.Find([]byte("\xffa\xff"))
	require.Equal(t, []int{1, 3}, []int{start, end})
}

func TestALiteralReplacementCharacterIsNoInvalidByte(t *testing.T) {
	for _, text := range []string{"\ufffd", "k\ufffd", "\ufffdé1"} {
		checkLines(t, text, PatternOptions{Literal: true, IgnoreCase: true}, []byte("\xff\nk\xff\nK\xe2\x82\n\ufffd\n\u212a\ufffd\n\xffÉ1\n-\ufffdÉ1\n"))
	}
	p, err := Compile("k\ufffd", PatternOptions{Literal: true, IgnoreCase: true})
	require.NoError(t, err)
	start, _ := p.Find([]byte("K\xff"))
	require.Equal(t, -1, start)
}

func TestFindWithoutMatch(t *testing.T) {
	for _, o := range []PatternOptions{{}, {Literal: true}} {
		p, err := Compile("zz", o)
		require.NoError(t, err)
		start, end := p.Find([]byte("az"))
		require.Equal(t, []int{-1, -1}, []int{start, end})
	}
}

func TestLinesStopsWithTheLoop(t *testing.T) {
	p, err := Compile("a", PatternOptions{})
	require.NoError(t, err)
	for m := range p.Lines([]byte("a\na\n")) {
		require.Equal(t, 1, m.Number)
		break
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("a.*b", []byte("axxb\r\na\rb\n"), false, false)
	f.Add("\\bk|[^a]\\B", []byte("\xff\u212ak é\n"), false, true)
	f.Add("été", []byte("ÉTÉ\nK\u017f\n"), true, true)
	f.Add("k\ufffd", []byte("K\xff\nK\ufffd\n"), true, true)
	f.Add("(foo|ba+r)\\d{2,}$", []byte("foo12\nbaar3\n"), false, false)
	f.Fuzz(func(t *testing.T, pattern string, text []byte, literal, ignoreCase bool) {
		if len(pattern) > 200 || len(text) > 2000 || literal && !utf8.ValidString(pattern) {
			return
		}
		checkLines(t, pattern, PatternOptions{Literal: literal, IgnoreCase: ignoreCase}, text)
	})
}
