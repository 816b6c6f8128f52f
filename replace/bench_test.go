package replace

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/taukit/taukit/internal/ratio"
)

// largeFile returns about 10 MiB of numbered lines of source code, which end
// in each of the endings in turn.
func largeFile(endings ...string) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < MaxFileBytes-1000; i++ {
		fmt.Fprintf(&b, "\t\tif err := run(ctx, %06d); err != nil { return err }%s", i, endings[i%len(endings)])
	}
	return b.Bytes()
}

// BenchmarkApply reports the cost of 100 edits relative to one copy of the file
// ("x-base"). The target is 6 for a text with one kind of line ending; "mixed"
// needs a copy more, and "short" and "nearly" scan every byte and must only stay
// linear.
func BenchmarkApply(b *testing.B) {
	lf, crlf, mixed := largeFile("\n"), largeFile("\r\n"), largeFile("\r\n", "\n", "\r")
	edits := func(old string) []Edit {
		list := make([]Edit, MaxEdits)
		for i := range list {
			n := i * 1500
			list[i] = Edit{fmt.Sprintf(old, n), fmt.Sprintf("row %d\nrow", n)}
		}
		return list
	}
	line := "if err := run(ctx, %06d); err != nil { return err }\n"
	periodic := bytes.Repeat([]byte("a"), MaxFileBytes)
	var nearly []Edit
	for i := range MaxEdits {
		nearly = append(nearly, Edit{strings.Repeat("a", 500+i) + "b", ""})
	}
	for _, bb := range []struct {
		name  string
		src   []byte
		edits []Edit
		fails bool
	}{
		{"LF", lf, edits(line), false},
		{"CRLF", crlf, edits(line), false},
		{"mixed", mixed, edits(line), false},
		{"one", crlf, edits(line)[50:51], false},
		{"short", crlf, edits(" %06d"), false},
		{"nearly", periodic, nearly, true},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(bb.src)))
			var sink []byte
			ratio.Run(b, func() { sink = bytes.Clone(bb.src) }, func() {
				result, err := Apply(b.Context(), bb.src, bb.edits)
				if (err != nil) != bb.fails {
					b.Fatal(err)
				}
				sink = result.Content
			})
			_ = sink
		})
	}
}

// BenchmarkNearMiss looks for 100 targets that nearly match everywhere, in
// texts of growing size: the time for a byte must stay the same.
func BenchmarkNearMiss(b *testing.B) {
	for _, size := range []int{1 << 10, 10 << 10, 40 << 10} {
		b.Run(fmt.Sprintf("target=%d", size), func(b *testing.B) {
			text := bytes.Repeat([]byte("a"), 10<<20)
			var targets []string
			total := len(text)
			for i := range MaxEdits {
				t := strings.Repeat("a", size+i) + "b" + strings.Repeat("a", i)
				targets = append(targets, t)
				total += len(t)
			}
			b.SetBytes(int64(total))
			for b.Loop() {
				if found, err := findAll(b.Context(), text, targets); err != nil || len(found[0]) > 0 {
					b.Fatal(found, err)
				}
			}
		})
	}
}
