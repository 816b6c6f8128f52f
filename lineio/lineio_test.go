package lineio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"
)

// show writes lines compactly: text and flag, joined by "|".
func show(lines []Line) string {
	var parts []string
	for _, l := range lines {
		parts = append(parts, string(l.Text)+"<"+l.End.String()+">")
	}
	return strings.Join(parts, "|")
}

func TestLines(t *testing.T) {
	for _, tt := range []struct{ rule, in, want string }{
		{"empty input has no line", "", ""},
		{"LF", "a\nb\n", "a<LF>|b<LF>"},
		{"CR LF is one terminator", "a\r\nb\r\n", "a<CRLF>|b<CRLF>"},
		{"CR alone", "a\rb\r", "a<CR>|b<CR>"},
		{"mixed", "a\r\nb\nc\rd", "a<CRLF>|b<LF>|c<CR>|d<None>"},
		{"left to right", "a\r\r\nb", "a<CR>|<CRLF>|b<None>"},
		{"LF then CR are two", "\n\r", "<LF>|<CR>"},
		{"one LF is one empty line", "\n", "<LF>"},
		{"nothing else ends a line", "a\v\f\u0085\u2028\u2029\x00b", "a\v\f\u0085\u2028\u2029\x00b<None>"},
		{"byte order mark is content", "\ufeffa\n", "\ufeffa<LF>"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			lines := Split([]byte(tt.in))
			require.Equal(t, tt.want, show(lines))
			require.Equal(t, len(lines), Count([]byte(tt.in)))
			require.Equal(t, tt.in, string(Join(lines)))
			for i, l := range lines {
				require.Equal(t, i+1, l.Number)
			}
		})
	}
}

func TestLinesStopsWhenTold(t *testing.T) {
	for l := range Lines([]byte("a\nb\n")) {
		require.Equal(t, 1, l.Number)
		break
	}
}

func TestInvalidAroundTheValidityWindow(t *testing.T) {
	for _, filler := range []string{"x\n", "€\n", "long " + strings.Repeat("€", 3*validWindow)} {
		for pad := range 4 {
			text := strings.Repeat("y", pad) + strings.Repeat(filler, 1+2*validWindow/len(filler))
			for _, at := range []int{validWindow - 2, validWindow - 1, validWindow, validWindow + 1, len(text)} {
				data := []byte(text[:at] + "\xe2\x82" + text[at:])
				for l := range Lines(data) {
					require.Equal(t, !utf8.Valid(l.Text), l.Invalid)
				}
			}
		}
	}
}

func TestLineTextIsAPartOfTheInput(t *testing.T) {
	data := []byte("ab\ncd")
	lines := Split(data)
	require.Same(t, &data[3], &lines[1].Text[0])
	_ = append(lines[0].Text, 'x') //nolint:gocritic // the point: an append must not reach the input
	require.Equal(t, "ab\ncd", string(data))
}

func TestOffset(t *testing.T) {
	data := []byte("a\r\nbb\rc\nd")
	for n, want := range map[int]int{-1: 0, 0: 0, 1: 0, 2: 3, 3: 6, 4: 8, 5: 9, 99: 9} {
		require.Equal(t, want, Offset(data, n), n)
	}
	require.Equal(t, 0, Offset(nil, 3))
}

func TestRecord(t *testing.T) {
	for _, tt := range []struct{ rule, in, record, marker string }{
		{"LF has no flag", "text\n", "1 text", "1(truncated)"},
		{"space stays without content", "\n", "1 ", "1(truncated)"},
		{"crlf", "a\r\n", "1(crlf) a", "1(crlf,truncated)"},
		{"cr", "a\r", "1(cr) a", "1(cr,truncated)"},
		{"no_nl", "a", "1(no_nl) a", "1(no_nl,truncated)"},
		{"invalid before the ending", "a\xff\xfeb\r\n", "1(invalid-utf8,crlf) a\ufffd\ufffdb", "1(invalid-utf8,crlf,truncated)"},
		{"invalid, no newline", "\xe2\x82", "1(invalid-utf8,no_nl) \ufffd", "1(invalid-utf8,no_nl,truncated)"},
		{"invalid, cr", "\xff\r", "1(invalid-utf8,cr) \ufffd", "1(invalid-utf8,cr,truncated)"},
		{"content is never read as flags", "(a) b\n", "1 (a) b", "1(truncated)"},
		{"content is literal", "\t\\n\x1b\u202e\n", "1 \t\\n\x1b\u202e", "1(truncated)"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			l := Split([]byte(tt.in))[0]
			require.Equal(t, tt.record, string(AppendLine(nil, l)))
			require.Equal(t, tt.record, string(AppendRecord(nil, "1", LineFlags(l), l.Text)))
			require.Equal(t, tt.marker, string(AppendLineMarker(nil, l)))
			require.Equal(t, tt.marker, string(AppendMarker(nil, "1", LineFlags(l))))
		})
	}
}

