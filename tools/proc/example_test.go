//go:build linux || darwin

package proc_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/taukit/taukit/shellrec"
	"github.com/taukit/taukit/tools/proc"
)

func ExampleRun() {
	outcome, err := proc.Run(context.Background(), proc.Command{
		Path:    "sh",
		Args:    []string{"-c", "echo building; sleep 60"},
		Env:     proc.Environ(os.Environ(), proc.NonInteractive(), []string{"AWS_*"}),
		Timeout: 100 * time.Millisecond,
		Output:  func(s shellrec.Stream, p []byte) { fmt.Printf("%s %s", s, p) },
	})
	fmt.Println(outcome.Reason, outcome.Signal, err)
	// Output:
	// out building
	// timeout 15 <nil>
}

func ExampleEnviron() {
	base := []string{"HOME=/home/me", "AWS_SECRET=x", "EDITOR=vi"}
	fmt.Println(proc.Environ(base, map[string]string{"EDITOR": "", "TERM": "dumb"}, []string{"AWS_*"}))
	// Output: [HOME=/home/me TERM=dumb]
}
