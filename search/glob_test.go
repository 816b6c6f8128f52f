package search

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestGlob(t *testing.T) {
	for _, tt := range []struct {
		rule, glob string
		match, not []string
	}{
		{"without a slash: the name, at any depth", "*.go", []string{"a.go", "x/y/a.go", ".go"}, []string{"a.gox", "a.go/b"}},
		{"with a slash: the whole path", "src/*.go", []string{"src/a.go"}, []string{"a.go", "src/x/a.go", "lib/src/a.go"}},
		{"a slash in braces counts", "{a/b,c}", []string{"a/b", "c"}, []string{"x/c"}},
		{"a leading slash is dropped", "/a.go", []string{"a.go"}, []string{"x/a.go"}},
		{"a leading ./ is dropped", "./a.go", []string{"a.go"}, []string{"x/a.go"}},
		{"a trailing slash", "a/", nil, []string{"a", "a/b"}},
		{"a trailing slash in braces", "x/{a/,b}", []string{"x/b"}, []string{"x/a"}},
		{"? is one character", "?1", []string{"a1", "é1", "\xff1", "x/b1"}, []string{"1", "ab1"}},
		{"? is no slash", "a?b/c", []string{"axb/c"}, []string{"a/b/c"}},
		{"* is no slash", "a*/c", []string{"a/c", "ab/c"}, []string{"a/b/c"}},
		{"a class", "[a-c_]1", []string{"a1", "c1", "_1"}, []string{"d1", "-1"}},
		{"a negated class", "[!a]1", []string{"b1", "é1", "\xff1"}, []string{"a1", "1"}},
		{"a negated class, as in regular expressions", "[^a-b]1", []string{"c1", "^1"}, []string{"a1"}},
		{"a class is no slash", "a[!x]b/c", []string{"ayb/c"}, []string{"a/b/c"}},
		{"a class is no slash, in a range", "a[+-9]b/c", []string{"a.b/c", "a0b/c"}, []string{"a/b/c"}},
		{"a class of a slash", "a[/]b/c", nil, []string{"a/b/c", "a\x00b/c"}},
		{"a class with escapes", `[\]\-\\]`, []string{"]", "-", `\`}, []string{"["}},
		{"a dash at an end of a class", "[a-]", []string{"a", "-"}, []string{"b"}},
		{"alternatives", "{a,b}{1,2,}", []string{"a1", "b2", "a"}, []string{"ab", "1"}},
		{"nested alternatives", "{a{1,2},b/{c,d}}", []string{"a1", "b/d"}, []string{"a", "b/a1"}},
		{"a comma and a closing brace are characters", "a,b}", []string{"a,b}"}, nil},
		{"a brace in a class", "[{]a[}]", []string{"{a}"}, nil},
		{"an escape", `\*\{a,b\}`, []string{"*{a,b}"}, []string{"xa"}},
		{"an escaped letter", `\a`, []string{"a"}, nil},
		{"**/ is also nothing", "**/a", []string{"a", "x/a", "x/y/a"}, []string{"xa"}},
		{"/** is what is below", "a/**", []string{"a/b", "a/b/c"}, []string{"a", "ab"}},
		{"/**/ is also nothing", "a/**/b", []string{"a/b", "a/x/y/b"}, []string{"ab", "a/xb"}},
		{"** alone", "**", []string{"a", "a/b"}, nil},
		{"**/* is all", "**/*", []string{"a", "a/b"}, nil},
		{"** in an element is *", "a**b/c", []string{"axb/c"}, []string{"a/b/c"}},
		{"** at an end of an element is *", "a/x**", []string{"a/xy"}, []string{"a/xy/z"}},
		{"*** is *", "a/***", []string{"a/b"}, []string{"a/b/c"}},
		{"/**/** needs one element", "a/**/**", []string{"a/b", "a/b/c"}, []string{"a"}},
		{"a leading dot is nothing special", "*hid", []string{".hid"}, nil},
		{"case counts", "A", []string{"A"}, []string{"a"}},
		{"a double slash matches nothing", "a//b", nil, []string{"a/b"}},
		{"empty", "", nil, []string{"a"}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			g := mustGlob(t, tt.glob)
			for _, path := range tt.match {
				require.True(t, g.Match(path), path)
			}
			for _, path := range tt.not {
				require.False(t, g.Match(path), path)
			}
		})
	}
}

func TestGlobErrors(t *testing.T) {
	for glob, reason := range map[string]string{
		"[":                              GlobUnclosedClass,
		"a[b":                            GlobUnclosedClass,
		"[a\\]":                          GlobUnclosedClass,
		"*.{go":                          GlobUnclosedBrace,
		"{a,{b}":                         GlobUnclosedBrace,
		"a\\":                            GlobBackslash,
		"{a,b\\":                         GlobBackslash,
		"[a\\":                           GlobBackslash,
		"[z-a]":                          GlobRange,
		"[]":                             GlobRange,
		"[!]":                            GlobRange,
		strings.Repeat("{a,b}", 10):      GlobAlternatives,
		strings.Repeat("{", 2000):        GlobUnclosedBrace,
		strings.Repeat("a", 10_001):      GlobTooLong,
		strings.Repeat("{a,b}", 3) + "{": GlobUnclosedBrace,
	} {
		_, err := CompileGlob(glob)
		require.ErrorIs(t, err, ErrGlob)
		var malformed *GlobError
		require.ErrorAs(t, err, &malformed)
		require.Equal(t, GlobError{glob, reason}, *malformed)
		require.NotContains(t, err.Error(), "\n")
	}
	_, err := CompileFilter("![")
	require.EqualError(t, err, `invalid glob "![": unclosed [`)
	_, err = CompileGlob("{" + strings.Repeat("a,", 999) + "}")
	require.NoError(t, err, "1,000 alternatives")
	_, err = CompileGlob("{" + strings.Repeat("a,", 1000) + "}")
	require.ErrorIs(t, err, ErrGlob, "1,001 alternatives")
	for rule, glob := range map[string]string{
		"a large expansion":           strings.Repeat("x", 7000) + "{" + strings.Repeat("a,", 999) + "}",
		"a large expansion in braces": strings.Repeat("{x}", 2000) + "{" + strings.Repeat("a,", 999) + "}",
		"deep braces":                 strings.Repeat("{", 4000) + "{" + strings.Repeat("a,", 900) + "}" + strings.Repeat("}", 4000),
		"deep alternatives":           strings.Repeat("{aaaaaa,", 999) + "x" + strings.Repeat("}", 999),
	} {
		g, err := CompileGlob(glob)
		require.NoError(t, err, rule)
		require.LessOrEqual(t, len(g.alternatives), MaxGlobAlternatives)
	}
	require.True(t, mustGlob(t, strings.Repeat("y", 7000)+"{"+strings.Repeat("a,", 998)+"b}").Match(strings.Repeat("y", 7000)+"b"))
}

func TestFilter(t *testing.T) {
	for _, tt := range []struct {
		rule, filter, path, fromBase string
		pass, outranks               bool
	}{
		{"the name", "*.go", "x/a.go", "", true, true},
		{"not the name", "*.go", "x/a.c", "", false, false},
		{"relative to the root", "deep/*", "deep/a", "src/deep/a", true, true},
		{"relative to the base", "src/*", "a", "src/a", true, true},
		{"relative to neither", "lib/*", "a", "src/a", false, false},
		{"a trailing slash is everything below", "src/", "src/x/a", "", true, true},
		{"a trailing slash, at the top only", "src/", "lib/src/a", "", false, false},
		{"negated", "!*.go", "x/a.go", "", false, false},
		{"negated, other files", "!*.go", "a.c", "", true, false},
		{"negated, relative to the base", "!src/*.go", "a.go", "src/a.go", false, false},
		{"negated with a trailing slash: not about files", "!src/", "src", "", true, false},
		{"names nothing", "**/*.*", "a.go", "", true, false},
		{"names nothing either", "?", "a", "", true, false},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			pass, outranks := mustFilter(t, tt.filter).file(tt.path, tt.fromBase)
			require.Equal(t, tt.pass, pass)
			require.Equal(t, tt.outranks, outranks)
		})
	}
	require.False(t, mustFilter(t, "!src/").directory("lib/src", ""), "a name at any depth")
	require.False(t, mustFilter(t, "!lib/src/").directory("lib/src", ""), "a path")
	require.True(t, mustFilter(t, "!lib/src/").directory("src", ""))
	require.True(t, mustFilter(t, "!src").directory("src", ""), "without a slash at the end it is about files")
}

func TestRelativeGlob(t *testing.T) {
	require.Equal(t, "/src/*.go", RelativeGlob("/w/src/*.go", "/w"))
	require.Equal(t, "/w2/*.go", RelativeGlob("/w2/*.go", "/w"))
	require.Equal(t, "*.go", RelativeGlob("*.go", "/w"))
	require.Equal(t, "/a", RelativeGlob("/a", ""))
}

// globRegexp translates a glob that is well formed to a regular expression, one
// character after the other.
func globRegexp(glob string) string {
	whole := strings.Contains(glob, "/")
	if rest, ok := strings.CutPrefix(glob, "./"); ok {
		glob = rest
	} else {
		glob = strings.TrimPrefix(glob, "/")
	}
	re := "(?s)^(?:" + translate(glob, new(int), "", true) + ")$"
	if !whole {
		re = "(?s)^(?:.*/)?(?:" + translate(glob, new(int), "", true) + ")$"
	}
	return re
}

// translate translates up to one of the given end characters. Start tells if an
// element starts here.
func translate(glob string, at *int, ends string, start bool) string {
	var re strings.Builder
	for *at < len(glob) && !strings.ContainsRune(ends, rune(glob[*at])) {
		rest := glob[*at:]
		elementStart := start && *at == 0 || *at > 0 && glob[*at-1] == '/'
		switch {
		case elementStart && rest == "**":
			re.WriteString(".+")
			*at += 2
		case elementStart && strings.HasPrefix(rest, "**/"):
			re.WriteString("(?:[^/]+/)*")
			*at += 3
		case rest[0] == '*':
			re.WriteString("[^/]*")
			*at++
		case rest[0] == '?':
			re.WriteString("[^/]")
			*at++
		case rest[0] == '[':
			end := strings.IndexByte(rest, ']')
			class := strings.Replace(rest[1:end], "!", "^", 1)
			re.WriteString("(?:[" + class + "])")
			*at += end + 1
		case rest[0] == '{':
			re.WriteString("(?:")
			for glob[*at] != '}' {
				*at++
				re.WriteString(translate(glob, at, ",}", false) + "|")
			}
			*at++
			text := strings.TrimSuffix(re.String(), "|")
			re.Reset()
			re.WriteString(text + ")")
		case rest[0] == '\\':
			re.WriteString(regexp.QuoteMeta(rest[1:2]))
			*at += 2
		default:
			_, n := utf8.DecodeRuneInString(rest)
			re.WriteString(regexp.QuoteMeta(rest[:n]))
			*at += n
		}
	}
	return re.String()
}

func TestGlobAgreesWithRegexp(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	pieces := []string{"a", "b", "é", "*", "?", "/", "/**/", "**/", "[ab]", "[!a/]", "[a-c]", "{a,b}", "{a,{b,c}x}", "{,a}", `\*`, ".", "x"}
	names := []string{"a", "b", "c", "é", "/", "/", "*", ".", "x", "ab", "\xff"}
	matches := 0
	for range 20000 {
		glob := pick(r, pieces, 1+r.IntN(5))
		if r.IntN(6) == 0 {
			glob += "/**"
		}
		if strings.HasSuffix(glob, "/") || strings.Contains(glob, "//") || strings.Contains(glob, "***") || strings.Contains(glob, "}**") {
			continue
		}
		path := strings.Trim(pick(r, names, 1+r.IntN(6)), "/")
		if path == "" || strings.Contains(path, "//") {
			continue
		}
		want := regexp.MustCompile(globRegexp(glob)).MatchString(path)
		require.Equal(t, want, mustGlob(t, glob).Match(path), "%q %q %s", glob, path, globRegexp(glob))
		if want {
			matches++
		}
	}
	require.Greater(t, matches, 500)
}

// Twice as much of the glob and of the path takes four times as long, or a little
// more; if every "*" were tried with all the others it would be for ever.
func TestGlobMatchingTimeIsBounded(t *testing.T) {
	best := func(n int) time.Duration {
		stars, elements := mustGlob(t, strings.Repeat("*a", n)+"b"), mustGlob(t, strings.Repeat("**/a/", n)+"b")
		least := time.Hour
		for range 5 {
			start := time.Now()
			for range 20 {
				require.False(t, stars.Match(strings.Repeat("a", 2*n)))
				require.False(t, elements.Match(strings.Repeat("a/", 2*n)+"c"))
			}
			least = min(least, time.Since(start))
		}
		return least
	}
	require.Less(t, best(200), 20*best(100))
}

func FuzzGlob(f *testing.F) {
	for _, glob := range []string{"*.go", "a/**/b", "{a,b/{c,}}", "[!a-c]?", `\[x\]`, "**", "a**/b", "[+-9]"} {
		f.Add(glob, "a/b/c")
	}
	f.Fuzz(func(t *testing.T, glob, path string) {
		g, err := CompileGlob(glob)
		if err != nil {
			require.ErrorIs(t, err, ErrGlob)
			return
		}
		require.LessOrEqual(t, len(g.alternatives), MaxGlobAlternatives)
		g.Match(path)
		if _, err := CompileFilter(glob); err != nil {
			require.ErrorIs(t, err, ErrGlob)
		}
	})
}
