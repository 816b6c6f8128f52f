package diff

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/taukit/taukit/internal/ratio"
	"github.com/taukit/taukit/lineio"
)

// BenchmarkCompute reports the cost relative to one pass of line splitting.
// For a file of 10 MiB with 100 changed lines the target is 10.
func BenchmarkCompute(b *testing.B) {
	var text strings.Builder
	for i := 0; text.Len() < 10<<20; i++ {
		fmt.Fprintf(&text, "\tif err := run(ctx, %d); err != nil {\n", i%5000)
	}
	old := []byte(text.String())
	changed := bytes.Clone(old)
	for i := range 100 {
		at := lineio.Offset(changed[i*len(changed)/100:], 2) + i*len(changed)/100
		changed[at+5] = 'X'
	}
	ratio.Run(b, func() {
		for range lineio.Lines(old) {
		}
	}, func() {
		if s := Compute(old, changed); s.Added != 100 {
			b.Fatal(s.Chip())
		}
	})
}

// BenchmarkUnrelated compares two texts of 10 MiB that share nothing.
func BenchmarkUnrelated(b *testing.B) {
	old, changed := unrelated("old", 300_000), unrelated("new", 300_000)
	for b.Loop() {
		Compute(old, changed)
	}
}
