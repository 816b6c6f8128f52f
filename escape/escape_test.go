package escape

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	xunicode "golang.org/x/text/encoding/unicode"
)

func TestField(t *testing.T) {
	for _, tt := range []struct {
		rule, in, want string
		flags          Flags
	}{
		{"ordinary path", "src/plain-Name_1.txt", "src/plain-Name_1.txt", 0},
		{"empty stays empty", "", "", 0},
		{"backslash and line breaks", "a\nb\\c\r\t.", `a\nb\\c\r\t.`, Escaped},
		{"C0, DEL, C1", "\x00\x1bx\x7f\u0085\u009f", `\u{0}\u{1b}x\u{7f}\u{85}\u{9f}`, Escaped},
		{"bidi and zero width", "a\u202etxt\u200b\ufeffb", `a\u{202e}txt\u{200b}\u{feff}b`, Escaped},
		{"soft hyphen", "a\u00adb", `a\u{ad}b`, Escaped},
		{"separators", "\u2028\u2029", `\u{2028}\u{2029}`, Escaped},
		{"look-alike spaces", "a\u00a0b\u202fc\u3000d", `a\u{a0}b\u{202f}c\u{3000}d`, Escaped},
		{"fillers", "\u034f\u115f\u1160\u180b\u180e\u180f\u3164\uffa0", `\u{34f}\u{115f}\u{1160}\u{180b}\u{180e}\u{180f}\u{3164}\u{ffa0}`, Escaped},
		{"tag characters", "\U000e0000\U000e0068\U000e007f", `\u{e0000}\u{e0068}\u{e007f}`, Escaped},
		{"supplementary variation selectors", "\U000e0100\U000e01ef", `\u{e0100}\u{e01ef}`, Escaped},
		{"emoji selector and combining mark stay", "❤️ e\u0301", "❤️ e\u0301", 0},
		{"outer spaces", " a b  ", `\u{20}a b\u{20}\u{20}`, Escaped},
		{"only spaces", "   ", `\u{20}\u{20}\u{20}`, Escaped},
		{"nothing else is special", "\"q\" 'x' <y>: #$`(=)%25&amp;", "\"q\" 'x' <y>: #$`(=)%25&amp;", 0},
		{"stray byte", "\xffa", "\ufffda", InvalidUTF8},
		{"truncated sequence", "\xe2\x82A", "\ufffdA", InvalidUTF8},
		{"truncated at the end", "\xf0\x9f\x98", "\ufffd", InvalidUTF8},
		{"overlong", "\xc0\xaf", "\ufffd\ufffd", InvalidUTF8},
		{"surrogate", "\xed\xa0\x80", "\ufffd\ufffd\ufffd", InvalidUTF8},
		{"both flags", "\xff\n.", "\ufffd\\n.", InvalidUTF8 | Escaped},
		{"real U+FFFD", "a\ufffdb", "a\ufffdb", 0},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			got, flags := Field(tt.in)
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.flags, flags)
		})
	}
}

func TestFlags(t *testing.T) {
	for _, tt := range []struct {
		flags  Flags
		list   []string
		suffix string
	}{
		{0, nil, ""},
		{Escaped, []string{"escaped"}, "(escaped)"},
		{InvalidUTF8, []string{"invalid-utf8"}, "(invalid-utf8)"},
		{Escaped | InvalidUTF8, []string{"invalid-utf8", "escaped"}, "(invalid-utf8,escaped)"},
	} {
		require.Equal(t, tt.list, tt.flags.List())
		require.Equal(t, tt.suffix, tt.flags.Suffix())
	}
}

func TestToken(t *testing.T) {
	for _, tt := range []struct {
		in, want string
		flags    Flags
	}{
		{"a b,c", `a\u{20}b\u{2c}c`, Escaped},
		{"", "-", 0},
		{"-", `\u{2d}`, Escaped},
		{"--", "--", 0},
		{" ", `\u{20}`, Escaped},
		{"a\n\xff", "a\\n\ufffd", Escaped | InvalidUTF8},
		{"plain", "plain", 0},
	} {
		got, flags := Token(tt.in)
		require.Equal(t, tt.want, got)
		require.Equal(t, tt.flags, flags, tt.in)
	}
}

func TestQuote(t *testing.T) {
	require.Equal(t, `""`, Quote(""))
	require.Equal(t, `"q\"u\n.txt"`, Quote("q\"u\n.txt"))
	require.Equal(t, `"\\\""`, Quote(`\"`))
}

