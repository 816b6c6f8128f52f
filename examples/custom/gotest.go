package main

import (
	"context"
	"os"
	"time"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/shellrec"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/proc"
	"github.com/taukit/taukit/truncate"
)

// goTestArgs are the arguments of the tool go_test: both its schema and its
// strict decoder come from here.
type goTestArgs struct {
	Run string `json:"run,omitzero" description:"Only tests that match this regular expression."`
}

// newGoTest returns a tool that runs the Go tests below dir, in place of a shell.
// The process is ended as a whole when its time is up, and what it prints becomes
// records within a budget, in which no line of a test can pass for a header.
func newGoTest(dir string) tools.Tool {
	return tools.NewTool(tools.Definition{
		Name:        "go_test",
		Description: "Run the Go tests of the project.",
	}, func(a goTestArgs) tools.Display {
		return tools.Display{Args: "./..."}
	}, func(ctx context.Context, _ tools.Call, a goTestArgs, d tools.Display) tools.Outcome {
		return goTest(ctx, dir, a, d)
	})
}

func goTest(ctx context.Context, dir string, a goTestArgs, d tools.Display) tools.Outcome {
	shown := truncate.NewCollector(truncate.Shell)
	log := shellrec.NewLog(truncate.Shell.Bytes, func(r shellrec.Record) {
		shown.Add(truncate.Record{Text: r.String(), Marker: r.Marker()})
	})
	end, err := proc.Run(ctx, proc.Command{
		Path:    "go",
		Args:    []string{"test", "-run=" + a.Run, "./..."},
		Dir:     dir,
		Env:     proc.Environ(os.Environ(), proc.NonInteractive(), nil),
		Timeout: 5 * time.Minute,
		Output:  log.Write,
	})
	if err != nil {
		return tools.Fail(ctx, err, d)
	}
	log.Close()
	output := shown.Result()
	result := framing.Result{Body: output.Body}
	result.Add("ended_by", string(end.Reason))
	if end.HasStatus {
		result.AddInt("status", int64(end.Status))
	}
	result.AddTrue("truncated", output.Truncated)
	return tools.Succeed(result, d)
}
