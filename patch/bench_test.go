package patch

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/taukit/taukit/internal/ratio"
)

// BenchmarkPlan parses a patch of 1,000 files of 10 KiB and plans it, relative to
// one copy of the files ("x-base").
func BenchmarkPlan(b *testing.B) {
	files := map[string]string{}
	var text, copied strings.Builder
	text.WriteString("*** Begin Patch\n")
	for i := range MaxSections {
		var file strings.Builder
		for n := 0; file.Len() < 10<<10; n++ {
			fmt.Fprintf(&file, "\tline %d of file %d\n", n, i)
		}
		name := fmt.Sprintf("d%d/f%d.go", i%50, i)
		files[name] = file.String()
		copied.WriteString(file.String())
		fmt.Fprintf(&text, "*** Update File: %s\n@@\n \tline 200 of file %d\n-\tline 201 of file %d\n+\tchanged\n \tline 202 of file %d\n", name, i, i, i)
	}
	text.WriteString("*** End Patch\n")
	m := NewMem(files)
	base := []byte(copied.String())
	sink := bytes.Clone(base)
	b.SetBytes(int64(len(base)))
	ratio.Run(b, func() { copy(sink, base) }, func() {
		p, err := Parse(text.String())
		if err != nil {
			b.Fatal(err)
		}
		plan, err := NewPlan(b.Context(), m, p, Options{})
		if err != nil || len(plan.order) != MaxSections {
			b.Fatal(err)
		}
	})
}

// BenchmarkEqualLines looks for equal lines in a file of 10 MiB of them: the time
// must not depend on how many are looked for. "trimmed" differs in indentation,
// and "none" matches nowhere.
func BenchmarkEqualLines(b *testing.B) {
	for _, bb := range []struct{ name, line, ctx, last string }{
		{"exact", "", "", ""},
		{"noTail", "x", "x ", "x"},
		{"trimmed", " x", "x", " x"},
		{"none", "", "", "y"},
	} {
		old := []byte(strings.Repeat(bb.line+"\n", MaxFileBytes/(len(bb.line)+1)))
		for _, size := range []int{1, 1000, 100_000} {
			b.Run(fmt.Sprintf("%s/lines=%d", bb.name, size), func(b *testing.B) {
				lines := []Line{ctxLine(bb.ctx)}
				for range size {
					lines = append(lines, oldLine(bb.last))
				}
				sink := bytes.Clone(old)
				b.SetBytes(int64(len(old)))
				ratio.Run(b, func() { copy(sink, old) }, func() {
					_, _, err := ApplyHunks(b.Context(), old, []Hunk{{Lines: lines}}, Match{})
					if (err == nil) != (bb.name == "exact") {
						b.Fatal(err)
					}
				})
			})
		}
	}
}
