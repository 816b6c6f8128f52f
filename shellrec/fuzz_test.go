package shellrec_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"

	"github.com/taukit/taukit/shellrec"
)

// replaced is in with U+FFFD for each maximal subpart, by another decoder.
func replaced(t *testing.T, in []byte) string {
	text, err := unicode.UTF8.NewDecoder().Bytes(in)
	require.NoError(t, err)
	return string(text)
}

// chunks cuts data into pieces of the sizes that cuts names, in turn.
func chunks(data, cuts []byte) [][]byte {
	if len(cuts) == 0 {
		return [][]byte{data}
	}
	var all [][]byte
	for i := 0; len(data) > 0; i++ {
		n := min(len(data), int(cuts[i%len(cuts)]%64))
		if n == 0 && i >= len(cuts) {
			n = 1
		}
		all, data = append(all, data[:n]), data[n:]
	}
	return all
}

func FuzzLog(f *testing.F) {
	for _, s := range []string{
		"", "a\n", "a\r\r\nb", "\xe2\x82x\n", "\xf0\x9f\x98", "x\r", "\ufffd\ufeff\x00\x1b\n", "\xed\xa0\x80\r\xc0",
	} {
		f.Add([]byte(s), []byte("err \xff\r"), []byte{1, 2}, uint8(3))
	}
	f.Fuzz(func(t *testing.T, stdout, stderr, cuts []byte, limit uint8) {
		alone := func(s shellrec.Stream, data []byte) (all []shellrec.Record) {
			d := shellrec.Decoder{Stream: s}
			emit := func(r shellrec.Record) { all = append(all, r) }
			d.Write(data, emit)
			d.Close(emit)
			return all
		}
		whole := map[shellrec.Stream][]shellrec.Record{
			shellrec.Stdout: alone(shellrec.Stdout, stdout),
			shellrec.Stderr: alone(shellrec.Stderr, stderr),
		}

		// However the writes are cut and interleaved, each stream has the same
		// records.
		var got []shellrec.Record
		log := shellrec.NewLog(0, func(r shellrec.Record) { got = append(got, r) })
		small := shellrec.NewLog(int(limit)+1, func(r shellrec.Record) {
			require.LessOrEqual(t, len(r.Text), int(limit)+1)
		})
		out, err := chunks(stdout, cuts), chunks(stderr, cuts)
		for i := range max(len(out), len(err)) {
			if i < len(out) {
				log.Write(shellrec.Stdout, out[i])
				small.Write(shellrec.Stdout, out[i])
			}
			if i < len(err) {
				log.Write(shellrec.Stderr, err[i])
				small.Write(shellrec.Stderr, err[i])
			}
		}
		log.Close()
		small.Close()
		split := map[shellrec.Stream][]shellrec.Record{}
		var shown []string
		for _, r := range got {
			split[r.Stream] = append(split[r.Stream], r)
			shown = append(shown, r.String())

			back, err := shellrec.Parse(r.String())
			require.NoError(t, err)
			require.Equal(t, r, back)
			back, err = shellrec.Parse(r.Marker())
			require.NoError(t, err)
			require.Equal(t, r.Marker(), back.String())
		}
		for s, want := range whole {
			require.Equal(t, want, split[s])
		}

		// The rendering is clean, and counted whatever is kept.
		text := strings.Join(shown, "\n")
		require.True(t, utf8.ValidString(text))
		require.NotContains(t, text, "\r")
		require.Equal(t, max(len(shown)-1, 0), strings.Count(text, "\n"))
		require.Equal(t, len(got), log.Lines())
		require.EqualValues(t, len(text), log.Bytes())
		require.Equal(t, log.Bytes(), small.Bytes())
		require.Equal(t, log.Lines(), small.Lines())

		// Nothing is lost, and only a line with bad bytes says so.
		for s, in := range map[shellrec.Stream][]byte{shellrec.Stdout: stdout, shellrec.Stderr: stderr} {
			var back strings.Builder
			invalid := false
			for _, r := range split[s] {
				back.WriteString(r.Text + r.Flags.Ending())
				invalid = invalid || r.Flags&shellrec.InvalidUTF8 != 0
			}
			require.Equal(t, replaced(t, in), back.String())
			require.Equal(t, !utf8.Valid(in), invalid)
		}
	})
}

// FuzzOnlyLast checks that what is left out is counted, and is not among the last.
func FuzzOnlyLast(f *testing.F) {
	f.Add([]byte("a\nb\nc\nd\ne"), []byte("\xff\n\n\n\n\n"), uint8(1), uint8(2))
	f.Add([]byte("\n\n\n\r\n\n\n\nö\n"), []byte{}, uint8(0), uint8(0))
	f.Add([]byte("0"), []byte("00\n\n\n"), uint8(0), uint8(2)) // left out from the first on
	f.Fuzz(func(t *testing.T, stdout, stderr []byte, n, size uint8) {
		last := int(n)%5 + 1
		var all, some []string
		want := shellrec.NewLog(0, func(r shellrec.Record) { all = append(all, r.String()) })
		got := shellrec.NewLog(0, func(r shellrec.Record) { some = append(some, r.String()) })
		left, sum := 0, int64(0)
		got.OnlyLast(last, func(lines int, bytes int64) { left, sum = left+lines, sum+bytes })
		cuts := []byte{size, 8}
		for s, data := range [][]byte{stdout, stderr} {
			for _, p := range chunks(data, cuts) {
				want.Write(shellrec.Stream(s), p)
				got.Write(shellrec.Stream(s), p)
				require.Equal(t, want.Lines(), got.Lines())
				require.Equal(t, want.Bytes(), got.Bytes())
			}
		}
		want.Close()
		got.Close()
		require.Equal(t, want.Bytes(), got.Bytes())
		require.Equal(t, want.Invalid(), got.Invalid())
		require.Equal(t, len(all), len(some)+left)
		require.Equal(t, tailOf(all, last), tailOf(some, last))
		require.EqualValues(t, len(strings.Join(all, "\n")), int64(len(strings.Join(some, "\n")))+sum+int64(left))
	})
}

func tailOf(list []string, n int) []string { return list[max(0, len(list)-n):] }

func FuzzParse(f *testing.F) {
	for _, s := range []string{"out a", "err(invalid-utf8,crlf,truncated)", "out(cr) ", "out", "out(x) "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if r, err := shellrec.Parse(line); err == nil {
			require.Equal(t, line, r.String())
			require.EqualValues(t, len(line), r.Len())
		}
	})
}
