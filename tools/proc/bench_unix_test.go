//go:build linux || darwin

package proc_test

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/taukit/taukit/internal/ratio"
	"github.com/taukit/taukit/shellrec"
	"github.com/taukit/taukit/tools/proc"
)

// BenchmarkTrue compares a whole run with fork, exec, wait and drain by hand.
func BenchmarkTrue(b *testing.B) {
	env := os.Environ()
	path, err := exec.LookPath("sh")
	if err != nil {
		b.Skip(err)
	}
	ratio.Run(b, func() { byHand(b, path, env, "true") }, func() {
		_, err := proc.Run(b.Context(), proc.Command{Path: "sh", Args: []string{"-c", "true"}, Env: env})
		if err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkFlood compares reading 1 GiB of short lines.
func BenchmarkFlood(b *testing.B) {
	env := os.Environ()
	path, err := exec.LookPath("sh")
	if err != nil {
		b.Skip(err)
	}
	const script = "yes | head -c 1G"
	b.SetBytes(1 << 30)
	ratio.Run(b, func() { byHand(b, path, env, script) }, func() {
		total := 0
		_, err := proc.Run(b.Context(), proc.Command{
			Path: "sh", Args: []string{"-c", script}, Env: env,
			Output: func(_ shellrec.Stream, p []byte) { total += len(p) },
		})
		if err != nil || total != 1<<30 {
			b.Fatal(err, total)
		}
	})
}

// byHand runs a script, and reads both pipes to their ends.
func byHand(b *testing.B, path string, env []string, script string) {
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	errRead, errWrite, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		b.Fatal(err)
	}
	p, err := os.StartProcess(path, []string{"sh", "-c", script}, &os.ProcAttr{
		Env: env, Files: []*os.File{null, outWrite, errWrite}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	for _, f := range []*os.File{null, outWrite, errWrite} {
		f.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 64<<10)
	for _, r := range []*os.File{outRead, errRead} {
		for {
			if _, err := r.Read(buf); err == io.EOF { //nolint:errorlint // the bare one
				break
			}
		}
		r.Close()
	}
	if _, err := p.Wait(); err != nil {
		b.Fatal(err)
	}
}
