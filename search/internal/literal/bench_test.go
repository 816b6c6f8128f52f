package literal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/taukit/taukit/internal/ratio"
)

// source returns about 4 MB that look like source code.
func source() []byte {
	var b strings.Builder
	for i := 0; b.Len() < 4<<20; i++ {
		fmt.Fprintf(&b, "\tif err := run(ctx, %d); err != nil {\n\t\treturn fmt.Errorf(\"cannot Read %%q: %%w\", name, err)\n\t}\n", i)
	}
	return []byte(b.String())
}

// BenchmarkIndex reports the cost of looking for what is not there relative to
// one copy of the text ("x-base").
func BenchmarkIndex(b *testing.B) {
	text := source()
	sink := make([]byte, len(text))
	for _, bb := range []struct {
		name  string
		fold  bool
		texts []string
	}{
		{"rare", false, []string{"XYZZY"}},
		{"common", false, []string{"returns"}},
		{"fold", true, []string{"returns"}},
		{"two", false, []string{"ReadMemStats", "SetFinalizer"}},
		{"three", false, []string{"ReadMemStats", "SetFinalizer", "NumGoroutine"}},
		{"four", false, []string{"ReadMemStats", "SetFinalizer", "GOMAXPROCS", "NumGoroutine"}},
		{"four short", false, []string{"zzz", "qqq", "xxy", "foo"}},
		{"twelve", false, []string{"ReadMemStats", "SetFinalizer", "GOMAXPROCS", "NumGoroutine", "KeepAlive", "LockOSThread", "NumCgoCall", "BlockProfile", "MutexProfile", "StackRecord", "MemProfile", "GoroutineProfile"}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			var literals []Literal
			for _, text := range bb.texts {
				if bb.fold {
					literals = append(literals, Fold(text))
				} else {
					literals = append(literals, Exact(text))
				}
			}
			s := NewSet(literals)
			b.SetBytes(int64(len(text)))
			ratio.Run(b, func() { copy(sink, text) }, func() {
				var c Cursors
				if s.Index(text, 0, &c) >= 0 {
					b.Fatal("found")
				}
			})
		})
	}
}