func TestFlagsAdd(t *testing.T) {
	require.Equal(t, Flags("invalid-utf8,escaped,symlink"), Flags("").Add("invalid-utf8").Add("").Add("escaped").Add("symlink"))
}

func TestAppendValidByMaximalSubpart(t *testing.T) {
	for in, want := range map[string]string{
		"\xff\xfe":         "\ufffd\ufffd",
		"\xe2\x82A":        "\ufffdA",
		"\xf0\x80\x80":     "\ufffd\ufffd\ufffd",
		"\xc0\xaf":         "\ufffd\ufffd",
		"\xe2\xe2\x82\xac": "\ufffd€",
		"\xe2\x82":         "\ufffd",
		"\xf0\x9f\x98A":    "\ufffdA",
		"\xed\xa0\x80":     "\ufffd\ufffd\ufffd",
		"\xf4\x90\x80\x80": "\ufffd\ufffd\ufffd\ufffd",
		"\x80":             "\ufffd",
	} {
		got, valid := AppendValid([]byte("> "), []byte(in))
		require.Equal(t, "> "+want, string(got), "%x", in)
		require.False(t, valid)
	}
	got, valid := AppendValid(nil, []byte("a\ufffdb"))
	require.Equal(t, "a\ufffdb", string(got))
	require.True(t, valid)
}

func TestRunePrefix(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{
		{"abc", 5, "abc"},
		{"abc", 2, "ab"},
		{"abc", 0, ""},
		{"abc", -1, ""},
		{"a€b", 1, "a"},
		{"a€b", 2, "a"},
		{"a€b", 3, "a"},
		{"a€b", 4, "a€"},
		{"😀", 3, ""},
		{"a\xe2\x82b", 2, "a\xe2"},
		{"\x80\x80\x80\x80\x80", 4, "\x80\x80\x80\x80"},
	} {
		require.Equal(t, tt.want, string(RunePrefix([]byte(tt.in), tt.n)), "%q %d", tt.in, tt.n)
	}
}

// scan returns the lines of a stream as copies.
func scan(r io.Reader) ([]Line, error) {
	var lines []Line
	s := NewScanner(r)
	for s.Scan() {
		l := s.Line()
		l.Text = bytes.Clone(l.Text)
		lines = append(lines, l)
	}
	return lines, s.Err()
}

func TestScannerAtBlockEdges(t *testing.T) {
	for _, size := range []int{firstBytes, 2 * firstBytes, blockBytes} {
		for _, end := range []string{"\n", "\r\n", "\r", "\r\r\n", "€\n"} {
			for pad := range 6 {
				text := strings.Repeat("x", size-pad) + end + "tail" + end + strings.Repeat("y", 3*size)
				got, err := scan(strings.NewReader(text))
				require.NoError(t, err)
				require.Equal(t, show(Split([]byte(text))), show(got), "%d %q %d", size, end, pad)
			}
		}
	}
}

func TestScannerGivesWhatCameBeforeAnError(t *testing.T) {
	broken := errors.New("broken")
	lines, err := scan(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)))
	require.ErrorIs(t, err, broken)
	require.Equal(t, "a<LF>|b<None>", show(lines))
}

type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, nil }

func TestScannerGivesUpOnAReaderWithoutProgress(t *testing.T) {
	_, err := scan(nothing{})
	require.ErrorIs(t, err, io.ErrNoProgress)
}