func TestQuotePathKeepsBothEndsOfALongPath(t *testing.T) {
	whole := strings.Repeat("abcdefghi/", 102) + "wxyz"
	require.Len(t, whole, MaxQuotedPath)
	require.Equal(t, `"`+whole+`"`, QuotePath(whole))

	long := whole + "!"
	require.Equal(t, `"`+long[:510]+"…"+long[len(long)-510:]+`"`, QuotePath(long))

	// Cuts move inwards to a character or escape boundary.
	for _, unit := range []string{"\x1b", "€", "\n", "a\"", "\u202e"} {
		for pad := range 8 {
			got := QuotePath(strings.Repeat("x", pad) + strings.Repeat(unit, 900) + strings.Repeat("y", pad))
			require.LessOrEqual(t, len(got), MaxQuotedPath+2)
			require.True(t, utf8.ValidString(got))
			_, err := Unescape(got[1 : len(got)-1])
			require.NoError(t, err)
			head, tail, ok := strings.Cut(got, "…")
			require.True(t, ok)
			require.Greater(t, len(head), 500)
			require.Greater(t, len(tail), 500)
		}
	}
}

func TestLongPathsCostLittle(t *testing.T) {
	long := strings.Repeat("\x7f", 16<<20)
	require.Less(t, testing.AllocsPerRun(1, func() { QuotePath(long) }), 50.0)
	require.Equal(t, QuotePath(long[:3000]), QuotePath(long))

	for _, p := range []string{"\xff", "€", " ", "\xe2\x82", "\"", "x" + strings.Repeat(" ", 2*MaxQuotedPath) + "y"} {
		whole := strings.Repeat(p, 2*MaxQuotedPath/len(p)+2)
		require.Greater(t, len(whole), 2*MaxQuotedPath)
		require.Equal(t, slowQuotePath(whole), QuotePath(whole), "%q", p)
	}
}

// slowQuotePath escapes all of the path before it looks for the cuts.
func slowQuotePath(p string) string {
	text := quoted(p)
	head, tail := 0, 0
	for at := 0; at <= len(text)-quotedPathEnd; at += unitLen(text[at:]) {
		if at <= quotedPathEnd {
			head = at
		}
		if tail = at; at < len(text)-quotedPathEnd {
			tail += unitLen(text[at:])
		}
	}
	return `"` + text[:head] + "…" + text[tail:] + `"`
}

func TestPath(t *testing.T) {
	require.Equal(t, `a"b\n`, Path("a\"b\n"))
	require.Len(t, Path(strings.Repeat("x", 5000)), 2*quotedPathEnd+len("…"))
}

func TestExact(t *testing.T) {
	require.Equal(t, `\xff\nA\xe2\x82B`, Exact("\xff\nA\xe2\x82B"))
	require.Equal(t, `\u{20}\xff\u{20}`, Exact(" \xff "))
	require.Equal(t, `\\xff`, Exact(`\xff`))
}

