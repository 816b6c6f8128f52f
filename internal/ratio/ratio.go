// Package ratio measures speed relative to a baseline. Both run in turn inside
// one benchmark, so that a noisy or slow machine changes both alike.
package ratio

import (
	"slices"
	"testing"
	"time"
)

// Run benchmarks target and reports how many times the duration of base it
// takes, as the metric "x-base": the median of the target's durations over the
// median of the base's.
func Run(b *testing.B, base, target func()) {
	b.Helper()
	RunPrepared(b, func() {}, base, target)
}

// RunPrepared is Run with something to do before each run of target that is
// not measured.
func RunPrepared(b *testing.B, prepare, base, target func()) {
	b.Helper()
	b.ReportAllocs()
	var targets, bases []time.Duration
	for b.Loop() {
		b.StopTimer()
		prepare()
		b.StartTimer()
		start := time.Now()
		target()
		targets = append(targets, time.Since(start))

		b.StopTimer()
		start = time.Now()
		base()
		bases = append(bases, time.Since(start))
		b.StartTimer()
	}
	b.ReportMetric(float64(median(targets))/float64(max(median(bases), 1)), "x-base")
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