func TestBlocks(t *testing.T) {
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "line %d €%s", i, []string{"\n", "\r\n", "\r"}[i%3])
	}
	var all []byte
	lines := 0
	for block, err := range Blocks(strings.NewReader(text.String())) {
		require.NoError(t, err)
		require.True(t, utf8.Valid(block))
		require.LessOrEqual(t, len(block), blockBytes)
		lines += Count(block)
		all = append(all, block...)
	}
	require.Equal(t, text.String(), string(all))
	require.Equal(t, 20_000, lines)

	broken := errors.New("broken")
	var got []string
	for block, err := range Blocks(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken))) {
		got = append(got, fmt.Sprintf("%q %v", block, err))
	}
	require.Equal(t, []string{`"a\n" <nil>`, `"b" <nil>`, `"" broken`}, got)

	for range Blocks(strings.NewReader("a\nb\n")) {
		break
	}
}

// chopped reads from data in pieces of the given sizes, over and over.
type chopped struct{ data, sizes []byte }

func (c *chopped) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := 1
	if len(c.sizes) > 0 {
		n = int(c.sizes[0])%7 + 1
		c.sizes = append(c.sizes[1:], c.sizes[0])
	}
	n = copy(p[:min(n, len(p))], c.data)
	c.data = c.data[n:]
	return n, nil
}

func seeds(f *testing.F) {
	for _, s := range []string{"", "a", "a\n", "\r", "\r\n", "\n\r", "a\r\r\nb", "one\r\ntwo\n\nlast", "\xff\xe2\x82\r\n\xed\xa0\x80", "\ufeffx\r", "€\r\n\r😀"} {
		f.Add([]byte(s), []byte{3, 1, 0})
	}
}

func FuzzSplit(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data, sizes []byte) {
		lines := Split(data)
		require.True(t, bytes.Equal(data, Join(lines)))
		require.Equal(t, len(lines), Count(data))

		at := 0
		for i, l := range lines {
			require.Equal(t, i+1, l.Number)
			require.Equal(t, !utf8.Valid(l.Text), l.Invalid)
			require.False(t, bytes.ContainsAny(l.Text, "\r\n"))
			require.Equal(t, at, Offset(data, i+1))
			at += len(l.Text) + len(l.End.Bytes())
			if l.End == None {
				require.Equal(t, len(lines), l.Number)
				require.NotEmpty(t, l.Text)
			}
		}
		require.Equal(t, len(data), Offset(data, len(lines)+1))

		got, err := scan(&chopped{bytes.Clone(data), bytes.Clone(sizes)})
		require.NoError(t, err)
		require.Equal(t, show(lines), show(got))

		var blocks []byte
		for block, err := range Blocks(&chopped{bytes.Clone(data), bytes.Clone(sizes)}) {
			require.NoError(t, err)
			require.NotEmpty(t, block)
			blocks = append(blocks, block...)
		}
		require.True(t, bytes.Equal(data, blocks))
	})
}

func FuzzRecord(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data, _ []byte) {
		var back []Line
		for _, l := range Split(data) {
			record := AppendLine(nil, l)
			require.True(t, utf8.Valid(record))
			require.False(t, bytes.ContainsAny(record, "\r\n"))
			require.False(t, bytes.Contains(AppendLineMarker(nil, l), []byte(" ")))

			label, text, _ := bytes.Cut(record, []byte(" "))
			end := LF
			for _, e := range []Ending{CRLF, CR, None} {
				if bytes.HasSuffix(label, []byte(e.Flag()+")")) {
					end = e
				}
			}
			require.Equal(t, l.End, end)
			back = append(back, Line{Text: text, End: end})
		}
		if utf8.Valid(data) {
			require.True(t, bytes.Equal(data, Join(back)))
		}
	})
}

func FuzzAppendValid(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data, _ []byte) {
		got, valid := AppendValid(nil, data)
		require.Equal(t, utf8.Valid(data), valid)
		require.True(t, utf8.Valid(got))
		want, err := unicode.UTF8.NewDecoder().Bytes(data)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got))
		again, valid := AppendValid(nil, got)
		require.True(t, valid)
		require.True(t, bytes.Equal(got, again))

		for n := range min(len(data)+2, 12) {
			p := RunePrefix(data, n)
			require.LessOrEqual(t, len(p), n)
			require.True(t, bytes.HasPrefix(data, p))
			require.Greater(t, len(p)+utf8.UTFMax, min(n, len(data)))
			if utf8.Valid(data) {
				require.True(t, utf8.Valid(p))
			}
		}
	})
}
