package confine_test

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/taukit/taukit/internal/ratio"
	"github.com/taukit/taukit/tools/confine"
)

// BenchmarkStart compares a confined command that does nothing, from its start to
// its end, with one that is not confined. The least of each is what is left of them
// on a machine that has nothing else to do.
func BenchmarkStart(b *testing.B) {
	for _, m := range methods {
		b.Run(m.Name(), func(b *testing.B) {
			c := confine.NewChain(m)
			if _, err := c.Method(b.Context()); err != nil {
				b.Skip("not to be had here: ", err)
			}
			f := newFixture(b, "work")
			p := confine.Plan{ReadOnly: []string{f.protected}}
			wait := func(cmd *exec.Cmd, err error) {
				if err == nil {
					_, err = cmd.Process.Wait()
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			var bare, full []time.Duration
			ratio.Run(b, func() {
				start := time.Now()
				cmd := sh(b, "exit 0")
				wait(cmd, cmd.Start())
				bare = append(bare, time.Since(start))
			}, func() {
				start := time.Now()
				cmd := sh(b, "exit 0")
				confined, err := c.Start(b.Context(), cmd, p)
				wait(cmd, err)
				_ = confined.Close()
				full = append(full, time.Since(start))
			})
			b.ReportMetric(milliseconds(median(full)-median(bare)), "extra-ms")
			b.ReportMetric(milliseconds(slices.Min(full)-slices.Min(bare)), "least-extra-ms")
		})
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
