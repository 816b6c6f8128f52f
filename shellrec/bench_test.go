package shellrec_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/taukit/taukit/internal/ratio"
	"github.com/taukit/taukit/shellrec"
)

// BenchmarkLog measures decoding in the chunks of a pipe against a plain scan
// for line ends.
func BenchmarkLog(b *testing.B) {
	const size = 64 << 20
	for name, line := range map[string]string{
		"short":     "y\n",
		"ordinary":  strings.Repeat("go: building ", 4) + "\n",
		"crlf":      strings.Repeat("go: building ", 4) + "\r\n",
		"non-ASCII": strings.Repeat("größer ", 8) + "\n",
		"invalid":   strings.Repeat("go: build\xff ", 4) + "\n",
	} {
		data := bytes.Repeat([]byte(line), size/len(line))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			ratio.Run(b, func() { scan(data) }, func() { decodeAll(data) })
		})
	}
}

func scan(data []byte) (lines int) {
	for len(data) > 0 {
		i := bytes.IndexByte(data, '\n')
		lines, data = lines+1, data[i+1:]
	}
	return lines
}

func decodeAll(data []byte) {
	log := shellrec.NewLog(0, func(shellrec.Record) {})
	for len(data) > 0 {
		n := min(len(data), 64<<10)
		log.Write(shellrec.Stdout, data[:n])
		data = data[n:]
	}
	log.Close()
}
