//go:build unix

package dirlock

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTableAgreesWithTheRulesWrittenOut is I1 to I9 on random operations.
func TestTableAgreesWithTheRulesWrittenOut(t *testing.T) {
	stats := map[string]int{}
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 250 {
		tt := newTableTest(t)
		tt.plain = round%3 == 0
		tt.stats = stats
		data := make([]byte, 3*(10+r.IntN(60)))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		tt.run(data)
	}
	for _, want := range []string{
		CodeDuplicate, CodeDeadlock, CodeNotCovered, CodeLost, CodeBusy,
		"late " + CodeDuplicate, "late " + CodeDeadlock, "forced",
	} {
		require.NotZero(t, stats[want], "no %s in %v", want, stats)
	}
	t.Log(stats)
}

func FuzzTable(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 8 {
		data := make([]byte, 30+10*n)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data, n%2 == 0)
	}
	f.Fuzz(func(t *testing.T, data []byte, plain bool) {
		tt := newTableTest(t)
		tt.plain = plain
		tt.run(data[:min(len(data), 300)])
	})
}
