package lineedit

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/internal/ratio"
)

// benchBytes is the size of the files of the benchmarks.
const benchBytes = 10 << 20

func repeated(s string) []byte {
	return []byte(strings.Repeat(s, benchBytes/len(s)))
}

// spread returns MaxEdits edits over the whole of src, each of which replaces
// one line by the given text.
func spread(src []byte, replacement string) []Edit {
	t := newText(src)
	edits := make([]Edit, MaxEdits)
	for i := range edits {
		start := 1 + (t.total-2)*i/MaxEdits
		edits[i] = Edit{Start: int64(start), EndExclusive: int64(start) + 1, NewText: replacement}
		if start > 1 {
			edits[i].ContextLine = string(t.line(start - 1))
		}
	}
	return edits
}

// BenchmarkApply reports the cost of 100 edits of a file of 10 MiB relative to
// one copy of it ("x-base"). For LF the target is 4; the others must stay
// linear.
func BenchmarkApply(b *testing.B) {
	for _, bb := range []struct {
		name    string
		src     []byte
		newText string
	}{
		{"LF", repeated("\tif err := run(ctx); err != nil {\n"), "\treturn nil"},
		{"CRLF", repeated("\tif err := run(ctx); err != nil {\r\n"), "\treturn nil"},
		{"CR", repeated("\tif err := run(ctx); err != nil {\r"), "\treturn nil"},
		{"notASCII", repeated("\tif err := run(ctx); err != nil { // größer\n"), "\tgrößer"},
		{"emptyLines", repeated("\n"), "x"},
		{"emptyCRLF", repeated("\r\n"), "x"},
		{"onlyCR", repeated("\r"), "x"},
		{"CRthenLF", repeated("\r\r\n"), "x"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			edits := spread(bb.src, bb.newText)
			b.SetBytes(int64(len(bb.src)))
			ratio.Run(b, func() {
				bytes.Clone(bb.src)
			}, func() {
				_, err := Apply(bb.src, edits)
				require.NoError(b, err)
			})
		})
	}
}
