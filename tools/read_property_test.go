package tools_test

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/tools"
)

// requireLikeOracle checks a read of content against the naive model: the
// body, the totals and the saved output.
func requireLikeOracle(t testing.TB, out tools.Outcome, content string, records []record, saves bool) {
	t.Helper()
	require.Nil(t, out.Error, out.Text)
	body, truncated := fit(records)
	require.Equal(t, body, out.Result.Body)

	want := []string{}
	if !utf8.ValidString(content) {
		want = append(want, "valid_utf8")
		require.Equal(t, "false", header(out, "valid_utf8"))
	}
	switch {
	case content == "":
		want = append(want, "total_lines", "total_bytes")
	case truncated && saves:
		want = append(want, "truncated", "total_lines", "total_bytes", "truncation_warning", "full_output_path")
		require.Equal(t, native(records), saved(t, out))
	case truncated:
		want = append(want, "truncated", "total_lines", "total_bytes", "truncation_warning", "saved_output_unavailable")
	}
	require.Equal(t, want, keys(out))
	if truncated {
		require.Equal(t, strconv.Itoa(len(fileRecords(content))), header(out, "total_lines"))
		require.Equal(t, strconv.Itoa(len(content)), header(out, "total_bytes"))
	}
}

func TestReadManyLinesLikeOracle(t *testing.T) {
	for _, n := range []int{0, 1, 1999, 2000, 2001, 10_000} {
		for name, line := range map[string]func(i int) string{
			"empty":   func(int) string { return "\n" },
			"short":   func(int) string { return "x\n" },
			"CR":      func(int) string { return "\r" },
			"code":    func(i int) string { return fmt.Sprintf("\tif err := run(ctx, %d); err != nil {\r\n", i) },
			"invalid": func(int) string { return "\xff\n" },
			"uneven":  func(i int) string { return strings.Repeat("é", i*i%300) + "\n" },
		} {
			t.Run(fmt.Sprintf("%d %s", n, name), func(t *testing.T) {
				var content strings.Builder
				for i := range n {
					content.WriteString(line(i))
				}
				tool := tools.NewRead(tools.Env{Workspace: fileOf(t, content.String()), Spool: newSpool(t, artifact.Options{})})
				requireLikeOracle(t, call(t, tool, whole), content.String(), fileRecords(content.String()), true)
			})
		}
	}
}

func TestReadLongLinesLikeOracle(t *testing.T) {
	spool := newSpool(t, artifact.Options{})
	fillers := []string{"x", "é", "\xff"}
	if raceEnabled {
		fillers = fillers[:1]
	}
	for length := 10_230; length <= 10_250; length++ {
		for _, filler := range fillers {
			long := strings.Repeat(filler, length/len(filler))
			for _, content := range []string{
				long, long + "\n", "first\n" + long + "\nthird\n", long + "\r\nsecond", "first\n" + long,
				strings.Repeat("\n", 1500) + long + strings.Repeat("\n", 1500),
				long + strings.Repeat("\n", 2500), strings.Repeat("\n", 2500) + long,
				long[:len(long)/2] + "\n" + long[len(long)/2:],
				long[:len(long)/2] + strings.Repeat("\n", 2001) + long[len(long)/2:],
			} {
				out := call(t, tools.NewRead(tools.Env{Workspace: fileOf(t, content), Spool: spool}), whole)
				requireLikeOracle(t, out, content, fileRecords(content), true)
			}
		}
	}
}

// randomText is small files of everything that matters to lines.
var randomText = rapid.Custom(func(t *rapid.T) string {
	pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
		"\n", "\n", "\r\n", "\r", "a", "word ", "é", "😀", "\ufeff", "\ufffd", "\u2028", "\x85", "\xff", "\xe2\x82", "\xf0\x9f\x98",
		"\xed\xa0\x80", "\t", "\\", "12(crlf) ", "...", "error: x", "\x1b", strings.Repeat("long", 800), strings.Repeat("\n", 700),
	}), 0, 30).Draw(t, "pieces")
	return strings.Join(pieces, "")
})

// choppedFile is a file that is read in pieces of any size.
func choppedFile(t testing.TB, chop func(io.Reader) io.Reader, content string) tools.Tool {
	ws := memory(t, memFS{open: func() io.Reader { return chop(strings.NewReader(content)) }})
	return tools.NewRead(tools.Env{Workspace: ws})
}

func TestReadRandomRangesLikeOracle(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		content := randomText.Draw(r, "content")
		all := fileRecords(content)
		ranges := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) span {
			start := rapid.IntRange(1, max(len(all), 1)).Draw(r, "start")
			return span{start, start + rapid.IntRange(0, 50).Draw(r, "more")}
		}), 1, 5).Draw(r, "ranges")
		chop := rapid.SampledFrom([]func(io.Reader) io.Reader{
			iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader, func(r io.Reader) io.Reader { return r },
		}).Draw(r, "chop")

		out := call(t, choppedFile(t, chop, content), readArgs{Path: "f", Ranges: ranges})
		requireLikeOracle(t, out, content, selected(all, ranges), false)

		one := ranges[:1]
		out = call(t, choppedFile(t, chop, content), readArgs{Path: "f", Start: one[0].Start, End: one[0].End})
		requireLikeOracle(t, out, content, selected(all, one), false)

		out = call(t, choppedFile(t, chop, content), readArgs{Path: "f", Start: one[0].Start})
		requireLikeOracle(t, out, content, selected(all, []span{{one[0].Start, math.MaxInt}}), false)
	})
}

// restore turns the body of a whole, valid file back into the file.
func restore(t testing.TB, body string) string {
	t.Helper()
	var file strings.Builder
	for i, line := range strings.Split(body, "\n") {
		label, text, ok := strings.Cut(line, " ")
		require.True(t, ok, "%q", line)
		flag, ok := strings.CutPrefix(label, strconv.Itoa(i+1))
		require.True(t, ok, "%q", line)
		ending, ok := map[string]string{"": "\n", "(crlf)": "\r\n", "(cr)": "\r", "(no_nl)": ""}[flag]
		require.True(t, ok, "%q", line)
		file.WriteString(text + ending)
	}
	return file.String()
}

func FuzzReadIsReversible(f *testing.F) {
	for _, content := range []string{"a\n", "a\r\r\nb", "\n\r", "1(crlf) x\r\n", "\ufeff\x00 \n", strings.Repeat("é\r\n", 300)} {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content string) {
		out := call(t, tools.NewRead(tools.Env{Workspace: fileOf(t, content)}), whole)
		require.Equal(t, !utf8.ValidString(content), header(out, "valid_utf8") == "false")
		_, truncated := out.Result.Get("truncated")
		_, empty := out.Result.Get("total_lines")
		if truncated || !utf8.ValidString(content) {
			return
		}
		if empty {
			require.Empty(t, content)
			return
		}
		require.Equal(t, content, restore(t, out.Result.Body))
	})
}
