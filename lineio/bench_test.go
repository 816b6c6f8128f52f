package lineio

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/taukit/taukit/internal/ratio"
)

// text returns 16 MiB of lines of source code with the given ending.
func text(line string) []byte {
	return []byte(strings.Repeat(line, 16<<20/len(line)))
}

// BenchmarkLinesWithFlags reports the cost of splitting with flags relative to
// one count of the line ends and one check of the encoding ("x-base"). For LF
// the target is 5; the others must stay linear.
func BenchmarkLinesWithFlags(b *testing.B) {
	for name, data := range map[string][]byte{
		"LF":      text("\tif err := run(ctx); err != nil {\n"),
		"CRLF":    text("\tif err := run(ctx); err != nil {\r\n"),
		"CR":      text("\tif err := run(ctx); err != nil {\r"),
		"invalid": text("\tif err := run(\xff\xe2\x82); err != nil {\n"),
		"LFthenCR": append(text("\tif err := run(ctx); err != nil {\n")[:8<<20],
			text("\tif err := run(ctx); err != nil {\r")[:8<<20]...),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			flagged := 0
			ratio.Run(b, func() {
				bytes.Count(data, []byte{'\n'})
				utf8.Valid(data)
			}, func() {
				for l := range Lines(data) {
					if LineFlags(l) != "" {
						flagged++
					}
				}
			})
		})
	}
}

func BenchmarkScanner(b *testing.B) {
	data := text("\tif err := run(ctx); err != nil {\n")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		s := NewScanner(bytes.NewReader(data))
		for s.Scan() {
		}
	}
}

func BenchmarkAppendLine(b *testing.B) {
	lines := Split(text("\tif err := run(ctx); err != nil {\n"))
	var dst []byte
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		dst = AppendLine(dst[:0], lines[i%len(lines)])
	}
}
