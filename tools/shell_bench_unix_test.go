//go:build linux || darwin

package tools_test

import (
	"io"
	"os"
	"os/exec"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/internal/ratio"
	"github.com/taukit/taukit/tools"
)

// BenchmarkShellFlood runs commands that write 1 GiB. The base is to read what the
// same command writes and to drop it; the target for lines is 300 MB/s, or 0.7 of
// the speed of the base (1.43 times as long), in less than 32 MiB of memory.
func BenchmarkShellFlood(b *testing.B) {
	for name, script := range map[string]string{
		"short lines":    "yes | head -c 1G",
		"ordinary lines": "yes 'go: building go: building go: building go: building' | head -c 1G",
		"one line":       "head -c 1G /dev/zero",
		"no text":        "head -c 1G /dev/urandom",
	} {
		b.Run(name, func(b *testing.B) {
			s, _ := openSession(b, tools.Config{Root: b.TempDir()})
			arguments := encode(b, command(script))
			b.SetBytes(1 << 30)
			peak := peakMemory(b)
			ratio.Run(b, func() { discard(b, script) }, func() { mustRun(b, s, "shell", arguments) })
			b.ReportMetric(float64(peak())/(1<<20), "peak-MiB")
		})
	}
}

// discard runs a script and drops what it writes, in pieces of a pipe.
func discard(b *testing.B, script string) {
	r, w, err := os.Pipe()
	require.NoError(b, err)
	defer r.Close()
	cmd := exec.Command("sh", "-c", script)
	cmd.Stdout = w
	require.NoError(b, cmd.Start())
	w.Close()
	_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r}, make([]byte, 64<<10))
	require.NoError(b, err)
	require.NoError(b, cmd.Wait())
}

// peakMemory watches what this program has of the memory of the system until the
// function that it returns is called, which tells the most in bytes.
func peakMemory(b *testing.B) func() uint64 {
	b.Helper()
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() {
		samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		most := uint64(0)
		for tick := time.Tick(5 * time.Millisecond); ; {
			metrics.Read(samples)
			most = max(most, samples[0].Value.Uint64()-samples[1].Value.Uint64())
			select {
			case <-tick:
			case <-stop:
				peak <- most
				return
			}
		}
	}()
	return func() uint64 { close(stop); return <-peak }
}