func TestUnescapeRefuses(t *testing.T) {
	for in, at := range map[string]string{
		`\`:                     "byte 0",
		`ab\`:                   "byte 2",
		`\q`:                    "byte 0",
		`\\\u`:                  "byte 2",
		`\u{}`:                  "byte 0",
		`\u{1B}`:                "byte 0",
		`\u{0000001}`:           "byte 0",
		`\u{d800}`:              "byte 0",
		`\u{110000}`:            "byte 0",
		`\u{1b`:                 "byte 0",
		`a\x1`:                  "byte 1",
		`\xFF`:                  "byte 0",
		`\u{` + `0` + `é` + `}`: "byte 0",
	} {
		_, err := Unescape(in)
		require.ErrorContains(t, err, at, in)
	}
	got, err := Unescape(`\u{000041}\"\xe2\x82\xac`)
	require.NoError(t, err)
	require.Equal(t, "A\"€", got)
}

func TestTerminal(t *testing.T) {
	for _, tt := range []struct{ rule, in, line, text string }{
		{"controls", "a\x1b[31mb\nc\td\x00\x7f", "a␛[31mb c d␀␡", "a␛[31mb\nc    d␀␡"},
		{"CR LF and CR", "x\r\ny\rz", "x  y z", "x\ny␍z"},
		{"C1 and bidi", "\u009b1m\u202ex\ufeff\U000e0041", "<U+009B>1m<U+202E>x<U+FEFF><U+E0041>", "<U+009B>1m<U+202E>x<U+FEFF><U+E0041>"},
		{"spaces stay", "a\u00a0b\u3000 ", "a\u00a0b\u3000 ", "a\u00a0b\u3000 "},
		{"invalid UTF-8", "\x9b\xe2\x82", "\ufffd\ufffd", "\ufffd\ufffd"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			require.Equal(t, tt.line, TerminalLine(tt.in))
			require.Equal(t, tt.text, TerminalText(tt.in))
		})
	}
}

func fuzzSeeds(f *testing.F) {
	for _, s := range []string{
		"", "-", " ", "a b", "src/a.go", "x\nerror: forged\n\n9 fake", "\x1b]0;t\a", "a\u202eb\u200b", "\xff\xe2\x82\xed\xa0\x80",
		`\u{1b}`, `\\n`, `q"u`, " \u00a0 ", "\U000e0041\u180e", "\u0085\u2028", "\r\n\r\t",
	} {
		f.Add(s)
	}
}

func FuzzField(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		for name, form := range map[string]func(string) (string, Flags){"Field": Field, "Token": Token} {
			got, flags := form(s)
			require.True(t, utf8.ValidString(got), name)
			require.Equal(t, -1, strings.IndexFunc(got, unicode.IsControl), name)
			require.Equal(t, !utf8.ValidString(s), flags&InvalidUTF8 != 0, name)
			if flags == 0 && s != "" {
				require.Equal(t, s, got, name)
			}
			if utf8.ValidString(s) && s != "" {
				back, err := Unescape(got)
				require.NoError(t, err, name)
				require.Equal(t, s, back, name)
			}
			if name == "Token" {
				require.NotEmpty(t, got)
				require.False(t, strings.ContainsAny(got, " ,"))
				require.True(t, s == "" || got != "-")
			}
		}

		replaced, err := xunicode.UTF8.NewDecoder().String(s)
		require.NoError(t, err)
		field, _ := Field(s)
		require.Equal(t, strings.Count(replaced, "\ufffd"), strings.Count(field, "\ufffd"))

		if !strings.ContainsFunc(s, func(r rune) bool {
			return !strings.ContainsRune("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._/-", r)
		}) {
			require.Equal(t, s, field)
		}
	})
}

func FuzzExactAndQuote(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		back, err := Unescape(Exact(s))
		require.NoError(t, err)
		require.Equal(t, s, back)

		inner := strings.TrimSuffix(strings.TrimPrefix(Quote(s), `"`), `"`)
		require.Equal(t, `"`+inner+`"`, Quote(s))
		require.False(t, strings.Contains(strings.ReplaceAll(strings.ReplaceAll(inner, `\\`, ""), `\"`, ""), `"`))
		if utf8.ValidString(s) {
			back, err := Unescape(inner)
			require.NoError(t, err)
			require.Equal(t, s, back)
		}
		for _, long := range []string{s, strings.Repeat(s, 3000/(len(s)+1)), s + strings.Repeat("/dir", 700) + s} {
			require.LessOrEqual(t, len(QuotePath(long)), MaxQuotedPath+2)
			require.True(t, utf8.ValidString(QuotePath(long)))
			if len(quoted(long)) > MaxQuotedPath {
				require.Equal(t, slowQuotePath(long), QuotePath(long))
			}
		}
	})
}

func FuzzUnescapeNeverPanics(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		if out, err := Unescape(s); err == nil {
			require.LessOrEqual(t, len(out), len(s))
		}
	})
}

func FuzzTerminal(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		line, text := TerminalLine(s), TerminalText(s)
		require.True(t, utf8.ValidString(line) && utf8.ValidString(text))
		require.Equal(t, -1, strings.IndexFunc(line, unicode.IsControl))
		require.Equal(t, -1, strings.IndexFunc(strings.ReplaceAll(text, "\n", ""), unicode.IsControl))
	})
}

func BenchmarkAppendField(b *testing.B) {
	for name, s := range map[string]string{"plain": "internal/illformed/illformed.go", "hostile": "we\nird \u202e name\xff.go"} {
		b.Run(name, func(b *testing.B) {
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				dst, _ = AppendField(dst[:0], s)
			}
		})
	}
}
