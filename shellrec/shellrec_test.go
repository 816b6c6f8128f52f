package shellrec_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/shellrec"
)

// decode returns the records of a stream as they are shown.
func decode(limit int, chunks ...string) []string {
	shown := []string{}
	d := shellrec.Decoder{Limit: limit}
	emit := func(r shellrec.Record) { shown = append(shown, r.String()) }
	for _, c := range chunks {
		d.Write([]byte(c), emit)
	}
	d.Close(emit)
	return shown
}

func TestLines(t *testing.T) {
	for _, test := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", []string{}},
		{"LF", "a\nb\n", []string{"out a", "out b"}},
		{"CR LF", "a\r\n", []string{"out(crlf) a"}},
		{"CR", "10%\r100%\r", []string{"out(cr) 10%", "out(cr) 100%"}},
		{"no end", "a", []string{"out(no_nl) a"}},
		{"empty lines", "\n\r\n\r", []string{"out ", "out(crlf) ", "out(cr) "}},
		{"CR CR LF", "a\r\r\nb", []string{"out(cr) a", "out(crlf) ", "out(no_nl) b"}},
		{"LF CR", "a\n\rb\n", []string{"out a", "out(cr) ", "out b"}},
		{"CR before an invalid byte", "a\r\xff\n", []string{"out(cr) a", "out(invalid-utf8) \ufffd"}},
		{"CR before a cut character", "a\r\xe2\x82", []string{"out(cr) a", "out(invalid-utf8,no_nl) \ufffd"}},
		{"a cut character before CR", "\xe2\r\n", []string{"out(invalid-utf8,crlf) \ufffd"}},
		{"nothing else ends a line", "a\v\f\u0085\u2028\u2029\x00b\n", []string{"out a\v\f\u0085\u2028\u2029\x00b"}},
		{"payload is literal", "\x1b[1m\\n\tout x\n", []string{"out \x1b[1m\\n\tout x"}},
		{"BOM and U+FFFD are text", "\ufeff\ufffd\ufffe\n", []string{"out \ufeff\ufffd\ufffe"}},
		{"a flag is of its line alone", "\xff\nb\n", []string{"out(invalid-utf8) \ufffd", "out b"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, decode(0, test.in))
			require.Equal(t, test.want, decode(0, strings.Split(test.in, "")...), "byte by byte")
		})
	}
}

func TestMaximalSubparts(t *testing.T) {
	for in, want := range map[string]string{
		"\xff\xfe\n":         "out(invalid-utf8) \ufffd\ufffd",
		"\xe2\x82x\n":        "out(invalid-utf8) \ufffdx",
		"\xf0\x9f\x98\n":     "out(invalid-utf8) \ufffd",
		"\xf0\x9f\x98":       "out(invalid-utf8,no_nl) \ufffd",
		"\xc0\xaf\n":         "out(invalid-utf8) \ufffd\ufffd",
		"\xed\xa0\x80\n":     "out(invalid-utf8) \ufffd\ufffd\ufffd",
		"\xf0\x80\x80A\n":    "out(invalid-utf8) \ufffd\ufffd\ufffdA",
		"\xf4\x90\x80\x80\n": "out(invalid-utf8) \ufffd\ufffd\ufffd\ufffd",
		"\ufffd\xff\ufffd\n": "out(invalid-utf8) \ufffd\ufffd\ufffd",
	} {
		require.Equal(t, []string{want}, decode(0, in), "%q", in)
	}
}

func TestHugeLines(t *testing.T) {
	for _, test := range []struct {
		in      string
		text    string
		flags   shellrec.Flags
		omitted int64
	}{
		{"12345\n", "1234", 0, 1},
		{"1234\n", "1234", 0, 0},
		{"123€4\n", "123", 0, 4}, // never half a character, nothing after a cut
		{"1234\xff\r\n", "1234", shellrec.InvalidUTF8 | shellrec.CRLF, 3},
		{"1234\xf0\x9f", "1234", shellrec.InvalidUTF8 | shellrec.NoNL, 3},
		{"€€\r", "€", shellrec.CR, 3},
	} {
		for _, chunks := range [][]string{{test.in}, strings.Split(test.in, "")} {
			var got []shellrec.Record
			emit := func(r shellrec.Record) { got = append(got, r) }
			d := shellrec.Decoder{Limit: 4}
			for _, c := range chunks {
				d.Write([]byte(c), emit)
			}
			d.Close(emit)
			want := shellrec.Record{Flags: test.flags, Text: test.text, Omitted: test.omitted}
			require.Equal(t, []shellrec.Record{want}, got, "%q", test.in)
			require.Equal(t, int64(len(want.String()))+test.omitted, want.Len())
		}
	}
}

func TestMarkers(t *testing.T) {
	all := shellrec.InvalidUTF8 | shellrec.CRLF
	for want, r := range map[string]shellrec.Record{
		"out(truncated)":                   {Text: "long"},
		"err(invalid-utf8,crlf,truncated)": {Stream: shellrec.Stderr, Flags: all, Text: "long"},
		"out(no_nl,truncated)":             {Flags: shellrec.NoNL},
	} {
		require.Equal(t, want, r.Marker())
		r.Flags |= shellrec.Truncated
		require.Equal(t, want, r.String())
		require.EqualValues(t, len(want), r.Len())
	}
}

func TestLogOrdersByCompletion(t *testing.T) {
	var got []string
	log := shellrec.NewLog(0, func(r shellrec.Record) { got = append(got, r.String()) })
	log.Write(shellrec.Stdout, []byte("slow"))
	log.Write(shellrec.Stdout, []byte("er\r"))
	log.Write(shellrec.Stderr, []byte("fast\nrest"))
	log.Write(shellrec.Stdout, []byte("x"))
	log.Close()
	log.Write(shellrec.Stdout, []byte("late\n"))
	log.Close()
	require.Equal(t, []string{"err fast", "out(cr) slower", "out(no_nl) x", "err(no_nl) rest"}, got)
}

func TestTotals(t *testing.T) {
	log := shellrec.NewLog(0, func(shellrec.Record) {})
	require.Zero(t, log.Bytes())
	log.Write(shellrec.Stdout, []byte("building\n"))
	log.Write(shellrec.Stderr, []byte("warning: x"))
	require.False(t, log.Invalid())
	log.Close()
	require.Equal(t, 2, log.Lines())
	require.EqualValues(t, 34, log.Bytes())

	log = shellrec.NewLog(4, func(shellrec.Record) {})
	log.Write(shellrec.Stdout, []byte("12345678\xff"))
	require.Zero(t, log.Bytes())
	log.Close()
	require.EqualValues(t, len("out(invalid-utf8,no_nl) 12345678\ufffd"), log.Bytes())
	require.True(t, log.Invalid())
}

func TestParseRefuses(t *testing.T) {
	for _, line := range []string{
		"", "out", "err", "foo x", "outx", "out\tx", "out(crlf)x", "out(crlf)", "out() x", "out( x", "out(crlf x",
		"out(bogus) x", "out(crlf,cr) x", "out(cr,cr) x", "out(crlf,invalid-utf8) x", "out(truncated) x",
		"out(truncated,crlf)", "out (crlf", "out(crlf,) x", "out(,crlf) x", "out(crlf, no_nl) x", "OUT x",
		"out a\rb", "out a\nb", "out \xff",
	} {
		_, err := shellrec.Parse(line)
		if line == "out (crlf" { // text that looks like a flag
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, shellrec.ErrNotARecord, "%q", line)
	}
}
